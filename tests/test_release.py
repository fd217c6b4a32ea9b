"""Agreement of version, citation, manual page, security page and containers with each other and the code."""

import re
import sys
from pathlib import Path

import pytest
import yaml

from stratagem import __version__
from stratagem.cli.loading import HELP
from stratagem.cli.main import main

ROOT = Path(__file__).parents[1]


def test_citation_names_this_version_and_licence():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert (cited["cff-version"], cited["version"], cited["license"]) == ("1.2.0", __version__, "MIT")
    assert all({"title", "type", "authors"} <= reference.keys() for reference in cited["references"])


def test_manual_page_is_what_the_code_says(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    from chapters.manual import manual

    page = (ROOT / "docs" / "man" / "stratagem.1").read_text("utf-8")
    assert page == manual()
    assert f'"stratagem {__version__}"' in page
    # A line that begins with a dot or a quote must be a request of the formatter, not a word of a help text.
    requests = {line.split()[0] for line in page.splitlines() if line[:1] in (".", "'")}
    assert requests <= {'.\\"', ".TH", ".SH", ".SS", ".TP", ".B", ".PP", ".EX", ".EE"}


def test_stored_help_is_what_the_parser_writes(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "docs"), *sys.path])
    from chapters.manual import help_texts

    assert HELP.read_text("utf-8") == help_texts()


@pytest.mark.parametrize("command", ["eval", "train", "play"])
def test_help_of_a_command_is_the_same_stored_and_made(command, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    stored = capsys.readouterr().out
    assert end.value.code == 0
    monkeypatch.setattr("stratagem.cli.loading.stored_help", lambda name: None)
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert capsys.readouterr().out == stored
    monkeypatch.undo()
    monkeypatch.setenv("COLUMNS", "60")
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 60


def test_security_page_names_the_supported_minor_version():
    series = ".".join(__version__.split(".")[:2])
    assert f"| {series} | yes |" in (ROOT / "SECURITY.md").read_text("utf-8")


def test_containers_copy_files_that_exist_and_are_not_ignored():
    kept = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    for container in (ROOT / "containers").glob("*.Dockerfile"):
        for line in re.findall(r"^COPY (.+) \S+$", container.read_text("utf-8"), re.MULTILINE):
            for name in line.split():
                assert (ROOT / name).exists(), f"{container.name} copies {name}"
                assert name in kept, f".dockerignore leaves out {name}"
