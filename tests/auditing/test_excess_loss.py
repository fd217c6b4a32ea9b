"""Check of payoffs against exploitability: two figures that one policy cannot have."""

from types import SimpleNamespace

import pytest
from cheating_agents import ByHistory
from flawed import Equilibrium, Passive

from stratagem import player
from stratagem.base.errors import CannotCompute
from stratagem.base.number_texts import number
from stratagem.games import Key, make_game
from stratagem.games.kuhn.players import KuhnPlayer
from stratagem.games.sequence_form import moves_of
from stratagem.measure.audit.checks.excess_loss import Excess, equal_share, excess
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.probes.matches import MatchesProbe
from stratagem.measure.audit.run import run_audit
from stratagem.measure.exploitability.best_responder import BestResponder
from stratagem.measure.statistics import Estimate, exactly
from stratagem.measure.tree_policy import oracle_of, policy_on
from stratagem.players.base import Traits
from stratagem.show.audit.words import verdict


def card_of(agent, games=("kuhn",), decisions=889, seed=0):
    return run_audit(plan_audit(agent, games, decisions, seed))


def found(deals, gain, share=0.0, most=2.0, level=0.05):
    return excess(deals, gain, share, most, Key(0), level)


SPREAD = [-0.7, -0.5, -0.3] * 4
"""Pay of mean -.5 and standard error .049."""


def test_excess_is_the_share_less_the_pay_less_the_gain():
    assert found(SPREAD, exactly(0.1)).value == pytest.approx(0.4)
    assert found(SPREAD, exactly(0.1), share=0.25).value == pytest.approx(0.65)
    assert found([-value for value in SPREAD], exactly(0.1)).value == pytest.approx(-0.6)


def test_excess_has_students_limit_of_the_pay_where_the_gain_is_exact():
    assert found(SPREAD, exactly(0.1)).lower == pytest.approx(0.4 - 1.796 * 0.0492, abs=0.004)
    assert found(SPREAD, exactly(0.5)).p == pytest.approx(0.5, abs=0.01)
    assert found(SPREAD, exactly(0.1)).p < 0.001
    assert found(SPREAD, exactly(0.9)).p > 0.999


def test_excess_adds_the_error_of_the_gain():
    wide = found(SPREAD, Estimate(0.1, se=0.2, n=100))
    assert wide.value == pytest.approx(0.4)
    assert wide.lower == pytest.approx(0.4 - 1.645 * 0.206, abs=0.02)
    assert wide.p == pytest.approx(0.03, abs=0.01)
    assert found(SPREAD, Estimate(0.1, se=0.2, n=100), level=0.025).lower < wide.lower


def test_excess_of_equal_deals_allows_for_the_largest_payoff():
    """With probability `(1 - d)^n` a mean of n equal values -1 and payoffs up to 2 is above -1 + 3 d."""
    assert found([-1.0] * 5, exactly(0.25)).p == pytest.approx(0.75**5, abs=0.01)
    assert found([-1.0] * 30, exactly(0.25)).p < 0.001
    assert found([-1.0] * 30, exactly(1.0)).p == 1.0


def test_excess_loss_names_both_figures_of_an_agent_that_gives_up_in_play():
    card = card_of(ByHistory(), decisions=1500)
    figure, pay = card.by_name["kuhn.excess_loss"], card.by_name["kuhn.payoff_random"]
    bound = card.by_name["kuhn.exploitability"]
    assert figure.alarm
    assert 0.0 < figure.lower < figure.value < -pay.value
    (line,) = [line for line in verdict(card) if line.startswith("kuhn.excess_loss")]
    assert "kuhn.payoff_random and kuhn.exploitability are possible together" in line
    paid, upper = number(pay.value), number(bound.upper)
    assert figure.example == (
        f"kuhn.payoff_random is {paid}. With an exploitability of at most {upper} it is at least "
        f"{number(-bound.upper)}."
    )
    assert figure.record.endswith("matches")


def test_excess_loss_corrects_for_two_opponents(monkeypatch):
    levels = []

    def fixed(deals, gain, share, most, key, level):
        levels.append(level)
        return Excess(0.1, 0.05, 0.02)

    monkeypatch.setattr("stratagem.measure.audit.checks.excess_loss.excess", fixed)
    assert card_of(Equilibrium(), decisions=300).by_name["kuhn.excess_loss"].p == 0.04
    assert levels == [0.025, 0.025]


def test_excess_loss_is_no_alarm_where_an_agent_loses_what_its_exploitability_allows():
    figure = card_of(Passive()).by_name["kuhn.excess_loss"]
    assert figure.p > 0.05
    assert figure.value < 0.0


class Uniform(KuhnPlayer):
    """Bets and calls half of the time."""

    def bets(self, facts):
        return 0.5

    def calls(self, facts):
        return 0.5


class BlackBox(Uniform):
    """The same, which states nothing."""

    traits = Traits(stochastic=True, exact=False)
    turn = Equilibrium.turn

    def policy(self, view):
        return self.strategy(view)


@pytest.mark.runs
def test_excess_loss_keeps_its_level_against_a_best_response(monkeypatch):
    """A best response wins the exploitability: of 30 audits 1.5 have p at most .05 on average, 6 or more with .3 %."""
    oracle = oracle_of(make_game("kuhn(hands=1)"))
    policy, table = policy_on(oracle.tree, Uniform()), {}
    for seat in (0, 1):
        slots = oracle.best_response(policy, seat).slots
        table |= {known.view.info_key: action for known, action in moves_of(oracle.tree, slots.tolist())}
    best = BestResponder(table)
    monkeypatch.setattr(MatchesProbe, "opponents", lambda *_: [best])
    figures = [card_of(BlackBox(), decisions=300, seed=seed).by_name["kuhn.excess_loss"] for seed in range(30)]
    assert sum(figure.p <= 0.05 for figure in figures) <= 5
    assert sum(figure.value for figure in figures) / 30 == pytest.approx(0.0, abs=0.05)


def episode(*rounds):
    return SimpleNamespace(rounds=[*rounds], payoffs=[sum(one[seat] for one in rounds) for seat in (0, 1)])


def game(seats=2, utility="constant-sum", rounds=2):
    return SimpleNamespace(spec=SimpleNamespace(name="it", seats=seats, utility=utility, rounds=rounds))


def test_equal_share_is_half_of_what_both_seats_are_paid_a_round():
    assert equal_share(game(), [episode((3, 1), (0, 4)), episode((2, 2), (2, 2))]) == 2.0
    assert equal_share(game(utility="zero-sum"), [episode((1, -1), (0, 0))]) == 0.0


@pytest.mark.parametrize(
    ("rules", "episodes", "message"),
    [
        (game(seats=3), [], "it has 3 seats: only with two"),
        (game(utility="general-sum"), [], "do not add up to a constant"),
        (game(), [], "No episode of it was played"),
        (game(), [episode((3, 1))], "do not all have 2 rounds"),
        (game(), [episode((3, 1), (3, 1)), episode((3, 1), (3, 0))], "did not add up to a constant in play"),
    ],
)
def test_equal_share_is_refused_where_payoffs_have_no_constant(rules, episodes, message):
    with pytest.raises(CannotCompute, match=message):
        equal_share(rules, episodes)


def test_excess_loss_has_a_reason_where_it_does_not_apply():
    card = card_of(Equilibrium(), ["ipd(rounds=3)"], 1000)
    assert "excess_loss" not in "".join(card.by_name)
    assert card.not_measured["ipd(rounds=3).excess_loss"].startswith("The payoffs of the two seats of ipd")
    assert "kuhn.excess_loss" in plan_audit(Equilibrium(), ["kuhn"], 600).names()


def test_excess_loss_counts_a_deal_without_replies_as_the_best():
    """A server that fails in play loses by default actions, which are not those of the agent."""
    asked = []

    def act(question):
        asked.append(question)
        if len(asked) > 330:
            raise TimeoutError("away")
        return "CALL" if question["facts"]["card"] == "K" and "CALL" in question["choices"]["actions"] else (
            question["choices"]["actions"][0]
        )  # fmt: skip

    card = card_of(player(act, "kuhn"), decisions=740)
    assert card.cost.failed > 50
    assert "kuhn.payoff_random" in card.by_name
    assert not card.by_name["kuhn.excess_loss"].alarm
    assert card.by_name["kuhn.excess_loss"].value < -0.5
