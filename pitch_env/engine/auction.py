"""Rulebook 3 and 4.2: the auction, and the naming of trumps.

s  the state record, modified by ``begin_``, ``end_`` and ``apply_`` functions; r the tables of the rules
"""

from pitch_env.actions import BID_0, FIRST_CALL, NAME_C, NAME_NT, PASS, SMUDGE
from pitch_env.cards import JOKERS, NO_CARD, NO_SUIT
from pitch_env.engine.exchange import begin_exchange
from pitch_env.engine.hands import give, next_seat, take
from pitch_env.engine.jit import ONE, kernel
from pitch_env.engine.play import begin_play
from pitch_env.engine.settlement import settle_void
from pitch_env.engine.state import AUCTION, NAMING, NO_BID, NO_SEAT, SMUDGE_BID
from pitch_env.engine.tables import LEAD_TRUMP, PRINTED_SUIT, WIDOW_TO_PITCHER

PASS_CALL = 1 << PASS - FIRST_CALL
SMUDGE_CALL = 1 << SMUDGE - FIRST_CALL
NAME_NT_CALL = 1 << NAME_NT - FIRST_CALL
NO_CARDS = ONE ^ ONE
NON_JOKERS = ~JOKERS
FIRST_BID = BID_0 - FIRST_CALL
FIRST_NAME = NAME_C - FIRST_CALL


@kernel
def begin_auction(s, r):
    """3.1  Dealer's left calls first."""
    s.phase = AUCTION
    s.seat = next_seat(s, r, s.dealer)


@kernel
def legal_auction(s, r):
    """Returns the cards that may be pitched and the calls that may be made."""
    is_dealer = s.seat == s.dealer
    high = s.high_bid
    stands_pitch = s.pitched != NO_CARD
    # 3.8  After a pitch every seat but the dealer must pass.
    if stands_pitch and not is_dealer:
        return NO_CARDS, PASS_CALL

    calls = 0
    # 3.5  The dealer may have to bid when all others passed.
    if not (is_dealer and high == NO_BID and r.dealer_must_bid):
        calls |= PASS_CALL

    steals = is_dealer and high != NO_BID and r.dealer_may_steal != 0
    # 3.1, 3.3, 3.9  A number above the highest; the dealer the highest too; none against a pitch.
    if high < SMUDGE_BID and not stands_pitch:
        calls |= r.bid_calls & (-ONE << (high + 1 + FIRST_BID))
        if steals:
            calls |= ONE << (high + FIRST_BID)

    # 3.1, 3.4, 3.7
    if r.smudge and (r.smudge_after == 0 or high >= r.smudge_after):
        if high < SMUDGE_BID or (steals and r.dealer_may_steal_smudge):
            calls |= SMUDGE_CALL

    # 3.8, 3.9  A pitch is a bid of four, or takes a pitch over.
    cards = NO_CARDS
    if r.pitch_in_auction and (high < 4 or (steals and high == 4)):
        cards = s.hands[s.seat] & NON_JOKERS
    return cards, calls


@kernel
def take_pitch_back(s):
    """3.9  A displaced card goes back to its owner's hand."""
    if s.pitched != NO_CARD:
        give(s, s.pitcher, s.pitched)
        s.pitched = NO_CARD
        s.trump = NO_SUIT


@kernel
def apply_auction(s, r, action):
    """Makes the call of the seat to act, or pitches its card."""
    seat = s.seat
    s.calls[seat] = action
    s.num_calls += 1
    if action < FIRST_CALL:  # 3.8
        take_pitch_back(s)
        take(s, seat, action)
        s.pitched = action
        s.trump = PRINTED_SUIT[action]
        s.high_bid = 4
        s.pitcher = seat
    elif action == SMUDGE:
        take_pitch_back(s)
        s.high_bid = SMUDGE_BID
        s.pitcher = seat
    elif action != PASS:
        s.high_bid = action - BID_0
        s.pitcher = seat
    if seat == s.dealer or (action == SMUDGE and r.smudge_ends_auction):  # 3.7
        end_auction(s, r)
    else:
        s.seat = next_seat(s, r, seat)


@kernel
def end_auction(s, r):
    """3.2  The high bidder is the pitcher; without a bid the deal is void (3.5)."""
    if s.pitcher == NO_SEAT:
        settle_void(s, r)
        return
    if r.widow_to == WIDOW_TO_PITCHER:  # 5.1
        for k in range(r.first_widow, r.first_widow + r.widow_size):
            give(s, s.pitcher, s.deck[k])
    if r.named:
        s.phase = NAMING
        s.seat = s.pitcher
    else:
        begin_play(s, r)


@kernel
def legal_naming(s, r):
    """4.2, 4.3  Returns the names of trumps that the pitcher may call."""
    calls = r.suit_calls
    if r.opening_lead == LEAD_TRUMP:
        for suit in range(4):
            if not s.hands[s.seat] & r.suit_cards[suit, suit]:
                calls &= ~(ONE << (FIRST_NAME + suit))
    if r.no_trump:
        calls |= NAME_NT_CALL
    return calls


@kernel
def apply_naming(s, r, action):
    """4.2  Trumps are named, and cards are exchanged."""
    s.trump = action - NAME_C
    begin_exchange(s, r)
