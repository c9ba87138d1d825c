"""The solver against plain exhaustive search: the same values and the same best actions, for all rules."""

import random

import numpy as np
import pytest

from agents.solver import ITEMS, POINTS, action_values, new_workspace, solve
from pitch_env import VARIANTS, Rules, variant
from pitch_env.actions import FIRST_CALL, NUM_ACTIONS, PASS, actions_in
from pitch_env.engine.jit import kernel, num_cards
from pitch_env.engine.settlement import item_points
from pitch_env.engine.state import AUCTION, OVER, PLAY, STATE, WIDOW
from pitch_env.engine.step import apply, apply_batch, legal, random_action, start
from pitch_env.engine.tables import compile_rules
from tests.lines import first_action
from tests.random_rules import random_rules

MOST_LINES = 2000
NO_VALUE = -(10**9)


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
        action, cards, calls = first_action(cards, calls)
        states[depth + 1] = s
        apply(states[depth + 1], r, action)
        best = max(best, sign * exhaustive(states, r, depth + 1, side, objective))
    return sign * best


@kernel
def exhaustive_values(states, rules, objective, stack, found):
    """Finds the value of every action of one state; modifies ``found`` (NUM_ACTIONS,)."""
    s, r = states[0], rules[0]
    cards, calls = legal(s, r)
    side = np.int64(r.side_of[s.seat])
    for action in range(NUM_ACTIONS):
        found[action] = NO_VALUE
        if (cards >> action) & 1 if action < FIRST_CALL else (calls >> (action - FIRST_CALL)) & 1:
            stack[0] = s
            apply(stack[0], r, action)
            found[action] = exhaustive(stack, r, np.int64(0), side, np.int64(objective))


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
    """Tells whether a state is one that the solver takes, with few lines of play left."""
    if s.phase != PLAY and s.phase != WIDOW:
        return False
    lines = 4.0 if s.phase == WIDOW else 1.0
    for seat in range(r.players):
        blind = r.face_down_size - s.num_blind[seat]
        size = num_cards(s.hands[seat]) + num_cards(s.hand_dups[seat])
        for k in range(1, size + 1):
            lines *= k + (2 if blind else 0)
    return lines <= most


def position(rules, key, most=MOST_LINES):
    """Returns a state of random play with few lines left, as an array of one, or None if the deal ended first."""
    states = np.zeros(1, STATE)
    play_on(states, compile_rules(rules), key, most)
    return None if states[0]["phase"] == OVER else states


def agrees(rules, key, objective, space):
    """Compares both searches on a random position; tells whether there was one."""
    states = position(rules, key)
    if states is None:
        return False
    slow = np.zeros(NUM_ACTIONS, np.int64)
    exhaustive_values(states, compile_rules(rules), objective, np.zeros(128, STATE), slow)
    expected = {action: value for action, value in enumerate(slow.tolist()) if value != NO_VALUE}
    values = action_values(states, rules, objective, space)[0] * (rules.sides - 1)
    found = {action: round(value) for action, value in enumerate(values) if not np.isnan(value)}
    told = f"key {key}, objective {objective}, {rules!r}"
    assert found == expected, told

    solution = solve(states, rules, objective, space)
    best = max(expected.values())
    assert round(solution.values[0] * (rules.sides - 1)) == best, told
    assert actions_in(solution.cards[0], solution.calls[0]) == [a for a in expected if expected[a] == best], told
    assert solution.exact[0], told
    return True


def compare(draw_rules, num, seed):
    """Compares both searches on ``num`` positions, in a table so small that entries are often written over."""
    rng = random.Random(seed)
    space = new_workspace(1 << 8)
    compared = 0
    while compared < num:
        compared += agrees(draw_rules(rng), rng.getrandbits(40), rng.choice([POINTS, POINTS, ITEMS]), space)


def whole_deals(rng):
    """Returns random rules of few cards, which are solved from the first lead on."""
    while True:
        size = rng.randint(1, 3)
        try:
            return Rules.from_dict(random_rules(rng)).replace(
                players=rng.choice([2, 3, 4]), sides=rng.choice([2, 3]), hand_size=size, play_size=size,
                exchange="none", face_down_size=rng.choice([0, 0, 1]), widow_size=rng.choice([0, 1, 2]),
            )  # fmt: skip
        except ValueError:
            continue


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_endings_of_a_variant_are_solved_as_by_exhaustive_search(name):
    compare(lambda rng: VARIANTS[name], 60, seed=1)


@pytest.mark.parametrize("seed", range(4))
def test_endings_of_random_rules_are_solved_as_by_exhaustive_search(seed):
    compare(lambda rng: Rules.from_dict(random_rules(rng)), 400, seed)


@pytest.mark.parametrize("seed", range(4))
def test_small_deals_of_random_rules_are_solved_as_by_exhaustive_search(seed):
    compare(whole_deals, 300, seed)


@pytest.mark.parametrize(
    "rules",
    [
        variant("high_low_jack", no_trump=True, jokers=2, hand_size=3, play_size=3),
        variant(
            "high_low_jack", hand_size=2, play_size=2, widow_size=2, widow_to="pitcher_after_first_trick", jokers=1
        ),
        variant("high_low_jack", decks=2, hand_size=3, play_size=3, ranks="9TJQKA"),
        variant("auction_pitch", hand_size=2, play_size=2, face_down_size=2, suits="HS", smudge_failed="score_becomes"),
        variant("auction_pitch", off_jack=True, jokers=2, hand_size=3, play_size=3, ranks="9TJQKA"),
        variant("cutthroat", hand_size=3, play_size=3, bids=(0, 1, 2, 3, 4), set_rule="transfer", suits="CDH"),
    ],
)
def test_options_that_change_the_play_are_solved_as_by_exhaustive_search(rules):
    compare(lambda rng: rules, 100, seed=2)


@pytest.mark.parametrize("name", ["auction_pitch", "draw_pitch", "smudge_over_four", "high_low_jack", "oklahoma"])
def test_best_play_by_both_sides_ends_at_the_value_of_the_first_lead(name):
    rules = VARIANTS[name]
    tables = compile_rules(rules)
    space = new_workspace()
    for key in range(12):
        states = position(rules, key, most=1e30)
        if states is None:
            continue
        side = states[0]["seat"] % 2
        value = solve(states, rules, workspace=space).values[0]
        while states[0]["phase"] != OVER:
            best = solve(states, rules, workspace=space)
            assert best.values[0] == (value if states[0]["seat"] % 2 == side else -value)
            apply_batch(states, tables, np.array([actions_in(best.cards[0], best.calls[0])[-1]]))
        assert states[0]["points"][side] - states[0]["points"][1 - side] == value


def test_a_batch_is_solved_as_one_by_one_and_left_as_it_was():
    rules = VARIANTS["auction_pitch"]
    states = np.concatenate([position(rules, key, most=1e30) for key in range(20)])
    before = states.tobytes()
    together = solve(states, rules)
    for i in range(len(states)):
        alone = solve(states[i : i + 1], rules)
        assert [field[0] for field in alone[:4]] == [field[i] for field in together[:4]]
    assert states.tobytes() == before


def test_a_search_that_runs_into_its_limit_says_so():
    rules = VARIANTS["nine_card"]
    states = position(rules, 3, most=1e30)
    solution = solve(states, rules, workspace=new_workspace(limit=1000))
    assert not solution.exact[0]
    assert solution.nodes[0] < 5000


def test_what_cannot_be_solved_is_refused():
    rules = VARIANTS["auction_pitch"]
    states = np.zeros(1, STATE)
    with pytest.raises(ValueError, match="neither in the play"):
        solve(states, rules)
    with pytest.raises(ValueError, match="objective=7"):
        action_values(position(rules, 1), rules, objective=7)
    with pytest.raises(ValueError, match="entries=1000"):
        new_workspace(1000)
