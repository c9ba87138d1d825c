"""The pages of the environments: one header, the table of observations as it is, a short script that runs.

``python tests/test_pages.py`` writes the tables anew.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pitch_env import VARIANTS
from pitch_env.observation import FIELDS, layout_of

DOCS = Path(__file__).parent.parent / "docs"
PAGES = ["aec.md", "single.md", "vector.md"]
HEADER = ["Make", "Seats", "Actions", "Observations", "Rewards", "Episode", "Version"]
SECTIONS = ["Observation", "Rewards", "Episode end", "Version history"]
TABLE = re.compile(r"(?<=<!-- observation table -->\n).*?(?=<!-- end -->)", re.DOTALL)


def observation_table():
    """Returns the table of observations of Auction Pitch, and which fields other rules add."""
    layout = layout_of(VARIANTS["auction_pitch"])
    lines = ["", "| index | field | what it says |", "|---|---|---|"]
    for name, meaning in FIELDS:
        if name in layout.fields:
            place = layout.fields[name]
            lines.append(f"| {place.start}–{place.stop - 1} | `{name}` | {meaning} |")
    others = [f"`{name}` ({meaning})" for name, meaning in FIELDS if name not in layout.fields]
    lines += ["", f"F = {layout.size}. Other rules also have: {'; '.join(others)}.", "", ""]
    return "\n".join(lines)


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_page_has_the_same_header_and_sections(name):
    text = page(name)
    assert re.findall(r"^\| \*\*(\w+)\*\* \|", text, re.MULTILINE) == HEADER
    assert [title for title in re.findall(r"^## (.+)$", text, re.MULTILINE) if title in SECTIONS] == SECTIONS


@pytest.mark.parametrize("name", PAGES)
def test_the_table_of_observations_is_that_of_the_encoder(name):
    assert TABLE.search(page(name)).group() == observation_table(), "run python tests/test_pages.py"


@pytest.mark.parametrize("name", PAGES)
def test_the_script_of_a_page_is_short_and_runs(name, capsys):
    script = re.search(r"```python\n(.*?)```", page(name), re.DOTALL).group(1)
    assert len(script.splitlines()) <= 30
    exec(compile(script, name, "exec"), {})


if __name__ == "__main__":
    for written in PAGES:
        (DOCS / written).write_text(TABLE.sub(lambda _: observation_table(), page(written)), encoding="utf-8")
