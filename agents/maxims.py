"""How ``rule`` plays: bids by a table of what a trump suit is worth, cards by maxims of the game.

The yardstick of the ladder, so it does not change: its results are only good for comparison while it stays as it is.
Where the rules are not those of the base game the same judgement is read off their fields and items.

v  the view of the seat to act; r the tables of the rules; n what the player noted of the rules (``NOTES``)
t  trump, as in the engine; unseen: the faces of which a copy may lie where the seat cannot see it
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import BID_0, BLIND, FIRST_CALL, NAME_C, NAME_NT, PASS, SMUDGE, STAND
from pitch_env.cards import (
    ACE,
    JACK,
    JOKERS,
    KING,
    LOW_JOKER,
    NO_CARD,
    NO_SUIT,
    NUM_FACES,
    NUM_RANKS,
    TEN,
    card_of,
    set_of,
)
from pitch_env.engine.jit import ONE, first_card, kernel, num_cards
from pitch_env.engine.state import AUCTION, EXCHANGE, NAMING, NO_BID, NO_TRUMP, WIDOW, record_type
from pitch_env.engine.tables import (
    FIVE_ITEM,
    GAME,
    HIGH,
    HIGH_SPADE,
    JACK_ITEM,
    JOKER,
    LOW,
    TWO_ITEM,
    compile_rules,
    pack_of,
    trump_order,
)  # fmt: skip
from pitch_env.rules import MAX_BID, Rules

BID_CALLS = sum(1 << BID_0 + bid - FIRST_CALL for bid in range(MAX_BID + 1))
SMUDGE_CALL = 1 << SMUDGE - FIRST_CALL
SUIT_CALLS = 0b1111 << NAME_C - FIRST_CALL
PASS_CALL = 1 << PASS - FIRST_CALL
BLIND_CALL = 1 << BLIND - FIRST_CALL
FIRST_BID = BID_0 - FIRST_CALL
FIRST_NAME = NAME_C - FIRST_CALL
SPADES = 3
LEAST = -1e9
"""Below every score of a card."""

RANK_OF = np.array([card % NUM_RANKS if card < LOW_JOKER else JACK for card in range(NUM_FACES)], np.int64)
"""Rank of each card, 0 for a two to 12 for an ace; jokers count as jacks, which they stand next to (1.5)."""

ACES = set_of(card_of(suit, ACE) for suit in range(4))
KINGS = set_of(card_of(suit, KING) for suit in range(4))
TENS = set_of(card_of(suit, TEN) for suit in range(4))
MIDDLE = set_of(card_of(suit, rank) for suit in range(4) for rank in range(2, 8))
"""Fours to nines."""

WEIGHTS = np.array(
    [
        [-0.56, -2.03, -3.84, -5.80],  # two trumps
        [0.62, 0.90, 1.04, 0.66],  # the third
        [0.26, 0.37, 0.49, 0.15],  # the fourth
        [0.20, 0.22, 0.49, 0.60],  # the fifth, and each beyond
        [2.12, 3.14, 3.49, 1.98],  # A
        [0.98, 1.44, 1.56, 0.95],  # K
        [0.47, 0.68, 0.80, 0.51],  # Q
        [-0.45, -0.81, -0.44, 0.08],  # A and K together
        [0.91, 1.34, 1.57, 1.85],  # J
        [0.08, 0.07, 0.26, 1.32],  # J with four trumps or more
        [0.13, 0.18, 0.28, 0.17],  # T
        [0.53, 0.67, 0.70, 0.46],  # 2
        [0.18, 0.25, 0.26, 0.17],  # 3
        [0.02, 0.02, -0.01, 0.02],  # 4
        [0.16, 0.22, 0.25, 0.18],  # each outside A
        [0.13, 0.18, 0.20, 0.14],  # each outside K
        [0.00, 0.02, -0.03, -0.03],  # each outside T
    ]
)
"""What a hand with some suit as trumps is worth to the pitcher, fitted to deals of the base game.

Columns: own minus other points before any set; points of the deal, own minus other, for a bid of 2, of 3, of 4.
"""

OPEN_AT, STUCK_AT, OVER_PARTNER_AT, OVER_OPPONENT_AT = -0.55, 0.0, 0.9, -0.10
"""A bid must be worth more than this: when nobody has bid, to the dealer then, against a partner, an opponent."""

WORTHLESS = 5
"""A trump of less worth than this is spent for its strength alone."""

POINT = 14
"""What a point is worth in game values, to a seat that weighs a card."""

BLIND_COST = 2.0
"""What a card from the face-down pile is expected to give away in a trick that is lost."""

MAX_COUNTED = 6

NOTES = record_type(
    [
        ("fitted", np.int64),  # the columns for bids of 2 to 4 were fitted to deals like these
        ("scale", np.float64),  # points of a deal, in those of the base game
        ("in_play", np.float64),  # chance that a given unseen card is in play
        ("none_of", np.float64, (MAX_COUNTED + 1,)),  # [k] chance that none of k unseen cards is in play
        ("pack", np.int64),  # faces of the pack
        ("top", np.int8, (4, 3)),  # [U] the three highest trumps of the pack
        ("bottom", np.int8, (4, 3)),  # [U] the three lowest, no jokers
        ("slam", np.int64, (4,)),  # [U] set of the trumps without which a smudge is not called
        ("higher", np.int64, (5, NUM_FACES)),  # [U, C] set of the cards of its suit that are higher
        ("lower", np.int64, (5, NUM_FACES)),  # [U, C] set of the trumps that are lower than a trump, no jokers
    ]
)
"""What the player works out of the rules before it plays: one record in an array of length 1."""


def note_rules(rules: Rules) -> NDArray[np.void]:
    """Returns what the player notes of the rules: an array of ``NOTES`` of length 1."""
    r: Any = compile_rules(rules)[0]
    notes = np.zeros(1, NOTES)
    n: Any = notes[0]
    n["fitted"] = (
        rules.items == {"high": 1, "low": 1, "jack": 1, "game": 1}
        and rules.set_rule == "subtract"
        and rules.hand_size >= 6
    )
    n["scale"] = r["all_points"] / 4
    n["pack"] = pack = set_of(pack_of(rules))
    unseen = rules.pack_size - rules.hand_size
    others = (rules.players - 1) * (rules.hand_size + rules.face_down_size)
    if rules.exchange == "refill":
        others = unseen  # plain cards go for trumps, so that few of them are left in the stock
    n["in_play"] = others / max(unseen, 1)
    for k in range(MAX_COUNTED + 1):
        n["none_of"][k] = math.prod(max(0, unseen - others - i) / max(1, unseen - i) for i in range(k))
    n["top"] = n["bottom"] = NO_CARD
    for trump in range(5):
        order = trump_order(rules, trump)
        suited = [card for card in order if card < LOW_JOKER]
        for place, card in enumerate(order):
            n["higher"][trump, card] = set_of(order[:place])
            n["lower"][trump, card] = set_of(order[place + 1 :]) & ~JOKERS
        for card in set(range(LOW_JOKER)) - set(order):
            same = set(range(card + 1, card - card % NUM_RANKS + NUM_RANKS)) - set(order)
            n["higher"][trump, card] = set_of(same) & pack
        if trump < NO_TRUMP:
            n["top"][trump, : len(order[:3])] = order[:3]
            n["bottom"][trump, : len(suited[:-4:-1])] = suited[:-4:-1]
            n["slam"][trump] = set_of(order[:4]) | int(r["fixed_cards"][trump])
    return notes


# Bidding


@kernel
def num_trumps(hand, dups, t, r):
    """Returns how many trumps a hand has, both copies counted."""
    trumps = r.suit_cards[t, t]
    return num_cards(hand & trumps) + num_cards(dups & trumps)


@kernel
def holds(hand, card):
    """Tells, as 0 or 1, whether a hand has a card; NO_CARD is in none."""
    return 0 if card == NO_CARD else (hand >> card) & 1


@kernel
def column(hand, length, t, r, n, k):
    """Returns column *k* of ``WEIGHTS`` for a hand with ``length`` trumps."""
    w = WEIGHTS
    top, bottom = n.top[t], n.bottom[t]
    jack = (hand >> (NUM_RANKS * t + JACK)) & 1
    value = w[0, k] + (min(length, 3) - 2) * w[1, k]
    value += (length >= 4) * w[2, k] + max(length - 4, 0) * w[3, k]
    for place in range(3):
        value += holds(hand, top[place]) * w[4 + place, k]
        value += holds(hand, bottom[place]) * w[11 + place, k]
    value += holds(hand, top[0]) * holds(hand, top[1]) * w[7, k]
    value += jack * w[8, k] + jack * (length >= 4) * w[9, k]
    value += ((hand >> (NUM_RANKS * t + TEN)) & 1) * w[10, k]
    outside = hand & ~r.suit_cards[t, t]
    value += num_cards(outside & ACES) * w[14, k] + num_cards(outside & KINGS) * w[15, k]
    return value + num_cards(outside & TENS) * w[16, k]


@kernel
def expected_points(hand, length, t, r, n):
    """Returns what the own side may expect to score with some trumps, and what all sides together may."""
    # The share of the trumps' tricks that falls to the own side; in the base game both sides share 3.4 points.
    share = min(0.95, max(0.05, 1.0 / r.sides + column(hand, length, t, r, n, 0) / 6.8))
    kept = (1 + share) / 2
    own = share * (r.values[HIGH] + r.values[LOW] + r.values[GAME] + r.values[HIGH_SPADE])
    total = 1.0 * (r.values[HIGH] + r.values[LOW] + r.values[GAME] + r.values[HIGH_SPADE])
    if holds(hand, n.top[t, 0]):
        own += (1 - share) * r.values[HIGH]
    if holds(hand, n.bottom[t, 0]):
        own += ((kept if r.low_to_winner else 1.0) - share) * r.values[LOW]
    for item in range(JACK_ITEM, TWO_ITEM + 1):
        value = r.values[item]
        if value == 0 or item == JOKER:
            continue
        if holds(hand, r.item_cards[t, item]):
            own += value * (1.0 if item == TWO_ITEM else kept)
            total += value
        else:
            own += value * n.in_play * share
            total += value * n.in_play
    if r.values[JOKER]:
        num_held = num_cards(hand & JOKERS)
        others = n.in_play * (num_cards(n.pack & JOKERS) * r.decks - num_held)
        own += r.values[JOKER] * (num_held * kept + others * share)
        total += r.values[JOKER] * (num_held + others)
    return own, total


@kernel
def suit_value(hand, dups, t, r, n):
    """Returns own minus other points before any set, if suit *t* is trumps."""
    length = num_trumps(hand, dups, t, r)
    if n.fitted:
        return column(hand, length, t, r, n, 0)
    own, total = expected_points(hand, length, t, r, n)
    return own - (total - own) / (r.sides - 1)


@kernel
def bid_value(hand, dups, t, bid, r, n):
    """Returns the points of the deal, own minus other, to expect of a bid with suit *t* as trumps."""
    length = num_trumps(hand, dups, t, r)
    if n.fitted and 2 <= bid <= 4:
        return column(hand, length, t, r, n, bid - 1)
    own, total = expected_points(hand, length, t, r, n)
    other = (total - own) / (r.sides - 1)
    if bid == 0:  # 8.3  As good as failed, and costs only what is not scored.
        return -own if r.transfer else -other
    # With four points this gives the make rates of the fitted bids; more points come in lumps, and promise less.
    hope = 0.8 if n.scale <= 1 else 0.0
    made = 1 / (1 + math.exp((bid - own - hope) / (0.83 * math.sqrt(n.scale))))
    if r.transfer:  # 8.2
        return made * (max(own, float(bid)) - other) - (1 - made) * own
    return made * max(own, float(bid)) - (1 - made) * bid - other


@kernel
def best_suit(hand, dups, calls, r, n):
    """Returns the suit that is worth most as trumps, of those that ``calls`` name."""
    best = NO_SUIT
    best_value = LEAST
    for t in range(4):
        if calls & (ONE << (FIRST_NAME + t)):
            value = suit_value(hand, dups, t, r, n)
            if value > best_value:
                best = t
                best_value = value
    return best


@kernel
def is_slam(hand, dups, t, r, n):
    """Tells whether a hand is worth a smudge: the top trumps, and five trumps or four and two outside aces."""
    length = num_trumps(hand, dups, t, r)
    num_aces = num_cards(hand & ACES & ~r.suit_cards[t, t])
    return n.slam[t] & ~hand == 0 and (length >= 5 or (length == 4 and num_aces >= 2))


@kernel
def least_worth(v, r):
    """Returns what a bid must be worth more than."""
    if v.high_bid == NO_BID:
        return STUCK_AT if v.dealer == 0 else OPEN_AT
    return OVER_PARTNER_AT if v.pitcher % r.sides == 0 else OVER_OPPONENT_AT


@kernel
def rule_call(v, r, n):
    """Returns a call, or the card to pitch."""
    t = best_suit(v.hand, v.hand_dups, r.suit_calls, r, n)
    if v.legal_calls & SMUDGE_CALL and is_slam(v.hand, v.hand_dups, t, r, n):
        return SMUDGE
    may_pass = v.legal_calls & PASS_CALL
    numbers = v.legal_calls & BID_CALLS
    above_zero = numbers & ~(ONE << FIRST_BID)
    at_least = least_worth(v, r) * n.scale
    if not numbers:
        # 3.9  A pitch stands, and only a pitch takes it over.
        if v.legal_cards and bid_value(v.hand, v.hand_dups, t, 4, r, n) > at_least:
            pitch = opening_lead(v.legal_cards, t, r, n)
            if pitch != NO_CARD:
                return pitch
        return PASS
    if not above_zero:
        return PASS if may_pass else BID_0
    bid = first_card(above_zero) - FIRST_BID
    value = bid_value(v.hand, v.hand_dups, t, bid, r, n)
    if may_pass:
        return BID_0 + bid if value > at_least else PASS
    if above_zero != numbers and value < bid_value(v.hand, v.hand_dups, t, 0, r, n):
        return BID_0
    return BID_0 + bid


@kernel
def rule_name(v, r, n):
    """Returns the name of trumps to call."""
    t = best_suit(v.hand, v.hand_dups, v.legal_calls, r, n)
    return NAME_NT if t == NO_SUIT else NAME_C + t


# What a seat can tell


@kernel
def add_seen(once, twice, cards):
    """Returns the faces seen once and twice with some cards more."""
    return once | cards, twice | (once & cards)


@kernel
def unseen_cards(v, r, n):
    """Returns the faces of which a copy may be unseen, and how many cards are."""
    once, twice = add_seen(v.hand, v.hand_dups, v.swapped)
    twice |= v.swapped_dups
    if v.num_reshuffles == 0:  # 5.7  Else discards may have been dealt again.
        once, twice = add_seen(once, twice, v.discards)
        twice |= v.discard_dups
    for k in range(r.players):
        once, twice = add_seen(once, twice, v.played[k])
        once, twice = add_seen(once, twice, v.played_dups[k])
    if v.turn_up != NO_CARD:
        once, twice = add_seen(once, twice, ONE << v.turn_up)
    unseen = n.pack & ~(once if r.decks == 1 else twice)
    return unseen, r.pack_size - num_cards(once) - num_cards(twice)


@kernel
def is_void(v, k, suit):
    """Tells whether a seat is known to have no card of a suit; a card face down may be anything (6.5)."""
    return (int(v.voids[k]) >> suit) & 1 != 0 and v.num_face_down[k] == 0


@kernel
def opponents_have_trumps(v, t, unseen, r):
    """Tells whether some opponent may hold a trump."""
    some = False
    for k in range(1, r.players):
        some |= k % r.sides != 0 and not is_void(v, k, t)
    return some and unseen & r.suit_cards[t, t] != 0


@kernel
def num_to_come(v, r):
    """Returns how many seats play to this trick after this one."""
    return r.players - 1 - (v.num_plays - v.trick_start)


@kernel
def worth(v, card, t, unseen, r, n):
    """Returns what it is worth to take a card, in game values."""
    value = 1.0 * r.values[GAME] * r.game_values[card]
    if card >= LOW_JOKER:
        return value + POINT * r.values[JOKER]
    if r.values[HIGH_SPADE] and card // NUM_RANKS == SPADES and not unseen & n.higher[NO_TRUMP, card]:
        value += POINT * r.values[HIGH_SPADE]
    if r.suit_of[t, card] != t:
        return value
    for item in range(JACK_ITEM, FIVE_ITEM + 1):
        if r.values[item] and r.item_cards[t, item] == card:
            value += POINT * r.values[item]
    if r.low_to_winner and r.values[LOW]:
        value += POINT * r.values[LOW] * chance_of_low(v, card, t, unseen, r, n)
    return value


@kernel
def chance_of_low(v, card, t, unseen, r, n):
    """Returns the chance that no trump lower than a trump is in play."""
    known = v.hand
    for k in range(r.players):
        known |= v.played[k]
    lower = n.lower[t, card]
    num_lower = num_cards(lower & unseen)
    if lower & known or num_lower > MAX_COUNTED:
        return 0.0
    return n.none_of[num_lower]


@kernel
def is_boss(card, t, unseen, n):
    """Tells whether no unseen card of its suit is higher."""
    return not unseen & n.higher[t, card]


@kernel
def is_better(score, card, best_score, best):
    """Tells whether a card comes before the best so far: by score, then the lower rank."""
    if best == NO_CARD or score > best_score:
        return True
    return score == best_score and RANK_OF[card] < RANK_OF[best]


# Leading


@kernel
def strongest(cards, t, r):
    """Returns the highest of a set of trumps."""
    best = NO_CARD
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if best == NO_CARD or r.power[t, t, card] > r.power[t, t, best]:
            best = card
    return best


@kernel
def weakest(cards, t, r):
    """Returns the lowest of a set of trumps."""
    best = NO_CARD
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if best == NO_CARD or r.power[t, t, card] < r.power[t, t, best]:
            best = card
    return best


@kernel
def opening_lead(cards, t, r, n):
    """Returns the pitcher's first lead, a trump of some cards; NO_CARD if none is a trump."""
    trumps = cards & r.suit_cards[t, t]
    if holds(trumps, n.top[t, 0]):
        return int(n.top[t, 0])
    honour = NO_CARD
    for place in range(2, 0, -1):
        if holds(trumps, n.top[t, place]):
            honour = int(n.top[t, place])
    if honour != NO_CARD and num_cards(trumps) >= 3:
        return honour
    if trumps & MIDDLE:
        return strongest(trumps & MIDDLE, t, r)
    return honour if honour != NO_CARD else weakest(trumps, t, r)


@kernel
def lead_score(v, card, t, has_trumps, unseen, r, n):
    """Returns how good a card is to lead; ``has_trumps`` if some opponent may have one."""
    boss = is_boss(card, t, unseen, n)
    if r.suit_of[t, card] == t:
        if boss:
            return 8.0 if v.pitcher % r.sides == 0 else 3.0
        return -12 - 2 * worth(v, card, t, unseen, r, n)
    value = r.values[GAME] * r.game_values[card]
    if boss:
        return 6.0 + value + (-4 if has_trumps else 6)
    suit = r.suit_cards[t, r.suit_of[t, card]]
    return 7.0 - num_cards(v.hand & suit) - num_cards(v.hand_dups & suit) - 2 * value


@kernel
def lead_card(v, r, n):
    """Returns a lead."""
    t = v.trump
    if t == NO_SUIT:  # 4.1  The first card makes trumps; it is a joker only from a hand of jokers.
        t = best_suit(v.legal_cards, v.hand_dups, r.suit_calls, r, n)
    if v.trick == 0 and t != NO_TRUMP:
        card = opening_lead(v.legal_cards, t, r, n)
        if card != NO_CARD:
            return card
    unseen, _ = unseen_cards(v, r, n)
    has_trumps = opponents_have_trumps(v, t, unseen, r)
    bosses = v.legal_cards & r.suit_cards[t, t]
    best = strongest(bosses, t, r)
    if best != NO_CARD and has_trumps and v.pitcher % r.sides == 0 and is_boss(best, t, unseen, n):
        return best
    best = NO_CARD
    best_score = LEAST
    cards = v.legal_cards
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        score = lead_score(v, card, t, has_trumps, unseen, r, n)
        if is_better(score, card, best_score, best):
            best = card
            best_score = score
    return best


# Following


@kernel
def may_beat(v, k, card, unseen, r, n):
    """Tells whether seat *k*, which is to come, may hold a card that beats the one that is winning."""
    t = v.trump
    suit = r.suit_of[t, card]
    if unseen & n.higher[t, card] and not is_void(v, k, suit):
        return True
    return suit != t and not v.plain_trick and unseen & r.suit_cards[t, t] != 0 and not is_void(v, k, t)


@kernel
def is_safe(v, unseen, r, n):
    """Tells whether no opponent still to play can beat the card that is winning."""
    safe = True
    for k in range(1, num_to_come(v, r) + 1):
        safe &= k % r.sides == 0 or not may_beat(v, k, v.best, unseen, r, n)
    return safe


@kernel
def chance_to_hold(v, card, unseen, num_unseen, r, n):
    """Returns the chance that a card which is winning now takes the trick."""
    t = v.trump
    suit = r.suit_of[t, card]
    threats = 0.0
    for k in range(1, num_to_come(v, r) + 1):
        if k % r.sides == 0:
            continue
        beating = 0.0
        if not is_void(v, k, suit):
            beating += num_cards(unseen & n.higher[t, card])
        if suit != t and not v.plain_trick and not is_void(v, k, t):
            beating += 0.45 * num_cards(unseen & r.suit_cards[t, t])
        threats += 0.9 * (v.num_cards[k] + v.num_face_down[k]) / max(num_unseen, 1) * beating
    return math.exp(-1.1 * threats)


@kernel
def feed_score(v, card, unseen, r, n):
    """Returns how good a card is to give to a trick that is the partner's for sure."""
    t = v.trump
    value = worth(v, card, t, unseen, r, n)
    score = value
    near_end = num_to_come(v, r) == 0 and v.trick >= r.num_tricks - 2
    if is_boss(card, t, unseen, n) and not near_end:
        score -= 8
    if r.suit_of[t, card] == t and value < WORTHLESS:
        score -= 3 + 0.3 * RANK_OF[card]
    return score


@kernel
def win_score(v, card, table, unseen, num_unseen, r, n):
    """Returns how good a card is that would be winning a trick of game value ``table``."""
    t = v.trump
    value = worth(v, card, t, unseen, r, n)
    is_trump = r.suit_of[t, card] == t
    cheap = is_trump and value < WORTHLESS
    to_come = num_to_come(v, r)
    if to_come == 0:
        score = table + 0.9 * value
        if cheap:
            score -= 1 + 0.35 * RANK_OF[card]
        if not is_trump and is_boss(card, t, unseen, n):
            score -= 1
        return score
    p = chance_to_hold(v, card, unseen, num_unseen, r, n)
    score = p * (table + 1.75 * to_come + 0.9 * value) - (1 - p) * 1.2 * value
    if cheap:
        score -= 1 + 0.35 * p * RANK_OF[card]
    return score


@kernel
def lose_score(v, card, unseen, r, n):
    """Returns how good a card is to give to a trick that it does not win."""
    t = v.trump
    score = -1.3 * worth(v, card, t, unseen, r, n)
    if r.suit_of[t, card] == t:
        return score - 3 - 0.3 * RANK_OF[card]
    score -= 0.15 * RANK_OF[card]
    return score - 3 if is_boss(card, t, unseen, n) else score


@kernel
def table_worth(v, unseen, r, n):
    """Returns the worth of the cards on the table."""
    total = 0.0
    for i in range(v.trick_start, v.num_plays):
        total += worth(v, v.plays[i], v.trump, unseen, r, n)
    return total


@kernel
def follow_card(v, r, n):
    """Returns a card to play to a lead, or blind."""
    unseen, num_unseen = unseen_cards(v, r, n)
    partners = v.best_seat % r.sides == 0
    safe = partners and is_safe(v, unseen, r, n)
    table = table_worth(v, unseen, r, n)
    power = r.power[v.trump, v.led]
    best = best_loser = NO_CARD
    best_score = best_loss = LEAST
    cards = v.legal_cards
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        if safe:
            score = feed_score(v, card, unseen, r, n)
        elif power[card] > power[v.best]:
            score = win_score(v, card, table, unseen, num_unseen, r, n)
        else:
            loss = lose_score(v, card, unseen, r, n)
            if is_better(loss, card, best_loss, best_loser):
                best_loser = card
                best_loss = loss
            continue
        if is_better(score, card, best_score, best):
            best = card
            best_score = score
    if best_loser != NO_CARD and (best == NO_CARD or partners or best_loss > best_score):
        if v.legal_calls & BLIND_CALL and best_loss < -BLIND_COST and not partners:
            return BLIND
        return best_loser
    return best


# The exchange, the widow, and all phases


@kernel
def rule_discard(v, r, n):
    """Returns a card to discard, or stands: low cards go first, plain ones before trumps."""
    t = v.trump
    trumps = r.suit_cards[t, t]
    cards = v.legal_cards
    if not cards:  # 5.3
        return STAND
    unseen, _ = unseen_cards(v, r, n)
    best = NO_CARD
    best_score = LEAST
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        score = -1.0 * RANK_OF[card]
        if trumps & (ONE << card):
            score -= 100 + worth(v, card, t, unseen, r, n)
        if is_better(score, card, best_score, best):
            best = card
            best_score = score
    return best


@kernel
def duck(v, r):
    """8.3  Returns the card that is least likely to take a trick of a bid of zero."""
    t = v.trump
    led = r.suit_of[t, first_card(v.legal_cards)] if v.led == NO_SUIT else v.led
    best = NO_CARD
    best_score = LEAST
    cards = v.legal_cards
    while cards:
        card = first_card(cards)
        cards &= cards - 1
        power = r.power[t, led, card]
        loses = v.led != NO_SUIT and power < r.power[t, led, v.best]
        score = 100.0 + power if loses else -1.0 * power
        if is_better(score, card, best_score, best):
            best = card
            best_score = score
    return best


@kernel
def rule_play(v, r, n):
    """Returns a card to play, or blind."""
    if not v.legal_cards:
        return BLIND
    if v.high_bid == 0 and v.pitcher % r.sides == 0 and v.trump != NO_SUIT:
        return duck(v, r)
    return lead_card(v, r, n) if v.led == NO_SUIT else follow_card(v, r, n)


@kernel
def rule_action(v, r, n):
    """Returns what ``rule`` does."""
    if v.phase == AUCTION:
        return rule_call(v, r, n)
    if v.phase == NAMING:
        return rule_name(v, r, n)
    if v.phase == EXCHANGE or v.phase == WIDOW:
        return rule_discard(v, r, n)
    return rule_play(v, r, n)


@kernel
def rule_batch(views, tables, notes, actions):
    """Writes what ``rule`` does in each of N views; modifies ``actions`` (N,) int64."""
    for i in range(len(views)):
        actions[i] = rule_action(views[i], tables[0], notes[0])
