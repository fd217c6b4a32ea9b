"""Section of episodes at the start and at the end of training, with the replies by kind of token."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from stratagem.base.number_texts import number
from stratagem.language.engines.base import Call
from stratagem.playing.records import Decision, Episode
from stratagem.show.html import Html, element, join
from stratagem.show.reports.chosen_play import AGENT, EpisodePair, chosen_play, opponents_of
from stratagem.show.reports.replies import KINDS, Decode, decoder, pieces
from stratagem.show.reports.run_data import RunData
from stratagem.show.reports.section import Section, fold_element, missing
from stratagem.show.reports.stages import played_by

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
