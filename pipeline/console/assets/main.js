// Puts the page together: session, stream of changes, keys, links.

import { get, know, post, session } from "./api.js";
import { openAlerts, openNotices, step } from "./alerts.js";
import { desk } from "./desk.js";
import { closeDetail, pickAlert, refresh } from "./detail.js";
import { $, say, toast } from "./dom.js";
import { openHealth } from "./health.js";
import { askZones, fitAll, follow, isMeasuring, measure, openMap, picture, repaint, resized, spent, viewNow, zoomBy } from "./map.js";
import { openPatterns } from "./patterns.js";
import { askSpan, goLive, goTo, openTime, togglePlay } from "./time.js";
import { closeTrack, openSearch, openTracks, pickTrack } from "./track.js";

let stream = null, heard = 0;

async function begin() {
  const link = readLink();
  await know();
  if (!session.user) { login(link.used); return; }
  openAlerts(pickAlert);
  openTracks(pickAlert);
  openSearch();
  openNotices();
  wire();
  const known = await fetchAll(); // the list is painted before the map is made, which takes longest
  await painted();
  await openMap(session, link.view);
  askZones().catch(() => {});
  openTime(() => { if (desk.alert && !$("detail").hidden) pickAlert(desk.alert, false); });
  listen(known);
  if (link.time) { await askSpan(); goTo(Date.parse(link.time)); }
  if (link.track) pickTrack(link.track);
  if (link.alert) pickAlert(link.alert, !link.view);
  desk.on("view mode", writeLink);
  desk.on("alerts", refresh);
  desk.on("clock mode", showStatus);
  document.body.dataset.ready = "yes";
}

const painted = () => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 300); });

async function fetchAll() {
  const [tracks, alerts] = await Promise.all([get("tracks"), get("alerts", { status: "all", limit: 1000 })]);
  desk.fill(tracks.tracks, alerts.alerts, tracks.clock);
  return tracks.id;
}

/* EventSource comes back by itself after a pause; what was missed is sent then, or `anew` asks for everything. */
function listen(known) {
  stream = new EventSource(`/api/stream${known ? `?since=${known}` : ""}`);
  stream.addEventListener("update", (event) => {
    const told = JSON.parse(event.data);
    hear(told);
    desk.update(told.tracks, told.alerts, told.clock);
  });
  stream.addEventListener("anew", async (event) => {
    hear(JSON.parse(event.data));
    try { await fetchAll(); } catch { /* the next message says how it stands */ }
  });
  stream.onerror = () => { desk.status = { state: "away" }; showStatus(); if (stream.readyState === 2) setTimeout(retry, 2000); };
  setInterval(() => { if (heard && performance.now() - heard > 25000) { desk.status = { state: "away" }; showStatus(); } }, 5000);
}

async function retry() {
  stream.close();
  try { await know(); } catch { setTimeout(retry, 2000); return; }
  if (!session.user) { login(false); return; }
  listen();
}

function hear(told) {
  heard = performance.now();
  desk.status = told.status;
  showStatus();
}

function showStatus() {
  const { state, said, database, source } = desk.status;
  const pill = $("status"), banner = $("banner");
  const words = { away: ["gone", "console away"], gone: ["gone", "line not reached"], silent: ["warn", "line is silent"], connecting: ["connecting", "connecting"], reading: ["live", "live"] };
  let [kind, text] = words[state] ?? words.connecting;
  if (desk.past && kind === "live") [kind, text] = ["past", "the past"];
  if (database && kind === "live") [kind, text] = ["warn", "database away"];
  if (pill.textContent !== text) pill.textContent = text;
  pill.dataset.state = kind;
  const told = {
    away: "The console does not answer. What is shown is old; the page comes back by itself.",
    gone: `${source ?? "The line"}: not reached${said ? ` (${said})` : ""}. What is shown is old; reading goes on as soon as it is back.`,
    silent: "The line has told nothing for over a minute. Is it running?",
  }[state] ?? (database ? database : "");
  if (banner.textContent !== told) { banner.textContent = told; banner.hidden = !told; resized(); }
}

function readLink() {
  const hash = location.hash.slice(1);
  if (hash === "used") { history.replaceState(null, "", "/"); return { used: true }; }
  const given = new URLSearchParams(hash), [zoom, lat, lon] = (given.get("map") ?? "").split("/").map(Number);
  const there = given.has("map") && [zoom, lat, lon].every(Number.isFinite) && Math.abs(lat) <= 85 && Math.abs(lon) <= 360 && zoom >= 0 && zoom <= 20;
  const time = given.get("time");
  return { view: there ? { center: [lon, lat], zoom } : null, time: time && !Number.isNaN(Date.parse(time)) ? time : null, alert: given.get("alert"), track: given.get("track") };
}

let writing = 0;
function writeLink() {
  clearTimeout(writing);
  writing = setTimeout(() => {
    const { center, zoom } = viewNow(), given = new URLSearchParams();
    given.set("map", `${zoom.toFixed(2)}/${center[1].toFixed(4)}/${center[0].toFixed(4)}`);
    if (desk.past) given.set("time", new Date(desk.past.clock).toISOString());
    if (desk.alert) given.set("alert", desk.alert);
    if (desk.track && !$("card").hidden) given.set("track", desk.track);
    history.replaceState(null, "", `#${String(given).replaceAll("%2F", "/").replaceAll("%3A", ":")}`);
  }, 150);
}

function login(used) {
  const dialog = $("login-dialog"), token = session.login !== "password";
  $("login-fields").hidden = token;
  $("login-said").textContent = session.login === "proxy" ? "The proxy in front of this console names nobody." : token
    ? `${used ? "This address was used already. " : ""}Open the address that the console printed when it started; it can be used once. Start the console anew for another.` : "Log in to go on.";
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  if (!dialog.open) dialog.showModal();
  $("login").addEventListener("submit", async (event) => {
    event.preventDefault();
    try {
      await post("login", { user: $("login-user").value, password: $("login-password").value });
      location.reload();
    } catch (fault) { $("login-said").textContent = fault.message; }
  });
}

function theme() {
  const dark = document.documentElement.dataset.theme !== "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  try { localStorage.setItem("foresail-theme", dark ? "dark" : "light"); } catch { /* it holds until the page is closed */ }
  repaint();
}

async function save(form) {
  if (form === "link") {
    await navigator.clipboard.writeText(location.href).then(() => toast("The link is copied."), () => toast(location.href));
    return;
  }
  const { bounds } = viewNow();
  const box = [bounds.getWest(), bounds.getSouth(), bounds.getEast(), bounds.getNorth()].map((value, n) => Math.max(n % 2 ? -90 : -360, Math.min(n % 2 ? 90 : 360, value)).toFixed(4)).join(",");
  const time = desk.past ? `&time=${encodeURIComponent(new Date(desk.past.clock).toISOString())}` : "";
  const link = document.createElement("a");
  link.href = form === "png" ? URL.createObjectURL(await picture()) : `/api/export.${form}?box=${box}${time}`;
  link.download = `foresail.${form}`;
  link.click();
  if (form === "png") setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function menu(button, list) {
  const shut = () => { $(list).hidden = true; $(button).setAttribute("aria-expanded", "false"); };
  $(button).addEventListener("click", (event) => {
    event.stopPropagation();
    const hidden = ($(list).hidden = !$(list).hidden);
    $(button).setAttribute("aria-expanded", String(!hidden));
    if (!hidden) $(list).querySelector("button, input")?.focus();
  });
  $(list).addEventListener("click", (event) => event.stopPropagation());
  $(list).addEventListener("keydown", (event) => { if (event.key === "Escape") { shut(); $(button).focus(); event.stopPropagation(); } });
  document.addEventListener("click", shut);
}

function wire() {
  $("zoom-in").addEventListener("click", () => zoomBy(1));
  $("zoom-out").addEventListener("click", () => zoomBy(-1));
  $("fit").addEventListener("click", () => fitAll());
  $("measure").addEventListener("click", () => measure());
  $("theme").addEventListener("click", theme);
  $("help").addEventListener("click", () => $("help-dialog").showModal());
  $("open-patterns").addEventListener("click", openPatterns);
  $("open-health").addEventListener("click", openHealth);
  $("status").addEventListener("click", openHealth);
  menu("layers", "layer-menu");
  menu("export", "export-menu");
  for (const button of $("export-menu").children) button.addEventListener("click", () => { $("export-menu").hidden = true; save(button.dataset.form); });
  for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());
  document.addEventListener("keydown", keys);
  document.addEventListener("loggedout", () => { if (session.user) { session.user = null; login(false); } });
}

function keys(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = /INPUT|SELECT|TEXTAREA/.test(event.target.tagName) && event.target.type !== "range";
  if (event.key === "Escape") {
    if (isMeasuring()) measure(false);
    else if (desk.alert) closeDetail();
    else if (!$("card").hidden) closeTrack();
    return;
  }
  if (typing) return;
  const acts = {
    "/": () => $("search").focus(), j: () => step(1, pickAlert), k: () => step(-1, pickAlert), a: () => $("acknowledge")?.click(),
    f: () => { if (desk.track) { follow(!desk.following); say(desk.following ? "Following" : "Not following"); } },
    m: () => measure(), " ": () => { if (event.target.tagName === "BUTTON") return false; togglePlay(); return true; },
    l: goLive, 0: () => fitAll(), t: theme, "?": () => $("help-dialog").showModal(),
  };
  const act = acts[event.key];
  if (act && act() !== false) event.preventDefault();
}

window.foresail = { desk, spent, goTo, goLive };
begin().catch((fault) => { toast(fault.message); document.body.dataset.ready = "failed"; });
