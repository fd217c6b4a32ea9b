"""Models of the zoo: a package of runs' models, found by name."""

import json

import pytest

from stratagem.base.errors import StratagemError
from stratagem.games import make_game
from stratagem.language.models.reference import BadModel, parse_model, placeless
from stratagem.language.models.run_models import DEMO, PACKAGE, decoding_options, pin_label, resolve_model, zoo_models
from stratagem.players.catalogue import make_player

MODELS = {
    "version": 1,
    "models": {
        "start": {"model": "tiny"},
        "best": {"model": "dir:base", "adapter": "policy"},
        "7": {"model": "dir:base", "adapter": "policy"},
    },
    "speaks": {"mode": "direct", "temperature": 0.8},
}


@pytest.fixture
def zoo(tmp_path, monkeypatch):
    folder = tmp_path / PACKAGE / "kuhn-sepo"
    folder.mkdir(parents=True)
    (tmp_path / PACKAGE / "__init__.py").touch()
    (folder / "models.json").write_text(json.dumps(MODELS))
    monkeypatch.syspath_prepend(str(tmp_path))
    return folder


def test_a_model_is_the_best_of_its_run(zoo):
    assert zoo_models() == {"kuhn-demo": DEMO / "kuhn-demo", "kuhn-sepo": zoo}
    found = resolve_model(parse_model("zoo:kuhn-sepo"))
    assert (found.kind, found.where, found.adapters[0].path) == ("dir", str(zoo / "base"), str(zoo / "policy"))
    assert resolve_model(parse_model("zoo:kuhn-sepo@start")).kind == "tiny"
    assert resolve_model(parse_model("zoo:kuhn-sepo+dtype=bf16")).dtype == "bf16"


def test_its_decoding_settings_and_its_step_are_those_of_the_run(zoo):
    assert decoding_options("zoo:kuhn-sepo")["temperature"] == 0.8
    assert pin_label("zoo:kuhn-sepo") == "zoo:kuhn-sepo@7"


def test_its_name_has_no_path(zoo):
    assert placeless("zoo:kuhn-sepo@start") == "zoo:kuhn-sepo@start"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zoo:", "does not say which model"),
        ("zoo:../../etc", "is no model of the zoo"),
        ("zoo:kuhn-sepo@later", "is no model of the zoo"),
        ("zoo:kuhn-sepo+adapter:/a", "have their adapters already"),
    ],
)
def test_a_wrong_text_is_answered_with_a_form(text, said):
    with pytest.raises(BadModel, match=said):
        parse_model(text)


def test_a_model_that_the_zoo_lacks_is_answered_with_those_it_has(zoo):
    with pytest.raises(StratagemError, match="has no model 'chess': it has kuhn-demo, kuhn-sepo"):
        resolve_model(parse_model("zoo:chess"))


def test_a_zoo_that_is_not_installed_is_answered_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setattr("stratagem.language.models.run_models.find_spec", lambda name: None)
    with pytest.raises(StratagemError, match=r"which is not installed: pip install \./zoo"):
        make_player("zoo:kuhn-sepo", make_game("kuhn"))
