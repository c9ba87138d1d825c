"""Counts of complete action sequences of small deals: by undo, by copies, by the referee, and written out."""

from copy import deepcopy

import numpy as np
import pytest

from pitch_env import Game, Rules, variant
from pitch_env.engine.state import STATE
from tests.against_referee import piles
from tests.referee import Referee

TWO = {"players": 2, "ranks": "TJQKA", "suits": "HS", "deal_packet": 1, "bids": (2,), "smudge": False}
SIX_RANKS = TWO | {"ranks": "9TJQKA", "trump_choice": "named"}
WIDE_AUCTION = {"players": 3, "sides": 3, "bids": (3, 4), "smudge": True, "pitch_in_auction": True}

# name: rules, hands, dealer, other piles, complete action sequences
DEALS = {
    "kuhn_pitch": (variant("kuhn_pitch"), ["KS", "QS"], 1, {}, 18),
    "mini_pitch": (variant("mini_pitch"), ["AS KH", "JS AH"], 1, {}, 36),
    "small_pitch": (variant("small_pitch", bids=(2, 4)), ["AS KS 9H", "JS AH QH"], 0, {}, 112),
    "mini_partners": (variant("mini_partners", bids=(2,)), ["AS KH", "JS AH", "TS QH", "QS TH"], 3, {}, 14),
    "draw": (
        Rules(**SIX_RANKS, hand_size=2, play_size=3, exchange="draw"),
        ["AS 9H", "JS QH"],
        1,
        {"stock": "KS TH AH QS 9S JH TS KH"},
        240,
    ),
    "discard": (
        Rules(**SIX_RANKS, hand_size=4, play_size=2, exchange="discard"),
        ["AS 9H KH TH", "JS QH QS 9S"],
        1,
        {"stock": "KS AH JH TS"},
        216,
    ),
    "refill": (
        Rules(**SIX_RANKS, jokers=1, hand_size=3, play_size=2, exchange="refill", leftover_to="pitcher"),
        ["AS 9S KS", "JS QH X2"],
        1,
        {"stock": "KH TH AH QS 9H JH TS"},
        480,
    ),
    "pitch_in_auction": (
        Rules(**TWO | WIDE_AUCTION, hand_size=2, play_size=2),
        ["AS KH", "JS AH", "QS TH"],
        2,
        {},
        98,
    ),
    "face_down": (
        Rules(**TWO, hand_size=2, play_size=2, face_down_size=1),
        ["AS KH", "JS AH"],
        1,
        {"face_down": ["TS", "QH"]},
        24,
    ),
    "widow_swap": (
        Rules(**TWO, hand_size=2, play_size=2, widow_size=2, widow_to="pitcher_after_first_trick"),
        ["AS KH", "JS AH"],
        1,
        {"widow": "TS QH"},
        36,
    ),
    "no_trump": (
        Rules(
            **TWO, hand_size=2, play_size=2, jokers=2, trump_choice="named", no_trump=True, opening_lead="any",
            first_trick_no_trump=True, off_jack=True,
        ),
        ["JS X1", "JH AS"],
        1,
        {},
        23,
    ),
    "two_packs": (
        Rules(
            **TWO | {"ranks": "TJ", "decks": 2}, hand_size=3, play_size=3, trump_choice="named", opening_lead="plain",
            follow="strict_must_trump",
        ),
        ["TS TS JH", "JS TH JS"],
        1,
        {},
        9,
    ),
}  # fmt: skip


def count_by_undo(game):
    if game.phase == "over":
        return 1
    total = 0
    for action in game.legal_actions():
        game.play(action)
        total += count_by_undo(game)
        game.undo()
    return total


def count_by_copy(game):
    if game.phase == "over":
        return 1
    total = 0
    for action in game.legal_actions():
        after = game.copy()
        after.play(action)
        total += count_by_copy(after)
    return total


def count_by_referee(referee):
    if referee.phase == "over":
        return 1
    total = 0
    for name in referee.legal_names():
        after = deepcopy(referee)
        after.play(name)
        total += count_by_referee(after)
    return total


@pytest.mark.parametrize("name", DEALS)
def test_all_ways_of_counting_agree(name):
    rules, hands, dealer, others, expected = DEALS[name]
    game = Game.from_deal(rules, hands, dealer, **others)
    sides = rules.sides
    referee = Referee(rules.to_dict(), **piles(game), dealer=dealer, scores=[0] * sides, debts=[0] * sides)
    before = game.state()
    assert count_by_undo(game) == expected
    assert all(np.array_equal(game.state()[field], before[field]) for field in STATE.names)
    assert count_by_copy(game) == expected
    assert count_by_referee(referee) == expected


def test_the_count_of_kuhn_pitch_by_hand():
    """One card each, so a deal is its auction.

    Seat 0 passes: the dealer bids 1, 2, 3 or 4 (3.5): 4 ways. Seat 0 bids n: the dealer passes, steals n, or bids one
    of the 4 − n above it: 6 − n ways, 5 + 4 + 3 + 2. Together 18.
    """
    assert DEALS["kuhn_pitch"][-1] == 4 + (5 + 4 + 3 + 2)


def test_the_count_of_mini_pitch_by_hand():
    """18 auctions as in kuhn_pitch; then the pitcher leads either of his two cards, and the other seat must follow.

    Seat 0 (AS KH) leads AS: JS must follow. KH led: hearts are trumps, AH must follow. Seat 1 leads JS: AS. AH: KH.
    So 2 ways each.
    """
    assert DEALS["mini_pitch"][-1] == 18 * 2
