"""A schedule, printed as LLVM IR: one loop over the rows of each pass, which calls the classes.

The kernel finds its rows and its constants at two addresses that are set when it is loaded, `k_table` and `k_constants`, and
where ranks tell each other numbers in it, the function for that at a third one, `k_exchange`.
"""

from .emit import Definition


def emit_schedule(schedule, symbol, classes, scratch):
    """Print the loops of `schedule` as the kernel `symbol`.

    classes   names of the functions of all classes, by pass and kind
    scratch   length of the work vector that the classes need; the schedule's own memory follows it
    """
    pointers = {name: f"%a{i}" for i, name in enumerate(schedule.takes)}
    pointers |= {name: f"%b{i}" for i, name in enumerate(schedule.gives)}
    head = [
        f"@{symbol}_exchange = global ptr null\n" if schedule.exchanges else "",
        f"@{symbol}_table = global ptr null\n@{symbol}_constants = global ptr null\n",
        f"define void @{symbol}({', '.join(f'ptr {p}' for p in (*pointers.values(), '%w'))}) #0 {{\n",
        f"e:\n%table = load ptr, ptr @{symbol}_table\n%constants = load ptr, ptr @{symbol}_constants\n",
        f"%memory = getelementptr double, ptr %w, i64 {scratch}\n",
        f"%r0 = getelementptr i32, ptr %table, i64 {len(schedule.passes)}\nbr label %h0\n",
    ]
    pointers |= dict(zip(schedule.own, ("%memory", "%constants")))
    body = [
        _loop(k, one, [pointers[v] for v in one.vectors], names) if names else _exchange(k, one, pointers, symbol)
        for k, (one, names) in enumerate(zip(schedule.passes, classes))
    ]
    declarations = {
        name: f"declare void @{name}({', '.join(['ptr'] * (len(one.vectors) + 1))}) nounwind\n"
        for one, names in zip(schedule.passes, classes)
        for name in names
    }
    end = f"h{len(schedule.passes)}:\nret void\n}}\n"
    return Definition(symbol, "".join([*head, *body, end]), declarations)


def _exchange(k, one, pointers, symbol):
    """The call of the function by which ranks tell each other numbers: with their place, and how many each of them gives."""
    return (
        f"h{k}:\n%l{k} = load i32, ptr %r{k}\n%z{k} = sext i32 %l{k} to i64\n"
        f"%p{k} = getelementptr double, ptr {pointers[one.vectors[0]]}, i64 %z{k}\n"
        f"%n{k} = getelementptr i32, ptr %r{k}, i64 1\n%f{k} = load ptr, ptr @{symbol}_exchange\n"
        f"call void %f{k}(ptr %p{k}, ptr %n{k})\n"
        f"%r{k + 1} = getelementptr i32, ptr %r{k}, i64 {one.table.shape[1]}\nbr label %h{k + 1}\n"
    )


def _loop(k, one, bases, names):
    """The loop of pass k: blocks h (how many rows), t (one more?), g (a row), x (a class), n (the next row)."""
    width = 1 + len(bases)
    lines = [
        f"h{k}:\n%c{k}p = getelementptr i32, ptr %table, i64 {k}\n%c{k} = load i32, ptr %c{k}p\nbr label %t{k}\n",
        f"t{k}:\n%i{k} = phi i32 [ 0, %h{k} ], [ %j{k}, %n{k} ]\n",
        f"%r{k + 1} = phi ptr [ %r{k}, %h{k} ], [ %s{k}, %n{k} ]\n",
        f"%d{k} = icmp slt i32 %i{k}, %c{k}\nbr i1 %d{k}, label %g{k}, label %h{k + 1}\n",
        f"g{k}:\n",
    ]
    for j, base in enumerate(bases):
        o = f"{k}_{j}"
        lines.append(
            f"%o{o} = getelementptr i32, ptr %r{k + 1}, i64 {j + 1}\n%l{o} = load i32, ptr %o{o}\n"
            f"%z{o} = sext i32 %l{o} to i64\n%p{o} = getelementptr double, ptr {base}, i64 %z{o}\n"
        )
    arguments = ", ".join([*(f"ptr %p{k}_{j}" for j in range(len(bases))), "ptr %w"])
    if len(names) > 1:
        choices = " ".join(f"i32 {c}, label %x{k}_{c}" for c in range(len(names)))
        lines.append(f"%k{k} = load i32, ptr %r{k + 1}\nswitch i32 %k{k}, label %n{k} [ {choices} ]\n")
    else:
        lines.append(f"br label %x{k}_0\n")
    lines += [f"x{k}_{c}:\ncall void @{name}({arguments})\nbr label %n{k}\n" for c, name in enumerate(names)]
    lines.append(
        f"n{k}:\n%j{k} = add i32 %i{k}, 1\n%s{k} = getelementptr i32, ptr %r{k + 1}, i64 {width}\nbr label %t{k}\n"
    )
    return "".join(lines)
