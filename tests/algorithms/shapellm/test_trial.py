"""Trials: who learns when, from what, and what is carried over."""

import math

import pytest

from stages import run_trial
from stratagem.algorithms.shapellm.algorithm import Trials
from stratagem.algorithms.shapellm.metrics import (
    CERTAIN,
    empirical_policy_metrics,
    joint_action_metrics,
    payoff_metrics,
    policy_metrics,
)
from stratagem.algorithms.shapellm.seat import Seat, merge_rewards, transitions_of
from stratagem.algorithms.shapellm.shapers.memory_one import memory_one_views
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups

GAME = make_game("ipd-shapellm(rounds=3)")


class Noted(Seat):
    """Notes what it is given to learn from."""

    def __init__(self, player, memory="none", every=0):
        super().__init__(player, memory, every)
        self.given = []

    def update(self, data):
        stages, slot, key = data[:3]
        self.given.append(([[episode.id for episode in stage] for stage in stages], slot, key.value))
        return {"number": float(len(self.given))}


class Mute:
    """Says nothing legal in the rounds that are named."""

    name = "mute"
    traits = Traits()

    def __init__(self, rounds, action="C"):
        self.rounds, self.action = rounds, action

    def turn(self, ask):
        said = None if ask.view.facts.round in self.rounds else self.action
        return Move(said, "scripted" if said else "illegal")

    def policy(self, view):
        return {self.action: 1.0}


def trials(first, second, episodes=4):
    seats = {"one": first, "two": second}
    return Trials(GAME, seats, environments=2, episodes=episodes, key=Key(3))


def test_seats_are_updated_at_their_own_intervals():
    fast, slow = Noted(make_player("random", GAME), every=1), Noted(make_player("random", GAME), every=4)
    trial = run_trial(trials(fast, slow), 5)
    assert [len(stages) for stages, _, _ in fast.given] == [1, 1, 1, 1]
    assert [len(stages) for stages, _, _ in slow.given] == [4]
    assert slow.given[0][0][2] == ["trial-5/0.2", "trial-5/1.2"] == fast.given[2][0][0]
    assert (fast.given[0][1], slow.given[0][1]) == (0, 1)
    assert len({key for _, _, key in (*fast.given, *slow.given)}) == 5, "no two draw by one key"
    assert trial.learnt == {"one/number": 2.5, "two/number": 1.0}
    assert [len(stage) for stage in trial.stages] == [2] * 4
    assert len(trial.episodes) == 8


def test_trial_follows_from_its_number():
    def payoffs(number):
        players = (Seat(make_player("random", GAME)) for _ in range(2))
        return [episode.payoffs for episode in run_trial(trials(*players), number).episodes]

    assert payoffs(1) == payoffs(1) != payoffs(2)


def test_every_episode_of_a_trial_draws_by_a_key_of_its_own():
    """Environments are independent samples, and an episode of one does not repeat the draws of the one before."""
    players = (Seat(make_player("random", GAME)) for _ in range(2))
    keys = [episode.key for episode in run_trial(trials(*players), 0).episodes]
    assert len(set(keys)) == len(keys) == 8


def test_learner_is_given_the_policy_of_each_seat_in_its_own_words():
    """Seat 1 has other labels than seat 0, and its log-odds are those of its own first action."""
    game = make_game("ipd-shapellm(rounds=2, labels=[C, D], labels_second=[X, Y])")

    class Informed(Noted):
        needs_policies = True

        def update(self, data):
            self.given.append(data.log_odds)
            return {}

    one = Informed(make_player("ipd/AlwaysCooperate", game), every=1)
    seats = {"one": one, "two": Seat(Mute(set(), "Y"))}
    run_trial(Trials(game, seats, environments=1, episodes=1, key=Key(0)), 0)
    assert one.given == [((CERTAIN,) * 5, (-CERTAIN,) * 5)]


def test_trial_memory_is_reset_after_the_trial():
    shaper, other = Seat(make_player("ipd/AlwaysDefect", GAME), "trial"), Seat(make_player("ipd/AlwaysCooperate", GAME))
    both = trials(shaper, other)
    for number in (0, 1):
        first, second, third, _ = run_trial(both, number).stages
        assert [episode.pasts[0].rounds for episode in first] == [0, 0]
        assert dict(second[1].pasts[0].counts) == {("D", "C"): 3}
        assert third[0].pasts[0].rounds == 6
        assert third[0].pasts[1].rounds == 0


def episode_of(first, second, **options):
    match = Match(GAME, [first, second])
    return play_setups([Setup(id="one", match=match, slots=(0, 1), key=Key(1), **options)])[0]


def test_null_action_is_a_transition_and_the_others_is_discarded():
    """ShapeLLM, A.1: the lowest payoff less one, and the other's transition is discarded."""
    episode = episode_of(Mute({1}), Mute(set(), "D"))
    own, other = transitions_of([[episode]], 0), transitions_of([[episode]], 1)
    assert [(transition.decision.action, transition.reward) for transition in own] == [
        ("C", 0.0),
        (None, -1.0),
        ("C", 0.0),
    ]
    assert [transition.reward for transition in other] == [4.0, 4.0]
    assert [transition.turn for transition in other] == [(0, 0), (0, 2)]


def test_trajectory_is_the_environment_over_all_episodes_of_an_update():
    episode = episode_of(Mute(set()), Mute(set()))
    found = transitions_of([[episode, episode], [episode, episode]], 0)
    assert [transition.trajectory for transition in found] == [0] * 3 + [1] * 3 + [0] * 3 + [1] * 3
    assert [transition.turn[0] for transition in found] == [0] * 6 + [1] * 6


def test_shared_reward_is_the_sum_over_seats():
    """ShapeLLM, footnote 5."""
    episode = episode_of(Mute({1}), Mute(set(), "D"))
    assert [transition.reward for transition in transitions_of([[episode]], 0, shared=True)] == [4.0, -1.0, 4.0]


def test_merge_rewards_adds_untrained_rewards_to_the_transition_before():
    """Without one before it, to the first one after it; an environment without trained transitions is left out."""
    episodes = [episode_of(Mute(set(), "D"), Mute(set())) for _ in range(2)]
    found = transitions_of([episodes, episodes], 0)
    assert [one.reward for one in found] == [4.0] * 12

    def rewards(*trained):
        return [one.reward for one in merge_rewards(found, lambda one: (one.trajectory, one.turn) in trained)]

    assert rewards((0, (0, 1)), (0, (1, 1)), (1, (1, 2))) == [4.0 * 4, 4.0 * 2, 4.0 * 6]
    assert rewards((0, (0, 2))) == [4.0 * 6]


def test_merge_rewards_adds_the_others_rewards_in_the_same_places():
    """Where the seat plays D and the other C, the seat earns 4 in each round and the other nothing."""
    episode = episode_of(Mute(set(), "D"), Mute(set()))
    own, other = transitions_of([[episode]], 0), transitions_of([[episode]], 1)
    assert [(one.reward, one.others_reward) for one in own] == [(4.0, 0.0)] * 3
    assert [(one.reward, one.others_reward) for one in other] == [(0.0, 4.0)] * 3
    (merged,) = merge_rewards(other, lambda one: one is other[1])
    assert (merged.reward, merged.others_reward) == (0.0, 12.0)


def test_payoff_metrics_leave_out_rounds_with_a_null_action():
    figures = payoff_metrics([episode_of(Mute({1}), Mute(set(), "D"))], ["one", "two"])
    assert figures == {"one/payoff": 0.0, "two/payoff": 4.0, "one/null": pytest.approx(1 / 3), "two/null": 0.0}


class Stammers(Mute):
    """Says nothing legal in the rounds that are named, until it is asked again."""

    def turn(self, ask):
        return super().turn(ask) if not ask.attempt else Move(self.action)


class Says:
    """Plays these actions turn by turn; None is nothing legal."""

    name = "says"
    traits = Traits()

    def __init__(self, *actions):
        self.actions = actions

    def turn(self, ask):
        return Move(self.actions[ask.turn])


def hand_of(*actions):
    """A hand of Kuhn poker, in which a round may have two turns of the opener."""
    game = make_game("kuhn(hands=1)")
    match = Match(game, [Says(*actions), Says(*actions)])
    return play_setups([Setup(id="one", match=match, slots=(0, 1), key=Key(1))])[0]


def test_transitions_of_a_round_with_two_turns_of_a_seat_are_two():
    episode = hand_of("PASS", "BET", "CALL")
    found = transitions_of([[episode]], 0)
    assert [(one.decision.action, one.reward) for one in found] == [("PASS", 0.0), ("CALL", episode.payoffs[0])]


def test_payoff_metrics_leave_out_a_round_with_a_null_action_at_its_first_turn():
    assert math.isnan(payoff_metrics([hand_of(None, "BET", "CALL")], ["one", "two"])["one/payoff"])


def test_payoff_metrics_count_rounds_with_a_legal_second_attempt():
    match = Match(GAME, [Stammers({1}), Mute(set(), "D")])
    match.retries = 1
    (episode,) = play_setups([Setup(id="one", match=match, slots=(0, 1), key=Key(1))])
    assert [row.action for row in episode.decisions if row.turn == 1] == [None, "C", "D"]
    episode.rounds[1] = (3.0, 7.0)
    assert payoff_metrics([episode], ["one", "two"]) == {
        "one/payoff": 1.0,
        "two/payoff": 5.0,
        "one/null": 0.0,
        "two/null": 0.0,
    }


def test_joint_action_metrics_are_shares_of_all_rounds():
    figures = joint_action_metrics(GAME, [episode_of(Mute({1}), Mute(set(), "D"))])
    assert figures == {
        "visited/C-C": 0.0,
        "visited/C-D": pytest.approx(2 / 3),
        "visited/D-C": 0.0,
        "visited/D-D": 0.0,
        "visited/null": pytest.approx(1 / 3),
    }


def test_policy_metrics_are_the_seats_policy_in_five_states():
    assert list(memory_one_views(GAME, 1)) == ["start", "C-C", "C-D", "D-C", "D-D"]
    seats = {"tft": Seat(make_player("ipd/TitForTat", GAME)), "hard": Seat(make_player("ipd/AlwaysDefect", GAME))}
    figures = policy_metrics(GAME, seats)
    after = {name.removeprefix("tft/first/"): value for name, value in figures.items() if name.startswith("tft")}
    assert after == {"start": 1.0, "C-C": 1.0, "C-D": 0.0, "D-C": 1.0, "D-D": 0.0}
    assert {value for name, value in figures.items() if name.startswith("hard")} == {0.0}


def test_empirical_policy_metrics_are_frequencies_of_a_seat_with_memory():
    """Three rounds: it says C, then nothing legal, then C; after a null action no joint action was played."""
    counting = Seat(Mute({1}), memory="episode")
    seats = {"counts": counting, "hard": Seat(Mute(set(), "D"))}
    assert not [name for name in policy_metrics(GAME, seats) if name.startswith("counts")]
    figures = empirical_policy_metrics(GAME, seats, [episode_of(Mute({1}), Mute(set(), "D"))])
    assert figures["counts/first/start"] == 1.0
    assert all(math.isnan(figures[f"counts/first/{state}"]) for state in ("C-C", "C-D", "D-C", "D-D"))
    played = episode_of(Mute(set(), "C"), Mute(set(), "D"))
    assert empirical_policy_metrics(GAME, seats, [played])["counts/first/C-D"] == 1.0
    mirrored = {"hard": Seat(Mute(set(), "D")), "counts": counting}
    assert (
        empirical_policy_metrics(GAME, mirrored, [episode_of(Mute(set(), "D"), Mute(set(), "C"))])["counts/first/C-D"]
        == 1.0
    )
    faced = episode_of(Mute(set(), "C"), Mute({1}, "D"))
    assert empirical_policy_metrics(GAME, seats, [faced])["counts/first/C-D"] == 1.0, "in the second round alone"
