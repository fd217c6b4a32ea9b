"""A small run made of all the pieces: a linear model learns beside a record that grows; begun again, it goes on."""

import math

import torch
from written_events import scalars_of

from stratagem.base.settings import Settings
from stratagem.games.catalogue import make_game
from stratagem.games.key import Key
from stratagem.learn.optimizer import Optimizer, OptimizerSettings
from stratagem.players.catalogue import make_player
from stratagem.playing.match import Match
from stratagem.playing.scheduler import play
from stratagem.playing.seating import rotate_seats
from stratagem.playing.store import read_episodes, write_shard
from stratagem.training.runs.checkpoint import checkpoint_folders, keep, latest, save_checkpoint
from stratagem.training.runs.folder import RunFolder
from stratagem.training.runs.metrics import FILE, MetricLog
from stratagem.training.runs.resume import resume


class Toy(Settings):
    steps: int = 9
    every: int = 2
    last: int = 2
    learner: OptimizerSettings = OptimizerSettings(learning_rate=0.05, schedule="cosine", weight_decay=0.1)


def toy_run(path, config=None):
    """Begin a run, or go on with it."""
    run = RunFolder.open(path) if path.exists() else RunFolder.create(path, config or Toy(), 5, "toy")
    with run.at_work():
        _work(run, run.config(Toy), run.info().seed)
    return run


def _work(run, config, seed):
    torch.manual_seed(seed)
    model = torch.nn.Linear(4, 1)
    optimizer = Optimizer(model.parameters(), config.learner, config.steps)
    done, best = 0, (math.inf, 0)
    if start := resume(run):
        state = start.state()
        model.load_state_dict(state["model"])
        optimizer.restore(state["optimizer"])
        done, best = start.step, state["best"]
        keep(run, config.last)
    with MetricLog(run) as log:
        for step in range(done + 1, config.steps + 1):
            log.write(step - 1, {"before": float(model.weight.detach()[0, 0])})  # after a checkpoint, at its step
            episodes = played(seed, step)
            write_shard(run.record, step, episodes)
            inputs = torch.randn(8, 4, generator=torch.Generator().manual_seed(100 * seed + step))
            loss = (model(inputs) - episodes[0].payoffs[0]).square().mean()
            loss.backward()
            log.write(
                step, {"loss": float(loss.detach()), "grad_norm": optimizer.step(), "payoff": episodes[0].payoffs[0]}
            )
            best = min(best, (float(loss.detach()), step // config.every * config.every))
            if step % config.every == 0 or step == config.steps:
                log.write(step, {"eval/weight": float(model.weight.detach().sum())})
                state = {"model": model.state_dict(), "optimizer": optimizer.state(), "best": best}
                save_checkpoint(run, step, state, best=[best[1]])
                keep(run, config.last)


def played(seed, step):
    """A deal of kuhn between random players."""
    game = make_game("kuhn(hands=1)")
    match = Match(game, [make_player("random", game)] * 2)
    return list(play(rotate_seats(match, 2, Key(seed).at(step), name=f"step{step}")))


def end_of(run):
    """Return the results of a run: equal only if two runs are bit-identical."""
    last = latest(run)
    state = last.state()
    return {
        "status": run.status().state,
        "metrics": (run.path / FILE).read_bytes(),
        "events": scalars_of(run.path),
        "record": list(read_episodes(run.record)),
        "checkpoints": list(checkpoint_folders(run)),
        "counted": (last.step, last.shards, last.best, state["best"]),
        "weights": {name: value.view(torch.uint8).tolist() for name, value in state["model"].items()},
        "optimizer": repr(state["optimizer"]),
    }
