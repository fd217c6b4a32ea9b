"""Training speed of the models of recipes/reading, in examples and tokens a second of one core.

`python experiments/reading_speed.py` prints the table: seconds of the process itself, so other load changes it little.
"""

from __future__ import annotations

import time

from reading import SIZES
from result_tables import markdown

from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.language.engines.open import open_engine
from stratagem.language.models.language_model import LanguageModel
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.learn.demonstrations.imitation import ImitatedPlayer, teacher_decisions
from stratagem.learn.example import Example
from stratagem.learn.learner import Learner
from stratagem.learn.losses.cross_entropy import CrossEntropy
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.learn.policy import Policy
from stratagem.training.sft import example_of_demonstration

GAMES = {"nim": 27, "tic-tac-toe": 27, "kuhn-spiel": 10}
STEPS = 3


def examples(lm: LanguageModel, style: str) -> list[Example]:
    """Return a batch of the mixture."""
    engine, styles = open_engine(lm), [make_style(style)]
    units = (
        unit
        for name, count in GAMES.items()
        for unit in teacher_decisions(make_game(name), ImitatedPlayer("random"), count, Key(0), styles)
    )
    return [example_of_demonstration(engine, one.messages, one.reply) for unit in units for one in unit]


def row(model: str, style: str) -> list[str]:
    """Measure a model: the mean of a few steps after the first."""
    lm = load(f"{model}+dtype=bf16")
    weights = list(lm.model.requires_grad_(True).parameters())
    batch, settings = examples(lm, style), OptimizerSettings()
    learner = Learner(Policy(lm), CrossEntropy(), Optimizer(weights, settings, STEPS + 1), adapter=None, key=Key(0))
    learner.update_once(batch)
    start = time.process_time()
    reports = [learner.update_once(batch) for _ in range(STEPS)]
    seconds = (time.process_time() - start) / STEPS
    texts = sum(len(example.tokens) for example in batch)
    per_second = (len(batch) / seconds, reports[0].num_read / seconds, texts / seconds)
    size = sum(weight.numel() for weight in weights) / 1e6
    return [model, style, f"{size:.1f}", *(f"{value:,.0f}" for value in per_second)]


def main() -> None:
    """Print the table."""
    heads = ["model", "style", "million weights", "examples", "tokens read", "tokens of the texts"]
    print(markdown(heads, [row(model, style) for model in SIZES for style in ("bare", "plain")]))


if __name__ == "__main__":
    main()
