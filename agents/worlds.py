"""Worlds: whole deals drawn uniformly from all that are consistent with what one seat knows.

A world is a pack in an order, what the other seats discarded face down, and the order of every reshuffle (5.7), that
leads to the view: every call, naming, discard and play of it is legal, and forced discards are forced. Each such world
is equally likely; a policy may weigh them by how likely the seats were to choose what they chose. With two packs the
cards of a face count as two.

A world is drawn in three steps: unseen cards are dealt to the places where they may lie, with counts of all ways to do
so where a place may not hold every suit; each seat's cards are split into what it was dealt and what it took up later;
and the deal is played again through the engine, where what turns out illegal is drawn anew.

A card is discarded once at most: a seat exchanges once, before it draws. So where discards became a stock, each unseen
card lies in one place, its hand has it from one stock, and who discarded the cards of a stock is counted afterwards.

place  0–7 the hands, all that a seat has held since play started, 8–15 the face-down discards, 16–23 the face-down
       piles of the seats, then the widow and the stock
stage  0 the stock as dealt, k what the k-th reshuffle made of the discards
kind   0–4 the suits, 5–9 the same suits, of own discards that became a stock and were not seen again
left   (2, 54) cards of each face that were not seen: of the first five kinds, of the others
c, p   :class:`Classes`, :class:`Places`
g      the key and the count of the random numbers, an int64 array of length 2
"""

from math import comb, lgamma
from typing import Any, NamedTuple, Protocol

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
from pitch_env.engine.step import NOTHING, apply, legal
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
NUM_SUITS = 5
OWN_DISCARDS = ALL_SUITS << NUM_SUITS
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


class Places(NamedTuple):
    """What a view tells of the places."""

    lists: NDArray[np.int64]
    """(places, cards) the cards seen there."""
    known: NDArray[np.int64]
    """(places,) how many they are."""
    sizes: NDArray[np.int64]
    """(places,) how many cards lie there; no discards that became a stock."""
    bad: NDArray[np.int64]
    """(places,) kinds (bits) that cannot be among the cards not seen."""
    kept: NDArray[np.int64]
    """(places,) how many trumps a hand kept of those that it had before it drew, or ``ANY_NUMBER``."""
    drawn: NDArray[np.int64]
    """(places, stages) how many cards came from each stage."""
    stage_of: NDArray[np.int64]
    """(S,) the stage that a seat's discards became, 0 if none."""
    loose: NDArray[np.int64]
    """(stages,) discards in a stage of other seats that may have discarded trumps."""
    mine: int
    """The own hand's place."""
    held: int
    """Set of what the own hand had before it drew."""
    own: int
    """Set of the own discards, if they became a stock."""
    own_stage: int
    """The stage that they became, 0 if none."""


class Classes(NamedTuple):
    """Kinds that the same places may hold, put together, and the numbers that a table of ways goes by.

    The numbers are those of the trumps in each loose stage, then those of the cards of each class.
    """

    of: NDArray[np.int64]
    """(kinds,) the class of each kind."""
    num_kinds: int
    """5 where no own discards are to be placed, else 10."""
    first: int
    """How many loose stages there are; numbers from here on are of classes."""
    trump: int
    """Which number is that of the trumps."""
    own: int
    """Numbers from here on are of own discards."""
    full: NDArray[np.int64]
    """(numbers,) what there is of each before anything is placed."""
    strides: NDArray[np.int64]
    """(numbers,) strides of the table, which leaves out the last number."""
    size: int
    """Size of the table."""


class Groups(NamedTuple):
    """Places that may hold the same cards, put together; one alone where it matters how its cards came to it."""

    need: NDArray[np.int64]
    """(groups,) how many unseen cards lie there."""
    bad: NDArray[np.int64]
    """(groups,) kinds that cannot be among them."""
    alone: NDArray[np.int64]
    """(groups,) the place that is a group alone, else −1."""
    seen: NDArray[np.int64]
    """(groups, 3) cards seen at such a place: trumps, others, own discards."""
    of: NDArray[np.int64]
    """(places,) the group of each place, −1 where any card may lie or all are known."""


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
        WorldError: if the seat is not to act, if discards of two packs have been shuffled into the stock (5.7), or if
            the view contradicts itself.
    """
    views = np.array(view).reshape(1)
    if not views["to_move"][0]:
        raise WorldError("the seat of the view is not to act")
    if views["num_reshuffles"][0] and rules.decks == 2:
        raise WorldError("discards of two packs have been shuffled into the stock (5.7)")
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
    worlds: NDArray[np.void], view: Any, rules: Rules, policy: Policy, floor: float = 1e-4, give_up: float = np.inf
) -> NDArray[np.float64]:
    """Returns how likely a policy makes what the other seats called, named and played in each world: log-weights (n,).

    Decisions between several actions count, each as the seat that made it saw it; face-down discards, which differ
    from world to world, do not.

    Args:
        worlds: (n,) ``STATE`` records, as :func:`sample_worlds` draws them.
        view: the ``VIEW`` record that they were drawn for, or an array of one.
        rules: the rules of the deal.
        policy: how the other seats are thought to choose.
        floor: the least probability that counts, in 0 … 1: what the policy thinks impossible has happened all the same.
        give_up: worlds whose log-weight falls so far behind that of the likeliest after as many actions are given up:
            their log-weight is minus infinity, and the policy is asked no more about them.

    Raises:
        ValueError: if ``floor`` is not above 0 and at most 1, or there are several views.
    """
    if not 0 < floor <= 1:
        raise ValueError(f"floor={floor!r} is no probability above 0")
    seats = np.atleast_1d(np.asarray(view["seat"], np.int64))
    if len(seats) != 1:
        raise ValueError(f"{len(seats)} views; one, of all the worlds, was expected")
    total = np.zeros(len(worlds))
    for first in range(0, len(worlds), BLOCK):
        some = worlds[first : first + BLOCK]
        past = np.zeros(len(some) * MAX_PAST, VIEW)
        done, of, when = (np.empty(len(past), np.int64) for _ in range(3))
        num = past_decisions(some, compile_rules(rules), int(seats[0]), past, done, of, when)
        part = total[first : first + BLOCK]
        for step in np.unique(when[:num]):
            part[part < part.max() - give_up] = -np.inf
            rows = np.flatnonzero((when[:num] == step) & np.isfinite(part[of[:num]]))
            likely = policy.policy(past[rows])[np.arange(len(rows)), done[rows]]
            part[of[rows]] += np.log(np.maximum(likely, floor))
    return total


@kernel
def draw_worlds(views, rules, key, worlds):
    """Draws N worlds of one view; modifies ``worlds`` (N,). Returns whether it found them.

    It finds none where discards of two packs have been shuffled into the stock (5.7).
    """
    v, r = views[0], rules[0]
    drawn = np.zeros((NUM_PLACES, v.num_reshuffles + 1), np.int64)
    stage_of = np.zeros(MAX_SEATS, np.int64)
    if v.num_reshuffles > 0 and (r.decks == 2 or not read_exchange(v, r, drawn, stage_of)):
        return False
    g = np.array([key, 0])
    left = np.zeros((2, 54), np.int64)
    p = read_view(v, r, drawn, stage_of, left)
    limit_places(v, r, left, p)
    unsure = unsure_place(v, r, p)
    c, groups = make_classes(r, v.trump, left, p), group_places(r, v.trump, p)
    ways, log_ways = count_ways(p, c, groups)
    other, other_c, other_groups, other_ways, other_log = p, c, groups, ways, -np.inf
    if unsure != NO_SEAT:
        # A seat discards a trump only if it keeps nothing else: two kinds of worlds, each as likely as it has worlds.
        other = with_trumps_only(v, p, unsure)
        other_c, other_groups = make_classes(r, v.trump, left, other), group_places(r, v.trump, other)
        other_ways, other_log = count_ways(other, other_c, other_groups)
    if log_ways == -np.inf and other_log == -np.inf:
        return False
    share = 1.0 / (1.0 + np.exp(min(700.0, log_ways - other_log)))
    filled, sizes = p.lists.copy(), p.sizes.copy()
    came = np.zeros_like(drawn)
    for seat in range(r.players):
        sizes[DISCARD + seat] = v.num_discarded[(seat - v.seat) % r.players]
    for i in range(len(worlds)):
        found = False
        for _ in range(MAX_TRIES):
            filled[:, :] = p.lists
            if unsure != NO_SEAT and unit(g) < share:
                fill(r, v.trump, left, filled, came, other, other_c, other_groups, other_ways, g)
                if not has_trump(r, v.trump, filled[DISCARD + unsure], sizes[DISCARD + unsure]):
                    continue
            else:
                fill(r, v.trump, left, filled, came, p, c, groups, ways, g)
            if replay(v, r, p, filled, came, sizes, g, worlds[i]):
                found = True
                break
        if not found:
            return False
    return True


@kernel
def with_trumps_only(v, p, seat):
    """Returns the places where a seat's hand holds trumps only, and its discards may be any cards."""
    trump_bit = ONE << v.trump
    bad = p.bad.copy()
    bad[DISCARD + seat] = FREE
    bad[HAND + seat] |= ALL_SUITS & ~trump_bit
    return Places(
        p.lists, p.known, p.sizes, bad, p.kept, p.drawn, p.stage_of, p.loose, p.mine, p.held, p.own, p.own_stage
    )  # fmt: skip


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
def read_exchange(v, r, drawn, stage_of):
    """5.7  Goes through the exchange by the counts of discards: which stock each card came from, and what became of it.

    Modifies ``drawn`` (places, stages) and ``stage_of`` (S,). Returns whether it comes out as the view says.
    """
    stage, stock, pool = 0, r.pack_size - r.num_dealt, 0
    for place in range(r.players):
        seat = (v.seat + v.dealer + 1 + place) % r.players
        if not has_exchanged(v, r, seat):
            break
        gone = np.int64(v.num_discarded[(seat - v.seat) % r.players])
        pool += gone
        for _ in range(r.play_size - first_size(v, r, seat) + gone):
            if stock == 0:
                stage += 1
                if pool == 0 or stage > v.num_reshuffles:
                    return False
                stock, pool = pool, 0
                for k in range(place + 1):
                    other = (v.seat + v.dealer + 1 + k) % r.players
                    stage_of[other] = stage if stage_of[other] == 0 else stage_of[other]
            stock -= 1
            drawn[HAND + seat, stage] += 1
    drawn[STOCK, stage] = stock
    return stage == v.num_reshuffles and stock == v.stock_size


@kernel
def read_view(v, r, drawn, stage_of, left):
    """Returns where the cards that the seat has seen lie, and how many lie at each place; modifies ``left``."""
    me = np.int64(v.seat)
    lists = np.zeros((NUM_PLACES, MAX_PACK), np.int64)
    known = np.zeros(NUM_PLACES, np.int64)
    sizes = np.zeros(NUM_PLACES, np.int64)
    loose = np.zeros(drawn.shape[1], np.int64)
    for k in range(r.pack_size):
        left[0, r.pack[k]] += 1
    for k in range(v.num_plays):
        seat = (me + (v.play_seats[k] & 7)) % r.players
        put(left, lists, known, (PILE if v.play_seats[k] & 8 else HAND) + seat, v.plays[k])
    put_set(left, lists, known, HAND + me, v.hand, v.hand_dups)
    if not stage_of[me]:
        put_set(left, lists, known, DISCARD + me, v.discards, v.discard_dups)
    if v.num_swapped:
        put_set(left, lists, known, HAND + (me + v.pitcher) % r.players, v.swapped, v.swapped_dups)
    if r.turn_up:
        left[0, v.turn_up] -= 1
    put_pitches(v, r, left, lists, known)
    for k in range(r.players):
        seat = (me + k) % r.players
        hidden = np.int64(v.num_cards[k])
        if k == 0:
            hidden = 0
        elif holds_pitch(v, k):
            hidden -= 1
        sizes[HAND + seat] = known[HAND + seat] + hidden
        sizes[DISCARD + seat] = 0 if stage_of[seat] else v.num_discarded[k]
        sizes[PILE + seat] = r.face_down_size
        if k > 0 and stage_of[seat] and came_down(v, r, seat):
            loose[stage_of[seat]] += v.num_discarded[k]
    took_widow = r.widow_to == WIDOW_TO_PITCHER and v.phase != AUCTION
    took_widow |= r.widow_to == WIDOW_AFTER_FIRST_TRICK and (v.num_swapped > 0 or v.phase == WIDOW)
    sizes[WIDOW_PLACE] = 0 if took_widow else r.widow_size
    total = 0
    for place in range(STOCK):
        total += sizes[place]
    sizes[STOCK] = r.pack_size - total - r.turn_up
    own = np.int64(v.discards) if stage_of[me] else NOTHING
    move_own(left, own)
    bad, kept = np.zeros(NUM_PLACES, np.int64), np.full(NUM_PLACES, ANY_NUMBER)
    held = np.int64(v.dealt | v.widow)
    return Places(lists, known, sizes, bad, kept, drawn, stage_of, loose, HAND + me, held, own, stage_of[me])


@kernel
def move_own(left, own):
    """Tells the own discards that were not seen again from the other unseen cards; modifies ``left``."""
    while own:
        card = first_card(own)
        own &= own - 1
        left[1, card] = left[0, card]
        left[0, card] = 0


@kernel
def put(left, lists, known, place, card):
    """Notes that a card lies at a place."""
    left[0, card] -= 1
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
    takes = r.leftover_to != 0 and v.num_reshuffles == 0 and seat == (v.seat + v.pitcher) % r.players
    return takes and v.phase > EXCHANGE


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
def came_down(v, r, seat):
    """5.5  Tells whether a seat may have discarded trumps: it has discarded only what was too much for a hand."""
    too_many = first_size(v, r, seat) - r.play_size
    return r.exchange == EXCHANGE_REFILL and 0 < too_many == v.num_discarded[(seat - v.seat) % r.players]


@kernel
def limit_places(v, r, left, p):
    """Writes which kinds a place cannot hold, and how many trumps a hand kept of those that it was dealt.

    Modifies ``p.bad`` and ``p.kept``.
    """
    reshuffled = v.num_reshuffles > 0
    for k in range(1, r.players):
        seat = (v.seat + k) % r.players
        p.bad[HAND + seat] = v.voids[k]
        if not has_exchanged(v, r, seat):
            continue
        trump_bit = ONE << v.trump
        num = np.int64(v.num_discarded[k])
        swapped = has_swapped(v, r, seat)  # then some of the hand came with the widow: it is left to the replay
        if r.exchange == EXCHANGE_DRAW:  # 5.3
            p.bad[DISCARD + seat] = trump_bit
        elif r.exchange == EXCHANGE_DISCARD:  # 5.4
            if not swapped and has_plain(r, v.trump, p.lists[HAND + seat], p.known[HAND + seat]):
                p.bad[DISCARD + seat] = trump_bit
        elif took_leftover(v, r, seat):  # 5.6
            p.bad[DISCARD + seat] = FREE if swapped else trump_bit
        elif not came_down(v, r, seat):  # 5.5
            p.bad[DISCARD + seat] = trump_bit
            p.kept[HAND + seat] = ANY_NUMBER if swapped and not reshuffled else first_size(v, r, seat) - num
        elif not swapped:
            p.bad[HAND + seat] |= ALL_SUITS & ~trump_bit
        elif reshuffled:
            p.kept[HAND + seat] = r.play_size
    if reshuffled and not p.loose[v.num_reshuffles]:
        p.bad[STOCK] = ONE << v.trump
    if left[1].sum():
        for place in range(NUM_PLACES):
            if not p.drawn[place, p.own_stage]:
                p.bad[place] |= OWN_DISCARDS
            elif place != STOCK:
                p.bad[place] |= np.int64(v.voids[(place - HAND - v.seat) % r.players]) << NUM_SUITS


@kernel
def unsure_place(v, r, p):
    """5.6  Returns a pitcher of whom it is open whether he discarded trumps from the leftover, NO_SEAT if none."""
    seat = (v.seat + v.pitcher) % r.players
    if v.pitcher <= 0 or has_swapped(v, r, seat) or not took_leftover(v, r, seat):
        return np.int64(NO_SEAT)
    if not has_plain(r, v.trump, p.lists[HAND + seat], p.known[HAND + seat]):
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
def make_classes(r, trump, left, p):
    """Returns the classes of the unseen cards; trumps are one by themselves."""
    num_kinds = 2 * NUM_SUITS if left[1].sum() else NUM_SUITS
    of = np.zeros(2 * NUM_SUITS, np.int64)
    patterns = np.zeros(2 * NUM_SUITS, np.int64)
    num = 0
    for kind in range(num_kinds):
        pattern = ONE * (kind == trump) + 2 * (kind >= NUM_SUITS)
        for place in range(NUM_PLACES):
            pattern |= ((p.bad[place] >> kind) & 1) << (place + 2)
        found = -1
        for k in range(num):
            if patterns[k] == pattern:
                found = k
        if found == -1:
            patterns[num] = pattern
            found = num
            num += 1
        of[kind] = found
    first = np.sum(p.loose > 0)
    full = np.zeros(first + num, np.int64)
    digit = 0
    for stage in range(len(p.loose)):
        if p.loose[stage]:
            full[digit] = p.loose[stage]
            digit += 1
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        for own in range(2):
            full[first + of[r.suit_of[by, card] + own * NUM_SUITS]] += left[own, card]
    strides = np.ones(len(full), np.int64)
    size = np.int64(1)
    for k in range(len(full) - 1):
        strides[k] = size
        size *= full[k] + 1
    own_at = first + (of[NUM_SUITS] if num_kinds > NUM_SUITS else num)
    return Classes(of, np.int64(num_kinds), first, first + of[max(trump, 0)], own_at, full, strides, size)


@kernel
def group_places(r, trump, p):
    """Returns the groups of the places."""
    need = np.zeros(NUM_PLACES, np.int64)
    bad = np.zeros(NUM_PLACES, np.int64)
    alone = np.full(NUM_PLACES, -1)
    seen = np.zeros((NUM_PLACES, 3), np.int64)
    of = np.full(NUM_PLACES, -1)
    num = 0
    for place in range(NUM_PLACES):
        hidden = p.sizes[place] - p.known[place]
        single, loose = p.kept[place] != ANY_NUMBER, False
        for stage in range(1, len(p.loose)):
            single |= p.drawn[place, stage] > 0
            loose |= p.drawn[place, stage] > 0 and p.loose[stage] > 0
        if (hidden == 0 and not loose) or (p.bad[place] == FREE and not single):
            continue
        found = -1
        for k in range(num):
            if bad[k] == p.bad[place] and alone[k] == -1 and not single:
                found = k
        if found == -1:
            found = num
            num += 1
            bad[found] = p.bad[place]
            if single:
                alone[found] = place
                count_seen(r, trump, p, place, seen[found])
        need[found] += hidden
        of[place] = found
    return Groups(need[:num], bad[:num], alone[:num], seen[:num], of)


@kernel
def count_seen(r, trump, p, place, seen):
    """Counts the trumps, other cards and own discards seen at a place; modifies ``seen`` (3,)."""
    for i in range(p.known[place]):
        card = p.lists[place, i]
        bit = ONE << card
        if p.own & bit:
            seen[2] += 1
        elif place != p.mine or not p.held & bit:
            seen[0 if r.suit_of[trump, card] == trump else 1] += 1


@kernel
def limit_numbers(p, c, groups, h, counts, top):
    """Writes how much of each number a group can take, of what is left; modifies ``top`` (numbers,)."""
    need, bad, alone, of = groups.need[h], groups.bad[h], groups.alone[h], c.of
    top[:] = 0
    digit = 0
    for stage in range(1, len(p.loose)):
        if p.loose[stage]:
            if alone != -1:
                top[digit] = min(counts[digit], p.drawn[alone, stage])
            digit += 1
    for kind in range(c.num_kinds):
        if not (bad >> kind) & 1:
            k = c.first + of[kind]
            top[k] = min(counts[k], need)


@kernel
def next_split(split, top):
    """Advances all numbers but the last through all that ``top`` allows; False after the last."""
    for c in range(len(split) - 1):
        if split[c] < top[c]:
            split[c] += 1
            return True
        split[c] = 0
    return False


@kernel
def split_ways(split, top, counts, need, first, strides, later, at):
    """Returns in how many ways a group, and those after it, can be filled with given numbers.

    Writes the last number into ``split``.
    """
    last = len(split) - 1
    rest = need
    for k in range(first, last):
        rest -= split[k]
    split[last] = rest
    if rest < 0 or rest > top[last]:
        return 0.0
    ways = 1.0
    for k in range(first, last + 1):
        ways *= CHOOSE[counts[k], split[k]]
    for k in range(last):
        at -= split[k] * strides[k]
    return ways * later[at]


@kernel
def ways_to_come(split, p, c, place, seen):
    """Returns in how many ways the cards of a place can have come to it: which were kept, and which drawn when.

    5.5, 5.7  Kept are trumps only, where their number is known; a reshuffle brings none but from loose discards.
    """
    trumps, plain, own = seen[0] + split[c.trump], seen[1], seen[2]
    ways = 1.0
    if p.kept[place] != ANY_NUMBER:
        ways = CHOOSE[trumps, p.kept[place]]
        trumps -= p.kept[place]
    if len(p.loose) == 1:
        return ways
    for k in range(c.first, len(split)):
        if k >= c.own:
            own += split[k]
        elif k != c.trump:
            plain += split[k]
    digit = 0
    for stage in range(1, len(p.loose)):
        num = p.drawn[place, stage]
        if stage == p.own_stage:
            num -= own
        if p.loose[stage]:
            ways *= CHOOSE[max(trumps, 0), split[digit]]
            trumps -= split[digit]
            num -= split[digit]
            digit += 1
        if num < 0 or num > plain:
            return 0.0
        ways *= CHOOSE[plain, num]
        plain -= num
    return ways if trumps >= 0 else 0.0


@kernel
def ways_to_discard(p, c, at):
    """5.7  Returns in how many ways the seats can have discarded what became stocks, with some trumps left over."""
    ways = 1.0
    digit = 0
    for stage in range(1, len(p.loose)):
        if p.loose[stage]:
            not_used = (at // c.strides[digit]) % (c.full[digit] + 1)
            others = p.drawn[:, stage].sum() - p.loose[stage] + not_used
            if stage == p.own_stage:
                others -= num_cards(p.own)
            ways *= CHOOSE[others, not_used] if others >= 0 else 0.0
            digit += 1
    return ways


@kernel
def count_ways(p, c, groups):
    """Counts the ways to deal the unseen cards.

    Returns a table (groups + 1, numbers left, all but the last) of the ways to fill a group and those after it, and
    the logarithm of the ways to fill every place.
    """
    num_groups = len(groups.need)
    ways = np.ones((num_groups + 1, c.size))
    counts, split, top = np.zeros_like(c.full), np.zeros_like(c.full), np.zeros_like(c.full)
    last = len(c.full) - 1
    after = c.full[c.first :].sum()
    log_ways = 0.0
    for h in range(num_groups):
        after -= groups.need[h]
    log_ways += free_ways(after, p, groups)
    for at in range(c.size):
        ways[num_groups, at] = ways_to_discard(p, c, at)
    for h in range(num_groups - 1, -1, -1):
        after += groups.need[h]
        for at in range(c.size):
            ways[h, at] = 0.0
            rest = after
            for k in range(last):
                counts[k] = (at // c.strides[k]) % (c.full[k] + 1)
                if k >= c.first:
                    rest -= counts[k]
            if rest < 0 or rest > c.full[last]:
                continue
            counts[last] = rest
            limit_numbers(p, c, groups, h, counts, top)
            split[:] = 0
            more = True
            while more:
                num = split_ways(split, top, counts, groups.need[h], c.first, c.strides, ways[h + 1], at)
                if num > 0.0 and groups.alone[h] != -1:
                    num *= ways_to_come(split, p, c, groups.alone[h], groups.seen[h])
                ways[h, at] += num
                more = next_split(split, top)
        log_ways += LOG_FACTORIAL[groups.need[h]]
        for place in range(NUM_PLACES):
            if groups.of[place] == h:
                log_ways -= LOG_FACTORIAL[p.sizes[place] - p.known[place]]
    total = ways[0, c.size - 1]
    return ways, log_ways + np.log(total) if total > 0.0 else -np.inf


@kernel
def free_ways(num, p, groups):
    """Returns the logarithm of the ways to deal cards to the places that may hold any."""
    log_ways = LOG_FACTORIAL[num]
    for place in range(NUM_PLACES):
        if groups.of[place] == -1:
            log_ways -= LOG_FACTORIAL[p.sizes[place] - p.known[place]]
    return log_ways


@kernel
def fill(r, trump, left, lists, came, p, c, groups, ways, g):
    """Deals the unseen cards, each way as likely as any.

    Modifies ``lists``, ``came`` (places, stages), how many trumps of a place came from each loose stage, and ``g``.
    """
    cards = class_lists(r, trump, left, c.of, len(c.full) - c.first, g)
    counts, split, top = c.full.copy(), np.zeros_like(c.full), np.zeros_like(c.full)
    hand = np.zeros(MAX_PACK, np.int64)
    first, strides, at = c.first, c.strides, c.size - 1
    for h in range(len(groups.need)):
        need, alone = groups.need[h], groups.alone[h]
        limit_numbers(p, c, groups, h, counts, top)
        luck = unit(g) * ways[h, at]
        split[:] = 0
        more = True
        while more:
            part = split_ways(split, top, counts, need, first, strides, ways[h + 1], at)
            if part > 0.0 and alone != -1:
                part *= ways_to_come(split, p, c, alone, groups.seen[h])
            luck -= part
            if luck < 0.0:
                break
            more = next_split(split, top)
        num = 0
        for k in range(len(split)):
            at -= split[k] * strides[k] if k + 1 < len(split) else 0
            counts[k] -= split[k]
            for j in range(split[k] if k >= first else 0):
                hand[num] = cards[k - first, counts[k] + split[k] - 1 - j]
                num += 1
        if first and alone != -1:
            note_trumps(p.loose, alone, split, came)
        lay(hand, num, lists, p.known, p.sizes, groups.of, h, g)
    num = 0
    for k in range(first, len(counts)):
        for j in range(counts[k]):
            hand[num] = cards[k - first, j]
            num += 1
    lay(hand, num, lists, p.known, p.sizes, groups.of, -1, g)


@kernel
def note_trumps(loose, place, split, came):
    """Notes how many trumps of a place came from each loose stage; modifies ``came``."""
    digit = 0
    for stage in range(len(loose)):
        if loose[stage]:
            came[place, stage] = split[digit]
            digit += 1


@kernel
def class_lists(r, trump, left, class_of, num_classes, g):
    """Returns the unseen cards by class, each class shuffled."""
    cards = np.zeros((num_classes, MAX_PACK), np.int64)
    counts = np.zeros(num_classes, np.int64)
    by = trump if trump != NO_SUIT else 4
    for card in range(54):
        for own in range(2):
            for _ in range(left[own, card]):
                k = class_of[r.suit_of[by, card] + own * NUM_SUITS]
                cards[k, counts[k]] = card
                counts[k] += 1
    for k in range(num_classes):
        shuffle(cards[k], 0, counts[k], g)
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
def replay(v, r, p, lists, came, sizes, g, s):
    """Splits what each seat held into what it was dealt and what came later, and plays the deal up to the view.

    sizes  (places,) how many cards lie there; all discards, those that became a stock too
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
    if v.num_reshuffles > 0:
        if not lay_stocks(v, r, p, lists, came, sizes, g, s):
            return False
    else:
        lay_deck(v, r, lists, sizes, g, s)
    if r.decks == 2 and unit(g) * ways_to_draw(v, r, lists, p.known, sizes, s) >= 1.0:
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
    return s.stock_end - s.stock_next == v.stock_size and s.num_reshuffles == v.num_reshuffles


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


# Discards that became a stock


@kernel
def lay_stocks(v, r, p, lists, came, sizes, g, s):
    """5.7  Lays the deck of a world whose discards became stocks, and these behind it.

    Modifies ``s``, ``lists``, to which it adds the discards, and ``g``. Returns False where a card played before the
    swap (5.8) came with it.
    """
    num_stages = len(p.loose)
    stocks, num = np.zeros((num_stages, MAX_PACK), np.int64), np.zeros(num_stages, np.int64)
    kept, num_kept = np.zeros((MAX_SEATS, MAX_PACK), np.int64), np.zeros(MAX_SEATS, np.int64)
    widow = np.zeros(MAX_PACK, np.int64)
    for k in range(sizes[WIDOW_PLACE]):
        widow[k] = lists[WIDOW_PLACE, k]
    list_set(widow, sizes[WIDOW_PLACE], v.widow, v.widow_dups)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        num_kept[seat] = part_hand(v, r, p, lists, came, sizes, seat, stocks, num, kept[seat], widow, g)
        if num_kept[seat] < 0:
            return False
    for k in range(sizes[STOCK]):
        stocks[num_stages - 1, num[num_stages - 1]] = lists[STOCK, k]
        num[num_stages - 1] += 1
    for stage in range(1, num_stages):
        share_discards(v, r, p, lists, sizes, stage, stocks[stage], num[stage], g)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        lay_hand(v, r, lists, sizes, seat, kept[seat], num_kept[seat], widow, g, s)
        for k in range(r.face_down_size):
            s.deck[r.first_face_down + place * r.face_down_size + k] = lists[PILE + seat, k]
    for k in range(r.widow_size):
        s.deck[r.first_widow + k] = widow[k]
    if r.turn_up:
        s.deck[r.first_widow + r.widow_size] = v.turn_up
    at = r.first_stock
    for stage in range(num_stages):
        for k in range(num[stage]):
            s.deck[at] = stocks[stage, k]
            at += 1
    s.known_end = at
    return True


@kernel
def part_hand(v, r, p, lists, came, sizes, seat, stocks, num, kept, widow, g):
    """Parts all that a hand has held into what it kept and what came from each stage, each way as likely as any.

    Modifies ``stocks`` (stages, cards) and ``num`` (stages,), to which it appends; ``kept``, ``widow`` and ``g``.
    Returns how many cards were kept, −1 where the first card played came with the swap (5.8).
    """
    place = HAND + seat
    hand, size = lists[place].copy(), sizes[place]
    trumps, others = came[place].copy(), p.drawn[place] - came[place]
    for k in range(size):
        others[p.own_stage] -= p.own >> hand[k] & 1
    starts, num_kept, num_rest = num.copy(), 0, 0
    shuffle(hand, 0, size, g)
    for k in range(size):
        card = hand[k]
        is_trump = r.suit_of[v.trump, card] == v.trump
        if p.own >> card & 1:
            stage = p.own_stage
        elif place == p.mine and p.held >> card & 1:
            continue
        elif is_trump and num_kept < p.kept[place]:
            kept[num_kept] = card
            num_kept += 1
            continue
        else:
            stage = take_stage(trumps if is_trump else others)
        if stage:
            stocks[stage, num[stage]] = card
            num[stage] += 1
        else:
            hand[num_rest] = card
            num_rest += 1
    shuffle(hand, 0, num_rest, g)
    if has_swapped(v, r, seat) and place != p.mine:
        for k in range(r.widow_size):
            num_rest -= 1
            widow[k] = hand[num_rest]
            if widow[k] == lists[place, 0]:
                return -1
    for k in range(num_rest):
        if k < p.drawn[place, 0]:
            stocks[0, num[0]] = hand[k]
            num[0] += 1
        else:
            kept[num_kept] = hand[k]
            num_kept += 1
    for stage in range(1, len(num)):
        shuffle(stocks[stage], starts[stage], num[stage], g)
    return num_kept


@kernel
def take_stage(wanted):
    """Returns the first stage but 0 from which a card is still wanted, 0 if none; modifies ``wanted`` (stages,)."""
    for stage in range(1, len(wanted)):
        if wanted[stage] > 0:
            wanted[stage] -= 1
            return stage
    return 0


@kernel
def share_discards(v, r, p, lists, sizes, stage, stock, num, g):
    """5.7  Gives the cards of a stock back to the seats that discarded them; modifies ``lists`` and ``g``."""
    cards = stock.copy()
    shuffle(cards, 0, num, g)
    loose, others = np.zeros(MAX_PACK, np.int64), np.zeros(MAX_PACK, np.int64)
    num_loose, num_others = 0, 0
    for part in range(2):  # the trumps first; others fill up what seats discarded of whom it is open
        for k in range(num):
            if p.own >> cards[k] & 1 or (r.suit_of[v.trump, cards[k]] == v.trump) != (part == 0):
                continue
            if num_loose < p.loose[stage]:
                loose[num_loose] = cards[k]
                num_loose += 1
            else:
                others[num_others] = cards[k]
                num_others += 1
    shuffle(loose, 0, num_loose, g)
    for seat in range(r.players):
        if p.stage_of[seat] != stage:
            continue
        if HAND + seat == p.mine:
            list_set(lists[DISCARD + seat], 0, p.own, NOTHING)
            continue
        for k in range(sizes[DISCARD + seat]):
            if came_down(v, r, seat):
                num_loose -= 1
                lists[DISCARD + seat, k] = loose[num_loose]
            else:
                num_others -= 1
                lists[DISCARD + seat, k] = others[num_others]


@kernel
def lay_hand(v, r, lists, sizes, seat, kept, num_kept, widow, g, s):
    """Lays a hand as dealt: what it kept and what it discarded, less the widow that it took up (5.1).

    Modifies ``s``, ``kept``, ``widow`` and ``g``.
    """
    if seat == v.seat:
        list_set(kept, 0, v.dealt, v.dealt_dups)
    else:
        num = num_kept
        for k in range(sizes[DISCARD + seat]):
            kept[num] = lists[DISCARD + seat, k]
            num += 1
        shuffle(kept, 0, num, g)
        for k in range(r.hand_size, num):
            widow[k - r.hand_size] = kept[k]
    start = (seat - s.dealer - 1) % r.players * r.hand_size
    for k in range(r.hand_size):
        s.deck[start + k] = kept[k]


# What was done


@kernel
def past_decisions(worlds, rules, seat, views, actions, of, when):
    """Plays N worlds again from the deal, and lists the choices of all seats but one in each.

    Forced actions and face-down discards are left out: the former say nothing, the latter were not seen.

    Modifies ``views`` (M,) VIEW, each decision as the seat that made it saw it, ``actions`` (M,), ``of`` (M,) the
    world's index and ``when`` (M,) how many actions came before; returns how many decisions there were.
    """
    r = rules[0]
    num = np.int64(0)
    state = np.zeros(1, STATE)
    for i in range(len(worlds)):
        w, s = worlds[i], state[0]
        begin_again(w, r, s)
        num_before = 0
        while not (s.phase == w.phase and s.seat == w.seat and s.num_plays == w.num_plays and s.must_go == w.must_go):
            action = done_action(w, r, s)
            cards, calls = legal(s, r)
            if s.seat != seat and s.phase != EXCHANGE and num_cards(cards) + num_cards(calls) > 1:
                look(s, r, s.seat, views[num])
                actions[num] = action
                of[num] = i
                when[num] = num_before
                num += 1
            apply(s, r, action)
            num_before += 1
    return num


@kernel
def begin_again(w, r, s):
    """Deals a world's deal; modifies ``s``."""
    clear(s)
    s.seed = w.seed
    s.table = w.table
    s.deal = w.deal
    s.dealer = w.dealer
    s.known_end = w.known_end
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
