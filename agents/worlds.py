"""Worlds: whole deals drawn uniformly from all that are consistent with what one seat knows.

A world is a pack in an order, and what the other seats discarded face down, that leads to the view: every call,
naming, discard and play of it is legal, and forced discards are forced. Each such world is equally likely; a policy may
weigh them by how likely the seats were to choose what they chose. With two packs the cards of a face count as two.

A world is drawn in three steps: unseen cards are dealt to the places where they may lie, with counts of all ways to do
so where a place may not hold every suit; each seat's cards are split into what it was dealt and what it took up later;
and the deal is played again through the engine, where what turns out illegal is drawn anew.

place  0–7 the hands, all that a seat has held since play started, 8–15 the face-down discards, 16–23 the face-down
       piles of the seats, then the widow and the stock
g      the key and the count of the random numbers, an int64 array of length 2
"""

from math import comb, lgamma
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import BLIND, FIRST_CALL, NAME_C, STAND
from pitch_env.cards import NO_CARD, NO_SUIT
from pitch_env.engine.deal import clear, deal_out
from pitch_env.engine.jit import ONE, below, first_card, kernel, mix, num_cards
from pitch_env.engine.state import (
    AUCTION,
    EXCHANGE,
    MAX_PACK,
    MAX_SEATS,
    NAMING,
    NO_SEAT,
    OVER,
    PLAY,
    STATE,
    WIDOW,
)  # fmt: skip
from pitch_env.engine.step import apply, legal
from pitch_env.engine.tables import (
    EXCHANGE_DISCARD,
    EXCHANGE_DRAW,
    EXCHANGE_NONE,
    EXCHANGE_REFILL,
    WIDOW_AFTER_FIRST_TRICK,
    WIDOW_TO_PITCHER,
    compile_rules,
)  # fmt: skip
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules

HAND, DISCARD, PILE, WIDOW_PLACE, STOCK, NUM_PLACES = 0, 8, 16, 24, 25, 26
FREE = 0
"""``bad`` suits of a place that holds any card."""
ALL_SUITS = 0b11111
ANY_NUMBER = -1
"""``kept`` of a hand whose number of trumps does not matter."""

MAX_TRIES = 1 << 20

MAX_PAST = MAX_PACK + 16
"""Room for the decisions of a deal before a view."""

DRAWS = 8
"""Worlds drawn for each that is wanted, where a policy chooses among them."""

BLOCK = 1024
"""Worlds that are weighed together."""

CHOOSE = np.array([[float(comb(n, k)) for k in range(MAX_PACK + 1)] for n in range(MAX_PACK + 1)])
"""[n, k] ways to choose k of n."""

LOG_FACTORIAL = np.array([lgamma(n + 1) for n in range(MAX_PACK + 1)])


class WorldError(ValueError):
    """A view for which no world can be drawn."""


class Policy(Protocol):
    """Tells how likely a player is to choose each action; :class:`agents.neural.NeuralAgent` is one."""

    def policy(self, views: NDArray[np.void]) -> NDArray[np.float64]:
        """Returns the probability (N, NUM_ACTIONS) of each action of each view."""
        ...


def sample_worlds(
    view: Any, rules: Rules, n: int, rng: np.random.Generator, policy: Policy | None = None
) -> NDArray[np.void]:
    """Draws worlds from all that are consistent with a view: uniformly, or as a policy makes them likely.

    With a policy, ``DRAWS`` times as many are drawn uniformly, and *n* of them again, with replacement, by their
    weights (:func:`weigh_worlds`): sampling, importance resampling. One world may come several times.

    Args:
        view: a ``VIEW`` record of the seat to act, or an array of one.
        rules: the rules of the deal.
        n: number of worlds.
        rng: where randomness comes from.
        policy: how the other seats are thought to choose.

    Returns:
        (n,) ``STATE`` records from which the engine goes on; to the seat each looks as ``view`` does.

    Raises:
        WorldError: if the seat is not to act, if discards have been shuffled into the stock (5.7), or if the view
            contradicts itself.
    """
    views = np.array(view).reshape(1)
    if not views["to_move"][0]:
        raise WorldError("the seat of the view is not to act")
    if views["num_reshuffles"][0]:
        raise WorldError("discards have been shuffled into the stock (5.7)")
    worlds = np.zeros(n if policy is None else DRAWS * n, STATE)
    if not draw_worlds(views, compile_rules(rules), int(rng.integers(1 << 62)), worlds):
        raise WorldError("no world found that leads to this view")
    if policy is None or n == 0:
        return worlds
    return worlds[rng.choice(len(worlds), n, p=shares_of(weigh_worlds(worlds, views, rules, policy)))]


def shares_of(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the shares (…, W) of worlds from their log-weights; they sum to one along the last axis."""
    weights = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    shares: NDArray[np.float64] = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def weigh_worlds(
    worlds: NDArray[np.void], view: Any, rules: Rules, policy: Policy, floor: float = 1e-4
) -> NDArray[np.float64]:
    """Returns how likely a policy makes what the other seats called, named and played in each world: log-weights (n,).

    Decisions between several actions count, each as the seat that made it saw it; face-down discards, which differ
    from world to world, do not.

    Args:
        worlds: (n,) ``STATE`` records, as :func:`sample_worlds` draws them.
        view: the ``VIEW`` record that they were drawn for, an array of one, or an array (n,) of each world's own.
        rules: the rules of the deal.
        policy: how the other seats are thought to choose.
        floor: the least probability that counts, in 0 … 1: what the policy thinks impossible has happened all the same.

    Raises:
        ValueError: if ``floor`` is not above 0 and at most 1, or there is neither one view nor one for each world.
    """
    if not 0 < floor <= 1:
        raise ValueError(f"floor={floor!r} is no probability above 0")
    seats = np.atleast_1d(np.asarray(view["seat"], np.int64))
    if len(seats) not in (1, len(worlds)):
        raise ValueError(f"{len(seats)} views for {len(worlds)} worlds; one for all, or one for each, was expected")
    seats = np.broadcast_to(seats, len(worlds)).copy()
    total = np.zeros(len(worlds))
    for first in range(0, len(worlds), BLOCK):
        some = worlds[first : first + BLOCK]
        past = np.zeros(len(some) * MAX_PAST, VIEW)
        done, of = np.empty(len(past), np.int64), np.empty(len(past), np.int64)
        num = past_decisions(some, compile_rules(rules), seats[first : first + BLOCK], past, done, of)
        if num:
            likely = policy.policy(past[:num])[np.arange(num), done[:num]]
            np.add.at(total, first + of[:num], np.log(np.maximum(likely, floor)))
    return total


@kernel
def draw_worlds(views, rules, key, worlds):
    """Draws N worlds of one view; modifies ``worlds`` (N,). Returns whether it found them.

    It finds none where discards have been shuffled into the stock (5.7).
    """
    v, r = views[0], rules[0]
    if v.num_reshuffles > 0:
        return False
    g = np.array([key, 0])
    left = np.zeros(54, np.int64)
    lists = np.zeros((NUM_PLACES, MAX_PACK), np.int64)
    known = np.zeros(NUM_PLACES, np.int64)
    sizes = np.zeros(NUM_PLACES, np.int64)
    bad = np.zeros(NUM_PLACES, np.int64)
    kept = np.full(NUM_PLACES, ANY_NUMBER)
    read_view(v, r, left, lists, known, sizes)
    limit_places(v, r, lists, known, sizes, bad, kept)
    unsure = unsure_place(v, r, lists, known)
    ways, log_ways = count_ways(r, v.trump, left, lists, known, sizes, bad, kept)
    other_bad = bad.copy()
    other_ways, other_log = ways, -np.inf
    if unsure != NO_SEAT:
        # A seat discards a trump only if it keeps nothing else: two kinds of worlds, each as likely as it has worlds.
        trump_bit = ONE << v.trump
        other_bad[DISCARD + unsure] = FREE
        other_bad[HAND + unsure] |= ALL_SUITS & ~trump_bit
        other_ways, other_log = count_ways(r, v.trump, left, lists, known, sizes, other_bad, kept)
    share = 1.0 / (1.0 + np.exp(min(700.0, log_ways - other_log)))
    filled = lists.copy()
    for i in range(len(worlds)):
        found = False
        for _ in range(MAX_TRIES):
            filled[:, :] = lists
            if unsure != NO_SEAT and unit(g) < share:
                fill(r, v.trump, left, filled, known, sizes, other_bad, kept, other_ways, g)
                if not has_trump(r, v.trump, filled[DISCARD + unsure], sizes[DISCARD + unsure]):
                    continue
            else:
                fill(r, v.trump, left, filled, known, sizes, bad, kept, ways, g)
            if replay(v, r, filled, known, sizes, g, worlds[i]):
                found = True
                break
        if not found:
            return False
    return True


# Random numbers


@kernel
def draw_below(g, bound):
    """Returns a random number in 0 … bound − 1; modifies ``g``."""
    g[1] += 1
    return below(mix(g[0], g[1]), bound)


@kernel
def unit(g):
    """Returns a random number in 0 … 1; modifies ``g``."""
    g[1] += 1
    return (mix(g[0], g[1]) & ((ONE << 53) - 1)) / (1 << 53)


@kernel
def shuffle(cards, start, end, g):
    """Shuffles a part of a list; modifies ``cards`` and ``g``."""
    for i in range(start, end - 1):
        j = i + draw_below(g, end - i)
        cards[i], cards[j] = cards[j], cards[i]


# What the view says


@kernel
def read_view(v, r, left, lists, known, sizes):
    """Writes where the cards that the seat has seen lie, and how many lie at each place.

    Modifies ``left`` (54,): cards of each face that were not seen; ``lists`` (places, cards); ``known`` and ``sizes``
    (places,): how many of a place are seen, and lie there at all.
    """
    me = np.int64(v.seat)
    for k in range(r.pack_size):
        left[r.pack[k]] += 1
    for k in range(v.num_plays):
        seat = (me + (v.play_seats[k] & 7)) % r.players
        put(left, lists, known, (PILE if v.play_seats[k] & 8 else HAND) + seat, v.plays[k])
    put_set(left, lists, known, HAND + me, v.hand, v.hand_dups)
    put_set(left, lists, known, DISCARD + me, v.discards, v.discard_dups)
    if v.num_swapped:
        put_set(left, lists, known, HAND + (me + v.pitcher) % r.players, v.swapped, v.swapped_dups)
    if r.turn_up:
        left[v.turn_up] -= 1
    put_pitches(v, r, left, lists, known)
    for k in range(r.players):
        seat = (me + k) % r.players
        hidden = np.int64(v.num_cards[k])
        if k == 0:
            hidden = 0
        elif holds_pitch(v, k):
            hidden -= 1
        sizes[HAND + seat] = known[HAND + seat] + hidden
        sizes[DISCARD + seat] = v.num_discarded[k]
        sizes[PILE + seat] = r.face_down_size
    took_widow = r.widow_to == WIDOW_TO_PITCHER and v.phase != AUCTION
    took_widow |= r.widow_to == WIDOW_AFTER_FIRST_TRICK and (v.num_swapped > 0 or v.phase == WIDOW)
    sizes[WIDOW_PLACE] = 0 if took_widow else r.widow_size
    total = 0
    for place in range(STOCK):
        total += sizes[place]
    sizes[STOCK] = r.pack_size - total - r.turn_up


@kernel
def put(left, lists, known, place, card):
    """Notes that a card lies at a place."""
    left[card] -= 1
    lists[place, known[place]] = card
    known[place] += 1


@kernel
def put_set(left, lists, known, place, cards, dups):
    """Notes that the cards of a set lie at a place."""
    for k in range(2):
        bits = cards if k == 0 else dups
        while bits:
            put(left, lists, known, place, first_card(bits))
            bits &= bits - 1


@kernel
def was_played(v, k, card):
    """Tells whether a relative seat has played a face from its hand."""
    count = 0
    for i in range(v.num_plays):
        count += v.plays[i] == card and v.play_seats[i] == k
    return count > 0


@kernel
def stands(v, k):
    """3.8  Tells whether a relative seat's pitch stands, out of its hand."""
    return v.num_plays == 0 and k == v.pitcher and v.pitched != NO_CARD


@kernel
def holds_pitch(v, k):
    """3.9  Tells whether a relative seat has a card back that it pitched."""
    card = v.calls[k]
    return NO_CARD < card < FIRST_CALL and not stands(v, k) and not was_played(v, k, card)


@kernel
def put_pitches(v, r, left, lists, known):
    """3.8, 3.9  Notes the cards that were pitched in the auction and not played yet."""
    for k in range(r.players):
        if stands(v, k) or (k > 0 and holds_pitch(v, k)):
            put(left, lists, known, HAND + (v.seat + k) % r.players, v.calls[k])


@kernel
def has_exchanged(v, r, seat):
    """Tells whether a seat is through with the exchange."""
    if r.exchange == EXCHANGE_NONE or v.phase == AUCTION or v.phase == NAMING:
        return False
    if v.phase != EXCHANGE:
        return True
    if takes_leftover(v, r):
        return True
    dealer = (v.seat + v.dealer) % r.players
    return (seat - dealer - 1) % r.players < (v.seat - dealer - 1) % r.players


@kernel
def takes_leftover(v, r):
    """5.6  Tells whether the exchange is at the pitcher's coming down from the leftover."""
    if v.phase != EXCHANGE or not r.leftover_to or v.pitcher != 0:
        return False
    mine = num_cards(v.hand) + num_cards(v.hand_dups) + v.num_discarded[0]
    return mine > first_size(v, r, v.seat)


@kernel
def took_leftover(v, r, seat):
    """5.6  Tells whether a seat has come down from the leftover."""
    return r.leftover_to != 0 and v.phase > EXCHANGE and seat == (v.seat + v.pitcher) % r.players


@kernel
def has_swapped(v, r, seat):
    """5.8  Tells whether a seat has had the widow for cards that it laid out."""
    return (
        r.widow_to == WIDOW_AFTER_FIRST_TRICK
        and (v.num_swapped > 0 or v.phase == WIDOW)
        and seat == (v.seat + v.pitcher) % r.players
    )


@kernel
def first_size(v, r, seat):
    """Returns the cards that a seat holds before it discards."""
    takes = r.widow_to == WIDOW_TO_PITCHER and seat == (v.seat + v.pitcher) % r.players
    return r.hand_size + (r.widow_size if takes else 0)


@kernel
def limit_places(v, r, lists, known, sizes, bad, kept):
    """Writes which suits a place cannot hold, and how many trumps a hand kept of those that it was dealt.

    Modifies ``bad`` and ``kept`` (places,).
    """
    for k in range(1, r.players):
        seat = (v.seat + k) % r.players
        bad[HAND + seat] = v.voids[k]
        if not has_exchanged(v, r, seat):
            continue
        trump_bit = ONE << v.trump
        num = sizes[DISCARD + seat]
        swapped = has_swapped(v, r, seat)  # then some of the hand came with the widow: it is left to the replay
        if r.exchange == EXCHANGE_DRAW:  # 5.3
            bad[DISCARD + seat] = trump_bit
        elif r.exchange == EXCHANGE_DISCARD:  # 5.4
            if not swapped and has_plain(r, v.trump, lists[HAND + seat], known[HAND + seat]):
                bad[DISCARD + seat] = trump_bit
        elif took_leftover(v, r, seat):  # 5.6
            bad[DISCARD + seat] = FREE if swapped else trump_bit
        elif num > first_size(v, r, seat) - r.play_size or first_size(v, r, seat) <= r.play_size:  # 5.5
            bad[DISCARD + seat] = trump_bit
            kept[HAND + seat] = ANY_NUMBER if swapped else first_size(v, r, seat) - num
        elif not swapped:
            bad[HAND + seat] |= ALL_SUITS & ~trump_bit


@kernel
def unsure_place(v, r, lists, known):
    """5.6  Returns a pitcher of whom it is open whether he discarded trumps from the leftover, NO_SEAT if none."""
    seat = (v.seat + v.pitcher) % r.players
    if v.pitcher <= 0 or has_swapped(v, r, seat) or not took_leftover(v, r, seat):
        return np.int64(NO_SEAT)
    if not has_plain(r, v.trump, lists[HAND + seat], known[HAND + seat]):
        return seat
    return np.int64(NO_SEAT)


@kernel
def has_plain(r, trump, cards, num):
    """Tells whether one of the cards of a list is no trump."""
    return num_trumps(r, trump, cards, num) < num


@kernel
def has_trump(r, trump, cards, num):
    """Tells whether one of the cards of a list is a trump."""
    return num_trumps(r, trump, cards, num) > 0


@kernel
def num_trumps(r, trump, cards, num):
    """Counts the trumps in a list."""
    count = 0
    for i in range(num):
        count += r.suit_of[trump, cards[i]] == trump
    return count


# Dealing what was not seen


@kernel
def class_suits(trump, bad):
    """Returns the class of each suit, and how many there are.

    Suits that the same places may hold are one class; trumps are one by themselves.
    """
    class_of = np.zeros(5, np.int64)
    patterns = np.zeros(5, np.int64)
    num = 0
    for suit in range(5):
        pattern = ONE * (suit == trump)
        for place in range(STOCK):
            pattern |= ((bad[place] >> suit) & 1) << (place + 1)
        found = -1
        for k in range(num):
            if patterns[k] == pattern:
                found = k
        if found == -1:
            patterns[num] = pattern
            found = num
            num += 1
        class_of[suit] = found
    return class_of, num


@kernel
def group_places(r, trump, lists, known, sizes, bad, kept):
    """Puts places that may hold the same cards together.

    Returns, by group: needed cards, bad suits, kept trumps and trumps already there; then the group of each place,
    −1 where any card may lie or all are known.
    """
    need = np.zeros(NUM_PLACES, np.int64)
    group_bad = np.zeros(NUM_PLACES, np.int64)
    group_kept = np.full(NUM_PLACES, ANY_NUMBER)
    base = np.zeros(NUM_PLACES, np.int64)
    group_of = np.full(NUM_PLACES, -1)
    num = 0
    for place in range(STOCK):
        hidden = sizes[place] - known[place]
        if hidden == 0 or (bad[place] == FREE and kept[place] == ANY_NUMBER):
            continue
        found = -1
        for k in range(num):
            if group_bad[k] == bad[place] and group_kept[k] == ANY_NUMBER and kept[place] == ANY_NUMBER:
                found = k
        if found == -1:
            found = num
            num += 1
            group_bad[found] = bad[place]
            group_kept[found] = kept[place]
            if kept[place] != ANY_NUMBER:
                base[found] = num_trumps(r, trump, lists[place], known[place])
        need[found] += hidden
        group_of[place] = found
    return num, need, group_bad, group_kept, base, group_of


@kernel
def count_classes(r, trump, left, class_of, num_classes):
    """Returns how many unseen cards there are of each class."""
    counts = np.zeros(num_classes, np.int64)
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        counts[class_of[r.suit_of[by, card]]] += left[card]
    return counts


@kernel
def class_limits(class_of, num_classes, bad, counts, need):
    """Returns how many cards of each class a group can take."""
    top = np.zeros(num_classes, np.int64)
    for suit in range(5):
        if not (bad >> suit) & 1:
            top[class_of[suit]] = min(counts[class_of[suit]], need)
    return top


@kernel
def next_split(split, top):
    """Advances the numbers of all classes but the last through all that ``top`` allows; False after the last."""
    for c in range(len(split) - 1):
        if split[c] < top[c]:
            split[c] += 1
            return True
        split[c] = 0
    return False


@kernel
def split_ways(split, top, counts, need, kept, base, trump_class, later, strides, at):
    """Returns in how many ways a group, and those after it, can be filled with given numbers of each class.

    Writes the number of the last class into ``split``.
    """
    last = len(split) - 1
    rest = need
    for c in range(last):
        rest -= split[c]
    split[last] = rest
    if rest < 0 or rest > top[last]:
        return 0.0
    ways = 1.0
    for c in range(last + 1):
        ways *= CHOOSE[counts[c], split[c]]
        if c < last:
            at -= split[c] * strides[c]
    if kept != ANY_NUMBER:
        ways *= CHOOSE[base + split[trump_class], kept]
    return ways * later[at]


@kernel
def make_strides(counts):
    """Returns the strides of a table of the numbers of all classes but the last, and its size."""
    strides = np.ones(len(counts), np.int64)
    size = 1
    for c in range(len(counts) - 1):
        strides[c] = size
        size *= counts[c] + 1
    return strides, size


@kernel
def count_ways(r, trump, left, lists, known, sizes, bad, kept):
    """Counts the ways to deal the unseen cards.

    Returns a table (groups + 1, numbers of cards left of all classes but the last) of the ways to fill a group and
    those after it, and the logarithm of the ways to fill every place.
    """
    class_of, num_classes = class_suits(trump, bad)
    trumps = class_of[max(trump, 0)]
    groups, need, group_bad, group_kept, base, group_of = group_places(r, trump, lists, known, sizes, bad, kept)
    full = count_classes(r, trump, left, class_of, num_classes)
    strides, size = make_strides(full)
    ways = np.ones((groups + 1, size))
    counts = np.zeros(num_classes, np.int64)
    split = np.zeros(num_classes, np.int64)
    after = full.sum()
    log_ways = 0.0
    for h in range(groups):
        after -= need[h]
    log_ways += free_ways(after, known, sizes, group_of)
    for h in range(groups - 1, -1, -1):
        after += need[h]
        for at in range(size):
            ways[h, at] = 0.0
            rest = after
            for c in range(num_classes - 1):
                counts[c] = (at // strides[c]) % (full[c] + 1)
                rest -= counts[c]
            if rest < 0 or rest > full[num_classes - 1]:
                continue
            counts[num_classes - 1] = rest
            top = class_limits(class_of, num_classes, group_bad[h], counts, need[h])
            split[:] = 0
            more = True
            while more:
                ways[h, at] += split_ways(
                    split,
                    top,
                    counts,
                    need[h],
                    group_kept[h],
                    base[h],
                    trumps,
                    ways[h + 1],
                    strides,
                    at,
                )
                more = next_split(split, top)
        log_ways += LOG_FACTORIAL[need[h]]
        for place in range(STOCK):
            if group_of[place] == h:
                log_ways -= LOG_FACTORIAL[sizes[place] - known[place]]
    total = ways[0, size - 1]
    return ways, log_ways + np.log(total) if total > 0.0 else -np.inf


@kernel
def free_ways(num, known, sizes, group_of):
    """Returns the logarithm of the ways to deal cards to the places that may hold any."""
    log_ways = LOG_FACTORIAL[num]
    for place in range(NUM_PLACES):
        if group_of[place] == -1:
            log_ways -= LOG_FACTORIAL[sizes[place] - known[place]]
    return log_ways


@kernel
def fill(r, trump, left, lists, known, sizes, bad, kept, ways, g):
    """Deals the unseen cards, each way as likely as any; modifies ``lists`` and ``g``."""
    class_of, num_classes = class_suits(trump, bad)
    trumps = class_of[max(trump, 0)]
    groups, need, group_bad, group_kept, base, group_of = group_places(r, trump, lists, known, sizes, bad, kept)
    full = count_classes(r, trump, left, class_of, num_classes)
    strides, size = make_strides(full)
    cards = class_lists(r, trump, left, class_of, num_classes, g)
    counts = full.copy()
    split = np.zeros(num_classes, np.int64)
    hand = np.zeros(MAX_PACK, np.int64)
    at = size - 1
    for h in range(groups):
        top = class_limits(class_of, num_classes, group_bad[h], counts, need[h])
        luck = unit(g) * ways[h, at]
        split[:] = 0
        more = True
        while more:
            luck -= split_ways(split, top, counts, need[h], group_kept[h], base[h], trumps, ways[h + 1], strides, at)
            if luck < 0.0:
                break
            more = next_split(split, top)
        num = 0
        for c in range(num_classes):
            for _ in range(split[c]):
                counts[c] -= 1
                hand[num] = cards[c, counts[c]]
                num += 1
            at -= split[c] * strides[c] if c + 1 < num_classes else 0
        lay(hand, num, lists, known, sizes, group_of, h, g)
    num = 0
    for c in range(num_classes):
        for k in range(counts[c]):
            hand[num] = cards[c, k]
            num += 1
    lay(hand, num, lists, known, sizes, group_of, -1, g)


@kernel
def class_lists(r, trump, left, class_of, num_classes, g):
    """Returns the unseen cards by class, each class shuffled."""
    cards = np.zeros((num_classes, MAX_PACK), np.int64)
    counts = np.zeros(num_classes, np.int64)
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        c = class_of[r.suit_of[by, card]]
        for _ in range(left[card]):
            cards[c, counts[c]] = card
            counts[c] += 1
    for c in range(num_classes):
        shuffle(cards[c], 0, counts[c], g)
    return cards


@kernel
def lay(cards, num, lists, known, sizes, group_of, group, g):
    """Lays cards in random order at the places of a group; modifies ``lists``."""
    shuffle(cards, 0, num, g)
    k = 0
    for place in range(NUM_PLACES):
        if group_of[place] == group:
            for i in range(known[place], sizes[place]):
                lists[place, i] = cards[k]
                k += 1


# Playing it again


@kernel
def replay(v, r, lists, known, sizes, g, s):
    """Splits what each seat held into what it was dealt and what came later, and plays the deal up to the view.

    Modifies ``s``, a state; ``lists`` and ``g``. Returns False if something is illegal or comes out otherwise.
    """
    clear(s)
    s.seed = mix(g[0], -1)
    s.table = g[1]
    s.deal = 0
    s.dealer = (v.seat + v.dealer) % r.players
    for side in range(r.sides):
        of = (r.side_of[v.seat] + side) % r.sides
        s.scores[of] = v.scores[side]
        s.debts[of] = v.debts[side]
    lay_deck(v, r, lists, sizes, g, s)
    if r.decks == 2 and unit(g) * ways_to_draw(v, r, lists, known, sizes, s) >= 1.0:
        return False
    deal_out(s, r)
    for _ in range(4 * MAX_PACK):
        if is_there(v, r, s):
            return discarded_as_told(r, lists, sizes, s)
        if s.phase == OVER or s.num_plays > v.num_plays:
            return False
        action = known_action(v, r, lists, sizes, s)
        cards, calls = legal(s, r)
        if action < 0 or not ((cards >> action) & 1 if action < FIRST_CALL else (calls >> (action - FIRST_CALL)) & 1):
            return False
        apply(s, r, action)
    return False


@kernel
def is_there(v, r, s):
    """Tells whether a state is the one looked at."""
    if s.phase != v.phase or s.seat != v.seat or s.num_plays != v.num_plays or s.num_swapped != v.num_swapped:
        return False
    if s.hands[v.seat] != v.hand or s.hand_dups[v.seat] != v.hand_dups or s.must_go != must_go(v, s):
        return False
    if s.discards[v.seat] != v.discards or s.discard_dups[v.seat] != v.discard_dups:
        return False
    for k in range(r.players):
        if s.num_discarded[(v.seat + k) % r.players] != v.num_discarded[k]:
            return False
    return s.stock_end - s.stock_next == v.stock_size and s.num_reshuffles == 0


@kernel
def discarded_as_told(r, lists, sizes, s):
    """Tells whether the seats discarded what the world says; what the rules force, the engine has chosen."""
    for seat in range(r.players):
        for copies in range(2):
            left = s.discards[seat] if copies == 0 else s.discard_dups[seat]
            for k in range(sizes[DISCARD + seat]):
                card = lists[DISCARD + seat, k]
                earlier = 0
                for j in range(k):
                    earlier += lists[DISCARD + seat, j] == card
                if earlier == copies:
                    left ^= ONE << card
            if left:
                return False
    return True


@kernel
def must_go(v, s):
    """Returns what ``must_go`` of a state has to be."""
    return v.must_go if v.phase == EXCHANGE or v.phase == WIDOW else s.must_go


@kernel
def known_action(v, r, lists, sizes, s):
    """Returns what the seat to act did, −1 if that does not fit."""
    k = (s.seat - v.seat) % r.players
    if s.phase == AUCTION:
        return np.int64(v.calls[k])
    if s.phase == NAMING:
        return np.int64(NAME_C + v.trump) if v.trump != NO_SUIT else np.int64(-1)
    if s.phase == WIDOW:
        left = v.swapped & ~s.swapped
        left |= v.swapped_dups & ~s.swapped_dups
        return first_card(left) if left else np.int64(-1)
    if s.phase == PLAY:
        if s.num_plays == v.num_plays:
            return np.int64(-1)
        return np.int64(BLIND) if v.play_seats[s.num_plays] & 8 else np.int64(v.plays[s.num_plays])
    return next_discard(r, lists[DISCARD + s.seat], sizes[DISCARD + s.seat], s)


@kernel
def next_discard(r, cards, num, s):
    """Returns a discard of the seat to act that is legal and still to be made, or to stand; −1 if none fits."""
    legal_cards, _ = legal(s, r)
    done, done_dups = s.discards[s.seat], s.discard_dups[s.seat]
    for i in range(num):
        bit = ONE << cards[i]
        copies = 0
        for j in range(num):
            copies += cards[j] == cards[i]
        made = ((done >> cards[i]) & 1) + ((done_dups >> cards[i]) & 1)
        if made < copies and legal_cards & bit:
            return cards[i]
    return np.int64(STAND) if r.exchange == EXCHANGE_DRAW else np.int64(-1)


@kernel
def lay_deck(v, r, lists, sizes, g, s):
    """Lays the deck of a world: hands, face-down piles, widow, turn-up and stock (2.1); modifies ``s``."""
    widow = np.zeros(MAX_PACK, np.int64)
    for i in range(sizes[WIDOW_PLACE]):
        widow[i] = lists[WIDOW_PLACE, i]
    later = np.zeros((MAX_SEATS, MAX_PACK), np.int64)
    num_later = np.zeros(MAX_SEATS, np.int64)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        dealt, num_later[seat] = split_hand(v, r, lists, sizes, seat, widow, later[seat], g)
        for k in range(r.hand_size):
            s.deck[place * r.hand_size + k] = dealt[k]
        for k in range(r.face_down_size):
            s.deck[r.first_face_down + place * r.face_down_size + k] = lists[PILE + seat, k]
    for k in range(r.widow_size):
        s.deck[r.first_widow + k] = widow[k]
    if r.turn_up:
        s.deck[r.first_widow + r.widow_size] = v.turn_up
    lay_stock(v, r, lists, sizes, later, num_later, widow, s)


@kernel
def ways_to_draw(v, r, lists, known, sizes, s):
    """Returns in how many ways a world of two packs could have been drawn, with its deck laid.

    A world is told by faces. Where the two cards of a face could change places in the deck, it is drawn twice as often.
    """
    ways = 1
    for k in range(1, r.players):
        seat = (v.seat + k) % r.players
        for i in range(sizes[HAND + seat]):
            card = lists[HAND + seat, i]
            for j in range(i):
                if lists[HAND + seat, j] == card and j < known[HAND + seat]:
                    ways *= 2 if may_swap_in_hand(v, r, lists, seat, card, s) else 1
            for j in range(sizes[DISCARD + seat]):
                if lists[DISCARD + seat, j] == card:
                    ways *= 2 if may_swap_with_discard(v, r, seat, card, s) else 1
    return ways


@kernel
def may_swap_in_hand(v, r, lists, seat, card, s):
    """Tells whether two cards of a hand could change places: not a card played before the swap (5.8) into the widow."""
    first = lists[HAND + seat, 0]
    return not (has_swapped(v, r, seat) and card == first and num_in_deck(s, r.first_widow, r.widow_size, card))


@kernel
def may_swap_with_discard(v, r, seat, card, s):
    """Tells whether a card of a hand and a discard could change places: not where that card came after the discard."""
    if has_swapped(v, r, seat) and num_in_deck(s, r.first_widow, r.widow_size, card):
        return False
    if r.exchange == EXCHANGE_DRAW or (r.exchange == EXCHANGE_REFILL and not took_leftover(v, r, seat)):
        place = (seat - s.dealer - 1) % r.players
        num = num_in_deck(s, place * r.hand_size, r.hand_size, card)
        if r.widow_to == WIDOW_TO_PITCHER and seat == (v.seat + v.pitcher) % r.players:
            num += num_in_deck(s, r.first_widow, r.widow_size, card)
        return num == 2
    return True


@kernel
def num_in_deck(s, start, size, card):
    """Counts a face in a part of the deck."""
    num = 0
    for k in range(start, start + size):
        num += s.deck[k] == card
    return num


@kernel
def lay_stock(v, r, lists, sizes, later, num_later, widow, s):
    """Lays the stock in the order in which it was dealt: seat by seat, the leftover (5.6), what is left."""
    at = r.first_stock
    drawn = np.zeros(MAX_SEATS, np.int64)
    for leftover in range(2):
        for place in range(r.players):
            seat = (s.dealer + 1 + place) % r.players
            end = num_later[seat]
            if not leftover and r.leftover_to and seat == (v.seat + v.pitcher) % r.players:
                end = min(end, first_draw(v, r, seat, place, widow, s))
            for k in range(drawn[seat], end):
                s.deck[at] = later[seat, k]
                at += 1
            drawn[seat] = end
    for k in range(sizes[STOCK]):
        s.deck[at] = lists[STOCK, k]
        at += 1


@kernel
def first_draw(v, r, seat, place, widow, s):
    """5.5  Returns how many cards a seat is dealt for its plain cards."""
    trumps = 0
    for k in range(r.hand_size):
        trumps += r.suit_of[v.trump, s.deck[place * r.hand_size + k]] == v.trump
    if r.widow_to == WIDOW_TO_PITCHER and seat == (v.seat + v.pitcher) % r.players:
        trumps += num_trumps(r, v.trump, widow, r.widow_size)
    return max(0, r.play_size - trumps)


@kernel
def split_hand(v, r, lists, sizes, seat, widow, later, g):
    """Splits what a seat has had into its hand as dealt, the widow if it took it, and what it was dealt later.

    Modifies ``widow``, ``later``, ``g``. Returns the hand, and the number of cards dealt later.
    """
    cards = np.zeros(2 * MAX_PACK, np.int64)
    pitches = seat == (v.seat + v.pitcher) % r.players
    took = r.widow_size if pitches and sizes[WIDOW_PLACE] == 0 else 0
    if seat == v.seat:
        dealt = list_set(cards, 0, v.dealt, v.dealt_dups)
        if took:
            list_set(widow, 0, v.widow, v.widow_dups)
        num = list_rest(cards, dealt, lists, sizes, seat, widow, took)
        shuffle(cards, dealt, num, g)
    elif has_swapped(v, r, seat):  # 5.8  Any but the first card played may be of the widow.
        num_hand = sizes[HAND + seat]
        shuffle(lists[HAND + seat], 1, num_hand, g)
        for k in range(took):
            widow[k] = lists[HAND + seat, num_hand - 1 - k]
        num = order_hand(v, r, lists, sizes, seat, num_hand - took, cards, g)
    else:
        num = order_hand(v, r, lists, sizes, seat, sizes[HAND + seat], cards, g)
        if took:  # 5.1  Any of the cards that came first may be of the widow.
            shuffle(cards, 0, r.hand_size + took, g)
            for k in range(took):
                widow[k] = cards[r.hand_size + k]
            num -= took
            for k in range(r.hand_size, num):
                cards[k] = cards[k + took]
    for k in range(r.hand_size, num):
        later[k - r.hand_size] = cards[k]
    return cards, num - r.hand_size


@kernel
def list_set(cards, num, bits, dups):
    """Appends the cards of a set to a list; returns its length."""
    for k in range(2):
        left = bits if k == 0 else dups
        while left:
            cards[num] = first_card(left)
            left &= left - 1
            num += 1
    return num


@kernel
def list_rest(cards, num, lists, sizes, seat, widow, num_widow):
    """Appends what the own seat has had, besides what the list and the widow have; returns the list's length."""
    seen = np.zeros(54, np.int64)
    for k in range(num):
        seen[cards[k]] += 1
    for k in range(num_widow):
        seen[widow[k]] += 1
    for place in (HAND + seat, DISCARD + seat):
        for k in range(sizes[place]):
            card = lists[place, k]
            if seen[card]:
                seen[card] -= 1
            else:
                cards[num] = card
                num += 1
    return num


@kernel
def order_hand(v, r, lists, sizes, seat, num_hand, cards, g):
    """Lists what another seat has had: as dealt first, later cards behind; returns how many cards.

    Modifies ``cards`` and ``g``.
    """
    hand, gone = lists[HAND + seat], lists[DISCARD + seat]
    num_gone = sizes[DISCARD + seat]
    for k in range(num_gone):
        cards[k] = gone[k]
    num = num_gone + num_hand
    refills = r.exchange == EXCHANGE_REFILL and not took_leftover(v, r, seat)
    if refills and not has_swapped(v, r, seat):
        first = num_gone
        for trumps in range(2):  # 5.5  Plain cards were dealt later; of the trumps any.
            start = first
            for k in range(num_hand):
                if (r.suit_of[v.trump, hand[k]] == v.trump) == (trumps == 0):
                    cards[first] = hand[k]
                    first += 1
            shuffle(cards, start, first, g)
        return num
    for k in range(num_hand):
        cards[num_gone + k] = hand[k]
    # All that was discarded in a draw was dealt, and in a refill; else any.
    shuffle(cards, num_gone if refills or r.exchange == EXCHANGE_DRAW else 0, num, g)
    return num


# What was done


@kernel
def past_decisions(worlds, rules, seats, views, actions, of):
    """Plays N worlds again from the deal, and lists the choices of all seats but one in each.

    Forced actions and face-down discards are left out: the former say nothing, the latter were not seen.

    seats  (N,) whose own decisions are left out
    Modifies ``views`` (M,) VIEW, each decision as the seat that made it saw it, ``actions`` (M,) and ``of`` (M,) the
    world's index; returns how many decisions there were.
    """
    r = rules[0]
    num = np.int64(0)
    state = np.zeros(1, STATE)
    for i in range(len(worlds)):
        w, s = worlds[i], state[0]
        begin_again(w, r, s)
        while not (s.phase == w.phase and s.seat == w.seat and s.num_plays == w.num_plays and s.must_go == w.must_go):
            action = done_action(w, r, s)
            cards, calls = legal(s, r)
            if s.seat != seats[i] and s.phase != EXCHANGE and num_cards(cards) + num_cards(calls) > 1:
                look(s, r, s.seat, views[num])
                actions[num] = action
                of[num] = i
                num += 1
            apply(s, r, action)
    return num


@kernel
def begin_again(w, r, s):
    """Deals a world's deal; modifies ``s``."""
    clear(s)
    s.seed = w.seed
    s.table = w.table
    s.deal = w.deal
    s.dealer = w.dealer
    for side in range(r.sides):
        s.scores[side] = w.scores[side]
        s.debts[side] = w.debts[side]
    for k in range(len(s.deck)):
        s.deck[k] = w.deck[k]
    deal_out(s, r)


@kernel
def done_action(w, r, s):
    """Returns what the seat to act in ``s`` did next on the way to ``w``."""
    if s.phase == AUCTION:
        return np.int64(w.calls[s.seat])
    if s.phase == NAMING:
        return np.int64(NAME_C + w.trump)
    if s.phase == PLAY:
        return np.int64(BLIND) if w.play_seats[s.num_plays] & 8 else np.int64(w.plays[s.num_plays])
    if s.phase == WIDOW:
        return first_card(w.swapped & ~s.swapped | w.swapped_dups & ~s.swapped_dups)
    cards, _ = legal(s, r)
    left = w.discards[s.seat] & ~s.discards[s.seat] | w.discard_dups[s.seat] & ~s.discard_dups[s.seat]
    return first_card(left & cards) if left & cards else np.int64(STAND)
