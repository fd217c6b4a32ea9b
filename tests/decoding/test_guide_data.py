"""Guides as data: the guide that another process reads walks as the first one does."""

import json

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Flat, Sheet, Slot
from stratagem.games.key import Key
from stratagem.language.decoding.guide_data import GuideReader, guide_data
from stratagem.language.decoding.guides import After, Free, MarkedGuide, OneToken
from stratagem.language.decoding.stopping import StopRule
from stratagem.language.decoding.walker import Walker
from stratagem.language.engines.local_engine import vocabulary_of
from stratagem.language.models.load import load

FLAT = Flat(("BET", "PASS", "BET 2"))
SHEET = Sheet([Slot("A", ("A PAR - BUR", "WAIVE")), Slot("B", ("F BRE H", "WAIVE")), Slot("C", ("C H",))], fill=2)


@pytest.fixture(scope="module")
def vocabulary():
    lm = load("tiny")
    return vocabulary_of(lm.tokenizer, int(lm.tokenizer.eos_token_id))


def guides(vocabulary):
    compile_ = lambda choices, left, lead: Walker(choices, vocabulary, left, lead)  # noqa: E731
    before = tuple(vocabulary.encode("<think>"))
    yield Walker(FLAT, vocabulary, "Action:", " ").start()
    yield Walker(SHEET, vocabulary).start()
    yield Free(StopRule(FLAT, mid_text=True), vocabulary, frozenset({2, 6}), before)
    yield Free(StopRule(SHEET), vocabulary, frozenset({2}))
    yield MarkedGuide(After(compile_, FLAT, " "), "Action:", vocabulary, frozenset({2}), 5, before)
    yield OneToken()


@pytest.mark.parametrize("number", range(6))
def test_guide_from_data_walks_as_the_guide_itself(vocabulary, number):
    for seed in range(5):
        guide = [*guides(vocabulary)][number]
        other = GuideReader(vocabulary).read(json.loads(json.dumps(guide_data(guide))))
        for place in range(40):
            assert (guide.done, guide.allowed, list(guide.forced)) == (other.done, other.allowed, list(other.forced))
            if guide.done:
                break
            able = list(guide.forced[:1]) or guide.allowed or range(vocabulary.size)
            token = able[Key(seed).at(place).integer(len(able))]
            guide.advance(token)
            other.advance(token)
        assert getattr(guide, "action", None) == getattr(other, "action", None)


def test_data_are_those_before_the_first_token(vocabulary):
    for first, guide in zip(guides(vocabulary), guides(vocabulary), strict=True):
        before = guide_data(first)
        guide.advance((list(guide.forced) or guide.allowed or [7])[0])
        assert guide_data(guide) == before


def test_guide_of_another_class_has_no_data(vocabulary):
    class Own(Flat):
        """It may read replies otherwise."""

    class Mine(OneToken):
        """It may go on."""

    assert guide_data(Mine()) is None
    assert guide_data(Walker(Own(("a", "b")), vocabulary).start()) is None
    assert guide_data(MarkedGuide(lambda text: None, "Action:", vocabulary, frozenset(), 5)) is None
    with pytest.raises(BadParameter, match="no guide of the kind 'nope'"):
        GuideReader(vocabulary).read({"kind": "nope"})
