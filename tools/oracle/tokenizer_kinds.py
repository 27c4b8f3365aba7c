"""The tokenizers that compare_tokenizers.py makes with Hugging Face's library and with SentencePiece, for every kind of model
and for chains of normalizers, pre-tokenizers and decoders."""
import json

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers as nz, pre_tokenizers as pt, processors, trainers

import gguf_metadata
import tokenizer as bench

BYTE_LEVEL = ("gpt-2", "smollm", "llama-bpe", "qwen2", "deepseek-coder", "deepseek-llm")
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
         r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK3 = (r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+""")
SPECIALS = ["<s>", "</s>", "<unk>", "<|im_start|>", "<|im_end|>"]
ADDED = [AddedToken("<tool>", normalized=False), AddedToken("<tool_call>", lstrip=True, rstrip=True, normalized=False), AddedToken("wordy", single_word=True),
         AddedToken("İstanbul", normalized=True), AddedToken("<think>", rstrip=True), AddedToken("\u2581\u2581", normalized=False),
         AddedToken("<mask>", lstrip=True, special=True)]


def is_control(text):
    """Do we take an added token for one that shapes a conversation, whatever the file calls it?"""
    bar = lambda side: side in ("|", "｜")
    return text in ("<pad>", "<mask>", "<start_of_turn>", "<end_of_turn>") or (
        text.startswith("<") and text.endswith(">") and len(text) > 3 and (bar(text[1]) or bar(text[-2]) or text.startswith("<unused")))


def split(pattern, behavior="isolated", invert=False):
    return pt.Split(Regex(pattern), behavior, invert)


def trained():
    """name -> (Tokenizer without vocabulary, trainer). Small vocabularies: merges collide all the more."""
    byte_level = lambda **o: pt.ByteLevel(add_prefix_space=o.pop("prefix", False), **o)
    bpe = lambda **o: trainers.BpeTrainer(vocab_size=6000, special_tokens=SPECIALS, show_progress=False, **o)
    letters = dict(initial_alphabet=pt.ByteLevel.alphabet())
    unigram = lambda **o: trainers.UnigramTrainer(vocab_size=4000, special_tokens=SPECIALS, unk_token="<unk>", show_progress=False, **o)
    byte_tokens = [f"<0x{b:02X}>" for b in range(256)]
    sentencepiece = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    plain_words = trainers.BpeTrainer(vocab_size=6000, special_tokens=SPECIALS + byte_tokens, show_progress=False, limit_alphabet=600)

    def make(model, pre=None, normalizer=None, decoder=None, trainer=None, post=None):
        tokenizer = Tokenizer(model)
        if pre: tokenizer.pre_tokenizer = pre
        if normalizer: tokenizer.normalizer = normalizer
        if decoder: tokenizer.decoder = decoder
        if post: tokenizer.post_processor = post
        return tokenizer, trainer

    return {
        "byte-level": make(models.BPE(), byte_level(), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, prefix space, NFC": make(models.BPE(), byte_level(prefix=True), nz.NFC(), decoders.ByteLevel(), bpe(**letters)),
        "byte-level without alphabet": make(models.BPE(unk_token="<unk>"), byte_level(), None, decoders.ByteLevel(), bpe()),
        "byte-level, GPT-4's words": make(models.BPE(ignore_merges=True), pt.Sequence([split(GPT4), byte_level(use_regex=False)]), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, o200k's words": make(models.BPE(), pt.Sequence([split(O200K), byte_level(use_regex=False)]), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, Kimi's words": make(models.BPE(), pt.Sequence([split(KIMI), byte_level(use_regex=False)]), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, DeepSeek V3's words": make(models.BPE(), pt.Sequence([split(r"\p{N}{1,3}"), split("[一-龥\u3040-ゟ゠-ヿ]+"), split(DEEPSEEK3), byte_level(use_regex=False)]),
                                                None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, StarCoder's words": make(models.BPE(), pt.Sequence([pt.Digits(individual_digits=True), byte_level()]), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, Bloom's words": make(models.BPE(), pt.Sequence([split(r" ?[^(\s|[.,!?…。，、।۔،])]+"), byte_level(use_regex=False)]), None, decoders.ByteLevel(), bpe(**letters)),
        "byte-level, Falcon's words": make(models.BPE(), pt.Sequence([pt.Punctuation("contiguous"), byte_level(), pt.Digits(), split("[0-9][0-9][0-9]")]), None,
                                           decoders.ByteLevel(), bpe(**letters)),
        "byte-level normalizer": make(models.BPE(), split(r"Ġ?[^Ġ]+|Ġ+", "isolated"), nz.Sequence([nz.NFKC(), nz.ByteLevel()]), decoders.ByteLevel(), bpe(**letters)),
        "Llama 2's kind": make(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), None, nz.Sequence([nz.Prepend("\u2581"), nz.Replace(" ", "\u2581")]),
                               sentencepiece, plain_words),
        "Gemma's kind": make(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), pt.Split(" ", "merged_with_previous"), nz.Replace(" ", "\u2581"),
                             decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]), plain_words),
        "metaspace, first": make(models.BPE(unk_token="<unk>"), pt.Metaspace(prepend_scheme="first"), None, decoders.Metaspace(prepend_scheme="first"), bpe(limit_alphabet=300)),
        "metaspace, whole, fused": make(models.BPE(unk_token="<unk>", fuse_unk=True), pt.Metaspace(prepend_scheme="never", split=False), nz.NFKD(),
                                        decoders.Metaspace(prepend_scheme="never"), bpe(limit_alphabet=300)),
        "word ends": make(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"), pt.Whitespace(), nz.Sequence([nz.NFD(), nz.StripAccents(), nz.Lowercase()]),
                          decoders.BPEDecoder("</w>"), bpe(end_of_word_suffix="</w>", limit_alphabet=400)),
        "continued words": make(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"), pt.BertPreTokenizer(), nz.BertNormalizer(), decoders.WordPiece("##", True),
                                bpe(continuing_subword_prefix="##", limit_alphabet=400)),
        "unigram": make(models.Unigram(), pt.Metaspace(), nz.Sequence([nz.Nmt(), nz.NFKC(), nz.Replace(Regex(" {2,}"), " ")]), decoders.Metaspace(), unigram()),
        "unigram, words and spaces": make(models.Unigram(), pt.Sequence([pt.WhitespaceSplit(), pt.Metaspace()]), nz.Sequence([nz.Strip(), nz.Lowercase()]), decoders.Metaspace(),
                                          unigram(), processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])),
        "delimited": make(models.BPE(unk_token="<unk>"), pt.Sequence([pt.CharDelimiterSplit("e"), pt.Punctuation("merged_with_next"), pt.Digits(True), pt.FixedLength(4)]),
                          nz.Sequence([nz.Replace("a", ""), nz.Replace(Regex(r"\s+"), " "), nz.Strip(True, False)]), decoders.Fuse(), bpe(limit_alphabet=400)),
        "split every way": make(models.BPE(unk_token="<unk>"), pt.Sequence([split(r"\w+|[^\w\s]+", "removed", True), pt.Split("o", "merged_with_previous"),
                                                                           split("[aeiu]+", "merged_with_next"), split(r"\b", "isolated"), split("[[:upper:]]|\\h", "contiguous")]),
                                None, None, bpe(limit_alphabet=500)),
        "no stages": make(models.BPE(unk_token="<unk>"), None, None, None, bpe(limit_alphabet=300, max_token_length=12)),
    }


SENTENCEPIECE = {
    "SentencePiece BPE": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False),
    "SentencePiece BPE with symbols": dict(model_type="bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False,
                                           user_defined_symbols=["<tool>", "\n", "\n\n"]),
    "SentencePiece BPE without bytes": dict(model_type="bpe", normalization_rule_name="identity", remove_extra_whitespaces=False, add_dummy_prefix=False),
    "SentencePiece unigram": dict(model_type="unigram", normalization_rule_name="nmt_nfkc"),
    "SentencePiece unigram, bytes": dict(model_type="unigram", byte_fallback=True, normalization_rule_name="nfkc_cf", remove_extra_whitespaces=False),
}


def every_character():
    """Texts in which every character that the library knows, and what lies behind it, stands between letters, digits and marks.
    Of ideographs, syllables and hieroglyphs, which are all alike, the first and last of each 256."""
    alike = lambda c: 0x3400 <= c < 0xA000 or 0xAC00 <= c < 0xD7A4 or 0x12000 <= c < 0x14600 or 0x17000 <= c < 0x18D00 or 0x20000 <= c < 0x2F800 or 0x30000 <= c < 0xE0000
    everything = "".join(chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    known = [ord(c) for part, _ in split(r"[\p{Cn}\p{Co}]", "removed").pre_tokenize_str(everything) for c in part]
    some = sorted({c + i for c in known for i in (0, 1) if (not alike(c) or c % 256 in (0, 255)) and not 0xD800 <= c + i < 0xE000})
    return ["".join(f"a{chr(c)}1{chr(c)}!" for c in some[i:i + 256]) for i in range(0, len(some), 256)]


def walks():
    """name -> (pre-tokenizer, normalizer, added token), one of them, to be shown what every_character() gives."""
    words = {f"{pre}'s words": bench.hf_pre_tokenizer(pre) for pre in BYTE_LEVEL + bench.BORROWING} | {
        "digits": pt.Digits(True), "punctuation": pt.Punctuation(), "words": pt.Whitespace(), "white space": pt.WhitespaceSplit(), "BERT's words": pt.BertPreTokenizer(),
        r"\w": split(r"\w+"), r"\b": split(r"\b"), r"[\w]": split(r"[^\W\d]+"), "brackets": split("[[:upper:]]+|[[:punct:]]+|[[:cntrl:]]+"), "more brackets": split("[[:lower:]]+|[[:graph:]]"),
        "categories": split(r"\p{Lu}+|\p{Mn}+|\p{Nd}+|\p{Sm}+|\p{Pd}+|\p{Cf}+|\p{Lm}+"), "more categories": split(r"\p{Ll}+|\p{Mc}+|\p{No}+|\p{So}+|\p{Po}+|\p{Lo}+|\p{Cn}+"),
        "scripts": split(r"\p{Han}+|\p{Hiragana}+|\p{Thai}+|\p{Inherited}+"),
        "more scripts": split(r"\p{Greek}+|\p{Katakana}+|\p{Hangul}+|\p{Hebrew}+"),
    }
    forms = {
        "NFC": nz.NFC(), "NFD": nz.NFD(), "NFKC": nz.NFKC(), "NFKD": nz.NFKD(), "lower case": nz.Lowercase(), "accents": nz.Sequence([nz.NFD(), nz.StripAccents()]),
        "BERT's": nz.BertNormalizer(), "NMT": nz.Nmt(), "strip": nz.Strip(),
    }
    added = {"single words": AddedToken("a1", single_word=True, normalized=False), "space around": AddedToken("a1", lstrip=True, rstrip=True, normalized=False)}
    all = [(words, lambda pre: (pre, None, None)), (forms, lambda form: (None, form, None)), (added, lambda token: (None, None, token))]
    return {f"every character, {name}": stages(one) for ones, stages in all for name, one in ones.items()}


def walk(pre, normalizer, added, texts):
    """A tokenizer whose tokens show where it cut: characters, and characters that end a piece."""
    seen = set("".join(normalizer.normalize_str(text) if normalizer else text for text in texts))
    tokens = ["<unk>"] + sorted(seen) + [c + "</w>" for c in sorted(seen)]
    tokenizer = Tokenizer(models.BPE({token: i for i, token in enumerate(tokens)}, [], unk_token="<unk>", end_of_word_suffix="</w>"))
    if pre: tokenizer.pre_tokenizer = pre
    if normalizer: tokenizer.normalizer = normalizer
    if added: tokenizer.add_tokens([added])
    data = json.loads(tokenizer.to_str())
    data["pre_tokenizer"] = without_letters(data["pre_tokenizer"])
    return Tokenizer.from_str(json.dumps(data))


def without_letters(step):
    """What a pre-tokenizer cuts, without writing bytes as letters."""
    if step and step["type"] == "Sequence":
        return step | {"pretokenizers": [cut for cut in map(without_letters, step["pretokenizers"]) if cut]}
    if step and step["type"] == "ByteLevel":
        return {"type": "Split", "pattern": {"Regex": GPT2}, "behavior": "Isolated", "invert": False} if step["use_regex"] else None
    return step


def sentencepiece_model(data=b""):
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(data)
    return model


def write_gguf(model, path):
    """A SentencePiece model's vocabulary as a GGUF file."""
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("llama" if model.trainer_spec.model_type == model.trainer_spec.BPE else "t5")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.piece for piece in model.pieces])
    writer.add_token_scores([piece.score for piece in model.pieces])
    writer.add_token_types([piece.type for piece in model.pieces])
    writer.add_unk_token_id(model.trainer_spec.unk_id)
    writer.add_add_space_prefix(model.normalizer_spec.add_dummy_prefix)
    writer.add_remove_extra_whitespaces(model.normalizer_spec.remove_extra_whitespaces)
    if model.normalizer_spec.precompiled_charsmap:
        writer.add_precompiled_charsmap(model.normalizer_spec.precompiled_charsmap)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def model_of_gguf(path):
    """The SentencePiece model (BPE) that a GGUF file's vocabulary comes from."""
    fields = gguf_metadata.read(path)
    get = lambda key, other=None: fields.get(f"tokenizer.ggml.{key}", other)
    model = sentencepiece_model()
    for text, score, kind in zip(get("tokens"), get("scores"), get("token_type")):
        # llama.cpp's converter writes spaces in what is found as a whole.
        model.pieces.add(piece=text.replace(" ", "\u2581"), score=score, type=kind)
    spec = model.trainer_spec
    spec.model_type, spec.byte_fallback, spec.treat_whitespace_as_suffix = spec.BPE, True, False
    spec.unk_id, spec.bos_id, spec.eos_id = get("unknown_token_id", 0), get("bos_token_id", 1), get("eos_token_id", 2)
    spec.unk_piece, spec.bos_piece, spec.eos_piece = (model.pieces[i].piece for i in (spec.unk_id, spec.bos_id, spec.eos_id))
    model.pieces[spec.unk_id].type = model.SentencePiece.UNKNOWN
    model.normalizer_spec.name = "identity"
    model.normalizer_spec.add_dummy_prefix = get("add_space_prefix", True)
    model.normalizer_spec.remove_extra_whitespaces = get("remove_extra_whitespaces", False)
    return model


def converted_unigram(model):
    """A SentencePiece unigram model as Hugging Face's library converts one."""
    tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in model.pieces], model.trainer_spec.unk_id, False))
    tokenizer.normalizer = nz.Sequence([nz.Precompiled(model.normalizer_spec.precompiled_charsmap), nz.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pt.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    return tokenizer
