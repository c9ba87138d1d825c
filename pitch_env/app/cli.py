"""The ``pitch`` command.

Each command prints for people, or with ``--json`` one JSON object on standard output and nothing else there; progress
and tables then go to standard error. Bad input is one line on standard error and exit code 2. Heavy modules are
imported inside the commands that need them.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from pitch_env.rules import Rules, load_rules

if TYPE_CHECKING:
    from rich.progress import Progress

    from pitch_env.agent import Agent

app = typer.Typer(
    help="The card game Pitch: play it, train agents on it, measure them.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

EXTRA_OF = {
    "torch": "train", "tensorboard": "train", "safetensors": "train", "stable_baselines3": "train",
    "sb3_contrib": "train", "pyarrow": "export", "matplotlib": "plot", "open_spiel": "bench",
}  # fmt: skip
"""The extra of this distribution that brings an optional module."""

RulesOption = Annotated[str, typer.Option("--rules", help="A variant's name, or a TOML file of house rules.")]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else there.")]
ProcessesOption = Annotated[
    int, typer.Option("--processes", min=1, help="Processes; the result does not depend on how many.")
]
BackendOption = Annotated[str, typer.Option("--backend", help="Where they run: loky (here), ray or dask (a cluster).")]
SeedOption = Annotated[int, typer.Option("--seed", help="Decides all that is random.")]


class CommandError(Exception):
    """Something that the user can put right; its text is what is shown."""


def main(args: list[str] | None = None) -> NoReturn:
    """Runs the command line and exits.

    Args:
        args: what was typed behind ``pitch``; ``sys.argv`` if left out.

    Raises:
        SystemExit: always; code 2 after bad input, 130 after Ctrl-C.
    """
    try:
        code = app(args, prog_name="pitch", standalone_mode=False)
    except (CommandError, typer.Abort) as error:
        _fail(str(error) or "stopped")
    except ModuleNotFoundError as error:
        extra = EXTRA_OF.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        _fail(f"this needs {error.name}: pip install 'pitch-env[{extra}]'")
    except Exception as error:
        if not hasattr(error, "format_message"):  # what Typer has against the arguments
            raise
        _fail(f"{error.format_message()} (try --help)")
    sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str) -> NoReturn:
    typer.echo(f"pitch: {' '.join(message.split())}", err=True)
    sys.exit(2)


@contextmanager
def _refusals(*kinds: type[Exception]) -> Iterator[None]:
    """Turns refusals of what the user gave into a :class:`CommandError`."""
    try:
        yield
    except kinds as error:
        message = str(error)
        if isinstance(error, OSError) and error.filename is not None:
            message = f"{error.filename}: {error.strerror}"
        raise CommandError(message) from error


def _rules(text: str) -> Rules:
    with _refusals(ValueError):
        return load_rules(text)


def _agent(name: str, rules: Rules) -> "Agent":
    from pitch_env.agent import make_agent

    with _refusals(ValueError, OSError):
        return make_agent(name, rules)


def _number(deals: int | None, games: int | None) -> int | None:
    """Returns how many deals, or whole games, a match is to have; None if it is not said."""
    if deals is not None and games is not None:
        raise CommandError("give --deals or --games, not both")
    return deals if games is None else games


def _progress() -> "Progress":
    """Returns a progress bar on standard error, silent where that is no terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def _emit(result: dict[str, Any]) -> None:
    """Prints the one JSON object."""
    typer.echo(json.dumps(result, ensure_ascii=False))


def _show_table(columns: Sequence[str], rows: Sequence[Sequence[str]], as_json: bool = False) -> None:
    """Prints a table: on standard error where the JSON object has standard output."""
    widths = [max(len(row[k]) for row in (columns, *rows)) for k in range(len(columns))]
    for row in (columns, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo(line.rstrip(), err=as_json)


@app.callback()
def pitch() -> None:
    """The card game Pitch: play it, train agents on it, measure them."""


@app.command()
def train(
    config: Annotated[Path, typer.Argument(help="A TOML file such as configs/quickstart.toml.")],
    run: Annotated[Path | None, typer.Option(help="Folder of the run; runs/NAME of the config if left out.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was stopped.")] = False,
    seed: Annotated[int | None, typer.Option(help="Seed, instead of the config's.")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Tell where the time goes.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Train by self-play as a config says; leaves a run folder."""
    from agents.neural import CheckpointError
    from training.config import ConfigError
    from training.equity import EquityError
    from training.ppo import train as learn

    try:
        with _refusals(ConfigError, CheckpointError, EquityError):
            result = learn(config, run=run, resume=resume, seed=seed, profile=profile)
    except KeyboardInterrupt as stop:  # with the run's folder, once its checkpoint is written
        folder = stop.args[0] if stop.args else run or "FOLDER"
        typer.echo(f"Stopped. Go on with: pitch train {config} --run {folder} --resume", err=True)
        raise typer.Exit(130) from None
    if as_json:
        _emit(result)
    else:
        typer.echo(f"The run is in {result['run']}; play against it: --opponents checkpoint:{result['checkpoint']}")


@app.command()
def equity(
    agent: Annotated[str, typer.Argument(help="The agent whose play decides, by name.")],
    rules: RulesOption = "auction_pitch",
    deals: Annotated[int, typer.Option(min=100, help="Deals of its play to sample from.")] = 100_000,
    seed: SeedOption = 0,
    out: Annotated[Path | None, typer.Option(help="File for the table; configs of training can name it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute how likely the dealer's side wins the game from every pair of scores."""
    table = _rules(rules)
    player = _agent(agent, table)
    from training.equity import EquityError, compute_equity, drawing

    with _refusals(EquityError):
        found = compute_equity(table, player, deals, seed, agent)
    if out is not None:
        with _refusals(OSError):
            found.save(out)
    if as_json:
        _emit({"agent": agent, "deals": deals, "lowest": found.lowest, "table": found.table.round(4).tolist()})
    typer.echo(drawing(found), err=as_json)


@app.command()
def exploit(
    agent: Annotated[str, typer.Argument(help="The agent that is exploited, by name.")],
    rules: RulesOption = "auction_pitch",
    frames: Annotated[int, typer.Option(min=1, help="Decisions of the best response to learn from.")] = 5_000_000,
    run: Annotated[Path | None, typer.Option(help="Folder of the run; goes on with one that is there.")] = None,
    start: Annotated[Path | None, typer.Option(help="Checkpoint that the best response begins with.")] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Small games of two: the exact value, by OpenSpiel.")] = False,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of the measurement.")] = 20_000,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Train a best response to an agent that stays as it is: a lower bound of what can be won from it."""
    table = _rules(rules)
    _agent(agent, table)
    if exact:
        from training.exploit import exact_exploit

        with _refusals(ValueError):
            result = exact_exploit(agent, rules, seed=seed)
        if as_json:
            _emit(result)
        typer.echo(f"The best response wins {result['mean']:.4f} points a deal from {agent}", err=as_json)
        return
    from training.exploit import exploit as respond

    folder = run or Path("runs") / f"exploit-{re.sub(r'[^A-Za-z0-9]+', '-', agent)}-seed{seed}"
    try:
        with _refusals(ValueError):
            result = respond(agent, table, frames, folder, str(start or ""), seed, deals)
    except KeyboardInterrupt:
        typer.echo(f"Stopped. Go on with the same command and --run {folder}", err=True)
        raise typer.Exit(130) from None
    if as_json:
        _emit(result)
    low, high = result["interval"]
    won = f"{result['mean']:+.3f} points a deal, 95 % interval {low:+.3f} to {high:+.3f}"
    typer.echo(f"After {result['frames']:,} decisions the best response wins {won}, from {agent}", err=as_json)


@app.command()
def evaluate(
    a: Annotated[str, typer.Argument(help="The agent that is measured, by name.")],
    b: Annotated[str, typer.Argument(help="The agent that it is measured against.")],
    rules: RulesOption = "auction_pitch",
    deals: Annotated[int | None, typer.Option(min=2, help="Deals, each played once for each side [20000].")] = None,
    games: Annotated[int | None, typer.Option(min=2, help="Whole games instead, counted by who wins.")] = None,
    half_width: Annotated[
        float | None, typer.Option(help="Play as many deals as an interval of mean ± this wants, --deals at most.")
    ] = None,
    sprt: Annotated[
        str | None, typer.Option(help="Two margins such as 0,0.03: play until it is decided which, --deals at most.")
    ] = None,
    processes: ProcessesOption = 1,
    backend: BackendOption = "loky",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Play a duplicate match between two agents: who is stronger, by how much, with a 95 % interval."""
    number, table = _number(deals, games), _rules(rules)
    from training.duplicate import IllegalChoiceError
    from training.evaluate import Match, goal_of
    from training.evaluate import evaluate as play_duplicates

    with _refusals(ValueError):
        goal = goal_of(number, half_width, sprt)
    with _progress() as bar, _refusals(IllegalChoiceError, ValueError, OSError):
        task = bar.add_task(f"{a} v {b}", total=None)

        def show(done: int, match: Match) -> None:
            total = match.goal.deals(match.margins)
            bar.update(task, completed=done, total=total, description=f"{a} v {b}: {match.mean:+.3f}")

        result = play_duplicates(a, b, table, goal, seed, games is not None, show, processes, backend)
    if as_json:
        _emit(result)
    _show_match(result, as_json)


def _show_match(result: dict[str, Any], as_json: bool) -> None:
    """Prints the result of a match as text."""
    from training.evaluate import lines_of

    typer.echo("\n".join(lines_of(result)), err=as_json)
    rows = [
        (result[who], bid, str(row["won"]), f"{row['rate']:.1%}", f"{1 - row['rate']:.1%}", f"{row['points']:+.3f}")
        for who in "ab"
        for bid, row in result["bids"][who].items()
    ]
    _show_table(("agent", "bid", "won", "made", "set", "points"), rows, as_json)


@app.command()
def tournament(
    agents: Annotated[list[str], typer.Argument(help="Two or more agents, by name.")],
    rules: RulesOption = "auction_pitch",
    deals: Annotated[int | None, typer.Option(min=2, help="Duplicate deals of each match [5000].")] = None,
    games: Annotated[int | None, typer.Option(min=2, help="Whole games instead, counted by who wins.")] = None,
    reference: Annotated[str | None, typer.Option(help="Play teams of two different agents against this one.")] = None,
    run: Annotated[Path | None, typer.Option(help="Folder of the run; runs/tournament-seedN if left out.")] = None,
    processes: ProcessesOption = 1,
    backend: BackendOption = "loky",
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Play every agent against every other: ratings, a heat map, a page; goes on where a stopped one was."""
    number, table = _number(deals, games), _rules(rules)
    from training.duplicate import IllegalChoiceError
    from training.report import forfeit_line
    from training.tournament import Plan, TournamentError, play_tournament, rows_of

    folder = run or Path("runs") / f"tournament-seed{seed}"
    with _progress() as bar, _refusals(TournamentError, IllegalChoiceError, ValueError, OSError):
        plan = Plan(tuple(agents), table, number or 5000, seed, games is not None, reference)
        task = bar.add_task("matches", total=None)
        results = play_tournament(
            plan, folder, processes, lambda done, every: bar.update(task, completed=done, total=every), backend
        )
    if as_json:
        _emit({"run": str(folder)} | results)
    _show_table(("agent", f"{results['unit']}, against the field", "rating", "95 %"), list(rows_of(results)), as_json)
    if reference is not None:
        teams = [(" + ".join(row["team"]), f"{row['mean']:+.3f}") for row in results["teams"]]
        _show_table(("partners", f"against {reference}"), teams, as_json)
    for forfeit in results["forfeits"]:
        typer.echo(forfeit_line(forfeit), err=as_json)
    typer.echo(f"{folder}/report.html", err=as_json)


@app.command()
def benchmark(
    agent: Annotated[str, typer.Argument(help="The agent, by name.")],
    out: Annotated[Path | None, typer.Option(help="File for the result, as --json prints it.")] = None,
    processes: ProcessesOption = 1,
    backend: BackendOption = "loky",
    as_json: JsonOption = False,
) -> None:
    """Play the benchmark pitch-bench/1 and print the agent's row of the leaderboard (docs/evaluation.md)."""
    from training.benchmark import leaderboard_head, run_benchmark
    from training.config import write_text

    with _progress() as bar, _refusals(ValueError):
        task = bar.add_task("", total=None)

        def show(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=name)

        result = run_benchmark(agent, processes=processes, backend=backend, progress=show)
    if out is not None:
        with _refusals(OSError):
            write_text(out, json.dumps(result, indent=1))
    if as_json:
        _emit(result)
    typer.echo(f"{leaderboard_head()}\n{result['row']}", err=as_json)
    for setting, message in result["refused"].items():
        typer.echo(f"{setting}: {message}", err=True)
    for row in result["results"]:
        if row["forfeits"]:
            typer.echo(f"{row['setting']} v {row['reference']}: forfeited decisions {row['forfeits']}", err=True)


@app.command()
def positions(
    agent: Annotated[str, typer.Argument(help="The agent, by name.")],
    rules: Annotated[str | None, typer.Option("--rules", help="Only positions of this variant.")] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Score an agent on small positions whose best call or card is known (agents/positions.toml)."""
    from pitch_env.app.positions import PositionError, read_positions, score

    with _refusals(PositionError, OSError):
        every = read_positions()
        chosen = [position for position in every if rules in (None, position.rules)]
        if not chosen:
            variants = ", ".join(dict.fromkeys(position.rules for position in every))
            raise PositionError(f"no positions of {rules!r:.80}; there are some of {variants}")
        result = score(agent, chosen, seed)
    if as_json:
        _emit(result)
    for failure in result["failures"]:
        typer.echo(
            f"{failure['name']} ({failure['rules']}): {failure['chosen']}, not {' or '.join(failure['right'])}.\n"
            f"  {failure['why']}",
            err=as_json,
        )
    typer.echo(f"{agent}: {result['right']} of {result['positions']} right, {result['score']:.1%}", err=as_json)


@app.command()
def play(
    rules: RulesOption = "auction_pitch",
    seat: Annotated[int, typer.Option(help="Your seat.")] = 0,
    opponents: Annotated[str, typer.Option(help="Agent of the other sides.")] = "rule",
    partner: Annotated[str | None, typer.Option(help="Agent of your partners; as the opponents if left out.")] = None,
    adviser: Annotated[str, typer.Option(help="Agent that answers hint.")] = "rule",
    seed: Annotated[int | None, typer.Option(help="Decides the deals; drawn if left out.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a game in the terminal against named agents."""
    import secrets

    table = _rules(rules)
    if not 0 <= seat < table.players:
        raise CommandError(f"--seat {seat} is not a seat of 0 to {table.players - 1}")
    seed = secrets.randbelow(2**31) if seed is None else seed
    others = {
        other: _agent(opponents if (other - seat) % table.sides else partner or opponents, table)
        for other in range(table.players)
        if other != seat
    }
    from pitch_env.app.play import GameLeftError, TerminalGame
    from pitch_env.game import Game

    def write(text: str) -> None:
        typer.echo(text, nl=False, err=as_json)

    with _refusals(ValueError):
        game = Game(table, seed)
    terminal = TerminalGame(game, seat, others, _agent(adviser, table), seed, sys.stdin.readline, write)
    try:
        write(f"Seed {seed}.\n")
        terminal.play()
    except (GameLeftError, KeyboardInterrupt):
        write("\nYou have left the game.\n")
    if as_json:
        game = terminal.game
        _emit({
            "seed": seed, "seat": seat, "deals": terminal.num_deals, "scores": game.scores, "debts": game.debts,
            "winner": game.winner, "record": game.record(),
        })  # fmt: skip


@app.command()
def rules(
    name: Annotated[str | None, typer.Argument(help="A variant or a TOML file; auction_pitch if left out.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="A table of all variants instead.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Explain a rule set in plain words, what differs from the base game first."""
    from pitch_env.app.explain import VARIANT_COLUMNS, explain, variant_rows
    from pitch_env.rules import VARIANTS

    if show_list:
        if name is not None:
            raise CommandError("give a name or --list, not both")
        if as_json:
            _emit({variant: rules.to_dict() for variant, rules in VARIANTS.items()})
            return
        _show_table(VARIANT_COLUMNS, variant_rows())
        return
    name = name or "auction_pitch"
    table_rules = _rules(name)
    if as_json:
        _emit(table_rules.to_dict())
    else:
        typer.echo(explain(table_rules, name))


@app.command()
def record(
    out: Annotated[Path, typer.Option(help="The .jsonl file to write, one deal a line.")],
    rules: RulesOption = "auction_pitch",
    agents: Annotated[str, typer.Option(help="One agent, or one a side or one a seat with commas between.")] = "rule",
    games: Annotated[int, typer.Option(min=1, help="Whole games to play.")] = 1,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Let agents play games and write their deal records to a file."""
    table = _rules(rules)
    names = agents.split(",")
    if len(names) not in (1, table.sides, table.players):
        raise CommandError(
            f"--agents {agents}: give 1 agent, {table.sides} (a side each) or {table.players} (a seat each)"
        )
    made = {name: _agent(name, table) for name in names}
    from pitch_env.app.records import record_games

    seats = [made[names[seat % len(names)]] for seat in range(table.players)]
    with _progress() as bar, _refusals(OSError):
        task = bar.add_task("playing", total=games)
        counts = record_games(table, seats, games, out, seed, progress=lambda done: bar.update(task, completed=done))
    result = {"file": str(out), **counts}
    if as_json:
        _emit(result)
    else:
        typer.echo(f"{out}: {counts['games']} games, {counts['deals']} deals, {counts['decisions']} decisions")


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A .jsonl file of deal records.")],
    deal: Annotated[int, typer.Option(min=1, help="Line of the deal to step through.")] = 1,
    show_all: Annotated[bool, typer.Option("--open", help="Show all hands; so it is without --seat.")] = False,
    seat: Annotated[int | None, typer.Option(help="Show what this seat knew.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check every record of a file by replaying it, and step through one deal."""
    if show_all and seat is not None:
        raise CommandError("give --open or --seat, not both")
    from pitch_env.app.records import read_games, step_through
    from pitch_env.game import RecordError

    chosen, decisions, number = None, 0, 0
    with _refusals(RecordError, OSError):
        for number, game in enumerate(read_games(file), 1):
            decisions += len(game.record()["actions"])
            if number == deal:
                chosen = game
    if chosen is None:
        raise CommandError(f"{file} has {number} deals, so none in line {deal}")
    if seat is not None and not 0 <= seat < chosen.rules.players:
        raise CommandError(f"--seat {seat} is not a seat of 0 to {chosen.rules.players - 1}")
    if as_json:
        _emit({"file": str(file), "deals": number, "decisions": decisions, "deal": deal, "record": chosen.record()})
        return
    typer.echo(f"{file}: {number} deals replay as they say. Deal {deal}:\n")
    step_through(chosen, seat, sys.stdin.readline, lambda text: typer.echo(text, nl=False))


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="A .jsonl file of deal records.")],
    out: Annotated[Path, typer.Argument(help="The .parquet file to write.")],
    as_json: JsonOption = False,
) -> None:
    """Write the decisions of a file of deal records as a Parquet table (docs/records.md has its columns)."""
    from pitch_env.app.records import export as write_table
    from pitch_env.game import RecordError

    with _progress() as bar, _refusals(RecordError, OSError):
        task = bar.add_task("deals", total=None)
        counts = write_table(file, out, lambda done: bar.update(task, completed=done))
    if as_json:
        _emit({"file": str(out), **counts})
    else:
        typer.echo(f"{out}: {counts['decisions']} decisions of {counts['deals']} deals")


@app.command()
def bench(
    seconds: Annotated[float, typer.Option(min=0.01, help="How long each row is driven.")] = 2.0,
    as_json: JsonOption = False,
) -> None:
    """Measure decisions per second of everything that plays, beside other people's engines; wants a quiet machine."""
    from pitch_env.app import bench as benchmark

    with _progress() as bar:
        task = bar.add_task("", total=len(benchmark.rows()))
        result = benchmark.run(seconds, lambda name, done: bar.update(task, completed=done, description=name))
    if as_json:
        _emit(result)
    rows = [(name, f"{rate:,.0f}") for name, rate in result["rates"].items()] + list(result["missing"].items())
    _show_table(("one core unless it says else", "decisions/s"), rows, as_json)
    _show_table(("ratio", ""), [(name, f"{ratio:.2f}") for name, ratio in result["ratios"].items()], as_json)
    more = [(f"{row}: {name}", f"{value:,.2f}") for row, of in result["figures"].items() for name, value in of.items()]
    _show_table(("figure", ""), more, as_json)
    about = ", ".join(f"{name} {version}" for name, version in result["versions"].items())
    typer.echo(f"{about}\n{result['machine']}\nTo repeat: {result['command']}", err=as_json)


@app.command()
def verify(
    deals: Annotated[int, typer.Option(min=1, help="Random deals of all variants and of random rules.")] = 20_000,
    seed: SeedOption = 0,
    processes: Annotated[int | None, typer.Option(min=1, help="Processes; one a core if left out.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Play random deals beside the referee, which shares no code with the engine; exit code 1 on a difference."""
    import os

    from pitch_env.app.verify import verify as play_beside_referee

    with _progress() as bar:
        task = bar.add_task("deals", total=deals)
        result = play_beside_referee(
            deals, seed, processes or os.cpu_count() or 1, lambda done: bar.update(task, completed=done)
        )
    if as_json:
        _emit(result)
    typer.echo(f"{result['deals']} deals, {result['differences']} differences", err=as_json)
    for difference in result.get("found", ()):
        typer.echo(difference, err=True)
    if result["differences"]:
        raise typer.Exit(1)


if __name__ == "__main__":
    main()
