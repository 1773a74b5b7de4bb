// How the line and the console do.

import { get, may } from "./api.js";
import { $, el, momentOf, number, titleOf } from "./dom.js";

let timer = 0;

export function openHealth() {
  $("health-dialog").showModal();
  ask();
  timer = setInterval(ask, 3000);
  $("health-dialog").addEventListener("close", () => clearInterval(timer), { once: true });
}

async function ask() {
  const body = $("health-body");
  try {
    const told = await get("health");
    const log = may("admin") ? (await get("audit", { limit: 30 })).audit : [];
    const scrolled = body.scrollTop;
    body.replaceChildren(...page(told, log));
    body.scrollTop = scrolled;
  } catch (fault) { body.replaceChildren(el("p", { class: "fault", text: fault.message })); }
}

const figures = (rows) => el("dl", { class: "figures" }, ...rows.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }))));

const table = (heads, rows) => el("div", { class: "wide" }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, ...heads.map((head) => el("th", { text: head })))), el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((cell) => el("td", { text: cell === null || cell === undefined ? "–" : cell, dir: "auto" })))))));

function page(told, log) {
  const { console: own, feed, line } = told, parts = [];
  parts.push(el("p", { text: `${feed.source}: ${feed.state}${feed.said ? `. ${feed.said}` : ""}${feed.silent_s === null ? "" : `; last row ${number(feed.silent_s)} s ago`}`, class: feed.state === "reading" ? "fine" : "fault" }));
  if (feed.missing.length) parts.push(el("p", { class: "quiet", text: `Not there yet: ${feed.missing.join(", ")}.` }));
  if (told.database !== "answers") parts.push(el("p", { class: "fault", text: told.database }));
  parts.push(figures([["Tracks", number(own.tracks)], ["Open alerts", number(own.open_alerts)], ["Positions kept", number(own.positions_kept)], ["Browsers", number(own.browsers)], ["Memory of the console", `${number(own.memory_mb)} MB`], ["Running", `${number(own.running_s / 60)} min`]]));
  parts.push(el("h3", { text: "The line" }));
  if (line === null) parts.push(el("p", { class: "quiet", text: "It serves no metrics: set stream.metrics_port." }));
  else if (line.fault) parts.push(el("p", { class: "fault", text: line.fault }));
  else {
    const plain = Object.entries(line.figures).filter(([name, value]) => typeof value === "number" && !/^(python|process)_|_created$/.test(name));
    parts.push(figures(plain.map(([name, value]) => [titleOf(name.replace(/_total$/, "")), number(value, 3)])));
    const split = Object.entries(line.figures).filter(([name, value]) => typeof value === "object" && !/^(python|process)_|_created$|_bucket$/.test(name));
    if (split.length) parts.push(table(["figure", "of", "value"], split.flatMap(([name, by]) => Object.entries(by).slice(0, 30).map(([label, value]) => [titleOf(name.replace(/_total$/, "")), label, number(value, 3)]))));
  }
  if (told.models.length) parts.push(el("h3", { text: "Models" }), table(["pattern", "version", "order", "trained until", "events"], told.models.map((model) => [titleOf(model.pattern), model.model_version, model.order, model.trained_until ? momentOf(model.trained_until) : null, model.trained_events === null || model.trained_events === undefined ? null : number(model.trained_events)])));
  if (own.clocks_ahead.length) parts.push(el("h3", { text: "Clocks ahead of all others" }), table(["track", "time"], own.clocks_ahead.map((one) => [one.track, one.time])));
  if (own.rejected_examples.length) parts.push(el("h3", { text: "Rejected by the line" }), table(["reason", "message"], own.rejected_examples.map((one) => [one.reason, one.raw])));
  if (own.unreadable.length) parts.push(el("h3", { text: "Rows that the console could not read" }), table(["topic", "reason", "rows"], own.unreadable.map((one) => [one.topic, one.reason, number(one.rows)])));
  if (log.length) parts.push(el("h3", { text: "Audit log" }), table(["when", "who", "did", "what"], log.map((one) => [momentOf(one.at), one.who, one.action, one.detail === "{}" ? "" : one.detail])));
  return parts;
}
