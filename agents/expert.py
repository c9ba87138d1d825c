"""How ``expert`` plays: every bid, name of trumps and card by the points that it may be expected to bring.

Expected points are weighed sums of features: of a suit as trumps, of a bid in its place of the auction, of a card to
lead or to follow with. The weights are least squares over deals played out, per variant (``training/fit.py`` makes
``agents/models/expert.json`` from nothing). Smudges, bids of zero and discards are left to ``rule``.

v  the view of the seat to act; r the tables of the rules; n ``NOTES``; m ``MODEL``; x features
t  trump, as in the engine; unseen: the faces of which a copy may lie where the seat cannot see it
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.maxims import (
    ACES,
    BID_CALLS,
    FIRST_BID,
    FIRST_NAME,
    KINGS,
    LEAST,
    PASS_CALL,
    POINT,
    RANK_OF,
    SMUDGE_CALL,
    SPADES,
    TENS,
    best_suit,
    chance_to_hold,
    holds,
    is_better,
    is_boss,
    is_slam,
    is_void,
    note_rules,
    num_to_come,
    num_trumps,
    opponents_have_trumps,
    rule_action,
    rule_batch,
    rule_call,
    unseen_cards,
    worth,
)  # fmt: skip
from agents.scripted import ScriptedAgent
from pitch_env.actions import BID_0, BLIND, NAME_C, PASS, SMUDGE
from pitch_env.agent import refuse_argument
from pitch_env.cards import ACE, FIVE, JACK, JOKERS, NO_CARD, NO_SUIT, NUM_RANKS, QUEEN, TEN, TWO, card_of, set_of
from pitch_env.engine.jit import ONE, first_card, kernel, num_cards
from pitch_env.engine.state import AUCTION, NAMING, NO_BID, PLAY, record_type
from pitch_env.engine.tables import GAME, HIGH_SPADE, JACK_ITEM
from pitch_env.rules import MAX_BID, VARIANTS, Rules

MODELS = Path(__file__).parent / "models" / "expert.json"
"""Variant → table → weights, as fitted."""

QUEENS = set_of(card_of(suit, QUEEN) for suit in range(4))
JACKS = set_of(card_of(suit, JACK) for suit in range(4))
TWOS = set_of(card_of(suit, TWO) for suit in range(4))
SPADE_ACE = card_of(SPADES, ACE)

SUIT_FEATURES = (
    "any", "2 trumps", "3", "4", "5", "each more", "top trump", "second", "third", "top two", "jack", "jack of 3",
    "jack of 4", "top and jack", "off-jack", "jokers", "ten", "five", "lowest", "second lowest", "third lowest",
    "outside aces", "outside kings", "outside queens", "outside tens", "voids", "spade ace", "spades",
)  # fmt: skip
"""Of a suit in a hand that would be trumps."""

CALL_FEATURES = (
    *SUIT_FEATURES, "points", "second suit", "skipped", "high bid", "aces", "kings", "queens", "jacks", "tens", "twos",
)  # fmt: skip
"""Of a bid, those of its suit first."""

LEAD_FEATURES = (
    "trump", "boss", "boss prize", "prize", "game value", "rank", "higher", "held", "out", "boss, out",
    "boss, jack out", "boss late", "late", "plain boss", "plain boss game value", "plain boss prize",
    "plain game value", "plain prize", "plain rank", "plain higher", "last of suit", "length", "opponents ruff",
    "partner ruffs", "suit out", "plain boss late", "plain game value late", "plain game value open",
)  # fmt: skip
"""Of a card to lead."""

FOLLOW_FEATURES = (
    "win", "prize on table", "game value on table", "open game value on table", "prize held", "prize lost",
    "game value held", "game value lost", "hold", "hold late", "hold, more to come", "trump", "trump rank",
    "trump boss", "trumps held", "trump late", "plain boss", "plain rank", "over partner's hold", "before partner",
    "give prize", "give game value", "give open game value", "give prize held", "give game value held",
    "give prize before partner", "give game value before partner", "give trump", "give trump rank", "give of trumps",
    "give trump held", "give plain rank", "give boss", "give boss late", "give last of suit",
    "blind", "blind held", "blind on prize", "blind on game value",
)  # fmt: skip
"""Of a card to follow with, winning so far or given away, or of playing blind."""

HOLDERS = ("no bid", "partner's bid", "opponent's bid")
LEVELS, MOST_TO_COME = 4, 3
PLACES = tuple(
    f"{level} on {holder}, {to_come} to come"
    for level in ("first", "second", "third", "higher")
    for holder in HOLDERS
    for to_come in range(MOST_TO_COME + 1)
)
"""Bids by the place in which they are made: which of the rules' bids, on whose, before how many seats (at most 3)."""

LEADS = ("first", "pitching", "pitching, no trumps out", "defending", "defending, no trumps out")
"""Leads by the side that leads, and whether some opponent may have a trump."""

FOLLOWS = tuple(
    f"{role}, {holder}, {place}"
    for role in ("pitching", "defending")
    for holder in ("partner's trick", "opponent's trick")
    for place in ("last", "not last")
)
"""Plays to a lead by the side that plays, by whose card is winning, and whether another seat is to come."""

MODEL = record_type(
    [
        ("points", np.float64, (MAX_BID + 1, len(SUIT_FEATURES))),  # [bid] points of the deal, own minus other
        ("calls", np.float64, (len(PLACES), len(CALL_FEATURES))),  # points more than a pass brings
        ("leads", np.float64, (len(LEADS), len(LEAD_FEATURES))),
        ("follows", np.float64, (len(FOLLOWS), len(FOLLOW_FEATURES))),
        ("out", np.float64),  # worth of a bid that, if made, wins the game; and of keeping an opponent from one
        ("first_bid", np.int64),
    ]
)
"""The weights of one variant: one record in an array of length 1."""

NUM_OF_SUIT = len(SUIT_FEATURES)
MOST_FEATURES = max(len(SUIT_FEATURES), len(CALL_FEATURES), len(LEAD_FEATURES), len(FOLLOW_FEATURES))


# Features


@kernel
def suit_features(hand, dups, t, r, n, x):
    """Writes the features of a suit as trumps; modifies ``x``."""
    length = num_trumps(hand, dups, t, r)
    top, bottom = n.top[t], n.bottom[t]
    trumps = r.suit_cards[t, t]
    jack = (hand >> (NUM_RANKS * t + JACK)) & 1
    outside = hand & ~trumps
    x[0] = 1
    for k in range(2, 6):
        x[k - 1] = length >= k
    x[5] = max(length - 5, 0)
    for place in range(3):
        x[6 + place] = holds(hand, top[place])
        x[18 + place] = holds(hand, bottom[place])
    x[9] = x[6] * x[7]
    x[10] = jack
    x[11] = jack * (length >= 3)
    x[12] = jack * (length >= 4)
    x[13] = jack * x[6]
    x[14] = num_cards(hand & trumps & JACKS) - jack
    x[15] = num_cards(hand & JOKERS) + num_cards(dups & JOKERS)
    x[16] = (hand >> (NUM_RANKS * t + TEN)) & 1
    x[17] = (hand >> (NUM_RANKS * t + FIVE)) & 1
    x[21] = num_cards(outside & ACES)
    x[22] = num_cards(outside & KINGS)
    x[23] = num_cards(outside & QUEENS)
    x[24] = num_cards(outside & TENS)
    x[25] = 0
    for suit in range(4):
        x[25] += suit != t and hand & r.suit_cards[t, suit] == 0
    x[26] = (r.values[HIGH_SPADE] != 0) * holds(hand, SPADE_ACE)
    x[27] = (r.values[HIGH_SPADE] != 0) * (t == SPADES)


@kernel
def weighed(x, weights):
    """Returns the sum of features by their weights."""
    total = 0.0
    for k in range(len(weights)):
        total += x[k] * weights[k]
    return total


@kernel
def suit_to_pitch(hand, dups, calls, bid, r, n, m, x):
    """Returns the suit in which a bid brings most, of those that ``calls`` name, and the points of it and of the next.

    Suits of which the hand has no trump are left out; NO_SUIT if that leaves none. Modifies the scratch ``x``.
    """
    best = NO_SUIT
    most = second = LEAST
    for t in range(4):
        if calls & (ONE << (FIRST_NAME + t)) and hand & r.suit_cards[t, t]:
            suit_features(hand, dups, t, r, n, x)
            points = weighed(x, m.points[bid])
            if points > most:
                second = most
                best = t
                most = points
            elif points > second:
                second = points
    return best, most, (most - 3 if second == LEAST else second)


@kernel
def place_of(v, bid, r, m):
    """Returns the place of a bid, one of ``PLACES``."""
    level = min(max(bid - m.first_bid, 0), LEVELS - 1)
    holder = 0
    if v.high_bid != NO_BID:
        holder = 1 if v.pitcher % r.sides == 0 else 2
    return (level * len(HOLDERS) + holder) * (MOST_TO_COME + 1) + min(v.dealer, MOST_TO_COME)


@kernel
def call_features(v, bid, num_skipped, r, n, m, x):
    """Writes the features of a bid; modifies ``x``."""
    t, points, second = suit_to_pitch(v.hand, v.hand_dups, r.suit_calls, bid, r, n, m, x)
    suit_features(v.hand, v.hand_dups, t, r, n, x)
    more = x[NUM_OF_SUIT:]
    more[0] = points
    more[1] = second
    more[2] = num_skipped
    more[3] = 0 if v.high_bid == NO_BID else (v.high_bid - m.first_bid + 1) / n.scale
    more[4] = num_cards(v.hand & ACES)
    more[5] = num_cards(v.hand & KINGS)
    more[6] = num_cards(v.hand & QUEENS)
    more[7] = num_cards(v.hand & JACKS)
    more[8] = num_cards(v.hand & TENS)
    more[9] = num_cards(v.hand & TWOS)


@kernel
def prize_of(v, card, t, unseen, r, n):
    """Returns the points that go with a card but for Game, and its game value in tens."""
    game = 0.1 * r.values[GAME] * r.game_values[card]
    return (worth(v, card, t, unseen, r, n) - 10 * game) / POINT, game


@kernel
def openness(v, r):
    """Returns how open Game is: 1 when sides are level, less the further one is ahead."""
    most = 0
    for side in range(1, r.sides):
        most = max(most, v.game_values[side])
    return 1 / (1 + 0.1 * abs(v.game_values[0] - most))


@kernel
def count_ruffs(v, t, suit, unseen, r):
    """Returns how many opponents, and partners, may trump a suit that they are known to be void of."""
    opponents = partners = 0
    if unseen & r.suit_cards[t, t]:
        for k in range(1, r.players):
            if is_void(v, k, suit) and not is_void(v, k, t):
                if k % r.sides == 0:
                    partners += 1
                else:
                    opponents += 1
    return opponents, partners


@kernel
def lead_features(v, card, t, unseen, r, n, x):
    """Writes the features of a lead; modifies ``x``."""
    x[:] = 0
    boss = 1.0 * is_boss(card, t, unseen, n)
    prize, game = prize_of(v, card, t, unseen, r, n)
    rank = RANK_OF[card] / 12
    late = v.trick / r.num_tricks
    suit = r.suit_of[t, card]
    higher = min(num_cards(unseen & n.higher[t, card]), 8) / 4
    trumps = r.suit_cards[t, t]
    if suit == t:
        out = min(num_cards(unseen & trumps), 12) / 8
        x[0] = 1
        x[1] = boss
        x[2] = boss * prize
        x[3] = prize
        x[4] = game
        x[5] = rank
        x[6] = higher
        x[7] = num_cards(v.hand & trumps) / 4
        x[8] = out
        x[9] = boss * out
        x[10] = boss * holds(unseen, r.item_cards[t, JACK_ITEM])
        x[11] = boss * late
        x[12] = late
        return
    same = r.suit_cards[t, suit]
    length = num_cards(v.hand & same)
    x[13] = boss
    x[14] = boss * game
    x[15] = boss * prize
    x[16] = game
    x[17] = prize
    x[18] = rank
    x[19] = higher
    x[20] = length == 1 and v.hand & trumps != 0
    x[21] = length / 4
    x[22], x[23] = count_ruffs(v, t, suit, unseen, r)
    x[24] = num_cards(unseen & same) / 8
    x[25] = boss * late
    x[26] = game * late
    x[27] = game * openness(v, r)


@kernel
def table_of(v, unseen, num_unseen, r, n):
    """Returns prizes and game value in tens on the table, and the chance that the card which is winning holds."""
    prizes = games = 0.0
    for i in range(v.trick_start, v.num_plays):
        prize, game = prize_of(v, v.plays[i], v.trump, unseen, r, n)
        prizes += prize
        games += game
    return prizes, games, chance_to_hold(v, v.best, unseen, num_unseen, r, n) if num_to_come(v, r) else 1.0


@kernel
def follow_features(v, card, table, unseen, num_unseen, r, n, x):
    """Writes the features of following with a card; ``table`` as :func:`table_of` has it. Modifies ``x``."""
    if r.power[v.trump, v.led, card] > r.power[v.trump, v.led, v.best]:
        win_features(v, card, table, unseen, num_unseen, r, n, x)
    else:
        give_features(v, card, table, unseen, r, n, x)


@kernel
def win_features(v, card, table, unseen, num_unseen, r, n, x):
    """Writes the features of a card that is winning then; modifies ``x``."""
    x[:] = 0
    t = v.trump
    prizes, games, held = table
    boss = 1.0 * is_boss(card, t, unseen, n)
    prize, game = prize_of(v, card, t, unseen, r, n)
    late = v.trick / r.num_tricks
    to_come = num_to_come(v, r)
    p = chance_to_hold(v, card, unseen, num_unseen, r, n) if to_come else 1.0
    x[0] = 1
    x[1] = p * prizes
    x[2] = p * games
    x[3] = p * (games + game) * openness(v, r)
    x[4] = p * prize
    x[5] = (1 - p) * prize
    x[6] = p * game
    x[7] = (1 - p) * game
    x[8] = p
    x[9] = p * late
    x[10] = p * to_come
    if r.suit_of[t, card] == t:
        x[11] = 1
        x[12] = RANK_OF[card] / 12
        x[13] = boss
        x[14] = num_cards(v.hand & r.suit_cards[t, t]) / 4
        x[15] = late
    else:
        x[16] = boss
        x[17] = RANK_OF[card] / 12
    x[18] = held
    x[19] = to_come >= r.sides


@kernel
def give_features(v, card, table, unseen, r, n, x):
    """Writes the features of a card that leaves the trick to another; modifies ``x``."""
    x[:] = 0
    t = v.trump
    held = table[2]
    boss = 1.0 * is_boss(card, t, unseen, n)
    prize, game = prize_of(v, card, t, unseen, r, n)
    trumps = v.hand & r.suit_cards[t, t]
    suit = r.suit_of[t, card]
    before_partner = 1.0 * (num_to_come(v, r) >= r.sides)
    x[20] = prize
    x[21] = game
    x[22] = game * openness(v, r)
    x[23] = prize * held
    x[24] = game * held
    x[25] = prize * before_partner
    x[26] = game * before_partner
    if suit == t:
        x[27] = 1
        x[28] = RANK_OF[card] / 12
        x[29] = num_cards(trumps) / 4
        x[30] = held
    else:
        x[31] = RANK_OF[card] / 12
        x[34] = trumps != 0 and num_cards(v.hand & r.suit_cards[t, suit]) == 1
    x[32] = boss
    x[33] = boss * v.trick / r.num_tricks


@kernel
def blind_features(table, x):
    """Writes the features of playing blind to a lead (6.5); modifies ``x``."""
    x[:] = 0
    x[35] = 1
    x[36] = table[2]
    x[37] = table[0]
    x[38] = table[1]


# Choosing


@kernel
def expert_call(v, r, n, m, x):
    """Returns a call, or the card to pitch."""
    numbers = v.legal_calls & BID_CALLS & ~(ONE << FIRST_BID)
    if not numbers or not v.legal_calls & PASS_CALL:
        return rule_call(v, r, n)
    t = best_suit(v.hand, v.hand_dups, r.suit_calls, r, n)
    if v.legal_calls & SMUDGE_CALL and is_slam(v.hand, v.hand_dups, t, r, n):
        return SMUDGE
    least_bid = BID_0 + first_card(numbers) - FIRST_BID
    best = PASS
    most = 0.0
    if v.high_bid != NO_BID and v.scores[v.pitcher % r.sides] + v.high_bid >= r.target:  # 9.1
        most = m.out if v.pitcher % r.sides == 0 else -m.out
    num_skipped = 0
    while numbers:
        bid = first_card(numbers) - FIRST_BID
        numbers &= numbers - 1
        call_features(v, bid, num_skipped, r, n, m, x)
        points = weighed(x, m.calls[place_of(v, bid, r, m)])
        if v.scores[0] + bid >= r.target:  # 9.1
            points += m.out
        if points > most:
            best = BID_0 + bid
            most = points
        num_skipped += 1
    # 3.1  Nobody calls after the dealer: the least number takes the bid and risks least.
    if v.dealer == 0 and best != PASS:
        return least_bid
    return best


@kernel
def lead_row(v, t, unseen, r):
    """Returns which of ``LEADS`` a lead is."""
    if v.trick == 0:
        return 0
    return (1 if v.pitcher % r.sides == 0 else 3) + (0 if opponents_have_trumps(v, t, unseen, r) else 1)


@kernel
def follow_row(v, r):
    """Returns which of ``FOLLOWS`` a play to a lead is."""
    row = 0 if v.pitcher % r.sides == 0 else 4
    row += 0 if v.best_seat % r.sides == 0 else 2
    return row + (0 if num_to_come(v, r) == 0 else 1)


@kernel
def cards_to_lead(v, r, n, m, x):
    """Returns the trump suit, the one to make if there is none yet (4.1), and the cards to choose a lead from."""
    if v.trump != NO_SUIT:
        return np.int64(v.trump), v.legal_cards
    bid = min(max(v.high_bid, 0), MAX_BID)
    t, _, _ = suit_to_pitch(v.legal_cards, v.hand_dups, r.suit_calls, bid, r, n, m, x)
    cards = v.legal_cards & r.suit_cards[t, t] & ~JOKERS
    return np.int64(t), cards if cards else v.legal_cards


@kernel
def best_lead(v, t, cards, r, n, m, x):
    """Returns the best of some cards to lead when *t* is trumps."""
    unseen, _ = unseen_cards(v, r, n)
    weights = m.leads[lead_row(v, t, unseen, r)]
    best = NO_CARD
    most = LEAST
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        lead_features(v, card, t, unseen, r, n, x)
        points = weighed(x, weights)
        if is_better(points, card, most, best):
            best = card
            most = points
    return best


@kernel
def expert_follow(v, r, n, m, x):
    """Returns a card to play to a lead, or blind."""
    unseen, num_unseen = unseen_cards(v, r, n)
    table = table_of(v, unseen, num_unseen, r, n)
    weights = m.follows[follow_row(v, r)]
    best = NO_CARD
    most = LEAST
    cards = v.legal_cards
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        follow_features(v, card, table, unseen, num_unseen, r, n, x)
        points = weighed(x, weights)
        if is_better(points, card, most, best):
            best = card
            most = points
    if v.legal_calls:
        blind_features(table, x)
        if weighed(x, weights) > most:
            return BLIND
    return best


@kernel
def expert_action(v, r, n, m, x):
    """Returns what ``expert`` does; modifies the scratch ``x``."""
    if v.phase == AUCTION:
        return expert_call(v, r, n, m, x)
    if v.phase == NAMING:
        bid = min(max(v.high_bid, 0), MAX_BID)
        t, _, _ = suit_to_pitch(v.hand, v.hand_dups, v.legal_calls, bid, r, n, m, x)
        return rule_action(v, r, n) if t == NO_SUIT else NAME_C + t
    ducks = v.high_bid == 0 and v.pitcher % r.sides == 0  # 8.3
    if v.phase != PLAY or not v.legal_cards or ducks:
        return rule_action(v, r, n)
    if v.led != NO_SUIT:
        return expert_follow(v, r, n, m, x)
    t, cards = cards_to_lead(v, r, n, m, x)
    return best_lead(v, t, cards, r, n, m, x)


@kernel
def expert_batch(views, tables, notes, model, actions):
    """Writes what ``expert`` does in each of N views; modifies ``actions`` (N,) int64."""
    x = np.zeros(MOST_FEATURES)
    for i in range(len(views)):
        actions[i] = expert_action(views[i], tables[0], notes[0], model[0], x)


# The fitted weights

TABLES = {"calls": (PLACES, CALL_FEATURES), "leads": (LEADS, LEAD_FEATURES), "follows": (FOLLOWS, FOLLOW_FEATURES)}
"""Rows and features of the tables of weights but ``points``, which has a row for each bid."""


@lru_cache
def fitted() -> dict[str, Any]:
    """Returns the tables of each variant that has been fitted."""
    models: dict[str, Any] = json.loads(MODELS.read_text(encoding="utf-8"))
    return models


def nearest_variant(rules: Rules) -> str | None:
    """Returns the fitted variant from which some rules differ in the fewest fields, but not in the items.

    None if there is no such variant: each has other items, or has partners where the rules have none or the reverse.
    """
    fields = rules.to_dict()
    differences = {}
    for name in fitted():
        other = VARIANTS[name]
        if other.items == rules.items and (other.sides == other.players) == (rules.sides == rules.players):
            differences[name] = sum(value != fields[field] for field, value in other.to_dict().items())
    return min(differences, key=lambda name: differences[name], default=None)


def model_of(tables: dict[str, Any]) -> NDArray[np.void]:
    """Returns the weights of some tables for the kernels: an array of ``MODEL`` of length 1.

    A bid that no suit has been fitted for goes by the nearest that one has; a row that was never met is all zeros.
    """
    model = np.zeros(1, MODEL)
    m: Any = model[0]
    bids = [int(bid) for bid in tables["points"]]
    for bid in range(MAX_BID + 1):
        m["points"][bid] = tables["points"][str(min(bids, key=lambda other: abs(other - bid)))]
    m["first_bid"] = min(bids)
    for name, (rows, _) in TABLES.items():
        for k, row in enumerate(rows):
            m[name][k] = tables[name].get(row, 0)
    m["out"] = tables["out"]
    return model


def expert_of(rules: Rules, tables: dict[str, Any]) -> ScriptedAgent:
    """Returns ``expert`` with given tables."""
    return ScriptedAgent(rules, expert_batch, note_rules(rules), model_of(tables))


def expert_agent(rules: Rules, argument: str | None) -> ScriptedAgent:
    """Makes ``expert``; house rules are played as the nearest variant is, and as ``rule`` plays where there is none.

    Raises:
        ValueError: if it is given an argument.
    """
    refuse_argument("expert", argument)
    name = nearest_variant(rules)
    return ScriptedAgent(rules, rule_batch, note_rules(rules)) if name is None else expert_of(rules, fitted()[name])
