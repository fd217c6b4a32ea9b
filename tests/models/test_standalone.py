"""Models of our own without transformers: the same numbers, tokens and texts to the last bit."""

import json
import pickle
import random
import shutil
import subprocess
import sys
from copy import deepcopy

import pytest
import torch
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from stratagem.language.engines.catalogue import Transformers
from stratagem.language.engines.plain_reader import PlainReader
from stratagem.language.engines.reader import AdapterText
from stratagem.language.models import load as loading
from stratagem.language.models import standalone_tokenizer
from stratagem.language.models.adapters import add_adapter, save_adapter
from stratagem.language.models.bpe import CHAT
from stratagem.language.models.load import complete_model, load, load_to_serve
from stratagem.language.models.reference import BadModel, parse_model
from stratagem.language.models.standalone import StandaloneLlama
from stratagem.language.models.standalone_tokenizer import StandaloneTokenizer
from stratagem.language.models.tiny import tiny_folder
from stratagem.language.models.tiny_tokenizer import game_texts

DTYPES = ("fp32", "bf16")


def is_standalone(text):
    return isinstance(load_to_serve(text).model, StandaloneLlama)


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(tiny_folder("tiny"), tmp_path / "model")


def change(folder, name, **keys):
    path = folder / name
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["tiny", pytest.param("small", marks=pytest.mark.runs)])
def test_logits_equal_those_of_transformers(name, dtype, tiny):
    whole, own = load(name, dtype=dtype), load_to_serve(name, dtype=dtype)
    assert isinstance(own.model, StandaloneLlama)
    ids = torch.arange(300).reshape(3, 100) % 97
    mask = torch.ones_like(ids)
    mask[1, :20], mask[2, :70] = 0, 0
    padded = {"attention_mask": mask, "position_ids": (mask.cumsum(-1) - 1).clamp(min=0)}
    for options in ({}, padded):
        given = {"input_ids": ids, **options, "use_cache": False, "logits_to_keep": 9}
        assert torch.equal(own.model(**given).logits, whole.model(**given).logits)
    assert (own.stop_ids, own.fingerprint, own.source) == (whole.stop_ids, whole.fingerprint, whole.source)


@pytest.mark.usefixtures("probing_anew")
def test_engine_reads_as_that_of_transformers(tiny):
    own, usual = Transformers().serve(parse_model("tiny")), Transformers().open(tiny)
    assert isinstance(own.lm.model, StandaloneLlama)
    assert own.lm.reading == usual.lm.reading
    assert own.reader.batch_rows.store.groups == usual.reader.batch_rows.store.groups


def test_engine_with_its_own_layers_agrees():
    engine = Transformers(packed_weights_mib=0).serve(parse_model("tiny"))
    assert "by the model's own layers" in engine.lm.reading["rollouts"]


@pytest.mark.filterwarnings("ignore:tiny is read")
def test_engine_that_shares_nothing_reads_by_transformers(monkeypatch):
    def refuse(*_, **__):
        raise RuntimeError("no sharing")

    monkeypatch.setattr("stratagem.language.engines.choose_reader.probe_reader", refuse)
    engine = Transformers().serve(parse_model("tiny"))
    assert not isinstance(engine.lm.model, StandaloneLlama)
    assert isinstance(engine.reader, PlainReader)
    first = engine.reader.read([AdapterText("", (1, 2, 3))])
    assert torch.allclose(first[0], engine.lm.model(input_ids=torch.tensor([[1, 2, 3]])).logits[0, -1], atol=1e-4)


def test_tokens_equal_those_of_transformers(tiny):
    own = load_to_serve("tiny")
    assert len(own.tokenizer) == len(tiny.tokenizer)
    for text in [*game_texts()[::40], "<|end|>", " a  b\n", "\udc80", "🂡", ""]:
        turns = [{"role": "system", "content": text}, {"role": "user", "content": text}]
        assert own.chat_text(turns) == tiny.chat_text(turns)
        assert own.chat(turns) == tiny.chat(turns)
        assert own.after_reply(text) == tiny.after_reply(text)
        tokens = own.chat(turns, reply=False)
        assert own.decode(tokens) == tiny.decode(tokens)


def texts_with_special_tokens():
    """Texts in which special tokens stand beside each other, broken off, and beside spaces and other alphabets."""
    rng = random.Random(1)
    parts = [*"ab 12\n.,é中😀<|>", "  ", "the", "<|us", "<|user|>", "<|end|>", "<|bos|>", "<|pad|>", "<|system|>"]
    return ["".join(rng.choices(parts, k=rng.randrange(30))) for _ in range(1000)]


def test_pieces_between_special_tokens_have_the_tokens_that_they_have_in_the_text():
    tokenizer = load_to_serve("tiny").tokenizer
    for text in [*texts_with_special_tokens(), *game_texts()[:50]]:
        whole = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False).ids
        assert tokenizer.encode(text, add_special_tokens=False) == whole


class CountingTokenizer:
    """Backend of a tokenizer that notes what it encodes."""

    def __init__(self, core):
        self.core, self.encoded = core, []

    def encode(self, text, **options):
        self.encoded.append(text)
        return self.core.encode(text, **options)


def test_piece_that_prompts_have_in_common_is_encoded_once():
    tokenizer = load_to_serve("tiny").tokenizer
    counting = tokenizer.backend_tokenizer = CountingTokenizer(tokenizer.backend_tokenizer)
    asked = [[{"role": "system", "content": "Play well."}, {"role": "user", "content": f"Move {n}."}] for n in range(9)]
    for messages in asked:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        tokenizer.encode(text, add_special_tokens=False)
    assert len(counting.encoded) == len({*counting.encoded})
    assert {"Play well.", *(f"Move {n}." for n in range(9))} <= {*counting.encoded}


def test_kept_pieces_have_a_limit_of_characters_and_tokens(monkeypatch):
    monkeypatch.setattr(standalone_tokenizer, "MOST_KEPT", 1000)
    tokenizer = load_to_serve("tiny").tokenizer
    counting = tokenizer.backend_tokenizer = CountingTokenizer(tokenizer.backend_tokenizer)
    for text in ("a", "b" * 5000, "a", *(f"{n} " * 30 for n in range(50)), "a"):
        assert tokenizer.encode(text, add_special_tokens=False) == counting.core.encode(text).ids
    assert counting.encoded.count("a") == 2, "many pieces empty the store, and one without room does not"
    assert 0 < sum(len(piece) + len(tokens) for piece, tokens in tokenizer.kept.items()) <= 1000


def test_tokenizer_can_be_pickled_and_copied():
    tokenizer = load_to_serve("tiny").tokenizer
    tokens = tokenizer.encode("<|bos|>Play well.", add_special_tokens=False)
    for other in (pickle.loads(pickle.dumps(tokenizer)), deepcopy(tokenizer)):
        assert other.encode("<|bos|>Play well.", add_special_tokens=False) == tokens


@pytest.mark.parametrize(
    ("token", "steps", "normalizer"),
    [
        (AddedToken("<x>", special=True, lstrip=True), [], None),
        (AddedToken("<x>", special=True, rstrip=True), [], None),
        (AddedToken("<x>", special=True, single_word=True), [], None),
        (AddedToken("<x>", special=False), [], None),
        (AddedToken("<x>", special=True), [], normalizers.Prepend("a")),
        (AddedToken("<x>", special=True), [pre_tokenizers.ByteLevel(add_prefix_space=True)], None),
    ],
    ids=["space before", "space after", "whole words", "no special token", "prefix", "prefix space"],
)
def test_text_is_encoded_as_a_whole_where_a_piece_depends_on_what_is_around_it(token, steps, normalizer):
    core = Tokenizer.from_str(load_to_serve("tiny").tokenizer.backend_tokenizer.to_str())
    core.add_tokens([token])
    if steps:
        core.pre_tokenizer = pre_tokenizers.Sequence(steps)
    if normalizer is not None:
        core.normalizer = normalizer
    tokenizer, text = StandaloneTokenizer(core, "<|eos|>"), "Play <x> well.<|end|><x>Play<x>well.<|end|>"
    assert tokenizer.encode(text, add_special_tokens=False) == core.encode(text, add_special_tokens=False).ids


def test_text_is_encoded_as_a_whole_where_its_beginning_differs_from_that_of_a_piece():
    core = Tokenizer(models.WordLevel({"<x>": 0, "▁a": 1, "a": 2, "?": 3}, unk_token="?"))
    core.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    core.add_special_tokens([AddedToken("<x>", special=True, normalized=False)])
    assert StandaloneTokenizer(core, "<x>").encode("a<x>a", add_special_tokens=False) == [1, 0, 2]


def test_chat_refuses_roles_as_the_template_does(tiny):
    said = []
    for model in (load_to_serve("tiny"), tiny):
        with pytest.raises(BadModel) as caught:
            model.chat_text([{"role": "tool", "content": "?"}])
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("config.json", {"attention_bias": True}),
        ("config.json", {"rope_parameters": {"rope_theta": 10000.0, "rope_type": "linear", "factor": 2.0}}),
        ("config.json", {"sliding_window": 4}),
        ("config.json", {"model_type": "mistral"}),
        ("config.json", {"num_hidden_layers": 3}),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}),
        ("tokenizer_config.json", {"clean_up_tokenization_spaces": True}),
        ("tokenizer_config.json", {"split_special_tokens": True}),
        ("tokenizer_config.json", {"eos_token": "a"}),
        ("tokenizer_config.json", {"extra_special_tokens": ["<|system|>", "Game"]}),
    ],
)
def test_other_folders_are_left_to_transformers(folder, name, keys):
    assert is_standalone(f"dir:{folder}")
    change(folder, name, **keys)
    assert loading.standalone_parts(parse_model(f"dir:{folder}"), folder, "cpu", "fp32") is None


def test_other_templates_are_left_to_transformers(folder):
    (folder / "chat_template.jinja").write_text(CHAT + " ")
    assert not is_standalone(f"dir:{folder}")


@pytest.mark.parametrize("name", ["adapter_config.json", "added_tokens.json", "special_tokens_map.json"])
def test_folders_with_files_that_change_a_model_are_left_to_transformers(folder, name):
    (folder / name).write_text("{}")
    assert loading.standalone_parts(parse_model(f"dir:{folder}"), folder, "cpu", "fp32") is None


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("config.json", {"hidden_size": -128}),
        ("tokenizer.json", {"model": {"type": "Nothing"}}),
        ("generation_config.json", "{"),
        ("chat_template.jinja", b"\xff"),
    ],
)
def test_damaged_folders_are_refused_or_read_as_by_transformers(folder, name, keys):
    if isinstance(keys, dict):
        change(folder, name, **keys)
    else:
        (folder / name).write_bytes(keys.encode() if isinstance(keys, str) else keys)
    said = []
    for read in (load_to_serve, load):
        try:
            said.append(sorted(read(f"dir:{folder}").stop_ids))
        except BadModel as error:
            said.append(str(error))
    assert said[0] == said[1]


def test_weights_that_are_not_finite_are_refused(folder):
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"][3] = float("nan")
    save_file(weights, folder / "model.safetensors")
    with pytest.raises(BadModel, match=r"numbers in model\.norm\.weight that are not finite"):
        load_to_serve(f"dir:{folder}")


def test_adapter_loads_the_whole_model(tmp_path):
    own = load("tiny")
    add_adapter(own, "one", rank=2, alpha=4)
    save_adapter(own, "one", tmp_path / "one")
    engine = Transformers().serve(parse_model("tiny"))
    before = engine.reader
    name = engine.load_adapter(str(tmp_path / "one"))
    assert name.startswith("one-")
    assert name in engine.lm.model.peft_config
    assert engine.reader is not before
    assert not complete_model(engine.lm)


@pytest.mark.runs
def test_evaluation_imports_no_transformers():
    program = (
        "import sys; import stratagem as sg; sg.evaluate('kuhn', 'tiny', episodes=4);"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'transformers', 'peft', 'sympy'}))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"
