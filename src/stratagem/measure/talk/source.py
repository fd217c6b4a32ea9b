"""Source of talk: situations in which a speaker sends messages, with weights, over which all figures are defined.

A source has three forms. On the tree of a game every situation has its probability, and a figure is a number. In games
that are played for it, and in recorded games, every situation counts once, and a figure is an estimate.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, Protocol, TypeVar

from stratagem.games.talk.language import Kind

if TYPE_CHECKING:
    from stratagem.measure.talk.signalling import Signalling

F = TypeVar("F")
"""Type of a figure: a number where it is exact, else an estimate."""
T = TypeVar("T")
C = TypeVar("C", bound="Commitment")
Pair = tuple[F, F]
"""Figures of the speaker and of its readers, the mean over them."""
Policy = Mapping[str, float] | Mapping[str | None, float]
"""Probabilities of actions; None is no legal reply."""
Joint = Mapping[tuple[Hashable, str], float]
"""Joint probability of what the speaker sees and of its message."""
Arm = Literal["talk", "deaf", "jammed"]
"""State of the channel: open; deaf readers, who hear nothing of the speaker; or jammed: all remember silence."""
GainArm = Literal["reader", "table", "lie"]
"""Alternative to a message: silence in the readers' views, silence that all know of, or a true statement."""


class Utterance(Protocol):
    """Message of the speaker in the situation in which it was said, or could be."""

    @property
    def text(self) -> str:
        """The message; empty for silence."""

    @property
    def public(self) -> Hashable:
        """Public history before it."""

    @property
    def truth(self) -> bool | None:
        """Truth of a statement by what its speaker knew; None where that was unknown, and for other messages."""

    def truth_at(self, other: Utterance) -> bool | None:
        """Return the truth that this statement would have had in the place of another message."""


class Commitment(Protocol):
    """Promise or request, and the decision that it bound."""

    @property
    def public(self) -> Hashable:
        """Public history before it was said, and the seat that it bound."""

    def kept_at(self, other: Commitment) -> float | None:
        """Return the probability that the decision of another one keeps this one; None where its condition fails."""

    @property
    def kept_after_silence(self) -> float | None:
        """Probability that its decision keeps it with silence in its place."""


class ReaderMove(NamedTuple):
    """Policy of a reader at its first move after a message, and with silence in the place of the message."""

    after_message: Policy
    after_silence: Policy
    placebo: Policy | None = None
    """Policy after the message again, where policies are shares of drawn replies."""


@dataclass(frozen=True)
class WeighedItem(Generic[T]):
    """Item of a source with its weight."""

    item: T
    weight: float = 1.0
    """Probability; 1 in games that were played."""
    episode: str = ""
    """Episode in which it was played."""
    deal: Hashable = None
    """Independent observation that it is a part of: the deal of the episode, or the message."""


class Shuffle(NamedTuple, Generic[T]):
    """Messages exchanged among situations that look alike to every seat: what is said, and where."""

    pairs: Iterable[tuple[float, T, T]]
    """Weight, what is said, and the situation that it is put in."""
    size: float = 1.0
    """Number by which the weights are divided."""


class TalkSource(ABC, Generic[F]):
    """Situations of one speaker and its readers."""

    unreached: F | None = None
    """Share of messages where the speaker has no occasion to send one."""

    @abstractmethod
    def messages(self) -> Sequence[WeighedItem[Utterance]]:
        """Return what the speaker says, or can say; silence too."""

    @abstractmethod
    def shuffled_messages(self) -> Iterable[Shuffle[Utterance]]:
        """Return its messages, shuffled over deals within equal public histories."""

    @abstractmethod
    def commitments(self, kind: Kind) -> Sequence[WeighedItem[Commitment]]:
        """Return the speaker's promises (`move`), or requests (`ask`), that bound a decision.

        Requests are those of the speaker to its readers; in the metrics, those of others to the agent.
        """

    @abstractmethod
    def shuffle_promises(self, items: Sequence[WeighedItem[C]]) -> Iterable[Shuffle[C]]:
        """Return promises shuffled over the decisions that they bound, within equal public histories."""

    @abstractmethod
    def rate(self, judged: Sequence[tuple[WeighedItem[T], bool]]) -> F | None:
        """Return the share of what holds; None of nothing."""

    @abstractmethod
    def mean(self, valued: Sequence[tuple[WeighedItem[T], float]]) -> F | None:
        """Return a mean by weight; None of nothing."""

    def mean_by_message(self, valued: Sequence[tuple[WeighedItem[T], float]]) -> F | None:
        """Return the mean over messages of the mean over the readers of each."""
        return self.mean(valued)

    def joint(self) -> Sequence[tuple[float, Joint]] | None:
        """Return by public history its probability, and the joint one of what the speaker sees and says.

        None where these are not known.
        """
        return None

    def signals(self) -> Sequence[tuple[float, Signalling]] | None:
        """Return by public history its probability, and the message as a signal to which the reader answers.

        None where policies are not known.
        """
        return None

    def against_truth(self, said: Utterance) -> Pair[float] | None:
        """Return what a statement adds to both returns, against the true ones of its form; None without one."""
        return None

    @property
    def judges_lies(self) -> bool:
        """True if `against_truth` is in expectation, so that a statement deceives or does not."""
        return False

    def reader_moves(self) -> Sequence[WeighedItem[ReaderMove]]:
        """Return the readers' first moves after a message, as long as it is remembered."""
        return ()

    def placebo(self) -> F | None:
        """Return the distance of two samples of replies to one message; None where nothing is sampled."""
        return None

    def effect_on_table(self) -> F | None:
        """Return the total variation of all seats' first moves, against silence to which all respond."""
        return None

    def gain(self, arm: GainArm) -> Pair[F] | None:
        """Return what a message adds to the returns, over what stands in its place; None where nothing is said."""
        return None

    def returns(self, arm: Arm = "talk") -> Pair[F] | None:
        """Return the expected returns, as the channel is."""
        return None

    def less(self, one: Arm, other: Arm) -> Pair[F] | None:
        """Return the returns over one kind of channel, less those over another in the same deals."""
        return None
