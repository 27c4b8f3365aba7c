"""Starts and stops the servers that benchmarks and client tests talk to."""
import contextlib, json, os, pathlib, signal, socket, subprocess, tempfile, time, urllib.error, urllib.request


CPUS = str(len(os.sched_getaffinity(0)))  # as many threads for a peer as ours takes by itself


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A server process on loopback. `command` holds {port} where the port goes."""

    def __init__(self, name, command, ready="/health", timeout=120, env=None):
        self.name, self.port = name, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = tempfile.NamedTemporaryFile(prefix=f"{name}-", suffix=".log", delete=False)
        command = [part.replace("{port}", str(self.port)) for part in command]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT,
                                        env={**os.environ, **(env or {})})
        deadline = time.monotonic() + timeout
        while True:
            if self.process.poll() is not None:
                raise SystemExit(f"{name} exited with {self.process.returncode}:\n{self.tail()}")
            with contextlib.suppress(OSError, urllib.error.URLError):
                if urllib.request.urlopen(self.url + ready, timeout=5).status == 200:
                    return
            if time.monotonic() > deadline:
                self.kill()
                raise SystemExit(f"{name} was not ready after {timeout} s:\n{self.tail()}")
            time.sleep(0.05)

    def tail(self, lines=30):
        return "\n".join(pathlib.Path(self.log.name).read_text(errors="replace").splitlines()[-lines:])

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as response:
            return response.read().decode()

    def post(self, path, body, timeout=600):
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return json.loads(response.read())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self, timeout=60):
        """SIGTERM and wait; returns the exit status (None: had to be killed)."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                return None
        with contextlib.suppress(OSError):
            os.unlink(self.log.name)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def reprise(binary, model, *flags, **kwargs):
    return Server("reprise", [binary, "serve", "--model", model, "--port", "{port}", *flags], "/health/ready", **kwargs)


def llama(folder, model, *flags, **kwargs):
    return Server("llama-server", [os.path.join(folder, "llama-server"), "-m", model, "--port", "{port}", "--host", "127.0.0.1",
                                   "--no-webui", *flags], "/health", **kwargs)
