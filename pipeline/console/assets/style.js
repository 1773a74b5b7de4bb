// The look of the map: land, zones, tracks as arrows, tails, clusters. Signs are drawn here: no fonts are fetched.

import { colour } from "./dom.js";

export const STATES = ["normal", "forecast", "alert"];
const EMPTY = { type: "FeatureCollection", features: [] };
const points = (extra = {}) => ({ type: "geojson", data: EMPTY, ...extra });

export function styleOf(session) {
  const sources = {
    land: { type: "geojson", data: `${location.origin}/api/land`, tolerance: 0.5 },
    zones: points(), tails: points({ tolerance: 0.2 }), path: points(), measure: points(), chosen: points(),
    tracks: points({ cluster: true, clusterRadius: 44, clusterMaxZoom: 8, maxzoom: 12, tolerance: 0 }),
    hot: points({ maxzoom: 12, tolerance: 0 }),
  };
  const layers = [{ id: "sea", type: "background", paint: { "background-color": colour("sea") } }];
  if (session.tiles) {
    sources.tiles = { type: "raster", tiles: [session.tiles], tileSize: 256, attribution: String(session.tiles_said).replaceAll("<", "‹") };
    layers.push({ id: "tiles", type: "raster", source: "tiles" });
  } else {
    layers.push({ id: "land", type: "fill", source: "land", paint: { "fill-color": colour("land") } });
    layers.push({ id: "coast", type: "line", source: "land", paint: { "line-color": colour("coast"), "line-width": 0.8 } });
  }
  const sign = (state) => ["concat", ["case", ["has", "r"], "arrow-", "dot-"], state];
  const signs = (id, source, filter) => ({
    id, type: "symbol", source, ...(filter ? { filter } : {}),
    layout: {
      "icon-image": sign(["to-string", ["get", "s"]]), "icon-rotate": ["coalesce", ["get", "r"], 0], "icon-rotation-alignment": "map",
      "icon-allow-overlap": true, "icon-ignore-placement": true, "icon-size": ["interpolate", ["linear"], ["zoom"], 3, 0.55, 8, 0.8, 12, 1],
    },
    paint: { "icon-opacity": ["case", ["==", ["get", "f"], 1], 0.35, 1] },
  });
  layers.push(
    { id: "zones-fill", type: "fill", source: "zones", filter: ["==", ["geometry-type"], "Polygon"], paint: { "fill-color": colour("zone"), "fill-opacity": 0.1 } },
    { id: "zones-line", type: "line", source: "zones", filter: ["!=", ["geometry-type"], "Point"], paint: { "line-color": colour("zone"), "line-width": 1, "line-opacity": 0.7 } },
    { id: "zones-point", type: "circle", source: "zones", filter: ["==", ["geometry-type"], "Point"], paint: { "circle-radius": 3, "circle-color": colour("zone"), "circle-opacity": 0.7 } },
    { id: "tails", type: "line", source: "tails", layout: { "line-cap": "round", "line-join": "round" },
      paint: { "line-width": ["case", ["==", ["get", "s"], 0], 1.2, 2], "line-opacity": ["case", ["==", ["get", "s"], 0], 0.4, 0.75],
        "line-color": ["match", ["get", "s"], 2, colour("alert"), 1, colour("forecast"), colour("normal")] } },
    { id: "path", type: "line", source: "path", filter: ["==", ["geometry-type"], "LineString"], layout: { "line-cap": "round", "line-join": "round" }, paint: { "line-color": colour("alert"), "line-width": 3, "line-opacity": 0.85 } },
    { id: "path-events", type: "circle", source: "path", filter: ["==", ["geometry-type"], "Point"], paint: { "circle-radius": 3.5, "circle-color": colour("raised"), "circle-stroke-color": colour("alert"), "circle-stroke-width": 1.6 } },
    { id: "clusters", type: "symbol", source: "tracks", filter: ["has", "point_count"],
      layout: { "icon-image": ["concat", "cluster-", ["get", "point_count_abbreviated"]], "icon-allow-overlap": true, "icon-ignore-placement": true } },
    signs("tracks", "tracks", ["!", ["has", "point_count"]]),
    signs("hot", "hot"),
    { id: "chosen", type: "circle", source: "chosen", paint: { "circle-radius": 15, "circle-color": "rgba(0,0,0,0)", "circle-stroke-color": colour("accent"), "circle-stroke-width": 2.4 } },
    { id: "measure-line", type: "line", source: "measure", paint: { "line-color": colour("accent"), "line-width": 2, "line-dasharray": [2, 1.5] } },
    { id: "measure-point", type: "circle", source: "measure", filter: ["==", ["geometry-type"], "Point"], paint: { "circle-radius": 4, "circle-color": colour("accent") } },
  );
  return { version: 8, sources, layers };
}

const SCALE = 2;

function drawn(size, draw) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size * SCALE;
  const pen = canvas.getContext("2d");
  pen.scale(SCALE, SCALE);
  pen.translate(size / 2, size / 2);
  draw(pen);
  return pen.getImageData(0, 0, size * SCALE, size * SCALE);
}

function arrow(fill, edge, big) {
  return drawn(26, (pen) => {
    const size = big ? 1.25 : 1;
    pen.scale(size, size);
    pen.beginPath();
    pen.moveTo(0, -9); pen.lineTo(5.2, 7.5); pen.lineTo(0, 4.8); pen.lineTo(-5.2, 7.5); pen.closePath();
    pen.fillStyle = fill; pen.strokeStyle = edge; pen.lineWidth = 1.3; pen.lineJoin = "round";
    pen.stroke(); pen.fill();
  });
}

function dot(fill, edge, big) {
  return drawn(20, (pen) => {
    pen.beginPath();
    pen.arc(0, 0, big ? 6 : 4.4, 0, 7);
    pen.fillStyle = fill; pen.strokeStyle = edge; pen.lineWidth = 1.5;
    pen.stroke(); pen.fill();
  });
}

export function signsFor(map) {
  STATES.forEach((name, state) => {
    for (const [kind, draw] of [["arrow", arrow], ["dot", dot]]) {
      const image = draw(colour(name), colour("ground"), state > 0);
      const key = `${kind}-${state}`;
      if (map.hasImage(key)) map.updateImage(key, image);
      else map.addImage(key, image, { pixelRatio: SCALE });
    }
  });
}

export function clusterSign(text) {
  const size = 26 + 5 * Math.min(4, text.length);
  return drawn(size + 4, (pen) => {
    pen.beginPath();
    pen.arc(0, 0, size / 2, 0, 7);
    pen.fillStyle = colour("normal"); pen.globalAlpha = 0.9; pen.fill();
    pen.globalAlpha = 1; pen.strokeStyle = colour("ground"); pen.lineWidth = 1.6; pen.stroke();
    pen.fillStyle = colour("ground"); pen.font = "600 12px system-ui, sans-serif"; pen.textAlign = "center"; pen.textBaseline = "middle";
    pen.fillText(text, 0, 0.5);
  });
}

export { EMPTY, SCALE };
