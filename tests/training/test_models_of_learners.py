"""Models of the learners of a recipe: what cannot be is refused in a sentence, and the rest is resolved."""

from pathlib import Path

import pytest
from two_models import FIRST, RECIPES, SECOND, algorithm_at

import stratagem as sg
from stratagem.algorithms.catalogue import read_any
from stratagem.algorithms.estimates import estimate_run
from stratagem.algorithms.grpo import GRPORecipe
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.league.state import LeagueState
from stratagem.algorithms.machine_choices import choose_by_memory, choose_formats
from stratagem.algorithms.memory_sizes import USED
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.base.consent.table import commanding
from stratagem.base.errors import BadParameter
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import open_engine
from stratagem.language.models.adapters import adapter_names
from stratagem.language.models.load import load
from stratagem.language.models.unloaded import forbid_loading
from stratagem.learn.pass_sizes import MICROBATCH
from stratagem.training.learner_models import LearnerBase
from stratagem.training.online import decoding_settings
from stratagem.training.policy import model_player
from stratagem.training.runs.folder import RunFolder
from stratagem.training.seated_rollouts import SeatedRollouts

KUHN, ROW, COLUMN = RECIPES["grpo"], {"seats": [0]}, {"seats": [1], "model": SECOND}
BOTH = {"row": ROW, "column": COLUMN}
SEATS = RECIPES["shapellm"]["seats"]


@pytest.mark.parametrize(
    ("name", "changes", "said"),
    [
        (
            "grpo",
            {"policies": {"row": ROW, "column": {"seats": [0, 1]}}},
            "Seat 0 would have two policies, row and col",
        ),
        (
            "grpo",
            {"policies": {"row": ROW, "column": {"seats": [1, 2]}}},
            "`policies.column.seats` names the seat 2, and kuhn(hands=1) has the seats 0 to 1.",
        ),
        ("grpo", {"policies": {"row": ROW}}, "No policy has the seat 1"),
        ("grpo", {"policies": {"row": ROW, "column": {"seats": [-1]}}}, "different numbers from 0 on"),
        ("grpo", {"policies": {"row": ROW, "start": COLUMN}}, "'start' cannot name a policy"),
        ("grpo", {"policies": {"row": ROW, "lora": COLUMN}}, "'lora' cannot name a policy"),
        ("grpo", {"policies": {"row": ROW, "sft": COLUMN}}, "'sft' cannot name a policy, since the metrics of SFT"),
        ("league", {"learners": {"row": {}, "sft": {}}}, "'sft' cannot name a member"),
        (
            "grpo",
            {"policies": {"row": ROW, "column": {**COLUMN, "device": "gpu"}}},
            "there is no device 'gpu': say cpu",
        ),
        (
            "grpo",
            {"policies": {"row": ROW, "column": {**COLUMN, "model": "api:m@http://localhost:1/v1"}}},
            "A `model` behind a server has no weights here",
        ),
        (
            "grpo",
            {"policies": {"row": ROW, "column": {**COLUMN, "model": "run:elsewhere@last"}}},
            "A `model` that was trained before cannot have SFT again",
        ),
        ("grpo", {"grpo": {**KUHN["grpo"], "opponents": {"random": 1.0}}}, "`policies` play each other, and nobody"),
        ("grpo", {"grpo": {**KUHN["grpo"], "snapshot_every": 1}}, "`policies` play each other, and nobody"),
        ("grpo", {"overlap": 1}, "`overlap` must be 0"),
        (
            "shapellm",
            {"seats": {**SEATS, "column": {"learner": "tabular", "model": SECOND}}},
            "There is no setting seats.column.model",
        ),
        (
            "shapellm",
            {"seats": {**SEATS, "column": {"learner": "frozen", "device": "cpu"}}},
            "There is no setting seats.column.device",
        ),
        ("shapellm", {"seats": {**SEATS, "third": {"learner": "naive"}}}, "has 2 seats, and the recipe has 3"),
        (
            "league",
            {"members": {"base_column": "AlwaysBet"}},
            "Two members would be called base_column",
        ),
        ("league", {"members": {"third": {"model": SECOND}}}, "The setting members.third cannot be"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(tmp_path, name, changes, said):
    with forbid_loading(), pytest.raises(BadParameter) as caught:
        algorithm_at(tmp_path / "run", name, **changes)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("grpo", {"policies": {"row": ROW, "column": {**COLUMN, "device": "cuda:99"}}}, "policies.column.device"),
        ("league", {"learners": {"row": {}, "column": {"device": "cuda:99"}}}, "learners.column.device"),
        ("shapellm", {"seats": {**SEATS, "column": {"learner": "naive", "device": "cuda:99"}}}, "seats.column.device"),
    ],
)
def test_device_that_this_machine_lacks_is_refused_before_the_run(tmp_path, name, changes, key):
    with pytest.raises(BadParameter, match=f"`{key}` cannot be cuda:99: this machine has [0-9]+ devices of cuda"):
        algorithm_at(tmp_path / "run", name, **changes)
    with forbid_loading():  # a dry run may be made on another machine
        if name != "shapellm":
            algorithm_at(tmp_path / "dry", name, **changes)


def test_model_of_a_stranger_in_a_learners_table_needs_consent(tmp_path):
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    (stranger / "two.toml").write_text(
        'algorithm = "grpo"\n[policies.row]\nseats = [0]\n[policies.column]\nseats = [1]\nmodel = "hf:a/stranger"\n'
    )
    with commanding(), pytest.raises(sg.StratagemError, match=r"two\.toml would contact huggingface\.co"):
        sg.dry_run(stranger / "two.toml")


def test_learners_share_a_base_only_where_nothing_differs():
    def bases(**policies):
        return GRPORecipe.read({**KUHN, "policies": policies}).learner_bases

    assert bases(row=ROW, column={"seats": [1]}) == (LearnerBase(FIRST),)
    assert bases(row=ROW, column=COLUMN) == (LearnerBase(FIRST), LearnerBase(SECOND))
    apart = bases(row=ROW, column={"seats": [1], "device": "cuda:1"})
    assert [str(base) for base in apart] == [FIRST, f"{FIRST} on cuda:1"]
    whole = GRPORecipe.read({**KUHN, "sft": None, "train": "all", "policies": {"row": ROW, "column": {"seats": [1]}}})
    assert [base.owner for base in whole.learner_bases] == ["row", "column"]


@pytest.mark.parametrize(("recipe_type", "table"), [(GRPORecipe, "policies"), (LeagueRecipe, "learners")])
def test_optimizer_of_a_learner_changes_what_it_names_and_survives_the_configuration_of_a_run(recipe_type, table):
    common = {"learning_rate": 1e-2, "weight_decay": 0.3, "schedule": "cosine"}
    stage = "grpo" if table == "policies" else "league"
    learners = {"row": ROW, "column": COLUMN} if table == "policies" else {"row": {}, "column": {"model": SECOND}}
    learners["column"] = {**learners["column"], "optimizer": {"learning_rate": 1e-4}, "adapter": {"rank": 2}}
    recipe = recipe_type.read({"games": ["kuhn"], stage: {"optimizer": common}, table: learners})
    for made in (recipe, recipe_type.read(recipe.model_dump(mode="json"))):
        own, others = made.of_learner("column"), made.of_learner("row")
        assert (own.optimizer.learning_rate, own.optimizer.weight_decay) == (1e-4, 0.3)
        assert own.optimizer.schedule == others.optimizer.schedule
        assert others.optimizer == made.stage.optimizer
        assert (own.adapter.rank, others.adapter.rank) == (2, 16)


def test_number_format_of_every_learners_model_is_chosen():
    policies = {"row": {"seats": [0], "model": "smollm2+dtype=auto"}, "column": {**COLUMN, "model": "tiny+dtype=auto"}}
    recipe, _ = choose_formats(GRPORecipe.read({**KUHN, "policies": policies}), "cpu")
    assert all("auto" not in policy.model for policy in recipe.policies.values())


@pytest.mark.parametrize("name", RECIPES)
def test_memory_is_estimated_for_each_model_and_for_those_on_one_device(name):
    kind = {"grpo": GRPORecipe, "league": LeagueRecipe, "shapellm": ShapeLLMRecipe}[name]
    table = {"grpo": "policies", "league": "learners", "shapellm": "seats"}[name]
    changed = {**RECIPES[name], table: {n: {**one, "device": ""} for n, one in RECIPES[name][table].items()}}
    estimate = estimate_run(kind.read(changed))
    totals = estimate.totals()
    assert {FIRST, SECOND} <= estimate.memory.keys()
    assert totals[f"{FIRST} and {SECOND}"] == totals[FIRST] + totals[SECOND]
    assert all(memory.learners == 1 for memory in estimate.memory.values())
    assert not estimate_run(kind.read(RECIPES[name])).on_one_device, "the second is on a device of its own"


def test_sizes_by_memory_count_all_models_on_one_device():
    """Each model alone would fit with the usual sizes."""
    policies = {"row": {**ROW, "model": "smollm2"}, "column": {**COLUMN, "model": "hf:google/gemma-3-270m-it"}}
    recipe = GRPORecipe.read({**KUHN, "policies": policies, "gradient_checkpointing": False, "sft": {"epochs": 0}})
    free = 1.01 * max(memory.total() for memory in estimate_run(recipe).memory.values()) / USED
    found, _, choice = choose_by_memory(recipe, free, on_gpu=False)
    assert found.max_tokens_per_microbatch < MICROBATCH
    assert choice.total == max(choice.estimate.totals().values())
    grown, _, choice = choose_by_memory(recipe, 140 * 2.0**30, on_gpu=True)
    assert max(estimate_run(grown).totals().values()) == choice.total <= USED * choice.free


def test_seats_are_given_their_own_examples_in_their_own_tokens():
    recipe, game = GRPORecipe.read({**KUHN, "policies": BOTH}), make_game("kuhn(hands=1)")
    players = {
        name: model_player(decoding_settings(recipe), open_engine(load(model)), name=name)
        for name, model in (("row", FIRST), ("column", SECOND))
    }
    collector = SeatedRollouts(recipe.grpo, game, players, recipe.seats_of_learners, Key(0))
    batches = collector.collect_each(0)
    rollouts = [episode for episode in batches["row"].episodes if episode.purpose == "train"]
    assert not batches["column"].episodes, "an episode is recorded once"
    assert len(rollouts) == 2 * 4
    for seat, name in enumerate(players):
        own = [row for episode in rollouts for row in episode.decisions if row.seat == seat]
        assert {row.calls[0].policy.base for row in own} == {players[name].speaker.engine.lm.name}
        told = [(*row.calls[0].prompt.tokens, *row.calls[0].tokens) for row in own if row.calls]
        assert sorted(told) == sorted(example.tokens for example in batches[name].examples)
        returns = {row.advantage for row in own}
        assert len(returns) > 1


def test_members_of_a_league_play_on_their_own_base(tmp_path):
    recipe = LeagueRecipe.read(RECIPES["league"])
    models = {base: load(base.model) for base in recipe.learner_bases}
    state = LeagueState(recipe, RunFolder.create(tmp_path / "run", recipe, 0, "a test"), models)
    players = state.member_players(make_game("kuhn(hands=1)"))
    snapshots = [state.add_snapshot(name, 1) for name in ("row", "column")]
    members = [state.population[name] for name in ("base", "base_column")] + snapshots
    assert [players.player(member).speaker.engine.lm.name for member in members] == [FIRST, SECOND] * 2
    assert [len(adapter_names(lm)) for lm in models.values()] == [2, 2], "each learner has one, and its snapshot"
    players.trim()
    assert [len(adapter_names(lm)) for lm in models.values()] == [1, 2], "one stays loaded, the last that was met"


def test_recipes_that_come_along_train_two_models():
    root = Path(__file__).parents[2] / "recipes"
    small = read_any(root / "grpo/two-models.toml")
    large = read_any(root / "grpo/smollm2-gemma3.toml")
    assert small.bases == (FIRST, SECOND)
    assert large.bases == ("smollm2", "hf:google/gemma-3-270m-it")
    assert not estimate_run(large).unknown
