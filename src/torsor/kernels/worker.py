"""IR text to object code, here or in other processes.

Run as a script, this file reads IR from its standard input and writes object code to its standard output. It imports
LLVM only, and nothing of the user's program, so such a process starts at once and needs no guard in the user's script.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from functools import cache

DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
PROCESSES = "TORSOR_PROCESSES"  # the variable that limits how many processes compile at the same time
PARENT = "TORSOR_PARENT"  # the variable with the process id of the parent


@cache
def initialize():
    """Make LLVM ready for this machine's CPU."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@cache
def host():
    """Triple, name and features of this machine's CPU."""
    import llvmlite.binding as llvm

    initialize()
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def machine(level):
    """A code generator for this machine's CPU."""
    import llvmlite.binding as llvm

    triple, cpu, features = host()
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=cpu, features=features, opt=level, reloc="pic", codemodel="small"
    )


def compile_one(text, level):
    """Object code of one module of IR."""
    import llvmlite.binding as llvm

    generator = machine(level)
    header = f'target triple = "{host()[0]}"\ntarget datalayout = "{generator.target_data}"\n'
    return generator.emit_object(llvm.parse_assembly(header + text))


def available():
    """How many processes may compile at the same time: as many as there are processors, or as the user's environment says."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    given = os.environ.get(PROCESSES, "")
    return min(cores, 8, int(given) if given.isdigit() and int(given) else 8)


def compile_all(groups):
    """Object code of each group of (text, level): the first group compiled here, the others by a worker each, or here if it
    fails.

    Compiling cannot be interrupted: a text should not take much longer than a tenth of a second.
    """
    here, *others = groups
    with ExitStack() as stack:
        workers = [_start("".join(_join_texts(group)), stack) for group in others]
        images = [compile_one(*given) for given in here]
        for group, worker in zip(others, workers):
            done = _finish(worker)
            images += [compile_one(*given) for given in group] if done is None else done
    return images


def _join_texts(group):
    """Several texts as one: each after its level, and both after their length."""
    for text, level in group:
        yield f"{len(text.encode()) + 1}\n{level}"
        yield text


def _separate(data):
    """Several pieces of bytes, each with its length before it."""
    found = []
    while data:
        length, _, data = data.partition(b"\n")
        found.append(data[: int(length)])
        data = data[int(length) :]
    return found


@contextmanager
def start_worker(arguments, given, target=None):
    """Another Python at work on the bytes `given`, in a process that does not outlive this block, nor this process."""
    with tempfile.TemporaryFile() as source:
        source.write(given)
        source.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", *arguments],
            stdin=source,
            stdout=target or subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), PARENT: str(os.getpid())},
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def end_with_parent():
    """Let this process end when the one that started it is gone, however that ended."""

    def watch(parent):
        while os.getppid() == parent:
            time.sleep(0.1)
        os._exit(1)

    if (
        sys.platform == "linux" and PARENT in os.environ
    ):  # at once; the thread below has to wait for a chance while LLVM works
        ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)
    if os.name == "posix" and PARENT in os.environ:
        threading.Thread(target=watch, args=(int(os.environ[PARENT]),), daemon=True).start()


def _start(text, stack):
    """A process at work on `text` and the file it writes to, or None where none can be started."""
    try:
        target = stack.enter_context(tempfile.TemporaryFile())
        return stack.enter_context(start_worker([__file__], text.encode(), target)), target
    except (OSError, ValueError, TypeError):
        return None


def _finish(worker):
    """The object code that a worker wrote, or None if it failed."""
    if worker is None:
        return None
    process, target = worker
    if process.wait() != 0:
        return None
    target.seek(0)
    return _separate(target.read())


if __name__ == "__main__":
    end_with_parent()
    for given in _separate(sys.stdin.buffer.read()):
        image = compile_one(given[1:].decode(), int(given[:1]))
        sys.stdout.buffer.write(b"%d\n" % len(image) + image)
    sys.stdout.buffer.flush()
