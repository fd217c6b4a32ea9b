"""Audits in Kuhn poker of agents whose exploitability is known exactly, and of models that state nothing.

`python experiments/audit_agents.py RUNS` audits each agent in a folder of its own, goes on where it was stopped, and
writes docs/results/audit-agents.json. A row that a later sitting leaves as it is keeps its commit, and whether its tree
had uncommitted changes. Servers are started and ended: `transformers serve` by this Python, vLLM by that of `--vllm`,
which `make vllm` makes.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import stdin_agent
from served import MODEL, PORTS, address, served

from stratagem.base.errors import CannotCompute
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance, source
from stratagem.games.base import View
from stratagem.games.catalogue import make_game
from stratagem.games.kuhn import KuhnFacts
from stratagem.measure.audit.measurement import Measurement
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit
from stratagem.measure.exploitability.exact import exact
from stratagem.players.base import Mix, Player, Scripted, Traits
from stratagem.players.catalogue import make_player
from stratagem.players.given import allow_given

OUT = Path(__file__).parents[1] / "docs" / "results" / "audit-agents.json"
SAID = "max_new_tokens=6, temperature=0.4, style=brief, system='Answer with the last word of the question.'"
"""Options with which SmolLM2 says a legal action about two times in five."""
DRAWN = """{'generation_config': '{"do_sample": true, "top_k": 0, "eos_token_id": 2, "pad_token_id": 2}'}"""
"""Without it `transformers serve` takes the likeliest token at every temperature."""
AGENTS = {
    "random": "random",
    "NashApprox": "NashApprox",
    "TightPassive": "TightPassive",
    "tiny": "tiny",
    "tiny-recover": "tiny(mode=recover)",
    "demo": "zoo:kuhn-demo",
    "smollm2": "smollm2",
    "smollm2-recover": "smollm2(mode=recover, max_new_tokens=32)",
    "smollm2-free": "smollm2(mode=free, max_new_tokens=32)",
    "smollm2-reasoned": "smollm2(mode=recover, style=reasoned, max_new_tokens=96)",
    "stdin": f"cmd:{sys.executable} {shlex.quote(stdin_agent.__file__)}",
    "smollm2-said": f"smollm2(mode=free, {SAID})",
    "smollm2-transformers": f"lm(api:{MODEL}@{address('transformers')}, {SAID}, extra_body={DRAWN})",
    "smollm2-vllm": f"lm(api:{MODEL}@{address('vllm')}, {SAID}, extra_body={{'top_k': -1, 'min_p': 0}})",
}
"""Players by the name of their folder."""


@dataclass(frozen=True)
class Stdin(Scripted[KuhnFacts]):
    """The agent of `stdin_agent.py` as a player that states its probabilities."""

    traits: ClassVar[Traits] = Traits(stochastic=True)

    def strategy(self, view: View[KuhnFacts]) -> Mix:
        timid, bold = view.choices
        share = stdin_agent.SHARES[view.facts.card][bold == "CALL"]
        return {bold: share, timid: 1.0 - share}


def known(name: str, player: str) -> float | None:
    """Return the exact exploitability; None where the player states no probabilities."""
    game = make_game("kuhn")
    agent: Player = Stdin() if name == "stdin" else make_player(player, game)
    try:
        return exact(game, agent).exploitability
    except CannotCompute:
        return None


def audited(name: str, player: str, folder: Path, decisions: int) -> dict[str, Any]:
    """Audit a player, and return its figures beside the exact one."""
    allow_given(player)
    start = time.monotonic()
    card = run_audit(plan_audit(player, ("kuhn",), decisions), folder)
    figures = card.by_name
    return {
        **source(),
        "exact": known(name, player),
        "seconds": round(time.monotonic() - start, 1),
        "cost": card.to_json()["cost"],
        "figures": {name: _row(figures[name]) for name in figures},
        "alarms": [figure.name for figure in card.alarms],
    }


def read_agents(path: Path) -> dict[str, dict[str, Any]]:
    """Read the rows of a file; one that says nothing of uncommitted changes has what its file says."""
    if not path.is_file():
        return {}
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: {"dirty": data["made_by"]["dirty"], **row} for name, row in data["agents"].items()}


def behind(name: str, folder: Path, vllm: Path) -> AbstractContextManager[None]:
    """Return the server of an agent, to be entered; nothing where it needs none."""
    server = name.rpartition("-")[2]
    return served(server, folder.absolute(), vllm) if server in PORTS else nullcontext()


def _row(figure: Measurement) -> dict[str, Any]:
    row = figure.to_json()
    return {name: row[name] for name in ("value", "lower", "upper", "p", "holm_p", "n", "chance", "why_not", "example")}


def main() -> None:
    """Audit the agents, and write the table after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="+", choices=AGENTS, default=list(AGENTS))
    parser.add_argument("--decisions", type=int, default=1500)
    parser.add_argument("--vllm", type=Path, default=Path(".venv-vllm/bin/python"), help="Python that has vLLM")
    asked = parser.parse_args()
    rows = read_agents(OUT)
    for name in asked.only:
        with behind(name, asked.folder, asked.vllm):
            rows[name] = audited(name, AGENTS[name], asked.folder / f"audit-{name}", asked.decisions)
        print(
            name, rows[name]["exact"], rows[name]["figures"]["kuhn.exploitability"], rows[name]["seconds"], flush=True
        )
        made = {**provenance(), "command": f"python experiments/audit_agents.py RUNS --decisions {asked.decisions}"}
        write_file(OUT, json.dumps({"made_by": made, "agents": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
