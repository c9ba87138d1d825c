"""One episode at one table, as all environments have it: how it begins, how a turn is played, what it pays.

Axis letters: F numbers of an observation, S seats, T sides.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.engine.deal import deal, new_game, next_deal
from pitch_env.engine.jit import kernel
from pitch_env.engine.state import MAX_SEATS, NO_SEAT, NO_SIDE, OVER, STATE
from pitch_env.engine.step import apply, skip_void, write_mask
from pitch_env.engine.tables import compile_rules
from pitch_env.game import Game
from pitch_env.observation import encode, encode_hidden, look
from pitch_env.rules import MAX_SCORE, Rules, load_rules

EPISODES = ("deal", "game")
"""How long an episode is: one deal, or deals until a side goes out."""

REWARDS = ("points", "win")
"""What an episode pays: points of each deal, or the game alone."""

RENDER_MODES = ("human", "ansi", "rgb_array", "svg")
"""What ``render`` may give: text to the terminal, text, an image (H, W, 3) uint8, or an SVG document."""

OPTIONS = ("rules", "deal", "dealer", "scores")
"""Keys of the options of ``reset``."""

ILLEGAL, ENDED, SETTLED = -2, -1, 8
"""What :func:`play` returns but for a seat: not legal, episode over; ``SETTLED`` is added to the seat after a deal."""


MAX_DEALS = 1_000
"""Deals after which a game is cut short unless the user says else: unskilled play may never end one."""


def check_terms(episode: str, reward: str, render_mode: str | None, max_deals: int = MAX_DEALS) -> None:
    """Checks what an environment is made with.

    Raises:
        ValueError: if one of them is unknown, or ``reward="win"`` goes without ``episode="game"``.
    """
    for name, value, known in (("episode", episode, EPISODES), ("reward", reward, REWARDS)):
        if value not in known:
            raise ValueError(f"{name}={value!r} is none of {', '.join(known)}")
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise ValueError(f"render_mode={render_mode!r} is none of {', '.join(RENDER_MODES)}")
    if max_deals < 1:
        raise ValueError(f"max_deals={max_deals!r} is not a number of deals of 1 or more")
    if reward == "win" and episode != "game":
        raise ValueError(f"reward='win' needs episode='game', not {episode!r}")


def penalty(rules: Rules, reward: str) -> float:
    """Returns what an illegal action costs unless the user says else: below what a deal played by the rules costs."""
    if reward == "win":
        return -1.0
    most = sum(value * (rules.jokers * rules.decks if item == "joker" else 1) for item, value in rules.items.items())
    return -float(max(*rules.bids, rules.smudge_value * rules.smudge) + most + 1)


def side_rewards(points: Sequence[float], winner: int, reward: str) -> list[float]:
    """Returns what a settled deal pays each side.

    Args:
        points: (T,) change of score of each side.
        winner: side that won the game with this deal, ``NO_SIDE`` if none.
        reward: ``"points"``, a side's points minus the mean of the others', or ``"win"``, +1 to the winner of the game
            and −1/(T − 1) to the others.
    """
    others = len(points) - 1
    if reward == "win":
        if winner == NO_SIDE:
            return [0.0] * len(points)
        return [1.0 if side == winner else -1.0 / others for side in range(len(points))]
    total = sum(points)
    return [float(own - (total - own) / others) for own in points]


def entropy() -> int:
    """Returns a seed from the operating system, for a first ``reset`` without one."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)


def check_seed(seed: Any) -> int:
    """Returns a seed as a plain int.

    Raises:
        ValueError: if it is no int of 64 bits.
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not -(2**63) <= seed < 2**63:
        raise ValueError(f"seed={seed!r} is not an int of 64 bits")
    return int(seed)


def begin(rules: Rules, seed: int, number: int, options: Mapping[str, Any] | None) -> tuple[Rules, NDArray[np.void]]:
    """Deals the first deal of an episode.

    Args:
        rules: what is played unless the options say else.
        seed: of all that is left to chance, together with ``number``.
        number: of the episode under its seed.
        options: any of ``OPTIONS``; an unknown key only warns. ``rules`` is a ``Rules``, a variant's name or a file;
            ``dealer`` a seat; ``scores`` the score of each side; ``deal`` the arguments of
            :meth:`pitch_env.game.Game.from_deal` in a mapping, or a deal record, which says rules, dealer and scores
            itself and is played anew from its first call.

    Returns:
        The rules, and the state as dealt in an array of length 1. A deal that is void as dealt is dealt again.

    Raises:
        ValueError: if an option is refused, or leaves nothing to play.
    """
    options = options or {}
    unknown = sorted(str(key) for key in options if key not in OPTIONS)
    if unknown:
        warnings.warn(f"unknown options {', '.join(unknown)}; the options are {', '.join(OPTIONS)}", stacklevel=3)
    given = options.get("deal")
    if options.get("rules") is not None:
        rules = load_rules(options["rules"])
    dealer, scores = options.get("dealer"), options.get("scores")
    if given is not None:
        rules, states = _begin_given(rules, given, options, seed)
        states["table"] = number
    else:
        states = np.zeros(1, STATE)
        _begin(states, compile_rules(rules), seed, number, _check_dealer(dealer, rules), _check_scores(scores, rules))
    if states["phase"][0] == OVER:
        raise ValueError("the deal is over as dealt: it is void (2.2), or its scores end the game")
    return rules, states


def _begin_given(rules: Rules, given: Any, options: Mapping[str, Any], seed: int) -> tuple[Rules, NDArray[np.void]]:
    if not isinstance(given, Mapping):
        raise ValueError(f"options['deal'] is a deal record or the arguments of Game.from_deal, not {given!r:.80}")
    others = [key for key in ("rules", "dealer", "scores") if options.get(key) is not None]
    if "format" in given:
        if others:
            raise ValueError(f"a deal record says its own {' and '.join(others)}: leave the option out")
        game = Game.replay(given, seed)
        for _ in given["actions"]:
            game.undo()
        return game.rules, np.array([game.state()])
    extra = {key: options[key] for key in others if key != "rules"}
    try:
        game = Game.from_deal(rules, **{**given, **extra, "seed": seed})
    except TypeError as error:
        raise ValueError(f"options['deal'] does not fit Game.from_deal: {error}") from None
    return rules, np.array([game.state()])


def _check_dealer(dealer: Any, rules: Rules) -> int:
    if dealer is None:
        return NO_SEAT
    if isinstance(dealer, bool) or not isinstance(dealer, int | np.integer) or not 0 <= dealer < rules.players:
        raise ValueError(f"dealer={dealer!r} is not a seat of 0 to {rules.players - 1}")
    return int(dealer)


def _check_scores(scores: Any, rules: Rules) -> NDArray[np.int64]:
    """Returns scores (MAX_SEATS,) with zeros behind them."""
    padded = np.zeros(MAX_SEATS, np.int64)
    if scores is not None:
        given = np.asarray(scores)
        if given.shape != (rules.sides,) or not np.issubdtype(given.dtype, np.integer):
            raise ValueError(f"scores must be {rules.sides} ints, one a side, not {scores!r:.80}")
        if np.abs(given).max() > MAX_SCORE:
            raise ValueError(f"scores={scores!r} go beyond {MAX_SCORE} (2.4)")
        padded[: rules.sides] = given
    return padded


@kernel
def _begin(states, rules, seed, number, dealer, scores):  # type: ignore[no-untyped-def]
    """Deals the first deal of a game that is not void as dealt; ``dealer`` may be NO_SEAT, for any."""
    s, r = states[0], rules[0]
    new_game(s, r, seed, number)
    if dealer != NO_SEAT:
        s.dealer = dealer
    for side in range(r.sides):
        s.scores[side] = scores[side]
        s.debts[side] = max(0, -scores[side])
    deal(s, r)
    skip_void(s, r)


@kernel
def go_on(s, r, is_last):  # type: ignore[no-untyped-def]
    """Deals the next deal after one that is over, unless it was the last; tells whether the episode goes on."""
    if is_last or s.winner != NO_SIDE:
        return False
    next_deal(s, r)
    skip_void(s, r)
    return s.phase != OVER


@kernel
def play(states, rules, layout, action, is_last, views, observation, mask, points):  # type: ignore[no-untyped-def]
    """Plays one turn and shows the next; the mask says what was legal, ``is_last`` that no deal follows this one.

    Modifies ``states`` (1,), ``views`` (1,), ``observation`` (F,) and ``mask`` of the seat that is to move next, and
    ``points`` (MAX_SEATS,) of each side when a deal is settled.

    Returns:
        The seat to move next, that plus ``SETTLED`` after a deal was settled, ``ENDED``, or ``ILLEGAL``: then nothing
        has changed.
    """
    if mask[action] == 0:
        return ILLEGAL
    s, r = states[0], rules[0]
    apply(s, r, action)
    settled = 0
    if s.phase == OVER:
        for side in range(r.sides):
            points[side] = s.points[side]
        if not go_on(s, r, is_last):
            return ENDED
        settled = SETTLED
    show(states, rules, layout, s.seat, views, observation, mask)
    return settled + s.seat


@kernel
def show(states, rules, layout, seat, views, observation, mask):  # type: ignore[no-untyped-def]
    """Writes what one seat may know; modifies ``views`` (1,), ``observation`` (F,) and ``mask`` (NUM_ACTIONS,)."""
    v = views[0]
    look(states[0], rules[0], seat, v)
    encode(v, layout[0], observation)
    write_mask(v.legal_cards, v.legal_calls, mask)


@kernel
def show_all(states, rules, layout, seat, views, full):  # type: ignore[no-untyped-def]
    """Writes the full state from one seat's side; modifies ``views`` (1,) and ``full`` (state F,)."""
    look(states[0], rules[0], seat, views[0])
    encode(views[0], layout[0], full)
    encode_hidden(states[0], rules[0], seat, layout[0], full)
