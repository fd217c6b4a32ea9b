"""Replay of one episode as data: its frames, the decisions of each turn, and what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadRecord, StratagemError
from stratagem.games.base import Json, State
from stratagem.games.bounded import make_bounded_game
from stratagem.games.talk import ALL, Statement
from stratagem.measure.talk.ledger import Bound, SaidMessage, ledger
from stratagem.playing.forks import steps
from stratagem.playing.records import Decision, Episode
from stratagem.playing.store import read_episode
from stratagem.show.viewer.episode_index import stamp
from stratagem.show.viewer.faces.catalogue import is_strange
from stratagem.show.viewer.faces.frames import NONE, draw_episode
from stratagem.show.viewer.listing import find_row, neighbours
from stratagem.show.viewer.sentences import reason_of, sentence_of

_UNDRAWN: Json = {**NONE, "conversation": []}
"""Drawing of an episode that cannot be played again."""
_ANCESTORS = 64
"""Largest number of forks that lead to an episode."""


def load_episode(folder: Path, name: str) -> Episode:
    """Read an episode of a record; the last ones are kept."""
    row = find_row(folder, name)
    return _episode(folder, row.shard, name, *stamp(folder, row.shard))


@lru_cache(maxsize=16)
def _episode(folder: Path, shard: int, name: str, modified: int, size: int) -> Episode:
    return read_episode(folder, shard, name)


def replay_of(folder: Path, name: str) -> Json:
    """Return the replay of an episode; where it cannot be played again, the reason in a sentence instead of frames."""
    episode = load_episode(folder, name)
    before, after = neighbours(folder, find_row(folder, name))
    parents = partial(parents_of, episode, partial(load_episode, folder))
    return {**replay_episode(episode, parents), "previous": before, "next": after}


def replay_episode(episode: Episode, parents: Callable[[], dict[str, Episode]] = dict) -> Json:
    """Return an episode turn by turn with its frames."""
    turns = _turns(episode)
    return {
        "id": episode.id,
        "game": episode.game,
        "players": episode.players,
        "slots": episode.slots,
        "purpose": episode.purpose,
        "group": episode.group,
        "parent": episode.parent,
        "forked_at": episode.forked_at,
        "finished": episode.finished,
        "payoffs": episode.payoffs,
        "rounds": episode.rounds,
        "turns": [_turn(episode, rows, turns[place + 1 : place + 2]) for place, rows in enumerate(turns)],
        "previous": None,
        "next": None,
        **_draw_frames(episode, parents),
    }


def _turns(episode: Episode) -> list[list[Decision]]:
    by_turn: dict[int, list[Decision]] = {}
    for decision in episode.decisions:
        by_turn.setdefault(decision.turn, []).append(decision)
    return list(by_turn.values())


def _turn(episode: Episode, rows: list[Decision], following: Sequence[list[Decision]]) -> Json:
    """Return a turn; the payoffs of its round where it ends the round."""
    index = rows[0].round
    closes = following[0][0].round != index if following else episode.finished
    return {
        "turn": rows[0].turn,
        "round": index,
        "payoffs": episode.paid_in(index) if closes else None,
        "decisions": [_decision(row) for row in rows],
    }


def _decision(row: Decision) -> Json:
    return {
        "seat": row.seat,
        "attempt": row.attempt,
        "state_key": row.state_key,
        "action": row.action,
        "how": row.how,
        "said": row.said,
        "payoff": row.payoff,
        "parts": [part._asdict() for part in row.parts],
        "advantage": row.advantage,
        "keep": row.keep,
        "calls": len(row.calls),
    }


def _draw_frames(episode: Episode, parents: Callable[[], dict[str, Episode]]) -> Json:
    """Return the face and the frames of an episode, one more than it has turns, and what was said."""
    try:
        known = parents()
        check_start(episode, known)
        frames = draw_episode(list(steps(episode, known)))
        return {**frames, "conversation": conversation(episode, known), "unplayable": ""}
    except StratagemError as error:
        return {**_UNDRAWN, "unplayable": sentence_of(error)}
    except Exception as error:
        if not is_strange(make_bounded_game(episode.game)):
            raise  # a defect of ours keeps its traceback
        return {**_UNDRAWN, "unplayable": f"{episode.game} cannot be shown: {reason_of(error)}."}


def check_start(episode: Episode, parents: Mapping[str, Episode]) -> None:
    """Refuse an episode that began at a position of its own, as a question of an audit does: no record holds it."""
    state, rows = next(steps(episode, parents))
    differs = any(row.seat not in state.to_act or state.view(row.seat).state_key != row.state_key for row in rows)
    if differs or _may_be_dealt_otherwise(episode, state):
        raise BadRecord(
            f"Episode {episode.id} began at a position that was set up for it, which the record does not hold, so no "
            "board is drawn. The prompt tells the position."
        )


def _may_be_dealt_otherwise(episode: Episode, state: State[Any]) -> bool:
    """Return whether a question of one turn leaves open what the seats hold that were not asked."""
    asked = {row.seat for row in episode.decisions}
    is_question = episode.purpose == "probe" and not episode.parent and len({row.turn for row in episode.decisions}) < 2
    return is_question and state.game.spec.private_information and len(asked) < state.game.spec.seats


def parents_of(episode: Episode, load: Callable[[str], Episode]) -> dict[str, Episode]:
    """Return the episodes from which this one was forked, the nearest of them where there are very many."""
    parents: dict[str, Episode] = {}
    own = episode.id
    while episode.parent and len(parents) < _ANCESTORS:
        if episode.parent in (own, *parents):
            raise BadRecord(f"Episode {own} was forked from itself, so it cannot be played again.")
        episode = load(episode.parent)
        parents[episode.id] = episode
    return parents


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


def _message(said: SaidMessage, places: Mapping[int, int], bound: Sequence[Bound]) -> Json:
    return {
        "position": places[said.turn],
        "seat": said.seat,
        "to": None if said.to == ALL else said.to,
        "text": said.text,
        "kind": said.intent.kind if said.intent else "",
        "truth": _truth(said),
        "bound": list(_bound(bound, places)),
    }


def _truth(said: SaidMessage) -> str:
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
