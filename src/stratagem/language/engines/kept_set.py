"""Kept set of a sampled token: the tokens that top-k and top-p leave, in an exact form of few bytes.

A set is stored in the smallest of three forms: the gaps between its ids, a bitmap, or the gaps between the ids that it
lacks. A gap below 128 takes one byte, one below 16,384 two. So a set of ten tokens takes about 20 bytes, and one of any
size an eighth of the vocabulary's size at most: 19 kB where there are 152,000 tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stratagem.language.decoding.vocabulary import Ids

Array = NDArray[Any]
_GAPS, _BITMAP, _LACKS = 0, 1, 2
"""Forms, the first byte of a set; the vocabulary's size follows in four bytes."""
_HEAD = 5
_LISTED = 1024
"""Largest allowed set that is kept as a list of ids."""
_WIDE = (1 << 7, 1 << 14, 1 << 21, 1 << 28)
"""Numbers from which on a gap takes another byte."""


@dataclass(frozen=True, slots=True)
class KeptSet:
    """Set of token ids of a vocabulary; equal sets have equal bytes."""

    packed: bytes

    @classmethod
    def of(cls, ids: Array | Ids, size: int) -> KeptSet:
        """Pack ascending ids of a vocabulary of `size` tokens."""
        return pack(np.asarray(ids, dtype=np.int64), np.array([len(ids)]), size)[0]

    @property
    def size(self) -> int:
        """Number of tokens of the vocabulary."""
        return int.from_bytes(self.packed[1:_HEAD], "little")

    @property
    def ids(self) -> Array:
        """The ids, ascending."""
        return np.flatnonzero(~self.lacking) if self.is_large else _sums(self._data)

    @property
    def _data(self) -> Array:
        return np.frombuffer(self.packed, np.uint8, offset=_HEAD)

    @property
    def is_large(self) -> bool:
        """True for a bitmap or a list of what is lacking: about an eighth of the vocabulary or more."""
        return self.packed[0] != _GAPS

    @property
    def lacking(self) -> Array:
        """Mask over the vocabulary of the ids that are not in the set."""
        if self.packed[0] == _BITMAP:
            return np.unpackbits(self._data, count=self.size) < 1
        mask = np.full(self.size, self.packed[0] == _GAPS)
        mask[_sums(self._data)] = self.packed[0] != _GAPS
        return mask

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __contains__(self, token: object) -> bool:
        return bool((self.ids == token).any())


TokenSet = Ids | KeptSet
"""Set that a token was drawn from: the allowed tokens of a guide, or those of them that top-k and top-p left."""


def pack(ids: Array, counts: Array, size: int) -> list[KeptSet]:
    """Pack several sets: their ascending ids, concatenated, and the number of ids of each, at least one."""
    ends = np.cumsum(counts)
    starts = ends - counts
    before = np.concatenate(([-1], ids[:-1]))
    before[starts] = -1
    data, widths = _encode_gaps(ids - before - 1)
    lengths = np.add.reduceat(widths, starts)
    stops = np.cumsum(lengths)
    head, limit = _head(_GAPS, size), -(-size // 8)
    return [
        KeptSet(head + data[stop - length : stop]) if length <= limit else _large(ids[start:end], size)
        for start, end, stop, length in zip(
            starts.tolist(), ends.tolist(), stops.tolist(), lengths.tolist(), strict=True
        )
    ]


@lru_cache(maxsize=64)
def _of(ids: Ids, size: int) -> KeptSet:
    return KeptSet.of(ids, size)


def compact(ids: Ids, size: int) -> TokenSet:
    """Return an allowed set as it is kept: packed where it is large, as within a string of free characters."""
    return ids if len(ids) <= _LISTED else _of(ids, size)


def token_array(tokens: TokenSet) -> Array:
    """Return the ids of a set as an array."""
    return tokens.ids if isinstance(tokens, KeptSet) else np.array(tokens, dtype=np.int64)


def _head(form: int, size: int) -> bytes:
    return bytes([form]) + size.to_bytes(_HEAD - 1, "little")


def _large(ids: Array, size: int) -> KeptSet:
    """Pack a set whose gaps take more bytes than a bitmap."""
    bits = np.zeros(size, dtype=bool)
    bits[ids] = True
    data, _ = _encode_gaps(np.diff(np.flatnonzero(~bits), prepend=-1) - 1)
    if len(data) < -(-size // 8):
        return KeptSet(_head(_LACKS, size) + data)
    return KeptSet(_head(_BITMAP, size) + np.packbits(bits).tobytes())


def _encode_gaps(gaps: Array) -> tuple[bytes, Array]:
    """Encode numbers with seven bits a byte, the low ones first, and return the number of bytes of each (LEB128)."""
    widths: Array = 1 + np.searchsorted(_WIDE, gaps, side="right")
    starts = np.cumsum(widths) - widths
    data = np.zeros(int(widths.sum()), dtype=np.uint8)
    for place in range(int(widths.max(initial=0))):
        longer = widths > place
        more = (widths[longer] > place + 1).astype(np.int64) << 7
        data[starts[longer] + place] = ((gaps[longer] >> (7 * place)) & 127) | more
    return data.tobytes(), widths


def _sums(data: Array) -> Array:
    """Decode gaps, and sum them to ids."""
    if not len(data):
        return np.zeros(0, dtype=np.int64)
    last = data < 128
    starts = np.concatenate(([0], np.flatnonzero(last)[:-1] + 1))
    place = np.arange(len(data)) - np.repeat(starts, np.diff(starts, append=len(data)))
    gaps = np.add.reduceat((data & 127).astype(np.int64) << (7 * place), starts)
    ids: Array = np.cumsum(gaps + 1) - 1
    return ids
