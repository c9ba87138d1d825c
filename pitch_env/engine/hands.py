"""Cards that come to a hand and leave it; every chapter of the engine moves cards through these.

s  the state record, modified; r the tables of the rules
"""

from pitch_env.engine.jit import ONE, first_card, inlined_kernel, kernel, num_cards

# ruff: noqa: D103 - one-line kernels whose names say it


@kernel
def hand_size(s, seat):
    return num_cards(s.hands[seat]) + num_cards(s.hand_dups[seat])


@inlined_kernel
def give(s, seat, card):
    bit = ONE << card
    if s.hands[seat] & bit:
        s.hand_dups[seat] |= bit
    else:
        s.hands[seat] |= bit


@inlined_kernel
def take(s, seat, card):
    bit = ONE << card
    if s.hand_dups[seat] & bit:
        s.hand_dups[seat] ^= bit
    else:
        s.hands[seat] ^= bit


@inlined_kernel
def next_seat(s, r, seat):
    return seat + 1 if seat + 1 < r.players else 0


@inlined_kernel
def place_of(s, r, seat):
    """Returns how far to the left of dealer's left a seat sits."""
    place = seat - s.dealer - 1
    return place if place >= 0 else place + r.players


@kernel
def discard(s, seat, card):
    """Moves a card of the seat's hand face down to the pool of discards (5.2)."""
    take(s, seat, card)
    bit = ONE << card
    if s.discards[seat] & bit:
        s.discard_dups[seat] |= bit
    else:
        s.discards[seat] |= bit
    if s.pool & bit:
        s.pool_dups |= bit
    else:
        s.pool |= bit
    s.num_discarded[seat] += 1


@kernel
def discard_all(s, seat, faces):
    """Discards every card of a hand whose face is in a set."""
    left = s.hands[seat] & faces
    while left:
        card = first_card(left)
        if not s.hand_dups[seat] & (ONE << card):
            left &= left - 1
        discard(s, seat, card)
