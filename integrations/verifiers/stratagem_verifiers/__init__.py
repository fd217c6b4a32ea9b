"""The games of Stratagem as an environment of verifiers: `vf-eval stratagem-verifiers --env.taskset.game kuhn`."""

from stratagem_verifiers.env import GameEnv
from stratagem_verifiers.harness import PromptHarness
from stratagem_verifiers.taskset import Deals

__all__ = ["Deals", "GameEnv", "PromptHarness"]
