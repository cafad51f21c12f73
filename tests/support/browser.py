"""A real browser without a window: Debian's Chromium looks at pages of a folder, and reports what it sees.

A page with a script opens each page in a frame, gives the frame each width, and posts its findings to the server of
this module on 127.0.0.1. The browser resolves no other name, has a profile of its own, and is ended by its process id.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, NamedTuple

PATIENCE: Final = 240.0
WATCH: Final = "/_watch"
REPORT: Final = "/_report"
INDEX: Final = "search/search_index.json"
"""Each page reads the index of the search and prepares it: half of the browser's time, and nothing that is looked at.
All pages but the first get one without entries."""

SCRIPT: Final = """
<!doctype html><meta charset="utf-8"><title>watch</title><body><script>
const pages = PAGES, widths = WIDTHS, found = [];
const wide = element => element.scrollWidth > element.clientWidth + 1;
const named = element => element.textContent.trim().slice(0, 60);
function look(frame, page, width) {
  const inside = frame.contentDocument, root = inside.documentElement;
  const bad = what => found.push([page, width, what]);
  const heading = inside.querySelector("h1");
  if (!heading || heading.getBoundingClientRect().height === 0) bad("no heading is shown");
  if (wide(root)) bad(`the page is ${root.scrollWidth} wide in a window of ${root.clientWidth}`);
  for (const code of inside.querySelectorAll("pre > code"))
    if (!code.closest(".language-text") && wide(code)) bad(`code is cut: ${named(code)}`);
  for (const image of inside.images)
    if (image.naturalWidth === 0) bad(`an image is not shown: ${image.src}`);
  for (const drawing of inside.querySelectorAll(".diagram svg"))
    if (drawing.getBoundingClientRect().height < 20) bad("a diagram is not shown");
  for (const entry of frame.contentWindow.performance.getEntriesByType("resource"))
    if (new URL(entry.name).origin !== location.origin) bad(`loaded from elsewhere: ${entry.name}`);
}
const drawn = window => new Promise(done => window.requestAnimationFrame(() => setTimeout(done, 0)));
const opened = (frame, page) => new Promise(done => {
  frame.onload = () => done();
  frame.src = "/" + page;
});
(async () => {
  const frame = document.createElement("iframe");
  document.body.append(frame);
  for (const page of pages) {
    await opened(frame, page);
    for (const width of widths) {
      frame.style.cssText = `width: ${width}px; height: 800px; border: 0`;
      await drawn(frame.contentWindow);
      look(frame, page, width);
    }
  }
  await fetch("REPORT", {method: "POST", body: JSON.stringify(found)});
})().catch(error => fetch("REPORT", {method: "POST", body: JSON.stringify([["", 0, String(error)]])}));
</script>
"""


class Finding(NamedTuple):
    """What is wrong with a page in a window of this width."""

    page: str
    width: int
    problem: str


class Seen(NamedTuple):
    findings: list[Finding]
    console: list[str]
    """What the pages wrote to the browser's console: warnings, and errors of their scripts."""


def missing() -> str | None:
    """Why no browser can be started here, as one sentence for a skip; None when one can."""
    if shutil.which("chromium") is None:
        return "there is no Chromium on this machine: make system installs it"
    return None


def look_at(folder: Path, pages: Sequence[str], widths: Sequence[int]) -> Seen:
    """Opens the pages of a folder, which are paths below it, in windows of these widths."""
    reported: list[list[Any]] = []
    ended, prepared = threading.Event(), threading.Event()
    index = folder / INDEX

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args, directory=str(folder))

        def do_GET(self) -> None:
            if self.path == f"/{INDEX}" and prepared.is_set():
                empty = {**json.loads(index.read_text("utf-8")), "docs": []}
                return self._send(json.dumps(empty), "application/json")
            if self.path == f"/{INDEX}" and index.exists():
                prepared.set()
            if self.path != WATCH:
                return super().do_GET()
            text = SCRIPT.replace("PAGES", json.dumps([*pages])).replace("WIDTHS", json.dumps([*widths]))
            self._send(text.replace("REPORT", REPORT), "text/html; charset=utf-8")

        def _send(self, text: str, kind: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            reported.extend(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            ended.set()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log = Path(profile) / "log"
        with log.open("wb") as output:
            browser = subprocess.Popen(
                [
                    "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                    "--no-first-run", "--disable-background-networking", "--disable-component-update",
                    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--enable-logging=stderr",
                    "--window-size=1400,1000", f"--user-data-dir={profile}/user",
                    f"http://127.0.0.1:{server.server_port}{WATCH}",
                ],
                stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env={"PATH": os.environ.get("PATH", os.defpath), "HOME": profile},
            )  # fmt: skip
            try:
                assert ended.wait(PATIENCE), log.read_text(errors="replace")[-3000:]
            finally:
                os.killpg(browser.pid, signal.SIGKILL)
                browser.wait()
                server.shutdown()
        console = [line for line in log.read_text(errors="replace").splitlines() if ":CONSOLE" in line]
    return Seen([Finding(*each) for each in reported], console)
