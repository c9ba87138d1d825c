"""Decisions per second of everything that plays, on one core, beside other people's engines.

A decision is one action of a player. Every row is driven as fast as its interface allows, with random legal actions,
and the best of several repeats counts: other work on the machine can only make a row slower.
"""

import contextlib
import importlib
import importlib.metadata
import os
import platform
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import pettingzoo
from gymnasium.spaces import Box, Dict, Discrete
from numpy.typing import NDArray
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from pitch_env.actions import NUM_ACTIONS
from pitch_env.agent import make_agent
from pitch_env.app.play import choose
from pitch_env.engine.state import STATE
from pitch_env.engine.step import play_random_batch, play_random_threads, start_batch
from pitch_env.engine.tables import compile_rules
from pitch_env.game import Game
from pitch_env.observation import VIEW, layout_of, play_random_observed, play_random_observed_threads
from pitch_env.rules import AUCTION_PITCH, VARIANTS, Rules

NUM_GAMES = 1024
"""Games of a batch."""

REPEATS = 7
"""Of which the best counts."""

NUM_DEALS = 256
"""Deals that the solver solves."""

DEAL_LENGTH = 28
"""Decisions of a deal of the base game, and of an episode of the empty environment."""

PACKAGES = (
    "pitch-env",
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "stable-baselines3",
    "open_spiel",
    "rlcard",
    "pufferlib",
)
"""Packages whose versions are told."""

RATIOS = {
    "observed batch / OpenSpiel euchre with observations": (
        "batch, observed: auction_pitch",
        "OpenSpiel euchre, tensor",
    ),
    "observed batch / OpenSpiel euchre with observations, dealt beforehand": (
        "batch, observed: auction_pitch",
        "OpenSpiel euchre, tensor, dealt beforehand",
    ),
    "observed batch / PufferLib tripletriad": ("batch, observed: auction_pitch", "PufferLib tripletriad"),
    "env() / PettingZoo texas_holdem env()": ("env()", "PettingZoo texas_holdem env()"),
    "env() / empty env()": ("env()", "empty env()"),
}
"""Ratios that are told: numerator and denominator."""


class NotInstalledError(Exception):
    """Something optional that a row needs is not there."""


@dataclass
class Row:
    """Something that plays.

    Attributes:
        name: what it is called in the result.
        make: makes it, and returns a function that plays a while and returns the number of decisions; what that
            function's ``figures()`` returns, if it has one, is told too.
    """

    name: str
    make: Callable[[], Callable[[], int]]


def run(seconds: float, progress: Callable[[str, int], None] | None = None) -> dict[str, Any]:
    """Measures every row.

    Args:
        seconds: for which each row is driven, all repeats together, besides what it takes to compile.
        progress: called before each row with its name and how many are done.

    Returns:
        ``rates`` (name to decisions/s), ``figures`` (name to more numbers of that row), ``missing`` (name to what is
        not installed), ``ratios``, ``versions``, ``machine``, ``command``.
    """
    rates: dict[str, float] = {}
    figures: dict[str, dict[str, float]] = {}
    missing: dict[str, str] = {}
    before = numba.get_num_threads()
    try:
        for number, row in enumerate(rows()):
            if progress is not None:
                progress(row.name, number)
            numba.set_num_threads(1)
            try:
                play = row.make()
                rates[row.name] = rate(play, seconds)
                if hasattr(play, "figures"):
                    figures[row.name] = play.figures()
            except NotInstalledError as error:
                missing[row.name] = str(error)
    finally:
        numba.set_num_threads(before)
    return {
        "rates": rates,
        "figures": figures,
        "missing": missing,
        "ratios": {name: rates[a] / rates[b] for name, (a, b) in RATIOS.items() if a in rates and b in rates},
        "versions": versions(),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {platform.platform()}",
        "command": f"pitch bench --seconds {seconds:g}",
    }


def rate(play: Callable[[], int], seconds: float) -> float:
    """Returns decisions per second: the best of :data:`REPEATS`, after one call that does not count."""
    play()
    best = 0.0
    for _ in range(REPEATS):
        done, began = 0, time.perf_counter()
        while True:
            done += play()
            passed = time.perf_counter() - began
            if passed >= seconds / REPEATS:
                break
        best = max(best, done / passed)
    return best


def rows() -> list[Row]:
    """Returns all that is measured, in the order in which it is told."""
    made = [Row(f"batch: {name}", _batch(rules)) for name, rules in VARIANTS.items()]
    made += [Row(f"batch, observed: {name}", _observed(rules)) for name, rules in VARIANTS.items()]
    made += [
        Row("batch, 2 threads: auction_pitch", _batch(AUCTION_PITCH, 2)),
        Row("batch, observed, 2 threads: auction_pitch", _observed(AUCTION_PITCH, 2)),
        Row("Game", _game),
        Row("raw_env", _aec("raw_env")),
        Row("env()", _aec("env")),
        Row("empty env()", lambda: drive_aec(wrapped_empty())),
        Row("SeatEnv against greedy", _seat_env),
        Row(f"SB3 VecEnv of {NUM_GAMES} tables against greedy", _vec_env),
        Row("exact solver, deals from the first lead: auction_pitch", SolverClock),
    ]
    for game in ("euchre", "spades"):
        made += [
            Row(f"OpenSpiel {game}", _open_spiel(game, False)),
            Row(f"OpenSpiel {game}, tensor", _open_spiel(game, True)),
            Row(f"OpenSpiel {game}, tensor, dealt beforehand", _open_spiel(game, True, deals=False)),
        ]
    return [
        *made,
        Row("RLCard leduc", _rlcard),
        Row("PettingZoo texas_holdem env()", _texas_holdem),
        Row("PufferLib tripletriad", _tripletriad),
    ]


def versions() -> dict[str, str]:
    """Returns the version of Python and of each package that is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    """Returns the name of the processor, as far as the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _require(module: str, package: str) -> Any:
    """Imports an optional module of a package.

    Raises:
        NotInstalledError: if the package, or one that it needs, is not installed.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        needed = package if error.name == module.partition(".")[0] else error.name
        raise NotInstalledError(f"{needed} is not installed") from None


# Ours


def _threads(wanted: int) -> None:
    """Lets kernels use so many threads."""
    if wanted > numba.config.NUMBA_NUM_THREADS:
        raise NotInstalledError(f"{wanted} threads are not available")
    numba.set_num_threads(wanted)


def _batch(rules: Rules, threads: int = 1) -> Callable[[], Callable[[], int]]:
    """Steps a batch, bare."""

    def make() -> Callable[[], int]:
        _threads(threads)
        states, tables, keys = np.zeros(NUM_GAMES, STATE), compile_rules(rules), _keys()
        start_batch(states, tables, 0, 0)
        kernel = play_random_batch if threads == 1 else play_random_threads

        def play() -> int:
            kernel(states, tables, next(keys), DEAL_LENGTH, False)
            return NUM_GAMES * DEAL_LENGTH

        return play

    return make


def _observed(rules: Rules, threads: int = 1) -> Callable[[], Callable[[], int]]:
    """Steps a batch, writing view, observation and mask at every decision."""

    def make() -> Callable[[], int]:
        _threads(threads)
        layout, keys = layout_of(rules), _keys()
        arrays = (
            np.zeros(NUM_GAMES, STATE),
            compile_rules(rules),
            layout.table,
            np.zeros(NUM_GAMES, VIEW),
            np.zeros((NUM_GAMES, layout.size), np.uint8),
            np.zeros((NUM_GAMES, NUM_ACTIONS), np.int8),
        )
        start_batch(arrays[0], arrays[1], 0, 0)
        kernel = play_random_observed if threads == 1 else play_random_observed_threads

        def play() -> int:
            kernel(*arrays, next(keys), DEAL_LENGTH, False)
            return NUM_GAMES * DEAL_LENGTH

        return play

    return make


def _keys() -> Iterator[int]:
    """Gives keys of random numbers that no two calls share."""
    return iter(range(0, 2**62, NUM_GAMES))


def _game() -> Callable[[], int]:
    """Plays deals with ``Game``, checks, names and undo included."""
    rng = random.Random(0)

    def play() -> int:
        game, decisions = Game(AUCTION_PITCH, rng.getrandbits(62)), 0
        while game.seat is not None:
            game.play(rng.choice(game.legal_actions()))
            decisions += 1
        return decisions

    return play


def _aec(name: str) -> Callable[[], Callable[[], int]]:
    return lambda: drive_aec(getattr(importlib.import_module("pitch_env.aec"), name)())


def drive_aec(env: Any) -> Callable[[], int]:
    """Returns a function that plays one episode of an AEC environment with random legal actions."""
    rng = random.Random(0)
    env.reset(seed=0)

    def play() -> int:
        env.reset()
        decisions = 0
        for _ in env.agent_iter():
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            env.step(pick(observation["action_mask"], rng))
            decisions += 1
        return decisions

    return play


def pick(mask: NDArray[np.int8], rng: random.Random) -> int:
    """Returns a random legal action of a mask."""
    legal = mask.nonzero()[0]
    return int(legal[int(rng.random() * len(legal))])


class EmptyEnv(pettingzoo.AECEnv):  # type: ignore[misc]
    """Four seats that take turns and do nothing: what PettingZoo itself costs. Spaces are those of the base game."""

    metadata = {"name": "empty", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012 - PettingZoo's attribute

    def __init__(self) -> None:
        self.possible_agents = [f"seat_{seat}" for seat in range(4)]
        size = layout_of(AUCTION_PITCH).size
        space = Dict(observation=Box(0, 1, (size,), np.uint8), action_mask=Box(0, 1, (NUM_ACTIONS,), np.int8))
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)
        self.action_spaces = dict.fromkeys(self.possible_agents, Discrete(NUM_ACTIONS))
        self._observation = {"observation": np.zeros(size, np.uint8), "action_mask": np.ones(NUM_ACTIONS, np.int8)}

    def observation_space(self, agent: str) -> Dict:
        """Returns the space of the observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Returns the space of the actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins an episode."""
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._turn = 0

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns the one observation that there is."""
        return self._observation

    def step(self, action: int | None) -> None:
        """Passes the turn on; all are done after :data:`DEAL_LENGTH` turns."""
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._turn += 1
        if self._turn == DEAL_LENGTH:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[self._turn % 4]
        self._cumulative_rewards[self.agent_selection] = 0.0


def wrapped_empty() -> Any:
    """Returns the empty environment in the same wrappers as ``pitch_env.aec.env``."""
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(TerminateIllegalWrapper(EmptyEnv(), illegal_reward=-1)))


def _seat_env() -> Callable[[], int]:
    """Plays episodes of the Gymnasium environment; only the own seat's decisions count."""
    from pitch_env.single import SeatEnv

    env, rng = SeatEnv(opponents="greedy"), random.Random(0)
    env.reset(seed=0)

    def play() -> int:
        _, info = env.reset()
        decisions, is_over = 0, not info["action_mask"].any()
        while not is_over:
            _, _, terminated, truncated, info = env.step(pick(info["action_mask"], rng))
            decisions += 1
            is_over = terminated or truncated
        return decisions

    return play


def _vec_env() -> Callable[[], int]:
    """Steps the Stable-Baselines3 environment; only the learner's decisions count."""
    _require("stable_baselines3", "stable-baselines3")
    from training.sb3 import PitchVecEnv

    env, rng = PitchVecEnv(num_tables=NUM_GAMES, opponents="greedy"), np.random.default_rng(0)
    env.reset()

    def play() -> int:
        masks = np.array(env.env_method("action_masks"))
        # The largest of random numbers over the legal actions: a uniformly random one of each row.
        env.step((masks * rng.random(masks.shape, np.float32)).argmax(axis=1))
        return NUM_GAMES

    return play


class SolverClock:
    """Solves the same deals over and over from the first lead, after auctions by ``rule``; a decision is a deal.

    Attributes:
        states: (:data:`NUM_DEALS`,) the positions.
        seconds: (:data:`NUM_DEALS`,) the shortest time that each took.
        nodes: positions looked at in all of them.
    """

    def __init__(self) -> None:
        self._solver = importlib.import_module("agents.solver")
        self._space = self._solver.new_workspace()
        self.states = np.concatenate([_first_lead(seed) for seed in range(NUM_DEALS)])
        self.seconds = np.full(NUM_DEALS, np.inf)
        self.nodes = 0

    def __call__(self) -> int:
        """Solves every deal once."""
        self.nodes = 0
        for deal in range(NUM_DEALS):
            began = time.perf_counter()
            solved = self._solver.solve(self.states[deal : deal + 1], AUCTION_PITCH, workspace=self._space)
            self.seconds[deal] = min(self.seconds[deal], time.perf_counter() - began)
            self.nodes += int(solved.nodes[0])
        return NUM_DEALS

    def figures(self) -> dict[str, float]:
        """Returns milliseconds a deal, on average and at the 99th percentile, and positions a second."""
        return {
            "mean_ms": 1e3 * float(self.seconds.mean()),
            "p99_ms": 1e3 * float(np.quantile(self.seconds, 0.99)),
            "nodes_per_second": self.nodes / float(self.seconds.sum()),
        }


def _first_lead(seed: int) -> NDArray[np.void]:
    """Returns the state (1,) in which a deal's play begins."""
    game, agent, rng = Game(AUCTION_PITCH, seed), make_agent("rule", AUCTION_PITCH), np.random.default_rng(seed)
    while game.phase != "play":
        game.play(choose(agent, game, rng))
    return np.array([game.state()], STATE)


# Other people's


def _open_spiel(name: str, with_tensor: bool, deals: bool = True) -> Callable[[], Callable[[], int]]:
    """Plays a game of OpenSpiel from Python; a decision is a player's.

    It deals card by card, as a batch of ours deals too. With ``deals`` false, deals drawn beforehand are cloned.
    """

    def make() -> Callable[[], int]:
        pyspiel = _require("pyspiel", "open_spiel")
        game, rng = pyspiel.load_game(name), random.Random(0)
        dealt = [_dealt(game, rng) for _ in range(0 if deals else 64)]
        look = None
        if with_tensor:
            observation = _require("open_spiel.python.observation", "open_spiel")
            # Euchre has an information state only, spades an observation only.
            has_observation = game.get_type().provides_observation_tensor
            kind = pyspiel.IIGObservationType(perfect_recall=not has_observation)
            look = observation.make_observation(game, kind)

        def play() -> int:
            state = _dealt(game, rng) if deals else dealt[rng.getrandbits(6)].clone()
            decisions = 0
            while not state.is_terminal():
                if look is not None:
                    look.set_from(state, state.current_player())
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
                decisions += 1
            return decisions

        return play

    return make


def _dealt(game: Any, rng: random.Random) -> Any:
    """Returns a state of OpenSpiel in which the cards are dealt."""
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def _rlcard() -> Callable[[], int]:
    """Plays RLCard's fastest game."""
    env, rng = _require("rlcard", "rlcard").make("leduc-holdem", config={"seed": 0}), random.Random(0)

    def play() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return play


def _texas_holdem() -> Callable[[], int]:
    """Plays PettingZoo's own card game, which RLCard plays underneath."""
    _require("rlcard", "rlcard")
    return drive_aec(_require("pettingzoo.classic.texas_holdem_v4", "pettingzoo").env())


def _tripletriad() -> Callable[[], int]:
    """Steps PufferLib's card game, a batch in C that writes its observations.

    Its actions are drawn beforehand; it has no mask to draw them from, and skips those that are illegal.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # It leaves a link where it is imported.
        _require("pufferlib.ocean.tripletriad.binding", "pufferlib")
        made = importlib.import_module("pufferlib.ocean.tripletriad.tripletriad").TripleTriad
    env = made(num_envs=NUM_GAMES, report_interval=2**62)
    actions = np.random.default_rng(0).integers(env.single_action_space.n, size=(64, NUM_GAMES), dtype=np.int32)
    env.reset()

    def play() -> int:
        for chosen in actions:
            env.step(chosen)
        return actions.size

    return play
