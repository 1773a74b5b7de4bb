"""Who may do what: tokens, passwords, proxies, roles, rates, foreign pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from foresail.pipeline.console.access import Buckets, hashed, is_right
from foresail.pipeline.console.app import make_app
from foresail.pipeline.console.state import Console, open_console
from foresail.pipeline.errors import InputError
from tests.pipeline.console.conftest import console_settings


@contextmanager
def opened(output: Path, database: Path, **further: Any) -> Iterator[TestClient]:
    console = open_console(console_settings(output, database, **further), "127.0.0.1")
    with TestClient(make_app(console), base_url="http://127.0.0.1", client=("127.0.0.1", 5000)) as client:
        yield client


def test_the_printed_token_opens_one_browser_and_no_second(console: Console) -> None:
    with TestClient(make_app(console), base_url="http://127.0.0.1") as client:
        assert client.get("/api/tracks").status_code == 401
        token = console.access.token
        assert client.get("/", params={"token": "wrong"}, follow_redirects=False).headers["location"] == "/#used"
        answer = client.get("/", params={"token": token}, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert client.get("/api/tracks").status_code == 200
        client.cookies.clear()
        client.get("/", params={"token": token})
        assert client.get("/api/tracks").status_code == 401


def test_a_cookie_that_was_changed_or_has_run_out_is_none(console: Console) -> None:
    session = console.access.by_token(str(console.access.token))
    assert session is not None
    cookie = console.access.cookie(session)
    assert console.access.by_cookie(cookie) == session
    for wrong in (None, "", ".", cookie[:-1], "a" + cookie, cookie.replace(".", "A.")):
        assert console.access.by_cookie(wrong) is None
    old = console.access.cookie(type(session)(session.user, session.role, session.csrf, 1.0))
    assert console.access.by_cookie(old) is None


def test_passwords_are_kept_hashed() -> None:
    kept = hashed("sea monster")
    assert "sea" not in kept
    assert is_right("sea monster", kept)
    assert not is_right("sea monste", kept)
    assert not is_right("x", "scrypt$zz$zz")
    assert not is_right("x", "x")


def test_a_viewer_looks_an_operator_acts_an_admin_turns_knobs(output: Path, tmp_path: Path) -> None:
    kept = hashed("secret")
    users = {role: {"password": kept, "role": role} for role in ("viewer", "operator", "admin")}
    allowed = {}
    with opened(output, tmp_path / "c.db", **{"console.users": users}) as client:
        for role in users:
            told = client.post("/api/login", json={"user": role, "password": "secret"}).json()
            headers = {"x-csrf-token": told["csrf"]}
            acknowledge: dict[str, Any] = {"url": "/api/alerts/000/operations", "json": {"kind": "acknowledge"}}
            allowed[role] = [
                client.get("/api/tracks").status_code,
                client.post(**acknowledge, headers=headers).status_code,
                client.post("/api/patterns/none/knobs", json={"order": 1}, headers=headers).status_code,
                client.get("/api/audit").status_code,
            ]
        client.post("/api/logout", headers=headers)
        assert client.get("/api/tracks").status_code == 401
    assert allowed == {
        "viewer": [200, 403, 403, 403],
        "operator": [200, 404, 403, 403],
        "admin": [200, 404, 404, 200],
    }


def test_wrong_passwords_are_refused_counted_and_written_down(output: Path, tmp_path: Path) -> None:
    users = {"ana": {"password": hashed("secret"), "role": "admin"}}
    with opened(output, tmp_path / "c.db", **{"console.users": users, "console.logins_per_minute": 3}) as client:
        tries = [client.post("/api/login", json={"user": "ana", "password": "x"}).status_code for _ in range(4)]
        assert tries == [401, 401, 401, 429]
        console: Console = client.app.state.console  # type: ignore[attr-defined]
        assert [row["action"] for row in console.operations.audit(0, 10)] == ["login refused"] * 3


def test_a_proxy_names_the_user_only_from_where_it_stands(output: Path, tmp_path: Path) -> None:
    further = {"console.proxy_header": "X-Forwarded-User", "console.users": {"ana": {"role": "operator"}}}
    with opened(output, tmp_path / "c.db", **further) as client:
        told = client.get("/api/session", headers={"X-Forwarded-User": "ana"}).json()
        assert (told["user"], told["role"]) == ("ana", "operator")
        assert client.get("/api/session", headers={"X-Forwarded-User": "eve"}).json()["role"] == "viewer"
    with opened(output, tmp_path / "d.db", **further, **{"console.proxy_addresses": ["10.0.0.1"]}) as client:
        assert client.get("/api/tracks", headers={"X-Forwarded-User": "ana"}).status_code == 401


def test_without_users_nobody_else_is_let_in(output: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"console\.users"):
        open_console(console_settings(output, tmp_path / "c.db"), "0.0.0.0")
    with pytest.raises(InputError, match="has no password"):
        open_console(console_settings(output, tmp_path / "c.db", **{"console.users": {"ana": {}}}), "127.0.0.1")


def test_what_a_foreign_page_sends_is_refused(client: TestClient) -> None:
    alert = client.get("/api/alerts").json()["alerts"][0]["alert_id"]
    del client.headers["x-csrf-token"]
    answer = client.post(f"/api/alerts/{alert}/operations", json={"kind": "acknowledge"})
    assert answer.status_code == 403
    assert client.get("/api/alerts", headers={"host": "evil.example"}).status_code == 400
    login = {"user": "local", "password": "x"}
    assert client.post("/api/login", json=login, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post("/api/login", json=login, headers={"origin": "http://127.0.0.1"}).status_code == 401
    assert client.post("/api/login", content=b"x" * 200_000).status_code == 413


def test_every_answer_forbids_what_the_page_does_not_need(client: TestClient) -> None:
    for path in ("/", "/api/tracks", "/assets/console.css", "/nothing"):
        headers = client.get(path).headers
        policy = dict(part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["worker-src"] == "blob:"
        assert policy["frame-ancestors"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"


def test_requests_beyond_the_rate_are_refused_and_let_in_again() -> None:
    buckets = Buckets(60)
    assert sum(buckets.take("a", 0.0) for _ in range(100)) == 60
    assert buckets.take("b", 0.0)
    assert [buckets.take("a", 1.0), buckets.take("a", 1.0)] == [True, False]
