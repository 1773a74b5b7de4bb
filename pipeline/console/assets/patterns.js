// Knobs of each pattern with a preview, and a place to write a pattern, try it and put it live.

import { get, may, part, post, session } from "./api.js";
import { $, el, momentOf, number, shape, titleOf, toast } from "./dom.js";

export async function openPatterns() {
  const body = $("patterns-body");
  $("patterns-dialog").showModal();
  body.replaceChildren(el("p", { class: "quiet", text: "Asking…" }));
  try {
    const { patterns } = await get("patterns");
    body.replaceChildren(el("p", { class: "quiet", text: session.can_turn ? "What is turned here goes to the line as a control message; its reply is shown." : "This line takes no control messages: knobs can be looked at, not turned." }), ...patterns.map(row), ...draft());
  } catch (fault) { body.replaceChildren(el("p", { class: "fault", text: fault.message })); }
}

function row(knob) {
  const scores = knob.scores;
  const said = [knob.enabled ? null : "off", knob.open_alerts ? `${knob.open_alerts} open` : null, scores ? `F1 ${number(scores.f1, 2)} · MCC ${number(scores.mcc, 2)}` : null].filter(Boolean).join(" · ");
  return el("details", { class: "pattern", "data-pattern": knob.pattern },
    el("summary", {}, el("b", { text: titleOf(knob.pattern) }), el("span", { class: "quiet", text: said }), el("span", { class: "says", text: knob.says })),
    ...scored(knob), turning(knob));
}

function scored(knob) {
  if (!knob.forecast) return [el("p", { class: "quiet", text: "No model: this pattern is recognised, not forecast." })];
  const facts = [["Model", knob.model_version], ["Trained until", knob.trained_until ? momentOf(knob.trained_until) : null], ["Brier score", knob.scores ? number(knob.scores.brier, 3) : null], ["Settled forecasts", knob.scores ? number(knob.scores.settled) : null]];
  const list = el("dl", { class: "values" }, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value })]));
  return knob.scores?.calibration?.length ? [list, calibration(knob.scores.calibration)] : [list];
}

function calibration(points) {
  const size = 150, at = (value) => 8 + value * (size - 16);
  const dots = points.map((one) => shape("circle", { cx: at(one.said).toFixed(1), cy: (size - at(one.happened)).toFixed(1), r: Math.min(7, 2 + Math.log10(1 + one.forecasts) * 1.4).toFixed(1), fill: "currentColor", opacity: 0.7 }));
  const words = `Calibration: ${points.map((one) => `said ${Math.round(one.said * 100)}%, happened ${Math.round(one.happened * 100)}%`).join("; ")}`;
  return el("figure", { class: "calibration" }, el("svg", { viewBox: `0 0 ${size} ${size}`, width: size, height: size, role: "img", "aria-label": words }, shape("path", { d: `M8 ${size - 8}H${size - 8}M8 ${size - 8}V8`, stroke: "currentColor", opacity: 0.4, fill: "none" }), shape("path", { d: `M8 ${size - 8}L${size - 8} 8`, stroke: "currentColor", opacity: 0.3, "stroke-dasharray": "3 3", fill: "none" }), ...dots),
    el("figcaption", { class: "quiet", text: "Said against happened; on the dashed line it is as likely as said." }));
}

function turning(knob) {
  const field = (label, given) => { const input = el("input", given); return [input, el("label", { text: label }, input)]; };
  const [threshold, thresholdLabel] = field("Threshold", { type: "number", min: 0, max: 1, step: "any", value: knob.threshold === null ? "" : Number(knob.threshold.toFixed(3)), name: "threshold" });
  const [order, orderLabel] = field("Order", { type: "number", min: 0, max: 12, step: 1, value: knob.order ?? "", name: "order" });
  const [horizon, horizonLabel] = field("Horizon (events)", { type: "number", min: 1, step: 1, value: knob.horizon ?? "", name: "horizon" });
  const enabled = el("input", { type: "checkbox", checked: knob.enabled, name: "enabled" });
  const preview = el("p", { class: "preview", role: "status" }), reply = el("p", { role: "status" });
  let timer = 0;
  threshold.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      if (threshold.value === "") return;
      try { preview.textContent = (await get(`patterns/${part(knob.pattern)}/preview`, { threshold: threshold.value })).said; }
      catch (fault) { preview.textContent = fault.message; }
    }, 250);
  });
  const send = el("button", { class: "main", text: "Send to the line" });
  const form = el("form", { onsubmit: async (event) => {
    event.preventDefault();
    const asked = {};
    if (knob.forecast) {
      if (threshold.value !== "" && Math.abs(Number(threshold.value) - (knob.threshold ?? -1)) > 0.0005) asked.threshold = Number(threshold.value);
      if (order.value !== "" && Number(order.value) !== knob.order) asked.order = Number(order.value);
      if (horizon.value !== "" && Number(horizon.value) !== knob.horizon) asked.horizon = Number(horizon.value);
    }
    if (enabled.checked !== knob.enabled) asked.enabled = enabled.checked;
    if (!Object.keys(asked).length) { reply.className = "quiet"; reply.textContent = "Nothing is different."; return; }
    await sent(send, reply, () => post(`patterns/${part(knob.pattern)}/knobs`, asked), () => Object.assign(knob, asked));
  } }, el("div", { class: "knobs" }, ...(knob.forecast ? [thresholdLabel, orderLabel, horizonLabel] : []), el("label", { class: "switch" }, enabled, document.createTextNode("On")), may("admin") && session.can_turn ? send : null), preview, reply);
  return form;
}

async function sent(button, reply, act, fine) {
  button.disabled = true;
  reply.className = "quiet";
  reply.textContent = "Sent; waiting for the line to answer…";
  try {
    const told = await act();
    reply.className = told.accepted === false ? "fault" : "fine";
    reply.textContent = told.accepted === false ? `Refused: ${told.reason}` : told.accepted ? `Accepted by the line${told.batch === undefined ? "" : `, from micro-batch ${told.batch} on`}.` : told.reason;
    if (told.accepted !== false) fine?.();
  } catch (fault) { reply.className = "fault"; reply.textContent = fault.message; }
  button.disabled = false;
}

function draft() {
  if (!may("operator")) return [];
  const text = el("textarea", { class: "draft", id: "draft", spellcheck: "false", "aria-label": "A pattern, rule or query as a catalog file has it" });
  get("example").then((told) => { if (!text.value) text.value = told.text; }, () => {});
  const hours = el("select", { "aria-label": "Over how much of the past" }, ...[["1", "the last hour"], ["6", "the last 6 hours"], ["24", "the last 24 hours"]].map(([value, words]) => el("option", { value, text: words })));
  const said = el("div", { role: "status" });
  const attempt = el("button", { type: "button", class: "line", id: "try", text: "Try it", onclick: async () => {
    attempt.disabled = true;
    said.replaceChildren(el("p", { class: "quiet", text: "Trying…" }));
    try { said.replaceChildren(...found(await post("try", { text: text.value, hours: Number(hours.value) }))); }
    catch (fault) { said.replaceChildren(el("p", { class: "fault", text: fault.message })); }
    attempt.disabled = false;
  } });
  const reply = el("p", { role: "status" });
  const live = el("button", { type: "button", class: "main", text: "Put it live", onclick: () => sent(live, reply, () => post("catalog", { text: text.value }), () => toast("The line looks for it from now on.")) });
  return [el("h3", { text: "Write a pattern" }), el("p", { class: "quiet", text: "It is tried on what this console has kept; nothing is sent to the line until it is put live." }), text,
    el("div", { class: "row" }, attempt, hours, may("admin") && session.can_turn ? live : null), said, reply];
}

function found(told) {
  const facts = `${number(told.matches)} matches of ${number(told.tracks)} tracks, in ${number(told.events)} positions from ${momentOf(told.since)} to ${momentOf(told.until)}.`;
  const names = told.rows.length ? Object.keys(told.rows[0]).filter((name) => ["pattern", "rule", "query", "track", "instance", "start_time", "end_time", "time", "reason", "count"].includes(name)) : [];
  return [el("p", { class: "fine", id: "tried", text: facts }), ...told.notes.map((note) => el("p", { class: "quiet", text: note })),
    names.length ? el("div", { class: "wide" }, el("table", { class: "grid" }, el("thead", {}, el("tr", {}, ...names.map((name) => el("th", { text: name })))), el("tbody", {}, ...told.rows.slice(0, 50).map((one) => el("tr", {}, ...names.map((name) => el("td", { text: one[name] === null ? "" : String(one[name]).replace(/\.000Z?$/, "") }))))))) : null].filter(Boolean);
}
