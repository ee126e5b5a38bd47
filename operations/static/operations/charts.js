/* The operations page: asks its two endpoints every few seconds, and draws what they answer. */
"use strict";

(() => {
  const EVERY_MS = 5000;
  const HEIGHT_PX = 200;
  const FEWEST = 30;
  // Distinct on light and dark, also for colour-blind people (after Okabe and Ito).
  const COLOURS = ["#1f83cc", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c"];
  // Steps of an axis of counts: no fractions.
  const WHOLE = [1, 2, 5].flatMap((step) => [...Array(7).keys()].map((power) => step * 10 ** power)).sort((a, b) => a - b);
  const holder = document.getElementById("ops-charts");
  const state = document.getElementById("ops-state");
  const rows = document.querySelector("#ops-now tbody");
  const headings = document.querySelectorAll("#ops-now th");
  const boxes = new Map();

  const element = (tag, text = "", name = "") => {
    const made = document.createElement(tag);
    made.textContent = text;
    made.className = name;
    return made;
  };
  // A canvas knows neither variables nor light-dark(): an element's own colour is what they come to.
  const probe = document.body.appendChild(document.createElement("i"));
  probe.hidden = true;
  const ink = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const number = (value) =>
    value == null ? "–" : value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : 1 });
  const withUnit = (value, unit) =>
    value == null ? "–" : `${number(value)}${unit && !unit.startsWith("/") && unit !== "%" ? " " : ""}${unit}`;

  const clock = (unix_ms) => new Date(unix_ms).toISOString().slice(11, 19);

  const axis = (more) => ({
    stroke: () => ink("--body-fg"),
    grid: { stroke: () => ink("--hairline-color"), width: 1 },
    ticks: { stroke: () => ink("--hairline-color"), width: 1 },
    ...more,
  });

  const series = (name, place, unit) => ({
    label: name,
    stroke: COLOURS[place % COLOURS.length],
    // From the eighth line on, colours repeat, dashed.
    dash: place < COLOURS.length ? undefined : [6, 3],
    width: 1.5,
    points: { size: 4 },
    value: (plot, value, at, index) =>
      withUnit(index == null ? plot.data[at].findLast((one) => one !== null) : value, unit),
  });

  const range = (unit) => (_plot, _least, most) =>
    unit === "%" ? [0, 100] : [0, most > 0 ? most * 1.1 : 1];

  const options = (chart, names, width, box) => ({
    width,
    hooks: { drawClear: [shade(() => box.gaps)] },
    height: HEIGHT_PX,
    tzDate: (unix_s) => uPlot.tzDate(new Date(unix_s * 1000), "Etc/UTC"),
    scales: { y: { range: range(chart.unit) } },
    axes: [
      axis({ space: 60, values: "{HH}:{mm}" }),
      axis({ size: 64, incrs: chart.unit ? undefined : WHOLE, values: (_, marks) => marks.map((mark) => withUnit(mark, chart.unit)) }),
    ],
    series: [
      // Without a pointer, the legend shows the latest values.
      { label: "UTC", value: (_, unix_s) => (unix_s == null ? "latest" : clock(unix_s * 1000)) },
      ...names.map((name, place) => series(name, place, chart.unit)),
    ],
  });

  // A period without samples of anything is shaded: it is not a zero.
  const shade = (gaps) => (plot) => {
    const { ctx, bbox } = plot;
    const step = plot.data[0][1] - plot.data[0][0];
    ctx.save();
    ctx.fillStyle = ink("--darkened-bg");
    for (const [first, last] of gaps()) {
      const left = Math.max(plot.valToPos(plot.data[0][first] - step / 2, "x", true), bbox.left);
      const right = Math.min(plot.valToPos(plot.data[0][last] + step / 2, "x", true), bbox.left + bbox.width);
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    ctx.restore();
  };

  const makeBox = (chart) => {
    const box = element("section", "", "module ops-chart");
    const title = chart.unit ? `${chart.title} (${chart.unit})` : chart.title;
    const plot = element("div");
    const notes = element("ul", "", "help ops-notes");
    box.append(element("h2", title), plot, notes);
    box.setAttribute("aria-label", title);
    holder.append(box);
    const made = { box, plot, notes, drawn: null, names: "", gaps: [] };
    new ResizeObserver(() => fit(made)).observe(plot);
    boxes.set(chart.name, made);
    return made;
  };

  const fit = (box) => {
    const width = box.plot.clientWidth;
    if (box.drawn && width && width !== box.drawn.width) {
      box.drawn.setSize({ width, height: HEIGHT_PX });
    }
  };

  const tell = (box, notes, hasValues) => {
    const said = hasValues || notes.length ? notes : ["There are samples, and none has a value for this chart."];
    box.notes.replaceChildren(...said.map((one) => element("li", one)));
    box.notes.classList.toggle("ops-empty", !hasValues);
  };

  // A chart begins with its first samples, but shows five minutes at least.
  const firstShown = ([gap], count) => (gap?.[0] === 0 ? Math.max(0, Math.min(gap[1] + 1, count - FEWEST)) : 0);

  const draw = (chart, times) => {
    const box = boxes.get(chart.name) || makeBox(chart);
    const names = Object.keys(chart.lines);
    const from = firstShown(chart.gaps, times.length);
    const data = [times, ...names.map((name) => chart.lines[name])].map((values) => values.slice(from));
    const hasValues = data.slice(1).some((values) => values.some((value) => value !== null));
    box.gaps = chart.gaps.filter(([, last]) => last >= from).map(([first, last]) => [Math.max(first - from, 0), last - from]);
    tell(box, chart.notes, hasValues);
    box.plot.hidden = !hasValues;
    if (!hasValues) {
      return;
    }
    // A new set of lines needs a new plot; otherwise only the data changes.
    if (!box.drawn || box.names !== names.join("\n")) {
      box.drawn?.destroy();
      box.names = names.join("\n");
      box.drawn = new uPlot(options(chart, names, box.plot.clientWidth, box), data, box.plot);
    } else {
      box.drawn.setData(data);
    }
  };

  const line = (database, query) => {
    const made = element("tr");
    const cells = [database.name, number(query.age_s), query.state, query.waits_for, query.pid, query.text];
    cells.forEach((text, at) => {
      const cell = element("td", String(text));
      cell.dataset.label = headings[at].textContent;
      made.append(cell);
    });
    return made;
  };

  const note = (text, name) => {
    const row = element("tr", "", name);
    const cell = element("td", text);
    cell.colSpan = 6;
    row.append(cell);
    return row;
  };

  const list = (databases) => {
    const down = databases.filter((one) => one.problem).map((one) => note(one.problem, "ops-wrong"));
    const slow = databases.flatMap((one) => one.queries.map((query) => line(one, query)));
    const rest = down.length ? "None on the other databases." : "None.";
    const none = slow.length || down.length === databases.length ? [] : [note(rest, "")];
    rows.replaceChildren(...down, ...slow, ...none);
  };

  const ask = async (url) => {
    const answer = await fetch(url, { redirect: "error", cache: "no-store" });
    if (!answer.ok) {
      throw new Error(`the server answered ${answer.status}`);
    }
    return answer.json();
  };

  const say = (text, isWrong) => {
    state.textContent = text;
    state.className = isWrong ? "errornote" : "help";
  };
  const refresh = async () => {
    const [charts, now] = await Promise.allSettled([
      ask(holder.dataset.charts),
      ask(holder.dataset.now),
    ]);
    if (now.status === "fulfilled") {
      list(now.value.databases);
    } else {
      rows.replaceChildren(note("Not known: the server did not answer.", "ops-wrong"));
    }
    const failed = [charts, now].find((one) => one.status === "rejected");
    if (failed) {
      say(`Not refreshed at ${clock(Date.now())} UTC: ${failed.reason.message}`, true);
    }
    if (charts.status === "fulfilled" && charts.value.problem) {
      say(charts.value.problem, true);
    } else if (typeof uPlot === "undefined") {
      // The library stops where a browser's language has no valid name.
      say("This browser cannot draw the charts: they could not be loaded.", true);
    } else if (charts.status === "fulfilled") {
      charts.value.charts.forEach((chart) => draw(chart, charts.value.times));
      if (!failed) {
        say(`Refreshed at ${clock(Date.now())} UTC, every ${EVERY_MS / 1000} seconds.`, false);
      }
    }
  };

  const goOn = async () => {
    if (!document.hidden) {
      await refresh();
    }
    setTimeout(goOn, EVERY_MS);
  };

  // Dark or light: the canvases are drawn again in the new ink.
  const redraw = () => boxes.forEach((box) => box.drawn?.redraw());
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  goOn();
})();
