"""Price of play on from a position, before it is played: calls of models, tokens, and money where prices are known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stratagem.games.base import Json, Seat
from stratagem.games.key import Key
from stratagem.language.decoding.guides import OneToken
from stratagem.language.engines.remote.budget import largest_cost
from stratagem.language.engines.remote.tally import prices_of
from stratagem.language.models.reference import parse_model
from stratagem.players.base import Player
from stratagem.players.members import innermost, members_of
from stratagem.show.viewer.positions import RecordedTurn

_SPARE = 2
"""Calls that may be sent, as a multiple of those that are expected: a branch may be longer than what was recorded."""


class Price(NamedTuple):
    """Expected cost of a job."""

    calls: int
    most_calls: int
    """Number of calls after which a job is ended, so that a click accepts no more."""
    tokens: int
    """Tokens of prompts, and of replies of full length."""
    money: float | None
    """None where a price is not known, or nothing is billed."""
    currency: str
    servers: bool
    """True if a model is behind a server."""
    players: tuple[str, ...]
    """Players that call models or programs."""

    def to_json(self) -> Json:
        """Return every field by name."""
        return self._asdict()


class _Cost(NamedTuple):
    """Cost of one decision."""

    tokens: float
    money: float | None
    currency: str
    server: bool


def price_of(position: RecordedTurn, seats: Iterable[tuple[Seat, Player]], times: int) -> Price | None:
    """Return the price of playing on `times` times with these players, a seat each; None where it is free.

    A seat is expected to decide as often as it did after this turn in the record.
    """
    asked = [(seat, player) for seat, player in seats if calls_models(player)]
    if not asked:
        return None
    counts = [times * _decisions(position, seat) for seat, _ in asked]
    costs = [_cost(position, seat, player) for seat, player in asked]
    return _total(counts, costs, tuple(dict.fromkeys(player.name for _, player in asked)), position)


def calls_models(player: Player) -> bool:
    """Return whether a player, or the one that it goes around, asks a model or a program outside."""
    player = innermost(player)
    return members_of(player).model_use() is not None or not player.traits.repeats


def _decisions(position: RecordedTurn, seat: Seat) -> int:
    later = {row.turn for row in position.episode.decisions if row.seat == seat and row.turn >= position.turn}
    return max(1, len(later))


def _total(counts: Sequence[int], costs: Sequence[_Cost], players: tuple[str, ...], position: RecordedTurn) -> Price:
    calls = sum(counts)
    billed = [cost for cost in costs if cost.server]
    known = bool(billed) and all(cost.money is not None for cost in billed)
    money = sum(count * (cost.money or 0.0) for count, cost in zip(counts, costs, strict=True)) if known else None
    return Price(
        calls=calls,
        most_calls=_SPARE * calls * (1 + position.state.game.spec.retries),
        tokens=math.ceil(sum(count * cost.tokens for count, cost in zip(counts, costs, strict=True))),
        money=money,
        currency=next((cost.currency for cost in billed if cost.currency), ""),
        servers=bool(billed),
        players=players,
    )


def _cost(position: RecordedTurn, seat: Seat, player: Player) -> _Cost:
    """Return the cost of a decision like the one that a seat made here, or makes next."""
    use = members_of(innermost(player)).model_use()
    if use is None:
        return _Cost(0.0, None, "", server=True)
    to_act = position.state.to_act
    speaker = use.speaker
    prompt = speaker.prompt(position.state.view(seat if seat in to_act else to_act[0]))
    cost = largest_cost(speaker.ask(prompt, OneToken(), Key(0), speaker.max_new_tokens))
    ref = parse_model(use.model) if use.model else None
    if ref is None or ref.kind != "api":
        return _Cost(len(prompt.tokens) + cost.reply, None, "", server=False)
    prices = prices_of(ref.where)
    return _Cost(
        cost.prompt + cost.reply,
        None if prices is None else prices.of(cost.prompt, cost.reply),
        "" if prices is None else prices.currency,
        server=True,
    )
