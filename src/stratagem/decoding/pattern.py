"""Walk of a constrained line token by token: tries of fixed texts, and strings of free characters between them.

The parts of a line make an automaton. Each text is spelt as `spelling` spells it, and no token crosses from one part
into the next. So a text has one sequence of tokens, but for the characters of its strings, which the model spells as it
likes. A cursor keeps all places of the automaton where the tokens so far may stand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from heapq import merge

from stratagem.decoding.characters import character_tokens
from stratagem.decoding.spelling import end_of, spell
from stratagem.decoding.trie import Node, grow
from stratagem.decoding.vocabulary import Ids, Vocabulary
from stratagem.decoding.walks import forced_tokens, text_after
from stratagem.games.open_text import OpenText
from stratagem.games.text_parts import Chain, Characters, Either, OneOf, Part, prefixed

_INSIDE = "x"
"""Text before a part that is not the first: any letter, because some vocabularies write a space before what begins."""


@dataclass(eq=False, slots=True)
class Stop:
    """Stop of the automaton: a trie, a string of at most `room` characters, or the end of the line."""

    trie: Node | None = None
    room: int = -1
    after: Sequence[Stop] = ()
    """Stops that follow."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place at a stop: a node of its trie, or the room that is left in its string."""

    stop: Stop
    node: Node | None = None
    room: int = -1

    @property
    def is_end(self) -> bool:
        """True at the end of the line."""
        return self.node is None and self.room < 0


class PatternLine:
    """Compiled line; immutable, so any number of cursors may walk at once."""

    def __init__(self, choices: OpenText, vocabulary: Vocabulary, left: str = "\n", lead: str = "") -> None:
        """Compile for a reply, or a piece of it, that begins right after the text `left`; `lead` comes first."""
        self.choices = choices
        self.vocabulary = vocabulary
        self.left = end_of(left)
        self.lead = lead
        self._tries: dict[tuple[tuple[str, ...], str], Node] = {}
        self._allowed: dict[frozenset[tuple[int, int, int]], Ids] = {}
        part = prefixed(choices.part, lead) if lead else choices.part
        self._first = self._stops(part, (Stop(),), self.left)

    def start(self) -> PatternCursor:
        """Return a cursor before the first token."""
        return PatternCursor(self, tuple(entered(self._first)), [])

    def _stops(self, part: Part, after: Sequence[Stop], left: str = _INSIDE) -> Sequence[Stop]:
        """Return the stops at which a part begins, when other stops follow it."""
        match part:
            case OneOf(texts):
                return (Stop(trie=self._trie(texts, left), after=after),)
            case Characters(most):
                character_tokens(self.vocabulary)
                return (Stop(room=most, after=after),)
            case Either(parts):
                return tuple(stop for other in parts for stop in self._stops(other, after, left))
            case Chain((first, *others)):
                for other in reversed(others):
                    after = self._stops(other, after)
                return self._stops(first, after, left)
            case _:
                raise ValueError("a part of a line has parts")

    def _trie(self, texts: tuple[str, ...], left: str) -> Node:
        if (texts, left) not in self._tries:
            self._tries[texts, left] = grow(spell(self.vocabulary, texts, left), [1] * len(texts))
        return self._tries[texts, left]

    def allowed(self, places: tuple[Place, ...]) -> Ids:
        """Return the tokens that may come next at some places, ascending; cached."""
        level = character_tokens(self.vocabulary).level
        key = frozenset(
            (id(place.stop), id(place.node), level(place.room) if place.room > 0 else place.room) for place in places
        )
        if key not in self._allowed:
            self._allowed[key] = tuple(dict.fromkeys(merge(*map(self._tokens, places))))
        return self._allowed[key]

    def _tokens(self, place: Place) -> Ids:
        """Return the tokens that may come next at one place."""
        if place.node is not None:
            return place.node.tokens(1)
        if place.is_end:
            return (self.vocabulary.end,)
        return character_tokens(self.vocabulary).within(place.room)

    def next(self, place: Place, token: int) -> Iterator[Place]:
        """Yield the places behind a token; none where it is not allowed."""
        if place.node is not None:
            if child := place.node.children.get(token):
                if child.children:
                    yield Place(place.stop, node=child)
                if child.line >= 0:
                    yield from entered(place.stop.after)
        elif not place.is_end:
            room = place.room - character_tokens(self.vocabulary).lengths.get(token, place.room + 1)
            if room >= 0:
                yield Place(place.stop, room=room)
                yield from entered(place.stop.after)


def entered(stops: Sequence[Stop]) -> Iterator[Place]:
    """Yield the places at which some stops begin; a string may be empty."""
    for stop in stops:
        yield Place(stop, node=stop.trie, room=stop.room)
        if stop.room >= 0:
            yield from entered(stop.after)


@dataclass(slots=True)
class PatternCursor:
    """One walk: its places and its tokens; cheap to fork."""

    walker: PatternLine
    """The compiled line."""
    places: tuple[Place, ...]
    tokens: list[int] = field(default_factory=list)
    """Tokens so far, without the end token."""
    ended: bool = False

    def fork(self) -> PatternCursor:
        """Return a second walk from here on."""
        return PatternCursor(self.walker, self.places, self.tokens.copy(), self.ended)

    @property
    def done(self) -> bool:
        """True if the line is complete and nothing may follow."""
        return self.ended or all(place.is_end for place in self.places)

    @property
    def allowed(self) -> Ids:
        """The tokens that may come next, ascending; the end token is among them where the line may end here."""
        return () if self.done else self.walker.allowed(self.places)

    @property
    def forced(self) -> list[int]:
        """The tokens that must come next, up to the next choice or the end; no model need be asked for them."""
        return forced_tokens(self)

    def advance(self, token: int) -> None:
        """Go one allowed token further."""
        if self.done:
            raise ValueError(f"token {token} is not allowed here")
        places = dict.fromkeys(after for place in self.places for after in self.walker.next(place, token))
        if places:
            self.places = tuple(places)
            self.tokens.append(token)
        elif token == self.walker.vocabulary.end and any(place.is_end for place in self.places):
            self.ended = True
        else:
            raise ValueError(f"token {token} is not allowed here")

    @property
    def text(self) -> str:
        """The text so far, decoded after its left context."""
        return text_after(self.walker.vocabulary, self.walker.left, self.tokens)

    @property
    def action(self) -> str | None:
        """The legal line of the reply; None until the walk is done."""
        return self.walker.choices.parse(self.text).action if self.done else None


__all__ = ["PatternCursor", "PatternLine"]
