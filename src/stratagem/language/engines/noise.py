"""Noise that is a function of the request: the largest log-probability plus Gumbel noise is the sample.

The noise of a token follows from the request's key, the place in the reply and the token's id by an integer hash
(Wellons' lowbias32, applied twice), so it is the same on every device, alone or in any batch. That makes the sample of
a request nearly independent of what else is computed beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from stratagem.games.key import Key

_GOLDEN = 0x9E3779B9 - (1 << 32)
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - (1 << 32)
"""2^32 over the golden ratio, which spreads neighbouring ids, and lowbias32's multipliers.

They are negative from 2^31 on, since torch multiplies signed numbers only.
"""
_WORD = 0xFFFFFFFF
_LARGEST = 22.0
"""Upper bound of an exponential variate; one in three billion draws exceeds it."""

VALUES_AT_ONCE = 1 << 18
"""Number of values that stay in a processor's cache through all the steps of the hash."""


def seeds(keys: Sequence[Key], indices: Sequence[int], device: torch.device | str) -> torch.Tensor:
    """Two 32-bit seeds a row, for the token at this index of the reply."""
    values = [key.at("token", index).value for key, index in zip(keys, indices, strict=True)]
    halves = [(_as_signed(value >> 32), _as_signed(value & 0xFFFFFFFF)) for value in values]
    return torch.tensor(halves, dtype=torch.int32, device=device).reshape(len(values), 2)


def gumbel(row_seeds: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Return the Gumbel noise of each row's tokens; `tokens` are ids, a row of them for all rows or one row each."""
    together = max(1, VALUES_AT_ONCE // tokens.shape[-1])
    if row_seeds.device.type != "cpu" or len(row_seeds) <= together:
        return _noise(row_seeds, tokens)
    result = torch.empty(len(row_seeds), tokens.shape[-1])
    for start in range(0, len(row_seeds), together):
        some = slice(start, start + together)
        result[some] = _noise(row_seeds[some], tokens[some] if len(tokens) > 1 else tokens)
    return result


def gumbel_of(key: Key, index: int, tokens: Sequence[int]) -> list[float]:
    """Return the same noise, to rounding, of a few tokens at this index of one reply, without a tensor."""
    value = key.at("token", index).value
    first, second = value >> 32, value & _WORD
    shares = (_mixed_word(_mixed_word((token * _GOLDEN + first) & _WORD) ^ second) for token in tokens)
    return [-math.log(min(-math.log1p(-(share + 0.5) / 2**32), _LARGEST)) for share in shares]


def _mixed_word(word: int) -> int:
    word ^= word >> 16
    word = word * _FIRST & _WORD
    word ^= word >> 15
    word = word * _SECOND & _WORD
    return word ^ word >> 16


def _noise(row_seeds: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    bits = _mix_bits(tokens.to(torch.int32) * _GOLDEN + row_seeds[:, :1])
    bits = _mix_bits(bits.bitwise_xor_(row_seeds[:, 1:]))
    share = bits.to(torch.float32).mul_(2.0**-32)
    share.add_((share < 0).to(torch.float32)).add_(2.0**-33)
    # near 0 the share has fine steps, and small exponential variates are those that win
    return share.neg_().log1p_().neg_().clamp_(max=_LARGEST).log_().neg_()


def _mix_bits(bits: torch.Tensor) -> torch.Tensor:
    bits ^= (bits >> 16) & 0xFFFF
    bits *= _FIRST
    bits ^= (bits >> 15) & 0x1FFFF
    bits *= _SECOND
    bits ^= (bits >> 16) & 0xFFFF
    return bits


def _as_signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
