"""Match equity: how likely a side is to win the game from a pair of scores.

An agent plays deals against itself; what they change is sampled once, and value iteration over those outcomes gives
the probability to win from every pair of scores. Two sides only; an outcome is taken to be the same at all scores.

Axis letters: K outcomes, X scores, from ``lowest`` to just under the target and what may be reached above it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pitch_env.agent import Agent, make_agent
from pitch_env.engine.state import MADE, STATE
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW
from pitch_env.rules import Rules, load_rules
from pitch_env.seeds import generator
from training.config import write_text
from training.duplicate import EVERYBODY, IllegalChoiceError, apply_rows, find_movers, start_deals

FORMAT = "pitch-equity/1"


class EquityError(ValueError):
    """An equity table that cannot be made or read; the message says why."""


@dataclass(frozen=True)
class Equity:
    """The probability that the dealer's side wins, from every pair of scores before a deal."""

    rules: Rules
    """The rules of the game."""
    lowest: int
    """Lowest score of the table; what is below counts as this."""
    table: NDArray[np.float64]
    """(X, X) [dealer's side's score − lowest, the other side's score − lowest]."""
    num_deals: int
    """Deals from which outcomes were sampled."""
    agent: str
    """Who played them."""

    def of(self, dealing: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.float64]:
        """Returns the dealing side's equity at scores (N,) and (N,) before a deal."""
        top = len(self.table) - 1
        result: NDArray[np.float64] = self.table[
            np.clip(dealing - self.lowest, 0, top), np.clip(other - self.lowest, 0, top)
        ]
        return result

    def save(self, path: Path) -> None:
        """Writes the table as JSON, to a temporary name that is renamed."""
        about = {
            "format": FORMAT,
            "rules": self.rules.to_dict(),
            "lowest": self.lowest,
            "num_deals": self.num_deals,
            "agent": self.agent,
            "table": np.round(self.table, 6).tolist(),
        }
        write_text(path, json.dumps(about))

    @classmethod
    def load(cls, path: Path | str, rules: Rules) -> "Equity":
        """Reads a table.

        Raises:
            EquityError: if there is no such file, it is no equity table, or it is for other rules.
        """
        try:
            about = json.loads(Path(path).read_text(encoding="utf-8"))
            if about["format"] != FORMAT:
                raise EquityError(f"{path} has not the format {FORMAT}")
            table = np.array(about["table"], np.float64)
            its_rules = Rules.from_dict(about["rules"])
            found = cls(its_rules, int(about["lowest"]), table, int(about["num_deals"]), str(about["agent"]))
        except OSError as error:
            raise EquityError(f"{path}: {error.strerror or error}") from None
        except EquityError:
            raise
        except (ValueError, KeyError, TypeError) as error:
            raise EquityError(f"{path} is not an equity table: {error!r:.120}") from None
        if table.ndim != 2 or table.shape[0] != table.shape[1]:
            raise EquityError(f"{path} is not an equity table: shape {table.shape}")
        if found.rules != rules:
            theirs, mine = found.rules.to_dict(), rules.to_dict()
            wrong = [name for name in mine if mine[name] != theirs[name]]
            raise EquityError(f"{path} is for other rules: {', '.join(wrong)} differ")
        return found


def sample_outcomes(rules: Rules, agent: Agent, num_deals: int, seed: int) -> NDArray[np.int64]:
    """Plays deals at scores of zero with one agent in all seats.

    Returns:
        (K, 4) of each deal: points of the dealer's side and of the other, whether the dealer's side bid (1, 0, or −1
        in a void deal), whether the bid was made.

    Raises:
        IllegalChoiceError: if the agent chooses an action that is not legal.
    """
    tables, outcomes = compile_rules(rules), []
    for block, first in enumerate(range(0, num_deals, 4096)):
        size = min(4096, num_deals - first)
        states, views, rows = np.zeros(size, STATE), np.zeros(size, VIEW), np.empty(size, np.int64)
        rng = generator(seed, block)
        start_deals(states, tables, seed, first, 1)
        while num := find_movers(states, tables, 1, EVERYBODY, rows, views):
            if apply_rows(states, tables, rows[:num], agent.act(views[:num], rng)) >= 0:
                raise IllegalChoiceError("the agent chose an action that is not legal")
        dealing = states["dealer"] % 2
        mine = states["points"][np.arange(size), dealing]
        theirs = states["points"][np.arange(size), 1 - dealing]
        bid = np.where(states["void"] == 1, -1, states["pitcher"] % 2 == dealing)
        outcomes.append(np.stack([mine, theirs, bid, states["made"] == MADE], axis=1))
    return np.concatenate(outcomes).astype(np.int64)


def compute_equity(
    rules: Rules,
    agent: Agent,
    num_deals: int = 100_000,
    seed: int = 0,
    name: str = "",
    progress: Callable[[float], None] | None = None,
) -> Equity:
    """Returns the equity table of an agent's own play, by value iteration to a change below 1e-6.

    Args:
        rules: two sides; smudges must be paid in points that do not depend on the score.
        agent: plays all seats.
        num_deals: deals to sample outcomes from.
        seed: of those deals.
        name: what to call the agent in the table.
        progress: called after each iteration with the largest change.

    Raises:
        EquityError: if the rules have more than two sides.
    """
    if rules.sides != 2:
        raise EquityError(f"an equity table is for two sides, not sides={rules.sides}")
    outcomes = sample_outcomes(rules, agent, num_deals, seed)
    kinds, counts = np.unique(outcomes, axis=0, return_counts=True)
    lowest, highest = min(-30, -rules.target), rules.target + 30
    scores = np.arange(lowest, highest + 1)
    table = np.full((len(scores), len(scores)), 0.5)
    mine, theirs = np.meshgrid(scores, scores, indexing="ij")

    def places(of: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.clip(of - lowest, 0, len(scores) - 1)

    for _ in range(2000):
        new = np.zeros_like(table)
        for (gain, other, bid, made), count in zip(kinds, counts, strict=True):
            # 2.3  The deal passes to the other side.
            after, against = mine + gain, theirs + other
            going_on = 1 - table[places(against), places(after)]
            won = winners(rules, after, against, int(bid), bool(made))
            new += count * np.where(won >= 0, won, going_on)
        new /= counts.sum()
        change = float(np.abs(new - table).max())
        table = new
        if progress is not None:
            progress(change)
        if change < 1e-6:
            break
    return Equity(rules, lowest, table, num_deals, name)


def winners(
    rules: Rules, mine: NDArray[np.int64], theirs: NDArray[np.int64], bid: int, made: bool
) -> NDArray[np.int64]:
    """Returns who has won at some scores after a deal (9): 1 the dealing side, 0 the other, −1 nobody yet.

    ``bid`` is 1 if the dealing side bid, 0 if the other did, −1 if the deal was void.
    """
    won = np.full_like(mine, -1)
    if bid >= 0 and made:  # 9.1–9.3
        won[(mine if bid else theirs) >= rules.target] = bid
    if rules.out == "first_to_target":  # 9.2
        higher = np.where(mine == theirs, -1, mine > theirs)
        won = np.where((won < 0) & (np.maximum(mine, theirs) >= rules.target), higher, won)
    elif rules.out == "made_or_other_set" and bid >= 0 and not made:  # 9.3
        won[(theirs if bid else mine) >= rules.target] = 1 - bid
    return won


def equity_from(
    agent: str, rules: Rules | str | Path = "auction_pitch", num_deals: int = 100_000, seed: int = 0
) -> Equity:
    """Returns the equity table of an agent by name (:func:`compute_equity`).

    Raises:
        ValueError: if rules or agent are refused, or the rules have more than two sides.
    """
    table = load_rules(rules)
    return compute_equity(table, make_agent(agent, table), num_deals, seed, agent)


def drawing(equity: Equity, step: int = 3) -> str:
    """Returns the table as text: equity in per cent of the dealer's side (rows) and the other (columns)."""
    shown = np.arange(-equity.rules.target // 2, equity.rules.target, step)
    lines = [f"dealer's side \\ other  {' '.join(f'{score:>4}' for score in shown)}"]
    for mine in shown:
        row = equity.of(np.full(len(shown), mine), shown)
        lines.append(f"{mine:>22} {' '.join(f'{100 * share:>4.0f}' for share in row)}")
    return "\n".join(lines)
