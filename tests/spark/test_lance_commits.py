"""The commit of fragments without Spark: replies that are lost, conflicts, and rows that are never there twice."""

from __future__ import annotations

import json
import pickle
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance.fragment import FragmentMetadata
from lance_namespace import DeclareTableRequest

import metastored
from metastored.errors import ConversionError
from metastored.lance import Hive2Namespace
from metastored.spark.lance import commits
from metastored.spark.lance.commits import Job, commit, committed, connected, opened
from metastored.spark.lance.source import written
from metastored.testing import RunningServer, running_server

pytestmark = pytest.mark.slow

SCHEMA = pa.schema([("id", pa.int64())])


@pytest.fixture(autouse=True)
def _no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commits, "FIRST_WAIT", 0.0)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        with metastored.connect(running.uri) as client:
            client.create_database("shop")
        yield running


@pytest.fixture(params=["storage", "impl"])
def job(request: pytest.FixtureRequest, server: RunningServer) -> Iterator[Job]:
    """A job that creates a table."""
    name = f"t_{uuid.uuid4().hex}"
    with Hive2Namespace(uri=server.uri, managed_by=request.param) as namespace:
        declared = namespace.declare_table(DeclareTableRequest(id=["shop", name]))
        assert declared.location is not None
        yield Job(
            id="create",
            table_id=("shop", name),
            location=declared.location,
            storage_options={},
            change="create",
            schema=SCHEMA,
            read_version=None,
            namespace=pickle.dumps(namespace) if declared.managed_versioning else None,
        )


def fragments(job: Job, *ids: int) -> list[Any]:
    """Fragments as a task writes them, and as they come to the driver."""
    batch = pa.record_batch({"id": pa.array(ids, pa.int64())})
    return [FragmentMetadata.from_json(text) for text in written(job, iter([batch]))]


def appending(job: Job, id: str) -> Job:
    values = {name: getattr(job, name) for name in Job.__slots__}
    return Job(**{**values, "id": id, "change": "append", "read_version": content(job)[0]})


def content(job: Job) -> tuple[int, list[Any]]:
    """The newest version and its ids."""
    with connected(job) as managed:
        dataset = opened(job, managed)
        return dataset.version, sorted(dataset.to_table()["id"].to_pylist())


def ids(job: Job) -> list[Any]:
    return content(job)[1]


def test_fragments_of_many_tasks_are_one_version(job: Job) -> None:
    assert commit(job, [*fragments(job, 1, 2), *fragments(job, 3)]) == 1
    more = appending(job, "more")
    assert commit(more, [*fragments(more, 4), *fragments(more, 5)]) == 2
    assert ids(job) == [1, 2, 3, 4, 5]


def test_a_commit_whose_reply_is_lost_is_found_and_not_repeated(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(job, fragments(job, 1))
    more = appending(job, "lost")
    real = commits._commit
    calls = []

    def lossy(job: Job, parts: Any, managed: Any) -> int:
        calls.append(real(job, parts, managed))
        raise OSError("the reply was lost")

    monkeypatch.setattr(commits, "_commit", lossy)
    assert commit(more, fragments(more, 2)) == 2
    assert calls == [2]
    assert ids(job) == [1, 2]


def test_a_commit_that_had_no_effect_is_repeated(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(job, fragments(job, 1))
    more = appending(job, "again")
    real = commits._commit
    failures = [OSError("no route to host"), OSError("no route to host")]

    def failing(job: Job, parts: Any, managed: Any) -> int:
        if failures:
            raise failures.pop()
        return real(job, parts, managed)

    monkeypatch.setattr(commits, "_commit", failing)
    assert commit(more, fragments(more, 2)) == 2
    assert ids(job) == [1, 2]


def test_an_append_after_an_overwrite_by_somebody_else_is_repeated_on_the_new_version(job: Job) -> None:
    commit(job, fragments(job, 1))
    more, other = appending(job, "mine"), appending(job, "theirs")
    parts = fragments(more, 2)
    values = {name: getattr(other, name) for name in Job.__slots__}
    commit(Job(**{**values, "change": "overwrite"}), fragments(other, 9))
    assert commit(more, parts) == 3
    assert ids(job) == [2, 9]


def test_an_append_to_a_table_whose_columns_have_changed_is_refused(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(job, fragments(job, 1))
    more = appending(job, "late")
    parts = fragments(more, 2)
    values = {name: getattr(more, name) for name in Job.__slots__}
    other = Job(**{**values, "id": "other", "change": "overwrite", "schema": pa.schema([("id", pa.string())])})
    batch = pa.record_batch({"id": pa.array(["x"])})
    commit(other, [FragmentMetadata.from_json(text) for text in written(other, iter([batch]))])
    with pytest.raises(ConversionError, match="were changed"):
        commit(more, parts)
    assert ids(job) == ["x"]


def test_an_error_that_a_repetition_cannot_mend_is_raised_at_once(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def failing(job: Job, parts: Any, managed: Any) -> int:
        calls.append(job)
        raise TypeError("no fragments")

    monkeypatch.setattr(commits, "_commit", failing)
    with pytest.raises(TypeError):
        commit(job, [])
    assert len(calls) == 1
    assert committed(job) is None


def test_a_job_and_its_fragments_can_be_sent_to_other_processes(job: Job) -> None:
    copy = pickle.loads(pickle.dumps(job))
    texts = written(copy, iter([pa.record_batch({"id": pa.array([7], pa.int64())})]))
    assert all(isinstance(json.loads(text), dict) for text in texts)
    assert commit(copy, [FragmentMetadata.from_json(text) for text in texts]) == 1
    assert ids(job) == [7]


def test_files_of_tasks_that_were_not_committed_are_not_visible(job: Job, tmp_path: Path) -> None:
    commit(job, fragments(job, 1))
    fragments(appending(job, "abandoned"), 2, 3)
    assert ids(job) == [1]
    assert lance.dataset(job.location).count_rows() == 1
