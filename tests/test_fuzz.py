"""Random and malformed input: only the documented exceptions, and never a wrong accept."""

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitch_env import VARIANTS, Game, Rules
from pitch_env.actions import ACTION_NAMES
from pitch_env.game import IllegalActionError, RecordError
from pitch_env.rules import RulesError, load_rules
from tests import random_rules

FUZZ = settings(deadline=None, max_examples=400, derandomize=True, suppress_health_check=list(HealthCheck))

atoms = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-2, 20), st.sampled_from([2**31, 2**63, 2**64, -(2**63) - 1]),
    st.floats(), st.text(max_size=8), st.binary(max_size=4), st.sampled_from(["named", "pitcher", "AKQJT", "HS"]),
)  # fmt: skip
junk = st.recursive(
    atoms,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=6,
)
RESHUFFLING = VARIANTS["oklahoma"].replace(
    ranks="23456", suits="HS", jokers=1, hand_size=3, play_size=3, players=3, sides=3
)
SWAPPING = VARIANTS["high_low_jack"].replace(decks=2, jokers=2, widow_size=2, widow_to="pitcher_after_first_trick")
RULES = VARIANTS | {"reshuffling": RESHUFFLING, "swapping": SWAPPING}
names = st.sampled_from(list(RULES))


# Rules


@FUZZ
@given(st.dictionaries(st.sampled_from([*random_rules.DEFAULTS, "unknown", "", "self", "fields"]), junk, max_size=6))
def test_malformed_rules_raise_rules_error_and_nothing_wrong_is_accepted(fields: dict[str, Any]):
    try:
        rules = Rules.from_dict(fields)
    except RulesError as error:
        assert str(error).isprintable()  # noqa: PT017
        return
    plain = json.loads(json.dumps({**random_rules.DEFAULTS, **fields}))
    assert random_rules.problems(plain) == []
    assert rules.to_dict() == plain


@FUZZ
@given(junk)
def test_what_is_no_rules_at_all_raises_rules_error(given: Any):
    for take in (Rules.from_dict, load_rules):
        try:
            assert isinstance(take(given), Rules)
        except RulesError as error:
            assert str(error)  # noqa: PT017


@FUZZ
@given(names, st.dictionaries(st.sampled_from(list(random_rules.DEFAULTS)), junk, max_size=3))
def test_a_variant_with_malformed_fields_raises_rules_error(name: str, fields: dict[str, Any]):
    try:
        assert isinstance(RULES[name].replace(**fields), Rules)
    except RulesError as error:
        assert str(error)  # noqa: PT017


# Actions


def fields_of(game: Game) -> dict[str, Any]:
    """Returns the fields of a game's state; its bytes have padding between them."""
    state = game.state()
    return {field: state[field].tolist() for field in state.dtype.names}


GAMES = {name: Game(rules, seed=5) for name, rules in RULES.items()}


@FUZZ
@given(names, st.one_of(junk, st.sampled_from(ACTION_NAMES), st.integers(-100, 200)), st.integers(0, 40))
def test_an_action_is_done_if_it_is_legal_and_else_refused_without_a_trace(name: str, action: Any, depth: int):
    game = GAMES[name].copy()
    rng = random.Random(depth)
    while depth > 0 and game.seat is not None:
        game.play(rng.choice(game.legal_actions()))
        depth -= 1
    is_index = isinstance(action, int) and not isinstance(action, bool)
    is_legal = (isinstance(action, str) and action in game.legal_names()) or (
        is_index and action in game.legal_actions()
    )
    before, record = fields_of(game), game.record()
    if is_legal:
        game.play(action)
        played = game.record()["actions"][len(record["actions"]) :]
        assert played == [action if isinstance(action, str) else ACTION_NAMES[action]]
    else:
        with pytest.raises(IllegalActionError, match="legal: "):
            game.play(action)
        assert fields_of(game) == before
        assert game.record() == record


@FUZZ
@given(names, junk)
def test_what_is_no_seat_is_refused(name: str, seat: Any):
    game = GAMES[name]
    if isinstance(seat, int) and not isinstance(seat, bool) and 0 <= seat < game.rules.players:
        return
    for ask in (game.hand, game.view, game.info_state):
        with pytest.raises(ValueError, match="is not a seat"):
            ask(seat)


@FUZZ
@given(junk)
def test_what_is_no_seed_is_refused(seed: Any):
    if isinstance(seed, int) and not isinstance(seed, bool) and -(2**63) <= seed < 2**63:
        assert Game("kuhn_pitch", seed).record() == Game("kuhn_pitch", seed).record()
        return
    with pytest.raises(ValueError, match="not an int of 64 bits"):
        Game("kuhn_pitch", seed)


# Deals and records


def played_record(name: str, seed: int) -> dict[str, Any]:
    """Returns the record of a deal of random play, finished two times in three."""
    rng = random.Random(seed)
    game = Game(RULES[name], seed)
    most = rng.choice([1000, 1000, rng.randint(0, 30)])
    while game.seat is not None and most > 0:
        game.play(rng.choice(game.legal_actions()))
        most -= 1
    return json.loads(json.dumps(game.record()))


ARGUMENTS = ["hands", "dealer", "scores", "debts", "face_down", "widow", "turn_up", "stock", "seed"]


@FUZZ
@given(names, st.integers(0, 10**6), st.dictionaries(st.sampled_from(ARGUMENTS), junk, max_size=2))
def test_from_deal_raises_value_error_or_deals_what_it_was_given(name: str, seed: int, changes: dict[str, Any]):
    record = played_record(name, seed)
    arguments = {field: record[field] for field in ARGUMENTS if field in record} | {"seed": 0} | changes
    try:
        game = Game.from_deal(RULES[name], **arguments)
    except ValueError as error:
        assert str(error)  # noqa: PT017
        return
    given = {field: plain(value) for field, value in arguments.items()}
    dealt = game.record()
    assert {field: dealt[field] for field in ("hands", "dealer", "widow", "turn_up")} == {
        field: given[field] for field in ("hands", "dealer", "widow", "turn_up")
    }
    assert dealt["stock"].startswith(given["stock"])
    assert dealt["face_down"] == (given["face_down"] or [""] * game.rules.players)
    assert dealt["scores"] == (given["scores"] or [0] * game.rules.sides)
    assert dealt["debts"] == (given["debts"] or [max(0, -score) for score in dealt["scores"]])


def plain(value: Any) -> Any:
    """Returns an argument as a record has it: one space between cards."""
    if isinstance(value, str):
        return " ".join(value.split())
    return [plain(inner) for inner in value] if isinstance(value, list) else value


def mutate(record: dict[str, Any], rng: random.Random, wild: Any) -> dict[str, Any]:
    """Returns a record with something changed: a field, an action, two cards, a number of the result, the rules."""
    record = copy.deepcopy(record)
    kind = rng.randrange(9)
    if kind == 0:
        record[rng.choice(list(record))] = wild
    elif kind == 1:
        del record[rng.choice(list(record))]
    elif kind == 2:
        record["extra"] = wild
    elif kind == 3 and record["actions"]:
        record["actions"][rng.randrange(len(record["actions"]))] = rng.choice([*ACTION_NAMES, wild])
    elif kind == 4:
        first, second = (
            rng.choice(record["hands"]).split()[0],
            rng.choice([*record["hands"], record["stock"] or "2C"]).split()[-1],
        )
        text = json.dumps({pile: record[pile] for pile in ("hands", "stock", "widow", "face_down")})
        record |= json.loads(text.replace(first, "??").replace(second, first).replace("??", second))
    elif kind == 5 and record["result"]:
        field = rng.choice(list(record["result"]))
        record["result"][field] = rng.choice([wild, None, 1, [0, 0], True])
    elif kind == 6:
        field = rng.choice(list(record["rules"]))
        record["rules"][field] = rng.choice([wild, random_rules.random_field(field, rng)])
    elif kind == 7:
        cards = " ".join(record["reshuffles"]).split() or ["2C"]
        record["reshuffles"] = [
            " ".join(rng.sample(cards, rng.randint(0, len(cards)))) for _ in range(rng.randint(1, 2))
        ]
    else:
        record["actions"] = record["actions"][: rng.randint(0, len(record["actions"]))]
    return record


@FUZZ
@given(names, st.integers(0, 10**6), junk)
def test_a_mutated_record_is_refused_or_replays_to_what_it_says(name: str, seed: int, wild: Any):
    record = mutate(played_record(name, seed), random.Random(seed), wild)
    try:
        game = Game.replay(record)
    except RecordError as error:
        assert str(error)  # noqa: PT017
        return
    again = game.record()
    if record["result"] is None:
        again["result"] = None
    record["face_down"] = record["face_down"] or again["face_down"]  # no piles at all are empty ones
    assert again == record | {"rules": Rules.from_dict(record["rules"]).to_dict()}


@FUZZ
@given(junk)
def test_what_is_no_record_is_refused(record: Any):
    with pytest.raises(RecordError):
        Game.replay(record)


@pytest.mark.parametrize("name", RULES)
def test_records_that_were_not_changed_replay(name: str):
    for seed in range(5):
        record = played_record(name, seed)
        assert Game.replay(record).record() == record
