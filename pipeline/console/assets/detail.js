// One alert: why, what is expected, the automaton and where it stands, what was done, and what can be done.

import { Refused, get, may, part, post, session } from "./api.js";
import { desk } from "./desk.js";
import { $, clockOf, el, inWords, momentOf, placeOf, shape, spanOf, titleOf, toast } from "./dom.js";
import { drawPath, show } from "./map.js";

let asked = 0, shownKey = "";

export async function pickAlert(id, move = true) {
  desk.alert = id;
  desk.tell("chosen");
  desk.tell("view");
  const mine = ++asked;
  try {
    const alert = await get(`alerts/${part(id)}`, { at: desk.past?.clock });
    if (mine !== asked) return;
    fill(alert);
    drawPath(alert.path);
    if (move && alert.lon !== null) show([alert.lon, alert.lat], 9.5);
    const [track] = (alert.track ?? "").split("|");
    if (track && desk.shown.tracks.has(track)) desk.dispatchEvent(new CustomEvent("quietpick", { detail: track }));
  } catch (fault) {
    if (mine !== asked) return;
    closeDetail();
    toast(fault instanceof Refused ? `This alert cannot be shown: ${fault.message}` : "The console does not answer.");
  }
}

export function closeDetail() {
  if (!desk.alert) return;
  const id = desk.alert;
  asked += 1;
  desk.alert = null;
  shownKey = "";
  $("detail").hidden = true;
  $("list-pane").hidden = false;
  $("alerts").classList.remove("tall");
  drawPath([]);
  desk.tell("chosen");
  desk.tell("view");
  document.querySelector(`[data-alert="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });
}

/* Others may act on the alert that is open here: what is typed is kept, what stands is told anew. */
export function refresh() {
  const held = desk.alert && desk.shown.alerts.get(desk.alert);
  if (!held || $("detail").hidden || keyOf(held) === shownKey || $("detail").contains(document.activeElement) && /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
  pickAlert(desk.alert, false);
}

const keyOf = (alert) => JSON.stringify([alert.status, alert.reason, alert.probability, alert.acknowledged_by, alert.assignee, alert.snoozed_until, alert.muted, alert.notes?.length]);

function fill(alert) {
  shownKey = keyOf(alert);
  const pane = $("detail");
  const opened = pane.hidden;
  const head = el("div", { class: "detail-head" },
    el("button", { type: "button", class: "text small", text: "← All alerts", onclick: closeDetail }),
    el("button", { type: "button", class: "text small", text: "Copy link", onclick: () => navigator.clipboard.writeText(location.href).then(() => toast("The link is copied."), () => toast(location.href)) }));
  const place = alert.lon === null ? "" : placeOf(alert.lon, alert.lat);
  const lasted = Date.parse(alert.time) - Date.parse(alert.since);
  pane.replaceChildren(...[head,
    el("div", { class: "row" }, el("span", { class: `tag ${alert.severity}`, text: alert.severity }), el("span", { class: "tag", text: alert.kind === "match" ? "happening" : alert.kind.replace("_", " ") }), alert.status === "closed" ? el("span", { class: "tag", text: `closed${alert.closed_because ? `: ${alert.closed_because}` : ""}` }) : null, alert.muted ? el("span", { class: "tag", text: "muted" }) : null),
    el("h2", { text: titleOf(alert.pattern) + (alert.zone ? `, ${alert.zone}` : ""), dir: "auto" }),
    el("p", { class: "lead", text: alert.says, dir: "auto" }),
    inWords(alert) ? el("p", { class: "forecast-said", text: `${titleOf(alert.pattern)} ${inWords(alert)}` }) : null,
    ...actions(alert),
    el("h3", { text: "Why" }), el("p", { class: "reason", text: alert.reason || "no reason was told", dir: "auto" }),
    el("dl", { class: "values" }, ...[["Track", alert.name ? `${alert.name} (${alert.track})` : alert.track], ["Kind", alert.vessel], ["Place", place], ["Since", `${momentOf(alert.since)}${lasted >= 60000 ? ` (${spanOf(lasted)})` : ""}`], ["Last told", momentOf(alert.time)], ["Model", alert.model_version]]
      .filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value, dir: "auto" })])),
    ...curve(alert.curve, alert),
    ...automaton(alert),
    ...story(alert)].filter(Boolean));
  pane.hidden = false;
  $("list-pane").hidden = true;
  $("alerts").classList.add("tall");
  if (opened) { pane.scrollTop = 0; head.firstElementChild.focus({ preventScroll: true }); }
}

function actions(alert) {
  if (desk.past || !may("operator")) return [];
  const act = async (done) => {
    try {
      desk.take(await post(`alerts/${part(alert.alert_id)}/operations`, done));
      await pickAlert(alert.alert_id, false);
    } catch (fault) { toast(fault.message); }
  };
  const form = (label, field, name, more) => el("form", { onsubmit: (event) => { event.preventDefault(); if (field.value.trim()) act(more(field.value.trim())); } }, field, el("button", { class: "line", text: name, "aria-label": label }));
  const assignee = el("input", { "aria-label": "Assign to", placeholder: "Assign to", list: "people", maxlength: 200, value: alert.assignee ?? "" });
  const note = el("input", { "aria-label": "Note", placeholder: "Add a note", maxlength: 2000 });
  const snooze = el("select", { "aria-label": "Snooze for" }, ...[["15", "15 minutes"], ["60", "an hour"], ["480", "8 hours"]].map(([value, text]) => el("option", { value, text })));
  const mute = el("select", { "aria-label": "Mute for" }, el("option", { value: "track", text: "for this track" }), alert.zone ? el("option", { value: "zone", text: `for ${alert.zone}` }) : null);
  const people = el("datalist", { id: "people" }, ...[...new Set([session.user, ...(session.users ?? [])])].map((value) => el("option", { value })));
  return [el("div", { class: "actions" },
    alert.acknowledged_by
      ? el("button", { type: "button", class: "line", text: "Reopen", onclick: () => act({ kind: "reopen" }) })
      : el("button", { type: "button", class: "main", id: "acknowledge", text: "Acknowledge", onclick: () => act({ kind: "acknowledge" }) }),
    alert.muted ? el("button", { type: "button", class: "line", text: "Unmute", onclick: () => act({ kind: "unmute", scope: mute.value }) }) : null),
  alert.acknowledged_by ? el("p", { class: "quiet", text: `Acknowledged by ${alert.acknowledged_by}, ${momentOf(alert.acknowledged_at)}` }) : null,
  el("details", { class: "more" }, el("summary", { text: "Assign, note, snooze, mute" }), el("div", { class: "acts" }, people,
    form("Assign", assignee, "Assign", (value) => ({ kind: "assign", assignee: value })),
    form("Add the note", note, "Note", (value) => ({ kind: "note", note: value })),
    form("Snooze", snooze, "Snooze", (value) => ({ kind: "snooze", minutes: Number(value) })),
    form("Mute the pattern", mute, "Mute", (value) => ({ kind: "mute", scope: value }))))].filter(Boolean);
}

function curve(told, alert) {
  if (!told || !told.probability.length) return [];
  const width = 340, height = 110, most = Math.max(...told.probability, 0.01), step = width / told.probability.length;
  const minutes = told.minutes, inside = (n) => alert.earliest_min !== null && minutes[n] !== null && minutes[n] >= alert.earliest_min - 0.5 && minutes[n] <= alert.latest_min + 0.5;
  const bars = told.probability.map((value, n) => shape("rect", { class: inside(n) ? "bar-mass in" : "bar-mass", x: (n * step + 0.5).toFixed(1), y: (90 - (value / most) * 80).toFixed(1), width: Math.max(0.8, step - 1).toFixed(1), height: ((value / most) * 80).toFixed(1) }));
  const last = told.probability.length - 1;
  const at = (n) => (minutes[n] === null ? `${told.events[n]} events` : `${Math.round(minutes[n])} min`);
  const marks = [0, Math.floor(last / 2), last].map((n, k) => shape("text", { x: [0, width / 2, width][k], y: 105, "text-anchor": ["start", "middle", "end"][k] }, document.createTextNode(at(n))));
  return [el("h3", { text: "When it is expected" }),
    el("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": told.sentence || "How likely the match is after so many events" }, shape("line", { x1: 0, x2: width, y1: 90.5, y2: 90.5 }), ...bars, ...marks),
    el("p", { class: "quiet", text: told.sentence || "" })];
}

function automaton(alert) {
  if (!alert.automaton) return [];
  const parsed = new DOMParser().parseFromString(alert.automaton.svg, "image/svg+xml").documentElement;
  if (parsed.nodeName !== "svg") return [];
  const drawing = document.importNode(parsed, true);
  if (alert.state !== null) {
    const label = [...drawing.querySelectorAll("text.number")].find((text) => text.textContent === String(alert.state));
    label?.classList.add("here");
    const [x, y] = [label?.getAttribute("x"), drawing];
    for (const circle of y.querySelectorAll("circle.state")) if (circle.getAttribute("cx") === x && Math.abs(Number(circle.getAttribute("cy")) + 5 - Number(label.getAttribute("y"))) < 1) circle.classList.add("here");
  }
  return [el("h3", { text: alert.state === null ? "The pattern as an automaton" : `The pattern as an automaton; it stands in state ${alert.state}` }),
    el("div", { class: "automaton", tabindex: 0, role: "region", "aria-label": "Automaton" }, drawing)];
}

const DID = { acknowledge: "acknowledged it", reopen: "reopened it", note: "noted", assign: "assigned it to", snooze: "put it to sleep until", mute: "muted the pattern", unmute: "unmuted the pattern" };

function story(alert) {
  const done = alert.operations.map((one) => ({ at: one.at, wall: true, text: `${one.who} ${DID[one.kind] ?? one.kind}${one.assignee ? ` ${one.assignee}` : ""}${one.kind === "snooze" && one.until ? ` ${clockOf(one.until)} UTC` : ""}${one.note ? `: ${one.note}` : ""}` }));
  const told = alert.changes.map((one) => ({ at: one.time, text: `${one.status} by the line` }));
  const rows = [...done, ...told.reverse()].slice(0, 60);
  return [el("h3", { text: "What happened" }), el("ol", { class: "story" }, ...rows.map((row) => el("li", {}, el("time", { text: momentOf(row.at), datetime: row.at }), el("span", { text: row.text, dir: "auto" }))))];
}
