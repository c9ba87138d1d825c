"""OpenSpiel: one deal as the game ``python_pitch``, with chance nodes for the dealer, the cards dealt and those drawn.

``pyspiel.load_game("python_pitch(rules=kuhn_pitch,dealer=0)")`` works once this module is imported.

position  one point of the deal's tree: never changes, and is shared by all OpenSpiel states that stand there
face      int in 0..53, a card; also the outcome of a chance node that deals or draws it
"""

from collections import Counter
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, BLIND, NUM_ACTIONS, STAND
from pitch_env.cards import CARD_NAMES, NUM_FACES, card_names, cards_in
from pitch_env.engine.state import EXCHANGE, NO_SIDE, OVER
from pitch_env.engine.step import apply_batch, legal_batch
from pitch_env.engine.tables import compile_rules, pack_of
from pitch_env.episode import side_rewards
from pitch_env.game import Game
from pitch_env.observation import VIEW, encode_batch, layout_of, look_one
from pitch_env.rules import Rules, load_rules

try:
    import pyspiel
except ImportError as error:
    raise ImportError("pitch_env.openspiel needs OpenSpiel: pip install open_spiel") from error

__all__ = ["PitchGame", "PitchState"]

CHANCE, TERMINAL = -1, -4
"""What OpenSpiel calls the player of a chance node and of the end."""

RANDOM_DEALER = -1
"""The parameter ``dealer`` of a game whose first chance node draws the dealer."""

MOST_KEPT_DEALS = 1_000
"""Positions are kept for the next visit where there are no more deals than this: CFR walks the tree again and again."""


class _Table:
    """What all positions of one game share."""

    def __init__(self, rules: Rules, dealer: int) -> None:
        self.rules, self.dealer = rules, dealer
        self.tables = compile_rules(rules)
        self.layout = layout_of(rules)
        self.exchanges = rules.exchange != "none" or rules.widow_size > 0
        """Whether a hand may change otherwise than by its seat's own plays."""
        hands = [(rules.hand_size, True)] * rules.players
        downs = [(rules.face_down_size, False)] * rules.players
        self.piles = [*hands, *downs, (rules.widow_size, True), (int(rules.turn_up), False)]
        """Size of each pile in the order of 2.1, and whether the order of its cards means nothing."""
        self.keeps = self.num_deals() <= MOST_KEPT_DEALS

    def num_deals(self) -> int:
        """Counts the deals, copies of a face told apart."""
        deals, left = self.rules.players if self.dealer == RANDOM_DEALER else 1, self.rules.pack_size
        for size, is_set in self.piles:
            deals *= comb(left, size) if is_set else comb(left, size) * size**size
            left -= size
        return deals


class _Position:
    """One point of a deal."""

    player = CHANCE
    """Seat to act, ``CHANCE`` or ``TERMINAL``."""
    actions: list[int]
    """What may be done, ascending."""
    odds: list[float]
    """Probability of each action at a chance node."""
    states: NDArray[np.void] | None = None
    """The engine's state, an array of length 1; None until the cards are dealt."""

    def __init__(self, table: _Table, parent: "_Position | None", action: int, texts: tuple[str, ...]) -> None:
        self.table, self.parent, self.action, self.texts = table, parent, action, texts
        self._children: dict[int, _Position] | None = {} if table.keeps else None

    def child(self, action: int) -> "_Position":
        """Returns the position after an action."""
        if self._children is None:
            return self._after(action)
        if action not in self._children:
            self._children[action] = self._after(action)
        return self._children[action]

    def _after(self, action: int) -> "_Position":
        raise NotImplementedError

    def action_name(self, action: int) -> str:
        """Returns the name of an action here."""
        return ACTION_NAMES[action]

    def path(self) -> list[int]:
        """Returns the actions that led here."""
        actions: list[int] = []
        position: _Position = self
        while position.parent is not None:
            actions.append(position.action)
            position = position.parent
        return actions[::-1]

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Position":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _walk, (self.table.rules, self.table.dealer, self.path())


@lru_cache(maxsize=16)
def _root(rules: Rules, dealer: int) -> _Position:
    """Returns the first position of a game, the same object for equal games."""
    table = _Table(rules, dealer)
    texts = tuple(f"seat {seat} of {rules.players}" for seat in range(rules.players))
    if dealer == RANDOM_DEALER:
        return _Seating(table, None, -1, texts)
    return _Dealing(table, None, -1, texts, dealer, [])


def _walk(rules: Rules, dealer: int, actions: list[int]) -> _Position:
    position = _root(rules, dealer)
    for action in actions:
        position = position.child(action)
    return position


class _Seating(_Position):
    """2.3  The first dealer is random."""

    def __init__(self, table: _Table, parent: None, action: int, texts: tuple[str, ...]) -> None:
        super().__init__(table, parent, action, texts)
        self.actions = list(range(table.rules.players))
        self.odds = [1 / len(self.actions)] * len(self.actions)

    def _after(self, action: int) -> _Position:
        return _Dealing(self.table, self, action, self.texts, action, [])

    def action_name(self, action: int) -> str:
        return f"dealer {action}"


class _Dealing(_Position):
    """2.1  One card of the deal. Cards of a hand come in ascending order, so that each hand comes in one way."""

    def __init__(
        self, table: _Table, parent: _Position | None, action: int, texts: tuple[str, ...], dealer: int, deck: list[int]
    ) -> None:
        super().__init__(table, parent, action, texts)
        self._dealer, self._deck = dealer, deck
        left = Counter(pack_of(table.rules))
        left.subtract(deck)
        start = 0
        for size, is_set in table.piles:  # noqa: B007 - the pile to which the next card goes
            if len(deck) < start + size:
                break
            start += size
        odds = _next_of_set(left, deck[start:], size) if is_set else _next_of_stock(left)
        self.actions, self.odds = sorted(odds), [odds[face] for face in sorted(odds)]

    def _after(self, action: int) -> _Position:
        deck = [*self._deck, action]
        if len(deck) < self.table.rules.num_dealt:
            return _Dealing(self.table, self, action, self.texts, self._dealer, deck)
        states = _dealt(self.table.rules, self._dealer, deck)
        texts = (
            f"{text} dealer {self._dealer}{_turn_up(self.table, states)}{_own_cards(self.table, states, seat)}"
            for seat, text in enumerate(self.texts)
        )
        return _Playing(self.table, self, action, tuple(texts), states)

    def action_name(self, action: int) -> str:
        return f"deal {CARD_NAMES[action]}"


def _next_of_stock(left: Counter[int]) -> dict[int, float]:
    """Returns the odds of each face to be the next of a shuffled pile."""
    total = left.total()
    return {face: count / total for face, count in left.items() if count}


def _next_of_set(left: Counter[int], held: list[int], size: int) -> dict[int, float]:
    """Returns the odds of each face to be the next lowest of a set dealt at random.

    Args:
        left: cards not dealt yet, ``held`` not among them.
        held: the lower cards of the set, ascending.
        size: size of the whole set.
    """
    more = size - len(held)
    last = held[-1] if held else -1
    num_last = held.count(last)
    ways: dict[int, int] = {}
    above = 0
    for face in range(NUM_FACES - 1, last, -1):
        copies = left[face]
        ways[face] = sum(comb(copies, taken) * comb(above, more - taken) for taken in range(1, min(copies, more) + 1))
        above += copies
    if held:
        # With two packs the last face may be held once, in as many ways as it has copies, or twice, in one way.
        copies = left[last] + num_last
        ways = {face: number * comb(copies, num_last) for face, number in ways.items()}
        ways[last] = comb(copies, num_last + 1) * comb(above, more - 1) if copies > num_last else 0
    total = sum(ways.values())
    return {face: number / total for face, number in ways.items() if number}


def _dealt(rules: Rules, dealer: int, deck: list[int]) -> NDArray[np.void]:
    """Returns the state as dealt. The stock that it has is in no order that matters: draws are chance nodes."""
    order = [(dealer + 1 + place) % rules.players for place in range(rules.players)]
    hands, downs = [""] * rules.players, [""] * rules.players
    start = rules.players * rules.hand_size
    for place, seat in enumerate(order):
        hands[seat] = card_names(deck[place * rules.hand_size : (place + 1) * rules.hand_size])
        down = start + place * rules.face_down_size
        downs[seat] = card_names(deck[down : down + rules.face_down_size])
    widow = start + rules.players * rules.face_down_size
    left = Counter(pack_of(rules))
    left.subtract(deck)
    game = Game.from_deal(
        rules, hands, dealer, face_down=downs, widow=card_names(deck[widow : widow + rules.widow_size]),
        turn_up=card_names(deck[widow + rules.widow_size :]), stock=card_names(sorted(left.elements())),
    )  # fmt: skip
    return np.array([game.state()])


class _Playing(_Position):
    """A seat's turn, or the end of the deal."""

    states: NDArray[np.void]

    def __init__(
        self, table: _Table, parent: _Position, action: int, texts: tuple[str, ...], states: NDArray[np.void]
    ) -> None:
        super().__init__(table, parent, action, texts)
        self.states = states
        s: Any = states[0]
        if s["phase"] == OVER:
            self.player, self.actions = TERMINAL, []
            return
        self.player = int(s["seat"])
        mask = np.zeros((1, NUM_ACTIONS), np.int8)
        legal_batch(states, table.tables, mask)
        self.actions = np.flatnonzero(mask[0]).tolist()

    def _after(self, action: int) -> _Position:
        states = self.states.copy()
        apply_batch(states, self.table.tables, np.array([action]))
        texts = self._told(action, states)
        start = int(self.states["stock_next"][0])
        if states["stock_next"][0] > start:
            return _Drawing(self.table, self, action, texts, self.states, action, states, start)
        return _Playing(self.table, self, action, _with_own_cards(self.table, texts, self.states, states), states)

    def _told(self, action: int, after: NDArray[np.void]) -> tuple[str, ...]:
        """Returns what each seat knows once it has seen the action, but not what it was dealt after it."""
        name = ACTION_NAMES[action]
        if action == BLIND:
            name += " " + CARD_NAMES[after["plays"][0, after["num_plays"][0] - 1]]
        if self.states["phase"][0] != EXCHANGE or action == STAND:
            return tuple([f"{text}; {self.player} {name}" for text in self.texts])
        return tuple(  # 5.2  Which cards a seat discarded only it knows.
            f"{text}; {self.player} {name if seat == self.player else 'discard'}"
            for seat, text in enumerate(self.texts)
        )

    def returns(self) -> list[float]:
        """Returns the points of each seat (design, decision 6): zeros before the end."""
        rules = self.table.rules
        points = self.states["points"][0, : rules.sides].tolist()
        paid = side_rewards(points, NO_SIDE, "points")
        return [paid[seat % rules.sides] for seat in range(rules.players)]


class _Drawing(_Position):
    """5.2, 5.6, 5.7  One card from the stock, or from the discards that became the stock.

    An action of the exchange is played on trial first: how many cards are drawn, and from which pile, does not
    depend on which they are. When all are known it is played again with them.
    """

    states: NDArray[np.void]

    def __init__(
        self, table: _Table, parent: _Position, action: int, texts: tuple[str, ...],
        before: NDArray[np.void], cause: int, trial: NDArray[np.void], at: int,
    ) -> None:  # fmt: skip
        super().__init__(table, parent, action, texts)
        self.states = before
        self._cause, self._trial, self._at = cause, trial, at
        s: Any = trial[0]
        ends = [*s["reshuffle_at"][: s["num_reshuffles"]].tolist(), int(s["stock_end"])]
        self._end = next(end for end in ends if end > at)
        odds = _next_of_stock(Counter(s["deck"][at : self._end].tolist()))
        self.actions, self.odds = sorted(odds), [odds[face] for face in sorted(odds)]

    def _after(self, action: int) -> _Position:
        trial = self._trial.copy()
        deck = trial["deck"][0]
        place = self._at + deck[self._at : self._end].tolist().index(action)
        deck[place], deck[self._at] = deck[self._at], action
        if self._at + 1 < trial["stock_next"][0]:
            return _Drawing(self.table, self, action, self.texts, self.states, self._cause, trial, self._at + 1)
        states = self.states.copy()
        states["deck"][0] = deck
        states["known_end"] = trial["stock_end"] if trial["num_reshuffles"][0] else 0
        apply_batch(states, self.table.tables, np.array([self._cause]))
        return _Playing(self.table, self, action, _with_own_cards(self.table, self.texts, self.states, states), states)

    def action_name(self, action: int) -> str:
        return f"draw {CARD_NAMES[action]}"


def _turn_up(table: _Table, states: NDArray[np.void]) -> str:
    if not table.rules.turn_up:
        return ""
    return f" turn-up {CARD_NAMES[states['deck'][0, table.rules.num_dealt - 1]]}"


def _own_cards(table: _Table, states: NDArray[np.void], seat: int) -> str:
    """Returns what a seat sees of its own cards, and of all piles."""
    s: Any = states[0]
    text = f" hand {card_names(cards_in(s['hands'][seat], s['hand_dups'][seat]))}"
    if table.exchanges:
        own = card_names(cards_in(s["discards"][seat], s["discard_dups"][seat]))
        stock = int(s["stock_end"]) - int(s["stock_next"])
        counts = s["num_discarded"][: table.rules.players].tolist()
        text += f" discards {own} discarded {counts} stock {stock} reshuffles {s['num_reshuffles']}"
    return text


def _with_own_cards(
    table: _Table, texts: tuple[str, ...], before: NDArray[np.void], after: NDArray[np.void]
) -> tuple[str, ...]:
    """Adds what each seat now sees of its own cards, if it is not what it saw before."""
    if not table.exchanges:
        return texts
    told = []
    for seat, text in enumerate(texts):
        own = _own_cards(table, after, seat)
        told.append(text if own == _own_cards(table, before, seat) else text + own)
    return tuple(told)


# What OpenSpiel asks for

_GAME_TYPE = pyspiel.GameType(
    short_name="python_pitch",
    long_name="Pitch",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=8,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"rules": "auction_pitch", "dealer": RANDOM_DEALER},
)


def _most_points(rules: Rules) -> float:
    """Returns a bound of what a seat can win or lose in a deal, on level scores."""
    items = sum(value * (rules.jokers * rules.decks if item == "joker" else 1) for item, value in rules.items.items())
    gain = max(items, rules.smudge_value, rules.target if rules.smudge_made == "advance" else 0)
    return float(gain + max(*rules.bids, rules.smudge_value))


def _game_info(rules: Rules) -> Any:
    exchange = 0
    if rules.exchange != "none":
        exchange = rules.players * (rules.hand_size + 1) + rules.pack_size
    return pyspiel.GameInfo(
        num_distinct_actions=NUM_ACTIONS,
        max_chance_outcomes=NUM_FACES,
        num_players=rules.players,
        min_utility=-_most_points(rules),
        max_utility=_most_points(rules),
        utility_sum=0.0,
        max_game_length=rules.players * (1 + rules.num_tricks) + 1 + rules.widow_size + exchange,
    )


class PitchGame(pyspiel.Game):  # type: ignore[misc]
    """One deal, from scores of zero; a deal that is void as dealt (2.2) ends at once and pays nothing.

    Parameters: ``rules``, a variant's name or a TOML file of house rules; ``dealer``, a seat, or −1 for a random one.
    Returns are points: the change of the own side's score minus the mean of the others'.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        """Makes the game.

        Raises:
            ValueError: if the rules are refused, or the dealer is no seat of theirs.
        """
        given = {"rules": "auction_pitch", "dealer": RANDOM_DEALER, **(params or {})}
        self.rules = load_rules(given["rules"])
        dealer = given["dealer"]
        if dealer != RANDOM_DEALER and not 0 <= dealer < self.rules.players:
            raise ValueError(f"dealer={dealer!r} is not a seat of 0 to {self.rules.players - 1}, or {RANDOM_DEALER}")
        self.root = _root(self.rules, dealer)
        super().__init__(_GAME_TYPE, _game_info(self.rules), params or {})

    def new_initial_state(self) -> "PitchState":
        """Returns the state before the deal."""
        return PitchState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Returns a bound of the cards dealt and drawn, and the dealer."""
        exchange = 0 if self.rules.exchange == "none" else self.rules.players * self.rules.play_size
        return 1 + self.rules.num_dealt + exchange + self.rules.pack_size

    def make_py_observer(self, iig_obs_type: Any = None, params: dict[str, Any] | None = None) -> "_Observer":
        """Returns what writes observations, or with perfect recall the text of an information state."""
        return _Observer(self.root.table, iig_obs_type, params)


class PitchState(pyspiel.State):  # type: ignore[misc]
    """One state of :class:`PitchGame`."""

    def __init__(self, game: PitchGame) -> None:
        """Starts before the deal; for :meth:`PitchGame.new_initial_state` only."""
        super().__init__(game)
        self.position: _Position = game.root

    def current_player(self) -> int:
        """Returns the seat to act, or OpenSpiel's number for chance or the end."""
        return self.position.player

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.actions

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Returns the outcomes of a chance node with their probabilities."""
        return list(zip(self.position.actions, self.position.odds, strict=True))

    def _apply_action(self, action: int) -> None:
        self.position = self.position.child(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.action_name(action)

    def is_terminal(self) -> bool:
        """Tells whether the deal is over."""
        return self.position.player == TERMINAL

    def returns(self) -> list[float]:
        """Returns the points of each seat: zeros before the end."""
        if isinstance(self.position, _Playing):
            return self.position.returns()
        return [0.0] * self.position.table.rules.players

    def __str__(self) -> str:
        position = _root(self.position.table.rules, self.position.table.dealer)
        names = []
        for action in self.position.path():
            names.append(position.action_name(action))
            position = position.child(action)
        return ", ".join(names)


class _Observer:
    """Writes what one seat may know: OpenSpiel's observer."""

    def __init__(self, table: _Table, kind: Any, params: dict[str, Any] | None) -> None:
        kind = kind or pyspiel.IIGObservationType(perfect_recall=False)
        if params or not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("python_pitch observes what one seat knows, public and its own, without parameters")
        self._table, self._recalls = table, kind.perfect_recall
        self._bits = np.zeros((1, table.layout.size), np.uint8)
        self.tensor = None if self._recalls else np.zeros(table.layout.size, np.float32)
        self.dict = {} if self.tensor is None else {"observation": self.tensor}

    def set_from(self, state: PitchState, player: int) -> None:
        """Writes the observation of a seat into ``tensor``; zeros while the cards are dealt."""
        if self.tensor is not None:
            self._observe(state, player)
            self.tensor[:] = self._bits[0]

    def _observe(self, state: PitchState, player: int) -> None:
        states = state.position.states
        if states is None:
            self._bits[:] = 0
            return
        views = np.zeros(1, VIEW)
        look_one(states, self._table.tables, player, views)
        encode_batch(views, self._table.layout.table, self._bits)

    def string_from(self, state: PitchState, player: int) -> str:
        """Returns a seat's whole knowledge of the deal as text, or without perfect recall its observation in hex."""
        if self._recalls:
            return state.position.texts[player]
        self._observe(state, player)
        return f"seat {player} {np.packbits(self._bits[0]).tobytes().hex()}"


pyspiel.register_game(_GAME_TYPE, PitchGame)
