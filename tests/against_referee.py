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


def draw_action(legal: list[str], rng: random.Random) -> str:
    """Returns a random action; bids are low and smudges few, so that all phases are met and some bids are made."""
    luck = rng.random()
    bids = [name for name in legal if name.startswith("bid ")]
    if bids and luck < 0.4:
        return bids[0]
    if "pass" in legal and luck < 0.8:
        return "pass"
    return rng.choice(legal)


def differences(rules: dict[str, Any], rng: random.Random, num_deals: int = 3) -> tuple[int, str | None]:
    """Plays up to ``num_deals`` deals of one game both ways.

    The first deal is the referee's, those after it are the game's own; scores, debts and dealer pass from deal to deal
    on both sides.

    Returns:
        The number of deals played, and the first difference, None if there is none.
    """
    scores, debts = draw_scores(rules, rng)
    dealt = random_deal(rules, rng)
    game = Game.from_deal(
        Rules.from_dict(rules),
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
    for number in range(1, num_deals + 1):
        found = play_both(game, referee, rng)
        if found is not None:
            return number, f"{found}\nrules {rules}\nrecord {game.record()}"
        if game.winner is not None or number == num_deals:
            break
        game.next_deal()
        dealer = (referee.dealer + 1) % rules["players"]
        referee = Referee(rules, **piles(game), dealer=dealer, scores=referee.scores, debts=referee.debts)
    return number, None


def piles(game: Game) -> dict[str, Any]:
    """Returns the cards of a deal, as the record has them, as arguments for ``Referee``."""
    record = game.record()
    return {
        "hands": [hand.split() for hand in record["hands"]],
        "face_down": [pile.split() for pile in record["face_down"]],
        "widow": record["widow"].split(),
        "turn_up": record["turn_up"] or None,
        "stock": record["stock"].split(),
    }


def play_both(game: Game, referee: Referee, rng: random.Random) -> str | None:
    """Plays random legal actions through both to the end of the deal; returns the first difference."""
    phase = None
    while True:
        found = compare_position(game, referee, all_hands=game.phase != phase)
        if found is not None:
            return found
        if game.seat is None:
            return compare_results(game, referee)
        phase = game.phase
        play_one_action(game, referee, draw_action(game.legal_names(), rng))


def compare_position(game: Game, referee: Referee, all_hands: bool) -> str | None:
    """Compares what may be seen of a position, and what may be done; hands of seats that wait if asked."""
    for name in PROPERTIES:
        if getattr(game, name) != getattr(referee, name):
            return f"{name}: game {getattr(game, name)}, referee {getattr(referee, name)}"
    for seat in range(game.rules.players) if all_hands else [game.seat]:
        if sorted(game.hand(seat).split()) != sorted(referee.hand(seat)):
            return f"hand of seat {seat}: game {game.hand(seat)}, referee {referee.hand(seat)}"
    legal = game.legal_names()
    if set(legal) != referee.legal_names() or len(legal) != len(set(legal)):
        return f"legal: game {legal}, referee {sorted(referee.legal_names())}"
    return None


def play_one_action(game: Game, referee: Referee, action: str) -> None:
    """Plays an action through both; the referee is told in which order the game reshuffled."""
    orders: list[list[str]] = []
    if game.phase in ("naming", "exchange"):  # naming starts the exchange, whose forced discards are no turns (5.2)
        before = int(game.state()["num_reshuffles"])
        game.play(action)
        if int(game.state()["num_reshuffles"]) > before:
            orders = [pile.split() for pile in game.record()["reshuffles"][before:]]
    else:
        game.play(action)
    referee.reshuffle = lambda cards: orders.pop(0) if orders else cards
    referee.play(action)


def compare_results(game: Game, referee: Referee) -> str | None:
    """Compares the results of a finished deal, all fields."""
    assert game.deal_result is not None
    assert referee.result is not None
    mine = game.deal_result.to_dict() | {"debts": game.debts}
    for name, value in mine.items():
        if referee.result[name] != value:
            return f"result {name}: game {value}, referee {referee.result[name]}"
    if set(mine) != set(referee.result):
        return f"result: game has {sorted(mine)}, referee {sorted(referee.result)}"
    return None
