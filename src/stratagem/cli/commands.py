"""Table of the commands: the function that each calls, and what its command line has under another name.

A function's parameters become arguments and options, and the section `Args:` of its docstring becomes their help. The
module of a command is imported when the command runs, so that the others cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Command:
    """Row of the table."""

    function: str | Callable[..., Any]
    """Module and name of the function, of `stratagem.api`; in full where the command is written by hand. Or itself."""
    summary: str
    """First sentence of the function's docstring, so that the list of commands imports no module."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Option, or name in the help, by parameter where it is not that of the parameter."""
    instead: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Function that an option calls in place of the first, and its parameter that is the option's value, if any."""
    runs: str = "call:print_call"
    """Function of `stratagem.cli` that calls the function, and shows what it does."""
    servers: bool = False
    """True if the command may ask models behind servers, so that it has the parameters of `sg.servers`, too."""
    unanswered: int = 1
    """Exit status where too many requests have no reply."""
    json: bool = True
    """True if it prints JSON on request."""
    more: str = ""
    """Sentence below the main tables that tells of `--all`; without it the command has no such option."""
    names_files: bool = True
    """False if it makes nothing that a file names, so that it asks for no permission."""
    example: str = ""
    """Arguments and options of a use that its help and the manual page show."""

    @property
    def is_by_hand(self) -> bool:
        """True if the parser reads the options from the function itself."""
        return str(self.function).startswith("stratagem.")


COMMANDS = {
    "games": Command("games:list_games", "List the games, or show one of them.", example="kuhn"),
    "players": Command(
        "players:list_players",
        "List the players: rule, memory, whether they are stochastic, and pools.",
        example="kuhn",
    ),
    "engines": Command(
        "engines:list_engines",
        "List the engines of models: whether they train, their settings, and whether they can be used here.",
        names_files=False,
        example="--json",
    ),
    "play": Command(
        "matches:play",
        "Play a match; seats rotate between episodes over paired deals.",
        names={"players": "--players", "keep": "--show"},
        runs="match:show_match",
        servers=True,
        example="kuhn --players NashApprox random",
    ),
    "eval": Command(
        "evaluations:evaluate",
        "Measure players: payoff, exploitability by a pool and exactly, safety, win rates.",
        names={"players": "--player", "metrics": "--metric"},
        instead={"--from": ("records:evaluate_record", "folder")},
        servers=True,
        more="More figures, by opponent and by seat: --all.",
        example="kuhn --player run:runs/demo",
    ),
    "tournament": Command(
        "tournaments:tournament",
        "Play all pairs of players and print the cross-play matrix of payoffs.",
        names={"players": "--players"},
        servers=True,
        example="ipd --players TitForTat Pavlov AlwaysDefect",
    ),
    "audit": Command(
        "audits:audit",
        "Audit an agent: exploitability with limits, safety, competence, consistency and cost.",
        names={"probes": "--probe"},
        instead={"--dry-run": ("audit_plans:plan_audit", "")},
        servers=True,
        unanswered=3,
        example="run:runs/demo --games kuhn --decisions 1200 --out audits/demo",
    ),
    "compare": Command(
        "log_comparisons:compare",
        "Compare systems by the logs of evaluations, or two audits: paired differences with limits that cover.",
        names_files=False,
        example="audits/demo audits/tight",
    ),
    "talk": Command(
        "talks:talk",
        "Measure the messages between two players: truth, promises, information, deception, effect and gullibility.",
        servers=True,
        example="'talk(kuhn)' 'honest(NashApprox)' 'believer(NashApprox)' --episodes 50",
    ),
    "collusion": Command(
        "collusions:collusion",
        "Measure collusion in words: what two seats gain by talk against the others, in public and in private.",
        servers=True,
        example="'talk(auction(seats=3))' 'ring(Truthful, partner=1)' 'ring(Truthful, partner=0)' Truthful",
    ),
    "leaderboard": Command(
        "audits:rank_audits",
        "Rank the agents of several audits by one figure, each with the ranks that its limits allow.",
        names={"figure": "--figure", "html": "--html"},
        names_files=False,
        example="audits/demo audits/tight",
    ),
    "verify": Command(
        "card_verification:verify_figures",
        "Check the card of an audit, or a run: digests of files, and every figure that follows from the record.",
        names={"path": "CARD|RUN"},
        servers=True,
        example="audits/demo",
    ),
    "verify-game": Command(
        "verification:verify",
        "Check a game or an environment against its declaration, and against OpenSpiel where it has the game.",
        example="kuhn",
    ),
    "new": Command(
        "extensions:new",
        "Write a small working game, player, metric or part of training into new files, with its tests.",
        names_files=False,
        example="game coin_match",
    ),
    "prompt": Command(
        "prompts:prompt",
        "Show the prompts of the first turns of a game; the prefix shared with the previous prompt is dim.",
        names={"style": "--style"},
        runs="prompt:show_prompts",
        example="kuhn --style reasoned",
    ),
    "data": Command(
        "demonstrations:data",
        "Write demonstrations of scripted players, as data for SFT.",
        names={"out": "--out", "sets": "--set"},
        example="sepo --out demonstrations",
    ),
    "solve": Command(
        "solutions:solve",
        "Find an equilibrium of a small game by counterfactual regret minimisation, and measure how near it is.",
        names={"out": "--out"},
        example="kuhn --out solved",
    ),
    "steps": Command(
        "steps:steps",
        "Estimate the value of each step of recorded games.",
        names={"out": "--out", "players": "--player"},
        example="runs/demo/record --out steps",
    ),
    "recipes": Command(
        "recipes:list_recipes", "List the shipped recipes with their descriptions.", names_files=False, example="kuhn"
    ),
    "train": Command(
        "trainings:train",
        "Train a model by one or more recipes; continue a stopped run with `resume=True`.",
        names={"changes": "--set"},
        instead={"--dry-run": ("dry_runs:dry_run", "")},
        runs="train:show_training",
        servers=True,
        example="sepo/kuhn-tiny --out runs/demo",
    ),
    "runs": Command(
        "run_lists:list_runs",
        "List the runs in a folder with their status and newest figures.",
        names_files=False,
        example="runs --json",
    ),
    "upgrade": Command(
        "upgrades:upgrade",
        "Write the settings of a run of an earlier release under the names of this one, and keep the old files.",
        example="runs/demo",
    ),
    "watch": Command(
        "stratagem.cli.watch:watch",
        "Watch a run until it ends: its step, its main figures, its curves and its checks.",
        names_files=False,
        example="runs/demo",
    ),
    "sweep": Command(
        "sweeps:sweep",
        "Run every arm of a sweep with every seed, and test its hypothesis; the same call goes on with it.",
        servers=True,
        example="recipes/sweeps/kuhn-held.toml --out runs/kuhn-held",
    ),
    "reproduce": Command(
        "reproductions:reproduce",
        "Make the runs of a published table, and print its figures beside theirs; the same call goes on with them.",
        servers=True,
        example="sepo:5 --dry-run",
    ),
    "report": Command(
        "reports:report",
        "Write a report: one HTML file with figures, curves, episodes and recipe, which needs no network.",
        names={"of": "RUN", "out": "--out"},
        example="runs/demo",
    ),
    "serve": Command(
        "endpoints:serve",
        "Serve players of a game behind OpenAI's chat protocol, until it is closed.",
        names={"game": "--game", "styles": "--style"},
        runs="call:wait_for_end",
        json=False,
        example="NashApprox run:runs/demo --game kuhn --port 8000",
    ),
    "mcp": Command(
        "mcp_servers:serve_tables",
        "Serve tables of games to an agent by the Model Context Protocol, until it leaves or the server is closed.",
        names={"probes": "--probe"},
        instead={"--audit": ("mcp_servers:serve_audit", "")},
        runs="call:serve_agent",
        unanswered=3,
        json=False,
        example="kuhn leduc --out records/mcp",
    ),
    "show": Command(
        "stratagem.cli.show:show",
        "List recorded episodes, or print one of them turn by turn.",
        example="runs/demo/record --first 4",
    ),
    "view": Command(
        "views:view",
        "Show runs, recorded games and the replies of models as pages in a browser, until they are closed.",
        names={"needs_token": "--no-token"},
        instead={"--export": ("views:export_replays", "file")},
        runs="call:wait_for_end",
        json=False,
        example="runs/demo",
    ),
    "trust": Command(
        "stratagem.cli.trust:trust_folders",
        "Trust a folder: its recipes and records may run files and commands, contact servers and read, unasked.",
        names_files=False,
        example=".",
    ),
}
"""All commands."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Begin here": ("play", "eval", "audit", "train", "view"),
    "Play": ("games", "players", "tournament", "prompt"),
    "Measure": ("compare", "leaderboard", "verify", "talk", "collusion", "solve", "steps"),
    "Train": ("recipes", "sweep", "reproduce", "data", "upgrade"),
    "Look": ("show", "report", "runs", "watch"),
    "Connect and extend": ("serve", "mcp", "engines", "verify-game", "new", "trust"),
}
"""Names of the commands by the section of the help that lists them; the first has what a newcomer needs."""

PLURAL = ("--players", "--opponents", "--games", "--seats")
"""Options that take several values, as in `--players random mcts:100`."""


def function_named(text: str | Callable[..., Any]) -> Any:
    """Return a function by the name of its module and its own: `audits:audit` of `stratagem.api`, or in full."""
    if not isinstance(text, str):
        return text
    module, _, name = text.partition(":")
    return getattr(import_module(module if "." in module else f"stratagem.api.{module}"), name)
