"""Texts are spelt so that they read back as themselves after what already stands there."""

import pytest
from worlds import LEFTS, MANY, NAMES, SMALL, tokenizer, train, vocabulary

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Flat
from stratagem.language.decoding.spelling import Unspellable, end_of, spell
from stratagem.language.decoding.stream import TextStream
from stratagem.language.decoding.vocabulary import TokenizersVocabulary, TransformersVocabulary

TEXTS = [*MANY.actions, *(action for choices in SMALL.values() if isinstance(choices, Flat) for action in choices)]


@pytest.mark.parametrize("left", LEFTS)
@pytest.mark.parametrize("name", NAMES)
def test_a_spelling_reads_back_after_what_stands_there(name, left):
    vocab = vocabulary(name)
    before = vocab.encode(left)
    for text, ids in zip(TEXTS, spell(vocab, TEXTS, left), strict=True):
        assert vocab.decode([*before, *ids]) == vocab.decode(before) + text


def test_the_tokenizers_have_the_traps_that_the_tests_are_about():
    spaced, crossing, prefixed = (vocabulary(name) for name in ("spaced", "crossing", "prefixed"))
    assert spaced.encode("PAR") != spaced.encode(" PAR")
    assert any(" " in crossing.decode([token]).strip() for token in range(1, crossing.size))
    assert any("\n" in crossing.decode([token]).strip() for token in range(1, crossing.size))
    assert prefixed.decode(prefixed.encode("PAR")) == " PAR"
    assert crossing.encode("\nA PAR")[0] != crossing.encode("\n")[0], "a line break joins what follows"


def test_a_context_that_stays_as_it_is_gives_the_spelling():
    vocab = vocabulary("spaced")
    assert spell(vocab, [" PAR"], "Move:") == [tuple(vocab.encode("Move: PAR")[len(vocab.encode("Move:")) :])]


def test_what_was_spelt_is_not_encoded_again(monkeypatch):
    vocab = vocabulary("spaced")
    asked = []
    encode_all = vocab.encode_all
    monkeypatch.setattr(vocab, "encode_all", lambda texts: asked.append(list(texts)) or encode_all(texts))
    first = spell(vocab, ["A PAR H", "A BUR H"], "\n")
    assert spell(vocab, ["A BUR H", "A MAR H", "A PAR H"], "\n")[::2] == first[::-1]
    assert asked == [["\nA PAR H", "\nA BUR H"], ["\nA MAR H"]]


def test_many_texts_take_one_batch_each_of_encoding_and_decoding(monkeypatch):
    vocab = vocabulary("spaced")
    sizes = []
    for name in ("encode_all", "decode_all"):
        whole = getattr(vocab, name)
        monkeypatch.setattr(vocab, name, lambda rows, whole=whole: sizes.append(len(rows)) or whole(rows))
    spell(vocab, MANY.actions, "\n")
    assert sizes == [MANY.count, MANY.count]


@pytest.mark.parametrize("text", ["", "<|end|>", "A <|end|> B"])
def test_what_cannot_be_said_is_refused(text):
    with pytest.raises(Unspellable, match="cannot write the action"):
        spell(vocabulary("spaced"), ["A PAR H", text], "\n")


def test_a_tokenizer_that_changes_the_text_is_refused():
    with pytest.raises(Unspellable, match="'COOPERATE'"):
        spell(vocabulary("folding"), ["defect", "COOPERATE"], "\n")


def test_only_the_end_of_the_context_counts():
    assert end_of("x" * 1000 + "\n") == end_of("assistant\n\n") == "\n"
    assert end_of("Move: ") == "Move: "
    assert len(end_of("x" * 1000)) < 20
    assert end_of("") == ""


def test_a_tokenizer_that_pads_is_refused():
    own = train(tokenizer("spaced").pre_tokenizer, tokenizer("spaced").decoder)
    own.enable_padding()
    with pytest.raises(BadParameter, match="no_padding"):
        TokenizersVocabulary(own, end=0)


def test_a_transformers_tokenizer_is_the_same_vocabulary():
    transformers = pytest.importorskip("transformers")
    for name in NAMES:
        wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer(name), eos_token="<|end|>")
        wrapped("something padded", padding="max_length", max_length=99) if wrapped.pad_token else None
        one, two = vocabulary(name), TransformersVocabulary(wrapped)
        assert (two.size, two.end) == (one.size, one.end)
        assert spell(two, TEXTS, "Move:") == spell(one, TEXTS, "Move:")
        assert two.decode(two.encode("a , b")) == one.decode(one.encode("a , b"))
        assert two.decode([one.end]) == one.decode([one.end]) == "<|end|>"
        assert two.encode_all([]) == one.encode_all([]) == []


# --- text as it comes


STREAMED = ["My move: COOPERATE\n", "日本 🂡🂢 Sí", " lead  lead", "🂡" * 20, "", "a\ufffdb"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", STREAMED)
def test_a_stream_gives_the_text_in_pieces(name, text):
    vocab = vocabulary(name)
    before = vocab.encode("Say:\n")
    stream = TextStream(vocab, before)
    ids = vocab.encode(text)
    pieces = [stream.add(token) for token in ids]
    assert "".join(pieces) + stream.rest() == vocab.decode([*before, *ids])[len(vocab.decode(before)) :]
    assert stream.rest() == ""
    if "\ufffd" not in text:
        assert not any("\ufffd" in piece for piece in pieces)


def test_a_stream_of_broken_bytes_is_not_held_back_for_ever(monkeypatch):
    vocab = vocabulary("spaced")
    half = vocab.encode("🂡")[0]
    decode, sizes = vocab.decode, []
    monkeypatch.setattr(vocab, "decode", lambda ids: sizes.append(len(ids)) or decode(ids))
    stream = TextStream(vocab)
    pieces = [stream.add(half) for _ in range(1000)]
    assert len("".join(pieces)) > 900
    assert max(sizes) < 20
