"""A run of learners with clocks of their own: the base they begin with, trial after trial, and games without learning.

All that is random follows from the seed and the place in the run, so a run that was killed, within a trial too, goes on
from its newest checkpoint as if it had never stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from stratagem.algorithms.kl_sft import KLSFTRecipe, kl_sft
from stratagem.algorithms.own_base import BASE
from stratagem.algorithms.progress import Progress, nobody
from stratagem.algorithms.shaping.bases import Base
from stratagem.algorithms.shaping.figures import answers, paid, policies, visited
from stratagem.algorithms.shaping.final_games import tested
from stratagem.algorithms.shaping.held import publish
from stratagem.algorithms.shaping.interest import interests
from stratagem.algorithms.shaping.language_seat import LanguageSeat
from stratagem.algorithms.shaping.recipe import ShapingRecipe
from stratagem.algorithms.shaping.seat import Seat
from stratagem.algorithms.shaping.seats import Seating, check_seats, check_speech
from stratagem.algorithms.shaping.trial import Trial, Trials
from stratagem.engines.renewal import renew
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.models.adapters import adapter_names
from stratagem.models.load import load
from stratagem.models.reference import parse_model
from stratagem.play.store import write_shard
from stratagem.runs.checkpoint import Checkpoint, keep, save_checkpoint
from stratagem.runs.files import new_folder, write_file
from stratagem.runs.folder import RunFolder
from stratagem.runs.metrics import MetricLog
from stratagem.runs.resume import resume
from stratagem.runs.weights import (
    MODEL,
    restore_heads,
    restore_weights,
    sealed,
    together,
    writes_adapters,
    writes_heads,
    writes_model,
)

FINDINGS, OUTCOME = "findings.json", "outcome.json"
"""Where a run keeps what the checks found, and the games that were played at its end."""
KEPT = 2
"""How many of the newest checkpoints are kept."""


class ShapingTrainer:
    """One run of one recipe."""

    def __init__(
        self, recipe: ShapingRecipe, run: RunFolder, progress: Progress = nobody, *, strict: bool = False
    ) -> None:
        """`strict` stops at what a check finds; by default it is warned of once and counted."""
        self.recipe = recipe
        self.run = run
        self.progress = progress
        self.strict = strict
        self.game = make_game(recipe.game)
        self.key = Key(recipe.seed).at("shaping")
        check_seats(recipe, self.game)
        self._bases = {
            text: Base.of(self.run, self._held(text), recipe.max_tokens_per_microbatch) for text in recipe.bases
        }
        check_speech(recipe, self.game, self._bases)

    def train(self) -> None:
        """Begin, or go on from the newest checkpoint."""
        with self.run.at_work():
            start = resume(self.run, self.recipe)
            keep(self.run, last=KEPT)
            self._make_bases()
            seats = Seating(self.recipe, self.game, self._bases, strict=self.strict).seats()
            done = 0 if start is None else self._restore(seats, start)
            with MetricLog(self.run) as log:
                self._trials(seats, done, log)
            self._judge(seats)

    def _folder(self, text: str) -> Path:
        """Where the run keeps a base that it made."""
        return self.run.path / BASE / str(self.recipe.bases.index(text))

    def _held(self, text: str) -> str:
        made = self._folder(text) / MODEL
        return f"dir:{made}{parse_model(text).options}" if made.is_dir() else text

    def _make_bases(self) -> None:
        """Teach every base what it is to begin with; one appears whole or not at all."""
        for number, text in enumerate(self.recipe.bases if self.recipe.start else ()):
            if self._folder(text).is_dir():
                continue
            recipe = self.recipe
            taught = KLSFTRecipe(
                model=text,
                seed=recipe.seed,
                max_tokens_per_microbatch=recipe.max_tokens_per_microbatch,
                target_policies=recipe.start,
                kl_sft=recipe.kl_sft,
            )
            lm = load(text)
            for report in kl_sft(lm, taught):
                self.progress(0, recipe.trials, {f"start-{number}/loss": report.loss})
            self._folder(text).parent.mkdir(exist_ok=True)
            new_folder(self._folder(text), sealed(writes_model(lm)))
            self._bases[text] = Base.of(self.run, self._held(text), recipe.max_tokens_per_microbatch)

    def _trials(self, seats: dict[str, Seat], done: int, log: MetricLog) -> None:
        recipe = self.recipe
        trials = Trials(self.game, seats, recipe.environments, recipe.episodes, self.key)
        if not done:
            renew()
            log.write(0, policies(self.game, seats))
            publish(recipe, self.run)
        for number in range(done, recipe.trials):
            trial = trials.run(number)
            figures = self._figures(trial, seats)
            step = number + 1
            log.write(step, figures)
            if not step % recipe.record_every:
                write_shard(self.run.record, step, trial.episodes)
            if not step % recipe.checkpoint_every or step == recipe.trials:
                self._keep(seats, step)
            self.progress(step, recipe.trials, figures)

    def _figures(self, trial: Trial, seats: dict[str, Seat]) -> dict[str, float]:
        return {
            **paid(trial.episodes, list(seats)),
            **visited(self.game, trial.episodes),
            **policies(self.game, seats),
            **answers(self.game, seats, trial.episodes),
            **trial.learnt,
        }

    def _keep(self, seats: dict[str, Seat], step: int) -> None:
        state = {"seats": {name: seat.state() for name, seat in seats.items()}}
        save_checkpoint(self.run, step, state, write=self._writes(seats))
        keep(self.run, last=KEPT)
        publish(self.recipe, self.run)
        learning = {name: seat for name, seat in seats.items() if isinstance(seat, LanguageSeat)}
        found = {
            f"{name}/{check}": asdict(finding)
            for name, seat in learning.items()
            for check, finding in seat.monitor.findings().items()
        }
        write_file(self.run.path / FINDINGS, json.dumps(found, indent=1) + "\n")

    def _writes(self, seats: dict[str, Seat]) -> Callable[[Path], None]:
        heads = {name: seat.head for name, seat in seats.items() if isinstance(seat, LanguageSeat)}
        adapters = [writes_adapters(base.lm) for base in self._bases.values()]
        return together(*adapters, *([writes_heads(heads)] if heads else []))

    def _restore(self, seats: dict[str, Seat], start: Checkpoint) -> int:
        """Everybody as they were; how many trials are done."""
        for base in self._bases.values():
            restore_weights(base.lm, start.folder, adapter_names(base.lm))
        restore_heads({n: s.head for n, s in seats.items() if isinstance(s, LanguageSeat)}, start.folder)
        state: dict[str, Any] = start.restore()
        for name, seat in seats.items():
            seat.restore(state["seats"][name])
        return start.step

    def _judge(self, seats: dict[str, Seat]) -> None:
        path = self.run.path / OUTCOME
        if not path.is_file():
            renew()
            rows = tested(self.game, seats, self.recipe.test, self.key.at("test"))
            interest = interests(self.game, seats, self.recipe.test.games, self.key.at("interest"))
            told = {"seats": list(seats), "rows": rows, "interest": interest}
            write_file(path, json.dumps(told, indent=1) + "\n")
