"""What ``expert`` does: it plays everything, bids for its place in the auction, and is stronger than ``rule``."""

import numpy as np
import pytest

from agents.expert import WEIGHTS, expert_of, fitted_weights, weights_of
from pitch_env import VARIANTS, Game, make_agent
from pitch_env.actions import action_name
from training.evaluate import play_match


def call_of(hands, calls, **weights):
    """Returns the call of ``expert``, with some weights, on ``auction_pitch`` after some calls; seat 3 deals."""
    rules = VARIANTS["auction_pitch"]
    game = Game.from_deal(rules, hands, dealer=3)
    for call in calls:
        game.play(call)
    agent = expert_of(rules, WEIGHTS | weights)
    return action_name(int(agent.act(np.array([game.view(game.seat)]), np.random.default_rng(0))[0]))


HANDS = ["9C 8C 7D 6D 5H 4H", "9D 8D 7C 6C 5S 4S", "9H 8H 7S 6S 3C 2C", "KH QH TH 3S 4D 2D"]
"""The dealer has hearts; nobody else has anything."""


def test_a_place_that_wants_less_bids_and_one_that_wants_more_passes():
    calls = ["bid 2", "pass", "pass"]
    assert call_of(HANDS, calls, steal_opponent=-20.0) == "bid 2"
    assert call_of(HANDS, calls, steal_opponent=20.0) == "pass"


def test_3_1_the_dealer_takes_the_bid_with_the_least_number():
    # With a weight for each number skipped that would make anyone else jump.
    assert call_of(HANDS, ["bid 2", "pass", "pass"], steal_opponent=-20.0, jump=20.0) == "bid 2"
    assert call_of([HANDS[3], *HANDS[1:3], HANDS[0]], [], open=-20.0, jump=20.0) == "bid 4"


def test_going_out_is_worth_more_than_the_points():
    rules = VARIANTS["auction_pitch"]
    agent = expert_of(rules, WEIGHTS | {"steal_opponent": 5.0, "out": 30.0})
    chosen = []
    for scores in ([0, 0], [0, 19]):
        game = Game.from_deal(rules, HANDS, dealer=3, scores=scores)
        for call in ("bid 2", "pass", "pass"):
            game.play(call)
        chosen.append(action_name(int(agent.act(np.array([game.view(3)]), np.random.default_rng(0))[0])))
    assert chosen[0] == "pass"
    assert chosen[1] != "pass"


@pytest.mark.parametrize("name", VARIANTS)
def test_it_plays_every_variant_legally_and_is_not_behind_rule(name):
    match = play_match(VARIANTS[name], "expert", "rule", 2048, seed=3)
    assert match.interval[1] >= 0


def test_it_is_ahead_of_rule_on_auction_pitch():
    match = play_match(VARIANTS["auction_pitch"], "expert", "rule", 8192, seed=4)
    assert match.interval[0] > 0


def test_the_fitted_file_has_every_weight_of_known_variants():
    assert set(fitted_weights()) <= set(VARIANTS)
    assert all(set(weights) <= set(WEIGHTS) for weights in fitted_weights().values())


def test_house_rules_are_played_with_the_weights_before_any_fit():
    assert weights_of(VARIANTS["auction_pitch"].model_copy(update={"target": 22})) == WEIGHTS


def test_it_takes_no_argument():
    with pytest.raises(ValueError, match="expert takes no argument"):
        make_agent("expert:1")
