"""Quizzes: questions by rule, and about the rules of a game; beside the rules are players and face."""

from stratagem.games.quiz.questions import LETTERS, Questions, QuizState
from stratagem.games.quiz.rules import KINDS, Quiz
from stratagem.games.quiz.rules_quiz import RULE_KINDS, RulesQuiz

__all__ = ["KINDS", "LETTERS", "RULE_KINDS", "Questions", "Quiz", "QuizState", "RulesQuiz"]
