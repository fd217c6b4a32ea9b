"""Tables of experiments/cheap_talk.py: exact figures of the pair at the end of each run, and the declared tests.

All figures are computed from the policies that a run has stored at its validations, so no model is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from cheap_talk_equilibria import channel_information, grid_equilibria, most_informative, numbered
from dots import Dot, picture
from result_tables import (
    FinishedRun,
    Row,
    by_seed,
    family_tests,
    finished,
    known_arms,
    markdown,
    mean_with_error,
    merged,
    number,
    row_of_test,
    table_of_tests,
    write_results,
)

from stratagem.api.talks import talk
from stratagem.base.files import write_file
from stratagem.base.provenance import provenance
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.games.sender_receiver import RECEIVER, SENDER, SenderReceiver
from stratagem.measure.exploitability.exact import exact
from stratagem.measure.openings import opening_policy
from stratagem.measure.rates import wilson
from stratagem.measure.statistics import with_interval
from stratagem.players.base import Player
from stratagem.players.catalogue import make_player
from stratagem.players.seated import SeatedPlayers
from stratagem.players.tabular import TablePlayer
from stratagem.sweeps.comparison import PairedTest
from stratagem.training.runs.metrics import read_metrics
from stratagem.training.stopping import StoppingSettings

EPSILON = 0.1
"""Largest NashConv of a pair that counts as an equilibrium, in points a round: the liar's gain at bias 1 is .83."""
EXACT = "sender-receiver/exact/exploitability"
FIXED_READERS = {"reader-honest": "Honest", "reader-equilibrium": "Equilibrium", "sepo": "Honest"}
"""Reader of the sender's messages by the beginning of an arm's name; without one, the policy itself."""
INFORMATION, DECEPTION, RECEIVED = "information of the action", "deception", "receiver's return"
BIASES = ("0", "0.5", "1", "1.5", "2")
TESTED = ("1", "1.5", "2")
"""Biases at which the theory's most informative equilibrium tells less than all, so a pair may be above it or below."""
FEWEST = 12
"""Number of seeds below which a test was declared to show nothing."""
PAIRS: Mapping[str, Mapping[str, tuple[str, str, str]]] = {
    "theory": {f"information less the theory's most, b = {b}": (f"self-{b}", "", "above theory") for b in TESTED},
    "table": {f"information, model less table, b = {b}": (f"self-{b}", f"table-{b}", INFORMATION) for b in BIASES},
    "term": {
        f"{figure}, with SEPO's term less without": ("sepo-with-1", "sepo-without-1", figure)
        for figure in (DECEPTION, INFORMATION, RECEIVED)
    },
    "readers": {
        f"deception, against {reader} less in self-play": (f"reader-{reader}-1", "self-1", DECEPTION)
        for reader in ("honest", "equilibrium")
    },
    "entropy": {"information, low entropy bonus less high, b = 1": ("low-1", "self-1", INFORMATION)},
}
"""Arm, control (none: 0) and figure of every declared test."""
SELF_PLAY = {"self": "tiny", "table": "table, honest start", "table-even": "table, even start"}
"""Labels of the picture by the beginning of the arm's name; the bias follows it."""
SHOWN = (
    "steps", "settled", "NashConv", "greedy NashConv", INFORMATION, "above theory", "information of the message",
    "honesty", DECEPTION, "sender's return", RECEIVED,
)  # fmt: skip


def bias_of(arm: str) -> str:
    """Return the bias of an arm: the last part of its name."""
    return arm.rpartition("-")[2]


def figures(run: FinishedRun) -> Row:
    """Return the exact figures of a run's last policy as sender to its reader, and how the run went."""
    bias = bias_of(run.stem)
    game = make_game(f"sender-receiver(bias={bias})")
    assert isinstance(game, SenderReceiver)
    stored = sorted((run.path / "policies").glob("sender-receiver-*.json"))[-1]
    policy: Player = TablePlayer(json.loads(stored.read_text(encoding="utf-8"))["policy"], label=run.stem)
    named = next((name for start, name in FIXED_READERS.items() if run.stem.startswith(start)), "")
    reader = make_player(named, game) if named else policy
    return {**training(run), **pair_figures(game, policy, reader)}


def training(run: FinishedRun) -> Row:
    """Return the number of steps, whether the stopping rule ended them, and the curve of the exact exploitability."""
    metrics, recipe = read_metrics(run.folder), run.folder.config_data()
    rule = StoppingSettings.read(recipe["stop"])
    curve, watched = metrics[EXACT], metrics[rule.metric]
    first = curve.steps[0]
    return {
        "steps": curve.steps[-1] - first,
        "settled": rule.stands_still(watched.values),
        "curve": {"steps": [step - first for step in curve.steps], "exploitability": curve.values},
    }


def pair_figures(game: SenderReceiver, sender: Player, reader: Player) -> Row:
    """Return the exact figures of a sender and its reader."""
    pair = SeatedPlayers((sender, reader))
    found, of = exact(game, pair), talk(game, sender, reader, progress=False).figures[SENDER]
    says, answers = mixtures(game, sender, SENDER), mixtures(game, reader, RECEIVER)
    actions = list(game.choices_of(RECEIVER))
    channel = [
        [sum(p * answers[message].get(action, 0.0) for message, p in mix.items()) for action in actions]
        for mix in says.values()
    ]
    most = most_informative(game.states, game.bias)
    information = channel_information(channel)
    returns = of.returns or (0.0, 0.0)
    return {
        "NashConv": found.nash_conv,
        "gains": [seat.gain.mean for seat in found.by_seat],
        INFORMATION: information,
        "theory's most": most,
        "above theory": information - most,
        "information of the message": of.state_information,
        "honesty": of.honesty,
        DECEPTION: of.deception or 0.0,
        "sender's return": returns[SENDER],
        RECEIVED: returns[RECEIVER],
        **greedy_figures(game, says, answers),
    }


def mixtures(game: SenderReceiver, player: Player, seat: int) -> dict[str, Mapping[str, float]]:
    """Return a player's probabilities by state as sender, and by message as receiver."""
    start, label = ("sender: state ", "receiver: message ")[seat], opening_policy(game, player)
    return {key.removeprefix(start): mix for key, mix in label.items() if key.startswith(start)}


def greedy_figures(
    game: SenderReceiver, says: Mapping[str, Mapping[str, float]], answers: Mapping[str, Mapping[str, float]]
) -> Row:
    """Return figures of the pair that plays its likeliest actions, without the noise that an entropy bonus keeps.

    `partition` has the block of each state, and `by chance` is the share of all orders of the states in which the same
    blocks would be those of an equilibrium.
    """
    likeliest = {key: _sure(mix) for key, mix in {**_keyed(says, SENDER), **_keyed(answers, RECEIVER)}.items()}
    player = TablePlayer(likeliest, label="greedy")
    found = exact(game, player)
    acts = [float(_best(answers[_best(mix)])) for mix in says.values()]
    known = {equilibrium.blocks for equilibrium in grid_equilibria(game.states, game.bias)}
    orders = list(permutations(acts))
    nash_conv = found.nash_conv or 0.0
    return {
        "greedy NashConv": nash_conv,
        "partition": list(numbered(acts)),
        "interval": acts == sorted(acts),
        "equilibrium": nash_conv <= EPSILON,
        "blocks of an equilibrium": numbered(acts) in known,
        "by chance": sum(numbered(order) in known for order in orders) / len(orders),
    }


def _keyed(mixes: Mapping[str, Mapping[str, float]], seat: int) -> dict[str, Mapping[str, float]]:
    start = ("sender: state ", "receiver: message ")[seat]
    return {f"{start}{key}": mix for key, mix in mixes.items()}


def _best(mix: Mapping[str, float]) -> str:
    return max(mix, key=lambda action: mix[action])


def _sure(mix: Mapping[str, float]) -> dict[str, float]:
    return {_best(mix): 1.0}


def collected(folder: Path) -> Iterator[tuple[str, Row]]:
    """Yield the arm and the figures of every finished run."""
    for run in finished(folder):
        if run.stem != "sft":
            yield run.stem, {"arm": run.stem, "seed": run.seed, **figures(run), **run.provenance()}


def tested(rows: Mapping[str, Sequence[Row]]) -> Iterator[tuple[str, PairedTest]]:
    """Yield the tests of each family, where at least two seeds are there."""
    return family_tests(PAIRS, partial(by_seed, rows), Key(0).at("experiments", "cheap talk"), lambda _: FEWEST)


def table(folder: Path, out: Path) -> None:
    """Add the runs of a folder to the JSON, and print the tables of the page."""
    old = known_arms(out)
    rows = merged(old, collected(folder))
    tests = [row_of_test(name, test) for name, test in tested(rows)]
    every: list[Any] = [row for arm in sorted(rows) for row in rows[arm]]
    write_results(out, {"made by": provenance(), "tests": tests, "runs": every})
    title = "What the action tells about the state, in nats of at most 1.79"
    write_file(out.with_suffix(".svg"), picture(list(_dots(rows)), title, 0.0, 2.0))
    heads = ["arm", "seeds", *SHOWN, "equilibrium", "blocks of an equilibrium", "by chance"]
    print(markdown(heads, (_arm(arm, rows[arm]) for arm in sorted(rows))))
    print()
    print(table_of_tests(tests))


def _dots(rows: Mapping[str, Sequence[Row]]) -> Iterator[Dot]:
    """Yield at each bias the theory's most informative equilibrium, marked, and the mean of each arm in self-play."""
    game = make_game("sender-receiver")
    assert isinstance(game, SenderReceiver)
    for bias in BIASES:
        most = most_informative(game.states, float(bias))
        yield Dot(f"b = {bias}: most informative equilibrium", most, most, most, marked=True)
        for start, label in SELF_PLAY.items():
            if (arm := f"{start}-{bias}") in rows:
                found = with_interval([float(row[INFORMATION]) for row in rows[arm]])
                low, high = (found.mean if end is None else end for end in (found.low, found.high))
                yield Dot(f"b = {bias}: {label}", found.mean, low, high)


def _arm(arm: str, rows: Sequence[Row]) -> list[str]:
    means = [mean_with_error([float(row[name]) for row in rows if row[name] is not None], 2) for name in SHOWN]
    shares = [_share([bool(row[name]) for row in rows]) for name in ("equilibrium", "blocks of an equilibrium")]
    return [arm, str(len(rows)), *means, *shares, mean_with_error([row["by chance"] for row in rows], 2)]


def _share(values: Sequence[bool]) -> str:
    """Write a share of runs with its interval."""
    estimate = wilson(sum(values), len(values))
    return f"{sum(values)} of {len(values)} [{number(estimate.low, 2)}, {number(estimate.high, 2)}]"
