"""`layerscope view` as a process of a test: its address, its end, and requests to it."""

import contextlib
import http.client
import os
import re
import resource
import signal
import subprocess
import time

from e2e import program

START_S = 60
END_S = 10


class ViewServer:
    """A running viewer."""

    def __init__(self, process, url):
        self.process = process
        self.url = url
        self.port, self.token = re.fullmatch(r"http://localhost:(\d+)/\?token=([0-9a-f]+)", url).groups()
        self.port = int(self.port)

    def connection(self, host="127.0.0.1", timeout=60):
        return http.client.HTTPConnection(host, self.port, timeout=timeout)

    def get(self, target, method="GET", token=True, host=None, origin=None, headers=(), body=None,
            address="127.0.0.1"):
        """(status, headers, body) of one request on a connection of its own."""
        connection = self.connection(address)
        try:
            connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host if host is not None else f"localhost:{self.port}")
            if token:
                connection.putheader("Authorization", f"Bearer {self.token if token is True else token}")
            if origin is not None:
                connection.putheader("Origin", origin)
            for name, value in headers:
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def stop(self, signal_number=signal.SIGINT):
        """The exit status."""
        self.process.send_signal(signal_number)
        return self.process.wait(timeout=END_S)


@contextlib.contextmanager
def view(inputs, *options, stdin=None, descriptors=None):
    """Starts it on a port of the system's choice, and ends it. `descriptors`: how many it may have open."""
    arguments = [str(program.binary()), "view", *map(str, inputs), "--no-open", *map(str, options)]
    if "--port" not in options:
        arguments += ["--port", "0"]
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    process = subprocess.Popen(arguments, cwd=program.ROOT, stdin=stdin, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
                               preexec_fn=limit if descriptors else None)
    try:
        late = time.monotonic() + START_S
        line = process.stdout.readline().strip()
        if not line or time.monotonic() > late:
            process.kill()
            raise RuntimeError(f"{' '.join(arguments)}: {process.stderr.read().strip()}")
        yield ViewServer(process, line)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
