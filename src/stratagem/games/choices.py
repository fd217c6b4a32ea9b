"""One action contract, used everywhere: what may be said, how a free reply is read, how one is drawn at random.

`Flat` is a set of literal strings. `Sheet` is a set of slots, each filled at most once, one line a slot: every unit's
order, or the k builds among n homes. Players, parsers, constrained decoders and trainers all work from these objects,
so no game writes a parser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from stratagem.games.key import Chance
from stratagem.games.reading import find_literals, last_line, plain, unwrapped


class Reply(NamedTuple):
    """What a free reply came to: a legal action, or the reason why it is none."""

    action: str | None
    problem: str = ""
    """Empty, or one of: silent, illegal, ambiguous."""


class Choices(ABC):
    """What a seat may do now."""

    @abstractmethod
    def __contains__(self, action: object) -> bool:
        """Whether this exact string is a legal action."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """Every legal action, in a fixed order; a sheet may have very many."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many legal actions there are."""

    @property
    @abstractmethod
    def first(self) -> str:
        """The first legal action."""

    @abstractmethod
    def sample(self, chance: Chance) -> str:
        """A legal action, all equally likely (on a sheet: slot by slot)."""

    @abstractmethod
    def parse(self, text: str) -> Reply:
        """Read a free reply by its end; never guesses."""

    def summary(self, limit: int = 12) -> str:
        """The choices in one line, for people."""
        shown = [action for action, _ in zip(self, range(limit), strict=False)]
        more = f" and {self.count - limit} more" if self.count > limit else ""
        return ", ".join(action.replace("\n", " / ") for action in shown) + more


class Flat(Choices):
    """A set of literal strings, in the order in which the game lists them."""

    def __init__(self, actions: Iterable[str]) -> None:
        self.actions = tuple(actions)
        self._set = frozenset(self.actions)
        if not self.actions or len(self._set) != len(self.actions):
            raise ValueError("choices need at least one action, and each only once")

    def __contains__(self, action: object) -> bool:
        return action in self._set

    def __iter__(self) -> Iterator[str]:
        return iter(self.actions)

    def __repr__(self) -> str:
        return f"Flat({list(self.actions)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Flat) and other.actions == self.actions

    def __hash__(self) -> int:
        return hash(self.actions)

    @property
    def count(self) -> int:
        return len(self.actions)

    @property
    def first(self) -> str:
        return self.actions[0]

    def sample(self, chance: Chance) -> str:
        return self.actions[chance.integer(len(self.actions))]

    def parse(self, text: str) -> Reply:
        """The action that stands on the last non-empty line: the whole line, or the only one that it names."""
        line = last_line(text)
        if not line:
            return Reply(None, "silent")
        if line in self._set:
            return Reply(line)
        whole = self._by_plain.get(plain(line)) or self._by_plain.get(plain(unwrapped(line)))
        if whole is not None:
            return Reply(whole)
        found = find_literals(line, self.actions)
        if len(found) == 1:
            return Reply(found.pop())
        return Reply(None, "ambiguous" if found else "illegal")

    @cached_property
    def _by_plain(self) -> dict[str, str]:
        spellings: dict[str, list[str]] = {}
        for action in self.actions:
            spellings.setdefault(plain(action), []).append(action)
        return {spelling: actions[0] for spelling, actions in spellings.items() if len(actions) == 1}


class Slot(NamedTuple):
    """One line of a sheet: who it is for, and what may stand there."""

    name: str
    options: tuple[str, ...]


class Sheet(Choices):
    """Exactly `fill` of the slots get one option each; the action is those lines, in the order of the slots."""

    def __init__(self, slots: Sequence[Slot], fill: int | None = None) -> None:
        self.slots = tuple(slots)
        self.fill = len(self.slots) if fill is None else fill
        if not 0 < self.fill <= len(self.slots):
            raise ValueError(f"a sheet of {len(self.slots)} slots cannot have {self.fill} of them filled")

    def __contains__(self, action: object) -> bool:
        return isinstance(action, str) and self.canonical(action.split("\n")) == action

    def __iter__(self) -> Iterator[str]:
        return self._sheets(0, ())

    def _sheets(self, index: int, lines: tuple[str, ...]) -> Iterator[str]:
        if len(lines) == self.fill:
            yield "\n".join(lines)
        elif len(self.slots) - index >= self.fill - len(lines):
            for option in self.slots[index].options:
                yield from self._sheets(index + 1, (*lines, option))
            yield from self._sheets(index + 1, lines)

    @property
    def count(self) -> int:
        """The number of ways to fill the sheet; a line that several slots share is counted for each of them."""
        ways = [1] + [0] * self.fill
        for slot in self.slots:
            ways = [ways[k] + (ways[k - 1] * len(slot.options) if k else 0) for k in range(self.fill + 1)]
        return ways[self.fill]

    @property
    def first(self) -> str:
        return "\n".join(slot.options[0] for slot in self.slots[: self.fill])

    def sample(self, chance: Chance) -> str:
        lines: list[str] = []
        for index, slot in enumerate(self.slots):
            missing, left = self.fill - len(lines), len(self.slots) - index
            if missing and chance.at("fill", index).integer(left) < missing:
                lines.append(slot.options[chance.at("slot", index).integer(len(slot.options))])
        return "\n".join(lines)

    def canonical(self, lines: Iterable[str]) -> str | None:
        """The sheet that these lines make, in the order of the slots; None where they do not fill it exactly."""
        wanted = list(lines)
        if len(wanted) != self.fill:
            return None
        owner: dict[int, int] = {}
        for number in range(len(wanted)):
            if not self._seat_line(number, wanted, owner, set()):
                return None
        return "\n".join(wanted[owner[slot]] for slot in sorted(owner))

    def _seat_line(self, number: int, lines: list[str], owner: dict[int, int], tried: set[int]) -> bool:
        """Find a slot for one line, moving others over where needed (augmenting paths of bipartite matching)."""
        for index, slot in enumerate(self.slots):
            if index in tried or lines[number] not in slot.options:
                continue
            tried.add(index)
            if index not in owner or self._seat_line(owner[index], lines, owner, tried):
                owner[index] = number
                return True
        return False

    def parse(self, text: str) -> Reply:
        """The sheet that the last lines make, as many as are to be filled; spaces and case do not matter."""
        lines = [line for line in text.splitlines() if line.strip()][-self.fill :]
        if not lines:
            return Reply(None, "silent")
        named = [self._by_plain.get(plain(line)) or self._by_plain.get(plain(unwrapped(line)), line) for line in lines]
        action = self.canonical(named)
        return Reply(action) if action is not None else Reply(None, "illegal")

    @cached_property
    def _by_plain(self) -> dict[str, str]:
        return {plain(option): option for slot in self.slots for option in slot.options}
