"""Delegation tokens and the master keys that sign them: issued, renewed, cancelled, and stored for other servers.

A job that runs elsewhere logs in with a token instead of a Kerberos ticket. Tokens and keys are stored in the database
in Hive's own encoding, so every server accepts the tokens of every other. Keys are replaced once a day and kept for the
maximum lifetime of a token that they signed; issuing a token does both.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from metastored.errors import AuthenticationError, MetaException
from metastored.hive.delegation import DelegationError, Identifier, MasterKey, StoredToken, Token, short_name, to_text
from metastored.hive.delegation import from_text as bytes_of
from metastored.service.core.context import Context, Service
from metastored.service.core.serving import method
from metastored.store.engine.transaction import ConstraintViolated, Transaction
from metastored.store.security import tokens

DAY: Final = 24 * 60 * 60 * 1000
KEY_INTERVAL: Final = DAY
"""Milliseconds for which a key signs new tokens."""
MAX_LIFETIME: Final = 7 * DAY
"""Milliseconds after which a token ends, however often it was renewed."""
RENEW_INTERVAL: Final = DAY
"""Milliseconds for which a token is valid without being renewed."""
KEY_BYTES: Final = 32
MAX_IDENTIFIER: Final = 16 * 1024
"""Bytes of an identifier that somebody logs in with: three names of MAX_NAME characters, and numbers."""


def _milliseconds(service: Service) -> int:
    return int(service.clock() * 1000)


# --- issuing ----------------------------------------------------------------------------------------------------


@method
def get_delegation_token(ctx: Context, token_owner: str | None, renewer_kerberos_principal_name: str | None) -> str:
    session = ctx.session
    if not session.authenticated or session.user is None:
        raise MetaException(
            "a delegation token is issued only to authenticated users, and this connection is not authenticated; "
            "connect with Kerberos"
        )
    if session.by_token:
        # A job's token would never end if the job could get the next one with it.
        raise MetaException(
            "Delegation Token can be issued only with kerberos authentication or a password: this connection was "
            "authenticated by a delegation token"
        )
    if token_owner is None:
        raise MetaException("Delegation token owner is null")
    owner, real_user = token_owner, session.principal or session.user
    if short_name(owner) != session.user:
        raise MetaException(f"User: {real_user} is not allowed to impersonate {owner}")
    renewer = short_name(renewer_kerberos_principal_name or "")

    def issue(tx: Transaction) -> str:
        now = _milliseconds(ctx.service)
        # The number is taken first: the call that has it is the only one that issues a token, and so creates a key.
        number = tokens.next_number(tx)
        tokens.delete_expired(tx, now)
        key = _current_key(tx, now)
        identifier = Identifier(owner, renewer, real_user, now, now + MAX_LIFETIME, number, key.id)
        data = identifier.encode()
        token = Token(data, key.password(data))
        stored = StoredToken(token.password, now + RENEW_INTERVAL)
        tokens.insert(tx, to_text(data), stored.encode(), identifier.max_date)
        return token.encode()

    return ctx.database.run(issue)


def _current_key(tx: Transaction, now: int) -> MasterKey:
    """The current signing key; a new one is created when the newest is too old.

    Keys that no valid token needs are removed.
    """
    newest: MasterKey | None = None
    for id, text in tokens.keys(tx):
        key = _key_of(text)
        if key is None or key.id != id:
            continue  # Added by add_master_key; it is neither used nor removed here.
        if key.expires < now:
            tokens.delete_key(tx, id)
        else:
            newest = key
    if newest is not None and now < newest.expires - MAX_LIFETIME:
        return newest
    # The number of a key is part of it, and known only after its row was inserted.
    id = tokens.insert_key(tx, "")
    made = MasterKey(id, now + KEY_INTERVAL + MAX_LIFETIME, secrets.token_bytes(KEY_BYTES))
    tokens.update_key(tx, id, made.encode())
    return made


def _key_of(text: str) -> MasterKey | None:
    try:
        return MasterKey.decode(text)
    except DelegationError:
        return None


# --- renewing and cancelling ------------------------------------------------------------------------------------


def _presented(text: str | None) -> tuple[Token, Identifier]:
    try:
        token = Token.decode(text or "")
        return token, Identifier.decode(token.identifier)
    except DelegationError as error:
        raise MetaException(f"this is not a delegation token: {error}") from None


def _described(identifier: Identifier) -> str:
    return f"of {identifier.owner} for {identifier.renewer or 'nobody'} (number {identifier.number})"


def _stored_token(tx: Transaction, identifier: bytes) -> StoredToken | None:
    text = tokens.find(tx, to_text(identifier))
    try:
        return None if text is None else StoredToken.decode(text)
    except DelegationError:
        return None


@method
def renew_delegation_token(ctx: Context, token_str_form: str | None) -> int:
    """Renews a token; returns the time in milliseconds until which it is valid. Only its renewer may do this."""
    token, identifier = _presented(token_str_form)
    renewer = ctx.user or ""

    def renew(tx: Transaction) -> int:
        now = _milliseconds(ctx.service)
        stored = _stored_token(tx, token.identifier)
        if stored is None:
            raise MetaException(f"token does not exist: {_described(identifier)}")
        if identifier.max_date < now:
            raise MetaException(f"{renewer} tried to renew an expired token {_described(identifier)}")
        if not identifier.renewer:
            raise MetaException(f"{renewer} tried to renew a token {_described(identifier)} without a renewer")
        if identifier.renewer != renewer:
            raise MetaException(
                f"{renewer} tries to renew a token {_described(identifier)} "
                f"with non-matching renewer {identifier.renewer}"
            )
        if not hmac.compare_digest(stored.password, token.password):
            raise MetaException(f"{renewer} is trying to renew a token {_described(identifier)} with wrong password")
        until = min(identifier.max_date, now + RENEW_INTERVAL)
        tokens.update(tx, to_text(token.identifier), stored._replace(renew_date=until).encode())
        return until

    return ctx.database.run(renew)


@method
def cancel_delegation_token(ctx: Context, token_str_form: str | None) -> None:
    """Cancels a token. Holding it is enough; one that has ended already is not an error."""
    token, identifier = _presented(token_str_form)

    def cancel(tx: Transaction) -> None:
        stored = _stored_token(tx, token.identifier)
        if stored is None:
            return
        if not hmac.compare_digest(stored.password, token.password):
            raise MetaException(f"{ctx.user} is trying to cancel a token {_described(identifier)} with wrong password")
        tokens.delete(tx, to_text(token.identifier))

    ctx.database.run(cancel)


def password_of(service: Service, identifier: bytes) -> tuple[str, bytes]:
    """For authentication by token: returns the token's owner, and the password that its holder must know."""
    if len(identifier) > MAX_IDENTIFIER:
        raise AuthenticationError(
            f"an identifier of a delegation token of {len(identifier)} bytes; at most {MAX_IDENTIFIER} are accepted"
        )
    try:
        decoded = Identifier.decode(identifier)
    except DelegationError as error:
        raise AuthenticationError(f"this is not an identifier of a delegation token: {error}") from None
    stored = _stored_token(service.database.reader(), identifier)
    if stored is None:
        raise AuthenticationError(f"token expired or does not exist: {_described(decoded)}")
    now = _milliseconds(service)
    if now > min(stored.renew_date, decoded.max_date):
        raise AuthenticationError(f"token has expired: {_described(decoded)}")
    return decoded.user, stored.password


# --- the store of tokens and keys, for other servers ------------------------------------------------------------


def _needed(text: str | None, what: str) -> str:
    if text is None:
        raise MetaException(f"the {what} is missing: the request has none")
    return text


@method
def add_token(ctx: Context, token_identifier: str | None, delegation_token: str | None) -> bool:
    """Returns whether it was new."""
    identifier = _needed(token_identifier, "token identifier")
    token = _needed(delegation_token, "delegation token")

    def add(tx: Transaction) -> bool:
        if tokens.find(tx, identifier) is not None:
            return False
        tokens.insert(tx, identifier, token, _expiry(identifier))
        return True

    try:
        return ctx.database.run(add)
    except ConstraintViolated:
        return False


def _expiry(identifier: str) -> int | None:
    try:
        return Identifier.decode(bytes_of(identifier)).max_date
    except DelegationError:
        return None  # Any text may be stored as an identifier; the end of such a token is unknown.


@method
def remove_token(ctx: Context, token_identifier: str | None) -> bool:
    """Returns whether it existed."""
    identifier = _needed(token_identifier, "token identifier")
    return ctx.database.run(lambda tx: tokens.delete(tx, identifier))


@method
def get_token(ctx: Context, token_identifier: str | None) -> str | None:
    token = tokens.find(ctx.reader(), _needed(token_identifier, "token identifier"))
    if token is None and ctx.rules.empties_missing_tokens:
        return ""  # Thrift has no null; Hive 2.3 sends no result at all.
    return token


@method
def get_all_token_identifiers(ctx: Context) -> tuple[str, ...]:
    return tuple(tokens.identifiers(ctx.reader()))


@method
def add_master_key(ctx: Context, key: str | None) -> int:
    """Returns the number of the new key."""
    text = _needed(key, "master key")
    return ctx.database.run(lambda tx: tokens.insert_key(tx, text))


@method
def update_master_key(ctx: Context, seq_number: int | None, key: str | None) -> None:
    text = _needed(key, "master key")
    if not ctx.database.run(lambda tx: tokens.update_key(tx, seq_number or 0, text)):
        # Hive declares another exception for this, and never throws it.
        raise MetaException(f"NoSuchObjectException(message:No key found with keyId: {seq_number or 0})")


@method
def remove_master_key(ctx: Context, key_seq: int | None) -> bool:
    """Returns whether it existed."""
    return ctx.database.run(lambda tx: tokens.delete_key(tx, key_seq or 0))


@method
def get_master_keys(ctx: Context) -> tuple[str, ...]:
    return tuple(key for _, key in tokens.keys(ctx.reader()))
