"""Agents that are classes of the user's own."""

import sys

import pytest

from pitch_env import make_agent, variant
from training.duplicate import play_block

RULES = variant("mini_pitch")

PLAYERS = """
from agents.scripted import rule_agent

class Careful:
    def __init__(self, rules):
        self.inner = rule_agent(rules, None)

    def act(self, views, rng):
        return self.inner.act(views, rng)

class Idle:
    def __init__(self, rules):
        pass

def broken(rules):
    raise KeyError("hand")
"""


@pytest.fixture(autouse=True)
def players(tmp_path, monkeypatch):
    (tmp_path / "my_players.py").write_text(PLAYERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])


def test_a_class_of_the_working_folder_plays():
    mine = play_block(RULES, ("python:my_players:Careful", "greedy"), 0, 30, 1)
    assert (mine.margins == play_block(RULES, ("rule", "greedy"), 0, 30, 1).margins).all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python", "needs a module and a class, as in python:my_players:Careful"),
        ("python:my_players", "needs a module and a class"),
        ("python:frog:Careful", "No module named 'frog'"),
        ("python:my_players:Frog", "no attribute 'Frog'"),
        ("python:my_players:broken", r"makes no agent of these rules: KeyError\('hand'\)"),
        ("python:my_players:Idle", "has no act"),
    ],
)
def test_what_is_no_agent_is_refused(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name, RULES)
