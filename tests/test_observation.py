"""What one seat may know: views, observations, masks and the full state, for every variant and for random rules."""

import itertools
import random

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, IllegalActionError, Rules, variant
from pitch_env.actions import NUM_ACTIONS
from pitch_env.app.explain import explain
from pitch_env.cards import NO_CARD, card_names, cards_in, parse_cards
from pitch_env.decoding import decode, describe
from pitch_env.engine.state import AUCTION, STATE
from pitch_env.engine.tables import compile_rules, pack_of
from pitch_env.observation import (
    FIELDS,
    MAX_RULE_BITS,
    STATE_FIELDS,
    VIEW,
    encode_batch,
    full_states,
    layout_of,
    look_one,
    mask_of,
    observe_batch,
    rule_bits,
)
from pitch_env.rules import ITEMS
from tests.against_referee import draw_action, draw_scores
from tests.random_rules import named_variants, optional_variants, random_rules
from tests.referee import random_deal

NUM_RANDOM_RULES = 24
PLAIN_RULES = named_variants() | optional_variants()


def rules_of(name):
    """Returns the rules of a variant's name, or for a number random ones."""
    return Rules.from_dict(random_rules(random.Random(name)) if isinstance(name, int) else PLAIN_RULES[name])


ALL_RULES = pytest.mark.parametrize("name", [*PLAIN_RULES, *range(NUM_RANDOM_RULES)], ids=str)


def dealt(rules, rng):
    """Returns the arguments of ``Game.from_deal`` for a random deal."""
    plain = rules.to_dict()
    deal = random_deal(plain, rng)
    scores, debts = draw_scores(plain, rng)
    return {
        "hands": [" ".join(hand) for hand in deal["hands"]],
        "dealer": deal["dealer"],
        "scores": scores,
        "debts": debts,
        "face_down": [" ".join(pile) for pile in deal["face_down"]],
        "widow": " ".join(deal["widow"]),
        "turn_up": deal["turn_up"] or "",
        "stock": " ".join(deal["stock"]),
        "seed": rng.getrandbits(60),
    }


def positions(rules, rng, num_deals=2, share=0.4):
    """Plays random deals and gives the game at random points, beginnings and ends among them."""
    for _ in range(num_deals):
        game = Game.from_deal(rules, **dealt(rules, rng))
        yield game
        while game.phase != "over":
            game.play(draw_action(game.legal_names(), rng))
            if game.phase == "over" or rng.random() < share:
                yield game


def differing(one, other):
    """Names the fields in which two views differ."""
    if one.tobytes() == other.tobytes():  # fast; the bytes between fields mean nothing
        return []
    return [name for name in VIEW.names if not np.array_equal(one[name], other[name])]


def observation_of(view, layout):
    observations = np.full((1, layout.size), 7, np.uint8)
    encode_batch(np.array([view], VIEW), layout.table, observations)
    return observations[0]


# Encoding


@ALL_RULES
@pytest.mark.parametrize("universal", [False, True])
def test_decoding_gives_back_what_was_encoded(name, universal):
    rules = rules_of(name)
    layout = layout_of(rules, universal)
    for game in positions(rules, random.Random(str(name))):
        for seat in range(rules.players):
            view = game.view(seat)
            observation = observation_of(view, layout)
            assert set(np.unique(observation)) <= {0, 1}
            assert decode(observation, layout) == describe(view, rules, universal)


def test_a_described_view_in_words():
    game = Game.from_deal(
        "auction_pitch",
        hands=["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"],
        dealer=3,
        scores=[19, -40],
    )
    for action in ("bid 3", "pass", "pass", "pass", "AH", "4H", "5H", "6H", "KH", "JH"):
        game.play(action)
    said = describe(game.view(2), game.rules)
    assert said == {
        "phase": "play",
        "hand": "4C 8C TD QD QH",
        "played": [["5H", ""], ["6H", ""], ["KH AH", ""], ["4H JH", ""]],
        "table": "JH KH",
        "best": "KH",
        "best_seat": 2,
        "led": "H",
        "trump": "H",
        "voids": ["", "", "", ""],
        "calls": ["pass", "pass", "bid 3", "pass"],
        "dealer": 1,
        "pitcher": 2,
        "high_bid": 3,
        "trick": 1,
        "game_values": [[4, 0], [0, 0]],
        "tricks": [1, 0],
        "taken": ["A 6 5 4", ""],
        "scores": [2, 72],
    }


def test_an_observation_of_another_length_is_refused():
    layout = layout_of(VARIANTS["auction_pitch"])
    with pytest.raises(ValueError, match=str(layout.size)):
        decode(np.zeros(layout.size + 1, np.uint8), layout)


@ALL_RULES
def test_fields_lie_side_by_side_in_the_order_of_the_list(name):
    for universal in (False, True):
        layout = layout_of(rules_of(name), universal)
        assert list(layout.fields) == [field for field, _ in FIELDS if field in layout.fields]
        assert list(layout.state_fields) == [field for field, _ in STATE_FIELDS if field in layout.state_fields]
        places = [*layout.fields.values(), *layout.state_fields.values()]
        assert places[0].start == 0
        assert all(one.stop == two.start for one, two in itertools.pairwise(places))
        assert list(layout.fields.values())[-1].stop == layout.size
        assert places[-1].stop == layout.state_size


def test_the_list_of_fields_is_that_of_the_universal_layout():
    layout = layout_of(VARIANTS["auction_pitch"], universal=True)
    assert list(layout.fields) == [field for field, _ in FIELDS]
    assert list(layout.state_fields) == [field for field, _ in STATE_FIELDS]
    assert all(meaning and not meaning.endswith(".") for _, meaning in FIELDS + STATE_FIELDS)


def test_every_field_is_used_by_some_rules_and_is_not_always_zero():
    seen = set()
    for name, plain in PLAIN_RULES.items():
        rules = Rules.from_dict(plain)
        layout = layout_of(rules)
        for game in positions(rules, random.Random(name), num_deals=5, share=0.2):
            seat = 0 if game.seat is None else game.seat
            observation = observation_of(game.view(seat), layout)
            seen |= {field for field, place in layout.fields.items() if observation[place].any()}
    assert seen == {field for field, _ in FIELDS} - {"rules"}


def test_the_universal_layout_has_one_size_for_all_rules():
    sizes = {layout_of(rules_of(name), universal=True).size for name in [*PLAIN_RULES, *range(NUM_RANDOM_RULES)]}
    assert len(sizes) == 1


def test_rules_differ_in_their_bits():
    bits = {name: rule_bits(Rules.from_dict(plain)).tobytes() for name, plain in PLAIN_RULES.items()}
    for one, other in itertools.combinations(PLAIN_RULES, 2):
        assert (bits[one] == bits[other]) == (PLAIN_RULES[one] == PLAIN_RULES[other]), (one, other)
    assert all(len(rule_bits(rules)) <= MAX_RULE_BITS for rules in VARIANTS.values())


@ALL_RULES
def test_the_full_state_is_an_observation_and_the_hidden_cards(name):
    rules = rules_of(name)
    layout = layout_of(rules)
    rng = random.Random(str(name))
    for game in positions(rules, rng, num_deals=1):
        seat = rng.randrange(rules.players)
        full = np.full((1, layout.state_size), 7, np.uint8)
        states = np.array([game.state()], STATE)
        full_states(states, compile_rules(rules), layout.table, np.array([seat]), full)
        assert np.array_equal(full[0, : layout.size], observation_of(game.view(seat), layout))
        hands = full[0, layout.state_fields["hands"]].reshape(rules.players - 1, -1)
        for k, hand in enumerate(hands, 1):
            cards = sorted(card % 54 for card in np.flatnonzero(hand).tolist())
            assert card_names(cards) == game.hand((seat + k) % rules.players)
        if rules.widow_size:
            dead = np.flatnonzero(full[0, layout.state_fields["dead"]]).tolist()
            assert dead == sorted(set(parse_cards(game.record()["widow"])))
        if rules.face_down_size:
            down = full[0, layout.state_fields["face_down"]].reshape(rules.players, -1)
            for k, pile in enumerate(down):
                owner = (seat + k) % rules.players
                gone = int(game.state()["num_blind"][owner])
                left = parse_cards(game.record()["face_down"][owner])[gone:]
                assert np.flatnonzero(pile).tolist() == sorted(set(left))


# Masks


@ALL_RULES
def test_masks_are_the_legal_set_of_the_mover_and_zero_for_the_others(name):
    rules = rules_of(name)
    layout = layout_of(rules)
    for game in positions(rules, random.Random(str(name))):
        for seat in range(rules.players):
            view = game.view(seat)
            legal = game.legal_actions() if seat == game.seat else []
            assert np.flatnonzero(mask_of(view)).tolist() == legal
            assert bool(view["to_move"]) == (seat == game.seat)
        states = np.array([game.state()], STATE)
        views = np.zeros(1, VIEW)
        observations = np.zeros((1, layout.size), np.uint8)
        masks = np.full((1, NUM_ACTIONS), 7, np.int8)
        observe_batch(states, compile_rules(rules), layout.table, views, observations, masks)
        mover = 0 if game.seat is None else game.seat
        assert differing(views[0], game.view(mover)) == []
        assert np.array_equal(observations[0], observation_of(game.view(mover), layout))
        assert np.flatnonzero(masks[0]).tolist() == game.legal_actions()


# Leaks


def hide(state, rules, seat, rng):
    """Returns a state with other cards wherever the seat cannot see them; what it has seen and all numbers stay."""
    other = state.copy()
    unseen = pack_of(rules)
    known = cards_in(state["hands"][seat], state["hand_dups"][seat], state["swapped"], state["swapped_dups"])
    known += state["plays"][: state["num_plays"]].tolist()
    if state["phase"] == AUCTION and state["pitched"] != NO_CARD:  # later it is among the plays
        known.append(int(state["pitched"]))
    for card in known:
        unseen.remove(card)
    rng.shuffle(unseen)
    pile = iter(unseen)
    for player in set(range(rules.players)) - {seat}:
        size = len(cards_in(state["hands"][player], state["hand_dups"][player]))
        put_cards(other, "hands", "hand_dups", player, [next(pile) for _ in range(size)])
        for cards, dups in (("dealt", "dealt_dups"), ("discards", "discard_dups")):
            size = len(cards_in(state[cards][player], state[dups][player]))
            put_cards(other, cards, dups, player, rng.sample(pack_of(rules), size))
    start = rules.players * (rules.hand_size + rules.face_down_size)
    stay = {rules.num_dealt - 1} if rules.turn_up else set()
    if state["pitcher"] == seat:  # he may have taken it up
        stay |= set(range(start, start + rules.widow_size))
    for place in set(range(rules.pack_size)) - stay:
        other["deck"][place] = rng.choice(pack_of(rules))
    other["seed"], other["table"] = rng.getrandbits(60), 1
    return other


def put_cards(state, sets, dups, seat, cards):
    state[sets][seat] = sum(1 << card for card in set(cards))
    state[dups][seat] = sum(1 << card for card in set(cards) if cards.count(card) == 2)


@ALL_RULES
def test_what_a_seat_sees_does_not_depend_on_hidden_cards(name):
    rules = rules_of(name)
    rng = random.Random(str(name))
    layout = layout_of(rules)
    num_changed = 0
    for game in positions(rules, rng):
        state = game.state()
        for seat in range(rules.players):
            view = game.view(seat)
            hidden = np.array([hide(state, rules, seat, rng)], STATE)
            num_changed += not np.array_equal(hidden[0]["hands"], state["hands"])
            views = np.zeros(1, VIEW)
            look_one(hidden, compile_rules(rules), seat, views)
            assert differing(views[0], view) == [], f"seat {seat} in phase {game.phase}"
            assert np.array_equal(observation_of(views[0], layout), observation_of(view, layout))
            assert np.array_equal(mask_of(views[0]), mask_of(view))
    assert num_changed > 0


def relabelled(record, faces):
    """Returns a deal record in which faces have changed places, with no result to hold it to."""
    names = {card_names([card]): card_names([other]) for card, other in faces.items()}

    def pile(text):
        return " ".join(names.get(card, card) for card in text.split())

    return record | {
        "hands": [pile(hand) for hand in record["hands"]],
        "face_down": [pile(cards) for cards in record["face_down"]],
        "widow": pile(record["widow"]),
        "turn_up": pile(record["turn_up"]),
        "stock": pile(record["stock"]),
        "reshuffles": [pile(cards) for cards in record["reshuffles"]],
        "actions": [names.get(action, action) for action in record["actions"]],
        "result": None,
    }


def seen_by(game, seat):
    """Returns the faces that a seat has seen in this deal."""
    view = game.view(seat)
    cards = cards_in(view["hand"], view["dealt"], view["discards"], view["widow"], view["swapped"])
    cards += [*view["plays"][: view["num_plays"]].tolist(), int(view["turn_up"]), int(view["pitched"])]
    return set(cards) | set(view["calls"].tolist())


def restart(record, seed=0):
    """Starts the deal of a record again, without its actions."""
    piles = {name: record[name] for name in ("hands", "dealer", "scores", "debts", "face_down", "widow", "stock")}
    return Game.from_deal(Rules.from_dict(record["rules"]), **piles, turn_up=record["turn_up"], seed=seed)


def knowledge(game, seat):
    """Returns the info state but for the items of the result, of which views need not tell."""
    return ["over" if line.startswith("over:") else line for line in game.info_state(seat).splitlines()]


def compare_stories(record, other, seat):
    """Plays two deals side by side; returns whether all views of a seat were the same, None if not playable."""
    one, two = restart(record), restart(other)
    same = differing(one.view(seat), two.view(seat)) == []
    for action, others_action in zip(record["actions"], other["actions"], strict=True):
        one.play(action)
        try:
            two.play(others_action)
        except IllegalActionError:
            return None
        same = same and differing(one.view(seat), two.view(seat)) == []
    assert (knowledge(one, seat) == knowledge(two, seat)) == same
    return same


@ALL_RULES
def test_info_states_are_the_same_if_and_only_if_all_views_were(name):
    rules = rules_of(name)
    rng = random.Random(str(name))
    num_same = 0
    for game in positions(rules, rng, num_deals=3, share=0.2):
        record = game.record()
        if record["reshuffles"]:
            continue
        for seat in rng.sample(range(rules.players), min(rules.players, 3)):
            hidden = sorted(set(pack_of(rules)) - seen_by(game, seat))
            by_suit = [[card for card in hidden if card // 13 == suit] for suit in range(5)]
            for groups in (by_suit, [hidden], [pack_of(rules)]):  # the last changes what the seat sees
                faces = {}
                for group in groups:
                    once = sorted(set(group))
                    faces |= dict(zip(once, rng.sample(once, len(once)), strict=True))
                changed = any(card != other for card, other in faces.items())
                num_same += compare_stories(record, relabelled(record, faces), seat) is True and changed
    assert num_same > 0 or len(pack_of(rules)) <= rules.players * rules.hand_size + 1


# Relative seats


@ALL_RULES
def test_a_deal_moved_round_by_one_seat_looks_the_same(name):
    rules = rules_of(name)
    rng = random.Random(str(name))
    for game in positions(rules, rng, share=0.15):
        record = game.record()
        turned = dict(record)
        for field in ("hands", "face_down", "scores", "debts"):
            turned[field] = record[field][-1:] + record[field][:-1]
        turned["dealer"] = (record["dealer"] + 1) % rules.players
        turned = Game.replay(turned | {"result": None})
        for seat in range(rules.players):
            assert differing(game.view(seat), turned.view((seat + 1) % rules.players)) in (["seat"], [])


# Every field of the rules can be seen

FLIPS = {
    "players": ({}, {"players": 6}),
    "sides": ({}, {"sides": 4}),
    "ranks": ({}, {"ranks": "6789TJQKA"}),
    "suits": ({}, {"suits": "CDH"}),
    "jokers": ({}, {"jokers": 2}),
    "decks": ({}, {"decks": 2}),
    "hand_size": ({"trump_choice": "named", "exchange": "discard"}, {"hand_size": 7}),
    "deal_packet": ({}, {"deal_packet": 2}),
    "face_down_size": ({}, {"face_down_size": 2}),
    "widow_size": ({"widow_to": "pitcher_after_first_trick"}, {"widow_size": 2}),
    "turn_up": ({}, {"turn_up": True}),
    "redeal_one_suit_hand": ({"hand_size": 2, "play_size": 2}, {"redeal_one_suit_hand": True}),
    "bids": ({}, {"bids": (2, 3)}),
    "dealer_may_steal": ({}, {"dealer_may_steal": False}),
    "dealer_may_steal_smudge": ({}, {"dealer_may_steal_smudge": False}),
    "all_pass": ({}, {"all_pass": "void"}),
    "pitch_in_auction": ({}, {"pitch_in_auction": True}),
    "smudge": ({}, {"smudge": False}),
    "smudge_tricks": ({"ranks": "JQKA", "suits": "HS", "hand_size": 2, "play_size": 2}, {"smudge_tricks": False}),
    "smudge_after": ({}, {"smudge_after": 3}),
    "smudge_ends_auction": ({}, {"smudge_ends_auction": True}),
    "trump_choice": ({}, {"trump_choice": "named"}),
    "no_trump": ({"trump_choice": "named"}, {"no_trump": True}),
    "opening_lead": ({"trump_choice": "named"}, {"opening_lead": "any"}),
    "first_trick_no_trump": ({"trump_choice": "named", "opening_lead": "any"}, {"first_trick_no_trump": True}),
    "off_jack": ({}, {"off_jack": True}),
    "exchange": ({"trump_choice": "named"}, {"exchange": "refill"}),
    "play_size": ({"trump_choice": "named", "exchange": "refill"}, {"play_size": 7}),
    "widow_to": ({"widow_size": 2}, {"widow_to": "pitcher_after_first_trick"}),
    "leftover_to": ({"trump_choice": "named", "exchange": "refill"}, {"leftover_to": "pitcher"}),
    "follow": ({}, {"follow": "strict"}),
    "items": ({}, {"items": {"high": 1, "low": 1, "jack": 1, "game": 1, "ten": 1}}),
    "high_to": ({}, {"high_to": "winner"}),
    "low_to": ({}, {"low_to": "holder"}),
    "jack_only_bidder": ({}, {"jack_only_bidder": True}),
    "set_rule": ({}, {"set_rule": "transfer"}),
    "transfer_keeps_own": ({"set_rule": "transfer"}, {"transfer_keeps_own": True}),
    "smudge_value": ({}, {"smudge_value": 9}),
    "smudge_made": ({"ranks": "JQKA", "suits": "HS", "hand_size": 2, "play_size": 2}, {"smudge_made": "win"}),
    "smudge_failed": ({}, {"smudge_failed": "lose"}),
    "target": ({}, {"target": 2}),
    "out": ({"target": 4, "bids": (1,), "smudge": False}, {"out": "first_to_target"}),
    "count_down": ({}, {"count_down": True}),
    "concede_without_trumps": ({"items": {"high": 1, "low": 1}, "smudge": False}, {"concede_without_trumps": True}),
}
"""Of each field: changes to the base game in which it matters, and the field changed."""


def traces(rules, num_games=30, num_deals=8):
    """Plays the same choices under some rules; gives at every point what may be done, what is seen, and results."""
    for seed in range(num_games):
        rng = random.Random(seed)
        game = Game(rules, seed=seed)
        for _ in range(num_deals):
            while game.phase != "over":
                yield game.seat, game.legal_names(), game.view(game.seat).tobytes()
                game.play(rng.choice(game.legal_names()))
            yield game.deal_result
            if game.winner is not None:
                break
            game.next_deal()


@pytest.mark.parametrize("field", Rules.model_fields)
def test_every_field_of_the_rules_makes_a_difference_that_can_be_seen(field):
    base, changed = FLIPS[field]
    assert set(changed) == {field}
    rules = variant("auction_pitch", **base)
    other = rules.replace(**changed)
    assert rules.to_dict()[field] != other.to_dict()[field]
    assert not np.array_equal(rule_bits(rules), rule_bits(other))
    # 9.4  Display only. 7.3  The highest trump wins its trick: its holder's side is its winner's.
    if field in ("count_down", "high_to"):
        assert explain(rules) != explain(other)
        assert all(one == two for one, two in zip(traces(rules, 5), traces(other, 5), strict=True))
        return
    assert any(one != two for one, two in itertools.zip_longest(traces(rules), traces(other)))


@pytest.mark.parametrize(
    "field", ["follow", "opening_lead", "exchange", "widow_to", "smudge_made", "smudge_failed", "out"]
)
def test_every_choice_of_a_field_is_another_game(field):
    base, _ = FLIPS[field]
    needs = {"discard": {"hand_size": 7}}  # with hands of six nothing would be discarded
    if field == "widow_to":
        base = base | {"trump_choice": "named", "exchange": "discard"}
    games = {}
    for choice in Rules.model_fields[field].annotation.__args__:
        rules = variant("auction_pitch", **base | {field: choice} | needs.get(choice, {}))
        games[choice] = list(traces(rules))
    for one, two in itertools.combinations(games, 2):
        assert games[one] != games[two], (one, two)


@pytest.mark.parametrize("item", ITEMS)
def test_every_item_can_be_scored(item):
    rules = variant("auction_pitch", jokers=2, off_jack=True, items={item: 1}, bids=(1,))
    results = [point for point in traces(rules, 60, 1) if not isinstance(point, tuple)]
    assert any(taken.get(item) for result in results for taken in result.items)
