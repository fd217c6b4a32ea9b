"""Exact figures of a speaker to a believer in the negotiation over items of one round."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.negotiation_v2 import ITEMS, VALUE_SPLITS, Bundle, bundle_of, fits, value_of
from stratagem.games.negotiation_v2.players import rank_items
from stratagem.games.talk import SILENT, Talk, TalkState
from stratagem.measure.policies import stated_policies
from stratagem.measure.talk.exact_source import Meaning, Meanings, SignallingSource
from stratagem.measure.talk.figures import TalkFigures, talk_figures
from stratagem.measure.talk.signalling import Deal, Returns, Signalling
from stratagem.players.base import Mix
from stratagem.players.catalogue import make_player

MOST = 2
GAME = f"talk(negotiation-v2(rounds=1, most={MOST}), before=round, intents=[state])"
"""Game of recipes/press/negotiation.toml."""
READER = "believer(FairNeg)"


class Draw(NamedTuple):
    """Pool, the speaker's values, and the item that its reader values most: all that the reader's demand depends on."""

    pool: Bundle
    values: Bundle
    top: int


class Type(NamedTuple):
    """Probability and mean values of the readers that value one item most."""

    share: float
    values: tuple[float, ...]
    example: Bundle


def negotiation_figures(speaker: str) -> TalkFigures[float]:
    """Compute the figures of a speaker's message to a believer."""
    game = make_game(GAME)
    assert isinstance(game, Talk)
    readers = types(game)
    pools = list(product(range(1, MOST + 1), repeat=len(ITEMS)))
    prior = {
        Draw(pool, values, top): kind.share / len(pools) / len(VALUE_SPLITS)
        for pool, values, (top, kind) in product(pools, VALUE_SPLITS, readers.items())
    }
    owns = list(product(pools, VALUE_SPLITS))
    said: dict[Hashable, Mix] = dict(
        zip(owns, policies(game, speaker, [position(game, *own).view(0) for own in owns]), strict=True)
    )
    lines = (SILENT, *meanings(prior))
    heard = {own: [after(game, *own, line).view(0) for line in lines] for own in owns}
    moves = policies(game, speaker, [view for views in heard.values() for view in views])
    demands = {(own, line): next(moves) for own in owns for line in lines}
    answers = dict(answered(game, pools, readers, lines))

    def returns(deal: Deal, message: str, action: str) -> Returns:
        assert isinstance(deal, Draw)
        taken, gains = bundle_of(action), readers[deal.top].values
        own, deals = 0.0, 0.0
        for demand, p in demands[(deal.pool, deal.values), message].items():
            if fits(bundle_of(demand), taken, deal.pool):
                own, deals = own + p * value_of(bundle_of(demand), deal.values), deals + p
        return own, deals * sum(count * gain for count, gain in zip(taken, gains, strict=True))

    def speaker_sees(deal: Deal) -> Hashable:
        assert isinstance(deal, Draw)
        return deal.pool, deal.values

    def receiver_sees(deal: Deal) -> Hashable:
        assert isinstance(deal, Draw)
        return deal.pool, deal.top

    talk = Signalling(dict[Deal, float](prior.items()), said, answers, returns, speaker_sees, receiver_sees)
    return talk_figures(SignallingSource(talk, meanings(prior), (SILENT,)))


def types(game: Talk) -> Mapping[int, Type]:
    """Return the readers by the item that they value most; of equal ones it is the first, as for FairNeg."""
    found: dict[int, list[Bundle]] = {}
    for values in VALUE_SPLITS:
        facts = position(game, (1, 1, 1), values).inner.view(0).facts
        found.setdefault(rank_items(facts)[0], []).append(values)
    means = {top: tuple(fmean(column) for column in zip(*own, strict=True)) for top, own in found.items()}
    return {top: Type(len(own) / len(VALUE_SPLITS), means[top], own[0]) for top, own in found.items()}


def meanings(prior: Mapping[Draw, float]) -> Meanings:
    """Return in which deals each statement is true."""
    return {
        f"I value the {item} most": Meaning(
            frozenset(deal for deal in prior if deal.values[place] == max(deal.values)), "most valued item"
        )
        for place, item in enumerate(ITEMS)
    }


def position(game: Talk, pool: Bundle, values: Bundle, theirs: Bundle = VALUE_SPLITS[0]) -> TalkState:
    """Return the position in which seat 0 speaks, with these values of both seats."""
    state = game.start(Key(0))
    assert isinstance(state, TalkState)
    inner: Any = state.inner
    inner.pool, inner.values = pool, (values, theirs)
    return state


def after(game: Talk, pool: Bundle, values: Bundle, line: str, theirs: Bundle = VALUE_SPLITS[0]) -> TalkState:
    """Return the position after a message of seat 0 and silence of seat 1."""
    state = position(game, pool, values, theirs)
    state.play({0: line, 1: SILENT})
    return state


def policies(game: Talk, player: str, views: list[Any]) -> Iterator[Mix]:
    """Yield a player's policy in each view."""
    for mix in stated_policies(make_player(player, game), views):
        yield {action: p for action, p in mix.items() if action is not None}


def answered(
    game: Talk, pools: list[Bundle], readers: Mapping[int, Type], lines: tuple[str, ...]
) -> Iterator[tuple[tuple[Any, str], Mix]]:
    """Yield the reader's policy by the pool, its most valued item and the message."""
    known = list(product(pools, readers, lines))
    views = [after(game, pool, VALUE_SPLITS[0], line, readers[top].example).view(1) for pool, top, line in known]
    for (pool, top, line), mix in zip(known, policies(game, READER, views), strict=True):
        yield ((pool, top), line), mix
