"""Script of the board at its smallest: rows are audited once, and what is not here is named with its command."""

import json
import sys

import board
import pytest
from board import Row

from stratagem.measure.audit.card import AuditCost, Card


@pytest.fixture
def small(monkeypatch):
    """Make every audit of Kuhn poker as short as it can be."""
    monkeypatch.setitem(board.GAMES, "kuhn", ("kuhn", 300))


def call(monkeypatch, folder, *words):
    monkeypatch.setattr(
        sys, "argv", ["board.py", str(folder / "runs"), *words, "--out", str(folder / "out" / "board.json")]
    )
    board.main()


@pytest.mark.runs
def test_finished_rows_are_skipped_and_their_time_tells_that_of_others(small, monkeypatch, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    chosen = ("--games", "kuhn", "--only", "TightPassive", "PotControl")
    call(monkeypatch, tmp_path, *chosen)
    said = capsys.readouterr().out
    assert (
        "2 rows are left. By the finished ones of their game and kind 0 of them take 0.0 min. Of 2 no time is known."
        in said
    )
    assert "kuhn/TightPassive: " in said
    written = json.loads((tmp_path / "out" / "board.json").read_text())
    rows = {row["agent"]: row for row in written["rows"]}
    assert {name: round(row["value"], 3) for name, row in rows.items()} == {"TightPassive": 0.25, "PotControl": 0.167}
    command = "stratagem audit TightPassive --games kuhn --decisions 300 --out RUNS/kuhn/TightPassive"
    assert rows["TightPassive"]["command"] == command
    missing = {(row["game"], row["agent"]): row for row in written["not_run"]}
    assert missing["kuhn", "run:RUNS/smollm2-sepo"]["first"].startswith("stratagem train ")
    assert missing["kuhn", "run:RUNS/smollm2-sepo"]["how"].endswith("--out RUNS/kuhn/run-smollm2-sepo")
    assert str(tmp_path) not in json.dumps(written["rows"]) + json.dumps(written["not_run"])
    assert "kuhn/PotControl 0.167" in (tmp_path / "runs" / "index.html").read_text()
    assert ">TightPassive</text>" in (tmp_path / "out" / "board-kuhn.svg").read_text()
    monkeypatch.setattr(board, "run_command", lambda command: pytest.fail(f"asked twice: {command}"))
    call(monkeypatch, tmp_path, *chosen)
    assert "0 rows are left." in capsys.readouterr().out
    rows = [Row("kuhn", "Bluffer"), Row("kuhn", "cfr:1000")]
    times = {"kuhn/TightPassive": 60.0, "kuhn/PotControl": 120.0}
    finished = {name: Row("kuhn", name.partition("/")[2]) for name in times}
    assert "1 of them take 1.5 min. Of 1 no time is known." in board.cost_sentence(rows, times, finished)


def test_rows_of_an_endpoint_share_one_budget():
    cards = [Card("a", (), 1, 0, (), {}, {}, AuditCost(calls=30, prompt_tokens=5, reply_tokens=1, money=0.5), {})] * 2
    assert board.what_is_left("2usd", cards) == "1usd"
    assert board.what_is_left("100calls", cards) == "40calls"
    assert board.what_is_left("100tokens", cards) == "88tokens"
    with pytest.raises(SystemExit, match="is spent by 2 finished rows"):
        board.what_is_left("60calls", cards)


def test_an_audit_whose_budget_is_spent_ends_the_script(monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(board, "run_command", lambda command: asked.append(command) or board.SPENT)
    with pytest.raises(SystemExit, match="a larger one goes on"):
        board.fill([Row("kuhn", "api:m@http://x"), Row("ipd", "api:m@http://x")], tmp_path, "2usd", ["--prices", "p"])
    (command,) = asked
    assert command[-4:] == ["--budget", "2usd", "--prices", "p"]


def test_a_model_of_other_parts_is_refused(monkeypatch, tmp_path):
    for number in (1, 2, 3, 4):
        package = tmp_path / "site" / f"{board.GEMMA}_part{number}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("")
        (package / "data" / f"{board.GEMMA_FILE}.part0{number - 1}").write_text("part")
    (tmp_path / "site" / f"{board.GEMMA}.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path / "site")
    with pytest.raises(SystemExit, match="have the digest"):
        board.assemble_gemma(tmp_path)
    assert not (tmp_path / board.GEMMA_FILE).exists()
    monkeypatch.setattr(board, "GEMMA_DIGEST", board.sha256(b"part" * 4).hexdigest())
    board.assemble_gemma(tmp_path)
    assert (tmp_path / board.GEMMA_FILE).read_text() == "part" * 4


def test_every_row_has_a_folder_of_its_own(tmp_path):
    rows = list(board.all_rows(tmp_path))
    assert len({row.folder(tmp_path) for row in rows}) == len(rows) > 60
    assert {"kuhn", "ipd", "leduc", "dice"} == {row.game for row in rows}
    assert all(row.command(tmp_path)[:2] == ["audit", row.agent] for row in rows)
