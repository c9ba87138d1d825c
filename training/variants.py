"""Several rules for one network: their names, their shares of a rollout, and the numbers that they have use for.

One network plays many rules on the universal layout, whose observations are of one length for all rules and tell the
rules apart. Most of it is never used by a given choice of rules (second packs, an eighth seat): these *columns* are
left out, so that the network is neither slowed down by them nor plays on weights that it never learned.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.neural import layout_seen
from agents.relabel import relabelling
from pitch_env.engine.state import MAX_SEATS
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import Layout, rule_bits
from pitch_env.rules import VARIANTS, Rules
from training.config import ConfigError, rules_of

ALL = "all"
"""What a config says for all variants of the rulebook."""

BASE_TOTAL = sum(Rules().items.values())
"""Points of a deal of the base game."""

PER_SEAT = ("played", "best_seat", "voids", "calls", "pitches", "dealer", "pitcher", "num_discarded", "num_face_down")
PER_SIDE = ("game_values", "tricks", "taken", "taken_spades")
PER_PACK = ("hand", "played", "discards", "widow", "swapped", "hands")
"""Fields whose numbers come for each seat or side (the viewer's first), and within it for each pack."""

UNSEEN = ("scores", "face_down", "dead")
"""Fields that are zero for every network that plays many rules: it plays for points."""


@dataclass(frozen=True)
class Block:
    """The deals of a rollout that are played by the same rules, and these in the forms that each part wants."""

    name: str
    """What a config calls the rules."""
    rules: Rules
    """The rules."""
    tables: Any
    """Compiled (:func:`pitch_env.engine.tables.compile_rules`)."""
    layout: Layout
    """Where the numbers of a full state are."""
    kind: int
    """How far suits are alike (:func:`agents.relabel.relabelling`)."""
    deals: slice
    """Its deals among those of the rollout."""
    scale: float
    """Rewards are multiplied by this."""


def named_rules(given: str | Mapping[str, Any] | Sequence[Any], path: Path | str) -> dict[str, Rules]:
    """Returns the rules that a config names, by name: one, a list of them, or all variants.

    Raises:
        ConfigError: if some are refused, or the same stand twice in a list.
    """
    if given == ALL:
        return dict(VARIANTS)
    several = [given] if isinstance(given, str | Mapping) else list(given)
    if not several:
        raise ConfigError(f"{path}: rules=[]: a list of rules needs at least one")
    named: dict[str, Rules] = {}
    for one in several:
        fields = {"base": one} if isinstance(one, str) else dict(one)
        changed = [f"{name}={value}" for name, value in fields.items() if name != "base"]
        name = " ".join([fields.get("base", "auction_pitch"), *changed])
        rules = rules_of(fields, path)
        if name in named:
            raise ConfigError(f"{path}: rules: {name!r} stands in the list twice")
        named[name] = rules
    return named


def is_universal(given: object) -> bool:
    """Returns whether a config asks for one network on the universal layout: a list of rules, or all."""
    return given == ALL or not isinstance(given, str | Mapping)


def blocks_of(
    named: Mapping[str, Rules], num_deals: int, universal: bool, sees_scores: bool, reward_scale: float
) -> tuple[Block, ...]:
    """Shares the deals of a rollout among rules.

    Rewards are scaled by the points of a deal over those of the base game, so that all rules weigh alike.

    Raises:
        ConfigError: if there are fewer deals than rules.
    """
    blocks, first = [], 0
    for (name, rules), share in zip(named.items(), shares(list(named.values()), num_deals), strict=True):
        scale = reward_scale * BASE_TOTAL / sum(rules.items.values()) if universal else reward_scale
        layout = layout_seen(rules, universal, sees_scores)
        place = slice(first, first + share)
        blocks.append(Block(name, rules, compile_rules(rules), layout, relabelling(rules), place, scale))
        first += share
    return tuple(blocks)


def shares(several: Sequence[Rules], num_deals: int) -> list[int]:
    """Returns how many of a number of deals each rules get, at least one.

    In inverse proportion to the root of the cards in play: between as many deals of each and as many decisions.

    Raises:
        ConfigError: if there are fewer deals than rules.
    """
    if num_deals < len(several):
        raise ConfigError(f"deals={num_deals}: {len(several)} rules need at least as many")
    weights = np.array([(rules.players * max(rules.hand_size, rules.play_size)) ** -0.5 for rules in several])
    bounds = np.round(np.cumsum(weights) / weights.sum() * (num_deals - len(several))).astype(int)
    return [int(share) + 1 for share in np.diff(bounds, prepend=0)]


def columns_of(several: Sequence[Rules]) -> NDArray[np.int64]:
    """Returns the numbers (C,) of the universal full state that some rules have use for, ascending.

    Those of the field ``rules`` are left out where all the rules agree: a network can learn nothing from them.
    """
    universal = layout_seen(several[0], True, False)
    used = np.zeros(universal.state_size, np.bool_)
    places = universal.fields | universal.state_fields
    for rules in several:
        own = layout_seen(rules, False, False)
        for name in (own.fields | own.state_fields).keys() - UNSEEN:
            _mark(used[places[name]], name, rules)
    bits = np.array([rule_bits(layout_seen(rules, True, False).rules) for rules in several])
    used[places["rules"]] = bits.min(axis=0) != bits.max(axis=0)
    return np.flatnonzero(used)


def _mark(used: NDArray[np.bool_], name: str, rules: Rules) -> None:
    """Marks the numbers of a field that the seats, sides and packs of some rules use; modifies ``used``."""
    packs = 2 if name in PER_PACK else 1
    if name == "hands":
        outer, most = rules.players - 1, MAX_SEATS - 1
    elif name in PER_SEAT:
        outer, most = rules.players, MAX_SEATS
    elif name in PER_SIDE:
        outer, most = rules.sides, MAX_SEATS
    else:
        outer, most = 1, 1
    used.reshape(most, packs, -1)[:outer, : min(packs, rules.decks)] = True


def spans_of(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns ascending numbers (C,) as spans (K, 2): first, and behind the last."""
    breaks = np.flatnonzero(np.diff(columns) != 1)
    firsts = columns[np.concatenate([[0], breaks + 1])]
    lasts = columns[np.concatenate([breaks, [len(columns) - 1]])]
    return np.stack([firsts, lasts + 1], axis=1)


def mean_margin(margins: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the mean of independent margins (``mean``, 95 % ``interval``), as one of them."""
    several = list(margins)
    mean = sum(margin["mean"] for margin in several) / len(several)
    half = sum(((margin["interval"][1] - margin["interval"][0]) / 2) ** 2 for margin in several) ** 0.5 / len(several)
    return {"mean": mean, "interval": [mean - half, mean + half]}
