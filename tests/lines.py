"""What searches through all lines of play share."""

from pitch_env.actions import FIRST_CALL
from pitch_env.engine.jit import first_card, kernel


@kernel
def first_action(cards, calls):
    """Returns the lowest of some actions, and the sets of cards and calls without it."""
    if cards:
        return first_card(cards), cards & (cards - 1), calls
    return FIRST_CALL + first_card(calls), cards, calls & (calls - 1)
