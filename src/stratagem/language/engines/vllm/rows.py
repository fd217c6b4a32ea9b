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

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.reader import AdapterText
from stratagem.language.engines.reply import Reply
from stratagem.language.engines.sampler import SampledToken, draw
from stratagem.language.engines.scoring import ScoredNode, score_rows
from stratagem.language.engines.vllm.report import Entries

KEY = "stratagem"
"""Key of a row's number, or on a server of its data, in vLLM's `SamplingParams.extra_args`."""
RUN = 8
"""Number of forced tokens from which a reply enters again."""
NOTHING: Entries = [(0, 0.0)]
"""Entries of a row that nobody reads."""


@dataclass(eq=False)
class ReplyRow:
    """Reply in progress, and the token that was drawn for it last."""

    reply: Reply
    drawn: SampledToken | None = None

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

    def take(self, token: int, drawn: SampledToken | None = None) -> None:
        """Take the token that vLLM reports: a forced one, or one that was drawn, here last or by a server."""
        if self.reply.pending:
            expected = self.reply.pending.pop(0)
        else:
            if drawn is not None and drawn.allowed is None:  # a server reports kept sets alone
                drawn = drawn._replace(allowed=self.reply.request.guide.allowed)
            drawn = drawn or self.drawn
            assert drawn is not None
            expected = drawn.token
            self.reply.take(drawn)
            self.reply.pending.pop(0)
        if token != expected:
            raise RuntimeError(f"vLLM reports token {token} where {expected} was drawn")

    def over(self, longest: int) -> bool:
        """True if nothing more is to be drawn."""
        return self.reply.over or self.reply.length >= longest

    @property
    def has_run(self) -> bool:
        """True if a run of forced tokens comes next that is better read at once, in a prompt."""
        return len(self.reply.pending) >= RUN

    def entries(self) -> Entries:
        """Return the row of the logits to write: its largest entry is the token that vLLM is to append."""
        if self.reply.pending:
            return [(self.reply.pending[0], 0.0)]
        if self.reply.over:
            return NOTHING
        assert self.drawn is not None
        return [(self.drawn.token, 0.0)]


@dataclass(eq=False)
class ScoreRow:
    """Text with nodes to score."""

    text: AdapterText
    nodes: Sequence[ScoredNode]
    scores: dict[ScoredNode, tuple[float, ...]] = field(default_factory=dict)
    taken: bool = False
    has_run: bool = False

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

    def take(self, token: int, drawn: SampledToken | None = None) -> None:
        """Take the token that shows that the whole text was read."""
        self.taken = True

    def over(self, longest: int) -> bool:
        """True if the text was read."""
        return self.taken

    def entries(self) -> Entries:
        """Return the row of the logits to write: a token that nobody reads."""
        return NOTHING


Row = ReplyRow | ScoreRow
_numbers = count()
_rows: WeakValueDictionary[int, Row] = WeakValueDictionary()


def number_of_row(row: Row) -> int:
    """Return a number by which a logits processor finds the row; vLLM copies objects, and numbers survive that."""
    number = next(_numbers)
    _rows[number] = row
    return number


def row_numbered(number: int) -> Row | None:
    """Return the row of a number; None where it is gone."""
    return _rows.get(number)


def fill(logits: torch.Tensor, rows: Sequence[tuple[int, Row]]) -> None:
    """Draw and score from the logits, and overwrite each row so that its argmax is the row's next token."""
    replies = [(index, row) for index, row in rows if isinstance(row, ReplyRow)]
    waiting = [(index, row) for index, row in replies if not row.reply.pending and not row.reply.over]
    draws = [row.reply.draw(index) for index, row in waiting]
    for (_, row), drawn in zip(waiting, draw(logits, draws), strict=True):
        row.drawn = drawn
    _score(logits, [(index, row) for index, row in rows if isinstance(row, ScoreRow)])
    _overwrite(logits, rows)


def _score(logits: torch.Tensor, rows: Sequence[tuple[int, ScoreRow]]) -> None:
    """Score the nodes of each row; while a prompt is read in several steps, the last one counts."""
    nodes = [(index, node) for index, row in rows for node in row.nodes]
    scores = score_rows(logits, nodes) if nodes else {}
    for _, row in rows:
        row.scores = {node: scores[node] for node in row.nodes}


def _overwrite(logits: torch.Tensor, rows: Sequence[tuple[int, Row]]) -> None:
    """Write the entries of each row, and minus infinity everywhere else in it."""
    written = [(index, token, value) for index, row in rows for token, value in row.entries()]
    if not written:
        return
    indices, tokens, values = zip(*written, strict=True)
    logits[torch.tensor(sorted(set(indices)), device=logits.device)] = float("-inf")
    places = torch.tensor(indices, device=logits.device), torch.tensor(tokens, device=logits.device)
    logits[places] = torch.tensor(values, dtype=logits.dtype, device=logits.device)
