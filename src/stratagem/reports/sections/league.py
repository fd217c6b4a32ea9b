"""Sections of a league: progress on the frozen pool, population, and internal metrics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stratagem.reports.figure import label, picture
from stratagem.reports.files import LeagueTable, Open, Shown
from stratagem.reports.html import Html, element, join
from stratagem.reports.numbers import number
from stratagem.reports.run_data import RunData, finite
from stratagem.reports.section import Section, folded, missing, table

_Z = 1.959964
_SHOWN = 20
"""Number of cycles, and of forgotten results, that are listed."""


def pool(data: RunData) -> Section:
    """Make the section of the curve on the frozen pool, with the exact one where there is one."""
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
    """Make the section of learners with one fixed opponent: their payoffs against it."""
    matches = {name: one.get("match", {}) for name, one in _learners(data).items() if isinstance(one, dict)}
    fixed = {name: str(match.get("opponent")) for name, match in matches.items() if match.get("rule") == "fixed"}
    told = {name: target for name, target in fixed.items() if target not in matches and f"{name}/pay" in data.curves}
    if not told:
        return None
    return Section(
        name="best_response",
        title="Best responses",
        shows="A learner that meets one member alone learns to take from it and nothing else. What its checkpoints "
        "take on deals of their own is a lower bound on how far that member can be exploited: another may find more.",
        body=join(*(_response(data, name, target) for name, target in told.items())),
    )


def _response(data: RunData, name: str, target: str) -> Html:
    """Show one learner's payoffs in training, and those of its checkpoints on separate deals."""
    says = "A round of its games in training, of which there are few an iteration."
    training = _curve(data, f"{name} in training, against {target}", [(f"{name}/pay", "pay")], says)
    found = data.league
    line = [(m.step, place) for place, m in enumerate(found.members) if m.parent == name] if found else []
    members = [member.name for member in found.members] if found else []
    if not found or not line or target not in members:
        return element("div", training, class_="facets")
    return _bound(found, training, line, members.index(target))


def _bound(found: LeagueTable, training: Html, line: Sequence[tuple[int, int]], target: int) -> Html:
    """Draw the payoffs of checkpoints beyond the target's own against itself; beside them the exact figure."""
    takes = [_taken(found, place, target) for _, place in line]
    reach = {"type": "data", "array": [0.0 if math.isnan(error) else _Z * error for _, error in takes]}
    trace = {"x": [step for step, _ in line], "y": [gain for gain, _ in takes], "error_y": reach, "role": "chosen"}
    prey, last = found.members[target].name, found.members[line[-1][1]].name
    title = f"A lower bound on the exploitability of {prey}"
    says = "What each checkpoint of the final evaluation takes a round, with 95 % intervals where games were drawn."
    curve = picture(title, [{**trace, "name": label(last), "mode": "lines+markers"}], says=says)
    said = f"{last} takes {_measured(*takes[-1])} a round from {prey}"
    said += "." if found.zero_sum else ", beyond what that has from itself."
    exact = _at(found.exploitability, target)
    said += "" if math.isnan(exact) else f" The exact exploitability of {prey} is {number(exact)}, in the same unit."
    return join(element("div", curve, training, class_="facets"), element("p", said, class_="note"))


def _taken(found: LeagueTable, place: int, target: int) -> tuple[float, float]:
    """Return a member's payoff against the target, less the target's own against itself where that is not zero."""
    own = [(found.pay[place][target], _error(found, place, target))]
    own += [] if found.zero_sum else [(-found.pay[target][target], _error(found, target, target))]
    return math.fsum(pay for pay, _ in own), math.hypot(*(error for _, error in own))


def _error(found: LeagueTable, row: int, column: int) -> float:
    """Return the standard error of the cross-play; none where the figure is an expectation, or it was not recorded."""
    return _at(found.errors[row], column) if row < len(found.errors) else math.nan


def _measured(mean: float, error: float, digits: int = 3) -> str:
    """Format a figure with its standard error; bare where it was computed."""
    return number(mean, digits) if math.isnan(error) or not error else f"{number(mean, digits)} ± {error:.{digits}f}"


def population(data: RunData) -> Section:
    """Make the section of the members of the final evaluation, with the results of the cross-play."""
    found = data.league
    return Section(
        name="population",
        title="The population",
        shows="Everybody against everybody on deals of their own: Elo by maximum likelihood with 95 % intervals, a "
        "skill updated game by game (openskill), the share in a mixture that nobody beats on average (Nash; of several "
        "such mixtures one), and how long a crowd of imitators plays each (alpha-rank). Elo and skill count who was "
        "paid more in a game, the others go by how much: who wins little often and loses much seldom is rated high, "
        "and nobody mixes it in.",
        body=_population(data, found) if found else missing("The final evaluation is made when the run ends."),
    )


def _population(data: RunData, found: LeagueTable) -> Html:
    rated = {rating.name: rating for rating in found.elo}
    skilled = {skill.name: f"{skill.mu:.1f} ± {skill.sigma:.1f}" for skill in found.skill}
    lines = []
    for place, member in enumerate(found.members):
        rating = rated.get(member.name)
        said = f"{rating.elo:.0f}  ({rating.low:.0f} … {rating.high:.0f})" if rating else "–"
        shares = [f"{_at(column, place):.1%}" for column in (found.nash, found.alpha_rank)]
        exact = found.exploitability[place] if place < len(found.exploitability) else None
        skill = skilled.get(member.name, "–")
        lines.append([member.name, _role(data, member), said, skill, *shares, number(exact)])
    heads = ["member", "role", "Elo", "skill", "Nash", "alpha-rank", "exploitability (exact)"]
    aside = [element("p", f"{name} was set aside: {why}", class_="note") for name, why in found.aside.items()]
    return join(
        table(heads, lines),
        *aside,
        _mixed(found),
        _told(found),
        _outsiders(found),
        folded("Cross-play: pay a round of the row, ± a standard error over deals", _cross(found)),
    )


def _role(data: RunData, member: Shown) -> str:
    """Return the role, and the step of a checkpoint that is the chosen one in the other tables."""
    role = member.role.replace("_", " ")
    first = next(iter(_learners(data)), "main")
    return f"{role}, chosen" if member.parent == first and member.step == data.chosen_step else role


def _mixed(found: LeagueTable) -> Html:
    """Show the exploitability of the Nash mixture, and of the main agents over time beside their average."""
    known = found.nash_exploitability
    said = f"Who draws a member by its Nash share for a whole game has an exact exploitability of {number(known)}."
    drawn = [_over_time(name, line) for name, line in found.over_time.items() if len(line) > 1]
    return join(
        *([] if known is None else [element("p", said, class_="note")]),
        *([element("div", *drawn, class_="facets")] if drawn else []),
    )


def _over_time(learner: str, line: Sequence[Open]) -> Html:
    steps = [one.step for one in line]
    shown = (("as it stood", "rival-2", [one.own for one in line]), ("average", "chosen", [o.average for o in line]))
    traces = [{"x": steps, "y": ys, "role": role, "name": name, "mode": "lines"} for name, role, ys in shown]
    says = "The average draws one of all checkpoints up to there for a whole game: a learner that circles an "
    says += "equilibrium is open at every point of its way and may be closed on average."
    return picture(f"Exact exploitability of {learner}", traces, {"showlegend": True}, says=says)


def _outsiders(found: LeagueTable) -> Html:
    """Show for more than two seats the payoff of an outsider among a member's copies, and their alliance."""
    size = range(len(found.members))
    if found.seats < 3 or len(size) < 2:
        return join()
    watched = any(one is not None for one in found.alliance)
    lines = []
    for place, member in enumerate(found.members):
        others = [row for row in size if row != place]
        left = math.fsum(found.pay[row][place] for row in others) / len(others)
        error = math.hypot(*(_error(found, row, place) for row in others)) / len(others)
        alone = _measured(found.pay[place][place], _error(found, place, place))
        index = _measured(_at(found.alliance, place), _at(found.alliance_errors, place), 2)
        lines.append([member.name, _measured(left, error), alone, *([index] if watched else [])])
    says = f"Copies of one member and one outsider: what the outsider is paid a round, over {len(size) - 1} outsiders "
    says += f"and {found.deals} deals each, beside what copies are paid among themselves: that is what is to be "
    says += "expected of an outsider who is as good. ± is a standard error over deals. "
    if watched:
        says += "The alliance is by what share less the copies attack each other than they and the outsider do: above "
        says += "0 they spare each other, unasked; by chance it is 0."
    heads = ["copies of", "outsider\u2019s pay", "copies alone", *(["alliance"] if watched else [])]
    made = table(heads, lines)
    return join(element("h3", "Do copies collude?"), made, element("p", says, class_="legend"))


def _at(column: Sequence[float | None], place: int) -> float:
    value = column[place] if place < len(column) else None
    return float("nan") if value is None else value


def _cross(found: LeagueTable) -> Html:
    names = [member.name for member in found.members]
    rows = [
        [name, *(_measured(value, _error(found, row, column), 2) for column, value in enumerate(found.pay[row]))]
        for row, name in enumerate(names[: len(found.pay)])
    ]
    return table(["", *names], rows)


def _told(found: LeagueTable) -> Html:
    """Describe cycles and forgotten results in sentences."""
    sentences = [f"{a} beats {b}, {b} beats {c}, and {c} beats {a}." for a, b, c in found.cycles[:_SHOWN]]
    sentences += [
        f"{later} loses to {other}, whom {earlier} beat." for later, earlier, other in found.forgotten[:_SHOWN]
    ]
    more = len(found.cycles) + len(found.forgotten) - len(sentences)
    sentences += [f"{more} more of these."] if more > 0 else []
    if not sentences:
        sentences = [f"No cycle of three and nothing forgotten, beyond chance, over {found.deals} deals a pair."]
    return join(*(element("p", sentence, class_="note") for sentence in sentences))


def inside(data: RunData) -> Section | None:
    """Make the section of the metrics of the league itself."""
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
