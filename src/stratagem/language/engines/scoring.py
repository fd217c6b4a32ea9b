"""Log-probabilities of given tokens at many nodes, under the distribution that a sampler would draw from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import torch

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.base import PolicyNode, Sampling, ScoreRequest, Scores
from stratagem.language.engines.reader import AdapterText, PrefixReader
from stratagem.language.engines.sampler import log_distribution

_CHUNK = 4
"""Factor of a batch of nodes over a batch of replies, since nothing is written after nodes."""


class ScoredNode(NamedTuple):
    """Node of a text: the tokens to score, and their distribution."""

    text: AdapterText
    wanted: Ids
    masked: bool
    sampling: Sampling


def score_requests(reader: PrefixReader, requests: Sequence[ScoreRequest], rows: int) -> list[Scores]:
    """Score every request; equal nodes are computed once, and results are fetched from the device once a batch."""
    nodes = dict.fromkeys(node_of(request, ask) for request in requests for ask in request.nodes)
    texts = sorted({node.text for node in nodes})
    by_text: dict[AdapterText, list[ScoredNode]] = {}
    for node in nodes:
        by_text.setdefault(node.text, []).append(node)
    scores: dict[ScoredNode, tuple[float, ...]] = {}
    for some in _chunks(texts, rows * _CHUNK):
        with reader.weights.under([text.adapter for text in some]):
            logits = reader.read(some)
        scores |= score_rows(logits, [(row, node) for row, text in enumerate(some) for node in by_text[text]])
        reader.settle()
    return [tuple(scores[node_of(request, ask)] for ask in request.nodes) for request in requests]


def node_of(request: ScoreRequest, ask: PolicyNode) -> ScoredNode:
    """Return a node with the text that it stands after, by which equal nodes of several requests are one."""
    text = AdapterText(request.adapter, (*request.prompt.tokens, *ask.said))
    return ScoredNode(text, ask.wanted, ask.masked, request.sampling)


def _chunks(texts: Sequence[AdapterText], most: int) -> Iterator[Sequence[AdapterText]]:
    return (texts[start : start + most] for start in range(0, len(texts), most))


def score_rows(logits: torch.Tensor, nodes: Sequence[tuple[int, ScoredNode]]) -> dict[ScoredNode, tuple[float, ...]]:
    """Score nodes at rows of the logits; those of one distribution and number of tokens in one operation."""
    groups: dict[tuple[Sampling, bool, int], list[tuple[int, ScoredNode]]] = {}
    for row, node in nodes:
        groups.setdefault((node.sampling, node.masked, len(node.wanted)), []).append((row, node))
    values = torch.cat(
        [_group(logits, group, sampling, masked=masked).flatten() for (sampling, masked, _), group in groups.items()]
    ).tolist()
    ordered = [node for group in groups.values() for _, node in group]
    ends = list(accumulate(len(node.wanted) for node in ordered))
    return {node: tuple(values[end - len(node.wanted) : end]) for node, end in zip(ordered, ends, strict=True)}


def _group(
    logits: torch.Tensor, group: Sequence[tuple[int, ScoredNode]], sampling: Sampling, *, masked: bool
) -> torch.Tensor:
    tokens = torch.tensor([node.wanted for _, node in group], device=logits.device, dtype=torch.long)
    if masked:
        rows = torch.tensor([row for row, _ in group], device=logits.device)
        return log_distribution(logits[rows[:, None], tokens].float(), sampling)
    unique = {row: number for number, row in enumerate(dict.fromkeys(row for row, _ in group))}
    index = torch.tensor([unique[row] for row, _ in group], device=logits.device)
    return log_distribution(logits[list(unique)].float(), sampling)[index[:, None], tokens]
