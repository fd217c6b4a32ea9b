"""Transcripts of the classics. The rules are the published ones; the moves were worked out by hand from them."""

import json

import pytest
from axelrod_moves import FILE, MEMORY_ONE, SAME
from transcripts import advantage, assert_plays, view_of

from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts
from stratagem.games.matrix.players import (
    AlternateDefect,
    AlwaysCooperate,
    AlwaysDefect,
    FirmButFair,
    GenerousTFT,
    GrimTrigger,
    HardMajority,
    Joss,
    Mixed,
    Pavlov,
    SoftMajority,
    SuspiciousTitForTat,
    TitForTat,
    TitForTwoTats,
)
from stratagem.players.catalogue import make_player

IPD = make_game("ipd")
AXELROD = json.loads(FILE.read_text("utf-8"))


def odds(player, mine, theirs):
    """The probability of cooperating after these moves."""
    to_index = [tuple("CD".index(letter) for letter in moves) for moves in (mine, theirs)]
    facts = MatrixFacts(0, ("COOPERATE", "DEFECT"), ("COOPERATE", "DEFECT"), *to_index, len(mine))
    return player.policy(view_of(IPD, facts)).get("COOPERATE", 0.0)


@pytest.mark.parametrize(
    ("player", "against", "gives"),
    [
        (AlwaysCooperate(), "DDDD", "CCCC"),  # Axelrod 1984
        (AlwaysDefect(), "CDCC", "DDDD"),  # Axelrod 1984
        (AlternateDefect(), "CCDD", "DCDC"),  # SEPO, appendix: D, C, D, ...
        (AlternateDefect(first="C"), "CCDD", "CDCD"),
        (TitForTat(), "CDDC", "CCDD"),  # Axelrod 1980: the other's last move
        (SuspiciousTitForTat(), "CDDC", "DCDD"),  # Boyd and Lorberbaum 1987
        (TitForTwoTats(), "CDDCDCDDC", "CCCDCCCCD"),  # Axelrod 1980: two defections in a row
        (GrimTrigger(), "CDCC", "CCDD"),  # Friedman 1971
        (Pavlov(), "CDDCD", "CCDCC"),  # Nowak and Sigmund 1993: after C/D lose, shift; after D/D lose, shift
        (FirmButFair(), "CDCC", "CCDC"),  # Frean 1994: answers being suckered, forgives after taking advantage
        (SoftMajority(), "DCDDC", "CDCDD"),  # Beaufils et al. 1996: ties are forgiven
        (HardMajority(), "CCDDC", "DCCCD"),  # Beaufils et al. 1996: ties are not
        (GenerousTFT(), "CCCC", "CCCC"),  # Nowak and Sigmund 1992: never the first to defect
        (GenerousTFT(forgiveness=0.0), "CDDC", "CCDD"),  # no generosity is tit for tat
        (GenerousTFT(forgiveness=1.0), "DDDD", "CCCC"),
        (Joss(), "DDDD", "CDDD"),  # Axelrod 1980: answers every defection
        (Joss(slyness=1.0), "CCCC", "CDDD"),
        (Mixed(p=1.0), "DDDD", "CCCC"),  # SEPO: no regard to the other
        (Mixed(p=0.0), "CCCC", "DDDD"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_transcript(player, against, gives):
    assert_plays(player, against=against, gives=gives)


@pytest.mark.parametrize("name", SAME)
def test_player_without_chance_plays_as_in_the_library_of_axelrod(name):
    player = make_player(name, IPD)
    for theirs, moves in zip(AXELROD["against"], AXELROD["moves"][name], strict=True):
        played = [odds(player, moves[:turn], theirs[:turn]) for turn in range(len(theirs))]
        assert played == [float(letter == "C") for letter in moves]
    assert len({*"".join(AXELROD["moves"][name])}) == 1 + (not name.startswith("Always"))


@pytest.mark.parametrize("name", MEMORY_ONE)
def test_player_of_one_round_mixes_as_in_the_library_of_axelrod(name):
    player = make_player(name, IPD)
    mixed = [odds(player, mine, theirs) for mine in "CD" for theirs in "CD"]
    assert mixed == pytest.approx(AXELROD["four_vectors"][name])
    assert odds(player, "", "") == 1.0


def test_labels_do_not_matter():
    assert_plays(TitForTat(), against="CDDC", gives="CCDD", game="icg")
    assert_plays(Pavlov(), against="CDDCD", gives="CCDCC", game="prisoners-dilemma")


@pytest.mark.parametrize(
    ("player", "mine", "theirs", "probability"),
    [
        (Mixed(), "", "", 0.7),
        (Mixed(), "DD", "DD", 0.7),
        (GenerousTFT(), "C", "D", 1 / 3),
        (GenerousTFT(), "CD", "DC", 1.0),
        (FirmButFair(), "D", "D", 2 / 3),
        (FirmButFair(), "D", "C", 1.0),
        (FirmButFair(), "C", "D", 0.0),
        (Joss(), "", "", 1.0),
        (Joss(), "C", "C", 0.9),
        (Joss(), "C", "D", 0.0),
    ],
)
def test_odds(player, mine, theirs, probability):
    assert odds(player, mine, theirs) == pytest.approx(probability)


@pytest.mark.parametrize(
    ("agent", "opponent", "expected"),
    [
        (TitForTat(), AlwaysDefect(), 0.625),
        (TitForTat(), AlternateDefect(), 0.0),
        (AlwaysCooperate(), AlwaysDefect(), 5.0),
        (AlwaysCooperate(), AlternateDefect(), 2.5),
    ],
)
def test_advantage_over_eight_rounds(agent, opponent, expected):
    """SEPO's exploitability: means of 0.3125 for tit for tat and 3.75 for the cooperator."""
    assert advantage(IPD, opponent, agent) == expected


@pytest.mark.parametrize("make", [lambda: Mixed(p=1.5), lambda: GenerousTFT(forgiveness=-1), lambda: Joss(slyness=2)])
def test_probabilities_are_checked(make):
    with pytest.raises(BadParameter, match="from 0 to 1"):
        make()


def test_opening_is_checked():
    with pytest.raises(BadParameter, match="first=C or first=D"):
        AlternateDefect(first="X")


def test_a_silent_round_leaves_tit_for_tat_with_the_last_one_that_counted():
    state = IPD.start(None)
    state.play({0: "COOPERATE", 1: "DEFECT"})
    state.play({0: "COOPERATE", 1: None})
    assert TitForTat().policy(state.view(0)) == {"DEFECT": 1.0}


def test_a_mixer_defects_with_the_rest_of_the_probability():
    game = make_game("ipd")
    mix = make_player("Mixed(p=0.25)", game).policy(game.start(Key(0)).view(1))
    assert mix == {"COOPERATE": 0.25, "DEFECT": 0.75}
