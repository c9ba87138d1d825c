"""Drawing legal actions from a network's logits, compiled."""

from typing import Any

import numpy as np

from pitch_env.actions import FIRST_CALL, NUM_ACTIONS
from pitch_env.engine.jit import first_card, kernel, mix

UNIT = 1.0 / (1 << 31)


@kernel
def sample(logits: Any, legal_sets: Any, key: int, greedy: bool, actions: Any, log_probs: Any) -> None:
    """Draws one legal action a row from a masked softmax, or takes the likeliest.

    logits  (N, A) float32; legal_sets (N, 2); modifies ``actions`` (N,) int64, ``log_probs`` (N,) float32
    """
    weights = np.empty(NUM_ACTIONS, np.float64)
    choices = np.empty(NUM_ACTIONS, np.int64)
    for j in range(len(actions)):
        num = 0
        for part in range(2):
            bits = legal_sets[j, part]
            while bits:
                choices[num] = first_card(bits) + part * FIRST_CALL
                bits &= bits - 1
                num += 1
        best = 0
        for k in range(1, num):
            if logits[j, choices[k]] > logits[j, choices[best]]:
                best = k
        top = np.float64(logits[j, choices[best]])
        total = 0.0
        for k in range(num):
            weights[k] = np.exp(logits[j, choices[k]] - top)
            total += weights[k]
        chosen = best
        if not greedy:
            left = (mix(key, j) & 0x7FFF_FFFF) * UNIT * total
            chosen = num - 1
            for k in range(num):
                left -= weights[k]
                if left < 0.0:
                    chosen = k
                    break
        actions[j] = choices[chosen]
        log_probs[j] = np.log(weights[chosen] / total)
