"""Web tokens (JWT) as Hive 4's HTTP clients send them: signed by a key of a JWKS, with the user as their subject.

Only public-key signatures are accepted. The keys are fetched in `web_keys.py`; no token is ever written to an error
or the log.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import jwt

from metastored.errors import AuthenticationError
from metastored.server.auth.identity import Unverifiable
from metastored.server.auth.web_keys import WebKeys
from metastored.server.user_names import checked_user
from metastored.threads import Pool

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY: Final = 30
"""Seconds by which clocks may differ."""


class JwtTokens:
    """Verifies tokens."""

    def __init__(self, keys: WebKeys, issuer: str | None = None, audience: str | None = None) -> None:
        self._keys = keys
        self._issuer = issuer
        self._audience = audience

    async def user_of(self, token: str, pool: Pool) -> str:
        """The user of the token; raises AuthenticationError, or Unverifiable while the keys are not available."""
        try:
            name = jwt.get_unverified_header(token).get("kid")
            key = self._keys.find(name)
            if key is None:
                await self._keys.renewed()
                key = self._known(name)
            try:
                return await pool.run(partial(self._verified, token, key))
            except jwt.InvalidSignatureError:
                # A new key may have the name of an old one.
                await self._keys.renewed()
                newer = self._keys.find(name)
                if newer is None or newer is key:
                    raise
                return await pool.run(partial(self._verified, token, newer))
        except jwt.PyJWTError as error:
            raise AuthenticationError(f"the web token is not accepted: {error}") from None

    def _known(self, name: str | None) -> jwt.PyJWK:
        key = self._keys.find(name)
        if key is not None:
            return key
        if self._keys.in_doubt:
            # The token may be valid; it cannot be verified now.
            raise Unverifiable("the keys of web tokens cannot be had now (jwt_keys): try again later")
        raise AuthenticationError(f"the web token is signed with the key {name!r}, which is not in the key set")

    def _verified(self, token: str, key: jwt.PyJWK) -> str:
        claims = jwt.decode(
            token,
            key,
            algorithms=ALGORITHMS,
            issuer=self._issuer,
            audience=self._audience,
            leeway=LEEWAY,
            options={"require": ["exp", "sub"], "verify_aud": self._audience is not None},
        )
        user = claims["sub"]
        if not isinstance(user, str) or not user.strip():
            raise AuthenticationError("the web token has an empty subject")
        return checked_user(user, "the subject of the web token")
