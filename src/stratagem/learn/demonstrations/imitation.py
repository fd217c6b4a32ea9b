"""Imitation of a teacher: training examples from its self-play in all seats, from others' play, or from recorded games.

Simultaneous decisions, as those of seven powers, are one unit: their prompts share a prefix.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from stratagem.base.errors import BadParameter
from stratagem.games.base import Game, View
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.language.prompting.base import ChatMessage, Style
from stratagem.learn.demonstrations.scripted import reply
from stratagem.players.asked_agent import AskedAgent
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play
from stratagem.playing.store import read_episodes

Unit = list[tuple[View[Any], str]]
"""Situations of one turn, with the teacher's actions."""
_FRUITLESS = 1000
"""Number of games in a row without an example after which there are none."""


class TeacherDecision(NamedTuple):
    """Decision of the teacher as a training example."""

    messages: list[ChatMessage]
    reply: str


class ImitatedPlayer(NamedTuple):
    """Player whose actions are learnt, and the situations that it is asked about."""

    teacher: str
    played_by: str = ""
    """Player of all seats; empty for the teacher."""
    held_out: float = 0.0
    """Share of the situations that are left out."""
    records: tuple[str, ...] = ()
    """Folders of recorded games, in which the teacher's decisions are learnt; nothing is played then."""


def teacher_decisions(
    game: Game[Any], imitated: ImitatedPlayer, examples: int, key: Key, styles: Sequence[Style]
) -> Iterator[list[TeacherDecision]]:
    """Yield units of decisions, up to a number of examples, with the styles in turn; the last unit is cut."""
    left = examples
    for unit in _units(game, imitated, key):
        done = examples - left
        chosen = [styles[(done + number) % len(styles)] for number in range(min(len(unit), left))]
        yield [
            TeacherDecision(style.messages(view), reply(style, action))
            for style, (view, action) in zip(chosen, unit, strict=False)
        ]
        left -= len(chosen)
        if left <= 0:
            return


def is_held_out(view: View[Any], share: float) -> bool:
    """Test whether a situation is among the share that is left out of training, by a hash of its text.

    Two seats may see one text, as in nim, so a hash of the state would leave it out for one of them alone.
    """
    text = f"{view.game.spec.name}\0{view.situation}"
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2.0**64


def _units(game: Game[Any], imitated: ImitatedPlayer, key: Key) -> Iterator[Unit]:
    """Yield the units of game after game, without end."""
    if imitated.records:
        yield from _recorded_units(game, imitated)
    fruitless = 0
    for number in count():
        units = [unit for unit in _episode(game, imitated, key, number) if unit]
        yield from units
        fruitless = 0 if units else fruitless + 1
        if fruitless >= _FRUITLESS:
            raise BadParameter(f"{imitated.teacher} gives no example of {describe(game)} in {fruitless} games.")


def _recorded_units(game: Game[Any], imitated: ImitatedPlayer) -> Iterator[Unit]:
    """Yield the units of recorded games, again after the last one, without end."""
    teacher = make_player(imitated.teacher, game)
    name, text, found = f"{teacher.name}@{teacher.traits.version}", describe(game), True
    while found:
        found = False
        for episode in (one for folder in imitated.records for one in read_episodes(Path(folder), calls=False)):
            seats = {seat for seat, player in enumerate(episode.players) if player == name}
            for state, rows in steps(episode) if seats and episode.game == text else ():
                own = [(state.view(row.seat), row.action) for row in rows if row.seat in seats]
                unit = [
                    (v, action) for v, action in own if action is not None and not is_held_out(v, imitated.held_out)
                ]
                found = found or bool(unit)
                yield from [unit] if unit else []
    raise BadParameter(f"No game of {text} in {', '.join(imitated.records)} has decisions of {name}.")


def _episode(game: Game[Any], imitated: ImitatedPlayer, key: Key, number: int) -> Iterator[Unit]:
    """Play a game, and yield the situations of each turn with the teacher's actions there."""
    player, text = imitated.played_by or imitated.teacher, describe(game)
    match, slots = Match(game, [make_player(player, game)] * game.spec.seats), tuple(range(game.spec.seats))
    at = key.at("imitation", text, number)
    setup = Setup(id=f"{text}/{player}/{number}", match=match, slots=slots, key=at, purpose="train")
    teacher = AskedAgent(make_player(imitated.teacher, game)) if imitated.played_by else None
    (episode,) = play([setup])
    for turn, (state, rows) in enumerate(steps(episode)):
        views = {row.seat: state.view(row.seat) for row in rows}
        shown = [row for row in rows if not is_held_out(views[row.seat], imitated.held_out)]
        if teacher is None:
            actions = {row.seat: row.action for row in shown}
        else:
            actions = {row.seat: teacher.draw(state, row.seat, at.at("teacher", turn, row.seat)) for row in shown}
        yield [(views[seat], action) for seat, action in actions.items() if action is not None]
