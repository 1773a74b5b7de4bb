"""Draws docs/images/simulated_day.png: one simulated day at sea, its zones, and where the planned events happen."""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from foresail.pipeline.simulator.maritime.scenario import MaritimeScenario, make_maritime
from foresail.pipeline.simulator.maritime.sensors import VesselRows, receive
from foresail.pipeline.simulator.settings import SimulationSettings
from foresail.pipeline.simulator.truth import INJECTED, NEAR_MISS

IMAGE = Path(__file__).parent / "images" / "simulated_day.png"
KINDS = {
    "cargo": ("#2f6fb3", "cargo"),
    "tanker": ("#c8553d", "tanker"),
    "passenger": ("#7b4fa3", "passenger"),
    "fishing": ("#2a8c6a", "fishing"),
    "tug": ("#8a6d3b", "tug"),
    "pleasure": ("#d98cb3", "pleasure"),
    "sailing": ("#e0a63a", "sailing"),
    "search_and_rescue": ("#0fa3b1", "search and rescue"),
}
EVENTS = {
    "trawling": ("v", "trawling"),
    "drifting": ("D", "drifting"),
    "loitering": ("o", "loitering"),
    "loitering_far_offshore": ("h", "loitering far offshore"),
    "search_and_rescue": ("P", "search and rescue"),
    "high_speed_near_coast": (">", "high speed near coast"),
    "gap": ("X", "gap of 12 h"),
    "rendezvous": ("*", "rendezvous"),
    "encounter": ("p", "encounter"),
    "tugging": ("s", "tugging"),
    "collision_risk": ("^", "collision risk"),
}
INK, SEA, PAPER = "#22313f", "#eef4f8", "#ffffff"


def draw() -> None:
    settings = SimulationSettings(tracks=180, days=1, seed=7)
    scenario = make_maritime(settings)
    tracks = [receive(scenario.sea, plan, settings) for plan in scenario.plans]
    figure, axes = plt.subplots(figsize=(12.5, 8.4), dpi=150, facecolor=PAPER)
    draw_lanes(axes, scenario)
    draw_zones(axes, scenario)
    for track in tracks:
        draw_track(axes, track)
    draw_ports(axes, scenario)
    shown = draw_events(axes, scenario, tracks)
    dress(axes, settings, tracks)
    beside = legends(axes, shown)
    figure.savefig(IMAGE, bbox_inches="tight", pad_inches=0.25, bbox_extra_artists=beside)
    print(f"wrote {IMAGE}")


def draw_lanes(axes: Axes, scenario: MaritimeScenario) -> None:
    for route in scenario.sea.routes[::2]:
        axes.plot(route.lon, route.lat, color="#d3dde6", linewidth=0.7, zorder=0.5)


def draw_zones(axes: Axes, scenario: MaritimeScenario) -> None:
    sea = scenario.sea
    for zones, face, edge in (
        (sea.fishing_areas, "#bfe3d0", "#5aa583"),
        (sea.protected_areas, "#f3e3b5", "#c9a94a"),
        (sea.anchorages, "#c9d6ee", "#6c86b8"),
    ):
        for zone in zones:
            axes.add_patch(Polygon(zone.ring, facecolor=face, edgecolor=edge, linewidth=0.8, alpha=0.75, zorder=1))
    for shore in sea.shores:
        axes.plot(shore[:, 0], shore[:, 1], color="#6b5b4b", linewidth=1.6, zorder=2, solid_capstyle="round")


def draw_track(axes: Axes, track: VesselRows) -> None:
    broken = np.flatnonzero(np.diff(track.time_s) > 3_600) + 1  # a line across a silence would be invented
    lon, lat = np.insert(track.lon, broken, np.nan), np.insert(track.lat, broken, np.nan)
    axes.plot(lon, lat, color=KINDS[track.plan.vessel_type][0], linewidth=0.75, alpha=0.75, zorder=3)


def draw_ports(axes: Axes, scenario: MaritimeScenario) -> None:
    ports = scenario.sea.ports
    lon, lat = [port.lon for port in ports], [port.lat for port in ports]
    axes.scatter(lon, lat, s=13, color=PAPER, edgecolor=INK, linewidth=0.8, zorder=5)
    named = {
        "Brest", "Roscoff-Bloscon", "Le Havre", "Plymouth", "Falmouth", "Dunkerque", "Poole", "Donges", "Cardiff",
        "Boulogne Sur Mer", "Concarneau", "Granville", "Southampton", "Caen", "Folkestone",
    }  # fmt: skip
    for port in ports:
        if port.name in named:
            axes.annotate(
                port.name, (port.lon, port.lat), (4, 5), textcoords="offset points", fontsize=7.5, color=INK, zorder=7,
                bbox={"boxstyle": "round,pad=0.12", "facecolor": PAPER, "edgecolor": "none", "alpha": 0.7},
            )  # fmt: skip


def draw_events(axes: Axes, scenario: MaritimeScenario, tracks: list[VesselRows]) -> list[str]:
    """Mark the middle of every planned event and near-miss; which patterns were drawn comes back."""
    shown: set[str] = set()
    for number, track in enumerate(tracks):
        for finding in scenario.facts(number).findings:
            if finding.kind not in (INJECTED, NEAR_MISS) or finding.pattern not in EVENTS:
                continue
            middle = (finding.start_s + finding.end_s) / 2
            lon, lat = np.interp(middle, track.time_s, track.lon), np.interp(middle, track.time_s, track.lat)
            face = "#f6c445" if finding.kind == INJECTED else PAPER
            axes.scatter(
                lon,
                lat,
                marker=EVENTS[finding.pattern][0],
                s=58,
                facecolor=face,
                edgecolor=INK,
                linewidth=0.9,
                zorder=6,
            )
            shown.add(finding.pattern)
    return [pattern for pattern in EVENTS if pattern in shown]


def dress(axes: Axes, settings: SimulationSettings, tracks: list[VesselRows]) -> None:
    region = settings.place
    axes.set_facecolor(SEA)
    axes.set_xlim(region.west, region.east)
    axes.set_ylim(region.south + 0.2, region.north + 0.15)
    axes.set_aspect(1 / np.cos(np.radians((region.south + region.north) / 2)))
    axes.grid(color=PAPER, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8, length=0)
    axes.xaxis.set_major_formatter(lambda value, _: f"{abs(value):.0f}°{'W' if value < 0 else 'E'}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f}°N")
    for side in axes.spines.values():
        side.set_color("#b8c4cf")
    positions = sum(len(track.time_s) for track in tracks)
    axes.set_title(
        f"A simulated day: {len(tracks)} vessels, {positions:,} positions",
        loc="left", fontsize=15, color=INK, pad=26, fontweight="bold",
    )  # fmt: skip
    axes.text(
        0, 1.015, "Ports and sea lanes are real (searoute); vessels, shores and areas are simulated.",
        transform=axes.transAxes, fontsize=9.5, color="#5b6b7a", va="bottom",
    )  # fmt: skip


def legends(axes: Axes, shown: list[str]) -> list[Legend]:
    """Three legends beside the map."""
    kinds = [Line2D([], [], color=color, linewidth=2.2, label=label) for color, label in KINDS.values()]
    areas = [
        Patch(facecolor="#bfe3d0", edgecolor="#5aa583", label="fishing area"),
        Patch(facecolor="#f3e3b5", edgecolor="#c9a94a", label="protected area"),
        Patch(facecolor="#c9d6ee", edgecolor="#6c86b8", label="anchorage"),
        Line2D([], [], color="#6b5b4b", linewidth=1.8, label="simulated shore"),
        Line2D([], [], color="#c3d0db", linewidth=1.5, label="sea lane"),
        Line2D(
            [], [], marker="o", color="none", markerfacecolor=PAPER, markeredgecolor=INK, markersize=4.5, label="port"
        ),
    ]
    marks = [_mark(EVENTS[pattern][0], EVENTS[pattern][1], "#f6c445") for pattern in shown]
    marks.append(_mark("o", "near-miss (white)", PAPER))
    style = {"fontsize": 8.5, "frameon": False, "labelcolor": INK, "alignment": "left", "title_fontsize": 9.5}
    beside = []
    for handles, title, top in ((kinds, "Vessels", 1.0), (areas, "Places", 0.725), (marks, "Planned events", 0.5)):
        legend = axes.legend(
            handles=handles, title=title, loc="upper left", bbox_to_anchor=(1.01, top), borderaxespad=0, **style
        )
        axes.add_artist(legend)
        beside.append(legend)
    return beside


def _mark(marker: str, label: str, face: str) -> Line2D:
    return Line2D(
        [], [], marker=marker, color="none", markerfacecolor=face, markeredgecolor=INK, markersize=8, label=label
    )


if __name__ == "__main__":
    draw()
