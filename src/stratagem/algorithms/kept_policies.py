"""What a policy does in the first situations of every game, kept in a run by step, for its report to show."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stratagem.errors import CannotCompute
from stratagem.evaluation.openings import opening_policy
from stratagem.games.base import Game
from stratagem.games.catalogue import describe
from stratagem.players.base import Player
from stratagem.runs.files import write_file

POLICIES = "policies"
"""Where a run keeps them."""


def keep_policies(folder: Path, games: Sequence[Game[Any]], step: int, player: Player) -> None:
    """Write what a player does in the first situations, of the games where it can say so."""
    (folder / POLICIES).mkdir(exist_ok=True)
    for game in games:
        try:
            policy = opening_policy(game, player)
        except CannotCompute:
            continue
        data = {"step": step, "game": describe(game), "policy": policy}
        write_file(folder / POLICIES / f"{game.spec.name}-{step:06d}.json", json.dumps(data, indent=1) + "\n")
