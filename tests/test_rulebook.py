"""The rulebook clause by clause: each test's name begins with the number of the clause that it holds the engine to.

Runs without Numba's compiler too (`NUMBA_DISABLE_JIT=1`).
"""

import re
from collections import Counter
from importlib.resources import files
from itertools import pairwise
from typing import Any

import pytest

from pitch_env import VARIANTS, Game, Rules, variant
from pitch_env.cards import CARD_NAMES
from pitch_env.game import DealResult
from pitch_env.rules import RulesError

RULEBOOK = (files("pitch_env") / "RULES.md").read_text(encoding="utf-8")
PILES = ("face_down", "widow", "turn_up", "stock", "scores", "debts", "seed")
NAMED = {"trump_choice": "named", "opening_lead": "any"}


# ------------------------------------------------------------------------------------------------------ setting a table


def pack(rules: Rules) -> Counter[str]:
    """Returns the cards of the pack (1.3)."""
    jokers = {0: [], 1: ["X2"], 2: ["X1", "X2"]}[rules.jokers]
    return Counter([rank + suit for suit in rules.suits for rank in rules.ranks] * rules.decks + jokers * rules.decks)


def table(*hands: str, rules: str = "auction_pitch", dealer: int = -1, **given: Any) -> Game:
    """Returns a deal in which seat 0 calls first, unless another dealer is given.

    hands  cards of each seat; short ones are filled up with the lowest cards of the pack that are named nowhere
    given  fields of the rules, and piles, scores and debts as `Game.from_deal` takes them; sizes follow the piles
    """
    piles = {name: given.pop(name) for name in PILES if name in given}
    size = max(len(hand.split()) for hand in hands)
    fields: dict[str, Any] = {"players": len(hands), "hand_size": size}
    if given.get("exchange", VARIANTS[rules].exchange) == "none":
        fields["play_size"] = given.get("hand_size", size)
    fields["face_down_size"] = len(piles.get("face_down", [""])[0].split())
    fields["widow_size"] = len(piles.get("widow", "").split())
    fields["turn_up"] = "turn_up" in piles
    played = variant(rules, **{**fields, **given})
    named = [*hands, *piles.get("face_down", []), *(piles.get(name, "") for name in ("widow", "turn_up", "stock"))]
    rest = pack(played) - Counter(" ".join(named).split())
    left = iter(sorted(rest.elements(), key=CARD_NAMES.index))
    full = [
        " ".join([*hand.split(), *(next(left) for _ in range(played.hand_size - len(hand.split())))]) for hand in hands
    ]
    return Game.from_deal(played, full, dealer % len(hands), **piles)


def play(game: Game, *actions: str, cards: str = "") -> Game:
    """Plays calls, and then cards."""
    for name in [*actions, *cards.split()]:
        game.play(name)
    return game


def bid(game: Game, call: str = "bid 2", trump: str | None = None) -> Game:
    """Has the first seat call, all others pass, and trumps named if a suit is given."""
    game.play(call)
    while game.phase == "auction":
        game.play("pass")
    return game if trump is None else play(game, f"name {trump}")


def legal(game: Game) -> str:
    """Returns the legal names as one text."""
    return " ".join(game.legal_names())


def outcome(game: Game) -> DealResult:
    """Returns the result of the deal, which must be over."""
    assert game.phase == "over"
    assert game.deal_result is not None
    return game.deal_result


def play_out(game: Game) -> DealResult:
    """Plays the first legal action to the end of the deal, where it does not matter which."""
    while game.seat is not None:
        game.play(game.legal_actions()[0])
    return outcome(game)


def deal_of(hands: list[str], call: str, cards: str, trump: str | None = None, **given: Any) -> DealResult:
    """Plays a deal of which seat 0 is the pitcher."""
    return outcome(play(bid(table(*hands, **given), call, trump), cards=cards))


def to_follow(hand: str, led: str, trump: str = "H", **fields: Any) -> str:
    """Returns what may be played from a hand to a card led."""
    return legal(play(bid(table(led, hand, **NAMED, **fields), trump=trump), led))


def winner_of(trick: str, trump: str = "H", **fields: Any) -> int:
    """Returns which card of a trick takes it: 0 for the one led."""
    cards = trick.split()
    fields = {"sides": len(cards), "follow": "free", "hand_size": 2, **NAMED, **fields}
    seat = play(bid(table(*cards, **fields), trump=trump), cards=trick).seat
    assert seat is not None
    return seat


def refusal(**fields: Any) -> str:
    """Returns the message with which rules are refused."""
    with pytest.raises(RulesError) as error:
        Rules(**fields)
    return str(error.value)


WORKED_HANDS = ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"]
WORKED_TRICKS = "AH 4H 5H 6H  KH JH QH 8H  KS 9S TD 4S  5C TC 8C 3H  AD 6D TS QD  JC 2S 7C 4C"


def worked_deal(call: str = "bid 3", **given: Any) -> DealResult:
    """Plays the worked deal of clause 12: the bidders take High and Jack, the defenders Low and Game."""
    return deal_of(WORKED_HANDS, call, WORKED_TRICKS, **given)


SWEEP = ["AH JH", "2C 3C", "2D 3D", "2S 3S"]
"""The bidders take all four points and both tricks."""
SWEEP_TRICKS = "AH 2C 2D 2S  JH 3C 3D 3S"
SWEEP_WITHOUT_JACK = ["AH KH", "2C 3C", "2D 3D", "2S 3S"]
SWEEP_WITHOUT_JACK_TRICKS = "AH 2C 2D 2S  KH 3C 3D 3S"
SWEPT = ["4H 2C", "AH 3C", "JH 4C", "2H 5C"]
"""The bidders take nothing, the defenders all four points."""
SWEPT_TRICKS = "4H AH JH 2H  3C 4C 5C 2C"


# ------------------------------------------------------------------------------------------------------------- 1  words


def test_1_1_seats_go_clockwise_and_partners_sit_across():
    game = table("KH 2H", "", "AH 3H", "", dealer=1)
    assert [play(game, call).seat for call in ("pass", "pass", "bid 2")] == [3, 0, 1]
    result = play_out(play(game, "pass"))
    assert result.pitcher == 0
    assert result.items == [{"high": 1, "low": 1, "game": 1}, {}]  # 2 holds the ace


@pytest.mark.parametrize(("players", "sides", "side"), [(6, 3, 1), (6, 2, 0), (8, 4, 0), (5, 5, 4)])
def test_1_1_the_side_of_a_seat_is_its_number_modulo_sides(players: int, sides: int, side: int):
    hands = [""] * players
    hands[4] = "AH KH"
    result = play_out(play(table(*hands, sides=sides), *["pass"] * 4, "bid 2", *["pass"] * (players - 5)))
    assert "high" in result.items[side]


def test_1_2_ids_of_cards_are_clubs_diamonds_hearts_spades_two_low():
    game = bid(table("2C AC 2D AD 2H AH 2S AS X1 X2", "", jokers=2, **NAMED), trump="H")
    assert game.legal_actions() == [0, 12, 13, 25, 26, 38, 39, 51, 52, 53]
    assert legal(game) == "2C AC 2D AD 2H AH 2S AS X1 X2"


@pytest.mark.parametrize(("jokers", "decks", "size"), [(0, 1, 8), (1, 1, 9), (2, 1, 10), (2, 2, 20)])
def test_1_3_the_pack_is_ranks_by_suits_and_jokers_for_each_deck(jokers: int, decks: int, size: int):
    rules = variant("mini_pitch", jokers=jokers, decks=decks)
    record = Game(rules, seed=3).record()
    cards = " ".join([*record["hands"], record["stock"]]).split()
    assert len(cards) == size
    assert Counter(cards) == pack(rules)


@pytest.mark.parametrize(("trump", "off_jack"), [("C", "JS"), ("S", "JC"), ("D", "JH"), ("H", "JD")])
def test_1_4_the_off_jack_is_a_trump_and_no_card_of_its_printed_suit(trump: str, off_jack: str):
    plain = next(suit for suit in "CDHS" if suit not in (trump, off_jack[1]))
    hand = f"{off_jack} 7{plain}"
    assert set(to_follow(hand, f"5{trump}", trump, off_jack=True).split()) == {off_jack}
    assert set(to_follow(hand, f"5{off_jack[1]}", trump, off_jack=True).split()) == {off_jack, f"7{plain}"}
    assert to_follow(hand, f"5{off_jack[1]}", trump) == off_jack  # without the option it follows its suit


def test_1_4_a_joker_is_a_trump():
    assert to_follow("X2 2D", "5H", jokers=1) == "X2"
    assert winner_of("5C X1 AC", jokers=2) == 1


def test_1_4_trumps_of_all_kinds_are_trumps_for_discarding():
    game = table("JD X2 AH 3D", "", rules="draw_pitch", off_jack=True, jokers=1)
    assert legal(bid(game, trump="H")) == "3D stand"


def test_1_5_trumps_rank_with_the_off_jack_and_the_jokers_below_the_jack():
    trumps = ["AH", "KH", "QH", "JH", "JD", "X2", "X1", "TH", "9H", "8H", "7H", "6H", "5H", "4H", "3H", "2H"]
    for higher, lower in pairwise(trumps):
        assert winner_of(f"{lower} {higher}", jokers=2, off_jack=True) == 1
        assert winner_of(f"{higher} {lower}", jokers=2, off_jack=True) == 0


def test_1_5_a_plain_suit_ranks_ace_to_two():
    for higher, lower in pairwise(["AD", "KD", "QD", "JD", "TD", "9D", "8D", "7D", "6D", "5D", "4D", "3D", "2D"]):
        assert winner_of(f"{lower} {higher}") == 1
        assert winner_of(f"{higher} {lower}") == 0


@pytest.mark.parametrize("trick", ["KH AH AH", "KC AC AC", "X1 X2 X2"])
def test_1_5_of_two_identical_cards_the_first_played_ranks_higher(trick: str):
    assert winner_of(trick, decks=2, jokers=2) == 1


def test_1_6_cards_of_the_stock_are_not_in_play():
    result = deal_of(["KH 5H", "4C", "4D", "4S"], "bid 2", "KH 4C 4D 4S 5H 2C 3C 5C", stock="AH 2H JH")
    assert result.items[0] == {"high": 1, "low": 1, "game": 1}


def test_1_6_cards_lying_face_down_are_in_play():
    game = table("KH", "2C", "2D", "2S", face_down=["3C", "AH", "3D", "3S"])
    result = outcome(play(bid(game), "KH", "2C", "2D", "2S", *["blind"] * 4))
    assert result.items == [{"low": 1}, {"high": 1, "game": 1}]


def test_1_6_a_dead_widow_is_not_in_play_and_one_for_the_pitcher_is():
    hands, ace = ["KH 5H", "4C", "4D", "4S"], {"widow": "AH", "items": {"ace": 1}}
    assert play_out(bid(table(*hands, **ace))).items == [{}, {}]
    exchanging = {"rules": "six_hand", "sides": 2, "play_size": 2, "widow_to": "pitcher"}
    for discard, items in (("KH", {"ace": 1}), ("AH", {})):
        assert play_out(play(bid(table(*hands, **ace, **exchanging), trump="H"), discard)).items == [items, {}]


def test_1_7_defenders_score_each_for_itself():
    hands = ["AH 2C", "2H KS", "JH AS"]
    result = deal_of(hands, "bid 3", "AH 2H JH 2C KS AS", rules="cutthroat", low_to="holder")
    assert result.pitcher == 0
    assert result.items == [{"high": 1, "jack": 1, "game": 1}, {"low": 1}, {}]
    assert result.points == [3, 1, 0]


# -------------------------------------------------------------------------------------------------------------- 2  deal


def off_the_pack(game: Game) -> list[str]:
    """Returns the cards of the hands in the order in which they came off the pack."""
    rules, cards = game.rules, []
    hands = [hand.split() for hand in game.record()["hands"]]
    while any(hands):
        for place in range(rules.players):
            hand = hands[(game.dealer + 1 + place) % rules.players]
            cards += hand[: rules.deal_packet]
            del hand[: rules.deal_packet]
    return cards


@pytest.mark.parametrize("packet", [2, 3, 4, 6, 9])
def test_2_1_packets_go_round_from_dealers_left_until_hands_are_full(packet: int):
    one_by_one = Game(variant("auction_pitch", deal_packet=1), seed=21)
    game = Game(variant("auction_pitch", deal_packet=packet), seed=21)
    assert off_the_pack(game) == off_the_pack(one_by_one)
    assert [len(hand.split()) for hand in game.record()["hands"]] == [6] * 4


def test_2_1_piles_then_widow_then_turn_up_then_the_stock():
    fields = {"face_down_size": 2, "widow_size": 3, "turn_up": True, "players": 3, "sides": 3}
    record = Game(variant("auction_pitch", **fields), seed=1).record()
    assert [len(pile.split()) for pile in record["face_down"]] == [2, 2, 2]
    assert [len(record[name].split()) for name in ("widow", "turn_up", "stock")] == [3, 1, 52 - 18 - 6 - 3 - 1]


def test_2_1_the_turn_up_is_seen_by_all_and_stays_out_of_play():
    game = table("KH 2H", "3C", "3D", "3S", turn_up="AH")
    assert all("AH" in game.info_state(seat) for seat in range(4))
    assert play_out(bid(game)).items[0].keys() == {"high", "low", "game"}


def test_2_1_nobody_sees_the_face_down_cards():
    piles = ["7C", "8C", "9C", "TC"]
    first, second = (table("KH", "2C", "2D", "2S", face_down=order) for order in (piles, piles[::-1]))
    for seat in range(4):
        assert first.info_state(seat) == second.info_state(seat)
        assert first.view(seat).tobytes() == second.view(seat).tobytes()


def test_2_2_a_hand_of_one_suit_voids_the_deal_as_soon_as_it_is_dealt():
    result = outcome(table("4C 5D", "2H 3H", "6C 7D", "8C 9D", redeal_one_suit_hand=True))
    assert result.void
    assert (result.pitcher, result.bid, result.trump, result.made) == (None, None, None, None)
    assert result.points == [0, 0]
    assert table("4C 5D", "2H 3H", "6C 7D", "8C 9D").phase == "auction"  # without the option


def test_2_2_a_hand_with_a_joker_is_not_all_of_one_suit():
    assert table("2H X2", "4C 5D", "6C 7D", "8C 9D", redeal_one_suit_hand=True, jokers=1).phase == "auction"


def test_2_2_needs_two_suits_and_two_cards():
    assert "suits='H'" in refusal(redeal_one_suit_hand=True, suits="H", players=2, hand_size=2, play_size=2)
    assert "hand_size=1" in refusal(redeal_one_suit_hand=True, hand_size=1, play_size=1)


def test_2_3_the_deal_passes_to_the_left_after_a_void_one_too():
    game = table(*WORKED_HANDS, dealer=2, all_pass="void")
    assert outcome(play(game, *["pass"] * 4)).void
    game.next_deal()
    assert game.dealer == 3
    play_out(game)
    game.next_deal()
    assert game.dealer == 0


def test_2_3_the_first_dealer_is_random():
    assert {Game(seed=seed).dealer for seed in range(40)} == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "fields",
    [
        {"players": 9, "sides": 3},
        {"bids": (3, 2)},
        {"bids": ()},
        {"bids": (2, 16)},
        {"items": {}},
        {"items": {"seven": 1}},
        {"items": {"high": 10}},
        {"hand_size": 0, "play_size": 0},
        {"deal_packet": 0},
        {"smudge_after": 16},
        {"widow_size": -1},
        {"ranks": "AA"},
        {"suits": ""},
        {"ranks": "1"},
        {"smudge_value": 100},
        {"target": 0},
    ],
)
def test_2_4_a_field_out_of_range_is_refused_by_name(fields: dict[str, Any]):
    assert next(iter(fields)) in refusal(**fields)


def test_2_4_more_cards_than_the_pack_has_are_refused():
    message = refusal(players=8, sides=4, face_down_size=1)
    assert "need 56 cards" in message
    assert "has 52" in message
    Rules(players=8, sides=4, face_down_size=1, decks=2)


def test_2_4_the_pack_must_do_for_hands_as_they_are_played():
    assert "need 56 cards" in refusal(players=8, sides=4, hand_size=5, play_size=7, **NAMED, exchange="draw")


def test_2_4_scores_given_to_a_game_are_within_9999():
    assert table(*WORKED_HANDS, scores=[9999, -9999]).scores == [9999, -9999]
    with pytest.raises(ValueError, match="10000"):
        table(*WORKED_HANDS, scores=[10_000, 0])


# ----------------------------------------------------------------------------------------------------------- 3  auction


def game_after(*calls: str, **given: Any) -> Game:
    """Returns the worked deal after some calls; seat 3 deals."""
    return play(table(*WORKED_HANDS, **given), *calls)


def test_3_1_one_call_each_from_dealers_left_to_the_dealer():
    game = table(*WORKED_HANDS, dealer=1)
    seats = []
    for call in ("bid 2", "pass", "bid 3", "pass"):
        seats.append(game.seat)
        game.play(call)
    assert seats == [2, 3, 0, 1]
    assert game.phase == "play"


def test_3_1_a_bid_is_above_the_highest_so_far_not_merely_the_neighbours():
    assert game_after("bid 3", "pass").legal_names() == ["pass", "bid 4", "smudge"]


def test_3_1_a_smudge_is_above_every_number():
    assert "smudge" in game_after("bid 4").legal_names()
    assert game_after("smudge").legal_names() == ["pass"]


def test_3_2_the_high_bidder_is_the_pitcher():
    game = game_after("bid 2", "bid 3", "pass", "pass")
    assert (game.pitcher, game.high_bid, game.seat) == (1, 3, 1)


def test_3_3_the_dealer_may_take_the_bid_at_the_same_number():
    game = game_after("bid 3", "pass", "pass")
    assert game.legal_names() == ["pass", "bid 3", "bid 4", "smudge"]
    assert play(game, "bid 3").pitcher == 3


def test_3_3_the_dealer_may_steal_his_partners_bid():
    assert play(game_after("pass", "bid 3", "pass"), "bid 3").pitcher == 3


def test_3_3_without_the_option_nobody_steals():
    assert game_after("bid 3", "pass", "pass", dealer_may_steal=False).legal_names() == ["pass", "bid 4", "smudge"]


def test_3_4_the_dealer_may_steal_a_smudge_with_both_options():
    calls = ("pass", "smudge", "pass")
    assert play(game_after(*calls), "smudge").pitcher == 3
    assert game_after(*calls, dealer_may_steal_smudge=False).legal_names() == ["pass"]
    assert game_after(*calls, dealer_may_steal=False).legal_names() == ["pass"]


def test_3_5_a_dealer_to_whom_all_have_passed_must_call():
    assert game_after(*["pass"] * 3).legal_names() == ["bid 2", "bid 3", "bid 4", "smudge"]


def test_3_5_or_the_deal_is_void():
    game = game_after(*["pass"] * 3, all_pass="void")
    assert game.legal_names() == ["pass", "bid 2", "bid 3", "bid 4", "smudge"]
    assert outcome(play(game, "pass")).void


def test_3_6_zero_is_a_bid_below_all_others():
    game = game_after("bid 0", bids=(0, 1, 2), smudge=False)
    assert game.high_bid == 0
    assert game.legal_names() == ["pass", "bid 1", "bid 2"]


def test_3_7_a_smudge_undertakes_every_point_and_every_trick():
    hands, tricks = ["AH 2C", "2H AC", "3H", "4H"], "AH 2H 3H 4H 2C AC 3C 4C"
    items = {"items": {"high": 1, "low": 1}}
    assert deal_of(hands, "smudge", tricks, **items).made is False
    assert deal_of(hands, "smudge", tricks, **items, smudge_tricks=False).made is True
    assert deal_of(SWEPT, "smudge", SWEPT_TRICKS, smudge_tricks=False).made is False


def test_3_7_without_the_option_there_is_no_smudge():
    assert game_after(smudge=False).legal_names() == ["pass", "bid 2", "bid 3", "bid 4"]


def test_3_7_smudge_after_needs_a_number_as_high_before_it():
    assert "smudge" not in game_after("bid 2", smudge_after=3).legal_names()
    assert "smudge" in game_after("bid 3", smudge_after=3).legal_names()
    assert "smudge" in game_after("bid 4", "pass", smudge_after=3).legal_names()


def test_3_7_a_pitch_is_enough_for_smudge_after():
    assert "smudge" in game_after("AH", "pass", "pass", smudge_after=4, pitch_in_auction=True).legal_names()


def test_3_7_smudge_ends_auction_lets_nobody_call_after_it():
    game = game_after("pass", "smudge", smudge_ends_auction=True)
    assert (game.phase, game.pitcher) == ("play", 1)


def test_3_8_a_pitch_is_a_bid_of_four_with_the_suit_of_the_card():
    game = game_after("AH", pitch_in_auction=True)
    assert (game.high_bid, game.pitcher, game.trump) == (4, 0, "H")


def test_3_8_a_pitched_card_is_out_of_the_hand_at_once():
    assert game_after("AH", pitch_in_auction=True).hand(0) == "5C 6D KH 2S KS"


def test_3_8_a_pitch_is_the_first_lead_without_another_turn():
    game = game_after("AH", *["pass"] * 3, pitch_in_auction=True)
    assert (game.phase, game.seat) == ("play", 1)
    assert legal(game) == "4H JH"


def test_3_8_after_a_pitch_every_seat_but_the_dealer_must_pass():
    game = game_after("AH", pitch_in_auction=True)
    assert legal(game) == legal(play(game, "pass")) == "pass"


def test_3_8_a_joker_may_not_be_pitched():
    game = table("AH X2", "2C 3C", pitch_in_auction=True, jokers=1)
    assert legal(game) == "AH pass bid 2 bid 3 bid 4 smudge"


def test_3_8_who_could_not_bid_four_may_not_pitch():
    five = {"pitch_in_auction": True, "bids": (3, 4, 5)}
    assert legal(game_after("bid 3", **five)) == "7C TC 4H JH 9S TS pass bid 4 bid 5 smudge"
    assert legal(game_after("bid 4", **five)) == "pass bid 5 smudge"
    assert legal(game_after("bid 5", "pass", "pass", **five)) == "pass bid 5 smudge"


def test_3_9_the_dealer_may_pass_pitch_or_smudge_after_a_pitch():
    assert legal(game_after("AH", "pass", "pass", pitch_in_auction=True)) == "JC AD 3H 6H 8H 4S pass smudge"


def test_3_9_without_the_steal_the_dealer_may_not_pitch_over_a_pitch():
    game = game_after("AH", "pass", "pass", pitch_in_auction=True, dealer_may_steal=False)
    assert legal(game) == "pass smudge"


def test_3_9_the_dealers_pitch_takes_over_and_the_displaced_card_goes_back():
    game = game_after("AH", "pass", "pass", "AD", pitch_in_auction=True)
    assert (game.high_bid, game.pitcher, game.trump) == (4, 3, "D")
    assert game.hand(0) == "5C 6D KH AH 2S KS"
    assert (game.phase, game.seat) == ("play", 0)  # the dealer's card is led
    assert all("AH" in game.info_state(seat) for seat in range(4))


def test_3_9_a_displaced_card_goes_back_when_the_dealer_smudges_too():
    game = game_after("AH", "pass", "pass", "smudge", pitch_in_auction=True)
    assert game.hand(0) == "5C 6D KH AH 2S KS"
    assert (game.phase, game.seat, game.trump) == ("play", 3, None)


def test_3_9_after_a_spoken_four_only_the_dealer_may_pitch_and_others_smudge():
    game = game_after("bid 4", pitch_in_auction=True)
    assert legal(game) == "pass smudge"
    assert legal(play(game, "pass", "pass")) == "JC AD 3H 6H 8H 4S pass bid 4 smudge"
    assert play(game, "6H").pitcher == 3


def test_3_9_after_a_smudge_nobody_pitches():
    game = game_after("smudge", pitch_in_auction=True)
    assert legal(game) == "pass"
    assert legal(play(game, "pass", "pass")) == "pass smudge"


def test_3_9_a_dealer_to_whom_all_have_passed_may_pitch():
    game = game_after(*["pass"] * 3, "6H", pitch_in_auction=True)
    assert (game.pitcher, game.trump, game.seat) == (3, "H", 0)


def test_3_9_a_pitched_card_counts_as_in_its_players_hand():
    game = table("2H 2C", "AH 3C", "3D 4D", "3S 4S", pitch_in_auction=True, low_to="holder")
    play(game, "2H", "pass", "pass", "pass", cards="AH 3D 3S 3C 4D 4S 2C")
    assert outcome(game).items == [{"low": 1}, {"high": 1, "game": 1}]


def test_3_10_pitching_needs_a_bid_of_four_and_trumps_by_the_first_lead():
    assert "bids=(2, 3)" in refusal(pitch_in_auction=True, bids=(2, 3))
    assert "trump_choice='named'" in refusal(pitch_in_auction=True, trump_choice="named")


# ----------------------------------------------------------------------------------------- 4  trumps and the first lead


def test_4_1_the_first_lead_makes_its_suit_trumps_and_nobody_knows_it_before():
    game = bid(table(*WORKED_HANDS))
    assert game.trump is None
    assert legal(game) == "5C 6D KH AH 2S KS"
    assert play(game, "2S").trump == "S"


def test_4_1_a_joker_may_not_be_led_first_while_another_card_is_held():
    assert legal(bid(table("X1 X2 2S", "3C", jokers=2))) == "2S"


def test_4_1_with_only_jokers_the_lowest_suit_of_the_pack_is_trumps():
    game = bid(table("X1 X2", "2H 3S", "2D 3D", "4S 3H", jokers=2, suits="SHD"))
    assert legal(game) == "X1 X2"
    assert play(game, "X1").trump == "D"
    assert play(bid(table("X2", "3C", jokers=1)), "X2").trump == "C"


def test_4_2_the_pitcher_names_a_suit_of_the_pack_after_the_auction():
    game = bid(table("2H 3H", "4H 5H", suits="HSC", **NAMED))
    assert (game.phase, game.seat) == ("naming", 0)
    assert game.legal_names() == ["name C", "name H", "name S"]
    assert play(game, "name S").trump == "S"


def test_4_2_no_trump_may_be_named_with_the_option():
    game = bid(table("2H 3H", "4H 5H", no_trump=True, **NAMED))
    assert game.legal_names() == ["name C", "name D", "name H", "name S", "name NT"]
    assert play(game, "name NT").trump == "NT"


def test_4_2_trumps_are_named_before_any_exchange():
    game = bid(table("2H 3C", "4H 5H", rules="draw_pitch"))
    assert game.phase == "naming"
    assert play(game, "name H").phase == "exchange"


@pytest.mark.parametrize(
    "fields",
    [{"no_trump": True}, {"first_trick_no_trump": True, "opening_lead": "any"}, {"opening_lead": "plain"}]
    + [{"exchange": exchange} for exchange in ("draw", "discard", "refill")],
)
def test_4_2_what_needs_trumps_to_be_named(fields: dict[str, Any]):
    message = refusal(**fields)
    assert "trump_choice='named'" in message
    assert next(iter(fields)) in message
    Rules(**fields, trump_choice="named")


def test_4_2_no_trump_needs_that_there_is_no_exchange():
    assert "not 'draw'" in refusal(no_trump=True, trump_choice="named", exchange="draw")


def test_4_3_with_a_trump_lead_only_a_suit_held_may_be_named():
    game = bid(table("2H 3S", "4H", trump_choice="named", no_trump=True))
    assert game.legal_names() == ["name H", "name S", "name NT"]


def test_4_3_a_joker_counts_for_every_suit_and_an_off_jack_for_its_colour():
    game = bid(table("X2 3S", "4H", trump_choice="named", jokers=1))
    assert game.legal_names() == ["name C", "name D", "name H", "name S"]
    game = bid(table("JD 3S", "4H", trump_choice="named", off_jack=True))
    assert game.legal_names() == ["name D", "name H", "name S"]


@pytest.mark.parametrize(("lead", "cards"), [("trump", "JD 2H X2"), ("any", "JD 2H AS X2"), ("plain", "AS")])
def test_4_4_the_first_lead_is_a_trump_any_card_or_plain(lead: str, cards: str):
    game = table("X2 2H AS JD", "2C", trump_choice="named", opening_lead=lead, jokers=1, off_jack=True)
    assert legal(bid(game, trump="H")) == cards


def test_4_4_who_has_no_such_card_may_lead_another():
    assert legal(bid(table("2H 3H", "2C", trump_choice="named", opening_lead="plain"), trump="H")) == "2H 3H"
    assert legal(bid(table("2S 3S", "2C", trump_choice="named", no_trump=True), trump="NT")) == "2S 3S"


def test_4_4_later_leads_are_free():
    game = bid(table("AH 2H 3S", "2C", trump_choice="named"), trump="H")
    assert legal(game) == "2H AH"
    assert legal(play(game, "AH", "2C")) == "2H 3S"


def test_4_5_without_trumps_only_the_suit_led_and_jokers_take():
    no_trump = {"no_trump": True, "jokers": 2, "trump": "NT"}
    assert winner_of("2C AH KD", **no_trump) == 0
    assert winner_of("2C AH X1", **no_trump) == 2
    assert winner_of("X1 AH X2", **no_trump) == 2


def test_4_5_jokers_are_a_suit_of_their_own_without_trumps():
    no_trump = {"no_trump": True, "jokers": 2, "trump": "NT"}
    assert to_follow("X1 2C 3D", "X2", **no_trump) == "X1"
    assert to_follow("X1 2C 3D", "5C", **no_trump) == "2C X1"
    assert to_follow("X1 2C 3D", "5C", follow="strict", **no_trump) == "2C"


def test_4_5_the_first_plain_card_led_sets_the_reference_suit():
    game = bid(table("X2 KS 2C", "AH 2S 4C", jokers=1, no_trump=True, **NAMED), trump="NT")
    assert outcome(play(game, cards="X2 AH KS 2S 2C 4C")).items == [{"high": 1, "low": 1, "game": 1}, {}]


def first_trick(hand: str, lead: str, **fields: Any) -> str:
    """Returns what may be played to the first trick of No Trumps First Trick, hearts trumps."""
    return legal(play(bid(table(lead, hand, rules="no_trumps_first_trick", **fields), trump="H"), lead))


def test_4_6_nobody_may_trump_a_first_trick_led_with_a_plain_card():
    assert first_trick("2S 4H", "AS") == "2S"
    assert first_trick("2D 4H", "AS") == "2D"
    assert first_trick("2D 4H", "AS", follow="free") == "2D"


def test_4_6_a_hand_of_trumps_plays_one_and_it_ranks_as_usual():
    assert first_trick("5H 6H", "AS") == "5H 6H"
    game = bid(table("AS 2S", "5H 6H", rules="no_trumps_first_trick"), trump="H")
    assert play(game, cards="AS 5H").seat == 1


def test_4_6_a_trump_lead_makes_an_ordinary_trick():
    assert first_trick("2S 4H", "AH") == "4H"


def test_4_6_later_tricks_are_ordinary():
    game = bid(table("AS KS 2C", "2S 3S 3H", rules="no_trumps_first_trick"), trump="H")
    assert legal(play(game, cards="AS 2S KS")) == "3H 3S"


def test_4_6_needs_that_any_card_may_be_led():
    assert "opening_lead='any'" in refusal(first_trick_no_trump=True, trump_choice="named", opening_lead="plain")


# ---------------------------------------------------------------------------------------------------------- 5  exchange


@pytest.mark.parametrize(
    ("exchange", "sizes"), [("none", (5, 6)), ("none", (6, 5)), ("draw", (6, 5)), ("discard", (5, 6))]
)
def test_5_1_hands_and_exchanges_must_fit(exchange: str, sizes: tuple[int, int]):
    message = refusal(exchange=exchange, trump_choice="named", hand_size=sizes[0], play_size=sizes[1])
    assert f"play_size={sizes[1]}" in message
    assert f"hand_size={sizes[0]}" in message


@pytest.mark.parametrize("sizes", [(5, 6), (6, 6), (7, 6)])
def test_5_1_a_refill_fits_any_sizes(sizes: tuple[int, int]):
    Rules(exchange="refill", trump_choice="named", hand_size=sizes[0], play_size=sizes[1])


def test_5_1_the_pitcher_takes_the_widow_before_naming():
    game = bid(table("2H 3C", "4H 5H", widow="AS KS", rules="six_hand", sides=2, play_size=2, widow_to="pitcher"))
    assert game.phase == "naming"
    assert game.hand(0) == "3C 2H KS AS"
    assert "name S" in game.legal_names()


def test_5_1_a_widow_for_the_pitcher_needs_discarding():
    assert "not 'none'" in refusal(widow_to="pitcher", widow_size=2)
    assert "not 'draw'" in refusal(widow_to="pitcher", widow_size=2, trump_choice="named", exchange="draw")


def exchange(*hands: str, rules: str = "six_hand", trump: str = "H", **given: Any) -> Game:
    """Returns a deal in its exchange; seat 0 named trumps and acts first, two cards are played."""
    return bid(table(*hands, rules=rules, **{"sides": 2, "play_size": 2, **given}), trump=trump)


def test_5_2_seats_act_from_dealers_left_to_the_dealer():
    hands = ["2C 3C 4C 2H", "5C 6C 7C 3H", "8C 9C TC 4H", "2D 3D 4D 5H"]
    game = table(*hands, rules="six_hand", sides=2, play_size=2, dealer=1)
    play(game, "pass", "pass", "bid 2", "pass", "name H")  # seat 0 is the pitcher
    seats = []
    while game.phase == "exchange":
        seats.append(game.seat)
        game.play(game.legal_actions()[0])
    assert seats == [2, 2, 3, 3, 0, 0, 1, 1]
    assert game.seat == 0


def test_5_2_a_seat_is_dealt_up_before_the_next_acts():
    game = exchange("AH 2C", "2H 3C", rules="draw_pitch", stock="9S TS")
    play(game, "2C", "stand")
    assert (game.seat, game.hand(0)) == (1, "AH 9S")
    assert "TS" not in game.hand(1)
    play(game, "3C", "stand")
    assert game.hand(1) == "2H TS"


def test_5_2_a_class_that_must_go_whole_is_no_turn():
    game = exchange("AH KH 2C 3C", "2H 4C 5C 6C")
    assert game.hand(0) == "KH AH"
    assert (game.seat, legal(game)) == (1, "4C 5C 6C")


def test_5_2_plain_cards_go_before_trumps_and_those_without_an_item_before_the_rest():
    fixed = {"items": {"high": 1, "low": 1, "ten": 1, "game": 1}, "exchange": "refill"}
    game = exchange("AH 2H TH JH 5C", "6C", **fixed)
    assert game.hand(0) == "2H TH JH AH"  # the plain card had to go
    assert legal(game) == "2H JH AH"  # high and low are no fixed cards
    play(game, "2H")
    assert legal(game) == "JH AH"
    game = exchange("TH 9H JH JD X2", "6C", items={"jack": 1, "off_jack": 1, "joker": 1, "ten": 1}, exchange="refill",
                    off_jack=True, jokers=1)  # fmt: skip
    assert game.hand(0) == "JD TH JH X2"  # 9H went, it is no turn
    assert legal(game) == "JD TH JH X2"


def test_5_2_how_many_went_is_public_and_which_ones_is_not():
    hands = ["AH KH QH", "2C 3C 4C"]
    stories = []
    for card in ("2C", "3C"):
        game = play(exchange(*hands), "QH", card)
        assert game.phase == "play"
        assert card in game.info_state(1)
        stories.append(game.info_state(0))
    assert stories[0] == stories[1]
    assert "discarded [1, 1]" in stories[0]


def test_5_3_draw_any_number_of_plain_cards_and_stand():
    game = exchange("AH 2C 3C", "4C", rules="draw_pitch", play_size=3, stock="9S TS JS")
    assert legal(game) == "2C 3C stand"
    assert legal(play(game, "2C")) == "3C stand"
    assert legal(play(game, "3C")) == "stand"
    play(game, "stand")
    assert game.hand(0) == "AH 9S TS"


def test_5_3_a_hand_of_trumps_has_its_turn_too():
    game = exchange("AH KH", "4C", rules="draw_pitch")
    assert (game.seat, legal(game)) == (0, "stand")


def test_5_3_a_short_hand_is_dealt_up_to_play_size():
    game = exchange("AH KH", "4C", rules="draw_pitch", play_size=4, stock="9S TS")
    assert play(game, "stand").hand(0) == "KH AH 9S TS"


def test_5_4_discard_comes_exactly_down_to_play_size():
    game = exchange("AH 2C 3C 4C", "2H KH QH 5C")
    assert legal(game) == "2C 3C 4C"
    assert legal(play(game, "2C")) == "3C 4C"
    assert play(game, "3C").hand(0) == "4C AH"  # no more than must go, and nothing is drawn


def test_5_4_discard_makes_no_difference_between_trumps():
    assert legal(exchange("TH JH 9H", "5C", items={"ten": 1, "jack": 1})) == "9H TH JH"


def test_5_5_refill_has_every_plain_card_go():
    game = exchange("AH 2C 3C", "4H 5H", exchange="refill", stock="9S")
    assert game.hand(0) == "AH 9S"


def test_5_5_more_trumps_than_play_size_come_down():
    game = exchange("AH KH QH 2C", "4H", exchange="refill")
    assert legal(game) == "QH KH AH"
    assert play(game, "QH").hand(0) == "KH AH"


def leftover(*hands: str, **given: Any) -> Game:
    """Returns the exchange of a small Oklahoma: two suits, no jokers, no off-jack item."""
    items = {"high": 1, "low": 1, "jack": 1, "three": 3, "ten": 1}
    return exchange(
        *hands, **{"rules": "oklahoma", "suits": "HS", "jokers": 0, "off_jack": False, "items": items, **given}
    )


SMALL_PACK = {"ranks": "23456", "stock": "6S", "play_size": 3, "sides": 3, "items": {"high": 1}}
"""Ten cards, three hands of three: the stock runs out."""


def test_5_6_the_pitcher_takes_the_rest_of_the_stock_and_comes_down():
    game = leftover("KH QH", "2H 2S", stock="7H TS", ranks="27TQKA")
    # Seat 1 drew the 7H; the rest is TS, TH, AH, 7S, QS, KS, AS in some order.
    assert game.hand(1) == "2H 7H"
    assert (game.phase, game.seat) == ("exchange", 0)
    assert legal(game) == "QH KH AH"
    play(game, "QH", "KH")
    assert (game.phase, game.hand(0)) == ("play", "TH AH")


def test_5_6_not_if_discards_were_shuffled_into_it():
    game = leftover("2H 2S 3S", "3H 4S 5S", "4H 5H 6H", **SMALL_PACK)
    assert len(game.record()["reshuffles"]) == 2
    assert game.phase == "play"  # one card of the stock is left
    assert len(game.hand(0).split()) == 3


def test_5_6_needs_a_refill():
    assert "not 'discard'" in refusal(leftover_to="pitcher", exchange="discard", trump_choice="named")


def test_5_7_discards_are_shuffled_when_the_stock_is_empty_the_seats_own_too():
    game = leftover("2H 2S 3S", "3H 4S 5S", "4H 5H 6H", **SMALL_PACK)
    first, *_ = game.record()["reshuffles"]
    assert set(first.split()) == {"2S", "3S"}  # of seat 0 itself, which drew the 6S and then one of them
    assert game.hand(0) in ("2H 2S 6S", "2H 3S 6S")


def test_5_7_the_order_of_a_reshuffle_follows_from_the_seed():
    hands = ["2H 2S 3S", "3H 4S 5S", "4H 5H 6H"]
    orders = {leftover(*hands, seed=seed, **SMALL_PACK).record()["reshuffles"][0] for seed in range(20)}
    assert orders == {"2S 3S", "3S 2S"}


SWAP = {"widow_to": "pitcher_after_first_trick"}


def test_5_8_the_pitcher_swaps_after_the_first_trick_and_its_winner_leads():
    game = bid(table("KH 2C 3C", "2H 4C 5C", "JH 6C 7C", "AH 8C 9C", widow="QH 3H", **SWAP))
    play(game, cards="KH 2H JH AH")
    assert (game.phase, game.seat) == ("widow", 0)
    assert legal(game) == "2C 3C 3H QH"
    assert legal(play(game, "3H")) == "2C 3C QH"
    play(game, "2C")
    assert (game.phase, game.seat, game.hand(0)) == ("play", 3, "3C QH")


def test_5_8_what_is_swapped_out_is_seen_by_all_and_no_good_for_game():
    hands = ["KH TS 3C", "2H AC 5C", "3H 6C 7C", "4H 8C 9C"]
    game = play(bid(table(*hands, widow="2C", **SWAP)), cards="KH 2H 3H 4H TS")
    assert all("0 TS" in game.info_state(seat) for seat in range(4))
    result = outcome(play(game, cards="2C AC 6C 8C 5C 7C 9C 3C"))
    assert result.items == [{"high": 1, "low": 1}, {"game": 1}]  # 3, without the ten, against 4


def test_5_8_an_empty_hand_does_not_swap():
    game = play(bid(table("KH", "2H", "3H", "4H", widow="2C", **SWAP)), cards="KH 2H 3H 4H")
    assert game.phase == "over"


def test_5_8_trumps_do_not_change_and_widow_cards_are_not_in_play():
    hands = ["KH 3C 2C", "2H 4C 5C", "3H 6C 7C", "4H 8C 9C"]
    game = play(bid(table(*hands, widow="AH", **SWAP)), cards="KH 2H 3H 4H 2C")
    assert game.trump == "H"
    result = outcome(play(game, cards="AH 4C 6C 8C 3C 5C 7C 9C"))
    assert result.items[0] == {"high": 1, "low": 1, "game": 1}  # High is the king


def test_5_8_an_item_swapped_out_is_scored_by_nobody():
    hands = ["KH JH 3C", "2S 4C 5C", "2D 6C 7C", "2C 8C 9C"]
    game = play(bid(table(*hands, widow="TC", **SWAP)), cards="KH 2S 2D 2C JH")
    result = outcome(play(game, cards="TC 4C 6C 8C 3C 5C 7C 9C"))
    assert result.items == [{"high": 1, "game": 1}, {}]  # the jack was Low too


# -------------------------------------------------------------------------------------------------------------- 6  play


def test_6_1_the_pitcher_leads_and_then_the_winner_any_card():
    game = play(table(*WORKED_HANDS), "pass", "bid 2", "pass", "pass")
    assert game.seat == 1
    assert play(game, cards="4H 5H 6H AH").seat == 0
    assert legal(game) == "5C 6D KH 2S KS"


FOLLOW_ROWS = [
    # rule, holding the suit led, void with trumps, void of both
    ("follow_or_trump", "4C 2H", "2H AS", "3D AS"),
    ("follow_or_trump_must_trump", "4C 2H", "2H", "3D AS"),
    ("strict", "4C", "2H AS", "3D AS"),
    ("strict_must_trump", "4C", "2H", "3D AS"),
    ("free", "4C 2H AS", "2H AS", "3D AS"),
]


@pytest.mark.parametrize(("follow", "cards"), [(row[0], row[1]) for row in FOLLOW_ROWS])
def test_6_2_a_holder_of_the_suit_led(follow: str, cards: str):
    assert to_follow("4C 2H AS", "7C", follow=follow) == cards


@pytest.mark.parametrize(("follow", "cards"), [(row[0], row[2]) for row in FOLLOW_ROWS])
def test_6_2_a_seat_void_of_the_suit_led_with_trumps(follow: str, cards: str):
    assert to_follow("2H AS", "7C", follow=follow) == cards


@pytest.mark.parametrize(("follow", "cards"), [(row[0], row[3]) for row in FOLLOW_ROWS])
def test_6_2_a_seat_void_of_both(follow: str, cards: str):
    assert to_follow("AS 3D", "7C", follow=follow) == cards


def test_6_2_a_seat_able_to_follow_may_trump_instead():
    game = bid(table("7C", "4C 2H", hand_size=2, **NAMED), trump="H")
    assert play(game, cards="7C 2H").seat == 1


@pytest.mark.parametrize("follow", ["follow_or_trump", "follow_or_trump_must_trump", "strict", "strict_must_trump"])
def test_6_3_a_trump_lead_is_followed_with_any_trump(follow: str):
    assert to_follow("2H 9H AS", "7H", follow=follow) == "2H 9H"
    assert to_follow("4C AS", "7H", follow=follow) == "4C AS"


def test_6_3_not_under_free():
    assert to_follow("2H 9H AS", "7H", follow="free") == "2H 9H AS"


def test_6_4_the_highest_trump_wins_or_else_the_highest_card_of_the_suit_led():
    assert winner_of("KC 2H AC 3H") == 3
    assert winner_of("3C AS 9C AD") == 2


def test_6_4_all_tricks_are_played_out():
    game = bid(table(*WORKED_HANDS))
    num_cards = 0
    while game.seat is not None:
        game.play(game.legal_actions()[0])
        num_cards += 1
    assert num_cards == 24


FACE_DOWN = ["6S", "7S", "8S", "9S"]


def test_6_5_no_blind_card_in_the_first_trick():
    game = bid(table("AH 2S", "2H 3S", "JH 4C", "3H 5S", face_down=FACE_DOWN))
    assert legal(game) == "AH 2S"
    assert legal(play(game, "AH")) == "2H"


def test_6_5_from_the_second_trick_on_it_is_a_choice():
    game = play(bid(table("AH 2S", "2H 3S", "JH 4C", "3H 5S", face_down=FACE_DOWN)), cards="AH 2H JH 3H")
    assert legal(game) == "2S blind"
    assert legal(play(game, "2S")) == "3S blind"


def test_6_5_a_blind_card_sets_the_suit_led_when_led_and_is_never_a_revoke():
    game = play(bid(table("AH 2C", "2H 3S", "JH 4C", "3H 5S", face_down=["6S", "7D", "8S", "9S"])), cards="AH 2H JH 3H")
    play(game, "blind")  # 6S
    assert legal(game) == "3S blind"
    play(game, "blind")  # 7D, though a spade is held
    assert legal(game) == "4C blind"


def test_6_5_the_duty_to_follow_is_judged_on_the_hand_alone():
    game = play(bid(table("AH 2S", "2H 3C", "JH 4C", "3H 5C", face_down=FACE_DOWN)), cards="AH 2H JH 3H 2S")
    assert legal(game) == "3C blind"  # the pile's spade is no spade of the hand


def test_6_5_an_empty_hand_must_play_blind():
    game = play(bid(table("AH", "2H", "JH", "3H", face_down=FACE_DOWN)), cards="AH 2H JH 3H")
    assert legal(game) == "blind"


def test_6_5_there_are_play_size_and_face_down_size_tricks():
    game = play(bid(table("AH", "2H", "JH", "3H", face_down=["6S 2C", "7S 3C", "8S 4C", "9S 5C"])), cards="AH 2H JH 3H")
    play(game, *["blind"] * 7)
    assert game.phase == "play"
    assert play(game, "blind").phase == "over"


# ------------------------------------------------------------------------------------------------------------- 7  items


def items_of(hands: list[str], cards: str, **given: Any) -> list[dict[str, int]]:
    """Returns the items of a deal that seat 0 won with a bid of two, hearts trumps."""
    return deal_of(hands, "bid 2", cards, "H", **{**NAMED, **given}).items


def test_7_1_high_and_low_are_the_highest_and_lowest_trump_in_play():
    assert items_of(["KH 2C", "3H 3C", "4C", "5C"], "KH 3H 4C 5C 2C 3C 6C 7C", items={"high": 2, "low": 3}) == [
        {"high": 2, "low": 3},
        {},
    ]


def test_7_1_high_may_be_a_joker_or_the_off_jack_and_low_never_a_joker():
    items = {"items": {"high": 1, "low": 1}, "jokers": 2, "off_jack": True}
    assert items_of(["4H", "JD", "2S", "3S"], "4H JD 2S 3S", **items) == [{}, {"high": 1, "low": 1}]
    assert items_of(["4H", "X1", "2S", "3S"], "4H X1 2S 3S", **items, low_to="holder") == [{"low": 1}, {"high": 1}]


@pytest.mark.parametrize(
    ("item", "card"), [("jack", "JH"), ("off_jack", "JD"), ("ten", "TH"), ("three", "3H"), ("five", "5H")]
)
def test_7_1_a_fixed_card_scores_for_the_winner_of_its_trick(item: str, card: str):
    fields = {"items": {item: 4}, "off_jack": True}
    assert items_of([card, "AH"], f"{card} AH", **fields) == [{}, {item: 4}]
    assert items_of(["2C", "3C", card, "4C"], f"2C 3C {card} 4C", **fields) == [{item: 4}, {}]
    assert items_of(["KH", "AH"], "KH AH", **fields) == [{}, {}]  # not in play


def test_7_1_the_ace_takes_its_trick():
    assert items_of(["KH", "AH"], "KH AH", items={"ace": 1}) == [{}, {"ace": 1}]


def test_7_1_the_item_off_jack_needs_the_option():
    assert "off_jack=True" in refusal(items={"off_jack": 1})


def test_7_1_each_joker_in_play_scores_its_value():
    fields = {"jokers": 2, "decks": 2, "items": {"joker": 2}}
    assert items_of(["AH 3C", "X1 4C", "X1 5C", "X2 6C"], "AH X1 X1 X2 3C 4C 5C 6C", **fields) == [{"joker": 6}, {}]
    assert items_of(["X1", "X2"], "X1 X2", **fields) == [{}, {"joker": 4}]


def test_7_1_the_two_scores_for_the_side_that_plays_it():
    assert items_of(["AH", "2H"], "AH 2H", items={"two": 1}) == [{}, {"two": 1}]


def test_7_1_the_highest_spade_in_play_scores_for_its_winner():
    spade = {"items": {"high_spade": 1}}
    assert items_of(["AC 2H", "QS KC"], "2H QS AC KC", **spade, follow="free") == [{"high_spade": 1}, {}]
    assert items_of(["QS", "KS"], "QS KS", **spade) == [{}, {"high_spade": 1}]
    assert deal_of(["AS", "KS"], "bid 2", "AS KS", "S", **NAMED, items={"high": 1, "high_spade": 1}).items[0] == {
        "high": 1,
        "high_spade": 1,
    }


def test_7_2_a_card_that_is_not_in_play_scores_for_nobody():
    assert "jack" not in deal_of(SWEEP_WITHOUT_JACK, "bid 3", SWEEP_WITHOUT_JACK_TRICKS).items[0]


def test_7_2_one_card_can_carry_several_items():
    assert items_of(["JH", "2S"], "JH 2S", items={"high": 1, "low": 1, "jack": 1}) == [
        {"high": 1, "low": 1, "jack": 1},
        {},
    ]


@pytest.mark.parametrize(("low_to", "side"), [("winner", 0), ("holder", 1)])
def test_7_3_low_goes_to_the_winner_or_to_the_holder(low_to: str, side: int):
    items = items_of(["AH", "2H"], "AH 2H", items={"low": 1}, low_to=low_to)
    assert items[side] == {"low": 1}
    assert items[1 - side] == {}


@pytest.mark.parametrize("high_to", ["holder", "winner"])
def test_7_3_high_takes_its_trick_so_that_holder_and_winner_are_one(high_to: str):
    assert items_of(["AH 2C", "KH 3C"], "2C KH 3C AH", items={"high": 1}, high_to=high_to) == [{"high": 1}, {}]
    two_packs = ["KH 2C", "AH 3C", "AH 4C", "QH 5C"]
    items = items_of(two_packs, "KH AH AH QH 3C 4C 5C 2C", items={"high": 1}, high_to=high_to, decks=2)
    assert items == [{}, {"high": 1}]


def test_7_3_the_holder_of_a_face_down_card_is_the_seat_before_which_it_lay():
    game = bid(table("AH", "3H", "4H", "5H", face_down=["2C", "2H", "6H", "4C"], low_to="holder", items={"low": 1}))
    play(game, "AH", "3H", "4H", "5H", *["blind"] * 4)
    assert outcome(game).items == [{}, {"low": 1}]


def test_7_3_jack_only_bidder():
    assert "jack" in deal_of(SWEPT, "bid 2", SWEPT_TRICKS).items[1]
    assert "jack" not in deal_of(SWEPT, "bid 2", SWEPT_TRICKS, jack_only_bidder=True).items[1]
    assert "jack" in deal_of(SWEEP, "bid 2", SWEEP_TRICKS, jack_only_bidder=True).items[0]


def test_7_4_cards_count_for_game_in_all_suits():
    game = bid(table("AH TC", "2H 9C", "3H KC", "4H QC"))
    play(game, cards="AH 2H 3H 4H")
    assert list(game.state()["game_values"][:2]) == [4, 0]
    play(game, cards="TC 9C KC QC")
    assert list(game.state()["game_values"][:2]) == [19, 0]


@pytest.mark.parametrize(
    ("face", "value"), [("TS", 10), ("AS", 4), ("KS", 3), ("QS", 2), ("JS", 1), ("9S", 0), ("2S", 0), ("X2", 0)]
)
def test_7_4_the_game_value_of_each_rank(face: str, value: int):
    game = bid(table(face, "3S", jokers=1, **NAMED), trump="H")
    play_out(game)
    assert sum(game.state()["game_values"]) == value


def test_7_4_level_at_the_top_nobody_scores_it_nought_each_too():
    assert items_of(["9H 2C", "3C", "4C", "5C"], "9H 3C 4C 5C 2C 6C 7C 8C", items={"game": 1}) == [{}, {}]
    assert items_of(["AH 3C", "2S AC"], "AH 2S 3C AC", items={"game": 1}) == [{}, {}]


def test_7_4_only_the_leaders_matter_among_three_sides():
    hands = ["2H 2S 3D", "TC KS 3C", "AD 4S KC"]
    assert items_of(hands, "2H TC AD 2S KS 4S 3C KC 3D", sides=3, items={"game": 1}) == [{"game": 1}, {}, {}]


def test_7_5_an_item_goes_by_the_first_played_of_two_identical_cards_once():
    two = {"decks": 2, "items": {"high": 1, "jack": 1, "two": 1}}
    assert items_of(["2H 3C", "AH 4C", "AH 5C", "3H 6C"], "2H AH AH 3H 4C 5C 6C 3C", **two) == [{"two": 1}, {"high": 1}]
    assert items_of(["AH JH", "JH 2H"], "AH JH JH 2H", **two) == [{"high": 1, "jack": 1}, {"two": 1}]


def test_7_5_the_holder_is_that_of_the_first_played_copy():
    two = {"decks": 2, "items": {"low": 1}, "low_to": "holder"}
    assert items_of(["AH 2H", "2H KH"], "AH 2H 2H KH", **two) == [{}, {"low": 1}]


def test_7_5_a_swapped_in_widow_card_may_be_the_first_played_copy():
    hands = ["KH 2C 3C", "2H 4C 5C", "3H 6C 7C", "AH JH 9C"]
    game = play(bid(table(*hands, widow="JH", decks=2, items={"jack": 1}, **SWAP)), cards="KH 2H 3H AH 2C")
    play(game, cards="9C JH 4C 6C")  # the widow's jack takes the trick before the jack that was in play
    assert outcome(play(game, cards="3C 5C 7C JH")).items == [{"jack": 1}, {}]


def test_7_5_only_jokers_that_were_in_play_score():
    jokers = {"jokers": 1, "items": {"joker": 1}, **SWAP}
    hands = ["AH 3C", "2H 4C", "3H 5C", "4H 6C"]
    assert outcome(play(bid(table(*hands, widow="X2", **jokers)), cards="AH 2H 3H 4H 3C X2 4C 5C 6C")).items[0] == {}


NO_TRUMP = {"no_trump": True, "jokers": 1}


@pytest.mark.parametrize("to", ["winner", "holder"])
def test_7_6_high_low_and_jack_of_the_reference_suit_go_to_the_tricks_winner(to: str):
    hands, cards = ["KS AH", "JS 3H", "2S 4H", "AS 5H"], "KS JS 2S AS 5H AH 3H 4H"
    rules = {**NAMED, **NO_TRUMP, "items": {"high": 1, "low": 1, "jack": 1}, "low_to": to, "high_to": to}
    assert deal_of(hands, "bid 2", cards, "NT", **rules).items == [{}, {"high": 1, "low": 1, "jack": 1}]


def test_7_6_joker_high_spade_and_game_score_as_always_and_other_trump_items_for_nobody():
    items = {"ace": 1, "ten": 1, "two": 1, "three": 1, "joker": 1, "high_spade": 1, "game": 1}
    hands, cards = ["AS TS", "2S X2", "3S 4H", "5S 5H"], "AS 2S 3S 5S TS X2 4H 5H"
    assert deal_of(hands, "bid 2", cards, "NT", **NAMED, **NO_TRUMP, items=items).items == [
        {"high_spade": 1},
        {"joker": 1, "game": 1},
    ]


def test_7_6_without_a_reference_suit_nobody_scores_high_low_and_jack():
    items = {"high": 1, "low": 1, "jack": 1, "joker": 1}
    result = deal_of(["X2", "AH", "JS", "3S"], "bid 2", "X2 AH JS 3S", "NT", **NAMED, **NO_TRUMP, items=items)
    assert result.items == [{"joker": 1}, {}]


# -------------------------------------------------------------------------------------------------------- 8  settlement


def test_8_1_a_bid_is_made_with_items_worth_as_much_and_scores_them_all():
    result = worked_deal("bid 2")
    assert result.made is True
    assert result.points == [2, 2]
    assert deal_of(SWEEP, "bid 2", SWEEP_TRICKS).points == [4, 0]


def test_8_1_defenders_score_their_items_made_or_not():
    assert worked_deal("bid 2").points[1] == worked_deal("bid 3").points[1] == 2


def test_8_1_items_of_more_value_count_as_much():
    assert worked_deal("bid 4", items={"high": 3, "jack": 1, "low": 1}).made is True
    assert worked_deal("bid 4", items={"high": 2, "jack": 1, "low": 1}).made is False


def test_8_2_a_failed_bid_is_subtracted_and_the_items_are_lost():
    result = worked_deal("bid 3")
    assert result.made is False
    assert result.points == [-3, 2]


def test_8_2_scores_have_no_floor():
    assert worked_deal("bid 3", scores=[-9999, 0]).scores == [-10_002, 2]


@pytest.mark.parametrize(
    ("fields", "points"),
    [
        ({}, [-3, 0, 1]),
        ({"set_rule": "transfer"}, [0, 2, 2]),
        ({"set_rule": "transfer", "transfer_keeps_own": True}, [0, 2, 3]),
    ],
)
def test_8_2_transfer_pays_the_bidders_items_to_each_defending_side(fields: dict[str, Any], points: list[int]):
    hands, cards = ["AH 2C", "2H KC", "3H AC"], "AH 2H 3H 2C KC AC"
    result = deal_of(hands, "bid 3", cards, rules="cutthroat", **fields)
    assert result.items == [{"high": 1, "low": 1}, {}, {"game": 1}]
    assert result.points == points


def test_8_2_transfer_keeps_own_adds_the_defenders_items():
    assert worked_deal("bid 3", set_rule="transfer").points == [0, 2]
    assert worked_deal("bid 3", set_rule="transfer", transfer_keeps_own=True).points == [0, 4]


def test_8_2_a_smudge_is_never_transferred():
    assert worked_deal("smudge", set_rule="transfer").points == [-5, 2]


ZERO = {"bids": (0, 2)}


def test_8_3_a_bid_of_nothing_is_made_with_no_points_and_then_nobody_scores():
    result = deal_of(SWEPT, "bid 0", SWEPT_TRICKS, **ZERO)
    assert result.made is True
    assert sum(result.items[1].values()) == 4
    assert result.points == [0, 0]


def test_8_3_otherwise_it_failed():
    result = worked_deal("bid 0", **ZERO)
    assert result.made is False
    assert result.points == [0, 2]
    assert worked_deal("bid 0", **ZERO, set_rule="transfer", transfer_keeps_own=True).points == [0, 4]


def smudges(hands: list[str], cards: str, **given: Any) -> bool:
    """Tells whether a smudge of seat 0, hearts trumps, is made."""
    made = deal_of(hands, "smudge", cards, "H", **{**NAMED, **given}).made
    assert made is not None
    return made


def test_8_4_a_smudge_needs_every_item():
    assert smudges(SWEEP, SWEEP_TRICKS)
    assert not smudges(SWEEP_WITHOUT_JACK, SWEEP_WITHOUT_JACK_TRICKS)  # an undealt jack
    assert not smudges(["9H 8H", "2C", "2D", "2S"], "9H 2C 2D 2S 8H 3C 4C 5C", items={"high": 1, "game": 1})  # Game 0–0


def test_8_4_a_low_scored_by_a_defender_fails_it():
    hands, cards = ["AH JH", "2H 3C", "2D 3D", "2S 3S"], "AH 2H 2D 2S JH 3C 3D 3S"
    assert smudges(hands, cards)
    assert not smudges(hands, cards, low_to="holder")


def test_8_4_every_joker_of_the_pack_is_needed():
    items = {"items": {"high": 1, "joker": 1}, "jokers": 2}
    assert smudges(["AH X1", "X2 2C", "2D 3D", "2S 3S"], "AH X2 2D 2S X1 2C 3D 3S", **items)
    assert not smudges(["AH X1", "3C 2C", "2D 3D", "2S 3S"], "AH 3C 2D 2S X1 2C 3D 3S", **items)


def test_8_4_every_trick_is_needed_with_the_option():
    hands, cards, items = ["AH 2C", "2H AC", "3H", "4H"], "AH 2H 3H 4H 2C AC 3C 4C", {"items": {"high": 1, "low": 1}}
    assert not smudges(hands, cards, **items)
    assert smudges(hands, cards, **items, smudge_tricks=False)


def test_8_4_a_number_that_takes_everything_is_no_smudge():
    assert deal_of(SWEEP, "bid 4", SWEEP_TRICKS).points == [4, 0]


def made_smudge(**given: Any) -> DealResult:
    """Returns a deal with a made smudge."""
    return deal_of(SWEEP, "smudge", SWEEP_TRICKS, **given)


def test_8_5_a_made_smudge_scores_its_value_instead_of_the_items():
    assert made_smudge().points == [5, 0]
    assert made_smudge(smudge_value=9).points == [9, 0]


@pytest.mark.parametrize(
    ("score", "after", "winner"), [(0, 21, 0), (7, 21, 0), (30, 30, 0), (-1, 0, None), (-30, 0, None)]
)
def test_8_5_advance_takes_a_score_to_the_target_or_out_of_debt(score: int, after: int, winner: int | None):
    result = made_smudge(smudge_made="advance", scores=[score, 0])
    assert result.scores == [after, 0]
    assert result.winner == winner


def test_8_5_win_scores_the_value_and_wins_at_any_score():
    result = made_smudge(smudge_made="win", scores=[-20, 20])
    assert result.scores == [-15, 20]
    assert result.winner == 0


def test_8_6_set_costs_the_value_and_defenders_score_their_items():
    assert worked_deal("smudge").points == [-5, 2]


@pytest.mark.parametrize("score", [10, 0, -10])
def test_8_6_score_becomes_minus_the_value_whatever_it_was(score: int):
    assert worked_deal("smudge", smudge_failed="score_becomes", scores=[score, 0]).scores == [-5, 2]


def test_8_6_lose_loses_the_game_at_once_to_the_other_side():
    result = worked_deal("smudge", smudge_failed="lose", scores=[20, -20])
    assert result.scores == [15, -18]
    assert result.winner == 1


def test_8_6_among_more_sides_the_best_score_after_the_deal_wins_ties_to_the_pitchers_left():
    lose = {"smudge_failed": "lose", "sides": 4, "items": {"jack": 1}}
    hands, cards = ["KH", "AC", "2C", "3C"], "KH AC 2C 3C"
    assert deal_of(hands, "smudge", cards, scores=[30, 3, 6, 7], **lose).winner == 3
    assert deal_of(hands, "smudge", cards, scores=[0, 3, 7, 7], **lose).winner == 2
    lose["items"] = {"high": 1, "jack": 1}
    hands, cards = ["KH", "2C", "3C", "AH"], "KH 2C 3C AH"
    assert deal_of(hands, "smudge", cards, scores=[0, 3, 7, 7], **lose).winner == 3  # 8 after this deal


# --------------------------------------------------------------------------------------------------------- 9  going out


def test_9_1_only_the_bidding_side_goes_out_on_a_deal_it_made():
    assert worked_deal("bid 2", scores=[18, 0]).winner is None
    assert worked_deal("bid 2", scores=[19, 0]).winner == 0
    assert worked_deal("bid 3", scores=[30, 0]).winner is None  # failed, at 27
    assert worked_deal("bid 2", scores=[0, 21]).winner is None  # defenders at 23


FIRST = {"out": "first_to_target"}


def test_9_2_any_side_at_the_target_goes_out():
    assert worked_deal("bid 2", scores=[0, 19], **FIRST).winner == 1
    assert worked_deal("bid 3", scores=[0, 19], **FIRST).winner == 1


def test_9_2_the_bidding_side_first_if_it_made_its_bid():
    assert worked_deal("bid 2", scores=[19, 30], **FIRST).winner == 0


def test_9_2_else_the_highest_and_level_they_play_on():
    assert worked_deal("bid 4", scores=[25, 30], **FIRST).winner == 1
    assert worked_deal("bid 4", scores=[30, 20], **FIRST).winner == 0
    assert worked_deal("bid 4", scores=[25, 19], **FIRST).winner is None  # 21 each


OTHER_SET = {"out": "made_or_other_set"}


def test_9_3_defenders_go_out_only_on_a_failed_deal():
    assert worked_deal("bid 2", scores=[0, 30], **OTHER_SET).winner is None
    assert worked_deal("bid 3", scores=[0, 19], **OTHER_SET).winner == 1
    assert worked_deal("bid 3", scores=[30, 0], **OTHER_SET).winner is None
    assert worked_deal("bid 2", scores=[19, 30], **OTHER_SET).winner == 0


def test_9_3_of_several_defending_sides_the_highest_and_level_they_play_on():
    hands, cards = ["KH 2C", "2D 3D", "2S 3S"], "KH 2D 2S 2C 3D 3S"
    for scores, winner in (([0, 22, 25], 2), ([0, 25, 25], None), ([99, 25, 22], 1)):
        assert deal_of(hands, "bid 4", cards, rules="cutthroat", scores=scores, **OTHER_SET).winner == winner


def test_9_4_counting_down_changes_nothing_but_what_is_shown():
    assert worked_deal("bid 2", count_down=True, scores=[3, 4]) == worked_deal("bid 2", scores=[3, 4])


CONCEDE = {"concede_without_trumps": True, "smudge": False, "items": {"high": 1, "low": 1, "jack": 1, "two": 1}}


def test_9_5_a_side_out_of_trumps_gives_up_what_the_others_hold():
    hands = ["AH JH 2H", "3H 4C 5C", "2D 3D 4D", "2S 3S 4S"]
    result = deal_of(hands, "bid 2", "AH 3H 2D 2S", **CONCEDE)  # over after one trick
    assert result.items == [{"high": 1, "low": 1, "jack": 1, "two": 1}, {}]


def test_9_5_not_while_a_partner_holds_a_trump():
    game = bid(table("AH JH 2H", "3H 4C 5C", "2D 3D 4D", "2S 3S 4H", **CONCEDE))
    assert play(game, cards="AH 3H 2D 4H").phase == "over"
    game = bid(table("AH JH 2H", "3H 4C 5C", "2D 3D 4D", "5H 3S 4H", **CONCEDE))
    assert play(game, cards="AH 3H 2D 4H").phase == "play"


def test_9_5_playing_on_gives_the_same():
    hands = ["AH JH 2H", "3H 4C 5C", "2D 3D 4D", "2S 3S 4S"]
    played_on = play_out(play(bid(table(*hands, **{**CONCEDE, "concede_without_trumps": False})), cards="AH 3H 2D 2S"))
    assert played_on == deal_of(hands, "bid 2", "AH 3H 2D 2S", **CONCEDE)


@pytest.mark.parametrize(
    "fields",
    [
        {"players": 3, "sides": 3},
        {"items": {"high": 1, "game": 1}},
        {"items": {"high_spade": 1}},
        {"no_trump": True, "trump_choice": "named"},
        {"face_down_size": 1},
        {"widow_to": "pitcher_after_first_trick"},
        {"smudge": True},
    ],
)
def test_9_5_what_conceding_needs(fields: dict[str, Any]):
    assert "concede_without_trumps" in refusal(**{**CONCEDE, **fields})


# -------------------------------------------------------------------------------------------------------- 10  the sheet


def test_10_1_being_set_enters_nothing_and_adds_to_the_debt():
    result = worked_deal("bid 3", scores=[5, 0], debts=[2, 0])
    assert result.sheet == [[0, 5], [2, 0]]
    assert result.scores == [2, 2]


@pytest.mark.parametrize(("debt", "entry"), [(0, [2, 0]), (1, [1, 0]), (2, [0, 0]), (5, [0, 3])])
def test_10_1_points_pay_the_debt_before_anything_is_entered(debt: int, entry: list[int]):
    result = worked_deal("bid 2", scores=[4, 0], debts=[debt, 0])
    assert result.sheet[0] == entry
    assert result.scores[0] == 6


def test_10_1_a_game_carries_column_and_debt_from_deal_to_deal():
    game = play(bid(table(*WORKED_HANDS, debts=[4, 0], scores=[0, 0]), "bid 3"), cards=WORKED_TRICKS)
    game.next_deal()
    assert (game.scores, game.debts) == ([-3, 2], [7, 0])
    result = play_out(game)
    assert game.scores == [-3 + result.points[0], 2 + result.points[1]]
    assert game.debts == [owed for _, owed in result.sheet]


def test_10_1_scores_alone_start_with_the_debt_that_they_owe():
    assert table(*WORKED_HANDS, scores=[-7, 4]).debts == [7, 0]


def test_10_1_a_score_that_becomes_less_than_the_column_is_owed():
    become = {"smudge_failed": "score_becomes", "smudge_value": 4}
    assert worked_deal("smudge", scores=[10, 0], **become).sheet[0] == [0, 14]
    assert worked_deal("smudge", scores=[-10, 0], **become).sheet[0] == [0, 4]


def test_10_1_a_score_that_becomes_more_than_the_column_is_entered():
    result = made_smudge(smudge_made="advance", scores=[3, 0], debts=[4, 0])
    assert result.sheet[0] == [21 - 7, 0]
    assert result.scores[0] == 21


def test_10_1_a_void_deal_enters_nothing():
    result = outcome(play(table(*WORKED_HANDS, all_pass="void", scores=[-2, 3]), *["pass"] * 4))
    assert result.sheet == [[0, 2], [0, 0]]


# --------------------------------------------------------------------------------------------------- 11  named variants


def test_11_every_named_variant_is_in_the_table_and_plays():
    for name, rules in VARIANTS.items():
        assert re.search(rf"^\| `{name}` \|", RULEBOOK, re.M), name
        assert play_out(Game(rules, seed=11)) is not None


@pytest.mark.parametrize("players", range(2, 9))
def test_11_cutthroat_is_for_two_to_eight_each_for_himself(players: int):
    assert variant("cutthroat", players=players).sides == players
    assert variant("cutthroat").players == 3


@pytest.mark.parametrize(("players", "sides"), [(3, 3), (4, 2), (5, 5), (6, 6), (7, 7), (8, 8)])
def test_11_high_low_jack_is_for_three_to_eight_each_for_himself_but_at_four(players: int, sides: int):
    assert variant("high_low_jack", players=players).sides == sides


@pytest.mark.parametrize("fields", [{"players": 6, "sides": 3, "hand_size": 8}, {"jokers": 1}, {"jokers": 0}])
def test_11_oklahoma_is_for_six_and_for_fewer_jokers_too(fields: dict[str, Any]):
    assert play_out(Game(variant("oklahoma", **fields), seed=3)) is not None


@pytest.mark.parametrize("name", ["ten_point_52", "ten_point_54", "ten_point_five_handed"])
@pytest.mark.parametrize("follow", ["follow_or_trump_must_trump", "strict", "follow_or_trump"])
def test_11_1_the_follow_rules_of_ten_point(name: str, follow: str):
    assert play_out(Game(variant(name, follow=follow), seed=1)) is not None


@pytest.mark.parametrize(
    "option",
    [
        {"redeal_one_suit_hand": True},
        {"no_trump": True},
        {"bids": (1, 4)},
        {"bids": (0, 1, 2, 3, 4)},
        {"widow_size": 2, "widow_to": "pitcher_after_first_trick"},
        {"opening_lead": "plain"},
        {"follow": "free"},
        {"target": 15},
        {"items": {"high": 1, "low": 1, "jack": 1}, "bids": (1, 2, 3)},
        {"jack_only_bidder": True},
        {"ranks": "6789TJQKA"},
        {"decks": 2},
    ],
)
def test_11_1_the_options_of_high_low_jack(option: dict[str, Any]):
    assert play_out(Game(variant("high_low_jack", **option), seed=2)) is not None


def test_11_2_options_combine():
    everything = {
        "players": 6, "sides": 3, "jokers": 2, "decks": 2, "face_down_size": 2, "widow_size": 3, "turn_up": True,
        "redeal_one_suit_hand": True, "bids": (0, 1, 5, 15), "all_pass": "void", "smudge_after": 1, "off_jack": True,
        "trump_choice": "named", "opening_lead": "any", "first_trick_no_trump": True, "exchange": "refill",
        "hand_size": 7, "widow_to": "pitcher_after_first_trick", "leftover_to": "pitcher", "follow": "strict",
        "high_to": "winner", "low_to": "holder", "jack_only_bidder": True, "set_rule": "transfer",
        "transfer_keeps_own": True, "smudge_made": "advance", "smudge_failed": "lose", "out": "made_or_other_set",
        "items": dict.fromkeys(["high", "low", "jack", "off_jack", "ace", "ten", "three", "five", "joker", "two",
                                "high_spade", "game"], 2),
    }  # fmt: skip
    game = Game(Rules(**everything), seed=4)
    result = play_out(play(game, "bid 5"))
    assert not result.void
    assert Game.replay(game.record()).deal_result == result


# -------------------------------------------------------------------------------------------------- 12  the worked deal


def test_12_the_winners_of_the_tricks():
    game = bid(table(*WORKED_HANDS), "bid 3")
    winners = [play(game, cards=trick).seat for trick in WORKED_TRICKS.split("  ")]
    assert winners == [0, 0, 0, 3, 3, None]
    assert list(game.state()["tricks"][:2]) == [3, 3]  # the last one is Dev's


def test_12_game_is_23_against_27():
    game = play(bid(table(*WORKED_HANDS), "bid 3"), cards=WORKED_TRICKS)
    assert list(game.state()["game_values"][:2]) == [23, 27]


def test_12_high_and_jack_are_two_on_a_bid_of_three():
    result = worked_deal("bid 3")
    assert (result.pitcher, result.bid, result.trump, result.made) == (0, 3, "H", False)
    assert result.items == [{"high": 1, "jack": 1}, {"low": 1, "game": 1}]
    assert result.points == [-3, 2]
    assert result.sheet == [[0, 3], [2, 0]]


def test_12_had_she_bid_two():
    result = worked_deal("bid 2")
    assert result.points == [2, 2]
    assert result.sheet == [[2, 0], [2, 0]]


# ------------------------------------------------------------------------------------- 13  cases that engines get wrong


def test_13_1_the_only_heart_is_high_and_low_and_a_jack_is_three_points():
    hands, cards = ["2C", "3S TC", "4S 3C", "5S TS"], " 3S 4S 5S 2C TC 3C TS"
    assert deal_of(["9H 2C", *hands[1:]], "bid 2", f"9H{cards}").items[0] == {"high": 1, "low": 1}
    result = deal_of(["JH 2C", *hands[1:]], "bid 3", f"JH{cards}")
    assert result.items[0] == {"high": 1, "low": 1, "jack": 1}
    assert result.points[0] == 3


def test_13_2_an_undealt_jack_sets_four_and_a_smudge_though_every_trick_was_won():
    result = deal_of(SWEEP_WITHOUT_JACK, "bid 4", SWEEP_WITHOUT_JACK_TRICKS)
    assert result.items == [{"high": 1, "low": 1, "game": 1}, {}]
    assert result.points == [-4, 0]
    assert deal_of(SWEEP_WITHOUT_JACK, "smudge", SWEEP_WITHOUT_JACK_TRICKS).points == [-5, 0]


def test_13_3_a_bid_scores_what_it_took():
    assert deal_of(SWEEP, "bid 2", SWEEP_TRICKS).points == [4, 0]
    assert deal_of(SWEEP, "bid 4", SWEEP_TRICKS).points == [4, 0]


def test_13_4_game_twenty_all_is_nobodys():
    game = play(bid(table("2H KS", "TC AS", "TD KD", "3C TS")), cards="2H TC TD 3C KS AS KD TS")
    assert list(game.state()["game_values"][:2]) == [20, 20]
    assert outcome(game).items == [{"high": 1, "low": 1}, {}]


@pytest.mark.parametrize(
    ("hands", "cards", "values", "items"),
    [
        (["2H QS 4D KC", "TC AS AD QC", "TD TS 3D AC"], "2H TC TD QS AS TS AD 3D 4D QC AC KC", [20, 20, 9], {}),
        (["2H QS KD", "TC AS QD", "TD KS AD"], "2H TC TD QS AS KS QD AD KD", [20, 9, 9], {"game": 1}),
    ],
)
def test_13_4_in_cutthroat_only_the_leaders_matter(hands: list[str], cards: str, values: list[int], items: Any):
    game = play(bid(table(*hands, rules="cutthroat")), cards=cards)
    assert list(game.state()["game_values"][:3]) == values
    assert outcome(game).items == [{"high": 1, "low": 1, **items}, {}, {}]


def test_13_5_what_the_third_seat_and_the_dealer_may_call():
    assert game_after("bid 3", "pass").legal_names() == ["pass", "bid 4", "smudge"]
    assert game_after("bid 3", "pass", "pass").legal_names() == ["pass", "bid 3", "bid 4", "smudge"]


def test_13_6_the_bidders_go_out_though_the_others_have_more():
    result = worked_deal("bid 2", scores=[19, 20])
    assert result.scores == [21, 22]
    assert result.winner == 0


def test_13_7_nobody_goes_out_on_the_others_deal_or_on_a_failed_one():
    result = worked_deal("bid 2", scores=[10, 23])
    assert result.scores == [12, 25]
    assert result.winner is None
    result = worked_deal("bid 4", scores=[22, 0])
    assert result.scores == [18, 2]
    assert result.winner is None


def test_13_8_following_and_trumping():
    assert to_follow("4C 2H AS", "7C") == "4C 2H"
    assert to_follow("2H AS", "7C") == "2H AS"
    assert to_follow("2H AS", "7C", follow="follow_or_trump_must_trump") == "2H"
    assert to_follow("9H 2C AS 3D", "7H") == "9H"


def test_13_9_without_a_trump_the_nine_of_the_suit_led_wins():
    assert winner_of("5C AS KD 9C") == 3


def test_13_10_a_led_off_jack_is_a_trump_lead():
    off_jack = {"off_jack": True, "jokers": 1}
    assert to_follow("4D 9S", "JD", **off_jack) == "4D 9S"
    assert to_follow("4D 5H 9S", "JD", **off_jack) == "5H"
    assert to_follow("4D X2 9S", "JD", **off_jack) == "X2"
    assert to_follow("JD 9S", "3D", **off_jack) == "JD 9S"  # void
    assert to_follow("JD 9S", "3D", **off_jack, follow="strict") == "JD 9S"


def test_13_11_low_is_the_four_and_not_the_joker():
    items = {"low": 1}
    assert items_of(["4H 2C", "X1 3C"], "4H X1 3C 2C", jokers=2, items=items, low_to="holder") == [{"low": 1}, {}]


def test_13_12_the_three_goes_to_the_king_and_the_two_stays():
    hands, cards = ["KH 2C", "2H 3C", "4D 5D", "3H 4S"], "KH 2H 4D 3H 2C 3C 5D 4S"
    assert deal_of(hands, "bid 2", cards, items=VARIANTS["ten_point_52"].items, off_jack=True).items == [
        {"three": 3},
        {"two": 1},
    ]


def test_13_13_a_discarded_ten_is_nobodys_and_a_drawn_ace_is_high():
    game = exchange("KH TC", "2H JC", "3H 4S", "4H 5S", rules="draw_pitch", stock="AH 6S")
    play(game, "TC", *["stand"] * 4)
    assert game.hand(0) == "KH AH"
    result = outcome(play(game, cards="KH 2H 3H 4H AH JC 4S 5S"))
    assert result.items == [{"high": 1, "low": 1, "game": 1}, {}]
    assert list(game.state()["game_values"][:2]) == [3 + 4 + 1, 0]


def moon(rules: str, call: str, score: int, **given: Any) -> DealResult:
    """Returns a deal of one card each in a ten-point game: seat 0, of the score, takes the ace and the three."""
    game = table("AH", "2H", "3H", "4H", rules=rules, play_size=1, leftover_to="dead", scores=[score, 0], **given)
    return outcome(play(bid(game, call, "H"), cards="AH 2H 3H 4H"))


def test_13_14_exactly_54_does_not_win_and_55_does():
    result = moon("ten_point_54", "bid 4", 50)
    assert (result.scores[0], result.winner) == (54, None)
    result = moon("ten_point_54", "bid 4", 51)
    assert (result.scores[0], result.winner) == (55, 0)


def test_13_14_a_made_moon_goes_from_debt_to_nought_and_from_one_to_the_game():
    result = moon("ten_point_52", "smudge", -5, items={"ace": 1, "three": 3})
    assert (result.scores[0], result.winner) == (0, None)
    result = moon("ten_point_52", "smudge", 1, items={"ace": 1, "three": 3})
    assert (result.scores[0], result.winner) == (52, 0)


NINE_CARD = ["AS 2C", "5S KC", "2D 3D", "2S TC"]
NINE_CARD_TRICKS = "AS 5S 2D 2S 2C KC 3D TC"


def test_13_15_the_ace_of_spades_is_high_and_high_spade():
    result = deal_of(NINE_CARD, "bid 3", NINE_CARD_TRICKS, rules="nine_card")
    assert result.items == [{"high": 1, "low": 1, "five": 1, "high_spade": 1}, {"game": 1}]


def test_13_15_defenders_go_out_on_a_deal_that_the_bidders_fail():
    result = deal_of(NINE_CARD, "bid 5", NINE_CARD_TRICKS, rules="nine_card", scores=[0, 20])
    assert (result.scores, result.winner) == ([-5, 21], 1)
    result = deal_of(NINE_CARD, "bid 3", NINE_CARD_TRICKS, rules="nine_card", scores=[0, 20])
    assert (result.scores, result.winner) == ([4, 21], None)


def test_13_16_the_sheet_of_a_set_and_two_makes():
    first = worked_deal("bid 3")
    second = worked_deal("bid 2", scores=first.scores, debts=[3, 0])
    third = deal_of(SWEEP, "bid 2", SWEEP_TRICKS, scores=second.scores, debts=[1, 0])
    results = [first, second, third]
    assert [result.sheet[0] for result in results] == [[0, 3], [0, 1], [3, 0]]
    assert [result.scores[0] for result in results] == [-3, -1, 3]


@pytest.mark.parametrize("score", [10, -10])
def test_13_17_a_failed_smudge_over_four_makes_it_minus_four(score: int):
    game = table(*WORKED_HANDS, rules="smudge_over_four", scores=[score, score])
    play(game, "bid 4", "smudge", "pass", "pass")  # seat 1, who has no ace
    result = play_out(game)
    assert (result.bid, result.made) == ("smudge", False)
    assert result.scores[1] == -4


def test_13_18_transfer_pays_what_the_bidders_took():
    transfer = {"rules": "high_low_jack", "trump": "H", "follow": "follow_or_trump"}
    assert worked_deal("bid 3", **transfer).points == [0, 2]
    assert worked_deal("bid 3", **transfer, transfer_keeps_own=True).points == [0, 4]
    assert deal_of(SWEPT, "bid 3", SWEPT_TRICKS, **transfer).points == [0, 0]


# -------------------------------------------------------------------------------------------------- the rulebook itself


def clauses() -> list[str]:
    """Returns the numbers of all clauses: numbered paragraphs, numbered cases, and chapters without either."""
    numbers: list[str] = []
    for chapter in re.split(r"^## ", RULEBOOK, flags=re.M)[1:]:
        number = chapter.partition(".")[0]
        inside = re.findall(r"^(\d+\.\d+) ", chapter, re.M)
        inside += [f"{number}.{case}" for case in re.findall(r"^(\d+)\. ", chapter.partition("\n")[2], re.M)]
        numbers += inside or [number]
    return numbers


def test_the_clauses_are_found():
    numbers = clauses()
    assert len(numbers) == len(set(numbers))
    assert {"1.1", "2.4", "3.10", "9.5", "10.1", "11.2", "12", "13.1", "13.18"} <= set(numbers)


@pytest.mark.parametrize("clause", clauses())
def test_every_clause_has_a_test(clause: str):
    begins = f"test_{clause.replace('.', '_')}_"
    assert [name for name in globals() if re.match(rf"{begins}[a-z]", name)], f"no test of clause {clause}"


@pytest.mark.parametrize("field", Rules.model_fields)
def test_the_rulebook_has_every_field_with_its_default(field: str):
    value = Rules.model_fields[field].default
    text = repr(value).replace("'", '"')
    assert f"`{field}={text}`" in RULEBOOK


def test_the_rulebook_has_every_named_variant():
    assert re.findall(r"^\| `(\w+)` \|", RULEBOOK.partition("## 11")[2], re.M) == list(VARIANTS)
