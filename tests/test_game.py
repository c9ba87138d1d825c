"""The promises of ``Game``: checks, names, undo, copies, records, and what the info state tells."""

import copy
import itertools
import json
import pickle
import random

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, IllegalActionError, RecordError, Rules, variant
from pitch_env.actions import ACTION_NAMES, NUM_ACTIONS
from pitch_env.engine.state import STATE
from pitch_env.game import DealResult
from pitch_env.observation import VIEW
from tests.against_referee import draw_action

HANDS = ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"]
"""The worked deal (12), dealt by seat 3."""

EVERY_VARIANT = pytest.mark.parametrize("name", VARIANTS)


def worked_deal(**changes):
    return Game.from_deal(**{"rules": "auction_pitch", "hands": HANDS, "dealer": 3, **changes})


def everything(game):
    """Returns all that a game holds and says: its state field by field, its results, its whole history."""
    state = game.state()
    return (
        [state[field].tobytes() for field in STATE.names],
        game.deal_result,
        game.record(),
        [game.info_state(seat) for seat in range(game.rules.players)],
    )


def play_on(game, rng, num_actions):
    """Plays random actions, deal after deal, and says what was done."""
    for _ in range(num_actions):
        if game.phase == "over":
            if game.winner is not None:
                return
            game.next_deal()
        else:
            game.play(draw_action(game.legal_names(), rng))
        yield game


# Starting


def test_a_game_says_what_is_promised():
    game = worked_deal(scores=[5, -2])
    assert (game.seat, game.phase, game.dealer) == (0, "auction", 3)
    assert (game.trump, game.pitcher, game.high_bid) == (None, None, None)
    assert (game.scores, game.debts, game.winner, game.deal_result) == ([5, -2], [0, 2], None, None)
    assert game.legal_names() == ["pass", "bid 2", "bid 3", "bid 4", "smudge"]
    assert game.legal_actions() == [54, 57, 58, 59, 71]
    assert game.hand(0) == "5C 6D KH AH 2S KS"
    game.play("bid 3")
    assert (game.pitcher, game.high_bid, game.seat) == (0, 3, 1)
    for action in ("pass", "pass", "pass", "AH"):
        game.play(action)
    assert (game.phase, game.trump, game.hand(0)) == ("play", "H", "5C 6D KH 2S KS")
    assert game.view(0).dtype == VIEW
    assert game.state().dtype == STATE


@pytest.mark.parametrize("field", ["hands", "face_down", "widow", "turn_up", "stock"])
def test_a_deal_given_is_the_deal_played(field):
    rules = variant("fish", widow_size=2, turn_up=True)
    other = Game(rules, seed=3).record()
    again = Game.from_deal(
        rules, other["hands"], other["dealer"], None, None, other["face_down"], other["widow"], other["turn_up"],
        other["stock"],
    )  # fmt: skip
    assert again.record()[field] == other[field]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hands": HANDS[:3]}, "hands must be 4 texts"),
        ({"hands": "AH KH"}, "hands must be 4 texts"),
        ({"hands": [*HANDS[:3], "6H 8H"]}, "hands of seat 3 has 2 cards, not 6"),
        ({"hands": [*HANDS[:3], "AH 8H 3H 4S AD JC"]}, "AH: given more often than the pack has it"),
        ({"hands": [*HANDS[:3], "6H 8H 3H 4S AD 1C"]}, "no card '1C'"),
        ({"hands": [*HANDS[:3], "6H 8H 3H 4S AD X1"]}, "X1: given more often"),
        ({"hands": [*HANDS[:3], 7]}, "hands of seat 3: cards are a text"),
        ({"dealer": 4}, "dealer=4 is not a seat of 0 to 3"),
        ({"dealer": -1}, "dealer=-1"),
        ({"dealer": True}, "dealer=True"),
        ({"scores": [0]}, "scores must be 2 ints"),
        ({"scores": [0, 0.5]}, "scores must be 2 ints"),
        ({"scores": "00"}, "scores must be 2 ints"),
        ({"scores": [0, 10_000]}, "go beyond 9999"),
        ({"debts": [-1, 0]}, "debts=\\[-1, 0\\] do not fit"),
        ({"scores": [-5, 0], "debts": [4, 0]}, "do not fit"),
        ({"face_down": ["2C"] * 4}, "face_down of seat 0 has 1 cards, not 0"),
        ({"widow": "2C"}, "widow has 1 cards, not 0"),
        ({"turn_up": "2C"}, "turn_up has 1 cards, not 0"),
        ({"stock": "AH"}, "AH: given more often"),
        ({"seed": 2**63}, "is not an int of 64 bits"),
        ({"seed": "7"}, "is not an int of 64 bits"),
        ({"rules": "pitch"}, "no variant 'pitch'"),
    ],
)
def test_a_deal_that_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        worked_deal(**changes)


def test_the_rest_of_a_stock_is_shuffled_by_the_seed():
    deals = [worked_deal(stock="2C 3C", seed=seed).record()["stock"] for seed in (1, 1, 2)]
    assert deals[0] == deals[1] != deals[2]
    assert all(stock.startswith("2C 3C ") and len(stock.split()) == 28 for stock in deals)


def test_a_deal_void_as_dealt_is_over_at_once():
    rules = variant("high_low_jack", redeal_one_suit_hand=True)
    hands = ["AH KH QH JH TH 9H", "4C JS 9S TC TS 7C", "5C QC TD 8C QD 4S", "6H 8H 3H 5S AD JC"]
    game = Game.from_deal(rules, hands, 0, turn_up="2C")
    assert (game.phase, game.seat, game.legal_actions()) == ("over", None, [])
    assert game.deal_result is not None
    assert game.deal_result.void
    game.next_deal()
    assert game.dealer == 1


@EVERY_VARIANT
def test_a_seed_gives_one_game(name):
    games = [Game(name, seed=seed) for seed in (5, 5, 6)]
    for game in games:
        for _ in play_on(game, random.Random(1), 60):
            pass
    assert everything(games[0]) == everything(games[1]) != everything(games[2])


# Playing


def test_names_and_ints_are_the_same_actions():
    by_name, by_int = worked_deal(), worked_deal()
    rng = random.Random(2)
    while by_name.phase != "over":
        number, name = rng.choice(list(zip(by_name.legal_actions(), by_name.legal_names(), strict=True)))
        assert ACTION_NAMES[number] == name
        by_name.play(name)
        by_int.play(np.int64(number))
    assert everything(by_name) == everything(by_int)


@EVERY_VARIANT
def test_what_is_not_legal_says_what_was_and_changes_nothing(name):
    game = Game(name, seed=2)
    rng = random.Random(name)
    for _ in play_on(game, rng, 60):
        before = everything(game)
        legal = game.legal_actions()
        wrong = rng.choice([action for action in range(NUM_ACTIONS) if action not in legal])
        for action in (wrong, ACTION_NAMES[wrong], "bid 99", "", -1, NUM_ACTIONS):
            with pytest.raises(IllegalActionError) as refused:
                game.play(action)
            assert all(legal_name in str(refused.value) for legal_name in game.legal_names())
        assert everything(game) == before


@pytest.mark.parametrize("action", [None, 1.5, True, ["pass"], b"pass"])
def test_an_action_is_a_name_or_an_int(action):
    with pytest.raises(IllegalActionError):
        worked_deal().play(action)


@pytest.mark.parametrize("seat", [-1, 4, None, "0", True])
def test_a_seat_that_is_none_is_refused(seat):
    game = worked_deal()
    for ask in (game.hand, game.view, game.info_state):
        with pytest.raises(ValueError, match="is not a seat of 0 to 3"):
            ask(seat)


def test_the_next_deal_comes_after_this_one_and_before_the_end_of_the_game():
    game = worked_deal(rules=variant("auction_pitch", target=2))
    with pytest.raises(ValueError, match="the deal is not over"):
        game.next_deal()
    actions = "bid 2,pass,pass,pass,AH,4H,5H,6H,KH,JH,QH,8H,KS,9S,TD,4S,5C,TC,8C,3H,AD,6D,TS,QD,JC,2S,7C,4C"
    for action in actions.split(","):
        game.play(action)
    assert (game.phase, game.seat, game.winner) == ("over", None, 0)
    assert game.scores == [2, 2]
    with pytest.raises(ValueError, match="side 0 has won"):
        game.next_deal()
    with pytest.raises(IllegalActionError, match="the deal is over"):
        game.play("pass")


@EVERY_VARIANT
def test_a_result_stays_until_the_next_one(name):
    game = Game(name, seed=4)
    result = None
    num_deals = 0
    for _ in play_on(game, random.Random(name), 120):
        if game.phase == "over":
            assert isinstance(game.deal_result, DealResult)
            assert game.deal_result.scores == game.scores
            assert [owed for _, owed in game.deal_result.sheet] == game.debts
            result = game.deal_result
            num_deals += 1
        assert game.deal_result == result
    assert num_deals > 0


def test_the_deal_passes_to_the_left_and_scores_go_on():
    game = Game("cutthroat", seed=1)
    dealers = [game.dealer]
    for _ in play_on(game, random.Random(3), 200):
        if game.phase == "auction" and not game.record()["actions"]:
            dealers.append(game.dealer)
    assert len(dealers) > 3
    assert all(later == (earlier + 1) % 3 for earlier, later in itertools.pairwise(dealers))


# Going back, copies


@EVERY_VARIANT
def test_undo_goes_back_to_the_start(name):
    game = Game(name, seed=3)
    past = [everything(game)]
    for _ in play_on(game, random.Random(name), 70):
        past.append(everything(game))
    assert len(past) > 10
    assert sum(actions == [] for actions in (record["actions"] for _, _, record, _ in past)) > 1
    for before in past[-2::-1]:
        game.undo()
        assert everything(game) == before
    with pytest.raises(ValueError, match="nothing to undo"):
        game.undo()


@EVERY_VARIANT
@pytest.mark.parametrize("clone", [Game.copy, copy.copy, copy.deepcopy, lambda game: pickle.loads(pickle.dumps(game))])
def test_a_copy_is_exact_and_independent(name, clone):
    game = Game(name, seed=6)
    rng = random.Random(name)
    for _ in play_on(game, rng, rng.randint(3, 60)):
        pass
    before = everything(game)
    other = clone(game)
    assert everything(other) == before
    seed = rng.random()
    for _ in play_on(other, random.Random(seed), 30):
        pass
    assert everything(game) == before
    for _ in play_on(game, random.Random(seed), 30):
        pass
    assert everything(game) == everything(other)
    other.undo()
    game.undo()
    assert everything(game) == everything(other)


# Deal records


@EVERY_VARIANT
def test_a_record_replays_at_every_point(name):
    game = Game(name, seed=8)
    num_results = 0
    for _ in play_on(game, random.Random(name), 60):
        record = json.loads(json.dumps(game.record()))
        again = Game.replay(record)
        assert again.record() == record == game.record()
        assert (again.phase, again.seat, again.legal_names()) == (game.phase, game.seat, game.legal_names())
        assert [again.hand(seat) for seat in range(game.rules.players)] == [
            game.hand(seat) for seat in range(game.rules.players)
        ]
        if record["result"] is not None:
            assert again.deal_result == game.deal_result
            assert Game.replay(record | {"result": None}).record() == record
            num_results += 1
        elif game.phase != "over":
            assert again.deal_result is None
    assert num_results > 0


def finished(name, seed=1):
    game = Game(name, seed=seed)
    rng = random.Random(name)
    while game.phase != "over" or game.deal_result.void:
        if game.phase == "over":
            game.next_deal()
        else:
            game.play(draw_action(game.legal_names(), rng))
    return game.record()


@EVERY_VARIANT
def test_a_record_of_another_result_is_refused(name):
    record = finished(name)
    last = len(record["actions"]) - 1
    result = record["result"]
    changes = {
        "pitcher": (result["pitcher"] + 1) % 2,
        "bid": 7,
        "trump": "C" if result["trump"] != "C" else "S",
        "made": not result["made"],
        "void": True,
        "items": [{}] * record["rules"]["sides"],
        "points": [99] * record["rules"]["sides"],
        "scores": [99] * record["rules"]["sides"],
        "winner": 1 if result["winner"] != 1 else 0,
        "sheet": [],
    }
    assert set(changes) == set(result)
    for field, value in changes.items():
        if value == result[field]:
            continue
        with pytest.raises(RecordError, match=f"after action {last}: result {field}"):
            Game.replay(record | {"result": result | {field: value}})
    with pytest.raises(RecordError, match="no field 'luck'"):
        Game.replay(record | {"result": result | {"luck": 1}})
    with pytest.raises(RecordError, match=f"after action {last - 1}: the deal is not over"):
        Game.replay(record | {"actions": record["actions"][:-1]})
    with pytest.raises(RecordError, match=rf"action {last + 1} \('pass'\)"):
        Game.replay(record | {"actions": [*record["actions"], "pass"]})


@EVERY_VARIANT
def test_a_record_with_an_illegal_action_is_refused_by_its_number(name):
    record = finished(name)
    for place in range(len(record["actions"])):
        actions = list(record["actions"])
        actions[place] = "bid 15"
        with pytest.raises(RecordError, match=rf"action {place} \('bid 15'\)"):
            Game.replay(record | {"actions": actions})


def reshuffled():
    """Returns the record of a deal in which discards came back (5.7)."""
    rules = Rules(
        players=2, ranks="89TJQKA", suits="HS", hand_size=4, play_size=6, trump_choice="named", exchange="refill"
    )
    game = Game.from_deal(rules, ["AH KH 8S 9S", "TS JS QS KS"], 1, stock="AS 8H 9H TH JH QH")
    for action in ("bid 2", "pass", "name H"):
        game.play(action)
    return game.record()


def test_a_record_with_other_reshuffles_is_refused():
    record = reshuffled()
    (order,) = (pile.split() for pile in record["reshuffles"])
    assert Game.replay(record).record() == record
    backwards = " ".join(reversed(order))
    assert Game.replay(record | {"reshuffles": [backwards]}).record()["reshuffles"] == [backwards]
    for wrong in (["AH " + " ".join(order[1:])], [" ".join(order[1:])], [" ".join(order), "8S"], [order[0]]):
        with pytest.raises(RecordError, match=r"reshuffles|action 2"):
            Game.replay(record | {"reshuffles": wrong})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "pitch-deal/2"}, "format"),
        ({"dealer": "0"}, "dealer"),
        ({"stock": ""}, "stock is not the whole rest"),
        ({"luck": 1}, "luck"),
        ({"rules": {"players": 9}}, "players=9"),
        ({"hands": ["AH"]}, "hands"),
        ({"reshuffles": ["AH"]}, "reshuffles"),
        ({"actions": [3]}, "actions.0"),
    ],
)
def test_a_malformed_record_is_refused(changes, message):
    record = worked_deal().record()
    assert Game.replay(record).record() == record
    with pytest.raises(RecordError, match=message):
        Game.replay(record | changes)
    for missing in record:
        with pytest.raises(RecordError, match=missing):
            Game.replay({field: value for field, value in record.items() if field != missing})


def test_a_replayed_game_goes_on_by_its_seed():
    record = finished("auction_pitch")
    assert record["result"]["winner"] is None
    hands = []
    for seed in (1, 1, 2):
        game = Game.replay(record, seed=seed)
        game.next_deal()
        hands.append(game.record()["hands"])
    assert hands[0] == hands[1] != hands[2]


# The info state

TINY = {"players": 2, "suits": "HS", "deal_packet": 1, "smudge": False}
TWO_CARDS = TINY | {"bids": (1,), "hand_size": 2, "play_size": 2}
NAMED = TINY | {"ranks": "QKA", "bids": (1,), "play_size": 2, "trump_choice": "named"}
# name: rules, cards of the stock that may come into play, deals to enumerate
SMALL_GAMES = {
    "kuhn_pitch": (variant("kuhn_pitch"), 0, 20),
    "mini_pitch": (variant("mini_pitch", bids=(1, 2)), 0, 60),
    "draw": (Rules(**NAMED, hand_size=1, exchange="draw"), 3, 60),
    "discard": (Rules(**NAMED, hand_size=3, exchange="discard"), 0, 20),
    "widow": (
        Rules(**TWO_CARDS, ranks="QKA", widow_size=1, widow_to="pitcher_after_first_trick"),
        0,
        30,
    ),
    "pitch_in_auction": (Rules(**TWO_CARDS | {"bids": (4,)}, ranks="JQKA", pitch_in_auction=True), 0, 30),
    "face_down": (Rules(**TINY, ranks="QKA", bids=(1,), hand_size=1, play_size=1, face_down_size=1), 0, 60),
}  # fmt: skip


def small_deals(rules, num_stock, num_deals):
    """Returns deals of a small pack that differ in cards which may come into play."""
    record = Game(rules).record()
    pack = sorted(" ".join([*record["hands"], *record["face_down"], record["widow"], record["stock"]]).split())
    size, down, widow = rules.hand_size, rules.face_down_size, rules.widow_size
    deals = []
    for order in itertools.permutations(pack, rules.num_dealt + num_stock):
        cards = iter(order)
        hands = [" ".join(itertools.islice(cards, size)) for _ in range(2)]
        if all(hand.split() == sorted(hand.split()) for hand in hands):
            piles = [" ".join(itertools.islice(cards, down)) for _ in range(2)]
            deals.append((hands, 1, None, None, piles, " ".join(itertools.islice(cards, widow)), "", " ".join(cards)))
    return [Game.from_deal(rules, *deal) for deal in random.Random(0).sample(deals, num_deals)]


def histories(game, seen):
    """Gives every position of a deal with what each seat has seen on the way: a digest of all its views in turn."""
    views = [game.view(seat) for seat in range(2)]
    seen = [hash((seen[seat], *(views[seat][field].tobytes() for field in VIEW.names))) for seat in range(2)]
    yield game, seen
    for action in game.legal_actions():
        game.play(action)
        yield from histories(game, seen)
        game.undo()


@pytest.mark.parametrize("name", SMALL_GAMES)
def test_info_states_part_histories_exactly_as_what_was_seen_does(name):
    seen_of, text_of = {}, {}
    num_met = 0
    for start in small_deals(*SMALL_GAMES[name]):
        for game, seen in histories(start, [0, 0]):
            if game.phase == "over":  # the result tells of items, which views need not
                continue
            for seat in range(2):
                text = game.info_state(seat)
                assert seen_of.setdefault(text, seen[seat]) == seen[seat]
                assert text_of.setdefault((seat, seen[seat]), text) == text
                num_met += 1
    assert len(text_of) == len(seen_of) < num_met, "no two deals looked alike"


def test_info_states_of_a_game_remember_earlier_deals():
    games = [worked_deal(), worked_deal(scores=[1, 0])]
    assert len({game.info_state(2) for game in games}) == 2
    game = worked_deal()
    before = game.info_state(1)
    for _ in play_on(game, random.Random(1), 60):
        assert game.info_state(1).startswith(before)
