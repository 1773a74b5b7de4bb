// The card of a track, and the search that finds one.

import { get, part, session } from "./api.js";
import { FIELDS as F, desk } from "./desk.js";
import { $, clockOf, el, number, placeOf, titleOf } from "./dom.js";
import { follow, show } from "./map.js";

export function openTracks(pickAlert) {
  desk.addEventListener("pick", ({ detail }) => pickTrack(detail));
  desk.addEventListener("quietpick", ({ detail }) => { desk.track = detail; desk.tell("chosen"); });
  desk.on("tracks following alerts", () => { if (desk.track && !$("card").hidden) fill(pickAlert); });
  desk.on("card", () => fill(pickAlert));
}

export function pickTrack(track, move = false) {
  desk.track = track;
  const row = desk.shown.tracks.get(track);
  $("card").hidden = false;
  desk.tell("chosen");
  desk.tell("card");
  desk.tell("view");
  if (move && row) show([row[F.lon], row[F.lat]], 10);
  // the list of tracks holds what a map needs; the rest of a track is asked for when somebody looks at it
  get(`tracks/${part(track)}`).then((told) => { if (desk.track === track) { known = { track, values: told.values }; desk.tell("card"); } }, () => {});
}

let known = { track: null, values: {} };
const WORDS = { length_m: "Length", nav_status: "Status", fuel_level: "Fuel", mmsi: "MMSI", vessel_type: "Kind", engine: "Engine" };

export function closeTrack() {
  desk.track = null;
  $("card").hidden = true;
  follow(false);
  desk.tell("chosen");
  desk.tell("view");
}

function fill(pickAlert) {
  const row = desk.shown.tracks.get(desk.track), card = $("card");
  if (!row) {
    card.replaceChildren(el("div", { class: "card-head" }, el("h2", { text: desk.track }), close()), el("p", { class: "quiet", text: "Not heard of at this time." }));
    return;
  }
  const unit = session.domain === "fleet" ? "km/h" : "kn";
  const more = known.track === desk.track ? Object.entries(known.values).filter(([name]) => name in WORDS).map(([name, value]) => [WORDS[name], name === "length_m" ? `${number(value)} m` : name === "fuel_level" ? `${Math.round(value * 100)}%` : value]) : [];
  const rows = [["Track", row[F.track]], ["Speed", row[F.speed] === null ? null : `${number(row[F.speed], 1)} ${unit}`], ["Course", row[F.course] === null ? null : `${number(row[F.course])}°`], ["Heading", row[F.heading] === null ? null : `${number(row[F.heading])}°`], ...more, ["Place", placeOf(row[F.lon], row[F.lat])], ["Heard", `${clockOf(row[F.time], true)} UTC`]];
  const mine = [...desk.shown.alerts.values()].filter((alert) => alert.status !== "closed" && (alert.track ?? "").split("|").includes(desk.track));
  card.replaceChildren(
    el("div", { class: "card-head" }, el("h2", { text: row[F.name] || row[F.track], dir: "auto" }), close()),
    el("dl", { class: "values" }, ...rows.filter(([, value]) => value !== null && value !== undefined && value !== "").flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })])),
    el("div", { class: "row" }, el("button", { type: "button", class: "line", id: "follow", text: desk.following ? "Following" : "Follow", "aria-pressed": String(desk.following), onclick: () => follow(!desk.following) }),
      ...mine.slice(0, 4).map((alert) => el("button", { type: "button", class: "line", text: titleOf(alert.pattern), onclick: () => pickAlert(alert.alert_id) }))));
}

const close = () => el("button", { type: "button", class: "icon", "aria-label": "Close", text: "×", onclick: closeTrack });

export function openSearch() {
  const input = $("search"), list = $("found");
  let timer = 0, at = -1, options = [], mine = 0;
  const shut = () => { list.hidden = true; input.setAttribute("aria-expanded", "false"); input.removeAttribute("aria-activedescendant"); at = -1; };
  const choose = (n) => { const option = options[n]; if (!option) return; shut(); input.blur(); option.go(); };
  const mark = (n) => {
    at = Math.max(0, Math.min(options.length - 1, n));
    [...list.children].forEach((node, k) => node.setAttribute("aria-selected", String(k === at)));
    input.setAttribute("aria-activedescendant", `found-${at}`);
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  const look = async () => {
    const text = input.value.trim(), own = ++mine;
    if (!text) { shut(); return; }
    let told;
    try { told = await get("search", { q: text.slice(0, 100) }); } catch { return; }
    if (own !== mine) return;
    options = [
      ...told.tracks.map((row) => ({ name: row[F.name] || row[F.track], more: [row[F.kind], row[F.track]].filter(Boolean).join(" · "), go: () => pickTrack(row[F.track], true) })),
      ...told.places.map((place) => ({ name: place.properties.name, more: place.properties.layer, go: () => show(firstOf(place.geometry.coordinates), 10) })),
    ];
    list.replaceChildren(...(options.length ? options.map((option, n) => el("li", { role: "option", id: `found-${n}`, "aria-selected": "false", onpointerdown: (event) => { event.preventDefault(); choose(n); } }, el("span", { text: option.name, dir: "auto" }), el("small", { text: option.more })))
      : [el("li", { class: "quiet", role: "option", "aria-selected": "false", text: "Nothing is called so." })]));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    if (options.length) mark(0);
  };
  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(look, 150); });
  input.addEventListener("focus", () => { if (input.value) look(); });
  input.addEventListener("blur", shut);
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); mark(at + 1); }
    else if (event.key === "ArrowUp") { event.preventDefault(); mark(at - 1); }
    else if (event.key === "Enter") { event.preventDefault(); choose(Math.max(0, at)); }
    else if (event.key === "Escape") { event.stopPropagation(); shut(); input.blur(); }
  });
}

const firstOf = (coordinates) => (typeof coordinates[0] === "number" ? coordinates : firstOf(coordinates[0]));
