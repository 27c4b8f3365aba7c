#!/usr/bin/env python3
"""The tokenizer beside Hugging Face's:  ./dev bench tokenizer [--only NAME] [--rounds N]

Needs the package `tokenizers`.

Encodes at least 20 MB of distinct source code found on this machine, cold (a new tokenizer each time), on one core, with
every vocabulary at hand: ours (tokenizer_bench) and the `tokenizers` library given the same vocabulary, merges and
pre-tokenizer (its fastest call, without offsets), in turns. Times are CPU time of the one core. Both must give the same
ids. Prints a table, writes build/bench/tokenizer.json, and exits 1 when a row falls short of 20 MB/s or the ids differ.
"""
import argparse, hashlib, json, os, pathlib, re, statistics, struct, subprocess, sys, time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import gguf_metadata
import rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "reprise"
SHARED = ROOT.parent / "shared" / "tokenizers"
CORPUS_BYTES = 24_000_000
WANTED = 20.0  # MB/s, one core
ROUNDS = 3
# Pre-tokenizers whose models' vocabularies are not at hand: measured with another's, which has as many words.
BORROWING = ("gpt-4o", "tekken", "kimi-k2", "qwen35", "deepseek-v3")
LENDER = "llama-bpe"
SUFFIXES = {".py", ".h", ".hpp", ".c", ".cc", ".cpp", ".js", ".sh", ".pl", ".pm", ".rs", ".go", ".java", ".ts"}
SOURCES = ["/usr/lib/python3", "/usr/lib/python3.11", sys.prefix + "/lib", "/usr/include", "/root/.pyenv", "/usr/share/perl", "/usr/lib/gcc"]


def corpus():
    """Distinct files of source code, up to CORPUS_BYTES, in a fixed order that mixes the places they come from."""
    seen, documents, size = set(), [], 0
    places = []
    for place in SOURCES:
        files = [p for p in pathlib.Path(place).rglob("*") if p.suffix in SUFFIXES] if os.path.isdir(place) else []
        files.sort(key=lambda p: hashlib.sha256(str(p).encode()).digest())
        places.append(iter(files))
    while places and size < CORPUS_BYTES:
        for place in list(places):
            path = next(place, None)
            if path is None:
                places.remove(place)
                continue
            try:
                data = path.read_bytes()
                data.decode("utf-8")
            except (OSError, UnicodeDecodeError):
                continue
            digest = hashlib.sha256(data).digest()
            if not 200 <= len(data) <= 400_000 or digest in seen:
                continue
            seen.add(digest)
            documents.append(data)
            size += len(data)
    if size < 20_000_000:
        sys.exit(f"only {size} bytes of source code found under {', '.join(SOURCES)}; 20 MB are needed")
    return documents


def vocabularies():
    """(name, path of a GGUF file, its pre-tokenizer or None for the file's own): those of the shared test data, unpacked, the
    default model's, and pre-tokenizers that borrow a vocabulary."""
    found = []
    unpacked = CACHE / "vocabularies"
    unpacked.mkdir(parents=True, exist_ok=True)
    for packed in sorted(SHARED.glob("*.gguf.zst")):
        path = unpacked / packed.stem
        if not path.exists():
            subprocess.run(["zstd", "-dqf", packed, "-o", path], check=True)
        found.append((packed.name.removesuffix(".gguf.zst"), path, None))
    for model in sorted((CACHE / "models").glob("SmolLM2*.gguf"))[:1]:
        found.insert(0, ("SmolLM2", model, None))
    if not found:
        sys.exit("no vocabulary found: run `./dev serve` once for the default model's")
    lent = [path for name, path, _ in found if name == LENDER]
    return found + [(f"{pre} with {LENDER}'s words", path, pre) for path in lent for pre in BORROWING]


def read_vocabulary(path, pre):
    fields = gguf_metadata.read(path)
    vocabulary = {key: fields[f"tokenizer.ggml.{key}"] for key in ("model", "pre", "tokens", "token_type", "merges")}
    return vocabulary | ({"pre": pre} if pre else {})


def dump(vocabulary, path):
    """The plain format that tokenizer_bench reads."""
    tokens = [f"{kind} {text}" for kind, text in zip(vocabulary["token_type"], vocabulary["tokens"])]
    if any("\n" in line for line in tokens):
        sys.exit(f"{path}: a token contains a line break")
    head = [vocabulary["model"], vocabulary["pre"], str(len(tokens)), str(len(vocabulary["merges"]))]
    path.write_text("\n".join(head + tokens + vocabulary["merges"]) + "\n", encoding="utf-8")


def hf_pre_tokenizer(pre):
    from tokenizers import Regex, pre_tokenizers as pt

    split = lambda pattern: pt.Split(Regex(pattern), "isolated")
    gpt4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
    plain = pt.ByteLevel(add_prefix_space=False, use_regex=False)
    gpt2 = pt.ByteLevel(add_prefix_space=False, use_regex=True)
    ideographs = split("[一-龥ࠀ-一가-퟿]+")
    if pre == "gpt-2":
        return gpt2
    if pre == "smollm":
        return pt.Sequence([pt.Digits(individual_digits=True), gpt2])
    if pre == "llama-bpe":
        return pt.Sequence([split(gpt4 % r"\p{N}{1,3}"), plain])
    if pre == "qwen2":
        return pt.Sequence([split(gpt4 % r"\p{N}"), plain])
    if pre == "qwen35":
        return pt.Sequence([split(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|"
                                  r"\s*[\r\n]+|\s+(?!\S)|\s+"), plain])
    cased = lambda first, apart, suffix, digits, lines: pt.Sequence([split(
        first + r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}APART]*[\p{Ll}\p{Lm}\p{Lo}\p{M}APART]+SUFFIX|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}APART]+[\p{Ll}\p{Lm}\p{Lo}\p{M}APART]*SUFFIX|".replace("APART", apart)
        .replace("SUFFIX", suffix) + digits + r"| ?[^\s\p{L}\p{N}]+" + lines + r"*|\s*[\r\n]+|\s+(?!\S)|\s+"), plain])
    if pre == "gpt-4o":
        return cased("", "", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}", r"[\r\n/]")
    if pre == "tekken":
        return cased("", "", "", r"\p{N}", r"[\r\n/]")
    if pre == "kimi-k2":
        return cased(r"[\p{Han}]+|", r"&&[^\p{Han}]", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?", r"\p{N}{1,3}", r"[\r\n]")
    if pre == "deepseek-v3":
        return pt.Sequence([split(r"\p{N}{1,3}"), split("[一-龥぀-ゟ゠-ヿ]+"),
                            split(r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+|"""
                                  r""" ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""), plain])
    if pre == "deepseek-coder":
        return pt.Sequence([split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), ideographs,
                            pt.Digits(individual_digits=True), plain])
    if pre == "deepseek-llm":
        ranges = (ROOT / "src/text/tokenizer/deepseek_classes.h").read_text()
        words = ranges.split("kDeepseekWordRanges[] = {", 1)[1].split("};", 1)[0]
        letters = "".join(f"\\x{{{a}}}-\\x{{{b}}}" for a, b in re.findall(r"0x([0-9A-F]+), 0x([0-9A-F]+)", words))
        return pt.Sequence([split(r"[\r\n]"), split(rf"\s?[{letters}]+"),
                            split(r"\s?[!-/:-~\x{ff01}-\x{ff0f}\x{ff1a}-\x{ff5e}\x{2018}-\x{201f}\x{3000}-\x{3002}]+"), split(r"\s+$"), ideographs,
                            pt.Digits(individual_digits=True), plain])
    sys.exit(f"no Hugging Face pre-tokenizer known for {pre}")


def hf_tokenizer(vocabulary, is_control=lambda text: False):
    """Hugging Face's BPE over the same data; the ids of added tokens are those of the vocabulary. Special are those that the file
    calls so, or `is_control` does."""
    from tokenizers import AddedToken, Tokenizer, models, normalizers

    kinds, tokens = vocabulary["token_type"], vocabulary["tokens"]
    vocab = {text: i for i, text in enumerate(tokens)}
    merges = [tuple(merge.split(" ", 1)) for merge in vocabulary["merges"]]
    bpe = models.BPE(vocab=vocab, merges=merges, ignore_merges=vocabulary["pre"] in ("llama-bpe", "tekken", "kimi-k2"))
    tokenizer = Tokenizer(bpe)
    tokenizer.pre_tokenizer = hf_pre_tokenizer(vocabulary["pre"])
    if vocabulary["pre"] in ("qwen2", "qwen35"):
        tokenizer.normalizer = normalizers.NFC()
    added = [AddedToken(text, special=kind == 3 or is_control(text), normalized=False) for text, kind in zip(tokens, kinds) if kind in (3, 4)]
    tokenizer.add_tokens(added)
    return tokenizer


class Ours:
    def __init__(self, build, vocabulary, corpus, core):
        self.process = subprocess.Popen(["taskset", "-c", str(core), build / "src/text/tokenizer_bench", vocabulary, corpus],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def run_hf(vocabulary, texts, size):
    tokenizer = hf_tokenizer(vocabulary)
    start = time.process_time()
    encoded = tokenizer.encode_batch_fast(texts, add_special_tokens=False)
    seconds = time.process_time() - start
    digest, count = hashlib.sha256(), 0
    for ids in (encoding.ids for encoding in encoded):
        digest.update(struct.pack(f"<{len(ids)}i", *ids))
        count += len(ids)
    return {"seconds": seconds, "bytes": size, "tokens": count, "hash": digest.hexdigest()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build folder that holds tokenizer_bench")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="vocabularies whose name contains this")
    args = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    os.environ["RAYON_NUM_THREADS"] = "1"
    folder = args.build.resolve() / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})

    documents = corpus()
    texts = [data.decode("utf-8") for data in documents]
    size = sum(map(len, documents))
    (folder / "corpus").write_bytes(b"".join(b"%d\n%s" % (len(data), data) for data in documents))
    print(f"{len(documents)} distinct files of source code, {size / 1e6:.1f} MB; core {core}; cold")
    table = rows.Rows("tokenizer")
    for name, path, pre in vocabularies():
        if args.only not in name:
            continue
        vocabulary = read_vocabulary(path, pre)
        dump(vocabulary, folder / f"{name}.vocabulary")
        ours = Ours(args.build.resolve(), folder / f"{name}.vocabulary", folder / "corpus", core)
        mine, theirs = [], []
        for number in range(args.rounds):
            print(f"{name}: round {number + 1} of {args.rounds}", flush=True)
            mine.append(ours.run())
            theirs.append(run_hf(vocabulary, texts, size))
        ours.close()
        speeds, peer = ([size / 1e6 / r["seconds"] for r in runs] for runs in (mine, theirs))
        table.samples(f"{name}: cold, one core", speeds, "MB/s", WANTED, peer="tokenizers", peer_value=statistics.median(peer),
                      output_hash=mine[0]["hash"][:16])
        same = {r["hash"] for r in mine} == {r["hash"] for r in theirs}
        table.add(f"{name}: ids equal to Hugging Face's", int(same), "", 1, tokens=mine[0]["tokens"])
    table.finish()


if __name__ == "__main__":
    main()
