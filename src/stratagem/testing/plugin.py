"""Plugin of pytest: the mark `exploitability`, the fixture `audit`, and `--stratagem-budget`.

pytest loads this module at every start, so it imports nothing beside pytest: an audit loads what it needs.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from stratagem.testing import ASKED_AGAIN

if TYPE_CHECKING:
    from stratagem.language.engines.remote.shared_budget import SharedBudget
    from stratagem.testing.agent_tests import AgentAuditor

MARK, QUESTION = "exploitability", "question"
"""Mark of an agent, and the parameter by which a function is one."""
_LEDGER = "stratagem_ledger"
_BUDGET: pytest.StashKey[SharedBudget] = pytest.StashKey()
_FOLDER = pytest.StashKey[str]()
_HELP = "cap on what all audits together may cost at servers: 1usd, 2000calls, 100000tokens"
_MARKER = (
    f"{MARK}(game, below=None, limit='lower', fail_if=(), decisions=1500, seed=0, ...): audit the agent that the "
    f"function is (it has a parameter `{QUESTION}`) or returns; fail if a limit of its exploitability is above `below`"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the budget of the session."""
    parser.getgroup("stratagem").addoption("--stratagem-budget", metavar="AMOUNT", help=_HELP)


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark, and begin the budget of the session, which the workers of xdist share."""
    config.addinivalue_line("markers", _MARKER)
    if not (text := config.getoption("stratagem_budget")):
        return
    from stratagem.base.errors import StratagemError
    from stratagem.language.engines.remote.budget import spending
    from stratagem.language.engines.remote.shared_budget import share_budget

    given = getattr(config, "workerinput", {}).get(_LEDGER)
    folder = given or tempfile.mkdtemp(prefix="stratagem-budget-")
    if given is None:
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    try:
        budget = share_budget(text, Path(folder))
    except StratagemError as error:
        raise pytest.UsageError(f"--stratagem-budget: {error}") from None
    config.stash[_BUDGET], config.stash[_FOLDER] = budget, folder
    stack = ExitStack()
    stack.enter_context(spending(budget))
    config.add_cleanup(stack.close)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of xdist where the ledger is."""
    if (folder := node.config.stash.get(_FOLDER, None)) is not None:
        node.workerinput[_LEDGER] = folder
    node.config.option.cacheclear = False  # the cache is empty by now, and a late worker would remove records


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Let a function with the mark have a parameter for the question, which is no fixture."""
    if metafunc.definition.get_closest_marker(MARK) and QUESTION in signature(metafunc.function).parameters:
        metafunc.parametrize(QUESTION, [None], ids=[getattr(pytest, "HIDDEN_PARAM", "agent")])


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> object:
    """Audit the agent of a function with the mark, in place of a call of the function."""
    marks = [*pyfuncitem.iter_markers(MARK)]
    if not marks:
        return None
    from stratagem.testing.agent_tests import agent_of, read_mark

    auditor = _auditor(pyfuncitem)
    names = signature(pyfuncitem.obj).parameters
    values = {name: value for name, value in pyfuncitem.funcargs.items() if name in names and name != QUESTION}
    tests = auditor.in_one_sentence(lambda: [read_mark(mark.args, mark.kwargs) for mark in marks])
    agent = auditor.in_one_sentence(lambda: agent_of(pyfuncitem.obj, values, asked=QUESTION in names))
    for test in tests:
        auditor.check(agent, test)
    return True


@pytest.fixture
def audit(request: pytest.FixtureRequest) -> AgentAuditor:
    """Function that audits an agent: `audit(agent, game, below=0.1)` returns the card, or fails the test by it."""
    return _auditor(request.node)


def _auditor(item: pytest.Item) -> AgentAuditor:
    """Return the function that audits agents for a test, with records in the cache of pytest."""
    from stratagem.testing.agent_tests import AgentAuditor

    cache = getattr(item.config, "cache", None)  # None where the plugin of the cache is off
    folder = None if cache is None else cache.mkdir("stratagem")
    return AgentAuditor(folder, item.nodeid, lambda name, value: item.user_properties.append((name, value)))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell what the session has spent, and which agents are asked again the next time."""
    lines = [*dict.fromkeys(_properties(terminalreporter, ASKED_AGAIN))]
    if (budget := terminalreporter.config.stash.get(_BUDGET, None)) is not None:
        lines.append(f"{budget.read_spent():g} of {budget} spent")
    if lines:
        terminalreporter.section("stratagem")
        for line in lines:
            terminalreporter.line(line)


def _properties(terminalreporter: Any, name: str) -> Iterator[str]:
    """Yield the properties of this name in the order of the tests."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                yield from (value for key, value in report.user_properties if key == name)
