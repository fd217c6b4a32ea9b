"""Person at the keyboard: sees the seat's view, and is asked until the input is legal.

Texts of others are untrusted: whatever in them could command a terminal is escaped.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar, NamedTuple, TextIO

from stratagem.base.errors import CannotCompute, Quit
from stratagem.base.visible import visible
from stratagem.games.base import View
from stratagem.games.choices import Choices, Flat, Sheet, Slot
from stratagem.players.base import Ask, Move, Traits
from stratagem.players.disguised import Disguised
from stratagem.players.members import PlayerBase
from stratagem.players.wrappers import Delayed, Noisy

_SHOWN, _LISTED = 24, 1000
"""Number of choices shown at first, and where all are asked for."""
_WIDTH = 96
_BACK, _SKIP = "<", ""
_HELP = "Type a choice, or the number before it. ? tells the rules again and lists all choices; q or Ctrl-D leaves."


class Terminal:
    """Input and output of a person: two streams, the standard ones by default."""

    def __init__(self, reads: TextIO | None = None, writes: TextIO | None = None) -> None:
        self._reads = reads
        self._writes = writes
        self._told = ""

    def tell(self, text: str) -> None:
        """Print a text."""
        self._write(f"{text}\n")

    def tell_once(self, text: str) -> None:
        """Print a text, unless it was the last one printed by this method."""
        if text != self._told:
            self._told = text
            self.tell(text)

    def ask(self, question: str) -> str:
        """Read a line, without the space around it; raises `Quit` where no more will come."""
        self._write(f"{question} > ")
        reads = self._reads or sys.stdin
        try:
            line = reads.readline() if reads is not None else ""  # a process may have no standard input
        except UnicodeDecodeError:
            line = "\ufffd"
        except KeyboardInterrupt:
            line = ""
        if not line:
            self._write("\n")
            raise Quit
        return line.strip()

    def _write(self, text: str) -> None:
        stream = self._writes or sys.stdout
        encoding = getattr(stream, "encoding", None) or "utf-8"
        stream.write(visible(text).encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()


def in_columns(cells: Sequence[str]) -> str:
    """Arrange cells side by side, as many as a line holds."""
    width = 2 + max(map(len, cells))
    across = max(1, _WIDTH // width)
    rows = (cells[start : start + across] for start in range(0, len(cells), across))
    return "\n".join("".join(cell.ljust(width) for cell in row).rstrip() for row in rows)


class ChoiceMenu(NamedTuple):
    """Choices, and numbers to pick them by where no choice is a number itself."""

    choices: Choices
    listed: tuple[str, ...]
    numbered: bool

    @classmethod
    def of(cls, choices: Choices) -> ChoiceMenu:
        """Return the menu of these choices."""
        listed = tuple(islice(choices, _LISTED))
        return cls(choices, listed, not any(action.strip().isdecimal() for action in listed))

    def text(self, limit: int) -> str:
        """Return the first choices, and the number of the others."""
        shown = self.listed[:limit]
        cells = [f"{n:3} {action}" for n, action in enumerate(shown, 1)] if self.numbered else [f"  {a}" for a in shown]
        hidden = self.choices.count - len(shown)
        more = f"\n  and {hidden} more" + ": ? lists them" * (limit < _LISTED)
        return in_columns(cells) + more * bool(hidden)

    def read(self, typed: str) -> tuple[str | None, str]:
        """Return the typed choice, or an error in one sentence."""
        action, problem = self.choices.parse(typed)
        if action is None and self.numbered and typed.isdecimal() and len(typed) < 10:
            action = self.listed[int(typed) - 1] if 0 < int(typed) <= len(self.listed) else None
        if problem == "ambiguous":
            return action, "That names more than one choice: type one alone."
        return action, f"That is no choice: type one{' or its number' * self.numbered}, or ? to see all."


class Human(PlayerBase):
    """A person at the keyboard, in any game: types an action or its number, `?` for help, `q` to leave."""

    name: ClassVar[str] = "human"
    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, reads_words=True, exact=False, repeats=False)

    def __init__(self, terminal: Terminal | None = None) -> None:
        self.terminal = terminal or Terminal()

    def turn(self, ask: Ask) -> Move:
        view = ask.view
        choices = view.choices
        try:
            self.terminal.tell_once(f"\n{_rules(view)}")
            self.terminal.tell(f"\n{view.situation}")
            action = self._fill(view, choices) if isinstance(choices, Sheet) else self._choose(view, choices)
        except (KeyboardInterrupt, OSError) as error:
            raise Quit from error
        return Move(action, "free")

    def policy(self, view: View[Any]) -> Mapping[str, float]:
        raise CannotCompute("A human decides at the keyboard: the probabilities cannot be computed.")

    def hear(self, view: View[Any], payoff: float, *, over: bool) -> None:
        """Print the payoffs of a round, and the standing where it was the last."""
        self.terminal.tell(
            f"\n{view.situation}\nThe last round pays you {payoff:+g}."
            if over
            else f"\nThe round pays you {payoff:+g}."
        )

    def _choose(self, view: View[Any], choices: Choices) -> str:
        menu = ChoiceMenu.of(choices)
        self.terminal.tell(menu.text(_SHOWN))
        return self._ask_until_typed(view, menu, "Your choice")

    def _fill(self, view: View[Any], sheet: Sheet) -> str:
        """Ask for one slot after the other; the sheets themselves are never listed, since there may be very many."""
        lines: list[str] = []
        while missing := sheet.fill - sum(map(bool, lines)):
            slot = sheet.slots[len(lines)]
            spare = len(sheet.slots) - len(lines) > missing
            line = self._line(view, slot, f"{slot.name}, {missing} to go", (_BACK, _SKIP) if spare else (_BACK,))
            if line == _BACK and line not in slot.options:
                del lines[-1:]
            else:
                lines.append(line)
        action = sheet.canonical(filter(None, lines))
        assert action is not None
        return action

    def _line(self, view: View[Any], slot: Slot, question: str, commands: Collection[str]) -> str:
        menu = ChoiceMenu.of(Flat(slot.options))
        self.terminal.tell(f"{slot.name}\n{menu.text(_SHOWN)}")
        meant = ", an empty line for none" * (_SKIP in commands)
        return self._ask_until_typed(view, menu, f"{question} ({_BACK} goes back{meant})", commands)

    def _ask_until_typed(self, view: View[Any], menu: ChoiceMenu, question: str, commands: Collection[str] = ()) -> str:
        """Ask until a choice or one of these commands is typed."""
        while True:
            typed = self.terminal.ask(question)
            action, problem = menu.read(typed)
            if action is not None:
                return action
            if typed in commands:
                return typed
            if typed.casefold() == "q":
                raise Quit
            self.terminal.tell(f"{_rules(view)}\n\n{menu.text(_LISTED)}" if typed == "?" else problem)


def _rules(view: View[Any]) -> str:
    return f"{view.game.spec.name}, seat {view.seat}\n{view.rules}\n{_HELP}"


def at_keyboard(player: object) -> bool:
    """Return whether a person answers for this player, wrapped or not."""
    while isinstance(player, Noisy | Delayed | Disguised):
        player = player.player
    return isinstance(player, Human)


def keyboard() -> Human:
    """Return a human at the standard streams."""
    return Human()
