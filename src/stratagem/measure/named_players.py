"""Check of the players that a game names: each of its pools and of its demonstrators can play it."""

from __future__ import annotations

from stratagem.base.errors import StratagemError
from stratagem.games.conformance.report import BrokenRule, NotApplicable
from stratagem.games.conformance.shrinking import ConformanceRule
from stratagem.games.conformance.walk import VerifiedGame
from stratagem.players.pools import Pool, check_weights, make_named, naming_safety


def named_players(case: VerifiedGame) -> str:
    """Check that every player of the pools and every demonstrator exists, and can play the game."""
    game, safety = case.game, naming_safety(case.game)
    if safety is None or not (safety.pools or safety.demonstrators):
        raise NotApplicable("the game names no players")
    try:
        made = [player for pool, names in safety.pools.items() for player in Pool(pool, names).make(game)]
        made += [make_named("The demonstrators", name, game) for name in safety.demonstrators]
        if safety.demonstrators:
            check_weights(safety.demonstrators, f"The demonstrators of {game.spec.name}")
    except StratagemError as error:
        raise BrokenRule(str(error)) from error
    return f"{len({player.name for player in made})} players of pools and demonstrators"


RULE = ConformanceRule("players", named_players, ("signals",))
