"""The pool of opponents."""

import numpy as np
import pytest

from pitch_env import make_agent
from training.league import League

RANDOM = make_agent("random")


def test_whom_the_learner_beats_least_is_met_most():
    league = League({"easy": RANDOM, "hard": RANDOM}, size=2, power=2)
    league.note("easy", np.full(1000, 3.0))
    league.note("hard", np.full(1000, -3.0))
    shares = league.shares()
    # win rates (1000 + 10) / 1020 and 10 / 1020
    assert shares["hard"] == pytest.approx(1010**2 / (1010**2 + 10**2))
    assert sum(shares.values()) == pytest.approx(1)
    rng = np.random.default_rng(0)
    assert [league.draw(rng) for _ in range(50)].count("hard") > 45


def test_level_deals_are_half_won_and_power_nought_draws_all_alike():
    league = League({"a": RANDOM, "b": RANDOM}, size=0, power=0)
    league.note("a", np.zeros(500))
    league.note("b", np.ones(500))
    assert league.win_rate("a") == 0.5
    assert league.shares() == {"a": 0.5, "b": 0.5}


def test_the_oldest_past_self_leaves_and_fixed_agents_stay():
    league = League({"rule": RANDOM}, size=2)
    for name in ("one", "two", "three"):
        league.add(name, RANDOM)
    assert list(league.members) == ["rule", "two", "three"]
    league.note("one", np.ones(5))  # a late note on one that has left changes nothing
    assert set(league.shares()) == {"rule", "two", "three"}
    with pytest.raises(ValueError, match="'two' is in the league already"):
        league.add("two", RANDOM)


def test_an_empty_league_is_refused():
    with pytest.raises(ValueError, match="has nobody in it"):
        League({}, size=0)


def test_a_record_gives_back_the_league():
    league = League({"rule": RANDOM}, size=2)
    for name in ("one", "two", "three"):
        league.add(name, RANDOM)
    league.note("three", np.ones(50))
    other = League({"rule": RANDOM}, size=2)
    other.add("zero", RANDOM)
    other.restore(league.record(), {"two": RANDOM, "three": RANDOM})
    assert list(other.members) == ["rule", "two", "three"]
    assert other.shares() == league.shares()
    other.add("four", RANDOM)
    assert other.past == ["three", "four"]
