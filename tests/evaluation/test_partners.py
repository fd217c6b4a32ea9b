"""Backstab and expansion in Diplomacy, with values counted by hand in short scripted games."""

import pytest

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.backstab import WINDOW, Attacks, attacks_on_partners
from stratagem.measure.metrics.expansion import yearly_change
from stratagem.measure.recorded_phases import phases
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

FRANCE, GERMANY, ITALY = 0, 1, 2


class Reader:
    """Plays by a script, phase by phase; holds where it says nothing."""

    traits = Traits()
    name = "reader"

    def __init__(self, **script):
        self.script = script

    def turn(self, ask):
        """Return the script's orders of this phase."""
        phase, choices = ask.view.facts.board.phase, ask.view.choices
        said = self.script.get(phase)
        return Move(choices.canonical(said) if said else None)


def played(text, *scripts):
    game = make_game(text)
    players = [Reader(**script) for script in scripts]
    setup = Setup(id="e", match=Match(game, players), slots=tuple(range(len(scripts))), key=Key(0))
    (episode,) = play([setup])
    return game, episode


def measured(name, game, *episodes):
    return METRICS[name].measure(Sample(game, (Matchup("them", 1, ("opponents",), episodes),)))


def null_of(name, game, *episodes):
    return METRICS[name].null(Sample(game, (Matchup("them", 1, ("opponents",), episodes),)))


THREE = "diplomacy(until=1902, only=[FRANCE, GERMANY, ITALY], judged=False)"
HELPED = {
    "S1901M": ["A PAR - BUR", "A MAR H", "F BRE H"],
    "F1901M": ["A BUR H", "A MAR H", "F BRE H"],
    "S1902M": ["A BUR - MUN", "A MAR H", "F BRE H"],
}
"""France stands in Burgundy, is supported there by Germany in Fall, and attacks Munich in the next Spring."""


def test_backstab_counts_an_attack_on_who_has_supported_oneself():
    german = {"F1901M": ["A MUN S A BUR", "A BER H", "F KIE H"]}
    game, episode = played(THREE, HELPED, german, {})
    # Burgundy can reach Munich in three phases; Piedmont's neighbour Marseilles reaches no place that another holds
    assert attacks_on_partners(episode, FRANCE) == Attacks(attacks=1, on_partners=1, chances=3, at_partners=2)
    assert attacks_on_partners(episode, ITALY).attacks == 0, "an attack is whose order it is"
    assert measured("backstab", game, episode).mean == 1.0
    assert null_of("backstab", game, episode) == pytest.approx(2 / 3)


def test_backstab_counts_an_attack_on_who_was_supported():
    french = {**HELPED, "F1901M": ["A BUR S A MUN - RUH", "A MAR H", "F BRE H"]}
    german = {"F1901M": ["A MUN - RUH", "A BER H", "F KIE H"], "S1902M": ["A RUH H", "A BER H", "F KIE H"]}
    _, episode = played(THREE, french, german, {})
    found = attacks_on_partners(episode, FRANCE)
    assert (found.attacks, found.on_partners) == (1, 1), "Munich is a centre that Germany owns"


@pytest.mark.parametrize(
    "german",
    [
        {},
        {"F1901M": ["A MUN S A BUR - GAS", "A BER H", "F KIE H"]},  # Burgundy did not move
        {"S1902M": ["A MUN S A BUR", "A BER H", "F KIE H"]},  # in the phase of the attack, not before
        {"F1901M": ["A MUN S A BER - SIL", "A BER - SIL", "F KIE H"]},  # of its own unit
    ],
)
def test_backstab_is_zero_where_nobody_was_a_partner_before(german):
    game, episode = played(THREE, HELPED, german, {})
    assert measured("backstab", game, episode).mean == 0.0
    assert null_of("backstab", game, episode) == 0.0


def test_backstab_leaves_out_who_was_supported_by_somebody_else():
    """Italy supports Germany, and France, who has no partner, attacks Germany."""
    german = {"F1901M": ["A MUN - TYR", "A BER H", "F KIE H"], "S1902M": ["A TYR H", "A BER H", "F KIE H"]}
    italian = {"F1901M": ["A VEN S A MUN - TYR", "A ROM H", "F NAP H"]}
    _, episode = played(THREE, HELPED, german, italian)
    assert attacks_on_partners(episode, GERMANY).at_partners > 0
    found = attacks_on_partners(episode, FRANCE)
    assert (found.attacks, found.on_partners, found.at_partners) == (1, 0, 0)


def test_backstab_forgets_a_support_after_the_window():
    french = {"S1901M": ["A PAR - BUR", "A MAR H", "F BRE H"], "S1904M": ["A BUR - MUN", "A MAR H", "F BRE H"]}
    german = {"F1901M": ["A MUN S A BUR", "A BER H", "F KIE H"]}
    text = THREE.replace("1902", "1904")
    assert WINDOW == 4
    assert attacks_on_partners(played(text, french, german, {})[1], FRANCE).on_partners == 0
    sooner = {**french, "F1903M": french["S1904M"]}
    assert attacks_on_partners(played(text, sooner, german, {})[1], FRANCE).on_partners == 1


def test_backstab_has_no_figure_without_attacks_and_in_other_games():
    game, episode = played(THREE, {}, {}, {})
    assert measured("backstab", game, episode) is None
    kuhn = make_game("kuhn")
    assert METRICS["backstab"].measure(Sample(kuhn, ())) is METRICS["expansion"].measure(Sample(kuhn, ())) is None


def test_expansion_is_the_change_in_centres_over_the_years():
    """France takes Spain in 1901 and Portugal in 1902; Germany takes Denmark; Italy takes nothing."""
    french = {
        "S1901M": ["A MAR - SPA", "A PAR H", "F BRE H"],
        "S1902M": ["A SPA - POR", "A PAR H", "F BRE H"],
        "F1902M": ["A POR H", "A PAR H", "F BRE H"],
    }
    german = {"S1901M": ["F KIE - DEN", "A BER H", "A MUN H"], "F1901M": ["F DEN H", "A BER H", "A MUN H"]}
    game, episode = played(THREE, french, german, {})
    assert yearly_change(episode, game) == pytest.approx([1.0, 0.5, 0.0])
    assert measured("expansion", game, episode).mean == pytest.approx(1.0)
    assert null_of("expansion", game, episode) == pytest.approx(0.5)


def test_recorded_positions_are_those_of_the_game_played_again():
    game = make_game("diplomacy(until=1903, judged=False)")
    players = [make_player(name, game) for name in ("dumbbot", *["random"] * 6)]
    (episode,) = play([Setup(id="e", match=Match(game, players), slots=tuple(range(7)), key=Key(1))])
    again = [(state.board, rows) for state, rows in steps(episode) if rows]
    recorded = list(phases(episode))
    assert [rows for _, rows in recorded] == [rows for _, rows in again]
    for (position, _), (board, _) in zip(recorded, again, strict=True):
        assert (position.phase, position.clock, position.owners) == (board.phase, board.clock, board.owners)
        assert position.occupants == board.occupants
