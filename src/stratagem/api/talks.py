"""Talk: `talk` measures the messages between two players: truth, promises, information, effect and gullibility."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.progress import show_progress
from stratagem.api.result import PlayedResult
from stratagem.api.serving import serving
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.options import whole
from stratagem.games.base import Game, Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.talk import talk_in
from stratagem.games.tree_walk import BUDGET
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.measure.figures.catalogue import find_figure
from stratagem.measure.figures.figure import Figure
from stratagem.measure.prompts import PromptSet
from stratagem.measure.statistics import Estimate, exactly
from stratagem.measure.talk.channels import channel_of
from stratagem.measure.talk.figures import TalkFigures, talk_figures
from stratagem.measure.talk.sampled_talk import TalkPlan, TalkPlay
from stratagem.measure.talk.talk_tree import TalkTree
from stratagem.measure.talk.tree_source import exchange_figures
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.show.table import Numbers, ResultTable, TableRow, Value

__all__ = ["TalkMeasure", "talk"]

Found = Mapping[Seat, TalkFigures[Any]]
"""Figures by the seat of the speaker."""
Source = Literal["exact", "play"]


@dataclass(frozen=True)
class TalkField:
    """Field of `TalkFigures`, or one of its parts, with its figure."""

    name: str
    """Name of the one."""
    key: str = ""
    """Key of the figure, where it is not the name."""
    part: int | None = None
    """0 for the speaker's part of a pair, 1 for the reader's."""
    only: Source | None = None
    """Source that alone can tell it; None where both can."""
    zero: bool = False
    """True if its level under the null hypothesis is 0 everywhere."""

    @property
    def figure(self) -> Figure:
        """Figure of the catalogue."""
        return find_figure(self.key or self.name)

    def of(self, found: TalkFigures[Any]) -> Any:
        """Return the value."""
        value = getattr(found, self.name)
        return value if self.part is None or value is None else value[self.part]

    def null_of(self, found: TalkFigures[Any]) -> float | None:
        """Return the level under the null hypothesis; None where there is none."""
        level: float | None = getattr(found, f"{self.name}_by_chance", 0.0 if self.zero else None)
        return level


def _of_side(part: int, who: str) -> Iterator[TalkField]:
    """Yield the fields of the speaker, or of the readers."""
    yield TalkField("returns", f"{who}_return", part)
    yield TalkField("gain_by_reader", f"{who}_gain_by_reader", part, zero=True)
    yield TalkField("gain_by_table", f"{who}_gain_by_table", part, zero=True)
    yield TalkField("gain_by_lie", f"{who}_gain_by_lie", part, "play", zero=True)
    yield TalkField("jammed", f"{who}_jammed", part, "exact")
    yield TalkField("worth", f"{who}_worth", part, "exact")


FIELDS = (
    TalkField("messages"),
    TalkField("state_information", only="exact", zero=True),
    TalkField("action_information", only="exact", zero=True),
    TalkField("honesty"),
    TalkField("deception", only="exact"),
    TalkField("keeping", "promise keeping"),
    TalkField("keeping_lift", "promise lift", zero=True),
    TalkField("met", "requests met"),
    TalkField("met_lift", "request lift", zero=True),
    TalkField("effect", zero=True),
    TalkField("placebo", only="play"),
    TalkField("effect_on_table", only="exact", zero=True),
    *_of_side(0, "speaker"),
    *_of_side(1, "reader"),
    TalkField("gullibility", zero=True),
)
"""Fields in the order of their rows."""


def fields_by(source: Source) -> list[TalkField]:
    """Return the fields that a source can tell."""
    return [one for one in FIELDS if one.only in (None, source)]


def exact_json(found: TalkFigures[float]) -> Json:
    """Return exact figures by key, with the levels under the null hypothesis that are not 0 everywhere."""
    data: Json = {}
    for one in fields_by("exact"):
        data[one.figure.key] = one.of(found)
        if hasattr(found, level := f"{one.name}_by_chance"):
            data[f"{one.figure.key}_by_chance"] = getattr(found, level)
    return data


def played_json(found: TalkFigures[Estimate]) -> Json:
    """Return each figure by play, beside its level under the null hypothesis."""
    return {
        one.figure.key: {
            "estimate": None if (estimate := one.of(found)) is None else estimate.to_json(),
            "chance": one.null_of(found),
        }
        for one in fields_by("play")
    }


def talk_table(title: str, found: Found, source: Source) -> ResultTable:
    """Return a row for each figure that is defined at a seat of the speaker: its value there, and its null."""
    seats = [column for seat in found for column in (Numbers(f"speaker at seat {seat}"), Numbers("null"))]
    rows = [
        TableRow((one.figure, *(cell for each in found.values() for cell in _cells(one, each))))
        for one in fields_by(source)
        if any(one.of(each) is not None for each in found.values())
    ]
    return ResultTable(title, ("figure", *seats), tuple(rows))


def _cells(one: TalkField, found: TalkFigures[Any]) -> tuple[Value, Value]:
    value, null = one.of(found), one.null_of(found)
    return exactly(value) if isinstance(value, float) else value, "" if null is None else null


@dataclass(frozen=True, repr=False)
class TalkMeasure(PlayedResult):
    """Figures of a speaker's messages, exact for one exchange or by play for all."""

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

    def tables(self) -> list[ResultTable]:
        title = f"{self.speaker} speaks to {self.reader} in {self.game}, returns in {self.unit}"
        return [talk_table(title, self.figures, "play" if self.episodes else "exact")]

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        if self.episodes:
            each = "One message is drawn from each episode for the effects."
            told = f"Estimates from {self.episodes} episodes at each seat, in all exchanges. {each}"
        else:
            told = f"All figures are exact, at {_which(self.exchange)} of messages."
        return [told, *super().remarks()]


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
    progress: bool = True,
) -> TalkMeasure:
    """Measure the messages between two players: truth, promises, information, deception, effect and gullibility.

    The messages are those of one exchange, of all in which the speaker speaks: the first by default. For exact figures
    both players must state their probabilities; `CannotCompute` says so otherwise. The speaker sits at each seat in
    turn that may speak: in `sender-receiver` the first, where the figures are exact alone.

    Args:
        game: Game with talk: `talk(kuhn(hands=1), before=round)`, `sender-receiver`.
        speaker: Player whose messages are measured: `honest(NashApprox)`.
        reader: Player that reads them: `believer(NashApprox)`.
        exchange: Number of the exchange, of those in which the speaker speaks.
        episodes: Number of episodes at each seat, to measure all exchanges by play, for any players; 0 is exact.
        seed: Seed of all randomness.
        exact_budget: Largest number of nodes of the game's tree, if it is above 2,000,000.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
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
            plan = TalkPlan(episodes=episodes, key=Key(seed))
            return replace(_by_play(made, players, plan, shown=progress), outcomes=outcomes)
        trees: dict[Seat, TalkTree] = {}
        spoken: dict[Seat, TalkFigures[float]] = {}
        seats = [seat for seat in range(2) if seat in channel.speakers]
        try:
            with show_progress(len(seats), shown=progress) as step:
                for seat in seats:
                    step(f"messages of seat {seat}")
                    tree = TalkTree(made, players[::-1] if seat else players, exact_budget)
                    trees[seat], spoken[seat] = tree, exchange_figures(tree, seat, exchange - 1)
        except CannotCompute as error:
            by_play = " Or give `episodes`, such as 200, for estimates by play." if made.has_talk else ""
            raise CannotCompute(f"{error}{by_play}") from error
        prompts = {seat: (tree.prompts[seat], tree.prompts[1 - seat]) for seat, tree in trees.items()}
        return TalkMeasure(*_names_of(made, players), spoken, exchange, prompts=prompts, outcomes=outcomes)


def _by_play(game: Game[Any], players: tuple[Player, Player], plan: TalkPlan, *, shown: bool) -> TalkMeasure:
    if (talked := talk_in(game)) is None:
        raise BadParameter(f"The figures of {game.spec.name} are exact: leave `episodes` out.")
    found = {}
    with show_progress(len(talked.who), shown=shown) as step:
        for seat in talked.who:
            step(f"messages of seat {seat}")
            found[seat] = talk_figures(TalkPlay(talked, *players, seat, plan))
    return TalkMeasure(*_names_of(game, players), found, episodes=plan.episodes)


def _names_of(game: Game[Any], players: tuple[Player, Player]) -> tuple[str, str, str, str]:
    """Return the names of a game and of both players, and the unit of a return: `chips` of chips a hand."""
    return describe(game), players[0].name, players[1].name, game.spec.unit.rsplit(" a ", 1)[0]


def _which(exchange: int) -> str:
    return "the first exchange" if exchange == 1 else f"exchange {exchange} of the speaker"
