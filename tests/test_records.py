"""Deal records in files: what is written is checked, stepped through and exported."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from pitch_env import Game, RecordError, variant
from pitch_env.app import records
from pitch_env.app.play import legal_actions
from pitch_env.observation import VIEW, mask_of
from pitch_env.rules import VARIANTS

DOCS = (Path(__file__).parent.parent / "docs" / "records.md").read_text(encoding="utf-8")


class Uniform:
    """Plays uniformly random legal actions."""

    def act(self, views, rng):
        return np.array([rng.choice(legal_actions(view)) for view in views])


def recorded(path, name="auction_pitch", num_games=2, seed=0, **fields):
    """Writes random games of one to three deals, and returns their counts."""
    rules = variant(name, target=1, out="first_to_target", **fields)
    return records.record_games(rules, [Uniform()] * rules.players, num_games, path, seed, max_deals=3)


def stepped(game, words, seat=None):
    shown = []
    lines = iter([f"{word}\n" for word in words])
    records.step_through(game, seat, lambda: next(lines, ""), shown.append)
    return "".join(shown)


@pytest.mark.parametrize("name", VARIANTS)
def test_every_record_of_every_variant_replays_and_exports(tmp_path, name):
    pq = pytest.importorskip("pyarrow.parquet")
    path, out = tmp_path / "games.jsonl", tmp_path / "out.parquet"
    counts = recorded(path, name)
    games = list(records.read_games(path))
    assert len(games) == counts["deals"]
    assert [game.winner is not None for game in games].count(True) == 2 - counts["unfinished"]
    assert sum(len(game.record()["actions"]) for game in games) == counts["decisions"]
    assert records.export(path, out) == {"deals": counts["deals"], "decisions": counts["decisions"]}
    table = pq.read_table(out)
    assert table.num_rows == counts["decisions"]
    assert records.rules_of(out) == [games[0].rules]
    check_rows(table, games)


def check_rows(table, games):
    """Replays each deal beside its rows."""
    views = records.views_of(table)
    row = 0
    for number, game in enumerate(games):
        actions = game.record()["actions"]
        start = game.copy()
        for _ in actions:
            start.undo()
        for k, name in enumerate(actions):
            view = start.view(start.seat)
            assert views[row] == view
            assert table["deal"][row].as_py() == number
            assert table["decision"][row].as_py() == k
            assert table["mask"][row].as_py() == mask_of(view).tolist()
            action = table["action"][row].as_py()
            assert action in start.legal_actions()
            start.play(action)
            assert start.record()["actions"][-1] == name
            points, side = game.deal_result.points, int(view["seat"]) % game.rules.sides
            ordered = points[side:] + points[:side]
            assert table["points"][row].as_py()[: len(points)] == ordered
            assert table["reward"][row].as_py() == pytest.approx(ordered[0] - np.mean(ordered[1:]), abs=1e-5)
            row += 1
    assert row == len(views)


def test_the_same_seed_writes_the_same_bytes_and_another_does_not(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        recorded(path, seed=seed)
    first, second, third = (path.read_bytes() for path in paths)
    assert first == second
    assert first != third


def test_a_table_is_written_in_row_groups_of_bounded_size(tmp_path, monkeypatch):
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(records, "BATCH", 64)
    counts = recorded(tmp_path / "games.jsonl", num_games=5)
    records.export(tmp_path / "games.jsonl", tmp_path / "out.parquet")
    metadata = pq.read_metadata(tmp_path / "out.parquet")
    sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
    assert sum(sizes) == counts["decisions"]
    assert len(sizes) > 1
    assert max(sizes) < 64 + 28


def test_a_file_of_several_rules_counts_them(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    recorded(tmp_path / "a", "kuhn_pitch")
    recorded(tmp_path / "b", "cutthroat")
    both = tmp_path / "both.jsonl"
    both.write_text((tmp_path / "a").read_text() + (tmp_path / "b").read_text())
    records.export(both, tmp_path / "out.parquet")
    assert [rules.players for rules in records.rules_of(tmp_path / "out.parquet")] == [2, 3]
    assert set(pq.read_table(tmp_path / "out.parquet")["rules"].to_pylist()) == {0, 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("", "not JSON"),
        ("[1]", "not a deal record"),
        ('{"format": "pitch-deal/2"}', "not a deal record"),
    ],
)
def test_a_bad_line_is_refused_with_its_number(tmp_path, line, message):
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(Game("auction_pitch").record()) + "\n" + line + "\n")
    with pytest.raises(RecordError, match=rf"games\.jsonl, line 2: {message}"):
        list(records.read_games(path))


def test_a_record_with_another_result_is_refused_with_its_line(tmp_path):
    path = tmp_path / "games.jsonl"
    recorded(path, num_games=1)
    record = json.loads(path.read_text().splitlines()[0])
    record["result"]["points"][0] += 1
    path.write_text(json.dumps(record) + "\n")
    with pytest.raises(RecordError, match=r"line 1: after action .* result points"):
        list(records.read_games(path))


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RecordError, match="not UTF-8"):
        list(records.read_games(path))


def test_an_unfinished_deal_is_not_exported_and_leaves_no_file(tmp_path):
    pytest.importorskip("pyarrow")
    path, out = tmp_path / "games.jsonl", tmp_path / "out.parquet"
    path.write_text(json.dumps(Game("auction_pitch").record()) + "\n")
    with pytest.raises(RecordError, match="line 1: the deal is not over"):
        records.export(path, out)
    assert sorted(tmp_path.iterdir()) == [path]


def test_a_file_is_whole_or_not_there(tmp_path):
    path = tmp_path / "games.jsonl"
    path.write_text("kept")

    def write_half():
        with records.replacing(path) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_text() == "kept"
    assert sorted(tmp_path.iterdir()) == [path]


def test_stepping_goes_on_and_back_and_shows_the_end(tmp_path):
    recorded(tmp_path / "games.jsonl", num_games=1)
    game = next(records.read_games(tmp_path / "games.jsonl"))
    actions = game.record()["actions"]
    shown = stepped(game, ["b", "frog", "", "b"] + [""] * len(actions) + ["", "q"])
    assert "This is the beginning." in shown
    assert "'frog': press Enter" in shown
    assert "This is the end." in shown
    assert f"[{len(actions)} of {len(actions)}]" in shown
    assert shown.count("→ ") == len(actions) + 1
    assert records.result_text(game.deal_result, game.rules) in shown
    assert all(hand in shown for hand in game.record()["hands"][0].split())
    assert game.record()["actions"] == actions


def test_stepping_leaves_at_the_end_of_the_input():
    game = Game("auction_pitch")
    game.play(game.legal_actions()[0])
    assert stepped(game, [""]).rstrip().endswith("quit>")


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma", "draw_pitch"])
def test_from_a_seat_only_what_it_saw_is_shown(tmp_path, name):
    """Hands of others may be swapped before anybody has acted."""
    record = Game(variant(name), seed=3).record()
    hands = record["hands"]
    other = dict(record, hands=[hands[0], hands[3], hands[2], hands[1]])
    texts = [records.scene(Game.replay(one), 0) for one in (record, other)]
    assert texts[0] == texts[1]
    opened = [records.scene(Game.replay(one), None) for one in (record, other)]
    assert opened[0] != opened[1]


def test_the_schema_page_lists_every_column_with_its_type():
    rows = dict(re.findall(r"^\| `(\w+)` \| (\S+) \|", DOCS.split("## The table of decisions")[1], re.MULTILINE))
    assert rows == records.column_types()
    assert list(rows) == list(records.column_types())
    for name, kind, meaning in records.COLUMNS:
        assert f"| `{name}` | {kind} | {meaning} |" in DOCS


def test_the_schema_page_lists_every_key_of_a_record():
    section = DOCS.split("## The table of decisions")[0]
    listed = {
        name
        for line in section.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert listed == set(Game("auction_pitch").record())


def test_columns_and_view_fields_do_not_share_a_name():
    names = [name for name, _, _ in records.COLUMNS]
    assert not set(names) & set(records.VIEW_COLUMNS)
    assert set(records.VIEW_COLUMNS) | {"points"} == set(VIEW.names)


def test_the_torch_dataset_of_the_page_reads_a_table(tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("pyarrow")
    counts = recorded(tmp_path / "games.jsonl", num_games=3)
    records.export(tmp_path / "games.jsonl", tmp_path / "out.parquet")
    names = {}
    exec(re.search(r"```python\n(.*?)```", DOCS, re.DOTALL)[1], names)
    loader = torch.utils.data.DataLoader(names["Decisions"](tmp_path / "out.parquet"), batch_size=16)
    seen = 0
    for observations, masks, actions, rewards in loader:
        assert observations.shape[1] == names["layout_of"](VARIANTS["auction_pitch"]).size
        assert masks.gather(1, actions.long()[:, None]).min() == 1
        assert rewards.abs().max() > 0
        seen += len(actions)
    assert seen == counts["decisions"]
