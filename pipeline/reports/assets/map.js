"use strict";
// The map of a report: layers, tracks and marks on a canvas, in Mercator's projection. It fetches nothing.
class FleetMap {
  constructor(root) {
    this.root = root;
    this.area = root.querySelector(".chart-area");
    this.canvas = root.querySelector("canvas");
    this.pen = this.canvas.getContext("2d");
    this.data = JSON.parse(document.getElementById(root.dataset.map).textContent);
    this.hidden = new Set();
    this.chosen = null;
    this.sought = null;
    this.pinned = null;
    this.project();
    this.tip = this.area.appendChild(document.createElement("div"));
    this.tip.className = "tip";
    this.tip.hidden = true;
    this.listen();
    this.fit(this.data.bounds);
    new ResizeObserver(() => this.resize()).observe(this.area);
    this.resize();
  }

  static place(lon, lat) {
    const held = Math.max(-85, Math.min(85, lat)) * Math.PI / 180;
    return [lon * Math.PI / 180, -Math.log(Math.tan(Math.PI / 4 + held / 2))];
  }

  static degrees(x, y) {
    return [x * 180 / Math.PI, (2 * Math.atan(Math.exp(-y)) - Math.PI / 2) * 180 / Math.PI];
  }

  project() {
    const flat = (ring, stride) => {
      const placed = new Float64Array(ring.length / stride * 2);
      for (let n = 0; n < ring.length / stride; n++) placed.set(FleetMap.place(ring[n * stride], ring[n * stride + 1]), 2 * n);
      return placed;
    };
    this.data.land = this.data.land.map((rings) => rings.map((ring) => flat(ring, 2)));
    for (const layer of this.data.layers) for (const shape of layer.shapes) shape.rings = shape.rings.map((ring) => flat(ring, 2));
    for (const line of this.data.tracks) {
      line.times = line.parts.map((part) => part.filter((_, n) => n % 3 === 2));
      line.parts = line.parts.map((part) => flat(part, 3));
    }
    for (const group of this.data.groups) for (const mark of group.marks) [mark.x, mark.y] = FleetMap.place(mark.lon, mark.lat);
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.area;
    if (!width) return;
    const first = !this.width;
    const ratio = window.devicePixelRatio || 1;
    [this.width, this.height, this.ratio] = [width, height, ratio];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    if (first) this.fit(this.data.bounds);
    this.paint(); // at once: a canvas that was given a size is empty
  }

  fit([west, south, east, north]) {
    const [left, bottom] = FleetMap.place(west, south);
    const [right, top] = FleetMap.place(east, north);
    const [width, height] = [this.width || 900, this.height || 600];
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
    this.scale = Math.min((width - 60) / Math.max(right - left, 1e-5), (height - 60) / Math.max(bottom - top, 1e-5));
    this.draw();
  }

  look(lon, lat) {
    [this.x, this.y] = FleetMap.place(lon, lat);
    this.scale = Math.max(this.scale, 180000);
    this.draw();
  }

  screen(x, y) {
    return [(x - this.x) * this.scale + this.width / 2, (y - this.y) * this.scale + this.height / 2];
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const scale = Math.max(60, Math.min(5e7, this.scale * factor));
    this.x += (px - this.width / 2) * (1 / this.scale - 1 / scale);
    this.y += (py - this.height / 2) * (1 / this.scale - 1 / scale);
    this.scale = scale;
    this.unpin();
    this.draw();
  }

  draw() {
    if (!this.width || this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.paint(); });
  }

  paint() {
    const style = getComputedStyle(document.documentElement);
    this.colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const pen = this.pen;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = this.colour("sea");
    pen.fillRect(0, 0, this.width, this.height);
    pen.lineJoin = "round";
    this.boxes = [];
    if (!this.hidden.has("land")) this.land();
    this.graticule();
    for (const layer of this.data.layers) if (!this.hidden.has(layer.key)) this.layer(layer);
    if (!this.hidden.has("tracks")) this.tracks();
    let drawn = 0;
    for (const group of this.data.groups) if (!this.hidden.has(group.key)) drawn += this.marks(group);
    for (const layer of this.data.layers) if (!this.hidden.has(layer.key)) this.names(layer);
    this.ruler();
    this.canvas.dataset.marks = drawn;
  }

  graticule() {
    const [west, north] = FleetMap.degrees(this.x - this.width / 2 / this.scale, this.y - this.height / 2 / this.scale);
    const [east, south] = FleetMap.degrees(this.x + this.width / 2 / this.scale, this.y + this.height / 2 / this.scale);
    const wanted = (east - west) / Math.max(3, this.width / 170);
    const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].find((size) => size >= wanted) || 45;
    const digits = step < 0.1 ? 2 : step < 1 ? 1 : 0;
    const pen = this.pen;
    pen.strokeStyle = this.colour("grid");
    pen.fillStyle = this.colour("quiet");
    pen.lineWidth = 1;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.beginPath();
    for (let lon = Math.ceil(west / step) * step; lon < east; lon += step) {
      const [x] = this.screen(...FleetMap.place(lon, 0));
      pen.moveTo(x, 0); pen.lineTo(x, this.height);
      const shown = ((lon + 540) % 360) - 180;
      if (x > 40 && x < this.width - 60) pen.fillText(`${Math.abs(shown).toFixed(digits)}°${shown < -1e-9 ? "W" : "E"}`, x + 4, 13);
    }
    for (let lat = Math.ceil(south / step) * step; lat < north; lat += step) {
      const [, y] = this.screen(...FleetMap.place(0, lat));
      pen.moveTo(0, y); pen.lineTo(this.width, y);
      if (y > 26 && y < this.height - 30) pen.fillText(`${Math.abs(lat).toFixed(digits)}°${lat < -1e-9 ? "S" : "N"}`, 5, y - 4);
    }
    pen.stroke();
  }

  trace(ring, close) {
    for (let n = 0; n < ring.length; n += 2) {
      const [x, y] = this.screen(ring[n], ring[n + 1]);
      if (n) this.pen.lineTo(x, y); else this.pen.moveTo(x, y);
    }
    if (close) this.pen.closePath();
  }

  land() {
    const pen = this.pen;
    pen.fillStyle = this.colour("land");
    for (const rings of this.data.land) {
      pen.beginPath();
      for (const ring of rings) this.trace(ring, true);
      pen.fill("evenodd");
    }
  }

  layer(layer) {
    const pen = this.pen;
    for (const shape of layer.shapes) {
      if (shape.kind === "point") continue;
      pen.beginPath();
      for (const ring of shape.rings) this.trace(ring, shape.kind === "polygon");
      pen.lineWidth = shape.kind === "polygon" ? 1.1 : 1.5;
      pen.strokeStyle = shape.kind === "polygon" ? this.colour(`zone-${layer.tint}`) : this.colour("coast");
      if (shape.kind === "polygon") {
        pen.fillStyle = pen.strokeStyle;
        pen.globalAlpha = 0.11;
        pen.fill("evenodd");
        pen.globalAlpha = 0.75;
      }
      pen.stroke();
      pen.globalAlpha = 1;
    }
    pen.strokeStyle = this.colour("port");
    pen.fillStyle = this.colour("ground");
    pen.lineWidth = 1.4;
    for (const shape of layer.shapes) {
      if (shape.kind !== "point") continue;
      const [x, y] = this.screen(shape.rings[0][0], shape.rings[0][1]);
      if (!this.visible(x, y)) continue;
      pen.beginPath();
      pen.arc(x, y, 2.8, 0, 7);
      pen.fill();
      pen.stroke();
    }
  }

  names(layer) {
    const pen = this.pen;
    pen.font = "11px system-ui, sans-serif";
    for (const shape of layer.shapes) {
      if (!shape.name || shape.kind === "line") continue;
      const ring = shape.rings[0];
      let [x, y, room] = [0, 0, 110];
      if (shape.kind === "point") {
        [x, y] = this.screen(ring[0], ring[1]);
        x += 7; y += 4;
      } else {
        const [left, right, top, bottom] = this.extent(ring);
        room = right - left;
        [x, y] = [(left + right) / 2, (top + bottom) / 2 + 4];
      }
      const width = pen.measureText(shape.name).width;
      if (shape.kind === "polygon") x -= width / 2;
      if (!this.visible(x, y) || (shape.kind === "polygon" && width > room)) continue;
      const box = [x - 2, y - 12, x + width + 2, y + 3];
      if (this.boxes.some((other) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1])) continue;
      this.boxes.push(box);
      pen.textAlign = "left";
      pen.lineWidth = 3;
      pen.strokeStyle = this.colour("sea");
      pen.strokeText(shape.name, x, y);
      pen.fillStyle = this.colour(shape.kind === "polygon" ? "quiet" : "port");
      pen.fillText(shape.name, x, y);
    }
  }

  extent(ring) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let n = 0; n < ring.length; n += 2) {
      const [x, y] = this.screen(ring[n], ring[n + 1]);
      left = Math.min(left, x); right = Math.max(right, x);
      top = Math.min(top, y); bottom = Math.max(bottom, y);
    }
    return [left, right, top, bottom];
  }

  tracks() {
    const pen = this.pen;
    for (const line of this.data.tracks) {
      const lit = line === this.near || (this.sought !== null && this.named(line));
      pen.strokeStyle = this.colour(lit ? "track-lit" : "track");
      pen.lineWidth = lit ? 2.2 : 1.3;
      pen.globalAlpha = lit ? 1 : this.chosen || this.sought !== null ? 0.3 : 0.85;
      pen.beginPath();
      for (const part of line.parts) {
        if (part.length === 2) this.dot(...this.screen(part[0], part[1])); // heard once: no line to draw
        else this.trace(part, false);
      }
      pen.stroke();
    }
    if (this.chosen) this.stretch();
    pen.globalAlpha = 1;
  }

  dot(x, y) {
    this.pen.moveTo(x + 1, y);
    this.pen.arc(x, y, 1, 0, 7);
  }

  stretch() {
    const [from, to] = this.chosen;
    const pen = this.pen;
    pen.globalAlpha = 1;
    pen.strokeStyle = this.colour("track-lit");
    pen.lineWidth = 1.7;
    pen.beginPath();
    for (const line of this.data.tracks) {
      if (this.sought !== null && !this.named(line)) continue;
      line.parts.forEach((part, p) => {
        const times = line.times[p];
        for (let n = 1; n < times.length; n++) {
          if (times[n] < from || times[n - 1] > to) continue;
          pen.moveTo(...this.screen(part[2 * n - 2], part[2 * n - 1]));
          pen.lineTo(...this.screen(part[2 * n], part[2 * n + 1]));
        }
      });
    }
    pen.stroke();
  }

  counts(mark) {
    if (this.sought !== null && !this.named(mark)) return false;
    return !this.chosen || (mark.until >= this.chosen[0] && mark.time <= this.chosen[1]);
  }

  named(held) {
    held.words ??= (held.track ?? [held.name, ...held.lines].join("\n")).toLowerCase();
    return held.words.includes(this.sought);
  }

  seek(text) {
    this.sought = text ? text.toLowerCase() : null;
    this.unpin();
    const found = this.sought === null ? [] : this.data.tracks.filter((line) => this.named(line));
    if (found.length) this.fit(this.around(found));
    else this.draw();
    return found.length;
  }

  around(lines) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const line of lines) for (const part of line.parts) for (let n = 0; n < part.length; n += 2) {
      left = Math.min(left, part[n]); right = Math.max(right, part[n]);
      top = Math.min(top, part[n + 1]); bottom = Math.max(bottom, part[n + 1]);
    }
    const [west, north] = FleetMap.degrees(left, top);
    const [east, south] = FleetMap.degrees(right, bottom);
    return [west - 0.005, south - 0.005, east + 0.005, north + 0.005];
  }

  marks(group) {
    const pen = this.pen;
    let drawn = 0;
    for (const mark of group.marks) {
      if (!this.counts(mark)) continue;
      drawn += 1;
      const [x, y] = this.screen(mark.x, mark.y);
      if (!this.visible(x, y)) continue;
      const size = mark === this.pinned ? 8 : mark.weight === null ? 4.6 : 2.5 + 5 * mark.weight;
      this.figure(group.shape, x, y, size);
      if (group.open) {
        pen.strokeStyle = this.colour(`hue-${group.hue}`);
        pen.globalAlpha = mark.weight === null ? 1 : 0.35 + 0.65 * mark.weight;
        pen.lineWidth = 1.7;
        pen.stroke();
        pen.globalAlpha = 1;
      } else {
        pen.fillStyle = this.colour(`hue-${group.hue}`);
        pen.fill();
        pen.strokeStyle = this.colour("ground");
        pen.lineWidth = 1;
        pen.stroke();
      }
    }
    return drawn;
  }

  figure(shape, x, y, r) {
    const pen = this.pen;
    const corners = {
      square: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
      triangle: [[0, -1.1], [1.1, 0.85], [-1.1, 0.85]],
      diamond: [[0, -1.2], [1.2, 0], [0, 1.2], [-1.2, 0]],
      cross: [[-0.36, -1.1], [0.36, -1.1], [0.36, -0.36], [1.1, -0.36], [1.1, 0.36], [0.36, 0.36], [0.36, 1.1], [-0.36, 1.1], [-0.36, 0.36], [-1.1, 0.36], [-1.1, -0.36], [-0.36, -0.36]],
    }[shape];
    pen.beginPath();
    if (!corners) pen.arc(x, y, r, 0, 7);
    else corners.forEach(([dx, dy], n) => (n ? pen.lineTo(x + dx * r, y + dy * r) : pen.moveTo(x + dx * r, y + dy * r)));
    pen.closePath();
  }

  visible(x, y) {
    return x > -20 && y > -20 && x < this.width + 20 && y < this.height + 20;
  }

  ruler() {
    const [, lat] = FleetMap.degrees(this.x, this.y);
    const metre = this.scale / 6371008 / Math.cos(lat * Math.PI / 180);
    const sizes = [1, 2, 5].flatMap((n) => [n * 100, n * 1000, n * 10000, n * 100000, n * 1e6]).sort((a, b) => a - b);
    const length = sizes.findLast((size) => size * metre < 130) || 100;
    const pen = this.pen;
    const [x, y, end] = [12, this.height - 14, 12 + length * metre];
    pen.strokeStyle = pen.fillStyle = this.colour("ink");
    pen.lineWidth = 1.3;
    pen.beginPath();
    pen.moveTo(x, y - 5); pen.lineTo(x, y); pen.lineTo(end, y); pen.lineTo(end, y - 5);
    pen.stroke();
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(length < 1000 ? `${length} m` : `${length / 1000} km`, end + 6, y + 1);
  }

  listen() {
    const canvas = this.canvas;
    const fingers = new Map();
    let moved = 0;
    const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    canvas.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, at(event)); moved = 0; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointermove", (event) => {
      const here = at(event);
      const before = fingers.get(event.pointerId);
      if (!before) { this.hover(...here); return; }
      const other = [...fingers].find(([id]) => id !== event.pointerId);
      if (other) {
        const apart = (place) => Math.hypot(place[0] - other[1][0], place[1] - other[1][1]);
        this.zoom(apart(here) / Math.max(1, apart(before)), (here[0] + other[1][0]) / 2, (here[1] + other[1][1]) / 2);
      } else {
        this.x -= (here[0] - before[0]) / this.scale;
        this.y -= (here[1] - before[1]) / this.scale;
        moved += Math.hypot(here[0] - before[0], here[1] - before[1]);
        if (moved > 4) { canvas.classList.add("dragging"); this.unpin(); }
        this.draw();
      }
      fingers.set(event.pointerId, here);
    });
    const lift = (event) => {
      if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved <= 4) this.pin(...at(event));
      canvas.classList.remove("dragging");
    };
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, lift);
    canvas.addEventListener("pointerleave", () => { if (!this.pinned) this.tip.hidden = true; });
    canvas.addEventListener("dblclick", (event) => this.zoom(2, ...at(event)));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0022)), ...at(event));
    }, {passive: false});
    canvas.addEventListener("keydown", (event) => {
      const steps = {ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -60], ArrowDown: [0, 60]}[event.key];
      if (steps) { this.x += steps[0] / this.scale; this.y += steps[1] / this.scale; this.unpin(); this.draw(); }
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "0") this.fit(this.data.bounds);
      else if (event.key === "Escape") { this.unpin(); canvas.blur(); }
      else return;
      event.preventDefault();
    });
    const acts = {in: () => this.zoom(1.7), out: () => this.zoom(1 / 1.7), all: () => { this.unpin(); this.fit(this.data.bounds); }};
    for (const button of this.root.querySelectorAll("[data-zoom]")) button.addEventListener("click", acts[button.dataset.zoom]);
    for (const box of this.root.querySelectorAll("[data-toggle]")) {
      box.addEventListener("change", () => { this.hidden[box.checked ? "delete" : "add"](box.dataset.toggle); this.unpin(); this.draw(); });
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
    for (const name of ["beforeprint", "afterprint"]) addEventListener(name, () => { this.resize(); this.paint(); });
  }

  nearest(px, py) {
    let [best, least] = [null, 12];
    for (const group of this.data.groups) {
      if (this.hidden.has(group.key)) continue;
      for (const mark of group.marks) {
        if (!this.counts(mark)) continue;
        const [x, y] = this.screen(mark.x, mark.y);
        const apart = Math.hypot(x - px, y - py);
        if (apart < least) [best, least] = [{mark, group}, apart];
      }
    }
    return best;
  }

  line(px, py) {
    let [best, least] = [null, 7];
    if (this.hidden.has("tracks")) return best;
    for (const line of this.data.tracks) for (const part of line.parts) for (let n = 2; n < part.length; n += 2) {
      const [ax, ay] = this.screen(part[n - 2], part[n - 1]);
      const [bx, by] = this.screen(part[n], part[n + 1]);
      const length = (bx - ax) ** 2 + (by - ay) ** 2;
      const along = length ? Math.max(0, Math.min(1, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length)) : 0;
      const apart = Math.hypot(ax + along * (bx - ax) - px, ay + along * (by - ay) - py);
      if (apart < least) [best, least] = [line, apart];
    }
    return best;
  }

  hover(px, py) {
    if (this.pinned) return;
    const found = this.nearest(px, py);
    const line = found ? null : this.line(px, py);
    if (line !== this.near) { this.near = line; this.draw(); }
    this.canvas.style.cursor = found ? "pointer" : "";
    if (found) this.tell(found.group.label, found.mark.lines, ...this.screen(found.mark.x, found.mark.y));
    else if (line) this.tell(line.name, line.lines, px, py);
    else this.tip.hidden = true;
  }

  pin(px, py) {
    this.unpin();
    const found = this.nearest(px, py);
    if (found) this.hold(found.group, found.mark);
  }

  hold(group, mark) {
    this.pinned = mark;
    this.tell(group.label, mark.lines, ...this.screen(mark.x, mark.y), mark.ref);
    this.tip.classList.add("pinned");
    this.draw();
  }

  unpin() {
    this.pinned = null;
    this.tip.hidden = true;
    this.tip.classList.remove("pinned");
  }

  tell(title, lines, x, y, ref) {
    const part = (name, text) => Object.assign(document.createElement(name), {textContent: text});
    this.tip.replaceChildren(part("b", title), ...lines.map((line) => part("span", line)));
    if (ref && document.getElementById(ref)) this.tip.append(Object.assign(part("a", "see its events"), {href: `#${ref}`}));
    this.tip.hidden = false;
    const {offsetWidth: width, offsetHeight: height} = this.tip;
    this.tip.style.left = `${Math.max(4, Math.min(this.width - width - 4, x + 14))}px`;
    this.tip.style.top = `${Math.max(4, Math.min(this.height - height - 4, y - height / 2))}px`;
  }

  choose(stretch) {
    this.chosen = stretch;
    this.unpin();
    this.draw();
  }

  show(ref) {
    for (const group of this.data.groups) for (const mark of group.marks) {
      if (mark.ref !== ref) continue;
      this.hidden.delete(group.key);
      const box = this.root.querySelector(`[data-toggle="${CSS.escape(group.key)}"]`);
      if (box) box.checked = true;
      this.look(mark.lon, mark.lat);
      this.hold(group, mark);
      this.root.scrollIntoView({block: "center"});
      return true;
    }
    return false;
  }
}
const maps = [...document.querySelectorAll("[data-map]")].map((root) => new FleetMap(root));
