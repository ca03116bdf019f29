"""``python -m spacectl`` is the command line ``spacectl``."""

from spacectl.cli import main

main()
