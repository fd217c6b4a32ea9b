"""Talk: `talk` measures the first message between two players exactly: its truth, its information, its effect."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.result import Grid, Result
from stratagem.api.serving import serving
from stratagem.api.tables import number
from stratagem.evaluation.talk.talk_tree import TalkFigures, TalkTree
from stratagem.games.base import Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.talk import Talk
from stratagem.games.tree_walk import BUDGET
from stratagem.options import whole
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.players.talkers import talk_of

__all__ = ["TalkMeasure", "talk"]

_FIGURES = {
    "messages": "probability that it says something",
    "state_information": "information of what it sees and what it says, nats",
    "action_information": "information of what is said and the reader's first move, nats",
    "honesty": "true statements, of those known to be true or false",
    "honesty_by_chance": "the same, shuffled over deals",
    "deception": "deceptive statements, of those known to be true or false",
    "deception_by_chance": "the same, shuffled over deals",
    "effect": "total variation of the reader's first move, against silence",
}


@dataclass(frozen=True, repr=False)
class TalkMeasure(Result):
    """Exact figures of a speaker's first message to a reader, at each seat of the speaker. There is no picture."""

    game: str
    speaker: str
    reader: str
    unit: str
    """Unit of the returns, which are those of a whole game."""
    figures: dict[Seat, TalkFigures]
    """Figures by the seat of the speaker."""

    def rows(self) -> list[Json]:
        """Return one row for each seat of the speaker."""
        names = {"game": self.game, "speaker": self.speaker, "reader": self.reader}
        return [{**names, "seat": seat, **asdict(found), "worth": found.worth} for seat, found in self.figures.items()]

    def to_json(self) -> list[Json]:
        """Return the rows, as `stratagem talk --json` prints them."""
        return self.rows()

    def grids(self) -> list[Grid]:
        found = self.figures.values()
        rows = [(meant, *(_number(getattr(each, name)) for each in found)) for name, meant in _FIGURES.items()]
        for place, who in enumerate(("speaker", "reader")):
            rows.append((f"return of the {who}, {self.unit}", *(number(each.returns[place]) for each in found)))
            rows.append((f"worth of talk for the {who}", *(number(each.worth[place]) for each in found)))
        columns = ("", *(f"speaker at seat {seat}" for seat in self.figures))
        return [Grid(f"{self.speaker} speaks to {self.reader} in {self.game}", columns, rows)]

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        return [
            "All figures are exact, at the first exchange of messages. Returns are sums over the game. The worth "
            "of talk is the return less that of the same players with both channels jammed. – is undefined: "
            "nothing was said, or no statement."
        ]


@one_sentence
def talk(
    game: GameLike,
    speaker: PlayerLike,
    reader: PlayerLike,
    *,
    exact_budget: int = BUDGET,
    engine: str | None = None,
) -> TalkMeasure:
    """Measure the first message of a speaker to a reader in a game with talk, such as `talk(kuhn(hands=1))`.

    Both must state their probabilities, and the tree of the game has at most `exact_budget` nodes: `CannotCompute` says
    so otherwise, and `evaluate` then measures honesty and promises by play. The speaker sits at each seat in turn.
    """
    whole("talk", "exact_budget", exact_budget, 1)
    with serving(engine):
        made = talk_of(as_game(game), "talk")
        players = as_player(speaker, made), as_player(reader, made)
        seats = [seat for seat in range(2) if seat in made.who]
        spoken = {seat: _figures(made, players, seat, exact_budget) for seat in seats}
        return TalkMeasure(describe(made), players[0].name, players[1].name, _unit(made), spoken)


def _unit(game: Talk) -> str:
    """Return the unit of a return: `chips` where a payoff is in chips a hand."""
    return game.spec.unit.rsplit(" a ", 1)[0]


def _figures(game: Talk, players: tuple[Player, Player], seat: Seat, budget: int) -> TalkFigures:
    return TalkTree(game, players if seat == 0 else players[::-1], budget).figures(seat)


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)
