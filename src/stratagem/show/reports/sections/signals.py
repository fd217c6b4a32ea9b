"""Sections of training: the gradient signal-to-noise ratio of each term of the reward, and the findings of checks."""

from __future__ import annotations

import math

from stratagem.base.number_texts import number, short
from stratagem.learn.signal_to_noise import GradientSignal, SignalToNoise, SignalToNoiseTracker, Verdict
from stratagem.show.html import Html, element, join
from stratagem.show.reports.figure import PictureFacts, count_noun, picture
from stratagem.show.reports.files import FindingSchema
from stratagem.show.reports.run_data import RunData, finite
from stratagem.show.reports.section import Section, missing, table

_HEAD = "signal/"
_HEADINGS = [
    "reward term",
    "verdict",
    "agreement of halves",
    "g\u2081\u00b7g\u2082, mean \u00b1 standard error",
    "measurements",
]


def signals(data: RunData) -> Section:
    """Make the section of every measured term."""
    terms = sorted({name.removeprefix(_HEAD).rpartition("/")[0] for name in data.curves if name.startswith(_HEAD)})
    measured = {term: ratios for term in terms if (ratios := so_far(data, term))}
    return Section(
        name="signals",
        title="Gradient of each reward term",
        shows="Gradient signal-to-noise ratio of each reward term. The gradient is measured on two halves of every "
        "group. Halves that agree show a signal; halves that do not agree show noise.",
        body=_body(measured) if measured else missing(_why(data)),
    )


def _why(data: RunData) -> str:
    if not data.curves:
        return "No metrics have been logged yet."
    return "This run has no metrics of its reward terms: only training on a reward measures them."


RatioByStep = dict[int, SignalToNoise]
"""Ratio of a term up to each measured step."""
_WORDS: dict[Verdict, str] = {
    "acts": "Gradient: the halves agree beyond their noise.",
    "constant": "No gradient: the term is constant in every group.",
    "no direction": "Noise only: the term varies, but its gradient is not larger than the noise.",
    "vanished": "No gradient any more: the term has become constant. It had noise only while it varied.",
    "early": "Inconclusive: too few measurements.",
}


def so_far(data: RunData, term: str) -> RatioByStep:
    """Return the ratios by step, from the metrics alone; a term that was exactly zero has no noise."""
    dots, noises = (finite(data.curves.get(f"{_HEAD}{term}/{name}")) for name in ("dot", "noise"))
    tracker, ratios = SignalToNoiseTracker(), RatioByStep()
    for step in sorted(dots.keys() & noises.keys()):
        tracker.add({term: GradientSignal(dots[step], noises[step], constant=noises[step] == 0.0)})
        ratios[step] = tracker.estimates()[term]
    return ratios


def _body(measured: dict[str, RatioByStep]) -> Html:
    newest = {term: ratios[max(ratios)] for term, ratios in measured.items()}
    rows = [_row(term, ratio) for term, ratio in newest.items()]
    pictures = [_picture(term, ratios) for term, ratios in measured.items() if newest[term].varied]
    note = (
        "Agreement is 2 g\u2081\u00b7g\u2082 / (|g\u2081|\u00b2 + |g\u2082|\u00b2) over all steps so far. It is 1 if "
        "both halves have the same gradient, and about 0 if there is only noise. A term that the policy has maximised "
        "has no gradient any more, so read the curve from its start."
    )
    return join(table(_HEADINGS, rows), element("div", *pictures, class_="facets"), element("p", note, class_="note"))


def _row(term: str, newest: SignalToNoise) -> list[str]:
    mean = short(newest.mean) + (f" \u00b1 {short(newest.error)}" if math.isfinite(newest.error) else "")
    verdict = element("span", _WORDS[newest.verdict], class_="good" if newest.verdict == "acts" else "doubt")
    return [term, element("td", verdict, class_="words"), number(newest.ratio), mean, str(newest.count)]


def _picture(term: str, ratios: RatioByStep) -> Html:
    """Draw the ratio over the steps so far, with two standard errors."""
    steps, every = list(ratios), list(ratios.values())
    lows, highs = ([ratio.ratio + sign * 2 * ratio.ratio_error for ratio in every] for sign in (-1, 1))
    traces = [
        {"x": steps, "y": lows, "role": "edge", "showlegend": False, "hoverinfo": "skip"},
        {
            "x": steps,
            "y": highs,
            "role": "edge",
            "fill": "tonexty",
            "name": "\u00b1 2 standard errors",
            "hoverinfo": "skip",
        },
        {"x": steps, "y": [ratio.ratio for ratio in every], "role": "validation", "name": "agreement"},
    ]
    reading = PictureFacts("ratio", count_noun(len(steps), "measurement"), "2 standard errors", "0, for noise alone")
    layout = {"yaxis": {"range": [-1.05, 1.05]}, "zero": True}
    return picture(term, traces, layout, reading=reading, caption=_WORDS[every[-1].verdict])


def checks(data: RunData) -> Section:
    """Make the section of all findings, faults before notes."""
    return Section(
        name="checks",
        title="Findings of the checks",
        shows="The checks look at every step for faults of training that raise no error.",
        body=_checks_body(data),
    )


def _checks_body(data: RunData) -> Html:
    if data.findings is None:
        return missing(
            data.broken.get("findings.json", "There is no findings.json: this run has saved no findings yet.")
        )
    if not data.findings:
        return element("p", "The checks found nothing.", class_="good")
    findings = sorted(data.findings.items(), key=lambda item: (item[1].level != "fault", -item[1].count))
    return table(
        ["check", "first finding", "level", "count", "first step"],
        [_check_row(*finding) for finding in findings],
    )


def _check_row(name: str, finding: FindingSchema) -> list[str]:
    first = "" if finding.step is None else str(finding.step)
    level = element("span", finding.level, class_="bad" if finding.level == "fault" else "doubt")
    return [name, element("td", finding.first, class_="words"), level, str(finding.count), first or "\u2013"]
