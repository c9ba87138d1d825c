"""Rulebook 4.1, 4.4–4.6 and 6: the tricks.

s  the state record, modified by ``begin_``, ``apply_``, ``end_`` and ``play_`` functions; r the tables of the rules
"""

from pitch_env.actions import BLIND, FIRST_CALL
from pitch_env.cards import JOKERS, LOW_JOKER, NO_CARD, NO_SUIT
from pitch_env.engine.hands import next_seat, place_of, take
from pitch_env.engine.jit import ONE, inlined_kernel, kernel, num_cards
from pitch_env.engine.settlement import settle
from pitch_env.engine.state import NO_TRUMP, PLAY
from pitch_env.engine.tables import LEAD_ANY, LEAD_PLAIN, LEAD_TRUMP, PRINTED_SUIT, WIDOW_AFTER_FIRST_TRICK
from pitch_env.engine.widow import begin_swap

BLIND_CALL = 1 << BLIND - FIRST_CALL
ALL_SUITS = 0b1111
"""The four suits as bits of ``voids``."""


@kernel
def begin_play(s, r):
    """1.6  The cards in play are settled; the pitcher leads (6.1), a pitch at once (3.8)."""
    s.phase = PLAY
    in_play = s.hands[0] ^ s.hands[0]
    for seat in range(r.players):
        in_play |= s.hands[seat]
    for k in range(r.first_face_down, r.first_widow):
        in_play |= ONE << s.deck[k]
    if s.pitched != NO_CARD:
        in_play |= ONE << s.pitched
    s.in_play = in_play
    s.seat = s.pitcher
    if s.pitched != NO_CARD:
        play_card(s, r, s.pitched, False, True)


@inlined_kernel
def legal_play(s, r):
    """Returns the cards that may be played and whether the seat may play blind, as a set of calls."""
    hand = s.hands[s.seat]
    calls = 0
    if r.face_down_size > 0 and s.trick > 0 and s.num_blind[s.seat] < r.face_down_size:  # 6.5
        calls = BLIND_CALL
    is_lead = s.num_plays == s.trick_start
    if is_lead and s.trick == 0:
        return first_leads(s, r, hand), calls
    follow = following(s, r, hand)
    return hand if is_lead else follow, calls


@kernel
def first_leads(s, r, hand):
    """4.1, 4.4  Returns the cards of a hand that may be led to the first trick."""
    if s.trump == NO_SUIT:  # 4.1
        wanted = hand & ~JOKERS
    elif r.opening_lead == LEAD_ANY:
        wanted = hand
    elif r.opening_lead == LEAD_TRUMP:
        wanted = hand & r.suit_cards[s.trump, s.trump]
    else:
        wanted = hand & ~r.suit_cards[s.trump, s.trump]
    return wanted if wanted else hand


@inlined_kernel
def following(s, r, hand):
    """6.2, 6.3  Returns the cards of a hand that may be played to the suit led; any set before a lead.

    What differs from card to card is chosen between, not branched on: a branch would be mispredicted half of the time.
    """
    trumps = hand & r.suit_cards[s.trump, s.trump]
    same = hand & r.suit_cards[s.trump, s.led]
    if s.plain_trick:  # 4.6
        plain = hand ^ trumps
        other = plain if plain else hand
        return same if same else other
    if r.free:
        return hand
    either = same | trumps if r.may_ruff else same
    other = trumps if r.must_trump and trumps else hand
    return either if same else other


@inlined_kernel
def shown_voids(s, r, card):
    """Returns the suits, as bits, that the seat to act cannot hold once it plays a card from its hand."""
    trump_bit = 1 << s.trump
    is_trump = r.suit_of[s.trump, card] == s.trump
    if s.num_plays == s.trick_start:
        if s.trick > 0:
            return 0
        if not r.named:  # 4.1  Only jokers were held.
            return ALL_SUITS & ~trump_bit if card >= LOW_JOKER else 0
        if r.opening_lead == LEAD_TRUMP and not is_trump:
            return trump_bit
        if r.opening_lead == LEAD_PLAIN and is_trump:
            return ALL_SUITS & ~trump_bit
        return 0
    follows = r.suit_of[s.trump, card] == s.led
    led_bit = 1 << s.led
    if s.plain_trick:
        shown = (led_bit | (ALL_SUITS & ~trump_bit)) if is_trump else led_bit
    elif r.free:
        return 0
    elif r.may_ruff:
        shown = 0 if is_trump else led_bit | (trump_bit if r.must_trump else 0)
    else:
        shown = led_bit if is_trump else led_bit | (trump_bit if r.must_trump else 0)
    return 0 if follows else shown


@inlined_kernel
def apply_play(s, r, action):
    """Plays a card of the hand, or the next face-down card (6.5)."""
    seat = s.seat
    if action == BLIND:
        pile = r.first_face_down + place_of(s, r, seat) * r.face_down_size
        card = s.deck[pile + s.num_blind[seat]]
        s.num_blind[seat] += 1
        play_card(s, r, card, True, True)
        return
    counts = True
    if action >= LOW_JOKER and s.outside[action - LOW_JOKER] > 0 and seat == s.pitcher:
        # 5.8  A joker that came with the widow is not in play; the pitcher plays it after one that is.
        counts = (s.hand_dups[seat] >> action) & 1 >= s.outside[action - LOW_JOKER]
        s.outside[action - LOW_JOKER] -= 0 if counts else 1
    take(s, seat, action)
    play_card(s, r, action, False, counts)


@inlined_kernel
def play_card(s, r, card, blind, counts):
    """Puts a card of the seat to act, already out of its hand, on the table; ``counts`` if a joker is in play."""
    seat = s.seat
    if s.num_plays == s.trick_start:
        lead(s, r, card)
    else:  # 6.4, 1.5
        wins = r.power[s.trump, s.led, card] > r.power[s.trump, s.led, s.best]
        s.best = card if wins else s.best
        s.best_seat = seat if wins else s.best_seat
    if not blind:
        s.voids[seat] |= shown_voids(s, r, card)
    s.plays[s.num_plays] = card
    s.play_seats[s.num_plays] = seat + 8 if blind else seat
    s.num_plays += 1

    bit = ONE << card
    if s.all_played & bit:
        s.played_dups[seat] |= bit
    else:  # 7.5
        s.all_played |= bit
        s.played[seat] |= bit
        s.trick_faces |= bit
    s.trick_value += r.game_values[card]
    if card >= LOW_JOKER and counts:
        s.trick_jokers += 1
    if s.num_plays - s.trick_start == r.players:
        end_trick(s, r)
    else:
        s.seat = next_seat(s, r, seat)


@inlined_kernel
def lead(s, r, card):
    """Sets the suit led, and whatever the first lead decides."""
    if s.trump == NO_SUIT:  # 4.1
        s.trump = r.lowest_suit if card >= LOW_JOKER else PRINTED_SUIT[card]
    s.led = r.suit_of[s.trump, card]
    s.best = card
    s.best_seat = s.seat
    s.plain_trick = s.trick == 0 and r.first_trick_no_trump != 0 and s.led != s.trump  # 4.6
    if s.trump == NO_TRUMP and s.reference == NO_SUIT and card < LOW_JOKER:  # 4.5
        s.reference = PRINTED_SUIT[card]


@kernel
def end_trick(s, r):
    """6.1, 6.4  The winner takes the trick and leads to the next."""
    side = r.side_of[s.best_seat]
    s.taken[side] |= s.trick_faces
    s.game_values[side] += s.trick_value
    s.jokers[side] += s.trick_jokers
    s.tricks[side] += 1
    s.trick_faces = 0
    s.trick_value = 0
    s.trick_jokers = 0
    s.trick += 1
    s.trick_start = s.num_plays
    s.led = NO_SUIT
    s.best = NO_CARD
    s.plain_trick = 0
    s.seat = s.best_seat
    if s.trick == r.num_tricks or (r.concede and concede(s, r)):
        settle(s, r)
    elif s.trick == 1 and r.widow_to == WIDOW_AFTER_FIRST_TRICK and r.widow_size > 0 and s.hands[s.pitcher]:
        begin_swap(s, r)


@kernel
def concede(s, r):
    """9.5  Tells whether a side is out of trumps; the other then has all that its hands still hold."""
    trumps = r.suit_cards[s.trump, s.trump]
    holders = 0
    for seat in range(r.players):
        if s.hands[seat] & trumps:
            holders |= 1 << r.side_of[seat]
    if holders == 0b11:
        return False
    for seat in range(r.players):
        side = r.side_of[seat]
        left = s.hands[seat] & trumps
        s.jokers[side] += num_cards(left & JOKERS) + num_cards(s.hand_dups[seat] & JOKERS)
        left &= ~s.all_played
        s.all_played |= left
        s.played[seat] |= left
        s.taken[side] |= left
    return True
