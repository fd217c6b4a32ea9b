"""SEPO's pools and demonstrators, as its appendix prints them."""

from collections import Counter

import pytest

from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import SAFETY
from stratagem.players.catalogue import SYNONYMS, make_player
from stratagem.players.pools import (
    demonstrators,
    draw_demonstrator,
    overlap_warning,
    pools,
    sft_opponents,
    shared_strategies,
)

PRINTED = {
    "ipd": (
        "TitForTat, GenerousTFT, Mixed, GrimTrigger",
        "AlwaysDefect, AlternateDefect",
        "AlwaysCooperate",
    ),
    "auction": ("Truthful, Conservative, Shaded, Adaptive", "AggressiveBid", "CollusiveLow"),
    "negotiation-v1": ("Fair, Balanced, Concede, Hard", "Selfish, Hardball", "Fair"),
    "negotiation-v2": ("FairNeg, TitForTatNeg, ConcedeNeg", "GreedyNeg, HardballNeg", "FairNeg"),
    "kuhn": ("NashApprox, TightPassive, LooseAggressive", "NashApprox, AlwaysBet", ""),
}
FAMILIES = list(PRINTED)
OURS = {("auction", "exploit"): ", MarginPlay, LowMedium"}
"""The members of a pool after the printed names."""


@pytest.mark.parametrize("family", FAMILIES)
def test_pools_are_as_printed_and_then_ours(family):
    game = make_game(family)
    found = pools(game)
    assert list(found) == ["train", "exploit", "collusive", "shifted"]
    for (name, pool), names in zip(found.items(), PRINTED[family], strict=False):
        assert ", ".join(pool.players) == names + OURS.get((family, name), "")
        assert [player.name for player in pool.make(game)] == [f"{family}/{name}" for name in pool.players]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_shifted_pool_is_apart(family):
    game, seen = make_game(family), set()
    for name, pool in pools(game).items():
        strategies = {SYNONYMS.get(player.name, player.name) for player in pool.make(game)}
        assert not (name == "shifted" and strategies & seen)
        seen |= strategies
    assert len(pools(game)["shifted"].players) >= 4


@pytest.mark.parametrize(
    ("family", "expected"),
    [
        ("ipd", []),
        ("auction", []),
        ("negotiation-v1", ["Fair stands in train and collusive", "Hard = Hardball stands in train and exploit"]),
        ("negotiation-v2", ["FairNeg stands in train and collusive"]),
        ("kuhn", ["NashApprox stands in train and exploit"]),
    ],
)
def test_strategies_in_two_pools_are_named(family, expected):
    game = make_game(family)
    named = {name: pool.players for name, pool in pools(game).items()}
    assert [str(shared) for shared in shared_strategies(game, named)] == expected
    warning = overlap_warning(game, named)
    assert all(text in warning for text in expected)
    assert bool(warning) == bool(expected)


@pytest.mark.parametrize("family", FAMILIES)
def test_demonstrators_can_play_and_weigh_one_together(family):
    game = make_game(family)
    weights = demonstrators(game)
    assert sum(weights.values()) == pytest.approx(1.0)
    for name in weights:
        assert make_player(name, game).policy(game.start(Key(1)).view(0))


def test_demonstrator_weights_are_as_printed():
    assert SAFETY["ipd"].demonstrators["TitForTat"] == 0.33
    assert SAFETY["auction"].demonstrators["ValueBid"] == 0.44
    assert SAFETY["negotiation-v1"].demonstrators["TFT-Neg"] == 0.15
    assert SAFETY["negotiation-v2"].demonstrators["Defensive"] == 0.15
    assert SAFETY["kuhn"].demonstrators["AlwaysPassQueen"] == 0.02
    assert all(bool(safety.demonstrators) == bool(safety.pools) for safety in SAFETY.values())


def test_demonstrators_are_drawn_by_weight():
    weights = demonstrators(make_game("ipd"))
    drawn = Counter(draw_demonstrator(weights, Key(42).at("episode", n)) for n in range(5000))
    for name, weight in weights.items():
        assert drawn[name] / 5000 == pytest.approx(weight, abs=0.03)
    assert draw_demonstrator(weights, Key(5)) == draw_demonstrator(weights, Key(5))


@pytest.mark.parametrize(
    ("family", "opponents"),
    [
        ("ipd", "TitForTat GenerousTFT Mixed GrimTrigger AlwaysDefect"),
        ("auction", "Truthful Conservative Shaded Adaptive AggressiveBid"),
        ("negotiation-v1", "Fair Balanced Concede Hard Selfish"),
        ("negotiation-v2", "FairNeg TitForTatNeg ConcedeNeg GreedyNeg HardballNeg"),
        ("kuhn", "NashApprox TightPassive LooseAggressive AlwaysBet"),
    ],
)
def test_opponents_of_sft(family, opponents):
    """Kuhn's pools hold four different strategies only."""
    assert " ".join(sft_opponents(make_game(family))) == opponents


def test_two_names_of_one_strategy_are_one_opponent_of_sft():
    everybody = sft_opponents(make_game("negotiation-v1"), count=9)
    assert " ".join(everybody) == "Fair Balanced Concede Hard Selfish"


def test_pools_serve_every_game_of_a_family():
    for name in ("icg", "c-ipd", "ipd-shapellm"):
        game = make_game(name)
        assert all(pool.make(game) or not pool.players for pool in pools(game).values())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("imp", ("random first-legal ismcts:10", "ismcts:100", "", "noise(first-legal, p=0.2) ismcts:30")),
        ("tic-tac-toe", ("random first-legal mcts:10", "mcts:100", "", "noise(first-legal, p=0.2) mcts:30")),
        ("liars-dice", ("random first-legal", "", "", "noise(first-legal, p=0.2)")),
    ],
)
def test_a_game_that_names_no_pools_has_defaults(name, expected):
    game = make_game(name)
    found = pools(game)
    assert tuple(" ".join(pool.players) for pool in found.values()) == expected
    assert all(len(pool.make(game)) == len(pool.players) for pool in found.values())
    assert demonstrators(game) == dict.fromkeys(expected[0].split(), 1.0)


def test_a_recipe_takes_the_place_of_the_game_pool_by_pool():
    game = make_game("kuhn")
    found = pools(game, {"train": ("random",), "exploit": ()})
    assert [found[name].players for name in ("train", "exploit")] == [("random",), ()]
    assert found["shifted"] == pools(game)["shifted"]


@pytest.mark.parametrize(
    ("name", "own", "said"),
    [
        ("kuhn", {"train": ("ipd/TitForTat",)}, "The pool train of kuhn cannot have 'ipd/TitForTat'. ipd/Tit"),
        ("kuhn", {"train": ("nobody",)}, "The pool train of kuhn cannot have 'nobody'. There is no player of kuhn"),
        ("kuhn", {"exploit": ("human",)}, "The pool exploit of kuhn cannot have 'human': people play in"),
        ("kuhn", {"train": ("AlwaysBet", "alwaysbet")}, "has kuhn/AlwaysBet twice"),
        ("liars-dice", {"train": ("ismcts:10",)}, "The pool train of liars-dice cannot have 'ismcts:10'"),
        ("spiel:kuhn_poker(players=3)", {"shifted": ("perfect",)}, "The pool shifted of .* cannot have 'perfect'"),
        ("kuhn", {"robust": ("random",)}, "There is no pool 'robust': there are train, exploit, collusive, shifted."),
    ],
)  # fmt: skip
def test_a_pool_that_does_not_fit_is_told(name, own, said):
    game = make_game(name)
    with pytest.raises(BadParameter, match=said):
        [pool.make(game) for pool in pools(game, own).values()]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"random": -1.0}, "cannot have random with the weight -1.0"),
        ({"random": 0.0, "first-legal": 0.0}, "have weights that sum to 0"),
        ({"random": float("nan")}, "with the weight nan"),
    ],
)
def test_weights_by_which_nobody_can_be_drawn_are_told(weights, said):
    with pytest.raises(BadParameter, match=said):
        demonstrators(make_game("kuhn"), weights)


OWN_GAME = """
from stratagem.games import Safety
from stratagem.games.kuhn import Kuhn

class Named(Safety):
    pools = {"train": ("random", "noise(bots.py:Passing, p=0.5)")}
    demonstrators = {"bots.py:Passing": 1}

class Own(Kuhn):
    safety = Named
"""
BOT = """
from stratagem.players.base import Scripted

class Passing(Scripted):
    def strategy(self, view):
        return view.choices.first
"""


@pytest.fixture
def own_game(tmp_path, monkeypatch):
    """Name of a game whose pools name a player of the file beside it, with nothing that was run before."""
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    for name, text in (("mine.py", OWN_GAME), ("bots.py", BOT)):
        (tmp_path / name).write_text(text, "utf-8")
    return f"{tmp_path}/mine.py:Own"


@pytest.mark.parametrize("name", ["{}", "talk({}, before=round, limit=20)"])
def test_the_pools_of_a_game_of_a_file_name_files_beside_it(own_game, name):
    with commanding([own_game]):
        game = make_game(name.format(own_game))
        assert "bots.py:Passing" in pools(game)["train"].make(game)[1].name
        assert make_player(*demonstrators(game), game).name == "bots.py:Passing"


def test_the_pools_of_a_game_that_only_a_record_names_allow_no_file(own_game):
    with commanding([own_game]):
        make_game(own_game)
    with commanding():
        game = make_game(own_game)  # it is known, since it was run before; the player was not
        with pytest.raises(BadParameter, match=r"bots.py would run the file"):
            pools(game)["train"].make(game)
