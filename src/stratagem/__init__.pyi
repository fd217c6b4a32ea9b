from stratagem.api.audit_comparisons import compare_audits as compare_audits
from stratagem.api.audit_plans import plan_audit as plan_audit
from stratagem.api.audits import audit as audit
from stratagem.api.audits import rank_audits as rank_audits
from stratagem.api.card_verification import verify_figures as verify_figures
from stratagem.api.collusions import collusion as collusion
from stratagem.api.consents import allow as allow
from stratagem.api.consents import forget as forget
from stratagem.api.consents import list_trusted as list_trusted
from stratagem.api.consents import trust as trust
from stratagem.api.demonstrations import data as data
from stratagem.api.dry_runs import dry_run as dry_run
from stratagem.api.endpoints import serve as serve
from stratagem.api.engines import list_engines as list_engines
from stratagem.api.evaluations import evaluate as evaluate
from stratagem.api.exploitabilities import exploitability as exploitability
from stratagem.api.extensions import new as new
from stratagem.api.games import list_games as list_games
from stratagem.api.log_comparisons import compare as compare
from stratagem.api.matches import play as play
from stratagem.api.mcp_servers import serve_audit as serve_audit
from stratagem.api.mcp_servers import serve_tables as serve_tables
from stratagem.api.names import game as game
from stratagem.api.names import player as player
from stratagem.api.players import list_players as list_players
from stratagem.api.prompts import prompt as prompt
from stratagem.api.recipes import list_recipes as list_recipes
from stratagem.api.records import read_record as read_record
from stratagem.api.reports import report as report
from stratagem.api.reproductions import reproduce as reproduce
from stratagem.api.run_lists import list_runs as list_runs
from stratagem.api.runs import load_run as load_run
from stratagem.api.servers import servers as servers
from stratagem.api.solutions import solve as solve
from stratagem.api.steps import steps as steps
from stratagem.api.sweeps import sweep as sweep
from stratagem.api.talks import talk as talk
from stratagem.api.tournaments import tournament as tournament
from stratagem.api.trainings import train as train
from stratagem.api.upgrades import upgrade as upgrade
from stratagem.api.verification import verify as verify
from stratagem.api.views import export_replays as export_replays
from stratagem.api.views import view as view
from stratagem.base.errors import StratagemError as StratagemError

__version__: str
__all__ = [
    "StratagemError",
    "__version__",
    "allow",
    "audit",
    "collusion",
    "compare",
    "compare_audits",
    "data",
    "dry_run",
    "evaluate",
    "exploitability",
    "export_replays",
    "forget",
    "game",
    "list_engines",
    "list_games",
    "list_players",
    "list_recipes",
    "list_runs",
    "list_trusted",
    "load_run",
    "new",
    "plan_audit",
    "play",
    "player",
    "prompt",
    "rank_audits",
    "read_record",
    "report",
    "reproduce",
    "serve",
    "serve_audit",
    "serve_tables",
    "servers",
    "solve",
    "steps",
    "sweep",
    "talk",
    "tournament",
    "train",
    "trust",
    "upgrade",
    "verify",
    "verify_figures",
    "view",
]
