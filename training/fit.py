"""Fits the weights of ``expert``, per variant: ``python -m training.fit [VARIANT …]`` (all without one).

A coordinate search: each weight in turn is moved and stays where the margin over ``rule`` in a duplicate match is
largest. The deals of the search are not those of any evaluation with a small seed.
"""

import json
import logging
import sys

from agents.expert import MODEL, expert_of, fitted_weights, weights_of
from agents.maxims import PLAY_WEIGHTS
from pitch_env.agent import make_agent
from pitch_env.rules import VARIANTS
from training.config import write_text
from training.evaluate import play_match

DEALS = 4_000
"""Deals of a match."""

SEED = 90_210
"""Of the deals of the search."""

SHARES = (0.0, 0.5, 1.5)
"""Shares of a weight of the play that are tried."""

STEPS = (-0.8, -0.3, 0.3, 0.8)
"""Moves of a weight of the auction that are tried, in points of the base game."""

CALLS = ("open", "open_last", "over_opponent", "steal_opponent", "over_partner", "steal_partner", "jump")
"""Weights of the auction in the order of the search; ``out`` matters only in whole games."""

PLAY = tuple(PLAY_WEIGHTS)
"""Weights of the play."""


def margin(name: str, weights: dict[str, float], num_deals: int, seed: int) -> float:
    """Returns the points a deal of ``expert`` with some weights over ``rule``."""
    rules = VARIANTS[name]
    return play_match(rules, expert_of(rules, weights), make_agent("rule", rules), num_deals, seed).mean


def fit(name: str, num_deals: int = DEALS, seed: int = SEED) -> dict[str, float]:
    """Returns the weights of one variant after one more pass over all of them."""
    best = weights_of(VARIANTS[name])
    most = margin(name, best, num_deals, seed)
    for weight in CALLS + PLAY:
        start = best[weight]
        moves = [start + step for step in STEPS] if weight in CALLS else [start * share for share in SHARES]
        for moved in moves:
            tried = best | {weight: round(moved, 3)}
            reached = margin(name, tried, num_deals, seed)
            if reached > most:
                best, most = tried, reached
    logging.info("%s: %+.4f on the deals of the fit", name, most)
    return best


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    for variant in sys.argv[1:] or VARIANTS:
        model = fitted_weights() | {variant: fit(variant)}
        fitted_weights.cache_clear()
        write_text(MODEL, json.dumps(model, indent=1) + "\n")
