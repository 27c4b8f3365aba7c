"""Checks run.py against a small server of its own:  run.py --self-test"""
import http.server
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve()

GOOD = r"""# Passes as it stands.
--- request
POST /echo?x=1
X-Test: yes

{"a": "ä", "b": [1, 2]}
--- response
200
content-type: application/json
x-test: {{re:y(es|up)}}

{
  "id": "{{id}}",
  "created": {{int}},
  "took_ms": {{number}},
  "path": "/echo?x=1",
  "got": {
    "a": "ä",
    "b": [
{{...}}
    ]
  }
}
--- request
GET /stream
--- response
200
content-type: text/event-stream

data: {"n":0,"text":"{{string}}"}

{{...}}
data: [DONE]
--- request
GET /nothing
--- response
404
--- raw
GET /stream HTTP/1.1\r\n
Host: h\r\n\r\n
--- response
200
x-absent: (absent)
"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0

    def answer(self, status, kind, body, extra=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in extra:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        Handler.count += 1
        got = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = {"id": f"x-{Handler.count}", "created": 1000 + Handler.count, "took_ms": 0.5 * Handler.count,
                "path": self.path, "got": got}
        self.answer(200, "application/json", json.dumps(body).encode(), [("X-Test", self.headers.get("X-Test", "no"))])

    def do_GET(self):
        if self.path == "/health/ready":
            self.answer(200, "text/plain", b"ok")
        elif self.path == "/stream":
            events = [json.dumps({"n": n, "text": 'a "b"\n'}, separators=(",", ":")) for n in range(3)] + ["[DONE]"]
            self.answer(200, "text/event-stream", "".join(f"data: {e}\n\n" for e in events).encode())
        else:
            self.answer(404, "text/plain", b"not here")

    def log_message(self, *_):
        pass


def serve(port):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown).start())
    server.serve_forever()


def main():
    failures = []

    def check(what, good):
        print(("ok     " if good else "FAILED ") + what)
        if not good:
            failures.append(what)

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "case.test"

        def run(text, *flags):
            path.write_text(text)
            server = f"{sys.executable} {HERE} --serve {{port}}"
            done = subprocess.run([sys.executable, str(HERE.parent / "run.py"), "--server", server, *flags, str(path)],
                                  capture_output=True, text=True)
            return done.returncode, done.stdout + done.stderr

        code, output = run(GOOD)
        check("a fitting transcript passes", code == 0 and "1 of 1" in output)
        if code:
            print(output)
        for what, old, new, shown in [
            ("a wrong status", "\n404", "\n403", "+404"),
            ("a wrong header", "text/event-stream", "text/plain", "+content-type: text/event-stream"),
            ("a wrong value", '"path": "/echo?x=1"', '"path": "/other"', '+  "path": "/echo?x=1"'),
            ("a missing line", "data: [DONE]", "data: [DONE]\n\ndata: more", "-data: more"),
            ("a placeholder that does not fit", '"id": "{{id}}"', '"id": "{{int}}"', '+  "id": "x-'),
            ("an unknown placeholder", "{{int}}", "{{integer}}", "unknown placeholder {{integer}}"),
            ("a section without an answer", "--- raw", "--- request\nGET /\n--- raw", "must alternate"),
        ]:
            code, output = run(GOOD.replace(old, new, 1))
            check(f"{what} fails and is shown", code == 1 and shown in output)
            if shown not in output:
                print(output)
        broken = GOOD.replace('"path": "/echo?x=1"', '"path": "/other"').replace("\n404", "\n403")
        code, output = run(broken, "--update")
        updated = path.read_text()
        check("--update mends what differs", code == 0 and '"path": "/echo?x=1"' in updated and "\n404" in updated)
        check("--update keeps placeholders and comments",
              all(p in updated for p in ['"{{id}}"', "{{int}}", "{{number}}", "{{re:y(es|up)}}", "# Passes"]))
        code, output = run(updated)
        check("what --update wrote passes", code == 0)
        bare = "--- request\nPOST /echo\n\n{}\n--- response\n200\n\n?\n"
        run(bare, "--update")
        check("--update puts placeholders in", '"id": "{{id}}"' in path.read_text() and "{{number}}" in path.read_text())
        code, output = run(path.read_text())
        check("and they pass", code == 0)
    return 1 if failures else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(int(sys.argv[2]))
    else:
        sys.exit(main())
