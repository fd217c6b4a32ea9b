"""`stratagem games`: the list of games, and the declaration of one."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated

import typer
from rich.text import Text

from stratagem.cli import completion
from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.errors import BadParameter, BrokenEntry
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe, game_names, make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import signal_names


def games(
    name: Annotated[
        str | None, typer.Argument(help="Game, to print its rules and parameters.", autocompletion=completion.games)
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the games, or show one of them."""
    if name is not None:
        game = make_game(name)
        print_json(card(game)) if json else _show(game)
        return
    cards = [card(game) for game in listed()]
    print_json(cards) if json else _list(cards)


def listed() -> list[Game[object]]:
    """Return every game that needs no parameters."""
    rows = []
    for name in game_names():
        try:
            rows.append(make_game(name))
        except (BadParameter, BrokenEntry):
            continue
    return rows


def card(game: Game[object]) -> Json:
    """Return the declaration of a game as JSON."""
    own = {"name", "summary", "reference", "story", "face", "text"}
    parameters = {f.name: getattr(game, f.name) for f in fields(game) if f.name not in own}  # type: ignore[arg-type]
    return asdict(game.spec) | {"signals": signal_names(game), "call": describe(game), "parameters": parameters}


def _list(cards: list[Json]) -> None:
    grid = table("", "game", "seats", "moves", "payoffs", "description", numbers=False)
    for item in cards:
        moves = "simultaneous" if item["simultaneous"] else "sequential"
        grid.add_row(item["name"], str(item["seats"]), moves, item["utility"], Text(item["summary"]))
    out.print(grid)
    out.print(
        "\nAlso `matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), (1, 1)]])` for your own payoff matrix, and\n"
        "`spiel:NAME(parameters)` for any other game of OpenSpiel.",
        highlight=False,
        markup=False,
    )


def _show(game: Game[object]) -> None:
    item = card(game)
    grid = table(describe(game), "", "", numbers=False)
    for name, text in _facts(item):
        grid.add_row(name, Text(text))
    state = game.start(Key(0))
    seat = state.to_act[0]
    view = state.view(seat)
    out.print(grid)
    for title, text in (("Rules", view.rules), ("First turn", view.situation), ("Choices", view.choices.summary())):
        out.print(Text(f"\n{title}", style="bold"))
        out.print(Text(text))


def _facts(item: Json) -> list[tuple[str, str]]:
    """Return the declaration of a game in words."""
    low, high = item["bounds"]
    illegal = {"null": "null action", "default": "default action", "forfeit": "loss of the game"}
    retries = f", after {item['retries']} retries" if item["retries"] else ""
    return [
        ("description", item["summary"]),
        ("source", item["reference"]),
        ("seats", f"{item['seats']}, {'simultaneous' if item['simultaneous'] else 'sequential'} moves"),
        ("rounds", "no limit" if item["rounds"] is None else f"at most {item['rounds']}"),
        ("payoffs", f"{item['utility']}, from {low:g} to {high:g} per episode, in {item['unit']}"),
        ("chance", _yes(item["chance"])),
        ("private information", _yes(item["private_information"])),
        ("symmetric seats", _yes(item["symmetric"])),
        ("illegal reply", illegal[item["on_illegal"]] + retries),
        ("safety signals", ", ".join(item["signals"]) or "none"),
        ("parameters", ", ".join(f"{name}={value}" for name, value in item["parameters"].items()) or "none"),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"
