"""Resident memory of a process, where Linux's /proc has it and where it has not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def resident_memory(process: int) -> int:
    """Return the resident memory of a process in bytes; 0 where it is gone."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0 if has_proc() else _memory_by_ps(process)


def has_proc() -> bool:
    """Return whether this system describes its processes in /proc, as Linux does and macOS does not."""
    return Path("/proc/self/statm").exists()


def _memory_by_ps(process: int) -> int:
    """Return the resident memory that `ps` prints in KiB."""
    printed = subprocess.run(["ps", "-o", "rss=", "-p", str(process)], capture_output=True, text=True, check=False)
    return 1024 * int(printed.stdout.strip() or 0)
