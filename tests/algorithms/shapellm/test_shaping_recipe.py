"""Recipes of learners with clocks: what they default to, and what they refuse in one sentence."""

import math
from contextlib import nullcontext
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import algorithm_of, bound, read_any
from stratagem.algorithms.shapellm.algorithm import ShapeLLMAlgorithm
from stratagem.algorithms.shapellm.recipe import ShapeLLMRecipe
from stratagem.algorithms.shapellm.seats import check_seats
from stratagem.base.errors import BadParameter, UnknownName
from stratagem.games.catalogue import make_game
from stratagem.training.runs.config_file import settings_toml
from stratagem.training.runs.folder import RunFolder

SOS = {"learner": "sos"}
ALIGNED = {"advantage": "advantage_alignment", "value_coef": 0.0}
TWO = {"shaper": {"learner": "shaper"}, "naive": {"learner": "naive"}}


def made(**changes):
    return ShapeLLMRecipe.read({"seats": TWO, **changes})


def test_seat_defaults_are_the_papers_settings():
    """ShapeLLM, Tables 7 to 9 and section 4.2."""
    recipe = made()
    shaper, naive = recipe.seats.values()
    assert (recipe.environments, recipe.episodes) == (5, 5)
    assert (naive.adapter.rank, naive.adapter.lora_alpha, naive.adapter.targets) == (2, 32.0, ("q_proj", "v_proj"))
    assert (naive.optimizer.learning_rate, naive.optimizer.max_grad_norm) == (1.41e-6, float("inf"))
    ppo = naive.ppo
    assert (ppo.clip_range, ppo.clip_range_value, ppo.value_coef, ppo.discount, ppo.gae_lambda) == (
        0.2,
        0.2,
        0.2,
        1.0,
        0.95,
    )
    assert (ppo.adaptive_kl.initial_kl_coef, ppo.adaptive_kl.target_kl, ppo.adaptive_kl.num_decisions) == (
        0.2,
        6.0,
        10_000,
    )
    assert (ppo.batches.batch_size, ppo.batches.mini_batch_size, ppo.batches.epochs) == (100, 10, 1)
    assert (naive.update_every, naive.memory, naive.style) == (1, "last", "shapellm-state")
    assert (shaper.update_every, shaper.memory, shaper.style) == ("trial", "trial", "shapellm-occurrence")
    assert (shaper.mode, shaper.temperature, shaper.ppo.value_coef) == ("single", 1.0, 1e-3)


def test_learner_with_a_value_head_may_have_one_environment():
    assert made(environments=1).environments == 1


def test_shapellm_recipe_is_written_and_read_again(tmp_path):
    path = tmp_path / "one.toml"
    path.write_text(settings_toml(made(trials=7)))
    again = read_any(path, {"seats.naive.ppo.gae_lambda": "1.0"})
    assert isinstance(again, ShapeLLMRecipe)
    assert (again.trials, again.seats["naive"].ppo.gae_lambda, again.seats["shaper"].ppo.gae_lambda) == (7, 1.0, 0.95)
    assert list(again.seats) == ["shaper", "naive"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"seats": {**TWO, "naive": {"learner": "naive", "update_every": 2}}},
            r"`seats.naive` learns every 2 .* the 5",
        ),
        ({"seats": {**TWO, "naive": {"learner": "clever"}}}, "naive, shaper|'naive', 'shaper'"),
        ({"seats": {**TWO, "naive": {"learner": "naive", "mode": "sing"}}}, "the modes are free"),
        ({"seats": {**TWO, "naive": {"learner": "naive", "model": "api:x@http://localhost:1/v1"}}}, "behind a server"),
        ({"seats": {**TWO, "naive": {"learner": "naive", "model": "tiny+adapter:x"}}}, "base without one"),
        ({"seats": {**TWO, "na/ive": {"learner": "naive"}}}, "cannot be called 'na/ive'"),
        ({"seats": {**TWO, "naive": {"learner": "naive", "optimizer": {"schedule": "linear"}}}}, "a schedule"),
        ({"seats": {**TWO, "naive": {"learner": "tabular", "memory": "all"}}}, "memory"),
        (
            {"model": "tiny+4bit", "target_policies": [{"policy": "ipd-75"}]},
            r"'tiny\+4bit' in 4 bits cannot be trained to `target_policies`",
        ),
        (
            {"final_evaluation": {"rounds": [20, 0]}},
            r"final_evaluation\.rounds\.1 cannot be 0: .* greater than or equal to 1",
        ),
        (
            {"target_policies": [{"policy": "ipd-75"}], "seats": {"one": {"learner": "frozen", "model": "tiny"}}},
            "`target_policies` train the base .* no seat is on one",
        ),
        ({"trials": 0}, "trials"),
        ({"seats": {"one": {"learner": "lola", "update_every": 2}}}, "`seats.one` learns every 2 episodes"),
        ({"environments": 1, "seats": {**TWO, "one": {"learner": "tabular"}}}, r"`seats.one` .*: take at least 2"),
        (
            {
                "environments": 1,
                "seats": {**TWO, "naive": {"learner": "naive", "ppo": {"advantage_mean_over": "turn"}}},
            },
            r"`seats.naive` compares its `environments` .*advantage_mean_over.*: take at least 2",
        ),
    ],
)
def test_wrong_shapellm_settings_are_rejected(changes, said):
    with pytest.raises((BadParameter, UnknownName), match=said):
        made(**changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"game": "kuhn"}, "The seat shaper: memory=trial counts what the seats chose at once, and in kuhn they take"),
        (
            {"game": "auction", "seats": {"one": {"learner": "tabular"}, "two": {"learner": "tabular"}}},
            "The seat one: The style shapellm is for repeated matrix games, not auction",
        ),
        (
            {
                "game": "kuhn",
                "seats": {name: {"learner": "scripted", "player": "kuhn/NashApprox"} for name in ("one", "two")},
                "final_evaluation": {"rounds": [20]},
            },
            "kuhn has no parameter `rounds`, .*: leave `final_evaluation.rounds` out",
        ),
        ({"game": "ipd-shapellm(labels=(left, right))"}, r"The seat shaper, with tiny: .*one token"),
        (
            {
                "game": "ipd-shapellm(rounds=1)",
                "environments": 1,
                "seats": {**TWO, "naive": {"learner": "tabular", "advantage_mean_over": "batch"}},
            },
            "The seat naive: it has one return an update, which is compared with itself",
        ),
        ({"seats": {"shaper": TWO["shaper"]}}, "2 seats, and the recipe has 1: shaper"),
        ({"seats": {**TWO, "naive": {"learner": "naive", "memory": "episode"}}}, "The seat naive: memory=episode"),
        ({"seats": {**TWO, "naive": {"learner": "scripted", "player": "kuhn/NashApprox"}}}, "The seat naive"),
        (
            {"environments": 1, "seats": {**TWO, "naive": {"learner": "naive", "ppo": ALIGNED}}},
            r"`seats.naive` compares its `environments` \(`ppo.advantage = advantage_alignment`\).*: take at least 2",
        ),
        (
            {"seats": {**TWO, "naive": {"learner": "naive", "ppo": {"advantage": "advantage_alignment"}}}},
            "advantage_alignment gives no returns to train a value head on: set `value_coef = 0`, or take gae",
        ),
        (
            {"seats": {**TWO, "naive": {"learner": "naive", "ppo": {"advantage": "beta", "value_coef": 0.0}}}},
            "The advantage beta needs .* which ShapeLLM does not collect: SCO-PAL does",
        ),
        ({"seats": {**TWO, "naive": {"learner": "lola"}}}, "The seat naive: .*five probabilities, and shaper has none"),
        ({"seats": {"one": {"learner": "mfos"}, "two": {"learner": "tabular", "memory": "episode"}}}, "two has none"),
        (
            {
                "seats": {"one": {"learner": "sos"}, "two": {"learner": "scripted", "player": "ipd/Pavlov"}},
                "game": "auction",
            },
            "one: Memory-one",
        ),
        (
            {"seats": {"one": {"learner": "sos"}, "two": {"learner": "scripted", "player": "ipd/TitForTwoTats"}}},
            "two has none",
        ),
    ],
)
def test_unplayable_seats_are_rejected_before_the_run(changes, said, tmp_path):
    with pytest.raises(BadParameter, match=said):
        ShapeLLMAlgorithm(made(**changes), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("discount", "said"), [(0.9, None), (1.0, "one return an update")])
def test_a_table_compares_its_discounted_decisions_of_one_round(discount, said):
    """A game of one round has several decisions of a seat, whose returns differ by their discount."""
    own = {"learner": "tabular", "advantage_mean_over": "batch", "memory": "episode", "style": "plain"}
    seats = dict.fromkeys(("one", "two"), own | {"discount": discount})
    recipe = made(game="kuhn(hands=1)", environments=1, episodes=1, seats=seats)
    with nullcontext() if said is None else pytest.raises(BadParameter, match=said):
        check_seats(recipe, make_game(recipe.game))


@pytest.mark.parametrize("game", ["spiel:kuhn_poker", "drawn(seed=3)"])
def test_tables_are_admitted_where_one_seat_moves_after_the_other(game):
    own = {"learner": "tabular", "memory": "episode", "style": "plain"}
    recipe = made(game=game, seats=dict.fromkeys(("one", "two"), own))
    check_seats(recipe, make_game(recipe.game))


def test_unknown_algorithm_is_rejected_with_the_known_ones(tmp_path):
    (tmp_path / "one.toml").write_text('algorithm = "magic"\n')
    with pytest.raises(UnknownName, match="sepo"):
        read_any(tmp_path / "one.toml")


def test_replaced_algorithm_name_is_rejected_with_the_new_one():
    with pytest.raises(
        BadParameter, match=r'^The algorithm shaping is now called shapellm: write `algorithm = "shapellm"`\.$'
    ):
        algorithm_of({"algorithm": "shaping"})


def test_bound_finds_the_algorithm_of_a_recipe(tmp_path):
    assert isinstance(bound(made(), RunFolder(tmp_path)), ShapeLLMAlgorithm)


RECIPES = Path(__file__).parents[3] / "recipes"


def gemma(variant):
    return [RECIPES / f"papers/shapellm/{variant}.toml", RECIPES / "shapellm/models/gemma.toml"]


def test_recipes_for_the_papers_model_have_its_learning_rates():
    """ShapeLLM, Tables 9 and 12, footnote 7."""
    made = read_any(gemma("imp-25"))
    shaper, naive = made.seats["shaper"], made.seats["naive"]
    assert (shaper.optimizer.learning_rate, shaper.ppo.value_coef, shaper.ppo.clip_range) == (6.41e-7, 1e-3, 0.2)
    assert (naive.optimizer.learning_rate, naive.ppo.value_coef) == (1.41e-7, 0.05)
    assert made.game == "imp(labels=(H, T), labels_second=(N, M))", "the opponent's labels are its own"
    assert {shaper.adapter.dropout, naive.adapter.dropout} == {0.05}, "appendix A.3"
    assert (shaper.adapter.rank, shaper.adapter.lora_alpha, shaper.adapter.targets) == (2, 32.0, ("q_proj", "v_proj"))
    assert made.target_policies
    assert (made.trained_bases, made.sft_steps) == ((), 0), "it is compared with the targets, and not trained to them"
    assert made.final_evaluation.rounds == (20, 50, 100)
    switched = read_any(gemma("icg-switched")).seats["shaper"].ppo
    assert [switched.entropy_coef.at(step) for step in (0, 25)] == [0.7, 0.0]


def test_defaults_table_holds_for_all_seats_of_a_kind():
    usual = {"naive": {"ppo": {"gae_lambda": 1.0}, "optimizer": {"learning_rate": 1e-3}}}
    seats = {**TWO, "naive": {"learner": "naive", "optimizer": {"learning_rate": 1e-2}}}
    made = ShapeLLMRecipe.read({"seats": seats, "defaults": usual})
    assert (made.seats["naive"].ppo.gae_lambda, made.seats["naive"].optimizer.learning_rate) == (1.0, 1e-2)
    assert made.seats["shaper"].ppo.gae_lambda == 0.95
    with pytest.raises(BadParameter, match="clever"):
        ShapeLLMRecipe.read({"seats": TWO, "defaults": {"clever": {}}})
    with pytest.raises(BadParameter, match=r"as \[defaults.naive\]"):
        ShapeLLMRecipe.read({"seats": TWO, "defaults": {"naive": 3}})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"naive": {"learner": "tabular", "rat": 3}}, "no setting seats.naive.rat: there are memory, style, learner"),
        ({"naive": {"learner": "naive", "ppo": {"lamb": 1}}}, "no setting seats.naive.ppo.lamb: there are clip"),
        (
            {"naive": {"learner": "naive", "ppo": {"gae_lambda": 2}}},
            "The setting seats.naive.ppo.gae_lambda cannot be 2",
        ),
        ({"naive": {"learner": "scripted"}}, "The setting seats.naive.player must be given"),
    ],
)
def test_mistake_in_a_seat_is_named_with_its_key(changes, said):
    with pytest.raises(BadParameter, match=said):
        made(seats={**TWO, **changes})


def test_recipe_without_seats_is_rejected():
    with pytest.raises(BadParameter, match=r"The setting seats must be given\."):
        ShapeLLMRecipe.read({"trials": 3})


def test_partial_table_keeps_the_defaults_of_its_kind_of_learner():
    """trl bounds no gradient, and a shaper's value loss counts less than a naive one's (Tables 7 and 8)."""
    seats = {
        "shaper": {
            "learner": "shaper",
            "optimizer": {"learning_rate": 1e-7},
            "ppo": {"batches": {"mini_batch_size": 5}},
        },
        "naive": {"learner": "naive", "optimizer": {"learning_rate": 1e-6}, "adapter": {"lora_alpha": 16.0}},
    }
    made = ShapeLLMRecipe.read({"seats": seats}).seats
    assert [seat.optimizer.max_grad_norm for seat in made.values()] == [math.inf, math.inf]
    assert [seat.ppo.value_coef for seat in made.values()] == [1e-3, 0.2]
    assert [made["shaper"].ppo.batches.mini_batch_size, made["shaper"].ppo.batches.batch_size] == [5, 100]
    assert (made["naive"].adapter.rank, made["naive"].adapter.lora_alpha) == (2, 16.0)


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"usual": {"naive": {}}}, "usual", "defaults"),
        ({"start": []}, "start", "target_policies"),
        (
            {"seats": {**TWO, "naive": {"learner": "naive", "clock": 1}}},
            "seats.naive.clock",
            "seats.naive.update_every",
        ),
        ({"seats": {"t": {"learner": "tabular", "rate": 2.0}}}, "seats.t.rate", "seats.t.learning_rate"),
        (
            {"seats": {"t": {"learner": "naive", "ppo": {"kl": {}}}}},
            "seats.t.ppo.kl",
            "seats.t.ppo.adaptive_kl",
        ),
    ],
)
def test_replaced_key_is_told_its_new_name(changes, old, new):
    with pytest.raises(BadParameter) as refused:
        ShapeLLMRecipe.read(changes | {"seats": changes.get("seats", TWO)})
    assert str(refused.value) == f"There is no setting {old} any more: write {new}."
