"""Nothing that comes from data becomes HTML by itself."""

from hypothesis import given
from hypothesis import strategies as st

from foresail.pipeline.reports.markup import Column, Markup, joined, safe, table, tag


@given(st.text())
def test_plain_text_never_opens_an_element(text: str) -> None:
    for made in (safe(text), tag("p", text), tag("p", title=text), joined(["a", text]), Markup("<b></b>") + text):
        inner = made.removeprefix("<p").removesuffix("</p>").removeprefix("<b></b>")
        assert "<" not in inner.lstrip(">")


def test_markup_is_kept_as_it_is() -> None:
    assert tag("p", Markup("<b>x</b>"), "<") == "<p><b>x</b>&lt;</p>"


def test_attributes_are_escaped_and_named_as_html_names_them() -> None:
    assert tag("i", class_="a", data_from=1, title='"<') == '<i class="a" data-from="1" title="&quot;&lt;"></i>'
    assert tag("input", checked=True, disabled=False, name=None) == "<input checked>"


def test_a_cell_of_a_table_is_escaped() -> None:
    made = table([Column("a"), Column("b", numeric=True)], [("<x>", 1)])
    assert "&lt;x&gt;" in made
    assert '<td class="n">1</td>' in made
