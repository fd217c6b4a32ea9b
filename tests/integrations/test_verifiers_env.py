"""The environment for verifiers as verifiers runs it; run by `make test-verifiers`, skipped where that is missing."""

import asyncio
import json
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path
from shlex import split

import pytest

import stratagem as sg
from stratagem.base.errors import CannotCompute
from stratagem.games.catalogue import GAMES
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Move, Traits

pytest.importorskip("verifiers")

from verifiers.v1.cli.eval.runner import run_eval
from verifiers.v1.configs.cli.eval import EvalConfig
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "engines" / "remote"))
from fake_server import FakeServer  # noqa: E402

WORDS = ("PASS", "BET", "CALL", "FOLD", "C", "D", "1", "2", "3", "nonsense")


def reply_to(text):
    """A reply that follows from the prompt alone; it may be illegal."""
    legal = [word for word in WORDS if f" {word}" in text]
    return f"Let me think.\n{[*legal, 'nonsense'][zlib.crc32(text.encode()) % (len(legal) + 1)]}"


def prompted(exchange):
    return "\n".join(message["content"] for message in exchange.body["messages"])


class Replier:
    """Answers as the server does, without one."""

    name = "replier"
    traits = Traits(memory=None, exact=False)

    def turn(self, ask):
        said = reply_to("\n".join(message.content for message in make_style("plain").messages(ask.view)))
        return Move(ask.view.choices.parse(said).action, "free", said=said)

    def policy(self, view):
        raise CannotCompute("It talks.")


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def server():
    with FakeServer(lambda exchange: exchange.say(reply_to(prompted(exchange)))) as running:
        yield running


def evaluated(server, tmp_path, number, *, game="kuhn", seed=0, rollouts=1, **env):
    """Episodes of verifiers' own evaluation, in the order of the tasks."""
    taskset = {"id": "stratagem-verifiers", "game": game, "seed": seed}
    told = {"env": {"taskset": taskset, **env}, "model": "m", "select": {"limit": number}, "num_rollouts": rollouts}
    client = {"base_url": server.url, "api_key_var": "NO_KEY"}
    told |= {"client": client, "push": False, "rich": None, "output_dir": str(tmp_path / "outputs")}
    return asyncio.run(run_eval(EvalConfig.model_validate(told)))


def played(episodes):
    """Payoffs and moves of each episode."""
    infos = [episode.traces[0].info["stratagem"] for episode in episodes]
    return [info["payoffs"] for info in infos], [[tuple(move) for move in info["moves"]] for info in infos]


def of_match(match):
    rows = [[(row.seat, row.action) for row in episode.decisions] for episode in match.episodes]
    return [episode.payoffs for episode in match.episodes], rows


@pytest.mark.parametrize(
    ("game", "agents", "opponent", "episodes"),
    [
        ("kuhn", 1, "NashApprox", 200),
        ("ipd(rounds=5)", 2, "", 20),
        ("ipd(rounds=5)", 1, "noise(TitForTat, p=0.2)", 20),
        ("public-goods", 2, "random", 12),
        ("tic-tac-toe", 1, "mcts:20", 6),
        ("diplomacy", 2, "random", 1),
    ],
)
def test_keyed_deals_pay_what_play_pays(game, agents, opponent, episodes, server, tmp_path):
    found = evaluated(server, tmp_path, episodes, game=game, seed=7, agents=agents, opponents=opponent)
    assert all(episode.ok for episode in found)
    seats = sg.game(game).spec.seats
    players = [*[Replier()] * agents, *[opponent] * (seats - agents)]
    match = sg.play(game, players, episodes=episodes, seed=7, progress=False)
    assert played(found) == of_match(match)
    for episode, own in zip(found, match.episodes, strict=True):
        rewards = {trace.agent.name: trace.reward for trace in episode.traces}
        assert rewards == {f"player{place}": own.payoffs[own.seat_of(place)] for place in range(agents)}


def test_each_role_has_its_own_seat_reward_and_branches(server, tmp_path):
    episodes = evaluated(server, tmp_path, 2)
    for turn, episode in enumerate(episodes):
        traces = sorted(episode.traces, key=lambda trace: trace.agent.name)
        assert [trace.info["stratagem"]["seat"] for trace in traces] == [turn, 1 - turn]
        assert sum(trace.reward for trace in traces) == 0.0
        for trace in traces:
            assert trace.num_turns == trace.metrics["turns"] == len(trace.branches)
            assert trace.metrics["illegal_turns"] < trace.metrics["turns"]
            for branch in trace.branches:
                assert [message.role for message in branch.messages] == ["system", "user", "assistant"]
    assert episodes[0].traces[0].info["stratagem"]["deal"] == episodes[1].traces[0].info["stratagem"]["deal"]


def test_rollouts_of_a_task_replay_one_deal_from_one_seat(server, tmp_path):
    episodes = evaluated(server, tmp_path, 1, opponents="random", rollouts=3)
    infos = [episode.traces[0].info["stratagem"] for episode in episodes]
    assert len(infos) == 3
    assert infos[0] == infos[1] == infos[2]


def test_role_with_a_model_of_its_own_is_asked_and_does_not_train(server, tmp_path):
    (episode,) = evaluated(server, tmp_path, 1, player1={"model": "frozen"})
    assert {trace.agent.name: trace.agent.trainable for trace in episode.traces} == {"player0": True, "player1": False}
    assert {body["model"] for body in server.asked} == {"m", "frozen"}


def test_agent_at_its_limit_plays_on_without_a_reply(server, tmp_path):
    (episode,) = evaluated(server, tmp_path, 1, opponents="AlwaysBet", player0={"max_turns": 1})
    (trace,) = episode.traces
    assert len(server.asked) == 1
    assert episode.ok
    assert trace.metrics["illegal_turns"] >= trace.metrics["turns"] - 1 > 0


def test_failed_model_fails_the_episode_and_gives_no_reward(tmp_path):
    with FakeServer(lambda exchange: exchange.send(500, {"error": {"message": "broken"}})) as server:
        (episode,) = evaluated(server, tmp_path, 1, opponents="random")
    assert not episode.ok
    assert "player0 failed: upstream 500" in episode.last_error.message
    assert episode.traces[0].rewards == {}


def test_settings_survive_the_way_to_an_environment_server():
    taskset = {"id": "stratagem-verifiers", "game": "public-goods", "style": "reasoned"}
    told = {"taskset": taskset, "agents": 2, "opponents": "random", "player1": {"model": "frozen"}}
    config = resolve_env_config(told)
    again = resolve_env_config(config.model_dump(mode="json"))
    assert again == config
    assert type(load_environment(again)).__name__ == "GameEnv"


def test_sampling_of_the_run_reaches_the_server(server, tmp_path):
    taskset = {"id": "stratagem-verifiers"}
    told = {"env": {"taskset": taskset, "opponents": "random"}, "model": "m", "select": {"limit": 1}, "rich": None}
    told |= {"client": {"base_url": server.url, "api_key_var": "NO_KEY"}, "push": False}
    told |= {"sampling": {"temperature": 0.5, "max_tokens": 9}, "output_dir": str(tmp_path)}
    asyncio.run(run_eval(EvalConfig.model_validate(told)))
    assert {body["temperature"] for body in server.asked} == {0.5}
    assert {body.get("max_completion_tokens", body.get("max_tokens")) for body in server.asked} == {9}


def command(*words, cwd):
    program = Path(sys.executable).with_name("vf-eval")
    env = {**os.environ, "COLUMNS": "300", "NO_COLOR": "1"}
    return subprocess.run([program, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


def episodes_of(folder):
    (path,) = folder.glob("outputs/*/traces.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--env.taskset.game", "kuhm"), "did you mean kuhn"),
        (("--env.taskset.style", "rhyme"), "no prompt style called 'rhyme'"),
        (("--env.opponents", "Nash"), "no player of kuhn called 'Nash'"),
        (("--env.opponents", "human"), "--env.player1.model"),
        (("--env.opponents", "random,random"), "which 1 agents and 2 opponents do not fill"),
        (("--env.agents", "1"), "which 1 agents and 0 opponents do not fill"),
        (("--env.agents", "3"), "which 3 agents and 0 opponents do not fill"),
    ],
)
def test_bad_setting_is_one_sentence(words, sentence, tmp_path):
    done = command("stratagem-verifiers", *words, "-n", "1", "-m", "m", "--no-push", "--no-rich", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert sentence in " ".join(said.replace("│", " ").split())
    assert "Traceback" not in said


PROGRAM = """
import sys, stratagem as sg
with sg.serve(["tiny"], "kuhn", port=0) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def tiny():
    """Address of the model tiny, served by Stratagem in an environment that has torch."""
    python = os.environ.get("STRATAGEM_PYTHON")
    if not python:
        pytest.skip("STRATAGEM_PYTHON names a Python with stratagem[models,serve]")
    process = subprocess.Popen([python, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait(timeout=30)


@pytest.mark.parametrize("game", ["kuhn", "ipd(rounds=3)", "negotiation-v1"])
def test_evaluation_of_verifiers_plays_with_tiny(game, tiny, tmp_path):
    words = ("stratagem-verifiers", "--env.taskset.game", game, "-n", "4", "-m", "tiny", "--sampling.max-tokens", "8")
    server = ("--client.base-url", tiny, "--client.api-key-var", "NO_KEY")
    done = command(*words, *server, "--no-push", "--no-rich", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    episodes = episodes_of(tmp_path)
    assert [episode["ok"] for episode in episodes] == [True] * 4
    traces = [trace for episode in episodes for trace in episode["traces"]]
    assert {trace["agent"]["name"] for trace in traces} == {"player0", "player1"}
    assert all(trace["num_output_tokens"] > 0 for trace in traces)
    assert all(trace["rewards"]["payoff"]["score"] == payoff_of(trace) for trace in traces)


def payoff_of(trace):
    info = trace["info"]["stratagem"]
    return info["payoffs"][info["seat"]]


def test_commands_of_the_page_run(server, tmp_path):
    page = (ROOT / "docs" / "how-to" / "coming-from-verifiers.md").read_text("utf-8")
    text = re.sub(r"\\\n *", "", page)
    lines = [split(line) for line in text.splitlines() if line.startswith("vf-eval")]
    assert len(lines) >= 2
    for number, words in enumerate(lines):
        folder = tmp_path / str(number)
        folder.mkdir()
        here = [server.url if word.startswith("http://localhost") else word for word in words[1:]]
        done = command(*here, "-n", "2", "--no-rich", cwd=folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert [episode["ok"] for episode in episodes_of(folder)] == [True] * 2


@pytest.mark.parametrize("name", sorted(GAMES.keys() - {"matrix"}))
def test_every_game_of_ours_is_an_environment(name, server, tmp_path):
    (episode,) = evaluated(server, tmp_path, 1, game=name)
    assert episode.ok
    assert len(episode.traces) == sg.game(name).spec.seats
