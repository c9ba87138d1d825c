"""Match equity tables."""

import numpy as np
import pytest

from pitch_env import VARIANTS, make_agent, variant
from training.equity import Equity, EquityError, compute_equity, equity_from, sample_outcomes, winners

BASE = VARIANTS["auction_pitch"]


def won(rules, mine, theirs, bid, made):
    return winners(rules, np.array([mine]), np.array([theirs]), bid, made).tolist()


def test_only_the_bidding_side_goes_out_9_1():
    assert won(BASE, 21, 25, bid=1, made=True) == [1]
    assert won(BASE, 20, 25, bid=1, made=True) == [-1]
    assert won(BASE, 20, 25, bid=0, made=True) == [0]
    assert won(BASE, 20, 25, bid=1, made=False) == [-1]


def test_the_first_to_the_target_wins_9_2():
    rules = variant("auction_pitch", out="first_to_target")
    assert won(rules, 21, 25, bid=1, made=True) == [1]
    assert won(rules, 21, 25, bid=1, made=False) == [0]
    assert won(rules, 22, 22, bid=1, made=False) == [-1]
    assert won(rules, 3, 22, bid=-1, made=False) == [0]


def test_a_defender_goes_out_on_a_set_9_3():
    rules = variant("auction_pitch", out="made_or_other_set")
    assert won(rules, 5, 22, bid=1, made=False) == [0]
    assert won(rules, 5, 22, bid=1, made=True) == [-1]
    assert won(rules, 22, 5, bid=0, made=False) == [1]


def test_equity_of_a_game_of_one_deal_is_counted_by_hand():
    # A target of 1: whoever makes a bid first wins. Each deal's share of bids made by the dealer's side is p, by the
    # other q; V = p + (1 − p − q)(1 − V), far above the debts of a few sets.
    rules = variant("mini_pitch", target=1)
    agent = make_agent("rule", rules)
    outcomes = sample_outcomes(rules, agent, 2000, 5)
    equity = compute_equity(rules, agent, 2000, 5)
    made = outcomes[:, 3] == 1
    p, q = (made & (outcomes[:, 2] == 1)).mean(), (made & (outcomes[:, 2] == 0)).mean()
    high = np.array([20])
    assert equity.of(high, high)[0] == pytest.approx((p + 1 - p - q) / (2 - p - q), abs=1e-4)


def test_equity_grows_with_the_own_score_and_shrinks_with_the_others():
    equity = equity_from("rule", num_deals=4000)
    scores = np.arange(-10, 20)
    assert (np.diff(equity.of(scores, np.full(30, 5))) > -1e-9).all()
    assert (np.diff(equity.of(np.full(30, 5), scores)) < 1e-9).all()
    level = equity.of(scores, scores)
    assert (np.abs(level - 0.5) < 0.2).all()


def test_a_table_is_saved_and_read_and_checked(tmp_path):
    equity = equity_from("greedy", num_deals=500)
    path = tmp_path / "equity.json"
    equity.save(path)
    again = Equity.load(path, BASE)
    assert np.abs(again.table - equity.table).max() <= 1e-6
    with pytest.raises(EquityError, match="other rules: target differ"):
        Equity.load(path, BASE.replace(target=11))
    path.write_text(path.read_text()[:100])
    with pytest.raises(EquityError, match="not an equity table"):
        Equity.load(path, BASE)
    with pytest.raises(EquityError, match="No such file"):
        Equity.load(tmp_path / "none", BASE)
    with pytest.raises(EquityError, match="sides=3"):
        equity_from("rule", "cutthroat", num_deals=10)


def test_the_command_draws_and_saves_the_table(tmp_path, capsys):
    import json

    from pitch_env.app.cli import main

    out = tmp_path / "equity.json"
    with pytest.raises(SystemExit) as stop:
        main(["equity", "rule", "--deals", "500", "--out", str(out), "--json"])
    assert stop.value.code == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["table"]) == len(Equity.load(out, BASE).table)
    assert "dealer's side" in printed.err
    with pytest.raises(SystemExit) as stop:
        main(["equity", "rule", "--rules", "cutthroat", "--deals", "500"])
    assert stop.value.code == 2
    assert "two sides" in capsys.readouterr().err
