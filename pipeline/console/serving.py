"""`foresail console`: the server of one console, from its settings to its end."""

import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from foresail.pipeline.console.access import LOOPBACK
from foresail.pipeline.console.app import make_app
from foresail.pipeline.console.state import open_console
from foresail.pipeline.errors import InputError
from foresail.pipeline.settings import Settings


class _Uvicorn(uvicorn.Server):
    """Ends in order at Ctrl-C and SIGTERM, and leaves it at that: others in this process have to end too."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Have both signals end the server while it runs; its own way would raise them once more afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class Server:
    """A console on a port; `run` returns when it has been stopped."""

    def __init__(self, settings: Settings, host: str, port: int) -> None:
        check_source(settings)
        own = settings.console
        if (own.tls_certificate is None) != (own.tls_key is None):
            msg = "console.tls_certificate: goes with console.tls_key. Name both files, or none."
            raise InputError(msg)
        self._socket = _listening(host, port)
        self.port = int(self._socket.getsockname()[1])
        self.console = open_console(settings, host)
        scheme = "https" if own.tls_certificate else "http"
        token = f"/?token={self.console.access.token}" if self.console.access.token else "/"
        shown = f"[{host}]" if ":" in host else host
        self.address = f"{scheme}://{shown}:{self.port}{token}"
        self.is_open = host not in LOOPBACK and not own.tls_certificate
        self._server = _Uvicorn(
            uvicorn.Config(
                make_app(self.console, host),
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=3,
                proxy_headers=False,
                server_header=False,
                ssl_certfile=str(own.tls_certificate) if own.tls_certificate else None,
                ssl_keyfile=str(own.tls_key) if own.tls_key else None,
            )
        )

    def run(self) -> None:
        """Serve until Ctrl-C or `stop`."""
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """End, from another thread."""
        self.console.hub.close()
        self._server.should_exit = True


def check_source(settings: Settings) -> None:
    """Refuse settings that name nothing to read."""
    if settings.stream.output is None and not (settings.kafka.bootstrap_servers and settings.stream.to_kafka):
        msg = "console: nothing to read. Set kafka.bootstrap_servers, or stream.output of a line without Kafka."
        raise InputError(msg)
    if not settings.stream.tracks:
        msg = "stream.tracks: is off, so the line does not tell where tracks are. Set it to true for the console."
        raise InputError(msg)


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)
    except OSError as error:
        found.close()
        msg = f"--port {port}: cannot listen on {host} ({error.strerror}). Name a free one, or 0 to have one chosen."
        raise InputError(msg) from None
    return found
