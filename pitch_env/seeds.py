"""Random generators that follow from seeds."""

import numpy as np

WORD = 0xFFFF_FFFF_FFFF_FFFF


def generator(*seeds: int) -> np.random.Generator:
    """Returns the random generator of a seed, or of a seed and numbers that tell its streams apart, as a block's does.

    NumPy takes no negative numbers: of each the lowest 64 bits count. It joins them as words of 32 bits, and leaves out
    zeros at the end: 5 and (5, 0) are one stream, and so are 2³² and (0, 1).
    """
    return np.random.default_rng([seed & WORD for seed in seeds])
