"""Whatever a model does to what its head says, the learner does too; what it cannot do, it says."""

import pytest
import torch
import transformers

from stratagem.language.models.load import load
from stratagem.language.models.reference import BadModel
from stratagem.learn.example import Example
from stratagem.learn.head import head_of
from stratagem.learn.packing import pack_examples
from stratagem.learn.policy import Policy

SIZES = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2, "vocab_size": 90}
CONFIGS = {
    "plain": lambda: transformers.LlamaConfig(**SIZES),
    "divided": lambda: transformers.GraniteConfig(**SIZES, num_key_value_heads=2, logits_scaling=8.0),
    "multiplied": lambda: transformers.CohereConfig(**SIZES, logit_scale=0.0625),
    "capped": lambda: transformers.Gemma2Config(
        **SIZES, num_key_value_heads=2, head_dim=16, final_logit_softcapping=0.05
    ),
}


def drawn(config):
    """`tiny`'s shell around a model of another kind."""
    lm = load("tiny")
    torch.manual_seed(0)
    config.pad_token_id = config.bos_token_id = config.eos_token_id = 0
    lm.model = transformers.AutoModelForCausalLM.from_config(config).eval()
    return lm


@pytest.mark.parametrize("kind", CONFIGS)
def test_what_is_learnt_from_is_what_the_model_says(kind):
    lm = drawn(CONFIGS[kind]())
    text = tuple(range(3, 20))
    example = Example(tokens=text, loss_positions=(9, 12, 16))
    (pack,) = pack_examples([example], 100)
    with torch.no_grad():
        found = Policy(lm).outputs(pack, [example]).logprobs
        logits = lm.model(input_ids=torch.tensor([text])).logits[0]
    expected = torch.log_softmax(logits.float(), -1)
    assert found.tolist() == pytest.approx(
        [expected[at - 1, text[at]].item() for at in example.loss_positions], abs=1e-5
    )


def test_a_model_that_does_something_else_is_refused():
    lm = drawn(CONFIGS["plain"]())
    lm.model.lm_head.register_forward_pre_hook(lambda module, inputs: (inputs[0] + 0.5,))
    assert Policy(lm).scale == 1.0, "the head itself may do what it wants"
    lm.model.register_forward_hook(lambda module, inputs, output: setattr(output, "logits", output.logits.flip(-1)))
    with pytest.raises(BadModel, match=r"cannot work out 'tiny'.*logit_scale.*not trained"):
        Policy(lm)


@pytest.mark.parametrize("trained", [False, True])
def test_fp32_head_has_the_logits_and_gradients_of_an_fp32_product(monkeypatch, trained):
    monkeypatch.setattr("stratagem.learn.head.SLICE", 37)
    lm = load("tiny", dtype="bf16")
    head = lm.model.get_output_embeddings()
    head.weight.requires_grad_(trained)
    torch.manual_seed(1)
    hidden = torch.randn(5, head.weight.shape[1], dtype=torch.bfloat16, requires_grad=True)
    long, weight = hidden.detach().float().requires_grad_(), head.weight.detach().float().requires_grad_()
    found, expected = head_of(lm, fp32=True).logits(hidden), long @ weight.T
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, expected)
    for logits in (found, expected):
        torch.log_softmax(logits, -1)[:, 7].sum().backward()
    torch.testing.assert_close(hidden.grad, long.grad.bfloat16())
    if trained:
        torch.testing.assert_close(head.weight.grad, weight.grad.bfloat16())
    short = head_of(lm).logits(hidden.detach())
    assert short.dtype == torch.bfloat16
    assert (short.float() - expected).abs().max() > 10 * (found - expected).abs().max()
