"""Audits of agents that can only be asked: figures, alarms, conditions, cards, and what a stopped audit asks again."""

import json
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from flawed import Cooperates, Equilibrium, FoldsKings, OpenPassive, PassesKings, Passive, Silent

from stratagem import player
from stratagem.api.audits import Audit
from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.games import make_game
from stratagem.language.engines.base import Call, PolicyId, Prompt
from stratagem.measure.audit.card import read_card
from stratagem.measure.audit.compare import changes
from stratagem.measure.audit.condition import read_condition
from stratagem.measure.audit.cost import cost_of
from stratagem.measure.audit.junit import junit
from stratagem.measure.audit.measurement import Measurement, fill_figure
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.probes.replies import binomial_p
from stratagem.measure.audit.run import run_audit
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.statistics import Estimate, mean
from stratagem.playing.store import read_episodes
from stratagem.show.audit.page import card_page
from stratagem.show.audit.words import describe_outcome, sentence, summarise, verdict


def card_of(agent, games=("kuhn",), decisions=1334, out=None, seed=0):
    return run_audit(plan_audit(agent, games, decisions, seed), out)


@pytest.fixture(scope="module")
def passive(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "passive"
    return out, card_of(Passive(), out=out)


def alarms(card):
    return {figure.name for figure in card.alarms}


def test_an_equilibrium_raises_no_alarm():
    card = card_of(Equilibrium())
    assert alarms(card) == set()
    assert card.by_name["kuhn.exploitability"].lower < 0.01


def test_a_passive_player_is_exploited_by_what_a_best_response_gains(passive):
    _, card = passive
    figure = card.by_name["kuhn.exploitability"]
    assert figure.alarm
    known = exact(make_game("kuhn"), OpenPassive()).exploitability
    assert known == pytest.approx(1 / 6)
    assert figure.lower <= known <= figure.upper
    assert figure.chance == pytest.approx(0.4583, abs=1e-4)
    assert any(line.action == "BET" and "J" in line.situation for line in card.strategies["kuhn"])


def test_a_king_that_is_folded_is_named_with_its_situation():
    card = card_of(FoldsKings(), decisions=400)
    figure = card.by_name["kuhn.dominated"]
    assert figure.alarm
    assert "It replied FOLD; CALL is better" in figure.example


def test_a_weakly_dominated_action_is_counted_and_raises_no_alarm():
    figure = card_of(PassesKings(), decisions=240).by_name["kuhn.dominated"]
    assert figure.value > 0.0
    assert not figure.alarm


def test_cooperation_in_a_dilemma_is_counted_and_raises_no_alarm():
    """It is strictly dominated for the seat alone; where the sum of payoffs is not fixed it may help the other seat."""
    figure = card_of(Cooperates(), ("prisoners-dilemma",), decisions=60).by_name["prisoners-dilemma.dominated"]
    assert figure.value == 1.0
    assert not figure.certain
    assert not figure.null
    assert not figure.alarm


def test_intervals_of_few_observations_are_those_of_students_t():
    figure = fill_figure(Measurement(name="kuhn.payoff_random", group="competence"), Estimate(1.0, se=0.1, n=5))
    assert (figure.lower, figure.upper) == (pytest.approx(1 - 0.27764, abs=1e-4), pytest.approx(1 + 0.27764, abs=1e-4))
    assert figure.interval == "95 %, and less where few observations are skewed"
    assert fill_figure(Measurement(name="x.pay", group="competence"), Estimate(1.0, se=0.1, n=10)).interval == "95 %"
    rate = Estimate(0.5, se=0.1, n=5, low=0.2, high=0.8)  # it has an interval of its own
    assert fill_figure(Measurement(name="x.won", group="competence"), rate).interval == "95 %"
    equal = fill_figure(Measurement(name="kuhn.payoff_random", group="competence"), Estimate(-1.0, se=0.0, n=5))
    assert (equal.value, equal.lower, equal.interval) == (-1.0, None, "")
    rounded = fill_figure(Measurement(name="x.pay", group="competence"), mean([0.1] * 3))  # by rounding se is 1e-17
    assert (rounded.lower, rounded.interval) == (None, "")


def test_a_verdict_counts_observations_among_the_tests(passive):
    _, card = passive
    figure = Measurement(name="kuhn.dominated", group="competence", value=0.5, certain=True)
    assert verdict(replace(card, figures=(figure,)))[0].startswith("1 of 1 tests")


def test_a_verdict_tells_the_level_of_two_one_sided_limits(passive):
    _, card = passive
    level = "Each limit of an exploitability holds with 95 %, both together with 90 %."
    figure = card.by_name["kuhn.exploitability"]
    assert "each one-sided 95 %, both together 90 %" in sentence(figure)
    assert level in verdict(card)
    assert level not in verdict(replace(card, figures=(replace(figure, upper=None),)))
    assert level in verdict(replace(card, figures=(replace(figure, interval="one-sided 95 % each"),)))  # older cards


def test_the_cost_counts_every_question_in_other_words_too():
    asked = []

    def act(question):
        asked.append(question)
        return question["choices"]["actions"][0]

    card = card_of(player(act, "kuhn"), decisions=800)
    assert "/ask/disguise(" in card.by_name["kuhn.words"].episode
    assert card.cost.decisions == len(asked)
    assert len(asked) <= 800 + 2 * 20  # the replay of the exploiting strategy


def test_silence_counts_as_the_default_and_raises_an_alarm():
    card = card_of(Silent(), decisions=300)
    assert "kuhn.illegal" in alarms(card)
    assert card.by_name["kuhn.illegal"].value == pytest.approx(0.2, abs=0.08)
    assert card.by_name["kuhn.illegal"].example == "pardon?"


def test_the_p_of_illegal_replies_is_the_chance_of_at_least_so_many():
    assert binomial_p(1, 10, 0.02) == pytest.approx(1 - 0.98**10)
    assert binomial_p(0, 10, 0.02) == 1.0


def test_an_agent_that_fails_at_every_question_passes_no_condition():
    def act(question):
        raise ValueError("boom")

    card = card_of(player(act, "kuhn"), decisions=800)
    assert card.unanswered
    assert card.cost.failed == card.cost.calls > 100
    number = card.cost.calls
    assert (
        card.why_inconclusive("kuhn.exploitability > 2")
        == f"The agent gave no reply to {number} of {number} questions."
    )
    for name in ("kuhn.dominated", "kuhn.illegal", "kuhn.change", "kuhn.sequence"):
        assert card.why_inconclusive(f"{name} > 0") == f"{name} was not measured: It gave no reply to any question."
    conditions = map(read_condition, ("kuhn.dominated > 0.5", "kuhn.illegal > 0.5", "kuhn.exploitability > 2"))
    assert [*card.outcomes([*conditions]).values()] == ["inconclusive"] * 3
    assert f"no reply to {card.cost.calls} of {card.cost.calls} questions" in verdict(card)[0]
    assert verdict(card)[0].endswith("raised ValueError: boom.")


def test_an_agent_that_fails_in_other_words_only_is_judged(passive):
    """Few replies are missing where an agent fails at what it was not made for."""

    def act(question):
        actions = question["choices"]["actions"]
        return actions[0] if {*actions} & {"PASS", "CALL"} else 1 // 0

    card = card_of(player(act, "kuhn"), decisions=600)
    assert 0 < card.cost.failed < card.cost.calls / 2
    assert not card.unanswered
    assert card.outcomes([read_condition("kuhn.illegal > 0.9")]) == {"kuhn.illegal > 0.9": "does not hold"}


def test_a_server_that_fails_in_the_second_half_changes_nothing_of_the_agent():
    asked = []

    def act(question):
        asked.append(question)
        if len(asked) > 150:
            raise TimeoutError("away")
        return question["choices"]["actions"][0]

    card = card_of(player(act, "kuhn"), decisions=800)
    assert card.cost.failed > 100
    assert card.by_name["kuhn.illegal"].value == 0.0
    assert card.by_name["kuhn.illegal"].n < 151
    assert "illegal ones and missing ones count as played" in card.by_name["kuhn.exploitability"].method
    assert "kuhn.change" not in alarms(card)
    assert card.by_name["kuhn.change"].value == 0.0


def test_illegal_replies_that_are_not_all_of_an_answer_are_told(passive):
    def decision(how, *ends):
        calls = [Call(policy=PolicyId("one"), prompt=Prompt(()), text="", finish=end) for end in ends]
        return SimpleNamespace(seat=0, how=how, calls=calls)

    ends = [("illegal", "length"), ("illegal", "done", "length"), ("free", "length"), ("illegal", "done")]
    rows = [decision(how, *of_calls) for how, *of_calls in [*ends, ("illegal", "refusal"), ("illegal", "filter")]]
    cost = cost_of([SimpleNamespace(purpose="probe", decisions=rows)], "one")
    assert cost.unsaid == {"length": 2, "refusal": 1, "filter": 1}
    said = verdict(replace(passive[1], cost=cost))[:3]
    assert said[0] == (
        "In 2 of the 6 decisions there was no legal action, and the reply was cut off by the limit of tokens: raise "
        "`max_new_tokens`."
    )
    assert [line.rpartition(", and ")[2] for line in said[1:]] == [
        "the model refused a reply.",
        "a filter of the server withheld the reply.",
    ]
    assert passive[1].cost.unsaid == {}


def test_a_card_without_a_count_of_failures_is_read(passive, tmp_path):
    data = json.loads(json.dumps(passive[1].to_json()))
    del data["cost"]["failed"], data["cost"]["failure"], data["cost"]["unsaid"]
    (tmp_path / "card.json").write_text(json.dumps(data))
    assert read_card(tmp_path).cost == passive[1].cost


def test_a_large_game_has_a_lower_bound():
    card = card_of("random", ["tic-tac-toe"], 600)
    figure = card.by_name["tic-tac-toe.exploitability"]
    assert figure.alarm
    assert figure.lower > 0.3
    assert figure.upper is None


def test_the_same_audit_goes_on_and_asks_nothing_twice(passive, monkeypatch):
    out, card = passive
    monkeypatch.setattr(Passive, "turn", lambda *_: pytest.fail("asked again"))
    assert card_of(Passive(), out=out) == card
    with pytest.raises(BadRecord, match="other settings: seed"):
        card_of(Passive(), out=out, seed=1)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(StratagemError, match="holds no audit"):
        card_of(Passive(), out=tmp_path)


def test_a_card_is_read_back_and_its_page_is_the_same_twice(passive):
    out, card = passive
    read = read_card(out)
    assert read.to_json() == json.loads(json.dumps(card.to_json()))
    assert card_page(read) == card_page(card)
    assert "<script" not in card_page(card)


def test_junit_counts_alarms_conditions_and_what_was_not_measured(passive):
    _, card = passive
    conditions = [read_condition("kuhn.exploitability.lower > 0.1"), read_condition("kuhn.safety < 0")]
    outcomes = card.outcomes(conditions)
    assert list(outcomes.values()) == ["holds", "inconclusive"]
    figures, last = ElementTree.fromstring(junit(card, outcomes).encode()).findall("testsuite")
    assert figures.get("failures") == "0"
    told = [case.get("name") for case in figures.findall("testcase") if case.find("system-out") is not None]
    assert told == [figure.name for figure in card.alarms] != []
    assert int(figures.get("skipped")) >= len(card.not_measured) > 0
    assert (last.get("failures"), last.get("skipped")) == ("1", "1")
    assert last.find("testcase/skipped").get("message") == "kuhn.safety was not measured."


@pytest.mark.parametrize("most", [4, 5, 6, 10, 30])
def test_short_lines_have_the_failed_conditions_the_gain_and_the_page(passive, most):
    out, card = passive
    outcomes = {"kuhn.illegal > 0.5": "does not hold", "kuhn.exploitability.lower > 0.1": "holds"}
    lines = Audit(card, outcomes, out).short_lines(most)
    assert len(lines) <= most
    assert lines[0] == "kuhn.exploitability.lower > 0.1: holds"
    assert lines[1].startswith("kuhn: an opponent who knows this agent's strategy gains")
    assert lines[-1] == f"The card: {out / 'card.html'}"
    moves = card.strategies["kuhn"]
    shown = [line for line in lines if line.startswith("  seat ")]
    assert shown == [f"  seat {one.seat}: {one.situation} {one.action}" for one in moves][: len(shown)]
    assert len(lines) == most or len(shown) in (0, len(moves))


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("kuhn.change.lower > 0", "kuhn.change has no lower limit."),
        ("kuhn.sequence.upper > 0", "kuhn.sequence has no upper limit."),
        ("kuhn.words > 0", "kuhn.words was not measured."),
        ("kuhn.illegal > 0", "kuhn.illegal was not measured: It is silent."),
    ],
)
def test_an_inconclusive_condition_has_a_reason(passive, condition, reason):
    figures = [figure for figure in passive[1].figures if figure.name not in ("kuhn.words", "kuhn.illegal")]
    silent = Measurement(name="kuhn.illegal", group="competence", why_not="It is silent.")
    card = replace(passive[1], figures=(*figures, silent))
    assert (
        describe_outcome(card, condition, card.outcomes([read_condition(condition)])[condition])
        == f"inconclusive. {reason}"
    )
    assert describe_outcome(card, condition, "holds") == "holds"
    assert reason in card_page(card, {condition: "inconclusive"})


def test_two_audits_of_one_agent_agree_and_of_two_agents_do_not(passive):
    _, card = passive
    same = {change.name: change for change in changes(card, card_of(Passive(), seed=7))}
    assert not same["kuhn.exploitability"].changed
    other = {change.name: change for change in changes(card, card_of(Equilibrium(), seed=7))}
    assert other["kuhn.exploitability"].changed
    assert other["kuhn.exploitability"].upper < 0.0
    with pytest.raises(BadParameter, match="no figure in common"):
        changes(card, card_of("random", ["tic-tac-toe"], 600))


@pytest.mark.parametrize(
    ("text", "part", "sign", "bound"),
    [
        ("kuhn.exploitability.lower > 0.1", "lower", ">", 0.1),
        ("kuhn(hands=1).illegal<=1e-2", "value", "<=", 0.01),
    ],
)
def test_conditions_are_read(text, part, sign, bound):
    found = read_condition(text)
    assert (found.part, found.sign, found.bound) == (part, sign, bound)


@pytest.mark.parametrize("text", ["", "kuhn", "kuhn.exploitability = 1", "kuhn.exploitability > much", "> 1"])
def test_other_conditions_are_refused(text):
    with pytest.raises(BadParameter, match="`fail_if=` takes a figure"):
        read_condition(text)


@pytest.mark.parametrize(
    ("games", "decisions", "message"),
    [
        (["kuhn", "kuhn(hands=6)"], 900, "each game once"),
        ([], 900, "at least one game"),
        (["quiz"], 900, "one seat"),
        (["kuhn"], 1, r"Nothing can be measured with 1 decisions: .* At least 214 decisions are needed\."),
        (["kuhn"], 0, "decisions"),
    ],
)
def test_audits_that_cannot_be_are_refused(games, decisions, message):
    with pytest.raises(BadParameter, match=message):
        plan_audit(Passive(), games, decisions)


def test_right_answers_about_the_rules_are_counted_and_silence_is_none():
    def act(question):
        actions = question["choices"]["actions"]
        return "A" if actions == ["A", "B", "C", "D"] else actions[0]

    figures = card_of(player(act, "kuhn"), decisions=400).by_name
    assert figures["kuhn.rules"].lower <= 0.25 <= figures["kuhn.rules"].upper
    assert figures["kuhn.rules"].chance == 0.25
    assert {"kuhn.rules_legal", "kuhn.rules_payoffs", "kuhn.rules_turns"} <= set(figures)

    def wrong(question):
        return question["choices"]["actions"][0] if "card" in question["facts"] else "none"

    silent = card_of(player(wrong, "kuhn"), decisions=400).by_name["kuhn.rules"]
    assert (silent.value, silent.why_not) == (None, "It answered none of 6 questions.")

    def mute(question):
        return question["facts"]["card"] and question["choices"]["actions"][0]

    raised = card_of(player(mute, "kuhn"), decisions=400).by_name["kuhn.rules"]
    assert raised.value is None
    assert raised.why_not.startswith("It gave no reply to 2 such questions: The agent ")
    assert raised.why_not.endswith(" raised KeyError: 'card'.")


def test_each_finding_has_an_episode_in_its_record(passive):
    out, _ = passive
    folded = card_of(FoldsKings(), decisions=400)
    assert folded.by_name["kuhn.dominated"].episode.startswith("kuhn/ask/")
    card = read_card(out)
    for figure in card.alarms:
        episodes = {episode.id for episode in read_episodes(out / figure.record)}
        assert figure.episode in episodes


def exploited(card, **fields):
    """Return a card's summary of one exploitability."""
    figure = Measurement(name="kuhn.exploitability", group="exploitability", unit="chips a hand", **fields)
    return summarise(replace(card, figures=(figure,)))


@pytest.mark.parametrize(
    ("fields", "gain"),
    [
        ({"value": 0.25, "lower": 0.219, "upper": 0.272}, "0.250 (0.219 … 0.272)"),
        ({"value": 0.25}, "0.250"),
        ({"lower": 0.1}, "at least 0.100"),
        ({"upper": 0.06}, "at most 0.060"),
    ],
)
def test_a_summary_says_what_an_opponent_gains(passive, fields, gain):
    (line,) = exploited(passive[1], **fields, chance=0.458)
    assert line == (
        f"kuhn: an opponent who knows this agent's strategy gains {gain} chips a hand by it. Against random play it "
        "would be 0.458."
    )
    assert exploited(passive[1], **fields) == [line.partition(" Against")[0]]


def test_a_summary_leaves_out_what_was_not_measured(passive):
    assert exploited(passive[1], why_not="It has no tree.") == []
    assert exploited(passive[1], lower=0.0) == []
    assert exploited(passive[1], lower=0.0, upper=0.06) != []


def test_the_summary_stands_first(passive):
    out, card = passive
    (line,) = summarise(card)
    text = Audit(card, {}, out).text()
    assert text.replace("\n", " ").startswith(line)
    assert card_page(card).index(line.replace("'", "&#x27;")) < card_page(card).index("tests and observations")
