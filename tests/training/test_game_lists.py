"""Lists of games in recipes: drawn games, streams, what is held out, and a stream that is stopped."""

import shutil

import pytest

from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.reinforce import REINFORCEAlgorithm, REINFORCERecipe
from stratagem.base.errors import StratagemError
from stratagem.games import Key
from stratagem.games.drawn.distribution import GameDistribution, GameStream
from stratagem.training.collector import RolloutBatch, StreamCollector
from stratagem.training.game_lists import drawn_digests, named_games
from stratagem.training.runs.folder import RunFolder

RECIPE = {
    "algorithm": "reinforce",
    "games": ["stream(matrix, 2, seed=1)"],
    "validation_games": ["draws(matrix, 2, seed=2)"],
    "test_games": ["draws(matrix, 2, seed=3)"],
    "opponents": ["random"],
    "evaluate_every": 1,
    "validation_episodes": 1,
    "test_episodes": 1,
    "reinforce": {"iterations": 3, "episodes_per_batch": 2, "optimizer": {"learning_rate": 1e-3}},
}


def names(count: int, seed: int) -> list[str]:
    return [one.name for one in GameDistribution("matrix", count, seed).games()]


def test_recipe_holds_the_names_of_drawn_games() -> None:
    recipe = REINFORCERecipe.read({**RECIPE, "games": ["kuhn", "draws(matrix, 2, seed=1)"]})
    assert list(recipe.games) == ["kuhn", *names(2, 1)]
    assert list(recipe.validation_games) == names(2, 2)
    assert next(game.figure_name for game in named_games(recipe.games)) == "kuhn"
    assert len({game.figure_name for game in named_games(recipe.games)}) == 3


def test_stream_meets_no_game_that_is_held_out() -> None:
    stream = GameStream("matrix", 2, 1)
    (first, _second) = stream.games_of(0).games()
    held_out = drawn_digests([first.name])
    met: list[str] = []

    class Plays:
        def __init__(self, game: object, key: Key) -> None:
            met.append(game.figure_name)  # type: ignore[attr-defined]

        def collect(self, iteration: int) -> RolloutBatch:
            return RolloutBatch([], {f"{met[-1]}/payoff": float(len(met))}, [], {}, frozenset())

    collector = StreamCollector(stream, Plays, Key(0), held_out)  # type: ignore[arg-type]
    batch = collector.collect(0)
    assert f"drawn-matrix-{first.name.split('=')[1].split(',')[0]}" not in met
    assert len(met) == 2
    assert batch.metrics == {"stream-matrix/payoff": 1.5}
    collector.collect(1)
    assert len(set(met)) == 4


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"games": ["draws(chess, 2)"]}, "chess"),
        ({"games": ["stream(matrix, 0)"]}, "`count` of at least 1"),
        ({"validation_games": []}, "name `validation_games`"),
        ({"test_games": ["stream(matrix, 2)"]}, "only training takes a stream"),
        ({"games": ["draws(matrix, 2, seed=2)"]}, "which training meets: name another seed"),
        ({"sft": {"num_examples": 10}}, "SFT learns before any iteration"),
        (
            {"sft": {"sources": [{"games": ["draws(matrix, 2, seed=3)"], "teacher": "random"}]}},
            "`test_games` has drawn",
        ),
    ],
)
def test_wrong_lists_are_one_sentence(change: dict[str, object], sentence: str) -> None:
    with pytest.raises(StratagemError, match=sentence):
        REINFORCERecipe.read({**RECIPE, **change})


def test_policies_of_seats_take_no_stream() -> None:
    policies = {"first": {"seats": [0]}, "second": {"seats": [1]}}
    lists = {name: RECIPE[name] for name in ("games", "validation_games")}
    with pytest.raises(StratagemError, match="`policies` play the same games"):
        GRPORecipe.read({**lists, "algorithm": "grpo", "policies": policies})


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ({"games": ["stream(matrix, 1)"], "validation_games": ["draws(matrix, 2)"]}, "plays one game, and `games` has"),
        ({"games": ["kuhn"], "validation_games": ["draws(matrix, 2)"]}, "validated and evaluated in its game"),
        ({"games": ["kuhn"], "test_games": ["draws(matrix, 2)"]}, "validated and evaluated in its game"),
    ],
)
def test_league_has_one_game(lists: dict[str, object], sentence: str) -> None:
    with pytest.raises(StratagemError, match=sentence):
        LeagueRecipe.read({**lists, "algorithm": "league"})


def test_equal_game_of_another_seed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training and test are told apart by the game and not by its seed."""
    first, second = names(2, 1)
    from stratagem.training import game_lists

    same = game_lists.draw_game(0, "matrix", "small")
    monkeypatch.setattr(game_lists, "draw_game", lambda *_: same)
    with pytest.raises(StratagemError, match="which training meets"):
        REINFORCERecipe.read({**RECIPE, "games": [first], "test_games": [second]})


@pytest.mark.runs
def test_stopped_stream_goes_on_to_the_byte(tmp_path) -> None:
    sources = [{"games": ["draws(matrix, 2, seed=4)"], "teacher": "GameSolution", "num_examples": 8}]
    recipe = REINFORCERecipe.read({**RECIPE, "sft": {"sources": sources, "epochs": 1, "batch_size": 8}})
    whole = RunFolder.create(tmp_path / "whole", recipe, recipe.seed, "a test")

    def copied(step: int, *_: object) -> None:
        if step == recipe.sft_steps + 2:
            shutil.copytree(whole.path, tmp_path / "stopped")

    REINFORCEAlgorithm(recipe, whole).train(copied)
    stopped = RunFolder.open(tmp_path / "stopped")
    REINFORCEAlgorithm(recipe, stopped).train()
    for name in ("metrics.jsonl", "evaluation.json"):
        assert (stopped.path / name).read_bytes() == (whole.path / name).read_bytes()
    text = (whole.path / "metrics.jsonl").read_text()
    assert "stream-matrix/return/0" in text
    assert names(2, 2)[0].split("=")[1].split(",")[0] in text


@pytest.mark.runs
@pytest.mark.parametrize("algorithm", ["sepo", "grpo"])
def test_each_iteration_trains_on_fresh_draws_and_on_none_that_is_held_out(algorithm, tmp_path, monkeypatch) -> None:
    """The stream's own first games are held out, so it has to leave them out by their digest."""
    held_out = GameStream("matrix", 2, 1).games_of(0).games()
    sources = [{"games": ["draws(matrix, 2, seed=4)"], "teacher": "GameSolution", "num_examples": 8}]
    own = {name: RECIPES[algorithm][name] for name in RECIPES[algorithm] if name not in ("sft", "games")}
    recipe = algorithm_of({"algorithm": algorithm}).recipe_type.read(
        {
            **own,
            "algorithm": algorithm,
            "games": ["stream(matrix, 2, seed=1)"],
            "validation_games": [held_out[0].name],
            "test_games": [held_out[1].name],
            "sft": {"sources": sources, "epochs": 1, "batch_size": 8},
        }
    )
    played: list[set[str]] = []
    collect = StreamCollector.collect

    def note_games(collector: StreamCollector, iteration: int) -> RolloutBatch:
        batch = collect(collector, iteration)
        assert batch.examples
        played.append({episode.game for episode in batch.episodes})
        return batch

    monkeypatch.setattr(StreamCollector, "collect", note_games)
    folder = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    bound(recipe, folder).train()
    digests = [drawn_digests(sorted(games)) for games in played]
    assert len(played) == own[algorithm]["iterations"]
    assert [len(some) for some in digests] == [2] * len(played)
    assert len(frozenset().union(*digests)) == 2 * len(played)
    assert not frozenset().union(*digests) & drawn_digests([one.name for one in held_out])
    assert {one.draw.digest for one in held_out} == drawn_digests([one.name for one in held_out])
