#!/usr/bin/env python3
"""Runs transcripts: what a client sends, and what the server must answer.

  run.py --server "build/release/src/app/reprise serve --model F" [FILE or FOLDER...]   starts it on a free port
  run.py --url http://127.0.0.1:8000 [FILE or FOLDER...]                                uses a running server
  --update rewrites the expected answers from what the server says; read the diff before committing it.

A transcript is a text file NAME.test:

    # Comments stand before the first section.
    --- request
    POST /v1/completions
    X-Header: value

    {"prompt": "hi"}
    --- response
    200
    content-type: application/json

    {
      "id": "{{id}}",
      "created": {{int}}
    }

Requests of a file are sent in order over one kept connection. A body is sent as it stands, without its last line
break; with a body, Content-Type is application/json unless given. Of a response, the status, the listed headers and
the body are compared. JSON bodies are compared in the form json.dumps(indent=2) gives them; event streams and text as
sent. Without a blank line after the headers the body is not compared.

`--- raw` instead of `--- request` sends exact bytes on a connection of its own: line breaks of the file are dropped,
\\r \\n \\t \\\\ and \\xNN are escapes.

In expected headers and bodies {{...}} stands for: {{int}}, {{number}}, {{id}} (letters, digits, _ and -), {{string}}
(the inside of a JSON string, possibly empty), {{any}} (the rest up to what follows, within the line), {{re:REGEX}}.
A line `{{...}}` alone stands for any number of lines. --update keeps placeholders wherever the line still fits, and
puts them in for fields that change from run to run (see VOLATILE).
"""
import argparse
import difflib
import http.client
import json
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

PLACEHOLDERS = {
    "int": r"-?\d+",
    "number": r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?",
    "id": r"[A-Za-z0-9_-]+",
    "string": r'(?:[^"\\\n]|\\.)*',
    "any": r"[^\n]*?",
}
# Fields that --update replaces: the key, and the placeholder of its value.
VOLATILE = [
    (re.compile(r'("id": ?)"[A-Za-z0-9_-]+"'), r'\1"{{id}}"'),
    (re.compile(r'("created(?:_at)?": ?)\d+'), r"\1{{int}}"),
    (re.compile(r'("[a-z_]+_ms": ?)-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'), r"\1{{number}}"),
    (re.compile(r'("[a-z_]+_per_(?:s|second)": ?)-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?'), r"\1{{number}}"),
]
ANY_LINES = "{{...}}"


class Malformed(Exception):
    """The transcript itself is wrong."""


def pattern(text):
    """The regular expression of an expected text."""
    out = []
    for line in text.split("\n"):
        if line.strip() == ANY_LINES:
            out.append(None)
            continue
        regex = ""
        for part in re.split(r"(\{\{(?:re:.*?|[a-z]+)\}\})", line):
            placeholder = re.fullmatch(r"\{\{(re:)?(.*)\}\}", part)
            if not placeholder:
                regex += re.escape(part)
            elif placeholder[1]:
                regex += f"(?:{placeholder[2]})"
            elif placeholder[2] in PLACEHOLDERS:
                regex += PLACEHOLDERS[placeholder[2]]
            else:
                raise Malformed(f"unknown placeholder {part}")
        out.append(regex)
    joined = ""
    for i, regex in enumerate(out):
        last = i + 1 == len(out)
        if regex is None:
            joined += r"(?:[^\n]*\n)*?" + (r"[^\n]*" if last else "")
        else:
            joined += regex + ("" if last else r"\n")
    return re.compile(joined)


def fits(expected, actual):
    return pattern(expected).fullmatch(actual) is not None


def merge(expected, actual):
    """The actual text, with the expected line wherever that fits: what is left differs."""
    old, new = expected.split("\n"), actual.split("\n")
    merged, at = [], 0
    for line in new:
        for i in range(at, len(old)):
            if old[i].strip() != ANY_LINES and fits(old[i], line):
                merged.append(old[i])
                at = i + 1
                break
        else:
            merged.append(line)
    return "\n".join(merged)


class Section:
    def __init__(self, kind, lines):
        self.kind = kind
        split = lines.index("") if "" in lines else None
        head = lines if split is None else lines[:split]
        self.body = None if split is None else "\n".join(lines[split + 1:])
        if not head and kind != "raw":
            raise Malformed(f"an empty --- {kind}")
        self.first = head[0].strip() if head else ""
        self.lines = lines
        self.headers = []
        for line in head[1:] if kind != "raw" else []:
            name, colon, value = line.partition(":")
            if not colon:
                raise Malformed(f"not a header: {line!r}")
            self.headers.append((name.strip(), value.strip()))

    def text(self):
        if self.kind == "raw":
            return "\n".join(["--- raw", *self.lines])
        lines = [f"--- {self.kind}", self.first, *(f"{n}: {v}" for n, v in self.headers)]
        if self.body is not None:
            lines += ["", self.body]
        return "\n".join(lines)


def parse(text):
    """The comment before the first section, and pairs of request and response."""
    preamble, sections = [], []
    for line in text.rstrip("\n").split("\n"):
        head = re.fullmatch(r"--- (request|raw|response)", line)
        if head:
            sections.append((head[1], []))
        elif sections:
            sections[-1][1].append(line)
        elif line and not line.startswith("#"):
            raise Malformed(f"before the first section only comments may stand: {line!r}")
        else:
            preamble.append(line)
    if not sections or len(sections) % 2:
        raise Malformed("requests and responses must alternate")
    pairs = []
    for (ask_kind, ask), (answer_kind, answer) in zip(sections[::2], sections[1::2]):
        if ask_kind == "response" or answer_kind != "response":
            raise Malformed("requests and responses must alternate")
        pairs.append((Section(ask_kind, ask), Section("response", answer)))
    return preamble, pairs


class Client:
    def __init__(self, url, timeout):
        parts = urllib.parse.urlsplit(url)
        self.address = (parts.hostname, parts.port or 80)
        self.timeout = timeout
        self.connection = http.client.HTTPConnection(*self.address, timeout=timeout)

    def ask(self, section):
        """(status, header lookup, body as compared)"""
        if section.kind == "raw":
            raw = re.sub(r"\\(x[0-9a-fA-F]{2}|.)", self.escape, "".join(section.lines)).encode("latin-1")
            with socket.create_connection(self.address, timeout=self.timeout) as connection:
                connection.sendall(raw)
                response = http.client.HTTPResponse(connection)
                response.begin()
                return self.read(response)
        method, _, target = section.first.partition(" ")
        body = section.body.encode() if section.body else None
        headers = dict(section.headers)
        if body is not None and "content-type" not in {n.lower() for n in headers}:
            headers["Content-Type"] = "application/json"
        self.connection.request(method, target.split(" ")[0], body=body, headers=headers)
        return self.read(self.connection.getresponse())

    @staticmethod
    def escape(match):
        code = match[1]
        if code[0] == "x" and len(code) == 3:
            return chr(int(code[1:], 16))
        return {"r": "\r", "n": "\n", "t": "\t", "\\": "\\"}.get(code, code)

    @staticmethod
    def read(response):
        body = response.read().decode("utf-8", "backslashreplace")
        if response.getheader("content-type", "").startswith("application/json"):
            try:
                body = json.dumps(json.loads(body), indent=2, ensure_ascii=False)
            except ValueError:
                pass  # shown as it is; it will not match
        return response.status, response.getheader, body.replace("\r\n", "\n").rstrip("\n")


def seen(expected, answer):
    """The answer as a response section, with the headers that `expected` lists."""
    status, header, body = answer
    section = Section("response", [str(status)])
    section.headers = [(name, header(name) or "(absent)") for name, _ in expected.headers]
    section.body = body if expected.body is not None else None
    return section


def run_file(path, client, update):
    """The difference as text, "" when the file passes. With `update`, writes the file anew."""
    preamble, pairs = parse(path.read_text())
    problems, sections = [], []
    for ask, expected in pairs:
        answer = seen(expected, client.ask(ask))
        wanted = expected.text().rstrip("\n")
        actual = answer.text().rstrip("\n")
        ok = fits(wanted, actual)
        sections.append(ask.text())
        if ok or not update:
            sections.append(expected.text())
        else:
            for regex, replacement in VOLATILE:
                answer.body = regex.sub(replacement, answer.body) if answer.body else answer.body
            sections.append(merge(wanted, answer.text().rstrip("\n")))
        if not ok:
            diff = difflib.unified_diff(wanted.split("\n"), merge(wanted, actual).split("\n"), "expected", "answered",
                                        lineterm="", n=2)
            problems.append("\n".join([f"  {ask.first or 'raw'}", *("    " + line for line in diff)]))
    if update and problems:
        path.write_text("\n".join(preamble + sections) + "\n")
    return "\n".join(problems)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """The program under test, on a free port, until the end of the `with` block."""

    def __init__(self, command, ready, patience):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        words = shlex.split(command)
        if any("{port}" in word for word in words):
            self.command = [word.replace("{port}", str(self.port)) for word in words]
        else:
            self.command = [*words, "--port", str(self.port)]
        self.ready, self.patience = ready, patience

    def __enter__(self):
        self.log = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + self.patience
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", self.ready)
                if connection.getresponse().status == 200:
                    return self
            except OSError:
                pass
            time.sleep(0.1)
        self.stop()
        raise SystemExit(f"{shlex.join(self.command)} did not answer 200 on {self.ready}\n{self.tail()}")

    def tail(self):
        self.log.seek(0)
        return "".join("    | " + line for line in self.log.read().decode(errors="replace").splitlines(True)[-40:])

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def __exit__(self, *_):
        died = self.process.poll()
        code = self.stop()
        self.trouble = ""
        if died is not None:
            self.trouble = f"the server ended by itself with {died}\n{self.tail()}"
        elif code != 0:
            self.trouble = f"the server ended with {code} after SIGTERM, not 0\n{self.tail()}"


def run_all(paths, url, update, timeout):
    files = sorted({f for p in paths for f in (p.rglob("*.test") if p.is_dir() else [p])})
    if not files:
        raise SystemExit("no *.test files there")
    failed = 0
    for path in files:
        try:
            problem = run_file(path, Client(url, timeout), update)
        except Malformed as error:
            problem = f"  malformed transcript: {error}"
        except (OSError, http.client.HTTPException) as error:
            problem = f"  no answer: {type(error).__name__}: {error}"
        word = "ok     " if not problem else "updated" if update else "FAILED "
        print(f"{word} {path.name}", flush=True)
        if problem:
            print(problem, flush=True)
            failed += 1
    print(f"{len(files) - failed} of {len(files)} transcripts as expected")
    return failed == 0 or update


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--server", help="command to start; gets --port N, or N for {port}")
    arguments.add_argument("--url", help="a server that runs already")
    arguments.add_argument("--ready", default="/health/ready", help="path that answers 200 once the server is up")
    arguments.add_argument("--patience", type=float, default=180, help="seconds to wait for that")
    arguments.add_argument("--timeout", type=float, default=120, help="seconds to wait for an answer's next bytes")
    arguments.add_argument("--update", action="store_true")
    arguments.add_argument("--self-test", action="store_true", help="check this program")
    arguments.add_argument("paths", nargs="*", type=pathlib.Path)
    options = arguments.parse_args()
    if options.self_test:
        sys.path.insert(0, str(pathlib.Path(__file__).parent))
        import run_selftest
        return run_selftest.main()
    if bool(options.server) == bool(options.url):
        arguments.error("give either --server or --url")
    paths = options.paths or [pathlib.Path(__file__).parent]
    if options.url:
        return 0 if run_all(paths, options.url, options.update, options.timeout) else 1
    server = Server(options.server, options.ready, options.patience)
    with server:
        good = run_all(paths, server.url, options.update, options.timeout)
    if server.trouble:
        print(server.trouble)
    return 0 if good and not server.trouble else 1


if __name__ == "__main__":
    sys.exit(main())
