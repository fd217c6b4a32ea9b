"""Scores: the log-probabilities that a sampler draws with, at many nodes at once, each read once."""

import pytest
from numbered import asked

from stratagem.base.errors import CannotCompute
from stratagem.language.engines.base import PolicyNode, Prompt, ScoreRequest


@pytest.mark.parametrize("lm", ["tiny", "tiny-qwen3.5"], indirect=True)
def test_scores_are_those_of_the_sampler(engine):
    given = [asked(engine, n) for n in range(24)]
    calls, requests, expected = engine.answer(given), [], []
    for request, call in zip(given, calls, strict=True):
        kinds = [span.kind for span in call.spans for _ in range(span.start, span.end)]
        drawn = [place for place, kind in enumerate(kinds) if kind != "forced"]
        sets = request.guide.offered
        asks = tuple(
            PolicyNode(call.tokens[:place], sets[place] or (call.tokens[place],), sets[place] is not None)
            for place in drawn
        )
        requests.append(ScoreRequest(prompt=call.prompt, nodes=asks, sampling=call.sampling))
        expected.append([call.sampler_logprobs[place] for place in drawn])
    for call, asks, rows, logprobs in zip(
        calls, (r.nodes for r in requests), engine.score(requests), expected, strict=True
    ):
        found = [row[ask.wanted.index(call.tokens[len(ask.said)])] for ask, row in zip(asks, rows, strict=True)]
        assert found == pytest.approx(logprobs, abs=1e-4)


def test_equal_nodes_are_scored_once(small):
    wanted = [
        PolicyNode((), (5, 6), True),
        PolicyNode((7,), (5, 6), True),
        PolicyNode((), (5,), False),
        PolicyNode((), (5, 6), True),
    ]
    rows = small.score([ScoreRequest(prompt=Prompt((), tuple(range(30))), nodes=tuple(wanted))] * 10)
    assert small.reader.num_tokens == 29 + 1 + 2
    assert rows.count(rows[0]) == 10
    assert rows[0][0] == rows[0][3] != rows[0][1]


@pytest.mark.parametrize("length", [0, 59])
def test_what_cannot_be_read_is_not_scored(small, length):
    small.longest = 60
    with pytest.raises(CannotCompute, match=f"The prompt has {length} tokens"):
        small.score([ScoreRequest(prompt=Prompt((), (7,) * length), nodes=(PolicyNode((8,), (5, 6), True),))])
