"""Pictures of learning curves."""

import json

import pytest

pytest.importorskip("matplotlib")

from training import curves
from training.curves import CurveError, draw_curves, main


def run_folder(path, gain, **more):
    curve = [
        {
            "frames": k * 1000,
            "seconds": 2.0 * k,
            "mean": gain * k,
            "low": gain * k - 0.1,
            "high": gain * k + 0.1,
            **more,
        }
        for k in range(1, 4)
    ]
    path.mkdir()
    (path / "result.json").write_text(json.dumps({"curve": curve, "opponent": "rule"}))
    return path


def test_several_runs_are_drawn_over_each_other(tmp_path, monkeypatch):
    ours = run_folder(tmp_path / "ours", 0.2, entropy=0.9, made=0.7, bids={"2": 0.5, "smudge": 0.5})
    theirs = run_folder(tmp_path / "theirs", 0.1)
    figures = []
    monkeypatch.setattr("training.report.png_of", lambda figure: figures.append(figure) or b"png")
    main([ours, theirs], tmp_path / "both.png")
    assert (tmp_path / "both.png").read_bytes() == b"png"
    frames, seconds, entropy, made, bids, _ = figures[0].axes
    assert [line.get_ydata() for line in frames.lines] == [
        pytest.approx([0.2, 0.4, 0.6]),
        pytest.approx([0.1, 0.2, 0.3]),
    ]
    assert list(seconds.lines[0].get_xdata()) == pytest.approx([2 / 60, 4 / 60, 6 / 60])
    assert list(entropy.lines[0].get_ydata()) == [0.9, 0.9, 0.9]
    assert list(made.lines[1].get_ydata()) == []
    assert [line.get_label() for line in bids.lines] == ["2", "smudge"]
    assert frames.get_title() == "points a deal over rule"


def test_a_picture_of_a_run_is_a_png(tmp_path):
    draw_curves([run_folder(tmp_path / "one", 0.1)], tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one", "one.png"]


def test_a_run_without_a_curve_is_refused_by_its_file(tmp_path):
    with pytest.raises(CurveError, match=r"none/result\.json: No such file"):
        draw_curves([tmp_path / "none"], tmp_path / "a.png")
    (tmp_path / "result.json").write_text('{"curve": [{"frames": 1}]}')
    with pytest.raises(CurveError, match="has no curve of frames, seconds"):
        curves.read_run(tmp_path)
