"""All figures of messages by play, as estimates with intervals and levels of chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stratagem.evaluation.matchups import Matchup
from stratagem.evaluation.metrics import METRICS, Sample
from stratagem.evaluation.metrics.keeping import Held, mean_of, shuffled_keeping
from stratagem.evaluation.statistics import Estimate
from stratagem.evaluation.talk.asking import Asker, Position
from stratagem.evaluation.talk.instead import instead
from stratagem.evaluation.talk.ledger import Bound
from stratagem.evaluation.talk.sampled_talk import Plan, TalkPlay
from stratagem.games.base import Seat
from stratagem.games.talk import SILENT, Talk
from stratagem.play.records import Episode
from stratagem.players.base import Player


@dataclass(frozen=True)
class Level:
    """Estimate beside its level of chance."""

    estimate: Estimate | None
    chance: float | None = None


@dataclass(frozen=True)
class SampledTalkFigures:
    """Figures of a speaker's messages in all exchanges, by play."""

    messages: Level
    honesty: Level
    keeping: Level
    keeping_lift: Level
    met: Level
    met_lift: Level
    effect: Level
    """Total variation of the readers' first move against silence in their views, less that of the placebo."""
    placebo: Level
    """Total variation between replies to the same message; 0 where the readers state their probabilities."""
    speaker_gain_by_reader: Level
    reader_gain_by_reader: Level
    speaker_gain_by_table: Level
    reader_gain_by_table: Level
    speaker_gain_by_lie: Level
    """Gain of a false statement over a true one of its form; it deceives if it is above 0, and the readers' below."""
    reader_gain_by_lie: Level
    speaker_return: Level
    reader_return: Level
    gullibility: Level

    def to_json(self) -> dict[str, Any]:
        """Return every field by name."""
        return asdict(self)


def sampled_figures(game: Talk, speaker: Player, reader: Player, seat: Seat, plan: Plan) -> SampledTalkFigures:
    """Play a speaker at one seat with readers at the others, and estimate all figures."""
    table = TalkPlay(game, speaker, reader, seat, plan)
    sample = Sample(game, (Matchup(reader.name, 1, ("opponents",), tuple(table.episodes)),))
    told = {name: Level(METRICS[name].measure(sample), METRICS[name].null(sample)) for name in ("messages", "honesty")}
    promises, requests = _held(table, speaker, promised=True), _held(table, reader, promised=False)
    effect, gains, returns = table.effect(), table.gains(), table.returns()
    by = {f"{who}_gain_by_{arm}": Level(pair[n], 0.0) for arm, pair in gains.items() for n, who in enumerate(_SIDES)}
    return SampledTalkFigures(
        messages=told["messages"],
        honesty=told["honesty"],
        keeping=Level(mean_of(promises, lifted=False), shuffled_keeping(promises)),
        keeping_lift=Level(mean_of(promises, lifted=True), 0.0),
        met=Level(mean_of(requests, lifted=False), shuffled_keeping(requests)),
        met_lift=Level(mean_of(requests, lifted=True), 0.0),
        effect=Level(effect and effect.effect, 0.0),
        placebo=Level(effect and effect.placebo),
        speaker_return=Level(returns[0]),
        reader_return=Level(returns[1]),
        gullibility=Level(table.gullibility(), 0.0),
        **by,
    )


_SIDES = ("speaker", "reader")


def _held(table: TalkPlay, player: Player, *, promised: bool) -> list[Held]:
    """Return what the speaker's promises, or its requests, have bound, with the policy of who is bound.

    One that states no probabilities is asked about the drawn messages alone.
    """
    key = table.plan.key.at("held", table.seat, int(promised))
    asker = Asker(player, key, table.plan.replies, table.plan.queue)
    bound = _bound(table, promised=promised, all_messages=asker.states)
    seen = [_position(one) for _, one in bound]
    if not bound:
        return []
    pairs = zip(seen, bound, strict=True)
    unheard = [at._replace(state=instead(at.state, one.said.place, SILENT)) for at, (_, one) in pairs]
    mixes = zip(asker.mixes(seen, "message"), asker.mixes(unheard, "silence"), strict=True)
    return [Held(episode, one, *mix) for (episode, one), mix in zip(bound, mixes, strict=True)]


def _bound(table: TalkPlay, *, promised: bool, all_messages: bool) -> Sequence[tuple[Episode, Bound]]:
    drawn = {id(one.said) for one in table.drawn}
    found = []
    for episode, book in zip(table.episodes, table.books, strict=True):
        for one in book.promises if promised else book.requests:
            mine = one.said.seat == table.seat and one.outcome in ("kept", "broken")
            if mine and (all_messages or id(one.said) in drawn):
                found.append((episode, one))
    return found


def _position(bound: Bound) -> Position:
    assert bound.state is not None
    return Position(bound.state, bound.seat, bound.turn)
