"""Gymnasium's and Stable-Baselines3's own checks of a seat against agents, and what they do not look at."""

from __future__ import annotations

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordEpisodeStatistics, RecordVideo

from pitch_env import VARIANTS, Game, variant
from pitch_env.actions import NUM_ACTIONS, PASS, parse_action
from pitch_env.aec import raw_env
from pitch_env.observation import layout_of, mask_of
from pitch_env.single import SeatEnv

WORKED_DEAL = {
    "hands": ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"],
    "dealer": 3,
}


class Lowest:
    """Plays the lowest legal action and notes who was asked."""

    def __init__(self):
        self.seats = set()
        self.num_asked = 0

    def act(self, views, rng):
        self.seats |= set(views["seat"].tolist())
        self.num_asked += len(views)
        assert views["to_move"].all()
        return np.array([mask_of(view).argmax() for view in views], np.int64)


class Passer:
    """Passes while it can."""

    def act(self, views, rng):
        masks = [mask_of(view) for view in views]
        return np.array([PASS if mask[PASS] else mask.argmax() for mask in masks], np.int64)


class Illegal:
    """No agent: it has nothing to act with."""


def play_out(env, rng=None):
    """Plays an episode that has begun; returns the sum of rewards, the last info and whether it was truncated."""
    total, is_over = 0.0, False
    while not is_over:
        mask = env.action_masks()
        action = mask.argmax() if rng is None else rng.choice(np.flatnonzero(mask))
        _, reward, terminated, truncated, info = env.step(action)
        total, is_over = total + reward, terminated or truncated
    return total, info, truncated


# The libraries' own checks


@pytest.mark.parametrize("name", VARIANTS)
def test_gymnasium_check_env(name):
    check_env(SeatEnv(name, opponents="random"), skip_render_check=True)


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array", "human"])
def test_gymnasium_check_env_with_each_render_mode(mode):
    check_env(gymnasium.make("pitch_env:Pitch-v0", opponents="random", render_mode=mode).unwrapped)


def test_gymnasium_makes_it_by_name():
    env = gymnasium.make("pitch_env:Pitch-v0", rules="six_hand", opponents="random")
    assert isinstance(env.unwrapped, SeatEnv)
    assert env.unwrapped.rules == VARIANTS["six_hand"]
    observation, info = env.reset(seed=1)
    assert observation in env.observation_space
    assert np.array_equal(info["action_mask"], env.get_wrapper_attr("action_masks")())


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma"])
def test_stable_baselines_check_env(name):
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    checker.check_env(SeatEnv(name, opponents="random"))


def test_sb3_contrib_finds_the_masks():
    masking = pytest.importorskip("sb3_contrib.common.maskable.utils")
    env = SeatEnv(opponents="random")
    env.reset(seed=1)
    assert masking.is_masking_supported(env)
    assert masking.get_action_masks(env).sum() > 0


def test_record_episode_statistics():
    env = RecordEpisodeStatistics(SeatEnv(opponents="random"))
    env.reset(seed=1)
    total, info, _ = play_out_wrapped(env)
    assert info["episode"]["r"] == total
    assert info["episode"]["l"] == 7  # a call and six cards


def play_out_wrapped(env):
    total, is_over = 0.0, False
    while not is_over:
        _, reward, terminated, truncated, info = env.step(env.unwrapped.action_masks().argmax())
        total, is_over = total + reward, terminated or truncated
    return total, info, truncated


def test_record_video(tmp_path):
    pytest.importorskip("moviepy", reason="RecordVideo writes its films with moviepy")
    env = RecordVideo(SeatEnv(opponents="random", render_mode="rgb_array"), str(tmp_path), lambda episode: True)
    env.reset(seed=1)
    play_out_wrapped(env)
    assert len(env.recorded_frames) == 8  # as dealt, and after each of seven turns
    env.close()
    (film,) = tmp_path.glob("*.mp4")
    assert film.stat().st_size > 1_000


# Turns, seats and agents


def test_the_seat_sees_what_it_sees_at_the_table_of_all_agents():
    rng = np.random.default_rng(3)
    env, table = SeatEnv(opponents=Passer(), seat=0), raw_env()
    observation, info = env.reset(options={"deal": WORKED_DEAL})
    table.reset(options={"deal": WORKED_DEAL})
    is_over = False
    while not is_over:
        seen = table.observe("seat_0")
        assert np.array_equal(observation, seen["observation"])
        assert np.array_equal(info["action_mask"], seen["action_mask"])
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, is_over, _, info = env.step(action)
        table.step(action)
        while table.agent_selection != "seat_0" and not table.terminations["seat_0"]:
            mask = table.infos[table.agent_selection]["action_mask"]
            table.step(PASS if mask[PASS] else int(mask.argmax()))
    assert reward == table.rewards["seat_0"]
    assert np.array_equal(observation, table.observe("seat_0")["observation"])


def test_the_reward_is_the_side_s_points_minus_the_others():
    rng = np.random.default_rng(1)
    env = SeatEnv("six_hand", opponents="random")
    for seed in range(10):
        env.reset(seed=seed)
        total, *_ = play_out(env, rng)
        points = env._seats.states["points"][0][:3]
        side = env.seat % 3
        assert total == points[side] - (points.sum() - points[side]) / 2


def test_partner_and_opponents_sit_where_they_belong():
    partner, opponents = Lowest(), Lowest()
    env = SeatEnv("six_hand", opponents=opponents, partner=partner, seat=1)
    for seed in range(4):
        env.reset(seed=seed)
        play_out(env)
    assert partner.seats == {4}
    assert opponents.seats == {0, 2, 3, 5}


def test_a_list_of_opponents_sits_from_the_left_on():
    agents = [Lowest(), Lowest(), Lowest(), Lowest()]
    env = SeatEnv("six_hand", opponents=agents, partner="random", seat=5)
    for seed in range(4):
        env.reset(seed=seed)
        play_out(env)
    assert [agent.seats for agent in agents] == [{0}, {1}, {3}, {4}]


def test_of_a_mix_each_episode_draws_one_agent_for_all_opponents():
    agents = [Lowest(), Lowest()]
    env = SeatEnv(opponents={agents[0]: 3, agents[1]: 1}, partner="random", seat=0)
    drawn = []
    for episode in range(200):
        env.reset(seed=0 if episode == 0 else None)
        play_out(env)
        asked = [bool(agent.seats) for agent in agents]
        assert sum(asked) == 1
        drawn.append(asked.index(True))
        assert agents[drawn[-1]].seats == {1, 3}
        for agent in agents:
            agent.seats = set()
    assert 25 < sum(drawn) < 80  # a quarter of 200


def test_seats_are_drawn_unless_one_is_given():
    env = SeatEnv(opponents="random")
    seats = set()
    for seed in range(40):
        _, info = env.reset(seed=seed)
        assert info["seat"] == env.seat
        seats.add(env.seat)
    assert seats == {0, 1, 2, 3}
    env = SeatEnv(opponents="random", seat=2)
    assert {env.reset(seed=seed)[1]["seat"] for seed in range(10)} == {2}


def test_agents_are_not_asked_where_they_have_no_choice():
    agent = Lowest()
    env = SeatEnv("kuhn_pitch", opponents=agent, seat=0)
    env.reset(options={"deal": {"hands": ["QS", "KS"], "dealer": 0}})
    env.step(parse_action("bid 4"))
    assert agent.num_asked == 1  # its call, not its only card


@pytest.mark.parametrize(
    "wrong",
    [
        {"opponents": "nobody"},
        {"opponents": {}},
        {"opponents": {"random": 0}},
        {"opponents": ["random"]},
        {"opponents": ["random", "random"]},
        {"opponents": Illegal()},
        {"seat": 4},
        {"reward": "win"},
        {"rules": "whist"},
    ],
)
def test_a_wrong_argument_is_refused(wrong):
    with pytest.raises(ValueError, match=r"nobody|mix|opponents|partner|act on views|seat=4|win|whist"):
        SeatEnv(**{"opponents": "random", **wrong})


# Ends of episodes


def test_an_illegal_action_ends_the_episode_with_a_penalty_and_a_flag():
    env = SeatEnv(opponents="random")
    _, info = env.reset(seed=1)
    assert info["illegal"] is False
    observation, reward, terminated, truncated, info = env.step(parse_action("blind"))
    assert (reward, terminated, truncated, info["illegal"]) == (-10.0, True, False, True)
    assert observation in env.observation_space
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    env = SeatEnv(opponents="random", illegal_reward=-1)
    env.reset(seed=1)
    assert env.step(NUM_ACTIONS + 5)[1] == -1.0
    for action in ("pass", 1.5, None):
        env.reset(seed=1)
        with pytest.raises(TypeError):
            env.step(action)


def test_a_game_of_kuhn_pitch_is_won_or_lost():
    env = SeatEnv("kuhn_pitch", opponents="random", episode="game", reward="win")
    rng = np.random.default_rng(5)
    env.reset(seed=2)
    results = []
    for _ in range(20):
        total, _, truncated = play_out(env, rng)
        assert not truncated
        assert total == (1.0 if env._seats.states["winner"][0] == env.seat else -1.0)
        results.append(total)
        env.reset()
    assert {-1.0, 1.0} == set(results)


def test_a_game_is_truncated_after_its_most_deals():
    env = SeatEnv(opponents=Lowest(), episode="game", max_deals=3)
    env.reset(seed=1)
    *_, truncated = play_out(env)
    assert truncated
    assert env._seats.states["deal"][0] == 2


# Seeds, options, copies


def test_a_seed_repeats_its_episodes_with_random_agents_too():
    totals = []
    for _ in range(2):
        env = SeatEnv(opponents={"random": 1, "random_bidder": 1})
        rng = np.random.default_rng(1)
        env.reset(seed=4)
        totals.append([])
        for _ in range(12):
            totals[-1].append((play_out(env, rng)[0], env.seat))
            env.reset()
    assert totals[0] == totals[1]
    assert len(set(totals[0])) > 4


def test_options_of_reset():
    env = SeatEnv(opponents=Passer(), seat=3)
    env.reset(seed=1, options={"scores": [3, 4], "dealer": 1})
    assert env._seats.states["scores"][0][:2].tolist() == [3, 4]
    assert env._seats.states["dealer"][0] == 1
    env.reset(options={"rules": variant("auction_pitch", target=11)})
    assert env.rules.target == 11
    env.reset()
    assert env.rules == VARIANTS["auction_pitch"]
    with pytest.raises(ValueError, match="universal"):
        env.reset(options={"rules": "six_hand"})
    with pytest.warns(UserWarning, match="colour"):
        env.reset(options={"colour": "red"})
    record = Game(seed=3).record()
    env.reset(options={"deal": record})
    assert env._seats.states["dealer"][0] == record["dealer"]


def test_with_the_universal_layout_rules_may_change_from_episode_to_episode():
    env = SeatEnv(opponents="random", universal=True)
    assert env.observation_space.shape == (layout_of(VARIANTS["fish"], True).size,)
    for name in VARIANTS:
        observation, _ = env.reset(options={"rules": name})
        assert observation in env.observation_space
        play_out(env)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_in_mid_deal_plays_on_alike(how):
    env = SeatEnv("oklahoma", opponents="random", partner="random_bidder")
    env.reset(seed=6)
    for _ in range(4):
        env.step(env.action_masks().argmax())
    twin = how(env)
    assert play_out(env)[0] == play_out(twin)[0]
    assert np.array_equal(env._seats.states, twin._seats.states)
    assert np.array_equal(env.reset()[0], twin.reset()[0])
