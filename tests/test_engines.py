"""Engines over standard input and output: what they are told, what they may answer, what is forfeit."""

import json
import pickle
import re
import shlex
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agents.engines import ExecAgent, told
from pitch_env import VARIANTS, Game, make_agent, variant
from pitch_env.app.cli import main
from training.duplicate import play_block

DOC = (Path(__file__).parent.parent / "docs" / "engines.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```python\n(.*?)```", DOC, re.DOTALL).group(1)
RULES = variant("mini_pitch")

ENGINE = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    message = json.loads(line)
    print(json.dumps({{"name": "test"}}) if number == 0 else {answer}, flush=True)
"""


def engine(tmp_path, answer, rules=RULES, seconds=10.0):
    """Makes an engine that answers each turn with the text of a Python expression of ``message`` and ``number``."""
    program = tmp_path / "engine.py"
    program.write_text(ENGINE.format(answer=answer))
    return ExecAgent([sys.executable, str(program)], rules, seconds)


def turns(num, rules=RULES):
    """Returns the views of the first seats to act of some games."""
    games = [Game(rules, seed) for seed in range(num)]
    return np.stack([game.view(game.seat) for game in games])


def first_legal(views):
    return [min(legal_of(view)) for view in views]


def legal_of(view):
    return [action for action in range(54) if view["legal_cards"] >> action & 1] + [
        54 + k for k in range(25) if view["legal_calls"] >> k & 1
    ]


def test_an_engine_plays_what_it_answers(tmp_path):
    agent = engine(tmp_path, 'json.dumps({"action": message["legal"][-1]})')
    views = turns(5)
    assert agent.act(views, None).tolist() == [max(legal_of(view)) for view in views]
    assert agent.forfeits == Counter()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("""'{"action": "TX"}'""", "illegal action"),
        ("""'{"action": ["pass"]}'""", "illegal action"),
        ("""'{}'""", "illegal action"),
        ("""'pass'""", "malformed answer"),
        ("""'[1]'""", "malformed answer"),
        ("""''""", "malformed answer"),
    ],
)
def test_a_turn_without_a_legal_answer_is_forfeit_and_the_first_legal_action(tmp_path, caplog, answer, reason):
    agent = engine(tmp_path, answer)
    views = turns(3)
    assert agent.act(views, None).tolist() == first_legal(views)
    assert agent.forfeits == {reason: 3}
    assert len(caplog.records) == 1
    assert "the turn is forfeit: pass is played" in caplog.text


def test_a_late_engine_is_started_again_and_given_up_after_three_turns(tmp_path, caplog):
    agent = engine(tmp_path, "time.sleep(20)", seconds=0.2)
    views = turns(5)
    assert agent.act(views, None).tolist() == first_legal(views)
    assert agent.forfeits == {"time-out": 3, "given up": 2}
    assert "did not answer within 0.2 seconds" in caplog.text


def test_an_engine_that_stops_at_times_is_started_again(tmp_path):
    agent = engine(tmp_path, 'json.dumps({"action": message["legal"][-1]}) if number < 3 else sys.exit()')
    views = turns(9)
    last = [max(legal_of(view)) for view in views]
    first = first_legal(views)
    assert agent.act(views, None).tolist() == [first[k] if k % 3 == 2 else last[k] for k in range(9)]
    assert agent.forfeits == {"stopped": 3}


def test_what_is_said_without_being_asked_is_not_taken_for_an_answer(tmp_path):
    agent = engine(tmp_path, 'json.dumps({"action": message["legal"][-1]})')
    for view in turns(4):
        agent._engine._lines.put(b'{"action": "toad"}')
        assert agent.act(view[None], None)[0] == max(legal_of(view))


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_a_line_says_what_the_seat_knows(name):
    rules = VARIANTS[name]
    game = Game(rules, seed=3)
    rng = np.random.default_rng(0)
    plays = []
    while game.phase != "over":
        line = json.loads(json.dumps(told(game.view(game.seat), rules)))
        assert line["legal"] == game.legal_names()
        assert (line["seat"], line["phase"], line["dealer"]) == (game.seat, game.phase, game.dealer)
        assert (line["trump"], line["pitcher"], line["high_bid"]) == (game.trump, game.pitcher, game.high_bid)
        assert (line["scores"], line["debts"]) == (game.scores, game.debts)
        assert sorted(line["hand"].split()) == sorted(game.hand(game.seat).split())
        assert line["plays"][: len(plays)] == plays
        plays = line["plays"]
        game.play(str(rng.choice(game.legal_names())))
    assert len(plays) > 0


def test_the_line_of_a_turn_is_all_that_the_page_says():
    keys = re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in DOC.splitlines() if row.startswith("| `")))
    told_keys = list(told(turns(1)[0], RULES))
    assert [key for key in keys if key in told_keys] == told_keys


def test_the_example_of_the_page_plays_a_match_without_a_forfeit(tmp_path):
    program = tmp_path / "engine.py"
    program.write_text(EXAMPLE)
    rules = variant("ten_point_54")  # jokers and an exchange
    name = f"exec:{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    tally = play_block(rules, (name, "random"), 0, 5, 0)
    assert tally.forfeits == (Counter(), Counter())
    assert tally.decisions[0] > 20


def test_the_command_reports_forfeits(tmp_path, capsys):
    program = tmp_path / "engine.py"
    program.write_text(ENGINE.format(answer="'pass'"))
    command = f"exec:seconds=5 {shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    with pytest.raises(SystemExit):
        main(["evaluate", command, "rule", "--rules", "kuhn_pitch", "--deals", "5", "--json"])
    result = json.loads(capsys.readouterr().out)
    assert result["forfeits"]["a"]["malformed answer"] >= 5
    assert result["forfeits"]["b"] == {}


def test_an_engine_goes_to_another_process_as_its_command(tmp_path):
    agent = engine(tmp_path, 'json.dumps({"action": message["legal"][-1]})')
    views = turns(2)
    assert pickle.loads(pickle.dumps(agent)).act(views, None).tolist() == agent.act(views, None).tolist()


def test_an_engine_ends_with_its_agent(tmp_path):
    agent = engine(tmp_path, "''")
    process = agent._engine._process
    del agent
    assert process.poll() is not None


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (None, "exec needs a program"),
        ("", "exec needs a program"),
        ("./frog", "no program ./frog"),
        ("'frog", "No closing quotation"),
        ("seconds=0 frog", "seconds=0: a number above zero"),
        ("seconds=x frog", "seconds=x: a number above zero"),
        (f"{shlex.quote(sys.executable)} -c ''", "stopped, where an answer was wanted"),
        (f"{shlex.quote(sys.executable)} -c 'print(1)'", "answered b'1"),
    ],
)
def test_what_makes_no_engine_is_refused(argument, message):
    with pytest.raises(ValueError, match=message):
        make_agent("exec" if argument is None else f"exec:{argument}", RULES)


def test_no_shell_reads_the_command(tmp_path):
    mark = tmp_path / "mark"
    with pytest.raises(ValueError, match="stopped"):
        make_agent(f"exec:{shlex.quote(sys.executable)} -c '' ; touch {mark}", RULES)
    assert not mark.exists()
