"""Each script trains or plays in another library, on tables that raise on an illegal action, and shows for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

MODULES = {"torchrl_ppo": "torchrl", "tianshou_dqn": "tianshou", "rllib_ppo": "ray", "openspiel_cfr": "pyspiel"}


def run(script, *arguments):
    pytest.importorskip(MODULES[script])
    path = Path(__file__).parent / f"{script}.py"
    done = subprocess.run([sys.executable, str(path), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("script", ["torchrl_ppo", "tianshou_dqn", "rllib_ppo"])
def test_a_learner_with_masks_beats_random_play(script):
    assert run(script)["points"] > 1


def test_openspiels_cfr_closes_in_on_an_equilibrium_and_mccfr_beats_random_play():
    found = run("openspiel_cfr")
    for name, share in (("kuhn_pitch", 0.01), ("mini_pitch", 0.2)):
        first, last = found[name]
        assert 0 <= last < share * first
    assert found["small_pitch"] > 0.2
    assert found["mini_partners"] > 0.2
