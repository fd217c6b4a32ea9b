"""Every kind of question against an answer worked out from its words alone."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from stratagem.base.errors import UnknownName
from stratagem.games import Key, make_game
from stratagem.games.quiz import KINDS
from stratagem.games.quiz.questions import LETTERS

MANY = 300


def items(kind):
    return [KINDS[kind](Key(number)) for number in range(MANY)]


def arithmetic(question):
    said = question.removeprefix("What is ").removesuffix("?")
    assert re.fullmatch(r"[\d()+*\- ]+", said)
    return str(eval(said))


def tracking(question):
    holds = dict(re.findall(r"(\w+) has the ([a-z ]+)\.", question))
    for first, second in re.findall(r"(\w+) and (\w+) swap\.", question):
        holds[first], holds[second] = holds[second], holds[first]
    return holds[re.search(r"What does (\w+) have", question)[1]]


def counting(question):
    listed = {kind: int(count) for count, kind in re.findall(r"(\d) ([a-z]+ [a-z]+?)s?(?=,|\.)", question)}
    first, second = re.search(r"How many ([a-z ]+)s and ([a-z ]+)s are", question).groups()
    return str(listed[first] + listed[second])


def sequence(question):
    """The next number where steps are equal, grow equally, or double."""
    shown = [int(number) for number in re.findall(r"\d+", question)]
    if all(after == 2 * before for before, after in pairwise(shown)):
        return str(2 * shown[-1])
    steps = [after - before for before, after in pairwise(shown)]
    return str(shown[-1] + 2 * steps[-1] - steps[-2])


def temporal(question):
    asked = re.search(r"When was it that (\w+) (.+)\?", question)[2]
    return re.search(rf"From (\d+ to \d+) \w+ {asked}\.", question)[1]


ANSWERS = {
    "arithmetic": arithmetic,
    "tracking": tracking,
    "counting": counting,
    "sequence": sequence,
    "temporal": temporal,
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_answer_is_right_and_stands_anywhere(kind):
    asked = items(kind)
    for question, answers, right in asked:
        assert len(set(answers)) == len(answers) == len(LETTERS)
        assert answers[right] == ANSWERS[kind](question)
    places = Counter(item.right for item in asked)
    assert min(places.values()) > MANY / 4 - 35
    assert len({item.question for item in asked}) > 0.6 * MANY


def test_a_point_for_each_right_answer_and_none_for_silence():
    state = make_game("quiz(rounds=6)").start(Key(4))
    paid = []
    for number in range(6):
        right = LETTERS[state.item[2]]
        wrong = next(letter for letter in LETTERS if letter != right)
        paid.append(state.play({0: (right, wrong, None)[number % 3]}).payoffs)
    assert paid == [(1.0,), (0.0,), (0.0,)] * 2
    assert state.over


def test_one_deal_asks_everybody_the_same():
    first, second = (make_game("quiz(kind=tracking)").start(Key(9)) for _ in range(2))
    first.play({0: "A"})
    second.play({0: "B"})
    assert first.view(0).situation == second.view(0).situation


def test_an_unknown_kind_is_refused():
    with pytest.raises(UnknownName, match="arithmetic"):
        make_game("quiz(kind=aritmetic)")
