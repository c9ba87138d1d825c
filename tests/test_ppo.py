"""Training: configs, learning, determinism, exact resume."""

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agents.neural import CheckpointError, read_checkpoint  # noqa: E402 - torch is optional
from agents.relabel import original_action  # noqa: E402
from pitch_env import VARIANTS, make_agent  # noqa: E402
from pitch_env.actions import NUM_ACTIONS, actions_in  # noqa: E402
from pitch_env.engine.state import OVER  # noqa: E402
from training.config import ConfigError  # noqa: E402
from training.duplicate import IllegalChoiceError  # noqa: E402
from training.ppo import (  # noqa: E402
    Config,
    Networks,
    Profile,
    Rows,
    Setting,
    advantages,
    divergence,
    load_config,
    log_policy_of,
    rollout,
    teaching_at,
    train,
    update,
)  # fmt: skip
from training.ranks import Ranks  # noqa: E402

SMALL = """
rules = "mini_pitch"
frames = 6_000
deals = 64
width = 16
depth = 2
minibatch = 128
threads = 1
bf16 = false
opponents = ["random"]
evaluate_every = 2_000
evaluate_deals = 20
final_deals = 200
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


def weights(folder):
    tensors, about = read_checkpoint(folder / "checkpoint.safetensors")
    return {name: array.tobytes() for name, array in tensors.items()}, about


@contextmanager
def stopped_after(iterations):
    """Ctrl-C in the rollout of that iteration."""
    calls = []

    def interrupt(*arguments):
        calls.append(arguments)
        if len(calls) == iterations:
            signal.raise_signal(signal.SIGINT)
        return rollout(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.ppo.rollout", interrupt)
        yield


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frames = 0", r"frames=0"),
        ("fraims = 5", r"fraims=5: Extra inputs"),
        ('rules = "whist"', r"no variant 'whist'"),
        ("rules = {base = 'six_hand', bids = []}", r"bids"),
        ("frames = ", r"is not TOML"),
        ('opponents = ["nobody"]', r"opponents: no agent 'nobody'"),
        ('league = ["nobody"]', r"league: no agent 'nobody'"),
        ('teacher = "nobody"', r"teacher: no agent 'nobody'"),
        ('teacher = "cheat"', r"teacher: 'cheat' must be shown hidden cards"),
        ("league_share = 0.5\nleague_size = 0", r"league_size=0: it is empty"),
    ],
)
def test_a_bad_config_gets_one_error_that_names_it(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(path)
    assert "bad.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_config_names_a_variant_and_may_override_its_fields(tmp_path):
    path = tmp_path / "six.toml"
    path.write_text('rules = {base = "six_hand", target = 15}\nseed = 3')
    config, rules = load_config(path, seed=8)
    assert rules == {"six_hand target=15": VARIANTS["six_hand"].replace(target=15)}
    assert config.seed == 8


def test_every_shipped_config_loads():
    from pathlib import Path

    for path in Path("configs").glob("*.toml"):
        if path.stem != "house":
            load_config(path)


def test_training_beats_random_at_a_small_game_within_a_minute(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("6_000", "60_000").replace("deals = 64", "deals = 256").replace("2_000", "30_000"))
    result = train(path, run=tmp_path / "run")
    assert result["strength"]["random"]["interval"][0] > 0.2
    assert json.loads((tmp_path / "run" / "result.json").read_text())["strength"] == result["strength"]
    assert (tmp_path / "run" / "config.toml").read_text() == path.read_text()
    assert list((tmp_path / "run" / "tensorboard").iterdir())


def test_the_same_seed_gives_the_same_weights(config, tmp_path):
    for name in ("one", "two"):
        train(config, run=tmp_path / name)
    assert weights(tmp_path / "one")[0] == weights(tmp_path / "two")[0]
    train(config, run=tmp_path / "three", seed=1)
    assert weights(tmp_path / "three")[0] != weights(tmp_path / "one")[0]


def test_a_killed_run_resumes_to_the_same_weights(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("6_000", "30_000"))
    train(path, run=tmp_path / "whole")
    killed = tmp_path / "killed"
    code = f"from training.ppo import train; train({str(path)!r}, run={str(killed)!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL)
    while not (killed / "checkpoint.safetensors").exists():
        assert process.poll() is None, "the run ended before its first checkpoint"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (killed / "result.json").exists()
    train(path, run=killed, resume=True)
    mine, whole = weights(killed), weights(tmp_path / "whole")
    assert mine[0] == whole[0]
    assert [point["frames"] for point in mine[1]["curve"]] == [point["frames"] for point in whole[1]["curve"]]
    assert [point["mean"] for point in mine[1]["curve"]] == [point["mean"] for point in whole[1]["curve"]]


def test_ctrl_c_leaves_a_run_that_resumes_to_the_same_weights(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    train(path, run=tmp_path / "whole")
    with stopped_after(3), pytest.raises(KeyboardInterrupt):
        train(path, run=tmp_path / "stopped")
    assert weights(tmp_path / "stopped")[1]["iteration"] == 3
    train(path, run=tmp_path / "stopped", resume=True)
    assert weights(tmp_path / "stopped")[0] == weights(tmp_path / "whole")[0]


def test_a_run_is_not_overwritten_and_not_resumed_with_another_config(config, tmp_path):
    train(config, run=tmp_path / "run")
    with pytest.raises(CheckpointError, match="has a checkpoint already"):
        train(config, run=tmp_path / "run")
    with pytest.raises(CheckpointError, match="nothing has no checkpoint"):
        train(config, run=tmp_path / "nothing", resume=True)
    config.write_text(SMALL.replace("width = 16", "width = 17"))
    with pytest.raises(CheckpointError, match="width differ"):
        train(config, run=tmp_path / "run", resume=True)


def setting(**fields):
    config = Config(rules="mini_pitch", deals=64, width=16, bf16=False, minibatch=128, **fields)
    return Setting(config, {"mini_pitch": VARIANTS["mini_pitch"]}, Ranks(0, 1, torch.device("cpu")))


def test_policies_are_masked_and_their_divergence_is_right_by_hand():
    logits = torch.log(torch.tensor([[0.5, 0.25, 0.25, 7.0]]))
    log_policy = log_policy_of(logits, torch.tensor([[1, 1, 1, 0]]))
    assert log_policy.exp().tolist() == [pytest.approx([0.5, 0.25, 0.25, 0])]
    other = log_policy_of(torch.zeros(1, 4), torch.tensor([[1, 1, 0, 1]])[:, [0, 1, 3, 2]])
    # Σ p ln(p / q) with q = ⅓ each: ½ ln 1.5 + 2 · ¼ ln 0.75
    assert divergence(log_policy, other).item() == pytest.approx(0.5 * np.log(1.5) + 0.5 * np.log(0.75))


def policy_of(networks, here, rows):
    """Returns the log-probabilities of every row's actions."""
    full, masks = (torch.from_numpy(array[: rows.num]) for array in (rows.full, rows.masks))
    return log_policy_of(networks.actor(full[:, : here.size].float()), masks).detach().numpy()


class Lowest:
    """Chooses the lowest legal action, or one that is not legal, and notes what it chose."""

    def __init__(self, is_legal=True):
        self.is_legal, self.chosen = is_legal, []

    def act(self, views, rng):
        legal = [actions_in(view["legal_cards"], view["legal_calls"]) for view in views]
        actions = [each[0] if self.is_legal else min(set(range(NUM_ACTIONS)) - set(each)) for each in legal]
        self.chosen += actions
        return np.array(actions)


@pytest.mark.parametrize("name", ["auction_pitch", "ten_point_54", "fish"])
def test_a_teacher_is_asked_at_every_row_and_its_choices_are_relabelled(name):
    config = Config(rules=name, deals=40, width=16, bf16=False, teacher="rule")
    here = Setting(config, {name: VARIANTS[name]}, Ranks(0, 1, torch.device("cpu")))
    networks, rows, teacher = Networks(here), Rows(here), Lowest()
    rollout(networks.actor, here, rows, 0, Profile(), teacher=[teacher])
    taught = zip(rows.taught[: rows.num].tolist(), rows.orders[: rows.num], strict=True)
    assert [original_action(action, order) for action, order in taught] == teacher.chosen
    with pytest.raises(IllegalChoiceError, match=r"the teacher chose action \d+, which is not legal"):
        rollout(networks.actor, here, rows, 0, Profile(), teacher=[Lowest(is_legal=False)])


def test_an_update_draws_the_policy_to_its_teacher_less_and_less():
    here = setting(teacher="rule", teaching=2.0, taught_share=0.5)
    assert [teaching_at(here.config, done) for done in (0.0, 0.25, 0.5, 1.0)] == [2.0, 1.0, 0.0, 0.0]
    changes = []
    for done in (0.0, 0.25, 0.5):
        networks, rows, profile = Networks(here), Rows(here), Profile()
        rollout(networks.actor, here, rows, 0, profile, teacher=[Lowest()])
        taught = np.arange(rows.num), rows.taught[: rows.num]
        before = policy_of(networks, here, rows)[taught].mean()
        rows.rewards[:] = 0  # nothing but the teacher to learn from
        update(networks, here, rows, 0, done, profile)
        changes.append(policy_of(networks, here, rows)[taught].mean() - before)
    assert changes[0] > changes[1] > 0.01
    assert abs(changes[2]) < 0.01


def test_an_update_makes_well_paid_actions_likelier():
    here = setting(entropy=0.0, final_entropy=0.0)
    networks, rows, profile = Networks(here), Rows(here), Profile()
    rollout(networks.actor, here, rows, 0, profile)
    advantages(networks, here, rows, profile)
    log = update(networks, here, rows, 0, 0.0, profile)
    assert log["kl"] > 0
    before = rows.log_probs[: rows.num].copy()
    with torch.inference_mode():
        policy = policy_of(networks, here, rows)
    change = policy[np.arange(rows.num), rows.actions[: rows.num]] - before
    paid = rows.advantages[: rows.num]
    assert np.corrcoef(change, paid)[0, 1] > 0.1


def test_values_in_units_of_returns_stay_the_same_when_the_units_change():
    here = setting(normalise_values=True)
    networks, rows, profile = Networks(here), Rows(here), Profile()
    rollout(networks.actor, here, rows, 0, profile)
    x = torch.from_numpy(rows.full[: rows.num]).float()
    with torch.inference_mode():
        before = networks.critic(x)
    returns = np.random.default_rng(0).normal(3.0, 2.0, 1000).astype(np.float32)
    networks.scale.follow(returns, networks.critic.last, here.ranks)
    assert networks.scale.mean == pytest.approx(returns.mean(), abs=1e-5)
    assert networks.scale.spread == pytest.approx(returns.std(), abs=1e-5)
    with torch.inference_mode():
        after = networks.critic(x)
    assert (networks.scale.mean + networks.scale.spread * after).numpy() == pytest.approx(before.numpy(), abs=1e-5)
    assert (after - before).abs().max() > 0.1
    networks.scale.follow(returns + 1, networks.critic.last, here.ranks)
    assert 0 < networks.scale.mean - returns.mean() < 1


def test_two_heads_the_scale_of_values_and_a_teacher_survive_a_resume_and_start_another_run(tmp_path):
    path = tmp_path / "small.toml"
    text = SMALL + "heads = true\nnormalise_values = true\nteacher = 'rule'\ntaught_share = 0.7\n"
    path.write_text(text)
    train(path, run=tmp_path / "whole")
    stopped = tmp_path / "stopped"
    path.write_text(text)
    with stopped_after(3), pytest.raises(KeyboardInterrupt):
        train(path, run=stopped)
    train(path, run=stopped, resume=True)
    assert weights(stopped)[0] == weights(tmp_path / "whole")[0]
    tensors, _ = read_checkpoint(stopped / "checkpoint.safetensors")
    assert tensors["actor.calls.last.weight"].shape == (25, 16)
    assert tensors["returns"][0] > 0

    begun = Networks(setting(heads=True, normalise_values=True, start=str(stopped)))
    assert (begun.actor.first.weight.detach().numpy() == tensors["actor.first.weight"]).all()
    assert begun.scale.sums.tolist() == tensors["returns"].tolist()
    with pytest.raises(CheckpointError, match="actor has another shape"):
        Networks(setting(start=str(stopped)))


def test_schedules_go_by_the_share_of_the_run_that_is_over():
    here = setting(learning_rate=1e-3, final_learning_rate=2e-4)
    networks, rows, profile = Networks(here), Rows(here), Profile()
    rollout(networks.actor, here, rows, 0, profile)
    advantages(networks, here, rows, profile)
    update(networks, here, rows, 0, 0.5, profile)
    assert networks.optimizer.param_groups[0]["lr"] == pytest.approx(6e-4)


def test_two_processes_learn_as_one_and_hold_the_same_weights(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL.replace("6_000", "60_000").replace("deals = 64", "deals = 256"))
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone"]
    command += ["-m", "training.ppo", str(path), str(tmp_path / "two")]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "two" / "result.json").read_text())
    assert result["frames"] >= 60_000
    assert result["strength"]["random"]["interval"][0] > 0.2


def test_deals_that_cannot_be_shared_are_refused():
    with pytest.raises(ValueError, match="deals=5 cannot be shared by 2 processes"):
        Ranks(0, 2, torch.device("cpu")).share(5)


def test_the_magnet_follows_the_actor_and_survives_a_resume(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL + "magnet = 0.05\nmagnet_decay = 0.9\n")
    train(path, run=tmp_path / "whole")
    tensors, _ = read_checkpoint(tmp_path / "whole" / "checkpoint.safetensors")
    assert (tensors["magnet.first.weight"] != tensors["actor.first.weight"]).any()
    here = setting(magnet=0.05, magnet_decay=0.75)
    networks, rows, profile = Networks(here), Rows(here), Profile()
    before = networks.magnet.last.bias.clone()
    rollout(networks.actor, here, rows, 0, profile)
    advantages(networks, here, rows, profile)
    update(networks, here, rows, 0, 0.0, profile)
    expected = 0.75 * before + 0.25 * networks.actor.last.bias.detach()
    assert networks.magnet.last.bias.tolist() == pytest.approx(expected.tolist())


LEAGUE = (
    SMALL
    + """
league_share = 0.5
league = ["rule"]
league_size = 2
league_every = 1_000
"""
)


def test_a_stopped_run_with_a_league_resumes_to_the_same_weights(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(LEAGUE)
    train(path, run=tmp_path / "whole")
    with stopped_after(4), pytest.raises(KeyboardInterrupt):
        train(path, run=tmp_path / "stopped")
    train(path, run=tmp_path / "stopped", resume=True)
    mine, whole = weights(tmp_path / "stopped"), weights(tmp_path / "whole")
    assert mine[0] == whole[0]
    assert mine[1]["league"] == whole[1]["league"]
    assert len(whole[1]["league"]["past"]) == 2
    assert sum(whole[1]["league"]["deals"].values()) > 50
    names = {file.stem for file in (tmp_path / "whole" / "league").iterdir()}
    assert names > set(whole[1]["league"]["past"])  # those that have left stay on disk


def test_a_run_with_a_league_learns_too(tmp_path):
    path = tmp_path / "small.toml"
    text = LEAGUE.replace("6_000", "40_000").replace("deals = 64", "deals = 256").replace("1_000", "10_000")
    path.write_text(text.replace("2_000", "30_000"))
    result = train(path, run=tmp_path / "run")
    assert result["strength"]["random"]["interval"][0] > 0.1


@pytest.mark.parametrize("name", ["mini_partners", "cutthroat"])
@pytest.mark.parametrize("lone_share", [0.0, 1.0])
def test_only_the_learners_seats_make_rows_where_others_sit(name, lone_share):
    rules = VARIANTS[name]
    config = Config(rules=name, deals=60, width=16, bf16=False, league_share=0.5, lone_share=lone_share)
    here = Setting(config, {name: rules}, Ranks(0, 1, torch.device("cpu")))
    networks, rows, profile = Networks(here), Rows(here), Profile()
    rollout(networks.actor, here, rows, 3, profile, [make_agent("rule", rules)])
    assert (rows.states["phase"] == OVER).all()
    mine = rows.mine[:, : rules.players]
    with_others = mine[~mine.all(axis=1)]
    assert 15 < len(with_others) < 45
    alone = rules.players // rules.sides if lone_share == 0 else 1
    assert (with_others.sum(axis=1) == alone).all()
    assert (with_others.sum(axis=0) > 0).all()  # every seat is the learner's in some deals
    has_row = rows.last_row[:, : rules.players] >= 0
    assert (has_row <= mine).all()
    paid = rows.rewards[: rows.num]
    for i, seat in zip(*np.nonzero(has_row), strict=True):
        points, side = rows.states["points"][i, : rules.sides], seat % rules.sides
        margin = points[side] - (points.sum() - points[side]) / (rules.sides - 1)
        assert paid[rows.last_row[i, seat]] == pytest.approx(config.reward_scale * margin)
    assert np.isin(np.flatnonzero(paid), rows.last_row).all()


def test_every_tag_of_the_log_is_in_the_table(tmp_path):
    from pathlib import Path

    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    path = tmp_path / "small.toml"
    text = LEAGUE.replace('"mini_pitch"', '["mini_pitch", "kuhn_pitch"]').replace("evaluate_every = 2_000", "")
    path.write_text(text + "evaluate_every = 500\n")
    train(path, run=tmp_path / "run")
    log = EventAccumulator(str(tmp_path / "run" / "tensorboard"))
    log.Reload()
    words = [
        ("strength/random/mini_pitch", "strength/AGENT/RULES"),
        ("strength/random/kuhn_pitch", "strength/AGENT/RULES"),
    ]
    words += [("strength/random", "strength/AGENT"), ("league/rule", "league/AGENT")]
    words += [(f"bids/{bid}", "bids/BID") for bid in (1, 2, 3, 4)]
    logged = {dict(words).get(tag, tag) for tag in log.Tags()["scalars"]}
    table = re.findall(r"^\| `(\w+/\S+)` \|", Path("docs/training.md").read_text(), re.MULTILINE)
    assert logged == set(table) - {"league/self-FRAMES.safetensors"}
