"""Child processes of tools/bench: on given cores, with their time and peak memory."""
import os
import pathlib
import signal
import subprocess
import sys
import time


class Failure(Exception):
    """A part that has to run did not."""


class Finished:
    def __init__(self, seconds, peak_bytes, output):
        self.seconds, self.peak_bytes, self.output = seconds, peak_bytes, output


class Processes:
    """Runs programs of the build; knows the temporary folder and what could not be measured."""

    def __init__(self, source, folder, cores):
        self.source, self.folder, self.cores = source, pathlib.Path(folder), cores
        self.begin = time.monotonic()
        self.not_measured = []

    def program(self, name):
        path = self.source / "build/bin" / name
        if not path.exists():
            raise Failure(f"'{path}' is not there: run tools/setup first")
        return str(path)

    def say(self, text):
        seconds = int(time.monotonic() - self.begin)
        print(f"[{seconds // 60}:{seconds % 60:02}] {text}", file=sys.stderr, flush=True)

    def miss(self, what, why):
        self.not_measured.append({"what": what, "why": why})
        self.say(f"not measured: {what}: {why}")

    def __call__(self, command, cores=2, environment=None):
        """Runs to the end; throws Failure with the command's own last words where it fails."""
        command = [str(word) for word in command]
        with open(self.folder / "output", "w+", errors="replace") as output, \
                open(self.folder / "errors", "w+", errors="replace") as errors:
            begin = time.monotonic()
            chosen = self.cores[:cores]
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                                     env=dict(os.environ, **(environment or {})),
                                     preexec_fn=lambda: os.sched_setaffinity(0, chosen))
            try:
                _, status, usage = os.wait4(child.pid, 0)
            except BaseException:  # also Ctrl-C: nothing goes on in the background
                child.send_signal(signal.SIGKILL)
                child.wait()
                raise
            seconds = time.monotonic() - begin
            child.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            text = output.read()
            if child.returncode != 0:
                errors.seek(0)
                last = (errors.read().strip() or text.strip() or "it ended without a word").splitlines()[-1]
                raise Failure(f"'{' '.join(command)}' failed (exit code {child.returncode}): "
                              f"{last.removeprefix('error: ')}")
        return Finished(seconds, usage.ru_maxrss * 1024, text)
