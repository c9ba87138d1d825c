"""Cards and sets of cards: round trips over all values, and written-out names."""

import pytest

from pitch_env import cards
from pitch_env.cards import (
    CARD_NAMES,
    JOKERS,
    NO_SUIT,
    NUM_FACES,
    NUM_RANKS,
    NUM_SUITS,
    RANKS,
    SUIT_CARDS,
    SUITS,
    card_name,
    card_names,
    card_of,
    card_rank,
    card_suit,
    cards_in,
    is_joker,
    parse_card,
    parse_cards,
    set_of,
)

ALL_CARDS = range(NUM_FACES)


@pytest.mark.parametrize("card", ALL_CARDS)
def test_a_card_and_its_name(card: int):
    assert parse_card(card_name(card)) == card


@pytest.mark.parametrize("card", ALL_CARDS)
def test_a_card_and_its_suit_and_rank(card: int):
    if is_joker(card):
        assert card_suit(card) == NO_SUIT
    else:
        assert card_of(card_suit(card), card_rank(card)) == card
        assert card_name(card) == RANKS[card_rank(card)] + SUITS[card_suit(card)]


@pytest.mark.parametrize(
    ("name", "card"),
    [
        ("2C", 0),
        ("AC", 12),
        ("2D", 13),
        ("TD", 21),
        ("2H", 26),
        ("QH", 36),
        ("2S", 39),
        ("AS", 51),
        ("X1", 52),
        ("X2", 53),
    ],
)
def test_written_out_names(name: str, card: int):
    assert parse_card(name) == card
    assert card_name(card) == name


def test_the_ranks_have_their_names():
    named = {"TWO": "2", "THREE": "3", "FIVE": "5", "TEN": "T", "JACK": "J", "QUEEN": "Q", "KING": "K", "ACE": "A"}
    assert {name: RANKS[getattr(cards, name)] for name in named} == named


def test_there_are_54_different_names():
    assert len(set(CARD_NAMES)) == NUM_FACES == NUM_SUITS * NUM_RANKS + 2


@pytest.mark.parametrize(
    "name", ["", "A", "1H", "10H", "th", "Th", "HT", "X0", "X3", "AH ", " AH", "AH KH", None, 7, ["AH"]]
)
def test_what_is_no_card(name: object):
    with pytest.raises(ValueError, match="no card"):
        parse_card(name)


def test_a_text_of_cards_keeps_their_order():
    assert parse_cards("X2 2C AS 2C") == [53, 0, 51, 0]
    assert card_names([53, 0, 51, 0]) == "X2 2C AS 2C"
    assert parse_cards("") == parse_cards("  ") == []
    assert card_names([]) == ""
    assert parse_cards(card_names(ALL_CARDS)) == list(ALL_CARDS)


@pytest.mark.parametrize("names", ["AH 1H", "AH,KH", None, 5, ["AH", "KH"], b"AH"])
def test_what_is_no_text_of_cards(names: object):
    with pytest.raises(ValueError, match="card"):
        parse_cards(names)


@pytest.mark.parametrize("card", ALL_CARDS)
def test_a_set_of_one_card_is_its_bit(card: int):
    assert set_of([card]) == 1 << card
    assert cards_in(1 << card) == [card]


def test_a_set_and_its_cards():
    assert cards_in(set_of([53, 0, 51])) == [0, 51, 53]
    assert set_of([4, 4]) == set_of([4])
    assert cards_in(0) == []
    assert cards_in(set_of(ALL_CARDS)) == list(ALL_CARDS)


def test_a_card_of_two_sets_stands_twice():
    assert cards_in(set_of([1, 2]), set_of([2])) == [1, 2, 2]


def test_the_suits_and_the_jokers_part_the_cards():
    assert [card_names(cards_in(suit))[:5] for suit in SUIT_CARDS] == ["2C 3C", "2D 3D", "2H 3H", "2S 3S"]
    assert cards_in(*SUIT_CARDS, JOKERS) == list(ALL_CARDS)
    assert card_names(cards_in(JOKERS)) == "X1 X2"
