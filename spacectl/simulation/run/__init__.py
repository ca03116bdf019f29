"""One closed-loop run: arguments, functions, events, failures."""
