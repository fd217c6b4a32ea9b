"""Hearers: talkers whose moves depend on what the other seats have said; and the table of all talkers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stratagem.base.errors import BadParameter
from stratagem.base.options import within
from stratagem.games.base import Game, View
from stratagem.games.key import Key
from stratagem.games.kuhn.rules import CARDS, Kuhn
from stratagem.games.matrix.rules import MatrixFacts, MatrixGame
from stratagem.games.negotiation_v2.rules import Bundle, Division, write_bundle
from stratagem.games.resistance.players import CABALS
from stratagem.games.talk import MoveRequest, Plays, Talk, TalkFacts
from stratagem.games.talk.languages import HasCard, ValuesMost
from stratagem.players.base import Mix, Traits, format_option
from stratagem.players.iterated import DEFECT
from stratagem.players.rings import RINGS
from stratagem.players.talkers import TALKERS, TalkingPlayer, check_game, condition_on, mix_mixtures, speak_as, talk_of
from stratagem.players.uniform import LISTABLE


class Believer(TalkingPlayer):
    """Believes the last sentence of the seat that it plays against, of those that it can answer, and answers it best.

    Without one it moves as its player does.

    In matrix games it answers a promised action by its own best action. In Kuhn poker it bets and calls against a
    lower card, and passes and folds against a higher one. In the negotiation over items it takes a speaker for one that
    demands all of its most valued item and nothing else, as `Conservative` does, and demands the rest of the pool. It
    says nothing itself.
    """

    label = "believer"

    def check(self, game: Game[Any]) -> None:
        """Refuse a game whose sentences it cannot answer."""
        super().check(game)
        check_game(self.label, game, {"kuhn": Kuhn, "matrix games": MatrixGame, "negotiation-v2": Division})

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0}

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        other = 1 - view.seat  # these games have two seats, and a sentence is about the seat that says it
        said = (m.text for m in reversed(view.facts.of_round) if m.sender == other and m.text)
        for intent in map(talk.spoken_language.read, said):
            if isinstance(intent, HasCard):
                wins = CARDS.index(view.facts.inner.card) > CARDS.index(intent.card)
                best = ("BET", "CALL") if wins else ("PASS", "FOLD")
                return {action: 1.0 for action in view.choices if action in best}
            if isinstance(intent, ValuesMost):
                return {write_bundle(_all_but(intent.item, view.facts.inner.pool)): 1.0}
            if isinstance(intent, Plays) and isinstance(talk.game, MatrixGame):
                return {_best(talk.game, view.facts.inner, intent.action): 1.0}
        return mix


@dataclass(frozen=True)
class Obliging(TalkingPlayer):
    """Does with probability `p` what the last request to it asks; else, and without one, it moves as its player does.

    It says nothing itself. If its player does what is asked with probability q, a request is met with p + (1 - p) q.
    """

    label = "obliging"
    p: float = 1.0

    def __post_init__(self) -> None:
        within("obliging", "p", self.p, 0.0, 1.0)

    @property
    def name(self) -> str:
        return f"{self.label}({self.player.name}, p={format_option(self.p)})"

    def check(self, game: Game[Any]) -> None:
        """Refuse a game without requests, and one with more actions than can be listed."""
        super().check(game)
        talk = talk_of(game, self.label)
        state = talk.game.start(Key(0))
        views = [state.view(seat) for seat in range(talk.spec.seats)]
        if not any(isinstance(intent, MoveRequest) for seat in talk.who for intent in talk.sayable(views[seat])):
            raise BadParameter(f"{self.label} needs a talk with requests, which {talk.spec.name} does not have.")
        if max(view.choices.count for view in views) > LISTABLE:
            raise BadParameter(
                f"{self.label} needs a game of at most {LISTABLE} actions, which {talk.game.spec.name} is not."
            )

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0}

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        inner = talk.inner_view(view.facts)
        read = (talk.spoken_language.read(m.text) for m in reversed(view.facts.of_round) if m.sender != view.seat)
        request = next((intent for intent in read if isinstance(intent, MoveRequest)), None)
        if request is None:
            return mix
        met = condition_on(mix, lambda action: bool(request.kept(inner, action)), inner.choices)
        return mix_mixtures((self.p, met), (1.0 - self.p, mix))


class Grim(TalkingPlayer):
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
        check_game(self.label, game, {"matrix games": MatrixGame})
        if game.spec.family != "ipd":
            raise BadParameter(f"grim needs a game with a cooperative action, which {game.spec.name} does not declare.")

    def says(self, talk: Talk, view: View[TalkFacts]) -> Mix:
        return {"": 1.0} if _was_lied_to(talk, view) else speak_as(talk, view, self.player, truly=True)

    def moves(self, talk: Talk, view: View[TalkFacts], mix: Mix) -> Mix:
        return {view.facts.inner.labels[DEFECT]: 1.0} if _was_lied_to(talk, view) else mix


HEARERS: dict[str, type[TalkingPlayer]] = {hearer.label: hearer for hearer in (Believer, Obliging, Grim)}
"""Hearers by name."""
SPEAKERS = TALKERS | HEARERS | RINGS | CABALS
"""Players of games with talk that go around a player of the game without it, by name."""


def _best(game: MatrixGame, facts: MatrixFacts, theirs: str) -> str:
    """Return the seat's best action against one of the other's; the first of equals."""
    return max(facts.labels, key=lambda mine: game.pay(facts.seat, mine, theirs)[0])


def _all_but(item: int, pool: Bundle) -> Bundle:
    return tuple(0 if place == item else count for place, count in enumerate(pool))


def _was_lied_to(talk: Talk, view: View[TalkFacts]) -> bool:
    """Return whether the other seat has broken a promise about an action of an earlier round."""
    facts: MatrixFacts = view.facts.inner
    heard = [m for m in view.facts.messages if m.sender != view.seat and m.text and m.round < len(facts.theirs)]
    sentences = ((talk.spoken_language.read(m.text), facts.their_labels[facts.theirs[m.round]]) for m in heard)
    return any(isinstance(intent, Plays) and intent.action != played for intent, played in sentences)
