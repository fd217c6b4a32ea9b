"""Tabular softmax policy with a row of logits for each prompt, trained by the policy gradient.

With the style shapellm-state it is a memory-one policy of five rows, so opponent shaping can be tested without a
language model. The update is that of REINFORCE (Williams 1992) with a baseline,

    logit(a | s) += learning_rate * mean over decisions of
                        A (1[a = played] - pi(a | s)) - entropy_coef pi(a | s) (log pi(a | s) + H(pi(. | s)))

with A the return-to-go minus its mean over the environments at the same turn, or over all decisions of the update. The
mean over environments includes the return itself, so with n of them a step is (n - 1) / n of the gradient step, and one
environment has no gradient. Between two schedules, the total step over the same episodes is equal if the learning rate
is proportional to the number of episodes of an update: its gradient is a mean over them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from stratagem.algorithms.shapellm.seat import (
    Seat,
    TabularSettings,
    Transition,
    UpdateData,
    merge_rewards,
    transitions_of,
)
from stratagem.base.errors import BadParameter
from stratagem.games.base import View
from stratagem.games.key import Key
from stratagem.games.matrix import MatrixFacts
from stratagem.language.prompting.base import Style
from stratagem.language.prompting.catalogue import make_style
from stratagem.language.prompting.past import NOTHING, Past
from stratagem.learn.schedules import Experience
from stratagem.players.base import Ask, Mix, Move, Player, Traits, draw
from stratagem.players.members import PlayerBase
from stratagem.playing.forks import steps
from stratagem.training.stage import Metrics

Row = dict[str, float]
"""Logits by action."""
_KEY = Key(0)


@dataclass
class TabularLearner(PlayerBase):
    """Player with a softmax policy; a new row has the initial probability of the first action."""

    style: Style
    first: float | tuple[float, ...]
    name: str = "tabular"
    rows: dict[str, Row] = field(default_factory=dict)
    """Logits by prompt."""
    std: float = 0.0
    """Standard deviation of the noise on the first action's logit in a new row."""
    key: Key = _KEY
    """Key of the noise."""
    initial: Player | None = None
    """Player whose probabilities a new row has, in place of `first`."""

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=self.style.memory)

    def turn(self, ask: Ask) -> Move:
        return Move(draw(self.policy(ask.view, ask.past), ask.key))

    def policy(self, view: View[Any], past: Past = NOTHING) -> Mix:
        """Return the probabilities of the actions in a state."""
        return mix_of(self.row(view, past))

    def row(self, view: View[Any], past: Past = NOTHING) -> Row:
        """Return the logits of a state, which may be changed in place."""
        prompt = "\n".join(message.content for message in self.style.messages(view, past))
        if prompt not in self.rows:
            actions = list(view.choices)
            if self.initial is not None:
                self.rows[prompt] = self._row_of(self.initial, view, actions)
                return self.rows[prompt]
            first = self.first if isinstance(self.first, float) else self.first[_state(view)]
            rest = (1.0 - first) / max(1, len(actions) - 1)
            row = {a: math.log(first if not n else rest) for n, a in enumerate(actions)}
            row[actions[0]] += self.std * self.key.at("row", prompt).rng().gauss() if self.std else 0.0
            self.rows[prompt] = row
        return self.rows[prompt]

    def _row_of(self, player: Player, view: View[Any], actions: Sequence[str]) -> Row:
        """Return the logits of a player's probabilities; an action without one could never be learnt."""
        mix = player.policy(view)
        if never := [action for action in actions if not mix.get(action, 0.0) > 0.0]:
            raise BadParameter(
                f"A table cannot begin as {player.name}, who never plays {never[0]} at {view.info_key!r}: take a "
                f"player that plays every action, such as noise({player.name}, p=0.3)."
            )
        return {action: math.log(mix[action]) for action in actions}


def mix_of(row: Row) -> Mix:
    """Return the softmax of a row of logits."""
    largest = max(row.values())
    weights = {action: math.exp(logit - largest) for action, logit in row.items()}
    total = math.fsum(weights.values())
    return {action: weight / total for action, weight in weights.items()}


class TabularSeat(Seat):
    """Seat that trains a tabular policy."""

    def __init__(
        self, name: str, settings: TabularSettings, every: int, key: Key = _KEY, initial: Player | None = None
    ) -> None:
        """`every` is the number of episodes between updates; `key` draws the noise on the initial policy.

        `initial` is the player that the settings name as the initial policy.
        """
        self.settings = settings
        self.num_updates = 0
        style, first = make_style(settings.style), settings.initial_probability
        self.table = TabularLearner(style, first, name, std=settings.initial_std, key=key, initial=initial)
        super().__init__(self.table, settings.memory, every)

    def update(self, data: UpdateData) -> Metrics:
        slot = data.slot
        transitions = merge_rewards(transitions_of(data.episodes, slot), lambda one: one.decision.action is not None)
        if not transitions:
            return {}
        advantages, learning_rate = self.advantages_of(transitions), self.settings.learning_rate * self._scale(data)
        self.num_updates += 1
        views = {(e.id, row.turn): s.view(row.seat) for es in data.episodes for e in es for s, r in steps(e)
                 for row in r if row.slot == slot}  # fmt: skip
        gradients: dict[int, Row] = {}
        rows: dict[int, Row] = {}
        for transition, advantage in zip(transitions, advantages, strict=True):
            view, past = views[transition.episode.id, transition.decision.turn], _past(transition, slot)
            row = self.table.row(view, past)
            rows[id(row)], mix = row, mix_of(row)
            gradient = gradients.setdefault(id(row), dict.fromkeys(row, 0.0))
            bonus = self.entropy_gradient(mix)
            for action in row:
                gradient[action] += advantage * ((action == transition.decision.action) - mix[action]) + bonus[action]
        for name, row in rows.items():
            for action in row:
                row[action] += learning_rate * gradients[name][action] / len(transitions)
        return {"score": math.fsum(transition.reward for transition in transitions) / len(transitions)}

    def _scale(self, data: UpdateData) -> float:
        experience = Experience(self.num_updates, data.episodes_before, data.trials_before)
        return self.settings.learning_rate_scale.after(experience)

    def entropy_gradient(self, mix: Mix) -> Row:
        """Return the gradient of `entropy_coef * H` in the logits: `-entropy_coef p (log p + H)`."""
        if not self.settings.entropy_coef:
            return dict.fromkeys(mix, 0.0)
        logs = {action: math.log(p) if p > 0.0 else 0.0 for action, p in mix.items()}
        entropy = -math.fsum(p * logs[action] for action, p in mix.items())
        return {action: -self.settings.entropy_coef * p * (logs[action] + entropy) for action, p in mix.items()}

    def advantages_of(self, transitions: Sequence[Transition]) -> list[float]:
        """Return the discounted returns-to-go, less their mean over the environments at the same turn or over all."""
        to_go: dict[int, float] = defaultdict(float)
        returns = [0.0] * len(transitions)
        for index in sorted(range(len(transitions)), key=lambda index: transitions[index].turn, reverse=True):
            transition = transitions[index]
            to_go[transition.trajectory] = transition.reward + self.settings.discount * to_go[transition.trajectory]
            returns[index] = to_go[transition.trajectory]
        if self.settings.advantage_mean_over == "batch":
            mean = float(np.mean(returns))
            return [value - mean for value in returns]
        by_turn: dict[tuple[int, int], list[float]] = defaultdict(list)
        for transition, value in zip(transitions, returns, strict=True):
            by_turn[transition.turn].append(value)
        means = {turn: float(np.mean(values)) for turn, values in by_turn.items()}
        return [value - means[transition.turn] for transition, value in zip(transitions, returns, strict=True)]

    def state(self) -> dict[str, Any]:
        rows = {prompt: dict(row) for prompt, row in self.table.rows.items()}
        return {"rows": rows, "updates": self.num_updates}

    def restore(self, state: Mapping[str, Any], folder: Path) -> None:
        self.table.rows = {prompt: dict(row) for prompt, row in state["rows"].items()}
        self.num_updates = state.get("updates", 0)  # absent in checkpoints of 0.2, whose tables have no schedule


def _state(view: View[Any]) -> int:
    """Return the number of the seat's state among the five, in the order of `initial_policies`."""
    if not isinstance(view.facts, MatrixFacts) or len(view.facts.labels) != 2 or len(view.facts.their_labels) != 2:
        raise BadParameter("A table begins with five probabilities in repeated games of two actions only: give it one.")
    facts = view.facts
    return 1 + 2 * facts.mine[-1] + facts.theirs[-1] if facts.mine else 0


def _past(transition: Transition, slot: int) -> Past:
    return transition.episode.pasts[slot] if transition.episode.pasts else NOTHING
