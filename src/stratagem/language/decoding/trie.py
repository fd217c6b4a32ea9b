"""A token trie over lines that can be closed again: each node knows which slots have a line below it, as bits.

A line leaves the trie without a change to any node: the walker keeps the bits of the slots that are still open, and a
child is there as long as it shares a bit with them. So one trie serves every walk and every fork of it at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from stratagem.language.decoding.vocabulary import Ids


class TrieNode:
    """Node of the trie: the tokens that may follow, and the line that ends here."""

    __slots__ = ("_seen", "children", "line", "slots")

    def __init__(self, slots: int = 0) -> None:
        self.children: dict[int, TrieNode] = {}
        self.line = -1
        """The number of the line that is complete here, or -1."""
        self.slots = slots
        """The slots that some line here or below can stand in, as bits."""
        self._seen: tuple[int, Ids] = (-1, ())

    def tokens(self, live: int) -> Ids:
        """Return the tokens that lead to a line of a live slot, ascending; the last answer is cached."""
        live &= self.slots
        seen = self._seen
        if seen[0] == live:
            return seen[1]
        tokens = tuple(sorted(token for token, child in self.children.items() if child.slots & live))
        self._seen = (live, tokens)
        return tokens

    def size(self) -> int:
        """Return the number of nodes from here down."""
        return 1 + sum(child.size() for child in self.children.values())


def grow(spellings: Iterable[Ids], slots: Iterable[int]) -> TrieNode:
    """Return the trie of these spellings; each comes with the bits of the slots that it can stand in."""
    root = TrieNode()
    for line, (ids, bits) in enumerate(zip(spellings, slots, strict=True)):
        node = root
        node.slots |= bits
        for token in ids:
            child = node.children.get(token)
            if child is None:
                child = node.children[token] = TrieNode(bits)
            else:
                child.slots |= bits
            node = child
        node.line = line
    return root


def chain(ids: Ids, goal: TrieNode) -> TrieNode:
    """Return a node from which the given tokens, one after the other, lead to the goal."""
    for token in reversed(ids):
        node = TrieNode(-1)
        node.children[token] = goal
        goal = node
    return goal
