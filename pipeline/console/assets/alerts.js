// The list of alerts: gravest and newest first; it does not move under a pointer that is about to click.

import { desk } from "./desk.js";
import { $, clockOf, el, inWords, momentOf, say, spanOf, titleOf } from "./dom.js";

const MOST = 300;
const items = new Map();
let waiting = false, begun = false;

export function openAlerts(pick) {
  const list = $("list");
  desk.on("alerts mode filters", () => render(pick));
  desk.on("chosen", mark);
  list.addEventListener("pointerleave", () => { if (waiting) render(pick, true); });
  for (const name of ["pattern", "severity", "zone", "kind", "show"]) {
    $(`f-${name}`).addEventListener("change", (event) => { desk.filters[name] = event.target.value; changed(); });
  }
  $("filters").addEventListener("reset", () => { desk.filters = { pattern: "", severity: "", zone: "", kind: "", show: "todo" }; changed(); });
  $("filter-toggle").addEventListener("click", () => {
    const hidden = ($("filters").hidden = !$("filters").hidden);
    $("filter-toggle").setAttribute("aria-expanded", String(!hidden));
  });
  setInterval(() => { for (const { alert, node } of items.values()) age(node, alert); }, 15000);
}

function changed() {
  const set = Object.entries(desk.filters).filter(([name, value]) => value && !(name === "show" && value === "todo")).length;
  $("filter-toggle").textContent = set ? `Filter (${set})` : "Filter";
  desk.tell("filters");
  desk.tell("tracks");
}

function choices() {
  const offer = (id, values) => {
    const select = $(id), known = [...values].filter(Boolean).sort(), held = [...select.options].slice(1).map((option) => option.value);
    if (known.length === held.length && known.every((value, n) => value === held[n])) return;
    const chosen = select.value;
    select.replaceChildren(select.options[0], ...known.map((value) => el("option", { value, text: id === "f-pattern" ? titleOf(value) : value })));
    select.value = known.includes(chosen) ? chosen : "";
  };
  const alerts = [...desk.shown.alerts.values()];
  offer("f-pattern", new Set(alerts.map((alert) => alert.pattern)));
  offer("f-zone", new Set(alerts.map((alert) => alert.zone)));
  offer("f-kind", new Set([...desk.shown.tracks.values()].map((row) => row[9])));
}

function render(pick, now = false) {
  const list = $("list"), rows = desk.sorted();
  const strangers = rows.filter((alert) => !items.has(alert.alert_id)).length;
  $("empty").hidden = rows.length > 0;
  $("empty").textContent = desk.past ? "No alert was open then." : desk.live.alerts.size ? "Nothing is left to do. The filter also shows what is acknowledged." : "Nothing is wrong as far as the line can tell.";
  document.body.dataset.alerts = rows.length;
  if (begun && !now && !desk.past && list.matches(":hover") && rows.length && strangers) {
    waiting = true;
    for (const alert of rows) if (items.has(alert.alert_id)) fill(items.get(alert.alert_id).node, alert);
    $("alert-count").textContent = `${rows.length - strangers} · ${strangers} new`;
    return;
  }
  waiting = false;
  $("alert-count").textContent = rows.length;
  choices();
  const keep = new Set();
  let before = list.firstElementChild;
  for (const alert of rows.slice(0, MOST)) {
    keep.add(alert.alert_id);
    let held = items.get(alert.alert_id);
    if (!held) {
      held = { node: el("li", {}, el("button", { class: begun && !desk.past ? "item new" : "item", type: "button", onclick: () => pick(alert.alert_id) })) };
      items.set(alert.alert_id, held);
    }
    held.alert = alert;
    fill(held.node, alert);
    if (held.node === before) before = before.nextElementSibling;
    else list.insertBefore(held.node, before);
  }
  for (const [id, { node }] of items) if (!keep.has(id)) { node.remove(); items.delete(id); }
  mark();
  begun = true;
}

function fill(node, alert) {
  const button = node.firstElementChild;
  const done = Boolean(alert.acknowledged_by || alert.muted || alert.snoozed_until || alert.status === "closed");
  const key = JSON.stringify([alert, done]);
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  button.dataset.severity = alert.severity;
  button.dataset.alert = alert.alert_id;
  button.classList.toggle("done", done);
  const tags = [
    alert.severity === "info" ? null : [alert.severity, alert.severity],
    alert.kind === "forecast" ? ["forecast", "info"] : null,
    alert.status === "closed" ? ["closed", ""] : null,
    alert.acknowledged_by ? ["acknowledged", "good"] : null,
    alert.assignee ? [`for ${alert.assignee}`, ""] : null,
    alert.snoozed_until ? [`asleep until ${clockOf(alert.snoozed_until)}`, ""] : null,
    alert.muted ? ["muted", ""] : null,
  ].filter(Boolean);
  const chance = alert.kind === "forecast" && alert.probability !== null
    ? el("span", { class: "chance" }, el("span", { class: "meter" }, el("i", { "width%": Math.round(alert.probability * 100) })), document.createTextNode(inWords(alert)))
    : el("span", { class: "why", text: alert.reason, dir: "auto" });
  button.replaceChildren(
    el("span", { class: "title", text: titleOf(alert.pattern) + (alert.zone ? `, ${alert.zone}` : ""), dir: "auto" }),
    el("span", { class: "when" }),
    el("span", { class: "who", text: alert.name || alert.track || "the whole line", dir: "auto" }),
    el("span", { class: "marks" }, ...tags.map(([text, kind]) => el("span", { class: `tag ${kind}`, text }))),
    chance,
  );
  age(node, alert);
}

function age(node, alert) {
  const when = node.querySelector(".when");
  if (!when || !desk.clock) return;
  const passed = Date.parse(desk.clock) - Date.parse(alert.time);
  when.textContent = passed > 0 ? spanOf(passed) : "now";
  when.title = momentOf(alert.time);
}

function mark() {
  for (const [id, { node }] of items) {
    const button = node.firstElementChild;
    if (id === desk.alert) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

export function step(by, pick) {
  const rows = desk.sorted(), at = rows.findIndex((alert) => alert.alert_id === desk.alert);
  const next = rows[Math.min(rows.length - 1, Math.max(0, at < 0 ? 0 : at + by))];
  if (next) pick(next.alert_id);
}

export function openNotices() {
  let on = false, sound = null;
  const button = $("notices");
  button.addEventListener("click", async () => {
    on = !on;
    button.setAttribute("aria-pressed", String(on));
    if (!on) return;
    sound ??= new AudioContext();
    if ("Notification" in window && Notification.permission === "default") await Notification.requestPermission();
  });
  desk.addEventListener("fresh", ({ detail }) => {
    const grave = detail.filter((alert) => alert.severity !== "info" && !alert.muted);
    const [first] = grave.length ? grave : detail;
    const text = `${titleOf(first.pattern)}: ${first.name || first.track || ""}${detail.length > 1 ? ` and ${detail.length - 1} more` : ""}`;
    say(`New alert. ${text}`);
    if (!on || !grave.length) return;
    const tone = sound.createOscillator(), level = sound.createGain();
    tone.frequency.value = grave.some((alert) => alert.severity === "critical") ? 880 : 587;
    level.gain.setValueAtTime(0.12, sound.currentTime);
    level.gain.exponentialRampToValueAtTime(0.001, sound.currentTime + 0.5);
    tone.connect(level).connect(sound.destination);
    tone.start();
    tone.stop(sound.currentTime + 0.5);
    if ("Notification" in window && Notification.permission === "granted") new Notification("Foresail", { body: text, icon: "/assets/icon.svg", tag: first.alert_id });
  });
}
