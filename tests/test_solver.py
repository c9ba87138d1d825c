"""The solver against plain exhaustive search: the same values and the same best actions, for all rules."""

import random

import numpy as np
import pytest

from agents.solver import ITEMS, NO_VALUE, POINTS, action_values, new_workspace, solve
from pitch_env import VARIANTS, Rules
from pitch_env.actions import FIRST_CALL, PASS, actions_in
from pitch_env.engine.jit import first_card, kernel, num_cards
from pitch_env.engine.settlement import item_points
from pitch_env.engine.state import AUCTION, OVER, PLAY, STATE, WIDOW
from pitch_env.engine.step import apply, legal, random_action, start
from pitch_env.engine.tables import compile_rules
from tests.random_rules import random_rules

DEPTH = 128


@kernel
def exhaustive(states, r, depth, side, objective):
    """Returns the value for a side, times sides − 1, of the state at a depth: it against all others."""
    s = states[depth]
    if s.phase == OVER:
        value = 0
        for other in range(r.sides):
            points = item_points(s, other) if objective == ITEMS else s.points[other]
            value += (r.sides - 1) * points if other == side else -points
        return value
    cards, calls = legal(s, r)
    best = np.int64(NO_VALUE)
    sign = 1 if r.side_of[s.seat] == side else -1
    while cards | calls:
        if cards:
            action = first_card(cards)
            cards &= cards - 1
        else:
            action = FIRST_CALL + first_card(calls)
            calls &= calls - 1
        states[depth + 1] = s
        apply(states[depth + 1], r, action)
        best = max(best, sign * exhaustive(states, r, depth + 1, side, objective))
    return sign * best


@kernel
def exhaustive_root(states, rules, action, objective, stack):
    r = rules[0]
    side = r.side_of[states[0].seat]
    stack[0] = states[0]
    apply(stack[0], r, action)
    return exhaustive(stack, r, np.int64(0), np.int64(side), np.int64(objective))


@kernel
def legal_sets(states, rules):
    return legal(states[0], rules[0])


@kernel
def play_on(states, rules, key, most):
    """Plays random actions, few bids, until at most ``most`` lines of play are left, or the deal is over."""
    s, r = states[0], rules[0]
    start(s, r, key, 0)
    k = 0
    while s.phase != OVER and not is_small(s, r, most):
        k += 1
        action = random_action(s, r, key * 1009 + k * 7919)
        if s.phase == AUCTION and legal(s, r)[1] & 1 and k % 3:
            action = PASS
        apply(s, r, action)


@kernel
def is_small(s, r, most):
    if s.phase != PLAY and s.phase != WIDOW:
        return False
    lines = 1.0
    for seat in range(r.players):
        size = num_cards(s.hands[seat]) + num_cards(s.hand_dups[seat])
        blind = r.face_down_size - s.num_blind[seat]
        for k in range(1, size + 1):
            lines *= k + (blind > 0)
        if blind and size:
            lines *= 2.0 ** min(blind, size)
        if s.phase == WIDOW and seat == s.pitcher:
            lines *= 4.0
    return lines <= most


def small_rules(rng):
    """Returns a named variant, or random rules, one time in two with few cards, so that whole deals are solved."""
    if rng.random() < 0.4:
        return VARIANTS[rng.choice(sorted(VARIANTS))]
    while True:
        rules = Rules.from_dict(random_rules(rng))
        if rng.random() < 0.5:
            return rules
        size = rng.randint(1, 3)
        try:
            return rules.replace(
                hand_size=size,
                play_size=size,
                exchange="none",
                widow_size=rng.choice([0, 1, 2]),
                face_down_size=rng.choice([0, 0, 1]),
                players=rng.choice([2, 3, 4]),
                sides=2 if rng.random() < 0.5 else 3,
            )
        except ValueError:
            continue


def check(rules, key, most, objective, space, rng):
    """Compares both searches on one position; returns whether there was one."""
    states, stack = np.zeros(1, STATE), np.zeros(DEPTH, STATE)
    tables = compile_rules(rules)
    play_on(states, tables, key, most)
    if states[0]["phase"] == OVER:
        return None
    values = action_values(states, rules, objective, space)[0] * (rules.sides - 1)
    found = {action: round(value) for action, value in enumerate(values) if not np.isnan(value)}
    actions = actions_in(*legal_sets(states, tables))
    expected = {a: exhaustive_root(states, tables, a, objective, stack) for a in actions}
    message = f"found {found} expected {expected} me {states[0]['seat']} pitcher {states[0]['pitcher']} {rules.to_dict()} key {key} objective {objective}"
    assert found == expected, message
    best = max(expected.values())
    solution = solve(states, rules, objective, space)
    assert round(solution.values[0] * (rules.sides - 1)) == best, message
    assert actions_in(solution.cards[0], solution.calls[0]) == [a for a in actions if expected[a] == best], message
    return len(actions)


@pytest.mark.parametrize("seed", range(4))
def test_values_and_best_actions_are_those_of_exhaustive_search_for_all_rules(seed):
    rng = random.Random(seed)
    space = new_workspace(1 << 10)
    solved = 0
    while solved < 500:
        solved += (
            check(small_rules(rng), rng.getrandbits(40), 2000, rng.choice([POINTS, POINTS, ITEMS]), space, rng)
            is not None
        )
