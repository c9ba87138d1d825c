"""The one numbering of actions, the same for all variants, and their names.

action   int in 0..78: 0–53 a card (played, pitched or discarded, as the phase has it), then the calls
calls    int, a set of calls: bit *k* stands for action ``FIRST_CALL + k``
"""

from pitch_env.cards import CARD_NAMES, NUM_FACES, SUITS
from pitch_env.rules import MAX_BID

FIRST_CALL = NUM_FACES
PASS = 54
BID_0 = 55
SMUDGE = 71
NAME_C = 72
NAME_NT = 76
STAND = 77
BLIND = 78
NUM_ACTIONS = 79

ACTION_NAMES = (
    *CARD_NAMES,
    "pass",
    *(f"bid {number}" for number in range(MAX_BID + 1)),
    "smudge",
    *(f"name {suit}" for suit in SUITS),
    "name NT",
    "stand",
    "blind",
)
"""Name of each action, by action id."""

_ACTION_OF_NAME = {name: action for action, name in enumerate(ACTION_NAMES)}


def action_name(action: int) -> str:
    """Returns the name of an action, as in ``bid 3`` or ``TH``."""
    return ACTION_NAMES[action]


def parse_action(name: str) -> int:
    """Returns the action of a name.

    Raises:
        ValueError: if there is no such action; case and spacing matter.
    """
    try:
        return _ACTION_OF_NAME[name]
    except (KeyError, TypeError):
        raise ValueError(
            f"no action {name!r}: an action is a card such as TH, pass, bid 0 to bid {MAX_BID}, smudge, "
            "name C, name D, name H, name S, name NT, stand or blind"
        ) from None


def actions_in(cards: int, calls: int) -> list[int]:
    """Returns the actions of a set of cards and a set of calls, ascending."""
    bits = int(cards) | int(calls) << FIRST_CALL
    return [action for action in range(NUM_ACTIONS) if bits >> action & 1]
