"""Groups fork one situation, each seat is compared with itself, and tokens get the values of their pieces."""

import numpy as np
import pytest

from stratagem.algorithms.grpo import GRPORecipe
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import engine_for
from stratagem.language.models.load import load
from stratagem.playing.forks import steps
from stratagem.training.branched_rollouts import SIGNALS, BranchedRollouts, own_parts, rows_of
from stratagem.training.online import policy_of
from stratagem.training.opponents.pool import OpponentPool
from stratagem.training.rollouts import part_of_each_token

LITTLE = "diplomacy(until=1901, only=[FRANCE, GERMANY, ITALY])"


def collected(game, model="tiny", style="plain", iteration=0, **settings):
    recipe = GRPORecipe.read(
        {
            "games": [game],
            "model": model,
            "style": style,
            "temperature": 1.0,
            "adapter": {"targets": ["q_proj"]},  # it is new, and changes nothing
            "grpo": {"groups_per_batch": 3, **settings},
        }
    )
    agent = policy_of(recipe, load(model)).player
    made = make_game(game)
    opponents = OpponentPool(recipe.grpo, made, agent)
    return BranchedRollouts(recipe.grpo, made, agent, Key(3), opponents).collect(iteration)


def forks_of(found):
    groups = {}
    for episode in found.episodes:
        if episode.purpose == "train":
            groups.setdefault(episode.group, []).append(episode)
    return groups


def test_forks_begin_where_others_played_up_to_and_the_seat_goes_round():
    found = collected("tic-tac-toe", prefix_turns=(1, 3), opponents={"random": 1.0})
    parents = {episode.id: episode for episode in found.episodes if episode.purpose == "warm_up"}
    groups = forks_of(found)
    assert [len(group) for group in groups.values()] == [4, 4, 4]
    assert [group[0].seat_of(0) for group in groups.values()] == [0, 1, 0]
    for group in groups.values():
        parent = parents[group[0].parent]
        assert 1 <= len(parent.decisions) <= 3
        begun = [next(steps(episode, parents))[0].dump() for episode in group]
        assert all(state == begun[0] for state in begun)
        assert group[0].seat_of(0) in next(steps(group[0], parents))[0].to_act
        assert len({tuple(row.action for row in episode.decisions) for episode in group}) > 1


def test_the_next_iteration_goes_on_with_the_next_seat():
    found = collected("tic-tac-toe", iteration=1, opponents={"random": 1.0})
    assert [group[0].seat_of(0) for group in forks_of(found).values()] == [1, 0, 1]


def test_where_a_batch_is_not_stratified_seats_are_drawn_and_how_often_each_came_up_is_counted():
    settings = {"groups_per_batch": 10, "group_size": 2, "opponents": {"random": 1.0}}
    even, drawn = (collected("kuhn(hands=1)", stratified=one, **settings) for one in (True, False))
    for found, wanted in ((even, [0, 1] * 5), (drawn, None)):
        seats = [group[0].seat_of(0) for group in forks_of(found).values()]
        often = [seats.count(0), seats.count(1)]
        assert wanted is None or seats == wanted
        assert (found.counts["seat_least"], found.counts["seat_most"]) == (min(often), max(often))
    assert seats != [0, 1] * 5
    assert set(seats) == {0, 1}
    itself = collected("kuhn(hands=1)", opponents={"self": 1.0})
    assert itself.counts["seat_most"] == 0, "all seats learn in every group"


def test_collector_trains_only_the_agent_against_others_and_all_seats_in_self_play():
    for opponents, learning in (({"random": 1.0}, 1), ({"self": 1.0}, 2)):
        found = collected("kuhn(hands=1)", opponents=opponents)
        seats = {(e.id, row.seat) for e in found.episodes for row in e.decisions if row.calls}
        assert len(found.examples) == sum(bool(row.calls) for e in found.episodes for row in e.decisions)
        assert max(sum(name == one for name, _ in seats) for one, _ in seats) == learning


@pytest.mark.parametrize("seeds", ["independent", "shared"])
def test_shared_chance_seeds_make_the_others_act_alike(seeds):
    found = collected("ipd(rounds=1)", groups_per_batch=6, group_size=8, chance_seeds=seeds, opponents={"random": 1.0})
    acts = {who: [] for who in ("agent", "other")}
    for group in forks_of(found).values():
        for who, rows in (("agent", True), ("other", False)):
            acts[who].append({r.action for episode in group for r in episode.decisions if bool(r.calls) == rows})
    assert [len(said) for said in acts["other"]] == [1 if seeds == "shared" else 2] * 6
    assert max(len(said) for said in acts["agent"]) == 2


def test_who_learns_in_all_seats_throws_dice_of_its_own_in_each():
    mostly = {"self": 1.0, "random": 1e-9}
    found = collected("ipd(rounds=1)", groups_per_batch=6, group_size=8, chance_seeds="shared", opponents=mostly)
    for group in forks_of(found).values():
        assert all(len({e.decisions[seat].action for e in group}) == 2 for seat in range(2))


def test_opponents_are_drawn_by_their_shares():
    found = collected("ipd(rounds=1)", groups_per_batch=40, group_size=2, opponents={"TitForTat": 3.0, "random": 1.0})
    met = [next(name for name in group[0].players if "policy" not in name) for group in forks_of(found).values()]
    share = sum("TitForTat" in name for name in met) / len(met)
    assert len(met) == 40
    assert 0.55 < share < 0.95


def test_an_episode_is_worth_more_than_its_group_by_hand():
    found = collected("kuhn(hands=1)", group_size=6, advantage={"normalize_std": False}, opponents={"random": 1.0})
    expected = []
    for group in forks_of(found).values():
        pay = np.array([episode.payoffs[episode.seat_of(0)] for episode in group])
        for episode, advantage in zip(group, pay - pay.mean(), strict=True):
            expected += [advantage] * sum(bool(row.calls) for row in episode.decisions)
    assert [example.columns["advantage"][0] for example in found.examples] == pytest.approx(expected)
    recorded = [row.advantage for e in found.episodes for row in e.decisions if row.advantage is not None]
    assert recorded == pytest.approx(expected)
    assert any(expected)
    assert found.terms == {"payoff"}
    assert all(example.columns["term/payoff"] == example.columns["advantage"] for example in found.examples)


def test_an_advantage_beyond_the_bound_is_cut():
    settings = {"group_size": 6, "opponents": {"random": 1.0}}
    whole = collected("kuhn(hands=1)", **settings)
    cut = collected("kuhn(hands=1)", advantage_clip=0.5, **settings)
    for one, other in zip(whole.examples, cut.examples, strict=True):
        assert other.columns["advantage"] == tuple(max(-0.5, min(0.5, value)) for value in one.columns["advantage"])
    assert any(abs(value) > 0.5 for example in whole.examples for value in example.columns["advantage"])
    assert 0 < cut.counts["advantages_clipped"] <= cut.counts["advantages"]


@pytest.mark.parametrize("of", ["group_mean", "per_round"])
def test_orders_are_worth_what_they_did_on_every_one_of_their_tokens(of):
    """One group, worked out again from the record: the advantage of the sheet, and each order's own worth."""
    found = collected(
        LITTLE,
        "small",
        "bare",
        groups_per_batch=1,
        group_size=2,
        advantage={"type": "per_order", "weight_coef": 10.0, "of": {"type": of, "normalize_std": False}},
        reward_weights={"parts": 1.0, "outcome": 0.5},
        opponents={"hold": 1.0},
    )
    (group,) = forks_of(found).values()
    rows = [[row for row in episode.decisions if row.calls] for episode in group]
    parts = [[own_parts(row) for row in own] for own in rows]
    ends = [0.5 * sum(part.reward for row in own for part in row.parts if not part.slot) for own in rows]
    own = [[sum(part.reward for part in row) for row in one] for one in parts]
    clocks = [[row.clock for row in one] for one in rows]
    every = [part.reward for one in parts for row in one for part in row]
    mean = sum(every) / len(every)
    examples = iter(found.examples)
    for number, episode in enumerate(group):
        for place, row in enumerate(rows[number]):
            first = 0 if of == "group_mean" else place
            to_go = [
                sum(worth for worth, clock in zip(own[n], clocks[n], strict=True) if clock >= row.clock or not first)
                + ends[n]
                for n in range(2)
                if of == "group_mean" or row.clock in clocks[n]
            ]
            mine = sum(own[number][first:]) + ends[number]
            sheet = mine - sum(to_go) / len(to_go)
            wanted = {round(sheet + 10.0 * (part.reward - mean), 9) for part in parts[number][place]}
            assert {round(value, 9) for value in next(examples).columns["advantage"]} <= wanted, episode.id
    assert next(examples, None) is None
    assert len({value for example in found.examples for value in example.columns["advantage"]}) > len(found.examples)


def test_behind_the_horizon_the_position_is_paid():
    game = "diplomacy(until=1902, only=[FRANCE, GERMANY, ITALY])"
    found = collected(
        game,
        "small",
        "bare",
        opponents={"random": 1.0},
        horizon_phases=2,
        groups_per_batch=2,
        prefix_turns=(0, 1),
    )
    parents = {episode.id: episode for episode in found.episodes if episode.purpose == "warm_up"}
    told = [episode for group in forks_of(found).values() for episode in group]
    assert len(told) == 8
    for episode in told:
        (first, _), *_, (last, _) = steps(episode, parents)
        assert not episode.finished
        assert all(row.clock < first.clock(0) + 2 for row in episode.decisions)
        assert last.clock(0) >= first.clock(0) + 2
        assert episode.payoffs == list(last.standing())
        assert sum(episode.payoffs) == pytest.approx(1.0)
        agent = episode.seat_of(0)
        paid = [row.payoff for row in episode.decisions if row.seat == agent]
        assert sum(paid) == paid[-1] == episode.payoffs[agent]


def test_signals_penalise_the_round_that_they_speak_of():
    """Also in forks that begin in the middle: a seat's pieces have, round by round, what the record says of it."""
    terms = {"payoff": 1.0, "externality": -2.0, "collusion": -1.0}
    found = collected(
        "ipd(rounds=4)",
        reward_weights=terms,
        prefix_turns=(0, 3),
        groups_per_batch=6,
        opponents={"random": 1.0},
    )
    seen = set()
    for group in forks_of(found).values():
        for episode in group:
            agent = episode.seat_of(0)
            pieces = list(rows_of(0, "", episode, (agent,)))
            for name in SIGNALS:
                told = [row[agent] or 0.0 for row in episode.signals[name]]
                assert [piece.rewards[name] for piece in pieces] == told
                seen |= {(name, value) for value in told}
    assert {name for name, value in seen if value} == {name for name, value in seen if not value} == {*SIGNALS}
    assert found.terms == set(terms)


def test_in_self_play_a_seat_is_compared_with_the_same_seat_of_the_other_forks():
    found = collected("kuhn(hands=1)", group_size=6, advantage={"normalize_std": False}, opponents={"self": 1.0})
    expected = []
    for group in forks_of(found).values():
        mean = np.mean([episode.payoffs for episode in group], axis=0)
        for episode in group:
            for seat in range(2):
                calls = sum(bool(row.calls) for row in episode.decisions if row.seat == seat)
                expected += [episode.payoffs[seat] - mean[seat]] * calls
    assert [example.columns["advantage"][0] for example in found.examples] == pytest.approx(expected)
    assert any(expected)


def test_the_tokens_of_an_order_have_the_credit_of_that_order():
    settings = {
        "reward_weights": {"parts": 1.0},
        "advantage": "per_order(weight_coef=10.0)",
        "opponents": {"hold": 1.0},
    }
    found = collected(LITTLE, "small", "bare", groups_per_batch=1, group_size=2, **settings)
    vocabulary, differ = engine_for("small").engine.vocabulary, 0
    rows = [row for group in forks_of(found).values() for episode in group for row in episode.decisions if row.calls]
    for row, example in zip(rows, found.examples, strict=True):
        (call,), start = row.calls, len(row.calls[0].prompt.tokens)
        places = part_of_each_token(call, row.action, vocabulary)
        given = {}
        for place, credit in zip(example.loss_positions, example.columns["advantage"], strict=True):
            given.setdefault(places[place - start], set()).add(credit)
        assert all(len(some) == 1 for piece, some in given.items() if piece is not None)
        differ += len(set().union(*given.values())) > 1
    assert differ, "some orders of one sheet have a higher advantage than others"


def test_what_a_decision_was_paid_stands_at_one_of_its_pieces():
    found = collected(
        LITTLE,
        "small",
        "bare",
        groups_per_batch=1,
        group_size=2,
        advantage="per_order",
        opponents={"hold": 1.0},
    )
    for group in forks_of(found).values():
        for episode in group:
            seat = episode.seat_of(0)
            pieces = list(rows_of(0, "", episode, (seat,)))
            assert max(piece.part for piece in pieces) > 0
            assert sum(piece.rewards["payoff"] for piece in pieces) == pytest.approx(episode.payoffs[seat])
            assert episode.payoffs[seat] > 0.0
