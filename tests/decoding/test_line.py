"""Open text token by token: where a line ends, and what it is read as."""

import pytest
from worlds import NAMES, vocabulary

from stratagem.games.open_text import OpenText
from stratagem.language.decoding.guide_data import GuideReader, guide_data
from stratagem.language.decoding.guides import After, Free, MarkedGuide
from stratagem.language.decoding.line import OpenLine
from stratagem.language.decoding.stopping import StopRule

END = 0
CHOICES = OpenText(("SILENT", "I will play C"), 24)


@pytest.fixture(params=NAMES)
def vocab(request):
    return vocabulary(request.param)


def say(guide, tokens):
    """Give tokens to a guide until it is done; return those that are left."""
    left = list(tokens)
    while left and not guide.done:
        guide.advance(left.pop(0))
    return left


def line(vocab):
    return OpenLine(CHOICES, vocab, frozenset({END})).start()


def test_every_token_is_the_models_own(vocab):
    guide = line(vocab)
    assert guide.allowed is None
    assert not guide.forced


def test_a_line_ends_at_the_end_token(vocab):
    guide = line(vocab)
    assert say(guide, [*vocab.encode("A deal?"), END, 5]) == [5]
    assert guide.action == "A deal?"


def test_a_line_ends_at_a_break_and_not_before_its_first_word(vocab):
    guide = line(vocab)
    say(guide, vocab.encode("\n\nA deal?\nAnd more"))
    assert guide.done
    assert guide.action == "A deal?"


def test_the_ready_line_is_read_whatever_its_case(vocab):
    guide = line(vocab)
    say(guide, [*vocab.encode("i will play c"), END])
    assert guide.action == "I will play C"


def test_nothing_said_is_no_line(vocab):
    guide = line(vocab)
    say(guide, [END])
    assert guide.done
    assert guide.action is None


def test_a_line_stops_soon_after_its_limit_and_is_none(vocab):
    guide = line(vocab)
    tokens = vocab.encode("la " * 100)
    assert len(tokens) - len(say(guide, tokens)) <= 24 + 17
    assert guide.done
    assert guide.action is None


def test_a_fork_goes_its_own_way(vocab):
    guide = line(vocab)
    for token in vocab.encode("A"):
        guide.advance(token)
    fork = guide.fork()
    say(guide, [*vocab.encode(" deal?"), END])
    say(fork, [END])
    assert (guide.action, fork.action) == ("A deal?", "A")


def test_another_process_walks_the_same_line(vocab):
    reader = GuideReader(vocab)
    read = reader.read(guide_data(line(vocab)))
    say(read, [*vocab.encode("A deal?"), END])
    assert read.action == "A deal?"


def test_after_a_mark_the_line_is_open(vocab):
    def compiled(choices, left, lead):
        return OpenLine(choices, vocab, frozenset({END}), left)

    guide = MarkedGuide(After(compiled, CHOICES, " "), "Say:", vocab, frozenset({END}), 50)
    for walked in (guide, GuideReader(vocab).read(guide_data(guide))):
        say(walked, [*vocab.encode("Hm. Say:"), *vocab.encode(" A deal?"), END])
        assert walked.action == "A deal?"


def test_free_text_ends_at_a_ready_line_and_goes_on_at_another(vocab):
    guide = Free(StopRule(CHOICES), vocab, frozenset({END}))
    say(guide, vocab.encode("I think.\nSILENT"))
    assert not guide.done
    say(guide, vocab.encode("\n"))
    assert guide.action == "SILENT"
