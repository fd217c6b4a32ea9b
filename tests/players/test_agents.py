"""Agents outside: processes, servers and functions; whatever one of them does wrong costs its own decisions only."""

import asyncio
import json
import pickle
import re
import shlex
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

import stratagem as sg
from stratagem.base.consent.table import allow, commanding, reading_files
from stratagem.base.errors import BadParameter, CannotCompute, WrongKind
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.agents import process
from stratagem.language.engines.open import tallies
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.engines.remote.terms import change_terms
from stratagem.players.agents import AgentPlayer
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "engines" / "remote"))
from fake_server import FakeServer  # noqa: E402

KUHN = make_game("kuhn(hands=1)")


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path, as_new_process):
    """A table of named files, agents and a cache of its own."""
    as_new_process()
    monkeypatch.setenv("STRATAGEM_CACHE", str(tmp_path / "cache"))
    with commanding(strict=False):
        yield


def command(kind):
    """The command of an agent of `agents_in_python.py`."""
    return f"{shlex.quote(sys.executable)} -S {shlex.quote(str(HERE / 'agents_in_python.py'))} {kind}"


def rows(player, episodes=2, game=KUHN):
    """The decisions of a player against an opponent that never fails."""
    match = Match(game, [make_player(player, game), make_player("random", game)])
    played = list(play(rotate_seats(match, episodes, Key(0), name="agents")))
    assert len(played) >= episodes
    return [row for episode in played for row in episode.decisions if row.slot == 0]


def asked(player, **more):
    """The decisions, with the kind of each call."""
    return Counter((row.how, row.calls[0].finish) for row in rows(player, **more))


def test_a_process_plays_and_its_calls_are_recorded():
    player = AgentPlayer(f"cmd:{command('count')}")
    decisions = rows(player)
    assert {row.how for row in decisions} == {"free"}
    calls = [row.calls[0] for row in decisions]
    assert {(call.policy.base, call.num_prompt, call.num_reply) for call in calls} == {(player.name, 11, 2)}
    told = json.loads(calls[0].prompt.messages[0][1])
    assert told["type"] == "decision"
    assert told["game"] == "kuhn(hands=1)"
    assert set(told["facts"]) >= {"card"}
    assert told["choices"] == {"kind": "set", "actions": ["PASS", "BET"]}
    assert tallies()[player.name].num_prompt == 11 * len(calls)
    more = rows(AgentPlayer(player.name, timeout=60.0))
    assert tallies()[player.name].num_requests == len(calls) + len(more), "other options, but one agent"


@pytest.mark.parametrize(
    ("kind", "expected", "why"),
    [
        ("text", {("free", "done")}, None),
        ("twice", {("free", "done")}, None),
        ("illegal", {("illegal", "done")}, "FOLD"),
        ("garbage", {("error", "malformed")}, "gave an answer that is no JSON object: \"Thinking ...\""),
        ("stranger", {("error", "malformed")}, "answered the question 999, which was never asked"),
        ("odd", {("error", "malformed")}, "answered the question [1], which was never asked"),
        ("silent", {("error", "malformed")}, "without an `action`"),
        ("error", {("error", "error")}, "reported an error: the model is busy"),
        ("long", {("error", "malformed")}, "wrote a line of more than 1 MiB"),
        ("leaves", {("error", "exit")}, "exited with status 0"),
    ],
)  # fmt: skip
def test_each_kind_of_wrong_answer_is_data_of_its_own_kind(kind, expected, why):
    decisions = rows(AgentPlayer(f"cmd:{command(kind)}"), 1)
    assert {(row.how, row.calls[0].finish) for row in decisions} <= expected
    if why is not None:
        assert any(why in row.said for row in decisions if row.said)


def test_a_process_that_writes_on_after_its_answer_is_ended():
    """Its lines answer the next question, or end it, by whichever is there first."""
    decisions = rows(AgentPlayer(f"cmd:{command('endless')}"), 1)
    assert {(row.how, row.calls[0].finish) for row in decisions} <= {("free", "done"), ("error", "malformed")}
    told = [row.said for row in decisions if row.how == "error"]
    assert all("is no JSON object" in said or "lines that answer nothing" in said for said in told)

    async def is_ended():
        writer = await process.Process.start(
            process.ProgramCommand(tuple(shlex.split(command("endless"))), {}, 30.0, 1)
        )
        try:
            assert await writer.ask({"type": "decision", "choices": {"actions": ["PASS"]}}) == {
                "id": 2,
                "action": "PASS",
            }
            async with asyncio.timeout(30):
                while not writer.is_over:
                    await asyncio.sleep(0.01)
        finally:
            await writer.close()

    asyncio.run(is_ended())


class Input:
    """Standard input of a process that takes everything."""

    def write(self, line):
        pass

    def close(self):
        pass

    async def drain(self):
        pass


async def ended():
    return 0


def test_lines_after_an_answer_count_as_strays_before_the_asker_runs_again():
    async def strays(number):
        """Return the answer before so many lines that the process writes at once, and whether it is ended for them."""
        output, errors = asyncio.StreamReader(), asyncio.StreamReader()
        errors.feed_eof()
        child = SimpleNamespace(stdin=Input(), stdout=output, stderr=errors, wait=ended, pid=0)
        reading = process.Process(child, process.ProgramCommand((), {}, 30.0, 1))
        asked = asyncio.create_task(reading.ask({"type": "decision"}))
        await asyncio.sleep(0)
        lines = (b'{"id": 1, "action": "PASS"}', *[b"x"] * (number - 1), b'{"id": 1, "action": "BET"}')
        output.feed_data(b"".join(line + b"\n" for line in lines))
        answer = await asked
        for _ in range(5):
            await asyncio.sleep(0)
        is_over = reading.is_over
        output.feed_eof()
        await reading.close()
        return answer, is_over

    assert asyncio.run(strays(1000)) == ({"id": 1, "action": "PASS"}, False)
    assert asyncio.run(strays(1001)) == ({"id": 1, "action": "PASS"}, True)


def test_a_process_that_crashes_is_restarted_and_the_reason_is_told():
    player = AgentPlayer(f"cmd:{command('crashes')}")
    decisions = rows(player)
    failed = [row for row in decisions if row.how == "error"]
    assert 0 < len(failed) < len(decisions)
    said = {row.said for row in failed}
    assert said == {f"The agent {player.name} exited with status 3: Segmentation fault (not really)."}


@pytest.mark.linux
def test_a_process_that_hangs_costs_one_timeout_a_hanging_answer():
    start = time.monotonic()
    counts = asked(AgentPlayer(f"cmd:{command('hangs')}", timeout=1), episodes=3)
    assert counts["error", "timeout"] >= 1
    assert counts["free", "done"] >= counts["error", "timeout"], "a new process answers the next question"
    assert time.monotonic() - start < 50, "a process that hangs sleeps for 60 s"
    while not all(Path(f"/proc/{pid}").exists() for pid in {*process.LIVING}):
        assert time.monotonic() - start < 50, "killed processes are forgotten"  # in the engine's thread, a moment later
        time.sleep(0.01)


def answers_of(kind, number, *, timeout, concurrent, apart=0.0):
    """The answers of a process to questions, or the kinds of failures; a question is asked `apart` seconds later."""
    program = process.ProgramCommand(tuple(shlex.split(command(kind))), {}, timeout, concurrent)
    before = {*process.LIVING}

    async def answered():
        agent = process.RestartingProcess(program, max_concurrent=16)

        async def one(index):
            await asyncio.sleep(apart * index)
            try:
                return (await agent.ask({"type": "decision", "choices": {"actions": [str(index)]}}))["action"]
            except process.Failure as failure:
                return failure.kind

        try:
            return await asyncio.gather(*map(one, range(number)))
        finally:
            await agent.aclose()
            async with asyncio.timeout(20):  # one that hangs sleeps for longer
                while process.LIVING - before:
                    await asyncio.sleep(0.01)

    return asyncio.run(answered())


def test_a_question_behind_one_that_hangs_is_asked_of_a_new_process():
    assert answers_of("hangs", 5, timeout=1.5, concurrent=1) == ["0", "timeout", "2", "timeout", "4"]


def test_a_question_beside_one_that_hangs_is_asked_again_alone():
    assert answers_of("hangs", 3, timeout=1.5, concurrent=3, apart=0.5) == ["0", "timeout", "2"]


def test_questions_are_open_together_where_the_process_says_so():
    assert set(asked(AgentPlayer(f"cmd:{command('concurrent')}", timeout=50), episodes=4)) == {("free", "done")}


@pytest.mark.parametrize("kind", ["crashes", "bursts"])
def test_questions_beside_a_crash_are_asked_again_alone(kind):
    assert answers_of(kind, 3, timeout=60.0, concurrent=3) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("rude", "answered the greeting with \"Welcome!\", not with {\"type\": \"hello\", \"protocol\": 1}: check the"),
        ("future", "not with {\"type\": \"hello\", \"protocol\": 1}: check the command."),
        ("many", "with \"concurrent\": \"8\", which should be a whole number from 1 to 1024: check the command."),
    ],
)  # fmt: skip
def test_a_process_that_greets_wrongly_is_a_mistake(kind, sentence):
    with pytest.raises(BadServer) as caught:
        rows(AgentPlayer(f"cmd:{command(kind)}"), 1)
    assert sentence in str(caught.value)


def test_a_program_that_is_not_there_is_a_mistake():
    with pytest.raises(BadServer, match=r"cannot be started \(No such file or directory\): check the command\.$"):
        rows(AgentPlayer("cmd:./no-such-agent --now"), 1)
    with pytest.raises(BadServer, match=r"did not answer the greeting: it exited with status 0: check the command\.$"):
        rows(AgentPlayer("cmd:true"), 1)


def test_a_process_gets_no_secret_but_those_that_are_named(monkeypatch):
    monkeypatch.setenv("AGENT_KEY", "sk-agent-0123456789")
    first = rows(AgentPlayer(f"cmd:{command('secret')}"), 1)[0]
    assert first.said == "The key is None."
    named = AgentPlayer(f"cmd:{command('secret')}", env=("AGENT_KEY",))
    assert rows(named, 1)[0].said == "The key is …."
    assert "sk-agent" not in named.name
    with pytest.raises(BadParameter, match="The environment has no NO_SUCH"):
        rows(AgentPlayer(f"cmd:{command('plain')}", env=("NO_SUCH",)), 1)


def test_no_shell_reads_the_command(tmp_path):
    target = tmp_path / "written"
    with pytest.raises(BadServer):
        rows(AgentPlayer(f"cmd:echo hello > {target}; touch {target}"), 1)
    assert not target.exists()


def test_a_command_runs_only_at_the_word_of_the_user(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadParameter, match=r"add `sg\.allow\('cmd:\./agent --x'\)`"):
        make_player("cmd:./agent --x", KUHN)
    with (
        commanding(["--player", "noise(cmd:./agent --xy, p=0.1)"]),
        pytest.raises(BadParameter, match="would run a program"),
    ):
        make_player("cmd:./agent --x", KUHN)
    with commanding(["noise(cmd:./agent --x, p=0.1)"]):
        assert make_player("noise(cmd:./agent --x, p=0.1)", KUHN).name == "noise(cmd:./agent --x, p=0.1)"
    with pytest.raises(BadParameter, match="would run a program"):
        make_player("cmd:./agent --x", KUHN)  # that it was run before allows nothing
    allow("cmd:./other")
    assert make_player("cmd:./other", KUHN)
    with pytest.raises(BadParameter, match="with the environment variables HOME, which neither") as caught:
        make_player("agent(cmd:./other, timeout=2.5, env=[HOME])", KUHN)
    whole = "agent('cmd:./other', env=[HOME])"
    assert f"add `sg.allow({whole!r})`" in str(caught.value)
    allow(whole)
    assert (
        make_player("agent(cmd:./other, timeout=2.5, env=[HOME])", KUHN).name
        == "agent(cmd:./other, timeout=2.5, env=[HOME])"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("cmd:", "An agent needs a command"),
        ("cmd:'open", "cannot be split into words"),
        ("http:ftp://x", "is no address of an agent"),
        ("http:http://user:secret@x/act", "is no address of an agent"),
        ("http:user:secret@x/act", "is no address of an agent"),
        ("http:http://x/act?token=secret", "'http://x/act?…' is no address of an agent"),
        ("http:http://x/act#secret", "is no address of an agent"),
        ("agent(nothing)", "'nothing' is no agent: say cmd:PROGRAM, http:URL or FILE.py:FUNCTION."),
        ("agent()", "it needs agent, as in agent(agent=...)."),
        ("agent(3)", "An agent needs `agent` as a text"),
        ("agent(cmd:x, speed=3)", "An agent has no option speed; its options are timeout, concurrent, env."),
        ("agent(cmd:x, timeout=-1)", "needs `timeout` of at least 0"),
        ("agent(cmd:x, concurrent=1.5)", "needs `concurrent` of at least 0, a whole number"),
        ("agent(http:http://localhost/act, env=[HOME])", "`env` is for a process"),
        ("http:http://example.com/act", "is reached by plain http"),
    ],
)  # fmt: skip
def test_a_wrong_name_of_an_agent_is_one_sentence(text, sentence):
    with commanding([text]), pytest.raises(BadParameter, match=r".+") as caught:
        rows(make_player(text, KUHN), 1)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)


def first(asking):
    return asking["choices"]["actions"][0]


async def last(asking):
    await asyncio.sleep(0)
    return {"action": [asking["choices"]["actions"][-1]]}


def broken(asking):
    raise ValueError(f"no idea about {asking['seat']}")


def slow(asking):
    time.sleep(2)
    return first(asking)


def waiting(asking):
    raise TimeoutError("of its own server")


def test_a_function_is_a_player():
    player = sg.player(first, "kuhn(hands=1)")
    assert {row.action for row in rows(player)} == {"PASS"}
    assert player.name == f"{__name__}.first"
    assert {row.action for row in rows(sg.player(last, KUHN))} == {"BET"}
    assert asked(AgentPlayer(slow, timeout=0.05), episodes=1)["error", "timeout"] >= 1
    assert "raised ValueError: no idea about" in rows(AgentPlayer(broken), 1)[0].said
    assert "raised TimeoutError: of its own server" in rows(AgentPlayer(waiting), 1)[0].said
    assert pickle.loads(pickle.dumps(player)) == player
    with pytest.raises(CannotCompute, match="does not state its probabilities"):
        player.policy(KUHN.start(Key(0)).view(0))
    with pytest.raises(WrongKind):
        sg.player(3, "kuhn")


def test_a_function_of_a_file_is_a_player(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def act(ask):\n    return ask['choices']['actions'][-1]\n")
    player = sg.player("mine.py:act", "kuhn(hands=1)")
    assert player.name == "mine.py:act"
    assert {row.action for row in rows(player)} == {"BET"}
    timed = sg.player("agent(mine.py:act, timeout=3)", "kuhn(hands=1)")
    assert timed.name == "agent(mine.py:act, timeout=3)"
    assert {row.action for row in rows(timed)} == {"BET"}


BETTORS = """
class Bettor:
    def __init__(self, place):
        self.place = place

    def __call__(self, ask):
        return ask["choices"]["actions"][self.place]


first, last = Bettor(0), Bettor(-1)
"""


def test_an_object_of_a_file_that_is_called_is_a_player(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("bettors.py").write_text(BETTORS)
    for name, action in (("first", "PASS"), ("last", "BET")):
        player = sg.player(f"bettors.py:{name}", "kuhn(hands=1)")
        assert player.name == f"bettors.py:{name}"
        assert {row.action for row in rows(player)} == {action}
    with pytest.raises(sg.StratagemError, match=r"the file has .*bettors.py:first, bettors.py:last"):
        sg.player("bettors.py:Bettor", "kuhn(hands=1)")


def test_a_server_is_asked_by_post(monkeypatch):
    monkeypatch.setenv("STRATAGEM_API_KEY", "sk-mine-98765@127.0.0.1")

    def answer(exchange):
        if exchange.number == 2:
            return exchange.send(200, "<html>")
        if exchange.number == 3:
            return exchange.send(400, "no such seat")
        return exchange.send(200, {"action": exchange.body["choices"]["actions"][0] + " sk-mine-98765"})

    with FakeServer(answer) as server:
        url = server.url.removesuffix("/v1") + "/act"
        counts = asked(make_player(f"http:{url}", KUHN), episodes=4)
        assert counts["error", "malformed"] == counts["error", "error"] == 1
        assert server.headers[0]["authorization"] == "Bearer sk-mine-98765"
        with change_terms(timeout=7.0), reading_files(), pytest.raises(BadParameter, match=r"add `sg\.allow\('127"):
            rows(make_player(url, KUHN), 1)
    with (
        change_terms(timeout=8.0),
        pytest.raises(BadServer, match=r"cannot be reached .*: check the address and its key\.$"),
    ):
        rows(make_player(url, KUHN), 1)


def test_an_address_of_models_is_told_how_to_name_one():
    with FakeServer(lambda exchange: exchange.send(404, "Not Found")) as server:
        url = server.url
        with pytest.raises(BadServer, match=rf"; a model behind a server is named api:MODEL@{re.escape(url)}\.$"):
            rows(make_player(f"http:{url}", KUHN), 1)
