"""Deals played by one network in all seats, compiled: what it observes, what it does, and each seat's returns.

A *row* is one decision that had a choice; forced moves are played and not learned from. Rows of a rollout stand in
the order in which they were met, so a seat's next row always stands behind.

Axis letters: N deals, R rows, F numbers of an observation, G of a full state, A actions.
"""

from typing import Any

from agents.relabel import encode_one, original_action, relabel_set
from pitch_env.cards import NUM_FACES
from pitch_env.engine.jit import below, kernel, mix, num_cards
from pitch_env.engine.state import NO_SIDE, OVER
from pitch_env.engine.step import apply, legal, nth_action, start, write_mask
from pitch_env.observation import look, put_set

SCORE_STREAM, SEAT_STREAM = -20, -21
"""Streams of random numbers: the scores that a deal starts at, who sits where."""

SHARES = 1 << 20
"""Shares of deals are counted in so many parts."""


@kernel
def play_forced(s: Any, r: Any) -> None:
    """Plays while the seat to act has one legal action only."""
    while s.phase != OVER:
        cards, calls = legal(s, r)
        if num_cards(cards) + num_cards(calls) > 1:
            return
        apply(s, r, nth_action(cards, calls, 0))


@kernel
def begin(states: Any, rules: Any, seed: int, first_table: int, spread: int, active: Any, last_row: Any) -> int:
    """Deals N deals and plays their forced moves; returns how many have a decision.

    With a ``spread`` above zero each side starts at a random score of so many below the target. Modifies ``states``
    (N,), ``active`` (N,) the indices of those deals, ``last_row`` (N, 8) each seat's last row.
    """
    num_active = 0
    for i in range(len(states)):
        start(states[i], rules[0], seed, first_table + i)
        if spread > 0:
            draw_scores(states[i], rules[0], mix(mix(seed, first_table + i), SCORE_STREAM), spread)
        play_forced(states[i], rules[0])
        last_row[i] = -1
        if states[i].phase != OVER:
            active[num_active] = i
            num_active += 1
    return num_active


@kernel
def draw_scores(s: Any, r: Any, key: int, spread: int) -> None:
    """Gives each side a uniformly random score of the ``spread`` scores below the target; modifies ``s``."""
    for side in range(r.sides):
        s.scores[side] = r.target - 1 - below(mix(key, side), spread)
        s.debts[side] = max(0, -s.scores[side])


@kernel
def seat_learner(rules: Any, seed: int, first_table: int, share: int, lone_share: int, mine: Any) -> None:
    """Decides which seats of N deals are the learner's; modifies ``mine`` (N, 8).

    Others sit in ``share`` of ``SHARES`` deals: at all seats but one in ``lone_share`` of these, else on all sides but
    one. The learner's seat goes round from deal to deal.
    """
    r = rules[0]
    for i in range(len(mine)):
        mine[i] = 1
        key = mix(mix(seed, first_table + i), SEAT_STREAM)
        if below(key, SHARES) >= share:
            continue
        own = (first_table + i) % r.players
        is_alone = below(mix(key, 1), SHARES) < lone_share
        for seat in range(r.players):
            mine[i, seat] = seat == own if is_alone else r.side_of[seat] == r.side_of[own]


@kernel
def find_others(states: Any, rules: Any, active: Any, num_active: int, mine: Any, waiting: Any, views: Any) -> int:
    """Finds the active deals in which it is not the learner's turn; returns how many.

    Modifies ``waiting`` (N,) their numbers and ``views`` (N,) what the seats to act see.
    """
    num = 0
    for j in range(num_active):
        i = active[j]
        seat = states[i].seat
        if not mine[i, seat]:
            look(states[i], rules[0], seat, views[num])
            waiting[num] = i
            num += 1
    return num


@kernel
def look_active(states: Any, rules: Any, active: Any, num_active: int, views: Any) -> None:
    """Writes what the seat to act sees of each active deal; modifies ``views`` (N,)."""
    for j in range(num_active):
        s = states[active[j]]
        look(s, rules[0], s.seat, views[j])


@kernel
def go_on(
    states: Any, rules: Any, active: Any, num_active: int, moved: Any, last_row: Any, scale: float, equity: Any,
    lowest: int, rewards: Any,
) -> int:  # fmt: skip
    """Plays the forced moves of the deals that have ``moved``; returns how many of the active ones go on.

    Deals that end are paid. Modifies ``states``, ``active`` and ``rewards`` (R,).
    """
    for i in moved:
        play_forced(states[i], rules[0])
        if states[i].phase == OVER:
            pay(states[i], rules[0], last_row[i], scale, equity, lowest, rewards)
    going = 0
    for j in range(num_active):
        if states[active[j]].phase != OVER:
            active[going] = active[j]
            going += 1
    return going


@kernel
def margins_of(states: Any, rules: Any, mine: Any, margins: Any) -> int:
    """Finds what the learner's side won in the deals in which it had one side to itself; returns how many.

    Modifies ``margins`` (N,): points less the mean of the other sides.
    """
    r = rules[0]
    num = 0
    for i in range(len(states)):
        side, of_side, others = 0, 0, 0
        for seat in range(r.players):
            if mine[i, seat]:
                side = r.side_of[seat]
            else:
                others += 1
        for seat in range(r.players):
            of_side += mine[i, seat] and r.side_of[seat] == side
        if others > 0 and of_side == r.players // r.sides:
            margins[num] = net_points(states[i], r, side)
            num += 1
    return num


@kernel
def encode_others(s: Any, r: Any, seat: int, m: Any, order: Any, full: Any) -> None:
    """Writes the other seats' hands, relabelled, behind an observation; modifies ``full`` (G,)."""
    full[m.num_bits : m.state_size] = 0
    other = seat
    for k in range(r.players - 1):
        other = other + 1 if other + 1 < r.players else 0
        start_at = m.hands + k * m.decks * NUM_FACES
        put_set(full, start_at, relabel_set(s.hands[other], order))
        if m.decks == 2:
            put_set(full, start_at + NUM_FACES, relabel_set(s.hand_dups[other], order))


@kernel
def keep(spans: Any, whole: Any, kept: Any) -> None:
    """Copies the spans (K, 2) of some numbers, one behind the other; modifies ``kept``."""
    at = 0
    for k in range(len(spans)):
        first, end = spans[k, 0], spans[k, 1]
        kept[at : at + end - first] = whole[first:end]
        at += end - first


@kernel
def observe(
    states: Any, rules: Any, layout: Any, kind: int, sees_scores: bool, active: Any, num_active: int, views: Any,
    spans: Any, whole: Any, first_row: int, full: Any, masks: Any, legal_sets: Any, orders: Any, seats: Any,
    last_row: Any, next_row: Any, rewards: Any,
) -> None:  # fmt: skip
    """Writes a row for the seat to act of each active deal.

    Modifies, from ``first_row`` on, ``full`` (R, G) uint8 full states that begin with the observation, ``masks``
    (R, A) uint8, ``legal_sets`` (R, 2) int64, ``orders`` (R, 4) int8, ``seats`` (R,) int8, ``next_row`` (R,) int64
    the seat's next row or -1, ``rewards`` (R,) float32 zero; and ``views`` (2,) VIEW scratch, ``last_row`` (N, 8).
    Given ``spans`` (K, 2), only these numbers of a full state are kept, and ``whole`` is scratch for all of them.
    """
    r = rules[0]
    for j in range(num_active):
        i = active[j]
        row = first_row + j
        s = states[i]
        seat = s.seat
        look(s, r, seat, views[0])
        numbers = whole if len(spans) > 0 else full[row]
        encode_one(views[0], r, layout[0], kind, sees_scores, orders[row], views[1:], numbers)
        encode_others(s, r, seat, layout[0], orders[row], numbers)
        keep(spans, numbers, full[row])
        write_mask(views[1].legal_cards, views[1].legal_calls, masks[row])
        legal_sets[row, 0] = views[1].legal_cards
        legal_sets[row, 1] = views[1].legal_calls
        seats[row] = seat
        next_row[row] = -1
        rewards[row] = 0.0
        if last_row[i, seat] >= 0:
            next_row[last_row[i, seat]] = row
        last_row[i, seat] = row


@kernel
def act(
    states: Any, rules: Any, active: Any, num_active: int, first_row: int, actions: Any, orders: Any, last_row: Any,
    scale: float, equity: Any, lowest: int, rewards: Any,
) -> int:  # fmt: skip
    """Does the actions of the active deals' rows and the forced moves after them; returns how many go on.

    A deal that ends pays each seat on that seat's own last row, times ``scale``: the change of its side's score minus
    the mean of the other sides' or, given an ``equity`` table (X, X) whose first score is ``lowest``, the change of
    its side's probability to win the game minus that of the other side. Modifies ``states``, ``active`` and
    ``rewards`` (R,).
    """
    r = rules[0]
    going = 0
    for j in range(num_active):
        i = active[j]
        row = first_row + j
        s = states[i]
        apply(s, r, original_action(actions[row], orders[row]))
        play_forced(s, r)
        if s.phase == OVER:
            pay(s, r, last_row[i], scale, equity, lowest, rewards)
        else:
            active[going] = i
            going += 1
    return going


@kernel
def pay(s: Any, r: Any, last_row: Any, scale: float, equity: Any, lowest: int, rewards: Any) -> None:
    """Pays each seat of a deal that is over on its last row (8,), if it has one; modifies ``rewards`` (R,)."""
    for seat in range(r.players):
        if last_row[seat] >= 0:
            side = r.side_of[seat]
            won = net_points(s, r, side) if len(equity) == 0 else net_equity(s, r, side, equity, lowest)
            rewards[last_row[seat]] = scale * won


@kernel
def net_points(s: Any, r: Any, side: int) -> float:
    """Returns what a side scored in a deal, minus the mean of the other sides."""
    others = 0
    for other in range(r.sides):
        if other != side:
            others += s.points[other]
    return s.points[side] - others / (r.sides - 1)


@kernel
def equity_at(equity: Any, lowest: int, own: int, other: int) -> float:
    """Returns the dealing side's probability to win from two scores."""
    top = len(equity) - 1
    return equity[min(max(own - lowest, 0), top), min(max(other - lowest, 0), top)]


@kernel
def net_equity(s: Any, r: Any, side: int, equity: Any, lowest: int) -> float:
    """Returns the change of a side's probability to win the game, of two sides, minus that of the other side."""
    dealing = r.side_of[s.dealer]
    other = 1 - dealing
    before = equity_at(equity, lowest, s.scores[dealing] - s.points[dealing], s.scores[other] - s.points[other])
    if s.winner != NO_SIDE:
        after = 1.0 if s.winner == dealing else 0.0
    else:  # 2.3  The other side deals next.
        after = 1.0 - equity_at(equity, lowest, s.scores[other], s.scores[dealing])
    change = 2.0 * (after - before)
    return change if side == dealing else -change


@kernel
def advantages(values: Any, rewards: Any, next_row: Any, num_rows: int, lam: float, out: Any, returns: Any) -> None:
    """Generalised advantage estimation along each seat's own rows, undiscounted (Schulman et al. 2016).

    Modifies ``out`` (R,) and ``returns`` (R,) float32.
    """
    for row in range(num_rows - 1, -1, -1):
        after = next_row[row]
        if after < 0:
            out[row] = rewards[row] - values[row]
        else:
            out[row] = rewards[row] + values[after] - values[row] + lam * out[after]
        returns[row] = out[row] + values[row]
