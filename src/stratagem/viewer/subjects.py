"""Policies to look at: of a run at a validation, of recorded replies, or of a player that needs no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.errors import BadParameter, CannotCompute, StratagemError, UnknownName
from stratagem.evaluation.equilibria import family_of
from stratagem.evaluation.equilibrium_family import EquilibriumFamily
from stratagem.evaluation.policies import Stated
from stratagem.evaluation.sampled.questions import Floats, Ints, Questions
from stratagem.evaluation.sampled.tally import frequencies
from stratagem.evaluation.tree_policy import Oracle, policy_on, rows_on
from stratagem.games.base import Game, Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.tree import GameTree
from stratagem.play.store import shards
from stratagem.players.catalogue import make_player, player_names
from stratagem.reports.files import Policy
from stratagem.reports.run_data import RunData
from stratagem.runs.folder import RunFolder
from stratagem.viewer.counted_replies import CountedReplies, replies_of
from stratagem.viewer.library import Library
from stratagem.viewer.listing import rows_of, stamp
from stratagem.viewer.model_policies import computed_policy
from stratagem.viewer.positions import known_players
from stratagem.viewer.sentences import sentence_of
from stratagem.viewer.trees import EQUILIBRIUM, equilibrium_of_game, oracle_of_game


@dataclass(frozen=True, eq=False)
class Subject:
    """Policy that all seats of a game play."""

    title: str
    oracle: Oracle
    policy: Floats
    replies: Ints | None = None
    """Number of replies behind each information set; None where the probabilities are stated."""

    @property
    def tree(self) -> GameTree:
        """Game tree, of one round where rounds know nothing of each other."""
        return self.oracle.tree


def subjects_of(library: Library, game: str) -> Json:
    """Return the policies that a folder has, by their source, and the players of a game that need no model."""
    runs = [
        {"run": name, "game": game, "steps": [policy.step for policy in policies]}
        for name, run in library.runs.items()
        for game, policies in _policies(run).items()
    ]
    records = [row for name, path in library.records.items() for row in _players(name, path)]
    models = [name for name in _known(library, game) if name.startswith("run:")] if game else []
    return {"runs": runs, "records": records, "players": _names(game) if game else [], "models": models}


def _policies(run: RunFolder) -> Mapping[str, Sequence[Policy]]:
    """Return the policies that a run stored, by game."""
    folder = run.path / "policies"
    return _stored(run.path, folder.stat().st_mtime_ns) if folder.is_dir() else {}


@lru_cache(maxsize=256)
def _stored(path: Path, modified: int) -> Mapping[str, Sequence[Policy]]:
    return RunData(RunFolder(path)).policies


def _known(library: Library, game: str) -> list[str]:
    try:
        return known_players(library, make_bounded_game(game))
    except StratagemError:
        return []


def _names(game: str) -> list[str]:
    try:
        return [*player_names(make_bounded_game(game)), EQUILIBRIUM]
    except StratagemError:
        return []


def _players(name: str, folder: Path) -> list[Json]:
    try:
        rows = rows_of(folder)
    except StratagemError:
        return []
    pairs = dict.fromkeys((row.game, player) for row in rows for player in row.players if player != "absent")
    return [{"record": name, "game": game, "player": player} for game, player in pairs]


def subject_of(library: Library, asked: Mapping[str, str]) -> Subject:
    """Return the policy that a request names: of a run at a step, of a record's player, computed, or of a player."""
    game = _game(asked.get("game", ""))
    if computed := asked.get("computed", ""):
        return _of_job(game, computed)
    if run := asked.get("run", ""):
        return _of_run(library, run, game, asked.get("step", ""))
    player = asked.get("player", "")
    if record := asked.get("record", ""):
        return _of_record(library.record(record), game, player)
    return _of_player(game, player)


def _game(text: str) -> Game[Any]:
    if not text:
        raise BadParameter("The request lacks `game`.")
    return make_bounded_game(text)


def _of_run(library: Library, name: str, game: Game[Any], step: str) -> Subject:
    policies = _policies(library.run(name)).get(describe(game), [])
    by_step = {str(policy.step): policy.policy for policy in policies}
    if step not in by_step:
        raise UnknownName("step with a policy", step, by_step)
    oracle, table = oracle_of_game(game), by_step[step]
    missing = [known.view.info_key for known in oracle.tree.information_sets if known.view.info_key not in table]
    if missing:
        raise CannotCompute(
            f"The run stored the first {len(table)} situations of {game.spec.name}, and {missing[0]!r} is not one of "
            "them: look at the replies in its record."
        )
    mixes = {
        (known.seat, known.view.info_key): _with_null(table[known.view.info_key])
        for known in oracle.tree.information_sets
    }
    return Subject(f"{name}, step {step}", oracle, rows_on(oracle.tree, mixes))


def _with_null(mix: Mapping[str, float]) -> Stated:
    """Return a policy with the rest as the probability of a reply without an action."""
    rest = 1.0 - sum(mix.values())
    whole: dict[str | None, float] = {action: p for action, p in mix.items()}  # noqa: C416 - the type of the keys
    return {**whole, None: rest} if rest > 1e-9 else whole


def _of_job(game: Game[Any], name: str) -> Subject:
    oracle = oracle_of_game(game)
    title, policy = computed_policy(name, oracle)
    return Subject(title, oracle, policy)


def _of_player(game: Game[Any], name: str) -> Subject:
    """Return the policy of a player that needs no model and no other program."""
    names = [*player_names(game), EQUILIBRIUM]
    if name not in names:
        raise UnknownName("player", name, names)
    oracle = oracle_of_game(game)
    player = make_player(name, game)
    if not player.traits.exact:
        raise CannotCompute(f"{player.name} cannot state its probabilities, so look at its replies in a record.")
    return Subject(player.name, oracle, policy_on(oracle.tree, player))


def _of_record(folder: Path, game: Game[Any], player: str) -> Subject:
    oracle = oracle_of_game(game)
    tree = oracle.tree
    told = CountedReplies(tree, one_round=game.spec.independent_rounds > 0)
    for number in shards(folder):
        told.add(replies_of(folder, number, describe(game), player, *stamp(folder, number)))
    if not told.counts.any():
        raise CannotCompute(f"The record has no decision of {player!r} in {describe(game)}.")
    questions = Questions(tree, tree.information_sets, np.arange(len(tree.information_sets)))
    replies = questions.sums(told.counts).astype(np.int64)
    return Subject(player, oracle, frequencies(questions, told.counts), replies)


def equilibrium_of(subject: Subject) -> tuple[Floats | None, str]:
    """Return an equilibrium with its name; where there is none, the reason."""
    tree = subject.tree
    family = family_of(describe(tree.game))
    if family is not None:
        number = family.nearest(policies_of(tree, subject.policy))
        return _member(tree, family, number), f"nearest equilibrium, {family.number} = {number:.3f}"
    try:
        return equilibrium_of_game(tree.game), EQUILIBRIUM
    except StratagemError as error:
        return None, sentence_of(error)


def policies_of(tree: GameTree, policy: Floats) -> dict[str, dict[str, float]]:
    """Return the probabilities of a policy by information key."""
    return {
        known.view.info_key: dict(zip(known.actions, policy[first:after].tolist(), strict=True))
        for known, first, after in zip(tree.information_sets, tree.slots[:-1], tree.slots[1:], strict=True)
    }


def _member(tree: GameTree, family: EquilibriumFamily, number: float) -> Floats:
    """Return the member of a family: each situation has two actions, one of them named."""
    places = {place.key: place for place in family.places}
    rows = []
    for known in tree.information_sets:
        place = places[known.view.info_key]
        share = family.at(place, number)
        rows += [share if action in place.actions else 1.0 - share for action in known.actions]
    return np.array(rows)
