"""Canonical digest of a game tree: equal for games that differ in names, order and scale alone.

The digest is colour refinement (Weisfeiler and Leman 1968) of the sequence form: ends of the game, the seats'
sequences of actions, and their information sets. An end is its probability by chance, the last sequence of each seat,
and the payoffs. So the digest does not see

- names and order of seats, actions, chance outcomes and information sets;
- the order of moves that nobody observes, as of seats that choose at once;
- positive affine maps of a seat's payoffs: they are shares of the range of that seat, and 0 where they are constant;
- steps of chance, and draws that no seat sees: ends after equal sequences are one, which pays their mean;
- forced moves: a set with one action is no decision, and is left out;
- observations without consequences, as of suits in a game of ranks. The weights of equal colours after one sequence
  are summed, so information sets that refinement does not tell apart count as one.

Equal games have equal digests. Games with equal digests may still differ, where refinement cannot tell actions apart,
as in matrices whose rows and columns all hold the same payoffs. A digest that separates training from test may err on
that side only.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.games.sequence_form import SeatEnds, SequenceForm, sum_by_place
from stratagem.games.tree import GameTree

VERSION = 1
"""Version of the digest; raised when equal trees would get another one."""
KNOWN = "known_digests.json"
"""File of the digests of known games, which `tests/games/known_games.py` lists and computes."""
_GRID = 2.0**20 * 0.9189385332046727
"""Cells of a number that is hashed; no fraction with a small denominator lies on an edge."""
_OFFSET = 0.5772156649015329

Colours = NDArray[np.uint64]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def canonical_digest(tree: GameTree, form: SequenceForm | None = None) -> str:
    """Return the canonical digest of a tree, whose sequence form is made where it is not given."""
    game = _connect(form or SequenceForm(tree))
    ends, sets, sequences = _refine(game)
    whole = [
        *_weigh_colours(np.zeros(len(ends), dtype=np.int64), ends, game.ends.weights, 1),
        *_weigh_colours(np.zeros(len(sets), dtype=np.int64), sets, game.set_weights[game.live], 1),
        np.add.reduce(_mix(sequences[game.first_sequences])),
    ]
    digest = hashlib.blake2b(f"canonical {VERSION} {len(game.first_sequences)}".encode(), digest_size=16)
    digest.update(np.array(whole, dtype="<u8").tobytes())
    return digest.hexdigest()


@cache
def known_digests() -> Mapping[str, tuple[str, ...]]:
    """Return the texts of known games in their small forms, such as `kuhn(hands=1)`, by their digest."""
    stored = resources.files(__package__).joinpath(KNOWN).read_text(encoding="utf-8")
    texts = defaultdict[str, list[str]](list)
    for text, digest in json.loads(stored).items():
        texts[digest].append(text)
    return {digest: tuple(names) for digest, names in texts.items()}


class _WeighedEnds(NamedTuple):
    """Ends of a game after different sequences of its seats."""

    last: Ints
    """Number of the last sequence, by end and seat."""
    weights: Floats
    """Probability by chance."""
    payoffs: Colours
    """Payoff by end and seat, as a share of the seat's range."""


class _SequenceGraph(NamedTuple):
    """Sequences of all seats, numbered one seat after the other, with the sets and the ends that they belong to."""

    first_sequences: Ints
    """Empty sequence of each seat."""
    set_of_sequence: Ints
    """Set in which a sequence ends; sets number -1 - seat, counted from the end, hold the empty sequences."""
    parent_of_set: Ints
    """Sequence before each set; its own empty sequence where the set holds that one."""
    set_weights: Floats
    """Sum of the weights of the ends after each set."""
    ends: _WeighedEnds
    live: Ints
    """Sets that chance can lead to, without those of the empty sequences."""


def _connect(form: SequenceForm) -> _SequenceGraph:
    """Number all sequences and sets of a game without its forced moves."""
    counts = np.array([len(one.order) + 1 for one in form.seats])
    firsts = np.cumsum(counts) - counts
    num_sets = sum(len(one.starts) for one in form.seats)
    set_of = np.full(int(counts.sum()), -1, dtype=np.int64)
    before = np.zeros(len(set_of), dtype=np.int64)
    parents, sizes = [], []
    met = 0
    for seat, (one, first) in enumerate(zip(form.seats, firsts.tolist(), strict=True)):
        set_of[first] = num_sets + seat
        before[first] = first
        own = first + np.concatenate([layer.before for layer in one.layers]) if one.layers else one.starts
        before[first + 1 : first + 1 + len(own)] = own
        set_of[first + 1 : first + 1 + len(own)] = met + np.repeat(np.arange(len(one.sizes)), one.sizes)
        parents.append(own[one.starts])
        sizes.append(one.sizes)
        met += len(one.sizes)
    parent_of_set = np.concatenate([*parents, firsts])
    size_of_set = np.concatenate([*sizes, np.full(len(firsts), 2)])
    kept = np.where(size_of_set[set_of] > 1, np.arange(len(set_of)), before)
    while (kept[kept] != kept).any():
        kept = kept[kept]
    parent_of_set = kept[parent_of_set]
    ends = _merge_ends(form, kept, firsts)
    weights = _sum_weights(ends, set_of, parent_of_set, num_sets)
    live = np.flatnonzero((weights[:num_sets] > 0.0) & (size_of_set[:num_sets] > 1))
    return _SequenceGraph(firsts, set_of, parent_of_set, weights, ends, live)


def _merge_ends(form: SequenceForm, kept: Ints, firsts: Ints) -> _WeighedEnds:
    """Merge ends after equal sequences, without forced moves, and scale what they pay."""
    paid, chance = form.ends, form.ends_of(np.ones_like(form.tree.returns))
    last = np.stack([kept[first + _own_last(one)] for first, one in zip(firsts, paid, strict=True)], axis=1)
    weights = np.empty(len(last))
    weights[chance[0].order] = chance[0].paid
    sums = np.empty(last.shape)
    for seat, one in enumerate(paid):
        sums[one.order, seat] = one.paid
    key = np.zeros(len(last), dtype=np.int64)
    for column in last.T:
        _, key = np.unique(key * len(kept) + column, return_inverse=True)
    _, first_of_key, place = np.unique(key, return_index=True, return_inverse=True)
    weights = sum_by_place(place, weights, len(first_of_key))
    drawn = weights > 0.0
    weights = weights[drawn]
    columns = [sum_by_place(place, column, len(drawn))[drawn] / weights for column in sums.T]
    shares = _shares(np.stack(columns, axis=1), np.abs(form.tree.returns).max(axis=0))
    return _WeighedEnds(last[first_of_key][drawn], weights, _cells(shares))


def _own_last(ends: SeatEnds) -> Ints:
    """Return the seat's own last sequence at each end."""
    last = np.empty(len(ends.order), dtype=np.int64)
    last[ends.order] = np.repeat(ends.sequences, np.diff(ends.starts, append=len(ends.order)))
    return last


def _shares(payoffs: Floats, largest: Floats) -> Floats:
    """Return payoffs as shares of the range of their seat; 0 where that is rounding beside its largest payoff."""
    low = payoffs.min(axis=0)
    spread = payoffs.max(axis=0) - low
    constant = spread <= 1e-9 * largest
    shares: Floats = np.where(constant, 0.0, (payoffs - low) / np.where(constant, 1.0, spread))
    return shares


def _sum_weights(ends: _WeighedEnds, set_of: Ints, parent_of_set: Ints, num_sets: int) -> Floats:
    """Return the sum of the weights of the ends after each set."""
    after = sum_by_place(ends.last.ravel(), np.repeat(ends.weights, ends.last.shape[1]), len(set_of))
    sums = sum_by_place(set_of, after, num_sets + ends.last.shape[1])
    pending = sums[:num_sets].copy()
    while pending.any():  # once for each own move of a seat
        above = sum_by_place(set_of[parent_of_set[:num_sets]], pending, len(sums))
        sums += above
        pending = above[:num_sets]
    return sums


def _refine(game: _SequenceGraph) -> tuple[Colours, Colours, Colours]:
    """Refine the colours of ends, live sets and sequences until no class is divided any more."""
    num_sequences, num_sets = len(game.set_of_sequence), len(game.set_weights)
    scale = 1.0 / np.where(game.set_weights > 0.0, game.set_weights, 1.0)
    seats = game.ends.last.shape[1]
    at_end = game.ends.last.ravel()
    share_of_end = np.repeat(game.ends.weights, seats) * scale[game.set_of_sequence[at_end]]
    parents = game.parent_of_set[game.live]
    share_of_set = game.set_weights[game.live] * scale[game.set_of_sequence[parents]]
    live_sequences = np.flatnonzero(np.isin(game.set_of_sequence, game.live))
    set_of_live = game.set_of_sequence[live_sequences]
    sequences = np.full(num_sequences, 1, dtype=np.uint64)
    sets = np.full(num_sets, 2, dtype=np.uint64)
    known = 0
    while True:
        met = _join(sequences[game.ends.last], game.ends.payoffs)
        ends = _mix(np.add.reduce(met, axis=1))
        seen = _join(np.repeat(ends, seats), game.ends.payoffs.ravel())  # a seat knows its own part in the end
        later = _weigh_colours(parents, sets[game.live], share_of_set, num_sequences)
        after = _weigh_colours(at_end, seen, share_of_end, num_sequences)
        sequences = _join(sequences, sets[game.set_of_sequence], after, later)
        among = np.zeros(num_sets, dtype=np.uint64)
        np.add.at(among, set_of_live, _mix(sequences[live_sequences]))
        sets = _join(sets, sequences[game.parent_of_set], among)
        classes = sum(len(np.unique(colours)) for colours in (ends, sets[game.live], sequences[live_sequences]))
        if classes == known:
            return ends, sets[game.live], sequences
        known = classes


def _weigh_colours(owners: Ints, colours: Colours, shares: Floats, num_owners: int) -> Colours:
    """Return a colour of the shares by colour of each owner; the order does not count."""
    sums = np.zeros(num_owners, dtype=np.uint64)
    if not len(owners):
        return sums
    key = _join(owners.astype(np.uint64), colours)
    order = np.argsort(key)
    key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    total = np.add.reduceat(shares[order], starts)
    some = order[starts]
    np.add.at(sums, owners[some], _join(colours[some], _cells(np.log2(total))))
    return sums


def _cells(values: Floats) -> Colours:
    """Return the cell of each number; numbers that differ by rounding share one."""
    return np.floor(values * _GRID + _OFFSET).astype(np.int64).astype(np.uint64)


def _join(*columns: Colours) -> Colours:
    """Return one colour for several."""
    joined = _mix(columns[0])
    for column in columns[1:]:
        joined = _mix(joined * np.uint64(0x9E3779B97F4A7C15) + column)
    return joined


def _mix(colours: Colours) -> Colours:
    """Return colours whose bits all depend on each other: the finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    mixed = colours + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
