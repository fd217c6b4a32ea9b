"""Servers for agents that speak the Model Context Protocol: `serve_tables` lets them play, `serve_audit` audits one."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stratagem.api.agent_servers import AgentServer, AuditServer, TableServer
from stratagem.api.arguments import as_folder, as_path, several
from stratagem.api.audit_plans import checked_plan
from stratagem.api.endpoints import HOST, check_address, key_of_callers
from stratagem.api.mistakes import one_sentence
from stratagem.api.player_like import PlayerLike, as_player, players_of
from stratagem.api.serving import serving
from stratagem.base.errors import BadParameter
from stratagem.base.options import check_seed, whole, within
from stratagem.measure.audit.pace import warnings_of
from stratagem.measure.audit.plan import DECISIONS
from stratagem.players.catalogue import suggest_opponent
from stratagem.players.given import GameLike, as_game
from stratagem.players.human import at_keyboard

if TYPE_CHECKING:
    from stratagem.connect.mcp.played import PlayedGame
    from stratagem.connect.mcp.tools import TableSource

TABLES = 64
"""Largest number of open tables, by default."""
IDLE = 1800.0
TIMEOUT = 300.0
"""Seconds that an agent has for a question of an audit, by default."""
_SEED_BITS = 62
_NAME = 100
"""Largest number of characters of the name of an agent."""

__all__ = ["serve_audit", "serve_tables"]


@one_sentence
def serve_tables(
    games: GameLike | Sequence[GameLike],
    *,
    opponents: PlayerLike | Sequence[PlayerLike] = (),
    seed: int | None = None,
    out: str | Path | None = None,
    tables: int = TABLES,
    idle: float = IDLE,
    host: str = HOST,
    port: int | None = None,
    engine: str | None = None,
) -> TableServer:
    """Serve tables of games to an agent by the Model Context Protocol, until it leaves or the server is closed.

    The agent has one seat at each table that it opens, and players of ours have the others. Without a seed one is
    drawn, so that no agent can compute the deals. Without a port the server is on the standard input and output of this
    process. Beyond this machine callers must send the key of the environment variable STRATAGEM_SERVE_KEY.

    Args:
        games: Games, such as `kuhn`.
        opponents: Players of the other seats, one for all of them or one for each; by default a strong player.
        seed: Seed of all randomness.
        out: Folder of the record of finished games, or of the card of an audit.
        tables: Largest number of open tables.
        idle: Seconds without a call after which a table is closed, or an audit stops.
        host: Address of HTTP; beyond this machine it needs a key in STRATAGEM_SERVE_KEY.
        port: Port of streamable HTTP, 0 for a free one; without it the server is on the standard streams.
        engine: Engine of local language models, as in `transformers(rows=16)`: stratagem engines.
    """
    key = _check_address("serve_tables", host, port)
    whole("serve_tables", "tables", tables, 1)
    within("serve_tables", "idle", idle, 0.001)
    drawn = secrets.randbits(_SEED_BITS) if seed is None else seed
    check_seed(drawn)
    made = [as_game(game) for game in several(games, "game")]
    from stratagem.connect.mcp.handles import TableHandles
    from stratagem.connect.mcp.played import PlayedGame, PlayedTables
    from stratagem.connect.mcp.shelf import EpisodeShelf

    with serving(engine):
        served = []
        for game in made:
            named = players_of(opponents, least=0) or [suggest_opponent(game)]
            players = [as_player(one, game) for one in named] if game.spec.seats > 1 else []
            if person := next(filter(at_keyboard, players), None):
                raise BadParameter(f"{person.name} answers at this keyboard and cannot be served.")
            served.append(PlayedGame(game, players[0] if len(players) == 1 else players))
    _check_games(served)
    opened = _opening(host, port, key)
    shelf = EpisodeShelf(as_folder(out))
    source = PlayedTables(served, drawn, shelf, TableHandles(tables, idle))
    return TableServer(opened(source, lambda: None), [one.name for one in served], drawn, shelf.close)


def _check_games(served: Sequence[PlayedGame]) -> None:
    """Refuse a game that is there twice, and opponents that do not fit its seats."""
    names = [one.name for one in served]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadParameter(f"A server has each game once, and {twice[0]} is there twice.")
    for one in served:
        _ = one.matches


@one_sentence
def serve_audit(
    games: GameLike | Sequence[GameLike],
    *,
    out: str | Path,
    agent: str = "agent",
    against: PlayerLike | None = None,
    decisions: int = DECISIONS,
    seed: int = 0,
    fail_if: str | Sequence[str] = (),
    probes: str | Sequence[str] = (),
    timeout: float = TIMEOUT,
    concurrency: int = 1,
    idle: float = IDLE,
    host: str = HOST,
    port: int | None = None,
    progress: bool = True,
) -> AuditServer:
    """Audit an agent by the Model Context Protocol: it calls tools for the questions, and the card is written.

    The same call goes on with a stopped audit in its folder, and asks nothing twice. `wait()` returns the audit.

    Args:
        games: Games of the audit.
        out: Folder for the card, its page and the records; a stopped audit there goes on.
        agent: Name of the agent on the card.
        against: Baseline that is asked the same with the same keys; the card has the differences from it.
        decisions: Largest number of decisions that each agent is asked for, shared by the games.
        seed: Seed of all randomness.
        fail_if: Conditions that fail the audit: 'kuhn.exploitability.lower > 0.1'.
        probes: Further probes, such as own.py:Own, with decisions of their own.
        timeout: Seconds for an answer, from the call that tells the question; a later one counts as no reply.
        concurrency: Largest number of questions that the agent is told at once.
        idle: Seconds without a call after which a table is closed, or an audit stops.
        host: Address of HTTP; beyond this machine it needs a key in STRATAGEM_SERVE_KEY.
        port: Port of streamable HTTP, 0 for a free one; without it the server is on the standard streams.
        progress: True to show progress: a bar in a terminal or in a notebook, and lines elsewhere.
    """
    key = _check_address("serve_audit", host, port)
    within("serve_audit", "timeout", timeout, 0.001)
    within("serve_audit", "idle", idle, 0.001)
    whole("serve_audit", "concurrency", concurrency, 1)
    if not isinstance(agent, str) or not agent.isprintable() or not 0 < len(agent) <= _NAME:
        raise BadParameter(f"An agent has a name of 1 to {_NAME} plain characters, not {agent!r}.")
    folder = as_path(out, "folder")
    from stratagem.connect.mcp.asked import AskedTables
    from stratagem.connect.mcp.questions import VisitingAgent
    from stratagem.connect.outside import Outside

    engine = Outside(f"mcp:{agent}")
    plan, conditions = checked_plan(VisitingAgent(engine), games, decisions, seed, fail_if, against, probes)
    for line in warnings_of(plan):
        warnings.warn(line, stacklevel=3)
    opened = _opening(host, port, key)
    planned = sum(step.most for step in plan.steps)
    tables = AskedTables(engine, planned=planned, timeout=timeout, concurrent=concurrency, idle=idle)
    return AuditServer(plan, conditions, folder, tables, opened, stays=port is None, progress=progress)


def _check_address(function: str, host: str, port: int | None) -> str:
    """Check the address, and return the key that callers must send; empty where they need none."""
    if port is None:
        if host != HOST:
            raise BadParameter(f"At {host} a server needs a port: add `port=8000`.")
        return ""
    check_address(function, host, port)
    return key_of_callers(host)


def _opening(host: str, port: int | None, key: str) -> Callable[[TableSource, Callable[[], None]], AgentServer]:
    """Return what opens a server of tables; refused without the package of the protocol."""
    from stratagem.connect.mcp.server import PATH, StandardStreams, application
    from stratagem.show.web.server import Server

    def opened(tables: TableSource, left: Callable[[], None]) -> AgentServer:
        if port is None:
            return StandardStreams(tables, left)
        return Server(application(tables, key), host, port, path=PATH, lifespan=True)

    return opened
