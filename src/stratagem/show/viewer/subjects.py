"""Policies to look at: of a run at a validation, of recorded replies, or of a player that needs no model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from stratagem.base.errors import BadParameter, CannotCompute, StratagemError, UnknownName
from stratagem.games.base import Game, Json
from stratagem.games.bounded import make_bounded_game
from stratagem.games.catalogue import describe
from stratagem.games.tree import GameTree
from stratagem.measure.equilibria import family_of
from stratagem.measure.equilibrium_family import EquilibriumFamily
from stratagem.measure.policies import Stated
from stratagem.measure.sampled.questions import Floats, Ints, TreeQuestions
from stratagem.measure.sampled.tally import frequencies
from stratagem.measure.tree_policy import Oracle, policy_on, rows_on
from stratagem.players.catalogue import make_player, player_names, suggest_opponent
from stratagem.playing.store import read_columns, shards
from stratagem.show.reports.files import PolicySchema
from stratagem.show.reports.run_data import RunData
from stratagem.show.viewer.episode_index import episodes_of, episodes_of_shard, stamp
from stratagem.show.viewer.library import Library
from stratagem.show.viewer.model_policies import computed_policy
from stratagem.show.viewer.positions import known_players
from stratagem.show.viewer.sentences import sentence_of
from stratagem.show.viewer.trees import EQUILIBRIUM, equilibrium_of_game, oracle_of_game
from stratagem.training.runs.folder import RunFolder


@dataclass(frozen=True, eq=False)
class ReplaySubject:
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


def list_subjects(library: Library, asked: Mapping[str, str]) -> Json:
    """Return the policies that a folder has, by their source, and the players of a game that need no model."""
    game = asked.get("game", "")
    runs = [
        {"run": name, "game": game, "steps": [policy.step for policy in policies]}
        for name, run in library.runs.items()
        for game, policies in _policies(run).items()
    ]
    records = [row for name, path in library.records.items() for row in _players(name, path)]
    models = [name for name in _known_names(library, game) if name.startswith("run:")] if game else []
    return {"runs": runs, "records": records, "players": _names(game) if game else [], "models": models}


def suggest_player(library: Library, game: Game[Any]) -> str:
    """Return the player that a person sits down against who names none: a model of the folder, or a strong player."""
    text = describe(game)
    trained = [run.path for run in library.runs.values() if text in _policies(run)]
    return f"run:{trained[0]}" if trained and find_spec("torch") else suggest_opponent(game)


def _policies(run: RunFolder) -> Mapping[str, Sequence[PolicySchema]]:
    """Return the policies that a run stored, by game."""
    folder = run.path / "policies"
    return _stored_policies(run.path, folder.stat().st_mtime_ns) if folder.is_dir() else {}


@lru_cache(maxsize=256)
def _stored_policies(path: Path, modified: int) -> Mapping[str, Sequence[PolicySchema]]:
    return RunData(RunFolder(path)).policies


def _known_names(library: Library, game: str) -> list[str]:
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
        pairs = episodes_of(folder).games_of_players()
    except StratagemError:
        return []
    return [{"record": name, "game": game, "player": player} for game, player in pairs if player != "absent"]


def subject_of(library: Library, asked: Mapping[str, str]) -> ReplaySubject:
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


def _of_run(library: Library, name: str, game: Game[Any], step: str) -> ReplaySubject:
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
    return ReplaySubject(f"{name}, step {step}", oracle, rows_on(oracle.tree, mixes))


def _with_null(mix: Mapping[str, float]) -> Stated:
    """Return a policy with the rest as the probability of a reply without an action."""
    rest = 1.0 - sum(mix.values())
    whole: dict[str | None, float] = {action: p for action, p in mix.items()}  # noqa: C416 - the type of the keys
    return {**whole, None: rest} if rest > 1e-9 else whole


def _of_job(game: Game[Any], name: str) -> ReplaySubject:
    oracle = oracle_of_game(game)
    title, policy = computed_policy(name, oracle)
    return ReplaySubject(title, oracle, policy)


def _of_player(game: Game[Any], name: str) -> ReplaySubject:
    """Return the policy of a player that needs no model and no other program."""
    names = [*player_names(game), EQUILIBRIUM]
    if name not in names:
        raise UnknownName("player", name, names)
    oracle = oracle_of_game(game)
    player = make_player(name, game)
    if not player.traits.exact:
        raise CannotCompute(f"{player.name} cannot state its probabilities, so look at its replies in a record.")
    return ReplaySubject(player.name, oracle, policy_on(oracle.tree, player))


def _of_record(folder: Path, game: Game[Any], player: str) -> ReplaySubject:
    oracle = oracle_of_game(game)
    tree = oracle.tree
    told = CountedReplies(tree, one_round=game.spec.independent_rounds > 0)
    for number in shards(folder):
        told.add(replies_of(folder, number, describe(game), player, *stamp(folder, number)))
    if not told.counts.any():
        raise CannotCompute(f"The record has no decision of {player!r} in {describe(game)}.")
    questions = TreeQuestions(tree, tree.information_sets, np.arange(len(tree.information_sets)))
    replies = questions.sums(told.counts).astype(np.int64)
    return ReplaySubject(player, oracle, frequencies(questions, told.counts), replies)


def equilibrium_of(subject: ReplaySubject) -> tuple[Floats | None, str]:
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


_NO_ACTION = ""
_SHARDS = 4096


class CountedReplies:
    """Number of replies by slot of a tree."""

    def __init__(self, tree: GameTree, *, one_round: bool) -> None:
        """`one_round`: situations are told by their state, since the record has more rounds than the tree."""
        self.counts = np.zeros(int(tree.slots[-1]))
        self._one_round = one_round
        self._slots: dict[tuple[int, str, str], int] = {}
        for number, known in enumerate(tree.information_sets):
            key = known.view.state_key if one_round else known.view.info_key
            first = int(tree.slots[number])
            for place, action in enumerate(known.actions):
                self._slots[known.seat if not one_round else -1, key, action] = first + place
            if known.view.game.spec.on_illegal == "default":
                default = known.view.game.default_action(known.view.facts)
                self._slots[known.seat if not one_round else -1, key, _NO_ACTION] = first + known.actions.index(default)

    def add(self, replies: Mapping[tuple[int, str, str, str], int]) -> None:
        """Add numbers of replies by seat, information key, state key and action."""
        for (seat, info, state, action), count in replies.items():
            key = (-1, state, action) if self._one_round else (seat, info, action)
            if key in self._slots:
                self.counts[self._slots[key]] += count


@lru_cache(maxsize=_SHARDS)
def replies_of(
    folder: Path, number: int, game: str, player: str, modified: int, size: int
) -> dict[tuple[int, str, str, str], int]:
    """Count the replies of a player in a shard by seat, information key, state key and action."""
    index = episodes_of_shard(folder, number)
    held = np.flatnonzero(index.players.equal(player) & index.games.equal(game)[index.owner])
    own = index.owner[held]
    seats = pa.table({"episode": index.ids.take(pa.array(own)), "seat": (held - index.starts[own]).astype(np.int32)})
    columns = ("episode", "seat", "info_key", "state_key", "action")
    rows = read_columns(folder, "decisions", number, columns).join(seats, ["episode", "seat"], join_type="inner")
    rows = rows.set_column(rows.column_names.index("action"), "action", pc.fill_null(rows["action"], _NO_ACTION))
    keys = ["seat", "info_key", "state_key", "action"]
    counted = rows.group_by(keys).aggregate([([], "count_all")])
    values = zip(*(counted[name].to_pylist() for name in (*keys, "count_all")), strict=True)
    return {(seat, info, state, action): count for seat, info, state, action, count in values}
