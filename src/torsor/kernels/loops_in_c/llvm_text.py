"""Compiled loops as LLVM text, read into functions, blocks and instructions."""

import re
from dataclasses import dataclass, field

from ...errors import TorsorError
from .. import loops

FLAGS = set(
    "nuw nsw exact disjoint samesign nneg inbounds nusw tail musttail notail fast nnan ninf nsz arcp contract afn reassoc".split()
)
WIDE_VECTORS = re.compile(r"<(?:4|8|16) x (?:double|i64)>")
ATTRIBUTES = re.compile(
    r"^(?:(?:noundef|nonnull|signext|zeroext|noalias|immarg|writeonly|readonly|nocapture|align \d+"
    r"|(?:captures|range|dereferenceable|dereferenceable_or_null)\([^)]*\)) )+"
)
LLVM_NAME = r'%(?:"[^"]*"|[-\w.$]+)'
LLVM_TYPE = r"(?:<\d+ x \w+>|\{ [^}]*\}|\[\d+ x \w+\]|\w+)"


class Unsupported(TorsorError):
    """An instruction that has no form in C yet."""


def matched(pattern, text):
    """The match of a pattern at the begin of a text; other texts are refused."""
    found = re.match(pattern, text)
    if found is None:
        raise Unsupported(f"a compiled loop cannot be written in C: {text[:120]}")
    return found


@dataclass
class Instruction:
    result: str  # name; empty: it gives nothing
    code: str
    text: str  # what follows the name of the operation
    type: str = ""  # of its result


@dataclass
class Block:
    label: str
    code: list = field(default_factory=list)


@dataclass
class Function:
    name: str
    returns: str
    arguments: list  # (type, name)
    blocks: list = field(default_factory=list)


def functions_of(module):
    """Symbols of the entries of a module, and its functions by symbol."""
    import llvmlite.binding as llvm

    bitcode, entries = loops._bitcode(module)
    text = str(llvm.parse_bitcode(bitcode))
    if WIDE_VECTORS.search(text) and (again := loops.compile_again(module)):  # it was compiled for one processor
        bitcode, entries = again
        text = str(llvm.parse_bitcode(bitcode))
    found = {}
    current = None
    for line in text.splitlines():
        if current is None:
            if line.startswith("define"):
                current = _read_head(line)
                found[current.name] = current
        elif line == "}":
            current = None
        else:
            _read_line(current, line)
    return {name: symbol for name, (symbol, _) in entries.items()}, found


def _read_head(line):
    head = re.match(rf"define .*?({LLVM_TYPE}) @([\w.$]+)\((.*)\)[^()]*\{{\Z", line)
    if not head:
        raise Unsupported(f"a compiled loop cannot be written in C: {line[:120]}")
    arguments = []
    for part in split(re.split(r"\) (?:local_unnamed_addr|unnamed_addr|#)", head[3])[0]):
        arguments.append((matched(LLVM_TYPE, part)[0], part[part.index("%") :]))
    return Function(head[2], head[1], arguments, [Block("entry")])


def _read_line(function, line):
    line = line.split(";")[0].rstrip() if '"' not in line else re.sub(r"\s+; preds = .*", "", line).rstrip()
    if not line:
        return
    if not line.startswith(" "):
        label = line.rstrip(":").strip('"')
        if len(function.blocks) == 1 and not function.blocks[0].code:
            function.blocks[0].label = label
        else:
            function.blocks.append(Block(label))
        return
    text = line.strip()
    block = function.blocks[-1]
    if block.code and block.code[-1].code == "switch" and "]" not in block.code[-1].text:
        block.code[-1].text += " " + text
        return
    text = re.sub(r"(, !\w+(\.\w+)* !\d+)+\Z", "", text)
    text = re.sub(r" #\d+\Z", "", text)
    found = re.match(rf"(?:({LLVM_NAME}) = )?([a-z]+)(?: (.*))?\Z", text)
    if not found:
        raise Unsupported(f"a compiled loop cannot be written in C: {text[:120]}")
    result, code, rest = found[1] or "", found[2], found[3] or ""
    words = rest.split(" ")
    if code in FLAGS:  # tail call …
        code, words = words[0], words[1:]
    while words and words[0] in FLAGS:
        words = words[1:]
    block.code.append(Instruction(result, code, " ".join(words)))


def split(text):
    """Parts between commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    quoted = False
    for k, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}>":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:k].strip())
            start = k + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def typed(text):
    """Type and value of an operand like `i64 %x`."""
    kind = matched(LLVM_TYPE, text)[0]
    value = text[len(kind) :].strip()
    value = re.sub(ATTRIBUTES, "", value)
    return kind, value
