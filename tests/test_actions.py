"""The numbering of actions: round trips over all values, and written-out names."""

import pytest

from pitch_env.actions import (
    ACTION_NAMES,
    BID_0,
    BLIND,
    FIRST_CALL,
    MAX_BID,
    NAME_C,
    NAME_NT,
    NUM_ACTIONS,
    PASS,
    SMUDGE,
    STAND,
    action_name,
    actions_in,
    parse_action,
)  # fmt: skip
from pitch_env.cards import CARD_NAMES, set_of


@pytest.mark.parametrize("action", range(NUM_ACTIONS))
def test_an_action_and_its_name(action: int):
    assert parse_action(action_name(action)) == action


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("2C", 0), ("X2", 53), ("pass", 54), ("bid 0", 55), ("bid 3", 58), ("bid 15", 70), ("smudge", 71),
        ("name C", 72), ("name D", 73), ("name H", 74), ("name S", 75), ("name NT", 76), ("stand", 77), ("blind", 78),
    ],
)  # fmt: skip
def test_written_out_names(name: str, action: int):
    assert parse_action(name) == action
    assert action_name(action) == name


def test_the_calls_have_their_names():
    calls = [PASS, BID_0, BID_0 + MAX_BID, SMUDGE, NAME_C, NAME_NT, STAND, BLIND]
    assert [action_name(call) for call in calls] == [
        "pass", "bid 0", "bid 15", "smudge", "name C", "name NT", "stand", "blind",
    ]  # fmt: skip


def test_cards_come_first_and_all_names_differ():
    assert ACTION_NAMES[:FIRST_CALL] == CARD_NAMES
    assert len(set(ACTION_NAMES)) == NUM_ACTIONS


@pytest.mark.parametrize(
    "name",
    [
        "",
        "bid",
        "bid 16",
        "bid -1",
        "bid  3",
        "bid 03",
        "Pass",
        "pass ",
        "name",
        "name X",
        "name nt",
        "AH KH",
        None,
        3,
        ["pass"],
    ],
)
def test_what_is_no_action(name: object):
    with pytest.raises(ValueError, match="no action"):
        parse_action(name)


@pytest.mark.parametrize("action", range(NUM_ACTIONS))
def test_an_action_in_a_set(action: int):
    cards, calls = (1 << action, 0) if action < FIRST_CALL else (0, 1 << action - FIRST_CALL)
    assert actions_in(cards, calls) == [action]


def test_the_actions_of_sets_ascend():
    assert actions_in(0, 0) == []
    assert actions_in(set_of([53, 2]), 1 << BLIND - FIRST_CALL | 1) == [2, 53, PASS, BLIND]
