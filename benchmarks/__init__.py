"""metastored measured side by side with the real Apache metastore, in the same run, by the same client.

    make bench                    all groups
    make bench ARGS="slice"       one group; --quick for a short look

A figure is a ratio to a peer in the same run; absolute times depend on the machine.
"""
