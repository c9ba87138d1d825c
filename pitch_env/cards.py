"""Cards and sets of cards as plain ints, and their names (rulebook 1.2).

card   int in 0..53, a face: 0–51 are ``2C … AC 2D … AD 2H … AH 2S … AS``, then the jokers ``X1`` and ``X2``
suit   int in 0..3, clubs, diamonds, hearts, spades
rank   int in 0..12, two low, ace high; jokers have neither suit nor rank
set    int, bit *c* stands for card *c*; two packs need a second set for the faces held twice
"""

from collections.abc import Iterable

SUITS = "CDHS"
"""Suit letters by suit id."""

RANKS = "23456789TJQKA"
"""Rank letters by rank id."""

NUM_SUITS = 4
NUM_RANKS = 13
NUM_FACES = 54

LOW_JOKER, HIGH_JOKER = 52, 53
TWO, THREE, FIVE, TEN, JACK, QUEEN, KING, ACE = 0, 1, 3, 8, 9, 10, 11, 12

NO_CARD = -1
NO_SUIT = -1

CARD_NAMES = (*(rank + suit for suit in SUITS for rank in RANKS), "X1", "X2")
"""Name of each card, by card id."""

JOKERS = 1 << LOW_JOKER | 1 << HIGH_JOKER
"""The set of both jokers."""

SUIT_CARDS = tuple(0x1FFF << NUM_RANKS * suit for suit in range(NUM_SUITS))
"""Set of the cards printed with each suit."""

_CARD_OF_NAME = {name: card for card, name in enumerate(CARD_NAMES)}


def card_of(suit: int, rank: int) -> int:
    """Returns the card of a suit id and a rank id."""
    return NUM_RANKS * suit + rank


def is_joker(card: int) -> bool:
    """Tells whether a card is one of the two jokers."""
    return card >= LOW_JOKER


def card_suit(card: int) -> int:
    """Returns the printed suit of a card, ``NO_SUIT`` for a joker."""
    return NO_SUIT if is_joker(card) else card // NUM_RANKS


def card_rank(card: int) -> int:
    """Returns the rank of a card that is not a joker."""
    return card % NUM_RANKS


def card_name(card: int) -> str:
    """Returns the name of a card, as in ``TH`` or ``X2``."""
    return CARD_NAMES[card]


def parse_card(name: str) -> int:
    """Returns the card of a name.

    Raises:
        ValueError: if there is no such card; case matters.
    """
    try:
        return _CARD_OF_NAME[name]
    except (KeyError, TypeError):
        raise ValueError(f"no card {name!r}: a card is a rank of {RANKS} and a suit of {SUITS}, or X1 or X2") from None


def parse_cards(names: str) -> list[int]:
    """Returns the cards of a text of names with spaces between; an empty text has none.

    Raises:
        ValueError: if it is no text or one of the names is no card.
    """
    if not isinstance(names, str):
        raise ValueError(f"cards are a text of names with spaces between, not {names!r}")
    return [parse_card(name) for name in names.split()]


def card_names(cards: Iterable[int]) -> str:
    """Returns the names of cards, in their order, with spaces between."""
    return " ".join(CARD_NAMES[card] for card in cards)


def set_of(cards: Iterable[int]) -> int:
    """Returns the set of cards; a card given twice is in it once."""
    bits = 0
    for card in cards:
        bits |= 1 << card
    return bits


def cards_in(*sets: int) -> list[int]:
    """Returns the cards of one or more sets, ascending; a card of two sets stands twice."""
    return sorted(card for bits in sets for card in range(NUM_FACES) if int(bits) >> card & 1)
