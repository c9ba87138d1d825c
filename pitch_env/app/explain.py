"""Any rule set in plain words: what differs from the base game first, then how a deal runs, clause by clause.

A chapter is a function from rules to sentences by key. A key that is a field of :class:`Rules` says what that field
means here; other keys are what holds whatever the fields say.
"""

from collections.abc import Callable, Iterable
from typing import Any

from pitch_env.cards import RANKS, SUITS
from pitch_env.rules import AUCTION_PITCH, VARIANTS, Rules

SUIT_WORDS = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}

ITEM_WORDS = {
    "high": "High, the highest trump in play",
    "low": "Low, the lowest trump in play that is no joker",
    "jack": "the jack of trumps, to the winner of its trick",
    "off_jack": "the off-jack, to the winner of its trick",
    "ace": "the ace of trumps, to the winner of its trick",
    "ten": "the ten of trumps, to the winner of its trick",
    "three": "the three of trumps, to the winner of its trick",
    "five": "the five of trumps, to the winner of its trick",
    "joker": "each joker in play, to the winner of its trick",
    "two": "the two of trumps, to the side of the seat that plays it",
    "high_spade": "the highest spade in play, to the winner of its trick",
    "game": "Game, the most counted in tricks: ten 10, ace 4, king 3, queen 2, jack 1; a tie at the top is nobody's",
}
"""What earns each item (7.1)."""

FOLLOW_WORDS = {
    "follow_or_trump": "Who holds the suit led follows it or trumps; who is void plays anything",
    "follow_or_trump_must_trump": "Who holds the suit led follows it or trumps; who is void must trump if he can",
    "strict": "Who holds the suit led must follow it; who is void plays anything",
    "strict_must_trump": "Who holds the suit led must follow it; who is void must trump if he can",
    "free": "Anybody may play any card at any time",
}

SILENT = {
    "jokers", "face_down_size", "widow_size", "turn_up", "redeal_one_suit_hand", "pitch_in_auction", "smudge_after",
    "smudge_ends_auction", "no_trump", "first_trick_no_trump", "off_jack", "leftover_to", "jack_only_bidder",
    "transfer_keeps_own", "count_down", "concede_without_trumps",
}  # fmt: skip
"""Fields that need no word where they are as in the base game, which does without what they bring."""

NEEDS: dict[str, Callable[[Rules], bool]] = {
    "dealer_may_steal_smudge": lambda r: r.smudge and r.dealer_may_steal,
    "smudge_tricks": lambda r: r.smudge,
    "smudge_after": lambda r: r.smudge,
    "smudge_ends_auction": lambda r: r.smudge,
    "smudge_value": lambda r: r.smudge,
    "smudge_made": lambda r: r.smudge,
    "smudge_failed": lambda r: r.smudge,
    "widow_to": lambda r: r.widow_size > 0,
    "high_to": lambda r: "high" in r.items,
    "low_to": lambda r: "low" in r.items,
    "jack_only_bidder": lambda r: "jack" in r.items,
    "transfer_keeps_own": lambda r: r.set_rule == "transfer",
}
"""What must hold for a field to matter to a deal."""


def explain(rules: Rules, name: str = "these rules") -> str:
    """Returns rules in plain words, as lines of text.

    Args:
        rules: any rules.
        name: what to call them.
    """
    lines = [f"{name}: {_players(rules)}, {rules.target} points", ""]
    changes = differences(rules)
    if changes:
        lines += ["What differs from the base game (auction_pitch)", *(f"  - {change}" for change in changes)]
    else:
        lines.append("This is the base game, auction_pitch.")
    for title, sentences in chapters(rules):
        lines += ["", title, *(f"  {sentence}" for sentence in sentences)]
    return "\n".join(lines)


def differences(rules: Rules) -> list[str]:
    """Returns a sentence for each field whose value is not that of the base game, in the order of the rulebook."""
    words = {key: text for _, chapter in CHAPTERS for key, text in chapter(rules).items()}
    found = []
    for field in Rules.model_fields:
        mine, base = getattr(rules, field), getattr(AUCTION_PITCH, field)
        if mine != base:
            unused = "" if _matters(field, rules) else " (of no effect here)"
            found.append(f"{field} = {_value(mine)}, not {_value(base)}: {words[field]}{unused}")
    return found


def chapters(rules: Rules) -> list[tuple[str, list[str]]]:
    """Returns how a deal runs: title and sentences of each chapter that has something to say."""
    told = []
    for title, chapter in CHAPTERS:
        sentences = [text for key, text in chapter(rules).items() if _is_told(key, rules)]
        if sentences:
            told.append((title, sentences))
    return told


def variant_rows() -> list[tuple[str, ...]]:
    """Returns a row for each named variant; :data:`VARIANT_COLUMNS` says of what."""
    return [_variant_row(name, rules) for name, rules in VARIANTS.items()]


def _variant_row(name: str, r: Rules) -> tuple[str, ...]:
    hand = str(r.hand_size) if r.hand_size == r.play_size else f"{r.hand_size} to {r.play_size}"
    bids = f"{r.bids[0]}-{r.bids[-1]}" if r.bids == tuple(range(r.bids[0], r.bids[-1] + 1)) else _list(r.bids)
    smudge = str(r.smudge_value) if r.smudge else "-"
    trumps = "named" if r.trump_choice == "named" else "first lead"
    points = sum(value * (r.jokers * r.decks if item == "joker" else 1) for item, value in r.items.items())
    row = (name, r.players, r.sides, r.pack_size, hand, bids, smudge, trumps, r.exchange, points, r.target)
    return tuple(map(str, row))


VARIANT_COLUMNS = (
    "variant", "seats", "sides", "pack", "hand", "bids", "smudge", "trumps", "exchange", "points", "target",
)  # fmt: skip


def _matters(field: str, rules: Rules) -> bool:
    return field not in NEEDS or NEEDS[field](rules)


def _is_told(key: str, rules: Rules) -> bool:
    if key not in Rules.model_fields:
        return True
    same = getattr(rules, key) == getattr(AUCTION_PITCH, key)
    return _matters(key, rules) and not (same and key in SILENT)


def _value(value: Any) -> str:
    """Returns a field's value as it would be written in a file of house rules."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return str(list(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {number}" for name, number in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _players(rules: Rules) -> str:
    if rules.sides == rules.players:
        return f"{rules.players}, each for himself"
    return f"{rules.players} in {rules.sides} sides"


def _num(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _list(parts: Iterable[object], last: str = "and") -> str:
    texts = [str(part) for part in parts]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def _table(r: Rules) -> dict[str, str]:
    sides = [_list(range(side, r.players, r.sides)) for side in range(r.sides)]
    return {
        "players": f"{r.players} players, seats 0 to {r.players - 1}, clockwise (1.1).",
        "sides": "Each plays for himself (1.1)."
        if r.sides == r.players
        else f"{r.sides} sides score together: seats {'; '.join(sides)} (1.1).",
        "ranks": f"{_num(len(r.ranks), 'rank')}, low to high: {' '.join(sorted(r.ranks, key=RANKS.index))} (1.3).",
        "suits": f"The suits are {_list(SUIT_WORDS[suit] for suit in SUITS if suit in r.suits)} (1.3).",
        "jokers": {
            0: "No jokers (1.3).",
            1: "One joker, X2, which is a trump (1.3, 1.4).",
            2: "Two jokers, X1 below X2, which are trumps (1.3, 1.4).",
        }[r.jokers],
        "decks": {
            1: "One pack (1.3).",
            2: "Two packs shuffled together; of two identical cards the first played is higher (1.3, 1.5).",
        }[r.decks],
        "pack": f"That makes {r.pack_size} cards.",
    }


def _deal(r: Rules) -> dict[str, str]:
    return {
        "dealer": "The first dealer is random; then the deal passes to the left (2.3).",
        "hand_size": f"Each seat is dealt {_num(r.hand_size, 'card')} (2.1).",
        "deal_packet": f"Cards are dealt {r.deal_packet} at a time, dealer's left first (2.1).",
        "face_down_size": f"Then each seat gets {_num(r.face_down_size, 'card')} face down, seen by nobody (2.1).",
        "widow_size": f"A widow of {_num(r.widow_size, 'card')} is dealt face down (2.1).",
        "turn_up": "One card is turned up for all to see and stays out of play (2.1)."
        if r.turn_up
        else "No card is turned up (2.1).",
        "redeal_one_suit_hand": "A hand all of one suit voids the deal (2.2)."
        if r.redeal_one_suit_hand
        else "A hand all of one suit is played (2.2).",
    }


def _auction(r: Rules) -> dict[str, str]:
    words = {
        "round": "One round from dealer's left, one call each: pass, or more than the highest call so far; the highest "
        "is the pitcher (3.1, 3.2).",
        "bids": f"Numbers that may be bid: {_list(r.bids, 'or')} (3.1).",
        "dealer_may_steal": "The dealer, who calls last, may take the bid by calling the highest number so far (3.3)."
        if r.dealer_may_steal
        else "The dealer too must go above the highest call (3.3).",
        "all_pass": "If all others pass the dealer must bid (3.5)."
        if r.all_pass == "dealer_must_bid"
        else "If all pass the deal is void (3.5).",
        "pitch_in_auction": "Who could bid four may pitch a card instead: it bids four in its suit and is his first "
        "lead; after it all but the dealer pass (3.8, 3.9)."
        if r.pitch_in_auction
        else "No card is pitched in the auction (3.8).",
        "smudge": "A smudge, above every number, undertakes every point (3.7)."
        if r.smudge
        else "There is no smudge (3.7).",
        "smudge_tricks": "A smudge undertakes every trick too (3.7)."
        if r.smudge_tricks
        else "A smudge need not win every trick (3.7).",
        "smudge_after": f"A smudge is legal only once at least {r.smudge_after} has been bid or pitched (3.7)."
        if r.smudge_after
        else "A smudge is legal at any time (3.7).",
        "smudge_ends_auction": "Nobody calls after a smudge (3.7)."
        if r.smudge_ends_auction
        else "The auction goes on after a smudge (3.7).",
        "dealer_may_steal_smudge": "The dealer may take a smudge with a smudge (3.4)."
        if r.dealer_may_steal_smudge
        else "The dealer may not take a smudge with a smudge (3.4).",
    }
    if 0 in r.bids:
        words["zero"] = "A bid of 0 undertakes to take no point (3.6, 8.3)."
    return words


def _trumps(r: Rules) -> dict[str, str]:
    words = {
        "trump_choice": "The suit of the pitcher's first card is trumps (4.1)."
        if r.trump_choice == "first_lead"
        else "The pitcher names trumps after the auction (4.2)."
    }
    if r.trump_choice == "first_lead" and r.jokers:
        words["joker"] = "That card may not be a joker while he holds another (4.1)."
    if r.trump_choice == "named" and r.opening_lead == "trump":
        words["held"] = "He must hold a trump of the suit he names; a joker will do (4.3)."
    return words | {
        "no_trump": "He may name no-trump: only jokers are trumps, and the suit of the first card led is the one for "
        "High, Low and Jack (4.2, 4.5)."
        if r.no_trump
        else "There is no no-trump (4.2).",
        "off_jack": "The other jack of the trump colour is a trump, just below the jack (1.4, 1.5)."
        if r.off_jack
        else "The other jack of the trump colour is a plain card (1.4).",
        "opening_lead": {
            "trump": "His first lead is a trump (4.1, 4.4).",
            "any": "He may lead any card first (4.4).",
            "plain": "His first lead must not be a trump, if he holds another card (4.4).",
        }[r.opening_lead],
        "first_trick_no_trump": "If the first card led is not a trump, nobody may trump the first trick who has "
        "another card (4.6)."
        if r.first_trick_no_trump
        else "The first trick may be trumped (4.6).",
    }


def _exchange(r: Rules) -> dict[str, str]:
    return {
        "exchange": {
            "none": "No cards are exchanged (5).",
            "draw": "From dealer's left each seat discards any non-trumps, then is dealt up to a full hand (5.3).",
            "discard": "From dealer's left each seat discards down to a full hand, plain cards first (5.4).",
            "refill": "From dealer's left each seat discards all plain cards, and trumps beyond a full hand, then is "
            "dealt up to a full hand (5.5).",
        }[r.exchange],
        "play_size": f"Play starts with {_num(r.play_size, 'card')} in each hand (5).",
        "widow_to": {
            "dead": "The widow stays out of play (5).",
            "pitcher": "The pitcher takes the widow into his hand after the auction (5.1).",
            "pitcher_after_first_trick": "After the first trick the pitcher takes the widow and discards as many "
            "cards, face up (5.8).",
        }[r.widow_to],
        "leftover_to": "After everybody the pitcher takes the rest of the stock and comes down to a full hand (5.6)."
        if r.leftover_to == "pitcher"
        else "The rest of the stock stays out of play (5.6).",
    }


def _play(r: Rules) -> dict[str, str]:
    words = {
        "follow": f"{FOLLOW_WORDS[r.follow]} (6.2).",
        "trumps led": "If a trump is led, holders of trumps play one (6.3)."
        if r.follow != "free"
        else "Not even a trump led need be followed (6.3).",
        "trick": "The highest trump wins, else the highest card of the suit led; the winner leads next (6.1, 6.4).",
        "tricks": f"{_num(r.num_tricks, 'trick')} in all (6.4, 6.5).",
    }
    if r.face_down_size:
        words["blind"] = "From the second trick on a seat may play the next of its face-down cards, blind (6.5)."
    return words


def _points(r: Rules) -> dict[str, str]:
    words = {"items": f"Points: {_list(f'{name} {value}' for name, value in r.items.items())} (7.1)."}
    words |= {f"item {name}": f"  {value} for {ITEM_WORDS[name]}." for name, value in r.items.items()}
    return words | {
        "high_to": "High scores for the side that held it when play started (7.3)."
        if r.high_to == "holder"
        else "High scores for the side that wins its trick (7.3).",
        "low_to": "Low scores for the side that held it when play started (7.3)."
        if r.low_to == "holder"
        else "Low scores for the side that wins its trick (7.3).",
        "jack_only_bidder": "The jack scores only for the bidding side (7.3)."
        if r.jack_only_bidder
        else "The jack scores for either side (7.3).",
    }


def _settlement(r: Rules) -> dict[str, str]:
    words = {
        "made": "A bid is made if the bidding side's points are at least the bid; it scores them all. Defenders score "
        "theirs (8.1).",
        "set_rule": "A failed bid is subtracted, and the bidders' points are lost (8.2)."
        if r.set_rule == "subtract"
        else "After a failed bid the bidders score nothing, and each other side scores what the bidders took (8.2).",
        "transfer_keeps_own": "It scores its own points besides (8.2)."
        if r.transfer_keeps_own
        else "It scores nothing for its own points then (8.2).",
    }
    if 0 in r.bids:
        words["zero"] = "A bid of 0 that takes no point is made, and then nobody scores (8.3)."
    return words | {
        "smudge_value": f"A smudge is worth {r.smudge_value} (8.5, 8.6).",
        "smudge_made": {
            "score": "A made smudge scores its worth instead of the points (8.5).",
            "advance": f"A made smudge takes the score up to {r.target}, a score below 0 only to 0 (8.5).",
            "win": "A made smudge scores its worth and wins the game at once (8.5).",
        }[r.smudge_made],
        "smudge_failed": {
            "set": "A failed smudge loses its worth (8.6).",
            "score_becomes": f"After a failed smudge the score is -{r.smudge_value}, whatever it was (8.6).",
            "lose": "A failed smudge loses its worth, and the game at once (8.6).",
        }[r.smudge_failed],
    }


def _end(r: Rules) -> dict[str, str]:
    return {
        "target": f"The game is to {r.target} (9).",
        "out": {
            "bid_and_make": "Only a side that bids, makes it and then has the target goes out (9.1).",
            "first_to_target": "The first side at the target goes out; if several, bidders who made it, else the "
            "highest; level, another deal (9.2).",
            "made_or_other_set": "Bidders at the target go out when they make their bid, others when it fails (9.3).",
        }[r.out],
        "count_down": "The score shown is what is left to the target (9.4)."
        if r.count_down
        else "The score shown counts up (9.4).",
        "concede_without_trumps": "When a side is out of trumps the other takes what is left, and the deal ends (9.5)."
        if r.concede_without_trumps
        else "All tricks are played out (9.5).",
        "sheet": "On the score sheet a set is owed, and later points pay it off first (10.1).",
    }


CHAPTERS: tuple[tuple[str, Callable[[Rules], dict[str, str]]], ...] = (
    ("The table and the pack", _table),
    ("The deal", _deal),
    ("The auction", _auction),
    ("Trumps and the first lead", _trumps),
    ("The exchange", _exchange),
    ("The play", _play),
    ("The points", _points),
    ("The settlement", _settlement),
    ("The end of the game", _end),
)
"""Title of each chapter, and what tells it."""
