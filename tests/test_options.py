"""Numbers that an owner cannot take are refused in one sentence, in every game and player."""

import pytest

from stratagem.base.errors import BadParameter, UnknownName
from stratagem.base.options import whole, within
from stratagem.cli.main import main
from stratagem.games.catalogue import make_game
from stratagem.players.catalogue import make_player

INNER_WORDS = ("float", "int'", "str'", "object", "unsupported", "instances", "isfinite")


def refused(make, text, *more):
    with pytest.raises(BadParameter) as said:
        make(text, *more)
    sentence = str(said.value)
    assert sentence.endswith(".")
    assert not any(word in sentence for word in INNER_WORDS)
    return sentence


@pytest.mark.parametrize("value", ["1.5", "True", "two", "0", "-3", "None", "[2]", "nan"])
@pytest.mark.parametrize(
    ("game", "option"),
    [
        ("kuhn", "hands"),
        ("ipd", "rounds"),
        ("icg", "rounds"),
        ("auction", "rounds"),
        ("auction", "seats"),
        ("negotiation-v1", "rounds"),
        ("negotiation-v1", "pie"),
        ("negotiation-v2", "rounds"),
        ("negotiation-v2", "most"),
    ],
)
def test_counts_of_games_are_whole_numbers(game, option, value):
    assert f"`{option}` of at least" in refused(make_game, f"{game}({option}={value})")
    assert make_game(f"{game}({option}=3)").spec.rounds


@pytest.mark.parametrize("value", ["x", "nan", "'nan'", "True", "1.5", "-0.1", "None", "1e999"])
def test_the_chance_of_another_round_is_a_probability(value):
    assert "`continuation` from 0 to 1" in refused(make_game, f"ipd(continuation={value})")


@pytest.mark.parametrize("cell", ["('nan', 0)", "(1e999, 0)", "(0, -1e999)", "('inf', 0)"])
def test_payoffs_are_finite(cell):
    assert "finite" in refused(make_game, f"matrix(payoffs=[[{cell}]], labels=[A])")


@pytest.mark.parametrize("cell", ["{}", "(x, 0)", "7", f"({10**400}, 0)"])
def test_payoffs_are_numbers(cell):
    assert "rows of cells" in refused(make_game, f"matrix(payoffs=[[{cell}]], labels=[A])")


@pytest.mark.parametrize("value", ["abc", "True", "nan", "2", "-1", "None", "1e999"])
@pytest.mark.parametrize(
    ("game", "player"),
    [
        ("ipd", "Mixed(p={})"),
        ("ipd", "GenerousTFT(forgiveness={})"),
        ("ipd", "Joss(slyness={})"),
        ("kuhn", "NashApprox(alpha={})"),
        ("kuhn", "noise(NashApprox, p={})"),
    ],
)
def test_probabilities_of_players_are_numbers_in_range(game, player, value):
    assert "from 0 to" in refused(make_player, player.format(value), make_game(game))


@pytest.mark.parametrize("value", ["abc", "True", "0.5", "1e999", "None"])
def test_the_slope_of_a_line_is_a_number(value):
    assert "`chi` of at least 1" in refused(make_player, f"ExtortZD(chi={value})", make_game("ipd"))


@pytest.mark.parametrize("value", ["abc", "True", "0", "1e999"])
def test_the_strength_of_a_line_is_a_number(value):
    assert "`phi` above 0" in refused(make_player, f"ExtortZD(phi={value})", make_game("ipd"))


@pytest.mark.parametrize("value", ["abc", "True", "0", "1.5", "None"])
def test_counts_of_players_are_whole_numbers(value):
    assert "`rounds` of at least 1" in refused(make_player, f"delay(TitForTat, rounds={value})", make_game("ipd"))
    assert "`budget` of at least 1" in refused(make_player, f"perfect(budget={value})", make_game("tic-tac-toe"))


def test_the_bounds_themselves_are_admitted():
    whole("x", "n", 2, 2)
    within("x", "p", 0, 0.0, 1.0)
    within("x", "p", 1.0, 0.0, 1.0)
    within("x", "chi", 1e9, 1.0)
    with pytest.raises(BadParameter, match=r"^x needs `n` of at least 2, a whole number, not 1\.$"):
        whole("x", "n", 1, 2)


@pytest.mark.parametrize("command", ["games kuhn(hands=two)", "play tic-tac-toe --players perfect(budget=abc)"])
def test_the_command_line_says_it_in_a_sentence(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(command.split(" "))
    assert "a whole number, not" in " ".join(capsys.readouterr().err.split())


def test_a_message_lists_so_many_names_and_counts_the_others():
    message = str(UnknownName("episode", "0", [f"kuhn/{number:03}" for number in range(600)]))
    assert "kuhn/059 and 540 more" in message
    assert "kuhn/060" not in message
