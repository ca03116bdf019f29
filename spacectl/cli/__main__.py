"""``python -m spacectl.cli``: the command line without its installed entry point."""

from spacectl.cli.main import main

if __name__ == "__main__":
    main()
