/* Back to a list that the browser did not keep: older entries are read again, down to where the reader was. */
"use strict";

(() => {
  const MOST_PAGES = 20, SETTLED_MS = 150, BELOW_HEADER_PX = 60;
  const older = () => document.querySelector(".timeline > .older");
  if (!older()) return;
  const entries = () => [...document.querySelectorAll(".timeline > .entry")];
  const isBelow = (id, other) => id.length < other.length || (id.length === other.length && id < other);

  /* Only the id of an entry is stored, in the entry of the browser's history. */
  const { place } = history.state || {};
  let settling;
  const remember = () => {
    const top = entries().find((one) => one.getBoundingClientRect().bottom > BELOW_HEADER_PX);
    if (!top) return;
    const seen = { id: top.dataset.id, top: Math.round(top.getBoundingClientRect().top) };
    history.replaceState({ ...history.state, place: seen }, "");
  };
  addEventListener("scroll", () => { clearTimeout(settling); settling = setTimeout(remember, SETTLED_MS); }, { passive: true });
  document.addEventListener("click", remember, { capture: true });

  const isBack = performance.getEntriesByType("navigation")[0]?.type === "back_forward";
  if (!isBack || !place) return;
  history.scrollRestoration = "manual";

  /* False: there are no older ones, or they cannot be read. */
  const readOlder = async () => {
    const link = older();
    const answer = link && await fetch(link.href, { headers: { "HX-Request": "true" } });
    if (!answer?.ok || answer.headers.has("HX-Redirect")) return false;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const parts = [...page.querySelectorAll("#timeline > *")];
    link.replaceWith(...parts);
    for (const part of parts) htmx.process(part);
    return true;
  };
  const goBack = async () => {
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const found = entries().find((one) => one.dataset.id === place.id);
      if (found) scrollBy(0, found.getBoundingClientRect().top - place.top);
      const last = entries().at(-1)?.dataset.id;
      if (found || !last || isBelow(last, place.id) || !await readOlder()) return;
    }
  };
  goBack().catch(() => {});
})();
