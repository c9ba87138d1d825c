"""MaskablePPO of sb3-contrib in self-play: the VecEnv over the batch engine, and a training run from a config.

The learner has one seat at each table; its partner and its opponents are one member of a league, drawn anew for each
rollout: past selves of the learner and fixed agents.
"""

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env.base_vec_env import VecEnv, VecEnvObs, VecEnvStepReturn

from agents.foreign import Sb3Agent
from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import Agent, make_agent
from pitch_env.rules import Rules
from pitch_env.seats import Player, Seats
from pitch_env.seeds import generator
from training.config import ConfigError, Fraction, NonNegative, Positive, read_config, rules_of, write_text
from training.curves import draw_curves
from training.evaluate import play_match
from training.league import League


class PitchVecEnv(VecEnv):
    """N tables as a Stable-Baselines3 ``VecEnv``, one seat each for the learner.

    Observations (N, F) uint8, actions (N,) int64, rewards (N,) float32 as in :class:`pitch_env.single.SeatEnv`.
    ``env_method("action_masks")`` gives the rows of one (N, NUM_ACTIONS) bool array.

    Args:
        rules: a ``Rules``, a variant's name, or a TOML file of house rules.
        num_tables: N.
        opponents: an agent by name, an agent, or a mix of them (:mod:`pitch_env.seats`).
        partner: who sits with the learner; as ``opponents`` if left out.
        seat: the learner's seat; any, drawn anew each episode, if left out.
        episode: ``"deal"`` or ``"game"``.
        reward: ``"points"`` or ``"win"``.
        seed: of the deals.
        max_deals: a game is truncated after so many deals.

    Raises:
        ValueError: if an argument is refused.
    """

    def __init__(
        self,
        rules: Rules | str | Path = "auction_pitch",
        num_tables: int = 64,
        opponents: Player = "rule",
        partner: Player | None = None,
        seat: int | None = None,
        episode: str = "deal",
        reward: str = "points",
        seed: int = 0,
        max_deals: int = 200,
    ) -> None:
        self.tables = Seats(num_tables, rules, opponents, partner, seat, episode, reward, max_deals, None, False)
        self.all_rows = np.arange(num_tables)
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(num_tables)]
        self._returns = np.zeros(num_tables)
        self._lengths = np.zeros(num_tables, np.int64)
        self.render_mode = None
        self._actions = np.zeros(num_tables, np.int64)
        space = Box(0, 1, (self.tables.layout.size,), np.uint8)
        super().__init__(num_tables, space, Discrete(NUM_ACTIONS))
        self.seed(seed)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Gives table *i* the seed ``seed + i``, from its next episode on."""
        seeds = [(0 if seed is None else seed) + i for i in range(self.num_envs)]
        self.tables.seed(self.all_rows, seeds)
        return seeds

    def reset(self) -> VecEnvObs:
        """Deals at every table."""
        self.tables.begin(self.all_rows)
        self._returns[:], self._lengths[:] = 0, 0
        return self.tables.observations.copy()

    def step_async(self, actions: NDArray[Any]) -> None:
        """Notes what the learner does at each table."""
        self._actions = np.asarray(actions, np.int64)

    def step_wait(self) -> VecEnvStepReturn:
        """Plays on to the learner's next turn at each table; deals anew where an episode has ended."""
        rewards, terminated, truncated, illegal = self.tables.step(self.all_rows, self._actions)
        done = terminated | truncated
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        rows = np.flatnonzero(done)
        if len(rows):
            last = self.tables.observations[rows].copy()
            for place, i in enumerate(rows.tolist()):
                infos[i] = {
                    "terminal_observation": last[place],
                    "TimeLimit.truncated": bool(truncated[i]),
                    "episode": {"r": float(self._returns[i]), "l": int(self._lengths[i])},
                    "illegal_action": bool(illegal[i]),
                }
            self._returns[rows], self._lengths[rows] = 0, 0
            self.tables.begin(rows)
        return self.tables.observations.copy(), rewards.astype(np.float32), done, infos

    def env_method(
        self, method_name: str, *method_args: Any, indices: int | Iterable[int] | None = None, **method_kwargs: Any
    ) -> list[Any]:
        """Answers ``action_masks``, the only method that a table has.

        Raises:
            AttributeError: if another is asked for.
        """
        if method_name != "action_masks":
            raise AttributeError(f"a table of PitchVecEnv has no method {method_name!r}, only action_masks")
        masks = self.tables.masks.astype(np.bool_)
        return [masks[i] for i in self._get_indices(indices)]

    def has_attr(self, attr_name: str) -> bool:
        """Tells whether tables have an attribute, ``action_masks`` among them."""
        return attr_name in ("action_masks", "render_mode")

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """Returns an attribute of some tables.

        Raises:
            AttributeError: if tables have no such attribute.
        """
        if attr_name == "action_masks":
            return [lambda i=i: self.tables.masks[i].astype(np.bool_) for i in self._get_indices(indices)]
        if attr_name != "render_mode":
            raise AttributeError(f"a table of PitchVecEnv has no attribute {attr_name!r}")
        return [self.render_mode for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Refuses: tables have no attributes of their own."""
        raise AttributeError(f"tables of PitchVecEnv share everything; {attr_name!r} cannot be set on some of them")

    def env_is_wrapped(self, wrapper_class: type, indices: int | Iterable[int] | None = None) -> list[bool]:
        """Tables are not wrapped, but report returns and lengths as ``Monitor`` does."""
        from stable_baselines3.common.monitor import Monitor

        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Has nothing to close."""


class Stand:
    """A place for an agent that changes: whoever is ``now`` there plays."""

    def __init__(self, now: Agent) -> None:
        self.now = now

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        return self.now.act(views, rng)


class Sb3Config(BaseModel):
    """One run of MaskablePPO."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: str | dict[str, Any] = "auction_pitch"
    """A variant's name, or a table with ``base`` and fields of ``Rules`` over it."""
    seed: int = 0
    """Decides everything random."""
    frames: Positive = 2_000_000
    """Decisions of the learner."""
    tables: Positive = 1024
    """Tables played side by side."""
    steps: Positive = 16
    """Decisions at each table between updates."""
    minibatch: Positive = 2048
    """Decisions of a gradient step."""
    epochs: Positive = 2
    """Passes over a rollout."""
    width: Positive = 256
    """Width of the networks' layers."""
    depth: Positive = 2
    """Layers of each network before its last."""
    learning_rate: NonNegative = 1e-3
    """Adam's step size."""
    entropy: NonNegative = 0.01
    """Weight of the entropy bonus."""
    lam: Fraction = 0.95
    """λ of the advantage estimates; there is no discount."""
    fixed: tuple[str, ...] = ("rule",)
    """Agents that are in the league for good."""
    league_size: int = 8
    """Past selves in the league."""
    snapshot_every: Positive = 200_000
    """Decisions between two past selves."""
    opponents: tuple[str, ...] = ("random", "greedy", "rule")
    """Agents against which strength is measured."""
    evaluate_every: Positive = 500_000
    """Decisions between measurements, the last of which is at the end."""
    evaluate_deals: Positive = 2000
    """Duplicate deals of a measurement against the last opponent."""
    final_deals: Positive = 10_000
    """Duplicate deals against each at the end."""
    threads: Positive = 2
    """Torch threads."""


class SelfPlay(BaseCallback):
    """Draws an opponent for each rollout, notes how it went, and adds past selves to the league."""

    def __init__(self, league: League[Agent], stand: Stand, config: Sb3Config, rules: Rules) -> None:
        super().__init__()
        self.league, self.stand, self.config, self.rules = league, stand, config, rules
        self.rng = generator(config.seed, 1)
        self.met = ""
        self.margins: list[float] = []
        self.due = config.snapshot_every
        self.curve: list[dict[str, float]] = []
        self.measuring = 0.0
        self.due_measure: int | None = config.evaluate_every
        self.began = time.perf_counter()

    def _on_rollout_start(self) -> None:
        if self.met and self.margins:
            self.league.note(self.met, np.array(self.margins))
        if len(self.league.members) == 0 or self.num_timesteps >= self.due:
            self.league.add(f"self-{self.num_timesteps}", self._snapshot())
            self.due = self.num_timesteps + self.config.snapshot_every
        self.met, self.margins = self.league.draw(self.rng), []
        self.stand.now = self.league.members[self.met]

    def _on_rollout_end(self) -> None:
        if self.due_measure is not None and self.num_timesteps >= self.due_measure:
            self._measure()
            self.due_measure += self.config.evaluate_every

    def _on_training_end(self) -> None:
        if self.due_measure is not None and (not self.curve or self.curve[-1]["frames"] < self.num_timesteps):
            self._measure()

    def _measure(self) -> None:
        """Measures strength against the last opponent; its time is not the training's."""
        began = time.perf_counter()
        name, config = self.config.opponents[-1], self.config
        agent = Sb3Agent(self.model, self.rules)
        match = play_match(self.rules, agent, make_agent(name, self.rules), config.evaluate_deals, ~config.seed)
        low, high = match.interval
        seconds = round(began - self.began - self.measuring, 1)
        self.curve.append(
            {"frames": self.num_timesteps, "seconds": seconds, "mean": match.mean, "low": low, "high": high}
        )
        self.measuring += time.perf_counter() - began

    def _snapshot(self) -> Sb3Agent:
        """Returns the learner as it is now, drawing its actions as it does in a rollout."""
        policy = _policy_copy(self.model)
        return Sb3Agent(policy, self.rules, draws=True)

    def _on_step(self) -> bool:
        self.margins += [info["episode"]["r"] for info in self.locals["infos"] if "episode" in info]
        return True


def _policy_copy(model: Any) -> Any:
    """Returns a policy with the weights that a model has now."""
    policy = type(model.policy)(**model.policy._get_constructor_parameters())
    policy.load_state_dict(model.policy.state_dict())
    policy.set_training_mode(False)
    return policy


def train(config_path: Path | str, run: Path | str, seed: int | None = None, progress: bool = True) -> dict[str, Any]:
    """Trains MaskablePPO in self-play from a config file, and measures the result.

    Args:
        config_path: a TOML file with keys of :class:`Sb3Config`.
        run: folder of the run, which must not have a model yet.
        seed: over the config's.
        progress: show a progress bar.

    Returns:
        run, frames, seconds, checkpoint, strength (agent to mean and interval).

    Raises:
        ValueError: if the config is refused, or the folder has a model.
    """
    config = read_config(Sb3Config, config_path, seed)
    rules = rules_of(config.rules, config_path)
    folder = Path(run)
    path = folder / "model.zip"
    if path.exists():
        raise ConfigError(f"{path} is there already: name another folder")
    torch.set_num_threads(config.threads)
    model, callback = _learner(config, rules)
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "config.toml", Path(config_path).read_text(encoding="utf-8"))
    began = time.perf_counter()
    model.learn(config.frames, callback=callback, progress_bar=progress)
    seconds = time.perf_counter() - began - callback.measuring
    temporary = folder / "model.tmp.zip"
    model.save(temporary)
    temporary.replace(path)
    strength = {}
    for name in config.opponents:
        match = play_match(rules, Sb3Agent(model, rules), make_agent(name, rules), config.final_deals, ~config.seed)
        strength[name] = {"mean": match.mean, "interval": list(match.interval)}
    result = {
        "run": str(folder),
        "frames": model.num_timesteps,
        "seconds": round(seconds, 1),
        "checkpoint": str(path),
        "strength": strength,
    }
    told = result | {"curve": callback.curve, "opponent": config.opponents[-1]}
    write_text(folder / "result.json", json.dumps(told, indent=1))
    draw_curves([folder], folder / "curves.png")
    return result


def _learner(config: Sb3Config, rules: Rules) -> tuple[MaskablePPO, SelfPlay]:
    """Returns a model that has not learned yet, and the callback that gives it opponents."""
    league = League({name: make_agent(name, rules) for name in config.fixed}, config.league_size)
    stand = Stand(make_agent("random", rules))
    env = PitchVecEnv(rules, config.tables, stand, seed=config.seed)
    model = MaskablePPO(
        "MlpPolicy", env, learning_rate=config.learning_rate, n_steps=config.steps, batch_size=config.minibatch,
        n_epochs=config.epochs, gamma=1.0, gae_lambda=config.lam, ent_coef=config.entropy, seed=config.seed,
        policy_kwargs={"net_arch": [config.width] * config.depth, "activation_fn": torch.nn.ReLU}, device="cpu",
    )  # fmt: skip
    return model, SelfPlay(league, stand, config, rules)


def compare(rules: str = "auction_pitch", width: int = 256, threads: int = 2, seconds: float = 30.0) -> dict[str, Any]:
    """Measures how fast our PPO and MaskablePPO learn in self-play, on the same rules and width, one after the other.

    Args:
        rules: a variant's name.
        width: of the networks' two layers.
        threads: torch threads of both.
        seconds: for each, after a first rollout and update that are not counted.

    Returns:
        ``ours`` and ``maskable_ppo`` in decisions a second, their ``ratio``, and what was measured. MaskablePPO has the
        big batches and two passes of :class:`Sb3Config`, as ours has; as ``maskable_ppo_stock`` it has its own: ten
        passes over 2,048 decisions in minibatches of 64.
    """
    from training import ppo

    torch.set_num_threads(threads)
    ours = ppo.decisions_a_second(ppo.Config(rules=rules, width=width, depth=2, threads=threads), seconds)
    config = Sb3Config(rules=rules, width=width, depth=2, threads=threads)
    stock = config.model_copy(update={"tables": 8, "steps": 256, "minibatch": 64, "epochs": 10})
    theirs, as_it_comes = _decisions_a_second(config, seconds), _decisions_a_second(stock, seconds)
    return {
        "ours": ours, "maskable_ppo": theirs, "ratio": ours / theirs, "maskable_ppo_stock": as_it_comes,
        "ratio_stock": ours / as_it_comes, "rules": rules, "width": width, "depth": 2, "threads": threads,
        "seconds": seconds,
    }  # fmt: skip


def _decisions_a_second(config: Sb3Config, seconds: float) -> float:
    """Measures how fast MaskablePPO learns, after a first rollout and update that are not counted."""
    model, callback = _learner(config, rules_of(config.rules, "compare"))
    callback.due_measure = None
    rollout = config.tables * config.steps
    model.learn(rollout, callback=callback)
    before, began = model.num_timesteps, time.perf_counter()
    while model.num_timesteps == before or time.perf_counter() - began < seconds:
        model.learn(rollout, callback=callback, reset_num_timesteps=False)
    return (model.num_timesteps - before) / (time.perf_counter() - began)


def main(
    config: Annotated[Path | None, typer.Argument(help="TOML file of the run.")] = None,
    run: Annotated[Path | None, typer.Argument(help="Folder of the run.")] = None,
    seed: Annotated[int | None, typer.Option(help="Over the config's.")] = None,
    compares: Annotated[bool, typer.Option("--compare", help="Measure how fast it learns, beside our PPO.")] = False,
) -> None:
    """Trains MaskablePPO in self-play from a config, or measures its speed beside ours; prints a JSON object."""
    if compares:
        typer.echo(json.dumps(compare()))
        return
    if config is None or run is None:
        raise typer.BadParameter("give a config and a folder, or --compare")
    try:
        typer.echo(json.dumps(train(config, run, seed)))
    except ConfigError as error:
        raise typer.BadParameter(str(error)) from None


if __name__ == "__main__":
    typer.run(main)
