"""A league: what its first learner is worth on a pool that never changes, who is in it, and what moves inside of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stratagem.reports.figure import label, picture
from stratagem.reports.files import LeagueTable, Open
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, folded, missing, table

_SHOWN = 20
"""So many cycles, and so many things forgotten, are written out."""


def pool(data: RunData) -> Section:
    """The curve on the frozen pool, and the exact one where there is one."""
    first = next(iter(_learners(data)), "main")
    lines = [(n, _last(n, first)) for n in data.curves if "/validation/pay" in n or "/exact/exploit" in n]
    shown = [_curve(data, title, [(name, title)]) for name, title in lines]
    opponents = ", ".join(map(str, data.settings.get("opponents", [])))
    return Section(
        name="pool",
        title="On the frozen pool",
        shows=f"The first learner against {opponents}, which never change, on the same deals each time.",
        body=element("div", *shown, class_="facets") if shown else missing("Nothing has been measured yet."),
    )


def _last(name: str, learner: str) -> str:
    return f"exact exploitability of {learner}" if "/exact/" in name else f"{name.rpartition('/')[2]} of {learner}"


def _learners(data: RunData) -> Mapping[str, Any]:
    learners = data.settings.get("learners")
    return learners if isinstance(learners, dict) else {}


def best_response(data: RunData) -> Section | None:
    """What learners that meet one member alone have come to take from it."""
    matches = {name: one.get("match", {}) for name, one in _learners(data).items() if isinstance(one, dict)}
    fixed = {name: str(match.get("opponent")) for name, match in matches.items() if match.get("rule") == "fixed"}
    told = {name: target for name, target in fixed.items() if f"{name}/points" in data.curves}
    if not told:
        return None
    return Section(
        name="best_response",
        title="Best responses",
        shows="A learner that meets one member alone learns to beat it and nothing else. What it takes at the end is a "
        "lower bound on how far that member can be exploited: another learner may find more.",
        body=join(*(_response(data, name, target) for name, target in told.items())),
    )


def _response(data: RunData, name: str, target: str) -> Html:
    """The curve of one learner, and what the best response there is takes, where that is known."""
    curve = _curve(data, f"{name} against {target}", [(f"{name}/points", "share of wins")], "A draw counts half.")
    members = [member.name for member in data.league.members] if data.league else []
    exact = _at(data.league.exploitability, members.index(target)) if data.league and target in members else math.nan
    said = f"The exact exploitability of {target} is {number(exact)}, in the last table\u2019s unit."
    known = [] if math.isnan(exact) else [element("p", said, class_="note")]
    return join(element("div", curve, class_="facets"), *known)


def population(data: RunData) -> Section:
    """The members of the last table, with what the cross-play says of each."""
    found = data.league
    return Section(
        name="population",
        title="The population",
        shows="Everybody against everybody on deals of their own: Elo by maximum likelihood with 95 % intervals, a "
        "skill updated game by game (openskill), the share in a mixture that nobody beats on average (Nash), and how "
        "long a crowd of imitators plays each (alpha-rank).",
        body=_population(found) if found else missing("The last table is made when the run ends."),
    )


def _population(found: LeagueTable) -> Html:
    rated = {rating.name: rating for rating in found.elo}
    skilled = {skill.name: f"{skill.mu:.1f} ± {skill.sigma:.1f}" for skill in found.skill}
    lines = []
    for place, member in enumerate(found.members):
        rating = rated.get(member.name)
        said = f"{rating.elo:.0f}  ({rating.low:.0f} … {rating.high:.0f})" if rating else "–"
        shares = [f"{_at(column, place):.1%}" for column in (found.nash, found.alpha_rank)]
        exact = found.exploitability[place] if place < len(found.exploitability) else None
        skill = skilled.get(member.name, "–")
        lines.append([member.name, member.role.replace("_", " "), said, skill, *shares, number(exact)])
    heads = ["member", "role", "Elo", "skill", "Nash", "alpha-rank", "exploitability (exact)"]
    aside = [element("p", f"{name} was set aside: {why}", class_="note") for name, why in found.aside.items()]
    return join(
        table(heads, lines),
        *aside,
        _mixed(found),
        _told(found),
        _outsiders(found),
        folded("Cross-play, pay a round of the row", _cross(found)),
    )


def _mixed(found: LeagueTable) -> Html:
    """How open the Nash mixture is, and main learners as they stood beside their average."""
    known = found.nash_exploitability
    said = f"Who draws a member by its Nash share for a whole game has an exact exploitability of {number(known)}."
    drawn = [_over_time(name, line) for name, line in found.over_time.items() if len(line) > 1]
    return join(
        *([] if known is None else [element("p", said, class_="note")]),
        *([element("div", *drawn, class_="facets")] if drawn else []),
    )


def _over_time(learner: str, line: Sequence[Open]) -> Html:
    steps = [one.step for one in line]
    shown = (("as it stood", "rival-1", [one.own for one in line]), ("average", "chosen", [o.average for o in line]))
    traces = [{"x": steps, "y": ys, "role": role, "name": name, "mode": "lines"} for name, role, ys in shown]
    says = "The average draws one of all checkpoints up to there for a whole game: a learner that circles an "
    says += "equilibrium is open at every point of its way and may be closed on average."
    return picture(f"Exact exploitability of {learner}", traces, {"showlegend": True}, says=says)


def _outsiders(found: LeagueTable) -> Html:
    """Where more than two sit at a table: what copies of a member leave to one who is none, and spare each other."""
    size = range(len(found.members))
    if found.seats < 3 or len(size) < 2:
        return join()
    watched = any(one is not None for one in found.alliance)
    lines = []
    for place, member in enumerate(found.members):
        left = [found.pay[row][place] for row in size if row != place]
        alliance = [number(_at(found.alliance, place), 2)] if watched else []
        lines.append([member.name, number(sum(left) / len(left)), number(found.pay[place][place]), *alliance])
    says = "Copies of one member and one outsider: what the outsider is paid a round, over all outsiders, beside what "
    says += "the copies are paid among themselves. "
    if watched:
        says += "The alliance is by what share less the copies attack each other than they and the outsider do: above "
        says += "0 they spare each other, unasked."
    heads = ["copies of", "outsider\u2019s pay", "copies alone", *(["alliance"] if watched else [])]
    made = table(heads, lines)
    return join(element("h3", "Do copies collude?"), made, element("p", says, class_="legend"))


def _at(column: Sequence[float | None], place: int) -> float:
    found = column[place] if place < len(column) else None
    return float("nan") if found is None else found


def _cross(found: LeagueTable) -> Html:
    names = [member.name for member in found.members]
    rows = [[name, *(number(value, 2) for value in row)] for name, row in zip(names, found.pay, strict=False)]
    return table(["", *names], rows)


def _told(found: LeagueTable) -> Html:
    """Cycles and what was forgotten, in sentences."""
    said = [f"{a} beats {b}, {b} beats {c}, and {c} beats {a}." for a, b, c in found.cycles[:_SHOWN]]
    said += [f"{later} loses to {other}, whom {earlier} beat." for later, earlier, other in found.forgotten[:_SHOWN]]
    more = len(found.cycles) + len(found.forgotten) - len(said)
    said += [f"{more} more of these."] if more > 0 else []
    if not said:
        said = [f"No cycle of three and nothing forgotten, beyond chance, over {found.deals} deals a pair."]
    return join(*(element("p", sentence, class_="note") for sentence in said))


def inside(data: RunData) -> Section | None:
    """What moves with the league itself."""
    pictures = list(_inside(data, list(_learners(data)) or ["main"]))
    if not pictures:
        return None
    return Section(
        name="inside",
        title="Inside the league",
        shows="These figures move with whom each learner meets, so they say nothing about progress: points near one "
        "half are what good matchmaking makes of any learner.",
        body=element("div", *pictures, class_="facets"),
    )


def _inside(data: RunData, names: Sequence[str]) -> Iterator[Html]:
    for metric, title, says in (
        ("points", "Points", "1 for a win and one half for a draw, against whom it met."),
        ("effective", "Effective number of opponents", "How many opponents, met alike, its matches are worth."),
        ("reward", "Reward", "What an episode of a learner was worth."),
        ("entropy", "Entropy", "Of what is said, in nats a token; near 0 nothing is tried any more."),
    ):
        found = [(f"{name}/{metric}", name) for name in names if f"{name}/{metric}" in data.curves]
        if found:
            yield _curve(data, title, found, says)


def _curve(data: RunData, title: str, lines: Sequence[tuple[str, str]], says: str = "") -> Html:
    traces: list[dict[str, Any]] = []
    for place, (metric, name) in enumerate(lines):
        told = finite(data.curves[metric])
        role = "chosen" if len(lines) == 1 else f"rival-{place % 6 + 1}"
        traces.append({"x": list(told), "y": list(told.values()), "role": role, "name": label(name), "mode": "lines"})
    return picture(title, traces, {"showlegend": len(lines) > 1}, says=says)
