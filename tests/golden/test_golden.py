"""The golden playthroughs: a change of rules, words, keys or draws shows as a difference in a text file.

Where the change is meant: `make golden`, read the difference, and raise the game's version if transcripts changed.
"""

from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

from stratagem.games import Key, make_game
from stratagem.games.playthrough import golden, golden_text, main, playthrough, update

HERE = Path(__file__).parent
TEXTS = golden()


@pytest.mark.parametrize("name", TEXTS)
def test_it_plays_as_it_is_written(name):
    written = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    played = golden_text(TEXTS[name])
    if played != written:
        lines = unified_diff(written.splitlines(), played.splitlines(), f"{name}.txt", "played now", lineterm="", n=2)
        pytest.fail("\n".join(islice(lines, 60)), pytrace=False)


def test_each_file_belongs_to_a_game():
    assert {path.stem for path in HERE.glob("*.txt")} == set(TEXTS)


def test_update_writes_what_changed_and_removes_what_is_nobodys(tmp_path, monkeypatch):
    monkeypatch.setattr("stratagem.games.playthrough.golden", lambda: {"kuhn": "kuhn(hands=2)", "nim": "nim"})
    (tmp_path / "chess.txt").write_text("old")
    assert update(tmp_path) == ["chess.txt", "kuhn.txt", "nim.txt"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kuhn.txt", "nim.txt"]
    assert update(tmp_path) == []
    (tmp_path / "nim.txt").write_text("changed by hand")
    assert update(tmp_path) == ["nim.txt"]


def test_a_playthrough_tells_the_whole_episode():
    text = playthrough(make_game("kuhn(hands=1)"), Key(2))
    for part in ("# kuhn", "rules for seat 1:", "kept: round, over, to_act, cards, line", "may play: 'PASS', 'BET'"):
        assert part in text
    assert "seat 0 plays" in text
    assert "payoffs in all: " in text
    assert "collusion: 0, 0" in text
    assert playthrough(make_game("kuhn(hands=1)"), Key(2)) == text
    assert playthrough(make_game("kuhn(hands=1)"), Key(3)) != text


def test_a_history_that_grows_is_not_told_twice():
    text = playthrough(make_game("ipd-shapellm"), Key(1))
    assert text.count("\n    3. you") == 2
    assert "lines as before)" in text


def test_the_command_prints_one(capsys):
    assert main(["ipd(rounds=2)", "--key", "7"]) == 0
    assert capsys.readouterr().out == playthrough(make_game("ipd(rounds=2)"), Key(7))


@pytest.mark.parametrize(
    ("arguments", "says"), [([], "name a game"), (["kun"], "did you mean"), (["nim", "--update", "x"], "name a game")]
)
def test_a_wrong_command_is_one_sentence(arguments, says, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert says in capsys.readouterr().err
