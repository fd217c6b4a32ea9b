"""Agents outside of this program as players: a process, a server, or a Python function.

`cmd:./my_agent --fast`, `http://localhost:9000/act`, `my_agent.py:act`, `agent(cmd:./my_agent, timeout=10)`.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property, partial
from inspect import Parameter, isclass, isfunction, signature
from types import FunctionType, NoneType
from typing import Any, ClassVar

from stratagem.base.consent.table import check_command, consent
from stratagem.base.errors import BadParameter, CannotCompute
from stratagem.base.file_modules import file_name_of
from stratagem.base.options import whole, within
from stratagem.games.base import Game, Json, View
from stratagem.games.catalogue import describe
from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.games.disguise import DisguisedView
from stratagem.language.decoding.guides import OneToken
from stratagem.language.engines.agents.function import Function
from stratagem.language.engines.agents.open import agent_engine
from stratagem.language.engines.agents.spec import AgentSpec
from stratagem.language.engines.base import Call, Engine, Prompt, Request
from stratagem.language.engines.remote.replies import sound
from stratagem.language.models.reference import hide_secrets, is_address
from stratagem.language.prompting.past import Past
from stratagem.players.base import Ask, Mix, Move, Player, Scripted, Traits, format_option
from stratagem.players.members import PlayerBase, innermost
from stratagem.players.modes import read

_LISTED = 1000
"""Largest number of actions that are listed where they are neither a set nor a sheet."""
_SEED_BITS = 0x7FFF_FFFF
"""A seed has 31 bits, so that it is positive also in a program whose whole numbers have 32 bits."""


def question(ask: Ask) -> str:
    """Return the question of a turn; equal turns have equal questions."""
    view = ask.view
    content = {
        "type": "decision",
        "episode": ask.episode,
        "turn": ask.turn,
        "attempt": ask.attempt,
        "seat": view.seat,
        "seats": view.game.spec.seats,
        **_describe_view(view),
        "rules": view.rules,
        "situation": view.situation,
        "choices": choices_data(view.choices),
        "memory": _memory(ask.past),
        "seed": ask.key.at("agent").value & _SEED_BITS,
    }
    return sound(json.dumps(content, ensure_ascii=False))


def ask_question(engine: Engine, ask: Ask) -> Generator[Request, Call, Move]:
    """Ask the agent behind an engine the question of a turn, and read its answer."""
    prompt = Prompt((("user", question(ask)),))
    call = yield Request(engine=engine, prompt=prompt, guide=OneToken(), key=ask.key)
    return read(ask.view.choices, call)


def _describe_view(view: View[Any]) -> Json:
    """Return the game by name and what the seat knows as data; under a disguise both would tell what it hides."""
    if isinstance(view, DisguisedView):
        return {"game": None, "facts": None}
    return {"game": describe(view.game), "facts": data_of(view.facts)}


def choices_data(choices: Choices) -> Json:
    """Return the legal actions as data."""
    if isinstance(choices, Sheet):
        slots = [{"name": slot.name, "options": list(slot.options)} for slot in choices.slots]
        return {"kind": "sheet", "fill": choices.fill, "slots": slots}
    if isinstance(choices, Flat) or (choices.count <= _LISTED and not choices.is_open):
        return {"kind": "set", "actions": list(choices)}
    return {"kind": "text", "summary": choices.summary()}


def _memory(past: Past) -> Json:
    """Return the memory of earlier episodes, whose counts may be empty."""
    counts = [{"actions": list(joint), "times": times} for joint, times in past.counts.items()]
    return {"rounds": past.rounds, "counts": counts, "last": None if past.last is None else list(past.last)}


def data_of(value: Any) -> Any:
    """Return facts as JSON data: records by the names of their fields, and anything unknown as a text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: data_of(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: data_of(item) for name, item in zip(value._fields, value, strict=True)}
    if isinstance(value, Mapping):
        return {str(key): data_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [data_of(item) for item in value]
    if isinstance(value, Set):
        return sorted((data_of(item) for item in value), key=repr)
    return str(value)


_WHO = "An agent"


@dataclass(frozen=True)
class AgentPlayer(PlayerBase):
    """Agent that is asked in JSON: a process, a server, or a function."""

    traits: ClassVar[Traits] = Traits(stochastic=True, memory=None, reads_words=True, exact=False, repeats=False)

    agent: str | Function
    """Agent: `cmd:PROGRAM ARGUMENTS`, `http:URL`, `FILE.py:FUNCTION`, or a function."""
    timeout: float = 0.0
    """Seconds for an answer; 0 takes `--timeout`."""
    concurrent: int = 0
    """Largest number of open questions; 0 takes what a process declares, `--concurrency` for a server, and 1 else."""
    env: Sequence[str] = ()
    """Names of the environment variables that a process gets, beside those that every program needs."""

    def __post_init__(self) -> None:
        within(_WHO, "timeout", self.timeout, 0.0)
        whole(_WHO, "concurrent", self.concurrent, 0)
        names = (self.env,) if isinstance(self.env, str) else tuple(self.env)
        if not all(isinstance(name, str) for name in names):
            raise BadParameter(f"{_WHO} needs `env` as names of environment variables, not {self.env!r}.")
        object.__setattr__(self, "env", names)
        if names and self._spec.transport != "cmd":
            raise BadParameter(f"`env` is for a process: {self._spec.text} has none, so leave it out.")
        if self._spec.transport == "cmd":
            _ = self._spec.arguments()
            if consent().strict:  # a class can be named without `agent_player`
                check_command(self._spec.where, names)

    @property
    def name(self) -> str:
        """Text that makes this player again."""
        options = [f"{f.name}={_option(v)}" for f in fields(self)[1:] if (v := getattr(self, f.name)) != f.default]
        text = self._spec.text
        if not options:
            return text
        quoted = repr(text) if set(text) & set(",()[]{}'\"") else text
        return f"agent({', '.join([quoted, *options])})"

    @cached_property
    def _spec(self) -> AgentSpec:
        return spec_of(self.agent, self.timeout, self.concurrent, tuple(self.env))

    @property
    def _engine(self) -> Engine:
        return agent_engine(self._spec)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options; another process starts the agent for itself."""
        return type(self), tuple(getattr(self, field.name) for field in fields(self))

    def check(self, game: Game[Any]) -> None:
        """Refuse an address or an environment that cannot be used, before anything is played."""
        _ = self._engine

    def turn(self, ask: Ask) -> Generator[Request, Call, Move]:
        return ask_question(self._engine, ask)

    def policy(self, view: View[Any]) -> Mix:
        raise CannotCompute(f"{self.name} does not state its probabilities, so only play can measure it.")


def agent_player(what: object, **options: Any) -> AgentPlayer:
    """Make the player of a command, an address, or a function."""
    if not isinstance(what, str) and not callable(what):
        raise BadParameter(f"{_WHO} needs `agent` as a text such as cmd:PROGRAM or http:URL, not {what!r}.")
    known = [field.name for field in fields(AgentPlayer)][1:]
    if unknown := [name for name in options if name not in known]:
        raise BadParameter(f"{_WHO} has no option {', '.join(unknown)}; its options are {', '.join(known)}.")
    player = AgentPlayer(what, **options)
    if isinstance(what, str) and what.strip().partition(":")[0].casefold() == "cmd":
        check_command(what.partition(":")[2].strip(), player.env)
    return player


def spec_of(given: str | Function, timeout: float, concurrent: int, env: tuple[str, ...]) -> AgentSpec:
    """Return the agent that a text or a function stands for."""
    options: dict[str, Any] = {"timeout": timeout, "concurrent": concurrent, "env": env}
    if not isinstance(given, str):
        return AgentSpec("function", _function_name(given), given, **options)
    kind, colon, tail = given.strip().partition(":")
    if colon and kind.casefold() == "cmd":
        return AgentSpec("cmd", tail.strip(), **options)
    if colon and kind.casefold() in ("http", "https"):
        url = f"{kind.casefold()}:{tail}" if tail.startswith("//") else tail.strip()
        if not is_address(url):
            raise BadParameter(
                f"{hide_secrets(url)!r} is no address of an agent: say http:URL, such as http:http://localhost:9000/act."
            )
        return AgentSpec("http", url, **options)
    raise BadParameter(f"{given!r} is no agent: say cmd:PROGRAM, http:URL or FILE.py:FUNCTION.")


def is_agent_function(value: object) -> bool:
    """Return whether a function, or an object that is called, takes one argument, a question, and needs no other."""
    if isclass(value) or isinstance(value, partial) or not callable(value):
        return False
    needed = [p for p in signature(value).parameters.values() if p.default is Parameter.empty]
    return len(needed) == 1 and needed[0].kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def each_once(players: Iterable[Player]) -> list[Player]:
    """Return each player once, by its name; two different ones of one name are refused, since one would be left out."""
    by_name: dict[str, Player] = {}
    for player in players:
        known = by_name.setdefault(player.name, player)
        if isinstance(known, AgentPlayer) and known != player:
            raise BadParameter(
                f"Two agents have the name {player.name}, by which results tell players apart: define each function by "
                "`def` under a name of its own, outside of other functions."
            )
        if untold_options(known) != untold_options(player):
            raise BadParameter(
                f"Two players with different options have the name {player.name}, by which results tell players "
                "apart: make the options fields of a frozen dataclass, so that the name shows them."
            )
        if known.traits.version != player.traits.version:
            raise BadParameter(
                f"Two players have the name {player.name}, by which results tell players apart: give each a name of "
                "its own, as a table has by its file or by `label=`."
            )
    return list(by_name.values())


def untold_options(player: Player) -> tuple[tuple[str, str], ...]:
    """Return the plain attributes of a scripted player that is no dataclass, whose name has no options."""
    player = innermost(player)  # noise and the like name the player inside
    if not isinstance(player, Scripted) or is_dataclass(player):
        return ()
    plain = (str, int, float, tuple, NoneType)
    return tuple(sorted((name, repr(value)) for name, value in vars(player).items() if isinstance(value, plain)))


def _function_name(function: Function) -> str:
    own: type | FunctionType = function if isfunction(function) else type(function)
    return file_name_of(function) or f"{own.__module__}.{own.__qualname__}"


def _option(value: object) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else format_option(value)
