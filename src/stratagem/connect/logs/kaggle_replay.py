"""Replays of Kaggle's game arenas, as JSON, of games that we have.

A replay is one game of several teams: an item, which all of them share. The score is the reward of a team, and its
difference from another team is that within the same games. A team that erred or ran out of time has no reward: its
score is missing for that reason. Two seats of one team are repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from stratagem.base.errors import BadParameter, BadRecord
from stratagem.connect.logs.base import (
    LogColumns,
    LogFile,
    LogFormat,
    LogScores,
    field_of,
    nothing_called,
    number_of,
    text_of_field,
)
from stratagem.games.bounded import make_bounded_game
from stratagem.measure.logs.scores import ItemScore

GAMES = {
    "connectx": "connect_four",
    "tictactoe": "tic_tac_toe",
}
"""Name of OpenSpiel's game by that of an environment; those of OpenSpiel begin with `open_spiel_`."""
_OPEN_SPIEL = "open_spiel_"
_FIELDS = ("name", "rewards", "statuses", "steps")


class KaggleReplay(LogFormat):
    """Replay of a game of Kaggle's."""

    label: ClassVar[str] = "Kaggle's replays in JSON"

    def recognises(self, file: LogFile) -> bool:
        return isinstance(file.data, Mapping) and all(field in file.data for field in _FIELDS)

    def read(self, file: LogFile, columns: LogColumns) -> LogScores:
        replay: Mapping[str, Any] = file.data
        try:
            rewards, statuses = list(replay["rewards"]), list(map(str, replay["statuses"]))
            if len(rewards) != len(statuses):
                raise BadRecord(f"{file.path} is damaged: it has {len(rewards)} rewards and {len(statuses)} statuses.")
            teams = _teams(replay, len(rewards))
            game = _game(file, replay)
        except (TypeError, AttributeError) as error:
            raise BadRecord(f"{file.path} is damaged: {error}.") from error
        if columns.score not in ("", "reward"):
            raise nothing_called("score", columns.score, ["reward"], file.path)
        item = _field(file, replay, columns.item, "item") or text_of_field(replay.get("id")) or file.path.stem
        cluster = _field(file, replay, columns.cluster, "cluster")
        return LogScores(
            tuple(
                ItemScore(
                    item,
                    team,
                    number_of(reward, f"The reward of {team} in {file.path}"),
                    f"{game}/reward",
                    cluster,
                    str(seat),
                    status.lower() if reward is None else "",
                )
                for seat, (team, reward, status) in enumerate(zip(teams, rewards, statuses, strict=True))
            ),
            one_system=False,
        )


def _teams(replay: Mapping[str, Any], seats: int) -> list[str]:
    """Return the names of the teams by seat; the seats where it has none."""
    info = replay.get("info") or {}
    names = info.get("TeamNames") or [agent.get("Name") for agent in info.get("Agents") or ()]
    return [str(name) for name in names] if len(names) == seats else [f"seat {seat}" for seat in range(seats)]


def _game(file: LogFile, replay: Mapping[str, Any]) -> str:
    """Return our name of the game; a game that we do not have is refused."""
    name = str(replay["name"])
    if name in GAMES:
        return GAMES[name]
    if name.startswith(_OPEN_SPIEL):
        configuration = replay.get("configuration") or {}
        of_engine = str(configuration.get("openSpielGameName") or name.removeprefix(_OPEN_SPIEL))
        try:
            make_bounded_game(f"spiel:{of_engine}")
        except BadParameter:
            pass
        except Exception as error:
            raise BadParameter(_refusal_of(file, name)) from error
        else:
            return of_engine
    raise BadParameter(_refusal_of(file, name))


def _refusal_of(file: LogFile, name: str) -> str:
    ours = ", ".join(GAMES)
    return f"{file.path} is a replay of {name!r}: games that are read are {ours}, and {_OPEN_SPIEL}GAME of OpenSpiel."


def _field(file: LogFile, replay: Mapping[str, Any], name: str, what: str) -> str | None:
    if not name:
        return None
    found = text_of_field(field_of(replay, name))
    if found is None:
        raise nothing_called(what, name, replay, file.path)
    return found
