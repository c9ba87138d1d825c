"""Drawings of a table: text, SVG, and pixels without a display.

A :class:`Scene` is what is drawn: a view, which shows one seat's side, or a state, which shows all cards open. One list
of shapes is laid out from it; SVG and pixels are two ways to put these on paper.
"""

import math
from dataclasses import dataclass, field
from functools import cache
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, FIRST_CALL
from pitch_env.cards import CARD_NAMES, NO_CARD, NO_SUIT, NUM_RANKS, card_names, cards_in, is_joker
from pitch_env.engine.state import NO_CALL, NO_SEAT, NO_SIDE, NO_TRUMP, OVER, PHASES, PLAY, SMUDGE_BID
from pitch_env.engine.tables import compile_rules
from pitch_env.game import TRUMP_NAMES
from pitch_env.observation import VIEW, look_one
from pitch_env.rules import Rules, name_of

BLIND_PLAY = 8
"""Bit of ``play_seats`` of a card played blind."""


@dataclass(frozen=True)
class Scene:
    """What is drawn. Seats are places: 0 looks, or is seat 0 of an open table, and sits at the bottom."""

    rules: Rules
    """The rules played."""
    view: Any
    """``VIEW`` of place 0."""
    hands: dict[int, list[int]]
    """Cards of the places whose hands are seen; of the others only the number is drawn."""
    face_down: dict[int, list[int]]
    """The same for the face-down piles, the next card first."""
    widow: list[int]
    """Cards of the widow, so far as they are seen."""

    def seat(self, place: int) -> int:
        """Returns the seat at a place."""
        return (int(self.view["seat"]) + place) % self.rules.players

    def side(self, place: int) -> int:
        """Returns the side of a place."""
        return self.seat(place) % self.rules.sides

    def of_side(self, name: str, side: int) -> int:
        """Returns a number that the view has by side."""
        return int(self.view[name][(side - self.seat(0)) % self.rules.sides])

    @property
    def places(self) -> range:
        """All places, clockwise."""
        return range(self.rules.players)

    @property
    def mover(self) -> int | None:
        """The place that is to move, if it is seen or follows from what all see."""
        v, players = self.view, self.rules.players
        if v["to_move"]:
            return 0
        if v["phase"] == PLAY:
            led = int(v["num_plays"]) - int(v["trick_start"])
            if v["num_plays"] == 0:
                return int(v["pitcher"])
            if led == 0:
                return int(v["best_seat"])
            return (self._place_of_play(int(v["trick_start"])) + led) % players
        if PHASES[v["phase"]] == "auction":
            num_calls = sum(int(v["calls"][place]) != NO_CALL for place in self.places)
            return (int(v["dealer"]) + 1 + num_calls) % players
        if PHASES[v["phase"]] in ("naming", "widow"):
            return int(v["pitcher"])
        return None

    def _place_of_play(self, index: int) -> int:
        return int(self.view["play_seats"][index]) & 7

    @property
    def tricks(self) -> list["Trick"]:
        """All tricks so far, the one on the table last."""
        v, size = self.view, self.rules.players
        num = int(v["num_plays"])
        tricks = []
        for start in range(0, num, size):
            end = min(start + size, num)
            cards = {self._place_of_play(i): int(v["plays"][i]) for i in range(start, end)}
            blind = {self._place_of_play(i) for i in range(start, end) if int(v["play_seats"][i]) & BLIND_PLAY}
            winner = self._place_of_play(end) if end < num else int(v["best_seat"])
            tricks.append(Trick(cards, blind, self._place_of_play(start), winner, end - start == size))
        return tricks


@dataclass(frozen=True)
class Trick:
    """One trick; places are those of the scene."""

    cards: dict[int, int]
    """Card of each place that has played."""
    blind: set[int]
    """Places that played blind."""
    leader: int
    """Place that led."""
    winner: int
    """Place that took it, or is winning it."""
    is_complete: bool
    """Whether all have played."""


def scene_of_view(view: Any, rules: Rules) -> Scene:
    """Returns the scene that one seat sees.

    Args:
        view: a ``VIEW`` record.
        rules: the rules played.
    """
    return Scene(
        rules, view, {0: cards_in(view["hand"], view["hand_dups"])}, {}, cards_in(view["widow"], view["widow_dups"])
    )


def scene_of_state(states: NDArray[np.void], rules: Rules) -> Scene:
    """Returns the scene of a state with all cards open, seat 0 at the bottom.

    Args:
        states: a ``STATE`` record in an array of length 1.
        rules: the rules played.
    """
    views = np.zeros(1, VIEW)
    look_one(states, compile_rules(rules), 0, views)
    s: Any = states[0]
    hands = {seat: cards_in(s["hands"][seat], s["hand_dups"][seat]) for seat in range(rules.players)}
    deck, size = s["deck"].tolist(), rules.face_down_size
    piles = {}
    for seat in range(rules.players):
        start = rules.players * rules.hand_size + (seat - int(s["dealer"]) - 1) % rules.players * size
        piles[seat] = deck[start + int(s["num_blind"][seat]) : start + size]
    widow = rules.num_dealt - rules.turn_up - rules.widow_size
    return Scene(rules, views[0], hands, piles if size else {}, deck[widow : widow + rules.widow_size])


def render(states: NDArray[np.void], rules: Rules, mode: str, looker: int | None) -> Any:
    """Draws a state.

    Args:
        states: a ``STATE`` record in an array of length 1.
        rules: the rules played.
        mode: ``"human"`` or ``"ansi"`` for text, ``"svg"`` for a document, ``"rgb_array"`` for an image.
        looker: the seat from whose side it is drawn; None for all cards open.

    Returns:
        A str, or (H, W, 3) uint8.
    """
    if looker is None:
        scene = scene_of_state(states, rules)
    else:
        views = np.zeros(1, VIEW)
        look_one(states, compile_rules(rules), looker, views)
        scene = scene_of_view(views[0], rules)
    if mode == "rgb_array":
        return as_image(scene)
    return as_svg(scene) if mode == "svg" else as_text(scene)


# Words


def heading(scene: Scene) -> str:
    """Returns what goes on, in a few words: ``play, hearts trumps, seat 0 bid 3, seat 2 to act``."""
    v = scene.view
    words = [PHASES[v["phase"]]]
    if v["trump"] != NO_SUIT:
        words.append(f"{TRUMP_NAMES[v['trump']]} trumps" if v["trump"] != NO_TRUMP else "no-trump")
    if v["pitcher"] != NO_SEAT:
        words.append(f"seat {scene.seat(int(v['pitcher']))} {bid_name(int(v['high_bid']))}")
    if scene.mover is not None:
        words.append(f"seat {scene.seat(scene.mover)} to act")
    return ", ".join(words)


def bid_name(bid: int) -> str:
    """Returns a bid in words."""
    return "smudges" if bid == SMUDGE_BID else f"bids {bid}"


def call_name(scene: Scene, place: int) -> str:
    """Returns a place's call, empty before it; a pitch is named as such."""
    call = int(scene.view["calls"][place])
    if call == NO_CALL:
        return ""
    return ACTION_NAMES[call] if call >= FIRST_CALL else f"pitch {CARD_NAMES[call]}"


def variant_name(rules: Rules) -> str:
    """Returns the name of the variant that these rules are."""
    return name_of(rules) or "house rules"


def shown_score(scene: Scene, side: int) -> int:
    """Returns a score as it is shown (9.4)."""
    score = scene.of_side("scores", side)
    return scene.rules.target - score if scene.rules.count_down else score


def sorted_hand(scene: Scene, cards: list[int]) -> list[int]:
    """Returns a hand as players hold it: trumps first, then by suit, high to low."""
    trump = int(scene.view["trump"])
    tables: Any = compile_rules(scene.rules)[0]
    named = trump if trump != NO_SUIT else NO_TRUMP

    def place(card: int) -> tuple[int, int]:
        suit = int(tables["suit_of"][named, card])
        return -1 if suit == named else (0, 1, 3, 2)[suit], -int(tables["power"][named, suit, card])

    return sorted(cards, key=place)


def outcome(scene: Scene) -> str:
    """Returns how the deal ended, empty before."""
    v, sides = scene.view, scene.rules.sides
    if v["phase"] != OVER:
        return ""
    points = ", ".join(f"side {side} {scene.of_side('points', side):+d}" for side in range(sides))
    text = f"deal over: {points}"
    if v["winner"] != NO_SIDE:
        text += f"; side {(scene.seat(0) + int(v['winner'])) % sides} wins the game"
    return text


def as_text(scene: Scene) -> str:
    """Returns the scene as plain text."""
    v = scene.view
    lines = [f"{variant_name(scene.rules)}: {heading(scene)}", ""]
    for place in scene.places:
        marks = "".join(
            mark if here else " "
            for mark, here in ((">", scene.mover == place), ("D", v["dealer"] == place), ("P", v["pitcher"] == place))
        )
        hand = card_names(sorted_hand(scene, scene.hands[place])) if place in scene.hands else ""
        if place not in scene.hands:
            hand = " ".join(["??"] * int(v["num_cards"][place]))
        pile = int(v["num_face_down"][place])
        if pile:
            down = card_names(scene.face_down[place]) if place in scene.face_down else " ".join(["??"] * pile)
            hand += f" | face down {down}"
        lines.append(f"{marks} seat {scene.seat(place)}  {call_name(scene, place):9} {hand}".rstrip())
    lines += ["", *_text_of_piles(scene)]
    for number, trick in enumerate(scene.tricks, 1):
        order = [(trick.leader + k) % scene.rules.players for k in range(len(trick.cards))]
        cards = "  ".join(f"{scene.seat(place)} {CARD_NAMES[trick.cards[place]]}" for place in order)
        won = f"  to seat {scene.seat(trick.winner)}" if trick.is_complete else ""
        lines.append(f"trick {number}: {cards}{won}")
    lines += [""] if scene.tricks else []
    for side in range(scene.rules.sides):
        score = f"{shown_score(scene, side)}{' to go' if scene.rules.count_down else ''}"
        owed = f" (owes {scene.of_side('debts', side)})" if scene.of_side("debts", side) else ""
        taken = f"{scene.of_side('tricks', side)} tricks, Game {scene.of_side('game_values', side)}"
        lines.append(f"side {side}: {score}{owed}; {taken}")
    return "\n".join([*lines, *filter(None, [outcome(scene)])])


def _text_of_piles(scene: Scene) -> list[str]:
    """Returns a line of what else lies on the table, and an empty one, if anything does."""
    v, words = scene.view, []
    if v["pitched"] != NO_CARD:
        words.append(f"pitched {CARD_NAMES[v['pitched']]}")
    if v["turn_up"] != NO_CARD:
        words.append(f"turn-up {CARD_NAMES[v['turn_up']]}")
    if scene.rules.widow_size:
        words.append(f"widow {card_names(scene.widow) or ' '.join(['??'] * scene.rules.widow_size)}")
    if v["swapped"]:
        words.append(f"swapped {card_names(cards_in(v['swapped'], v['swapped_dups']))}")
    if scene.rules.exchange != "none":
        words.append(f"stock {v['stock_size']}")
    return [", ".join(words), ""] if words else []


# Shapes

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    stroke: str = "none"
    radius: float = 0.0
    line: float = 1.0


@dataclass(frozen=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


@dataclass(frozen=True)
class Text:
    """Text with its baseline at ``y``; ``anchor`` is start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    fill: str
    anchor: str = "start"
    is_bold: bool = False


Shape = Box | Polygon | Text

INK, FAINT, RED, BLACK = "#20262b", "#69737b", "#c41e3a", "#15181b"
PAPER, FELT, RIM, CARD, EDGE, BACK, GOLD = "#ffffff", "#e4efe8", "#b4cbbd", "#ffffff", "#8d979e", "#5f7fa8", "#f2b632"
SIDE_FILLS = ("#2f6db3", "#d1702a", "#3f8f5b", "#8a56b0", "#b23a55", "#4b8b9b", "#8a7a2d", "#6b6f76")
TABLE_WIDTH, PANEL_WIDTH, LEAST_HEIGHT = 700.0, 340.0, 640.0
ROW = 20.0
MINUS = "–"
"""Pillow's font has no minus sign; a dash looks the same."""
MOST_TRICKS = 12
"""The last so many tricks are listed."""


@cache
def suit_outline(suit: int) -> tuple[tuple[Point, ...], ...]:
    """Returns the polygons of a suit's sign, within ±0.5."""
    turns = [k * math.tau / 48 for k in range(48)]

    def disc(x: float, y: float, radius: float) -> tuple[Point, ...]:
        return tuple((x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns)

    heart = tuple(
        (
            16 * math.sin(turn) ** 3 / 34,
            -(13 * math.cos(turn) - 5 * math.cos(2 * turn) - 2 * math.cos(3 * turn) - math.cos(4 * turn)) / 32 - 0.04,
        )
        for turn in turns
    )
    stem: tuple[Point, ...] = ((-0.04, 0.0), (-0.06, 0.25), (-0.2, 0.5), (0.2, 0.5), (0.06, 0.25), (0.04, 0.0))
    if suit == 0:
        return disc(0, -0.25, 0.24), disc(-0.24, 0.1, 0.24), disc(0.24, 0.1, 0.24), stem
    if suit == 1:
        return (((0.0, -0.52), (0.38, 0.0), (0.0, 0.52), (-0.38, 0.0)),)
    if suit == 2:
        return (heart,)
    return tuple((x * 0.96, -y * 0.86 - 0.06) for x, y in heart), stem


@dataclass
class Drawing:
    """A list of shapes on paper of a size."""

    width: float
    height: float
    shapes: list[Shape] = field(default_factory=list)

    def suit(self, suit: int, x: float, y: float, size: float) -> None:
        """Adds a suit's sign, centred."""
        fill = RED if suit in (1, 2) else BLACK
        for outline in suit_outline(suit):
            self.shapes.append(Polygon(tuple((x + size * px, y + size * py) for px, py in outline), fill))

    def text(self, x: float, y: float, text: str, size: float = 13, fill: str = INK, **kwargs: Any) -> None:
        """Adds text."""
        self.shapes.append(Text(x, y, text, size, fill, **kwargs))

    def card(self, card: int | None, x: float, y: float, width: float, is_marked: bool = False) -> None:
        """Adds a card by its upper left corner; None for its back."""
        height = width * 1.4
        stroke, line = (GOLD, 3.0) if is_marked else (EDGE, 1.0)
        self.shapes.append(Box(x, y, width, height, CARD, stroke, width / 9, line))
        if card is None:
            inset = width / 11
            self.shapes.append(
                Box(x + inset, y + inset, width - 2 * inset, height - 2 * inset, BACK, radius=width / 14)
            )
        elif is_joker(card):
            self.text(x + width * 0.09, y + width * 0.4, CARD_NAMES[card], width * 0.34, INK, is_bold=True)
            star = [(0.5 if k % 2 else 0.2, math.pi / 5 * k) for k in range(10)]
            middle, level = x + width * 0.58, y + height * 0.66
            points = tuple(
                (middle + width * far * 0.6 * math.sin(turn), level + width * far * 0.6 * math.cos(turn))
                for far, turn in star
            )
            self.shapes.append(Polygon(points, FAINT))
        else:
            suit, rank = card // NUM_RANKS, CARD_NAMES[card][0]
            fill = RED if suit in (1, 2) else BLACK
            self.text(
                x + width * 0.24, y + width * 0.41, "10" if rank == "T" else rank, width * 0.4, fill,
                anchor="middle", is_bold=True,
            )  # fmt: skip
            self.suit(suit, x + width * 0.24, y + width * 0.64, width * 0.26)
            self.suit(suit, x + width * 0.6, y + height * 0.66, width * 0.5)

    def name(self, card: int, x: float, y: float, size: float, is_bold: bool = False) -> None:
        """Adds a card as text: rank and sign, from the left."""
        if is_joker(card):
            self.text(x, y, CARD_NAMES[card], size, INK, is_bold=is_bold)
            return
        suit, rank = card // NUM_RANKS, CARD_NAMES[card][0]
        self.text(
            x + size * 0.5, y, "10" if rank == "T" else rank, size, RED if suit in (1, 2) else BLACK,
            anchor="middle", is_bold=is_bold,
        )  # fmt: skip
        self.suit(suit, x + size * 1.5, y - size * 0.36, size * 0.78)


def lay_out(scene: Scene) -> Drawing:
    """Returns the scene as shapes: the table to the left, the record to the right."""
    panel = Drawing(0, 0)
    end = _lay_panel(panel, scene, TABLE_WIDTH + 16)
    drawing = Drawing(TABLE_WIDTH + PANEL_WIDTH, max(LEAST_HEIGHT, end + 16))
    drawing.shapes.append(Box(0, 0, drawing.width, drawing.height, PAPER))
    drawing.shapes.append(Box(12, 12, TABLE_WIDTH - 24, drawing.height - 24, FELT, RIM, 28, 2))
    for place in scene.places:
        _lay_seat(drawing, scene, place)
    _lay_middle(drawing, scene)
    drawing.shapes += panel.shapes
    return drawing


def _around(drawing: Drawing, scene: Scene, place: int, across: float, down: float) -> Point:
    """Returns the point of a place on an ellipse round the middle of the table; place 0 is at the bottom."""
    turn = math.tau * place / scene.rules.players
    return TABLE_WIDTH / 2 - across * math.sin(turn), drawing.height / 2 + down * math.cos(turn)


def _lay_seat(drawing: Drawing, scene: Scene, place: int) -> None:
    """Draws a place's name, call and cards."""
    v = scene.view
    down = 20 if scene.rules.face_down_size else 0
    x, y = _around(drawing, scene, place, TABLE_WIDTH / 2 - 120, drawing.height / 2 - 86 - down)
    y -= down / 2
    is_own = place == 0 and scene.rules.players <= 6
    width = 52.0 if is_own else 40.0
    room = 330.0 if is_own else 186.0
    top = y - width * 0.7 + 8
    words = f"Seat {scene.seat(place)}"
    call = call_name(scene, place)
    text = f"{words} · {call}" if call else words
    label = 34 + 6.6 * len(text) + 22 * (v["dealer"] == place)
    left = x - label / 2
    to_move = scene.mover == place
    drawing.shapes.append(Box(left, top - 30, label, 23, CARD, GOLD if to_move else RIM, 11, 3 if to_move else 1))
    drawing.shapes.append(Box(left + 7, top - 24, 11, 11, SIDE_FILLS[scene.side(place)], radius=5.5))
    drawing.text(left + 25, top - 14, text, 12.5, is_bold=v["pitcher"] == place)
    if v["dealer"] == place:
        drawing.shapes.append(Box(left + label - 24, top - 27, 17, 17, INK, radius=8.5))
        drawing.text(left + label - 15.5, top - 14, "D", 12, CARD, anchor="middle", is_bold=True)
    hand: list[int | None] = [*sorted_hand(scene, scene.hands[place])] if place in scene.hands else []
    if place not in scene.hands:
        hand = [None] * int(v["num_cards"][place])
    _lay_cards(drawing, hand, x, top, width, room)
    pile = int(v["num_face_down"][place])
    if pile:
        below: list[int | None] = [*scene.face_down[place]] if place in scene.face_down else [None] * pile
        _lay_cards(drawing, below, x, top + (width * 1.4 + 5 if hand else 0), 24, room)


def _lay_cards(drawing: Drawing, cards: list[int | None], x: float, top: float, width: float, room: float) -> None:
    """Draws cards in a row that is centred, overlapping as the room needs."""
    if not cards:
        return
    apart = width * (0.62 if cards[0] is not None else 0.36)
    if len(cards) > 1:
        apart = min(apart, (room - width) / (len(cards) - 1))
    left = x - (width + apart * (len(cards) - 1)) / 2
    for number, card in enumerate(cards):
        drawing.card(card, left + number * apart, top, width)


def _lay_middle(drawing: Drawing, scene: Scene) -> None:
    """Draws the trick on the table, or the last one, and trumps."""
    v, middle = scene.view, drawing.height / 2
    width = 46.0 if scene.rules.players <= 5 else 38.0
    across, down = (96.0, 84.0) if scene.rules.players <= 5 else (108.0, 96.0)
    cards: dict[int, int] = {}
    winner = NO_SEAT
    if scene.tricks:
        cards, winner = scene.tricks[-1].cards, scene.tricks[-1].winner
    elif v["pitched"] != NO_CARD:
        cards = {int(v["pitcher"]): int(v["pitched"])}
    for place, card in cards.items():
        x, y = _around(drawing, scene, place, across, down)
        drawing.card(card, x - width / 2, y - width * 0.7, width, is_marked=place == winner)
    trump, high = int(v["trump"]), int(v["high_bid"])
    x = TABLE_WIDTH / 2
    if trump == NO_TRUMP:
        drawing.text(x, middle + 4, "no trump", 15, INK, anchor="middle", is_bold=True)
    elif trump != NO_SUIT:
        drawing.suit(trump, x, middle - 8, 34)
    if v["pitcher"] != NO_SEAT:
        bid = "smudge" if high == SMUDGE_BID else f"bid {high}"
        drawing.text(x, middle + 26, bid, 13, INK, anchor="middle")


def _lay_panel(drawing: Drawing, scene: Scene, left: float) -> float:
    """Draws the record of the deal; returns where it ends."""
    drawing.text(left, 40, variant_name(scene.rules).replace("_", " "), 20, INK, is_bold=True)
    drawing.text(left, 60, heading(scene), 11.5, FAINT)
    end = _lay_calls(drawing, scene, left, 92)
    end = _lay_tricks(drawing, scene, left, end)
    end = _lay_piles(drawing, scene, left, end)
    return _lay_scores(drawing, scene, left, end)


def _title(drawing: Drawing, left: float, y: float, text: str) -> float:
    drawing.text(left, y, text, 12, FAINT, is_bold=True)
    drawing.shapes.append(Box(left, y + 5, PANEL_WIDTH - 40, 1, RIM))
    return y + 5 + ROW


def _lay_calls(drawing: Drawing, scene: Scene, left: float, y: float) -> float:
    """Draws the calls in turn."""
    y = _title(drawing, left, y, "AUCTION")
    order = [(int(scene.view["dealer"]) + 1 + k) % scene.rules.players for k in range(scene.rules.players)]
    for number, place in enumerate(order):
        x, line = left + 150 * (number % 2), y + ROW * (number // 2)
        is_pitcher = scene.view["pitcher"] == place
        drawing.text(x, line, f"Seat {scene.seat(place)}", 12.5, SIDE_FILLS[scene.side(place)], is_bold=True)
        drawing.text(x + 52, line, call_name(scene, place) or MINUS, 12.5, is_bold=is_pitcher)
    return y + ROW * ((len(order) + 1) // 2) + 12


def _lay_tricks(drawing: Drawing, scene: Scene, left: float, y: float) -> float:
    """Draws a table of the tricks, a column a seat, the leader's card with a dot and the winner's on gold."""
    y = _title(drawing, left, y, "TRICKS")
    seats = [(place - scene.seat(0)) % scene.rules.players for place in scene.places]
    wide = min(48.0, (PANEL_WIDTH - 62) / scene.rules.players)
    size = 13.0 if scene.rules.players <= 6 else 11.5
    for column, place in enumerate(seats):
        drawing.text(
            left + 22 + wide * (column + 0.5), y, str(scene.seat(place)), 12, SIDE_FILLS[scene.side(place)],
            anchor="middle", is_bold=True,
        )  # fmt: skip
    tricks = list(enumerate(scene.tricks, 1))[-MOST_TRICKS:]
    for number, trick in tricks:
        y += ROW
        drawing.text(left + 14, y, str(number), 11, FAINT, anchor="end")
        for column, place in enumerate(seats):
            if place not in trick.cards:
                continue
            x = left + 22 + wide * column
            if trick.is_complete and place == trick.winner:
                drawing.shapes.append(Box(x + 1, y - 15, wide - 2, 19, "#fbe6b3", radius=4))
            drawing.name(trick.cards[place], x + wide / 2 - size * 0.95, y, size, is_bold=place == trick.leader)
            if place in trick.blind:
                drawing.text(x + wide / 2 + size, y, "*", size, FAINT)
    return y + ROW * max(1, min(MOST_TRICKS, scene.rules.num_tricks) - len(tricks)) + 14


def _lay_piles(drawing: Drawing, scene: Scene, left: float, y: float) -> float:
    """Draws what else lies on the table, if anything does."""
    lines = _text_of_piles(scene)
    if not lines:
        return y
    y = _title(drawing, left, y, "TABLE")
    drawing.text(left, y, lines[0], 12)
    return y + ROW + 12


def _lay_scores(drawing: Drawing, scene: Scene, left: float, y: float) -> float:
    """Draws the score sheet (10.1): score, what is entered and owed, and what the deal brought so far."""
    y = _title(drawing, left, y, f"SCORE SHEET · TO {scene.rules.target}")
    is_over = scene.view["phase"] == OVER
    heads = ["to go" if scene.rules.count_down else "score", "sheet", "owes", "tricks", "Game", "deal"]
    for column, head in enumerate(heads):
        drawing.text(left + 84 + 42 * column, y, head, 11, FAINT, anchor="end")
    for side in range(scene.rules.sides):
        y += ROW
        drawing.shapes.append(Box(left, y - 10, 11, 11, SIDE_FILLS[side], radius=5.5))
        drawing.text(left + 16, y, f"Side {side}", 12, is_bold=True)
        score, owed = scene.of_side("scores", side), scene.of_side("debts", side)
        deal = f"{scene.of_side('points', side):+d}" if is_over else ""
        numbers = [
            shown_score(scene, side), score + owed, owed, scene.of_side("tricks", side),
            scene.of_side("game_values", side), deal,
        ]  # fmt: skip
        for column, number in enumerate(numbers):
            text, is_bold = str(number).replace("-", MINUS), column in (0, 5)
            drawing.text(left + 84 + 42 * column, y, text, 12.5, anchor="end", is_bold=is_bold)
    if is_over:
        y += ROW + 4
        drawing.text(left, y, _verdict(scene), 12.5, is_bold=True)
    return y + 8


def _verdict(scene: Scene) -> str:
    """Returns in words whether the bid was made, or who won the game."""
    v, sides = scene.view, scene.rules.sides
    if v["winner"] != NO_SIDE:
        return f"Side {(scene.seat(0) + int(v['winner'])) % sides} wins the game"
    if v["pitcher"] == NO_SEAT or v["num_plays"] == 0:
        return "A void deal"
    return "The deal is over"


# On paper


def as_svg(scene: Scene) -> str:
    """Returns the scene as an SVG document."""
    drawing = lay_out(scene)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{drawing.width:g}" height="{drawing.height:g}" '
        f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" font-family="Helvetica, Arial, DejaVu Sans, sans-serif">'
    ]
    for shape in drawing.shapes:
        if isinstance(shape, Box):
            lines.append(
                f'<rect x="{shape.x:.1f}" y="{shape.y:.1f}" width="{shape.width:.1f}" height="{shape.height:.1f}" '
                f'rx="{shape.radius:.1f}" fill="{shape.fill}" stroke="{shape.stroke}" stroke-width="{shape.line:g}"/>'
            )
        elif isinstance(shape, Polygon):
            points = " ".join(f"{x:.2f},{y:.2f}" for x, y in shape.points)
            lines.append(f'<polygon points="{points}" fill="{shape.fill}"/>')
        else:
            weight = ' font-weight="bold"' if shape.is_bold else ""
            lines.append(
                f'<text x="{shape.x:.1f}" y="{shape.y:.1f}" font-size="{shape.size:g}" fill="{shape.fill}" '
                f'text-anchor="{shape.anchor}"{weight}>{escape(shape.text)}</text>'
            )
    return "\n".join([*lines, "</svg>\n"])


FINER = 3
"""Pixels are drawn so many times finer and averaged: smooth edges."""


def as_image(scene: Scene, scale: float = 1.0) -> NDArray[np.uint8]:
    """Returns the scene as pixels, (H, W, 3) uint8; needs no display and no fonts of the system.

    Args:
        scene: what is drawn.
        scale: pixels for each unit of the SVG.

    Raises:
        gymnasium.error.DependencyNotInstalled: if Pillow is missing (the extra ``render``).
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError:
        from gymnasium.error import DependencyNotInstalled

        raise DependencyNotInstalled("rgb_array needs Pillow: pip install 'pitch-env[render]'") from None
    drawing = lay_out(scene)
    size = round(drawing.width * scale), round(drawing.height * scale)
    image = Image.new("RGB", (size[0] * FINER, size[1] * FINER), PAPER)
    pen, unit = ImageDraw.Draw(image), scale * FINER
    for shape in drawing.shapes:
        if isinstance(shape, Box):
            corners = (
                shape.x * unit, shape.y * unit, (shape.x + shape.width) * unit, (shape.y + shape.height) * unit
            )  # fmt: skip
            stroke = None if shape.stroke == "none" else shape.stroke
            line = round(shape.line * unit) if stroke else 0
            pen.rounded_rectangle(corners, shape.radius * unit, shape.fill, stroke, line)
        elif isinstance(shape, Polygon):
            pen.polygon([(x * unit, y * unit) for x, y in shape.points], shape.fill)
        else:
            font = _font(round(shape.size * unit))
            pen.text(
                (shape.x * unit, shape.y * unit), shape.text, shape.fill, font,
                {"start": "ls", "middle": "ms", "end": "rs"}[shape.anchor],
                stroke_width=round(shape.size * unit / 36) if shape.is_bold else 0,
            )  # fmt: skip
    return np.asarray(image.resize(size, Image.Resampling.BOX), np.uint8).copy()


@cache
def _font(size: int) -> Any:
    """Returns Pillow's own font, so that pictures are the same on every machine."""
    from PIL import ImageFont

    return ImageFont.load_default(size)
