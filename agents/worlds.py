"""Worlds: whole deals drawn uniformly from all that are consistent with what one seat knows.

A world is a pack in an order, what the other seats discarded face down, and the order of every reshuffle (5.7), that
leads to the view: every call, naming, discard and play of it is legal, and forced discards are forced. Each such world
is equally likely; a policy may weigh them by how likely the seats were to choose what they chose. With two packs the
cards of a face count as two.

A world is drawn in three steps: unseen cards are dealt to the places where they may lie, with counts of all ways to do
so where a place may not hold every suit (:mod:`agents.unseen`); each seat's cards are split into what it was dealt and
what it took up later (:mod:`agents.decks`); and the deal is played again through the engine, where what turns out
illegal is drawn anew. What the letters mean stands in those modules and in :mod:`agents.places`.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from agents.decks import lay_deck, lay_stocks, ways_to_draw
from agents.places import (
    DISCARD,
    NUM_PLACES,
    has_trump,
    limit_places,
    read_exchange,
    read_view,
    unsure_place,
    with_trumps_only,
)
from agents.unseen import count_ways, fill, group_places, make_classes, unit
from pitch_env.actions import BLIND, FIRST_CALL, NAME_C, STAND
from pitch_env.cards import NO_SUIT
from pitch_env.engine.deal import clear, deal_out
from pitch_env.engine.jit import ONE, first_card, kernel, mix, num_cards
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
from pitch_env.engine.tables import EXCHANGE_DRAW, compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules

MAX_TRIES = 1 << 20

MAX_PAST = MAX_PACK + 16
"""Room for the decisions of a deal before a view."""

DRAWS = 8
"""Worlds drawn for each that is wanted, where a policy chooses among them."""

BLOCK = 1024
"""Worlds that are weighed together."""


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


# Playing it again


@kernel
def replay(v, r, p, lists, came, sizes, g, s):
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
