#!/usr/bin/env bash
# run.sh SMOLLM2 GEMMA3 [--new-text]: recomputes tests/golden from fp32 transformers. SMOLLM2 is SmolLM2-135M-Instruct (Q4_1
# GGUF), GEMMA3 is Gemma 3 270M (Q4_K_M GGUF).
# PyTorch comes from PyPI and takes about 3 GB of disk. Its wheel wants CUDA 13 libraries even for CPU work: without
# a CUDA 13 toolkit in the library path, the full dependencies are installed instead (5 GB more).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=${XDG_CACHE_HOME:-$HOME/.cache}/reprise/venv-oracle
requirements=$root/tools/oracle/requirements.txt
python=$folder/bin/python
if ! cmp -s "$requirements" "$folder/.requirements"; then
  echo "installing PyTorch and transformers into $folder" >&2
  rm -rf "$folder"
  python3 -m venv "$folder"
  pip() { "$folder/bin/pip" install -q --disable-pip-version-check "$@"; }
  grep -v '^#' "$requirements" | xargs "$folder/bin/pip" install -q --disable-pip-version-check --no-deps
  pip filelock typing-extensions 'sympy>=1.13.3' networkx jinja2 fsspec
  "$python" -c 'import torch' 2>/dev/null || pip "$(grep '^torch==' "$requirements")"
  pip transformers==5.24.0 gguf==0.19.0 numpy
  cp "$requirements" "$folder/.requirements"
fi
"$root/dev" build release write_oracle_models
models=$(mktemp -d)
trap 'rm -rf "$models"' EXIT
"$root/build/release/src/model/write_oracle_models" "$models"
"$python" "$root/tools/oracle/golden.py" --tiny "$models" --smollm2 "$1" --gemma3 "$2" --out "$root/tests/golden" "${@:3}"
"$python" "$root/tools/oracle/folders.py" --out "$root/tests/golden"
"$python" "$root/tools/oracle/weight_blocks.py" --out "$root/tests/golden"
