"""Delegation tokens and the master keys that sign them: issued, renewed, cancelled, and kept for other servers.

A job that runs elsewhere logs in with a token instead of a Kerberos ticket. Tokens and keys live in the database in
Hive's own encoding, so every server accepts what any of them issued. Keys are replaced once a day and kept as long as
a token that they signed can live; whoever issues a token sees to both.
"""

from __future__ import annotations

import hmac
import secrets
from typing import Final

from metastored.errors import AuthenticationError, MetaException
from metastored.hive.delegation import DelegationError, Identifier, Kept, MasterKey, Token, short_name, to_text
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
"""Milliseconds for which a token is good without being renewed."""
KEY_BYTES: Final = 32


def _milliseconds(service: Service) -> int:
    return int(service.clock() * 1000)


# --- issuing ----------------------------------------------------------------------------------------------------


@method
def get_delegation_token(ctx: Context, token_owner: str | None, renewer_kerberos_principal_name: str | None) -> str:
    session = ctx.session
    if not session.authenticated or session.user is None:
        raise MetaException(
            "a delegation token is given only to those who have proven who they are, and this connection has not; "
            "connect with Kerberos"
        )
    if session.by_token:
        # A token in the hands of a job would never end if the job could get the next one with it.
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
        # The number is taken first: whoever has it is the only one to issue, and so to make a key.
        number = tokens.next_number(tx)
        tokens.delete_expired(tx, now)
        key = _current_key(tx, now)
        identifier = Identifier(owner, renewer, real_user, now, now + MAX_LIFETIME, number, key.id)
        data = identifier.encode()
        token = Token(data, key.password(data))
        kept = Kept(token.password, now + RENEW_INTERVAL)
        tokens.insert(tx, to_text(data), kept.encode(), identifier.max_date)
        return token.encode()

    return ctx.database.run(issue)


def _current_key(tx: Transaction, now: int) -> MasterKey:
    """The key that signs now: made when the newest one is too old. Keys that no living token needs are removed."""
    newest: MasterKey | None = None
    for id, text in tokens.keys(tx):
        key = _key_of(text)
        if key is None or key.id != id:
            continue  # Added by add_master_key; it is not ours to use or remove.
        if key.expires < now:
            tokens.delete_key(tx, id)
        else:
            newest = key
    if newest is not None and now < newest.expires - MAX_LIFETIME:
        return newest
    # The number of a key is part of it, and known only when its row is there.
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
        raise MetaException(f"this is no delegation token: {error}") from None


def _described(identifier: Identifier) -> str:
    return f"of {identifier.owner} for {identifier.renewer or 'nobody'} (number {identifier.number})"


def _kept(tx: Transaction, identifier: bytes) -> Kept | None:
    text = tokens.find(tx, to_text(identifier))
    try:
        return None if text is None else Kept.decode(text)
    except DelegationError:
        return None


@method
def renew_delegation_token(ctx: Context, token_str_form: str | None) -> int:
    """Until when the token is good now, in milliseconds. Only its renewer may do this."""
    token, identifier = _presented(token_str_form)
    renewer = ctx.user or ""

    def renew(tx: Transaction) -> int:
        now = _milliseconds(ctx.service)
        kept = _kept(tx, token.identifier)
        if kept is None:
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
        if not hmac.compare_digest(kept.password, token.password):
            raise MetaException(f"{renewer} is trying to renew a token {_described(identifier)} with wrong password")
        until = min(identifier.max_date, now + RENEW_INTERVAL)
        tokens.update(tx, to_text(token.identifier), kept._replace(renew_date=until).encode())
        return until

    return ctx.database.run(renew)


@method
def cancel_delegation_token(ctx: Context, token_str_form: str | None) -> None:
    """Ends a token. To hold it is enough; one that has ended already is no error."""
    token, identifier = _presented(token_str_form)

    def cancel(tx: Transaction) -> None:
        kept = _kept(tx, token.identifier)
        if kept is None:
            return
        if not hmac.compare_digest(kept.password, token.password):
            raise MetaException(f"{ctx.user} is trying to cancel a token {_described(identifier)} with wrong password")
        tokens.delete(tx, to_text(token.identifier))

    ctx.database.run(cancel)


def password_of(service: Service, identifier: bytes) -> tuple[str, bytes]:
    """For who checks a log-in by token: whose token this is, and the password that its holder must know."""
    try:
        told = Identifier.decode(identifier)
    except DelegationError as error:
        raise AuthenticationError(f"this is no identifier of a delegation token: {error}") from None
    kept = _kept(service.database.reader(), identifier)
    if kept is None:
        raise AuthenticationError(f"token expired or does not exist: {_described(told)}")
    now = _milliseconds(service)
    if now > min(kept.renew_date, told.max_date):
        raise AuthenticationError(f"token has expired: {_described(told)}")
    return told.user, kept.password


# --- the store of tokens and keys, for other servers ------------------------------------------------------------


def _needed(text: str | None, what: str) -> str:
    if text is None:
        raise MetaException(f"the {what} is missing: the request has none")
    return text


@method
def add_token(ctx: Context, token_identifier: str | None, delegation_token: str | None) -> bool:
    """Whether it was new."""
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
        return None  # Any text may be kept as an identifier; nobody knows when such a token ends.


@method
def remove_token(ctx: Context, token_identifier: str | None) -> bool:
    """Whether it was there."""
    identifier = _needed(token_identifier, "token identifier")
    return ctx.database.run(lambda tx: tokens.delete(tx, identifier))


@method
def get_token(ctx: Context, token_identifier: str | None) -> str | None:
    found = tokens.find(ctx.reader(), _needed(token_identifier, "token identifier"))
    if found is None and ctx.rules.empties_missing_tokens:
        return ""  # Thrift has no null; Hive 2.3 sends no result at all.
    return found


@method
def get_all_token_identifiers(ctx: Context) -> tuple[str, ...]:
    return tuple(tokens.identifiers(ctx.reader()))


@method
def add_master_key(ctx: Context, key: str | None) -> int:
    """The number that the key got."""
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
    """Whether it was there."""
    return ctx.database.run(lambda tx: tokens.delete_key(tx, key_seq or 0))


@method
def get_master_keys(ctx: Context) -> tuple[str, ...]:
    return tuple(key for _, key in tokens.keys(ctx.reader()))
