"""The keys in the content of a DeleteObjects of S3. Pure.

The content is XML that two programs read: the server here, which checks the keys, and S3, which deletes them. Only
what both read alike is accepted: elements without attributes, in UTF-8, without entities that the content itself
defines, comments and instructions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from xml.etree import ElementTree

from metastored.iceberg.errors import BadRequest, Forbidden

__all__ = ["deleted_keys"]

MAX_BODY: Final = 2 * 1024 * 1024
MAX_KEYS: Final = 1000
"""As S3 has it."""
NAMESPACE: Final = "http://s3.amazonaws.com/doc/2006-03-01/"
_DECLARATION: Final = re.compile(
    r"<\?xml\s+version=(\"1\.0\"|'1\.0')(\s+encoding=(\"utf-8\"|'utf-8'))?(\s+standalone=(\"yes\"|'yes'))?\s*\?>",
    re.IGNORECASE,
)


def deleted_keys(body: str) -> Iterator[str]:
    """The keys of all objects. Raises BadRequest if the content is not a list of them, and Forbidden for versions."""
    if len(body) > MAX_BODY:
        raise BadRequest(f"body of the request has {len(body):,} characters: at most {MAX_BODY:,} are taken")
    content = body[declaration.end() :] if (declaration := _DECLARATION.match(body)) else body
    if "<!" in content or "<?" in content:
        raise BadRequest(
            "body of the request has a declaration, a comment or an instruction in it: it is a list of keys"
        )
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError) as error:
        raise BadRequest(f"body of the request is not XML: {error}"[:300]) from None
    objects = [each for each in root if _name(each) == "Object"]
    quiet = [each for each in root if _name(each) == "Quiet" and not len(each)]
    if _name(root) != "Delete" or not objects or len(root) > len(objects) + len(quiet):
        raise BadRequest("body of the request is not a list of objects: a Delete with an Object for each was expected")
    if len(objects) > MAX_KEYS:
        raise BadRequest(f"body of the request has {len(objects):,} objects: at most {MAX_KEYS:,} are taken")
    for each in objects:
        yield _key(each)


def _key(element: ElementTree.Element) -> str:
    keys = [child for child in element if _name(child) == "Key"]
    if any(_name(child) == "VersionId" for child in element):
        raise Forbidden("body of the request has a VersionId in it: versions are not deleted with signed requests")
    if len(keys) != 1 or len(element) != 1 or len(keys[0]) or not keys[0].text:
        raise BadRequest("body of the request has an Object in it that is not one Key with a text")
    return keys[0].text


def _name(element: ElementTree.Element) -> str:
    """The name of an element of S3 without attributes; the empty text for any other."""
    name = element.tag.removeprefix(f"{{{NAMESPACE}}}")
    return "" if element.attrib else name
