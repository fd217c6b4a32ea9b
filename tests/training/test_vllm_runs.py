"""Runs with the vLLM engines: certified, equal to runs with the transformers engine, and resumed."""

import pytest
import torch

from fake_vllm import INSTALLED, install
from small_recipes import RECIPES
from stratagem.algorithms.catalogue import algorithm_of, bound
from stratagem.base.errors import StratagemError
from stratagem.playing.store import read_episodes
from stratagem.training.runs.checkpoint import latest
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import read_metrics

pytestmark = pytest.mark.runs

NAMES = ("sepo", "league", "scopal", "shapellm", "reinforce")
LEARNERS = {f"main{number}": {"role": "main"} for number in range(3)} | {"exploiter": {"role": "main_exploiter"}}
CHANGES = {"league": {"learners": LEARNERS}}
"""A league of four learners, each with an adapter of its own."""
SERVED = ("league", "sepo", "reinforce")


class Broken(Exception):
    """The process is killed."""


@pytest.fixture(autouse=True)
def _runtime(monkeypatch):
    """Without vLLM, a stand-in."""
    if not INSTALLED:
        install(monkeypatch)


def begun(path, name, engine, **changes):
    recipe = algorithm_of({"algorithm": name}).recipe_type.read(
        {"algorithm": name, **RECIPES[name], "engine": engine, **changes}
    )
    return RunFolder.create(path, recipe, recipe.seed, "a test"), recipe


def trained(path, name, engine, **changes):
    run, recipe = begun(path, name, engine, **changes)
    bound(recipe, run).train()
    return run


def actions(run):
    return [
        (episode.id, row.turn, row.seat, row.action)
        for episode in read_episodes(run.record)
        for row in episode.decisions
    ]


def compared(run, other):
    """Hold a run against one with the transformers engine: equal actions, weights to rounding, and a certificate."""
    assert actions(run) == actions(other)
    assert run.status().state == "finished"
    found, expected = tensors(latest(run).state()), tensors(latest(other).state())
    assert len(found) == len(expected)
    for one, two in zip(found, expected, strict=True):
        assert torch.allclose(one.float(), two.float(), atol=1e-3, rtol=1e-2)
    certified = [sentence for key, sentence in run.info().reading.items() if key.endswith("engine")]
    assert certified
    for sentence in certified:
        assert sentence.startswith("certified: ")
    assert not [key for key in other.info().reading if key.endswith("engine")]


def figures(run):
    return {name: (curve.steps, curve.values) for name, curve in read_metrics(run).items()}


def tensors(state):
    """All tensors in a state, in order."""
    if isinstance(state, torch.Tensor):
        return [state]
    values = state.values() if isinstance(state, dict) else state if isinstance(state, list | tuple) else ()
    return [tensor for value in values for tensor in tensors(value)]


@pytest.fixture
def served(server_of_tiny):
    return {"type": "vllm-server", "address": server_of_tiny}


@pytest.mark.parametrize("name", NAMES if INSTALLED else NAMES[:1])
def test_run_equals_one_with_the_transformers_engine(tmp_path, name):
    changes = CHANGES.get(name, {})
    compared(*(trained(tmp_path / engine, name, engine, **changes) for engine in ("vllm", "transformers")))


@pytest.mark.long
@pytest.mark.parametrize("name", SERVED if INSTALLED else SERVED[-1:])
def test_run_by_a_server_equals_one_with_the_transformers_engine(tmp_path, name, served):
    """Without SFT: its adapter is merged into the base, which the server does not have."""
    changes = {**CHANGES.get(name, {}), **({"sft": None} if name == "sepo" else {})}
    run = trained(tmp_path / "server", name, served, **changes)
    compared(run, trained(tmp_path / "transformers", name, "transformers", **changes))


@pytest.mark.long
def test_run_by_a_server_that_was_killed_goes_on(tmp_path, served):
    whole = trained(tmp_path / "whole", "reinforce", "transformers")
    run, recipe = begun(tmp_path / "killed", "reinforce", served)

    def kill(step, steps, metrics):
        if step == 2:
            raise Broken

    with pytest.raises(Broken):
        bound(recipe, run).train(kill)
    bound(recipe, run).train()
    compared(run, whole)


def test_sft_of_all_weights_by_a_server_is_refused_in_a_sentence(tmp_path, served):
    with pytest.raises(
        StratagemError, match="cannot give a server new weights of the base: train an adapter, or take the engine vllm"
    ):
        trained(tmp_path / "run", "sepo", served)


@pytest.mark.long
def test_run_that_was_killed_equals_one_that_was_not(tmp_path):
    whole = trained(tmp_path / "whole", "sepo", "vllm")
    run, recipe = begun(tmp_path / "killed", "sepo", "vllm")

    def kill(step, steps, metrics):
        if step == 4:
            raise Broken

    with pytest.raises(Broken):
        bound(recipe, run).train(kill)
    bound(recipe, run).train()
    assert figures(run) == figures(whole)
    assert all(
        torch.equal(a, b) for a, b in zip(tensors(latest(run).state()), tensors(latest(whole).state()), strict=True)
    )


@pytest.mark.long
def test_all_weights_are_trained_with_a_copy_in_the_engine(tmp_path):
    changes = {"train": "all", "reinforce": {**RECIPES["reinforce"]["reinforce"], "loss": "policy_gradient"}}
    run, other = (trained(tmp_path / engine, "reinforce", engine, **changes) for engine in ("vllm", "transformers"))
    assert actions(run) == actions(other)
    assert "the base alone" in run.info().reading["engine"]
