"""The demo: an old cluster with an Apache metastore, a new one with metastored, and one Spark that uses both.

    make demo           runs all steps and stops the servers
    make demo KEEP=1    leaves the servers running and prints their addresses

`data.py` generates the tables; `steps.py` has one function for each step; `show.py` prints; `__main__.py` starts the
servers and runs the steps. The demo needs Java 17 and what `make demo` installs, and nothing else from the network.
"""
