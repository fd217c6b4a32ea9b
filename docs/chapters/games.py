"""The games: what each declares, its parameters, and its rules as a seat is told them."""

from __future__ import annotations

from typing import Any

from chapters.markdown import block, code, definition, notes, page, table, yes
from stratagem.api.games import card
from stratagem.games import Game, GameSpec, Key, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.safety.catalogue import signal_names
from stratagem.games.spiel import SpielGame
from stratagem.games.talk.catalogue import LANGUAGES

OWN_TABLE = "matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), (1, 1)]])"
"""A game that has no default payoffs, with some."""
TALK = "talk(kuhn(hands=1))"
"""A game with talk, as an example."""
SHOWN = {
    "rounds": "rounds",
    "bounds": "payoff bounds",
    "chance": "chance",
    "private_information": "private information",
    "symmetric": "symmetric",
    "on_illegal": "nothing legal",
    "retries": "retries",
    "signals": "signals",
}
"""Declared fact of a specification, and the heading of its column."""


def games() -> str:
    """The page."""
    made = {name: make_game(OWN_TABLE if name == "matrix" else name) for name in GAMES}
    return page(
        "Games",
        "All games by name. `stratagem games NAME` prints an entry of this page. Parameters follow the name, as in "
        "`ipd(rounds=20)`. Any other game of OpenSpiel is `spiel:NAME(parameters)`. Other packages add "
        "games by the entry-point group `stratagem.games`: see [Add a game](../how-to/add-a-game.md).",
        "## All games",
        table(("game", "seats", "moves", "payoffs", "description"), (_line(n, g.spec) for n, g in made.items())),
        "## Declarations",
        f"{_meanings()}\n\n`stratagem verify-game NAME` tests these declarations.",
        table(
            ("game", "version", *SHOWN.values(), "unit"),
            (_declared(name, game) for name, game in made.items()),
        ),
        "*Largest* is the largest value of a parameter, or the largest number of elements of a list, where a record, a "
        "recipe or a page names the game. In your own command or call a parameter has no such bound.",
        *(_entry(name, game) for name, game in made.items()),
        *_talk(),
    )


def _talk() -> list[str]:
    """Messages before the turns of any game, and the sentences with a meaning."""
    languages = ((family, definition(language)) for family, language in LANGUAGES.items())
    return [
        _entry("talk", make_game(TALK)),
        "Sentences of each family of games that have a meaning. A game of another family has `words` or open text.",
        table(("family", "sentences"), languages),
    ]


def _line(name: str, spec: GameSpec) -> tuple[object, ...]:
    moves = "together" if spec.simultaneous else "in turn"
    return f"[{name}](#{name})", spec.seats, moves, spec.utility, spec.summary


def _declared(name: str, game: Game[Any]) -> tuple[object, ...]:
    spec = game.spec
    facts = {field: getattr(spec, field) for field in SHOWN} | {"signals": signal_names(game)}
    return name, spec.version, *(_told(facts[field]) for field in SHOWN), spec.unit


def _told(value: object) -> object:
    """A declared value in a word or two."""
    if isinstance(value, bool):
        return yes(value)
    if isinstance(value, tuple):
        return ", ".join(value) if all(isinstance(item, str) for item in value) else f"{value[0]:g} to {value[1]:g}"
    return "no bound" if value is None else value


def _meanings() -> str:
    meant = notes(GameSpec)
    meant["signals"] = "Names of the signals of each round, one number a seat: safety signals, or facts of the game."
    return "\n".join(f"- *{column}*: {meant[field]}" for field, column in SHOWN.items() if field in meant)


def _entry(name: str, game: Game[Any]) -> str:
    spec = game.spec
    source = f" Source: {spec.reference}." if spec.reference else ""
    parts = [f"## {name}", spec.summary + source, *_written(name, game), *_parameters(game)]
    state = game.start(Key(0))
    seat = state.to_act[0]
    view = state.view(seat)
    parts += [f"Rules in the prompt of seat {seat}:", block(view.rules)]
    parts += ["A first turn and its choices:", block(f"{view.situation}\n\n{view.choices.summary()}")]
    return "\n\n".join(parts)


def _written(name: str, game: Game[Any]) -> list[str]:
    """Return the facts that a reader needs to make the same game."""
    if isinstance(game, SpielGame):
        return [f"Played by OpenSpiel as {code(game.text)}."]
    shown = {"matrix": OWN_TABLE, "talk": TALK}
    return [f"Shown for {code(shown[name])}."] if name in shown else []


def _parameters(game: Game[Any]) -> list[str]:
    values = card(game)["parameters"]
    meant = notes(type(game))
    if not values:
        return []
    largest = type(game).largest
    rows = (
        (code(name), code(value), _told(largest[name]) if name in largest else "", meant.get(name, ""))
        for name, value in values.items()
    )
    return [table(("parameter", "value", "largest", "meaning"), rows)]
