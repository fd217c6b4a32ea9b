"""Positions and orders for the fast board, and the comparison of a phase with the engine."""

import json
import random

import numpy as np

from stratagem.games.diplomacy import table
from stratagem.games.diplomacy.engine import engine_at, position_of, possible_orders, process
from stratagem.games.diplomacy.fast.array_board import ArrayBoard
from stratagem.games.diplomacy.fast.chart import chart, names


def switched(monkeypatch, fast):
    """Play new games on the fast board, by kernels in plain Python where numba is missing, or on the engine."""
    monkeypatch.setattr(table, "is_compiled", lambda: fast)
    np.seterr(over="ignore")


def placed(units, phase="S1902M"):
    """Return the position in which these units stand and no others."""
    state = json.loads(position_of(engine_at("standard")))
    state |= {"name": phase, "units": {power: units.get(power, []) for power in state["units"]}}
    return position_of(engine_at("standard", json.dumps(state)))


def scattered(seed):
    """An engine with up to forty units anywhere, more of them at sea than in play."""
    dice = random.Random(seed)
    state = json.loads(position_of(engine_at("standard")))
    nodes, taken = [*names().nodes], set()
    dice.shuffle(nodes)
    powers = list(state["units"])[: dice.choice([7, 7, 3, 2])]
    state["units"] = {power: [] for power in state["units"]}
    count = dice.randint(10, 40)
    for node in nodes:
        at_sea = chart().bit[names().place[node[2:5]]] > 0
        if len(taken) < count and node[2:5] not in taken and (at_sea or dice.random() < 0.6):
            taken.add(node[2:5])
            state["units"][dice.choice(powers)].append(node)
    state["units"] = {power: sorted(units) for power, units in state["units"].items()}
    return engine_at("standard", json.dumps({**state, "name": dice.choice(["S1903M", "F1903M"])}))


def ordered(engine, dice):
    """Orders of all powers: convoys that belong together, supports of what is ordered, and attacks on convoys."""
    possible, places = possible_orders(engine), engine.get_orderable_locations()
    if engine.phase_type == "A":
        return {power: _adjusted(engine, power, possible, own, dice) for power, own in places.items()}
    everywhere = [place for own in places.values() for place in own if possible.get(place)]
    chosen = {place: dice.choice(possible[place]) for place in everywhere}
    if engine.phase_type == "M":
        _coordinate(chosen, possible, dice)
    return {power: [chosen[place] for place in own if place in chosen] for power, own in places.items()}


def _adjusted(engine, power, possible, own, dice):
    places = [place for place in own if possible.get(place)]
    due = abs(len(engine.powers[power].centers) - len(engine.powers[power].units))
    return [dice.choice(possible[place]) for place in dice.sample(places, min(due, len(places)))]


def _coordinate(chosen, possible, dice):
    for place, orders in possible.items():
        if place in chosen and (by_sea := [order for order in orders if order.endswith("VIA")]) and dice.random() < 0.5:
            chosen[place] = dice.choice(by_sea)
            if dice.random() < 0.2 and (by_land := chosen[place][:-4]) in orders:
                chosen[place] = by_land
    _join(chosen, possible, dice, " C ", 0.7, _moves(chosen))
    convoying = {order[2:5] for order in chosen.values() if " C " in order}
    for place in chosen:
        attacks = [
            o for o in possible[place] if " S " not in o and " C " not in o and "- " in o and o[-3:] in convoying
        ]
        if attacks and " C " not in chosen[place] and "VIA" not in chosen[place] and dice.random() < 0.3:
            chosen[place] = dice.choice(attacks)
    _join(chosen, possible, dice, " S ", 0.6, _moves(chosen) | {order[:-2] for order in chosen.values()})


def _moves(chosen):
    return {order.replace(" VIA", "") for order in chosen.values() if order[5:].lstrip("/NSEC").startswith(" - ")}


def _join(chosen, possible, dice, verb, probability, helped):
    """Let units join in the orders of others."""
    for place in chosen:
        fits = [order for order in possible[place] if verb in order and order.split(verb)[1] in helped]
        if fits and " C " not in chosen[place] and "VIA" not in chosen[place] and dice.random() < probability:
            chosen[place] = dice.choice(fits)


def differences(engine, board, orders):
    """Play a phase on both; return the next fast board, and the differences in position and results."""
    phase = engine.phase_type
    results = process(engine, orders)
    after, own = board.play_orders(orders)
    units = {" ".join(line.split()[:2]) for lines in orders.values() for line in lines}
    wrong = [f"{u}: {results.get(u, ())} {own.get(u, ())}" for u in units if results.get(u, ()) != own.get(u, ())]
    if after.position != position_of(engine):
        wrong.append(f"{phase}: {position_of(engine)} {after.position}")
    return after, wrong


def compared_game(seed, until):
    """Differences in a game of coordinated random orders, and the kinds of its phases and results."""
    dice, engine = random.Random(seed), engine_at("standard")
    board, wrong, seen = ArrayBoard.at(position_of(engine)), [], []
    while engine.phase != "COMPLETED" and int(engine.phase.split()[1]) <= until:
        seen.append(engine.phase_type)
        orders = ordered(engine, dice)
        board, found = differences(engine, board, orders)
        wrong += found
    return wrong, seen
