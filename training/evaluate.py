"""Duplicate matches: how much better one agent is than another, with an interval.

Every deal is played once for each side: agent A sits on that side, agent B on all others. A deal's *margin* is the
mean over those tables of what A's side scored minus the mean of the other sides (points), or A's share of games won.
Margins of different deals are independent, those of one deal's tables are not: intervals are clustered by deal.

Axis letters: N deals of a block, T tables of a deal (one a side).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.agent import Agent, ClairvoyantAgent, make_agent
from pitch_env.engine.deal import next_deal
from pitch_env.engine.jit import kernel
from pitch_env.engine.state import MADE, OVER, SMUDGE_BID, STATE
from pitch_env.engine.step import apply, legal, skip_void, start
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules, load_rules
from training.selfplay import net_points

BLOCK = 2048
"""Deals that are played side by side; a fixed number, so that results do not depend on memory or threads."""

MOST_DEALS = 1000
"""Deals after which a game that nobody wins is given up, as a draw."""

Z95 = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


class IllegalChoiceError(ValueError):
    """An agent chose an action that was not legal."""


@dataclass
class Match:
    """The result of a match of agent A against agent B."""

    margins: NDArray[np.float64]
    """(deals,) margin of A in each deal, or its share of the tables' games won."""
    num_tables: int
    """Tables that each deal was played at."""
    bids: dict[str, dict[str, Any]]
    """For ``a`` and ``b``: how often it won the auction with each bid, and made it."""
    decisions: dict[str, int]
    """For ``a`` and ``b``: decisions made."""
    seconds: dict[str, float]
    """For ``a`` and ``b``: seconds spent on them."""
    unfinished: int = 0
    """Games given up without a winner, counted as half a win."""

    @property
    def mean(self) -> float:
        """Mean margin."""
        return float(self.margins.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean margin."""
        half = Z95 * float(self.margins.std(ddof=1)) / len(self.margins) ** 0.5 if len(self.margins) > 1 else np.inf
        return self.mean - half, self.mean + half


@kernel
def _start_block(states: Any, rules: Any, seed: int, first_table: int, num_tables: int) -> None:
    """Deals each of N deals at T tables; modifies ``states`` (N·T,)."""
    for i in range(len(states)):
        start(states[i], rules[0], seed, first_table + i // num_tables)


@kernel
def _rows_of(states: Any, rules: Any, num_tables: int, want_a: bool, rows: Any, views: Any) -> int:
    """Finds the tables at which the wanted agent is to move; returns how many.

    Modifies ``rows`` (N·T,) and ``views`` (N·T,): their indices and the views of their movers.
    """
    r = rules[0]
    num = 0
    for i in range(len(states)):
        if states[i].phase == OVER:
            continue
        if (r.side_of[states[i].seat] == i % num_tables) == want_a:
            look(states[i], r, states[i].seat, views[num])
            rows[num] = i
            num += 1
    return num


@kernel
def _play_rows(states: Any, rules: Any, rows: Any, actions: Any) -> int:
    """Does one action at each of some tables; returns the first that is not legal, -1 if all are."""
    for j in range(len(rows)):
        cards, calls = legal(states[rows[j]], rules[0])
        action = actions[j]
        if action < 0 or action >= NUM_ACTIONS:
            return j
        bits = cards >> action if action < FIRST_CALL else calls >> (action - FIRST_CALL)
        if not bits & 1:
            return j
        apply(states[rows[j]], rules[0], action)
    return -1


@kernel
def _count_bids(states: Any, rules: Any, num_tables: int, fresh: Any, bids: Any, points: Any) -> None:
    """Tallies deals that have just ended; modifies ``bids`` (2, 17, 2) and ``points`` (N·T,), A's margin at each."""
    r = rules[0]
    for i in range(len(states)):
        s = states[i]
        if s.phase != OVER or not fresh[i]:
            continue
        fresh[i] = False
        side = i % num_tables
        points[i] += net_points(s, r, side)
        if not s.void:
            who = 0 if r.side_of[s.pitcher] == side else 1
            bids[who, s.high_bid, 0] += 1
            if s.made == MADE:
                bids[who, s.high_bid, 1] += 1


@kernel
def _next_deals(states: Any, rules: Any, num_deals: Any, most: int, fresh: Any) -> int:
    """Deals again where a game goes on; returns how many games do. Modifies ``states``, ``num_deals``, ``fresh``."""
    going = 0
    for i in range(len(states)):
        s = states[i]
        if s.phase == OVER and s.winner < 0 and num_deals[i] < most:
            num_deals[i] += 1
            next_deal(s, rules[0])
            skip_void(s, rules[0])
            fresh[i] = True
            going += 1
    return going


def play_match(
    rules: Rules,
    agent_a: Agent | ClairvoyantAgent,
    agent_b: Agent | ClairvoyantAgent,
    num_deals: int,
    seed: int = 0,
    whole_games: bool = False,
    progress: Callable[[int, Match], None] | None = None,
) -> Match:
    """Plays a duplicate match.

    Args:
        rules: the rules of the table.
        agent_a: plays one side at each table.
        agent_b: plays all other sides.
        num_deals: deals, or games, each played at one table for each side.
        seed: decides deals and the agents' random numbers; the same match gives the same result.
        whole_games: play games to the end, the tables of a game from the same stream of deals.
        progress: called after each block with the number of deals done and the match so far.

    Raises:
        IllegalChoiceError: if an agent chooses an action that is not legal.
    """
    match = Match(np.empty(0), rules.sides, {"a": {}, "b": {}}, {"a": 0, "b": 0}, {"a": 0.0, "b": 0.0})
    bids = np.zeros((2, SMUDGE_BID + 1, 2), np.int64)
    margins = []
    for block, first in enumerate(range(0, num_deals, BLOCK)):
        size = min(BLOCK, num_deals - first)
        rng = np.random.default_rng([seed & 0xFFFF_FFFF_FFFF_FFFF, block])
        margins.append(_play_block(rules, (agent_a, agent_b), first, size, seed, whole_games, rng, bids, match))
        match.margins = np.concatenate(margins)
        match.bids = {who: _bid_table(bids[k]) for k, who in enumerate("ab")}
        if progress is not None:
            progress(len(match.margins), match)
    return match


def _play_block(
    rules: Rules,
    agents: tuple[Agent | ClairvoyantAgent, Agent | ClairvoyantAgent],
    first: int,
    size: int,
    seed: int,
    whole_games: bool,
    rng: np.random.Generator,
    bids: NDArray[np.int64],
    match: Match,
) -> NDArray[np.float64]:
    """Plays deals ``first`` … ``first + size − 1``; returns A's margin in each."""
    tables, num_tables = compile_rules(rules), rules.sides
    total = size * num_tables
    states, views, rows = np.zeros(total, STATE), np.zeros(total, VIEW), np.empty(total, np.int64)
    num_deals, fresh, points = np.ones(total, np.int64), np.ones(total, np.bool_), np.zeros(total)
    _start_block(states, tables, seed, first, num_tables)
    while True:
        moved = False
        for agent, who in zip(agents, "ab", strict=True):
            num = _rows_of(states, tables, num_tables, who == "a", rows, views)
            if num == 0:
                continue
            moved = True
            began = time.perf_counter()
            if isinstance(agent, ClairvoyantAgent):
                actions = agent.act_on_states(states[rows[:num]], rng)
            else:
                actions = agent.act(views[:num], rng)
            match.seconds[who] += time.perf_counter() - began
            match.decisions[who] += num
            wrong = _play_rows(states, tables, rows[:num], np.asarray(actions, np.int64))
            if wrong >= 0:
                raise IllegalChoiceError(f"agent {who.upper()} chose action {actions[wrong]}, which is not legal")
        if not moved:
            _count_bids(states, tables, num_tables, fresh, bids, points)
            if not whole_games or _next_deals(states, tables, num_deals, MOST_DEALS, fresh) == 0:
                break
    if not whole_games:
        return points.reshape(size, num_tables).mean(axis=1)
    winners = states["winner"].reshape(size, num_tables)
    match.unfinished += int((winners < 0).sum())
    shares = np.where(winners < 0, 0.5, winners == np.arange(num_tables))
    return shares.mean(axis=1)


def _bid_table(counts: NDArray[np.int64]) -> dict[str, Any]:
    levels = {("smudge" if bid == SMUDGE_BID else str(bid)): counts[bid].tolist() for bid in range(SMUDGE_BID + 1)}
    return {level: {"won": won, "made": made, "rate": made / won} for level, (won, made) in levels.items() if won}


def evaluate(
    a: str,
    b: str,
    rules: Rules | str | Path = "auction_pitch",
    num_deals: int = 20_000,
    seed: int = 0,
    whole_games: bool = False,
    progress: Callable[[int, Match], None] | None = None,
) -> dict[str, Any]:
    """Plays agent ``a`` against agent ``b``, both by name, and returns what ``pitch evaluate --json`` prints.

    Raises:
        ValueError: if rules or agents are refused.
    """
    table = load_rules(rules)
    if num_deals < 2:
        raise ValueError(f"deals={num_deals}: an interval needs two or more")
    match = play_match(table, make_agent(a, table), make_agent(b, table), num_deals, seed, whole_games, progress)
    return {
        "a": a,
        "b": b,
        "unit": "share of games won" if whole_games else "points a deal",
        "mean": match.mean,
        "interval": list(match.interval),
        "deals": num_deals,
        "tables": num_deals * match.num_tables,
        "unfinished": match.unfinished,
        "seed": seed,
        "bids": {"a": match.bids["a"], "b": match.bids["b"]},
        "seconds_per_decision": {
            name: match.seconds[who] / max(1, match.decisions[who])
            for name, who in ((a, "a"), (b if b != a else f"{b} (B)", "b"))
        },
    }
