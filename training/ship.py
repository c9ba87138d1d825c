"""Ships a trained player: the actor of a run's checkpoint in half precision, with its recipe and its strength."""

import hashlib
import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from agents.neural import MODELS, load_agent, read_checkpoint, write_checkpoint
from pitch_env.agent import make_agent
from pitch_env.rules import Rules
from training.evaluate import play_match


def ship(run: Path, name: str, num_deals: int = 40_000, folder: Path = MODELS) -> Path:
    """Writes ``NAME.safetensors`` to the folder of shipped models, and measures what is in it.

    Args:
        run: a run folder with a checkpoint.
        name: what to call the model.
        num_deals: duplicate deals against each opponent, of a seed that training did not use.
        folder: where to write it.

    Raises:
        CheckpointError: if the checkpoint does not load.
    """
    source = run / "checkpoint.safetensors"
    tensors, about = read_checkpoint(source)
    actor = {key: array.astype(np.float16) for key, array in tensors.items() if key.startswith("actor.")}
    kept = {key: about[key] for key in ("rules", "config", "seed", "frames", "seconds", "universal", "sees_scores")}
    kept["sha256_of_checkpoint"] = hashlib.sha256(source.read_bytes()).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.safetensors"
    write_checkpoint(path, actor, kept)
    rules = Rules.from_dict(about["rules"])
    agent = load_agent(path, rules)
    kept["strength"] = {}
    for opponent in ("random", "greedy", "rule"):
        match = play_match(rules, agent, make_agent(opponent, rules), num_deals, seed=1_000_003)
        kept["strength"][opponent] = {"mean": match.mean, "interval": list(match.interval), "deals": num_deals}
    write_checkpoint(path, actor, kept)
    return path


def main(
    run: Annotated[Path, typer.Argument(help="A run folder.")],
    name: Annotated[str, typer.Argument(help="Name of the model.")],
) -> None:
    """Ships a run's actor to agents/models and prints what it is worth."""
    path = ship(run, name)
    typer.echo(json.dumps(read_checkpoint(path)[1]["strength"]))


if __name__ == "__main__":
    typer.run(main)
