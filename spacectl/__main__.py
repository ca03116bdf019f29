"""``python -m spacectl ...``: the command line ``spacectl ...`` without its installed entry point."""

from spacectl.cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
