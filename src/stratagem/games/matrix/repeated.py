"""The repeated matrix games of the literature, by name: one table of payoffs each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from stratagem.games.matrix.rules import MatrixGame

_SEPO = "SEPO, appendix F"
_SHAPE = "ShapeLLM, section 4"

REPEATED: dict[str, Callable[..., MatrixGame]] = {
    "ipd": partial(
        MatrixGame,
        name="ipd",
        payoffs=(((3, 3), (0, 5)), ((5, 0), (1, 1))),
        labels=("COOPERATE", "DEFECT"),
        rounds=8,
        cooperative=True,
        story="You and another player choose at the same time, round after round, without talking.",
        summary="Iterated prisoner's dilemma, payoffs {payoffs}, {rounds}.",
        reference=_SEPO,
    ),
    "ipd-shapellm": partial(
        MatrixGame,
        name="ipd-shapellm",
        payoffs=(((3, 3), (0, 4)), ((4, 0), (1, 1))),
        labels=("C", "D"),
        rounds=20,
        cooperative=True,
        summary="Iterated prisoner's dilemma, payoffs {payoffs}, {rounds}.",
        reference=_SHAPE,
    ),
    "imp": partial(
        MatrixGame,
        name="imp",
        payoffs=(((1, -1), (-1, 1)), ((-1, 1), (1, -1))),
        labels=("H", "T"),
        rounds=20,
        summary="Iterated matching pennies: seat 0 wins when the two match.",
        reference=_SHAPE,
    ),
    "icg": partial(
        MatrixGame,
        name="icg",
        payoffs=(((2, 2), (1, 3)), ((3, 1), (-5, -5))),
        labels=("S", "G"),
        rounds=20,
        cooperative=True,
        summary="Iterated chicken: swerve or go; two that go crash.",
        reference=_SHAPE,
    ),
    "ish": partial(
        MatrixGame,
        name="ish",
        payoffs=(((4, 4), (0, 3)), ((3, 0), (1, 1))),
        labels=("S", "H"),
        rounds=20,
        cooperative=True,
        summary="Iterated stag hunt: the stag takes two, a hare feeds one.",
        reference=_SHAPE,
    ),
    "c-ipd": partial(
        MatrixGame,
        name="c-ipd",
        payoffs=(((6, 3), (0, 4)), ((4, 0), (1, 1))),
        labels=("C", "D"),
        rounds=20,
        cooperative=True,
        summary="Iterated prisoner's dilemma in which seat 0 gets 6 from mutual cooperation.",
        reference=_SHAPE,
    ),
    "prisoners-dilemma": partial(
        MatrixGame,
        name="prisoners-dilemma",
        payoffs=(((-1, -1), (-3, 0)), ((0, -3), (-2, -2))),
        labels=("SILENT", "TESTIFY"),
        rounds=1,
        cooperative=True,
        story="You and your accomplice are questioned in separate rooms; what you get is minus the years in prison.",
        story_words=("accomplice", "question", "prison", "year"),
        summary="The prisoner's dilemma in sentences, {often}.",
        reference="SCO-PAL, appendix D; GTBench (Duan et al. 2024)",
    ),
    "matrix": MatrixGame,
}
"""Every repeated game by name; `matrix` takes any table of payoffs."""
