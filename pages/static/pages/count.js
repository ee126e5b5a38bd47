/* How many characters a form may still have, counted as the server counts them (accounts/texts/links.py). */
"use strict";

(() => {
  const clusters = new Intl.Segmenter();
  const size = (text) => [...clusters.segment(text)].length;

  /* As accounts/texts/links.py: where an address ends. */
  const WORD = "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\u200c\\u200d";
  const CANDIDATES = new RegExp(`(?<![${WORD}@$#/])https?://[^\\s\\p{Cc}<>"“”„‟‘’‚«»‹›…]+`, "giu");
  const HOST = new RegExp(`^https?://([\\p{L}\\p{N}][${WORD}-]*(?:\\.[${WORD}-]+)*)(?::\\p{Nd}{1,5})?`, "iu");
  const PAIRS = Object.fromEntries(["()", "[]", "{}", "「」", "『』", "（）", "【】", "《》", "〈〉", "［］"].map(([a, b]) => [b, a]));
  const STARTS = new Set(Object.values(PAIRS));
  const SENTENCE_END = /[.,:;!?'*。、，．：；！？।،؛؟]+$/u;
  const LONGEST_ADDRESS = 2048, LONGEST_HOST = 255;
  const NAMES = new RegExp(`(?<![=/${WORD}@])@[A-Za-z0-9_]+(?![A-Za-z0-9_])(?!@[${WORD}.-]{${LONGEST_HOST + 1}})(@[${WORD}.-]+[${WORD}](?::\\p{Nd}{1,5})?)?`, "gu");

  const endOfPairs = (candidate) => {
    const open = [];
    for (let place = 0; place < candidate.length; place += 1) {
      const sign = candidate[place];
      if (STARTS.has(sign)) open.push([sign, place]);
      else if (sign in PAIRS && open.pop()?.[0] !== PAIRS[sign]) return place;
    }
    return open.length ? open[0][1] : candidate.length;
  };
  const lengthOf = (candidate) => {
    const host = HOST.exec(candidate);
    if (!host || [...host[1]].length > LONGEST_HOST || "@:".includes(candidate[host[0].length] || " ")) return 0;
    const end = host[0].length;
    if (!"/?#".includes(candidate[end] || " ")) return end;
    return Math.max(end, candidate.slice(0, endOfPairs(candidate)).replace(SENTENCE_END, "").length);
  };

  /* An address has as many characters as all others, and the host of a name has none. */
  const countable = (text, ofAddress) => {
    let counted = "", at = 0;
    for (const found of text.matchAll(CANDIDATES)) {
      const length = lengthOf(found[0]);
      if (!length || [...found[0].slice(0, length)].length > LONGEST_ADDRESS) continue;
      counted += withoutHosts(text.slice(at, found.index), text[at - 1]) + "x".repeat(ofAddress);
      at = found.index + length;
    }
    return counted + withoutHosts(text.slice(at), text[at - 1]);
  };
  const withoutHosts = (part, before) =>
    `${before || ""}${part}`.replace(NAMES, (name, host) => (host ? name.slice(0, -host.length) : name)).slice((before || "").length);

  const NEAR = 50;
  const count = (form) => {
    const text = countable(form.elements.status.value.trim(), Number(form.dataset.address));
    const warning = form.elements.with_warning.checked ? form.elements.spoiler_text.value.trim() : "";
    const left = form.querySelector(".left"), { most } = form.dataset;
    const number = most - size(text + warning);
    left.querySelector("b").textContent = number;
    left.querySelector(".arc").setAttribute("stroke-dasharray", `${Math.min(100, (100 * (most - number)) / most)} 100`);
    left.classList.toggle("near", number <= NEAR);
    left.classList.toggle("over", number < 0);
  };
  const countAll = () => document.querySelectorAll("form[data-most]").forEach(count);

  /* The browser's own maxlength counts a family as eleven. */
  const limit = (field) => {
    const over = size(field.value.trim()) - field.dataset.longest;
    field.setCustomValidity(over > 0 ? ngettext("This is %s character too long.", "This is %s characters too long.", over) : "");
  };
  document.addEventListener("input", ({ target }) => {
    if (target.form?.dataset.most) count(target.form);
    if (target.dataset.longest) limit(target);
  });
  document.addEventListener("htmx:load", countAll);
  countAll();
  document.querySelectorAll("[data-longest]").forEach(limit);
})();
