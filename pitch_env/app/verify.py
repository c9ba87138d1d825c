"""``pitch verify``: the engine against the slow referee of the tests, over as many deals as one likes.

The referee is no part of the installed package: this runs in a checkout only.
"""

import importlib
import itertools
import multiprocessing
import random
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).parents[2]
"""Where the tests are, if this package runs from a checkout."""

GAMES_A_CHUNK = 40
"""Games that a worker plays before it reports."""

MOST_DIFFERENCES = 20
"""After so many differences there is nothing more to learn."""

Chunk = tuple[int, list[str]]
"""Deals played, and the differences found."""


class NoRefereeError(RuntimeError):
    """The package does not run from a checkout, so there is no referee to ask."""


def verify(
    num_deals: int, seed: int = 0, processes: int = 2, progress: Callable[[int], None] | None = None
) -> dict[str, Any]:
    """Plays deals of mixed variants and random rules through ``Game`` and through the referee.

    Legal actions are compared at every decision, results and scores after every deal, over several deals of a game.
    An interrupt (Ctrl-C) ends it early, with what was found so far.

    Args:
        num_deals: deals to play; a few more may be, for games are played to their end.
        seed: seed of everything; the same seed and number give the same deals, with any number of processes.
        processes: worker processes; with 1 all is played in this one.
        progress: called with the number of deals played so far.

    Returns:
        ``deals`` played, number of ``differences``, what was ``found`` (a text each: which game, what differs, the
        rules and the record), ``seconds``, and whether it was ``interrupted``.

    Raises:
        NoRefereeError: if the tests are not there.
    """
    _referee()
    start = time.perf_counter()
    deals, interrupted = 0, False
    found: list[str] = []
    with _chunks(seed, processes) as chunks:
        try:
            while deals < num_deals and len(found) < MOST_DIFFERENCES:
                more_deals, more_found = next(chunks)
                deals += more_deals
                found += more_found
                if progress is not None:
                    progress(deals)
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - start
    return {
        "deals": deals,
        "differences": len(found),
        "found": found,
        "seconds": seconds,
        "interrupted": interrupted,
    }


def _referee() -> Any:
    """Returns the module that plays both ways."""
    if not (CHECKOUT / "tests" / "against_referee.py").is_file():
        raise NoRefereeError(f"no referee in {CHECKOUT / 'tests'}: pitch verify runs in a checkout of the project")
    if str(CHECKOUT) not in sys.path:
        sys.path.insert(0, str(CHECKOUT))
    return importlib.import_module("tests.against_referee")


@contextmanager
def _chunks(seed: int, processes: int) -> Iterator[Iterator[Chunk]]:
    """Gives the results of chunk 0, 1, … without end, in this order, whoever plays them."""
    if processes == 1:
        yield (_play_chunk(seed, number) for number in itertools.count())
        return
    # Workers are started afresh: a fork would take threads of the parent for its own.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"))
    try:
        yield _in_order(pool, seed, 2 * processes)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_order(pool: ProcessPoolExecutor, seed: int, num_ahead: int) -> Iterator[Chunk]:
    waiting: deque[Future[Chunk]] = deque()
    for number in itertools.count():
        waiting.append(pool.submit(_play_chunk, seed, number))
        if len(waiting) > num_ahead:
            yield waiting.popleft().result()


def _play_chunk(seed: int, number: int) -> Chunk:
    """Plays the games of one chunk."""
    referee = _referee()
    deals = 0
    found = []
    for game in range(number * GAMES_A_CHUNK, (number + 1) * GAMES_A_CHUNK):
        rng = random.Random(f"{seed} {game}")
        try:
            more_deals, difference = referee.differences(referee.draw_rules(rng), rng)
        except Exception:  # an engine or a referee that breaks down differs, too
            more_deals, difference = 1, traceback.format_exc()
        deals += more_deals
        if difference is not None:
            found.append(f"seed {seed}, game {game}: {difference}")
    return deals, found
