"""Rules of the setting `remotes_references`: which secret may be sent to which host. Pure: nothing is read or resolved.

    env:PARTNER_* -> *.partner.example      variables that are sent to these hosts only
    file:/run/secrets/*                     files that only definitions of administrators use
    server:kerberos -> *.hadoop.example     the server's own credentials: ssh, kerberos, aws

Several hosts have blanks between them. A network allows addresses, never names: a name can be made to point anywhere.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from metastored.hive.host_rules import HostRule, literal_address, read_host_rule

OWN: Final = "server:"
"""Before the names of the server's own credentials."""
_PATTERN: Final = re.compile(r"env:\S+|file:/\S*|server:[a-z*]+")
_EXPECTED: Final = (
    "references were expected, such as env:METASTORED_REMOTE__*,file:/run/secrets/*, each with the hosts that may get "
    "the secret behind an arrow: env:PARTNER_* -> *.partner.example"
)


@dataclass(frozen=True, slots=True)
class ReferenceRule:
    """One entry: a pattern of references, and the hosts that they are bound to."""

    text: str
    pattern: str
    hosts: tuple[HostRule, ...] = ()
    """() for a reference that is bound to no host."""

    def matches(self, reference: str) -> bool:
        """Whether the rule is about a reference. A path is compared without `..`; a relative path never matches."""
        kind, _, where = reference.partition(":")
        if not where or (kind == "file" and not os.path.isabs(where)):
            return False
        plain = f"file:{os.path.normpath(where)}" if kind == "file" else reference
        return fnmatchcase(plain, self.pattern)

    def allows(self, host: str, port: int | None) -> bool:
        """Whether a secret that is bound to hosts may be sent to this one, by its name or its literal address."""
        literal = literal_address(host)
        return any(
            each.allows_port(port)
            and (each.allows_name(host) or (literal is not None and each.allows_address(literal)))
            for each in self.hosts
        )


def read_reference_rule(entry: str) -> ReferenceRule:
    """Parses one entry. Raises ValueError."""
    text = " ".join(entry.split())
    pattern, arrow, given = (part.strip() for part in text.partition("->"))
    if not _PATTERN.fullmatch(pattern) or (arrow and not given):
        raise ValueError(f"{text!r} is none; {_EXPECTED}")
    return ReferenceRule(text, pattern, tuple(map(read_host_rule, given.split())))
