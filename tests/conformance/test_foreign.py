"""Audits of other people's environments: what is wrong is found and named, and what is right passes."""

import sys
from types import SimpleNamespace

import environments
import pytest

from stratagem.cli.main import main
from stratagem.games.catalogue import ENVIRONMENTS
from stratagem.games.conformance import verify
from stratagem.games.conformance.verify import RULES
from stratagem.games.foreign.audit import AUDIT
from stratagem.games.foreign.catalogue import PACKAGES, make_foreign
from stratagem.games.foreign.translations import TRANSLATIONS

KUHN = "textarena:KuhnPoker-v0"


def audit(monkeypatch, env, **options):
    if issubclass(env, environments.RockPaperScissors):
        monkeypatch.setitem(sys.modules, "pettingzoo.classic.rps_v2", SimpleNamespace(env=env))
        return verify(make_foreign("pettingzoo:rps_v2"), rules=AUDIT, **options)
    monkeypatch.setitem(sys.modules, "textarena", environments.textarena(env))
    return verify(make_foreign(KUHN), rules=AUDIT, **options)


@pytest.mark.parametrize(
    ("env", "compared"),
    [
        (environments.KuhnEnv, "30 ends of every line of play in 6 deals against OpenSpiel's kuhn_poker"),
        (environments.RockPaperScissors, "9 ends of every line of play in 1 deals against OpenSpiel's matrix_rps"),
    ],
)
def test_a_right_environment_passes(monkeypatch, env, compared):
    report = audit(monkeypatch, env)
    assert report.ok, str(report)
    assert report["rules"].detail == compared


def test_an_environment_passes_the_checks_of_games(monkeypatch):
    """All but those of what it does not declare: illegal replies, rules as texts, bounds, sums, and draws of chance."""
    shared = [rule.name for rule in AUDIT if rule.holds in {rule.holds for rule in RULES}]
    assert shared == ["spec", "ends", "legal", "results", "choices", "hidden", "forks", "dump", "views"]
    report = audit(monkeypatch, environments.KuhnEnv, episodes=6)
    assert {report[name].outcome for name in shared} == {"passed"}
    report = audit(monkeypatch, environments.OneGenerator, episodes=6)
    assert [(report[name].outcome, report[name].detail) for name in ("forks", "dump")] == [
        ("skipped", "needs apart"),
        ("skipped", "needs forks"),
    ]


def test_the_bet_that_never_grows_the_pot_is_named_with_the_smallest_episodes(monkeypatch):
    report = audit(monkeypatch, environments.FrozenPot)
    assert report.failed == ("rules",)
    assert (
        "after [bet] the pot stays at 2, and in OpenSpiel it goes from 2 to 3 (12 of 12 times)"
        in report["rules"].detail
    )
    assert "payoffs differ in all 12 lines with [bet] and [call]" in report["rules"].detail
    bet, call = report["rules"].transcripts
    assert bet.actions == ({1: "[bet]"},)
    assert call.actions == ({1: "[bet]"}, {0: "[call]"})


@pytest.mark.parametrize(
    ("env", "check", "says"),
    [
        (environments.OneGenerator, "apart", "which draws from the same generator, the texts differ: 'Lucky number"),
        (environments.Unseeded, "seed", 'of two environments with one seed the texts differ: "Your card is: '),
        (environments.UnseededKing, "seed", "of two environments with one seed the texts differ:"),
        (environments.SameDeal, "varies", "the draws of 24 tables differ, and nothing that is shown or paid does"),
        (environments.Telltale, "rules", "seat 1 is shown more than it may know: 'Do not look: "),
        (environments.NoFolds, "rules", "legal are ['[call]'] here, and ['[call]', '[fold]'] in OpenSpiel"),
        (environments.Forgetful, "reset", "the second goes on with"),
        (environments.Refuses, "legal", "'[call]' is on seat"),
        (environments.LowCardWins, "rules", "payoffs differ in 18 of 30 lines"),
        (environments.DearWins, "rules", "2 / -2 is paid here, and 1 / -1 in OpenSpiel"),
        (environments.Peeking, "rules", "seat 1 is shown more than it may know: '[1]' and '[2]'"),
        (environments.SecretMask, "hidden", "seat 0 is shown more than its information set '3', facts:"),
        (environments.Shuffling, "forks", "in a fork, seat 0 is shown other facts: ForeignFacts(seat=0, shown='"),
    ],
)
def test_what_is_wrong_in_an_environment_is_found(monkeypatch, env, check, says):
    report = audit(monkeypatch, env, episodes=12)
    assert check in report.failed, str(report)
    assert says in report[check].detail


def test_the_command_prints_the_audit_and_fails(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "textarena", environments.textarena(environments.FrozenPot))
    with pytest.raises(SystemExit) as ended:
        main(["verify-game", KUHN, "--episodes", "6"])
    assert ended.value.code == 1
    assert "textarena:KuhnPoker-v0 breaks rules" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("textarena:KuhnPoker-v0", "pip install textarena"),
        ("pettingzoo:tictactoe_v3", "pip install 'pettingzoo[classic]'"),
        ("pettingzoo:classic.x", "write it as pettingzoo:classic/tictactoe_v3"),
        ("pettingzoo:rps_v2(3)", "Give the options of rps_v2 by name"),
        ("pettingzoo:butterfly/pistonball_v6", "pip install 'pettingzoo[butterfly]'"),
        ("pettingzoo:rps_v2(render_mode=human)", "leave render_mode out"),
        ("TextArena:KuhnPoker-v0", "pip install textarena"),
    ],
)
def test_a_missing_package_and_a_wrong_name_are_one_sentence(monkeypatch, capsys, name, says):
    for package in ("textarena", "pettingzoo"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit) as ended:
        main(["verify-game", name])
    assert ended.value.code == 2
    assert says in " ".join(capsys.readouterr().err.split())


def test_an_unknown_environment_and_one_without_legal_actions_are_refused(monkeypatch, capsys):
    class Silent(environments.KuhnEnv):
        def list_actions(self):
            pass

    monkeypatch.setitem(sys.modules, "textarena", environments.textarena(Silent))
    monkeypatch.delitem(TRANSLATIONS, "textarena:KuhnPoker")
    for name, says in (("textarena:Kuhn", "did you mean KuhnPoker-v0"), (KUHN, "does not say which actions are legal")):
        with pytest.raises(SystemExit) as ended:
            main(["verify-game", name])
        assert ended.value.code == 2
        assert says in " ".join(capsys.readouterr().err.split())


def test_an_environment_is_audited_and_not_played(capsys):
    assert set(ENVIRONMENTS) == set(PACKAGES)
    with pytest.raises(SystemExit, match=r"^2$"):
        main(["play", KUHN, "--players", "random", "random"])
    assert "audited by `stratagem verify-game` and not played" in " ".join(capsys.readouterr().err.split())
