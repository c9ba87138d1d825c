"""Duplicate matches: margins, intervals, how many deals, what is told of them."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pitch_env import VARIANTS, make_agent, variant
from training.duplicate import SOURCES, IllegalChoiceError, play_block
from training.evaluate import (
    BLOCK,
    PILOT,
    Z95,
    HalfWidth,
    Sequential,
    evaluate,
    goal_of,
    lines_of,
    play_match,
    result_of,
)

BASE = VARIANTS["auction_pitch"]


def match(a, b, rules=BASE, num_deals=300, **options):
    return play_match(rules, make_agent(a, rules), make_agent(b, rules), num_deals, **options)


@pytest.mark.parametrize("name", ["auction_pitch", "cutthroat", "six_hand", "high_low_jack"])
def test_an_agent_against_itself_scores_exactly_nothing(name):
    rules = VARIANTS[name]
    margins = match("rule", "rule", rules).margins
    if rules.sides == 2:
        assert (margins == 0).all()
    # With more sides a deal's tables sum to nothing all the same: every side sits once with A.
    assert margins == pytest.approx(0)


def test_swapping_the_agents_flips_the_sign():
    assert (match("greedy", "rule").margins == -match("rule", "greedy").margins).all()


def test_the_same_seed_gives_the_same_margins_and_another_seed_others():
    one = match("random", "rule", seed=5).margins
    assert (one == match("random", "rule", seed=5).margins).all()
    assert (one != match("random", "rule", seed=6).margins).any()


def test_more_deals_go_on_from_fewer():
    few, many = match("greedy", "rule", num_deals=100), match("greedy", "rule", num_deals=2500)
    assert (many.margins[:100] == few.margins).all()


def test_stronger_agents_win():
    assert match("greedy", "random", num_deals=500).interval[0] > 0
    assert match("rule", "greedy", num_deals=1000).interval[0] > 0


def test_the_interval_is_that_of_the_deals_not_of_the_tables():
    result = match("rule", "greedy", num_deals=500)
    half = 1.96 * result.margins.std(ddof=1) / 500**0.5
    assert result.interval[1] - result.mean == pytest.approx(half, rel=1e-3)
    assert len(result.margins) == 500


def test_whole_games_count_shares_of_games_won():
    result = match("rule", "random", num_deals=60, whole_games=True)
    assert set(result.margins) <= {0, 0.5, 1}
    assert result.mean > 0.9
    assert result.tally.unfinished == 0


def test_bids_are_tallied_by_level():
    result = match("rule", "greedy", num_deals=400)
    won = sum(row["won"] for who in "ab" for row in result.bids[who].values())
    assert won == 800
    for row in result.bids["a"].values():
        assert row["rate"] == row["made"] / row["won"]


def test_an_illegal_choice_is_named():
    class Stubborn:
        def act(self, views, rng):
            return np.full(len(views), 54)

    with pytest.raises(IllegalChoiceError, match="agent A chose action 54"):
        play_match(BASE, Stubborn(), make_agent("rule"), 50)


def test_evaluate_gives_what_the_command_prints():
    result = evaluate("rule", "greedy", "six_hand", num_deals=50, seed=3)
    assert result["interval"][0] <= result["mean"] <= result["interval"][1]
    assert result["deals"] == 50
    assert result["tables"] == 150
    assert set(result["seconds_per_decision"]) == {"rule", "greedy"}
    with pytest.raises(ValueError, match="deals=1"):
        evaluate("rule", "greedy", num_deals=1)
    with pytest.raises(ValueError, match="no agent 'nobody'"):
        evaluate("nobody", "rule")


def test_games_that_nobody_can_win_are_given_up_as_draws(monkeypatch):
    monkeypatch.setattr("training.duplicate.MOST_DEALS", 3)
    result = match("rule", "rule", variant("auction_pitch", target=999), num_deals=4, whole_games=True)
    assert result.tally.unfinished == 8
    assert (result.margins == 0.5).all()


# Goals


def test_a_half_width_is_planned_from_the_pilot_and_reached():
    result = match("rule", "greedy", num_deals=HalfWidth(0.06))
    deviation = result.margins[:PILOT].std(ddof=1)
    assert len(result.margins) == math.ceil((Z95 * deviation / 0.06) ** 2)
    low, high = result.interval
    assert (high - low) / 2 == pytest.approx(0.06, rel=0.1)


def test_a_half_width_out_of_reach_is_said_to_be():
    result = evaluate("rule", "greedy", num_deals=HalfWidth(0.01, most=1000))
    assert result["deals"] == 1000
    assert result["goal"]["reached"] is False
    assert result["goal"]["planned"] > 20_000


def stop_at(goal, margins):
    """Returns the margins that a sequential match has seen when it stops, looking after each block."""
    for seen in range(BLOCK, len(margins) + 1, BLOCK):
        if goal.deals(margins[:seen]) <= seen:
            return margins[:seen]
    return margins


@pytest.mark.parametrize(("mean", "wrong"), [(0.0, "H1"), (0.06, "H0")])
def test_a_sequential_test_errs_no_more_often_than_it_says(mean, wrong):
    goal = Sequential(0, 0.06, most=80 * BLOCK)
    rng = np.random.default_rng(1)
    ends = [stop_at(goal, rng.normal(mean, 1.4, 80 * BLOCK)) for _ in range(600)]
    decisions = [goal.decision(end) for end in ends]
    assert decisions.count(wrong) <= 0.05 * 600 + 2 * (0.05 * 0.95 * 600) ** 0.5
    assert np.mean([len(end) for end in ends]) < 0.7 * 4 * (1.645 * 1.4 / 0.06) ** 2  # of the test of a fixed size
    covered = [abs(end.mean() - mean) <= goal.half_width(end) for end in ends]
    assert np.mean(covered) >= 0.95


def test_a_sequential_match_stops_when_it_is_decided():
    better = evaluate("rule", "greedy", num_deals=Sequential(0, 0.5))
    assert (better["goal"]["decision"], better["deals"]) == ("H1", BLOCK)
    assert evaluate("greedy", "rule", num_deals=Sequential(0, 0.5))["goal"]["decision"] == "H0"
    close = evaluate("rule", "rule", num_deals=Sequential(-1, 1, most=700))
    assert (close["goal"]["decision"], close["deals"]) == (None, 700)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0.0}, "half-width=0.0: a number above zero"),
        ({"half_width": 0.1, "sprt": "0,1"}, "not both"),
        ({"sprt": "0.03"}, "two margins"),
        ({"sprt": "1,0"}, "the lower one first"),
    ],
)
def test_goals_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        goal_of(**options)


# Reports


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_the_sources_of_points_sum_to_the_margin(name):
    rules = VARIANTS[name]
    result = match("greedy", "random", rules, num_deals=200)
    assert sum(result.sources.values()) == pytest.approx(result.mean)
    assert set(result.sources) - {"sets", "smudges"} <= set(rules.items)


def test_items_of_a_bid_that_failed_count_for_nobody_and_its_price_is_a_set():
    # 8.2  With one bid, four, that is nearly never made, all that the pitching side brings is sets.
    rules = variant("auction_pitch", bids=[4], smudge=False)
    tally = play_block(rules, ("rule", "random_bidder"), 0, 300, 1)
    price = 4 * (tally.bids[:, 4, 0] - tally.bids[:, 4, 1])
    # Deals of A's side and of the others count every set once.
    assert tally.sources[:, SOURCES.index("sets")].sum() == -price.sum()


def test_the_variance_reduction_is_that_over_fresh_deals():
    paired = match("rule", "greedy", num_deals=6000)
    fresh = (match("rule", "greedy", num_deals=6000, seed=k).tally.margins[:, k] for k in range(2))
    measured = np.mean(list(fresh), axis=0).var(ddof=1) / paired.margins.var(ddof=1)
    assert paired.variance_reduction == pytest.approx(measured, rel=0.1)
    assert paired.variance_reduction > 1.3
    assert match("rule", "rule", num_deals=20).variance_reduction is None


@pytest.mark.parametrize("processes", [2, 3])
def test_the_result_does_not_depend_on_the_number_of_processes(processes):
    one = match_by_name("random", "greedy", processes=1)
    many = match_by_name("random", "greedy", processes=processes)
    assert many.margins.tobytes() == one.margins.tobytes()
    assert (many.bids, many.sources) == (one.bids, one.sources)


def match_by_name(a, b, **options):
    return play_match(variant("mini_pitch"), a, b, Sequential(-0.001, 0.001, most=3 * BLOCK + 7), **options)


def test_a_backend_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="no backend 'mpi'; the backends are loky, ray, dask"):
        match_by_name("rule", "rule", backend="mpi")


def test_the_report_tells_forfeits():
    class Sulky:
        def __init__(self):
            self.forfeits = Counter()

        def act(self, views, rng):
            self.forfeits["sulking"] += len(views)
            return make_agent("rule").act(views, rng)

    result = play_match(BASE, Sulky(), make_agent("rule"), 30)
    told = result_of(result, "sulky", "rule", 0, False)
    assert told["forfeits"] == {"a": {"sulking": int(result.tally.decisions[0])}, "b": {}}
    assert any(line.startswith("sulky forfeited decisions:") for line in lines_of(told))


def test_a_wrong_number_of_actions_is_named():
    class Short:
        def act(self, views, rng):
            return np.zeros(1)

    with pytest.raises(IllegalChoiceError, match=r"agent B was given 120 views and chose \(1,\) actions"):
        play_match(variant("kuhn_pitch"), make_agent("rule"), Short(), 60)


def test_the_script_of_the_page_runs_and_the_keys_of_its_table_are_those_of_the_result(capsys):
    page = (Path(__file__).parent.parent / "docs" / "evaluation.md").read_text(encoding="utf-8")
    exec(compile(re.search(r"```python\n(.*?)```", page, re.DOTALL).group(1), "evaluation.md", "exec"), {})
    assert "Sequential" in capsys.readouterr().out
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    keys = re.findall(r"`(\w+)`", " ".join(rows))
    assert set(keys) | {"a", "b", "seed"} == set(evaluate("rule", "greedy", num_deals=20))
