"""Events of --lineage against the types that OpenLineage publishes for Python."""

from __future__ import annotations

import importlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from openlineage.client import event_v2 as types

import bulkcat
from bulkcat import _binary

# The modules of the facets, by the last part of their schema.
MODULES = {
    "ErrorMessageRunFacet": "error_message_run",
    "ProcessingEngineRunFacet": "processing_engine_run",
    "ParentRunFacet": "parent_run",
    "JobTypeJobFacet": "job_type_job",
    "SchemaDatasetFacet": "schema_dataset",
    "DataQualityMetricsDatasetFacet": "data_quality_metrics_dataset",
    "InputStatisticsInputDatasetFacet": "input_statistics_input_dataset",
    "OutputStatisticsOutputDatasetFacet": "output_statistics_output_dataset",
}


def facet(name: str, members: dict[str, Any]) -> Any:
    """Makes a facet; unknown members and missing ones raise TypeError."""
    members = dict(members)
    assert members.pop("_producer").startswith("https://")
    schema = members.pop("_schemaURL")
    kind = schema.rpartition("/")[2]
    if name == "bulkcat":
        return None
    made = getattr(importlib.import_module("openlineage.client.generated." + MODULES[kind]), kind)(**members)
    assert schema == made._get_schema()
    return made


def facets(of: dict[str, Any], member: str = "facets") -> dict[str, Any]:
    made = {name: facet(name, members) for name, members in of.get(member, {}).items()}
    return {name: f for name, f in made.items() if f is not None}


def check(event: dict[str, Any]) -> Any:
    run, job = event["run"], event["job"]
    made = types.RunEvent(
        eventTime=event["eventTime"],
        eventType=types.RunState(event["eventType"]),
        run=types.Run(runId=run["runId"], facets=facets(run)),
        job=types.Job(namespace=job["namespace"], name=job["name"], facets=facets(job)),
        inputs=[
            types.InputDataset(d["namespace"], d["name"], facets=facets(d), inputFacets=facets(d, "inputFacets")) for d in event["inputs"]
        ],
        outputs=[
            types.OutputDataset(d["namespace"], d["name"], facets=facets(d), outputFacets=facets(d, "outputFacets"))
            for d in event["outputs"]
        ],
        producer=event["producer"],
    )
    assert event["schemaURL"] == made.schemaURL
    assert set(event) == {"eventTime", "eventType", "run", "job", "inputs", "outputs", "producer", "schemaURL"}
    return made


@pytest.mark.parametrize("shape", ["long", "top", "nested"])
def test_events_are_valid(tmp_path: Path, shape: str) -> None:
    (tmp_path / "titles.csv").write_text("title\nCast iron skillet\n,\n")
    events = tmp_path / "events.jsonl"
    done = subprocess.run(
        [_binary.find(), "product", "titles.csv", "-o", "out.parquet", "--shape", shape, "--lineage", str(events)],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OPENLINEAGE_PARENT_ID": "a/b/01941f29-7c00-7087-8940-40e512c257bd"},
        check=False,
    )
    assert done.returncode in (0, 3)
    made = [check(json.loads(line)) for line in events.read_text().splitlines()]
    assert [e.eventType.value for e in made] == ["START", "COMPLETE"]
    assert made[0].run.runId == made[1].run.runId


def test_lineage_of_a_call(tmp_path: Path) -> None:
    (tmp_path / "titles.csv").write_text("title\nCast iron skillet\nsteel drill\nhammer\n")
    options = {"output": tmp_path / "out.csv", "lineage": tmp_path / "events.jsonl"}
    with pytest.raises(bulkcat.Stopped):
        bulkcat.products(tmp_path / "titles.csv", max_requests=1, **options)
    bulkcat.products(tmp_path / "titles.csv", **options)
    made = [check(json.loads(line)) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [e.eventType.value for e in made] == ["START", "ABORT", "START", "COMPLETE"]
    assert len({e.run.runId for e in made}) == 1
    assert [(d.namespace, d.name) for d in made[3].outputs] == [("file", str(tmp_path / "out.csv"))]
