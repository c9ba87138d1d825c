"""The deck of a world: the cards of each place where they were dealt, with discards that became a stock behind (5.7).

place, stage and p are those of :mod:`agents.places`, g that of :mod:`agents.unseen`.

lists, came  as :func:`agents.unseen.fill` deals them
sizes        (places,) how many cards lie there; all discards, those that became a stock too
"""

import numpy as np

from agents.places import DISCARD, HAND, PILE, STOCK, WIDOW_PLACE, came_down, has_swapped, num_trumps, took_leftover
from agents.unseen import shuffle
from pitch_env.engine.jit import first_card, kernel
from pitch_env.engine.state import MAX_PACK, MAX_SEATS
from pitch_env.engine.step import NOTHING
from pitch_env.engine.tables import EXCHANGE_DRAW, EXCHANGE_REFILL, WIDOW_TO_PITCHER


@kernel
def lay_deck(v, r, lists, sizes, g, s):
    """Lays the deck of a world: hands, face-down piles, widow, turn-up and stock (2.1); modifies ``s``."""
    widow = np.zeros(MAX_PACK, np.int64)
    for i in range(sizes[WIDOW_PLACE]):
        widow[i] = lists[WIDOW_PLACE, i]
    later = np.zeros((MAX_SEATS, MAX_PACK), np.int64)
    num_later = np.zeros(MAX_SEATS, np.int64)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        dealt, num_later[seat] = split_hand(v, r, lists, sizes, seat, widow, later[seat], g)
        for k in range(r.hand_size):
            s.deck[place * r.hand_size + k] = dealt[k]
    lay_table(v, r, lists, widow, s)
    lay_stock(v, r, lists, sizes, later, num_later, widow, s)


@kernel
def lay_table(v, r, lists, widow, s):
    """Lays what is dealt to the table: each seat's face-down pile, the widow, the turn-up (2.1); modifies ``s``."""
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        for k in range(r.face_down_size):
            s.deck[r.first_face_down + place * r.face_down_size + k] = lists[PILE + seat, k]
    for k in range(r.widow_size):
        s.deck[r.first_widow + k] = widow[k]
    if r.turn_up:
        s.deck[r.first_widow + r.widow_size] = v.turn_up


@kernel
def ways_to_draw(v, r, lists, known, sizes, s):
    """Returns in how many ways a world of two packs could have been drawn, with its deck laid.

    A world is told by faces. Where the two cards of a face could change places in the deck, it is drawn twice as often.
    """
    ways = 1
    for k in range(1, r.players):
        seat = (v.seat + k) % r.players
        for i in range(sizes[HAND + seat]):
            card = lists[HAND + seat, i]
            for j in range(i):
                if lists[HAND + seat, j] == card and j < known[HAND + seat]:
                    ways *= 2 if may_swap_in_hand(v, r, lists, seat, card, s) else 1
            for j in range(sizes[DISCARD + seat]):
                if lists[DISCARD + seat, j] == card:
                    ways *= 2 if may_swap_with_discard(v, r, seat, card, s) else 1
    return ways


@kernel
def may_swap_in_hand(v, r, lists, seat, card, s):
    """Tells whether two cards of a hand could change places: not a card played before the swap (5.8) into the widow."""
    first = lists[HAND + seat, 0]
    return not (has_swapped(v, r, seat) and card == first and num_in_deck(s, r.first_widow, r.widow_size, card))


@kernel
def may_swap_with_discard(v, r, seat, card, s):
    """Tells whether a card of a hand and a discard could change places: not where that card came after the discard."""
    if has_swapped(v, r, seat) and num_in_deck(s, r.first_widow, r.widow_size, card):
        return False
    if r.exchange == EXCHANGE_DRAW or (r.exchange == EXCHANGE_REFILL and not took_leftover(v, r, seat)):
        place = (seat - s.dealer - 1) % r.players
        num = num_in_deck(s, place * r.hand_size, r.hand_size, card)
        if r.widow_to == WIDOW_TO_PITCHER and seat == (v.seat + v.pitcher) % r.players:
            num += num_in_deck(s, r.first_widow, r.widow_size, card)
        return num == 2
    return True


@kernel
def num_in_deck(s, start, size, card):
    """Counts a face in a part of the deck."""
    num = 0
    for k in range(start, start + size):
        num += s.deck[k] == card
    return num


@kernel
def lay_stock(v, r, lists, sizes, later, num_later, widow, s):
    """Lays the stock in the order in which it was dealt: seat by seat, the leftover (5.6), what is left."""
    at = r.first_stock
    drawn = np.zeros(MAX_SEATS, np.int64)
    for leftover in range(2):
        for place in range(r.players):
            seat = (s.dealer + 1 + place) % r.players
            end = num_later[seat]
            if not leftover and r.leftover_to and seat == (v.seat + v.pitcher) % r.players:
                end = min(end, first_draw(v, r, seat, place, widow, s))
            for k in range(drawn[seat], end):
                s.deck[at] = later[seat, k]
                at += 1
            drawn[seat] = end
    for k in range(sizes[STOCK]):
        s.deck[at] = lists[STOCK, k]
        at += 1


@kernel
def first_draw(v, r, seat, place, widow, s):
    """5.5  Returns how many cards a seat is dealt for its plain cards."""
    trumps = 0
    for k in range(r.hand_size):
        trumps += r.suit_of[v.trump, s.deck[place * r.hand_size + k]] == v.trump
    if r.widow_to == WIDOW_TO_PITCHER and seat == (v.seat + v.pitcher) % r.players:
        trumps += num_trumps(r, v.trump, widow, r.widow_size)
    return max(0, r.play_size - trumps)


@kernel
def split_hand(v, r, lists, sizes, seat, widow, later, g):
    """Splits what a seat has had into its hand as dealt, the widow if it took it, and what it was dealt later.

    Modifies ``widow``, ``later``, ``g``. Returns the hand, and the number of cards dealt later.
    """
    cards = np.zeros(2 * MAX_PACK, np.int64)
    pitches = seat == (v.seat + v.pitcher) % r.players
    took = r.widow_size if pitches and sizes[WIDOW_PLACE] == 0 else 0
    if seat == v.seat:
        dealt = list_set(cards, 0, v.dealt, v.dealt_dups)
        if took:
            list_set(widow, 0, v.widow, v.widow_dups)
        num = list_rest(cards, dealt, lists, sizes, seat, widow, took)
        shuffle(cards, dealt, num, g)
    elif has_swapped(v, r, seat):  # 5.8  Any but the first card played may be of the widow.
        num_hand = sizes[HAND + seat]
        shuffle(lists[HAND + seat], 1, num_hand, g)
        for k in range(took):
            widow[k] = lists[HAND + seat, num_hand - 1 - k]
        num = order_hand(v, r, lists, sizes, seat, num_hand - took, cards, g)
    else:
        num = order_hand(v, r, lists, sizes, seat, sizes[HAND + seat], cards, g)
        if took:  # 5.1  Any of the cards that came first may be of the widow.
            shuffle(cards, 0, r.hand_size + took, g)
            for k in range(took):
                widow[k] = cards[r.hand_size + k]
            num -= took
            for k in range(r.hand_size, num):
                cards[k] = cards[k + took]
    for k in range(r.hand_size, num):
        later[k - r.hand_size] = cards[k]
    return cards, num - r.hand_size


@kernel
def list_set(cards, num, bits, dups):
    """Appends the cards of a set to a list; returns its length."""
    for k in range(2):
        left = bits if k == 0 else dups
        while left:
            cards[num] = first_card(left)
            left &= left - 1
            num += 1
    return num


@kernel
def list_rest(cards, num, lists, sizes, seat, widow, num_widow):
    """Appends what the own seat has had, besides what the list and the widow have; returns the list's length."""
    seen = np.zeros(54, np.int64)
    for k in range(num):
        seen[cards[k]] += 1
    for k in range(num_widow):
        seen[widow[k]] += 1
    for place in (HAND + seat, DISCARD + seat):
        for k in range(sizes[place]):
            card = lists[place, k]
            if seen[card]:
                seen[card] -= 1
            else:
                cards[num] = card
                num += 1
    return num


@kernel
def order_hand(v, r, lists, sizes, seat, num_hand, cards, g):
    """Lists what another seat has had: as dealt first, later cards behind; returns how many cards.

    Modifies ``cards`` and ``g``.
    """
    hand, gone = lists[HAND + seat], lists[DISCARD + seat]
    num_gone = sizes[DISCARD + seat]
    for k in range(num_gone):
        cards[k] = gone[k]
    num = num_gone + num_hand
    refills = r.exchange == EXCHANGE_REFILL and not took_leftover(v, r, seat)
    if refills and not has_swapped(v, r, seat):
        first = num_gone
        for trumps in range(2):  # 5.5  Plain cards were dealt later; of the trumps any.
            start = first
            for k in range(num_hand):
                if (r.suit_of[v.trump, hand[k]] == v.trump) == (trumps == 0):
                    cards[first] = hand[k]
                    first += 1
            shuffle(cards, start, first, g)
        return num
    for k in range(num_hand):
        cards[num_gone + k] = hand[k]
    # All that was discarded in a draw was dealt, and in a refill; else any.
    shuffle(cards, num_gone if refills or r.exchange == EXCHANGE_DRAW else 0, num, g)
    return num


# Discards that became a stock


@kernel
def lay_stocks(v, r, p, lists, came, sizes, g, s):
    """5.7  Lays the deck of a world whose discards became stocks, and these behind it.

    Modifies ``s``, ``lists``, to which it adds the discards, and ``g``. Returns False where a card played before the
    swap (5.8) came with it.
    """
    num_stages = len(p.loose)
    stocks, num = np.zeros((num_stages, MAX_PACK), np.int64), np.zeros(num_stages, np.int64)
    kept, num_kept = np.zeros((MAX_SEATS, MAX_PACK), np.int64), np.zeros(MAX_SEATS, np.int64)
    widow = np.zeros(MAX_PACK, np.int64)
    for k in range(sizes[WIDOW_PLACE]):
        widow[k] = lists[WIDOW_PLACE, k]
    list_set(widow, sizes[WIDOW_PLACE], v.widow, v.widow_dups)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        num_kept[seat] = part_hand(v, r, p, lists, came, sizes, seat, stocks, num, kept[seat], widow, g)
        if num_kept[seat] < 0:
            return False
    for k in range(sizes[STOCK]):
        stocks[num_stages - 1, num[num_stages - 1]] = lists[STOCK, k]
        num[num_stages - 1] += 1
    for stage in range(1, num_stages):
        share_discards(v, r, p, lists, sizes, stage, stocks[stage], num[stage], g)
    for place in range(r.players):
        seat = (s.dealer + 1 + place) % r.players
        lay_hand(v, r, lists, sizes, seat, kept[seat], num_kept[seat], widow, g, s)
    lay_table(v, r, lists, widow, s)
    at = r.first_stock
    for stage in range(num_stages):
        for k in range(num[stage]):
            s.deck[at] = stocks[stage, k]
            at += 1
    s.known_end = at
    return True


@kernel
def part_hand(v, r, p, lists, came, sizes, seat, stocks, num, kept, widow, g):
    """Parts all that a hand has held into what it kept and what came from each stage, each way as likely as any.

    Modifies ``stocks`` (stages, cards) and ``num`` (stages,), to which it appends; ``kept``, ``widow`` and ``g``.
    Returns how many cards were kept, −1 where the first card played came with the swap (5.8).
    """
    place = HAND + seat
    hand, size = lists[place].copy(), sizes[place]
    trumps, others = came[place].copy(), p.drawn[place] - came[place]
    for k in range(size):
        others[p.own_stage] -= p.own >> hand[k] & 1
    starts, num_kept, num_rest = num.copy(), 0, 0
    shuffle(hand, 0, size, g)
    for k in range(size):
        card = hand[k]
        is_trump = r.suit_of[v.trump, card] == v.trump
        if p.own >> card & 1:
            stage = p.own_stage
        elif place == p.mine and p.held >> card & 1:
            continue
        elif is_trump and num_kept < p.kept[place]:
            kept[num_kept] = card
            num_kept += 1
            continue
        else:
            stage = take_stage(trumps if is_trump else others)
        if stage:
            stocks[stage, num[stage]] = card
            num[stage] += 1
        else:
            hand[num_rest] = card
            num_rest += 1
    shuffle(hand, 0, num_rest, g)
    if has_swapped(v, r, seat) and place != p.mine:
        for k in range(r.widow_size):
            num_rest -= 1
            widow[k] = hand[num_rest]
            if widow[k] == lists[place, 0]:
                return -1
    for k in range(num_rest):
        if k < p.drawn[place, 0]:
            stocks[0, num[0]] = hand[k]
            num[0] += 1
        else:
            kept[num_kept] = hand[k]
            num_kept += 1
    for stage in range(1, len(num)):
        shuffle(stocks[stage], starts[stage], num[stage], g)
    return num_kept


@kernel
def take_stage(wanted):
    """Returns the first stage but 0 from which a card is still wanted, 0 if none; modifies ``wanted`` (stages,)."""
    for stage in range(1, len(wanted)):
        if wanted[stage] > 0:
            wanted[stage] -= 1
            return stage
    return 0


@kernel
def share_discards(v, r, p, lists, sizes, stage, stock, num, g):
    """5.7  Gives the cards of a stock back to the seats that discarded them; modifies ``lists`` and ``g``."""
    cards = stock.copy()
    shuffle(cards, 0, num, g)
    loose, others = np.zeros(MAX_PACK, np.int64), np.zeros(MAX_PACK, np.int64)
    num_loose, num_others = 0, 0
    for part in range(2):  # the trumps first; others fill up what seats discarded of whom it is open
        for k in range(num):
            if p.own >> cards[k] & 1 or (r.suit_of[v.trump, cards[k]] == v.trump) != (part == 0):
                continue
            if num_loose < p.loose[stage]:
                loose[num_loose] = cards[k]
                num_loose += 1
            else:
                others[num_others] = cards[k]
                num_others += 1
    shuffle(loose, 0, num_loose, g)
    for seat in range(r.players):
        if p.stage_of[seat] != stage:
            continue
        if HAND + seat == p.mine:
            list_set(lists[DISCARD + seat], 0, p.own, NOTHING)
            continue
        for k in range(sizes[DISCARD + seat]):
            if came_down(v, r, seat):
                num_loose -= 1
                lists[DISCARD + seat, k] = loose[num_loose]
            else:
                num_others -= 1
                lists[DISCARD + seat, k] = others[num_others]


@kernel
def lay_hand(v, r, lists, sizes, seat, kept, num_kept, widow, g, s):
    """Lays a hand as dealt: what it kept and what it discarded, less the widow that it took up (5.1).

    Modifies ``s``, ``kept``, ``widow`` and ``g``.
    """
    if seat == v.seat:
        list_set(kept, 0, v.dealt, v.dealt_dups)
    else:
        num = num_kept
        for k in range(sizes[DISCARD + seat]):
            kept[num] = lists[DISCARD + seat, k]
            num += 1
        shuffle(kept, 0, num, g)
        for k in range(r.hand_size, num):
            widow[k - r.hand_size] = kept[k]
    start = (seat - s.dealer - 1) % r.players * r.hand_size
    for k in range(r.hand_size):
        s.deck[start + k] = kept[k]
