"""Players that were made elsewhere: policies of Stable-Baselines3, classes of Python; engines have their own file."""

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import Agent, ClairvoyantAgent
from pitch_env.engine.jit import kernel
from pitch_env.engine.step import write_mask
from pitch_env.observation import encode_batch, layout_of
from pitch_env.rules import Rules


@kernel
def masks_of(views: Any, masks: Any) -> None:
    """Writes the legal actions of N views; modifies ``masks`` (N, NUM_ACTIONS) int8."""
    for i in range(len(views)):
        write_mask(views[i].legal_cards, views[i].legal_calls, masks[i])


class Sb3Agent:
    """Plays a MaskablePPO policy on the environments' own observation.

    Args:
        model: a ``sb3_contrib.MaskablePPO``, or anything with its ``predict``.
        rules: what it plays.
        draws: whether actions are drawn from the policy; else the likeliest is taken. What it draws comes from
            torch's generator, not from ``rng``: SB3 knows no other.

    Raises:
        ValueError: if the policy was trained on observations of another size.
    """

    def __init__(self, model: Any, rules: Rules, draws: bool = False) -> None:
        self._layout = layout_of(rules)
        self._model = model
        self._draws = draws
        shape = model.observation_space.shape
        if shape != (self._layout.size,):
            raise ValueError(f"the policy takes observations of shape {shape}, these rules give ({self._layout.size},)")

    def act(self, views: NDArray[np.void], rng: np.random.Generator) -> NDArray[np.int64]:
        """Chooses an action for each view (:class:`pitch_env.agent.Agent`)."""
        obs = np.empty((len(views), self._layout.size), np.uint8)
        masks = np.empty((len(views), NUM_ACTIONS), np.int8)
        encode_batch(views, self._layout.table, obs)
        masks_of(views, masks)
        actions, _ = self._model.predict(obs, deterministic=not self._draws, action_masks=masks)
        return np.asarray(actions, np.int64)


def sb3_agent(rules: Rules, argument: str | None) -> Sb3Agent:
    """Makes the agent ``sb3:PATH`` of a file that MaskablePPO saved. Such a file is a pickle: load only your own.

    Raises:
        ValueError: if the path is missing, there is no such model, it does not fit the rules, or SB3 is not installed.
    """
    if not argument:
        raise ValueError("sb3 needs a path, as in sb3:runs/sb3/model.zip")
    try:
        from sb3_contrib import MaskablePPO
    except ImportError:
        raise ValueError("sb3 needs the extra: pip install 'pitch-env[train]'") from None
    path = Path(argument)
    if path.is_dir():
        path /= "model.zip"
    if not path.is_file():
        raise ValueError(f"{path}: no such model")
    try:
        model = MaskablePPO.load(path, device="cpu")
    except Exception as error:
        raise ValueError(f"{path} is not a model of MaskablePPO: {error!r:.120}") from None
    return Sb3Agent(model, rules)


def python_agent(rules: Rules, argument: str | None) -> Agent | ClairvoyantAgent:
    """Makes the agent ``python:MODULE:CLASS``: what the class, or a function, returns for the rules.

    The module is looked for in the working folder too.

    Raises:
        ValueError: if there is no such module or class, it fails, or what it returns has no ``act``.
    """
    module_name, _, attribute = (argument or "").partition(":")
    if not module_name or not attribute:
        raise ValueError("python needs a module and a class, as in python:my_players:Careful")
    name = f"python:{argument}"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
        agent = factory(rules)
    except Exception as error:
        raise ValueError(f"{name} makes no agent of these rules: {error!r:.200}") from error
    if not isinstance(agent, Agent | ClairvoyantAgent):
        raise ValueError(f"{name} made {agent!r:.80}, which has no act (pitch_env.agent.Agent)")
    return agent
