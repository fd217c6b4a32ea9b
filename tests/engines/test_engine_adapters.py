"""Adapters in the engine: mixed in a batch or one after the other, changed in place, loaded by path."""

import json
import shutil
from itertools import combinations

import pytest
import torch
from numbered import FREE, Steps, asked, said
from plainly import check_reply, disturb
from safetensors.torch import load_file, save_file

from stratagem.base.errors import StratagemError, UnknownName
from stratagem.games.key import Key
from stratagem.language.engines.base import PolicyNode, Prompt, Request, ScoreRequest
from stratagem.language.engines.catalogue import Transformers
from stratagem.language.engines.open import engine_for
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.engines.weights import BatchWeights, group_rows
from stratagem.language.models.adapter_files import WEIGHTS
from stratagem.language.models.adapters import add_adapter, save_adapter
from stratagem.language.models.load import load
from stratagem.language.models.reference import BUILT_IN, parse_model

NAMES = ("", "one", "two", "three")
PEFT = "base_model.model."
PLAINEST = ["tiny", "tiny-qwen3.5"]
"""One model for each way of reading."""
TARGETS = {"three": ["gate_proj", "o_proj"]}
"""Adapters differ in their ranks, and this one in its layers."""


@pytest.fixture(scope="module")
def manned():
    """The built-in models, each with three adapters that do something."""
    models = {kind: load(kind) for kind in BUILT_IN}
    for lm in models.values():
        for seed, name in enumerate(NAMES[1:], 1):
            add_adapter(lm, name, rank=2 * seed, alpha=8, targets=TARGETS.get(name))
            disturb(lm, name, seed)
    return models


@pytest.fixture(params=PLAINEST)
def engine(request, manned):
    return TransformersEngine(manned[request.param])


def same(some, others):
    assert [said(call) for call in some] == [said(call) for call in others]
    for one, other in zip(some, others, strict=True):
        assert one.sampler_logprobs == pytest.approx(other.sampler_logprobs, abs=1e-4)


@pytest.mark.parametrize(
    ("engine", "names"),
    [*((kind, NAMES) for kind in BUILT_IN), *((kind, ("", "two")) for kind in PLAINEST)],
    indirect=["engine"],
    ids=str,
)
def test_a_batch_of_several_is_the_same_as_one_after_the_other(engine, names):
    """Replies are of all lengths, so that towards the end one adapter's rows are alone."""
    numbers = range(12)
    requests = [asked(engine, n, adapter=names[n % len(names)]) for n in numbers]
    together = engine.answer(requests)
    other = TransformersEngine(engine.lm)
    apart = {}
    for name in names:
        own = [n for n in numbers if names[n % len(names)] == name]
        apart.update(zip(own, other.answer([asked(other, n, adapter=name) for n in own]), strict=True))
    same(together, [apart[n] for n in numbers])
    for call in together[:: len(names) + 1]:
        check_reply(engine.lm, call)


@pytest.mark.parametrize("kind", PLAINEST)
def test_each_row_of_a_pass_is_computed_under_its_own_adapter(manned, kind):
    """In any order, and after a pass of as many rows in another order."""
    lm = manned[kind]
    weights, text = BatchWeights(lm), torch.tensor([[5, 6, 7, 8]])

    def logits(*adapters):
        weights.rows(adapters)
        return lm.model(text.expand(len(adapters), -1)).logits

    alone = {}
    for name in NAMES:
        with torch.inference_mode(), weights.under([name]):
            (alone[name],) = logits(name)
    for one, other in combinations(NAMES, 2):
        assert not torch.allclose(alone[one], alone[other], atol=1e-2)
    with torch.inference_mode(), weights.under(NAMES):
        for names in (
            ("one", "two"),
            ("two", "one"),
            ("two", "one", "one", "two"),
            ("two", "two", "one"),
            ("one", "two"),
            ("one", "three", "two"),
            ("", "one", "one", "two", "three"),
            ("three", "", "one", "three", "", "two"),
            ("", ""),
        ):
            for row, name in zip(logits(*names), names, strict=True):
                assert torch.allclose(row, alone[name], atol=1e-4)


def test_adapters_with_the_same_number_of_rows_are_one_product():
    """Rows without an adapter, of which there are two here, are in none."""
    assert group_rows([-1, 0, 0, 1, 1, 2, -1, 4, 5]) == [(0, 2, 1, 2), (2, 1, 5, 1), (4, 2, 7, 1)]
    assert group_rows([1, 0]) == [(1, 1, 0, 1), (0, 1, 1, 1)]


@pytest.mark.parametrize("alone", ["", "two"])
def test_what_only_one_adapters_prompts_share_is_read_under_it(engine, alone):
    """The shared beginning is then read in a pass of its own, in which no other adapter has a row."""
    head = tuple(range(20, 70))
    texts = [(alone, (*head, n)) for n in range(5)] + [(name, (7, 8)) for name in NAMES if name != alone]
    calls = engine.answer(
        [Request(engine=engine, prompt=Prompt((), t), guide=Steps([FREE]), key=Key(1), adapter=a) for a, t in texts]
    )
    for call in calls:
        check_reply(engine.lm, call)


def test_scores_of_several_adapters_are_their_own(engine):
    requests = [
        ScoreRequest(prompt=Prompt((), (5, 6, 7)), nodes=(PolicyNode((), (8, 9, 10), True),), adapter=name)
        for name in NAMES
    ]
    together = engine.score(requests)
    assert len(set(together)) == len(NAMES)
    other = TransformersEngine(engine.lm)
    for request, scores in zip(requests, together, strict=True):
        assert other.score([request])[0][0] == pytest.approx(scores[0], abs=1e-4)


def test_an_adapter_that_nobody_loaded_is_refused(engine):
    for names in (["nope"], ["one", "nope"], ["", "nope"]):
        with pytest.raises(UnknownName, match="no adapter called 'nope'"):
            engine.answer([asked(engine, 1, adapter=name) for name in names])


def test_without_adapters_a_name_is_refused(tiny):
    engine = TransformersEngine(tiny)
    with pytest.raises(UnknownName, match="no adapter called 'one'"):
        engine.answer([asked(engine, 1), asked(engine, 1, adapter="one")])


# --- weights that change


def test_what_was_computed_under_old_weights_is_dropped_when_they_are_published(engine):
    numbers, lm = range(8), engine.lm
    first = engine.answer([asked(engine, n, adapter="one") for n in numbers])
    base = engine.answer([asked(engine, n) for n in numbers])
    disturb(lm, "one", 99)
    try:
        engine.publish("one", 5)
        second = engine.answer([asked(engine, n, adapter="one") for n in numbers])
        for call in second:
            assert call.policy == (lm.name, "one", 5)
            check_reply(lm, call)
        assert [call.tokens for call in first] != [call.tokens for call in second]
        read = engine.reader.num_tokens
        same(base, engine.answer([asked(engine, n) for n in numbers]))
        if engine.reader.ragged:
            assert engine.reader.num_tokens - read < read / 4
    finally:
        disturb(lm, "one", NAMES.index("one"))


def test_new_weights_hold_in_a_batch_of_several_too(engine):
    lm, requests = engine.lm, lambda: [asked(engine, n, adapter=name) for n in range(3) for name in NAMES]
    first = engine.answer(requests())
    disturb(lm, "two", 98)
    try:
        engine.publish("two", 1)
        second = engine.answer(requests())
        for call in second:
            check_reply(lm, call)
        moved = {
            one.policy.adapter
            for one, two in zip(first, second, strict=True)
            if one.sampler_logprobs != pytest.approx(two.sampler_logprobs, abs=1e-3)
        }
        assert moved == {"two"}
    finally:
        disturb(lm, "two", NAMES.index("two"))


def test_new_weights_of_the_base_are_new_to_every_adapter(engine):
    lm, requests = engine.lm, lambda: [asked(engine, n, adapter=name) for n in range(3) for name in NAMES[:2]]
    engine.answer(requests())
    weight = next(weight for name, weight in lm.model.named_parameters() if name.endswith("norm.weight"))
    saved = weight.clone()
    try:
        weight.mul_(1.7)
        engine.publish("", 2)
        for call in engine.answer(requests()):
            check_reply(lm, call)
            assert call.policy.version == (0 if call.policy.adapter else 2)
    finally:
        weight.copy_(saved)


# --- from folders


@pytest.fixture
def folder(manned, tmp_path):
    """An adapter of tiny, saved."""
    path = tmp_path / "runs, best (1)" / "blue"
    save_adapter(manned["tiny"], "two", path)
    return path


def test_an_adapter_by_path_speaks_as_it_did(manned, folder, tiny):
    fresh, original = TransformersEngine(load("tiny")), TransformersEngine(manned["tiny"])
    name = fresh.load_adapter(str(folder))
    calls = fresh.answer([asked(fresh, n, adapter=name) for n in range(6)])
    expected = original.answer([asked(original, n, adapter="two") for n in range(6)])
    assert [call.tokens for call in calls] == [call.tokens for call in expected]
    plain = TransformersEngine(tiny)
    assert [call.tokens for call in calls] != [c.tokens for c in plain.answer([asked(plain, n) for n in range(6)])]


def test_players_of_one_base_share_its_engine(folder):
    first, again = engine_for(f"tiny+adapter:{folder}"), engine_for(f"tiny+adapter:{folder}")
    assert first == again
    assert first.engine is engine_for("tiny").engine
    assert first.adapter != engine_for("tiny").adapter == ""


def test_adapter_is_loaded_while_replies_are_in_progress(folder):
    heard = []
    for is_loaded in (False, True):
        engine = Transformers().serve(parse_model("tiny"))
        tickets = engine.submit([asked(engine, number) for number in range(6)])
        calls = dict(engine.poll(tickets))
        assert len(calls) < len(tickets)
        if is_loaded:
            engine.load_adapter(str(folder))
        while left := [ticket for ticket in tickets if ticket not in calls]:
            calls.update(engine.poll(left))
        heard.append([(said(calls[ticket]), calls[ticket].sampler_logprobs) for ticket in tickets])
    assert heard[0] == heard[1]


def test_folders_of_the_same_name_are_two_adapters(manned, folder, tmp_path):
    save_adapter(manned["tiny"], "three", tmp_path / "blue")
    engine = TransformersEngine(load("tiny"))
    names = [engine.load_adapter(str(path)) for path in (folder, tmp_path / "blue")]
    calls = engine.answer([asked(engine, 3, adapter=name, guide=Steps([FREE] * 6)) for name in names])
    assert calls[0].tokens != calls[1].tokens


def test_equal_weights_that_count_otherwise_are_two_adapters(folder, tmp_path):
    strong = tmp_path / "blue"
    shutil.copytree(folder, strong)
    config = json.loads((strong / "adapter_config.json").read_text())
    (strong / "adapter_config.json").write_text(json.dumps({**config, "lora_alpha": 10 * config["lora_alpha"]}))
    engine = TransformersEngine(load("tiny"))
    names = [engine.load_adapter(str(path)) for path in (folder, strong)]
    assert names[0] != names[1]
    logprobs = [engine.answer([asked(engine, 3, adapter=name)])[0].sampler_logprobs for name in names]
    assert logprobs[0] != logprobs[1]


def test_copies_of_sets_of_adapters_do_not_pile_up(manned):
    engine = TransformersEngine(manned["tiny"])
    sets = [("", "one"), ("", "two"), ("", "three"), ("one", "two"), ("one", "three"), ("two", "three"), NAMES]
    said_first, said_again = (
        [engine.answer([asked(engine, n, adapter=name) for n, name in enumerate(names)]) for names in sets]
        for _ in range(2)
    )
    assert len(engine.reader.weights.stacks) == 4
    for first, again in zip(said_first, said_again, strict=True):
        assert [call.tokens for call in first] == [call.tokens for call in again]


def test_an_adapter_of_another_base_is_refused(folder):
    engine = TransformersEngine(load("tiny-qwen"))
    with pytest.raises(StratagemError, match=r"was trained on tiny \(.*does not fit tiny-qwen"):
        engine.load_adapter(str(folder))
    assert engine.answer([asked(engine, 1)])[0].finish == "done"


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_an_adapter_without_numbers_is_refused(folder, tmp_path, number):
    """In a batch of several it would reach the others' rows, since nothing times no number is none."""
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    weights = load_file(broken / WEIGHTS)
    last = list(weights)[-1]
    weights[last][0, 0] = float(number)
    save_file(weights, broken / WEIGHTS, metadata={"format": "pt"})
    engine = TransformersEngine(load("tiny"))
    with pytest.raises(StratagemError, match=f"numbers in {last.removeprefix(PEFT)} that are not finite"):
        engine.load_adapter(str(broken))
    assert engine.answer([asked(engine, 1)])[0].finish == "done"


def test_a_player_has_one_adapter(folder):
    with pytest.raises(StratagemError, match="names 2: leave one"):
        engine_for(f"tiny+adapter:a={folder}+adapter:b={folder}")
