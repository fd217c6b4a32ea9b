"""Engines are opened by their spec: beside a learner, and for the models that a run names."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from stratagem.algorithms.catalogue import read_any
from stratagem.algorithms.shapellm.algorithm import kl_sft_recipe
from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.registry import NamedCall
from stratagem.language.engines.base import Capabilities
from stratagem.language.engines.caches import reset_caches
from stratagem.language.engines.catalogue import ENGINES, Transformers, engines
from stratagem.language.engines.open import engine_for, open_engine, served_by
from stratagem.language.engines.spec import TrainableEngineSpec
from stratagem.training.recipe_file import read_engine
from stratagem.training.runs.config_file import settings_digest

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
KUHN = RECIPES / "sepo" / "kuhn-tiny.toml"


class Mute:
    """Lacks `drop_adapter`."""

    name, capabilities = "mute", Capabilities(masks=True, scores=True)
    num_resets = 0

    def __getattr__(self, name):
        if name in ("begin", "follow", "submit", "poll", "cancel", "score", "publish", "load_adapter", "version"):
            return lambda *_: None
        raise AttributeError(name)

    def reset_cache(self):
        self.num_resets += 1


class Whole(Mute):
    def drop_adapter(self, name):
        """Do nothing."""


@dataclass(frozen=True)
class Made(TrainableEngineSpec):
    make: type

    def open(self, lm):
        return self.make()


def test_every_kind_is_made_by_its_name():
    for name, factory in ENGINES.items():
        assert engines.make(NamedCall(name)) == factory()


def test_an_engine_that_lacks_a_method_is_refused(tiny):
    with pytest.raises(BadParameter, match="lacks the method drop_adapter of `TrainableEngine`"):
        open_engine(tiny, Made(Mute))


def test_the_cache_of_any_opened_engine_is_reset(tiny):
    engine = open_engine(tiny, Made(Whole))
    reset_caches()
    reset_caches()
    assert engine.num_resets == 2


def test_an_engine_has_the_settings_of_its_spec(tiny):
    engine = open_engine(tiny, Transformers(rows=3, prefix_cache_mib=2))
    assert (engine.rows, engine.reader.prefixes.budget) == (3, 2 * 2**20)
    usual = open_engine(tiny)
    assert (usual.rows, usual.reader.prefixes.budget) == (64, 512 * 2**20)


def test_models_that_are_named_within_are_served_by_that_engine():
    usual = engine_for("tiny").engine
    with served_by(Transformers(rows=3)):
        few = engine_for("tiny").engine
        assert few.rows == 3
        assert engine_for("tiny").engine is few
    assert engine_for("tiny").engine is usual
    assert usual.rows == 64


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Transformers()),
        ({"engine.rows": "16"}, Transformers(rows=16)),
        ({"engine": '"transformers(prefix_cache_mib=1)"'}, Transformers(prefix_cache_mib=1)),
        ({"engine": '{ type = "transformers", rows = 2 }'}, Transformers(rows=2)),
    ],
)
def test_a_recipe_names_its_engine(changes, expected):
    assert read_any(KUHN, changes).engine.value == expected


def test_every_algorithm_has_the_key():
    for name in ("sepo/kuhn-tiny", "league/exploit", "scopal/tiny", "papers/shapellm/ipd-25"):
        recipe = read_any(RECIPES / f"{name}.toml", {"engine.rows": "16"})
        assert recipe.engine.value.rows == 16


def test_settings_of_the_engine_are_in_the_digest():
    usual, other = (read_any(KUHN, {"engine.rows": rows}) for rows in ("0", "16"))
    assert settings_digest(usual) == settings_digest(read_any(KUHN))
    assert settings_digest(usual) != settings_digest(other)


def test_kl_sft_before_trials_plays_by_the_same_engine():
    recipe = read_any(RECIPES / "papers" / "shapellm" / "ipd-25.toml", {"engine.rows": "16"})
    assert kl_sft_recipe(recipe, "tiny").engine == recipe.engine


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("api", "The engine api has no weights here to train: take another, such as transformers"),
        ({"rows": -1}, "needs `rows` of at least 0, a whole number, not -1"),
        ({"rows": "many"}, "`rows` of transformers cannot be 'many'"),
        (
            {"lines": 3},
            "it has no option lines; its options are rows, prefix_cache_mib, packed_weights_mib, cuda_graphs, "
            "kept_graphs",
        ),
        ("transformer", "did you mean transformers"),
        (7, "Write the engine as a name"),
    ],
)
def test_a_wrong_engine_is_refused_in_a_sentence(said, sentence):
    with pytest.raises(StratagemError, match=sentence):
        read_engine(said)
