"""The engine against the referee; batches against ``Game``; shuffles, threads, and the modes of Numba."""

import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents import solver
from pitch_env import VARIANTS, Game, Rules, cards
from pitch_env.actions import NUM_ACTIONS
from pitch_env.app.verify import NoRefereeError, verify
from pitch_env.engine import jit, play, step
from pitch_env.engine.jit import below, mix
from pitch_env.engine.state import STATE
from pitch_env.engine.step import apply_batch, legal_batch, play_random_batch, play_random_threads, start_batch
from pitch_env.engine.tables import compile_rules, pack_of
from tests.against_referee import differences, draw_rules
from tests.random_rules import named_variants, optional_variants

# The issue asks for 20,000 deals; some games end before their third.
NUM_RANGES = 16
GAMES_A_RANGE = 640


# The engine and the referee


@pytest.mark.parametrize("part", range(NUM_RANGES))
def test_the_referee_agrees_on_random_deals_of_random_rules(part):
    num_deals = 0
    for game in range(GAMES_A_RANGE):
        rng = random.Random(part * GAMES_A_RANGE + game)
        deals, difference = differences(draw_rules(rng), rng)
        assert difference is None, difference
        num_deals += deals
    assert num_deals >= 20_000 / NUM_RANGES


@given(st.randoms(use_true_random=False))
@settings(max_examples=200, deadline=None)
def test_the_referee_agrees_on_deals_that_hypothesis_finds(rng):
    _, difference = differences(draw_rules(rng), rng, num_deals=2)
    assert difference is None, difference


@pytest.mark.parametrize("name", sorted(named_variants() | optional_variants()))
def test_the_referee_agrees_on_every_variant_and_its_options(name):
    rng = random.Random(name)
    for _ in range(20):
        _, difference = differences((named_variants() | optional_variants())[name], rng)
        assert difference is None, difference


def test_the_comparison_finds_a_wrong_engine(monkeypatch):
    rules = named_variants()["auction_pitch"]
    wrong = rules | {"low_to": "holder"}
    monkeypatch.setattr("tests.against_referee.Rules.from_dict", lambda _: Rules(**wrong))
    found = [differences(rules, random.Random(seed))[1] for seed in range(20)]
    assert any(difference is not None and "items" in difference for difference in found)


# Batch = single

NUM_GAMES = 24
NUM_STEPS = 120
KEY = 5


def fields_that_differ(one, other):
    """Names the fields in which two states differ; the bytes between fields mean nothing."""
    return [name for name in STATE.names if not np.array_equal(one[name], other[name])]


def started(rules, num_games=NUM_GAMES, seed=11, first_table=0):
    states = np.zeros(num_games, STATE)
    start_batch(states, compile_rules(rules), seed, first_table)
    return states


def deal_on(game):
    while game.phase == "over" and game.winner is None:
        game.next_deal()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_batch_plays_bit_for_bit_what_games_play(name):
    rules = VARIANTS[name]
    tables = compile_rules(rules)
    states = np.zeros(NUM_GAMES, STATE)
    for seed in range(NUM_GAMES):  # a Game is table 0 of its seed
        start_batch(states[seed : seed + 1], tables, seed, 0)
    games = dict(enumerate(Game(rules, seed=seed) for seed in range(NUM_GAMES)))
    for game in games.values():
        deal_on(game)
    masks = np.zeros((NUM_GAMES, NUM_ACTIONS), np.int8)
    num_deals = 0
    for turn in range(NUM_STEPS):
        key = KEY + 1000 * turn
        legal_batch(states, tables, masks)
        choices = [np.flatnonzero(mask) for mask in masks]
        # What play_random_batch chooses.
        actions = np.array([legal[below(mix(key + i, 0), len(legal))] for i, legal in enumerate(choices)])
        applied = states.copy()
        apply_batch(applied, tables, actions)
        play_random_batch(states, tables, key, 1, True)
        for i, game in list(games.items()):
            assert choices[i].tolist() == game.legal_actions()
            game.play(actions[i])
            assert fields_that_differ(applied[i], game.state()) == [], f"game {i}, step {turn}"
            num_deals += game.phase == "over"
            deal_on(game)
            if game.winner is not None:  # the batch starts another game
                del games[i]
                continue
            assert fields_that_differ(states[i], game.state()) == [], f"game {i}, step {turn}"
    assert num_deals > NUM_GAMES


@pytest.mark.parametrize("whole_games", [False, True])
@pytest.mark.parametrize("name", VARIANTS)
def test_threads_play_bit_for_bit_what_one_thread_plays(name, whole_games):
    tables = compile_rules(VARIANTS[name])
    alone = started(VARIANTS[name])
    num_deals = play_random_batch(alone, tables, KEY, NUM_STEPS, whole_games)
    assert num_deals > NUM_GAMES
    most = numba.get_num_threads()
    try:
        for num_threads in {1, most}:
            numba.set_num_threads(num_threads)
            states = started(VARIANTS[name])
            play_random_threads(states, tables, KEY, NUM_STEPS, whole_games)
            assert fields_that_differ(states, alone) == []
    finally:
        numba.set_num_threads(most)


# Where the random numbers come from


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma", "kuhn_pitch"])
def test_a_deal_is_a_function_of_seed_table_and_deal(name):
    rules = VARIANTS[name]
    together = started(rules, 40)
    for first in range(0, 40, 8):
        assert fields_that_differ(started(rules, 8, first_table=first), together[first : first + 8]) == []
    assert fields_that_differ(started(rules, 40, seed=12), together) != []


def test_seeds_tables_and_deals_all_give_other_deals():
    rules = VARIANTS["auction_pitch"]
    tables = compile_rules(rules)
    seen = set()
    for seed in range(10):
        states = started(rules, 10, seed)
        for _ in range(10):
            seen |= {hands.tobytes() for hands in states["dealt"]}
            deals = states["deal"].copy()
            while np.array_equal(deals, states["deal"]):
                play_random_batch(states, tables, seed, 24 + 4, False)
    assert len(seen) == 10 * 10 * 10


def deviations(counts, expected):
    """Returns how many standard deviations a chi-square statistic lies above its mean; cells are nearly independent."""
    statistic = ((counts - expected) ** 2 / expected).sum()
    return (statistic - counts.size) / np.sqrt(2 * counts.size)


@pytest.mark.parametrize("name", ["auction_pitch", "high_low_jack", "draw_pitch", "ten_point_52", "cutthroat"])
def test_every_card_goes_everywhere_alike(name):
    rules = VARIANTS[name]
    num_deals = 20_000
    states = started(rules, num_deals)
    pack = pack_of(rules)
    counts = np.zeros((len(pack), rules.players))
    for seat in range(rules.players):
        for place, card in enumerate(pack):
            counts[place, seat] = (states["dealt"][:, seat] >> card & 1).sum()
    assert abs(deviations(counts, num_deals * rules.hand_size / len(pack))) < 5
    dealers = np.bincount(states["dealer"], minlength=rules.players)
    assert abs(deviations(dealers, num_deals / rules.players)) < 5


def test_every_card_lies_in_every_place_of_the_deck_alike():
    rules = VARIANTS["draw_pitch"]
    num_deals = 20_000
    deck = started(rules, num_deals)["deck"][:, : rules.pack_size]
    counts = np.array([np.bincount(deck[:, place], minlength=52) for place in range(52)])
    assert abs(deviations(counts, num_deals / 52)) < 5
    # Neighbours, which a shuffle that stops short leaves together.
    follows = np.bincount((deck[:, :-1].astype(int) * 52 + deck[:, 1:]).ravel(), minlength=52 * 52).reshape(52, 52)
    assert follows.diagonal().sum() == 0
    apart = follows[~np.eye(52, dtype=bool)]
    assert abs(deviations(apart, num_deals * 51 / (52 * 51))) < 5


def test_5_7_discards_are_shuffled_alike():
    rules = Rules(
        players=2, ranks="89TJQKA", suits="HS", hand_size=4, play_size=6, trump_choice="named", exchange="refill"
    )
    num_deals = 3_000
    discards = ["8S", "9S", "TS", "JS", "QS", "KS"]  # all plain cards but the AS, which comes from the stock
    counts = np.zeros((6, 6))
    for seed in range(num_deals):
        game = Game.from_deal(rules, ["AH KH 8S 9S", "TS JS QS KS"], 1, stock="AS 8H 9H TH JH QH", seed=seed)
        for action in ("bid 2", "pass", "name H"):
            game.play(action)
        (order,) = (pile.split() for pile in game.record()["reshuffles"])
        assert sorted(order) == sorted(discards)
        for place, card in enumerate(order):
            counts[place, discards.index(card)] += 1
    assert abs(deviations(counts, num_deals / 6)) < 5


# Modes of Numba

PLAY_A_LITTLE = """
    import hashlib, sys
    import numpy as np
    from pitch_env import VARIANTS
    from pitch_env.engine.state import STATE
    from pitch_env.engine.step import play_random_batch, play_random_threads, start_batch
    from pitch_env.engine.tables import compile_rules
    for name, rules in VARIANTS.items():
        states = np.zeros(2, STATE)
        start_batch(states, compile_rules(rules), 3, 0)
        play_random_batch(states, compile_rules(rules), 9, 60, True)
        play_random_threads(states, compile_rules(rules), 10, 30, False)
        fields = b"".join(states[field].tobytes() for field in STATE.names)
        print(name, hashlib.sha256(fields).hexdigest())
"""


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_same_deals_are_played_without_compiling():
    compiled = run_python(PLAY_A_LITTLE, NUMBA_DISABLE_JIT="0")
    assert compiled.count("\n") == len(VARIANTS)
    assert run_python(PLAY_A_LITTLE, NUMBA_DISABLE_JIT="1") == compiled


def test_importing_compiles_nothing():
    code = """
        import sys
        from numba.core.registry import CPUDispatcher
        import pitch_env.game, pitch_env.observation, pitch_env.engine.step
        kernels = {
            id(thing): thing
            for name, module in list(sys.modules.items()) if name.startswith("pitch_env")
            for thing in vars(module).values() if isinstance(thing, CPUDispatcher)
        }
        print(len(kernels), sum(len(kernel.signatures) for kernel in kernels.values()))
    """
    num_kernels, num_compiled = map(int, run_python(code, NUMBA_DISABLE_JIT="0").split())
    assert num_kernels > 50
    assert num_compiled == 0


def test_importing_the_package_loads_no_engine():
    code = "import sys, pitch_env; print([name for name in ('numba', 'torch', 'rich') if name in sys.modules])"
    assert run_python(code).strip() == "[]"


# pitch verify


def test_verify_finds_no_difference_and_says_how_far_it_is():
    told = []
    found = verify(200, seed=3, processes=1, progress=told.append)
    assert (found["differences"], found["found"]) == (0, [])
    assert found["deals"] >= 200
    assert told[-1] == found["deals"]
    assert told == sorted(set(told))


def test_verify_reports_differences_and_breakdowns(monkeypatch):
    monkeypatch.setattr("tests.against_referee.compare_results", lambda *_: "result: wrong")
    found = verify(1000, seed=3, processes=1)
    assert found["differences"] == len(found["found"]) >= 20
    assert "seed 3, game 0: result: wrong" in found["found"][0]
    monkeypatch.setattr("tests.against_referee.compare_results", lambda *_: 1 // 0)
    assert "ZeroDivisionError" in verify(1, seed=3, processes=1)["found"][0]


def test_verify_can_be_interrupted():
    def interrupt(*_):
        raise KeyboardInterrupt

    found = verify(10_000, processes=1, progress=interrupt)
    assert found["interrupted"]
    assert 0 < found["deals"] < 1000


def test_verify_needs_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr("pitch_env.app.verify.CHECKOUT", tmp_path)
    with pytest.raises(NoRefereeError, match="in a checkout"):
        verify(1)


def test_cached_kernels_depend_on_every_file_that_they_may_inline():
    sources = jit.sources_of(Path(solver.__file__))
    assert {Path(solver.__file__), Path(cards.__file__), Path(jit.__file__)} <= sources
    assert Path(play.__file__) in jit.sources_of(Path(step.__file__))  # not by its own import statement alone
