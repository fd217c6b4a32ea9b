"""Tasks for inspect as inspect runs them; run by `make test-inspect`, skipped where inspect is not installed."""

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
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Move, Traits

inspect_ai = pytest.importorskip("inspect_ai")

from inspect_ai.log import read_eval_log  # noqa: E402 - inspect may be missing
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402

from stratagem.connect.inspect.tasks import TASKS  # noqa: E402

REMOTE = Path(__file__).parents[1] / "engines" / "remote"
sys.path.append(str(REMOTE))
from fake_server import FakeServer  # noqa: E402

ROOT = Path(__file__).parents[2]
WORDS = ("PASS", "BET", "CALL", "FOLD", "C", "D", "1", "2", "3", "nonsense")


def reply_to(text):
    """A reply that follows from the prompt alone; it may be illegal."""
    number = zlib.crc32(text.encode())
    legal = [word for word in WORDS if f" {word}" in text]
    return f"Let me think.\n{[*legal, 'nonsense'][number % (len(legal) + 1)]}"


def prompted(messages):
    return "\n".join(message.text for message in messages)


def mock(input, tools, tool_choice, config):  # noqa: A002 - inspect names it so
    output = ModelOutput.from_content("mockllm/model", reply_to(prompted(input)))
    output.usage = ModelUsage(input_tokens=9, output_tokens=4, total_tokens=13)  # else a tokenizer is loaded
    return output


def evaluated(task, tmp_path, answers=mock, **options):
    """The log of a task that the mock model was evaluated in."""
    model = get_model("mockllm/model", custom_outputs=answers, memoize=False)
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(tmp_path), display="none", **options)
    assert log.status == "success", log.error
    return read_eval_log(log.location, resolve_attachments=True)


class Replier:
    """Answers as the mock model does, without an engine."""

    name = "replier"
    traits = Traits(memory=None, exact=False)

    def __init__(self, style="plain"):
        self.style = make_style(style)

    def turn(self, ask):
        said = reply_to("\n".join(message.content for message in self.style.messages(ask.view)))
        return Move(ask.view.choices.parse(said).action, "free", said=said)

    def policy(self, view):
        raise CannotCompute("It talks.")


def figures(log):
    """Metrics of the only scorer by name."""
    (score,) = log.results.scores
    return {name: metric.value for name, metric in score.metrics.items()}


def played(log):
    """Payoffs and moves of each episode, in the order of the data set."""
    episodes = [sample.store["episode"] for sample in log.samples]
    rows = [[(row["seat"], row["action"]) for row in episode["decisions"]] for episode in episodes]
    return [episode["payoffs"] for episode in episodes], rows


def of_match(match):
    rows = [[(row.seat, row.action) for row in episode.decisions] for episode in match.episodes]
    return [episode.payoffs for episode in match.episodes], rows


@pytest.mark.parametrize(
    ("game", "opponent", "episodes"),
    [
        ("kuhn", "NashApprox", 200),
        ("ipd", "noise(TitForTat, p=0.2)", 40),
        ("public-goods", "random", 20),
        ("auction", "random", 10),
        ("tic-tac-toe", "mcts:20", 10),
        ("diplomacy", "dumbbot", 1),
    ],
)
def test_keyed_deals_pay_what_play_pays(game, opponent, episodes, tmp_path):
    log = evaluated(f"stratagem/{game}", tmp_path, task_args={"opponents": opponent, "episodes": episodes, "seed": 7})
    seats = sg.game(game).spec.seats
    match = sg.play(game, [Replier(), *[opponent] * (seats - 1)], episodes=episodes, seed=7, progress=False)
    order = {episode.id: number for number, episode in enumerate(match.episodes)}
    log.samples.sort(key=lambda sample: order[sample.store["episode"]["id"]])
    assert played(log) == of_match(match)
    assert figures(log)["payoff"] == match.totals()[0].payoff.mean


def test_episode_that_a_limit_stops_has_no_score(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 20}, token_limit=110)
    kept = [sample for sample in log.samples if sample.limit is None]
    assert 0 < len(kept) < 20
    stopped = next(sample for sample in log.samples if sample.limit is not None)
    assert "no score" in stopped.scores["payoff"].explanation
    payoffs = [sample.scores["payoff"].metadata["payoff"] for sample in kept]
    assert figures(log)["payoff"] == pytest.approx(sum(payoffs) / len(payoffs) / 6)


def test_samples_and_rounds_are_clustered_by_deal(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 20})
    found = figures(log)
    assert found["deals"] == 10.0
    assert found["payoff_low"] < found["payoff"] < found["payoff_high"]
    assert found["exploitability_lower_bound"] == -found["payoff"]
    assert 0.0 < found["illegal_low"] < found["illegal"] < found["illegal_high"]
    assert found["chance"] == sg.play("kuhn", "random", episodes=20, progress=False).totals()[0].payoff.mean


def test_epochs_are_further_deals(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 4}, epochs=3)
    assert figures(log)["deals"] == 6.0
    assert len({sample.store["episode"]["key"] for sample in log.samples}) == 6


def test_several_opponents_play_the_same_deals(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"opponents": ["NashApprox", "AlwaysBet"], "episodes": 4})
    found = figures(log)
    assert {"payoff against NashApprox", "payoff against AlwaysBet"} <= found.keys()
    assert found["deals"] == 2.0


def test_one_seat_needs_no_opponent(tmp_path):
    log = evaluated("stratagem/quiz", tmp_path, task_args={"episodes": 2})
    assert figures(log)["deals"] == 2.0


def test_role_takes_the_other_seats(tmp_path):
    other = get_model("mockllm/model", custom_outputs=mock, memoize=False)
    log = evaluated("stratagem/ipd", tmp_path, task_args={"episodes": 2}, model_roles={"opponent": other})
    assert played(log) == of_match(sg.play("ipd", [Replier(), Replier()], episodes=2, progress=False))
    assert "chance" not in figures(log)
    assert log.samples[0].metadata["opponent"] == "model"
    roles = {event.role for event in log.samples[0].events if event.event == "model"}
    assert roles == {None, "opponent"}


def test_evaluated_model_may_play_itself(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"opponents": "model", "episodes": 2})
    assert played(log) == of_match(sg.play("kuhn", [Replier(), Replier()], episodes=2, progress=False))


def test_transcript_is_legible(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"opponents": "NashApprox", "episodes": 2})
    sample = log.samples[0]
    roles = [message.role for message in sample.messages]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2)]
    assert len(roles) > 3
    turns = [row for row in sample.store["episode"]["decisions"] if row["slot"] == 0]
    assert len(turns) == roles.count("assistant")
    (told,) = [event.data for event in sample.events if event.event == "info" and event.source == "stratagem"]
    assert told.count("\n| ") == len(sample.store["episode"]["decisions"]) + 1
    assert r"kuhn/NashApprox\@1" in told
    assert sample.output.completion == sample.messages[-1].text
    assert sample.scores["payoff"].value.keys() == {"payoff", "illegal"}
    assert "turns without a legal action" in sample.scores["payoff"].explanation
    assert sample.input.startswith("kuhn, seat 0 against NashApprox")


def test_seed_gives_each_request_its_own(tmp_path):
    log = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 4}, seed=5)
    again = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 4}, seed=5)
    other = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 4}, seed=6)
    plain = evaluated("stratagem/kuhn", tmp_path, task_args={"episodes": 4})
    assert len(set(seeds(log))) > len(seeds(log)) / 2 > 8  # episodes of one deal share the draws of one turn
    assert all(len({*seeds_of(sample)}) == len(seeds_of(sample)) for sample in log.samples)
    assert sorted(seeds(log)) == sorted(seeds(again)) != sorted(seeds(other))
    assert set(seeds(plain)) == {None}


def seeds(log):
    return [seed for sample in log.samples for seed in seeds_of(sample)]


def seeds_of(sample):
    return [event.config.seed for event in sample.events if event.event == "model"]


@pytest.mark.parametrize("reason", ["content_filter", "max_tokens", "stop"])
def test_reason_of_a_reply_to_end_is_recorded(reason, tmp_path):
    def bets(input, tools, tool_choice, config):  # noqa: A002 - inspect names it so
        output = ModelOutput.from_content("mockllm/model", "BET", stop_reason=reason)
        output.usage = ModelUsage(input_tokens=9, output_tokens=4, total_tokens=13)
        return output

    log = evaluated("stratagem/game", tmp_path, bets, task_args={"game": "kuhn(hands=1)", "episodes": 2})
    first = next(row for row in log.samples[0].store["episode"]["decisions"] if row["slot"] == 0)
    assert first["how"] == ("illegal" if reason == "content_filter" else "free")


def command(*words, cwd, **environment):
    program = Path(sys.executable).with_name("inspect")
    env = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", "INSPECT_DISPLAY": "plain", **environment}
    return subprocess.run([program, *words], cwd=cwd, env=env, capture_output=True, text=True, check=False)


@pytest.fixture
def server():
    with FakeServer(lambda exchange: exchange.say(reply_to(exchange.body["messages"][-1]["content"]))) as running:
        yield running


MODEL = "openai-api/local/m"


def inspect(server, folder, *words):
    """Run a command of inspect with the server of that model; it must succeed."""
    done = command(*words, cwd=folder, LOCAL_API_KEY="none", LOCAL_BASE_URL=server.url)
    assert done.returncode == 0, done.stdout + done.stderr


def only_log(folder):
    (path,) = (folder / "logs").glob("*.eval")
    return path


def dumped(folder):
    """The log of a folder, as the viewer reads it."""
    done = command("log", "dump", str(only_log(folder)), cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_inspect_eval_plays_a_server_by_name(server, tmp_path):
    options = ["-T", "opponents=NashApprox,AlwaysBet", "-T", "episodes=4", "--temperature", "0.5", "--max-tokens", "50"]
    inspect(server, tmp_path, "eval", "stratagem/kuhn", "--model", MODEL, *options)
    log = dumped(tmp_path)
    assert log["status"] == "success"
    assert log["eval"]["task"] == "stratagem/kuhn"
    assert log["eval"]["task_args_passed"] == {"opponents": ["NashApprox", "AlwaysBet"], "episodes": 4}
    assert {"payoff", "payoff_low", "payoff_high", "illegal", "chance", "deals"} <= log["results"]["scores"][0][
        "metrics"
    ].keys()
    assert len(log["samples"]) == 8
    assert {(body["temperature"], body["max_tokens"]) for body in server.asked} == {(0.5, 50)}
    again = ("--scorer", "stratagem/payoff", "--action", "overwrite", "--overwrite")
    inspect(server, tmp_path, "score", str(only_log(tmp_path)), *again)
    assert dumped(tmp_path)["results"]["scores"][0]["metrics"] == log["results"]["scores"][0]["metrics"]


def test_bot_behind_stratagem_serve_plays_through_inspect_as_it_plays(tmp_path):
    with sg.serve("AlwaysBet", "kuhn", port=0) as served:
        words = ("stratagem/kuhn", "-T", "opponents=NashApprox", "-T", "episodes=10")
        inspect(served, tmp_path, "eval", *words, "--model", "openai-api/local/AlwaysBet")
    match = sg.play("kuhn", ["AlwaysBet", "NashApprox"], episodes=10, progress=False)
    log = dumped(tmp_path)
    assert log["results"]["scores"][0]["metrics"]["payoff"]["value"] == match.totals()[0].payoff.mean
    paid = {sample["store"]["episode"]["id"]: sample["store"]["episode"]["payoffs"] for sample in log["samples"]}
    assert paid == {episode.id: episode.payoffs for episode in match.episodes}


def test_inspect_eval_of_any_game_with_a_model_as_opponent(server, tmp_path):
    words = ("stratagem/game", "-T", "game=ipd(rounds=3, continuation=0.5)", "-T", "episodes=2")
    role = ("--model-role", "opponent=openai-api/local/other")
    inspect(server, tmp_path, "eval", *words, "--model", MODEL, *role)
    assert dumped(tmp_path)["eval"]["metadata"]["game"].startswith("ipd(")
    assert {body["model"] for body in server.asked} == {"m", "other"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("stratagem/kuhn", "-T", "opponents=Nash"), "no player of kuhn called 'Nash'"),
        (("stratagem/kuhn", "-T", "opponents=human"), "--model-role opponent=MODEL"),
        (("stratagem/kuhn", "-T", "episodes=0"), "`episodes` of at least 1"),
        (("stratagem/game", "-T", "game=kuhm"), "did you mean kuhn"),
        (("stratagem/game", "-T", "game='[bold]kuhm[/red]\u202e'"), "'[bold]kuhm[/red]\\u202e'"),
        (("stratagem/game",), "-T game=NAME"),
    ],
)
def test_bad_option_is_one_sentence_and_no_traceback(words, sentence, tmp_path):
    done = command("eval", *words, "--model", "mockllm/model", cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert sentence in " ".join(said.split())
    assert "Traceback" not in said


def test_failure_of_the_server_is_an_error_of_the_sample_and_a_retry_mends_it(server, tmp_path):
    well, server.answer = server.answer, lambda exchange: exchange.send(400, {"error": {"message": "no such model"}})
    words = ("eval", "stratagem/kuhn", "--model", MODEL, "-T", "episodes=2", "-T", "seed=3")
    done = command(*words, cwd=tmp_path, LOCAL_API_KEY="none", LOCAL_BASE_URL=server.url)
    assert "no such model" in done.stdout + done.stderr
    broken = only_log(tmp_path)
    log = dumped(tmp_path)
    assert (log["status"], "results" in log) == ("error", False)
    server.answer = well
    inspect(server, tmp_path, "eval-retry", str(broken))
    broken.unlink()
    log = dumped(tmp_path)
    assert log["status"] == "success"
    assert {sample["metadata"]["deal"] for sample in log["samples"]} == {"kuhn/3/0"}


def test_commands_of_the_page_run(server, tmp_path):
    page = (ROOT / "docs" / "how-to" / "coming-from-inspect.md").read_text("utf-8")
    lines = [split(line) for line in page.splitlines() if line.startswith("inspect eval")]
    assert len(lines) >= 3
    for number, words in enumerate(lines):
        folder = tmp_path / str(number)
        folder.mkdir()
        here = [re.sub(r"(openai|anthropic)/", "openai-api/local/", word) for word in words[1:]]
        inspect(server, folder, *here, "--limit", "2")
        assert dumped(folder)["status"] == "success"


@pytest.mark.parametrize("name", sorted(TASKS))
def test_every_game_of_ours_is_a_task(name, tmp_path):
    log = evaluated(f"stratagem/{name}", tmp_path, task_args={"episodes": 1})
    assert log.eval.metadata["game"] == name
    assert figures(log)["deals"] == 1.0
