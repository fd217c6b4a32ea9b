"""A suite of your own: games, opponents by pool, metrics, and the number of episodes for each opponent."""

from stratagem.measure.suites import Suite, SuiteLine


def cards() -> Suite:
    """Two card games: one against pools, one against random play."""
    return Suite(
        name="cards",
        summary="One hand of Kuhn poker and one of Leduc poker.",
        lines=(
            SuiteLine("kuhn(hands=1)", {"train": ("TightPassive", "random"), "exploit": ("AlwaysBet",)}),
            SuiteLine("leduc", {"opponents": ("random",)}),
        ),
        metrics=("payoff", "win rate", "pool_advantage"),
        episodes=10,
    )
