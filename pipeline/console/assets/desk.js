// What the page knows: tracks and alerts, now or at a time of the past, and what is chosen. Others listen for changes.

export const FIELDS = { track: 0, time: 1, lon: 2, lat: 3, speed: 4, course: 5, heading: 6, state: 7, name: 8, kind: 9, mmsi: 10 };
const GRAVITY = { critical: 3, warning: 2, info: 1 };

class Desk extends EventTarget {
  constructor() {
    super();
    this.live = { tracks: new Map(), alerts: new Map(), clock: null };
    this.past = null;
    this.filters = { pattern: "", severity: "", zone: "", kind: "", show: "todo" };
    this.track = null;
    this.alert = null;
    this.following = false;
    this.status = { state: "connecting" };
  }

  get shown() { return this.past ?? this.live; }
  get clock() { return this.shown.clock; }

  tell(name) { this.dispatchEvent(new Event(name)); }
  on(names, heard) { for (const name of names.split(" ")) this.addEventListener(name, heard); }

  fill(tracks, alerts, clock) {
    this.live.tracks = new Map(tracks.map((row) => [row[0], row]));
    this.live.alerts = new Map(alerts.map((alert) => [alert.alert_id, alert]));
    this.live.clock = clock;
    if (!this.past) { this.tell("tracks"); this.tell("alerts"); }
    this.tell("clock");
  }

  update(tracks, alerts, clock) {
    for (const row of tracks) this.live.tracks.set(row[0], row);
    const fresh = [];
    for (const alert of alerts) {
      if (!this.live.alerts.has(alert.alert_id) && alert.status !== "closed") fresh.push(alert);
      this.live.alerts.set(alert.alert_id, alert);
    }
    if (clock) this.live.clock = clock;
    if (!this.past) {
      if (tracks.length) this.tell("tracks");
      if (alerts.length) this.tell("alerts");
    }
    this.tell("clock");
    if (fresh.length) this.dispatchEvent(new CustomEvent("fresh", { detail: fresh }));
  }

  goTo(past) {
    this.past = past;
    for (const name of ["tracks", "alerts", "clock", "mode"]) this.tell(name);
  }

  take(alert) {
    this.live.alerts.set(alert.alert_id, { ...this.live.alerts.get(alert.alert_id), ...alert });
    this.tell("alerts");
  }

  wanted(alert) {
    const { pattern, severity, zone, kind, show } = this.filters;
    if (pattern && alert.pattern !== pattern) return false;
    if (severity && alert.severity !== severity) return false;
    if (zone && alert.zone !== zone) return false;
    if (kind && alert.vessel !== kind) return false;
    if (show === "all" || this.past) return true;
    if (alert.status === "closed") return false;
    return show === "open" || !(alert.acknowledged_by || alert.muted || (alert.snoozed_until && Date.parse(alert.snoozed_until) > Date.now()));
  }

  sorted() {
    const rows = [...this.shown.alerts.values()].filter((alert) => this.wanted(alert));
    const rank = (alert) => (alert.status === "closed" ? 0 : 10) + (GRAVITY[alert.severity] ?? 0);
    return rows.sort((a, b) => rank(b) - rank(a) || Date.parse(b.time) - Date.parse(a.time) || (a.alert_id < b.alert_id ? -1 : 1));
  }

  /* Filters of kind also hold for the map; with one of the others set, tracks without such an alert are left out. */
  onMap() {
    const { pattern, severity, zone, kind } = this.filters;
    if (!(pattern || severity || zone || kind)) return null;
    if (!(pattern || severity || zone)) return (row) => row[FIELDS.kind] === kind;
    const tracks = new Set();
    for (const alert of this.shown.alerts.values()) {
      if (alert.status === "closed" || !this.wanted(alert)) continue;
      for (const track of (alert.track ?? "").split("|")) tracks.add(track);
    }
    return (row) => tracks.has(row[0]) && (!kind || row[FIELDS.kind] === kind);
  }
}

export const desk = new Desk();
