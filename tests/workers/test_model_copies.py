"""Copies of models in workers: weights are read again only if they have changed, and idle adapters go."""

import os
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import pytest
from working import setups

from stratagem.base.errors import CannotCompute
from stratagem.language.engines.caches import register
from stratagem.language.engines.catalogue import Transformers
from stratagem.language.engines.open import open_engine, served_by, serving
from stratagem.language.models.adapters import adapter_names, adapter_parameters, add_adapter
from stratagem.language.models.load import load
from stratagem.language.prompting.catalogue import make_style
from stratagem.players.model_player import ModelPlayer
from stratagem.players.speaker import Speaker
from stratagem.players.uniform import Random
from stratagem.playing.workers import copies
from stratagem.playing.workers.base import InProcess
from stratagem.playing.workers.copies import ShardCarrier, play_shard, played_alone
from stratagem.playing.workers.models import CarriedWeights, ModelCarrier, ModelCopy, copy_of
from stratagem.playing.workers.plan import WorkersPlan
from stratagem.playing.workers.processes import Processes


@pytest.fixture
def plan():
    workers = Processes(1)  # no process begins before there is work
    yield WorkersPlan(workers=workers)
    workers.close()


def test_a_copy_takes_over_changed_weights_alone(plan):
    lm = load("tiny")
    add_adapter(lm, "policy", rank=2, alpha=4)
    first = adapter_parameters(lm, "policy")[0]
    changes = []
    for value in (0.5, 0.5, 0.25):
        first.data.fill_(value)
        with ModelCarrier(plan) as carrier:
            copy = copy_of(carrier.model(lm, ["policy"], is_base_trained=False))
        assert adapter_parameters(copy.lm, "policy")[0].unique().tolist() == [value]
        changes.append(set(copy.unpublished))
        copy.unpublished.clear()
    assert changes == [{"policy"}, set(), {"policy"}]
    assert copy.lm.name == "tiny"
    assert copy.lm.model is not lm.model


def test_parcels_are_gone_after_the_work(plan):
    lm = load("tiny")
    with ModelCarrier(plan) as carrier:
        (weights,) = carrier.model(lm, [], is_base_trained=True).weights
        assert (weights.parcel.folder / "model.safetensors").is_file()
    assert not weights.parcel.folder.exists()


def test_adapters_that_were_not_used_for_long_are_dropped():
    lm = load("tiny")
    copy = ModelCopy(lm)
    for number in range(19):
        add_adapter(lm, f"a{number}", 1, 1.0, ["q_proj"])
        copy.take(CarriedWeights(f"a{number}", is_trained=False))
    copy.drop_idle(["a0", "a18"])
    assert adapter_names(lm) == ["a0", *(f"a{number}" for number in range(2, 19))]
    assert [*copy.digests] == adapter_names(lm)


def test_few_idle_adapters_are_all_kept():
    lm = load("tiny")
    copy = ModelCopy(lm)
    for number in range(11):
        add_adapter(lm, f"a{number}", 1, 1.0, ["q_proj"])
        copy.take(CarriedWeights(f"a{number}", is_trained=False))
    copy.drop_idle(["a10"])
    assert len(adapter_names(lm)) == 11


def test_weights_are_written_once_for_each_model_and_adapter(plan):
    """Two models may have an adapter of the same name."""
    models = [load("tiny"), load("tiny")]
    for value, lm in enumerate(models, 1):
        add_adapter(lm, "policy", rank=2, alpha=4)
        adapter_parameters(lm, "policy")[0].data.fill_(value)
    with ModelCarrier(plan) as carrier:
        carried = [carrier.model(lm, ["policy"], is_base_trained=False) for lm in (*models, models[0])]
        folders = [model.weights[1].parcel.folder for model in carried]
        assert folders[0] != folders[1]
        assert folders[0] == folders[2]
        copies = [copy_of(model) for model in carried[:2]]
    assert [adapter_parameters(copy.lm, "policy")[0].unique().tolist() for copy in copies] == [[1.0], [2.0]]


@pytest.mark.parametrize("is_trained", [True, False])
def test_copy_is_trained_where_the_model_is(plan, is_trained):
    """Torch multiplies by weights under training in another order of additions."""
    lm = load("tiny")
    add_adapter(lm, "policy", rank=2, alpha=4)
    for weight in adapter_parameters(lm, "policy"):
        weight.requires_grad_(is_trained)
    with ModelCarrier(plan) as carrier:
        copy = copy_of(carrier.model(lm, ["policy"], is_base_trained=False))
    assert {weight.requires_grad for weight in adapter_parameters(copy.lm, "policy")} == {is_trained}


def test_copy_has_the_number_format_of_the_model(plan):
    lm = load("tiny", dtype="bf16")
    with ModelCarrier(plan) as carrier:
        copy = copy_of(carrier.model(lm, [], is_base_trained=False))
    assert copy.lm.dtype == lm.dtype
    assert next(copy.lm.model.parameters()).dtype == next(lm.model.parameters()).dtype


class Watching(Random):
    """A player that notes the engine that serves models, and the number of threads, at each turn."""

    seen: ClassVar[list] = []

    def turn(self, ask):
        self.seen.append((serving(), os.environ["OMP_NUM_THREADS"]))
        return super().turn(ask)


def test_shard_is_played_with_the_engine_and_the_threads_of_its_sender(plan, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(copies, "use_threads", lambda number: monkeypatch.setenv("OMP_NUM_THREADS", str(number)))
    other = Transformers(rows=3)
    with served_by(other), ShardCarrier(replace(plan, num_threads=2)) as carrier:
        shard = carrier.pack(setups("kuhn(hands=1)", [Watching(), "random"], 1))
    Watching.seen.clear()
    play_shard(shard)
    assert set(Watching.seen) == {(other, "2")}
    assert serving() != other


class Speaking(Random):
    """A player with a model."""

    def __init__(self, speaker):
        self.speaker = speaker


def test_engine_that_cannot_be_opened_again_is_refused(plan):
    speaker = Speaker(engine=SimpleNamespace(name="theirs"), style=make_style("plain"))
    with pytest.raises(CannotCompute, match="The engine of theirs cannot be copied to a worker"):
        ShardCarrier(plan).pack(setups("kuhn(hands=1)", [Speaking(speaker), "random"], 1))


def test_a_model_that_no_text_loads_is_refused():
    lm = replace(load("tiny"), source="")
    with pytest.raises(CannotCompute, match="cannot be loaded by a text: leave `workers=` out"):
        ModelCarrier(WorkersPlan(workers=InProcess())).model(lm, [], is_base_trained=False)


class Counted:
    """An engine that counts how often its cache was reset."""

    resets = 0

    def reset_cache(self):
        self.resets += 1


def test_every_shard_begins_with_empty_caches():
    """Else the last digits of its log-probabilities would depend on the shards that this worker played before."""
    engine = Counted()
    register(engine)
    for number in (1, 2):
        episodes = played_alone(setups("kuhn(hands=1)", ["random", "random"], 2))
        next(episodes)
        assert engine.resets == number
        assert len(list(episodes)) == 1


def test_changed_weights_of_the_same_version_are_published(plan):
    """A version counts the steps of one run; another run on the same model may be as far."""
    lm = load("tiny")
    add_adapter(lm, "policy", rank=2, alpha=4)
    engine = open_engine(lm)
    engine.publish("policy", 1)
    speaker = Speaker(engine=engine, adapter="policy", style=make_style("plain"))
    tables = setups("prisoners-dilemma", [ModelPlayer(name="policy", speaker=speaker), "random"], 1)
    published = []
    for value in (0.5, 0.5, -0.5):
        for weights in adapter_parameters(lm, "policy"):
            weights.data.fill_(value)
        with ShardCarrier(plan) as carrier:
            shard = carrier.pack(tables)
            copy = copy_of(shard.engines[0].model)
            published.append(not copy.unpublished)
            play_shard(shard)
        assert copy.unpublished == set()
        assert copy.engine.version("policy") == 1
    assert published == [False, True, False]


def test_a_trained_base_is_carried(plan):
    engine = open_engine(load("tiny"))
    player = ModelPlayer(name="base", speaker=Speaker(engine=engine, style=make_style("plain")))
    tables, carried = setups("prisoners-dilemma", [player, "random"], 1), []
    for version in (0, 1):
        if version:
            engine.publish("", version)
        with ShardCarrier(plan) as carrier:
            (weights,) = carrier.pack(tables).engines[0].model.weights
        carried.append(bool(weights.parcel))
    assert carried == [False, True]


def test_a_new_version_of_the_same_weights_is_published(plan):
    """Episodes name the version of the policy that played them."""
    lm = load("tiny")
    add_adapter(lm, "policy", rank=2, alpha=4)
    engine = open_engine(lm)
    speaker = Speaker(engine=engine, adapter="policy", style=make_style("plain"))
    tables = setups("prisoners-dilemma", [ModelPlayer(name="policy", speaker=speaker), "random"], 1)
    for version in (1, 2):
        engine.publish("policy", version)
        with ShardCarrier(plan) as carrier:
            episodes = play_shard(carrier.pack(tables))
        rows = [row for episode in episodes for row in episode.decisions]
        assert {call.policy.version for row in rows for call in row.calls} == {version}
