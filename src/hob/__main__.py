"""The entry point of `hob` and `python -m hob`."""

import sys


def main() -> None:
    """Run the command line; `hob --version` is answered without loading anything."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from hob import __version__

        sys.stdout.write(f"hob {__version__}\n")
        return
    from hob.cli.table import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
