"""Fits ``expert`` from nothing: ``python -m training.fit [VARIANT …]``, all variants without one.

All weights are least squares over deals played out.

* What a suit is worth as trumps: a seat is made the pitcher, with some bid, and each of its suits made trumps in turn.
* What a bid or a card is worth: each that is legal at some decision is tried, and the deal played out after it. What
  a bid brings more than a pass, and a card more than the mean of all, is what their features are to tell.

In the first round all play as ``rule``, in each round after it as the round before has found, but for some sides that
go on as ``rule``: who fits only himself, or only one other, is easily taken advantage of. What it is worth to go out
is the best of a few values in whole games.

The entry of a variant in ``agents/models/expert.json`` starts from nothing and depends on nothing but the seed, so the
same command makes the same bytes.

g  ``Sampler``, what kernels work on; r, n, m, v, x, t as in ``agents.expert``
Axis letters: K rows of a table, F features. Sums are (K, F + 1, F): of products of two features, and in the last
line of features and points.
"""

import json
import logging
import sys
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.expert import (
    MODELS,
    MOST_FEATURES,
    SUIT_FEATURES,
    TABLES,
    best_lead,
    blind_features,
    call_features,
    cards_to_lead,
    expert_action,
    expert_of,
    fitted,
    follow_features,
    follow_row,
    lead_features,
    lead_row,
    model_of,
    place_of,
    suit_features,
    table_of,
)  # fmt: skip
from agents.maxims import (
    BID_CALLS,
    FIRST_BID,
    FIRST_NAME,
    PASS_CALL,
    note_rules,
    opening_lead,
    rule_action,
    unseen_cards,
)  # fmt: skip
from pitch_env.actions import BID_0, BLIND, NAME_C, PASS
from pitch_env.cards import JOKERS, NO_SUIT
from pitch_env.engine.jit import ONE, below, first_card, kernel, mix, num_cards
from pitch_env.engine.state import AUCTION, MAX_SEATS, NAMING, OVER, PLAY, STATE
from pitch_env.engine.step import apply, legal, nth_action, start
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import VARIANTS, Rules
from training.config import write_text
from training.evaluate import play_match
from training.selfplay import net_points, play_forced

SEED = 90_210
"""Of the deals of the fit."""

DEALS = 25_000
"""Deals of a round for suits, and again for bids and cards."""

DEALS_OF = {"auction_pitch": 100_000}
"""The same for some variants."""

ROUNDS = 6

KEEP = 0.5
"""Share of its sums that a round leaves to the next: less noise, and no turning in circles."""

RIDGE = 20.0
"""What keeps the weights of rare features small, as much as so many rows in which such a feature is 1."""

EIGHTHS_AS_RULE = 2
"""Eighths of the sides that play as ``rule`` after the first round."""

CALLS_TRIED, LEADS_TRIED, PLAYS_TRIED = 8, 8, 4
"""Sixteenths of the decisions at which all is tried: calls, leads, plays to a lead."""

CALLS_DRAWN, CARDS_DRAWN = 2, 1
"""Sixteenths of the calls and cards that a deal goes on with which are drawn at random."""

OUTS = (0.3, 0.7, 1.2, 2.0)
"""What it may be worth to go out, besides nothing, in points of the base game."""

GAMES = 800
"""Duplicate games for each of these."""

DRAW_STREAM, SIDE_STREAM, TRY_STREAM, CHANCE_STREAM = -40, -41, -42, -43
"""Streams of random numbers: seat and bid of a pitcher, sides that play as ``rule``, what is tried, drawn actions."""


class Sampler(NamedTuple):
    """What the kernels work on."""

    rules: NDArray[np.void]
    """(1,) tables of the rules."""
    notes: NDArray[np.void]
    """(1,) what ``rule`` notes of them."""
    model: NDArray[np.void]
    """(1,) the weights of the round before."""
    as_rule: NDArray[np.bool_]
    """(8,) sides that play as ``rule``."""
    states: NDArray[np.void]
    """(2,) a deal, and the copy of it that is played out."""
    views: NDArray[np.void]
    """(2,) of the decision at which all is tried, and scratch."""
    x: NDArray[np.float64]
    """(most F,) features."""
    rows: NDArray[np.float64]
    """(56, most F) features of all actions of a decision."""
    values: NDArray[np.float64]
    """(56,) what each brought."""


def sampler_of(rules: Rules, tables: dict[str, Any]) -> Sampler:
    """Returns a sampler of some rules with the weights of some tables."""
    return Sampler(
        compile_rules(rules), note_rules(rules), model_of(tables), np.zeros(MAX_SEATS, np.bool_), np.zeros(2, STATE),
        np.zeros(2, VIEW), np.zeros(MOST_FEATURES), np.zeros((56, MOST_FEATURES)), np.zeros(56),
    )  # fmt: skip


# Playing out


@kernel
def begin(g: Any, seed: int, deal: int, eighths: int) -> int:
    """Deals, and draws the sides that play as ``rule``; returns the deal's key. Modifies ``g``."""
    r = g.rules[0]
    start(g.states[0], r, seed, deal)
    key = mix(seed, deal)
    for side in range(r.sides):
        g.as_rule[side] = below(mix(mix(key, SIDE_STREAM), side), 8) < eighths
    return key


@kernel
def seat_action(g: Any, i: int) -> int:
    """Returns what the seat to act in a state does; modifies ``g``, the scratch view too."""
    r, s = g.rules[0], g.states[i]
    look(s, r, s.seat, g.views[1])
    if g.as_rule[r.side_of[s.seat]]:
        return rule_action(g.views[1], r, g.notes[0])
    return expert_action(g.views[1], r, g.notes[0], g.model[0], g.x)


@kernel
def play_out(g: Any, seat: int) -> float:
    """Plays the copy of the deal to its end; returns the points of a seat's side, less the others'. Modifies ``g``."""
    r, s = g.rules[0], g.states[1]
    play_forced(s, r)
    while s.phase != OVER:
        apply(s, r, seat_action(g, 1))
        play_forced(s, r)
    return net_points(s, r, r.side_of[seat])


@kernel
def value_of(g: Any, action: int) -> float:
    """Returns the points that an action of the seat to act brings; modifies ``g``."""
    seat = g.states[0].seat
    g.states[1] = g.states[0]
    apply(g.states[1], g.rules[0], action)
    return play_out(g, seat)


@kernel
def add_row(x: Any, points: float, sums: Any) -> None:
    """Adds the features and the points of one row; modifies ``sums`` (F + 1, F)."""
    num = sums.shape[1]
    for i in range(num):
        if x[i] != 0:
            sums[num, i] += x[i] * points
            for j in range(num):
                sums[i, j] += x[i] * x[j]


# Suits


@kernel
def pitch_suit(g: Any, place: int, bid: int, t: int) -> bool:
    """Makes a seat the pitcher in the copy of the deal, and a suit trumps, if the rules let it; modifies ``g``."""
    r, n, s = g.rules[0], g.notes[0], g.states[1]
    while s.phase == AUCTION:
        apply(s, r, BID_0 + bid if s.num_calls == place else PASS)
    if s.phase == NAMING:
        _, calls = legal(s, r)
        if calls & (ONE << (FIRST_NAME + t)):
            apply(s, r, NAME_C + t)
            return True
        return False
    look(s, r, s.seat, g.views[1])
    cards = g.views[1].legal_cards & r.suit_cards[t, t] & ~JOKERS
    if not cards:
        return False
    if g.as_rule[r.side_of[s.seat]]:
        apply(s, r, opening_lead(cards, t, r, n))
    else:
        apply(s, r, best_lead(g.views[1], t, cards, r, n, g.model[0], g.x))
    return True


@kernel
def sample_suits(g: Any, bids: Any, seed: int, first: int, num: int, eighths: int, sums: Any) -> None:
    """Adds what suits bring to a pitcher in some deals; modifies ``g`` and ``sums``, a row for each bid."""
    r, n = g.rules[0], g.notes[0]
    for deal in range(first, first + num):
        key = mix(begin(g, seed, deal, eighths), DRAW_STREAM)
        place = below(key, r.players)
        k = below(mix(key, 0), len(bids))
        s = g.states[0]
        seat = (s.dealer + 1 + place) % r.players
        for t in range(4):
            if s.hands[seat] & r.suit_cards[t, t]:
                g.states[1] = s
                if pitch_suit(g, place, bids[k], t):
                    points = play_out(g, seat)
                    suit_features(s.hands[seat], s.hand_dups[seat], t, r, n, g.x)
                    add_row(g.x, points, sums[k])


# Bids and cards


@kernel
def try_bids(g: Any, sums: Any) -> None:
    """Adds what each bid of the seat to call brings more than a pass; modifies ``g`` and ``sums``."""
    r, n, m, v = g.rules[0], g.notes[0], g.model[0], g.views[0]
    numbers = v.legal_calls & BID_CALLS & ~(ONE << FIRST_BID)
    if not numbers or not v.legal_calls & PASS_CALL:
        return
    passed = value_of(g, PASS)
    num_skipped = 0
    while numbers:
        bid = first_card(numbers) - FIRST_BID
        numbers &= numbers - 1
        points = value_of(g, BID_0 + bid) - passed
        call_features(v, bid, num_skipped, r, n, m, g.x)
        add_row(g.x, points, sums[place_of(v, bid, r, m)])
        num_skipped += 1


@kernel
def try_leads(g: Any, sums: Any) -> None:
    """Adds what each lead brings more than their mean; modifies ``g`` and ``sums``."""
    r, n, m, v = g.rules[0], g.notes[0], g.model[0], g.views[0]
    t, cards = cards_to_lead(v, r, n, m, g.x)
    unseen, _ = unseen_cards(v, r, n)
    num = 0
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        g.values[num] = value_of(g, card)
        lead_features(v, card, t, unseen, r, n, g.rows[num])
        num += 1
    add_rows(g, num, sums[lead_row(v, t, unseen, r)])


@kernel
def try_plays(g: Any, sums: Any) -> None:
    """Adds what each play to a lead brings more than their mean; modifies ``g`` and ``sums``."""
    r, n, v = g.rules[0], g.notes[0], g.views[0]
    unseen, num_unseen = unseen_cards(v, r, n)
    table = table_of(v, unseen, num_unseen, r, n)
    cards = v.legal_cards
    num = 0
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        g.values[num] = value_of(g, card)
        follow_features(v, card, table, unseen, num_unseen, r, n, g.rows[num])
        num += 1
    if v.legal_calls:
        g.values[num] = value_of(g, BLIND)
        blind_features(table, g.rows[num])
        num += 1
    add_rows(g, num, sums[follow_row(v, r)])


@kernel
def add_rows(g: Any, num: int, sums: Any) -> None:
    """Adds all actions of a decision, features and points less their means; modifies ``g`` and ``sums`` (F + 1, F)."""
    points = 0.0
    for i in range(num):
        points += g.values[i] / num
    for k in range(sums.shape[1]):
        middle = 0.0
        for i in range(num):
            middle += g.rows[i, k] / num
        for i in range(num):
            g.rows[i, k] -= middle
    for i in range(num):
        add_row(g.rows[i], g.values[i] - points, sums)


@kernel
def try_all(g: Any, bits: int, calls: Any, leads: Any, plays: Any) -> None:
    """Tries all that the seat to act may do, at some of the decisions; modifies ``g`` and the sums."""
    s = g.states[0]
    look(s, g.rules[0], s.seat, g.views[0])
    chance = below(bits, 16)
    if s.phase == AUCTION and chance < CALLS_TRIED:
        try_bids(g, calls)
    elif s.phase == PLAY and s.num_plays == s.trick_start and chance < LEADS_TRIED:
        try_leads(g, leads)
    elif s.phase == PLAY and s.num_plays != s.trick_start and chance < PLAYS_TRIED:
        try_plays(g, plays)


@kernel
def next_action(g: Any, bits: int) -> int:
    """Returns what the deal goes on with: a bid, a pass or a card at random now and then. Modifies ``g``."""
    action = seat_action(g, 0)
    s, v = g.states[0], g.views[1]
    chance = below(bits, 16)
    numbers = v.legal_calls & BID_CALLS & ~(ONE << FIRST_BID)
    cards = v.legal_cards
    if s.phase == AUCTION and chance < CALLS_DRAWN and numbers:
        numbers |= v.legal_calls & PASS_CALL
        return nth_action(cards ^ cards, numbers, below(mix(bits, 0), num_cards(numbers)))
    if s.phase == PLAY and chance < CARDS_DRAWN and s.trump != NO_SUIT and cards:
        return nth_action(cards, cards ^ cards, below(mix(bits, 0), num_cards(cards)))
    return action


@kernel
def sample_actions(g: Any, seed: int, first: int, num: int, eighths: int, calls: Any, leads: Any, plays: Any) -> None:
    """Adds what bids and cards bring in some deals; modifies ``g`` and the sums."""
    r, s = g.rules[0], g.states[0]
    for deal in range(first, first + num):
        key = begin(g, seed, deal, eighths)
        play_forced(s, r)
        count = 0
        while s.phase != OVER:
            count += 1
            try_all(g, mix(mix(key, TRY_STREAM), count), calls, leads, plays)
            apply(s, r, next_action(g, mix(mix(key, CHANCE_STREAM), count)))
            play_forced(s, r)


# The fit


def weights_of(sums: NDArray[np.float64]) -> list[float]:
    """Returns the weights (F,) of least squares, from the sums of a row."""
    size = sums.shape[1]
    weights = np.linalg.solve(sums[:-1] + RIDGE * np.eye(size), sums[-1])
    return [round(float(weight), 3) + 0.0 for weight in weights]


def fit(
    rules: Rules, num_deals: int = DEALS, rounds: int = ROUNDS, games: int = GAMES, seed: int = SEED
) -> dict[str, Any]:
    """Returns the tables of some rules, made from nothing.

    Args:
        rules: what is played.
        num_deals: deals of a round for suits, and again for bids and cards.
        rounds: how often all play as has been found so far.
        games: duplicate games for each value of going out.
        seed: of the deals; the same seed gives the same tables.
    """
    bids = np.array([bid for bid in rules.bids if bid > 0], np.int64)
    size = len(SUIT_FEATURES)
    found: dict[str, Any] = {"points": {str(bid): [0.0] * size for bid in bids}, "out": 0.0}
    found |= {name: {} for name in TABLES}
    suits = np.zeros((len(bids), size + 1, size))
    sums = {name: np.zeros((len(rows), len(features) + 1, len(features))) for name, (rows, features) in TABLES.items()}
    for k in range(rounds):
        eighths = EIGHTHS_AS_RULE if k > 0 else 8
        first = 2 * k * num_deals
        suits *= KEEP
        sample_suits(sampler_of(rules, found), bids, seed, first, num_deals, eighths, suits)
        found["points"] = {str(bid): weights_of(suits[i]) for i, bid in enumerate(bids)}
        for name in TABLES:
            sums[name] *= KEEP
        sample_actions(sampler_of(rules, found), seed, first + num_deals, num_deals, eighths, *sums.values())
        for name, (rows, _) in TABLES.items():
            found[name] = {row: weights_of(table) for row, table in zip(rows, sums[name], strict=True) if table.any()}
    return found | {"out": fit_out(rules, found, games, seed)}


def fit_out(rules: Rules, tables: dict[str, Any], games: int, seed: int) -> float:
    """Returns what it is worth to go out: that which wins most games against a player to whom it is worth nothing."""
    scale = float(note_rules(rules)[0]["scale"])
    careless = expert_of(rules, tables | {"out": 0.0})
    best, most = 0.0, 0.5
    for out in OUTS:
        careful = expert_of(rules, tables | {"out": out * scale})
        share = play_match(rules, careful, careless, games, seed, whole_games=True).mean * rules.sides / 2
        if share > most:
            best, most = round(out * scale, 3), share
    return best


def text_of(models: dict[str, Any]) -> str:
    """Returns the file of some variants' tables: JSON with a row of weights on each line, variants in their order."""
    variants = []
    for name in (name for name in VARIANTS if name in models):
        parts = []
        for table, rows in models[name].items():
            if isinstance(rows, dict):
                lines = ",\n".join(f"   {json.dumps(row)}: {json.dumps(weights)}" for row, weights in rows.items())
                parts.append(f"  {json.dumps(table)}: {{\n{lines}\n  }}")
            else:
                parts.append(f"  {json.dumps(table)}: {json.dumps(rows)}")
        variants.append(f" {json.dumps(name)}: {{\n" + ",\n".join(parts) + "\n }")
    return "{\n" + ",\n".join(variants) + "\n}\n"


def main(names: list[str]) -> None:
    """Fits some variants, or all, and writes each into the file of the models."""
    if unknown := [name for name in names if name not in VARIANTS]:
        sys.exit(f"no variant {unknown[0]!r:.80}; the variants are {', '.join(VARIANTS)}")
    for name in names or VARIANTS:
        tables = fit(VARIANTS[name], DEALS_OF.get(name, DEALS))
        models = fitted() if MODELS.exists() else {}
        write_text(MODELS, text_of(models | {name: tables}))
        fitted.cache_clear()
        logging.info("%s is fitted", name)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(sys.argv[1:])
