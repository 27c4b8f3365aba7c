#!/usr/bin/env python3
"""Our tokenizers beside the libraries that define them:  tools/oracle/compare_tokenizers.py BUILD [--megabytes N] [--only NAME] [--seed N]

Needs the packages `tokenizers`, `gguf`, `sentencepiece` and `protobuf`.

Every tokenizer here encodes and decodes the same mixed text (tokenizer_corpus.py) with tokenizer_ids and with its library, once
with control tokens looked for in the text and once without. The tokenizers (tokenizer_kinds.py): the vocabularies of
../shared/tokenizers and of the models at hand, given to Hugging Face's library or to SentencePiece; tokenizers that Hugging
Face's library trains here, for every kind of model and chains of normalizers, pre-tokenizers and decoders (read by us from their
tokenizer.json); SentencePiece models trained here (read by us from a GGUF file). And every character is shown to every
pre-tokenizer and normalizer. Prints a line for each; exit status 1 if any id or text differs.
"""
import argparse, collections, json, multiprocessing, os, pathlib, signal, struct, subprocess, sys

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/bench"))

from tokenizers import Tokenizer, decoders, models

import tokenizer as bench
import tokenizer_corpus
import tokenizer_kinds as kinds

TRAINING_MEGABYTES = 0.5


def models_at_hand(kind):
    """(name, path) of the models whose GGUF file has this tokenizer.ggml.model."""
    key = b"tokenizer.ggml.model" + struct.pack("<IQ", 8, len(kind)) + kind.encode()
    for path in sorted((bench.CACHE / "models").glob("*.gguf")):
        with open(path, "rb") as file:
            if key in file.read(1 << 20):
                yield path.stem, path


class Corpus:
    """Texts, and the file that tokenizer_ids reads them from."""

    def __init__(self, path, texts):
        self.path, self.texts = path, texts
        encoded = [text.encode() for text in texts]
        self.size = sum(map(len, encoded))
        path.write_bytes(b"".join(b"%d\n%s" % (len(data), data) for data in encoded))

    def ours(self, build, vocabulary, plain):
        """(ids, decoded text) by text."""
        out = build / "tokenizers" / f"ids-{os.getpid()}"
        subprocess.run([build / "src/text/tokenizer_ids", vocabulary, self.path, out] + (["plain"] if plain else []), check=True)
        data, at, results = out.read_bytes(), 0, []
        out.unlink()
        while at < len(data):
            (count,) = struct.unpack_from("<I", data, at)
            ids = list(struct.unpack_from(f"<{count}i", data, at + 4))
            at += 4 + 4 * count
            (size,) = struct.unpack_from("<I", data, at)
            results.append((ids, data[at + 4:at + 4 + size].decode("utf-8", "replace")))
            at += 4 + size
        return results


class Report:
    """What one comparison says, and whether it failed."""

    def __init__(self):
        self.lines, self.failed = [], False

    def compare(self, name, mode, corpus, results, encoded, decoded, token_of, control=frozenset()):
        """`control`: tokens that must not come from text. Where the library's model chose one (a unigram model may, of its
        own words), only that is asked of ours."""
        shown, differences, lookalikes = 0, 0, 0
        for text, (ids, back), theirs, their_text in zip(corpus.texts, results, encoded, decoded):
            if control and control.isdisjoint(ids) and (not control.isdisjoint(theirs) or (ids != theirs and "<unk>" in text)):
                lookalikes += 1
                continue
            if ids == theirs and back == their_text:
                continue
            differences += 1
            if shown >= 3:
                continue
            shown += 1
            if ids != theirs:
                i = next((k for k, pair in enumerate(zip(ids, theirs)) if pair[0] != pair[1]), min(len(ids), len(theirs)))
                show = lambda all: [token_of(t) for t in all[max(0, i - 3):i + 5]]
                self.lines.append(f"    ids differ at {i}: ours {show(ids)}, theirs {show(theirs)}")
            else:
                i = next((k for k, pair in enumerate(zip(back, their_text)) if pair[0] != pair[1]), min(len(back), len(their_text)))
                self.lines.append(f"    texts differ at {i}: ours {back[max(0, i - 10):i + 20]!r}, theirs {their_text[max(0, i - 10):i + 20]!r}")
        tokens = sum(len(ids) for ids, _ in results)
        self.lines.append(f"  {name}, {mode}: {differences} differences in {len(corpus.texts)} texts, {corpus.size / 1e6:.1f} MB, {tokens} tokens" +
                          (f"; {lookalikes} texts in which theirs made control tokens" if lookalikes else ""))
        self.failed |= differences > 0 or len(results) != len(corpus.texts)


class Comparisons:
    """All of them by name; each is a function of a Report, so that processes can share them out."""

    def __init__(self, build, seed, mixed, walked, training):
        self.build, self.mixed, self.walked, self.training = build, mixed, walked, training
        self.folder = build / "tokenizers" / f"seed-{seed}"
        self.folder.mkdir(parents=True, exist_ok=True)
        # What models of characters are trained on, that must hold every one they have seen.
        common = {c for c, _ in collections.Counter("".join(training)).most_common(1500)}
        self.common = ["".join(c for c in text if c in common) for text in training]
        self.all = {}
        # Long ones first.
        for name in kinds.SENTENCEPIECE:
            self.all[name] = lambda report, name=name: self.sentencepiece(report, name)
        for name, path in models_at_hand("llama"):
            self.all[name] = lambda report, name=name, path=path: self.sentencepiece_vocabulary(report, name, path)
        for name in kinds.trained():
            self.all[name] = lambda report, name=name: self.trained(report, name)
        for name, path, borrowed in bench.vocabularies():
            if not borrowed:
                self.all[name] = lambda report, name=name, path=path: self.vocabulary(report, name, path)
        for name in kinds.walks():
            self.all[name] = lambda report, name=name: self.walk(report, name)

    def library(self, report, name, path, tokenizer, corpus=None, as_text=None):
        """A tokenizer of Hugging Face's library beside what we make of `path`. `as_text`: the same with all tokens special that
        we do not look for in text."""
        corpus = corpus or self.mixed
        unknown = getattr(tokenizer.model, "unk_token", None) or "<unk>"
        added = tokenizer.get_added_tokens_decoder()
        special = [t for t in added.values() if t.special]
        # As text they only matter to texts that have one.
        touched = [text for text in corpus.texts if any(t.content in text for t in special)]
        for plain in (False, True) if touched else (False,):
            if plain:
                tokenizer = as_text or tokenizer
                corpus = Corpus(self.folder / f"texts-{os.getpid()}", touched)
            tokenizer.encode_special_tokens = plain
            theirs = [e.ids for e in tokenizer.encode_batch_fast(corpus.texts, add_special_tokens=False)]
            results = corpus.ours(self.build, path, plain)
            # How such a text decodes tells nothing new.
            back = tokenizer.decode_batch(theirs, skip_special_tokens=True) if corpus is not self.walked else [text for _, text in results]
            control = {i for i, t in added.items() if t.special and t.content != unknown} if plain else frozenset()
            report.compare(name, "as text" if plain else "with control tokens", corpus, results, theirs, back, tokenizer.id_to_token, control)
            if plain:
                corpus.path.unlink()

    def vocabulary(self, report, name, path):
        vocabulary = bench.read_vocabulary(path, None)
        tokenizer, as_text = bench.hf_tokenizer(vocabulary), bench.hf_tokenizer(vocabulary, kinds.is_control)
        tokenizer.decoder = as_text.decoder = decoders.ByteLevel()
        self.library(report, name, path, tokenizer, as_text=as_text)

    def trained(self, report, name):
        path = self.folder / f"{name}.json"
        if not path.exists():
            tokenizer, trainer = kinds.trained()[name]
            tokenizer.train_from_iterator(self.common if isinstance(tokenizer.model, models.Unigram) else self.training, trainer)
            tokenizer.add_tokens(kinds.ADDED)
            tokenizer.save(str(path))
        self.library(report, name, path, Tokenizer.from_file(str(path)))
        if name == "unigram":  # the trainer knows no byte fallback
            data = json.loads(path.read_text())
            data["model"]["byte_fallback"] = True
            data["added_tokens"] = [t for t in data["added_tokens"] if t["id"] < len(kinds.SPECIALS)]
            data["model"]["vocab"] += [[f"<0x{b:02X}>", -20.0] for b in range(256)]
            path = self.folder / "unigram, byte fallback.json"
            path.write_text(json.dumps(data))
            self.library(report, "unigram, byte fallback", path, Tokenizer.from_file(str(path)))

    def walk(self, report, name):
        path = self.folder / f"{name}.json"
        tokenizer = kinds.walk(*kinds.walks()[name], self.walked.texts)
        tokenizer.save(str(path))
        self.library(report, name, path, tokenizer, self.walked)

    def sentencepiece(self, report, name):
        """Trained here, and its character map also in a tokenizer.json."""
        import sentencepiece

        path = self.folder / f"{name}.model"
        if not path.exists():
            # The trainer takes lines without NUL.
            lines = (line for text in self.common for line in text.replace("\0", "").split("\n") if 0 < len(line) < 1000)
            sentencepiece.SentencePieceTrainer.train(sentence_iterator=lines, model_prefix=str(path.with_suffix("")), vocab_size=3000, character_coverage=0.98, minloglevel=2,
                                                     hard_vocab_limit=False, **kinds.SENTENCEPIECE[name])
        model = kinds.sentencepiece_model(path.read_bytes())
        kinds.write_gguf(model, path.with_suffix(".gguf"))
        self.processor(report, name, path.with_suffix(".gguf"), model)
        if name == "SentencePiece unigram":
            path = self.folder / "SentencePiece unigram converted.json"
            tokenizer = kinds.converted_unigram(model)
            tokenizer.save(str(path))
            self.library(report, path.stem, path, Tokenizer.from_file(str(path)))

    def sentencepiece_vocabulary(self, report, name, path):
        self.processor(report, name, path, kinds.model_of_gguf(path))

    def processor(self, report, name, path, model):
        """A SentencePiece model beside what we make of a GGUF file."""
        import sentencepiece

        processor = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
        results, theirs = self.mixed.ours(self.build, path, True), processor.encode(self.mixed.texts)
        score = lambda ids: sum(processor.get_score(i) for i in ids)
        for i, (ids, _) in enumerate(results):
            # SentencePiece adds scores in float32: of two ways that score alike either is right.
            if "unigram" in name and ids != theirs[i] and abs(score(ids) - score(theirs[i])) <= 1e-5 * abs(score(ids)):
                theirs[i] = ids
        # It shows unknown tokens as U+2047, we as their text.
        back = [text if processor.unk_id() in ids else processor.decode(ids) for ids, text in results]
        report.compare(name, "as text", self.mixed, results, theirs, back, processor.id_to_piece)


def run(name):
    report = Report()
    comparisons.all[name](report)
    return report


def main():
    global comparisons
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--megabytes", type=float, default=2)
    parser.add_argument("--only", default="", help="tokenizers whose name contains this")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    build = args.build.resolve()
    (build / "tokenizers").mkdir(exist_ok=True)
    # Without look-alikes of control tokens: nothing but the control token itself should be written like one.
    training = tokenizer_corpus.documents(TRAINING_MEGABYTES, args.seed + 1)
    for special in kinds.SPECIALS + ["<mask>"]:
        training = [text.replace(special, "") for text in training]
    training = [text[i:i + 2000] for text in training for i in range(0, len(text), 2000)]
    mixed = Corpus(build / "tokenizers" / "corpus", tokenizer_corpus.documents(args.megabytes, args.seed))
    walked = Corpus(build / "tokenizers" / "every-character", kinds.every_character())
    comparisons = Comparisons(build, args.seed, mixed, walked, training)
    names = [name for name in comparisons.all if args.only in name]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and the processes below end too
    differing = []
    # Forked: the texts are there already, and no thread of a library runs yet.
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for name, report in zip(names, pool.imap(run, names)):
            print("\n".join(report.lines), flush=True)
            if report.failed:
                differing.append(name)
    print(f"{len(names)} tokenizers, {len(differing)} with differences" + (": " + "; ".join(differing) if differing else ""))
    sys.exit(1 if differing or not names else 0)


if __name__ == "__main__":
    main()
