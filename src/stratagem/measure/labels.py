"""Label selection (ShapeLLM, appendix A.6): the two capitals under which a model begins nearest to a target.

The play of an untrained model depends on the names of its actions. Each of the 650 ordered pairs of capitals names the
two actions, for both seats, and the model is asked five times: before anything was played, and after each joint action.
Its policy is read off its next-token probabilities over the whole vocabulary, nothing masked, at temperature 1. The
distance of a pair from a target t, which has a probability of the first action for each state, is

KL = mean over the five states of t log(t / q) + (1 - t) log((1 - t) / (1 - q)), q = p(a1) / (p(a1) + p(a2))

The paper does not define the treatment of the probability of all other tokens. Here it is left out, as the paper itself
does where it copies a policy (A.9), and `legal`, the sum of the two labels' probabilities, is reported beside.
Otherwise the mean of -log(legal) would be added. The paper counts 325 pairs, its Table 13 holds T/K: order matters, so
all 650.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from string import ascii_uppercase
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games.base import Game, Seat, View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixGame
from stratagem.language.decoding.spelling import Unspellable
from stratagem.language.engines.base import Engine
from stratagem.language.prompting.base import Style
from stratagem.players.speaker import Speaker
from stratagem.players.stating import single_policies

Labels = tuple[str, str]
"""Names of the first and the second action."""
PAIRS: tuple[Labels, ...] = tuple(permutations(ascii_uppercase, 2))
"""All ordered pairs of distinct capitals; neighbours share the beginning of their prompts."""
TARGETS = (0.75, 0.5, 0.25)
"""Probabilities of the first action, in every state, of ShapeLLM's three opponents at the start."""
BATCH = len(ascii_uppercase) - 1
"""Number of pairs whose prompts are sent to the engine together: those with one first label."""


class LabelReading(NamedTuple):
    """Next-token probabilities of both labels under one pair, for every state."""

    first: tuple[float, ...]
    second: tuple[float, ...]

    @property
    def legal(self) -> tuple[float, ...]:
        """The sum of the labels' probabilities; the rest goes to other tokens."""
        return tuple(a + b for a, b in zip(self.first, self.second, strict=True))

    @property
    def share(self) -> tuple[float, ...]:
        """The first label's share of that sum; nan where the sum is zero."""
        return tuple(a / both if both else math.nan for a, both in zip(self.first, self.legal, strict=True))


Scan = dict[Labels, LabelReading | None]
"""Readings of all pairs; None where the tokenizer writes a label as more than one token."""


@dataclass(frozen=True)
class Scene:
    """Repeated game of two by two actions, its prompt style, and the seat that is asked."""

    game: MatrixGame
    style: Style
    seat: Seat = 1
    """Seat that is asked.

    ShapeLLM chooses labels for the opponent, seat 1; in a game whose seats are alike it makes no difference.
    """

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The five states as the game names them, the seat's own action first."""
        mine, theirs = self.game.seat_labels(self.seat), self.game.seat_labels(1 - self.seat)
        return ("start", *(f"{a}/{b}" for a, b in product(mine, theirs)))

    def views(self, labels: Labels) -> list[View[Any]]:
        """Return the seat's views of the five states under these labels."""
        game = replace(self.game, labels=labels, labels_second=None)
        return [self._view(game, played) for played in (None, *product(labels, labels))]

    def _view(self, game: MatrixGame, played: Labels | None) -> View[Any]:
        state = game.start(Key(0))
        if played is not None:
            state.play({self.seat: played[0], 1 - self.seat: played[1]})
        return state.view(self.seat)


def scene_of(game: Game[Any], style: Style, seat: Seat = 1) -> Scene:
    """Check that labels can be chosen for this game in this style."""
    if not isinstance(game, MatrixGame) or len(game.labels) != 2 or len(game.seat_labels(1)) != 2:
        raise BadParameter(
            f"Labels are chosen for matrix games of two actions a seat, such as ipd-shapellm, not {game.spec.name}."
        )
    if game.rounds < 2:
        raise BadParameter(f"Labels are chosen for repeated games, and {game.name} is over after one round.")
    if style.mark:
        raise BadParameter(
            f"In this style {style.mark!r} comes before the action: choose one that asks for the action alone, "
            "such as shapellm-state."
        )
    if seat not in (0, 1):
        raise BadParameter(f"{game.name} has the seats 0 and 1, not {seat}.")
    return Scene(game, style, seat)


def num_batches(pairs: Sequence[Labels], batch: int = BATCH) -> int:
    """Return the number of batches of a `scan` of these pairs."""
    return math.ceil(len(pairs) / batch)


def scan(
    engine: Engine,
    scene: Scene,
    pairs: Sequence[Labels] = PAIRS,
    *,
    adapter: str = "",
    batch: int = BATCH,
    progress: Callable[[str], None] = lambda _: None,
) -> Iterator[Scan]:
    """Read the pairs batch by batch, and announce each batch."""
    if not engine.capabilities.scores:
        raise CannotCompute(
            f"{engine.name} does not tell how likely its tokens are, so no labels can be chosen for it."
        )
    speaker = Speaker(engine=engine, adapter=adapter, style=scene.style)
    starts = range(0, len(pairs), batch)
    return (_read(speaker, scene, pairs[start : start + batch], progress) for start in starts)


def _read(speaker: Speaker, scene: Scene, pairs: Sequence[Labels], progress: Callable[[str], None]) -> Scan:
    """Ask about all states of these pairs in one batch, as a seat in the mode `single` would be asked."""
    progress(f"labels from {'/'.join(pairs[0])}")
    views = {labels: scene.views(labels) for labels in pairs}
    usable = [labels for labels in pairs if all(_single(speaker, view) for view in views[labels])]
    says = iter(single_policies(speaker, [view for labels in usable for view in views[labels]]))
    read = {labels: _reading(labels, [next(says) for _ in views[labels]]) for labels in usable}
    return {labels: read.get(labels) for labels in pairs}


def _single(speaker: Speaker, view: View[Any]) -> bool:
    """Return whether each label is a single token after the prompt."""
    try:
        speaker.compiler.labels(view.choices, speaker.prompt(view))
    except (Unspellable, BadParameter):
        return False
    return True


def _reading(labels: Labels, says: Sequence[Mapping[str, float]]) -> LabelReading:
    first, second = (tuple(policy[label] for policy in says) for label in labels)
    if any(map(math.isnan, (*first, *second))):
        raise CannotCompute("The model's probabilities are no numbers, so no labels can be chosen for it.")
    return LabelReading(first, second)


class RankedPair(NamedTuple):
    """A pair with its distance from a target."""

    labels: Labels
    reading: LabelReading
    kl: float


def rank(
    scan: Mapping[Labels, LabelReading | None], target: Sequence[float], min_legal: float = 0.0
) -> list[RankedPair]:
    """Sort the pairs that were read, nearest to the target first.

    `min_legal` is the smallest accepted mean of `legal`.
    """
    read = ((labels, reading) for labels, reading in scan.items() if reading is not None)
    legible = (pair for pair in read if math.fsum(pair[1].legal) / len(pair[1].legal) >= min_legal)
    return sorted(
        (RankedPair(*pair, divergence(target, pair[1])) for pair in legible), key=lambda pair: (pair.kl, pair.labels)
    )


def divergence(target: Sequence[float], reading: LabelReading) -> float:
    """Return the KL divergence from the target to the model's policy over the two labels, mean over states, in nats."""
    pairs = zip(target, reading.share, strict=True)
    return math.fsum(_term(t, q) + _term(1.0 - t, 1.0 - q) for t, q in pairs) / len(target)


def _term(t: float, q: float) -> float:
    if t == 0.0:
        return 0.0
    return t * math.log(t / q) if q > 0.0 else math.inf
