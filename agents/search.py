"""Search over worlds: deals that a seat cannot tell apart, each looked at with all cards known.

``pimc`` draws worlds uniformly and plays the action whose value, averaged over them, is best (perfect-information
Monte Carlo: Levy 1989, Long et al. 2010). ``search`` does so on top of a network: worlds count by how likely the
network was to make the calls and plays that were seen, and values are weighed against its policy. ``cheat`` is shown
all cards. With ``depth=1`` either thinks one decision further before all cards are known: the seat's next action is the
same in all worlds that it cannot tell apart then (extended PIMC: Arjonilla et al. 2024).

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
from pitch_env.actions import FIRST_CALL, NUM_ACTIONS, actions_in
from pitch_env.agent import refuse_argument
from pitch_env.engine.jit import below, first_card, kernel, mix, num_cards
from pitch_env.engine.state import AUCTION, EXCHANGE, MAX_PACK, OVER, PLAY, STATE, WIDOW
from pitch_env.engine.step import apply, legal, num_legal
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules

MOST_SOLVED = 24
"""Cards in all hands beyond which a deal is played out by ``rule`` instead of solved."""

NODE_LIMIT = 200_000
"""Positions after which the solver gives up on a world, whose values are then its guesses."""

CHUNK = 16
"""Worlds of a view that are drawn at a time; a time budget is looked at between."""

BLOCK = 64
"""Views that are searched together."""

INFERENCE_FACTOR = 4
"""Worlds that are drawn for each that is kept by how likely its calls are."""

ERROR_CHANCE = 0.1
"""How much less likely a world is for each call that ``rule`` would not have made in it."""

Values = NDArray[np.float64]
Weigh = Callable[[NDArray[np.void], NDArray[np.void]], Values]


class Budget(NamedTuple):
    """How long to search for one action: until so many worlds, or so many seconds."""

    worlds: int | None
    seconds: float | None

    def chunks(self, num_views: int) -> Any:
        """Gives numbers and sizes of chunks of worlds for each of N views until the budget is spent, one at least."""
        if self.worlds is not None:
            for number, first in enumerate(range(0, self.worlds, CHUNK)):
                yield number, min(CHUNK, self.worlds - first)
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
def value_actions(worlds, j, rules, notes, space, scratch, v, found):
    """Finds the value of every action in world *j*, as :func:`agents.solver.values_batch` counts it.

    Modifies ``found`` (A,), ``scratch`` (1,) STATE and ``v`` (1,) VIEW.
    """
    r, s = rules[0], worlds[j]
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
            play_out(scratch[0], r, notes[0], v)
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
def draw_likely(view, rules, notes, key, pool, chances, s, v, worlds):
    """Draws W worlds of one view, each as often as its calls are likely; returns whether there are any.

    P worlds are drawn uniformly, then W of them by systematic resampling; with P = 0 all are as likely. Modifies
    ``worlds`` (W,), and the scratch ``pool`` (P,) STATE, ``chances`` (P,), ``s`` (1,) STATE and ``v`` (1,) VIEW.
    """
    if len(pool) == 0:
        return draw_worlds(view, rules, key, worlds)
    if not draw_worlds(view, rules, key, pool):
        return False
    total = 0.0
    for j in range(len(pool)):
        chances[j] = chance_of_calls(pool[j], rules[0], notes[0], view[0].seat, s, v)
        total += chances[j]
    step = total / len(worlds)
    left = step * below(mix(key, -1), 1 << 20) / (1 << 20)
    place = 0
    for i in range(len(worlds)):
        while left >= chances[place] and place + 1 < len(pool):
            left -= chances[place]
            place += 1
        worlds[i] = pool[place]
        left += step
    return True


@kernel
def search_views(views, rules, notes, space, keys, chunk, factor, worlds, values, drawn):
    """Draws W worlds for each of N views and finds the value of every action in each.

    factor  worlds that are drawn for each that is kept by what was called; 0 to draw them uniformly
    Modifies ``worlds`` (N, W), ``values`` (N, W, A) int64 and ``drawn`` (N,): whether there are such worlds.
    """
    scratch, v = np.zeros(1, STATE), np.zeros(1, VIEW)
    num_drawn = factor * worlds.shape[1]
    pool, chances = np.zeros(num_drawn, STATE), np.zeros(num_drawn)
    for i in range(len(views)):
        drawn[i] = draw_likely(
            views[i : i + 1], rules, notes, mix(keys[i], chunk), pool, chances, scratch, v, worlds[i]
        )
        if drawn[i]:
            for j in range(worlds.shape[1]):
                value_actions(worlds[i], j, rules, notes, space, scratch, v, values[i, j])


@kernel
def wait_for(s, r, n, seat, v):
    """Plays on with ``rule`` until a seat is to move or the deal is over; returns a hash of what that seat then knows.

    Modifies ``s`` and the scratch ``v`` (1,) VIEW.
    """
    seen = np.int64(0)
    while s.phase != OVER and s.seat != seat:
        look(s, r, s.seat, v[0])
        action = rule_action(v[0], r, n)
        # 5.2  Which cards a seat discarded only it knows.
        if s.phase != EXCHANGE:
            seen = mix(seen, action)
        apply(s, r, action)
    return mix(mix(seen, s.hands[seat]), s.hand_dups[seat])


@kernel
def search_later(view, rules, notes, space, key, actions, worlds, values, seen):
    """Draws W worlds and values each next action of the seat after each of K actions; returns whether there are worlds.

    Others play as ``rule`` in between. Modifies ``worlds`` (W,), ``values`` (W, K, A) int64 and ``seen`` (W, K), a hash
    of what the seat then knows.
    """
    if not draw_worlds(view, rules, key, worlds):
        return False
    r, later, scratch, v = rules[0], np.zeros(1, STATE), np.zeros(1, STATE), np.zeros(1, VIEW)
    for j in range(len(worlds)):
        seat = worlds[j].seat
        side = r.side_of[seat]
        for k in range(len(actions)):
            later[0] = worlds[j]
            apply(later[0], r, actions[k])
            seen[j, k] = wait_for(later[0], r, notes[0], seat, v)
            if later[0].phase == OVER:
                values[j, k, :] = net_value(later[0], r, side)
            else:
                value_actions(later, 0, rules, notes, space, scratch, v, values[j, k])
    return True


@kernel
def value_states(states, rules, notes, space, values):
    """Finds the value of every action in N states; modifies ``values`` (N, A) int64."""
    scratch, v = np.zeros(1, STATE), np.zeros(1, VIEW)
    for i in range(len(states)):
        value_actions(states, i, rules, notes, space, scratch, v, values[i])


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
    factor: int = 0
    """Worlds that are drawn for each that is kept by its calls; 0 for worlds drawn uniformly."""
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

    def search(self, views: NDArray[np.void], budget: Budget, rng: np.random.Generator, weigh: Weigh) -> Values:
        """Returns the mean value (N, A) of every action over worlds, NaN where illegal or if no world was found.

        Args:
            views: (N,) of seats that are to move.
            budget: for each view.
            rng: where randomness comes from.
            weigh: returns the log-weights (N, W) of worlds (N, W) ``STATE`` of the views.
        """
        keys = rng.integers(1 << 62, size=len(views))
        blocks = [slice(first, first + BLOCK) for first in range(0, len(views), BLOCK)]
        return np.concatenate([self._search_block(views[block], budget, keys[block], weigh) for block in blocks])

    def search_later(self, views: NDArray[np.void], budget: Budget, rng: np.random.Generator, weigh: Weigh) -> Values:
        """Does as :meth:`search` with the seat's next action the same in worlds that it cannot tell apart then."""
        keys = rng.integers(1 << 62, size=len(views))
        return np.stack([self._search_view(views[i : i + 1], budget, int(keys[i]), weigh) for i in range(len(views))])

    def _search_view(self, view: NDArray[np.void], budget: Budget, key: int, weigh: Weigh) -> Values:
        result = np.full(NUM_ACTIONS, np.nan)
        legal_now = actions_in(view["legal_cards"][0], view["legal_calls"][0])
        actions, found, histories, weights = np.array(legal_now), [], [], []
        for chunk, size in budget.chunks(1):
            worlds, seen = np.zeros(size, STATE), np.zeros((size, len(actions)), np.int64)
            values = np.empty((size, len(actions), NUM_ACTIONS), np.int64)
            keyed = mix(key, chunk)
            if not search_later(view, self.tables, self.notes, self.space, keyed, actions, worlds, values, seen):
                return result
            found.append(values)
            histories.append(seen)
            weights.append(weigh(view, worlds[None])[0])
        shares = shares_of(np.concatenate(weights))
        values, seen = np.concatenate(found) / (self.rules.sides - 1), np.concatenate(histories)
        for k, action in enumerate(legal_now):
            result[action] = best_tied(values[:, k], seen[:, k], shares)
        return result

    def _search_block(self, views: NDArray[np.void], budget: Budget, keys: NDArray[np.int64], weigh: Weigh) -> Values:
        num = len(views)
        found, weights = [], []
        for chunk, size in budget.chunks(num):
            worlds, values = np.zeros((num, size), STATE), np.empty((num, size, NUM_ACTIONS), np.int64)
            drawn = np.zeros(num, np.bool_)
            search_views(views, self.tables, self.notes, self.space, keys, chunk, self.factor, worlds, values, drawn)
            values[~drawn] = NO_VALUE
            found.append(values)
            weights.append(np.zeros((num, size)))
            if drawn.any():
                weights[-1][drawn] = weigh(views[drawn], worlds[drawn])
        values, shares = np.concatenate(found, axis=1), shares_of(np.concatenate(weights, axis=1))
        means = np.einsum("nw,nwa->na", shares, values) / (self.rules.sides - 1)
        return np.where(values[:, 0] == NO_VALUE, np.nan, means)


def best_tied(values: Values, seen: NDArray[np.int64], shares: Values) -> float:
    """Returns what the best actions are worth, one for all worlds that look alike.

    Args:
        values: (W, A) of each action in each world.
        seen: (W,) equal where worlds look alike.
        shares: (W,) of the worlds.
    """
    _, group = np.unique(seen, return_inverse=True)
    sums = np.zeros((int(group.max()) + 1, values.shape[1]))
    np.add.at(sums, group, values * shares[:, None])
    return float(sums.max(axis=1).sum())


def no_weights(views: NDArray[np.void], worlds: NDArray[np.void]) -> NDArray[np.float64]:
    """Returns log-weights (N, W) of zero: all worlds count the same."""
    return np.zeros(worlds.shape)


def has_choice(views: NDArray[np.void]) -> NDArray[np.bool_]:
    """Returns which of N views leave more than one legal action."""
    result: NDArray[np.bool_] = np.bitwise_count(views["legal_cards"]) + np.bitwise_count(views["legal_calls"]) > 1
    return result


class PimcAgent:
    """Plays cards by perfect-information Monte Carlo; calls, names and discards as ``rule`` does, or by playing out.

    Args:
        rules: what it plays.
        budget: worlds or seconds for each action.
        rolls_out: calls, names and discards are searched too, each world played out by ``rule``.
        depth: own decisions to come, 0 or 1, before all cards are taken as known.
        infers: worlds are as likely as their calls are ``rule``'s; else all alike. Without ``depth`` only.
    """

    def __init__(
        self, rules: Rules, budget: Budget, rolls_out: bool = False, depth: int = 0, infers: bool = False
    ) -> None:
        self._depth = depth
        self._table = Table(rules, INFERENCE_FACTOR if infers else 0)
        self._budget = budget
        self._rolls_out = rolls_out

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = self._table.rule_actions(views)
        searched = has_choice(views)
        if not self._rolls_out:
            searched &= np.isin(views["phase"], (PLAY, WIDOW))
        mine = np.flatnonzero(searched)
        if len(mine):
            search = self._table.search_later if self._depth else self._table.search
            values = search(views[mine], self._budget, rng, no_weights)
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

    A world counts by the network's own likelihood of what the other seats called and played; an action's worth is its
    mean value plus ``trust`` times the logarithm of the network's probability. The network calls, names and discards.

    Args:
        rules: what it plays.
        budget: worlds or seconds for each action.
        network: the player underneath.
        trust: points that a factor *e* in the network's probability is worth.
        first_trick: tricks before this one are the network's.
        depth: own decisions to come, 0 or 1, before all cards are taken as known.
    """

    def __init__(
        self,
        rules: Rules,
        budget: Budget,
        network: NeuralAgent,
        trust: float,
        first_trick: int = 0,
        depth: int = 0,
    ) -> None:
        self._depth = depth
        self._table = Table(rules)
        self._budget = budget
        self._network = network
        self._trust = trust
        self._first_trick = first_trick

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = self._network.act(views, rng)
        searched = has_choice(views) & np.isin(views["phase"], (PLAY, WIDOW)) & (views["trick"] >= self._first_trick)
        mine = np.flatnonzero(searched)
        if len(mine):
            search = self._table.search_later if self._depth else self._table.search
            values = search(views[mine], self._budget, rng, self.log_likelihood)
            values += self._trust * np.log(np.maximum(self._network.policy(views[mine]), 1e-9))
            actions[mine] = best_of(values, actions[mine])
        return actions

    def log_likelihood(self, views: NDArray[np.void], worlds: NDArray[np.void]) -> NDArray[np.float64]:
        """Returns the log-likelihood (N, W), under the network, of what the other seats of each world did so far."""
        flat = weigh_worlds(worlds.reshape(-1), np.repeat(views, worlds.shape[1]), self._table.rules, self._network)
        return flat.reshape(worlds.shape)


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


def pimc_agent(rules: Rules, argument: str | None) -> PimcAgent:
    """Makes ``pimc:N`` (worlds) or ``pimc:Nms``; ``?bid=rollout&depth=1&infer=rule``, as :class:`PimcAgent` has them.

    Raises:
        ValueError: if the argument is malformed.
    """
    budget, options = read_argument("pimc", argument, ("bid", "depth", "infer"))
    bid = options.get("bid", "rule")
    if bid not in ("rule", "rollout"):
        raise ValueError(f"pimc: bid={bid!r:.40} is neither 'rule' nor 'rollout'")
    infer = options.get("infer", "none")
    if infer not in ("none", "rule"):
        raise ValueError(f"pimc: infer={infer!r:.40} is neither 'none' nor 'rule'")
    depth = whole("pimc", "depth", options.get("depth", "0"), 1)
    return PimcAgent(rules, budget, bid == "rollout", depth, infer == "rule")


def search_agent(rules: Rules, argument: str | None) -> SearchAgent:
    """Makes ``search:N`` or ``search:Nms`` over ``best``; ``?net=PATH`` over a checkpoint.

    ``&trust=POINTS``, ``&from=TRICK`` (from 0) and ``&depth=1`` as :class:`SearchAgent` has them.

    Raises:
        ValueError: if the argument is malformed, or there is no such network for the rules.
    """
    budget, options = read_argument("search", argument, ("net", "trust", "from", "depth"))
    first_trick = whole("search", "from", options.get("from", "1"), MAX_PACK)
    depth = whole("search", "depth", options.get("depth", "0"), 1)
    try:
        trust = float(options.get("trust", "0.3"))
    except ValueError:
        raise ValueError(f"search: trust={options['trust']!r:.40} is no number") from None
    network = network_of(rules, options.get("net", "best").removeprefix("checkpoint:"))
    return SearchAgent(rules, budget, network, trust, first_trick, depth)
