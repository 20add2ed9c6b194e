"""IR text to object code, here or in other processes.

Run as a script, this file reads IR from its standard input and writes object code to its standard output. It imports
LLVM only, and nothing of the user's program, so such a process starts at once and needs no guard in the user's script.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from functools import cache


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
    """How many processes may compile at the same time."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, 8)


def compile_all(texts, level):
    """Object code of each text: the first compiled here, the others by workers, or here if a worker fails."""
    with ExitStack() as files:
        workers = [_start(text, level, files) for text in texts[1:]]
        images = [compile_one(texts[0], level)]
        for text, worker in zip(texts[1:], workers):
            images.append(_finish(worker) or compile_one(text, level))
    return images


def _start(text, level, files):
    """A process at work on `text` and the file it writes to, or None where none can be started."""
    try:
        source, target = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
        source.write(text.encode())
        source.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(level)],
            stdin=source,
            stdout=target,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    except (OSError, ValueError, TypeError):
        return None
    return process, target


def _finish(worker):
    """The object code that a worker wrote, or None if it failed."""
    if worker is None:
        return None
    process, target = worker
    if process.wait() != 0:
        return None
    target.seek(0)
    return target.read()


if __name__ == "__main__":
    sys.stdout.buffer.write(compile_one(sys.stdin.buffer.read().decode(), int(sys.argv[1])))
    sys.stdout.buffer.flush()
