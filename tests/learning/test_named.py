"""A recipe names a loss or an estimator by a text or a table; both read the same, and a mistake is one sentence."""

import sys
import tomllib
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from stratagem.base.errors import BadParameter, StratagemError
from stratagem.base.named import RegistryReader
from stratagem.base.registry import Registry
from stratagem.base.renamed.upgrade import Upgrade
from stratagem.base.settings import FiniteSettings
from stratagem.learn.advantages.base import AdvantageEstimate, AdvantageEstimator
from stratagem.learn.advantages.catalogue import ESTIMATORS, NamedAdvantage, read_advantage
from stratagem.learn.advantages.gae import GAE
from stratagem.learn.advantages.group_mean import GroupMean
from stratagem.learn.advantages.whitened import Whitened
from stratagem.learn.losses.catalogue import LOSSES, NamedLoss, read_loss
from stratagem.learn.losses.policy_gradient import PolicyGradient
from stratagem.training.runs.config_file import settings_toml


class Table(FiniteSettings):
    loss: NamedLoss = read_loss("policy_gradient(clip_range_high=0.28)")
    advantage: NamedAdvantage = read_advantage("group_mean")


class Whole(FiniteSettings):
    grpo: Table = Table()


@pytest.mark.parametrize("said", ["dapo(clip_range_high=0.3)", {"type": "dapo", "clip_range_high": 0.3}])
def test_a_text_and_a_table_make_the_same_loss(said):
    named = read_loss(said)
    assert named.value == PolicyGradient(clip_range_high=0.3)
    assert (named, str(named)) == (read_loss("dapo( clip_range_high = 0.30 )"), "dapo(clip_range_high=0.3)")


def test_an_estimator_within_an_estimator_is_read_in_both_forms():
    text = read_advantage("whitened(of=group_mean(normalize_std=False), advantage_std_floor=1)")
    table = read_advantage(
        {"type": "whitened", "of": {"type": "group_mean", "normalize_std": False}, "advantage_std_floor": 1.0}
    )
    assert text.value == table.value == Whitened(of=GroupMean(normalize_std=False), advantage_std_floor=1.0)
    assert text == table
    assert [part.type for part in text.parts()] == ["whitened", "group_mean"]


@pytest.mark.parametrize("factory", [GroupMean, partial(GroupMean, leave_one_out=True)])
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("made(scale=True)", "There is no option scale of made any more: write normalize_std."),
        ({"type": "made", "scale": True}, "There is no option scale of made any more: write normalize_std."),
        (
            "made(scale=True, delta=0.1)",
            "There are no options scale, delta of made any more: write normalize_std for scale, std_epsilon for delta.",
        ),
    ],
)
def test_replaced_option_is_told_its_new_name(factory, source, said):
    read = RegistryReader(Registry("advantage estimator", {"made": factory}, "none"), AdvantageEstimator)
    with pytest.raises(BadParameter) as refused:
        read(source)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"advantage": "group_mean(scale=False)"}, {"advantage": "group_mean(normalize_std=False)"}),
        (
            {"advantage": {"type": "whitened", "least": 2.0, "of": {"type": "gae", "lam": 0.5}}},
            {"advantage": {"type": "whitened", "advantage_std_floor": 2.0, "of": {"type": "gae", "gae_lambda": 0.5}}},
        ),
        (
            {"advantage": {"type": "per_round", "horizon": "round"}},
            {"advantage": {"type": "per_round", "return_to_go": False}},
        ),
        ({"loss": {"type": "dapo", "entropy": 0.5}}, {"loss": {"type": "dapo", "entropy_coef": 0.5}}),
    ],
)
def test_old_options_of_a_table_are_read_under_their_new_names(old, new):
    assert Table.read_old(old) == Table.read(new)
    with pytest.raises(BadParameter, match=r"new names: write|any more: write"):
        Table.read(old)


@pytest.mark.parametrize("given", ["unknown(scale=1)", "group_mean(", {"scale": 1}, 3, {"type": "group_mean"}])
def test_what_names_no_old_option_is_left_as_it_is(given):
    upgrade = Upgrade()
    assert read_advantage.upgrade_source(given, upgrade, ("advantage", "advantage")) == given
    assert upgrade.renamed == {}


@pytest.mark.parametrize("name", [*LOSSES])
def test_every_loss_reads_back_from_its_table(name):
    named = read_loss(name)
    assert named.value == LOSSES[name]()
    again = read_loss(named.table())
    assert (again, again.value) == (named, named.value)


@pytest.mark.parametrize("said", [*ESTIMATORS, "scaled(of=per_order(of=rloo))"])
def test_every_estimator_reads_back_from_its_table(said):
    named = read_advantage(said)
    again = read_advantage(named.table())
    assert (again, again.value) == (named, named.value)


def test_a_table_has_the_defaults_of_what_is_within():
    assert read_advantage("scaled").table() == {
        "type": "scaled",
        "of": {
            "type": "whitened",
            "of": {"type": "gae", "discount": 1.0, "gae_lambda": 0.95},
            "mean_over": "batch",
            "advantage_std_floor": 0.0,
        },
        "reward_term": "payoff",
    }


def test_the_resolved_recipe_has_every_parameter_and_reads_the_same():
    made = Whole.read({"grpo": {"loss": "dapo", "advantage": "whitened(of=group_mean)"}})
    told = tomllib.loads(settings_toml(made))
    assert told["grpo"]["loss"] | {"type": "dapo", "clip_range_high": 0.28, "entropy_coef": 0.0} == told["grpo"]["loss"]
    assert told["grpo"]["advantage"]["of"] == read_advantage("group_mean").table()
    assert Whole.read(told) == made


def test_a_table_without_a_type_is_laid_over_what_it_changes():
    usual = read_advantage("whitened(of=group_mean(normalize_std=False))")
    laid = read_advantage(usual.over({"advantage_std_floor": 2.0, "of": {"std_epsilon": 0.5}}))
    assert laid.value == Whitened(of=GroupMean(normalize_std=False, std_epsilon=0.5), advantage_std_floor=2.0)
    assert str(laid) == "whitened(of=group_mean(normalize_std=False, std_epsilon=0.5), advantage_std_floor=2.0)"
    assert usual.over({"type": "rloo"}) == {"type": "rloo"}
    assert usual.over("rloo") == "rloo"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("dapoo", "there is no loss called 'dapoo': did you mean dapo"),
        (
            "dapo(high=1)",
            "it has no option high; its options are clip_range_low, clip_range_high, kl_estimator, kl_coef",
        ),
        ("dapo(clip_range_high=yes)", "`clip_range_high` of dapo cannot be 'yes': it should be a valid number"),
        ("dapo(clip_range_high=1e999)", "cannot be inf: it is no finite value"),
        ("dapo(clip_range_low=3)", ": `clip_range_low` must be a number from 0 to 1, not 3"),
        (
            "sepo(normalize_by=word)",
            "`normalize_by` of sepo cannot be 'word': it should be 'token', 'example' or 'divisor'",
        ),
        ("dapo(0.3)", "give the options of dapo by name"),
        ("dapo(", "opens a bracket"),
        ({"clip_range_high": 0.3, "type": 3}, "the table needs `type`, the name of a loss: there are cross_entropy, "),
        (3, "write the loss as a name, or as a table"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_place(said, sentence):
    with pytest.raises(BadParameter, match=r"^The setting grpo\.loss cannot be .*") as caught:
        Whole.read({"grpo": {"loss": said}})
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mistake_within_an_estimator_is_told():
    with pytest.raises(BadParameter, match="no advantage estimator called 'group_men': did you mean group_me"):
        Whole.read({"grpo": {"advantage": "whitened(of=group_men)"}})


@dataclass(frozen=True, kw_only=True)
class Unlisted(AdvantageEstimator):
    def estimate(self, decisions, state):
        return AdvantageEstimate(advantage=decisions.reward(None))


@dataclass(frozen=True, kw_only=True)
class Doubled(AdvantageEstimator):
    """Twice another estimator's advantage."""

    of: AdvantageEstimator = field(default_factory=Unlisted)
    factor: float = 2.0

    def estimate(self, decisions, state):
        return AdvantageEstimate(advantage=self.factor * self.of(decisions, state).advantage)


def doubled(of: AdvantageEstimator = Unlisted(), **options: float) -> AdvantageEstimator:
    return Doubled(of=of, **options)


@pytest.fixture
def brought(monkeypatch):
    """Another package's names, as its entry points say them."""
    module = ModuleType("strangers_advantages")
    module.Doubled, module.doubled, module.nothing = Doubled, doubled, dict
    monkeypatch.setitem(sys.modules, module.__name__, module)
    entries = {
        name: EntryPoint(name, f"{module.__name__}:{what}", "stratagem.advantages")
        for name, what in {"doubled": "Doubled", "made": "doubled", "nothing": "nothing"}.items()
    }
    monkeypatch.setitem(vars(read_advantage.registry), "entries", entries)


@pytest.mark.usefixtures("brought")
def test_what_an_entry_point_adds_is_read_in_the_same_way():
    made = Whole.read({"grpo": {"advantage": "doubled(of=gae(gae_lambda=0.5))"}})
    assert made.grpo.advantage.value == Doubled(of=GAE(gae_lambda=0.5))
    assert Whole.read(tomllib.loads(settings_toml(made))) == made
    assert made.grpo.advantage.table() == {
        "type": "doubled",
        "of": {"type": "gae", "discount": 1.0, "gae_lambda": 0.5},
        "factor": 2.0,
    }


@pytest.mark.usefixtures("brought")
def test_an_estimator_within_that_has_no_name_is_left_to_its_default():
    named = read_advantage("doubled(factor=3)")
    assert (named.table(), named.value) == ({"type": "doubled", "factor": 3.0}, Doubled(factor=3.0))


@pytest.mark.usefixtures("brought")
def test_a_function_may_make_an_estimator():
    named = read_advantage("made(of=rloo, factor=0.5)")
    assert named.value.factor == 0.5
    assert named.table() == {"type": "made", "of": read_advantage("rloo").table(), "factor": 0.5}


@pytest.mark.usefixtures("brought")
def test_what_makes_no_estimator_is_refused():
    with pytest.raises(StratagemError, match="advantage estimator nothing makes a dict, no AdvantageEstimator"):
        read_advantage("nothing")
