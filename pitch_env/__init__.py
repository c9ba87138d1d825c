"""The reinforcement-learning home of the card game Pitch.

``import pitch_env`` is light: the engine is loaded when :class:`Game` is first asked for, the environments by
``import pitch_env.aec``, ``pitch_env.single`` or ``pitch_env.vector``, or by ``gymnasium.make("pitch_env:Pitch-v0")``.
"""

import importlib
from typing import TYPE_CHECKING, Any

import gymnasium as _gymnasium

from pitch_env.rules import VARIANTS, Rules, RulesError, load_rules, variant

if TYPE_CHECKING:
    from pitch_env.agent import Agent, make_agent
    from pitch_env.game import DealResult, Game, IllegalActionError, RecordError

__all__ = [
    "VARIANTS",
    "Agent",
    "DealResult",
    "Game",
    "IllegalActionError",
    "RecordError",
    "Rules",
    "RulesError",
    "load_rules",
    "make_agent",
    "variant",
]

_LAZY = {
    "Agent": "agent",
    "make_agent": "agent",
    "DealResult": "game",
    "Game": "game",
    "IllegalActionError": "game",
    "RecordError": "game",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"pitch_env.{_LAZY[name]}"), name)


_gymnasium.register(
    "Pitch-v0", entry_point="pitch_env.single:SeatEnv", vector_entry_point="pitch_env.vector:PitchVectorEnv"
)
