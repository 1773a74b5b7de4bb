"""Raw messages hold every position of the events, and every fault that the table lists."""

import numpy as np
import pytest

from foresail.pipeline.simulator.maritime.scenario import make_maritime
from foresail.pipeline.simulator.raw import BAD_MMSI, SENTINELS, raw_rows
from foresail.pipeline.simulator.settings import SimulationSettings


@pytest.fixture(scope="module")
def scenario():
    return make_maritime(SimulationSettings(tracks=3, days=3, seed=5, raw=True))


def frames(scenario, number):
    return raw_rows(scenario, number), scenario.rows(number).to_pandas()


def test_every_event_is_among_the_messages(scenario) -> None:
    raw, events = frames(scenario, 0)
    messages = raw.batch.to_pandas()
    instants = ["time", "lon", "lat"]
    kept = messages.drop_duplicates(instants).merge(events[instants], on=instants)
    assert len(kept) == len(events)


def test_unknown_values_are_sent_as_sentinels(scenario) -> None:
    raw, events = frames(scenario, 1)
    messages = raw.batch.to_pandas()
    for column, sentinel in SENTINELS.items():
        assert messages[column].notna().all()
        if events[column].isna().any():
            assert (messages[column] == sentinel).sum() >= events[column].isna().sum()


def test_the_listed_faults_are_there(scenario) -> None:
    raw, events = frames(scenario, 2)
    messages = raw.batch.to_pandas()
    listed = {fault.fault: fault.rows for fault in raw.faults}
    assert {fault.table for fault in raw.faults} == {"raw"}
    assert len(messages) - len(events) == sum(rows for name, rows in listed.items() if name != "out_of_order")
    assert (messages["lat"] == 91).sum() == listed.get("position_unknown", 0)
    assert (messages["mmsi"] == BAD_MMSI).sum() == listed["bad_identity"]
    assert 0.005 < listed["duplicate"] / len(events) < 0.028
    late = (np.diff(messages["time"].astype("int64")) < 0).sum()
    assert late > 0
    assert 0.02 < listed["out_of_order"] / len(messages) < 0.12
    assert messages["offset"].is_monotonic_increasing
