from stratagem.api.audits import audit as audit
from stratagem.api.audits import compare_audits as compare_audits
from stratagem.api.audits import rank_audits as rank_audits
from stratagem.api.dry_runs import dry_run as dry_run
from stratagem.api.endpoints import serve as serve
from stratagem.api.evaluations import evaluate as evaluate
from stratagem.api.exploitabilities import exploitability as exploitability
from stratagem.api.files import allow_file as allow_file
from stratagem.api.matches import play as play
from stratagem.api.names import game as game
from stratagem.api.names import player as player
from stratagem.api.records import read_record as read_record
from stratagem.api.runs import load_run as load_run
from stratagem.api.servers import servers as servers
from stratagem.api.tournaments import tournament as tournament
from stratagem.api.trainings import train as train
from stratagem.api.verification import verify as verify
from stratagem.errors import StratagemError as StratagemError

__version__: str
__all__ = [
    "StratagemError",
    "__version__",
    "allow_file",
    "audit",
    "compare_audits",
    "dry_run",
    "evaluate",
    "exploitability",
    "game",
    "load_run",
    "play",
    "player",
    "rank_audits",
    "read_record",
    "serve",
    "servers",
    "tournament",
    "train",
    "verify",
]
