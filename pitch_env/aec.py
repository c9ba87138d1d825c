"""PettingZoo: one table at which every seat is an agent, in turn.

``pettingzoo.make("aec", "pitch/Pitch-v0", rules="six_hand")`` works once this module is imported.
"""

import operator
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pettingzoo
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo.utils.conversions import turn_based_aec_to_parallel
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from pitch_env import episode as table
from pitch_env.actions import NUM_ACTIONS, action_name, actions_in
from pitch_env.engine.state import MAX_SEATS, NO_SIDE
from pitch_env.engine.tables import compile_rules
from pitch_env.game import IllegalActionError
from pitch_env.observation import VIEW, layout_of
from pitch_env.rules import Rules, load_rules

__all__ = ["env", "parallel_env", "raw_env"]

Observation = dict[str, NDArray[Any]]


class raw_env(pettingzoo.AECEnv):  # type: ignore[misc]  # noqa: N801 - PettingZoo's name for it
    """The environment without wrappers: an illegal action raises ``IllegalActionError`` and changes nothing.

    Agents are ``seat_0`` …, clockwise. Observations are dicts of ``observation`` (F,) uint8 and ``action_mask``
    (NUM_ACTIONS,) int8, relative to the seat that looks; only the seat to move has anything in its mask.
    """

    metadata = {  # noqa: RUF012 - PettingZoo's attribute
        "name": "pitch_v0",
        "render_modes": list(table.RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 1,
    }

    def __init__(
        self,
        rules: Rules | str | Path = "auction_pitch",
        episode: str = "deal",
        reward: str = "points",
        render_mode: str | None = None,
        *,
        max_deals: int = table.MAX_DEALS,
        universal: bool = False,
        render_seat: int | None = None,
    ) -> None:
        """Makes the environment; :meth:`reset` deals.

        Args:
            rules: a ``Rules``, a variant's name, or a TOML file of house rules.
            episode: ``"deal"``, or ``"game"`` for deals until a side goes out.
            reward: ``"points"``, or ``"win"`` (needs ``episode="game"``).
            render_mode: one of ``metadata["render_modes"]``, or None.
            max_deals: a game is truncated after so many deals; unskilled play may never end one.
            universal: observations of one layout for all rules.
            render_seat: the seat from whose side it is drawn; None for all cards open.

        Raises:
            ValueError: if the rules are refused, or another argument is none of these.
        """
        table.check_terms(episode, reward, render_mode, max_deals)
        self.episode, self.reward, self.render_mode = episode, reward, render_mode
        self.max_deals = max_deals if episode == "game" else 1
        self.universal, self.render_seat = universal, render_seat
        self._home = load_rules(rules)
        self._seed: int | None = None
        self._number = 0
        self.possible_agents: list[str] = []
        self.agents: list[str] = []
        self._sit(self._home)

    def _sit(self, rules: Rules) -> None:
        """Makes everything that follows from the rules."""
        looker = self.render_seat
        if looker is not None and (isinstance(looker, bool) or not 0 <= looker < rules.players):
            raise ValueError(f"render_seat={looker!r} is not a seat of 0 to {rules.players - 1}, nor None for all open")
        self.rules = rules
        layout = layout_of(rules, self.universal)
        self._bind()
        # In place: PettingZoo's parallel wrapper holds this list.
        self.possible_agents[:] = [f"seat_{seat}" for seat in range(rules.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._observation_spaces = {
            agent: Dict(observation=Box(0, 1, (layout.size,), np.uint8), action_mask=Box(0, 1, (NUM_ACTIONS,), np.int8))
            for agent in self.possible_agents
        }
        self._action_spaces = {agent: Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.state_space = Box(0, 1, (layout.state_size,), np.uint8)
        self._views = np.zeros(1, VIEW)
        self._observation = np.zeros(layout.size, np.uint8)
        self._mask = np.zeros(NUM_ACTIONS, np.int8)
        self._points = np.zeros(MAX_SEATS, np.int64)

    def _bind(self) -> None:
        """Looks up what is shared by all tables of the rules."""
        self._tables = compile_rules(self.rules)
        self._layout = layout_of(self.rules, self.universal).table

    def __getstate__(self) -> dict[str, Any]:
        """Pickles all but what follows from the rules."""
        return {key: value for key, value in self.__dict__.items() if key not in ("_tables", "_layout")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restores a pickled table, exactly, in mid-deal too."""
        self.__dict__.update(kept)
        self._bind()

    def observation_space(self, agent: str) -> Dict:
        """Returns the space of an agent's observations, always the same object."""
        return self._observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Returns the space of an agent's actions, always the same object."""
        return self._action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deals the first deal of an episode.

        Args:
            seed: starts a new series of episodes; without one the series goes on, or starts from a seed of the
                operating system.
            options: for this episode: see :func:`pitch_env.episode.begin`. ``rules`` with other numbers of seats or
                fields change the spaces too.

        Raises:
            ValueError: if the seed or an option is refused.
        """
        if seed is not None:
            self._seed, self._number = table.check_seed(seed), 0
        elif self._seed is None:
            self._seed = table.entropy()
        rules, self._states = table.begin(self._home, self._seed, self._number, options)
        self._number += 1
        if rules != self.rules:
            self._sit(rules)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: _no_actions() for agent in self.agents}
        self._skip_agent_selection = None
        self._is_paid = False
        self._deals_left = self.max_deals
        seat = int(self._states["seat"][0])
        table.show(self._states, self._tables, self._layout, seat, self._views, self._observation, self._mask)
        self._give_turn(self.agents[seat])
        if self.render_mode == "human":
            self.render()

    def _give_turn(self, agent: str) -> None:
        self.agent_selection = agent
        self._mover: str | None = agent
        self.infos[agent] = {"action_mask": self._mask.copy()}

    def step(self, action: Any) -> None:
        """Plays the turn of ``agent_selection``; None for one whose episode is over.

        Raises:
            IllegalActionError: (a ``ValueError``) if the action is not legal.
            TypeError: if it is no integer.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = operator.index(action)
        if not 0 <= number < NUM_ACTIONS:
            raise IllegalActionError(f"no action {number}: action ids are 0 to {NUM_ACTIONS - 1}")
        turn = table.play(
            self._states, self._tables, self._layout, number, self._deals_left == 1,
            self._views, self._observation, self._mask, self._points,
        )  # fmt: skip
        if turn == table.ILLEGAL:
            raise IllegalActionError(f"{action_name(number)} is not legal; legal: {self._legal_names()}")
        self._cumulative_rewards[agent] = 0.0
        if self._is_paid:
            self._clear_rewards()
            self._is_paid = False
        self.infos[agent] = _no_actions()
        if turn == table.ENDED:
            winner = int(self._states["winner"][0])
            self._pay(winner)
            self._end(is_cut=self.episode == "game" and winner == NO_SIDE)
        else:
            if turn >= table.SETTLED:
                self._pay(NO_SIDE)
                turn -= table.SETTLED
                self._deals_left -= 1
            self._give_turn(self.possible_agents[turn])
        if self.render_mode == "human":
            self.render()

    def _legal_names(self) -> str:
        view: Any = self._views[0]
        return ", ".join(action_name(action) for action in actions_in(view["legal_cards"], view["legal_calls"]))

    def _pay(self, winner: int) -> None:
        sides = self.rules.sides
        paid = table.side_rewards(self._points[:sides].tolist(), winner, self.reward)
        for seat, agent in enumerate(self.agents):
            self.rewards[agent] = paid[seat % sides]
        self._accumulate_rewards()
        self._is_paid = True

    def _end(self, is_cut: bool) -> None:
        self._mover = None
        self._mask[:] = 0
        self.terminations = dict.fromkeys(self.agents, not is_cut)
        self.truncations = dict.fromkeys(self.agents, is_cut)
        self._deads_step_first()

    def observe(self, agent: str) -> Observation:
        """Returns what any seat may know now, after the end too: copies."""
        if agent == self._mover and not self.terminations.get(agent, True):
            return {"observation": self._observation.copy(), "action_mask": self._mask.copy()}
        observation, mask = np.empty_like(self._observation), np.empty_like(self._mask)
        views = np.zeros(1, VIEW)
        table.show(self._states, self._tables, self._layout, self._seat_of[agent], views, observation, mask)
        if agent == self._mover:  # ended by a wrapper, in its turn
            mask[:] = 0
        return {"observation": observation, "action_mask": mask}

    def state(self) -> NDArray[np.uint8]:
        """Returns the full state for a central critic, hidden cards too, from the side of seat 0."""
        full = np.empty(self.state_space.shape, np.uint8)
        table.show_all(self._states, self._tables, self._layout, 0, np.zeros(1, VIEW), full)
        return full

    def render(self) -> str | NDArray[np.uint8] | None:
        """Draws the table in the render mode; ``human`` writes to standard output and returns None."""
        from pitch_env import rendering

        if self.render_mode is None:
            return None
        drawn = rendering.render(self._states, self.rules, self.render_mode, self.render_seat)
        if self.render_mode == "human":
            sys.stdout.write(f"{drawn}\n")
            return None
        return drawn  # type: ignore[no-any-return]


def _no_actions() -> dict[str, Any]:
    return {"action_mask": np.zeros(NUM_ACTIONS, np.int8)}


def env(
    rules: Rules | str | Path = "auction_pitch",
    episode: str = "deal",
    reward: str = "points",
    render_mode: str | None = None,
    *,
    illegal_reward: float | None = None,
    **kwargs: Any,
) -> pettingzoo.AECEnv:
    """Returns the environment in PettingZoo's standard wrappers: an illegal action ends the episode with a penalty.

    Args:
        rules: a ``Rules``, a variant's name, or a TOML file of house rules.
        episode: ``"deal"``, or ``"game"`` for deals until a side goes out.
        reward: ``"points"``, or ``"win"`` (needs ``episode="game"``).
        render_mode: one of ``metadata["render_modes"]``, or None.
        illegal_reward: reward of whoever acts illegally; None for a number below what any deal costs.
        kwargs: the other arguments of :class:`raw_env`.
    """
    made = raw_env(rules, episode, reward, render_mode, **kwargs)
    cost = table.penalty(made.rules, reward) if illegal_reward is None else illegal_reward
    wrapped = TerminateIllegalWrapper(made, illegal_reward=cost)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(wrapped))


def parallel_env(**kwargs: Any) -> pettingzoo.ParallelEnv:
    """Returns :func:`env` as a parallel environment: of the actions of a step only that of the seat to move counts."""
    return turn_based_aec_to_parallel(env(**kwargs))


pettingzoo.register("aec", "pitch/Pitch-v0", entry_point="pitch_env.aec:env")
pettingzoo.register("parallel", "pitch/Pitch-v0", entry_point="pitch_env.aec:parallel_env")
