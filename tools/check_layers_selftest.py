#!/usr/bin/env python3
"""That check_layers.py finds what it is there to find: each rule broken once, in a project of two files."""
import pathlib, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parents[1]
CASES = [
    ("src/sched/x.cc", '#include "engine/engine.h"', "sched may not include engine"),
    ("src/api/x.h", '#include "sched/plan.h"', "api may not include sched"),
    ("src/core/x.h", '#include "app/serve.h"', "core may not include app"),
    ("src/cache/x.h", "#include <mutex>", "are arguments in cache"),
    ("src/sched/x.cc", "#include <chrono>", "are arguments in sched"),
    ("src/api/x.cc", 'auto x = getenv("X");', "process-wide effect"),
    ("src/engine/x.cc", "void f() { exit(1); }", "process-wide effect"),
    ("src/text/x.cc", "std::cout << 1;", "process-wide effect"),
    ("src/text/x.cc", "#include <immintrin.h>", "intrinsics outside"),
    ("src/model/x.cc", "if (std::filesystem::exists(path.parent_path() / name(a, b))) return;", "give std::filesystem an error code"),
    ("src/model/x.cc", "auto n = fs::file_size(path);", "give std::filesystem an error code"),
    ("src/base/x.cc", '#include "x.h"', "include by path from src/"),
    ("src/base/x.cc", "\n" * 601, "601 lines"),
    ("src/kernels/x.cc", "#ifdef REPRISE_CUDA\n#if defined(CUDA)", "no conditional on CUDA"),
    ("src/new/x.cc", "", "not in the include table"),
]


def check(folder):
    return subprocess.run([sys.executable, str(root / "tools/check_layers.py"), folder], capture_output=True, text=True)


failed = 0
for path, text, told in CASES:
    with tempfile.TemporaryDirectory() as folder:
        project = pathlib.Path(folder)
        (project / "ARCHITECTURE.md").write_text((root / "ARCHITECTURE.md").read_text())
        (project / "src/base").mkdir(parents=True)
        (project / "src/base/good.cc").write_text('#include "base/check.h"\n')
        clean = check(folder)
        file = project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        broken = check(folder)
        if clean.returncode != 0 or broken.returncode != 1 or told not in broken.stdout:
            failed += 1
            print(f"FAILED {path} {text[:40]!r}: wanted {told!r}, got {broken.stdout!r} (clean: {clean.stdout!r})")
print(f"{len(CASES) - failed} passed, {failed} failed")
sys.exit(failed > 0)
