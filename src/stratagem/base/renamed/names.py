"""Names in modules that were renamed: an import of the old name gives what has the new name, until release 0.5."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

RENAMED: Mapping[str, Mapping[str, str]] = {
    "api.verification": {"RULE": "PLAYERS_RULE"},
    "algorithms.reinforce": {"SelfPlay": "SelfPlayCollector"},
    "games": {"Part": "ActionPart", "Reply": "ParsedReply"},
    "games.conformance": {"Check": "RuleCheck", "Report": "ConformanceReport", "Transcript": "PlayedPath"},
    "games.negotiation_v2": {"written": "write_bundle"},
    "games.resistance": {"proposed": "write_proposal"},
    "games.sender_receiver": {"PastRound": "PastExchange", "written": "write_action"},
    "language.decoding.stopping": {"Watch": "GrowingReply"},
    "language.engines.base": {"Answered": "RequestAnswer"},
    "language.prompting.base": {"Message": "ChatMessage"},
    "learn.losses.base": {"combined": "combine_outputs"},
    "measure.audit.measurement": {"estimated": "fill_figure"},
    "measure.labels": {"Reading": "LabelReading"},
    "measure.suites": {"Line": "SuiteLine"},
    "players.base": {"Scored": "ScoredActions", "described": "describe_player", "shown": "format_option"},
    "players.talkers": {
        "Babbler": "BabblingTalker",
        "Honest": "HonestTalker",
        "Inverter": "InvertingTalker",
        "Liar": "LyingTalker",
    },
    "playing.seating": {"rotated": "rotate_seats"},
    "playing.workers.shards": {"played": "play_setups"},
    "training.opponents.matchmaking": {"Fixed": "FixedOpponent", "mixed": "mix_odds"},
    "training.stage": {"Batch": "TrainingBatch"},
}
"""By module below `stratagem`, as it is called now: new names by old names. Only public names are here."""
RENAMED_FUNCTIONS: Mapping[str, str] = {
    "games": "list_games",
    "players": "list_players",
    "recipes": "list_recipes",
    "engines": "list_engines",
    "runs": "list_runs",
    "trusted": "list_trusted",
}
"""New names of the functions of `import stratagem` by old names."""
CALLED_PACKAGES: Mapping[str, str] = {
    "games": "list_games",
    "players": "list_players",
    "language.engines": "list_engines",
    "training.runs": "list_runs",
    "playing": "play",
}
"""Functions by the package that hides them, or their old names, once it is imported by a present or former name."""


def old_names_of(module: ModuleType) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, which answers old names with a warning, and others as the module's own."""
    names = RENAMED[module.__name__.partition(".")[2]]
    own: Callable[[str], Any] | None = vars(module).get("__getattr__")

    def answer(name: str) -> Any:
        if own is not None and name not in names:
            return own(name)
        return find_renamed(module, name, names)

    return answer


def find_renamed(module: ModuleType, name: str, names: Mapping[str, str]) -> Any:
    """Return what has the new name in a module, with a warning to the caller of its `__getattr__`."""
    if name not in names:
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    old, new = f"{module.__name__}.{name}", names[name]
    warnings.warn(f"{old} is now {new}.", DeprecationWarning, stacklevel=3)
    return getattr(module, new)


class CallablePackage(ModuleType):
    """Package that answers a call as the function that it hides.

    `sg.games()` finds the package `games`. After `import stratagem.play.match`, a former name, `sg.play` is a package.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function with a warning."""
        name = CALLED_PACKAGES[self.__name__.partition(".")[2]]
        said = f"{self.__name__} is a package: call stratagem.{name}, and import packages by their present names."
        warnings.warn(said, DeprecationWarning, stacklevel=2)
        return import_module("stratagem.api").load_function(name)(*args, **kwargs)
