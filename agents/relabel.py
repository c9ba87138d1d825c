"""Suits relabelled for a network, trumps first, so that it need learn each thing only once.

A view is copied with its suits exchanged, encoded and given to the network; what the network chooses is mapped back.
The order is a function of the view alone: trumps first once they are known, then the own suits as dealt, longest
first. It tells the network nothing that the view does not.

order  (4,) array: the label of each printed suit
"""

from typing import Any

import numpy as np

from pitch_env.actions import FIRST_CALL, NAME_C, NAME_NT
from pitch_env.cards import JOKERS, LOW_JOKER, NUM_RANKS
from pitch_env.engine.jit import kernel, num_cards
from pitch_env.observation import encode
from pitch_env.rules import Rules

SUIT_MASK = (1 << NUM_RANKS) - 1
FIRST_NAME = NAME_C - FIRST_CALL
ANY_ORDER, COLOUR_PAIRS, FIXED, SPADES_APART = 0, 1, 2, 3


def relabelling(rules: Rules) -> int:
    """Returns how far the suits of some rules are alike.

    ``ANY_ORDER``; ``COLOUR_PAIRS`` where an off-jack ties suits of one colour together; ``SPADES_APART`` where spades
    have an item of their own; ``FIXED`` for both.
    """
    if "high_spade" in rules.items:
        return FIXED if rules.off_jack else SPADES_APART
    return COLOUR_PAIRS if rules.off_jack else ANY_ORDER


@kernel
def suit_order(v: Any, kind: int, order: Any) -> None:
    """Writes the label of each suit as a network sees a view; modifies ``order`` (4,)."""
    if kind == FIXED:
        for suit in range(4):
            order[suit] = suit
        return
    strength = np.empty(4, np.int64)
    for suit in range(4):
        cards = (v.dealt >> NUM_RANKS * suit) & SUIT_MASK
        twice = (v.dealt_dups >> NUM_RANKS * suit) & SUIT_MASK
        strength[suit] = ((num_cards(cards) + num_cards(twice)) << 13) | cards
        if suit == v.trump:
            strength[suit] += 1 << 30
    if kind == SPADES_APART:
        strength[3] = -1
    for suit in range(4):
        label = 0
        for other in range(4):
            if strength[other] > strength[suit] or (strength[other] == strength[suit] and other < suit):
                label += 1
        order[suit] = label
    if kind == COLOUR_PAIRS:
        pair_colours(order)


@kernel
def pair_colours(order: Any) -> None:
    """Gives the first suit's mate in colour the label 3, as clubs have spades; modifies ``order`` (4,)."""
    first = 0
    for suit in range(4):
        if order[suit] == 0:
            first = suit
    mate = 3 - first
    for suit in range(4):
        if suit not in (first, mate) and order[suit] > order[mate]:
            order[suit] -= 1
    order[mate] = 3


@kernel
def relabel_set(cards: int, order: Any) -> Any:
    """Returns a set of cards with its suits relabelled."""
    out = cards & JOKERS
    for suit in range(4):
        out |= ((cards >> NUM_RANKS * suit) & SUIT_MASK) << (NUM_RANKS * order[suit])
    return out


@kernel
def relabel_card(card: int, order: Any) -> Any:
    """Returns a card with its suit relabelled; a joker, or no card, is itself."""
    if card < 0 or card >= LOW_JOKER:
        return card
    suit = card // NUM_RANKS
    return card + NUM_RANKS * (order[suit] - suit)


@kernel
def relabel_suit(suit: int, order: Any) -> Any:
    """Returns the label of a suit; no suit and no-trump are themselves."""
    return order[suit] if 0 <= suit < 4 else suit


@kernel
def relabel_calls(calls: int, order: Any) -> Any:
    """Returns a set of calls with the names of suits relabelled."""
    out = calls & ~(0b1111 << FIRST_NAME)
    for suit in range(4):
        out |= ((calls >> (FIRST_NAME + suit)) & 1) << (FIRST_NAME + order[suit])
    return out


@kernel
def relabel_action(action: int, order: Any) -> Any:
    """Returns the relabelled action of an action."""
    if action < LOW_JOKER:
        return relabel_card(action, order)
    return NAME_C + order[action - NAME_C] if NAME_C <= action < NAME_NT else action


@kernel
def original_action(action: int, order: Any) -> Any:
    """Returns the action that a network means by one of its relabelled actions."""
    for suit in range(4):
        if action < LOW_JOKER and order[suit] == action // NUM_RANKS:
            return action + NUM_RANKS * (suit - order[suit])
        if NAME_C <= action < NAME_NT and order[suit] == action - NAME_C:
            return NAME_C + suit
    return action


@kernel
def relabel(v: Any, r: Any, order: Any, w: Any) -> None:
    """Relabels what an encoding reads of a view that was copied to ``w``; modifies ``w``."""
    w.pitched = relabel_card(v.pitched, order)
    w.trump = relabel_suit(v.trump, order)
    w.led = relabel_suit(v.led, order)
    w.reference = relabel_suit(v.reference, order)
    w.best = relabel_card(v.best, order)
    w.turn_up = relabel_card(v.turn_up, order)
    w.hand = relabel_set(v.hand, order)
    w.hand_dups = relabel_set(v.hand_dups, order)
    w.discards = relabel_set(v.discards, order)
    w.discard_dups = relabel_set(v.discard_dups, order)
    w.widow = relabel_set(v.widow, order)
    w.widow_dups = relabel_set(v.widow_dups, order)
    w.swapped = relabel_set(v.swapped, order)
    w.swapped_dups = relabel_set(v.swapped_dups, order)
    w.legal_cards = relabel_set(v.legal_cards, order)
    w.legal_calls = relabel_calls(v.legal_calls, order)
    for i in range(v.trick_start, v.num_plays):
        w.plays[i] = relabel_card(v.plays[i], order)
    for k in range(r.players):
        w.calls[k] = relabel_card(v.calls[k], order) if v.calls[k] < FIRST_CALL else v.calls[k]
        w.played[k] = relabel_set(v.played[k], order)
        w.played_dups[k] = relabel_set(v.played_dups[k], order)
        voids = v.voids[k] & 16
        for suit in range(4):
            voids |= ((v.voids[k] >> suit) & 1) << order[suit]
        w.voids[k] = voids
    for side in range(r.sides):
        w.taken[side] = relabel_set(v.taken[side], order)


@kernel
def hide_scores(w: Any) -> None:
    """Sets the scores of a view to zero, for a network that plays for points; modifies ``w``."""
    for side in range(8):
        w.scores[side] = 0
        w.debts[side] = 0


@kernel
def encode_one(v: Any, r: Any, m: Any, kind: int, sees_scores: bool, order: Any, relabelled: Any, obs: Any) -> None:
    """Encodes a view as a network sees it; modifies ``order`` (4,), ``relabelled`` (1,) VIEW and ``obs`` (F,)."""
    suit_order(v, kind, order)
    relabelled[0] = v
    relabel(v, r, order, relabelled[0])
    if not sees_scores:
        hide_scores(relabelled[0])
    encode(relabelled[0], m, obs)


@kernel
def encode_relabelled(
    views: Any, rules: Any, layout: Any, kind: int, sees_scores: bool, orders: Any, scratch: Any, obs: Any, legal: Any
) -> None:
    """Encodes N views as a network sees them.

    Modifies ``orders`` (N, 4) int8, ``scratch`` (1,) VIEW, ``obs`` (N, F) uint8, ``legal`` (N, 2) int64: the
    relabelled sets of legal cards and calls.
    """
    for i in range(len(views)):
        encode_one(views[i], rules[0], layout[0], kind, sees_scores, orders[i], scratch, obs[i])
        legal[i, 0] = scratch[0].legal_cards
        legal[i, 1] = scratch[0].legal_calls


@kernel
def relabel_actions(actions: Any, orders: Any) -> None:
    """Relabels N actions; modifies ``actions`` (N,)."""
    for i in range(len(actions)):
        actions[i] = relabel_action(actions[i], orders[i])


@kernel
def original_actions(actions: Any, orders: Any) -> None:
    """Maps N relabelled actions back; modifies ``actions`` (N,)."""
    for i in range(len(actions)):
        actions[i] = original_action(actions[i], orders[i])
