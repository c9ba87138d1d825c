"""Duplicate matches: how much better one agent is than another, with an interval.

A deal's *margin* is the mean over its tables of what A's side scored minus the mean of the other sides (points), or
A's share of games won. Margins of different deals are independent, those of one deal's tables are not: intervals are
clustered by deal. How many deals a match has is its *goal*: a number, as many as a narrow interval wants, or as many
as a sequential test wants. ``docs/evaluation.md`` has the formulas.

Axis letters: N deals, T tables of a deal (one a side).
"""

import math
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import joblib
import numpy as np
from numpy.typing import NDArray

from pitch_env.agent import make_agent
from pitch_env.engine.state import SMUDGE_BID
from pitch_env.rules import Rules, load_rules
from training.duplicate import SOURCES, Player, Tally, play_block

BLOCK = 512
"""Deals that are played side by side; a fixed number, so that results do not depend on memory or processes."""

PILOT = 4 * BLOCK
"""Deals from which a planner estimates the variance."""

NUM_DEALS = 20_000
"""Deals of a match that nothing else is said of."""

MOST = 60_000
"""Deals after which a planned or sequential match ends in any case."""

EXPECTED_STOP = 10_000
"""Number of deals at which the interval of a sequential match is narrowest for what it promises."""

BACKENDS = ("loky", "ray", "dask")
"""How processes are run: on this machine, in a Ray cluster, in a Dask cluster."""

Z95 = 1.959963984540054
"""Quantile of the normal distribution for 95 % intervals."""


@dataclass
class Match:
    """The result of a match of agent A against agent B."""

    tally: Tally
    """How its deals went."""
    goal: "Goal"
    """How many deals it was to have, and why."""

    @property
    def margins(self) -> NDArray[np.float64]:
        """(N,) margin of A in each deal, or its share of the tables' games won."""
        margins: NDArray[np.float64] = self.tally.margins.mean(axis=1)
        return margins

    @property
    def mean(self) -> float:
        """Mean margin."""
        return float(self.margins.mean())

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the mean margin, right for the way in which the match was stopped."""
        half = self.goal.half_width(self.margins)
        return self.mean - half, self.mean + half

    @property
    def variance_reduction(self) -> float | None:
        """How many times the variance is less than that of as many tables with fresh deals; None if it is zero.

        A fresh deal at each table: the mean of T independent margins, one with A on each side.
        """
        tables = self.tally.margins
        if len(tables) < 2:
            return None
        own = float(self.margins.var(ddof=1))
        fresh = float(tables.var(axis=0, ddof=1).sum()) / tables.shape[1] ** 2
        return fresh / own if own > 0 else None

    @property
    def bids(self) -> dict[str, dict[str, Any]]:
        """For ``a`` and ``b``, by bid: auctions ``won`` with it, ``made``, ``rate``, ``points`` it gained a deal."""
        names = [*map(str, range(SMUDGE_BID)), "smudge"]
        return {
            who: {
                name: {"won": int(won), "made": int(made), "rate": made / won, "points": points / won}
                for name, (won, made, points) in zip(names, self.tally.bids[k].tolist(), strict=True)
                if won
            }
            for k, who in enumerate("ab")
        }

    @property
    def sources(self) -> dict[str, float]:
        """A's margin in points a deal by where it came from, zeros left out; the parts sum to the margin."""
        own, others = self.tally.sources
        parts = (own - others / (self.tally.margins.shape[1] - 1)) / self.tally.num_deals
        used = own.astype(bool) | others.astype(bool)
        return {name: float(part) for name, part, is_used in zip(SOURCES, parts, used, strict=True) if is_used}


# Goals


class Goal(Protocol):
    """How many deals a match is to have."""

    def deals(self, margins: NDArray[np.float64]) -> int:
        """Returns how many deals the match is to have, judged from the margins (N,) of those played so far."""
        ...

    def half_width(self, margins: NDArray[np.float64]) -> float:
        """Returns half the width of the 95 % interval of the mean margin."""
        ...

    def report(self, margins: NDArray[np.float64]) -> dict[str, Any]:
        """Returns what there is to say of it, as plain JSON types."""
        ...


@dataclass(frozen=True)
class Fixed:
    """A given number of deals."""

    num_deals: int
    """How many."""

    def deals(self, margins: NDArray[np.float64]) -> int:
        """See :class:`Goal`."""
        return self.num_deals

    def half_width(self, margins: NDArray[np.float64]) -> float:
        """See :class:`Goal`; of the normal distribution."""
        return Z95 * float(margins.std(ddof=1)) / math.sqrt(len(margins)) if len(margins) > 1 else math.inf

    def report(self, margins: NDArray[np.float64]) -> dict[str, Any]:
        """See :class:`Goal`."""
        return {"kind": "deals", "deals": self.num_deals}


@dataclass(frozen=True)
class HalfWidth:
    """As many deals as an interval of this half-width wants, judged from a pilot of ``PILOT`` deals (Stein 1945)."""

    width: float
    """Half the width of the 95 % interval."""
    most: int = MOST
    """Deals at most."""

    def __post_init__(self) -> None:
        if not 0 < self.width < math.inf:
            raise ValueError(f"half-width={self.width}: a number above zero is wanted")

    def planned(self, margins: NDArray[np.float64]) -> int:
        """Returns the deals that the half-width wants, were there no end."""
        return max(PILOT, math.ceil((Z95 * float(margins[:PILOT].std(ddof=1)) / self.width) ** 2))

    def deals(self, margins: NDArray[np.float64]) -> int:
        """See :class:`Goal`."""
        return min(PILOT if len(margins) < PILOT else self.planned(margins), self.most)

    def half_width(self, margins: NDArray[np.float64]) -> float:
        """See :class:`Goal`."""
        return Fixed(len(margins)).half_width(margins)

    def report(self, margins: NDArray[np.float64]) -> dict[str, Any]:
        """See :class:`Goal`: the half-width, the deals it wants, whether they were played."""
        planned = self.planned(margins)
        return {"kind": "half-width", "half_width": self.width, "planned": planned, "reached": planned <= self.most}


@dataclass(frozen=True)
class Sequential:
    """Deals until it is decided whether the margin is ``low`` or ``high``: Wald's test after each block.

    The log-likelihood ratio is that of normal margins with the variance seen so far; each error is made with a
    probability of at most ``error``. The interval holds at all blocks together (a confidence sequence, Waudby-Smith
    et al. 2021), so that it is right wherever the test stops.
    """

    low: float
    """Margin of the hypothesis H0."""
    high: float
    """Margin of the hypothesis H1."""
    most: int = MOST
    """Deals at most; then it stays undecided."""
    error: float = 0.05
    """Probability to decide for H1 when H0 holds, and the other way round."""

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"sprt={self.low},{self.high}: two margins are wanted, the lower one first")

    @property
    def bound(self) -> float:
        """Log-likelihood ratio that decides."""
        return math.log((1 - self.error) / self.error)

    def ratio(self, margins: NDArray[np.float64]) -> float:
        """Returns the log-likelihood ratio of H1 to H0; infinite if all margins are the same."""
        away = float(margins.mean()) - (self.low + self.high) / 2
        variance = float(margins.var(ddof=1))
        if variance == 0:
            return math.copysign(math.inf, away) if away else 0.0
        return len(margins) * (self.high - self.low) * away / variance

    def decision(self, margins: NDArray[np.float64]) -> str | None:
        """Returns ``H0`` or ``H1``, None while neither is decided."""
        ratio = self.ratio(margins)
        return None if abs(ratio) < self.bound else "H1" if ratio > 0 else "H0"

    def deals(self, margins: NDArray[np.float64]) -> int:
        """See :class:`Goal`."""
        is_decided = len(margins) >= min(BLOCK, self.most) and self.decision(margins) is not None
        return len(margins) if is_decided else self.most

    def half_width(self, margins: NDArray[np.float64]) -> float:
        """See :class:`Goal`; of the confidence sequence."""
        num, alpha = len(margins), 0.05
        spread = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / EXPECTED_STOP  # ρ², eq. 11 of the paper
        inside = num * spread + 1
        wide = math.sqrt(2 * inside / (num**2 * spread) * math.log(math.sqrt(inside) / alpha))
        return float(margins.std(ddof=1)) * wide

    def report(self, margins: NDArray[np.float64]) -> dict[str, Any]:
        """See :class:`Goal`: the hypotheses, the ratio and its bound, the decision or None."""
        ratio = self.ratio(margins)
        return {
            "kind": "sprt",
            "low": self.low,
            "high": self.high,
            "log_likelihood_ratio": ratio if math.isfinite(ratio) else None,
            "bound": self.bound,
            "decision": self.decision(margins),
        }


def goal_of(num_deals: int | None = None, half_width: float | None = None, sprt: str | None = None) -> Goal:
    """Returns the goal that the options of ``pitch evaluate`` name.

    Args:
        num_deals: deals; at most so many if another goal is given.
        half_width: of the interval that is wanted.
        sprt: two margins with a comma between.

    Raises:
        ValueError: if there are two goals, or one that makes no sense.
    """
    if half_width is not None and sprt is not None:
        raise ValueError("give half-width or sprt, not both")
    if half_width is not None:
        return HalfWidth(half_width, num_deals or MOST)
    if sprt is None:
        return Fixed(num_deals or NUM_DEALS)
    try:
        low, high = map(float, sprt.split(","))
    except ValueError:
        raise ValueError(f"sprt={sprt!r}: two margins with a comma between are wanted, as in 0,0.03") from None
    return Sequential(low, high, num_deals or MOST)


# Playing


def play_match(
    rules: Rules,
    agent_a: Player | str,
    agent_b: Player | str,
    num_deals: int | Goal,
    seed: int = 0,
    whole_games: bool = False,
    progress: Callable[[int, Match], None] | None = None,
    processes: int = 1,
    backend: str = "loky",
) -> Match:
    """Plays a duplicate match.

    Args:
        rules: the rules of the table.
        agent_a: plays one side at each table; by name, each process makes its own.
        agent_b: plays all other sides.
        num_deals: deals, or games, each played at one table for each side; or a goal that decides how many.
        seed: decides deals and the agents' random numbers; the same match gives the same result.
        whole_games: play games to the end, the tables of a game from the same stream of deals.
        progress: called after each block with the number of deals done and the match so far.
        processes: blocks that are played at the same time; the result does not depend on it.
        backend: one of ``BACKENDS``.

    Raises:
        IllegalChoiceError: if an agent chooses an action that is not legal.
        ValueError: if there is no such backend.
    """
    goal = Fixed(num_deals) if isinstance(num_deals, int) else num_deals
    match = Match(Tally(np.empty((0, rules.sides))), goal)
    token = secrets.token_hex(8)
    wanted, next_block = goal.deals(match.margins), 0
    with parallel_processes(processes, backend) as parallel:
        while len(match.tally.margins) < wanted:
            every = range(next_block, min(-(-wanted // BLOCK), next_block + (1 if processes == 1 else 2 * processes)))
            next_block = every.stop
            tallies = parallel(
                joblib.delayed(play_block)(
                    rules, (agent_a, agent_b), BLOCK * k, min(BLOCK, wanted - BLOCK * k), seed, whole_games, token
                )
                for k in every
            )
            for tally in tallies:
                match.tally += tally
                wanted = goal.deals(match.margins)
                if progress is not None:
                    progress(len(match.tally.margins), match)
                if len(match.tally.margins) >= wanted:  # what was played beyond does not count
                    break
    return match


@contextmanager
def parallel_processes(processes: int, name: str = "loky") -> Iterator[Any]:
    """Gives a ``joblib.Parallel`` of so many processes, on one of ``BACKENDS``.

    Ray and Dask connect to the cluster that ``RAY_ADDRESS`` or ``DASK_SCHEDULER_ADDRESS`` names, or start one here.

    Raises:
        ValueError: if there is no such backend, or its package is not installed.
    """
    if name not in BACKENDS:
        raise ValueError(f"no backend {name!r}; the backends are {', '.join(BACKENDS)}")
    client: Any = nullcontext()
    try:
        if name == "ray":
            from ray.util.joblib import register_ray

            register_ray()
        elif name == "dask":
            from distributed import Client

            client = Client()
    except ImportError as error:
        raise ValueError(f"backend {name} needs the package {error.name}") from None
    with client, joblib.parallel_config(name), joblib.Parallel(n_jobs=processes) as parallel:
        yield parallel


def evaluate(
    a: str,
    b: str,
    rules: Rules | str | Path = "auction_pitch",
    num_deals: int | Goal = NUM_DEALS,
    seed: int = 0,
    whole_games: bool = False,
    progress: Callable[[int, Match], None] | None = None,
    processes: int = 1,
    backend: str = "loky",
) -> dict[str, Any]:
    """Plays agent ``a`` against agent ``b``, both by name, and returns what ``pitch evaluate --json`` prints.

    The other arguments are those of :func:`play_match`.

    Raises:
        ValueError: if rules or agents are refused.
    """
    table = load_rules(rules)
    if isinstance(num_deals, int) and num_deals < 2:
        raise ValueError(f"deals={num_deals}: an interval needs two or more")
    for name in (a, b):
        make_agent(name, table)
    match = play_match(table, a, b, num_deals, seed, whole_games, progress, processes, backend)
    return result_of(match, a, b, seed, whole_games)


def result_of(match: Match, a: str, b: str, seed: int, whole_games: bool) -> dict[str, Any]:
    """Returns the result of a match between two agents by name as plain JSON types."""
    tally = match.tally
    return {
        "a": a,
        "b": b,
        "unit": "share of games won" if whole_games else "points a deal",
        "mean": match.mean,
        "interval": list(match.interval),
        "deals": len(tally.margins),
        "tables": tally.margins.size,
        "unfinished": tally.unfinished,
        "seed": seed,
        "goal": match.goal.report(match.margins),
        "variance_reduction": match.variance_reduction,
        "bids": match.bids,
        "sources": match.sources,
        "forfeits": {who: dict(tally.forfeits[k]) for k, who in enumerate("ab")},
        "seconds_per_decision": {
            name: float(tally.seconds[k] / max(1, tally.decisions[k]))
            for k, name in enumerate((a, b if b != a else f"{b} (B)"))
        },
    }


def lines_of(result: dict[str, Any]) -> Iterator[str]:
    """Gives the lines in which a result is told: the margin, why so many deals, where the points came from."""
    low, high = result["interval"]
    yield f"{result['a']} against {result['b']}: {result['deals']} duplicates, {result['tables']} tables"
    yield f"{result['mean']:+.4f} {result['unit']}, 95 % interval {low:+.4f} to {high:+.4f}"
    goal = result["goal"]
    if goal["kind"] == "half-width":
        ending = "" if goal["reached"] else ", more than may be played"
        yield f"An interval of ± {goal['half_width']:g} wants {goal['planned']} deals{ending}"
    elif goal["kind"] == "sprt":
        known = goal["decision"] or "undecided"
        yield f"H0 {goal['low']:+g} against H1 {goal['high']:+g}: {known}; the interval holds wherever the test stops"
    if result["variance_reduction"] is not None:
        yield f"Variance: {result['variance_reduction']:.2f} times less than with a fresh deal at each table"
    parts = ", ".join(f"{name} {part:+.3f}" for name, part in result["sources"].items())
    yield f"Points a deal by source: {parts}; together {sum(result['sources'].values()):+.3f}"
    for who in "ab":
        if result["forfeits"][who]:
            reasons = ", ".join(f"{count} × {reason}" for reason, count in sorted(result["forfeits"][who].items()))
            yield f"{result[who]} forfeited decisions: {reasons}"
    if result["unfinished"]:
        yield f"{result['unfinished']} games given up without a winner"
    yield from (f"{name}: {time * 1e6:.2f} µs a decision" for name, time in result["seconds_per_decision"].items())
