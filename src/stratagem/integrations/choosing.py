"""Choice of a seat in steps: one action of a flat set, or the lines of a sheet slot by slot."""

from __future__ import annotations

from typing import Any

from stratagem.errors import CannotCompute
from stratagem.games.base import View
from stratagem.games.choices import Sheet
from stratagem.play.asking import answered
from stratagem.players.base import Ask, Player


class Choosing:
    """Choice in progress; it is complete when `take` returns the action."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._lines: list[str] = []
        """Lines of the slots so far, empty where a slot stays empty."""

    @property
    def view(self) -> View[Any]:
        """View of the seat that chooses."""
        return self.ask.view

    @property
    def options(self) -> tuple[str, ...]:
        """Options of this step; the empty text leaves the slot empty."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return tuple(choices)
        slot, missing = choices.slots[len(self._lines)], choices.fill - self._filled
        spare = len(choices.slots) - len(self._lines) > missing
        return (*slot.options, "") if spare else slot.options

    @property
    def text(self) -> str:
        """Lines so far and the slot to fill, for the observation; empty where there is one step only."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return ""
        written = "".join(f"{line}\n" for line in self._lines if line)
        missing = choices.fill - self._filled
        return f"{written}{choices.slots[len(self._lines)].name}, {missing} to go"

    def take(self, option: str) -> str | None:
        """Take an option; return the whole action when it is complete."""
        choices = self.view.choices
        if not isinstance(choices, Sheet):
            return option
        self._lines.append(option)
        return choices.canonical(filter(None, self._lines)) if self._filled == choices.fill else None

    def option_of(self, player: Player) -> str:
        """Return the option that one of our players takes in this step."""
        action, choices = answered(player.turn(self.ask)).action, self.view.choices
        if action is None or action not in choices:
            raise CannotCompute(f"{player.name} has no legal action here.")
        return choices.by_slot(action)[len(self._lines)] if isinstance(choices, Sheet) else action

    @property
    def _filled(self) -> int:
        return sum(map(bool, self._lines))
