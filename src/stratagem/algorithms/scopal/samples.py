"""Training samples from a table of steps: examples in the model's tokens, each with its weight.

A model's own reply keeps its tokens and their log-probabilities. The action of another player is rendered as a reply:
the game is replayed up to the decision, and the prompt style asks for it. Games are balanced by weights and not by
copies: the weights of each game have the same sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
from pydantic import Field

from stratagem.algorithms.scopal.steps import Steps
from stratagem.base.errors import BadRecord
from stratagem.base.settings import FiniteSettings
from stratagem.language.engines.base import Call, Engine
from stratagem.language.prompting.base import ChatMessage, Role, Style
from stratagem.learn.advantages.base import Bools, Floats, Ints
from stratagem.learn.demonstrations.scripted import reply
from stratagem.learn.example import Example, example_from_call
from stratagem.players.modes import MODES
from stratagem.playing.calls import DecisionKey
from stratagem.playing.forks import steps as turns
from stratagem.playing.store import read_calls, read_episodes
from stratagem.training.sft import example_of_demonstration


class SampleSettings(FiniteSettings):
    """Selection of the samples."""

    balance: bool = True
    """Equal total weight of every game."""
    max_samples: int = Field(default=0, ge=0)
    """Maximum number of samples, drawn by weight with replacement; 0 takes all."""


@dataclass(frozen=True, kw_only=True)
class Samples:
    """N replies with their labels and statistics; the mean weight is 1."""

    examples: Sequence[Example]
    weight: Floats
    desirable: Bools
    prompt: Ints
    """Number of the prompt; samples of one prompt have the same."""
    columns: Mapping[str, Floats]
    """Columns of the table of steps that the methods read."""

    def __len__(self) -> int:
        return len(self.examples)

    def subset(self, rows: Bools, weight: Floats | None = None) -> Samples:
        """Return some of the samples, with their weights rescaled to a mean of 1."""
        chosen = np.flatnonzero(rows).tolist()
        given = (self.weight if weight is None else weight)[chosen]
        return Samples(
            examples=[self.examples[index] for index in chosen],
            weight=given / given.mean() if len(given) else given,
            desirable=self.desirable[chosen],
            prompt=self.prompt[chosen],
            columns={name: column[chosen] for name, column in self.columns.items()},
        )


@dataclass(frozen=True)
class ReplyFormat:
    """Prompt style and decoding mode, which give the text of an action."""

    style: Style
    mode: str

    def text(self, action: str) -> str:
        """Return the reply for an action; in an exact mode it is the bare action."""
        return action if MODES[self.mode].exact else reply(self.style, action)


def make_samples(
    steps: Steps, engine: Engine, reply_format: ReplyFormat, settings: SampleSettings, rng: np.random.Generator
) -> Samples:
    """Make the training samples of a table of steps."""
    rows = steps.rows
    weight = resample_weights(sample_weights(steps, settings), settings.max_samples, rng)
    chosen = weight > 0.0
    rows = rows.take(np.flatnonzero(chosen))
    examples = list(_examples(rows.to_pylist(), steps.folders, engine, reply_format))
    free = np.array([bool(example.loss_positions) for example in examples])  # forced replies have an empty loss mask
    if not free.any():
        raise BadRecord("In no situation of these games was there a choice, so there is nothing to learn.")
    rows, given = rows.filter(pa.array(free)), weight[chosen][free]
    examples = [example for example in examples if example.loss_positions]
    prompts = [example.tokens[: example.loss_positions[0]] for example in examples]
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    columns = {name: rows[name].to_numpy().astype(np.float64) for name in ("count", "reward", "spag", "won")}
    return Samples(
        examples=examples,
        weight=given / given.mean(),
        desirable=rows["desirable"].to_numpy(),
        prompt=np.array([numbers[prompt] for prompt in prompts], dtype=np.int64),
        columns=columns | {"legal": rows["action"].is_valid().to_numpy().astype(np.float64)},
    )


def sample_weights(steps: Steps, settings: SampleSettings) -> Floats:
    """Return the weight of each row: its count, with `balance` scaled to equal totals of the games."""
    weight: Floats = steps.rows["count"].to_numpy().astype(np.float64)
    if settings.balance:
        game = steps.rows["game"].combine_chunks().dictionary_encode().indices.to_numpy()
        totals = np.bincount(game, weights=weight)
        weight = weight * (weight.sum() / len(totals) / totals)[game]
    return weight


def resample_weights(weight: Floats, max_samples: int, rng: np.random.Generator) -> Floats:
    """Return the counts of `max_samples` draws with replacement; the weights themselves where there are no more rows.

    The expected count of a row is proportional to its weight, so the training set is the same on average.
    """
    if not max_samples or len(weight) <= max_samples:
        return weight
    return rng.multinomial(max_samples, weight / weight.sum()).astype(np.float64)


def _examples(
    rows: Sequence[Mapping[str, Any]], folders: Sequence[Path], engine: Engine, reply_format: ReplyFormat
) -> Iterator[Example]:
    """Yield each row as an example, in order."""
    examples: dict[tuple[int, DecisionKey], Example] = {}
    for (folder, shard), own in _by_shard(rows).items():
        asked = [row for row in own if row["prompt"] is not None]
        texts = {_key(row): row["reply"] for row in asked}
        calls = read_calls(folders[folder], shard, [_key(row) for row in asked]) if asked else {}
        examples |= {
            (folder, key): _model_example(engine, call) for key, call in calls.items() if call.text == texts[key]
        }
        silent = [row for row in own if row["prompt"] is None]
        rendered = _rendered_examples(silent, folders[folder], shard, engine, reply_format)
        examples |= {(folder, key): example for key, example in rendered}
    for row in rows:
        if (row["folder"], _key(row)) not in examples:
            where = f"turn {row['turn']} of episode {row['episode']}"
            raise BadRecord(f"{folders[row['folder']]} is not the record that the table was made of: see {where}.")
        yield examples[row["folder"], _key(row)]


def _by_shard(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], list[Mapping[str, Any]]]:
    parts: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["folder"], row["shard"]), []).append(row)
    return parts


def _key(row: Mapping[str, Any]) -> DecisionKey:
    return row["episode"], row["turn"], row["seat"], row["attempt"]


def _model_example(engine: Engine, call: Call) -> Example:
    """Return a model's reply in its own tokens where the tokenizer is the same, and else tokenize its text."""
    if engine.begin(call.prompt.messages).tokens == call.prompt.tokens and call.tokens:
        return example_from_call(call)
    messages = [ChatMessage(cast("Role", role), text) for role, text in call.prompt.messages]
    return example_of_demonstration(engine, messages, call.text)


def _rendered_examples(
    rows: Sequence[Mapping[str, Any]], folder: Path, shard: int, engine: Engine, reply_format: ReplyFormat
) -> Iterator[tuple[DecisionKey, Example]]:
    """Yield the actions of players without a model as replies of the model."""
    wanted: dict[str, dict[tuple[int, int], list[Mapping[str, Any]]]] = {}
    for row in rows:
        wanted.setdefault(row["episode"], {}).setdefault((row["turn"], row["seat"]), []).append(row)
    for episode in read_episodes(folder, [shard], calls=False) if wanted else ():
        for state, decisions in turns(episode) if episode.id in wanted else ():
            for decision in decisions:
                for asked in wanted[episode.id].get((decision.turn, decision.seat), ()):  # one for each attempt
                    if decision.state_key == asked["state_key"] and asked["action"] in (None, decision.action):
                        messages = reply_format.style.messages(state.view(decision.seat))
                        yield _key(asked), example_of_demonstration(engine, messages, reply_format.text(asked["reply"]))
