#!/usr/bin/env python3
"""Checks the include rules against the table in ARCHITECTURE.md:  check_layers.py [PROJECT_ROOT]

For every file under src/: which module may include which, no <thread>, <mutex>, <chrono> where time and threads are
arguments, no process-wide effects outside app/, intrinsics only in ISA files, and no file past the length limit.
"""
import pathlib, re, sys

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
errors = []

# The table: rows `| module | may include |`, the cell a list of modules, "all", or "std and third-party only".
allowed = {}
section = (root / "ARCHITECTURE.md").read_text().split("may include", 1)[1]
for row in section.splitlines()[1:]:
    cells = [c.strip() for c in row.strip().strip("|").split("|")]
    if len(cells) != 2:
        if allowed:
            break
        continue
    module, cell = cells
    if re.fullmatch(r"-+", module):
        continue
    allowed[module] = None if cell.startswith("all") else set(re.findall(r"[a-z]+", cell.split("(")[0])) - {"std", "and", "third", "party", "only"}
modules = {d.name for d in (root / "src").iterdir() if d.is_dir()}
for module in sorted(modules - allowed.keys()):
    errors.append(f"src/{module}: not in the include table of ARCHITECTURE.md")

PURE = {"sched", "cache"}
PURE_BANNED = re.compile(r"#include <(thread|mutex|chrono)>")
GLOBAL_BANNED = re.compile(r"\b(getenv|std::cout|std::cerr)\b|(?<![\w.:>])(?:std::)?exit\(")
INTRINSICS = re.compile(r"#include <(immintrin|x86intrin|emmintrin|avx\w*)\.h>")
# Without an error code these throw, for a name that is too long or a folder that may not be read.
THROWING = re.compile(r"\b(?:filesystem|fs)::(?:exists|is_\w+|status|file_size|weakly_canonical|canonical|absolute|directory_iterator)"
                      r"\((?:[^(),]|\([^()]*\))*\)")
MAX_LINES = 600

for path in sorted((root / "src").rglob("*")):
    if path.suffix not in {".h", ".cc", ".cu"}:
        continue
    rel = path.relative_to(root)
    module = rel.parts[1]
    lines = path.read_text().splitlines()
    test = re.search(r"_(test|fuzz|bench)\.cc$", path.name)
    if len(lines) > MAX_LINES:
        errors.append(f"{rel}: {len(lines)} lines (more than {MAX_LINES}: look for the second idea in it)")
    for number, line in enumerate(lines, 1):
        where = f"{rel}:{number}"
        include = re.match(r'#include "([a-z_]+)/', line)
        if include and module in allowed and allowed[module] is not None:
            target = include.group(1)
            if target != module and target not in allowed[module]:
                errors.append(f"{where}: {module} may not include {target}")
        if re.match(r'#include "[^/"]+"', line):
            errors.append(f"{where}: include by path from src/")
        if test:
            continue
        if module in PURE and "io" not in rel.parts and PURE_BANNED.search(line):
            errors.append(f"{where}: threads and time are arguments in {module}/")
        code = line.split("//")[0]
        if module != "app" and GLOBAL_BANNED.search(code):
            errors.append(f"{where}: process-wide effect outside app/")
        if "testing" not in rel.parts and THROWING.search(code):
            errors.append(f"{where}: a file may be anything: give std::filesystem an error code")
        if INTRINSICS.search(line) and not (rel.parts[1:3] == ("kernels", "cpu") or rel.name == "task_pool.cc"):
            errors.append(f"{where}: intrinsics outside kernels/cpu/")
        if re.search(r"#\s*if(def)?.*\bCUDA\b", line):
            errors.append(f"{where}: no conditional on CUDA; link kernels/cuda/none.cc")

for error in errors:
    print(error)
print(f"{'FAILED' if errors else 'ok'}: {len(modules)} modules checked against ARCHITECTURE.md")
sys.exit(bool(errors))
