"""Hostile names, replies and files at every command: the terminal gets nothing to obey."""

import json
import logging
import re
import sys
import warnings
from pathlib import Path
from unicodedata import category

import pytest

from stratagem.api.transcript import transcript
from stratagem.base.visible import is_unseen, json_text, visible
from stratagem.cli.commands import COMMANDS
from stratagem.cli.console import errors
from stratagem.cli.output import progress
from stratagem.cli.show import print_words
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.records import Decision
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard

SRC = Path(__file__).parents[2] / "src" / "stratagem"
CLIPBOARD = "\x1b]52;c;ZXZpbA==\x07"
"""OSC 52 writes the clipboard."""
HOSTILE = f"evil{CLIPBOARD}\x1b[2J\x9b31m\u202egnp.exe\u2066\u200b\u061c\x7f\r\x08[link=http://evil]x[/link][/]"

PUBLISHED = """
name = HOSTILE
title = HOSTILE
differs = [HOSTILE]
[models]
[scales.tiny]
recipes = []
differs = [HOSTILE]
measured = HOSTILE
[runs.a]
recipes = [HOSTILE]
[runs.b]
recipes = ["sepo/kuhn-tiny"]
[[tables]]
id = "1"
title = HOSTILE
place = HOSTILE
columns = [{ name = HOSTILE, at = HOSTILE }]
rows = [{ label = HOSTILE, run = "b", published = ["1"] }]
[[tables]]
id = "2"
title = HOSTILE
place = HOSTILE
cannot = HOSTILE
[[tables]]
id = "3"
title = HOSTILE
place = HOSTILE
columns = [{ name = HOSTILE, at = HOSTILE }]
rows = [{ label = HOSTILE, run = "a", published = ["1"] }]
"""
"""Tables of a paper whose texts are hostile."""


class Evil:
    """A player with a hostile name who says hostile things."""

    name = HOSTILE
    traits = Traits()

    def turn(self, ask):
        return Move(None, "free", said=HOSTILE)


@pytest.fixture
def record(tmp_path):
    """A record of games of somebody who is hostile in all that he names and says."""
    game = make_game("kuhn(hands=1)")
    setups = list(rotate_seats(Match(game, [Evil(), make_player("random", game)]), 2, Key(0), name=HOSTILE))
    episodes = list(play(setups))
    for episode in episodes:
        episode.game += HOSTILE
        episode.decisions[0].state_key = HOSTILE
    write_shard(tmp_path / "record", 0, episodes)
    return tmp_path / "record"


@pytest.fixture
def run_folder(tmp_path):
    """A run whose files are hostile."""
    folder = tmp_path / "runs" / "evil\x1b]0;title\x07\u202e"
    folder.mkdir(parents=True)
    info = {"seed": 0, "command": HOSTILE, "begun": HOSTILE, "commit": HOSTILE, "dirty": None, "made_by": {}}
    (folder / "run.json").write_text(json.dumps(info))
    (folder / "status.json").write_text(json.dumps({"state": HOSTILE, "sentence": HOSTILE}))
    key = json.dumps(HOSTILE).replace("\x7f", "\\u007f")  # which TOML does not take as it is
    (folder / "config.toml").write_text(f"{key} = 1\n")
    (folder / "published.toml").write_text(PUBLISHED.replace("HOSTILE", key))
    (folder / "models.json").write_text(json.dumps({"version": 1, "models": {"best": {"model": HOSTILE}}}))
    (folder / "metrics.jsonl").write_text(json.dumps({"step": 1, HOSTILE: 1.0}) + "\n")
    return folder


CASES = {
    "games": [("games", HOSTILE), ("games", f"ipd(rounds='{HOSTILE}')")],
    "players": [("players", HOSTILE)],
    "engines": [("engines", HOSTILE)],
    "play": [
        ("play", "kuhn", "--players", HOSTILE),
        ("play", "kuhn", "--players", f"lm({HOSTILE})", "random"),
        ("play", "kuhn", "--players", f"cmd:{HOSTILE}", "random"),
        ("play", "kuhn", "--players", f"cmd:{sys.executable} -c print({HOSTILE!r})", "random"),
        ("play", "kuhn", "--players", f"http:{HOSTILE}", "random"),
        ("play", "kuhn", "--players", "random", "--record", "{tmp}/record/" + HOSTILE),
        ("play", "kuhn", "--players", "run:{run}", "random"),
    ],
    "eval": [
        ("eval", HOSTILE, "--player", "random"),
        ("eval", "kuhn", "--player", f"api:{HOSTILE}@http://127.0.0.1:1/v1"),
        ("eval", "kuhn", "--player", "random", "--metric", HOSTILE),
        ("eval", "kuhn", "--player", "random", "--budget", HOSTILE),
        ("eval", "kuhn", "--player", "random", "--prices", HOSTILE),
        ("eval", "kuhn", "--player", "random", "--disguise", HOSTILE),
        ("eval", "kuhn", "--player", f"disguise(random, file={HOSTILE!r})"),
    ],
    "tournament": [("tournament", "kuhn", "--players", HOSTILE, "random")],
    "audit": [
        ("audit", HOSTILE),
        ("audit", "random", "--games", HOSTILE),
        ("audit", "random", "--games", "kuhn", "--fail-if", HOSTILE),
        ("audit", "random", "--games", "kuhn", "--against", HOSTILE),
        ("audit", "random", "--games", "kuhn", "--dry-run", "--out", HOSTILE),
    ],
    "compare": [("compare", HOSTILE, HOSTILE)],
    "leaderboard": [("leaderboard", HOSTILE, HOSTILE), ("leaderboard", HOSTILE, "--figure", HOSTILE)],
    "verify": [
        ("verify", HOSTILE),
        ("verify", "{run}"),
        ("verify", "{run}", "--json"),
        ("verify", "{run}", "--ask", "1"),
    ],
    "verify-game": [("verify-game", HOSTILE)],
    "solve": [("solve", HOSTILE)],
    "new": [
        ("new", HOSTILE, "coin"),
        ("new", "game", HOSTILE),
        ("new", "player", "new_coin_player", "--folder", "{tmp}/" + HOSTILE),
    ],
    "prompt": [
        ("prompt", "kuhn", "--model", HOSTILE),
        ("prompt", "kuhn", "--style", HOSTILE),
        ("prompt", "kuhn", "--disguised-as", HOSTILE),
    ],
    "talk": [
        ("talk", HOSTILE, "random", "random"),
        ("talk", HOSTILE, "random", "random", "--episodes", "2"),
        ("talk", "talk(kuhn(hands=1), before=round)", HOSTILE, "random"),
    ],
    "collusion": [
        ("collusion", HOSTILE, "random", "random", "random"),
        ("collusion", "talk(auction(seats=3))", HOSTILE, "random", "random"),
    ],
    "data": [("data", HOSTILE, "--out", "{tmp}/data"), ("data", "sepo", "--out", "{tmp}/data", "--set", HOSTILE)],
    "steps": [
        ("steps", "{record}", "--out", "{tmp}/steps.parquet", "--player", HOSTILE),
        ("steps", "{record}", "--out", "{tmp}/\x1b]0;x\x07.parquet"),
    ],
    "train": [
        ("train", "{run}/config.toml", "--dry-run"),
        ("train", "{run}", "--resume"),
        ("train", "{tmp}/" + HOSTILE),
        ("train", "{run}/config.toml", "--set", f"{HOSTILE}=1"),
    ],
    "recipes": [("recipes", HOSTILE)],
    "runs": [("runs", "{tmp}/runs")],
    "watch": [
        ("watch", "{run}"),
        ("watch", "{run}", "--once", "--json"),
        ("watch", HOSTILE),
    ],
    "sweep": [("sweep", "{tmp}/" + HOSTILE)],
    "reproduce": [
        ("reproduce", HOSTILE),
        ("reproduce", f"sepo:{HOSTILE}"),
        ("reproduce", "sepo:5", "--dry-run", "--model", HOSTILE),
        ("reproduce", "{run}/published.toml:1", "--dry-run"),
        ("reproduce", "{run}/published.toml:2"),
        ("reproduce", "{run}/published.toml:3", "--dry-run"),
    ],
    "report": [("report", "{run}"), ("report", HOSTILE)],
    "serve": [
        ("serve", HOSTILE, "--game", "kuhn"),
        ("serve", "random", "--game", HOSTILE),
        ("serve", "random", "--game", "kuhn", "--host", HOSTILE),
        ("serve", "random", "--game", "kuhn", "--style", HOSTILE),
    ],
    "mcp": [
        ("mcp", HOSTILE),
        ("mcp", "kuhn", "--opponents", HOSTILE),
        ("mcp", "kuhn", "--host", HOSTILE),
        ("mcp", "kuhn", "--audit", "--out", "{tmp}/audit", "--agent", HOSTILE),
        ("mcp", "kuhn", "--audit", "--out", "{tmp}/audit", "--fail-if", HOSTILE),
    ],
    "show": [
        ("show", "{record}"),
        ("show", "{record}", "--json"),
        ("show", "{record}", "--episode", "1"),
        ("show", "{record}", "--episode", "1", "--words"),
        ("show", "{record}", "--episode", HOSTILE),
        ("show", HOSTILE),
    ],
    "view": [
        ("view", HOSTILE),
        ("view", "{record}", "--host", HOSTILE),
        ("view", "{record}", "--export", "x", "--episode", HOSTILE),
    ],
    "upgrade": [("upgrade", HOSTILE), ("upgrade", "{run}")],
    "trust": [("trust", HOSTILE), ("trust", "--forget", HOSTILE)],
}


def unseen(text):
    return sorted({c for c in text if is_unseen(c)})


def test_nothing_is_printed_past_the_two_consoles():
    """`ruff` forbids `print`; this forbids other consoles and streams."""
    past = re.compile(r"\bConsole\(|sys\.(stdout|stderr)\.|typer\.(echo|secho)|click\.echo|os\.write\(")
    found = {
        f"{path.relative_to(SRC)}: {line.strip()}"
        for path in SRC.rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if past.search(line)
    }
    assert found == {
        "games/playthrough.py: sys.stdout.write(output)",
        'cli/main.py: typer.echo(f"stratagem {__version__}")',
    }


def test_every_command_has_a_hostile_case():
    assert set(CASES) == set(COMMANDS)


@pytest.mark.parametrize("words", [words for cases in CASES.values() for words in cases], ids=lambda words: words[0])
def test_command_prints_nothing_that_a_terminal_obeys(words, tmp_path, capsys, record, run_folder):
    from stratagem.cli.main import main

    places = {"{tmp}": tmp_path, "{run}": run_folder, "{record}": record}
    filled = []
    for word in words:
        for place, path in places.items():
            word = word.replace(place, str(path))
        filled.append(word)
    with pytest.raises(SystemExit) as ended:
        main(filled)
    printed = capsys.readouterr()
    said = printed.out + printed.err
    assert said.strip() or ended.value.code == 0
    assert unseen(said) == []
    assert "evil" in said or "\\x1b" in said or ended.value.code == 0
    assert "Traceback" not in said


def test_hostile_record_is_listed_as_it_is_but_spelt(record, capsys):
    from stratagem.cli.main import main

    with pytest.raises(SystemExit):
        main(["show", str(record), "--episode", "1"])
    assert "evil\\x1b]52;c;ZXZpbA==" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["show", str(record), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert shown[0]["id"].startswith(HOSTILE), "JSON has the text itself, escaped"


def test_no_character_of_a_record_is_dropped(record, capsys):
    from stratagem.cli.main import main

    with pytest.raises(SystemExit):
        main(["show", str(record), "--episode", "1"])
    assert f": illegal, {visible(HOSTILE)}\n" in capsys.readouterr().out, "with BEL, CR and BS"


def test_no_text_passes_for_a_line_of_the_transcript(record, capsys):
    from stratagem.cli.main import main

    (*_, episode) = read_episodes(record)
    forged = "x\n    payoff: seat 0 9.00, seat 1 9.00"
    episode.id, episode.players = forged, (forged, forged)
    for row in episode.decisions:
        row.action, row.said = (row.action and forged), forged
    write_shard(record.parent / "forged", 0, [episode])
    with pytest.raises(SystemExit):
        main(["show", str(record.parent / "forged"), "--episode", "1"])
    told = capsys.readouterr().out
    assert told.count("\n      │     payoff: seat 0 9.00, seat 1 9.00") == 3 + len(episode.decisions)
    assert "\n    payoff: seat 0 9.00" not in told


def test_turn_without_a_reply_has_a_line(record):
    (episode, *_) = read_episodes(record)
    episode.decisions[0].said = None
    assert "illegal, no reply" in "\n".join(line.plain for line in transcript(episode))


def test_words_of_a_model_lose_no_character(capsys):
    said = "BET\x07\r\nPASS\x08\x0b\x0c"
    prompt = Prompt((("user", said),))
    call = Call(policy=PolicyId("m"), prompt=prompt, text=said)
    print_words(Decision(0, 0, 0, 0, 0, 0, "", "", None, "illegal", calls=(call,)))
    assert capsys.readouterr().out.count("│ BET\\x07\\r\n      │ PASS\\x08\\x0b\\x0c\n") == 2


def test_progress_on_a_terminal_and_warnings_are_spelt(capsys, monkeypatch):

    from stratagem.cli.console import use_error_console

    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert errors.is_terminal
    with progress(2, quiet=False) as step:
        step(f"{CLIPBOARD}\u202e")
        step(f"{CLIPBOARD}\u202e")
    use_error_console()
    warnings.showwarning(f"take {CLIPBOARD}", UserWarning, "/home/me/file.py", 7)
    warnings.showwarning("old", DeprecationWarning, "/home/me/file.py", 7)
    logged = logging.LogRecord("library", logging.WARNING, "file.py", 7, f"lost {CLIPBOARD}", None, None)
    logging.lastResort.handle(logged)
    said = capsys.readouterr().err
    assert "\\x1b]52" in said
    assert "lost" in said
    assert "\x1b]" not in said
    assert "\u202e" not in said
    assert "file.py" not in said
    assert "old" not in said


def test_usage_mistakes_are_spelt(capsys):
    from stratagem.cli.main import main

    for words in (["games", f"--{CLIPBOARD}"], [HOSTILE], ["games", "a", HOSTILE], ["play", "--seed", HOSTILE]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2
        printed = capsys.readouterr()
        assert unseen(printed.out + printed.err) == []
        assert "Usage: " in printed.err


def test_visible_spells_every_character_that_is_not_seen_and_no_other():
    every = [chr(point) for point in range(0x30000)]
    for character in every:
        shown = visible(character)
        hidden = category(character) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} and character != "\n"
        assert (shown != character) == hidden
        assert visible(shown) == shown
    text = "".join(c for c in every if category(c) != "Cs")
    assert json.loads(json_text([text])) == [text]
    assert unseen(json_text([text])) == []
