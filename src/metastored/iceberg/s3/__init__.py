"""Access to the files of tables in S3 for clients without keys of their own: keys that expire, and signed requests.

It knows tables only by their directories. Who may read or write them is decided by `server/http/iceberg.py`.
"""
