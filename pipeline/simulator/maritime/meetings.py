"""Two vessels that meet at a fixed place and time: each works out its own part, from random numbers both share."""

import numpy as np

from foresail.pipeline.simulator.geometry import KNOT_MS, Floats, along_m, moved
from foresail.pipeline.simulator.maritime.chapters import Chapter, Crew, moored_mark, passage
from foresail.pipeline.simulator.maritime.plan import Meeting
from foresail.pipeline.simulator.maritime.sailing import MOORED, Leg, Place, part, sail, stay
from foresail.pipeline.simulator.maritime.tasks import wander
from foresail.pipeline.simulator.scenario import generator
from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS, Mark

HOUR_S = 3600.0
CROSSING_M = 8_000.0
CROSSING_KN = 11.0

TOGETHER = {
    "rendezvous": (0.6, 0.9, 120.0, "side by side, hardly moving, for over half an hour"),
    "distant_rendezvous": (0.6, 0.9, 900.0, "both hardly moving, but 900 m apart, beyond 500"),
    "encounter": (2.4, 3.2, 200.0, "200 m apart at under 1 kn for over 2 hours"),
    "short_encounter": (1.2, 1.6, 200.0, "200 m apart at under 1 kn, but for less than 2 hours"),
    "tow": (1.0, 2.0, 90.0, "a tug and its tow, 90 m apart at about 5 kn"),
    "convoy": (1.0, 2.0, 250.0, "two vessels close together at about 5 kn, neither a tug"),
}
"""Hours at least and at most, metres apart, and the words for the truth table."""


def meet(crew: Crew, seed: int, first_s: float) -> Chapter:
    """The vessel's part of its meeting: from its port to the place, together, and home again."""
    meeting = crew.plan.meeting
    assert meeting is not None, "only a vessel with a meeting can meet"
    if meeting.task.behaviour in ("crossing", "wide_crossing"):
        return _crossing(crew, meeting, first_s)
    return _together(crew, meeting, seed, first_s)


def _together(crew: Crew, meeting: Meeting, seed: int, first_s: float) -> Chapter:
    least_h, most_h, apart_m, detail = TOGETHER[meeting.task.behaviour]
    shared = generator(seed, "meeting", meeting.number)
    seconds = shared.uniform(least_h, most_h) * HOUR_S
    bearing = shared.uniform(0, 2 * np.pi)
    side = 0.5 if _is_first(crew, meeting) else -0.5
    shift = side * apart_m * np.sin(bearing), side * apart_m * np.cos(bearing)
    path = _shared_path(shared, crew, meeting, seconds)
    lon, lat = moved(path.lon, path.lat, *shift)
    own = Leg(path.time_s, lon, lat, path.status)
    before, after = _to_and_from(crew, meeting, own, first_s)
    other = meeting.second if _is_first(crew, meeting) else meeting.first
    kind = INJECTED if meeting.task.injected else NEAR_MISS
    mark = Mark(meeting.task.pattern, meeting.time_s, meeting.time_s + seconds, kind, detail, other=other)
    return Chapter([*before, own, *after], crew.plan.home, [mark, *_berth_marks(crew, before)])


def _shared_path(shared: np.random.Generator, crew: Crew, meeting: Meeting, seconds: float) -> Leg:
    """Where the middle between both vessels goes; both compute the same."""
    here = Place(meeting.time_s, meeting.spot.lon, meeting.spot.lat)
    if meeting.task.behaviour not in ("tow", "convoy"):
        return wander(shared, here, seconds, 0.1, 0.3)
    line = _line(crew, meeting)
    end_m = min(meeting.spot.along_m + 5 * KNOT_MS * seconds, float(along_m(line[:, 0], line[:, 1])[-1]) - 2_000)
    return sail(shared, meeting.time_s, part(line, meeting.spot.along_m, end_m), 5.0, unsteady=0.04)


def _to_and_from(crew: Crew, meeting: Meeting, own: Leg, first_s: float) -> tuple[list[Leg], list[Leg]]:
    """The way from port to the first point of `own`, timed to arrive with it, and the way home from its last."""
    line = _line(crew, meeting)
    length = float(along_m(line[:, 0], line[:, 1])[-1])
    at = meeting.spot.along_m
    to_spot = part(line, 0, at) if _is_first(crew, meeting) else part(line, length, at)
    to_spot = np.concatenate([to_spot[:-1], [[own.start.lon, own.start.lat]]])
    home = np.concatenate([[[own.end.lon, own.end.lat]], to_spot[-6::-1]])
    out = _arriving(passage(crew, 0.0, to_spot, arriving=False), own.start.time_s)
    return [*_moored_before(out, first_s), out], [passage(crew, own.end.time_s, home, leaving=False)]


def _crossing(crew: Crew, meeting: Meeting, first_s: float) -> Chapter:
    """One vessel follows its route, the other crosses it at a right angle: at the same moment, or well apart."""
    line = _line(crew, meeting)
    length = float(along_m(line[:, 0], line[:, 1])[-1])
    injected = meeting.task.injected
    if _is_first(crew, meeting):
        to_spot = part(line, 0, meeting.spot.along_m)
        onward = part(line, meeting.spot.along_m, 0)[6:]
        beyond = _straight_on(to_spot, CROSSING_M)
        time_s = meeting.time_s
    else:
        abreast = _abreast(crew, meeting)
        to_spot = np.concatenate(
            [part(line, length, min(meeting.spot.along_m + 25_000, length - 100)), abreast[:1], abreast[1:2]]
        )
        onward = to_spot[::-1][2:]
        beyond = abreast[1:]
        time_s = meeting.time_s + (0 if injected else 900)
    out = _arriving(sail(crew.random, 0.0, to_spot, CROSSING_KN, from_port_m=1_000, unsteady=0.0), time_s)
    through = sail(crew.random, time_s, beyond, CROSSING_KN, unsteady=0.0)
    home = passage(
        crew, through.end.time_s, np.concatenate([[[through.end.lon, through.end.lat]], onward]), leaving=False
    )
    other = meeting.second if _is_first(crew, meeting) else meeting.first
    detail = "courses cross at a right angle at the same moment" if injected else "courses cross, but 15 minutes apart"
    window = meeting.time_s - 0.4 * HOUR_S, meeting.time_s + 0.3 * HOUR_S
    mark = Mark("collision_risk", *window, INJECTED if injected else NEAR_MISS, detail, other=other)
    berth = _moored_before(out, first_s)
    return Chapter([*berth, out, through, home], crew.plan.home, [mark, *_berth_marks(crew, berth)])


def _line(crew: Crew, meeting: Meeting) -> Floats:
    route = crew.sea.routes[meeting.spot.route]
    return np.stack([route.lon, route.lat], axis=1)


def _abreast(crew: Crew, meeting: Meeting) -> Floats:
    """Three points across the route at the meeting place: one side, the place, the other side."""
    route = crew.sea.routes[meeting.spot.route]
    left = route.left[int(np.searchsorted(route.along_m, meeting.spot.along_m))]
    metres = np.array([-CROSSING_M, 0.0, CROSSING_M])
    lon, lat = moved(meeting.spot.lon, meeting.spot.lat, metres * left[0], metres * left[1])
    return np.stack([lon, lat], axis=1)


def _straight_on(line: Floats, metres: float) -> Floats:
    """From the end of a line straight on."""
    step = line[-1] - line[-2]
    length = float(along_m(line[-2:, 0], line[-2:, 1])[-1])
    return np.stack([line[-1], line[-1] + step * metres / length])


def _arriving(leg: Leg, time_s: float) -> Leg:
    return leg.shifted(time_s - leg.end.time_s)


def _moored_before(out: Leg, first_s: float) -> list[Leg]:
    """The berth until departure, when that lies within the simulation."""
    wait_s = out.start.time_s - first_s
    if wait_s <= 1:
        return []
    return [stay(Place(first_s, out.start.lon, out.start.lat), wait_s, MOORED)]


def _berth_marks(crew: Crew, legs: list[Leg]) -> list[Mark]:
    return [moored_mark(crew, leg) for leg in legs if leg.status == MOORED]


def _is_first(crew: Crew, meeting: Meeting) -> bool:
    return crew.plan.number == meeting.first
