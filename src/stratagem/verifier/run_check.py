"""Check of a run: its recorded games are played again, and policies that are tables are exploited again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.base.errors import BadRecord, CannotCompute, StratagemError
from stratagem.base.files import parse_json, parse_toml, read_bounded
from stratagem.games.bounded import make_bounded_game
from stratagem.verifier import audit_record as records
from stratagem.verifier.audit_plan import read_object
from stratagem.verifier.drawn_tests import agrees
from stratagem.verifier.figure_check import FigureCheck
from stratagem.verifier.small_tree import EndsWalk

RUN, EVALUATION, METRICS, CONFIG = "run.json", "evaluation.json", "metrics.jsonl", "config.toml"
_NO_EPISODES = "The games of the final evaluation are not in the record."
_NO_POLICY = "No policy of it is stored in all situations."
_OTHER_SAMPLING = "The final evaluation samples otherwise than the stored policies, which are those of the interaction."


def run_checks(folder: Path) -> Iterator[FigureCheck]:
    """Yield the checks of a run: its record, its policies, and the final evaluation."""
    yield _check_record(folder)
    metrics = _metrics_by_step(folder)
    known: dict[tuple[int, str], float] = {}
    for path in sorted((folder / "policies").glob("*.json")):
        name = f"policies/{path.stem}"
        try:
            data = read_object(path)
            step, game, value = int(data["step"]), str(data["game"]), exploit_policy(data["game"], data["policy"])
        except CannotCompute as error:
            yield FigureCheck(name, "not recomputed", detail=str(error))
            continue
        except (StratagemError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            yield FigureCheck(name, "differs", detail=f"{path.name} cannot be read: {error}")
            continue
        known[step, game] = value
        metric = f"{_walk(game).game.figure_name}/exact/exploitability"
        if (logged := metrics.get(step, {}).get(metric)) is not None:
            yield _compare(f"{name}: {metric}", logged, value)
        else:
            yield FigureCheck(name, "not recomputed", None, value, f"{METRICS} has no exact figure of step {step}.")
    yield from _check_evaluation(folder, known)
    yield FigureCheck("metrics", "not recomputed", detail="Losses and gradients need the training itself.")


def exploit_policy(game: str, policy: Mapping[str, Mapping[str, float]]) -> float:
    """Return the exact exploitability of a policy that is stated in every situation of a game."""
    walk = _walk(game)
    if any(known.info_key not in policy for known in walk.sets):
        raise CannotCompute(f"It states {len(policy)} situations of {len(walk.sets)}.")
    played = [(known.info_key, action) for known in walk.sets for action in known.actions]
    rows = [0.0 if action is None else float(policy[key].get(action, 0.0)) for key, action in played]
    sums = [sum(rows[known.first : known.first + len(known.actions)]) for known in walk.sets]  # of actions of the game
    if not all(abs(total - 1.0) <= 1e-6 for total in sums) or not all(row >= 0.0 for row in rows):
        raise CannotCompute("Its probabilities do not sum to 1: it plays illegal replies, too.")
    seats = range(walk.game.spec.seats)
    return walk.gain(np.array(rows), [walk.best_response(np.array(rows), seat) for seat in seats])[0]


@lru_cache(maxsize=8)
def _walk(game: str) -> EndsWalk:
    return EndsWalk(make_bounded_game(game))


def _compare(name: str, stored: Any, value: float) -> FigureCheck:
    same = agrees(stored, value) or (isinstance(stored, float) and abs(stored - value) < 1e-6)
    detail = "" if same else "The stored figure is not that of the stored policy."
    return FigureCheck(name, "agrees" if same else "differs", stored, value, detail)


def _check_record(folder: Path) -> FigureCheck:
    """Play again every recorded game that is not a branch of another game."""
    count, games = 0, dict[str, Any]()
    for path in sorted((folder / "record" / "episodes").glob("*.parquet")):
        for one in records.read_episodes(folder / "record", path.name):
            if one["forked_at"] == 0 and one["finished"] and not one["pasts"] and not one["parent"]:
                game = games.setdefault(one["game"], make_bounded_game(one["game"]))
                count += 1
                if fault := next(records.faults_of_play(game, one), ""):
                    return FigureCheck("record", "differs", detail=fault)
    return FigureCheck("record", "agrees", count, count, "Games that were played again by the rules.")


def _check_evaluation(folder: Path, known: Mapping[tuple[int, str], float]) -> Iterator[FigureCheck]:
    """Yield the figures of the final evaluation; exact exploitability follows from policies that are stored."""
    if not (folder / EVALUATION).is_file():
        yield FigureCheck("evaluation", "not recomputed", detail="There is no final evaluation.")
        return
    otherwise = _samples_otherwise(folder)
    try:
        for game in read_object(folder / EVALUATION)["evaluation"]["games"]:
            for player in game["players"]:
                name, step = f"{game['game']}: {player['player']}", re.search(r"@([0-9]+)$", player["player"])
                stored = player.get("exact", {}).get("exploitability")
                value = known.get((int(step[1]), game["game"])) if step else None
                if stored is not None and value is not None and not otherwise:
                    yield _compare(f"{name}: exploitability", stored, value)
                elif stored is not None:
                    reason = _NO_POLICY if value is None else _OTHER_SAMPLING
                    yield FigureCheck(f"{name}: exploitability", "not recomputed", stored, None, reason)
                yield FigureCheck(f"{name}: payoffs and rates", "not recomputed", detail=_NO_EPISODES)
    except (KeyError, TypeError, AttributeError, BadRecord) as error:
        yield FigureCheck("evaluation", "differs", detail=f"{EVALUATION} cannot be read: {error}")


def _samples_otherwise(folder: Path) -> bool:
    """Return whether the final evaluation samples otherwise than the interaction, as that of SCO-PAL may."""
    try:
        recipe = parse_toml(read_bounded(folder / CONFIG).decode())
        temperature = recipe["final_evaluation"]["temperature"]
        evaluated = {"temperature": temperature, "top_k": 0, "top_p": 1.0, "sampler": None}
        return any(recipe["interaction"].get(key, value) != value for key, value in evaluated.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # no recipe of an interaction


def _metrics_by_step(folder: Path) -> dict[int, dict[str, Any]]:
    """Return the logged metrics of each step; training and validation may have a line each."""
    metrics: dict[int, dict[str, Any]] = {}
    for row in _read_lines(folder / METRICS):
        if isinstance(step := row.get("step"), int):
            metrics.setdefault(step, {}).update(row)
    return metrics


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.is_file():
        for line in read_bounded(path).splitlines():
            try:
                data = parse_json(line)
            except ValueError:
                continue
            if isinstance(data, dict):
                yield data
