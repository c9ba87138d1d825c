"""Networks and checkpoints."""

import json

import numpy as np
import pytest

from agents import neural
from agents.neural import CheckpointError, NeuralAgent, checkpoint_agent, forward, read_checkpoint, write_checkpoint
from pitch_env import VARIANTS, Game, make_agent, variant
from pitch_env.observation import VIEW, layout_of, mask_of

torch = pytest.importorskip("torch")

from training.evaluate import play_match  # noqa: E402 - torch is optional
from training.network import ResidualMLP, TwoHeads, arrays_of  # noqa: E402
from training.ship import ship  # noqa: E402


def actor(rules, width=16, depth=3, seed=0):
    torch.manual_seed(seed)
    return ResidualMLP(layout_of(rules).size, width, depth, 79, last_gain=1.0)


def saved(path, rules, **about):
    write_checkpoint(path, arrays_of(actor(rules), "actor."), {"rules": rules.to_dict(), **about})
    return path


@pytest.mark.parametrize("make", [actor, lambda rules: TwoHeads(layout_of(rules).size, 16, 3, last_gain=1.0)])
def test_numpy_and_torch_give_the_same_logits(make):
    network = make(VARIANTS["auction_pitch"])
    x = np.random.default_rng(0).random((7, network.first.in_features), np.float32)
    with torch.inference_mode():
        expected = network(torch.from_numpy(x)).numpy()
    assert forward(arrays_of(network, ""), x) == pytest.approx(expected, abs=1e-4)


def test_a_checkpoint_gives_back_what_was_written(tmp_path):
    path = saved(tmp_path / "a.safetensors", VARIANTS["cutthroat"], note="x")
    tensors, about = read_checkpoint(path)
    for name, array in arrays_of(actor(VARIANTS["cutthroat"]), "actor.").items():
        assert tensors[name].tobytes() == array.tobytes()
    assert about["note"] == "x"
    assert [file.name for file in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_checkpoint_is_a_safetensors_file(tmp_path):
    numpy_file = pytest.importorskip("safetensors.numpy")
    path = saved(tmp_path / "a.safetensors", VARIANTS["auction_pitch"])
    theirs = numpy_file.load_file(path)
    assert {name: array.tobytes() for name, array in theirs.items()} == {
        name: array.tobytes() for name, array in read_checkpoint(path)[0].items()
    }


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_a_truncated_checkpoint_is_refused(tmp_path, size):
    path = saved(tmp_path / "a.safetensors", VARIANTS["auction_pitch"])
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(CheckpointError, match=r"a\.safetensors"):
        read_checkpoint(path)


def test_foreign_and_newer_checkpoints_are_refused(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("hello, this is not a checkpoint")
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        read_checkpoint(tmp_path / "text")
    with pytest.raises(CheckpointError, match="No such file"):
        read_checkpoint(tmp_path / "missing")
    monkeypatch.setattr(neural, "ENV_VERSION", neural.ENV_VERSION + 1)
    newer = saved(tmp_path / "newer.safetensors", VARIANTS["auction_pitch"])
    monkeypatch.undo()
    with pytest.raises(CheckpointError, match=f"this is version {neural.ENV_VERSION}"):
        read_checkpoint(newer)


def test_a_checkpoint_for_other_rules_is_refused(tmp_path):
    path = saved(tmp_path / "a.safetensors", VARIANTS["auction_pitch"])
    with pytest.raises(CheckpointError, match="low_to"):
        checkpoint_agent(VARIANTS["low_to_holder"], str(path))
    # A network that plays for points does not care who goes out when.
    checkpoint_agent(variant("auction_pitch", target=15), str(path))
    with pytest.raises(ValueError, match="needs a path"):
        checkpoint_agent(VARIANTS["auction_pitch"], None)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_network_plays_legal_actions_in_every_variant(name, tmp_path):
    rules = VARIANTS[name]
    agent = checkpoint_agent(rules, f"{saved(tmp_path / 'a.safetensors', rules)}?draw")
    rng = np.random.default_rng(3)
    game = Game(rules, seed=2)
    while game.seat is not None:
        views = np.array([game.view(game.seat)], VIEW)
        policy = agent.policy(views)[0]
        assert policy.sum() == pytest.approx(1)
        assert (policy[mask_of(views[0]) == 0] == 0).all()
        game.play(int(agent.act(views, rng)[0]))


def test_the_likeliest_action_of_the_policy_is_played():
    rules = VARIANTS["auction_pitch"]
    agent = NeuralAgent(arrays_of(actor(rules), ""), rules)
    views = np.array([game.view(game.seat) for game in (Game(rules, seed=k) for k in range(20))], VIEW)
    assert agent.act(views, np.random.default_rng(0)).tolist() == agent.policy(views).argmax(axis=1).tolist()


def test_the_header_says_what_the_tensors_are(tmp_path):
    data = saved(tmp_path / "a.safetensors", VARIANTS["auction_pitch"]).read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about = json.loads(header["__metadata__"]["about"])
    assert about["format"] == "pitch-checkpoint/1"
    assert about["rules"] == VARIANTS["auction_pitch"].to_dict()


def test_the_player_in_the_box_says_what_it_is_and_beats_rule():
    agent = make_agent("best")
    _, about = read_checkpoint(next(neural.MODELS.glob("auction_pitch*")))
    assert about["strength"]["rule"]["interval"][0] > 0
    assert len(about["sha256_of_checkpoint"]) == 64
    match = play_match(VARIANTS["auction_pitch"], agent, make_agent("rule"), 1500, seed=5)
    assert match.interval[0] > 0.2
    with pytest.raises(ValueError, match="takes no argument"):
        make_agent("best:3")


def test_without_a_player_for_the_rules_there_is_no_best(tmp_path, monkeypatch):
    saved(tmp_path / "fishers.safetensors", VARIANTS["fish"])
    monkeypatch.setattr(neural, "MODELS", tmp_path)
    assert make_agent("best", "fish").rules == VARIANTS["fish"]
    with pytest.raises(ValueError, match="no trained player for these rules in the box; the models are: fishers"):
        make_agent("best", "kuhn_pitch")


def test_shipped_players_are_small():
    assert all(path.stat().st_size <= 5_000_000 for path in neural.MODELS.iterdir())


def test_a_run_is_shipped_with_its_recipe_and_strength(tmp_path):
    rules = VARIANTS["mini_pitch"]
    about = {"config": {"width": 16}, "seed": 3, "frames": 9, "seconds": 1.0, "universal": False, "sees_scores": False}
    saved(tmp_path / "checkpoint.safetensors", rules, **about)
    path = ship(tmp_path, "mini", num_deals=40, folder=tmp_path / "models")
    tensors, told = read_checkpoint(path)
    assert {array.dtype for array in tensors.values()} == {np.dtype(np.float16)}
    assert told["config"] == {"width": 16}
    assert set(told["strength"]) == {"random", "greedy", "rule", "expert"}
    assert checkpoint_agent(rules, str(path)).rules == rules
