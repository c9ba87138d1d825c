"""Many tables at once: the batch of games that reuses its buffers, and the Gymnasium vector environment.

Axis letters: N tables, F numbers of an observation, T sides, A actions (NUM_ACTIONS).
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numba
import numpy as np
from gymnasium.spaces import Box, Discrete
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numba import prange
from numpy.typing import NDArray

from pitch_env import episode as table
from pitch_env.actions import NUM_ACTIONS
from pitch_env.engine.jit import kernel, parallel_kernel
from pitch_env.engine.state import NO_SIDE, OVER, STATE
from pitch_env.engine.step import advance, apply, start_batch
from pitch_env.engine.tables import compile_rules
from pitch_env.episode import check_seed
from pitch_env.observation import VIEW, Layout, full_states, layout_of, observe
from pitch_env.rules import Rules, load_rules
from pitch_env.seats import Player, Seats

__all__ = ["Batch", "PitchVectorEnv"]


class Batch:
    """N games stepped together, deal after deal, for self-play: the fast path.

    It trusts its caller: actions must be legal. Every array belongs to the batch and is **overwritten by the next**
    :meth:`step`; copy what must outlive it. Game *i* plays the same deals whatever N and ``threads`` are.
    """

    states: NDArray[np.void]
    """(N,) ``STATE`` records."""
    views: NDArray[np.void]
    """(N,) ``VIEW`` of the seat to act in each game."""
    observations: NDArray[np.uint8]
    """(N, F) the same as numbers."""
    masks: NDArray[np.int8]
    """(N, A) its legal actions."""
    seats: NDArray[np.int64]
    """(N,) the seat to act."""
    points: NDArray[np.float32]
    """(N, T) change of score of each side by the deal that the last step settled, zeros where it settled none."""
    done: NDArray[np.bool_]
    """(N,) whether the last step ended an episode: a deal, or a game with ``whole_games``."""
    winners: NDArray[np.int64]
    """(N,) side that won its game with the last step, ``NO_SIDE`` for none."""

    def __init__(
        self,
        rules: Rules | str | Path,
        num_games: int,
        seed: int = 0,
        universal: bool = False,
        first_table: int = 0,
        whole_games: bool = False,
        threads: int = 1,
    ) -> None:
        """Makes the batch and deals.

        Args:
            rules: a ``Rules``, a variant's name, or a TOML file of house rules.
            num_games: N.
            seed: of all games; game *i* is table ``first_table + i`` of it.
            universal: observations of one layout for all rules.
            first_table: number of the first game, so that batches of one seed can share out its games.
            whole_games: deals of a game follow on its scores; otherwise every deal starts at zero.
            threads: spread over so many threads; results are the same bit for bit.

        Raises:
            ValueError: if the rules are refused, or a number is out of range.
        """
        most = int(numba.config.NUMBA_NUM_THREADS)
        if num_games < 1 or not 1 <= threads <= most:
            raise ValueError(f"num_games={num_games} must be 1 or more, threads={threads} 1 to {most}")
        self.rules = load_rules(rules)
        self.layout: Layout = layout_of(self.rules, universal)
        self.num_games, self.whole_games, self.threads = num_games, whole_games, threads
        self._seed, self._first_table = check_seed(seed), first_table
        self._tables = compile_rules(self.rules)
        self.states = np.zeros(num_games, STATE)
        self.views = np.zeros(num_games, VIEW)
        self.observations = np.zeros((num_games, self.layout.size), np.uint8)
        self.masks = np.zeros((num_games, NUM_ACTIONS), np.int8)
        self.seats = np.zeros(num_games, np.int64)
        self.points = np.zeros((num_games, self.rules.sides), np.float32)
        self.done = np.zeros(num_games, np.bool_)
        self.winners = np.full(num_games, NO_SIDE, np.int64)
        self._full: NDArray[np.uint8] | None = None
        self.reset()

    def reset(self, seed: int | None = None) -> None:
        """Starts all games anew, under another seed if one is given."""
        if seed is not None:
            self._seed = check_seed(seed)
        start_batch(self.states, self._tables, self._seed, self._first_table)
        self.points[:], self.done[:], self.winners[:] = 0, False, NO_SIDE
        _show_batch(self.states, self._tables, self.layout.table, self.views, self.observations, self.masks, self.seats)

    def step(self, actions: NDArray[np.integer[Any]]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Plays one legal action in each game, deals anew where a deal ended, and writes what comes next.

        Args:
            actions: (N,) legal actions of the seats to act.

        Returns:
            ``points`` (N, T) and ``done`` (N,).
        """
        chosen = np.asarray(actions, np.int64)
        if chosen.shape != (self.num_games,):
            raise ValueError(f"actions have shape {chosen.shape}, not ({self.num_games},)")
        arrays = (
            self.states, self._tables, self.layout.table, chosen, self.whole_games, self.views, self.observations,
            self.masks, self.seats, self.points, self.done, self.winners,
        )  # fmt: skip
        if self.threads == 1:
            _step_batch(*arrays)
        else:
            before = numba.get_num_threads()
            numba.set_num_threads(self.threads)
            try:
                _step_threads(*arrays)
            finally:
                numba.set_num_threads(before)
        return self.points, self.done

    def full_states(self, seats: Sequence[int] | NDArray[np.integer[Any]] | None = None) -> NDArray[np.uint8]:
        """Returns the full states for a central critic, hidden cards too: (N, state F), in a buffer that is reused.

        Args:
            seats: (N,) from whose side each is seen; the seats to act if left out.
        """
        if self._full is None:
            self._full = np.zeros((self.num_games, self.layout.state_size), np.uint8)
        chosen = self.seats if seats is None else np.asarray(seats, np.int64)
        full_states(self.states, self._tables, self.layout.table, chosen, self._full)
        return self._full


class PitchVectorEnv(gymnasium.vector.VectorEnv[NDArray[np.uint8], NDArray[np.int64], NDArray[Any]]):
    """N seats, each at a table of its own against agents, which are asked for all tables at once.

    Every sub-environment is what :class:`pitch_env.single.SeatEnv` is; with agents that leave nothing to chance,
    ``SyncVectorEnv`` over those gives the same. For self-play take :class:`Batch`.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's attribute
        "render_modes": list(table.RENDER_MODES),
        "render_fps": 1,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str | Path = "auction_pitch",
        opponents: Player | Sequence[Player] = "rule",
        partner: Player | None = None,
        seat: int | None = None,
        episode: str = "deal",
        reward: str = "points",
        render_mode: str | None = None,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        illegal_reward: float | None = None,
        max_deals: int = table.MAX_DEALS,
        universal: bool = False,
        render_open: bool = False,
    ) -> None:
        """Makes the environment; :meth:`reset` deals.

        Args:
            num_envs: N.
            rules: this and the other arguments are those of :class:`pitch_env.single.SeatEnv`.
            opponents: who plays against the seats.
            partner: who plays with them.
            seat: which seat; None for one drawn for each episode.
            episode: ``"deal"`` or ``"game"``.
            reward: ``"points"`` or ``"win"``.
            render_mode: one of ``metadata["render_modes"]``, or None.
            autoreset_mode: Gymnasium's: an ended table is dealt anew by the next step, whose action there counts
                nothing (``NEXT_STEP``), by the same step (``SAME_STEP``; the last observation is in
                ``info["final_obs"]``), or by ``reset(options={"reset_mask": …})`` (``DISABLED``).
            illegal_reward: reward of an illegal action.
            max_deals: a game is truncated after so many deals.
            universal: observations of one layout for all rules.
            render_open: draw all cards open.

        Raises:
            ValueError: if the rules or an agent are refused, or another argument is none of these.
        """
        table.check_terms(episode, reward, render_mode, max_deals)
        if num_envs < 1:
            raise ValueError(f"num_envs={num_envs} is not a number of tables of 1 or more")
        self._seats = Seats(
            num_envs, rules, opponents, partner, seat, episode, reward, max_deals, illegal_reward, universal
        )
        self.num_envs, self.render_mode, self.render_open = num_envs, render_mode, render_open
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = Box(0, 1, (self._seats.layout.size,), np.uint8)
        self.single_action_space = Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._all = np.arange(num_envs)
        self._ended = np.zeros(num_envs, np.bool_)
        self._is_seeded = False

    @property
    def rules(self) -> Rules:
        """The rules."""
        return self._seats.rules

    @property
    def seats(self) -> NDArray[np.int64]:
        """The seat at each table, (N,), a copy."""
        return self._seats.own.copy()

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Deals anew at every table, or at those of a mask, and plays up to the seats' first turns.

        Args:
            seed: table *i* starts the series of ``seed + i``, or of ``seed[i]``; without one the series go on, or
                start from seeds of the operating system.
            options: see :func:`pitch_env.episode.begin`, for all tables; and ``reset_mask`` (N,) bool: only these.

        Raises:
            ValueError: if a seed or an option is refused.
        """
        rows = self._masked(options or {})
        options = {key: value for key, value in (options or {}).items() if key != "reset_mask"}
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None:
            seeds: Sequence[int | None] = [None] * self.num_envs
        elif isinstance(seed, int | np.integer):
            seeds = [int(seed) + i for i in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise ValueError(f"seed has {len(seeds)} numbers, not num_envs={self.num_envs}")
        if not self._is_seeded:
            seeds = [table.entropy() if one is None else one for one in seeds]
            self._is_seeded = True
        given = {i: one for i, one in enumerate(seeds) if one is not None and i in rows}
        if given:
            self._seats.seed(np.array(list(given)), list(given.values()))
        self._seats.begin(rows, options)
        self._ended[rows] = False
        if self.render_mode == "human":
            self.render()
        return self._seats.observations.copy(), self._info(np.zeros(self.num_envs, np.bool_))

    def _masked(self, options: dict[str, Any]) -> NDArray[np.intp]:
        if "reset_mask" not in options:
            return self._all
        mask = options["reset_mask"]
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (self.num_envs,):
            raise ValueError(f"options['reset_mask'] is an array ({self.num_envs},) of bool, not {mask!r:.80}")
        if not mask.any():
            raise ValueError("options['reset_mask'] chooses no table")
        return np.flatnonzero(mask)

    def step(
        self, actions: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays one turn at every table, and the agents' turns up to the next.

        Args:
            actions: (N,); one that is not legal ends its episode with ``illegal_reward``.

        Returns:
            New arrays: observations (N, F), rewards, terminated, truncated (N,), and infos ``action_mask`` (N, A),
            ``seat`` and ``illegal`` (N,), each with its ``_`` array as Gymnasium has it.

        Raises:
            ValueError: if the actions are not N integers, or a table is stepped that ended (``DISABLED``).
        """
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or not np.issubdtype(actions.dtype, np.integer):
            raise ValueError(f"actions are ({self.num_envs},) integers, not {actions.shape} of {actions.dtype}")
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            raise ValueError(f"tables {np.flatnonzero(self._ended).tolist()} are over: reset them with a reset_mask")
        rows = np.flatnonzero(~self._ended)
        rewards, terminated, truncated, illegal = self._seats.step(rows, actions[rows])
        if self._ended.any():
            self._seats.begin(np.flatnonzero(self._ended))
        self._ended = terminated | truncated
        final: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._ended.any():
            final = self._final(illegal)
            self._seats.begin(np.flatnonzero(self._ended))
            illegal = np.zeros_like(illegal)
            self._ended = np.zeros_like(self._ended)
        if self.render_mode == "human":
            self.render()
        return self._seats.observations.copy(), rewards, terminated, truncated, self._info(illegal) | final

    def _info(self, illegal: NDArray[np.bool_]) -> dict[str, Any]:
        info = {"action_mask": self._seats.masks.copy(), "seat": self._seats.own.copy(), "illegal": illegal.copy()}
        return info | {f"_{key}": np.ones(self.num_envs, np.bool_) for key in info}

    def _final(self, illegal: NDArray[np.bool_]) -> dict[str, Any]:
        """Returns what the tables that ended showed last, as ``SyncVectorEnv`` does."""
        observations = np.full(self.num_envs, None, object)
        for i in np.flatnonzero(self._ended):
            observations[i] = self._seats.observations[i].copy()
        info = self._info(illegal)
        for key in ("action_mask", "seat", "illegal"):
            info[key][~self._ended] = 0
            info[f"_{key}"] = self._ended.copy()
        return {
            "final_obs": observations, "_final_obs": self._ended.copy(),
            "final_info": info, "_final_info": self._ended.copy(),
        }  # fmt: skip

    def action_masks(self) -> NDArray[np.int8]:
        """Returns the legal actions at each table, (N, A), a copy."""
        return self._seats.masks.copy()

    def render(self) -> Any:
        """Draws every table in the render mode: a tuple of N; ``human`` writes to standard output, returns None."""
        from pitch_env import rendering

        if self.render_mode is None:
            return None
        drawn = tuple(
            rendering.render(
                self._seats.states[i : i + 1], self.rules, self.render_mode, None if self.render_open else int(own)
            )
            for i, own in enumerate(self._seats.own)
        )
        if self.render_mode == "human":
            sys.stdout.write("\n".join(drawn) + "\n")
            return None
        return drawn


@kernel
def _show_batch(states, rules, layout, views, observations, masks, seats):  # type: ignore[no-untyped-def]
    for i in range(len(states)):
        seats[i] = states[i].seat
        observe(states, i, states[i].seat, rules, layout, views, observations, masks)


@kernel
def _step_one(  # type: ignore[no-untyped-def]
    i, states, rules, layout, actions, whole_games, views, observations, masks, seats, points, done, winners
):
    """Plays the action of game *i* and writes place *i* of every array."""
    s, r = states[i], rules[0]
    apply(s, r, actions[i])
    over = s.phase == OVER
    for side in range(r.sides):
        points[i, side] = s.points[side] if over else 0
    winners[i] = s.winner
    done[i] = over and (not whole_games or s.winner != NO_SIDE)
    if over:
        advance(s, r, whole_games)
    seats[i] = s.seat
    observe(states, i, s.seat, rules, layout, views, observations, masks)


@kernel
def _step_batch(  # type: ignore[no-untyped-def]
    states, rules, layout, actions, whole_games, views, observations, masks, seats, points, done, winners
):
    for i in range(len(states)):
        _step_one(
            i, states, rules, layout, actions, whole_games, views, observations, masks, seats, points, done, winners
        )


@parallel_kernel
def _step_threads(  # type: ignore[no-untyped-def]
    states, rules, layout, actions, whole_games, views, observations, masks, seats, points, done, winners
):
    for i in prange(len(states)):
        _step_one(
            i, states, rules, layout, actions, whole_games, views, observations, masks, seats, points, done, winners
        )
