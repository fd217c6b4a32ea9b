"""Games: `list_games` lists them, or shows the declaration and the texts of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, overload

from stratagem.api.mistakes import one_sentence
from stratagem.api.result import Result
from stratagem.base.errors import BadParameter, BrokenEntry
from stratagem.base.field_notes import notes
from stratagem.games.base import Game, Json
from stratagem.games.catalogue import describe, game_names, make_game
from stratagem.games.key import Key
from stratagem.games.safety.catalogue import signal_names
from stratagem.players.given import GameLike, as_game
from stratagem.show.table import ResultTable, text_table

_OWN = {"name", "summary", "reference", "story", "face", "text"}
"""Fields of a game that are no parameters of its rules."""
_ILLEGAL = {"null": "null action", "default": "default action", "forfeit": "loss of the game"}

__all__ = ["GameCard", "Games", "list_games"]


@dataclass(frozen=True, repr=False)
class GameCard(Result):
    """Declaration of one game, and what a model reads at its first turn. It has no figures, so there is no picture."""

    game: Game[Any]
    """The game itself."""

    def texts(self) -> dict[str, str]:
        """Return the rules, the situation and the choices of the seat that begins, by title."""
        state = self.game.start(Key(0))
        view = state.view(state.to_act[0])
        return {"Rules": view.rules, "First turn": view.situation, "Choices": view.choices.summary()}

    def rows(self) -> list[Json]:
        """Return the declaration, one row a fact."""
        return [{"fact": name, "value": value} for name, value in self.to_json().items()]

    def to_json(self) -> Json:
        """Return the declaration, as `stratagem games NAME --json` prints it."""
        return card(self.game)

    def tables(self) -> list[ResultTable]:
        return [text_table(describe(self.game), ("", ""), _facts(self.to_json(), notes(type(self.game))))]

    def remarks(self) -> list[str]:
        """Return the texts of the first turn under their titles."""
        return [f"{title}: {text}" for title, text in self.texts().items()]


@dataclass(frozen=True, repr=False)
class Games(Result):
    """List of all games that need no parameters. It has no figures, so there is no picture."""

    games: tuple[Game[Any], ...]
    """The games themselves."""

    def rows(self) -> list[Json]:
        """Return the declaration of each game."""
        return [card(game) for game in self.games]

    def tables(self) -> list[ResultTable]:
        rows = [
            (
                game.spec.name,
                str(game.spec.seats),
                "simultaneous" if game.spec.simultaneous else "sequential",
                game.spec.utility,
                game.spec.summary,
            )
            for game in self.games
        ]
        return [text_table("", ("game", "seats", "moves", "payoffs", "description"), rows)]

    def remarks(self) -> list[str]:
        """Return the games beyond the list."""
        return [
            "Also `matrix(payoffs=[[(3, 3), (0, 5)], [(5, 0), (1, 1)]])` for your own payoff matrix, and\n"
            "`spiel:NAME(parameters)` for any other game of OpenSpiel, and `talk(GAME, limit=80)` for these with "
            "messages before the turns."
        ]


@overload
def list_games(name: None = None) -> Games: ...
@overload
def list_games(name: GameLike) -> GameCard: ...
@one_sentence
def list_games(name: GameLike | None = None) -> Games | GameCard:
    """List the games, or show one of them.

    Args:
        name: Game, such as `ipd(rounds=20)`, for its rules and parameters; without one all games are listed.
    """
    return Games(tuple(_list_games())) if name is None else GameCard(as_game(name))


def _list_games() -> list[Game[Any]]:
    """Return every game that needs no parameters."""
    rows = []
    for name in game_names():
        try:
            rows.append(make_game(name))
        except (BadParameter, BrokenEntry):
            continue
    return rows


def card(game: Game[Any]) -> Json:
    """Return the declaration of a game as JSON."""
    # `spiel:NAME(...)` has parameters of OpenSpiel alone, which are in its name
    known = () if getattr(game, "face", game) is None else fields(game)  # type: ignore[arg-type]
    values = {field.name: getattr(game, field.name) for field in known if field.name not in _OWN}
    parameters = {name: describe(value) if isinstance(value, Game) else value for name, value in values.items()}
    return asdict(game.spec) | {"signals": signal_names(game), "call": describe(game), "parameters": parameters}


def _facts(item: Json, explained: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the declaration of a game in words; a parameter that is None has no value to read, so it is explained."""
    low, high = item["bounds"]
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
        ("illegal reply", _ILLEGAL[item["on_illegal"]] + retries),
        ("safety signals", ", ".join(item["signals"]) or "none"),
        ("parameters", ", ".join(f"{name}={value}" for name, value in item["parameters"].items()) or "none"),
        *((name, explained[name]) for name, value in item["parameters"].items() if value is None and name in explained),
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "no"
