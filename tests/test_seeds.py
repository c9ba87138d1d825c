"""Generators: the same of the same seeds, whatever ints they are."""

import numpy as np
import pytest

from pitch_env.seeds import generator

SEEDS = [0, 1, 5, 2**32 - 1, 2**32, 2**40 + 3, 2**63 - 1, -1, -(2**63)]


def first(rng):
    return rng.integers(2**63, size=4).tolist()


@pytest.mark.parametrize("seed", [seed for seed in SEEDS if seed >= 0])
def test_a_seed_gives_numpys_generator_of_it(seed):
    assert first(generator(seed)) == first(np.random.default_rng(seed))
    assert first(generator(seed, 3, 7)) == first(np.random.default_rng([seed, 3, 7]))


def test_all_seeds_of_64_bits_have_streams_of_their_own():
    assert len({tuple(first(generator(seed))) for seed in SEEDS}) == len(SEEDS)
    assert len({tuple(first(generator(seed, 1))) for seed in SEEDS}) == len(SEEDS)


def test_the_lowest_64_bits_of_a_seed_count():
    assert first(generator(-1)) == first(generator(2**64 - 1))
    assert first(generator(2**64 + 5, -2)) == first(generator(5, 2**64 - 2))


def test_numbers_are_joined_as_words_of_32_bits_without_zeros_at_the_end():
    assert first(generator(5, 0)) == first(generator(5)) != first(generator(0, 5))
    assert first(generator(2**32)) == first(generator(0, 1))
