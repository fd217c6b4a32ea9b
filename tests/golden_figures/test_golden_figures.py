"""Golden figures: a keyed tenth of the cheap cases is what it was, and every change of a figure is found.

`make golden-figures` compares all cases.
"""

import pytest
from figure_changes import Renames, changes
from figures import STORED, compare, main, outcome_text, path_of, read_outcome
from flat_figures import Figure, flat_figures, page_lines, plain_lines
from golden_cases import Outcome, read_cases

from stratagem.games.catalogue import GAMES
from stratagem.games.key import Key
from stratagem.measure.metrics import METRICS
from stratagem.measure.statistics import Estimate

CASES = read_cases()
CHEAP = [name for name, case in CASES.items() if not case.slow and not case.model]


def tenth():
    """A tenth of the cheap cases, chosen by a key."""
    return [name for name in CHEAP if Key(0).at("golden figures", name).unit() < 0.1]


@pytest.mark.runs
@pytest.mark.parametrize("name", tenth())
def test_figures_are_what_they_were(name):
    assert compare(CASES[name]) == []


def test_a_tenth_of_the_cases_is_some():
    assert 3 <= len(tenth()) <= len(CHEAP) / 5


def test_every_case_is_stored_and_every_file_is_a_case():
    assert {path.stem for path in STORED.glob("*.txt")} == set(CASES)
    assert sum(path.stat().st_size for path in STORED.glob("*.txt")) < 410_000


def test_every_game_has_a_case():
    texts = " ".join(f"{case.command} {case.call}" for case in CASES.values())
    assert [name for name in GAMES if name not in texts] == []


@pytest.mark.parametrize("name", CASES)
def test_stored_file_is_read_as_it_is_written(name):
    text = path_of(name).read_text(encoding="utf-8")
    outcome = read_outcome(text)
    assert outcome.figures or outcome.texts
    assert outcome_text(CASES[name], outcome) == text


def test_a_changed_metric_is_named(monkeypatch):
    pay = METRICS["pay"]
    monkeypatch.setattr(type(pay), "measure", lambda self, sample: Estimate(1.0 + 2**-52, n=1))
    found = compare(CASES["imp"])
    assert any(
        line.startswith("imp: json: imp / random: games.players.metrics.payoff.mean moved from ") for line in found
    )


RESULT = {"players": [{"player": "A", "pay": {"mean": 0.1, "se": None}, "exact": True}], "made_by": {"version": 3}}


def stored():
    return Outcome(flat_figures("json", RESULT, {}), {"printed": ["A 0.100"]})


def test_figures_are_flat():
    assert stored().figures == [
        Figure("json", "A", "players.pay.mean", (0.1).hex()),
        Figure("json", "A", "players.pay.se", "none"),
        Figure("json", "A", "players.exact", "true"),
    ]


@pytest.mark.parametrize(
    ("mean", "tolerance", "says"),
    [
        (0.1, 0.0, []),
        (0.1 + 2**-56, 0.0, ["json: A: players.pay.mean moved from 0.1 to 0.10000000000000002"]),
        (0.1 + 2**-56, 1e-9, []),
        (0.1 + 1e-8, 1e-9, ["json: A: players.pay.mean moved from 0.1 to 0.10000001"]),
        (None, 1e-9, ["json: A: players.pay.mean moved from 0.1 to none"]),
    ],
)
def test_last_bit_counts_but_for_models(mean, tolerance, says):
    now = Outcome(
        flat_figures("json", {"players": [RESULT["players"][0] | {"pay": {"mean": mean, "se": None}}]}, {}), {}
    )
    assert changes(Outcome(stored().figures, {}), now, Renames(), tolerance) == says


def test_vanished_and_new_figures_and_lines_are_named():
    now = Outcome([*stored().figures[1:], Figure("python", "", "pay", "0x1p+0")], {"printed": ["A 0.200"]})
    assert changes(stored(), now, Renames()) == [
        "json: A: players.pay.mean vanished, it was 0.1",
        "python: pay is new: 1.0",
        "printed: - A 0.100",
        "printed: + A 0.200",
    ]


def test_renamed_keys_rows_and_words_are_no_change():
    renames = Renames({"players.pay": "payoff", "players.exact": ""}, {"A": "B"}, {"A ": "B  "})
    figures = [Figure("json", "B", "payoff.mean", (0.1).hex()), Figure("json", "B", "payoff.se", "none")]
    assert changes(stored(), Outcome(figures, {"printed": ["B 0.100"]}), renames) == []


def test_texts_have_no_times_or_folders():
    printed = "player  reply tokens    ms\nA                1.0  12.5\n\n/tmp/x/a.html: 12 kB"
    assert plain_lines(printed, {"/tmp/x": "FOLDER"}) == ["player reply tokens", "A 1.0", "FOLDER/a.html: N kB"]
    assert page_lines("<h1>T</h1><table><tr><th>a</th><td>1 <b>x</b></td></tr></table>", {}) == ["T", "a | 1 x"]


def test_an_unknown_case_is_one_sentence(capsys):
    with pytest.raises(SystemExit):
        main(["compare", "--only", "kuhnn"])
    assert "there is no case kuhnn: there are ipd," in capsys.readouterr().err
