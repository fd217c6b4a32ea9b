"""Rollouts are dealt into halves by their group, in whatever order they ended."""

import numpy as np
import pytest

from stratagem.algorithms.sepo.algorithm import scaled_payoffs
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.models.load import load
from stratagem.learn.advantages.base import AdvantageEstimate
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.training.online import policy_of
from stratagem.training.rollouts import (
    decision_columns,
    group_setups,
    round_payoffs,
    select_decisions,
    training_examples,
)


def test_every_group_is_dealt_evenly_whatever_the_order():
    game = make_game("kuhn(hands=2)")
    match = Match(game, [policy_of(SEPORecipe(), load("tiny")).player, make_player("random", game)])
    episodes = list(play(group_setups(match, groups=3, size=4, key=Key(0), name="dealt")))[::-1]
    mixed = [episodes[place] for place in np.random.default_rng(1).permutation(len(episodes))]
    rows = select_decisions(mixed)
    estimate = AdvantageEstimate(advantage=np.zeros(len(rows)), centred_terms={"payoff": np.ones(len(rows))})
    examples = training_examples(rows, estimate)
    assert len(examples) == len(rows)
    halves = {}
    for row, example in zip(rows, examples, strict=True):
        halves.setdefault(row.group, {}).setdefault(row.episode, set()).add(example.row["half"])
    assert len(halves) == 3
    for group in halves.values():
        assert all(len(half) == 1 for half in group.values())
        assert sorted(half.pop() for half in group.values()) == [0.0, 0.0, 1.0, 1.0]


def test_agents_seat_rotates_also_with_one_group_per_iteration():
    game = make_game("kuhn(hands=1)")
    match = Match(game, [make_player("random", game), make_player("random", game)])

    def seats(groups, before):
        setups = group_setups(match, groups=groups, size=1, key=Key(0), name="round", before=before)
        return [setup.slots.index(0) for setup in setups]

    assert [seats(1, before) for before in range(4)] == [[0], [1], [0], [1]]
    assert seats(4, 0) == seats(4, 4) == [0, 1, 0, 1]
    assert seats(3, 3) == [1, 0, 1]


def test_a_round_of_several_decisions_is_paid_once():
    """At the first decision of the agent in it; a hand of Kuhn poker may ask the opener twice."""
    game = make_game("kuhn(hands=4)")
    match = Match(game, [make_player("random", game), make_player("random", game)])
    episodes = list(play(group_setups(match, groups=4, size=3, key=Key(0), name="paid")))
    rows = select_decisions(episodes)
    decisions = decision_columns(rows, episodes, {"payoff": scaled_payoffs})
    places = [(row.episode, row.decision.round) for row in rows]
    assert len(set(places)) < len(places)
    first = {place: number for number, place in reversed(list(enumerate(places)))}
    for number, place in enumerate(places):
        episode = episodes[place[0]]
        wanted = scaled_payoffs(episode, episode.seat_of(0))[place[1]] if first[place] == number else 0.0
        assert decisions.terms["payoff"][number] == wanted


def test_a_discarded_decision_is_no_training_example():
    game = make_game("kuhn(hands=1)")
    match = Match(game, [policy_of(SEPORecipe(), load("tiny")).player, make_player("random", game)])
    rows = select_decisions(list(play(group_setups(match, groups=1, size=2, key=Key(0), name="kept"))))
    estimate = AdvantageEstimate(advantage=np.ones(len(rows)))
    assert len(training_examples(rows, estimate)) == len(rows)
    rows[0].decision.keep = False
    rows[0].decision.advantage = None
    assert len(training_examples(rows, estimate)) == len(rows) - 1
    assert [row.decision.advantage for row in rows] == [None, *[1.0] * (len(rows) - 1)], "the record has them"


def test_in_self_play_a_seat_is_an_episode_of_its_own_and_is_compared_with_the_same_seat():
    game = make_game("kuhn(hands=2)")
    match = Match(game, [make_player("random", game)] * 2)
    episodes = list(play(group_setups(match, groups=2, size=3, key=Key(0), name="self")))
    rows = select_decisions(episodes, slots=(0, 1))
    assert len(rows) == sum(len(episode.decisions) for episode in episodes)
    decisions = decision_columns(rows, episodes, {"payoff": round_payoffs})
    for column, key in (
        (decisions.episode, lambda row: (row.episode, row.decision.seat)),
        (decisions.group, lambda row: (row.group, row.decision.seat)),
    ):
        places = [key(row) for row in rows]
        assert len(set(zip(column.tolist(), places, strict=True))) == len(set(places)) == len(set(column.tolist()))
    for number in set(decisions.episode.tolist()):
        own = decisions.episode == number
        row = rows[own.argmax()]
        total = decisions.terms["payoff"][own].sum()
        assert total == pytest.approx(episodes[row.episode].payoffs[row.decision.seat])


def test_a_group_shares_its_start_unless_told_otherwise():
    game = make_game("kuhn(hands=1)")
    match = Match(game, [make_player("random", game)] * 2)

    def starts(**settings):
        return {episode.chance for episode in play(group_setups(match, 1, 8, Key(0), name="start", **settings))}

    assert len(starts()) == 1
    assert len(starts(same_start=False)) == 8
