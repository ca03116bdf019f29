"""Turns ``python -m spacectl ...`` into the command line ``spacectl ...``; `cli` does the rest."""

from spacectl.cli import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
