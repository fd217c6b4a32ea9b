"""Walk of the trie of some choices token by token: allowed tokens, forced tokens, and the resulting action.

A walk is done as soon as a legal action stands there that nothing can follow; only where an action is the beginning of
another (`A PAR - BUR` and `A PAR - BUR VIA`) is the end token offered beside what would go on. The lines of a sheet may
come in any order, each once, with a line break between two; the break is spelt by itself, so that every line has the
same tokens wherever it stands.
"""

from __future__ import annotations

from bisect import bisect

from stratagem.games.choices import Choices, Sheet
from stratagem.language.decoding.sheet import SheetLines
from stratagem.language.decoding.spelling import end_of, spell
from stratagem.language.decoding.trie import TrieNode, chain, grow
from stratagem.language.decoding.vocabulary import Ids, Vocabulary
from stratagem.language.decoding.walks import forced_tokens, text_after

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
