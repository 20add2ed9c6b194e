"""A page on this machine alone: a server on 127.0.0.1 that answers only requests with its token."""

import hmac
import json
import secrets
import threading
import time
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np

from ..errors import OptionError
from ..lie import pose_stacks
from .viewer_page import escape, page_with, viewer_page

HOST = "127.0.0.1"
RELOAD = b'{"reload":true}'
BETWEEN = 1 / 60  # seconds between two pictures of a simulation
SILENT = 15.0  # seconds after which a line without content is sent, so that a closed page is noticed


class PageServer(ThreadingHTTPServer):
    """Serves one page, its data, and news about it.

    data     what the page shows
    token    without which every request is refused
    """

    daemon_threads = True
    allow_reuse_address = False

    def __init__(self, data: dict[str, Any], port: int = 0):
        self.data, self.token = data, secrets.token_urlsafe(24)
        self.news: list[bytes] = []
        self.first = 0  # number of the first of the news that is kept
        self.changed = threading.Condition()
        self.ended = False
        self.fetched: Any = None  # the data that a page has loaded last
        self.simulation: Any = None
        self.last = -BETWEEN
        try:
            super().__init__((HOST, port), Handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise OptionError(
                f"view: port {port} of {HOST} cannot be used: {why}; leave it out, and a free one is taken"
            ) from None
        self.thread = threading.Thread(target=self.serve_forever, name="torsor view", daemon=True)
        self.thread.start()

    @property
    def address(self) -> str:
        """The address of the page, with its token."""
        return f"http://{HOST}:{self.server_address[1]}/?token={self.token}"

    def handle_error(self, request, client_address):
        """A browser that goes away is no error."""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to all pages that listen; the last ones are kept for a page that is busy."""
        with self.changed:
            self.news.append(escape(message).encode())
            if len(self.news) > 1000:
                del self.news[:500]
                self.first += 500
            self.changed.notify_all()

    def update(self) -> None:
        """Show a `ts.Simulation` as it is now: after each `advance`, as often as one likes."""
        if self.simulation is None:
            raise OptionError("update: this page does not show a torsor.Simulation")
        if (now := time.monotonic()) - self.last < BETWEEN:
            return
        self.last = now
        motion = self.simulation.state.motion
        q = pose_stacks.quaternions(motion["rotation"])
        poses = [[*x, *r] for x, r in zip(motion["position"].tolist(), q.tolist())]
        signals = {name: float(x) for name, x in self.simulation.coordinates.items() if np.ndim(x) == 0}
        self.send({"time": float(self.simulation.time), "poses": poses, "signals": signals})

    def show(self, data: dict[str, Any]) -> None:
        """Show something else: pages load it at once."""
        self.data = data
        self.send(json.loads(RELOAD))

    def close(self) -> None:
        """End the server."""
        if not self.ended:
            self.ended = True
            with self.changed:
                self.changed.notify_all()
            self.shutdown()
            self.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"<View of {self.data['name']!r} at {self.address}>"


class Handler(BaseHTTPRequestHandler):
    """Answers one browser."""

    server: PageServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "torsor", ""

    def log_message(self, format, *given):
        """Nothing is printed for requests."""

    def do_GET(self):
        parts = urlsplit(self.path)
        token = parse_qs(parts.query).get("token", [""])[0]
        host = (self.headers.get("Host") or "").rsplit(":", 1)[0]
        if host not in (HOST, "localhost") or not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return self._answer(
                403, b"torsor: this page needs its token: open the address that was printed", "text/plain"
            )
        if parts.path == "/":
            page = page_with({"live": True, "token": token})
            return self._answer(200, page.encode(), "text/html; charset=utf-8")
        if parts.path == "/data":
            self.server.fetched = self.server.data
            return self._answer(200, escape(self.server.data).encode(), "application/json")
        if parts.path == "/live":
            return self._stream()
        return self._answer(404, b"torsor: no such page", "text/plain")

    def _answer(self, status, content, kind):
        self.send_response(status)
        headers = {
            "Content-Type": kind, "Content-Length": str(len(content)), "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "SAMEORIGIN",
        }  # fmt: skip
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def _stream(self):
        """News as server-sent events, until the page or the server goes away."""
        server = self.server
        self.send_response(200)
        for name, value in {
            "Content-Type": "text/event-stream",
            "Cache-Control": "no-store",
            "Connection": "close",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        at = server.first + max(len(server.news) - 1, 0)  # the last of the news, which may be older than this page
        if server.news[-1:] == [RELOAD] and server.fetched is server.data:
            at += 1
        while not server.ended:
            with server.changed:
                if at >= server.first + len(server.news):
                    server.changed.wait(SILENT)
                at = max(at, server.first)
                waiting = server.news[at - server.first :]
                at = server.first + len(server.news)
            content = b"".join(b"data: " + x + b"\n\n" for x in waiting) or b": \n\n"
            self.wfile.write(content)
            self.wfile.flush()
        self.close_connection = True


def serve(data: dict[str, Any], open_browser: bool = True, port: int = 0) -> PageServer:
    """Serve a page and open it in the browser; where there is none, the address is printed."""
    viewer_page()  # where it cannot be built, this is the time to say so
    server = PageServer(data, port)
    opened = False
    if open_browser:
        try:
            opened = webbrowser.open(server.address)
        except webbrowser.Error:
            opened = False
    how = "" if opened or not open_browser else " (no browser could be started: open this address in one)"
    print(f"torsor: {data['name']} is shown at {server.address}{how}", flush=True)
    return server
