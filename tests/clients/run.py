#!/usr/bin/env python3
"""The real OpenAI SDK against the real server, and many growing sessions whose answers may not depend on company.

  run.py --reprise BINARY --model FILE

Needs the packages openai and httpx. Prints one line a check; exits 1 at the first failure.
"""
import argparse, asyncio, json, pathlib, re, signal, subprocess, sys, urllib.error, urllib.request

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools/bench"))
import openai
import servers, sse_client

parser = argparse.ArgumentParser()
parser.add_argument("--reprise", required=True)
parser.add_argument("--model", required=True)
args = parser.parse_args()

QUESTION = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": "Name three colours."}]
checks = 0


def check(condition, what, detail=""):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"FAILED {what}: {detail}")
    print(f"ok  {what}", flush=True)


def sdk_sync(url):
    client = openai.OpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    greedy = dict(model="any-name", messages=QUESTION, temperature=0, max_tokens=24)
    whole = client.chat.completions.create(**greedy)
    check(whole.model == "any-name" and whole.choices[0].message.content.strip(), "sync: answer, model echoed", whole)
    check(whole.usage.completion_tokens <= 24 and whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens,
          "sync: usage adds up", whole.usage)
    check(whole.choices[0].finish_reason in ("stop", "length"), "sync: finish reason", whole)

    chunks = list(client.chat.completions.create(**greedy, stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    check(text == whole.choices[0].message.content, "sync stream: same text as without streaming", text)
    check(chunks[0].choices[0].delta.role == "assistant", "sync stream: role first")
    check(not chunks[-1].choices and chunks[-1].usage.completion_tokens == whole.usage.completion_tokens, "sync stream: usage chunk last", chunks[-1])
    check(chunks[-1].usage.prompt_tokens_details.cached_tokens > 0, "second request is served from the cache", chunks[-1].usage)

    logged = client.chat.completions.create(**greedy, logprobs=True, top_logprobs=3)
    content = logged.choices[0].logprobs.content
    check(len(content) == logged.usage.completion_tokens - (logged.choices[0].finish_reason == "stop"), "logprobs: one per token", len(content))
    check(all(len(t.top_logprobs) == 3 and t.logprob <= 0 and abs(t.top_logprobs[0].logprob - t.logprob) < 1e-6 for t in content),
          "logprobs: greedy takes the likeliest", content[0])
    check("".join(bytes(t.bytes).decode() if t.bytes else "" for t in content).strip() == logged.choices[0].message.content.strip(),
          "logprobs: bytes join to the text")

    words = whole.choices[0].message.content
    stop = words[len(words) // 2:len(words) // 2 + 3]
    stopped = client.chat.completions.create(**greedy, stop=[stop])
    check(stopped.choices[0].message.content == words[:words.index(stop)] and stopped.choices[0].finish_reason == "stop",
          "stop string cuts before itself", (stop, stopped.choices[0]))

    two = client.chat.completions.create(model="m", messages=QUESTION, n=2, seed=7, temperature=1.0, max_tokens=16)
    again = client.chat.completions.create(model="m", messages=QUESTION, n=2, seed=7, temperature=1.0, max_tokens=16)
    check([c.index for c in two.choices] == [0, 1], "n=2: two choices", two)
    check(two.choices[0].message.content != two.choices[1].message.content, "n=2: choices differ", two)
    check([c.message.content for c in two.choices] == [c.message.content for c in again.choices], "seed repeats both choices")
    streamed = {0: "", 1: ""}
    for chunk in client.chat.completions.create(model="m", messages=QUESTION, n=2, seed=7, temperature=1.0, max_tokens=16, stream=True):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
    check(list(streamed.values()) == [c.message.content for c in two.choices], "n=2 streamed equals n=2 whole", streamed)

    plain = client.completions.create(model="m", prompt="def add(a, b):", temperature=0, max_tokens=8, logprobs=2)
    check(plain.choices[0].text and len(plain.choices[0].logprobs.tokens) <= 8, "completions with logprobs", plain)
    ids = json.loads(post(url + "/tokenize", {"prompt": "def add(a, b):"})[1])["tokens"]
    by_id = client.completions.create(model="m", prompt=ids, temperature=0, max_tokens=8)
    check(by_id.choices[0].text == plain.choices[0].text, "completions: token ids equal text", by_id)
    # A prompt is scored as its tokens were when they were drawn, to the last bit.
    drawn = client.completions.create(model="m", prompt=ids, temperature=0, max_tokens=12, logprobs=0,
                                      extra_body={"return_token_ids": True, "ignore_eos": True}).choices[0]
    scored = client.completions.create(model="m", prompt=ids + drawn.token_ids, echo=True, logprobs=0, max_tokens=0)
    values = scored.choices[0].logprobs.token_logprobs
    check(values[0] is None and values[len(ids):] == drawn.logprobs.token_logprobs, "echo with logprobs scores the prompt", (scored, drawn))
    check(scored.choices[0].text == "def add(a, b):" + drawn.text and scored.usage.completion_tokens == 0, "max_tokens 0: the prompt alone", scored)
    check(client.models.list().data[0].id, "models list")

    for name, bad, param in (("bad type", dict(temperature="hot"), "temperature"), ("out of range", dict(top_p=2), "top_p")):
        try:
            client.chat.completions.create(model="m", messages=QUESTION, extra_body=bad)
            check(False, name)
        except openai.BadRequestError as error:
            check(error.param == param, f"{name} names its parameter", error)
    try:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "word " * 20000}])
        check(False, "overflow")
    except openai.BadRequestError as error:
        check(error.code == "context_length_exceeded", "overflow has OpenAI's code", error)


def post(url, body=None):
    """Status and body; a GET without one."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, {"Content-Type": "application/json"}), timeout=60) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


async def sdk_async(url):
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", max_retries=0)
    greedy = dict(model="m", messages=QUESTION, temperature=0, max_tokens=24)
    whole = await client.chat.completions.create(**greedy)
    text = ""
    async for chunk in await client.chat.completions.create(**greedy, stream=True):
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    check(text == whole.choices[0].message.content, "async: stream equals whole")
    many = await asyncio.gather(*(client.chat.completions.create(**greedy) for _ in range(8)))
    check(all(m.choices[0].message.content == text for m in many), "async: 8 at once, all the same")
    await client.close()


# ---- 24 growing sessions -------------------------------------------------------------------------------------------
SESSIONS, TURNS, OUT = 24, 6, 10
SYSTEM = "You are a coding assistant. " + "Keep to the style of the file, write tests, and explain each change in one sentence. " * 8


def turn_text(session, turn):
    return f"Step {turn} of task {session}: rename variable x{session} to y{turn} in function f{session * turn}, then run the tests."


async def grow(client, session, salt=None):
    """All turns of one session; answers and usages. With a salt per turn nothing is ever taken from the cache."""
    messages, texts, usages = [{"role": "system", "content": SYSTEM}], [], []
    for turn in range(TURNS):
        messages.append({"role": "user", "content": turn_text(session, turn)})
        extra = {"ignore_eos": True, **({"cache_salt": f"{salt}-{session}-{turn}"} if salt else {})}
        answer = await client.chat.completions.create(model="m", messages=messages, temperature=0, max_tokens=OUT, extra_body=extra)
        texts.append(answer.choices[0].message.content)
        usages.append(answer.usage)
        messages.append({"role": "assistant", "content": texts[-1]})
    return texts, usages


async def alone(url):
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", timeout=600)
    results = [await grow(client, s, salt="alone") for s in range(SESSIONS)]
    await client.close()
    check(all(u.prompt_tokens_details.cached_tokens == 0 for _, usages in results for u in usages), "alone: nothing cached")
    return [texts for texts, _ in results]


async def together(url):
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", timeout=600)
    results = await asyncio.gather(*(grow(client, s) for s in range(SESSIONS)))
    await client.close()
    return results


async def long_answers(url, at_once):
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="none", timeout=600)

    async def one(i):
        answer = await client.completions.create(model="m", prompt=f"# Module {i}: {turn_text(i, i)}\n", temperature=0, max_tokens=130,
                                                 extra_body={"ignore_eos": True})
        return answer.choices[0].text
    texts = await asyncio.gather(*(one(i) for i in range(12))) if at_once else [await one(i) for i in range(12)]
    await client.close()
    return texts


def compare(name, results, expected, server, cached=True):
    wrong = [s for s in range(SESSIONS) if results[s][0] != expected[s]]
    check(not wrong, f"{SESSIONS} sessions, {name}: answers equal those computed alone", f"sessions {wrong}")
    if cached:
        worst = min(u.prompt_tokens_details.cached_tokens / (before.prompt_tokens + before.completion_tokens)
                    for _, usages in results for before, u in zip(usages, usages[1:]))
        check(worst >= 0.95, f"{SESSIONS} sessions, {name}: at least 95 % of the shared prefix cached (worst {worst:.3f})")


def metric(server, name):
    lines = [l for l in server.get("/metrics").splitlines() if l.startswith(name)]
    return sum(float(l.rsplit(" ", 1)[1]) for l in lines)


# ---- the program's flags and signals ---------------------------------------------------------------------------------
def drains():
    """SIGTERM in the middle of a stream: not ready at once, nothing new, the stream ends as if nothing was."""
    body = dict(model="m", prompt="1, 2, 3,", max_tokens=1500, temperature=0, ignore_eos=True)

    async def run(server):
        expected = await sse_client.chat(server.port, body, "/v1/completions")
        begun = asyncio.Event()
        stream = asyncio.create_task(sse_client.chat(server.port, body, "/v1/completions", begun=begun))
        await asyncio.wait_for(begun.wait(), 60)
        server.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(60):
            while (await asyncio.to_thread(post, server.url + "/health/ready"))[0] == 200:
                await asyncio.sleep(0.01)
        ready = (await asyncio.to_thread(post, server.url + "/health/ready"))[0]
        new = (await asyncio.to_thread(post, server.url + "/v1/completions", body))[0]
        check((ready, new, stream.done()) == (503, 503, False), "SIGTERM: not ready, nothing new, the stream goes on", (ready, new, stream.done()))
        answer = await stream
        check(answer.text == expected.text and answer.finish == "length", "SIGTERM: the running stream ends normally", answer.finish)

    with servers.reprise(args.reprise, args.model) as server:
        asyncio.run(run(server))
        check(server.process.wait(60) == 0, "SIGTERM: exit 0 after the stream")


def flags():
    wanted = ["--api-key", "k", "--strict-model", "--model-name", "x", "--context", "16384", "--rope-scaling", "yarn:2",
              "--max-requests", "4"]
    with servers.reprise(args.reprise, args.model, *wanted) as server:
        client = openai.OpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0)
        model = client.models.list().data[0]
        check((model.id, model.max_model_len) == ("x", 16384), "flags: name and extended context", model)
        log = server.tail(50)
        check("yarn x2 over 8192" in log, "flags: the log tells of the scaling", log)
        for key, name, error in (("z", "x", openai.AuthenticationError), ("k", "y", openai.NotFoundError)):
            try:
                openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0).completions.create(model=name, prompt="a", max_tokens=1)
                check(False, error.__name__)
            except error:
                check(True, f"flags: {error.__name__}")
        answer = client.completions.create(model="x", prompt=[451] * 8300, max_tokens=1)
        check(answer.usage.prompt_tokens == 8300, "flags: a prompt past the trained context is served", answer.usage)

        async def burst():
            many = openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="k", max_retries=0)
            ask = lambda: many.completions.create(model="x", prompt="a", max_tokens=200, extra_body={"ignore_eos": True})
            answers = await asyncio.gather(*(ask() for _ in range(12)), return_exceptions=True)
            refused = [a for a in answers if isinstance(a, openai.RateLimitError)]
            served = [a for a in answers if not isinstance(a, Exception)]
            check(len(refused) + len(served) == 12 and len(served) >= 4 and refused, "flags: past --max-requests a request is refused, no other harmed",
                  answers)
            check(all(1 <= int(r.response.headers["retry-after"]) <= 60 for r in refused), "flags: refusals carry Retry-After", refused)
            check((await ask()).usage.completion_tokens == 200, "flags: then there is room again")
            await many.close()
        asyncio.run(burst())
        try:
            client.completions.create(model="x", prompt="a", n=5)
            check(False, "flags: more choices than --max-requests")
        except openai.BadRequestError as error:
            check(error.param == "n", "flags: more choices than --max-requests are refused for good", error)
    for flags, environment, table in ((["--kernels", "avx2"], {}, "avx2"), ([], {"REPRISE_KERNELS": "ref"}, "ref"),
                                      (["--kernels", "avx2"], {"REPRISE_KERNELS": "ref"}, "avx2")):
        with servers.reprise(args.reprise, args.model, *flags, env=environment) as server:
            check(f"kernels {table}" in server.tail(50), f"flags: kernels {table} by {flags or environment}", server.tail(50))
    told = subprocess.run([args.reprise, "inspect", args.model], capture_output=True, text=True)
    check(told.returncode == 0 and re.search(r"parameters\s+134\.52 million", told.stdout) and re.search(r"servable\s+yes", told.stdout),
          "inspect: parameters, servable", told)


SHARED = ROOT.parent / "shared"


def tokens(server):
    """The vocabulary as the server reads it from the model file gives Hugging Face's ids."""
    if not SHARED.exists():
        return print(f"--  tokens: no {SHARED} here", flush=True)
    texts = (SHARED / "tokenizers/gpt-2.inp").read_bytes().decode().split("\n__ggml_vocab_test__\n")[:-1]
    lines = (ROOT / "src/text/tokenizer/smollm2_ids_for_test.txt").read_text().splitlines()
    check(len(texts) == len(lines) > 40, "tokens: as many texts as answers", (len(texts), len(lines)))
    wrong = [text for text, line in zip(texts, lines) if "<|" not in text and
             server.post("/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"] != [int(id) for id in line.split()]]
    check(not wrong, "tokens: ids from the model file's vocabulary are Hugging Face's", wrong)


def main():
    with servers.reprise(args.reprise, args.model) as server:
        sdk_sync(server.url)
        asyncio.run(sdk_async(server.url))
        tokens(server)
        expected = asyncio.run(alone(server.url))
        compare("default", asyncio.run(together(server.url)), expected, server)
        check(server.stop() == 0, "SIGTERM: exit 0")
    drains()
    flags()
    for chunk in (1, 7, 64, 512):
        with servers.reprise(args.reprise, args.model, "--chunk", str(chunk)) as server:
            compare(f"chunk {chunk}", asyncio.run(together(server.url)), expected, server)
    # KV memory for about 2,600 tokens, and 24 sessions of up to 560.
    with servers.reprise(args.reprise, args.model, "--kv-memory", "60M", "--context", "2048") as server:
        compare("little KV memory", asyncio.run(together(server.url)), expected, server, cached=False)
    # Answers that outgrow it: KV memory for about 890 tokens, 12 requests that start small and come to 170 each.
    with servers.reprise(args.reprise, args.model) as server:
        expected = asyncio.run(long_answers(server.url, at_once=False))
    with servers.reprise(args.reprise, args.model, "--kv-memory", "20M", "--context", "512") as server:
        check(asyncio.run(long_answers(server.url, at_once=True)) == expected, "forced preemption: answers equal those computed alone")
        check(metric(server, "vllm:num_preemptions_total") > 0, "forced preemption: preemptions happened")
    print(f"{checks} passed, 0 failed")


main()
