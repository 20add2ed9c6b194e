"""`python -m torsor` is the command line."""

from .cli import main

main()
