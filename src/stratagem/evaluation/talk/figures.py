"""All figures of a message, from two stated policies."""

from __future__ import annotations

from dataclasses import dataclass

from stratagem.evaluation.talk.effect import returns
from stratagem.evaluation.talk.information import action_information, state_information
from stratagem.evaluation.talk.signalling import Signalling
from stratagem.evaluation.talk.statements import Deception, Honesty, Meanings, deception, honesty


@dataclass(frozen=True)
class TalkFigures:
    """Exact figures of a speaker and a receiver."""

    state_information: float
    """Mutual information of what the speaker sees and its message, in nats."""
    action_information: float
    """Mutual information of the message, drawn independently of the deal, and the receiver's action, in nats."""
    honesty: Honesty
    deception: Deception | None
    """None where the speaker makes no statements."""
    returns: tuple[float, float]
    """Expected returns of the speaker and the receiver."""


def talk_figures(talk: Signalling, meanings: Meanings) -> TalkFigures:
    """Compute the figures of a message."""
    return TalkFigures(
        state_information=state_information(talk),
        action_information=action_information(talk),
        honesty=honesty(talk, meanings),
        deception=deception(talk, meanings),
        returns=returns(talk),
    )
