"""Reader of texts under weights that gives next-token logits: the one module that runs a model.

Texts are known by their tokens and the adapter that they are read under. `read` answers for many of them at once;
`open` turns some of them into rows, which `go_on` makes longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch

from stratagem.language.decoding.vocabulary import Ids
from stratagem.language.engines.branches import Branches
from stratagem.language.engines.fused_step import FusedStep
from stratagem.language.engines.graphed_step import BLOCKS, OFTEN, GraphedStep, graphs_for
from stratagem.language.engines.plan import ReadingStage, stages
from stratagem.language.engines.prefixes import Chain, Prefixes, PrefixMatch, SegmentStretch
from stratagem.language.engines.row_store import SINGLE, cache_shapes
from stratagem.language.engines.rows import BatchRows
from stratagem.language.engines.steps import ForwardPass, ModelStep
from stratagem.language.engines.weights import BatchWeights
from stratagem.language.models.attention import Attention
from stratagem.language.models.language_model import LanguageModel

PASS_TOKENS = 1024
"""Most tokens of a processor's pass over many texts, padding included; a single text may have more.

The activations of a larger pass leave the caches of a core: with SmolLM2 a token of 17,000 takes 2.1 ms, one of 1,000
takes 1.4 ms.
"""


class AdapterText(NamedTuple):
    """Tokens, and the adapter under which they are read (empty: the base)."""

    adapter: str
    tokens: Ids


class PrefixReader(Protocol):
    """Model with its prefix cache."""

    weights: BatchWeights
    """Weights of the rows; `weights.under` encloses all that follows."""
    ragged: bool
    """True if rows may take different numbers of tokens in one pass."""
    num_passes: int
    """Number of forward passes."""
    num_tokens: int
    """Number of tokens read, without padding."""

    def read(self, texts: Sequence[AdapterText], branches: Sequence[Branches] = ()) -> torch.Tensor:
        """Return the logits after each of these texts, which differ from one another.

        A ragged reader also reads branches of the texts ahead, for `known`.
        """
        ...

    def known_logits(self, text: AdapterText) -> torch.Tensor | None:
        """Return the logits after a text, if they were read ahead; such a text can be opened."""
        ...

    def park(self) -> None:
        """Set the open rows aside, so that other texts can be read; `open` puts them before the new rows."""
        ...

    def open(self, texts: Sequence[AdapterText]) -> None:
        """Open rows for texts that were read last, one row each; the same text may have several rows."""
        ...

    def go_on(self, pending: Sequence[Sequence[int]], branches: Sequence[Branches] = ()) -> torch.Tensor:
        """Read each row's next tokens, none or more, and return the logits after the last one of each row.

        A ragged reader also reads branches of rows with next tokens, and appends the logits that these ask for.
        """
        ...

    def take(self, paths: Sequence[Sequence[int]]) -> None:
        """Make each row longer by a path through the branches that it has just read."""
        ...

    def keep(self, rows: Sequence[int]) -> list[int]:
        """Drop the other rows and return the old row at each index."""
        ...

    def clear(self) -> None:
        """Drop all rows, also those that are set aside."""
        ...

    def retain(self, row: int, text: AdapterText) -> None:
        """Cache the computation of a row, because a later text extends it."""
        ...

    def forget(self, adapter: str) -> None:
        """Forget the cache of changed weights; after a change of the base, everything."""
        ...

    def reset(self) -> None:
        """Forget everything from earlier batches, allocated room included."""
        ...

    def release_copy(self) -> None:
        """Free a copy of the weights; the next pass makes it again."""
        ...

    def settle(self) -> None:
        """End the batch."""
        ...


class SharingReader:
    """Reader that computes shared prefixes once, within a batch and between batches."""

    ragged = True

    def __init__(
        self, lm: LanguageModel, attention: Attention, budget: int, packed_mib: int = 0, *, graphs: bool = True
    ) -> None:
        """Read by a fused pass, unless `packed_mib` is 0; refused where the model's structure does not allow it."""
        self.weights = BatchWeights(lm)
        step: ForwardPass = FusedStep(lm, self.weights, packed_mib) if packed_mib else ModelStep(lm)
        recorder = graphs_for(step.device) if graphs else None
        self.prefixes = Prefixes(budget)
        self.num_passes = self.num_tokens = 0
        with torch.inference_mode():
            self.batch_rows = BatchRows(attention, cache_shapes(lm.model), BLOCKS if recorder else SINGLE)
        self.step = GraphedStep(step, self.batch_rows.store, self.weights, recorder) if recorder else step
        self.num_single_passes = OFTEN + 1 if recorder else 0
        """Number of passes of one token a row after which they have been computed in every way."""
        self._read: dict[AdapterText, Chain] = {}
        self._adapters: list[str] = []
        self._parked: list[str] = []
        """Adapters of the rows that are set aside."""

    def keep_graphs(self) -> None:
        """Keep CUDA graphs from one unit of work to the next, and the memory that they read."""
        if isinstance(self.step, GraphedStep):
            self.step.keep = self.batch_rows.store.keep = True

    @property
    def by_graphs(self) -> bool:
        """True if frequent passes are CUDA graphs."""
        return isinstance(self.step, GraphedStep) and self.step.works

    def read(self, texts: Sequence[AdapterText], branches: Sequence[Branches] = ()) -> torch.Tensor:
        matches = [self.prefixes.match(text.adapter, text.tokens) for text in texts]
        unknown = [number for number, match in enumerate(matches) if self._whole(match, texts[number]) is None]
        if unknown:
            some = [branches[number] for number in unknown] if branches else []
            self._compute([texts[number] for number in unknown], [matches[number] for number in unknown], some)
        parts = list[torch.Tensor]()
        for text in texts:
            match = self.prefixes.match(text.adapter, text.tokens)
            logits = self._whole(match, text)
            assert logits is not None
            self._read[text] = match.chain
            parts.append(logits)
        return torch.stack(parts)

    def known_logits(self, text: AdapterText) -> torch.Tensor | None:
        match = self.prefixes.match(text.adapter, text.tokens)
        if (logits := self._whole(match, text)) is not None:
            self._read[text] = match.chain
        return logits

    @staticmethod
    def _whole(match: PrefixMatch, text: AdapterText) -> torch.Tensor | None:
        return match.logits if match.length == len(text.tokens) else None

    def _compute(
        self, texts: Sequence[AdapterText], matches: Sequence[PrefixMatch], branches: Sequence[Branches]
    ) -> None:
        """Compute shared stages first, then the rest of every text."""
        groups: dict[tuple[str, int, int], list[int]] = {}
        for number, (text, match) in enumerate(zip(texts, matches, strict=True)):
            last = id(match.chain[-1].segment) if match.chain else 0
            groups.setdefault((text.adapter, last, match.length), []).append(number)
        tokens = [text.tokens for text in texts]
        level = [s for (_, _, length), group in groups.items() for s in stages(tokens, group, length)]
        while level:
            self._stage(texts, level)
            level = [inner for stage in level for inner in stage.inside]
        for some in self._passes(texts, branches):
            self._last([texts[number] for number in some], [branches[number] for number in some] if branches else [])

    def _stage(self, texts: Sequence[AdapterText], level: Sequence[ReadingStage]) -> None:
        heads = [AdapterText(texts[s.texts[0]].adapter, texts[s.texts[0]].tokens[: s.end]) for s in level]
        for some in self._passes(heads):
            self._run([heads[number] for number in some])

    def _passes(self, texts: Sequence[AdapterText], branches: Sequence[Branches] = ()) -> list[list[int]]:
        """Divide texts into passes of a limited size by their indices, those with as many new tokens together."""
        sizes = [len(text.tokens) - self.prefixes.match(text.adapter, text.tokens).length for text in texts]
        if branches:
            sizes = [size + len(own) for size, own in zip(sizes, branches, strict=True)]
        every = list(range(len(texts)))
        if self.step.device.type != "cpu" or len(every) * max(sizes) <= PASS_TOKENS:
            return [every]
        passes = list[list[int]]()
        for number in sorted(every, key=lambda number: -sizes[number]):
            if not passes or (len(passes[-1]) + 1) * sizes[passes[-1][0]] > PASS_TOKENS:
                passes.append([])
            passes[-1].append(number)
        return passes

    def _last(self, texts: Sequence[AdapterText], branches: Sequence[Branches]) -> None:
        logits, *asked = torch.split(self._run(texts, branches), [len(texts), *(len(own.asked) for own in branches)])
        for text, row in zip(texts, logits, strict=True):
            self.prefixes.remember(self.prefixes.match(text.adapter, text.tokens), row.clone())
        for number, (own, rows) in enumerate(zip(branches, asked, strict=True)):
            for index, row in zip(own.asked, rows, strict=True):
                self._store_branch(number, texts[number], own, index, row)

    def _store_branch(self, row: int, text: AdapterText, branches: Branches, index: int, logits: torch.Tensor) -> None:
        """Cache what a row has read ahead up to an index, and the logits there."""
        path = branches.path(index)
        tokens = (*text.tokens, *(branches.tokens[place] for place in path))
        match = self.prefixes.match(text.adapter, tokens)
        if new := path[len(path) - len(tokens) + match.length :]:
            self.prefixes.add(text.adapter, match, tokens[match.length :], self.batch_rows.cut_branch(row, new))
            match = self.prefixes.match(text.adapter, tokens)
        self.prefixes.remember(match, logits.clone())

    def _run(self, texts: Sequence[AdapterText], branches: Sequence[Branches] = ()) -> torch.Tensor:
        """Compute the unknown part of these texts, at least their last token, and cache it."""
        chains = [self._before_last(text) for text in texts]
        self._load(chains, [text.adapter for text in texts], max(len(text.tokens) for text in texts))
        known = list(self.batch_rows.lengths)
        logits = self.go_on([text.tokens[length:] for text, length in zip(texts, known, strict=True)], branches)
        for row, text in enumerate(texts):
            self._store(row, text)
        return logits

    def _store(self, row: int, text: AdapterText) -> None:
        """Cache the computation of a row that has read a text, if it is not there yet."""
        match = self.prefixes.match(text.adapter, text.tokens)
        if match.length < len(text.tokens):
            stretch = self.batch_rows.cut(row, match.length, len(text.tokens))
            self.prefixes.add(text.adapter, match, text.tokens[match.length :], stretch)

    def _before_last(self, text: AdapterText) -> Chain:
        """Return the cached part of a text without its last token."""
        chain = self.prefixes.match(text.adapter, text.tokens).chain
        most = len(text.tokens) - 1
        cut = [SegmentStretch(piece.segment, min(piece.end, most)) for piece in chain if piece.segment.start < most]
        return tuple(cut)

    def _load(self, chains: Sequence[Chain], adapters: Sequence[str], room: int) -> None:
        """Load rows that begin with these chains; a stretch that several share is pasted once."""
        self.batch_rows.begin([chain[-1].end if chain else 0 for chain in chains], room)
        self._adapters = list(adapters)
        rows: dict[tuple[int, int], list[int]] = {}
        pieces: dict[tuple[int, int], SegmentStretch] = {}
        for row, chain in enumerate(chains):
            for piece in chain:
                where = (id(piece.segment), piece.end)
                pieces[where] = piece
                rows.setdefault(where, []).append(row)
        for where, (segment, end) in pieces.items():
            assert segment.stored is not None
            self.batch_rows.paste(segment.stored, rows[where], segment.start, end)

    def park(self) -> None:
        self.batch_rows.park()
        self._parked, self._adapters = self._adapters, []

    def open(self, texts: Sequence[AdapterText]) -> None:
        chains = [self._read[text] for text in texts]
        self._load(chains, [text.adapter for text in texts], max((len(text.tokens) for text in texts), default=0))
        self.batch_rows.unpark()
        self._parked, self._adapters = [], [*self._parked, *self._adapters]

    def go_on(self, pending: Sequence[Sequence[int]], branches: Sequence[Branches] = ()) -> torch.Tensor:
        self.num_passes += 1
        self.num_tokens += sum(map(len, pending)) + sum(map(len, branches))
        self.weights.rows(self._adapters)
        return self.batch_rows.advance(self.step, pending, branches)

    def take(self, paths: Sequence[Sequence[int]]) -> None:
        self.batch_rows.take(paths)

    def keep(self, rows: Sequence[int]) -> list[int]:
        order = self.batch_rows.keep(rows)
        self._adapters = [self._adapters[row] for row in order]
        return order

    def clear(self) -> None:
        self.batch_rows.clear()
        self._parked, self._adapters = [], []

    def retain(self, row: int, text: AdapterText) -> None:
        self._store(row, AdapterText(text.adapter, text.tokens[: self.batch_rows.lengths[row]]))

    def forget(self, adapter: str) -> None:
        if adapter and isinstance(self.step, GraphedStep) and self.step.keep:
            self.weights.refresh()
            self.step.end_unit()
        else:
            self.weights.forget()
            self.step.forget(base=not adapter)
        if adapter:
            self.prefixes.drop(adapter)
        else:
            self.prefixes.clear()

    def reset(self) -> None:
        self.prefixes.clear()
        self.batch_rows.reset()
        if isinstance(self.step, GraphedStep):
            self.step.end_unit()
        else:
            self.step.forget(base=False)

    def release_copy(self) -> None:
        if isinstance(self.step, FusedStep):  # the graphs of a GPU read the weights where they are
            self.step.forget(base=True)

    def settle(self) -> None:
        self._read.clear()
        self.prefixes.trim()
