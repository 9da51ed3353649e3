"""Models for the tests of the command line, loaded there by ``--models tests.native.cli_models:NAME``."""

from __future__ import annotations

import os
import signal

from henad_web.model.entry import ModelSet
from tests.shared.toy_models import Divides, Inverse, Toy, entry_of


class PressesCtrlC(Toy):
    """Asks its own process to stop at tick 5, as a terminal would, and goes on."""

    def before_step(self) -> None:
        if self.tick == 5:
            os.kill(os.getpid(), signal.SIGINT)


class PressesCtrlCTwice(Toy):
    """Asks its own process to stop at tick 5, waits until that is heard, asks again, and goes on."""

    def before_step(self) -> None:
        if self.tick == 5:
            os.kill(os.getpid(), signal.SIGINT)
            while signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
                os.sched_yield()
            os.kill(os.getpid(), signal.SIGINT)


class Terminates(Toy):
    """Asks its own process to end at tick 5, as a batch system would, and goes on."""

    def before_step(self) -> None:
        if self.tick == 5:
            os.kill(os.getpid(), signal.SIGTERM)


class SignalsItself(Toy):
    """Sends its own process the signal that the environment names at tick 5, and goes on."""

    def before_step(self) -> None:
        if self.tick == 5:
            os.kill(os.getpid(), int(os.environ["HENAD_TEST_SIGNAL"]))


class KilledOnce(Divides):
    """Kills its own process at tick 5 of the value 2, unless the file that the environment names is there."""

    def before_step(self) -> None:
        if self.tick == 5 and self.value == 2:
            try:
                os.close(os.open(os.environ["HENAD_TEST_KILLED"], os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return
            os.kill(os.getpid(), signal.SIGKILL)


DIVIDES = entry_of(Divides, id="divides")
TOYS = ModelSet(
    [
        DIVIDES,
        entry_of(Inverse, id="inverse", stats=("Inverse",)),
        entry_of(PressesCtrlC, id="presses_ctrl_c"),
        entry_of(PressesCtrlCTwice, id="presses_ctrl_c_twice"),
        entry_of(Terminates, id="terminates"),
        entry_of(SignalsItself, id="signals_itself"),
        entry_of(KilledOnce, id="killed_once"),
    ]
)


def make_toys() -> ModelSet:
    """Return the toys, as a function does that a command line names."""
    return TOYS


NEITHER = "a text"
