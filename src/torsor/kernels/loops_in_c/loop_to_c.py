"""Compiled loops as C99: the LLVM code that the package ships, printed instruction by instruction.

An exported model takes its steps and handles its events with the code that torsor itself runs. Each instruction becomes one
statement with the same meaning, so that a C compiler that does not fuse products and sums gives the same bits. Memory is read
and written by `memcpy`, because the records of a run hold whole numbers, real numbers and addresses side by side.
"""

import re
import zlib
from pathlib import Path

from .. import cache, loops
from .c_types import C_TYPES, FUNCTIONS, LIBM, PRELUDE, access_name, cut, double, lanes, size_of, vector, vector_types
from .llvm_text import FLAGS, LLVM_NAME, LLVM_TYPE, Function, Unsupported, functions_of, matched, split, typed

ARITHMETIC = {
    "add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^", "shl": "<<", "lshr": ">>", "udiv": "/", "urem": "%",
    "fadd": "+", "fsub": "-", "fmul": "*", "fdiv": "/",
}  # fmt: skip
SIGNED = {"sdiv": "/", "srem": "%", "ashr": ">>"}
COMPARED = {"eq": "==", "ne": "!=", "gt": ">", "ge": ">=", "lt": "<", "le": "<="}
PURE = {"getelementptr", "icmp", "fcmp", "zext", "trunc", "inttoptr", "ptrtoint", "bitcast", "freeze"}


def c_loops(entries: dict) -> str:
    """C code of entries of compiled modules, with all functions that they call.

    entries   name in C of each entry, by (module, entry)

    The text is kept in the cache.
    """
    digests = sorted({loops.digest(module) for module, _ in entries})
    own = [path.read_text() for path in sorted(Path(__file__).parent.glob("*.py"))]
    key = cache.digest("loops in C", repr(list(entries.items())), *digests, *own)
    stored = cache.load(key, "text")
    if stored is None:
        stored = zlib.compress(_translate(entries).encode(), 1)
        cache.store(key, "text", stored)
    return zlib.decompress(stored).decode()


def _translate(entries):
    functions: dict[str, Function] = {}
    names: dict[str, str] = {}
    for (module, entry), name in entries.items():
        symbols, found = functions_of(module)
        functions |= found
        names[symbols[entry]] = name
    for k, symbol in enumerate(functions):
        names.setdefault(symbol, f"part_{k}")
    heads = [f"static {_head(f, names)};" for f in functions.values()]
    code = "\n".join([*heads, "", *[_Printer(f, names).text() for f in functions.values()]])
    return "\n".join([PRELUDE, *vector_types(code), code])


def _head(function, names):
    given = ", ".join(
        f"{C_TYPES[kind]}{'' if kind == 'ptr' else ' '}a{k}" for k, (kind, _) in enumerate(function.arguments)
    )
    space = "" if C_TYPES[function.returns].endswith("*") else " "
    return f"{C_TYPES[function.returns]}{space}{names[function.name]}({given or 'void'})"


class _Printer:
    """One function in C."""

    def __init__(self, function, names):
        self.function, self.names = function, names
        self.values = {name: f"a{k}" for k, (_, name) in enumerate(function.arguments)}
        self.types = {name: kind for kind, name in function.arguments}
        self.labels = {block.label: f"b{k}" for k, block in enumerate(function.blocks)}
        self.memory = []  # declarations of local memory
        self.inline: dict[str, str] = {}
        self.phis = {b.label: [i for i in b.code if i.code == "phi"] for b in function.blocks}
        count = 0
        for block in function.blocks:
            for i in block.code:
                if i.result:
                    i.type = self._result_type(i)
                    self.types[i.result] = i.type
                    self.values[i.result] = f"v{count}"
                    count += 1
        self.single = self._used_once_in_own_block()

    def text(self):
        body = []
        for k, block in enumerate(self.function.blocks):
            if k > 0:
                body.append(f"{self.labels[block.label]}:;")
            for i in block.code:
                if i.code != "phi":
                    body += [f"  {line}" for line in self._statements(block, i)]
        held: dict[str, list] = {}
        for name, c in self.values.items():
            if c.startswith("v") and name not in self.inline and self.types[name] != "memory":
                held.setdefault(C_TYPES[self.types[name]], []).append(c)
        declared = []
        for kind, found in held.items():
            star = "*" if kind.endswith("*") else ""
            base = kind.rstrip("* ")
            zero = " = {{0}}" if kind.startswith("Vector") else " = {0, 0}" if kind in ("Sum", "Share") else " = 0"
            for k in range(0, len(found), 10):
                declared.append(f"  {base} {', '.join(f'{star}{c}{zero}' for c in found[k : k + 10])};")
        unused = [f"  (void)a{k};" for k in range(len(self.function.arguments))]
        unused += [f"  (void){c};" for found in held.values() for c in found]
        used = set(re.findall(r"goto (b\d+);", "\n".join(body)))
        body = [line for line in body if not re.fullmatch(r"b\d+:;", line) or line[:-2] in used]
        return "\n".join(
            [f"static {_head(self.function, self.names)}", "{", *declared, *self.memory, *unused, *body, "}", ""]
        )

    def _used_once_in_own_block(self):
        """Names of pure results that are used once, by an instruction of their own block that is no phi."""
        uses: dict[str, list] = {}
        for block in self.function.blocks:
            for i in block.code:
                for name in re.findall(LLVM_NAME, i.text):
                    uses.setdefault(name, []).append((block.label, i.code))
        own = {i.result: (b.label, i.code) for b in self.function.blocks for i in b.code if i.result}
        return {
            name
            for name, (label, code) in own.items()
            if code in PURE and len(uses.get(name, ())) == 1 and uses[name][0][0] == label and uses[name][0][1] != "phi"
        }

    def _result_type(self, i):
        if i.code in ("alloca",):
            return "ptr"
        if i.code in ("getelementptr", "inttoptr"):
            return "ptr"
        if i.code == "icmp" or i.code == "fcmp":
            kind = typed(i.text.split(" ", 1)[1] if i.text.split(" ")[0] not in FLAGS else i.text)[0]
            return f"<{lanes(kind)[0]} x i1>" if lanes(kind) else "i1"
        if i.code in ("zext", "sext", "trunc", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast", "ptrtoint"):
            return i.text.rsplit(" to ", 1)[1]
        if i.code == "select":
            return typed(split(i.text)[1])[0]
        if i.code == "extractelement":
            return lanes(typed(split(i.text)[0])[0])[1]
        if i.code == "shufflevector":
            a, _, mask = split(i.text)
            return f"<{lanes(typed(mask)[0])[0]} x {lanes(typed(a)[0])[1]}>"
        if i.code == "extractvalue":
            parts = split(i.text)
            return split(typed(parts[0])[0].strip("{} "))[int(parts[1])]
        if i.code == "call":
            return matched(rf"(?:(?:noundef|nonnull|range\([^)]*\)|signext|zeroext) )*({LLVM_TYPE}) ", i.text)[1]
        return typed(split(i.text)[0])[0]

    def _value(self, text, kind):
        text = text.strip()
        if text.startswith("%"):
            return self.inline.get(text) or self.values[text]
        if text in ("undef", "poison", "null", "zeroinitializer", "false", "true"):
            if found := lanes(kind):
                return vector(kind, ["0"] * found[0])
            return {"ptr": "(char *)0", "double": "0.0"}.get(kind, "1" if text == "true" else "0")
        if text.startswith("splat ("):
            _, value = typed(text[len("splat (") : -1])
            count, lane = lanes(kind)
            return vector(kind, [self._value(value, lane)] * count)
        if text.startswith("<"):
            return vector(kind, [self._value(typed(x)[1], lanes(kind)[1]) for x in split(text[1:-1])])
        if kind == "double":
            return double(text)
        if re.fullmatch(r"i\d+", kind):
            if re.fullmatch(r"-?\d+", text):
                bits = int(text) % 2 ** int(kind[1:])
                return f"{bits}U" if int(kind[1:]) <= 32 else f"UINT64_C({bits})"
        raise Unsupported(f"a compiled loop cannot be written in C: the constant {kind} {text[:80]}")

    def _operand(self, text):
        kind, value = typed(text)
        return self._value(value, kind)

    def _statements(self, block, i):
        name = f"_{i.code}"
        if hasattr(self, name):
            return getattr(self, name)(block, i)
        expression = self._expression(i)
        if i.result in self.single:
            self.inline[i.result] = f"({expression})"
            return []
        return [f"{self.values[i.result]} = {expression};"]

    def _expression(self, i):
        code, text = i.code, i.text
        if code == "getelementptr":
            kind, base, *indices = split(text)
            if len(indices) != 1:
                raise Unsupported(f"a compiled loop cannot be written in C: getelementptr {text[:80]}")
            return f"{self._operand(base)} + (int64_t)({self._operand(indices[0])}) * {size_of(kind)}"
        if code == "load":
            kind, place = split(text)[:2]
            return f"load_{access_name(kind)}({self._operand(place)})"
        if code in ARITHMETIC or code in SIGNED:
            return self._arithmetic(i)
        if code in ("icmp", "fcmp"):
            return self._comparison(i)
        if code == "fneg":
            return f"-{self._operand(text)}"
        if code == "freeze":
            return self._operand(text)
        if code == "select":
            condition, a, b = split(text)
            if condition.startswith("<"):
                x, y, z = (self._operand(part) for part in (condition, a, b))
                count = lanes(i.type)[0]
                return vector(i.type, [f"({x}).v[{k}] ? ({y}).v[{k}] : ({z}).v[{k}]" for k in range(count)])
            return f"{self._operand(condition)} ? {self._operand(a)} : {self._operand(b)}"
        if code in ("zext", "sext", "trunc", "sitofp", "uitofp", "fptosi", "fptoui", "bitcast", "ptrtoint", "inttoptr"):
            return self._cast(i)
        if code == "extractvalue":
            value, place = split(text)
            return f"{self._operand(value)}.f{place}"
        if code == "extractelement":
            value, place = split(text)
            return f"({self._operand(value)}).v[{self._operand(place)}]"
        if code == "shufflevector":
            a, b, mask = split(text)
            count = lanes(typed(a)[0])[0]
            width, _, chosen = matched(r"<(\d+) x (i32)> (.*)", mask).groups()
            picks = [0] * int(width)
            if chosen.startswith("<"):
                picks = [int(value) if (value := typed(x)[1]).isdigit() else 0 for x in split(chosen[1:-1])]
            return vector(i.type, [f"({self._operand(a if k < count else b)}).v[{k % count}]" for k in picks])
        raise Unsupported(f"a compiled loop cannot be written in C: {code} {text[:80]}")

    def _arithmetic(self, i):
        first, second = split(i.text)
        kind, a = typed(first)
        x, y = self._value(a, kind), self._value(second, kind)
        if kind.startswith("<"):
            sign = ARITHMETIC[i.code]
            return vector(kind, [f"({x}).v[{k}] {sign} ({y}).v[{k}]" for k in range(lanes(kind)[0])])
        if i.code in SIGNED:
            signed = {"i64": "int64_t", "i32": "int32_t"}[kind]
            return f"({C_TYPES[kind]})(({signed}){x} {SIGNED[i.code]} ({signed}){y})"
        result = f"{x} {ARITHMETIC[i.code]} {y}"
        return cut(f"({result})", kind) if kind[0] == "i" and kind != "i64" else result

    def _comparison(self, i):
        words = i.text.split(" ", 1)
        predicate, rest = words
        first, second = split(rest)
        kind, a = typed(first)
        x, y = self._value(a, kind), self._value(second, kind)
        if found := lanes(kind):
            count, lane = found
            compared = [self._compare(i.code, predicate, f"({x}).v[{k}]", f"({y}).v[{k}]", lane) for k in range(count)]
            return vector(i.type, compared)
        return self._compare(i.code, predicate, x, y, kind)

    def _compare(self, code, predicate, x, y, kind):
        if code == "icmp":
            if predicate in ("eq", "ne"):
                return f"{x} {COMPARED[predicate]} {y}"
            sign = COMPARED[predicate[1:]]
            if predicate[0] == "u":
                return f"{x} {sign} {y}"
            signed = {"i64": "int64_t", "i32": "int32_t", "i8": "int8_t"}[kind]
            return f"({signed}){x} {sign} ({signed}){y}"
        if predicate == "ord":
            return f"{x} == {x} && {y} == {y}"
        if predicate == "uno":
            return f"{x} != {x} || {y} != {y}"
        if predicate == "une":
            return f"{x} != {y}"
        if predicate == "one":
            return f"({x} < {y}) || ({x} > {y})"
        if predicate == "ueq":
            return f"!(({x} < {y}) || ({x} > {y}))"
        if predicate[0] == "o":
            return f"{x} {COMPARED[predicate[1:]]} {y}"
        opposite = {"gt": "<=", "ge": "<", "lt": ">=", "le": ">"}[predicate[1:]]  # true if one of them is not a number
        return f"!({x} {opposite} {y})"

    def _cast(self, i):
        source, target = i.text.rsplit(" to ", 1)
        kind, value = typed(source)
        x = self._value(value, kind)
        if kind.startswith("<") and kind != target and i.code in ("zext", "uitofp"):
            count, lane = lanes(target)
            return vector(target, [f"({C_TYPES[lane]})({x}).v[{k}]" for k in range(count)])
        if kind.startswith("<") and kind != target:
            raise Unsupported(f"a compiled loop cannot be written in C: {i.code} {i.text[:80]}")
        if i.code in ("zext", "trunc", "uitofp", "fptoui"):
            return cut(x, target) if i.code == "trunc" else f"({C_TYPES[target]}){x}"
        if i.code == "sext":
            if kind == "i1":
                return f"({C_TYPES[target]})({x} ? -1 : 0)"
            return f"({C_TYPES[target]})(int64_t)({ {'i8': 'int8_t', 'i32': 'int32_t'}[kind] }){x}"
        if i.code == "sitofp":
            return f"(double)({'int64_t' if kind == 'i64' else 'int32_t'}){x}"
        if i.code == "fptosi":
            return f"({C_TYPES[target]})(int64_t){x}"
        if i.code == "ptrtoint":
            return f"(uint64_t)(uintptr_t){x}"
        if i.code == "inttoptr":
            return f"(char *)(uintptr_t){x}"
        if kind == target:
            return x
        raise Unsupported(f"a compiled loop cannot be written in C: bitcast {i.text[:80]}")

    def _store(self, block, i):
        value, place = split(i.text)[:2]
        kind, x = typed(value)
        return [f"store_{access_name(kind)}({self._operand(place)}, {self._value(x, kind)});"]

    def _alloca(self, block, i):
        kind = split(i.text)[0]
        count = split(i.text)[1] if "," in i.text else ""
        if count and not count.startswith("align"):
            raise Unsupported(f"a compiled loop cannot be written in C: alloca {i.text[:80]}")
        c = self.values[i.result]
        words = -(-size_of(kind) // 8)
        self.memory.append(f"  uint64_t {c}_memory[{words}] = {{0}};")
        return [f"{c} = (char *){c}_memory;"]

    def _insertelement(self, block, i):
        vector, value, place = split(i.text)
        c = self.values[i.result]
        return [f"{c} = {self._operand(vector)};", f"{c}.v[{self._operand(place)}] = {self._operand(value)};"]

    def _insertvalue(self, block, i):
        record, value, place = split(i.text)
        c, start = self.values[i.result], typed(record)
        begin = [] if start[1] in ("undef", "poison") else [f"{c} = {self._value(start[1], start[0])};"]
        return [*begin, f"{c}.f{place} = {self._operand(value)};"]

    def _call(self, block, i):
        found = re.match(
            rf"(?:(?:noundef|nonnull|signext|zeroext|range\([^)]*\)) )*({LLVM_TYPE}) (@[\w.$]+|{LLVM_NAME})\((.*)\)\Z",
            i.text,
        )
        if not found:
            raise Unsupported(f"a compiled loop cannot be written in C: call {i.text[:80]}")
        returns, callee, given = found[1], found[2], split(found[3])
        if callee.startswith("@"):
            name = callee[1:]
            if name.startswith(("llvm.lifetime", "llvm.assume", "llvm.experimental.noalias")):
                return []
            if name.startswith("llvm.memset"):
                x, value, size = (self._operand(part) for part in given[:3])
                return [f"memset({x}, {value}, (size_t){size});"]
            if name.startswith(("llvm.memcpy", "llvm.memmove")):
                x, y, size = (self._operand(part) for part in given[:3])
                return [f"memmove({x}, {y}, (size_t){size});"]
            target = FUNCTIONS.get(name) or self.names.get(name) or (name if name in LIBM else None)
            if target is None:
                raise Unsupported(f"a compiled loop cannot be written in C: it calls {name}")
        else:
            kinds = ", ".join(C_TYPES[typed(part)[0]] for part in given)
            target = f"(({C_TYPES[returns]} (*)({kinds}))(uintptr_t){self._value(callee, 'ptr')})"
        call = f"{target}({', '.join(self._operand(part) for part in given)})"
        return [f"{self.values[i.result]} = {call};" if i.result else f"{call};"]

    def _ret(self, block, i):
        return ["return;" if i.text == "void" else f"return {self._operand(i.text)};"]

    def _unreachable(self, block, i):
        return ["return 0;" if self.function.returns != "void" else "return;"]

    def _br(self, block, i):
        parts = split(i.text)
        if len(parts) == 1:
            return self._go(block, parts[0])
        yes, no = self._go(block, parts[1]), self._go(block, parts[2])
        return [f"if ({self._operand(parts[0])}) {{", *[f"  {x}" for x in yes], "}", *no]

    def _switch(self, block, i):
        head, cases = i.text.split("[", 1)
        value, default = split(head)
        kind, x = typed(value)
        lines = [f"switch ({self._value(x, kind)}) {{"]
        for constant, label in re.findall(rf"{LLVM_TYPE} (-?\d+), (label {LLVM_NAME})", cases):
            lines += [f"  case {self._value(constant, kind)}: {{", *[f"    {y}" for y in self._go(block, label)], "  }"]
        return [*lines, "  default: {", *[f"    {y}" for y in self._go(block, default)], "  }", "}"]

    def _go(self, block, label):
        """Statements that lead to another block: what its phis take from this one, all at once, and the jump."""
        target = label.removeprefix("label ").removeprefix("%").strip('"')
        moves = []
        for phi in self.phis[target]:
            kind = phi.type
            for value, origin in re.findall(rf"\[ (.*?), ({LLVM_NAME}) \]", phi.text):
                if origin.removeprefix("%").strip('"') == block.label:
                    x = self._value(value, kind)
                    if x != self.values[phi.result]:
                        moves.append((kind, self.values[phi.result], x))
                    break
        goes = f"goto {self.labels[target]};"
        written = [c for _, c, _ in moves]
        if all(x not in written[:k] for k, (_, _, x) in enumerate(moves)):
            return [*[f"{c} = {x};" for _, c, x in moves], goes]
        first = [f"{C_TYPES[kind]}{'' if kind == 'ptr' else ' '}n{k} = {x};" for k, (kind, _, x) in enumerate(moves)]
        return ["{", *[f"  {x}" for x in first], *[f"  {c} = n{k};" for k, (_, c, _) in enumerate(moves)], "}", goes]
