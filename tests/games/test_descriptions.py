"""Games as they are told of: their summaries name their own parameters, and their names make them again."""

import pytest

from stratagem.base.errors import BadParameter
from stratagem.games import make_game
from stratagem.games.catalogue import describe
from stratagem.games.matrix import MatrixGame

TABLE = (((1.0, 2.0), (3.0, 4.0)), ((5.0, 6.0), (7.0, 8.0)))


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("ipd", "Iterated prisoner's dilemma, payoffs 5, 3, 1, 0, eight rounds."),
        ("ipd(rounds=30)", "Iterated prisoner's dilemma, payoffs 5, 3, 1, 0, 30 rounds."),
        ("ipd(continuation=0.8)", "Iterated prisoner's dilemma, payoffs 5, 3, 1, 0, up to eight rounds."),
        ("ipd(continuation=0)", "Iterated prisoner's dilemma, payoffs 5, 3, 1, 0, one round."),
        (
            "ipd-shapellm(payoffs=[[(4, 4), (0, 5.5)], [(5.5, 0), (1, 1)]], rounds=1)",
            "Iterated prisoner's dilemma, payoffs 5.5, 4, 1, 0, one round.",
        ),
        ("prisoners-dilemma", "The prisoner's dilemma in sentences, once."),
        ("prisoners-dilemma(rounds=3)", "The prisoner's dilemma in sentences, three times."),
        ("auction(rounds=3)", "Sealed-bid auction with private values 1 to 3, three rounds."),
        ("negotiation-v1(pie=7, rounds=1)", "Simultaneous demands on a pie of 7, one round."),
        ("negotiation-v2(rounds=2)", "Demands on books, hats and balls with private values, two rounds."),
        (
            "public-goods(seats=5, fine=1, rounds=2)",
            "Repeated public goods game: contribute or keep, then punish or spare, five seats, two rounds.",
        ),
        (
            "sender-receiver(states=30, bias=0.5, rounds=4)",
            "Sender-receiver game: cheap talk about one of 30 states, bias 0.5, four rounds.",
        ),
        ("quiz(kind=tracking)", "Questions for one seat: tracking; a measure, not a game."),
        (
            "diplomacy(only=[FRANCE, ITALY])",
            "Diplomacy: two powers order their units at the same time, until a solo or a year.",
        ),
        (
            "talk(ipd(rounds=3))",
            "Iterated prisoner's dilemma, payoffs 5, 3, 1, 0, three rounds, with messages before its turns.",
        ),
    ],
)
def test_summary_names_the_parameters(text, summary):
    assert make_game(text).spec.summary == summary


@pytest.mark.parametrize("name", ["auction", "kuhn", "matrix", "ipd", "rules:x", "spiel:x", "talk", "my game"])
def test_matrix_game_with_any_name_is_made_again_from_its_description(name):
    game = MatrixGame(name=name, payoffs=TABLE)
    assert make_game(describe(game)) == game


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("public-goods(multiplier=1.5, fine=2)", "public-goods(multiplier=1.5, fine=2.0)"),
        ("ipd(continuation=0)", "ipd(continuation=0.0)"),
        ("talk(public-goods(fine=1))", "talk(public-goods(fine=1.0))"),
    ],
)
def test_one_game_has_one_description_however_its_numbers_are_written(one, other):
    for text in (one, other):
        describe.cache_clear()
        assert describe(make_game(text)) == other


def test_words_of_the_story_may_be_one_word_or_a_list():
    text = "matrix(payoffs=[[(1, 2)]], labels=[A], labels_second=[B], story_words={words})"
    for words in ("prison", "[prison]"):
        game = make_game(text.format(words=words))
        assert game.story_words == ("prison",)
        assert make_game(describe(game)) == game


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ipd(cooperative=no)", "`cooperative` as True or False, not 'no'"),
        ("ipd(name=5)", "`name` as a text, not 5"),
        ("ipd(story=[a])", r"`story` as a text, not \['a'\]"),
        ("ipd(summary=1)", "`summary` as a text, not 1"),
        ("diplomacy(map=[standard])", r"`map` as the name of a map, such as standard, not \['standard'\]"),
        ("diplomacy(map=5)", "`map` as the name of a map, such as standard, not 5"),
        ("diplomacy(only=5)", "`only` as a list of powers"),
    ],
)
def test_parameters_of_another_type_are_refused(text, says):
    with pytest.raises(BadParameter, match=says):
        make_game(text)
