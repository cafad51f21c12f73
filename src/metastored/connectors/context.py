"""What the server's settings say to every connector: where remotes may point, and how references become secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

from metastored.model.remotes.endpoints import Endpoint
from metastored.model.remotes.hosts import ALL_HOSTS, AllowedHosts
from metastored.store.security.remote_secrets import RemoteSecrets


@dataclass(frozen=True, slots=True)
class Context:
    """The settings `remotes_hosts`, `remotes_key_file` and `remotes_references` of one server."""

    hosts: AllowedHosts = ALL_HOSTS
    secrets: RemoteSecrets = field(default_factory=RemoteSecrets)

    def resolved(self, endpoint: Endpoint) -> Endpoint:
        """The endpoint with its secrets in place of references to them. Raises StoreError. May wait for a file."""
        return self.secrets.resolved(endpoint)
