"""The synchronous half of the client is made from the asynchronous one, and is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import unasync


def test_await_is_removed_and_names_are_replaced() -> None:
    text = """from metastored.client._backend import aio as io
from metastored.client._async.pool import AsyncPool

class AsyncLock:
    async def __aenter__(self) -> AsyncOperationResp:
        async with self.lock() as held:
            async for each in held:
                await each.wait(await self.more())
"""
    assert unasync.synchronous(text, "x.py").splitlines()[1:] == [
        "from metastored.client._backend import threads as io",
        "from metastored.client._sync.pool import Pool",
        "",
        "class Lock:",
        "    def __enter__(self) -> AsyncOperationResp:",
        "        with self.lock() as held:",
        "            for each in held:",
        "                each.wait(self.more())",
    ]


@pytest.mark.slow
def test_the_written_file_is_current_and_a_change_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert unasync.main(check=True) == 0
    source, target = tmp_path / "_async", tmp_path / "_sync"
    source.mkdir()
    (source / "one.py").write_text("async def f() -> None: ...\n")
    for name, value in (("ROOT", tmp_path), ("PACKAGES", (tmp_path,))):
        monkeypatch.setattr(unasync, name, value)
    assert unasync.main(check=True) == 1
    assert unasync.main(check=False) == 0
    assert (target / "one.py").read_text().endswith("def f() -> None: ...\n")
    (target / "stale.py").write_text("")
    assert unasync.main(check=True) == 1
    assert "_sync/stale.py has no source" in capsys.readouterr().out
    assert unasync.main(check=False) == 0
    assert unasync.main(check=True) == 0
