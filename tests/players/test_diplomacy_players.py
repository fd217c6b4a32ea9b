"""Commanders of Diplomacy: DumbBot's own numbers, moves worked out by hand, and sheets that are always whole."""

import numpy as np
import pytest

from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.games import Key, make_game
from stratagem.games.diplomacy.board import Board
from stratagem.games.diplomacy.engine import engine_at
from stratagem.games.diplomacy.graph import distances, graph_of
from stratagem.games.diplomacy.results import read_order
from stratagem.players.base import Ask
from stratagem.players.catalogue import make_player
from stratagem.players.diplomacy import COMMANDERS
from stratagem.players.diplomacy.appraisal import Appraisal, neighbours_of, size
from stratagem.players.diplomacy.base import Dice
from stratagem.players.diplomacy.dumbbot import DumbBot, pick_node
from stratagem.players.diplomacy.ported import PortedAppraisal, picked_at_once
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

GAME = make_game("diplomacy(until=1902, judged=False)")


class Fixed:
    """Dice that fall as they are told."""

    def __init__(self, *falls):
        self.falls = list(falls)

    def below(self, bound):
        return self.falls.pop(0)


def eyes(power):
    return Appraisal("standard", GAME.centers, Board(engine_at("standard")), power)


def test_powers_are_as_large_as_the_rules_say():
    assert (size(3), size(12)) == (37, 208)


def test_the_graph_knows_coasts():
    graph = graph_of("standard")
    assert {"A PAR", "F SPA/NC", "F SPA/SC", "F MAO"} <= set(graph.nodes)
    assert not {"F PAR", "F SPA", "A MAO", "A SPA/NC"} & set(graph.nodes)
    assert set(graph.next_to["F SPA/NC"]) == {"F GAS", "F MAO", "F POR"}
    assert set(graph.next_to["A PAR"]) == {"A BRE", "A BUR", "A GAS", "A PIC"}
    assert graph.reach["F MAO"] >= {"SPA", "POR", "ENG", "BRE"}


def test_neutral_centres_are_one_power_and_ones_own_are_guarded():
    mine = eyes("FRANCE")
    assert (mine.attack("BEL"), mine.attack("MUN"), mine.attack("BUR"), mine.attack("PAR")) == (208, 37, 0, 0)
    assert mine.defence("PAR") == 0
    assert eyes("ITALY").defence("VEN") == 37
    assert (mine.strength["BUR"], mine.competition["BUR"], mine.strength["PIC"]) == (2, 1, 2)


def test_proximity_by_hand():
    """One step out of a single centre: what stands there and the best of each province beside it, divided by five."""
    near = neighbours_of("standard")
    values = np.zeros(len(near.graph.nodes), dtype=np.int64)
    values[near.place["A BEL"]] = 1000
    spread = near.spread(values)
    assert spread[near.place["A BEL"]] == spread[near.place["A PIC"]] == spread[near.place["A BUR"]] == 200
    assert spread[near.place["A PAR"]] == 0
    coasts = np.zeros_like(values)
    coasts[[near.place["F SPA/NC"], near.place["F SPA/SC"]]] = (500, 300)
    assert near.spread(coasts)[near.place["F MAO"]] == 100


def test_the_pick_goes_on_as_the_dice_say():
    values = {"a": 100, "b": 90, "c": 10}
    order = ["a", "b", "c"]
    assert pick_node(order, values, Fixed(50)) == "a"
    assert pick_node(order, values, Fixed(0, 49)) == "a"  # 500 * 10 / 100 = 50
    assert pick_node(order, values, Fixed(49, 50, 60)) == "b"
    assert pick_node(order, values, Fixed(0, 99, 0, 99)) == "b"  # the gap to c is never bridged


def test_the_pick_is_as_likely_as_it_should_be():
    values = {"a": 100, "b": 90}
    shares = np.mean([pick_node(["a", "b"], values, Dice(Key(seed))) == "b" for seed in range(4000)])
    assert shares == pytest.approx(0.5 * (1 - 5 * 0.1), abs=0.025)


def worth_to_the_port(engine, power, weights, attack, defence):
    """Return the value of a node to DipNet's DumbBot, place by place from the engine's own map, without any array."""
    chart, sizes = engine.map, {name: size(len(seat.centers)) for name, seat in engine.powers.items()}
    units = [(name, unit) for name, seat in engine.powers.items() for unit in seat.units]
    goes = lambda unit, place: unit[2:5] != place[:3] and chart.abuts(unit[0], unit[2:], "-", place)  # noqa: E731
    able = lambda name, place: sum(  # noqa: E731
        any(goes(unit, coast) for coast in chart.find_coasts(place)) for other, unit in units if other == name
    )
    level = {}
    for node in graph_of("standard").nodes:
        owner = next((name for name, seat in engine.powers.items() if node[2:5] in seat.centers), None)
        threats = [sizes[name] for name in engine.powers if name != power and able(name, node[2:5])]
        level[node] = defence * max(threats, default=0) if owner == power else attack * sizes.get(owner, 0)
    worth = dict.fromkeys(level, 0.0)
    for weight in weights:
        worth = {node: worth[node] + weight * level[node] for node in level}
        level = {
            node: (
                max(level[other] for other in level if other[2:5] == node[2:5])
                + sum(level[other] for other in level if goes(other, node[2:]) or goes(other, node[2:5]))
            )
            / 5
            for node in level
        }
    rivals = {n: max(able(name, n[2:5]) for name in engine.powers if name != power) for n in level}
    return {node: worth[node] + 1000 * (able(power, node[2:5]) - rivals[node]) for node in level}


def test_the_port_values_places_as_its_rules_say():
    engine = engine_at("standard")
    eyes = PortedAppraisal("standard", GAME.centers, Board(engine), "ITALY")
    expected = worth_to_the_port(engine, "ITALY", (100, 1000, 30, 10, 6, 5, 4, 3, 2, 1), 700, 300)
    assert eyes.values() == pytest.approx(expected)
    assert (eyes.attack("TUN"), eyes.attack("TRI"), eyes.strength["ROM"]) == (0, 37, 2)  # from Venice and Naples


def test_the_port_picks_by_one_draw():
    values = {"a": 100.0, "b": 95.0, "c": -10.0}
    shares = [picked_at_once(["a", "b"], values, Dice(Key(seed))) == "b" for seed in range(4000)]
    assert np.mean(shares) == pytest.approx(0.5 - 5 * 0.05, abs=0.025)
    assert picked_at_once(["b", "c"], values, Fixed(499_999)) == "b"


def test_the_port_walks_past_free_centres():
    """Centres owned after a year of seven of a kind: DumbBot has taken what is free, the port has not."""
    held = {}
    for name in ("dumbbot", "dumbbot-ported-dipnet"):
        match = Match(make_game("diplomacy(until=1901, judged=False)"), [make_player(name, GAME)] * 7)
        episodes = list(play(rotate_seats(match, 1, Key(2), name="x")))
        held[name] = 34 * sum(episodes[0].signals["centers"][-1])
    assert held["dumbbot"] > 28 > held["dumbbot-ported-dipnet"]


def test_distances_are_counted_in_moves():
    far = distances(graph_of("standard"), {"BEL"})
    assert (far["A BEL"], far["A PIC"], far["A PAR"], far["A MAR"]) == (0, 1, 2, 2)
    assert far["F ENG"] == 1


@pytest.mark.parametrize("name", COMMANDERS)
def test_sheets_are_always_whole_and_made_again_by_the_same_dice(name):
    player = make_player(name, GAME)
    first, again = (list(play(rotate_seats(Match(GAME, [player] * 7), 1, Key(3), name="x"))) for _ in range(2))
    for episode in first:
        assert sum(episode.num_illegal) == 0
        assert {row.how for row in episode.decisions} == {"scripted"}
        if name in ("dumbbot", "territorial", "coordinated"):
            assert not [row.action for row in episode.decisions if moves_two_units_to_one_place(row.action)]
    assert [[row.action for row in e.decisions] for e in first] == [[row.action for row in e.decisions] for e in again]
    with pytest.raises(CannotCompute, match="cannot be listed"):
        player.policy(GAME.start(Key(0)).view(0))
    with pytest.raises(BadParameter, match="plays diplomacy, not"):
        make_player(f"diplomacy/{name}", make_game("kuhn"))


def moves_two_units_to_one_place(sheet):
    moves = [line.split()[3][:3] for line in sheet.split("\n") if " - " in line and " S " not in line]
    return len(moves) > len(set(moves))


def test_two_units_to_one_place_are_noticed():
    assert moves_two_units_to_one_place("A PAR - BUR\nA MAR - BUR")
    assert not moves_two_units_to_one_place("A PAR - BUR\nA MAR S A PAR - BUR")


def test_what_it_supports_is_ordered():
    """DumbBot decides on the move first; the engine voids such a support only where one's own unit stays in the way."""
    game = make_game("diplomacy(until=1903)")
    player = make_player("dumbbot", game)
    supports = 0
    state, turn = game.start(Key(8)), 0
    while not state.over:
        board = state.board
        moves = {s: player.turn(Ask(state.view(s), Key(8), s, turn, 0, None)).action for s in state.to_act}
        result = state.play(moves)
        for seat, parts in result.parts.items():
            own = [part for part in parts if part.slot]
            for line, part in zip(moves[seat].split("\n") if own else (), own, strict=True):
                order = read_order(line)
                supports += order.verb == "S"
                if part.kind == "void support":
                    assert order.target in {unit[2:5] for unit in board.units(game.powers[seat])}
        turn += 1
    assert supports > 10


def test_dumbbot_beats_random_play_out_of_sight():
    game = make_game("diplomacy(until=1905, judged=False)")
    match = Match(game, [DumbBot(), *[make_player("random", game)] * 6])
    shares = [episode.payoffs[episode.seat_of(0)] for episode in play(rotate_seats(match, 7, Key(0), name="x"))]
    assert min(shares) > 1 / 7
    assert np.mean(shares) > 0.4


def test_a_model_does_not_list_what_is_too_much_to_be_listed():
    """France has 990 sheets in the first Spring: their odds would be asked for one by one, for minutes."""
    game = make_game("diplomacy(only=[FRANCE, GERMANY])")
    model = make_player("tiny", game)
    with pytest.raises(CannotCompute, match="too many for each to be given its probability"):
        model.policy(game.start(Key(0)).view(0))
