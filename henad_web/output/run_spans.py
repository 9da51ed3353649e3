"""Many run ids in few numbers, as a manifest keeps them and as people read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

__all__ = ["RunSpan", "SpanBuilder", "ids_in", "span_text"]


class RunSpan(msgspec.Struct, frozen=True, array_like=True):
    """The ids `first`, `first + step` and so on to `last`, which is one of them; a file keeps the three numbers."""

    first: int
    last: int
    step: int = 1

    def __iter__(self) -> Iterator[int]:
        """Yield the ids, ascending."""
        return iter(range(self.first, self.last + 1, self.step))

    def __str__(self) -> str:
        """Return ``7``, ``0-5``, ``1, 4`` or ``1-7 by 3``."""
        if self.first == self.last:
            return str(self.first)
        if self.first + self.step == self.last and self.step > 1:
            return f"{self.first}, {self.last}"
        text = f"{self.first}-{self.last}"
        return text if self.step == 1 else f"{text} by {self.step}"


class SpanBuilder:
    """Collects ids that mostly ascend. A sweep, a shard of one, and added replicates each stay a handful of spans."""

    __slots__ = ("_closed", "_first", "_last", "_step")

    def __init__(self) -> None:
        self._closed: list[RunSpan] = []
        self._first, self._last, self._step = -1, -1, 0

    def add(self, run_id: int) -> None:
        """Add `run_id`, not added before; one below the last starts a span of its own."""
        if self._first < 0:
            self._first = self._last = run_id
        elif run_id > self._last and self._step in (0, run_id - self._last):
            self._step, self._last = run_id - self._last, run_id
        else:
            self._close()
            self._first = self._last = run_id

    def spans(self) -> tuple[RunSpan, ...]:
        """Return what was added so far."""
        tail = () if self._first < 0 else (RunSpan(self._first, self._last, self._step or 1),)
        return (*self._closed, *tail)

    def _close(self) -> None:
        self._closed.append(RunSpan(self._first, self._last, self._step or 1))
        self._step = 0


def ids_in(spans: Iterable[RunSpan]) -> Iterator[int]:
    """Yield every id of `spans`."""
    for span in spans:
        yield from span


def span_text(run_ids: Iterable[int]) -> str:
    """Return `run_ids` in words, such as ``0-5, 9``; ``none`` for none."""
    builder = SpanBuilder()
    for run_id in sorted(run_ids):
        builder.add(run_id)
    return ", ".join(map(str, builder.spans())) or "none"
