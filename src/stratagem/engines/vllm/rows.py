"""Rows of vLLM's batch: replies that are being drawn, and texts that are being scored.

vLLM computes logits. Our own sampler draws a reply's next token from them by the key of the request, and overwrites the
row of the logits so that vLLM's argmax is this token. So a reply is the same function of request and key as with the
transformers engine, and its log-probability is that of the sampling distribution: allowed set, temperature, top-k and
top-p included.

A draw does not change the reply: for a prompt that is read in several steps vLLM asks for a token at each of them, and
drops all but the last. The reply takes its token when vLLM reports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from weakref import WeakValueDictionary

import torch

from stratagem.decoding.vocabulary import Ids
from stratagem.engines.reader import Text
from stratagem.engines.reply import Reply
from stratagem.engines.sampler import Drawn, draw
from stratagem.engines.scoring import Scored, score_rows

KEY = "stratagem"
"""Key of a row's number in vLLM's `SamplingParams.extra_args`."""


@dataclass(eq=False)
class ReplyRow:
    """Reply in progress, and the token that was drawn for it last."""

    reply: Reply
    drawn: Drawn | None = None
    allowed: Ids | None = None

    @property
    def adapter(self) -> str:
        return self.reply.request.adapter

    @property
    def tokens(self) -> Ids:
        """The prompt and the tokens so far."""
        return self.reply.text.tokens

    def begin(self, longest: int) -> tuple[Ids, int]:
        """Return the tokens to read, forced ones included, and the maximum number of tokens to draw."""
        self.reply.pending.clear()
        room = self.reply.request.max_new_tokens - len(self.reply.tokens)
        return self.tokens, min(room, longest - self.reply.length)

    def take(self, token: int) -> None:
        """Take the token that vLLM reports: a forced one, or the one drawn last."""
        if self.reply.pending:
            expected = self.reply.pending.pop(0)
        else:
            assert self.drawn is not None
            expected = self.drawn.token
            self.reply.take(self.drawn, self.allowed)
            self.reply.pending.pop(0)
        if token != expected:
            raise RuntimeError(f"vLLM reports token {token} where {expected} was drawn")

    def over(self, longest: int) -> bool:
        """True if nothing more is to be drawn."""
        return self.reply.over or self.reply.length >= longest


@dataclass(eq=False)
class ScoreRow:
    """Text with nodes to score."""

    text: Text
    nodes: Sequence[Scored]
    scores: dict[Scored, tuple[float, ...]] = field(default_factory=dict)
    taken: bool = False

    @property
    def adapter(self) -> str:
        return self.text.adapter

    @property
    def tokens(self) -> Ids:
        """Tokens of the text."""
        return self.text.tokens

    def begin(self, longest: int) -> tuple[Ids, int]:
        """Return the tokens to read, and one token to draw, which nobody reads."""
        return self.tokens, 1

    def take(self, token: int) -> None:
        """Take the token that shows that the whole text was read."""
        self.taken = True

    def over(self, longest: int) -> bool:
        """True if the text was read."""
        return self.taken


Row = ReplyRow | ScoreRow
_numbers = count()
_rows: WeakValueDictionary[int, Row] = WeakValueDictionary()


def numbered(row: Row) -> int:
    """Return a number by which a logits processor finds the row; vLLM copies objects, and numbers survive that."""
    number = next(_numbers)
    _rows[number] = row
    return number


def number_of(extra: object) -> int | None:
    """Return the number of the row in a request's `extra_args`; None where the request is none of ours."""
    number = extra.get(KEY) if isinstance(extra, dict) else None
    return number if isinstance(number, int) else None


def fill_numbered(logits: torch.Tensor, numbers: Sequence[tuple[int, int]]) -> None:
    """Draw and score for rows by their numbers; a row that is gone is left as it is."""
    rows = [(index, _rows.get(number)) for index, number in numbers]
    fill(logits, [(index, row) for index, row in rows if row is not None])


def fill(logits: torch.Tensor, rows: Sequence[tuple[int, Row]]) -> None:
    """Draw and score from the logits, and overwrite each row so that its argmax is the row's next token."""
    replies = [(index, row) for index, row in rows if isinstance(row, ReplyRow)]
    waiting = [(index, row) for index, row in replies if not row.reply.pending and not row.reply.over]
    draws = [row.reply.draw(index) for index, row in waiting]
    for (_, row), drawing, drawn in zip(waiting, draws, draw(logits, draws), strict=True):
        row.drawn, row.allowed = drawn, drawing.allowed
    _score(logits, [(index, row) for index, row in rows if isinstance(row, ScoreRow)])
    _overwrite(logits, [(index, _next(row)) for index, row in rows])


def _score(logits: torch.Tensor, rows: Sequence[tuple[int, ScoreRow]]) -> None:
    """Score the nodes of each row; while a prompt is read in several steps, the last one counts."""
    nodes = [(index, node) for index, row in rows for node in row.nodes]
    scores = score_rows(logits, nodes) if nodes else {}
    for _, row in rows:
        row.scores = {node: scores[node] for node in row.nodes}


def _next(row: Row) -> int:
    """Return the token that vLLM is to append; 0 where nobody reads it."""
    if isinstance(row, ScoreRow) or (row.reply.over and not row.reply.pending):
        return 0
    if row.reply.pending:
        return row.reply.pending[0]
    assert row.drawn is not None
    return row.drawn.token


def _overwrite(logits: torch.Tensor, tokens: Sequence[tuple[int, int]]) -> None:
    if not tokens:
        return
    rows = torch.tensor([index for index, _ in tokens], device=logits.device)
    logits[rows] = float("-inf")
    logits[rows, torch.tensor([token for _, token in tokens], device=logits.device)] = 0.0
