"""RLlib, new API stack: PPO over its ``PettingZooEnv``, one module for all seats that masks its logits."""

import argparse
import json
import logging
from typing import Any

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module import MultiRLModuleSpec, RLModuleSpec
from ray.rllib.core.rl_module.apis import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.utils.torch_utils import FLOAT_MIN
from ray.tune.registry import register_env
from versus_random import points_a_deal

from pitch_env.aec import raw_env


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """Policy and value networks; an action with a zero in the mask has no chance."""

    def setup(self) -> None:
        """Makes the networks."""
        size = self.observation_space["observation"].shape[0]
        self.policy = self._net(size, int(self.action_space.n))
        self.value = self._net(size, 1)

    @staticmethod
    def _net(size: int, out: int) -> torch.nn.Module:
        return torch.nn.Sequential(torch.nn.Linear(size, 64), torch.nn.Tanh(), torch.nn.Linear(64, out))

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        shown = batch[Columns.OBS]
        logits = self.policy(shown["observation"].float())
        return {Columns.ACTION_DIST_INPUTS: logits.masked_fill(shown["action_mask"] == 0, FLOAT_MIN)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        """Returns the value of each observation."""
        return self.value(batch[Columns.OBS]["observation"].float()).squeeze(-1)


def train(rules: str, iterations: int, frames: int) -> MaskedModule:
    """Returns the trained module."""
    register_env("pitch", lambda config: PettingZooEnv(raw_env(rules=rules)))
    config = (
        PPOConfig()
        .environment("pitch", disable_env_checking=True)  # the check plays without regard to masks
        .env_runners(num_env_runners=0)
        .learners(num_learners=0)
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda agent, episode, **kwargs: "shared")
        .rl_module(
            rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": RLModuleSpec(module_class=MaskedModule)})
        )
        .training(
            train_batch_size_per_learner=frames, minibatch_size=200, num_epochs=4, lr=3e-3, gamma=1.0, grad_clip=1.0
        )
        .debugging(seed=0, log_level="ERROR")
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        algorithm.train()
    module = algorithm.get_module("shared")
    algorithm.stop()
    return module


def main() -> None:
    """Trains, then prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default="kuhn_pitch")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--deals", type=int, default=1000)
    args = parser.parse_args()
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    module = train(args.rules, args.iterations, args.frames)
    ray.shutdown()

    def choose(agent, observation, mask):
        shown = {"observation": torch.as_tensor(observation)[None], "action_mask": torch.as_tensor(mask)[None]}
        return module.forward_inference({Columns.OBS: shown})[Columns.ACTION_DIST_INPUTS][0].argmax()

    points = points_a_deal(args.rules, choose, args.deals)
    print(json.dumps({"points": points, "frames": args.iterations * args.frames}))


if __name__ == "__main__":
    main()
