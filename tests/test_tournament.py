"""Tournaments: what is played, ratings, run folders, and the command."""

import json
import sys

import numpy as np
import pytest

from pitch_env import variant
from pitch_env.agent import make_agent
from pitch_env.app.cli import main
from training.evaluate import play_match
from training.tournament import (
    Plan,
    Team,
    TournamentError,
    fingerprint,
    fit_strengths,
    pairings,
    play_tournament,
    ratings_of,
)

AGENTS = ("greedy", "random", "rule")
RULES = variant("mini_partners")


def plan(**changes):
    return Plan(**({"agents": AGENTS, "rules": RULES, "num_deals": 60, "seed": 5, "reference": "greedy"} | changes))


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tournament")
    return folder, play_tournament(plan(), folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"agents": ("rule",)}, "two or more"),
        ({"agents": ("rule", "rule")}, "all different"),
        ({"num_deals": 1}, "deals=1"),
        ({"rules": variant("cutthroat")}, "nobody has a partner"),
    ],
)
def test_plans_that_cannot_be_played_are_refused(changes, message):
    with pytest.raises(TournamentError, match=message):
        plan(**changes)


def test_everybody_meets_everybody_and_every_team_meets_the_reference():
    names = [pairing.name for pairing in pairings(plan())]
    assert names == ["0-v-1", "0-v-2", "1-v-2"] + [f"{i}-with-{j}" for i in range(3) for j in range(i, 3)]


def test_a_team_of_one_agent_plays_as_that_agent_does():
    rule, greedy = make_agent("rule", RULES), make_agent("greedy", RULES)
    alone = play_match(RULES, rule, greedy, 50, seed=1).margins
    assert play_match(RULES, Team(rule, rule, RULES), greedy, 50, seed=1).margins.tolist() == alone.tolist()


def test_partners_of_a_team_take_its_seats_in_turn():
    class Notes:
        def __init__(self):
            self.seats = set()

        def act(self, views, rng):
            self.seats |= set(views["seat"].tolist())
            return make_agent("greedy", RULES).act(views, rng)

    first, second = Notes(), Notes()
    play_match(RULES, Team(first, second, RULES), make_agent("greedy", RULES), 20)
    assert (first.seats, second.seats) == ({0, 1}, {2, 3})


def test_ratings_give_the_log_odds_of_what_was_won():
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    true = np.array([0.8, 0.1, -0.9])
    shares = 1 / (1 + np.exp(-(true[pairs[:, 0]] - true[pairs[:, 1]])))
    assert fit_strengths(shares[None], pairs, 3, 10**9)[0] == pytest.approx(true, abs=1e-6)


def test_ratings_of_an_agent_that_always_wins_are_finite_and_intervals_hold_them():
    shares = np.stack([np.ones(200), np.tile([0.0, 1.0, 1.0, 0.5], 50), np.tile([0.0, 1.0], 100)])
    ratings, low, high = ratings_of(shares, np.array([[0, 1], [0, 2], [1, 2]]), 3, seed=0)
    assert np.isfinite(ratings).all()
    assert sum(ratings) == pytest.approx(0, abs=0.1)
    assert all(a <= rating <= b for a, rating, b in zip(low, ratings, high, strict=True))


def test_results_agree_with_the_matches(played):
    folder, results = played
    match = play_match(RULES, make_agent("greedy", RULES), make_agent("random", RULES), 60, seed=5)
    assert results["matches"][0]["mean"] == pytest.approx(match.mean, abs=1e-6)
    assert results["table"][-1]["agent"] == "random"
    assert sum(row["mean"] for row in results["table"]) == pytest.approx(0, abs=1e-5)
    alone = next(row for row in results["teams"] if row["team"] == ["greedy", "greedy"])
    assert alone["mean"] == 0  # the reference against itself, at both tables of every deal
    assert json.loads((folder / "results.json").read_text()) == results


def test_the_same_tournament_gives_the_same_bytes(played, tmp_path):
    play_tournament(plan(), tmp_path)
    assert contents(tmp_path) == contents(played[0])


def test_the_folder_holds_pictures_and_one_page_that_needs_no_other_file(played):
    page = (played[0] / "report.html").read_text()
    assert page.count("data:image/png;base64,") == 3
    assert "src=" not in page.replace('src="data:', "")
    for name in ("ratings", "matches", "teams"):
        assert (played[0] / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_stopped_tournament_goes_on_where_it_was(played, tmp_path):
    done = []

    def stop(number, total):
        done.append(number)
        if number == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play_tournament(plan(), tmp_path, progress=stop)
    play_tournament(plan(), tmp_path, progress=lambda number, total: done.append(number))
    assert done == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert contents(tmp_path) == contents(played[0])


def test_another_tournament_does_not_go_into_the_folder(played):
    before = contents(played[0])
    with pytest.raises(TournamentError, match="deals, seed differ"):
        play_tournament(plan(seed=6, num_deals=50), played[0])
    assert contents(played[0]) == before


def test_fingerprints_tell_agents_and_checkpoints_apart(tmp_path):
    rules = variant("auction_pitch")
    best = make_agent("best", rules)
    assert fingerprint("best", best) != fingerprint("rule", make_agent("rule", rules))
    file = tmp_path / "other"
    file.write_bytes(b"1")
    first = fingerprint(f"checkpoint:{file}", best)
    file.write_bytes(b"2")
    assert fingerprint(f"checkpoint:{file}", best) != first


def test_forfeits_are_reported_and_an_engines_files_are_in_its_hash(tmp_path):
    program = tmp_path / "engine.py"
    program.write_text("for line in open(0):\n    print('{}', flush=True)\n")
    name = f"exec:{sys.executable} {program}"
    played = plan(agents=(name, "rule"), num_deals=2, reference="greedy")
    results = play_tournament(played, tmp_path / "run")
    lost = {(row["match"], row["agent"]) for row in results["forfeits"]}
    assert lost == {("0-v-1", name), ("0-with-0", name), ("0-with-1", f"{name} + rule")}
    assert all(row["reasons"]["illegal action"] > 0 for row in results["forfeits"])
    assert "illegal action" in (tmp_path / "run" / "report.html").read_text()
    agent = make_agent(name, RULES)
    before = fingerprint(name, agent)
    program.write_text(program.read_text() + "\n")
    assert fingerprint(name, agent) != before


def test_the_command_plays_whole_games_and_prints_json(capsys, tmp_path):
    command = [
        "tournament",
        "rule",
        "random",
        "--rules",
        "mini_pitch",
        "--games",
        "10",
        "--run",
        str(tmp_path),
        "--json",
    ]
    with pytest.raises(SystemExit) as stop:
        main(command)
    printed = json.loads(capsys.readouterr().out)
    assert stop.value.code == 0
    assert printed["unit"].startswith("share of games")
    assert {row["agent"] for row in printed["table"]} == {"rule", "random"}


def test_the_command_names_an_agent_that_there_is_not(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["tournament", "rule", "nobody", "--run", str(tmp_path)])
    assert stop.value.code == 2
    assert "nobody" in capsys.readouterr().err


def test_an_agent_that_sees_all_cards_is_not_ranked(monkeypatch, tmp_path):
    class Cheat:
        def act_on_states(self, states, rng):
            raise AssertionError("not asked")

    monkeypatch.setattr("training.tournament.make_agent", lambda name, rules: Cheat())
    with pytest.raises(TournamentError, match="greedy is shown hidden cards"):
        play_tournament(plan(), tmp_path)
