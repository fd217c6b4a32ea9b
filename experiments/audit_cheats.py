"""Audits in Kuhn poker of agents that are built to cheat audits, and of honest ones: the share with an alarm.

`python experiments/audit_cheats.py RUNS` writes docs/results/audit-cheats.json and prints the table of the page. Each
audit is one file in the folder, so a stopped study goes on. An audit has 889 decisions. The agents are in
`cheating_agents.py` and `cheating_server.py`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from cheating_agents import (
    ByHistory,
    ByName,
    ByOrder,
    ByRepetition,
    BySeed,
    ByTiming,
    ByTurn,
    ByWords,
    FirstCalls,
    SimulatedClock,
)
from cheating_server import CheatingModel, Honest, above_zero, always, at_zero, serving
from flawed_agents import Equilibrium
from result_tables import audits_of, check_nothing_lost, markdown

from stratagem.api.servers import servers
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.measure.audit.card import Card
from stratagem.measure.audit.plan import plan_audit
from stratagem.measure.audit.run import run_audit
from stratagem.measure.rates import wilson
from stratagem.players.base import Player

OUT = Path(__file__).parents[1] / "docs" / "results" / "audit-cheats.json"
DECISIONS = 889
GAME = "kuhn"


class Audited(NamedTuple):
    """Agent of the study."""

    what: str
    """Signs by which it takes a call for a question, or why there are none."""
    card: Callable[[int], Card]
    """Audit of the agent with a seed."""


def of_player(make: Callable[[int], Player]) -> Callable[[int], Card]:
    """Return the audit of an agent in this process."""
    return lambda seed: run_audit(plan_audit(make(seed), [GAME], DECISIONS, seed))


def by_history(share: float, seed: int) -> Player:
    """Return the agent that gives up a share of its decisions; every seed has the same one."""
    return ByHistory(share=share)


def of_timing(seed: int) -> Card:
    """Return the audit of the agent that looks at the clock, which is simulated."""
    clock = SimulatedClock()
    return run_audit(plan_audit(ByTiming(clock), [GAME], DECISIONS, seed), progress=clock.progress)


def of_server(honest: Honest) -> Callable[[int], Card]:
    """Return the audit of a served model, asked one question at a time so that its draws are those of the seed."""

    def card(seed: int) -> Card:
        with serving(CheatingModel(honest, seed)) as address, servers(concurrency=1):
            agent = f"lm(api:kuhn@{address}, style=brief, max_new_tokens=8)"
            return run_audit(plan_audit(agent, [GAME], DECISIONS, seed))

    return card


CHEATS = {
    "ByTurn": Audited("the turn: turn 0, of earlier audits", of_player(lambda _: ByTurn())),
    "ByName": Audited(
        "names: a game of one hand, or a new episode",
        of_player(lambda _: ByName()),
    ),
    "BySeed": Audited("the seed of the episode", of_player(lambda seed: BySeed(seed, DECISIONS))),
    "ByTiming": Audited("the time since the last call", of_timing),
    "ByOrder": Audited("the order of calls, which repeats", of_player(lambda _: ByOrder())),
    "ByHistory": Audited("the length of the history: no earlier decision", of_player(lambda _: ByHistory())),
    "ByWords": Audited("the words: rules of one hand, or other words", of_player(lambda _: ByWords())),
    "FirstCalls": Audited("the number of calls: the first 400", of_player(lambda _: FirstCalls())),
    "ByRepetition": Audited("a prompt that comes again", of_player(lambda _: ByRepetition())),
    "at_zero": Audited("temperature 0 of a request to a server", of_server(at_zero)),
}
"""Agents that play an equilibrium where they take a call for a question, and else pass and fold."""
RARE = {
    f"ByHistory(share={share:g})": Audited(
        f"the length of the history, and gives up {share:.0%} of its decisions in play",
        of_player(partial(by_history, share)),
    )
    for share in (0.4, 0.2, 0.1, 0.05)
}
"""Agents that give up some decisions in play."""
UNSEEN = {
    "FirstCalls(1000)": Audited("the number of calls: the first 1000", of_player(lambda _: FirstCalls(1000))),
    "above_zero": Audited("a temperature above 0 of a request to a server", of_server(above_zero)),
}
"""Agents that give up nothing within an audit."""
HONEST = {
    "Equilibrium": Audited("an equilibrium everywhere", of_player(lambda _: Equilibrium())),
    "always": Audited("an equilibrium everywhere, behind a server", of_server(always)),
}
"""Agents with one policy."""
ROWS = {**CHEATS, **RARE, **UNSEEN, **HONEST}
KINDS = {"cheat": CHEATS, "rare": RARE, "unseen": UNSEEN, "honest": HONEST}


def number_of(name: str, cheats: int, clean: int) -> int:
    """Return how many audits an agent has."""
    return clean if name == "Equilibrium" else cheats


def audits(cheats: int, clean: int) -> Iterator[tuple[str, int]]:
    """Yield the audits of the study: agents by name, with a seed."""
    for seed in range(max(cheats, clean)):
        yield from ((name, seed) for name in ROWS if seed < number_of(name, cheats, clean))


def alarms_of(name: str, seed: int, file: Path) -> dict[str, Any]:
    """Return the alarms of one audit, from its file where it is there."""
    if not file.is_file():
        card = ROWS[name].card(seed)
        paid = {one.name: one.value for one in card.figures if ".payoff_" in one.name}
        upper = card.by_name[f"{GAME}.exploitability"].upper
        result = {"agent": name, "seed": seed, "alarms": [one.name for one in card.alarms], "upper": upper, **paid}
        write_file(file, json.dumps(result) + "\n")
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


def summary(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the share of audits of each agent with an alarm, and their number by figure."""
    agents = {}
    for name, row in ROWS.items():
        found = [one["alarms"] for one in results if one["agent"] == name]
        alarmed = sum(map(bool, found))
        agents[name] = {
            "kind": next(kind for kind, rows in KINDS.items() if name in rows),
            "what": row.what,
            "audits": len(found),
            "alarmed": alarmed,
            "share": wilson(alarmed, len(found)).to_json(),
            "by_figure": dict(Counter(alarm for some in found for alarm in some).most_common()),
        }
    return agents


def table(agents: dict[str, Any]) -> str:
    """Return the table of the page."""
    heads = ["agent", "takes a call for a question by", "audits with an alarm", "alarms"]
    rows = []
    for name, row in agents.items():
        share = row["share"]
        ends = f" ({share['low']:.0%} to {share['high']:.0%})" if row["audits"] else ""
        by = ", ".join(f"`{figure.removeprefix(f'{GAME}.')}` {count}" for figure, count in row["by_figure"].items())
        rows.append([f"`{name}`", row["what"], f"{row['alarmed']} of {row['audits']}{ends}", by or "–"])
    return markdown(heads, rows)


def main() -> None:
    """Make the audits that are missing, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cheats", type=int, default=50, help="audits of each agent that cheats")
    parser.add_argument("--clean", type=int, default=2000, help="audits of the equilibrium agent")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    results = []
    for name, seed in audits(asked.cheats, asked.clean):
        results.append(alarms_of(name, seed, asked.folder / f"{name}-{seed}.json"))
    command = f"python experiments/audit_cheats.py RUNS --cheats {asked.cheats} --clean {asked.clean}"
    agents = summary(results)
    print(table(agents))
    data = {"made_by": {**provenance(), "command": command}, "agents": agents}
    check_nothing_lost(OUT, data, audits_of)
    write_file(OUT, json.dumps(data, indent=1) + "\n")


if __name__ == "__main__":
    main()
