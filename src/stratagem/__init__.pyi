from stratagem.api.audit_plans import plan_audit as plan_audit
from stratagem.api.audits import audit as audit
from stratagem.api.audits import compare_audits as compare_audits
from stratagem.api.audits import rank_audits as rank_audits
from stratagem.api.collusions import collusion as collusion
from stratagem.api.consents import allow as allow
from stratagem.api.consents import forget as forget
from stratagem.api.consents import trust as trust
from stratagem.api.consents import trusted as trusted
from stratagem.api.demonstrations import data as data
from stratagem.api.dry_runs import dry_run as dry_run
from stratagem.api.endpoints import serve as serve
from stratagem.api.engines import engines as engines
from stratagem.api.evaluations import evaluate as evaluate
from stratagem.api.exploitabilities import exploitability as exploitability
from stratagem.api.extensions import new as new
from stratagem.api.games import games as games
from stratagem.api.matches import play as play
from stratagem.api.names import game as game
from stratagem.api.names import player as player
from stratagem.api.players import players as players
from stratagem.api.prompts import prompt as prompt
from stratagem.api.recipes import recipes as recipes
from stratagem.api.records import read_record as read_record
from stratagem.api.reports import report as report
from stratagem.api.reproductions import reproduce as reproduce
from stratagem.api.run_lists import runs as runs
from stratagem.api.runs import load_run as load_run
from stratagem.api.servers import servers as servers
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
    "compare_audits",
    "data",
    "dry_run",
    "engines",
    "evaluate",
    "exploitability",
    "export_replays",
    "forget",
    "game",
    "games",
    "load_run",
    "new",
    "plan_audit",
    "play",
    "player",
    "players",
    "prompt",
    "rank_audits",
    "read_record",
    "recipes",
    "report",
    "reproduce",
    "runs",
    "serve",
    "servers",
    "steps",
    "sweep",
    "talk",
    "tournament",
    "train",
    "trust",
    "trusted",
    "upgrade",
    "verify",
    "view",
]
