"""Five planted defects are found by the checks of a record, and nothing is found without them."""

import json
import math
import re
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import pytest
from planted import DEFECTS, GROUP, LEAK, STEPS, changed, healthy, own_rows, write_planted
from starlette.testclient import TestClient

from stratagem.base.manifest import FILE
from stratagem.language.engines.base import PolicyId, Prompt, Span
from stratagem.playing.forks import steps
from stratagem.show.viewer.app import Viewer
from stratagem.show.viewer.checks.adapters import adapters
from stratagem.show.viewer.checks.base import Source
from stratagem.show.viewer.studio import Studio


def checks(folder):
    client = TestClient(Viewer(Studio(folder)).application(), base_url="http://localhost")
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


@pytest.mark.parametrize(("wrong", "state"), [((1, 2, 3), "fault"), ((1,), "passed")], ids=["most", "few"])
def test_sign_is_wrong_from_a_small_correlation_on(tmp_path, wrong, state):
    """With three of four signs wrong the correlation is about -0.5."""

    def flipped(number, episodes):
        for place, row in enumerate(own_rows(episodes)):
            row.advantage *= -1.0 if place % 4 in wrong else 1.0

    write_planted(tmp_path, flipped)
    assert checks(tmp_path)["advantage"]["state"] == state


def test_most_steps_are_wrong_though_the_whole_is_not(tmp_path):
    """The places are decisions of the wrong steps."""

    def flipped(number, episodes):
        for row in own_rows(episodes):
            row.advantage *= -1.0 if number else 50.0

    write_planted(tmp_path, flipped)
    found = checks(tmp_path)["advantage"]
    assert found["state"] == "fault"
    assert {place["step"] for place in found["places"]} <= {1, 2, 3}


@pytest.mark.parametrize("by", ["group", "seat"])
def test_returns_are_compared_within_a_group_and_a_seat(tmp_path, by):
    """A deal or a seat may be worse than another, though its advantages are larger."""

    def tilted(number, episodes):
        for place, episode in enumerate(episodes):
            high = 40.0 * (place // GROUP % 2 if by == "group" else episode.seat_of(0))
            episode.group = f"step-{number}/{place // GROUP if by == 'group' else place % GROUP}"
            episode.payoffs = [payoff + high for payoff in episode.payoffs]
            for row in own_rows([episode]):
                row.advantage -= high

    write_planted(tmp_path, tilted)
    assert checks(tmp_path)["advantage"]["state"] == "passed"


def test_first_places_are_the_decisions_most_at_odds(tmp_path):
    write_planted(tmp_path, DEFECTS["advantage"])
    found = [re.findall(r"[+-]\d+\.\d+", place["sentence"]) for place in checks(tmp_path)["advantage"]["places"]]
    odds = [float(better) * float(advantage) for better, advantage in found]
    assert odds[0] == min(odds) < max(odds)


def test_one_wrong_step_is_chance(tmp_path):
    def flipped(number, episodes):
        for row in own_rows(episodes):
            row.advantage *= -1.0 if number == 1 else 1.0

    write_planted(tmp_path, flipped)
    assert checks(tmp_path)["advantage"]["state"] == "passed"


@pytest.mark.parametrize(("change", "state"), [(1e-4, "passed"), (1e-9, "fault")])
def test_an_adapter_that_changes_little_is_alive(tmp_path, change, state):
    def little(number, episodes):
        for row in own_rows(episodes):
            changed(row, sampler_logprobs=(math.log(0.5) - change * number,))

    write_planted(tmp_path, little)
    assert checks(tmp_path)["adapter"]["state"] == state


@pytest.mark.parametrize(("num_met", "state"), [(2, "not checked"), (3, "fault")])
def test_three_replies_met_again_are_enough(tmp_path, num_met, state):
    def rarely(number, episodes):
        for place, row in enumerate(own_rows(episodes)):
            version = number if place < num_met and number < 2 else 0
            prompt = Prompt((("user", f"{place if version or number == 0 else (number, place)}"),))
            changed(row, prompt=prompt, tokens=(1,), sampler_logprobs=(-0.7,))
            changed(row, policy=PolicyId("parrot", "policy", version))

    write_planted(tmp_path, rarely)
    assert checks(tmp_path)["adapter"]["state"] == state


@pytest.mark.parametrize(("digests", "state"), [("abb", "not checked"), ("aba", "fault")])
def test_weights_of_the_first_and_the_last_checkpoint_are_compared(tmp_path, digests, state):
    for number, digest in enumerate(digests):
        folder = tmp_path / f"step-{number}"
        folder.mkdir()
        (folder / FILE).write_text(json.dumps({"files": {"adapter.safetensors": digest}}))
    run = SimpleNamespace(checkpoints=tmp_path)
    assert adapters(Source(tmp_path, [], run)).state == state


def test_sets_of_equal_size_are_compared(tmp_path):
    def exchanged(number, episodes):
        row = own_rows(episodes)[4]
        legal = row.calls[0].allowed[0]
        if number == 3:
            changed(row, allowed=((row.calls[0].tokens[0], 9),))
            assert len(legal) == 2

    write_planted(tmp_path, exchanged)
    found = checks(tmp_path)["mask"]
    assert found["state"] == "fault"
    assert "2 tokens were allowed at first, and 2 after the same prompt before" in found["places"][0]["sentence"]


def test_forced_tokens_are_in_no_set(tmp_path):
    def forced(number, episodes):
        row = own_rows(episodes)[4]
        changed(row, tokens=(*row.calls[0].tokens, 9), spans=(Span("sampled", 0, 1), Span("forced", 1, 2)))
        changed(row, sampler_logprobs=(-0.7, 0.0), allowed=(row.calls[0].allowed[0], (1, 2)))

    write_planted(tmp_path, forced)
    assert checks(tmp_path)["mask"]["state"] == "passed"


def test_prompt_of_which_the_engine_read_a_part_is_cut(tmp_path):
    def unread(number, episodes):
        for place, row in enumerate(own_rows(episodes)):
            prompt = Prompt(row.calls[0].prompt.messages, tuple(range(40)))
            changed(row, prompt=prompt, num_prompt=39 if (number, place) == (1, 3) else 40)

    write_planted(tmp_path, unread)
    found = checks(tmp_path)["prompt"]
    assert [place["sentence"] for place in found["places"]] == ["The engine read 39 of 40 prompt tokens."]


def told_cards(num_sets, *, blurred=False):
    """Plant prompts that tell the hidden card in so many information sets, each with two decisions by card.

    With `blurred` one more set has two prompts that go with both cards.
    """
    left = [*[True] * num_sets, *[False] * blurred]

    def plant(number, episodes):
        met = defaultdict(lambda: defaultdict(list))
        for episode in episodes:
            for state, rows in steps(episode):
                for row in (row for row in rows if row.slot == 0):
                    met[row.seat, row.info_key][state.cards[1 - row.seat]].append(row)
        for by_card in met.values():
            if left and len(by_card) == 2 and min(map(len, by_card.values())) >= 2:
                tells = left.pop(0)
                for card, own in by_card.items():
                    for place, row in enumerate(own):
                        system, (role, said) = row.calls[0].prompt.messages
                        told = card if tells else place
                        changed(row, prompt=Prompt((system, (role, f"{LEAK} {told}.\n{said}"))))
                        row.calls = row.calls if place < 2 else ()
        assert number < STEPS - 1 or not left

    return plant


@pytest.mark.parametrize("num_sets", [1, 4])
def test_few_prompts_that_go_with_what_is_hidden_are_chance(tmp_path, num_sets):
    """Dealt at random, two and two of them tell the cards apart in a third of all cases; in four sets, in 1 of 81."""
    write_planted(tmp_path, told_cards(num_sets))
    found = checks(tmp_path)["hidden"]
    assert (found["state"], found["sentence"][:31]) == ("passed", f"{num_sets} information sets had several ")


@pytest.mark.parametrize(("blurred", "state"), [(False, "fault"), (True, "passed")])
def test_sets_count_together_only_where_all_of_them_tell(tmp_path, blurred, state):
    write_planted(tmp_path, told_cards(7, blurred=blurred))
    assert checks(tmp_path)["hidden"]["state"] == state


def test_prompts_of_two_players_are_not_compared(tmp_path):
    def two_models(number, episodes):
        for episode in episodes[::2]:
            episode.players = tuple("other@1" if name == "model@1" else name for name in episode.players)
            for row in own_rows([episode]):
                system, (role, said) = row.calls[0].prompt.messages
                changed(row, prompt=Prompt((system, (role, f"You are bold.\n{said}"))))

    write_planted(tmp_path, two_models)
    assert checks(tmp_path)["hidden"]["sentence"] == "Seats with equal information read equal prompts."


def test_prompts_of_further_attempts_are_not_compared(tmp_path):
    def reminded(number, episodes):
        for episode in episodes[::2]:
            for row in own_rows([episode]):
                system, (role, said) = row.calls[0].prompt.messages
                again = replace(row.calls[0], prompt=Prompt((system, (role, f"That was no action.\n{said}"))))
                place = episode.decisions.index(row)
                episode.decisions.insert(place + 1, replace(row, attempt=1, calls=(again,)))

    write_planted(tmp_path, reminded)
    assert checks(tmp_path)["hidden"]["sentence"] == "Seats with equal information read equal prompts."


def test_places_name_the_decision(tmp_path):
    write_planted(tmp_path, DEFECTS["hidden"])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    place = checks(tmp_path)["hidden"]["places"][0]
    episode = client.get("/api/episode", params={"record": ".", "id": place["episode"]}).json()
    turn = episode["turns"][place["place"] - 1]
    asked = {"record": ".", "id": place["episode"], "turn": turn["turn"], "seat": place["seat"], "attempt": 0}
    (call,) = client.get("/api/words", params=asked).json()["calls"]
    assert place["step"] == 1
    assert call["messages"][1]["content"].startswith(LEAK)
    assert not call["shared"][1][0], "the leak is no line that most prompts share"
    assert call["shared"][1][-1]
