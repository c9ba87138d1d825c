"""Ships a trained player: the actor of a run's checkpoint in half precision, with its recipe and its strength."""

import hashlib
import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from agents.neural import MODELS, load_agent, read_checkpoint, write_checkpoint
from pitch_env.agent import make_agent
from pitch_env.rules import Rules
from training.evaluate import play_match
from training.variants import mean_margin

OPPONENTS = ("random", "greedy", "rule", "expert")
"""Agents against which a shipped player is measured."""

SEED = 1_000_003
"""Seed of the deals of its measurement, which no training uses."""


def ship(run: Path, name: str, num_deals: int = 40_000, folder: Path = MODELS) -> Path:
    """Writes ``NAME.safetensors`` to the folder of shipped models, and measures what is in it.

    What is said of the file: the recipe, the hash of the checkpoint, ``strength`` (opponent to margin); of a player
    of several rules also ``strength_by_rules`` (opponent, then rules, to margin), whose mean ``strength`` is.

    Args:
        run: a run folder with a checkpoint.
        name: what to call the model.
        num_deals: duplicate deals against each opponent; several rules share them.
        folder: where to write it.

    Raises:
        CheckpointError: if the checkpoint does not load.
    """
    source = run / "checkpoint.safetensors"
    tensors, about = read_checkpoint(source)
    actor = {key: array.astype(np.float16) for key, array in tensors.items() if key.startswith("actor.")}
    if "columns" in tensors:
        actor["columns"] = tensors["columns"]
    kept = {key: about[key] for key in ("rules", "config", "seed", "frames", "seconds", "universal", "sees_scores")}
    kept["sha256_of_checkpoint"] = hashlib.sha256(source.read_bytes()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.safetensors"
    write_checkpoint(path, actor, kept)
    by_name = about["rules"] if about["universal"] else {"": about["rules"]}
    named = {key: Rules.from_dict(rules) for key, rules in by_name.items()}
    margins = {opponent: _margins(path, named, opponent, num_deals // len(named)) for opponent in OPPONENTS}
    kept["strength"] = {
        opponent: mean_margin(each.values()) | {"deals": sum(margin["deals"] for margin in each.values())}
        for opponent, each in margins.items()
    }
    if about["universal"]:
        kept["strength_by_rules"] = margins
    write_checkpoint(path, actor, kept)
    return path


def _margins(path: Path, named: dict[str, Rules], opponent: str, num_deals: int) -> dict[str, dict[str, Any]]:
    """Plays a duplicate match of each rules against an agent; returns the margins by the rules' names."""
    margins = {}
    for number, (name, rules) in enumerate(named.items()):
        match = play_match(rules, load_agent(path, rules), make_agent(opponent, rules), num_deals, SEED + number)
        margins[name] = {"mean": match.mean, "interval": list(match.interval), "deals": num_deals}
    return margins


def main(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    name: Annotated[str, typer.Argument(help="Name of the model.")],
    deals: Annotated[int, typer.Option(help="Duplicate deals against each; several rules share them.")] = 40_000,
) -> None:
    """Ships a run's actor to agents/models and prints what it is worth."""
    about = read_checkpoint(ship(run, name, deals))[1]
    typer.echo(json.dumps({key: value for key, value in about.items() if key.startswith("strength")}))


if __name__ == "__main__":
    typer.run(main)
