"""Copies of models in workers: weights are read again only if they have changed, and idle adapters go."""

from dataclasses import replace

import pytest

from stratagem.errors import CannotCompute
from stratagem.models.adapters import adapter_names, adapter_parameters, add_adapter
from stratagem.models.load import load
from stratagem.workers.base import InProcess
from stratagem.workers.models import CarriedWeights, ModelCarrier, ModelCopy, copy_of
from stratagem.workers.plan import Plan
from stratagem.workers.processes import Processes


@pytest.fixture
def plan():
    workers = Processes(1)  # no process begins before there is work
    yield Plan(workers=workers)
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
        add_adapter(lm, f"a{number}", rank=1, alpha=1)
        copy.take(CarriedWeights(f"a{number}", is_trained=False))
    copy.drop_idle(["a0", "a18"])
    assert adapter_names(lm) == ["a0", *(f"a{number}" for number in range(2, 19))]
    assert [*copy.digests] == adapter_names(lm)


def test_a_model_that_no_text_loads_is_refused():
    lm = replace(load("tiny"), source="")
    with pytest.raises(CannotCompute, match="cannot be loaded by a text: leave `workers=` out"):
        ModelCarrier(Plan(workers=InProcess())).model(lm, [], is_base_trained=False)
