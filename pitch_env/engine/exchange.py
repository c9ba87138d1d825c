"""Rulebook 5.1–5.7: discarding, drawing and the stock.

s  the state record, modified by all but ``legal_`` and ``next_class``; r the tables of the rules
"""

from pitch_env.actions import FIRST_CALL, STAND
from pitch_env.engine.hands import discard, discard_all, give, hand_size
from pitch_env.engine.jit import below, first_card, kernel, mix, num_cards
from pitch_env.engine.play import begin_play
from pitch_env.engine.state import EXCHANGE
from pitch_env.engine.tables import EXCHANGE_DISCARD, EXCHANGE_DRAW, EXCHANGE_NONE, EXCHANGE_REFILL

STAND_CALL = 1 << STAND - FIRST_CALL


@kernel
def begin_exchange(s, r):
    """5.2  Seats act from dealer's left round to the dealer."""
    if r.exchange == EXCHANGE_NONE:
        begin_play(s, r)
        return
    s.phase = EXCHANGE
    begin_seat(s, r)


@kernel
def begin_seat(s, r):
    """Goes on with the exchange until a seat has a choice, or all are done."""
    while s.num_exchanged < r.players:
        seat = s.dealer + 1 + s.num_exchanged
        seat = seat - r.players if seat >= r.players else seat
        s.seat = seat
        if r.exchange == EXCHANGE_DRAW:  # 5.3  A turn even when there is nothing to discard.
            return
        s.must_go = hand_size(s, seat) - r.play_size
        if r.exchange == EXCHANGE_REFILL:  # 5.5
            plain = ~r.suit_cards[s.trump, s.trump]
            num_plain = num_cards(s.hands[seat] & plain) + num_cards(s.hand_dups[seat] & plain)
            s.must_go = max(num_plain, s.must_go)
        if not discard_forced(s, r):
            return
        end_seat(s, r)
    end_exchange(s, r)


@kernel
def end_seat(s, r):
    """5.2  The seat is dealt up to the size of a hand, and is done."""
    if r.exchange != EXCHANGE_DISCARD:
        while hand_size(s, s.seat) < r.play_size:
            draw(s, r)
    s.num_exchanged += 1


@kernel
def draw(s, r):
    """Gives the seat to act the next card of the stock (5.7)."""
    if s.stock_next == s.stock_end:
        reshuffle(s)
    give(s, s.seat, s.deck[s.stock_next])
    s.stock_next += 1


@kernel
def reshuffle(s):
    """5.7  All face-down discards so far become the stock, in a new order behind the old deck."""
    start = s.stock_end
    s.reshuffle_at[s.num_reshuffles] = start
    s.num_reshuffles += 1
    end = start
    if s.known_end > start:  # a replayed deal
        end = start + num_cards(s.pool) + num_cards(s.pool_dups)
    else:
        for copies in range(2):
            cards = s.pool if copies == 0 else s.pool_dups
            while cards:
                s.deck[end] = first_card(cards)
                cards &= cards - 1
                end += 1
        key = mix(mix(mix(mix(s.seed, s.table), s.deal), s.num_reshuffles), 0)
        for i in range(start, end):
            j = i + below(mix(key, i), end - i)
            card = s.deck[j]
            s.deck[j] = s.deck[i]
            s.deck[i] = card
    s.pool = 0
    s.pool_dups = 0
    s.stock_end = end


@kernel
def next_class(s, r):
    """5.2  Returns the faces from which the seat to act must choose a discard."""
    hand = s.hands[s.seat]
    trumps = r.suit_cards[s.trump, s.trump]
    if hand & ~trumps:
        return hand & ~trumps
    if r.exchange != EXCHANGE_DISCARD and hand & ~r.fixed_cards[s.trump]:  # 5.4
        return hand & ~r.fixed_cards[s.trump]
    return hand


@kernel
def discard_forced(s, r):
    """5.2  Discards classes that must go whole; tells whether nothing is left to choose."""
    while s.must_go > 0:
        faces = next_class(s, r)
        size = num_cards(faces) + num_cards(faces & s.hand_dups[s.seat])
        if size > s.must_go:
            return False
        discard_all(s, s.seat, faces)
        s.must_go -= size
    return True


@kernel
def legal_exchange(s, r):
    """Returns the cards that may go and whether the seat may stand, as a set of calls."""
    if r.exchange == EXCHANGE_DRAW:  # 5.3
        return s.hands[s.seat] & ~r.suit_cards[s.trump, s.trump], STAND_CALL
    return next_class(s, r), 0


@kernel
def apply_exchange(s, r, action):
    """Discards a card, or stands."""
    if action != STAND:
        discard(s, s.seat, action)
        if r.exchange == EXCHANGE_DRAW:
            return
        s.must_go -= 1
        if not discard_forced(s, r):
            return
    if s.num_exchanged == r.players:  # the pitcher has come down from the leftover
        begin_play(s, r)
        return
    end_seat(s, r)
    begin_seat(s, r)


@kernel
def end_exchange(s, r):
    """5.6  The pitcher takes the rest of the stock and comes down; then play begins."""
    if r.leftover_to and s.num_reshuffles == 0:
        s.seat = s.pitcher
        while s.stock_next < s.stock_end:
            draw(s, r)
        s.must_go = hand_size(s, s.seat) - r.play_size
        if not discard_forced(s, r):
            return
    begin_play(s, r)
