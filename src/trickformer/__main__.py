"""Entry point of the command line, also as `python -m trickformer` and `accelerate launch -m trickformer`."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from trickformer import cli
    except KeyboardInterrupt:  # Ctrl-C while Python imports it, in the first second
        sys.exit(130)
    cli.main()


if __name__ == "__main__":
    main()
