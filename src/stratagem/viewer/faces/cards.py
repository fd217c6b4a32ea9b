"""Faces of poker games: cards, bets and chips of a hand."""

from __future__ import annotations

import re
from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.kuhn import Kuhn, KuhnState
from stratagem.games.spiel.rules import SpielRules
from stratagem.viewer.faces.base import STATIC, Actions, GameFace
from stratagem.viewer.faces.spiel import text_of

_LINE = {"P": "pass", "B": "bet", "C": "call", "F": "fold"}
_RANKS = "JQK"


class KuhnFace(GameFace):
    """Kuhn poker: the hand that a turn was played in, since the state after its end has the next one."""

    module = STATIC / "face_cards.js"
    rules = Kuhn

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, KuhnState)
        return _hand(state, state.line)

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        assert isinstance(before, KuhnState)
        assert isinstance(after, KuhnState)
        if after.line.startswith(before.line) and after.round == before.round:
            return _hand(before, after.line)
        facing = before.line.endswith("B")
        word = next(iter(actions.values())) or ("FOLD" if facing else "PASS")
        return _hand(before, before.line + word[0])


def _hand(state: KuhnState, line: str) -> Json:
    opener = state.round % 2
    moves = [((opener + turn) % 2, letter) for turn, letter in enumerate(line)]
    return {
        "cards": list(state.cards), "open": None, "opener": opener, "hand": state.round, "line": line,
        "chips": [1 + sum(mover == seat and letter in "BC" for mover, letter in moves) for seat in (0, 1)],
        "bets": [[{"seat": mover, "word": _LINE[letter]} for mover, letter in moves]],
        "folded": moves[-1][0] if line.endswith("F") else None,
    }  # fmt: skip


class SpielKuhnFace(GameFace):
    """One hand of Kuhn poker by OpenSpiel, whose state is written as `0 1 bp`."""

    module = STATIC / "face_cards.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        first, second, line = (*text_of(state).split(), "")[:3]
        bets = [{"seat": turn % 2, "word": {"p": "pass", "b": "bet"}[letter]} for turn, letter in enumerate(line)]
        chips = [1 + ("b" in line[seat::2]) for seat in (0, 1)]
        folded = (len(line) - 1) % 2 if line in ("bp", "pbp") else None
        return {
            "cards": [_RANKS[int(first)], _RANKS[int(second)]], "open": None, "opener": 0, "chips": chips, "hand": 0,
            "bets": [bets], "folded": folded,
        }  # fmt: skip


class LeducFace(GameFace):
    """Leduc poker: both private cards, the open card, and two rounds of bets."""

    module = STATIC / "face_cards.js"
    rules = SpielRules

    def frame(self, state: State[Any]) -> Json:
        text = text_of(state)
        public, *private = map(int, re.findall(r"-?\d+", text.split("Cards")[1].split(":")[1].split("\n")[0]))
        rounds = [_words(line) for line in re.findall(r"sequence: ?(.*)", text)]
        chips, folded = _stakes(rounds)
        return {
            "cards": [_RANKS[card // 2] for card in private], "open": _RANKS[public // 2] if public >= 0 else None,
            "opener": 0, "chips": chips, "hand": 0, "folded": folded,
            "bets": [[{"seat": turn % 2, "word": word} for turn, word in enumerate(words)] for words in rounds],
        }  # fmt: skip


def _words(line: str) -> list[str]:
    return [word.strip().lower() for word in line.split(",") if word.strip()]


def _stakes(rounds: list[list[str]]) -> tuple[list[int], int | None]:
    """Return the chips that each seat has put in, and who folded."""
    chips, folded = [1, 1], None
    for size, words in zip((2, 4), rounds, strict=False):
        for turn, word in enumerate(words):
            own, other = turn % 2, 1 - turn % 2
            if word == "fold":
                folded = own
            else:
                chips[own] = chips[other] + size * (word == "raise")
    return chips, folded
