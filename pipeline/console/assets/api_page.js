// The OpenAPI description as a page: what can be asked, with what, and what comes back.

import { get } from "./api.js";
import { $, el } from "./dom.js";

const kindOf = (schema) => schema?.$ref?.split("/").pop() ?? schema?.type ?? schema?.anyOf?.map(kindOf).filter((kind) => kind !== "null").join(" or ") ?? "";

function operation(path, verb, told, schemas) {
  const rows = (told.parameters ?? []).map((one) => el("tr", {}, el("td", {}, el("code", { text: one.name })), el("td", { text: one.in }), el("td", { text: kindOf(one.schema) + (one.required ? "" : ", optional") }), el("td", { text: one.description ?? "" })));
  const body = kindOf(told.requestBody?.content?.["application/json"]?.schema);
  return el("details", {}, el("summary", {}, el("span", { class: `verb ${verb}`, text: verb.toUpperCase() }), el("span", { class: "path", text: path })),
    el("p", { text: told.description ?? "" }),
    rows.length ? el("table", { class: "grid" }, el("tbody", {}, ...rows)) : null,
    body ? el("pre", { tabindex: 0, text: JSON.stringify(schemas[body], null, 1) }) : null,
    el("p", { class: "quiet", text: `Answers: ${Object.entries(told.responses).map(([status, one]) => `${status} ${one.description}`).join("  ")}` }));
}

get("openapi.json").then((told) => {
  $("about").textContent = told.info.description;
  const groups = new Map();
  for (const [path, verbs] of Object.entries(told.paths)) for (const [verb, one] of Object.entries(verbs)) {
    const group = one.tags?.[0] ?? "other";
    groups.set(group, [...(groups.get(group) ?? []), operation(path, verb, one, told.components?.schemas ?? {})]);
  }
  $("paths").replaceChildren(...[...groups].flatMap(([name, parts]) => [el("h2", { text: name }), ...parts]));
  document.body.dataset.ready = "yes";
}, (fault) => { $("about").textContent = fault.message; });
