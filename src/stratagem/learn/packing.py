"""Packing of examples into token trees: a prefix that several examples share is computed once, in training too.

The tokens of a pack are listed branch after branch; `tree_batch` and `prefix_batch` arrange them into rows. A pack has
a maximum number of tokens, so the memory of a step does not grow with the number of examples. The maximum is at least
twice the longest text of the pack: with less, texts of that length could not share their prefix.

Texts are sorted, and each is compared with the one before it alone; examples with the same text cost nothing more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

from stratagem.language.decoding.vocabulary import Ids
from stratagem.learn.example import Example

Path = tuple[tuple[int, int], ...]
"""Branches from the root to a leaf, each with the depth up to which it is followed."""


@dataclass(frozen=True)
class TextBranch:
    """Tokens that a text adds to the texts before it: their range in the pack's list, and their depth."""

    start: int
    end: int
    depth: int
    """Length of the common prefix with the text before; 0 begins a tree."""

    @property
    def size(self) -> int:
        """Number of tokens."""
        return self.end - self.start

    @property
    def reach(self) -> int:
        """Length of the text that ends with the branch."""
        return self.depth + self.size


@dataclass(frozen=True)
class Pack:
    """Some examples of a batch, and the trees of their tokens."""

    examples: tuple[int, ...]
    """Indices of the examples in the batch."""
    tokens: tuple[int, ...]
    branches: tuple[TextBranch, ...]
    """One for each distinct text, in their sorted order within a tree."""
    paths: tuple[Path, ...]
    """Path of each example through its tree."""

    def node(self, path: Path, depth: int) -> int:
        """Return the index in the list of the token at a depth of a text."""
        number, _ = path[bisect_right(path, depth, key=itemgetter(1))]
        branch = self.branches[number]
        return branch.start + depth - branch.depth

    @property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """Indices in the list of the input tokens of each example."""
        return tuple(tuple(self.node(path, depth) for depth in range(path[-1][1])) for path in self.paths)

    @property
    def trees(self) -> Iterator[Sequence[TextBranch]]:
        """Branches of each tree; the first is its root."""
        starts = [number for number, branch in enumerate(self.branches) if not branch.depth]
        for start, end in pairwise([*starts, len(self.branches)]):
            yield self.branches[start:end]


class BatchTexts:
    """Input texts of the examples of a batch; equal texts are one."""

    def __init__(self, examples: Sequence[Example]) -> None:
        known: dict[Ids, int] = {}
        of = [known.setdefault(read(example), len(known)) for example in examples]
        order = sorted(known)
        place = {known[text]: index for index, text in enumerate(order)}
        self.texts = order
        """Distinct texts, sorted, so that neighbours share long prefixes."""
        self.numbers = [place[number] for number in of]
        """Index of each example's text."""
        self.pairs = [example.pair for example in examples]
        self._shared = [0, *(_common_prefix(before, after) for before, after in pairwise(order))]

    def shared_length(self, before: int, after: int) -> int:
        """Return the length of the common prefix of two texts, by their indices in sorted order."""
        if before == after:
            return len(self.texts[after])
        return min(self._shared[before + 1 : after + 1])


def pack_examples(examples: Sequence[Example], budget: int, *, share: bool = True) -> list[Pack]:
    """Pack examples into packs of at most `budget` tokens, or twice the longest text (more only for a longer pair)."""
    return pack_texts(BatchTexts(examples), budget, share=share)


def pack_texts(texts: BatchTexts, budget: int, *, share: bool = True) -> list[Pack]:
    """Pack the examples of these texts."""
    packs, group = list[Pack](), _NextPack(texts, budget, share=share)
    for unit in _units(texts):
        if not group.add(unit):
            packs.append(tree(texts, group.members, share=share))
            group = _NextPack(texts, budget, share=share)
            group.add(unit)
    return [*packs, tree(texts, group.members, share=share)] if group.members else packs


class _NextPack:
    """Examples of the next pack."""

    def __init__(self, texts: BatchTexts, budget: int, *, share: bool) -> None:
        self.members: list[int] = []
        self._texts, self._budget, self._share = texts, budget, share
        self._size = self._longest = 0

    def add(self, unit: Sequence[int]) -> bool:
        """Add examples; if they do not fit beside others, add nothing and return False."""
        texts = {self._texts.numbers[number] for number in unit}
        longest = max(self._longest, *(len(self._texts.texts[text]) for text in texts))
        size = self._size + self._added_tokens(unit)
        if self.members and size > (max(self._budget, 2 * longest) if self._share else self._budget):
            return False
        self.members += unit
        self._size, self._longest = size, longest
        return True

    def _added_tokens(self, unit: Sequence[int]) -> int:
        """Count the tokens that are not shared with the example before."""
        before = self._texts.numbers[self.members[-1]] if self.members else None
        added = 0
        for number in unit:
            text = self._texts.numbers[number]
            added += len(self._texts.texts[text]) - self._common(before, text)
            before = text
        return added

    def _common(self, before: int | None, text: int) -> int:
        if before is None or (not self._share and before != text):
            return 0
        return self._texts.shared_length(min(before, text), max(before, text))


def read(example: Example) -> Ids:
    """Return the input tokens: all before the last token in the loss mask."""
    return example.tokens[: example.loss_positions[-1]]


def _units(texts: BatchTexts) -> Iterator[list[int]]:
    """Yield the examples that stay together, pairs and those of one text, in the order of their texts."""
    units: dict[object, list[int]] = {}
    for number in sorted(range(len(texts.numbers)), key=texts.numbers.__getitem__):
        pair = texts.pairs[number]
        units.setdefault(("text", texts.numbers[number]) if pair is None else ("pair", pair), []).append(number)
    yield from units.values()


def tree(texts: BatchTexts, group: Sequence[int], *, share: bool = True) -> Pack:
    """Build the trees of the texts of some examples; with `share` False each distinct text is a tree."""
    order = sorted(group, key=texts.numbers.__getitem__)
    tokens, branches, paths = list[int](), list[TextBranch](), list[Path]()
    path, before = Path(), -1
    for number in order:
        if (index := texts.numbers[number]) != before:
            text, shared = texts.texts[index], texts.shared_length(before, index) if share and branches else 0
            path = (*_cut(branches, path, shared), (len(branches), len(text)))
            branches.append(TextBranch(len(tokens), len(tokens) + len(text) - shared, shared))
            tokens.extend(text[shared:])
            before = index
        paths.append(path)
    return Pack(tuple(order), tuple(tokens), tuple(branches), tuple(paths))


def _cut(branches: Sequence[TextBranch], path: Path, shared: int) -> Path:
    """Cut a path at a depth."""
    keep = len(path)
    while keep and branches[path[keep - 1][0]].depth >= shared:
        keep -= 1
    return (*path[: keep - 1], (path[keep - 1][0], min(path[keep - 1][1], shared))) if keep else ()


def split(pack: Pack, texts: BatchTexts, starts: Sequence[int]) -> list[Pack]:
    """Split a pack before some of its branches; each part has whole texts."""
    groups = [list[int]() for _ in starts]
    for number, path in zip(pack.examples, pack.paths, strict=True):
        groups[bisect_right(starts, path[-1][0]) - 1].append(number)
    return [tree(texts, group) for group in groups]


def merge_packs(packs: Sequence[Pack]) -> Pack:
    """Put the trees of several packs into one."""
    tokens, branches, paths = list[int](), list[TextBranch](), list[Path]()
    for pack in packs:
        before, start = len(branches), len(tokens)
        branches += [TextBranch(start + branch.start, start + branch.end, branch.depth) for branch in pack.branches]
        paths += [tuple((before + number, end) for number, end in path) for path in pack.paths]
        tokens += pack.tokens
    examples = tuple(number for pack in packs for number in pack.examples)
    return Pack(examples, tuple(tokens), tuple(branches), tuple(paths))


def _common_prefix(first: Ids, second: Ids) -> int:
    """Return the length of the common prefix, by bisection, since slices are compared quickly."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
