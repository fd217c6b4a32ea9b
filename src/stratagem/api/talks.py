"""Talk: `talk` measures the messages between two players: truth, promises, information, effect and gullibility."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.result import Result, remarks_on
from stratagem.api.serving import serving
from stratagem.api.talk_figures import estimates, exact_json, exact_table, played_json, played_tables
from stratagem.engines.outcomes import OutcomesByModel, counting_outcomes
from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.prompts import PromptSet
from stratagem.evaluation.talk.channels import channel_of
from stratagem.evaluation.talk.figures import TalkFigures, talk_figures
from stratagem.evaluation.talk.sampled_talk import Plan, TalkPlay
from stratagem.evaluation.talk.talk_tree import TalkTree
from stratagem.evaluation.talk.tree_source import exchange_figures
from stratagem.games.base import Game, Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.talk import talk_in
from stratagem.games.tree_walk import BUDGET
from stratagem.options import whole
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.show.cells import few_deals
from stratagem.show.table import Table

__all__ = ["TalkMeasure", "talk"]

_EXACTLY = (
    "Returns are sums over the game. The gain by a message is over silence in its place, the mean over what is said. "
    "The worth of talk is the return less that of the same players with both channels jammed. Gullibility is what the "
    "reader loses by hearing the speaker; who does not listen has 0. – is undefined: nothing was said, or no "
    "statement, promise or request."
)
_BY_PLAY = (
    "in all exchanges. Returns are sums over the game. One message is drawn from each episode for the effects: over "
    "silence in its place, with the same dice. A lie deceives if the speaker's gain by it is above 0 and the readers' "
    "below. Gullibility is what the readers lose by hearing the speaker. – is undefined: nothing said, or no "
    "statement, promise or request."
)


@dataclass(frozen=True, repr=False)
class TalkMeasure(Result):
    """Figures of a speaker's messages, exact for one exchange or by play for all. There is no picture."""

    game: str
    speaker: str
    reader: str
    unit: str
    """Unit of the returns, which are those of a whole game."""
    figures: Mapping[Seat, TalkFigures[Any]]
    """Figures by the seat of the speaker: numbers where they are exact, else estimates."""
    exchange: int = 1
    """Number of the exchange, of those in which the speaker speaks."""
    episodes: int = 0
    """Number of episodes at each seat; 0 where the figures are exact."""
    prompts: dict[Seat, tuple[PromptSet | None, PromptSet | None]] = field(default_factory=dict)
    """Prompts of the speaker and the reader by the seat of the speaker; None of a player that reads no words."""
    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""

    def rows(self) -> list[Json]:
        """Return one row for each seat of the speaker."""
        names: Json = {"game": self.game, "speaker": self.speaker, "reader": self.reader}
        requests = {"requests": self.outcomes.to_json()}
        if self.episodes:
            names["episodes"] = self.episodes
            return [{**names, "seat": seat, **played_json(each), **requests} for seat, each in self.figures.items()]
        return [
            {**names, "seat": seat, **exact_json(each), "prompts": self._prompts(seat), **requests}
            for seat, each in self.figures.items()
        ]

    def _prompts(self, seat: Seat) -> Json:
        """Return the prompts of those who read words."""
        pairs = zip(("speaker", "reader"), self.prompts.get(seat, ()), strict=False)
        return {who: asked.to_json() for who, asked in pairs if asked is not None}

    def to_json(self) -> list[Json]:
        """Return the rows, as `stratagem talk --json` prints them."""
        return self.rows()

    def tables(self) -> list[Table]:
        title = f"{self.speaker} speaks to {self.reader} in {self.game}"
        if self.episodes:
            return played_tables(title, self.figures, self.unit)
        return [exact_table(title, self.figures, self.unit)]

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        if self.episodes:
            told = [f"Estimates from {self.episodes} episodes at each seat, {_BY_PLAY}"]
            told += few_deals(estimates(self.figures))
        else:
            told = [f"All figures are exact, at {_which(self.exchange)} of messages. {_EXACTLY}"]
        return [*told, *remarks_on(self.outcomes)]


@one_sentence
def talk(
    game: GameLike,
    speaker: PlayerLike,
    reader: PlayerLike,
    *,
    exchange: int = 1,
    episodes: int = 0,
    seed: int = 0,
    exact_budget: int = BUDGET,
    engine: str | None = None,
) -> TalkMeasure:
    """Measure the messages of a speaker to a reader in a game with talk, such as `talk(kuhn(hands=1))`.

    They are those of one exchange, of all in which the speaker speaks: the first by default.

    Both must state their probabilities, and the tree of the game has at most 500,000 nodes, or `exact_budget` if it is
    more: `CannotCompute` says so otherwise. With `episodes` the figures of all exchanges are estimated by play, for any
    players and any number of seats. The speaker sits at each seat in turn that may speak: in `sender-receiver` the
    first, where the figures are exact alone.
    """
    whole("talk", "episodes", episodes, 0)
    if episodes and exchange != 1:
        raise BadParameter("talk takes an `exchange` for exact figures, or `episodes` for those of all exchanges.")
    whole("talk", "exchange", exchange, 1)
    whole("talk", "exact_budget", exact_budget, 1)
    with serving(engine), counting_outcomes() as outcomes:
        made = as_game(game)
        channel = channel_of(made, "talk")
        players = as_player(speaker, made), as_player(reader, made)
        if episodes:
            return replace(_by_play(made, players, Plan(episodes=episodes, key=Key(seed))), outcomes=outcomes)
        seats = [seat for seat in range(2) if seat in channel.speakers]
        try:
            trees = {seat: TalkTree(made, players[::-1] if seat else players, exact_budget) for seat in seats}
            spoken = {seat: exchange_figures(tree, seat, exchange - 1) for seat, tree in trees.items()}
        except CannotCompute as error:
            by_play = " Or give `episodes`, such as 200, for estimates by play." if made.has_talk else ""
            raise CannotCompute(f"{error}{by_play}") from error
        prompts = {seat: (tree.prompts[seat], tree.prompts[1 - seat]) for seat, tree in trees.items()}
        return TalkMeasure(*_named(made, players), spoken, exchange, prompts=prompts, outcomes=outcomes)


def _by_play(game: Game[Any], players: tuple[Player, Player], plan: Plan) -> TalkMeasure:
    if (talked := talk_in(game)) is None:
        raise BadParameter(f"The figures of {game.spec.name} are exact: leave `episodes` out.")
    found = {seat: talk_figures(TalkPlay(talked, *players, seat, plan)) for seat in talked.who}
    return TalkMeasure(*_named(game, players), found, episodes=plan.episodes)


def _named(game: Game[Any], players: tuple[Player, Player]) -> tuple[str, str, str, str]:
    """Return the names of a game and of both players, and the unit of a return: `chips` of chips a hand."""
    return describe(game), players[0].name, players[1].name, game.spec.unit.rsplit(" a ", 1)[0]


def _which(exchange: int) -> str:
    return "the first exchange" if exchange == 1 else f"exchange {exchange} of the speaker"
