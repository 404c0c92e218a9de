"""A proxy that makes an older client of one that always offers the newest revision. Owns that change, and nothing else.

Whatever goes through arrives as it was sent, but for the revision that `initialize` names.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

_OF_ONE_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host", "date", "server"})
"""Headers that are about one connection, or that the proxy writes itself."""

_PIECE_BYTES = 65_536

_LOOK_SECONDS = 0.05
"""How often the proxy looks whether it is to end."""

_IDLE_SECONDS = 60.0
"""After which a silent server is given up; streams have a heartbeat well before."""


@contextmanager
def offering(revision: str, url: str) -> Generator[str]:
    """The address of a proxy before the server at `url`, whose clients offer that revision."""
    target = urlsplit(url)

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self._pass_on(_offered(self.rfile.read(int(self.headers.get("content-length", 0))), revision))

        def do_GET(self) -> None:
            self._pass_on(None)

        def do_DELETE(self) -> None:
            self._pass_on(None)

        def _pass_on(self, body: bytes | None) -> None:
            self.close_connection = True
            assert target.hostname is not None
            server = HTTPConnection(target.hostname, target.port, timeout=_IDLE_SECONDS)
            try:
                headers = {name: value for name, value in self.headers.items() if name.lower() not in _OF_ONE_HOP}
                host = self.headers.get("host", "")
                # A client that names the proxy means the server.
                headers["Host"] = target.netloc if host == f"127.0.0.1:{proxy.server_port}" else host
                server.request(self.command, self.path, body, headers)
                answer = server.getresponse()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in _OF_ONE_HOP:
                        self.send_header(name, value)
                self.send_header("Connection", "close")
                self.end_headers()
                while piece := answer.read1(_PIECE_BYTES):
                    self.wfile.write(piece)
                    self.wfile.flush()
            except (OSError, HTTPException):
                # One of the two is gone, as clients of streams go: so does the other.
                return
            finally:
                server.close()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as proxy:
        proxy.daemon_threads = True
        thread = threading.Thread(target=proxy.serve_forever, args=(_LOOK_SECONDS,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}{target.path}"
        finally:
            proxy.shutdown()
            thread.join()


def _offered(body: bytes, revision: str) -> bytes:
    """The body, with the revision in it where it is `initialize`."""
    try:
        message = json.loads(body)
    except ValueError:
        return body
    if not isinstance(message, dict) or message.get("method") != "initialize":
        return body
    return json.dumps({**message, "params": {**message["params"], "protocolVersion": revision}}).encode()
