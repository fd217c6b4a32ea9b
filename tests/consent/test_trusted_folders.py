"""Trusted folders: whose they are, how their list is kept, and what lies in them."""

import json
import os
import stat

import pytest

from stratagem.base.consent.trusted import (
    config_folder,
    forget_folder,
    is_trusted,
    trust_folder,
    trusted_folders,
)
from stratagem.base.errors import BadParameter
from stratagem.training.shipped import SHIPPED


def test_a_folder_is_trusted_until_it_is_forgotten(tmp_path):
    file = tmp_path / "deep" / "recipe.toml"
    file.parent.mkdir()
    file.touch()
    assert not is_trusted(file)
    assert trust_folder(tmp_path) == tmp_path.resolve()
    assert is_trusted(file)
    assert not is_trusted(tmp_path.parent / "other.toml")
    assert trust_folder(tmp_path) in trusted_folders()
    assert len(trusted_folders()) == 1, "once each"
    forget_folder(tmp_path)
    assert (trusted_folders(), is_trusted(file)) == ([], False)
    with pytest.raises(BadParameter, match="is no trusted folder: the trusted ones are none"):
        forget_folder(tmp_path)


def test_the_list_is_the_users_alone(tmp_path):
    trust_folder(tmp_path)
    path = config_folder() / "trusted.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) & 0o077 == 0
    path.chmod(0o666)  # another user could have written it
    assert (trusted_folders(), is_trusted(tmp_path)) == ([], False)


@pytest.mark.parametrize("text", ["", "{", "{}", "3", "[3, null]", "[" * 100_000])
def test_a_damaged_list_trusts_nothing(tmp_path, text):
    config_folder().mkdir(parents=True)
    (config_folder() / "trusted.json").write_text(text)
    assert trusted_folders() == []


def test_what_ships_with_the_package_is_trusted():
    assert is_trusted(SHIPPED / "sepo" / "kuhn.toml")


def test_a_link_out_of_a_trusted_folder_is_not_trusted(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "evil.py").touch()
    (tmp_path / "mine" / "link.py").symlink_to(tmp_path / "evil.py")
    trust_folder(tmp_path / "mine")
    assert not is_trusted(tmp_path / "mine" / "link.py")


@pytest.mark.parametrize("writable", [".", "deep", "deep/own.py"])
def test_nothing_that_others_can_write_is_trusted(tmp_path, writable):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "own.py").touch()
    trust_folder(tmp_path)
    (tmp_path / writable).chmod(0o777)
    assert not is_trusted(tmp_path / "deep" / "own.py")


def test_a_folder_of_others_and_the_home_folder_are_refused(tmp_path, monkeypatch):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    with pytest.raises(BadParameter, match="can be written by others"):
        trust_folder(tmp_path / "shared")
    monkeypatch.setenv("HOME", str(tmp_path / "shared"))
    for folder in (tmp_path / "shared", tmp_path, "/"):
        with pytest.raises(BadParameter, match="holds all that you download"):
            trust_folder(tmp_path / folder)
    with pytest.raises(BadParameter, match="is no folder"):
        trust_folder(tmp_path / "nothing")


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only the administrator gives files away")
def test_a_file_of_another_user_is_not_trusted(tmp_path):
    trust_folder(tmp_path)
    (tmp_path / "own.py").touch()
    os.chown(tmp_path / "own.py", 12345, -1)
    assert not is_trusted(tmp_path / "own.py")
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, -1)
    with pytest.raises(BadParameter, match="belongs to another user"):
        trust_folder(tmp_path / "theirs")


def test_the_folder_of_settings_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv("STRATAGEM_CONFIG", str(tmp_path / "own"))
    trust_folder(tmp_path)
    assert json.loads((tmp_path / "own" / "trusted.json").read_text()) == [str(tmp_path)]
    monkeypatch.delenv("STRATAGEM_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert config_folder() == tmp_path / "xdg" / "stratagem"
