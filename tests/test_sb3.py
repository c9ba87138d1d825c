"""Stable-Baselines3: the VecEnv, and MaskablePPO in self-play."""

import json

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported

from pitch_env import VARIANTS, make_agent
from training.config import ConfigError
from training.sb3 import PitchVecEnv, compare, train

SMALL = """
rules = "mini_pitch"
frames = 4096
tables = 64
steps = 16
minibatch = 256
width = 16
fixed = ["random"]
league_size = 2
snapshot_every = 1024
opponents = ["random"]
final_deals = 100
evaluate_every = 2048
evaluate_deals = 100
threads = 1
"""


def random_actions(masks, rng):
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


def test_masks_are_served_from_one_array_as_sb3_contrib_asks_for_them():
    env = PitchVecEnv("auction_pitch", 5, opponents="random")
    env.reset()
    assert is_masking_supported(env)
    masks = get_action_masks(env)
    assert masks.shape == (5, 79)
    assert masks.dtype == np.bool_
    assert (masks == env.tables.masks).all()
    assert (np.stack(env.env_method("action_masks", indices=[2, 4])) == masks[[2, 4]]).all()


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_plays_and_deals_anew(name):
    env, rng = PitchVecEnv(name, 8, opponents="random", seed=3), np.random.default_rng(0)
    obs = env.reset()
    episodes = 0
    for _ in range(60):
        obs, rewards, done, infos = env.step(random_actions(env.tables.masks, rng))
        assert env.observation_space.contains(obs[0])
        assert rewards.dtype == np.float32
        assert (rewards[~done] == 0).all()
        for i in np.flatnonzero(done):
            assert infos[i]["episode"]["r"] == rewards[i]
            assert infos[i]["terminal_observation"].shape == obs[i].shape
        episodes += done.sum()
    assert episodes > 8


def test_the_same_seed_gives_the_same_deals():
    first = PitchVecEnv("auction_pitch", 4, opponents="rule", seed=9).reset()
    assert (first == PitchVecEnv("auction_pitch", 4, opponents="rule", seed=9).reset()).all()
    assert (first != PitchVecEnv("auction_pitch", 4, opponents="rule", seed=10).reset()).any()


def test_an_illegal_action_ends_the_episode_and_is_flagged():
    env = PitchVecEnv("auction_pitch", 2, opponents="random")
    env.reset()
    wrong = [int(np.flatnonzero(mask == 0)[0]) for mask in env.tables.masks]
    _, rewards, done, infos = env.step(np.array(wrong))
    assert done.all()
    assert (rewards < 0).all()
    assert all(info["illegal_action"] for info in infos)


def test_only_what_tables_have_can_be_asked_for():
    env = PitchVecEnv("auction_pitch", 2, opponents="random")
    with pytest.raises(AttributeError, match="no method 'fly'"):
        env.env_method("fly")
    with pytest.raises(AttributeError, match="cannot be set"):
        env.set_attr("rules", 3)


def test_maskable_ppo_trains_in_self_play_and_its_model_is_an_agent(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    result = train(path, tmp_path / "run", progress=False)
    assert result["frames"] == 4096
    curve = json.loads((tmp_path / "run" / "result.json").read_text())["curve"]
    assert [point["frames"] for point in curve] == [2048, 4096]
    assert all(point["low"] < point["mean"] < point["high"] for point in curve)
    assert 0 < curve[0]["seconds"] < curve[1]["seconds"]
    assert (tmp_path / "run" / "curves.png").exists()
    agent = make_agent(f"sb3:{tmp_path / 'run'}", "mini_pitch")
    from training.evaluate import play_match

    match = play_match(VARIANTS["mini_pitch"], agent, make_agent("random", "mini_pitch"), 100, ~0)
    assert match.mean == pytest.approx(result["strength"]["random"]["mean"])
    with pytest.raises(ConfigError, match="is there already"):
        train(path, tmp_path / "run", progress=False)


def test_models_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(ValueError, match="needs a path"):
        make_agent("sb3")
    with pytest.raises(ValueError, match="no such model"):
        make_agent(f"sb3:{tmp_path / 'none.zip'}")
    (tmp_path / "text.zip").write_text("no model")
    with pytest.raises(ValueError, match="not a model of MaskablePPO"):
        make_agent(f"sb3:{tmp_path / 'text.zip'}")


def test_both_learners_are_measured_on_the_same_game():
    result = compare("mini_pitch", width=16, threads=1, seconds=0.01)
    assert result["ratio"] == pytest.approx(result["ours"] / result["maskable_ppo"])
    assert result["ratio_stock"] == pytest.approx(result["ours"] / result["maskable_ppo_stock"])
    assert min(result["maskable_ppo"], result["maskable_ppo_stock"]) > 0
    assert (result["rules"], result["width"], result["depth"]) == ("mini_pitch", 16, 2)
