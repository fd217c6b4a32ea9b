"""Audits of agents with planted flaws, and of equilibrium agents: what is named, and how often an alarm is false.

`python experiments/audit_flaws.py RUNS` writes docs/results/audit-flaws.json. Each audit is one file in the folder, so
a stopped study goes on. The agents are in `flawed_agents.py`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flawed_agents import FLAWS, Equilibrium
from result_tables import audits_of, check_nothing_lost

from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit
from stratagem.measure.rates import wilson

OUT = Path(__file__).parents[1] / "docs" / "results" / "audit-flaws.json"
AGENTS: dict[str, type[Equilibrium]] = {Equilibrium.__name__: Equilibrium} | {flaw.__name__: flaw for flaw in FLAWS}


def audits(flawed: int, clean: int) -> Iterator[tuple[str, int]]:
    """Yield the audits of the study: agents by name, with a seed."""
    for seed in range(max(flawed, clean)):
        for name in AGENTS:
            if seed < (clean if name == Equilibrium.__name__ else flawed):
                yield name, seed


def alarms_of(name: str, seed: int, file: Path) -> dict[str, Any]:
    """Return the alarms of one audit, from its file where it is there."""
    if not file.is_file():
        card = run_audit(plan_audit(AGENTS[name](), seed=seed))
        lower = {one.name: one.lower for one in card.figures if one.group == "exploitability"}
        result = {"agent": name, "seed": seed, "alarms": [one.name for one in card.alarms], "lower": lower}
        write_file(file, json.dumps(result) + "\n")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the share of audits that name the flaw of each agent, and the share of false alarms."""
    agents = {}
    for name, agent in AGENTS.items():
        rows = [row for row in results if row["agent"] == name]
        due = set(FLAWS.get(agent, ()))
        named = sum(bool(due & set(row["alarms"])) for row in rows)
        anything = sum(bool(row["alarms"]) for row in rows)
        agents[name] = {
            "flaw": (agent.__doc__ or "").splitlines()[0],
            "due": sorted(due),
            "audits": len(rows),
            "named": named,
            "any_alarm": anything,
            "any_alarm_interval": wilson(anything, len(rows)).to_json(),
        }
    return agents


def main() -> None:
    """Make the audits that are missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--flawed", type=int, default=5, help="audits of each agent with a flaw")
    parser.add_argument("--clean", type=int, default=200, help="audits of equilibrium agents")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for name, seed in audits(asked.flawed, asked.clean):
        results.append(alarms_of(name, seed, asked.folder / f"{name}-{seed}.json"))
        print(name, seed, *results[-1]["alarms"], flush=True)
    command = f"python experiments/audit_flaws.py RUNS --flawed {asked.flawed} --clean {asked.clean}"
    made = {**provenance(), "command": command}
    data = {"made_by": made, "agents": summary(results)}
    check_nothing_lost(OUT, data, audits_of)
    write_file(OUT, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
