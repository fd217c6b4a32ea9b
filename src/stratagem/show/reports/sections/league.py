"""Sections of a league: frozen pool, best responses, population, and win rates with matchmaking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stratagem.base.number_texts import number, short
from stratagem.measure.figures.training import NATS, SHARE
from stratagem.show.html import Html, element, join
from stratagem.show.reports.figure import NO_CHANCE, PictureFacts, count_noun, label, picture
from stratagem.show.reports.files import CheckpointMeasures, LeagueMember, LeagueTable
from stratagem.show.reports.metric_reading import chance_of, game_unit, unit_of
from stratagem.show.reports.run_data import RunData, finite
from stratagem.show.reports.section import Section, fold_element, missing, table

_Z = 1.959964
"""Quantile of the normal distribution at .975, for 95 % intervals."""
_UNITS = {
    "Win rate": SHARE,
    "Effective number of opponents": "opponents",
    "Reward": "return an episode",
    "Entropy": NATS,
}
_CHANCE = {"Win rate": 0.5}
"""Win rate among equal players."""
_SHOWN = 20
"""Number of cycles, and of forgotten results, that are listed."""


def pool(data: RunData) -> Section:
    """Make the section of the figures against the frozen pool, and of the exact exploitability."""
    first = next(iter(_learners(data)), "main")
    lines = [(n, _last(n, first)) for n in data.curves if "/validation/payoff" in n or "/exact/exploit" in n]
    shown = [_curve(data, title, [(name, title)]) for name, title in lines]
    opponents = ", ".join(map(str, data.settings.get("opponents", [])))
    return Section(
        name="pool",
        title="Frozen pool",
        shows=f"The first learner against {opponents}. The opponents and the deals are the same at every step.",
        body=element("div", *shown, class_="facets") if shown else missing("No metrics have been logged yet."),
    )


def _last(name: str, learner: str) -> str:
    return f"exact exploitability of {learner}" if "/exact/" in name else f"{name.rpartition('/')[2]} of {learner}"


def _learners(data: RunData) -> Mapping[str, Any]:
    learners = data.settings.get("learners")
    return learners if isinstance(learners, dict) else {}


def best_response(data: RunData) -> Section | None:
    """Make the section of approximate best responses: learners with one fixed opponent."""
    matches = {name: _matchmaker(row) for name, row in _learners(data).items() if isinstance(row, dict)}
    fixed = {name: str(match.get("opponent")) for name, match in matches.items() if _is_fixed(match)}
    shown = {
        name: target for name, target in fixed.items() if target not in matches and f"{name}/payoff" in data.curves
    }
    if not shown:
        return None
    return Section(
        name="best_response",
        title="Best responses",
        shows="A learner whose only opponent is one member approximates a best response to it. The payoff advantage of "
        "its checkpoints, on separate deals, is a lower bound on the exploitability of that member.",
        body=join(*(_response(data, name, target) for name, target in shown.items())),
    )


def _matchmaker(learner: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the matchmaker in the settings of a learner; runs before 0.3 call it `match`."""
    found = learner.get("matchmaker", learner.get("match"))
    return found if isinstance(found, dict) else {}


def _is_fixed(match: Mapping[str, object]) -> bool:
    """Return whether a learner has one opponent; runs before 0.4 call the name of its matchmaker `rule`."""
    return match.get("type", match.get("rule")) == "fixed"


def _response(data: RunData, name: str, target: str) -> Html:
    """Show one learner's payoffs in training, and those of its checkpoints on separate deals."""
    caption = "Mean payoff per round of its training games. An iteration has few games, so the curve is noisy."
    training = _curve(data, f"{name} in training, against {target}", [(f"{name}/payoff", "payoff")], caption)
    league = data.league
    checkpoints = [(m.step, row) for row, m in enumerate(league.members) if m.parent == name] if league else []
    members = [member.name for member in league.members] if league else []
    if not league or not checkpoints or target not in members:
        return element("div", training, class_="facets")
    return _bound(league, training, checkpoints, members.index(target))


def _bound(league: LeagueTable, training: Html, checkpoints: Sequence[tuple[int, int]], target: int) -> Html:
    """Draw the payoff advantages of checkpoints over the target, with its exact exploitability."""
    gains = [_advantage(league, row, target) for _, row in checkpoints]
    intervals = {"type": "data", "array": [0.0 if math.isnan(error) else _Z * error for _, error in gains]}
    steps = [step for step, _ in checkpoints]
    trace = {"x": steps, "y": [gain for gain, _ in gains], "error_y": intervals, "role": "chosen"}
    opponent, last = league.members[target].name, league.members[checkpoints[-1][1]].name
    title = f"Lower bound on the exploitability of {opponent}"
    caption = "Payoff advantage per round of each checkpoint in the final evaluation, with 95 % intervals where games "
    caption += "were sampled."
    reading = PictureFacts(
        "payoff a round", f"{league.deals} deals a checkpoint", "95 % where sampled", "0, for equal players"
    )
    curve = picture(title, [{**trace, "name": label(last), "mode": "lines+markers"}], reading=reading, caption=caption)
    note = f"{last} gains {_format_measured(*gains[-1])} per round against {opponent}"
    note += "." if league.zero_sum else f", more than {opponent} against itself."
    if (exact := _exact(league, target)) is not None:
        note += f" The exact exploitability of {opponent} is {number(exact)}, in the same unit."
    return join(element("div", curve, training, class_="facets"), element("p", note, class_="note"))


def _exact(league: LeagueTable, member: int) -> float | None:
    """Return the exact exploitability of a member; None where it was not computed."""
    return league.exploitability[member].exact if member < len(league.exploitability) else None


def _advantage(league: LeagueTable, member: int, target: int) -> tuple[float, float]:
    """Return a member's payoff against the target, less the target's payoff against itself, with its error."""
    parts = [(league.payoff[member][target], _error(league, member, target))]
    parts += [] if league.zero_sum else [(-league.payoff[target][target], _error(league, target, target))]
    return math.fsum(pay for pay, _ in parts), math.hypot(*(error for _, error in parts))


def _error(league: LeagueTable, row: int, column: int) -> float:
    """Return the standard error of the cross-play; NaN where the figure is exact, or has no recorded error."""
    return _at(league.errors[row], column) if row < len(league.errors) else math.nan


def _format_measured(mean: float, error: float, digits: int = 3) -> str:
    """Format a figure with its standard error; bare where it was computed."""
    return number(mean, digits) if math.isnan(error) or not error else f"{number(mean, digits)} ± {error:.{digits}f}"


def population(data: RunData) -> Section:
    """Make the section of the members of the final evaluation, with the results of the cross-play."""
    league = data.league
    return Section(
        name="population",
        title="Population",
        shows="Cross-play of all members on separate deals. Elo is the maximum likelihood estimate with its 95 % "
        "interval. Skill is the rating of openskill, updated game by game. Nash is the probability in a Nash "
        "equilibrium of the meta-game, one of possibly several. Alpha-rank is the stationary probability. Elo and "
        "skill count wins. Nash and alpha-rank count payoffs. A member with many small wins and few large losses has a "
        "high Elo and a low Nash probability.",
        body=_population(data, league) if league else missing("The final evaluation follows the training."),
    )


def _population(data: RunData, league: LeagueTable) -> Html:
    ratings = {rating.name: rating for rating in league.elo}
    skills = {skill.name: f"{skill.mu:.1f} ± {skill.sigma:.1f}" for skill in league.skill}
    rows = []
    for index, member in enumerate(league.members):
        rating = ratings.get(member.name)
        elo = f"{rating.elo:.0f}  ({rating.low:.0f} … {rating.high:.0f})" if rating else "–"
        shares = [f"{_at(column, index):.1%}" for column in (league.nash, league.alpha_rank)]
        skill = skills.get(member.name, "–")
        rows.append([member.name, _role(data, member), elo, skill, *shares, number(_exact(league, index))])
    headings = ["member", "role", "Elo", "skill", "Nash", "alpha-rank", "exploitability"]
    disabled = [element("p", f"{name} is disabled: {why}", class_="note") for name, why in league.aside.items()]
    return join(
        table(headings, rows),
        *disabled,
        _mixture(league, game_unit(data, league.game)),
        _cycles(league),
        _outsiders(league),
        fold_element(
            "Cross-play: payoff per round of the row against the column, ± standard error", _cross_play(league)
        ),
    )


def _role(data: RunData, member: LeagueMember) -> str:
    """Return the role, and the step of a checkpoint that is the chosen one in the other tables."""
    role = member.role.replace("_", " ")
    first = next(iter(_learners(data)), "main")
    return f"{role}, chosen" if member.parent == first and member.step == data.chosen_step else role


def _mixture(league: LeagueTable, unit: str) -> Html:
    """Show the exploitability of the Nash mixture, and of the main agents and their averages over time."""
    exact = league.nash_exploitability.exact
    note = f"The Nash mixture draws a member for each game. Its exact exploitability is {number(exact)}."
    pictures = [_over_time(name, points, unit) for name, points in league.over_time.items() if len(points) > 1]
    return join(
        *([] if exact is None else [element("p", note, class_="note")]),
        *([element("div", *pictures, class_="facets")] if pictures else []),
    )


def _over_time(learner: str, points: Sequence[CheckpointMeasures], unit: str) -> Html:
    steps = [point.step for point in points]
    curves = (
        ("checkpoint", "rival-2", [point.own.exact for point in points]),
        ("average", "chosen", [point.average.exact for point in points]),
    )
    traces = [{"x": steps, "y": ys, "role": role, "name": name, "mode": "lines"} for name, role, ys in curves]
    caption = (
        "The average policy draws one of the checkpoints up to a step for each game. If a learner cycles around an "
    )
    caption += "equilibrium, every checkpoint is exploitable, and the average may not be."
    reading = PictureFacts(unit, count_noun(len(points), "checkpoint"), "none, exact", "not measured")
    return picture(f"Exact exploitability of {learner}", traces, {"showlegend": True}, reading=reading, caption=caption)


def _outsiders(league: LeagueTable) -> Html:
    """Show for more than two seats the payoff of an outsider among a member's copies, and their alliance index."""
    size = range(len(league.members))
    if league.seats < 3 or len(size) < 2:
        return join()
    has_index = any(index is not None for index in league.alliance)
    rows = []
    for index, member in enumerate(league.members):
        outsider, error = _outsider(league, index)
        alone = _format_measured(league.payoff[index][index], _error(league, index, index))
        alliance = _format_measured(_at(league.alliance, index), _at(league.alliance_errors, index), 2)
        rows.append([member.name, _format_measured(outsider, error), alone, *([alliance] if has_index else [])])
    headings = ["copies of", "outsider\u2019s payoff", "copies alone", *(["alliance index"] if has_index else [])]
    legend = element("p", _outsiders_legend(league, has_index=has_index), class_="legend")
    return join(element("h3", "Collusion of copies"), table(headings, rows), legend)


def _outsider(league: LeagueTable, index: int) -> tuple[float, float]:
    """Return an outsider's mean payoff among copies of a member, with its error.

    All outsiders play the same deals, so where only the cross-play is known the error is at most the mean of theirs.
    """
    if index < len(league.outsiders):
        known = league.outsiders[index]
        return known.mean or 0.0, math.nan if known.se is None else known.se
    others = [row for row in range(len(league.members)) if row != index]
    errors = [_error(league, row, index) for row in others]
    return math.fsum(league.payoff[row][index] for row in others) / len(others), math.fsum(errors) / len(errors)


def _outsiders_legend(league: LeagueTable, *, has_index: bool) -> str:
    legend = (
        "Copies of one member play with one outsider. The first figure is the outsider\u2019s payoff per round, over "
    )
    legend += f"{len(league.members) - 1} outsiders and {league.deals} deals each. The second is the payoff of copies "
    legend += "among themselves, which an equally strong outsider would get. ± is the standard error over deals."
    if has_index:
        legend += (
            " The alliance index is the relative reduction of attacks among copies, compared with attacks between "
        )
        legend += "copies and outsider. Above 0 the copies spare each other. Its expectation by chance is 0."
    return legend


def _at(column: Sequence[float | None], index: int) -> float:
    value = column[index] if index < len(column) else None
    return float("nan") if value is None else value


def _cross_play(league: LeagueTable) -> Html:
    names = [member.name for member in league.members]
    rows = [
        [
            name,
            *(
                _format_measured(value, _error(league, row, column), 2)
                for column, value in enumerate(league.payoff[row])
            ),
        ]
        for row, name in enumerate(names[: len(league.payoff)])
    ]
    return table(["", *names], rows)


def _cycles(league: LeagueTable) -> Html:
    """Describe cycles and forgotten results in sentences."""
    sentences = [f"{a} beats {b}, {b} beats {c}, and {c} beats {a}." for a, b, c in league.cycles[:_SHOWN]]
    sentences += [
        f"{later} loses to {other}, which {earlier} beat." for later, earlier, other in league.forgotten[:_SHOWN]
    ]
    more = len(league.cycles) + len(league.forgotten) - len(sentences)
    sentences += [f"There are {more} more cycles and forgotten wins."] if more > 0 else []
    if not sentences:
        sentences = [
            "Each pair met in one deal, so no cycle and no forgotten win can be significant."
            if league.deals == 1
            else f"No significant cycle of three, and no significant forgotten win, over {league.deals} deals per pair."
        ]
    return join(*(element("p", sentence, class_="note") for sentence in sentences))


def matchmaking(data: RunData) -> Section | None:
    """Make the section of each learner's win rate, rewards and number of opponents under matchmaking."""
    pictures = list(_pictures(data, list(_learners(data)) or ["main"]))
    if not pictures:
        return None
    return Section(
        name="matchmaking",
        title="Win rates and matchmaking",
        shows="These metrics depend on the opponents that matchmaking selects, so they do not measure progress. Good "
        "matchmaking keeps the win rate of every learner near one half.",
        body=element("div", *pictures, class_="facets"),
    )


def _pictures(data: RunData, names: Sequence[str]) -> Iterator[Html]:
    for metric, title, caption in (
        ("points", "Win rate", "Against the opponents of matchmaking. A draw counts as half a win."),
        ("effective", "Effective number of opponents", "Number of equally frequent opponents with the same diversity."),
        ("reward", "Reward", "Mean return per episode."),
        ("entropy", "Entropy", "Entropy of the policy, in nats per token. Near 0 the policy no longer explores."),
    ):
        curves = [(f"{name}/{metric}", name) for name in names if f"{name}/{metric}" in data.curves]
        if curves:
            yield _curve(data, title, curves, caption)


def _curve(data: RunData, title: str, lines: Sequence[tuple[str, str]], caption: str = "") -> Html:
    traces: list[dict[str, Any]] = []
    for index, (metric, name) in enumerate(lines):
        points = finite(data.curves[metric])
        role = "chosen" if len(lines) == 1 else f"rival-{index % 6 + 1}"
        traces.append(
            {"x": list(points), "y": list(points.values()), "role": role, "name": label(name), "mode": "lines"}
        )
    level = chance_of(data, lines[0][0]) if len(lines) == 1 else _CHANCE.get(title)
    layout = {
        "showlegend": len(lines) > 1,
        "levels": [] if level is None else [{"value": level, "name": "chance"}],
    }
    unit = _UNITS.get(title, unit_of(data, lines[0][0]))
    reading = PictureFacts(
        unit, count_noun(max(len(trace["x"]) for trace in traces)), chance=NO_CHANCE if level is None else short(level)
    )
    return picture(title, traces, layout, reading=reading, caption=caption)
