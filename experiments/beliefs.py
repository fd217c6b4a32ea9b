"""Games of experiments/declared/beliefs.toml, resumable: `python experiments/beliefs.py runs/beliefs scripted`.

Call it from the project's root, in a clean clone with the extras `fast` and `models`. A block is one deal of one cell:
seven games, one from each power. Blocks go round the cells, so a stop leaves no cell more than one block ahead of
another of its process, and the same command goes on after the recorded games.

`scripted`  Proposals of DumbBot and of random play; each belief about the others, and no search; three true opponents.
`model`     The same with proposals of a trained model, which `--model` names.
`table`     Writes docs/results/beliefs.json, or `--out FILE`, and prints the tables and tests; `--picture FILE` draws.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from beliefs_table import BELIEFS, NO_SEARCH, SCRIPTED, TRUTHS, BeliefCell, table

from stratagem.base.provenance import source
from stratagem.games.catalogue import make_game
from stratagem.games.diplomacy.fast.compiled import is_compiled
from stratagem.games.key import Key
from stratagem.measure.resumable import PLAN, ResumableRecord
from stratagem.players.catalogue import make_player
from stratagem.playing.dispatch import Dispatcher
from stratagem.playing.match import Match
from stratagem.playing.seating import seat_deal
from stratagem.playing.store import read_episodes, shards

GAME = "diplomacy(judged=False)"
POWERS = 7
DEALS = 30
"""Deals of a cell; with seven powers they are 210 games."""
SEED = 1
"""Seed of the deals; 0 was of pilots."""
BOTS = {"dumbbot": "dumbbot", "tuned": "dumbbot-tuned", "ported": "dumbbot-ported-dipnet"}
OPPONENTS = {"dumbbot": BOTS["dumbbot"], "tuned": BOTS["tuned"], "both": f"[{BOTS['dumbbot']}, {BOTS['tuned']}]"}
"""Players at the other seats of rollouts by belief; of two, each seat of each rollout is drawn by its key."""
BUDGET = "num_candidates=16, num_edits=40, num_chance_draws=32, num_first_draws=4, horizon_phases=10"
"""Budget of a decision: 56 candidates at most, each with up to 32 rollouts of two years."""
MODEL = "run:runs/searched-small@start"
"""Model that proposes, trained by the commands of docs/results/diplomacy-search.md."""


def cells(proposals: Sequence[str]) -> list[BeliefCell]:
    """Return every cell with one of these proposals, in the order of play."""
    beliefs = (*BELIEFS, NO_SEARCH)
    return [BeliefCell(proposer, belief, truth) for belief in beliefs for proposer in proposals for truth in TRUTHS]


def player_text(cell: BeliefCell, model: str = MODEL) -> str:
    """Return the player of a cell: the search, or the player that proposes to it."""
    proposer = model if cell.proposals == "model" else cell.proposals
    if cell.belief == NO_SEARCH:
        return proposer
    return f"search({proposer}, {BUDGET}, opponents={OPPONENTS[cell.belief]}, rollout_player={BOTS['tuned']})"


def finished_games(folder: Path) -> set[str]:
    """Return the ids of the recorded games of a cell."""
    if not shards(folder):
        return set()
    return {episode.id for episode in read_episodes(folder, calls=False, decisions=False)}


class CellGames:
    """Games of a cell, in a record of its own that is bound to the commit and the settings."""

    def __init__(self, cell: BeliefCell, folder: Path, player: str, game: str = GAME, seed: int = SEED) -> None:
        self.cell, self.folder = cell, folder / cell.name
        made = make_game(game)
        opponent = BOTS[cell.truth]
        self._match = Match(made, [make_player(player, made), *[make_player(opponent, made)] * (made.spec.seats - 1)])
        self._plan = {
            "command": "beliefs",
            "game": game,
            "player": player,
            "opponents": opponent,
            "seed": seed,
            **source(),
        }
        self._key = Key(seed).at("experiments", "beliefs")  # one for all cells, which so have the same deals
        self._finished = finished_games(self.folder)

    def play_block(self, deal: int) -> float | None:
        """Play one deal from every seat; return the seconds of processor time a game, None where it is recorded."""
        name = self.cell.name
        turns = range(len(self._match.players))
        block = [seat_deal(self._match, deal, turn, self._key, name=name) for turn in turns]
        if all(setup.id in self._finished for setup in block):
            return None
        begun, resume = time.process_time(), (self.folder / PLAN).exists()
        record = ResumableRecord(self.folder, self._plan, resume=resume)
        try:
            self._finished |= record.play(block, Dispatcher()).keys()
        finally:
            record.close()
        return (time.process_time() - begun) / len(block)


def play_cells(games: Sequence[CellGames], deals: int = DEALS) -> None:
    """Play the blocks that are missing, deal by deal round the cells."""
    for deal in range(deals):
        for one in games:
            if (seconds := one.play_block(deal)) is not None:
                print(f"{one.cell.name} deal {deal}: {seconds:.2f} s a game", flush=True)


def play_texts(texts: Sequence[tuple[BeliefCell, str]], folder: Path, seed: int, deals: int) -> None:
    """Play the cells of these players in this process."""
    play_cells([CellGames(cell, folder, text, seed=seed) for cell, text in texts], deals)


def main() -> None:
    """Play a part, list its cells, or print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of the records, one a cell")
    parser.add_argument("study", choices=["scripted", "model", "table"])
    parser.add_argument("--deals", type=int, default=DEALS, metavar="N", help="deals a cell, of seven games each")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes, each with a share of the cells")
    parser.add_argument("--seed", type=int, default=SEED, help="seed of the deals; 0 was of pilots")
    parser.add_argument("--model", default=MODEL, metavar="PLAYER", help="model that proposes, in `model`")
    parser.add_argument("--list", action="store_true", help="print the cells with their players and play nothing")
    parser.add_argument("--out", type=Path, default=Path("docs/results/beliefs.json"), help="JSON of `table`")
    parser.add_argument("--picture", type=Path, help="picture of `table`, as SVG")
    arguments = parser.parse_args()
    if arguments.study == "table":
        table(arguments.folder, arguments.out, arguments.picture)
        return
    texts = {
        cell: player_text(cell, arguments.model)
        for cell in cells(SCRIPTED if arguments.study == "scripted" else ("model",))
    }
    if arguments.list:
        print("\n".join(f"{cell.name}: {text} against {BOTS[cell.truth]}" for cell, text in texts.items()))
        return
    if not is_compiled():
        raise SystemExit("The fast board needs numba: pip install 'stratagem[fast]'.")
    workers = max(1, arguments.workers)
    shares = [list(texts.items())[first::workers] for first in range(workers)]
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        playing = [pool.submit(play_texts, one, arguments.folder, arguments.seed, arguments.deals) for one in shares]
        for share in playing:
            share.result()


if __name__ == "__main__":
    main()
