"""Policy of a model on a whole game tree: computed in the process of a job, and kept in the cache folder."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from stratagem import __version__
from stratagem.base.cache import cache_folder
from stratagem.base.errors import CannotCompute, StratagemError, UnknownName
from stratagem.base.files import parse_json, read_small, write_file
from stratagem.base.named_files import content_of
from stratagem.games.base import Json
from stratagem.games.bounded import make_bounded_game
from stratagem.language.models.run_models import pin_label
from stratagem.measure.exploitability.exact import check_stated
from stratagem.measure.tree_policy import Floats, Oracle, policy_on
from stratagem.players.catalogue import make_player
from stratagem.show.viewer.jobs import JobPrice
from stratagem.show.viewer.pricing import Price, calls_models
from stratagem.show.viewer.trees import oracle_of_game
from stratagem.training.runs.folder import RunFolder

_RUN = re.compile(r"run:(.+)@[^@]+")


@dataclass(frozen=True, kw_only=True)
class PolicyQuestion:
    """Question for the whole policy of a player."""

    game: str
    player: str
    accepted: int = 0
    """Number of calls of models that the reader has accepted."""

    @property
    def name(self) -> str:
        """Name of the answer, by all that it depends on."""
        files = content_of((self.game, self.player))
        return digest_of(self.game, self.player, _beginning_of_run(self.player), files)


def digest_of(*content: Any) -> str:
    """Return a name for an answer by all that it depends on, the version of this package included."""
    text = json.dumps([__version__, *content], sort_keys=True, default=str)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=10).hexdigest()


def fixed_name(player: str) -> str:
    """Name the model of a run by its step, which stays the same when the run goes on."""
    name = player.strip()
    return pin_label(name) if name.startswith("run:") else name


def question_of(game: str, player: str, accepted: int) -> PolicyQuestion:
    """Return the question for the policy of a player."""
    return PolicyQuestion(game=game, player=fixed_name(player), accepted=accepted)


def _beginning_of_run(player: str) -> str:
    """Return when the run of a model began, since another run may take its place."""
    found = _RUN.fullmatch(player)
    try:
        return RunFolder(Path(found[1])).info().begun if found else ""
    except StratagemError:
        return ""


def ask_policy(question: PolicyQuestion, connection: Connection) -> Any:
    """Compute the policy and keep it, in the process of a job; where a model must be asked, first return the price."""
    if (path := _file(question.name)).is_file():
        return {"computed": question.name}
    oracle = oracle_of_game(make_bounded_game(question.game))
    player = make_player(question.player, oracle.tree.game)
    check_stated(player)
    calls = len(oracle.tree.information_sets)
    if calls_models(player) and calls > question.accepted:
        return JobPrice(Price(calls, calls, 0, None, "", servers=False, players=(player.name,)).to_json())
    policy = policy_on(oracle.tree, player)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"player": player.name, "game": question.game, "tree": oracle.tree.digest, "policy": policy.tolist()}
    write_file(path, json.dumps(data) + "\n")
    return {"computed": question.name}


def computed_policy(name: str, oracle: Oracle) -> tuple[str, Floats]:
    """Return the player and the policy of an answer that was computed before."""
    data = _read(name)
    if data.get("tree") != oracle.tree.digest or len(data.get("policy", ())) != int(oracle.tree.slots[-1]):
        raise CannotCompute(f"The policy {name} is one of another game, or of another version of it: compute it again.")
    return str(data["player"]), np.array(data["policy"], dtype=np.float64)


def _read(name: str) -> Json:
    try:
        if not re.fullmatch("[0-9a-f]{20}", name):
            raise OSError
        data: Json = parse_json(read_small(_file(name)))
    except (OSError, ValueError):
        raise UnknownName("computed policy", name[:40], ()) from None
    return data


def _file(name: str) -> Path:
    return cache_folder() / "view-policies" / f"{name}.json"
