"""The search of tables as LLVM IR: the piece that a number lies in, by `lookup/interval_search.py`.

A kernel knows a table by its place among those of its library, `table_0`, `table_1` …: symbols that stand for addresses of
records and are given when the code is loaded. Code therefore does not depend on what is in a table, nor on its size. Since a
table may be anywhere in memory, its whole address is stored with the code, in `table_0_at` and so on.

What has more than two arguments is a function of another program: its record begins with the address of
row = function(record, arguments).
"""

from struct import unpack

from ..lookup.interval_search import AXIS, RECORD

SYMBOLS = {("llvm.floor.f64", 1)}
_AXES, _APART, _COLUMNS = (RECORD.fields[name][1] for name in ("axes", "apart", "columns"))  # type: ignore[index]


def is_lookup(symbol):
    return symbol.startswith("table_")


def lines(n, operands, results):
    """IR of one lookup, a text for each of its results, which are numbered from n on; and the symbols that it needs.

    operands   the place of the table, as a constant, and the arguments
    """
    name, arguments = f"table_{int(unpack('>d', bytes.fromhex(operands[0][2:]))[0])}", operands[1:]
    texts = [
        f"%r{n}_{k} = getelementptr double, ptr %r{n}, i64 {k}\n%{n + k} = load double, ptr %r{n}_{k}\n"
        for k in range(results)
    ]
    head = f"%q{n} = load ptr, ptr @{name}_at\n"
    if len(arguments) > 2:
        texts[0] = head + _foreign(n, arguments) + texts[0]
        return texts, {(name, 0)}
    search = f"table_row{len(arguments)}"
    given = ", ".join([f"ptr %q{n}", *[f"double {x}" for x in arguments]])
    texts[0] = head + f"%r{n} = call ptr @{search}({given})\n" + texts[0]
    return texts, {(name, 0), (search, 0)}


def _foreign(n, arguments):
    """IR of the call of a function of another program, with its arguments in memory."""
    stores = "".join(
        f"%g{n}_{k} = getelementptr double, ptr %g{n}, i64 {k}\nstore double {x}, ptr %g{n}_{k}\n"
        for k, x in enumerate(arguments)
    )
    call = f"%f{n} = load ptr, ptr %q{n}\n%r{n} = call ptr %f{n}(ptr %q{n}, ptr %g{n})\n"
    return f"%g{n} = alloca [{len(arguments)} x double]\n{stores}{call}"


def declarations(symbols):
    """What a module says about the tables that are among the symbols."""
    names = sorted(name for name, _ in symbols if is_lookup(name))
    own = [name for name in names if not name.startswith("table_row")]
    tables = [f"@{name} = external global i8\n@{name}_at = internal global ptr @{name}\n" for name in own]
    return "".join(tables) + (definition() if names else "")


def _field(name, field, at):
    """Lines that load a field of an axis."""
    kind = {"breaks": "ptr", "apart": "i64", "guide": "ptr", "count": "i64"}.get(field, "double")
    place = AXIS.fields[field][1]  # type: ignore[index]
    return f"%{name}p = getelementptr i8, ptr {at}, i64 {place}\n%{name} = load {kind}, ptr %{name}p\n"


def definition():
    """The IR of @table_place, which searches an axis, and of the two that search tables."""
    return f"\n{_place()}{_row(1)}{_row(2)}"


def _place():
    return f"""\
define internal i64 @table_place(ptr %axis, double %u) noinline nounwind {{
entry:
{_field("breaks", "breaks", "%axis")}{_field("apart", "apart", "%axis")}\
{_field("guide", "guide", "%axis")}{_field("count", "count", "%axis")}\
{_field("parts", "parts", "%axis")}{_field("first", "first", "%axis")}{_field("scale", "scale", "%axis")}\
%ordered = fcmp ord double %u, 0.0
br i1 %ordered, label %number, label %none
none:
%beyond = add i64 %count, 1
ret i64 %beyond
number:
%d = fsub double %u, %first
%s = fmul double %d, %scale
%f = call double @llvm.floor.f64(double %s)
%most = fsub double %parts, 1.0
%large = fcmp olt double %f, %most
%g = select i1 %large, double %f, double %most
%small = fcmp ogt double %g, 0.0
%h = select i1 %small, double %g, double 0.0
%part = fptosi double %h to i64
%even = icmp eq ptr %guide, null
br i1 %even, label %near, label %guided
{_near()}\
guided:
%lowp = getelementptr i32, ptr %guide, i64 %part
%highp = getelementptr i32, ptr %lowp, i64 1
%low32 = load i32, ptr %lowp
%high32 = load i32, ptr %highp
%low = sext i32 %low32 to i64
%high = sext i32 %high32 to i64
br label %test
test:
%a = phi i64 [ %low, %guided ], [ %least, %near ], [ %a1, %halve ]
%b = phi i64 [ %high, %guided ], [ %top, %near ], [ %b1, %halve ]
%more = icmp slt i64 %a, %b
br i1 %more, label %halve, label %done
halve:
%sum = add i64 %a, %b
%mid = lshr i64 %sum, 1
%off = mul i64 %mid, %apart
%xp = getelementptr i8, ptr %breaks, i64 %off
%x = load double, ptr %xp
%passed = fcmp ole double %x, %u
%next = add i64 %mid, 1
%a1 = select i1 %passed, i64 %next, i64 %a
%b1 = select i1 %passed, i64 %b, i64 %mid
br label %test
done:
ret i64 %a
}}
"""


def _near():
    """Where there is no guide: the places around that of the part."""
    return """\
near:
%after = fcmp oge double %u, %first
%inside = zext i1 %after to i64
%guess = add i64 %part, %inside
%under = sub i64 %guess, 1
%none_under = icmp slt i64 %under, 0
%least = select i1 %none_under, i64 0, i64 %under
%over = add i64 %guess, 1
%none_over = icmp sgt i64 %over, %count
%top = select i1 %none_over, i64 %count, i64 %over
br label %test
"""


def _row(arguments):
    """The address of a row: at the place of one or two arguments."""
    given = ", ".join(f"double %u{k}" for k in range(arguments))
    places = "".join(
        f"%axis{k} = getelementptr i8, ptr %table, i64 {_AXES + k * AXIS.itemsize}\n"
        f"%i{k} = call i64 @table_place(ptr %axis{k}, double %u{k})\n"
        for k in range(arguments)
    )
    place = "%i0"
    if arguments == 2:
        places += (
            f"%columnsp = getelementptr i8, ptr %table, i64 {_COLUMNS}\n"
            "%columns = load i64, ptr %columnsp\n%along = mul i64 %i0, %columns\n%i = add i64 %along, %i1\n"
        )
        place = "%i"
    return f"""\
define internal ptr @table_row{arguments}(ptr %table, {given}) noinline nounwind {{
{places}%rows = load ptr, ptr %table
%apartp = getelementptr i8, ptr %table, i64 {_APART}
%apart = load i64, ptr %apartp
%at = mul i64 {place}, %apart
%row = getelementptr i8, ptr %rows, i64 %at
ret ptr %row
}}
"""
