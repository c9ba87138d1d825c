"""Self-play PPO, to be read from top to bottom: rollout, advantages, update, and the loop around them.

All seats share one network. An episode is one deal; a seat is paid on its own last decision; the critic sees all
hands while it learns, and is not needed to play (Schulman et al. 2017).

Everything random is a function of the seed and the iteration, so that a resumed run goes on exactly as if it had
not been stopped (on one thread, bit for bit).

Axis letters: N deals, R rows (decisions that had a choice), B minibatch, F observation, G full state, A actions.
"""

import copy
import json
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from torch import Tensor, nn
from torch.utils.tensorboard import SummaryWriter

from agents.neural import CheckpointError, NeuralAgent, read_checkpoint, write_checkpoint
from agents.relabel import relabel_actions
from agents.sampling import sample
from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import Agent, make_agent
from pitch_env.engine.jit import mix
from pitch_env.engine.state import STATE
from pitch_env.observation import VIEW
from pitch_env.rules import Rules
from pitch_env.seeds import generator
from training import selfplay
from training.ceiling import bare_loop
from training.config import ConfigError, Fraction, NonNegative, Positive, read_config, write_text
from training.curves import draw_curves
from training.duplicate import IllegalChoiceError, apply_rows
from training.equity import Equity
from training.evaluate import play_match
from training.league import League
from training.network import ResidualMLP, actor_of, arrays_of
from training.ranks import Ranks
from training.variants import Block, blocks_of, columns_of, is_universal, mean_margin, named_rules, spans_of


class Config(BaseModel):
    """One training run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rules: str | dict[str, Any] | tuple[str | dict[str, Any], ...] = "auction_pitch"
    """A variant's name, or a table with ``base`` and fields of ``Rules`` over it. A list of them, or ``"all"`` for all
    variants, trains one network for all of them; the deals of a rollout are shared."""
    seed: int = 0
    """Decides everything random."""
    frames: Positive = 20_000_000
    """Decisions to learn from, forced moves left out."""
    deals: Positive = 2048
    """Deals of a rollout."""
    width: Positive = 256
    """Width of the networks' layers."""
    depth: Positive = 2
    """Layers of each network before its last."""
    heads: bool = False
    """The actor's last two layers are one pair for calls and one for cards; else all actions share them."""
    normalise_values: bool = False
    """The critic's outputs are in units of the running mean and spread of returns (PopArt, van Hasselt et al. 2016)."""
    start: str = ""
    """Checkpoint whose networks the run begins with."""
    league_share: Fraction = 0.0
    """Share of the deals in which others sit too: a member of the league, drawn anew for each rollout."""
    league: tuple[str, ...] = ()
    """Agents that are in the league for good."""
    league_size: Annotated[int, Field(ge=0)] = 4
    """Past selves in the league."""
    league_every: Positive = 1_000_000
    """Decisions between two past selves."""
    lone_share: Fraction = 0.5
    """Share of these deals in which the learner has one seat only and the member is its partner too."""
    teacher: str = ""
    """Agent whose choices the policy is drawn to at first, at every decision that it meets itself (kickstarting,
    Schmitt et al. 2018)."""
    teaching: NonNegative = 1.0
    """Weight of the policy's cross-entropy with the teacher's choice at the start."""
    taught_share: Fraction = 1.0
    """Share of the run at whose end that weight is zero; linear until then."""
    learning_rate: NonNegative = 1e-3
    """Adam's step size at the start."""
    final_learning_rate: NonNegative = 1e-4
    """At the end; linear in between."""
    epochs: Positive = 2
    """Passes over a rollout."""
    minibatch: Positive = 4096
    """Decisions of a gradient step."""
    clip: NonNegative = 0.2
    """PPO's clip range of the probability ratio."""
    lam: Fraction = 0.95
    """λ of the advantage estimates; there is no discount."""
    entropy: NonNegative = 0.02
    """Weight of the entropy bonus at the start."""
    final_entropy: NonNegative = 0.002
    """At the end; linear in between."""
    magnet: NonNegative = 0.0
    """Weight of the divergence from the magnet, a slow average of past policies (Sokota et al. 2023)."""
    magnet_decay: Fraction = 0.99
    """Share of the magnet that an iteration keeps."""
    value_weight: NonNegative = 0.5
    """Weight of the critic's loss."""
    max_grad_norm: NonNegative = 0.5
    """Gradients of actor and critic are each clipped to this norm."""
    reward_scale: NonNegative = 0.25
    """Rewards are multiplied by this: points, or probabilities to win. With several rules points are first divided by
    those of a deal of the rules and multiplied by the four of the base game."""
    equity: str = ""
    """File of a match equity table for the rules: the reward is then the change of the probability to win the game,
    and the network sees the scores. Empty: points, and it does not."""
    spread: Positive = 35
    """With equity, deals start at random scores of so many below the target."""
    max_kl: NonNegative = 0.05
    """An update stops after a pass whose mean KL divergence from the rollout's policy is beyond this."""
    threads: Positive = 2
    """Torch threads."""
    bf16: bool = True
    """Networks compute in bfloat16 (weights and losses stay float32)."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where the networks are."""
    opponents: tuple[str, ...] = ("random", "greedy", "rule")
    """Agents against which strength is measured."""
    evaluate_every: Positive = 1_500_000
    """Decisions between measurements, each of which also writes a checkpoint."""
    evaluate_deals: Positive = 2000
    """Duplicate deals of a measurement against the last opponent; several rules share them."""
    final_deals: Positive = 20_000
    """Duplicate deals against each opponent at the end, of each rules."""


@dataclass
class Setting:
    """What stays the same through a run: rules, tables and sizes, in the forms that each part wants.

    ``deals`` is N, this process's share of a rollout; ``blocks`` are the deals of each rules; ``columns`` the numbers
    of a universal full state that the network sees, none for a network of single rules, which sees all of its own.
    """

    config: Config
    rules: dict[str, Rules]
    ranks: Ranks
    deals: int = field(init=False)
    blocks: tuple[Block, ...] = field(init=False)
    columns: NDArray[np.int64] = field(init=False)
    spans: NDArray[np.int64] = field(init=False)
    size: int = field(init=False)
    state_size: int = field(init=False)
    equity: NDArray[np.float64] = field(init=False)
    lowest: int = 0

    def __post_init__(self) -> None:
        config, universal = self.config, is_universal(self.config.rules)
        self.equity = np.empty((0, 0))
        if config.equity:
            if universal:
                raise ConfigError(f"equity={config.equity!r} is for single rules, not for {len(self.rules)} of them")
            table = Equity.load(config.equity, *self.rules.values())
            self.equity, self.lowest = table.table, table.lowest
        self.deals = self.ranks.share(config.deals)
        self.blocks = blocks_of(self.rules, self.deals, universal, bool(config.equity), config.reward_scale)
        layout = self.blocks[0].layout
        self.size, self.state_size = layout.size, layout.state_size
        self.columns, self.spans = np.empty(0, np.int64), np.empty((0, 2), np.int64)
        if universal:
            self.columns = columns_of(list(self.rules.values()))
            self.spans = spans_of(self.columns)
            self.size, self.state_size = int((self.columns < layout.size).sum()), len(self.columns)


class ValueScale:
    """Running mean and spread of returns, in which the critic's outputs are told.

    ``sums`` (3,) float64: a weight, and so weighted the sums of returns and of their squares. Without any returns the
    mean is 0 and the spread 1.
    """

    MEMORY = 0.95
    """Share of the sums that an iteration keeps."""

    def __init__(self) -> None:
        self.sums = torch.zeros(3, dtype=torch.float64)

    @property
    def mean(self) -> float:
        """Mean of returns."""
        return float(self.sums[1] / self.sums[0]) if self.sums[0] > 0 else 0.0

    @property
    def spread(self) -> float:
        """Standard deviation of returns, 0.001 at least."""
        if self.sums[0] == 0:
            return 1.0
        return max(1e-3, float((self.sums[2] / self.sums[0] - self.mean**2).clamp(min=0).sqrt()))

    @torch.no_grad()
    def follow(self, returns: NDArray[np.float32], last: nn.Linear, ranks: Ranks) -> None:
        """Takes the processes' returns (R,) in; modifies the critic's last layer, so that its values stay the same."""
        before = self.mean, self.spread
        new = np.array([len(returns), returns.sum(dtype=np.float64), np.square(returns, dtype=np.float64).sum()])
        totals = ranks.total(torch.from_numpy(new).to(ranks.device)).cpu()
        self.sums = self.MEMORY * self.sums + (1 - self.MEMORY) * totals / totals[0]
        last.weight.mul_(before[1] / self.spread)
        last.bias.mul_(before[1]).add_(before[0] - self.mean).div_(self.spread)


class Networks:
    """Actor, critic with its scale, the optimiser of both, and the magnet that the actor may be held to."""

    def __init__(self, setting: Setting) -> None:
        config = setting.config
        torch.manual_seed(config.seed)
        self.actor = actor_of(setting.size, config.width, config.depth, config.heads).to(setting.ranks.device)
        self.critic = ResidualMLP(setting.state_size, config.width, config.depth, 1, 1.0).to(setting.ranks.device)
        self.scale = ValueScale()
        if config.start:
            self._begin_with(Path(config.start))
        self.magnet = copy.deepcopy(self.actor).requires_grad_(False)
        parameters = [*self.actor.parameters(), *self.critic.parameters()]
        self.optimizer = torch.optim.Adam(parameters, lr=config.learning_rate, eps=1e-5, fused=True)

    def _begin_with(self, path: Path) -> None:
        """Takes the actor, and the critic if it is there, from a checkpoint.

        Raises:
            CheckpointError: if it does not load, or has networks of another shape.
        """
        tensors, _ = read_checkpoint(path)
        for name, network in (("actor", self.actor), ("critic", self.critic)):
            first = len(f"{name}.")
            theirs = {key[first:]: torch.from_numpy(a) for key, a in tensors.items() if key.startswith(f"{name}.")}
            if name == "critic" and not theirs:
                return
            if {key: a.shape for key, a in network.state_dict().items()} != {key: a.shape for key, a in theirs.items()}:
                raise CheckpointError(f"{path}: its {name} has another shape than rules, width and depth ask for")
            network.load_state_dict(theirs)
        if "returns" in tensors:
            self.scale.sums = torch.from_numpy(tensors["returns"])


class Rows:
    """The decisions of one rollout, in arrays that are used again by the next and grow when they must.

    full (R, G) uint8 full states, whose first F numbers are the observation; masks (R, A) uint8; legal (R, 2) int64
    sets of legal cards and calls; orders (R, 4) int8 labels of suits; seats (R,) int8; actions (R,) int64 and those of
    the teacher, taught (R,) int64, suits relabelled; log_probs, rewards, values, advantages, returns (R,) float32;
    next_row (R,) int64.
    """

    NOT_OF_ROWS = ("states", "active", "mine", "last_row", "views", "whole", "other_views", "waiting")

    def __init__(self, setting: Setting) -> None:
        num_deals = setting.deals
        room = num_deals * 8 * max(rules.players for rules in setting.rules.values())
        self.num = 0
        self.full = np.zeros((room, setting.state_size), np.uint8)
        self.masks = np.zeros((room, NUM_ACTIONS), np.uint8)
        self.legal = np.zeros((room, 2), np.int64)
        self.orders = np.zeros((room, 4), np.int8)
        self.seats = np.zeros(room, np.int8)
        self.actions = np.zeros(room, np.int64)
        self.taught = np.zeros(room, np.int64)
        self.log_probs = np.zeros(room, np.float32)
        self.rewards = np.zeros(room, np.float32)
        self.values = np.zeros(room, np.float32)
        self.advantages = np.zeros(room, np.float32)
        self.returns = np.zeros(room, np.float32)
        self.next_row = np.zeros(room, np.int64)
        # Of the deals: states, which of a block's go on, which seats are the learner's, each seat's last row. Scratch:
        # a view and its relabelled copy, a full state; views for other agents and the numbers of their deals.
        self.states = np.zeros(num_deals, STATE)
        self.active = np.zeros(num_deals, np.int64)
        self.mine = np.ones((num_deals, 8), np.bool_)
        self.last_row = np.zeros((num_deals, 8), np.int64)
        self.views = np.zeros(2, VIEW)
        self.whole = np.zeros(setting.blocks[0].layout.state_size, np.uint8)
        asks_others = setting.config.league_share > 0 or setting.config.teacher
        self.other_views = np.zeros(num_deals if asks_others else 0, VIEW)
        self.waiting = np.zeros(num_deals, np.int64)

    def reserve(self, room: int) -> None:
        """Makes room for so many rows."""
        if room <= len(self.actions):
            return
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray) and name not in self.NOT_OF_ROWS:
                grown = np.zeros((room + room // 2, *array.shape[1:]), array.dtype)
                grown[: self.num] = array[: self.num]
                setattr(self, name, grown)


class Profile:
    """Seconds spent by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Adds the time of a ``with`` block to a phase."""
        began = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - began


def inputs(rows: Rows, first: int, end: int, size: int, setting: Setting) -> Tensor:
    """Returns the first ``size`` numbers of some rows' full states, on the device, in the type networks compute in."""
    dtype = torch.bfloat16 if setting.config.bf16 else torch.float32
    return torch.from_numpy(rows.full[first:end, :size]).to(setting.ranks.device).to(dtype)


def inference_copy(network: nn.Module, setting: Setting) -> nn.Module:
    """Returns a copy of a network to be asked, not trained, in the type networks compute in."""
    twin = copy.deepcopy(network).requires_grad_(False)
    return twin.bfloat16() if setting.config.bf16 else twin


@torch.inference_mode()
def rollout(
    actor: nn.Module,
    setting: Setting,
    rows: Rows,
    iteration: int,
    profile: Profile,
    member: Sequence[Agent] = (),
    teacher: Sequence[Agent] = (),
) -> None:
    """Plays N whole deals with the actor in all seats, but where a league's member sits; modifies ``rows``.

    ``member`` has an agent for each block; without one the actor has all seats. So has ``teacher``, who is asked what
    to do at every row; without one ``rows.taught`` means nothing.
    """
    config, ranks = setting.config, setting.ranks
    rows.num = 0
    rng = generator(config.seed, iteration, ranks.rank, 1)
    with profile.phase("rollout: network"):
        policy = inference_copy(actor, setting)
    first_table = iteration * config.deals + ranks.rank * setting.deals
    with profile.phase("rollout: engine"):
        going = [begin_block(block, setting, rows, first_table, bool(member)) for block in setting.blocks]
    key = mix(mix(config.seed, first_table), 1)
    step = 0
    while sum(going) > 0:
        if member:
            with profile.phase("rollout: league"):
                every = zip(setting.blocks, going, member, strict=True)
                going = [play_others(block, num, setting, rows, agent, rng) for block, num, agent in every]
            if sum(going) == 0:
                break
        first, end = rows.num, rows.num + sum(going)
        rows.reserve(end)
        places = [first + sum(going[:k]) for k in range(len(going))]
        with profile.phase("rollout: engine"):
            for block, num_active, place in zip(setting.blocks, going, places, strict=True):
                observe_block(block, setting, rows, num_active, place)
        if teacher:
            with profile.phase("rollout: teacher"):
                for block, num_active, place, agent in zip(setting.blocks, going, places, teacher, strict=True):
                    ask_teacher(block, num_active, place, rows, agent, rng)
        with profile.phase("rollout: network"):
            logits = policy(inputs(rows, first, end, setting.size, setting)).float().cpu().numpy()
        with profile.phase("rollout: engine"):
            sample(
                logits, rows.legal[first:end], int(mix(key, step)), False, rows.actions[first:end],
                rows.log_probs[first:end],
            )  # fmt: skip
            going = [act_block(*each, setting, rows) for each in zip(setting.blocks, going, places, strict=True)]
        rows.num = end
        step += 1


def begin_block(block: Block, setting: Setting, rows: Rows, first_table: int, has_others: bool) -> int:
    """Deals the deals of a block and seats the learner; returns how many have a decision."""
    config = setting.config
    spread = config.spread if config.equity else 0
    mine = block.deals
    if has_others:
        shares = round(config.league_share * selfplay.SHARES), round(config.lone_share * selfplay.SHARES)
        selfplay.seat_learner(block.tables, config.seed, first_table + mine.start, *shares, rows.mine[mine])
    return selfplay.begin(
        rows.states[mine], block.tables, setting.config.seed, first_table + mine.start, spread, rows.active[mine],
        rows.last_row[mine],
    )  # fmt: skip


def observe_block(block: Block, setting: Setting, rows: Rows, num_active: int, first: int) -> None:
    """Writes a row for each active deal of a block, from ``first`` on."""
    mine = block.deals
    selfplay.observe(
        rows.states[mine], block.tables, block.layout.table, block.kind, bool(setting.config.equity),
        rows.active[mine], num_active, rows.views, setting.spans, rows.whole, first, rows.full, rows.masks, rows.legal,
        rows.orders, rows.seats, rows.last_row[mine], rows.next_row, rows.rewards,
    )  # fmt: skip


def ask_teacher(block: Block, num_active: int, first: int, rows: Rows, teacher: Agent, rng: Any) -> None:
    """Notes what a teacher would do at a block's rows, from ``first`` on.

    Raises:
        IllegalChoiceError: if it is not legal.
    """
    deals, mine = block.deals, slice(first, first + num_active)
    views = rows.other_views[:num_active]
    selfplay.look_active(rows.states[deals], block.tables, rows.active[deals], num_active, views)
    chosen = np.asarray(teacher.act(views, rng), np.int64)
    rows.taught[mine] = chosen
    relabel_actions(rows.taught[mine], rows.orders[mine])
    wrong = np.flatnonzero(rows.masks[np.arange(first, first + num_active), rows.taught[mine]] == 0)
    if len(wrong):
        raise IllegalChoiceError(f"the teacher chose action {chosen[wrong[0]]}, which is not legal")


def play_others(block: Block, num_active: int, setting: Setting, rows: Rows, agent: Agent, rng: Any) -> int:
    """Lets an agent play at a block's active deals until the learner is to move; returns how many go on.

    Raises:
        IllegalChoiceError: if it chooses an action that is not legal.
    """
    deals = block.deals
    states, active, mine = rows.states[deals], rows.active[deals], rows.mine[deals]
    while True:
        args = states, block.tables, active, num_active
        num = selfplay.find_others(*args, mine, rows.waiting, rows.other_views)
        if num == 0:
            return num_active
        actions = np.asarray(agent.act(rows.other_views[:num], rng), np.int64)
        moved = rows.waiting[:num]
        wrong = apply_rows(states, block.tables, moved, actions)
        if wrong >= 0:
            raise IllegalChoiceError(f"an agent of the league chose action {actions[wrong]}, which is not legal")
        num_active = selfplay.go_on(
            *args, moved, rows.last_row[deals], block.scale, setting.equity, setting.lowest, rows.rewards
        )


def act_block(block: Block, num_active: int, first: int, setting: Setting, rows: Rows) -> int:
    """Does the actions of a block's rows; returns how many of its deals go on."""
    mine = block.deals
    return selfplay.act(
        rows.states[mine], block.tables, rows.active[mine], num_active, first, rows.actions, rows.orders,
        rows.last_row[mine], block.scale, setting.equity, setting.lowest, rows.rewards,
    )  # fmt: skip


@torch.inference_mode()
def advantages(networks: Networks, setting: Setting, rows: Rows, profile: Profile) -> None:
    """Asks the critic for the value of every row, and estimates advantages and returns; modifies ``rows``."""
    scale = networks.scale
    with profile.phase("advantages: network"):
        judge = inference_copy(networks.critic, setting)
        for first in range(0, rows.num, 8192):
            end = min(first + 8192, rows.num)
            values = judge(inputs(rows, first, end, setting.state_size, setting))
            rows.values[first:end] = scale.mean + scale.spread * values.float().squeeze(1).cpu().numpy()
    with profile.phase("advantages: engine"):
        selfplay.advantages(
            rows.values, rows.rewards, rows.next_row, rows.num, setting.config.lam, rows.advantages, rows.returns
        )


@dataclass
class Batch:
    """B decisions as tensors on the device."""

    full: Tensor
    masks: Tensor
    actions: Tensor
    log_probs: Tensor
    advantages: Tensor
    returns: Tensor
    taught: Tensor


LOGGED = ("policy", "value", "entropy", "kl", "clipped")
"""What is logged of a minibatch: losses of actor and critic, mean entropy, KL divergence from the rollout's policy,
share of clipped ratios."""


def log_policy_of(logits: Tensor, masks: Tensor) -> Tensor:
    """Returns the log-probabilities (B, A) of a masked policy, in float32; those of illegal actions are near −1e9."""
    return torch.log_softmax(logits.float().masked_fill(masks == 0, -1e9), dim=1)


def divergence(log_policy: Tensor, log_other: Tensor) -> Tensor:
    """Returns the mean Kullback–Leibler divergence of policies (B, A) from others."""
    return (log_policy.exp() * (log_policy - log_other)).sum(dim=1).mean()


def losses(
    networks: Networks, setting: Setting, batch: Batch, entropy_weight: float, teaching: float
) -> tuple[Tensor, Tensor]:
    """Returns the loss of a minibatch (PPO's clipped objective, entropy bonus, critic), and the terms ``LOGGED``.

    With ``teaching`` above zero the policy's cross-entropy with the teacher's choice is added, so weighted.
    """
    config = setting.config
    with torch.autocast(setting.ranks.device.type, torch.bfloat16, enabled=config.bf16):
        logits = networks.actor(batch.full[:, : setting.size])
        values = networks.critic(batch.full)
    log_policy = log_policy_of(logits, batch.masks)
    entropy = -(log_policy.exp() * log_policy).sum(dim=1).mean()
    log_ratio = log_policy.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
    policy_loss = -torch.minimum(ratio * batch.advantages, clipped * batch.advantages).mean()
    value_loss = (values.float().squeeze(1) - batch.returns).square().mean()
    loss = policy_loss - entropy_weight * entropy + config.value_weight * value_loss
    if teaching > 0:
        loss = loss - teaching * log_policy.gather(1, batch.taught[:, None]).mean()
    if config.magnet > 0:
        with torch.no_grad(), torch.autocast(setting.ranks.device.type, torch.bfloat16, enabled=config.bf16):
            pull = networks.magnet(batch.full[:, : setting.size])
        loss = loss + config.magnet * divergence(log_policy, log_policy_of(pull, batch.masks))
    with torch.no_grad():
        kl = (ratio - 1 - log_ratio).mean()
        clipped_share = ((ratio - 1).abs() > config.clip).float().mean()
        return loss, torch.stack([policy_loss, value_loss, entropy, kl, clipped_share])


def standardised(values: Tensor, ranks: Ranks) -> Tensor:
    """Returns the processes' values (R,) less their common mean, over their common standard deviation."""
    sums = ranks.total(torch.stack([torch.ones_like(values).sum(), values.sum(), values.square().sum()]))
    mean = sums[1] / sums[0]
    return (values - mean) / ((sums[2] / sums[0] - mean.square()).clamp(min=0).sqrt() + 1e-8)


def teaching_at(config: Config, done: float) -> float:
    """Returns the weight of the teacher's choices when a share of the run is over; zero without a teacher."""
    if not config.teacher or done >= config.taught_share:
        return 0.0
    return config.teaching * (1 - done / config.taught_share)


def update(
    networks: Networks, setting: Setting, rows: Rows, iteration: int, done: float, profile: Profile
) -> dict[str, float]:
    """Improves actor and critic on one rollout; returns means of what :func:`losses` logs over the last pass.

    ``done`` is the share of the run that is over: the schedules go by it.
    """
    config, ranks = setting.config, setting.ranks
    entropy_weight = config.entropy + done * (config.final_entropy - config.entropy)
    teaching = teaching_at(config, done)
    for group in networks.optimizer.param_groups:
        group["lr"] = config.learning_rate + done * (config.final_learning_rate - config.learning_rate)
    with profile.phase("update: batches"):
        arrays = (rows.full, rows.masks, rows.actions, rows.log_probs, rows.advantages, rows.returns, rows.taught)
        data = Batch(*(torch.from_numpy(array[: rows.num]).to(ranks.device) for array in arrays))
        data.advantages = standardised(data.advantages, ranks)
        if config.normalise_values:
            networks.scale.follow(rows.returns[: rows.num], networks.critic.last, ranks)
            data.returns = (data.returns - networks.scale.mean) / networks.scale.spread
        generator = torch.Generator().manual_seed(int(mix(mix(config.seed, iteration), 2 + ranks.rank)))
        num_batches = ranks.most(max(1, round(rows.num * ranks.size / config.minibatch)))
    log: dict[str, float] = {}
    for _ in range(config.epochs):
        sums = torch.zeros(len(LOGGED), device=ranks.device)
        for part in torch.randperm(rows.num, generator=generator).tensor_split(num_batches):
            with profile.phase("update: batches"):
                index = part.to(ranks.device)
                batch = Batch(*(tensor[index] for tensor in vars(data).values()))
                batch.full = batch.full.to(torch.bfloat16 if config.bf16 else torch.float32)
            with profile.phase("update: network"):
                loss, terms = losses(networks, setting, batch, entropy_weight, teaching)
                networks.optimizer.zero_grad()
                loss.backward()
                ranks.average_gradients(networks.actor, networks.critic)
                for network in (networks.actor, networks.critic):
                    nn.utils.clip_grad_norm_(network.parameters(), config.max_grad_norm)
                networks.optimizer.step()
                sums += terms
        means = ranks.total(sums) / (num_batches * ranks.size)
        log = dict(zip(LOGGED, means.tolist(), strict=True))
        if log["kl"] > config.max_kl:
            break
    if config.magnet > 0:
        for kept, new in zip(networks.magnet.parameters(), networks.actor.parameters(), strict=True):
            kept.lerp_(new.detach(), 1 - config.magnet_decay)
    spread = rows.returns[: rows.num].var()
    residue = (rows.returns[: rows.num] - rows.values[: rows.num]).var()
    return log | {"explained_variance": float(1 - residue / spread) if spread > 0 else 0.0}


# The loop around them


PAST_SELF = "self-"
"""Past selves are called so, with the decisions that they had learned from."""


class Run:
    """One training run: its folder, where it is, what it has measured."""

    def __init__(self, folder: Path, setting: Setting) -> None:
        self.folder = folder
        self.setting = setting
        self.networks = Networks(setting)
        self.iteration = 0
        self.frames = 0
        self.seconds = 0.0
        self.curve: list[dict[str, Any]] = []
        self.teacher: Sequence[Agent] = ()
        if setting.config.teacher:
            self.teacher = [make_agent(setting.config.teacher, block.rules) for block in setting.blocks]
        self.league: League[Sequence[Agent]] | None = None
        if setting.config.league_share > 0:
            fixed = {
                name: [make_agent(name, block.rules) for block in setting.blocks] for name in setting.config.league
            }
            self.league = League(fixed, setting.config.league_size)

    def play(self, rows: Rows, timer: Profile) -> None:
        """Plays a rollout, some of it with a member of the league, the same in all processes; modifies ``rows``."""
        config, league = self.setting.config, self.league
        teacher = self.teacher if teaching_at(config, self.frames / config.frames) > 0 else ()
        name = self._draw(league) if league is not None else ""
        member = league.members[name] if league is not None else ()
        rollout(self.networks.actor, self.setting, rows, self.iteration, timer, member, teacher)
        if league is not None:
            self._note(league, name, rows)

    def _draw(self, league: League[Sequence[Agent]]) -> str:
        """Returns the name of the rollout's member of the league, after adding a past self if one is due."""
        config, past = self.setting.config, league.past
        due = int(past[-1].removeprefix(PAST_SELF)) + config.league_every if past else 0
        if config.league_size > 0 and self.frames >= due:
            self._add_past_self(league)
        return league.draw(generator(config.seed, self.iteration))

    def _note(self, league: League[Sequence[Agent]], name: str, rows: Rows) -> None:
        """Notes how the deals against a member of the league ended, in all processes."""
        counts = torch.zeros(2, dtype=torch.float64, device=self.setting.ranks.device)
        for block in self.setting.blocks:
            margins = np.zeros(block.deals.stop - block.deals.start)
            num = selfplay.margins_of(rows.states[block.deals], block.tables, rows.mine[block.deals], margins)
            margins = margins[:num]
            counts += torch.tensor([num, (margins > 0).sum() + 0.5 * (margins == 0).sum()], device=counts.device)
        league.count(name, *self.setting.ranks.total(counts).tolist())

    def _add_past_self(self, league: League[Sequence[Agent]]) -> None:
        """Puts the actor as it is now into the league, and into the run's folder."""
        name, actor = f"{PAST_SELF}{self.frames}", arrays_of(self.networks.actor, "")
        if self.setting.ranks.rank == 0:
            folder = self.folder / "league"
            folder.mkdir(parents=True, exist_ok=True)
            write_checkpoint(folder / f"{name}.safetensors", actor, {"frames": self.frames})
        league.add(name, self._agents_of(actor, draws=True))

    def _agents_of(self, actor: Mapping[str, NDArray[Any]], draws: bool) -> list[Agent]:
        """Returns the agents of an actor for each block."""
        return [self._agent_of(actor, block.rules, draws) for block in self.setting.blocks]

    def _agent_of(self, actor: Mapping[str, NDArray[Any]], rules: Rules, draws: bool) -> NeuralAgent:
        config = self.setting.config
        universal = is_universal(config.rules)
        columns = self.setting.columns[: self.setting.size] if universal else None
        return NeuralAgent(actor, rules, universal, bool(config.equity), draws, columns)

    @property
    def checkpoint(self) -> Path:
        """File of the newest checkpoint."""
        return self.folder / "checkpoint.safetensors"

    @property
    def parameter_names(self) -> list[str]:
        """Names of the optimiser's parameters, in its order."""
        networks = (("actor", self.networks.actor), ("critic", self.networks.critic))
        return [f"{prefix}.{name}" for prefix, network in networks for name, _ in network.named_parameters()]

    def save(self) -> None:
        """Writes the checkpoint: networks, optimiser, and where the run is."""
        tensors: dict[str, NDArray[Any]] = arrays_of(self.networks.actor, "actor.")
        tensors |= arrays_of(self.networks.critic, "critic.")
        if self.setting.config.magnet > 0:
            tensors |= arrays_of(self.networks.magnet, "magnet.")
        if self.setting.config.normalise_values:
            tensors["returns"] = self.networks.scale.sums.numpy()
        moments = self.networks.optimizer.state_dict()["state"]
        for number, name in enumerate(self.parameter_names):
            for key, value in moments.get(number, {}).items():
                tensors[f"optimizer.{name}.{key}"] = value.cpu().float().numpy()
        rules = {name: rules.to_dict() for name, rules in self.setting.rules.items()}
        universal = is_universal(self.setting.config.rules)
        if universal:
            tensors["columns"] = self.setting.columns[: self.setting.size]
        about = {
            "rules": rules if universal else next(iter(rules.values())),
            "config": self.setting.config.model_dump(mode="json"),
            "seed": self.setting.config.seed,
            "iteration": self.iteration,
            "frames": self.frames,
            "seconds": self.seconds,
            "curve": self.curve,
            "universal": universal,
            "sees_scores": bool(self.setting.config.equity),
        }
        if self.league is not None:
            about["league"] = self.league.record()
        write_checkpoint(self.checkpoint, tensors, about)

    def load(self) -> None:
        """Goes on from the checkpoint.

        Raises:
            CheckpointError: if it cannot be read, or its config is another one.
        """
        tensors, about = read_checkpoint(self.checkpoint)
        mine = self.setting.config.model_dump(mode="json")
        theirs = Config().model_dump(mode="json") | about.get("config", {})
        wrong = [key for key in mine if mine[key] != theirs[key] and key not in ("threads", "device")]
        if wrong:
            raise CheckpointError(f"{self.checkpoint} was made with another config: {', '.join(wrong)} differ")
        for prefix in ("actor", "critic") + ("magnet",) * (self.setting.config.magnet > 0):
            network: nn.Module = getattr(self.networks, prefix)
            network.load_state_dict(
                {name: torch.from_numpy(tensors[f"{prefix}.{name}"]) for name in network.state_dict()}
            )
        kept = self.networks.optimizer.state_dict()
        kept["state"] = {
            number: {
                key: torch.from_numpy(tensors[f"optimizer.{name}.{key}"]) for key in ("step", "exp_avg", "exp_avg_sq")
            }
            for number, name in enumerate(self.parameter_names)
            if f"optimizer.{name}.step" in tensors
        }
        self.networks.optimizer.load_state_dict(kept)
        if self.setting.config.normalise_values:
            self.networks.scale.sums = torch.from_numpy(tensors["returns"])
        self.iteration, self.frames, self.seconds = about["iteration"], about["frames"], about["seconds"]
        self.curve = about["curve"]
        if self.league is not None:
            files = {name: self.folder / "league" / f"{name}.safetensors" for name in about["league"]["past"]}
            past = {name: self._agents_of(read_checkpoint(path)[0], draws=True) for name, path in files.items()}
            self.league.restore(about["league"], past)

    def agent(self, rules: Rules) -> NeuralAgent:
        """Returns the actor as an agent for some of the rules."""
        return self._agent_of(arrays_of(self.networks.actor, ""), rules, draws=False)

    def measure(self, opponent: str, num_deals: int) -> dict[str, dict[str, Any]]:
        """Plays a duplicate match of each rules against an agent.

        Returns:
            By rules: ``mean`` margin, 95 % ``interval``, and by bid the auctions ``won`` with it and bids ``made``.
        """
        margins = {}
        for number, (name, rules) in enumerate(self.setting.rules.items()):
            # Deals that no rollout has seen (training uses the seed itself), others for each rules.
            seed = ~self.setting.config.seed - number
            match = play_match(rules, self.agent(rules), make_agent(opponent, rules), num_deals, seed)
            margins[name] = {"mean": match.mean, "interval": list(match.interval), "bids": match.bids["a"]}
        return margins


def decisions_a_second(config: Config, seconds: float) -> float:
    """Measures how fast a config learns, after a first iteration that is not counted; keeps nothing."""
    setting = Setting(config, check_config(config, "decisions a second"), Ranks.join(False))
    networks, rows, timer = Networks(setting), Rows(setting), Profile()
    frames, began, iteration = 0, time.perf_counter(), 0
    while iteration < 2 or time.perf_counter() - began < seconds:
        rollout(networks.actor, setting, rows, iteration, timer)
        advantages(networks, setting, rows, timer)
        update(networks, setting, rows, iteration, 0.0, timer)
        frames += rows.num
        if iteration == 0:
            frames, began = 0, time.perf_counter()
        iteration += 1
    return frames / (time.perf_counter() - began)


def load_config(path: Path | str, seed: int | None = None) -> tuple[Config, dict[str, Rules]]:
    """Reads a config (TOML) and the rules that it names, by name.

    Raises:
        ConfigError: if there is no such file, it is not TOML, or a key or value is refused.
    """
    config = read_config(Config, path, seed)
    return config, check_config(config, path)


def check_config(config: Config, path: Path | str) -> dict[str, Rules]:
    """Returns the rules of a config, by name.

    Raises:
        ConfigError: if rules or agents are refused; the message names ``path``.
    """
    rules = named_rules(config.rules, path)
    taught_by = (config.teacher,) if config.teacher else ()
    agents = {"opponents": config.opponents, "league": config.league, "teacher": taught_by}
    for key, names in agents.items():
        try:
            for name, one in product(names, rules.values()):
                if not isinstance(make_agent(name, one), Agent) and key != "opponents":
                    raise ValueError(f"{name!r} must be shown hidden cards, which training does not do")
        except ValueError as error:
            raise ConfigError(f"{path}: {key}: {error}") from None
    if config.league_share > 0 and not config.league and config.league_size == 0:
        raise ConfigError(f"{path}: league_share={config.league_share:g}, but league=[] and league_size=0: it is empty")
    return rules


def train(
    config_path: Path | str,
    run: Path | str | None = None,
    resume: bool = False,
    seed: int | None = None,
    profile: bool = False,
) -> dict[str, Any]:
    """Trains from a config file, and measures the result.

    Args:
        config_path: a TOML file with keys of :class:`Config`.
        run: folder of the run; ``runs/NAME-seedS`` if left out, with a number behind it where that exists.
        resume: go on from the folder's checkpoint.
        seed: over the config's.
        profile: print seconds by phase at the end.

    Returns:
        What ``pitch train --json`` prints: run, frames, seconds, checkpoint, strength (agent to mean and interval).

    Raises:
        ValueError: if config, rules or checkpoint are refused, or a folder is there that is not to be resumed.
        KeyboardInterrupt: on Ctrl-C, once the iteration is finished and its checkpoint written.
    """
    config, rules = load_config(config_path, seed)
    folder = _run_folder(Path(config_path).stem, config.seed, run, resume)
    return train_in(folder, config, rules, Path(config_path).read_text(encoding="utf-8"), resume, profile)


def train_in(
    folder: Path, config: Config, rules: dict[str, Rules], text: str, resume: bool = False, profile: bool = False
) -> dict[str, Any]:
    """Trains in a folder as :func:`train` does, from a config that is checked; ``text`` is its file."""
    has_cuda = torch.cuda.is_available() and config.device != "cpu"
    if config.device == "cuda" and not has_cuda:
        raise ConfigError("device='cuda', but torch sees no such device")
    torch.set_num_threads(config.threads)
    ranks = Ranks.join(has_cuda)
    state = Run(folder, Setting(config, rules, ranks))
    if resume:
        state.load()
    ranks.wait()
    if ranks.rank == 0:
        folder.mkdir(parents=True, exist_ok=True)
        write_text(folder / "config.toml", text)
    timer = Profile()
    _learn(state, timer)
    result: dict[str, Any] = {
        "run": str(folder),
        "frames": state.frames,
        "seconds": round(state.seconds, 1),
        "checkpoint": str(state.checkpoint),
    }
    if ranks.rank == 0:
        strength = _final_strength(state)
        result["strength"] = {opponent: mean_margin(margins.values()) for opponent, margins in strength.items()}
        if is_universal(config.rules):
            result["strength_by_rules"] = {
                opponent: {name: mean_margin([margin]) for name, margin in margins.items()}
                for opponent, margins in strength.items()
            }
        told = result | {"curve": state.curve, "opponent": config.opponents[-1]}
        write_text(folder / "result.json", json.dumps(told, indent=1))
        draw_curves([folder], folder / "curves.png")
        if profile:
            _print_profile(state, timer)
    return result


def main(
    config: Annotated[Path, typer.Argument(help="TOML file of the run.")],
    run: Annotated[Path | None, typer.Argument(help="Folder of the run.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the folder's checkpoint.")] = False,
    seed: Annotated[int | None, typer.Option(help="Over the config's.")] = None,
) -> None:
    """Trains from a config; under torchrun, in all its processes (torchrun takes --run for an option of its own)."""
    train(config, run, resume, seed)


def _run_folder(name: str, seed: int, run: Path | str | None, resume: bool) -> Path:
    folder = Path(run) if run is not None else Path("runs") / f"{name}-seed{seed}"
    if resume:
        if not (folder / "checkpoint.safetensors").exists():
            raise CheckpointError(f"{folder} has no checkpoint.safetensors to resume from")
        return folder
    if run is None:
        number = 1
        while folder.exists():
            number += 1
            folder = Path("runs") / f"{name}-seed{seed}-{number}"
    elif (folder / "checkpoint.safetensors").exists():
        raise CheckpointError(f"{folder} has a checkpoint already: resume it, or name another folder")
    return folder


class _Interrupt:
    """Turns the first Ctrl-C into a request to stop after the iteration; the second stops at once."""

    def __enter__(self) -> "_Interrupt":
        self.asked = False
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def _ask(self, number: int, frame: Any) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *exception: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)


def _learn(state: Run, timer: Profile) -> None:
    """Iterates until the frames are done, with a progress bar, measurements, logs and checkpoints."""
    setting, config, ranks = state.setting, state.setting.config, state.setting.ranks
    rows = Rows(setting)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} decisions"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[strength]}"),
    )
    with _Interrupt() as interrupt, Progress(*columns, console=Console(stderr=True), disable=ranks.rank > 0) as bar:
        task = bar.add_task(state.folder.name, total=config.frames, completed=state.frames, strength="")
        writer = SummaryWriter(str(state.folder / "tensorboard")) if ranks.rank == 0 else None
        while state.frames < config.frames:
            began = time.perf_counter()
            due = state.frames // config.evaluate_every + 1
            state.play(rows, timer)
            advantages(state.networks, setting, rows, timer)
            log = update(state.networks, setting, rows, state.iteration, state.frames / config.frames, timer)
            num_rows = int(ranks.total(torch.tensor(rows.num, device=ranks.device)))
            state.iteration += 1
            state.frames += num_rows
            state.seconds += time.perf_counter() - began
            is_last = ranks.most(int(interrupt.asked)) == 1
            if writer is not None:
                _log(writer, state, log | {"decisions_a_second": num_rows / (time.perf_counter() - began)})
                bar.update(task, completed=min(state.frames, config.frames))
                if state.frames // config.evaluate_every >= due:
                    with timer.phase("measuring"):
                        strength = _measure(writer, state, log["entropy"])
                    bar.update(task, strength=strength)
                    if not bar.console.is_terminal:  # a bar shows nothing in a log
                        bar.console.print(f"{state.frames:,} decisions, {state.seconds:.0f} s: {strength}")
                    state.save()
                elif is_last or state.frames >= config.frames:
                    state.save()
            if is_last:
                raise KeyboardInterrupt(str(state.folder))
        if writer is not None:
            writer.close()


def _log(writer: SummaryWriter, state: Run, log: dict[str, float]) -> None:
    for name, value in log.items():
        writer.add_scalar(f"train/{name}", value, state.frames)
    if state.league is not None:
        for name in state.setting.config.league:
            writer.add_scalar(f"league/{name}", state.league.win_rate(name), state.frames)


def _measure(writer: SummaryWriter, state: Run, entropy: float) -> str:
    """Measures strength against the last opponent of the config, for the curve; returns it in words."""
    opponent = state.setting.config.opponents[-1]
    margins = state.measure(opponent, max(2, state.setting.config.evaluate_deals // len(state.setting.rules)))
    whole = mean_margin(margins.values())
    low, high = whole["interval"]
    point = {"frames": state.frames, "seconds": round(state.seconds, 1), "mean": whole["mean"]}
    point |= {"low": low, "high": high, "entropy": entropy} | bidding(margins.values())
    writer.add_scalar(f"strength/{opponent}", whole["mean"], state.frames)
    writer.add_scalar("bids/made", point["made"], state.frames)
    for bid, share in point["bids"].items():
        writer.add_scalar(f"bids/{bid}", share, state.frames)
    if len(margins) > 1:
        point["rules"] = {name: margin["mean"] for name, margin in margins.items()}
        for name, mean in point["rules"].items():
            writer.add_scalar(f"strength/{opponent}/{name}", mean, state.frames)
    state.curve.append(point)
    return f"v {opponent} {whole['mean']:+.2f} ± {(high - low) / 2:.2f}"


def bidding(margins: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Returns the share of won auctions whose bid was ``made``, and by bid its share of these auctions."""
    won: Counter[str] = Counter()
    made = 0
    for margin in margins:
        for bid, row in margin["bids"].items():
            won[bid] += row["won"]
            made += row["made"]
    total = max(1, won.total())
    return {"made": made / total, "bids": {bid: won[bid] / total for bid in sorted(won)}}


def _final_strength(state: Run) -> dict[str, dict[str, dict[str, Any]]]:
    """Measures against every opponent, and prints the table; returns margins by opponent and rules."""
    strength = {}
    table = Table("rules", "against", "points a deal", "95 % interval", title="Strength, duplicate deals")
    for opponent in state.setting.config.opponents:
        strength[opponent] = state.measure(opponent, state.setting.config.final_deals)
        for name, margin in strength[opponent].items():
            low, high = margin["interval"]
            table.add_row(name, opponent, f"{margin['mean']:+.3f}", f"{low:+.3f} … {high:+.3f}")
    Console(stderr=True).print(table)
    return strength


def _print_profile(state: Run, timer: Profile) -> None:
    """Prints seconds by phase, and decisions a second beside those of a bare torch loop with the same networks."""
    table = Table("phase", "seconds", "share", title="Where the time went")
    total = sum(timer.seconds.values())
    for name, seconds in timer.seconds.items():
        table.add_row(name, f"{seconds:.1f}", f"{seconds / total:.0%}")
    console = Console(stderr=True)
    console.print(table)
    for part in ("rollout", "update"):
        of_part = {name: seconds for name, seconds in timer.seconds.items() if name.startswith(part)}
        console.print(f"{part}: {of_part[f'{part}: network'] / sum(of_part.values()):.0%} in networks")
    mine = state.frames / state.seconds
    bare = bare_loop(state.networks, state.setting, state.frames // state.iteration)
    console.print(f"{mine:,.0f} decisions/s, {mine / bare:.0%} of the {bare:,.0f} of a bare torch loop")


if __name__ == "__main__":
    typer.run(main)
