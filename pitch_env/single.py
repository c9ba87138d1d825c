"""Gymnasium: one seat at a table of agents.

``gymnasium.make("pitch_env:Pitch-v0", rules="auction_pitch", opponents="rule")`` makes it by name.
"""

import operator
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete
from numpy.typing import NDArray

from pitch_env import episode as table
from pitch_env.actions import NUM_ACTIONS
from pitch_env.rules import Rules
from pitch_env.seats import Player, Seats

__all__ = ["SeatEnv"]


class SeatEnv(gymnasium.Env[NDArray[np.uint8], np.int64]):
    """One seat against agents, which play between its turns.

    Observations are (F,) uint8, relative to the seat. ``info`` has ``action_mask`` (NUM_ACTIONS,) int8, ``seat``, and
    ``illegal``: whether the episode was ended by an illegal action. The table is shown again only when the seat is to
    act or the episode is over; other seats' turns without a choice are played without asking their agents.
    """

    metadata = {"render_modes": list(table.RENDER_MODES), "render_fps": 1}  # noqa: RUF012 - Gymnasium's attribute

    def __init__(
        self,
        rules: Rules | str | Path = "auction_pitch",
        opponents: Player | Sequence[Player] = "rule",
        partner: Player | None = None,
        seat: int | None = None,
        episode: str = "deal",
        reward: str = "points",
        render_mode: str | None = None,
        *,
        illegal_reward: float | None = None,
        max_deals: int = table.MAX_DEALS,
        universal: bool = False,
        render_open: bool = False,
    ) -> None:
        """Makes the environment; :meth:`reset` deals.

        Args:
            rules: a ``Rules``, a variant's name, or a TOML file of house rules.
            opponents: who plays against the seat: an agent, by name or an object; a mix, agent → weight, of which each
                episode draws one for all opponents; or a list with one of these for each opponent, from the left.
            partner: who plays with it, in the same forms but the list; None for the same as the opponents.
            seat: which seat; None for one drawn for each episode.
            episode: ``"deal"``, or ``"game"`` for deals until a side goes out.
            reward: ``"points"``, or ``"win"`` (needs ``episode="game"``).
            render_mode: one of ``metadata["render_modes"]``, or None.
            illegal_reward: reward of an illegal action; None for a number below what any deal costs.
            max_deals: a game is truncated after so many deals; unskilled play may never end one.
            universal: observations of one layout for all rules.
            render_open: draw all cards open, not only what the seat sees.

        Raises:
            ValueError: if the rules or an agent are refused, or another argument is none of these.
        """
        table.check_terms(episode, reward, render_mode, max_deals)
        self._seats = Seats(1, rules, opponents, partner, seat, episode, reward, max_deals, illegal_reward, universal)
        self.render_mode, self.render_open = render_mode, render_open
        self.observation_space = Box(0, 1, (self._seats.layout.size,), np.uint8)
        self.action_space = Discrete(NUM_ACTIONS)
        self._rows = np.zeros(1, np.intp)
        self._is_seeded = False

    @property
    def rules(self) -> Rules:
        """The rules of this episode."""
        return self._seats.rules

    @property
    def seat(self) -> int:
        """The seat of this episode."""
        return int(self._seats.own[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        """Deals the first deal of an episode and plays up to the seat's first turn.

        Args:
            seed: starts a new series of episodes; without one the series goes on, or starts from a seed of the
                operating system.
            options: see :func:`pitch_env.episode.begin`; rules must have the same observation space.

        Raises:
            ValueError: if the seed or an option is refused.
        """
        super().reset(seed=seed)
        if seed is not None or not self._is_seeded:
            self._seats.seed(self._rows, [table.entropy() if seed is None else seed])
            self._is_seeded = True
        self._seats.begin(self._rows, options)
        if self.render_mode == "human":
            self.render()
        return self._seats.observations[0].copy(), self._info(False)

    def step(self, action: Any) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        """Plays one turn of the seat, and the agents' turns up to its next.

        Raises:
            TypeError: if the action is no integer. One that is not legal ends the episode with ``illegal_reward``.
        """
        number = np.array([operator.index(action)])
        rewards, terminated, truncated, illegal = self._seats.step(self._rows, number)
        if self.render_mode == "human":
            self.render()
        return (
            self._seats.observations[0].copy(),
            float(rewards[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            self._info(bool(illegal[0])),
        )

    def _info(self, illegal: bool) -> dict[str, Any]:
        return {"action_mask": self.action_masks(), "seat": self.seat, "illegal": illegal}

    def action_masks(self) -> NDArray[np.int8]:
        """Returns the legal actions, (NUM_ACTIONS,), zeros when the episode is over; the name is sb3-contrib's."""
        mask: NDArray[np.int8] = self._seats.masks[0].copy()
        return mask

    def render(self) -> Any:
        """Draws the table in the render mode; ``human`` writes to standard output and returns None."""
        from pitch_env import rendering

        if self.render_mode is None:
            return None
        looker = None if self.render_open else self.seat
        drawn = rendering.render(self._seats.states, self.rules, self.render_mode, looker)
        if self.render_mode == "human":
            sys.stdout.write(f"{drawn}\n")
            return None
        return drawn
