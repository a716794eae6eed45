"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from trickformer.base import TrickformerError

_DRAFT_NAME = re.compile(r"\..+\.[0-9a-f]{16}\.part")  # name of a draft, as `whole` makes it
_FULL_DISK = 1 << 16  # free bytes below which a disk counts as full


@contextmanager
def writing(path: Path) -> Generator[None]:
    """Turn the errors of a block that writes a file into a TrickformerError.

    Args:
        path: File that the block writes.

    Raises:
        TrickformerError: The block raised OSError, or the disk is full.
    """
    try:
        yield
    except OSError as e:
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    except Exception as e:  # torch and safetensors raise errors of their own if the disk is full
        disk = os.statvfs(path.parent)
        if disk.f_bavail * disk.f_frsize >= _FULL_DISK and os.strerror(errno.ENOSPC) not in str(e):
            raise
        raise TrickformerError(f"cannot write {path}: the disk is full") from None


@contextmanager
def whole(path: Path) -> Generator[Path]:
    """Yield the path of a draft that replaces `path` at the end of the block, whole or not at all.

    The draft is a new file with a random name, so that a link in a stranger's folder cannot redirect the write. File
    and folder are flushed to the disk, so that a power cut leaves the old file or the new one.

    Args:
        path: File to write.

    Yields:
        The empty draft, in the folder of the file.

    Raises:
        TrickformerError: The file cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with writing(path):
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY, 0o666))
            yield draft
            flush(draft)
            draft.replace(path)
            flush(path.parent.resolve())
    finally:
        with suppress(OSError):  # do not hide an error of the write
            draft.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, and flush their names to the disk.

    Args:
        path: The folder, which may exist.

    Raises:
        OSError: The file system refuses.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for folder in reversed(missing):
        flush(folder.parent.resolve())


def replace_folder(draft: Path, folder: Path) -> None:
    """Replace a folder by a finished draft.

    The draft's files are flushed to the disk before the replacement, and its name afterwards.

    Args:
        draft: Folder with the new contents, in the same parent folder.
        folder: Folder to replace, which may be missing.

    Raises:
        OSError: The file system refuses.
    """
    for path in (draft, *draft.rglob("*")):
        flush(path)
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    flush(folder.parent.resolve())


def flush(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk.

    Args:
        path: The file or folder.

    Raises:
        OSError: The file system refuses.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_drafts(folder: Path) -> None:
    """Remove the drafts of `whole` that killed runs have left behind.

    Args:
        folder: Folder that this process has locked.
    """
    for path in folder.iterdir():
        if _DRAFT_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink(missing_ok=True)


def open_data(path: Path, flags: int) -> int:
    """Open a file of a run folder.

    Args:
        path: The file.
        flags: Flags of `os.open`.

    Returns:
        The file descriptor.

    Raises:
        TrickformerError: The file cannot be opened, or it is a link or no regular file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as e:
        if e.errno == errno.ELOOP:
            raise TrickformerError(f"{path} is a symbolic link; replace it by a regular file") from None
        raise TrickformerError(f"cannot write {path}: {e.strerror}") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise TrickformerError(f"{path} is no regular file")
    return descriptor


def refuse_links(folder: Path) -> None:
    """Refuse a run folder with a symbolic link inside, which could redirect writes.

    Args:
        folder: Run folder, which may itself be a link.

    Raises:
        TrickformerError: The folder contains a link.
    """
    unvisited = [folder.resolve()]
    while unvisited:
        with suppress(FileNotFoundError), os.scandir(unvisited.pop()) as entries:  # a running run removes folders
            for entry in entries:
                if entry.is_symlink():
                    raise TrickformerError(f"{entry.path} is a symbolic link inside a run folder; replace it by a copy")
                if entry.is_dir():
                    unvisited.append(Path(entry.path))


def replace(path: Path, text: str) -> None:
    """Write a small file whole or not at all.

    Args:
        path: File to write.
        text: Its new contents.

    Raises:
        TrickformerError: The file cannot be written.
    """
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
