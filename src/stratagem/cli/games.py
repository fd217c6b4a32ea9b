"""`stratagem games`: the list of games, and the declaration of one."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Annotated

import typer
from rich.text import Text

from stratagem.cli.console import out
from stratagem.cli.output import print_json, table
from stratagem.errors import BadParameter, BrokenEntry
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe, game_names, make_game
from stratagem.games.key import Key


def games(
    name: Annotated[str | None, typer.Argument(help="One game, to see its rules and parameters.")] = None,
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
    return asdict(game.spec) | {"call": describe(game), "parameters": parameters}


def _list(cards: list[Json]) -> None:
    made = table("", "game", "seats", "moves", "payoffs", "what it is", numbers=False)
    for item in cards:
        moves = "together" if item["simultaneous"] else "in turn"
        made.add_row(item["name"], str(item["seats"]), moves, item["utility"], Text(item["summary"]))
    out.print(made)
    out.print(
        "\nAlso `matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), (1, 1)]])` for a table of your own, and\n"
        "`spiel:NAME(parameters)` for any other game of OpenSpiel.",
        highlight=False,
        markup=False,
    )


def _show(game: Game[object]) -> None:
    item = card(game)
    made = table(describe(game), "", "", numbers=False)
    for what, text in _facts(item):
        made.add_row(what, Text(text))
    state = game.start(Key(0))
    seat = state.to_act[0]
    view = state.view(seat)
    out.print(made)
    for title, text in (("Rules", view.rules), ("A first turn", view.situation), ("Choices", view.choices.summary())):
        out.print(Text(f"\n{title}", style="bold"))
        out.print(Text(text))


def _facts(item: Json) -> list[tuple[str, str]]:
    """Return the declaration of a game in words."""
    low, high = item["bounds"]
    illegal = {"null": "a null action", "default": "its default action", "forfeit": "the game is lost"}
    asked = f", after {item['retries']} more tries" if item["retries"] else ""
    return [
        ("what it is", item["summary"]),
        ("source", item["reference"]),
        ("seats", f"{item['seats']}, who move {'together' if item['simultaneous'] else 'in turn'}"),
        ("rounds", "no bound" if item["rounds"] is None else f"at most {item['rounds']}"),
        ("payoffs", f"{item['utility']}, from {low:g} to {high:g} an episode, in {item['unit']}"),
        ("chance", _yes(item["chance"])),
        ("private information", _yes(item["private_information"])),
        ("seats alike", _yes(item["symmetric"])),
        ("nothing legal said", illegal[item["on_illegal"]] + asked),
        ("safety signals", ", ".join(item["signals"]) or "none"),
        ("parameters", ", ".join(f"{name}={value}" for name, value in item["parameters"].items()) or "none"),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"
