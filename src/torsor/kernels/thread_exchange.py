"""Native code by which threads of one process tell each other numbers, as fast as memory is.

    exchange(double* numbers, int32* counts)         each has computed its part of the numbers, and has all afterwards
    agree(double* numbers, int64 count, int64 what)  0: the largest of each, not a number if any is not;  1: those of thread 0

Every thread writes its part into a common place, waits until all have, and reads. There are two places, used in turn, so that
nobody writes where another one still reads. Waiting is looking again and again, then giving the processor to others. Where
`over` is set, waiting ends, and numbers are not numbers.
"""

import ctypes
import sys
from itertools import count as counting

import numpy as np

from . import worker
from .backends.llvm import _engine

CAPACITY = 1 << 20  # numbers that threads can tell each other at once
LINE = 8  # numbers of a cache line: what threads write stands apart
ARRIVED, OVER, TURNS = 0, 1, 2  # lines: how many came to any meeting, whether all is over, how often each exchanged
_numbers = counting()


class Team:
    """The functions `exchange` and `agree` of each of so many threads, by address."""

    def __init__(self, size):
        self.size = size
        self.lines = np.zeros((TURNS + size + 1, LINE), np.int64)
        self.room = np.zeros(2 * CAPACITY)
        text = COMMON.replace("<lines>", str(self.lines.ctypes.data)).replace("<room>", str(self.room.ctypes.data))
        text = text.replace("<size>", str(size)).replace("<half>", str(CAPACITY)).replace("<yield>", _yielding())
        text += "".join(OWN.replace("<rank>", str(rank)).replace("<turn>", str(TURNS + rank)) for rank in range(size))
        self._owner, names = _link(text, [f"{what}{rank}" for rank in range(size) for what in ("exchange", "agree")])
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        kinds = ctypes.CFUNCTYPE(None, pointer, pointer), ctypes.CFUNCTYPE(None, pointer, number, number)
        self.exchange = [kinds[0](names[f"exchange{rank}"]) for rank in range(size)]
        self.agree = [kinds[1](names[f"agree{rank}"]) for rank in range(size)]

    def end(self):
        """Nobody waits any more."""
        self.lines[OVER, 0] = 1

    @property
    def over(self):
        return bool(self.lines[OVER, 0])


def _yielding():
    return "SwitchToThread" if sys.platform == "win32" else "sched_yield"


def _link(text, names):
    """Code of a module, and the addresses of its functions."""
    import llvmlite.binding as llvm

    library = llvm.JITLibraryBuilder().add_current_process().add_object_img(worker.compile_one(text, 2))
    for name in names:
        library.export_symbol(name)
    owner = library.link(_engine(), f"team{next(_numbers)}")
    return owner, {name: owner[name] for name in names}


COMMON = """
declare i32 @<yield>()

define internal ptr @line(i64 %k) {
  %base = inttoptr i64 <lines> to ptr
  %at = mul i64 %k, 8
  %p = getelementptr i64, ptr %base, i64 %at
  ret ptr %p
}

define internal i1 @meet() {
start:
  %arrived = call ptr @line(i64 0)
  %over = call ptr @line(i64 1)
  %ticket = atomicrmw add ptr %arrived, i64 1 acq_rel
  %round = udiv i64 %ticket, <size>
  %next = add i64 %round, 1
  %goal = mul i64 %next, <size>
  br label %look
look:
  %tries = phi i64 [ 0, %start ], [ %more, %rest ]
  %now = load atomic i64, ptr %arrived acquire, align 8
  %all = icmp uge i64 %now, %goal
  br i1 %all, label %met, label %wait
wait:
  %ended = load atomic i64, ptr %over acquire, align 8
  %gone = icmp ne i64 %ended, 0
  br i1 %gone, label %lost, label %patient
patient:
  %more = add i64 %tries, 1
  %long = icmp ugt i64 %more, 3000
  br i1 %long, label %give, label %rest
give:
  %ignored = call i32 @<yield>()
  br label %rest
rest:
  br label %look
met:
  ret i1 true
lost:
  ret i1 false
}

define internal ptr @place(i64 %turn) {
  %own = call ptr @line(i64 %turn)
  %t = load i64, ptr %own
  %u = add i64 %t, 1
  store i64 %u, ptr %own
  %odd = and i64 %t, 1
  %shift = mul i64 %odd, <half>
  %room = inttoptr i64 <room> to ptr
  %p = getelementptr double, ptr %room, i64 %shift
  ret ptr %p
}

define internal void @copy(ptr %from, ptr %to, i64 %first, i64 %last) {
start:
  br label %check
check:
  %i = phi i64 [ %first, %start ], [ %n, %do ]
  %more = icmp ult i64 %i, %last
  br i1 %more, label %do, label %done
do:
  %a = getelementptr double, ptr %from, i64 %i
  %b = getelementptr double, ptr %to, i64 %i
  %x = load double, ptr %a
  store double %x, ptr %b
  %n = add i64 %i, 1
  br label %check
done:
  ret void
}

define internal void @spoil(ptr %x, i64 %count) {
start:
  br label %check
check:
  %i = phi i64 [ 0, %start ], [ %n, %do ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %do, label %done
do:
  %a = getelementptr double, ptr %x, i64 %i
  store double 0x7FF8000000000000, ptr %a
  %n = add i64 %i, 1
  br label %check
done:
  ret void
}

define internal i64 @before(ptr %counts, i64 %rank) {
start:
  br label %check
check:
  %i = phi i64 [ 0, %start ], [ %n, %do ]
  %sum = phi i64 [ 0, %start ], [ %s, %do ]
  %more = icmp ult i64 %i, %rank
  br i1 %more, label %do, label %done
do:
  %a = getelementptr i32, ptr %counts, i64 %i
  %x = load i32, ptr %a
  %y = sext i32 %x to i64
  %s = add i64 %sum, %y
  %n = add i64 %i, 1
  br label %check
done:
  ret i64 %sum
}

define internal i1 @fits(i64 %count) {
  %fine = icmp ule i64 %count, <half>
  br i1 %fine, label %yes, label %no
no:
  %over = call ptr @line(i64 1)
  store atomic i64 1, ptr %over release, align 8
  ret i1 false
yes:
  ret i1 true
}

define internal void @exchanged(ptr %x, ptr %counts, i64 %rank, i64 %turn) {
  %first = call i64 @before(ptr %counts, i64 %rank)
  %next = add i64 %rank, 1
  %last = call i64 @before(ptr %counts, i64 %next)
  %total = call i64 @before(ptr %counts, i64 <size>)
  %room = call i1 @fits(i64 %total)
  br i1 %room, label %tell, label %lost
tell:
  %p = call ptr @place(i64 %turn)
  call void @copy(ptr %x, ptr %p, i64 %first, i64 %last)
  %met = call i1 @meet()
  br i1 %met, label %read, label %lost
read:
  call void @copy(ptr %p, ptr %x, i64 0, i64 %first)
  call void @copy(ptr %p, ptr %x, i64 %last, i64 %total)
  ret void
lost:
  call void @spoil(ptr %x, i64 %total)
  ret void
}

define internal void @largest(ptr %p, ptr %x, i64 %count) {
start:
  %total = mul i64 %count, <size>
  call void @copy(ptr %p, ptr %x, i64 0, i64 %count)
  br label %check
check:
  %i = phi i64 [ %count, %start ], [ %n, %do ]
  %more = icmp ult i64 %i, %total
  br i1 %more, label %do, label %done
do:
  %k = urem i64 %i, %count
  %a = getelementptr double, ptr %p, i64 %i
  %b = getelementptr double, ptr %x, i64 %k
  %y = load double, ptr %a
  %m = load double, ptr %b
  %above = fcmp ogt double %y, %m
  %none = fcmp uno double %y, %y
  %take = or i1 %above, %none
  %z = select i1 %take, double %y, double %m
  store double %z, ptr %b
  %n = add i64 %i, 1
  br label %check
done:
  ret void
}

define internal void @agreed(ptr %x, i64 %count, i64 %what, i64 %rank, i64 %turn) {
  %total = mul i64 %count, <size>
  %room = call i1 @fits(i64 %total)
  br i1 %room, label %tell, label %lost
tell:
  %p = call ptr @place(i64 %turn)
  %at = mul i64 %rank, %count
  %own = getelementptr double, ptr %p, i64 %at
  call void @copy(ptr %x, ptr %own, i64 0, i64 %count)
  %met = call i1 @meet()
  br i1 %met, label %read, label %lost
read:
  %same = icmp ne i64 %what, 0
  br i1 %same, label %first, label %most
first:
  call void @copy(ptr %p, ptr %x, i64 0, i64 %count)
  ret void
most:
  call void @largest(ptr %p, ptr %x, i64 %count)
  ret void
lost:
  call void @spoil(ptr %x, i64 %count)
  ret void
}
"""
OWN = """
define void @exchange<rank>(ptr %x, ptr %counts) {
  call void @exchanged(ptr %x, ptr %counts, i64 <rank>, i64 <turn>)
  ret void
}

define void @agree<rank>(ptr %x, i64 %count, i64 %what) {
  call void @agreed(ptr %x, i64 %count, i64 %what, i64 <rank>, i64 <turn>)
  ret void
}
"""
