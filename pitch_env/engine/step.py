"""One deal as a machine: what may be done now, and doing it; then the same for a batch of N games.

``legal`` and ``apply`` trust their caller (:class:`pitch_env.game.Game` checks): an action that is not legal
leaves a state that means nothing.
"""

from numba import prange

from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.engine.auction import apply_auction, apply_naming, legal_auction, legal_naming
from pitch_env.engine.blocks import bytes_of, spread
from pitch_env.engine.deal import deal, new_game, next_deal
from pitch_env.engine.exchange import apply_exchange, legal_exchange
from pitch_env.engine.jit import ONE, below, inlined_kernel, kernel, mix, nth_card, num_cards, parallel_kernel
from pitch_env.engine.play import apply_play, legal_play
from pitch_env.engine.state import AUCTION, EXCHANGE, NAMING, NO_SIDE, OVER, PLAY, WIDOW
from pitch_env.engine.widow import apply_swap

NOTHING = ONE ^ ONE


@inlined_kernel
def legal(s, r):
    """Returns what the seat to act may do: a set of cards and a set of calls, both empty when the deal is over."""
    if s.phase == PLAY:
        cards, calls = legal_play(s, r)
        return cards | NOTHING, calls | NOTHING
    if s.phase == AUCTION:
        cards, calls = legal_auction(s, r)
        return cards | NOTHING, calls | NOTHING
    if s.phase == NAMING:
        return NOTHING, legal_naming(s, r) | NOTHING
    if s.phase == EXCHANGE:
        cards, calls = legal_exchange(s, r)
        return cards | NOTHING, calls | NOTHING
    if s.phase == WIDOW:
        return s.hands[s.seat] | NOTHING, NOTHING
    return NOTHING, NOTHING


@kernel
def apply(s, r, action):
    """Does a legal action of the seat to act, and all that follows from it until a seat has a turn again."""
    if s.phase == PLAY:
        apply_play(s, r, action)
    elif s.phase == AUCTION:
        apply_auction(s, r, action)
    elif s.phase == NAMING:
        apply_naming(s, r, action)
    elif s.phase == EXCHANGE:
        apply_exchange(s, r, action)
    elif s.phase == WIDOW:
        apply_swap(s, r, action)


@inlined_kernel
def write_mask(cards, calls, mask):
    """Writes sets of cards and calls as zeros and ones; modifies ``mask`` (NUM_ACTIONS,), contiguous bytes."""
    out = bytes_of(mask)
    spread(out, 0, cards | calls << FIRST_CALL)
    behind = NUM_ACTIONS - 64
    spread(out, behind, cards >> behind | calls << (FIRST_CALL - behind))


@inlined_kernel
def num_legal(cards, calls):
    """Counts the actions in sets of cards and calls."""
    return num_cards(cards) + num_cards(calls)


@inlined_kernel
def nth_action(cards, calls, n):
    """Returns the n-th lowest action of sets of cards and calls, from 0."""
    num = num_cards(cards)
    return nth_card(cards, n) if n < num else FIRST_CALL + nth_card(calls, n - num)


@inlined_kernel
def random_action(s, r, bits):
    """Returns a uniformly random legal action, from 31 random bits."""
    cards, calls = legal(s, r)
    return nth_action(cards, calls, below(bits, num_legal(cards, calls)))


@kernel
def start(s, r, seed, table):
    """Starts a game and deals until a deal is not void as dealt (2.2)."""
    new_game(s, r, seed, table)
    deal(s, r)
    skip_void(s, r)


@kernel
def skip_void(s, r):
    """Deals on while the deal is void as dealt and the game goes on."""
    while s.phase == OVER and s.num_calls == 0 and s.winner == NO_SIDE:
        next_deal(s, r)


@kernel
def advance(s, r, whole_games):
    """Goes on after the end of a deal: to the next deal of the game, or to a new game of the same table.

    A new game, the only kind unless ``whole_games``, has scores of zero and goes on counting deals; after a game
    that was won its first dealer is drawn anew.
    """
    if not whole_games or s.winner != NO_SIDE:
        for side in range(8):
            s.scores[side] = 0
            s.debts[side] = 0
    if whole_games and s.winner != NO_SIDE:
        s.dealer = below(mix(mix(mix(s.seed, s.table), s.deal), -2), r.players)
    next_deal(s, r)
    skip_void(s, r)


@kernel
def start_batch(states, rules, seed, first_table):
    """Starts N games; modifies ``states`` (N,)."""
    r = rules[0]
    for i in range(len(states)):
        start(states[i], r, seed, first_table + i)


@kernel
def legal_batch(states, rules, masks):
    """Writes the legal masks of the seats to act; modifies ``masks`` (N, NUM_ACTIONS)."""
    r = rules[0]
    for i in range(len(states)):
        cards, calls = legal(states[i], r)
        write_mask(cards, calls, masks[i])


@kernel
def apply_batch(states, rules, actions):
    """Does one action in each of N deals that are not over; modifies ``states``."""
    r = rules[0]
    for i in range(len(states)):
        apply(states[i], r, actions[i])


@kernel
def play_random(s, r, key, num_steps, whole_games):
    """Plays uniformly random legal actions, deal after deal; returns the points of side 0 and the number of deals."""
    points = 0
    deals = 0
    for k in range(num_steps):
        apply(s, r, random_action(s, r, mix(key, k)))
        if s.phase == OVER:
            points += s.points[0]
            deals += 1
            advance(s, r, whole_games)
    return points, deals


@kernel
def play_random_batch(states, rules, key, num_steps, whole_games):
    """Steps N games in turn ``num_steps`` times with random legal actions; returns the number of deals finished."""
    r = rules[0]
    deals = 0
    for k in range(num_steps):
        for i in range(len(states)):
            s = states[i]
            apply(s, r, random_action(s, r, mix(key + i, k)))
            if s.phase == OVER:
                deals += 1
                advance(s, r, whole_games)
    return deals


@parallel_kernel
def play_random_threads(states, rules, key, num_steps, whole_games):
    """The same spread over threads: each game plays its steps on its own; bit for bit what one thread gives."""
    for i in prange(len(states)):
        play_one(states, rules, i, key, num_steps, whole_games)


@kernel
def play_one(states, rules, i, key, num_steps, whole_games):
    """Plays ``num_steps`` random actions in game *i*; modifies ``states``."""
    play_random(states[i], rules[0], key + i, num_steps, whole_games)
