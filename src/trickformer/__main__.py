"""Entry point of `python -m trickformer` and of `accelerate launch -m trickformer`."""

from trickformer.cli import main

if __name__ == "__main__":
    main()
