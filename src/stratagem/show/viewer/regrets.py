"""Exploitability by information set as data: the policy beside an equilibrium, the best response, and the regret."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from stratagem.base.errors import BadParameter, CannotCompute, StratagemError
from stratagem.games.base import Json
from stratagem.games.catalogue import describe
from stratagem.games.key import Key
from stratagem.games.tree import GameTree
from stratagem.measure.audit.card import FILE, read_card
from stratagem.measure.audit.plan import RECORDS
from stratagem.measure.set_regrets import SetRegrets, set_regrets
from stratagem.measure.tree_policy import Floats
from stratagem.players.tabular import TablePlayer
from stratagem.playing.match import Match
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.parameters import number
from stratagem.show.viewer.replays import replay_episode
from stratagem.show.viewer.subjects import ReplaySubject, equilibrium_of, policies_of, subject_of

ORDERS = ("regret", "leak", "reach", "game")
"""Orders of the list; the last is that of the game."""
_DEALS = 2000
"""Largest number of deals in which a line of play is looked for."""
_WORST, _MOST = 10, 200
"""Numbers of information sets of a page: where a request does not say, and at most."""
_MET = 12
"""Number of deals with the information set, of which the one that pays most is shown."""


def list_regrets(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the information sets of a policy, by what they lose."""
    limit = max(1, min(number(asked, "limit", _WORST), _MOST))
    page = regrets_page(subject_of(library, asked), asked.get("order") or "regret", number(asked, "offset", 0), limit)
    return {**page, "audit": audited_figure(library, asked.get("record", ""), asked.get("player", ""))}


def show_line(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the line of play that exploits a policy at an information set."""
    return replay_episode(exploiting_line(subject_of(library, asked), number(asked, "set", 0)))


def regrets_page(subject: ReplaySubject, order: str, offset: int, limit: int) -> Json:
    """Return the page of a policy: its figures, and a part of the list of information sets."""
    if order not in ORDERS:
        raise BadParameter(f"`order` is one of {', '.join(ORDERS)}, not {order[:20]!r}.")
    equilibrium, source = equilibrium_of(subject)
    figures = set_regrets(subject.oracle, subject.policy, equilibrium)
    numbers = _order_sets(figures, order)
    return {
        "title": subject.title,
        "game": describe(subject.tree.game),
        "unit": subject.tree.game.spec.unit,
        "exploitability": figures.total,
        "values": (subject.tree.expected_returns(subject.policy)[0]).tolist(),
        "total": len(numbers),
        "equilibrium": source if equilibrium is not None else None,
        "why_no_equilibrium": "" if equilibrium is not None else source,
        "replies": None if subject.replies is None else int(subject.replies.sum()),
        "unseen": 0 if subject.replies is None else int((subject.replies == 0).sum()),
        "offset": offset,
        "sets": [_row(subject, figures, equilibrium, number) for number in numbers[offset : offset + limit]],
    }


def _order_sets(figures: SetRegrets, order: str) -> list[int]:
    """Return the numbers of the information sets, the worst first."""
    leaks = figures.regrets if figures.leaks is None else figures.leaks
    column = {"regret": figures.regrets, "leak": leaks, "reach": figures.reach}.get(order)
    if column is None:
        return list(range(len(figures.reach)))
    return [int(number) for number in np.argsort(-column, kind="stable")]


def _row(subject: ReplaySubject, figures: SetRegrets, equilibrium: Floats | None, number: int) -> Json:
    tree = subject.tree
    known, own = tree.information_sets[number], slice(int(tree.slots[number]), int(tree.slots[number + 1]))
    return {
        "number": number,
        "seat": known.seat,
        "situation": known.view.situation,
        "info_key": known.view.info_key,
        "actions": known.actions,
        "policy": subject.policy[own].tolist(),
        "equilibrium": None if equilibrium is None else equilibrium[own].tolist(),
        "answer": int(figures.answers[number]),
        "reach": float(figures.reach[number]),
        "regret": float(figures.regrets[number]),
        "leak": None if figures.leaks is None else float(figures.leaks[number]),
        "replies": None if subject.replies is None else int(subject.replies[number]),
    }


def exploiting_line(subject: ReplaySubject, number: int) -> Episode:
    """Play the policy against itself, but from one information set on its seat answers by its best response.

    Of the first deals that reach the set the one is returned that pays the seat most.
    """
    tree = subject.tree
    if not 0 <= number < len(tree.information_sets):
        raise BadParameter(f"`set` is a number from 0 to {len(tree.information_sets) - 1}, not {number}.")
    known = tree.information_sets[number]
    met = list(_games_reaching(subject, number))
    if not met:
        raise CannotCompute(f"No game in {_DEALS:,} deals comes to {known.view.info_key!r}.")
    shown = max(met, key=lambda episode: episode.payoffs[known.seat])
    names = [f"best response from {known.view.info_key} on", *[subject.title] * (len(shown.slots) - 1)]
    return replace(shown, players=tuple(names[slot] for slot in shown.slots))


def _games_reaching(subject: ReplaySubject, number: int) -> Iterator[Episode]:
    """Yield the first games that reach an information set."""
    tree, known = subject.tree, subject.tree.information_sets[number]
    agent = TablePlayer(_check_policy(tree, subject.policy))
    exploiter = TablePlayer(_exploiting(subject, number))
    match = Match(tree.game, [exploiter, *[agent] * (tree.game.spec.seats - 1)])
    found = 0
    for episode in play(rotate_seats(match, _DEALS, Key(0), name="line")):
        if episode.seat_of(0) == known.seat and any(
            row.seat == known.seat and row.info_key == known.view.info_key for row in episode.decisions
        ):
            found += 1
            yield episode
        if found == _MET:
            return


def _exploiting(subject: ReplaySubject, number: int) -> Mapping[str, Mapping[str, float]]:
    """Return the policy, with the best response in an information set and in those that follow it."""
    tree, changed = subject.tree, subject.policy.copy()
    answers = set_regrets(subject.oracle, subject.policy).answers
    for later in _following(tree, number):
        first = int(tree.slots[later])
        changed[first : int(tree.slots[later + 1])] = 0.0
        changed[first + int(answers[later])] = 1.0
    return _check_policy(tree, changed)


def _following(tree: GameTree, number: int) -> set[int]:
    """Return an information set with those of its seat that come after it."""
    after = {number}
    for later, known in enumerate(tree.information_sets):
        if known.before is not None and known.before[0] in after:
            after.add(later)
    return after


def _check_policy(tree: GameTree, policy: Floats) -> dict[str, dict[str, float]]:
    """Return a policy by information key; refused where two seats share a key and play it differently."""
    table = policies_of(tree, policy)
    for known, first in zip(tree.information_sets, tree.slots[:-1], strict=True):
        mix = table[known.view.info_key]
        if not all(math.isclose(policy[first + place], mix[a], abs_tol=1e-9) for place, a in enumerate(known.actions)):
            raise CannotCompute(
                f"Two seats of {tree.game.spec.name} share {known.view.info_key!r}, so no line is shown."
            )
    return table


def audited_figure(library: Library, record: str, player: str) -> Json | None:
    """Return the figure with its limits and the episode that shows it; None where the record is of no audit."""
    if not record:
        return None
    folder = library.record(record)
    card = folder.parent.parent / FILE
    if folder.parent.name != RECORDS or not card.is_relative_to(library.root) or not card.is_file():
        return None
    try:
        found = read_card(card)
    except StratagemError:
        return None
    if player.rpartition("@")[0] != found.agent:
        return None
    figures = [one for one in found.figures if one.name.endswith(".exploitability")]
    own = [one for one in figures if one.record == f"{RECORDS}/{folder.name}" or len(figures) == 1]
    if not own:
        return None
    names = ("value", "lower", "upper", "interval", "n", "episode", "unit")
    return {name: getattr(own[0], name) for name in names}
