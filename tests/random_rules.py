"""Rules of all kinds for tests: the named variants as plain dicts, what makes rules valid, and random valid rules.

Written from the rulebook alone (clauses 2.4, 11 and every "needs"); shares nothing with ``pitch_env``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

PlainRules = dict[str, Any]

# In the order of 7.1.
ITEMS = ["high", "low", "jack", "off_jack", "ace", "ten", "three", "five", "joker", "two", "high_spade", "game"]

DEFAULTS: PlainRules = {
    # 2
    "players": 4,
    "sides": 2,
    "ranks": "23456789TJQKA",
    "suits": "CDHS",
    "jokers": 0,
    "decks": 1,
    "hand_size": 6,
    "deal_packet": 3,
    "face_down_size": 0,
    "widow_size": 0,
    "turn_up": False,
    "redeal_one_suit_hand": False,
    # 3
    "bids": [2, 3, 4],
    "dealer_may_steal": True,
    "dealer_may_steal_smudge": True,
    "all_pass": "dealer_must_bid",
    "pitch_in_auction": False,
    "smudge": True,
    "smudge_tricks": True,
    "smudge_after": 0,
    "smudge_ends_auction": False,
    # 4
    "trump_choice": "first_lead",
    "no_trump": False,
    "opening_lead": "trump",
    "first_trick_no_trump": False,
    "off_jack": False,
    # 5
    "exchange": "none",
    "play_size": 6,
    "widow_to": "dead",
    "leftover_to": "dead",
    # 6
    "follow": "follow_or_trump",
    # 7
    "items": {"high": 1, "low": 1, "jack": 1, "game": 1},
    "high_to": "holder",
    "low_to": "winner",
    "jack_only_bidder": False,
    # 8
    "set_rule": "subtract",
    "transfer_keeps_own": False,
    "smudge_value": 5,
    "smudge_made": "score",
    "smudge_failed": "set",
    # 9
    "target": 21,
    "out": "bid_and_make",
    "count_down": False,
    "concede_without_trumps": False,
}

CHOICES: dict[str, list[str]] = {
    "all_pass": ["dealer_must_bid", "void"],
    "trump_choice": ["first_lead", "named"],
    "opening_lead": ["trump", "any", "plain"],
    "exchange": ["none", "draw", "discard", "refill"],
    "widow_to": ["dead", "pitcher", "pitcher_after_first_trick"],
    "leftover_to": ["dead", "pitcher"],
    "follow": ["follow_or_trump", "follow_or_trump_must_trump", "strict", "strict_must_trump", "free"],
    "high_to": ["holder", "winner"],
    "low_to": ["winner", "holder"],
    "set_rule": ["subtract", "transfer"],
    "smudge_made": ["score", "advance", "win"],
    "smudge_failed": ["set", "score_becomes", "lose"],
    "out": ["bid_and_make", "first_to_target", "made_or_other_set"],
}

FLAGS = [name for name, value in DEFAULTS.items() if isinstance(value, bool)]

LEAST_AND_MOST: dict[str, tuple[int, int | None]] = {
    "players": (2, 8),
    "sides": (2, 8),
    "jokers": (0, 2),
    "decks": (1, 2),
    "hand_size": (1, None),
    "deal_packet": (1, None),
    "face_down_size": (0, None),
    "widow_size": (0, None),
    "smudge_after": (0, 15),
    "play_size": (1, None),
    "smudge_value": (1, 99),
    "target": (1, 999),
}


# -------------------------------------------------------------------------------------------------- 11  named variants


def changed(rules: PlainRules, **changes: Any) -> PlainRules:
    """Returns a copy of some rules with some fields changed."""
    assert set(changes) <= set(DEFAULTS), set(changes) - set(DEFAULTS)
    return deepcopy({**rules, **changes})


def named_variants() -> dict[str, PlainRules]:
    """Returns the table of clause 11, all fields of every variant."""
    six_hand = changed(DEFAULTS, players=6, sides=3, hand_size=8, trump_choice="named", exchange="discard")
    oklahoma = changed(
        DEFAULTS,
        jokers=2,
        hand_size=9,
        bids=[2, 3, 4, 5, 6, 7, 8, 9, 10],
        smudge=False,
        trump_choice="named",
        exchange="refill",
        leftover_to="pitcher",
        off_jack=True,
        items={"high": 1, "low": 1, "jack": 1, "off_jack": 1, "joker": 1, "three": 3, "ten": 1},
    )
    ten_point_52 = changed(
        DEFAULTS,
        jokers=2,
        hand_size=9,
        bids=[4, 5, 6, 7, 8, 9, 10],
        dealer_may_steal=False,
        smudge_tricks=False,
        smudge_made="advance",
        smudge_failed="lose",
        smudge_value=10,
        smudge_ends_auction=True,
        trump_choice="named",
        opening_lead="any",
        exchange="refill",
        leftover_to="pitcher",
        off_jack=True,
        items={"ace": 1, "jack": 1, "off_jack": 1, "joker": 1, "ten": 1, "two": 1, "three": 3},
        target=52,
        out="first_to_target",
    )
    ten_point_54 = changed(
        ten_point_52,
        bids=[4, 5, 6, 7, 8, 9],
        smudge_made="win",
        smudge_failed="set",
        target=55,
        concede_without_trumps=True,
    )
    ten_point_five_handed = changed(
        ten_point_52,
        players=5,
        sides=5,
        hand_size=10,
        widow_size=4,
        widow_to="pitcher",
        exchange="discard",
        leftover_to="dead",
    )
    nine_card = changed(
        DEFAULTS,
        hand_size=9,
        play_size=9,
        bids=[3, 4, 5, 6],
        smudge=False,
        items={"high": 1, "low": 1, "jack": 1, "game": 1, "five": 1, "high_spade": 1},
        out="made_or_other_set",
        count_down=True,
    )
    high_low_jack = changed(
        DEFAULTS,
        bids=[1, 2, 3, 4],
        smudge=False,
        dealer_may_steal=False,
        all_pass="void",
        deal_packet=1,
        turn_up=True,
        trump_choice="named",
        opening_lead="any",
        follow="strict_must_trump",
        high_to="winner",
        set_rule="transfer",
        target=11,
        out="first_to_target",
    )
    tiny = changed(DEFAULTS, players=2, deal_packet=1, bids=[1, 2, 3, 4], smudge=False)
    return {
        "auction_pitch": changed(DEFAULTS),
        "cutthroat": changed(DEFAULTS, players=3, sides=3),
        "low_to_holder": changed(DEFAULTS, low_to="holder"),
        "pitch_in_auction": changed(DEFAULTS, pitch_in_auction=True),
        "draw_pitch": changed(DEFAULTS, trump_choice="named", exchange="draw"),
        "no_trumps_first_trick": changed(DEFAULTS, trump_choice="named", opening_lead="any", first_trick_no_trump=True),
        "smudge_over_four": changed(DEFAULTS, smudge_after=4, smudge_value=4, smudge_failed="score_becomes"),
        "six_hand": six_hand,
        "oklahoma": oklahoma,
        "ten_point_52": ten_point_52,
        "ten_point_54": ten_point_54,
        "ten_point_five_handed": ten_point_five_handed,
        "nine_card": nine_card,
        "fish": changed(DEFAULTS, face_down_size=6),
        "high_low_jack": high_low_jack,
        "kuhn_pitch": changed(tiny, suits="S", ranks="TJQKA", hand_size=1, play_size=1),
        "mini_pitch": changed(tiny, suits="HS", ranks="JQKA", hand_size=2, play_size=2),
        "small_pitch": changed(tiny, suits="HS", ranks="9TJQKA", hand_size=3, play_size=3),
        "mini_partners": changed(tiny, players=4, suits="HS", ranks="TJQKA", hand_size=2, play_size=2),
    }


def optional_variants() -> dict[str, PlainRules]:
    """Returns what clause 11 says may be changed in its variants, by a name with a slash."""
    named = named_variants()
    rules: dict[str, PlainRules] = {}
    for players in range(2, 9):
        rules[f"cutthroat/{players}"] = changed(named["cutthroat"], players=players, sides=players)
    for jokers in range(2):
        rules[f"oklahoma/{jokers} jokers"] = changed(named["oklahoma"], jokers=jokers)
    for jokers in range(3):
        rules[f"oklahoma/six, {jokers} jokers"] = changed(
            named["oklahoma"], players=6, sides=3, hand_size=8, jokers=jokers
        )
    for name in ("ten_point_52", "ten_point_54", "ten_point_five_handed"):
        for follow in ("follow_or_trump_must_trump", "strict", "follow_or_trump"):
            rules[f"{name}/{follow}"] = changed(named[name], follow=follow)
    for players in (3, 5, 6, 7, 8):
        rules[f"high_low_jack/{players}"] = changed(named["high_low_jack"], players=players, sides=players)
    options: dict[str, dict[str, Any]] = {
        "redeal": {"redeal_one_suit_hand": True},
        "no trump": {"no_trump": True},
        "low ball, high ball": {"bids": [1, 4]},
        "zero bid": {"bids": [0, 1, 2, 3, 4]},
        "widow": {"widow_size": 2, "widow_to": "pitcher_after_first_trick"},
        "plain lead": {"opening_lead": "plain"},
        "free": {"follow": "free"},
        "fifteen": {"target": 15},
        "no game": {"items": {"high": 1, "low": 1, "jack": 1}, "bids": [1, 2, 3]},
        "jack only bidder": {"jack_only_bidder": True},
        "stripped": {"ranks": "6789TJQKA"},
        "two packs": {"decks": 2},
        "keeps own": {"transfer_keeps_own": True},
    }
    for name, changes in options.items():
        rules[f"high_low_jack/{name}"] = changed(named["high_low_jack"], **changes)
    return rules


# ------------------------------------------------------------------------------------------------------- what is valid


def problems(rules: PlainRules) -> list[str]:
    """Returns what is wrong with some rules, by clause; nothing, if they are valid (2.4 and every "needs")."""
    bad_fields = field_problems(rules)
    return bad_fields or unmet_needs(rules)


def is_int(value: Any) -> bool:
    """Returns whether a value is an int and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def field_problems(rules: PlainRules) -> list[str]:
    """2.4  Returns which fields are missing, unknown or out of range, each looked at alone."""
    found = [f"{name}: missing" for name in DEFAULTS if name not in rules]
    found += [f"{name}: unknown" for name in rules if name not in DEFAULTS]
    for name, value in rules.items():
        if name in FLAGS:
            ok = isinstance(value, bool)
        elif name in CHOICES:
            ok = isinstance(value, str) and value in CHOICES[name]
        elif name in LEAST_AND_MOST:
            least, most = LEAST_AND_MOST[name]
            ok = is_int(value) and value >= least and (most is None or value <= most)
        elif name in ("ranks", "suits"):
            known = DEFAULTS[name]
            ok = isinstance(value, str) and value != "" and set(value) <= set(known) and len(set(value)) == len(value)
        elif name == "bids":
            ok = isinstance(value, list) and value != [] and all(is_int(bid) and 0 <= bid <= 15 for bid in value)
            ok = ok and value == sorted(set(value))
        elif name == "items":
            ok = isinstance(value, dict) and value != {} and set(value) <= set(ITEMS)
            ok = ok and all(is_int(points) and 1 <= points <= 9 for points in value.values())
        else:
            continue
        if not ok:
            found.append(f"{name}: {value!r} is out of range")
    return found


def pack_size(rules: PlainRules) -> int:
    """1.3  Returns how many cards the pack has."""
    return int((len(rules["ranks"]) * len(rules["suits"]) + rules["jokers"]) * rules["decks"])


def cards_needed(rules: PlainRules) -> int:
    """2.4  Returns how many cards the table needs."""
    a_seat = max(rules["hand_size"], rules["play_size"]) + rules["face_down_size"]
    return int(rules["players"] * a_seat + rules["widow_size"] + rules["turn_up"])


def unmet_needs(rules: PlainRules) -> list[str]:
    """Returns the needs that are not met, each beginning with its clause, for rules whose fields are in range."""
    named = rules["trump_choice"] == "named"
    exchange = rules["exchange"]
    hand_size, play_size = rules["hand_size"], rules["play_size"]
    conceding = rules["concede_without_trumps"]
    needs = [
        ("1.1 sides divides players", rules["players"] % rules["sides"] == 0),
        ("2.2 redeal needs two suits", not rules["redeal_one_suit_hand"] or len(rules["suits"]) >= 2),
        ("2.2 redeal needs hands of two", not rules["redeal_one_suit_hand"] or hand_size >= 2),
        ("2.4 pack", cards_needed(rules) <= pack_size(rules)),
        ("3.10 pitch needs 4 in bids", not rules["pitch_in_auction"] or 4 in rules["bids"]),
        ("3.10 pitch needs first_lead", not rules["pitch_in_auction"] or rules["trump_choice"] == "first_lead"),
        ("4.2 no_trump needs named", not rules["no_trump"] or named),
        ("4.2 first_trick_no_trump needs named", not rules["first_trick_no_trump"] or named),
        ("4.2 opening_lead needs named", rules["opening_lead"] == "trump" or named),
        ("4.2 exchange needs named", exchange == "none" or named),
        ("4.2 no_trump needs no exchange", not rules["no_trump"] or exchange == "none"),
        ("4.6 first_trick_no_trump needs any", not rules["first_trick_no_trump"] or rules["opening_lead"] == "any"),
        ("5.1 none needs equal sizes", exchange != "none" or play_size == hand_size),
        ("5.1 draw needs hand <= play", exchange != "draw" or hand_size <= play_size),
        ("5.1 discard needs hand >= play", exchange != "discard" or hand_size >= play_size),
        ("5.1 widow needs discard, refill", rules["widow_to"] != "pitcher" or exchange in ("discard", "refill")),
        ("5.6 leftover needs refill", rules["leftover_to"] != "pitcher" or exchange == "refill"),
        ("7.1 item off_jack needs the option", "off_jack" not in rules["items"] or rules["off_jack"]),
        ("9.5 concede needs two sides", not conceding or rules["sides"] == 2),
        ("9.5 concede needs no game", not conceding or "game" not in rules["items"]),
        ("9.5 concede needs no high_spade", not conceding or "high_spade" not in rules["items"]),
        ("9.5 concede needs no no_trump", not conceding or not rules["no_trump"]),
        ("9.5 concede needs no face down", not conceding or rules["face_down_size"] == 0),
        ("9.5 concede needs no swap", not conceding or rules["widow_to"] != "pitcher_after_first_trick"),
        ("9.5 concede needs no smudge tricks", not conceding or not (rules["smudge"] and rules["smudge_tricks"])),
    ]
    return [need for need, met in needs if not met]


# --------------------------------------------------------------------------------------------------------- random rules


def random_rules(rng: random.Random) -> PlainRules:
    """Returns valid rules: half of the time a named variant with a few fields redrawn, else all fields drawn."""
    while True:
        if rng.random() < 0.5:
            rules = deepcopy(rng.choice(list(named_variants().values())))
            for name in rng.sample(list(DEFAULTS), rng.choice([0, 1, 1, 2, 3, 5])):
                rules[name] = random_field(name, rng)
        else:
            rules = {name: random_field(name, rng) for name in DEFAULTS}
        for _ in range(200):
            unmet = unmet_needs(rules)
            if not unmet:
                assert not problems(rules), problems(rules)
                return rules
            rules.update(rng.choice(repairs(rng.choice(unmet), rules, rng)))


def random_field(name: str, rng: random.Random) -> Any:
    """Returns a value of one field that is in range, small ones more often."""
    if name in FLAGS:
        return rng.random() < 0.4
    if name in CHOICES:
        return rng.choice(CHOICES[name])
    draw: dict[str, Callable[[], Any]] = {
        "players": lambda: rng.choice([2, 3, 4, 4, 4, 5, 6, 7, 8]),
        "sides": lambda: rng.choice([2, 2, 3, 4, 5, 6, 7, 8]),
        "ranks": lambda: random_part(DEFAULTS["ranks"], 0.5, rng),
        "suits": lambda: random_part(DEFAULTS["suits"], 0.6, rng),
        "jokers": lambda: rng.choice([0, 1, 2, 2]),
        "decks": lambda: rng.choice([1, 1, 2]),
        "hand_size": lambda: rng.choice([1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9, 10, rng.randint(1, 26)]),
        "deal_packet": lambda: rng.choice([1, 2, 3, 4, 7]),
        "face_down_size": lambda: rng.choice([0, 0, 0, 1, 2, 3, 6]),
        "widow_size": lambda: rng.choice([0, 0, 1, 2, 4, 7]),
        "bids": lambda: sorted(rng.sample(range(16), rng.randint(1, 5))) if rng.random() < 0.2 else random_bids(rng),
        "smudge_after": lambda: rng.choice([0, 0, 0, 1, 2, 3, 4, 4, 5, 9]),
        "play_size": lambda: rng.choice([1, 2, 3, 4, 5, 6, 6, 6, 7, 8, 9, 10]),
        "items": lambda: random_items(rng),
        "smudge_value": lambda: rng.choice([1, 4, 5, 10, 99]),
        "target": lambda: rng.choice([1, 5, 7, 11, 15, 21, 52, 55, 999]),
    }
    return draw[name]()


def random_part(whole: str, share: float, rng: random.Random) -> str:
    """Returns all letters of a text in a share of all cases, else some of them, in their order."""
    if rng.random() < share:
        return whole
    part = rng.sample(whole, rng.randint(1, len(whole)))
    return "".join(letter for letter in whole if letter in part)


def random_bids(rng: random.Random) -> list[int]:
    """Returns bids as people have them."""
    first = rng.randint(0, 4)
    return list(range(first, rng.randint(max(first, 3), 10) + 1))


def random_items(rng: random.Random) -> dict[str, int]:
    """Returns some items, most of them worth one."""
    if rng.random() < 0.2:
        return dict(DEFAULTS["items"])
    items = rng.sample(ITEMS, rng.randint(1, len(ITEMS)))
    return {item: rng.choice([1, 1, 1, 2, 3, 9]) for item in items}


def without(rules: PlainRules, item: str) -> dict[str, int]:
    """Returns the items of some rules but one; High, if there is no other."""
    return {name: value for name, value in rules["items"].items() if name != item} or {"high": 1}


def repairs(need: str, rules: PlainRules, rng: random.Random) -> list[dict[str, Any]]:
    """Returns the changes of which each is a step towards an unmet need; which one is taken is left to chance."""
    hand_size, play_size, players = rules["hand_size"], rules["play_size"], rules["players"]
    named = {"trump_choice": "named"}
    not_conceding = {"concede_without_trumps": False}
    same = rng.choice([hand_size, play_size])
    smaller = {
        "players": max(2, players - 1),
        "hand_size": max(1, hand_size - 1),
        "play_size": max(1, play_size - 1),
        "face_down_size": rules["face_down_size"] // 2,
        "widow_size": rules["widow_size"] // 2,
        "turn_up": False,
    }
    changes: dict[str, list[dict[str, Any]]] = {
        "1.1 sides divides players": [{"sides": n} for n in range(2, players + 1) if players % n == 0],
        "2.2 redeal needs two suits": [{"redeal_one_suit_hand": False}, {"suits": "HS"}, {"suits": "CDHS"}],
        "2.2 redeal needs hands of two": [{"redeal_one_suit_hand": False}, {"hand_size": 2}],
        "2.4 pack": [{name: value} for name, value in smaller.items()]
        + [{"ranks": DEFAULTS["ranks"]}, {"suits": DEFAULTS["suits"]}, {"decks": 2}],
        "3.10 pitch needs 4 in bids": [{"pitch_in_auction": False}, {"bids": sorted({*rules["bids"], 4})}],
        "3.10 pitch needs first_lead": [{"pitch_in_auction": False}, {"trump_choice": "first_lead"}],
        "4.2 no_trump needs named": [{"no_trump": False}, named],
        "4.2 first_trick_no_trump needs named": [{"first_trick_no_trump": False}, named],
        "4.2 opening_lead needs named": [{"opening_lead": "trump"}, named],
        "4.2 exchange needs named": [{"exchange": "none"}, named],
        "4.2 no_trump needs no exchange": [{"no_trump": False}, {"exchange": "none"}],
        "4.6 first_trick_no_trump needs any": [{"first_trick_no_trump": False}, {"opening_lead": "any"}],
        "5.1 none needs equal sizes": [{"hand_size": same, "play_size": same}, {"exchange": "refill"}],
        "5.1 draw needs hand <= play": [{"hand_size": play_size, "play_size": hand_size}, {"play_size": hand_size}],
        "5.1 discard needs hand >= play": [{"hand_size": play_size, "play_size": hand_size}, {"hand_size": play_size}],
        "5.1 widow needs discard, refill": [{"widow_to": "dead"}, {"exchange": "discard"}, {"exchange": "refill"}],
        "5.6 leftover needs refill": [{"leftover_to": "dead"}, {"exchange": "refill"}],
        "7.1 item off_jack needs the option": [{"off_jack": True}, {"items": without(rules, "off_jack")}],
        "9.5 concede needs two sides": [not_conceding, {"sides": 2, "players": rng.choice([2, 4, 6, 8])}],
        "9.5 concede needs no game": [not_conceding, {"items": without(rules, "game")}],
        "9.5 concede needs no high_spade": [not_conceding, {"items": without(rules, "high_spade")}],
        "9.5 concede needs no no_trump": [not_conceding, {"no_trump": False}],
        "9.5 concede needs no face down": [not_conceding, {"face_down_size": 0}],
        "9.5 concede needs no swap": [not_conceding, {"widow_to": "dead"}],
        "9.5 concede needs no smudge tricks": [not_conceding, {"smudge": False}, {"smudge_tricks": False}],
    }
    return changes[need]
