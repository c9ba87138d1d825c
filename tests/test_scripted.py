"""What the scripted players do, by small positions, and that they play everything."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, Rules, make_agent
from pitch_env.actions import FIRST_CALL, action_name
from pitch_env.cards import card_names, parse_cards
from pitch_env.engine.state import OVER, STATE
from pitch_env.engine.step import apply_batch, start_batch
from pitch_env.engine.tables import compile_rules, pack_of
from pitch_env.observation import VIEW, look_batch
from tests.random_rules import random_rules
from training.evaluate import play_match

SCRIPTED = ("random", "random_bidder", "greedy", "rule")
AUCTION = "bid 2, pass, pass, pass, "
"""Dealer's left, seat 0, becomes the pitcher."""


def deal(hands, dealer=3, rules="auction_pitch"):
    """Returns a game; seats without a given hand, and the face-down piles, have what the given hands leave."""
    made = VARIANTS[rules]
    given = [parse_cards(hand) for hand in hands]
    held = {card for hand in given for card in hand}
    rest = [card for card in pack_of(made) if card not in held]
    given += [[rest.pop() for _ in range(made.hand_size)] for _ in range(made.players - len(given))]
    face_down = [card_names(rest.pop() for _ in range(made.face_down_size)) for _ in range(made.players)]
    return Game.from_deal(made, [card_names(hand) for hand in given], dealer, face_down=face_down)


def choice(agent, game, actions=""):
    """Returns what an agent does in a game after some more actions."""
    for action in filter(None, actions.split(", ")):
        game.play(action)
    views = game.view(game.seat).reshape(1)
    return action_name(make_agent(agent, game.rules).act(views, np.random.default_rng(0))[0])


def call(agent, hand, before="", rules="auction_pitch"):
    """Returns what an agent calls with a hand after some calls; after three it is the dealer."""
    num_before = len([one for one in before.split(", ") if one])
    return choice(agent, deal([hand], 3 - num_before, rules), before)


# Greedy


@pytest.mark.parametrize(
    ("hand", "before", "called"),
    [
        ("AH 5H 9C 8D 7S 6C", "", "bid 2"),  # an ace and another
        ("AH 5C 9C 8D 7S 6C", "", "pass"),
        ("KH 5H 3H 8D 7S 6C", "", "bid 2"),  # a king and two others
        ("KH 5H 3C 8D 7S 6C", "", "pass"),
        ("AH 5H 2H 8D 7S 6C", "bid 2", "bid 3"),  # an ace, the jack or the two, three cards
        ("AH JH 5H 8D 7S 6C", "bid 2", "bid 3"),
        ("AH 5H 4H 8D 7S 6C", "bid 2", "pass"),
        ("AH JH 5H 3H 7S 6C", "bid 3", "bid 4"),
        ("AH JH 5H 4H 7S 6C", "bid 3", "pass"),  # neither two nor three
        ("AH JH 3H 5C 7S 6C", "bid 3", "pass"),  # three cards
        ("AH JH 5H 3H 7S 6C", "", "bid 2"),  # the least bid, whatever the hand is worth
        ("9C 8D 7S 6C 5H 4D", "pass, pass, pass", "bid 2"),  # stuck
        ("AH 5H 9C 8D 7S 6C", "pass, bid 2, pass", "bid 2"),  # steals
        ("AH 5H 9C 8D 7S 6C", "pass, bid 3, pass", "pass"),
    ],
)
def test_greedy_bids_on_honours(hand, before, called):
    assert call("greedy", hand, before) == called


def test_greedy_bids_a_share_of_all_points():
    hand = "AH 5H 2H 4C 7S 6C 4D 8S 9D"  # three of four, so seven of ten
    assert call("greedy", hand, "bid 6", "ten_point_54") == "bid 7"
    assert call("greedy", hand, "bid 7", "ten_point_54") == "pass"


@pytest.mark.parametrize(
    ("hand", "lead"),
    [
        ("AH KH 2C 3C 4C 5C", "AH"),  # 6·2 + 12 + 11 against 6·4 + 0 + 1 + 2 + 3
        ("TH 9H 2C 3C 4C 5C", "5C"),  # 6·2 + 8 + 7
    ],
)
def test_greedy_leads_the_highest_of_its_best_suit_and_later_of_all(hand, lead):
    assert choice("greedy", deal([hand]), AUCTION) == lead


def test_greedy_leads_its_highest_card_later():
    game = deal(["KH QH AS 5C 6D 2S", "4H 9H 9S TC TS 7C", "5H JH TD 8C QD 4C", "6H 8H 3H 4S AD JC"])
    assert choice("greedy", game, AUCTION + "KH, 4H, 5H, 6H") == "AS"


GREEDY_HANDS = ["KH 7H KS 5C 6D 2S", "4H 9H 9S TC TS 7C", "AH QH TD 8C QD 4C", "8H AC 3H 4S AD JC"]


@pytest.mark.parametrize(
    ("plays", "played"),
    [
        ("KH, 4H", "QH"),  # the partner wins: the lowest
        ("7H, 9H", "QH"),  # the lowest winner
        ("7H, 9H, QH", "3H"),  # none wins: the lowest
        ("KH, 4H, QH, 8H, KS, 9S, TD", "3H"),
    ],
)
def test_greedy_follows_low_or_wins_with_the_lowest_rank(plays, played):
    assert choice("greedy", deal(GREEDY_HANDS), AUCTION + plays) == played


def test_greedy_keeps_nothing_but_trumps_in_a_draw():
    game = deal(["AH 5H 9C 8D 7S AC"], 0, "draw_pitch")
    for _ in range(3):
        game.play("pass")
    game.play("bid 2")
    game.play("name H")
    for _ in range(3):
        game.play("stand")
    for gone in ("7S", "8D", "9C", "AC", "stand"):
        assert choice("greedy", game) == gone
        game.play(gone)


# Rule, the auction


@pytest.mark.parametrize(
    ("hand", "before", "called"),
    [
        # King, queen, two: +1.66 on a bid of two, +0.26 on three, −3.22 on four.
        ("KH QH 2H 5C 6D 7S", "", "bid 2"),
        ("KH QH 2H 5C 6D 7S", "bid 2", "bid 3"),
        ("KH QH 2H 5C 6D 7S", "bid 3", "pass"),
        ("KH QH 2H 5C 6D 7S", "bid 2, pass", "pass"),  # not enough to raise a partner
        ("KH QH 2H 5C 6D 7S", "bid 2, pass, pass", "bid 2"),  # enough to steal from an opponent
        ("KH QH 2H 5C 6D 7S", "pass, bid 2, pass", "bid 2"),  # and from a partner
        # Queen, nine, three: −0.20 on a bid of two, enough to open and not to steal.
        ("QH 9H 3H 5C 6D 7S", "", "bid 2"),
        ("QH 9H 3H 5C 6D 7S", "pass, pass", "bid 2"),
        ("QH 9H 3H 5C 6D 7S", "bid 2, pass, pass", "pass"),
        # King, seven and an outside ten: −0.57.
        ("KH 7H TC 4C 6D 8S", "", "pass"),
        ("KH 7H TC 4C 6D 8S", "pass, pass, pass", "bid 2"),  # stuck
        # A and J with two others: +0.16 on a bid of four.
        ("AH JH 7H 6H 5D 4S", "bid 3", "bid 4"),
        ("AH JH 7H 6H 5D 4S", "pass, bid 3", "bid 4"),
        ("AH QH 7H 6H 5D 4S", "bid 3", "pass"),
        ("AH JH 7H 6D 5D 4S", "bid 3", "pass"),
        # A smudge takes the top four, and a fifth trump or two aces outside.
        ("AH KH QH JH 5H 4S", "", "smudge"),
        ("AH KH QH JH AD AS", "bid 4", "smudge"),
        ("AH KH QH JH AD 4S", "", "bid 2"),
        ("AH KH QH TH 9H 8H", "", "bid 2"),
    ],
)
def test_rule_bids_what_the_suit_is_worth(hand, before, called):
    assert call("rule", hand, before) == called


@pytest.mark.parametrize(("hand", "called"), [("AH KH JH 2H 5C 4C", "AH"), ("KH QH 2H 5C 6D 7S", "pass")])
def test_rule_takes_a_pitch_over_if_four_is_worth_it(hand, called):
    game = deal([hand, "KD QD JD 3D 9S 8S"], 0, "pitch_in_auction")
    assert choice("rule", game, "KD, pass, pass") == called


def test_rule_names_the_suit_on_which_it_bid():
    game = deal(["9C 8C 7C 6C AH KH"], 0, "draw_pitch")
    assert choice("rule", game, "pass, pass, pass, bid 2") == "name H"


# Rule, the lead


@pytest.mark.parametrize(
    ("hand", "lead"),
    [
        ("AH KH 9H 5C 6D 7S", "AH"),
        ("KH 9H 2H 5C 6D 7S", "KH"),  # king or queen from three
        ("QH 9H 2H 5C 6D 7S", "QH"),
        ("KH 9H 5C 4C 6D 7S", "9H"),  # else the highest of four to nine
        ("JH TH 7H 4H 2H 7S", "7H"),
        ("KH 2H 5C 4D 6D 7S", "KH"),  # else a bare king or queen
        ("JH TH 3H 2H 6D 7S", "2H"),  # else the lowest
    ],
)
def test_rule_opens_with_a_trump_of_its_best_suit(hand, lead):
    assert choice("rule", deal([hand]), AUCTION) == lead


LEADER = ["AH KH QH AS 6D 2S", "4H 9C 9S TC TS 7C", "5H TH TD 8C QD 4C", "6H 8H 3C 4S AD JC"]


def test_rule_draws_trumps_while_opponents_may_hold_them():
    assert choice("rule", deal(LEADER), AUCTION + "AH, 4H, 5H, 6H") == "KH"


def test_rule_cashes_plain_bosses_when_opponents_have_no_trumps():
    game = deal(LEADER)
    assert choice("rule", game, AUCTION + "AH, 4H, 5H, 6H, KH, 7C, TH, 8H") == "QH"  # seat 3 may have more
    one_trump_each = [*LEADER[:3], "6H 8D 3C 4S AD JC"]
    assert choice("rule", deal(one_trump_each), AUCTION + "AH, 4H, 5H, 6H, KH, 7C, TH, 3C") == "AS"


def test_rule_leads_low_from_short_suits_in_defence():
    hands = ["QH 7H AD 5C 6D 2S", "AH KS 9S TC 8C 7C", "5H TH TD 4C QD 3C", "6H 8H 3H 4S 7D JC"]
    # 7 − 2 for the nine of spades, 7 − 3 for a low club; tens and kings give game away.
    assert choice("rule", deal(hands), AUCTION + "7H, AH, 5H, 6H") == "9S"


# Rule, following: trumps are hearts, seat 0 pitches the ace of hearts and then leads a spade

FIRST_TRICK = AUCTION + "AH, 4H, 5H, 6H, "


def follow(plays, **hands):
    """Returns what the seat to act plays to the second trick; ``seat0`` to ``seat3`` change hands."""
    given = {
        "seat0": "AH KH 2S KS 6D 7D",
        "seat1": "4H 9H 9S 4S 7C 8C",
        "seat2": "5H QH 5S TS QD 4C",
        "seat3": "6H 8H JS 3S AC JC",
    }
    return choice("rule", deal(list((given | hands).values())), FIRST_TRICK + plays)


def test_rule_drops_the_jack_under_the_partners_ace():
    game = deal(["AH KH KS 5C 6D 2S", "4H 9H 9S TC TS 7C", "5H JH TD 8C QD 4C", "6H 8H 3H 4S AD JC"])
    assert choice("rule", game, AUCTION + "AH, 4H") == "JH"


def test_rule_feeds_the_ten_to_the_partners_trick():
    assert follow("2S, 9S, 5S", seat3="6H 8H TS 3S AC JC", seat2="5H QH 5S 8S QD 4C") == "TS"


def test_rule_keeps_a_boss_from_the_partners_trick():
    assert follow("2S, 9S, 5S", seat3="6H 8H AS 3S AC JC") == "3S"


def test_rule_wins_a_ten_in_fourth_hand_with_the_cheapest_gain():
    assert follow("2S, 9S, TS") == "JS"  # 10.9; the eight of trumps is 6.9


def test_rule_spends_no_honour_on_an_empty_trick_in_fourth_hand():
    assert follow("2S, 4S, 5S", seat3="6H KH 3C 9C 4D 9D", seat0="AH QH 2S KS 6D 7D", seat2="5H 7H 5S TS QD 4C") == "3C"


def test_rule_ruffs_a_ten_in_fourth_hand():
    assert follow("2S, 4S, TS", seat3="6H 8H 3C 9C 4D 9D") == "8H"


def test_rule_wins_in_second_hand_with_a_card_that_should_hold():
    assert follow("KS", seat1="4H 9H AS 4S 7C 8C") == "AS"


def test_rule_does_not_risk_a_ten_in_second_hand():
    assert follow("2S", seat1="4H 9C TS 4S 7C 8C", seat2="5H QH 5S 9S QD 4C") == "4S"


def test_rule_does_not_overtake_its_partner_in_third_hand():
    assert follow("KS, 4S", seat2="5H QH AS 3S QD 4C", seat3="6H 8H JS 8S AC JC") == "3S"


def test_rule_turns_a_card_up_rather_than_give_the_jack_away():
    game = deal(["AH KH 2S KS 6D 7D", "4H JH 9S 4S 7C 8C", "5H QH 5S TS QD 4C", "6H 8H JS 3S AC JC"], 3, "fish")
    assert choice("rule", game, AUCTION + "AH, 4H, 5H, 6H, KH") == "blind"


@pytest.mark.parametrize(
    ("trick", "played"),
    [
        ("4H, 9H", "5H"),  # under the nine
        ("4H, 3H", "5H"),  # it must win: as low as it can
        ("4H, QH", "JH"),  # the highest that loses
    ],
)
def test_rule_ducks_to_make_a_bid_of_zero(trick, played):
    hands = ["4H 2H 2C 3C 2D 2S", "9H 3H QH TC TS 7C", "5H JH TD 8C QD 4C", "6H 8H 3D 4S AD JC"]
    rules = VARIANTS["auction_pitch"].replace(bids=(0, 2, 3))
    game = Game.from_deal(rules, hands, 3)
    assert choice("rule", game, f"bid 0, pass, pass, pass, {trick}") == played


# Every variant, and everything else that the rules allow


def play_out(rules, seed, num_deals, agents):
    """Plays deals with an agent for each seat, checks that every action is legal, and returns the final states."""
    tables = compile_rules(rules)
    rng = np.random.default_rng(seed)
    states = np.zeros(num_deals, STATE)
    start_batch(states, tables, seed, 0)
    while (running := np.flatnonzero(states["phase"] != OVER)).size:
        for seat, agent in enumerate(agents):
            mine = running[states["seat"][running] == seat]
            if mine.size == 0:
                continue
            moved = states[mine]
            views = np.zeros(mine.size, VIEW)
            look_batch(moved, tables, views)
            actions = agent.act(views, rng)
            for view, action in zip(views, actions, strict=True):
                legal = int(view["legal_cards"]) | int(view["legal_calls"]) << FIRST_CALL
                assert legal >> int(action) & 1, (rules, view, action_name(action))
            apply_batch(moved, tables, actions)
            states[mine] = moved
    return states


def all_scripted(rules):
    return [make_agent(SCRIPTED[-1 - seat % 4], rules) for seat in range(rules.players)]


@pytest.mark.parametrize("name", VARIANTS)
def test_all_play_legal_actions_of_every_variant(name):
    rules = VARIANTS[name]
    assert (play_out(rules, 1, 50, all_scripted(rules))["phase"] == OVER).all()


def test_all_play_legal_actions_of_random_rules():
    draw = random.Random(5)
    for seed in range(150):
        rules = Rules.from_dict(random_rules(draw))
        agents = all_scripted(rules)
        draw.shuffle(agents)
        play_out(rules, seed, 8, agents)


def duplicate(agent, other, name, num_deals):
    rules = VARIANTS[name]
    return play_match(rules, make_agent(agent, rules), make_agent(other, rules), num_deals, seed=3)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("agent", ["greedy", "rule"])
def test_greedy_and_rule_beat_random_at_every_variant(agent, name):
    match = duplicate(agent, "random", name, 400)
    assert match.interval[0] > 0


def test_rule_beats_greedy_by_a_point_a_deal():
    match = duplicate("rule", "greedy", "auction_pitch", 3000)
    assert 0.9 < match.mean < 1.1


def views_of(name, num_deals):
    """Returns views of deals that random agents have played for a while."""
    rules = VARIANTS[name]
    tables = compile_rules(rules)
    states = np.zeros(num_deals, STATE)
    start_batch(states, tables, 11, 0)
    views = np.zeros(num_deals, VIEW)
    rng = np.random.default_rng(4)
    agent = make_agent("random_bidder", rules)
    for step in range(20):
        running = np.flatnonzero(states["phase"] != OVER)
        running = running[running % 20 >= step]
        moved = states[running]
        look_batch(moved, tables, views[: len(running)])
        apply_batch(moved, tables, agent.act(views[: len(running)], rng))
        states[running] = moved
    running = states[states["phase"] != OVER]
    look_batch(running, tables, views[: len(running)])
    return views[: len(running)]


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma", "fish"])
@pytest.mark.parametrize("agent", SCRIPTED)
def test_a_batch_is_played_as_one_at_a_time(agent, name):
    views = views_of(name, 200)
    player = make_agent(agent, name)
    one_rng = np.random.default_rng(8)
    together = player.act(views, np.random.default_rng(8))
    assert together.dtype == np.int64
    assert together.tolist() == [player.act(views[i : i + 1], one_rng)[0] for i in range(len(views))]


@pytest.mark.parametrize("agent", SCRIPTED)
def test_actions_follow_from_the_generator(agent):
    views = views_of("auction_pitch", 200)
    player = make_agent(agent)
    actions = [player.act(views, np.random.default_rng(seed)).tolist() for seed in (1, 1, 2)]
    assert actions[0] == actions[1]
    assert (actions[0] != actions[2]) == agent.startswith("random")


def test_random_chooses_every_legal_action_equally_often():
    views = np.repeat(deal(["AH 5H 9C 8D 7S 6C"]).view(0).reshape(1), 5000)
    actions = make_agent("random").act(views, np.random.default_rng(2))
    names, counts = np.unique([action_name(action) for action in actions], return_counts=True)
    assert names.tolist() == ["bid 2", "bid 3", "bid 4", "pass", "smudge"]
    assert (abs(counts - 1000) < 120).all()


@pytest.mark.parametrize("agent", SCRIPTED)
def test_an_argument_is_refused(agent):
    with pytest.raises(ValueError, match=f"{agent} takes no argument, not '32'"):
        make_agent(f"{agent}:32")


PLAYED = """
from pitch_env import VARIANTS
from tests.test_scripted import all_scripted, play_out
for name in ("auction_pitch", "oklahoma", "fish"):
    states = play_out(VARIANTS[name], 6, 3, all_scripted(VARIANTS[name]))
    print(states["plays"].tolist(), states["points"].tolist())
"""


def test_uncompiled_kernels_play_the_same():
    compiled, uncompiled = (
        subprocess.run(
            [sys.executable, "-c", PLAYED],
            env={**os.environ, "NUMBA_DISABLE_JIT": disable},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for disable in ("0", "1")
    )
    assert compiled == uncompiled
    assert compiled.count("[") > 3
