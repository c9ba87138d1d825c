"""Rules: what is refused and how, round trips, house rules from files, and agreement with an independent reading."""

import copy
import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pitch_env import VARIANTS, Game, Rules, variant
from pitch_env.rules import ITEMS, RulesError, load_rules
from tests import random_rules

NAMED = {"trump_choice": "named"}
CONCEDE = {"concede_without_trumps": True, "smudge": False, "items": {"high": 1}}


def refusal(**fields: Any) -> str:
    """Returns the message with which rules are refused; it must be one line."""
    with pytest.raises(RulesError) as error:
        Rules(**fields)
    message = str(error.value)
    assert "\n" not in message
    return message


# Each: the fields given, and what the message must name.
UNMET_NEEDS: list[tuple[dict[str, Any], list[str]]] = [
    # 1.1
    ({"players": 5}, ["sides=2", "players=5"]),
    ({"players": 3, "sides": 4}, ["sides=4", "players=3"]),
    # 2.2
    ({"redeal_one_suit_hand": True, "suits": "H", "hand_size": 2, "play_size": 2}, ["suits='H'", "hand_size=2", "2.2"]),
    ({"redeal_one_suit_hand": True, "hand_size": 1, "play_size": 1}, ["redeal_one_suit_hand", "hand_size=1"]),
    # 2.4
    ({"hand_size": 14, "play_size": 14}, ["players=4", "hand_size=14", "play_size=14", "56", "52"]),
    ({"players": 8, "face_down_size": 1}, ["face_down_size=1", "56", "52"]),
    ({"widow_size": 29}, ["widow_size=29", "53", "52"]),
    ({"widow_size": 28, "turn_up": True}, ["turn_up=True", "53", "52"]),
    ({**NAMED, "exchange": "draw", "play_size": 14}, ["play_size=14", "56", "52"]),
    ({"ranks": "AKQ", "suits": "HS"}, ["24", "6"]),
    ({"bids": (2, 2)}, ["bids=(2, 2)"]),
    ({"bids": (4, 3)}, ["bids=(4, 3)"]),
    ({"ranks": ""}, ["ranks=''"]),
    ({"ranks": "AKA"}, ["ranks='AKA'"]),
    ({"ranks": "A10"}, ["ranks='A10'"]),
    ({"suits": "HX"}, ["suits='HX'"]),
    ({"suits": "HH"}, ["suits='HH'"]),
    ({"items": {}}, ["items={}"]),
    # 3.10
    ({"pitch_in_auction": True, "bids": (2, 3)}, ["pitch_in_auction", "bids=(2, 3)"]),
    ({"pitch_in_auction": True, **NAMED}, ["pitch_in_auction", "trump_choice='named'"]),
    # 4.2, 4.6
    ({"no_trump": True}, ["no_trump=True", "trump_choice='named'", "'first_lead'"]),
    ({"first_trick_no_trump": True, "opening_lead": "any"}, ["first_trick_no_trump=True", "trump_choice='named'"]),
    ({"opening_lead": "any"}, ["opening_lead='any'", "trump_choice='named'"]),
    ({"opening_lead": "plain"}, ["opening_lead='plain'", "trump_choice='named'"]),
    ({"exchange": "draw"}, ["exchange='draw'", "trump_choice='named'"]),
    ({"exchange": "discard"}, ["exchange='discard'", "trump_choice='named'"]),
    ({"exchange": "refill"}, ["exchange='refill'", "trump_choice='named'"]),
    ({"no_trump": True, **NAMED, "exchange": "draw"}, ["no_trump=True", "exchange='none'", "'draw'"]),
    ({"first_trick_no_trump": True, **NAMED}, ["first_trick_no_trump=True", "opening_lead='any'", "'trump'"]),
    # 5.1, 5.6
    ({"hand_size": 5}, ["exchange='none'", "play_size=6", "hand_size=5"]),
    ({**NAMED, "exchange": "draw", "hand_size": 7}, ["exchange='draw'", "play_size=6", "hand_size=7"]),
    ({**NAMED, "exchange": "discard", "hand_size": 5}, ["exchange='discard'", "play_size=6", "hand_size=5"]),
    ({"widow_to": "pitcher"}, ["widow_to='pitcher'", "'none'"]),
    ({**NAMED, "widow_to": "pitcher", "exchange": "draw"}, ["widow_to='pitcher'", "'draw'"]),
    ({"leftover_to": "pitcher"}, ["leftover_to='pitcher'", "exchange='refill'", "'none'"]),
    ({**NAMED, "leftover_to": "pitcher", "exchange": "discard"}, ["leftover_to='pitcher'", "'discard'"]),
    # 7.1
    ({"items": {"off_jack": 1}}, ["items", "'off_jack'", "off_jack=True"]),
    # 9.5
    ({**CONCEDE, "players": 3, "sides": 3}, ["concede_without_trumps=True", "sides=2", "3"]),
    ({**CONCEDE, "items": {"game": 1}}, ["concede_without_trumps=True", "'game'"]),
    ({**CONCEDE, "items": {"high_spade": 1}}, ["concede_without_trumps=True", "'high_spade'"]),
    ({**CONCEDE, **NAMED, "no_trump": True}, ["concede_without_trumps=True", "no_trump=False"]),
    ({**CONCEDE, "face_down_size": 2}, ["concede_without_trumps=True", "face_down_size=0", "2"]),
    (
        {**CONCEDE, "widow_to": "pitcher_after_first_trick"},
        ["concede_without_trumps=True", "pitcher_after_first_trick"],
    ),
    ({**CONCEDE, "smudge": True}, ["concede_without_trumps=True", "smudge=False", "smudge_tricks=False"]),
]


@pytest.mark.parametrize(("fields", "named"), UNMET_NEEDS)
def test_an_unmet_need_is_refused_with_its_fields_and_values(fields: dict[str, Any], named: list[str]):
    message = refusal(**fields)
    assert [text for text in named if text not in message] == []
    assert isinstance(RulesError(message), ValueError)


OUT_OF_RANGE: list[tuple[str, Any]] = [
    *[(name, least - 1) for name, (least, _) in random_rules.LEAST_AND_MOST.items()],
    *[(name, most + 1) for name, (_, most) in random_rules.LEAST_AND_MOST.items() if most is not None],
    *[(name, "nothing") for name in random_rules.CHOICES],
    *[(name, 1) for name in random_rules.FLAGS],
    *[(name, wrong) for name in random_rules.LEAST_AND_MOST for wrong in (True, 2.0, "4", None)],
    *[("bids", wrong) for wrong in ((), (-1, 2), (2, 16), (2, 3.0), (True,), "234", 4, None)],
    *[("items", wrong) for wrong in ({"high": 0}, {"high": 10}, {"seven": 1}, {"high": True}, ["high"], "high", None)],
    *[(name, wrong) for name in ("ranks", "suits") for wrong in (7, None, ["H"])],
]


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE)
def test_a_field_out_of_range_or_of_another_type_is_named_with_its_value(name: str, value: Any):
    message = refusal(**{name: value})
    assert name in message
    assert message.startswith((f"{name}=", f"{name}."))


def test_an_unknown_field_is_refused_with_the_list_of_fields():
    message = refusal(hand=6)
    assert "no field 'hand'" in message
    assert all(name in message for name in Rules.model_fields)


def test_rules_do_not_change():
    with pytest.raises(ValidationError):
        VARIANTS["auction_pitch"].target = 5


# Named variants


def test_the_defaults_are_those_of_an_independent_table():
    assert Rules().to_dict() == random_rules.DEFAULTS
    assert list(Rules.model_fields) == list(random_rules.DEFAULTS)


def test_the_variants_are_those_of_an_independent_table():
    assert {name: rules.to_dict() for name, rules in VARIANTS.items()} == random_rules.named_variants()


@pytest.mark.parametrize("name", random_rules.optional_variants())
def test_what_the_rulebook_lets_vary_is_accepted(name: str):
    fields = random_rules.optional_variants()[name]
    assert Rules.from_dict(fields).to_dict() == fields


def test_variant_lays_fields_over_a_named_one():
    rules = variant("six_hand", target=11)
    assert rules.to_dict() == VARIANTS["six_hand"].to_dict() | {"target": 11}
    assert variant("six_hand") == VARIANTS["six_hand"]


@pytest.mark.parametrize(("name", "sides"), [("cutthroat", 4), ("high_low_jack", 2)])
def test_variant_fits_the_sides_to_the_players_of_some(name: str, sides: int):
    assert variant(name, players=4).sides == sides
    assert variant(name, players=6).sides == 6
    assert variant(name, players=6, sides=2).sides == 2


def test_an_unknown_variant_or_field_lists_what_there_is():
    with pytest.raises(ValueError, match="no variant 'whist'") as error:
        variant("whist")
    assert all(name in str(error.value) for name in VARIANTS)
    with pytest.raises(ValueError, match="no field 'aim'") as error:
        variant("six_hand", aim=11)
    assert "target" in str(error.value)


# Round trips


@pytest.mark.parametrize("name", VARIANTS)
def test_rules_come_back_from_their_dict_and_from_json(name: str):
    rules = VARIANTS[name]
    fields = json.loads(json.dumps(rules.to_dict()))
    assert list(fields) == list(Rules.model_fields)
    assert Rules.from_dict(fields) == rules
    assert Rules.from_dict(fields).to_dict() == fields


@pytest.mark.parametrize("name", VARIANTS)
def test_rules_are_copied_pickled_and_hashed_by_value(name: str):
    rules = VARIANTS[name]
    for other in (copy.copy(rules), copy.deepcopy(rules), pickle.loads(pickle.dumps(rules)), rules.replace()):
        assert other == rules
        assert hash(other) == hash(rules)
        assert other.to_dict() == rules.to_dict()


def test_the_order_of_items_does_not_matter():
    first, second = Rules(items={"low": 1, "high": 2}), Rules(items={"high": 2, "low": 1})
    assert first == second
    assert hash(first) == hash(second)
    assert list(first.items) == [item for item in ITEMS if item in ("high", "low")]


def test_all_variants_differ():
    assert len(set(VARIANTS.values())) == len(VARIANTS)


def test_a_dict_of_some_fields_has_the_defaults_for_the_rest():
    assert Rules.from_dict({"target": 9}) == Rules(target=9)


@pytest.mark.parametrize("fields", [None, 3, "rules", ["players"], {1: 2}, {"players": 4, None: 1}])
def test_what_is_no_dict_of_fields_is_refused(fields: Any):
    with pytest.raises(RulesError, match="mapping of field names"):
        Rules.from_dict(fields)


def test_replace_checks_like_a_new_object():
    with pytest.raises(RulesError, match="play_size=6, hand_size=5"):
        VARIANTS["auction_pitch"].replace(hand_size=5)


def test_the_schema_has_every_field_with_its_default():
    schema = Rules.model_json_schema()
    assert list(schema["properties"]) == list(Rules.model_fields)
    assert schema["additionalProperties"] is False
    defaults = {name: field["default"] for name, field in schema["properties"].items()}
    assert json.loads(json.dumps(defaults)) == random_rules.DEFAULTS
    assert schema["properties"]["players"] == schema["properties"]["players"] | {"minimum": 2, "maximum": 8}
    assert schema["properties"]["follow"]["enum"] == random_rules.CHOICES["follow"]


# House rules from files


def write(folder: Path, text: str | bytes, name: str = "house.toml") -> Path:
    """Writes a file and returns its path."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_is_a_base_and_fields(tmp_path: Path):
    path = write(tmp_path, 'base = "six_hand"\ntarget = 11\nbids = [1, 2]\nitems = { high = 2, low = 1 }\n')
    expected = variant("six_hand", target=11, bids=(1, 2), items={"high": 2, "low": 1})
    assert load_rules(path) == load_rules(str(path)) == expected


def test_a_file_without_a_base_changes_auction_pitch(tmp_path: Path):
    assert load_rules(write(tmp_path, "target = 11")) == variant("auction_pitch", target=11)
    assert load_rules(write(tmp_path, "")) == VARIANTS["auction_pitch"]


def test_a_file_is_taken_where_a_name_is(tmp_path: Path):
    path = write(tmp_path, 'base = "cutthroat"\nplayers = 5')
    assert Game(path, seed=1).rules == Game(str(path), seed=1).rules == variant("cutthroat", players=5)


def test_names_and_rules_load_as_themselves():
    assert load_rules("fish") == VARIANTS["fish"]
    assert load_rules(VARIANTS["fish"]) is VARIANTS["fish"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("aim = 11", "no field 'aim'"),
        ('base = "whist"', "no variant 'whist'"),
        ("base = 7", "no variant 7"),
        ("base = [1]", r"no variant \[1\]"),
        ("base = { a = 1 }", "no variant"),
        ("target = 0", "target=0"),
        ("hand_size = 5", "play_size=6, hand_size=5"),
        ("name = 1", "no field 'name'"),
        ("[rules]\ntarget = 11", "no field 'rules'"),
        ("target = 1979-05-27", "target"),
        ("target = nan", "target=nan"),
        ("target", "not TOML"),
        ("target = 1\ntarget = 2", "not TOML"),
        (b"\xff\xfe\x00", "not TOML"),
    ],
)
def test_a_bad_file_is_refused_with_one_line_that_names_it(tmp_path: Path, text: str | bytes, message: str):
    path = write(tmp_path, text)
    with pytest.raises(RulesError, match=message) as error:
        load_rules(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_file_a_folder_and_another_suffix_are_refused(tmp_path: Path):
    with pytest.raises(RulesError, match=r"gone\.toml: No such file"):
        load_rules(tmp_path / "gone.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(RulesError, match=r"folder\.toml"):
        load_rules(tmp_path / "folder.toml")
    with pytest.raises(RulesError, match=r"must end in \.toml"):
        load_rules(write(tmp_path, "", "house.json"))


@pytest.mark.parametrize(
    "rules", [None, 3, {"players": 4}, ["fish"], b"fish", "", "Fish", "\0.toml", "a" * 5000 + ".toml"]
)
def test_what_names_no_rules_is_refused(rules: Any):
    with pytest.raises(RulesError):
        load_rules(rules)


@pytest.mark.parametrize("path", sorted((Path(__file__).parent.parent / "configs").glob("house*.toml")), ids=str)
def test_the_example_of_house_rules_loads(path: Path):
    assert load_rules(path) == variant(
        "auction_pitch",
        jokers=2,
        items={"high": 1, "low": 1, "jack": 1, "joker": 1, "game": 1},
        bids=(2, 3, 4, 5, 6),
        dealer_may_steal=False,
        low_to="holder",
        target=15,
        out="first_to_target",
    )


# Agreement with the independent reading


def mutated(rng: random.Random) -> dict[str, Any]:
    """Returns the fields of valid rules, most of them with some fields redrawn in range, or just out of it."""
    rules = random_rules.random_rules(rng)
    for name in rng.sample(list(rules), rng.choice([0, 1, 1, 2, 3, 6])):
        rules[name] = random_rules.random_field(name, rng) if rng.random() < 0.8 else wrong_value(name, rng)
    if rng.random() < 0.02:
        rules["unknown"] = 1
    return rules


def wrong_value(name: str, rng: random.Random) -> Any:
    """Returns a value that may be out of range or of another type."""
    if name in random_rules.LEAST_AND_MOST:
        least, most = random_rules.LEAST_AND_MOST[name]
        return rng.choice([least - 1, (most or 60) + 1, float(least), True, str(least), None])
    if name == "bids":
        return rng.choice([[], [16], [3, 2], [2, 2], [-1], [True], "23", [2.0]])
    if name == "items":
        return rng.choice([{}, {"high": 0}, {"high": 10}, {"king": 1}, {"high": 1.0}, ["high"]])
    return rng.choice(["", "HH", "AA", "T9", "x", 1, True, None])


def test_rules_accept_just_what_an_independent_reading_accepts():
    rng = random.Random(24)
    num_valid = num_refused = 0
    for _ in range(6000):
        fields = mutated(rng)
        wrong = random_rules.problems(fields)
        if wrong:
            with pytest.raises(RulesError) as error:
                Rules.from_dict(fields)
            assert "\n" not in str(error.value)
            num_refused += 1
        else:
            assert Rules.from_dict(fields).to_dict() == fields
            num_valid += 1
    assert min(num_valid, num_refused) > 1000
