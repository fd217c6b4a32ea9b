"""The players: by family of games with rule, traits and pools, those of any game, and the demonstrators."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from chapters.markdown import code, definition, notes, page, rule, table, yes
from stratagem.games import Game, make_game
from stratagem.players.agents import AgentPlayer
from stratagem.players.arena import ArenaPlayer
from stratagem.players.base import Player, Traits
from stratagem.players.catalogue import KNOWN_AS, PLAYERS, SYNONYMS, make_player
from stratagem.players.disguised import Disguised
from stratagem.players.hearers import SPEAKERS
from stratagem.players.human import Human
from stratagem.players.patterns import FAMILIES
from stratagem.players.pools import Pool, demonstrators, has_pools, pools
from stratagem.players.search import RolloutSearch
from stratagem.players.solvers import CFR, Perfect
from stratagem.players.spiel_bot import SpielBot
from stratagem.players.tabular import TablePlayer
from stratagem.players.tree_search import ISMCTS, MCTS
from stratagem.players.uniform import FirstLegal, Random
from stratagem.players.wrappers import Delayed, Noisy

ANY_GAME: dict[str, type] = {
    "random": Random,
    "first-legal": FirstLegal,
    "human": Human,
    "perfect": Perfect,
    "mcts:100": MCTS,
    "ismcts:100": ISMCTS,
    "cfr:1000": CFR,
    "openspiel:uniform_random": SpielBot,
    "table:PATH": TablePlayer,
    "noise(PLAYER, p=0.1)": Noisy,
    "delay(PLAYER, rounds=1)": Delayed,
    "disguise(PLAYER, seed=1)": Disguised,
    "arena(MODEL)": ArenaPlayer,
    "search(PLAYER, num_edits=8)": RolloutSearch,
    **{f"{name}(PLAYER)": talker for name, talker in SPEAKERS.items()},
    "cmd:PROGRAM": AgentPlayer,
    "http:URL": AgentPlayer,
    "FILE.py:FUNCTION": AgentPlayer,
    "agent(AGENT, timeout=10)": AgentPlayer,
}
"""Text of each, and the class whose docstring is its rule."""


def players() -> str:
    """The page."""
    meant = notes(Traits)
    return page(
        "Players",
        "All scripted, search-based and exact players. `stratagem players NAME` prints those of one game. Commands "
        "take the name without the family. Results have the whole name and the version, as in `ipd/TitForTat@1`. "
        "Options follow the name: `GenerousTFT(forgiveness=0.1)`. Other packages add players by the "
        "entry-point group `stratagem.players`: see [Add a player](../how-to/add-a-player.md).",
        f"- *looks back*: {meant['memory']}\n- *mixes*: {meant['stochastic']}\n- *pools*: the pools "
        f"of [suites](suites.md) that contain it.\n- *version*: {meant['version']}",
        *(_family(family) for family in FAMILIES),
        "## Players of any game",
        table(("written", "rule", "options"), ((code(w), definition(c), _options(c)) for w, c in ANY_GAME.items())),
        "## Synonyms",
        table(("name", "player"), ((code(name), code(other)) for name, other in SYNONYMS.items())),
        "## Names elsewhere",
        "Names in Axelrod's library and in the literature. They are not names here; an error leads from them to ours.",
        table(("name", "player"), ((", ".join(map(code, names)), code(key)) for key, names in KNOWN_AS.items())),
        "## Demonstrators",
        "Demonstrators of SFT with the probability of each, as SEPO's appendix prints them; those of the games "
        "that SEPO does not have are ours. "
        "`stratagem.players.pools.draw_demonstrator` draws from them.",
        table(("family", "mixture"), ((family, _mixture(family)) for family in FAMILIES if _named(family))),
    )


def _family(family: str) -> str:
    game = make_game(family)
    names = [name for name in PLAYERS if name.startswith(f"{family}/")]
    rows = (_row(name.removeprefix(f"{family}/"), family, make_player(name, game)) for name in names)
    columns = ("player", "version", "looks back", "mixes", "pools", "rule", "options")
    return f"## {family}\n\nThey play {FAMILIES[family]}.\n\n{table(columns, rows)}\n\n{_pools(family, game)}"


def _row(name: str, family: str, player: Player) -> tuple[object, ...]:
    traits = player.traits
    back = "all rounds" if traits.memory is None else traits.memory
    member = ", ".join(pool.name for pool in _named(family) if name in pool.players)
    return code(name), traits.version, back, yes(traits.stochastic), member, rule(type(player)), _options(type(player))


def _options(cls: type) -> str:
    meant = notes(cls)
    return "; ".join(f"{code(text)}{': ' if name in meant else ''}{meant.get(name, '')}" for name, text in _fields(cls))


def _fields(cls: type) -> Iterator[tuple[str, str]]:
    """Each option as it is written, with its default."""
    for field in fields(cls) if is_dataclass(cls) else ():
        value = f"{field.default:.4g}" if isinstance(field.default, float) else field.default
        yield field.name, field.name if field.default is MISSING else f"{field.name}={value}"


def _named(family: str) -> list[Pool]:
    """Return the pools that a family names."""
    game = make_game(family)
    return list(pools(game).values()) if has_pools(game) else []


def _pools(family: str, game: Game[Any]) -> str:
    if not has_pools(game):
        return "This family has no pools."
    listed = ((pool.name, ", ".join(map(code, pool.players)) or "none") for pool in _named(family))
    return table((f"pool of {game.spec.family}", "players"), listed)


def _mixture(family: str) -> str:
    return ", ".join(f"{name} {weight:.2f}" for name, weight in demonstrators(make_game(family)).items())
