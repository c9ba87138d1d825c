"""Plays the same deals through ``Game`` and through the referee, and says where they differ."""

import random
from typing import Any

from pitch_env import Game, Rules
from tests.random_rules import named_variants, random_rules
from tests.referee import Referee, random_deal

PROPERTIES = ("seat", "phase", "trump", "pitcher", "high_bid")


def draw_rules(rng: random.Random) -> dict[str, Any]:
    """Returns a named variant one time in three, else any valid combination of options."""
    if rng.random() < 1 / 3:
        variants = named_variants()
        return variants[rng.choice(sorted(variants))]
    return random_rules(rng)


def draw_scores(rules: dict[str, Any], rng: random.Random) -> tuple[list[int], list[int]]:
    """Returns scores, most of them near the target, and debts that fit."""
    spread = rng.choice([0, 3, 30])
    top = rules["target"] if rng.random() < 0.7 else 0
    scores = [max(-9000, top - 2 + rng.randint(-spread, spread)) if spread else 0 for _ in range(rules["sides"])]
    return scores, [max(0, -score) + rng.choice([0, 0, 2]) for score in scores]


def differences(rules: dict[str, Any], rng: random.Random, num_deals: int = 3) -> str | None:
    """Plays up to ``num_deals`` deals of one game both ways; returns the first difference, None if there is none."""
    made = Rules.from_dict(rules)
    scores, debts = draw_scores(rules, rng)
    dealer: int | None = None
    for _ in range(num_deals):
        dealt = random_deal(rules, rng)
        if dealer is not None:
            dealt["dealer"] = dealer
        game = Game.from_deal(
            made,
            [" ".join(hand) for hand in dealt["hands"]],
            dealt["dealer"],
            scores,
            debts,
            [" ".join(pile) for pile in dealt["face_down"]],
            " ".join(dealt["widow"]),
            dealt["turn_up"] or "",
            " ".join(dealt["stock"]),
            seed=rng.getrandbits(60),
        )
        referee = Referee(rules, **{**dealt, "scores": scores, "debts": debts})
        found = play_both(game, referee, rng)
        if found is not None:
            return f"{found}\nrules {rules}\nrecord {game.record()}"
        if game.winner is not None:
            break
        scores, debts, dealer = game.scores, game.debts, (game.dealer + 1) % rules["players"]
    return None


def play_both(game: Game, referee: Referee, rng: random.Random) -> str | None:
    """Plays random legal actions through both; returns the first difference."""
    while True:
        for name in PROPERTIES:
            if getattr(game, name) != getattr(referee, name):
                return f"{name}: game {getattr(game, name)}, referee {getattr(referee, name)}"
        for seat in range(game.rules.players):
            if sorted(game.hand(seat).split()) != sorted(referee.hand(seat)):
                return f"hand of seat {seat}: game {game.hand(seat)}, referee {referee.hand(seat)}"
        legal = game.legal_names()
        if set(legal) != referee.legal_names() or len(legal) != len(set(legal)):
            return f"legal: game {legal}, referee {sorted(referee.legal_names())}"
        if game.seat is None:
            break
        action = rng.choice(legal)
        before = len(game.record()["reshuffles"])
        game.play(action)
        orders = [pile.split() for pile in game.record()["reshuffles"][before:]]
        referee.reshuffle = lambda cards, orders=orders: orders.pop(0) if orders else cards
        referee.play(action)
    assert game.deal_result is not None and referee.result is not None
    mine = game.deal_result.to_dict() | {"debts": game.debts}
    for name, value in mine.items():
        if referee.result[name] != value:
            return f"result {name}: game {value}, referee {referee.result[name]}"
    return None
