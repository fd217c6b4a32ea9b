"""`stratagem verify-game --brute-force`: what it prints, its exit status, and games that are too large."""

import json

import pytest

PLANTED = """
from dataclasses import dataclass
from stratagem.games.kuhn import Kuhn

@dataclass(frozen=True, kw_only=True)
class Forgetful(Kuhn):
    def state_key(self, facts):
        return facts.line
"""


def test_verify_game_prints_what_brute_force_compared(run):
    status, out, _ = run("verify-game", "kuhn(hands=1)", "--episodes", 2, "--brute-force")
    line = " ".join(out.partition("passed   brute-force")[2].split())
    assert status == 0
    assert line.startswith("54 histories, 12 information sets, 3 random policies; 22 values, 22 ")
    assert "best responses and 12 advantages by expectation, induction, tree, exact, OpenSpiel; largest diff" in line


def test_verify_game_compares_nothing_by_brute_force_unless_it_is_asked_to(run):
    assert "brute-force" not in run("verify-game", "kuhn(hands=1)", "--episodes", 2)[1]


def test_verify_game_ends_with_status_1_where_figures_differ(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "planted.py").write_text(PLANTED, encoding="utf-8")
    status, out, _ = run("verify-game", "planted.py:Forgetful(hands=1)", "--episodes", 2, "--brute-force", "--json")
    outcomes = {check["name"]: check["outcome"] for check in json.loads(out)["checks"]}
    assert status == 1
    assert outcomes["brute-force"] == "failed"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("kuhn(hands=2)", "--histories", 1643), "has more than 1,643 histories, about 1.7e+03, too many for brute "),
        (("kuhn(hands=2)", "--histories", 1643), "raise --histories, or make the game smaller by its options."),
        (("textarena:KuhnPoker-v0",), "whose histories cannot be enumerated"),
    ],
)
def test_verify_game_refuses_histories_that_it_cannot_play_in_a_sentence(run, words, sentence):
    status, out, said = run("verify-game", *words, "--brute-force")
    assert (status, out) == (2, "")
    assert sentence in said


def test_verify_game_plays_as_many_histories_as_allowed(run):
    assert run("verify-game", "kuhn(hands=2)", "--episodes", 2, "--brute-force", "--histories", 1644)[0] == 0
