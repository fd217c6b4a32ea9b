"""Replies of a player to questions: episodes of one decision, which the scheduler plays as it plays any other.

So a language model's retries, a server's limits, workers, records and resumes are those of play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from itertools import zip_longest

import numpy as np

from stratagem.base.errors import CannotCompute
from stratagem.games.forfeits import FORFEIT
from stratagem.games.key import Key
from stratagem.games.rounds import turns_before
from stratagem.games.tree_sets import InformationSet
from stratagem.measure.resumable import ResumableRecord, is_unanswered
from stratagem.measure.sampled.permutation import Replies
from stratagem.measure.sampled.questions import Ints, TreeQuestions
from stratagem.measure.sampled.tally import ReplyTally, deal_halves
from stratagem.players.base import Player
from stratagem.playing.dispatch import Dispatcher, RequestQueue
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Decision, Episode
from stratagem.playing.workers.plan import change_plan, current

_SHARE = 8
"""Decisions of a model in a shard, for each game in one: the same few situations are asked about again and again."""
LONG = 80
"""Number of characters from which equal replies of a server may come from a cache."""


class ReplyAsker:
    """Player that is asked about situations, as often as told; no reply is asked for twice."""

    def __init__(
        self,
        player: Player,
        questions: TreeQuestions,
        key: Key,
        record: ResumableRecord | None = None,
        queue: RequestQueue | None = None,
    ) -> None:
        self.questions = questions
        self.key = key
        self._player = player
        game = questions.tree.game
        self._match = Match(game, [player, *[None] * (game.spec.seats - 1)])
        self._group = f"{self._match.text}/ask/{player.name}"
        self._record = record or ResumableRecord()
        self._queue = queue or Dispatcher()
        self.decisions: list[list[Decision]] = [[] for _ in range(len(questions))]
        """Replies by question, in the order in which they were asked for."""
        self._asked = [0] * len(questions)
        self._answers: dict[tuple[str, ...], tuple[int, str] | None] = {}
        """Question and text by the ids of a server's answers; None where they stood for several."""

    def __call__(self, numbers: Ints) -> ReplyTally:
        """Ask each question the given number of times more, and count the replies."""
        before = list(self._asked)
        return self._tally(self.ask(numbers), before)

    def ask(self, numbers: Ints) -> list[list[Decision]]:
        """Ask each question the given number of times more, and return the replies by question."""
        before = list(self._asked)
        setups = [
            [self._setup(number, before[number] + place) for place in range(int(count))]
            for number, count in enumerate(numbers)
        ]
        in_turn = (setup for row in zip_longest(*setups) for setup in row if setup is not None)
        episodes = self._play(list(in_turn))  # in turn, so early replies are early ones of every question
        self._asked = [had + len(some) for had, some in zip(before, setups, strict=True)]
        rows = [[_decision(episodes[setup.id]) for setup in some] for some in setups]
        for question, some in enumerate(rows):
            self.decisions[question] += some
            self._note_answers(question, some)
        return rows

    def ask_again(self, places: Sequence[tuple[int, int]]) -> list[Decision]:
        """Ask for replies by question and place, as they were asked for before; they count for nothing else."""
        setups = [self._setup(question, place) for question, place in places]
        episodes = self._play(setups)
        return [_decision(episodes[setup.id]) for setup in setups]

    def _play(self, setups: Sequence[Setup]) -> dict[str, Episode]:
        """Play decisions; those of a model in larger shards than games, since each shard reads the prompts anew."""
        share = _SHARE if self._player.traits.reads_words else 1
        with change_plan(tables_per_shard=share * current().tables_per_shard):
            return self._record.play(setups, self._queue)

    def episode_id(self, question: int, place: int = 0) -> str:
        """Return the id of the episode of a reply, by its place among those to its question."""
        return f"{self._group}/{question}/{place}"

    @property
    def answered(self) -> list[dict[int, Decision]]:
        """Decisions by question that have a reply, by their place among all to it."""
        return [{place: row for place, row in enumerate(some) if not is_unanswered(row)} for some in self.decisions]

    @property
    def actions(self) -> Replies:
        """Actions by question, in the order in which they were asked for; illegal replies are -1.

        Questions that a server did not answer are left out, so that its failures are no change of the agent.
        """
        rows = zip(self.questions.sets, self.answered, strict=True)
        return [
            [-1 if row.action is None else known.actions.index(row.action) for row in some.values()]
            for known, some in rows
        ]

    def _setup(self, number: int, place: int) -> Setup:
        """Return a decision of play: in any round, after as many turns as play may take to get there."""
        game, key = self._match.game, self.key.at("ask", number, place)
        kinds = game.spec.independent_rounds
        round_number = key.at("round").integer(game.spec.rounds or kinds) if kinds else 0
        known = self.questions.asked_in(number, round_number)
        seats = game.spec.seats
        others = iter(range(1, seats))
        return Setup(
            id=self.episode_id(number, place),
            match=self._match,
            slots=tuple(0 if seat == known.seat else next(others) for seat in range(seats)),
            key=key,
            purpose="probe",
            group=f"{self._group}/{number}",
            forked_at=known.turn + turns_before(game, round_number, key.at("before")),
            state=known.state,
            fresh_chance=True,
            turns=1,
        )

    def _tally(self, rows: Sequence[Sequence[Decision]], before: Sequence[int]) -> ReplyTally:
        """Count replies; those after `before` earlier ones."""
        sets, slots = self.questions.sets, self.questions.slots
        legal = np.zeros(int(slots[-1]))
        for first, known, replies in zip(slots, sets, rows, strict=False):
            for row in replies:
                if row.action is not None:
                    legal[first + known.actions.index(row.action)] += 1.0
        actions = [[action_played(known, row) for row in replies] for known, replies in zip(sets, rows, strict=True)]
        return ReplyTally(
            deal_halves(actions, self.questions, before), legal, [self._copies(replies) for replies in rows]
        )

    def _copies(self, replies: Sequence[Decision]) -> Counter[Hashable]:
        """Count replies that are observed once however often they are given: of a cache, or at temperature 0.

        A player that repeats itself draws each reply by a key of its own, so that no two replies are one. A short reply
        is named by the ids that the server gave its answers.
        """
        traits = self._player.traits
        if not traits.stochastic:
            return Counter({sum(self._asked): len(replies)})
        if traits.repeats:
            return Counter()
        named = ((_text(row), _answer(row)) for row in replies)
        return Counter(
            text if len(text) >= LONG else answer
            for text, answer in named
            if len(text) >= LONG or (answer and self._answers.get(answer) is not None)
        )

    def _note_answers(self, question: int, replies: Sequence[Decision]) -> None:
        """Note what each answer of a server said; an id that stood for two answers names none."""
        for row in replies:
            if answer := _answer(row):
                meaning = (question, _text(row))
                known = self._answers.setdefault(answer, meaning)
                self._answers[answer] = meaning if known == meaning else None


def _text(row: Decision) -> str:
    """Return the texts of the calls of a decision."""
    return "\n".join(call.text for call in row.calls)


def _answer(row: Decision) -> tuple[str, ...]:
    """Return the ids of a server's answers; nothing where one has none."""
    ids = tuple(call.answer_id for call in row.calls)
    return ids if all(ids) else ()


def _decision(episode: Episode) -> Decision:
    """Return the decision that was played; of several attempts the last."""
    return [row for row in episode.decisions if row.slot == 0][-1]


def action_played(known: InformationSet, row: Decision) -> int:
    """Return the index of the action that is played for a reply."""
    game = known.view.game
    if row.action is not None:
        return known.actions.index(row.action)
    if known.actions[-1] == FORFEIT:
        return len(known.actions) - 1
    if game.spec.on_illegal != "default":
        raise CannotCompute(
            f"{game.spec.name} has no action for a reply that is none, so replies do not say how exploitable a player "
            "is that gives such replies."
        )
    return known.actions.index(game.default_action(known.view.facts))
