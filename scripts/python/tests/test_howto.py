"""The snippets of the page "How do I …"."""

import inspect
import pathlib

import duckdb
import pytest

import bulkcat

PAGE = pathlib.Path(__file__).parents[3] / "cmd" / "bulkcat" / "HOWTO.md"


def snippet(topic, language):
    section = PAGE.read_text("utf-8").split(f"\n## {topic}: ")[1].split("\n## ")[0]
    return section.split(f"```{language}\n")[1].split("```")[0]


@pytest.mark.parametrize("function", [bulkcat.products, bulkcat.websites, bulkcat.product, bulkcat.website])
def test_help_fits_two_screens(function):
    lines = inspect.getdoc(function).splitlines()
    assert len(lines) + len(["title", "", "signature"]) <= 2 * 24 and max(map(len, lines)) + 4 <= 80
    assert all(name in "\n".join(lines) for name in ("max_requests", "classification", "wait_for_quota", "notify_on"))
    assert "sheet" not in "\n".join(lines) and "part_rows" not in "\n".join(lines)


def test_python(capsys):
    names = {}
    exec(snippet("python", "python"), names)
    assert list(names["df"]["value"])[1] == "Furniture > Sofas"
    assert "velvet sofa" in capsys.readouterr().out


def test_sql(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pathlib.Path("titles.csv").write_text("title\nvelvet sofa\nleather sofa\nsteel drill\n")
    bulkcat.products("titles.csv", output="catalog.parquet")
    rows = duckdb.sql(snippet("sql", "sql")).fetchall()
    assert [row[:2] for row in rows] == [("Furniture", 2), ("Hardware", 1)]
