"""The torch twin of the network that :func:`agents.neural.forward` plays with NumPy."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from pitch_env.actions import FIRST_CALL, NUM_ACTIONS


class Trunk(nn.Module):
    """``depth`` layers of ``width`` with ReLU, each but the first added to its input."""

    def __init__(self, inputs: int, width: int, depth: int) -> None:
        super().__init__()
        self.first = nn.Linear(inputs, width)
        self.blocks = nn.ModuleList(nn.Linear(width, width) for _ in range(depth - 1))

    def hidden(self, x: Tensor) -> Tensor:
        """Returns what the layers make (N, W) of inputs (N, F)."""
        h = torch.relu(self.first(x))
        for block in self.blocks:
            h = h + torch.relu(block(h))
        return h


class ResidualMLP(Trunk):
    """``depth`` layers of ``width`` with ReLU, each but the first added to its input, then a linear layer.

    Args:
        inputs: length F of an input.
        width: width W of the layers.
        depth: number of layers before the last.
        outputs: length of an output.
        last_gain: gain of the last layer's orthogonal initial weights.
    """

    def __init__(self, inputs: int, width: int, depth: int, outputs: int, last_gain: float) -> None:
        super().__init__(inputs, width, depth)
        self.last = nn.Linear(width, outputs)
        _initialise(2**0.5, self.first, *self.blocks)
        _initialise(last_gain, self.last)

    def forward(self, x: Tensor) -> Tensor:
        """Returns outputs (N, outputs) of inputs (N, F)."""
        return self.last(self.hidden(x))


class Head(nn.Module):
    """One more residual layer of ``width``, then a linear layer: what calls, or cards, do not share."""

    def __init__(self, width: int, outputs: int, last_gain: float) -> None:
        super().__init__()
        self.block = nn.Linear(width, width)
        self.last = nn.Linear(width, outputs)
        _initialise(2**0.5, self.block)
        _initialise(last_gain, self.last)

    def forward(self, h: Tensor) -> Tensor:
        """Returns outputs (N, outputs) of the trunk's (N, W)."""
        return self.last(h + torch.relu(self.block(h)))


class TwoHeads(Trunk):
    """A trunk of ``depth`` − 1 layers as in :class:`ResidualMLP`; one head for cards and one for calls.

    Args:
        inputs: length F of an input.
        width: width W of the layers.
        depth: number of layers before the last, the heads' own among them.
        last_gain: gain of the last layers' orthogonal initial weights.
    """

    def __init__(self, inputs: int, width: int, depth: int, last_gain: float) -> None:
        super().__init__(inputs, width, depth - 1)
        _initialise(2**0.5, self.first, *self.blocks)
        self.cards = Head(width, FIRST_CALL, last_gain)
        self.calls = Head(width, NUM_ACTIONS - FIRST_CALL, last_gain)

    def forward(self, x: Tensor) -> Tensor:
        """Returns logits (N, NUM_ACTIONS) of inputs (N, F)."""
        h = self.hidden(x)
        return torch.cat([self.cards(h), self.calls(h)], dim=1)


def actor_of(inputs: int, width: int, depth: int, heads: bool) -> nn.Module:
    """Returns an actor whose first policy is nearly uniform."""
    if heads:
        return TwoHeads(inputs, width, depth, 0.01)
    return ResidualMLP(inputs, width, depth, NUM_ACTIONS, 0.01)


def _initialise(gain: float, *layers: nn.Module) -> None:
    """Gives linear layers orthogonal weights and no bias; modifies them."""
    for layer in layers:
        assert isinstance(layer, nn.Linear)
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)


def arrays_of(module: nn.Module, prefix: str) -> dict[str, NDArray[np.float32]]:
    """Returns a module's parameters as arrays, by name behind a prefix."""
    return {f"{prefix}{name}": tensor.detach().cpu().float().numpy() for name, tensor in module.state_dict().items()}
