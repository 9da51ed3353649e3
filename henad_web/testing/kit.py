"""All checks of a model in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from henad_web.errors import UsageError, near_miss
from henad_web.model.entry import EntryGiven, checked_entry
from henad_web.model.faults import Blame, Phase, fault_of
from henad_web.testing import behaviour, hygiene
from henad_web.testing.course import Subject, build, fingerprint, follow, resized
from henad_web.testing.report import Check, CheckFailure, CheckSkip, Inapplicable, ModelReport, Violation

__all__ = ["FEWEST_TICKS", "OtherProcess", "check_model"]

FEWEST_TICKS = 8
"""Fewer show too little of a model."""

OtherProcess = Callable[[Subject], str]
"""Follows the subject in another process and returns the fingerprint of its course."""

_CHECKS: Mapping[Check, Callable[[Subject], None]] = {
    Check.BUILD: behaviour.builds_and_counts,
    Check.UNSEEDED: behaviour.builds_unseeded,
    Check.STATS: behaviour.statistics_are_declared,
    Check.GRID: behaviour.grid_is_drawable,
    Check.PARAMS: behaviour.live_params_apply,
    Check.ACTIONS: behaviour.actions_do_something,
    Check.SAME_SEED: behaviour.equal_seeds_give_equal_runs,
    Check.SEED_SENSITIVITY: behaviour.seeds_make_a_difference,
    Check.SLICES: behaviour.slices_change_nothing,
    Check.CADENCE: behaviour.reading_changes_nothing,
    Check.NEIGHBOURS: behaviour.neighbours_change_nothing,
    Check.BATCHES: behaviour.batches_change_nothing,
    Check.CLOCKS: hygiene.asks_nothing_of_the_system,
    Check.PORTABLE: hygiene.is_portable,
    Check.PICKLING: hygiene.survives_pickling,
    Check.SWEEP: behaviour.sweeps,
}

_NEED_EXACT_REPLAY = frozenset(
    {Check.UNSEEDED, Check.SAME_SEED, Check.SLICES, Check.CADENCE, Check.NEIGHBOURS, Check.BATCHES, Check.OTHER_PROCESS}
    | {Check.PICKLING, Check.SWEEP, Check.PORTABLE, Check.CLOCKS}
)


def check_model(
    entry: EntryGiven,
    *,
    params: Mapping[str, object] | None = None,
    ticks: int = 20,
    seed: int = 1,
    exempt: Mapping[str, str] | None = None,
    fingerprint: str | None = None,
    other_process: OtherProcess | None = None,
) -> ModelReport:
    """Check whether a model keeps the rules by which equal studies have equal results on every target.

    Args:
        entry: The model.
        params: Values to check it with. What is not given takes its default, and sizes (sides of a grid, numbers of
            agents) at most 128 and 256.
        ticks: Length of a run, at least 8.
        seed: Seed of the run that others are compared with, 0 to 2^64 - 101.
        exempt: Rules that it is to break, each with the reason. One that it keeps after all is a failure.
        fingerprint: That of a report made on another target, which this one is to equal.
        other_process: Follows the model in another process, where there are any; `henad check` has one.

    Returns:
        What was found. Nothing is raised for a model that is wrong.

    Raises:
        UsageError: `entry` is no model, `ticks` or `seed` is out of range, or there is no such rule.
        ParamError: A parameter is unknown, or a value is not allowed for it.

    Example:
        >>> import henad_web as hw
        >>> from henad_web.testing import check_model
        >>> report = check_model(hw.example_models()["game_of_life"])
        >>> report.is_ok, [str(skip.check) for skip in report.skipped]
        (True, ['other_process'])
    """
    model = checked_entry(entry)
    reasons = _checked_exemptions(exempt or {})
    if not (isinstance(ticks, int) and ticks >= FEWEST_TICKS):
        raise UsageError(f"ticks is {ticks!r}; allowed: a whole number, at least {FEWEST_TICKS}")
    if not (isinstance(seed, int) and 0 <= seed < _SEEDS):
        raise UsageError(f"seed is {seed!r}; allowed: a whole number, 0 to 2^64 - 101")
    subject = Subject(entry=model, params=resized(model, params or {}), seed=seed, ticks=ticks)
    return _Kit(subject, reasons, fingerprint, other_process).report()


_SEEDS = (1 << 64) - 100


def _checked_exemptions(exempt: Mapping[str, str]) -> dict[Check, str]:
    for name, reason in exempt.items():
        if name not in list(Check):
            hint = near_miss(str(name), list(Check))
            raise UsageError(f"there is no rule '{name}' to exempt; {hint or 'allowed: ' + ', '.join(Check)}")
        if not (isinstance(reason, str) and reason.strip()):
            raise UsageError(f"the exemption of '{name}' has no reason; give it in words")
    return {Check(name): reason for name, reason in exempt.items()}


class _Kit:
    """The checks of one subject under way, and what came of them."""

    def __init__(
        self, subject: Subject, exempt: Mapping[Check, str], expected: str | None, other_process: OtherProcess | None
    ) -> None:
        self._subject, self._exempt, self._expected = subject, exempt, expected
        self._other_process = other_process
        self._globals = hygiene.Globals(subject.entry)
        self._passed: list[Check] = []
        self._failures: list[CheckFailure] = []
        self._skipped: list[CheckSkip] = []
        self._fingerprint: str | None = None

    def report(self) -> ModelReport:
        """Make every check, and tell."""
        if self._run(Check.BUILD, self._follow):
            checks = {
                **_CHECKS,
                Check.GLOBALS: self._globals.are_left_alone,
                Check.PORTABLE: self._is_portable,
                Check.OTHER_PROCESS: self._goes_on_elsewhere,
            }
            for check in Check:
                if check is not Check.BUILD:
                    self._run(check, checks[check])
        else:
            rest = [check for check in Check if check is not Check.BUILD]
            self._skipped += [CheckSkip(check, "it needs a model that builds and steps") for check in rest]
        return ModelReport(
            model=self._subject.entry.id,
            passed=tuple(self._passed),
            failures=tuple(self._failures),
            skipped=tuple(self._skipped),
            fingerprint=self._fingerprint,
        )

    def _run(self, check: Check, look: Callable[[Subject], None]) -> bool:
        """Make one check, and return whether its rule was kept."""
        if check in _NEED_EXACT_REPLAY and not self._subject.entry.metadata.replays_exactly:
            self._skipped.append(CheckSkip(check, "it declares replays_exactly=False"))
            return True
        wrong, reason = self._found(look)
        if check in self._exempt and wrong is not None:
            self._skipped.append(CheckSkip(check, f"exempt: {self._exempt[check]}"))
            return True
        if check in self._exempt:
            why = "does not apply" if reason is not None else "is kept"
            wrong = f"the rule {why}, and is exempt; take the exemption away"
        if wrong is not None:
            self._failures.append(CheckFailure(check, wrong))
        elif reason is not None:
            self._skipped.append(CheckSkip(check, reason))
        else:
            self._passed.append(check)
        return wrong is None

    def _found(self, look: Callable[[Subject], None]) -> tuple[str | None, str | None]:
        """Return what is wrong by `look`, or why it does not apply."""
        with Blame(Phase.STEPPING, self._subject.entry.source_file) as blame:
            look(self._subject)
        match blame.error:
            case None:
                return None, None
            case Inapplicable() as error:
                return None, str(error)
            case Violation() as error:
                return str(error), None
            case error:
                return fault_of(Phase.STEPPING, error, self._subject.entry.source_file).text, None

    def _follow(self, subject: Subject) -> None:
        behaviour.builds_and_counts(subject)
        self._fingerprint = fingerprint(follow(build(subject, subject.seed), subject.ticks))

    def _is_portable(self, subject: Subject) -> None:
        hygiene.is_portable(subject)
        if self._expected is not None and self._expected != self._fingerprint:
            raise Violation(f"its course has the fingerprint {self._fingerprint} here, and {self._expected} elsewhere")

    def _goes_on_elsewhere(self, subject: Subject) -> None:
        if self._other_process is None:
            raise Inapplicable("no other process was given; henad check has one")
        there = self._other_process(subject)
        if there != self._fingerprint:
            raise Violation(
                f"its course has the fingerprint {self._fingerprint} here, and {there} in another process; "
                "does it go through a set of texts, or use an address?"
            )
