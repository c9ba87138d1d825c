"""The benchmark ``pitch-bench/1``: an agent against fixed references, over fixed deals of fixed rules.

Whatever changes a number of it, the protocol below or the play of a reference, makes a new version: a test holds the
digests of both.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from pitch_env.rules import VARIANTS
from training.evaluate import BLOCK, evaluate
from training.tournament import fingerprint, ranked, versions


@dataclass(frozen=True)
class Setting:
    """What is played against each reference."""

    name: str
    """Its column in the leaderboard."""
    variant: str
    """Rules, by name."""
    num_deals: int
    """Duplicate deals, or games."""
    seed: int
    """Of the deals."""
    whole_games: bool = False
    """Play whole games, counted by who wins them."""


@dataclass(frozen=True)
class Protocol:
    """A version of the benchmark."""

    version: str
    """Its name."""
    references: tuple[str, ...]
    """Opponents, weakest first."""
    settings: tuple[Setting, ...]
    """What is played against each."""

    @property
    def digest(self) -> str:
        """A hash of all that it says, the rules by all their fields."""
        rules = {setting.variant: VARIANTS[setting.variant].to_dict() for setting in self.settings}
        text = json.dumps({"protocol": asdict(self), "rules": rules, "block": BLOCK}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


PROTOCOL = Protocol(
    "pitch-bench/1",
    references=("random", "greedy", "rule", "expert"),
    settings=(
        Setting("auction_pitch, deals", "auction_pitch", 10_000, seed=101),
        Setting("auction_pitch, games", "auction_pitch", 1_000, seed=102, whole_games=True),
        Setting("cutthroat", "cutthroat", 10_000, seed=103),
        Setting("draw_pitch", "draw_pitch", 10_000, seed=104),
    ),
)
"""The benchmark; the agent's name is all that is free in it."""


def run_benchmark(
    agent: str,
    protocol: Protocol = PROTOCOL,
    processes: int = 1,
    backend: str = "loky",
    progress: Callable[[int, int, str], None] | None = None,
) -> dict[str, Any]:
    """Plays an agent through a protocol; rules that it refuses are left out of its row.

    Args:
        agent: by name.
        protocol: what is played.
        processes: blocks of deals that are played at the same time; the numbers do not depend on it.
        backend: one of ``training.evaluate.BACKENDS``.
        progress: called with the number of matches done, of all matches, and the next one's name.

    Returns:
        ``format``, ``digest``, ``agent``, ``sha256`` of the agents, ``versions``; ``results``, a list with ``setting``,
        ``reference``, ``unit``, ``mean``, ``interval``, ``deals``, ``forfeits``, ``seconds_per_decision``; ``refused``,
        the settings that the agent refuses, and why; ``row`` of the leaderboard.

    Raises:
        ValueError: if there is no such agent or reference, it refuses all rules, or it is shown hidden cards.
    """
    hashes, refused = {}, {}
    for setting in protocol.settings:
        try:
            hashes[agent] = fingerprint(agent, ranked(agent, VARIANTS[setting.variant]))
        except ValueError as error:
            refused[setting.name] = str(error)
    if not hashes:
        raise ValueError(refused[protocol.settings[0].name])
    first_rules = VARIANTS[protocol.settings[0].variant]
    hashes |= {name: fingerprint(name, ranked(name, first_rules)) for name in protocol.references}
    matches = [(setting, name) for setting in protocol.settings for name in protocol.references]
    matches = [match for match in matches if match[0].name not in refused]
    results = []
    for done, (setting, reference) in enumerate(matches):
        if progress is not None:
            progress(done, len(matches), f"{setting.name} v {reference}")
        played = evaluate(
            agent, reference, setting.variant, setting.num_deals, setting.seed, setting.whole_games, None, processes,
            backend,
        )  # fmt: skip
        kept = {key: played[key] for key in ("unit", "mean", "interval", "deals")}
        about = {"forfeits": played["forfeits"]["a"], "seconds_per_decision": played["seconds_per_decision"][agent]}
        results.append({"setting": setting.name, "reference": reference} | kept | about)
    row = leaderboard_row(agent, protocol, results)
    return {
        "format": protocol.version,
        "digest": protocol.digest,
        "agent": agent,
        "sha256": hashes,
        "versions": versions(),
        "results": results,
        "refused": refused,
        "row": row,
    }


def leaderboard_row(agent: str, protocol: Protocol, results: list[dict[str, Any]]) -> str:
    """Returns a row of the leaderboard: of each setting, the means against the references in order, and their error."""
    cells = [f"`{agent}`"]
    for setting in protocol.settings:
        rows = [row for row in results if row["setting"] == setting.name]
        if not rows:
            cells.append("—")
            continue
        half = max(row["interval"][1] - row["interval"][0] for row in rows) / 2
        means = " / ".join(f"{row['mean']:.3f}" if setting.whole_games else f"{row['mean']:+.2f}" for row in rows)
        means = means.replace("-", "−")
        cells.append(f"{means} ± {half:.3f}" if setting.whole_games else f"{means} ± {half:.2f}")
    cells.append(f"{1e6 * max(row['seconds_per_decision'] for row in results):.1f}")
    return "| " + " | ".join(cells) + " |"


def leaderboard_head(protocol: Protocol = PROTOCOL) -> str:
    """Returns the head of the leaderboard, two lines of Markdown."""
    heads = ["agent", *(setting.name for setting in protocol.settings), "µs a decision"]
    return f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}"
