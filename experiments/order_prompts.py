"""Validity and cost of a model's order sheets under five prompts, free and constrained.

`python experiments/order_prompts.py smollm2 --positions 14 --out docs/results/order-prompts.json` takes positions from
games of seven DumbBots, asks for one power's orders in each, and prints per prompt and mode: whole sheets that are
legal, orders that are, orders that came to something (not void, no move without its convoy, and not bounced off one's
own), tokens of prompt and reply, and milliseconds a sheet, all sheets being answered together. `--pictures NAME.svg`
draws the shares. `--units 10 --until 1912` takes sheets of that many orders only. The seed is that of positions and
replies.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from dots import Dot, picture

from stratagem.base.provenance import provenance, source
from stratagem.games.base import State
from stratagem.games.catalogue import make_game
from stratagem.games.choices import Sheet
from stratagem.games.diplomacy import Diplomacy
from stratagem.games.key import Key
from stratagem.measure.metrics.orders import is_effective, of_sheet
from stratagem.measure.rates import wilson
from stratagem.players.base import Ask, Move, Player
from stratagem.players.catalogue import make_player

PROMPTS = ("verbose", "compact", "minimal", "windows", "counts")
MODES = ("free", "constrained")


class Position(NamedTuple):
    """A state before a movement phase, whose orders are asked for, and what the others order."""

    state: State[Any]
    seat: int
    others: dict[int, str]


def positions(game: Diplomacy, count: int, key: Key, units: int = 0) -> Iterator[Position]:
    """From games of DumbBots: one seat of every movement phase, in turn, or of those that have so many units."""
    bot, found, episode = make_player("dumbbot", game), 0, 0
    while True:
        state, turn = game.start(key.at("game", episode)), 0
        while not state.over:
            table = key.at("table", episode)
            moves = {seat: action(bot.turn(Ask(state.view(seat), table, seat, turn, 0, None))) for seat in state.to_act}
            able = [seat for seat in state.to_act if not units or moving(state, seat) == units]
            if able and moving(state, able[0]):
                seat = able[found % len(able)]
                yield Position(state.fork(), seat, {other: said for other, said in moves.items() if other != seat})
                found += 1
                if found == count:
                    return
            state.play(moves)
            turn += 1
        episode += 1


def moving(state: State[Any], seat: int) -> int:
    """Count the units that a seat orders to move."""
    view = state.view(seat)
    assert isinstance(view.choices, Sheet)
    return view.choices.fill if view.facts.board.kind == "M" else 0


def action(turn: Any) -> str:
    """Return the action of a scripted player."""
    assert isinstance(turn, Move)
    assert turn.action is not None
    return turn.action


def asked(player: Player, places: Sequence[Position], key: Key) -> list[Move]:
    """One turn at each position, all requests answered together."""
    moves: dict[int, Move] = {}
    open_turns: dict[int, tuple[Generator[Any, Any, Move], Any]] = {}
    for number, place in enumerate(places):
        turn = player.turn(Ask(place.state.view(place.seat), key.at(number), place.seat, 0, 0, None))
        assert not isinstance(turn, Move)
        open_turns[number] = (turn, next(turn))
    while open_turns:
        requests = [request for _, request in open_turns.values()]
        calls = requests[0].engine.answer(requests)
        for (number, (turn, _)), call in zip(list(open_turns.items()), calls, strict=True):
            try:
                open_turns[number] = (turn, turn.send(call))
            except StopIteration as stop:
                moves[number] = stop.value
                del open_turns[number]
    return [moves[number] for number in range(len(places))]


def judged(place: Position, move: Move) -> dict[str, float]:
    """Measures of one reply."""
    sheet = place.state.view(place.seat).choices
    assert isinstance(sheet, Sheet)
    said = "".join(call.text for call in move.calls[-1:])
    legal = {option for slot in sheet.slots for option in slot.options}
    lines = {line.strip() for line in said.splitlines()} if move.action is None else set(move.action.split("\n"))
    good = 0
    if move.action is not None:
        parts = place.state.fork().play({**place.others, place.seat: move.action}).parts or {}
        good = sum(is_effective(*order) for order in of_sheet(move.action, parts[place.seat]))
    return {
        "sheets": float(move.action is not None),
        "orders": min(len(lines & legal), sheet.fill) / sheet.fill,
        "effective": good / sheet.fill,
        "prompt": float(move.calls[-1].num_prompt),
        "reply": float(sum(call.num_reply for call in move.calls)),
        "ms": math.fsum(call.ms for call in move.calls),
    }


def main() -> None:
    """Print a line for each prompt and mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--positions", type=int, default=14)
    parser.add_argument("--units", type=int, default=0, help="only sheets of so many orders; 0 takes any")
    parser.add_argument("--until", type=int, default=1903, help="how far the games of the positions go")
    parser.add_argument("--prompts", nargs="+", choices=PROMPTS, default=PROMPTS)
    parser.add_argument("--max-new", dest="max_new_tokens", type=int, default=256, help="tokens of a free reply")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--pictures", type=Path)
    given = parser.parse_args()
    game = make_game(f"diplomacy(until={given.until})")
    assert isinstance(game, Diplomacy)
    places = list(positions(game, given.positions, Key(given.seed), given.units))
    rows = []
    for prompt in given.prompts:
        for mode in MODES:
            # a constrained reply begins with its orders: what it might have argued before them is no part of the cost
            long = given.max_new_tokens if mode == "free" else 1
            name = f"lm({given.model}, mode={mode}, style=diplomacy-{prompt}, max_new_tokens={long})"
            each = [
                judged(*pair)
                for pair in zip(places, asked(make_player(name, game), places, Key(given.seed)), strict=True)
            ]
            row: dict[str, Any] = {"prompt": prompt, "mode": mode}
            row |= {f"mean_{key}": math.fsum(one[key] for one in each) / len(each) for key in each[0]}
            rows.append(row)
            print(
                f"{prompt:8} {mode:12} sheets {row['mean_sheets']:5.1%} orders {row['mean_orders']:5.1%} "
                f"effective {row['mean_effective']:5.1%} tokens {row['mean_prompt']:6.0f} + {row['mean_reply']:4.0f} "
                f"{row['mean_ms']:7.0f} ms",
                flush=True,
            )
    if given.out:
        about = {
            "model": given.model,
            "positions": given.positions,
            "seed": given.seed,
            "until": given.until,
            "units": given.units,
        }
        told = {**about, **source(), "made_by": provenance(), "rows": rows}
        given.out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    if given.pictures:
        dots = [dot(row, given.positions) for row in rows]
        given.pictures.write_text(picture(dots, f"{given.model}: sheets of orders that are legal", 0.0, 1.0), "utf-8")


def dot(row: dict[str, Any], count: int) -> Dot:
    """A row of the picture."""
    share = wilson(row["mean_sheets"] * count, count)
    label = f"{row['prompt']}, {row['mode']}"
    return Dot(label, share.mean, share.low or 0.0, share.high or 1.0, row["mode"] == "constrained")


if __name__ == "__main__":
    main()
