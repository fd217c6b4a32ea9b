"""Walk of the trie of some choices token by token: allowed tokens, forced tokens, and the resulting action.

A walk is done as soon as a legal action stands there that nothing can follow; only where an action is the beginning of
another (`A PAR - BUR` and `A PAR - BUR VIA`) is the end token offered beside what would go on. The lines of a sheet may
come in any order, each once, with a line break between two; the break is spelt by itself, so that every line has the
same tokens wherever it stands.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from functools import reduce
from operator import or_

from stratagem.base.errors import BadParameter
from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.language.decoding.spelling import end_of, spell
from stratagem.language.decoding.trie import TrieNode, chain, grow
from stratagem.language.decoding.vocabulary import Ids, Vocabulary, forced_tokens, text_after


class SheetLines:
    """Lines of some choices, and the slots left after writing them.

    Flat choices are one slot whose options are the actions, filled once. On a sheet the lines may come in any order.
    A line that several slots offer (WAIVE) takes none of them for good: the slots that are still open are those that
    some way of placing the lines so far leaves free. A line may be written exactly if one of its slots is open. The
    rest can then always be filled, since every slot that is left free has an option of its own.
    """

    def __init__(self, slots: Sequence[Sequence[str]], fill: int) -> None:
        places: dict[str, int] = {}
        for index, options in enumerate(slots):
            for option in options:
                places[option] = places.get(option, 0) | 1 << index
        self.texts = tuple(places)
        self.places = tuple(places.values())
        """For each line the slots that offer it, as bits."""
        self.fill = fill
        self.every = (1 << len(slots)) - 1
        self._shares = any(bits & (bits - 1) for bits in self.places)

    @classmethod
    def of(cls, choices: Choices) -> SheetLines:
        """Return the lines of flat choices or of a sheet."""
        if isinstance(choices, Flat):
            return cls([choices.actions], 1)
        if isinstance(choices, Sheet):
            return cls([slot.options for slot in choices.slots], choices.fill)
        raise BadParameter(f"Only Flat and Sheet choices can be decoded token by token, not {type(choices).__name__}.")

    def open_after(self, written: Sequence[int]) -> int:
        """Return the slots that can still take a line, as bits, whatever the order of the others."""
        places = [self.places[line] for line in written]
        if not self._shares:
            return self.every & ~reduce(or_, places, 0)
        return _spare(places, self.every)


def _spare(slots: Sequence[int], every: int) -> int:
    """Return the slots that at least one placing of all the lines leaves free.

    From one placing: the free slots, and each slot whose line could move to a slot that can be freed.
    """
    owner = _placing(slots)
    spare = every & ~reduce(or_, (1 << slot for slot in owner), 0)
    moved = True
    while moved:
        movable = [slot for slot, line in owner.items() if not spare >> slot & 1 and slots[line] & spare]
        spare |= reduce(or_, (1 << slot for slot in movable), 0)
        moved = bool(movable)
    return spare


def _placing(slots: Sequence[int]) -> dict[int, int]:
    """Find a slot of its own for every line; return owners by slot."""
    owner: dict[int, int] = {}
    for line in range(len(slots)):
        if not _place(line, slots, owner, set()):
            raise ValueError("these lines have no place together")
    return owner


def _place(line: int, slots: Sequence[int], owner: dict[int, int], tried: set[int]) -> bool:
    """Find a slot for one line, moving others over where needed (augmenting paths of bipartite matching)."""
    for slot in _bits(slots[line]):
        if slot in tried:
            continue
        tried.add(slot)
        if slot not in owner or _place(owner[slot], slots, owner, tried):
            owner[slot] = line
            return True
    return False


def _bits(mask: int) -> list[int]:
    return [slot for slot in range(mask.bit_length()) if mask >> slot & 1]


_BREAK = "\n"


class Walker:
    """Compiled choices; immutable, so any number of cursors may walk at once."""

    def __init__(self, choices: Choices, vocabulary: Vocabulary, left: str = _BREAK, lead: str = "") -> None:
        """Compile for a reply, or a piece of it, that begins right after the text `left`; `lead` comes first."""
        self.choices = choices
        self.vocabulary = vocabulary
        self.left = end_of(left)
        self.lead = lead
        self.lines = SheetLines.of(choices)
        self.end = vocabulary.end
        self.root = self._trie(self.left, lead)
        self.break_token, self.next_line = self._break(lead) if self.lines.fill > 1 else (-1, self.root)

    def start(self) -> Cursor:
        """Return a cursor before the first token."""
        return Cursor(self, self.root, self.lines.every, (), [], done=False)

    def _trie(self, left: str, lead: str) -> TrieNode:
        return grow(spell(self.vocabulary, [lead + text for text in self.lines.texts], left), self.lines.places)

    def _break(self, lead: str) -> tuple[int, TrieNode]:
        """Return the token that closes a line, and where the next one begins."""
        rest = self.root if self.left == _BREAK and not lead else self._trie(_BREAK, "")
        # after a letter, because some vocabularies write a space before what begins a text
        token, *others = spell(self.vocabulary, [_BREAK], "x")[0]
        return token, chain(tuple(others), rest)


class Cursor:
    """One walk: its node, the lines written and the open slots; cheap to fork."""

    __slots__ = ("_live", "_node", "_walker", "_written", "done", "tokens")

    def __init__(self, walker: Walker, node: TrieNode, live: int, written: Ids, tokens: list[int], done: bool) -> None:
        self._walker = walker
        self._node = node
        self._live = live
        self._written = written
        self.tokens = tokens
        """Tokens so far, without the end token."""
        self.done = done
        """True if an action is complete and nothing may follow."""

    @property
    def walker(self) -> Walker:
        """The compiled choices."""
        return self._walker

    def fork(self) -> Cursor:
        """Return a second walk from here on."""
        return Cursor(self._walker, self._node, self._live, self._written, self.tokens.copy(), self.done)

    @property
    def allowed(self) -> Ids:
        """The tokens that may come next, ascending; the end token is among them where the reply may end here."""
        if self.done:
            return ()
        tokens = self._node.tokens(self._live)
        if not self._closes(self._node):
            return tokens
        closing = self._walker.end if self._is_last else self._walker.break_token
        index = bisect(tokens, closing)
        return (*tokens[:index], closing, *tokens[index:])

    @property
    def forced(self) -> list[int]:
        """The tokens that must come next, up to the next choice or the end; no model need be asked for them."""
        return forced_tokens(self)

    def advance(self, token: int) -> None:
        """Go one allowed token further."""
        node = self._node
        child = node.children.get(token)
        if not self.done and child is not None and child.slots & self._live:
            self._node = child
            self.tokens.append(token)
            self.done = self._is_last and self._closes(child) and not child.tokens(self._live)
        elif not self.done and self._closes(node):
            self._close(token)
        else:
            raise ValueError(f"token {token} is not allowed here")

    def _close(self, token: int) -> None:
        walker = self._walker
        if token != (walker.end if self._is_last else walker.break_token):
            raise ValueError(f"token {token} is not allowed here")
        if self._is_last:
            self.done = True
            return
        self._written = (*self._written, self._node.line)
        self._live = walker.lines.open_after(self._written)
        self._node = walker.next_line
        self.tokens.append(token)

    @property
    def _is_last(self) -> bool:
        return len(self._written) + 1 == self._walker.lines.fill

    def _closes(self, node: TrieNode) -> bool:
        """Return whether a line that still has a slot is complete at this node."""
        return node.line >= 0 and bool(self._walker.lines.places[node.line] & self._live)

    @property
    def text(self) -> str:
        """The text so far, decoded after its left context."""
        return text_after(self._walker.vocabulary, self._walker.left, self.tokens)

    @property
    def action(self) -> str | None:
        """The legal action of the reply; None until the walk is done."""
        if not self.done:
            return None
        lines, choices = self._walker.lines, self._walker.choices
        texts = [lines.texts[line] for line in (*self._written, self._node.line)]
        return choices.canonical(texts) if isinstance(choices, Sheet) else texts[0]
