"""A sweep as a job array of Slurm: the folder with its scripts, and their submission.

Owns the texts of the scripts, what they are called, and the one call of `sbatch`'s script from here. What a task does
is `henad run` over a shard, what joins them `henad merge`; nothing here looks at results.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from henad_native.disk import check_characters
from henad_web.errors import HenadError, OutputError

__all__ = [
    "RESULTS",
    "SUBMIT",
    "SlurmArray",
    "SubmissionError",
    "check_folder",
    "given_words",
    "listed",
    "option_problem",
    "submit",
    "write_folder",
]

ARRAY, MERGE, SUBMIT = "array.sh", "merge.sh", "submit.sh"
SPEC, SHARDS, LOGS, JOBS, RESULTS = "spec", "shards", "logs", "jobs.txt", "results"

_OWN_OPTIONS = ("--array", "--chdir", "--dependency", "--parsable", "--wrap")
_OWN_LETTERS = ("-a", "-d", "-D")
_ODD_CHARACTERS = "\\\n\r"


class SubmissionError(HenadError):
    """Slurm did not take all jobs.

    Attributes:
        jobs: Those it took, by what each is for.
    """

    def __init__(self, wrong: str, jobs: Mapping[str, str], todo: str) -> None:
        self.jobs = dict(jobs)
        super().__init__(f"{wrong}; {todo}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmArray:
    """A sweep in shards, one a task of a job array.

    Attributes:
        folder: Where everything of it goes, absolute: scripts, a copy of the spec, logs, shards and the whole.
        spec: The spec file; its tables lie at `tables`, relative to its folder.
        tables: Paths of its design tables as the spec gives them.
        jobs: Number of tasks, each with a shard, from 1 to the number of runs.
        at_once: Tasks that may run at a time, None for as many as there is room for.
        run_words: Further words of `henad run`.
        resources: Options of `sbatch` for a task and for the merge.
        cores: Cores a task, at least 1.
        before: Lines that the scripts begin with, such as ``module load python``.
        directory: The folder in which tasks run, absolute.
        python: The interpreter that has `henad`, as it is called on the machines of the cluster.

    Raises:
        OutputError: A path holds what Slurm cannot be told.
    """

    folder: Path
    spec: Path
    tables: tuple[str, ...] = ()
    jobs: int
    at_once: int | None = None
    run_words: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    cores: int = 1
    before: tuple[str, ...] = ()
    directory: Path
    python: str = sys.executable

    def __post_init__(self) -> None:
        for path in (self.folder, self.directory):
            check_characters(str(path))
            if any(character in str(path) for character in _ODD_CHARACTERS):
                raise OutputError(f"the path {str(path)!r} holds a backslash or a line end", path=str(path))

    def scripts(self) -> dict[str, str]:
        """Return the text of each script by its name."""
        return {ARRAY: self._array_script(), MERGE: self._merge_script(), SUBMIT: self._submit_script()}

    def _array_script(self) -> str:
        command = shlex.join((*self._henad, "run", str(self.folder / SPEC / self.spec.name)))
        task = '"$SLURM_ARRAY_TASK_ID"'
        more = f" {shlex.join(self.run_words)}" if self.run_words else ""
        return _script(
            "One task of the array: the shard of its number, in a folder of its own. Run again, it goes on there.",
            f': "${{SLURM_ARRAY_TASK_ID:?{SUBMIT} submits this as an array}}"',
            "# Where Slurm itself starts a task again, what held its folder's lock is over, maybe on another node.",
            'if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then set -- --force "$@"; fi',
            *self.before,
            "# In place of the shell, so that Slurm's signals reach it: it ends in order, with its files written.",
            f"exec {command} \\",
            f"    --out {shlex.quote(str(self.folder / SHARDS))}/{task} \\",
            f'    --shard {task}/{self.jobs} --resume{more} "$@"',
        )

    def _merge_script(self) -> str:
        return _script(
            "Joins the shards that there are. Earlier results step aside once the new ones are there.",
            f"folder={shlex.quote(str(self.folder))}",
            f"new=$folder/{RESULTS}-$SLURM_JOB_ID",
            *self.before,
            "shards=()",
            f'for manifest in "$folder"/{SHARDS}/*/manifest.json; do shards+=("${{manifest%/manifest.json}}"); done',
            "# No task is left to hold a lock.",
            f'{shlex.join((*self._henad, "merge"))} "${{shards[@]}}" --out "$new" --force',
            "code=$?",
            'if [ -e "$new/manifest.json" ]; then',
            f'    if [ -e "$folder/{RESULTS}" ]; then',
            f'        mv -- "$folder/{RESULTS}" "$folder/{RESULTS}-before-$SLURM_JOB_ID"',
            "    fi",
            f'    mv -- "$new" "$folder/{RESULTS}"',
            "fi",
            'exit "$code"',
        )

    def _submit_script(self) -> str:
        options = (f"--chdir={self.directory}", f"--job-name=henad-{self.spec.stem}", *self.resources)
        throttle = "" if self.at_once is None else f"%{self.at_once}"
        script = shlex.quote(str(self.folder / ARRAY))
        array = f'--array="$indexes" --cpus-per-task={self.cores} --requeue'
        retry = f'--dependency=afternotok:"$array" --kill-on-invalid-dep=yes {array}'
        return _script(
            "Submits the array, one more try should a task of it fail, and the merge, which waits for both. Called",
            "# again once they are over, it goes on with what is missing or failed, in all shards or in those given.",
            "# usage: submit.sh [INDEXES]   such as 3,7-9",
            "set -euo pipefail",
            f"folder={shlex.quote(str(self.folder))}",
            f'indexes="${{1:-0-{self.jobs - 1}}}"{shlex.quote(throttle) if throttle else ""}',
            f"jobs=$folder/{JOBS}",
            f"options=({shlex.join(options)})",
            f"log={shlex.quote(str(self.folder / LOGS).replace('%', '%%'))}",
            _SUBMIT_ONE,
            f'submit array "$log/%A_%a.txt" {array} {script} "$@"',
            "array=$job",
            "# After a failure alone; else it is taken back, which counts as over.",
            f'submit retry "$log/%A_%a.txt" {retry} {script} --retry-failed --force',
            'submit merge "$log/merge-%j.txt" --dependency=afterany:"$array:$job" --cpus-per-task=1 \\',
            f"    {shlex.quote(str(self.folder / MERGE))}",
        )

    @property
    def _henad(self) -> tuple[str, ...]:
        # -P: a file in the folder where tasks run must not pass for a module of ours.
        return (self.python, "-P", "-m", "henad_web")


_SUBMIT_ONE = """set --
if [ -s "$jobs" ]; then
    earlier=$(cut -d ' ' -f 2 "$jobs" | paste -s -d , -)
    if [ -n "$(squeue --noheader --jobs="$earlier" 2>/dev/null)" ]; then
        echo "error: jobs that were submitted before are not over: squeue --jobs=$earlier" >&2
        exit 1
    fi
    set -- --retry-failed --force
fi
submit() {  # NAME LOG WORD...: one call of sbatch; its job's id is kept in a file, printed, and left in $job
    job=$(sbatch --parsable --output="$2" --open-mode=append "${options[@]}" "${@:3}")
    job=${job%%;*}  # behind it stands the name of the cluster, where there are several
    printf '%s %s\\n' "$1" "$job" | tee -a "$jobs"
}"""


def check_folder(array: SlurmArray) -> None:
    """Touch nothing, and make sure that the folder of `array` is new or empty.

    Raises:
        OutputError: It is neither.
    """
    folder = array.folder
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    again = f"; bash {shlex.quote(str(folder / SUBMIT))} goes on with it" if (folder / SUBMIT).exists() else ""
    raise OutputError(f"{folder} is not an empty folder{again}; or choose a new one", path=str(folder))


def write_folder(array: SlurmArray) -> None:
    """Make the folder of `array`: its scripts, a copy of the spec and its tables, and a place for logs.

    Raises:
        OutputError: The folder is there and not empty, or cannot be written.
    """
    folder = array.folder
    try:
        check_folder(array)
        for made in (folder / LOGS, folder / SPEC):
            made.mkdir(parents=True, exist_ok=True)
        for name in (array.spec.name, *array.tables):
            (folder / SPEC / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(array.spec.parent / name, folder / SPEC / name)
        for name, text in array.scripts().items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
            (folder / name).chmod(0o755)
    except OSError as error:
        message = f"cannot write {error.filename or folder}: {error.strerror}"
        raise OutputError(message, path=str(folder)) from error


def submit(array: SlurmArray) -> dict[str, str]:
    """Submit `array`, whose folder is written, and return the ids of its jobs by what each is for.

    Where Slurm takes no job at all the folder is removed, so that the same call may be made again.

    Raises:
        SubmissionError: Slurm refused a job.
    """
    script = array.folder / SUBMIT
    done = subprocess.run(["bash", os.fspath(script)], capture_output=True, text=True, errors="replace", check=False)
    jobs = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
    if done.returncode == 0:
        return jobs
    wrong = f"sbatch refused the {_NEXT[len(jobs)]}: {' '.join(done.stderr.split()) or 'without a word'}"
    if jobs:
        cancel = f"scancel {' '.join(jobs.values())}"
        raise SubmissionError(wrong, jobs, f"{cancel} takes back what it took; {shlex.quote(str(script))} submits anew")
    _remove(array)
    raise SubmissionError(wrong, jobs, f"nothing was submitted, and {array.folder} is removed")


_NEXT = ("array", "retry", "merge", "jobs")
"""What was to be submitted, after so many jobs."""


def _remove(array: SlurmArray) -> None:
    """Remove what `write_folder` made, and nothing else."""
    folder = array.folder
    names = (array.spec.name, *array.tables)
    for path in (*(folder / name for name in array.scripts()), *(folder / SPEC / name for name in names)):
        path.unlink(missing_ok=True)
    above = (folder / SPEC / name for name in names)
    for made in (*(parent for path in above for parent in path.parents), folder / LOGS, folder):
        if made.is_relative_to(folder):
            with suppress(OSError):  # it is gone, or holds what somebody else has put there
                made.rmdir()


def _script(what: str, *lines: str) -> str:
    return "\n".join(("#!/bin/bash", f"# {what}", *lines, ""))


def option_problem(words: Sequence[str]) -> str | None:
    """Return what is wrong with `words` as further options of `sbatch`, None where nothing is."""
    if words and not words[0].startswith("-"):
        return f"'{words[0]}' is no option of sbatch; they stand behind --, such as: -- --qos=long"
    for word in words:
        name = word.partition("=")[0]
        is_long = name.startswith("--")
        if is_long and len(name) > len("--a") and any(option.startswith(name) for option in _OWN_OPTIONS):
            return f"{word}: the scripts choose this one; leave it out"
        if not is_long and name.startswith(_OWN_LETTERS):
            return f"{word}: the scripts choose this one; leave it out"
    return None


def listed(scripts: Mapping[str, str], folder: Path) -> Iterator[str]:
    """Yield `scripts` of `folder` one behind the other, each under its path."""
    for name, text in scripts.items():
        yield f"==> {folder / name} <==\n{text}"


def given_words(options: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Return the words of those `options` that have a value, such as ``--mem=4G``."""
    return tuple(f"{name}={value}" for name, value in options if value is not None)
