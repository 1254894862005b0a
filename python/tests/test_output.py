"""Folders that appear whole, and what they replace."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NoReturn

import pytest

from layerscope.capture.config_patch.auxiliary_files import copy_into
from layerscope.capture.errors import CaptureError, hint_of
from layerscope.capture.output import folder_made, new_folder, require_writable, write_bytes


def _fill(path: Path, *, force: bool = False, text: str = "new") -> None:
    with new_folder(path, force=force) as folder:
        (folder / "file").write_text(text)


def _names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def _full(*_: object, **keywords: object) -> NoReturn:
    raise OSError(28, "No space left on device")


def test_a_link_to_a_folder_stays_a_link_and_its_folder_is_filled(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    (disk / "out").mkdir(parents=True)
    (tmp_path / "link").symlink_to(disk / "out")
    _fill(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (disk / "out" / "file").read_text() == "new"
    _fill(tmp_path / "link", force=True, text="newer")
    assert (disk / "out" / "file").read_text() == "newer"
    assert (_names(disk), _names(tmp_path)) == (["out"], ["disk", "link"])


def test_a_link_to_what_is_not_there_yet_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "out")
    _fill(tmp_path / "link")
    assert (tmp_path / "disk" / "out" / "file").read_text() == "new"


def test_links_in_a_loop_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(CaptureError, match="cannot write"):
        _fill(tmp_path / "a" / "c")


@pytest.mark.parametrize("name", [".", ".."])
@pytest.mark.parametrize("force", [False, True])
def test_the_current_folder_is_refused_before_anything_runs(
    name: str, force: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "around" / "here").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "around" / "here")
    said = "is the current folder" if force or name == "." else "has files already|current folder"
    with pytest.raises(CaptureError, match=said), new_folder(Path(name), force=force):
        pytest.fail("it runs")
    assert (_names(tmp_path), _names(tmp_path / "around")) == (["around"], ["here"])


def test_a_mount_point_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path) == disk)
    with pytest.raises(CaptureError, match="is a mount point"), new_folder(disk):
        pytest.fail("it runs")
    _fill(disk / "out")
    assert _names(disk / "out") == ["file"]


def test_ctrl_c_while_the_old_folder_is_removed_loses_neither(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(tmp_path / "out", text="old")
    remove = shutil.rmtree

    def interrupted(path: Path, **keywords: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        remove(path, **keywords)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    # A test run in the background may have it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            _fill(tmp_path / "out", force=True)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "out" / "file").read_text() == "new"
    assert _names(tmp_path) == ["out"]


def test_ctrl_c_before_the_end_leaves_the_old_folder(tmp_path: Path) -> None:
    _fill(tmp_path / "out", text="old")
    with pytest.raises(KeyboardInterrupt), new_folder(tmp_path / "out", force=True) as folder:
        (folder / "file").write_text("half")
        raise KeyboardInterrupt
    assert (tmp_path / "out" / "file").read_text() == "old"
    assert _names(tmp_path) == ["out"]


def test_a_finished_folder_that_cannot_be_renamed_is_kept_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fill(tmp_path / "out", text="old")
    rename = Path.rename

    def refused(path: Path, target: Path) -> Path:
        if target == tmp_path / "out" and not path.name.endswith(".old"):
            raise OSError(28, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(CaptureError, match="No space left") as caught:
        _fill(tmp_path / "out", force=True)
    (aside,) = [folder for folder in tmp_path.iterdir() if folder.name != "out"]
    assert (aside / "file").read_text() == "new"
    assert str(aside) in caught.value.hint
    assert (tmp_path / "out" / "file").read_text() == "old"


def test_what_a_killed_run_left_aside_is_removed_by_the_next(tmp_path: Path) -> None:
    write = (
        "import os, pathlib, sys\n"
        "from layerscope.capture.output import new_folder\n"
        "with new_folder(pathlib.Path(sys.argv[1])) as folder:\n"
        "    (folder / 'file').write_text('half')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    for name in ("out", "other"):
        done = subprocess.run([sys.executable, "-c", write, tmp_path / name], check=False)
        assert done.returncode == -signal.SIGKILL
    (other,) = tmp_path.glob(".other.*")
    mine = tmp_path / ".out.original"  # of a user who lets nobody look in
    mine.mkdir(mode=0o700)
    with new_folder(tmp_path / "out") as folder:
        assert _names(tmp_path) == sorted([mine.name, other.name, folder.name])
        _fill(tmp_path / "out", text="of another run")  # takes the place, and leaves this one alone
        assert folder.is_dir()
        shutil.rmtree(tmp_path / "out")
    assert _names(tmp_path) == [other.name, mine.name, "out"]


def test_a_finished_folder_that_could_not_take_its_place_is_not_removed_by_the_next(
    tmp_path: Path,
) -> None:
    with pytest.raises(CaptureError), new_folder(tmp_path / "out") as folder:
        (folder / "file").write_text("new")
        _fill(tmp_path / "out")
    _fill(tmp_path / "out", force=True)
    assert (folder / "file").read_text() == "new"


def test_a_disk_that_is_full_is_said_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "replace", _full)
    with pytest.raises(CaptureError, match="cannot write .*file: No space left") as caught:
        write_bytes(tmp_path / "file", b"1")
    assert caught.value.hint == "make room on this disk"


def test_a_disk_that_is_full_while_a_folder_is_filled_names_the_folder_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the one aside, which is removed."""
    out = tmp_path / "out"
    with (
        monkeypatch.context() as patch,
        pytest.raises(CaptureError) as caught,
        new_folder(out) as f,
    ):
        patch.setattr(Path, "replace", _full)
        write_bytes(f / "tree.json", b"1")
    assert caught.value.message == f"cannot write {out / 'tree.json'}: No space left on device"
    with pytest.raises(FileNotFoundError) as missing, new_folder(out) as f:
        (f / "a" / "b").write_bytes(b"1")
    assert str(missing.value) == f"[Errno 2] No such file or directory: '{out / 'a' / 'b'}'"
    assert _names(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "hint"), [(28, "make room on"), (122, "make room on"), (13, "")]
)
def test_one_hint_holds_for_a_full_disk_whatever_is_written(
    number: int, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """28 and 122 are ENOSPC and EDQUOT of Linux, 13 EACCES."""

    def refused(*_: object) -> NoReturn:
        raise OSError(number, "no")

    monkeypatch.setattr(shutil, "copyfile", refused)
    with pytest.raises(CaptureError, match="cannot copy a: no") as caught:
        copy_into(tmp_path, [Path("a")])
    assert caught.value.hint.startswith(hint or "is it readable?")
    assert hint_of(OSError(number, "no"), "else").startswith(hint or "else")


# Of 0666 for files and 0777 for folders, what each umask leaves.
@pytest.mark.parametrize(
    ("umask", "of_file", "of_folder"),
    [(0o022, 0o644, 0o755), (0o077, 0o600, 0o700), (0o002, 0o664, 0o775)],
)
def test_what_is_written_is_as_open_as_the_user_lets_files_be(
    umask: int, of_file: int, of_folder: int, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        with new_folder(tmp_path / "out") as folder:
            write_bytes(folder / "file", b"1")
            assert folder.stat().st_mode & 0o077 == 0, "nobody reads what is not finished"
        assert os.umask(umask) == umask
    finally:
        os.umask(before)
    assert (tmp_path / "out").stat().st_mode & 0o7777 == of_folder
    assert (tmp_path / "out" / "file").stat().st_mode & 0o7777 == of_file


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_finished_folder_that_is_aside_is_not_taken_for_a_stale_one(
    umask: int, tmp_path: Path
) -> None:
    before = os.umask(umask)
    try:
        with pytest.raises(CaptureError), new_folder(tmp_path / "out") as aside:
            (aside / "file").write_text("finished")
            _fill(tmp_path / "out")
        _fill(tmp_path / "out", force=True)
    finally:
        os.umask(before)
    assert (aside / "file").read_text() == "finished"


def test_files_that_came_meanwhile_are_not_replaced(tmp_path: Path) -> None:
    with (
        pytest.raises(CaptureError, match="cannot rename") as caught,
        new_folder(tmp_path / "out") as folder,
    ):
        (folder / "file").write_text("new")
        _fill(tmp_path / "out", text="of another run")
    assert (tmp_path / "out" / "file").read_text() == "of another run"
    assert str(folder) in caught.value.hint and (folder / "file").read_text() == "new"


def test_folders_above_a_place_are_there_only_where_something_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = Path("new/a/tree.json")
    require_writable(place)
    assert _names(tmp_path) == []
    with pytest.raises(ValueError), new_folder(place):
        raise ValueError
    assert _names(tmp_path) == []
    with pytest.raises(CaptureError), monkeypatch.context() as patched:
        patched.setattr(tempfile, "NamedTemporaryFile", _full)
        write_bytes(place, b"1")
    assert _names(tmp_path) == []
    with pytest.raises(OSError), folder_made(Path("new") / ("x" * 256)):  # "new" is made
        pytest.fail("no folder has such a name")
    assert _names(tmp_path) == []
    write_bytes(place, b"1")
    assert place.read_bytes() == b"1"


def test_folders_that_were_there_stay(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    require_writable(tmp_path / "empty" / "a" / "tree.json")
    assert (_names(tmp_path), _names(tmp_path / "empty")) == (["empty"], [])
