"""Golden transcripts: one readable deal of every variant under ``tests/transcripts``, replayed word for word.

``python -m tests.test_transcripts --write NAME SEED ACTION ...`` deals a new one, which may begin with given actions;
``--write NAME`` plays the old deal and actions again, for a change of form. Read it against the rulebook before it is
committed.
"""

import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, Rules
from pitch_env.agent import make_agent
from pitch_env.cards import card_name

FOLDER = Path(__file__).parent / "transcripts"
BASE = VARIANTS["auction_pitch"].to_dict()


# What a transcript says


def render(name: str, game: Game, actions: list[str]) -> str:
    """Plays actions in a fresh deal of a variant and tells what happens."""
    dealt = game.record()
    lines = [name, "", "rules", *rule_lines(game.rules), "", "deal", *deal_lines(dealt)]
    phase, num_plays = "", 0
    for action in actions:
        if game.phase != phase:
            phase = game.phase
            lines += ["", phase]
            if phase == "play" and num_plays == 0 and game.rules.exchange != "none":
                lines += [f"  seat {seat} holds {game.hand(seat)}" for seat in range(game.rules.players)]
        lines += decision(game, action)
        now = int(game.state()["num_plays"])
        if now > num_plays and now % game.rules.players == 0:
            lines.append(f"  trick {now // game.rules.players} to seat {int(game.state()['best_seat'])}")
        num_plays = now
    return "\n".join([*lines, "", "result", *result_lines(game)]) + "\n"


def rule_lines(rules: Rules) -> list[str]:
    """Returns the fields that differ from Auction Pitch."""
    differences = {field: value for field, value in rules.to_dict().items() if value != BASE[field]}
    return [f"  {field} = {value}" for field, value in differences.items()] or ["  as auction_pitch"]


def deal_lines(record: dict[str, Any]) -> list[str]:
    """Returns the deal, a pile a line."""
    lines = [f"  dealer {record['dealer']}"]
    lines += [f"  {name} {' '.join(map(str, record[name]))}" for name in ("scores", "debts")]
    lines += [f"  seat {seat}: {hand}" for seat, hand in enumerate(record["hands"])]
    lines += [f"  face down {seat}: {pile}" for seat, pile in enumerate(record["face_down"]) if pile]
    return lines + [f"  {name}: {record[name]}" for name in ("widow", "turn_up", "stock") if record[name]]


def decision(game: Game, action: str) -> list[str]:
    """Plays an action; returns who held what, what was legal, what was chosen, and what came of it."""
    seat = game.seat
    num_reshuffles = len(game.record()["reshuffles"])
    line = f"  seat {seat} [{game.hand(seat)}] {', '.join(game.legal_names())} -> {action}"
    game.play(action)
    lines = [line]
    if action == "blind":
        state = game.state()
        lines.append(f"    turns up {card_name(state['plays'][state['num_plays'] - 1])}")
    return lines + [f"    discards become the stock: {cards}" for cards in game.record()["reshuffles"][num_reshuffles:]]


def result_lines(game: Game) -> list[str]:
    """Returns the result with its items and the score sheet."""
    result = game.deal_result
    assert result is not None
    made = {True: "made", False: "failed", None: "void"}[result.made]
    lines = [f"  pitcher {result.pitcher}, bid {result.bid}, trump {result.trump}: {made}"]
    for side, items in enumerate(result.items):
        taken = ", ".join(f"{item} {points}" for item, points in items.items()) or "nothing"
        entered, owed = result.sheet[side]
        lines.append(
            f"  side {side} took {taken}: points {result.points[side]:+}, score {result.scores[side]}, "
            f"sheet {entered} entered, {owed} owed"
        )
    return [*lines, f"  winner {result.winner}"]


# Reading and writing


def read(name: str) -> tuple[Game, list[str]]:
    """Returns the deal and the actions of a transcript."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")

    def piles(label: str) -> list[str]:
        return re.findall(rf"^  {label}: (.*)$", text, re.M)

    def numbers(label: str) -> list[int]:
        return [int(word) for word in re.search(rf"^  {label} (.*)$", text, re.M)[1].split()]

    single = {label: "".join(piles(label)) for label in ("widow", "turn_up", "stock")}
    game = Game.from_deal(
        VARIANTS[name], piles(r"seat \d+"), numbers("dealer")[0], numbers("scores"), numbers("debts"),
        piles(r"face down \d+"), **single,
    )  # fmt: skip
    return game, re.findall(r" -> (.*)$", text, re.M)


def new_deal(name: str, seed: int, opening: list[str]) -> tuple[Game, list[str]]:
    """Deals, and plays the opening, then as the rule agent does, now and then something else."""
    rng = random.Random(seed)
    rules = VARIANTS[name]
    dealt = Game(rules, seed).record()
    piles = {pile: dealt[pile] for pile in ("hands", "dealer", "face_down", "widow", "turn_up", "stock")}
    scores = [rng.randint(-4, rules.target - 1) if rng.random() < 0.7 else 0 for _ in range(rules.sides)]
    agent, agent_rng = make_agent("rule", rules), np.random.default_rng(seed)
    game = Game.from_deal(rules, scores=scores, **piles)
    for action in opening:
        game.play(action)
    while game.seat is not None:
        choice = int(agent.act(np.array([game.view(game.seat)]), agent_rng)[0])
        game.play(rng.choice(game.legal_actions()) if rng.random() < 0.1 else choice)
    return Game.from_deal(rules, scores=scores, **piles), game.record()["actions"]


def write(name: str, seed: int | None, opening: list[str]) -> None:
    """Writes a transcript."""
    game, actions = read(name) if seed is None else new_deal(name, seed, opening)
    (FOLDER / f"{name}.txt").write_text(render(name, game, actions), encoding="utf-8")


# Tests


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_has_a_transcript_that_still_holds(name: str):
    assert (FOLDER / f"{name}.txt").exists(), f"write one: python -m tests.test_transcripts --write {name} SEED"
    game, actions = read(name)
    assert render(name, game, actions) == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert game.phase == "over"


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_every_file_in_the_folder_is_a_transcript_of_a_variant(path: Path):
    assert path.suffix == ".txt"
    assert path.stem in VARIANTS
    assert path.read_text(encoding="utf-8").startswith(path.stem + "\n")


if __name__ == "__main__":
    _, option, variant_name, *given = sys.argv
    assert option == "--write"
    write(variant_name, int(given[0]) if given else None, given[1:])
