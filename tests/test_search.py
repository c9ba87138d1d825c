"""Search agents: what they are named, that they play every variant, and that they see no more than they may."""

import pickle

import numpy as np
import pytest

from agents.search import (
    ERROR_CHANCE,
    Budget,
    Table,
    best_of,
    draw,
    has_choice,
    read_argument,
)
from agents.solver import action_values
from agents.worlds import past_decisions, sample_worlds
from pitch_env import VARIANTS, Game, variant
from pitch_env.actions import PASS
from pitch_env.agent import make_agent
from pitch_env.cards import card_names, cards_in
from pitch_env.engine.state import STATE
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW
from training.evaluate import play_match

RULES = variant("auction_pitch")


def views_of_games(rules, num, seed, phase=None, agent="greedy"):
    """Views of seats with a choice, from games that an agent plays."""
    player, rng, found = make_agent(agent, rules), np.random.default_rng(seed), []
    game = Game(rules, seed)
    while len(found) < num:
        if game.seat is None:
            game = Game(rules, seed + len(found) + 1)
            continue
        view = np.array([game.view(game.seat)], VIEW)
        if has_choice(view)[0] and (phase is None or game.phase == phase):
            found.append((game.copy(), view))
        game.play(int(player.act(view, rng)[0]))
    return found


# Names


@pytest.mark.parametrize(
    ("text", "budget"), [("32", Budget(32, None)), ("20ms", Budget(None, 0.02)), ("1?bid=x", Budget(1, None))]
)
def test_an_argument_is_a_budget_in_worlds_or_in_milliseconds(text, budget):
    assert read_argument("pimc", text, ("bid",))[0] == budget


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pimc", "pimc needs worlds or milliseconds"),
        ("pimc:0", "pimc needs worlds or milliseconds"),
        ("pimc:ten", "not 'ten'"),
        ("pimc:8?bid=rule&fast=1", "pimc has no option 'fast'"),
        ("pimc:8?depth=2", "depth='2' is no whole number in 0 … 1"),
        ("search:8?from=one", "from='one' is no whole number"),
        ("pimc:8?bid=maybe", "bid='maybe' is not one of rule, rollout"),
        ("pimc:8?infer=best", "infer='best' is not one of none, rule"),
        ("search:8?infer=rule", "infer='rule' is not one of none, net"),
        ("search:8?trust=much", "trust='much' is no number"),
        ("search:8?net=/nowhere", "/nowhere"),
        ("cheat:8", "cheat takes no argument"),
    ],
)
def test_arguments_that_make_no_agent_are_refused_in_a_line(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name, RULES)


# What is found


def test_values_are_the_solvers_mean_over_worlds():
    (game, view) = views_of_games(RULES, 8, seed=3, phase="play")[-1]
    table = Table(RULES)
    values = table.search(view, Budget(16, None), np.random.default_rng(5))
    legal = np.flatnonzero(~np.isnan(values[0]))
    assert legal.tolist() == game.legal_actions()
    # 1,000 other worlds of the same view: the means of 16 lie within a few standard errors.
    worlds = sample_worlds(view, RULES, 1000, np.random.default_rng(6))
    exact = action_values(worlds, RULES)[:, legal]
    away = (values[0, legal] - exact.mean(axis=0)) / (exact.std(axis=0) / 4 + 1e-9)
    assert np.abs(away).max() < 4.5


def test_values_do_not_depend_on_who_else_is_searched():
    found = views_of_games(RULES, 5, seed=9, phase="play")
    views = np.concatenate([view for _, view in found])
    table = Table(RULES)
    together = table.search(views, Budget(4, None), np.random.default_rng(1))
    first = table.search(views[:1], Budget(4, None), np.random.default_rng(1))
    assert np.array_equal(together[:1], first, equal_nan=True)


def test_best_of_keeps_the_preferred_action_where_it_is_as_good_or_nothing_is_known():
    values = np.array([[1.0, 1.0, np.nan], [0.0, 2.0, np.nan], [np.nan, np.nan, np.nan]])
    assert best_of(values, np.array([1, 0, 2])).tolist() == [1, 1, 2]


def test_following_a_trick_is_a_player_who_sees_one_hand_then_the_solver():
    table, rule = Table(RULES), make_agent("rule", RULES)
    for game, view in views_of_games(RULES, 10, seed=11, phase="play"):
        values = table.search(view, Budget(20, None), np.random.default_rng(5), follow=table.rule_actions)
        assert np.flatnonzero(~np.isnan(values[0])).tolist() == game.legal_actions()
        # The same worlds, one action at a time.
        worlds = np.zeros((1, 16), STATE)
        draw(view, table.tables, np.random.default_rng(5).integers(1 << 62, size=1), 0, worlds, np.zeros(1, np.bool_))
        first = table.search(view, Budget(16, None), np.random.default_rng(5), follow=table.rule_actions)
        for action in game.legal_actions():
            total = 0
            for world in worlds[0]:
                played = pickle.loads(pickle.dumps(game))
                played._states[:] = world
                trick = int(world["trick"])
                played.play(action)
                while played.seat is not None and int(played.state()["trick"]) == trick:
                    mine = np.array([played.view(played.seat)], VIEW)
                    played.play(int(rule.act(mine, np.random.default_rng(0))[0]))
                side = int(view["seat"][0]) % 2
                if played.seat is None:
                    points = played.deal_result.points
                    total += points[side] - points[1 - side]
                else:
                    best = np.nanmax(action_values(np.array([played.state()]), RULES)[0])
                    total += best if played.seat % 2 == side else -best
            assert first[0, action] == pytest.approx(total / 16)


def test_past_decisions_are_what_was_done_as_those_who_did_it_saw_it():
    for name in ("auction_pitch", "six_hand", "draw_pitch", "pitch_in_auction", "nine_card"):
        rules = variant(name)
        game, rng = Game(rules, seed=5), np.random.default_rng(0)
        player, seen = make_agent("greedy", rules), []
        for _ in range(40):
            if game.seat is None:
                break
            seat, phase = game.seat, game.phase
            view = np.array([game.view(seat)], VIEW)
            action = int(player.act(view, rng)[0])
            if has_choice(view)[0] and phase != "exchange":
                seen.append((seat, view, action))
            game.play(action)
            if phase == "play" and len(seen) > 12:
                break
        me = game.seat
        views, (actions, of, when) = np.zeros(200, VIEW), np.zeros((3, 200), np.int64)
        world = np.array([game.state()])
        num = past_decisions(world, compile_rules(rules), me, views, actions, of, when)
        others = [(view, action) for seat, view, action in seen if seat != me]
        assert num == len(others), name
        assert actions[:num].tolist() == [action for _, action in others], name
        assert (np.diff(when[:num]) > 0).all()
        for (view, _), again in zip(others, views[:num], strict=True):
            for column in VIEW.names:
                assert np.array_equal(view[0][column], again[column]), (name, column)


def test_worlds_in_which_others_did_what_the_network_would_not_count_less():
    agent = make_agent("search:8", RULES)
    (_, view) = views_of_games(RULES, 6, seed=21, phase="play", agent="best")[5]
    worlds = sample_worlds(view, RULES, 64, np.random.default_rng(3))
    weights = agent.log_likelihood(view, worlds[None])[0]
    assert (weights <= 0).all()
    kept = weights[np.isfinite(weights)]
    assert len(kept) > 1
    assert kept.std() > 0.1


# Play


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_search_plays_every_variant(name):
    rules = VARIANTS[name]
    for agent in ("pimc:2", "pimc:1?bid=rollout&depth=1", "cheat"):
        play_match(rules, make_agent(agent, rules), make_agent("greedy", rules), 2, seed=1)


def test_a_time_budget_ends():
    agent = make_agent("pimc:1ms", RULES)
    views = np.concatenate([view for _, view in views_of_games(RULES, 3, seed=2, phase="play")])
    assert len(agent.act(views, np.random.default_rng(0))) == 3


def test_the_same_seed_gives_the_same_play():
    margins = [
        play_match(RULES, make_agent("pimc:4", RULES), make_agent("greedy", RULES), 10, seed=8).margins.tolist()
        for _ in range(2)
    ]
    assert margins[0] == margins[1]


def test_more_knowledge_is_more_points():
    rule = make_agent("rule", RULES)
    cheat = play_match(RULES, make_agent("cheat", RULES), rule, 150, seed=3)
    assert cheat.interval[0] > 0.5
    searched = play_match(RULES, make_agent("pimc:16", RULES), make_agent("greedy", RULES), 150, seed=3)
    assert searched.interval[0] > 0


def test_play_phase_only_is_searched_unless_asked_otherwise():
    found = views_of_games(RULES, 6, seed=1, phase="auction")
    views = np.concatenate([view for _, view in found])
    rule = make_agent("rule", RULES).act(views, np.random.default_rng(0))
    assert make_agent("pimc:4", RULES).act(views, np.random.default_rng(0)).tolist() == rule.tolist()


def test_inference_weighs_worlds_by_whether_rule_would_have_called_as_was_called():
    found = [view for _, view in views_of_games(RULES, 30, seed=31, phase="play", agent="rule")]
    view = next(view for view in found if view["calls"][0, 1:4].tolist().count(PASS) < 3)
    worlds = sample_worlds(view, RULES, 300, np.random.default_rng(7))
    weights = Table(RULES).log_chances(view, worlds[None])[0]
    assert weights.std() > 0.1

    def call_chance(world, seat):
        """One tenth for each call of another seat that ``rule`` would not have made, by a game played again."""
        rule, hands = make_agent("rule", RULES), [card_names(cards_in(int(hand))) for hand in world["dealt"][:4]]
        game, chance = Game.from_deal(RULES, hands=hands, dealer=int(world["dealer"])), 1.0
        while game.phase == "auction":
            call = int(world["calls"][game.seat])
            choice = rule.act(np.array([game.view(game.seat)], VIEW), np.random.default_rng(0))[0]
            if game.seat != seat and len(game.legal_actions()) > 1 and choice != call:
                chance *= ERROR_CHANCE
            game.play(call)
        return chance

    assert np.exp(weights) == pytest.approx([call_chance(world, view["seat"][0]) for world in worlds])
