"""The protocol that every player of a seat follows, and agents by name.

Agents are batch-first: they are given N views, of different deals, and return N actions. One seat is N = 1.
"""

from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pitch_env.rules import Rules, load_rules

GROUP = "pitch_env.agents"
"""Entry-point group: ``name = "module:factory"``; other distributions can add theirs."""


@runtime_checkable
class Agent(Protocol):
    """Whoever plays a seat."""

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view.

        Args:
            views: (N,) array of ``VIEW`` records (:mod:`pitch_env.observation`), each of a seat that is to move.
            rng: where all randomness of the agent comes from.

        Returns:
            (N,) array of legal actions.
        """
        ...


@runtime_checkable
class ClairvoyantAgent(Protocol):
    """An upper yardstick that is shown hidden cards; only matches that allow it play it, and it is never ranked."""

    def act_on_states(self, states: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for the seat to act of each of N ``STATE`` records."""
        ...


class Factory(Protocol):
    """What an entry point names: makes an agent for some rules from the text behind the colon of its name."""

    def __call__(self, rules: Rules, argument: str | None) -> Agent:
        """Makes the agent.

        Raises:
            ValueError: if the argument, or its absence, makes no agent.
        """
        ...


def refuse_argument(name: str, argument: str | None) -> None:
    """Sees that nothing stands behind the colon of an agent's name, for factories that want nothing there.

    Raises:
        ValueError: if something does.
    """
    if argument is not None:
        raise ValueError(f"{name} takes no argument, not {argument!r:.80}")


def agent_names() -> list[str]:
    """Returns the names of all installed agents, sorted."""
    return sorted(entry_points(group=GROUP).names)


def make_agent(name: str, rules: Rules | str | Path = "auction_pitch") -> Agent:
    """Returns an agent by name.

    Args:
        name: a name of an installed agent, or a name, a colon and an argument, as in ``pimc:32``.
        rules: what it is to play: a ``Rules``, a variant's name, or a TOML file of house rules.

    Raises:
        ValueError: if there is no such agent (the message lists what there is), or it cannot be made.
    """
    if not isinstance(name, str):
        raise ValueError(f"an agent is named by a text, not {name!r:.80}")
    head, colon, argument = name.partition(":")
    found: Any = entry_points(group=GROUP, name=head)
    if not found:
        raise ValueError(f"no agent {name!r:.80}; the agents are {', '.join(agent_names())}")
    factory: Factory = next(iter(found)).load()
    return factory(load_rules(rules), argument if colon else None)
