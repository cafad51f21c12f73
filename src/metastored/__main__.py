"""`python -m metastored` is the command `metastored`."""

from metastored.cli import main

if __name__ == "__main__":
    main()
