"""Rulebook 7–10: the points of a deal, the settlement, the score sheet and the end of the game.

s  the state record, modified by ``settle``, ``score_`` and ``enter_`` functions; r the tables of the rules
"""

from pitch_env.cards import LOW_JOKER, NO_SUIT
from pitch_env.engine.jit import ONE, kernel
from pitch_env.engine.state import FAILED, MADE, NO_SEAT, NO_SIDE, NO_TRUMP, OVER, SMUDGE_BID
from pitch_env.engine.tables import (
    FAILED_BECOMES,
    FAILED_LOSES,
    GAME,
    HIGH,
    HIGH_SPADE,
    JACK_ITEM,
    JOKER,
    LOW,
    MADE_ADVANCES,
    MADE_WINS,
    NO_FACE,
    OUT_BID_AND_MAKE,
    OUT_FIRST,
    TWO_ITEM,
)  # fmt: skip

SPADES = 3
LAST_FIXED = TWO_ITEM
"""Items JACK_ITEM … LAST_FIXED go by one face, but for JOKER."""


@kernel
def settle_void(s, r):
    """2.2, 3.5  Ends a deal without a score."""
    s.void = 1
    end_deal(s, r)


@kernel
def settle(s, r):
    """Ends a deal that was played."""
    score_items(s, r)
    score_sides(s, r)
    end_deal(s, r)


# 7 Points of a deal


@kernel
def top_face(order, in_play):
    """Returns the first face of an order that is in play, NO_FACE if none is."""
    for face in order:
        if face != NO_FACE and in_play & (ONE << face):
            return face
    return NO_FACE


@kernel
def bottom_face(order, in_play):
    """Returns the last face of an order that is in play and no joker, NO_FACE if none is."""
    found = NO_FACE
    for face in order:
        if face != NO_FACE and face < LOW_JOKER and in_play & (ONE << face):
            found = face
    return found


@kernel
def score_face(s, r, item, face, to_winner):
    """7.2, 7.3, 7.5  Scores an item for the side that took, or held, the first played card of a face in play."""
    if face == NO_FACE or not s.in_play & (ONE << face):
        return
    bit = ONE << face
    for seat in range(r.players):
        side = r.side_of[seat]
        if (s.taken[side] if to_winner else s.played[seat]) & bit:
            s.items[side, item] = r.values[item]
            return


@kernel
def score_items(s, r):
    """7.1  Scores every item for the side that took it."""
    if s.trump == NO_TRUMP:
        score_reference_items(s, r)
    else:
        score_trump_items(s, r)
    for side in range(r.sides):
        if r.jack_only_bidder and side != r.side_of[s.pitcher]:  # 7.3
            s.items[side, JACK_ITEM] = 0
        s.items[side, JOKER] = r.values[JOKER] * s.jokers[side]
    score_face(s, r, HIGH_SPADE, top_face(r.plain_order[SPADES], s.in_play), True)
    score_game(s, r)


@kernel
def score_trump_items(s, r):
    """7.1  The items that are trumps."""
    order = r.trump_order[s.trump]
    score_face(s, r, HIGH, top_face(order, s.in_play), r.high_to_winner)
    score_face(s, r, LOW, bottom_face(order, s.in_play), r.low_to_winner)
    for item in range(JACK_ITEM, LAST_FIXED + 1):
        if r.values[item] and item != JOKER:
            score_face(s, r, item, r.item_cards[s.trump, item], item != TWO_ITEM)


@kernel
def score_reference_items(s, r):
    """7.6  High, Low and Jack of the reference suit."""
    if s.reference == NO_SUIT:
        return
    order = r.plain_order[s.reference]
    score_face(s, r, HIGH, top_face(order, s.in_play), True)
    score_face(s, r, LOW, bottom_face(order, s.in_play), True)
    score_face(s, r, JACK_ITEM, r.item_cards[s.reference, JACK_ITEM], True)


@kernel
def score_game(s, r):
    """7.4  Game goes to the side with most; level at the top: to nobody."""
    leader = 0
    level = False
    for side in range(1, r.sides):
        if s.game_values[side] > s.game_values[leader]:
            leader = side
            level = False
        elif s.game_values[side] == s.game_values[leader]:
            level = True
    if not level:
        s.items[leader, GAME] = r.values[GAME]


@kernel
def item_points(s, side):
    """Returns what a side's items are worth."""
    total = 0
    for item in range(12):
        total += s.items[side, item]
    return total


# 8 Settlement


@kernel
def score_sides(s, r):
    """8.1  The bidding side makes its bid or fails; defenders score their items."""
    bidding = r.side_of[s.pitcher]
    earned = item_points(s, bidding)
    if s.high_bid == SMUDGE_BID:
        score_smudge(s, r, bidding, earned)
        score_defenders(s, r, bidding, 1, 0)
    elif s.high_bid == 0 and earned == 0:  # 8.3
        s.made = MADE
    elif s.high_bid > 0 and earned >= s.high_bid:
        s.made = MADE
        enter_points(s, bidding, earned)
        score_defenders(s, r, bidding, 1, 0)
    else:  # 8.2
        s.made = FAILED
        if r.transfer:
            score_defenders(s, r, bidding, r.transfer_keeps_own, earned)
        else:
            enter_set(s, bidding, s.high_bid)
            score_defenders(s, r, bidding, 1, 0)


@kernel
def score_defenders(s, r, bidding, own, extra):
    """Enters for each defending side its own items, if it keeps them, and what it is paid."""
    for side in range(r.sides):
        if side != bidding:
            enter_points(s, side, own * item_points(s, side) + extra)


@kernel
def score_smudge(s, r, bidding, earned):
    """8.4–8.6  A smudge is made with every item at its full value, and every trick where it undertook them."""
    if earned == r.all_points and (not r.smudge_tricks or s.tricks[bidding] == r.num_tricks):
        s.made = MADE
        if r.smudge_made == MADE_ADVANCES:  # 8.5
            enter_becomes(s, bidding, max(s.scores[bidding], r.target) if s.scores[bidding] >= 0 else 0)
        else:
            enter_points(s, bidding, r.smudge_value)
    else:
        s.made = FAILED
        if r.smudge_failed == FAILED_BECOMES:  # 8.6
            enter_becomes(s, bidding, -r.smudge_value)
        else:
            enter_set(s, bidding, r.smudge_value)


# 10 The score sheet


@kernel
def enter_points(s, side, points):
    """10.1  Points pay the debt first."""
    s.points[side] += points
    s.entered[side] += max(0, points - s.debts[side])
    s.debts[side] = max(0, s.debts[side] - points)
    s.scores[side] += points


@kernel
def enter_set(s, side, bid):
    """10.1  A set adds to the debt."""
    s.points[side] -= bid
    s.debts[side] += bid
    s.scores[side] -= bid


@kernel
def enter_becomes(s, side, score):
    """10.1  The score becomes a number, whatever it was."""
    column = s.scores[side] + s.debts[side]
    s.points[side] += score - s.scores[side]
    s.entered[side] = max(0, score - column)
    s.debts[side] = max(0, column - score)
    s.scores[side] = score


# 9 End of the game


@kernel
def end_deal(s, r):
    """9  Looks whether a side has gone out."""
    s.phase = OVER
    s.seat = NO_SEAT
    s.winner = winning_side(s, r)


@kernel
def winning_side(s, r):
    """Returns the side that has won the game, NO_SIDE if it goes on."""
    bidding = NO_SIDE
    if not s.void:
        bidding = r.side_of[s.pitcher]
    made = s.made == MADE
    if s.high_bid == SMUDGE_BID and not s.void:
        if made and r.smudge_made == MADE_WINS:  # 8.5
            return bidding
        if not made and r.smudge_failed == FAILED_LOSES:  # 8.6
            return best_other_side(s, r, bidding)
    if bidding != NO_SIDE and made and s.scores[bidding] >= r.target:  # 9.1–9.3
        return bidding
    if r.out == OUT_FIRST or (r.out != OUT_BID_AND_MAKE and s.made == FAILED):
        return highest_side(s, r, bidding)
    return NO_SIDE


@kernel
def highest_side(s, r, bidding):
    """9.2, 9.3  Returns the side with the highest score at the target or above, NO_SIDE if none or level."""
    best = NO_SIDE
    level = False
    for side in range(r.sides):
        if s.scores[side] < r.target or (r.out != OUT_FIRST and side == bidding):
            continue
        if best == NO_SIDE or s.scores[side] > s.scores[best]:
            best = side
            level = False
        elif s.scores[side] == s.scores[best]:
            level = True
    return NO_SIDE if level else best


@kernel
def best_other_side(s, r, losing):
    """8.6  Returns the side with the best score but one; ties go to the seat nearest the pitcher's left."""
    best = NO_SIDE
    for k in range(1, r.players):
        side = r.side_of[(s.pitcher + k) % r.players]
        if side != losing and (best == NO_SIDE or s.scores[side] > s.scores[best]):
            best = side
    return best
