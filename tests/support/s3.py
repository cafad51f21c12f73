"""An S3 that runs on this machine: moto's server with one bucket, and the environment that leads clients to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import boto3

BUCKET = "lake"


class S3:
    """A running S3. `environment` is what a client needs: the endpoint, a region and credentials."""

    def __init__(self, endpoint: str) -> None:
        self.environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
        }
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def put(self, key: str, data: bytes = b"x") -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)

    def get(self, key: str) -> bytes:
        data: bytes = self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
        return data

    def every_key(self) -> list[str]:
        return self.keys("")

    def keys(self, prefix: str) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
        return [each["Key"] for page in pages for each in page.get("Contents", [])]

    def clear(self) -> None:
        """Removes every object of the bucket."""
        for key in self.every_key():
            self.client.delete_object(Bucket=BUCKET, Key=key)


@contextmanager
def empty_bucket(endpoint: str) -> Iterator[S3]:
    """The S3 at the endpoint of the fixture `glue`, with an empty bucket, which is removed afterwards."""
    s3 = S3(endpoint)
    with suppress(s3.client.exceptions.BucketAlreadyOwnedByYou):
        s3.client.create_bucket(Bucket=BUCKET)
    s3.clear()
    yield s3
    s3.clear()
    s3.client.delete_bucket(Bucket=BUCKET)
