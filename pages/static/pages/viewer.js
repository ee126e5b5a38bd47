/* Photos of a post above the page: a strip that one swipes, with the description below. */

const LABELS = { photos: gettext("Photos"), all: gettext("Photos of this post"), before: gettext("Previous"), next: gettext("Next") };
const dialog = document.createElement("dialog");
dialog.className = "viewer";
dialog.innerHTML = `<div class="strip" tabindex="0" role="group" aria-label="${LABELS.photos}"></div>
  <p class="described" dir="auto" aria-hidden="true"></p>
  <nav aria-label="${LABELS.all}"><button type="button" class="quiet" data-step="-1" aria-label="${LABELS.before}">‹</button>
  <small role="status"></small><button type="button" class="quiet" data-step="1" aria-label="${LABELS.next}">›</button>
  <button type="button" class="close" data-step="0" aria-label="${gettext("Close")}" title="${gettext("Close")}">×</button></nav>`;
document.body.append(dialog);
const strip = dialog.querySelector(".strip"), description = dialog.querySelector(".described");
const status = dialog.querySelector("small"), steps = dialog.querySelectorAll("[data-step='1'], [data-step='-1']");
let opener = null, at = 0;

const slideFor = (link) => {
  const photo = new Image(), small = link.querySelector("img:not(.blur)");
  photo.alt = small.alt;
  photo.src = link.dataset.full;
  /* The small photo is there already, and is shown until the large one is. */
  photo.width = small.naturalWidth || small.width;
  photo.height = small.naturalHeight || small.height;
  const slide = document.createElement("div");
  slide.append(photo);
  return slide;
};
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/* The photo that is in the middle is the one that is described. */
const describe = () => {
  at = Math.round(strip.scrollLeft / (strip.clientWidth || 1));
  const slides = [...strip.children];
  for (const [place, slide] of slides.entries()) slide.inert = place !== at;
  description.textContent = slides[at]?.firstChild.alt || "";
  dialog.ariaLabel = status.textContent = gettext("Photo %s of %s").replace("%s", at + 1).replace("%s", slides.length);
};
const go = (place, behavior = calm.matches ? "instant" : "smooth") => {
  const most = strip.children.length;
  strip.scrollTo({ left: ((place + most) % most) * strip.clientWidth, behavior });
};

export const open = (link) => {
  const links = [...link.closest(".images").querySelectorAll("a[data-full]")];
  opener = link;
  strip.replaceChildren(...links.map(slideFor));
  for (const step of steps) step.hidden = links.length < 2;
  dialog.showModal();
  globalThis.closeWithBack(dialog);
  go(links.indexOf(link), "instant");
  describe();
  strip.focus({ preventScroll: true });
};

strip.addEventListener("scroll", describe, { passive: true });
addEventListener("resize", () => { if (dialog.open) go(at, "instant"); });
dialog.addEventListener("click", ({ target }) => {
  const step = Number(target.dataset.step);
  if (target.matches(".viewer, .strip, .strip > div") || step === 0) dialog.close();
  else if (step) go(at + step);
});
dialog.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  go(at + step);
});
dialog.addEventListener("close", () => {
  strip.replaceChildren();
  opener?.focus({ preventScroll: true });
});
