"""Talk: `talk` measures the messages between two players: truth, promises, information, effect and gullibility."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.result import Result, remarks_on
from stratagem.api.serving import serving
from stratagem.api.talks_by_play import SampledTalkMeasure
from stratagem.engines.outcomes import OutcomesByModel, counting_outcomes
from stratagem.errors import BadParameter, CannotCompute
from stratagem.evaluation.prompts import PromptSet
from stratagem.evaluation.talk.exchange_figures import TalkFigures, exchange_figures
from stratagem.evaluation.talk.sampled_figures import sampled_figures
from stratagem.evaluation.talk.sampled_talk import Plan
from stratagem.evaluation.talk.talk_tree import TalkTree
from stratagem.games.base import Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.talk import Talk
from stratagem.games.tree_walk import BUDGET
from stratagem.options import whole
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.players.talkers import talk_of
from stratagem.show.cells import number
from stratagem.show.table import Numbers, Table, columns_of, text_table

__all__ = ["SampledTalkMeasure", "TalkMeasure", "talk"]

_FIGURES = {
    "messages": "probability that it says something",
    "state_information": "information of what it sees and what it says, nats",
    "action_information": "information of what is said and the reader's first move, nats",
    "honesty": "true statements, of those known to be true or false",
    "honesty_by_chance": "the same, shuffled over deals",
    "deception": "deceptive statements, of those known to be true or false",
    "deception_by_chance": "the same, shuffled over deals",
    "keeping": "probability that the speaker keeps a promise",
    "keeping_by_chance": "the same, shuffled over decisions",
    "keeping_lift": "lift of a promise over silence",
    "met": "probability that the reader meets a request",
    "met_by_chance": "the same, shuffled over decisions",
    "met_lift": "lift of a request over silence",
    "effect": "effect on the reader alone: total variation of its first move, against silence",
    "effect_on_table": "effect on the whole table: total variation of both seats' first moves, against silence",
}


@dataclass(frozen=True, repr=False)
class TalkMeasure(Result):
    """Exact figures of a speaker's messages in one exchange, at each seat of the speaker. There is no picture."""

    game: str
    speaker: str
    reader: str
    unit: str
    """Unit of the returns, which are those of a whole game."""
    figures: dict[Seat, TalkFigures]
    """Figures by the seat of the speaker."""
    exchange: int = 1
    """Number of the exchange, of those in which the speaker speaks."""
    prompts: dict[Seat, tuple[PromptSet | None, PromptSet | None]] = field(default_factory=dict)
    """Prompts of the speaker and the reader by the seat of the speaker; None of a player that reads no words."""
    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""

    def rows(self) -> list[Json]:
        """Return one row for each seat of the speaker."""
        names = {"game": self.game, "speaker": self.speaker, "reader": self.reader}
        return [
            {**names, "seat": seat, **asdict(found), "worth": found.worth, "prompts": self._prompts(seat)}
            | {"requests": self.outcomes.to_json()}
            for seat, found in self.figures.items()
        ]

    def _prompts(self, seat: Seat) -> Json:
        """Return the prompts of those who read words."""
        pairs = zip(("speaker", "reader"), self.prompts.get(seat, ()), strict=False)
        return {who: asked.to_json() for who, asked in pairs if asked is not None}

    def to_json(self) -> list[Json]:
        """Return the rows, as `stratagem talk --json` prints them."""
        return self.rows()

    def tables(self) -> list[Table]:
        found = self.figures.values()
        rows = [(meant, *(_number(getattr(each, name)) for each in found)) for name, meant in _FIGURES.items()]
        for place, who in enumerate(("speaker", "reader")):
            rows.append((f"return of the {who}, {self.unit}", *(number(each.returns[place]) for each in found)))
            for by, what in (("reader", "the reader alone"), ("table", "the whole table")):
                rows.append((f"gain of the {who} by a message, {what} responding", *_gains(found, place, by)))
            rows.append((f"worth of talk for the {who}", *(number(each.worth[place]) for each in found)))
        rows.append((f"gullibility of the reader, {self.unit}", *(number(each.gullibility) for each in found)))
        columns = columns_of("", *(Numbers(f"speaker at seat {seat}") for seat in self.figures))
        return [text_table(f"{self.speaker} speaks to {self.reader} in {self.game}", columns, rows)]

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        return [
            f"All figures are exact, at {_which(self.exchange)} of messages. Returns are sums over the game. The gain "
            "by a message is over silence in its place, the mean over what is said. The worth of talk is the return "
            "less that of the same players with both channels jammed. Gullibility is what the reader loses by hearing "
            "the speaker; who does not listen has 0. – is undefined: nothing was said, or no statement, promise or "
            "request.",
            *remarks_on(self.outcomes),
        ]


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
) -> TalkMeasure | SampledTalkMeasure:
    """Measure the messages of a speaker to a reader in a game with talk, such as `talk(kuhn(hands=1))`.

    They are those of one exchange, of all in which the speaker speaks: the first by default.

    Both must state their probabilities, and the tree of the game has at most 500,000 nodes, or `exact_budget` if it is
    more: `CannotCompute` says so otherwise. With `episodes` the figures of all exchanges are estimated by play, for any
    players and any number of seats. The speaker sits at each seat in turn.
    """
    whole("talk", "episodes", episodes, 0)
    if episodes and exchange != 1:
        raise BadParameter("talk takes an `exchange` for exact figures, or `episodes` for those of all exchanges.")
    whole("talk", "exchange", exchange, 1)
    whole("talk", "exact_budget", exact_budget, 1)
    with serving(engine), counting_outcomes() as outcomes:
        made = talk_of(as_game(game), "talk")
        players = as_player(speaker, made), as_player(reader, made)
        if episodes:
            sampled = _by_play(made, players, Plan(episodes=episodes, key=Key(seed)))
            return replace(sampled, outcomes=outcomes)
        seats = [seat for seat in range(2) if seat in made.who]
        try:
            trees = {seat: TalkTree(made, players[::-1] if seat else players, exact_budget) for seat in seats}
            spoken = {seat: exchange_figures(tree, seat, exchange - 1) for seat, tree in trees.items()}
        except CannotCompute as error:
            raise CannotCompute(f"{error} Or give `episodes`, such as 200, for estimates by play.") from error
        prompts = {seat: (tree.prompts[seat], tree.prompts[1 - seat]) for seat, tree in trees.items()}
        names = players[0].name, players[1].name
        return TalkMeasure(describe(made), *names, _unit(made), spoken, exchange, prompts, outcomes)


def _unit(game: Talk) -> str:
    """Return the unit of a return: `chips` where a payoff is in chips a hand."""
    return game.spec.unit.rsplit(" a ", 1)[0]


def _by_play(game: Talk, players: tuple[Player, Player], plan: Plan) -> SampledTalkMeasure:
    found = {seat: sampled_figures(game, *players, seat, plan) for seat in game.who}
    return SampledTalkMeasure(describe(game), players[0].name, players[1].name, _unit(game), found, plan.episodes)


def _gains(found: Iterable[TalkFigures], place: int, who: str) -> Iterator[str]:
    for each in found:
        gain: tuple[float, float] | None = getattr(each, f"gain_by_{who}")
        yield _number(None if gain is None else gain[place])


def _which(exchange: int) -> str:
    return "the first exchange" if exchange == 1 else f"exchange {exchange} of the speaker"


def _number(value: float | None) -> str:
    return "–" if value is None else number(value)
