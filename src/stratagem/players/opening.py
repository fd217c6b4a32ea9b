"""Action that a reply opens with, and the probabilities of these actions by a server's log-probabilities.

A reply opens with the longest legal action that its text begins with, after space and quotation marks; case does not
matter. So the first tokens decide, whatever follows them. Each reply that is asked for with log-probabilities tells the
distribution at every position of its own path. The known part of the tree of replies grows with each, and what no known
token leads to remains unseen: it may belong to any action, or to none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from stratagem.base.errors import CannotCompute
from stratagem.games.choices import Choices
from stratagem.language.engines.base import Alternative
from stratagem.players.base import ScoredActions

_LEAD = " \t\r\n\"'*`“‘"
"""Characters before an action that do not count."""
_ROUNDING = 1e-3
"""Tolerance of a sum of probabilities above 1."""
LISTED = 256
"""Number of actions beyond which a situation is refused."""


class Openings:
    """Legal actions by their letters."""

    def __init__(self, choices: Choices) -> None:
        if choices.is_open:
            raise CannotCompute("Open text has no list of actions, which the mode prefix needs.")
        if choices.count > LISTED:
            raise CannotCompute(
                f"There are up to {choices.count} actions at once, too many for a mode that lists them."
            )
        self._by_text = {action.casefold(): action for action in choices}
        if len(self._by_text) < choices.count:
            raise CannotCompute("Two actions differ in case alone, which the mode prefix cannot tell apart.")
        self.longest = max(map(len, self._by_text))
        """Number of characters of the longest action."""

    def read(self, text: str) -> str | None:
        """Return the action that a whole reply opens with; None where there is none."""
        said = text.lstrip(_LEAD).casefold()
        opening = [action for action in self._by_text if said.startswith(action)]
        return self._by_text[max(opening, key=len)] if opening else None

    def is_open(self, text: str) -> bool:
        """Return whether what follows this beginning of a reply may change the action."""
        said = text.lstrip(_LEAD).casefold()
        return any(action.startswith(said) and action != said for action in self._by_text)


@dataclass
class _ReplyPrefix:
    """Beginning of a reply: the probability of each token that follows, as far as it is known."""

    shares: dict[bytes, float] = field(default_factory=dict)
    below: dict[bytes, _ReplyPrefix] = field(default_factory=dict)


class ReplyTree:
    """Known part of the tree of replies to one prompt."""

    def __init__(self, openings: Openings) -> None:
        self._openings = openings
        self._root = _ReplyPrefix()

    def add(self, positions: Sequence[Sequence[Alternative]]) -> None:
        """Add the path of one reply, up to the token that decides."""
        node, said = self._root, b""
        for position in positions:
            if not position:
                return
            if not node.shares:
                node.shares = _shares(position)
            share = min(math.exp(position[0].logprob), max(0.0, 1.0 - math.fsum(node.shares.values())))
            node.shares.setdefault(position[0].token, share)
            said += position[0].token
            if not self._openings.is_open(_decode_text(said)):
                return
            node = node.below.setdefault(position[0].token, _ReplyPrefix())

    def score_actions(self) -> ScoredActions:
        """Return the probability of each action, and what is unseen."""
        mix: dict[str, float] = {}
        unseen = self._walk(self._root, b"", 1.0, mix)
        return ScoredActions(mix, max(0.0, unseen))

    @property
    def reducible(self) -> float:
        """Probability of the beginnings that another reply may follow further."""
        return self._undecided_share(self._root, b"", 1.0)

    def _walk(self, node: _ReplyPrefix, said: bytes, reach: float, mix: dict[str, float]) -> float:
        """Add the decided probabilities below a beginning, and return the unseen rest."""
        unseen = reach * max(0.0, 1.0 - math.fsum(node.shares.values()))
        for token, share in node.shares.items():
            text = _decode_text(said + token)
            if not self._openings.is_open(text):
                if (action := self._openings.read(text)) is not None:
                    mix[action] = mix.get(action, 0.0) + reach * share
            elif token in node.below and node.below[token].shares:
                unseen += self._walk(node.below[token], said + token, reach * share, mix)
            else:
                unseen += reach * share
        return unseen

    def _undecided_share(self, node: _ReplyPrefix, said: bytes, reach: float) -> float:
        total = 0.0
        for token, share in node.shares.items():
            if self._openings.is_open(_decode_text(said + token)):
                below = node.below.get(token)
                known = below is not None and bool(below.shares)
                total += self._undecided_share(below, said + token, reach * share) if below and known else reach * share
        return total


def _shares(position: Sequence[Alternative]) -> dict[bytes, float]:
    shares = {one.token: math.exp(one.logprob) for one in position}
    total = math.fsum(shares.values())
    if total > 1.0 + _ROUNDING:
        raise CannotCompute(f"The server's probabilities of the next token sum to {total:.4f}, so they are none.")
    return shares if total <= 1.0 else {token: share / total for token, share in shares.items()}


def _decode_text(said: bytes) -> str:
    """Return the text of a beginning; a character that is not complete is left out."""
    return said.decode("utf-8", "ignore")
