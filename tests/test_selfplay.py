"""Self-play kernels: rows, per-seat returns, advantages; suits relabelled; sampling."""

from typing import Any

import numpy as np
import pytest

from agents.relabel import encode_relabelled, original_action, relabelling, suit_order
from agents.sampling import sample
from pitch_env import VARIANTS, Game, Rules, variant
from pitch_env.actions import ACTION_NAMES, actions_in, parse_action
from pitch_env.cards import card_name, card_rank, card_suit, parse_card
from pitch_env.engine.jit import kernel
from pitch_env.engine.state import STATE
from pitch_env.engine.tables import compile_rules
from pitch_env.observation import VIEW, layout_of
from training import selfplay

WORKED_DEAL = ["AH KH KS 5C 6D 2S", "4H JH 9S TC TS 7C", "5H QH TD 8C QD 4C", "6H 8H 3H 4S AD JC"]
WORKED_PLAY = "bid 3;pass;pass;pass;AH;4H;5H;6H;KH;JH;QH;8H;KS;9S;TD;4S;5C;TC;8C;3H;AD;6D;TS;QD;JC;2S;7C;4C"


class Rows:
    """Arrays for the rows of a few deals."""

    def __init__(self, rules: Rules, num_deals: int, room: int = 200) -> None:
        layout = layout_of(rules)
        self.full = np.zeros((room, layout.state_size), np.uint8)
        self.masks = np.zeros((room, 79), np.uint8)
        self.legal = np.zeros((room, 2), np.int64)
        self.orders = np.zeros((room, 4), np.int8)
        self.seats = np.zeros(room, np.int8)
        self.actions = np.zeros(room, np.int64)
        self.rewards = np.full(room, np.nan, np.float32)
        self.next_row = np.zeros(room, np.int64)
        self.views = np.zeros(2, VIEW)
        self.whole, self.spans = np.zeros(layout.state_size, np.uint8), np.empty((0, 2), np.int64)
        self.active = np.arange(num_deals)
        self.last_row = np.full((num_deals, 8), -1, np.int64)

    def observe(self, states: Any, rules: Rules, going: int, first: int) -> None:
        selfplay.observe(
            states, compile_rules(rules), layout_of(rules).table, relabelling(rules), False, self.active, going,
            self.views, self.spans, self.whole, first, self.full, self.masks, self.legal, self.orders, self.seats,
            self.last_row, self.next_row, self.rewards,
        )  # fmt: skip


def relabelled(action: int, order: Any) -> int:
    return next(other for other in range(79) if original_action(other, order) == action)


def test_a_reward_belongs_to_the_seats_own_last_decision_in_the_worked_deal():
    rules = VARIANTS["auction_pitch"]
    states = Game.from_deal(rules, WORKED_DEAL, dealer=3).state().reshape(1)
    rows, decided = Rows(rules, 1), []
    going, row = 1, 0
    script = iter(WORKED_PLAY.split(";"))
    follow = Game.from_deal(rules, WORKED_DEAL, dealer=3)
    while going:
        rows.observe(states, rules, going, row)
        name = next(script)
        while len(follow.legal_actions()) == 1:  # forced: the kernels played it already
            follow.play(name)
            name = next(script)
        decided.append((follow.seat, name))
        follow.play(name)
        rows.actions[row] = relabelled(parse_action(name), rows.orders[row])
        going = selfplay.act(
            states, compile_rules(rules), rows.active, going, row, rows.actions, rows.orders, rows.last_row, 0.25,
            np.empty((0, 0)), 0, rows.rewards,
        )  # fmt: skip
        row += 1
    assert rows.seats[:row].tolist() == [seat for seat, _ in decided]
    expected = np.zeros(row)
    for seat in range(4):
        mine = [k for k, (other, _) in enumerate(decided) if other == seat]
        # 12  Alice and Ben lose 3, Cara and Dev score 2: five points between them.
        expected[mine[-1]] = -5 * 0.25 if seat % 2 == 0 else 5 * 0.25
        assert rows.next_row[mine].tolist() == [*mine[1:], -1]
    assert rows.rewards[:row].tolist() == expected.tolist()


def test_advantages_of_four_seats_by_hand():
    # Rows 0–5 of seats 0 1 2 3 0 1; seats 0 and 2 are paid −1, seats 1 and 3 +1, each on its last row.
    next_row = np.array([4, 5, -1, -1, -1, -1])
    rewards = np.array([0, 0, -1, 1, -1, 1], np.float32)
    values = np.array([0.5, 0.25, -0.5, 0.5, 0.0, 0.75], np.float32)
    out, returns = np.zeros(6, np.float32), np.zeros(6, np.float32)
    selfplay.advantages(values, rewards, next_row, 6, 0.5, out, returns)
    # seat 0: last row −1 − 0 = −1; first row 0 − 0.5 + 0.5·(−1) = −1
    # seat 1: last row 1 − 0.75 = 0.25; first row 0.75 − 0.25 + 0.5·0.25 = 0.625
    # seats 2 and 3: one row each, −1 + 0.5 and 1 − 0.5
    assert out.tolist() == [-1, 0.625, -0.5, 0.5, -1, 0.25]
    assert returns.tolist() == (out + values).tolist()


@pytest.mark.parametrize("name", VARIANTS)
def test_forced_moves_make_no_row_and_every_row_is_a_legal_choice(name):
    rules = VARIANTS[name]
    tables = compile_rules(rules)
    states, rows = np.zeros(20, STATE), Rows(rules, 20, room=6000)
    going, row = selfplay.begin(states, tables, 5, 0, 0, rows.active, rows.last_row), 0
    while going:
        rows.observe(states, rules, going, row)
        assert (rows.masks[row : row + going].sum(axis=1) > 1).all()
        log_probs = np.zeros(going, np.float32)
        logits = np.zeros((going, 79), np.float32)
        sample(logits, rows.legal[row : row + going], 3 + row, False, rows.actions[row : row + going], log_probs)
        assert rows.masks[np.arange(row, row + going), rows.actions[row : row + going]].all()
        before = going
        going = selfplay.act(
            states,
            tables,
            rows.active,
            going,
            row,
            rows.actions,
            rows.orders,
            rows.last_row,
            1.0,
            np.empty((0, 0)),
            0,
            rows.rewards,
        )
        row += before
    assert row > 0
    assert (states["phase"] == 5).all()
    # 1.1  What the sides are paid, each once, sums to nothing.
    paid = sum(rows.rewards[rows.last_row[i, seat]] for i in range(20) for seat in range(rules.sides)
               if (rows.last_row[i, : rules.sides] >= 0).all())  # fmt: skip
    assert paid == pytest.approx(0, abs=1e-4)


def random_games(rules: Rules, rng: np.random.Generator, num: int) -> list[Game]:
    games = []
    for seed in range(num):
        game = Game(rules, seed=seed)
        for _ in range(rng.integers(0, 30)):
            if game.seat is not None:
                game.play(int(rng.choice(game.legal_actions())))
        if game.seat is not None:
            games.append(game)
    return games


def encode(game: Game) -> tuple[bytes, list[int], list[int]]:
    """Returns what a network sees of the seat to act, its relabelled legal actions, and those mapped back."""
    rules = game.rules
    layout = layout_of(rules)
    orders, obs = np.zeros((1, 4), np.int8), np.zeros((1, layout.size), np.uint8)
    legal = np.zeros((1, 2), np.int64)
    views = np.array([game.view(game.seat)], VIEW)
    encode_relabelled(
        views, compile_rules(rules), layout.table, relabelling(rules), True, orders, np.zeros(1, VIEW), obs, legal
    )
    actions = actions_in(legal[0, 0], legal[0, 1])
    return obs.tobytes(), actions, sorted(original_action(action, orders[0]) for action in actions)


@pytest.mark.parametrize("name", VARIANTS)
def test_relabelled_legal_actions_map_back_to_the_legal_actions(name):
    for game in random_games(VARIANTS[name], np.random.default_rng(1), 30):
        assert encode(game)[2] == game.legal_actions()


@pytest.mark.parametrize(
    ("name", "swap"),
    [
        ("auction_pitch", "SHDC"),
        ("draw_pitch", "HCSD"),
        ("oklahoma", "DCSH"),
        ("cutthroat", "DSCH"),
        ("nine_card", "HCDS"),
    ],
)
def test_a_network_sees_the_same_deal_in_other_suits(name, swap):
    rules = variant(name)
    other = {f"{rank}{suit}": f"{rank}{new}" for suit, new in zip("CDHS", swap, strict=True) for rank in rules.ranks}
    rng = np.random.default_rng(4)
    checked = 0
    for seed in range(12):
        mine = Game(rules, seed=seed)
        record = mine.record()

        def rename(text):
            return " ".join(other.get(card, card) for card in text.split())

        theirs = Game.from_deal(
            rules, [rename(hand) for hand in record["hands"]], mine.dealer, stock=rename(record["stock"])
        )
        for _ in range(25):
            if mine.seat is None or mine.record()["reshuffles"]:
                break
            strengths = np.zeros(4, np.int8)
            suit_order(np.array([mine.view(mine.seat)], VIEW)[0], relabelling(rules), strengths)
            if len(set(np.array(suit_sizes(mine)).tolist())) == 4:  # no ties, whose order is that of the suits
                assert encode(mine)[0] == encode(theirs)[0]
                checked += 1
            action = int(rng.choice(mine.legal_actions()))
            name_of = ACTION_NAMES[action]
            if name_of.startswith("name ") and name_of != "name NT":
                name_of = "name " + swap["CDHS".index(name_of[-1])]
            mine.play(action)
            theirs.play(other.get(name_of, name_of))
    assert checked > 20


def suit_sizes(game: Game) -> list[int]:
    """Returns each suit's strength in the hand that the seat to act was dealt."""
    view = game.view(game.seat)
    return [int(view["dealt"]) >> 13 * suit & 0x1FFF for suit in range(4)]


def test_samples_follow_the_masked_softmax():
    num = 40_000
    cards = [parse_card(name) for name in ("2C", "AH", "X2")]
    logits = np.full((num, 79), 9.0, np.float32)
    wanted = np.array([0.2, 0.5, 0.3])
    logits[:, cards] = np.log(wanted)
    legal = np.tile(np.array([sum(1 << card for card in cards), 0]), (num, 1))
    actions, log_probs = np.zeros(num, np.int64), np.zeros(num, np.float32)
    sample(logits, legal, 11, False, actions, log_probs)
    shares = np.array([(actions == card).mean() for card in cards])
    assert shares.sum() == 1
    assert np.abs(shares - wanted).max() < 0.012
    assert np.exp(log_probs) == pytest.approx(wanted[[cards.index(action) for action in actions]], rel=1e-4)
    sample(logits, legal, 11, True, actions, log_probs)
    assert (actions == cards[1]).all()
    assert card_name(cards[1]) == "AH"
    assert (card_suit(cards[1]), card_rank(cards[1])) == (2, 12)


def test_equity_pays_the_change_of_the_probability_to_win():
    rules = VARIANTS["auction_pitch"]
    equity = np.random.default_rng(0).random((80, 80))
    game = Game.from_deal(rules, WORKED_DEAL, dealer=3, scores=[10, 4])
    for name in WORKED_PLAY.split(";"):
        game.play(name)
    # 12  Alice and Ben go from 10 to 7, Cara and Dev from 4 to 6; Dev dealt, so Alice deals next.
    change = 2 * ((1 - equity[7 + 30, 6 + 30]) - equity[4 + 30, 10 + 30])
    states, tables = game.state().reshape(1), compile_rules(rules)
    assert net_equity(states, tables, 1, equity, -30) == pytest.approx(change)
    assert net_equity(states, tables, 0, equity, -30) == pytest.approx(-change)
    states["winner"] = 0
    assert net_equity(states, tables, 0, equity, -30) == pytest.approx(2 * equity[4 + 30, 10 + 30])


@kernel
def net_equity(states, rules, side, equity, lowest):
    return selfplay.net_equity(states[0], rules[0], side, equity, lowest)


def test_deals_start_at_scores_below_the_target_with_debts_that_fit():
    rules = VARIANTS["auction_pitch"]
    states, rows = np.zeros(500, STATE), Rows(rules, 500)
    selfplay.begin(states, compile_rules(rules), 5, 0, 30, rows.active, rows.last_row)
    scores, debts = states["scores"][:, :2], states["debts"][:, :2]
    assert scores.min() == -9
    assert scores.max() == 20
    assert (debts == np.maximum(0, -scores)).all()
