"""Rulebook 5.8: the widow that the pitcher takes after the first trick.

s  the state record, modified; r the tables of the rules
"""

from pitch_env.cards import LOW_JOKER
from pitch_env.engine.hands import give, take
from pitch_env.engine.jit import ONE, kernel
from pitch_env.engine.state import PLAY, WIDOW


@kernel
def begin_swap(s, r):
    """5.8  The pitcher takes the widow into his hand."""
    s.phase = WIDOW
    s.seat = s.pitcher
    s.must_go = r.widow_size
    s.voids[s.pitcher] = 0
    for k in range(r.first_widow, r.first_widow + r.widow_size):
        card = s.deck[k]
        give(s, s.pitcher, card)
        if card >= LOW_JOKER:
            s.outside[card - LOW_JOKER] += 1


@kernel
def apply_swap(s, r, card):
    """5.8  A card goes face up out of play; then the winner of the first trick leads."""
    take(s, s.seat, card)
    bit = ONE << card
    if s.swapped & bit:
        s.swapped_dups |= bit
    else:
        s.swapped |= bit
    if card >= LOW_JOKER and s.outside[card - LOW_JOKER] > 0:
        s.outside[card - LOW_JOKER] -= 1
    s.num_swapped += 1
    s.must_go -= 1
    if s.must_go == 0:
        s.phase = PLAY
        s.seat = s.best_seat
