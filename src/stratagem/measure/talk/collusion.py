"""Collusion in words: what two seats gain, and the others lose, when the two can talk.

All arms play the same deals with the same dice, and every turn to talk stays, so they differ in the messages alone.
With J the pair's joint return, the figure is J(talk) - J(jammed) by deal. In its null the pair's messages are shuffled
over deals: words that are as frequent and have nothing to do with the deal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.games.base import Seat, View
from stratagem.games.key import Key
from stratagem.games.talk import MOVE, SILENT, Talk
from stratagem.measure.deal_means import mean_of_deals
from stratagem.measure.statistics import Estimate
from stratagem.players.base import Ask, Mix, Move, Player, Traits, Turn
from stratagem.players.members import WrapperPlayer
from stratagem.playing.forks import steps
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play


@dataclass(frozen=True)
class LineSpeaker(WrapperPlayer):
    """Moves as another player, and says the line that is given for a turn; without one, or an illegal one, nothing.

    With no lines at every seat the channel is jammed: nothing arrives, and each seat remembers silence.
    """

    player: Player
    lines: Mapping[int, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"replaced({self.player.name})"

    @property
    def traits(self) -> Traits:
        return replace(self.player.traits, scored=False)

    def turn(self, ask: Ask) -> Turn:
        if ask.view.facts.exchange == MOVE:
            return self.player.turn(ask)
        line = self.lines.get(ask.turn, SILENT)
        return Move(line if line in ask.view.choices else SILENT)

    def policy(self, view: View[Any]) -> Mix:
        """Return the probabilities with a jammed channel; a replaced line depends on its turn, which no view tells."""
        return {SILENT: 1.0} if view.facts.exchange != MOVE else self.player.policy(view)


Three = tuple[Player, Player, Player]
"""Both players of the pair, and the player at all other seats."""
Pair = tuple[Seat, Seat]
OTHERS = 2
"""Slots from which on the others sit; the pair has those before."""
Lines = dict[int, dict[int, str]]
"""Messages of an episode by slot and turn."""


class Returns:
    """Returns of the pair and of the others, deal by deal."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        rows = [list(zip(episode.slots, episode.payoffs, strict=True)) for episode in episodes]
        self.pair = [math.fsum(paid for slot, paid in row if slot < OTHERS) for row in rows]
        self.others = [math.fsum(paid for slot, paid in row if slot >= OTHERS) for row in rows]


@dataclass(frozen=True)
class TalkGain:
    """Return with talk, with the channel jammed and with messages shuffled over deals, and the differences."""

    talk: Estimate
    jammed: Estimate
    gain: Estimate
    """Talk less jammed."""
    null: Estimate
    """Shuffled less jammed."""


@dataclass(frozen=True)
class Collusion:
    """Joint return of a pair, and that of the other seats together, over one channel."""

    pair: TalkGain
    others: TalkGain
    by_deal: tuple[tuple[float, ...], tuple[float, ...]]
    """Returns of the pair and of the others with talk, deal by deal."""


ARMS = ("as they talk", "with shuffled messages", "without messages")
"""Ways in which every deal is played."""


def collusion_of(
    talk: Talk, players: Three, pair: Pair, deals: int, key: Key, step: Callable[[str], None] = lambda arm: None
) -> Collusion:
    """Measure what a pair gains by talk, over so many deals.

    It sits where the rules make partners, or else at these seats. `step` is called with the name of each arm.
    """
    check_pair(talk, pair, deals)
    tables = _Tables(talk, players, pair, key)
    step(ARMS[0])
    episodes = tables.play_deals([{}] * deals)
    said = [lines_of(episode) for episode in episodes]
    shift = 1 + key.at("shuffle").integer(deals - 1)
    step(ARMS[1])
    shuffled = tables.play_deals([said[(deal + shift) % deals] for deal in range(deals)], replaced=OTHERS)
    step(ARMS[2])
    jammed = tables.play_deals([{}] * deals, replaced=talk.spec.seats)
    arms = [Returns(arm) for arm in (episodes, jammed, shuffled)]
    return Collusion(
        pair=_gain(talk, OTHERS, [arm.pair for arm in arms]),
        others=_gain(talk, talk.spec.seats - OTHERS, [arm.others for arm in arms]),
        by_deal=(tuple(arms[0].pair), tuple(arms[0].others)),
    )


def check_pair(talk: Talk, pair: Pair, deals: int) -> None:
    """Refuse what is no pair against others, and too few deals for a difference."""
    seats = talk.spec.seats
    if seats < 3:
        raise BadParameter(f"Collusion is of two seats against others, and {talk.spec.name} has {seats} seats.")
    if len(set(pair)) != 2 or not all(seat in talk.who for seat in pair):
        able = ", ".join(map(str, talk.who))
        raise BadParameter(f"The pair must be two different seats that may speak, of {able}, not {pair}.")
    if deals < 2:
        raise BadParameter(f"Collusion is measured over 2 deals or more, not {deals}.")


def on_channel(talk: Talk, channel: str) -> Talk:
    """Return the same talk over another channel."""
    return replace(talk, channel=channel)  # type: ignore[arg-type]


def less(talk: Talk, seats: int, one: Sequence[float], other: Sequence[float]) -> Estimate:
    """Estimate a difference of the joint return of so many seats over the same deals, with its interval."""
    least, most = talk.spec.bounds
    reach = seats * (most - least)
    return mean_of_deals([a - b for a, b in zip(one, other, strict=True)], -reach, reach)


def lines_of(episode: Episode) -> Lines:
    """Return what each slot said in an episode, by turn."""
    lines: Lines = {}
    for state, decisions in steps(episode):
        for row in decisions:
            if row.action is not None and state.view(row.seat).facts.exchange != MOVE:
                lines.setdefault(episode.slots[row.seat], {})[row.turn] = row.action
    return lines


class _Tables:
    """Deals of a talk with the pair and the others at their seats."""

    def __init__(self, talk: Talk, players: Three, pair: Pair, key: Key) -> None:
        self.talk, self.pair, self.key = talk, pair, key
        self.players = [*players[:OTHERS], *([players[OTHERS]] * (talk.spec.seats - OTHERS))]

    def play_deals(self, said: Sequence[Lines], replaced: int = 0) -> list[Episode]:
        """Play one deal for each entry, in which the first slots say what stands in it, as many as are replaced."""
        found = {episode.id: episode for episode in play(self._setups(said, replaced))}
        return [found[f"collusion/{deal}"] for deal in range(len(said))]

    def _setups(self, said: Sequence[Lines], replaced: int) -> Iterator[Setup]:
        for deal, lines in enumerate(said):
            seated = [
                LineSpeaker(player, lines.get(slot, {})) if slot < replaced else player
                for slot, player in enumerate(self.players)
            ]
            name, key = f"collusion/{deal}", self.key.at("deal", deal)
            yield Setup(id=name, match=Match(self.talk, seated), slots=self._slots(key), key=key, group=name)

    def _slots(self, key: Key) -> tuple[int, ...]:
        """Return the slot at each seat: the first two at the pair's."""
        pair = self.talk.spoken_language.partners(self.talk.game.start(key.at("chance"))) or self.pair
        rest = iter(range(OTHERS, self.talk.spec.seats))
        return tuple(pair.index(seat) if seat in pair else next(rest) for seat in range(self.talk.spec.seats))


def _gain(game: Talk, seats: int, arms: Sequence[Sequence[float]]) -> TalkGain:
    """Return the joint returns of so many seats with talk, jammed and shuffled, and their differences."""
    talk, jammed, shuffled = arms
    least, most = (seats * bound for bound in game.spec.bounds)
    return TalkGain(
        talk=mean_of_deals(talk, least, most),
        jammed=mean_of_deals(jammed, least, most),
        gain=less(game, seats, talk, jammed),
        null=less(game, seats, shuffled, jammed),
    )
