"""The referee on its own: the worked deal, the cases of clause 13, the rarer clauses, and many random deals."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from random_rules import DEFAULTS, changed, field_problems, named_variants, optional_variants, problems, random_rules
from referee import Referee, is_joker, pack, random_deal

WORKED_HANDS = ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"]
WORKED_TRICKS = "AH 4H 5H 6H  KH JH QH 8H  KS 9S TD 4S  5C TC 8C 3H  AD 6D TS QD  JC 2S 7C 4C"


def at_table(hands: list[str], dealer: int = -1, rules: dict[str, Any] | None = None, **given: Any) -> Referee:
    """Returns a deal in which seat 0 speaks first, unless another dealer is given; sizes follow the hands.

    given   fields of the rules, and piles as text, scores and debts as the referee takes them
    """
    piles = {name: given.pop(name).split() for name in ("widow", "stock") if name in given}
    face_down = [pile.split() for pile in given.pop("face_down", [""] * len(hands))]
    scores = given.pop("scores", None)
    table = {name: given.pop(name) for name in ("debts", "reshuffles", "turn_up") if name in given}
    held = [hand.split() for hand in hands]
    sizes = {"players": len(hands), "hand_size": len(held[0]), "face_down_size": len(face_down[0])}
    sizes["widow_size"] = len(piles.get("widow", []))
    if "exchange" not in given and (rules or DEFAULTS)["exchange"] == "none":
        sizes["play_size"] = len(held[0])
    full = changed(rules or DEFAULTS, **{**sizes, **given})
    assert not problems(full), problems(full)
    rest = Counter(pack(full))
    rest.subtract(card for pile in [*held, *face_down, *piles.values()] for card in pile)
    stock = piles.get("stock", []) + sorted(rest.elements())
    return Referee(
        full,
        hands=held,
        dealer=dealer % len(hands),
        scores=scores or [0] * full["sides"],
        face_down=face_down,
        widow=piles.get("widow", []),
        stock=stock,
        **table,
    )


def play(referee: Referee, *calls: str, cards: str = "") -> Referee:
    """Plays calls and then cards."""
    for name in [*calls, *cards.split()]:
        referee.play(name)
    return referee


def legal(referee: Referee) -> str:
    """Returns the legal names as sorted text."""
    return " ".join(sorted(referee.legal_names()))


def outcome(referee: Referee) -> dict[str, Any]:
    """Returns the result of a finished deal."""
    assert referee.result is not None
    assert referee.seat is None
    assert referee.phase == "over"
    return referee.result


def worked_deal(call: str = "bid 3", rules: dict[str, Any] | None = None, **given: Any) -> dict[str, Any]:
    """Plays the worked deal of clause 12."""
    referee = at_table(WORKED_HANDS, dealer=3, rules=rules, **given)
    return outcome(play(referee, call, "pass", "pass", "pass", cards=WORKED_TRICKS))


# -------------------------------------------------------------------------------------------------- 12  the worked deal


def test_12_the_worked_deal_is_set() -> None:
    assert worked_deal() == {
        "pitcher": 0,
        "bid": 3,
        "trump": "H",
        "made": False,
        "void": False,
        "items": [{"high": 1, "jack": 1}, {"low": 1, "game": 1}],
        "points": [-3, 2],
        "scores": [-3, 2],
        "debts": [3, 0],
        "winner": None,
        "sheet": [[0, 3], [2, 0]],
    }


def test_12_the_winners_of_the_tricks_and_game_23_against_27() -> None:
    referee = at_table(WORKED_HANDS, dealer=3)
    play(referee, "bid 3", "pass", "pass", "pass")
    leaders = []
    for trick in WORKED_TRICKS.split("  "):
        leaders.append(referee.seat)
        play(referee, cards=trick)
    assert [*leaders[1:], referee.leader] == [0, 0, 0, 3, 3, 3]
    values = {"T": 10, "A": 4, "K": 3, "Q": 2, "J": 1}
    assert [sum(values.get(card[0], 0) for card in taken) for taken in referee.taken] == [23, 27]


def test_12_a_bid_of_two_is_made() -> None:
    result = worked_deal("bid 2")
    assert result["made"]
    assert result["points"] == [2, 2]
    assert result["sheet"] == [[2, 0], [2, 0]]


# -------------------------------------------------------------------------- 13  cases that engines get wrong, by number

LONE_JACK = ["JH 2C", "3S TC", "4S 3C", "5S TS"]
LONE_JACK_TRICKS = "JH 3S 4S 5S 2C TC 3C TS"
SWEEP_WITHOUT_JACK = ["AH KH", "2C 3C", "2D 3D", "2S 3S"]
SWEEP_WITHOUT_JACK_TRICKS = "AH 2C 2D 2S KH 3C 3D 3S"
SWEEP = ["AH JH", "2C 3C", "2D 3D", "2S 3S"]
SWEEP_TRICKS = "AH 2C 2D 2S JH 3C 3D 3S"


def bid_and_play(hands: list[str], call: str, cards: str, **given: Any) -> dict[str, Any]:
    """Plays a deal in which seat 0 calls, everybody else passes and seat 0 leads a heart."""
    return outcome(play(at_table(hands, **given), call, *["pass"] * (len(hands) - 1), cards=cards))


def test_13_1_a_lone_trump_jack_is_three_points() -> None:
    result = bid_and_play(LONE_JACK, "bid 3", LONE_JACK_TRICKS)
    assert result["items"] == [{"high": 1, "low": 1, "jack": 1}, {"game": 1}]
    assert result["points"] == [3, 1]


def test_13_2_an_undealt_jack_fails_four_and_a_smudge() -> None:
    result = bid_and_play(SWEEP_WITHOUT_JACK, "bid 4", SWEEP_WITHOUT_JACK_TRICKS)
    assert result["items"] == [{"high": 1, "low": 1, "game": 1}, {}]
    assert result["points"] == [-4, 0]
    assert bid_and_play(SWEEP_WITHOUT_JACK, "smudge", SWEEP_WITHOUT_JACK_TRICKS)["points"] == [-5, 0]


def test_13_3_more_than_the_bid_scores_but_four_is_no_smudge() -> None:
    assert bid_and_play(SWEEP, "bid 2", SWEEP_TRICKS)["points"] == [4, 0]
    assert bid_and_play(SWEEP, "bid 4", SWEEP_TRICKS)["points"] == [4, 0]
    assert bid_and_play(SWEEP, "smudge", SWEEP_TRICKS)["points"] == [5, 0]


def test_13_4_level_at_game_nobody_scores_it() -> None:
    result = bid_and_play(["2H KS", "TC AS", "TD KD", "3C TS"], "bid 2", "2H TC TD 3C KS AS KD TS")  # 20-20
    assert result["items"] == [{"high": 1, "low": 1}, {}]


@pytest.mark.parametrize(
    ("hands", "cards", "items"),
    [
        (["2H 2S 3D", "TC AS 3C", "AD TS KC"], "2H TC AD 2S AS TS 3C KC 3D", {}),  # 14, 14, 3
        (["2H 2S 3D", "TC KS 3C", "AD 4S KC"], "2H TC AD 2S KS 4S 3C KC 3D", {"game": 1}),  # 14, 3, 3
    ],
)
def test_13_4_in_cutthroat_only_the_leaders_matter(hands: list[str], cards: str, items: dict[str, int]) -> None:
    assert bid_and_play(hands, "bid 2", cards, sides=3)["items"] == [{"high": 1, "low": 1, **items}, {}, {}]


def test_13_5_every_seat_calls_above_the_highest_bid_and_the_dealer_may_steal() -> None:
    referee = play(at_table(WORKED_HANDS), "bid 3", "pass")
    assert legal(referee) == "bid 4 pass smudge"
    assert legal(play(referee, "pass")) == "bid 3 bid 4 pass smudge"


def test_13_6_the_bidders_go_out_first() -> None:
    result = worked_deal("bid 2", scores=[19, 20])
    assert result["scores"] == [21, 22]
    assert result["winner"] == 0


def test_13_7_defenders_beyond_the_target_play_on() -> None:
    result = worked_deal("bid 2", scores=[10, 23])
    assert result["scores"] == [12, 25]
    assert result["winner"] is None
    result = worked_deal("bid 4", scores=[22, 0])
    assert result["scores"] == [18, 2]
    assert result["winner"] is None


def follower(hand: str, lead: str, **rules: Any) -> Referee:
    """Returns a deal, hearts trumps, in which seat 1 has a hand to follow with to a card led to the second trick."""
    cards = ["2H" if lead != "2H" and "2H" not in hand.split() else "3H", lead]
    rest = [card for card in pack(DEFAULTS) if card not in [*cards, *hand.split(), "6H"] and card not in ("AH", "JD")]
    size = len(hand.split()) + 1
    held = [*cards, *[rest.pop() for _ in range(size - 2)]]
    hands = [held, ["6H", *hand.split()], [rest.pop() for _ in range(size)], [rest.pop() for _ in range(size)]]
    hands[0][0] = "AH"  # takes the first trick
    referee = at_table([" ".join(cards) for cards in hands], **rules)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 6H")
    while referee.trick:
        referee.play(sorted(referee.legal_names())[0])
    return play(referee, cards=lead)


def test_13_8_following_suit_or_trumping() -> None:
    assert legal(follower("4C 2H AS", "7C")) == "2H 4C"
    assert legal(follower("2H AS", "7C")) == "2H AS"
    assert legal(follower("2H AS", "7C", follow="follow_or_trump_must_trump")) == "2H"
    assert legal(follower("9H 2C AS", "7H")) == "9H"


def test_6_2_the_other_rows_of_the_table() -> None:
    assert legal(follower("4C 2H AS", "7C", follow="follow_or_trump_must_trump")) == "2H 4C"
    assert legal(follower("4C 2H AS", "7C", follow="strict")) == "4C"
    assert legal(follower("2H AS", "7C", follow="strict")) == "2H AS"
    assert legal(follower("4C 2H AS", "7C", follow="strict_must_trump")) == "4C"
    assert legal(follower("2H AS", "7C", follow="strict_must_trump")) == "2H"
    assert legal(follower("2D AS", "7C", follow="strict_must_trump")) == "2D AS"
    assert legal(follower("9H 2C AS", "7H", follow="free")) == "2C 9H AS"


def test_13_9_without_a_trump_the_highest_of_the_suit_led_wins() -> None:
    referee = at_table(["2H 5C", "2S AS", "2D KD", "3D 9C"])
    play(referee, "bid 2", "pass", "pass", "pass", cards="2H 2S 2D 3D 5C AS KD 9C")
    assert referee.leader == 3


def test_13_10_the_off_jack_is_a_trump_for_following_and_leading() -> None:
    rules = {"off_jack": True, "jokers": 1}
    referee = at_table(["AH JD", "2H 4D", "3H 5H", "4H X2"], **rules)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H 4H JD")
    assert legal(referee) == "4D"
    referee = at_table(["AH JD 2C", "2H 4D 9S", "3H 5H 6D", "4H X2 7D"], **rules)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H 4H JD")
    assert legal(referee) == "4D 9S"
    assert legal(play(referee, cards="9S")) == "5H"
    assert legal(play(referee, cards="5H")) == "X2"
    referee = at_table(["AH 3D", "2H 4D", "3H 5H", "JD 9S"], **rules)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H JD 3D 4D 5H")
    assert legal(referee) == "9S"
    referee = at_table(["AH 3D 4S", "2H 4D 5S", "3H 5H 6S", "4H JD 9S"], follow="strict", **rules)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H 4H 3D 4D 5H")
    assert legal(referee) == "9S JD"  # void of diamonds


def test_13_11_a_joker_is_never_low() -> None:
    result = bid_and_play(["4H X1", "2C 3C", "2D 3D", "2S 3S"], "bid 2", "4H 2C 2D 2S X1 3C 3D 3S", jokers=2)
    assert result["items"][0] == {"high": 1, "low": 1}
    referee = at_table(["X1", "4H", "2D", "2S"], jokers=2, trump_choice="named", opening_lead="any", items={"low": 1})
    play(referee, "bid 2", "pass", "pass", "pass", "name H", cards="X1 4H 2D 2S")
    assert outcome(referee)["items"] == [{"low": 1}, {}]


def test_13_12_the_two_scores_for_the_side_that_plays_it() -> None:
    items = {"two": 1, "three": 3}
    result = bid_and_play(["KH 2C", "2H 3C", "4D 5D", "3H 4S"], "bid 2", "KH 2H 4D 3H 2C 3C 5D 4S", items=items)
    assert result["items"] == [{"three": 3}, {"two": 1}]


def test_13_13_draw_a_discarded_ten_is_nobodys_and_a_drawn_ace_is_high() -> None:
    hands = ["KH TC", "2H JC", "3H 4S", "4H 5S"]
    referee = at_table(hands, rules=named_variants()["draw_pitch"], exchange="draw", play_size=2, stock="AH 6S")
    play(referee, "bid 2", "pass", "pass", "pass", "name H")
    assert legal(referee) == "TC stand"
    play(referee, "TC")
    assert legal(referee) == "stand"
    play(referee, "stand")
    assert referee.hand(0) == ["KH", "AH"]
    assert legal(referee) == "JC stand"
    play(referee, "stand", "stand", "stand")
    result = outcome(play(referee, cards="KH 2H 3H 4H AH JC 4S 5S"))
    assert result["items"] == [{"high": 1, "low": 1, "game": 1}, {}]


def ten_points(name: str, call: str, scores: list[int], **changes: Any) -> dict[str, Any]:
    """Plays a deal of one card a seat in a ten-point variant: seat 0 takes the ace and the three of hearts."""
    changes = {"play_size": 1, "leftover_to": "dead", **changes}
    hands = ["AH", "2H", "3H", "4H"]
    referee = at_table(hands, rules=named_variants()[name], scores=scores, exchange="refill", **changes)
    calls = [call] if call == "smudge" else [call, "pass", "pass", "pass"]
    return outcome(play(referee, *calls, "name H", cards="AH 2H 3H 4H"))


def test_13_14_ten_point_more_than_54_and_the_moon_of_52() -> None:
    assert ten_points("ten_point_54", "bid 4", [50, 0])["winner"] is None
    assert ten_points("ten_point_54", "bid 4", [51, 0])["winner"] == 0
    result = ten_points("ten_point_52", "smudge", [-5, 0], items={"ace": 1, "three": 3})
    assert result["scores"] == [0, 0]
    assert result["winner"] is None
    result = ten_points("ten_point_52", "smudge", [1, 0], items={"ace": 1, "three": 3})
    assert result["scores"] == [52, 0]
    assert result["winner"] == 0
    result = ten_points("ten_point_52", "smudge", [1, 0])
    assert result["points"] == [-10, 1]
    assert result["winner"] == 1


def test_13_15_nine_card_the_ace_of_spades_twice_and_who_goes_out() -> None:
    rules = named_variants()["nine_card"]
    hands, tricks = ["AS 2C", "5S KC", "2D 3D", "2S TC"], "AS 5S 2D 2S 2C KC 3D TC"
    result = bid_and_play(hands, "bid 3", tricks, rules=rules, scores=[0, 20])
    assert result["items"] == [{"high": 1, "low": 1, "five": 1, "high_spade": 1}, {"game": 1}]
    assert result["scores"] == [4, 21]
    assert result["winner"] is None
    result = bid_and_play(hands, "bid 5", tricks, rules=rules, scores=[0, 20])
    assert result["scores"] == [-5, 21]
    assert result["winner"] == 1


def test_13_16_the_score_sheet() -> None:
    first = worked_deal("bid 3")
    second = worked_deal("bid 2", scores=first["scores"], debts=first["debts"])
    third = bid_and_play(SWEEP, "bid 2", SWEEP_TRICKS, scores=second["scores"], debts=second["debts"])
    deals = [first, second, third]
    assert [deal["sheet"][0] for deal in deals] == [[0, 3], [0, 1], [3, 0]]
    assert [deal["scores"][0] for deal in deals] == [-3, -1, 3]


def test_13_17_a_failed_smudge_over_four_becomes_minus_four() -> None:
    for score, sheet in ((10, [0, 14]), (-10, [0, 4])):
        referee = at_table(WORKED_HANDS, rules=named_variants()["smudge_over_four"], scores=[score, 0])
        assert "smudge" not in referee.legal_names()
        play(referee, "pass", "bid 4", "smudge", "pass")
        while referee.seat is not None:
            referee.play(sorted(referee.legal_names())[-1])
        assert outcome(referee)["scores"][0] == -4
        assert outcome(referee)["sheet"][0] == sheet


def test_10_1_a_score_that_becomes_more_than_the_column_is_entered() -> None:
    result = ten_points("ten_point_52", "smudge", [3, 0], items={"ace": 1, "three": 3}, debts=[4, 0])
    assert result["sheet"][0] == [45, 0]


def test_13_18_transfer() -> None:
    transfer = {"set_rule": "transfer"}
    result = worked_deal("bid 3", **transfer)
    assert result["points"] == [0, 2]
    assert not result["made"]
    assert worked_deal("bid 3", **transfer, transfer_keeps_own=True)["points"] == [0, 4]
    hands = ["4H 2C", "AH 3C", "JH 4C", "2H 5C"]
    assert bid_and_play(hands, "bid 3", "4H AH JH 2H 3C 4C 5C 2C", **transfer)["points"] == [0, 0]


# ------------------------------------------------------------------------------------------------- 2 and 3  the auction


def test_2_2_a_hand_of_one_suit_is_void_but_not_with_a_joker() -> None:
    redeal = {"redeal_one_suit_hand": True, "jokers": 1}
    result = outcome(at_table(["2H 3H", "4C 5D", "6C 7D", "8C 9D"], **redeal))
    assert result["void"]
    assert result["pitcher"] is result["bid"] is result["trump"] is result["made"] is None
    assert result["points"] == [0, 0]
    assert result["sheet"] == [[0, 0], [0, 0]]
    assert at_table(["2H X2", "4C 5D", "6C 7D", "8C 9D"], **redeal).seat == 0


def test_3_4_and_3_7_who_may_call_after_a_smudge() -> None:
    assert legal(play(at_table(WORKED_HANDS), "smudge")) == "pass"
    assert legal(play(at_table(WORKED_HANDS), "smudge", "pass", "pass")) == "pass smudge"
    assert legal(play(at_table(WORKED_HANDS, dealer_may_steal=False), "smudge", "pass", "pass")) == "pass"
    assert legal(play(at_table(WORKED_HANDS, dealer_may_steal_smudge=False), "smudge", "pass", "pass")) == "pass"
    assert play(at_table(WORKED_HANDS, smudge_ends_auction=True), "smudge").phase == "play"


def test_3_5_the_dealer_must_bid_or_may_make_the_deal_void() -> None:
    assert legal(play(at_table(WORKED_HANDS), "pass", "pass", "pass")) == "bid 2 bid 3 bid 4 smudge"
    referee = play(at_table(WORKED_HANDS, all_pass="void"), "pass", "pass", "pass", "pass")
    assert outcome(referee)["void"]


def test_3_6_zero_is_a_bid_below_all_others() -> None:
    referee = play(at_table(WORKED_HANDS, bids=[0, 1, 2, 3, 4], smudge=False), "bid 0")
    assert legal(referee) == "bid 1 bid 2 bid 3 bid 4 pass"


def test_8_3_a_bid_of_zero() -> None:
    zero = {"bids": [0, 2], "items": {"jack": 1, "high": 1}}
    hands = ["4H 2C", "AH 3C", "JH 4C", "2H 5C"]
    result = bid_and_play(hands, "bid 0", "4H AH JH 2H 3C 4C 5C 2C", **zero)
    assert result["made"]
    assert result["items"] == [{}, {"jack": 1, "high": 1}]
    assert result["points"] == [0, 0]
    result = bid_and_play(LONE_JACK, "bid 0", LONE_JACK_TRICKS, **zero)
    assert not result["made"]
    assert result["points"] == [0, 0]
    assert bid_and_play(LONE_JACK, "bid 0", LONE_JACK_TRICKS, **zero, set_rule="transfer")["points"] == [0, 2]


def test_3_8_a_pitch_is_a_bid_of_four_and_the_first_lead() -> None:
    referee = at_table(WORKED_HANDS, pitch_in_auction=True)
    assert legal(referee) == "2S 5C 6D AH KH KS bid 2 bid 3 bid 4 pass smudge"
    play(referee, "AH")
    assert (referee.trump, referee.pitcher, referee.high_bid) == ("H", 0, 4)
    assert "AH" not in referee.hand(0)
    assert legal(referee) == "pass"
    play(referee, "pass", "pass")
    assert legal(referee) == "3H 4S 6H 8H AD JC pass smudge"
    play(referee, "pass")
    assert referee.phase == "play"
    assert referee.seat == 1
    assert referee.trick == [(0, "AH")]
    assert legal(referee) == "4H JH"


def test_3_9_the_dealer_displaces_a_pitch() -> None:
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True), "AH", "pass", "pass", "6H")
    assert sorted(referee.hand(0)) == sorted(WORKED_HANDS[0].split())
    assert referee.trick == [(3, "6H")]
    assert referee.seat == 0
    assert referee.trump == "H"
    assert referee.pitcher == 3
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True), "AH", "pass", "pass", "smudge")
    assert referee.trump is None
    assert "AH" in referee.hand(0)
    assert referee.seat == 3
    assert referee.trick == []
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True, dealer_may_steal=False), "AH", "pass", "pass")
    assert legal(referee) == "pass smudge"


def test_3_9_after_a_spoken_four_only_the_dealer_may_pitch() -> None:
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True), "bid 4")
    assert legal(referee) == "pass smudge"
    assert legal(play(referee, "pass", "pass")) == "3H 4S 6H 8H AD JC bid 4 pass smudge"
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True, bids=[4, 5]), "bid 5", "pass", "pass")
    assert legal(referee) == "bid 5 pass smudge"
    referee = play(at_table(WORKED_HANDS, pitch_in_auction=True, dealer_may_steal=False), "pass", "pass", "pass")
    assert "6H" in referee.legal_names()


# ---------------------------------------------------------------------------------------- 4 and 5  trumps and exchange


def test_4_1_a_joker_makes_trumps_only_when_only_jokers_are_held() -> None:
    referee = play(at_table(["X1 2S", "2C 3C", "2D 3D", "4S 3S"], jokers=2), "bid 2", "pass", "pass", "pass")
    assert legal(referee) == "2S"
    referee = play(at_table(["X1 X2", "2H 3S", "2D 3D", "4S 3H"], jokers=2, suits="SHD"), "bid 2", *["pass"] * 3)
    assert legal(referee) == "X1 X2"
    assert play(referee, "X1").trump == "D"
    assert legal(referee) == "2H 3S"


def test_4_3_a_suit_is_named_with_a_trump_of_it() -> None:
    named = {"trump_choice": "named", "jokers": 1, "no_trump": True}
    referee = at_table(["JD 2S", "2C 3C", "2D 3D", "4S 3S"], **named, off_jack=True)
    assert legal(play(referee, "bid 2", "pass", "pass", "pass")) == "name D name H name NT name S"
    referee = at_table(["X2 2S", "2C 3C", "2D 3D", "4S 3S"], **named)
    assert legal(play(referee, "bid 2", "pass", "pass", "pass")) == "name C name D name H name NT name S"


@pytest.mark.parametrize(("lead", "leads"), [("trump", "2H X2"), ("any", "2H AS X2"), ("plain", "AS")])
def test_4_4_the_first_lead(lead: str, leads: str) -> None:
    referee = at_table(["X2 2H AS", "2C 3C 4C", "2D 3D 4D", "4S 3S 5S"], trump_choice="named", jokers=1,
                       opening_lead=lead)  # fmt: skip
    assert legal(play(referee, "bid 2", "pass", "pass", "pass", "name H")) == leads


def test_4_6_no_trump_to_a_plain_first_lead() -> None:
    rules = changed(named_variants()["no_trumps_first_trick"], follow="free")
    hands = ["AS 2H", "2S 4H", "2D 3H", "5H 6H"]
    referee = play(at_table(hands, rules=rules), "bid 2", "pass", "pass", "pass", "name H", "AS")
    assert legal(referee) == "2S"
    assert legal(play(referee, "2S")) == "2D"
    assert legal(play(referee, "2D")) == "5H 6H"
    assert play(referee, "5H").leader == 3


def test_5_4_discard_plain_cards_first_and_what_has_no_choice_goes_at_once() -> None:
    hands = ["AH KH 2C 3C", "2H 3H 4H 2S", "4C 5H 4S 5S", "6C 6D 6S 8D"]
    referee = at_table(hands, rules=named_variants()["six_hand"], sides=2, play_size=2, exchange="discard")
    play(referee, "bid 2", "pass", "pass", "pass", "name H")
    assert referee.seat == 1
    assert sorted(referee.hand(0)) == ["AH", "KH"]
    assert legal(referee) == "2H 3H 4H"
    assert "2S" not in referee.hand(1)
    play(referee, "3H")
    assert referee.seat == 2
    assert legal(referee) == "4C 4S 5S"
    play(referee, "4C", "5S", "6C", "6S")
    assert referee.phase == "play"
    assert [len(referee.hand(seat)) for seat in range(4)] == [2] * 4


def test_5_5_and_5_6_refill_trumps_without_an_item_go_before_those_with_one() -> None:
    rules = changed(named_variants()["oklahoma"], jokers=0, suits="HS")
    hands = ["KH QH 3H", "2H 2S 3S", "4S 5S 6S", "7S 8S 9S"]
    referee = at_table(hands, rules=rules, play_size=2, exchange="refill", stock="AH 7H 4H TS JS")
    play(referee, "bid 2", "pass", "pass", "pass", "name H")
    assert referee.phase == "exchange"
    assert referee.seat == 0
    assert legal(referee) == "KH QH"
    play(referee, "KH")
    # Everybody else has no choice. The pitcher then holds QH 3H and the rest: JH TH 9H 8H 6H 5H AS KS QS.
    assert [referee.hand(seat) for seat in (1, 2, 3)] == [["2H", "AH"], ["7H", "4H"], ["TS", "JS"]]
    assert referee.seat == 0
    assert legal(referee) == "3H JH TH"
    play(referee, "TH")
    assert referee.phase == "play"
    assert sorted(referee.hand(0)) == ["3H", "JH"]


def test_5_7_discards_come_back_when_the_stock_is_empty() -> None:
    rules = changed(
        named_variants()["oklahoma"], jokers=0, off_jack=False, items={"high": 1}, ranks="23456", suits="HS"
    )
    hands = ["2H 2S 3S", "3H 4S 5S", "4H 5H 6H"]
    referee = at_table(
        hands, rules=rules, sides=3, play_size=3, exchange="refill", stock="6S", reshuffles=[["3S", "2S"], ["4S", "5S"]]
    )
    play(referee, "bid 2", "pass", "pass", "name H")
    assert referee.hand(0) == ["2H", "6S", "3S"]
    assert referee.hand(1) == ["3H", "2S", "4S"]
    assert referee.phase == "play"
    assert not referee.took_leftover


def test_5_8_the_pitcher_swaps_after_the_first_trick() -> None:
    swap = {"widow_to": "pitcher_after_first_trick", "items": {"high": 1, "low": 1, "jack": 1}}
    referee = at_table(["KH 2C 3C", "2H 4C 5C", "JH 6C 7C", "AH 8C 9C"], widow="QH 3H", **swap)
    play(referee, "bid 2", "pass", "pass", "pass", cards="KH 2H JH AH")
    assert referee.phase == "widow"
    assert referee.seat == 0
    assert legal(referee) == "2C 3C 3H QH"
    play(referee, "3H", "2C")
    assert referee.phase == "play"
    assert referee.seat == 3
    assert sorted(referee.hand(0)) == ["3C", "QH"]
    result = outcome(play(referee, cards="8C QH 4C 6C 3C 5C 7C 9C"))
    assert result["items"] == [{}, {"high": 1, "low": 1, "jack": 1}]


def test_5_8_an_item_whose_card_is_swapped_out_is_nobodys() -> None:
    swap = {"widow_to": "pitcher_after_first_trick", "items": {"high": 1, "low": 1, "jack": 1}}
    referee = at_table(["KH JH 3C", "2S 4C 5C", "2D 6C 7C", "2C 8C 9C"], widow="AH", **swap)
    play(referee, "bid 2", "pass", "pass", "pass", cards="KH 2S 2D 2C JH")
    assert outcome(play(referee, cards="AH 4C 6C 8C 3C 5C 7C 9C"))["items"] == [{"high": 1}, {}]


# ------------------------------------------------------------------------------------------------ 6 and 7  play, items


def test_6_5_blind_cards() -> None:
    piles = ["2C 3C", "4C 5C", "6C 7C", "AS KS"]
    referee = at_table(["AH", "2H", "JH", "3H"], face_down=piles)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH")
    assert legal(referee) == "2H"
    play(referee, cards="2H JH 3H")
    assert legal(referee) == "blind"
    play(referee, "blind")
    assert referee.trick == [(0, "2C")]
    play(referee, *["blind"] * 7)
    assert outcome(referee)["items"] == [{"high": 1, "low": 1, "jack": 1, "game": 1}, {}]


def test_6_5_a_blind_card_is_a_choice_while_cards_are_held() -> None:
    referee = at_table(["AH 2S", "2H 3S", "JH 4C", "3H 5S"], face_down=["6S", "7S", "8S", "9S"])
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H JH 3H")
    assert legal(referee) == "2S blind"
    assert legal(play(referee, "2S")) == "3S blind"


def test_1_5_of_two_identical_cards_the_first_wins_and_carries_the_item() -> None:
    two = {"decks": 2, "high_to": "winner"}
    referee = at_table(["2H 3C", "AH 4C", "AH 5C", "3H 6C"], **two)
    play(referee, "bid 2", "pass", "pass", "pass", cards="2H AH AH 3H")
    assert referee.leader == 1
    assert outcome(play(referee, cards="4C 5C 6C 3C"))["items"] == [{}, {"high": 1, "low": 1, "game": 1}]


def test_7_1_every_joker_in_play_scores() -> None:
    jokers = {"decks": 2, "jokers": 2, "items": {"joker": 2, "high": 1}}
    result = bid_and_play(["AH 3C", "X1 4C", "X1 5C", "X2 6C"], "bid 2", "AH X1 X1 X2 3C 4C 5C 6C", **jokers)
    assert result["items"] == [{"joker": 6, "high": 1}, {}]
    assert result["points"] == [7, 0]


def test_7_5_only_jokers_that_were_in_play_score() -> None:
    jokers = {"jokers": 1, "items": {"joker": 1, "high": 1}, "widow_to": "pitcher_after_first_trick"}
    referee = at_table(["AH 3C", "2H 4C", "3H 5C", "4H 6C"], widow="X2", **jokers)
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H 4H 3C X2 4C 5C 6C")
    assert outcome(referee)["items"] == [{"high": 1}, {}]
    referee = at_table(["AH X2", "2H 4C", "3H 5C", "4H 6C"], widow="X2", **{**jokers, "decks": 2})
    play(referee, "bid 2", "pass", "pass", "pass", cards="AH 2H 3H 4H X2 X2 4C 5C 6C")
    assert outcome(referee)["items"] == [{"high": 1, "joker": 1}, {}]


def test_7_3_jack_only_bidder() -> None:
    hands = ["4H 2C", "AH 3C", "JH 4C", "2H 5C"]
    result = bid_and_play(hands, "bid 2", "4H AH JH 2H 3C 4C 5C 2C", jack_only_bidder=True)
    assert result["items"] == [{}, {"high": 1, "low": 1, "game": 1}]


def test_7_6_no_trump_goes_by_the_suit_of_the_first_plain_lead() -> None:
    named = {"trump_choice": "named", "no_trump": True, "jokers": 1, "opening_lead": "any", "low_to": "holder"}
    referee = at_table(["X2 KS", "AH 2S", "JS 3H", "3S 4H"], **named)
    play(referee, "bid 2", "pass", "pass", "pass", "name NT", "X2")
    assert referee.reference is None
    assert legal(referee) == "2S AH"
    play(referee, cards="AH JS 3S KS")
    assert referee.reference == "S"
    assert legal(referee) == "2S"
    result = outcome(play(referee, cards="2S 3H 4H"))
    assert result["trump"] == "NT"
    assert result["items"] == [{"high": 1, "low": 1, "jack": 1, "game": 1}, {}]


def test_7_6_with_only_jokers_led_there_is_no_reference_suit() -> None:
    named = {"trump_choice": "named", "no_trump": True, "jokers": 1, "opening_lead": "trump"}
    referee = at_table(["X2", "AH", "JS", "3S"], **named, items={"high": 1, "joker": 1, "ace": 1})
    play(referee, "bid 2", "pass", "pass", "pass", "name NT", cards="X2 AH JS 3S")
    assert outcome(referee)["items"] == [{"joker": 1}, {}]


# -------------------------------------------------------------------------------------------------- 8 and 9  the end


def test_8_6_lose_gives_the_game_to_the_best_other_score_nearest_the_pitchers_left() -> None:
    lose = {"smudge_failed": "lose", "sides": 4}
    hands, tricks = ["KH", "AC", "2C", "3C"], "KH AC 2C 3C"
    assert bid_and_play(hands, "smudge", tricks, scores=[0, 3, 7, 7], **lose)["winner"] == 2
    assert bid_and_play(hands, "smudge", tricks, scores=[30, 3, 6, 7], **lose)["winner"] == 3


def test_8_5_win_ends_the_game_at_any_score() -> None:
    result = bid_and_play(SWEEP, "smudge", SWEEP_TRICKS, smudge_made="win", scores=[-20, 20])
    assert result["scores"] == [-15, 20]
    assert result["winner"] == 0


def test_9_2_level_at_the_top_another_deal_is_played() -> None:
    first = {"out": "first_to_target", "target": 21}
    assert worked_deal("bid 4", **first, scores=[25, 19])["winner"] is None  # 21-21, the bidders failed
    assert worked_deal("bid 2", **first, scores=[19, 19])["winner"] == 0
    assert worked_deal("bid 4", **first, scores=[24, 20])["winner"] == 1
    referee = at_table(WORKED_HANDS, all_pass="void", scores=[22, 21], **first)
    assert outcome(play(referee, "pass", "pass", "pass", "pass"))["winner"] == 0


CONCEDING = {"items": {"high": 1, "low": 1, "jack": 1, "two": 1}, "smudge": False}


def test_9_5_a_side_out_of_trumps_concedes() -> None:
    hands = ["AH JH 2H", "3H 4C 5C", "2D 3D 4D", "2S 3S 4S"]
    result = bid_and_play(hands, "bid 2", "AH 3H 2D 2S", concede_without_trumps=True, **CONCEDING)
    assert result["items"] == [{"high": 1, "low": 1, "jack": 1, "two": 1}, {}]
    result = bid_and_play(hands, "bid 2", "JH 3H 2D 2S", concede_without_trumps=True, **CONCEDING)
    assert result["items"] == [{"high": 1, "low": 1, "jack": 1, "two": 1}, {}]


def test_9_5_playing_on_gives_the_same() -> None:
    rng = random.Random(95)
    num_conceded = 0
    while num_conceded < 100:
        rules = random_rules(rng)
        if not rules["concede_without_trumps"]:
            continue
        dealt = random_deal(rules, rng)
        conceding = Referee(rules, scores=[0, 0], **dealt)
        playing_on = Referee(changed(rules, concede_without_trumps=False), scores=[0, 0], **dealt)
        while conceding.seat is not None:
            name = rng.choice(sorted(conceding.legal_names()))
            conceding.play(name)
            playing_on.play(name)
        num_conceded += playing_on.seat is not None
        while playing_on.seat is not None:
            playing_on.play(rng.choice(sorted(playing_on.legal_names())))
        assert outcome(conceding) == outcome(playing_on)


# ---------------------------------------------------------------------------------------------------- rules and playing


def test_2_4_what_is_refused() -> None:
    for name, rules in {**named_variants(), **optional_variants()}.items():
        assert not problems(rules), name
    assert field_problems({**DEFAULTS, "bids": [3, 2]})
    assert field_problems({**DEFAULTS, "items": {"seven": 1}})
    assert field_problems({**DEFAULTS, "target": 1000})
    assert field_problems({**DEFAULTS, "players": True})
    assert field_problems({**DEFAULTS, "ranks": "22"})
    assert field_problems({**DEFAULTS, "unknown": 1})
    assert problems({**DEFAULTS, "players": 8, "sides": 8, "hand_size": 7, "play_size": 7})
    assert problems({**DEFAULTS, "sides": 3})
    assert problems({**DEFAULTS, "play_size": 5})


def test_an_illegal_action_is_refused() -> None:
    with pytest.raises(AssertionError):
        at_table(WORKED_HANDS).play("bid 5")


def check_end(referee: Referee, before: list[int]) -> None:
    """Checks what holds after every deal."""
    result, rules = outcome(referee), referee.rules
    assert result["scores"] == [score + points for score, points in zip(before, result["points"], strict=True)]
    assert result["debts"] == [owed for _, owed in result["sheet"]]
    assert min(result["debts"]) >= 0
    assert referee.legal_names() == set()
    taken: Counter[str] = Counter()
    for items in result["items"]:
        assert all(items.values())
        taken.update(items)
    for item, points in taken.items():
        num_cards = rules["jokers"] * rules["decks"] if item == "joker" else 1
        assert points <= rules["items"][item] * num_cards
    if not result["void"]:
        assert rules["concede_without_trumps"] or referee.num_tricks == rules["play_size"] + rules["face_down_size"]
        assert rules["trump_choice"] == "named" or referee.trump in rules["suits"]
        assert result["winner"] is None or 0 <= result["winner"] < rules["sides"]


@pytest.mark.parametrize("seed", range(20))
def test_random_deals_under_random_rules(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(75):
        rules = random_rules(rng)
        whole_pack = sorted(pack(rules))
        scores = [rng.randint(-30, 60) for _ in range(rules["sides"])]
        debts = [max(0, -score) + rng.choice([0, 0, 5]) for score in scores]
        referee = Referee(rules, scores=scores, debts=debts, **random_deal(rules, rng))
        if rng.random() < 0.5:  # discards really shuffled
            referee.reshuffle = lambda cards: rng.sample(cards, len(cards))  # type: ignore[method-assign]
        num_turns = 0
        while referee.seat is not None:
            names = referee.legal_names()
            if referee.phase == "play":
                assert "blind" in names or names <= set(referee.hand(referee.seat))
            assert referee.trump in (None, *rules["suits"]) or (referee.trump == "NT" and rules["no_trump"])
            referee.play(rng.choice(sorted(names)))
            assert sorted(referee.all_cards()) == whole_pack
            num_turns += 1
            assert num_turns < 1000
        check_end(referee, scores)


@pytest.mark.parametrize("name", [*named_variants(), *optional_variants()])
def test_random_deals_of_the_named_variants(name: str) -> None:
    rules = {**named_variants(), **optional_variants()}[name]
    rng = random.Random(name)
    for _ in range(10):
        referee = Referee(rules, scores=[0] * rules["sides"], **random_deal(rules, rng))
        while referee.seat is not None:
            referee.play(rng.choice(sorted(referee.legal_names())))
        check_end(referee, [0] * rules["sides"])
        if not outcome(referee)["void"]:
            jokers = sum(is_joker(card) for taken in referee.taken for card in taken)
            assert rules["concede_without_trumps"] or sum(referee.jokers_taken) == jokers
