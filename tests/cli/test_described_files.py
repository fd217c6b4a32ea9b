"""Games as data in files of a user: named everywhere a game is, read with consent, copied by runs, seen to change."""

import json
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import recipe_of
from stratagem.base import file_modules
from stratagem.base.consent.table import allow, commanding, consent, note_named
from stratagem.base.errors import BadParameter
from stratagem.base.file_modules import file_digests
from stratagem.base.named_files import content_of, descriptions_in
from stratagem.games.bounded import check_bounds, make_bounded_game
from stratagem.games.catalogue import describe, make_game
from stratagem.games.drawn.rules import WrittenGame
from stratagem.games.safety.catalogue import safety_of, weights_of
from stratagem.players.pools import pools
from stratagem.training.runs.folder import RunFolder

KUHN = (Path(__file__).parents[2] / "examples" / "games" / "kuhn.toml").read_text()
RECIPE = """
algorithm = "grpo"
model = "tiny"
games = ["mygame.toml"]
opponents = ["random"]
validation_episodes = 1
test_episodes = 1

[grpo]
iterations = 1
groups_per_batch = 1
group_size = 2
"""

SEPO = """
algorithm = "sepo"
model = "tiny"
games = ["mygame.toml"]
validation_episodes = 1
test_episodes = 1

[sft]
num_examples = 20
epochs = 1

[sepo]
iterations = 1
groups_per_batch = 1
group_size = 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "mygame.toml").write_text(KUHN)
    (tmp_path / "deep").mkdir()
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(file_modules, "MODULES", {})
    monkeypatch.chdir(tmp_path)
    with commanding():
        yield tmp_path


def test_a_game_of_a_file_is_played_and_verified(run):
    code, out, _ = run("play", "mygame.toml", "--players", "random", "first-legal")
    assert code == 0
    assert "mygame.toml, mygame.toml/0" in out
    code, out, _ = run("verify-game", "./mygame.toml", "--episodes", "2")
    assert code == 0
    assert "failed" not in out


@pytest.mark.runs
def test_a_game_of_a_file_is_evaluated_and_its_record_is_read_again(run, folder):
    command = (
        "eval",
        "mygame.toml",
        "--player",
        "first-legal",
        "--opponents",
        "random",
        "--episodes",
        "4",
        "--no-chance",
    )
    code, _, _ = run(*command, "--record", "rec")
    assert code == 0
    assert "mygame.toml" in json.loads((folder / "rec" / "evaluation.json").read_text())["files"]
    code, _, error = run(*command, "--record", "rec", "--resume")
    assert code == 0, error
    (folder / "mygame.toml").write_text(KUHN.replace('do = "ante"', 'do = "ante"\namount = 2'))
    code, _, error = run(*command, "--record", "rec", "--resume")
    assert code == 2
    assert "mygame.toml has changed since the evaluation in rec was begun" in " ".join(error.split())


def test_describe_and_make_game_round_trip_from_another_folder(folder, monkeypatch):
    (folder / "deep" / "fine.toml").write_text(KUHN)
    allow("deep/fine.toml")
    game = make_game("deep/fine.toml(wording=1)")
    monkeypatch.chdir("/")
    assert describe(game) == "fine.toml(wording=1)"
    assert make_game(describe(game)) == game
    assert game.spec.name == "fine.toml"


def test_a_description_without_a_file_is_named_by_its_text():
    allow("mygame.toml")
    game = WrittenGame(text=KUHN)
    assert make_game(describe(game)) == game != make_game("mygame.toml")
    assert describe(make_game("described")) == "described"
    with pytest.raises(BadParameter, match="too long for the name of a game: write it into a file"):
        WrittenGame(text=KUHN + "#" * 2000)


def test_a_mistake_in_a_file_names_it_with_its_line(run, folder):
    (folder / "mygame.toml").write_text(KUHN.replace('do = "ante"', 'do = "anti"'))
    code, _, error = run("play", "mygame.toml")
    assert code == 2
    assert "mygame.toml, line 10, has the unknown step 'anti'" in " ".join(error.split())
    (folder / "mygame.toml").write_bytes(b"\xff\xfe")
    code, _, error = run("play", "mygame.toml")
    assert "The file mygame.toml cannot be read as text" in " ".join(error.split())
    code, _, error = run("play", "nothing.toml")
    assert f"There is no file 'nothing.toml': tried {folder}/nothing.toml." in "".join(error.split("\n")).replace(
        "  ", " "
    )


def test_a_stranger_cannot_name_a_file_outside_its_folder(folder):
    place = folder / "deep" / "recipe.toml"
    place.write_text("")
    (folder / "deep" / "own.toml").write_text(KUHN)
    note_named(place, ["own.toml", f"talk({folder}/mygame.toml)"])
    assert [need.phrase for need in consent().needs] == [f"read {folder}/mygame.toml"]
    assert make_bounded_game("own.toml").spec.name == "own.toml"
    with pytest.raises(BadParameter, match=r"The file .*mygame.toml would be read, which neither you nor a file"):
        make_bounded_game(f"{folder}/mygame.toml")
    allow("mygame.toml")
    check_bounds("mygame.toml(wording=1)")
    assert make_bounded_game(f"{folder}/mygame.toml") == make_game("mygame.toml")


def test_names_of_descriptions_are_found_in_names_of_games_and_players():
    texts = ["mygame.toml(wording=1)", "rules:deep/a.toml", "talk(b.toml, order='in turn')", "kuhn", "x.tomls"]
    assert [*descriptions_in(texts)] == ["mygame.toml", "deep/a.toml", "b.toml"]


def test_digests_follow_the_content_of_a_file(folder):
    before = file_digests(["mygame.toml"]), content_of(["rules:mygame.toml"])
    assert before[0].keys() == {"mygame.toml"}
    (folder / "mygame.toml").write_text(KUHN.replace("J", "X"))
    assert file_digests(["mygame.toml"]) != before[0]
    assert content_of(["rules:mygame.toml"]) != before[1]


@pytest.mark.runs
def test_a_run_trains_on_a_game_of_a_file_beside_its_recipe_and_keeps_a_copy(run, folder):
    (folder / "deep" / "recipe.toml").write_text(RECIPE)
    (folder / "mygame.toml").rename(folder / "deep" / "mygame.toml")
    code, _, error = run("train", "deep/recipe.toml", "--out", "runs/a")
    assert code == 0, error
    made = RunFolder.open(folder / "runs" / "a")
    (copied,) = made.info().files
    assert copied.name == "mygame.toml"
    assert (folder / "runs" / "a" / "files" / "mygame.toml").read_text() == KUHN
    (folder / "deep" / "mygame.toml").unlink()
    with commanding():
        assert recipe_of(made).games[0] == "mygame.toml"
        assert make_bounded_game("mygame.toml").text == KUHN


def test_a_recipe_of_a_stranger_may_read_a_game_beside_it_and_no_other(run, folder):
    (folder / "deep" / "recipe.toml").write_text(RECIPE.replace("mygame", "../mygame"))
    code, _, error = run("train", "deep/recipe.toml", "--dry-run")
    assert code == 2
    assert f"would read {folder}/mygame.toml, which you have not named" in " ".join(error.split())


@pytest.mark.runs
def test_sepo_trains_on_a_described_game_with_default_pools_and_no_signals(run, folder):
    game = make_game("described")
    assert safety_of(game) is None
    assert weights_of(game) == (1.0, 0.0, 0.0)
    assert pools(game)["exploit"].players == ("ismcts:100",)
    (folder / "sepo.toml").write_text(SEPO)
    code, _, error = run("train", "sepo.toml", "--out", "runs/sepo")
    assert code == 0, error
    assert RunFolder.open(folder / "runs" / "sepo").info().files[0].name == "mygame.toml"
