"""Sampled worlds: never an impossible one, and each as often as any other that leads to the view."""

import math
import random
from collections import Counter
from itertools import permutations

import numpy as np
import pytest

from agents.worlds import WorldError, sample_worlds, weigh_worlds
from pitch_env import VARIANTS, Game, Rules, variant
from pitch_env.actions import BLIND, FIRST_CALL, NAME_C, NUM_ACTIONS, actions_in, parse_action
from pitch_env.cards import card_names, cards_in
from pitch_env.engine.deal import clear, deal_out
from pitch_env.engine.jit import ONE, kernel
from pitch_env.engine.state import AUCTION, EXCHANGE, MAX_PACK, NAMING, OVER, STATE, WIDOW
from pitch_env.engine.step import apply, apply_batch, legal
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from tests.lines import first_action
from tests.random_rules import random_rules

SMALL = {
    "players": 3, "sides": 3, "ranks": "JQKA", "suits": "HS", "hand_size": 2, "play_size": 2, "deal_packet": 1,
    "bids": (1, 2, 3, 4), "smudge": False,
}  # fmt: skip
NAMED = {"trump_choice": "named", "opening_lead": "any"}
TWO = {"players": 2, "sides": 2}
TINY = {
    "plain": {},
    "strict": {"follow": "strict_must_trump"},
    "free": {"follow": "free"},
    "off_jack": {"off_jack": True, "jokers": 1, "ranks": "JQA", "suits": "DH"},
    "two_packs": {"decks": 2, "ranks": "QK"},
    "two_packs_widow": TWO
    | {"decks": 2, "ranks": "QK", "widow_size": 2, "widow_to": "pitcher_after_first_trick"},
    "two_packs_draw": TWO | NAMED | {"decks": 2, "ranks": "QK", "exchange": "draw"},
    "two_packs_refill": TWO | NAMED | {"decks": 2, "ranks": "QK", "exchange": "refill", "hand_size": 3},
    "two_packs_leftover": TWO
    | NAMED
    | {"decks": 2, "ranks": "QK", "exchange": "refill", "leftover_to": "pitcher", "hand_size": 3},
    "two_packs_discard": TWO
    | NAMED
    | {"decks": 2, "ranks": "QK", "exchange": "discard", "hand_size": 3, "widow_size": 1, "widow_to": "pitcher"},
    "face_down": TWO | {"face_down_size": 1},
    "turn_up_and_one_suit": {"turn_up": True, "redeal_one_suit_hand": True},
    "pitch_in_auction": {"pitch_in_auction": True},
    "trump_lead": NAMED | {"opening_lead": "trump"},
    "plain_lead": NAMED | {"opening_lead": "plain"},
    "first_trick_no_trump": NAMED | {"first_trick_no_trump": True},
    "no_trump": NAMED | {"no_trump": True, "jokers": 2, "ranks": "JQK"},
    "widow_after_first_trick": TWO | {"widow_size": 2, "widow_to": "pitcher_after_first_trick", "jokers": 1},
    "draw": TWO | NAMED | {"exchange": "draw", "opening_lead": "trump"},
    "draw_more": TWO | NAMED | {"exchange": "draw", "hand_size": 1},
    "discard": TWO | NAMED | {"exchange": "discard", "hand_size": 3},
    "discard_widow": TWO | NAMED | {"exchange": "discard", "hand_size": 3, "widow_size": 1, "widow_to": "pitcher"},
    "refill": TWO | NAMED | {"exchange": "refill", "hand_size": 3, "jokers": 1},
    "refill_more": TWO | NAMED | {"exchange": "refill", "hand_size": 1, "jokers": 1},
    "refill_widow": TWO | NAMED | {"exchange": "refill", "widow_size": 1, "widow_to": "pitcher"},
    "leftover": TWO | NAMED | {"exchange": "refill", "leftover_to": "pitcher", "jokers": 1},
    "leftover_widow": TWO
    | NAMED
    | {"exchange": "refill", "leftover_to": "pitcher", "widow_size": 1, "widow_to": "pitcher"},
    "refill_and_widow_after": TWO
    | NAMED
    | {"exchange": "refill", "widow_size": 1, "widow_to": "pitcher_after_first_trick", "jokers": 1},
}  # fmt: skip

RUNNING_OUT = {
    "two_seats": TWO | {"exchange": "refill", "hand_size": 3, "play_size": 3},
    "three_seats": {"exchange": "refill", "jokers": 1, "ranks": "JQK"},
    "two_reshuffles": {"exchange": "refill", "play_size": 3, "jokers": 1},
    "trumps_may_go": {"exchange": "refill", "hand_size": 3, "widow_size": 1, "off_jack": True, "jokers": 2}
    | {"suits": "DH"},
    "nothing_but_hands": TWO | {"exchange": "refill", "hand_size": 3, "ranks": "JQK"},
    "leftover": TWO | {"exchange": "refill", "hand_size": 3, "play_size": 3, "leftover_to": "pitcher"},
    "widow": TWO | {"exchange": "refill", "widow_size": 2, "widow_to": "pitcher", "ranks": "JQK"},
    "swap": TWO | {"exchange": "refill", "widow_size": 2, "widow_to": "pitcher_after_first_trick", "ranks": "QKA"},
    "swap_and_trumps_may_go": TWO
    | {"exchange": "refill", "hand_size": 3, "widow_size": 1, "widow_to": "pitcher_after_first_trick", "ranks": "QKA",
       "jokers": 1},
    "face_down": TWO | {"exchange": "refill", "face_down_size": 1, "ranks": "QKA", "jokers": 1},
    "off_jack": {"exchange": "refill", "off_jack": True, "jokers": 1, "ranks": "JQK", "suits": "DH"},
    "draw": TWO | {"exchange": "draw", "hand_size": 3, "play_size": 3, "jokers": 1, "ranks": "QKA"},
    "draw_more": {"exchange": "draw", "play_size": 3, "jokers": 1},
}  # fmt: skip
"""Small packs whose stock runs out."""

THREE = {"players": 3, "sides": 3}
CARDS = {"ranks": "JQKA", "suits": "HS", "hand_size": 2, "play_size": 2, "deal_packet": 1}
RED = {"ranks": "3JA", "suits": "DH", "hand_size": 3, "play_size": 2, "deal_packet": 1}
SHRUNK = {
    "auction_pitch": THREE | CARDS,
    "cutthroat": CARDS,
    "low_to_holder": CARDS | {"players": 4, "sides": 2},
    "pitch_in_auction": THREE | CARDS,
    "draw_pitch": TWO | CARDS,
    "no_trumps_first_trick": THREE | CARDS,
    "smudge_over_four": THREE | CARDS,
    "six_hand": TWO | CARDS | {"hand_size": 3},
    "oklahoma": TWO | RED,
    "ten_point_52": TWO | RED | {"ranks": "2TJ"},
    "ten_point_54": TWO | RED | {"ranks": "3TJ"},
    "ten_point_five_handed": TWO | RED | {"widow_size": 1},
    "nine_card": THREE | CARDS | {"ranks": "5JQA"},
    "fish": TWO | CARDS | {"face_down_size": 1},
    "high_low_jack": THREE | CARDS,
    "kuhn_pitch": {},
    "mini_pitch": {},
    "small_pitch": {"ranks": "JQKA", "hand_size": 2, "play_size": 2},
    "mini_partners": {"ranks": "JQKA"},
}
"""What makes each named variant small enough to go through all its worlds; every option is left as it is."""
SIX_HANDED = variant("oklahoma", players=6, sides=3, hand_size=8)
"""Its stock of six cards does not outlast the second seat."""
SIZES = {"players", "sides", "ranks", "suits", "hand_size", "play_size", "deal_packet", "face_down_size", "widow_size"}


@kernel
def look_at_all(states, rules, seat, views):
    for i in range(len(states)):
        look(states[i], rules[0], seat, views[i])


@kernel
def all_worlds(views, rules, packs, stack, worlds, numbers):
    """Writes every world that may lead to a view, and the number of its pack; returns how many."""
    v, r = views[0], rules[0]
    num = np.int64(0)
    for i in range(len(packs)):
        s = stack[0]
        clear(s)
        s.dealer = (v.seat + v.dealer) % r.players
        for side in range(r.sides):
            of = (r.side_of[v.seat] + side) % r.sides
            s.scores[of] = v.scores[side]
            s.debts[of] = v.debts[side]
        for k in range(r.pack_size):
            s.deck[k] = r.pack[packs[i, k]]
        deal_out(s, r)
        if s.dealt[v.seat] == v.dealt and s.dealt_dups[v.seat] == v.dealt_dups:
            num = follow(stack, np.int64(0), v, r, worlds, numbers, np.int64(i), num)
    return num


@kernel
def follow(stack, depth, v, r, worlds, numbers, pack, num):
    """Does what the view says, and whatever discards it leaves open, in every way."""
    s = stack[depth]
    if s.phase == OVER or s.num_plays > v.num_plays or has_discarded_more(s, v, r):
        return num
    if s.phase == v.phase and s.seat == v.seat and s.num_plays == v.num_plays and s.hands[v.seat] == v.hand:
        worlds[num] = s
        numbers[num] = pack
        num += 1
    cards, calls = open_actions(s, v, r)
    while cards | calls:
        action, cards, calls = first_action(cards, calls)
        stack[depth + 1] = s
        apply(stack[depth + 1], r, action)
        if stack[depth + 1].num_reshuffles > v.num_reshuffles:
            continue
        piles = new_stocks(s, stack[depth + 1])
        deck = stack[depth + 1].deck.copy()
        for order in range(num_orders(piles)):
            stack[depth + 1] = s
            lay_order(stack[depth + 1], deck, piles, order)
            apply(stack[depth + 1], r, action)
            num = follow(stack, depth + 1, v, r, worlds, numbers, pack, num)
    return num


@kernel
def has_discarded_more(s, v, r):
    """Tells whether a seat has discarded more cards than the view says."""
    more = False
    for k in range(r.players):
        more |= s.num_discarded[(v.seat + k) % r.players] > v.num_discarded[k]
    return more


@kernel
def new_stocks(before, after):
    """Returns where in the deck the discards lie that became a stock between two states, and where these end (5.7)."""
    ends = np.zeros(after.num_reshuffles - before.num_reshuffles + 1, np.int64)
    for k in range(before.num_reshuffles, after.num_reshuffles):
        ends[k - before.num_reshuffles] = after.reshuffle_at[k]
    ends[-1] = after.stock_end
    return ends


@kernel
def num_orders(ends):
    """Returns in how many orders some piles may lie."""
    num = 1
    for k in range(len(ends) - 1):
        for size in range(2, ends[k + 1] - ends[k] + 1):
            num *= size
    return num


@kernel
def lay_order(s, deck, ends, order):
    """Lays new stocks in one of their orders; modifies ``s``."""
    if len(ends) == 1:
        return
    for k in range(len(ends) - 1):
        for i in range(ends[k], ends[k + 1]):
            s.deck[i] = deck[i]
        for i in range(ends[k], ends[k + 1]):
            size = ends[k + 1] - i
            j = i + order % size
            order //= size
            s.deck[i], s.deck[j] = s.deck[j], s.deck[i]
    s.known_end = ends[-1]


@kernel
def open_actions(s, v, r):
    """Returns what the seat to act may have done, as far as the view tells."""
    cards, calls = legal(s, r)
    k = (s.seat - v.seat) % r.players
    if s.phase == AUCTION:
        action = np.int64(v.calls[k])
    elif s.phase == NAMING:
        action = np.int64(NAME_C + v.trump)
    elif s.phase == EXCHANGE:
        if k == 0:
            cards &= v.discards
        return cards, calls
    elif s.phase == WIDOW:
        return cards & v.swapped, calls
    elif s.num_plays == v.num_plays:
        return cards & 0, calls & 0
    else:
        action = np.int64(BLIND if v.play_seats[s.num_plays] & 8 else v.plays[s.num_plays])
    if action < 0:
        return cards & 0, calls & 0
    if action < FIRST_CALL:
        return cards & (ONE << action), calls & 0
    return cards & 0, calls & (ONE << (action - FIRST_CALL))


def hidden(worlds, tables):
    """Returns what is hidden in each of some worlds: hands, discards and face-down piles."""
    r = tables[0]
    fields = [worlds[name] for name in ("hands", "hand_dups", "discards", "discard_dups", "dealt", "dealt_dups")]
    fields.append(worlds["deck"][:, r["first_face_down"] : r["first_widow"]])
    rows = np.concatenate([np.ascontiguousarray(field).view(np.uint8) for field in fields], axis=1)
    return [row.tobytes() for row in rows]


def packs_for(view, tables):
    """Returns every order of the pack in which the own cards come first of their hand, in one order."""
    r = tables[0]
    faces = r["pack"][: r["pack_size"]].tolist()
    own = sorted(cards_in(int(view["dealt"]), int(view["dealt_dups"])))
    mine = [faces.index(card) + own[:k].count(card) for k, card in enumerate(own)]
    start = (-1 - int(view["dealer"])) % int(r["players"]) * int(r["hand_size"])
    rest = [k for k in range(len(faces)) if k not in mine]
    return np.array([[*order[:start], *mine, *order[start:]] for order in permutations(rest)], np.int8)


def count_worlds(view, rules, tables):
    """Returns how many worlds there are for everything that is hidden, by playing every pack in every way."""
    packs = packs_for(view, tables)
    worlds, numbers = np.zeros(400_000, STATE), np.zeros(400_000, np.int64)
    views = np.array(view).reshape(1)
    num = all_worlds(views, tables, packs, np.zeros(MAX_PACK, STATE), worlds, numbers)
    assert num < len(worlds)
    seen = np.zeros(num, VIEW)
    look_at_all(worlds[:num], tables, views["seat"][0], seen)
    fits = [row.tobytes() == view.tobytes() for row in seen]
    reshuffled = worlds["deck"][:num, rules.pack_size :]
    cards = hidden(worlds[:num], tables)
    found = {(int(numbers[i]), reshuffled[i].tobytes(), cards[i]) for i in range(num) if fits[i]}
    return Counter(cards for _, _, cards in found)


def positions(rules, rng, num, running_out=False):
    """Yields games at random decisions for which worlds can be drawn; after a reshuffle only, where stocks run out."""
    while num:
        game = Game(rules, seed=rng.getrandbits(40))
        while game.seat is not None:
            reshuffles = int(game.state()["num_reshuffles"])
            if rng.random() < 0.2 and (reshuffles > 0 if running_out else reshuffles == 0 or rules.decks == 1):
                yield game
                num -= 1
                break
            names = game.legal_names()
            game.play("pass" if "pass" in names and rng.random() < 0.5 else rng.choice(names))


@pytest.mark.parametrize("name", TINY)
def test_every_world_is_as_likely_as_any(name):
    check_shares(Rules(**SMALL | TINY[name]), random.Random(name))


@pytest.mark.parametrize("name", VARIANTS)
def test_every_world_of_a_shrunken_variant_is_as_likely_as_any(name):
    check_shares(VARIANTS[name].replace(**SHRUNK[name]), random.Random(name))


def test_shrunken_variants_keep_every_option():
    for name, whole in VARIANTS.items():
        small = whole.replace(**SHRUNK[name])
        assert set(SHRUNK[name]) <= SIZES
        assert np.sign(small.hand_size - small.play_size) == np.sign(whole.hand_size - whole.play_size)
        for pile in ("face_down_size", "widow_size"):
            assert (getattr(small, pile) > 0) == (getattr(whole, pile) > 0)


def test_5_7_every_world_of_shrunken_oklahoma_is_as_likely_as_any_where_discards_became_the_stock():
    small = THREE | RED | {"ranks": "3JQA"}
    check_shares(VARIANTS["oklahoma"].replace(**small), random.Random(4), running_out=True, num=5)


@pytest.mark.parametrize("name", RUNNING_OUT)
def test_5_7_every_world_is_as_likely_as_any_where_discards_became_the_stock(name):
    check_shares(Rules(**SMALL | NAMED | RUNNING_OUT[name]), random.Random(name), running_out=True)


def check_shares(rules, rng, running_out=False, num=10):
    """Draws many worlds at a few random decisions; each comes about as often as all of them together say."""
    tables = compile_rules(rules)
    draws = 4000
    for game in positions(rules, rng, num, running_out):
        view = game.view(game.seat)
        expected = count_worlds(view, rules, tables)
        total = sum(expected.values())
        drawn = dict.fromkeys(expected, 0)
        worlds = sample_worlds(view, rules, draws, np.random.default_rng(rng.getrandbits(60)))
        for cards in hidden(worlds, tables):
            drawn[cards] += 1  # a KeyError is an impossible world
        chi = sum((drawn[key] - draws * n / total) ** 2 / (draws * n / total) for key, n in expected.items())
        free = len(expected) - 1
        assert chi <= free + 5 * (2 * free) ** 0.5 + 5, f"{game.record()}"


def check_looks(rules, rng, num_games, running_out=False):
    """Draws worlds at random decisions of random games; each looks to the seat as the deal does."""
    tables = compile_rules(rules)
    for game in positions(rules, rng, num_games, running_out):
        view = game.view(game.seat)
        worlds = sample_worlds(view, rules, 4, np.random.default_rng(1))
        seen = np.zeros(4, VIEW)
        look_at_all(worlds, tables, game.seat, seen)
        for k in range(4):
            assert seen[k].tobytes() == view.tobytes(), f"{game.record()}"


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_worlds_of_a_variant_look_as_the_deal_does(name):
    check_looks(VARIANTS[name], random.Random(name), 40)


def test_5_7_worlds_look_as_the_deal_does_where_discards_became_the_stock():
    for rules in (SIX_HANDED, variant("oklahoma", players=6, hand_size=8), variant("draw_pitch", players=8, sides=4)):
        check_looks(rules, random.Random(5), 30, running_out=True)


def test_worlds_of_random_rules_look_as_the_deal_does():
    rng = random.Random(5)
    for _ in range(60):
        rules = Rules.from_dict(random_rules(rng))
        if rules.leftover_to == "dead":
            check_looks(rules, rng, 3)


def test_worlds_follow_from_the_generator():
    game = Game("auction_pitch", seed=3)
    view = game.view(game.seat)
    one, two, three = (sample_worlds(view, game.rules, 5, np.random.default_rng(seed)).tobytes() for seed in (1, 1, 2))
    assert one == two
    assert one != three


class Preferring:
    """A policy that likes an action the more, the more often what it holds and what was done come to a number."""

    def policy(self, views):
        liked = np.zeros((len(views), NUM_ACTIONS))
        for row, view in zip(liked, views, strict=True):
            for action in actions_in(int(view["legal_cards"]), int(view["legal_calls"])):
                row[action] = 1 + (int(view["hand"]) + 3 * action + int(view["num_plays"])) % 7
        return liked / liked.sum(axis=1, keepdims=True)


def plain_log_weight(world, game, policy, floor):
    """Weighs a world by playing its deal, with its discards, until that looks as the game does."""
    rules, record, me = game.rules, game.record(), game.seat
    tables, view = compile_rules(rules), game.view(me)
    cards, size, total = card_names(world["deck"][: rules.pack_size]).split(), rules.hand_size, 0.0
    starts = [(seat - game.dealer - 1) % rules.players * size for seat in range(rules.players)]
    hands = [" ".join(cards[start : start + size]) for start in starts]
    again = np.array(Game.from_deal(rules, hands, game.dealer, record["scores"], record["debts"]).state()).reshape(1)
    again["deck"], again["known_end"] = world["deck"], world["known_end"]
    names = record["actions"]
    num_calls = next((k + 1 for k, name in enumerate(names) if name.startswith("name ")), len(names))
    told = iter(names[:num_calls] + names[max(num_calls, len(names) - int(view["num_plays"])) :])
    seen = np.zeros(1, VIEW)
    while True:
        look_at_all(again, tables, me, seen)
        if again["seat"][0] == me and seen[0].tobytes() == view.tobytes():
            return total
        seat = int(again["seat"][0])
        look_at_all(again, tables, seat, seen)
        actions = actions_in(int(seen["legal_cards"][0]), int(seen["legal_calls"][0]))
        if again["phase"][0] == EXCHANGE:
            left = int(world["discards"][seat]) & ~int(again["discards"][0, seat])
            action = next(card for card in cards_in(left) if card in actions)
        else:
            action = parse_action(next(told))
            if seat != me and len(actions) > 1:
                total += math.log(max(floor, policy.policy(seen)[0, action]))
        apply_batch(again, tables, np.array([action]))


@pytest.mark.parametrize("name", ["auction_pitch", "pitch_in_auction", "six_hand", "oklahoma"])
def test_worlds_weigh_what_a_policy_makes_of_the_calls_and_plays_of_others(name):
    rules, policy = SIX_HANDED if name == "oklahoma" else VARIANTS[name], Preferring()
    for game in positions(rules, random.Random(name), 4, running_out=name == "oklahoma"):
        view = game.view(game.seat)
        worlds = sample_worlds(view, rules, 6, np.random.default_rng(2))
        for floor in (1e-4, 0.1):
            weights = weigh_worlds(worlds, view, rules, policy, floor)
            assert weights == pytest.approx([plain_log_weight(world, game, policy, floor) for world in worlds])


def test_worlds_that_fall_behind_are_given_up_and_the_others_weigh_the_same():
    rules, policy = VARIANTS["auction_pitch"], Preferring()
    for game in positions(rules, random.Random(4), 8):
        worlds = sample_worlds(game.view(game.seat), rules, 200, np.random.default_rng(3))
        weights = weigh_worlds(worlds, game.view(game.seat), rules, policy)
        some = weigh_worlds(worlds, game.view(game.seat), rules, policy, give_up=1.0)
        kept = np.isfinite(some)
        assert some[kept] == pytest.approx(weights[kept])
        assert kept.any()
        if game.phase == "play" and np.ptp(weights) > 5:
            assert not kept.all()
            # Who falls behind early may catch up, but the likeliest never falls behind at its last action.
            assert weights[kept].max() > np.median(weights)


def test_worlds_drawn_by_a_policy_lead_to_the_view_and_are_likely_ones():
    rules, policy = VARIANTS["auction_pitch"], Preferring()
    gains = []
    for game in positions(rules, random.Random(6), 12):
        view = game.view(game.seat)
        worlds = sample_worlds(view, rules, 50, np.random.default_rng(4), policy)
        seen = np.zeros(len(worlds), VIEW)
        look_at_all(worlds, compile_rules(rules), game.seat, seen)
        assert len(worlds) == 50
        assert {row.tobytes() for row in seen} == {view.tobytes()}
        plain = sample_worlds(view, rules, 50, np.random.default_rng(5))
        gains.append(np.mean(weigh_worlds(worlds, view, rules, policy) - weigh_worlds(plain, view, rules, policy)))
    assert np.mean(gains) > 0.2


def test_weights_refuse_what_makes_no_sense():
    game = Game("auction_pitch", seed=3)
    view = game.view(game.seat)
    worlds = sample_worlds(view, game.rules, 3, np.random.default_rng(0))
    with pytest.raises(ValueError, match="floor=0"):
        weigh_worlds(worlds, view, game.rules, Preferring(), floor=0)
    with pytest.raises(ValueError, match="2 views; one"):
        weigh_worlds(worlds, np.array([view, view]), game.rules, Preferring())


def test_a_seat_that_waits_has_no_worlds():
    game = Game("auction_pitch", seed=3)
    with pytest.raises(WorldError, match="not to act"):
        sample_worlds(game.view((game.seat + 1) % 4), game.rules, 1, np.random.default_rng(0))


def test_5_7_there_are_no_worlds_where_discards_of_two_packs_became_the_stock():
    rules = Rules(**SMALL | NAMED | RUNNING_OUT["two_seats"] | {"decks": 2, "ranks": "QK"})
    (game,) = positions(rules.replace(decks=1, ranks="JQKA"), random.Random(1), 1, running_out=True)
    with pytest.raises(WorldError, match="two packs"):
        sample_worlds(game.view(game.seat), rules, 1, np.random.default_rng(0))
