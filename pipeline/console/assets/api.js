// The HTTP API, and nothing else that the page would talk to.

export const session = { csrf: null, user: null, role: null };

export class Refused extends Error {
  constructor(status, detail) { super(detail); this.status = status; }
}

async function answered(response) {
  if (response.ok) return response.json();
  let detail = response.statusText;
  try {
    const body = await response.json();
    detail = typeof body.detail === "string" ? body.detail : body.detail.map((fault) => `${fault.loc.slice(1).join(".")}: ${fault.msg}`).join("; ");
  } catch { /* the status says enough */ }
  if (response.status === 401) document.dispatchEvent(new CustomEvent("loggedout"));
  throw new Refused(response.status, detail || `HTTP ${response.status}`);
}

export function get(path, asked = {}) {
  const given = Object.entries(asked).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return fetch(`/api/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`).then(answered);
}

export function post(path, body) {
  const headers = { "content-type": "application/json", "x-csrf-token": session.csrf ?? "" };
  return fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }).then(answered);
}

export async function know() {
  Object.assign(session, await get("session"));
  return session;
}

const RANK = { viewer: 1, operator: 2, admin: 3 };
export const may = (role) => (RANK[session.role] ?? 0) >= RANK[role];

export const part = (text) => encodeURIComponent(text);
