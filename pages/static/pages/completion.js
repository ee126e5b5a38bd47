/* Names, tags and emoji are offered while one types them: @an, #tea, :tad. */

const WORD = /(?:^|[\s(])([@#＃][\p{L}\p{N}_@.-]{1,40}|:[a-z0-9_+-]{2,30})$/u;
/* A field for names needs no sign before them. */
const NAME = /(?:^|[\s,])(@?[\p{L}\p{N}_.-]{1,40})$/u;
const WAIT_MS = 150, MOST_EMOJI = 6;
const begun = new WeakSet();

const complete = (field, pattern) => {
  const list = document.createElement("ul");
  Object.assign(list, { className: "suggestions", role: "listbox", ariaLabel: gettext("Suggestions"), hidden: true });
  list.id = `${field.id}-suggestions`;
  field.after(list);
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  let word = "", timer = null, chosen = 0;

  const close = () => {
    clearTimeout(timer);
    word = "";
    list.hidden = true;
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (place) => {
    const most = list.children.length;
    chosen = (place + most) % most;
    for (const [n, item] of [...list.children].entries()) item.ariaSelected = n === chosen;
    field.setAttribute("aria-activedescendant", list.children[chosen].id);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  };
  const show = (items) => {
    list.replaceChildren(...items);
    if (!items.length) { list.hidden = true; return; }
    for (const [n, item] of items.entries()) item.id = `${list.id}-${n}`;
    list.hidden = false;
    choose(0);
  };
  const take = (item) => {
    const end = field.selectionStart;
    field.setRangeText(`${item.dataset.text} `, end - word.length, end, "end");
    close();
    field.focus();
    field.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const ask = async (asked) => {
    const items = asked[0] === ":" ? await emojiFor(asked.slice(1)) : await suggestionsFor(/^[@#＃]/.test(asked) ? asked : `@${asked}`);
    if (asked === word) show(items);
  };
  const look = () => {
    const typed = field.value.slice(0, field.selectionStart);
    const before = word;
    word = field.selectionStart === field.selectionEnd ? pattern.exec(typed)?.[1] || "" : "";
    if (!word) { close(); return; }
    if (word === before) return;
    clearTimeout(timer);
    timer = setTimeout(() => ask(word).catch(close), WAIT_MS);
  };

  field.addEventListener("input", look);
  field.addEventListener("click", look);
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) choose(chosen + step);
    else if (event.key === "Enter" || event.key === "Tab") take(list.children[chosen]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  /* The field keeps the focus. */
  list.addEventListener("pointerdown", (event) => event.preventDefault());
  list.addEventListener("click", ({ target }) => {
    const item = target.closest("[role=option]");
    if (item) take(item);
  });
  /* What was typed while this was loading. The words that the form begins with wait for a key. */
  if (field.value !== field.defaultValue) look();
};

const suggestionsFor = async (asked) => {
  const answer = await fetch(`/compose/suggestions?${new URLSearchParams({ q: asked })}`, { headers: { "HX-Request": "true" } });
  if (answer.status !== 200) return [];
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  return [...page.querySelectorAll("[role=option]")];
};

/* Those whose name begins so come first. */
const emojiFor = async (asked) => {
  const { findEmoji } = await import(document.documentElement.dataset.scripts.split(" ").find((one) => one.includes("/picker.")));
  return (await findEmoji(asked)).slice(0, MOST_EMOJI).map(([sign, name]) => {
    const item = document.createElement("li");
    Object.assign(item, { role: "option", textContent: `${sign} :${name}:` });
    item.dataset.text = sign;
    return item;
  });
};

export const begin = (form) => {
  for (const field of form.querySelectorAll("textarea[name=status], input[name=to]")) {
    if (begun.has(field)) continue;
    begun.add(field);
    complete(field, field.name === "to" ? NAME : WORD);
  }
};
