"""`python -m trickformer`, and what `accelerate launch -m trickformer` starts."""

from trickformer.cli import main

if __name__ == "__main__":
    main()
