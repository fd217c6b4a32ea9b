"""The digest of the sources that vLLM was tested with changes with their contents and names, and with nothing else."""

import json

import pytest

from tested_with_vllm import PLAYER, ROOT, SOURCES, TESTS, digest, imported, is_current, reached


@pytest.fixture
def folders(tmp_path):
    some = [tmp_path / "one", tmp_path / "two"]
    for folder in some:
        folder.mkdir()
        (folder / "a.py").write_text("a = 1\n")
    (some[0] / "inside").mkdir()
    (some[0] / "inside" / "b.py").write_text("b = 1\n")
    return some


def test_digest_follows_contents_and_names(folders):
    first = digest(folders)
    path = folders[0] / "inside" / "b.py"
    path.write_text("b = 2\n")
    second = digest(folders)
    path.rename(path.with_name("c.py"))
    third = digest(folders)
    assert len({first, second, third}) == 3
    path.with_name("c.py").rename(path)
    path.write_text("b = 1\n")
    (folders[1] / "a.pyc").write_bytes(b"other")
    assert digest(folders) == first


def test_note_is_current_for_the_sources_that_it_names(folders, tmp_path):
    note = tmp_path / "vllm.json"
    assert not is_current(note, folders)
    note.write_text("{")
    assert not is_current(note, folders)
    note.write_text(json.dumps({"digest": digest(folders)}))
    assert is_current(note, folders)
    (folders[0] / "a.py").write_text("a = 2\n")
    assert not is_current(note, folders)


def test_sources_are_what_a_language_model_plays_through():
    names = {path.name for path in imported(PLAYER)}
    assert {"language.py", "model_player.py", "modes.py", "scoring.py", "speaker.py"} <= names
    assert not {"kuhn.py", "tree_search.py", "catalogue.py", "talkers.py"} & names
    assert set(imported(PLAYER)) < set(SOURCES)


def test_sources_are_what_the_tests_reach_of_learning_and_workers():
    names = {path.relative_to(ROOT / "src" / "stratagem").as_posix() for path in reached(ROOT / name for name in TESTS)}
    assert {"playing/workers/copies.py", "learn/example.py", "learn/learner.py", "learn/policy.py"} <= names
    assert "playing/workers/ray_cluster.py" not in names
    assert all(name.startswith(("playing/workers/", "learn/")) for name in names)


def test_imports_are_followed_within_a_folder(tmp_path):
    folder = tmp_path / "players"
    folder.mkdir()
    (folder / "a.py").write_text("from x.players.b import B\nimport json\n")
    (folder / "b.py").write_text("def f():\n    import x.players.c\n")
    (folder / "c.py").write_text("from x.players.a import A\nfrom x.games.d import D\n")
    (folder / "d.py").write_text("")
    assert [path.name for path in imported(folder / "a.py")] == ["a.py", "b.py", "c.py"]


def test_every_file_of_tests_is_there():
    assert [path for path in TESTS if not (ROOT / path).is_file()] == []
