"""Distribution of drawn games by name: `draws(cards, 20, seed=1)` stands for 20 games wherever a list is taken.

Games that are equal but for names, order and scale, by their canonical digest, are drawn once. Games that a list must
not meet, such as those of training in a validation, are left out by the same digest, whatever their seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count as count_up
from typing import Any, Self, TypeGuard

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import check_seed, whole, within
from stratagem.base.registry import parse_call
from stratagem.games.base import Game
from stratagem.games.catalogue import SEVERAL, STREAM
from stratagem.games.drawn.description import check_wording
from stratagem.games.drawn.drawing import GENERATOR, check_family, draw_game
from stratagem.games.drawn.generator.sketch import Size
from stratagem.games.drawn.stored_draws import GameDraw
from stratagem.games.key import Key

MOST = 1_000
"""Largest number of games of a distribution."""
_TRIES = 50
"""Draws in a row without a new game after which a family is exhausted."""
_SEEDS = 2**32
"""Number of seeds of games: short enough to be read in a name."""


@dataclass(frozen=True)
class DrawnName:
    """Name of a drawn game with its draw."""

    name: str
    draw: GameDraw


@dataclass(frozen=True)
class GameDistribution:
    """Games of a family that are drawn by one seed."""

    family: str
    count: int
    seed: int = 0
    size: Size = "small"
    wording: int | None = None
    """Wording of their rules; None takes that of each draw. The games are the same in every wording."""

    def __post_init__(self) -> None:
        check_family(self.family, self.size)
        whole(SEVERAL, "count", self.count, 1)
        within(SEVERAL, "count", self.count, 1, MOST)
        check_seed(self.seed)
        if self.wording is not None:
            check_wording(self.wording)

    def __str__(self) -> str:
        return f"{SEVERAL}({self.family}, {self.count}, seed={self.seed}{self._further})"

    @property
    def name(self) -> str:
        """Name without the seed, which figures have."""
        return f"{SEVERAL}({self.family}, {self.count}{self._further})"

    @property
    def _further(self) -> str:
        sized = "" if self.size == "small" else f", size={self.size}"
        return sized if self.wording is None else f"{sized}, wording={self.wording}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `draws(FAMILY, COUNT, seed=S, size=SIZE, wording=W)`."""
        return cls(**_read_options(text, ("family", "count", "seed", "size", "wording")))

    def games(self, *, apart: Collection[str] = (), least_random: float = 0.0) -> tuple[DrawnName, ...]:
        """Return the games, whose digests differ from each other and from those of `apart`.

        Games in which random play is less exploitable than `least_random`, a share of the payoff range, are left out.
        """
        return _draw_apart(self, frozenset(apart), least_random)


@dataclass(frozen=True)
class GameStream:
    """Fresh drawn games in each iteration of a training."""

    family: str
    per_iteration: int
    seed: int = 0
    size: Size = "small"
    wording: int | None = None

    def __post_init__(self) -> None:
        self.games_of(0)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read `stream(FAMILY, PER_ITERATION, seed=S, size=SIZE, wording=W)`."""
        return cls(**_read_options(text, ("family", "per_iteration", "seed", "size", "wording")))

    @property
    def figure_name(self) -> str:
        """First part of the names of the figures of all its games together."""
        worded = "" if self.wording is None else f"-wording-{self.wording}"
        return f"{STREAM}-{self.family}" + ("" if self.size == "small" else f"-{self.size}") + worded

    def games_of(self, iteration: int) -> GameDistribution:
        """Return the distribution of the games of an iteration."""
        check_seed(self.seed)
        seed = Key(self.seed).at(STREAM, iteration).integer(_SEEDS)
        return GameDistribution(self.family, self.per_iteration, seed, self.size, self.wording)


def _read_options(text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the options of a name of several games."""
    call = parse_call(text)
    form = f"write {call.name}({names[0].upper()}, {names[1].upper()}, seed=S, size=small, wording=W)"
    given = dict(zip(names, call.args, strict=False))
    if len(call.args) > len(names) or given.keys() & call.kwargs.keys() or {*call.kwargs} - {*names}:
        raise BadParameter(f"{text} is no distribution of games: {form}.")
    values = {**given, **call.kwargs}
    if missing := [name for name in names[:2] if name not in values]:
        raise BadParameter(f"{text} lacks its {missing[0]}: {form}.")
    return values


@lru_cache(maxsize=64)
def _draw_apart(wanted: GameDistribution, apart: frozenset[str], least_random: float) -> tuple[DrawnName, ...]:
    found: dict[str, DrawnName] = {}
    missed = 0
    for drawn in _candidates(wanted):
        known = drawn.draw.digest in found or drawn.draw.digest in apart
        if known or drawn.draw.worth.random.exploitability < least_random:
            missed += 1
            if missed == _TRIES:
                break
            continue
        missed = 0
        found[drawn.draw.digest] = drawn
        if len(found) == wanted.count:
            return tuple(found.values())
    raise CannotCompute(
        f"{wanted} finds {len(found)} different games, and {_TRIES} further draws gave no other: ask for fewer, or for "
        "another family or size."
    )


def _candidates(wanted: GameDistribution) -> Iterator[DrawnName]:
    key = Key(wanted.seed).at(SEVERAL, GENERATOR, wanted.family, wanted.size)
    for number in count_up():
        seed = key.at(number).integer(_SEEDS)
        name = name_drawn(seed, wanted.family, wanted.size, wanted.wording)
        yield DrawnName(name, draw_game(seed, wanted.family, wanted.size))


def name_drawn(seed: int, family: str, size: str, wording: int | None = None) -> str:
    """Return the name of the game of a seed, as `describe` writes it."""
    options = [f"seed={seed}"] if seed else []
    options += [f"family={family!r}"] if family != "cards" else []
    options += [f"size={size!r}"] if size != "small" else []
    options += [f"wording={wording}"] if wording is not None else []
    return f"drawn({', '.join(options)})" if options else "drawn"


def is_stream(game: object) -> TypeGuard[str]:
    """Return whether a text names fresh games of each iteration."""
    return isinstance(game, str) and parse_call(game).name == STREAM


def is_distribution(game: object) -> TypeGuard[str]:
    """Return whether a text names several drawn games."""
    return isinstance(game, str) and parse_call(game).name == SEVERAL


def expand_games(games: Sequence[str | Game[Any]], apart: Collection[str] = ()) -> list[Any]:
    """Return a list of games in which each distribution stands as the names of its games."""
    listed: list[Any] = []
    for game in games:
        if is_distribution(game):
            listed += [one.name for one in GameDistribution.read(game).games(apart=apart)]
        else:
            listed.append(game)
    return list(dict.fromkeys(listed)) if len(listed) > len(games) else listed
