"""One game in the terminal against named agents, in plain text.

Everything shown comes from the view of the player's seat, so nothing hidden can be.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pitch_env.actions import ACTION_NAMES, BLIND, STAND, actions_in
from pitch_env.agent import Agent, ClairvoyantAgent
from pitch_env.cards import CARD_NAMES, NO_CARD, NO_SUIT, card_names, cards_in
from pitch_env.engine.state import (
    AUCTION,
    EXCHANGE,
    MAX_SEATS,
    NO_CALL,
    NO_SEAT,
    SMUDGE_BID,
    WIDOW,
)  # fmt: skip
from pitch_env.engine.tables import compile_rules
from pitch_env.game import TRUMP_NAMES, DealResult, Game
from pitch_env.observation import VIEW
from pitch_env.rules import Rules
from pitch_env.seeds import generator

HELP = """Type an action as it is listed (bid 3, TH, pass, …), or
  hint   what the advising agent would do
  undo   takes back everything since your last decision
  show   shows the table again
  help   shows this
  quit   leaves the game"""


class GameLeftError(Exception):
    """The player has left: by ``quit``, the end of the input, or Ctrl-C."""


def choose(agent: Agent | ClairvoyantAgent, game: Game, rng: np.random.Generator) -> int:
    """Returns the action that an agent chooses for the seat to act."""
    if isinstance(agent, ClairvoyantAgent):
        return int(agent.act_on_states(np.array([game.state()]), rng)[0])
    assert game.seat is not None
    return int(agent.act(np.array([game.view(game.seat)], VIEW), rng)[0])


class TerminalGame:
    """A game between one person and agents.

    Attributes:
        game: the game.
        num_deals: deals finished so far.
    """

    def __init__(
        self,
        game: Game,
        seat: int,
        agents: Mapping[int, Agent],
        adviser: Agent,
        seed: int,
        read: Callable[[], str],
        write: Callable[[str], None],
    ) -> None:
        """Seats everybody.

        Args:
            game: a game that has just begun.
            seat: the person's seat.
            agents: who plays each other seat.
            adviser: who answers ``hint``.
            seed: of the agents' randomness.
            read: reads a line, "" at the end of the input.
            write: writes a text, as it is.
        """
        self.game = game
        self.num_deals = 0
        self._seat = seat
        self._agents = agents
        self._adviser = adviser
        self._rng = generator(seed)
        self._advice_rng = generator(seed, 1)
        self._read = read
        self._write = write

    def play(self) -> None:
        """Plays until a side goes out.

        Raises:
            GameLeftError: when the player leaves.
        """
        self._say(f"You sit in seat {self._seat}. Type help for what you may type.")
        self._announce()
        while True:
            if self.game.phase == "over":
                self._finish_deal()
                if self.game.winner is not None:
                    return
            elif self.game.seat == self._seat:
                self._turn()
            else:
                assert self.game.seat is not None
                self._do(choose(self._agents[self.game.seat], self.game, self._rng))

    def _say(self, text: str = "") -> None:
        self._write(text + "\n")

    def _announce(self) -> None:
        self._say(f"\n── New deal, {self._name(self.game.dealer)} deals ──")

    def _name(self, seat: int) -> str:
        return seat_name(seat, self._seat)

    def _do(self, action: int) -> None:
        """Does an action of the seat to act, and tells it."""
        seat = self.game.seat
        assert seat is not None
        before = self.game.view(self._seat)
        self.game.play(action)
        after = self.game.view(self._seat)
        self._say("  " + event_text(action, seat, self._seat, before, after))
        if after["num_plays"] > before["num_plays"] and after["num_plays"] % self.game.rules.players == 0:
            winner = (self._seat + int(after["best_seat"])) % self.game.rules.players
            self._say(f"  {self._name(winner)} {'take' if winner == self._seat else 'takes'} the trick")

    def _finish_deal(self) -> None:
        """Shows the result, and deals on when the player is ready."""
        assert self.game.deal_result is not None
        self._say("\n" + result_text(self.game.deal_result, self.game.rules))
        if self.game.winner is not None:
            self.num_deals += 1
            won = self.game.winner == self._seat % self.game.rules.sides
            self._say(f"\nSide {self.game.winner} wins the game: {'that is you!' if won else 'not you, this time.'}")
            return
        while True:
            word = self._ask("Enter for the next deal> ")
            if not word:
                self.num_deals += 1
                self.game.next_deal()
                self._announce()
                return
            if self._is_command(word):
                if self.game.phase != "over":
                    return
            else:
                self._say(f"{word!r:.80}: the deal is over; press Enter, or type undo or quit.")

    def _turn(self) -> None:
        """Shows the table and asks until something has been done."""
        self._say("\n" + position_text(self.game.view(self._seat), self.game.rules))
        while True:
            names = self.game.legal_names()
            word = self._ask("> ")
            action = next((name for name in names if name.casefold() == word.casefold()), None)
            if action is not None:
                self._do(ACTION_NAMES.index(action))
                return
            if self._is_command(word):
                if word.casefold() in ("undo", "show"):
                    return
            elif word:
                self._say(f"{word!r:.80} is not legal now. Legal: {', '.join(names)}. (help lists commands.)")

    def _ask(self, prompt: str) -> str:
        """Returns a line of the player's, without spaces around it.

        Raises:
            GameLeftError: at the end of the input, or on Ctrl-C.
        """
        self._write(prompt)
        try:
            line = self._read()
        except KeyboardInterrupt:
            line = ""
        if not line:
            self._say()
            raise GameLeftError
        return " ".join(line.split())

    def _is_command(self, word: str) -> bool:
        """Carries out a word that is no action; tells whether it was a command.

        Raises:
            GameLeftError: on ``quit``.
        """
        match word.casefold():
            case "quit" | "q" | "exit":
                raise GameLeftError
            case "help" | "h" | "?":
                self._say(HELP)
            case "hint":
                if self.game.phase == "over":
                    self._say("Nothing is to be decided now.")
                else:
                    self._say(f"Hint: {ACTION_NAMES[choose(self._adviser, self.game, self._advice_rng)]}")
            case "undo":
                self._undo()
            case "show":
                pass
            case _:
                return False
        return True

    def _undo(self) -> None:
        """Takes the game back to the player's last decision before this one."""
        earlier = self.game.copy()
        num_deals = self.num_deals
        try:
            while True:
                was_over = earlier.phase == "over"
                earlier.undo()
                if earlier.phase == "over" and not was_over:
                    num_deals -= 1
                if earlier.seat == self._seat:
                    break
        except ValueError:
            self._say("There is nothing to undo.")
            return
        self.game, self.num_deals = earlier, num_deals
        self._say("Taken back.")


def seat_name(seat: int, viewer: int | None) -> str:
    """Returns what a seat is called to somebody who sits at the table, or to nobody in particular (None)."""
    return "you" if seat == viewer else f"seat {seat}"


def event_text(action: int, seat: int, viewer: int | None, before: Any, after: Any) -> str:
    """Returns what was seen of an action.

    Args:
        action: what the seat did.
        seat: who did it.
        viewer: who looks on; None sees everything.
        before: a ``VIEW`` of before the action.
        after: one of after it.
    """
    who, name = seat_name(seat, viewer), ACTION_NAMES[action]
    is_own = viewer is None or seat == viewer
    if before["phase"] == EXCHANGE and action != STAND:
        return f"{who}: discard {name}" if is_own else f"{who}: discard a card"
    if action == BLIND:
        return f"{who}: blind, {CARD_NAMES[after['plays'][after['num_plays'] - 1]]}"
    if action < len(CARD_NAMES):
        verb = {AUCTION: "pitch", WIDOW: "discard face up"}.get(int(before["phase"]), "play")
        return f"{who}: {verb} {name}"
    return f"{who}: {name}"


def position_text(view: Any, rules: Rules) -> str:
    """Returns what a seat knows of a deal, in lines of text, and what it may do."""
    lines = public_lines(view, rules, int(view["seat"]))
    own = cards_in(view["discards"], view["discard_dups"])
    if own:
        lines.append("You discarded: " + card_names(own))
    if view["must_go"] > 0:
        lines.append(f"You must still discard {view['must_go']}.")
    lines.append("Hand: " + hand_text(view, rules))
    if view["to_move"]:
        lines.append("Legal: " + ", ".join(ACTION_NAMES[action] for action in legal_actions(view)))
    return "\n".join(lines)


def public_lines(view: Any, rules: Rules, viewer: int | None) -> list[str]:
    """Returns what all know of a deal, in lines of text.

    Args:
        view: a ``VIEW`` of any seat.
        rules: the rules of the table.
        viewer: the seat that is called you; None for none.
    """

    def name(left: int) -> str:
        return seat_name((int(view["seat"]) + left) % rules.players, viewer)

    lines = [score_text(view, rules, viewer), _bid_line(view, name)]
    calls = [(left, int(view["calls"][left])) for left in _from_dealer(view, rules)]
    told = [f"{name(left)} {ACTION_NAMES[call]}" for left, call in calls if call != NO_CALL]
    lines.append("Calls: " + (", ".join(told) or "none yet"))
    if view["turn_up"] != NO_CARD:
        lines.append(f"Turned up: {CARD_NAMES[view['turn_up']]}")
    lines += _count_lines(view, rules, name)
    if view["num_plays"] or view["phase"] >= EXCHANGE:
        lines.append(_trick_line(view, name))
    return lines


def legal_actions(view: Any) -> list[int]:
    """Returns the legal actions of a view, ascending."""
    return actions_in(view["legal_cards"], view["legal_calls"])


def hand_text(view: Any, rules: Rules) -> str:
    """Returns a hand, trumps first when they are known, each suit high to low."""
    table = compile_rules(rules)[0]
    trump = int(view["trump"])
    cards = cards_in(view["hand"], view["hand_dups"])
    if trump == NO_SUIT:
        order = sorted(cards, key=lambda card: (-(card // 13), -card))
        return card_names(order)
    trumps = [card for card in table["trump_order"][trump].tolist() for held in cards if held == card]
    rest = sorted((card for card in cards if card not in trumps), key=lambda card: (-(card // 13), -card))
    return " | ".join(part for part in (card_names(trumps), card_names(rest)) if part) or "empty"


def score_text(view: Any, rules: Rules, viewer: int | None) -> str:
    """Returns the score sheet as it stands: each side's score, column C and debt (9.4, 10.1)."""
    parts = []
    own = int(view["seat"]) % rules.sides
    for side in range(rules.sides):
        relative = (side - own) % rules.sides
        score, debt = int(view["scores"][relative]), int(view["debts"][relative])
        parts.append(
            f"side {side}{' (yours)' if side == own and viewer is not None else ''}: {sheet_text(score, debt, rules)}"
        )
    return f"Score to {rules.target}: " + "; ".join(parts)


def sheet_text(score: int, debt: int, rules: Rules) -> str:
    """Returns a side's score as it is shown, with its column and debt (9.4, 10.1)."""
    shown = f"{rules.target - score} to go" if rules.count_down else str(score)
    return f"{shown} [C {score + debt}, owes {debt}]"


def result_text(result: DealResult, rules: Rules) -> str:
    """Returns how a deal ended, in lines of text."""
    if result.void:
        lines = ["The deal is void."]
    else:
        what = "smudge" if result.bid == "smudge" else f"bid of {result.bid}"
        trump = f" in {result.trump}" if result.trump is not None else ""
        lines = [f"Seat {result.pitcher}'s {what}{trump} was {'made' if result.made else 'set'}."]
    for side in range(rules.sides):
        items = ", ".join(f"{name} {points}" for name, points in result.items[side].items()) or "nothing"
        entered, owed = result.sheet[side]
        lines.append(
            f"  side {side}: took {items}; {result.points[side]:+d}; enters {entered}; "
            f"now {sheet_text(result.scores[side], owed, rules)}"
        )
    return "\n".join(lines)


def _from_dealer(view: Any, rules: Rules) -> list[int]:
    """Returns the seats, relative, in the order in which they call."""
    return [(int(view["dealer"]) + 1 + place) % rules.players for place in range(rules.players)]


def _bid_line(view: Any, name: Callable[[int], str]) -> str:
    trump = "not known" if view["trump"] == NO_SUIT else TRUMP_NAMES[view["trump"]]
    bid = "no bid yet"
    if view["pitcher"] != NO_SEAT:
        number = "smudge" if view["high_bid"] == SMUDGE_BID else f"bid {view['high_bid']}"
        bid = f"{name(int(view['pitcher']))} {number}"
    return f"Dealer: {name(int(view['dealer']))}. High bid: {bid}. Trumps: {trump}."


def _count_lines(view: Any, rules: Rules, name: Callable[[int], str]) -> list[str]:
    """Returns lines on what all know of cards that nobody sees."""
    lines = []
    for field, title in (("num_discarded", "Discarded"), ("num_face_down", "Face down")):
        if view[field].any():
            lines.append(f"{title}: " + ", ".join(f"{name(left)} {view[field][left]}" for left in range(rules.players)))
    if view["num_swapped"]:
        lines.append("Discarded face up: " + card_names(cards_in(view["swapped"], view["swapped_dups"])))
    if view["num_plays"] >= rules.players:
        lines.append("Taken: " + "; ".join(_taken(view, side, rules) for side in range(rules.sides)))
    return lines


def _taken(view: Any, side: int, rules: Rules) -> str:
    """Returns how much a side has taken: tricks, and what they count toward Game (7.4)."""
    relative = (side - int(view["seat"])) % rules.sides
    game = f", Game {view['game_values'][relative]}" if "game" in rules.items else ""
    return f"side {side} tricks {view['tricks'][relative]}{game}"


def _trick_line(view: Any, name: Callable[[int], str]) -> str:
    plays = range(int(view["trick_start"]), int(view["num_plays"]))
    cards = [f"{name(int(view['play_seats'][k]) % MAX_SEATS)} {CARD_NAMES[view['plays'][k]]}" for k in plays]
    line = f"Trick {view['trick'] + 1}: " + (", ".join(cards) or "nothing yet")
    return line + (f" ({name(int(view['best_seat']))} ahead)" if cards else "")
