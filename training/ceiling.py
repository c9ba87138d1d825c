"""How fast PPO could be: the same networks in a bare torch loop, without an engine, on numbers that stay the same."""

import time
from typing import Any

import torch


def bare_loop(networks: Any, setting: Any, num_rows: int, seconds: float = 5.0) -> float:
    """Returns decisions a second of forward passes to act and judge, and of epochs of forward, backward and Adam.

    Args:
        networks: actor, critic and optimiser as :class:`training.ppo.Networks` has them; their weights change.
        setting: a :class:`training.ppo.Setting`.
        num_rows: decisions of a rollout.
        seconds: how long to measure.
    """
    config, device = setting.config, setting.ranks.device
    dtype = torch.bfloat16 if config.bf16 else torch.float32
    full = torch.zeros(config.minibatch, setting.state_size, device=device, dtype=dtype)
    size = setting.size
    steps = max(1, round(num_rows / config.minibatch))
    rollouts, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
            for _ in range(steps):
                networks.actor(full[:, :size])
                networks.critic(full)
        for _ in range(steps * config.epochs):
            with torch.autocast(device.type, torch.bfloat16, enabled=config.bf16):
                loss = networks.actor(full[:, :size]).float().sum() + networks.critic(full).float().sum()
            networks.optimizer.zero_grad()
            (loss * 0).backward()
            networks.optimizer.step()
        rollouts += 1
    return rollouts * steps * config.minibatch / (time.perf_counter() - began)
