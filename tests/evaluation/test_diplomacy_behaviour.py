"""Results of orders, attacks and kingmaking: counted by hand in small positions."""

import json

import numpy as np
import pytest

from stratagem.games.base import ActionPart
from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy.attacks import find_attacks
from stratagem.games.key import Key
from stratagem.measure.hostility import Hostility, alliance, hostility
from stratagem.measure.matchups import Matchup
from stratagem.measure.metrics import METRICS, Sample
from stratagem.measure.metrics.orders import is_effective, of_sheet, orders_of
from stratagem.measure.metrics.peace import decisive, kingmakers
from stratagem.players.base import Move, Traits
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.scheduler import play

TWO = "diplomacy(until=1901, only=[FRANCE, GERMANY])"
FRANCE, GERMANY, ITALY = 0, 1, 2


class Reader:
    """Plays by a script, phase by phase; holds when it is over."""

    traits = Traits()
    name = "reader"

    def __init__(self, **script):
        self.script = script

    def turn(self, ask):
        """Return the script's orders of this phase."""
        phase, choices = ask.view.facts.board.phase, ask.view.choices
        said = self.script.get(phase)
        return Move(choices.canonical(said) if said else None)


def game_of(text, *scripts):
    game = make_game(text)
    setup = Setup(id="e", match=Match(game, scripts), slots=tuple(range(len(scripts))), key=Key(0))
    (episode,) = play([setup])
    return game, episode


def sample(game, *episodes):
    return Sample(game, (Matchup("them", 1, ("opponents",), episodes),))


SCRIPT = {
    "S1901M": ["A PAR - BUR", "A MAR - BUR", "F BRE S A PAR - PIC"],
    "F1901M": ["A PAR - BUR", "A MAR S A PAR - BUR", "F BRE - MAO"],
}


HELD = ["A PAR H", "A MAR H", "F BRE H"]


def test_orders_are_counted_by_what_became_of_them():
    """Spring: two bounce at one place and a support is void; Fall: a supported move, a support, a move."""
    game, episode = game_of(TWO, Reader(**SCRIPT), Reader())
    found = [(part.slot, part.kind, own) for part, own in orders_of(episode)]
    assert sorted(found) == [
        ("A MAR", "bounce", True),
        ("A MAR", "support", False),
        ("A PAR", "bounce", True),
        ("A PAR", "supported move", False),
        ("F BRE", "move", False),
        ("F BRE", "void support", False),
    ]
    means = {
        name: METRICS[name].measure(sample(game, episode)).mean
        for name in ("effective", "coordinated", "supports", "bounced")
    }
    assert means == pytest.approx({"effective": 0.5, "coordinated": 0.5, "supports": 1 / 3, "bounced": 0.5})


def test_a_move_into_a_place_that_ones_own_unit_does_not_leave_is_not_effective():
    game, episode = game_of(TWO, Reader(S1901M=["A PAR - BRE", "A MAR H", "F BRE H"], F1901M=HELD), Reader())
    assert [(part.slot, own) for part, own in orders_of(episode) if part.kind == "bounce"] == [("A PAR", True)]
    assert METRICS["effective"].measure(sample(game, episode)).mean == pytest.approx(5 / 6)


def test_two_own_units_that_would_change_places_undo_each_other():
    _, episode = game_of(TWO, Reader(S1901M=["A PAR - GAS", "A MAR H", "F BRE - GAS"], F1901M=HELD), Reader())
    assert {part.slot for part, own in orders_of(episode) if own} == {"A PAR", "F BRE"}
    swap = [ActionPart("A BUR", "bounce", 0.0), ActionPart("A GAS", "bounce", 0.0), ActionPart("", "outcome", 1.0)]
    assert [own for _, own in of_sheet("A BUR - GAS\nA GAS - BUR", swap)] == [True, True]
    late = [ActionPart("A BUR", "bounce", 0.0), ActionPart("A GAS", "bounce", 0.0)]
    assert [own for _, own in of_sheet("A BUR - GAS\nA GAS - SPA", late)] == [True, False]


def test_what_was_no_sheet_is_no_effective_one():
    """Held by rule, its orders count and none was effective; in a build phase there was nothing to be effective."""
    game, episode = game_of(TWO, Reader(S1901M=HELD), Reader())
    assert METRICS["effective"].measure(sample(game, episode)).mean == pytest.approx(0.5)
    held = [ActionPart("A PAR", "hold", 0.1), ActionPart("F BRE", "hold", 0.1)]
    assert [is_effective(*order) for order in of_sheet(None, held)] == [False, False]
    assert list(of_sheet(None, [ActionPart("WAIVE", "waive", 0.0)])) == []
    assert list(of_sheet("WAIVE", [ActionPart("WAIVE", "waive", 0.0)])) == []


def test_without_judged_orders_there_is_no_figure():
    game, episode = game_of(TWO[:-1] + ", judged=False)", Reader(**SCRIPT), Reader())
    assert all(METRICS[name].measure(sample(game, episode)) is None for name in ("effective", "supports", "bounced"))
    kuhn = make_game("kuhn")
    assert METRICS["peace"].measure(Sample(kuhn, ())) is METRICS["kingmaking"].measure(Sample(kuhn, ())) is None


def test_who_attacks_whom_and_who_could_have():
    """France enters Burgundy in Spring, from where it can reach Munich, and attacks it in Fall with a support."""
    script = {
        "S1901M": ["A PAR - BUR", "A MAR H", "F BRE H"],
        "F1901M": ["A BUR - MUN", "A MAR H", "F BRE H"],
    }
    _, episode = game_of(TWO, Reader(**script), Reader())
    counts = hostility(episode)
    assert counts.attacks.tolist() == [[0, 1], [0, 0]]
    assert counts.chances.tolist() == [[0, 1], [1, 0]]  # in Spring none could; in Fall Burgundy and Munich


def test_an_alliance_is_less_hostility_than_among_the_others():
    attacks = np.array([[0, 1, 4], [1, 0, 4], [4, 4, 0]], dtype=float)
    counts = Hostility(attacks, np.full((3, 3), 8.0))
    assert alliance(counts, np.array([True, True, False])) == pytest.approx(1 - (1 / 8) / (4 / 8))
    assert alliance(counts, np.array([False, True, True])) == pytest.approx(1 - (4 / 8) / ((1 + 4) / 2 / 8))
    assert np.isnan(alliance(counts, np.array([True, False, False])))


def test_equals_are_as_peaceful_as_each_other():
    game = make_game("diplomacy(until=1902, judged=False)")
    match = Match(game, [make_player("random", game)] * 7)
    setups = (Setup(id=f"{n}", match=match, slots=tuple(range(7)), key=Key(n), group=f"{n}") for n in range(12))
    peace = METRICS["peace"].measure(sample(game, *play(setups)))
    assert abs(peace.mean) < 4 * peace.se


def placed(game, units, centers, phase="F1905M"):
    """A table in a position of our own."""
    state = game.start(Key(0))
    data = state.dump()
    position = json.loads(data["position"])
    position["name"] = phase
    for power in position["units"]:
        position["units"][power] = sorted(units.get(power, []))
        position["centers"][power] = sorted(centers.get(power, []))
    data["position"] = json.dumps(position, sort_keys=True, separators=(",", ":"))
    state.restore(data)
    return state


def test_a_support_that_gives_another_the_eighteenth_centre_makes_a_king():
    """France takes Munich with Italy's help only; Germany's fleet far away decides nothing."""
    game = make_game("diplomacy(only=[FRANCE, GERMANY, ITALY])")
    owned = ["BRE", "PAR", "MAR", "SPA", "POR", "BEL", "HOL", "LON", "EDI", "LVP", "NWY", "SWE", "DEN", "KIE", "BER"]
    owned += ["ROM", "NAP"]
    units = {"FRANCE": ["A BUR"], "ITALY": ["A TYR"], "GERMANY": ["A MUN", "F BOT"]}
    state = placed(game, units, {"FRANCE": owned, "ITALY": ["VEN"], "GERMANY": ["MUN"]})
    orders = {FRANCE: "A BUR - MUN", ITALY: "A TYR S A BUR - MUN", GERMANY: "F BOT H\nA MUN H"}
    assert len(owned) == 17
    assert decisive(state, [orders], FRANCE) == (ITALY,)


def test_who_drives_a_winner_into_its_last_centre_made_a_king_and_nobody_else():
    """France is driven out of Tyrolia by Germany and takes Venice in retreat; what Italy held far away is no matter."""
    game = make_game("diplomacy(only=[FRANCE, GERMANY, ITALY])")
    owned = ["BRE", "PAR", "MAR", "SPA", "POR", "BEL", "HOL", "LON", "EDI", "LVP", "NWY", "SWE", "DEN", "KIE", "BER"]
    owned += ["ROM", "NAP"]
    units = {"FRANCE": ["A TYR"], "GERMANY": ["A BOH", "A MUN"], "ITALY": ["A TUS"]}
    state = placed(game, units, {"FRANCE": owned, "ITALY": ["TUN"], "GERMANY": ["MUN"]}, phase="F1905M")
    orders = {FRANCE: "A TYR H", GERMANY: "A BOH - TYR\nA MUN S A BOH - TYR", ITALY: "A TUS H"}
    assert decisive(state, [orders, {FRANCE: "A TYR R VEN"}], FRANCE) == (GERMANY,)
    assert decisive(state, [orders], FRANCE) == (), "without the retreat nobody has won"


def test_who_helps_a_power_into_its_own_place_attacks_nobody():
    held = {"KIE": GERMANY, "MUN": GERMANY, "BUR": FRANCE}
    assert list(find_attacks(["A BUR S A MUN - KIE", "A BUR - MUN", "A BUR S A RUH - MUN"], held)) == [GERMANY, GERMANY]


def test_without_a_solo_nobody_made_a_king():
    _, episode = game_of(TWO, Reader(**SCRIPT), Reader())
    assert kingmakers(episode) == ()
