"""OpenSpiel: CFR on the small games, exactly; MCCFR where the tree is too large to walk."""

import argparse
import json

import pyspiel
from open_spiel.python.algorithms import cfr, exploitability

import pitch_env.openspiel  # noqa: F401 - registers python_pitch


def solve(rules: str, iterations: int) -> list[float]:
    """Returns NashConv of the average policy after one iteration and after all, by OpenSpiel's C++ CFR."""
    game = pyspiel.load_game("python_pitch", {"rules": rules, "dealer": 0})
    solver = pyspiel.CFRSolver(game)
    gaps = []
    for k in range(iterations):
        solver.evaluate_and_update_policy()
        if k in (0, iterations - 1):
            gaps.append(pyspiel.nash_conv(game, solver.average_policy()))
    return gaps


def solve_in_python(rules: str, iterations: int) -> list[float]:
    """Returns the same by OpenSpiel's Python CFR+."""
    game = pyspiel.load_game("python_pitch", {"rules": rules, "dealer": 0})
    solver = cfr.CFRPlusSolver(game)
    gaps = []
    for k in range(iterations):
        solver.evaluate_and_update_policy()
        if k in (0, iterations - 1):
            gaps.append(exploitability.nash_conv(game, solver.average_policy()))
    return gaps


def sample(rules: str, iterations: int, deals: int) -> float:
    """Runs external-sampling MCCFR.

    Returns:
        The mean points a deal of its average policy, in each seat in turn, where the others play at random.
    """
    game = pyspiel.load_game("python_pitch", {"rules": rules, "dealer": 0})
    solver = pyspiel.ExternalSamplingMCCFRSolver(game, 1)
    for _ in range(iterations):
        solver.run_iteration()
    learned, seats = solver.average_policy(), range(game.num_players())
    total = 0.0
    for deal in range(deals):
        own = deal % len(seats)
        bots = [pyspiel.make_uniform_random_bot(seat, deal) for seat in seats]
        bots[own] = pyspiel.make_policy_bot(game, own, deal, learned)
        total += pyspiel.evaluate_bots(game.new_initial_state(), bots, deal)[own]
    return total / deals


def main() -> None:
    """Solves, then prints one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kuhn", type=int, default=200, help="iterations on kuhn_pitch")
    parser.add_argument("--mini", type=int, default=20, help="iterations on mini_pitch")
    parser.add_argument(
        "--samples", type=int, default=1500, help="iterations of MCCFR on small_pitch and mini_partners"
    )
    parser.add_argument("--deals", type=int, default=1000, help="deals against random play")
    args = parser.parse_args()
    found = {
        "kuhn_pitch": solve_in_python("kuhn_pitch", args.kuhn),
        "mini_pitch": solve("mini_pitch", args.mini),
        "small_pitch": sample("small_pitch", args.samples, args.deals),
        "mini_partners": sample("mini_partners", args.samples, args.deals),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
