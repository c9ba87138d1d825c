"""The batch against `Game`, whatever its size and threads; the vector environment against single ones."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from pitch_env import VARIANTS, Game, variant
from pitch_env.actions import NUM_ACTIONS, PASS, parse_action
from pitch_env.observation import layout_of, mask_of
from pitch_env.single import SeatEnv
from pitch_env.vector import Batch, PitchVectorEnv


def random_actions(masks, rng):
    return (masks * rng.random(masks.shape)).argmax(1)


def lowest_actions(masks):
    return masks.argmax(1)


class LowestAgent:
    """Leaves nothing to chance: the lowest legal action."""

    def act(self, views, rng):
        return np.array([mask_of(view).argmax() for view in views], np.int64)


def lowest_by_number(masks, number):
    """A deterministic choice that does depend on the step."""
    return (masks * ((np.arange(NUM_ACTIONS) * 37 + number * 11) % NUM_ACTIONS + 1)).argmax(1)


# Batch


@pytest.mark.parametrize("name", VARIANTS)
def test_the_first_game_of_a_batch_is_the_game_of_that_seed(name):
    rng = np.random.default_rng(2)
    rules = VARIANTS[name]
    batch, game = Batch(rules, 3, seed=11, whole_games=True), Game(rules, seed=11)
    for _ in range(80):
        assert batch.seats[0] == game.seat
        assert np.flatnonzero(batch.masks[0]).tolist() == game.legal_actions()
        assert batch.views[0].tobytes() == game.view(game.seat).tobytes()
        actions = random_actions(batch.masks, rng)
        game.play(int(actions[0]))
        points, done = batch.step(actions)
        if game.phase == "over":
            assert points[0].tolist() == game.deal_result.points
            assert done[0] == (game.winner is not None)
            assert batch.winners[0] == (-1 if game.winner is None else game.winner)
            if done[0]:
                return
            game.next_deal()
        else:
            assert not points[0].any()
            assert not done[0]
            assert batch.winners[0] == -1


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma"])
def test_a_game_is_the_same_in_any_batch_and_on_any_number_of_threads(name):
    whole, threaded = Batch(name, 12, seed=5), Batch(name, 12, seed=5, threads=2)
    parts = [Batch(name, 5, seed=5), Batch(name, 7, seed=5, first_table=5)]
    for number in range(60):
        for batch in (whole, threaded, *parts):
            batch.step(lowest_by_number(batch.masks, number))
        assert whole.states.tobytes() == threaded.states.tobytes()
        assert whole.states.tobytes() == b"".join(part.states.tobytes() for part in parts)
        for field in ("observations", "masks", "seats", "points", "done", "winners"):
            assert np.array_equal(getattr(whole, field), getattr(threaded, field))
            assert np.array_equal(getattr(whole, field), np.concatenate([getattr(part, field) for part in parts]))


def test_a_batch_of_deals_settles_every_deal_from_zero():
    rng = np.random.default_rng(1)
    batch = Batch("auction_pitch", 32, seed=1)
    settled = 0
    for _ in range(120):
        scores = batch.states["scores"][:, :2].copy()
        assert not scores.any()
        points, done = batch.step(random_actions(batch.masks, rng))
        assert not points[~done].any()
        settled += int(done.sum())
    assert settled > 32
    assert batch.states["deal"].min() >= 1


def test_a_batch_reuses_its_buffers():
    batch = Batch("auction_pitch", 4, seed=1)
    before = batch.observations, batch.masks, batch.views, batch.states, batch.points, batch.done
    points, done = batch.step(lowest_actions(batch.masks))
    after = batch.observations, batch.masks, batch.views, batch.states, points, done
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert batch.full_states() is batch.full_states([0, 1, 2, 3])


def test_the_full_states_of_a_batch_start_with_what_the_seat_observes():
    batch = Batch("fish", 6, seed=3)
    for number in range(30):
        full = batch.full_states()
        assert full.shape == (6, layout_of(VARIANTS["fish"]).state_size)
        assert np.array_equal(full[:, : batch.layout.size], batch.observations)
        batch.step(lowest_by_number(batch.masks, number))
    assert not np.array_equal(batch.full_states([0] * 6).copy(), batch.full_states([1] * 6))


def test_a_reset_starts_the_same_games_or_those_of_another_seed():
    batch = Batch("auction_pitch", 4, seed=3)
    dealt = batch.states.tobytes()
    batch.step(lowest_actions(batch.masks))
    batch.reset()
    assert batch.states.tobytes() == dealt
    batch.reset(seed=4)
    assert batch.states.tobytes() != dealt


def test_a_universal_batch_has_one_width_for_all_rules():
    assert (
        Batch("kuhn_pitch", 2, universal=True).observations.shape == Batch("fish", 2, universal=True).observations.shape
    )


@pytest.mark.parametrize(
    "wrong", [{"num_games": 0}, {"num_games": 2, "threads": 0}, {"num_games": 2, "rules": "whist"}]
)
def test_a_batch_refuses_what_makes_no_batch(wrong):
    with pytest.raises(ValueError, match=r"num_games|threads|whist"):
        Batch(**{"rules": "auction_pitch", **wrong})


def test_a_batch_refuses_actions_of_another_shape():
    with pytest.raises(ValueError, match="shape"):
        Batch("auction_pitch", 3).step(np.zeros(2, np.int64))


# PitchVectorEnv


def made(num_envs=5, **kwargs):
    return PitchVectorEnv(num_envs, **{"opponents": LowestAgent(), **kwargs})


def made_of_single(num_envs=5, autoreset_mode=AutoresetMode.NEXT_STEP, **kwargs):
    kwargs = {"opponents": LowestAgent(), **kwargs}
    return SyncVectorEnv([lambda: SeatEnv(**kwargs)] * num_envs, autoreset_mode=autoreset_mode)


def assert_same(one, other):
    """Compares what two vector environments returned, arrays and dicts in each other."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, tuple):
        for mine, others in zip(one, other, strict=True):
            assert_same(mine, others)
    elif isinstance(one, np.ndarray) and one.dtype.hasobject:
        assert [value is None for value in one] == [value is None for value in other]
        assert all(np.array_equal(mine, others) for mine, others in zip(one, other, strict=True) if mine is not None)
    else:
        assert np.asarray(one).dtype == np.asarray(other).dtype
        assert np.array_equal(one, other)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"rules": "oklahoma", "seat": 1},
        {"rules": "six_hand"},
        {"rules": "kuhn_pitch", "episode": "game", "reward": "win"},
        {"episode": "game", "max_deals": 2},
    ],
)
def test_it_is_what_gymnasium_makes_of_single_environments(mode, kwargs):
    one, other = made(autoreset_mode=mode, **kwargs), made_of_single(autoreset_mode=mode, **kwargs)
    assert one.observation_space == other.observation_space
    assert one.action_space == other.action_space
    assert one.metadata["autoreset_mode"] == mode
    first, second = one.reset(seed=3), other.reset(seed=3)
    assert_same(first, second)
    for number in range(70):
        actions = lowest_by_number(first[-1]["action_mask"], number)
        if number % 13 == 12:
            actions[number % 5] = parse_action("blind")  # illegal
        first, second = one.step(actions), other.step(actions)
        assert_same(first, second)


def test_tables_that_are_not_reset_by_themselves_are_reset_by_a_mask():
    env = made(autoreset_mode=AutoresetMode.DISABLED)
    _, info = env.reset(seed=1)
    ended = np.zeros(5, np.bool_)
    while not ended.any():
        _, _, terminated, truncated, info = env.step(lowest_actions(info["action_mask"]))
        ended = terminated | truncated
    with pytest.raises(ValueError, match="reset_mask"):
        env.step(lowest_actions(info["action_mask"]))
    before = env.action_masks()
    env.reset(options={"reset_mask": ended})
    assert env.action_masks().any(1).all()
    assert np.array_equal(before[~ended], env.action_masks()[~ended])
    for wrong in (np.zeros(5, np.bool_), np.ones(4, np.bool_), [True] * 5):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": wrong})


def test_gymnasium_makes_it_by_its_vector_entry_point():
    env = gymnasium.make_vec("pitch_env:Pitch-v0", num_envs=3, rules="six_hand", opponents="random")
    assert isinstance(env.unwrapped, PitchVectorEnv)
    assert env.unwrapped.rules == VARIANTS["six_hand"]
    sync = gymnasium.make_vec(
        "pitch_env:Pitch-v0", num_envs=3, vectorization_mode="sync", rules="six_hand", opponents="random"
    )
    assert sync.observation_space == env.observation_space
    observations, _ = env.reset(seed=1)
    assert observations in env.observation_space
    assert env.action_space.sample() in env.action_space


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_gymnasiums_vector_wrappers_work(mode):
    env = DictInfoToList(RecordEpisodeStatistics(made(autoreset_mode=mode)))
    env.reset(seed=2)
    for _ in range(60):
        env.step(lowest_actions(env.unwrapped.action_masks()))
    lengths = env.env.length_queue
    assert len(lengths) > 10
    assert set(lengths) == {7}  # a call and six cards


def test_what_is_returned_is_not_overwritten():
    env = made()
    first = env.reset(seed=1)
    kept = first[0].copy(), first[1]["action_mask"].copy()
    second = env.step(lowest_actions(first[1]["action_mask"]))
    assert np.array_equal(first[0], kept[0])
    assert np.array_equal(first[1]["action_mask"], kept[1])
    assert not np.shares_memory(first[0], second[0])


def test_a_seed_repeats_everything_and_none_goes_on():
    one, other = made(opponents="random"), made(opponents="random")
    results = []
    for env in (one, other):
        seen = [env.reset(seed=8)]
        for _ in range(20):
            seen.append(env.step(lowest_actions(env.action_masks())))
        seen.append(env.reset())
        results.append(seen)
    for first, second in zip(*results, strict=True):
        assert_same(first, second)
    assert not np.array_equal(results[0][0][0], results[0][-1][0])


def test_wrong_actions_are_refused():
    env = made()
    env.reset(seed=1)
    for wrong in (np.zeros(4, np.int64), np.zeros(5), np.zeros((5, 1), np.int64)):
        with pytest.raises(ValueError, match="actions"):
            env.step(wrong)


def test_all_pass_ends_an_episode_without_a_reward_where_it_voids_the_deal():
    env = PitchVectorEnv(4, variant("high_low_jack"), opponents=Passer())
    env.reset(seed=1)
    _, rewards, terminated, *_ = env.step(np.full(4, PASS))
    assert terminated.all()
    assert not rewards.any()


class Passer:
    def act(self, views, rng):
        return np.full(len(views), PASS, np.int64)
