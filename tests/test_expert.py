"""What ``expert`` does: it plays everything, by the weights that it is given, and is far stronger than ``rule``."""

import copy

import numpy as np
import pytest

from agents.expert import (
    CALL_FEATURES,
    FOLLOW_FEATURES,
    LEAD_FEATURES,
    SUIT_FEATURES,
    TABLES,
    expert_of,
    fitted,
    nearest_variant,
    suit_features,
)  # fmt: skip
from agents.maxims import note_rules
from pitch_env import VARIANTS, Game, make_agent, variant
from pitch_env.actions import action_name
from pitch_env.cards import parse_cards, set_of
from pitch_env.engine.jit import kernel
from pitch_env.engine.tables import compile_rules
from training.evaluate import play_match

HANDS = ["9C 8C 7D 6D 5H 4H", "9D 8D 7C 6C 5S 4S", "9H 8H 7S 6S 3C 2C", "KH QH TH 3S 4D 2D"]
"""The dealer has hearts; nobody else has anything."""

STEAL = "first on opponent's bid, 0 to come"


def choice(game, tables=None):
    """Returns what ``expert``, or ``expert`` with some tables, does in a game."""
    agent = make_agent("expert", game.rules) if tables is None else expert_of(game.rules, tables)
    return action_name(int(agent.act(np.array([game.view(game.seat)]), np.random.default_rng(0))[0]))


def game_after(actions, hands=HANDS, **fields):
    game = Game.from_deal("auction_pitch", hands, dealer=3, **fields)
    for action in actions:
        game.play(action)
    return game


def tables_with(table, features, **rows):
    """Returns the tables of ``auction_pitch`` with one table all zeros but for a weight in some rows."""
    tables = copy.deepcopy(fitted()["auction_pitch"])
    tables[table] = {row: [0.0] * len(features) for row in TABLES[table][0]}
    for row, (name, weight) in rows.items():
        tables[table][row][features.index(name)] = weight
    return tables


@kernel
def write_features(hand, t, tables, notes, x):
    suit_features(hand, hand ^ hand, t, tables[0], notes[0], x)


# Calls


def test_a_bid_is_made_where_it_is_worth_more_than_a_pass():
    game = game_after(["bid 2", "pass", "pass"])
    assert choice(game, tables_with("calls", CALL_FEATURES, **{STEAL: ("any", 0.1)})) == "bid 2"
    assert choice(game, tables_with("calls", CALL_FEATURES, **{STEAL: ("any", -0.1)})) == "pass"


def test_of_bids_that_are_worth_more_than_a_pass_the_best_is_made():
    rows = {f"{level} on no bid, 3 to come": ("any", worth) for level, worth in (("first", 1.0), ("third", 2.0))}
    assert choice(game_after([]), tables_with("calls", CALL_FEATURES, **rows)) == "bid 4"


def test_3_1_the_dealer_takes_the_bid_with_the_least_number():
    tables = tables_with("calls", CALL_FEATURES, **{"third on opponent's bid, 0 to come": ("any", 1.0)})
    assert choice(game_after(["bid 2", "pass", "pass"]), tables) == "bid 2"


def test_who_bids_last_weighs_the_bid_of_a_partner_otherwise_than_that_of_an_opponent():
    tables = tables_with("calls", CALL_FEATURES, **{STEAL: ("any", 1.0)})
    assert choice(game_after(["bid 2", "pass", "pass"]), tables) == "bid 2"
    assert choice(game_after(["pass", "bid 2", "pass"]), tables) == "pass"


def test_going_out_is_worth_more_than_the_points():
    tables = tables_with("calls", CALL_FEATURES, **{STEAL: ("any", -0.1)}) | {"out": 1.0}
    calls = ["bid 2", "pass", "pass"]
    assert choice(game_after(calls, scores=[0, 0]), tables) == "pass"
    assert choice(game_after(calls, scores=[0, 19]), tables) == "bid 2"
    assert choice(game_after(calls, scores=[19, 0]), tables) == "bid 2"  # so that the others do not


def test_the_suit_that_is_pitched_is_the_one_that_brings_most():
    tables = copy.deepcopy(fitted()["auction_pitch"])
    # Three spades against the two top hearts.
    game = game_after(["bid 2", "pass", "pass", "pass"], ["AH KH QS JS TS TD", *HANDS[1:3], "KD QD TH 3S 4D 2D"])
    for feature, suit in (("top trump", "H"), ("3", "S")):
        weights = [0.0] * len(SUIT_FEATURES)
        weights[SUIT_FEATURES.index(feature)] = 1.0
        tables["points"] = dict.fromkeys(tables["points"], weights)
        assert choice(game, tables)[1] == suit


# Cards


def test_leads_and_plays_go_by_the_weights_of_their_row():
    game = game_after(["pass", "pass", "pass", "bid 2"])
    for weight, card in ((1.0, "KH"), (-1.0, "TH")):
        assert choice(game, tables_with("leads", LEAD_FEATURES, first=("rank", weight))) == card
    game.play("KH")
    for weight, card in ((1.0, "5H"), (-1.0, "4H")):
        row = "defending, opponent's trick, not last"
        assert choice(game, tables_with("follows", FOLLOW_FEATURES, **{row: ("give trump rank", weight)})) == card


def test_the_features_of_a_suit_are_those_of_its_cards():
    rules = VARIANTS["auction_pitch"]
    hand = np.int64(set_of(parse_cards("AH JH 5H 2H AS TC")))
    x = np.full(len(SUIT_FEATURES), np.nan)
    write_features(hand, 2, compile_rules(rules), note_rules(rules), x)
    held = {name for name, value in zip(SUIT_FEATURES, x, strict=True) if value}
    assert held == {
        "any", "2 trumps", "3", "4", "top trump", "jack", "jack of 3", "jack of 4", "top and jack", "five", "lowest",
        "outside aces", "outside tens", "voids",
    }  # fmt: skip
    assert x[SUIT_FEATURES.index("voids")] == 1


# Strength


@pytest.mark.parametrize("name", VARIANTS)
def test_it_plays_every_variant_legally_and_is_ahead_of_rule(name):
    match = play_match(VARIANTS[name], "expert", "rule", 1024, seed=3)
    assert match.interval[0] > 0


def test_it_is_far_ahead_of_rule_on_auction_pitch():
    assert play_match(VARIANTS["auction_pitch"], "expert", "rule", 4096, seed=4).interval[0] > 0.4
    assert play_match(VARIANTS["auction_pitch"], "expert", "rule", 512, seed=4, whole_games=True).interval[0] > 0.7


# The file, house rules


def test_the_file_has_tables_of_every_variant_with_a_weight_for_each_feature():
    assert list(fitted()) == list(VARIANTS)
    for name, tables in fitted().items():
        assert [int(bid) for bid in tables["points"]] == [bid for bid in VARIANTS[name].bids if bid > 0]
        assert all(len(weights) == len(SUIT_FEATURES) for weights in tables["points"].values())
        for table, (rows, features) in TABLES.items():
            assert set(tables[table]) <= set(rows)
            assert all(len(weights) == len(features) for weights in tables[table].values())


@pytest.mark.parametrize(
    ("rules", "nearest"),
    [
        (variant("auction_pitch", target=11), "auction_pitch"),
        (variant("cutthroat", players=5, sides=5), "cutthroat"),
        (variant("high_low_jack", redeal_one_suit_hand=True), "high_low_jack"),
        (variant("oklahoma", jokers=1), "oklahoma"),
        (variant("auction_pitch", items={"high": 1, "five": 5}), None),
        *((rules, name) for name, rules in VARIANTS.items()),
    ],
)
def test_house_rules_are_played_as_the_nearest_variant(rules, nearest):
    assert nearest_variant(rules) == nearest


def test_house_rules_near_to_none_are_played_as_rule_plays():
    rules = variant("auction_pitch", items={"high": 1, "five": 5})
    assert not play_match(rules, "expert", "rule", 256).margins.any()


def test_it_takes_no_argument():
    with pytest.raises(ValueError, match="expert takes no argument"):
        make_agent("expert:1")
