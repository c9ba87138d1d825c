"""How ``expert`` plays: the maxims of ``rule`` with weights of its own, and its own auction.

It weighs every legal bid in every suit, not the least bid in one, and asks of it what its place in the auction wants.
The weights are fitted per variant by ``training/fit.py`` (``agents/models/expert.json``).

v  the view of the seat to act; r the tables of the rules; n ``NOTES``; w ``WEIGHTS`` in order
"""

import json
from functools import lru_cache
from pathlib import Path

import numpy as np

from agents.maxims import (
    BID_CALLS,
    FIRST_BID,
    LEAST,
    PASS_CALL,
    PLAY_WEIGHTS,
    SMUDGE_CALL,
    best_suit,
    bid_value,
    follow_card,
    is_slam,
    note_rules,
    opening_lead,
    rule_action,
    rule_call,
)  # fmt: skip
from agents.scripted import ScriptedAgent
from pitch_env.actions import BID_0, PASS, SMUDGE
from pitch_env.agent import refuse_argument
from pitch_env.cards import NO_CARD, NO_SUIT
from pitch_env.engine.jit import ONE, first_card, kernel
from pitch_env.engine.state import AUCTION, NO_BID, PLAY, SMUDGE_BID
from pitch_env.rules import Rules, name_of

MODEL = Path(__file__).parent / "models" / "expert.json"
"""Variant → weight → number, as fitted."""

WEIGHTS = {
    "open": -0.55,  # least worth of a bid when nobody has bid
    "open_last": -0.55,  # the same with only the dealer to come
    "over_partner": 0.9,  # over the partner's bid
    "over_opponent": -0.1,  # over an opponent's
    "steal_partner": 0.9,  # to the dealer, from his partner
    "steal_opponent": -0.1,  # to the dealer, from an opponent
    "jump": -0.3,  # worth of each bid that is skipped
    "out": 0.3,  # worth of a bid that, if made, wins the game; and of keeping an opponent from one
    **PLAY_WEIGHTS,
}
"""Weights and what they are before they are fitted, calls in points of the base game: nearly ``rule``."""

OPEN, OPEN_LAST, OVER_PARTNER, OVER_OPPONENT, STEAL_PARTNER, STEAL_OPPONENT, JUMP, OUT = range(8)
FIRST_OF_PLAY = len(WEIGHTS) - len(PLAY_WEIGHTS)


@lru_cache
def fitted_weights() -> dict[str, dict[str, float]]:
    """Returns the weights of each variant that has been fitted."""
    model: dict[str, dict[str, float]] = json.loads(MODEL.read_text(encoding="utf-8"))
    return model


def weights_of(rules: Rules) -> dict[str, float]:
    """Returns the weights for some rules: those of the variant that they are, or those before any fit."""
    return WEIGHTS | fitted_weights().get(name_of(rules) or "", {})


def expert_of(rules: Rules, weights: dict[str, float]) -> ScriptedAgent:
    """Returns ``expert`` with given weights, one for each of ``WEIGHTS``."""
    return ScriptedAgent(rules, expert_batch, note_rules(rules), np.array([weights[name] for name in WEIGHTS]))


def expert_agent(rules: Rules, argument: str | None) -> ScriptedAgent:
    """Makes ``expert``.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("expert", argument)
    return expert_of(rules, weights_of(rules))


@kernel
def wanted(v, r, w):
    """Returns what a bid must be worth more than, in points of the base game."""
    if v.high_bid == NO_BID:
        return w[OPEN_LAST] if v.dealer == 1 else w[OPEN]
    is_partner = v.pitcher % r.sides == 0
    if v.dealer == 0:
        least = w[STEAL_PARTNER] if is_partner else w[STEAL_OPPONENT]
    else:
        least = w[OVER_PARTNER] if is_partner else w[OVER_OPPONENT]
    if v.scores[v.pitcher % r.sides] + v.high_bid >= r.target:
        least += w[OUT] if is_partner else -w[OUT]
    return least


@kernel
def suit_to_pitch(v, bid, r, n):
    """Returns the suit in which a bid is worth most."""
    if 0 < bid < SMUDGE_BID:
        best = NO_SUIT
        best_value = LEAST
        for t in range(4):
            if r.suit_cards[t, t] & v.hand:
                value = bid_value(v.hand, v.hand_dups, t, bid, r, n)
                if value > best_value:
                    best = t
                    best_value = value
        return best
    return best_suit(v.hand, v.hand_dups, r.suit_calls, r, n)


@kernel
def expert_call(v, r, n, w):
    """Returns a call, or the card to pitch."""
    numbers = v.legal_calls & BID_CALLS & ~(ONE << FIRST_BID)
    t = best_suit(v.hand, v.hand_dups, r.suit_calls, r, n)
    if not numbers or not v.legal_calls & PASS_CALL:
        return rule_call(v, r, n)
    if v.legal_calls & SMUDGE_CALL and is_slam(v.hand, v.hand_dups, t, r, n):
        return SMUDGE
    best = PASS
    best_value = wanted(v, r, w) * n.scale
    num_skipped = 0
    least_bid = BID_0 + first_card(numbers) - FIRST_BID
    while numbers:
        bid = first_card(numbers) - FIRST_BID
        numbers &= numbers - 1
        value = LEAST
        for suit in range(4):
            if r.suit_cards[suit, suit] & v.hand:
                value = max(value, bid_value(v.hand, v.hand_dups, suit, bid, r, n))
        value += num_skipped * w[JUMP]
        if v.scores[0] + bid >= r.target:  # 9.1
            value += w[OUT] * n.scale
        if value > best_value:
            best = BID_0 + bid
            best_value = value
        num_skipped += 1
    # 3.1  Nobody calls after the dealer: the least number takes the bid and risks least.
    if v.dealer == 0 and best != PASS:
        return least_bid
    return best


@kernel
def expert_action(v, r, n, w):
    """Returns what ``expert`` does."""
    if v.phase == AUCTION:
        return expert_call(v, r, n, w)
    if v.phase == PLAY and v.num_plays == 0 and v.trump == NO_SUIT and v.legal_cards:  # 4.1
        card = opening_lead(v.legal_cards, suit_to_pitch(v, v.high_bid, r, n), r, n)
        if card != NO_CARD:
            return card
    ducks = v.high_bid == 0 and v.pitcher % r.sides == 0  # 8.3
    if v.phase == PLAY and v.led != NO_SUIT and v.legal_cards and not ducks:
        return follow_card(v, r, n, w[FIRST_OF_PLAY:])
    return rule_action(v, r, n)


@kernel
def expert_batch(views, tables, notes, weights, actions):
    """Writes what ``expert`` does in each of N views; modifies ``actions`` (N,) int64."""
    for i in range(len(views)):
        actions[i] = expert_action(views[i], tables[0], notes[0], weights)
