"""TextArena's Kuhn poker with random legal moves: prints decisions a second. Runs where TextArena is installed."""

import random
import sys
import time
from typing import Any

import textarena


def match(env: Any, seed: int) -> int:
    """One match of three hands by TextArena's documented loop."""
    env.reset(num_players=2, seed=seed)
    inner = env
    while hasattr(inner, "env"):
        inner = inner.env
    decisions, done = 0, False
    while not done:
        env.get_observation()
        legal = list(inner.state.game_state["current_legal_action_tree"])
        done, _ = env.step(f"[{random.choice(legal)}]")
        decisions += 1
    env.close()
    return decisions


def main() -> None:
    """Print the best of several runs."""
    repeats = int(sys.argv[1])
    best = 0.0
    for repeat in range(repeats):
        start = time.perf_counter()
        games = range(300 * repeat, 300 * (repeat + 1))
        decisions = sum(match(textarena.make("KuhnPoker-v0"), seed) for seed in games)
        best = max(best, decisions / (time.perf_counter() - start))
    print(best)


if __name__ == "__main__":
    main()
