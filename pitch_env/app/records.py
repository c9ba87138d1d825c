"""Deal records in files: made by agents that play, checked, stepped through, and exported as a table of decisions.

A file has one deal record (``Game.record``) a line. Files are written under a temporary name and renamed when they
are whole, and read a line at a time.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pitch_env.actions import ACTION_NAMES, NUM_ACTIONS, parse_action
from pitch_env.agent import Agent
from pitch_env.app.play import choose, event_text, position_text, public_lines, result_text
from pitch_env.episode import MAX_DEALS
from pitch_env.game import Game, RecordError
from pitch_env.observation import VIEW, mask_of
from pitch_env.rules import Rules
from pitch_env.seeds import generator

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 8192
"""Decisions that are held in memory, and make one row group of a table."""

COLUMNS = (
    ("deal", "int64", "line of the record in its file, from 0"),
    ("rules", "int16", "which of the rules in the metadata"),
    ("decision", "int16", "number of the decision in its deal, from 0"),
    ("action", "int16", "what the seat did, an action id"),
    ("mask", "int8[79]", "1 for each legal action"),
    ("reward", "float32", "points of the deal: the own side's minus the mean of the others'"),
    ("points", "int32[8]", "change of score in this deal, for each side from the own one on"),
)
"""Columns of a table of decisions: name, type and meaning. Behind them stand the fields of ``VIEW``."""

VIEW_COLUMNS = tuple(name for name in VIEW.names or () if name != "points")
"""Fields of the view that are columns: all but its points, which are zero at any decision."""

METADATA = "pitch.rules"
"""Key of the file's metadata: a JSON list of the rules, each with all fields."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a temporary name beside a path, and renames it to the path when all went well."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def record_games(
    rules: Rules,
    agents: Sequence[Agent],
    num_games: int,
    path: Path,
    seed: int = 0,
    max_deals: int = MAX_DEALS,
    progress: Callable[[int], None] | None = None,
) -> dict[str, int]:
    """Plays games and writes their deal records; returns how many games, deals and decisions there were.

    Args:
        rules: the rules of the table.
        agents: who plays each seat.
        num_games: games, each a function of the seed and its number.
        path: the file to write.
        seed: decides deals and the agents' random numbers.
        max_deals: a game is broken off after so many deals; unskilled play may never end one.
        progress: called after each game with the number of games done.
    """
    deals = decisions = unfinished = 0
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8") as file:
        for number in range(num_games):
            rng = generator(seed, number)
            game = Game(rules, int(rng.integers(2**63)))
            for deal in range(max_deals):
                if deal:
                    game.next_deal()
                while game.seat is not None:
                    game.play(choose(agents[game.seat], game, rng))
                    decisions += 1
                file.write(json.dumps(game.record(), separators=(",", ":")) + "\n")
                deals += 1
                if game.winner is not None:
                    break
            unfinished += game.winner is None
            if progress is not None:
                progress(number + 1)
    return {"games": num_games, "unfinished": unfinished, "deals": deals, "decisions": decisions}


def read_games(path: Path) -> Iterator[Game]:
    """Replays a file, a record at a time, and gives each game at the end of its record.

    Raises:
        RecordError: if a line is no JSON or its record is refused; the message names file and line.
        OSError: if the file cannot be read.
    """
    with path.open(encoding="utf-8") as file:
        try:
            for number, line in enumerate(file, 1):
                yield _replay(line, f"{path}, line {number}")
        except UnicodeDecodeError as error:
            raise RecordError(f"{path} is not UTF-8 text: {error}") from None


def _replay(line: str, where: str) -> Game:
    try:
        return Game.replay(json.loads(line))
    except (json.JSONDecodeError, RecursionError) as error:
        raise RecordError(f"{where}: not JSON: {error}") from None
    except RecordError as error:
        raise RecordError(f"{where}: {error}") from None


def step_through(game: Game, seat: int | None, read: Callable[[], str], write: Callable[[str], None]) -> None:
    """Steps through a replayed deal: Enter goes on, ``b`` goes back, ``q`` or the end of the input leaves.

    Args:
        game: at the end of its record.
        seat: from whose side; None sees all hands.
        read: reads a line, "" at the end of the input.
        write: writes a text, as it is.
    """
    names = game.record()["actions"]
    game = game.copy()
    for _ in names:
        game.undo()
    done = 0
    write(scene(game, seat) + "\n")
    while True:
        write(f"[{done} of {len(names)}] Enter next, b back, q quit> ")
        try:
            word = read()
        except KeyboardInterrupt:
            word = ""
        if not word or word.strip().casefold() in ("q", "quit"):
            write("\n")
            return
        if word.strip().casefold() in ("b", "back"):
            if done:
                game.undo()
                done -= 1
                write(scene(game, seat) + "\n")
            else:
                write("This is the beginning.\n")
        elif word.strip():
            write(f"{word.strip()!r:.80}: press Enter, or type b or q.\n")
        elif done == len(names):
            write("This is the end.\n")
        else:
            write(_do(game, names[done], seat) + "\n" + scene(game, seat) + "\n")
            done += 1


def _do(game: Game, name: str, seat: int | None) -> str:
    """Does an action, and returns what was seen of it."""
    mover = game.seat
    assert mover is not None
    viewer = mover if seat is None else seat
    before = game.view(viewer)
    game.play(name)
    return "\n→ " + event_text(parse_action(name), mover, seat, before, game.view(viewer))


def scene(game: Game, seat: int | None) -> str:
    """Returns a position in lines of text, from a seat's side or (None) with all hands open."""
    if seat is not None:
        text = position_text(game.view(seat), game.rules)
    else:
        lines = public_lines(game.view(0), game.rules, None)
        lines += [f"Seat {other}: {game.hand(other) or 'empty'}" for other in range(game.rules.players)]
        if game.seat is not None:
            lines.append(f"Seat {game.seat} may: {', '.join(game.legal_names())}")
        text = "\n".join(lines)
    if game.phase == "over" and game.deal_result is not None:
        text += "\n" + result_text(game.deal_result, game.rules)
    return text


def decisions_of(game: Game) -> tuple[NDArray[np.void], NDArray[np.int16]]:
    """Returns views (D,) and actions (D,) of the decisions of a finished deal, in order.

    The game is taken back to its start.
    """
    names = game.record()["actions"]
    views = np.zeros(len(names), VIEW)
    for k in reversed(range(len(names))):
        game.undo()
        assert game.seat is not None
        views[k] = game.view(game.seat)
    return views, np.array([ACTION_NAMES.index(name) for name in names], np.int16)


def export(path: Path, out: Path, progress: Callable[[int], None] | None = None) -> dict[str, int]:
    """Writes the decisions of a file of finished deals as a Parquet table, in bounded memory.

    Args:
        path: the file of records.
        out: the table.
        progress: called after each deal with the number of deals done.

    Returns:
        How many deals and decisions there were.

    Raises:
        RecordError: as for :func:`read_games`, or if a deal is not over.
    """
    import pyarrow.parquet as pq

    table = _Table()
    with replacing(out) as temporary, pq.ParquetWriter(temporary, schema(), compression="zstd") as writer:
        for number, game in enumerate(read_games(path)):
            if game.phase != "over":
                raise RecordError(f"{path}, line {number + 1}: the deal is not over, so it has no points")
            table.add(number, game)
            if table.num >= BATCH:
                writer.write_batch(table.take())
            if progress is not None:
                progress(number + 1)
        if table.num:
            writer.write_batch(table.take())
        writer.add_key_value_metadata({METADATA: json.dumps([rules.to_dict() for rules in table.rules])})
    return {"deals": table.deals, "decisions": table.decisions}


class _Table:
    """Decisions on their way to a table.

    Attributes:
        num: decisions held.
        deals: deals added so far.
        decisions: decisions added so far.
        rules: the rules met, each once.
    """

    def __init__(self) -> None:
        self.num = self.deals = self.decisions = 0
        self.rules: list[Rules] = []
        self._views: list[NDArray[np.void]] = []
        self._others: list[dict[str, NDArray[Any]]] = []

    def add(self, number: int, game: Game) -> None:
        """Adds the decisions of a finished deal, the ``number``-th of its file."""
        if game.rules not in self.rules:
            self.rules.append(game.rules)
        assert game.deal_result is not None
        points = np.zeros(8, np.int32)
        sides = game.rules.sides
        points[:sides] = game.deal_result.points
        views, actions = decisions_of(game)
        size = len(actions)
        order = (views["seat"][:, None] + np.arange(sides)) % sides
        relative = np.zeros((size, 8), np.int32)
        relative[:, :sides] = points[order]
        self._others.append({
            "deal": np.full(size, number, np.int64),
            "rules": np.full(size, self.rules.index(game.rules), np.int16),
            "decision": np.arange(size, dtype=np.int16),
            "action": actions,
            "mask": np.array([mask_of(view) for view in views], np.int8).reshape(size, NUM_ACTIONS),
            "reward": (relative[:, 0] - relative[:, 1:].sum(axis=1) / (sides - 1)).astype(np.float32),
            "points": relative,
        })  # fmt: skip
        self._views.append(views)
        self.num += size
        self.deals += 1
        self.decisions += size

    def take(self) -> "pa.RecordBatch":
        """Returns all that is held, and holds nothing more."""
        import pyarrow as pa

        views = np.concatenate(self._views)
        columns = {name: np.concatenate([part[name] for part in self._others]) for name, _, _ in COLUMNS}
        columns |= {name: np.ascontiguousarray(views[name]) for name in VIEW_COLUMNS}
        self.num, self._views, self._others = 0, [], []
        return pa.record_batch([_column(values) for values in columns.values()], schema=schema())


def _column(values: NDArray[Any]) -> "pa.Array":
    import pyarrow as pa

    if values.ndim == 1:
        return pa.array(values)
    return pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), values.shape[1])


def column_types() -> dict[str, str]:
    """Returns the type of each column of a table of decisions, in order, as in ``int8[79]``."""
    types = {name: kind for name, kind, _ in COLUMNS}
    for name in VIEW_COLUMNS:
        field = VIEW[name]
        types[name] = field.base.name + (f"[{field.shape[0]}]" if field.shape else "")
    return types


def schema() -> "pa.Schema":
    """Returns the schema of a table of decisions."""
    import pyarrow as pa

    fields = []
    for name, kind in column_types().items():
        base, _, size = kind.rstrip("]").partition("[")
        item = pa.from_numpy_dtype(np.dtype(base))
        fields.append(pa.field(name, pa.list_(item, int(size)) if size else item, nullable=False))
    return pa.schema(fields)


def views_of(batch: "pa.RecordBatch | pa.Table") -> NDArray[np.void]:
    """Returns the views (N,) of rows of a table of decisions, as they were when the decisions were made."""
    views = np.zeros(batch.num_rows, VIEW)
    for name in VIEW_COLUMNS:
        column = batch.column(name)
        column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
        values = column.flatten() if VIEW[name].shape else column
        views[name] = np.asarray(values).reshape(batch.num_rows, *VIEW[name].shape)
    return views


def rules_of(path: Path) -> list[Rules]:
    """Returns the rules that the ``rules`` column of a table of decisions counts."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path).metadata
    return [Rules.from_dict(fields) for fields in json.loads(metadata[METADATA.encode()])]
