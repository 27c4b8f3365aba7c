#!/usr/bin/env python3
"""`reprise chat` as a person and as a pipe see it: on a terminal of its own, against the real server.

  terminal.py --reprise BINARY --model FILE

Standard library only. Prints one line a check; exits 1 at the first failure.
"""
import argparse, http.server, json, os, pathlib, pty, random, re, select, subprocess, sys, threading, time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tools/bench"))
import servers

parser = argparse.ArgumentParser()
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True)
args = parser.parse_args()
checks = 0


def check(condition, what, detail=""):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED {what}: {detail}")
    print(f"ok  {what}", flush=True)


class Screen:
    """A program on a terminal. `typed` goes in; `wait` returns what came out up to a pattern."""

    def __init__(self, *command):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ["NO_COLOR"] = "1"
            os.execv(command[0], command)
        self.text = ""

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait(self, pattern, timeout=120):
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, self.text, re.DOTALL)):
            ready, _, _ = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))
            try:
                piece = os.read(self.fd, 65536) if ready else b""
            except OSError:  # how Linux tells the end of a terminal
                piece = b""
            if not piece:
                sys.exit(f"FAILED the screen never showed {pattern!r}: {self.text!r}")
            self.text += piece.decode(errors="replace")
        shown, self.text = self.text[:found.end()], self.text[found.end():]
        return shown

    def status(self):
        for _ in range(600):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.1)
        sys.exit(f"FAILED the program does not end: {self.text!r}")


def piped(url, text):
    return subprocess.run([args.reprise, "chat", "--url", url, "--temperature", "0", "--max-tokens", "24"], input=text,
                          capture_output=True, text=True, timeout=300)


def on_a_pipe(server):
    question = "Name three colours."
    body = {"messages": [{"role": "user", "content": question}], "temperature": 0, "max_tokens": 24}
    whole = server.post("/v1/chat/completions", body)["choices"][0]["message"]["content"]
    chat = piped(server.url, question + "\n")
    check(chat.returncode == 0 and chat.stdout.rstrip("\n") == whole.rstrip("\n") and not chat.stderr,
          "pipe: the answer and nothing else", chat)
    chat = piped(server.url, "")
    check(chat.returncode == 1 and len(chat.stderr.splitlines()) == 1, "pipe: no prompt is an error of one line", chat)
    chat = piped("http://127.0.0.1:1", "x")
    check(chat.returncode == 1 and "cannot reach" in chat.stderr, "pipe: no server is an error of one line", chat)


def on_a_terminal(server):
    screen = Screen(args.reprise, "chat", "--url", server.url, "--max-tokens", "24")
    check(pathlib.Path(args.model).stem in screen.wait("> "), "terminal: names the model")
    screen.type("Name three colours.\n")
    shown = screen.wait(r"colours\..*tokens/s.*> ")  # the echo, the answer as it streams, its rate, the next prompt
    check("stopped" not in shown and "tokens at" in shown, "terminal: an answer, and its rate", shown)
    screen.type("/clear\n")
    screen.wait("> ")
    screen.type("\x04")
    check(screen.status() == 0, "terminal: Ctrl-D leaves with status 0")


class Scripted(http.server.BaseHTTPRequestHandler):
    """A server that says what the test wants, of one model."""
    protocol_version = "HTTP/1.1"

    def answer(self, status, body, kind="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def do_GET(self):
        self.answer(200, json.dumps({"data": [{"id": "m"}]}))

    def log_message(self, *_):
        pass


class Loading(Scripted):
    """A server that is loading when first asked."""
    refusals = 2

    def do_GET(self):
        if Loading.refusals > 0:
            Loading.refusals -= 1
            return self.answer(503, json.dumps({"error": {"message": "The model is still loading."}}))
        super().do_GET()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "here now"}}]})
        self.answer(200, f"data: {chunk}\n\ndata: [DONE]\n\n", "text/event-stream")


class Endless(Scripted):
    """A server whose answer goes on until the client hangs up, whatever a model would have said."""
    hung_up = threading.Event()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "on and "}}]})
        try:
            while True:
                self.wfile.write(f"data: {chunk}\n\n".encode())
                time.sleep(0.02)
        except OSError:
            Endless.hung_up.set()


def interrupted():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    screen = Screen(args.reprise, "chat", "--url", f"http://127.0.0.1:{server.server_port}")
    screen.wait("> ")
    screen.type("Tell a story.\n")
    screen.wait(r"on and on and ")
    screen.type("\x03")
    check("tokens/s" in screen.wait(r"stopped\s+> "), "terminal: Ctrl-C stops the answer, the rate is shown")
    check(Endless.hung_up.wait(30), "terminal: Ctrl-C hangs up, which ends the answer on the server")
    screen.type("\x04")
    check(screen.status() == 0, "terminal: the chat lives on after Ctrl-C")
    server.shutdown()


def while_loading():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Loading)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    chat = piped(url, "x")
    check(chat.returncode == 0 and chat.stdout == "here now\n" and Loading.refusals == 0, "pipe: waits for a model that loads", chat)
    Loading.refusals = 2
    screen = Screen(args.reprise, "chat", "--url", url)
    check("still loading" in screen.wait("> "), "terminal: says that the model loads, then prompts")
    screen.type("\x04")
    screen.status()
    Loading.refusals = 10**9
    delays = random.Random(1)
    statuses = []
    for trial in range(20):  # at once, when one request ends and the next has not begun, and at any time
        screen = Screen(args.reprise, "chat", "--url", url)
        screen.wait("still loading")
        time.sleep(0 if trial % 2 else delays.uniform(0, 1.1))
        screen.type("\x03")
        statuses.append(screen.status())
    check(statuses == [130] * len(statuses), "terminal: Ctrl-C ends the wait, whenever it comes", statuses)
    server.shutdown()


def while_the_server_loads():
    screen = Screen(args.reprise, "serve", "--model", args.model, "--port", str(servers.free_port()))
    screen.wait(r"loading \S+ .*%")
    check(True, "serve: a progress line while the model loads")
    screen.wait("ready: curl")
    screen.type("\x03")
    check(screen.status() == 0, "serve: Ctrl-C leaves with status 0")


while_the_server_loads()
while_loading()
interrupted()
with servers.reprise(args.reprise, args.model) as server:
    on_a_pipe(server)
    on_a_terminal(server)
print(f"{checks} passed, 0 failed")
