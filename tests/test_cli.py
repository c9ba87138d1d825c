"""The pitch command: help, JSON, tables, and one clear line for bad input."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from pitch_env.app import cli
from pitch_env.rules import VARIANTS, Rules

ROOT = Path(__file__).parent.parent


def run(capsys, *args):
    """Runs the command in this process; returns exit code, standard output and standard error."""
    with pytest.raises(SystemExit) as stopped:
        cli.main(list(map(str, args)))
    shown = capsys.readouterr()
    return stopped.value.code, shown.out, shown.err


def run_json(capsys, *args):
    """Runs a command with ``--json``; returns the one object on standard output."""
    code, out, _ = run(capsys, *args, "--json")
    assert code == 0
    assert out.count("\n") == 1
    return json.loads(out)


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    path = tmp_path_factory.mktemp("games") / "games.jsonl"
    with pytest.raises(SystemExit):
        cli.main(["record", "--rules", "kuhn_pitch", "--agents", "rule,greedy", "--games", "2", "--out", str(path)])
    return path


@pytest.mark.parametrize("name", sorted(get_command(cli.app).commands))
def test_every_command_has_json_and_help_for_every_option(capsys, name):
    command = get_command(cli.app).commands[name]
    assert "--json" in [option for parameter in command.params for option in parameter.opts]
    assert [parameter.name for parameter in command.params if not parameter.help] == []
    code, out, err = run(capsys, name, "--help")
    assert (code, err) == (0, "")
    assert "--json" in out


def test_help_loads_neither_torch_nor_numba():
    code = (
        "import sys, json\n"
        "from pitch_env.app.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert "evaluate" in done.stdout
    loaded = set(json.loads(done.stderr))
    assert {"torch", "numba", "pyarrow", "stable_baselines3"} & loaded == set()


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["frog"], "No such command 'frog'"),
        (["rules", "--frog"], "No such option: --frog"),
        (["rules", "frog"], "no variant 'frog'; the variants are auction_pitch, "),
        (["rules", "frog.toml"], "frog.toml: No such file or directory"),
        (["rules", "fish", "--list"], "a name or --list, not both"),
        (["evaluate", "rule"], "Missing argument"),
        (["evaluate", "rule", "frog"], "no agent 'frog'; the agents are "),
        (["evaluate", "rule", "rule", "--deals", "1"], "--deals"),
        (["evaluate", "rule", "rule", "--deals", "many"], "--deals"),
        (["evaluate", "rule", "rule", "--deals", "9", "--games", "9"], "--deals or --games, not both"),
        (["evaluate", "rule", "rule", "--sprt", "frog"], "sprt='frog': two margins"),
        (["evaluate", "rule", "rule", "--half-width", "-1"], "half-width=-1.0"),
        (["evaluate", "rule", "rule", "--backend", "frog"], "the backends are loky, ray, dask"),
        (["evaluate", "exec:./frog", "rule"], "no program ./frog"),
        (["tournament", "rule"], "two or more"),
        (["play", "--seat", "4"], "--seat 4 is not a seat of 0 to 3"),
        (["play", "--opponents", "frog"], "no agent 'frog'"),
        (
            ["record", "--out", "x.jsonl", "--agents", "rule,rule,rule"],
            "give 1 agent, 2 (a side each) or 4 (a seat each)",
        ),
        (["record", "--out", "no/such/folder/x.jsonl"], "no/such/folder"),
        (["replay", "frog.jsonl"], "frog.jsonl"),
        (["export", "frog.jsonl", "x.parquet"], "frog.jsonl"),
        (["train", "frog.toml"], "frog.toml"),
    ],
)
def test_bad_input_is_one_line_on_standard_error_and_exit_code_2(capsys, tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *args)
    assert (code, out) == (2, "")
    assert err.startswith("pitch: ")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_house_rules_with_an_error_are_refused_in_one_line(capsys, tmp_path):
    path = tmp_path / "house.toml"
    path.write_text('base = "fish"\nhand_size = 9\n')
    code, _, err = run(capsys, "rules", path)
    assert code == 2
    assert "house.toml" in err
    assert "hand_size=9" in err
    assert err.count("\n") == 1


def test_rules_explains_a_file_of_house_rules(capsys, tmp_path):
    path = tmp_path / "house.toml"
    path.write_text('base = "cutthroat"\ntarget = 11\n')
    code, out, _ = run(capsys, "rules", path)
    assert code == 0
    assert "target = 11, not 21: The game is to 11 (9)." in out
    assert Rules.from_dict(run_json(capsys, "rules", path)) == VARIANTS["cutthroat"].replace(target=11)


def test_rules_lists_all_variants(capsys):
    code, out, err = run(capsys, "rules", "--list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["variant", *VARIANTS]
    assert run_json(capsys, "rules", "--list") == {name: rules.to_dict() for name, rules in VARIANTS.items()}


def test_evaluate_tells_who_is_stronger(capsys):
    result = run_json(capsys, "evaluate", "rule", "random", "--deals", 200, "--seed", 1)
    assert result["deals"] == 200
    assert result["interval"][0] < result["mean"] < result["interval"][1]
    assert result["interval"][0] > 0
    assert len(result["seconds_per_decision"]) == 2
    again = run_json(capsys, "evaluate", "rule", "random", "--deals", 200, "--seed", 1)
    assert again["mean"] == result["mean"]


def test_evaluate_shows_mean_interval_and_rates_by_bid(capsys):
    code, out, _ = run(capsys, "evaluate", "rule", "greedy", "--deals", 50)
    assert code == 0
    assert "95 % interval" in out
    assert ["agent", "bid", "won", "made", "set", "points"] in [line.split() for line in out.splitlines()]


def test_evaluate_counts_games(capsys):
    result = run_json(capsys, "evaluate", "rule", "random", "--games", 20, "--rules", "kuhn_pitch")
    assert result["unit"] == "share of games won"
    assert 0.5 < result["mean"] <= 1


def test_play_with_json_has_the_table_on_standard_error(capsys, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO("hint\nquit\n"))
    code, out, err = run(capsys, "play", "--seed", "5", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["seed"] == 5
    assert result["winner"] is None
    assert "Legal: " in err
    assert "Hint: " in err


def test_a_name_that_is_both_sides_partner_is_seated(capsys, monkeypatch):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    code, out, _ = run(
        capsys, "play", "--seat", 3, "--opponents", "greedy", "--partner", "random", "--rules", "six_hand"
    )
    assert code == 0
    assert "You sit in seat 3" in out


def test_record_replay_and_export_follow_one_another(capsys, games, tmp_path):
    pytest.importorskip("pyarrow")
    result = run_json(capsys, "replay", games, "--deal", 2)
    assert result["deals"] >= 2
    assert result["record"]["result"] is not None
    exported = run_json(capsys, "export", games, tmp_path / "out.parquet")
    assert exported["decisions"] == result["decisions"]
    assert (tmp_path / "out.parquet").exists()


def test_replay_steps_through_a_deal_from_a_pipe(games):
    command = [sys.executable, "-m", "pitch_env.app.cli", "replay", str(games), "--seat", "1"]
    done = subprocess.run(
        command, check=False, input="\n\nb\nq\n", capture_output=True, text=True, cwd=ROOT, timeout=300
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "[2 of " in done.stdout
    assert done.stdout.count("[1 of ") == 2


def test_replay_names_the_line_of_a_bad_record(capsys, games, tmp_path):
    path = tmp_path / "bad.jsonl"
    path.write_text(games.read_text() + "{}\n")
    code, out, err = run(capsys, "replay", path)
    assert (code, out) == (2, "")
    assert f"line {len(games.read_text().splitlines()) + 1}: not a deal record" in err


def test_replay_of_a_deal_that_is_not_there_is_refused(capsys, games):
    code, _, err = run(capsys, "replay", games, "--deal", 9999)
    assert code == 2
    assert "none in line 9999" in err


def test_a_missing_extra_is_named(capsys, games, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, _, err = run(capsys, "export", games, tmp_path / "out.parquet")
    assert code == 2
    assert "pip install 'pitch-env[export]'" in err
    for name in [name for name in sys.modules if name.startswith("training.ppo")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    code, _, err = run(capsys, "train", ROOT / "configs" / "quickstart.toml", "--run", tmp_path / "run")
    assert code == 2
    assert "pip install 'pitch-env[train]'" in err


def test_a_stopped_training_says_how_to_go_on(capsys, tmp_path, monkeypatch):
    ppo = pytest.importorskip("training.ppo")

    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(ppo, "train", stop)
    code, out, err = run(capsys, "train", "my.toml", "--run", tmp_path)
    assert (code, out) == (130, "")
    assert f"pitch train my.toml --run {tmp_path} --resume" in err


def test_train_passes_its_options_on_and_prints_the_result(capsys, monkeypatch):
    ppo = pytest.importorskip("training.ppo")
    given = {}

    def learn(config, **options):
        given.update(options, config=config)
        return {"run": "there", "checkpoint": "there/checkpoint.safetensors"}

    monkeypatch.setattr(ppo, "train", learn)
    assert run_json(capsys, "train", "my.toml", "--seed", 3, "--resume", "--run", "there")["run"] == "there"
    assert given == {"config": Path("my.toml"), "run": Path("there"), "resume": True, "seed": 3, "profile": False}
    code, out, _ = run(capsys, "train", "my.toml")
    assert code == 0
    assert "checkpoint:there/checkpoint.safetensors" in out


def test_bench_measures_every_row_or_says_what_is_missing(capsys, monkeypatch):
    """A short list of rows; the whole takes minutes to compile where nothing is cached."""
    from pitch_env.app import bench

    def missing():
        raise bench.NotInstalledError("frog is not installed")

    kept = [row for row in bench.rows() if row.name in ("batch: kuhn_pitch", "Game", "empty env()")]
    monkeypatch.setattr(bench, "rows", lambda: [*kept, bench.Row("Frog", missing)])
    result = run_json(capsys, "bench", "--seconds", 0.05)
    assert list(result["rates"]) == ["batch: kuhn_pitch", "Game", "empty env()"]
    assert min(result["rates"].values()) > 100
    assert result["missing"] == {"Frog": "frog is not installed"}
    assert {"python", "numba", "pettingzoo"} <= set(result["versions"])
    code, out, _ = run(capsys, "bench", "--seconds", 0.05)
    assert code == 0
    assert "To repeat: pitch bench --seconds 0.05" in out
    assert "frog is not installed" in out


def test_the_solver_is_timed_deal_by_deal_from_the_first_lead(monkeypatch):
    from pitch_env.app import bench
    from pitch_env.engine.state import PLAY

    monkeypatch.setattr(bench, "NUM_DEALS", 3)
    clock = bench.SolverClock()
    assert clock.states["phase"].tolist() == [PLAY] * 3
    assert not clock.states["num_plays"].any()
    assert clock() == clock() == 3
    figures = clock.figures()
    assert 0 < figures["mean_ms"] < figures["p99_ms"] <= 1e3 * clock.seconds.max()
    assert figures["nodes_per_second"] == clock.nodes / clock.seconds.sum() > 0


def test_bench_has_a_row_for_each_variant_interface_and_peer():
    from pitch_env.app import bench

    names = [row.name for row in bench.rows()]
    assert len(set(names)) == len(names)
    assert {f"batch: {name}" for name in VARIANTS} | {f"batch, observed: {name}" for name in VARIANTS} <= set(names)
    assert {name for pair in bench.RATIOS.values() for name in pair} <= set(names)


def test_the_rows_of_environments_count_decisions():
    from pitch_env.app import bench

    play = bench.drive_aec(bench.wrapped_empty())
    assert play() == play() == bench.DEAL_LENGTH
    (row,) = [row for row in bench.rows() if row.name == "env()"]
    assert row.make()() == bench.DEAL_LENGTH


def test_an_unknown_module_is_a_bug_and_is_not_hidden(monkeypatch):
    def broken(*args, **kwargs):
        raise ModuleNotFoundError("No module named 'frog'", name="frog")

    monkeypatch.setattr(cli, "_rules", broken)
    with pytest.raises(ModuleNotFoundError):
        cli.main(["rules"])


def test_ctrl_c_in_a_game_leaves_cleanly():
    """Sent to the process itself, while it waits for input."""
    import signal

    command = [sys.executable, "-m", "pitch_env.app.cli", "play", "--seed", "5"]
    env = os.environ | {"PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=env
    ) as process:
        shown = ""
        while not shown.endswith("> "):
            letter = process.stdout.read(1)
            assert letter, process.stderr.read()
            shown += letter
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "You have left the game." in out
    assert err == ""


@pytest.mark.parametrize(("differences", "code"), [(0, 0), (3, 1)])
def test_verify_fails_on_a_difference(capsys, monkeypatch, differences, code):
    import types

    given = []

    def play_beside(num_deals, seed, processes, progress):
        given.append((num_deals, seed, processes))
        progress(num_deals)
        return {"deals": num_deals, "differences": differences}

    monkeypatch.setitem(sys.modules, "pitch_env.app.verify", types.SimpleNamespace(verify=play_beside))
    ended, out, _ = run(capsys, "verify", "--deals", 7, "--seed", 2, "--processes", 1, "--json")
    assert (ended, given) == (code, [(7, 2, 1)])
    assert json.loads(out) == {"deals": 7, "differences": differences}
