"""The referee: one deal of Pitch in slow, plain Python, written from the rulebook alone.

The compiled engine is checked against it, so it shares nothing with the engine: cards are their names (``"TH"``,
``"X2"``), hands are lists, rules are a plain dict. Numbers in comments are clauses of the rulebook. Where the text can
be read two ways the comment says "Reading:" and what was chosen.

Vocabulary: a *face* is a card's name; with two packs a face is there twice. *Taken* cards are those of the tricks of a
side. *Foreign* jokers are those that the pitcher swapped in from the widow (5.8): not in play at the first lead.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

SUITS = "CDHS"
RANKS = "23456789TJQKA"
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
GAME_VALUE = {"T": 10, "A": 4, "K": 3, "Q": 2, "J": 1}
RANK_OF_ITEM = {"jack": "J", "ace": "A", "ten": "T", "three": "3", "five": "5", "two": "2"}

Card = str
Call = int | str


# --------------------------------------------------------------------------------------------- 1 and 2: cards and deals


def is_joker(card: Card) -> bool:
    """Returns whether a card is a joker, ``X1`` or ``X2`` (1.2)."""
    return card[0] == "X"


def pack(rules: dict[str, Any]) -> list[Card]:
    """Returns all cards that may be dealt (1.3)."""
    faces = [rank + suit for suit in SUITS if suit in rules["suits"] for rank in RANKS if rank in rules["ranks"]]
    jokers: list[Card] = {0: [], 1: ["X2"], 2: ["X1", "X2"]}[rules["jokers"]]
    return (faces + jokers) * int(rules["decks"])


def random_deal(rules: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Shuffles and deals (2.1), with a random dealer; returns arguments for ``Referee``, all but rules and scores."""
    cards = pack(rules)
    rng.shuffle(cards)
    dealer = rng.randrange(rules["players"])
    return {"dealer": dealer, **deal(rules, cards, dealer)}


def deal(rules: dict[str, Any], cards: Sequence[Card], dealer: int) -> dict[str, Any]:
    """Deals a pack in the given order (2.1)."""
    rest = iter(cards)
    players = rules["players"]
    order = [(dealer + 1 + i) % players for i in range(players)]
    hands: list[list[Card]] = [[] for _ in range(players)]
    while len(hands[dealer]) < rules["hand_size"]:
        for seat in order:
            missing = rules["hand_size"] - len(hands[seat])
            hands[seat] += take(rest, min(rules["deal_packet"], missing))
    face_down: list[list[Card]] = [[] for _ in range(players)]
    for seat in order:
        face_down[seat] = take(rest, rules["face_down_size"])
    widow = take(rest, rules["widow_size"])
    turn_up = next(rest) if rules["turn_up"] else None
    return {"hands": hands, "face_down": face_down, "widow": widow, "turn_up": turn_up, "stock": list(rest)}


def take(cards: Iterator[Card], count: int) -> list[Card]:
    """Takes the next cards of a pile."""
    return [next(cards) for _ in range(count)]


def trumps_high_to_low(rules: dict[str, Any], trump: str | None) -> list[Card]:
    """Returns every face that is a trump, highest first (1.4, 1.5), whether or not the pack has it."""
    if trump is None:
        return []
    if trump == "NT":  # 4.5  no card is a trump but jokers
        return ["X2", "X1"]
    off_jack = ["J" + SAME_COLOUR[trump]] if rules["off_jack"] else []
    above = [rank + trump for rank in "AKQJ"]
    below = [rank + trump for rank in "T98765432"]
    return above + off_jack + ["X2", "X1"] + below


# ------------------------------------------------------------------------------------------------------------- one deal


class Referee:
    """One deal: auction, naming, exchange, play and settlement."""

    def __init__(
        self,
        rules: dict[str, Any],
        hands: list[list[Card]],
        dealer: int,
        scores: list[int],
        debts: list[int] | None = None,
        face_down: list[list[Card]] | None = None,
        widow: Iterable[Card] = (),
        turn_up: Card | None = None,
        stock: Iterable[Card] = (),
        reshuffles: Iterable[list[Card]] = (),
    ) -> None:
        """Sets up a deal.

        rules       all fields of the rulebook, valid, as plain JSON types
        hands       a list of cards per seat
        dealer      the seat that deals
        scores      a score per side, before the deal
        debts       a debt per side (10.1), by default what the scores owe
        face_down   a pile per seat, the next card first
        widow       cards set aside for the pitcher
        turn_up     the card shown to all, if the rules have one
        stock       the whole rest of the pack, the next card first
        reshuffles  orders in which discards come back (5.7), one a reshuffle; ``reshuffle`` is asked when they run out
        """
        self.rules = rules
        self.players: int = rules["players"]
        self.sides: int = rules["sides"]
        self.dealer = dealer
        self.hands = [list(hand) for hand in hands]
        self.face_down = [list(pile) for pile in face_down] if face_down else [[] for _ in range(self.players)]
        self.widow = list(widow)
        self.turn_up = turn_up
        self.stock = list(stock)
        self.reshuffles = iter(reshuffles)
        self.scores = list(scores)
        # 10.1  A deal set up from scores alone starts with D = max(0, -score).
        self.debts = list(debts) if debts is not None else [max(0, -score) for score in scores]

        self.phase = "auction"
        self.seat: int | None = None
        self.trump: str | None = None
        self.trump_order: list[Card] = []
        self.pitcher: int | None = None
        self.high_bid: Call | None = None
        self.result: dict[str, Any] | None = None

        self.num_calls = 0
        self.highest_number: int | None = None  # the highest number bid or pitched so far
        self.pitch: tuple[int, Card] | None = None  # the standing pitch (3.8): its seat and card, in no hand

        self.discards: list[Card] = []  # face down (5.2)
        self.shown_discards: list[Card] = []  # face up (5.8)
        self.reshuffled = False
        self.exchangers: list[int] = []  # seats that have still to exchange, the one that acts first
        self.took_leftover = False
        self.must_go = 0  # cards that the acting seat must still discard

        self.in_play: Counter[Card] = Counter()  # 1.6, fixed at the first lead
        self.foreign: Counter[Card] = Counter()
        self.trick: list[tuple[int, Card]] = []
        self.trick_jokers: list[Card] = []  # jokers of the trick that were in play at the first lead
        self.leader: int | None = None
        self.num_tricks = 0
        self.tricks_won = [0] * self.sides
        self.taken: list[list[Card]] = [[] for _ in range(self.sides)]
        self.jokers_taken = [0] * self.sides
        self.first_copy: dict[Card, tuple[int, int]] = {}  # face -> side that played its first copy, side that took it
        self.reference: str | None = None  # 4.5

        self.check_setup()
        if self.is_misdeal():
            self.finish_void()
        else:
            self.seat = self.left_of(dealer)

    # ---------------------------------------------------------------------------------------------------- what to call

    def legal_names(self) -> set[str]:
        """Returns the names of all actions that the seat to act may choose."""
        if self.phase == "over":
            return set()
        names = {
            "auction": self.auction_names,
            "naming": self.naming_names,
            "exchange": self.exchange_names,
            "widow": self.widow_names,
            "play": self.play_names,
        }[self.phase]()
        assert names, f"nothing is legal in phase {self.phase}"
        return names

    def play(self, name: str) -> None:
        """Plays a legal action of the seat to act."""
        legal = self.legal_names()
        assert name in legal, f"{name!r} is not legal for seat {self.seat} in phase {self.phase}: {sorted(legal)}"
        {
            "auction": self.play_call,
            "naming": self.play_naming,
            "exchange": self.play_exchange,
            "widow": self.play_widow,
            "play": self.play_card,
        }[self.phase](name)

    def hand(self, seat: int) -> list[Card]:
        """Returns the cards that a seat holds; a standing pitch is not among them."""
        return list(self.hands[seat])

    def reshuffle(self, cards: list[Card]) -> list[Card]:
        """Returns the order in which discards come back (5.7) when none was given; made to be overridden."""
        return cards

    # ----------------------------------------------------------------------------------------------------- 1  words

    def left_of(self, seat: int) -> int:
        """1.1  The next seat."""
        return (seat + 1) % self.players

    def side_of(self, seat: int) -> int:
        """1.1  The side of a seat."""
        return seat % self.sides

    def from_dealers_left(self) -> list[int]:
        """1.1  All seats in turn, the dealer last."""
        return [(self.dealer + 1 + i) % self.players for i in range(self.players)]

    def set_trump(self, trump: str | None) -> None:
        """1.4  Makes a suit (or none) trumps."""
        self.trump = trump
        self.trump_order = trumps_high_to_low(self.rules, trump)

    def is_trump(self, card: Card) -> bool:
        """1.4  Whether a card is a trump for every purpose."""
        return card in self.trump_order

    def suit_of(self, card: Card) -> str:
        """1.4  The suit that a card belongs to in play: ``"trump"``, or its printed suit if it is no trump."""
        return "trump" if self.is_trump(card) else card[1]

    def strength(self, card: Card, suit_led: str) -> tuple[int, int]:
        """1.5, 6.4  What a card is worth in a trick: trumps above the suit led above everything else."""
        if self.is_trump(card):
            return 2, -self.trump_order.index(card)
        if card[1] == suit_led:
            return 1, RANKS.index(card[0])
        return 0, 0

    # ------------------------------------------------------------------------------------------------------ 2  the deal

    def check_setup(self) -> None:
        """2.1, 2.4  All piles have their sizes and make up the pack; scores and debts fit."""
        rules = self.rules
        assert 0 <= self.dealer < self.players
        assert [len(hand) for hand in self.hands] == [rules["hand_size"]] * self.players
        assert [len(pile) for pile in self.face_down] == [rules["face_down_size"]] * self.players
        assert len(self.widow) == rules["widow_size"]
        assert (self.turn_up is not None) == rules["turn_up"]
        assert Counter(self.all_cards()) == Counter(pack(rules)), "the piles are not the pack"
        assert len(self.scores) == len(self.debts) == self.sides
        assert all(abs(score) <= 9999 for score in self.scores)
        assert all(debt >= 0 and score + debt >= 0 for score, debt in zip(self.scores, self.debts, strict=True))

    def all_cards(self) -> list[Card]:
        """Returns every card of the pack, wherever it lies at the moment."""
        cards = [card for pile in self.hands + self.face_down for card in pile] + self.widow + self.stock
        if self.turn_up is not None:
            cards.append(self.turn_up)
        if self.pitch is not None:
            cards.append(self.pitch[1])
        cards += self.discards + self.shown_discards + [card for _, card in self.trick]
        return cards + [card for taken in self.taken for card in taken]

    def is_misdeal(self) -> bool:
        """2.2  Some hand is all of one suit; a joker is of none.

        Reading: the printed suit, for no trumps are known yet, and the hand alone, without its face-down pile.
        """
        if not self.rules["redeal_one_suit_hand"]:
            return False
        return any(
            not any(is_joker(card) for card in hand) and len({card[1] for card in hand}) == 1 for hand in self.hands
        )

    # ----------------------------------------------------------------------------------------------------- 3  auction

    def auction_names(self) -> set[str]:
        """3.1  One call: a pass, a number, a smudge or a pitch."""
        # 3.8  After a pitch every seat but the dealer must pass.
        if self.pitch is not None and self.seat != self.dealer:
            return {"pass"}
        names = {f"bid {number}" for number in self.legal_numbers()}
        if self.may_pass():
            names.add("pass")
        if self.may_smudge():
            names.add("smudge")
        return names | self.legal_pitches()

    def dealer_steals(self) -> bool:
        """3.3  The seat to act is the dealer and may take over the highest bid."""
        return self.seat == self.dealer and self.rules["dealer_may_steal"]

    def may_pass(self) -> bool:
        """3.5  Only a dealer to whom all have passed may have to speak."""
        all_passed = self.seat == self.dealer and self.high_bid is None
        return not (all_passed and self.rules["all_pass"] == "dealer_must_bid")

    def legal_numbers(self) -> set[int]:
        """3.1, 3.3  Numbers above the highest so far; for the dealer that one too, if he may steal."""
        # 3.9  Reading: after a pitch the dealer passes, pitches or smudges, and calls no number, not even a higher one.
        if self.pitch is not None or self.high_bid == "smudge":
            return set()
        highest = self.highest_number
        if highest is None:
            return set(self.rules["bids"])
        numbers = {number for number in self.rules["bids"] if number > highest}
        if self.dealer_steals():
            numbers.add(highest)
        return numbers

    def may_smudge(self) -> bool:
        """3.1, 3.4, 3.7, 3.9  A smudge is above every number; only the dealer may call it over a smudge."""
        if not self.rules["smudge"]:
            return False
        # 3.7  Reading: smudge_after=0 asks for no bid before it. A pitch counts as the number 4.
        after = self.rules["smudge_after"]
        if after > 0 and (self.highest_number is None or self.highest_number < after):
            return False
        # 3.4  The steal of a smudge needs both options.
        if self.high_bid == "smudge":
            return self.dealer_steals() and self.rules["dealer_may_steal_smudge"]
        return True

    def legal_pitches(self) -> set[Card]:
        """3.8, 3.9  Non-jokers of the hand, for a seat that could bid four."""
        if not self.rules["pitch_in_auction"]:
            return set()
        if self.pitch is not None:  # 3.9  the dealer over a pitch
            may_pitch = self.dealer_steals()
        else:  # Reading: "could legally bid four" takes in the dealer who steals a spoken four (3.9).
            may_pitch = 4 in self.legal_numbers()
        return {card for card in self.hands[self.acting()] if not is_joker(card)} if may_pitch else set()

    def acting(self) -> int:
        """Returns the seat to act, when there must be one."""
        assert self.seat is not None
        return self.seat

    def play_call(self, name: str) -> None:
        """3.1  One call of the auction."""
        seat = self.acting()
        if name == "pass":
            pass
        elif name == "smudge":
            self.return_pitch()
            self.take_bid(seat, "smudge")
        elif name.startswith("bid "):
            self.take_bid(seat, int(name[4:]))
        else:  # 3.8  A pitch: out of his hand at once; its printed suit is trumps.
            self.return_pitch()
            self.hands[seat].remove(name)
            self.pitch = seat, name
            self.take_bid(seat, 4)
            self.set_trump(name[1])

        self.num_calls += 1
        ended = name == "smudge" and self.rules["smudge_ends_auction"]  # 3.7
        if ended or self.num_calls == self.players:
            self.end_auction()
        else:
            self.seat = self.left_of(seat)

    def take_bid(self, seat: int, call: Call) -> None:
        """3.2  The highest call so far."""
        self.pitcher = seat
        self.high_bid = call
        if isinstance(call, int):
            self.highest_number = call

    def return_pitch(self) -> None:
        """3.9  A displaced card goes back to its owner's hand; no trumps are known again."""
        if self.pitch is not None:
            owner, card = self.pitch
            self.hands[owner].append(card)
            self.pitch = None
            self.set_trump(None)

    def end_auction(self) -> None:
        """3.2, 3.5  On to the exchange, the naming or the play, or a void deal."""
        if self.pitcher is None:  # 3.5
            assert self.rules["all_pass"] == "void"
            self.finish_void()
            return
        if self.rules["widow_to"] == "pitcher":  # 5.1  as soon as he has won the auction, before naming
            self.hands[self.pitcher] += self.widow
            self.widow = []
        if self.rules["trump_choice"] == "named":
            self.phase = "naming"
            self.seat = self.pitcher
        else:
            self.begin_play()

    # --------------------------------------------------------------------------------------------------- 4  trumps

    def naming_names(self) -> set[str]:
        """4.2, 4.3  Suits of the pack (of which he holds a trump, where that is asked), and no-trump."""
        suits = set(self.rules["suits"])
        if self.rules["opening_lead"] == "trump":
            hand = self.hands[self.acting()]
            suits = {suit for suit in suits if set(hand) & set(trumps_high_to_low(self.rules, suit))}
        if self.rules["no_trump"]:
            suits.add("NT")
        return {f"name {suit}" for suit in suits}

    def play_naming(self, name: str) -> None:
        """4.2  Trumps are named before the exchange."""
        self.set_trump(name.removeprefix("name "))
        if self.rules["exchange"] == "none":
            self.begin_play()
        else:
            self.begin_exchange()

    def opening_leads(self) -> set[Card]:
        """4.1, 4.4  What the pitcher may lead to the first trick."""
        hand = set(self.hands[self.acting()])
        if self.trump is None:  # 4.1  a joker may not make trumps while another card is held
            return {card for card in hand if not is_joker(card)} or hand
        # 4.4  Reading: under no-trump the jokers are the trumps here too.
        trumps = {card for card in hand if self.is_trump(card)}
        if self.rules["opening_lead"] == "trump":
            return trumps or hand
        if self.rules["opening_lead"] == "plain":
            return hand - trumps or hand
        return hand

    def trump_of_first_lead(self, card: Card) -> str:
        """4.1  The printed suit, or for a hand of jokers the lowest suit of the pack."""
        if is_joker(card):
            return next(suit for suit in SUITS if suit in self.rules["suits"])
        return card[1]

    # ------------------------------------------------------------------------------------------------- 5  exchange

    def begin_exchange(self) -> None:
        """5.2  Seats act from the dealer's left round to the dealer."""
        self.phase = "exchange"
        self.exchangers = self.from_dealers_left()
        self.begin_seat()

    def begin_seat(self) -> None:
        """5.2  The turn of the next seat; ends at once if it has no choice."""
        if not self.exchangers:
            self.take_leftover()
            return
        self.seat = self.exchangers[0]
        if self.rules["exchange"] == "draw":  # 5.3  `stand` is always a turn
            return
        self.must_go = self.num_must_go(self.seat)
        self.go_on_discarding()

    def num_must_go(self, seat: int) -> int:
        """5.4-5.6  How many cards a seat must discard."""
        hand = self.hands[seat]
        play_size: int = self.rules["play_size"]
        # 5.6  Reading: after the leftover the hand comes down by exactly what it has too many, trumps or not.
        if self.rules["exchange"] == "discard" or self.took_leftover:
            return max(0, len(hand) - play_size)
        num_trumps = sum(self.is_trump(card) for card in hand)
        return len(hand) - num_trumps + max(0, num_trumps - play_size)  # 5.5

    def discard_class(self, seat: int) -> list[Card]:
        """5.2  The first class of cards that is not empty."""
        hand = self.hands[seat]
        plain = [card for card in hand if not self.is_trump(card)]
        worthless = [card for card in hand if self.is_trump(card) and not self.has_fixed_item(card)]
        trumps = [card for card in hand if self.is_trump(card)]
        if self.rules["exchange"] == "discard":  # 5.4  the second and third class are one
            return plain or trumps
        return plain or worthless or trumps

    def has_fixed_item(self, trump: Card) -> bool:
        """5.2  A trump whose own row of 7.1 is in ``items``."""
        items = self.rules["items"]
        if is_joker(trump):
            return "joker" in items
        if trump[1] != self.trump:
            return "off_jack" in items
        return any(item in items for item, rank in RANK_OF_ITEM.items() if rank == trump[0])

    def go_on_discarding(self) -> None:
        """5.2  What has no choice goes at once; a choice waits for a turn."""
        seat = self.acting()
        while self.must_go > 0:
            cards = self.discard_class(seat)
            # Reading: cards are counted, not faces: one of two identical cards is still a turn.
            if len(cards) > self.must_go:
                return
            for card in cards:
                self.discard(seat, card)
        self.end_seat()

    def discard(self, seat: int, card: Card) -> None:
        """5.2  One card, face down."""
        self.hands[seat].remove(card)
        self.discards.append(card)
        self.must_go -= 1

    def end_seat(self) -> None:
        """5.2  The seat is dealt up (not with `discard`) before the next acts."""
        if self.took_leftover:
            self.begin_play()
            return
        seat = self.exchangers.pop(0)
        if self.rules["exchange"] != "discard":
            while len(self.hands[seat]) < self.rules["play_size"]:
                self.hands[seat].append(self.next_of_stock())
        self.begin_seat()

    def next_of_stock(self) -> Card:
        """5.7  The next card; an empty stock is made of all face-down discards so far."""
        if not self.stock:
            cards = sorted(self.discards)
            order = next(self.reshuffles, None)
            self.stock = list(order) if order is not None else list(self.reshuffle(list(cards)))
            assert sorted(self.stock) == cards, "a reshuffle is not an order of the discards"
            self.discards = []
            self.reshuffled = True
        return self.stock.pop(0)

    def take_leftover(self) -> None:
        """5.6  The pitcher takes the rest of the stock, unless discards are in it."""
        if self.rules["leftover_to"] == "dead" or self.reshuffled:
            self.begin_play()
            return
        assert self.pitcher is not None
        self.took_leftover = True
        self.seat = self.pitcher
        self.hands[self.pitcher] += self.stock
        self.stock = []
        self.must_go = self.num_must_go(self.pitcher)
        self.go_on_discarding()

    def exchange_names(self) -> set[str]:
        """5.2, 5.3  The cards that may go now."""
        seat = self.acting()
        if self.rules["exchange"] == "draw":
            return {card for card in self.hands[seat] if not self.is_trump(card)} | {"stand"}
        return set(self.discard_class(seat))

    def play_exchange(self, name: str) -> None:
        """5.2  One card a turn; 5.3  `stand` ends a draw."""
        if name == "stand":
            self.end_seat()
            return
        self.discard(self.acting(), name)
        if self.rules["exchange"] != "draw":
            self.go_on_discarding()

    def begin_swap(self) -> None:
        """5.8  After the first trick the pitcher takes the widow and owes as many cards."""
        assert self.pitcher is not None
        self.phase = "widow"
        self.seat = self.pitcher
        self.must_go = len(self.widow)
        self.hands[self.pitcher] += self.widow
        self.foreign = Counter(card for card in self.widow if is_joker(card))
        self.widow = []

    def widow_names(self) -> set[str]:
        """5.8  Any cards."""
        return set(self.hands[self.acting()])

    def play_widow(self, card: Card) -> None:
        """5.8  One card a turn, face up; then the winner of the first trick leads."""
        self.hands[self.acting()].remove(card)
        self.shown_discards.append(card)
        # 7.5  Reading: of two identical jokers the widow's copy goes first.
        if self.foreign[card] > 0:
            self.foreign[card] -= 1
        self.must_go -= 1
        if self.must_go == 0:
            self.phase = "play"
            self.seat = self.leader

    # ------------------------------------------------------------------------------------------------------- 6  play

    def begin_play(self) -> None:
        """6.1  The pitcher leads; 3.8  his standing pitch is that lead."""
        assert self.pitcher is not None
        self.phase = "play"
        self.seat = self.leader = self.pitcher
        pitch, self.pitch = self.pitch, None
        if pitch is not None:  # 3.9  counts as in its player's hand
            self.hands[self.pitcher].append(pitch[1])
        # 1.6  In play: all in hands or face down before a seat when the first lead is made.
        self.in_play = Counter(card for pile in self.hands + self.face_down for card in pile)
        if pitch is not None:
            self.play_card(pitch[1])

    def play_names(self) -> set[str]:
        """6.2, 6.5  Cards of the hand, and the face-down pile from the second trick on."""
        seat = self.acting()
        names = self.leads() if not self.trick else self.followers()
        if self.num_tricks > 0 and self.face_down[seat]:
            names = names | {"blind"}
        return names

    def leads(self) -> set[Card]:
        """6.1  Any card, after the first trick."""
        return self.opening_leads() if self.num_tricks == 0 else set(self.hands[self.acting()])

    def followers(self) -> set[Card]:
        """6.2, 6.3  The cards of a hand that may follow; judged on the hand alone (6.5)."""
        hand = set(self.hands[self.acting()])
        follow = self.rules["follow"]
        suit_led = self.suit_of(self.trick[0][1])
        of_suit_led = {card for card in hand if self.suit_of(card) == suit_led}
        trumps = {card for card in hand if self.is_trump(card)}
        # 4.6  Reading: this goes before `follow`, `free` too.
        if self.rules["first_trick_no_trump"] and self.num_tricks == 0 and suit_led != "trump":
            return of_suit_led or hand - trumps or hand
        if follow == "free":
            return hand
        if of_suit_led:
            return of_suit_led if follow.startswith("strict") else of_suit_led | trumps
        if trumps and follow.endswith("must_trump"):
            return trumps
        return hand

    def play_card(self, name: str) -> None:
        """6.1-6.5  One card to the trick."""
        seat = self.acting()
        if name == "blind":  # 6.5  the next card of the pile counts as played
            card, was_in_play = self.face_down[seat].pop(0), True
        else:
            card, was_in_play = name, self.leaves_as_in_play(seat, name)
            self.hands[seat].remove(card)
        if not self.trick:
            self.lead_card(card)
        self.trick.append((seat, card))
        if is_joker(card) and was_in_play:
            self.trick_jokers.append(card)
        if len(self.trick) < self.players:
            self.seat = self.left_of(seat)
        else:
            self.end_trick()

    def leaves_as_in_play(self, seat: int, card: Card) -> bool:
        """7.1  Whether a joker was in play at the first lead.

        7.5  Reading: of two identical jokers the pitcher plays the one that was in play first.
        """
        if seat != self.pitcher or self.foreign[card] < self.hands[seat].count(card):
            return True
        self.foreign[card] -= 1
        return False

    def lead_card(self, card: Card) -> None:
        """4.1  The first lead makes trumps; 4.5  the first non-joker led makes the reference suit."""
        if self.trump is None:
            self.set_trump(self.trump_of_first_lead(card))
        if self.trump == "NT" and self.reference is None and not is_joker(card):
            self.reference = card[1]

    def trick_winner(self) -> int:
        """6.4  Highest trump, else highest of the suit led; of two identical cards the first (1.5)."""
        suit_led = self.suit_of(self.trick[0][1])
        return max(self.trick, key=lambda played: self.strength(played[1], suit_led))[0]  # max keeps the first

    def end_trick(self) -> None:
        """6.4  The winner's side takes the trick, and he leads to the next."""
        winner = self.trick_winner()
        side = self.side_of(winner)
        for seat, card in self.trick:
            self.first_copy.setdefault(card, (self.side_of(seat), side))
            self.taken[side].append(card)
        self.jokers_taken[side] += len(self.trick_jokers)
        self.tricks_won[side] += 1
        self.num_tricks += 1
        self.trick = []
        self.trick_jokers = []
        self.seat = self.leader = winner

        all_played = self.num_tricks == self.rules["play_size"] + self.rules["face_down_size"]  # 6.5
        if self.concede() or all_played:
            self.finish()
        elif self.swaps():
            self.begin_swap()

    def swaps(self) -> bool:
        """5.8  After the first trick, if there is a widow and the pitcher's hand is not empty."""
        assert self.pitcher is not None
        return (
            self.rules["widow_to"] == "pitcher_after_first_trick"
            and self.num_tricks == 1
            and len(self.widow) > 0
            and len(self.hands[self.pitcher]) > 0
        )

    def concede(self) -> bool:
        """9.5  Ends the deal if a side is out of trumps.

        Reading: every trump still in a hand of the other side counts as played and taken by that side.
        """
        if not self.rules["concede_without_trumps"]:
            return False
        trumps: list[list[Card]] = [[] for _ in range(self.sides)]
        for seat, hand in enumerate(self.hands):
            trumps[self.side_of(seat)] += [card for card in hand if self.is_trump(card)]
        if all(trumps):
            return False
        for side in range(self.sides):
            for card in trumps[side]:
                self.first_copy.setdefault(card, (side, side))
                self.jokers_taken[side] += is_joker(card)
        return True

    # --------------------------------------------------------------------------------------------- 7  points of a deal

    def items_of_deal(self) -> list[dict[str, int]]:
        """7.1  What every side took, by item, zeros left out.

        Reading of `items` in a result: what was taken, whatever the settlement (8) makes of it.
        """
        items: list[dict[str, int]] = [{} for _ in range(self.sides)]
        for item, value in self.rules["items"].items():
            if item == "joker":  # each joker in play, under no-trump too (7.6)
                for side in range(self.sides):
                    if self.jokers_taken[side]:
                        items[side][item] = value * self.jokers_taken[side]
                continue
            scorer = self.game_scorer() if item == "game" else self.card_scorer(item)
            if scorer is not None:
                items[scorer][item] = value
        return items

    def card_scorer(self, item: str) -> int | None:
        """7.1, 7.3  The side that scores an item which is one card."""
        # 7.2, 5.8  A face not in play at the first lead, or of which no copy was played, scores for nobody.
        card = self.card_of_item(item)
        if card is None or not self.in_play[card] or card not in self.first_copy:
            return None
        # 7.5  Reading: by face; what counts is who played, or took, the first played copy, even the widow's.
        player, taker = self.first_copy[card]
        # 7.3  Reading: under no-trump too (7.6).
        if item == "jack" and self.rules["jack_only_bidder"] and taker != self.bidding_side():
            return None
        if item == "two":
            return player
        if item in ("high", "low") and self.trump != "NT":  # 7.6  under no-trump each to the trick's winner
            return player if self.rules[f"{item}_to"] == "holder" else taker
        return taker

    def card_of_item(self, item: str) -> Card | None:
        """7.1  The card that an item looks at in this deal."""
        assert self.trump is not None
        if item == "high_spade":  # printed suit
            return self.first_in_play([rank + "S" for rank in reversed(RANKS)])
        if self.trump == "NT":
            return self.card_without_trumps(item)
        if item == "high":
            return self.first_in_play(self.trump_order)
        if item == "low":
            return self.first_in_play([card for card in reversed(self.trump_order) if not is_joker(card)])
        if item == "off_jack":
            return "J" + SAME_COLOUR[self.trump]
        return RANK_OF_ITEM[item] + self.trump

    def card_without_trumps(self, item: str) -> Card | None:
        """7.6  High, Low and Jack of the reference suit; no other trump item."""
        if self.reference is None:
            return None
        suit = [rank + self.reference for rank in RANKS]
        if item == "high":
            return self.first_in_play(suit[::-1])
        if item == "low":
            return self.first_in_play(suit)
        return "J" + self.reference if item == "jack" else None

    def first_in_play(self, cards: list[Card]) -> Card | None:
        """1.6  The first of some cards that was in play at the first lead."""
        return next((card for card in cards if self.in_play[card]), None)

    def game_scorer(self) -> int | None:
        """7.4  The side with most, level at the top nobody.

        Reading: swapped-in widow cards (5.8) count, though not in play, for they are in the tricks.
        """
        totals = [sum(GAME_VALUE.get(card[0], 0) for card in taken) for taken in self.taken]
        leaders = [side for side in range(self.sides) if totals[side] == max(totals)]
        return leaders[0] if len(leaders) == 1 else None

    # -------------------------------------------------------------------------------------------------- 8  settlement

    def bidding_side(self) -> int:
        """1.7  The side of the pitcher."""
        assert self.pitcher is not None
        return self.side_of(self.pitcher)

    def is_made(self, items: list[dict[str, int]]) -> bool:
        """8.1, 8.3, 8.4  Whether the bidding side made its bid."""
        side = self.bidding_side()
        worth = sum(items[side].values())
        if self.high_bid == 0:
            return worth == 0
        if isinstance(self.high_bid, int):
            return worth >= self.high_bid
        # 8.4  Every item at its full value. Reading: `joker` in a pack without jokers is worth 0 and in nobody's way.
        full = dict(self.rules["items"])
        if "joker" in full:
            full["joker"] *= self.rules["jokers"] * self.rules["decks"]
        every_item = all(items[side].get(item, 0) == value for item, value in full.items())
        num_tricks = self.rules["play_size"] + self.rules["face_down_size"]
        return every_item and (not self.rules["smudge_tricks"] or self.tricks_won[side] == num_tricks)

    def settle(self, items: list[dict[str, int]], made: bool) -> list[tuple[str, int]]:
        """8  What is entered for every side (10.1): ``("score", p)``, ``("set", b)`` or ``("become", v)``."""
        worth = [sum(taken.values()) for taken in items]
        entries = [("score", points) for points in worth]  # 8.1
        side = self.bidding_side()
        if self.high_bid == "smudge":
            entries[side] = self.settle_smudge(side, made)
        elif self.high_bid == 0 and made:  # 8.3
            entries = [("score", 0)] * self.sides
        elif not made and self.rules["set_rule"] == "subtract":  # 8.2
            assert isinstance(self.high_bid, int)
            entries[side] = ("set", self.high_bid)
        elif not made:  # 8.2  transfer
            keeps_own = self.rules["transfer_keeps_own"]
            entries = [("score", worth[side] + (own if keeps_own else 0)) for own in worth]
            entries[side] = ("score", 0)
        return entries

    def settle_smudge(self, side: int, made: bool) -> tuple[str, int]:
        """8.5, 8.6  The entry of a side that smudged."""
        value: int = self.rules["smudge_value"]
        if not made:
            return ("become", -value) if self.rules["smudge_failed"] == "score_becomes" else ("set", value)
        if self.rules["smudge_made"] != "advance":
            return ("score", value)
        score = self.scores[side]
        return ("become", max(score, self.rules["target"]) if score >= 0 else 0)

    # --------------------------------------------------------------------------------------------------- 9  the end

    def finish(self) -> None:
        """Settles a deal that was played."""
        items = self.items_of_deal()
        made = self.is_made(items)
        before = list(self.scores)
        sheet = self.write_sheet(self.settle(items, made))
        self.end_deal(
            pitcher=self.pitcher,
            bid=self.high_bid,
            trump=self.trump,
            made=made,
            void=False,
            items=items,
            points=[after - score for after, score in zip(self.scores, before, strict=True)],
            sheet=sheet,
        )

    def finish_void(self) -> None:
        """2.2, 3.5  A void deal: no score."""
        self.end_deal(
            pitcher=None,
            bid=None,
            trump=None,
            made=None,
            void=True,
            items=[{} for _ in range(self.sides)],
            points=[0] * self.sides,
            sheet=[[0, debt] for debt in self.debts],
        )

    def end_deal(self, **result: Any) -> None:
        """9.1  Every deal ends with a look at the scores. Reading: a void one too."""
        self.phase = "over"
        self.seat = None
        winner = self.winner(result["made"])
        self.result = {**result, "scores": list(self.scores), "debts": list(self.debts), "winner": winner}

    def winner(self, made: bool | None) -> int | None:
        """8.5, 8.6, 9.1-9.3  The side that wins the game with this deal. ``made`` is None in a void deal."""
        if self.high_bid == "smudge" and made and self.rules["smudge_made"] == "win":
            return self.bidding_side()
        if self.high_bid == "smudge" and not made and self.rules["smudge_failed"] == "lose":
            return self.best_of_the_others()
        there = [side for side in range(self.sides) if self.scores[side] >= self.rules["target"]]
        if self.rules["out"] == "first_to_target":  # 9.2
            return self.bidding_side() if made and self.bidding_side() in there else self.highest(there)
        if made is None:  # Reading: there is no bidding side in a void deal, so 9.1 and 9.3 end nothing.
            return None
        # Reading: a made smudge and a made bid of 0 are made deals too.
        if made:  # 9.1, 9.3
            return self.bidding_side() if self.bidding_side() in there else None
        if self.rules["out"] == "made_or_other_set":  # 9.3
            return self.highest([side for side in there if side != self.bidding_side()])
        return None

    def highest(self, sides: list[int]) -> int | None:
        """9.2, 9.3  The side with the highest score; nobody, if level."""
        if not sides:
            return None
        best = max(self.scores[side] for side in sides)
        leaders = [side for side in sides if self.scores[side] == best]
        return leaders[0] if len(leaders) == 1 else None

    def best_of_the_others(self) -> int:
        """8.6  The best other score; ties to the seat nearest the pitcher's left."""
        assert self.pitcher is not None
        seats = [(self.pitcher + 1 + i) % self.players for i in range(self.players)]
        others = [self.side_of(seat) for seat in seats if self.side_of(seat) != self.bidding_side()]
        return max(others, key=lambda side: self.scores[side])  # max keeps the first

    # -------------------------------------------------------------------------------------------- 10  the score sheet

    def write_sheet(self, entries: list[tuple[str, int]]) -> list[list[int]]:
        """10.1  Brings scores and debts up to date; returns [entered, owed after] for every side."""
        sheet = []
        for side, (kind, amount) in enumerate(entries):
            debt = self.debts[side]
            column = self.scores[side] + debt
            if kind == "score":
                entered, debt = max(0, amount - debt), max(0, debt - amount)
            elif kind == "set":
                entered, debt = 0, debt + amount
            else:
                entered, debt = max(0, amount - column), max(0, column - amount)
            self.scores[side] = column + entered - debt
            self.debts[side] = debt
            sheet.append([entered, debt])
        return sheet
