"""The operations on tags: names of versions, stored beside the dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lance_namespace import (
    CreateTableTagRequest,
    CreateTableTagResponse,
    DeleteTableTagRequest,
    DeleteTableTagResponse,
    GetTableTagVersionRequest,
    GetTableTagVersionResponse,
    ListTableTagsRequest,
    ListTableTagsResponse,
    TableTagAlreadyExistsError,
    TableTagNotFoundError,
    TableVersionNotFoundError,
    UpdateTableTagRequest,
    UpdateTableTagResponse,
)
from lance_namespace_urllib3_client.models.tag_contents import TagContents

from metastored.lance.datasets import Datasets
from metastored.lance.requests import operation, page_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import lance


class TagOperations(Datasets):
    """list, get, create, update, delete."""

    @operation(ListTableTagsRequest)
    def list_table_tags(self, request: ListTableTagsRequest) -> ListTableTagsResponse:
        """The tags of a table with their versions."""
        tags = self._tagged(request.id).tags.list()
        page, token = page_of(sorted(tags), request.page_token, request.limit)
        contents = {
            name: TagContents(version=tags[name]["version"], manifestSize=tags[name]["manifest_size"]) for name in page
        }
        return ListTableTagsResponse(tags=contents, page_token=token)

    @operation(GetTableTagVersionRequest)
    def get_table_tag_version(self, request: GetTableTagVersionRequest) -> GetTableTagVersionResponse:
        """The version of a tag. Raises TableTagNotFoundError."""
        tag = self._tagged(request.id, request.tag).tags.list()[request.tag]
        return GetTableTagVersionResponse(version=tag["version"])

    @operation(CreateTableTagRequest)
    def create_table_tag(self, request: CreateTableTagRequest) -> CreateTableTagResponse:
        """Names a version. Raises TableTagAlreadyExistsError, TableVersionNotFoundError."""
        self.no_branches(request)
        dataset = self._tagged(request.id)
        if request.tag in dataset.tags.list():
            raise TableTagAlreadyExistsError(f"there is a tag {request.tag} already")
        self._version_exists(request.id, request.version)
        dataset.tags.create(request.tag, request.version)
        return CreateTableTagResponse()

    @operation(UpdateTableTagRequest)
    def update_table_tag(self, request: UpdateTableTagRequest) -> UpdateTableTagResponse:
        """Lets a tag name another version. Raises TableTagNotFoundError, TableVersionNotFoundError."""
        self.no_branches(request)
        dataset = self._tagged(request.id, request.tag)
        self._version_exists(request.id, request.version)
        dataset.tags.update(request.tag, request.version)
        return UpdateTableTagResponse()

    @operation(DeleteTableTagRequest)
    def delete_table_tag(self, request: DeleteTableTagRequest) -> DeleteTableTagResponse:
        """Deletes a tag; its version stays. Raises TableTagNotFoundError."""
        self._tagged(request.id, request.tag).tags.delete(request.tag)
        return DeleteTableTagResponse()

    def _tagged(self, id: Sequence[str] | None, tag: str | None = None) -> lance.LanceDataset:
        """The dataset of a table. Raises TableTagNotFoundError if it does not have the tag."""
        name, table = self.table(id)
        dataset = self.dataset(self.levels.id_of(name), table)
        if tag is not None and tag not in dataset.tags.list():
            raise TableTagNotFoundError(f"table {name} has no tag {tag}")
        return dataset

    def _version_exists(self, id: Sequence[str] | None, version: int) -> None:
        name, table = self.table(id)
        if not self.has_version(name, table, version):
            raise TableVersionNotFoundError(f"table {name} has no version {version}")
