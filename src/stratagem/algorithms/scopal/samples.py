"""From a table of steps to what is learnt from: examples in the model's tokens, each with what it counts.

What a model said itself is taken as it was said, under the distribution that it was drawn from. What another player did
is put in words: the game is played again up to the decision, and the style asks for it. Games are balanced by weight
and not by copies: a game's weights add up to the same sum whatever it has been played.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa

from stratagem.algorithms.scopal.settings import SampleSettings
from stratagem.algorithms.scopal.steps import Steps
from stratagem.demonstrations.scripted import reply
from stratagem.engines.base import Call, Engine
from stratagem.errors import BadRecord
from stratagem.learning.advantages.base import Bools, Floats, Ints
from stratagem.learning.example import Example, of_call
from stratagem.play.calls import DecisionKey
from stratagem.play.forks import steps as turns
from stratagem.play.store import read_calls, read_episodes
from stratagem.players.modes import MODES
from stratagem.prompting.base import Message, Role, Style
from stratagem.training.sft import demonstrated


@dataclass(frozen=True, kw_only=True)
class Samples:
    """N things said, and what is known of each; weights have the mean 1."""

    examples: Sequence[Example]
    weight: Floats
    desirable: Bools
    prompt: Ints
    """Equal for samples that answer one question."""
    columns: Mapping[str, Floats]
    """Of the table: what methods ask for."""

    def __len__(self) -> int:
        return len(self.examples)

    def only(self, rows: Bools, weight: Floats | None = None) -> Samples:
        """Some of them, weighed anew."""
        chosen = np.flatnonzero(rows).tolist()
        given = (self.weight if weight is None else weight)[chosen]
        return Samples(
            examples=[self.examples[place] for place in chosen],
            weight=given / given.mean() if len(given) else given,
            desirable=self.desirable[chosen],
            prompt=self.prompt[chosen],
            columns={name: column[chosen] for name, column in self.columns.items()},
        )


@dataclass(frozen=True)
class Wording:
    """How an action is asked for and said."""

    style: Style
    mode: str

    def of(self, action: str) -> str:
        """What a model says in this mode for an action; where it says nothing else, the action has no mark."""
        return action if MODES[self.mode].exact else reply(self.style, action)


def samples_of(
    steps: Steps, engine: Engine, wording: Wording, settings: SampleSettings, rng: np.random.Generator
) -> Samples:
    """What is learnt from the steps."""
    rows = steps.rows
    weight = drawn(weights_of(steps, settings), settings.max_samples, rng)
    chosen = weight > 0.0
    rows = rows.take(np.flatnonzero(chosen))
    examples = list(_examples(rows.to_pylist(), steps.folders, engine, wording))
    free = np.array(
        [bool(example.loss_positions) for example in examples]
    )  # where there was no choice nothing is learnt
    if not free.any():
        raise BadRecord("In no situation of these games was there a choice, so there is nothing to learn.")
    rows, given = rows.filter(pa.array(free)), weight[chosen][free]
    examples = [example for example in examples if example.loss_positions]
    asked = [example.tokens[: example.loss_positions[0]] for example in examples]
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(asked))}
    columns = {name: rows[name].to_numpy().astype(np.float64) for name in ("count", "reward", "spag", "won")}
    return Samples(
        examples=examples,
        weight=given / given.mean(),
        desirable=rows["desirable"].to_numpy(),
        prompt=np.array([numbers[prompt] for prompt in asked], dtype=np.int64),
        columns=columns | {"legal": rows["action"].is_valid().to_numpy().astype(np.float64)},
    )


def weights_of(steps: Steps, settings: SampleSettings) -> Floats:
    """What each row counts: how often it was said, games brought to their shares."""
    weight: Floats = steps.rows["count"].to_numpy().astype(np.float64)
    if settings.balance:
        game = steps.rows["game"].combine_chunks().dictionary_encode().indices.to_numpy()
        totals = np.bincount(game, weights=weight)
        weight = weight * (weight.sum() / len(totals) / totals)[game]
    return weight


def drawn(weight: Floats, most: int, rng: np.random.Generator) -> Floats:
    """How often each row comes among so many that are drawn by weight; where there are no more rows, the weight itself.

    A row's mean is its share of the draws, so what is learnt from is the same on average.
    """
    if not most or len(weight) <= most:
        return weight
    return rng.multinomial(most, weight / weight.sum()).astype(np.float64)


def _examples(
    rows: Sequence[Mapping[str, Any]], folders: Sequence[Path], engine: Engine, wording: Wording
) -> Iterator[Example]:
    """Each row in the model's tokens, in order."""
    found: dict[tuple[int, DecisionKey], Example] = {}
    for (folder, shard), own in _by_shard(rows).items():
        asked = [row for row in own if row["prompt"] is not None]
        texts = {_key(row): row["reply"] for row in asked}
        calls = read_calls(folders[folder], shard, [_key(row) for row in asked]) if asked else {}
        found |= {(folder, key): _said(engine, call) for key, call in calls.items() if call.text == texts[key]}
        silent = [row for row in own if row["prompt"] is None]
        found |= {(folder, key): one for key, one in _worded(silent, folders[folder], shard, engine, wording)}
    for row in rows:
        if (row["folder"], _key(row)) not in found:
            where = f"turn {row['turn']} of episode {row['episode']}"
            raise BadRecord(f"{folders[row['folder']]} is not the record that the table was made of: see {where}.")
        yield found[row["folder"], _key(row)]


def _by_shard(rows: Sequence[Mapping[str, Any]]) -> dict[tuple[int, int], list[Mapping[str, Any]]]:
    parts: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for row in rows:
        parts.setdefault((row["folder"], row["shard"]), []).append(row)
    return parts


def _key(row: Mapping[str, Any]) -> DecisionKey:
    return row["episode"], row["turn"], row["seat"], row["attempt"]


def _said(engine: Engine, call: Call) -> Example:
    """A model's reply: in its own tokens where the tokenizer is the same, and else as a text."""
    if engine.begin(call.prompt.messages).tokens == call.prompt.tokens and call.tokens:
        return of_call(call)
    messages = [Message(cast("Role", role), said) for role, said in call.prompt.messages]
    return demonstrated(engine, messages, call.text)


def _worded(
    rows: Sequence[Mapping[str, Any]], folder: Path, shard: int, engine: Engine, wording: Wording
) -> Iterator[tuple[DecisionKey, Example]]:
    """What players did who do not talk, as a model would say it."""
    wanted: dict[str, dict[tuple[int, int], list[Mapping[str, Any]]]] = {}
    for row in rows:
        wanted.setdefault(row["episode"], {}).setdefault((row["turn"], row["seat"]), []).append(row)
    for episode in read_episodes(folder, [shard], calls=False) if wanted else ():
        for state, decisions in turns(episode) if episode.id in wanted else ():
            for decision in decisions:
                for asked in wanted[episode.id].get((decision.turn, decision.seat), ()):  # one for each attempt
                    if decision.state_key == asked["state_key"] and asked["action"] in (None, decision.action):
                        messages = wording.style.messages(state.view(decision.seat))
                        yield _key(asked), demonstrated(engine, messages, wording.of(asked["reply"]))
