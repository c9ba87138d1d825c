"""Tianshou: masked DQN over its ``PettingZooEnv``, one learner for each seat.

Tianshou keeps the turns of all seats in one buffer, so the step after a seat's own is another's. The return is
therefore summed over the whole deal (a horizon no deal outlasts, no discount): it never bootstraps from another seat.
"""

import argparse
import json

import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net
from versus_random import points_a_deal

from pitch_env.aec import raw_env

LONGEST_DEAL = 8
"""Turns that no deal of the rules outlasts; `kuhn_pitch` has four."""


def make_learner(env: PettingZooEnv) -> DQN:
    """Returns a DQN for one seat."""
    shape = env.observation_space["observation"].shape
    net = Net(state_shape=shape, action_shape=env.action_space.n, hidden_sizes=[64, 64])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.2)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=1e-3), gamma=1.0, n_step_return_horizon=LONGEST_DEAL)


def train(rules: str, epochs: int, steps: int) -> dict[str, DQN]:
    """Returns the learner of each seat."""
    np.random.seed(0)  # noqa: NPY002 - Tianshou explores with the global generator
    torch.manual_seed(0)

    def make_env() -> PettingZooEnv:
        return PettingZooEnv(raw_env(rules=rules))

    env = make_env()
    algorithm = MultiAgentOffPolicyAlgorithm(algorithms=[make_learner(env) for _ in env.agents], env=env)
    tables = DummyVectorEnv([make_env for _ in range(8)])
    tables.seed(0)
    collector = Collector(algorithm, tables, VectorReplayBuffer(20_000, 8), exploration_noise=True)
    collector.reset()
    collector.collect(n_step=512, random=False)
    algorithm.run_training(
        OffPolicyTrainerParams(
            training_collector=collector,
            max_epochs=epochs,
            epoch_num_steps=steps,
            collection_step_num_env_steps=64,
            update_step_num_gradient_steps_per_sample=0.05,
            batch_size=256,
            test_collector=None,
            test_step_num_episodes=1,  # asked for even without a test collector
            show_progress=False,
        )
    )
    return {agent: algorithm.get_algorithm(agent) for agent in env.agents}


def main() -> None:
    """Trains, then prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default="kuhn_pitch")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--deals", type=int, default=1000)
    args = parser.parse_args()
    learners = train(args.rules, args.epochs, args.steps)

    def choose(agent, observation, mask):
        with torch.no_grad():
            values, _ = learners[agent].policy.model(observation[None])
        return values[0].masked_fill(torch.as_tensor(mask) == 0, -torch.inf).argmax()

    points = points_a_deal(args.rules, choose, args.deals)
    print(json.dumps({"points": points, "frames": args.epochs * args.steps}))


if __name__ == "__main__":
    main()
