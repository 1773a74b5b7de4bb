// The slider over the kept past: move back, play, and return to now.

import { get } from "./api.js";
import { desk } from "./desk.js";
import { $, clockOf, colour, dayOf, momentOf, toast } from "./dom.js";

const TICK_MS = 500;
let span = null, playing = 0, asking = false, wanted = null, arrived = null;

export function openTime(whenArrived) {
  arrived = whenArrived;
  $("slider").addEventListener("input", () => { stop(); goTo(timeAt(Number($("slider").value))); });
  $("live").addEventListener("click", goLive);
  $("play").addEventListener("click", togglePlay);
  desk.on("clock", showClock);
  askSpan();
  setInterval(() => { if (!document.hidden) askSpan(); }, 10000);
  new ResizeObserver(drawWhen).observe($("when"));
  desk.on("repainted", drawWhen);
}

export async function askSpan() {
  try { span = await get("span"); } catch { return; }
  drawWhen();
  showClock();
}

const since = () => (span?.since ? Date.parse(span.since) : null);
const until = () => Math.max(span?.until ? Date.parse(span.until) : 0, desk.live.clock ? Date.parse(desk.live.clock) : 0);
const timeAt = (value) => since() + ((until() - since()) * value) / 1000;

export function goTo(time) {
  if (since() === null) return;
  wanted = Math.min(until(), Math.max(since(), time));
  $("shown").textContent = `${clockOf(wanted, true)}`;
  ask();
}

async function ask() {
  if (asking || wanted === null) return;
  asking = true;
  const time = wanted;
  try {
    const told = await get("at", { time: new Date(time).toISOString() });
    if (wanted !== null) {
      desk.goTo({ tracks: new Map(told.tracks.map((row) => [row[0], row])), alerts: new Map(told.alerts.map((alert) => [alert.alert_id, alert])), clock: told.clock });
      arrived?.();
    }
  } catch (fault) { toast(fault.message); }
  asking = false;
  if (wanted !== null && wanted !== time) ask();
}

export function goLive() {
  stop();
  wanted = null;
  if (desk.past) { desk.goTo(null); arrived?.(); }
  showClock();
}

function stop() {
  clearInterval(playing);
  playing = 0;
  face();
}

export function togglePlay() {
  if (playing) { stop(); return; }
  if (since() === null) return;
  if (!desk.past) goTo(Math.max(since(), until() - 3600000));
  playing = setInterval(() => {
    const next = wanted + TICK_MS * Number($("speed").value);
    if (next >= until()) { goLive(); return; }
    if (!asking) goTo(next);
  }, TICK_MS);
  face();
}

function face() {
  const path = $("play").querySelector("path");
  path.setAttribute("d", playing ? "M5 4h4v12H5zM11 4h4v12h-4z" : "M6 4v12l10-6z");
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
}

function showClock() {
  const now = desk.clock;
  if (!now) return;
  $("clock").textContent = clockOf(now, true);
  $("clock").setAttribute("datetime", now);
  $("date").textContent = `${dayOf(now)} UTC`;
  const live = !desk.past;
  $("live").setAttribute("aria-pressed", String(live));
  $("shown").textContent = live ? "now" : clockOf(now, true);
  const slider = $("slider");
  if (since() !== null && document.activeElement !== slider || live) {
    const whole = until() - since();
    slider.value = live ? 1000 : Math.round(((Date.parse(now) - since()) / Math.max(1, whole)) * 1000);
  }
  slider.setAttribute("aria-valuetext", live ? "now" : momentOf(now));
}

/* Above the slider a mark for every alert that began: where to look. */
function drawWhen() {
  const canvas = $("when"), width = canvas.clientWidth, pen = canvas.getContext("2d"), ratio = devicePixelRatio || 1;
  if (!width || !span || since() === null) return;
  canvas.width = width * ratio;
  canvas.height = 26 * ratio;
  pen.scale(ratio, ratio);
  const bins = new Map();
  for (const [time, severity] of span.opened) {
    const x = Math.round((8 + ((time - since()) / Math.max(1, until() - since())) * (width - 16)) / 3) * 3;
    const held = bins.get(x) ?? { count: 0, gravest: "info" };
    held.count += 1;
    if (severity === "critical" || (severity === "warning" && held.gravest === "info")) held.gravest = severity;
    bins.set(x, held);
  }
  pen.globalAlpha = 0.75;
  for (const [x, { count, gravest }] of bins) {
    const tall = Math.min(8, 2 + Math.log2(1 + count) * 2);
    pen.fillStyle = colour(gravest);
    pen.fillRect(x, 9 - tall, 2, tall);
  }
}
