"""Demonstrations of a file: how they are added by hand, read, and learnt from."""

import json
import os

import pytest

from stratagem.algorithms.sepo.algorithm import SEPOAlgorithm
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.taught import append, correct_decision, read_demonstrations
from stratagem.training.runs.folder import RunFolder
from stratagem.training.supervised import COPY, file_decisions, sft

KUHN = make_game("kuhn(hands=2)")


def example(action, game=KUHN, style="reasoned", thought=""):
    state = game.start(Key(1))
    return correct_decision(state.view(state.to_act[0]), action, thought, make_style(style), "episode/0")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "taught.jsonl"
    for number, thought in enumerate(("I am ahead.", "")):
        assert append(path, example("BET", thought=thought)) == number + 1
    append(path, example("COOPERATE", make_game("ipd")))
    return path


def test_file_has_the_lines_of_other_demonstrations(file):
    row = json.loads(file.read_text().splitlines()[0])
    assert set(row) == {"messages", "game", "info_key", "action", "demonstrator", "opponent", "episode"}
    assert row["messages"][-1] == {"role": "assistant", "content": "I am ahead.\nAction: BET"}
    assert (row["game"], row["action"], row["demonstrator"]) == ("kuhn(hands=2)", "BET", "human@1")
    (game, messages, reply), *_ = read_demonstrations(file)
    assert (game, reply) == ("kuhn(hands=2)", "I am ahead.\nAction: BET")
    state = KUHN.start(Key(1))
    assert messages == make_style("reasoned").messages(state.view(state.to_act[0]))


@pytest.mark.parametrize("mark", ["\u2028", "\u2029", "\x85", "\x0c"])
def test_reasoning_with_a_break_that_json_allows_is_read_as_one_line(mark, tmp_path):
    path, thought = tmp_path / "taught.jsonl", f"I am ahead.{mark}They fold."
    append(path, example("BET", thought=thought))
    assert [reply for _, _, reply in read_demonstrations(path)] == [f"{thought}\nAction: BET"]


def test_each_example_of_the_game_comes_once_before_any_is_repeated(file, tmp_path):
    run = RunFolder(tmp_path / "run")
    replies = [one.reply for one in file_decisions(str(file), make_game("kuhn"), 5, Key(3), run)]
    assert {*replies[:2]} == {*replies[2:4]} == {"Action: BET", "I am ahead.\nAction: BET"}
    assert replies == [one.reply for one in file_decisions(str(file), make_game("kuhn"), 5, Key(3), run)]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("no json", "Line 4 of .* is no demonstration"),
        ('{"game": "kuhn", "messages": []}', "is no demonstration"),
        ('{"game": "kuhn", "messages": [{"role": "user", "content": "x"}, {"role": "user", "content": "x"}]}', "is no"),
        ('{"game": "kuhn", "messages": [{"role": "root", "content": ""}, {"role": "assistant", "content": ""}]}', ""),
        ('{"game": 3, "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "x"}]}', "is no"),
    ],
)  # fmt: skip
def test_wrong_lines_are_refused_by_their_number(file, line, sentence):
    with file.open("a") as opened:
        opened.write(line + "\n")
    with pytest.raises(BadParameter, match=sentence):
        read_demonstrations(file)


def test_torn_file_takes_no_further_line(file):
    with file.open("a") as opened:
        opened.write('{"messages"')
    with pytest.raises(BadParameter, match=r"The last line of .* is torn: delete it first"):
        append(file, example("BET"))


def recipe(path, **changes):
    table = {"num_examples": 4, "epochs": 1, "batch_size": 2, "file": str(path)} | changes
    return SEPORecipe.read({"games": ["kuhn(hands=2)"], "model": "tiny", "style": "reasoned", "sft": table})


def test_run_learns_from_its_copy_of_the_file(file, tmp_path):
    asked = recipe(file)
    run = RunFolder.create(tmp_path / "run", asked, asked.seed, "a test")
    stage = sft(asked, run, SEPOAlgorithm(asked, run).games)
    assert asked.sft_steps == stage.num_steps == 2
    assert (run.path / COPY).read_text() == file.read_text()
    batches = [batch for step in range(2) for batch in stage.batches(step)]
    told = sorted(len(example.tokens) for batch in batches for example in batch.data.examples)
    assert told[0] == told[1] < told[2] == told[3]  # both examples of the game, twice, one with its reasoning
    first = list(file_decisions(str(file), KUHN, 4, Key(0), run))
    append(file, example("PASS"))
    assert list(file_decisions(str(file), KUHN, 4, Key(0), run)) == first
    file.unlink()
    SEPOAlgorithm(asked, run)  # which checks it again


def test_recipes_with_a_wrong_file_are_refused(file, tmp_path):
    for change, sentence in (
        ({"file": str(tmp_path / "none.jsonl")}, "cannot be read: No such file"),
        ({"teacher": "random"}, "`sft.teacher` and `sft.file` cannot both be imitated"),
    ):
        with pytest.raises(BadParameter, match=sentence):
            SEPOAlgorithm(recipe(file, **change), RunFolder(tmp_path / "run"))
    file.write_text(file.read_text().splitlines()[2] + "\n")
    with pytest.raises(BadParameter, match=r"has no demonstration of kuhn\(hands=2\): it has those of ipd"):
        SEPOAlgorithm(recipe(file), RunFolder(tmp_path / "run"))


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_a_correction_is_added_to_a_file_alone_and_never_through_a_link(kind, tmp_path):
    target, path = tmp_path / "elsewhere", tmp_path / "taught.jsonl"
    if kind == "link":
        target.write_bytes(b"mine\n")
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
    with pytest.raises(BadParameter, match="is a link or no file"):
        append(path, example("BET"))
    assert not target.exists() or target.read_bytes() == b"mine\n"
    assert append(tmp_path / "new.jsonl", example("BET")) == 1
    assert append(tmp_path / "new.jsonl", example("BET")) == 2
