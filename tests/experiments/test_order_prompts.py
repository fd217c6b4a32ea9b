"""The experiment on prompts for order sheets, and that on the play of a table of decisions."""

import json
import sys

import order_prompts
import table_play

from stratagem.games.key import Key


def test_order_prompts_measures_both_modes(tmp_path, monkeypatch):
    out = tmp_path / "prompts.json"
    words = [
        "order_prompts.py",
        "tiny",
        "--positions",
        "1",
        "--max-new",
        "4",
        "--prompts",
        "minimal",
        "--out",
        str(out),
    ]
    monkeypatch.setattr(sys, "argv", words)
    order_prompts.main()
    rows = {row["mode"]: row for row in json.loads(out.read_text())["rows"]}
    assert rows["free"]["mean_reply"] <= 4
    assert rows["constrained"]["mean_sheets"] == 1.0


def test_both_seats_of_a_deal_are_one_observation():
    row = table_play.row("tic-tac-toe", {}, "best", ["random"], 20, Key(0))
    assert row["won"]["random"]["n"] == 10
