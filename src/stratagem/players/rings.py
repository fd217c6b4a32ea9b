"""Rings of bidders: seats of an auction that settle by words who of them bids, and one that listens to them.

The ring is that of Graham and Marshall (1987, "Collusive bidder behavior at single-object second-price and English
auctions", Journal of Political Economy 95), without payments within it: the members tell each other their values, and
only the one with the highest bids in earnest.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import whole
from stratagem.games.auction import BIDS, Auction, AuctionFacts
from stratagem.games.auction.players import shade_bid
from stratagem.games.base import Game, Seat, View
from stratagem.games.talk import MOVE, SILENT, Talk, TalkFacts
from stratagem.games.talk.groups import ValuesAt
from stratagem.players.base import Mix, Traits
from stratagem.players.talkers import TalkingPlayer, check_game, talk_of

_LOW = BIDS[0]


class Confidant(TalkingPlayer):
    """Talker that speaks to one seat alone where that is possible, and else to all."""

    @abstractmethod
    def reader(self, view: View[TalkFacts]) -> Seat:
        """Return the seat that it speaks to."""

    def _mix(self, view: View[TalkFacts], stated: Iterator[Mix]) -> Mix:
        talk = talk_of(view.game, self.label)
        if view.facts.exchange == MOVE:
            return self.moves(talk, view, next(stated))
        texts = self.says(talk, view)
        head = talk.naming.head(self.reader(view)) if talk.addresses and any(texts) else ""
        return {f"{head}{text}" if text else SILENT: p for text, p in texts.items()}


@dataclass(frozen=True)
class Ring(Confidant):
    """Tells its `partner`, a seat, its value; bids as its player if the partner's is lower, and LOW if it is higher.

    Of equal values the lower seat bids. In further exchanges before a bid the one that steps aside promises to bid LOW.
    Without a word from the partner it bids as its player.
    """

    label = "ring"
    partner: Seat = 1

    def __post_init__(self) -> None:
        whole("ring", "partner", self.partner, 0)

    @property
    def name(self) -> str:
        return f"{self.label}({self.player.name}, partner={self.partner})"

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that is no auction, or in which nobody can name a value."""
        super().check(game)
        check_game(self.label, game, {"auction": Auction})
        talk = talk_of(game, self.label)
        if self.partner >= talk.spec.seats:
            raise BadParameter(f"ring needs `partner` as a seat from 0 to {talk.spec.seats - 1}, not {self.partner}.")
        if "state" not in talk.intents:
            raise BadParameter("ring tells its value, so it needs a talk whose `intents` have state.")

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        facts: AuctionFacts = view.facts.inner
        if self.partner == view.seat:
            return {"": 1.0}
        if view.facts.exchange == 0:
            return {f"My value is {facts.value}": 1.0}
        return {f"I will bid at most {_LOW}" if self._steps_aside(talk, view) and "move" in talk.intents else "": 1.0}

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        return {_LOW: 1.0} if self._steps_aside(talk, view) else mix

    def reader(self, view: View[TalkFacts]) -> Seat:
        return self.partner

    def _steps_aside(self, talk: Talk, view: View[TalkFacts]) -> bool:
        """Return whether the partner has named a higher value, or an equal one from a lower seat."""
        value = named_values(talk, view).get(self.partner)
        own = view.facts.inner.value
        return value is not None and (value > own or (value == own and self.partner < view.seat))


class Eavesdropper(TalkingPlayer):
    """Believes the values that it hears, and bids best against a ring of those seats; else it bids as its player.

    It takes it that of the others the highest value bids one tier below, or in a second-price auction itself, and that
    the rest bid LOW. What its player would bid stays where it is as good. It says nothing.
    """

    label = "eavesdropper"

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=self.player.traits.memory, exact=self.player.traits.exact)

    def check(self, game: Game[Any]) -> None:
        """Refuse a game that is no auction."""
        super().check(game)
        check_game(self.label, game, {"auction": Auction})

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0}

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        values = [value for seat, value in named_values(talk, view).items() if seat != view.seat]
        if not values:
            return mix
        assert isinstance(talk.game, Auction)
        top = max(values) if talk.game.price == "second" else shade_bid(max(values))
        others = (top, *([1] * (talk.spec.seats - 2)))
        best = _best(talk.game, view.facts.inner.value, others)
        return mix if all(bid in best for bid, p in mix.items() if p > 0.0) else {best[0]: 1.0}


RINGS: dict[str, type[TalkingPlayer]] = {ring.label: ring for ring in (Ring, Eavesdropper)}
"""Players of auctions with talk, by name."""


def named_values(talk: Talk, view: View[TalkFacts]) -> dict[Seat, int]:
    """Return the value that each seat has named in this round, the last where there are several."""
    said = ((m.sender, talk.spoken_language.read(m.text)) for m in view.facts.of_round if m.text)
    return {seat: intent.value for seat, intent in said if isinstance(intent, ValuesAt)}


def _best(game: Auction, value: int, others: tuple[int, ...]) -> list[str]:
    """Return the best bids at this value against those of the others, from the lowest."""
    earned = [game.payoffs((value,) * game.seats, (tier, *others))[0] for tier in range(1, len(BIDS) + 1)]
    return [bid for bid, payoff in zip(BIDS, earned, strict=True) if payoff == max(earned)]
