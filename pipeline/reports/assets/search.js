// Looking for a vessel: the map shows it alone, and the lists of vessels and matches leave out all others.
for (const box of document.querySelectorAll("[data-search]")) {
  const told = box.closest(".search").querySelector("[data-told]");
  const named = [...document.querySelectorAll("[data-track]")];
  const seek = () => {
    const text = box.value.trim().toLowerCase();
    let [vessels, matches] = [0, 0];
    for (const held of named) {
      held.hidden = Boolean(text) && !held.dataset.track.toLowerCase().includes(text);
      if (held.hidden) continue;
      if (held.matches("tr")) vessels += 1; else matches += 1;
    }
    const drawn = maps.reduce((most, map) => Math.max(most, map.seek(text)), 0);
    const said = (number, one, many) => `${number} ${number === 1 ? one : many}`;
    told.textContent = text ? `${said(drawn, "track", "tracks")} on the map, ${said(vessels, "track", "tracks")} with matches, ${said(matches, "match", "matches")} listed below.` : "";
  };
  box.addEventListener("input", seek);
  const asked = new URLSearchParams(location.search).get("find"); // a link can look for a vessel
  if (asked) { box.value = asked; seek(); }
  for (const button of document.querySelectorAll("[data-seek]")) {
    button.addEventListener("click", () => { box.value = button.dataset.seek; seek(); box.scrollIntoView({block: "center"}); });
  }
}
