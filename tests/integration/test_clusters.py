"""Matches over a cluster give the numbers that they give here."""

import pytest

from pitch_env import variant
from training.evaluate import BLOCK, play_match

PACKAGES = {"ray": "ray", "dask": "distributed"}


@pytest.mark.integration
@pytest.mark.parametrize("backend", sorted(PACKAGES))
def test_a_local_cluster_gives_the_same_result(backend):
    pytest.importorskip(PACKAGES[backend])
    rules = variant("mini_pitch")
    here = play_match(rules, "random", "greedy", 3 * BLOCK + 7)
    there = play_match(rules, "random", "greedy", 3 * BLOCK + 7, processes=2, backend=backend)
    assert there.margins.tobytes() == here.margins.tobytes()
    assert (there.bids, there.sources) == (here.bids, here.sources)
