"""Deals played side by side by agents, and blocks of duplicate deals with a tally of how they went.

Every deal of a block is played once for each side: agent A sits on that side, agent B on all others.

Axis letters: N deals of a block, T tables of a deal (one a side), I items (12).
"""

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, FIRST_CALL, NUM_ACTIONS
from pitch_env.agent import Agent, ClairvoyantAgent, make_agent
from pitch_env.engine.deal import next_deal
from pitch_env.engine.jit import kernel
from pitch_env.engine.state import FAILED, MADE, NUM_ITEMS, OVER, SMUDGE_BID, STATE
from pitch_env.engine.step import apply, legal, skip_void, start
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, look
from pitch_env.rules import ITEMS, Rules
from pitch_env.seeds import generator
from training.selfplay import net_points

Player = Agent | ClairvoyantAgent

SIDE_A, SIDE_B, EVERYBODY = 0, 1, -1
"""Whose turn is asked for."""

SETS, SMUDGES = NUM_ITEMS, NUM_ITEMS + 1
SOURCES = (*ITEMS, "sets", "smudges")
"""Where the points of a deal come from: items that a side scored, what sets and smudges cost and paid."""

MOST_DEALS = 1000
"""Deals after which a game that nobody wins is given up, as a draw."""


class IllegalChoiceError(ValueError):
    """An agent chose an action that was not legal."""


@kernel
def start_deals(states: Any, rules: Any, seed: int, first: int, num_tables: int) -> None:
    """Deals each of N deals, ``first`` and those after it, at T tables; modifies ``states`` (N·T,)."""
    for i in range(len(states)):
        start(states[i], rules[0], seed, first + i // num_tables)


@kernel
def find_movers(states: Any, rules: Any, num_tables: int, who: int, rows: Any, views: Any) -> int:
    """Finds the tables at which ``SIDE_A``, ``SIDE_B`` or ``EVERYBODY`` is to move; returns how many.

    Modifies ``rows`` (N·T,) and ``views`` (N·T,): their indices and the views of their movers.
    """
    r = rules[0]
    num = 0
    for i in range(len(states)):
        if states[i].phase == OVER:
            continue
        mover = SIDE_A if r.side_of[states[i].seat] == i % num_tables else SIDE_B
        if who in (EVERYBODY, mover):
            look(states[i], r, states[i].seat, views[num])
            rows[num] = i
            num += 1
    return num


@kernel
def apply_rows(states: Any, rules: Any, rows: Any, actions: Any) -> int:
    """Does one action at each of some tables; returns the first that is not legal, -1 if all are."""
    for j in range(len(rows)):
        cards, calls = legal(states[rows[j]], rules[0])
        action = actions[j]
        if action < 0 or action >= NUM_ACTIONS:
            return j
        bits = cards >> action if action < FIRST_CALL else calls >> (action - FIRST_CALL)
        if not bits & 1:
            return j
        apply(states[rows[j]], rules[0], action)
    return -1


@kernel
def _next_deals(states: Any, rules: Any, num_deals: Any, most: int, fresh: Any) -> int:
    """Deals again where a game goes on; returns how many games do. Modifies ``states``, ``num_deals``, ``fresh``."""
    going = 0
    for i in range(len(states)):
        s = states[i]
        if s.phase == OVER and s.winner < 0 and num_deals[i] < most:
            num_deals[i] += 1
            next_deal(s, rules[0])
            skip_void(s, rules[0])
            fresh[i] = True
            going += 1
    return going


# Tallies


@kernel
def _add_sources(s: Any, r: Any, side: int, sums: Any) -> None:
    """Adds what a side scored in a deal, by source; modifies ``sums`` (I + 2,). The numbers sum to its points."""
    rest = s.points[side]
    pitching = r.side_of[s.pitcher] == side
    is_smudge = s.high_bid == SMUDGE_BID
    scores_items = s.made == MADE and not is_smudge if pitching else True
    if not pitching and s.made == FAILED and not is_smudge and r.transfer and not r.transfer_keeps_own:  # 8.2
        scores_items = False
    if scores_items:
        for item in range(NUM_ITEMS):
            sums[item] += s.items[side, item]
            rest -= s.items[side, item]
    sums[SMUDGES if is_smudge else SETS] += rest


@kernel
def _tally_deals(states: Any, rules: Any, num_tables: int, fresh: Any, points: Any, bids: Any, sources: Any) -> int:
    """Tallies deals that have just ended; returns how many.

    Modifies ``points`` (N·T,) A's margin at each table; ``bids`` (2, 17, 3) auctions won by A and B with each bid,
    bids made, margins of the winner; ``sources`` (2, I + 2) points of A's sides and of all others.
    """
    r = rules[0]
    ended = 0
    for i in range(len(states)):
        s = states[i]
        if s.phase != OVER or not fresh[i]:
            continue
        fresh[i] = False
        ended += 1
        side = i % num_tables
        points[i] += net_points(s, r, side)
        if s.void:
            continue
        pitching = r.side_of[s.pitcher]
        who = SIDE_A if pitching == side else SIDE_B
        bids[who, s.high_bid, 0] += 1
        bids[who, s.high_bid, 1] += s.made == MADE
        bids[who, s.high_bid, 2] += net_points(s, r, pitching)
        for other in range(r.sides):
            _add_sources(s, r, other, sources[0 if other == side else 1])
    return ended


@dataclass
class Tally:
    """How some duplicate deals went; tallies of different deals can be added up."""

    margins: NDArray[np.float64]
    """(N, T) A's margin at each table: what its side scored minus the mean of the others, or 1 for a game won."""
    num_deals: int = 0
    """Deals played at all tables; in whole games many more than N·T."""
    bids: NDArray[np.float64] = field(default_factory=lambda: np.zeros((2, SMUDGE_BID + 1, 3)))
    """(2, 17, 3) of A and B, by bid: auctions won, bids made, sum of the winner's margins."""
    sources: NDArray[np.int64] = field(default_factory=lambda: np.zeros((2, len(SOURCES)), np.int64))
    """(2, I + 2) points of A's sides and of all others, by source."""
    decisions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(2, np.int64))
    """(2,) decisions that A and B made."""
    seconds: NDArray[np.float64] = field(default_factory=lambda: np.zeros(2))
    """(2,) seconds that these took."""
    forfeits: tuple[Counter[str], Counter[str]] = field(default_factory=lambda: (Counter(), Counter()))
    """Decisions that were made for A and B because they had failed to, by reason."""
    unfinished: int = 0
    """Games given up without a winner, counted as half a win."""

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(
            np.concatenate([self.margins, other.margins]),
            self.num_deals + other.num_deals,
            self.bids + other.bids,
            self.sources + other.sources,
            self.decisions + other.decisions,
            self.seconds + other.seconds,
            (self.forfeits[0] + other.forfeits[0], self.forfeits[1] + other.forfeits[1]),
            self.unfinished + other.unfinished,
        )


def play_block(
    rules: Rules,
    players: tuple[Player | str, Player | str],
    first: int,
    size: int,
    seed: int,
    whole_games: bool = False,
    match: str = "",
) -> Tally:
    """Plays a block of duplicate deals or games.

    Args:
        rules: of the table.
        players: A and B; those given by name are made here, once in a match and process.
        first: number of the block's first deal.
        size: N.
        seed: of the match; a block is a function of it and ``first``.
        whole_games: play games to the end, the tables of a game from the same stream of deals.
        match: tells matches apart, so that another one makes its players anew.

    Raises:
        IllegalChoiceError: if an agent chooses an action that is not legal.
    """
    tables, num_tables = compile_rules(rules), rules.sides
    text = json.dumps(rules.to_dict())
    agents = [_named(player, text, match) if isinstance(player, str) else player for player in players]
    rng = generator(seed, first)
    total = size * num_tables
    states, views, rows = np.zeros(total, STATE), np.zeros(total, VIEW), np.empty(total, np.int64)
    num_deals, fresh, points = np.ones(total, np.int64), np.ones(total, np.bool_), np.zeros(total)
    tally = Tally(np.empty((size, num_tables)))
    before = [_forfeits_of(agent) for agent in agents]
    start_deals(states, tables, seed, first, num_tables)
    while True:
        moved = 0
        for who, agent in enumerate(agents):
            num = find_movers(states, tables, num_tables, who, rows, views)
            if num > 0:
                moved += num
                _move(agent, who, states, views[:num], rows[:num], tables, rng, tally)
        if moved == 0:
            tally.num_deals += _tally_deals(states, tables, num_tables, fresh, points, tally.bids, tally.sources)
            if not whole_games or _next_deals(states, tables, num_deals, MOST_DEALS, fresh) == 0:
                break
    after = [_forfeits_of(agent) for agent in agents]
    tally.forfeits = (after[0] - before[0], after[1] - before[1] if agents[1] is not agents[0] else Counter())
    tally.margins = points.reshape(size, num_tables)
    if whole_games:
        winners = states["winner"].reshape(size, num_tables)
        tally.unfinished = int((winners < 0).sum())
        tally.margins = np.where(winners < 0, 0.5, winners == np.arange(num_tables)).astype(np.float64)
    return tally


@lru_cache(maxsize=2)
def _named(name: str, rules: str, match: str) -> Player:
    """Makes an agent by name for a match; ``rules`` as JSON."""
    return make_agent(name, Rules.from_dict(json.loads(rules)))


def _forfeits_of(agent: Player) -> "Counter[str]":
    return Counter(getattr(agent, "forfeits", {}))


def _move(
    agent: Player, who: int, states: Any, views: Any, rows: Any, tables: Any, rng: np.random.Generator, tally: Tally
) -> None:
    """Lets an agent move at some tables; modifies ``states`` and ``tally``."""
    began = time.perf_counter()
    if isinstance(agent, ClairvoyantAgent):
        actions = agent.act_on_states(states[rows], rng)
    else:
        actions = agent.act(views, rng)
    tally.seconds[who] += time.perf_counter() - began
    tally.decisions[who] += len(rows)
    chosen = np.asarray(actions, np.int64)
    if chosen.shape != rows.shape:
        raise IllegalChoiceError(f"agent {'AB'[who]} was given {len(rows)} views and chose {chosen.shape} actions")
    wrong = apply_rows(states, tables, rows, chosen)
    if wrong >= 0:
        action = int(chosen[wrong])
        name = f" ({ACTION_NAMES[action]})" if 0 <= action < NUM_ACTIONS else ""
        raise IllegalChoiceError(f"agent {'AB'[who]} chose action {action}{name}, which is not legal")
