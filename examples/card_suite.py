"""A suite of your own: games, opponents by pool, metrics, and the number of episodes for each opponent."""

from stratagem.evaluation.suites import Line, Suite


def cards() -> Suite:
    """Two card games: one against pools, one against random play."""
    return Suite(
        name="cards",
        summary="One hand of Kuhn poker and one of Leduc poker.",
        lines=(
            Line("kuhn(hands=1)", {"train": ("TightPassive", "random"), "exploit": ("AlwaysBet",)}),
            Line("leduc", {"opponents": ("random",)}),
        ),
        metrics=("pay", "win rate", "exploit"),
        episodes=10,
    )
