"""N tables, at each of which the caller has one seat and agents have the others; what both Gymnasium environments step.

Axis letters: N tables, F numbers of an observation, T sides, A actions (NUM_ACTIONS), M agents, P players.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import Agent, make_agent
from pitch_env.engine.jit import below, kernel, mix
from pitch_env.engine.state import MAX_SEATS, NO_SEAT, NO_SIDE, OVER, STATE
from pitch_env.engine.step import apply, legal, nth_action, num_legal, start
from pitch_env.engine.tables import compile_rules
from pitch_env.episode import ENDED, ILLEGAL, begin, check_seed, check_terms, go_on, penalty
from pitch_env.observation import VIEW, layout_of, look, observe
from pitch_env.rules import Rules, load_rules
from pitch_env.seeds import generator

Player = str | Agent | Mapping[Any, float]
"""An agent by name, an agent, or a mix of them: names or agents with weights, of which each episode draws one."""

SEAT_STREAM, OPPONENT_STREAM, PARTNER_STREAM = -10, -11, -12
"""Streams of random numbers of an episode: the caller's seat, who plays against it, who plays with it."""


class Seats:
    """N tables with one seat each for the caller. Episode *k* under a seed is the same at any table and any N.

    ``observations`` (N, F) uint8, ``masks`` (N, A) int8 and ``own`` (N,), the caller's seats, are overwritten by every
    call. An illegal action ends its episode.
    """

    def __init__(
        self,
        num_tables: int,
        rules: Rules | str | Path,
        opponents: Player | Sequence[Player],
        partner: Player | None,
        seat: int | None,
        episode: str,
        reward: str,
        max_deals: int,
        illegal_reward: float | None,
        universal: bool,
    ) -> None:
        """Makes the tables; :meth:`begin` deals. The arguments are those of :class:`pitch_env.single.SeatEnv`."""
        check_terms(episode, reward, None, max_deals)
        self.home = load_rules(rules)
        self.num_tables, self.universal, self.reward = num_tables, universal, reward
        self.max_deals = max_deals if episode == "game" else 1
        self.is_game = episode == "game"
        self._given = (opponents, partner, seat, illegal_reward)
        self._seat = seat
        self.seeds = np.zeros(num_tables, np.int64)
        self.numbers = np.full(num_tables, -1, np.int64)  # of each table's episode under its seed
        self.sit(self.home)
        self.rng = np.random.default_rng()

    def sit(self, rules: Rules) -> None:
        """Makes everything that follows from the rules."""
        opponents, partner, seat, illegal_reward = self._given
        if seat is not None and (isinstance(seat, bool) or not 0 <= seat < rules.players):
            raise ValueError(f"seat={seat!r} is not a seat of 0 to {rules.players - 1}, nor None for any")
        n = self.num_tables
        self.rules, self.layout = rules, layout_of(rules, self.universal)
        self.illegal_reward = penalty(rules, self.reward) if illegal_reward is None else float(illegal_reward)
        self.agents, self._shares, self._streams = _players(rules, opponents, partner)
        self._bind()
        self.states = np.zeros(n, STATE)
        self.own = np.zeros(n, np.int64)
        self.observations = np.zeros((n, self.layout.size), np.uint8)
        self.masks = np.zeros((n, NUM_ACTIONS), np.int8)
        self._views = np.zeros(n, VIEW)
        self._plays = np.zeros((n, MAX_SEATS), np.int64)  # [N, seat] index of the agent
        self._turns = np.zeros(n, np.int64)  # the seat to act, ENDED or ILLEGAL
        self._deals_left = np.zeros(n, np.int64)
        self._points = np.zeros((n, rules.sides), np.int64)
        self._rows = np.arange(n)

    def _bind(self) -> None:
        self._tables = compile_rules(self.rules)

    def __getstate__(self) -> dict[str, Any]:
        """Pickles all but what follows from the rules."""
        return {key: value for key, value in self.__dict__.items() if key not in ("_tables", "layout")}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        """Restores pickled tables, exactly, in mid-deal too."""
        self.__dict__.update(kept)
        self.layout = layout_of(self.rules, self.universal)
        self._bind()

    def seed(self, rows: NDArray[np.intp], seeds: Sequence[int]) -> None:
        """Starts a new series of episodes at some tables."""
        self.seeds[rows] = [check_seed(seed) for seed in seeds]
        self.numbers[rows] = -1
        self.rng = generator(*self.seeds[rows].tolist())

    def begin(self, rows: NDArray[np.intp], options: Mapping[str, Any] | None = None) -> None:
        """Deals the first deal of the next episode at some tables, and plays up to the caller's first turn.

        Raises:
            ValueError: if an option is refused (:func:`pitch_env.episode.begin`).
        """
        self.numbers[rows] += 1
        rules = self.home
        dealt = []
        if options:
            for i in rows.tolist():
                rules, states = begin(self.home, int(self.seeds[i]), int(self.numbers[i]), options)
                dealt.append(states)
        if rules != self.rules:
            if self.num_tables > 1 or layout_of(rules, self.universal).size != self.layout.size:
                raise ValueError("the rules of an episode must be seen as those of the others: make it universal=True")
            self.sit(rules)
        if dealt:
            self.states[rows] = np.concatenate(dealt)
        self._deals_left[rows] = self.max_deals
        _begin_rows(
            self.states, self._tables, rows, self.seeds, self.numbers, not dealt, NO_SEAT if self._seat is None
            else self._seat, self.own, self._shares, self._streams, self._plays, self._deals_left, self._points,
            self._turns,
        )  # fmt: skip
        self._answer(rows)
        self._show()

    def step(
        self, rows: NDArray[np.intp], actions: NDArray[np.integer[Any]]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
        """Plays the caller's actions at some tables, and on up to its next turn.

        Args:
            rows: (K,) the tables.
            actions: (K,) what the caller does there.

        Returns:
            Rewards, terminated, truncated, and whether the action was illegal, of all tables (N,); zeros elsewhere.
        """
        chosen = np.asarray(actions, np.int64)
        if chosen.shape != rows.shape:
            raise ValueError(f"actions have shape {chosen.shape}, not {rows.shape}")
        self._points[:] = 0
        self._play(rows, chosen, True)
        self._answer(rows)
        self._show()
        illegal = np.zeros(self.num_tables, np.bool_)
        illegal[rows] = self._turns[rows] == ILLEGAL
        ended = np.zeros(self.num_tables, np.bool_)
        ended[rows] = self._turns[rows] == ENDED
        won = ended & (self.states["winner"] != NO_SIDE)
        rewards = self._pay(won)
        rewards[illegal] = self.illegal_reward
        truncated = ended & ~won if self.is_game else np.zeros_like(ended)
        return rewards, (ended & ~truncated) | illegal, truncated, illegal

    def _pay(self, won: NDArray[np.bool_]) -> NDArray[np.float64]:
        side = self.own % self.rules.sides
        others = self.rules.sides - 1
        if self.reward == "win":
            is_winner = self.states["winner"] == side
            return np.where(won, np.where(is_winner, 1.0, -1.0 / others), 0.0)
        own = self._points[self._rows, side]
        rewards: NDArray[np.float64] = own - (self._points.sum(1) - own) / others
        return rewards

    def _play(self, rows: NDArray[np.intp], actions: NDArray[np.int64], is_checked: bool) -> None:
        _play_rows(
            self.states, self._tables, rows, actions, is_checked, self.masks, self.own, self._deals_left,
            self._points, self._turns,
        )  # fmt: skip

    def _answer(self, rows: NDArray[np.intp]) -> None:
        """Has the agents play until it is the caller's turn, or over, at each of some tables."""
        while True:
            turns = self._turns[rows]
            rows = rows[(turns >= 0) & (turns != self.own[rows])]
            if len(rows) == 0:
                return
            players = self._plays[rows, self._turns[rows]]
            for number, agent in enumerate(self.agents):
                mine = rows if len(self.agents) == 1 else rows[players == number]
                if len(mine):
                    views = self._views[: len(mine)]
                    _look_rows(self.states, self._tables, mine, views)
                    self._play(mine, np.asarray(agent.act(views, self.rng), np.int64), False)

    def _show(self) -> None:
        _show_rows(
            self.states,
            self._tables,
            self.layout.table,
            self.own,
            self._turns,
            self._views,
            self.observations,
            self.masks,
        )


def _players(
    rules: Rules, opponents: Player | Sequence[Player], partner: Player | None
) -> tuple[list[Agent], NDArray[np.float64], NDArray[np.int64]]:
    """Returns the agents, and who may sit where.

    Returns:
        M agents; (P, M) for each place to the caller's left the share of draws up to each agent; (P,) the stream from
        which a place draws.

    Raises:
        ValueError: if an agent cannot be made, or numbers do not fit the table.
    """
    opposing = [place for place in range(1, rules.players) if place % rules.sides]
    beside = [place for place in range(1, rules.players) if place % rules.sides == 0]
    if isinstance(opponents, Sequence) and not isinstance(opponents, str):
        if len(opponents) != len(opposing):
            raise ValueError(f"opponents has {len(opponents)} agents, one a seat would be {len(opposing)}")
        if partner is None and beside:
            raise ValueError("with a list of opponents say who the partner is")
        given = dict(zip(opposing, opponents, strict=True))
    else:
        given = dict.fromkeys(opposing, opponents)
    given |= dict.fromkeys(beside, opponents if partner is None else partner)  # type: ignore[arg-type]
    found: dict[Any, int] = {}
    agents: list[Agent] = []
    streams = np.full(rules.players, OPPONENT_STREAM, np.int64)
    weights = []
    for place, player in sorted(given.items()):
        mix_of = player if isinstance(player, Mapping) else {player: 1.0}
        if not mix_of or any(not weight > 0 for weight in mix_of.values()):
            raise ValueError(f"a mix is agents with weights above zero, not {player!r:.80}")
        for one in mix_of:
            if one not in found:
                found[one] = len(agents)
                agents.append(_made(one, rules))
        if place in beside and partner is not None:
            streams[place] = PARTNER_STREAM
        elif isinstance(opponents, Sequence) and not isinstance(opponents, str):
            streams[place] = OPPONENT_STREAM - 10 - place
        weights.append((place, {found[one]: float(weight) for one, weight in mix_of.items()}))
    shares = np.zeros((rules.players, len(agents)))
    for place, mixed in weights:
        shares[place] = np.cumsum([mixed.get(number, 0.0) for number in range(len(agents))]) / sum(mixed.values())
    return agents, shares, streams


def _made(player: Any, rules: Rules) -> Agent:
    agent = make_agent(player, rules) if isinstance(player, str) else player
    if not isinstance(agent, Agent):
        raise ValueError(f"{player!r:.80} does not act on views, so it may not sit at this table")
    return agent


@kernel
def run_on(s, r, i, own, deals_left, points):  # type: ignore[no-untyped-def]
    """Goes on until a seat has a choice, or the caller its turn; returns the seat, or ENDED when the episode is over.

    Modifies the state ``s``, ``deals_left`` (N,) and ``points`` (N, T).
    """
    while True:
        if s.phase == OVER:
            for side in range(r.sides):
                points[i, side] += s.points[side]
            deals_left[i] -= 1
            if not go_on(s, r, deals_left[i] == 0):
                return ENDED
        if s.seat == own[i]:
            return s.seat
        cards, calls = legal(s, r)
        if num_legal(cards, calls) > 1:
            return s.seat
        apply(s, r, nth_action(cards, calls, 0))


@kernel
def _begin_rows(  # type: ignore[no-untyped-def]
    states, rules, rows, seeds, numbers, deals, seat, own, shares, streams, plays, deals_left, points, turns
):
    """Deals, unless it is dealt already, and seats caller and agents by lot; ``seat`` may be NO_SEAT, for any."""
    r = rules[0]
    num_agents = shares.shape[1]
    for i in rows:
        if deals:
            start(states[i], r, seeds[i], numbers[i])
        key = mix(seeds[i], numbers[i])
        own[i] = below(mix(key, SEAT_STREAM), r.players) if seat == NO_SEAT else seat
        for place in range(1, r.players):
            share = mix(key, streams[place]) / 2.0**62
            number = 0
            while number < num_agents - 1 and share >= shares[place, number]:
                number += 1
            plays[i, (own[i] + place) % r.players] = number
        turns[i] = run_on(states[i], r, i, own, deals_left, points)


@kernel
def _play_rows(  # type: ignore[no-untyped-def]
    states, rules, rows, actions, is_checked, masks, own, deals_left, points, turns
):
    """Plays one action at each of some tables; with ``is_checked`` the masks say which are legal."""
    r = rules[0]
    for k in range(len(rows)):
        i, action = rows[k], actions[k]
        if is_checked and (action < 0 or action >= masks.shape[1] or masks[i, action] == 0):
            turns[i] = ILLEGAL
        else:
            apply(states[i], r, action)
            turns[i] = run_on(states[i], r, i, own, deals_left, points)


@kernel
def _look_rows(states, rules, rows, views):  # type: ignore[no-untyped-def]
    """Writes the view of the seat to act at each of some tables."""
    for k in range(len(rows)):
        look(states[rows[k]], rules[0], states[rows[k]].seat, views[k])


@kernel
def _show_rows(states, rules, layout, own, turns, views, observations, masks):  # type: ignore[no-untyped-def]
    """Writes what the caller sees at every table; nothing is legal after an illegal action."""
    for i in range(len(states)):
        observe(states, i, own[i], rules, layout, views, observations, masks)
        if turns[i] == ILLEGAL:
            masks[i, :] = 0
