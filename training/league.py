"""The pool of opponents: past selves and fixed agents, drawn by prioritised fictitious self-play.

Whom the learner beats least is met most (Vinyals et al. 2019, "Grandmaster level in StarCraft II").
"""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

M = TypeVar("M")


class League(Generic[M]):
    """Opponents by name, with how often the learner wins against each.

    A member is whatever the learner's deals are played with: an agent, or one for each of several rules.

    Args:
        fixed: agents that stay for good.
        size: past selves kept; the oldest leaves for a new one.
        power: how much harder opponents are preferred; 0 draws all alike.
    """

    PRIOR = 20.0
    """Weight of the first guess of one half, in deals."""

    def __init__(self, fixed: Mapping[str, M], size: int, power: float = 2.0) -> None:
        if size < 0 or not (fixed or size):
            raise ValueError(f"a league of {len(fixed)} fixed agents and size={size} past selves has nobody in it")
        self.members: dict[str, M] = dict(fixed)
        self.size, self.power = size, power
        self._past: list[str] = []
        self._deals = dict.fromkeys(fixed, 0.0)
        self._won = dict.fromkeys(fixed, 0.0)

    def add(self, name: str, agent: M) -> None:
        """Adds a past self; the oldest leaves when there are more than ``size``.

        Raises:
            ValueError: if the name is taken.
        """
        if name in self.members:
            raise ValueError(f"{name!r} is in the league already")
        self.members[name] = agent
        self._deals[name] = self._won[name] = 0.0
        self._past.append(name)
        if len(self._past) > self.size:
            oldest = self._past.pop(0)
            for table in (self.members, self._deals, self._won):
                del table[oldest]

    def note(self, name: str, margins: NDArray[np.floating]) -> None:
        """Notes the learner's margins (deals,) against a member: above zero is won, zero half."""
        self.count(name, len(margins), float((margins > 0).sum() + 0.5 * (margins == 0).sum()))

    def count(self, name: str, deals: float, won: float) -> None:
        """Notes so many deals against a member, and how many of them were won."""
        if name in self.members:
            self._deals[name] += deals
            self._won[name] += won

    @property
    def past(self) -> list[str]:
        """Names of the past selves, oldest first."""
        return list(self._past)

    def record(self) -> dict[str, Any]:
        """Returns what there is to remember besides the agents, as plain JSON types."""
        return {"past": self.past, "deals": dict(self._deals), "won": dict(self._won)}

    def restore(self, record: Mapping[str, Any], past: Mapping[str, M]) -> None:
        """Goes on from a record, given its past selves by name."""
        for name in self._past:
            del self.members[name]
        self._past = list(record["past"])
        self.members |= {name: past[name] for name in self._past}
        self._deals, self._won = dict(record["deals"]), dict(record["won"])

    def win_rate(self, name: str) -> float:
        """Returns the share of deals that the learner wins against a member, one half before any."""
        return (self._won[name] + self.PRIOR / 2) / (self._deals[name] + self.PRIOR)

    def shares(self) -> dict[str, float]:
        """Returns how likely each member is drawn; the shares sum to one."""
        weights = {name: (1 - self.win_rate(name)) ** self.power for name in self.members}
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}

    def draw(self, rng: np.random.Generator) -> str:
        """Returns the name of the next opponent."""
        shares = self.shares()
        return str(rng.choice(list(shares), p=list(shares.values())))
