"""Face of quizzes: the question that a turn answered."""

from __future__ import annotations

from typing import Any

from stratagem.games.base import Json, State
from stratagem.games.quiz.questions import LETTERS, Questions, QuizState
from stratagem.show.viewer.faces.base import STATIC, Actions, GameFace


class QuizFace(GameFace):
    """Question that a turn answered. No state is dumped here: who is to answer must not read which is right."""

    module = STATIC / "face_quiz.js"
    rules = Questions

    def frame(self, state: State[Any]) -> Json:
        assert isinstance(state, QuizState)
        question, answers, _ = state.item
        return {"question": question, "answers": answers, "letters": LETTERS, "right": None, "chosen": None}

    def after(self, before: State[Any], after: State[Any], actions: Actions) -> Json:
        assert isinstance(before, QuizState)
        return {**self.frame(before), "right": before.item[2], "chosen": actions.get(0) or ""}
