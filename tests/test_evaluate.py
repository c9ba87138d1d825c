"""Duplicate matches."""

import numpy as np
import pytest

from pitch_env import VARIANTS, make_agent, variant
from training.evaluate import IllegalChoiceError, evaluate, play_match

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
    assert result.unfinished == 0


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
    monkeypatch.setattr("training.evaluate.MOST_DEALS", 3)
    result = match("rule", "rule", variant("auction_pitch", target=999), num_deals=4, whole_games=True)
    assert result.unfinished == 8
    assert (result.margins == 0.5).all()
