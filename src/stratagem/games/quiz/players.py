"""Player of quizzes that knows the answers: the teacher of supervised fine-tuning on questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from stratagem.base.errors import CannotCompute
from stratagem.games.base import View
from stratagem.games.quiz.questions import LETTERS, QuizState
from stratagem.players.base import Ask, Mix, Move, Player, Traits
from stratagem.players.members import PlayerBase


class AnswerKey(PlayerBase):
    """Gives the right answer to every question of a quiz, which it reads in the true state."""

    family: ClassVar[str] = "quiz"
    name: ClassVar[str] = "quiz/AnswerKey"
    traits: ClassVar[Traits] = Traits(sees_hidden=True, exact=False)

    def turn(self, ask: Ask) -> Move:
        state = ask.peek()
        assert isinstance(state, QuizState)
        return Move(LETTERS[state.item[2]])

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} reads the answer in the true state, so a view alone does not tell it.")


PLAYERS: Mapping[str, Callable[..., Player]] = {
    "AnswerKey": AnswerKey,
}
"""Players by name."""
