"""One action contract, used everywhere: what may be said, how a free reply is read, how one is drawn at random.

`Flat` is a set of literal strings. `Sheet` is a set of slots, each filled at most once, one line a slot: every unit's
order, or the k builds among n homes. `OpenText` of `games.open_text` is a line that a seat writes freely. Players,
parsers, constrained decoders and trainers all work from these objects, so no game writes a parser.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import ClassVar, NamedTuple

from stratagem.games.doubt import is_doubtful
from stratagem.games.key import Chance
from stratagem.games.reading import by_plain, find_literals, last_line, plain, unwrap_line


class ParsedReply(NamedTuple):
    """Parsed free reply: a legal action, or the reason why there is none."""

    action: str | None
    problem: str = ""
    """Empty, or one of: silent, illegal, ambiguous."""


class Choices(ABC):
    """Legal actions of a seat."""

    is_open: ClassVar[bool] = False
    """True if there are legal actions beside those that are listed and counted."""

    @property
    def is_free(self) -> bool:
        """True if a reply may be any text within a limit, so that no guide can lead to a legal action."""
        return False

    @abstractmethod
    def __contains__(self, action: object) -> bool:
        """Return whether this exact string is a legal action."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """Return every legal action that can be listed, in a fixed order; a sheet may have very many."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of listed actions; an upper bound for a sheet whose slots share lines."""

    @property
    @abstractmethod
    def first(self) -> str:
        """The first legal action."""

    @abstractmethod
    def sample(self, chance: Chance) -> str:
        """Draw a legal action uniformly (on a sheet: slot by slot)."""

    @abstractmethod
    def parse(self, text: str) -> ParsedReply:
        """Parse the end of a free reply; it never guesses."""

    def parse_truncated(self, text: str) -> ParsedReply:
        """Parse the end of a free reply that was truncated; an action that may go on as another one is none."""
        return self.parse(text)

    def summary(self, limit: int = 12) -> str:
        """Return the choices in one line, for people."""
        shown = list(islice(self, limit))
        more = f" and {self.count - limit} more" if len(shown) == limit < self.count else ""
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

    def parse(self, text: str) -> ParsedReply:
        """Return the action on the last non-empty line.

        The whole line, or the only one that it names and does not doubt.
        """
        line = last_line(text)
        if not line:
            return ParsedReply(None, "silent")
        if line in self._set:
            return ParsedReply(line)
        if (whole := self.whole(line)) is not None:
            return ParsedReply(whole)
        matches = find_literals(line, self.actions)
        if not matches:
            return ParsedReply(None, "illegal")
        several = len({match.literal for match in matches}) > 1
        doubtful = several or is_doubtful(line, [(match.start, match.end) for match in matches])
        return ParsedReply(None, "ambiguous") if doubtful else ParsedReply(matches[0].literal)

    def parse_truncated(self, text: str) -> ParsedReply:
        reply = self.parse(text)
        if reply.action is None:
            return reply
        longer = (action for action in self.actions if action.startswith(reply.action) and action != reply.action)
        others = (self.parse(text + action.removeprefix(reply.action)).action for action in longer)
        return reply if {*others} <= {reply.action, None} else ParsedReply(None, "ambiguous")

    def whole(self, line: str) -> str | None:
        """Return the action that a whole line names, whatever its case, spaces and marks; None where it names none."""
        return self._by_plain.get(plain(line)) or self._by_plain.get(plain(unwrap_line(line)))

    @cached_property
    def _by_plain(self) -> dict[str, str]:
        return by_plain(self.actions)


class Slot(NamedTuple):
    """One line of a sheet: its unit, and its options."""

    name: str
    options: tuple[str, ...]


Placed = tuple[tuple[int, str], ...]
"""Lines with the numbers of their slots, ascending."""


class Sheet(Choices):
    """Exactly `fill` of the slots get one option each; the action is those lines, in the order of the slots.

    A line that several slots offer may stand in any of them, so the same lines can fill the sheet in several ways. They
    are one action, and it is written in the way that comes first when each slot in turn takes the earliest option that
    it can, and stays empty only where it must.
    """

    def __init__(self, slots: Sequence[Slot], fill: int | None = None) -> None:
        self.slots = tuple(slots)
        self.fill = len(self.slots) if fill is None else fill
        if not 0 < self.fill <= len(self.slots):
            raise ValueError(f"a sheet of {len(self.slots)} slots cannot have {self.fill} of them filled")
        self._places: dict[str, list[int]] = {}
        for index, slot in enumerate(self.slots):
            if not slot.options or len(set(slot.options)) != len(slot.options):
                raise ValueError(f"slot {slot.name} needs at least one option, and each only once")
            for option in slot.options:
                if option.splitlines() != [option]:
                    raise ValueError(f"an option is one line, not {option!r}")
                self._places.setdefault(option, []).append(index)
        self._shares = any(len(places) > 1 for places in self._places.values())

    def __contains__(self, action: object) -> bool:
        return isinstance(action, str) and self.canonical(action.split("\n")) == action

    def __iter__(self) -> Iterator[str]:
        for placed in self._ways(0, ()):
            lines = [line for _, line in placed]
            if not self._shares or self._place_lines(lines) == placed:
                yield "\n".join(lines)

    def __repr__(self) -> str:
        return f"Sheet({list(self.slots)}, fill={self.fill})"

    def _ways(self, index: int, placed: Placed) -> Iterator[Placed]:
        if len(placed) == self.fill:
            yield placed
        elif len(self.slots) - index >= self.fill - len(placed):
            for option in self.slots[index].options:
                yield from self._ways(index + 1, (*placed, (index, option)))
            yield from self._ways(index + 1, placed)

    @property
    def count(self) -> int:
        """The number of ways to fill the sheet; it exceeds the number of actions where slots share lines."""
        ways = [1] + [0] * self.fill
        for slot in self.slots:
            ways = [ways[k] + (ways[k - 1] * len(slot.options) if k else 0) for k in range(self.fill + 1)]
        return ways[self.fill]

    @property
    def first(self) -> str:
        return "\n".join(slot.options[0] for slot in self.slots[: self.fill])

    def sample(self, chance: Chance) -> str:
        placed: list[tuple[int, str]] = []
        for index, slot in enumerate(self.slots):
            missing, left = self.fill - len(placed), len(self.slots) - index
            if missing and chance.at("fill", index).integer(left) < missing:
                placed.append((index, slot.options[chance.at("slot", index).integer(len(slot.options))]))
        action = self.canonical(line for _, line in placed)
        assert action is not None
        return action

    def canonical(self, lines: Iterable[str]) -> str | None:
        """Return the action that these lines make in whatever order; None where they do not fill the sheet exactly."""
        placed = self._place_lines(list(lines))
        return None if placed is None else "\n".join(line for _, line in placed)

    def by_slot(self, action: str) -> tuple[str, ...]:
        """Return the line of each slot of an action; empty where the slot stays empty."""
        placed = dict(self._place_lines(action.split("\n")) or ())
        return tuple(placed.get(index, "") for index in range(len(self.slots)))

    def _place_lines(self, lines: list[str]) -> Placed | None:
        if len(lines) != self.fill or any(line not in self._places for line in lines):
            return None
        if all(len(self._places[line]) == 1 for line in lines):
            slots = sorted((self._places[line][0], line) for line in lines)
            return tuple(slots) if len({index for index, _ in slots}) == len(lines) else None
        return self._earliest(lines) if self._seats(lines, 0) else None

    def _earliest(self, lines: list[str]) -> Placed:
        """Choose slot by slot the earliest option among the lines that leaves the others a slot further down."""
        left, placed = Counter(lines), list[tuple[int, str]]()
        for index, slot in enumerate(self.slots):
            for option in slot.options:
                if left[option]:
                    left[option] -= 1
                    if self._seats(list(left.elements()), index + 1):
                        placed.append((index, option))
                        break
                    left[option] += 1
        return tuple(placed)

    def _seats(self, lines: list[str], start: int) -> bool:
        """Return whether every line has a slot of its own from `start` on."""
        owner: dict[int, str] = {}
        return all(self._seat(line, start, owner, set()) for line in lines)

    def _seat(self, line: str, start: int, owner: dict[int, str], tried: set[int]) -> bool:
        """Find a slot for one line, moving others over where needed (augmenting paths of bipartite matching)."""
        for index in self._places[line]:
            if index < start or index in tried:
                continue
            tried.add(index)
            if index not in owner or self._seat(owner[index], start, owner, tried):
                owner[index] = line
                return True
        return False

    def summary(self, limit: int = 12) -> str:
        shown = "; ".join(f"{slot.name}: {_some(slot.options, limit)}" for slot in self.slots)
        many = "one line for each" if self.fill == len(self.slots) else f"{self.fill} of these, one line each"
        return f"{many} \u2013 {shown}"

    def parse(self, text: str) -> ParsedReply:
        """Return the sheet that the last lines make, as many as are to be filled; spaces and case do not matter."""
        lines = [stripped for line in text.splitlines() if (stripped := line.strip())][-self.fill :]
        if not lines:
            return ParsedReply(None, "silent")
        action = self.canonical(self._name_option(line) for line in lines)
        return ParsedReply(action) if action is not None else ParsedReply(None, "illegal")

    def _name_option(self, line: str) -> str:
        """Return the option that a line names; the line itself where it names none, or more than one."""
        if line in self._places:
            return line
        return self._by_plain.get(plain(line)) or self._by_plain.get(plain(unwrap_line(line)), line)

    @cached_property
    def _by_plain(self) -> dict[str, str]:
        return by_plain(self._places)


def _some(options: Sequence[str], limit: int) -> str:
    """Return the first options and the number of the others."""
    more = f" and {len(options) - limit} more" if len(options) > limit else ""
    return ", ".join(options[:limit]) + more
