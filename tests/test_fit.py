"""The fit of ``expert``: least squares, from nothing, the same bytes again, and stronger than what it starts from."""

import json

import numpy as np
import pytest

from agents.expert import SUIT_FEATURES, TABLES, expert_of
from pitch_env import VARIANTS, variant
from training import fit as module
from training.evaluate import play_match
from training.fit import add_row, fit, main, sample_actions, sample_suits, sampler_of, text_of, weights_of

SMALL = {"num_deals": 1500, "rounds": 2, "games": 32}


@pytest.fixture(scope="module")
def tables():
    return fit(VARIANTS["auction_pitch"], **SMALL)


def nothing(bids):
    return {"points": {str(bid): [0.0] * len(SUIT_FEATURES) for bid in bids}, "out": 0.0} | {
        name: {} for name in TABLES
    }


def test_weights_are_those_of_least_squares():
    rng = np.random.default_rng(1)
    truth = np.array([2.0, -1.0, 0.5])
    sums = np.zeros((4, 3))
    for _ in range(20_000):
        x = rng.integers(0, 2, 3).astype(float)
        add_row(x, float(x @ truth + rng.normal()), sums)
    assert weights_of(sums) == pytest.approx(truth, abs=0.05)


def test_a_feature_that_never_occurs_weighs_nothing():
    sums = np.zeros((3, 2))
    add_row(np.array([1.0, 0.0]), 5.0, sums)
    assert weights_of(sums)[1] == 0


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(tables):
    again = fit(VARIANTS["auction_pitch"], **SMALL)
    other = fit(VARIANTS["auction_pitch"], **SMALL, seed=1)
    assert text_of({"auction_pitch": again}) == text_of({"auction_pitch": tables})
    assert text_of({"auction_pitch": other}) != text_of({"auction_pitch": tables})


def test_it_starts_from_nothing(monkeypatch, tables):
    monkeypatch.setattr("agents.expert.MODELS", None)
    monkeypatch.setattr(module, "fitted", None)
    assert fit(VARIANTS["auction_pitch"], **SMALL) == tables


def test_two_short_rounds_are_enough_to_beat_rule(tables):
    rules = VARIANTS["auction_pitch"]
    assert play_match(rules, expert_of(rules, tables), "rule", 2048).interval[0] > 0.1


def test_aces_and_length_are_worth_points(tables):
    for weights in tables["points"].values():
        worth = dict(zip(SUIT_FEATURES, weights, strict=True))
        assert worth["top trump"] > worth["third"] > 0
        assert worth["3"] > 0
    at_least = [weights[SUIT_FEATURES.index("any")] for weights in tables["points"].values()]
    assert at_least[0] > at_least[1] > at_least[2]  # 8.2  A set costs the bid.


def test_every_suit_that_is_held_is_pitched():
    # A hand of one card has one suit; with the seat and its bid drawn anew, each deal is one row.
    rules = VARIANTS["kuhn_pitch"]
    sums = np.zeros((4, len(SUIT_FEATURES) + 1, len(SUIT_FEATURES)))
    sample_suits(sampler_of(rules, nothing(rules.bids)), np.array(rules.bids), 3, 0, 500, 8, sums)
    num_rows = sums[:, 0, 0]
    assert num_rows.sum() == 500
    assert (num_rows > 80).all()


def test_cards_are_compared_with_the_others_of_the_same_decision():
    # What all cards of a decision have in common tells nothing, so that points of a side cancel out.
    rules = variant("auction_pitch")
    sums = {name: np.zeros((len(rows), len(xs) + 1, len(xs))) for name, (rows, xs) in TABLES.items()}
    sample_actions(sampler_of(rules, nothing(rules.bids)), 3, 0, 200, 8, *sums.values())
    assert all(table.any() for table in sums.values())
    held = TABLES["leads"][1].index("held")
    first = sums["leads"][0]
    assert first[held, held] == pytest.approx(0)  # all leads of the first trick are trumps of one suit
    assert first[:-1].any()


# The file


def test_the_text_is_json_with_variants_in_their_order(tables):
    text = text_of({"six_hand": tables, "auction_pitch": tables})
    assert list(json.loads(text)) == ["auction_pitch", "six_hand"]
    assert json.loads(text)["six_hand"] == tables


def test_the_command_puts_a_variant_into_the_file_and_leaves_the_others(monkeypatch, tmp_path, tables):
    path = tmp_path / "expert.json"
    path.write_text(text_of({"six_hand": tables}), encoding="utf-8")
    monkeypatch.setattr("agents.expert.MODELS", path)
    monkeypatch.setattr(module, "MODELS", path)
    monkeypatch.setattr(module, "DEALS", 50)
    module.fitted.cache_clear()
    try:
        main(["kuhn_pitch"])
    finally:
        module.fitted.cache_clear()
    models = json.loads(path.read_text(encoding="utf-8"))
    assert list(models) == ["six_hand", "kuhn_pitch"]
    assert models["six_hand"] == tables


def test_an_unknown_variant_is_refused():
    with pytest.raises(SystemExit, match="no variant 'whist'; the variants are auction_pitch"):
        main(["whist"])
