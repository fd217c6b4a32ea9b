"""Hearers: talkers whose moves depend on what the other seat has said."""

from __future__ import annotations

from typing import Any

from stratagem.errors import BadParameter
from stratagem.games.base import Game, View
from stratagem.games.kuhn import CARDS, Kuhn
from stratagem.games.matrix import MatrixFacts, MatrixGame
from stratagem.games.talk import Plays, Talk, TalkFacts
from stratagem.games.talk.languages import HasCard
from stratagem.players.base import Mix, Traits
from stratagem.players.iterated import DEFECT
from stratagem.players.talkers import Talker, check_game, spoken


class Believer(Talker):
    """Believes the other seat's last sentence and answers it best; without one it moves as its player does.

    In matrix games it answers a promised action by its own best action. In Kuhn poker it bets and calls against a
    lower card, and passes and folds against a higher one. It says nothing itself.
    """

    label = "believer"

    def check(self, game: Game[Any]) -> None:
        """Refuse a game whose sentences it cannot answer."""
        super().check(game)
        check_game(self.label, game, Kuhn, MatrixGame)

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0}

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        said = [m.text for m in view.facts.of_round if m.sender != view.seat and m.text]
        intent = talk.spoken_language.read(said[-1]) if said else None
        if isinstance(intent, HasCard):
            wins = CARDS.index(view.facts.inner.card) > CARDS.index(intent.card)
            return {action: 1.0 for action in view.choices if action in (("BET", "CALL") if wins else ("PASS", "FOLD"))}
        if isinstance(intent, Plays) and isinstance(talk.game, MatrixGame):
            return {_best(talk.game, view.facts.inner, intent.action): 1.0}
        return mix


class Grim(Talker):
    """Promises and moves as its player does, until the other seat has broken a promise; then it defects for ever.

    It plays matrix games in which the first action of each seat is the cooperative one.
    """

    label = "grim"

    @property
    def traits(self) -> Traits:
        return Traits(stochastic=True, memory=None, exact=self.player.traits.exact)

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without a cooperative action."""
        super().check(game)
        check_game(self.label, game, MatrixGame)
        if game.spec.family != "ipd":
            raise BadParameter(f"grim needs a game with a cooperative action, which {game.spec.name} does not declare.")

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0} if _was_lied_to(talk, view) else spoken(talk, view, self.player, truly=True)

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        return {view.facts.inner.labels[DEFECT]: 1.0} if _was_lied_to(talk, view) else mix


HEARERS: dict[str, type[Talker]] = {hearer.label: hearer for hearer in (Believer, Grim)}
"""Hearers by name."""


def _best(game: MatrixGame, facts: MatrixFacts, theirs: str) -> str:
    """Return the seat's best action against one of the other's; the first of equals."""
    return max(facts.labels, key=lambda mine: game.pay(facts.seat, mine, theirs)[0])


def _was_lied_to(talk: Talk, view: View[TalkFacts]) -> bool:
    """Return whether the other seat has broken a promise about an action of an earlier round."""
    facts: MatrixFacts = view.facts.inner
    heard = [m for m in view.facts.messages if m.sender != view.seat and m.text and m.round < len(facts.theirs)]
    sentences = ((talk.spoken_language.read(m.text), facts.their_labels[facts.theirs[m.round]]) for m in heard)
    return any(isinstance(intent, Plays) and intent.action != played for intent, played in sentences)
