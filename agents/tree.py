"""Information-set tree search: ``ismcts:N`` (Cowling, Powley & Whitehouse 2012, one tree for the seat that searches).

Each iteration draws a world, goes down the one tree of action sequences by what is legal in that world, adds a node and
plays the deal out with ``rule``. Children are chosen by PUCT (Rosin 2011): half of the prior is on what ``rule`` would
do, the rest is spread over what is legal; at the root a network's policy may take its place.

Axis letters: N views, M nodes, A actions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.maxims import rule_action
from agents.neural import NeuralAgent
from agents.search import MOST_AT_ONCE, Budget, Table, has_choice, net_value, network_of, play_out, read_argument
from agents.worlds import draw_worlds
from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.engine.jit import first_card, kernel, mix
from pitch_env.engine.state import OVER, STATE
from pitch_env.engine.step import apply, legal, num_legal
from pitch_env.observation import VIEW, look
from pitch_env.rules import Rules

MOST_ITERATIONS = 1 << 16
EXPLORATION = 1.0
"""PUCT's constant, for values in shares of all points of a deal."""
RULE_SHARE = 0.5
"""Share of the prior that is on what ``rule`` would do."""
MAX_DEPTH = 256
NO_NODE = -1
ROOT = 0
ACTION, FIRST_CHILD, NEXT_SIBLING, VISITS = range(4)


class Tree(NamedTuple):
    """A tree of action sequences; node 0 is the root."""

    nodes: NDArray[np.int64]
    """(M, 4) action that leads to the node, first child, next sibling, visits."""
    totals: NDArray[np.float64]
    """(M,) sum of values, for the side that chose the node's action."""


def new_tree(size: int) -> Tree:
    """Returns an empty tree with room for M nodes."""
    return Tree(np.zeros((size, 4), np.int64), np.zeros(size))


@kernel
def clear_tree(tree):
    """Leaves the root alone in a tree."""
    tree.nodes[ROOT, FIRST_CHILD] = NO_NODE
    tree.nodes[ROOT, VISITS] = 0
    tree.totals[ROOT] = 0.0


@kernel
def child_of(tree, node, action):
    """Returns the child that an action leads to, NO_NODE if there is none yet."""
    child = tree.nodes[node, FIRST_CHILD]
    while child != NO_NODE and tree.nodes[child, ACTION] != action:
        child = tree.nodes[child, NEXT_SIBLING]
    return child


@kernel
def add_child(tree, node, action, num_nodes):
    """Adds a node as number ``num_nodes``; modifies ``tree``."""
    tree.nodes[num_nodes, ACTION] = action
    tree.nodes[num_nodes, FIRST_CHILD] = NO_NODE
    tree.nodes[num_nodes, NEXT_SIBLING] = tree.nodes[node, FIRST_CHILD]
    tree.nodes[num_nodes, VISITS] = 0
    tree.totals[num_nodes] = 0.0
    tree.nodes[node, FIRST_CHILD] = num_nodes


@kernel
def choose_child(s, r, n, v, tree, node, root_prior):
    """Returns the legal action that PUCT looks at next; modifies the scratch ``v`` (1,) VIEW."""
    cards, calls = legal(s, r)
    num = num_legal(cards, calls)
    sets = (cards, calls)
    look(s, r, s.seat, v[0])
    favourite = rule_action(v[0], r, n)
    visits = 1
    for part in range(2):
        bits = sets[part]
        while bits:
            child = child_of(tree, node, first_card(bits) + part * FIRST_CALL)
            visits += tree.nodes[child, VISITS] if child != NO_NODE else 0
            bits &= bits - 1
    best, most = np.int64(-1), -np.inf
    for part in range(2):
        bits = sets[part]
        while bits:
            action = first_card(bits) + part * FIRST_CALL
            bits &= bits - 1
            prior = (1.0 - RULE_SHARE) / num + (RULE_SHARE if action == favourite else 0.0)
            if node == ROOT and root_prior[action] >= 0.0:
                prior = root_prior[action]
            child = child_of(tree, node, action)
            times = tree.nodes[child, VISITS] if child != NO_NODE else 0
            mean = tree.totals[child] / times if times > 0 else 0.0
            score = mean / r.all_points + EXPLORATION * prior * np.sqrt(visits) / (1 + times)
            if score > most:
                best, most = action, score
    return best


@kernel
def grow(s, r, n, v, tree, num_nodes, root_prior, path, sides):
    """Does one iteration in a world; modifies ``s``, ``tree`` and scratch. Returns the new number of nodes."""
    node, depth, added = np.int64(ROOT), 0, False
    while s.phase != OVER and not added and depth < MAX_DEPTH:
        action = choose_child(s, r, n, v, tree, node, root_prior)
        child = child_of(tree, node, action)
        if child == NO_NODE and num_nodes < len(tree.nodes):
            add_child(tree, node, action, num_nodes)
            child = np.int64(num_nodes)
            num_nodes += 1
            added = True
        sides[depth] = r.side_of[s.seat]
        apply(s, r, action)
        if child == NO_NODE:
            break
        node = child
        path[depth] = node
        depth += 1
    play_out(s, r, n, v)
    for k in range(depth):
        tree.nodes[path[k], VISITS] += 1
        tree.totals[path[k]] += net_value(s, r, sides[k]) / (r.sides - 1)
    return num_nodes


@kernel
def grow_from(views, i, rules, notes, tree, num_nodes, key, size, root_prior, worlds):
    """Does ``size`` iterations for view *i*; returns the new number of nodes, 0 if no world leads to the view.

    Modifies ``tree`` and ``worlds`` (W,) STATE.
    """
    if not draw_worlds(views[i : i + 1], rules, key, worlds[:size]):
        return np.int64(0)
    v = np.zeros(1, VIEW)
    path, sides = np.empty(MAX_DEPTH, np.int64), np.empty(MAX_DEPTH, np.int64)
    for j in range(size):
        num_nodes = grow(worlds[j], rules[0], notes[0], v, tree, num_nodes, root_prior, path, sides)
    return num_nodes


@kernel
def count_visits(tree, visits):
    """Writes how often each action of the root was looked at; modifies ``visits`` (A,)."""
    visits[:] = 0
    child = tree.nodes[ROOT, FIRST_CHILD]
    while child != NO_NODE:
        visits[tree.nodes[child, ACTION]] = tree.nodes[child, VISITS]
        child = tree.nodes[child, NEXT_SIBLING]


class IsmctsAgent:
    """Plays the action that a tree search over worlds looked at most often; what has no worlds, as ``rule`` does.

    Args:
        rules: what it plays.
        budget: iterations or seconds for each action.
        network: whose policy is the prior at the root; None for none.
    """

    def __init__(self, rules: Rules, budget: Budget, network: NeuralAgent | None = None) -> None:
        self._table = Table(rules)
        self._budget = budget
        self._network = network
        self._tree = new_tree((budget.worlds or MOST_ITERATIONS) + 2)
        self._worlds = np.zeros(MOST_AT_ONCE, STATE)

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = self._table.rule_actions(views)
        mine = np.flatnonzero(has_choice(views))
        priors = np.full((len(views), NUM_ACTIONS), -1.0)
        if self._network is not None and len(mine):
            priors[mine] = self._network.policy(views[mine])
        for i, key in zip(mine.tolist(), rng.integers(1 << 62, size=len(mine)), strict=True):
            visits = self._search(views, i, int(key), priors[i])
            if visits.any():
                actions[i] = visits.argmax()
        return actions

    def _search(self, views: NDArray[np.void], i: int, key: int, prior: NDArray[np.float64]) -> NDArray[np.int64]:
        """Returns how often each action (A,) of view *i* was looked at."""
        table, visits = self._table, np.zeros(NUM_ACTIONS, np.int64)
        clear_tree(self._tree)
        num_nodes = 1
        for chunk, size in self._budget.chunks(1):
            num_nodes = grow_from(
                views, i, table.tables, table.notes, self._tree, num_nodes, mix(key, chunk), size, prior, self._worlds
            )
            if num_nodes == 0:
                return visits
        count_visits(self._tree, visits)
        return visits


def ismcts_agent(rules: Rules, argument: str | None) -> IsmctsAgent:
    """Makes ``ismcts:N`` (iterations) or ``ismcts:Nms``; ``?prior=best`` or ``?prior=PATH`` takes a network's policy.

    Raises:
        ValueError: if the argument is malformed, or there is no such network for the rules.
    """
    budget, options = read_argument("ismcts", argument, ("prior",))
    prior = options.get("prior")
    return IsmctsAgent(rules, budget, None if prior is None else network_of(rules, prior))
