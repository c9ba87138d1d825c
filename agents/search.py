"""Search over worlds: deals that a seat cannot tell apart, each looked at with all cards known.

``pimc`` draws worlds uniformly and plays the action whose value, averaged over them, is best (perfect-information
Monte Carlo: Levy 1989, Long et al. 2010). ``search`` does so on top of a network: worlds count by how likely the
network was to make the calls and plays that were seen, and values are weighed against its policy. ``cheat`` is shown
all cards.

Where all cards are known at once, everybody plays as if he saw them (strategy fusion). With ``depth=1`` the rest of the
trick is therefore played by seats that see no more than they may, ``rule`` or the network, whose actions are the same
in all worlds that they cannot tell apart; only then are all cards known (as in extended PIMC: Arjonilla et al. 2024).

Values come from the exact solver, or where too many cards are left for it from ``rule`` playing the deal out.

Axis letters: N views, W worlds, A actions.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.maxims import note_rules, rule_action, rule_batch
from agents.neural import NeuralAgent, best_agent, checkpoint_agent
from agents.solver import NO_VALUE, POINTS, Workspace, new_workspace, solve_root
from agents.worlds import begin_again, draw_worlds, shares_of, weigh_worlds
from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.agent import refuse_argument
from pitch_env.engine.jit import first_card, kernel, mix, num_cards
from pitch_env.engine.state import AUCTION, MAX_PACK, OVER, PLAY, STATE, WIDOW
from pitch_env.engine.step import apply, legal, num_legal
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules

MOST_SOLVED = 24
"""Cards in all hands beyond which a deal is played out by ``rule`` instead of solved."""

NODE_LIMIT = 200_000
"""Positions after which the solver gives up on a world, whose values are then its guesses."""

CHUNK = 16
"""Worlds of a view that are drawn at a time where time is the budget, which is looked at between."""

MOST_AT_ONCE = 256
"""Worlds of a view that are drawn at a time where their number is the budget."""

UNLIKELY = 7.0
"""Log-weight by which a world may be less likely than others before it is given up."""

TEMPER = 0.3
"""Power of a network's likelihoods as weights: at 1 a handful of hundreds of worlds would decide alone."""

FLOOR = 0.01
"""Least probability that a network's action counts with: others may not play as it does."""

BLOCK = 16
"""Views that are searched together."""

ERROR_CHANCE = 0.1
"""How much less likely a world is for each call that ``rule`` would not have made in it."""

Values = NDArray[np.float64]
Weigh = Callable[[NDArray[np.void], NDArray[np.void]], Values]
Follow = Callable[[NDArray[np.void]], NDArray[np.int64]]


class Budget(NamedTuple):
    """How long to search for one action: until so many worlds, or so many seconds."""

    worlds: int | None
    seconds: float | None

    def chunks(self, num_views: int) -> Any:
        """Gives numbers and sizes of chunks of worlds for each of N views until the budget is spent, one at least."""
        if self.worlds is not None:
            for number, first in enumerate(range(0, self.worlds, MOST_AT_ONCE)):
                yield number, min(MOST_AT_ONCE, self.worlds - first)
            return
        assert self.seconds is not None
        end = time.perf_counter() + self.seconds * num_views
        number = 0
        while number == 0 or time.perf_counter() < end:
            yield number, CHUNK
            number += 1


def read_argument(name: str, argument: str | None, options: tuple[str, ...]) -> tuple[Budget, dict[str, str]]:
    """Reads what follows an agent's name: a budget (``32`` worlds, ``20ms``), then ``?key=value&key=value``.

    Raises:
        ValueError: if the budget is missing or malformed, or an option is unknown.
    """
    text, _, rest = (argument or "").partition("?")
    given = dict(part.partition("=")[::2] for part in rest.split("&")) if rest else {}
    if unknown := [key for key in given if key not in options]:
        raise ValueError(f"{name} has no option {unknown[0]!r:.40}; it has {', '.join(options) or 'none'}")
    number = text.removesuffix("ms")
    if not number.isdecimal() or int(number) < 1:
        raise ValueError(f"{name} needs worlds or milliseconds, as in {name}:32 or {name}:20ms, not {text!r:.40}")
    if text.endswith("ms"):
        return Budget(None, int(number) / 1000), given
    return Budget(int(number), None), given


# Kernels


@kernel
def net_value(s, r, side):
    """Returns what a side scored in a deal less the mean of the others, times sides − 1, as the solver counts."""
    total = np.int64(0)
    for other in range(r.sides):
        total += s.points[other]
    return s.points[side] * r.sides - total


@kernel
def play_out(s, r, n, v):
    """Plays a deal to its end with ``rule`` in all seats; modifies ``s`` and the scratch ``v`` (1,) VIEW."""
    while s.phase != OVER:
        look(s, r, s.seat, v[0])
        apply(s, r, rule_action(v[0], r, n))


@kernel
def num_left(s, r):
    """Returns how many cards are in all hands."""
    left = np.int64(0)
    for seat in range(r.players):
        left += num_cards(s.hands[seat]) + num_cards(s.hand_dups[seat])
    return left


@kernel
def value_actions(s, r, n, space, scratch, v, found):
    """Finds the value of every action in a state, as :func:`agents.solver.values_batch` counts it.

    Modifies ``found`` (A,), ``scratch`` (1,) STATE and ``v`` (1,) VIEW.
    """
    if (s.phase == PLAY or s.phase == WIDOW) and num_left(s, r) <= MOST_SOLVED:
        solve_root(s, r, space, POINTS, True, found)
        return
    found[:] = NO_VALUE
    side = r.side_of[s.seat]
    sets = legal(s, r)
    for part in range(2):
        bits = sets[part]
        while bits:
            action = first_card(bits) + part * FIRST_CALL
            bits &= bits - 1
            scratch[0] = s
            apply(scratch[0], r, action)
            play_out(scratch[0], r, n, v)
            found[action] = net_value(scratch[0], r, side)


@kernel
def chance_of_calls(w, r, n, seat, s, v):
    """Returns how likely the calls of all seats but one are in a world, if they are ``rule``'s but for an error.

    Modifies the scratch ``s`` (1,) STATE and ``v`` (1,) VIEW.
    """
    chance = 1.0
    begin_again(w, r, s[0])
    while s[0].phase == AUCTION and (w.phase != AUCTION or s[0].num_calls < w.num_calls):
        call = np.int64(w.calls[s[0].seat])
        if s[0].seat != seat:
            look(s[0], r, s[0].seat, v[0])
            if num_legal(v[0].legal_cards, v[0].legal_calls) > 1 and rule_action(v[0], r, n) != call:
                chance *= ERROR_CHANCE
        apply(s[0], r, call)
    return chance


@kernel
def weigh_calls(worlds, rules, notes, chances):
    """Writes how likely ``rule`` makes the calls of the other seats in M worlds; modifies ``chances`` (M,)."""
    s, v = np.zeros(1, STATE), np.zeros(1, VIEW)
    for j in range(len(worlds)):
        chances[j] = chance_of_calls(worlds[j], rules[0], notes[0], worlds[j].seat, s, v)


@kernel
def draw(views, rules, keys, chunk, worlds, drawn):
    """Draws W worlds for each of N views; modifies ``worlds`` (N, W) and ``drawn`` (N,): whether there are any."""
    for i in range(len(views)):
        drawn[i] = draw_worlds(views[i : i + 1], rules, mix(keys[i], chunk), worlds[i])


@kernel
def value_states(states, rules, notes, space, values):
    """Finds the value of every action in M states; modifies ``values`` (M, A) int64."""
    scratch, v = np.zeros(1, STATE), np.zeros(1, VIEW)
    for j in range(len(states)):
        value_actions(states[j], rules[0], notes[0], space, scratch, v, values[j])


@kernel
def branch(worlds, rules, later, of, taken):
    """Does every legal action in M worlds; returns the number B of states that come of it.

    Modifies ``later`` (B,) STATE, and for each ``of`` (B,) its world and ``taken`` (B,) the action.
    """
    num = np.int64(0)
    for j in range(len(worlds)):
        sets = legal(worlds[j], rules[0])
        for part in range(2):
            bits = sets[part]
            while bits:
                taken[num] = first_card(bits) + part * FIRST_CALL
                bits &= bits - 1
                of[num] = j
                later[num] = worlds[j]
                apply(later[num], rules[0], taken[num])
                num += 1
    return num


@kernel
def find_unfinished(later, worlds, of, rules, views, waiting):
    """Finds the B states that have not come to a lead with the trick of their world over; returns how many.

    With more than two sides the lead is to be the searching side's own: the solver values it for the side to move.
    Modifies ``views`` (B,), what the seats to act see, and ``waiting`` (B,), the numbers of the states.
    """
    r = rules[0]
    num = np.int64(0)
    for j in range(len(later)):
        s, w = later[j], worlds[of[j]]
        is_own = r.sides == 2 or r.side_of[s.seat] == r.side_of[w.seat]
        is_lead = s.phase == PLAY and s.trick > w.trick and s.num_plays == s.trick_start
        if s.phase != OVER and not (is_lead and is_own):
            look(s, r, s.seat, views[num])
            waiting[num] = j
            num += 1
    return num


@kernel
def act_on(later, rules, waiting, actions):
    """Does an action in each of the waiting states; modifies ``later`` (B,)."""
    for k in range(len(waiting)):
        apply(later[waiting[k]], rules[0], actions[k])


@kernel
def value_state(s, r, n, side, space, found, v):
    """Returns the value of a state for a side, times sides − 1; modifies ``s`` and the scratch ``found``, ``v``."""
    if s.phase != OVER and num_left(s, r) <= MOST_SOLVED:
        value = solve_root(s, r, space, POINTS, False, found)
        return value if r.side_of[s.seat] == side else -value
    play_out(s, r, n, v)
    return net_value(s, r, side)


@kernel
def value_branches(later, worlds, of, taken, rules, notes, space, values):
    """Writes what the actions taken in M worlds are worth; modifies ``values`` (M, A) int64 and ``later`` (B,)."""
    r, found, v = rules[0], np.empty(NUM_ACTIONS, np.int64), np.zeros(1, VIEW)
    values[:] = NO_VALUE
    for j in range(len(later)):
        side = r.side_of[worlds[of[j]].seat]
        values[of[j], taken[j]] = value_state(later[j], r, notes[0], side, space, found, v)


@kernel
def look_and_follow(states, rules, notes, actions):
    """Writes what ``rule`` does in each of N states; modifies ``actions`` (N,)."""
    v = np.zeros(1, VIEW)
    for i in range(len(states)):
        look(states[i], rules[0], states[i].seat, v[0])
        actions[i] = rule_action(v[0], rules[0], notes[0])


# Agents


@dataclass
class Table:
    """What searching needs of the rules."""

    rules: Rules
    tables: NDArray[np.void] = field(init=False)
    notes: NDArray[np.void] = field(init=False)
    space: Workspace = field(init=False)

    def __post_init__(self) -> None:
        self.tables = compile_rules(self.rules)
        self.notes = note_rules(self.rules)
        self.space = new_workspace(limit=NODE_LIMIT)

    def rule_actions(self, views: NDArray[np.void]) -> NDArray[np.int64]:
        """Returns what ``rule`` does in each of N views."""
        actions = np.empty(len(views), np.int64)
        rule_batch(views, self.tables, self.notes, actions)
        return actions

    def log_chances(self, views: NDArray[np.void], worlds: NDArray[np.void]) -> Values:
        """Returns log-weights (N, W) of worlds by how likely ``rule`` makes what the other seats called."""
        chances = np.empty(worlds.size)
        weigh_calls(worlds.reshape(-1), self.tables, self.notes, chances)
        weights: Values = np.log(chances).reshape(worlds.shape)
        return weights

    def search(
        self,
        views: NDArray[np.void],
        budget: Budget,
        rng: np.random.Generator,
        weigh: Weigh | None = None,
        follow: Follow | None = None,
    ) -> Values:
        """Returns the mean value (N, A) of every action over worlds, NaN where illegal or if no world was found.

        Args:
            views: (N,) of seats that are to move.
            budget: for each view.
            rng: where randomness comes from.
            weigh: returns the log-weights (N, W) of worlds (N, W) ``STATE`` of the views; if left out, all worlds
                count the same.
            follow: chooses actions (B,) for views (B,): how all seats play the trick of the action to its end, seeing
                no more than they may; what comes of it is then valued with all cards known. If left out, all cards
                are known at once.
        """
        keys = rng.integers(1 << 62, size=len(views))
        blocks = [slice(first, first + BLOCK) for first in range(0, len(views), BLOCK)]
        return np.concatenate(
            [self._search_block(views[block], budget, keys[block], weigh, follow) for block in blocks]
        )

    def _search_block(
        self,
        views: NDArray[np.void],
        budget: Budget,
        keys: NDArray[np.int64],
        weigh: Weigh | None,
        follow: Follow | None,
    ) -> Values:
        found, weights = [], []
        for chunk, size in budget.chunks(len(views)):
            worlds, drawn = np.zeros((len(views), size), STATE), np.zeros(len(views), np.bool_)
            draw(views, self.tables, keys, chunk, worlds, drawn)
            weights.append(np.zeros((len(views), size)))
            if weigh is not None and drawn.any():
                weights[-1][drawn] = weigh(views[drawn], worlds[drawn])
            looked_at = drawn[:, None] & np.isfinite(weights[-1])
            room = int((num_choices(views) * looked_at.sum(axis=1)).sum())
            found.append(np.full((len(views), size, NUM_ACTIONS), NO_VALUE, np.int64))
            found[-1][looked_at] = self._values(worlds[looked_at], room, follow)
        values, shares = np.concatenate(found, axis=1), shares_of(np.concatenate(weights, axis=1))
        means = np.einsum("nw,nwa->na", shares, values) / (self.rules.sides - 1)
        return np.where((values == NO_VALUE).all(axis=1), np.nan, means)

    def _values(self, worlds: NDArray[np.void], room: int, follow: Follow | None) -> NDArray[np.int64]:
        """Returns the value (M, A) of every action in M worlds, of no more than ``room`` actions in all."""
        values = np.empty((len(worlds), NUM_ACTIONS), np.int64)
        if follow is None:
            value_states(worlds, self.tables, self.notes, self.space, values)
            return values
        later, of, taken = np.zeros(room, STATE), np.empty(room, np.int64), np.empty(room, np.int64)
        num = branch(worlds, self.tables, later, of, taken)
        later, views, waiting = later[:num], np.zeros(num, VIEW), np.empty(num, np.int64)
        while num_waiting := find_unfinished(later, worlds, of, self.tables, views, waiting):
            act_on(later, self.tables, waiting[:num_waiting], follow(views[:num_waiting]))
        value_branches(later, worlds, of, taken, self.tables, self.notes, self.space, values)
        return values


def num_choices(views: NDArray[np.void]) -> NDArray[np.int64]:
    """Returns how many legal actions each of N views leaves."""
    result: NDArray[np.int64] = np.bitwise_count(views["legal_cards"]) + np.bitwise_count(views["legal_calls"])
    return result


def has_choice(views: NDArray[np.void]) -> NDArray[np.bool_]:
    """Returns which of N views leave more than one legal action."""
    return num_choices(views) > 1


class PimcAgent:
    """Plays cards by perfect-information Monte Carlo; calls, names and discards as ``rule`` does, or by playing out.

    Args:
        rules: what it plays.
        budget: worlds or seconds for each action.
        rolls_out: calls, names and discards are searched too, each world played out by ``rule``.
        depth: tricks, 0 or 1, that all seats play as ``rule`` before all cards are taken as known.
        infers: worlds are as likely as their calls are ``rule``'s; else all alike.
    """

    def __init__(
        self, rules: Rules, budget: Budget, rolls_out: bool = False, depth: int = 0, infers: bool = False
    ) -> None:
        self._table = Table(rules)
        self._budget = budget
        self._rolls_out = rolls_out
        self._weigh = self._table.log_chances if infers else None
        self._follow = self._table.rule_actions if depth else None

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = self._table.rule_actions(views)
        searched = has_choice(views)
        if not self._rolls_out:
            searched &= np.isin(views["phase"], (PLAY, WIDOW))
        mine = np.flatnonzero(searched)
        if len(mine):
            values = self._table.search(views[mine], self._budget, rng, self._weigh, self._follow)
            actions[mine] = best_of(values, actions[mine])
        return actions


def best_of(values: NDArray[np.float64], preferred: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns actions (N,) of highest value (N, A), the preferred ones where these are as good or nothing is known."""
    values = np.where(np.isnan(values), -np.inf, values)
    best = values.argmax(axis=1)
    rows = np.arange(len(values))
    return np.where(values[rows, preferred] >= values[rows, best] - 1e-9, preferred, best)


class CheatAgent:
    """Sees all cards: plays exactly, calls as ``rule`` does on what it may know. An upper yardstick, never ranked."""

    def __init__(self, rules: Rules) -> None:
        self._table = Table(rules)

    def act_on_states(self, states: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each state (:class:`pitch_env.agent.ClairvoyantAgent`)."""
        actions = np.empty(len(states), np.int64)
        table = self._table
        look_and_follow(states, table.tables, table.notes, actions)
        mine = np.flatnonzero(np.isin(states["phase"], (PLAY, WIDOW)))
        found = np.empty((len(mine), NUM_ACTIONS), np.int64)
        value_states(states[mine], table.tables, table.notes, table.space, found)
        actions[mine] = best_of(np.where(found == NO_VALUE, np.nan, found), actions[mine])
        return actions


class SearchAgent:
    """A network's player that looks at worlds before it plays a card.

    A world counts by the network's own likelihood, tempered, of what the other seats called and played; an action's
    worth is its mean value plus ``trust`` times the logarithm of the network's probability. The network calls, names
    and discards.

    Args:
        rules: what it plays.
        budget: worlds or seconds for each action.
        network: the player underneath.
        trust: points that a factor *e* in the network's probability is worth.
        first_trick: tricks before this one are the network's.
        depth: tricks, 0 or 1, that all seats play as the network before all cards are taken as known.
        infers: worlds count by the network's likelihood; else all alike.
    """

    def __init__(
        self,
        rules: Rules,
        budget: Budget,
        network: NeuralAgent,
        trust: float,
        first_trick: int = 0,
        depth: int = 0,
        infers: bool = True,
    ) -> None:
        self._table = Table(rules)
        self._budget = budget
        self._network = network
        self._trust = trust
        self._first_trick = first_trick
        self._weigh = self.log_likelihood if infers else None
        self._follow = self.follow if depth else None

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = self._network.act(views, rng)
        searched = has_choice(views) & np.isin(views["phase"], (PLAY, WIDOW)) & (views["trick"] >= self._first_trick)
        mine = np.flatnonzero(searched)
        if len(mine):
            values = self._table.search(views[mine], self._budget, rng, self._weigh, self._follow)
            values += self._trust * np.log(np.maximum(self._network.policy(views[mine]), 1e-9))
            actions[mine] = best_of(values, actions[mine])
        return actions

    def follow(self, views: NDArray[np.void]) -> NDArray[np.int64]:
        """Returns what the network does in each of N views, nothing left to chance."""
        return self._network.act(views, np.random.default_rng(0))

    def log_likelihood(self, views: NDArray[np.void], worlds: NDArray[np.void]) -> NDArray[np.float64]:
        """Returns ``TEMPER`` times the log-likelihood (N, W), under the network, of what the other seats did so far."""
        each = zip(worlds, views.reshape(-1, 1), strict=True)
        rules, network, give_up = self._table.rules, self._network, UNLIKELY / TEMPER
        return TEMPER * np.stack([weigh_worlds(some, view, rules, network, FLOOR, give_up) for some, view in each])


# Names


def cheat_agent(rules: Rules, argument: str | None) -> CheatAgent:
    """Makes ``cheat``.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("cheat", argument)
    return CheatAgent(rules)


def network_of(rules: Rules, text: str) -> NeuralAgent:
    """Returns the network that an option names: ``best``, or the path of a checkpoint.

    Raises:
        ValueError: if there is no such network for the rules.
    """
    return best_agent(rules, None) if text == "best" else checkpoint_agent(rules, text)


def whole(name: str, key: str, text: str, most: int) -> int:
    """Reads a whole number in 0 … ``most`` from an option.

    Raises:
        ValueError: if it is none.
    """
    if not text.isdecimal() or int(text) > most:
        raise ValueError(f"{name}: {key}={text!r:.40} is no whole number in 0 … {most}")
    return int(text)


def one_of(name: str, key: str, text: str, words: tuple[str, ...]) -> str:
    """Reads one of some words from an option.

    Raises:
        ValueError: if it is none of them.
    """
    if text not in words:
        raise ValueError(f"{name}: {key}={text!r:.40} is not one of {', '.join(words)}")
    return text


def pimc_agent(rules: Rules, argument: str | None) -> PimcAgent:
    """Makes ``pimc:N`` (worlds) or ``pimc:Nms``; ``?bid=rollout&depth=1&infer=rule``, as :class:`PimcAgent` has them.

    Raises:
        ValueError: if the argument is malformed.
    """
    budget, options = read_argument("pimc", argument, ("bid", "depth", "infer"))
    rolls_out = one_of("pimc", "bid", options.get("bid", "rule"), ("rule", "rollout")) == "rollout"
    infers = one_of("pimc", "infer", options.get("infer", "none"), ("none", "rule")) == "rule"
    depth = whole("pimc", "depth", options.get("depth", "0"), 1)
    return PimcAgent(rules, budget, rolls_out, depth, infers)


def search_agent(rules: Rules, argument: str | None) -> SearchAgent:
    """Makes ``search:N`` or ``search:Nms`` over ``best``; ``?net=PATH`` over a checkpoint.

    ``&trust=POINTS``, ``&from=TRICK`` (from 0), ``&depth=0`` and ``&infer=none`` as :class:`SearchAgent` has them.

    Raises:
        ValueError: if the argument is malformed, or there is no such network for the rules.
    """
    budget, options = read_argument("search", argument, ("net", "trust", "from", "depth", "infer"))
    first_trick = whole("search", "from", options.get("from", "1"), MAX_PACK)
    depth = whole("search", "depth", options.get("depth", "1"), 1)
    infers = one_of("search", "infer", options.get("infer", "net"), ("none", "net")) == "net"
    try:
        trust = float(options.get("trust", "0.1"))
    except ValueError:
        raise ValueError(f"search: trust={options['trust']!r:.40} is no number") from None
    network = network_of(rules, options.get("net", "best").removeprefix("checkpoint:"))
    return SearchAgent(rules, budget, network, trust, first_trick, depth, infers)
