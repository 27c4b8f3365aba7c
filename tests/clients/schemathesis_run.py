#!/usr/bin/env python3
"""Lets schemathesis ask whatever /openapi.json allows and forbids:  schemathesis_run.py --reprise R --model M [--seconds 60]

Starts the server and generates requests, valid and not, for every operation until the time is over. Fails when the server
answers 5xx (but 503, for which the description stands), when a status, content type or body is not as described, when what is
valid is refused or what is not is accepted (but for the reasons named below), when an error of a field does not name it, or
when the server does not live and stop in order afterwards.

Needs the package schemathesis, in the Python that runs this.
"""
import argparse, os, pathlib, re, subprocess, sys, tempfile

HOOKS = r'''import gzip, itertools, re

import requests, schemathesis
from schemathesis.specs.openapi import checks

# Requests that fit the schema and are refused all the same, for what a schema cannot say: by what the server answers.
REFUSED_THOUGH_VALID = {
    "ids that this model lacks": r"is no token id of this model|the token ids of this model are",
    "more choices than there may be": r"times the number of prompts may be at most|choices at once are more than",
    "fields that need or exclude each other": r"must not exceed max_tokens|must not be less than 'n'|needs 'logprobs'"
    r"|cannot be streamed|begins a new message|needs a last message of the assistant",
    "prompts past the context": r"maximum context length is",
    "nothing to continue": r"is empty: there is nothing to continue",
    "what this model cannot do": r"has no tokens for filling in the middle",
    "what its template refuses": r"does not fit the model's chat template",
    "bytes, where a schema counts characters": r"may be at most \d+ bytes long|may hold at most \d+ bytes",
}


def message_of(response):
    try:
        return response.json()["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return ""


@schemathesis.check
def valid_requests_are_accepted(ctx, response, case):
    if response.status_code == 400:
        if any(re.search(reason, message_of(response)) for reason in REFUSED_THOUGH_VALID.values()):
            return None
    return checks.positive_data_acceptance(ctx, response, case)


@schemathesis.check
def invalid_requests_are_refused(ctx, response, case):
    """Of bodies: any header but Content-Encoding, any media type and any query are accepted."""
    if case.meta is None:
        return None
    wrong = {str(getattr(where, "value", where)) for where, what in case.meta.components.items() if what.mode.is_negative}
    return checks.negative_data_rejection(ctx, response, case) if wrong == {"body"} else None


@schemathesis.check
def errors_name_their_parameter(ctx, response, case):
    """All but those of the path (404, 405), the key (401) and the server's state (429, 503), which have none."""
    if response.status_code in (400, 408, 413, 415, 422):
        error = response.json()["error"]
        assert error["param"], f"no parameter is named: {error['message']}"


# Fields that decide how long an answer takes: what they are cut to, and the most that the schema allows. What is past that
# is sent as it is.
CUT = {"max_tokens": (3, 2147483647), "max_completion_tokens": (3, 2147483647), "n": (3, 128), "best_of": (3, 128),
       "min_tokens": (1, 2147483647)}


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Answers are cut short, in every phase: what is tested is the interface."""
    body = case.body
    if isinstance(body, dict) and ("messages" in body or "prompt" in body):
        for name, (short, most) in CUT.items():
            given = body.get(name)
            whole = isinstance(given, (int, float)) and not isinstance(given, bool) and given == given // 1
            if whole and short < given <= most:  # 7.0 is an integer too
                body[name] = short
        if body.get("max_tokens") is None and body.get("max_completion_tokens") is None:
            body["max_tokens"] = 2


# Every third body goes compressed, which the description allows and no schema can.
send = requests.Session.send
number = itertools.count()


def send_coded(session, request, **arguments):
    body = request.body
    if body and isinstance(body, (bytes, str)) and next(number) % 3 == 0 and "Content-Encoding" not in request.headers:
        request.body = gzip.compress(body.encode() if isinstance(body, str) else body)
        request.headers["Content-Encoding"] = "gzip"
        request.headers["Content-Length"] = str(len(request.body))
    return send(session, request, **arguments)


requests.Session.send = send_coded
'''


def start(reprise, model):
    server = subprocess.Popen([reprise, "serve", "--model", model, "--port", "0", "--context", "1024", "--kv-memory", "256M"],
                              stderr=subprocess.PIPE, text=True)
    lines = []
    for line in server.stderr:
        lines.append(line)
        if found := re.search(r"ready: curl (http://[^/]+)/", line):
            return server, found[1]
    sys.exit("the server did not start:\n" + "".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reprise", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int)
    args = parser.parse_args()
    server, url = start(args.reprise, args.model)
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "hooks.py").write_text(HOOKS)
        subprocess.Popen(["cat"], stdin=server.stderr, stdout=open(os.path.join(folder, "log"), "w"))
        command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", url + "/openapi.json", "--phases", "examples,coverage,fuzzing",
                   "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,"
                   "errors_name_their_parameter,valid_requests_are_accepted,invalid_requests_are_refused",
                   "--max-time", str(args.seconds), "--max-examples", "100000", "--request-timeout", "60", "--no-color",
                   "--suppress-health-check", "all", "--workers", "2"]
        if args.seed is not None:
            command += ["--seed", str(args.seed)]
        environment = dict(os.environ, SCHEMATHESIS_HOOKS="hooks", PYTHONPATH=folder)
        run = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             timeout=args.seconds + 300)
        alive = server.poll() is None
        server.terminate()
        stopped = server.wait(timeout=200)
        log = pathlib.Path(folder, "log").read_text()
    print("\n".join(run.stdout.splitlines()[-80:]))
    if run.returncode != 0:
        sys.exit("schemathesis found faults")
    if not re.search(r"[1-9]\d* generated", run.stdout):
        sys.exit("schemathesis had no time to ask anything")
    if not alive or stopped != 0:
        sys.exit(f"the server ended with status {stopped}:\n" + "\n".join(log.splitlines()[-30:]))
    print(f"schemathesis: {args.seconds} s, no fault")


if __name__ == "__main__":
    main()
