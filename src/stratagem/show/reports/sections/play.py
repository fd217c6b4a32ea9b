"""Section of episodes at the start and at the end of training, with the replies by kind of token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from stratagem.base.errors import StratagemError
from stratagem.base.number_texts import number
from stratagem.language.engines.base import Call
from stratagem.playing.records import Decision, Episode
from stratagem.playing.store import read_episodes, shards
from stratagem.show.html import Html, element, join
from stratagem.show.reports.replies import KINDS, Decode, decoder, pieces
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, fold_element, missing
from stratagem.show.reports.stages import played_by

AGENT = 0
"""Slot of the agent: the learner is the first player of its matches."""


class RecordedEpisode(NamedTuple):
    """Episode and the number of its shard."""

    shard: int
    episode: Episode


class EpisodePair(NamedTuple):
    """Two episodes of one opponent and seat, at the start and at the end; the second is None in a run of one shard."""

    start: RecordedEpisode
    end: RecordedEpisode | None


def opponents_of(episode: Episode) -> tuple[str, ...]:
    """Return the agent's opponents, without versions."""
    seat = episode.seat_of(AGENT)
    return tuple(name.rpartition("@")[0] or name for index, name in enumerate(episode.players) if index != seat)


def chosen_play(data: RunData) -> list[EpisodePair]:
    """Choose a pair for each opponent to show; nothing without a readable record."""
    try:
        numbers = shards(data.run.record)
        if not numbers:
            return []
        early = list(read_episodes(data.run.record, numbers[:1]))
        late = list(read_episodes(data.run.record, numbers[-1:])) if len(numbers) > 1 else []
    except StratagemError as error:
        data.broken["record"] = str(error)
        return []
    return [_pair_up(numbers[0], episode, numbers[-1], _alike(episode, late)) for episode in _choose_episodes(early)]


def _pair_up(first: int, start: Episode, last: int, end: Episode | None) -> EpisodePair:
    return EpisodePair(RecordedEpisode(first, start), None if end is None else RecordedEpisode(last, end))


def _choose_episodes(episodes: Sequence[Episode]) -> list[Episode]:
    """Choose the first episode of each game against its first and its last opponent."""
    games: dict[str, dict[tuple[str, ...], Episode]] = {}
    for episode in episodes:
        if AGENT in episode.slots:
            games.setdefault(episode.game, {}).setdefault(opponents_of(episode), episode)
    return [episode for by_opponents in games.values() for episode in _ends(list(by_opponents.values()))]


def _ends(episodes: list[Episode]) -> list[Episode]:
    return episodes if len(episodes) < 2 else [episodes[0], episodes[-1]]


def _alike(episode: Episode, others: Sequence[Episode]) -> Episode | None:
    """Find the first episode of the same game and seat against the same opponents."""
    same = [other for other in others if other.game == episode.game and other.slots == episode.slots]
    return next((other for other in same if opponents_of(other) == opponents_of(episode)), None)


_LONGEST = 4000
_NARROW = 80


def play(data: RunData) -> Section:
    """Make the section for two opponents of each game."""
    pairs = chosen_play(data)
    decode = decoder(data.run.path.resolve())
    shown = join(_legend(pairs, decode), *(_pair(data, pair, decode, first=pair is pairs[0]) for pair in pairs))
    return Section(
        name="play",
        title="Episodes",
        shows="Episodes against the first and the last opponent of each game, at the start and at the end of training.",
        body=shown if pairs else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    yet = "" if data.status.state == "finished" else " yet"
    return data.broken.get("record", f"No episode is recorded{yet}.")


def _legend(pairs: list[EpisodePair], decode: Decode | None) -> Html:
    """Explain the kinds of text that occur."""
    episodes = [played.episode for pair in pairs for played in pair if played is not None]
    calls = [call for episode in episodes for row in episode.decisions for call in row.calls]
    kinds = {piece.kind for call in calls for piece in pieces(call, decode)}
    marks = [element("span", element("mark", kind, class_=kind), f" {KINDS[kind]}") for kind in KINDS if kind in kinds]
    return element("p", join(*marks, by=" "), class_="legend kinds") if marks else Html("")


def _pair(data: RunData, pair: EpisodePair, decode: Decode | None, *, first: bool) -> Html:
    """Write a pair of episodes, folded except for the first, since matches are long."""
    against = " and ".join(opponents_of(pair.start.episode))
    cards = [
        _episode(f"{when}: {played_by(data, played.shard, played.episode.id)}", played.episode, decode)
        for when, played in (("Start", pair.start), ("End", pair.end))
        if played is not None
    ]
    title = element("summary", element("h3", f"{pair.start.episode.game} against {against}"))
    return element("details", title, element("div", *cards, class_="cards"), open=first)


def _episode(when: str, episode: Episode, decode: Decode | None) -> Html:
    agent = episode.seat_of(AGENT)
    payoff = f"payoff {number(episode.payoffs[agent], 2)}" if episode.payoffs else "no payoff"
    head = element(
        "header", element("strong", when), f" seat {agent}, {payoff}", element("small", episode.id, class_="id")
    )
    rounds = groupby(episode.decisions, key=lambda row: row.round)
    listed = element("ol", *(_round(episode, index, list(rows), decode) for index, rows in rounds), class_="rounds")
    return element("article", head, _prompt(episode), listed)


def _prompt(episode: Episode) -> Html:
    """Write the agent's first prompt."""
    first = next((row.calls[0] for row in episode.decisions if row.slot == AGENT and row.calls), None)
    if first is None or not first.prompt.messages:
        return Html("")
    messages = [
        element("div", element("b", role), element("pre", _cut(words))) for role, words in first.prompt.messages
    ]
    return fold_element("First prompt", element("div", *messages, class_="prompt"))


def _round(episode: Episode, index: int, rows: list[Decision], decode: Decode | None) -> Html:
    marks = [element("div", *_decision(row, decode), class_="agent" if row.slot == AGENT else "other") for row in rows]
    if (paid := episode.paid_in(index)) is not None:
        marks.append(element("div", f"payoff {number(paid[episode.seat_of(AGENT)], 2)}", class_="payoff"))
    return element("li", *marks)


def _decision(row: Decision, decode: Decode | None) -> Iterator[Html]:
    yield element("span", "agent" if row.slot == AGENT else "opponent", class_="who")
    yield element("span", _situation(row), class_="situation")
    yield from (_call(call, decode) for call in row.calls)
    if row.action is None:
        yield element("span", f"{row.how}: {_cut(row.said or 'no reply')}", class_="bad")
    elif not row.calls or row.calls[-1].text.strip() != row.action:
        yield element("b", row.action)
    if row.how not in ("scripted", "constrained", "free"):
        yield element("small", row.how, class_="doubt")


def _situation(row: Decision) -> str:
    words = " ".join(row.state_key.split())
    return words if len(words) <= _NARROW else f"{words[:_NARROW]}\u2026"


def _call(call: Call, decode: Decode | None) -> Html:
    if call.failed:
        return element("span", f"no reply: {_cut(call.text)}", class_="bad")
    marks = [element("mark", _cut(piece.text), class_=piece.kind) for piece in pieces(call, decode)]
    ended = {"length": " truncated", "refusal": " refused", "filter": " filtered"}.get(call.finish)
    cut = element("small", ended, class_="doubt") if ended else Html("")
    return element("span", *marks, cut, class_="reply", dir="auto")


def _cut(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}\u2026 ({len(words) - _LONGEST} more characters)"
