"""Five planted defects are found by the checks of a record, and nothing is found without them."""

import pytest
from planted import DEFECTS, LEAK, changed, healthy, own_rows, write_planted
from starlette.testclient import TestClient

from stratagem.engines.base import Prompt
from stratagem.viewer.app import Viewer


def checks(folder):
    client = TestClient(Viewer(folder).application(), base_url="http://localhost")
    data = client.get("/api/checks", params={"record": "."}).json()
    return {check["name"]: check for check in data["checks"]}


def test_a_healthy_record_passes_every_check(tmp_path):
    write_planted(tmp_path, healthy)
    assert {name: check["state"] for name, check in checks(tmp_path).items()} == dict.fromkeys(
        [*DEFECTS, "length"], "passed"
    )


@pytest.mark.parametrize("name", DEFECTS)
def test_a_planted_defect_fails_its_check_alone(tmp_path, name):
    write_planted(tmp_path, DEFECTS[name])
    found = checks(tmp_path)
    assert [check["name"] for check in found.values() if check["state"] == "fault"] == [name]
    assert found[name]["places"]
    assert all(place["sentence"] and place["place"] >= 1 for place in found[name]["places"])


def test_prompts_that_vary_for_another_reason_are_no_leak(tmp_path):
    def remembers(number, episodes):
        for place, row in enumerate(own_rows(episodes)):
            system, (role, said) = row.calls[0].prompt.messages
            changed(row, prompt=Prompt((system, (role, f"Won so far: {place * 7 % 3}.\n{said}"))))

    write_planted(tmp_path, remembers)
    found = checks(tmp_path)["hidden"]
    assert found["state"] == "passed"
    assert "had several prompts" in found["sentence"]


def test_places_name_the_decision(tmp_path):
    write_planted(tmp_path, DEFECTS["hidden"])
    client = TestClient(Viewer(tmp_path).application(), base_url="http://localhost")
    place = checks(tmp_path)["hidden"]["places"][0]
    episode = client.get("/api/episode", params={"record": ".", "id": place["episode"]}).json()
    turn = episode["turns"][place["place"] - 1]
    asked = {"record": ".", "id": place["episode"], "turn": turn["turn"], "seat": place["seat"], "attempt": 0}
    (call,) = client.get("/api/words", params=asked).json()["calls"]
    assert place["step"] == 1
    assert call["messages"][1]["content"].startswith(LEAK)
    assert not call["shared"][1][0], "the leak is no line that most prompts share"
    assert call["shared"][1][-1]
