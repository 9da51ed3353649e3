"""The native runner: one thread of its own pumps the sweep, the host only reads and commands.

Owns the thread, its waiting and its end at interpreter exit. What a pump does is the sweep's affair.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from contextlib import suppress

from henad_web.errors import ThreadStartError, UsageError
from henad_web.pumped import check_frame
from henad_web.run.control import After, Answer, Idle
from henad_web.run.lanes import RunView
from henad_web.sweep import Sweep

__all__ = ["VIEW_TIMEOUT_S", "ThreadedRunner"]

VIEW_TIMEOUT_S = 0.1
"""Seconds `view` waits for the thread to reach the end of its slice before it returns the latest view it has."""


class ThreadedRunner:
    """Pumps a sweep on a thread of its own.

    Args:
        sweep: The sweep; touched by no other thread from here on, but for its control, table and channel.

    Raises:
        ThreadStartError: The machine has no room for another thread, or the interpreter is ending.
    """

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._due = threading.Condition()
        self._is_due = False
        self._process = os.getpid()
        self._view = _ViewRequest()
        self._turns: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None
        sweep.channel.listener = self._signal_turn
        sweep.notify = self.notify
        self._thread = threading.Thread(target=self._run, name="henad-sweep", daemon=True)
        # A daemon thread would be cut off at exit: this hook ends the sweep in order first.
        atexit.register(self._end_at_exit)
        try:
            self._thread.start()
        except RuntimeError as error:
            atexit.unregister(self._end_at_exit)
            raise ThreadStartError(str(error)) from error

    def update(self, dt: float, budget_s: float | None = None) -> None:
        """Do nothing but check the call: the thread steps the sweep.

        Raises:
            UsageError: `dt` or `budget_s` is not finite or negative, or the call comes from inside a wake callback.
        """
        check_frame(dt, budget_s)
        self._refuse_own_thread("update")

    def notify(self) -> None:
        """Wake the thread: a command has come, or a lane's report."""
        if self._is_copy():
            return
        with self._due:
            self._is_due = True
            self._due.notify()

    def view(self) -> RunView | None:
        """Return the run in progress as it stood between two slices.

        Waits for the current slice, at most `VIEW_TIMEOUT_S`; a longer step shows the latest view there is.
        """
        if threading.current_thread() is self._thread or self._is_copy() or not self._thread.is_alive():
            return self._sweep.view()
        self._view.ask()
        self.notify()
        return self._view.wait(VIEW_TIMEOUT_S)

    def close(self) -> None:
        """Wait for the thread; the sweep is over or has been told to abort.

        Raises:
            UsageError: The call comes from inside a wake callback.
        """
        self._refuse_own_thread("close")
        self._thread.join()

    async def turn(self) -> None:
        """Return once an event has been sent since the last turn, or the sweep is over."""
        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = (loop, asyncio.Event())
            return  # look once more: an event may have come before there was anyone to tell
        changed = self._turns[1]
        if not self._sweep.is_over:
            await changed.wait()
        changed.clear()

    def _run(self) -> None:
        try:
            while not self._sweep.is_over:
                answer = self._sweep.pump()
                if self._is_copy():  # one that a model has made by forking
                    os._exit(0)
                self._view.answer(self._sweep)
                if isinstance(answer, (Idle, After)) and not self._sweep.is_over:
                    self._wait(answer)
        except KeyboardInterrupt:
            # Only the main thread is ever interrupted: here it is a callback's doing, and the sweep has told of it.
            if not self._sweep.is_over:
                raise
        finally:
            self._view.answer(self._sweep)
            self._signal_turn()
            atexit.unregister(self._end_at_exit)

    def _wait(self, answer: Answer) -> None:
        with self._due:
            if not self._is_due:
                self._due.wait(answer.seconds if isinstance(answer, After) else None)
            self._is_due = False

    def _signal_turn(self) -> None:
        if self._turns is None:
            return
        loop, changed = self._turns
        with suppress(RuntimeError):  # the loop that listened is closed; another one may have begun to by now
            loop.call_soon_threadsafe(changed.set)

    def _end_at_exit(self) -> None:
        if self._is_copy():
            return
        self._sweep.control.abort()
        self.notify()
        self._thread.join()

    def _is_copy(self) -> bool:
        """Return whether this process was forked off the sweep's: it has no such thread, and locks may stay held."""
        return os.getpid() != self._process

    def _refuse_own_thread(self, call: str) -> None:
        if threading.current_thread() is self._thread:
            raise UsageError(f"{call}() was called from inside a wake callback; call it from the host's own loop")


class _ViewRequest:
    """A view asked for by the host and answered by the thread between two slices."""

    def __init__(self) -> None:
        self._is_asked = False
        self._answered = threading.Event()
        self._latest: RunView | None = None

    def ask(self) -> None:
        self._answered.clear()
        self._is_asked = True

    def answer(self, sweep: Sweep) -> None:
        if self._is_asked:
            self._is_asked = False
            self._latest = sweep.view()
            self._answered.set()

    def wait(self, timeout_s: float) -> RunView | None:
        self._answered.wait(timeout_s)
        return self._latest
