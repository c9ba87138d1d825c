"""One network for several rules: names, shares of deals, columns; training, resuming, shipping and playing."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from agents import neural  # noqa: E402 - torch is optional
from agents.neural import CheckpointError, NeuralAgent, layout_seen, read_checkpoint  # noqa: E402
from pitch_env import VARIANTS, Game, Rules, make_agent, variant  # noqa: E402
from pitch_env.engine.state import STATE  # noqa: E402
from pitch_env.observation import VIEW, look_batch, rule_bits  # noqa: E402
from training import selfplay  # noqa: E402
from training.config import ConfigError  # noqa: E402
from training.evaluate import play_match  # noqa: E402
from training.ppo import Config, Networks, Profile, Rows, Run, Setting, load_config, rollout, train  # noqa: E402
from training.ranks import Ranks  # noqa: E402
from training.ship import ship  # noqa: E402
from training.variants import columns_of, is_universal, mean_margin, named_rules, shares, spans_of  # noqa: E402

SMALL = """
rules = ["mini_pitch", {base = "cutthroat", hand_size = 2, play_size = 2, deal_packet = 1}, "kuhn_pitch"]
frames = 4_000
deals = 128
width = 16
minibatch = 128
threads = 1
bf16 = false
opponents = ["random", "greedy"]
evaluate_every = 1_500
evaluate_deals = 60
final_deals = 50
"""
NAMES = ["mini_pitch", "cutthroat hand_size=2 play_size=2 deal_packet=1", "kuhn_pitch"]


def written(path, text=SMALL):
    path.write_text(text)
    return path


def setting(rank=0, size=1, **fields):
    torch.set_num_threads(1)
    config = Config(deals=40, width=16, bf16=False, threads=1, **fields)
    return Setting(config, named_rules(config.rules, "test"), Ranks(rank, size, torch.device("cpu")))


def test_a_config_names_one_rules_several_or_all():
    assert named_rules("fish", "x") == {"fish": VARIANTS["fish"]}
    assert named_rules("all", "x") == VARIANTS
    several = named_rules(["fish", {"base": "cutthroat", "players": 5, "sides": 5}], "x")
    assert several == {
        "fish": VARIANTS["fish"],
        "cutthroat players=5 sides=5": variant("cutthroat", players=5, sides=5),
    }
    assert [is_universal(given) for given in ("fish", {"base": "fish"}, "all", ["fish"])] == [False, False, True, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = []", r"needs at least one"),
        ('rules = ["fish", "fish"]', r"'fish' stands in the list twice"),
        ('rules = ["fish", "whist"]', r"no variant 'whist'"),
        ('rules = ["fish", 3]', r"rules"),
        ('rules = "all"\ndeals = 12', r"deals=12: 19 rules need at least as many"),
        ('rules = "all"\nequity = "table.json"', r"equity='table.json' is for single rules, not for 19"),
    ],
)
def test_several_rules_that_cannot_be_trained_are_refused_with_one_error(tmp_path, text, message):
    path = written(tmp_path / "bad.toml", text)
    with pytest.raises(ConfigError, match=message):
        train(path, run=tmp_path / "run")


def test_every_rules_gets_deals_and_short_ones_get_more():
    several = [VARIANTS["kuhn_pitch"], VARIANTS["auction_pitch"], VARIANTS["ten_point_five_handed"]]
    got = shares(several, 1000)
    assert sum(got) == 1000
    assert got[0] > got[1] > got[2]
    # 2, 24 and 50 cards in play
    assert got[0] / got[1] == pytest.approx(12**0.5, rel=0.02)
    assert shares(several, 3) == [1, 1, 1]


def test_spans_are_the_columns():
    assert spans_of(np.array([0, 1, 4, 6, 7, 8])).tolist() == [[0, 2], [4, 5], [6, 9]]


def test_the_mean_of_two_margins_by_hand():
    mean = mean_margin([{"mean": 1.0, "interval": [0.4, 1.6]}, {"mean": 2.0, "interval": [1.2, 2.8]}])
    assert mean == {"mean": 1.5, "interval": pytest.approx([1.0, 2.0])}  # √(0.6² + 0.8²) / 2 = 0.5


def agent_of(rules, size, columns=None):
    """An agent whose network has weights of zero."""
    weights = {"first.weight": np.zeros((4, size)), "first.bias": np.zeros(4), "last.weight": np.zeros((79, 4))}
    return NeuralAgent(weights | {"last.bias": np.zeros(79)}, rules, universal=True, columns=columns)


def given_to(agent, views, monkeypatch):
    """Returns the numbers (N, F) that an agent gives its network."""
    given = []
    with monkeypatch.context() as patched:
        forward = neural.forward
        patched.setattr(neural, "forward", lambda weights, x: (given.append(x), forward(weights, x))[1])
        agent.act(views, np.random.default_rng(0))
    return given[0]


@pytest.mark.parametrize("name", VARIANTS)
def test_columns_leave_out_nothing_that_tells_one_view_of_a_variant_from_another(name, monkeypatch):
    rules, columns = VARIANTS[name], columns_of(list(VARIANTS.values()))
    agent = agent_of(rules, layout_seen(rules, True, False).size)
    rng, views = np.random.default_rng(0), []
    for seed in range(15):
        game = Game(rules, seed=seed)
        while game.seat is not None:
            views.append(game.view(game.seat))
            game.play(int(rng.choice(game.legal_actions())))
    seen = given_to(agent, np.array(views, VIEW), monkeypatch)
    if "high_spade" not in rules.items:  # no item of these rules is among the spades
        seen[:, layout_seen(rules, True, False).fields["taken_spades"]] = 0
    varying = np.flatnonzero(seen.min(axis=0) != seen.max(axis=0))
    assert set(varying.tolist()) <= set(columns.tolist())


def test_columns_tell_all_variants_apart():
    layouts = [layout_seen(rules, True, False) for rules in VARIANTS.values()]
    places = columns_of(list(VARIANTS.values())) - layouts[0].fields["rules"].start
    bits = np.array([rule_bits(layout.rules) for layout in layouts])
    kept = bits[:, places[(places >= 0) & (places < bits.shape[1])]]
    assert len(np.unique(kept, axis=0)) == len(VARIANTS)
    assert (kept.min(axis=0) != kept.max(axis=0)).all()


def test_a_rollout_gives_the_network_what_the_agent_sees_and_pays_each_rules_by_its_scale(monkeypatch):
    here = setting(rules=("oklahoma", "mini_pitch"), reward_scale=0.5)
    networks, rows = Networks(here), Rows(here)
    rollout(networks.actor, here, rows, 0, Profile())
    assert [block.scale for block in here.blocks] == [pytest.approx(0.5 * 4 / 9), 0.5]
    assert here.blocks[0].deals.stop == here.blocks[1].deals.start
    assert here.blocks[1].deals.stop == 40
    for block in here.blocks:
        num = block.deals.stop - block.deals.start
        states, active, last_row = np.zeros(num, STATE), np.zeros(num, np.int64), np.zeros((num, 8), np.int64)
        assert selfplay.begin(states, block.tables, 0, block.deals.start, 0, active, last_row) == num
        views = np.zeros(num, VIEW)
        look_batch(states, block.tables, views)
        agent = agent_of(block.rules, here.size, here.columns[: here.size])
        # All deals begin with a choice, so their first rows stand side by side.
        assert (rows.full[block.deals, : here.size] == given_to(agent, views, monkeypatch)).all()
        for deal in range(block.deals.start, block.deals.stop):
            points = rows.states["points"][deal]
            for seat in np.flatnonzero(rows.last_row[deal, : block.rules.players] >= 0):
                net = points[seat % 2] - points[1 - seat % 2]
                assert rows.rewards[rows.last_row[deal, seat]] == pytest.approx(block.scale * net)


def test_no_deal_is_dealt_twice_by_iterations_and_processes():
    dealt = []
    for rank in range(2):
        here = setting(rank, 2, rules=("auction_pitch", "fish"))
        assert here.deals == 20
        for iteration in range(2):
            rows = Rows(here)
            rollout(Networks(here).actor, here, rows, iteration, Profile())
            dealt += [tuple(sorted(state["dealt"].tolist())) for state in rows.states]
    assert len(set(dealt)) == 2 * 2 * 20


def test_a_network_of_several_rules_learns_to_beat_random_at_each(tmp_path):
    text = SMALL.replace("4_000", "100_000").replace("deals = 128", "deals = 512").replace("1_500", "50_000")
    path = written(tmp_path / "small.toml", text.replace("final_deals = 50", "final_deals = 600"))
    result = train(path, run=tmp_path / "run")
    by_rules = result["strength_by_rules"]["random"]
    assert list(by_rules) == NAMES
    assert all(margin["interval"][0] > 0 for margin in by_rules.values())
    assert result["strength"]["random"] == mean_margin(by_rules.values())
    told = json.loads((tmp_path / "run" / "result.json").read_text())
    assert told["strength_by_rules"] == result["strength_by_rules"]
    assert list(told["curve"][0]["rules"]) == NAMES


def test_a_run_of_several_rules_resumes_to_the_same_weights(tmp_path, monkeypatch):
    path = written(tmp_path / "small.toml")
    train(path, run=tmp_path / "whole")
    save = Run.save

    def stop(run):
        save(run)
        raise KeyboardInterrupt

    monkeypatch.setattr(Run, "save", stop)
    with pytest.raises(KeyboardInterrupt):
        train(path, run=tmp_path / "stopped")
    monkeypatch.undo()
    mine, told = read_checkpoint(tmp_path / "stopped" / "checkpoint.safetensors")
    whole, about = read_checkpoint(tmp_path / "whole" / "checkpoint.safetensors")
    assert told["frames"] < about["frames"]
    train(path, run=tmp_path / "stopped", resume=True)
    mine, told = read_checkpoint(tmp_path / "stopped" / "checkpoint.safetensors")
    assert {name: array.tobytes() for name, array in mine.items()} == {
        name: array.tobytes() for name, array in whole.items()
    }
    assert told["universal"] is True
    assert {name: Rules.from_dict(rules) for name, rules in told["rules"].items()} == load_config(path)[1]


def test_a_shipped_player_of_several_rules_is_best_where_no_player_of_the_rules_is(tmp_path, monkeypatch):
    path = written(tmp_path / "small.toml")
    train(path, run=tmp_path / "run")
    shipped = ship(tmp_path / "run", "all", num_deals=60, folder=tmp_path / "models")
    _, told = read_checkpoint(shipped)
    assert list(told["strength_by_rules"]["rule"]) == NAMES
    assert {margin["deals"] for margin in told["strength_by_rules"]["rule"].values()} == {20}
    assert told["strength"]["rule"]["deals"] == 60
    assert told["config"]["rules"] == load_config(path)[0].model_dump(mode="json")["rules"]
    train(written(tmp_path / "one.toml", 'rules = "mini_pitch"\n' + SMALL.split("\n", 2)[2]), run=tmp_path / "one")
    ship(tmp_path / "one", "z_mini", num_deals=20, folder=tmp_path / "models")
    monkeypatch.setattr(neural, "MODELS", tmp_path / "models")
    assert make_agent("best", "mini_pitch").universal is False
    assert make_agent("best", "kuhn_pitch").universal is True
    assert make_agent("best", "auction_pitch").universal is True


def test_the_player_of_all_variants_in_the_box_is_ahead_of_greedy_at_each():
    _, told = read_checkpoint(neural.MODELS / "all_variants.safetensors")
    by_rules = told["strength_by_rules"]["greedy"]
    assert set(by_rules) == set(VARIANTS)
    assert min(margin["interval"][0] for margin in by_rules.values()) > 0
    for name, rules in VARIANTS.items():
        assert make_agent("best", rules).universal == (name != "auction_pitch")
    rules = VARIANTS["mini_partners"]
    assert play_match(rules, make_agent("best", rules), make_agent("greedy", rules), 400, seed=9).interval[0] > 0.5


HOUSE = [
    variant("cutthroat", players=8, sides=8),
    variant("auction_pitch", decks=2, jokers=2, hand_size=12, play_size=12),
    variant("oklahoma", players=6, sides=3, hand_size=8),
    variant("high_low_jack", widow_size=2, widow_to="pitcher_after_first_trick", bids=[0, 1, 2, 3, 4]),
    variant("nine_card", target=60, off_jack=True),
]


@pytest.mark.parametrize("rules", HOUSE)
def test_a_network_of_all_variants_plays_house_rules_that_it_never_met(rules):
    columns = columns_of(list(VARIANTS.values()))
    columns = columns[columns < layout_seen(rules, True, False).size]
    agent = agent_of(rules, len(columns), columns)
    # IllegalChoiceError would tell of an action that is not legal.
    assert np.isfinite(play_match(rules, agent, make_agent("random", rules), 20).margins).all()


def test_a_network_that_plays_for_points_does_not_see_when_the_game_ends(monkeypatch):
    views = np.array([Game("auction_pitch", seed=seed).view(0) for seed in range(5)], VIEW)
    size = layout_seen(VARIANTS["auction_pitch"], True, False).size
    given = [
        given_to(agent_of(variant("auction_pitch", **fields), size), views, monkeypatch).tolist()
        for fields in ({}, {"target": 52, "out": "first_to_target"})
    ]
    assert given[0] == given[1]


def test_columns_that_do_not_fit_are_refused():
    with pytest.raises(CheckpointError, match="the network has 5 inputs, observations of these rules 4"):
        agent_of(VARIANTS["auction_pitch"], 5, np.arange(4))
    with pytest.raises(CheckpointError, match="3 inputs"):
        agent_of(VARIANTS["auction_pitch"], 3, np.array([0, 1, 1_000_000]))
