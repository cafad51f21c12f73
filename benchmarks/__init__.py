"""metastored measured side by side with the real Apache metastore, in the same run, by the same client.

    make bench                    all groups, published in docs/concepts/performance.md
    make bench ARGS="slice"       one group; the figures of the others stay; --quick for a short look
    make bench ARGS="--publish"   measures nothing; publishes the figures
    make bench-check              measures nothing; fails if a row is below its limit
    make bench ARGS="--release"   measures nothing; later figures are compared with these

A figure is a ratio to a peer in the same run; absolute times depend on the machine.
"""
