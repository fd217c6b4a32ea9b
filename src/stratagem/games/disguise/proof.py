"""Proof that a disguised game is the same game: on its whole tree, or on sampled episodes of a larger one.

At every decision node the disguised choices must go back to the plain ones, one to one. Over all nodes, what a seat
reads in plain words and what it reads in disguise must determine each other, so that it learns neither more nor less.
The rules, the transitions and the payoffs are those of the game itself; a score is an increasing affine map of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from math import prod
from typing import Any

from stratagem.base.errors import CannotCompute
from stratagem.games.base import Game, State, View
from stratagem.games.choices import Choices, Flat, Sheet
from stratagem.games.disguise.disguise import Disguise, DisguisedView
from stratagem.games.disguise.vocabulary import action_words, play_randomly
from stratagem.games.enumeration import dump_of, starts, successors, walk_positions
from stratagem.games.key import Key

BUDGET = 20_000
"""Number of moves that a proof walks, each outcome of chance counted."""
EPISODES = 20
"""Number of sampled episodes beyond the budget."""
_LISTED = 500
"""Number of actions of a list that are compared."""
Text = tuple[Any, ...]


class NoIsomorphism(CannotCompute):
    """Disguise under which the game is another one."""


@dataclass(frozen=True)
class Proof:
    """Extent of a check that a disguised game is the same game."""

    nodes: int
    """Number of decision nodes: pairs of a state and a seat to act."""
    episodes: int = 0
    """Number of sampled episodes; 0 if the whole tree was walked."""

    def __str__(self) -> str:
        if not self.episodes:
            return f"proved on all {self.nodes} decision nodes"
        return f"checked on {self.nodes} decision nodes of {self.episodes} episodes"


@dataclass
class TextComparison:
    """Texts met so far, in plain words and in disguise."""

    disguise: Disguise
    nodes: int = 0
    _disguised: dict[Text, Text] = field(default_factory=dict)
    _plain: dict[Text, Text] = field(default_factory=dict)
    _lists: set[Text] = field(default_factory=set)
    """Lists of actions that were compared; the names of a list follow from its actions alone."""

    def compare(self, plain: View[Any], before: Text) -> None:
        """Compare a view, and all that a player reads there, with the same in disguise."""
        self.nodes += 1
        if before in self._disguised and isinstance(plain.choices, Flat):
            return  # a disguised view follows from these texts alone; that of a sheet also from its default lines
        seen = self.disguise.view(plain)
        if (listed := before[-1]) not in self._lists:
            self._compare_actions(plain, seen)
            if isinstance(plain.choices, Flat):
                self._lists.add(listed)
        after = _text(seen)
        if self._disguised.setdefault(before, after) != after or self._plain.setdefault(after, before) != before:
            raise _other_game(plain, f"two situations of seat {plain.seat} read alike, {after[2]!r}")

    def _compare_actions(self, plain: View[Any], seen: DisguisedView) -> None:
        """Check that each action has a name of its own, and goes back to itself."""
        lines = set(islice(lines_of(plain.choices), _LISTED))
        if len(set(map(self.disguise.translate_cached, lines))) < len(lines):
            raise _other_game(plain, f"two of the actions {plain.choices.summary()} have one name")
        for ours in _options(plain.choices):
            if seen.plain_action(there := self._there(seen.choices, ours)) != ours:
                raise _other_game(plain, f"the action {there!r} does not go back to {ours!r}")

    def _there(self, choices: Choices, action: str) -> str:
        """Return a plain action in disguise; a sheet has its own order of lines."""
        if not isinstance(choices, Sheet):
            return self.disguise.translate_cached(action)
        return choices.canonical(map(self.disguise.translate_cached, action.split("\n"))) or ""


def _other_game(view: View[Any], why: str) -> NoIsomorphism:
    return NoIsomorphism(f"This disguise makes another game of {view.game.spec.name}: {why}.")


def compare_texts(comparisons: Iterable[TextComparison], state: State[Any]) -> None:
    """Compare the views of the seats to act under several disguises."""
    for seat in state.to_act:
        plain = state.view(seat)
        before = _text(plain)
        for comparison in comparisons:
            comparison.compare(plain, before)


def _text(view: View[Any]) -> Text:
    """Return all that a player reads."""
    choices = view.choices
    listed = choices.slots if isinstance(choices, Sheet) else tuple(choices)
    return view.seat, view.rules, view.situation, listed


def _options(choices: Choices) -> Iterable[str]:
    """Return the actions to send there and back; of a sheet the first, since its lines are compared one by one."""
    return islice(choices, _LISTED) if not isinstance(choices, Sheet) else [choices.first]


def prove(
    disguise: Disguise, game: Game[Any], *, budget: int = BUDGET, episodes: int = EPISODES, key: Key | None = None
) -> Proof:
    """Walk the whole tree, or sampled episodes if it has more moves than the budget; `NoIsomorphism` if it fails."""
    return prove_each([disguise], game, budget=budget, episodes=episodes, key=key)


def prove_each(
    disguises: Sequence[Disguise], game: Game[Any], *, budget: int, episodes: int, key: Key | None = None
) -> Proof:
    """Prove several disguises in one walk; the proof is that of each."""
    comparisons = list(map(TextComparison, disguises))
    try:
        for state in every_state(game, budget):
            compare_texts(comparisons, state)
        return Proof(comparisons[0].nodes)
    except NoIsomorphism:
        raise
    except CannotCompute:  # too large, or with draws that cannot be enumerated
        comparisons = list(map(TextComparison, disguises))
        for number in range(episodes):
            for state in play_randomly(game, (key or Key(0)).at("proof", number)):
                compare_texts(comparisons, state)
        return Proof(comparisons[0].nodes, episodes)


def every_state(
    game: Game[Any], budget: int, place_of: Callable[[State[Any]], Hashable] = dump_of
) -> Iterator[State[Any]]:
    """Yield every state with a decision once, or raise `CannotCompute` after `budget` moves and outcomes of chance.

    States with an equal `place_of`, a hashable value, count as one.
    """
    followed = count(1)

    def follow(state: State[Any]) -> Iterator[State[Any]]:
        if prod(state.view(seat).choices.count for seat in state.to_act) > budget:
            raise _too_large(game)
        for after, _ in successors(state):
            if next(followed) > budget:
                raise _too_large(game)
            if not after.over:
                yield after

    first = [state for _, state in islice(starts(game), budget + 1)]
    if len(first) > budget:
        raise _too_large(game)
    yield from (state for _, state in walk_positions(first, follow, place_of))


def _too_large(game: Game[Any]) -> CannotCompute:
    return CannotCompute(f"The tree of {game.spec.name} is larger than the budget.")


def left_in_plain_words(disguise: Disguise, view: View[Any]) -> str:
    """Return a plain word that the disguised view still shows, within another word or in an action; or nothing."""
    seen = disguise.view(view)
    inside = disguise.text.remaining(f"{seen.rules}\n{seen.situation}")
    kept = (_kept_word(disguise, action) for action in islice(lines_of(view.choices), _LISTED))
    return inside or next(filter(None, kept), "")


def _kept_word(disguise: Disguise, action: str) -> str:
    """Return a word of an action that is the same in disguise."""
    return min(set(action_words(action)) & set(action_words(disguise.translate_cached(action))), default="")


def lines_of(choices: Choices) -> Iterable[str]:
    """Return the actions; of a sheet its lines."""
    return [line for slot in choices.slots for line in slot.options] if isinstance(choices, Sheet) else choices
