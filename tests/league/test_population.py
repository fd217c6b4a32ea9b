"""The file of a population: whole members play, others are named and set aside, and the rest goes on."""

import json

import pytest

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.training.opponents.member import Member, Population

BASE = "abc"


def adapter(folder, name):
    path = folder / "league" / name
    path.mkdir(parents=True)
    (path / "adapter_model.safetensors").write_bytes(b"")
    return f"league/{name}"


@pytest.fixture
def population(tmp_path):
    people = Population()
    people.add(Member(name="base", role="base"))
    people.add(Member(name="NashApprox", role="bot", player="NashApprox"))
    people.add(Member(name="main", role="main", learns=True))
    people.add(Member(name="main@1", role="main", adapter=adapter(tmp_path, "one"), base=BASE, parent="main", step=1))
    people.add(Member(name="main@2", role="main", adapter=adapter(tmp_path, "two"), base=BASE, parent="main", step=2))
    people.save(tmp_path / "population.json")
    return people


def read(tmp_path):
    return Population.load(tmp_path / "population.json", tmp_path, {BASE: refuse_empty})


def refuse_empty(folder):
    if not any(folder.iterdir()):
        raise BadRecord("Its adapter is empty.")


def test_what_is_read_is_what_was_written(population, tmp_path):
    again = read(tmp_path)
    assert list(again) == list(population)
    assert not again.disabled
    assert [member.name for member in again.of("main", learns=False)] == ["main@1", "main@2"]
    assert [member.name for member in again.of(learns=True)] == ["main"]
    assert "\n  {" in (tmp_path / "population.json").read_text()


def test_a_member_whose_adapter_is_gone_is_named_and_the_others_go_on(population, tmp_path):
    (tmp_path / "league/one/adapter_model.safetensors").unlink()
    assert read(tmp_path).disabled == {"main@1": "Its adapter is empty."}
    (tmp_path / "league/one").rmdir()
    again = read(tmp_path)
    assert [member.name for member in again] == ["base", "NashApprox", "main", "main@2"]
    assert again.disabled == {"main@1": "Its adapter league/one is not there."}
    again.save(tmp_path / "population.json")
    assert read(tmp_path).disabled == again.disabled


def test_a_member_that_is_back_is_no_longer_set_aside(population, tmp_path):
    path = tmp_path / "population.json"
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "aside": {"main@1": "Its adapter is empty.", "gone": "Its adapter is empty."}}))
    again = read(tmp_path)
    assert "main@1" in again
    assert again.disabled == {"gone": "Its adapter is empty."}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"base": "xyz"}, "Its adapter is on another base."),
        (
            {"role": "king"},
            "There is no role 'king': there are base, bot, main, main_exploiter, league_exploiter.",
        ),
        ({"glory": 1}, "It is half-written"),
        ({"adapter": 5}, "It is half-written: adapter is 5."),
        ({"adapter": ""}, "It is half-written: a checkpoint needs `adapter`."),
        ({"role": "bot"}, "It is half-written: a bot needs `player`."),
        ({"step": "1"}, "It is half-written: step is '1'."),
        ({"step": -4}, "`step` and `version` are 0 or more, not -4 and 0."),
    ],
)
def test_a_row_that_is_wrong_is_set_aside(population, tmp_path, change, why):
    path = tmp_path / "population.json"
    data = json.loads(path.read_text())
    data["members"][3] |= change
    path.write_text(json.dumps(data))
    again = read(tmp_path)
    assert len(again) == 4
    assert again.disabled["main@1"].startswith(why)


def test_rows_that_are_no_members_at_all(population, tmp_path):
    path = tmp_path / "population.json"
    data = json.loads(path.read_text())
    data["members"] += [7, {}, data["members"][0], {"name": ["x"], "role": "base"}, {"name": "", "role": "base"}]
    path.write_text(json.dumps(data))
    again = read(tmp_path)
    assert len(again) == 4
    assert set(again.disabled) == {"number 5", "number 6", "base", "['x']", "number 9"}


@pytest.mark.parametrize("text", ["", "[]", '{"members": 3, "aside": {}}', "{"])
def test_a_file_that_is_no_population_is_refused(tmp_path, text):
    (tmp_path / "population.json").write_text(text)
    with pytest.raises(BadRecord, match="cannot be read"):
        read(tmp_path)


def test_two_of_one_name_are_refused(population):
    with pytest.raises(StratagemError, match="two members called base"):
        population.add(Member(name="base", role="base"))


def test_a_checkpoint_keeps_the_role_and_knows_its_parent():
    learner = Member(name="main", role="main", learns=True, base=BASE)
    kept = learner.checkpoint("main@7", 7, "league/main@7")
    assert kept == Member(name="main@7", role="main", adapter="league/main@7", base=BASE, parent="main", step=7)
