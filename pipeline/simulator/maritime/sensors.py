"""What the receiver gets of a vessel's motion: canonical columns, with unknown values as null (NaN)."""

from dataclasses import dataclass

import numpy as np

from foresail.pipeline.simulator.geometry import Bools, Floats, moved, wrapped_deg
from foresail.pipeline.simulator.maritime.itinerary import Story, tell
from foresail.pipeline.simulator.maritime.plan import VesselPlan
from foresail.pipeline.simulator.maritime.sailing import Sample, sampled
from foresail.pipeline.simulator.maritime.sea import Sea
from foresail.pipeline.simulator.maritime.vessels import KINDS
from foresail.pipeline.simulator.scenario import Fault, due_times, fault_of, generator, lost
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import Mark

NEEDS_HEADING = frozenset({"drifting", "search_and_rescue"})


@dataclass(frozen=True, slots=True)
class VesselRows:
    """The positions of one vessel as received, its constants, its marks and its faults."""

    plan: VesselPlan
    time_s: Floats
    step_index: Floats
    lon: Floats
    lat: Floats
    speed_kn: Floats
    course_deg: Floats
    heading_deg: Floats
    turn_rate: Floats
    nav_status: Floats
    length_m: float
    marks: list[Mark]
    faults: list[Fault]


def receive(sea: Sea, plan: VesselPlan, settings: SimulationSettings) -> VesselRows:
    """All positions of the vessel over the whole simulation."""
    random = generator(settings.seed, "sensors", plan.number)
    story = tell(sea, plan, settings)
    due = due_times(random, settings.steps, settings.step_s, settings.faults)
    heard, faults = _heard(random, story, due, settings)
    truth = sampled(story.motion, due)
    exact = _measure(random, truth, settings)
    (speed, course, heading, turn, status), unknown = _blur(random, exact, truth, plan=plan, faults=settings.faults)
    lon, lat = moved(truth.lon, truth.lat, *(random.uniform(-3, 3, (2, len(due)))))
    return VesselRows(
        plan,
        due[heard],
        np.flatnonzero(heard).astype(float),
        np.round(lon, 6)[heard],
        np.round(lat, 6)[heard],
        speed[heard],
        course[heard],
        heading[heard],
        turn[heard],
        status[heard],
        float(np.round(random.uniform(*KINDS[plan.vessel_type].length_m))),
        story.marks,
        faults + [fault for name, rows in unknown.items() for fault in fault_of(name, rows & heard, due)],
    )


def _heard(
    random: np.random.Generator, story: Story, due: Floats, settings: SimulationSettings
) -> tuple[Bools, list[Fault]]:
    """Which positions arrive: not those in a silence that the story tells, nor those that reception loses."""
    gone = lost(random, len(due))
    silent = np.zeros(len(due), dtype=bool)
    for start, end in story.silences:
        silent |= (due > start) & (due < end)
    if not settings.faults:
        return ~silent, []
    return ~(silent | gone), fault_of("position_lost", gone & ~silent, due, "bursts of 2 to 7 positions lost")


def _measure(random: np.random.Generator, truth: Sample, settings: SimulationSettings) -> tuple[Floats, ...]:
    """Speed, course, heading, rate of turn and status as the instruments give them."""
    count = len(truth.time_s)
    speed = np.maximum(truth.speed_kn + random.uniform(-0.08, 0.08, count), 0.0).round(1)
    wobble = np.where(truth.speed_kn < 0.3, 25.0, 1.5)
    course = np.round((truth.course_deg + random.uniform(-1, 1, count) * wobble) % 360, 1) % 360
    heading = np.round(truth.bow_deg + random.uniform(-1.2, 1.2, count)) % 360
    turn = wrapped_deg(np.diff(truth.bow_deg, prepend=truth.bow_deg[:1])) * 60 / settings.step_s
    rate = turn.clip(-126.0, 126.0).round()
    return speed, course, heading, rate, truth.status


def _blur(
    random: np.random.Generator, exact: tuple[Floats, ...], truth: Sample, *, plan: VesselPlan, faults: bool
) -> tuple[tuple[Floats, ...], dict[str, Bools]]:
    """The same columns with unknown values: whole vessels without a gyro or status, and single values."""
    kind = KINDS[plan.vessel_type]
    no_gyro = random.random() >= kind.gyro and not _needs_heading(plan)
    class_b = random.random() < kind.class_b
    draws = random.random((4, len(truth.time_s)))
    if not faults:
        return exact, {}
    unknown = {
        "speed_unknown": draws[2] < 0.001,
        "course_unknown": draws[1] < np.where(truth.speed_kn < 0.3, 0.15, 0.01),
        "heading_unknown": (draws[0] < 0.01) | no_gyro,
        "status_unknown": (draws[3] < 0.01) | class_b,
    }
    speed, course, heading, turn, status = exact
    pairs = ((speed, "speed"), (course, "course"), (heading, "heading"), (turn, "heading"), (status, "status"))
    return tuple(np.where(unknown[f"{name}_unknown"], np.nan, values) for values, name in pairs), unknown


def _needs_heading(plan: VesselPlan) -> bool:
    return any(task.pattern in NEEDS_HEADING for task in plan.tasks)
