"""Every option and every named variant of the rulebook, validated.

A variant is a value: a :class:`Rules` object that says what is played. The engine reads the tables that
:mod:`pitch_env.engine.tables` compiles from it, and never asks which variant it plays.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pitch_env.cards import RANKS, SUITS

ITEMS = ("high", "low", "jack", "off_jack", "ace", "ten", "three", "five", "joker", "two", "high_spade", "game")
"""Names of the items that can score (7.1), in the order of the rulebook."""

MAX_BID = 15
"""The highest number that a variant may have among its bids (2.4)."""

MAX_SCORE = 9_999
"""Largest score, up or down, that may be given to a game (2.4)."""


class RulesError(ValueError):
    """Rules that the rulebook refuses; the message names the fields and their values."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


Count = Annotated[int, Field(ge=0)]
Size = Annotated[int, Field(ge=1)]
Bid = Annotated[int, Field(ge=0, le=MAX_BID)]
ItemName = Literal[
    "high", "low", "jack", "off_jack", "ace", "ten", "three", "five", "joker", "two", "high_spade", "game"
]
ItemValue = Annotated[int, Field(ge=1, le=9)]


class Rules(BaseModel):
    """The rules of one table, in the order in which a deal meets them.

    Raises:
        RulesError: (a ``ValueError``) if a field is out of range or a "needs" of the rulebook is not met (2.4).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    players: Annotated[int, Field(ge=2, le=8)] = 4
    """Seats at the table (1.1)."""
    sides: Annotated[int, Field(ge=2, le=8)] = 2
    """Sides, which score together; divides ``players`` (1.1)."""
    ranks: str = RANKS
    """Ranks in the pack (1.3)."""
    suits: str = SUITS
    """Suits in the pack (1.3)."""
    jokers: Annotated[int, Field(ge=0, le=2)] = 0
    """Jokers in each pack (1.3)."""
    decks: Annotated[int, Field(ge=1, le=2)] = 1
    """Packs shuffled together (1.3)."""
    hand_size: Size = 6
    """Cards dealt to each seat (2.1)."""
    deal_packet: Size = 3
    """Cards dealt at a time (2.1)."""
    face_down_size: Count = 0
    """Cards dealt face down before each seat (2.1)."""
    widow_size: Count = 0
    """Cards dealt to the widow (2.1)."""
    turn_up: bool = False
    """One card is shown to all and stays out of play (2.1)."""
    redeal_one_suit_hand: bool = False
    """A hand all of one suit voids the deal (2.2)."""

    bids: Annotated[tuple[Bid, ...], BeforeValidator(_as_tuple), Field(min_length=1)] = (2, 3, 4)
    """Numbers that may be bid, ascending (3.1)."""
    dealer_may_steal: bool = True
    """The dealer takes the bid by calling the highest number so far (3.3)."""
    dealer_may_steal_smudge: bool = True
    """He may do so with a smudge too (3.4)."""
    all_pass: Literal["dealer_must_bid", "void"] = "dealer_must_bid"
    """What happens when all others passed (3.5)."""
    pitch_in_auction: bool = False
    """A card may be pitched as a bid of four (3.8)."""
    smudge: bool = True
    """A smudge, to take everything, may be called (3.7)."""
    smudge_tricks: bool = True
    """A smudge undertakes every trick too (3.7)."""
    smudge_after: Annotated[int, Field(ge=0, le=MAX_BID)] = 0
    """Number that must have been bid before a smudge; 0 for none (3.7)."""
    smudge_ends_auction: bool = False
    """Nobody calls after a smudge (3.7)."""

    trump_choice: Literal["first_lead", "named"] = "first_lead"
    """How trumps are made (4.1, 4.2)."""
    no_trump: bool = False
    """No-trump may be named (4.2)."""
    opening_lead: Literal["trump", "any", "plain"] = "trump"
    """What the pitcher may lead first (4.4)."""
    first_trick_no_trump: bool = False
    """No trump may be played to a first trick led with another card (4.6)."""
    off_jack: bool = False
    """The other jack of the trump colour is a trump (1.4)."""

    exchange: Literal["none", "draw", "discard", "refill"] = "none"
    """How cards are exchanged once trumps are named (5)."""
    play_size: Size = 6
    """Cards in each hand when play starts (5)."""
    widow_to: Literal["dead", "pitcher", "pitcher_after_first_trick"] = "dead"
    """Who gets the widow, and when (5.1, 5.8)."""
    leftover_to: Literal["dead", "pitcher"] = "dead"
    """Who gets the rest of the stock after a refill (5.6)."""

    follow: Literal["follow_or_trump", "follow_or_trump_must_trump", "strict", "strict_must_trump", "free"] = (
        "follow_or_trump"
    )
    """What a seat must play to a lead (6.2)."""

    items: dict[ItemName, ItemValue] = {"high": 1, "low": 1, "jack": 1, "game": 1}
    """Points of each item that scores (7.1)."""
    high_to: Literal["holder", "winner"] = "holder"
    """Who scores High (7.3)."""
    low_to: Literal["winner", "holder"] = "winner"
    """Who scores Low (7.3)."""
    jack_only_bidder: bool = False
    """The jack scores only for the bidding side (7.3)."""

    set_rule: Literal["subtract", "transfer"] = "subtract"
    """What a failed number costs (8.2)."""
    transfer_keeps_own: bool = False
    """Defenders keep their own items when they are paid a failed bid's points (8.2)."""
    smudge_value: Annotated[int, Field(ge=1, le=99)] = 5
    """Points of a smudge (8.5, 8.6)."""
    smudge_made: Literal["score", "advance", "win"] = "score"
    """What a made smudge earns (8.5)."""
    smudge_failed: Literal["set", "score_becomes", "lose"] = "set"
    """What a failed smudge costs (8.6)."""

    target: Annotated[int, Field(ge=1, le=999)] = 21
    """Score at which a side may go out (9)."""
    out: Literal["bid_and_make", "first_to_target", "made_or_other_set"] = "bid_and_make"
    """How the game ends (9.1–9.3)."""
    count_down: bool = False
    """Scores are shown as what is left to the target; display only (9.4)."""
    concede_without_trumps: bool = False
    """A deal ends when a side is out of trumps (9.5)."""

    def __init__(self, /, **fields: Any) -> None:
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise RulesError(_message(error)) from None

    @model_validator(mode="after")
    def _check(self) -> Self:
        found = problems(self)
        if found:
            raise ValueError("; ".join(found))
        # One order of the items, so that equal rules are written alike.
        object.__setattr__(self, "items", {name: self.items[name] for name in ITEMS if name in self.items})
        return self

    def __hash__(self) -> int:
        return hash(self.model_dump_json())

    @property
    def pack_size(self) -> int:
        """Cards in the pack, all decks together (1.3)."""
        return (len(self.ranks) * len(self.suits) + self.jokers) * self.decks

    @property
    def num_dealt(self) -> int:
        """Cards that leave the pack before the stock: hands, face-down piles, widow and turn-up (2.1)."""
        return self.players * (self.hand_size + self.face_down_size) + self.widow_size + self.turn_up

    @property
    def num_tricks(self) -> int:
        """Tricks of a deal (6.5)."""
        return self.play_size + self.face_down_size

    def replace(self, /, **fields: Any) -> "Rules":
        """Returns these rules with some fields changed.

        Raises:
            RulesError: as for a new object.
        """
        return Rules(**{**self.to_dict(), **fields})

    def to_dict(self) -> dict[str, Any]:
        """Returns all fields as plain JSON types."""
        return self.model_dump(mode="json")

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "Rules":
        """Returns the rules of a dict as :meth:`to_dict` gives it; fields left out have their defaults.

        Raises:
            RulesError: if it is no mapping of field names, or as for a new object.
        """
        if not _has_names(fields):
            raise RulesError(f"rules are a mapping of field names to values, not {fields!r:.80}")
        return cls(**fields)


def _has_names(fields: object) -> bool:
    return isinstance(fields, Mapping) and all(isinstance(name, str) for name in fields)


def problems(rules: Rules) -> list[str]:
    """Returns what the clauses with a "needs", and 2.4, have against rules whose fields are each in range."""
    found: list[str] = []

    def need(holds: bool, clause: str, text: str) -> None:
        if not holds:
            found.append(f"{text} ({clause})")

    r = rules
    need(r.players % r.sides == 0, "1.1", f"sides={r.sides} does not divide players={r.players}")
    for field, known in (("ranks", RANKS), ("suits", SUITS)):
        letters = getattr(r, field)
        need(bool(letters), "2.4", f"{field}='' is empty")
        need(set(letters) <= set(known), "2.4", f"{field}={letters!r} has letters other than {known}")
        need(len(set(letters)) == len(letters), "2.4", f"{field}={letters!r} repeats a letter")
    need(list(r.bids) == sorted(set(r.bids)), "2.4", f"bids={r.bids} is not ascending")
    need(bool(r.items), "2.4", "items={} is empty")
    need(
        not r.redeal_one_suit_hand or (len(r.suits) >= 2 and r.hand_size >= 2),
        "2.2",
        f"redeal_one_suit_hand=True needs two suits and hand_size of 2 or more, "
        f"not suits={r.suits!r}, hand_size={r.hand_size}",
    )
    need(
        not r.pitch_in_auction or (4 in r.bids and r.trump_choice == "first_lead"),
        "3.10",
        f"pitch_in_auction=True needs 4 in bids and trump_choice='first_lead', "
        f"not bids={r.bids}, trump_choice={r.trump_choice!r}",
    )
    if r.trump_choice != "named":
        for holds, what in (
            (not r.no_trump, "no_trump=True"),
            (not r.first_trick_no_trump, "first_trick_no_trump=True"),
            (r.opening_lead == "trump", f"opening_lead={r.opening_lead!r}"),
            (r.exchange == "none", f"exchange={r.exchange!r}"),
        ):
            need(holds, "4.2", f"{what} needs trump_choice='named', not {r.trump_choice!r}")
    need(not r.no_trump or r.exchange == "none", "4.2", f"no_trump=True needs exchange='none', not {r.exchange!r}")
    need(
        not r.first_trick_no_trump or r.opening_lead == "any",
        "4.6",
        f"first_trick_no_trump=True needs opening_lead='any', not {r.opening_lead!r}",
    )
    sizes = f"not play_size={r.play_size}, hand_size={r.hand_size}"
    need(
        r.exchange != "none" or r.play_size == r.hand_size,
        "5.1",
        f"exchange='none' needs play_size = hand_size, {sizes}",
    )
    need(
        r.exchange != "draw" or r.hand_size <= r.play_size,
        "5.1",
        f"exchange='draw' needs hand_size <= play_size, {sizes}",
    )
    need(
        r.exchange != "discard" or r.hand_size >= r.play_size,
        "5.1",
        f"exchange='discard' needs hand_size >= play_size, {sizes}",
    )
    need(
        r.widow_to != "pitcher" or r.exchange in ("discard", "refill"),
        "5.1",
        f"widow_to='pitcher' needs exchange='discard' or 'refill', not {r.exchange!r}",
    )
    need(
        r.leftover_to != "pitcher" or r.exchange == "refill",
        "5.6",
        f"leftover_to='pitcher' needs exchange='refill', not {r.exchange!r}",
    )
    need("off_jack" not in r.items or r.off_jack, "7.1", "items has 'off_jack', which needs off_jack=True")
    if r.concede_without_trumps:
        for holds, what in (
            (r.sides == 2, f"sides=2, not {r.sides}"),
            ("game" not in r.items and "high_spade" not in r.items, f"no 'game' or 'high_spade' in items={r.items}"),
            (not r.no_trump, "no_trump=False"),
            (r.face_down_size == 0, f"face_down_size=0, not {r.face_down_size}"),
            (r.widow_to != "pitcher_after_first_trick", f"widow_to other than {r.widow_to!r}"),
            (not r.smudge or not r.smudge_tricks, "smudge=False or smudge_tricks=False"),
        ):
            need(holds, "9.5", f"concede_without_trumps=True needs {what}")
    most = r.players * (max(r.hand_size, r.play_size) + r.face_down_size) + r.widow_size + r.turn_up
    need(
        most <= r.pack_size,
        "2.4",
        f"players={r.players}, hand_size={r.hand_size}, play_size={r.play_size}, face_down_size={r.face_down_size}, "
        f"widow_size={r.widow_size}, turn_up={r.turn_up} need {most} cards, but the pack has {r.pack_size}",
    )
    return found


def _message(error: ValidationError) -> str:
    """Returns a pydantic error as one line that names fields and values."""
    parts = []
    for detail in error.errors():
        if detail["type"] == "extra_forbidden":
            parts.append(f"no field {detail['loc'][0]!r}; the fields are {', '.join(Rules.model_fields)}")
        elif detail["type"] == "value_error":
            parts.append(detail["msg"].removeprefix("Value error, "))
        else:
            parts.append(f"{'.'.join(map(str, detail['loc']))}={detail['input']!r:.80}: {detail['msg']}")
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in "; ".join(parts))


AUCTION_PITCH = Rules()
"""The base game."""

_OKLAHOMA = {
    "jokers": 2, "hand_size": 9, "bids": (2, 3, 4, 5, 6, 7, 8, 9, 10), "smudge": False, "trump_choice": "named",
    "exchange": "refill", "leftover_to": "pitcher", "off_jack": True,
    "items": {"high": 1, "low": 1, "jack": 1, "off_jack": 1, "joker": 1, "three": 3, "ten": 1},
}  # fmt: skip
_TEN_POINT_52 = {
    "jokers": 2, "hand_size": 9, "bids": (4, 5, 6, 7, 8, 9, 10), "dealer_may_steal": False, "smudge_tricks": False,
    "smudge_made": "advance", "smudge_failed": "lose", "smudge_value": 10, "smudge_ends_auction": True,
    "trump_choice": "named", "opening_lead": "any", "exchange": "refill", "leftover_to": "pitcher", "off_jack": True,
    "items": {"ace": 1, "jack": 1, "off_jack": 1, "joker": 1, "ten": 1, "two": 1, "three": 3},
    "target": 52, "out": "first_to_target",
}  # fmt: skip
_TWO_HANDED = {"players": 2, "deal_packet": 1, "bids": (1, 2, 3, 4), "smudge": False}

_DIFFERENCES: dict[str, dict[str, Any]] = {
    "auction_pitch": {},
    "cutthroat": {"players": 3, "sides": 3},
    "low_to_holder": {"low_to": "holder"},
    "pitch_in_auction": {"pitch_in_auction": True},
    "draw_pitch": {"trump_choice": "named", "exchange": "draw"},
    "no_trumps_first_trick": {"trump_choice": "named", "opening_lead": "any", "first_trick_no_trump": True},
    "smudge_over_four": {"smudge_after": 4, "smudge_value": 4, "smudge_failed": "score_becomes"},
    "six_hand": {"players": 6, "sides": 3, "hand_size": 8, "trump_choice": "named", "exchange": "discard"},
    "oklahoma": _OKLAHOMA,
    "ten_point_52": _TEN_POINT_52,
    "ten_point_54": _TEN_POINT_52
    | {
        "bids": (4, 5, 6, 7, 8, 9), "smudge_made": "win", "smudge_failed": "set", "target": 55,
        "concede_without_trumps": True,
    },
    "ten_point_five_handed": _TEN_POINT_52
    | {
        "players": 5, "sides": 5, "hand_size": 10, "widow_size": 4, "widow_to": "pitcher", "exchange": "discard",
        "leftover_to": "dead",
    },
    "nine_card": {
        "hand_size": 9, "play_size": 9, "bids": (3, 4, 5, 6), "smudge": False,
        "items": {"high": 1, "low": 1, "jack": 1, "game": 1, "five": 1, "high_spade": 1},
        "out": "made_or_other_set", "count_down": True,
    },
    "fish": {"face_down_size": 6},
    "high_low_jack": {
        "bids": (1, 2, 3, 4), "smudge": False, "dealer_may_steal": False, "all_pass": "void", "deal_packet": 1,
        "turn_up": True, "trump_choice": "named", "opening_lead": "any", "follow": "strict_must_trump",
        "high_to": "winner", "set_rule": "transfer", "target": 11, "out": "first_to_target",
    },
    "kuhn_pitch": _TWO_HANDED | {"suits": "S", "ranks": "TJQKA", "hand_size": 1, "play_size": 1},
    "mini_pitch": _TWO_HANDED | {"suits": "HS", "ranks": "JQKA", "hand_size": 2, "play_size": 2},
    "small_pitch": _TWO_HANDED | {"suits": "HS", "ranks": "9TJQKA", "hand_size": 3, "play_size": 3},
    "mini_partners": _TWO_HANDED | {"players": 4, "suits": "HS", "ranks": "TJQKA", "hand_size": 2, "play_size": 2},
}  # fmt: skip

VARIANTS: dict[str, Rules] = {name: Rules(**fields) for name, fields in _DIFFERENCES.items()}
"""Every named variant (11)."""

_SIDES_OF = {
    "cutthroat": lambda players: players,
    "high_low_jack": lambda players: 2 if players == 4 else players,
}
"""Variants that say how many sides other numbers of players make (11)."""


def variant(name: str, /, **fields: Any) -> Rules:
    """Returns the rules of a named variant (11), with fields of your own over them.

    ``cutthroat`` and ``high_low_jack`` fit ``sides`` to ``players`` where only the latter is given.

    Raises:
        RulesError: if there is no such variant or field (the message lists what there is), or the rules are refused.
    """
    if name not in list(VARIANTS):  # a list, for a file may give a base that has no hash
        raise RulesError(f"no variant {name!r}; the variants are {', '.join(VARIANTS)}")
    if "players" in fields and "sides" not in fields and name in _SIDES_OF:
        fields = {**fields, "sides": _SIDES_OF[name](fields["players"])}
    return VARIANTS[name].replace(**fields)


def name_of(rules: Rules) -> str | None:
    """Returns the name of the variant that some rules are (11), None for rules of one's own."""
    return next((name for name, named in VARIANTS.items() if named == rules), None)


def load_rules(rules: "Rules | str | Path") -> Rules:
    """Returns rules from whatever names them: a ``Rules``, a variant's name, or a TOML file of house rules.

    A file has an optional ``base`` (a variant's name, ``auction_pitch`` if left out) and fields of :class:`Rules`.

    Raises:
        RulesError: if there is no such variant or file, the file is not TOML, or its rules are refused.
    """
    if isinstance(rules, Rules):
        return rules
    if not isinstance(rules, str | Path):
        raise RulesError(f"rules are a Rules, a variant's name or a file, not {rules!r:.80}")
    if str(rules) in VARIANTS:
        return VARIANTS[str(rules)]
    path = Path(rules)
    if path.suffix != ".toml":
        raise RulesError(f"no variant {str(rules)!r}; the variants are {', '.join(VARIANTS)}; a file must end in .toml")
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RulesError(f"{path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RulesError(f"{path} is not TOML: {error}") from None
    except ValueError as error:  # a path that no system takes
        raise RulesError(f"{str(path)!r:.80}: {error}") from None
    base = fields.pop("base", "auction_pitch")
    try:
        return variant(base, **fields)
    except RulesError as error:
        raise RulesError(f"{path}: {error}") from None
