"""A pass over pairs of rows, printed as LLVM IR: the search finds some pairs at a time; their class is called for each.

for each pair (i, j):   r = class(motion of i, motion of j, data of i, data of j, common numbers)
                        sums of i += r₀ …,  sums of j += …,  common sum += …
"""

from .schedule_tables import HEAD

COLUMN_MOTION, COLUMN_DATA, COLUMN_SUMS, COLUMN_FACTS, COLUMN_NUMBERS, COLUMN_TOTAL, COLUMN_WORK, COLUMN_RESULT = range(
    1, 9
)  # columns; the first one is the kind of a row


def number(name, place):
    """A number of the table."""
    return f"%{name}p = getelementptr i64, ptr %table, i64 {place}\n%{name} = load i64, ptr %{name}p\n"


def columns(k, at, bases):
    """The header of pass k: number of rows c, first row f and step s; for each column j its numbers q, its base b and, from there
    on, the vector v."""
    lines = [number(f"{what}{k}", at + i) for i, what in enumerate(("c", "f", "s"))]
    for j, base in enumerate(["%memory", *bases]):  # the first column is the class, and no place
        o, place = f"{k}_{j}", at + HEAD + 2 * j
        lines.append(
            f"{number(f'o{o}', place)}{number(f'b{o}', place + 1)}"
            f"%q{o} = getelementptr i32, ptr %pool, i64 %o{o}\n%v{o} = getelementptr double, ptr {base}, i64 %b{o}\n"
        )
    return "".join(lines)


def emit_pairs(k, at, one, bases, names, symbol):
    """Pass k, whose header is at some place of the table. Blocks: h (header), a (search again), t (one more?), g (a pair),
    x (a class), y (sums), n (the next pair)."""
    entry = lambda o, row: (
        f"%e{o} = getelementptr i32, ptr {row}\n%l{o} = load i32, ptr %e{o}\n%z{o} = sext i32 %l{o} to i64\n"
    )

    def place(what, column, row):
        """A pointer to what a row has in a column."""
        o = f"{k}_{what}"
        return f"{entry(o, f'%q{k}_{column}, i64 {row}')}%p{o} = getelementptr double, ptr %v{k}_{column}, i64 %z{o}\n"

    lines = [f"h{k}:\n{columns(k, at, bases)}%ret{k} = alloca i64\n%err{k} = alloca ptr\n"]
    common = {"F": COLUMN_FACTS, "N": COLUMN_NUMBERS, "T": COLUMN_TOTAL, "W": COLUMN_WORK, "R": COLUMN_RESULT}
    lines += [place(what, column, f"%f{k}") for what, column in common.items()]
    lines.append(
        f"%am{k} = ptrtoint ptr {bases[0]} to i64\n%aq{k} = ptrtoint ptr %q{k}_{COLUMN_MOTION} to i64\n"
        f"%af{k} = ptrtoint ptr %p{k}_F to i64\n%aw{k} = ptrtoint ptr %p{k}_W to i64\n"
        f"%find{k} = load ptr, ptr @{symbol}_search\nbr label %a{k}\n"
        f"a{k}:\n%again{k} = phi i64 [ 1, %h{k} ], [ 0, %t{k} ]\n"
        f"%status{k} = call i32 %find{k}(ptr %ret{k}, ptr %err{k}, i64 %am{k}, i64 %aq{k}, i64 %b{k}_{COLUMN_MOTION}, i64 %f{k}, "
        f"i64 %s{k}, i64 %c{k}, i64 %af{k}, i64 %aw{k}, i64 %again{k})\n"
        f"%m{k} = load i64, ptr %ret{k}\n%any{k} = icmp sgt i64 %m{k}, 0\nbr i1 %any{k}, label %u{k}, label %h{k + 1}\n"
        f"u{k}:\nbr label %t{k}\n"
        f"t{k}:\n%i{k} = phi i64 [ 0, %u{k} ], [ %j{k}, %n{k} ]\n"
        f"%d{k} = icmp slt i64 %i{k}, %m{k}\nbr i1 %d{k}, label %g{k}, label %a{k}\ng{k}:\n%two{k} = mul i64 %i{k}, 2\n"
    )
    for side, shift in (("A", 1), ("B", 2)):  # the header of the list is one number
        o = f"{k}_{side}"
        lines.append(
            f"%g{o} = add i64 %two{k}, {shift}\n%w{o} = getelementptr i64, ptr %p{k}_W, i64 %g{o}\n%k{o} = load i64, ptr %w{o}\n"
            f"%m{o} = mul i64 %k{o}, %s{k}\n%r{o} = add i64 %m{o}, %f{k}\n{entry(f'{o}k', f'%q{k}_0, i64 %r{o}')}"
            f"%kind{o} = add i64 %z{o}k, %b{k}_0\n"
        )
        lines += [place(f"{side}{c}", c, f"%r{o}") for c in (COLUMN_MOTION, COLUMN_DATA, COLUMN_SUMS)]
    most = 1 + max(max(pair) for pair in one.kinds)
    choices = " ".join(f"i64 {a * most + b}, label %x{k}_{c}" for c, (a, b) in enumerate(one.kinds))
    lines.append(
        f"%ka{k} = mul i64 %kind{k}_A, {most}\n%kab{k} = add i64 %ka{k}, %kind{k}_B\n"
        f"switch i64 %kab{k}, label %n{k} [ {choices} ]\n"
    )
    given = [
        f"%p{k}_{x}" for x in (f"A{COLUMN_MOTION}", f"B{COLUMN_MOTION}", f"A{COLUMN_DATA}", f"B{COLUMN_DATA}", "N", "R")
    ]
    arguments = ", ".join(f"ptr {p}" for p in (*given, "%w"))
    lines += [f"x{k}_{c}:\ncall void @{name}({arguments})\nbr label %y{k}\n" for c, name in enumerate(names)]
    lines.append(_additions(k, one.sizes))
    lines.append(f"br label %n{k}\nn{k}:\n%j{k} = add i64 %i{k}, 1\nbr label %t{k}\n")
    return "".join(lines)


def _additions(k, sizes):
    """Block y: the results of a class are added to the sums of both rows, and to the common one."""
    lines = [f"y{k}:\n"]
    own, total = sizes
    targets = [(f"A{COLUMN_SUMS}", i) for i in range(own)] + [(f"B{COLUMN_SUMS}", i) for i in range(own)]
    for n, (what, i) in enumerate(targets + [("T", i) for i in range(total)]):
        o = f"{k}_{n}"
        lines.append(
            f"%ra{o} = getelementptr double, ptr %p{k}_R, i64 {n}\n%rx{o} = load double, ptr %ra{o}\n"
            f"%ta{o} = getelementptr double, ptr %p{k}_{what}, i64 {i}\n%tx{o} = load double, ptr %ta{o}\n"
            f"%sum{o} = fadd double %rx{o}, %tx{o}\nstore double %sum{o}, ptr %ta{o}\n"
        )
    return "".join(lines)
