"""Tiles under a run's name: algorithm, game, model, seed, step."""

from __future__ import annotations

from stratagem.reports.run_data import RunData


def tiles(data: RunData) -> list[tuple[str, str]]:
    """Return the tiles of a run; a step is counted from the end of SFT, its label in the run from the beginning."""
    recipe = data.settings
    games = recipe.get("games") or recipe.get("game")
    kinds = _kinds(data)
    bare = bool(kinds) and set(kinds.values()) <= {"tabular", "scripted"}
    values = {
        "algorithm": data.algorithm,
        "game": ", ".join(map(str, games)) if isinstance(games, list) else str(games or ""),
        "seats": ", ".join(name if name == kind else f"{name} ({kind})" for name, kind in kinds.items()),
        "model": "" if bare else str(recipe.get("model", "")),
        "seed": str(data.info.seed),
        "SFT": f"{data.sft_steps} steps" if data.sft_steps else "",
        "steps": "" if data.last_step is None else str(data.last_step),
        "chosen step": "" if data.chosen_step is None else str(data.chosen_step),
    }
    return [(name, value) for name, value in values.items() if value]


def _kinds(data: RunData) -> dict[str, str]:
    """Return the kinds of learners by seat, for a run that has several."""
    seats = data.settings.get("seats", {})
    tables = {name: seat for name, seat in seats.items() if isinstance(seat, dict)} if isinstance(seats, dict) else {}
    return {name: str(seat.get("learner", "")) for name, seat in tables.items()}
