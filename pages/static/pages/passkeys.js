/* Asks the browser for a passkey, and sends its answer with the form: `get` uses one, `create` adds one. */
"use strict";

/* After page.js, which knows the texts. */
document.addEventListener("DOMContentLoaded", () => {
  const { credentials } = navigator;
  const ways = {
    get: (options) => credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
    create: (options) => credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  };

  const complain = (form, text) => {
    const alert = form.querySelector("[role=alert]") || document.createElement("p");
    alert.className = "errorlist";
    alert.setAttribute("role", "alert");
    alert.textContent = text;
    form.prepend(alert);
  };

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    /* Only secure pages have them, and only new browsers know the options as JSON. */
    if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
      if (!form.hidden) complain(form, gettext("This browser has no passkeys, or the page has no https."));
      continue;
    }
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        const answer = await ways[form.dataset.passkey](JSON.parse(form.dataset.options));
        form.elements.passkey.value = JSON.stringify(answer);
        form.submit();
      } catch (error) {
        const isKnown = error.name === "InvalidStateError";
        complain(form, isKnown ? gettext("This device already has a passkey of yours.") : gettext("Your browser gave no passkey. Try again."));
      }
    });
  }
});
