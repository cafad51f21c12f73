"""The other side of tokens: an issuer of web tokens, and a client with a delegation token."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import time
from pathlib import Path
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from metastored.hive.delegation import Token


class Issuer:
    """An issuer that signs web tokens with a key of this name."""

    def __init__(self, kid: str = "one") -> None:
        self.kid = kid
        self.key = ec.generate_private_key(ec.SECP256R1())

    @property
    def keys(self) -> str:
        """The set of keys that others verify with."""
        public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.key.public_key()))
        return json.dumps({"keys": [{**public, "kid": self.kid, "use": "sig", "alg": "ES256"}]})

    def file(self, folder: Path) -> str:
        (folder / "keys.json").write_text(self.keys)
        return str(folder / "keys.json")

    def token(self, **claims: Any) -> str:
        kid = claims.pop("kid", self.kid)
        payload = {"sub": "willy", "iss": "hive", "aud": "metastored", "exp": time.time() + 600, **claims}
        return jwt.encode({k: v for k, v in payload.items() if v is not None}, self.key, "ES256", {"kid": kid})


def digest(challenge: bytes, token: Token, qop: str, password: bytes | None = None) -> bytes:
    """The response of a client with this token, as in RFC 2831."""
    fields = dict(re.findall(rb'([a-z-]+)="?([^",]+)', challenge))
    name, secret = base64.b64encode(token.identifier), base64.b64encode(password or token.password)

    def h(data: bytes) -> bytes:
        return hashlib.md5(data).digest()

    a1 = h(name + b":default:" + secret) + b":" + fields[b"nonce"] + b":cc"
    a2 = b"AUTHENTICATE:null/default" + (b":" + b"0" * 32 if qop == "auth-int" else b"")
    response = b":".join((h(a1).hex().encode(), fields[b"nonce"], b"00000001:cc", qop.encode(), h(a2).hex().encode()))
    return (
        b'charset=utf-8,username="%b",realm="default",nonce="%b",nc=00000001,cnonce="cc",digest-uri="null/default",'
        b"maxbuf=65536,response=%b,qop=%b" % (name, fields[b"nonce"], h(response).hex().encode(), qop.encode())
    )
