"""A reference of your own: a rule by which an adapter follows the policy's."""

from dataclasses import dataclass

from stratagem.learn.reference import ReferenceRule


@dataclass(frozen=True)
class Renewed(ReferenceRule):
    """Copy of the policy, renewed every `steps` optimizer steps."""

    steps: int = 50
    """Optimizer steps between two copies."""

    def decay_after(self, steps_taken: int) -> float | None:
        return None if steps_taken % self.steps else 0.0
