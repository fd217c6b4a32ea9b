"""Speed of vLLM, in this process and as a server, as ratios to the transformers engine, all in one run.

Run with `make bench-vllm`, in the environment of `make vllm`. Each engine begins each repeat with an empty cache.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

from engine import line, machine
from engine_timing import Figure, count, race

from stratagem.games.catalogue import make_game
from stratagem.games.choices import Flat
from stratagem.games.key import Key
from stratagem.language.decoding.guides import Free
from stratagem.language.decoding.stopping import StopRule
from stratagem.language.engines.base import Call, Request, TrainableEngine
from stratagem.language.engines.catalogue import VLLM, Transformers, VLLMServer
from stratagem.language.engines.open import open_engine
from stratagem.language.engines.vllm.core import CopyEngine
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.base import Ask, Turn
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from vllm_server import served

Engines = dict[str, TrainableEngine]
TABLES, REPLIES, TOKENS, SEATS = 64, 32, 64, 7


MODELS = {"tiny": "tiny", "smollm2": "smollm2+dtype=fp32"}


def measure(model: str, repeats: int) -> Iterator[Figure]:
    """Figures of the cases of one model."""
    with engines(MODELS[model]) as some:
        if model == "tiny":
            yield from compared(some, kuhn, repeats, f"{TABLES} constrained kuhn tables with tiny")
            yield from compared(some, sheets, repeats, f"{SEATS} Diplomacy sheets with tiny")
        else:
            yield from compared(some, free, repeats, f"{REPLIES} free replies of {TOKENS} tokens with smollm2")


@contextlib.contextmanager
def engines(model: str) -> Iterator[Engines]:
    """Open engines of one model."""
    lm = load(model)
    with tempfile.TemporaryDirectory() as folder, served(model, Path(folder)) as address:
        found = {
            "transformers": open_engine(lm, Transformers()),
            "vllm": open_engine(lm, VLLM(max_model_len=4096)),
            "vllm-server": open_engine(lm, VLLMServer(address=address)),
        }
        yield found
        for engine in found.values():
            if isinstance(engine, CopyEngine):
                engine.batch.stop()


def compared(some: Engines, work: Callable[[TrainableEngine], object], repeats: int, name: str) -> Iterator[Figure]:
    """Time one case on all engines in turn, once before to start and compile what they need."""
    said = {kind: work(engine) for kind, engine in some.items()}

    def timed(engine: TrainableEngine) -> Callable[[], object]:
        def run() -> object:
            engine.reset_cache()
            return work(engine)

        return run

    times = race({kind: timed(engine) for kind, engine in some.items()}, repeats)
    for kind, timing in times.items():
        yield timing.figure(f"{name}: {kind}", "s")
    for kind in ("vllm", "vllm-server"):
        yield times[kind].times(times["transformers"], f"{name}: {kind}, times as fast as transformers")
        yield count(f"{name}: {kind}, the same replies", float(said[kind] == said["transformers"]) * 100.0, "%")


def _player(engine: TrainableEngine, mode: str, style: str) -> ModelPlayer:
    speaker = Speaker(engine=engine, style=make_style(style), max_new_tokens=24)
    return ModelPlayer(name="model", speaker=speaker, mode=mode)


def kuhn(engine: TrainableEngine) -> object:
    """Play hands in the mode constrained, and return the actions."""
    player = _player(engine, "constrained", "reasoned")
    setups = rotate_seats(Match(make_game("kuhn(hands=1)"), [player, player]), TABLES, Key(1), name="bench")
    return sorted((one.id, row.turn, row.action) for one in play(list(setups)) for row in one.decisions)


def sheets(engine: TrainableEngine) -> object:
    """Order the units of all powers in the first phase, and return the tokens."""
    state, player = make_game("diplomacy").start(Key(1)), _player(engine, "direct", "brief")
    turns = [player.turn(Ask(state.view(seat), Key(seat), 0, 0, seat, None)) for seat in state.to_act]
    return _answered(engine, [_first_request(turn) for turn in turns])


def _first_request(turn: Turn) -> Request:
    assert isinstance(turn, Generator)
    return next(turn)


def free(engine: TrainableEngine) -> object:
    """Write free replies, and return the tokens."""
    rule = StopRule(Flat(("an action that nobody names",)))
    prompts = [engine.begin((("user", f"Tell a short story about the number {n}."),)) for n in range(REPLIES)]
    return _answered(
        engine,
        [
            Request(
                engine=engine,
                prompt=prompt,
                guide=Free(rule, engine.vocabulary, frozenset()),
                key=Key(n),
                max_new_tokens=TOKENS,
            )
            for n, prompt in enumerate(prompts)
        ],
    )


def _answered(engine: TrainableEngine, requests: list[Request]) -> list[tuple[int, ...]]:
    tickets = engine.submit(requests)
    calls: dict[int, Call] = {}
    while left := [ticket for ticket in tickets if ticket not in calls]:
        calls.update(engine.poll(left))
    return [calls[ticket].tokens for ticket in tickets]


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=MODELS, default=list(MODELS), help="the models to measure")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(f"$ python {' '.join(sys.argv)}\n{', '.join(f'{name} {value}' for name, value in machine().items())}\n")
    print(f"{'best':>10} {'median':>10} {'of':>3} {'unit':9} {'asked':12}")
    for model in options.only:
        for figure in measure(model, options.repeats):
            print(line(figure), flush=True)


if __name__ == "__main__":
    main()
