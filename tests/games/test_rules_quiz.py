"""Questions about rules: each answer against the rules themselves, and what gives no questions."""

import re
from collections import Counter

import pytest

from stratagem.base.errors import BadParameter, CannotCompute, StratagemError, UnknownName
from stratagem.games import Key, make_game
from stratagem.games.catalogue import describe
from stratagem.games.enumeration import starts
from stratagem.games.quiz.questions import LETTERS
from stratagem.games.quiz.rules_quiz import kinds_of, rule_item

GAMES = ("kuhn", "ipd(rounds=3)", "auction", "tic-tac-toe", "leduc", "spiel:kuhn_poker(players=3)")


def items(game, kind, number=60):
    return [rule_item(make_game(game), kind, Key(seed)) for seed in range(number)]


@pytest.mark.parametrize("game", GAMES)
def test_every_kind_has_four_answers_and_the_right_one_stands_anywhere(game):
    for kind in kinds_of(make_game(game)):
        asked = items(game, kind, 40)
        assert all(len(set(item.answers)) == len(LETTERS) for item in asked)
        assert len(Counter(item.right for item in asked)) == len(LETTERS)


def test_a_legal_action_of_kuhn_follows_from_its_last_sentence():
    for question, answers, right in items("kuhn", "legal"):
        legal = {"FOLD", "CALL"} if "The other player bet." in question else {"PASS", "BET"}
        assert {*answers} & legal == {answers[right]}


def test_payoffs_of_kuhn_follow_from_both_cards_and_the_bets():
    """A showdown pays 1 or 2 chips to the higher card, a fold 1 chip to the other."""
    for question, answers, right in items("kuhn", "payoffs"):
        own, other = re.findall(r"Your card is ([JQK])\.", question)
        last = re.search(r"(You|The other player) plays? (\w+)\.\n\nWhat does", question)
        if last[2] == "FOLD":
            paid = -1 if last[1] == "You" else 1
        else:
            paid = (2 if last[2] == "CALL" else 1) * (1 if "JQK".index(own) > "JQK".index(other) else -1)
        assert answers[right] == str(paid)


def test_payoffs_of_the_dilemma_are_those_of_its_matrix():
    matrix = {("COOPERATE",) * 2: "3", ("DEFECT",) * 2: "1", ("COOPERATE", "DEFECT"): "0", ("DEFECT", "COOPERATE"): "5"}
    for question, answers, right in items("ipd(rounds=3)", "payoffs"):
        played = question.rpartition("\n\nWhat")[0].rpartition("\n\n")[2]
        own, other = (re.search(rf"{who} (\w+)", played)[1] for who in ("You play", "The other player plays"))
        assert answers[right] == matrix[own, other]


def test_the_next_to_move_is_the_other_player_until_the_board_is_full_or_a_line_is():
    for question, answers, right in items("tic-tac-toe", "turns"):
        assert answers[right] in ("The other player", "Nobody: the game is over")
        over = answers[right].startswith("Nobody")
        assert over or question.count(" .") > 1


def test_no_question_depends_on_chance_that_is_still_to_come():
    """A roll of pig may end a turn or not, so only a stop is asked about."""
    asked = items("pig", "turns", 20)
    assert all(re.search(r"plays? stop\.", item.question) for item in asked)


def test_its_questions_cannot_be_enumerated():
    """The chance of a question is that of a whole episode of random play, so its starts would take hours to list."""
    with pytest.raises(CannotCompute, match="rules:kuhn draws its questions from random play"):
        next(starts(make_game("rules:kuhn")))


def test_a_quiz_about_rules_is_a_game_by_name():
    game = make_game("rules:legal:kuhn(hands=1)")
    assert make_game(describe(game)) == game
    state = game.start(Key(1))
    right = LETTERS[state.item[2]]
    assert "one hand of a poker game" in state.view(0).situation
    assert state.play({0: right}).payoffs == (1.0,)
    assert state.over
    asked = {
        make_game("rules:kuhn").start(Key(seed)).view(0).facts.question.rpartition("\n\n")[2] for seed in range(20)
    }
    assert len(asked) == 3
    assert kinds_of(make_game("diplomacy")) == ("legal", "turns")


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("rules:quiz", BadParameter, "two seats or more"),
        ("rules:tracking:kuhn", UnknownName, "tracking"),
        ("rules:kunh", UnknownName, "kuhn"),
        ("rules:payoffs:diplomacy", BadParameter, "legal, turns"),
        ("rules:", StratagemError, "game"),
        ("rules:rules:kuhn", BadParameter, "two seats or more"),
    ],
)
def test_other_quizzes_are_refused(text, error, message):
    with pytest.raises(error, match=message):
        make_game(text)
