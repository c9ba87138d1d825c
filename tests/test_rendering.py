"""Text, SVG and pixels of every variant; what a seat must not see is not drawn."""

from __future__ import annotations

import builtins
import re
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import render_test

from pitch_env import VARIANTS, Game, variant
from pitch_env.actions import parse_action
from pitch_env.aec import env, raw_env
from pitch_env.cards import card_names
from pitch_env.rendering import as_image, as_svg, as_text, render, scene_of_state, scene_of_view, suit_outline
from pitch_env.single import SeatEnv
from pitch_env.vector import PitchVectorEnv

HANDS = ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"]
CARDS = "AH 4H 5H 6H KH JH QH 8H KS 9S TD 4S 5C TC 8C 3H AD 6D TS QD JC 2S 7C 4C"
WIDE = variant("high_low_jack", players=8, decks=2, widow_size=2, widow_to="pitcher_after_first_trick", turn_up=True)
TABLES = {**VARIANTS, "wide": WIDE}


def worked_deal(num_cards):
    game = Game.from_deal("auction_pitch", HANDS, dealer=3, scores=[7, -2])
    for name in ["bid 3", "pass", "pass", "pass", *CARDS.split()[:num_cards]]:
        game.play(name)
    return game


def states_of(game):
    return np.array([game.state()])


def positions(rules, seed=3):
    """Yields a game at every point of a random deal."""
    rng = np.random.default_rng(seed)
    game = Game(rules, seed=seed)
    yield game
    while game.phase != "over":
        game.play(int(rng.choice(game.legal_actions())))
        yield game


def test_the_worked_deal_in_words_from_one_side():
    text = as_text(scene_of_view(worked_deal(10).view(0), VARIANTS["auction_pitch"]))
    assert text == (
        "auction_pitch: play, H trumps, seat 0 bids 3, seat 2 to act\n"
        "\n"
        "  P seat 0  bid 3     5C 6D 2S\n"
        "    seat 1  pass      ?? ?? ??\n"
        ">   seat 2  pass      ?? ?? ?? ??\n"
        " D  seat 3  pass      ?? ?? ?? ??\n"
        "\n"
        "trick 1: 0 AH  1 4H  2 5H  3 6H  to seat 0\n"
        "trick 2: 0 KH  1 JH  2 QH  3 8H  to seat 0\n"
        "trick 3: 0 KS  1 9S\n"
        "\n"
        "side 0: 7; 2 tricks, Game 10\n"
        "side 1: -2 (owes 2); 0 tricks, Game 0"
    )


def test_12_the_end_of_the_worked_deal_says_what_each_side_scored():
    game = worked_deal(24)
    text = as_text(scene_of_state(states_of(game), game.rules))
    assert text.splitlines()[-3:] == [
        "side 0: 4 (owes 3); 3 tricks, Game 23",
        "side 1: 0; 3 tricks, Game 27",
        "deal over: side 0 -3, side 1 +2",
    ]
    svg = as_svg(scene_of_state(states_of(game), game.rules))
    assert [f">{number}<" in svg for number in ("–3", "+2")] == [True, True]


def test_9_4_scores_that_count_down_are_shown_as_what_is_left():
    game = Game.from_deal("nine_card", Game("nine_card", seed=1).record()["hands"], dealer=0, scores=[4, -2])
    text = as_text(scene_of_state(states_of(game), game.rules))
    assert "side 0: 17 to go" in text
    assert "side 1: 23 to go (owes 2)" in text


@pytest.mark.parametrize("name", TABLES)
def test_every_position_of_a_deal_can_be_drawn_open_and_from_every_side(name):
    rules = TABLES[name]
    for game in positions(rules):
        states = states_of(game)
        scenes = [scene_of_state(states, rules)] + [scene_of_view(game.view(seat), rules) for seat in range(2)]
        for scene in scenes:
            assert f"seat {game.seat} to act" in as_text(scene) or game.phase in ("exchange", "over")
            ElementTree.fromstring(as_svg(scene))


@pytest.mark.parametrize("name", TABLES)
def test_everything_is_drawn_within_the_paper(name):
    for number, game in enumerate(positions(TABLES[name])):
        if number % 7 and game.phase != "over":
            continue
        root = ElementTree.fromstring(as_svg(scene_of_state(states_of(game), game.rules)))
        width, height = float(root.get("width")), float(root.get("height"))
        for shape in root:
            if shape.tag.endswith("rect"):
                assert float(shape.get("x")) >= 0
                assert float(shape.get("y")) >= 0
                assert float(shape.get("x")) + float(shape.get("width")) <= width
                assert float(shape.get("y")) + float(shape.get("height")) <= height
            elif shape.tag.endswith("text"):
                assert 0 <= float(shape.get("x")) <= width
                assert 0 <= float(shape.get("y")) <= height


@pytest.mark.parametrize("name", TABLES)
def test_a_drawing_from_one_side_names_no_card_that_the_seat_does_not_know(name):
    rules = TABLES[name]
    for game in positions(rules, seed=5):
        for seat in range(rules.players):
            text = as_text(scene_of_view(game.view(seat), rules))
            lines = {int(line.split("seat ")[1][0]): line[20:] for line in text.splitlines() if line[4:8] == "seat"}
            for other in range(rules.players):
                shown = re.findall(r"[2-9TJQKA][CDHS]|X[12]", lines[other])
                assert shown == [] if other != seat else sorted(shown) == sorted(game.hand(seat).split())


def test_an_open_drawing_shows_every_hand_pile_and_the_widow():
    game = Game("ten_point_five_handed", seed=2)
    text = as_text(scene_of_state(states_of(game), game.rules))
    shown = re.findall(r"[2-9TJQKA][CDHS]|X[12]", text)
    assert len(shown) == 54
    game = Game("fish", seed=2)
    scene = scene_of_state(states_of(game), game.rules)
    piles = game.record()["face_down"]
    assert [card_names(scene.face_down[seat]) for seat in range(4)] == piles


def test_pixels_are_what_the_svg_says_in_size_and_colour():
    game = worked_deal(10)
    scene = scene_of_state(states_of(game), game.rules)
    root = ElementTree.fromstring(as_svg(scene))
    image = as_image(scene)
    assert image.dtype == np.uint8
    assert image.shape == (int(root.get("height")), int(root.get("width")), 3)
    assert as_image(scene, scale=0.5).shape == (image.shape[0] // 2, image.shape[1] // 2, 3)
    heart = image[image.shape[0] // 2 - 8, 350].astype(int)
    assert heart[0] > 150 > 90 > max(heart[1:])
    assert not np.array_equal(image, as_image(scene_of_view(game.view(0), game.rules)))
    assert np.array_equal(image, as_image(scene))


def test_suit_signs_fit_their_square():
    for suit in range(4):
        points = [point for outline in suit_outline(suit) for point in outline]
        assert max(max(abs(x), abs(y)) for x, y in points) < 0.6
        assert min(x for x, _ in points) == pytest.approx(-max(x for x, _ in points), abs=1e-6)


def test_without_pillow_pixels_are_refused_with_the_name_of_the_extra(monkeypatch):
    real = builtins.__import__

    def no_pillow(name, *args, **kwargs):
        if name.startswith("PIL"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", no_pillow)
    states = states_of(Game(seed=1))
    assert render(states, VARIANTS["auction_pitch"], "svg", None).startswith("<svg")
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=r"pitch-env\[render\]"):
        render(states, VARIANTS["auction_pitch"], "rgb_array", None)


# In the environments


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", VARIANTS)
def test_pettingzoo_render(name, capsys):
    render_test(
        lambda render_mode: env(rules=name, render_mode=render_mode),
        custom_tests={"svg": lambda drawn: drawn.startswith("<svg"), "ansi": lambda drawn: drawn.startswith(name)},
    )
    assert f"{name}: " in capsys.readouterr().out


def test_human_mode_writes_the_table_after_every_turn(capsys):
    table = raw_env(render_mode="human")
    table.reset(seed=1)
    for _ in range(3):
        table.step(int(table.infos[table.agent_selection]["action_mask"].argmax()))
    assert capsys.readouterr().out.count("auction_pitch: ") == 4


def test_the_final_position_is_drawn():
    table = raw_env(render_mode="ansi")
    table.reset(options={"deal": {"hands": HANDS, "dealer": 3}})
    for name in ["bid 3", "pass", "pass", "pass", *CARDS.split()]:
        table.step(parse_action(name))
    assert table.render().splitlines()[-1] == "deal over: side 0 -3, side 1 +2"


def test_a_seat_sees_its_own_side_unless_it_is_told_else():
    for is_open, hidden in ((False, 18), (True, 0)):
        single = SeatEnv(opponents="random", render_mode="ansi", render_open=is_open, seat=2)
        single.reset(options={"dealer": 1})
        assert single.render().count("??") == hidden
    table = raw_env(render_mode="ansi", render_seat=1)
    table.reset(seed=1)
    assert table.render().count("??") == 18


def test_a_vector_environment_draws_every_table():
    tables = PitchVectorEnv(3, opponents="random", render_mode="rgb_array")
    tables.reset(seed=1)
    frames = tables.render()
    assert len(frames) == 3
    assert not np.array_equal(frames[0], frames[1])


def test_without_a_render_mode_nothing_is_drawn():
    table = raw_env()
    table.reset(seed=1)
    assert table.render() is None
