"""Learning curves of runs, as one picture: ``python -m training.curves RUN… --out FILE.png``.

A run is a folder with a ``result.json`` whose ``curve`` lists what was measured: ``frames``, ``seconds``, ``mean`` with
``low`` and ``high`` (points a deal, 95 %), and of our own runs ``entropy``, ``made`` and ``bids``.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from training.config import write_bytes


class CurveError(ValueError):
    """A run that has no curve; the message names the file."""


def read_run(folder: Path) -> dict[str, Any]:
    """Returns the result of a run.

    Raises:
        CurveError: if there is none, or it has no curve.
    """
    path = folder / "result.json"
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        for point in result["curve"]:
            for key in ("frames", "seconds", "mean", "low", "high"):
                float(point[key])
    except OSError as error:
        raise CurveError(f"{path}: {error.strerror or error}: a run has one when it has ended") from None
    except (ValueError, KeyError, TypeError) as error:
        raise CurveError(f"{path} has no curve of frames, seconds, mean, low and high: {error!r:.80}") from None
    return dict(result)


def draw_curves(folders: Sequence[Path], out: Path) -> None:
    """Draws the curves of some runs over each other, with a legend where there are several.

    Raises:
        CurveError: if a run has no curve.
    """
    from matplotlib.figure import Figure

    from training.report import png_of

    runs = {folder.name: read_run(folder) for folder in folders}
    figure = Figure(figsize=(11, 9), layout="constrained")
    axes = figure.subplots(3, 2)
    for number, (name, run) in enumerate(runs.items()):
        colour, curve = f"C{number}", run["curve"]
        _draw_strength(axes[0, 0], [point["frames"] / 1e6 for point in curve], curve, name, colour)
        _draw_strength(axes[0, 1], [point["seconds"] / 60 for point in curve], curve, name, colour)
        for place, key in ((axes[1, 0], "entropy"), (axes[1, 1], "made")):
            told = [point for point in curve if key in point]
            place.plot([p["frames"] / 1e6 for p in told], [p[key] for p in told], "o-", ms=3, color=colour)
        _draw_bids(axes[2, 0], curve)
    opponents = sorted({run["opponent"] for run in runs.values() if "opponent" in run})
    strength = f"points a deal over {', '.join(opponents) or 'the opponent'}"
    for place, title, x in (
        (axes[0, 0], strength, "million decisions"),
        (axes[0, 1], strength, "minutes of training"),
        (axes[1, 0], "entropy of the policy, nats", "million decisions"),
        (axes[1, 1], "share of bids made", "million decisions"),
        (axes[2, 0], "share of won auctions by bid", "million decisions"),
    ):
        place.set(title=title, xlabel=x)
        place.grid(alpha=0.3)
    if len(runs) > 1:
        axes[0, 0].legend()
    if axes[2, 0].lines:
        handles, labels = axes[2, 0].get_legend_handles_labels()
        axes[2, 1].legend(handles, labels, loc="center left", ncols=2)
    axes[2, 1].axis("off")
    write_bytes(out, png_of(figure))


def _draw_strength(axes: Any, x: list[float], curve: list[dict[str, Any]], name: str, colour: str) -> None:
    """Draws means with a band for their intervals."""
    axes.plot(x, [point["mean"] for point in curve], "o-", ms=3, color=colour, label=name)
    low, high = ([point[key] for point in curve] for key in ("low", "high"))
    axes.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)


def _draw_bids(axes: Any, curve: list[dict[str, Any]]) -> None:
    """Draws a line for each bid; the lines of runs after the first that tells its bids are dashed."""
    is_first = not axes.lines
    told = [point for point in curve if "bids" in point]
    bids = sorted({bid for point in told for bid in point["bids"]}, key=lambda bid: (len(bid), bid))
    for k, bid in enumerate(bids):
        style = {"color": f"C{k}", "ls": "-" if is_first else "--", "label": bid if is_first else None}
        axes.plot([p["frames"] / 1e6 for p in told], [p["bids"].get(bid, 0.0) for p in told], **style)


def main(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs.")],
    out: Annotated[Path, typer.Option(help="The PNG file to write.")],
) -> None:
    """Draws learning curves of runs over each other."""
    try:
        draw_curves(runs, out)
    except CurveError as error:
        raise typer.BadParameter(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
