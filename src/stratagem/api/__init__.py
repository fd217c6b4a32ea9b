"""Functions that `import stratagem` offers, and the results that they return; the command line calls them, too."""

from __future__ import annotations

from importlib import import_module
from typing import Any

FUNCTIONS = {
    "game": "names",
    "player": "names",
    "play": "matches",
    "evaluate": "evaluations",
    "exploitability": "exploitabilities",
    "solve": "solutions",
    "tournament": "tournaments",
    "talk": "talks",
    "collusion": "collusions",
    "audit": "audits",
    "plan_audit": "audit_plans",
    "compare": "log_comparisons",
    "compare_audits": "audit_comparisons",
    "rank_audits": "audits",
    "train": "trainings",
    "dry_run": "dry_runs",
    "sweep": "sweeps",
    "reproduce": "reproductions",
    "load_run": "runs",
    "upgrade": "upgrades",
    "read_record": "records",
    "report": "reports",
    "list_games": "games",
    "list_players": "players",
    "list_recipes": "recipes",
    "list_engines": "engines",
    "list_runs": "run_lists",
    "prompt": "prompts",
    "verify": "verification",
    "verify_figures": "card_verification",
    "new": "extensions",
    "data": "demonstrations",
    "steps": "steps",
    "serve": "endpoints",
    "serve_tables": "mcp_servers",
    "serve_audit": "mcp_servers",
    "view": "views",
    "export_replays": "views",
    "servers": "servers",
    "allow": "consents",
    "trust": "consents",
    "list_trusted": "consents",
    "forget": "consents",
}
"""Module of this package by the name of its function."""


def load_function(name: str) -> Any:
    """Load a function by its name."""
    return getattr(import_module(f"{__name__}.{FUNCTIONS[name]}"), name)
