"""The operations that search: vector and full-text search, filters, and the plans of a query, by pylance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lance_namespace import (
    AnalyzeTableQueryPlanRequest,
    ExplainTableQueryPlanRequest,
    InvalidInputError,
    QueryTableRequest,
    QueryTableResponse,
)

from metastored.lance.arrow import write_rows
from metastored.lance.datasets import Datasets
from metastored.lance.requests import operation, read_request

if TYPE_CHECKING:
    import lance


class QueryOperations(Datasets):
    """Queries, and how they are executed."""

    @operation(QueryTableRequest)
    def query_table(self, request: QueryTableRequest) -> QueryTableResponse:
        """The nearest rows to a vector, the best matches of a text, or just rows; as an Arrow IPC file."""
        return QueryTableResponse(data=write_rows(self._scanner(request.id, request).to_table()))

    @operation(ExplainTableQueryPlanRequest)
    def explain_table_query_plan(self, request: ExplainTableQueryPlanRequest) -> str:
        """The plan of a query."""
        self.no_branches(request)
        return str(self._scanner(request.id, request.query).explain_plan(bool(request.verbose)))

    @operation(AnalyzeTableQueryPlanRequest)
    def analyze_table_query_plan(self, request: AnalyzeTableQueryPlanRequest) -> str:
        """The plan of a query with what its parts took. The query is executed."""
        return str(self._scanner(request.id, read_request(QueryTableRequest, request)).analyze_plan())

    def _scanner(self, id: Sequence[str] | None, query: QueryTableRequest) -> lance.LanceScanner:
        self.no_branches(query)
        name, table = self.table(id)
        dataset = self.dataset(self.levels.id_of(name), table, query.version)
        options: dict[str, Any] = {
            "filter": query.filter,
            "offset": query.offset,
            "prefilter": bool(query.prefilter),
            "with_row_id": bool(query.with_row_id),
            "fast_search": bool(query.fast_search),
        }
        if query.columns is not None:
            options["columns"] = self._columns(dataset, query)
        vector = _vector(query)
        if query.full_text_query is not None:
            options["full_text_query"] = _text_query(query)
        if vector is not None:
            options["nearest"] = self._nearest(dataset, query, vector)
        else:
            options["limit"] = query.k
        return dataset.scanner(**options)

    def _columns(self, dataset: lance.LanceDataset, query: QueryTableRequest) -> Any:
        assert query.columns is not None
        if query.columns.column_aliases:
            return dict(query.columns.column_aliases)
        names = query.columns.column_names or []
        self.columns_exist(dataset, [name for name in names if not name.startswith("_")])
        return list(names)

    def _nearest(self, dataset: lance.LanceDataset, query: QueryTableRequest, vector: Any) -> dict[str, Any]:
        column = query.vector_column or _only_vector_column(dataset)
        self.columns_exist(dataset, [column])
        nearest = {
            "column": column,
            "q": vector,
            "k": query.k,
            "metric": query.distance_type,
            "nprobes": query.nprobes,
            "minimum_nprobes": query.minimum_nprobes,
            "maximum_nprobes": query.maximum_nprobes,
            "refine_factor": query.refine_factor,
            "use_index": not query.bypass_vector_index,
            "ef": query.ef,
        }
        if query.lower_bound is not None or query.upper_bound is not None:
            nearest["distance_range"] = (query.lower_bound, query.upper_bound)
        return {key: value for key, value in nearest.items() if value is not None}


def _vector(query: QueryTableRequest) -> Any:
    """One vector, or several; None for a query without one."""
    if query.vector.multi_vector:
        return [list(map(float, each)) for each in query.vector.multi_vector]
    return list(map(float, query.vector.single_vector)) if query.vector.single_vector else None


def _only_vector_column(dataset: lance.LanceDataset) -> str:
    """The column `vector`, or the only column of vectors. Raises InvalidInputError if it is not clear."""
    import pyarrow

    names = [field.name for field in dataset.schema if pyarrow.types.is_fixed_size_list(field.type)]
    if "vector" in names:
        return "vector"
    if len(names) != 1:
        columns = f"there are {', '.join(names)}" if names else "there is no column of vectors"
        raise InvalidInputError(f"vector_column is needed: {columns}")
    return str(names[0])


def _text_query(query: QueryTableRequest) -> Any:
    full_text = query.full_text_query
    assert full_text is not None
    if full_text.string_query is not None:
        columns = full_text.string_query.columns
        text = full_text.string_query.query
        return {"query": text, "columns": list(columns)} if columns else text
    if full_text.structured_query is not None:
        return structured_query(full_text.structured_query.query)
    raise InvalidInputError("full_text_query has neither string_query nor structured_query")


def structured_query(query: Any) -> Any:
    """A query of matches, phrases and their combinations, as pylance's."""
    from lance.query import BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, Occur, PhraseQuery

    if query.match is not None:
        each = query.match
        given = {
            "boost": each.boost,
            "fuzziness": each.fuzziness,
            "max_expansions": each.max_expansions,
            "operator": each.operator,
            "prefix_length": each.prefix_length,
        }
        return MatchQuery(each.terms, each.column, **{key: value for key, value in given.items() if value is not None})
    if query.phrase is not None:
        slop = {} if query.phrase.slop is None else {"slop": query.phrase.slop}
        return PhraseQuery(query.phrase.terms, query.phrase.column, **slop)
    if query.boost is not None:
        negative = query.boost.negative_boost
        more = {} if negative is None else {"negative_boost": negative}
        return BoostQuery(structured_query(query.boost.positive), structured_query(query.boost.negative), **more)
    if query.multi_match is not None:
        matches = query.multi_match.match_queries
        if len({each.terms for each in matches}) != 1:
            raise InvalidInputError("the matches of a multi_match have the same terms")
        return MultiMatchQuery(matches[0].terms, [each.column for each in matches])
    if query.boolean is not None:
        parts = (
            (Occur.MUST, query.boolean.must),
            (Occur.SHOULD, query.boolean.should),
            (Occur.MUST_NOT, query.boolean.must_not),
        )
        return BooleanQuery([(occur, structured_query(each)) for occur, queries in parts for each in queries or ()])
    raise InvalidInputError("the structured query is empty: it has match, phrase, boost, multi_match or boolean")
