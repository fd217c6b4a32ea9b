"""DumbBot with talk: proposes peace, asks for support, accepts what it is offered, and keeps its word at a rate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from stratagem.base.options import within
from stratagem.games.base import Game
from stratagem.games.choices import Sheet
from stratagem.games.talk import MOVE, talk_in, without_talk
from stratagem.players.base import Ask, Move, format_option
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.dumbbot import DumbBot
from stratagem.players.diplomacy.pledged import PledgedCampaign
from stratagem.players.diplomacy.proposals import Negotiation


@dataclass(frozen=True)
class DumbBotPress(DumbBot):
    """DumbBot with talk. What it says in a phase binds its orders of that phase with probability `honour`.

    In each exchange it says one of these, the first that it can: peace to a power that offered it, support to a power
    that asked for it and has its peace, an offer of peace to the neighbour that threatens it least, and a request for
    support into the place that it values most, to the least dangerous of the powers that could give it. With
    probability 1 - `honour` it orders as DumbBot does, as if it had said nothing.
    """

    called = "dumbbot-press"
    talks: ClassVar[bool] = True
    honour: float = 0.8

    def __post_init__(self) -> None:
        within(self.called, "honour", self.honour, 0.0, 1.0)

    @property
    def name(self) -> str:
        usual = self.honour == type(self).honour
        return super().name if usual else f"{super().name}(honour={format_option(self.honour)})"

    def check(self, game: Game[Any]) -> None:
        """Refuse any other game than Diplomacy, with talk or without."""
        super().check(without_talk(game))

    def turn(self, ask: Ask) -> Move:
        """Say a line, or write the sheet."""
        talk, facts = talk_in(ask.view.game), ask.view.facts
        if talk is None:
            return super().turn(ask)
        talks = Negotiation(talk, facts, self.appraisal)
        if facts.exchange != MOVE:
            return Move(talks.line())
        if talks.promises and ask.key.at("honour").unit() < self.honour:
            return Move(self._orders_that_keep(talks, Dice(ask.key)))
        return super().turn(ask.seeing(talks.view))

    def _orders_that_keep(self, talks: Negotiation, dice: Dice) -> str | None:
        """Return orders that keep what was promised."""
        sheet, pledge = talks.view.choices, talks.pledge(talks.promises)
        assert isinstance(sheet, Sheet)
        return sheet.canonical(PledgedCampaign(talks.eyes, talks.values, sheet, dice, self.pick, pledge).orders())
