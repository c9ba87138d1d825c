"""One game for people and tests: checks, names, undo, deal records.

The engine trusts its caller; :class:`Game` is the checking door: what is not legal raises, and changes nothing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError

from pitch_env.actions import ACTION_NAMES, BLIND, NUM_ACTIONS, STAND, action_name, actions_in, parse_action
from pitch_env.cards import CARD_NAMES, NO_SUIT, SUITS, card_name, card_names, cards_in, parse_cards
from pitch_env.engine import step
from pitch_env.engine.deal import clear, deal, deal_out, new_game, next_deal
from pitch_env.engine.jit import kernel
from pitch_env.engine.state import (
    EXCHANGE,
    MADE,
    NO_BID,
    NO_SEAT,
    NO_SIDE,
    OVER,
    PHASES,
    SMUDGE_BID,
    STATE,
    UNDECIDED,
)  # fmt: skip
from pitch_env.engine.tables import compile_rules, pack_of
from pitch_env.observation import VIEW, look_one
from pitch_env.rules import ITEMS, MAX_SCORE, Rules, load_rules
from pitch_env.seeds import generator

TRUMP_NAMES = (*SUITS, "NT")
"""Name of each trump, by trump id."""

RECORD_FORMAT = "pitch-deal/1"


class IllegalActionError(ValueError):
    """An action that the rules do not allow now; the message says what was legal."""


class RecordError(ValueError):
    """A deal record that is malformed, or replays to something else than it says."""


@dataclass(frozen=True)
class DealResult:
    """How a deal ended (rulebook 7–10). Lists are per side."""

    pitcher: int | None
    """Seat that won the auction; None in a void deal."""
    bid: int | str | None
    """The winning number, ``"smudge"``, or None in a void deal."""
    trump: str | None
    """``C``, ``D``, ``H``, ``S``, ``NT``, or None in a void deal."""
    made: bool | None
    """Whether the bidding side made its bid; None in a void deal."""
    void: bool
    """The deal was void (2.2, 3.5)."""
    items: list[dict[str, int]]
    """Points of each item that the side took; items not taken are left out."""
    points: list[int]
    """Change of score."""
    scores: list[int]
    """Scores after the deal."""
    winner: int | None
    """Side that won the game with this deal, if any."""
    sheet: list[list[int]]
    """What is entered on the score sheet, and what is owed after (10.1)."""

    def to_dict(self) -> dict[str, Any]:
        """Returns the result as plain JSON types."""
        return asdict(self)


class _Record(BaseModel):
    """A deal record as it is read (design, section 2)."""

    model_config = ConfigDict(extra="forbid", strict=True)

    format: Literal["pitch-deal/1"]
    rules: dict[str, Any]
    dealer: int
    scores: list[int]
    debts: list[int]
    hands: list[str]
    face_down: list[str]
    widow: str
    turn_up: str
    stock: str
    reshuffles: list[str]
    actions: list[str]
    result: dict[str, Any] | None


# One compiled call for each thing that a game does, so that a fresh process loads few kernels.


@kernel
def _legal(states, rules):  # type: ignore[no-untyped-def]
    return step.legal(states[0], rules[0])


@kernel
def _apply(states, rules, action):  # type: ignore[no-untyped-def]
    step.apply(states[0], rules[0], action)


@kernel
def _deal(states, rules, seed, kind):  # type: ignore[no-untyped-def]
    """Starts a game (0), deals from the deck that is laid (1), or passes the deal on (2)."""
    s, r = states[0], rules[0]
    if kind == 0:
        new_game(s, r, seed, 0)
        deal(s, r)
    elif kind == 1:
        deal_out(s, r)
    else:
        next_deal(s, r)


@kernel
def _clear(states):  # type: ignore[no-untyped-def]
    clear(states[0])


class Game:
    """One game of Pitch: deals until a side goes out.

    >>> game = Game("auction_pitch", seed=7)
    >>> game.phase
    'auction'
    """

    rules: Rules
    """The rules of the game."""
    deal_result: DealResult | None
    """Result of the last finished deal, None before one."""

    def __init__(self, rules: Rules | str | Path = "auction_pitch", seed: int = 0) -> None:
        """Starts a game and deals; the first dealer and all deals follow from the seed.

        Args:
            rules: a ``Rules``, a variant's name, or a TOML file of house rules.
            seed: any int of 64 bits.

        Raises:
            ValueError: if the rules are refused, or the seed is no such int.
        """
        self._begin(load_rules(rules), seed)
        _deal(self._states, self._tables, self._seed, 0)
        self._open()

    def _begin(self, rules: Rules, seed: int) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not -(2**63) <= seed < 2**63:
            raise ValueError(f"seed={seed!r} is not an int of 64 bits")
        self.rules = rules
        self.deal_result = None
        self._seed = int(seed)
        self._tables = compile_rules(rules)
        self._states: NDArray[np.void] = np.zeros(1, STATE)
        self._past: list[tuple[bytes, int, DealResult | None, int]] = []  # for undo
        self._deals: list[tuple[bytes, list[int]]] = []  # (state as dealt, actions) of each deal
        self._actions: list[int] = []

    def _open(self) -> None:
        """Notes a deal that was just dealt."""
        self._actions = []
        self._deals.append((self._states.tobytes(), self._actions))
        if self.phase == "over":
            self.deal_result = self._result()

    @classmethod
    def from_deal(
        cls,
        rules: Rules | str | Path,
        hands: Sequence[str],
        dealer: int,
        scores: Sequence[int] | None = None,
        debts: Sequence[int] | None = None,
        face_down: Sequence[str] | None = None,
        widow: str = "",
        turn_up: str = "",
        stock: str = "",
        seed: int = 0,
    ) -> "Game":
        """Starts a game with a given deal.

        Args:
            rules: a ``Rules``, a variant's name, or a TOML file of house rules.
            hands: the cards of each seat, names with spaces between.
            dealer: the seat that deals.
            scores: of each side, before the deal; zeros if left out.
            debts: of each side (10.1); ``max(0, -score)`` if left out.
            face_down: the pile of each seat, the next card first.
            widow: the widow.
            turn_up: the card turned up.
            stock: the stock, the next card first. What it leaves out of the pack follows it, shuffled by the seed.
            seed: seed of that shuffle, of reshuffles and of later deals.

        Raises:
            ValueError: if sizes are not those of the rules, a card is not in the pack as often as it is given, or
                dealer, scores or debts are out of range.
        """
        game = cls.__new__(cls)
        game._begin(load_rules(rules), seed)
        game._lay(hands, dealer, face_down, widow, turn_up, stock)
        game._set_scores(scores, debts)
        _deal(game._states, game._tables, 0, 1)
        game._open()
        return game

    def _lay(
        self, hands: Sequence[str], dealer: int, face_down: Sequence[str] | None, widow: str, turn_up: str, stock: str
    ) -> None:
        """Lays a given deal into the deck of the state."""
        rules = self.rules
        if isinstance(dealer, bool) or not isinstance(dealer, int | np.integer) or not 0 <= dealer < rules.players:
            raise ValueError(f"dealer={dealer!r} is not a seat of 0 to {rules.players - 1}")
        order = [(dealer + 1 + place) % rules.players for place in range(rules.players)]
        piles = _piles("hands", hands, rules.players, rules.hand_size)
        if face_down is None or (isinstance(face_down, list | tuple) and not face_down):
            face_down = [""] * rules.players
        downs = _piles("face_down", face_down, rules.players, rules.face_down_size)
        deck = [card for seat in order for card in piles[seat]] + [card for seat in order for card in downs[seat]]
        deck += _pile("widow", widow, rules.widow_size) + _pile("turn_up", turn_up, int(rules.turn_up))
        deck += _pile("stock", stock, None)
        left = Counter(pack_of(rules))
        left.subtract(deck)
        extra = [card for card, count in left.items() if count < 0]
        if extra:
            raise ValueError(f"{card_names(extra)}: given more often than the pack has it")
        rest = sorted(left.elements())
        generator(self._seed).shuffle(rest)
        _clear(self._states)
        s: Any = self._states[0]
        s["seed"] = self._seed
        s["dealer"] = dealer
        s["deck"][: len(deck) + len(rest)] = deck + rest

    def _set_scores(self, scores: Sequence[int] | None, debts: Sequence[int] | None) -> None:
        sides = self.rules.sides
        given = _numbers("scores", [0] * sides if scores is None else scores, sides)
        if any(abs(score) > MAX_SCORE for score in given):
            raise ValueError(f"scores={given} go beyond {MAX_SCORE} (2.4)")
        owed = _numbers("debts", [max(0, -score) for score in given] if debts is None else debts, sides)
        if any(debt < 0 or score + debt < 0 for score, debt in zip(given, owed, strict=True)):
            raise ValueError(f"debts={owed} do not fit scores={given}: a debt and score + debt are 0 or more (10.1)")
        if any(debt > 2 * MAX_SCORE for debt in owed):
            raise ValueError(f"debts={owed} go beyond {2 * MAX_SCORE}")
        s: Any = self._states[0]
        s["scores"][:sides] = given
        s["debts"][:sides] = owed

    # What is known to all

    @property
    def phase(self) -> str:
        """``auction``, ``naming``, ``exchange``, ``widow``, ``play`` or ``over``."""
        return PHASES[self._get("phase")]

    @property
    def seat(self) -> int | None:
        """Seat to act; None when the deal is over."""
        return _or_none(self._get("seat"), NO_SEAT)

    @property
    def dealer(self) -> int:
        """Seat that dealt."""
        return self._get("dealer")

    @property
    def pitcher(self) -> int | None:
        """Seat of the highest call so far; None before a bid."""
        return _or_none(self._get("pitcher"), NO_SEAT)

    @property
    def high_bid(self) -> int | str | None:
        """The highest call so far: a number, ``"smudge"``, or None before a bid."""
        bid = self._get("high_bid")
        return "smudge" if bid == SMUDGE_BID else _or_none(bid, NO_BID)

    @property
    def trump(self) -> str | None:
        """``C``, ``D``, ``H``, ``S`` or ``NT``; None until named, led or pitched."""
        trump = self._get("trump")
        return None if trump == NO_SUIT else TRUMP_NAMES[trump]

    @property
    def scores(self) -> list[int]:
        """Score of each side, this deal included when it is over."""
        return self._get_sides("scores")

    @property
    def debts(self) -> list[int]:
        """What each side owes on the score sheet (10.1)."""
        return self._get_sides("debts")

    @property
    def winner(self) -> int | None:
        """Side that has won the game; None while it goes on."""
        return _or_none(self._get("winner"), NO_SIDE)

    def hand(self, seat: int) -> str:
        """Returns the cards that a seat holds, names with spaces between; a standing pitch is not among them.

        Raises:
            ValueError: if there is no such seat.
        """
        s: Any = self._states[0]
        seat = self._check_seat(seat)
        return card_names(cards_in(s["hands"][seat], s["hand_dups"][seat]))

    # Playing

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of the seat to act, ascending; none when the deal is over."""
        return actions_in(*_legal(self._states, self._tables))

    def legal_names(self) -> list[str]:
        """Returns the legal actions in words, in the order of :meth:`legal_actions`."""
        return [ACTION_NAMES[action] for action in self.legal_actions()]

    def play(self, action: int | str) -> None:
        """Does an action of the seat to act.

        Args:
            action: an action id or its name.

        Raises:
            IllegalActionError: if it is not legal; the game is as it was.
        """
        number = self._check_action(action)
        self._past.append((self._states.tobytes(), len(self._actions), self.deal_result, len(self._deals)))
        _apply(self._states, self._tables, number)
        self._actions.append(number)
        if self._get("phase") == OVER:
            self.deal_result = self._result()

    def _check_action(self, action: int | str) -> int:
        legal = self.legal_actions()
        try:
            if isinstance(action, bool | np.bool_) or not isinstance(action, int | str | np.integer):
                raise ValueError(f"{action!r:.80} is neither an action id nor a name")
            number = parse_action(action) if isinstance(action, str) else int(action)
            if not 0 <= number < NUM_ACTIONS:
                raise ValueError(f"no action {number}: action ids are 0 to {NUM_ACTIONS - 1}")
            if number not in legal:
                raise ValueError(f"{action_name(number)} is not legal in phase {self.phase}")
        except ValueError as error:
            names = ", ".join(ACTION_NAMES[other] for other in legal) or "nothing, the deal is over"
            raise IllegalActionError(f"{error}; legal: {names}") from None
        return number

    def next_deal(self) -> None:
        """Passes the deal to the left and deals.

        Raises:
            ValueError: if the deal is not over, or the game is.
        """
        if self.phase != "over":
            raise ValueError(f"the deal is not over: seat {self.seat} is to act in phase {self.phase}")
        if self.winner is not None:
            raise ValueError(f"the game is over: side {self.winner} has won")
        self._past.append((self._states.tobytes(), len(self._actions), self.deal_result, len(self._deals)))
        _deal(self._states, self._tables, 0, 2)
        self._open()

    def undo(self) -> None:
        """Takes back the last :meth:`play` or :meth:`next_deal`.

        Raises:
            ValueError: if there is none.
        """
        if not self._past:
            raise ValueError("nothing to undo")
        state, num_actions, self.deal_result, num_deals = self._past.pop()
        self._states = np.frombuffer(bytearray(state), STATE)
        del self._deals[num_deals:]
        self._actions = self._deals[-1][1]
        del self._actions[num_actions:]

    def copy(self) -> "Game":
        """Returns an independent copy, undo history included."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._states = self._states.copy()
        other._past = self._past.copy()
        other._deals = [(state, actions.copy()) for state, actions in self._deals]
        other._actions = other._deals[-1][1]
        return other

    __copy__ = copy

    def __getstate__(self) -> dict[str, Any]:
        """Pickles all but what follows from the rules."""
        kept = self.__dict__.copy()
        del kept["_tables"], kept["_actions"]
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restores a pickled game, exactly."""
        self.__dict__.update(kept)
        self._tables = compile_rules(self.rules)
        self._actions = self._deals[-1][1]

    # What one seat knows, and all of it

    def view(self, seat: int) -> np.void:
        """Returns all that a seat may know, a ``VIEW`` record (:mod:`pitch_env.observation`).

        Raises:
            ValueError: if there is no such seat.
        """
        views = np.zeros(1, VIEW)
        look_one(self._states, self._tables, self._check_seat(seat), views)
        return views[0]  # type: ignore[no-any-return]

    def state(self) -> np.void:
        """Returns a copy of the ``STATE`` record: everything, hidden cards too."""
        return self._states.copy()[0]  # type: ignore[no-any-return]

    def info_state(self, seat: int) -> str:
        """Returns a seat's whole knowledge of this game so far as text, with perfect recall.

        Two games have the same text for a seat if and only if it has seen the same in both.

        Raises:
            ValueError: if there is no such seat.
        """
        seat = self._check_seat(seat)
        lines = [f"seat {seat} of {self.rules.players}"]
        for state, actions in self._deals:
            lines += _story(self.rules, np.frombuffer(bytearray(state), STATE), actions, seat)
        return "\n".join(lines)

    # Deal records

    def record(self) -> dict[str, Any]:
        """Returns the deal record of the current deal: plain JSON types, enough to replay it without a random number.

        ``result`` is None while the deal is not over.
        """
        rules = self.rules
        dealt: Any = np.frombuffer(self._deals[-1][0], STATE)[0]
        s: Any = self._states[0]
        deck = s["deck"].tolist()
        places = [(seat - self.dealer - 1) % rules.players for seat in range(rules.players)]
        downs = rules.players * rules.hand_size
        widow = downs + rules.players * rules.face_down_size
        stock = rules.num_dealt
        turn_up = stock - rules.turn_up
        ends = [*s["reshuffle_at"][: s["num_reshuffles"]].tolist(), int(s["stock_end"])]
        return {
            "format": RECORD_FORMAT,
            "rules": rules.to_dict(),
            "dealer": self.dealer,
            "scores": dealt["scores"][: rules.sides].tolist(),
            "debts": dealt["debts"][: rules.sides].tolist(),
            "hands": [_slice(deck, place * rules.hand_size, rules.hand_size) for place in places],
            "face_down": [_slice(deck, downs + place * rules.face_down_size, rules.face_down_size) for place in places],
            "widow": _slice(deck, widow, rules.widow_size),
            "turn_up": _slice(deck, turn_up, int(rules.turn_up)),
            "stock": _slice(deck, stock, rules.pack_size - stock),
            "reshuffles": [_slice(deck, start, end - start) for start, end in pairwise(ends)],
            "actions": [ACTION_NAMES[action] for action in self._actions],
            "result": None if self.phase != "over" or self.deal_result is None else self.deal_result.to_dict(),
        }

    @classmethod
    def replay(cls, record: Mapping[str, Any], seed: int = 0) -> "Game":
        """Returns the game at the end of a deal record.

        Args:
            record: as :meth:`record` gives it; without a result it is replayed to where it ends.
            seed: seed of what the record does not say: later deals.

        Raises:
            RecordError: if the record is malformed, has an illegal action, or replays to another result; the message
                names the action.
        """
        try:
            given = _Record.model_validate(record)
            game = cls.from_deal(
                Rules.from_dict(given.rules), given.hands, given.dealer, given.scores, given.debts, given.face_down,
                given.widow, given.turn_up, given.stock, seed,
            )  # fmt: skip
            game._know_reshuffles(given)
        except ValidationError as error:
            raise RecordError(f"not a deal record: {_first_problem(error)}") from None
        except RecordError:
            raise
        except ValueError as error:
            raise RecordError(f"not a deal record: {error}") from None
        for k, name in enumerate(given.actions):
            try:
                game.play(name)
            except IllegalActionError as error:
                raise RecordError(f"action {k} ({name!r:.40}): {error}") from None
            if game._get("num_reshuffles") > 0 and not game._is_conserved():
                raise RecordError(f"action {k} ({name!r}): reshuffles are not the discards (5.7)")
        game._compare(given)
        return game

    def _know_reshuffles(self, given: _Record) -> None:
        """Lays the reshuffles of a record behind the deck."""
        if len(parse_cards(given.stock)) != self.rules.pack_size - self.rules.num_dealt:
            raise RecordError("not a deal record: stock is not the whole rest of the pack")
        cards = [card for pile in given.reshuffles for card in parse_cards(pile)]
        s: Any = self._states[0]
        start = self.rules.pack_size
        if start + len(cards) > len(s["deck"]):
            raise RecordError("not a deal record: reshuffles have more cards than were discarded")
        s["deck"][start : start + len(cards)] = cards
        s["known_end"] = start + len(cards) if cards else 0
        self._deals[-1] = (self._states.tobytes(), self._actions)

    def _is_conserved(self) -> bool:
        """Tells whether every card of the pack is in exactly one place."""
        s: Any = self._states[0]
        r = self.rules
        sets = [s["pool"], s["pool_dups"], s["swapped"], s["swapped_dups"]]
        sets += [cards for field in ("hands", "hand_dups") for cards in s[field]]
        cards = cards_in(*sets) + s["plays"][: s["num_plays"]].tolist()
        cards += s["deck"][s["stock_next"] : s["stock_end"]].tolist()
        downs = r.players * r.hand_size
        for seat in range(r.players):
            start = downs + (seat - self.dealer - 1) % r.players * r.face_down_size
            cards += s["deck"][start + s["num_blind"][seat] : start + r.face_down_size].tolist()
        widow = downs + r.players * r.face_down_size
        taken = r.widow_to == "pitcher" or s["num_swapped"] > 0 or self.phase == "widow"
        cards += s["deck"][widow + (r.widow_size if taken else 0) : r.num_dealt].tolist()
        return sorted(cards) == pack_of(r)

    def _compare(self, given: _Record) -> None:
        """Refuses a record that replays to something else than it says."""
        mine = self.record()
        where = f"after action {len(given.actions) - 1}" if given.actions else "as dealt"
        if mine["reshuffles"] != given.reshuffles:
            raise RecordError(f"{where}: reshuffles are {mine['reshuffles']}, the record says {given.reshuffles}")
        if given.result is None:
            return
        if mine["result"] is None:
            raise RecordError(f"{where}: the deal is not over, but the record has a result")
        for field, value in mine["result"].items():
            if field not in given.result or given.result[field] != value:
                raise RecordError(
                    f"{where}: result {field} is {value!r}, the record says {given.result.get(field)!r:.80}"
                )
        unknown = sorted(set(given.result) - set(mine["result"]))
        if unknown:
            raise RecordError(f"not a deal record: result has no field {unknown[0]!r:.80}")

    # Helpers

    def _get(self, field: str) -> int:
        return int(self._states[field][0])

    def _get_sides(self, field: str) -> list[int]:
        return self._states[field][0][: self.rules.sides].tolist()  # type: ignore[no-any-return]

    def _check_seat(self, seat: int) -> int:
        if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < self.rules.players:
            raise ValueError(f"seat={seat!r} is not a seat of 0 to {self.rules.players - 1}")
        return int(seat)

    def _result(self) -> DealResult:
        s: Any = self._states[0]
        sides = range(self.rules.sides)
        void = bool(s["void"])
        return DealResult(
            pitcher=None if void else self.pitcher,
            bid=None if void else self.high_bid,
            trump=None if void else self.trump,
            made=None if s["made"] == UNDECIDED else bool(s["made"] == MADE),
            void=void,
            items=[
                {name: int(points) for name, points in zip(ITEMS, s["items"][side], strict=True) if points}
                for side in sides
            ],
            points=self._get_sides("points"),
            scores=self.scores,
            winner=self.winner,
            sheet=[[int(s["entered"][side]), int(s["debts"][side])] for side in sides],
        )


def _or_none(value: int, nothing: int) -> int | None:
    return None if value == nothing else value


def _slice(deck: list[int], start: int, size: int) -> str:
    return card_names(deck[start : start + size])


def _pile(name: str, cards: str, size: int | None) -> list[int]:
    try:
        pile = parse_cards(cards)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if size is not None and len(pile) != size:
        raise ValueError(f"{name} has {len(pile)} cards, not {size}: {cards!r:.80}")
    return pile


def _piles(name: str, piles: Sequence[str], num: int, size: int) -> list[list[int]]:
    if isinstance(piles, str) or not isinstance(piles, Sequence) or len(piles) != num:
        raise ValueError(f"{name} must be {num} texts, one a seat, not {piles!r:.80}")
    return [_pile(f"{name} of seat {seat}", pile, size) for seat, pile in enumerate(piles)]


def _numbers(name: str, numbers: Iterable[int], num: int) -> list[int]:
    if isinstance(numbers, str | Mapping) or not isinstance(numbers, Iterable):
        raise ValueError(f"{name} must be {num} ints, one a side, not {numbers!r:.80}")
    given = list(numbers)
    if len(given) != num or any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in given):
        raise ValueError(f"{name} must be {num} ints, one a side, not {given!r:.80}")
    return [int(n) for n in given]


def _first_problem(error: ValidationError) -> str:
    detail = error.errors()[0]
    return f"{'.'.join(map(str, detail['loc'])) or 'it'}: {detail['msg']}, not {detail['input']!r:.80}"


def _story(rules: Rules, states: NDArray[np.void], actions: list[int], seat: int) -> list[str]:
    """Returns what a seat saw of one deal, a line an event.

    states  the state as dealt, in an array of length 1; it is played through
    """
    tables = compile_rules(rules)
    s: Any = states[0]
    sides = rules.sides
    line = f"deal {s['deal']}: dealer {s['dealer']} scores {s['scores'][:sides]} debts {s['debts'][:sides]}"
    if rules.turn_up:
        line += f" turn-up {card_name(s['deck'][rules.num_dealt - 1])}"
    lines = [line]
    seen: tuple[Any, ...] = ()

    def look_around() -> tuple[Any, ...]:
        hand = card_names(cards_in(s["hands"][seat], s["hand_dups"][seat]))
        own = card_names(cards_in(s["discards"][seat], s["discard_dups"][seat]))
        counts = s["num_discarded"][: rules.players].tolist()
        stock = int(s["stock_end"] - s["stock_next"])
        return hand, own, counts, stock, int(s["num_reshuffles"])

    for action in (None, *actions):
        if action is not None:
            mover = int(s["seat"])
            hidden = s["phase"] == EXCHANGE and mover != seat and action != STAND
            _apply(states, tables, action)
            name = "discard" if hidden else ACTION_NAMES[action]
            if action == BLIND:
                name += " " + CARD_NAMES[s["plays"][s["num_plays"] - 1]]
            lines.append(f"{mover} {name}")
        now = look_around()
        if now != seen:
            hand, own, counts, stock, reshuffles = now
            lines.append(f"hand {hand}; discards {own}; discarded {counts}; stock {stock}; reshuffles {reshuffles}")
            seen = now
    if s["phase"] == OVER:
        shown = set(s["plays"][: s["num_plays"]].tolist())
        conceded = [card_names(sorted(set(cards_in(cards)) - shown)) for cards in s["played"][: rules.players]]
        if any(conceded):  # 9.5
            lines.append(f"conceded {conceded}")
        lines.append(
            f"over: void {s['void']} made {s['made']} items {s['items'][:sides].tolist()} "
            f"points {s['points'][:sides]} scores {s['scores'][:sides]} winner {s['winner']}"
        )
    return lines
