"""Diplomacy on its engine: what is offered is what is taken, orders are judged as they came out, forks are equal."""

import gc
import json
import os
import subprocess
import sys
import time
from collections import Counter

import pytest

from stratagem.base.errors import IllegalAction
from stratagem.games import Key, make_game
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.diplomacy.engine import engine_at, position_of, possible_orders, process, replay_phase
from stratagem.games.diplomacy.results import WORTH, read_order
from stratagem.games.diplomacy.state import outcome, share_bonus, sum_of_squares

GAME = Diplomacy(until=1907)
SEAT = {power: seat for seat, power in enumerate(GAME.powers)}


def at(units, *, phase="S1901M", centers=None, game=GAME):
    """A state with these units by power, and the usual centres but for those that are given."""
    position = json.loads(position_of(engine_at("standard")))
    position["name"] = phase
    position["units"] = {power: list(units.get(power, ())) for power in position["units"]}
    taken = {place for places in (centers or {}).values() for place in places}
    position["centers"] = {
        power: [*(place for place in places if place not in taken), *(centers or {}).get(power, ())]
        for power, places in position["centers"].items()
    }
    engine = engine_at("standard", json.dumps(position))
    start = game.start(Key(0)).dump()
    to_act = [seat for power, seat in SEAT.items() if engine.get_orderable_locations(power)]
    return game.load({**start, "position": position_of(engine), "to_act": to_act}, Key(0))


def kinds(units, orders, **options):
    """Each order's kind, by its unit, when the others hold."""
    state = at(units, **options)
    said = {}
    for seat in state.to_act:
        sheet = state.view(seat).choices
        mine = {line for line in orders if any(line in slot.options for slot in sheet.slots)}
        lines = [next((o for o in slot.options if o in mine), f"{slot.options[0][:2]}") for slot in sheet.slots]
        hold = GAME.default_action(state.view(seat).facts).split("\n")
        said[seat] = sheet.canonical(o if o in mine else h for o, h in zip(lines, hold, strict=True))
    result = state.play(said)
    return {part.slot: (part.kind, part.reward) for own in result.parts.values() for part in own}


def random_game(game, key, check=lambda state: None):
    state, turn = game.start(key), 0
    while not state.over:
        check(state)
        result = state.play({seat: state.view(seat).choices.sample(key.at(turn, seat)) for seat in state.to_act})
        turn += 1
    return state, result


def test_the_opening_is_as_the_engine_lists_it():
    orders = possible_orders(engine_at("standard"))
    assert (sum(map(len, orders.values())), len(engine_at("standard").get_all_possible_orders())) == (244, 82)
    sheet = GAME.start(Key(0)).view(SEAT["RUSSIA"]).choices
    assert [slot.name for slot in sheet.slots] == ["MOS", "SEV", "STP", "WAR"]
    assert "F STP/SC - BOT" in sheet.slots[2].options


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(n, marks=pytest.mark.long) for n in range(30, 500))])
def test_what_is_offered_is_taken_and_nothing_else(seed):
    """Every phase's sheets are the engine's own lists for that position.

    The engine keeps a list of its complaints, which `process` turns into an error; here it never comes to that.
    """

    def offered(state):
        engine = engine_at("standard", state.position)
        listed = engine.get_all_possible_orders()
        for power in GAME.powers:
            sheet, places = state.board.sheet(power), engine.get_orderable_locations(power)
            told = {slot.name: {*slot.options} for slot in sheet.slots} if sheet else {}
            assert told == {place: {*listed[place]} for place in places if listed[place]}
        for seat in state.to_act:
            sheet = state.view(seat).choices
            others = [other for other in state.to_act if other != seat]
            wrong = f"{sheet.slots[0].options[0][:5]} - ZZZ"
            assert wrong not in sheet
            with pytest.raises(IllegalAction):
                state.fork().play({seat: wrong, **{other: state.view(other).choices.first for other in others}})
            break

    state, result = random_game(Diplomacy(until=1903, judged=False), Key(seed), offered)
    assert sum(result.payoffs) == pytest.approx(1.0)
    assert state.board.kind == "A" or state.board.year > 1903


def test_every_phase_is_met_and_sheets_have_as_many_lines_as_are_due():
    seen = Counter()

    def counted(state):
        board = state.board
        seen[board.kind] += 1
        for seat in state.to_act:
            sheet, power = state.view(seat).choices, GAME.powers[seat]
            if board.kind == "M":
                assert sheet.fill == len(board.units(power)) == len(sheet.slots)
            elif board.kind == "R":
                assert sheet.fill == len(board.units_to_retreat(power))
            else:
                assert sheet.fill == min(abs(board.due(power)), len(sheet.slots)) > 0
                seen["builds" if board.due(power) > 0 else "removals"] += 1

    for seed in range(4):
        random_game(Diplomacy(until=1905, judged=False), Key(seed), counted)
    assert min(seen[kind] for kind in ("M", "R", "A", "builds", "removals")) > 0


def test_the_clock_is_the_calendars_whatever_phases_fall_out():
    names, fallen = {0: "SM", 1: "SR", 2: "FM", 3: "FR", 4: "WA"}, 0
    for seed in range(3):
        seen = []
        random_game(
            Diplomacy(until=1904, judged=False),
            Key(seed),
            lambda state, seen=seen: seen.append((state.clock(len(seen)), state.board.phase)),
        )
        assert [clock for clock, _ in seen] == sorted({clock for clock, _ in seen})
        for clock, phase in seen:
            year, place = divmod(clock, 5)
            assert phase == f"{names[place][0]}{year}{names[place][1]}"
        fallen += seen[-1][0] - seen[0][0] + 1 - len(seen)
    assert fallen > 0


def test_one_build_may_go_to_any_of_three_homes_or_be_waived():
    state = at({"FRANCE": ["A SPA"]}, phase="W1901A", centers={"FRANCE": ["SPA"]})
    sheet = state.view(SEAT["FRANCE"]).choices
    assert (sheet.fill, [slot.name for slot in sheet.slots]) == (3, ["BRE", "MAR", "PAR"])
    assert {"A BRE B", "F BRE B", "WAIVE"} == set(sheet.slots[0].options)
    few = at({"FRANCE": ["A SPA", "A POR", "F MAO"]}, phase="W1901A", centers={"FRANCE": ["SPA"]})
    assert few.view(SEAT["FRANCE"]).choices.fill == 1


def test_a_support_is_critical_where_the_attack_fails_without_it():
    units = {"FRANCE": ["A PAR", "A MAR"], "GERMANY": ["A BUR", "A MUN"]}
    found = kinds(units, ["A PAR - BUR", "A MAR S A PAR - BUR"])
    assert found["A MAR"] == ("critical support", 1.5)
    assert found["A PAR"] == ("supported move", 0.8)
    alone = kinds({"FRANCE": ["A PAR", "A MAR"]}, ["A PAR - BUR", "A MAR S A PAR - BUR"])
    assert alone["A MAR"] == ("support", 0.0)


def test_supports_that_are_void_or_cut():
    units = {"FRANCE": ["A PAR", "A MAR", "A GAS"], "GERMANY": ["A BUR"], "ITALY": ["A PIE"]}
    orders = ["A PAR - BUR", "A MAR S A PAR - BUR", "A GAS S A PAR - BRE", "A PIE - MAR"]
    found = kinds(units, orders)
    assert found["A GAS"] == ("void support", -1.5)
    assert found["A MAR"] == ("cut support", 0.0)
    assert found["A PAR"] == ("bounce", -0.3)
    assert found["A PIE"] == ("bounce", -0.3)
    assert found["A BUR"] == ("hold", 0.1)


def test_captures_moves_and_homecomings():
    found = kinds({"FRANCE": ["A GAS", "A PIC", "A RUH"]}, ["A GAS - SPA", "A PIC - PAR", "A RUH - BUR"])
    assert found == {"A GAS": ("capture", 2.0), "A PIC": ("move home", 0.0), "A RUH": ("move", 0.3)}


def test_convoys():
    units = {"ENGLAND": ["A LON", "F NTH", "F ENG"]}
    found = kinds(units, ["A LON - BEL VIA", "F NTH C A LON - BEL", "F ENG C A LON - BRE"])
    assert found == {"A LON": ("capture", 2.0), "F NTH": ("convoy", 0.5), "F ENG": ("void convoy", -1.5)}
    assert kinds({"ENGLAND": ["A LON", "F NTH"]}, ["A LON - BEL VIA"])["A LON"] == ("no convoy", -0.3)


def test_two_of_ones_own_may_bounce():
    found = kinds({"FRANCE": ["A PAR", "A MAR"]}, ["A PAR - BUR", "A MAR - BUR"])
    assert {kind for kind, _ in found.values()} == {"bounce"}


def test_every_kind_has_its_worth():
    seen = set()
    for seed in range(6):
        state = Diplomacy(until=1904).start(Key(seed))
        turn = 0
        while not state.over:
            actions = {seat: state.view(seat).choices.sample(Key(seed).at(turn, seat)) for seat in state.to_act}
            result = state.play(actions)
            for seat, parts in result.parts.items():
                own = [part for part in parts if part.slot]
                assert len(own) == (len(actions[seat].split("\n")) if seat in actions else 0)
                seen |= {part.kind.removeprefix("supported ") for part in own}
            turn += 1
        ends = [parts[-1] for _, parts in sorted(result.parts.items())]
        assert [(part.slot, part.kind, part.reward) for part in ends] == [
            ("", "outcome", reward) for reward in state.outcome()
        ]
    assert seen <= set(WORTH)
    assert seen >= set(WORTH) - {"convoy", "idle convoy", "no convoy", "remove", "waive", "disband"}


def test_the_sum_of_squares_and_the_outcome():
    assert sum_of_squares([17, 17, 0, 0, 0, 0, 0]) == (0.5, 0.5, 0, 0, 0, 0, 0)
    assert sum_of_squares([18, 16, 0], winner=0) == (1.0, 0.0, 0.0)
    assert sum_of_squares([0, 0]) == (0.5, 0.5)
    assert share_bonus([10, 5, 5, 1, 0, 0, 0]) == (50.0, 20.0, 20.0, 10.0, 7 / 3, 7 / 3, 7 / 3)
    assert outcome([10, 0], [9, 0]) == pytest.approx((20 + 1.8 + 0.5 + 50, 25.0))
    assert outcome([9, 7, 5], [9, 6, 5])[1] == pytest.approx(40.7)  # the source's worked example


def test_a_position_is_worth_what_it_would_be_if_it_were_counted_now():
    for seed in range(3):
        state, result = random_game(Diplomacy(until=1902, judged=False), Key(seed))
        assert state.standing() == result.payoffs
    fresh = at({"FRANCE": ["A BEL"], "GERMANY": ["F SPA/SC"], "ITALY": ["A MOS"]})
    assert fresh.centers() == (3, 3, 3, 3, 3, 4, 3)
    assert fresh.standing() == sum_of_squares([3, 3, 4, 4, 4, 3, 3])
    owned = ["BEL", "HOL", "DEN", "SWE", "NWY", "EDI", "LON", "LVP", "KIE", "BER", "MUN", "SPA", "POR", "TUN"]
    seventeen = at({"FRANCE": ["A BOH"]}, phase="F1901M", centers={"FRANCE": owned})
    won = at({"FRANCE": ["A VIE"]}, phase="F1901M", centers={"FRANCE": owned})
    assert max(seventeen.standing()) < 1.0
    assert won.standing() == tuple(float(power == "FRANCE") for power in GAME.powers)
    assert won.play({seat: GAME.default_action(won.view(seat).facts) for seat in won.to_act}).payoffs == won.standing()


def test_a_solo_takes_all():
    centers = {"FRANCE": ["BEL", "HOL", "DEN", "SWE", "NWY", "EDI", "LON", "LVP", "KIE", "BER", "MUN", "SPA", "POR",
                          "TUN"]}  # fmt: skip
    units = {"FRANCE": ["A BOH", "F TYS", "A PIC"], "AUSTRIA": ["A BUD"], "ITALY": ["A VEN"]}
    state = at(units, phase="F1901M", centers=centers)
    assert len(state.board.centers("FRANCE")) == 17
    france = "\n".join(["A BOH - VIE", "A PIC H", "F TYS H"])
    said = {seat: GAME.default_action(state.view(seat).facts) for seat in state.to_act}
    result = state.play({**said, SEAT["FRANCE"]: state.view(SEAT["FRANCE"]).choices.canonical(france.split("\n"))})
    assert state.over
    assert state.winner() == SEAT["FRANCE"]
    assert result.payoffs == tuple(float(power == "FRANCE") for power in GAME.powers)


def test_the_last_year_that_there_can_be_is_no_draw_of_the_engine():
    """In the hundredth year the engine ends the game and loses the results of its last orders."""
    state = at({"FRANCE": ["A PAR"], "GERMANY": ["A MUN"]}, phase="F1999M", game=Diplomacy(until=1999))
    result = state.play({SEAT["FRANCE"]: "A PAR - BUR", SEAT["GERMANY"]: "A MUN - BUR"})
    assert state.over
    assert result.parts[SEAT["FRANCE"]][0].kind == "bounce"
    assert result.payoffs == sum_of_squares([3, 3, 3, 3, 3, 4, 3])


def test_powers_without_a_seat_hold():
    game = make_game("diplomacy(until=1902, only=[FRANCE, ITALY])")
    assert game.spec.seats == 2
    state, result = random_game(game, Key(3))
    assert {power for _, lines in state.log for power, _, _ in lines} == {"FRANCE", "ITALY"}
    assert set(state.board.units("RUSSIA")) <= {"A MOS", "A WAR", "F SEV", "F STP/SC"}
    assert sum(result.payoffs) == pytest.approx(1.0)


def test_forks_are_cheap_and_go_their_own_ways():
    state = random_opening(4)
    start = time.process_time()
    copies = [state.fork(Key(9)) for _ in range(200)]
    assert (time.process_time() - start) / 200 < 1e-3
    actions = {seat: state.view(seat).choices.sample(Key(5).at(seat)) for seat in state.to_act}
    first, second = copies[0].play(actions), copies[1].play(actions)
    assert first == second == state.play(actions)
    assert copies[0].dump() == state.dump()
    assert copies[2].position != state.position


def test_a_state_that_is_dropped_frees_its_engine_at_once():
    import diplomacy

    def alive():
        return sum(isinstance(thing, diplomacy.Game) for thing in gc.get_objects())

    gc.collect()
    before = alive()
    gc.disable()
    try:
        state, _ = random_game(Diplomacy(until=1901), Key(0))
        copy = random_opening(1).fork()
        copy.play(dict.fromkeys(copy.to_act))
        assert alive() == before + 2
        del state, copy
        assert alive() == before
    finally:
        gc.enable()


def random_opening(turns):
    state = GAME.start(Key(1))
    for turn in range(turns):
        state.play({seat: state.view(seat).choices.sample(Key(1).at(turn, seat)) for seat in state.to_act})
    return state


def test_it_plays_alike_whatever_the_hashes_of_the_process_are(capsys):
    """Here they are drawn at the start of the process, in the other one by a number that this one does not have."""
    source = (
        "from stratagem.games import Key, make_game\n"
        "state, turn = make_game('diplomacy(until=1901)').start(Key(2)), 0\n"
        "while not state.over:\n"
        "    state.play({s: state.view(s).choices.sample(Key(2).at(turn, s)) for s in state.to_act})\n"
        "    turn += 1\n"
        "print(state.dump())"
    )
    exec(source, {})
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other}
    command = [sys.executable, "-c", source]
    run = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
    assert run.stdout == capsys.readouterr().out


def test_orders_are_taken_apart():
    assert read_order("F NTH C A LON - BEL").target == "BEL"
    assert read_order("A PAR S A MAR").target == "MAR"
    assert read_order("A LON - BEL VIA").target == "BEL"
    assert read_order("F SPA/SC S A MAR - GAS").helped == "MAR"
    assert read_order("WAIVE").verb == ""


def test_a_game_is_told_in_the_engines_own_files():
    state, _ = random_game(Diplomacy(until=1902), Key(6))
    files = dict(state.files())
    assert dict(state.fork().files()) == files
    *pictures, saved = files
    assert [name.partition("-")[2] for name in pictures[:-1]] == [f"{phase}.svg" for phase, _ in state.log]
    assert all("<svg" in files[name] for name in pictures)
    told = json.loads(files[saved])
    assert "timestamp" not in files[saved]
    assert [phase["name"] for phase in told["phases"]][: len(state.log)] == [phase for phase, _ in state.log]
    ordered = {line for phase in told["phases"] for own in (phase["orders"] or {}).values() for line in own or ()}
    assert {line for _, lines in state.log for _, line, _ in lines} <= ordered | {"WAIVE"}


def test_an_engine_that_is_used_again_judges_as_a_fresh_one():
    def alike(state):
        said = {GAME.powers[s]: state.view(s).choices.sample(Key(4).at(s)).split("\n") for s in state.to_act}
        again = replay_phase("standard", state.position, said)
        assert again == process(engine_at("standard", state.position), said)

    for seed in range(3):
        random_game(Diplomacy(until=1903, judged=False), Key(seed), alike)


@pytest.mark.parametrize(
    ("text", "win"), [("diplomacy(map=modern, until=1994)", 33), ("diplomacy(map=ancmed, until=1)", 18)]
)
def test_another_map_is_played_in_its_own_years_and_says_its_own_rules(text, win):
    game = make_game(text)
    state, turn = game.start(Key(0)), 0
    assert f"{win} centres win alone." in state.view(0).rules
    while not state.over:
        views = {seat: state.view(seat) for seat in state.to_act}
        state.play({seat: view.choices.sample(Key(turn).at(seat)) for seat, view in views.items()})
        turn += 1
    assert state.board.year == game.until
