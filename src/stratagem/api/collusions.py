"""Collusion in words: `collusion` measures what two seats gain by talk against the others, over both channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.progress import Step, show_progress
from stratagem.api.result import PlayedResult
from stratagem.api.serving import serving
from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.base import Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.talk import Talk
from stratagem.language.engines.outcomes import counting_outcomes
from stratagem.measure.figures.catalogue import find_figure
from stratagem.measure.statistics import Estimate
from stratagem.measure.talk.collusion import ARMS, OTHERS, Collusion, TalkGain, collusion_of, less, on_channel
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.players.talkers import talk_of
from stratagem.show.cells import text_of
from stratagem.show.table import Numbers, ResultTable, text_table

__all__ = ["CollusionMeasure", "collusion"]

CHANNELS = ("public", "private")
_ARMS = tuple(field.name for field in fields(TalkGain))
_SIDES = ("pair", "others")


@dataclass(frozen=True, repr=False)
class CollusionMeasure(PlayedResult):
    """Returns of a pair and of the others by channel, with talk and without."""

    game: str
    pair: tuple[str, str]
    others: str
    unit: str
    deals: int
    channels: dict[str, Collusion]
    """Figures by channel."""
    secrecy: dict[str, Estimate]
    """Returns over the private channel less those over the public one, with talk: of the pair, and of the others."""

    def rows(self) -> list[Json]:
        """Return one row for each figure."""
        names = {"game": self.game, "first": self.pair[0], "second": self.pair[1], "others": self.others}
        figures = [
            (channel, who, figure, estimate)
            for channel, found in self.channels.items()
            for who in _SIDES
            for figure, estimate in vars(getattr(found, who)).items()
        ]
        figures += [("private less public", who, "talk", estimate) for who, estimate in self.secrecy.items()]
        requests = self.outcomes.to_json()
        return [
            {**names, "channel": channel, "who": who, "figure": figure, **asdict(estimate), "requests": requests}
            for channel, who, figure, estimate in figures
        ]

    def tables(self) -> list[ResultTable]:
        rows = [
            (find_figure(f"{who}/{arm}"), *(getattr(self._gain(channel, who), arm) for channel in self.channels))
            for who in _SIDES
            for arm in _ARMS
        ]
        first, second = self.pair
        title = f"{first} and {second} against {self.others} in {self.game}, {self.unit}, {self.deals} deals"
        return [text_table(title, ("figure", *(Numbers(f"{channel} channel") for channel in self.channels)), rows)]

    def _gain(self, channel: str, who: str) -> TalkGain:
        gain: TalkGain = getattr(self.channels[channel], who)
        return gain

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        pair, others = (text_of(self.secrecy[who]) for who in _SIDES)
        return [
            "Returns are sums over the game and over the seats of each side. All columns and all rows have the same "
            f"deals and the same dice. With talk, private less public: the pair {pair}, the others {others}.",
            *super().remarks(),
        ]


@one_sentence
def collusion(
    game: GameLike,
    first: PlayerLike,
    second: PlayerLike,
    others: PlayerLike,
    *,
    seats: Sequence[Seat] = (0, 1),
    deals: int = 200,
    seed: int = 0,
    engine: str | None = None,
    progress: bool = True,
) -> CollusionMeasure:
    """Measure collusion in words: what two seats gain by talk against the others, in public and in private.

    The channel of the game itself is not used. In a game that makes partners, such as the spies of the Resistance, the
    pair plays those, whatever `seats` says.

    Args:
        game: Game with talk and three seats or more: `talk(auction(seats=3))`.
        first: First player of the pair, such as `ring(Truthful, partner=1)`.
        second: Second player of the pair.
        others: Player at all other seats.
        seats: Seats of the pair, where the rules do not make partners.
        deals: Number of deals, each played in six ways.
        seed: Seed of all randomness.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    whole("collusion", "deals", deals, 2)
    whole("collusion", "seed", seed, 0)
    pair = _pair(seats)
    with serving(engine), counting_outcomes() as outcomes:
        made = talk_of(as_game(game), "collusion")
        with show_progress(len(CHANNELS) * len(ARMS), shown=progress) as step:
            found = {
                channel: _measure_pair(on_channel(made, channel), (first, second, others), pair, deals, seed, step)
                for channel in CHANNELS
            }
        *names, rest = (as_player(player, made).name for player in (first, second, others))
    public, private = (found[channel].by_deal for channel in CHANNELS)
    sizes = {"pair": OTHERS, "others": made.spec.seats - OTHERS}
    secrecy = {who: less(made, sizes[who], private[place], public[place]) for place, who in enumerate(sizes)}
    unit = made.spec.unit.rsplit(" a ", 1)[0]
    pair_names = (names[0], names[1])
    return CollusionMeasure(describe(made), pair_names, rest, unit, deals, found, secrecy, outcomes=outcomes)


def _measure_pair(
    talk: Talk,
    named: tuple[PlayerLike, PlayerLike, PlayerLike],
    pair: tuple[Seat, Seat],
    deals: int,
    seed: int,
    step: Step,
) -> Collusion:
    players: tuple[Player, ...] = tuple(as_player(player, talk) for player in named)
    three = (players[0], players[1], players[2])
    return collusion_of(talk, three, pair, deals, Key(seed), lambda arm: step(f"{talk.channel}, {arm}"))


def _pair(seats: Sequence[Seat]) -> tuple[Seat, Seat]:
    if not isinstance(seats, Sequence) or len(seats) != 2:
        raise BadParameter(f"collusion needs `seats` as two seats, such as (0, 1), not {seats!r}.")
    return seats[0], seats[1]
