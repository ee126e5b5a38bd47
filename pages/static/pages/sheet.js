/* Writing above the page: a new post, a reply, a quote, an edit. Without scripts the link leads to a page of its own. */

const dialog = document.createElement("dialog");
dialog.className = "sheet";
dialog.innerHTML = `<header class="top"><h2></h2><button type="button" class="quiet close" aria-label="${gettext("Close")}" title="${gettext("Close")}">×</button></header><div></div>`;
document.body.append(dialog);
const heading = dialog.querySelector("h2"), body = dialog.lastElementChild;
let opener = null;

/* What the page of the link has: its name, the post that is answered, and the form. */
const read = async (link) => {
  const answer = await fetch(link.href);
  if (!answer.ok || answer.redirected) throw new Error(answer.status);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const form = page.querySelector("main .compose");
  if (!form) throw new Error("no form");
  const answered = page.querySelector("main .chosen .post, main > .post");
  return { name: form.id === "reply" ? gettext("Reply") : page.querySelector("main h1").textContent.trim(), form, answered };
};

/* The answer of a form that is sent in place is an event, or a reason in the notice. An edit answers with its post. */
const prepare = (form) => {
  form.id = "sheet-form";
  /* The page below may have a form with the same ids. */
  for (const name of ["id", "for", "aria-describedby", "data-fills"]) {
    for (const part of form.querySelectorAll(`[${name}]`)) part.setAttribute(name, `sheet-${part.getAttribute(name)}`);
  }
  form.classList.add("in-use");
  for (const [name, value] of Object.entries({ "hx-post": form.getAttribute("action"), "hx-target": "this", "hx-swap": "none", "hx-sync": "this:drop" })) form.setAttribute(name, value);
  htmx.process(form);
};

export const open = async (link) => {
  const { name, form, answered } = await read(link);
  if (dialog.open) return;
  opener = link;
  heading.textContent = name;
  if (answered) {
    answered.querySelector(":scope > footer")?.remove();
    answered.id = "sheet-answered";
    answered.inert = true;
  }
  body.replaceChildren(...(answered ? [answered] : []), form);
  prepare(form);
  dialog.ariaLabel = name;
  dialog.showModal();
  globalThis.closeWithBack(dialog);
  const text = form.elements.status;
  text.focus();
  text.setSelectionRange(text.value.length, text.value.length);
};

/* The post of an edit has the new text wherever it is on this page. */
const replaceEdited = (html, id) => {
  const page = new DOMParser().parseFromString(html, "text/html"), post = page.getElementById(`post-${id}`);
  const shown = document.querySelector(`main [id="post-${id}"]`);
  if (!post || !shown) return;
  shown.replaceWith(post);
  htmx.process(post);
};

dialog.addEventListener("htmx:afterRequest", ({ target, detail: { successful, xhr } }) => {
  if (!successful || !target.matches("#sheet-form")) return;
  const edited = target.elements.edited?.value;
  if (edited) replaceEdited(xhr.responseText, edited);
  dialog.close();
});
dialog.addEventListener("click", ({ target }) => { if (target === dialog || target.closest(".close")) dialog.close(); });
dialog.addEventListener("close", () => {
  body.replaceChildren();
  opener?.focus({ preventScroll: true });
});
