/* What was typed and not sent is kept in this browser until it is sent. A sign-out removes it. */

const KEPT = ["status", "spoiler_text", "with_warning", "visibility", "language", "with_poll", "option", "expires_in", "multiple", "hide_totals", "with_limits", "reply_approval_policy", "quote_approval_policy", "with_schedule", "scheduled_at", "media_ids", "sensitive", "to"];
const WAIT_MS = 300;
const begun = new WeakSet();
const keyOf = (form) => `draft:${form.dataset.draft}`;
const isKept = (name) => KEPT.includes(name) || name.startsWith("description_");

const read = (form) => { try { return JSON.parse(localStorage[keyOf(form)] || "null"); } catch { return null; } };
const remove = (form) => { try { delete localStorage[keyOf(form)]; } catch { /* no storage */ } };
const isEmpty = (form) => {
  const { status, spoiler_text: warning } = form.elements;
  return status.value.trim() === status.defaultValue.trim() && !warning?.value.trim() && !form.elements.media_ids;
};
const save = (form) => {
  if (!form.isConnected) return;
  if (isEmpty(form)) { remove(form); return; }
  const pairs = [...new FormData(form)].filter(([name, value]) => isKept(name) && typeof value === "string");
  try { localStorage[keyOf(form)] = JSON.stringify(pairs); } catch { /* no storage, or full */ }
};

const fill = (form, pairs) => {
  const values = Object.groupBy(pairs, ([name]) => name);
  for (const field of form.elements) {
    const kept = values[field.name];
    if (!kept || field.type === "hidden" || field.type === "file") continue;
    if (field.type === "checkbox") field.checked = true;
    else field.value = field.name === "option" ? kept.shift()?.[1] ?? "" : kept[0][1];
    if (field.dataset.zone) field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  form.classList.add("in-use");
  form.elements.status.dispatchEvent(new Event("input", { bubbles: true }));
};
/* The server still has the photos, unless it is days ago. */
const bringPhotos = (form, pairs) => {
  const photos = pairs.filter(([name]) => name === "media_ids" || name === "sensitive" || name.startsWith("description_"));
  if (!photos.some(([name]) => name === "media_ids")) return;
  const values = Object.fromEntries(Object.entries(Object.groupBy(photos, ([name]) => name)).map(([name, all]) => [name, all.map(([, value]) => value)]));
  htmx.ajax("POST", "/compose/images", { source: form, target: form.querySelector(".images-part"), swap: "outerHTML", values });
};
const offerRemoval = (form) => {
  const line = document.createElement("p"), button = document.createElement("button");
  line.className = "kept-draft";
  Object.assign(button, { type: "button", className: "quiet", textContent: gettext("Discard") });
  line.append(`${gettext("Your draft is back.")} `, button);
  form.querySelector("textarea[name=status]").parentElement.before(line);
  button.addEventListener("click", () => {
    form.reset();
    form.querySelector(".images-part").replaceChildren();
    remove(form);
    line.remove();
    form.elements.status.dispatchEvent(new Event("input", { bubbles: true }));
    form.elements.status.focus();
  });
};
const restore = (form) => {
  const pairs = read(form), { status } = form.elements;
  if (!pairs || status.value !== status.defaultValue || form.querySelector("[role=alert]")) return;
  fill(form, pairs);
  bringPhotos(form, pairs);
  offerRemoval(form);
};

export const begin = (form) => {
  if (!form.dataset.draft || begun.has(form)) return;
  begun.add(form);
  restore(form);
  let timer = null;
  const saveSoon = () => { clearTimeout(timer); timer = setTimeout(save, WAIT_MS, form); };
  form.addEventListener("input", saveSoon);
  /* What was typed while this script came. */
  saveSoon();
  form.addEventListener("htmx:afterSettle", saveSoon);
  /* A refused form comes back with what was typed. */
  form.addEventListener("submit", () => { if (!form.hasAttribute("hx-post")) remove(form); });
  form.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
    if (target === form && detail.shouldSwap) { clearTimeout(timer); remove(form); }
  });
};
