"""An audit against a baseline: the same questions and deals, and the differences on the card."""

from dataclasses import replace

import pytest
from flawed import Equilibrium, Passive

from stratagem.base.errors import BadRecord
from stratagem.measure.audit.card import read_card
from stratagem.measure.audit.compare import against, changes
from stratagem.measure.audit.condition import read_condition
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit
from stratagem.show.audit.page import card_page
from stratagem.show.audit.words import verdict


@pytest.fixture(scope="module")
def audited(tmp_path_factory):
    out = tmp_path_factory.mktemp("against") / "audit"
    return out, run_audit(plan_audit(Passive(), ["kuhn"], 900, seed=1, against=Equilibrium()), out)


def test_the_card_has_the_differences_from_the_baseline(audited):
    out, card = audited
    assert card.baseline == Equilibrium().name
    figures = card.by_name
    other = read_card(out / "against").by_name
    difference = figures["kuhn.exploitability.against"]
    own = figures["kuhn.exploitability"]
    assert difference.value == pytest.approx(own.value - other["kuhn.exploitability"].value)
    assert difference.lower == pytest.approx(own.lower - other["kuhn.exploitability"].upper)
    assert difference.differs
    assert not difference.alarm
    assert any("It differs from" in line for line in verdict(card))
    assert f"Against {card.baseline}" in card_page(card)
    assert read_card(out).to_json() == card.to_json()


def test_pay_is_compared_deal_by_deal(audited):
    out, card = audited
    paid = card.by_name["kuhn.payoff_random.against"]
    own, other = (read_card(folder).by_name["kuhn.payoff_random"] for folder in (out, out / "against"))
    differences = [one - two for one, two in zip(own.deals, other.deals, strict=True)]
    assert paid.value == pytest.approx(sum(differences) / len(differences))
    assert paid.n == len(differences) > 5
    assert paid.holm_p is not None


def test_a_difference_can_be_a_condition(audited):
    _, card = audited
    condition = read_condition("kuhn.exploitability.against.lower > 0.05")
    assert card.outcomes([condition]) == {condition.text: "holds"}
    assert "kuhn.exploitability.against" in plan_audit(Passive(), ["kuhn"], 900, against="random").names()


def test_other_deals_are_not_paired(audited):
    _, card = audited
    (found,) = [change for change in changes(card, replace(card, seed=7)) if change.name == "kuhn.payoff_random"]
    assert (found.paired, found.holm_p) == (None, None)
    (same,) = [change for change in changes(card, card) if change.name == "kuhn.payoff_random"]
    assert (same.difference, same.changed) == (0.0, False)
    assert (same.lower, same.upper) == (None, None), "equal differences do not tell the variance"
    (kept,) = [figure for figure in against(card, card) if figure.name == "kuhn.payoff_random.against"]
    assert (kept.value, kept.interval, kept.differs) == (0.0, "", False)


def test_an_audit_goes_on_with_the_same_baseline_only(audited, monkeypatch):
    out, card = audited
    monkeypatch.setattr(Equilibrium, "turn", lambda *_: pytest.fail("asked again"))
    assert run_audit(plan_audit(Passive(), ["kuhn"], 900, seed=1, against=Equilibrium()), out) == card
    with pytest.raises(BadRecord, match="other settings: against"):
        run_audit(plan_audit(Passive(), ["kuhn"], 900, against="random"), out)
