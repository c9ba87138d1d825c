"""Processes that learn together: torch.distributed, or one process alone.

Start them with ``torchrun --nproc-per-node=2 -m training.ppo CONFIG``. Each plays its share of the deals; gradients
are averaged, so all hold the same weights.
"""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn


@dataclass(frozen=True)
class Ranks:
    """This process among those that learn together."""

    rank: int
    """Number of this process, 0 … size − 1; process 0 measures, logs and writes."""
    size: int
    """Number of processes."""
    device: torch.device
    """Where this process computes."""

    @classmethod
    def join(cls, wants_cuda: bool) -> "Ranks":
        """Joins the processes that torchrun started (nccl on CUDA, else gloo); alone without torchrun."""
        size, local = int(os.environ.get("WORLD_SIZE", "1")), int(os.environ.get("LOCAL_RANK", "0"))
        device = torch.device("cuda", local) if wants_cuda else torch.device("cpu")
        if size == 1:
            return cls(0, 1, device)
        if not dist.is_initialized():
            dist.init_process_group("nccl" if wants_cuda else "gloo")
        return cls(dist.get_rank(), size, device)

    def share(self, number: int) -> int:
        """Returns how many of a number of deals this process plays.

        Raises:
            ValueError: if they cannot be shared evenly.
        """
        if number % self.size:
            raise ValueError(f"deals={number} cannot be shared by {self.size} processes")
        return number // self.size

    def total(self, values: Tensor) -> Tensor:
        """Returns the sum of the processes' tensors."""
        if self.size > 1:
            values = values.clone()
            dist.all_reduce(values)
        return values

    def most(self, value: int) -> int:
        """Returns the largest of the processes' numbers."""
        if self.size == 1:
            return value
        tensor = torch.tensor(value, device=self.device)
        dist.all_reduce(tensor, dist.ReduceOp.MAX)
        return int(tensor)

    def average_gradients(self, *networks: nn.Module) -> None:
        """Replaces each gradient by the mean over the processes, in one message."""
        if self.size == 1:
            return
        gradients = [p.grad for network in networks for p in network.parameters() if p.grad is not None]
        flat = torch.cat([gradient.flatten() for gradient in gradients])
        dist.all_reduce(flat)
        flat /= self.size
        for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))

    def wait(self) -> None:
        """Waits for the others."""
        if self.size > 1:
            dist.barrier()
