"""Measures of what a model reads, and the tables of docs/results/reading.md.

Regret, bets and exploitability are computed from the model's stated probabilities. Regret is the mean over different
situations of random play, those that were left out of training apart. Legal replies and quizzes are sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from result_tables import DASH, FinishedRun, Row, finished, markdown, number, read_results, write_results

from stratagem.algorithms.catalogue import recipe_of
from stratagem.base.provenance import provenance
from stratagem.games.base import State, View
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.solver import solve
from stratagem.language.engines.caches import reset_caches
from stratagem.learn.demonstrations.imitation import is_held_out
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.policies import stated_policies
from stratagem.measure.rates import rate
from stratagem.measure.statistics import Estimate, mean, with_interval
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match, Setup
from stratagem.playing.records import Episode
from stratagem.playing.scheduler import play
from stratagem.training.runs.metrics import read_metrics

OUT = Path("docs/results/reading.json")
HELD_OUT = {"nim": 0.1, "tic-tac-toe": 0.1}
"""Share of the situations that is left out of training, by game."""
SPOKEN = ("nim", "tic-tac-toe", "kuhn-spiel", "kuhn", "connect-four", "liars-dice", "breakthrough", "leduc")
QUIZZES = ("rules:nim", "rules:tic-tac-toe", "rules:kuhn-spiel")
SITUATIONS, SPOKEN_GAMES, QUESTIONS = 200, 40, 200
CHANCE = "random"


class Scope(NamedTuple):
    """Measures of a model."""

    boards: tuple[str, ...]
    """Games whose regret is computed."""
    cards: bool
    """Bets and exploitability in kuhn-spiel too."""
    spoken: tuple[str, ...]
    """Games whose legal replies are counted."""
    quizzes: tuple[str, ...] = ()


EVERYTHING = Scope(("nim", "tic-tac-toe"), True, SPOKEN, QUIZZES)
TWO_GAMES = Scope(("nim",), True, ("nim", "kuhn-spiel"))
ONE_BOARD = Scope(("tic-tac-toe",), False, ("tic-tac-toe",))
SCOPES = {"base": EVERYTHING, "board": ONE_BOARD, "board-once": ONE_BOARD}
"""Scope of the runs by their names without the seed, other than `TWO_GAMES`."""
LAST = 50
"""Number of steps over which the last loss is averaged."""


def situations(name: str, *, held_out: bool) -> list[State[Any]]:
    """Return different situations of random play, in the order in which they are met."""
    game, found, key = make_game(name), dict[str, State[Any]](), Key(1).at("reading", name)
    for deal in range(20 * SITUATIONS):
        state, move = game.start(key.at("deal", deal)), 0
        while not state.over and len(found) < SITUATIONS:
            (seat,) = state.to_act
            view = state.view(seat)
            if is_held_out(view, HELD_OUT[name]) == held_out:
                found.setdefault(view.situation, state.fork())
            state.play({seat: view.choices.sample(key.at("move", deal, move))})
            move += 1
    return list(found.values())


def regret(player: Player, name: str, *, held_out: bool) -> Estimate:
    """Measure the mean regret of the player's mixtures, where a win counts 1 and a draw one half."""
    values, states = solve(make_game(name)), situations(name, held_out=held_out)
    mixes = stated_policies(player, [state.view(state.to_act[0]) for state in states])
    lost = [values.regrets(state) for state in states]
    return with_interval([sum(p * each[str(a)] for a, p in mix.items()) for mix, each in zip(mixes, lost, strict=True)])


def bets(player: Player) -> dict[str, float]:
    """Return the probability that the first player bets in kuhn-spiel, by card."""
    game, views = make_game("kuhn-spiel"), dict[str, View[Any]]()
    for deal in range(40):
        view = game.start(Key(deal)).view(0)
        views.setdefault(view.situation.partition(".")[0][-1], view)
    mixes = stated_policies(player, [views[card] for card in "JQK"])
    return {card: mix.get("BET", 0.0) for card, mix in zip("JQK", mixes, strict=True)}


def legal(player: Player, name: str) -> Estimate:
    """Measure the share of free replies that are a legal action, in games against random play."""
    game = make_game(name)
    match = Match(game, [player, make_player(CHANCE, game)])
    episodes = list(play(list(_setups(match, name, SPOKEN_GAMES))))
    rows = {episode.id: [row for row in episode.decisions if row.seat == episode.seat_of(0)] for episode in episodes}
    asked = [episode for episode in episodes if rows[episode.id]]
    return rate(
        asked,
        lambda e: float(sum(row.action is not None for row in rows[e.id])),
        lambda e: float(len(rows[e.id])),
        lambda e: e.id,
    )


def right(player: Player, name: str) -> Estimate:
    """Measure the share of right answers to questions about the rules."""
    episodes = list(play(list(_setups(Match(make_game(name), [player]), name, QUESTIONS))))
    return rate(episodes, lambda e: e.per_round(0), lambda _: 1.0, _question)


def _question(episode: Episode) -> str:
    return episode.decisions[-1].info_key


def _setups(match: Match, name: str, count: int) -> Iterator[Setup]:
    seats = match.game.spec.seats
    for deal in range(count):
        slots = tuple((seat + deal) % seats for seat in range(seats))
        key = Key(2).at("reading", name, deal)
        yield Setup(id=f"{name}/{deal}", match=match, slots=slots, key=key, purpose="eval")


def _part(held_out: bool) -> str:
    return "left out" if held_out else "in training"


def measures(model: str, style: str, scope: Scope) -> Row:
    """Measure a model in a style of prompts."""
    reset_caches()
    text = f"lm('{model}', mode=%s, style={style}, temperature=1.0, max_new_tokens=16)"
    row: Row = {"model": model, "style": style, "regret": {}}
    for name in scope.boards:
        player = make_player(text % "direct", make_game(name))
        for held_out in (False, True):
            figure = regret(player, name, held_out=held_out)
            row["regret"][f"{name}, {_part(held_out)}"] = figure.to_json()
    if scope.cards:
        kuhn = make_player(text % "direct", make_game("kuhn-spiel"))
        row |= {"bets": bets(kuhn), "exploitability": exact(make_game("kuhn-spiel"), kuhn).exploitability}
    row["legal"] = {name: legal(make_player(text % "free", make_game(name)), name).to_json() for name in scope.spoken}
    if scope.quizzes:
        asked = ((name, make_player(text % "direct", make_game(name))) for name in scope.quizzes)
        row["quiz"] = {name: right(player, name).to_json() for name, player in asked}
    return row


def read_by(run: FinishedRun) -> Row:
    """Measure the model of a run after SFT, with its provenance, its number of steps, and the mean loss of the last."""
    style = recipe_of(run.folder).style  # type: ignore[attr-defined]
    losses = read_metrics(run.folder)["sft/loss"].values
    own = run.provenance()
    own["command"] = own["command"].replace(str(run.path.parent), "runs/reading")
    figures = measures(f"run:{run.path}@start", style, SCOPES.get(run.stem, TWO_GAMES))
    return {**figures, **own, "steps": len(losses), "loss": mean(losses[-LAST:]).mean}


def table(folder: Path) -> None:
    """Measure what is not measured yet, write the JSON, and print the tables of the page."""
    rows: dict[str, Row] = read_results(OUT).get("models", {})
    _add(rows, CHANCE, chance)
    for style in ("bare", "plain"):
        _add(rows, f"untrained, {style}", partial(measures, "base", style, EVERYTHING))
    _add(rows, "untrained tiny, bare", partial(measures, "tiny", "bare", ONE_BOARD))
    for run in finished(folder):
        _add(rows, f"{run.stem}-{run.seed}", partial(read_by, run))
    print(*tables(rows), sep="\n\n")


def _add(rows: dict[str, Row], name: str, measured: Callable[[], Row]) -> None:
    """Add a row if it is new, and write the JSON."""
    if name not in rows:
        rows[name] = measured()
        rows[name]["model"] = rows[name].get("model", CHANCE).partition("@")[0].rpartition("/")[2]
        write_results(OUT, {"made by": provenance(), "models": rows})


def chance() -> Row:
    """Measure random play, whose regret is the level of chance."""
    figures = {
        f"{name}, {_part(held_out)}": regret(make_player(CHANCE, make_game(name)), name, held_out=held_out).to_json()
        for name in HELD_OUT
        for held_out in (False, True)
    }
    kuhn = make_game("kuhn-spiel")
    player = make_player(CHANCE, kuhn)
    return {
        "style": DASH,
        "regret": figures,
        "bets": bets(player),
        "exploitability": exact(kuhn, player).exploitability,
    }


def tables(rows: Mapping[str, Row]) -> Iterator[str]:
    """Format what is read, what is said, and the quizzes."""
    parts = [f"{name}, {_part(held_out)}" for name in HELD_OUT for held_out in (False, True)]
    yield markdown(
        ["", "style", "steps", "loss", *parts, *(f"{card} bets" for card in "JQK"), "exploitability"],
        (
            [
                name,
                row["style"],
                str(row.get("steps", DASH)),
                number(row.get("loss")),
                *(_figure(row["regret"].get(part)) for part in parts),
                *(number(row.get("bets", {}).get(card), 2) for card in "JQK"),
                number(row.get("exploitability")),
            ]
            for name, row in rows.items()
        ),
    )
    for what, names in (("legal", SPOKEN), ("quiz", QUIZZES)):
        own = {name: row[what] for name, row in rows.items() if what in row}
        yield markdown(
            [what, *names], ([name, *(_figure(row.get(game)) for game in names)] for name, row in own.items())
        )


def _figure(estimate: Row | None) -> str:
    """Format a mean with its 95 % interval; a dash where it is not measured."""
    if estimate is None:
        return DASH
    return f"{number(estimate['mean'])} [{number(estimate['low'])}, {number(estimate['high'])}]"
