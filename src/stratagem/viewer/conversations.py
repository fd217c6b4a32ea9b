"""Conversation of an episode as data: what was said to whom, and what became of each promise and request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stratagem.evaluation.talk.ledger import Bound, Said, ledger
from stratagem.games.base import Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.talk import ALL, Statement
from stratagem.play.records import Episode


def conversation(episode: Episode, parents: Mapping[str, Episode]) -> list[Json]:
    """Return the messages of an episode in order, each with its position in the replay; none without talk.

    Position k of a replay is after its turn k. A promise or request names the position after the turn that decided it.
    """
    if not make_bounded_game(episode.game).has_talk:
        return []
    book = ledger(episode, parents)
    places = _places(episode)
    bound: dict[int, list[Bound]] = {}
    for one in (*book.promises, *book.requests):
        bound.setdefault(id(one.said), []).append(one)
    return [_message(said, places, bound.get(id(said), ())) for said in book.messages if said.text]


def _places(episode: Episode) -> dict[int, int]:
    """Return the position after each turn."""
    turns = dict.fromkeys(decision.turn for decision in episode.decisions)
    return {turn: place for place, turn in enumerate(turns, start=1)}


def _message(said: Said, places: Mapping[int, int], bound: Sequence[Bound]) -> Json:
    return {
        "position": places[said.turn],
        "seat": said.seat,
        "to": None if said.to == ALL else said.to,
        "text": said.text,
        "kind": said.intent.kind if said.intent else "",
        "truth": _truth(said),
        "bound": list(_bound(bound, places)),
    }


def _truth(said: Said) -> str:
    """Return the truth of a statement in a word; empty for other sentences."""
    if not isinstance(said.intent, Statement):
        return ""
    return {True: "true", False: "false", None: "unknown"}[said.truth]


def _bound(bound: Sequence[Bound], places: Mapping[int, int]) -> Iterator[Json]:
    for one in bound:
        yield {
            "seat": one.seat,
            "outcome": one.outcome,
            "breach": one.breach,
            "position": places.get(one.turn),
            "action": one.action,
        }
