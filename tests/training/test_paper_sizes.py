"""Recipes at the sizes of the papers: class and widths of their models, with two layers of random weights."""

import dataclasses

import pytest
import torch
import transformers

from stratagem.algorithms.catalogue import bound, read_any
from stratagem.language.models.known_shapes import SHAPES
from stratagem.language.models.load import load
from stratagem.training.runs.folder import RunFolder
from stratagem.training.shipped import recipe_path

CLASSES = {
    "google/gemma-2-2b-it": transformers.Gemma2Config,
    "google/gemma-4-E4B-it": transformers.Gemma3TextConfig,
    "meta-llama/Llama-3.2-1B-Instruct": transformers.LlamaConfig,
    "Qwen/Qwen2-7B-Instruct": transformers.Qwen2Config,
    "Qwen/Qwen3-14B": transformers.Qwen3Config,
    "Qwen/Qwen3.5-4B": transformers.Qwen3Config,
}
"""Class of each model; of Gemma 4 and Qwen 3.5 the nearest class whose layers are all of one kind."""
VOCABULARY = 4096
"""Rows of the embeddings, enough for the tokenizer of `tiny`: those of the papers would be most of the memory."""
FEW = {
    "sepo": {"sft.num_examples": "10", "sft.epochs": "1", "sepo.iterations": "1", "sepo.group_size": "2"},
    "scopal": {"interaction.episodes": "8", "kto.max_steps": "1", "bc.max_steps": "1", "samples.max_samples": "8"},
    "shapellm": {"trials": "1", "environments": "2", "episodes": "2", "final_evaluation.rounds": "[2]"},
    "league": {"league.iterations": "1", "league.groups_per_batch": "1", "league.group_size": "2"},
}
"""Changes that make a run short, by algorithm."""
ALWAYS = {
    "sepo": {"games": '["kuhn(hands=1)"]', "validation_episodes": "1", "test_episodes": "1", "max_new_tokens": "8"},
    "scopal": {"games": '["kuhn(hands=1)"]', "final_evaluation.episodes": "2", "mode": "direct"}
    | {"interaction.teachers": '{ "mcts:5" = 1.0 }'},
    "shapellm": {"game": "ipd-shapellm(labels=(C, D), rounds=2)", "final_evaluation.episodes": "2"},
    "league": {
        "games": '["kuhn(hands=1)"]',
        "validation_episodes": "1",
        "test_episodes": "1",
        "league.horizon_phases": "0",
    }
    | {
        "league.prefix_player": "random",
        "style": "reasoned",
        "max_new_tokens": "8",
        "league.prefix_turns": "[0, 1]",
        "members": "{}",
        "opponents": '["random"]',
    }
    | {"league.reward_weights": "{ payoff = 1.0 }", "league.advantage": "group_mean", "checkpoint_metric": "payoff"}
    | {"league.crossplay_games": "1", "league.chance_seeds": "independent", "sft.teacher": "random"},
}
RUNS = {
    "gemma-2-2b": ("shapellm", ["shapellm/games/ipd", "shapellm/pairs/shaper", "shapellm/models/gemma"]),
    "qwen-4b": ("sepo", ["sepo/kuhn", "models/qwen"]),
    "qwen-7b": ("scopal", ["papers/scopal/self-play", "papers/scopal/qwen2"]),
    "qwen-14b": ("league", ["papers/diplomacy/league"]),
}


def two_layers(name, folder):
    """A folder with a model of this class and these widths."""
    shape, tiny = SHAPES[name], load("tiny")
    config = CLASSES[name](
        vocab_size=VOCABULARY,
        hidden_size=shape.hidden,
        num_hidden_layers=2,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        head_dim=shape.head_dim,
        intermediate_size=shape.intermediate,
        tie_word_embeddings=shape.tied,
        pad_token_id=tiny.tokenizer.pad_token_id,
        eos_token_id=tiny.tokenizer.eos_token_id,
        bos_token_id=tiny.tokenizer.bos_token_id,
    )
    torch.manual_seed(0)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    model.save_pretrained(folder)
    tiny.tokenizer.save_pretrained(folder)
    plain = {"caching_layers": None, "gated": False, "linear": None}  # the attention of the nearest class
    expected = dataclasses.replace(shape, layers=2, vocabulary=VOCABULARY, further=0, **plain)
    assert sum(weight.numel() for weight in model.parameters()) == pytest.approx(expected.parameters, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("name", RUNS)
def test_recipe_of_a_papers_size_runs_with_two_layers(name, tmp_path):
    algorithm, names = RUNS[name]
    model = read_any([recipe_path(part) for part in names]).model
    two_layers(model.removeprefix("hf:").partition("+")[0], tmp_path / "model")
    changes = {**FEW[algorithm], **ALWAYS[algorithm], "model": f"dir:{tmp_path / 'model'}+dtype=bf16"}
    made = read_any([recipe_path(part) for part in names], changes)
    run = RunFolder.create(tmp_path / "run", made, made.seed, "a test")
    bound(made, run).train()
    assert any(run.path.glob("*.json"))
    assert (run.path / "models.json").is_file()
