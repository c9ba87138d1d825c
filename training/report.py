"""Pictures of a tournament's results, and one HTML page that holds them. The same results give the same bytes."""

import base64
import html
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from training.config import write_bytes, write_text

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: .3rem .8rem; border-bottom: 1px solid #ddd }
td { text-align: right; font-variant-numeric: tabular-nums } td:first-child, th:first-child { text-align: left }
img { max-width: 100% } pre { background: #f6f6f6; padding: 1rem; overflow-x: auto; font-size: 13px }
"""


def write_report(folder: Path, results: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Writes ``ratings.png``, ``matches.png``, ``teams.png`` (if teams were played) and ``report.html`` to a folder.

    Args:
        folder: where.
        results: as ``training.tournament.play_tournament`` returns them.
        manifest: what was played, as ``manifest_of`` gives it.
    """
    pictures = {"ratings": draw_ratings(results), "matches": draw_matches(results)}
    if results["teams"]:
        pictures["teams"] = draw_teams(results)
    data = {name: png_of(figure) for name, figure in pictures.items()}
    for name, png in data.items():
        write_bytes(folder / f"{name}.png", png)
    write_text(folder / "report.html", page_of(results, manifest, data))


def png_of(figure: Figure) -> bytes:
    """Returns a figure as a PNG file without a date or a version."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=120, metadata={"Software": None})
    return file.getvalue()


def draw_ratings(results: dict[str, Any]) -> Figure:
    """Returns the ratings with their intervals, best on top."""
    table = results["table"][::-1]
    figure = Figure(figsize=(7, 1.2 + 0.4 * len(table)), layout="constrained")
    axes = figure.subplots()
    ratings = np.array([row["rating"] for row in table])
    ends = np.array([row["rating_interval"] for row in table])
    away = np.abs(ends - ratings[:, None]).T
    axes.errorbar(ratings, range(len(table)), xerr=away, fmt="o", color="#1f5fa8", capsize=4)
    axes.set_yticks(range(len(table)), [_label(row["agent"]) for row in table])
    axes.set_ylim(-0.6, len(table) - 0.4)
    axes.set_xlabel("Bradley–Terry rating, Elo points, 95 % bootstrap interval over deals")
    axes.grid(axis="x", alpha=0.3)
    return figure


def draw_matches(results: dict[str, Any]) -> Figure:
    """Returns a heat map of what each agent (row) scores against each other (column)."""
    names = [row["agent"] for row in results["table"]]
    values = np.full((len(names), len(names)), np.nan)
    for match in results["matches"]:
        i, j = names.index(match["a"]), names.index(match["b"])
        values[i, j], values[j, i] = match["mean"], -match["mean"]
    return _heat_map(values, names, names, f"{results['unit']}, row against column")


def draw_teams(results: dict[str, Any]) -> Figure:
    """Returns a heat map of what each two agents score as partners against the reference."""
    names = [row["agent"] for row in results["table"]]
    values = np.full((len(names), len(names)), np.nan)
    for row in results["teams"]:
        i, j = (names.index(member) for member in row["team"])
        values[i, j] = values[j, i] = row["mean"]
    return _heat_map(values, names, names, f"{results['unit']}, as partners against {results['teams'][0]['against']}")


def _heat_map(values: Any, rows: Sequence[str], columns: Sequence[str], title: str) -> Figure:
    size = 2.5 + 0.8 * len(rows)
    figure = Figure(figsize=(size + 1, size), layout="constrained")
    axes = figure.subplots()
    most = float(np.nanmax(np.abs(values))) or 1.0
    axes.imshow(values, cmap="RdBu", vmin=-most, vmax=most)
    axes.set_xticks(range(len(columns)), [*map(_label, columns)], rotation=40, ha="right")
    axes.set_yticks(range(len(rows)), [*map(_label, rows)])
    axes.set_title(title, fontsize=10)
    for (i, j), value in np.ndenumerate(values):
        if not np.isnan(value):
            dark = abs(value) > 0.6 * most
            axes.text(j, i, f"{value:+.2f}", ha="center", va="center", color="white" if dark else "black", fontsize=9)
    return figure


def _label(name: str) -> str:
    """Returns a name short enough to stand at an axis."""
    return name if len(name) <= 24 else f"{name[:8]}…{name[-15:]}"


def page_of(results: dict[str, Any], manifest: dict[str, Any], pictures: dict[str, bytes]) -> str:
    """Returns the results as one HTML page that needs no other file."""
    rows = [
        [
            row["agent"],
            f"{row['mean']:+.3f}",
            "{:+.3f} … {:+.3f}".format(*row["interval"]),
            f"{row['rating']:+.0f}",
            "{:+.0f} … {:+.0f}".format(*row["rating_interval"]),
        ]
        for row in results["table"]
    ]
    heads = ["agent", f"{results['unit']}, against the field", "95 %", "rating", "95 %"]
    images = [
        f'<p><img alt="{name}" src="data:image/png;base64,{base64.b64encode(png).decode()}"></p>'
        for name, png in pictures.items()
    ]
    forfeits = [f"<p>{html.escape(forfeit_line(forfeit))}.</p>" for forfeit in results["forfeits"]]
    unit = "games" if manifest["whole_games"] else "deals"
    return "\n".join(
        [
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>Pitch tournament</title>',
            f"<style>{STYLE}</style>",
            f"<h1>Pitch tournament</h1><p>{len(rows)} agents, {results['deals']:,} duplicate {unit} a match.</p>",
            _html_table(heads, rows),
            *images,
            *forfeits,
            f"<h2>Manifest</h2><pre>{html.escape(json.dumps(manifest, indent=1))}</pre></html>",
            "",
        ]
    )


def forfeit_line(forfeit: dict[str, Any]) -> str:
    """Returns who forfeited decisions in a match, and why, as text."""
    reasons = ", ".join(f"{count} × {reason}" for reason, count in sorted(forfeit["reasons"].items()))
    return f"{forfeit['agent']} forfeited decisions in match {forfeit['match']}: {reasons}"


def _html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{html.escape(head)}</th>" for head in heads) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<table>" + "".join(lines) + "</table>"
