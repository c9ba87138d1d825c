"""The state record: everything about one deal and the scores of its game, hidden cards too.

Axis letters: S seats (8), T sides (8), I items (12). Seats and sides past those of the rules stay zero.
A set of cards is an int64 with bit *c* for card *c*; ``dups`` hold the faces that a set has twice (two packs).
"""

from typing import Any

import numpy as np

MAX_SEATS = 8
MAX_PACK = 108
NUM_ITEMS = 12

AUCTION, NAMING, EXCHANGE, WIDOW, PLAY, OVER = range(6)
PHASES = ("auction", "naming", "exchange", "widow", "play", "over")
"""Name of each phase, by phase id."""

NO_SEAT = NO_BID = NO_CALL = NO_SIDE = -1
NO_TRUMP = 4
"""The trump id, and the suit id of jokers, under no-trump (4.5)."""
SMUDGE_BID = 16
"""``high_bid`` of a smudge: above every number (3.1)."""
UNDECIDED, FAILED, MADE = -1, 0, 1


def record_type(fields: list[Any]) -> np.dtype[Any]:
    """Returns a type of records that have their fields as attributes, in compiled code and without compiling."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


STATE = record_type(
    [
        # Where the random numbers come from
        ("seed", np.int64),
        ("table", np.int64),  # index of the game in its batch
        ("deal", np.int64),  # index of the deal in its game
        # The turn
        ("phase", np.int16),
        ("seat", np.int16),  # to act, NO_SEAT when the deal is over
        ("dealer", np.int16),
        # 3 Auction
        ("num_calls", np.int16),
        ("pitcher", np.int16),  # seat of the highest call so far
        ("high_bid", np.int16),  # NO_BID, 0–15, SMUDGE_BID
        ("pitched", np.int16),  # card of the standing pitch (3.8)
        ("trump", np.int16),  # NO_SUIT, 0–3, NO_TRUMP
        ("calls", np.int8, (MAX_SEATS,)),  # action of each seat's call, NO_CALL before it
        # Cards
        ("hands", np.int64, (MAX_SEATS,)),
        ("hand_dups", np.int64, (MAX_SEATS,)),
        ("dealt", np.int64, (MAX_SEATS,)),  # hands as dealt
        ("dealt_dups", np.int64, (MAX_SEATS,)),
        ("discards", np.int64, (MAX_SEATS,)),  # what each seat discarded face down (5)
        ("discard_dups", np.int64, (MAX_SEATS,)),
        ("num_discarded", np.int16, (MAX_SEATS,)),
        ("pool", np.int64),  # face-down discards not shuffled into the stock yet (5.7)
        ("pool_dups", np.int64),
        ("in_play", np.int64),  # faces in play (1.6)
        ("stock_next", np.int16),  # position of the next card of the stock
        ("stock_end", np.int16),
        ("known_end", np.int16),  # a replayed deal knows its reshuffles up to here
        ("num_reshuffles", np.int16),
        ("reshuffle_at", np.int16, (MAX_SEATS,)),  # where in the deck each reshuffle starts
        # 5 Exchange
        ("num_exchanged", np.int16),  # seats that are done
        ("must_go", np.int16),  # cards that the seat to act must still discard
        ("num_swapped", np.int16),
        ("swapped", np.int64),  # discarded face up for the widow (5.8)
        ("swapped_dups", np.int64),
        ("outside", np.int16, (2,)),  # jokers in the pitcher's hand that are not in play, low and high (5.8)
        # 6 Play
        ("trick", np.int16),
        ("trick_start", np.int16),  # number of plays before this trick
        ("num_plays", np.int16),
        ("led", np.int16),  # suit led
        ("best", np.int16),  # card that is winning the trick
        ("best_seat", np.int16),  # the winner of the last trick between tricks
        ("plain_trick", np.int16),  # 4.6 is in force
        ("reference", np.int16),  # reference suit under no-trump (4.5)
        ("plays", np.int8, (MAX_PACK,)),
        ("play_seats", np.int8, (MAX_PACK,)),  # the seat, + 8 for a card played blind
        ("num_blind", np.int16, (MAX_SEATS,)),  # cards of the face-down pile that were turned up
        ("voids", np.int8, (MAX_SEATS,)),  # suits (bits, NO_TRUMP for jokers) that a seat has shown not to hold
        ("played", np.int64, (MAX_SEATS,)),  # faces of which a seat played the first copy
        ("played_dups", np.int64, (MAX_SEATS,)),  # faces of which it played the second copy
        ("all_played", np.int64),
        ("trick_faces", np.int64),  # faces that came to this trick as a first copy
        ("trick_value", np.int16),
        ("trick_jokers", np.int16),
        # 7 What each side took
        ("taken", np.int64, (MAX_SEATS,)),  # faces of which the side took the first copy
        ("game_values", np.int16, (MAX_SEATS,)),
        ("tricks", np.int16, (MAX_SEATS,)),
        ("jokers", np.int16, (MAX_SEATS,)),
        # 8, 9, 10 The result of the deal, and the game
        ("made", np.int16),
        ("void", np.int16),
        ("winner", np.int16),
        ("items", np.int8, (MAX_SEATS, NUM_ITEMS)),
        ("points", np.int32, (MAX_SEATS,)),
        ("entered", np.int32, (MAX_SEATS,)),
        ("scores", np.int32, (MAX_SEATS,)),
        ("debts", np.int32, (MAX_SEATS,)),
        ("deck", np.int8, (2 * MAX_PACK,)),  # hands, face-down piles, widow, turn-up, stock, reshuffled discards
    ],
)
"""One deal with its game. An array of it is a batch of N games."""
