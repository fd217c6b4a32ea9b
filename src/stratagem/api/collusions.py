"""Collusion in words: `collusion` measures what two seats gain by talk against the others, over both channels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player
from stratagem.api.result import Result, remarks_on
from stratagem.api.serving import serving
from stratagem.engines.outcomes import OutcomesByModel, counting_outcomes
from stratagem.errors import BadParameter
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.talk.collusion import OTHERS, Collusion, Gain, collusion_of, less, on_channel
from stratagem.games.base import Json, Seat
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.talk import Talk
from stratagem.options import whole
from stratagem.players.base import Player
from stratagem.players.given import GameLike, as_game
from stratagem.players.talkers import talk_of
from stratagem.show.cells import few_deals, text_of
from stratagem.show.table import Numbers, Table, text_table

__all__ = ["CollusionMeasure", "collusion"]

CHANNELS = ("public", "private")
_ARMS = {"talk": "with talk", "jammed": "channel jammed", "gain": "talk less jammed", "null": "shuffled less jammed"}


@dataclass(frozen=True, repr=False)
class CollusionMeasure(Result):
    """Returns of a pair and of the others by channel, with talk and without. There is no picture."""

    game: str
    pair: tuple[str, str]
    others: str
    unit: str
    deals: int
    channels: dict[str, Collusion]
    """Figures by channel."""
    secrecy: dict[str, Estimate]
    """Returns over the private channel less those over the public one, with talk: of the pair, and of the others."""
    outcomes: OutcomesByModel = field(default_factory=OutcomesByModel)
    """Requests behind the figures by model: their number, and how many had no reply, were refused or filtered."""

    def rows(self) -> list[Json]:
        """Return one row for each figure."""
        names = {"game": self.game, "first": self.pair[0], "second": self.pair[1], "others": self.others}
        figures = [
            (channel, who, figure, estimate)
            for channel, found in self.channels.items()
            for who in ("pair", "others")
            for figure, estimate in vars(getattr(found, who)).items()
        ]
        figures += [("private less public", who, "talk", estimate) for who, estimate in self.secrecy.items()]
        requests = self.outcomes.to_json()
        return [
            {**names, "channel": channel, "who": who, "figure": figure, **asdict(estimate), "requests": requests}
            for channel, who, figure, estimate in figures
        ]

    def to_json(self) -> list[Json]:
        """Return the rows, as `stratagem collusion --json` prints them."""
        return self.rows()

    def tables(self) -> list[Table]:
        rows = [
            (f"{name}, {meant}", *(getattr(self._gain(channel, who), arm) for channel in self.channels))
            for who, name in (("pair", "the pair"), ("others", "the others"))
            for arm, meant in _ARMS.items()
        ]
        first, second = self.pair
        title = f"{first} and {second} against {self.others} in {self.game}, {self.unit}, {self.deals} deals"
        return [text_table(title, ("", *(Numbers(f"{channel} channel") for channel in self.channels)), rows)]

    def _gain(self, channel: str, who: str) -> Gain:
        gain: Gain = getattr(self.channels[channel], who)
        return gain

    def remarks(self) -> list[str]:
        """Say what the figures are."""
        pair, others = (text_of(self.secrecy[who]) for who in ("pair", "others"))
        return [
            "Returns are sums over the game and over the seats of each side, with 95 % intervals over deals. All "
            "columns and all rows have the same deals and the same dice. A jammed channel delivers silence to all. "
            "Shuffled: the pair's messages are those of another deal, so their level is that of words without a "
            f"meaning. With talk, private less public: the pair {pair}, the others {others}.",
            *few_deals(self.secrecy.values()),
            *remarks_on(self.outcomes),
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
) -> CollusionMeasure:
    """Measure what two seats gain by talk, and what the others lose, in a game of three seats or more.

    The game is one with talk, such as `talk(auction(seats=3))`; its own channel is not used. In a game that makes
    partners, such as the spies of the Resistance, the pair plays those, whatever `seats` says.
    """
    whole("collusion", "deals", deals, 2)
    whole("collusion", "seed", seed, 0)
    pair = _pair(seats)
    with serving(engine), counting_outcomes() as outcomes:
        made = talk_of(as_game(game), "collusion")
        found = {
            channel: _measured(on_channel(made, channel), (first, second, others), pair, deals, seed)
            for channel in CHANNELS
        }
        names = [as_player(player, made).name for player in (first, second, others)]
    public, private = (found[channel].by_deal for channel in CHANNELS)
    sizes = {"pair": OTHERS, "others": made.spec.seats - OTHERS}
    secrecy = {who: less(made, sizes[who], private[place], public[place]) for place, who in enumerate(sizes)}
    unit = made.spec.unit.rsplit(" a ", 1)[0]
    return CollusionMeasure(describe(made), (names[0], names[1]), names[2], unit, deals, found, secrecy, outcomes)


def _measured(
    talk: Talk, named: tuple[PlayerLike, PlayerLike, PlayerLike], pair: tuple[Seat, Seat], deals: int, seed: int
) -> Collusion:
    players: tuple[Player, ...] = tuple(as_player(player, talk) for player in named)
    return collusion_of(talk, (players[0], players[1], players[2]), pair, deals, Key(seed))


def _pair(seats: Sequence[Seat]) -> tuple[Seat, Seat]:
    if not isinstance(seats, Sequence) or len(seats) != 2:
        raise BadParameter(f"collusion needs `seats` as two seats, such as (0, 1), not {seats!r}.")
    return seats[0], seats[1]
