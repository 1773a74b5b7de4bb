// The map: where tracks are, tails, zones, what is chosen; hover, follow, measure, save.

import { get } from "./api.js";
import { FIELDS as F, desk } from "./desk.js";
import { $, clockOf, distanceM, el, number } from "./dom.js";
import { EMPTY, SCALE, clusterSign, signsFor, styleOf } from "./style.js";

const MOST_LABELS = 70;
const TAILS_FROM_ZOOM = 6.5;
const feature = (geometry, properties = {}) => ({ type: "Feature", geometry, properties });
const point = (place, properties) => feature({ type: "Point", coordinates: place }, properties);
const line = (places, properties) => feature({ type: "LineString", coordinates: places }, properties);
const collection = (features) => ({ type: "FeatureCollection", features });

let map, session, zones = [], tails = {}, path = EMPTY, labels = [], fitted = false, measuring = null, hidden = new Set();
let drawing = 0, tailing = 0, drawnAt = 0;
export const spent = { updates: 0, last_ms: 0, worst_ms: 0 };

export function openMap(known, view) {
  session = known;
  map = new maplibregl.Map({
    container: "map", style: styleOf(session), center: view?.center ?? [0, 25], zoom: view?.zoom ?? 1.4, maxPitch: 0, maxZoom: 17,
    dragRotate: false, pitchWithRotate: false, attributionControl: false, fadeDuration: 0, renderWorldCopies: true,
  });
  fitted = Boolean(view);
  map.touchZoomRotate.disableRotation();
  map.keyboard.disableRotation();
  map.addControl(new maplibregl.AttributionControl({ compact: true, customAttribution: session.tiles ? [] : ["Land: Natural Earth"] }), "bottom-right");
  map.on("styleimagemissing", ({ id }) => {
    if (id.startsWith("cluster-") && !map.hasImage(id)) map.addImage(id, clusterSign(id.slice(8)), { pixelRatio: SCALE });
  });
  signsFor(map);
  map.getCanvas().setAttribute("aria-label", "Map of tracks. Arrow keys move it, plus and minus zoom; the list of alerts says the same in words.");
  return new Promise((ready) => { map.on("load", () => { wire(); draw(); ready(map); }); });
}

function wire() {
  map.on("move", placeLabels);
  map.on("moveend", () => { askTails(); chooseLabels(); desk.tell("view"); });
  map.on("dragstart", () => follow(false));
  map.on("mousemove", hover);
  map.on("mouseout", () => { $("tip").hidden = true; });
  map.on("click", click);
  desk.on("tracks", () => schedule());
  desk.on("alerts chosen", () => { schedule(); });
  setInterval(() => { if (!desk.past && !document.hidden) askTails(); }, 10000);
}

function schedule() {
  if (drawing) return;
  const rest = desk.shown.tracks.size > 5000 ? 1000 : 200;
  drawing = setTimeout(() => { drawing = 0; draw(); }, Math.max(0, drawnAt + rest - performance.now()));
}

function draw() {
  const began = performance.now();
  const calm = [], hot = [], wanted = desk.onMap(), clock = Date.parse(desk.clock ?? 0);
  const silent = (session.silent_after_min ?? 30) * 60000;
  for (const row of desk.shown.tracks.values()) {
    if (wanted && !wanted(row)) continue;
    const properties = { t: row[F.track], s: row[F.state] };
    const course = row[F.heading] ?? row[F.course];
    if (course !== null && !(row[F.speed] !== null && row[F.speed] < 0.3)) properties.r = course;
    if (clock - row[F.time] > silent) properties.f = 1;
    (row[F.state] ? hot : calm).push(point([row[F.lon], row[F.lat]], properties));
  }
  map.getSource("tracks").setData(collection(calm));
  map.getSource("hot").setData(collection(hot));
  drawChosen();
  $("track-count").textContent = `${number(calm.length + hot.length)} tracks`;
  document.body.dataset.tracks = calm.length + hot.length;
  drawnAt = performance.now();
  spent.updates += 1;
  spent.last_ms = drawnAt - began;
  spent.worst_ms = Math.max(spent.worst_ms, spent.last_ms);
  if (!fitted && desk.shown.tracks.size) fitAll(false);
  if (desk.following && desk.track) keepInView();
  drawTails();
  chooseLabels();
}

function drawChosen() {
  const row = desk.track ? desk.shown.tracks.get(desk.track) : null;
  map.getSource("chosen").setData(row ? collection([point([row[F.lon], row[F.lat]])]) : EMPTY);
}

export function drawPath(paths) {
  const features = [];
  for (const places of paths ?? []) {
    const coordinates = places.map(([lon, lat]) => [lon, lat]);
    if (coordinates.length > 1) features.push(line(coordinates));
    const step = Math.max(1, Math.ceil(coordinates.length / 60));
    coordinates.forEach((place, n) => { if (n % step === 0) features.push(point(place)); });
  }
  path = collection(features);
  map?.getSource("path")?.setData(path);
}

function askTails() {
  const bounds = map.getBounds();
  if (map.getZoom() < TAILS_FROM_ZOOM && desk.shown.tracks.size > 300) { tails = {}; drawTails(); return; }
  const box = [Math.max(-360, bounds.getWest()), Math.max(-90, bounds.getSouth()), Math.min(360, bounds.getEast()), Math.min(90, bounds.getNorth())];
  const mine = ++tailing;
  get("tails", { box: box.map((value) => value.toFixed(4)).join(","), minutes: 30, at: desk.past?.clock }).then((told) => {
    if (mine !== tailing) return;
    tails = told.tails;
    drawTails();
  }, () => {});
}

function drawTails() {
  const features = [], wanted = desk.onMap();
  for (const [track, places] of Object.entries(tails)) {
    const row = desk.shown.tracks.get(track);
    if (!row || (wanted && !wanted(row))) continue;
    const whole = desk.past ? places : [...places, [row[F.lon], row[F.lat]]];
    if (whole.length > 1) features.push(line(whole, { s: row[F.state] }));
  }
  map.getSource("tails").setData(collection(features));
}

export async function askZones() {
  const told = await get("layers");
  zones = told.features;
  map.getSource("zones").setData(collection(zones));
  const menu = $("layer-menu");
  const kinds = [...new Set(zones.map((zone) => zone.properties.layer))];
  const boxes = [["tails", "Tails"], ...kinds.map((kind) => [`zone:${kind}`, kind])].map(([key, name]) => {
    const box = el("input", { type: "checkbox", checked: true, onchange: () => { box.checked ? hidden.delete(key) : hidden.add(key); showLayers(); } });
    return el("label", {}, box, document.createTextNode(name));
  });
  menu.replaceChildren(...boxes, ...(told.notes ?? []).map((note) => el("p", { class: "quiet", text: note })));
  chooseLabels();
}

function showLayers() {
  map.setLayoutProperty("tails", "visibility", hidden.has("tails") ? "none" : "visible");
  map.getSource("zones").setData(collection(zones.filter((zone) => !hidden.has(`zone:${zone.properties.layer}`))));
  chooseLabels();
}

function middle(zone) {
  const { type, coordinates } = zone.geometry;
  if (type === "Point") return coordinates;
  const ring = type === "Polygon" ? coordinates[0] : coordinates;
  const sum = ring.reduce(([x, y], [lon, lat]) => [x + lon, y + lat], [0, 0]);
  return [sum[0] / ring.length, sum[1] / ring.length];
}

function chooseLabels() {
  const bounds = map.getBounds(), taken = [], found = [];
  const { clientWidth: width, clientHeight: height } = map.getContainer();
  const offer = (place, text, kind) => {
    if (!text || found.length >= MOST_LABELS || !bounds.contains(place)) return;
    const at = map.project(place);
    if (at.x < 0 || at.y < 0 || at.x > width || at.y > height) return;
    const box = { left: at.x - 6, right: at.x + 16 + Math.min(170, text.length * 6.6), top: at.y - 9, bottom: at.y + 9 };
    if (taken.some((one) => one.left < box.right && box.left < one.right && one.top < box.bottom && box.top < one.bottom)) return;
    taken.push(box);
    found.push({ place, text, kind });
  };
  const nameOf = (row) => row[F.name] || row[F.track];
  const wanted = desk.onMap();
  const chosen = desk.track && desk.shown.tracks.get(desk.track);
  if (chosen) offer([chosen[F.lon], chosen[F.lat]], nameOf(chosen), "chosen");
  const rows = [...desk.shown.tracks.values()].filter((row) => !wanted || wanted(row));
  for (const state of [2, 1]) for (const row of rows) if (row[F.state] === state) offer([row[F.lon], row[F.lat]], nameOf(row), state === 2 ? "alert" : "forecast");
  if (map.getZoom() > 5) for (const zone of zones) if (!hidden.has(`zone:${zone.properties.layer}`)) offer(middle(zone), zone.properties.name, "place");
  if (map.getZoom() > 9.5) for (const row of rows) if (!row[F.state]) offer([row[F.lon], row[F.lat]], nameOf(row), "");
  labels = found.map((label) => ({ ...label, span: el("span", { class: label.kind, text: label.text, dir: "auto" }) }));
  $("labels").replaceChildren(...labels.map((label) => label.span));
  placeLabels();
}

function placeLabels() {
  for (const { place, span, kind } of labels) {
    const at = map.project(place);
    const gap = kind === "place" ? 6 : 11;
    span.style.transform = `translate(${Math.round(at.x + gap)}px, ${Math.round(at.y - 8)}px)`;
  }
}

function under(at) {
  const around = [[at.x - 6, at.y - 6], [at.x + 6, at.y + 6]];
  return map.queryRenderedFeatures(around, { layers: ["hot", "tracks", "clusters"] })[0];
}

function hover(event) {
  if (measuring) { map.getCanvas().style.cursor = "crosshair"; if (measuring.length === 1) showMeasure([...measuring, event.lngLat.toArray()]); return; }
  const found = under(event.point), tip = $("tip");
  map.getCanvas().style.cursor = found ? "pointer" : "";
  const row = found && desk.shown.tracks.get(found.properties.t);
  tip.hidden = !row;
  if (!row) return;
  const unit = session.domain === "fleet" ? "km/h" : "kn";
  const facts = [row[F.kind], row[F.speed] === null ? "" : `${number(row[F.speed], 1)} ${unit}`, row[F.course] === null ? "" : `${number(row[F.course])}°`, `at ${clockOf(row[F.time], true)}`];
  tip.replaceChildren(el("b", { text: row[F.name] || row[F.track], dir: "auto" }), document.createTextNode(facts.filter(Boolean).join(" · ")));
  const box = map.getContainer();
  tip.style.left = `${Math.min(event.point.x + 14, box.clientWidth - 200)}px`;
  tip.style.top = `${Math.min(event.point.y + 14, box.clientHeight - 80)}px`;
}

async function click(event) {
  if (measuring) {
    measuring = measuring.length === 1 ? [...measuring, event.lngLat.toArray()] : [event.lngLat.toArray()];
    showMeasure(measuring);
    return;
  }
  const found = under(event.point);
  if (found?.properties.cluster_id !== undefined) {
    const zoom = await map.getSource("tracks").getClusterExpansionZoom(found.properties.cluster_id);
    map.easeTo({ center: found.geometry.coordinates, zoom: zoom + 0.4 });
  } else if (found) {
    desk.dispatchEvent(new CustomEvent("pick", { detail: found.properties.t }));
  }
}

export function measure(on = !measuring) {
  measuring = on ? [] : null;
  $("measure").setAttribute("aria-pressed", String(on));
  showMeasure([]);
  map.getCanvas().style.cursor = on ? "crosshair" : "";
}

function showMeasure(places) {
  const out = $("measured");
  out.hidden = !measuring;
  out.textContent = "Click on two places.";
  const features = places.map((place) => point(place));
  if (places.length === 2) {
    const metres = distanceM(...places);
    out.textContent = `${(metres / 1000).toFixed(2)} km · ${(metres / 1852).toFixed(2)} nautical miles`;
    features.push(line(places));
  }
  map.getSource("measure").setData(collection(features));
}

export const isMeasuring = () => measuring !== null;

export function follow(on) {
  desk.following = on && Boolean(desk.track);
  if (desk.following) keepInView();
  desk.tell("following");
}

function keepInView() {
  const row = desk.shown.tracks.get(desk.track);
  if (row) map.easeTo({ center: [row[F.lon], row[F.lat]], duration: 400 });
}

export function show(place, zoom = 10) {
  map.easeTo({ center: place, zoom: Math.max(map.getZoom(), zoom), duration: 600 });
}

export function fitAll(smooth = true) {
  const rows = [...desk.shown.tracks.values()];
  if (!rows.length) return;
  fitted = true;
  const west = Math.min(...rows.slice(0, 50000).map((row) => row[F.lon])), east = Math.max(...rows.slice(0, 50000).map((row) => row[F.lon]));
  const south = Math.min(...rows.slice(0, 50000).map((row) => row[F.lat])), north = Math.max(...rows.slice(0, 50000).map((row) => row[F.lat]));
  map.fitBounds([[west, south], [east, north]], { padding: 70, maxZoom: 11, animate: smooth, duration: 500 });
}

export function picture() {
  return new Promise((done) => {
    map.once("render", () => map.getCanvas().toBlob(done, "image/png"));
    map.triggerRepaint();
  });
}

export function repaint() {
  if (!map) return;
  map.setStyle(styleOf(session), { diff: false });
  map.once("style.load", () => {
    for (const id of map.listImages()) if (id.startsWith("cluster-")) map.removeImage(id);
    signsFor(map);
    map.getSource("path").setData(path);
    showLayers();
    draw();
    desk.tell("repainted");
  });
}

export const viewNow = () => ({ center: map.getCenter().toArray(), zoom: map.getZoom(), bounds: map.getBounds() });
export const zoomBy = (step) => map.zoomTo(map.getZoom() + step, { duration: 250 });
export const resized = () => map?.resize();
