"""Comparisons of logs: what is paired, corrected, claimed and refused; and the command with its files."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import stratagem as sg
from stratagem.base.errors import BadParameter
from stratagem.cli.main import main
from stratagem.games import Key
from stratagem.measure.logs.comparison import compare_scores, exact_p
from stratagem.measure.logs.scores import ItemScore, ScoreTable
from stratagem.measure.statistics import holm, sign_flip_p

WRITTEN = Path(__file__).parent / "written"
A, B = (str(WRITTEN / "inspect" / f"{name}.eval") for name in "ab")


def rows_of(system, scores, **more):
    return [ItemScore(str(item), system, score, **more) for item, score in enumerate(scores)]


def compared(*rows, **options):
    return compare_scores(ScoreTable([row for part in rows for row in part]), **options)


def scores(n, seed, rate=0.5):
    return (np.random.default_rng(seed).random(n) < rate).astype(float)


def test_repeats_of_an_item_are_one_observation():
    first, second = scores(40, 1), scores(40, 2)
    once = compared(rows_of("a", first), rows_of("b", second))[0]
    repeated = compared(
        *[rows_of("a", first, repeat=str(k)) for k in range(25)],
        *[rows_of("b", second, repeat=str(k)) for k in range(25)],
    )[0]
    assert (once.estimate.n, repeated.estimate.n) == (40, 40)
    assert (repeated.estimate, repeated.p, repeated.detectable) == (once.estimate, once.p, once.detectable)
    assert (once.repeats, repeated.repeats) == (1.0, 25.0)


def test_answers_of_items_are_averaged_before_they_are_paired():
    rows = [ItemScore("1", "a", 1.0), ItemScore("1", "a", 0.0), ItemScore("2", "a", 0.0)]
    found = compared(rows, [ItemScore("2", "b", 1.0), ItemScore("1", "b", 1.0)])[0]
    assert found.means == (0.25, 1.0)
    assert found.estimate.mean == 0.75


def test_holm_is_over_every_system_and_every_measure():
    rng = np.random.default_rng(0)
    parts = [
        rows_of(system, rng.normal(0.3 * place, 1.0, 60), measure=measure)
        for measure in ("m", "n")
        for place, system in enumerate("abc")
    ]
    found = compared(*parts)
    assert [one.name for one in found] == ["b.m", "c.m", "b.n", "c.n"]
    assert [one.holm_p for one in found] == holm([one.p for one in found])
    alone = compared(*parts[:2])[0]
    assert alone.p == found[0].p
    assert alone.detectable < found[0].detectable, "the first step of Holm's has a smaller level in a larger family"


def test_limits_and_verdict_agree():
    rng = np.random.default_rng(3)
    for shift in np.linspace(-0.6, 0.6, 13):
        first = rng.exponential(1.0, 50)
        found = compared(rows_of("a", first), rows_of("b", first + rng.normal(shift, 1.0, 50)))[0]
        assert found.differs == (found.estimate.low > 0 or found.estimate.high < 0)


@pytest.mark.parametrize(("won", "lost", "ties"), [(0, 0, 4), (3, 0, 5), (7, 2, 3), (5, 5, 0)])
def test_exact_p_is_that_of_all_sign_flips(won, lost, ties):
    differences = np.array([1.0] * won + [-1.0] * lost + [0.0] * ties)
    assert exact_p(differences) == pytest.approx(sign_flip_p(differences, Key(0)))


def test_equal_differences_have_no_limits_and_the_p_of_their_number():
    found = compared(rows_of("a", [0.2] * 10), rows_of("b", [0.5] * 10))[0]
    assert (found.estimate.low, found.p) == (None, 2.0**-9)
    assert found.differs


def test_difference_by_rounding_is_none():
    found = compared(rows_of("a", [0.1 + 0.2] * 20), rows_of("b", [0.3] * 20))[0]
    assert (found.estimate.mean, found.p, found.differs) == (0.0, 1.0, False)


def test_clusters_are_what_is_independent():
    """Ten copies of each item in a cluster say no more than the item."""
    first, second = np.random.default_rng(1).normal(size=(2, 30))
    rows = [
        ItemScore(f"{item}.{copy}", system, float(values[item]), cluster=str(item))
        for system, values in (("a", first), ("b", second))
        for item in range(30)
        for copy in range(10)
    ]
    alone = compared(rows_of("a", first), rows_of("b", second))[0]
    found = compared(rows)[0]
    assert (found.estimate.n, found.num_clusters) == (300, 30)
    assert found.estimate.se == pytest.approx(alone.estimate.se)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((alone.estimate.low, alone.estimate.high))


def test_items_that_are_missing_for_a_reason_have_bounds_and_no_claim():
    first, second = np.zeros(100), np.ones(100)
    rows = [
        row._replace(score=None, reason="refusal") if row.item in ("3", "4") else row for row in rows_of("b", second)
    ]
    found = compared(rows_of("a", first), rows)[0]
    assert found.bounds is not None
    assert (found.bounds.worst, found.bounds.best) == (0.98, 1.0)
    assert found.bounds.lower < 0.98
    assert (found.p, found.holm_p, found.differs) == (None, None, False)
    assert found.reasons == {"a": {}, "b": {"refusal": 2}}
    assert found.measurements()[0].value is None
    table = ScoreTable([*rows_of("a", first), *rows], missing=0.0)
    counted = compare_scores(table)[0]
    assert (counted.bounds, counted.differs, counted.estimate.mean) == (None, True, 0.98)


def test_comparison_without_a_claim_counts_in_the_family():
    rows = [row._replace(score=None, reason="error") if row.item == "0" else row for row in rows_of("c", scores(60, 3))]
    first, second = scores(60, 1), scores(60, 2)
    found = compared(rows_of("a", first), rows_of("b", second), rows)
    assert found[0].holm_p == pytest.approx(min(1.0, 2 * found[0].p))


def test_items_that_only_one_system_has_are_left_out_and_told():
    found = compared(rows_of("a", scores(50, 1)), rows_of("b", scores(40, 2)))[0]
    assert (found.estimate.n, found.only_one) == (40, 10)


def test_needed_items_show_the_wished_difference():
    rng = np.random.default_rng(7)
    first, gain = rng.normal(size=4000), rng.normal(0.0, 1.0, 4000)
    small = compared(rows_of("a", first[:100]), rows_of("b", (first + gain)[:100]), wished=0.1)[0]
    assert 500 < small.needed < 1300, "1.96 + .84 errors of 1 over .1, squared, is 785"
    large = compared(rows_of("a", first[: small.needed]), rows_of("b", (first + gain)[: small.needed]))[0]
    assert large.detectable == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize(
    ("n", "clusters", "part"), [(20, None, "only 20 items"), (40, 4, "only 4 clusters"), (40, None, "")]
)
def test_logs_outside_of_what_was_simulated_are_warned_of(n, clusters, part):
    rows = [
        row._replace(cluster=None if clusters is None else str(int(row.item) % clusters))
        for system, seed in (("a", 1), ("b", 2))
        for row in rows_of(system, scores(n, seed))
    ]
    warning = compared(rows)[0].warning
    assert part in warning
    assert bool(warning) == bool(part)


def go(*words):
    with pytest.raises(SystemExit) as end:
        main(["compare", *map(str, words)])
    return end.value.code or 0


def test_command_prints_what_the_function_returns(capsys):
    assert go(A, B, "--cluster", "topic", "--difference", "0.1", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(json.dumps(sg.compare([A, B], cluster="topic", difference=0.1).to_json()))
    (match, includes) = printed["comparisons"]
    assert (match["measure"], includes["measure"]) == ("sums/match", "sums/includes")
    assert (match["first_mean"], match["second_mean"], match["items"], match["clusters"]) == (0.25, 0.625, 8, 2)
    assert "only 2 clusters" in match["warning"]


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("difference > 0.3", 1),
        ("mockllm/b.sums/match.value > 0.3", 1),
        ("difference.lower > 0.5", 0),
        ("difference.detectable > 1.5", 0),
        ("difference.holm_p < 0.01", 0),
    ],
)
def test_conditions_give_the_status(condition, status, tmp_path):
    file = tmp_path / "j.xml"
    assert go(A, B, "--score", "match", "--fail-if", condition, "--junit", file) == status
    figures, conditions = ElementTree.parse(file).getroot()
    assert [case.get("name") for case in figures] == ["mockllm/b.sums/match"]
    assert (conditions.get("failures"), conditions[0].get("name")) == (str(status), condition)


def test_condition_on_what_is_not_claimed_is_inconclusive(capsys):
    assert go(A, WRITTEN / "inspect" / "errors.json", "--score", "match", "--fail-if", "difference.upper < 0") == 3
    printed = " ".join(capsys.readouterr().out.split())
    assert "no claim. Scores are missing for a reason: mockllm/b lacks 1 (error)." in printed
    assert "inconclusive. difference was not measured" in printed
    assert go(A, WRITTEN / "inspect" / "errors.json", "--missing", "0", "--fail-if", "mockllm/b.sums/match < 0") == 0


def test_every_stored_log_is_compared():
    for files in (("lm_eval", "*/*.jsonl"), ("verifiers", "*/traces.jsonl"), ("kaggle", "connectx-[0-3].json")):
        result = sg.compare(sorted((WRITTEN / files[0]).glob(files[1])))
        assert result.comparisons[0].estimate.n >= 3
        assert "each system less" in repr(result)
        assert result._repr_html_()
        assert len(result.to_json()["comparisons"]) == len(result.rows())


def test_texts_of_logs_reach_no_terminal(tmp_path, capsys):
    path = tmp_path / "x.csv"
    path.write_text("item,system,score\n1,\x1b[31mred,1\n1,b\u202e,0\n2,\x1b[31mred,0\n2,b\u202e,1\n", encoding="utf-8")
    assert go(path, "--junit", tmp_path / "j.xml") == 0
    printed = capsys.readouterr().out
    assert "\x1b[31m" not in printed
    assert "\u202e" not in printed
    assert "\\x1b[31mred" in printed
    assert "\\u202e" in (tmp_path / "j.xml").read_text(encoding="utf-8")


def csv(path, text):
    path.write_text(text, encoding="utf-8")
    return path


MISTAKES = [
    (lambda at: [csv(at / "a.csv", "item,score\n1,1\n")], {}, "There is one system, 'a'"),
    (
        lambda at: [csv(at / "a.csv", "item,score\n1,1\n"), csv(at / "b.csv", "item,score\n2,1\n")],
        {},
        "no item of a common measure: 'a' has '1' and 'b' has '2'",
    ),
    (lambda at: [A, B], {"baseline": "x"}, "There is no system 'x': there are mockllm/a, mockllm/b."),
    (lambda at: [A, B], {"score": "f1"}, "has no score 'f1': there are includes, match"),
    (lambda at: [A, B], {"cluster": "x"}, "has no cluster 'x': there are"),
    (lambda at: [A, B], {"fail_if": "x > 1"}, "There is no figure of this comparison called 'x'"),
    (lambda at: [A, B], {"fail_if": "x"}, "takes a figure, a sign"),
    (lambda at: [A, B], {"difference": 0}, "compare needs `difference` above 0, not 0."),
    (lambda at: [A, B], {"missing": "x"}, "compare needs `missing` as a number, not 'x'."),
    (lambda at: [A, 3], {}, "A log is given by its path, not int."),
    (lambda at: [], {}, "There is no log: give at least one"),
    (
        lambda at: [csv(at / "a.csv", "item,system,score,cluster\n1,a,1,p\n1,b,1,q\n")],
        {},
        "lies in the cluster 'p' in one log and in 'q' in the other",
    ),
]


@pytest.mark.parametrize(("logs", "options", "sentence"), MISTAKES, ids=range(len(MISTAKES)))
def test_mistake_is_one_sentence(logs, options, sentence, tmp_path):
    with pytest.raises(sg.StratagemError) as caught:
        sg.compare(logs(tmp_path), **options)
    assert sentence in str(caught.value)


def test_audits_are_compared_as_before_and_not_with_logs(tmp_path):
    audits = [tmp_path / "one", tmp_path / "two"]
    for place, player in zip(audits, ("TightPassive", "AlwaysBet"), strict=True):
        sg.audit(player, games="kuhn(hands=1)", decisions=300, progress=False, out=place)
    assert sg.compare(audits).to_json() == sg.compare_audits(*audits).to_json()
    with pytest.raises(sg.StratagemError, match=r"two audits, or logs alone: 1 of 2 are audits, and .* is none"):
        sg.compare([audits[0], A])
    with pytest.raises(sg.StratagemError, match="Beside two audits leave out what logs alone have: `cluster=`"):
        sg.compare(audits, cluster="x")
    gain, lost = "kuhn(hands=1).exploitability.against", "kuhn(hands=1).payoff_random.against"
    holds, unknown = f"{gain}.lower > 0", "kuhn(hands=1).played.against.lower > 0"
    judged = sg.compare(audits, fail_if=[holds, f"{lost} > 9", unknown], junit=tmp_path / "changes.xml")
    assert judged.outcomes == {holds: "holds", f"{lost} > 9": "does not hold", unknown: "inconclusive"}
    assert judged.exit_status == 1
    assert sg.compare(audits, fail_if=unknown).exit_status == 3
    suites = ElementTree.parse(tmp_path / "changes.xml").getroot()
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
    assert gain in {case.get("name") for case in suites[0]}
    with pytest.raises(sg.StratagemError, match=r"There is no figure of this comparison called 'x\.against'"):
        sg.compare(audits, fail_if="x.against > 1")


@pytest.mark.parametrize("score", [1e308, -1e101, float("inf"), float("nan")])
def test_scores_that_overflow_are_refused(score):
    with pytest.raises(
        BadParameter, match=r"Item '0' of 'a' has the score .* on 'score', and scores are numbers up to"
    ):
        compared(rows_of("a", [score] * 40), rows_of("b", scores(40, 1)))
    large = compared(rows_of("a", scores(40, 1) * 1e100), rows_of("b", scores(40, 2) * 1e99), wished=1e-100)[0]
    assert 0 <= large.p <= 1
    assert large.needed is None


def test_system_that_failed_on_every_item_has_bounds():
    failed = [row._replace(score=None, reason="error") for row in rows_of("b", scores(40, 1))]
    found = compared(rows_of("a", np.ones(40)), failed)[0]
    assert found.bounds is not None
    assert (found.bounds.worst, found.bounds.best, found.p) == (-1.0, 0.0, None)
    assert found.why_no_claim == "Scores are missing for a reason: b lacks 40 (error)."
