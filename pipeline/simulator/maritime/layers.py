"""The layers of a simulated sea: real ports; shores, anchorages, fishing and protected areas that are simulated."""

from pathlib import Path

from foresail.pipeline.simulator.layers import line, point, polygon, write_index, write_layer
from foresail.pipeline.simulator.maritime.definitions import NEAR_PORT_M
from foresail.pipeline.simulator.maritime.sea import Sea

INDEX = (
    {"name": "ports", "kind": "port", "file": "ports.geojson", "name_column": "name", "radius_m": NEAR_PORT_M},
    {"name": "coast", "kind": "coast", "file": "coast.geojson", "name_column": "name"},
    {"name": "anchorages", "kind": "anchorage", "file": "anchorages.geojson", "name_column": "name"},
    {"name": "fishing_areas", "kind": "fishing", "file": "fishing_areas.geojson", "name_column": "name"},
    {"name": "protected_areas", "kind": "protected", "file": "protected_areas.geojson", "name_column": "name"},
)


def write_sea(sea: Sea, folder: Path) -> None:
    """Write every layer of the sea and their index."""
    write_layer(folder / "ports.geojson", (point(p.lon, p.lat, name=p.name, code=p.code) for p in sea.ports))
    shores = zip(sea.ports, sea.shores, strict=True)
    write_layer(
        folder / "coast.geojson",
        (line(shore, name=f"simulated shore at {port.name}") for port, shore in shores if len(shore) > 1),
    )
    for name, zones in (
        ("anchorages", sea.anchorages),
        ("fishing_areas", sea.fishing_areas),
        ("protected_areas", sea.protected_areas),
    ):
        write_layer(folder / f"{name}.geojson", (polygon(zone.ring, name=zone.name) for zone in zones))
    write_index(folder, INDEX)
