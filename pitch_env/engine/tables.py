"""What the kernels read of the rules: numbers, sets and lookup tables, compiled once from a ``Rules``.

Axis letters: U trump (0–3, 4 no-trump), L suit led (0–3, 4 jokers under no-trump), C cards (54).
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import BID_0, FIRST_CALL
from pitch_env.cards import (
    ACE,
    CARD_NAMES,
    FIVE,
    HIGH_JOKER,
    JACK,
    JOKERS,
    LOW_JOKER,
    NUM_FACES,
    NUM_RANKS,
    RANKS,
    SUIT_CARDS,
    SUITS,
    TEN,
    THREE,
    TWO,
    card_of,
    card_rank,
    card_suit,
    is_joker,
    parse_card,
    set_of,
)  # fmt: skip
from pitch_env.engine.state import MAX_PACK, MAX_SEATS, NO_TRUMP, NUM_ITEMS, record_type
from pitch_env.rules import ITEMS, Rules

HIGH, LOW, JACK_ITEM, OFF_JACK, ACE_ITEM, TEN_ITEM, THREE_ITEM, FIVE_ITEM, JOKER, TWO_ITEM, HIGH_SPADE, GAME = range(12)

LEAD_TRUMP, LEAD_ANY, LEAD_PLAIN = 0, 1, 2
EXCHANGE_NONE, EXCHANGE_DRAW, EXCHANGE_DISCARD, EXCHANGE_REFILL = range(4)
WIDOW_DEAD, WIDOW_TO_PITCHER, WIDOW_AFTER_FIRST_TRICK = range(3)
MADE_SCORES, MADE_ADVANCES, MADE_WINS = range(3)
FAILED_SET, FAILED_BECOMES, FAILED_LOSES = range(3)
OUT_BID_AND_MAKE, OUT_FIRST, OUT_MADE_OR_OTHER_SET = range(3)

NO_FACE = -1
MAX_TRUMPS = 20

_NUMBERS = [
    "players", "sides", "hand_size", "deal_packet", "face_down_size", "widow_size", "turn_up", "redeal_one_suit_hand",
    "decks", "dealer_may_steal", "dealer_may_steal_smudge", "dealer_must_bid", "pitch_in_auction", "smudge",
    "smudge_tricks", "smudge_after", "smudge_ends_auction", "named", "no_trump", "opening_lead",
    "first_trick_no_trump", "exchange", "play_size", "widow_to", "leftover_to", "free", "may_ruff", "must_trump",
    "high_to_winner", "low_to_winner", "jack_only_bidder", "transfer", "transfer_keeps_own", "smudge_value",
    "smudge_made", "smudge_failed", "target", "out", "concede", "pack_size", "num_dealt", "num_shuffled",
    "first_face_down", "first_widow", "first_stock", "lowest_suit", "num_tricks", "all_points",
]  # fmt: skip

TABLES = record_type(
    [(name, np.int64) for name in _NUMBERS]
    + [
        ("bid_calls", np.int64),  # set of calls: the bids of the rules
        ("suit_calls", np.int64),  # set of calls: naming each suit of the pack
        ("side_of", np.int64, (MAX_SEATS,)),
        ("pack", np.int8, (MAX_PACK,)),  # every card, all decks
        ("deal_to", np.int16, (MAX_PACK,)),  # position in the deck of the n-th card off the pack (2.1)
        ("suit_of", np.int8, (5, NUM_FACES)),  # [U, C]; trumps have the trump's id
        ("suit_cards", np.int64, (5, 5)),  # [U, L] set of the cards of a suit
        ("power", np.int8, (5, 5, NUM_FACES)),  # [U, L, C] strength in a trick (6.4)
        ("trump_order", np.int8, (5, MAX_TRUMPS)),  # [U] trumps of the pack, high to low, then NO_FACE (1.5)
        ("plain_order", np.int8, (4, 13)),  # cards of a printed suit, high to low
        ("fixed_cards", np.int64, (5,)),  # [U] trumps with a fixed-card item (5.2)
        ("item_cards", np.int8, (5, NUM_ITEMS)),  # [U] face of each fixed-card item, NO_FACE for the others
        ("values", np.int64, (NUM_ITEMS,)),  # points of each item, 0 where it is not in ``items``
        ("game_values", np.int8, (NUM_FACES,)),  # what a card counts toward Game (7.4)
    ],
)
"""The rules as the kernels read them: one record in an array of length 1."""

SUIT_SETS = np.array(SUIT_CARDS, np.int64)
"""Set of the cards printed with each suit."""

PRINTED_SUIT = np.array([card_suit(card) for card in range(NUM_FACES)], np.int8)
"""Printed suit of each card, NO_SUIT for jokers."""

_GAME_VALUES = {"T": 10, "A": 4, "K": 3, "Q": 2, "J": 1}
_ITEM_RANKS = {"jack": JACK, "ace": ACE, "ten": TEN, "three": THREE, "five": FIVE, "two": TWO}


def trump_order(rules: Rules, trump: int) -> list[int]:
    """Returns the trumps of the pack, high to low (1.4, 1.5); under no-trump, the jokers."""
    if trump == NO_TRUMP:
        faces = [HIGH_JOKER, LOW_JOKER]
    else:
        ranked = [card_of(trump, rank) for rank in reversed(range(NUM_RANKS))]
        after_jack = ranked.index(card_of(trump, JACK)) + 1
        off_jack = [card_of(3 - trump, JACK)] if rules.off_jack else []
        faces = [*ranked[:after_jack], *off_jack, HIGH_JOKER, LOW_JOKER, *ranked[after_jack:]]
    pack = set(pack_of(rules))
    return [face for face in faces if face in pack]


def pack_of(rules: Rules) -> list[int]:
    """Returns the cards of the pack in ascending order, all decks (1.3)."""
    suited = [parse_card(rank + suit) for suit in SUITS if suit in rules.suits for rank in RANKS if rank in rules.ranks]
    jokers = [HIGH_JOKER, LOW_JOKER][: rules.jokers]
    return sorted((suited + jokers) * rules.decks)


def deal_order(rules: Rules) -> list[int]:
    """Returns the position in the deck of each card off the pack (2.1): packets round the table from dealer's left.

    Positions are those of a deal whose seats are counted from dealer's left.
    """
    positions = []
    for start in range(0, rules.hand_size, rules.deal_packet):
        packet = range(start, min(start + rules.deal_packet, rules.hand_size))
        positions += [place * rules.hand_size + k for place in range(rules.players) for k in packet]
    return positions + list(range(len(positions), rules.pack_size))


@lru_cache(maxsize=256)
def compile_rules(rules: Rules) -> NDArray[np.void]:
    """Returns the tables of the rules: an array of ``TABLES`` of length 1, the same object for equal rules."""
    tables = np.zeros(1, TABLES)
    t: Any = tables[0]
    fields = rules.to_dict()
    for name in _NUMBERS:
        if name in fields and not isinstance(fields[name], str):
            t[name] = fields[name]
    t["dealer_must_bid"] = rules.all_pass == "dealer_must_bid"
    t["named"] = rules.trump_choice == "named"
    t["opening_lead"] = ("trump", "any", "plain").index(rules.opening_lead)
    t["exchange"] = ("none", "draw", "discard", "refill").index(rules.exchange)
    t["widow_to"] = ("dead", "pitcher", "pitcher_after_first_trick").index(rules.widow_to)
    t["leftover_to"] = rules.leftover_to == "pitcher"
    t["free"] = rules.follow == "free"
    t["may_ruff"] = rules.follow.startswith("follow_or_trump")
    t["must_trump"] = rules.follow.endswith("must_trump")
    t["high_to_winner"] = rules.high_to == "winner"
    t["low_to_winner"] = rules.low_to == "winner"
    t["transfer"] = rules.set_rule == "transfer"
    t["smudge_made"] = ("score", "advance", "win").index(rules.smudge_made)
    t["smudge_failed"] = ("set", "score_becomes", "lose").index(rules.smudge_failed)
    t["out"] = ("bid_and_make", "first_to_target", "made_or_other_set").index(rules.out)
    t["concede"] = rules.concede_without_trumps
    _compile_pack(rules, t)
    _compile_suits(rules, t)
    _compile_items(rules, t)
    return tables


def _compile_pack(rules: Rules, t: Any) -> None:
    pack = pack_of(rules)
    t["pack"][: len(pack)] = pack
    t["deal_to"][: len(pack)] = deal_order(rules)
    t["pack_size"] = rules.pack_size
    t["num_dealt"] = rules.num_dealt
    # A stock that nobody draws from need not be shuffled.
    t["num_shuffled"] = rules.pack_size if rules.exchange != "none" else rules.num_dealt
    t["first_face_down"] = rules.players * rules.hand_size
    t["first_widow"] = rules.players * (rules.hand_size + rules.face_down_size)
    t["first_stock"] = rules.num_dealt
    t["num_tricks"] = rules.num_tricks
    t["lowest_suit"] = min(SUITS.index(suit) for suit in rules.suits)
    t["bid_calls"] = sum(1 << BID_0 + bid - FIRST_CALL for bid in rules.bids)
    t["suit_calls"] = sum(1 << 18 + SUITS.index(suit) for suit in rules.suits)
    t["side_of"] = [seat % rules.sides for seat in range(MAX_SEATS)]


def _compile_suits(rules: Rules, t: Any) -> None:
    for trump in range(5):
        order = trump_order(rules, trump)
        t["trump_order"][trump] = NO_FACE
        t["trump_order"][trump, : len(order)] = order
        for card in range(NUM_FACES):
            t["suit_of"][trump, card] = trump if card in order or is_joker(card) else card_suit(card)
        for led in range(5):
            cards = [card for card in range(NUM_FACES) if t["suit_of"][trump, card] == led]
            t["suit_cards"][trump, led] = set_of(cards)
            t["power"][trump, led, cards] = [1 + (0 if is_joker(card) else card_rank(card)) for card in cards]
            t["power"][trump, led, order] = [50 + len(order) - place for place in range(len(order))]
    for suit in range(4):
        t["plain_order"][suit] = [card_of(suit, rank) for rank in reversed(range(NUM_RANKS))]


def _compile_items(rules: Rules, t: Any) -> None:
    t["values"] = [rules.items.get(name, 0) for name in ITEMS]  # type: ignore[call-overload]
    copies = {"joker": rules.jokers * rules.decks}
    t["all_points"] = sum(value * copies.get(name, 1) for name, value in rules.items.items())
    for trump in range(5):
        faces = dict.fromkeys(ITEMS, NO_FACE)
        if trump < NO_TRUMP:
            faces |= {name: card_of(trump, rank) for name, rank in _ITEM_RANKS.items()}
            faces["off_jack"] = card_of(3 - trump, JACK)
        t["item_cards"][trump] = list(faces.values())
        fixed = {face for name, face in faces.items() if name in rules.items and face != NO_FACE}
        t["fixed_cards"][trump] = set_of(fixed) | (JOKERS if "joker" in rules.items else 0)
    t["game_values"] = [0 if is_joker(card) else _GAME_VALUES.get(CARD_NAMES[card][0], 0) for card in range(NUM_FACES)]
