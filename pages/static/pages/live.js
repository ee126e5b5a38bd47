/* The streaming process tells at once what is new. Without it the pages ask now and then. */
"use strict";

(() => {
  const root = document.documentElement, { streams } = root.dataset;
  const FIRST_MS = 1000, RAREST_MS = 60000;
  let source = null, pause = FIRST_MS, timer = null;
  if (!streams) return;

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
    delete root.dataset.live;
  };

  /* A browser has few connections to a server: a page that is not seen gives its own back. */
  const open = () => {
    if (document.hidden || source) return;
    source = new EventSource(`${streams}/api/v1/streaming/user`, { withCredentials: true });
    source.addEventListener("open", () => { pause = FIRST_MS; root.dataset.live = ""; tell(); });
    source.addEventListener("update", tell);
    source.addEventListener("notification", () => htmx.trigger("#unread", "told"));
    source.addEventListener("error", () => {
      delete root.dataset.live;
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      timer = setTimeout(open, pause);
      pause = Math.min(2 * pause, RAREST_MS);
    });
  };
  const tell = () => document.dispatchEvent(new Event("tideline:news"));

  document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
  addEventListener("pagehide", close);
  addEventListener("pageshow", open);
})();
