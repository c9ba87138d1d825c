"""Rulebook 2: a new deal.

s  the state record, modified; r the tables of the rules
"""

from pitch_env.cards import NO_CARD, NO_SUIT
from pitch_env.engine.auction import begin_auction
from pitch_env.engine.hands import give
from pitch_env.engine.jit import below, kernel, mix
from pitch_env.engine.settlement import settle_void
from pitch_env.engine.state import NO_BID, NO_CALL, NO_SEAT, NO_SIDE, UNDECIDED
from pitch_env.engine.tables import SUIT_SETS


@kernel
def deal_key(s, stream):
    """Returns the key of one stream of random numbers: a function of seed, table, deal and stream.

    Stream 0 shuffles the pack, 1 + k the k-th reshuffle, -1 picks the first dealer of the game.
    """
    return mix(mix(mix(s.seed, s.table), s.deal), stream)


@kernel
def new_game(s, r, seed, table):
    """Starts game number ``table`` of a seed: scores at zero, a random first dealer (2.3). Deals nothing yet."""
    s.seed = seed
    s.table = table
    s.deal = 0
    s.dealer = below(deal_key(s, -1), r.players)
    for side in range(8):
        s.scores[side] = 0
        s.debts[side] = 0


@kernel
def clear(s):
    """Resets all that belongs to one deal; keeps the game's scores, debts, dealer and numbers."""
    s.seat = NO_SEAT
    s.num_calls = 0
    s.pitcher = NO_SEAT
    s.high_bid = NO_BID
    s.pitched = NO_CARD
    s.trump = NO_SUIT
    s.pool = 0
    s.pool_dups = 0
    s.in_play = 0
    s.known_end = 0
    s.num_reshuffles = 0
    s.num_exchanged = 0
    s.must_go = 0
    s.num_swapped = 0
    s.swapped = 0
    s.swapped_dups = 0
    s.outside[0] = 0
    s.outside[1] = 0
    s.trick = 0
    s.trick_start = 0
    s.num_plays = 0
    s.led = NO_SUIT
    s.best = NO_CARD
    s.best_seat = NO_SEAT
    s.plain_trick = 0
    s.reference = NO_SUIT
    s.all_played = 0
    s.trick_faces = 0
    s.trick_value = 0
    s.trick_jokers = 0
    s.made = UNDECIDED
    s.void = 0
    s.winner = NO_SIDE
    for i in range(108):
        s.plays[i] = NO_CARD
        s.play_seats[i] = NO_SEAT
    for seat in range(8):
        s.calls[seat] = NO_CALL
        s.hands[seat] = 0
        s.hand_dups[seat] = 0
        s.discards[seat] = 0
        s.discard_dups[seat] = 0
        s.num_discarded[seat] = 0
        s.num_blind[seat] = 0
        s.voids[seat] = 0
        s.played[seat] = 0
        s.played_dups[seat] = 0
        s.taken[seat] = 0
        s.game_values[seat] = 0
        s.tricks[seat] = 0
        s.jokers[seat] = 0
        s.points[seat] = 0
        s.entered[seat] = 0
        for item in range(12):
            s.items[seat, item] = 0


@kernel
def shuffle(s, r):
    """Lays the shuffled pack into the deck, in the order of 2.1, so far as it may be dealt."""
    key = deal_key(s, 0)
    for i in range(r.pack_size):
        s.deck[i] = r.pack[i]
    bits = mix(key, 0)
    for i in range(r.num_shuffled):
        if i & 1:
            bits = bits >> 31
        else:
            bits = mix(key, i)
        j = i + below(bits, r.pack_size - i)
        card = s.deck[j]
        s.deck[j] = s.deck[i]
        s.deck[i] = card
    if r.deal_packet < r.hand_size:
        # The free set of the trick pile serves as scratch: plays are empty before the first lead.
        num_hands = r.first_face_down
        for i in range(num_hands):
            s.plays[r.deal_to[i]] = s.deck[i]
        for i in range(num_hands):
            s.deck[i] = s.plays[i]
            s.plays[i] = NO_CARD


@kernel
def deal_out(s, r):
    """Fills the hands from the deck and opens the auction, or voids the deal (2.2)."""
    seat = s.dealer
    one_suit = False
    for place in range(r.players):
        seat = seat + 1 if seat + 1 < r.players else 0
        for k in range(place * r.hand_size, (place + 1) * r.hand_size):
            give(s, seat, s.deck[k])
        s.dealt[seat] = s.hands[seat]
        s.dealt_dups[seat] = s.hand_dups[seat]
        if r.redeal_one_suit_hand:
            for suit in range(4):
                one_suit |= (s.hands[seat] & ~SUIT_SETS[suit]) == 0
    s.stock_next = r.first_stock
    s.stock_end = r.pack_size
    if one_suit:  # 2.2
        settle_void(s, r)
    else:
        begin_auction(s, r)


@kernel
def deal(s, r):
    """Deals the deal that the state's seed, table and deal numbers say, to its dealer and scores."""
    clear(s)
    shuffle(s, r)
    deal_out(s, r)


@kernel
def next_deal(s, r):
    """Passes the deal to the left (2.3) and deals; the game must not be over."""
    s.deal += 1
    s.dealer = s.dealer + 1 if s.dealer + 1 < r.players else 0
    deal(s, r)
