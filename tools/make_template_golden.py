#!/usr/bin/env python3
"""Writes the golden files of the chat template tests with Python's jinja2:

    make_template_golden.py [--model SMOLLM2.gguf] [TEMPLATE_DIR] [OUT_DIR]

Run by a person when cases are added (needs: pip install jinja2; gguf for --model). The environment is the one transformers
uses, except that lists may be changed. Outputs, each one JSON document a line:

    conversations.jsonl   {"name", "input": {messages, tools, add_generation_prompt, extra}}
    renders.jsonl         {"template", "conversation", "output" | "error"}: every template over every conversation
    language.jsonl        a line {"context"}, the variables of the cases that have none of their own, then
                          {"template", "context"?, "output" | "error"}: small cases of each language feature, written
                          by hand and by a seeded grammar
    SmolLM2-135M-Instruct.jinja   (with --model) the template in the model file's metadata

"error" is the message of raise_exception, or null where jinja2 fails in another way.
"""
import argparse, datetime, json, pathlib, random, signal

import jinja2, jinja2.ext
from jinja2.sandbox import SandboxedEnvironment

from template_cases import BOS, CONTEXT, CONVERSATIONS, EOS, HAND_WRITTEN, NOW, generate


class Raised(Exception):
    pass


class Generation(jinja2.ext.Extension):
    """{% generation %}: transformers marks these parts for training; the text is unchanged, the scope its own."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_text"), [], [], body).set_lineno(line)

    def _text(self, caller):
        return caller()


def raise_exception(message):
    raise Raised(message)


def strftime_now(format):
    return datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None).strftime(format)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    extensions = ["jinja2.ext.loopcontrols", Generation]
    env = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=extensions)
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


ENV = environment()


class TooLong(BaseException):
    pass


def on_alarm(*_):
    raise TooLong()


signal.signal(signal.SIGALRM, on_alarm)


def outcome(source, variables):
    """What jinja2 makes of it, or None when it ran too long or wrote an object's address."""
    signal.setitimer(signal.ITIMER_REAL, 10)
    try:
        output = ENV.from_string(source).render(**variables)
        output.encode()  # a lone surrogate is no text
    except Raised as error:
        return {"error": str(error)}
    except TooLong:
        return None
    except Exception:
        return {"error": None}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    if " at 0x" in output:
        return None
    return {"output": output}


def line(document):
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model")
    parser.add_argument("templates", nargs="?", type=pathlib.Path, default=root.parent / "shared" / "templates")
    parser.add_argument("out", nargs="?", type=pathlib.Path, default=root / "src" / "text" / "testdata" / "templates")
    options = parser.parse_args()
    out = options.out
    out.mkdir(parents=True, exist_ok=True)

    if options.model:
        from gguf import GGUFReader

        field = GGUFReader(options.model).fields["tokenizer.chat_template"]
        (out / "SmolLM2-135M-Instruct.jinja").write_bytes(bytes(field.parts[field.data[0]]))

    with open(out / "conversations.jsonl", "w") as f:
        for name, conversation in CONVERSATIONS.items():
            f.write(line({"name": name, "input": conversation}))

    sources = sorted(options.templates.glob("*.jinja")) + sorted(out.glob("*.jinja"))
    with open(out / "renders.jsonl", "w") as f:
        for path in sources:
            source = path.read_bytes().decode()
            for name, conversation in CONVERSATIONS.items():
                variables = {
                    "messages": conversation["messages"],
                    "tools": conversation["tools"] or None,
                    "documents": None,
                    "add_generation_prompt": conversation["add_generation_prompt"],
                    "bos_token": BOS,
                    "eos_token": EOS,
                    **conversation["extra"],
                }
                result = outcome(source, json.loads(json.dumps(variables)))
                assert result, (path.name, name)
                f.write(line({"template": path.name, "conversation": name, **result}))

    seen = set()
    with open(out / "language.jsonl", "w") as f:
        f.write(line({"context": CONTEXT}))
        for source, context in HAND_WRITTEN + generate(random.Random(20260101)):
            key = json.dumps([source, context])
            result = None if key in seen else outcome(source, json.loads(json.dumps(context)))
            seen.add(key)
            # Left out: slices of constants that cannot be sliced, which jinja2 folds to undefined while compiling.
            folded = "({'k': 1, 'j': [2]})[" in source or "is integer)[" in source
            if result is not None and not folded:
                own = {} if context is CONTEXT else {"context": context}
                f.write(line({"template": source, **own, **result}))


if __name__ == "__main__":
    main()
