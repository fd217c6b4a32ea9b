"""A playthrough: one episode of a game written out in full, so that a change of rules shows as a readable difference.

`python -m stratagem.games.playthrough kuhn` prints one; `--update FOLDER` writes the golden ones again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

from stratagem.base.errors import StratagemError
from stratagem.games.base import Game, RoundResult, Seat, State
from stratagem.games.choices import Choices
from stratagem.games.key import Key
from stratagem.games.safety.base import Signals, all_signals
from stratagem.games.safety.catalogue import measured_by, signal_names

_CHOICES = 8
"""Number of choices that are written out."""
_SHORT = 250
"""Number of lines below which a second playthrough follows."""
GOLDEN = {
    "diplomacy": "diplomacy(until=1901)",
    "matrix": "matrix(payoffs=[[(3, 1), (0, 2), (1, 1)], [(2, 0), (1, 3), (0, 0)]], labels=('UP', 'DOWN'), "
    "labels_second=('LEFT', 'MIDDLE', 'RIGHT'), rounds=4)",
    "ipd-continued": "ipd(continuation=0.8, rounds=20)",
    "auction-3": "auction(seats=3, rounds=3)",
    "spiel-kuhn-3": "spiel:kuhn_poker(players=3)",
}
"""Golden playthroughs of games that have no name of their own, by file; those that have one are all written."""


def playthrough(game: Game[Any], key: Key) -> str:
    """Play one episode at random by `key` and write it out: rules, views, choices, actions and payoffs."""
    return _text(_declaration_lines(game)) + _text(_episode(game, key))


def _text(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _episode(game: Game[Any], key: Key) -> Iterator[str]:
    yield f"\n=== {key!r}"
    state, known, safety = game.start(key), dict[Seat, list[str]](), measured_by(game)
    yield f"kept: {', '.join(state.dump())}"
    totals, move = [0.0] * game.spec.seats, 0
    while not state.over:
        yield f"\n--- move {move}, round {state.round}"
        for seat in state.to_act:
            yield from _seat(state, seat, known)
        actions = {seat: state.view(seat).choices.sample(key.at("player", move, seat)) for seat in state.to_act}
        yield from (_action(seat, action) for seat, action in actions.items())
        result = state.play(actions)
        totals = [had + payoff for had, payoff in zip(totals, result.payoffs, strict=True)]
        yield from _result(result, all_signals(safety, state, actions, result))
        move += 1
    yield f"\n--- over after {move} moves, round {state.round}"
    for seat in range(game.spec.seats):
        yield from _situation(state, seat, known)
    yield f"payoffs in all: {_numbers(totals)}"


def _declaration_lines(game: Game[Any]) -> Iterator[str]:
    yield f"# {game.spec.name}"
    known = {field.name: getattr(game.spec, field.name) for field in fields(game.spec)}
    known["signals"] = signal_names(game)
    del known["independent_rounds"]  # declared after the texts that the tokenizer of `tiny` is trained on
    yield from (f"{name}: {value}" for name, value in known.items() if name != "seat_names" or value)
    for seat in range(game.spec.seats):
        yield f"\nrules for seat {seat}:"
        yield from _indent_lines(game.start(Key(0)).view(seat).rules.split("\n"))


def _seat(state: State[Any], seat: Seat, known: dict[Seat, list[str]]) -> Iterator[str]:
    view = state.view(seat)
    yield from _situation(state, seat, known)
    yield from _indent_lines([f"state key: {view.state_key!r}", f"info key: {view.info_key!r}"])
    yield from _indent_lines([f"may play: {_short(view.choices)}"])


def _situation(state: State[Any], seat: Seat, known: dict[Seat, list[str]]) -> Iterator[str]:
    """Describe a seat's situation, without the lines of a growing history that it has been shown before."""
    yield f"seat {seat} sees:"
    lines, before = state.view(seat).situation.split("\n"), known.get(seat, [])
    known[seat] = lines
    same = next((n for n, pair in enumerate(zip(lines, before, strict=False)) if pair[0] != pair[1]), len(before))
    grows = 2 <= same >= len(before) - 1
    yield from _indent_lines([f"({same} lines as before)", *lines[same:]] if grows else lines)


def _short(choices: Choices) -> str:
    shown = [repr(action) for action in islice(choices, _CHOICES)]
    return ", ".join(shown) + (f" ... {choices.count} in all" if choices.count > len(shown) else "")


def _action(seat: Seat, action: str) -> str:
    return f"seat {seat} plays {action!r}"


def _result(result: RoundResult, signals: Signals) -> Iterator[str]:
    if result.closed or any(result.payoffs):
        yield f"paid: {_numbers(result.payoffs)}{'' if result.closed else ', and the round goes on'}"
    for name, values in signals.items():
        yield f"{name}: {', '.join('none' if value is None else f'{value:.6g}' for value in values)}"


def _numbers(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:.6g}" for number in numbers)


def _indent_lines(lines: Sequence[str]) -> Iterator[str]:
    return (f"    {line}".rstrip() for line in lines)


def golden() -> dict[str, str]:
    """Return the golden playthroughs: file names without their ending, and the games' texts."""
    from stratagem.games.catalogue import GAMES  # the catalogue imports every game, which a single playthrough need not

    return {**{name: name for name in GAMES}, **GOLDEN}


def golden_text(text: str) -> str:
    """Return the text of a golden file: the episode of key 1 and, where that is short, the episode of key 2."""
    from stratagem.games.catalogue import make_game

    game = make_game(text)
    first = playthrough(game, Key(1))
    return first if first.count("\n") >= _SHORT else first + _text(_episode(game, Key(2)))


def update(folder: Path) -> list[str]:
    """Write every golden playthrough into `folder`, remove files of no game, and return the changed names."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{name}.txt": golden_text(text) for name, text in golden().items()}
    stale = [path for path in folder.glob("*.txt") if path.name not in wanted]
    changed = [name for name, text in wanted.items() if _read(folder / name) != text]
    for path in stale:
        path.unlink()
    for name in changed:
        (folder / name).write_text(wanted[name], encoding="utf-8")
    return sorted([*changed, *(path.name for path in stale)])


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the playthrough of one game, or bring the golden ones up to date."""
    from stratagem.games.catalogue import make_game

    parser = argparse.ArgumentParser(prog="python -m stratagem.games.playthrough", description=main.__doc__)
    parser.add_argument("game", nargs="?", help="a game, such as kuhn or ipd(rounds=3)")
    parser.add_argument("--key", type=int, default=1, help="the seed of the episode")
    parser.add_argument("--update", type=Path, metavar="FOLDER", help="write the golden playthroughs there")
    options = parser.parse_args(arguments)
    if (options.game is None) == (options.update is None):
        parser.error("name a game, or a folder with --update")
    try:
        output = (
            _update_folder(options.update) if options.update else playthrough(make_game(options.game), Key(options.key))
        )
    except StratagemError as error:
        parser.error(str(error))
    sys.stdout.write(output)
    return 0


def _update_folder(folder: Path) -> str:
    changed = update(folder)
    return "".join(f"changed {name}\n" for name in changed) or "every golden playthrough is as it was\n"


if __name__ == "__main__":
    sys.exit(main())
