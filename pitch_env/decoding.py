"""Observations back as words and numbers, field by field.

``decode(encode(view)) == describe(view)``: the first reads the numbers of an observation, the second the view. Exact in
both but where a field counts only so far:

=================  ====================================================================================================
scores             the least of ``SCORE_STEPS`` within which the score is of the target, None beyond the last
num_discarded      up to ``MOST_COUNTED``
must_go            up to ``MOST_COUNTED``
trick              None once all tricks are played; in the universal layout from the thirteenth on
tricks             in the universal layout up to 12
num_face_down      in the universal layout up to 6
game_values        the value, and how many steps of ``GAME_STEP`` it reaches, up to ``GAME_STEPS``
=================  ====================================================================================================

Seats and sides are relative, as in a view. Axis letters: S seats, T sides, F numbers of an observation.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, BID_0, FIRST_CALL, PASS, SMUDGE
from pitch_env.cards import (
    CARD_NAMES,
    HIGH_JOKER,
    LOW_JOKER,
    NO_CARD,
    NO_SUIT,
    NUM_FACES,
    NUM_RANKS,
    SUITS,
    card_names,
    card_of,
    cards_in,
)
from pitch_env.engine.state import NO_SEAT, NO_TRUMP, PHASES, SMUDGE_BID
from pitch_env.observation import (
    GAME_BITS,
    GAME_STEP,
    GAME_STEPS,
    MOST_COUNTED,
    SCORE_STEPS,
    Layout,
    layout_of,
    rule_bits,
)
from pitch_env.rules import MAX_BID, Rules

SLOT_NAMES = ("A", "K", "Q", "J", "off-jack", "X2", "X1", "T", *"98765432")
"""Names of the slots in which the trumps that a side took are encoded, high to low."""

TRUMPS = (*SUITS, "NT")
SUITS_LED = (*SUITS, "X")
"""Suits that can be led or be void; the fifth is that of jokers under no-trump."""

Bits = NDArray[np.uint8]


def decode(observation: Bits, layout: Layout) -> dict[str, Any]:
    """Returns what an observation (F,) says: a value for each field of its layout, in order.

    Sets are texts of card names, ascending; lists are per seat or per side; None stands for what is not there.

    Raises:
        ValueError: if the observation has another length than the layout.
    """
    if observation.shape != (layout.size,):
        raise ValueError(f"an observation of {layout.size} numbers is wanted, not of shape {observation.shape}")
    return {name: _FIELDS[name][0](observation[place], layout) for name, place in layout.fields.items()}


def describe(view: Any, rules: Rules, universal: bool = False) -> dict[str, Any]:
    """Returns the same for a ``VIEW`` record: what its observation under these rules says."""
    layout = layout_of(rules, universal)
    return {name: _FIELDS[name][1](view, layout) for name in layout.fields}


# Reading numbers


def _ones(bits: Bits) -> list[int]:
    return np.flatnonzero(bits).tolist()


def _one(bits: Bits) -> int | None:
    """Returns the place of the only one among some numbers, None if there is none."""
    places = _ones(bits)
    if len(places) > 1:
        raise ValueError(f"one number at most may be one here, not those at {places}")
    return places[0] if places else None


def _name(bits: Bits, names: Any) -> Any:
    place = _one(bits)
    return None if place is None else names[place]


def _rows(bits: Bits, num_rows: int, num_used: int) -> list[Bits]:
    """Cuts a field into its seats or sides, without those that the rules do not have."""
    return list(bits.reshape(num_rows, -1)[:num_used])


def _seats(bits: Bits, m: Layout) -> list[Bits]:
    return _rows(bits, int(m.table[0]["seats"]), m.rules.players)


def _sides(bits: Bits, m: Layout) -> list[Bits]:
    return _rows(bits, int(m.table[0]["sides"]), m.rules.sides)


def _faces(bits: Bits, m: Layout) -> str:
    """Returns the cards of a field of faces, with two packs the second copies too."""
    return card_names(sorted(place % NUM_FACES for place in _ones(bits)))


def _call(bits: Bits, m: Layout) -> str | None:
    call: str | None = _name(bits, ("pass", *(f"bid {bid}" for bid in _bids(m)), "smudge"))
    return call


def _value(bits: Bits) -> list[int]:
    binary = sum(1 << k for k in _ones(bits[:GAME_BITS]))
    return [binary, int(bits[GAME_BITS:].sum())]


def _within(bits: Bits) -> int | None:
    places = _ones(bits)
    return int(SCORE_STEPS[places[0]]) if places else None


# Reading views


def _bids(m: Layout) -> list[int]:
    return list(range(MAX_BID + 1)) if m.universal else list(m.rules.bids)


def _cards(view: Any, name: str, dups: str) -> str:
    return card_names(cards_in(view[name], view[dups]))


def _suit_names(bits: int) -> str:
    return "".join(SUITS_LED[suit] for suit in range(5) if bits >> suit & 1)


def _or_none(value: Any, nothing: int) -> int | None:
    return None if value == nothing else int(value)


def _card_or_none(card: Any) -> str | None:
    return None if card == NO_CARD else CARD_NAMES[card]


def _high_bid(v: Any) -> int | str | None:
    if v["pitcher"] == NO_SEAT:
        return None
    return "smudge" if v["high_bid"] == SMUDGE_BID else int(v["high_bid"])


def _played(v: Any, seat: int) -> list[str]:
    return [card_names(cards_in(v["played"][seat])), card_names(cards_in(v["played_dups"][seat]))]


def _slot_card(suit: int, slot: int) -> int:
    """Returns the face that a slot stands for when a suit is trumps, or the reference suit."""
    name = SLOT_NAMES[slot]
    if name in ("X1", "X2"):
        return LOW_JOKER if name == "X1" else HIGH_JOKER
    return card_of(3 - suit, 9) if name == "off-jack" else CARD_NAMES.index(name + SUITS[suit])


def _taken(v: Any, side: int) -> str:
    suit = int(v["trump"]) if NO_SUIT < v["trump"] < NO_TRUMP else int(v["reference"])
    if suit == NO_SUIT:
        return ""
    taken = int(v["taken"][side])
    return " ".join(name for slot, name in enumerate(SLOT_NAMES) if taken >> _slot_card(suit, slot) & 1)


def _reached(score: int, target: int) -> int | None:
    return next((int(step) for step in SCORE_STEPS if score + step >= target), None)


def _num_tricks(m: Layout) -> int:
    return int(m.table[0]["num_tricks"])


def _each_seat(read: Callable[[Any, int, Layout], Any]) -> Callable[[Any, Layout], list[Any]]:
    return lambda v, m: [read(v, seat, m) for seat in range(m.rules.players)]


def _each_side(read: Callable[[Any, int, Layout], Any]) -> Callable[[Any, Layout], list[Any]]:
    return lambda v, m: [read(v, side, m) for side in range(m.rules.sides)]


def _call_of(v: Any, seat: int, m: Layout) -> str | None:
    call = int(v["calls"][seat])
    return ACTION_NAMES[call] if call == PASS or BID_0 <= call <= SMUDGE else None


def _pitch_of(v: Any, seat: int, m: Layout) -> str | None:
    call = int(v["calls"][seat])
    return CARD_NAMES[call] if NO_CARD < call < FIRST_CALL else None


_FIELDS: dict[str, tuple[Callable[[Bits, Layout], Any], Callable[[Any, Layout], Any]]] = {
    "phase": (lambda b, m: _name(b, PHASES), lambda v, m: PHASES[v["phase"]]),
    "hand": (_faces, lambda v, m: _cards(v, "hand", "hand_dups")),
    "played": (
        lambda b, m: [[_faces(half, m) for half in _halves(row)] for row in _seats(b, m)],
        _each_seat(lambda v, seat, m: _played(v, seat)),
    ),
    "table": (
        _faces,
        lambda v, m: card_names(sorted(set(v["plays"][v["trick_start"] : v["num_plays"]].tolist()))),
    ),
    "best": (lambda b, m: _name(b, CARD_NAMES), lambda v, m: _card_or_none(v["best"])),
    "best_seat": (lambda b, m: _one(b), lambda v, m: _or_none(v["best_seat"], NO_SEAT)),
    "led": (
        lambda b, m: _name(b, SUITS_LED),
        lambda v, m: None if v["led"] == NO_SUIT else SUITS_LED[v["led"]],
    ),
    "trump": (
        lambda b, m: _name(b, TRUMPS),
        lambda v, m: None if v["trump"] == NO_SUIT else TRUMPS[v["trump"]],
    ),
    "voids": (
        lambda b, m: ["".join(SUITS_LED[suit] for suit in _ones(row)) for row in _seats(b, m)],
        _each_seat(lambda v, seat, m: _suit_names(int(v["voids"][seat]))),
    ),
    "calls": (lambda b, m: [_call(row, m) for row in _seats(b, m)], _each_seat(_call_of)),
    "pitches": (lambda b, m: [_name(row, CARD_NAMES) for row in _seats(b, m)], _each_seat(_pitch_of)),
    "dealer": (lambda b, m: _one(b), lambda v, m: int(v["dealer"])),
    "pitcher": (lambda b, m: _one(b), lambda v, m: _or_none(v["pitcher"], NO_SEAT)),
    "high_bid": (lambda b, m: _name(b, (*_bids(m), "smudge")), lambda v, m: _high_bid(v)),
    "trick": (lambda b, m: _one(b), lambda v, m: int(v["trick"]) if v["trick"] < _num_tricks(m) else None),
    "game_values": (
        lambda b, m: [_value(row) for row in _sides(b, m)],
        _each_side(
            lambda v, side, m: [int(v["game_values"][side]), min(int(v["game_values"][side]) // GAME_STEP, GAME_STEPS)]
        ),
    ),
    "tricks": (
        lambda b, m: [int(row.sum()) for row in _sides(b, m)],
        _each_side(lambda v, side, m: min(int(v["tricks"][side]), _num_tricks(m))),
    ),
    "taken": (
        lambda b, m: [" ".join(SLOT_NAMES[slot] for slot in _ones(row)) for row in _sides(b, m)],
        _each_side(lambda v, side, m: _taken(v, side)),
    ),
    "taken_spades": (
        lambda b, m: [card_names(card_of(3, rank) for rank in _ones(row)) for row in _sides(b, m)],
        _each_side(
            lambda v, side, m: card_names(card for card in cards_in(v["taken"][side]) if card // NUM_RANKS == 3)
        ),
    ),
    "scores": (
        lambda b, m: [_within(row) for row in _sides(b, m)],
        _each_side(lambda v, side, m: _reached(int(v["scores"][side]), m.rules.target)),
    ),
    "discards": (_faces, lambda v, m: _cards(v, "discards", "discard_dups")),
    "num_discarded": (
        lambda b, m: [int(row.sum()) for row in _seats(b, m)],
        _each_seat(lambda v, seat, m: min(int(v["num_discarded"][seat]), MOST_COUNTED)),
    ),
    "must_go": (lambda b, m: int(b.sum()), lambda v, m: min(int(v["must_go"]), MOST_COUNTED)),
    "widow": (_faces, lambda v, m: _cards(v, "widow", "widow_dups")),
    "swapped": (_faces, lambda v, m: _cards(v, "swapped", "swapped_dups")),
    "turn_up": (lambda b, m: _name(b, CARD_NAMES), lambda v, m: _card_or_none(v["turn_up"])),
    "num_face_down": (
        lambda b, m: [int(row.sum()) for row in _seats(b, m)],
        _each_seat(lambda v, seat, m: min(int(v["num_face_down"][seat]), int(m.table[0]["face_down_size"]))),
    ),
    "rules": (lambda b, m: b.tolist(), lambda v, m: rule_bits(m.rules).tolist()),
}
"""Of each field of an observation: how it is read from its numbers, and from a view."""


def _halves(row: Bits) -> list[Bits]:
    """Returns the first and the second copies of a seat's faces; with one pack there are no second ones."""
    return [row[:NUM_FACES], row[NUM_FACES:]]
