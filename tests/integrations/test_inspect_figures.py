"""Options, figures and texts of the tasks for inspect, as far as they need no inspect."""

from dataclasses import replace

import pytest

import stratagem as sg
from stratagem.base.errors import StratagemError
from stratagem.connect.inspect.figures import Figures, estimates
from stratagem.connect.inspect.plan import make_plan
from stratagem.connect.inspect.shown import playthrough
from stratagem.players.base import Move, Traits
from stratagem.playing.scheduler import play


def plan_of(game="kuhn", opponents="NashApprox", episodes=20, seed=0, style="plain", *, chance=True, default="random"):
    return make_plan(game, opponents, episodes, seed, style, chance=chance, default=default)


def rows_of(plan, agent):
    """Figures of an agent against the opponents of a plan, as the solver takes them."""
    player = sg.player(agent, plan.game)
    return [
        Figures.of(episode, name, duel=plan.duel)
        for name, opponent in plan.opponents.items()
        for episode in play(plan.setup(plan.match(player, opponent), number) for number in range(plan.episodes))
    ]


def test_plan_pays_what_play_pays():
    plan = plan_of(episodes=200, seed=3)
    total, _ = sg.play("kuhn", ["AlwaysBet", "NashApprox"], episodes=200, seed=3, progress=False).totals()
    found = estimates(rows_of(plan, "AlwaysBet"))
    assert (found["payoff"], found["payoff_se"], found["deals"]) == (total.payoff.mean, total.payoff.se, 100.0)
    assert found["payoff_low"] < found["payoff"] < found["payoff_high"]
    assert found["illegal"] == 0.0


def test_opponents_have_the_same_deals_and_figures_of_their_own():
    plan = plan_of(opponents=["NashApprox", " AlwaysBet"], episodes=40)
    rows = rows_of(plan, "random")
    found = estimates(rows)
    each = {name: estimates([row for row in rows if row.opponent == name])["payoff"] for name in plan.opponents}
    assert {name: found[f"payoff against {name}"] for name in each} == each
    assert found["payoff"] == pytest.approx(sum(each.values()) / 2)
    assert found["deals"] == 20.0


def test_lower_bound_is_below_the_exact_exploitability():
    exact = sg.exploitability("kuhn", "AlwaysBet").found.exploitability
    found = estimates(rows_of(plan_of(opponents="CallingStation,TightValue", episodes=1000), "AlwaysBet"))
    assert 0.0 < found["exploitability_lower_bound_low"] < found["exploitability_lower_bound"] < exact
    assert found["exploitability_lower_bound"] == -found["payoff"]


@pytest.mark.parametrize("episodes", [20, 19])
def test_lower_bound_needs_both_seats_of_each_deal(episodes):
    assert ("exploitability_lower_bound" in estimates(rows_of(plan_of(episodes=episodes), "random"))) == (
        episodes == 20
    )


def test_lower_bound_needs_a_zero_sum_game_of_two():
    assert "exploitability_lower_bound" not in estimates(rows_of(plan_of("ipd(rounds=3)", "TitForTat"), "random"))


def test_later_epochs_have_deals_of_their_own():
    plan = plan_of()
    match = plan.match(sg.player("random", "kuhn"), sg.player("random", "kuhn"))
    first, again, second = ([plan.setup(match, number, epoch) for number in range(20)] for epoch in (1, 1, 2))
    assert [setup.key for setup in first] == [setup.key for setup in again]
    assert not {setup.key.value for setup in first} & {setup.key.value for setup in second}
    assert not {setup.group for setup in first} & {setup.group for setup in second}


def test_chance_level_and_illegal_turns_have_intervals():
    rows = [
        replace(row, chance_payoff=-1.0, chance_rounds=6, illegal=number % 2)
        for number, row in enumerate(rows_of(plan_of(), "random"))
    ]
    found = estimates(rows)
    assert found["chance"] == pytest.approx(-1 / 6)
    assert 0.0 < found["illegal_low"] < found["illegal"] < found["illegal_high"] < 1.0
    assert "chance" not in estimates([*rows[1:], replace(rows[0], chance_payoff=None)])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"game": "kuhm"}, "did you mean kuhn"),
        ({"game": 3}, "`game` as a text, not 3"),
        ({"opponents": "Nash"}, "no player of kuhn called 'Nash'"),
        ({"opponents": "human"}, "--model-role opponent=MODEL"),
        ({"opponents": "api:m@http://localhost:1/v1"}, "--model-role opponent=MODEL"),
        ({"opponents": {"a": 1}}, "`opponents` as a text"),
        ({"episodes": 0}, "`episodes` of at least 1"),
        ({"episodes": "many"}, "not 'many'"),
        ({"seed": 0.5}, "A seed is a whole number"),
        ({"style": "rhyme"}, "no prompt style called 'rhyme'"),
        ({"style": "shapellm-state"}, ""),
        ({"chance": "maybe"}, "`chance` as true or false"),
        ({"game": "quiz", "opponents": "random"}, "one seat"),
    ],
)
def test_bad_option_is_one_sentence(options, sentence):
    with pytest.raises(StratagemError) as caught:
        plan_of(**options)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_texts_that_were_split_at_commas_are_joined():
    plan = plan_of(["ipd(rounds=3", " continuation=0.5)"], ["noise(TitForTat", " p=0.5)", "random"])
    assert plan.game == sg.game("ipd", rounds=3, continuation=0.5)
    assert list(plan.opponents) == ["noise(TitForTat, p=0.5)", "random"]


class Evil:
    """A player whose name and replies are markup."""

    name = "a|b](http://evil)<script>\u202e"
    traits = Traits()

    def turn(self, ask):
        return Move(None, "free", said="| **won** |")


def test_playthrough_is_a_table_without_foreign_markup():
    plan = plan_of("kuhn(hands=1)")
    (episode,) = play([plan.setup(plan.match(Evil(), sg.player("random", plan.game)), 0)])
    text = playthrough(episode)
    rows = [line for line in text.splitlines() if line.startswith("| 1 ")]
    assert len(rows) == len(episode.decisions)
    assert all(len(line.replace("\\|", "").split("|")) == 7 for line in rows)
    assert "no legal move (illegal)" in text
    assert "won" not in text
    assert "](http" not in text
    assert "<script>" not in text
    assert "\u202e" not in text
