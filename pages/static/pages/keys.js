/* Keys for those who read without a mouse. The post that is read has the focus. */

const KEYS = { j: gettext("Next post"), k: gettext("Post before"), n: gettext("New post"), r: gettext("Reply"), f: gettext("Favourite"), b: gettext("Repost"), o: gettext("Open the post"), ".": gettext("Show new posts"), "/": gettext("Search"), "?": gettext("These keys"), "Ctrl ↵": gettext("Send"), Esc: gettext("Leave the text") };
const BELOW_HEADER_PX = 60;
const posts = () => [...document.querySelectorAll("main .post")].filter((post) => post.checkVisibility());
const current = () => document.activeElement?.closest(".post");

const go = (step) => {
  const all = posts(), at = all.indexOf(current());
  const first = all.findIndex((post) => post.getBoundingClientRect().bottom > BELOW_HEADER_PX);
  const post = at < 0 ? all[first] : all[at + step];
  if (!post) return;
  post.tabIndex = -1;
  post.focus({ preventScroll: true });
  const { top, bottom } = post.getBoundingClientRect();
  if (top < BELOW_HEADER_PX || bottom > innerHeight) scrollBy(0, top - BELOW_HEADER_PX);
};
const press = (selector) => (current() || document.querySelector(".chosen .post"))?.querySelector(selector)?.click();
const write = () => {
  const field = document.querySelector("#compose textarea");
  if (!field) { document.querySelector("a.write")?.click(); return; }
  scrollTo(0, 0);
  field.focus();
};
const search = () => {
  const field = [...document.querySelectorAll("input[name=q]")].find((one) => one.checkVisibility());
  if (field) field.focus(); else location.href = "/search";
};
const newest = () => {
  const button = document.querySelector(".new-posts:not([hidden]), .newer .button");
  if (button) button.click(); else scrollTo(0, 0);
};

const help = document.createElement("dialog");
help.className = "card keys";
help.ariaLabel = gettext("Keys");
help.innerHTML = `<h2>${gettext("Keys")}</h2><dl>${Object.entries(KEYS).map(([key, text]) => `<div><dt><kbd>${key}</kbd></dt><dd>${text}</dd></div>`).join("")}</dl>
  <p><a href="/settings/appearance">${gettext("Turn them off")}</a></p><form method="dialog"><button autofocus>${gettext("Close")}</button></form>`;
document.body.append(help);

const ACTS = {
  j: () => go(1), k: () => go(-1), n: write, "/": search, ".": newest, "?": () => help.showModal(),
  r: () => press(".act[href$='#reply-text']"), f: () => press(".act.favourite"), b: () => press(".act.reblog"), o: () => press(".when"),
};
export const act = (key) => ACTS[key]();
