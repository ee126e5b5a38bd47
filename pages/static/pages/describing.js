/* A window with one photo of the form as large as it goes, and room for its description. With scripts it is the only
   place to write one: the field next to the photo is for pages without. */

const dialog = document.createElement("dialog");
dialog.className = "describing";
dialog.ariaLabel = gettext("Describe the photo");
dialog.innerHTML = `<form method="dialog"><img alt=""><label for="describing-text">${gettext("Describe it for people who cannot see it")}</label>
  <textarea id="describing-text" dir="auto" rows="4" aria-describedby="describing-help"></textarea>
  <p class="row"><small id="describing-help">${gettext("What is to be seen, and the words in it. Searches find them too.")}</small><button>${gettext("Done")}</button></p></form>`;
document.body.append(dialog);
const text = dialog.querySelector("textarea");
let field = null, opener = null;

export const open = (tool) => {
  opener = tool;
  field = tool.closest(".attached").querySelector("textarea");
  dialog.querySelector("img").src = tool.dataset.full;
  text.value = field.value;
  text.maxLength = field.dataset.longest;
  dialog.showModal();
  text.focus();
};
/* Also after Escape: what was typed is not lost. */
dialog.addEventListener("close", () => {
  field.value = text.value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  dialog.querySelector("img").removeAttribute("src");
  opener.focus();
});
