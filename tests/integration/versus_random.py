"""How good a learner of these scripts has become: its mean points a deal against random play."""

from collections.abc import Callable

import numpy as np

from pitch_env.aec import raw_env


def points_a_deal(rules: str, choose: Callable[[str, np.ndarray, np.ndarray], int], deals: int, seed: int = 0) -> float:
    """Plays deals in which the learner has one seat, in turn, and the others play random legal actions.

    Args:
        rules: what is played.
        choose: the learner: agent, observation (F,), mask (A,) → action.
        deals: how many.
        seed: of the deals and of the random players.

    Returns:
        The learner's mean points a deal; random play earns 0.
    """
    table, rng, total = raw_env(rules=rules), np.random.default_rng(seed), 0.0
    for deal in range(deals):
        table.reset(seed=seed if deal == 0 else None)
        learner = table.agents[deal % len(table.agents)]
        for agent in table.agent_iter():
            observation, reward, terminated, truncated, _ = table.last()
            total += reward * (agent == learner)
            if terminated or truncated:
                table.step(None)
                continue
            mask = observation["action_mask"]
            if agent == learner:
                table.step(int(choose(agent, observation["observation"], mask)))
            else:
                table.step(int(rng.choice(np.flatnonzero(mask))))
    return total / deals
