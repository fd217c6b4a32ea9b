"""The learner without a model: its gradient is that of the mean return, and it learns what pays."""

import math
from itertools import product

import pytest

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import Trials
from stratagem.algorithms.shapellm.seat import Seat, TabularSettings, UpdateData, transitions_of
from stratagem.algorithms.shapellm.shapers.memory_one import memory_one_views
from stratagem.algorithms.shapellm.tabular_seat import TabularSeat
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.random_play import random_views
from stratagem.learn.schedules import Schedule
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

GAME = make_game("ipd-shapellm(rounds=20)")
ONE = make_game("ipd-shapellm(rounds=1)")
PLAYS = {"C": "ipd/AlwaysCooperate", "D": "ipd/AlwaysDefect"}


def first_of(seat, game=GAME):
    return seat.table.policy(game.start(Key(0)).view(0))["C"]


def test_new_row_has_the_initial_probability():
    seat = TabularSeat("t", TabularSettings(initial_probability=0.8), 1)
    assert first_of(seat) == pytest.approx(0.8)


def test_five_rows_may_have_five_initial_probabilities():
    """Before anything was played, and after each joint action, its own part first."""
    seat = TabularSeat("t", TabularSettings(initial_probability=(0.5, 0.9, 0.2, 0.8, 0.1)), 1)
    found = [seat.table.policy(view)["C"] for view in memory_one_views(GAME, 1).values()]
    assert found == pytest.approx([0.5, 0.9, 0.2, 0.8, 0.1])
    elsewhere = TabularSeat("t", TabularSettings(initial_probability=(0.5,) * 5, style="plain"), 1)
    with pytest.raises(BadParameter, match="repeated games of two actions"):
        elsewhere.table.policy(make_game("auction").start(Key(0)).view(0))


def test_new_row_has_the_probabilities_of_the_initial_player():
    """The first action and the rest of a player that errs; a player that never errs gives some action no chance."""
    game = make_game("sender-receiver(bias=1)")
    settings = TabularSettings(memory="episode", style="plain", initial_player="noise(Honest, p=0.3)")
    player = make_player(settings.initial_player, game)
    seat = TabularSeat("t", settings, 1, initial=player)
    view = game.start(Key(0)).view(0)
    assert seat.table.policy(view) == pytest.approx(player.policy(view))
    sure = TabularSeat("t", settings, 1, initial=make_player("Honest", game))
    with pytest.raises(BadParameter, match="plays every action"):
        sure.table.policy(view)


def test_entropy_bonus_is_the_gradient_of_the_entropy():
    """By finite differences; and where nothing is gained by either action, a step makes the row more even."""
    settings = TabularSettings(initial_probability=0.8, entropy_coef=0.5)
    seat = TabularSeat("t", settings, 1)
    logits = {"C": math.log(0.8), "D": math.log(0.2)}

    def entropy(change):
        weights = {action: math.exp(logit + (change if action == "C" else 0.0)) for action, logit in logits.items()}
        shares = [weight / sum(weights.values()) for weight in weights.values()]
        return -sum(share * math.log(share) for share in shares)

    slope = (entropy(1e-6) - entropy(-1e-6)) / 2e-6
    gradient = seat.entropy_gradient({"C": 0.8, "D": 0.2})
    assert gradient["C"] == pytest.approx(0.5 * slope)
    assert gradient["C"] == pytest.approx(-gradient["D"])
    match = Match(ONE, [seat.player, make_player("ipd/AlwaysDefect", ONE)])
    episodes = play_setups(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(2))
    alike = [episode for episode in episodes for _ in range(2)][:2]
    seat.update(UpdateData([alike], 0, Key(0)))
    assert first_of(seat, ONE) < 0.8


def test_noise_of_each_new_row_is_its_own():
    seat = TabularSeat("t", TabularSettings(initial_std=1.0), 1, Key(3))
    assert len({seat.table.policy(view)["C"] for view in memory_one_views(GAME, 0).values()}) == 5


def test_tabular_advantages_are_discounted_returns_less_their_mean_over_environments():
    """Three rounds at 4 in one environment and at 0 in the other: returns 4 + 4/2 + 4/4, 4 + 4/2 and 4."""
    three = make_game("ipd-shapellm(rounds=3)")
    pairs = [
        Match(three, [make_player(PLAYS[own], three), make_player(PLAYS[other], three)]) for own, other in ("DC", "CD")
    ]
    episodes = play_setups(Setup(id=str(n), match=pair, slots=(0, 1), key=Key(n)) for n, pair in enumerate(pairs))
    seat = TabularSeat("t", TabularSettings(discount=0.5), 1)
    assert seat.advantages_of(transitions_of([episodes], 0)) == [3.5, 3.0, 2.0, -3.5, -3.0, -2.0]


def test_tabular_advantages_may_be_less_the_mean_over_all_decisions():
    """Two rounds at 4 in one environment and at 3 in the other: returns 8, 4, 6 and 3, with a mean of 5.25."""
    two = make_game("ipd-shapellm(rounds=2)")
    pairs = [Match(two, [make_player(PLAYS[own], two), make_player(PLAYS[other], two)]) for own, other in ("DC", "CC")]
    episodes = play_setups(Setup(id=str(n), match=pair, slots=(0, 1), key=Key(n)) for n, pair in enumerate(pairs))
    seat = TabularSeat("t", TabularSettings(advantage_mean_over="batch"), 1)
    assert seat.advantages_of(transitions_of([episodes], 0)) == [2.75, -1.25, 0.75, -2.25]


def test_tabular_learning_rate_follows_its_schedule_in_the_unit():
    """A row moves by the share of a ramp over four trials, whatever number of updates came before."""
    ramp = Schedule(start=0.0, end=1.0, steps=4, unit="trial")
    match = Match(ONE, [make_player("random", ONE), make_player("ipd/AlwaysDefect", ONE)])
    episodes = play_setups(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(8))
    moved = []
    for trials_before in (0, 1, 4, 9):
        seat = TabularSeat("t", TabularSettings(learning_rate_scale=ramp), 1)
        seat.num_updates = 3
        seat.update(UpdateData([episodes], 0, Key(0), (), None, trials_before))
        row = seat.table.row(ONE.start(Key(0)).view(0))
        moved.append(row["D"] - math.log(0.5))
    assert moved == pytest.approx([0.0, 0.25 * moved[3], moved[3], moved[3]])
    assert moved[3] > 0.0


def test_total_step_over_a_trial_is_equal_between_schedules_where_the_rate_is_by_the_episode():
    """Rounds are rewarded by themselves, so nothing but the step is left: five updates, and one of five times the rate.

    The rate is so small that the policy is the same in all of them.
    """
    opponent = Seat(make_player("ipd/TitForTat", GAME))
    moved = []
    for every, rate in ((1, 1e-6), (5, 5e-6)):
        settings = TabularSettings(discount=0.0, learning_rate=rate, initial_probability=0.5)
        seat = TabularSeat("t", settings, every)
        run_trial(Trials(GAME, {"t": seat, "other": opponent}, 5, 5, Key(2)), 0)
        moved.append([row["C"] - math.log(0.5) for row in seat.table.rows.values()])
    assert max(map(abs, moved[0])) > 1e-8
    assert moved[1] == pytest.approx(moved[0], rel=1e-3)


def test_tabular_update_changes_the_rows_that_its_own_memory_was_shown():
    """In seat 1, and of the second episode alone, whose prompts tell of the first one."""
    settings = TabularSettings(learning_rate=4.0, memory="trial", style="shapellm-occurrence")
    seat = TabularSeat("t", settings, 2)
    seats = {"other": Seat(make_player("random", GAME)), "t": Seat(seat.table, "trial")}
    _, second = (batch.episodes for batch in Trials(GAME, seats, 4, 2, Key(0)).batches(0))
    told = {"\n".join(m.content for m in seat.table.style.messages(state.view(1), episode.pasts[1]))
            for episode in second for state, rows in steps(episode) if rows}  # fmt: skip
    before = {prompt: dict(row) for prompt, row in seat.table.rows.items()}
    seat.update(UpdateData([second], 1, Key(0)))
    changed = {prompt for prompt, row in seat.table.rows.items() if row != before.get(prompt)}
    assert changed
    assert changed <= told


def test_tabular_update_is_the_score_function_estimate():
    """By hand, for games of one round against a defector, who pays cooperation 0 and defection 1."""
    seat = TabularSeat("t", TabularSettings(initial_probability=0.6, learning_rate=2.0), 1)
    match = Match(ONE, [seat.player, make_player("ipd/AlwaysDefect", ONE)])
    episodes = play_setups(Setup(id=str(n), match=match, slots=(0, 1), key=Key(n)) for n in range(30))
    share = sum(transition.decision.action == "C" for transition in transitions_of([episodes], 0)) / 30
    assert 0.0 < share < 1.0
    before = dict(seat.table.row(ONE.start(Key(0)).view(0)))
    seat.update(UpdateData([episodes], 0, Key(0)))
    # mean of (r - mean r)(1[C] - .6): r is 1 - 1[C], so it is minus the variance of 1[C]
    slope = -share * (1.0 - share)
    after = seat.table.row(ONE.start(Key(0)).view(0))
    assert after["C"] - before["C"] == pytest.approx(2.0 * slope)
    assert after["D"] - before["D"] == pytest.approx(-2.0 * slope)


def test_tabular_update_is_scaled_by_the_number_of_environments():
    """Against a defector, cooperation pays 0 and defection 1: by hand, over all that two environments may play."""
    mean = 0.0
    for played_by in product("CD", repeat=2):
        seat = TabularSeat("t", TabularSettings(initial_probability=0.6), 1)
        pairs = [
            Match(ONE, [make_player(PLAYS[action], ONE), make_player("ipd/AlwaysDefect", ONE)]) for action in played_by
        ]
        episodes = play_setups(Setup(id=str(n), match=pair, slots=(0, 1), key=Key(n)) for n, pair in enumerate(pairs))
        before = seat.table.row(ONE.start(Key(0)).view(0))["C"]
        seat.update(UpdateData([episodes], 0, Key(0)))
        moved = seat.table.row(ONE.start(Key(0)).view(0))["C"] - before
        mean += math.prod(0.6 if action == "C" else 0.4 for action in played_by) * moved
    assert mean == pytest.approx(0.5 * 0.6 * 0.4 * (0.0 - 1.0)), "half of the gradient"


@pytest.mark.parametrize("opponent", ["ipd/AlwaysCooperate", "ipd/AlwaysDefect"])
def test_tabular_seat_learns_to_defect(opponent):
    seat = TabularSeat("t", TabularSettings(learning_rate=4.0), 1)
    trials = Trials(GAME, {"t": seat, "other": Seat(make_player(opponent, GAME))}, 5, 5, Key(0))
    for number in range(8):
        run_trial(trials, number)
    assert first_of(seat) < 0.2


def test_tabular_seat_learns_to_cooperate_with_tit_for_tat():
    """Over twenty rounds cooperation brings 3 a round, defection hardly more than 1."""
    seat = TabularSeat("t", TabularSettings(learning_rate=4.0, initial_probability=0.7), 1)
    trials = Trials(GAME, {"t": seat, "other": Seat(make_player("ipd/TitForTat", GAME))}, 5, 5, Key(1))
    for number in range(12):
        last = run_trial(trials, number)
    paid = [episode.per_round(0) for episode in last.stages[-1]]
    assert math.fsum(paid) / len(paid) > 2.5


def test_tabular_seat_learns_when_the_other_moves_first():
    """A random opponent bets with any card in Kuhn poker of OpenSpiel: a jack folds, and the others call."""
    game = make_game("spiel:kuhn_poker")
    seat = TabularSeat("t", TabularSettings(memory="episode", style="plain", learning_rate=20.0), 1)
    trials = Trials(game, {"other": Seat(make_player("random", game)), "t": seat}, 40, 5, Key(0))
    for number in range(6):
        run_trial(trials, number)
    views = (view for key in map(Key, range(60)) for view in random_views(game.start(key), key))
    calls = {one.info_key: seat.table.policy(one)["Bet"] for one in views if one.info_key in ("0b", "1b", "2b")}
    assert calls["0b"] < 0.1 < 0.9 < min(calls["1b"], calls["2b"])


def test_tabular_seat_resumes_from_its_state(tmp_path):
    settings = TabularSettings(learning_rate=4.0, learning_rate_scale=Schedule(start=0.1, end=1.0, steps=4))
    seat = TabularSeat("t", settings, 1)
    trials = Trials(GAME, {"t": seat, "other": Seat(make_player("ipd/TitForTat", GAME))}, 3, 2, Key(1))
    run_trial(trials, 0)
    again = TabularSeat("t", settings, 1)
    again.restore(seat.state(), tmp_path)
    run_trial(trials, 1)
    run_trial(Trials(GAME, {"t": again, "other": Seat(make_player("ipd/TitForTat", GAME))}, 3, 2, Key(1)), 1)
    assert again.table.rows == seat.table.rows
