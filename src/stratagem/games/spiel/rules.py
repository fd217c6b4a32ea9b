"""Rules of any OpenSpiel game: its declared facts and legal actions from the engine, its words from a face."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from stratagem.base.errors import CannotCompute, IllegalAction
from stratagem.base.options import whole
from stratagem.games.base import Game, Node, RoundResult, Seat, pending
from stratagem.games.choices import Flat
from stratagem.games.spec import GameSpec
from stratagem.games.spiel.engine import SpielEngine, load
from stratagem.games.spiel.face import Face, PlainFace
from stratagem.games.spiel.facts import LegalMenu, SpielFacts, menu_of

_KEPT_MENUS = 4096
"""Number of cached menus of a seat; more are made anew, since memory matters more than a microsecond."""
_SHORT = 16
"""Largest number of actions of a menu that is cached by its words; a longer one seldom comes again."""


@dataclass(frozen=True, kw_only=True)
class SpielRules(Game[SpielFacts]):
    """Rules of a game that OpenSpiel plays."""

    largest: ClassVar = {"retries": 100}

    text: str
    """OpenSpiel's text of the game with its parameters: `tic_tac_toe`, `breakthrough(rows=8,columns=3)`."""
    face: Face | None = None
    """Texts and action names; the engine's own where there is no face."""
    retries: int = 1
    """Number of retries after an illegal reply, before the game is lost."""

    def __post_init__(self) -> None:
        load(self.text)
        whole(self.look.name or self.text, "retries", self.retries, 0)

    @cached_property
    def engine(self) -> SpielEngine:
        """The loaded game."""
        return load(self.text)

    @cached_property
    def look(self) -> Face:
        """Face in use."""
        return self.face or PlainFace(text=self.text)

    @cached_property
    def alone(self) -> tuple[tuple[Seat], ...]:
        """Each seat as the only one to act."""
        return tuple((seat,) for seat in range(self.engine.seats))

    @cached_property
    def nothing(self) -> tuple[float, ...]:
        """A payoff of zero for everybody."""
        return (0.0,) * self.engine.seats

    @cached_property
    def pending(self) -> RoundResult:
        """The result of a move that ends nothing."""
        return pending(self.engine.seats)

    @cached_property
    def menus(self) -> tuple[dict[tuple[tuple[int, ...], tuple[str, ...]], LegalMenu], ...]:
        """Cached menus of each seat by legal actions, with their words where these depend on the position."""
        return tuple({} for _ in range(self.engine.seats))

    @cached_property
    def spec(self) -> GameSpec:
        engine, look = self.engine, self.look
        return GameSpec(
            name=look.name or f"spiel:{self.text}",
            family=look.family or look.name or engine.short_name,
            summary=look.summary or f"{engine.long_name}, as OpenSpiel plays it.",
            reference=look.reference or "OpenSpiel (Lanctot et al. 2019, arXiv:1908.09453)",
            seats=engine.seats,
            simultaneous=engine.simultaneous,
            utility=engine.utility,
            rounds=1,
            bounds=engine.bounds,
            chance=engine.chance,
            private_information=not (engine.perfect or engine.one_shot),
            markov=engine.telling,
            symmetric=look.symmetric,
            on_illegal="forfeit",
            retries=self.retries,
            unit="points a game",
        )

    def menu(self, node: Node, seat: Seat) -> LegalMenu:
        """Return the legal actions of `seat` at `node`."""
        ids = tuple(node.legal_actions(seat))
        words = () if self.look.static_actions else _words(node, seat, ids)
        menus = self.menus[seat]
        menu = menus.get((ids, words))
        if menu is None:
            if not ids:
                raise IllegalAction(f"In {self.spec.name} seat {seat} has nothing to choose now.")
            menu = menu_of(self.look.names(words or _words(node, seat, ids), ids), ids)
            if len(words) <= _SHORT:
                if len(menus) >= _KEPT_MENUS:
                    menus.clear()
                menus[ids, words] = menu
        return menu

    def choices(self, facts: SpielFacts) -> Flat:
        return facts.menu.choices

    def state_key(self, facts: SpielFacts) -> str:
        return facts.state_key

    def info_key(self, facts: SpielFacts) -> str:
        """Return the engine's information state, so that its solvers and ours speak of the same sets.

        Where seats move together it may be the same text for all of them, so there the seat goes before it.
        """
        return f"seat {facts.seat}: {facts.information}" if self.engine.simultaneous else facts.information

    def rules(self, seat: Seat) -> str:
        return self.look.rules(seat)

    def situation(self, facts: SpielFacts) -> str:
        return self.look.situation(facts)

    def vocabulary(self) -> tuple[str, ...]:
        if isinstance(self.look, PlainFace):
            raise CannotCompute(f"{self.spec.name} is told by its name, so its rules cannot be put in other words.")
        return self.look.vocabulary


def _words(node: Node, seat: Seat, ids: tuple[int, ...]) -> tuple[str, ...]:
    """Return the engine's words of some actions."""
    return tuple([node.action_to_string(seat, number) for number in ids])
