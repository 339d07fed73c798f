"""A copy of the sources with a build directory of its own, in which mutants are built and tests run."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

# What compiles fastest: most mutants are noticed by what a test asserts.
PLAIN = ["--buildtype=debug", "-Doptimization=0", "-Dc_args=-g0", "-Dcpp_args=-g0"]
# As ./check builds for the sanitizers, but for the warnings: a mutant may leave a function unused.
SANITIZED = ["--buildtype=debug", "-Doptimization=1", "-Db_lundef=false", "-Db_sanitize=address,undefined",
             "-Dc_args=-g1 -fno-sanitize-recover=all", "-Dcpp_args=-g1 -fno-sanitize-recover=all -fno-sanitize=vptr"]

# A test that takes this many times as long as without a mutant, and this long at least, hangs.
SLOWER = 5
LEAST_TIMEOUT_S = 60
UNMEASURED_TIMEOUT_S = 300

# Most tests wait more than they compute.
SIDE_BY_SIDE = 10

# What a test says when it fails, of which the first line is told.
WORDS = re.compile(rb"(not ok .*|.*ERROR: AddressSanitizer.*|.*runtime error:.*|Bail out!.*|.*ERROR:.*)")


@dataclass
class Result:
    passed: bool
    words: str
    seconds: float
    hangs: bool = False


def copy_sources(root, tree):
    """Makes @tree what the working tree of @root is; what is the same keeps its time, so it is not built again. Returns
    whether anything was not."""
    changed = False
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True).stdout
    names = [name for name in listed.decode().split("\0") if name and (root / name).is_file()]
    for name in names:
        source, copy = root / name, tree / name
        if copy.exists() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
        changed = True
    kept = set(names)
    for path in tree.rglob("*"):
        if path.is_file() and str(path.relative_to(tree)) not in kept:
            path.unlink()
            changed = True
    return changed


class Workshop:
    def __init__(self, root, directory, setup=None):
        """@root: what is copied; None: the tree is there, and this is one more build of it."""
        self.tree = directory / "tree"
        self.build = directory / ("build" if setup is None else "sanitized")
        self.tree.mkdir(parents=True, exist_ok=True)
        self.measured = directory / "seconds.json"
        if root is not None and copy_sources(root, self.tree):
            self.measured.unlink(missing_ok=True)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["meson", "setup", self.build, self.tree, *(setup or PLAIN)], check=True, stdout=subprocess.DEVNULL)
        self.with_sanitizers = None
        self.tests = {}
        self.files = {}  # of a target, by its id
        self.seconds = {}  # of a test without a mutant, by name
        self.lock = threading.Lock()
        self.running = set()  # under lock: programs

    def read_tests(self):
        """Tests by their name, and by "suite/name", since some names stand in two suites."""
        subprocess.run(["ninja", "-C", self.build, "build.ninja"], check=True, stdout=subprocess.DEVNULL)
        self.files = {target["id"]: target["filename"] for target in self.introspect("--targets")}
        for test in self.introspect("--tests"):
            suite = test["suite"][0].split(":")[-1]
            self.tests[f"{suite}/{test['name']}"] = test
            self.tests.setdefault(test["name"], test)

    def introspect(self, what):
        return json.loads(subprocess.run(["meson", "introspect", what, self.build], check=True, capture_output=True).stdout)

    def sanitized(self):
        """The same tree, built with sanitizers: made when it is asked for first."""
        if self.with_sanitizers is None:
            self.with_sanitizers = Workshop(None, self.tree.parent, SANITIZED)
            self.with_sanitizers.read_tests()
        return self.with_sanitizers

    def make(self, names):
        """Builds what the tests @names run. Returns what the compiler said, or None."""
        targets = {os.path.relpath(file, self.build)
                   for name in names for target in self.tests[name]["depends"] for file in self.files[target]}
        ended = subprocess.run(["ninja", "-C", self.build, *sorted(targets)], capture_output=True, text=True)
        return None if ended.returncode == 0 else ended.stdout

    def run(self, name):
        test = self.tests[name]
        timeout_s = max(LEAST_TIMEOUT_S, SLOWER * self.seconds[name]) if name in self.seconds else UNMEASURED_TIMEOUT_S
        began, hangs = time.monotonic(), False
        with subprocess.Popen(test["cmd"], env={**os.environ, **test["env"]}, cwd=test["workdir"] or self.build,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              start_new_session=True) as program:
            with self.lock:
                self.running.add(program)
            try:
                said = program.communicate(timeout=timeout_s)[0]
                words = WORDS.search(said)
                text = words.group(1).decode(errors="replace")[:160] if words else f"exit code {program.returncode}"
                passed = program.returncode == 0 and b"\nnot ok" not in said
            except subprocess.TimeoutExpired:
                os.killpg(program.pid, signal.SIGKILL)
                program.communicate()
                passed, hangs, text = False, True, f"not done after {timeout_s:.0f} s"
            with self.lock:
                self.running.discard(program)
        return Result(passed, "" if passed else text, time.monotonic() - began, hangs)

    def measure(self, names):
        """Runs the tests without a mutant, but those that were since the sources changed. Returns what failed."""
        if self.measured.exists():
            self.seconds = json.loads(self.measured.read_text())
        failed = []
        for name, result in self.run_all([name for name in names if name not in self.seconds]):
            if result.passed:
                self.seconds[name] = result.seconds
            else:
                failed.append(f"{name}: {result.words}")
        self.measured.write_text(json.dumps(self.seconds))
        return failed

    def kill_running(self):
        with self.lock:
            for program in self.running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)

    def run_all(self, names):
        """Yields (name, result) of each, as they end; who stops to listen ends the others."""
        with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
            futures = {pool.submit(self.run, name): name for name in names}
            try:
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                for future in futures:
                    future.cancel()
                self.kill_running()

    def first_failure(self, names):
        """(name, words) of a test that fails, and fails again where it may be by chance; None."""
        for name, result in self.run_all(names):
            if result.passed:
                continue
            if self.is_unit(name) or result.hangs or not self.run(name).passed:
                return name, result.words
        return None

    def is_unit(self, name):
        return self.tests[name]["suite"][0].endswith("unit")
