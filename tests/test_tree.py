"""Information-set tree search: its arguments, its tree, and that it plays every variant."""

import numpy as np
import pytest

from agents.search import Table
from agents.tree import FIRST_CHILD, NEXT_SIBLING, NO_NODE, ROOT, VISITS, clear_tree, count_visits, grow_from, new_tree
from pitch_env import VARIANTS, variant
from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import make_agent
from pitch_env.engine.state import STATE
from tests.test_search import views_of_games
from training.evaluate import play_match

RULES = variant("auction_pitch")
NO_PRIOR = np.full(NUM_ACTIONS, -1.0)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ismcts", "ismcts needs worlds or milliseconds"),
        ("ismcts:8?depth=2", "ismcts has no option 'depth'"),
        ("ismcts:8?prior=/nowhere", "/nowhere"),
    ],
)
def test_arguments_that_make_no_agent_are_refused_in_a_line(name, message):
    with pytest.raises(ValueError, match=message):
        make_agent(name, RULES)


def grown(game, view, num, prior=NO_PRIOR):
    table, tree, worlds = Table(game.rules), new_tree(num + 2), np.zeros(num, STATE)
    clear_tree(tree)
    num_nodes = grow_from(view, 0, table.tables, table.notes, tree, 1, 77, num, prior, worlds)
    return tree, num_nodes


def children_of(tree, node):
    child = tree.nodes[node, FIRST_CHILD]
    while child != NO_NODE:
        yield int(child)
        child = tree.nodes[child, NEXT_SIBLING]


def test_each_iteration_adds_a_node_and_is_counted_on_its_way():
    (game, view) = views_of_games(RULES, 3, seed=2)[-1]
    tree, num_nodes = grown(game, view, 100)
    assert 2 <= num_nodes <= 101
    assert sum(tree.nodes[child, VISITS] for child in children_of(tree, ROOT)) == 100
    for node in range(1, num_nodes):
        assert sum(tree.nodes[child, VISITS] for child in children_of(tree, node)) <= tree.nodes[node, VISITS]


def test_only_legal_actions_of_the_seat_are_at_the_root():
    for game, view in views_of_games(RULES, 12, seed=6):
        tree, _ = grown(game, view, 60)
        visits = np.zeros(NUM_ACTIONS, np.int64)
        count_visits(tree, visits)
        assert set(np.flatnonzero(visits)) <= set(game.legal_actions())


def test_a_prior_at_the_root_draws_the_search():
    (game, view) = views_of_games(RULES, 9, seed=6, phase="play")[-1]
    for action in game.legal_actions():
        prior = np.full(NUM_ACTIONS, -1.0)
        prior[game.legal_actions()] = 0.0
        prior[action] = 1.0
        tree, _ = grown(game, view, 1, prior)
        visits = np.zeros(NUM_ACTIONS, np.int64)
        count_visits(tree, visits)
        assert visits.argmax() == action


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_it_plays_every_variant(name):
    rules = VARIANTS[name]
    play_match(rules, make_agent("ismcts:4", rules), make_agent("greedy", rules), 2, seed=1)


def test_it_is_stronger_than_greedy():
    match = play_match(RULES, make_agent("ismcts:100", RULES), make_agent("greedy", RULES), 60, seed=5)
    assert match.interval[0] > 0
