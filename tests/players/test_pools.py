"""SEPO's pools and demonstrators, as its appendix prints them."""

from collections import Counter

import pytest

from stratagem.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import SYNONYMS, make_player
from stratagem.players.pools import (
    DEMONSTRATORS,
    POOLS,
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
    assert list(found) == ["train", "exploit", "collusive", "robust"]
    for (name, pool), names in zip(found.items(), PRINTED[family], strict=False):
        assert ", ".join(pool.players) == names + OURS.get((family, name), "")
        assert [player.name for player in pool.make(game)] == [f"{family}/{name}" for name in pool.players]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_robust_pool_is_apart(family):
    game, seen = make_game(family), set()
    for name, pool in pools(game).items():
        strategies = {SYNONYMS.get(player.name, player.name) for player in pool.make(game)}
        assert not (name == "robust" and strategies & seen)
        seen |= strategies
    assert len(pools(game)["robust"].players) >= 4


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
    assert [str(shared) for shared in shared_strategies(game)] == expected
    warning = overlap_warning(game)
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
    assert DEMONSTRATORS["ipd"]["TitForTat"] == 0.33
    assert DEMONSTRATORS["auction"]["ValueBid"] == 0.44
    assert DEMONSTRATORS["negotiation-v1"]["TFT-Neg"] == 0.15
    assert DEMONSTRATORS["negotiation-v2"]["Defensive"] == 0.15
    assert DEMONSTRATORS["kuhn"]["AlwaysPassQueen"] == 0.02
    assert set(DEMONSTRATORS) == set(POOLS)


def test_demonstrators_are_drawn_by_weight():
    game = make_game("ipd")
    drawn = Counter(draw_demonstrator(game, Key(42).at("episode", n)) for n in range(5000))
    for name, weight in demonstrators(game).items():
        assert drawn[name] / 5000 == pytest.approx(weight, abs=0.03)
    assert draw_demonstrator(game, Key(5)) == draw_demonstrator(game, Key(5))


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


def test_a_game_without_pools_is_told():
    with pytest.raises(BadParameter, match="families ipd, auction"):
        pools(make_game("imp"))
