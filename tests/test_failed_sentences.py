"""Sentences about failed writes: which errors are of the disk, which file is named, and with which status."""

import errno
import os

import pytest

from stratagem.api.mistakes import one_sentence
from stratagem.base.errors import StratagemError, WriteFailed
from stratagem.base.files import failed_write, telling, telling_below


def error_of(number, *names):
    return OSError(number, os.strerror(number), *names)


def raised_in(context, error):
    with pytest.raises(WriteFailed) as caught, context:
        raise error
    return caught.value


@pytest.mark.parametrize(
    ("error", "sentence", "status"),
    [
        (error_of(errno.ENOSPC), "No space left on device", 1),
        (error_of(errno.EACCES), "Permission denied", 1),
        (error_of(errno.ENOENT), "No such file or directory", 2),
        (RuntimeError("I/O error: No space left on device (os error 28)"), "No space left on device", 1),
        (RuntimeError("[enforce fail] . [errno 5] write failed"), "Input/output error", 1),
    ],
)
def test_telling_names_the_file_and_sets_the_status(error, sentence, status, tmp_path):
    failed = raised_in(telling(tmp_path / "out.json"), error)
    assert str(failed) == f"{tmp_path / 'out.json'} cannot be written: {sentence}."
    assert failed.exit_code == status


def test_telling_leaves_errors_of_no_disk(tmp_path):
    with pytest.raises(KeyError), telling(tmp_path):
        raise KeyError("seat")


def test_telling_below_names_the_file_or_else_the_folder(tmp_path):
    below = tmp_path / "metrics.jsonl"
    assert str(raised_in(telling_below(tmp_path), error_of(errno.EIO, below))).startswith(f"{below} cannot")
    assert str(raised_in(telling_below(tmp_path), error_of(errno.EIO))).startswith(f"{tmp_path} cannot")


@pytest.mark.parametrize("error", [error_of(errno.EACCES, "/etc/shadow"), error_of(errno.ENOENT, "gone.txt")])
def test_telling_below_leaves_errors_of_other_files_and_of_names(error, tmp_path):
    with pytest.raises(OSError, match=os.strerror(error.errno)) as caught, telling_below(tmp_path):
        raise error
    assert caught.value is error


def test_failed_write_names_the_target_of_a_rename():
    failed = failed_write(OSError(errno.ENOSPC, "", "a.partial", None, "a.json"))
    assert isinstance(failed, WriteFailed)
    assert str(failed) == "a.json cannot be written: No space left on device."
    assert failed_write(failed) is None


@pytest.mark.parametrize(("number", "status"), [(errno.ENOSPC, 1), (errno.EIO, 1), (errno.ENOENT, 2)])
def test_one_sentence_has_status_1_for_an_error_of_the_disk(number, status):
    @one_sentence
    def fail():
        raise error_of(number, "figures.json")

    with pytest.raises(StratagemError, match=r"^figures\.json: ") as caught:
        fail()
    assert caught.value.exit_code == status
