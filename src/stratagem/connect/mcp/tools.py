"""Tools of a server of tables: their arguments, their descriptions for a model, and what a call of one returns.

Nothing here knows the package `mcp`. A wrong call is one sentence, which the agent reads and corrects.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from traceback import format_exception
from typing import Annotated, Any, NamedTuple, Protocol

from pydantic import ConfigDict, Field, StrictInt, StrictStr

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.settings import Settings
from stratagem.base.visible import visible
from stratagem.connect.mcp.replies import TableReply, plain_reply, refusal
from stratagem.games.base import Json
from stratagem.language.engines.remote.replies import LONGEST, sound

_NAME = 1000
"""Largest number of characters of a handle, a question's number and the name of a game."""
_LINES = 10_000
"""Largest number of lines of an action."""
_log = logging.getLogger(__name__)

Name = Annotated[StrictStr, Field(max_length=_NAME)]


class TableSource(Protocol):
    """Tables that a server has, of games in play or of an audit."""

    @property
    def summary(self) -> str:
        """Text for an agent that has no table yet."""
        ...

    def open(self, game: str, seat: int | None) -> TableReply: ...

    def rules(self, handle: str) -> str: ...

    def observe(self, handle: str) -> TableReply: ...

    def act(self, handle: str, number: str, text: str) -> TableReply: ...


class ToolArguments(Settings):
    """Arguments of a tool, whose documentation is part of their schema."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class RulesArguments(ToolArguments):
    """Arguments of `rules`."""

    table: Name = ""
    """Handle of a table; without it the reply tells the games here, and how to play."""


class OpenArguments(ToolArguments):
    """Arguments of `open_table`."""

    game: Name = ""
    """Game, where the server has several."""
    seat: Annotated[StrictInt, Field(ge=0, lt=1000)] | None = None
    """Seat, from 0; without it seats take turns."""


class ObserveArguments(ToolArguments):
    """Arguments of `observe`."""

    table: Name
    """Handle of the table."""


class ActArguments(ToolArguments):
    """Arguments of `act`."""

    table: Name
    """Handle of the table."""
    question: Name
    """Number of the question that this answers, as the last reply about the table told it."""
    action: StrictStr | Annotated[list[StrictStr], Field(max_length=_LINES)]
    """Legal action, or a text whose last line names one; for several slots one line each, or a list of lines."""


class ServedTool(NamedTuple):
    """Tool as the protocol lists it."""

    name: str
    description: str
    arguments: type[ToolArguments]
    call: Callable[[TableSource, Any], TableReply]
    changes: bool = False
    """True if a call changes a table."""

    @property
    def schema(self) -> Json:
        """Schema of the arguments in JSON."""
        return self.arguments.model_json_schema()


HOW_TO = (
    "Call open_table for a seat at a table: it returns a handle, the rules, what the seat sees, and a question with a "
    "number and the legal actions. Answer by act with the handle, the number of the question and one action. Its reply "
    "has the next question, until the state is over. Keep the handle: nothing else leads back to the table. A reply "
    "without a legal action counts by the rules of the game."
)
"""Instructions of the server, and the reply of `rules` without a table."""


def _rules(tables: TableSource, given: RulesArguments) -> TableReply:
    if not given.table:
        return plain_reply("", "no table", [HOW_TO, tables.summary])
    rules = tables.rules(given.table)
    return plain_reply(given.table, "rules", [rules], rules=rules)


def _open_table(tables: TableSource, given: OpenArguments) -> TableReply:
    return tables.open(given.game, given.seat)


def _observe(tables: TableSource, given: ObserveArguments) -> TableReply:
    return tables.observe(given.table)


def _act(tables: TableSource, given: ActArguments) -> TableReply:
    text = sound(given.action if isinstance(given.action, str) else "\n".join(given.action))
    if len(text) > LONGEST:
        raise BadParameter(f"An action has at most {LONGEST:,} characters, and this one has {len(text):,}.")
    return tables.act(given.table, given.question, text)


TOOLS: Mapping[str, ServedTool] = {
    tool.name: tool
    for tool in (
        ServedTool(
            "rules",
            "Tell the rules of the game at a table; without a table, what there is to play here, and how.",
            RulesArguments,
            _rules,
        ),
        ServedTool(
            "open_table",
            "Open a table, or take the next question of the server. Returns a handle for the other tools, the rules, "
            "what your seat sees, and the legal actions.",
            OpenArguments,
            _open_table,
            changes=True,
        ),
        ServedTool(
            "observe",
            "Tell again what your seat at a table sees now: the situation, the question with its legal actions, what "
            "happened since your last action, and the payoff when the game is over.",
            ObserveArguments,
            _observe,
        ),
        ServedTool(
            "act",
            "Answer the open question of a table with one action. Returns what your seat sees then, or the next "
            "question, which is at another table in an audit.",
            ActArguments,
            _act,
            changes=True,
        ),
    )
}
"""Tools by name."""


def call_tool(tables: TableSource, name: str, arguments: object) -> TableReply:
    """Call a tool; whatever is wrong with the call is a reply of one sentence."""
    tool = TOOLS.get(name)
    if tool is None:
        return refusal(f"There is no tool of this name: there are {', '.join(TOOLS)}.")
    try:
        if not isinstance(arguments, Mapping) or not all(isinstance(key, str) for key in arguments):
            raise BadParameter(f"The arguments of {name} are an object with {', '.join(tool.arguments.model_fields)}.")
        return tool.call(tables, tool.arguments.read(arguments, name))
    except StratagemError as error:
        return refusal(" ".join(str(error).split()))
    except Exception as error:  # noqa: BLE001 - the agent is told nothing of it, and the operator how it came
        _log.error(visible("".join(format_exception(error))).rstrip())
        return refusal("The server failed at this call; who runs it can read why.")
