"""Payoff of the best memory-one policy: best responses to players whose best answers are known."""

import pytest

from stratagem.algorithms.shapellm import metrics as interest
from stratagem.algorithms.shapellm.metrics import MemoryOne, all_memory_one, interests
from stratagem.algorithms.shapellm.seat import Seat, TabularSettings
from stratagem.algorithms.shapellm.shapers.memory_one import ExactSeat, ExactSettings
from stratagem.algorithms.shapellm.tabular_seat import TabularSeat
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

GAME = make_game("ipd-shapellm(rounds=20)")


def test_all_memory_one_yields_32_distinct_policies():
    found = list(all_memory_one())
    assert len(found) == len(set(found)) == 32


@pytest.mark.parametrize(
    ("opponent", "possible"),
    [("ipd/AlwaysDefect", 1.0), ("ipd/AlwaysCooperate", 4.0), ("ipd/TitForTat", 3.0), ("ipd/GrimTrigger", 3.0)],
)
def test_interests_find_the_best_memory_one_policy(opponent, possible):
    """Defect against who never or always cooperates; cooperate with who answers in kind."""
    seat = TabularSeat("t", TabularSettings(initial_probability=0.5), 1)
    told = interests(GAME, {"t": seat, "other": Seat(make_player(opponent, GAME))}, 20, Key(0))
    assert list(told) == ["t"], "who does not learn has no interest here"
    assert told["t"]["possible"] == possible
    assert 0.0 < told["t"]["earned"] < possible


def test_interests_are_measured_in_the_learners_seat():
    """Matching pennies against who always says heads: seat 1 wins by saying tails."""
    game = make_game("imp(rounds=6)")
    seats = {
        "other": TabularSeat("o", TabularSettings(initial_probability=1.0 - 1e-12), 6),
        "t": TabularSeat("t", TabularSettings(initial_probability=0.5), 1),
    }
    told = interests(game, seats, 10, Key(1))
    assert told["t"]["possible"] == 1.0
    assert told["t"]["first"] == 1


def test_memory_one_player_answers_the_joint_action_with_its_own_part_first():
    """Pavlov keeps its action where the other cooperated, and changes it where not (Nowak and Sigmund 1993)."""
    opponent, pavlov = make_player("ipd/AlternateDefect", GAME), MemoryOne(0, ((0, 1), (1, 0)))
    match = Match(GAME, [pavlov, opponent])
    (episode,) = play_setups([Setup(id="one", match=match, slots=(0, 1), key=Key(0))])
    mine, theirs = ([row.action for row in episode.decisions if row.slot == slot] for slot in (0, 1))
    before = list(zip(mine, theirs, strict=True))[:-1]
    assert set(before) > {("C", "D"), ("D", "C")}
    assert mine[1:] == [own if other == "C" else "DC"["CD".index(own)] for own, other in before]


def test_interests_are_measured_in_other_games_than_those_of_the_search(monkeypatch):
    """All candidates play the same games, and the best of them is measured in others, against selection bias."""
    plays, pays = [], interest.payoff_metrics
    monkeypatch.setattr(interest, "payoff_metrics", lambda own, names: plays.append(own) or pays(own, names))
    seat = TabularSeat("t", TabularSettings(initial_probability=0.5), 1)
    interests(GAME, {"t": seat, "other": Seat(make_player("random", GAME))}, 3, Key(0))
    keys = [{episode.key for episode in own} for own in plays]
    assert len(keys) == 32 + 2
    assert all(own == keys[0] for own in keys[:32])
    assert keys[32] == keys[33]
    assert not keys[0] & keys[32]


@pytest.mark.parametrize("slot", [0, 1])
def test_interests_of_exact_learners_need_no_games(slot):
    """Against who always goes in chicken, swerving pays 1 and an even mixture 1 in two rounds of four, else -5."""
    game = make_game("icg(rounds=4)")
    seats = {"t": ExactSeat("t", ExactSettings(), game, slot, Key(0)), "o": Seat(make_player("AlwaysDefect", game))}
    told = interests(game, dict(list(seats.items())[:: 1 - 2 * slot]), 0, Key(1))["t"]
    assert told["possible"] == pytest.approx(1.0)
    assert told["earned"] == pytest.approx((1.0 - 5.0) / 2)
    assert told["first"] == 0


def test_interests_of_exact_learners_are_in_the_payoffs_of_their_seat():
    """Mutual cooperation brings seat 0 six and seat 1 three."""
    game = make_game("c-ipd(rounds=4)")
    for slot, most in ((0, 6.0), (1, 4.0)):
        seats = {
            "t": ExactSeat("t", ExactSettings(), game, slot, Key(0)),
            "o": Seat(make_player("AlwaysCooperate", game)),
        }
        told = interests(game, dict(list(seats.items())[:: 1 - 2 * slot]), 0, Key(1))["t"]
        assert told["possible"] == pytest.approx(most)


def test_interests_are_empty_in_other_games():
    assert interests(make_game("auction"), {}, 5, Key(0)) == {}


@pytest.mark.parametrize(
    ("after", "expected"),
    [(((0, 1), (0, 1)), "DCCC"), (((0, 0), (1, 1)), "DDDD")],
    ids=["repeats the other's action", "repeats its own action"],
)
def test_a_memory_one_player_looks_up_its_own_action_and_then_the_others(after, expected):
    """It defects first, and meets a player that always cooperates."""
    game = make_game("ipd(rounds=4)")
    match = Match(game, [MemoryOne(1, after), make_player("AlwaysCooperate", game)])
    (episode,) = play_setups([Setup(id="m", match=match, slots=(0, 1), key=Key(0))])
    assert "".join(row.action[0] for row in episode.decisions if row.slot == 0) == expected
