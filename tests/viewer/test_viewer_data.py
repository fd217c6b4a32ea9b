"""The data of the pages: lists and filters, replays, words, runs, and what changes."""

import asyncio
import json
import shutil
from itertools import chain, pairwise

import pytest
from page_client import ask
from read_boards import boards_of
from shown_folder import HOSTILE, PIECES, Parrot, add_step, branch_of, episodes_of, write_run
from starlette.testclient import TestClient

from stratagem.measure.audit.card import AuditCost, Card
from stratagem.measure.audit.measurement import Measurement
from stratagem.playing.store import read_episodes, write_shard
from stratagem.show.viewer.answers import content_of, token_texts
from stratagem.show.viewer.app import Viewer, changes, events, state_of
from stratagem.show.viewer.faces.spiel import GRIDS
from stratagem.show.viewer.library import read_library
from stratagem.show.viewer.listing import rows_of
from stratagem.show.viewer.studio import Studio


@pytest.fixture(scope="module")
def client(shown):
    return TestClient(Viewer(Studio(shown)).application(), base_url="http://127.0.0.1:8150")


def parrot_games(client, **query):
    return ask(client, "episodes", record="games", player=Parrot.recorded, **query)


def test_library_finds_records_runs_and_pages(client):
    data = ask(client, "library")
    assert [record["name"] for record in data["records"]] == ["games", "runs/first/record"]
    assert data["records"][0]["episodes"] == 8
    assert data["records"][0]["games"] == ["kuhn", "ipd(rounds=4)"]
    (run,) = data["runs"]
    assert (run["name"], run["state"], run["step"], run["exploitability"]) == (
        "runs/first",
        "finished",
        4,
        {"kuhn": 0.1},
    )
    assert (data["pages"], [one["page"] for one in data["audits"]]) == ([], ["audit/card.html"])


def test_audit_is_one_entry_with_its_alarms_and_records(folder):
    alarm = Measurement(name="kuhn.dominated", group="competence", value=0.4, certain=True)
    quiet = Measurement(name="kuhn.illegal", group="competence", value=0.0)
    card = Card("kuhn/AlwaysBet", ("kuhn",), 10, 0, (alarm, quiet), {}, {}, AuditCost(), {})
    (folder / "audit" / "card.json").write_text(json.dumps(card.to_json()))
    shutil.copytree(folder / "games", folder / "audit" / "records" / "kuhn-replies")
    (folder / "other").mkdir()
    (folder / "other" / "card.html").write_text("")
    (folder / "other" / "card.json").write_text('{"card": 99}')
    told = content_of(read_library(folder), {})
    empty = {"agent": "", "games": [], "figures": 0, "alarms": []}
    assert told["audits"] == [
        {
            "page": "audit/card.html",
            "folder": "audit",
            "records": ["audit/records/kuhn-replies"],
            "agent": "kuhn/AlwaysBet",
            "games": ("kuhn",),
            "figures": 2,
            "alarms": ["kuhn.dominated"],
        },
        {"page": "other/card.html", "folder": "other", "records": [], **empty},
    ]
    assert told["pages"] == []


@pytest.mark.parametrize("name", ["base", "files", "policies", "checkpoints", "prompts"])
def test_record_with_the_name_of_a_part_of_a_run_is_found(name, folder):
    shutil.copytree(folder / "games", folder / "mine" / name)
    write_shard(folder / "runs" / "first" / name, 0, episodes_of("kuhn", ["random", "random"], 1))
    assert list(read_library(folder).records) == ["games", f"mine/{name}", "runs/first/record"]


def test_filters_agree_with_the_record(client, shown):
    episodes = list(read_episodes(shown / "games", calls=False))
    every = ask(client, "episodes", record="games")
    assert [row["id"] for row in every["episodes"]] == [episode.id for episode in episodes]
    assert every["first"] == ""
    own = [episode for episode in episodes if Parrot.recorded in episode.players]
    assert parrot_games(client)["found"] == len(own) == 6
    for outcome, sign in (("won", 1), ("lost", -1), ("drawn", 0)):
        pays = [episode.payoffs[episode.players.index(Parrot.recorded)] for episode in own]
        expected = [e.id for e, pay in zip(own, pays, strict=True) if (pay > 0) - (pay < 0) == sign]
        assert [row["id"] for row in parrot_games(client, outcome=outcome)["episodes"]] == expected
    illegal = [episode.id for episode in episodes if any(episode.num_illegal)]
    assert [row["id"] for row in ask(client, "episodes", record="games", illegal="1")["episodes"]] == illegal
    assert ask(client, "episodes", record="games", game="ipd(rounds=4)")["found"] == 2
    assert ask(client, "episodes", record="games", text="LATER")["found"] == 2
    assert ask(client, "episodes", record="games", purpose="train")["found"] == every["purposes"].get("train", 0)


def test_pages_of_a_list_are_its_parts(client):
    every = [row["id"] for row in ask(client, "episodes", record="games")["episodes"]]
    parts = [ask(client, "episodes", record="games", offset=at, limit=3)["episodes"] for at in (0, 3, 6)]
    assert [row["id"] for part in parts for row in part] == every
    newest = ask(client, "episodes", record="games", order="newest", limit=2)["episodes"]
    assert [row["id"] for row in newest] == every[::-1][:2]


def test_shared_beginnings_are_folded_under_their_branches(tmp_path):
    begun, branch = branch_of("kuhn(hands=2)", 2)
    alone, ended = episodes_of("kuhn(hands=2)", ["random", "random"], 1, name="other")
    begun.purpose = alone.purpose = "warm_up"
    write_shard(tmp_path / "games", 0, [begun, alone, ended, branch])
    client = TestClient(Viewer(Studio(tmp_path), token="").application(), base_url="http://127.0.0.1:8150")
    told = ask(client, "episodes", record="games")
    assert [row["id"] for row in told["episodes"]] == [alone.id, ended.id, branch.id], (
        "a beginning without branches stays"
    )
    assert told["episodes"][-1]["parent"] == begun.id
    assert (told["total"], told["found"], told["folded"]) == (3, 3, 1)
    found = [ask(client, "episodes", record="games", **query) for query in ({"purpose": "warm_up"}, {"text": begun.id})]
    assert [[row["id"] for row in one["episodes"]] for one in found] == [[begun.id, alone.id], [begun.id, branch.id]]
    assert [(one["total"], one["folded"]) for one in found] == [(4, 0)] * 2


@pytest.mark.parametrize(
    ("page", "query", "status", "sentence"),
    [
        ("episodes", {"record": "../games"}, 404, "There is no record called '../games'"),
        ("episodes", {"record": "nowhere"}, 404, "There is no record"),
        ("episodes", {}, 400, "lacks `record`"),
        ("episodes", {"record": "games", "outcome": "win"}, 404, "did you mean won"),
        ("episodes", {"record": "games", "offset": "-1"}, 400, "`offset` is a number of at least 0"),
        ("episodes", {"record": "games", "limit": "0x"}, 400, "`limit` is a number"),
        ("episodes", {"record": "games", "limit": "0"}, 400, "a `limit` of 1 to 500"),
        ("episode", {"record": "games", "id": "none"}, 404, "There is no recorded episode called 'none'"),
        ("words", {"record": "games", "id": "later/0.0", "turn": "99"}, 404, "There is no"),
        ("run", {"name": "/etc"}, 404, "There is no run"),
        ("nothing", {}, 404, "There is no such page"),
    ],
)
def test_mistakes_are_one_sentence(client, page, query, status, sentence):
    assert sentence in ask(client, page, status, **query)["error"]


def test_replay_of_kuhn_shows_the_hand_that_a_turn_ended(client, shown):
    row = parrot_games(client)["episodes"][0]
    data = ask(client, "episode", record="games", id=row["id"])
    assert data["face"] == "cards"
    assert len(data["frames"]) == len(data["turns"]) + 1
    for frame, turn in zip(boards_of(data)[0][1:], data["turns"], strict=True):
        line = "".join(bet["letter"] for bet in frame["bets"][0])
        assert frame["hand"] == turn["round"]
        assert (turn["payoffs"] is not None) == (line in ("PP", "BC", "BF", "PBC", "PBF"))
        played = turn["decisions"][-1]["action"]
        assert line.endswith((played or "PASS")[0])
        if turn["payoffs"]:
            winner = turn["payoffs"].index(max(turn["payoffs"]))
            if not line.endswith("F"):
                assert "JQK".index(frame["cards"][winner]) > "JQK".index(frame["cards"][1 - winner])
            assert max(turn["payoffs"]) == frame["chips"][1 - winner]
    paid = [sum(turn["payoffs"][seat] for turn in data["turns"] if turn["payoffs"]) for seat in (0, 1)]
    assert paid == data["payoffs"]


def test_replay_of_a_matrix_game_has_its_table_and_moves(client):
    data = ask(
        client, "episode", record="games", id=ask(client, "episodes", record="games", text="later")["episodes"][0]["id"]
    )
    assert data["face"] == "matrix"
    boards = boards_of(data)[0]
    assert [len(board["moves"]) for board in boards] == [0, 1, 2, 3, 4]
    for turn, frame in zip(data["turns"], boards[1:], strict=True):
        first, second = frame["moves"][-1]
        assert frame["payoffs"][first][second] == turn["payoffs"]


@pytest.mark.parametrize(("text", "turn"), [("ipd(rounds=6)", 3), ("talk(ipd(rounds=4))", 3), ("kuhn(hands=4)", 4)])
def test_replay_of_a_branch_has_the_payoffs_of_its_own_rounds(text, turn, tmp_path):
    parent, branch = branch_of(text, turn)
    assert branch.decisions[0].round > 0
    write_shard(tmp_path / "record", 0, [parent, branch])
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    data = ask(client, "episode", record="record", id=branch.id)
    shown = [turn["payoffs"] for turn in data["turns"] if turn["payoffs"]]
    assert shown == [list(paid) for paid in branch.rounds]


@pytest.mark.parametrize("name", GRIDS)
def test_board_has_every_square(name, tmp_path):
    write_shard(tmp_path / "record", 0, episodes_of(name, ["random", "random"], 1))
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    row = ask(client, "episodes", record="record")["episodes"][0]
    data = ask(client, "episode", record="record", id=row["id"])
    columns, rows = {"tic-tac-toe": (3, 3), "connect-four": (7, 6), "breakthrough": (3, 8), "breakthrough-6x6": (6, 6)}[
        name
    ]
    assert data["face"] == "grid"
    boards = boards_of(data)[0]
    for before, after in pairwise(boards):
        assert [len(line) for line in after["cells"]] == [columns] * rows
        assert len(after["columns"]) == columns
        pairs = zip(chain(*before["cells"]), chain(*after["cells"]), strict=True)
        assert sum(one != other for one, other in pairs) == (2 if "breakthrough" in name else 1)


def test_game_without_a_face_is_shown_by_its_views(tmp_path):
    write_shard(tmp_path / "record", 0, episodes_of("spiel:hex(board_size=3)", ["random", "random"], 1))
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    row = ask(client, "episodes", record="record")["episodes"][0]
    data = ask(client, "episode", record="record", id=row["id"])
    assert data["face"] == "text"
    assert all(len(frame["situations"]) == 2 for frame in data["frames"])


def test_record_of_an_unknown_game_keeps_its_log(tmp_path):
    episodes = episodes_of("kuhn", ["random", "random"], 1)
    for episode in episodes:
        episode.game = "evil.py:Game"
    write_shard(tmp_path, 0, episodes)
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    data = ask(client, "episode", record=".", id=episodes[0].id)
    assert data["frames"] == []
    assert "evil.py" in data["unplayable"]
    assert data["turns"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"parent": "game/0.0"}, "was forked from itself"),
        ({"parent": "game/0.1"}, "was forked from itself"),
        ({"parent": "nobody"}, "There is no recorded episode called 'nobody'"),
        ({"game": "spiel:nothing"}, "There is no OpenSpiel game"),
        ({"game_version": 99}, "was played by version 99"),
        ({"action": "XYZ"}, "XYZ"),
        ({"round": -3}, ""),
        ({"round": 99}, ""),
        ({"payoffs": [float("nan"), float("inf")]}, ""),
    ],
)
def test_wrong_record_is_shown_as_far_as_it_goes(tmp_path, change, sentence):
    episodes = episodes_of("kuhn", ["random", "random"], 2)
    for name, value in change.items():
        owners = [episode.decisions[-1] for episode in episodes] if name in ("action", "round") else episodes
        for owner in owners:
            setattr(owner, name, value)
    write_shard(tmp_path, 0, episodes)
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    data = ask(client, "episode", record=".", id=episodes[0].id)
    assert sentence in data["unplayable"]
    assert bool(data["frames"]) == (not sentence)
    assert data["turns"]


def test_words_have_the_prompt_and_each_token(client):
    row = parrot_games(client, illegal="1")["episodes"][0]
    data = ask(client, "episode", record="games", id=row["id"])
    spoken = [(turn, one) for turn in data["turns"] for one in turn["decisions"] if one["calls"]]
    wrong = next((turn, one) for turn, one in spoken if one["action"] is None)
    right = next((turn, one) for turn, one in spoken if one["action"] is not None)
    assert wrong[1]["said"] == HOSTILE
    for turn, one in (wrong, right):
        place = {"turn": turn["turn"], "seat": one["seat"], "attempt": one["attempt"]}
        (call,) = ask(client, "words", record="games", id=row["id"], **place)["calls"]
        assert [message["role"] for message in call["messages"]] == ["system", "user"]
        assert call["messages"][1]["content"] == f"Card {one['state_key']} {HOSTILE}"
    assert [token["kind"] for token in call["tokens"]] == ["sampled", "forced"]
    assert [token["allowed"] for token in call["tokens"]] == [2, 1]
    assert call["tokens"][0]["p"] == pytest.approx(0.25)
    assert call["tokens"][1]["p"] is None


def test_token_texts_join_to_the_reply():
    def decode(tokens):
        return b"".join(BYTES[token] for token in tokens).decode("utf-8", "replace")

    BYTES = {0: b"a", 1: "é".encode()[:1], 2: "é".encode()[1:], 3: b"\xff"}  # noqa: N806
    assert token_texts([0, 1, 2, 0], "aéa", decode) == ["a", "", "é", "a"]
    assert "".join(token_texts([0, 3], "a\ufffd", decode)) == "a\ufffd"
    assert token_texts([0, 0], "another text", decode) == [None, None]
    assert token_texts([1, 2], PIECES[1] + PIECES[2], lambda tokens: "".join(PIECES[token] for token in tokens)) == [
        "B",
        "ET",
    ]
    assert token_texts([0, 1], "é", None) == [None, None]


def test_page_of_a_run_has_its_curves_and_checks(client):
    data = ask(client, "run", name="runs/first")
    loss = {"steps": [0, 1, 2, 3, 4], "values": [0.0, None, -2.0, -3.0, -4.0], "points": 5}
    assert data["curves"]["loss"] == {**loss, "unit": "", "chance": None}
    assert data["curves"]["kuhn/exact/exploitability"]["unit"] == "chips a hand"
    assert (data["findings"]["inert_clip"]["step"], data["faults"], data["notes"]) == (1, 0, 1)
    assert data["findings"]["inert_clip"]["shard"] == 0, "the games of the first step are in shard 0"
    assert data["record"] == "runs/first/record"
    assert data["findings"]["inert_clip"]["first"] == f"Look {HOSTILE}"


@pytest.mark.parametrize(
    ("scores", "best", "is_start"),
    [((0.5, 0.2, 0.4), 2, True), ((0.5, 0.5), 1, True), ((0.5, 0.2, 0.6), 2, False), ((None, 0.2), 1, False)],
)
def test_run_says_when_no_checkpoint_was_better_than_the_start(tmp_path, scores, best, is_start):
    write_run(tmp_path / "run", steps=0)
    rows = [{"step": step, "loss": 1.0} | {"checkpoint_metric": score} for step, score in enumerate(scores)]
    (tmp_path / "run" / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (run,) = content_of(read_library(tmp_path), {})["runs"]
    assert (run["best_step"], run["start_is_best"]) == (best, is_start)


def test_damaged_run_and_record_are_one_sentence(folder):
    (folder / "runs" / "first" / "run.json").write_text("{")
    (folder / "games" / "episodes" / "000001.parquet").write_bytes(b"PAR1 and no more")
    client = TestClient(Viewer(Studio(folder)).application(), base_url="http://localhost")
    data = ask(client, "library")
    assert data["runs"][0]["state"] == "damaged"
    assert "run.json cannot be read" in data["runs"][0]["sentence"]
    assert "000001.parquet" in data["records"][0]["sentence"]
    assert "000001.parquet" in ask(client, "episodes", 400, record="games")["error"]


def test_list_follows_the_files(folder):
    before = len(rows_of(folder / "games"))
    write_shard(folder / "games", 1, episodes_of("kuhn", ["random", "random"], 4, name="new"))
    assert len(rows_of(folder / "games")) == before - 2 + 4


def test_changes_are_told_by_name(folder):
    before = state_of(read_library(folder))
    add_step(folder / "runs" / "first", 5)
    write_shard(folder / "games", 2, episodes_of("kuhn", ["random", "random"], 1, name="third"))
    after = state_of(read_library(folder))
    assert changes(before, after) == ["record:games", "run:runs/first"]
    assert changes(after, after) == []


def test_events_are_sent_when_a_run_goes_on(folder):
    async def told():
        found = []
        async for event in events(lambda: read_library(folder), pause=0.01):
            found.append(event)
            if len(found) == 1:
                add_step(folder / "runs" / "first", 5)
            if b"changed" in event:
                return event
        return b""

    event = asyncio.run(told())
    assert event.startswith(b"event: changed\ndata: ")
    assert json.loads(event.split(b"data: ")[1]) == ["run:runs/first"]


@pytest.mark.long
def test_list_of_ten_thousand_episodes_answers_in_less_than_a_second(tmp_path):
    from time import process_time

    episode = episodes_of("kuhn(hands=1)", ["random", "random"], 1)[0]
    for shard in range(10):
        many = []
        for number in range(1000):
            copy = type(episode)(**{name: getattr(episode, name) for name in episode.__dataclass_fields__})
            copy.id = f"{shard}/{number}"
            many.append(copy)
        write_shard(tmp_path / "record", shard, many)
    client = TestClient(Viewer(Studio(tmp_path)).application(), base_url="http://localhost")
    start = process_time()
    assert ask(client, "episodes", record="record", outcome="won", offset=100)["total"] == 10_000
    assert process_time() - start < 1.0
