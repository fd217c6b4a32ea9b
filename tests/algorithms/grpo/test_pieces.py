"""Every token of a reply is given to the line of the action that it stands in, whatever the tokenizer."""

import pytest

from stratagem.games.base import ActionPart
from stratagem.language.engines.base import Call, PolicyId, Prompt
from stratagem.language.engines.transformers_engine import TransformersEngine
from stratagem.language.models.load import load
from stratagem.playing.records import Decision, Episode
from stratagem.training.branched_rollouts import own_parts, rows_of
from stratagem.training.rollouts import part_of_each_token

ACTION = "A PAR - BUR\nF BRE S A PAR\nF SPA/NC H"


def vocabulary_of(name):
    return TransformersEngine(load(name)).vocabulary


def reply(vocabulary, text):
    return Call(policy=PolicyId("tiny"), prompt=Prompt((), (1, 2)), text=text, tokens=tuple(vocabulary.encode(text)))


def by_piece(vocabulary, text, action):
    """Return the text of each piece, token by token."""
    call, found = reply(vocabulary, text), {}
    for token, piece in zip(call.tokens, part_of_each_token(call, action, vocabulary), strict=True):
        found.setdefault(piece, []).append(token)
    return {piece: vocabulary.decode(tokens) for piece, tokens in found.items()}


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_lines_in_any_order_are_found(name):
    said = "F SPA/NC H\nA PAR - BUR\nF BRE S A PAR"
    found = by_piece(vocabulary_of(name), said, ACTION)
    assert {piece: text.strip() for piece, text in found.items()} == dict(enumerate(ACTION.split("\n")))


@pytest.mark.parametrize("name", ["tiny", "small"])
def test_what_stands_around_the_lines_belongs_to_none(name):
    said = f"I attack.\n<orders>\n{ACTION}\n</orders>"
    found = by_piece(vocabulary_of(name), said, ACTION)
    assert found[1].strip() == "F BRE S A PAR"
    assert found[None] == "I attack.\n<orders>\n</orders>"


def test_a_line_that_was_read_as_another_belongs_to_none():
    vocabulary = vocabulary_of("small")
    assert set(by_piece(vocabulary, "a par-bur", "A PAR - BUR")) == {None}
    assert set(by_piece(vocabulary, "A PAR H", None)) == {None}


def test_equal_lines_are_the_first_of_them():
    assert set(by_piece(vocabulary_of("small"), "WAIVE\nWAIVE", "WAIVE\nWAIVE")) == {0}


def decision(turn, parts=(), payoff=0.0, seat=1):
    return Decision(0, turn, turn, seat, 0, 0, "", "", "A", "constrained", parts=tuple(parts), payoff=payoff)


def test_a_decision_has_a_piece_for_each_part_and_at_least_one():
    parts = (
        ActionPart("A PAR", "move", 0.3),
        ActionPart("F BRE", "void support", -1.5),
        ActionPart("", "outcome", 7.0),
    )
    decisions = [decision(0), decision(1, parts, payoff=0.25), decision(1, seat=0)]
    episode = Episode("e", "g", 1, ("a", "b"), (0, 1), 0, 0, decisions=decisions)
    assert [part.kind for part in own_parts(decisions[1])] == ["move", "void support"]
    found = [
        (row.decision.turn, row.part, *(row.rewards[name] for name in ("payoff", "parts", "outcome")))
        for row in rows_of(4, "", episode, (1,))
    ]
    assert found == [(0, 0, 0.0, 0.0, 0.0), (1, 0, 0.25, 0.3, 7.0), (1, 1, 0.0, -1.5, 0.0)]
