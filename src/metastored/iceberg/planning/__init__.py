"""Plans of scans on the server: which data files and delete files a client has to read. Data files are never opened.

    operations     the endpoints
    scans          requests, and the tokens of tasks
    expressions    filters in JSON
    planner        one plan: manifests that match, and the files of them
    scan_tasks     the JSON of files and deletes

Manifests are read by `model/iceberg`. pyiceberg evaluates filters, and is imported with the first plan.
"""
