"""Readers of logs against files that the tools wrote, and against damaged and hostile ones.

Stored files: inspect_ai 0.3.285 wrote `inspect/` (its transcripts and tracebacks were emptied by its own
`write_eval_log`), lm_eval 0.4.13 `lm_eval/`, verifiers 0.4.0 `verifiers/` (paths of the machine were shortened), and
kaggle-environments 1.33.2 `kaggle/`. Models were functions of the question. `results.jsonl` of verifiers 0.1 is not
stored: its lines here have the fields of `make_dataset` in verifiers/utils/eval_utils.py of release 0.1.9.
"""

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.connect.logs import base, inspect_log
from stratagem.connect.logs.base import LogColumns
from stratagem.connect.logs.catalogue import read_log, read_logs

WRITTEN = Path(__file__).parent / "written"
LM_EVAL = sorted(WRITTEN.glob("lm_eval/*/*.jsonl"))
NONE = LogColumns()


@pytest.fixture(autouse=True)
def without_inspect(monkeypatch):
    """Read by our own reader, also where inspect is installed."""
    monkeypatch.setattr(inspect_log, "find_spec", lambda name: None)


def by_item(scores, measure):
    found = {}
    for row in scores.rows:
        if row.measure == measure:
            found.setdefault(row.item, []).append(row.score)
    return found


def test_eval_file_has_two_epochs_of_each_sample():
    scores = read_log(WRITTEN / "inspect" / "a.eval", NONE)
    assert {row.system for row in scores.rows} == {"mockllm/a"}
    assert by_item(scores, "sums/match") == {str(n): [float(n % 3 == 0)] * 2 for n in range(1, 9)}
    assert {(row.item, row.repeat) for row in scores.rows} == {(str(n), epoch) for n in range(1, 9) for epoch in "12"}
    assert {row.measure for row in scores.rows} == {"sums/match", "sums/includes"}


def test_eval_file_is_compressed_by_zstandard():
    with zipfile.ZipFile(WRITTEN / "inspect" / "a.eval") as opened:
        assert {info.compress_type for info in opened.infolist()} == {93}


def test_json_of_inspect_has_the_reason_of_a_missing_score():
    scores = read_log(WRITTEN / "inspect" / "errors.json", LogColumns(score="match", cluster="topic"))
    missing = [row for row in scores.rows if row.score is None]
    assert [(row.item, row.repeat, row.reason) for row in missing] == [("7", "2", "error")]
    assert {(row.item, row.cluster) for row in scores.rows} == {
        (str(n), "even" if n % 2 == 0 else "odd") for n in range(1, 9)
    }


@pytest.mark.parametrize("value", ["C", "I", "P", "N", 0.25, True, "0.5", None, {"a": 1, "b": "I"}])
def test_scores_of_inspect_are_read_as_inspect_reads_them(value, tmp_path):
    expected = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "0.5": 0.5}
    log = inspect_json()
    log["samples"] = [{"id": 1, "epoch": 1, "scores": {"match": {"value": value}}}]
    scores = read_log(write(tmp_path / "log.json", log), NONE)
    if isinstance(value, dict):
        assert [(row.measure, row.score) for row in scores.rows] == [("t/match.a", 1.0), ("t/match.b", 0.0)]
        assert read_log(tmp_path / "log.json", LogColumns(score="match.b")).rows[0].score == 0.0
    else:
        assert [row.score for row in scores.rows] == [expected.get(value, value)]


def test_sample_that_failed_lacks_every_part_of_a_score(tmp_path):
    log = inspect_json()
    scored = {"id": 1, "epoch": 1, "scores": {"match": {"value": {"a": 1, "b": 0}}}}
    log["samples"] = [{"id": 2, "epoch": 1, "scores": {}, "error": {"message": "x"}}, scored]
    found = read_log(write(tmp_path / "log.json", log), LogColumns(score="match")).rows
    assert {(row.item, row.measure, row.score, row.reason) for row in found} == {
        ("2", "t/match.a", None, "error"),
        ("2", "t/match.b", None, "error"),
        ("1", "t/match.a", 1.0, ""),
        ("1", "t/match.b", 0.0, ""),
    }


def test_items_that_a_stopped_log_did_not_run_are_missing_for_a_reason(tmp_path):
    log = inspect_json(status="cancelled")
    log["samples"] = [{"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}]
    scores = read_log(write(tmp_path / "log.json", log), NONE)
    assert [(row.item, row.score, row.reason) for row in scores.rows] == [("1", 1.0, ""), ("2", None, "not run")]


def test_items_that_a_stopped_log_names_by_their_ids_alone_are_refused(tmp_path):
    log = inspect_json(status="cancelled")
    log["samples"] = [{"id": 1, "metadata": {"of": "2"}, "scores": {"match": {"value": "C"}}}]
    path = write(tmp_path / "log.json", log)
    with pytest.raises(BadParameter, match=r"names 1 samples by their ids alone: leave `item=metadata\.of` out"):
        read_log(path, LogColumns(item="metadata.of"))
    assert len(read_log(path, LogColumns(item="id")).rows) == 2


def test_epochs_that_a_stopped_log_did_not_run_are_missing_for_a_reason(tmp_path):
    log = inspect_json(status="cancelled")
    log["eval"]["config"] = {"epochs": 2}
    log["samples"] = [
        {"id": name, "epoch": epoch, "metadata": {"of": f"q{name}"}, "scores": {"match": {"value": "C"}}}
        for name, epoch in ((1, 1), (2, 1), (2, 2))
    ]
    path = write(tmp_path / "log.json", log)
    missing = [row for row in read_log(path, NONE).rows if row.score is None]
    assert [(row.item, row.reason) for row in missing] == [("1", "not run")]
    named = [row for row in read_log(path, LogColumns(item="metadata.of")).rows if row.score is None]
    assert [row.item for row in named] == ["q1"]
    log["status"] = "success"
    assert all(row.score is not None for row in read_log(write(path, log), NONE).rows)


def inspect_json(status="success"):
    dataset = {"samples": 2, "sample_ids": [1, 2]}
    return {"status": status, "eval": {"task": "p/t", "model": "m", "scorers": [{"name": "match"}], "dataset": dataset}}


def write(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def eval_file(path, header=None, summaries=None, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        opened.writestr("header.json", json.dumps(inspect_json() if header is None else header))
        if summaries is not None:
            opened.writestr("summaries.json", json.dumps(summaries))
        for name, text in members.items():
            opened.writestr(name.replace("__", "/"), text)
    return path


def test_eval_file_without_summaries_is_read_from_its_samples(tmp_path):
    sample = {"id": 1, "epoch": 1, "scores": {"match": {"value": "C"}}}
    log = eval_file(tmp_path / "x.eval", **{"samples__1_epoch_1.json": json.dumps(sample)})
    assert [row.score for row in read_log(log, NONE).rows] == [1.0]


def test_eval_file_that_unfolds_to_too_much_is_refused(tmp_path, monkeypatch):
    log = eval_file(tmp_path / "x.eval", summaries=[], **{"samples__1.json": " " * 2_000_000})
    monkeypatch.setattr(inspect_log, "LARGEST_UNFOLDED", 1_000_000)
    with pytest.raises(BadRecord, match="would unfold to 1 MiB in 3 files: it is not read"):
        read_log(log, NONE)


LETTERS = "abcdefgh"
MANY = {
    "plan": {"status": "error", "eval": {"task": "t", "model": "m", "config": {"epochs": 1000},
             "scorers": [{"name": "right"}], "dataset": {"sample_ids": [*LETTERS]}}},
    "parts": {"status": "success", "eval": {"task": "t", "model": "m"},
              "samples": [{"id": name, "scores": {name: 1}} for name in LETTERS]},
}  # fmt: skip
"""Short logs that stand for many scores: those that were planned, and those that samples lack."""


@pytest.mark.parametrize("name", MANY)
def test_short_log_that_stands_for_too_many_scores_is_refused(tmp_path, monkeypatch, name):
    (tmp_path / "log.json").write_text(json.dumps(MANY[name]))
    assert len(read_log(tmp_path / "log.json", NONE).rows) >= len(LETTERS) ** 2
    monkeypatch.setattr(base, "MOST_SCORES", len(LETTERS) ** 2 - 1)
    with pytest.raises(BadRecord, match="stands for more than 63 scores: it is not read"):
        read_log(tmp_path / "log.json", NONE)


def test_member_that_is_larger_than_it_declares_is_refused(tmp_path):
    path = eval_file(tmp_path / "x.eval", summaries=[])
    data = path.read_bytes()
    index = data.rindex(b"PK\x01\x02")
    path.write_bytes(data[: index + 24] + (1).to_bytes(4, "little") + data[index + 28 :])
    with pytest.raises(BadRecord, match=r"is damaged|than it declares"):
        read_log(path, NONE)


@pytest.mark.parametrize(
    ("installed", "says"), [(None, "has another size than it declares"), (inspect_log, "is larger than it declares")]
)
def test_zstandard_member_that_is_larger_than_it_declares_is_refused(tmp_path, monkeypatch, installed, says):
    """By our reader, and before inspect reads the file."""
    monkeypatch.setattr(inspect_log, "find_spec", lambda name: installed)
    path = tmp_path / "x.eval"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("header.json", json.dumps(inspect_json()))
        opened.writestr("summaries.json", pa.Codec("zstd").compress(b" " * 100_000, asbytes=True))
    data = bytearray(path.read_bytes())
    entry = data.rindex(b"PK\x01\x02")  # of the last member, with its method and its whole size
    data[entry + 10 : entry + 12], data[entry + 24 : entry + 28] = (
        (93).to_bytes(2, "little"),
        (10).to_bytes(4, "little"),
    )
    path.write_bytes(data)
    with pytest.raises(BadRecord, match=f"summaries.json {says}"):
        read_log(path, NONE)


@pytest.mark.parametrize("cut", [10, 1000, 9000])
def test_torn_eval_file_is_one_sentence(cut, tmp_path):
    path = tmp_path / "x.eval"
    path.write_bytes((WRITTEN / "inspect" / "a.eval").read_bytes()[:cut])
    with pytest.raises(BadRecord, match="is damaged"):
        read_log(path, NONE)


def test_flipped_bytes_of_an_eval_file_raise_nothing_else(tmp_path):
    whole, refused = (WRITTEN / "inspect" / "b.eval").read_bytes(), 0
    places = range(0, len(whole), 211)
    for place in places:
        path = tmp_path / "x.eval"
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            read_log(path, NONE)
        except StratagemError:
            refused += 1
    assert 0 < refused <= len(places), "damage within a member is told by its checksum"


def test_filters_of_lm_eval_are_repeats_of_a_document():
    scores = read_log(LM_EVAL[1], NONE)
    assert {row.system for row in scores.rows} == {"small/b"}
    items = by_item(scores, "sums/exact_match")
    right = {n: float(n % 3 != 1) for n in range(1, 13)}
    assert list(items.values()) == [[float(right[n] and n % 2), right[n]] for n in range(1, 13)]
    assert all(":" in item for item in items), "the digest of the document is part of the item"


def test_one_filter_of_lm_eval_is_chosen_by_its_name():
    scores = read_log(LM_EVAL[0], LogColumns(score="exact_match,flexible-extract", cluster="topic"))
    assert [row.score for row in scores.rows] == [float(n % 3 == 0) for n in range(1, 13)]
    assert {row.cluster for row in scores.rows} == {"even", "odd"}
    with pytest.raises(BadParameter, match="there are exact_match, exact_match,flexible-extract"):
        read_log(LM_EVAL[0], LogColumns(score="acc"))


def test_rollouts_of_verifiers_are_repeats_of_a_task():
    scores = read_log(WRITTEN / "verifiers" / "bold" / "traces.jsonl", NONE)
    assert {row.system for row in scores.rows} == {"bold"}
    items = by_item(scores, "stratagem-verifiers/reward")
    assert [len(found) for found in items.values()] == [2, 2, 2]
    written = (WRITTEN / "verifiers" / "bold" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    payoffs = [json.loads(line)["traces"][0]["rewards"]["payoff"]["score"] for line in written]
    assert [row.score for row in scores.rows] == payoffs
    turns = read_log(WRITTEN / "verifiers" / "bold" / "traces.jsonl", LogColumns(score="turns"))
    assert {row.measure for row in turns.rows} == {"stratagem-verifiers/turns"}


def test_episode_of_verifiers_that_failed_has_a_reason(tmp_path):
    lines = (WRITTEN / "verifiers" / "bold" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    failed = {**json.loads(lines[0]), "ok": False, "traces": [], "errors": [{"type": "EnvError", "message": "x"}]}
    late = {**failed, "is_timeout": True}
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join([lines[1], json.dumps(failed), json.dumps(late)]), encoding="utf-8")
    scores = read_log(path, NONE)
    assert [row.reason for row in scores.rows] == ["", "error", "timeout"]
    assert {row.system for row in scores.rows} == {"bold"}


def test_episode_without_agents_is_missing_for_each_model_of_the_file(tmp_path):
    lines = (WRITTEN / "verifiers" / "bold" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines[:2])
    second["traces"][0]["agent"]["config"]["model"] = "other"
    failed = {**first, "ok": False, "traces": [], "errors": [{"type": "EnvError", "message": "x"}]}
    path = tmp_path / "traces.jsonl"
    path.write_text("\n".join(map(json.dumps, [first, second, failed])), encoding="utf-8")
    rows = read_log(path, NONE).rows
    assert [(row.system, row.reason) for row in rows] == [
        ("bold", ""),
        ("other", ""),
        ("bold", "error"),
        ("other", "error"),
    ]
    assert {row.measure for row in rows} == {"stratagem-verifiers/reward"}


def test_results_of_earlier_verifiers_take_the_model_from_beside_them(tmp_path):
    rows = [
        {"example_id": 3, "task": "t", "reward": 1.0, "error": None, "info": {"topic": "x"}, "length": 4},
        {"example_id": 3, "task": "t", "reward": 0.0, "error": "boom", "info": {"topic": "x"}, "length": 4},
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    write(tmp_path / "metadata.json", {"model": "gpt-x"})
    found = read_log(path, LogColumns(cluster="topic")).rows
    assert [(row.system, row.item, row.score, row.reason, row.cluster) for row in found] == [
        ("gpt-x", "3", 1.0, "", "x"),
        ("gpt-x", "3", None, "error", "x"),
    ]


def test_teams_of_a_replay_share_the_game():
    scores = [read_log(path, NONE) for path in sorted((WRITTEN / "kaggle").glob("connectx-*.json"))]
    rows = [row for found in scores for row in found.rows]
    assert {row.system for row in rows} == {"Alpha", "Beta"}
    assert len({row.item for row in rows}) == 5
    assert [row.score for row in rows if row.system == "Alpha"] == [1.0, 1.0, 1.0, 1.0, 0.0]
    assert [(row.system, row.reason) for row in rows if row.score is None] == [("Beta", "error")]
    assert {row.measure for row in read_log(WRITTEN / "kaggle" / "open-spiel.json", NONE).rows} == {
        "connect_four/reward"
    }


def test_replay_of_another_game_is_refused_with_those_that_are_read():
    with pytest.raises(BadParameter, match="replay of 'rps': games that are read are connectx, tictactoe"):
        read_log(WRITTEN / "kaggle" / "rps.json", NONE)


def table(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "item,system,score,cluster\n1,a,1,p\n1,b,0,p\n2,a,,q\n2,b,true,q\n"),
        ("x.tsv", "item\tsystem\tscore\tcluster\n1\ta\t1\tp\n1\tb\t0\tp\n2\ta\t\tq\n2\tb\ttrue\tq\n"),
        ("x.csv", "\ufeffitem;system;score;cluster\n1;a;1;p\n1;b;0;p\n2;a;;q\n2;b;true;q\n"),
    ],
)
def test_tables_are_read_with_any_delimiter(name, text, tmp_path):
    scores = read_log(table(tmp_path / name, text), NONE)
    assert [(row.item, row.system, row.score, row.cluster) for row in scores.rows] == [
        ("1", "a", 1.0, "p"),
        ("1", "b", 0.0, "p"),
        ("2", "a", None, "q"),
        ("2", "b", 1.0, "q"),
    ]
    assert not scores.one_system


def test_json_lines_and_lists_are_tables(tmp_path):
    rows = [{"q": {"id": n}, "acc": n % 2, "reason": "" if n else "refusal"} for n in range(3)]
    rows[0]["acc"] = None
    columns = LogColumns(item="q.id", score="acc")
    lines = table(tmp_path / "m.jsonl", "\n".join(map(json.dumps, rows)))
    found = read_log(lines, columns)
    assert found == read_log(write(tmp_path / "m.json", rows), columns)
    first = found.rows[0]
    assert (first.system, first.item, first.score, first.reason) == ("m", "0", None, "refusal")
    assert found.one_system


@pytest.mark.parametrize(
    ("name", "text", "columns", "sentence"),
    [
        ("x.csv", "id,score\n1,1\n", NONE, "has no item 'item': there are id, score; `item=` takes one of them"),
        ("x.csv", "item,score\n1,good\n", NONE, "has the score 'good', which is no number: `score=` names the column"),
        ("x.csv", "item,score\n1,inf\n", NONE, "which is no number"),
        ("x.csv", "item,score\n1,1_0\n", NONE, "has the score '1_0', which is no number"),
        ("x.csv", "item,score\n,1\n", NONE, "Row 2 of .* has no item"),
        ("x.csv", "item,score\n", NONE, "has no rows"),
        ("x.csv", "item,score,other,score\n1,1,2,3\n", NONE, "has several columns 'score'"),
        ("x.csv", "item,score\n1,1\n", LogColumns(cluster="topic"), "has no cluster 'topic'"),
        ("x.csv", "", NONE, "is empty"),
        ("x.csv", "item,score\n1,\x00\n", NONE, "no number|no CSV"),
        ("x.jsonl", '{"item": 1, "score": 1}\n[2]\n', NONE, "Line 2 of .* is no JSON object"),
        ("x.jsonl", '{"item": 1, "score": 1}\n{"item"\n', NONE, "Line 2 of .* is no JSON"),
        ("x.jsonl", '{"item": 1, "score": {}}\n', NONE, "which is no number"),
        ("x.txt", "hello\n", NONE, "is no log that is known. Formats: inspect's .eval"),
        ("x.json", '{"a": 1}', NONE, "has no item"),
        ("x.json", '{"eval": {"task": "t"}}', NONE, "is damaged"),
        ("x.json", "[" * 100_000, NONE, "is no log that is known"),
    ],
)
def test_other_files_are_one_sentence(name, text, columns, sentence, tmp_path):
    with pytest.raises(StratagemError, match=sentence):
        read_log(table(tmp_path / name, text), columns)


def test_missing_file_and_folder_are_one_sentence(tmp_path):
    with pytest.raises(BadRecord, match=r"There is no .*: name logs of evaluations, or two audits"):
        read_log(tmp_path / "none.csv", NONE)
    with pytest.raises(BadRecord, match="is a folder without an audit: name the logs in it"):
        read_log(tmp_path, NONE)


def test_line_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("stratagem.connect.logs.base.LONGEST_LINE", 1000)
    with pytest.raises(BadRecord, match="A line of"):
        read_log(table(tmp_path / "x.jsonl", '{"item": "' + "a" * 2000 + '"}'), NONE)


def test_runs_of_one_model_on_one_task_are_two_systems(tmp_path):
    other = tmp_path / "again.eval"
    other.write_bytes((WRITTEN / "inspect" / "a.eval").read_bytes())
    first = WRITTEN / "inspect" / "a.eval"
    assert {row.system for row in read_logs([first, other], NONE)} == {"mockllm/a (a)", "mockllm/a (again)"}
    assert {row.system for row in read_logs([f"old={first}", f"new={other}"], NONE)} == {"old", "new"}
    with pytest.raises(BadParameter, match="has the systems Alpha, Beta: leave out `x=`"):
        list(read_logs([f"x={WRITTEN / 'kaggle' / 'connectx-0.json'}"], NONE))


def test_runs_whose_files_have_one_name_have_their_paths(tmp_path):
    paths = [tmp_path / folder / "scores.csv" for folder in ("1", "2")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("item,score\n1,1\n", encoding="utf-8")
    assert {row.system for row in read_logs(paths, NONE)} == {f"scores ({tmp_path}/{one}/scores)" for one in "12"}
    with pytest.raises(BadParameter, match="is given twice"):
        list(read_logs([paths[0], tmp_path / "2" / ".." / "1" / "scores.csv"], NONE))


TRACE = {
    "task": {"hash": "1"},
    "env": {"id": "e"},
    "traces": [{"ok": True, "agent": {}, "rewards": {"r": {"score": 1}}}],
}
SAMPLE = {"doc_id": 0, "filtered_resps": [], "metrics": ["acc"], "acc": 1.0}


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        (
            TRACE,
            {**TRACE, "traces": [{"ok": True, "agent": {}, "rewards": {"r": {"score": "x"}}}]},
            "a reward that is no number",
        ),
        (
            TRACE,
            {**TRACE, "traces": [{"ok": True, "agent": {}, "rewards": {"r": {"score": 10**400}}}]},
            "a reward that is no numb",
        ),
        (SAMPLE, {"filtered_resps": [], "metrics": ["acc"], "acc": 1.0}, "Line 2 of .* has no doc_id"),
    ],
)
def test_line_that_is_unlike_the_first_is_one_sentence(first, second, sentence, tmp_path):
    path = table(tmp_path / "x.jsonl", f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(StratagemError, match=sentence):
        read_log(path, NONE)


@pytest.mark.parametrize("members", [{"header": [1]}, {"header": 3}, {"summaries": 3}])
def test_eval_file_of_other_json_is_one_sentence(members, tmp_path):
    with pytest.raises(BadRecord, match=r"is damaged"):
        read_log(eval_file(tmp_path / "x.eval", **members), NONE)


@pytest.mark.parametrize(("flag", "method", "part"), [(1, 8, "password"), (0, 97, "compression")])
def test_eval_file_that_zipfile_cannot_open_is_one_sentence(flag, method, part, tmp_path):
    path = eval_file(tmp_path / "x.eval", summaries=[])
    data = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            data[at + place] |= flag
            data[at + place + 2] = method
    path.write_bytes(data)
    with pytest.raises(BadRecord, match=f"cannot be read: .*{part}"):
        read_log(path, NONE)


@pytest.mark.parametrize("row", [TRACE, SAMPLE, {"example_id": 1, "reward": 1.0}])
def test_field_of_systems_that_a_log_lacks_is_refused(row, tmp_path):
    with pytest.raises(BadParameter, match="has no system 'other'"):
        read_log(table(tmp_path / "x.jsonl", json.dumps(row)), LogColumns(system="other"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x.csv", "item,model.name,score\n1,a,1\n1,b,0\n"),
        ("x.jsonl", "".join(json.dumps({**SAMPLE, "model.name": name}) + "\n" for name in "ab")),
    ],
)
def test_log_of_several_systems_takes_no_name(name, text, tmp_path):
    path = table(tmp_path / name, text)
    with pytest.raises(BadParameter, match="has the systems a, b: leave out `x=`"):
        list(read_logs([f"x={path}"], LogColumns(system="model.name")))


def test_renamed_samples_of_lm_eval_have_common_measures(tmp_path):
    paths = [table(tmp_path / f"{name}.jsonl", json.dumps(SAMPLE)) for name in "ab"]
    assert [(row.system, row.measure) for row in read_logs(paths, NONE)] == [("a", "acc"), ("b", "acc")]
