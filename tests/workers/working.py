"""Runs by workers and their exact results, and setups of matches."""

import warnings

from run_results import end_of
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.seating import rotate_seats
from stratagem.training.runs.folder import RunFolder


def trained(folder, name, *progress, **settings):
    """The results of a short run of an algorithm, by part."""
    settings = {"algorithm": name, "tables_per_shard": 3, "num_threads": 1, **RECIPES[name], **settings}
    recipe = algorithm_of(settings).recipe_type.read(settings)
    run = RunFolder.create(folder, recipe, recipe.seed, "a test")
    bound(recipe, run).train(*progress)
    return {part.partition("/")[2]: result for part, result in end_of(folder).items()}


def setups(text, names, episodes=6, seed=3):
    game = make_game(text)
    players = [make_player(name, game) if isinstance(name, str) else name for name in names]
    return list(rotate_seats(Match(game, players), episodes, Key(seed), name=text))


def warned_by(item):
    """Module of the function that prints warnings here."""
    return warnings.showwarning.__module__
