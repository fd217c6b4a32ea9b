"""Sentences of the functions, in the words of the command line."""

import pytest

from stratagem.base.errors import MissingExtra, install_command
from stratagem.cli.parameters import as_options

SENTENCES = [
    ("`exploit_by='learning'` needs `exploit_budget=`, such as 100.", "--exploit-by learning needs --exploit-budget,"),
    ("`force=True` continues a started run: add `resume=True`.", "--force continues a started run: add --resume."),
    ("leave `changes=` out.", "leave --set out."),
    ("add `sg.allow('cmd:./agent --x')`.", "add --allow-command 'cmd:./agent --x'."),
    ("add `sg.allow('/a/goods.py')`.", "add --allow-file /a/goods.py."),
    ("add `sg.allow('cmd:a `x`')`.", "add --allow-command 'cmd:a `x`'."),
    ("say `sg.trust('/a b')`.", "say `stratagem trust '/a b'`."),
    ("add `sg.allow('127.0.0.1:80')`.", "add --allow-host 127.0.0.1:80."),
]
UNCHANGED = ["`rounds` of at least 1", "as in `ipd(rounds=3)`", "`transformers(rows=16)`", "`stratagem eval --out`"]


@pytest.mark.parametrize(("sentence", "shown"), SENTENCES)
def test_parameters_become_options(sentence, shown):
    assert as_options(sentence).startswith(shown)


@pytest.mark.parametrize("sentence", UNCHANGED)
def test_other_words_in_backticks_stay(sentence):
    assert as_options(sentence) == sentence


def test_extra_is_installed_beside_an_installed_package(tmp_path, monkeypatch):
    assert install_command("api") == "pip install -e '.[api]' in the checkout"
    monkeypatch.setattr("stratagem.base.errors.__file__", str(tmp_path / "lib/stratagem/errors.py"))
    assert str(MissingExtra("The engine api", "api")).endswith("not installed: pip install 'stratagem[api]'.")
