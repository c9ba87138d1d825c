"""Players that follow a script: ``random``, ``random_bidder``, ``greedy`` and ``rule``, for every variant.

Each is a kernel over N views, which reads off the tables of the rules what is played.

v  the view of the seat to act; r the tables of the rules; bits 62 random bits
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.maxims import (
    BID_CALLS,
    FIRST_BID,
    FIRST_NAME,
    PASS_CALL,
    RANK_OF,
    SUIT_CALLS,
    note_rules,
    num_trumps,
    rule_batch,
)  # fmt: skip
from pitch_env.actions import BID_0, BLIND, NAME_C, NAME_NT, PASS, STAND
from pitch_env.agent import refuse_argument
from pitch_env.cards import ACE, JACK, JOKERS, KING, NO_CARD, NO_SUIT, NUM_RANKS, THREE, TWO
from pitch_env.engine.jit import ONE, below, first_card, kernel
from pitch_env.engine.state import AUCTION, EXCHANGE, NAMING, WIDOW
from pitch_env.engine.step import nth_action, num_legal
from pitch_env.engine.tables import compile_rules
from pitch_env.rules import Rules


class RandomAgent:
    """An agent that draws its actions with a kernel ``(views, tables, bits, actions)``."""

    def __init__(self, rules: Rules, batch: Callable[..., None]) -> None:
        self._tables = compile_rules(rules)
        self._batch = batch

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        actions = np.empty(len(views), np.int64)
        self._batch(views, self._tables, rng.integers(1 << 62, size=len(views)), actions)
        return actions


class ScriptedAgent:
    """An agent that leaves nothing to chance, with a kernel ``(views, tables, *notes, actions)``."""

    def __init__(self, rules: Rules, batch: Callable[..., None], *notes: NDArray[np.void]) -> None:
        self._tables = compile_rules(rules)
        self._batch = batch
        self._notes = notes

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`); draws nothing from ``rng``."""
        actions = np.empty(len(views), np.int64)
        self._batch(views, self._tables, *self._notes, actions)
        return actions


def random_agent(rules: Rules, argument: str | None) -> RandomAgent:
    """Makes ``random``: uniform over all legal actions.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("random", argument)
    return RandomAgent(rules, random_batch)


def random_bidder_agent(rules: Rules, argument: str | None) -> RandomAgent:
    """Makes ``random_bidder``: calls and trumps of ``greedy``, all other actions uniform.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("random_bidder", argument)
    return RandomAgent(rules, random_bidder_batch)


def greedy_agent(rules: Rules, argument: str | None) -> ScriptedAgent:
    """Makes ``greedy``: bids on honours, wins every trick it can as cheaply as it can.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("greedy", argument)
    return ScriptedAgent(rules, greedy_batch)


def rule_agent(rules: Rules, argument: str | None) -> ScriptedAgent:
    """Makes ``rule``, the yardstick (:mod:`agents.maxims`).

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("rule", argument)
    return ScriptedAgent(rules, rule_batch, note_rules(rules))


# Random


@kernel
def random_action(cards, calls, bits):
    """Returns one of some cards and calls, all equally likely."""
    return nth_action(cards, calls, below(bits, num_legal(cards, calls)))


@kernel
def random_batch(views, tables, bits, actions):
    """Writes what ``random`` does in each of N views; modifies ``actions`` (N,) int64."""
    for i in range(len(views)):
        actions[i] = random_action(views[i].legal_cards, views[i].legal_calls, bits[i])


@kernel
def random_bidder_action(v, r, bits):
    """Returns what ``random_bidder`` does."""
    if v.phase == AUCTION:
        return greedy_call(v, r)
    if v.phase == NAMING:
        return greedy_name(v, r)
    cards = v.legal_cards
    if v.trump == NO_SUIT:  # 4.1  The lead makes the trumps on which it has bid.
        suit = greedy_suit(v, r, SUIT_CALLS)
        wanted = cards & r.suit_cards[suit, suit] & ~JOKERS
        cards = wanted if wanted else cards
    return random_action(cards, v.legal_calls, bits)


@kernel
def random_bidder_batch(views, tables, bits, actions):
    """Writes what ``random_bidder`` does in each of N views; modifies ``actions`` (N,) int64."""
    for i in range(len(views)):
        actions[i] = random_bidder_action(views[i], tables[0], bits[i])


# Greedy


@kernel
def greedy_level(v, t, r):
    """Returns what a suit is worth as trumps: 0, or a bid of 2, 3 or 4 in a game of four points."""
    hand = v.hand
    length = num_trumps(hand, v.hand_dups, t, r)
    # In short hands all cards are enough.
    two, three, four = min(2, r.hand_size), min(3, r.hand_size), min(4, r.hand_size)
    ace, king, jack = has_rank(hand, t, ACE), has_rank(hand, t, KING), has_rank(hand, t, JACK)
    deuce = has_rank(hand, t, TWO)
    if ace and jack and (deuce or has_rank(hand, t, THREE)) and length >= four:
        return 4
    if ace and length >= three and (jack or deuce):
        return 3
    return 2 if (ace and length >= two) or (king and length >= three) else 0


@kernel
def has_rank(hand, suit, rank):
    """Tells whether a hand has the card of a suit and a rank."""
    return (hand >> (NUM_RANKS * suit + rank)) & 1 != 0


@kernel
def greedy_suit(v, r, calls):
    """Returns the suit with most of 6·length + sum of ranks, of those that ``calls`` name; NO_SUIT if there is none."""
    best = NO_SUIT
    most = -1
    for t in range(4):
        if not calls & r.suit_calls & (ONE << (FIRST_NAME + t)):
            continue
        total = 6 * num_trumps(v.hand, v.hand_dups, t, r)
        total += sum_of_ranks(v.hand & r.suit_cards[t, t]) + sum_of_ranks(v.hand_dups & r.suit_cards[t, t])
        if total > most:
            best = t
            most = total
    return best


@kernel
def sum_of_ranks(cards):
    """Returns the sum of the ranks of a set of cards."""
    total = 0
    while cards:
        total += RANK_OF[first_card(cards)]
        cards &= cards - 1
    return total


@kernel
def greedy_call(v, r):
    """Returns a call, or the card to pitch: the least legal bid that is not above the best suit's level."""
    level = 0
    for t in range(4):
        level = max(level, greedy_level(v, t, r))
    # In a game of more points a level is a share of them.
    level = level * r.all_points // 4
    numbers = v.legal_calls & BID_CALLS
    if numbers:
        bid = first_card(numbers) - FIRST_BID
        must_bid = not v.legal_calls & PASS_CALL
        return BID_0 + bid if must_bid or bid <= level else PASS
    # 3.9  A pitch stands, and only a pitch takes it over.
    suit = greedy_suit(v, r, SUIT_CALLS)
    pitches = v.legal_cards & r.suit_cards[suit, suit] & ~JOKERS
    return highest(pitches) if pitches and level >= 4 else PASS


@kernel
def greedy_name(v, r):
    """Returns the name of trumps to call."""
    suit = greedy_suit(v, r, v.legal_calls)
    return NAME_NT if suit == NO_SUIT else NAME_C + suit


@kernel
def highest(cards):
    """Returns the card of highest rank of a set, the first of them."""
    best = first_card(cards)
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if RANK_OF[card] > RANK_OF[best]:
            best = card
    return best


@kernel
def lowest(cards):
    """Returns the card of lowest rank of a set, the first of them."""
    best = first_card(cards)
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if RANK_OF[card] < RANK_OF[best]:
            best = card
    return best


@kernel
def greedy_play(v, r):
    """Returns a card to play; blind only from an empty hand."""
    cards = v.legal_cards
    if not cards:
        return BLIND
    if v.led == NO_SUIT:
        if v.trump == NO_SUIT:  # 4.1
            suit = greedy_suit(v, r, SUIT_CALLS)
            pitches = cards & r.suit_cards[suit, suit] & ~JOKERS
            cards = pitches if pitches else cards
        return highest(cards)
    if v.best_seat % r.sides == 0:
        return lowest(cards)
    power = r.power[v.trump, v.led]
    best = NO_CARD
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if power[card] > power[v.best] and (best == NO_CARD or RANK_OF[card] < RANK_OF[best]):
            best = card
    return lowest(v.legal_cards) if best == NO_CARD else best


@kernel
def greedy_action(v, r):
    """Returns what ``greedy`` does."""
    if v.phase == AUCTION:
        return greedy_call(v, r)
    if v.phase == NAMING:
        return greedy_name(v, r)
    if v.phase == EXCHANGE or v.phase == WIDOW:
        return lowest(v.legal_cards) if v.legal_cards else STAND
    return greedy_play(v, r)


@kernel
def greedy_batch(views, tables, actions):
    """Writes what ``greedy`` does in each of N views; modifies ``actions`` (N,) int64."""
    for i in range(len(views)):
        actions[i] = greedy_action(views[i], tables[0])
