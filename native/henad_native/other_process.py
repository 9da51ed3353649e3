"""A model followed in a process of its own, where texts have other hashes and nothing has been imported yet."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

from henad_native.entry_transfer import EntryNotSentError, SentEntry
from henad_web.testing.course import Subject, build, fingerprint, follow
from henad_web.testing.report import Inapplicable, Violation

__all__ = ["follow_elsewhere", "main"]

_PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from henad_native.other_process import main; main()"
_HASHES = "PYTHONHASHSEED"


def follow_elsewhere(subject: Subject) -> str:
    """Return the fingerprint of the course of `subject` in another process.

    Raises:
        Inapplicable: The model cannot be sent to one.
        Violation: The process ends without it.
    """
    try:
        sent = SentEntry.of(subject.entry)
    except EntryNotSentError as error:
        raise Inapplicable(str(error)) from error
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *sys.path],
        input=pickle.dumps((sent, dict(subject.params), subject.seed, subject.ticks)),
        capture_output=True,
        env={**os.environ, _HASHES: "2" if os.environ.get(_HASHES) == "1" else "1"},
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise Violation(f"another process that follows it ends with code {done.returncode}: {last or 'without a word'}")
    return done.stdout.decode()


def main() -> None:
    """Follow the subject that comes on the standard input, and print its fingerprint."""
    # What the model prints goes where errors go: the answer stands alone.
    answer = os.dup(1)
    os.dup2(2, 1)
    sent, params, seed, ticks = pickle.loads(sys.stdin.buffer.read())
    subject = Subject(entry=sent.received(), params=params, seed=seed, ticks=ticks)
    os.write(answer, fingerprint(follow(build(subject, seed), ticks)).encode())
