"""Rows as the data of requests to a vLLM server, and what is read from its answers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from stratagem.language.decoding.guide_data import guide_data
from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import Sampling
from stratagem.language.engines.kept_set import KeptSet
from stratagem.language.engines.sampler import SampledToken
from stratagem.language.engines.scoring import ScoredNode
from stratagem.language.engines.vllm.report import read_drawn, read_values
from stratagem.language.engines.vllm.rows import ReplyRow, Row, ScoreRow

PROTOCOL = 2
"""Version of the data: a server's processor and this engine have the same."""
FACTS = ("protocol", "in_order", "max_loras", "max_rank", "max_logprobs", "on_cpu")
"""Numbers that a processor tells of itself and of its server."""
MOST_KEPT = 512
"""Largest kept set that is asked for where there is no top-k; each of its tokens makes the answer longer."""
MOST_FACT = 8000
"""Largest number that a fact can have; larger ones are cut to it."""


class Sending(NamedTuple):
    """One request for a row: data for the processor, number of tokens to draw, number of best tokens to report."""

    data: str
    room: int
    best: int


class SendingAnswer(NamedTuple):
    """Answer to a sending: tokens, and the log-probabilities of the best tokens at each of them."""

    tokens: Sequence[int]
    best: Sequence[Mapping[int, float]]


def hello() -> Sending:
    """Return the request for the facts."""
    return Sending(json.dumps({"row": "hello", "protocol": PROTOCOL}), 1, len(FACTS) + 1)


def read_facts(answer: SendingAnswer) -> dict[str, int] | None:
    """Return the facts by name; None where no processor of ours answered."""
    if not answer.tokens or answer.tokens[0] != len(FACTS) or not answer.best:
        return None
    values = read_values(range(len(FACTS)), answer.best[0])
    return None if values is None else {name: round(-values[number]) for number, name in enumerate(FACTS)}


def sendings(row: Row, room: int, stop: int, end: int, most_best: int) -> list[Sending]:
    """Return the requests for a row; scores come in pieces of as many tokens as a server reports."""
    if isinstance(row, ReplyRow):
        return [_reply(row, room, stop, end, most_best)]
    return [_score(node, piece) for node, piece in pieces(row, most_best)]


def _reply(row: ReplyRow, room: int, stop: int, end: int, most_best: int) -> Sending:
    """Return the request for a reply; the processor stops it by the token `stop` when its guide is done."""
    request, said = row.reply.request, row.reply.tokens
    guide = guide_data(request.guide)
    if guide is None:
        guide, room = {"kind": "next", "allowed": request.guide.allowed}, 1
    sampling, best = request.sampling, num_best(request.sampling, most_best)
    data = {
        "row": "reply",
        "protocol": PROTOCOL,
        "guide": guide,
        "said": said,
        "key": request.key.value,
        "sampling": sampling.values(),
        "most": request.max_new_tokens,
        "best": best,
        "stop": stop,
        "end": end,
    }
    return Sending(json.dumps(data), room, best)


def num_best(sampling: Sampling, most_best: int) -> int:
    """Return the number of best tokens to ask for at each token of a reply: itself, a helper, and a kept set's others.

    The helper comes last, so a set of `top_k` tokens needs one more.
    """
    return min(most_best, max(3, (sampling.top_k or MOST_KEPT) + 1)) if sampling.truncates else 2


def pieces(row: ScoreRow, most_best: int) -> Iterator[tuple[ScoredNode, Ids]]:
    """Yield the nodes of a row, with as many tokens at a time as a server reports beside the best one."""
    for node in row.nodes:
        tokens = tuple(dict.fromkeys(node.wanted))
        for start in range(0, len(tokens), most_best - 1):
            yield node, tokens[start : start + most_best - 1]


def _score(node: ScoredNode, piece: Ids) -> Sending:
    sampling = node.sampling
    data = {
        "row": "score",
        "protocol": PROTOCOL,
        "wanted": node.wanted,
        "masked": node.masked,
        "piece": piece,
        "sampling": sampling.values(),
    }
    return Sending(json.dumps(data), 1, len(piece) + 1)


def read_reply(answer: SendingAnswer, size: int, *, truncated: bool) -> list[SampledToken | None] | None:
    """Return each token as it was drawn; None for forced tokens, and for all where nothing can be read.

    A truncated one has its kept set of a vocabulary of `size` tokens, unless that is larger than what was asked for.
    """
    if not answer.tokens or len(answer.best) != len(answer.tokens):
        return None
    found = list[SampledToken | None]()
    for token, best in zip(answer.tokens, answer.best, strict=True):
        if (read := read_drawn(token, best)) is None:
            found.append(None)
        else:
            logprob, kept = read
            found.append(SampledToken(token, logprob, KeptSet.of(kept, size) if truncated and kept else None))
    return found


def read_scores(row: ScoreRow, answers: Sequence[SendingAnswer], most_best: int) -> bool:
    """Store the scores of a row; False where nothing can be read."""
    found: dict[ScoredNode, dict[int, float]] = {}
    for (node, piece), answer in zip(pieces(row, most_best), answers, strict=True):
        values = read_values(piece, answer.best[0]) if answer.best else None
        if values is None:
            return False
        found.setdefault(node, {}).update(values)
    row.scores = {node: tuple(found[node][token] for token in node.wanted) for node in row.nodes}
    return True
