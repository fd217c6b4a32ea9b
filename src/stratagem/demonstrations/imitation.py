"""Imitation of a teacher: training examples from its self-play, in all seats.

Simultaneous decisions, as those of seven powers, are one unit: their prompts share a prefix.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

from stratagem.demonstrations.scripted import reply
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.play.forks import steps
from stratagem.play.match import Match, Setup
from stratagem.play.scheduler import play
from stratagem.players.catalogue import make_player
from stratagem.prompting.base import Message, Style


class TeacherDecision(NamedTuple):
    """Decision of the teacher as a training example."""

    messages: list[Message]
    reply: str


def teacher_decisions(
    game: Game[Any], teacher: str, examples: int, key: Key, style: Style
) -> Iterator[list[TeacherDecision]]:
    """Yield units of decisions, up to a number of examples; the last unit is cut."""
    left = examples
    for unit in _units(game, teacher, key, style):
        yield unit[:left]
        left -= len(unit)
        if left <= 0:
            return


def _units(game: Game[Any], teacher: str, key: Key, style: Style) -> Iterator[list[TeacherDecision]]:
    """Yield the units of game after game, without end."""
    match = Match(game, [make_player(teacher, game)] * game.spec.seats)
    slots, text = tuple(range(game.spec.seats)), describe(game)
    for number in count():
        at = key.at("imitation", text, number)
        setup = Setup(id=f"{text}/{teacher}/{number}", match=match, slots=slots, key=at, purpose="train")
        (episode,) = play([setup])
        for state, rows in steps(episode):
            decisions = [(state.view(row.seat), row.action) for row in rows if row.action is not None]
            if decisions:
                yield [TeacherDecision(style.messages(view), reply(style, action)) for view, action in decisions]
