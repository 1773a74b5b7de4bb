"""The API holds what its OpenAPI description promises, whatever is asked of it."""

import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from foresail.pipeline.console.serving import Server

EXAMPLES = 10
"""Of each operation."""
CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance]


def test_no_request_makes_it_fail_or_answer_what_it_does_not_promise(served: Server) -> None:
    headers = logged_in(served)
    schema = schemathesis.openapi.from_url(f"http://127.0.0.1:{served.port}/api/openapi.json", headers=headers)
    seen = set()
    for result in schema.exclude(path=["/api/stream", "/api/logout"]).get_all_operations():
        operation = result.ok()
        seen.add(operation.label)

        @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def answers(case: schemathesis.Case) -> None:
            case.call_and_validate(headers=headers, checks=CHECKS)

        answers()
    assert len(seen) > 20
    assert served.console.reader.feed.state == "reading"


def logged_in(served: Server) -> dict[str, str]:
    """The headers of a browser that has used the token."""
    session = served.console.access.by_token(str(served.console.access.token))
    assert session is not None
    return {"cookie": f"foresail_session={served.console.access.cookie(session)}", "x-csrf-token": session.csrf}
