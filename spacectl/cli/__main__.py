"""``python -m spacectl.cli ...``: the same as ``python -m spacectl ...``."""

from spacectl.cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
