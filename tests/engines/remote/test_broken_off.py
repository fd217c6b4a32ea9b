"""Paid evaluations that are stopped, killed or failed by their server: nothing that was answered is asked again."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from itertools import product

import pytest
from fake_server import FakeServer

from stratagem.cli.main import main
from stratagem.language.engines.remote.terms import FEW
from stratagem.playing.store import read_episodes

pytestmark = pytest.mark.runs

PORT = [0]
"""The port of all servers, since the deals follow from the players' names, in which it stands."""
MAIN = "from stratagem.cli.main import main; main()"
COMMANDS = {
    "eval": ("eval", "kuhn(hands=2)", "--opponents", "AlwaysBet", "TightPassive", "--no-chance", "--episodes", "6"),
    "tournament": ("tournament", "kuhn(hands=2)", "--no-chance", "--episodes", "4"),
}


def reply(exchange):
    """An action that follows from what was asked."""
    said = json.dumps([exchange.body["messages"], exchange.body["seed"]]).encode()
    offered = ("FOLD", "CALL") if "FOLD" in exchange.body["messages"][-1]["content"] else ("PASS", "BET")
    return offered[blake2b(said, digest_size=1).digest()[0] % 2]


@pytest.fixture(autouse=True)
def no_engine_is_known(as_new_process):
    """A command is a process of its own."""
    as_new_process()


class Server:
    """A server that notes what it has answered, and at one request does something else."""

    def __init__(self, at=0, does=lambda exchange: None):
        self.at, self.does, self.answered, self.number = at, does, Counter(), 0
        self.http = FakeServer(self.answer, PORT[0])
        PORT[0] = self.http.port

    def answer(self, exchange):
        self.number += 1
        if self.number == self.at:
            self.does(exchange)
            return
        asked = json.dumps([exchange.body["messages"], exchange.body["seed"]])
        self.answered[asked] += 1
        exchange.say(reply(exchange))

    def words(self, command, folder, *more):
        players = ("--players" if command == "tournament" else "--player", f"api:m@{self.http.url}")
        others = ("AlwaysBet", "TightPassive") if command == "tournament" else ()
        return [*COMMANDS[command], *players, *others, "--record", str(folder), "--concurrency", "1", *more]

    def __enter__(self):
        self.http.__enter__()
        return self

    def __exit__(self, *_):
        self.http.__exit__()


def run(capsys, words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, " ".join(printed.err.split())


def figures(printed):
    """Return the figures of an evaluation or a tournament, without provenance and times."""
    data = json.loads(printed)
    games = data.get("games", [])
    for row in (row for game in games for row in game["players"]):
        for name in ("ms", "ms_a_decision"):
            (row["replies"] or {}).pop(name, None)
    return [[row["metrics"] for game in games for row in game["players"]], data.get("payoff")]


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The figures of runs that nobody stops, the requests that they need, and their records."""
    found = {}
    for command in COMMANDS:
        folder = tmp_path_factory.mktemp(command) / "record"
        with Server() as server:
            env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
            words = server.words(command, folder, "--json")
            done = subprocess.run([sys.executable, "-c", MAIN, *words], capture_output=True, text=True, env=env)
            assert done.returncode == 0, done.stderr
            found[command] = figures(done.stdout), dict(server.answered), folder
    return found


SOON = {("eval", signal.SIGKILL, 9), ("eval", signal.SIGINT, 25), ("tournament", signal.SIGTERM, 9)}
STOPS = list(product(COMMANDS, (signal.SIGKILL, signal.SIGINT, signal.SIGTERM), (1, 9, 25)))


@pytest.mark.parametrize(
    ("command", "how", "at"), [pytest.param(*stop, marks=[] if stop in SOON else [pytest.mark.long]) for stop in STOPS]
)
def test_stopped_run_goes_on_and_asks_nothing_twice(uninterrupted, tmp_path, capsys, command, how, at):
    started = []
    with Server(at, lambda _: started[0].send_signal(how)) as server:
        words = server.words(command, tmp_path / "record")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        begin = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {MAIN}"
        process = subprocess.Popen(
            [sys.executable, "-c", begin, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
        )
        started.append(process)
        told, said = process.communicate(timeout=60)
        assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143}[how], said
        assert "Traceback" not in said
        if how != signal.SIGKILL:
            assert "Interrupted: these are the figures of" in said
            assert "Continue with: stratagem " in said
            assert ("kuhn(hands=2)" in told) or "no figures yet" in said or "of 0 finished" in said
            assert "kuhn(hands=2)" in told or command == "tournament" or at < 25
        status, printed, _ = run(capsys, [*words, "--json", "--resume"])
    wanted, needed, _ = uninterrupted[command]
    assert status == 0
    assert figures(printed) == wanted
    assert set(server.answered.values()) == {1}, "nothing that was answered was asked again"
    assert set(server.answered) == set(needed)
    assert len({e.id for e in read_episodes(tmp_path / "record")}) == len(list(read_episodes(tmp_path / "record")))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("status", "says"),
    [
        (401, "answered with status 401: key revoked: it takes the key no longer, so nothing more is asked"),
        (402, "it takes the key no longer"),
        (500, "requests to http://127.0.0.1"),
        (403, "--max-failures 0.05 allows a smaller share"),
    ],
)
def test_server_that_fails_stops_the_run_and_is_no_figure(uninterrupted, tmp_path, capsys, command, status, says):
    with Server() as server:
        server.http.answer = lambda exchange: (
            server.answer(exchange) if server.number < 12 else exchange.send(status, {"error": "key revoked"})
        )
        words = server.words(command, tmp_path / "record", "--tries", "1")
        code, printed, said = run(capsys, words)
        assert (code, printed) == (1, "")
        assert says in said
        assert "Continue with: stratagem " in said
        asked = len(server.http.asked)
        assert asked <= 12 + FEW, "a dead server is not asked on and on"
        server.http.answer = server.answer
        code, printed, _ = run(capsys, [*words, "--resume", "--json"])
    assert code == 0
    assert figures(printed) == uninterrupted[command][0]
    assert set(server.answered.values()) == {1}


def test_few_failures_are_borne_and_are_asked_again_only_after_a_stop(tmp_path, capsys):
    with Server(5, lambda exchange: exchange.send(400, "no")) as server:
        words = server.words("eval", tmp_path / "record", "--max-failures", "0.5")
        code, printed, said = run(capsys, words)
        assert code == 0
        assert "status 400" in said
        assert "kuhn" in printed
        before = len(server.http.asked)
        assert run(capsys, [*words, "--resume"])[0] == 0
        assert len(server.http.asked) == before, "a finished evaluation asks nothing"


def evaluation(server, model, folder):
    return [word.replace("api:m@", f"api:{model}@") for word in server.words("eval", folder)]


def audit(server, model, folder):
    return ["audit", f"api:{model}@{server.http.url}", "--games", "kuhn", "--decisions", "297", "--out", str(folder)]


@pytest.mark.parametrize(
    ("words_of", "resume", "then"),
    [
        (evaluation, [], "already holds recorded"),
        (evaluation, ["--resume"], "already holds recorded"),
        (audit, [], "was begun with other settings: player (api:other@"),
    ],
)
def test_a_record_of_nothing_is_no_hindrance(tmp_path, capsys, words_of, resume, then):
    folder = tmp_path / "record"
    with Server() as server:
        server.http.answer = lambda exchange: exchange.send(404, {"error": "there is no such model"})
        code, _, said = run(capsys, words_of(server, "wrong", folder))
        assert (code, "there is no such model" in said) == (2, True)
        server.http.answer = server.answer
        code, _, said = run(capsys, [*words_of(server, "other", folder), *resume])
        assert code == 0, said
        code, _, said = run(capsys, words_of(server, "wrong", folder))
        assert (code, then in said) == (2, True)


def test_options_reach_the_server(tmp_path, capsys):
    with Server() as server:
        server.http.answer = lambda exchange: exchange.send(503, "busy")
        words = server.words("eval", tmp_path / "a", "--tries", "2", "--max-failures", "0")
        assert run(capsys, words)[0] == 1
        assert len(server.http.asked) == 2
        for option, value in (("--tries", "0"), ("--timeout", "-1"), ("--concurrency", "0"), ("--max-failures", "2")):
            code, _, said = run(capsys, [*words, option, value])
            assert code == 2
            assert option.removeprefix("--").split("-")[-1][:5] in said


def test_resume_is_bound_to_what_was_asked_for(uninterrupted, tmp_path, capsys):
    folder = uninterrupted["eval"][2]
    with Server() as server:
        words = server.words("eval", folder, "--resume")
        code, _, said = run(capsys, [*words, "--seed", "1", "--episodes", "7"])
        assert code == 2
        assert "was begun with other settings: episodes (6, and now 7), seed (0, and now 1); give the first" in said
        code, _, said = run(capsys, server.words("eval", tmp_path / "new", "--resume"))
        assert (code, "There is no evaluation to go on with" in said) == (2, True)
        assert "already holds recorded episodes" in run(capsys, words[:-1])[2]
        words = [*COMMANDS["eval"], "--player", "random", "--resume"]
        assert "--resume goes on with a record: name its folder with --record" in run(capsys, words)[2]
        assert server.http.asked == []


@pytest.mark.parametrize("damage", [b"{}\n", b"[]\n", b"\xff\n", b'{"asked": 1}\n', b"[" * 100_000 + b"\n"])
def test_damaged_answers_are_refused_and_a_torn_end_is_cut(tmp_path, damage):
    from stratagem.base.errors import BadRecord
    from stratagem.playing.answers import FILE, Answers

    (tmp_path / FILE).write_bytes(b'{"asked": "x", "base')
    assert len(Answers(tmp_path)) == 0
    assert (tmp_path / FILE).read_bytes() == b""
    (tmp_path / FILE).write_bytes(damage)
    with pytest.raises(BadRecord, match=r"Line 1 of .* is damaged: delete that line"):
        Answers(tmp_path)


def test_figures_of_a_record_are_those_of_the_run(uninterrupted, capsys):
    (wanted, _), _, folder = uninterrupted["eval"]
    code, printed, _ = run(capsys, ["eval", "--from", str(folder), "--json"])
    (metrics,) = json.loads(printed)["games"][0]["players"]
    assert code == 0
    assert metrics["metrics"]["payoff"] == wanted[0]["payoff"]
    assert metrics["metrics"]["payoff"]["n"] == 6
    assert "not_computed" in metrics["exact"]
    told = run(capsys, ["eval", "--from", str(folder), "--all"])[1]
    assert "AlwaysBet" in told
    assert "TightPassive" in told


def test_figures_of_a_tournament_s_record_have_everybody_as_an_agent(uninterrupted, capsys):
    (_, pay), _, folder = uninterrupted["tournament"]
    game = json.loads(run(capsys, ["eval", "--from", str(folder), "--json"])[1])["games"][0]
    rows = {row["player"]: row for row in game["players"]}
    assert len(rows) == 3
    (model,) = (name for name in rows if "api:" in name)
    other = next(one for one in rows[model]["opponents"] if one["opponent"] == "kuhn/AlwaysBet")
    back = next(one for one in rows["kuhn/AlwaysBet"]["opponents"] if one["opponent"] == model)
    assert other["unscaled_payoff"]["mean"] == pytest.approx(-back["unscaled_payoff"]["mean"])
    assert other["unscaled_payoff"]["mean"] == pytest.approx(pay[0][1]["mean"])


def test_record_and_a_new_evaluation_are_not_mixed_up(capsys):
    assert "Name --player, or use --from." in run(capsys, ["eval", "kuhn"])[2]
    assert "Beside --from leave out what has no effect there: suite." in run(capsys, ["eval", "kuhn", "--from", "x"])[2]
    assert "no recorded episodes in x" in run(capsys, ["eval", "--from", "x"])[2]
