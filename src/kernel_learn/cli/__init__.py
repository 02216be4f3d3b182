"""The command line ``kernel-learn`` (extra ``cli``); every command imports what it needs."""

import signal
import sys


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code."""
    try:
        from kernel_learn.cli.app import app
    except ImportError as error:
        if "typer" not in str(error):
            raise
        print("The command line needs typer: install kernel-learn[cli].", file=sys.stderr)
        sys.exit(5)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)  # files are then left whole, as after Ctrl-C
    app(args=arguments, prog_name="kernel-learn")
