"""Rules in plain words: nothing that differs is left out."""

import pytest

from pitch_env.app.explain import CHAPTERS, VARIANT_COLUMNS, chapters, differences, explain, variant_rows
from pitch_env.rules import VARIANTS, Rules

# A value that differs for each field, and what else it takes for the value to be legal and to matter.
FLIPS = {
    "players": {"players": 6},
    "sides": {"sides": 4},
    "ranks": {"ranks": "6789TJQKA"},
    "suits": {"suits": "DHS"},
    "jokers": {"jokers": 1},
    "decks": {"decks": 2},
    "hand_size": {"hand_size": 9, "trump_choice": "named", "exchange": "discard"},
    "deal_packet": {"deal_packet": 2},
    "face_down_size": {"face_down_size": 2},
    "widow_size": {"widow_size": 3},
    "turn_up": {"turn_up": True},
    "redeal_one_suit_hand": {"redeal_one_suit_hand": True},
    "bids": {"bids": (2, 3, 4, 5)},
    "dealer_may_steal": {"dealer_may_steal": False},
    "dealer_may_steal_smudge": {"dealer_may_steal_smudge": False},
    "all_pass": {"all_pass": "void"},
    "pitch_in_auction": {"pitch_in_auction": True},
    "smudge": {"smudge": False},
    "smudge_tricks": {"smudge_tricks": False},
    "smudge_after": {"smudge_after": 3},
    "smudge_ends_auction": {"smudge_ends_auction": True},
    "trump_choice": {"trump_choice": "named"},
    "no_trump": {"no_trump": True, "trump_choice": "named"},
    "opening_lead": {"opening_lead": "plain", "trump_choice": "named"},
    "first_trick_no_trump": {"first_trick_no_trump": True, "opening_lead": "any", "trump_choice": "named"},
    "off_jack": {"off_jack": True},
    "exchange": {"exchange": "refill", "trump_choice": "named"},
    "play_size": {"play_size": 5, "exchange": "discard", "trump_choice": "named"},
    "widow_to": {"widow_to": "pitcher_after_first_trick", "widow_size": 2},
    "leftover_to": {"leftover_to": "pitcher", "exchange": "refill", "trump_choice": "named"},
    "follow": {"follow": "strict"},
    "items": {"items": {"high": 2, "low": 1}},
    "high_to": {"high_to": "winner"},
    "low_to": {"low_to": "holder"},
    "jack_only_bidder": {"jack_only_bidder": True},
    "set_rule": {"set_rule": "transfer"},
    "transfer_keeps_own": {"transfer_keeps_own": True, "set_rule": "transfer"},
    "smudge_value": {"smudge_value": 7},
    "smudge_made": {"smudge_made": "win"},
    "smudge_failed": {"smudge_failed": "lose"},
    "target": {"target": 11},
    "out": {"out": "first_to_target"},
    "count_down": {"count_down": True},
    "concede_without_trumps": {
        "concede_without_trumps": True, "items": {"high": 1, "low": 1, "jack": 1}, "smudge": False,
    },
}  # fmt: skip


def test_there_is_a_flip_for_each_field_of_the_rules():
    assert list(FLIPS) == list(Rules.model_fields)


@pytest.mark.parametrize("field", FLIPS)
def test_a_field_that_differs_is_named_among_the_differences_and_changes_the_course_of_a_deal(field):
    changed = Rules(**FLIPS[field])
    needed = {name: value for name, value in FLIPS[field].items() if name != field}
    try:
        same = Rules(**needed)
    except ValueError:  # the needed fields are not legal without it
        same = Rules()
    assert [line for line in differences(changed) if line.startswith(f"{field} = ")]
    assert not [line for line in differences(same) if line.startswith(f"{field} = ")]
    assert chapters(changed) != chapters(same)
    assert explain(changed) != explain(same)


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_differs_by_exactly_the_fields_that_differ(name):
    base, rules = VARIANTS["auction_pitch"].to_dict(), VARIANTS[name].to_dict()
    assert [line.split(" = ")[0] for line in differences(rules=VARIANTS[name])] == [
        field for field in base if base[field] != rules[field]
    ]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_chapter_is_told_in_order_and_every_sentence_cites_a_clause_or_counts(name):
    told = chapters(VARIANTS[name])
    titles = [title for title, _ in CHAPTERS]
    assert [title for title, _ in told] == titles
    sentences = [sentence for _, sentences in told for sentence in sentences]
    assert all(sentence.endswith(".") for sentence in sentences)
    assert len(set(sentences)) == len(sentences)


def test_every_field_has_a_sentence_of_its_own():
    keys = [key for _, chapter in CHAPTERS for key in chapter(Rules())]
    assert sorted(key for key in keys if key in Rules.model_fields) == sorted(Rules.model_fields)


def test_differences_stand_before_the_course_of_a_deal():
    text = explain(VARIANTS["nine_card"], "nine_card")
    assert text.startswith("nine_card: 4 in 2 sides, 21 points")
    assert text.index("count_down = true, not false") < text.index("The table and the pack")
    assert "The score shown is what is left to the target (9.4)." in text


def test_a_field_without_effect_is_named_but_not_told():
    rules = Rules(smudge=False, smudge_value=9)
    assert "smudge_value = 9, not 5: A smudge is worth 9 (8.5, 8.6). (of no effect here)" in differences(rules)
    assert "A smudge is worth" not in "".join(sentence for _, told in chapters(rules) for sentence in told)


def test_the_base_game_says_that_it_is():
    assert "This is the base game" in explain(Rules())


def test_the_list_has_a_row_for_each_variant():
    rows = variant_rows()
    assert [row[0] for row in rows] == list(VARIANTS)
    assert {len(row) for row in rows} == {len(VARIANT_COLUMNS)}
    assert rows[list(VARIANTS).index("six_hand")][1:6] == ("6", "3", "52", "8 to 6", "2-4")
