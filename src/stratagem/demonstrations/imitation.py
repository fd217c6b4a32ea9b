"""What a model learns from a teacher: its decisions in games that it plays against itself, in all seats.

Decisions that were taken at the same time, as those of seven powers, are one unit: their prompts begin alike.
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


class Imitated(NamedTuple):
    """A decision of the teacher as an example."""

    messages: list[Message]
    reply: str


def imitated(game: Game[Any], teacher: str, examples: int, key: Key, style: Style) -> Iterator[list[Imitated]]:
    """Units of decisions, until there are so many examples; the last unit is cut."""
    left = examples
    for unit in _units(game, teacher, key, style):
        yield unit[:left]
        left -= len(unit)
        if left <= 0:
            return


def _units(game: Game[Any], teacher: str, key: Key, style: Style) -> Iterator[list[Imitated]]:
    """Game after game, without end."""
    match = Match(game, [make_player(teacher, game)] * game.spec.seats)
    slots, text = tuple(range(game.spec.seats)), describe(game)
    for number in count():
        at = key.at("imitation", text, number)
        setup = Setup(id=f"{text}/{teacher}/{number}", match=match, slots=slots, key=at, purpose="train")
        (episode,) = play([setup])
        for state, rows in steps(episode):
            said = [(state.view(row.seat), row.action) for row in rows if row.action is not None]
            if said:
                yield [Imitated(style.messages(view), reply(style, action)) for view, action in said]
