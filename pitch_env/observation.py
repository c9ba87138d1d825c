"""What one seat may know: the view, its encoding as numbers, the decoder, and the full state for central critics.

Hidden cards stop here. Everything that plays, searches or draws is given a *view*, a record without a field for them.
Seats and sides are relative in a view: seat 0 looks, seat 1 sits to its left; side 0 is its own.

Axis letters: N views, S seats (8), T sides (8), F numbers of an observation.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import BID_0, FIRST_CALL, MAX_BID, NUM_ACTIONS, PASS, SMUDGE
from pitch_env.cards import HIGH_JOKER, LOW_JOKER, NUM_FACES, NUM_RANKS
from pitch_env.engine.jit import ONE, first_card, kernel, num_cards
from pitch_env.engine.state import (
    AUCTION, EXCHANGE, MAX_PACK, MAX_SEATS, NO_BID, NO_CARD, NO_SEAT, NO_SIDE, NO_SUIT, OVER, SMUDGE_BID, WIDOW,
    record_type,
)  # fmt: skip
from pitch_env.engine.step import legal, write_mask
from pitch_env.engine.tables import NO_FACE, WIDOW_AFTER_FIRST_TRICK, WIDOW_TO_PITCHER
from pitch_env.rules import ITEMS, Rules

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
    ]
)
"""All that one seat may know of a deal: the whole public record, its own cards, its legal actions."""


@kernel
def look(s, r, seat, v):
    """Writes what a seat may know of a state; modifies ``v``, a ``VIEW`` record."""
    v.seat = seat
    v.to_move = s.seat == seat
    v.phase = s.phase
    v.dealer = relative(s.dealer, seat, r.players)
    v.pitcher = relative(s.pitcher, seat, r.players)
    v.high_bid = s.high_bid
    v.pitched = s.pitched
    v.trump = s.trump
    look_at_own_cards(s, r, seat, v)
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
    v.best_seat = relative(s.best_seat, seat, r.players)
    v.plain_trick = s.plain_trick
    v.reference = s.reference
    for i in range(s.num_plays):
        v.plays[i] = s.plays[i]
        played_by = s.play_seats[i]
        v.play_seats[i] = relative(played_by & 7, seat, r.players) | (played_by & 8)
    for i in range(s.num_plays, MAX_PACK):
        v.plays[i] = NO_CARD
        v.play_seats[i] = NO_SEAT
    look_round_the_table(s, r, seat, v)


@kernel
def relative(seat, viewer, players):
    """Returns how far a seat sits to the viewer's left, NO_SEAT for none."""
    if seat == NO_SEAT:
        return NO_SEAT
    left = seat - viewer
    return left if left >= 0 else left + players


@kernel
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


@kernel
def look_round_the_table(s, r, seat, v):
    """Writes what all know of each seat and side."""
    other = seat
    for k in range(MAX_SEATS):
        if k < r.players:
            v.calls[k] = s.calls[other]
            v.num_cards[k] = num_cards(s.hands[other]) + num_cards(s.hand_dups[other])
            v.num_face_down[k] = r.face_down_size - s.num_blind[other]
            v.num_discarded[k] = s.num_discarded[other]
            v.voids[k] = s.voids[other]
            v.played[k] = s.played[other]
            v.played_dups[k] = s.played_dups[other]
            other = other + 1 if other + 1 < r.players else 0
        else:
            v.calls[k] = NO_CARD
            v.num_cards[k] = 0
            v.num_face_down[k] = 0
            v.num_discarded[k] = 0
            v.voids[k] = 0
            v.played[k] = 0
            v.played_dups[k] = 0
    side = r.side_of[seat]
    for k in range(MAX_SEATS):
        if k < r.sides:
            v.taken[k] = s.taken[side]
            v.game_values[k] = s.game_values[side]
            v.tricks[k] = s.tricks[side]
            v.scores[k] = s.scores[side]
            v.debts[k] = s.debts[side]
            v.points[k] = s.points[side]
            side = side + 1 if side + 1 < r.sides else 0
        else:
            v.taken[k] = 0
            v.game_values[k] = 0
            v.tricks[k] = 0
            v.scores[k] = 0
            v.debts[k] = 0
            v.points[k] = 0
    v.winner = relative(s.winner, r.side_of[seat], r.sides)


# The encoding

SCORE_STEPS = np.array([*range(12), 14, 16, 18, 20, 23, 26, 29, 32, 37, 42, 52, 72], np.int64)
"""A score is encoded as whether it is within each of these numbers of the target."""

GAME_BITS = 8
GAME_STEPS = 16
GAME_STEP = 5
"""A Game value is encoded in binary and as whether it reaches each multiple of this."""

TRUMP_SLOTS = 16
"""``A K Q J off-jack X2 X1 T 9 8 7 6 5 4 3 2``."""

MOST_COUNTED = 12
"""Counts of discards are encoded up to this."""

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
        ("size", np.int64),  # F of an observation
        ("state_size", np.int64),  # F of a full state
        ("seats", np.int64),
        ("sides", np.int64),
        ("decks", np.int64),
        ("num_bids", np.int64),
        ("num_tricks", np.int64),
        ("face_down_size", np.int64),
        ("num_rules", np.int64),
        ("target", np.int64),
        ("bid_place", np.int8, (MAX_BID + 1,)),
        ("rank_slot", np.int8, (5, NUM_FACES)),  # [trump, card] slot of a trump, NO_FACE for others
        ("rule_bits", np.uint8, (MAX_RULE_BITS,)),
    ]
)
"""Where each field starts in an observation (−1: the rules have no use for it), as the kernels read it."""


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
        return int(self.table[0]["size"])

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
            t["size"] = start + size
        start += size
    t["state_size"] = start
    t["seats"], t["sides"], t["decks"], t["num_tricks"], t["face_down_size"] = seats, sides, decks, tricks, face_down
    t["num_bids"], t["target"] = len(bids), rules.target
    t["num_rules"] = sizes["rules"]
    t["rule_bits"][: len(rule_bits(rules))] = rule_bits(rules)
    t["bid_place"] = [bids.index(bid) if bid in bids else -1 for bid in range(MAX_BID + 1)]
    t["rank_slot"] = [[_rank_slot(trump, card) for card in range(NUM_FACES)] for trump in range(5)]
    names = [name for name, _ in FIELDS]
    return Layout(
        rules,
        universal,
        {name: place for name, place in places.items() if name in names},
        {name: place for name, place in places.items() if name not in names},
        table,
    )


def _rank_slot(trump: int, card: int) -> int:
    """Returns the slot of a card in ``A K Q J off-jack X2 X1 T … 2`` of a suit."""
    if card in (HIGH_JOKER, LOW_JOKER):
        return 5 if card == HIGH_JOKER else 6
    suit, rank = divmod(card, NUM_RANKS)
    if suit == trump:
        return 12 - rank if rank >= 9 else 15 - rank
    return 4 if suit == 3 - trump and rank == 9 else NO_FACE


@kernel
def put_set(obs, start, cards):
    """Writes a one for each card of a set; modifies ``obs``."""
    while cards:
        obs[start + first_card(cards)] = 1
        cards &= cards - 1


@kernel
def put_steps(obs, start, count, most):
    """Writes ones for the first ``count`` of ``most`` steps; modifies ``obs``."""
    for k in range(min(count, most)):
        obs[start + k] = 1


@kernel
def encode(v, m, obs):
    """Writes a view as an observation; modifies ``obs`` (F,) uint8.

    v  the view, m  the layout's record
    """
    obs[: m.size] = 0
    obs[m.phase + v.phase] = 1
    put_set(obs, m.hand, v.hand)
    encode_seats(v, m, obs)
    if v.led != NO_SUIT:
        obs[m.led + v.led] = 1
        obs[m.best + v.best] = 1
        for i in range(v.trick_start, v.num_plays):
            obs[m.table + v.plays[i]] = 1
    if v.best_seat != NO_SEAT:
        obs[m.best_seat + v.best_seat] = 1
    if v.trump != NO_SUIT:
        obs[m.trump + v.trump] = 1
    obs[m.dealer + v.dealer] = 1
    if v.pitcher != NO_SEAT:
        obs[m.pitcher + v.pitcher] = 1
        place = m.num_bids if v.high_bid == SMUDGE_BID else m.bid_place[v.high_bid]
        obs[m.high_bid + place] = 1
    if v.trick < m.num_tricks:
        obs[m.trick + v.trick] = 1
    encode_sides(v, m, obs)
    if m.decks == 2:
        put_set(obs, m.hand + NUM_FACES, v.hand_dups)
    if m.must_go >= 0:
        encode_exchange(v, m, obs)
    if m.turn_up >= 0 and v.turn_up != NO_CARD:
        obs[m.turn_up + v.turn_up] = 1
    if m.num_face_down >= 0:
        for k in range(m.seats):
            put_steps(obs, m.num_face_down + k * m.face_down_size, v.num_face_down[k], m.face_down_size)
    if m.rules >= 0:
        obs[m.rules : m.rules + m.num_rules] = m.rule_bits[: m.num_rules]


@kernel
def encode_seats(v, m, obs):
    """Writes the fields of each seat."""
    num_calls = m.num_bids + 2
    for k in range(m.seats):
        put_set(obs, m.played + k * m.decks * NUM_FACES, v.played[k])
        if m.decks == 2:
            put_set(obs, m.played + (2 * k + 1) * NUM_FACES, v.played_dups[k])
        put_set(obs, m.voids + k * 5, np.int64(v.voids[k]))
        call = v.calls[k]
        if call >= FIRST_CALL:
            place = 0
            if call == SMUDGE:
                place = m.num_bids + 1
            elif call != PASS:
                place = m.bid_place[call - BID_0] + 1
            obs[m.calls + k * num_calls + place] = 1
        elif call != NO_CARD and m.pitches >= 0:
            obs[m.pitches + k * NUM_FACES + call] = 1


@kernel
def encode_sides(v, m, obs):
    """Writes the fields of each side."""
    suit = v.trump if 0 <= v.trump < 4 else v.reference
    for k in range(m.sides):
        start = m.game_values + k * (GAME_BITS + GAME_STEPS)
        put_set(obs, start, np.int64(v.game_values[k]))
        put_steps(obs, start + GAME_BITS, v.game_values[k] // GAME_STEP, GAME_STEPS)
        put_steps(obs, m.tricks + k * m.num_tricks, v.tricks[k], m.num_tricks)
        if suit != NO_SUIT:
            cards = v.taken[k]
            while cards:
                slot = m.rank_slot[suit, first_card(cards)]
                if slot != NO_FACE:
                    obs[m.taken + k * TRUMP_SLOTS + slot] = 1
                cards &= cards - 1
        if m.taken_spades >= 0:
            put_set(obs, m.taken_spades + k * NUM_RANKS, v.taken[k] >> 39 & 0x1FFF)
        start = m.scores + k * len(SCORE_STEPS)
        for step in range(len(SCORE_STEPS)):
            obs[start + step] = v.scores[k] + SCORE_STEPS[step] >= m.target


@kernel
def encode_exchange(v, m, obs):
    """Writes the fields of the exchange and the widow."""
    put_steps(obs, m.must_go, v.must_go, MOST_COUNTED)
    if m.discards >= 0:
        put_set(obs, m.discards, v.discards)
        for k in range(m.seats):
            put_steps(obs, m.num_discarded + k * MOST_COUNTED, v.num_discarded[k], MOST_COUNTED)
    if m.widow >= 0:
        put_set(obs, m.widow, v.widow)
    if m.swapped >= 0:
        put_set(obs, m.swapped, v.swapped)
    if m.decks == 2:
        if m.discards >= 0:
            put_set(obs, m.discards + NUM_FACES, v.discard_dups)
        if m.widow >= 0:
            put_set(obs, m.widow + NUM_FACES, v.widow_dups)
        if m.swapped >= 0:
            put_set(obs, m.swapped + NUM_FACES, v.swapped_dups)


@kernel
def encode_hidden(s, r, seat, m, full):
    """Writes what the seat may not know behind its observation; modifies ``full`` (F,) uint8 from ``m.size`` on."""
    full[m.size : m.state_size] = 0
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


def mask_of(view: Any) -> NDArray[np.int8]:
    """Returns the action mask (NUM_ACTIONS,) of a view: all zero unless its seat is to move."""
    mask = np.zeros(NUM_ACTIONS, np.int8)
    write_mask(int(view["legal_cards"]), int(view["legal_calls"]), mask)
    return mask
