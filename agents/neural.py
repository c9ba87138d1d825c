"""Networks that play: their shape, their checkpoints, and the agent that plays one.

A checkpoint is one safetensors file: the tensors, and in its metadata a JSON object that says what they are. Torch is
needed to train; to play, NumPy is enough.

Axis letters: N views, F numbers of an observation, W width, A actions.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.relabel import encode_relabelled, original_actions, relabelling
from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.agent import refuse_argument
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, Layout, layout_of
from pitch_env.rules import Rules, RulesError

CHECKPOINT_FORMAT = "pitch-checkpoint/1"
ENV_VERSION = 0
"""Version of action numbering and observation; a checkpoint of another one does not load (design, decision 10)."""

MODELS = Path(__file__).parent / "models"
"""Folder of the trained players that are in the box."""

GAME_END = ("target", "out", "count_down")
"""Fields of the rules that say when a game ends; they do not change how a network plays for points."""

DTYPES = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I64": np.int64, "U8": np.uint8}
"""NumPy types by their names in a safetensors file."""


class CheckpointError(ValueError):
    """A checkpoint that cannot be read, or does not fit; the message names the file and what was expected."""


def write_checkpoint(path: Path, tensors: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Writes a checkpoint to a temporary name and renames it.

    Args:
        path: the file; its folder must exist.
        tensors: arrays by name.
        about: plain JSON types; format and version are added.
    """
    about = {"format": CHECKPOINT_FORMAT, "env_version": ENV_VERSION, **about}
    names = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
    header: dict[str, Any] = {"__metadata__": {"about": json.dumps(about)}}
    start = 0
    for name, tensor in tensors.items():
        size = tensor.nbytes
        header[name] = {
            "dtype": names[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, start + size],
        }
        start += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    temporary = path.with_name(path.name + ".tmp")
    with temporary.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for tensor in tensors.values():
            file.write(np.ascontiguousarray(tensor).tobytes())
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def read_checkpoint(path: Path | str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Reads a checkpoint: a file, or the one in a run folder.

    Returns:
        Arrays by name, and what the file says about them.

    Raises:
        CheckpointError: if there is no such file, it is truncated, is no checkpoint of Pitch Env, or is of another
            version.
    """
    path = Path(path)
    if path.is_dir():
        path /= "checkpoint.safetensors"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CheckpointError(f"{path}: {error.strerror or error}") from None
    try:
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        about = json.loads(header.pop("__metadata__")["about"])
        tensors = {name: _tensor(data[8 + size :], entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is not a whole checkpoint of Pitch Env: {error!r:.120}") from None
    if not isinstance(about, dict) or about.get("format") != CHECKPOINT_FORMAT:
        raise CheckpointError(f"{path} has not the format {CHECKPOINT_FORMAT}")
    if about.get("env_version") != ENV_VERSION:
        raise CheckpointError(
            f"{path} was trained on version {about.get('env_version')} of the environment, "
            f"this is version {ENV_VERSION}"
        )
    return tensors, about


def _tensor(data: bytes, entry: Mapping[str, Any]) -> NDArray[Any]:
    start, end = entry["data_offsets"]
    dtype = np.dtype(DTYPES[entry["dtype"]])
    if end > len(data) or (end - start) != dtype.itemsize * int(np.prod(entry["shape"])):
        raise ValueError("truncated")
    return np.frombuffer(data[start:end], dtype).reshape(entry["shape"]).copy()


def forward(weights: Mapping[str, NDArray[np.float32]], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns the logits (N, A) of a residual network for inputs (N, F); the torch twins are in ``training.network``.

    The last layer is one for all actions, or a head for cards and a head for calls, each with a layer of its own.
    """
    h = np.maximum(_linear(weights, "first", x), 0)
    k = 0
    while f"blocks.{k}.weight" in weights:
        h = h + np.maximum(_linear(weights, f"blocks.{k}", h), 0)
        k += 1
    if "last.weight" in weights:
        return _linear(weights, "last", h)
    heads = [
        _linear(weights, f"{name}.last", h + np.maximum(_linear(weights, f"{name}.block", h), 0))
        for name in ("cards", "calls")
    ]
    return np.concatenate(heads, axis=1)


def _linear(weights: Mapping[str, NDArray[np.float32]], name: str, x: NDArray[np.float32]) -> NDArray[np.float32]:
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def layout_seen(rules: Rules, universal: bool, sees_scores: bool) -> Layout:
    """Returns the layout of what a network sees: one that plays for points does not see when a game ends."""
    if not sees_scores:
        rules = rules.replace(**{name: getattr(Rules(), name) for name in GAME_END})
    return layout_of(rules, universal)


class NeuralAgent:
    """Plays the likeliest legal action of a network, or draws from its policy.

    Args:
        weights: the actor's arrays by name.
        rules: what it plays.
        universal: whether it was trained on the layout for all variants.
        sees_scores: whether it was trained to look at the scores.
        draws: whether it draws actions from the policy; else it takes the likeliest.
        columns: the numbers of an observation that it was trained on, ascending; all of them if left out.
    """

    def __init__(
        self,
        weights: Mapping[str, NDArray[Any]],
        rules: Rules,
        universal: bool = False,
        sees_scores: bool = False,
        draws: bool = False,
        columns: NDArray[np.int64] | None = None,
    ) -> None:
        self.rules = rules
        self.universal = universal
        self.draws = draws
        self._weights = {name: tensor.astype(np.float32) for name, tensor in weights.items()}
        self._tables = compile_rules(rules)
        self._layout = layout_seen(rules, universal, sees_scores)
        self._columns = columns
        self._kind = relabelling(rules)
        self._sees_scores = sees_scores
        self._scratch = np.zeros(1, VIEW)
        size = self._weights["first.weight"].shape[1]
        given = self._layout.size if columns is None else len(columns)
        if size != given or (columns is not None and (columns.min() < 0 or columns.max() >= self._layout.size)):
            raise CheckpointError(f"the network has {size} inputs, observations of these rules {given}")

    def policy(self, views: NDArray[np.void]) -> NDArray[np.float64]:
        """Returns the probability (N, A) of each action of each view; illegal actions have 0."""
        logits, legal, orders = self._logits(views)
        bits = np.concatenate(
            [
                legal[:, :1] >> np.arange(FIRST_CALL) & 1,
                legal[:, 1:] >> np.arange(NUM_ACTIONS - FIRST_CALL) & 1,
            ],
            axis=1,
        )
        masked = np.where(bits == 1, logits.astype(np.float64), -np.inf)
        weights = np.exp(masked - masked.max(axis=1, keepdims=True))
        relabelled = weights / weights.sum(axis=1, keepdims=True)
        policy: NDArray[np.float64] = np.zeros_like(relabelled)
        for action in range(NUM_ACTIONS):
            actions = np.full(len(views), action, np.int64)
            original_actions(actions, orders)
            np.put_along_axis(policy, actions[:, None], relabelled[:, action : action + 1], axis=1)
        return policy

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each of N views (see :class:`pitch_env.agent.Agent`)."""
        from agents.sampling import sample

        logits, legal, orders = self._logits(views)
        actions = np.empty(len(views), np.int64)
        log_probs = np.empty(len(views), np.float32)
        key = int(rng.integers(1 << 62)) if self.draws else 0
        sample(logits, legal, key, not self.draws, actions, log_probs)
        original_actions(actions, orders)
        return actions

    def _logits(self, views: NDArray[np.void]) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.int8]]:
        """Returns logits (N, A) of relabelled actions, sets of legal ones (N, 2), and the orders (N, 4) of suits."""
        num = len(views)
        orders = np.empty((num, 4), np.int8)
        obs = np.empty((num, self._layout.size), np.uint8)
        legal = np.empty((num, 2), np.int64)
        encode_relabelled(
            views, self._tables, self._layout.table, self._kind, self._sees_scores, orders, self._scratch, obs, legal
        )
        seen = obs if self._columns is None else obs[:, self._columns]
        return forward(self._weights, seen.astype(np.float32)), legal, orders


def load_agent(path: Path | str, rules: Rules, draws: bool = False) -> NeuralAgent:
    """Returns the agent of a checkpoint.

    Raises:
        CheckpointError: if the file cannot be read, or was trained for other rules.
    """
    tensors, about = read_checkpoint(path)
    actor = {name.removeprefix("actor."): array for name, array in tensors.items() if name.startswith("actor.")}
    if "first.weight" not in actor or not {"last.weight", "calls.last.weight"} & actor.keys():
        raise CheckpointError(f"{path} has no actor")
    universal = bool(about.get("universal"))
    if not universal:
        try:
            trained = Rules.from_dict(about.get("rules", {}))
        except RulesError as error:
            raise CheckpointError(f"{path}: {error}") from None
        wrong = [name for name, value in trained.to_dict().items() if value != rules.to_dict()[name]]
        # Who goes out when does not change how a network that plays for points plays.
        wrong = [name for name in wrong if about.get("sees_scores") or name not in GAME_END]
        if wrong:
            raise CheckpointError(f"{path} was trained for other rules: {', '.join(wrong)} differ")
    return NeuralAgent(actor, rules, universal, bool(about.get("sees_scores")), draws, tensors.get("columns"))


def checkpoint_agent(rules: Rules, argument: str | None) -> NeuralAgent:
    """Makes the agent ``checkpoint:PATH``; ``PATH`` may be a run folder, and end in ``?draw`` to sample its actions.

    Raises:
        ValueError: if the path is missing or its checkpoint does not load.
    """
    if not argument:
        raise ValueError("checkpoint needs a path, as in checkpoint:runs/quickstart/checkpoint.safetensors")
    path = argument.removesuffix("?draw")
    return load_agent(path, rules, draws=path != argument)


def best_agent(rules: Rules, argument: str | None) -> NeuralAgent:
    """Makes the agent ``best``: the trained player in the box for the rules at hand, else the one for all rules.

    Raises:
        ValueError: if there is neither, or an argument is given.
    """
    refuse_argument("best", argument)
    shipped = sorted(MODELS.glob("*.safetensors"))
    fitting = []
    for path in shipped:
        try:
            fitting.append(load_agent(path, rules))
        except CheckpointError:
            continue
    if fitting:
        return min(fitting, key=lambda agent: agent.universal)
    names = ", ".join(path.stem for path in shipped) or "none"
    raise ValueError(f"there is no trained player for these rules in the box; the models are: {names}")
