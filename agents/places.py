"""What a view tells of the places where cards lie: cards seen there, how many more, and which those cannot be.

A card is discarded once at most: a seat exchanges once, before it draws. So where discards became a stock, each unseen
card lies in one place, its hand has it from one stock, and who discarded the cards of a stock is counted afterwards.

place  0–7 the hands, all that a seat has held since play started, 8–15 the face-down discards, 16–23 the face-down
       piles of the seats, then the widow and the stock
stage  0 the stock as dealt, k what the k-th reshuffle made of the discards
kind   0–4 the suits, 5–9 the same suits, of own discards that became a stock and were not seen again
left   (2, 54) cards of each face that were not seen: of the first five kinds, of the others
p      :class:`Places`
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import FIRST_CALL
from pitch_env.cards import NO_CARD
from pitch_env.engine.jit import ONE, first_card, kernel, num_cards
from pitch_env.engine.state import AUCTION, EXCHANGE, MAX_PACK, NAMING, NO_SEAT, WIDOW
from pitch_env.engine.step import NOTHING
from pitch_env.engine.tables import (
    EXCHANGE_DISCARD,
    EXCHANGE_DRAW,
    EXCHANGE_NONE,
    EXCHANGE_REFILL,
    WIDOW_AFTER_FIRST_TRICK,
    WIDOW_TO_PITCHER,
)  # fmt: skip

HAND, DISCARD, PILE, WIDOW_PLACE, STOCK, NUM_PLACES = 0, 8, 16, 24, 25, 26
FREE = 0
"""``bad`` suits of a place that holds any card."""
ALL_SUITS = 0b11111
NUM_SUITS = 5
OWN_DISCARDS = ALL_SUITS << NUM_SUITS
ANY_NUMBER = -1
"""``kept`` of a hand whose number of trumps does not matter."""


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
def with_trumps_only(v, p, seat):
    """Returns the places where a seat's hand holds trumps only, and its discards may be any cards."""
    trump_bit = ONE << v.trump
    bad = p.bad.copy()
    bad[DISCARD + seat] = FREE
    bad[HAND + seat] |= ALL_SUITS & ~trump_bit
    return Places(
        p.lists, p.known, p.sizes, bad, p.kept, p.drawn, p.stage_of, p.loose, p.mine, p.held, p.own, p.own_stage
    )  # fmt: skip


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
