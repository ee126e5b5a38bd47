/* Pages of moderators: reasons that are one press away, and keys for what is done all day. A key acts on the element
   that names it (data-key): it follows a link, and chooses anything else and goes to the reason of its form. */
"use strict";

(() => {
  const OFF = "moderation.keys_off";
  const FIELDS = "input:not([type=radio], [type=checkbox]), textarea, select";
  const all = (selector) => [...document.querySelectorAll(selector)];
  const make = (tag, more, ...inside) => {
    const made = Object.assign(document.createElement(tag), more);
    made.append(...inside);
    return made;
  };

  for (const chip of all(".mod-chips .chip")) {
    chip.onclick = () => Object.assign(chip.form.elements.reason, { value: chip.textContent }).focus();
  }

  // A press answers at once, and a second one sends nothing. Back shows the form as it was.
  const setBusy = (form, isBusy) => form.toggleAttribute("inert", isBusy);
  document.addEventListener("submit", ({ target }) => setTimeout(setBusy, 0, target, true));
  window.addEventListener("pageshow", () => [...document.forms].forEach((form) => setBusy(form, false)));

  const rows = all("#result_list tbody th a");
  const step = (by) => rows[Math.min(Math.max(rows.indexOf(document.activeElement) + by, 0), rows.length - 1)].focus();
  const words = (one) => (one.closest("label") ?? one).textContent.trim();
  const press = (one) => {
    if (one.matches("a")) return one.click();
    one.checked = true;
    return one.form.elements.reason.focus();
  };
  const acts = new Map(all("[data-key]").map((one) => [one.dataset.key, [words(one), () => press(one)]]));
  if (rows.length) {
    acts.set("j", ["Down the list; Enter opens", () => step(1)]);
    acts.set("k", ["Up the list", () => step(-1)]);
  }
  if (!acts.size) return;

  const lines = [...acts].sort().flatMap(([key, [text]]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, text)]);
  const isOn = make("input", { type: "checkbox", checked: !localStorage.getItem(OFF) });
  isOn.onchange = () => (isOn.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, "1"));
  const close = make("form", { method: "dialog" }, make("button", { className: "button quiet" }, "Close"));
  const title = make("h2", { id: "mod-keys" }, "Keys of this page");
  const list = make("dialog", { className: "mod-keys" }, title, make("dl", {}, ...lines), make("label", {}, isOn, " Keys are on"), close);
  list.setAttribute("aria-labelledby", "mod-keys");
  const opener = make("button", { type: "button", className: "button quiet", onclick: () => list.showModal() }, "Keys: ?");
  document.querySelector("#content").append(make("p", {}, opener), list);
  acts.set("?", ["", () => list.showModal()]);

  document.addEventListener("keydown", (event) => {
    const isElsewhere = event.target.matches(FIELDS) || list.open || event.ctrlKey || event.metaKey || event.altKey;
    if (isElsewhere || !isOn.checked || !acts.has(event.key)) return;
    event.preventDefault();
    acts.get(event.key)[1]();
  });
})();
