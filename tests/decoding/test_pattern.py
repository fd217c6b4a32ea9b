"""Constrained lines token by token: what is walked is legal, what is legal can be walked, and nothing else."""

import json
import math

import pytest
from worlds import LEFTS, NAMES, PROVINCES, random_walk, vocabulary

from stratagem.games.json_form import json_form
from stratagem.games.key import Key
from stratagem.games.open_text import OpenText
from stratagem.games.templates import template_of
from stratagem.language.decoding.guide_data import GuideReader, guide_data
from stratagem.language.decoding.guides import After, MarkedGuide
from stratagem.language.decoding.pattern import PatternLine, character_tokens

SCHEMA = json_form(
    {
        "type": "object",
        "properties": {
            "intent": {"enum": ["peace", "war", None, 3]},
            "with": {"type": "array", "items": {"enum": ["red", "blue"]}, "minItems": 0, "maxItems": 2},
            "sure": {"type": "integer", "minimum": -1, "maximum": 11},
            "note": {"type": "string", "maxLength": 9},
        },
    }
)
TEMPLATE = template_of("I will {go|go on|stay} to {place}!", {"place": PROVINCES})
CHOICES = OpenText(("SILENT", "TO red: hello"), 0, ("TO ALL: ", "TO red: "), (TEMPLATE, SCHEMA))


@pytest.fixture(params=NAMES)
def vocab(request):
    return vocabulary(request.param)


def walks_to(line, text):
    """A finished walk that writes a text; None where there is none."""
    waiting = [line.start()]
    while waiting:
        cursor = waiting.pop()
        if cursor.done:
            return cursor
        for token in cursor.allowed:
            ahead = cursor.fork()
            ahead.advance(token)
            if text.startswith(ahead.text) and (not ahead.done or ahead.action == text):
                waiting.append(ahead)
    return None


@pytest.mark.parametrize("lead", ["", " "])
@pytest.mark.parametrize("left", LEFTS)
def test_every_walk_ends_in_a_legal_line(vocab, left, lead):
    line = PatternLine(CHOICES, vocab, left, lead)
    kinds = set()
    for seed in range(12):
        cursor = random_walk(line, seed)
        assert cursor.action in CHOICES
        assert cursor.text == lead + cursor.action
        kinds.add("{" in cursor.action)
    assert kinds == {True, False}


def test_every_legal_line_has_a_walk(vocab):
    line = PatternLine(CHOICES, vocab)
    for seed in range(10):
        wanted = CHOICES.sample(Key(seed))
        assert walks_to(line, wanted).action == wanted
    assert walks_to(line, "TO blue: hello") is None


def test_fixed_texts_are_forced_and_fields_are_not(vocab):
    only = OpenText(("SILENT",), 0, (), (TEMPLATE,))
    cursor = PatternLine(only, vocab).start()
    assert not cursor.forced
    cursor.advance(next(token for token in cursor.allowed if vocab.decode([token]).strip().startswith("I")))
    for token in cursor.forced:
        cursor.advance(token)
    assert cursor.text.strip() in ("I will", "I will go")
    while not cursor.done:
        for token in cursor.forced or [cursor.allowed[0]]:
            cursor.advance(token)
    assert cursor.action.endswith("!")


def test_a_string_ends_at_its_limit_and_holds_no_quotation_mark(vocab):
    line = PatternLine(OpenText(("SILENT",), 0, (), (SCHEMA,)), vocab)
    for seed in range(30):
        said = random_walk(line, seed).action
        if said != "SILENT":
            note = json.loads(said)["note"]
            assert len(note) <= 9
            assert not set(note) & set('"\\')


def test_no_marker_of_the_tokenizer_is_a_character(vocab):
    tokens = character_tokens(vocab)
    assert vocab.end not in tokens.lengths
    assert len(tokens.within(0)) == 0
    assert len(tokens.within(1)) < len(tokens.within(50)) == len(tokens.lengths)
    assert not any(set('"\\\n') & set(vocab.decode([token])) for token in tokens.within(50))


def test_what_is_not_allowed_is_refused(vocab):
    cursor = PatternLine(CHOICES, vocab).start()
    with pytest.raises(ValueError, match="not allowed"):
        cursor.advance(vocab.end)
    done = random_walk(PatternLine(CHOICES, vocab), 3)
    assert (done.allowed, done.forced) == ((), [])
    with pytest.raises(ValueError, match="not allowed"):
        done.advance(vocab.end)


def test_where_one_text_begins_another_the_end_is_offered(vocab):
    line = PatternLine(OpenText(("A", "A B"), 0, (), (template_of("A {B C|D}", {}),)), vocab)
    cursor = line.start()
    cursor.advance(cursor.allowed[0])
    assert vocab.end in cursor.allowed
    ended = cursor.fork()
    ended.advance(vocab.end)
    assert (ended.action, cursor.action) == ("A", None)
    assert {random_walk(line, seed).action for seed in range(40)} == {"A", "A B", "A B C", "A D"}


def test_another_process_walks_the_same_line(vocab):
    cursor = PatternLine(CHOICES, vocab, "My move: ", " ").start()
    read = GuideReader(vocab).read(json.loads(json.dumps(guide_data(cursor))))
    for number in range(400):
        assert read.allowed == cursor.allowed
        if cursor.done:
            break
        token = cursor.allowed[Key(2).at(number).integer(len(cursor.allowed))]
        read.advance(token)
        cursor.advance(token)
    assert (read.action, read.done) == (cursor.action, True)


def test_after_a_mark_the_line_is_constrained(vocab):
    def compiled(choices, left, lead):
        return PatternLine(choices, vocab, left, lead)

    guide = MarkedGuide(After(compiled, CHOICES, " "), "Say:", vocab, frozenset({vocab.end}), 50)
    for walked in (guide, GuideReader(vocab).read(guide_data(guide))):
        for token in vocab.encode("Hm. Say:"):
            walked.advance(token)
        while not walked.done:
            walked.advance(walked.forced[0] if walked.forced else walked.allowed[-1])
        assert walked.action in CHOICES


def test_the_walks_of_a_template_are_its_texts(vocab):
    """A template has one walk for each text: the product of its sets."""
    line = PatternLine(OpenText(("SILENT",), 0, (), (template_of("{a|b} {c|d e} {f|g}", {}),)), vocab)
    waiting, found = [line.start()], []
    while waiting:
        cursor = waiting.pop()
        if cursor.done:
            found.append(cursor.action)
        for token in cursor.allowed:
            ahead = cursor.fork()
            ahead.advance(token)
            waiting.append(ahead)
    assert len(found) == len(set(found)) == math.prod((2, 2, 2)) + 1
