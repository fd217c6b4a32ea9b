"""Intervention on a message: another line in its place, with the turn and all moves as they were."""

from __future__ import annotations

from stratagem.games.talk.state import TalkState


def instead(state: TalkState, place: int, line: str) -> TalkState:
    """Return a position in which another line was said at a place of the talk.

    The turn stays, so no later draw moves. What the other seats have said and done since stays, too.
    """
    copy = state.fork()
    said = copy.messages[place]
    other = state.game.message(said.round, said.sender, line)
    copy.messages = (*copy.messages[:place], other, *copy.messages[place + 1 :])
    return copy
