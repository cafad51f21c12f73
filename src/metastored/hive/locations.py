"""Locations: URIs as Hadoop's Path reads, joins and compares them.

Hadoop writes local files as `file:/x`, users as `file:///x` or `/x`; all three are one location. Percent signs
in a location are ordinary characters, never escapes: the directory of partition `a%2Fb` has that very name.
Nothing here touches a file system, and relative paths are only resolved against a directory that the caller
names.
"""

import re
from functools import lru_cache
from typing import NamedTuple

LOCAL_SCHEME = "file"

_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]*):")
_SLASHES = re.compile("/+")
_LONGEST_CACHED = 500
"""Characters of a location that is cached: it comes from a client."""


class LocationError(ValueError):
    """A text that cannot be a location: empty, or a relative path after a scheme."""


class Location(NamedTuple):
    """The parts of a location: scheme in lower case, authority as given, path without needless slashes."""

    scheme: str
    authority: str
    path: str

    def __str__(self) -> str:
        scheme = f"{self.scheme}:" if self.scheme else ""
        authority = f"//{self.authority}" if self.authority else ""
        return f"{scheme}{authority}{self.path}"


def parse_location(text: str) -> Location:
    """Reads a location as Hadoop's Path does: doubled and trailing slashes are removed, `.` and `..` are resolved."""
    return _parsed(text) if len(text) <= _LONGEST_CACHED else _parsed.__wrapped__(text)


# One change of a partition reads its location, and those above it, forty times.
@lru_cache(maxsize=1024)
def _parsed(text: str) -> Location:
    if not text:
        raise LocationError("a location cannot be empty; give an absolute path or a URI such as file:/warehouse")
    scheme = ""
    rest = text
    match = _SCHEME.match(text)
    if match is not None:
        scheme, rest = match[1].lower(), text[match.end() :]
    authority = ""
    if rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    if scheme and not rest.startswith("/") and not authority:
        raise LocationError(f"{text!r} has a relative path after its scheme; write {scheme}:/{rest}")
    return Location(scheme, authority, _normal_path(rest))


def _normal_path(path: str) -> str:
    absolute = path.startswith("/")
    # Most paths are normal: a batch of partitions asks for thousands.
    if absolute and "//" not in path and "/." not in path and (path == "/" or path[-1] != "/"):
        return path
    segments: list[str] = []
    for segment in _SLASHES.split(path):
        if segment in ("", "."):
            continue
        if segment == ".." and segments and segments[-1] != "..":
            segments.pop()
        else:
            segments.append(segment)
    return ("/" if absolute else "") + "/".join(segments)


def canonical(text: str) -> str:
    """The canonical text of a location: `file:///x/` and `file://x//y` become `file:/x` and `file://x/y`."""
    return str(parse_location(text))


def same_location(one: str, other: str) -> bool:
    """Whether two texts name one location. A path without a scheme is local; a bucket and its root are the same."""
    return one == other or _comparable(one) == _comparable(other)


def _comparable(text: str) -> Location:
    scheme, authority, path = parse_location(text)
    return Location(scheme or LOCAL_SCHEME, authority.lower(), "" if path == "/" else path)


def is_under(text: str, ancestor: str) -> bool:
    """Whether a location is below another one, or the same."""
    inner, outer = _comparable(text), _comparable(ancestor)
    if inner[:2] != outer[:2]:
        return False
    return inner.path == outer.path or inner.path.startswith(outer.path + "/")


def join(parent: str, *children: str) -> str:
    """A location below another one. A child is a relative path such as `ds=2024-01-01/h=1`."""
    scheme, authority, path = parse_location(parent)
    for child in children:
        if child.startswith("/"):
            raise LocationError(f"{child!r} is absolute and cannot be joined to {parent!r}")
        path = f"{path.rstrip('/')}/{child}"
    return str(Location(scheme, authority, _normal_path(path)))


def parent(text: str) -> str | None:
    """The location one level up, or None for a root."""
    scheme, authority, path = parse_location(text)
    above, slash, name = path.rpartition("/")
    if not name or not slash:
        return None
    return str(Location(scheme, authority, above or "/"))


def name(text: str) -> str:
    """The last segment, '' for a root."""
    return parse_location(text).path.rpartition("/")[2]


def is_relative(text: str) -> bool:
    """Whether a location has neither a scheme nor a slash at its start."""
    return bool(text) and not text.startswith("/") and ":" not in text.partition("/")[0]


def is_local(text: str) -> bool:
    """Whether a location is on this machine's own file system: scheme `file`, or none at all."""
    return parse_location(text).scheme in ("", LOCAL_SCHEME)


def local_path(text: str) -> str:
    """The file system path of a local location."""
    scheme, authority, path = parse_location(text)
    if scheme not in ("", LOCAL_SCHEME) or authority not in ("", "localhost"):
        raise LocationError(f"{text!r} is not on the local file system; a local location begins with file:/")
    return path


def qualified(text: str, root: str) -> str:
    """A location that a client sent, in its canonical form. `root` is the canonical URI of the warehouse.

    A path without a scheme is on the warehouse's own file system. Raises LocationError for an empty text, for a
    relative path, and for a local path on another host.
    """
    location = parse_location(text)
    if not location.scheme:
        if location.authority or not location.path.startswith("/"):
            raise LocationError(
                f"Relative path in absolute URI: {text}; a location begins with a scheme or with one slash"
            )
        warehouse = parse_location(root)
        location = location._replace(scheme=warehouse.scheme, authority=warehouse.authority)
    if location.scheme == LOCAL_SCHEME and location.authority:
        # Hadoop supports only local files without a host.
        location = location._replace(authority="", path=local_path(text))
    return str(location)


def warehouse_uri(text: str, working_directory: str) -> str:
    """A warehouse that a person typed, as a canonical URI: `wh`, `/x/wh/` and `file:///x/wh` become `file:/x/wh`.

    A percent sign is an ordinary character, as everywhere in Hadoop: `file:///a%20b` is not the directory `a b`.
    """
    if _SCHEME.match(text) is None:
        path = text if text.startswith("/") else f"{working_directory}/{text}"
        text = f"{LOCAL_SCHEME}:/{path.lstrip('/')}"
    return qualified(text, f"{LOCAL_SCHEME}:/")


def moved(text: str, old: str, new: str) -> str | None:
    """A location below `old` (or `old` itself) as it is below `new`; None for any other, and for other texts.

    Complete path components are compared: `file:/w/a` is below `file:/w`, and `file:/w2` is not. A slash at the end of
    `text` stays, as bases and some clients' properties have one.
    """
    try:
        inside = is_under(text, old)
    except LocationError:
        return None
    if not inside:
        return None
    rest = parse_location(text).path[len(_comparable(old).path) :].lstrip("/")
    result = join(new, rest) if rest else canonical(new)
    return f"{result}/" if text.endswith("/") and not result.endswith("/") else result
