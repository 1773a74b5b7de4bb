// Elements and words. What comes from outside is always text: no function here takes HTML.

export const $ = (id) => document.getElementById(id);

export function el(tag, given = {}, ...children) {
  const made = tag === "svg" || given.svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === false || name === "svg") continue;
    if (name === "text") made.textContent = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") made[name] = value;
    else if (name === "width%") made.style.width = `${value}%`;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const shape = (tag, given, ...children) => el(tag, { ...given, svg: true }, ...children);

const two = (number) => String(number).padStart(2, "0");
const asDate = (value) => (value instanceof Date ? value : new Date(value));

export function clockOf(value, seconds = false) {
  const date = asDate(value);
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}${seconds ? `:${two(date.getUTCSeconds())}` : ""}`;
}

export function dayOf(value) {
  return asDate(value).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
}

export const momentOf = (value) => `${dayOf(value)}, ${clockOf(value, true)} UTC`;

export function spanOf(milliseconds) {
  const minutes = Math.round(milliseconds / 60000);
  if (minutes < 1) return "now";
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${minutes % 60 ? `${minutes % 60} min` : ""}`.trim();
  return `${Math.round(minutes / 1440)} days`;
}

export const titleOf = (pattern) => {
  const words = String(pattern).replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
};

export const number = (value, digits = 0) =>
  value === null || value === undefined || !Number.isFinite(Number(value)) ? "–" : Number(value).toLocaleString("en-GB", { maximumFractionDigits: digits });

export function placeOf(lon, lat) {
  const part = (value, plus, minus) => {
    const size = Math.abs(value), whole = Math.floor(size);
    return `${whole}°${((size - whole) * 60).toFixed(2).padStart(5, "0")}′${value >= 0 ? plus : minus}`;
  };
  return `${part(lat, "N", "S")} ${part(lon, "E", "W")}`;
}

export function distanceM([west, south], [east, north]) {
  const rad = Math.PI / 180;
  const lat = ((north - south) * rad) / 2, lon = ((east - west) * rad) / 2;
  const chord = Math.sin(lat) ** 2 + Math.cos(south * rad) * Math.cos(north * rad) * Math.sin(lon) ** 2;
  return 2 * 6371008.8 * Math.asin(Math.min(1, Math.sqrt(chord)));
}

export const inWords = (alert) => {
  if (alert.probability === null || alert.kind !== "forecast") return "";
  const chance = alert.probability > 0.995 ? "over 99%" : `${Math.round(alert.probability * 100)}%`;
  if (alert.earliest_min === null || alert.latest_min === null) return `expected, ${chance}`;
  const [from, to] = [Math.round(alert.earliest_min), Math.round(alert.latest_min)];
  return `in ${from === to ? from : `${from} to ${to}`} minute${to === 1 ? "" : "s"}, ${chance}`;
};

let hiding = 0;
export function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(hiding);
  hiding = setTimeout(() => { box.hidden = true; }, 5000);
}

export const say = (text) => { $("said").textContent = text; };

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
