"""Questions of what would have been: branches with a change, their record, their price, and refused questions."""

import json
import os
from dataclasses import replace

import pytest
from page_client import ADDRESS, Pages, Wire
from shown_folder import Parrot, episodes_of, write_run

from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadParameter
from stratagem.games.key import Key
from stratagem.language.engines.base import Call, PolicyId, Prompt
from stratagem.language.engines.remote.tally import Prices
from stratagem.language.models.run_models import RunModel, RunModels, write_run_models
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Move, Traits
from stratagem.players.speaker import with_system
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer import whatif
from stratagem.show.viewer.actions import check_question
from stratagem.show.viewer.asked import AskedWhatIf
from stratagem.show.viewer.jobs import JobPrice, Progress, limits_of
from stratagem.show.viewer.links import Link
from stratagem.show.viewer.outcomes import histogram, outcomes
from stratagem.show.viewer.positions import IN_TRAINING, read_position, stand_ins_of, style_of
from stratagem.show.viewer.pricing import price_of
from stratagem.show.viewer.studio import Visit
from stratagem.show.viewer.whatif import WhatIf, ask_what_if, partial_of
from stratagem.training.runs.folder import RunFolder


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whatif")
    episodes = episodes_of("ipd(rounds=4)", ["TitForTat", "TitForTat"], name="tft")
    episodes += episodes_of("kuhn", ["TightPassive", "NashApprox"], name="hands")
    episodes += episodes_of("kuhn", [Parrot(), "NashApprox"], name="parrot")
    write_shard(folder / "games", 0, episodes)
    return folder


@pytest.fixture(scope="module")
def pages(root):
    opened = Pages(root)
    yield opened
    opened.studio.close()


def question(root, episode, turn, name, **changes):
    return WhatIf(folder=root / "games", record="games", episode=episode, turn=turn, to=root / "whatif" / name,
                  name=f"whatif/{name}", **changes)  # fmt: skip


def asked(root, *args, **changes):
    wire = Wire()
    return ask_what_if(question(root, *args, **changes), wire), wire


def test_certain_games_have_exact_outcomes(root):
    # TFT against TFT for four rounds pays 3 each; after one defection they alternate 5 and 0
    result, wire = asked(root, "tft/0.0", 0, "certain", actions={0: "DEFECT"}, count=50)
    assert result["certain"]
    assert result["n"] == 1
    assert [row["original"]["mean"] for row in result["seats"]] == [12.0, 12.0]
    assert [row["changed"]["mean"] for row in result["seats"]] == [10.0, 10.0]
    assert all(row["difference"]["mean"] == -2.0 and row["difference"]["exact"] for row in result["seats"])
    assert wire.sent == [Progress(1, 2), Progress(2, 2)]


@pytest.mark.parametrize("style", ["plain", "plain(version=2)", "reasoned(version=2)", "bare"])
@pytest.mark.parametrize("system", ["", "You are careful."])
def test_style_of_a_recorded_prompt_is_found_with_its_version(root, style, system):
    turn = read_position(root / "games", "hands/0.0", 0)
    seat, decision = next(iter(turn.decisions.items()))
    messages = tuple(map(tuple, make_style(style).messages(turn.view(seat))))
    prompt = Prompt(with_system(system, messages) if system else messages)
    call = Call(policy=PolicyId("m"), prompt=prompt, text="BET")
    assert style_of(turn.view(seat), replace(decision, calls=(call,))) == style


def test_original_branches_repeat_the_record(root):
    asked(root, "hands/0.0", 3, "repeat", players={0: "AlwaysBet"}, count=4)
    parent, *branches = read_episodes(root / "whatif" / "repeat")
    assert parent.id == "hands/0.0"
    later = [(row.turn, row.seat) for row in parent.decisions if row.turn >= 3]
    for branch in branches:
        assert (branch.parent, branch.forked_at) == ("hands/0.0", 3)
        assert (branch.decisions[0].turn, branch.decisions[0].seat) == later[0]
    original = [branch for branch in branches if branch.id.startswith("original/")]
    assert len(original) == 4
    first = next(row for row in parent.decisions if row.turn == 3)
    assert {branch.decisions[0].action for branch in original} == {first.action}


def test_arms_are_paired_by_common_keys(root):
    # the same player under another name: returns vary over the dice, and no difference is left
    result, _ = asked(root, "hands/0.0", 2, "paired", players={1: "noise(NashApprox, p=0.0)"}, count=30, fresh=True)
    for row in result["seats"]:
        assert row["original"]["se"] > 0.0
        assert row["difference"]["mean"] == 0.0
        assert (row["difference"]["low"], row["difference"]["high"]) == (0.0, 0.0)
        assert sum(row["counts"][0]) == sum(row["counts"][1]) == result["n"] == 30


def test_other_dice_alone_are_compared_with_those_of_the_record(root):
    result, _ = asked(root, "hands/0.0", 0, "dice", fresh=True, count=10, seed=5)
    parent, *branches = read_episodes(root / "whatif" / "dice")
    chance = {branch.id.partition("/")[0]: set() for branch in branches}
    for branch in branches:
        chance[branch.id.partition("/")[0]].add(branch.chance)
    assert chance["original"] == {parent.chance}
    assert len(chance["changed"]) == 10
    assert result["question"]["fresh"]


def test_simultaneous_seats_play_what_was_recorded(root):
    asked(root, "tft/0.0", 1, "together", actions={1: "DEFECT"})
    _, original, changed = read_episodes(root / "whatif" / "together")
    assert [row.action for row in original.decisions[:2]] == ["COOPERATE", "COOPERATE"]
    assert [row.action for row in changed.decisions[:2]] == ["COOPERATE", "DEFECT"]


def test_player_that_cannot_be_made_needs_a_stand_in(root):
    with pytest.raises(BadParameter, match=r"Seat 0 was played by 'parrot .*: choose a player for this seat"):
        asked(root, "parrot/0.0", 1, "nobody", actions={1: "BET"})
    result, _ = asked(root, "parrot/0.0", 1, "stand-in", players={0: "AlwaysBet"}, actions={1: "PASS"}, fresh=True)
    assert result["stand_ins"] == [0]
    assert result["players"][0][0] == result["players"][1][0] == "kuhn/AlwaysBet@1"
    with pytest.raises(BadParameter, match="Nothing is changed"):
        asked(root, "parrot/0.0", 1, "same", players={0: "AlwaysBet"})


@pytest.mark.parametrize(("step", "label"), [(0, "start"), (2, "start"), (3, "4"), (4, "4"), (6, "5"), (9, "5")])
def test_nearest_checkpoint_stands_in_for_a_policy_in_training(tmp_path, step, label):
    """Two steps of SFT come before the start; the learners of a league have checkpoints of their own."""
    run = tmp_path / "run"
    write_run(run, sft={"epochs": 1})
    model = RunModel(model="tiny")
    names = ("base", "start", "best", "last", "4", "5", "start/other", "7/other")
    write_run_models(run, RunModels(models=dict.fromkeys(names, model)))
    for row in ({"step": at, "sft/loss": 1.0} for at in (1, 2)):
        with (run / "metrics.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")
    episode = episodes_of("kuhn(hands=1)", ["random", "random"], 1)[0]
    for players, expected in (
        (("policy@1", "random@1"), {0: label}),
        (("random@1", "policy@1"), {1: label}),
        (("other@1", "policy@1"), {0: "7/other" if step > 4 else "start/other", 1: label}),
        (("random@1", "kuhn/AlwaysBet@1"), {}),
    ):
        episode.players = players
        told = stand_ins_of(episode, RunFolder(run), step)
        assert told == {seat: f"run:{run}@{name}" for seat, name in expected.items()}
    (run / "models.json").unlink()
    assert stand_ins_of(episode, RunFolder(run), step) == {}


def test_a_policy_in_training_has_the_name_that_training_gives_it():
    pytest.importorskip("torch")
    from stratagem.training.policy import POLICY

    assert IN_TRAINING == POLICY


def test_person_is_no_player_of_a_job(root):
    with pytest.raises(BadParameter, match="A person cannot play on in a job: sit down at this turn instead"):
        asked(root, "tft/0.0", 1, "person", players={0: "human"})


def test_branches_in_which_a_player_failed_are_counted(root, monkeypatch):
    make = whatif.make_player
    monkeypatch.setattr(whatif, "make_player", lambda name, game: Broken() if name == "broken" else make(name, game))
    result, _ = asked(root, "tft/0.0", 1, "faulty", players={0: "broken"})
    assert (result["faulty"], result["n"]) == (1, 1)


class Broken:
    name = "broken"
    traits = Traits()

    def turn(self, ask):
        raise ValueError("no answer")

    def policy(self, view):
        return {}


class Paid:
    """A player behind a server, as far as prices go."""

    name = "api:paid@http://localhost"
    traits = Traits(stochastic=True, repeats=False)

    def turn(self, ask):
        return Move(ask.view.choices.first, "free")


def test_price_is_told_before_anything_is_played(root, monkeypatch):
    make = whatif.make_player
    monkeypatch.setattr(whatif, "make_player", lambda name, game: Paid() if name == "paid" else make(name, game))
    asked_first, _ = asked(root, "hands/0.0", 2, "paid", players={0: "paid"}, count=3)
    position = read_position(root / "games", "hands/0.0", 2)
    decisions = len([row for row in position.episode.decisions if row.seat == 0 and row.turn >= 2])
    assert isinstance(asked_first, JobPrice)
    assert asked_first.price["calls"] == 3 * decisions
    assert asked_first.price["most_calls"] == 6 * decisions
    assert asked_first.price["servers"]
    assert not (root / "whatif" / "paid").exists()
    result, _ = asked(root, "hands/0.0", 2, "paid", players={0: "paid"}, count=3, accepted=3 * decisions)
    assert result["price"]["calls"] == 3 * decisions
    assert (root / "whatif" / "paid" / "whatif.json").exists()


def test_price_of_a_model_behind_a_server_is_its_largest_cost(root):
    pytest.importorskip("openai")
    from stratagem.language.engines.remote.tally import use_prices
    from stratagem.players.catalogue import make_player

    position = read_position(root / "games", "hands/0.0", 0)
    game = position.state.game
    player = make_player("lm('api:some-model@http://127.0.0.1:9/v1', max_new_tokens=100)", game)
    assert price_of(position, [(0, make_player("AlwaysBet", game))], 5) is None
    price = price_of(position, [(0, player)], 5)
    assert price.money is None
    with use_prices({"some-model": Prices(prompt=1e6, reply=2e6, currency="usd")}):
        price = price_of(position, [(0, player)], 5)
    decisions = len([row for row in position.episode.decisions if row.seat == 0])
    prompt = (price.tokens - 100 * price.calls) / price.calls
    assert price.calls == 5 * decisions
    assert prompt > 100
    assert price.money == pytest.approx(price.calls * (prompt + 2 * 100), rel=1e-3)
    assert price.currency == "usd"


def test_broken_off_job_leaves_nothing_to_list(root, pages):
    one = question(root, "tft/0.0", 2, "broken", actions={0: "DEFECT"})
    write_shard(partial_of(one.to), 0, episodes_of("kuhn", ["random", "random"]))
    assert "whatif/broken" not in [record["name"] for record in pages.get("library")["records"]]
    ask_what_if(one, Wire())
    assert next(episode.id for episode in read_episodes(one.to)) == "tft/0.0"
    assert not partial_of(one.to).exists()


def test_question_is_asked_again_when_a_file_that_it_uses_has_changed(root, pages, tmp_path):
    asked = {"record": "games", "episode": "hands/0.1", "turn": 1, "players": {0: f"{tmp_path}/mine.py:Mine"}}
    names = []
    with commanding():
        for file, text in (("mine.py", "x = 1"), ("mine.py", "x = 1"), ("mine.py", "x = 2"), ("helper.py", "")):
            (tmp_path / file).write_text(text)
            names.append(check_question(Visit(pages.studio, Link("operator")), AskedWhatIf(**asked)).name)
    assert names[0] == names[1]
    assert len(set(names)) == 3, "another text, or another file beside it that it may import"


def test_limits_of_a_job_are_given_in_minutes_and_gib():
    assert limits_of(minutes=0.5, memory=1.5) == (3 << 29, 30.0)
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    assert limits_of().memory == pytest.approx(max(2 << 30, half), abs=1)
    with pytest.raises(BadParameter, match="`job_minutes=` is a number greater than 0, not -1"):
        limits_of(minutes=-1)


def times_of(folder):
    """When each file below a folder was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_question_over_http_is_a_record_with_its_parent(root, pages):
    body = {"record": "games", "episode": "hands/0.1", "turn": 1, "players": {"0": "AlwaysBet"}, "count": 5}
    job = pages.ended(pages.do("whatif", **body))
    assert job["state"] == "done"
    record = job["result"]["record"]
    assert record in [one["name"] for one in pages.get("library")["records"]]
    branch = pages.get("episodes", record=record, text="changed/")["episodes"][0]
    replay = pages.get("episode", record=record, id=branch["id"])
    assert (replay["parent"], replay["forked_at"], replay["unplayable"]) == ("hands/0.1", 1, "")
    assert pages.get("whatifs", record="games", id="hands/0.1")["whatifs"] == [job["result"]]
    written = times_of(root)
    again = pages.do("whatif", **body)
    assert (again["state"], again["result"]) == ("done", job["result"])
    assert times_of(root) == written, "an answered question is not played again"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"actions": {"0": "FLY"}}, "'FLY' is no legal action: play COOPERATE, DEFECT."),
        ({"actions": {"0": "COOPERATE"}}, "Nothing is changed"),
        ({"players": {"0": "ipd/TitForTat"}, "actions": {}}, "Nothing is changed"),
        ({"actions": {"7": "DEFECT"}}, "Seat 7 is not asked at turn 1"),
        ({"players": {"7": "random"}}, "ipd has seats 0 to 1, and none 7."),
        ({"turn": 4}, "has no turn 4: its turns are 0 to 3."),
        ({"episode": "none"}, "There is no recorded episode called 'none'"),
        ({"record": "../games"}, "There is no record called '../games'"),
        ({"count": 0}, "The setting count cannot be 0"),
        ({"count": 100_000}, "The setting count cannot be 100000"),
        ({"actions": {"a": "DEFECT"}}, "The setting actions"),
        ({"to": "/etc"}, "There is no setting to"),
        ({"dice": "loaded"}, "The setting dice cannot be 'loaded'"),
    ],
)
def test_wrong_questions_are_refused_in_words(pages, change, sentence):
    body = {"record": "games", "episode": "tft/0.0", "turn": 1, "actions": {"0": "DEFECT"}} | change
    status = 404 if "There is no rec" in sentence else 400
    assert sentence in pages.do("whatif", status, **body)["error"]


def test_cancelled_job_ends_and_the_next_goes_on(root, pages):
    slow = {"record": "games", "episode": "hands/0.0", "turn": 0, "players": {"0": "mcts:100000"}, "count": 1000}
    first = pages.do("whatif", **slow)
    waiting = pages.do("whatif", **slow | {"seed": 1})
    assert pages.do("cancel", id=waiting["id"])["state"] == "cancelled"
    assert pages.do("cancel", id=first["id"])["state"] == "cancelled"
    assert pages.studio.jobs.open() == []
    assert "no job called 'x'" in pages.do("cancel", 404, id="x")["error"]


def test_only_the_pages_themselves_may_start_something(pages):
    body = b'{"id": "x"}'
    for headers, status in (
        ({"content-type": "application/json"}, 403),
        ({"origin": ADDRESS, "content-type": "text/plain"}, 403),
        ({"origin": "http://evil.example", "content-type": "application/json"}, 403),
        ({"origin": ADDRESS, "content-type": "application/json", "sec-fetch-site": "cross-site"}, 403),
        ({"origin": ADDRESS, "content-type": "application/json", "host": "evil.example"}, 421),
        ({"origin": ADDRESS, "content-type": "application/json"}, 404),
    ):
        assert pages.http.post("/api/do/cancel", content=body, headers=headers).status_code == status
    assert pages.http.get("/api/do/cancel").status_code == 405
    for content in (b"", b"[1]", b"x", b'"' + b"x" * 300_000 + b'"'):
        answer = pages.http.post(
            "/api/do/cancel", content=content, headers={"origin": ADDRESS} | {"content-type": "application/json"}
        )
        assert answer.status_code == (413 if len(content) > 200_000 else 400)


def test_returns_are_counted_on_an_even_scale():
    assert histogram([1.0, 1.0, 3.0], [2.0]) == {"labels": ["1", "2", "3"], "counts": [[2, 0, 1], [0, 1, 0]]}
    assert histogram([0.25], [0.25]) == {"labels": ["0.25"], "counts": [[1], [1]]}
    halves = histogram([0.5, 1.0], [0.0])
    assert (halves["labels"][0], halves["labels"][-1]) == ("0 to 0.1", "0.9 to 1")
    many = histogram([float(number) for number in range(100)], [99.0])
    assert len(many["labels"]) == 10
    assert many["counts"] == [[10] * 10, [0] * 9 + [1]]


def test_one_random_branch_has_no_interval():
    episode = Episode(id="a", game="kuhn", game_version=1, players=("a",), slots=(0,), key=0, chance=0, payoffs=[1.0])
    told = outcomes([episode], [replace(episode, payoffs=[3.0])], Key(0), certain=False)["seats"][0]
    assert (told["changed"]["mean"], told["changed"]["exact"], told["changed"]["low"]) == (3.0, False, None)
    assert told["difference"]["mean"] == 2.0
