"""Supports that name another coast than the move: case 6.B.9 of the adjudicator test cases, and the package's rule.

The Diplomacy Adjudicator Test Cases (Kruijswijk 2009) are in the package's own tests, whose reader of orders drops the
coast. `as_usual` gives it the orders as its users do.
"""

import json
import random

import diplomacy
import pytest
from diplomacy.utils.export import is_valid_saved_game

from fast_boards import placed, switched
from stratagem.base.errors import BadParameter
from stratagem.games import Key, make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.coasts import orders_as_read
from stratagem.games.diplomacy.engine import engine_at, position_of, possible_orders, process
from stratagem.games.diplomacy.fast.array_board import ArrayBoard

RULES = ("named", "package")
FRANCE, ITALY = (Diplomacy().powers.index(power) for power in ("FRANCE", "ITALY"))
FLEETS = {"FRANCE": ["F MAO", "F POR"], "ITALY": ["F LYO", "F WES"]}
WESTERN = "F LYO S F WES - SPA/SC\nF WES - SPA/SC"
"""Italy's orders in the case, by which it takes Spain unless France's fleet is supported too."""


def played(game, units, french, italian=WESTERN):
    """Return the state after France and Italy gave these orders, and what the order of France's supporter is."""
    position = placed(units)
    state = game.load({**game.start(Key(0)).dump(), "position": position, "to_act": [FRANCE, ITALY]}, Key(0))
    result = state.play({FRANCE: french, ITALY: italian})
    return state, {part.slot: part.kind for part in result.parts[FRANCE]}, position


def results_of(state):
    """Return the results of the last phase by unit."""
    return {" ".join(line.split()[:2]): codes for _, line, codes in state.log[-1][1]}


def as_usual(position, orders):
    """Play a phase in the package as it reads orders by default; return its results and the next position."""
    engine = engine_at("standard", position)
    for power, lines in orders.items():
        engine.set_orders(power, list(lines))
    assert not engine.error
    engine.process()
    codes = engine.result_history.last_value()
    return {unit: tuple(sorted({str(code) for code in own} - {""})) for unit, own in codes.items()}, position_of(engine)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("supported", "goes"), [("NC", "SC"), ("SC", "NC")])
def test_support_of_another_coast_is_void_or_counts_by_the_rule_of_coasts(monkeypatch, supported, goes, fast):
    """DATC 6.B.9: "I prefer that the support fails and that the Italian fleet moves successfully"."""
    switched(monkeypatch, fast)
    french = f"F MAO - SPA/{goes}\nF POR S F MAO - SPA/{supported}"
    found = {}
    for coasts in RULES:
        game = Diplomacy(until=1905, coasts=coasts)
        assert game.is_fast is fast
        state, kinds, position = played(game, FLEETS, french)
        found[coasts] = results_of(state), state.position
        assert kinds["F POR"] == ("void support" if coasts == "named" else "support")
    named, package = found["named"][0], found["package"][0]
    assert (named["F POR"], named["F WES"]) == (("void",), ())
    assert (package["F POR"], package["F WES"]) == ((), ("bounce",))
    assert found["package"] == as_usual(position, {"FRANCE": french.split("\n"), "ITALY": WESTERN.split("\n")})
    assert '"ITALY":["F LYO","F SPA/SC"]' in found["named"][1]


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("coasts", RULES)
def test_support_of_the_same_coast_or_of_none_counts_under_both_rules(monkeypatch, coasts, fast):
    switched(monkeypatch, fast)
    for named in ("SPA", "SPA/NC"):
        game = Diplomacy(until=1905, coasts=coasts)
        state, _, _ = played(game, FLEETS, f"F MAO - SPA/NC\nF POR S F MAO - {named}")
        assert (results_of(state)["F POR"], results_of(state)["F WES"]) == ((), ("bounce",))


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize("coasts", RULES)
def test_support_of_another_coast_by_an_army_is_void_under_both_rules(monkeypatch, coasts, fast):
    """The package drops the coast from the orders of fleets only."""
    switched(monkeypatch, fast)
    units = {"FRANCE": ["A POR", "F MAO"], "ITALY": FLEETS["ITALY"]}
    french = "F MAO - SPA/SC\nA POR S F MAO - SPA/NC"
    state, _, position = played(Diplomacy(until=1905, coasts=coasts), units, french)
    assert results_of(state)["A POR"] == ("void",)
    orders = {"FRANCE": french.split("\n"), "ITALY": WESTERN.split("\n")}
    assert (results_of(state), state.position) == as_usual(position, orders)


NODES = (
    "F MAO",
    "F POR",
    "A POR",
    "F GAS",
    "A GAS",
    "F WES",
    "F LYO",
    "F MAR",
    "F CON",
    "F BLA",
    "F AEG",
    "F RUM",
    "A GRE",
)
"""Units about Spain and Bulgaria; those in the Mid-Atlantic, in Portugal and in Constantinople reach two coasts."""


def crowded(seed):
    """Return units of three powers there, and orders in which many go to a coast and others support them."""
    dice, units, taken = random.Random(seed), {"FRANCE": [], "ITALY": [], "TURKEY": []}, set()
    for node in dice.sample(NODES, 11):
        if node[2:5] not in taken:
            taken.add(node[2:5])
            units[dice.choice([*units])].append(node)
    engine = engine_at("standard", placed(units))
    possible, places = possible_orders(engine), engine.get_orderable_locations()
    moves = {place: [o for o in own if " S " not in o and "- " in o and "/" in o] for place, own in possible.items()}
    supports = {place: [o for o in own if " S " in o and "- " in o and "/" in o] for place, own in possible.items()}
    chosen = {
        place: dice.choice(dice.choice([moves[place], supports[place], own]) or own)
        for place, own in possible.items() if own
    }  # fmt: skip
    return engine, {power: [chosen[place] for place in own if place in chosen] for power, own in places.items()}


def test_rule_of_the_package_is_how_it_reads_orders_in_dense_positions():
    """All results and the next position are equal, also on the fast board; the rules differ in some positions."""
    other = 0
    for seed in range(40):
        engine, orders = crowded(seed)
        position = position_of(engine)
        usual, read = as_usual(position, orders), orders_as_read(orders, "package")
        named = process(engine_at("standard", position), orders_as_read(orders, "named"))
        assert (process(engine, read), position_of(engine)) == usual, seed
        after, results = ArrayBoard.at(position).play_orders(read)
        assert ({unit: results[unit] for unit in usual[0]}, after.position) == usual, seed
        other += named != usual[0]
    assert other > 2


@pytest.mark.parametrize("fast", [False, True])
def test_support_of_another_coast_is_critical_where_the_attack_fails_without_it(monkeypatch, fast):
    """One support is enough against one unit, so none of two is critical; the phase is replayed by the same rule."""
    switched(monkeypatch, fast)
    units = {"FRANCE": ["F GAS", "F MAO", "F POR"], "ITALY": ["A SPA"]}
    both = "F GAS S F MAO - SPA/NC\nF MAO - SPA/SC\nF POR S F MAO - SPA/NC"
    for french, kind in ((both, "support"), (both.replace("F GAS S F MAO - SPA/NC", "F GAS H"), "critical support")):
        _, kinds, _ = played(Diplomacy(until=1905, coasts="package"), units, french, "A SPA H")
        assert kinds["F POR"] == kind


def saved(coasts, last):
    """Play the script to its last phase, in which France gives these orders; return the saved game."""
    game = Diplomacy(until=1902, judged=False, coasts=coasts)
    state = game.start(Key(0))
    while not state.over:
        script = SCRIPT | {"F1902M": SCRIPT["F1902M"] | {FRANCE: last}}
        told = script.get(state.board.phase, {})
        lines = {seat: told[seat].split("\n") for seat in state.to_act if seat in told}
        state.play({s: state.view(s).choices.canonical(lines[s]) if s in lines else None for s in state.to_act})
    return json.loads(dict(state.files())["game.json"])


@pytest.mark.parametrize(
    ("coasts", "move", "order"),
    [
        ("named", "F MAO - SPA/NC", "F LYO H"),  # void for its coast
        ("package", "F MAO - SPA/NC", "F LYO S F MAO - SPA"),
        ("package", "F MAO H", "F LYO S F MAO - SPA"),  # void in the package too
    ],
)
def test_saved_game_of_either_rule_is_replayed_by_the_package_as_it_was_played(coasts, move, order):
    """The package reads the file's orders by its own rule, so a support that was void for its coast is a hold there."""
    game = saved(coasts, f"{move}\nF LYO S F MAO - SPA/SC\nA POR H\nA PAR H")
    assert is_valid_saved_game(game)
    *phases, last = game["phases"]
    (fall,) = (phase for phase in phases if phase["name"] == "F1902M")
    assert order in fall["orders"]["FRANCE"]
    assert ("F SPA/NC" in last["state"]["units"]["FRANCE"]) == (coasts == "package" and move != "F MAO H")
    engine = diplomacy.Game()
    for phase in phases:
        for power, orders in phase["orders"].items():
            engine.set_orders(power, orders or [])
        engine.process()
    assert engine.get_state()["units"] == last["state"]["units"]


SCRIPT = {
    "S1901M": {FRANCE: "F BRE - MAO\nA MAR - SPA\nA PAR H", ITALY: "F NAP - TYS\nA ROM H\nA VEN H"},
    "F1901M": {FRANCE: "F MAO H\nA SPA - POR\nA PAR H", ITALY: "F TYS - WES\nA ROM H\nA VEN H"},
    "W1901A": {FRANCE: "F MAR B"},
    "S1902M": {FRANCE: "F MAR - LYO\nF MAO H\nA POR H\nA PAR H"},
    "F1902M": {
        FRANCE: "F MAO - SPA/NC\nF LYO S F MAO - SPA/SC\nA POR H\nA PAR H",
        ITALY: "F WES - SPA/SC\nA ROM H\nA VEN H",
    },
}
"""A game in which France takes Spain in 1902 if the support of the other coast counts."""


@pytest.mark.parametrize("wrong", ["either", "True", "[named]"])
def test_wrong_rule_of_coasts_is_refused_in_a_sentence(wrong):
    with pytest.raises(BadParameter, match=r"^Diplomacy needs `coasts` as named or package, not .*\.$"):
        make_game(f"diplomacy(coasts={wrong})")


def test_texts_for_models_are_the_same_under_either_rule():
    named, package = (make_game(f"diplomacy(coasts={coasts})") for coasts in RULES)
    assert named.rules(0) == package.rules(0) == make_game("diplomacy").rules(0)
    assert "coast" not in named.rules(0).lower()
