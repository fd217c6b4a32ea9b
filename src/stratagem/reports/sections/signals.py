"""Section of the gradient signal-to-noise ratio of each term of the reward."""

from __future__ import annotations

import math

from stratagem.learning.signal_to_noise import GradientSignal, SignalToNoise, SignalToNoiseTracker, Verdict
from stratagem.reports.figure import picture
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number, short
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, missing, table

_HEAD = "signal/"
_HEADINGS = ["term", "verdict", "agreement of halves", "g\u2081\u00b7g\u2082, mean \u00b1 error", "measured"]


def signals(data: RunData) -> Section:
    """Make the section of every measured term."""
    terms = sorted({name.removeprefix(_HEAD).rpartition("/")[0] for name in data.curves if name.startswith(_HEAD)})
    measured = {term: known for term in terms if (known := so_far(data, term))}
    return Section(
        name="signals",
        title="Does each term teach?",
        shows="For each term of the reward the gradient that it brings, measured on two halves of every group: where "
        "the halves agree there is something to learn, where they do not there is noise.",
        body=_body(measured) if measured else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    if not data.curves:
        return "Nothing has been measured yet."
    return "This run kept no signal of its terms: they are measured by runs that learn from a reward."


SoFar = dict[int, SignalToNoise]
"""Ratio of a term up to each measured step."""
_WORDS: dict[Verdict, str] = {
    "acts": "It brings a gradient: its halves agree beyond their noise.",
    "constant": "It is constant in every group, so it brings no gradient at all.",
    "no direction": "It varies, but brings no gradient beyond its noise.",
    "vanished": "It has become constant, and showed no direction while it varied.",
    "early": "Too early to say: what was measured can be noise, or not.",
}


def so_far(data: RunData, term: str) -> SoFar:
    """Return the ratios by step, from the metrics alone; a term that was exactly zero has no noise."""
    dots, noises = (finite(data.curves.get(f"{_HEAD}{term}/{name}")) for name in ("dot", "noise"))
    signals, known = SignalToNoiseTracker(), SoFar()
    for step in sorted(dots.keys() & noises.keys()):
        signals.add({term: GradientSignal(dots[step], noises[step], constant=noises[step] == 0.0)})
        known[step] = signals.estimates()[term]
    return known


def _body(measured: dict[str, SoFar]) -> Html:
    now = {term: known[max(known)] for term, known in measured.items()}
    rows = [_row(term, ratio_now) for term, ratio_now in now.items()]
    pictures = [_picture(term, known) for term, known in measured.items() if now[term].varied]
    note = (
        "Agreement is 2 g\u2081\u00b7g\u2082 / (|g\u2081|\u00b2 + |g\u2082|\u00b2) over all steps so far: 1 where the "
        "halves say the same, about 0 where there is only noise. A term that has done its work brings no gradient any "
        "more, so read it from the start of the run."
    )
    return join(table(_HEADINGS, rows), element("div", *pictures, class_="facets"), element("p", note, class_="note"))


def _row(term: str, ratio_now: SignalToNoise) -> list[str]:
    mean = short(ratio_now.mean) + (f" \u00b1 {short(ratio_now.error)}" if math.isfinite(ratio_now.error) else "")
    word = element("span", _WORDS[ratio_now.verdict], class_="good" if ratio_now.verdict == "acts" else "doubt")
    return [term, element("td", word, class_="words"), number(ratio_now.ratio), mean, str(ratio_now.count)]


def _picture(term: str, known: SoFar) -> Html:
    """Draw the ratio over the steps so far, with two standard errors."""
    steps, every = list(known), list(known.values())
    lows, highs = ([sofar.ratio + sign * 2 * sofar.ratio_error for sofar in every] for sign in (-1, 1))
    traces = [
        {"x": steps, "y": lows, "role": "edge", "showlegend": False, "hoverinfo": "skip"},
        {"x": steps, "y": highs, "role": "edge", "fill": "tonexty", "name": "\u00b1 2 errors", "hoverinfo": "skip"},
        {"x": steps, "y": [sofar.ratio for sofar in every], "role": "validation", "name": "so far"},
    ]
    return picture(term, traces, {"yaxis": {"range": [-1.05, 1.05]}, "zero": True}, says=_WORDS[every[-1].verdict])
