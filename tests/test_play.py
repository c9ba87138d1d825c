"""A game in the terminal: what is typed, what is shown, and that nothing hidden is."""

import subprocess
import sys

import numpy as np
import pytest

from pitch_env import VARIANTS, Game, variant
from pitch_env.app.play import GameLeftError, TerminalGame, hand_text, legal_actions, position_text, sheet_text


class Uniform:
    """Plays uniformly random legal actions."""

    def act(self, views, rng):
        return np.array([rng.choice(legal_actions(view)) for view in views])


class Player:
    """Types what a script says, then random legal actions; keeps what was shown."""

    def __init__(self, rules, script=(), seed=0, seat=0, play_on=False):
        others = {other: Uniform() for other in range(rules.players) if other != seat}
        self.script = list(script)
        self.rng = np.random.default_rng(seed)
        self.play_on = play_on
        self.shown = ""
        self.num_read = 0
        self.terminal = TerminalGame(Game(rules, seed), seat, others, Uniform(), seed, self.read, self.write)

    def read(self):
        if self.script:
            return self.script.pop(0) + "\n"
        self.num_read += 1
        if not self.play_on or self.num_read > 2_000:
            return ""
        names = self.terminal.game.legal_names()
        return (names[self.rng.integers(len(names))] if names else "") + "\n"

    def write(self, text):
        self.shown += text

    def run(self):
        try:
            self.terminal.play()
        except GameLeftError:
            return False
        return True


@pytest.mark.parametrize("name", VARIANTS)
def test_a_game_of_every_variant_is_played_to_its_end(name):
    # Random players lose their bids: only defenders get anywhere.
    player = Player(variant(name, target=1, out="first_to_target"), seed=3, play_on=True)
    assert player.run()
    game = player.terminal.game
    assert game.winner is not None
    assert f"Side {game.winner} wins the game" in player.shown
    assert player.shown.count("New deal") == player.terminal.num_deals


def test_bad_input_asks_again_and_says_what_is_legal():
    player = Player(variant("auction_pitch"), ["frog", "", "AH AH", "bid 9", "quit"], seed=5)
    before = player.terminal.game.record()["actions"]
    assert not player.run()
    assert "'frog' is not legal now. Legal: pass, bid 2, bid 3, bid 4, smudge." in player.shown
    assert player.shown.count("is not legal now") == 3
    assert len(player.terminal.game.record()["actions"]) - len(before) <= 4  # agents before the player only


def test_actions_are_taken_in_any_case_and_told():
    player = Player(variant("auction_pitch"), ["  BID   2 "], seed=5)
    player.run()
    assert "you: bid 2" in player.shown


def test_undo_goes_back_to_the_last_own_decision_and_no_further_than_the_first():
    player = Player(variant("auction_pitch"), ["undo", "pass", "undo"], seed=5)
    player.run()
    assert player.shown.count("There is nothing to undo.") == 1
    assert player.shown.count("Taken back.") == 1
    game = player.terminal.game
    assert game.phase == "auction"
    assert game.seat == 0
    assert len(game.record()["actions"]) == (0 - game.dealer - 1) % 4


def test_undo_crosses_the_end_of_a_deal():
    rules = variant("kuhn_pitch")
    player = Player(rules, seed=1, play_on=True)
    while player.terminal.game.phase != "over":  # to the first result
        player.terminal.game.play(player.terminal.game.legal_actions()[0])
    player.play_on, player.script = False, ["", "undo"]
    player.run()
    assert "Taken back." in player.shown
    assert player.terminal.num_deals == 0


def test_hint_is_a_legal_action_and_does_nothing():
    player = Player(variant("auction_pitch"), ["hint", "hint", "quit"], seed=5)
    player.run()
    hints = [line.partition("Hint: ")[2] for line in player.shown.splitlines() if "Hint: " in line]
    assert len(hints) == 2
    assert set(hints) <= set(player.terminal.game.legal_names())
    assert player.terminal.game.seat == 0


def test_ctrl_c_and_the_end_of_input_leave():
    player = Player(variant("auction_pitch"), seed=5)
    assert not player.run()

    def interrupt():
        raise KeyboardInterrupt

    player = Player(variant("auction_pitch"), seed=5)
    player.terminal._read = interrupt
    assert not player.run()


@pytest.mark.parametrize("name", ["auction_pitch", "oklahoma", "fish", "draw_pitch", "pitch_in_auction"])
def test_what_is_shown_does_not_depend_on_hidden_cards(name):
    rules = variant(name)
    for seed in range(5):
        game = Game(rules, seed)
        record = game.record()
        swapped = dict(record, hands=[record["hands"][0], record["hands"][3], record["hands"][2], record["hands"][1]])
        other = Game.replay(swapped)
        assert position_text(game.view(0), rules) == position_text(other.view(0), rules)


def test_the_score_sheet_is_shown_and_counted_down_where_the_rules_do():
    assert sheet_text(-1, 3, variant("auction_pitch")) == "-1 [C 2, owes 3]"
    assert sheet_text(5, 0, variant("nine_card")) == "16 to go [C 5, owes 0]"


def test_trumps_stand_first_in_a_hand_the_off_jack_among_them():
    rules = variant("ten_point_five_handed", exchange="refill", players=4, sides=4, widow_size=0, widow_to="dead")
    hands = ["AH JH JD TD X1 2H 9C KS 5S 3D", "", "", ""]
    rest = [card for card in Game(rules).record()["hands"] for card in card.split()]
    rest += Game(rules).record()["stock"].split()
    rest = [card for card in rest if card not in hands[0].split()]
    hands[1:] = [" ".join(rest[k * 10 : k * 10 + 10]) for k in range(3)]
    game = Game.from_deal(rules, hands, dealer=3)
    assert hand_text(game.view(0), rules) == "X1 KS 5S AH JH 2H JD TD 3D 9C"
    for call in ("bid 4", "pass", "pass", "pass", "name H"):
        game.play(call)
    view = game.view(0).copy()
    assert hand_text(view, rules).startswith("AH JH JD X1 2H")


def test_the_command_reads_a_pipe_and_leaves_cleanly_at_its_end():
    options = ["--opponents", "random", "--adviser", "random", "--seed", "5"]
    done = subprocess.run(
        [sys.executable, "-m", "pitch_env.app.cli", "play", *options],
        check=False, input="frog\npass\n", capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "'frog' is not legal now" in done.stdout
    assert "You have left the game." in done.stdout
    assert done.stderr == ""
