// Click an event of an explanation: the drawing above it shows the state to which the event led.
(() => {
  const show = (row) => {
    const box = row.closest(".why");
    for (const held of box.querySelectorAll("svg .here")) held.classList.remove("here");
    for (const other of box.querySelectorAll("tr[data-state]")) other.removeAttribute("aria-selected");
    row.setAttribute("aria-selected", "true");
    for (const label of box.querySelectorAll("svg text.number")) {
      if (label.textContent !== row.dataset.state) continue;
      const x = label.getAttribute("x");
      const y = Number(label.getAttribute("y")) - 5;
      for (const circle of box.querySelectorAll("svg circle.state")) {
        if (circle.getAttribute("cx") === x && Math.abs(Number(circle.getAttribute("cy")) - y) < 0.2)
          circle.classList.add("here");
      }
    }
  };
  for (const row of document.querySelectorAll(".why tr[data-state]")) {
    row.addEventListener("click", () => show(row));
    row.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        show(row);
      }
    });
  }
})();
