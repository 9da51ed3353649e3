"""The build of a package that runs out of a checkout of the project: its commit, and whether files differ from it.

Owns the questions to git. Without git, or installed from a wheel, the package's own record stands.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import msgspec

import henad_web
from henad_web.output.build import BuildRecord, BuildStamp, this_build

__all__ = ["checkout_stamp", "installed_build"]

TIMEOUT_S = 10.0


@cache
def installed_build() -> BuildRecord:
    """Return the record of this package with the commit of its checkout, where it is in one."""
    build = this_build()
    if build.commit is not None:
        return build
    stamp = checkout_stamp(Path(henad_web.__file__).parents[1])
    return msgspec.structs.replace(build, commit=stamp.commit, commit_date=stamp.commit_date, dirty=stamp.dirty)


def checkout_stamp(root: Path) -> BuildStamp:
    """Return the last commit that changed `henad_web`, its date and whether files differ from it; else nothing.

    Later commits that left the package alone are the same build of it.

    A package installed into an environment inside somebody's repository is no checkout of this project.
    """
    if not ((root / ".git").exists() and (root / "native" / "henad_native").is_dir()):
        return BuildStamp()
    shown = _git(root, "log", "-1", "--format=%H %cI", "--", "henad_web")
    changed = _git(root, "status", "--porcelain", "--", "henad_web")
    if not shown or changed is None:
        return BuildStamp()
    commit, _, date = shown.strip().partition(" ")
    return BuildStamp(commit=commit, commit_date=date, dirty=bool(changed.strip()))


def _git(root: Path, *arguments: str) -> str | None:
    command = ["git", "-C", str(root), "--no-optional-locks", *arguments]
    try:
        return subprocess.run(command, capture_output=True, check=True, text=True, timeout=TIMEOUT_S).stdout
    except (OSError, subprocess.SubprocessError):
        return None
