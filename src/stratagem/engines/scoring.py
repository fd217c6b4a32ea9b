"""Log-probabilities of given tokens at many nodes, under the distribution that a sampler would draw from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from stratagem.decoding.vocabulary import Ids
from stratagem.engines.base import Node, Sampling, ScoreRequest, Scores
from stratagem.engines.reader import Reader, Text
from stratagem.engines.sampler import log_distribution, padded

_CHUNK = 4
"""Factor of a batch of nodes over a batch of replies, since nothing is written after nodes."""


def scored(reader: Reader, requests: Sequence[ScoreRequest], rows: int) -> list[Scores]:
    """Score every request; equal nodes are computed once."""
    nodes: dict[tuple[Text, Ids, bool, Sampling], tuple[float, ...]] = {}
    for request in requests:
        nodes.update(dict.fromkeys((_node(request, ask) for ask in request.nodes), ()))
    texts = sorted({text for text, *_ in nodes})
    by_text: dict[Text, list[tuple[Text, Ids, bool, Sampling]]] = {}
    for node in nodes:
        by_text.setdefault(node[0], []).append(node)
    for some in _chunks(texts, rows * _CHUNK):
        with reader.weights.under([text.adapter for text in some]):
            logits = reader.read(some)
        for row, text in zip(logits, some, strict=True):
            nodes.update((node, _wanted(row, node[1], node[2], node[3])) for node in by_text[text])
        reader.settle()
    return [tuple(nodes[_node(request, ask)] for ask in request.nodes) for request in requests]


def _node(request: ScoreRequest, ask: Node) -> tuple[Text, Ids, bool, Sampling]:
    text = Text(request.adapter, (*request.prompt.tokens, *ask.said))
    return text, ask.wanted, ask.masked, request.sampling


def _chunks(texts: Sequence[Text], most: int) -> Iterator[Sequence[Text]]:
    return (texts[start : start + most] for start in range(0, len(texts), most))


def _wanted(logits: torch.Tensor, tokens: Ids, masked: bool, sampling: Sampling) -> tuple[float, ...]:
    ids, _ = padded([tokens], logits.device)
    if masked:
        return tuple(log_distribution(logits[ids[0]].float(), sampling).tolist())
    return tuple(log_distribution(logits.float(), sampling)[ids[0]].tolist())
