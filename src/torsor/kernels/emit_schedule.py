"""A schedule, printed as LLVM IR: one loop over the rows of each pass, which calls the classes.

The kernel finds its table, the columns of it (`schedule_tables.py`) and its constants at addresses that are set when it is loaded,
`k_table`, `k_pool` and `k_constants`, and where ranks tell each other numbers in it, the function for that at one more,
`k_exchange`; where it searches for pairs, that of the search, `k_search`; where it repeats passes, that of the next iterate,
`k_iterate`.
"""

from itertools import accumulate

from .emit import Definition
from .emit_pairs import columns, emit_pairs, number
from .schedule_tables import HEAD, header_size

# what a schedule may call, and the attribute that says so
USES = {"exchange": "exchanges", "search": "searches", "iterate": "iterations"}


def emit_schedule(schedule, symbol, classes, scratch):
    """Print the loops of `schedule` as the kernel `symbol`.

    classes   names of the functions of all classes, by pass and kind
    scratch   length of the work vector that the classes need; the schedule's own memory follows it
    """
    pointers = {name: f"%a{i}" for i, name in enumerate(schedule.takes)}
    pointers |= {name: f"%b{i}" for i, name in enumerate(schedule.gives)}
    head = [
        *(f"@{symbol}_{what} = global ptr null\n" for what in USES if getattr(schedule, USES[what])),
        *(f"@{symbol}_{what} = global ptr null\n" for what in ("table", "pool", "constants")),
        f"define void @{symbol}({', '.join(f'ptr {p}' for p in (*pointers.values(), '%w'))}) #0 {{\ne:\n",
        *(f"%{what} = load ptr, ptr @{symbol}_{what}\n" for what in ("table", "pool", "constants")),
        f"%memory = getelementptr double, ptr %w, i64 {scratch}\nbr label %h0\n",
    ]
    pointers |= dict(zip(schedule.own, ("%memory", "%constants")))
    sizes = [
        HEAD + 2 * (1 + len(one.vectors)) if names else header_size(one) for one, names in zip(schedule.passes, classes)
    ]

    def text(k, at, one, names):
        if hasattr(one, "begin"):
            return _repeat(k, at, one, [pointers[v] for v in one.vectors], symbol)
        if not names and not one.vectors:
            return f"h{k}:\n%result{k} = alloca i64\n%error{k} = alloca ptr\nbr label %h{k + 1}\n"
        if not names:
            return _exchange(k, at, one, pointers, symbol)
        bases = [pointers[v] for v in one.vectors]
        return emit_pairs(k, at, one, bases, names, symbol) if hasattr(one, "kinds") else _loop(k, at, bases, names)

    several = zip(accumulate([0, *sizes]), schedule.passes, classes)
    body = [text(k, at, one, names) for k, (at, one, names) in enumerate(several)]
    declarations = {
        name: f"declare void @{name}({', '.join(['ptr'] * (_argument_count(one) + 1))}) nounwind\n"
        for one, names in zip(schedule.passes, classes)
        for name in names
    }
    end = f"h{len(schedule.passes)}:\nret void\n}}\n"
    return Definition(symbol, "".join([*head, *body, end]), declarations)


def _argument_count(one):
    """Number of arguments and results of the classes of a pass."""
    return next(f.n_in() + f.n_out() for f in one.classes)


def _exchange(k, at, one, pointers, symbol):
    """The call of the function by which ranks tell each other numbers: with their place, and how many each of them gives."""
    return (
        f"h{k}:\n{number(f'o{k}', at)}{number(f'b{k}', at + 1)}"
        f"%p{k} = getelementptr double, ptr {pointers[one.vectors[0]]}, i64 %b{k}\n"
        f"%n{k} = getelementptr i32, ptr %pool, i64 %o{k}\n%f{k} = load ptr, ptr @{symbol}_exchange\n"
        f"call void %f{k}(ptr %p{k}, ptr %n{k})\nbr label %h{k + 1}\n"
    )


def _repeat(k, at, one, bases, symbol):
    """The end of an iteration: the function of the next iterate changes the numbers, and says whether all is repeated."""
    lines = [f"h{k}:\n", number(f"n{k}", at + 3), f"%f{k} = load ptr, ptr @{symbol}_iterate\n"]
    for j, base in enumerate(bases):
        o = f"{k}_{j}"
        place = f"%p{o} = getelementptr double, ptr {base}, i64 %o{o}\n%a{o} = ptrtoint ptr %p{o} to i64\n"
        lines += [number(f"o{o}", at + j), place]
    arguments = ", ".join(f"i64 %a{k}_{j}" for j in range(len(bases)))
    lines.append(
        f"%s{k} = call i32 %f{k}(ptr %result{one.begin}, ptr %error{one.begin}, {arguments}, i64 %n{k})\n"
        f"%m{k} = load i64, ptr %result{one.begin}\n%d{k} = icmp sgt i64 %m{k}, 0\n"
        f"br i1 %d{k}, label %h{one.begin + 1}, label %h{k + 1}\n"
    )
    return "".join(lines)


def _loop(k, at, bases, names):
    """The loop of pass k, whose header is at some place of the table: blocks h (the header), t (one more?), g (a row), x (a class),
    n (the next row)."""
    lines = [f"h{k}:\n", columns(k, at, bases)]
    lines.append(
        f"br label %t{k}\nt{k}:\n%i{k} = phi i64 [ 0, %h{k} ], [ %j{k}, %n{k} ]\n"
        f"%r{k} = phi i64 [ %f{k}, %h{k} ], [ %u{k}, %n{k} ]\n"
        f"%d{k} = icmp slt i64 %i{k}, %c{k}\nbr i1 %d{k}, label %g{k}, label %h{k + 1}\ng{k}:\n"
    )
    entry = lambda o: f"%e{o} = getelementptr i32, ptr %q{o}, i64 %r{k}\n%l{o} = load i32, ptr %e{o}\n"
    for j in range(1, 1 + len(bases)):
        o = f"{k}_{j}"
        lines.append(f"{entry(o)}%z{o} = sext i32 %l{o} to i64\n%p{o} = getelementptr double, ptr %v{o}, i64 %z{o}\n")
    arguments = ", ".join([*(f"ptr %p{k}_{j}" for j in range(1, 1 + len(bases))), "ptr %w"])
    if len(names) > 1:
        o, choices = f"{k}_0", " ".join(f"i64 {c}, label %x{k}_{c}" for c in range(len(names)))
        lines.append(
            f"{entry(o)}%z{o} = sext i32 %l{o} to i64\n%k{k} = add i64 %z{o}, %b{o}\n"
            f"switch i64 %k{k}, label %n{k} [ {choices} ]\n"
        )
    else:
        lines.append(f"br label %x{k}_0\n")
    lines += [f"x{k}_{c}:\ncall void @{name}({arguments})\nbr label %n{k}\n" for c, name in enumerate(names)]
    lines.append(f"n{k}:\n%j{k} = add i64 %i{k}, 1\n%u{k} = add i64 %r{k}, %s{k}\nbr label %t{k}\n")
    return "".join(lines)
