"""The application behind `henad`: its commands, and what an error becomes."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from henad_native.cli import STOPPED_LINE
from henad_native.cli.analyzing import analyze_command
from henad_native.cli.checking import check_command
from henad_native.cli.choices import BadOption
from henad_native.cli.consoles import ExitCode
from henad_native.cli.drawing import plot_command, report_command
from henad_native.cli.exporting import export_command
from henad_native.cli.importing import import_command
from henad_native.cli.pages import page_command, serve_command
from henad_native.cli.planning import plan_command
from henad_native.cli.resuming import merge_command, resume_command, verify_command
from henad_native.cli.running import run_command
from henad_native.cli.showing import describe_command, models_command, schema_command
from henad_native.cli.streams import Streams, standard_streams
from henad_native.cli.submitting import submit_app
from henad_web.errors import HenadError, UnknownModelError
from henad_web.version import VERSION

__all__ = ["app", "main"]

_INTERRUPTED = 128 + signal.SIGINT
"""What typer makes of a Ctrl-C that no command took, without a word."""

app = typer.Typer(
    name="henad",
    help="Parameter studies of agent-based models and cellular automata.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run_command)
app.command("plan")(plan_command)
app.command("resume")(resume_command)
app.command("merge")(merge_command)
app.command("analyze")(analyze_command)
app.command("plot")(plot_command)
app.command("report")(report_command)
app.command("models")(models_command)
app.command("check")(check_command)
app.command("describe")(describe_command)
app.command("verify")(verify_command)
app.command("export")(export_command)
app.command("import")(import_command)
app.command("schema")(schema_command)
app.command("serve")(serve_command)
app.command("page")(page_command)
app.add_typer(submit_app, name="submit")


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"henad-web {VERSION}")
        raise typer.Exit


@app.callback()
def _commands(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_tell_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Parameter studies of agent-based models and cellular automata."""
    context.obj.command = context.invoked_subcommand


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that `arguments` say, those of the process when None, and return its `ExitCode`.

    An error the package raises on purpose is printed in words, one problem a line; anything else is a
    defect and keeps its traceback.
    """
    with standard_streams() as streams:
        return streams.weighed(_exit_code(arguments, streams))


def _exit_code(arguments: Sequence[str] | None, streams: Streams) -> int:
    try:
        app(args=None if arguments is None else list(arguments), prog_name="henad", obj=streams)
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:
            print(STOPPED_LINE, file=sys.stderr)
            return ExitCode.ERROR
        return stop.code if isinstance(stop.code, int) else ExitCode.FINE
    except KeyboardInterrupt:
        print(STOPPED_LINE, file=sys.stderr)
        return ExitCode.ERROR
    except BadOption as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitCode.BAD_COMMAND_LINE
    except UnknownModelError as error:
        hint = "" if error.hint else "; one of your own is named with --models FILE.py"
        print(f"error: {error.wrong}{hint}", file=sys.stderr)
        return ExitCode.ERROR
    except HenadError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        return ExitCode.ERROR
    return ExitCode.FINE
