"""The snippets of the page "How do I …"."""

import pathlib

import duckdb

import bulkcat

PAGE = pathlib.Path(__file__).parents[3] / "cmd" / "bulkcat" / "HOWTO.md"


def snippet(topic, language):
    section = PAGE.read_text("utf-8").split(f"\n## {topic}: ")[1].split("\n## ")[0]
    return section.split(f"```{language}\n")[1].split("```")[0]


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
