"""``python -m kernel_learn.papers NAME --data FOLDER``: run a protocol, write its page."""

import argparse
from importlib import import_module
from pathlib import Path

from kernel_learn.datasets import find_data
from kernel_learn.papers import PROTOCOLS
from kernel_learn.papers.protocol import Protocol, read_records, run


def load_protocol(name: str) -> Protocol:
    """The protocol registered under a name."""
    module, function = PROTOCOLS[name].split(":")
    protocol: Protocol = getattr(import_module(module), function)()
    return protocol


def main(arguments: list[str] | None = None) -> None:
    """Run a protocol from the command line and write its page."""
    parser = argparse.ArgumentParser(prog="python -m kernel_learn.papers", description=__doc__)
    parser.add_argument("name", choices=sorted(PROTOCOLS), help="which experiment")
    parser.add_argument("--data", help="folder of the data sets (default: $KERNEL_LEARN_DATA)")
    parser.add_argument("--results", type=Path, default=Path("results"), help="JSON lines go here")
    parser.add_argument("--page", type=Path, help="write the Markdown page to this file")
    parser.add_argument("--only", default="", help="only cells whose key contains this")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    parser.add_argument("--render", action="store_true", help="write the page, run nothing")
    options = parser.parse_args(arguments)
    protocol = load_protocol(options.name)
    if options.render:
        records = list(read_records(options.results / f"{protocol.name}.jsonl"))
    else:
        records = run(
            protocol,
            find_data(options.data),
            options.results,
            only=lambda cell: options.only in cell.key,
            seconds=options.seconds,
        )
    page = protocol.render(records)
    if options.page:
        options.page.parent.mkdir(parents=True, exist_ok=True)
        options.page.write_text(page)
    else:
        print(page)


if __name__ == "__main__":
    main()
