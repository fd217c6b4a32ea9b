"""Audits in Kuhn poker of agents whose exploitability is known exactly, and of models that state nothing.

`python experiments/audit_agents.py RUNS` audits each agent in a folder of its own, goes on where it was stopped, and
writes docs/results/audit-agents.json. `RUNS/demo` is the run of `make demo`, if it is there.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from stratagem.auditing.figure import Figure
from stratagem.auditing.plan import plan_audit
from stratagem.auditing.run import run_audit
from stratagem.errors import CannotCompute
from stratagem.evaluation.exact import exact
from stratagem.files import write_file
from stratagem.games.catalogue import make_game
from stratagem.players.catalogue import make_player
from stratagem.provenance import provenance

OUT = Path(__file__).parents[1] / "docs" / "results" / "audit-agents.json"
AGENTS = {
    "random": "random",
    "NashApprox": "NashApprox",
    "TightPassive": "TightPassive",
    "tiny": "tiny",
    "tiny-recover": "tiny(mode=recover)",
    "demo": "run:{folder}/demo",
    "smollm2": "smollm2",
    "smollm2-recover": "smollm2(mode=recover, max_new_tokens=32)",
    "smollm2-free": "smollm2(mode=free, max_new_tokens=32)",
    "smollm2-reasoned": "smollm2(mode=recover, style=reasoned, max_new_tokens=96)",
}
"""Players by the name of their folder."""


def known(player: str) -> float | None:
    """Return the exact exploitability; None where the player states no probabilities."""
    game = make_game("kuhn")
    try:
        return exact(game, make_player(player, game)).exploitability
    except CannotCompute:
        return None


def audited(player: str, folder: Path, decisions: int) -> dict[str, Any]:
    """Audit a player, and return its figures beside the exact one."""
    start = time.monotonic()
    card = run_audit(plan_audit(player, ("kuhn",), decisions), folder)
    figures = card.by_name
    return {
        "commit": provenance()["commit"],
        "exact": known(player),
        "seconds": round(time.monotonic() - start, 1),
        "cost": card.to_json()["cost"],
        "figures": {name: _row(figures[name]) for name in figures},
        "alarms": [figure.name for figure in card.alarms],
    }


def _row(figure: Figure) -> dict[str, Any]:
    row = figure.to_json()
    return {name: row[name] for name in ("value", "lower", "upper", "p", "holm_p", "n", "chance", "why_not", "example")}


def main() -> None:
    """Audit the agents, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=AGENTS, default=list(AGENTS))
    parser.add_argument("--decisions", type=int, default=1500)
    asked = parser.parse_args()
    rows: dict[str, Any] = json.loads(OUT.read_text(encoding="utf-8"))["agents"] if OUT.is_file() else {}
    for name in asked.only:
        player = AGENTS[name].format(folder=asked.folder)
        if player.startswith("run:") and not Path(player.removeprefix("run:")).is_dir():
            continue
        rows[name] = audited(player, asked.folder / f"audit-{name}", asked.decisions)
        print(
            name, rows[name]["exact"], rows[name]["figures"]["kuhn.exploitability"], rows[name]["seconds"], flush=True
        )
        made = {**provenance(), "command": f"python experiments/audit_agents.py RUNS --decisions {asked.decisions}"}
        write_file(OUT, json.dumps({"made_by": made, "agents": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
