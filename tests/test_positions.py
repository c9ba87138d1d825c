"""Named positions: each is reached, its right actions are better than all others, and how agents are scored."""

import json

import numpy as np
import pytest

from agents.search import Budget, Table
from pitch_env import Game, variant
from pitch_env.actions import parse_action
from pitch_env.app import cli
from pitch_env.app.positions import POSITIONS, PositionError, read_positions, score
from pitch_env.observation import VIEW

ALL = read_positions()

KUHN = """
[[position]]
name = "ace"
rules = "kuhn_pitch"
dealer = 1
hands = ["AS", "TS"]
calls = ""
best = ["bid 4"]
why = "A lone ace is High and Game and takes the trick."
"""


def written(tmp_path, text):
    path = tmp_path / "positions.toml"
    path.write_text(text, encoding="utf-8")
    return path


# The file


def test_there_are_forty_positions_of_several_variants_and_most_of_the_base_game():
    rules = [position.rules for position in ALL]
    assert len(ALL) >= 40
    assert rules.count("auction_pitch") > len(ALL) / 2
    assert {"cutthroat", "draw_pitch", "six_hand", "low_to_holder"} <= set(rules)


def test_no_position_is_given_away_by_the_right_actions():
    assert [position.name for position in ALL if len(position.right) == len(position.game.legal_actions())] == []


def test_every_reason_is_one_sentence():
    assert [position.name for position in ALL if not position.why.endswith(".") or ". " in position.why] == []


@pytest.mark.parametrize("rules", sorted({position.rules for position in ALL}))
@pytest.mark.parametrize(("in_play", "worlds"), [(True, 100), (False, 1000)])
def test_right_actions_are_better_than_all_others_over_worlds(rules, in_play, worlds):
    # Cards by the exact solver; calls, names and discards by playing out, which varies more and costs less.
    mine = [position for position in ALL if position.rules == rules and (position.game.phase == "play") == in_play]
    views = np.array([position.game.view(position.game.seat) for position in mine], VIEW)
    values = Table(variant(rules)).search(views, Budget(worlds, None), np.random.default_rng(1))
    for position, row in zip(mine, values, strict=True):
        right = [parse_action(name) for name in position.right]
        others = [action for action in position.game.legal_actions() if action not in right]
        assert row[right].min() > row[others].max() + 0.25, position.name


def test_expert_gets_nine_in_ten():
    result = score("expert", ALL)
    assert result["score"] >= 0.9, result["failures"]


def test_random_play_gets_far_fewer():
    assert score("random", ALL)["score"] < 0.6


# Reading


def test_a_position_is_the_game_after_its_calls_and_plays(tmp_path):
    text = KUHN.replace('calls = ""', 'calls = "bid 4, pass"').replace('best = ["bid 4"]', 'best = ["AS"]')
    position = read_positions(written(tmp_path, text))[0]
    game = Game.from_deal("kuhn_pitch", ["AS", "TS"], 1)
    game.play("bid 4")
    game.play("pass")
    assert position.game.view(0) == game.view(0)
    assert position.right == ("AS",)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"AS", "TS"', '"AS", "AS"', "AS: given more often than the pack has it"),
        ('calls = ""', 'calls = "bid 5"', "position 1 .'ace'.: bid 5 is not legal"),
        ('"bid 4"', '"AS"', "best 'AS' is not legal; legal: pass, bid 1"),
        ('"kuhn_pitch"', '"whist"', "no variant 'whist'"),
        ("why", "reason", "position 1 .'ace'.: why: Field required"),
        ("dealer = 1", "dealer = ", "positions.toml"),
        (KUHN, "", "has no ..position.."),
        (KUHN, KUHN + KUHN, "two positions are named 'ace'"),
    ],
)
def test_a_malformed_file_is_refused_with_the_position_named(tmp_path, old, new, message):
    with pytest.raises(PositionError, match=message):
        read_positions(written(tmp_path, KUHN.replace(old, new)))


# Scoring


def test_failures_say_what_was_chosen_and_what_was_right(tmp_path):
    text = KUHN + KUHN.replace('"ace"', '"worse"').replace("bid 4", "pass")
    positions = read_positions(written(tmp_path, text))
    chosen = next(row["chosen"] for row in score("rule", positions)["failures"] if row["name"] == "worse")
    assert chosen != "pass"
    result = score("rule", positions)
    assert result["right"] + len(result["failures"]) == result["positions"] == 2
    assert result["failures"][-1] == {
        "name": "worse", "rules": "kuhn_pitch", "chosen": chosen, "right": ["pass"], "why": positions[1].why,
    }  # fmt: skip


def test_an_agent_that_needs_all_cards_is_refused():
    with pytest.raises(PositionError, match="cheat needs to see all cards"):
        score("cheat", ALL)


def test_an_agent_of_other_rules_is_refused_with_a_way_out():
    with pytest.raises(PositionError, match=r"no agent 'nobody'.*--rules picks those of one variant"):
        score("nobody", ALL)


def test_a_choice_that_is_not_legal_is_an_error(monkeypatch):
    class Stubborn:
        def act(self, views, rng):
            return np.full(len(views), 99)

    monkeypatch.setattr("pitch_env.app.positions.make_agent", lambda name, rules: Stubborn())
    with pytest.raises(PositionError, match=f"stubborn chose 99 in position {ALL[0].name!r}"):
        score("stubborn", ALL)


# The command


def test_the_command_prints_one_json_object(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["positions", "greedy", "--rules", "cutthroat", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert stopped.value.code == 0
    assert result["agent"] == "greedy"
    assert result["positions"] == len([position for position in ALL if position.rules == "cutthroat"])
    assert result["score"] == result["right"] / result["positions"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["cheat"], "cheat needs to see all cards"),
        (["nobody"], "no agent 'nobody'"),
        (["rule", "--rules", "fish"], "no positions of 'fish'; there are some of auction_pitch, "),
    ],
)
def test_bad_input_is_one_line_and_code_2(capsys, args, message):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["positions", *args])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


def test_the_file_is_in_the_package():
    assert POSITIONS.parent.name == "agents"
