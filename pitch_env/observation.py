"""What one seat may know: the view, its encoding as numbers, the decoder, and the full state for central critics.

Hidden cards stop here. Everything that plays, searches or draws is given a *view*, a record without a field for them.
Seats and sides are relative in a view: seat 0 looks, seat 1 sits to its left; side 0 is its own.

Axis letters: N views, S seats (8), T sides (8), F numbers of an observation.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from pitch_env.actions import BID_0, FIRST_CALL, NUM_ACTIONS, PASS, SMUDGE
from pitch_env.cards import JACK, NO_CARD, NO_SUIT, NUM_FACES, NUM_RANKS
from pitch_env.engine.blocks import bytes_of, copy, eight_of, spread, turn, turn_counts, turn_seats
from pitch_env.engine.jit import ONE, below, first_card, inlined_kernel, kernel, mix, parallel_kernel
from pitch_env.engine.state import (
    AUCTION,
    EXCHANGE,
    MAX_PACK,
    MAX_SEATS,
    NO_CALL,
    NO_SEAT,
    OVER,
    SMUDGE_BID,
    WIDOW,
    record_type,
)  # fmt: skip
from pitch_env.engine.step import advance, apply, legal, nth_action, num_legal, write_mask
from pitch_env.engine.tables import WIDOW_AFTER_FIRST_TRICK, WIDOW_TO_PITCHER
from pitch_env.rules import ITEMS, MAX_BID, Rules

VIEW = record_type(
    [
        ("seat", np.int16),  # the seat that looks; the only number that is not relative
        ("to_move", np.int16),
        ("phase", np.int16),
        ("dealer", np.int16),
        # Auction
        ("pitcher", np.int16),  # of the highest call so far, NO_SEAT before one
        ("high_bid", np.int16),  # NO_BID, 0–15, SMUDGE_BID
        ("pitched", np.int16),  # card of the standing pitch
        ("trump", np.int16),  # NO_SUIT, 0–3, NO_TRUMP
        ("calls", np.int8, (MAX_SEATS,)),  # each seat's call, a pitched card too (standing or displaced), or NO_CALL
        # Own cards
        ("hand", np.int64),
        ("hand_dups", np.int64),
        ("dealt", np.int64),  # the hand as dealt
        ("dealt_dups", np.int64),
        ("discards", np.int64),  # what this seat discarded face down
        ("discard_dups", np.int64),
        ("widow", np.int64),  # empty but for a pitcher who has taken it up
        ("widow_dups", np.int64),
        # What all know of the others' cards
        ("num_cards", np.int16, (MAX_SEATS,)),  # in each hand
        ("num_face_down", np.int16, (MAX_SEATS,)),
        ("num_discarded", np.int16, (MAX_SEATS,)),
        ("stock_size", np.int16),
        ("num_reshuffles", np.int16),
        ("turn_up", np.int16),
        ("must_go", np.int16),  # cards that this seat must still discard
        ("num_swapped", np.int16),
        ("swapped", np.int64),  # discarded face up for the widow
        ("swapped_dups", np.int64),
        # Play
        ("trick", np.int16),
        ("trick_start", np.int16),
        ("num_plays", np.int16),
        ("led", np.int16),
        ("best", np.int16),
        ("best_seat", np.int16),
        ("plain_trick", np.int16),  # no trump may be played to this trick (4.6)
        ("reference", np.int16),
        ("plays", np.int8, (MAX_PACK,)),  # cards in the order played, NO_CARD behind them
        ("play_seats", np.int8, (MAX_PACK,)),  # who played each, + 8 for a card played blind
        ("voids", np.int8, (MAX_SEATS,)),  # suits (bits) that a seat has shown not to hold
        ("played", np.int64, (MAX_SEATS,)),  # faces of which a seat played the first copy
        ("played_dups", np.int64, (MAX_SEATS,)),  # faces of which it played the second copy
        ("taken", np.int64, (MAX_SEATS,)),  # [T] faces of which a side took the first copy
        ("game_values", np.int16, (MAX_SEATS,)),  # [T]
        ("tricks", np.int16, (MAX_SEATS,)),  # [T]
        # Game
        ("scores", np.int32, (MAX_SEATS,)),  # [T]
        ("debts", np.int32, (MAX_SEATS,)),  # [T]
        ("points", np.int32, (MAX_SEATS,)),  # [T] change of score, zero until the deal is over
        ("winner", np.int16),  # side
        # What this seat may do, nothing unless it is to move
        ("legal_cards", np.int64),
        ("legal_calls", np.int64),
    ],
)
"""All that one seat may know of a deal: the whole public record, its own cards, its legal actions."""


COMMON = (4, 2, 1, 3, 6, False)
"""Seats, sides, packs, bids and tricks of the most common table, and whether it has fields that not all rules have.

Kernels are compiled for these numbers and for any: known in advance, they give every field its place."""


@kernel
def look(s, r, seat, v):
    """Writes what a seat may know of a state; modifies ``v``, a ``VIEW`` record."""
    if r.players == COMMON[0] and r.sides == COMMON[1]:
        look_around(s, r, seat, v, COMMON[0], COMMON[1])
    else:
        look_around(s, r, seat, v, r.players, r.sides)


@inlined_kernel
def look_around(s, r, seat, v, players, sides):
    """Writes all of the view, with the numbers of seats and sides given."""
    v.seat = seat
    v.to_move = s.seat == seat
    v.phase = s.phase
    v.dealer = relative(s.dealer, seat, players)
    v.pitcher = relative(s.pitcher, seat, players)
    v.high_bid = s.high_bid
    v.pitched = s.pitched
    v.trump = s.trump
    v.stock_size = s.stock_end - s.stock_next
    v.num_reshuffles = s.num_reshuffles
    v.turn_up = s.deck[r.first_widow + r.widow_size] if r.turn_up else NO_CARD
    v.num_swapped = s.num_swapped
    v.swapped = s.swapped
    v.swapped_dups = s.swapped_dups
    v.trick = s.trick
    v.trick_start = s.trick_start
    v.num_plays = s.num_plays
    v.led = s.led
    v.best = s.best
    v.best_seat = relative(s.best_seat, seat, players)
    v.plain_trick = s.plain_trick
    v.reference = s.reference
    copy(v.plays, s.plays)
    turn_seats(v.play_seats, s.play_seats, seat, players)
    look_at_own_cards(s, r, seat, v)
    look_round_the_table(s, r, seat, v, players, sides)


@inlined_kernel
def relative(seat, viewer, players):
    """Returns how far a seat sits to the viewer's left, NO_SEAT for none."""
    if seat == NO_SEAT:
        return NO_SEAT
    left = seat - viewer
    return left if left >= 0 else left + players


@inlined_kernel
def look_at_own_cards(s, r, seat, v):
    """Writes what only this seat knows."""
    v.hand = s.hands[seat]
    v.hand_dups = s.hand_dups[seat]
    v.dealt = s.dealt[seat]
    v.dealt_dups = s.dealt_dups[seat]
    v.discards = s.discards[seat]
    v.discard_dups = s.discard_dups[seat]
    v.widow = 0
    v.widow_dups = 0
    if seat == s.pitcher and r.widow_size > 0:
        has_it = r.widow_to == WIDOW_TO_PITCHER and s.phase != AUCTION
        has_it |= r.widow_to == WIDOW_AFTER_FIRST_TRICK and (s.phase == WIDOW or s.num_swapped > 0)
        if has_it:
            for k in range(r.first_widow, r.first_widow + r.widow_size):
                bit = ONE << s.deck[k]
                v.widow_dups |= v.widow & bit
                v.widow |= bit
    v.must_go = 0
    v.legal_cards = 0
    v.legal_calls = 0
    if s.seat == seat:
        if s.phase == EXCHANGE or s.phase == WIDOW:
            v.must_go = s.must_go
        v.legal_cards, v.legal_calls = legal(s, r)


@inlined_kernel
def look_round_the_table(s, r, seat, v, players, sides):
    """Writes what all know of each seat and side."""
    turn(v.calls, s.calls, seat, players, NO_CALL)
    turn(v.num_discarded, s.num_discarded, seat, players, 0)
    turn(v.voids, s.voids, seat, players, 0)
    turn(v.played, s.played, seat, players, 0)
    turn(v.played_dups, s.played_dups, seat, players, 0)
    turn(v.num_face_down, s.num_blind, seat, players, 0)
    turn_counts(v.num_cards, s.hands, s.hand_dups, seat, players)
    if r.face_down_size:
        for k in range(players):
            v.num_face_down[k] = r.face_down_size - v.num_face_down[k]
    side = r.side_of[seat]
    turn(v.taken, s.taken, side, sides, 0)
    turn(v.game_values, s.game_values, side, sides, 0)
    turn(v.tricks, s.tricks, side, sides, 0)
    turn(v.scores, s.scores, side, sides, 0)
    turn(v.debts, s.debts, side, sides, 0)
    turn(v.points, s.points, side, sides, 0)
    v.winner = relative(s.winner, side, sides)


# The encoding

SCORE_STEPS = np.array([*range(12), 14, 16, 18, 20, 23, 26, 29, 32, 37, 42, 52, 72], np.int64)
"""A score is encoded as whether it is within each of these numbers of the target."""

NUM_STEPS = len(SCORE_STEPS)

GAME_BITS = 8
GAME_STEPS = 16
GAME_STEP = 5
"""A Game value is encoded in binary and as whether it reaches each multiple of this."""

TRUMP_SLOTS = 16
"""``A K Q J off-jack X2 X1 T 9 8 7 6 5 4 3 2``."""

MOST_COUNTED = 12
"""Counts of discards are encoded up to this."""

GAME_VALUE_BITS = np.array(
    [value | ((1 << min(value // GAME_STEP, GAME_STEPS)) - 1) << GAME_BITS for value in range(1 << GAME_BITS)], np.int32
)
"""How a Game value is encoded, as bits."""

SCORE_BITS = np.array(
    [sum(1 << k for k, step in enumerate(SCORE_STEPS) if missing <= step) for missing in range(SCORE_STEPS[-1] + 2)],
    np.int32,
)
"""How a score is encoded, as bits, by the number of points that are missing to the target."""


def _slots_of(ranks: int) -> int:
    """Returns the trump slots, as bits, of ranks as bits."""
    return sum(1 << (12 - rank if rank >= JACK else 15 - rank) for rank in range(NUM_RANKS) if ranks >> rank & 1)


SLOTS_OF_LOW = np.array([_slots_of(ranks) for ranks in range(1 << 7)], np.int32)
SLOTS_OF_HIGH = np.array([_slots_of(ranks << 7) for ranks in range(1 << 6)], np.int32)
SLOTS_OF_JOKERS = np.array([0, 1 << 6, 1 << 5, 3 << 5], np.int32)
"""Trump slots, as bits, of the seven low ranks, the six high ones and the jokers."""

FIELDS = (
    ("phase", "one of the 6 phases"),
    ("hand", "faces in the own hand; with two packs, then those held twice"),
    ("played", "for each seat, faces of which it played the first copy; with two packs, then the second copies"),
    ("table", "faces of this trick"),
    ("best", "the card that is winning the trick"),
    ("best_seat", "the seat that is winning the trick, or won the last one"),
    ("led", "suit led; the fifth is jokers under no-trump"),
    ("trump", "trump suit; the fifth is no-trump"),
    ("voids", "for each seat, suits that it has shown not to hold"),
    ("calls", "for each seat, its call: pass, the bids of the rules, smudge"),
    ("pitches", "for each seat, the card that it pitched in the auction, displaced or not"),
    ("dealer", "the seat that deals"),
    ("pitcher", "the seat of the highest call so far"),
    ("high_bid", "the highest call so far: the bids of the rules, smudge"),
    ("trick", "number of the trick"),
    ("game_values", "for each side, its Game value in binary, then whether it reaches 5, 10, … 80"),
    ("tricks", "for each side, whether it took 1, 2, … tricks"),
    ("taken", "for each side, the trumps (reference suit under no-trump) that it took, by rank, high to low"),
    ("taken_spades", "for each side, the spades that it took"),
    ("scores", "for each side, whether its score is within 0, 1, 2, … of the target"),
    ("discards", "faces that this seat discarded; with two packs, then those discarded twice"),
    ("num_discarded", "for each seat, whether it discarded 1, 2, … cards"),
    ("must_go", "whether this seat must still discard 1, 2, … cards"),
    ("widow", "faces of the widow, if this seat took it; with two packs, then those in it twice"),
    ("swapped", "faces discarded face up for the widow; with two packs, then those discarded twice"),
    ("turn_up", "the card turned up"),
    ("num_face_down", "for each seat, whether 1, 2, … cards lie face down before it"),
    ("rules", "the rules themselves (universal layout only)"),
)
"""Name and meaning of every field of an observation, in order. All numbers are 0 or 1."""

MAX_RULE_BITS = 384
"""Room for the numbers that :func:`rule_bits` gives."""

STATE_FIELDS = (
    ("hands", "for each other seat, its hand; with two packs, then the faces that it holds twice"),
    ("face_down", "for each seat, the faces that lie face down before it"),
    ("dead", "faces of the widow"),
)
"""What the full state for a central critic has behind an observation."""

LAYOUT = record_type(
    [(name, np.int64) for name, _ in FIELDS + STATE_FIELDS]
    + [
        ("num_bits", np.int64),  # F of an observation
        ("state_size", np.int64),  # F of a full state
        ("seats", np.int64),
        ("sides", np.int64),
        ("decks", np.int64),
        ("num_bids", np.int64),
        ("num_tricks", np.int64),
        ("face_down_size", np.int64),
        ("num_rules", np.int64),
        ("is_common", np.int64),
        ("target", np.int64),
        ("call_bits", np.int32, (NUM_ACTIONS + 1,)),  # [1 + action] the bit of a call, none for cards and no call
        ("bid_bits", np.int32, (SMUDGE_BID + 2,)),  # [1 + high_bid]
        ("rule_words", np.int64, (MAX_RULE_BITS // 32,)),  # the numbers of the rules as bits, 32 in each word
    ],
)
"""Where each field starts in an observation (−1: the rules have no use for it), as the kernels read it."""

FIELDS_OF_ALL_RULES = (
    "phase", "hand", "played", "table", "best", "best_seat", "led", "trump", "voids", "calls", "dealer", "pitcher",
    "high_bid", "trick", "game_values", "tricks", "taken", "scores",
)  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Where the fields of an observation are, for some rules."""

    rules: Rules
    """The rules observed."""
    universal: bool
    """Sized for all rules, and with the rules as a field, so that one network can play all variants."""
    fields: dict[str, slice]
    """Place of each field in an observation, in order; fields that the rules have no use for are left out."""
    state_fields: dict[str, slice]
    """The same for the full state: an observation, then these."""
    table: NDArray[np.void]
    """The same for kernels: an array of ``LAYOUT`` of length 1."""

    @property
    def size(self) -> int:
        """Length F of an observation."""
        return int(self.table[0]["num_bits"])

    @property
    def state_size(self) -> int:
        """Length F of a full state."""
        return int(self.table[0]["state_size"])


def rule_bits(rules: Rules) -> NDArray[np.uint8]:
    """Returns the rules as zeros and ones: every field that changes how a deal is played or scored."""
    bits: list[int] = []

    def one_of(value: object, values: Any) -> None:
        bits.extend(int(value == other) for other in values)

    def up_to(value: int, most: int) -> None:
        bits.extend(int(value >= level) for level in range(1, most + 1))

    for name, field in Rules.model_fields.items():
        value = getattr(rules, name)
        if name == "bids":
            bits.extend(int(bid in value) for bid in range(MAX_BID + 1))
        elif name == "items":
            for item in ITEMS:
                up_to(value.get(item, 0), 3)
        elif name in ("ranks", "suits"):
            bits.extend(int(letter in value) for letter in field.default)
        elif isinstance(value, bool):
            bits.append(int(value))
        elif isinstance(value, int):
            up_to(value, 8)
            bits.extend(value >> k & 1 for k in range(10))
        else:
            one_of(value, field.annotation.__args__)  # type: ignore[union-attr]
    return np.array(bits, np.uint8)


@lru_cache(maxsize=256)
def layout_of(rules: Rules, universal: bool = False) -> Layout:
    """Returns the layout of the observations of some rules, the same object for equal rules."""
    seats, sides, decks = (MAX_SEATS, MAX_SEATS, 2) if universal else (rules.players, rules.sides, rules.decks)
    bids = tuple(range(MAX_BID + 1)) if universal else rules.bids
    tricks = 12 if universal else rules.num_tricks
    face_down = 6 if universal else rules.face_down_size
    exchanges = universal or rules.exchange != "none"
    has_widow = universal or (rules.widow_size > 0 and rules.widow_to != "dead")
    swaps = universal or (rules.widow_size > 0 and rules.widow_to == "pitcher_after_first_trick")
    faces = NUM_FACES * decks
    sizes = {
        "phase": 6,
        "hand": faces,
        "played": seats * faces,
        "table": NUM_FACES,
        "best": NUM_FACES,
        "best_seat": seats,
        "led": 5,
        "trump": 5,
        "voids": seats * 5,
        "calls": seats * (len(bids) + 2),
        "pitches": seats * NUM_FACES * (universal or rules.pitch_in_auction),
        "dealer": seats,
        "pitcher": seats,
        "high_bid": len(bids) + 1,
        "trick": tricks,
        "game_values": sides * (GAME_BITS + GAME_STEPS),
        "tricks": sides * tricks,
        "taken": sides * TRUMP_SLOTS,
        "taken_spades": sides * NUM_RANKS * (universal or "high_spade" in rules.items),
        "scores": sides * len(SCORE_STEPS),
        "discards": faces * exchanges,
        "num_discarded": seats * MOST_COUNTED * exchanges,
        "must_go": MOST_COUNTED * (exchanges or swaps),
        "widow": faces * has_widow,
        "swapped": faces * swaps,
        "turn_up": NUM_FACES * (universal or rules.turn_up),
        "num_face_down": seats * face_down,
        "rules": len(rule_bits(rules)) * universal,
        "hands": (seats - 1) * faces,
        "face_down": seats * NUM_FACES * (face_down > 0),
        "dead": NUM_FACES * (universal or rules.widow_size > 0),
    }
    table = np.zeros(1, LAYOUT)
    t: Any = table[0]
    places, start = {}, 0
    for name, size in sizes.items():
        t[name] = start if size else -1
        if size:
            places[name] = slice(start, start + size)
        if name == FIELDS[-1][0]:
            t["num_bits"] = start + size
        start += size
    t["state_size"] = start
    t["seats"], t["sides"], t["decks"], t["num_tricks"], t["face_down_size"] = seats, sides, decks, tricks, face_down
    t["num_bids"], t["target"] = len(bids), rules.target
    t["num_rules"] = sizes["rules"]
    for place in np.flatnonzero(rule_bits(rules)).tolist():
        t["rule_words"][place >> 5] |= 1 << (place & 31)
    t["call_bits"][1 + PASS] = 1
    t["call_bits"][1 + SMUDGE] = 2 << len(bids)
    t["bid_bits"][1 + SMUDGE_BID] = 1 << len(bids)
    for place, bid in enumerate(bids):
        t["call_bits"][1 + BID_0 + bid] = 2 << place
        t["bid_bits"][1 + bid] = 1 << place
    names = [name for name, _ in FIELDS]
    has_more = any(name in places for name in names if name not in FIELDS_OF_ALL_RULES)
    t["is_common"] = (seats, sides, decks, len(bids), tricks, has_more) == COMMON
    return Layout(
        rules,
        universal,
        {name: place for name, place in places.items() if name in names},
        {name: place for name, place in places.items() if name not in names},
        table,
    )


@kernel
def put_set(obs, start, cards):
    """Writes a one for each card of a set; modifies ``obs``."""
    while cards:
        obs[start + first_card(cards)] = 1
        cards &= cards - 1


@inlined_kernel
def one_of(number):
    """Returns the bit of a number, for none (-1) one that no field has room for."""
    return ONE << (number & 63)


@inlined_kernel
def steps(count):
    """Returns a bit for each of the steps that a count has reached."""
    return ~(-ONE << min(max(count, 0), 63))


@inlined_kernel
def put(out, pen, bits, width):
    """Appends the lowest ``width`` (up to 63) of the bits; modifies ``out`` and returns the pen moved on.

    pen  where the next 64 numbers go, the bits of them that came so far, how many, and the 64 before them
    """
    at, word, count, before = pen
    bits = bits & ~(-ONE << width)
    word |= bits << count
    count += width
    if count < 64:
        return at, word, count, before
    spread(out, at, word)
    count -= 64
    return at + 64, bits >> (width - count), count, word


@inlined_kernel
def put_rest(out, pen):
    """Writes what did not fill 64 numbers, with those before it: nothing behind the observation; modifies ``out``."""
    at, word, count, before = pen
    if count > 0:
        spread(out, at + count - 64, word << (64 - count) | before >> count & ~(-ONE << (64 - count)))


@inlined_kernel
def encode(v, m, obs):
    """Writes a view as an observation; modifies ``obs`` (F,) uint8.

    v  the view, m  the layout's record
    """
    encode_at(v, m, bytes_of(obs))


@kernel
def encode_at(v, m, out):
    """The same, given where the bytes are: an array handed on would have its references counted."""
    if m.is_common:
        encode_fields(v, m, out, *COMMON)
    else:
        encode_fields(v, m, out, m.seats, m.sides, m.decks, m.num_bids, m.num_tricks, True)


@inlined_kernel
def encode_fields(v, m, out, seats, sides, decks, num_bids, num_tricks, has_more):
    """Writes all fields; ``has_more``: some that not all rules have may be among them."""
    pen = (ONE ^ ONE, ONE ^ ONE, ONE ^ ONE, ONE ^ ONE)
    pen = put(out, pen, one_of(v.phase), 6)
    pen = put(out, pen, v.hand, NUM_FACES)
    if decks == 2:
        pen = put(out, pen, v.hand_dups, NUM_FACES)
    for k in range(seats):
        pen = put(out, pen, v.played[k], NUM_FACES)
        if decks == 2:
            pen = put(out, pen, v.played_dups[k], NUM_FACES)
    pen = encode_trick(v, m, out, pen, seats)
    pen = encode_calls(v, m, out, pen, seats, num_bids, has_more)
    pen = put(out, pen, one_of(v.trick), num_tricks)
    pen = encode_sides(v, m, out, pen, sides, num_tricks, has_more)
    if has_more:
        pen = encode_exchange(v, m, out, pen, seats, decks)
        if m.turn_up >= 0:
            pen = put(out, pen, one_of(v.turn_up), NUM_FACES)
        if m.num_face_down >= 0:
            for k in range(seats):
                pen = put(out, pen, steps(v.num_face_down[k]), m.face_down_size)
        if m.rules >= 0:
            for k in range(0, m.num_rules, 32):
                pen = put(out, pen, m.rule_words[k >> 5], min(m.num_rules - k, 32))
    put_rest(out, pen)


@inlined_kernel
def on_table(v, seats):
    """Returns the faces of this trick; places of ``plays`` behind it hold no card."""
    faces = ONE ^ ONE
    if v.trick_start + MAX_SEATS <= MAX_PACK:
        cards = eight_of(v.plays, v.trick_start)
        for k in range(seats):
            faces |= ONE << (cards >> 8 * k & 63)
    else:
        for k in range(v.trick_start, v.num_plays):
            faces |= one_of(v.plays[k])
    return faces


@inlined_kernel
def encode_trick(v, m, out, pen, seats):
    """Writes the fields table … voids."""
    pen = put(out, pen, on_table(v, seats), NUM_FACES)
    pen = put(out, pen, one_of(v.best), NUM_FACES)
    suits = one_of(v.led) & 31 | (one_of(v.trump) & 31) << 5
    pen = put(out, pen, one_of(v.best_seat) & 255 | suits << seats, seats + 10)
    voids = ONE ^ ONE
    for k in range(seats):
        voids |= np.int64(v.voids[k]) << 5 * k
    return put(out, pen, voids, 5 * seats)


@inlined_kernel
def encode_calls(v, m, out, pen, seats, num_bids, has_more):
    """Writes the fields calls … high_bid."""
    for k in range(seats):
        pen = put(out, pen, np.int64(m.call_bits[np.uint8(v.calls[k] + 1)]), num_bids + 2)
    if has_more and m.pitches >= 0:
        for k in range(seats):
            pen = put(out, pen, one_of(v.calls[k] if v.calls[k] < FIRST_CALL else NO_CALL), NUM_FACES)
    places = one_of(v.dealer) | (one_of(v.pitcher) & 255) << seats
    return put(out, pen, places | np.int64(m.bid_bits[np.uint8(v.high_bid + 1)]) << 2 * seats, 2 * seats + num_bids + 1)


@inlined_kernel
def encode_sides(v, m, out, pen, sides, num_tricks, has_more):
    """Writes the fields of each side.

    Two sides at a time, so that nothing is left to loop over at the most common table; what stands behind the last
    side is cut off.
    """
    width = GAME_BITS + GAME_STEPS
    for k in range(0, sides, 2):
        both = game_value_bits(v.game_values[k]) | game_value_bits(v.game_values[k + 1]) << width
        pen = put(out, pen, both, width * min(2, sides - k))
    if num_tricks < 32:
        for k in range(0, sides, 2):
            both = steps(v.tricks[k]) | steps(v.tricks[k + 1]) << num_tricks
            pen = put(out, pen, both, num_tricks * min(2, sides - k))
    else:
        for k in range(sides):
            pen = put(out, pen, steps(v.tricks[k]), num_tricks)
    suit = v.trump if 0 <= v.trump < 4 else v.reference
    for k in range(0, sides, 2):
        both = slots(v.taken[k], suit) | slots(v.taken[k + 1], suit) << TRUMP_SLOTS
        pen = put(out, pen, both, TRUMP_SLOTS * min(2, sides - k))
    if has_more and m.taken_spades >= 0:
        for k in range(sides):
            pen = put(out, pen, v.taken[k] >> 39, NUM_RANKS)
    for k in range(0, sides, 2):
        both = score_bits(m.target - v.scores[k]) | score_bits(m.target - v.scores[k + 1]) << NUM_STEPS
        pen = put(out, pen, both, NUM_STEPS * min(2, sides - k))
    return pen


@inlined_kernel
def game_value_bits(value):
    """Returns how a Game value is encoded."""
    return np.int64(GAME_VALUE_BITS[np.uint8(value)])


@inlined_kernel
def slots(cards, suit):
    """Returns the trumps of a set of cards, as bits by rank, high to low; none when there is no suit."""
    cards = cards if suit != NO_SUIT else ONE ^ ONE
    ranks = cards >> NUM_RANKS * (suit & 3)
    trumps = np.int64(SLOTS_OF_LOW[ranks & 127] | SLOTS_OF_HIGH[ranks >> 7 & 63] | SLOTS_OF_JOKERS[cards >> 52 & 3])
    return trumps | (cards >> (NUM_RANKS * (3 - (suit & 3)) + JACK) & 1) << 4


@inlined_kernel
def score_bits(missing):
    """Returns how a score is encoded that is so many points from the target."""
    return np.int64(SCORE_BITS[min(max(missing, 0), SCORE_STEPS[-1] + 1)])


@inlined_kernel
def encode_exchange(v, m, out, pen, seats, decks):
    """Writes the fields of the exchange and the widow."""
    if m.discards >= 0:
        pen = put(out, pen, v.discards, NUM_FACES)
        if decks == 2:
            pen = put(out, pen, v.discard_dups, NUM_FACES)
        for k in range(seats):
            pen = put(out, pen, steps(v.num_discarded[k]), MOST_COUNTED)
    if m.must_go >= 0:
        pen = put(out, pen, steps(v.must_go), MOST_COUNTED)
    if m.widow >= 0:
        pen = put(out, pen, v.widow, NUM_FACES)
        if decks == 2:
            pen = put(out, pen, v.widow_dups, NUM_FACES)
    if m.swapped >= 0:
        pen = put(out, pen, v.swapped, NUM_FACES)
        if decks == 2:
            pen = put(out, pen, v.swapped_dups, NUM_FACES)
    return pen


@kernel
def encode_hidden(s, r, seat, m, full):
    """Writes what the seat may not know behind its observation; modifies ``full`` (F,) uint8 from ``m.num_bits`` on."""
    full[m.num_bits : m.state_size] = 0
    other = seat
    for k in range(r.players):
        if k > 0:
            start = m.hands + (k - 1) * m.decks * NUM_FACES
            put_set(full, start, s.hands[other])
            if m.decks == 2:
                put_set(full, start + NUM_FACES, s.hand_dups[other])
        if r.face_down_size > 0:
            place = other - s.dealer - 1
            place = place if place >= 0 else place + r.players
            pile = r.first_face_down + place * r.face_down_size
            for i in range(s.num_blind[other], r.face_down_size):
                full[m.face_down + k * NUM_FACES + s.deck[pile + i]] = 1
        other = other + 1 if other + 1 < r.players else 0
    for i in range(r.first_widow, r.first_widow + r.widow_size):
        full[m.dead + s.deck[i]] = 1


@kernel
def look_one(states, rules, seat, views):
    """Writes the view of one seat of a single state; modifies ``views`` (1,)."""
    look(states[0], rules[0], seat, views[0])


@kernel
def look_batch(states, rules, views):
    """Writes the view of the seat to act of each state (of seat 0 when the deal is over); modifies ``views`` (N,)."""
    r = rules[0]
    for i in range(len(states)):
        s = states[i]
        look(s, r, max(s.seat, 0), views[i])


@kernel
def observe_batch(states, rules, layout, views, observations, masks):
    """Writes view, observation and legal mask of the seat to act of each state (seat 0 when the deal is over).

    Modifies ``views`` (N,), ``observations`` (N, F) uint8, ``masks`` (N, NUM_ACTIONS) int8.
    """
    for i in range(len(states)):
        observe(states, i, max(states[i].seat, 0), rules, layout, views, observations, masks)


@kernel
def observe(states, i, seat, rules, layout, views, observations, masks):
    """Writes view, observation and mask of one seat of state *i* in place *i* of each array."""
    r = rules[0]
    look(states[i], r, seat, views[i])
    encode(views[i], layout[0], observations[i])
    write_mask(views[i].legal_cards, views[i].legal_calls, masks[i])


@kernel
def encode_batch(views, layout, observations):
    """Writes N views as observations; modifies ``observations`` (N, F) uint8."""
    for i in range(len(views)):
        encode(views[i], layout[0], observations[i])


@kernel
def full_states(states, rules, layout, seats, full):
    """Writes the full state from one seat of each state; modifies ``full`` (N, state F) uint8."""
    r = rules[0]
    views = np.empty(1, VIEW)
    for i in range(len(states)):
        look(states[i], r, seats[i], views[0])
        encode(views[0], layout[0], full[i])
        encode_hidden(states[i], r, seats[i], layout[0], full[i])


@kernel
def play_random_observed(states, rules, layout, views, observations, masks, key, num_steps, whole_games):
    """Steps N games in turn with random legal actions, as ``play_random_batch``; returns the number of deals finished.

    Before every action the view, observation and mask of the seat to act are written: modifies ``states`` (N,),
    ``views`` (N,), ``observations`` (N, F) uint8, ``masks`` (N, NUM_ACTIONS) int8.
    """
    r, m = rules[0], layout[0]
    deals = 0
    for k in range(num_steps):
        for i in range(len(states)):
            s, v = states[i], views[i]
            look(s, r, s.seat, v)
            encode(v, m, observations[i])
            write_mask(v.legal_cards, v.legal_calls, masks[i])
            deals += step_random(s, r, v.legal_cards, v.legal_calls, mix(key + i, k), whole_games)
    return deals


@kernel
def step_random(s, r, cards, calls, bits, whole_games):
    """Plays a random one of the legal actions, and deals again after the last; tells whether the deal was over."""
    apply(s, r, nth_action(cards, calls, below(bits, num_legal(cards, calls))))
    if s.phase != OVER:
        return 0
    advance(s, r, whole_games)
    return 1


@parallel_kernel
def play_random_observed_threads(states, rules, layout, views, observations, masks, key, num_steps, whole_games):
    """The same spread over threads: each game plays its steps on its own; bit for bit what one thread gives."""
    deals = 0
    for i in prange(len(states)):
        deals += play_one_observed(states, i, rules, layout, views, observations, masks, key, num_steps, whole_games)
    return deals


@kernel
def play_one_observed(states, i, rules, layout, views, observations, masks, key, num_steps, whole_games):
    """Plays ``num_steps`` random actions in game *i*; returns the number of deals finished."""
    s, r, v, m = states[i], rules[0], views[i], layout[0]
    deals = 0
    for k in range(num_steps):
        look(s, r, s.seat, v)
        encode(v, m, observations[i])
        write_mask(v.legal_cards, v.legal_calls, masks[i])
        deals += step_random(s, r, v.legal_cards, v.legal_calls, mix(key + i, k), whole_games)
    return deals


def mask_of(view: Any) -> NDArray[np.int8]:
    """Returns the action mask (NUM_ACTIONS,) of a view: all zero unless its seat is to move."""
    mask = np.zeros(NUM_ACTIONS, np.int8)
    write_mask(int(view["legal_cards"]), int(view["legal_calls"]), mask)
    return mask
