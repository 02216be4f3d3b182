"""``python -m kernel_learn``: the command line."""

from kernel_learn.cli import main

if __name__ == "__main__":
    main()
