"""A whole match against `transformers serve`, a real server of the chat protocol, with the tiny model behind it."""

import sys
from importlib.util import find_spec

import pytest
from servers import free_port, running

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import Request, Sampling
from stratagem.language.engines.openai_engine import OpenAIEngine
from stratagem.language.engines.remote.mistakes import BadServer
from stratagem.language.models.tiny import tiny_folder
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, record

MISSING = [name for name in ("torch", "transformers", "fastapi", "uvicorn", "openai") if find_spec(name) is None]
pytestmark = [
    pytest.mark.runs,
    pytest.mark.skipif(bool(MISSING), reason=f"transformers serve needs {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The folder of the tiny model, in a cache of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STRATAGEM_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield str(tiny_folder("tiny"))


@pytest.fixture(scope="module")
def url(model, tmp_path_factory):
    """The address of the running server."""
    port = free_port()
    serve = [sys.executable, "-m", "transformers.cli.transformers", "serve", model]
    settings = ["--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--dtype", "float32"]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    with running(serve + settings, log=log, ready=f"http://127.0.0.1:{port}/health", seconds=120):
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def asked(engine, text, max_new_tokens):
    """A request at temperature 0, whose guide no server obeys."""
    prompt = engine.begin((("system", "You play Kuhn poker."), ("user", text)))
    cold = Sampling(temperature=0.0)
    return Request(engine=engine, prompt=prompt, guide=None, key=Key(1), sampling=cold, max_new_tokens=max_new_tokens)


def test_replies_are_those_of_the_model(model, url):
    """The server and the weights loaded here say the same, token for token."""
    import torch

    from stratagem.language.models.load import load

    local, engine = load(f"dir:{model}"), OpenAIEngine(f"api:{model}@{url}")
    texts = ["Your card is K.", "Your card is J. The other player bet. What do you do?"]
    calls = engine.answer([asked(engine, text, 12) for text in texts])
    for text, call in zip(texts, calls, strict=True):
        messages = [{"role": "system", "content": "You play Kuhn poker."}, {"role": "user", "content": text}]
        prompt = local.encode(local.chat_text(messages))
        row = local.model.generate(torch.tensor([prompt]), max_new_tokens=12, do_sample=False)[0, len(prompt) :]
        assert call.text == local.decode(row.tolist())
        assert (call.num_prompt, call.num_reply) == (len(prompt), len(row))
        assert call.finish == ("length" if len(row) == 12 else "done")
    assert engine.tally.num_requests == 2


def test_a_whole_match_is_played_and_recorded(model, url, tmp_path):
    game = make_game("kuhn(hands=2)")
    name = f"api:{model}@{url}"
    players = [make_player(f"lm('{name}', max_new_tokens=6)", game), make_player("NashApprox", game)]
    setups = rotate_seats(Match(game, players), 2, Key(7), name="served")
    episodes = list(record(play(setups), tmp_path / "run"))
    assert list(read_episodes(tmp_path / "run")) == episodes
    for episode in episodes:
        assert episode.finished
        assert len(episode.rounds) == 2
        own = [row for row in episode.decisions if row.slot == 0]
        assert own
        for row in own:
            (call,) = row.calls
            assert call.policy.base == name
            assert call.finish in ("length", "done")
            assert 0 < call.num_reply <= 6
            assert row.how in ("free", "illegal")
            assert (row.action is None or row.how == "free") or row.said == call.text


def test_a_model_that_the_server_does_not_have_is_named(url):
    engine = OpenAIEngine(f"api:nothing-of-the-kind@{url}")
    with pytest.raises(BadServer, match=r"status 400: Server is pinned to .*; requested 'nothing-of-the-kind'"):
        engine.answer([asked(engine, "?", 1)])


def test_a_wrong_path_is_named(model, url):
    engine = OpenAIEngine(f"api:{model}@{url.removesuffix('/v1')}")
    with pytest.raises(BadServer, match=r"status 404.*which often ends in /v1\.$"):
        engine.answer([asked(engine, "?", 1)])
