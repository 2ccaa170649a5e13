"""The ABI of libredlock as lines of text, and the changes of it that programs survive.

    abi.py describe XML <MACROS   prints the lines: XML is abidw's of the library, MACROS cc's (-E -dM)
    abi.py compare OLD NEW        fails with a sentence for each change that breaks programs

A line has a kind, a name, and what a compiled program relies on.  For a function and a typedef this is the
type, for a struct the size and whether it may grow, for its fields offset and type.  For enumerators and
macros it is the value.
"""

import re
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

# Whether a struct may grow behind its end.
TOLD, HANDED, FIXED = "grows, it begins with its size", "grows, the library alone makes it", "never grows"


class Abi:
    """All that a program can reach from the exported functions, as {(kind, name): value}."""

    def __init__(self, tree):
        self.types = {node.get("id"): node for node in tree.iter() if node.get("id")}
        public = [node for node in tree.iter("class-decl") if "include/redlock" in node.get("filepath", "")]
        self.structs = {node.get("name"): node for node in public if node.get("size-in-bits")}
        self.lines, self.named, self.fixed = {}, {}, set()
        exported = {symbol.get("name"): symbol.get("version") for symbol in tree.iter("elf-symbol")}
        for node in tree.iter("function-decl"):
            if version := exported.get(node.get("name")):
                self.lines["function", f"{node.get('name')}@{version}"] = self.function(node, "", called=True)
        for name in self.named.keys() & self.structs.keys():
            fields = [value for (kind, key), value in self.lines.items() if key.startswith(f"{name}.")]
            is_told = fields[0] == "0 size_t"
            growth = TOLD if is_told else FIXED if name in self.fixed else HANDED
            self.lines["struct", name] = f"{int(self.structs[name].get('size-in-bits')) // 8} {growth}"

    def function(self, node, shape, called):
        """`called`: by programs; else the library calls it."""
        result = self.text(node.find("return").get("type-id"))
        parameters = [self.text(part.get("type-id"), called) for part in node.findall("parameter")]
        return f"{result} {shape}({', '.join(parameters) or 'void'})"

    def text(self, key, fixes=False, pointers=0):
        """The type in C.  `fixes`: a pointer to a struct may lead to the program's own, or to an array."""
        node = self.types[key]
        below = node.get("type-id")
        if node.tag == "pointer-type-def":
            if self.types[below].tag == "function-type":
                return self.function(self.types[below], "(*)", called=False)
            text = self.text(below, fixes, pointers + 1)
            return text + ("*" if text.endswith("*") else " *")
        if node.tag == "qualified-type-def":
            text = self.text(below, fixes, pointers)
            return f"{text} const" if text.endswith("*") else f"const {text}"
        if node.tag == "array-type-def":
            return self.text(below) + "".join(f"[{part.get('length')}]" for part in node.iter("subrange"))
        if node.tag == "function-type":
            return self.function(node, "", called=False)
        name = node.get("name")
        if pointers == 0 or (pointers == 1 and fixes):
            self.fixed.add(name)
        if name.startswith("redlock") and name not in self.named:
            self.named[name] = node
            self.explain(name, self.types.get(below, node))
        return name if node.tag != "class-decl" or name.startswith("redlock") else f"struct {name}"

    def explain(self, name, meant):
        if meant.tag == "enum-decl":
            for item in meant.iter("enumerator"):
                self.lines["enum", f"{name}.{item.get('name')}"] = item.get("value")
        elif meant.tag != "class-decl":
            self.lines["type", name] = self.text(meant.get("id"))
        elif name in self.structs:
            for member in self.structs[name].iter("data-member"):
                field = member.find("var-decl")
                offset = int(member.get("layout-offset-in-bits")) // 8
                text = self.text(field.get("type-id"), fixes=True)
                self.lines["field", f"{name}.{field.get('name')}"] = f"{offset} {text}"


def constants(text):
    """Macros whose value a program has compiled in; the version is another one in each release."""
    for name, value in re.findall(r"^#define (REDLOCK_\w+) (\S.*)$", text, re.M):
        if not name.startswith("REDLOCK_VERSION") and not value.startswith(("{", "__attribute__")):
            yield ("macro", name), value


def describe(path):
    tree = xml.parse(path).getroot()
    lines = Abi(tree).lines | dict(constants(sys.stdin.read()))
    print("soname", tree.get("soname"))

    def place(item):
        (kind, name), value = item
        owner, _, part = name.partition(".")
        return (kind.replace("field", "struct"), owner, int(value.split()[0]) if part else -1)

    for (kind, name), value in sorted(lines.items(), key=place):
        print(kind, name, value)


def read(path):
    first, *lines = Path(path).read_text().splitlines()
    return first, {(kind, name): value for kind, name, value in (line.split(" ", 2) for line in lines)}


def size(value):
    return int(value.split()[0])


def has_grown(kind, was, now):
    return kind == "struct" and not was.endswith(FIXED) and size(now) > size(was)


def faults(old, new):
    for (kind, name), was in old.items():
        now = new.get((kind, name))
        if now is None:
            yield f"the {kind} {name} is gone"
        elif now != was and not has_grown(kind, was, now):
            yield f"the {kind} {name} is another: {was!r} before, {now!r} now"
    for (kind, name), now in new.items():
        struct = name.split(".")[0]
        was = old.get(("struct", struct))
        if kind == "field" and was and (kind, name) not in old and size(now) < size(was):
            yield (f"the field {name} is new and not behind the end of {struct}, "
                   "whose size tells nothing of it")


def compare(old_path, new_path):
    (old_soname, old), (soname, new) = read(old_path), read(new_path)
    if old_soname != soname:
        print(f"{old_soname} before, {soname} now: no program takes one for the other")
        return 0
    found = list(faults(old, new))
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(describe(sys.argv[2]) if sys.argv[1] == "describe" else compare(*sys.argv[2:]))
