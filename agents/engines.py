"""Engines in any language: programs that are told what a seat knows, one JSON line a turn (``docs/engines.md``)."""

import json
import logging
import queue
import shlex
import shutil
import subprocess
import threading
import weakref
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, actions_in
from pitch_env.cards import CARD_NAMES, NO_CARD, NO_SUIT, card_names, cards_in
from pitch_env.engine.state import NO_CALL, NO_SEAT, PHASES, SMUDGE_BID
from pitch_env.rules import Rules

FORMAT = "pitch-engine/1"

SECONDS = 10.0
"""What an engine may take for a turn, unless its name says otherwise."""

START_SECONDS = 30.0
"""What it may take to answer the rules."""

MOST_FAILURES = 3
"""Turns in a row without an answer after which an engine is asked no more."""

LONGEST_LINE = 1 << 16
"""Bytes of an answer."""

TRUMPS = "CDHS"

log = logging.getLogger(__name__)


class EngineError(ValueError):
    """An engine did not do its part; the message says what was wanted."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        """Under what a match report counts it."""


def told(view: Any, rules: Rules) -> dict[str, Any]:
    """Returns what a ``VIEW`` record says in names, as plain JSON types; seats and sides are those of the table."""
    seat, players, sides = int(view["seat"]), rules.players, rules.sides

    def seats(name: str) -> list[int]:
        return [int(view[name][(k - seat) % players]) for k in range(players)]

    def by_side(name: str) -> list[int]:
        return [int(view[name][(k - seat) % sides]) for k in range(sides)]  # 1.1

    def seat_of(left: Any) -> int | None:
        return None if left == NO_SEAT else (int(left) + seat) % players

    def cards(name: str, dups: str) -> str:
        return card_names(cards_in(view[name], view[dups]))

    trump, turn_up, high_bid = int(view["trump"]), int(view["turn_up"]), int(view["high_bid"])
    plays = range(int(view["num_plays"]))
    return {
        "legal": [ACTION_NAMES[action] for action in actions_in(view["legal_cards"], view["legal_calls"])],
        "seat": seat,
        "phase": PHASES[view["phase"]],
        "dealer": seat_of(view["dealer"]),
        "scores": by_side("scores"),
        "debts": by_side("debts"),
        "calls": [None if call == NO_CALL else ACTION_NAMES[call] for call in seats("calls")],
        "pitcher": seat_of(view["pitcher"]),
        "high_bid": None if view["pitcher"] == NO_SEAT else "smudge" if high_bid == SMUDGE_BID else high_bid,
        "trump": None if trump == NO_SUIT else "NT" if trump == len(TRUMPS) else TRUMPS[trump],
        "hand": cards("hand", "hand_dups"),
        "discards": cards("discards", "discard_dups"),
        "must_go": int(view["must_go"]),
        "widow": cards("widow", "widow_dups"),
        "swapped": cards("swapped", "swapped_dups"),
        "turn_up": "" if turn_up == NO_CARD else CARD_NAMES[turn_up],
        "num_cards": seats("num_cards"),
        "num_face_down": seats("num_face_down"),
        "num_discarded": seats("num_discarded"),
        "stock_size": int(view["stock_size"]),
        "plays": [[seat_of(view["play_seats"][k] & 7), CARD_NAMES[view["plays"][k]]] for k in plays],
        "trick_start": int(view["trick_start"]),
        "game_values": by_side("game_values"),
        "tricks": by_side("tricks"),
    }


class Engine:
    """A running engine, which has answered the rules.

    Args:
        command: program and arguments.
        rules: what it is to play.

    Raises:
        EngineError: if it cannot be started, or does not answer.
    """

    def __init__(self, command: list[str], rules: Rules) -> None:
        self._name = shlex.join(command)
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise EngineError("stopped", f"{self._name} cannot be started: {error.strerror}") from None
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()
        self.close = weakref.finalize(self, _stop, self._process)
        try:
            self.ask({"format": FORMAT, "rules": rules.to_dict()}, START_SECONDS)
        except EngineError:
            self.close()
            raise

    def ask(self, message: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Returns the JSON object with which the engine answers a message.

        Raises:
            EngineError: if it does not answer in time, has stopped, or answers with anything else.
        """
        program, stdin = self._name, self._process.stdin
        assert stdin is not None
        while not self._lines.empty():  # what it said without being asked
            self._lines.get()
        try:
            stdin.write(json.dumps(message).encode() + b"\n")
            stdin.flush()
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            raise EngineError("time-out", f"{program} did not answer within {seconds:g} seconds") from None
        except OSError:
            line = b""
        if not line:
            raise EngineError("stopped", f"{program} stopped, where an answer was wanted")
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            raise EngineError("malformed answer", f"{program} answered {line!r:.80}, no JSON object")
        return answer


def _read(stdout: Any, lines: "queue.SimpleQueue[bytes]") -> None:
    """Passes lines on until there are no more, and then an empty one."""
    line = b"\n"
    while line:
        line = stdout.readline(LONGEST_LINE)
        lines.put(line)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


class ExecAgent:
    """Plays what an engine answers. Where it gives no legal answer, its turn is forfeit: the first legal action.

    An engine that is late or has stopped is started again for the next turn; after ``MOST_FAILURES`` turns in a row
    it is asked no more.

    Args:
        command: program and arguments.
        rules: what it plays.
        seconds: what it may take for a turn.

    Raises:
        EngineError: if it cannot be started, or does not answer the rules.
    """

    def __init__(self, command: list[str], rules: Rules, seconds: float = SECONDS) -> None:
        self.forfeits: Counter[str] = Counter()
        """Turns forfeited, by reason."""
        self._command, self._rules, self._seconds = command, rules, seconds
        self._engine: Engine | None = Engine(command, rules)
        self._failures = 0

    def __reduce__(self) -> Any:
        return ExecAgent, (self._command, self._rules, self._seconds)

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        return np.array([self._choose(view) for view in views], np.int64)

    def _choose(self, view: Any) -> int:
        legal = actions_in(view["legal_cards"], view["legal_calls"])
        try:
            return self._answer(view, legal)
        except EngineError as error:
            if error.reason not in self.forfeits:
                log.warning("%s; the turn is forfeit: %s is played", error, ACTION_NAMES[legal[0]])
            self.forfeits[error.reason] += 1
            return legal[0]

    def _answer(self, view: Any, legal: list[int]) -> int:
        """Returns the action that the engine answers.

        Raises:
            EngineError: if it gives no legal answer.
        """
        name = shlex.join(self._command)
        if self._failures >= MOST_FAILURES:
            raise EngineError("given up", f"{name} failed {MOST_FAILURES} times in a row, is asked no more")
        message = told(view, self._rules)
        try:
            self._engine = self._engine or Engine(self._command, self._rules)
            answer = self._engine.ask(message, self._seconds).get("action")
        except EngineError as error:
            if error.reason != "malformed answer":
                self._failures += 1
                if self._engine is not None:
                    self._engine.close()
                self._engine = None
            raise
        self._failures = 0
        if answer not in message["legal"]:
            choice = ", ".join(message["legal"])
            raise EngineError("illegal action", f"{name} answered {answer!r:.40}, legal were {choice}")
        return ACTION_NAMES.index(answer)


def exec_agent(rules: Rules, argument: str | None) -> ExecAgent:
    """Makes the agent ``exec:[seconds=S] PROGRAM ARGUMENTS``; no shell reads the command.

    Raises:
        ValueError: if there is no such program, it cannot be started or does not answer the rules.
    """
    try:
        command = shlex.split(argument or "")
    except ValueError as error:
        raise ValueError(f"exec:{argument}: {error}") from None
    seconds = SECONDS
    if command and command[0].startswith("seconds="):
        given = command.pop(0).removeprefix("seconds=")
        try:
            seconds = float(given)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < threading.TIMEOUT_MAX:
            raise ValueError(f"exec:{argument}: seconds={given}: a number above zero is wanted")
    if not command:
        raise ValueError("exec needs a program, as in exec:./engine --depth 3")
    if shutil.which(command[0]) is None:
        raise ValueError(f"exec:{argument}: there is no program {command[0]}, or it may not be executed")
    return ExecAgent(command, rules, seconds)
