"""The benchmark: what holds its numbers, and its command."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.neural import MODELS
from pitch_env import VARIANTS
from pitch_env.app.cli import main
from training.benchmark import PROTOCOL, Protocol, Setting, leaderboard_head, leaderboard_row, run_benchmark
from training.duplicate import play_block

SMALL = Protocol(
    "small",
    references=("random", "rule"),
    settings=(
        Setting("deals", "auction_pitch", 60, seed=1),
        Setting("games", "mini_pitch", 20, seed=2, whole_games=True),
    ),
)


def test_the_protocol_is_that_of_its_version():
    # Another protocol is another version: change both.
    assert PROTOCOL.version == "pitch-bench/1"
    assert PROTOCOL.digest == "362ac75bbf3ee12fb58fc7b015b01c42cba4521f218671903d8becbcb4fe5695"


def test_the_page_tells_the_protocol():
    page = (Path(__file__).parent.parent / "docs" / "evaluation.md").read_text(encoding="utf-8")
    for setting in PROTOCOL.settings:
        unit = "share of games won" if setting.whole_games else "points a deal"
        start = f"| {setting.name} | `{setting.variant}`"
        row = next(line for line in page.splitlines() if line.startswith(start))
        assert row.endswith(f"| {setting.num_deals:,} | {setting.seed} | {unit} |")
    assert "`random`, `greedy`, `rule` and `expert`, in this order" in page
    assert PROTOCOL.references == ("random", "greedy", "rule", "expert")


@pytest.mark.parametrize(
    ("variant", "digest"),
    [("auction_pitch", "561cb2368c5d9413"), ("cutthroat", "1db209731e5bac09"), ("draw_pitch", "da788582b7dcbadd")],
)
def test_deals_and_references_play_as_in_this_version(variant, digest):
    margins = [
        play_block(VARIANTS[variant], pair, 0, 64, 7).margins
        for pair in (("random", "greedy"), ("greedy", "rule"), ("rule", "expert"))
    ]
    assert hashlib.sha256(b"".join(part.tobytes() for part in margins)).hexdigest()[:16] == digest


def test_anything_that_is_changed_changes_the_digest():
    first, *others = PROTOCOL.settings
    changed = [
        replace(PROTOCOL, version="pitch-bench/2"),
        replace(PROTOCOL, references=("random", "greedy", "rule")),
        replace(PROTOCOL, settings=(replace(first, num_deals=10_001), *others)),
        replace(PROTOCOL, settings=(replace(first, seed=0), *others)),
        replace(PROTOCOL, settings=(replace(first, variant="fish"), *others)),
        replace(PROTOCOL, settings=(replace(first, whole_games=True), *others)),
    ]
    assert len({protocol.digest for protocol in [PROTOCOL, *changed]}) == 7


def test_an_agent_is_played_through_all_settings_and_references():
    seen = []
    result = run_benchmark("greedy", SMALL, progress=lambda done, total, name: seen.append((done, total, name)))
    assert seen == [(0, 4, "deals v random"), (1, 4, "deals v rule"), (2, 4, "games v random"), (3, 4, "games v rule")]
    assert [(row["setting"], row["reference"]) for row in result["results"]] == [
        ("deals", "random"), ("deals", "rule"), ("games", "random"), ("games", "rule")
    ]  # fmt: skip
    assert [row["deals"] for row in result["results"]] == [60, 60, 20, 20]
    assert set(result["sha256"]) == {"greedy", "random", "rule"}
    assert result["row"].startswith("| `greedy` | +")
    assert result["row"].count("|") == leaderboard_head(SMALL).splitlines()[0].count("|")


def test_the_numbers_are_the_same_each_time_and_in_any_number_of_processes():
    one, two = (run_benchmark("random", SMALL, processes=processes)["results"] for processes in (1, 2))
    for row in one + two:
        del row["seconds_per_decision"]
    assert one == two


def test_rules_that_an_agent_refuses_are_left_out_of_its_row():
    result = run_benchmark(f"checkpoint:{MODELS / 'auction_pitch.safetensors'}", SMALL)
    assert list(result["refused"]) == ["games"]
    assert "| — |" in result["row"]
    assert {row["setting"] for row in result["results"]} == {"deals"}


def test_a_reference_that_there_is_not_is_named_before_anything_is_played():
    seen = []
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        run_benchmark("rule", replace(SMALL, references=("random", "nobody")), progress=lambda *args: seen.append(args))
    assert seen == []


def test_a_row_has_the_means_in_the_order_of_the_references_and_the_widest_interval():
    rows = [
        {"setting": "deals", "mean": 4.0, "interval": [3.9, 4.1], "seconds_per_decision": 1e-6},
        {"setting": "deals", "mean": -0.5, "interval": [-0.7, -0.3], "seconds_per_decision": 2e-6},
    ]
    assert leaderboard_row("mine", SMALL, rows) == "| `mine` | +4.00 / −0.50 ± 0.20 | — | 2.0 |"


def test_the_command_writes_its_result(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("training.benchmark.run_benchmark.__defaults__", (SMALL, 1, "loky", None))
    with pytest.raises(SystemExit) as stop:
        main(["benchmark", "greedy", "--out", str(tmp_path / "result.json"), "--json"])
    assert stop.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert json.loads((tmp_path / "result.json").read_text()) == printed
    assert printed["format"] == "small"


def test_the_command_names_an_agent_that_there_is_not(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["benchmark", "nobody"])
    assert stop.value.code == 2
    assert "no agent 'nobody'" in capsys.readouterr().err
