// Before anything is drawn: the look that was chosen, or that of the machine.
(function () {
  let chosen = null;
  try { chosen = localStorage.getItem("foresail-theme"); } catch { chosen = null; }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
