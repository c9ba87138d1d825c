"""Exact play with all cards known: from any point of the play, the value of every action of the seat to move.

The value of a position is what a side's change of score comes to, less the mean of the other sides'. It is held as an
int, multiplied by sides − 1. With two sides both play for it, the second for its opposite. With more, the value is
*paranoid*: the side to move plays for its own value, and all others play against it; what they gain for themselves
does not move them. (Each for itself would be max-n, which cannot be cut off as alpha-beta can.)

Two searches, both alpha-beta with a table of positions at the start of tricks:

- the *compact* one plays one pack with every card in a hand, on sets of cards laid out anew so that the higher card
  of a suit is the higher bit and every trump is above every plain card;
- the *general* one plays copies of the engine's state: two packs, face-down piles, the swap for the widow (5.8) and a
  joker led under no-trump (4.5).

w  the workspace of the compact search, an int64 array: numbers, cards, tricks, moves, then the table
place  a card of the compact layout, 0 … 53; suits of places are contiguous, trumps last
e, d, own  points of items so far: of the bidding side, of all defenders, and of those of ``ME`` if it defends
value  for side ``ME``, the one that maximises
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import BLIND, FIRST_CALL, NUM_ACTIONS
from pitch_env.cards import HIGH_JOKER, JOKERS, LOW_JOKER, NO_SUIT, NUM_RANKS
from pitch_env.engine.jit import ONE, first_card, kernel, mix, num_cards
from pitch_env.engine.settlement import bottom_face, item_points, top_face
from pitch_env.engine.state import NO_TRUMP, OVER, PLAY, SMUDGE_BID, STATE, WIDOW
from pitch_env.engine.step import apply, legal
from pitch_env.engine.tables import (
    FAILED_BECOMES,
    GAME,
    HIGH,
    HIGH_SPADE,
    JACK_ITEM,
    JOKER,
    LOW,
    MADE_ADVANCES,
    MAX_TRUMPS,
    NO_FACE,
    TWO_ITEM,
    WIDOW_AFTER_FIRST_TRICK,
    compile_rules,
)  # fmt: skip
from pitch_env.rules import Rules

POINTS, ITEMS = 0, 1
"""Objectives: points of the deal as settled (8), or the worth of the items taken, made or not."""

NO_CARDS = ONE ^ ONE
NO_VALUE = -(1 << 30)
"""Stands for an action that is not legal; below every value."""
INFINITY = 1 << 30

# The workspace: numbers
NODES, LIMIT, EXHAUSTED, GENERATION, TABLE_MASK, PLAYERS, SIDES, ME, BIDDER = range(9)
TRICK = 9  # tricks taken since the root
PLAIN = 10  # 4.6 is in force in the trick of the root
TRACKS_TRICKS = 11  # a smudge that undertakes every trick (3.7)
GAME_VALUE = 12
OWN_FACTOR = 13  # how often ``own`` counts beside ``d``
IS_MONOTONE = 14  # more for the bidding side, less for the others is never worse for ``ME``
TRUMPS, WORTHLESS, POINTLESS = 15, 16, 17  # sets of places; without points and Game value, without points
FREE, MAY_RUFF, MUST_TRUMP = 18, 19, 20
# by seat and side
HANDS, SIDE_OF = 24, 32
# by place
WORTH, WEIGHT, SUIT_AT, FACE_AT = 40, 104, 168, 232
HOLDER_AT = 296  # seat that holds the card at the root
# by face
PLACE_OF = 360
# by points of the bidding side
KEEP, SETTLED, MOST, LEAST = 424, 552, 808, 1064  # the last three [every trick so far, points]
MAX_POINTS = 128
# one block for each trick since the root
BLOCKS, BLOCK = 1320, 24
E, D, OWN, FLAG, LEFT_E, LEFT_D, GAME_LEFT, GAME_OPEN, GAMES = range(9)
# one row of moves for each play since the root
MOVES, ROW = BLOCKS + BLOCK * 56, 64
TABLE, ENTRY = MOVES + ROW * 64, 4

OWN_BITS = 20
"""``WORTH`` of a place: what its card gives a bidder who takes it, a defender, and toward Game, this many bits each."""
WORTH_MASK = (1 << OWN_BITS) - 1
LOW_31 = (1 << 31) - 1
VALUE_BITS = 24
VALUE_MASK = (1 << VALUE_BITS) - 1
VALUE_ZERO = 1 << 23
SPADES = 3
NO_PLACE = 63


class Workspace(NamedTuple):
    """What one solver needs to run; made once, used for any number of positions, by one thread at a time."""

    numbers: NDArray[np.int64]
    """``w``: the workspace of the compact search, and its table."""
    states: NDArray[np.void]
    """States of the line that the general search looks at."""
    entries: NDArray[np.int64]
    """(M, 2) table of the general search: key, bounds."""


def new_workspace(entries: int = 1 << 14, limit: int = 1 << 62) -> Workspace:
    """Returns a workspace.

    Args:
        entries: size of either table, a power of two. The default is the fastest for six tricks; for more of them, or
            two packs and face-down piles, 2^18 is better.
        limit: nodes after which a solve gives up; what it then returns are guesses (``Solutions.exact``).

    Raises:
        ValueError: if ``entries`` is no power of two.
    """
    if entries < 1 or entries & (entries - 1):
        raise ValueError(f"entries={entries} is no power of two")
    numbers = np.zeros(TABLE + ENTRY * entries, np.int64)
    numbers[TABLE_MASK] = entries - 1
    numbers[LIMIT] = limit
    return Workspace(numbers, np.zeros(128, STATE), np.zeros((entries, 2), np.int64))


class Solutions(NamedTuple):
    """What :func:`solve` found of N positions."""

    values: NDArray[np.float64]
    """(N,) points of the side to move less the mean of the others', with best play."""
    cards: NDArray[np.int64]
    """(N,) sets of the cards that are best; all of them."""
    calls: NDArray[np.int64]
    """(N,) the same for calls."""
    exact: NDArray[np.bool_]
    """(N,) False where the search ran into its limit."""
    nodes: NDArray[np.int64]
    """(N,) positions looked at."""


def solve(
    states: NDArray[np.void], rules: Rules, objective: int = POINTS, workspace: Workspace | None = None
) -> Solutions:
    """Solves N positions with all cards known.

    Args:
        states: (N,) ``STATE`` records in the play or the swap for the widow (5.8).
        rules: their rules.
        objective: ``POINTS`` or ``ITEMS``.
        workspace: what to search in; a new one if left out.

    Raises:
        ValueError: if a state is in another phase, or there is no such objective.
    """
    space = _checked(states, objective, workspace)
    num = len(states)
    values, cards, calls = np.zeros(num, np.int64), np.zeros(num, np.int64), np.zeros(num, np.int64)
    exact, nodes = np.zeros(num, np.bool_), np.zeros(num, np.int64)
    solve_batch(states, compile_rules(rules), space, objective, values, cards, calls, exact, nodes)
    return Solutions(values / (rules.sides - 1), cards, calls, exact, nodes)


def action_values(
    states: NDArray[np.void], rules: Rules, objective: int = POINTS, workspace: Workspace | None = None
) -> NDArray[np.float64]:
    """Returns the value of every action in N positions: (N, NUM_ACTIONS), NaN for actions that are not legal.

    Arguments and errors are those of :func:`solve`, which does not need the exact value of what is not best.
    """
    space = _checked(states, objective, workspace)
    found = np.zeros((len(states), NUM_ACTIONS), np.int64)
    values_batch(states, compile_rules(rules), space, objective, found)
    return np.where(found == NO_VALUE, np.nan, found / (rules.sides - 1))


def _checked(states: NDArray[np.void], objective: int, workspace: Workspace | None) -> Workspace:
    if objective not in (POINTS, ITEMS):
        raise ValueError(f"objective={objective!r} is neither POINTS nor ITEMS")
    if not np.isin(states["phase"], (PLAY, WIDOW)).all():
        raise ValueError("a state is neither in the play nor in the swap for the widow")
    return new_workspace() if workspace is None else workspace


@kernel
def values_batch(states, rules, space, objective, found):
    """Finds the value of every action in N positions; modifies ``found`` (N, NUM_ACTIONS)."""
    for i in range(len(states)):
        solve_root(states[i], rules[0], space, objective, True, found[i])


@kernel
def solve_batch(states, rules, space, objective, values, cards, calls, exact, nodes):
    """Solves N positions; modifies ``values``, ``cards``, ``calls``, ``exact`` and ``nodes`` (N,)."""
    r = rules[0]
    found = np.empty(NUM_ACTIONS, np.int64)
    for i in range(len(states)):
        values[i] = solve_root(states[i], r, space, objective, False, found)
        cards[i] = 0
        calls[i] = 0
        for action in range(NUM_ACTIONS):
            if found[action] == values[i]:
                if action < FIRST_CALL:
                    cards[i] |= ONE << action
                else:
                    calls[i] |= ONE << (action - FIRST_CALL)
        exact[i] = space.numbers[EXHAUSTED] == 0
        nodes[i] = space.numbers[NODES]


# The root


@kernel
def solve_root(s, r, space, objective, every, found):
    """Solves one position.

    every  find the exact value of every action; else those that are not best only get a number below the best
    Modifies ``found`` (NUM_ACTIONS,): values for the side to move, times sides − 1; ``NO_VALUE`` if not legal.
    Returns the best of them.
    """
    w = space.numbers
    begin(s, r, w, objective)
    for action in range(NUM_ACTIONS):
        found[action] = NO_VALUE
    cards, calls = legal(s, r)
    best = NO_VALUE
    if is_compact(s, r):
        leads = s.num_plays == s.trick_start
        if leads and (s.trump == NO_SUIT or (s.trump == NO_TRUMP and s.reference == NO_SUIT)):
            # 4.1, 4.5  Each suit led makes another deal of it; a good one first, to hold the others against.
            suits = 0b1111
            while suits:
                suit = likely_trump(s, r, cards, suits)
                suits ^= 1 << suit
                led = cards & r.suit_cards[NO_TRUMP, suit]
                if led:
                    trump = suit if s.trump == NO_SUIT else s.trump
                    best = solve_compact(s, r, w, trump, suit, led, every, best, found)
            cards &= JOKERS
            if cards and s.trump == NO_SUIT:
                best = solve_compact(s, r, w, r.lowest_suit, NO_SUIT, cards, every, best, found)
                cards &= 0
        elif s.trump != NO_TRUMP or s.reference != NO_SUIT:
            best = solve_compact(s, r, w, s.trump, s.reference, cards, every, best, found)
            cards &= 0
    if cards or calls:
        best = solve_general(s, r, space, objective, cards, calls, every, best, found)
    return best


@kernel
def likely_trump(s, r, cards, suits):
    """Returns which of a set of suits looks best as trumps by the number and ranks of its cards."""
    best, likely = -1, 0
    for suit in range(4):
        if (suits >> suit) & 1:
            held = cards & r.suit_cards[NO_TRUMP, suit]
            score = 0
            while held:
                score += 10 + first_card(held) % NUM_RANKS
                held &= held - 1
            if score > best:
                best, likely = score, suit
    return likely


@kernel
def is_compact(s, r):
    """Tells whether the rest of the deal is one pack with every card in a hand."""
    swap_to_come = r.widow_to == WIDOW_AFTER_FIRST_TRICK and r.widow_size > 0 and s.trick == 0
    return s.phase == PLAY and r.decks == 1 and r.face_down_size == 0 and not swap_to_come


@kernel
def begin(s, r, w, objective):
    """Notes in the workspace what holds for the whole of a solve."""
    w[NODES] = 0
    w[EXHAUSTED] = 0
    w[PLAYERS] = r.players
    w[SIDES] = r.sides
    w[BIDDER] = r.side_of[s.pitcher]
    # Two sides play for opposite values, so that one table serves both.
    w[ME] = w[BIDDER] if r.sides == 2 else r.side_of[s.seat]
    w[OWN_FACTOR] = 0 if w[ME] == w[BIDDER] else r.sides
    w[FREE] = r.free
    w[MAY_RUFF] = r.may_ruff
    w[MUST_TRUMP] = r.must_trump
    w[GAME_VALUE] = r.values[GAME]
    w[TRACKS_TRICKS] = objective == POINTS and s.high_bid == SMUDGE_BID and r.smudge_tricks != 0
    for seat in range(8):
        w[SIDE_OF + seat] = r.side_of[seat]
    note_settlement(s, r, w, objective)


@kernel
def settle_bidder(s, r, objective, earned, every_trick):
    """8  Returns the bidding side's change of score, if the defenders keep their items, and what each is paid."""
    if objective == ITEMS:
        return earned, 1, 0
    score = np.int64(s.scores[r.side_of[s.pitcher]])
    if s.high_bid == SMUDGE_BID:
        if earned == r.all_points and every_trick:
            if r.smudge_made == MADE_ADVANCES:
                return (max(score, r.target) if score >= 0 else 0) - score, 1, 0
            return r.smudge_value, 1, 0
        return -r.smudge_value - (score if r.smudge_failed == FAILED_BECOMES else 0), 1, 0
    if s.high_bid == 0 and earned == 0:
        return 0, 0, 0
    if s.high_bid > 0 and earned >= s.high_bid:
        return earned, 1, 0
    if r.transfer:
        return 0, r.transfer_keeps_own, earned
    return -np.int64(s.high_bid), 1, 0


@kernel
def note_settlement(s, r, w, objective):
    """Writes the value of a deal by the points of the bidding side, but for the items that defenders keep.

    A deal is worth ``SETTLED[every trick, e] + KEEP[e] * (OWN_FACTOR * own − d)``.
    """
    me_bids = w[ME] == w[BIDDER]
    monotone = me_bids
    for e in range(MAX_POINTS):
        for flag in range(2):
            points, keeps, paid = settle_bidder(s, r, objective, e, flag)
            w[KEEP + e] = keeps
            at = flag * MAX_POINTS + e
            w[SETTLED + at] = (r.sides - 1) * (points - paid) if me_bids else paid - points
            worst = min(w[SETTLED + e], w[SETTLED + at])
            best = max(w[SETTLED + e], w[SETTLED + at])
            w[LEAST + at] = worst if w[TRACKS_TRICKS] else w[SETTLED + at]
            w[MOST + at] = best if w[TRACKS_TRICKS] else w[SETTLED + at]
            if keeps == 0 or (e > 0 and (w[MOST + at] < w[MOST + at - 1] or w[LEAST + at] < w[LEAST + at - 1])):
                monotone = False
    w[IS_MONOTONE] = monotone


@kernel
def deal_value(w, e, d, own, flag):
    """Returns the value of a deal whose items are all taken."""
    return w[SETTLED + flag * MAX_POINTS + e] + w[KEEP + e] * (w[OWN_FACTOR] * own - d)


@kernel
def value_bounds(w, e, d, own, flag, left_e, left_d, game):
    """Returns the least and the most that a deal can be worth.

    left_e, left_d  points that the bidding side, defenders could still take; game  the same of Game, if open
    """
    most_e = left_e + game
    if w[IS_MONOTONE]:
        at = flag * MAX_POINTS + e
        return w[LEAST + at] - d - left_d - game, w[MOST + at + most_e] - d
    least = INFINITY
    most = -INFINITY
    factor = w[OWN_FACTOR]
    for x in range(most_e + 1):
        at = flag * MAX_POINTS + e + x
        low, high = w[LEAST + at], w[MOST + at]
        if w[KEEP + e + x]:
            kept = factor * own - d
            rest = most_e - x
            low += kept - rest
            high += kept + (factor - 1) * rest if factor else kept - max(0, left_d - x)
        least = min(least, low)
        most = max(most, high)
    return least, most


# The compact layout


@kernel
def lay_out(s, r, w, trump, reference):
    """Lays out the cards still to be taken, the points so far and what each card is worth; a new table.

    trump  the trump suit, also before the first lead makes it; reference  under no-trump the reference suit
    """
    w[GENERATION] += 1
    w[TRICK] = 0
    w[PLAIN] = s.plain_trick
    num = lay_places(s, r, w, trump)
    for i in range(E, BLOCK):
        w[BLOCKS + i] = 0
    w[BLOCKS + FLAG] = not w[TRACKS_TRICKS] or s.tricks[w[BIDDER]] == s.trick
    lay_items(s, r, w, trump, reference)
    if w[GAME_VALUE]:
        lay_game(s, r, w, num)
    worthless = NO_CARDS
    pointless = NO_CARDS
    for place in range(num):
        worth = w[WORTH + place]
        points = worth & WORTH_MASK
        w[WEIGHT + place] = 14 * points + (worth >> (2 * OWN_BITS))
        w[BLOCKS + LEFT_E] += points
        w[BLOCKS + LEFT_D] += (worth >> OWN_BITS) & WORTH_MASK
        if not worth:
            worthless |= ONE << place
        if not points:
            pointless |= ONE << place
    w[WORTHLESS] = worthless
    w[POINTLESS] = pointless


@kernel
def lay_places(s, r, w, trump):
    """Gives every card in a hand or on the table its place, suit by suit, each upward; returns how many there are."""
    live = on_table(s)
    for seat in range(r.players):
        live |= s.hands[seat]
    num = 0
    for suit in range(4):
        if suit != trump:
            cards = live & r.suit_cards[trump, suit]
            start = num
            while cards:
                num = lay_card(w, num, first_card(cards))
                cards &= cards - 1
            mark_suit(w, start, num)
    start = num
    for k in range(MAX_TRUMPS):
        face = r.trump_order[trump, MAX_TRUMPS - 1 - k]
        if face != NO_FACE and live & (ONE << face):
            num = lay_card(w, num, face)
    mark_suit(w, start, num)
    w[TRUMPS] = (ONE << num) - (ONE << start)
    for seat in range(r.players):
        w[HANDS + seat] = places(w, s.hands[seat])
        held = w[HANDS + seat]
        while held:
            w[HOLDER_AT + first_card(held)] = seat
            held &= held - 1
    return num


@kernel
def lay_card(w, place, face):
    """Gives a card its place; returns the next one."""
    w[FACE_AT + place] = face
    w[PLACE_OF + int(face)] = place
    w[WORTH + place] = 0
    return place + 1


@kernel
def mark_suit(w, start, end):
    """Writes the set of a suit for each of its places."""
    for place in range(start, end):
        w[SUIT_AT + place] = (ONE << end) - (ONE << start)


@kernel
def places(w, cards):
    """Returns a set of cards as a set of places."""
    found = NO_CARDS
    while cards:
        found |= ONE << w[PLACE_OF + first_card(cards)]
        cards &= cards - 1
    return found


@kernel
def on_table(s):
    """Returns the set of the cards in this trick."""
    cards = NO_CARDS
    for k in range(s.trick_start, s.num_plays):
        cards |= ONE << s.plays[k]
    return cards


@kernel
def lay_items(s, r, w, trump, reference):
    """7.1, 7.6  Writes who has the items that are decided, and what the cards of the others are worth."""
    if trump == NO_TRUMP:
        order = r.plain_order[reference]
        lay_item(s, r, w, HIGH, top_face(order, s.in_play), True)
        lay_item(s, r, w, LOW, bottom_face(order, s.in_play), True)
        lay_item(s, r, w, JACK_ITEM, r.item_cards[reference, JACK_ITEM], True)
    else:
        order = r.trump_order[trump]
        lay_item(s, r, w, HIGH, top_face(order, s.in_play), r.high_to_winner != 0)
        lay_item(s, r, w, LOW, bottom_face(order, s.in_play), r.low_to_winner != 0)
        for item in range(JACK_ITEM, TWO_ITEM + 1):
            if item != JOKER:
                lay_item(s, r, w, item, r.item_cards[trump, item], item != TWO_ITEM)
    lay_item(s, r, w, HIGH_SPADE, top_face(r.plain_order[SPADES], s.in_play), True)
    for joker in range(LOW_JOKER, HIGH_JOKER + 1):
        lay_item(s, r, w, JOKER, joker, True)


@kernel
def lay_item(s, r, w, item, face, to_winner):
    """Counts an item to the side that has it for certain, or to the worth of its card."""
    value = r.values[item]
    if value == 0 or face == NO_FACE or not s.in_play & (ONE << face):
        return
    bit = ONE << face
    if to_winner:
        for side in range(r.sides):
            if s.taken[side] & bit:
                add_points(r, w, item, side, value)
                return
    held = on_table(s) & bit
    for seat in range(r.players):
        held |= s.hands[seat] & bit
        if not to_winner and (s.hands[seat] | s.played[seat]) & bit:
            add_points(r, w, item, r.side_of[seat], value)
            return
    if held:  # 5.8  Not in the widow's place.
        defending = 0 if item == JACK_ITEM and r.jack_only_bidder else value
        w[WORTH + w[PLACE_OF + int(face)]] += value | defending << OWN_BITS


@kernel
def add_points(r, w, item, side, value):
    """Counts an item to a side."""
    if side == w[BIDDER]:
        w[BLOCKS + E] += value
    elif item != JACK_ITEM or not r.jack_only_bidder:  # 7.3
        w[BLOCKS + D] += value
        if side == w[ME]:
            w[BLOCKS + OWN] += value


@kernel
def lay_game(s, r, w, num):
    """7.4  Writes the Game value of each card, and of each side so far."""
    left = 0
    for place in range(num):
        value = np.int64(r.game_values[w[FACE_AT + place]])
        w[WORTH + place] += value << (2 * OWN_BITS)
        left += value
    w[BLOCKS + GAME_LEFT] = left
    w[BLOCKS + GAME_OPEN] = 1
    if r.sides == 2:
        w[BLOCKS + GAMES] = s.game_values[w[BIDDER]] - s.game_values[1 - w[BIDDER]]
    else:
        for side in range(r.sides):
            w[BLOCKS + GAMES + side] = s.game_values[side]
    decide_game(w, BLOCKS)


@kernel
def decide_game(w, block):
    """7.4  Gives Game to the side that nobody can reach any more, or to nobody when it stays level."""
    left = w[block + GAME_LEFT]
    if w[SIDES] == 2:  # GAMES holds the difference
        ahead = w[block + GAMES]
        winner = w[BIDDER] if ahead > 0 else 1 - w[BIDDER]
        lead = abs(ahead)
    else:
        winner, lead = game_leader(w, block)
    if lead > left:
        w[block + GAME_OPEN] = 0
        if winner == w[BIDDER]:
            w[block + E] += w[GAME_VALUE]
        else:
            w[block + D] += w[GAME_VALUE]
            if winner == w[ME]:
                w[block + OWN] += w[GAME_VALUE]
    elif left == 0:
        w[block + GAME_OPEN] = 0


@kernel
def game_leader(w, block):
    """Returns the side with most toward Game and its lead; counts as nothing what cannot reach it any more."""
    leader = 0
    for side in range(1, w[SIDES]):
        if w[block + GAMES + side] > w[block + GAMES + leader]:
            leader = side
    top = w[block + GAMES + leader]
    lead = top
    for side in range(w[SIDES]):
        if side != leader:
            lead = min(lead, top - w[block + GAMES + side])
            if w[block + GAMES + side] + w[block + GAME_LEFT] < top:
                w[block + GAMES + side] = 0
    return leader, lead


# The compact search


@kernel
def solve_compact(s, r, w, trump, reference, cards, every, best, found):
    """Solves some of the cards of a root, as :func:`solve_root` says; ``best`` is the best value so far."""
    lay_out(s, r, w, trump, reference)
    num = s.num_plays - s.trick_start
    sign = 1 if r.side_of[s.seat] == w[ME] else -1
    live = NO_CARDS
    led = NO_CARDS
    worth = NO_CARDS
    winning = NO_PLACE + NO_CARDS
    table = places(w, on_table(s))
    for seat in range(r.players):
        live |= w[HANDS + seat]
    if num:
        led = w[SUIT_AT + w[PLACE_OF + int(s.plays[s.trick_start])]]
        winning = w[PLACE_OF + int(s.best)]
        for k in range(s.trick_start, s.num_plays):
            worth += w[WORTH + w[PLACE_OF + int(s.plays[k])]]
    live |= table
    seat = np.int64(s.seat)
    best_seat = np.int64(s.best_seat)
    choices = places(w, cards)
    count = list_moves(w, seat, num, led, winning, best_seat, worth, live, choices, NO_PLACE)
    for k in range(count):
        place = w[MOVES + num * ROW + k] & 63
        if num == 0 and s.trick == 0:
            w[PLAIN] = r.first_trick_no_trump != 0 and not w[TRUMPS] & (ONE << place)
        value = sign * root_value(
            w, seat, num, led, winning, best_seat, table, worth, live, place, every, sign * best, sign
        )
        best = max(best, value)
        found[w[FACE_AT + place]] = value
    spread_values(w, seat, live, choices, found)
    return best


@kernel
def spread_values(w, seat, live, choices, found):
    """Gives equal cards the value of the one of them that was searched."""
    value = NO_VALUE
    while choices:
        place = last_card(choices)
        choices ^= ONE << place
        face = w[FACE_AT + place]
        if found[face] == NO_VALUE:
            found[face] = value
        value = found[face]


@kernel
def last_card(cards):
    """Returns the highest card of a set that is not empty."""
    for step in (1, 2, 4, 8, 16, 32):
        cards |= cards >> step
    return num_cards(cards) - 1


@kernel
def root_value(w, seat, num, led, winning, best_seat, table, worth, live, place, every, best, sign):
    """Returns the value of a card at the root by searches of no width; if not ``every``, only so far as needed."""
    low, high = -INFINITY, INFINITY
    guess = best
    if abs(best) == -NO_VALUE:
        bounds = block_bounds(w)
        guess = (bounds[0] + bounds[1]) >> 1
        every = True
    elif not every:
        # Better than the best so far, equal, or worse: two questions at most.
        guess = best + (1 if sign > 0 else 0)
    after = put(w, seat, num, led, winning, best_seat, table, worth, live, place)
    while low < high:
        beta = guess + 1 if guess == low else guess
        guess = search(
            w, after[0], after[1], after[2], after[3], after[4], after[5], after[6], after[7], beta - 1, beta
        )
        if guess < beta:
            high = guess
        else:
            low = guess
        if not every and ((sign > 0 and high < best) or (sign < 0 and low > best)):
            break
    take_back(w, seat, num, place)
    return guess


@kernel
def block_bounds(w):
    """Returns the least and the most that the position at the start of a trick can be worth."""
    b = BLOCKS + w[TRICK] * BLOCK
    game = w[GAME_VALUE] if w[b + GAME_OPEN] else 0
    return value_bounds(w, w[b + E], w[b + D], w[b + OWN], w[b + FLAG], w[b + LEFT_E], w[b + LEFT_D], game)


@kernel
def run_bounds(w, live):
    """Returns bounds of the same, closer where a trump is left.

    The trumps of one side that are above those of all others: whatever trick they are played to is that side's.
    """
    b = BLOCKS + w[TRICK] * BLOCK
    e, d, own, flag = w[b + E], w[b + D], w[b + OWN], w[b + FLAG]
    left_e, left_d = w[b + LEFT_E], w[b + LEFT_D]
    game = w[GAME_VALUE] if w[b + GAME_OPEN] else 0
    if live & w[TRUMPS]:
        side, worth = top_trumps(w, live & w[TRUMPS])
        points = worth & WORTH_MASK
        defending = (worth >> OWN_BITS) & WORTH_MASK
        left_e -= points
        left_d -= defending
        if side == w[BIDDER]:
            e += points
        else:
            d += defending
            own += defending if side == w[ME] else 0
            flag = 0 if w[TRACKS_TRICKS] else flag
        if game and w[SIDES] == 2:
            sure = worth >> (2 * OWN_BITS)
            left = w[b + GAME_LEFT] - sure
            ahead = w[b + GAMES] + (sure if side == w[BIDDER] else -sure)
            if abs(ahead) > left:
                e += game if ahead > 0 else 0
                d += game if ahead < 0 else 0
                game = 0
    return value_bounds(w, e, d, own, flag, left_e, left_d, game)


@kernel
def top_trumps(w, trumps):
    """Returns the side with the highest of the trumps left, and the worth of all its trumps above those of others."""
    place = last_card(trumps)
    side = w[SIDE_OF + w[HOLDER_AT + place]]
    worth = NO_CARDS
    while trumps:
        place = last_card(trumps)
        if w[SIDE_OF + w[HOLDER_AT + place]] != side:
            break
        worth += w[WORTH + place]
        trumps ^= ONE << place
    return side, worth


@kernel
def put(w, seat, num, led, winning, best_seat, table, worth, live, place):
    """Plays a card; returns seat, num, led, winning, best_seat, table, worth and live after it, as ``search`` wants."""
    bit = ONE << place
    w[HANDS + seat] ^= bit
    if num == 0:
        led = w[SUIT_AT + place]
        winning = place
        best_seat = seat
    elif place > winning and bit & (led | w[TRUMPS]):
        winning = place
        best_seat = seat
    table |= bit
    worth += w[WORTH + place]
    num += 1
    if num == w[PLAYERS]:
        take_trick(w, w[SIDE_OF + best_seat], worth)
        return best_seat, 0, led, winning, best_seat, NO_CARDS, NO_CARDS, live & ~table
    seat += 1
    if seat == w[PLAYERS]:
        seat = 0
    return seat, num, led, winning, best_seat, table, worth, live


@kernel
def take_back(w, seat, num, place):
    """Takes back what ``put`` did for the seat that played, with ``num`` cards on the table before."""
    w[HANDS + seat] ^= ONE << place
    if num + 1 == w[PLAYERS]:
        w[TRICK] -= 1


@kernel
def take_trick(w, side, worth):
    """Writes the block after a trick that a side takes."""
    b = BLOCKS + w[TRICK] * BLOCK
    n = b + BLOCK
    w[TRICK] += 1
    points = worth & WORTH_MASK
    defending = (worth >> OWN_BITS) & WORTH_MASK
    bids = side == w[BIDDER]
    w[n + E] = w[b + E] + (points if bids else 0)
    w[n + D] = w[b + D] + (0 if bids else defending)
    w[n + OWN] = w[b + OWN] + (defending if side == w[ME] and not bids else 0)
    w[n + FLAG] = w[b + FLAG] if bids or not w[TRACKS_TRICKS] else 0
    w[n + LEFT_E] = w[b + LEFT_E] - points
    w[n + LEFT_D] = w[b + LEFT_D] - defending
    w[n + GAME_OPEN] = w[b + GAME_OPEN]
    if w[b + GAME_OPEN]:
        game = worth >> (2 * OWN_BITS)
        w[n + GAME_LEFT] = w[b + GAME_LEFT] - game
        if w[SIDES] == 2:
            w[n + GAMES] = w[b + GAMES] + (game if bids else -game)
        else:
            for k in range(GAMES, GAMES + w[SIDES]):
                w[n + k] = w[b + k]
            w[n + GAMES + side] += game
        decide_game(w, n)


@kernel
def search(w, seat, num, led, winning, best_seat, table, worth, live, alpha, beta):
    """Returns the value of a position, or a bound of it outside of alpha … beta.

    seat to play, with num cards on the table: a set of places worth ``worth``; led is the set of the suit led
    winning, best_seat  the place that is winning the trick, and who played it
    live  set of the places in hands and on the table
    """
    w[NODES] += 1
    entry = NO_CARDS
    hint = NO_PLACE + NO_CARDS
    key_1 = NO_CARDS
    key_2 = NO_CARDS
    key_3 = NO_CARDS
    if num == 0:
        low, high = run_bounds(w, live)
        if low >= beta or low == high:
            return low
        if high <= alpha:
            return high
        hand = w[HANDS + seat]
        if hand & (hand - 1) == 0:
            return last_trick(w, seat)
        if w[NODES] > w[LIMIT]:
            w[EXHAUSTED] = 1
            return (low + high) >> 1
        key_1, key_2, key_3 = keys(w, seat, live)
        entry = entry_of(w, key_1, key_2, key_3)
        if w[entry] == key_1 and w[entry + 1] == key_2 and w[entry + 2] == key_3:
            low, high, hint = unpack(w[entry + 3])
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
    choices = following(w, w[HANDS + seat], led) if num else w[HANDS + seat]
    count = list_moves(w, seat, num, led, winning, best_seat, worth, live, choices, hint)
    row = MOVES + (w[TRICK] * w[PLAYERS] + num) * ROW
    maximises = w[SIDE_OF + seat] == w[ME]
    value = -INFINITY if maximises else INFINITY
    a, b = alpha, beta
    for k in range(count):
        place = w[row + k] & 63
        after = put(w, seat, num, led, winning, best_seat, table, worth, live, place)
        found = search(w, after[0], after[1], after[2], after[3], after[4], after[5], after[6], after[7], a, b)
        take_back(w, seat, num, place)
        if maximises:
            if found > value:
                value = found
                hint = place
                a = max(a, value)
        elif found < value:
            value = found
            hint = place
            b = min(b, value)
        if a >= b:
            break
    if num == 0:
        store(w, entry, key_1, key_2, key_3, value, alpha, beta, hint)
    return value


@kernel
def following(w, hand, led):
    """6.2, 6.3, 4.6  Returns the places of a hand that may be played to the suit led."""
    trumps = hand & w[TRUMPS]
    same = hand & led
    if w[PLAIN] and w[TRICK] == 0:
        if same:
            return same
        return hand ^ trumps if hand != trumps else hand
    if w[FREE]:
        return hand
    if same:
        return same | trumps if w[MAY_RUFF] else same
    if w[MUST_TRUMP] and trumps:
        return trumps
    return hand


@kernel
def last_trick(w, seat):
    """Returns the value of a position with one card in each hand."""
    b = BLOCKS + w[TRICK] * BLOCK
    winner = seat
    winning = first_card(w[HANDS + seat])
    led = w[SUIT_AT + winning] | w[TRUMPS]
    worth = w[WORTH + winning]
    for _ in range(1, w[PLAYERS]):
        seat += 1
        if seat == w[PLAYERS]:
            seat = 0
        bit = w[HANDS + seat]
        place = first_card(bit)
        worth += w[WORTH + place]
        if place > winning and bit & led:
            winning = place
            winner = seat
    take_trick(w, w[SIDE_OF + winner], worth)
    w[TRICK] -= 1
    n = b + BLOCK
    return deal_value(w, w[n + E], w[n + D], w[n + OWN], w[n + FLAG])


@kernel
def list_moves(w, seat, num, led, winning, best_seat, worth, live, choices, hint):
    """Writes the row of moves of a position, likely best ones first; returns how many.

    Of equal cards (touching, worth the same) only the highest is listed.
    """
    b = BLOCKS + w[TRICK] * BLOCK
    row = MOVES + (w[TRICK] * w[PLAYERS] + num) * ROW
    hand = w[HANDS + seat]
    equal = w[WORTHLESS] if w[b + GAME_OPEN] else w[POINTLESS]
    trumps = w[TRUMPS]
    is_last = num + 1 == w[PLAYERS]
    at_stake = 14 * (worth & WORTH_MASK) + (worth >> (2 * OWN_BITS))
    ours = False
    if num:
        above = live & w[SUIT_AT + winning] & -(ONE + ONE << winning)
        ours = w[SIDE_OF + seat] == w[SIDE_OF + best_seat] and (is_last or not above)
    if choices & (choices - 1) == 0:
        w[row] = first_card(choices)
        return 1
    count = 0
    left = choices
    while left:
        place = first_card(left)
        bit = left & -left
        left ^= bit
        above = live & w[SUIT_AT + place] & -(bit + bit)
        if bit & equal and above & -above & choices & equal:
            continue
        score = 1 << 20
        if place != hint:
            boss = not above & ~hand
            if num == 0:
                score = lead_score(w, place, boss)
            elif place > winning and bit & (led | trumps):
                score = winner_score(w, place, boss, is_last, at_stake) - (650 if ours else 0)
            else:
                score = loser_score(w, place, ours, live)
        at = row + count
        move = (score + (1 << 21)) * 64 + place
        while at > row and w[at - 1] < move:
            w[at] = w[at - 1]
            at -= 1
        w[at] = move
        count += 1
    return count


# How likely a move is to be best, in numbers tuned for few nodes on Auction Pitch, Draw Pitch and Ten-point.


@kernel
def lead_score(w, place, boss):
    """Scores a lead; ``boss`` if no card of others beats it in its suit."""
    weight = w[WEIGHT + place]
    if w[TRUMPS] & (ONE << place):
        return 1800 + 2 * place + 10 * weight if boss else 1350 + 6 * place - 21 * weight
    return 900 + weight if boss else 650 + 16 * weight


@kernel
def winner_score(w, place, boss, is_last, at_stake):
    """Scores a card that beats those on the table."""
    weight = w[WEIGHT + place]
    if is_last:
        return 1050 + 4 * at_stake + 13 * weight - 12 * place
    return 1150 - 2 * at_stake + 9 * weight if boss else 1200 + 9 * at_stake + 13 * weight - place


@kernel
def loser_score(w, place, ours, live):
    """Scores a card that does not; ``ours`` if the own side is sure of the trick."""
    weight = w[WEIGHT + place]
    score = 1800 + weight if ours else 750 - 29 * weight + 11 * num_cards(live & w[SUIT_AT + place])
    return score - 550 if w[TRUMPS] & (ONE << place) else score


# The table


@kernel
def keys(w, seat, live):
    """Returns what tells a position at the start of a trick from all others of this layout, and it from all others."""
    b = BLOCKS + w[TRICK] * BLOCK
    key_1 = live | seat << 56
    key_2 = w[b + E] | w[b + D] << 8 | w[b + OWN] << 16 | w[b + FLAG] << 24 | w[GENERATION] << 25
    key_3 = NO_CARDS
    if w[b + GAME_OPEN]:
        if w[SIDES] == 2:
            key_3 = w[b + GAMES] + 128
        else:
            key_3 = ONE << 62
            for side in range(w[SIDES]):
                key_3 |= w[b + GAMES + side] << (7 * side)
    return key_1, key_2, key_3


@kernel
def entry_of(w, key_1, key_2, key_3):
    """Returns where the table has the entry of a position."""
    word = (key_1 & LOW_31) * 0x5F356495 ^ (key_1 >> 31) * 0x32C42B5D
    word ^= (key_2 & LOW_31) * 0x4A7C15F3 ^ (key_2 >> 31) * 0x6C8E9CF5
    word ^= (key_3 & LOW_31) * 0x7FEB352D ^ (key_3 >> 31) * 0x3C6EF372
    return TABLE + ENTRY * ((word ^ word >> 29) & w[TABLE_MASK])


@kernel
def unpack(word):
    """Returns the least and the most value and the best place of an entry."""
    return (word & VALUE_MASK) - VALUE_ZERO, ((word >> VALUE_BITS) & VALUE_MASK) - VALUE_ZERO, word >> (2 * VALUE_BITS)


@kernel
def pack(low, high, hint):
    """Returns the bounds and the best place of an entry as one word."""
    return (low + VALUE_ZERO) | (high + VALUE_ZERO) << VALUE_BITS | hint << (2 * VALUE_BITS)


@kernel
def narrowed(low, high, value, alpha, beta):
    """Returns bounds after a search of alpha … beta gave a value."""
    if value > alpha:
        low = max(low, value)
    if value < beta:
        high = min(high, value)
    return low, high


@kernel
def store(w, entry, key_1, key_2, key_3, value, alpha, beta, hint):
    """Writes what a search found; what the entry had of the same position stays."""
    low, high = 1 - VALUE_ZERO, VALUE_ZERO - 1
    if w[entry] == key_1 and w[entry + 1] == key_2 and w[entry + 2] == key_3:
        low, high, _ = unpack(w[entry + 3])
    low, high = narrowed(low, high, value, alpha, beta)
    w[entry] = key_1
    w[entry + 1] = key_2
    w[entry + 2] = key_3
    w[entry + 3] = pack(low, high, hint)


# The general search


@kernel
def solve_general(s, r, space, objective, cards, calls, every, best, found):
    """Solves some of the actions of a root, as :func:`solve_root` says; ``best`` is the best value so far."""
    w, states, entries = space
    w[GENERATION] += 1
    sign = 1 if r.side_of[s.seat] == w[ME] else -1
    for action in range(NUM_ACTIONS):
        chosen = (cards >> action) & 1 if action < FIRST_CALL else (calls >> (action - FIRST_CALL)) & 1
        if chosen:
            states[0] = s
            apply(states[0], r, action)
            alpha, beta = -INFINITY, INFINITY
            if not every and best != NO_VALUE:  # equal to the best so far, or better, or it does not matter
                if sign > 0:
                    alpha = best - 1
                else:
                    beta = 1 - best
            found[action] = sign * search_states(w, states, entries, r, objective, NO_CARDS, alpha, beta)
            best = max(best, found[action])
    return best


@kernel
def settled_value(s, r, w, objective):
    """Returns the value of a deal that is over."""
    value = NO_CARDS
    for side in range(r.sides):
        points = np.int64(item_points(s, side) if objective == ITEMS else s.points[side])
        value += (r.sides - 1) * points if side == w[ME] else -points
    return value


@kernel
def search_states(w, states, entries, r, objective, depth, alpha, beta):
    """Returns the value of the state at a depth, or a bound of it outside of alpha … beta."""
    s = states[depth]
    if s.phase == OVER:
        return settled_value(s, r, w, objective)
    w[NODES] += 1
    if w[NODES] > w[LIMIT]:
        w[EXHAUSTED] = 1
        return NO_CARDS
    key = NO_CARDS
    entry = NO_CARDS
    hint = NO_PLACE + NO_CARDS
    at_start = s.num_plays == s.trick_start
    if at_start:
        key = state_key(s, r, w)
        entry = key & w[TABLE_MASK]
        if entries[entry, 0] == key:
            low, high, hint = unpack(entries[entry, 1])
            if low >= beta or low == high:
                return low
            if high <= alpha:
                return high
    cards, calls = legal(s, r)
    maximises = r.side_of[s.seat] == w[ME]
    value = -INFINITY if maximises else INFINITY
    a, b = alpha, beta
    while cards | calls:
        action = next_action(cards, calls, hint)
        if action == BLIND:
            calls &= 0
        else:
            cards &= ~(ONE << action)
        states[depth + 1] = s
        apply(states[depth + 1], r, action)
        found = search_states(w, states, entries, r, objective, depth + 1, a, b)
        if maximises:
            if found > value:
                value = found
                hint = action
                a = max(a, value)
        elif found < value:
            value = found
            hint = action
            b = min(b, value)
        if a >= b:
            break
    if at_start:
        low, high = 1 - VALUE_ZERO, VALUE_ZERO - 1
        if entries[entry, 0] == key:
            low, high, _ = unpack(entries[entry, 1])
        low, high = narrowed(low, high, value, alpha, beta)
        entries[entry, 0] = key
        entries[entry, 1] = pack(low, high, hint)
    return value


@kernel
def next_action(cards, calls, hint):
    """Returns the action to try next: the one that was best before, then cards from high to low, then blind play."""
    if hint < FIRST_CALL and cards & (ONE << hint):
        return hint
    if calls and (hint == BLIND or not cards):
        return np.int64(BLIND)
    return last_card(cards)


@kernel
def state_key(s, r, w):
    """Returns 62 bits that tell a state at the start of a trick, or in the swap for the widow, from all others."""
    key = mix(w[GENERATION], s.seat | s.phase << 4 | s.trick << 8 | (s.reference + 1) << 16 | (s.trump + 1) << 20)
    faces = item_faces(s, r)
    for seat in range(r.players):
        key = mix(key ^ s.hands[seat], s.num_blind[seat])
        key = mix(key ^ (s.played[seat] & faces), 0)
        if r.decks > 1:
            key = mix(key ^ s.hand_dups[seat], 1)
    for side in range(r.sides):
        key = mix(key ^ (s.taken[side] & faces), s.jokers[side])
        if w[GAME_VALUE]:
            key = mix(key, s.game_values[side])
    if w[TRACKS_TRICKS]:
        key = mix(key, s.tricks[w[BIDDER]])
    return mix(key, s.outside[0] | s.outside[1] << 4)


@kernel
def item_faces(s, r):
    """Returns the set of the faces that may carry an item."""
    if s.trump == NO_TRUMP or s.trump == NO_SUIT:
        return ~NO_CARDS
    order = r.trump_order[s.trump]
    faces = r.fixed_cards[s.trump]
    for face in (
        top_face(order, s.in_play), bottom_face(order, s.in_play), top_face(r.plain_order[SPADES], s.in_play)
    ):  # fmt: skip
        if face != NO_FACE:
            faces |= ONE << face
    return faces
