"""The command line, run in this process."""

import pytest

from stratagem.cli.main import main


@pytest.fixture(autouse=True)
def no_servers(as_new_process):
    """Begin as a process of its own does: servers and agents that other tests asked are told of no more."""
    as_new_process()


@pytest.fixture
def run(capsys):
    """Run the command line and give back its status, its output and what it said on the error stream."""

    def go(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return ended.value.code or 0, printed.out, " ".join(printed.err.split())

    return go
