"""Scan of labels: what it prints, keeps and goes on with, and one sentence for each mistake."""

import json
import xml.etree.ElementTree as ElementTree

import label_record
import label_scan as command
import pytest
from label_targets import as_target

from stratagem.base.errors import BadParameter
from stratagem.cli.main import run_command
from stratagem.measure.labels import PAIRS, LabelReading

GAME = ("ipd-shapellm", "--model", "tiny")
STATES = ("start", "C/C", "C/D", "D/C", "D/D")


def reading(labels):
    """Under the pairs of G and H nothing can be read; K/X is even, and every other pair leans to its later letter."""
    if set(labels) == {"G", "H"}:
        return None
    if labels == ("K", "X"):
        return LabelReading((0.25,) * 5, (0.25,) * 5)
    first = (ord(labels[0]) - 64) / 1000
    return LabelReading((first,) * 5, (0.027 - first,) * 5)


@pytest.fixture
def run(capsys):
    """Run the script in this process and give back its status, its output and what it said on the error stream."""

    def go(*arguments):
        with pytest.raises(SystemExit) as ended:
            run_command(command.COMMAND, "label_scan", [str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, " ".join(printed.err.split())

    return go


class Asking:
    """Stands for the model: reads in batches of 100, may break off, and keeps what it was asked."""

    def __init__(self):
        self.asked = []
        self.breaks_after = 10**6

    def scan(self, engine, scene, pairs, *, adapter, progress):
        assert (engine, adapter) == ("engine", "")
        for start in range(0, len(pairs), 100):
            if len(self.asked) >= self.breaks_after:
                raise KeyboardInterrupt
            progress("next")
            self.asked += pairs[start : start + 100]
            yield {labels: reading(labels) for labels in pairs[start : start + 100]}


@pytest.fixture
def model(monkeypatch):
    made = Asking()
    monkeypatch.setattr(command, "scan", made.scan)
    monkeypatch.setattr(command, "engine_for", lambda model: ("engine", ""))
    return made


def rows(printed):
    """The pairs that were printed, with their figures."""
    lines = [line.split() for line in printed.splitlines()]
    return {line[0]: line[1:] for line in lines if line and len(line[0]) == 3 and line[0][1] == "/"}


def test_the_nearest_pairs_are_printed_with_their_five_probabilities(run, model):
    status, printed, _ = run(*GAME, "--target", "0.5,0.5,0.5,0.5,0.5", "--top", 3)
    assert status == 0
    assert list(rows(printed)) == ["K/X", "M/A", "M/B"]
    assert rows(printed)["K/X"] == ["0.00000", *["0.500"] * 5, "0.500"]
    assert rows(printed)["M/A"] == ["0.00069", *["0.481"] * 5, "0.027"]
    assert "p(C) nearest to 0.5 " in printed
    assert "2 of 650 pairs left out" in printed
    assert model.asked == list(PAIRS)


def test_one_number_stands_for_all_states_and_without_any_the_papers_three(run, model):
    _, printed, _ = run(*GAME, "--target", "0.5", "--target", "0.1,0.5,0.5,0.5,0.5", "--top", 1)
    assert [line.split("   ")[0] for line in printed.splitlines() if "nearest" in line] == [
        "p(C) nearest to 0.5",
        "p(C) nearest to 0.1, 0.5, 0.5, 0.5, 0.5",
    ]
    printed = run(*GAME, "--top", 1)[1]
    assert [name for name in ("0.75", "0.5", "0.25") if f"nearest to {name} " in printed] == ["0.75", "0.5", "0.25"]
    assert list(rows(printed)) == ["T/A", "K/X", "G/A"]


def test_pairs_that_are_hardly_said_can_be_left_out(run, model):
    printed = run(*GAME, "--target", "0.9", "--min-legal", "0.1")[1]
    assert list(rows(printed)) == ["K/X"]
    assert "647 of 650 pairs left out: the total probability of the labels is below 0.1." in printed


def test_the_whole_scan_and_its_maps_are_written(run, model, tmp_path):
    out, svg = tmp_path / "new" / "labels.json", tmp_path / "maps.svg"
    _, printed, _ = run(*GAME, "--target", "0.5", "--out", out, "--svg", svg, "--json")
    data = json.loads(out.read_text())
    assert json.loads(printed)["pairs"] == data["pairs"]
    assert (data["game"], data["model"], data["style"], data["seat"]) == ("ipd-shapellm", "tiny", "shapellm-state", 1)
    assert tuple(data["states"]) == STATES
    assert data["complete"]
    assert len(data["pairs"]) == 648
    assert data["unusable"] == [["G", "H"], ["H", "G"]]
    assert data["targets"][0]["best"][0]["labels"] == ["K", "X"]
    assert sum(map(sum, data["maps"]["start"]["density"])) == 648
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


def test_a_scan_that_broke_off_is_gone_on_with(run, model, tmp_path):
    out, model.breaks_after = tmp_path / "labels.json", 200
    assert run(*GAME, "--out", out)[0] != 0
    kept = json.loads(out.read_text())
    assert len(kept["pairs"]) + len(kept["unusable"]) == 200
    assert not kept["complete"]
    model.asked, model.breaks_after = [], 10**6
    assert run(*GAME, "--out", out, "--resume")[0] == 0
    assert model.asked == list(PAIRS[200:])


def test_another_target_of_a_whole_scan_needs_no_model(run, model, tmp_path, monkeypatch):
    out = tmp_path / "labels.json"
    run(*GAME, "--target", "0.5", "--out", out)
    monkeypatch.setattr(command, "engine_for", lambda model: pytest.fail("the model was loaded"))
    printed = run(*GAME, "--target", "0.25", "--top", 1, "--out", out, "--resume")[1]
    assert list(rows(printed)) == ["G/A"]
    assert json.loads(out.read_text())["targets"][0]["target"] == [0.25] * 5
    assert (
        "another model, 'tiny' and not 'smollm2'"
        in run("ipd-shapellm", "--model", "smollm2", "--out", out, "--resume")[2]
    )


def test_what_stands_in_the_files_survives_a_model_that_cannot_be_had(run, tmp_path):
    out, svg = tmp_path / "labels.json", tmp_path / "maps.svg"
    out.write_text("of an hour"), svg.write_text("of a day")
    assert run("ipd-shapellm", "--model", "dir:/nowhere", "--out", out, "--svg", svg)[0] == 2
    assert (out.read_text(), svg.read_text()) == ("of an hour", "of a day")


def test_other_states_go_by_the_games_own_names(run, model):
    printed = run("imp", "--model", "tiny", "--seat", 0, "--target", "0.5")[1]
    assert "H/T" in printed
    assert "p(H) nearest to 0.5   given the labels, seat 0" in printed


@pytest.mark.parametrize(
    "text", ["", "0.5,", "half", "nan", "1.1", "-0.1", "0.5,0.5", "0.5,0.5,0.5,0.5,0.5,0.5", "inf"]
)
def test_a_target_is_one_probability_or_five(text):
    with pytest.raises(BadParameter, match=r"5 of them with commas between \(start, C/C, C/D, D/C, D/D\)"):
        as_target(text, STATES)


def test_targets_are_read():
    assert as_target("0.75", STATES) == (0.75,) * 5
    assert as_target("0, .25,0.5, 1,1e-3", STATES) == (0.0, 0.25, 0.5, 1.0, 0.001)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("kuhn --model tiny", "matrix games of two actions a seat, such as ipd-shapellm, not kuhn"),
        ("ipd-shapelm --model tiny", "did you mean"),
        ("prisoners-dilemma --model tiny", "over after one round"),
        ("ipd-shapellm --model tiny --style reasoned", "such as shapellm-state"),
        ("ipd-shapellm --model tiny --style shapelm-state", "did you mean shapellm-state"),
        ("ipd-shapellm --model tiny --target 0.5,0.5", "A target is one probability, such as 0.75, or 5"),
        ("ipd-shapellm --model tiny --resume", "name its file"),
        ("ipd-shapellm --model tiny --out /dev/null/labels.json", "cannot be written"),
        ("ipd-shapellm --model tiny --svg /dev/null/maps.svg", "cannot be written"),
        ("ipd-shapellm --model tiny --out /etc/hostname --resume", "/etc/hostname holds no scan of labels"),
        ("ipd-shapellm --model tinny", "There is no model called 'tinny'"),
        ("ipd-shapellm --model tiny+adapter:a=/a+adapter:b=/b", "names 2"),
        ("ipd-shapellm --model tiny+adapter:/nowhere", "/nowhere"),
        ("ipd-shapellm --model tiny --seat 2", "has the seats 0 and 1, not 2"),
        ("ipd-shapellm --model tiny --top 0", "--top"),
        ("ipd-shapellm", "--model"),
    ],
)
def test_a_mistake_is_answered_with_a_sentence(run, arguments, sentence):
    status, printed, said = run(*arguments.split(" "))
    assert status == 2
    assert printed == ""
    assert sentence in said
    assert "Traceback" not in said


def test_a_model_behind_a_server_is_refused(run):
    pytest.importorskip("openai")
    said = run("ipd-shapellm", "--model", "api:m@http://localhost:1/v1")[2]
    assert "does not tell how likely its tokens are" in said


def test_a_real_model_is_asked(run, monkeypatch, tmp_path):
    for module in (command, label_record):
        monkeypatch.setattr(module, "PAIRS", PAIRS[:3])
    out = tmp_path / "labels.json"
    status, printed, _ = run(*GAME, "--target", "0.5", "--out", out)
    assert status == 0
    assert set(rows(printed)) == {"A/B", "A/C", "A/D"}
    assert json.loads(out.read_text())["complete"]
