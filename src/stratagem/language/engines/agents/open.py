"""Opening of engines of agents: once for all players of one agent."""

from __future__ import annotations

from stratagem.base.consent.table import check_host
from stratagem.language.engines.agents.engine import AgentEngine
from stratagem.language.engines.agents.spec import AgentSpec
from stratagem.language.engines.base import Engine
from stratagem.language.engines.remote.terms import Terms, current

ENGINES: dict[tuple[AgentSpec, Terms], AgentEngine] = {}


def agent_engine(spec: AgentSpec) -> Engine:
    """Return the engine of an agent, opened once."""
    if spec.transport == "http":
        check_host(spec.where)
    known = spec, current()
    if known not in ENGINES:
        ENGINES[known] = AgentEngine(*known)
    return ENGINES[known]


def agent_engines() -> list[Engine]:
    """Return the engines of all agents so far."""
    return list(ENGINES.values())
