"""Share of a branched rollout's variance that its first decision causes: `python experiments/fork_variance.py PLAYER`.

In each of some situations the player says several replies; each is played on under several draws of the dice of
everybody else, the same draws for every reply. The variance of what comes of it is then taken apart (two-way random
effects, one fork a cell): what differs by reply, by draw, and the rest, in which are also the player's own later dice.
A learner that compares forks whose others throw dice of their own sees the first as a share of all three; where they
throw alike dice the second is gone.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stratagem.base.provenance import provenance
from stratagem.games.abilities import clock_of, standing_of
from stratagem.games.base import Game, State
from stratagem.games.catalogue import describe, make_game
from stratagem.games.key import Key
from stratagem.players.base import Ask, Move, Player, Turn
from stratagem.players.catalogue import make_player
from stratagem.players.members import NamesakePlayer
from stratagem.playing.forks import last_asked, replay
from stratagem.playing.match import Match, Setup
from stratagem.playing.workers.shards import play_setups


@dataclass(frozen=True)
class Begun(NamesakePlayer):
    """Plays a given action at one turn, and as another player does after that."""

    player: Player
    at: int
    """Turn of the action."""
    action: str

    def turn(self, ask: Ask) -> Turn:
        return Move(self.action) if ask.turn == self.at else self.player.turn(ask)


class Situation(NamedTuple):
    """A state in which the player's seat is asked."""

    state: State[Any]
    turn: int
    slots: tuple[int, ...]


def situations(game: Game[Any], other: Player, count: int, turns: int, key: Key) -> Iterator[Situation]:
    """Yield states after some turns of the opponents' self-play, with the player's seat in rotation."""
    seats = game.spec.seats
    match = Match(game, [other] * seats)
    setups = [
        Setup(id=str(n), match=match, slots=tuple(range(seats)), key=key.at("warm up", n), turns=n % turns)
        for n in range(count)
    ]
    for number, parent in enumerate(play_setups(setups)):
        agent = number % seats
        turn = last_asked(parent, agent)
        yield Situation(replay(parent, turn), turn, tuple((seat - agent) % seats for seat in range(seats)))


def replies(players: tuple[Player, Player], found: Sequence[Situation], count: int, key: Key) -> Any:
    """Sample `count` replies of the player in each situation."""
    agent, other = players
    game = found[0].state.game
    match = Match(game, [agent, *[other] * (game.spec.seats - 1)])
    setups = [
        _setup(f"{n}/{k}", match, at, key.at("said", n).at(k), horizon=1)
        for n, at in enumerate(found)
        for k in range(count)
    ]
    said = [next(row.action for row in e.decisions if row.slot == 0) for e in play_setups(setups)]
    return np.array(said, dtype=object).reshape(len(found), count)


def paid(
    players: tuple[Player, Player], found: Sequence[Situation], said: Any, draws: int, horizon: int, key: Key
) -> NDArray[np.float64]:
    """Play out each reply under each draw up to the horizon, and return the payoffs."""
    setups, (agent, other) = [], players
    game = found[0].state.game
    for (n, k), action in np.ndenumerate(said):
        match = Match(game, [Begun(agent, found[n].turn, action), *[other] * (game.spec.seats - 1)])
        for d in range(draws):
            own, shared = key.at("own", n).at(k).at(d), key.at("others", n).at(d)
            keys = (own, *[shared] * (game.spec.seats - 1))
            setup = _setup(f"{n}/{k}/{d}", match, found[n], own, horizon)
            setups.append(replace(setup, draw_keys=keys, counted=True))
    pay = [episode.payoffs[episode.seat_of(0)] for episode in play_setups(setups)]
    return np.array(pay).reshape(*said.shape, draws)


def _setup(name: str, match: Match, at: Situation, key: Key, horizon: int) -> Setup:
    until = clock_of(at.state, at.turn) + horizon
    return Setup(id=name, match=match, slots=at.slots, key=key, state=at.state, forked_at=at.turn, until=until)


def components(pay: NDArray[np.float64]) -> dict[str, float]:
    """The variance by reply, by draw and of the rest, averaged over situations."""
    _, replies, draws = pay.shape
    by_reply = pay.mean(2, keepdims=True)
    by_draw = pay.mean(1, keepdims=True)
    rest = pay - by_reply - by_draw + pay.mean((1, 2), keepdims=True)
    left = (rest**2).sum((1, 2)).mean() / ((replies - 1) * (draws - 1))
    reply = float(by_reply.var(1, ddof=1).mean() - left / draws)
    draw = float(by_draw.var(2, ddof=1).mean() - left / replies)
    return {
        "mean": float(pay.mean()),
        "by_reply": reply,
        "by_draw": draw,
        "rest": float(left),
        "share_own_dice": reply / (reply + draw + left),
        "share_alike_dice": reply / (reply + left),
    }


def main() -> None:
    """Measure at each horizon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("player")
    parser.add_argument("--game", default="diplomacy(judged=False)")
    parser.add_argument("--opponents", default="dumbbot")
    parser.add_argument("--horizons", type=int, nargs="+", default=[1, 3, 5, 10], help="turns, or the game's clock")
    parser.add_argument("--situations", type=int, default=28)
    parser.add_argument("--turns", type=int, default=14, help="from 0 to this less one are played before a situation")
    parser.add_argument("--replies", type=int, default=5)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    if min(options.situations, options.turns, options.replies - 1, options.draws - 1) < 1:
        raise SystemExit("At least one situation and turn, and two replies and draws, are needed to tell them apart.")
    game, key = make_game(options.game), Key(options.seed)
    if standing_of(game.start(Key(0))) is None:
        raise SystemExit(f"{game.spec.name} states no value of a position.")
    agent, other = make_player(options.player, game), make_player(options.opponents, game)
    found = list(situations(game, other, options.situations, options.turns, key))
    said = replies((agent, other), found, options.replies, key)
    distinct = float(np.mean([len(set(row)) for row in said]))
    table = {}
    for horizon in options.horizons:
        pay = paid((agent, other), found, said, options.draws, horizon, key)
        table[str(horizon)] = components(pay)
        shares = "share of the reply: {share_own_dice:.3f} with own dice, {share_alike_dice:.3f} with alike ones"
        print(f"{horizon} ahead: " + shares.format(**table[str(horizon)]), flush=True)
    if options.out:
        about = {"game": describe(game), "situations": len(found), "replies": options.replies, "draws": options.draws}
        data = {**about, "distinct_replies": distinct, "horizons": table, "made_by": provenance()}
        options.out.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
