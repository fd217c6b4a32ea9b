"""Walk of a constrained line token by token: tries of fixed texts, and strings of free characters between them.

The parts of a line make an automaton. Each text is spelt as `spelling` spells it, and no token crosses from one part
into the next. So a text has one sequence of tokens, but for the characters of its strings, which the model spells as it
likes. A cursor keeps all places of the automaton where the tokens so far may stand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import merge
from weakref import WeakKeyDictionary

from stratagem.games.open_text import OpenText
from stratagem.games.text_parts import Chain, Characters, Either, OneOf, Part, can_hold, prefix_part
from stratagem.language.decoding.spelling import end_of, spell
from stratagem.language.decoding.trie import TrieNode, grow
from stratagem.language.decoding.vocabulary import Ids, Vocabulary, forced_tokens, text_after

__all__ = ["PatternCursor", "PatternLine"]

_TORN = "\ufffd"
_BEFORE = "x"
"""Text before a token, since some vocabularies decode a first token differently."""


class CharacterTokens:
    """Tokens of a vocabulary that are characters of a string."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        before = vocabulary.encode(_BEFORE)
        start = len(vocabulary.decode(before))
        rows = vocabulary.decode_all([[*before, token] for token in range(vocabulary.size)])
        texts = {token: row[start:] for token, row in enumerate(rows)}
        self.lengths = {token: len(text) for token, text in texts.items() if _is_character(text)}
        self.lengths.pop(vocabulary.end, None)
        """Number of characters of each of the tokens."""
        self._sizes = sorted(set(self.lengths.values()))
        self._within = lru_cache(maxsize=None)(self._list_level)

    def within(self, room: int) -> Ids:
        """Return the tokens of at most so many characters, ascending."""
        return self._within(self.level(room))

    def level(self, room: int) -> int:
        """Return a number that is equal for rooms in which the same tokens have a place."""
        return bisect_right(self._sizes, room)

    def _list_level(self, level: int) -> Ids:
        known = set(self._sizes[:level])
        return tuple(sorted(token for token, length in self.lengths.items() if length in known))


_known: WeakKeyDictionary[Vocabulary, CharacterTokens] = WeakKeyDictionary()


def character_tokens(vocabulary: Vocabulary) -> CharacterTokens:
    """Return the tokens of a vocabulary that are characters of a string, computed once."""
    if vocabulary not in _known:
        _known[vocabulary] = CharacterTokens(vocabulary)
    return _known[vocabulary]


def _is_character(text: str) -> bool:
    marker = text.startswith("<") and text.endswith(">")
    return bool(text) and _TORN not in text and not marker and can_hold(text, len(text))


_INSIDE = "x"
"""Text before a part that is not the first: any letter, because some vocabularies write a space before what begins."""


@dataclass(eq=False, slots=True)
class Stop:
    """Stop of the automaton: a trie, a string of at most `room` characters, or the end of the line."""

    trie: TrieNode | None = None
    room: int = -1
    after: Sequence[Stop] = ()
    """Stops that follow."""


@dataclass(frozen=True, slots=True)
class PatternPosition:
    """Place at a stop: a node of its trie, or the room that is left in its string."""

    stop: Stop
    node: TrieNode | None = None
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
        self._tries: dict[tuple[tuple[str, ...], str], TrieNode] = {}
        self._allowed: dict[frozenset[tuple[int, int, int]], Ids] = {}
        part = prefix_part(choices.part, lead) if lead else choices.part
        self._first = self._stops(part, (Stop(),), self.left)

    def start(self) -> PatternCursor:
        """Return a cursor before the first token."""
        return PatternCursor(self, tuple(enter_stops(self._first)), [])

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

    def _trie(self, texts: tuple[str, ...], left: str) -> TrieNode:
        if (texts, left) not in self._tries:
            self._tries[texts, left] = grow(spell(self.vocabulary, texts, left), [1] * len(texts))
        return self._tries[texts, left]

    def allowed_tokens(self, places: tuple[PatternPosition, ...]) -> Ids:
        """Return the tokens that may come next at some places, ascending; cached."""
        level = character_tokens(self.vocabulary).level
        key = frozenset(
            (id(place.stop), id(place.node), level(place.room) if place.room > 0 else place.room) for place in places
        )
        if key not in self._allowed:
            self._allowed[key] = tuple(dict.fromkeys(merge(*map(self._tokens, places))))
        return self._allowed[key]

    def _tokens(self, place: PatternPosition) -> Ids:
        """Return the tokens that may come next at one place."""
        if place.node is not None:
            return place.node.tokens(1)
        if place.is_end:
            return (self.vocabulary.end,)
        return character_tokens(self.vocabulary).within(place.room)

    def next(self, place: PatternPosition, token: int) -> Iterator[PatternPosition]:
        """Yield the places behind a token; none where it is not allowed."""
        if place.node is not None:
            if child := place.node.children.get(token):
                if child.children:
                    yield PatternPosition(place.stop, node=child)
                if child.line >= 0:
                    yield from enter_stops(place.stop.after)
        elif not place.is_end:
            room = place.room - character_tokens(self.vocabulary).lengths.get(token, place.room + 1)
            if room >= 0:
                yield PatternPosition(place.stop, room=room)
                yield from enter_stops(place.stop.after)


def enter_stops(stops: Sequence[Stop]) -> Iterator[PatternPosition]:
    """Yield the places at which some stops begin; a string may be empty."""
    for stop in stops:
        yield PatternPosition(stop, node=stop.trie, room=stop.room)
        if stop.room >= 0:
            yield from enter_stops(stop.after)


@dataclass(slots=True)
class PatternCursor:
    """One walk: its places and its tokens; cheap to fork."""

    walker: PatternLine
    """The compiled line."""
    places: tuple[PatternPosition, ...]
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
        return () if self.done else self.walker.allowed_tokens(self.places)

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
