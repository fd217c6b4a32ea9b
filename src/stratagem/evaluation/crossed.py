"""Mean of a crossed table whose rows and columns are both samples: deals by disguises, say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stratagem.evaluation.statistics import Array, Estimate, exactly


def crossed(table: Array, *, exact_rows: bool = False) -> Estimate:
    """Estimate the mean of a table `[rows, columns]`, with a 95 % interval over rows and columns.

    The variance is that of the mean of the row means plus that of the mean of the column means. Each of the two holds
    the interaction, so the sum is a little too large, never too small (Owen 2007, "The pigeonhole bootstrap"). The
    interval is Student's, with the degrees of freedom of Satterthwaite (1946). A single column is a case of its own:
    the interval is over rows only. With `exact_rows` the rows are no sample, and the interval is over columns only.
    """
    rows, columns = table.shape
    parts = [] if exact_rows else [_variance(table.mean(axis=1))]
    parts += [_variance(table.mean(axis=0))] if columns > 1 else []
    size = columns if exact_rows else rows
    mean = float(table.mean())
    if not parts:
        return exactly(mean)
    if any(np.isnan(part) for part, _ in parts):
        return Estimate(mean, None, size)
    variance = sum(part for part, _ in parts)
    if variance == 0.0 and exact_rows:
        return exactly(mean)
    estimate = Estimate(mean, float(np.sqrt(variance)), size, mean, mean)
    if variance == 0.0:
        return estimate
    from scipy.special import stdtrit  # as in `statistics`: `scipy.stats` takes ten times as long to import

    freedom = variance**2 / sum(part**2 / degrees for part, degrees in parts)
    reach = float(stdtrit(freedom, 0.975)) * float(np.sqrt(variance))
    return replace(estimate, low=mean - reach, high=mean + reach)


def _variance(means: Array) -> tuple[float, int]:
    """Return the variance of the mean of independent values, and its degrees of freedom."""
    degrees = len(means) - 1
    return (float(means.var(ddof=1)) / len(means), degrees) if degrees else (float("nan"), 0)
