"""metastored measured side by side with the real Apache metastore, in the same run, by the same client.

    make bench                    all groups
    make bench ARGS="slice"       one group; the figures of the others stay; --quick for a short look
    make bench ARGS="--publish"   measures nothing; writes the figures into docs/concepts/performance.md

A figure is a ratio to a peer in the same run; absolute times depend on the machine.
"""
