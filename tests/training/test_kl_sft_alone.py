"""KL-SFT as a run of its own: with an adapter it ends, and a finished run is resumed without another step."""

from pathlib import Path

import pytest

import stratagem as sg

RECIPE = Path(__file__).parents[2] / "recipes" / "shapellm" / "start" / "ipd.toml"
SMALL = {"kl_sft.num_examples": 5, "kl_sft.epochs": 1, "kl_sft.adapter.rank": 4}


@pytest.mark.runs
def test_kl_sft_with_an_adapter_ends_with_a_model_that_plays(tmp_path):
    run = tmp_path / "run"
    sg.train(RECIPE, changes=SMALL, out=run, progress=False)
    sg.train(run, resume=True, progress=False)
    assert sg.evaluate("ipd(rounds=2)", f"run:{run}@start", episodes=2, progress=False).rows()
