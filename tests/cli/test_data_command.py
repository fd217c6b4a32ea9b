"""`stratagem data sepo`: what it writes, that it writes the same again, and one sentence for each mistake."""

import hashlib
import json
from collections import Counter
from statistics import median

import pytest

from stratagem.cli.main import main
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.demonstrations import files as demonstration_files
from stratagem.learn.demonstrations.files import DemonstrationPlan
from stratagem.learn.demonstrations.scripted import demonstrations

SMALL = ("data", "sepo", "--scale", 0.01)
SETS = ("multi", "negotiation-v2", "kuhn")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demonstrations") / "sets"
    with pytest.raises(SystemExit) as ended:
        main([*map(str, SMALL), "--out", str(folder)])
    assert not ended.value.code
    return folder


def rows(path):
    """The examples of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_published_sets_are_written_with_a_manifest(written):
    files = {f"{name}/{part}.jsonl" for name in SETS for part in ("train", "validation")}
    assert set(contents(written)) == files | {"manifest.json"}
    manifest = json.loads((written / "manifest.json").read_text())
    assert {key: manifest[key] for key in ("seed", "style", "scale")} == {
        "seed": 42,
        "style": "reasoned",
        "scale": 0.01,
    }
    sizes = {name: [facts["examples"] for facts in made["files"].values()] for name, made in manifest["sets"].items()}
    assert sizes == {"multi": [256, 64], "negotiation-v2": [32, 8], "kuhn": [64, 16]}
    for made in manifest["sets"].values():
        for name, facts in made["files"].items():
            content = (written / name).read_bytes()
            assert facts["sha256"] == hashlib.sha256(content).hexdigest()
            assert facts["bytes"] == len(content)
            assert facts["examples"] == len(rows(written / name))


def test_the_manifest_says_whose_play_it_is(written):
    made = json.loads((written / "manifest.json").read_text())["sets"]["multi"]
    taught, held = (rows(written / "multi" / f"{part}.jsonl") for part in ("train", "validation"))
    assert list(made["games"]) == ["ipd", "auction", "negotiation-v1"]
    for game, facts in made["games"].items():
        own = [row for row in (*taught, *held) if row["game"] == game]
        assert (facts["train"], facts["validation"]) == tuple(
            sum(row["game"] == game for row in p) for p in (taught, held)
        )
        counted = {name: of["examples"] for name, of in facts["demonstrators"].items() if of["examples"]}
        assert counted == Counter(row["demonstrator"] for row in own)
        assert set(facts["opponents"]) == {row["opponent"] for row in own}
        decided = {(row["episode"], row["messages"][1]["content"]) for row in own}
        assert facts["decisions"] == len(decided) == facts["examples"] - facts["repeated"]
        lengths = [len(row["messages"][-1]["content"]) for row in own]
        assert facts["reply_characters"] == {"median": median(lengths), "longest": max(lengths)}
        assert sum(of["weight"] for of in facts["demonstrators"].values()) == pytest.approx(1)
    assert made["games"]["negotiation-v1"]["repeated"] > 0 == made["games"]["ipd"]["repeated"]


def test_lines_are_chats_and_no_episode_stands_in_both_files(written):
    for name in SETS:
        taught, held = (rows(written / name / f"{part}.jsonl") for part in ("train", "validation"))
        assert not {row["episode"] for row in taught} & {row["episode"] for row in held}
        for row in (*taught, *held):
            assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant"]
            assert list(row) == ["messages", "game", "info_key", "action", "demonstrator", "opponent", "episode"]
            assert row["messages"][-1]["content"].endswith(f"\nAction: {row['action']}")


def test_the_games_of_a_set_are_mixed(written):
    games = [row["game"] for row in rows(written / "multi" / "train.jsonl")]
    assert set(games[:20]) == {"ipd", "auction", "negotiation-v1"}


def test_the_same_seed_writes_the_same_bytes(written, run, tmp_path):
    run(*SMALL, "--out", tmp_path / "again")
    run(*SMALL, "--out", tmp_path / "other", "--seed", 43)
    assert contents(tmp_path / "again") == contents(written)
    other = contents(tmp_path / "other")
    assert not [name for name, content in contents(written).items() if other[name] == content]


def test_the_lines_are_those_that_python_gives(written):
    made = demonstrations(make_game("kuhn"), 80, Key(42), episodes=2)
    assert [example.row() for example in made if not example.held_out] == rows(written / "kuhn" / "train.jsonl")


def test_one_set_in_another_style(run, tmp_path):
    status, printed, _ = run(*SMALL, "--set", "ipd", "--set", "kuhn", "--style", "plain", "--out", tmp_path / "x")
    assert status == 0
    assert sorted(contents(tmp_path / "x"))[:3] == ["ipd/train.jsonl", "ipd/validation.jsonl", "kuhn/train.jsonl"]
    assert all(row["messages"][-1]["content"] == row["action"] for row in rows(tmp_path / "x" / "kuhn" / "train.jsonl"))
    assert [line.split()[:4] for line in printed.splitlines()[2:4]] == [
        ["ipd", "ipd", "64", "16"],
        ["kuhn", "kuhn", "64", "16"],
    ]
    manifest = json.loads(run(*SMALL, "--set", "kuhn", "--out", tmp_path / "y", "--json")[1])
    assert manifest == json.loads((tmp_path / "y" / "manifest.json").read_text())


def test_datasets_loads_a_set(written, tmp_path):
    datasets = pytest.importorskip("datasets")
    loaded = datasets.load_dataset("json", data_dir=str(written / "multi"), cache_dir=str(tmp_path))
    assert {name: part.num_rows for name, part in loaded.items()} == {"train": 256, "validation": 64}
    assert loaded["train"][0] == rows(written / "multi" / "train.jsonl")[0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("data", "spag"), "There is no algorithm with data sets called 'spag': did you mean sepo?"),
        (("data", "sepo", "--set", "khun"), "There is no demonstration set called 'khun': did you mean kuhn?"),
        (("data", "sepo", "--set", "kuhn", "--set", "kuhn"), "named once, not kuhn, kuhn."),
        (("data", "sepo", "--style", "reasonde"), "no prompt style called 'reasonde': did you mean reasoned"),
        (("data", "sepo", "--style", "shapellm-state"), "for repeated matrix games, not auction."),
        (("data", "sepo", "--scale", "0"), "needs --scale above 0."),
        (("data", "sepo", "--scale", "-1"), "needs --scale of at least 0"),
        (("data", "sepo", "--scale", "nan"), "needs --scale of at least 0"),
    ],
    ids=str,
)
def test_mistakes_are_told_in_one_sentence_and_write_nothing(run, tmp_path, arguments, said):
    status, printed, told = run(*arguments, "--out", tmp_path / "new")
    assert status == 2
    assert said in told
    assert told.count(". ") == 0
    assert printed == ""
    assert not (tmp_path / "new").exists()


def test_a_folder_with_files_is_refused(run, written, tmp_path):
    before = contents(written)
    status, _, told = run(*SMALL, "--out", written, "--seed", 7)
    assert (status, told) == (2, f"{written} already holds files: choose another folder.")
    assert contents(written) == before
    (tmp_path / "file").write_text("mine")
    status, _, told = run(*SMALL, "--out", tmp_path / "file")
    assert (status, told) == (2, f"{tmp_path / 'file'} cannot be used as a folder: Not a directory.")
    assert run(*SMALL, "--set", "kuhn", "--out", tmp_path / "file" / "below")[0] == 2
    (tmp_path / "empty").mkdir()
    assert run(*SMALL, "--set", "kuhn", "--out", tmp_path / "empty")[0] == 0


def test_what_was_broken_off_has_no_name_of_its_own(run, tmp_path, monkeypatch):
    def breaking(self, row):
        raise KeyboardInterrupt

    monkeypatch.setattr(demonstration_files.JSONLinesWriter, "write", breaking)
    with pytest.raises(KeyboardInterrupt):
        demonstration_files.write_sets(DemonstrationPlan(scale=0.01), tmp_path / "sets")
    assert sorted(contents(tmp_path / "sets")) == ["multi/train.jsonl.partial", "multi/validation.jsonl.partial"]


def test_sets_that_were_broken_off_are_told_from_files_of_others(run, tmp_path):
    (tmp_path / "multi").mkdir()
    (partial := tmp_path / "multi" / "train.jsonl.partial").write_text("")
    told = f"{tmp_path} already holds files: remove the sets that were broken off there, or choose another folder."
    assert run(*SMALL, "--out", tmp_path) == (2, "", told)
    assert partial.exists()
