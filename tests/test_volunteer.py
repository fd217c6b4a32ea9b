"""The game of `examples/volunteer/` goes through everything that a shipped game does, by its file alone."""

import json
from pathlib import Path

import pytest

from stratagem.base.consent.table import allow, commanding
from stratagem.base.consent.trusted import trust_folder
from stratagem.cli.main import main
from stratagem.games.catalogue import make_game
from stratagem.measure.exploitability.exact import exact
from stratagem.players.catalogue import make_player

FOLDER = Path(__file__).resolve().parents[1] / "examples/volunteer"
GAME = f"{FOLDER / 'volunteer.py'}:Volunteer"


@pytest.fixture
def game():
    with commanding():
        allow(FOLDER / "volunteer.py")
        yield make_game(GAME)


@pytest.fixture(autouse=True)
def trusted():
    trust_folder(FOLDER)


def command(*words):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    return ended.value.code


@pytest.mark.parametrize(
    ("name", "gain", "value"),
    [
        ("Threshold", 0.0, 3.0),  # 4 - 1 = 4 * 3/4 at the low cost: an equilibrium
        ("Lazy", 2.0, 0.0),  # 3 or 1 by volunteering, equally likely
        ("Eager", 2.0, 2.0),  # waiting saves 1 or 3
    ],
)
def test_deviation_gains_are_those_worked_out_by_hand(game, name, gain, value):
    found = exact(game, make_player(name, game))
    assert found.gains == pytest.approx((gain,) * 3)
    assert found.values == pytest.approx((value,) * 3)


def test_rules_conform_and_players_are_measured(tmp_path, capsys):
    assert command("verify-game", GAME, "--episodes", 10) == 0
    out = tmp_path / "figures.json"
    assert command("eval", GAME, "--player", "Rotating", "--episodes", 6, "--no-chance", "--out", out) == 0
    assert "exploitability" in capsys.readouterr().out
    (result,) = json.loads(out.read_text())["games"]
    assert set(result["players"][0]["metrics"]) >= {
        "payoff",
        "pool_advantage",
        "shifted_payoff",
        "externality",
        "safety",
    }


def test_a_record_of_a_game_of_a_file_keeps_its_pools(tmp_path, capsys):
    """Its pools say `Lazy` and `noise(Threshold, p=0.3)`, and the record names the file, too."""
    record = tmp_path / "record"
    words = ("eval", GAME, "--player", "Rotating", "--episodes", 3, "--no-chance", "--json")
    assert command(*words, "--record", record) == 0
    played = json.loads(capsys.readouterr().out)["games"][0]["players"][0]["opponents"]
    assert command("eval", "--from", record, "--json", "--allow-file", FOLDER / "volunteer.py") == 0
    read = json.loads(capsys.readouterr().out)["games"][0]["players"][0]["opponents"]
    assert [(row["opponent"], row["pools"]) for row in read] == [(row["opponent"], row["pools"]) for row in played]
    assert {pool for row in read for pool in row["pools"]} == {"train", "exploit", "shifted"}


SMALL = {
    "sepo": ["sepo.iterations=1", "sft.num_examples=40", "sft.epochs=1", "evaluate_every=1"],
    "grpo": ["grpo.iterations=1", "evaluate_every=1"],
    "league": ["league.iterations=1", "league.snapshot_every=1", "sft.num_examples=40", "sft.epochs=1"],
    "shapellm": ["trials=1"],
}


@pytest.mark.parametrize(
    "name", [name if name == "shapellm" else pytest.param(name, marks=pytest.mark.long) for name in SMALL]
)
def test_each_recipe_trains_and_reports(tmp_path, name):
    changes = [word for change in SMALL[name] for word in ("--set", change)]
    assert command("train", FOLDER / f"{name}.toml", "--out", tmp_path / "run", *changes) == 0
    assert command("report", tmp_path / "run") == 0
    assert (tmp_path / "run" / "files" / "volunteer.py").read_bytes() == (FOLDER / "volunteer.py").read_bytes()
