"""Generates Python from the API files; with --check only reports whether it is current.

    src/metastored/wire/api/*.toml  ->  src/metastored/wire/generated/*.py
                              ->  src/metastored/client/_async/methods.py
                              ->  src/metastored/structs.py

Run it after every change of an API file: `python tools/generate.py`.
"""

from __future__ import annotations

import difflib
import keyword
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from metastored.wire.types import BASE_TYPES, VERSIONS, Type, parse_field, parse_returns, parse_versions  # noqa: E402

API = ROOT / "src/metastored/wire/api"
OUT = ROOT / "src/metastored/wire/generated"
CLIENT_METHODS = ROOT / "src/metastored/client/_async/methods.py"
STRUCTS = ROOT / "src/metastored/structs.py"
PYTHON = {
    "bool": "bool",
    "byte": "int",
    "double": "float",
    "i16": "int",
    "i32": "int",
    "i64": "int",
    "string": "str",
    "binary": "bytes",
}
METHOD_KEYS = {
    "args", "returns", "throws", "throws_in", "oneway", "in",
    "verb", "object", "cost", "route", "merge", "retry", "privileges", "event", "hook", "changes_with", "doc",
}  # fmt: skip
HEADER = '"""The metastore API, {topic}. Made by tools/generate.py from api/{file}: DO NOT EDIT."""\n'


class Api:
    """The content of all API files."""

    def __init__(self) -> None:
        self.topics: dict[str, dict[str, Any]] = {
            path.stem: tomllib.loads(path.read_text("utf-8")) for path in sorted(API.glob("*.toml"))
        }
        self.topic_of: dict[str, str] = {}
        self.enums: set[str] = set()
        for topic, data in self.topics.items():
            for kind in ("struct", "enum"):
                for name in data.get(kind, {}):
                    if name in self.topic_of:
                        raise SystemExit(f"{name} is defined in {self.topic_of[name]}.toml and in {topic}.toml")
                    self.topic_of[name] = topic
            self.enums.update(data.get("enum", {}))

    def annotation(self, type: Type) -> str:
        if type.name in PYTHON:
            return PYTHON[type.name]
        if type.name in self.enums:
            return "int"
        if type.name == "list":
            return f"tuple[{self.annotation(type.args[0])}, ...]"
        if type.name == "set":
            return f"frozenset[{self.annotation(type.args[0])}]"
        if type.name == "map":
            return f"dict[{self.annotation(type.args[0])}, {self.annotation(type.args[1])}]"
        if type.name not in self.topic_of:
            raise SystemExit(f"unknown type {type.name}")
        return type.name

    def used(self, type: Type) -> set[str]:
        if type.args:
            return set().union(*(self.used(arg) for arg in type.args))
        return set() if type.name in BASE_TYPES or type.name in self.enums else {type.name}


def enum_text(name: str, values: dict[str, Any]) -> str:
    lines = [f"class {name}:"]
    numbers = {key: value["value"] if isinstance(value, dict) else value for key, value in values.items()}
    lines += [f"    {key} = {number}" for key, number in numbers.items()]
    lines.append(f"    NAMES: ClassVar[dict[int, str]] = {{{', '.join(f'{n}: {k!r}' for k, n in numbers.items())}}}")
    return "\n".join(lines)


def struct_text(api: Api, name: str, data: dict[str, Any]) -> tuple[str, str]:
    """The class as type checkers see it, and as it runs."""
    types: dict[str, list[str]] = {}
    for line in data["fields"]:
        field = parse_field(line)
        if keyword.iskeyword(field.name):
            raise SystemExit(f"{name}.{field.name} is a Python keyword")
        types.setdefault(field.name, [])
        annotation = api.annotation(field.type)
        if annotation not in types[field.name]:
            types[field.name].append(annotation)
    seen = [f"    class {name}(NamedTuple):"]
    seen += [f"        {field}: {' | '.join(kinds)} | None = None" for field, kinds in types.items()] or [
        "        pass"
    ]
    names = list(types)
    runs = [f"    class {name}(Struct):", "        __slots__ = ()"]
    runs.append(f"        SPEC = ({''.join(f'{line!r}, ' for line in data['fields']).rstrip()})".replace(",)", ",)"))
    if "was" in data:
        runs.append(f"        WAS_WHEN = {data['was_when']!r}")
        runs.append(f"        WAS = ({''.join(f'{line!r}, ' for line in data['was']).rstrip()})")
    if data.get("union"):
        runs.append("        UNION = True")
    signature = "".join(f", {field}=None" for field in names)
    runs.append(f"\n        def __new__(cls{signature}):")
    runs.append(f"            return new(cls, ({''.join(f'{field}, ' for field in names).rstrip()}))")
    runs.append("")
    runs += [f"        {field} = at[{number}]" for number, field in enumerate(names)]
    return "\n".join(seen), "\n".join(runs)


def topic_text(api: Api, topic: str, data: dict[str, Any]) -> str:
    structs = data.get("struct", {})
    imports: dict[str, set[str]] = {}
    for struct in structs.values():
        for line in struct["fields"]:
            for name in api.used(parse_field(line).type):
                if api.topic_of[name] != topic:
                    imports.setdefault(api.topic_of[name], set()).add(name)
    exports = sorted([*structs, *data.get("enum", {})])
    out = [HEADER.format(topic=topic.replace("_", " "), file=f"{topic}.toml")]
    out.append("# ruff: noqa\nfrom __future__ import annotations\n")
    out.append("from typing import TYPE_CHECKING, ClassVar, NamedTuple\n")
    out.append(f"__all__ = {exports!r}\n")
    for name, values in data.get("enum", {}).items():
        out.append(f"\n{enum_text(name, values)}\n")
    if structs:
        texts = [struct_text(api, name, struct) for name, struct in structs.items()]
        out.append("\nif TYPE_CHECKING:")
        for topic, names in sorted(imports.items()):
            out.append(f"    from metastored.wire.generated.{topic} import {', '.join(sorted(names))}")
        out.append("\n" + "\n\n".join(seen for seen, _ in texts))
        out.append("\nelse:\n    from metastored.wire.structs import Struct, at, new\n")
        out.append("\n\n".join(runs for _, runs in texts))
    return "\n".join(out) + "\n"


def init_text(api: Api) -> str:
    out = ['"""All structs and enums of the API by name. Made by tools/generate.py: DO NOT EDIT."""\n', "# ruff: noqa"]
    topics = {
        topic: sorted([*data.get("struct", {}), *data.get("enum", {})])
        for topic, data in api.topics.items()
        if topic != "exceptions" and (data.get("struct") or data.get("enum"))
    }
    for topic, names in topics.items():
        out.append(f"from metastored.wire.generated.{topic} import {', '.join(names)}")
    out.append("\nSTRUCTS: dict[str, type] = {")
    out += [f"    {n!r}: {n}," for d in topics.values() for n in d if n not in api.enums]
    out.append("}\nENUMS: dict[str, type] = {")
    out += [f"    {n!r}: {n}," for d in topics.values() for n in d if n in api.enums]
    out.append("}\n")
    return "\n".join(out)


def methods_text(api: Api) -> str:
    out = ['"""The method table as data. Made by tools/generate.py from api/*.toml: DO NOT EDIT."""\n', "# ruff: noqa"]
    out.append("from __future__ import annotations\n\nfrom typing import Any\n")
    out.append("# name: (topic, args, returns, throws, throws of other versions, versions, oneway,")
    out.append("#        verb, object, cost, route, merge, retry, privileges, event, hook, changes_with, doc)")
    out.append("TABLE: dict[str, tuple[Any, ...]] = {")
    for topic, data in api.topics.items():
        for name, method in data.get("method", {}).items():
            if unknown := set(method) - METHOD_KEYS:
                raise SystemExit(f"{topic}.toml: {name} has unknown keys {', '.join(sorted(unknown))}")
            for line in method["args"]:
                api.annotation(parse_field(line).type)
            if (returns := parse_returns(method["returns"])[0]) is not None:
                api.annotation(returns)
            versions = method.get("in", "2.3+")
            parse_versions(versions)
            row = (
                topic,
                tuple(method["args"]),
                method["returns"],
                tuple(method["throws"]),
                tuple((key, tuple(value)) for key, value in method.get("throws_in", {}).items()),
                versions,
                method.get("oneway", False),
                *(method.get(key, "") for key in ("verb", "object", "cost", "route", "merge", "retry")),
                *(method.get(key, "") for key in ("privileges", "event", "hook")),
                tuple(method.get("changes_with", ())),
                method.get("doc", ""),
            )
            out.append(f"    {name!r}: {row!r},")
    out.append("}\n")
    return "\n".join(out)


def versions_text(versions: str) -> str:
    """The versions of Hive that have a method, in words."""
    listed = parse_versions(versions)
    first, last = ("the one after 4.2" if each == "next" else each for each in (listed[0], listed[-1]))
    if listed[-1] == VERSIONS[-1]:
        return f"Hive {first} and later"
    return f"Hive {first} only" if first == last else f"Hive {first} to {last}"


def docstring(method: dict[str, Any]) -> list[str]:
    """The docstring of a method: what it does, its versions of Hive, and what it raises."""
    throws = ", ".join(line.split()[1] for line in method["throws"])
    raises = f" Raises {throws}." if throws else ""
    says = f"{versions_text(method.get('in', '2.3+'))}.{raises}"
    wrapped = textwrap.wrap(says, 110, break_long_words=False)
    return [f'        """{method["doc"]}', "", *(f"        {line}" for line in wrapped), '        """']


def client_text(api: Api) -> str:
    """Every method as a function of the client, with types, so that editors can complete and checkers check."""
    out = [
        '"""Every method of the metastore, to be called. Made by tools/generate.py from api/*.toml: DO NOT EDIT."""\n',
        "# ruff: noqa\nfrom __future__ import annotations\n\nfrom typing import TYPE_CHECKING, Any\n",
    ]
    used: dict[str, set[str]] = {}
    body: list[str] = []
    for topic, data in api.topics.items():
        if data.get("method"):
            body.append(f"\n    # {topic.replace('_', ' ')}")
        for name, method in data.get("method", {}).items():
            fields = [parse_field(line) for line in method["args"]]
            returns = parse_returns(method["returns"])[0]
            for type in [*(field.type for field in fields), *([] if returns is None else [returns])]:
                for struct in api.used(type):
                    used.setdefault(api.topic_of[struct], set()).add(struct)
            parameters, optional = [], False
            for field in fields:
                optional = optional or field.default is not None or field.type.name == "EnvironmentContext"
                parameters.append(
                    f"{field.name}: {api.annotation(field.type)} | None" + (" = None" if optional else "")
                )
            annotation = "None" if returns is None else api.annotation(returns)
            passed = "".join(f", {field.name}" for field in fields)
            body.append(f"\n    async def {name}({', '.join(['self', *parameters])}) -> {annotation}:")
            body += docstring(method)
            keep = "" if returns is None else f"result: {annotation} = "
            body.append(f'        {keep}await self.call("{name}"{passed})')
            if returns is not None:
                body.append("        return result")
    out.append("if TYPE_CHECKING:")
    for topic, names in sorted(used.items()):
        out.append(f"    from metastored.wire.generated.{topic} import {', '.join(sorted(names))}")
    out.append(
        "\n\nclass AsyncMethods:\n"
        '    """One function a method, named as the method. Arguments are those of Thrift; null is None."""\n\n'
        "    async def call(self, name: str, *args: Any) -> Any:\n"
        '        """Calls any method by its name and returns its result."""\n'
        "        raise NotImplementedError"
    )
    return "\n".join([*out, *body]) + "\n"


def structs_text(api: Api) -> str:
    """One module from which every struct can be imported, with types."""
    out = [
        '"""All structs and enums of the metastore\'s API, and functions that work on each of them.\n',
        "    from metastored.structs import Table, Partition, replace, to_dict\n",
        'Structs are immutable; `replace(table, owner="ann")` makes a changed one.',
        "Made by tools/generate.py: DO NOT EDIT.",
        '"""\n',
        "# ruff: noqa\nfrom __future__ import annotations\n",
        "from metastored.model.plain import from_dict, to_dict",
    ]
    exports = ["from_dict", "replace", "to_dict"]
    for topic, data in api.topics.items():
        names = sorted([*data.get("struct", {}), *data.get("enum", {})])
        if topic != "exceptions" and names:
            out.append(f"from metastored.wire.generated.{topic} import {', '.join(names)}")
            exports += names
    out.append("from metastored.wire.structs import replace\n\n__all__ = [")
    out += [f'    "{name}",' for name in sorted(exports)]
    out.append("]\n")
    return "\n".join(out)


def all_files() -> dict[Path, str]:
    api = Api()
    files = {
        STRUCTS: structs_text(api),
        OUT / "__init__.py": init_text(api),
        OUT / "methods.py": methods_text(api),
        CLIENT_METHODS: client_text(api),
    }
    for topic, data in api.topics.items():
        if topic != "exceptions" and (data.get("struct") or data.get("enum")):
            files[OUT / f"{topic}.py"] = topic_text(api, topic, data)
    return files


def main(check: bool) -> int:
    files = all_files()
    stale = [p for p in OUT.glob("*.py") if p not in files]
    changed = [p for p, text in files.items() if not p.exists() or p.read_text("utf-8") != text]
    if check:
        for path in changed:
            old = path.read_text("utf-8").splitlines() if path.exists() else []
            print("\n".join(list(difflib.unified_diff(old, files[path].splitlines(), lineterm="", n=0))[:12]))
        for path in [*changed, *stale]:
            print(f"not current: {path.relative_to(ROOT)}; run python tools/generate.py")
        return 1 if changed or stale else 0
    OUT.mkdir(exist_ok=True)
    for path in changed:
        path.write_text(files[path], "utf-8")
    for path in stale:
        path.unlink()
    print(f"{len(changed)} of {len(files)} files written")
    return 0


if __name__ == "__main__":
    raise SystemExit(main("--check" in sys.argv[1:]))
