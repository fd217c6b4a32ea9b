"""Every player by name, and the text that makes one for a game."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from stratagem.base.errors import BadParameter, BrokenEntry, StratagemError, UnknownName, WrongKind
from stratagem.base.file_modules import classes_of, file_name_of
from stratagem.base.named_files import split_name
from stratagem.base.registry import NamedCall, Registry, parse_call
from stratagem.games.auction import Auction
from stratagem.games.base import Game
from stratagem.games.catalogue import installed_part
from stratagem.games.packages import PACKAGES
from stratagem.games.resistance import Resistance
from stratagem.games.resistance.players import CABALS
from stratagem.games.talk import without_talk
from stratagem.language.models.reference import KINDS, NAMED
from stratagem.players import factories, uniform
from stratagem.players.base import Player
from stratagem.players.disguised import disguise_player
from stratagem.players.hearers import SPEAKERS
from stratagem.players.human import keyboard
from stratagem.players.members import ANY_FAMILY, family_of, members_of
from stratagem.players.patterns import FAMILIES, PATTERNS
from stratagem.players.rings import RINGS
from stratagem.players.tabular import TablePlayer
from stratagem.players.talkers import make_hearer, talk_of
from stratagem.players.wrappers import Delayed, Noisy, check_player


def _make_tailed(kind: str, tail: str) -> Player:
    return _lm(f"{kind}:{tail}")


def _lm(model: str, *more: object, **options: Any) -> Player:
    from stratagem.players.language import LanguagePlayer, language_player  # loads an engine, when it is first asked

    known = [field.name for field in fields(LanguagePlayer)][1:]
    if unknown := [repr(value) for value in more] + [name for name in options if name not in known]:
        raise BadParameter(f"A language model has no option {', '.join(unknown)}; its options are {', '.join(known)}.")
    return language_player(model, **options)


TRANSPORTS = ("cmd", "http", "https")
"""Beginnings of the names of agents that are no functions."""


def _agent(agent: object, **options: Any) -> Player:
    from stratagem.players.agents import agent_player  # as above

    return agent_player(_function(agent) or agent, **options)


def _function(name: object) -> Callable[..., Any] | None:
    """Return the function of a file that answers questions as an agent; None where the name is of something else."""
    if not isinstance(name, str) or name.strip().partition(":")[0].casefold() in TRANSPORTS or not split_name(name):
        return None
    from stratagem.players.agents import is_agent_function  # as above

    function = REGISTRY.factory(name)
    return function if is_agent_function(function) else None


def _transport(kind: str, tail: str) -> Player:
    return _agent(f"{kind}:{tail}")


PLAYERS: dict[str, Callable[..., Player]] = {
    **{
        f"{family}/{name}": make
        for package in PACKAGES
        for family, players in package.parts("players").items()
        for name, make in players.items()
    },
    "random": uniform.Random,
    "first-legal": uniform.FirstLegal,
    "perfect": factories.perfect,
    "human": keyboard,
    "agent": _agent,
    "noise": Noisy,
    "delay": Delayed,
    "disguise": disguise_player,
    "arena": factories.arena,
    "search": factories.search,
    **SPEAKERS,
}
"""Players of a family of games as `family/Name`, players of any game by a bare name."""

MODELS: dict[str, Callable[..., Player]] = {name: partial(_lm, name) for name in NAMED} | {"lm": _lm}
"""Language models with a registry name, and the general form for all others."""

PREFIXES: dict[str, Callable[[str], Player]] = {
    "mcts": factories.mcts,
    "ismcts": factories.ismcts,
    "cfr": factories.cfr,
    "openspiel": factories.openspiel,
    "table": TablePlayer.load,
}
PREFIXES |= {kind: partial(_make_tailed, kind) for kind in KINDS}
PREFIXES |= {kind: partial(_transport, kind) for kind in TRANSPORTS}
"""Players of any game whose names carry a raw tail after a colon."""

NOBODY: Mapping[str, Player] = {}
"""No players made elsewhere."""
WRAPPERS = ("noise", "delay", "disguise", "arena", "search", *SPEAKERS)
"""Players that take other players as arguments, by name."""

SYNONYMS = {
    "auction/Truthful": "auction/ValueBid",
    "negotiation-v1/Fair": "negotiation-v1/FairSplit",
    "negotiation-v1/Hard": "negotiation-v1/Hardball",
}
"""Pairs of published names of one strategy."""
KNOWN_AS: Mapping[str, tuple[str, ...]] = {
    "ipd/AlternateDefect(first=C)": ("Alternator",),
    "ipd/AlwaysCooperate": ("Cooperator", "AllC"),
    "ipd/AlwaysDefect": ("Defector", "AllD"),
    "ipd/ExtortZD": ("ZDExtort2", "Extort2"),
    "ipd/GenerousTFT": ("GTFT",),
    "ipd/GenerousZD": ("ZDGTFT2",),
    "ipd/GrimTrigger": ("Grudger",),
    "ipd/HardMajority": ("HardGoByMajority",),
    "ipd/Joss": ("FirstByJoss",),
    "ipd/Pavlov": ("WinStayLoseShift", "WSLS"),
    "ipd/SoftMajority": ("GoByMajority", "SoftGoByMajority"),
    "ipd/SuspiciousTitForTat": ("STFT",),
    "ipd/TitForTat": ("TFT",),
    "ipd/TitForTwoTats": ("TitFor2Tats", "TF2T"),
}
"""Names of players in Axelrod's library and in the literature, to which an error answers with the name here."""

REGISTRY: Registry[Player] = Registry("player", PLAYERS | MODELS, "stratagem.players", Player)


def _registry_of(game: Game[Any]) -> Registry[Player]:
    """Return all players, with those that the installed package of a game declares."""
    own = installed_part("players", without_talk(game))
    if own is None:
        return REGISTRY
    try:
        named = {f"{game.spec.family}/{name}": make for name, make in own.part.items()}
    except AttributeError as error:
        raise BrokenEntry("mapping of players", own.entry, error) from error
    return REGISTRY.with_factories(named, own.entry)


def player_names(game: Game[Any]) -> list[str]:
    """Return the names that this game takes without arguments; `PATTERNS` lists the others."""
    names, family = _registry_of(game).names(), f"{game.spec.family}/"
    own = [name.removeprefix(family) for name in names if name.startswith(family)]
    own += names_beside(game)
    return own + [
        name for name in names if "/" not in name and name not in (*WRAPPERS, *MODELS, "perfect", "human", "agent")
    ]


def patterns(game: Game[Any]) -> list[str]:
    """Return the entries of `PATTERNS` that this game admits, as far as its declaration says."""
    from stratagem.players.tree_search import searchable  # as above

    spec = game.spec
    duel = spec.seats == 2 and spec.utility in ("zero-sum", "constant-sum")
    barred = {
        "perfect": not (duel and spec.perfect_information and game.twin() is not None),
        "mcts:100": not searchable(game),
        "ismcts:100": not searchable(game, hidden=game.twin() is None),
        "cfr:1000": not (duel and spec.private_information),
        "openspiel:uniform_random": game.twin() is None,
        **{f"{talker}(PLAYER)": not game.has_talk for talker in SPEAKERS},
        **{f"{ring}(PLAYER)": not (game.has_talk and isinstance(without_talk(game), Auction)) for ring in RINGS},
        **{f"{cabal}(PLAYER)": not (game.has_talk and isinstance(without_talk(game), Resistance)) for cabal in CABALS},
    }
    return [pattern for pattern in PATTERNS if not barred.get(pattern)]


_OPPONENTS = ("NashApprox", "TitForTat", "dumbbot-tuned", "ismcts:100", "mcts:100")
"""Players to sit down against, the first that plays the game and sees nothing that it hides."""


def suggest_opponent(game: Game[Any]) -> str:
    """Return the name of a strong player of a game, for a person who names none; without one that of a script."""
    names = player_names(game)
    for name in (*(name for name in _OPPONENTS if name in {*patterns(game), *names}), *names):
        with suppress(StratagemError):  # a search may need what OpenSpiel lacks for a game
            if not make_player(name, game).traits.sees_hidden or not game.spec.private_information:
                return name
    return "random"


def make_player(text: str | Player, game: Game[Any], known: Mapping[str, Player] = NOBODY) -> Player:
    """Make the player that a text names in this game: `TitForTat`, `mcts:100`, `noise(GrimTrigger, p=0.05)`.

    A player is returned as it is, if it can play the game. Names in `known` stand for players that were made elsewhere.
    """
    text = known.get(text.strip(), text) if isinstance(text, str) else text
    if not isinstance(text, str):
        return _admit_player(text, game)
    prefix, colon, tail = text.strip().partition(":")
    if colon and prefix.casefold() in PREFIXES:
        player = PREFIXES[prefix.casefold()](tail)
    elif "+" in prefix and prefix.partition("+")[0] in NAMED:
        player = _lm(text.strip())
    else:
        call = parse_call(text)
        key = _resolve(call.name, game)
        call = _around(call, key, game, known) if key in WRAPPERS else call._replace(name=key)
        function = None if call.args or call.kwargs else _function(key)
        player = _registry_of(game).make(call) if function is None else _agent(function)
        if split_name(key):
            _check_family(key, members_of(player).family, game)
    player = make_hearer(player, game)
    check_player(player, game)
    return player


def name_of_player(player: str | Player) -> str:
    """Return the text that names a player; refused where it is none."""
    if isinstance(player, str):
        return player
    if isinstance(player, type) or not isinstance(player, Player):
        raise WrongKind("player", "a name such as `random`, or a Player", player)
    return player.name


def _admit_player(player: Player, game: Game[Any]) -> Player:
    """Return a player that was made elsewhere; refused where it is none, or plays other games."""
    _check_family(name_of_player(player), members_of(player).family, game)
    player = make_hearer(player, game)
    check_player(player, game)
    return player


def _around(call: NamedCall, key: str, game: Game[Any], known: Mapping[str, Player]) -> NamedCall:
    """Make a wrapper around the players that its arguments name."""
    options = dict(call.kwargs)
    inner = call.args or tuple(options.pop(name) for name in ("player",) if name in options)
    if not inner:
        alike = [name for name in player_names(game) if key in name.casefold()]  # `Grim` may mean GrimTrigger
        beside = f"; {game.spec.name} has a player {' and '.join(alike)}" if alike else ""
        raise BadParameter(f"{key} goes around another player: write {key}(PLAYER) with the name of one{beside}.")
    played = talk_of(game, key).game if key in SPEAKERS else game
    if key != "search":
        return NamedCall(key, (make_player(str(inner[0]), played, known), *inner[1:]), options)
    for name in ("opponents", "rollout_player"):
        if name in options:
            given = options[name] if isinstance(options[name], list | tuple) else [options[name]]
            options[name] = tuple(make_player(str(one), played, known) for one in given)
    return NamedCall(key, tuple(make_player(str(one), played, known) for one in inner), options)


def _resolve(name: str, game: Game[Any]) -> str:
    """Return the key of a name: in the file of the game, in its family, then among the players of any game.

    Case does not matter, but in a file, and where two names differ in it alone.
    """
    if split_name(name):
        return name
    if beside := _in_file_of(game, name):
        return beside
    keys, wanted = _registry_of(game).names(), (f"{game.spec.family}/{name}", name)
    if exact := [key for key in wanted if key in keys]:
        return _admit_name(exact[0], game)
    for spelt in wanted:
        alike = [key for key in keys if key.casefold() == spelt.casefold()]
        if len(alike) == 1:
            return _admit_name(alike[0], game)
    if _is_run(name):
        raise BadParameter(f"{name} is the folder of a run: its trained model is the player run:{name}.")
    note, here = _played_by(name), _name_here(name, game)
    known = [*player_names(game), *patterns(game)]
    raise UnknownName(f"player of {game.spec.name}", name, known, file=True, note=note, here=here)


def _name_here(name: str, game: Game[Any]) -> str:
    """Return the player of a game that has this name elsewhere, or in several words; empty where there is none."""
    wanted, family = name.replace(" ", "").replace("-", "").casefold(), game.spec.family
    elsewhere = {alias.casefold(): key for key, names in KNOWN_AS.items() for alias in names}
    ours = {key.partition("/")[2].casefold(): key for key in PLAYERS if key.startswith(f"{family}/")}
    of, _, player = (ours | elsewhere).get(wanted, "").partition("/")
    return player if of == family else ""


def _is_run(name: str) -> bool:
    try:
        return (Path(name) / "run.json").is_file()
    except (OSError, ValueError):  # too long a name, or a character that no path has
        return False


def _played_by(name: str) -> str:
    """Return the families of games that have a player of this name, in brackets; empty where there is none."""
    ends = f"/{name.casefold()}"
    families = [key.rpartition("/")[0] for key in REGISTRY.names() if key.casefold().endswith(ends)]
    return f" (it plays {' and '.join(families)})" if families else ""


def names_beside(game: Game[Any]) -> list[str]:
    """Return the players of the game's family in the file of the game."""
    found = split_name(file_name_of(type(game)) or "")
    if found is None:
        return []
    classes = classes_of(found[0], Player)
    return [name for name, made in classes.items() if family_of(made) == game.spec.family]


def _in_file_of(game: Game[Any], name: str) -> str | None:
    """Return the name of a player in the file of the game; None without such a file or player."""
    found = split_name(file_name_of(type(game)) or "")
    if found is None or not name.isidentifier():
        return None
    key = f"{found[0]}:{name}"
    try:
        REGISTRY.factory(key)
    except (BadParameter, UnknownName):
        return None
    return key


def _admit_name(key: str, game: Game[Any]) -> str:
    family, slash, _ = key.rpartition("/")
    _check_family(key, family if slash else ANY_FAMILY, game)
    return key


def _check_family(key: str, family: str, game: Game[Any]) -> None:
    if family not in (ANY_FAMILY, game.spec.family):
        raise BadParameter(f"{key} plays {FAMILIES.get(family, family)}, not {game.spec.name}.")
