"""Tournaments: every agent against every other over the same duplicate deals, rated, in a run folder.

The folder holds a manifest (what was played, by which code and networks) and one array a match, so that a tournament
that was stopped goes on where it was, and the same command gives the same bytes.

Axis letters: K agents, M matches, N deals, B bootstrap samples.
"""

import hashlib
import importlib.metadata
import inspect
import io
import json
import platform
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray

from agents.neural import MODELS, NeuralAgent
from pitch_env.agent import Agent, ClairvoyantAgent, make_agent
from pitch_env.engine.jit import sources_of
from pitch_env.rules import Rules
from pitch_env.seeds import generator
from training.config import write_bytes, write_text
from training.evaluate import Fixed, parallel_processes, play_match
from training.report import write_report

FORMAT = "pitch-tournament/1"
NUM_BOOTSTRAPS = 1000
ELO = 400 / np.log(10)
"""Rating points of one unit of log odds."""


class TournamentError(ValueError):
    """A tournament that cannot be played, or does not belong to its folder; the message says why."""


@dataclass(frozen=True)
class Plan:
    """What is played."""

    agents: tuple[str, ...]
    """K different agents, by name."""
    rules: Rules
    num_deals: int
    """N deals, or games, of each match."""
    seed: int = 0
    whole_games: bool = False
    """Play whole games, counted by who wins them."""
    reference: str | None = None
    """Whom all teams of two different agents meet, to see how well strangers play together; None for no such teams."""

    def __post_init__(self) -> None:
        if len(self.agents) < 2 or len(set(self.agents)) < len(self.agents):
            raise TournamentError(f"agents={list(self.agents)}: a tournament wants two or more, all different")
        if self.num_deals < 2:
            raise TournamentError(f"deals={self.num_deals}: an interval needs two or more")
        if self.reference is not None and self.rules.players < 2 * self.rules.sides:
            raise TournamentError(f"reference={self.reference!r}: with these rules nobody has a partner")


@dataclass(frozen=True)
class Pairing:
    """One match: a side of one agent, or of two who alternate in its seats, against sides of one agent."""

    name: str
    """Of its file."""
    team: tuple[str, str]
    other: str


class Team:
    """An agent for a whole side, of two agents who take its seats in turn; neither knows who the partner is.

    Args:
        first: plays the side's first, third … seats.
        second: plays its second, fourth … seats.
        rules: of the table.
    """

    def __init__(self, first: Agent, second: Agent, rules: Rules) -> None:
        self._members = (first, second)
        self._sides = rules.sides

    @property
    def forfeits(self) -> Counter[str]:
        """Decisions that its members forfeited, by reason."""
        members = {id(member): member for member in self._members}.values()
        return sum((Counter(getattr(member, "forfeits", {})) for member in members), Counter())

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = np.empty(len(views), np.int64)
        for turn, member in enumerate(self._members):
            mine = views["seat"] // self._sides % 2 == turn  # 1.1
            if mine.any():
                actions[mine] = member.act(views[mine], rng)
        return actions


def pairings(plan: Plan) -> list[Pairing]:
    """Returns the matches of a tournament: all pairs, then all teams against the reference."""
    numbered = list(enumerate(plan.agents))
    found = [Pairing(f"{i}-v-{j}", (a, a), b) for (i, a), (j, b) in combinations(numbered, 2)]
    if plan.reference is not None:
        teams = combinations_with_replacement(numbered, 2)
        found += [Pairing(f"{i}-with-{j}", (a, b), plan.reference) for (i, a), (j, b) in teams]
    return found


def ranked(name: str, rules: Rules) -> Agent:
    """Makes an agent that may be ranked.

    Raises:
        ValueError: if it is refused, or is shown hidden cards.
    """
    agent = make_agent(name, rules)
    if isinstance(agent, ClairvoyantAgent):
        raise TournamentError(f"{name} is shown hidden cards: it is an upper yardstick, and never ranked")
    return agent


def fingerprint(name: str, agent: Agent | ClairvoyantAgent) -> str:
    """Returns a hash of what decides how an agent plays: its class's source, all of ours that it imports, its files."""
    digest = hashlib.sha256()
    files = sorted(sources_of(Path(inspect.getfile(type(agent)))))
    kind, _, rest = name.partition(":")
    argument = Path(rest.partition("?")[0])
    if kind == "exec":
        files += [Path(word) for word in shlex.split(rest) if Path(word).is_file()]
    elif argument.is_dir():
        files += [path for path in (argument / "checkpoint.safetensors", argument / "model.zip") if path.exists()]
    elif argument.is_file():
        files.append(argument)
    elif isinstance(agent, NeuralAgent):
        files += sorted(MODELS.glob("*.safetensors"))
    digest.update(rest.encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Returns the versions of what decides results."""
    packages = {name: importlib.metadata.version(name) for name in ("pitch-env", "numpy", "numba")}
    return {"python": platform.python_version()} | packages


def manifest_of(plan: Plan) -> dict[str, Any]:
    """Returns all that decides a tournament's results, as plain JSON types.

    Raises:
        ValueError: if an agent is refused.
    """
    everybody = list(dict.fromkeys([*plan.agents, *([plan.reference] if plan.reference else [])]))
    return {
        "format": FORMAT,
        "versions": versions(),
        "rules": plan.rules.to_dict(),
        "agents": list(plan.agents),
        "reference": plan.reference,
        "deals": plan.num_deals,
        "whole_games": plan.whole_games,
        "seed": plan.seed,
        "sha256": {name: fingerprint(name, ranked(name, plan.rules)) for name in everybody},
    }


def play_tournament(
    plan: Plan,
    folder: Path,
    processes: int = 1,
    progress: Callable[[int, int], None] | None = None,
    backend: str = "loky",
) -> dict[str, Any]:
    """Plays the matches that the folder does not hold yet; writes and returns the results (:func:`results_of`).

    Args:
        plan: what is played.
        folder: of the run; made if it is not there.
        processes: matches that are played at the same time.
        progress: called with the number of matches done and of all matches.
        backend: one of ``training.evaluate.BACKENDS``.

    Raises:
        ValueError: if an agent or the backend is refused, or an agent chooses an action that is not legal.
        TournamentError: if the folder holds another tournament.
    """
    manifest = manifest_of(plan)
    open_folder(folder, manifest)
    every = pairings(plan)
    missing = [pairing for pairing in every if not _file_of(folder, pairing).exists()]
    with parallel_processes(processes, backend) as parallel:
        for first in range(0, len(missing), processes):
            wave = missing[first : first + processes]
            parallel(joblib.delayed(_play)(plan, pairing, _file_of(folder, pairing)) for pairing in wave)
            if progress is not None:
                progress(len(every) - len(missing) + first + len(wave), len(every))
    margins = {pairing.name: np.load(_file_of(folder, pairing)) for pairing in every}
    results = results_of(plan, margins) | {"forfeits": forfeits_in(folder, every)}
    write_text(folder / "results.json", json.dumps(results, indent=1))
    write_report(folder, results, manifest)
    return results


def open_folder(folder: Path, manifest: dict[str, Any]) -> None:
    """Makes a run folder for a tournament, or sees that it is that tournament's.

    Raises:
        TournamentError: if it is another one's; the message names what differs.
    """
    path = folder / "manifest.json"
    if path.exists():
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            differs = [key for key in manifest if there[key] != manifest[key]]
        except (ValueError, KeyError, TypeError) as error:
            raise TournamentError(f"{path} is no manifest of a tournament: {error!r:.80}") from None
        if differs:
            raise TournamentError(
                f"{folder} holds another tournament: {', '.join(differs)} differ; name another folder"
            )
        return
    (folder / "matches").mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps(manifest, indent=1))


def _file_of(folder: Path, pairing: Pairing) -> Path:
    return folder / "matches" / f"{pairing.name}.npy"


def _play(plan: Plan, pairing: Pairing, file: Path) -> None:
    """Plays one match and writes the margins (N,) of its deals, and who forfeited decisions in it, if anybody did."""
    first, second = (make_agent(name, plan.rules) for name in pairing.team)
    side = first if pairing.team[0] == pairing.team[1] else Team(first, second, plan.rules)
    match = play_match(
        plan.rules, side, make_agent(pairing.other, plan.rules), plan.num_deals, plan.seed, plan.whole_games
    )
    forfeits = dict(match.tally.forfeits[0]), dict(match.tally.forfeits[1])
    if any(forfeits):
        write_text(file.with_suffix(".json"), json.dumps(forfeits))
    data = io.BytesIO()
    np.save(data, match.margins)
    write_bytes(file, data.getvalue())


def forfeits_in(folder: Path, every: Sequence[Pairing]) -> list[dict[str, Any]]:
    """Returns who forfeited decisions, in which matches, by reason, as plain JSON types."""
    found = []
    for pairing in every:
        path = _file_of(folder, pairing).with_suffix(".json")
        if path.exists():
            sides = (" + ".join(dict.fromkeys(pairing.team)), pairing.other)
            for who, reasons in zip(sides, json.loads(path.read_text(encoding="utf-8")), strict=True):
                found += [{"match": pairing.name, "agent": who, "reasons": reasons}] if reasons else []
    return found


# Results


def results_of(plan: Plan, margins: dict[str, NDArray[np.float64]]) -> dict[str, Any]:
    """Returns the results of a tournament as plain JSON types.

    Args:
        plan: what was played.
        margins: (N,) of each match, by name.

    Returns:
        ``matches``: for each pair ``a``, ``b``, ``mean`` margin of A, ``interval``; ``table``: for each agent, best
        first, ``points`` against the field, ``rating``, both with 95 % intervals over deals; ``teams``: for each team,
        what it scores against the reference.
    """
    pairs = np.array(list(combinations(range(len(plan.agents)), 2)))
    met = np.stack([margins[f"{i}-v-{j}"] for i, j in pairs])
    centred = met - 0.5 if plan.whole_games else met
    shares = met if plan.whole_games else np.where(met == 0, 0.5, met > 0)
    ratings, low, high = ratings_of(shares, pairs, len(plan.agents), plan.seed)
    table = []
    for k, name in enumerate(plan.agents):
        signs = np.where(pairs[:, 0] == k, 1.0, np.where(pairs[:, 1] == k, -1.0, 0.0))
        field = signs @ centred / (len(plan.agents) - 1)
        table.append({"agent": name} | _estimate(field) | {"rating": ratings[k], "rating_interval": [low[k], high[k]]})
    teams = []
    if plan.reference is not None:
        for i, j in combinations_with_replacement(range(len(plan.agents)), 2):
            members = [plan.agents[i], plan.agents[j]]
            teams.append({"team": members, "against": plan.reference} | _estimate(margins[f"{i}-with-{j}"]))
    return {
        "format": FORMAT,
        "unit": "share of games won, less a half" if plan.whole_games else "points a deal",
        "deals": plan.num_deals,
        "table": sorted(table, key=lambda row: -row["rating"]),
        "matches": [
            {"a": plan.agents[i], "b": plan.agents[j]} | _estimate(row)
            for (i, j), row in zip(pairs, centred, strict=True)
        ],
        "teams": teams,
    }


def _estimate(values: NDArray[np.float64]) -> dict[str, Any]:
    mean, half = float(values.mean()), Fixed(len(values)).half_width(values)
    return {"mean": round(mean, 6), "interval": [round(mean - half, 6), round(mean + half, 6)]}


def ratings_of(
    shares: NDArray[np.float64], pairs: NDArray[np.int64], num_agents: int, seed: int
) -> tuple[list[float], list[float], list[float]]:
    """Returns Bradley–Terry ratings in Elo points, of mean zero, and the ends of their 95 % bootstrap intervals.

    Deals are drawn anew for all matches together, for those of different matches are the same deals.

    Args:
        shares: (M, N) of each deal, A's share of a win.
        pairs: (M, 2) who met.
        num_agents: K.
        seed: of the bootstrap.
    """
    rng = generator(seed)
    num_deals = shares.shape[1]
    drawn = (rng.integers(num_deals, size=num_deals) for _ in range(NUM_BOOTSTRAPS))
    means = np.stack([shares.mean(axis=1), *(shares[:, deals].mean(axis=1) for deals in drawn)])
    fitted = np.round(ELO * fit_strengths(means, pairs, num_agents, num_deals), 2)
    low, high = np.quantile(fitted[1:], [0.025, 0.975], axis=0)
    return fitted[0].tolist(), low.round(2).tolist(), high.round(2).tolist()


def fit_strengths(
    shares: NDArray[np.float64], pairs: NDArray[np.int64], num_agents: int, num_deals: int
) -> NDArray[np.float64]:
    """Returns the Bradley–Terry strengths (B, K) in log odds, of mean zero, that make the shares likeliest.

    Each pair is given one more deal, a draw: without it an agent that never loses would be infinitely strong.

    Args:
        shares: (B, M) of deals that A won.
        pairs: (M, 2) who met.
        num_agents: K.
        num_deals: deals of a match.
    """
    a, b = pairs[:, 0], pairs[:, 1]
    signs = np.zeros((len(pairs), num_agents))
    signs[np.arange(len(pairs)), a], signs[np.arange(len(pairs)), b] = 1, -1
    target = (shares * num_deals + 0.5) / (num_deals + 1)
    strengths = np.zeros((len(shares), num_agents))
    for _ in range(50):  # Newton's method; the strengths' mean is held at zero by the added ones
        expected = 1 / (1 + np.exp(-strengths @ signs.T))
        slope = (target - expected) @ signs
        curve = np.einsum("bm,mk,ml->bkl", expected * (1 - expected), signs, signs) + np.ones((num_agents, num_agents))
        step = np.linalg.solve(curve, slope[..., None])[..., 0]
        strengths += np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-10:
            break
    return strengths


def rows_of(results: dict[str, Any]) -> Iterator[Sequence[str]]:
    """Gives the rows of the table: agent, against the field, rating, its interval."""
    for row in results["table"]:
        low, high = row["interval"]
        ends = row["rating_interval"]
        yield (
            row["agent"],
            f"{row['mean']:+.3f} ± {(high - low) / 2:.3f}",
            f"{row['rating']:+.0f}",
            f"{ends[0]:+.0f} … {ends[1]:+.0f}",
        )
