"""The OpenSpiel game: OpenSpiel's own tests, the odds of the deal, play as the engine has it, CFR."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, RulesError
from pitch_env.cards import card_names
from pitch_env.engine.tables import pack_of
from pitch_env.observation import VIEW, encode_batch, layout_of

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra bench or integration)")

import pitch_env.openspiel  # noqa: E402, F401 - registers the game, after the skip

SIMULATED = [
    "kuhn_pitch", "mini_partners", "auction_pitch", "cutthroat", "pitch_in_auction", "draw_pitch", "six_hand", "fish",
    "oklahoma", "ten_point_five_handed", "high_low_jack",
]  # fmt: skip
SHUFFLES = {
    "players": 3, "sides": 3, "ranks": "9TJQKA", "suits": "CDH", "hand_size": 5, "play_size": 6,
    "trump_choice": "named", "exchange": "draw",
}  # fmt: skip
"""A pack so small that draws go through the stock into the discards (5.7)."""


def load(rules, dealer=-1):
    return pyspiel.load_game("python_pitch", {"rules": str(rules), "dealer": dealer})


def house_rules(tmp_path, **fields):
    lines = [f"{name} = {value!r}".replace("False", "false") for name, value in fields.items()]
    path = tmp_path / "house.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def random_states(game, rng):
    """Every state on the way of one random deal, the last one too, each with the names of the actions so far."""
    state, names = game.new_initial_state(), []
    yield state, names
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, odds = zip(*state.chance_outcomes(), strict=True)
            state = state.child(int(rng.choice(outcomes, p=odds)))
        else:
            action = int(rng.choice(state.legal_actions()))
            names = [*names, state.action_to_string(action)]
            state = state.child(action)
        yield state, names


def twin(state, names):
    """The `Game` of the same cards and actions."""
    rules, s = state.position.table.rules, state.position.states[0]
    deck, dealer = s["deck"].tolist(), int(s["dealer"])
    places = [(seat - dealer - 1) % rules.players for seat in range(rules.players)]

    def piles(start, size):
        return [card_names(deck[start + place * size : start + (place + 1) * size]) for place in places]

    downs = rules.players * rules.hand_size
    widow = downs + rules.players * rules.face_down_size
    turn_up = widow + rules.widow_size
    game = Game.from_deal(
        rules, piles(0, rules.hand_size), dealer, face_down=piles(downs, rules.face_down_size),
        widow=card_names(deck[widow:turn_up]), turn_up=card_names(deck[turn_up : rules.num_dealt]),
        stock=card_names(deck[rules.num_dealt : rules.pack_size]),
    )  # fmt: skip
    ends = [*s["reshuffle_at"][: s["num_reshuffles"]].tolist(), int(s["stock_end"])]
    reshuffles = [card_names(deck[start:end]) for start, end in pairwise(ends)]
    return Game.replay(game.record() | {"actions": names, "reshuffles": reshuffles})


def deals_with_odds(state, odds=1.0):
    """Every state at which all cards are dealt, with its odds."""
    if not state.is_chance_node():
        yield state, odds
        return
    for outcome, chance in state.chance_outcomes():
        yield from deals_with_odds(state.child(outcome), odds * chance)


@pytest.mark.parametrize("name", SIMULATED)
def test_openspiels_own_simulation(name):
    pyspiel.random_sim_test(load(name), num_sims=1, serialize=True, verbose=False)


def test_openspiels_own_simulation_where_discards_are_shuffled(tmp_path):
    pyspiel.random_sim_test(load(house_rules(tmp_path, **SHUFFLES)), num_sims=3, serialize=True, verbose=False)


@pytest.mark.parametrize(("name", "num_deals"), [("kuhn_pitch", 5 * 4), ("mini_pitch", 28 * 15)])
def test_2_1_every_deal_comes_in_one_way_and_all_are_equally_likely(name, num_deals):
    deals = list(deals_with_odds(load(name, dealer=0).new_initial_state()))
    assert len({str(deal) for deal, _ in deals}) == len(deals) == num_deals
    assert np.allclose([odds for _, odds in deals], 1 / num_deals)


def test_2_1_hands_of_two_packs_have_the_odds_of_physical_cards(tmp_path):
    rules = house_rules(
        tmp_path, players=2, ranks="QKA", suits="S", decks=2, hand_size=2, play_size=2, bids=[1, 2], smudge=False
    )
    pack = pack_of(Game(rules).rules)
    expected: Counter[str] = Counter()
    for first in combinations(range(6), 2):
        for second in combinations([k for k in range(6) if k not in first], 2):
            expected[card_names(pack[k] for k in (*first, *second))] += 1 / 90
    found: Counter[str] = Counter()
    for deal, odds in deals_with_odds(load(rules, dealer=1).new_initial_state()):
        cards = str(deal).replace("deal ", "").replace(",", "")
        assert cards not in found
        found[cards] = odds
    assert found == pytest.approx(expected)


def test_2_3_the_first_dealer_is_drawn_unless_it_is_given():
    assert load("six_hand").new_initial_state().chance_outcomes() == [(seat, 1 / 6) for seat in range(6)]
    deal, _ = next(deals_with_odds(load("kuhn_pitch", dealer=1).new_initial_state()))
    assert deal.current_player() == 0


@pytest.mark.parametrize("name", list(VARIANTS))
def test_a_deal_plays_and_pays_as_in_game(name):
    game, rng = load(name), np.random.default_rng(3)
    for state, names in random_states(game, rng):
        if state.is_chance_node():
            continue
        same = twin(state, names)
        assert state.legal_actions() == same.legal_actions()
        assert (state.current_player() if not state.is_terminal() else None) == same.seat
    points, sides = same.deal_result.points, same.rules.sides
    for seat, paid in enumerate(state.returns()):
        others = [points[side] for side in range(sides) if side != seat % sides]
        assert paid == points[seat % sides] - sum(others) / len(others)
    assert game.min_utility() <= min(state.returns())
    assert max(state.returns()) <= game.max_utility()


@pytest.mark.parametrize(
    "rules", ["mini_pitch", "fish", "high_low_jack", "oklahoma", "ten_point_five_handed", SHUFFLES]
)
def test_an_information_state_is_what_game_says_the_seat_has_seen(rules, tmp_path):
    """Two points of play have the same text here if and only if they have the same text there."""
    game, rng = load(house_rules(tmp_path, **rules) if isinstance(rules, dict) else rules), np.random.default_rng(5)
    pairs, reshuffles = set(), 0
    for _ in range(60 if rules == "mini_pitch" else 4):
        for state, names in random_states(game, rng):
            if state.is_chance_node() or state.is_terminal():
                continue
            same = twin(state, names)
            reshuffles += int(same.state()["num_reshuffles"])
            for seat in range(game.num_players()):
                pairs.add((state.information_state_string(seat), same.info_state(seat)))
    assert len({ours for ours, _ in pairs}) == len({theirs for _, theirs in pairs}) == len(pairs)
    assert (reshuffles > 0) == isinstance(rules, dict)


def test_the_observation_tensor_is_our_observation():
    game, rng = load("auction_pitch"), np.random.default_rng(1)
    layout = layout_of(VARIANTS["auction_pitch"])
    for state, names in random_states(game, rng):
        if not state.is_chance_node():
            views, expected = np.zeros(1, VIEW), np.zeros((1, layout.size), np.uint8)
            views[0] = twin(state, names).view(2)
            encode_batch(views, layout.table, expected)
            assert state.observation_tensor(2) == expected[0].tolist()


def test_states_are_copied_and_pickled_in_mid_deal():
    state = next(state for state, names in random_states(load("oklahoma"), np.random.default_rng(2)) if len(names) == 9)
    for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state)), state.clone()):
        assert str(other) == str(state)
        assert other.information_state_string(1) == state.information_state_string(1)
    before = str(state)
    other.apply_action(other.legal_actions()[0])
    assert str(state) == before


def test_what_is_no_game_is_refused():
    from pitch_env.openspiel import PitchGame

    with pytest.raises(RulesError, match="no variant 'whist'"):
        PitchGame({"rules": "whist"})
    with pytest.raises(ValueError, match="dealer=4 is not a seat"):
        PitchGame({"dealer": 4})


def test_openspiels_cfr_comes_close_to_an_equilibrium_of_kuhn_pitch():
    from open_spiel.python.algorithms import cfr, exploitability

    game = load("kuhn_pitch", dealer=0)
    solver, gaps = cfr.CFRPlusSolver(game), []
    for k in range(50):
        solver.evaluate_and_update_policy()
        if k in (0, 49):
            gaps.append(exploitability.nash_conv(game, solver.average_policy()))
    assert gaps[0] > 1
    assert gaps[1] < 0.1


def test_the_script_of_the_page_runs(capsys):
    page = (Path(__file__).parent.parent / "docs" / "openspiel.md").read_text(encoding="utf-8")
    exec(page.split("```python")[1].split("```")[0], {})
    assert 0 <= float(capsys.readouterr().out) < 0.2
