"""Named positions: small ones with a known best call or card, and how many of them an agent gets right.

They lie in ``agents/positions.toml``, each with the deal, what happened so far, the right actions and the reason.
"""

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

import agents
from pitch_env.actions import ACTION_NAMES, action_name
from pitch_env.agent import Agent, make_agent
from pitch_env.game import Game
from pitch_env.observation import VIEW
from pitch_env.seeds import generator

POSITIONS = Path(agents.__file__).parent / "positions.toml"
"""The file that comes with the agents."""


class PositionError(ValueError):
    """A file of positions that is malformed, or an agent that cannot be scored on them."""


class _Entry(BaseModel):
    """A position as it is written."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str
    rules: str = "auction_pitch"
    dealer: int
    hands: list[str]
    stock: str = ""
    scores: list[int] | None = None
    calls: str = ""
    plays: list[str] = []
    best: list[str] = Field(min_length=1)
    why: str


@dataclass(frozen=True)
class Position:
    """A seat that is to move, and what it should do."""

    name: str
    """Unique in its file."""
    rules: str
    """Name of the variant."""
    game: Game
    """The game at this position."""
    right: tuple[str, ...]
    """Names of the right actions: as good as each other, better than all others."""
    why: str
    """The reason, in a sentence."""


def read_positions(path: Path = POSITIONS) -> list[Position]:
    """Reads a file of positions, an array of tables ``position``.

    Each has ``name``, ``rules``, ``dealer``, ``hands`` (of all seats), ``stock`` and ``scores`` as
    :meth:`Game.from_deal` takes them, ``calls`` (with commas between; names and discards of the exchange too),
    ``plays`` (a text for each trick), ``best`` (the right actions) and ``why``.

    Raises:
        PositionError: if the file is malformed, or a position cannot be reached; the message names it.
        OSError: if the file cannot be read.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("position")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PositionError(f"{path}: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise PositionError(f"{path} has no [[position]]")
    positions = [_position(entry, number, path) for number, entry in enumerate(entries, 1)]
    if twice := [name for name, count in Counter(position.name for position in positions).items() if count > 1]:
        raise PositionError(f"{path}: two positions are named {twice[0]!r:.80}")
    return positions


def _position(fields: object, number: int, path: Path) -> Position:
    name = fields.get("name") if isinstance(fields, dict) else None
    where = f"{path}, position {number} ({name!r:.80})"
    try:
        entry = _Entry.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise PositionError(f"{where}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    try:
        game = Game.from_deal(entry.rules, entry.hands, entry.dealer, entry.scores, stock=entry.stock)
        for call in filter(None, map(str.strip, entry.calls.split(","))):
            game.play(call)
        for card in " ".join(entry.plays).split():
            game.play(card)
    except ValueError as error:
        raise PositionError(f"{where}: {error}") from None
    legal = game.legal_names()
    if wrong := [action for action in entry.best if action not in legal]:
        raise PositionError(f"{where}: best {wrong[0]!r:.80} is not legal; legal: {', '.join(legal) or 'nothing'}")
    return Position(entry.name, entry.rules, game, tuple(entry.best), entry.why)


def score(agent: str, positions: list[Position], seed: int = 0) -> dict[str, Any]:
    """Lets an agent move in each position.

    Args:
        agent: its name; it is made for the rules of each position.
        positions: as :func:`read_positions` gives them.
        seed: of what the agent draws.

    Returns:
        ``agent``, ``right`` and ``positions`` (counts), ``score`` (their ratio) and ``failures``: of each ``name``,
        ``rules``, ``chosen``, ``right`` and ``why``.

    Raises:
        PositionError: if there are no positions, the agent cannot be made, plays only with all cards shown, or chooses
            what is not legal.
    """
    if not positions:
        raise PositionError("there are no positions to score an agent on")
    rng = generator(seed)
    failures = []
    for rules in dict.fromkeys(position.rules for position in positions):
        player = _player(agent, rules)
        mine = [position for position in positions if position.rules == rules]
        for position, chosen in zip(mine, _choices(agent, player, mine, rng), strict=True):
            if chosen not in position.right:
                failures.append({
                    "name": position.name, "rules": rules, "chosen": chosen, "right": list(position.right),
                    "why": position.why,
                })  # fmt: skip
    right = len(positions) - len(failures)
    return {
        "agent": agent,
        "right": right,
        "positions": len(positions),
        "score": right / len(positions),
        "failures": failures,
    }


def _player(agent: str, rules: str) -> Agent:
    try:
        player = make_agent(agent, rules)
    except (ValueError, OSError) as error:
        raise PositionError(f"{error} (positions of {rules}; --rules picks those of one variant)") from None
    if not isinstance(player, Agent):
        raise PositionError(f"{agent} needs to see all cards; a position shows only what the seat to move may know")
    return player


def _choices(agent: str, player: Agent, positions: list[Position], rng: np.random.Generator) -> list[str]:
    """Returns the name of what an agent does in each position of one variant."""
    views = np.array([position.game.view(_to_move(position)) for position in positions], VIEW)
    actions = np.asarray(player.act(views, rng))
    if actions.shape != (len(positions),):
        raise PositionError(f"{agent} was given {len(positions)} views and chose actions of shape {actions.shape}")
    names = []
    for position, action in zip(positions, actions, strict=True):
        if int(action) not in position.game.legal_actions():
            name = action_name(int(action)) if 0 <= action < len(ACTION_NAMES) else str(action)
            raise PositionError(f"{agent} chose {name} in position {position.name!r}, which is not legal")
        names.append(ACTION_NAMES[int(action)])
    return names


def _to_move(position: Position) -> int:
    seat = position.game.seat
    assert seat is not None  # some action is legal there
    return seat
