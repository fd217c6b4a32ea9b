"""Tables behind the official client of the Model Context Protocol; run by `make test-mcp`, skipped without `mcp`."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from shlex import split

import pytest

import stratagem as sg
from stratagem.measure.audit.card import read_card
from stratagem.playing.store import read_episodes

mcp = pytest.importorskip("mcp")

import httpx2  # noqa: E402 - it comes with mcp
from mcp import Client, StdioServerParameters  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from script_agents import Equilibrium, fold_all  # noqa: E402

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "audit-an-agent-by-mcp.md"
VARIABLES = {name: os.environ[name] for name in ("PATH", "HOME", "PYTHONPATH") if name in os.environ}
KEY = "a-key-of-callers"


def stdio(*words, cwd=None):
    """The command as an agent product starts it."""
    return StdioServerParameters(
        command=sys.executable, args=["-m", "stratagem", *words], env=VARIABLES, cwd=cwd and str(cwd)
    )


async def call(client, tool, **arguments):
    """Call a tool and return its data; the text is there, too, and says the same."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content[0].text
    data = result.structured_content
    assert not data["table"] or data["table"] in result.content[0].text
    return data


async def answer(client, agent, most=10_000):
    """Answer questions until nothing is asked any more, or so many are answered; return the last reply."""
    seen = await call(client, "open_table")
    for _ in range(most):
        if seen["state"] == "over":
            break
        if seen["state"] == "waiting":
            seen = await call(client, "open_table")
        else:
            seen = await call(client, "act", table=seen["table"], question=seen["question"], action=agent(seen))
    return seen


def run(server, work, **options):
    """Run a coroutine function with a client of a server, within a time limit."""

    async def connected():
        async with Client(server, **options) as client:
            return await work(client)

    return asyncio.run(asyncio.wait_for(connected(), 120))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_plays_a_game_over_the_standard_streams(mode, tmp_path):
    async def play(client):
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["rules", "open_table", "observe", "act"]
        assert "Keep the handle" in client.instructions
        seen = await call(client, "open_table")
        assert await call(client, "observe", table=seen["table"]) == seen
        last = await answer_table(client, seen)
        wrong = await client.call_tool("observe", {"table": "guess"})
        assert wrong.is_error
        assert wrong.content[0].text.startswith("There is no table with this handle")
        return last

    last = run(stdio("mcp", "kuhn(hands=2)", "--seed", "5", "--out", "record", cwd=tmp_path), play, mode=mode)
    (episode,) = read_episodes(tmp_path / "record")
    assert (episode.group, episode.payoffs[0]) == ("kuhn(hands=2)/5/0", last["payoff"])
    assert episode.players == ("external@1", "kuhn/NashApprox@1")


async def answer_table(client, seen, agent=fold_all):
    while seen["state"] != "over":
        seen = await call(client, "act", table=seen["table"], question=seen["question"], action=agent(seen))
    return seen


def test_an_agent_is_audited_over_the_standard_streams(tmp_path):
    words = ("mcp", "kuhn", "--audit", "--decisions", "300", "--out", "audit", "--agent", "folder")
    last = run(stdio(*words, cwd=tmp_path), lambda client: answer(client, fold_all))
    card = read_card(tmp_path / "audit")

    def folding(question):
        return fold_all(question)

    direct = sg.audit(folding, games="kuhn", decisions=300, progress=False).card
    ours, expected = card.by_name["kuhn.exploitability"], direct.by_name["kuhn.exploitability"]
    assert (ours.value, ours.lower, ours.upper) == (expected.value, expected.lower, expected.upper)
    assert card.agent == "mcp:folder"
    assert last["answered"] == card.cost.decisions
    assert "exploitability" not in json.dumps(last), "the agent is not told its figures"


def test_an_agent_that_leaves_goes_on_later(tmp_path):
    words = ("mcp", "kuhn", "--audit", "--decisions", "240", "--out", "audit")
    run(stdio(*words, cwd=tmp_path), lambda client: answer(client, Equilibrium(), most=80))
    assert not (tmp_path / "audit" / "card.json").exists()
    last = run(stdio(*words, cwd=tmp_path), lambda client: answer(client, Equilibrium(1)))
    card = read_card(tmp_path / "audit")
    assert last["answered"] == card.cost.decisions - 80
    assert card.by_name["kuhn.exploitability"].lower == 0.0


def test_the_standard_output_belongs_to_the_protocol(tmp_path):
    """A client that speaks no word but closes its end: the card of no audit, one sentence, and no line of ours."""
    words = ("mcp", "kuhn", "--audit", "--decisions", "240", "--out", "audit")
    done = subprocess.run(
        [sys.executable, "-m", "stratagem", *words],
        cwd=tmp_path,
        env=VARIABLES,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == ""
    assert done.returncode == 3
    assert "The agent left before the audit was over. The same command goes on with the audit in audit." in " ".join(
        done.stderr.split()
    )
    assert "Traceback" not in done.stderr


def test_a_client_that_dies_ends_the_server_without_a_traceback():
    process = subprocess.Popen(
        [sys.executable, "-m", "stratagem", "mcp", "kuhn"],
        env=VARIABLES,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):
        for number in range(1000):
            request = {"jsonrpc": "2.0", "id": number, "method": "ping"}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            time.sleep(0.01)
    said = process.stderr.read().decode()
    assert process.wait(20) == 0
    assert "Traceback" not in said


def test_an_audit_that_cannot_begin_says_why_while_the_client_waits(tmp_path):
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "notes.txt").write_text("mine")
    process = subprocess.Popen(
        [sys.executable, "-m", "stratagem", *split("mcp kuhn --audit --decisions 240 --out audit")],
        cwd=tmp_path,
        env=VARIABLES,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    said = " ".join(process.stderr.read().decode().split())
    assert process.wait(20) == 2
    assert said.endswith("audit is there already and holds no audit: choose another folder.")
    process.stdin.close()
    process.stdout.close()


def test_a_request_to_end_records_the_finished_games(tmp_path):
    async def ended():
        async with command(tmp_path, *split("mcp kuhn --port 0 --out record")) as (url, process):
            async with http(url) as client:
                await answer_table(client, await call(client, "open_table"))
            process.send_signal(signal.SIGTERM)
            printed = (await process.stdout.read()).decode()
            return await process.wait(), printed

    status, printed = asyncio.run(asyncio.wait_for(ended(), 60))
    assert (status, printed) == (0, ""), printed
    assert len(list(read_episodes(tmp_path / "record"))) == 1


@asynccontextmanager
async def http(url, key="", mode="auto"):
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as sender,
        Client(streamable_http_client(url, http_client=sender), mode=mode) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_clients_over_http_have_tables_of_their_own(mode):
    with sg.serve_tables("kuhn(hands=1)", opponents="AlwaysBet", seed=5, port=0) as server:

        async def both():
            async with http(server.url, mode=mode) as one, http(server.url, mode=mode) as two:
                first, second = await call(one, "open_table"), await call(two, "open_table")
                assert first["table"] != second["table"]
                over = await answer_table(two, first)  # whoever has the handle may act: there are no sessions
                assert over["state"] == "over"
                assert (await call(one, "observe", table=second["table"]))["state"] == "to act"

        asyncio.run(asyncio.wait_for(both(), 60))


def post(url, key="", **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    sent = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18", **headers}
    if key:
        sent["authorization"] = f"Bearer {key}"
    return httpx2.post(url, json=body, headers=sent)


def test_strangers_are_refused_in_one_sentence(monkeypatch):
    monkeypatch.delenv("STRATAGEM_SERVE_KEY", raising=False)
    with sg.serve_tables("kuhn", port=0) as server:
        assert post(server.url).status_code == 200
        assert post(server.url, host="evil.example").status_code == 421
        assert post(server.url, origin="http://evil.example").status_code == 403
        too_long = httpx2.post(server.url, content=b"x" * (2 << 20), headers={"content-type": "application/json"})
        assert too_long.status_code == 413
    monkeypatch.setenv("STRATAGEM_SERVE_KEY", KEY)
    with sg.serve_tables("kuhn", host="0.0.0.0", port=0) as server:
        url = server.url.replace("0.0.0.0", "127.0.0.1")
        refused = post(url)
        assert refused.status_code == 401
        assert refused.json()["error"] == "The key is missing or wrong: send it as `Authorization: Bearer KEY`."
        assert post(url, key="wrong").status_code == 401
        assert post(url, key=KEY).status_code == 200


@asynccontextmanager
async def command(cwd, *words):
    """A command that serves, and its address."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "stratagem", *words),
        cwd=cwd,
        env=VARIABLES,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        line = (await process.stdout.readline()).decode()
        yield re.search(r"http://\S+/mcp", line)[0], process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            await process.wait()


def test_an_audit_over_http_ends_with_the_status_of_its_condition(tmp_path):
    words = split("mcp kuhn --audit --decisions 240 --out audit --port 0 --concurrency 2 --fail-if")

    async def audit():
        async with command(tmp_path, *words, "kuhn.exploitability.lower > 0.1") as (url, process):
            async with http(url) as client:
                await asyncio.gather(answer(client, fold_all), answer(client, fold_all))
            printed = (await process.stdout.read()).decode()
            return await process.wait(), printed

    status, printed = asyncio.run(asyncio.wait_for(audit(), 120))
    assert status == 1, printed
    assert "an opponent who knows this agent's strategy gains" in printed
    assert (tmp_path / "audit" / "junit.xml").is_file()


def test_an_interrupted_audit_says_how_it_goes_on(tmp_path):
    async def interrupted():
        async with command(tmp_path, *split("mcp kuhn --audit --decisions 240 --out audit --port 0")) as (url, process):
            async with http(url) as client:
                await answer(client, fold_all, most=20)
            process.send_signal(signal.SIGINT)
            printed = (await process.stdout.read()).decode()
            return await process.wait(), printed

    status, printed = asyncio.run(asyncio.wait_for(interrupted(), 60))
    assert status == 130
    assert " ".join(printed.split()) == "Interrupted. The same command goes on with the audit in audit."


def test_a_late_answer_is_no_reply_and_the_audit_goes_on(tmp_path):
    with sg.serve_audit("kuhn", out=tmp_path / "audit", decisions=240, timeout=0.5, port=0, progress=False) as server:

        async def slow_once():
            async with http(server.url) as client:
                seen = await call(client, "open_table")
                await asyncio.sleep(1.0)
                late = await client.call_tool(
                    "act", {"table": seen["table"], "question": seen["question"], "action": "BET"}
                )
                assert "there was no answer within 0.5 s, which counts as no reply" in late.content[0].text
                await answer(client, fold_all)

        asyncio.run(asyncio.wait_for(slow_once(), 60))
        card = server.wait().card
    assert card.cost.failed == 1
    assert card.cost.failure == "The agent gave no answer within 0.5 s."


def test_the_time_of_an_audit_of_600_decisions(tmp_path):
    """The figure of the page; the limit is many times the measured time."""
    begun = time.perf_counter()
    run(
        stdio(*split("mcp kuhn --audit --decisions 600 --out audit"), cwd=tmp_path),
        lambda client: answer(client, Equilibrium()),
    )
    assert time.perf_counter() - begun < 60


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_every_command_of_the_page_runs(tmp_path):
    """Commands that serve are called by an agent as the page says; the others run as they stand."""
    lines = [line for block in blocks("bash") for line in block.splitlines() if line.startswith("stratagem ")]
    served = [split(line)[1:] for line in lines if line.startswith("stratagem mcp")]
    assert len(served) >= 3
    for words in served:
        run_served([*words], tmp_path)
    for line in lines:
        if not line.startswith("stratagem mcp"):
            done = subprocess.run(
                [sys.executable, "-m", *split(line)], cwd=tmp_path, env=VARIABLES, capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr


def run_served(words, folder):
    """Run a command of the page with fewer decisions, and let an agent call it."""
    if "--decisions" in words:
        words[words.index("--decisions") + 1] = "240"
    if "--port" not in words:
        if "--audit" in words:
            run(stdio(*words, cwd=folder), lambda client: answer(client, Equilibrium()))
        else:
            run(stdio(*words, cwd=folder), play_once)
        return
    words[words.index("--port") + 1] = "0"

    async def work():
        async with command(folder, *words) as (url, _), http(url) as client:
            await (answer(client, Equilibrium()) if "--audit" in words else play_once(client))

    asyncio.run(asyncio.wait_for(work(), 120))


async def play_once(client):
    listed = await call(client, "rules")
    assert listed["state"] == "no table"
    return await answer_table(client, await call(client, "open_table", game="kuhn"), Equilibrium())


def test_the_settings_of_the_page_start_a_server(tmp_path):
    """The entry that a product keeps in its file of servers."""
    for block in blocks("json"):
        (entry,) = json.loads(block)["mcpServers"].values()
        assert entry["command"] == "stratagem"
        words = [one.replace("/home/me", str(tmp_path)) for one in entry["args"]]
        run_served(words, tmp_path)


def test_the_program_of_the_page_is_audited(tmp_path, monkeypatch):
    (program,) = blocks("py")
    monkeypatch.chdir(tmp_path)
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "my_agent.py").write_text(program.replace('"600"', '"240"'))
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "stratagem"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m stratagem "$@"\n')
    script.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "my_agent.py"],
        env={**VARIABLES, "PATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert read_card(next(tmp_path.glob("audits/*"))).agent.startswith("mcp:")
