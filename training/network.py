"""The torch twin of the network that :func:`agents.neural.forward` plays with NumPy."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


class ResidualMLP(nn.Module):
    """``depth`` layers of ``width`` with ReLU, each but the first added to its input, then a linear layer.

    Args:
        inputs: length F of an input.
        width: width W of the layers.
        depth: number of layers before the last.
        outputs: length of an output.
        last_gain: gain of the last layer's orthogonal initial weights.
    """

    def __init__(self, inputs: int, width: int, depth: int, outputs: int, last_gain: float) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth - 1))
        self.last = nn.Linear(width, outputs)
        for layer in (self.first, *self.blocks):
            assert isinstance(layer, nn.Linear)
            nn.init.orthogonal_(layer.weight, 2**0.5)
            nn.init.zeros_(layer.bias)
        nn.init.orthogonal_(self.last.weight, last_gain)
        nn.init.zeros_(self.last.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Returns outputs (N, outputs) of inputs (N, F)."""
        h = torch.relu(self.first(x))
        for block in self.blocks:
            h = h + torch.relu(block(h))
        return self.last(h)


def arrays_of(module: nn.Module, prefix: str) -> dict[str, NDArray[np.float32]]:
    """Returns a module's parameters as arrays, by name behind a prefix."""
    return {f"{prefix}{name}": tensor.detach().cpu().float().numpy() for name, tensor in module.state_dict().items()}
