// Small conveniences: lists and map refer to each other, and printing shows what is folded away.
const unfold = () => {
  const aim = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let fold = aim && aim.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (aim) aim.scrollIntoView();
};
addEventListener("hashchange", unfold);
unfold();
for (const button of document.querySelectorAll("[data-show]")) {
  button.addEventListener("click", () => maps.some((map) => map.show(button.dataset.show)));
}
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("details.pattern")) fold.open = true;
});
document.documentElement.dataset.ready = "yes";
