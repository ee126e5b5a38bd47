/* What the pages do beyond htmx: new posts come in by themselves, refusals are shown, and the focus stays. */
"use strict";

(() => {
  /* The texts of another language come before this script (make accept); English ones are here. */
  const { TEXTS = {}, PLURAL } = globalThis;
  globalThis.gettext = (text) => TEXTS[text] ?? text;
  globalThis.ngettext = (one, many, n) => (TEXTS[one]?.[PLURAL(n)] ?? (n === 1 ? one : many)).replace("%s", n);

  const SHOWN_MS = 6000;
  const notice = document.querySelector(".notice");
  let hiding;

  /* The element is always there: screen readers do not read one that appears. */
  const say = (text, ms = SHOWN_MS, href = "") => {
    clearTimeout(hiding);
    notice.textContent = text;
    if (href) {
      const link = document.createElement("a");
      Object.assign(link, { href, textContent: gettext("View") });
      notice.append(" ", link);
    }
    if (ms) hiding = setTimeout(() => { notice.textContent = ""; }, ms);
  };
  if (notice.textContent) hiding = setTimeout(say, SHOWN_MS, "");
  const root = document.documentElement;
  /* What few pages need is loaded when it is used. */
  const addressOf = (name) => root.dataset.scripts?.split(" ").find((one) => one.includes(`/${name}.`));
  const load = (name) => import(addressOf(name));
  const isModified = ({ ctrlKey, metaKey, shiftKey, altKey }) => ctrlKey || metaKey || shiftKey || altKey;

  /* The browser keeps pages for its Back button. Each is shown to the session that it was made for only. */
  const { session } = root.dataset;
  addEventListener("pageshow", ({ persisted }) => {
    const isKept = persisted || performance.getEntriesByType("navigation")[0]?.type === "back_forward";
    const now = document.cookie.match(/(?:^|; )tideline_page=(\w*)/)?.[1] || "";
    if (!isKept || session === undefined || session === now) return;
    document.body.replaceChildren();
    location.reload();
  });

  /* The server writes times as the clock of this machine does, unless another time zone is chosen. */
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  if (timeZone && !document.cookie.includes("tideline_zone=")) {
    for (const time of document.querySelectorAll(".at time")) time.textContent = new Date(time.dateTime).toTimeString().slice(0, 5);
  }
  if (timeZone) document.cookie = `tideline_zone=${timeZone}; path=/; max-age=31536000; samesite=lax${location.protocol === "https:" ? "; secure" : ""}`;

  /* The admin and the page of the API are none of ours: what glides there ends with a fault. */
  addEventListener("pageswap", ({ viewTransition, activation }) => {
    if (/^\/(admin|api|media)\//.test(new URL(activation?.entry?.url || location.href).pathname)) viewTransition?.skipTransition();
  });

  const parse = (html) => new DOMParser().parseFromString(html, "text/html");

  /* An error page says why in its alert. Its frame is not for the place of a button. */
  document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
    const alert = parse(xhr.responseText).querySelector("[role=alert]");
    if (alert) say(alert.textContent.trim());
    else say(xhr.status === 404 ? gettext("This is no longer there.") : gettext("This did not work. Try again in a moment."));
  });
  document.addEventListener("htmx:sendError", () => say(gettext("The server does not answer. Try again in a moment.")));

  /* One menu is open at a time. A click elsewhere and Escape close it. */
  document.addEventListener("click", ({ target }) => {
    for (const menu of document.querySelectorAll(".menu[open]")) if (!menu.contains(target)) menu.open = false;
  });
  /* Near the end of the window it opens upwards. `toggle` does not bubble. */
  document.addEventListener("toggle", ({ target }) => {
    if (!target.matches(".acts > .menu")) return;
    target.classList.remove("up");
    const end = target.open && target.lastElementChild.getBoundingClientRect().bottom;
    target.classList.toggle("up", end > innerHeight);
  }, true);
  document.addEventListener("keydown", ({ key }) => {
    const menu = key === "Escape" && document.querySelector(".menu[open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  /* Ctrl or Cmd with Enter sends what is written, and Escape leaves it. */
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!target.matches(".compose textarea")) return;
    if (key === "Escape") target.blur();
    if (key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat) return;
    event.preventDefault();
    /* A click, because the button is disabled while photos are on their way. */
    target.form.querySelector(".send").click();
  });
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-copies]");
    if (!button) return;
    const { href } = new URL(button.dataset.copies, location.href);
    const done = () => say(gettext("Copied."));
    /* Without leave to copy, or without TLS, the page of the post has the address. */
    const show = () => { location.href = href; };
    if (navigator.clipboard) navigator.clipboard.writeText(href).then(done, show); else show();
    button.closest(".menu").open = false;
  });

  /* Photos open above the page. Without scripts the link leads to a page of the photo. */
  const photoOf = ({ target }) => target.closest?.(".images a[data-full]");
  document.addEventListener("pointerover", (event) => { if (photoOf(event)) load("viewer"); });
  document.addEventListener("click", async (event) => {
    const link = photoOf(event);
    if (!link || isModified(event)) return;
    event.preventDefault();
    try { (await load("viewer")).open(link); } catch { location.href = link.href; }
  });

  /* Back closes what is open above the page, and what is closed by other means takes its step of Back along. */
  globalThis.closeWithBack = (dialog) => {
    history.pushState({ ...history.state, above: true }, "");
    const back = () => dialog.close();
    addEventListener("popstate", back, { once: true });
    dialog.addEventListener("close", () => {
      removeEventListener("popstate", back);
      if (history.state?.above) history.back();
    }, { once: true });
  };

  /* Writing opens above the page. On the page of a post its own form is near. */
  const WRITING = "a[href^='/compose'], .post a[href^='/statuses/'][href$='/edit'], .post a[href$='#reply-text']";
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.(WRITING);
    if (!link || isModified(event) || event.defaultPrevented || link.hash && document.querySelector(link.hash)) return;
    event.preventDefault();
    link.closest(".menu")?.removeAttribute("open");
    try { await (await load("sheet")).open(link); } catch { location.href = link.href; }
  });

  /* A press anywhere on a post opens it. Links and buttons do what they do, and words can be selected. */
  const OWN = "a, button, input, select, textarea, label, summary, dialog, .poll, .images, .chosen";
  const opened = ({ target }) => !target.closest(OWN) && target.closest(".post")?.querySelector(":scope > header > .when");
  document.addEventListener("click", (event) => {
    const link = opened(event);
    if (!link || event.shiftKey || event.altKey || !getSelection().isCollapsed) return;
    if (event.ctrlKey || event.metaKey) open(link.href); else link.click();
  });
  document.addEventListener("auxclick", (event) => {
    const link = event.button === 1 && opened(event);
    if (link) open(link.href);
  });

  /* What is pressed is shown before the server knows it: marks of posts, a follow, a mute, a vote, a member of a
     list, the options of a menu. If the server refuses, it is put back. */
  const MARKS = ".act[aria-pressed]:not(.menu *)";
  const turn = (button, parts) => {
    const isOn = button.ariaPressed !== "true", count = button.matches(MARKS) && button.querySelector("span");
    if (button.ariaPressed) button.ariaPressed = isOn;
    if (count && /^\d+$/.test(count.textContent)) count.textContent = Number(count.textContent) + (isOn ? 1 : -1);
    if (!parts) return;
    button.replaceChildren(...parts);
    if (/follow$/.test(button.form.getAttribute("action"))) button.classList.toggle("quiet");
  };
  document.addEventListener("htmx:beforeSend", ({ detail: { elt, xhr } }) => {
    const button = elt.matches(MARKS) ? elt : elt.matches("form") && elt.querySelector("button:is([data-then], [aria-pressed])");
    if (!button) return;
    const { then } = button.dataset, before = then && [...button.childNodes];
    turn(button, then && [...button.querySelectorAll("svg"), then]);
    xhr.addEventListener("loadend", () => { if (xhr.status !== 200) turn(button, before); });
  });

  /* What ended a follow can be taken back for some seconds. */
  const UNDO_MS = 5000, PLACES = { profile: "#profile", aside: "#aside-" };
  document.addEventListener("undoable", ({ detail: { text, undo, id, part } }) => {
    const button = Object.assign(document.createElement("button"), { type: "button", className: "undo", textContent: gettext("Undo") });
    button.addEventListener("click", () => {
      const place = PLACES[part] || "#person-", values = { undo, part, csrfmiddlewaretoken: document.querySelector("[name=csrfmiddlewaretoken]").value };
      say("", 0);
      htmx.ajax("POST", `/accounts/${id}/undo`, { target: place.endsWith("-") ? place + id : place, swap: "outerHTML", values });
    });
    say(text, UNDO_MS);
    notice.append(" ", button);
  });

  /* A form with a key is sent once: a second click waits for the first answer. */
  document.addEventListener("submit", (event) => {
    if (event.target.hasAttribute("hx-post")) return;
    for (const sender of event.target.querySelectorAll("[data-key] button, button[data-once]")) {
      setTimeout(() => { sender.disabled = true; });
    }
  });
  addEventListener("pageshow", () => {
    for (const sender of document.querySelectorAll("[data-key] button")) sender.disabled = false;
  });

  /* The form grows with the focus of its text only, and stays so: a click is lost if what was pressed moves. */
  const beginTyping = ({ target }) => {
    if (target.matches("form[data-most] *, [data-longest]")) load("count");
    const form = target.closest(".compose");
    if (!form) return;
    if (target.matches(".field > textarea")) form.classList.add("in-use");
    for (const name of ["completion", "drafts"]) load(name).then(({ begin }) => begin(form));
  };
  document.addEventListener("focusin", beginTyping);
  /* A field with the focus from the start, such as that of a new post. */
  if (document.activeElement) beginTyping({ target: document.activeElement });
  for (const form of document.querySelectorAll("form[data-draft]")) {
    try { if (localStorage[`draft:${form.dataset.draft}`]) load("drafts").then(({ begin }) => begin(form)); } catch { /* no storage */ }
  }
  document.addEventListener("click", ({ target }) => {
    const tool = target.closest("[data-opens]");
    if (tool) load(tool.dataset.opens).then(({ open }) => open(tool));
    if (target.dataset.preset) load("written").then(({ fill }) => fill(target));
  });

  document.addEventListener("change", ({ target }) => {
    if (target.dataset.preview) load("preview").then(({ show }) => show(target));
    if (target.dataset.look) root.dataset[target.dataset.look] = target.value;
    if (target.dataset.zone) load("written").then(({ write }) => write(target));
  });

  /* A post that answers others opens below them, at the top of the window; a conversation at its end. */
  const chosen = document.querySelector(".post ~ .chosen") || [...document.querySelectorAll(".talking .message")].at(-1), [visit] = performance.getEntriesByType("navigation");
  if (chosen && (!location.hash || chosen.matches(".message")) && visit?.type === "navigate") chosen.scrollIntoView();

  /* The link to answer leads to the field, and so gives it the focus. One writes after the names. */
  const reply = document.getElementById("reply-text");
  reply?.setSelectionRange(reply.value.length, reply.value.length);

  /* Keys without a field: j for the next post, and so on. */
  const KEYS = "keys" in root.dataset ? [..."jknrfbo./?"] : [];
  document.addEventListener("keydown", (event) => {
    const isTyped = event.target.closest("input:not([type=checkbox], [type=radio]), textarea, select, dialog, [popover]");
    if (isTyped || event.ctrlKey || event.metaKey || event.altKey || !KEYS.includes(event.key)) return;
    event.preventDefault();
    load("keys").then(({ act }) => act(event.key));
  });

  /* The images of the form are on their way: they must not be sent again with more images or the text. */
  document.addEventListener("htmx:beforeSend", ({ target }) => {
    if (target.matches("input[type=file]")) target.value = "";
  });

  /* Images that are dropped on the form or pasted into it are attached, as those that are chosen. */
  const attach = (event, form, files) => {
    const input = form.elements.image, chosen = new DataTransfer();
    const images = [...files].filter((one) => input.accept.split(",").includes(one.type));
    event.preventDefault();
    if (!images.length) { say(gettext("Only photos can be attached.")); return; }
    for (const one of [...input.files, ...images]) chosen.items.add(one);
    input.files = chosen.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  const formWithFiles = ({ target }, data) => data?.types.includes("Files") && target.closest?.(".compose");
  document.addEventListener("dragover", (event) => {
    if (formWithFiles(event, event.dataTransfer)) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const form = formWithFiles(event, event.dataTransfer);
    if (form) attach(event, form, event.dataTransfer.files);
  });
  /* Office programs copy a text and a picture of it: the text is meant. */
  document.addEventListener("paste", (event) => {
    const data = event.clipboardData, form = formWithFiles(event, data);
    if (form && !data.types.includes("text/plain")) attach(event, form, data.files);
  });

  /* Messages are read when they are seen, not in a window behind others. */
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { target } = event;
    if (!document.hidden || !target.matches("#messages form")) return;
    event.preventDefault();
    document.addEventListener("visibilitychange", () => htmx.trigger(target, "seen"), { once: true });
  });

  /* A part of a page that is replaced or removed gives the focus to what has its place then. */
  let asked = {};
  document.addEventListener("htmx:beforeRequest", ({ detail: { elt, target, xhr } }) => {
    const pressed = document.activeElement;
    if (elt.contains(pressed) || target.contains(pressed)) asked = { xhr, pressed, before: target.previousElementSibling, parent: target.parentElement };
  });
  document.addEventListener("htmx:afterRequest", ({ detail }) => {
    const { xhr, pressed, before, parent } = asked;
    if (detail.xhr !== xhr || pressed.isConnected || document.activeElement !== document.body) return;
    const place = (before ? before.nextElementSibling : parent.firstElementChild) || before;
    const isSame = (one) => one.className === pressed.className && one.title === pressed.title;
    const next = pressed.matches(".post") && place?.matches(".post") ? Object.assign(place, { tabIndex: -1 }) : [...place?.querySelectorAll("button") || []].find(isSame) || place?.querySelector(".who") || place;
    next?.focus({ preventScroll: true });
  });
  /* Who reads the end of a conversation sees what comes in. */
  let isAtEnd = false;
  document.addEventListener("htmx:beforeSwap", ({ target }) => {
    if (target.id === "messages") isAtEnd = innerHeight + scrollY > root.scrollHeight - 80;
  });
  document.addEventListener("htmx:afterSettle", () => {
    if (isAtEnd) scrollTo(0, root.scrollHeight);
    isAtEnd = false;
    dropRepeats();
    /* The button of a form that closes is gone. The focus of its text would open the form again. */
    const focused = document.activeElement;
    const form = focused?.checkVisibility() === false && focused.closest(".compose");
    if (form) Object.assign(form, { tabIndex: -1 }).focus({ preventScroll: true });
  });
  document.addEventListener("htmx:oobAfterSwap", ({ detail: { target } }) => {
    if (target.id === "messages") target.lastElementChild.scrollIntoView({ block: "nearest" });
  });

  /* A post has one place: that of its newest event, as in the API. */
  function dropRepeats() {
    const seen = new Set();
    for (const post of document.querySelectorAll("#timeline > .entry > .post")) {
      if (seen.has(post.id)) post.parentElement.remove();
      seen.add(post.id);
    }
  }

  /* Times go on: "now" would be wrong after an hour. The server writes them in the same way. */
  const UNITS = [[86400, gettext("%sd")], [3600, gettext("%sh")], [60, gettext("%sm")]];
  const ago = (when) => {
    const age = (Date.now() - when) / 1000;
    if (age >= 7 * 86400) return null;
    const [size, name] = UNITS.find(([seconds]) => age >= seconds) || [];
    return size ? name.replace("%s", Math.floor(age / size)) : gettext("now");
  };
  setInterval(() => {
    for (const time of document.querySelectorAll(".when time")) {
      const text = ago(new Date(time.dateTime));
      if (text && text !== time.textContent) time.textContent = text;
    }
  }, 30000);

  document.addEventListener("posted", ({ detail }) => say(detail.text, SHOWN_MS, detail.href));

  const feed = document.querySelector("[data-news]");
  if (!feed) return;

  /* -- new posts ---------------------------------------------------------------------------- */
  const EVERY_MS = 1200, LIVE_MS = 20000, RAREST_MS = 60000, AT_TOP_PX = 8, MOST_ENTRIES = 300;
  const button = document.querySelector(".new-posts");
  const timeline = () => document.getElementById("timeline");
  let waiting = [], isMore = false, asOf = "", pause = EVERY_MS, timer = null, asking = false, again = false, hasNews = false;

  const newer = (a, b) => (a.length - b.length || (a > b ? 1 : -1)) > 0 ? a : b;
  const newest = () => [...waiting.filter(isEntry), ...timeline().querySelectorAll(":scope > .entry")]
    .map((one) => one.dataset.id).reduce(newer, "");
  /* A promotion between the entries is none of them: no cursor, no place to read from, in no count. */
  const ITEM = ":is(.entry, .promotion)";
  const isEntry = (one) => one.matches(".entry");
  const isSame = (a, b) => a.dataset.id === b.dataset.id && a.dataset.slot === b.dataset.slot;
  const isKnown = (item) => [...timeline().querySelectorAll(`:scope > ${ITEM}`), ...waiting].some((one) => isSame(one, item));

  /* Too many to add one by one, or too many on the page already: its beginning is read again. */
  const begin = () => {
    waiting = []; isMore = false; button.hidden = true;
    /* Who comes from further down is at the top before the link to older posts is looked at: else it is in view. */
    return htmx.ajax("GET", "/?newest=1", { target: "#timeline", swap: "outerHTML settle:20ms", select: "#timeline" });
  };

  /* Home, pressed at home, is the way to the top. Loaded again, it would not know yet what was seen last. */
  document.addEventListener("click", async (event) => {
    if (!event.target.closest("a[href='/']") || isModified(event) || !feed.isConnected) return;
    event.preventDefault();
    await begin();
    scrollTo({ top: 0 });
  });

  const show = () => {
    if (isMore || timeline().childElementCount + waiting.length > MOST_ENTRIES) return begin();
    timeline().querySelector(":scope > .empty")?.remove();
    for (const entry of waiting) entry.classList.add("new");
    timeline().prepend(...waiting);
    for (const entry of waiting) htmx.process(entry);
    waiting = []; button.hidden = true;
    dropRepeats();
  };

  /* Below the newest posts there is a way up, and no post comes in before the reader has gone it. */
  const above = () => timeline().querySelector(":scope > .newer");

  /* Who is reading further down, or has opened a menu, is not moved. */
  const isAtTop = () => scrollY <= AT_TOP_PX && !timeline().querySelector(".menu[open], :focus-visible");

  const take = (html, more) => {
    /* A post that arrived late may belong further down than the page goes. */
    const last = timeline().querySelector(":scope > .older") && [...timeline().querySelectorAll(":scope > .entry")].at(-1)?.dataset.id;
    const entries = [...parse(html).querySelectorAll(ITEM)].filter((one) => {
      const id = one.dataset.id || one.dataset.slot;
      return !isKnown(one) && (!last || newer(last, id) === id);
    });
    if (entries.some(isEntry)) waiting = [...entries, ...waiting];
    isMore ||= more;
    if (!waiting.length) return;
    if (isAtTop()) { show(); return; }
    const count = waiting.filter(isEntry).length;
    button.textContent = isMore ? gettext("Many new posts") : ngettext("%s new post", "%s new posts", count);
    button.hidden = false;
  };

  /* If the site is busy or away, it is asked less and less often. */
  const rest = (answer) => {
    const wished = Number(answer?.headers.get("Retry-After")) * 1000;
    pause = Math.min(RAREST_MS, Math.max(2 * pause, wished || 0));
  };

  const read = async (answer) => {
    if (answer.headers.has("HX-Redirect")) {
      say(gettext("You are signed out. Load the page again to sign in."), 0);
      pause = 0;
      return;
    }
    if (!answer.ok) { rest(answer); return; }
    pause = EVERY_MS;
    asOf = answer.headers.get("X-As-Of") || asOf;
    if (answer.status === 200) take(await answer.text(), answer.headers.has("X-More"));
  };

  const ask = async () => {
    clearTimeout(timer);
    again = asking;
    if (asking || document.hidden || !pause || !feed.isConnected) return;
    if (above()) { timer = setTimeout(ask, EVERY_MS); return; }
    asking = true;
    const since = newest();
    try {
      const query = new URLSearchParams({ since_id: since, as_of: newer(since, asOf) });
      if (hasNews) query.set("told", 1);
      hasNews = false;
      await read(await fetch(`${feed.dataset.news}?${query}`, { headers: { "HX-Request": "true" } }));
    } catch { rest(); } finally { asking = false; }
    if (pause) timer = setTimeout(ask, again ? 0 : "live" in root.dataset ? Math.max(pause, LIVE_MS) : pause);
  };
  /* The stream knows of a post before what answers cheaply does. */
  document.addEventListener("tideline:news", () => { hasNews = true; ask(); });

  /* -- the place where the reader is --------------------------------------------------------- */
  const SEEN_MS = 800, SAVE_EVERY_MS = 5000;
  let saved = "", savedAt = -SAVE_EVERY_MS, seeing = null;

  /* The newest entry that is in the window was seen, and so was all that is below it. */
  const save = () => {
    if (!feed.isConnected) return;
    const seen = [...timeline().querySelectorAll(":scope > .entry")]
      .find((one) => one.getBoundingClientRect().bottom > 60)?.dataset.id;
    if (!seen || newer(saved, seen) === saved) return;
    saved = seen; savedAt = performance.now();
    const body = new FormData();
    body.set("last_read_id", seen);
    body.set("csrfmiddlewaretoken", document.querySelector("[name=csrfmiddlewaretoken]").value);
    fetch("/home/read", { method: "POST", body, headers: { "HX-Request": "true" }, keepalive: true }).catch(() => { saved = ""; });
  };
  const saveSoon = () => {
    clearTimeout(seeing);
    if (document.hidden) return;
    seeing = setTimeout(save, Math.max(SEEN_MS, savedAt + SAVE_EVERY_MS - performance.now()));
  };
  addEventListener("pagehide", save);
  addEventListener("scroll", saveSoon, { passive: true });
  new MutationObserver(saveSoon).observe(feed, { childList: true, subtree: true });
  saveSoon();

  /* Newer posts come in above, and what the reader sees stays where it is. */
  const goUp = async (link) => {
    const bar = above(), count = Number(bar.dataset.count) || 0;
    const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
    if (!answer.ok || answer.headers.has("HX-Redirect")) { location.href = link.href; return; }
    const page = parse(await answer.text()), next = page.querySelector(".newer");
    const entries = [...page.querySelectorAll(`#timeline > ${ITEM}`)].filter((one) => !isKnown(one));
    const first = timeline().querySelector(":scope > .entry"), before = first.getBoundingClientRect().top;
    root.classList.add("loading-above");
    bar.remove();
    timeline().prepend(...entries);
    if (next) {
      const left = count - entries.filter(isEntry).length;
      if (left > 0) next.querySelector("a").textContent = "more" in bar.dataset ? gettext("%s+ new posts above").replace("%s", left) : ngettext("%s new post above", "%s new posts above", left);
      next.dataset.count = left;
      if ("more" in bar.dataset) next.dataset.more = "";
      timeline().prepend(next);
    }
    for (const entry of entries) htmx.process(entry);
    dropRepeats();
    scrollBy(0, first.getBoundingClientRect().top - before);
    entries.findLast(isEntry)?.querySelector(".who").focus({ preventScroll: true });
    setTimeout(() => root.classList.remove("loading-above"), 100);
  };
  feed.addEventListener("click", (event) => {
    const link = event.target.closest(".newer .button");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goUp(link).catch(() => say(gettext("The server does not answer. Try again in a moment.")));
  });

  button.addEventListener("click", async () => {
    await show();
    scrollTo({ top: 0 });
    const first = timeline().querySelector(".entry .who");
    first?.focus({ preventScroll: true });
  });
  const askNow = () => { if (pause) { pause = EVERY_MS; ask(); } };
  document.addEventListener("visibilitychange", askNow);
  document.addEventListener("posted", () => { hasNews = true; if (!above()) askNow(); });
  addEventListener("online", askNow);
  timer = setTimeout(ask, EVERY_MS);
})();
