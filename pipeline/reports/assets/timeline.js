// Dragging over a timeline chooses a stretch of time; the maps then show what happened in it.
for (const timeline of document.querySelectorAll(".timeline")) {
  const brush = timeline.querySelector(".brush");
  const band = brush.querySelector("i");
  const picked = timeline.parentElement.querySelector(".picked");
  const [from, to] = [Number(timeline.dataset.from), Number(timeline.dataset.to)];
  const usual = picked.textContent;
  const said = (time) => new Date(time * 1000).toISOString().slice(0, 16).replace("T", " ");
  const along = (event) => {
    const box = brush.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
  };
  let began = null;
  const choose = (stretch) => {
    for (const map of maps) map.choose(stretch);
    band.style.display = stretch ? "block" : "none";
    picked.textContent = stretch ? `The map shows ${said(stretch[0])} to ${said(stretch[1])} UTC.` : usual;
    if (!stretch) return;
    const button = Object.assign(document.createElement("button"), {type: "button", className: "plain", textContent: "Show all"});
    button.addEventListener("click", () => choose(null));
    picked.append(" ", button);
  };
  const stretched = (event) => {
    const ends = [began, along(event)].sort((a, b) => a - b);
    band.style.left = `${ends[0] * 100}%`;
    band.style.width = `${(ends[1] - ends[0]) * 100}%`;
    return ends;
  };
  // Bars lie above the brush, so that each can be asked what it counts: both hear the pointer through the timeline.
  timeline.addEventListener("pointerdown", (event) => {
    const box = brush.getBoundingClientRect();
    if (event.clientX < box.left || event.clientX > box.right) return;
    began = along(event);
    timeline.setPointerCapture(event.pointerId);
  });
  timeline.addEventListener("pointermove", (event) => { if (began !== null) { stretched(event); band.style.display = "block"; } });
  timeline.addEventListener("pointerup", (event) => {
    if (began === null) return;
    const [left, right] = stretched(event);
    began = null;
    choose(right - left < 0.004 ? null : [from + left * (to - from), from + right * (to - from)]);
  });
  timeline.addEventListener("pointercancel", () => { began = null; });
}
