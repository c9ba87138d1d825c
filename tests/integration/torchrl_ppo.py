"""TorchRL: PPO over ``PettingZooWrapper``, one masked network for all seats.

The table is the ``raw_env``, which raises on an illegal action: a run that ends has honoured every mask.
"""

import argparse
import json

import torch
from tensordict.nn import TensorDictModule
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.envs.utils import MarlGroupMapType
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from versus_random import points_a_deal

from pitch_env.actions import NUM_ACTIONS
from pitch_env.aec import raw_env

OBSERVATION = ("agents", "observation", "observation")
MASK = ("agents", "action_mask")


class Float(torch.nn.Module):
    """A network that takes the observation's bytes."""

    def __init__(self, net: torch.nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        """Returns what the network makes of (..., F) uint8."""
        return self.net(observation.float())


def train(rules: str, iterations: int, frames: int) -> tuple[ProbabilisticActor, list[float]]:
    """Returns the actor and its loss after each iteration."""
    torch.manual_seed(0)
    env = PettingZooWrapper(
        raw_env(rules=rules), use_mask=True, group_map=MarlGroupMapType.ALL_IN_ONE_GROUP, categorical_actions=True
    )
    env.set_seed(0)
    logits = TensorDictModule(
        Float(MLP(out_features=NUM_ACTIONS, num_cells=[64, 64])), [OBSERVATION], [("agents", "logits")]
    )
    actor = ProbabilisticActor(
        logits,
        in_keys={"logits": ("agents", "logits"), "mask": MASK},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = ValueOperator(
        Float(MLP(out_features=1, num_cells=[64, 64])), in_keys=[OBSERVATION], out_keys=[("agents", "state_value")]
    )
    loss_of = ClipPPOLoss(actor, critic, entropy_bonus=False, normalize_advantage=False)
    names = ("reward", "action", "done", "terminated", "advantage", "value_target")
    keys = {name: ("agents", name) for name in names}
    loss_of.set_keys(**keys, value=("agents", "state_value"), sample_log_prob=("agents", "log_prob"))
    loss_of.make_value_estimator(gamma=1.0, lmbda=0.95)
    actor(env.reset())  # the lazy layers learn their sizes
    critic(env.reset())
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=2e-3)
    losses = []
    for _ in range(iterations):
        with torch.no_grad():
            batch = env.rollout(frames, actor, break_when_any_done=False)
            loss_of.value_estimator(batch, params=loss_of.critic_network_params)
        # One seat acts at a time: the others' advantages are of no action.
        batch["agents", "advantage"] *= batch["agents", "mask"].unsqueeze(-1)
        for _ in range(4):
            parts = loss_of(batch)
            loss = parts["loss_objective"] + parts["loss_critic"]
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return actor, losses


def main() -> None:
    """Trains, then prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default="kuhn_pitch")
    parser.add_argument("--iterations", type=int, default=25)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--deals", type=int, default=1000)
    args = parser.parse_args()
    actor, losses = train(args.rules, args.iterations, args.frames)
    net = actor[0].module

    def choose(agent, observation, mask):
        with torch.no_grad():
            logits = net(torch.as_tensor(observation))
        return logits.masked_fill(torch.as_tensor(mask) == 0, -torch.inf).argmax()

    points = points_a_deal(args.rules, choose, args.deals)
    print(json.dumps({"points": points, "loss": losses[-1], "frames": args.iterations * args.frames}))


if __name__ == "__main__":
    main()
