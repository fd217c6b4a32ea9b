"""SFT and reinforcement learning of one adapter on a base in 4 bits; a quantised base needs bitsandbytes."""

from dataclasses import replace
from importlib.util import find_spec

import pytest
import torch

from stratagem.algorithms.catalogue import bound
from stratagem.algorithms.league.recipe import LeagueRecipe
from stratagem.algorithms.sepo.recipe import SEPORecipe
from stratagem.base.errors import BadParameter
from stratagem.language.models import load as loading
from stratagem.language.models.adapters import active, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.language.models.run_models import read_run_models
from stratagem.training.runs.folder import RunFolder
from stratagem.training.sft import START

pytestmark = pytest.mark.runs

needs_bitsandbytes = pytest.mark.skipif(find_spec("bitsandbytes") is None, reason="needs the extra quantized")
RATE = {"learning_rate": 1e-2}
RECIPE = {
    "model": "tiny+4bit",
    "games": ["kuhn(hands=1)"],
    "evaluate_every": 1,
    "validation_episodes": 1,
    "test_episodes": 1,
    "adapter": {"rank": 4, "lora_alpha": 8},
    "sft": {
        "num_examples": 10,
        "epochs": 1,
        "batch_size": 8,
        "optimizer": RATE,
        "adapter": {"rank": 4, "lora_alpha": 8, "dropout": 0.1},
    },
    "sepo": {"iterations": 2, "group_size": 2, "groups_per_batch": 1, "optimizer": RATE},
}


class Broken(Exception):
    """The run was stopped here on purpose."""


@pytest.fixture(params=[pytest.param("quantised", marks=needs_bitsandbytes), "stand-in"])
def four_bits(request, monkeypatch):
    """Bases in 4 bits; without bitsandbytes, whole bases that say that they are."""
    if request.param == "stand-in":
        whole = loading.load_weights

        def stand_in(ref, *rest):
            model = whole(replace(ref, four_bit=False), *rest)
            model.is_quantized = ref.four_bit
            return model

        monkeypatch.setattr(loading, "check_extras", lambda ref: None)
        monkeypatch.setattr(loading, "load_weights", stand_in)


def run_of(path, *, stop=None):
    recipe = SEPORecipe.read(RECIPE)
    run = RunFolder.create(path, recipe, recipe.seed, "a test")

    def plug(step, steps, seen):
        if step == stop:
            raise Broken

    if stop is not None:
        with pytest.raises(Broken):
            bound(recipe, run).train(plug)
        run = RunFolder.open(path)
    algorithm = bound(recipe, run)
    algorithm.train()
    return run, algorithm


def files(run):
    return {path.name: path.read_bytes() for path in sorted(run.path.glob("checkpoints/*/adapters/*/*.safetensors"))}


def test_the_iterations_go_on_with_the_adapter_of_sft(tmp_path, four_bits):
    run, algorithm = run_of(tmp_path / "whole")
    assert not (run.path / "base" / "model").exists()
    models = read_run_models(run.path).models
    assert models["start"].adapter == f"base/adapters/{START}"
    assert models["base"].adapter is None
    start = load(f"run:{run.path}@start")
    policy = algorithm.main_stage().learners[""]
    assert policy.learner.reference == START
    for theirs, own in zip(adapter_parameters(start, START), policy.weights, strict=True):
        assert torch.equal(theirs, own)
        assert own.requires_grad
    assert any(weight.abs().max() > 0.0 for weight in policy.weights[1::2])
    again, _ = run_of(tmp_path / "again", stop=2)
    assert files(again) == files(run) != {}


@needs_bitsandbytes
def test_gradients_pass_through_four_bits_after_rollouts():
    from bitsandbytes.functional import dequantize_4bit

    quantised, whole = load("tiny+4bit"), load("tiny")
    ids = torch.tensor([[5, 6, 7, 8]])
    with torch.no_grad():
        quantised.model(input_ids=ids)
        for name, module in quantised.model.named_modules():
            if hasattr(module.weight if hasattr(module, "weight") else None, "quant_state"):
                weights = dequantize_4bit(module.weight.data, module.weight.quant_state)
                whole.model.get_submodule(name).weight.copy_(weights)
    gradients = []
    for lm in (quantised, whole):
        add_adapter(lm, "one", 4, 8, seed=1)
        with active(lm, "one"):
            lm.model(input_ids=ids).logits.log_softmax(-1)[..., 3].sum().backward()
        gradients.append(torch.cat([weight.grad.flatten() for weight in adapter_parameters(lm, "one")]))
    assert (gradients[0] - gradients[1]).norm() < 1e-3 * gradients[1].norm() != 0.0


def test_a_league_has_no_sft_in_four_bits():
    with pytest.raises(BadParameter, match="begin as the base"):
        LeagueRecipe.read({name: RECIPE[name] for name in ("model", "games", "adapter", "sft")})
