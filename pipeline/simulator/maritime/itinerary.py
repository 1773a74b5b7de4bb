"""The story of one vessel: its meeting, its tasks, then the voyages of its trade, until the simulation ends."""

from dataclasses import dataclass

from foresail.pipeline.simulator.maritime.chapters import Chapter, Crew, moored_mark, outing, port_stay, voyage
from foresail.pipeline.simulator.maritime.meetings import meet
from foresail.pipeline.simulator.maritime.plan import Task, VesselPlan
from foresail.pipeline.simulator.maritime.sailing import MOORED, Motion, Place, joined, stay
from foresail.pipeline.simulator.maritime.sea import Sea
from foresail.pipeline.simulator.maritime.tasks import perform
from foresail.pipeline.simulator.maritime.vessels import KINDS
from foresail.pipeline.simulator.scenario import generator
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import Mark

EARLIEST_S = -20 * 3600.0
ANCHOR_BEFORE_CALL = 0.3
TRAWL = Task("trawling", "trawl", "fishing")
ANCHOR = Task("anchored", "anchor", "tanker")


@dataclass(frozen=True, slots=True)
class Story:
    """How a vessel moves, what that means to show, and when it is silent on purpose."""

    motion: Motion
    marks: list[Mark]
    silences: list[tuple[float, float]]


def tell(sea: Sea, plan: VesselPlan, settings: SimulationSettings) -> Story:
    """The whole story; it depends on the seed and the vessel's number alone."""
    random = generator(settings.seed, "vessel", plan.number)
    slowest, fastest = KINDS[plan.vessel_type].cruise_kn
    cruise_kn = slowest + (fastest - slowest) * random.random() ** 1.4  # fast vessels are the rarer ones
    crew = Crew(random, sea, plan, float(cruise_kn), settings.step_s)
    chapters = _chapters(crew, settings)
    return Story(
        joined([leg for chapter in chapters for leg in chapter.legs]),
        [mark for chapter in chapters for mark in chapter.marks],
        [silence for chapter in chapters for silence in chapter.silences],
    )


def _chapters(crew: Crew, settings: SimulationSettings) -> list[Chapter]:
    busy = bool(crew.plan.tasks or crew.plan.meeting)
    first_s = -crew.random.uniform(0, 600) if busy else crew.random.uniform(EARLIEST_S, 0)
    chapters: list[Chapter] = []
    if crew.plan.meeting:
        chapters.append(meet(crew, settings.seed, first_s))
    elif busy:
        chapters.append(_short_stay(crew, first_s))
    else:
        home = crew.sea.ports[crew.plan.home]
        chapters.append(port_stay(crew, crew.plan.home, Place(first_s, home.lon, home.lat)))
    tasks = list(crew.plan.tasks)
    while chapters[-1].end_s < settings.duration_s:
        here = chapters[-1]
        chapter = perform(crew, tasks.pop(0), here.port, here.end_s) if tasks else None
        chapters.append(chapter or _trade(crew, here.port, here.end_s))
        chapters.append(port_stay(crew, chapters[-1].port, _last(chapters[-1])))
    return chapters


def _trade(crew: Crew, port: int, start_s: float) -> Chapter:
    """What a vessel of this kind does when it has no task."""
    match crew.plan.vessel_type:
        case "fishing":
            return perform(crew, TRAWL, port, start_s) or outing(crew, port, start_s)
        case "pleasure" | "sailing" | "tug" | "search_and_rescue":
            return outing(crew, port, start_s)
        case "tanker" if crew.random.random() < ANCHOR_BEFORE_CALL:
            return perform(crew, ANCHOR, port, start_s) or voyage(crew, port, start_s)
        case _:
            return voyage(crew, port, start_s)


def _short_stay(crew: Crew, first_s: float) -> Chapter:
    home = crew.sea.ports[crew.plan.home]
    leg = stay(Place(first_s, home.lon, home.lat), crew.random.uniform(1200, 3600), MOORED)
    return Chapter([leg], crew.plan.home, [moored_mark(crew, leg)])


def _last(chapter: Chapter) -> Place:
    return chapter.legs[-1].end
