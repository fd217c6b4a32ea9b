"""Result of talk: all figures of a speaker's messages that a source can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

from stratagem.measure.talk import definitions as of
from stratagem.measure.talk.source import F, Pair, TalkSource


@dataclass(frozen=True, kw_only=True)
class TalkFigures(Generic[F]):
    """Figures of a speaker's messages to its readers: numbers where they are exact, else estimates.

    A figure is None where it is undefined, or where its source cannot tell it.
    """

    messages: F | None
    """Messages that were sent, over the occasions to send one."""
    state_information: float | None
    """Mutual information of what the speaker sees and its message, in nats."""
    action_information: float | None
    """Mutual information of the message, drawn independently of the deal, and the reader's first move, in nats."""
    honesty: F | None
    """True statements, over those that the speaker knows to be true or false."""
    honesty_by_chance: float | None
    """The same with what was said shuffled over deals."""
    deception: F | None
    """Statements that deceive, over the same."""
    deception_by_chance: float | None
    keeping: F | None
    """Probability that a promise is kept at the decision that it binds."""
    keeping_by_chance: float | None
    """The same with the promises shuffled over the decisions that they bind."""
    keeping_lift: F | None
    """The same, less the probability after silence in the place of the promise."""
    met: F | None
    """Probability that a reader meets a request."""
    met_by_chance: float | None
    met_lift: F | None
    effect: F | None
    """Total variation of the readers' first move against silence in their views alone, less that of the placebo."""
    placebo: F | None
    """Total variation between replies to the same message; 0 where the readers state their probabilities."""
    effect_on_table: F | None
    """Total variation of all seats' first moves against silence to which all respond."""
    gain_by_reader: Pair[F] | None
    """Returns of the speaker and the readers, less those if the readers alone knew of silence in its place."""
    gain_by_table: Pair[F] | None
    """The same, less those after silence to which all respond."""
    gain_by_lie: Pair[F] | None
    """Gain of a false statement over a true one of its form; it deceives if the speaker gains, and the readers lose."""
    returns: Pair[F] | None
    """Expected returns of the speaker and the readers."""
    jammed: Pair[F] | None
    """The same if nothing that anybody says arrives, and each remembers silence."""
    gullibility: F | None
    """Return of the readers if nothing of what the speaker says arrives, less their return."""
    worth: Pair[F] | None
    """Worth of talk for the speaker and the readers: their returns less those with all channels jammed."""


def talk_figures(source: TalkSource[F]) -> TalkFigures[F]:
    """Compute all figures that a source can tell."""
    return TalkFigures(
        messages=of.messages(source),
        state_information=of.state_information(source),
        action_information=of.action_information(source),
        honesty=of.honesty(source),
        honesty_by_chance=of.honesty_by_chance(source),
        deception=of.deception(source),
        deception_by_chance=of.deception_by_chance(source),
        keeping=of.keeping(source, "move"),
        keeping_by_chance=of.keeping_by_chance(source, "move"),
        keeping_lift=of.keeping_lift(source, "move"),
        met=of.keeping(source, "ask"),
        met_by_chance=of.keeping_by_chance(source, "ask"),
        met_lift=of.keeping_lift(source, "ask"),
        effect=of.effect(source),
        placebo=source.placebo(),
        effect_on_table=source.effect_on_table(),
        gain_by_reader=source.gain("reader"),
        gain_by_table=source.gain("table"),
        gain_by_lie=source.gain("lie"),
        returns=source.returns(),
        jammed=source.returns("jammed"),
        gullibility=of.gullibility(source),
        worth=of.worth(source),
    )
