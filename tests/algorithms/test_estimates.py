"""Estimates of memory and tokens of a run, against runs and by hand."""

import dataclasses
import json
from pathlib import Path

import pytest

import stratagem as sg
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import bound, read_any
from stratagem.algorithms.estimates import estimate_run
from stratagem.algorithms.reinforce import REINFORCERecipe
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.cli.main import main
from stratagem.language.models.known_shapes import SHAPES
from stratagem.learn.pass_sizes import PackSize, PassSize
from stratagem.playing.store import read_episodes
from stratagem.training.estimate import ProcessMemory, Speed, Workload
from stratagem.training.recipe_file import AnyRecipe, RecipeWork
from stratagem.training.runs.folder import RunFolder
from stratagem.training.sft import AdapterSettings

ROOT = Path(__file__).parents[2] / "recipes"
PAPERS = {
    "SCO-PAL, 7B": ["papers/scopal/self-play", "papers/scopal/qwen2"],
    "SCO-PAL, 7B, all weights": ["papers/scopal/self-play", "papers/scopal/qwen2", "papers/scopal/all-weights"],
    "SCO-PAL, Mistral": ["papers/scopal/self-play", "papers/scopal/mistral"],
    "Diplomacy, 14B": ["papers/diplomacy/dumbbot"],
    "Diplomacy league, 14B": ["papers/diplomacy/league"],
    "SEPO, Gemma 4 E4B": ["sepo/ipd", "models/gemma"],
    "SEPO, Qwen 3.5-4B": ["sepo/ipd", "models/qwen"],
    "SEPO, Qwen 3.5-4B, 4 bits": ["sepo/ipd", "models/qwen-4bit"],
    "ShapeLLM, gemma-2-2b": ["shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"],
    "ShapeLLM, Llama-3.2-1B": ["shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/llama"],
}
"""Recipes at the sizes of the papers."""
LARGEST = 80 * 2**30
"""Bytes of a GPU that all of them but one fit on."""


@pytest.mark.parametrize("name", PAPERS)
def test_recipe_of_a_papers_size_is_estimated_without_a_download(name):
    estimate = estimate_run(read_any([ROOT / f"{part}.toml" for part in PAPERS[name]]))
    assert not estimate.unknown
    for memory in estimate.memory.values():
        assert (memory.total() < LARGEST) != name.endswith("all weights")
    data = estimate.data(Speed(decode=1000.0, learn=5000.0))
    assert data["seconds"] > data["seconds_per_step"] > 0.0 or data["steps"] == 1
    assert estimate.data(Speed())["seconds"] is None


def test_league_of_seven_holds_seven_learners_and_their_snapshots():
    changes = {"model": "hf:Qwen/Qwen3-14B+dtype=bf16", "sft.epochs": "0", "adapter.rank": "16"}
    recipes = [ROOT / "league/diplomacy.toml", ROOT / "league/learners/seven.toml"]
    (memory,) = estimate_run(read_any(recipes, {**changes, "league.max_loaded_adapters": "14"})).memory.values()
    each = SHAPES["Qwen/Qwen3-14B"].adapter_parameters(16) * 4
    assert (memory.learners, memory.frozen) == (7, 14)
    assert memory.parts()["adapters"] == 21 * each
    assert memory.parts()["optimizer"] == 14 * each


def test_memory_by_hand():
    shape = SHAPES["Qwen/Qwen2-7B-Instruct"]
    pack = PackSize((PassSize(1, 10, 10, masked=False),), loss_tokens=5)
    whole = ProcessMemory(shape, "bf16", reference="bf16", rows=2, context=100, packs=(pack,))
    parts = whole.parts()
    assert parts["weights"] == parts["reference"] == parts["gradients"] == 2 * shape.parameters
    assert parts["optimizer"] == 12 * shape.parameters  # two moments and a master copy in fp32
    assert parts["optimizer_step"] == 4 * shape.parameters  # gradients in fp32
    assert parts["logits"] == 4 * 5 * shape.vocabulary * 4
    assert parts["keys_and_values"] == 2 * (100 + 25 + 33) * 2 * 28 * 4 * 128 * 2
    assert whole.total() == (2 + 2 + 12 + 4) * shape.parameters  # the step needs more than the short pass
    few = dataclasses.replace(whole, adapter=AdapterSettings(rank=2, targets=("q_proj",)), reference="")
    assert few.parts()["gradients"] == 28 * 2 * (3584 + 3584) * 4
    assert few.parts()["reference"] == 0.0
    assert few.total() < whole.total()


def test_time_by_hand():
    work = Workload(steps=3, replies=10, learnt=5, passes=2, prompt=90, reply=10, sft_examples=4)
    assert work.seconds(Speed(decode=50, learn=100)) == pytest.approx(100 / 50 + (900 / 3 + 1000) / 100)
    assert work.sft_seconds(Speed(learn=100)) == pytest.approx(4.0)


@pytest.mark.runs
def test_number_of_decisions_is_that_of_a_run(tmp_path):
    recipe = SEPORecipe.read({**RECIPES["sepo"], "sepo": {"iterations": 1, "group_size": 2, "groups_per_batch": 2}})
    run = RunFolder.create(tmp_path / "run", recipe, recipe.seed, "a test")
    bound(recipe, run).train()
    episodes = [episode for episode in read_episodes(run.record) if "/validation" not in episode.id]
    own = sum(row.seat == episode.seat_of(0) for episode in episodes for row in episode.decisions)
    assert 0.5 < estimate_run(recipe).workload.replies / own < 2.0


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "sepo"])
def test_every_algorithm_is_estimated(name, tmp_path):
    recipe = bound(read_recipe(name), RunFolder(tmp_path)).recipe
    assert estimate_run(recipe).memory["tiny"].total() > 0


def read_recipe(name):
    from stratagem.algorithms.catalogue import algorithm_of

    return algorithm_of({"algorithm": name}).recipe_type.read(RECIPES[name])


def test_dry_run_prints_the_estimate(capsys):
    command = ["train", "sepo/ipd", "models/qwen-4bit", "--dry-run", "--decode-speed", "1000", "--learn-speed", "4000"]
    for extra in ([], ["--json"]):
        with pytest.raises(SystemExit) as ended:
            main([*command, *extra])
        assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "Estimate of memory: hf:Qwen/Qwen3.5-4B+4bit+dtype=bf16" in printed
    assert "hours in all" in printed
    data = json.loads(printed[printed.index("{\n") :])
    assert data["estimate"]["seconds"] > 0
    found = sg.dry_run(["sepo/ipd", "models/qwen-4bit"], decode_speed=1000, learn_speed=4000)
    assert found.to_json() == data
    assert found.seconds == data["estimate"]["seconds"] == found.rows()[-1]["value"]
    assert repr(found).endswith("hours in all.")
    assert data["algorithm"] == "sepo"


class OwnRecipe(AnyRecipe):
    """Recipe of an algorithm of another package, with the work of REINFORCE in Kuhn poker."""

    algorithm: str = "own"
    episodes: int = 32
    work: bool = True

    @property
    def bases(self):
        return ("tiny",)

    def workload(self):
        if not self.work:
            return None
        return RecipeWork(
            games=("kuhn",), steps=30, episodes=2.0 * self.episodes, adapter=AdapterSettings(), max_new_tokens=256
        )


def test_algorithm_of_another_package_that_says_its_work_is_estimated():
    """In self-play two seats learn, so it has the estimate of REINFORCE with as many episodes."""
    own = estimate_run(OwnRecipe())
    same = estimate_run(REINFORCERecipe(games=("kuhn",), model="tiny"))
    assert own.memory["tiny"].total() == same.memory["tiny"].total() > 0.0
    assert own.data(Speed(decode=10.0, learn=10.0)) == same.data(Speed(decode=10.0, learn=10.0))
    assert estimate_run(OwnRecipe(episodes=64)).workload.replies == 2.0 * own.workload.replies
    assert estimate_run(OwnRecipe(work=False)) is None
