/* Emoji by their names and tags, and a window with all of them. */

const RECENT = "emoji:recent", MOST_RECENT = 16, MOST_HITS = 80;
const addressOf = (name) => document.documentElement.dataset.scripts.split(" ").find((one) => one.includes(`/${name}.`));
let groups = null;
/* What the groups of emoji.js are called. */
const TITLES = {
  "Smileys & Emotion": gettext("Smileys & Emotion"), "People & Body": gettext("People & Body"), "Animals & Nature": gettext("Animals & Nature"),
  "Food & Drink": gettext("Food & Drink"), "Travel & Places": gettext("Travel & Places"), Activities: gettext("Activities"),
  Objects: gettext("Objects"), Symbols: gettext("Symbols"), Flags: gettext("Flags"),
};

/* Groups of [emoji, names and tags]. */
const readGroups = async () => {
  if (groups) return groups;
  const { EMOJI } = await import(addressOf("emoji"));
  groups = EMOJI.split(/^#(?=[A-Z])/m).filter(Boolean).map((text) => {
    const [title, ...lines] = text.trim().split("\n");
    return [title, lines.map((line) => { const [sign, ...names] = line.split(" "); return [sign, names]; })];
  });
  return groups;
};

/* [emoji, name], those whose name begins so first. */
export const findEmoji = async (asked) => {
  const all = (await readGroups()).flatMap(([, emoji]) => emoji), words = asked.toLowerCase().replaceAll(" ", "_");
  const rank = ([, names]) => (names[0].startsWith(words) ? 0 : names.some((one) => one.startsWith(words)) ? 1 : 2);
  const fit = all.filter(([, names]) => names.some((one) => one.includes(words)));
  return fit.sort((a, b) => rank(a) - rank(b)).map(([sign, names]) => [sign, names.find((one) => one.includes(words))]);
};

const EMOJI_LABEL = gettext("Emoji"), FIND = gettext("Find an emoji");
const panel = document.createElement("div");
panel.className = "picker";
panel.popover = "auto";
panel.role = "dialog";
panel.ariaLabel = EMOJI_LABEL;
panel.innerHTML = `<label class="unseen" for="emoji-words">${FIND}</label>
  <input id="emoji-words" type="search" placeholder="${FIND}" autocomplete="off"><div class="emoji" tabindex="0" role="group" aria-label="${EMOJI_LABEL}"></div>`;
document.body.append(panel);
const words = panel.querySelector("input"), grid = panel.querySelector(".emoji");
let field = null, opener = null;

const readRecent = () => { try { return JSON.parse(localStorage[RECENT] || "[]"); } catch { return []; } };
const remember = (sign) => {
  const recent = [sign, ...readRecent().filter((one) => one !== sign)].slice(0, MOST_RECENT);
  try { localStorage[RECENT] = JSON.stringify(recent); } catch { /* no storage */ }
};

const drawGroup = (title, emoji) => {
  const part = document.createElement("section"), heading = document.createElement("h2");
  heading.textContent = title;
  part.append(heading, ...emoji.map(([sign, name]) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: sign, title: name.replaceAll("_", " "), ariaLabel: name.replaceAll("_", " ") });
    return button;
  }));
  return part;
};
const drawHits = (asked, hits) => {
  if (hits.length) return drawGroup(gettext("Found"), hits);
  const line = document.createElement("p");
  line.className = "empty";
  line.textContent = gettext("No emoji for “%s”").replace("%s", () => asked);
  return line;
};
const draw = async () => {
  const asked = words.value.trim();
  if (asked) {
    grid.replaceChildren(drawHits(asked, (await findEmoji(asked)).slice(0, MOST_HITS)));
    return;
  }
  const recent = readRecent().map((sign) => [sign, sign]);
  const all = (await readGroups()).map(([title, emoji]) => drawGroup(TITLES[title] || title, emoji.map(([sign, names]) => [sign, names[0]])));
  grid.replaceChildren(...(recent.length ? [drawGroup(gettext("Used lately"), recent)] : []), ...all);
};

export const open = async (tool) => {
  opener = tool;
  field = tool.form.elements.status;
  words.value = "";
  const { left, bottom } = tool.getBoundingClientRect();
  panel.showPopover();
  await draw();
  /* Below the button, as far as there is room; phones have the window at the bottom. */
  panel.style.setProperty("--left", `${Math.max(8, Math.min(left, innerWidth - panel.offsetWidth - 8))}px`);
  panel.style.setProperty("--top", `${Math.max(8, Math.min(bottom + 4, innerHeight - panel.offsetHeight - 8))}px`);
  /* On a phone the field would bring the keyboard, which covers the emoji. */
  (matchMedia("(pointer: coarse)").matches ? grid : words).focus();
};
words.addEventListener("input", draw);
panel.addEventListener("click", ({ target }) => {
  if (!target.matches(".emoji button")) return;
  field.setRangeText(target.textContent, field.selectionStart, field.selectionEnd, "end");
  remember(target.textContent);
  panel.hidePopover();
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
panel.addEventListener("toggle", ({ newState }) => {
  if (newState === "closed" && document.activeElement === document.body) opener.focus();
});
