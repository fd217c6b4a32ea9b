"""Recorded games of Diplomacy, replayed on the real engine: `python experiments/replays.py RECORD --games 28`.

For each decision the position and the digest of all orders and results so far are compared with the record, and at the
end the payoffs. It runs in an environment without numba, where games are played on the engine. Exit status 1 says that
something differs.
"""

from __future__ import annotations

import argparse
from itertools import islice
from pathlib import Path

from stratagem.games.diplomacy.fast.compiled import is_compiled
from stratagem.games.diplomacy.state import DiplomacyState, sum_of_squares
from stratagem.playing.forks import steps
from stratagem.playing.records import Episode
from stratagem.playing.store import read_episodes


def differences(episode: Episode) -> int:
    """Return the number of decisions and results that the engine has otherwise."""
    wrong, state = 0, None
    for state, rows in steps(episode):
        for row in rows:
            view = state.view(row.seat)
            wrong += (view.state_key, view.info_key) != (row.state_key, row.info_key)
    assert isinstance(state, DiplomacyState)
    return wrong + (list(sum_of_squares(state.centers(), state.winner())) != list(episode.payoffs))


def main() -> None:
    """Replay the first games of a record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--games", type=int, default=28)
    arguments = parser.parse_args()
    if is_compiled():
        raise SystemExit("numba is installed, so games would be replayed on the fast board: use another environment.")
    games = decisions = wrong = 0
    for episode in islice(read_episodes(arguments.record, calls=False), arguments.games):
        games, decisions = games + 1, decisions + len(episode.decisions)
        wrong += differences(episode)
    print(f"{games} games, {decisions} decisions, {wrong} differences")
    raise SystemExit(int(wrong > 0))


if __name__ == "__main__":
    main()
