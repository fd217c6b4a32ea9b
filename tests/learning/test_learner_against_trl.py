"""A KTO step of the learner, adapter, packs and set-aside replies included, is the KTO trainer's: loss and gradient."""

import copy

import datasets
import pytest
import torch
import trl

from stratagem.language.models.adapters import adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.language.models.merging import merge_adapter
from stratagem.learn.example import example_from_demonstration
from stratagem.learn.learner import Learner
from stratagem.learn.losses.kto import KTO, mismatch_replies
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy

LABELS = [True, False, False, True]
ROWS = {
    "prompt": ["play", "who bets", "now it is your turn", "a card"],
    "completion": [" C", " D and then C", " BET now", " PASS"],
    "label": LABELS,
}
RANK, ALPHA = 4, 8
datasets.disable_progress_bars()


def adapted():
    """A model whose adapter says something else than its base."""
    lm = load("tiny")
    add_adapter(lm, "one", RANK, ALPHA, seed=1)
    torch.manual_seed(3)
    with torch.no_grad():
        for weight in adapter_parameters(lm, "one"):
            weight += 0.05 * torch.randn_like(weight)
    return lm


@pytest.fixture
def trainer(tmp_path):
    lm = adapted()
    merge_adapter(lm, "one")
    args = trl.KTOConfig(
        output_dir=str(tmp_path), use_cpu=True, report_to=[], bf16=False, disable_tqdm=True, beta=0.3,
        per_device_train_batch_size=4,
    )  # fmt: skip
    data = datasets.Dataset.from_dict(ROWS)
    policy = copy.deepcopy(lm.model).requires_grad_(True)
    return trl.KTOTrainer(
        model=policy, ref_model=load("tiny").model, args=args, train_dataset=data, processing_class=lm.tokenizer
    )


def slopes(lm, full):
    """Compute the gradients of an adapter's two factors from that of the whole weight, by the chain rule."""
    found = []
    for name, factor in lm.model.get_base_model().named_parameters():
        layer, _, rest = name.partition(".lora_")
        if rest:
            whole = full[f"{layer}.weight"] * (ALPHA / RANK)
            module = lm.model.get_base_model().get_submodule(layer)
            first, second = module.lora_A["one"].weight, module.lora_B["one"].weight
            found.append(second.T @ whole if factor is first else whole @ first.T)
    return found


@pytest.mark.parametrize("budget", [12, 4096])
def test_a_step_of_kto_is_the_kto_trainers(trainer, budget, monkeypatch):
    batch = next(iter(trainer.get_train_dataloader()))
    loss = trainer.compute_loss(trainer.model, dict(batch))
    loss.backward()
    lm = adapted()
    weights = adapter_parameters(lm, "one")
    learner = Learner(
        Policy(lm, max_tokens_per_microbatch=budget),
        KTO(kto_beta=0.3),
        Optimizer(weights, OptimizerSettings(), 9),
        adapter="one",
    )
    gradients = []
    monkeypatch.setattr(learner.optimizer, "step", lambda _loss: gradients.extend(w.grad for w in weights) or 0.0)
    labels = dict(zip((tuple(row["prompt_ids"]) for row in trainer.train_dataset), LABELS, strict=True))
    examples = [
        example_from_demonstration(
            prompt := tuple(row["prompt_ids"]), tuple(row["completion_ids"]), desirable=labels[prompt], kl=0.0
        )
        for row in trainer.train_dataset
    ]
    report = learner.update_once([*mismatch_replies(examples), *examples])
    assert report.metrics["kl"] > 0.01, "the mismatched replies count"
    assert report.loss == pytest.approx(loss.item(), abs=1e-5)
    wanted = slopes(lm, {name: weight.grad for name, weight in trainer.model.named_parameters()})
    assert max(slope.abs().max() for slope in wanted) > 1e-3
    for found, slope in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(found, slope, atol=1e-5, rtol=1e-4)
