"""A Glue catalog as a remote's definition describes it: endpoint, region, catalog, role and credentials."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from metastored.connectors.checked_http import checked_pools
from metastored.connectors.context import Context
from metastored.connectors.failures import CredentialsRefused, Unreachable
from metastored.connectors.glue.catalog import GlueSource
from metastored.connectors.on_demand import OnDemand
from metastored.errors import ConfigError, MissingExtra
from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.keys import GLUE_ENDPOINT, GLUE_REGION
from metastored.wire.message import Handler

CATALOG_ID: Final = "hive.metastore.glue.catalogid"
ROLE: Final = "aws.glue.role"
PROFILE: Final = "aws.glue.profile"
KEYS: Final = {
    "aws.access.key.id": "aws_access_key_id",
    "aws.secret.access.key": "aws_secret_access_key",
    "aws.session.token": "aws_session_token",
}
"""Our names of boto3's credentials."""
SESSION_NAME: Final = "metastored"
CONNECT_TIMEOUT: Final = 5.0


def glue_at(endpoint: Endpoint, context: Context) -> Handler:
    """Raises ConfigError or MissingExtra. Credentials that are not given are those of the server's environment."""
    try:
        import boto3  # noqa: F401
    except ImportError:
        raise MissingExtra("a remote in AWS Glue", "glue") from None
    given = [key for key in KEYS if endpoint.get(key)]
    if given and not {"aws.access.key.id", "aws.secret.access.key"} <= set(given):
        raise ConfigError("'aws.access.key.id' and 'aws.secret.access.key' are given together, or neither of them")
    if given and endpoint.get(PROFILE):
        raise ConfigError(f"'{PROFILE}' and '{given[0]}' are both given; only one of them can name the credentials")
    return OnDemand(partial(_source, endpoint, context))


def _source(endpoint: Endpoint, context: Context) -> GlueSource:
    from botocore.exceptions import BotoCoreError, ClientError

    resolved = context.resolved(endpoint)
    options: dict[str, Any] = {}
    if url := resolved.get(GLUE_ENDPOINT):
        options["endpoint_url"] = url
    if region := resolved.get(GLUE_REGION):
        options["region_name"] = region
    try:
        client = _client(resolved, context, options)
    except ClientError as error:
        reason = f"{error.response['Error'].get('Code')}: {error.response['Error'].get('Message')}"
        raise CredentialsRefused(f"the role {resolved.get(ROLE)} cannot be assumed: {reason}") from None
    except BotoCoreError as error:
        raise Unreachable(f"Glue at {url or region or 'its default region'}: {error}") from None
    return GlueSource(options, resolved.get(CATALOG_ID) or None, client)


def _client(endpoint: Endpoint, context: Context, options: Mapping[str, Any]) -> Any:
    import boto3
    from botocore.config import Config

    limit = endpoint.timeout
    config = Config(
        connect_timeout=min(CONNECT_TIMEOUT, limit), read_timeout=limit, retries={"max_attempts": 2, "mode": "standard"}
    )
    keys = {name: endpoint.get(key) for key, name in KEYS.items() if endpoint.get(key)}
    session = boto3.Session(
        profile_name=endpoint.get(PROFILE) or None, region_name=endpoint.get(GLUE_REGION) or None, **keys
    )
    if role := endpoint.get(ROLE):
        session = _as_role(session, role, context, config)
    return _checked(session.client("glue", config=config, **options), context)


def _as_role(session: Any, role: str, context: Context, config: Any) -> Any:
    """A session whose credentials are those of the role, renewed before they expire."""
    import boto3
    from botocore.credentials import RefreshableCredentials
    from botocore.session import get_session

    sts = _checked(session.client("sts", config=config), context)

    def renew() -> dict[str, str]:
        credentials = sts.assume_role(RoleArn=role, RoleSessionName=SESSION_NAME)["Credentials"]
        return {
            "access_key": credentials["AccessKeyId"],
            "secret_key": credentials["SecretAccessKey"],
            "token": credentials["SessionToken"],
            "expiry_time": credentials["Expiration"].isoformat(),
        }

    inner = get_session()
    # boto3 has no other way to give a session credentials that renew themselves.
    inner._credentials = RefreshableCredentials.create_from_metadata(renew(), renew, "sts-assume-role")
    return boto3.Session(botocore_session=inner, region_name=session.region_name)


def _checked(client: Any, context: Context) -> Any:
    """A client of boto3 that connects only to allowed hosts."""
    manager = client._endpoint.http_session._manager
    manager.pool_classes_by_scheme = checked_pools(manager.pool_classes_by_scheme, context.hosts)
    return client
