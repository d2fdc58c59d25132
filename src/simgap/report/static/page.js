"use strict";
/* The page: draws figures when there is time, walks through them by keyboard, writes
   CSV files, and changes between light and dark paper. */
(async () => {
  const root = document.documentElement;
  const data = await unpacked(document.getElementById("data"));
  const canvases = [...document.querySelectorAll("[data-figure]")];
  const state = new Map(); // canvas -> {drawn, hidden, series, at}
  const PRINTED = 660; // pixels across a sheet of A4 between its margins
  const MANY_ROWS = 500;
  let printing = false, chosen, folded = []; // before printing, which is on white and shows all

  const element = (name, text) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return made;
  };

  /* Large data are gzip in base64. */
  async function unpacked(held) {
    if (held.type === "application/json") return JSON.parse(held.textContent);
    const bytes = Uint8Array.from(atob(held.textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  /* figures */

  function draw(canvas) {
    const figure = data[canvas.dataset.figure];
    const known = state.get(canvas) || { hidden: Figures.hidden(figure), series: [], line: 0, point: -1, place: figure.first === undefined ? 0 : figure.first };
    state.set(canvas, known);
    try {
      const width = printing ? PRINTED : Math.max(240, Math.floor(canvas.clientWidth));
      const made = Figures.make[figure.kind](figure, width, known.place, known.hidden);
      for (const trace of made.traces) trace.visible = !(trace.legendgroup && known.hidden.has(trace.legendgroup));
      known.series = made.series;
      canvas.style.height = made.layout.height + "px";
      legend(canvas, made.legend, known);
      Plotly.react(canvas, made.traces, made.layout, { displayModeBar: false, doubleClick: "reset+autosize", showTips: false, typesetMath: false });
      if (made.told !== undefined) canvas.parentElement.querySelector(".told").textContent = made.told;
      if (!canvas.dataset.state && (figure.kind === "curves" || figure.kind === "sweep")) canvas.on("plotly_relayout", () => zoomed(canvas));
      canvas.dataset.state = "drawn";
    } catch (error) {
      canvas.textContent = "This figure could not be drawn; its numbers are below.";
      canvas.dataset.state = "failed";
      console.error(error);
    }
  }

  function zoomed(canvas) {
    const change = Figures.stepsNow(canvas);
    if (Object.keys(change).length > 0) Plotly.relayout(canvas, change);
  }

  function legend(canvas, entries, known) {
    const box = canvas.parentElement.querySelector(".legend");
    const made = entries.map((entry) => {
      const item = element(entry.group ? "button" : "span");
      if (entry.group) {
        item.type = "button";
        item.setAttribute("aria-pressed", String(!known.hidden.has(entry.group)));
        item.addEventListener("click", () => {
          if (!known.hidden.delete(entry.group)) known.hidden.add(entry.group);
          const index = [...box.children].indexOf(item);
          draw(canvas);
          box.children[index].focus();
        });
      }
      item.append(sample(entry), element("bdi", entry.name));
      return item;
    });
    box.replaceChildren(...made);
    box.hidden = made.length === 0;
  }

  function sample(entry) {
    const space = "http://www.w3.org/2000/svg";
    const picture = document.createElementNS(space, "svg");
    picture.setAttribute("viewBox", "0 0 34 12");
    picture.setAttribute("aria-hidden", "true");
    const put = (name, attributes) => {
      const made = document.createElementNS(space, name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      picture.append(made);
    };
    if (entry.tick) {
      put("rect", { x: 15, y: 0, width: 3, height: 12, fill: entry.colour });
      return picture;
    }
    if (entry.box) {
      put("rect", { x: 11, y: 0, width: 12, height: 12, fill: entry.colour });
      if (entry.open) put("path", { d: "M11 7l7-7M12 12l11-11M18 12l5-5", stroke: "var(--card)", "stroke-width": 1.6 });
      return picture;
    }
    const dashes = { solid: "", dot: "2 3", dash: "7 4", dashdot: "7 3 2 3", longdash: "11 4" };
    if (!entry.alone) put("path", { d: "M0 6H34", stroke: entry.colour, "stroke-width": 2.2, "stroke-dasharray": dashes[entry.dash], fill: "none" });
    const shapes = {
      circle: "M21 6a4 4 0 1 1-8 0a4 4 0 1 1 8 0", square: "M13.5 2.5h7v7h-7z", diamond: "M17 1l5 5l-5 5l-5-5z",
      "triangle-up": "M17 1.5l5 8.5h-10z", "triangle-down": "M17 10.5l5-8.5h-10z", star: "M17 0l1.7 4h4.3l-3.4 2.8l1.2 4.4l-3.8-2.4l-3.8 2.4l1.2-4.4l-3.4-2.8h4.3z",
      x: "M13 3.5l1.5-1.5l2.5 2.5l2.5-2.5l1.5 1.5l-2.5 2.5l2.5 2.5l-1.5 1.5l-2.5-2.5l-2.5 2.5l-1.5-1.5l2.5-2.5z", cross: "M15.5 1.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
    };
    if (entry.symbol) put("path", { d: shapes[entry.symbol], fill: entry.open ? "none" : entry.colour, stroke: entry.colour, "stroke-width": entry.open ? 1.6 : 0 });
    return picture;
  }

  /* One figure at a time, the nearest to what is on the screen first, so that the page
     answers while it draws. */
  const waiting = new Set();
  let busy = false;

  function ask(every) {
    for (const canvas of every) waiting.add(canvas);
    root.dataset.figures = "waiting";
    if (!busy) {
      busy = true;
      setTimeout(next, 0);
    }
  }

  function next() {
    if (waiting.size === 0) {
      busy = false;
      root.dataset.figures = "drawn";
      return;
    }
    const far = (canvas) => {
      const box = canvas.getBoundingClientRect();
      return Math.max(0, box.top - innerHeight, -box.bottom);
    };
    const canvas = [...waiting].reduce((best, each) => (far(each) < far(best) ? each : best));
    waiting.delete(canvas);
    draw(canvas);
    setTimeout(next, 0);
  }

  /* keyboard */

  function walk(event) {
    const canvas = event.currentTarget, known = state.get(canvas);
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity] };
    if (event.key === "Escape") {
      Plotly.Fx.unhover(canvas);
      reading(canvas, "");
      return;
    }
    const move = moves[event.key];
    if (!move || !known || known.series.length === 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const within = (value, size) => Math.min(Math.max(value, 0), Math.max(0, size - 1));
    known.line = within(known.line + move[0], known.series.length);
    const series = known.series[known.line];
    known.point = within(known.point < 0 && move[1] <= 0 ? 0 : known.point + move[1], series.texts.length);
    if (series.texts.length === 0) return;
    if (series.row === undefined) Plotly.Fx.hover(canvas, [{ curveNumber: series.trace, pointNumber: known.point }]);
    else Plotly.Fx.hover(canvas, { xval: known.point, yval: series.row });
    reading(canvas, series.texts[known.point] || "no number");
  }

  function reading(canvas, text) {
    canvas.parentElement.querySelector(".reading").textContent = text;
  }

  /* sliders */

  function slide(event) {
    const slider = event.target, key = slider.dataset.slider;
    const canvas = document.querySelector('[data-figure="' + key + '"]'), known = state.get(canvas);
    const place = Math.min(Math.max(Math.round(Number(slider.value)), 0), data[key].places.length - 1);
    slider.setAttribute("aria-valuetext", data[key].places[place]);
    slider.parentElement.querySelector("output").textContent = data[key].places[place];
    if (!known || known.place === place) return;
    known.place = place;
    draw(canvas);
    if (known.point >= 0) reading(canvas, known.series[known.line].texts[known.point] || "no number");
  }

  /* what a figure of a sweep shows */

  function choose(event) {
    const key = event.target.dataset.choice, canvas = document.querySelector('[data-figure="' + key + '"]'), known = state.get(canvas);
    const role = event.target.dataset.role, value = event.target.value;
    const before = known.place;
    known.place = Sweep.chosen(data[key], before, role, role === "scale" ? value : Number(value));
    known.point = -1;
    if (known.place.colour !== before.colour || role === "y") known.hidden = new Set(Sweep.far(data[key], known.place));
    choices(canvas);
    reading(canvas, "");
    draw(canvas);
  }

  function choices(canvas) {
    const key = canvas.dataset.figure, place = state.get(canvas).place, held = Sweep.held(data[key], place);
    for (const each of canvas.parentElement.querySelectorAll("[data-choice]")) {
      const role = each.dataset.role, at = role.startsWith("at-") ? Number(role.slice(3)) : -1;
      each.value = String(at < 0 ? place[role] : place.at[at]);
      each.parentElement.hidden = at >= 0 && !held.includes(at);
    }
  }

  /* numbers */

  function numbers(event) {
    const box = event.target.querySelector(".scroll");
    if (!event.target.open || box.firstChild) return;
    const rows = Figures.rows(data[event.target.dataset.numbers]);
    const table = element("table"), head = element("thead"), body = element("tbody");
    const top = element("tr");
    for (const cell of rows[0]) top.append(element("th", cell));
    for (const row of rows.slice(1, MANY_ROWS + 1)) {
      const line = element("tr");
      row.forEach((cell, at) => line.append(element(at ? "td" : "th", typeof cell === "number" ? Figures.shown(cell, 6) : cell === null ? "-" : cell)));
      body.append(line);
    }
    head.append(top);
    table.append(head, body);
    box.append(table);
    if (rows.length - 1 > MANY_ROWS) box.after(element("p", rows.length - 1 - MANY_ROWS + " more rows are in the CSV file."));
  }

  /* Words that a spreadsheet would take for a formula get a quotation mark in front. */
  function cell(value) {
    if (value === null) return "";
    if (typeof value === "number") return String(value);
    let text = String(value);
    if (text === "inf" || text === "-inf") return text;
    if (/^\s*[=+\-@\t\r]/.test(text)) text = "'" + text;
    return /[",\r\n;]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  }

  function save(name, type, content) {
    const link = element("a");
    const address = URL.createObjectURL(new Blob([content], { type: type }));
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  function saveRows(event) {
    const key = event.currentTarget.dataset.csv;
    const text = Figures.rows(data[key]).map((row) => row.map(cell).join(",")).join("\r\n");
    save(key + ".csv", "text/csv;charset=utf-8", text + "\r\n");
  }

  function saveImage(event) {
    const key = event.currentTarget.dataset.svg;
    const canvas = document.querySelector('[data-figure="' + key + '"]');
    Plotly.toImage(canvas, { format: "svg", imageDataOnly: true }).then((text) => save(key + ".svg", "image/svg+xml", text));
  }

  /* commands */

  const copy = document.getElementById("copy");

  function copyCommands() {
    const block = document.getElementById("commands"), said = copy.parentElement.querySelector(".said");
    const chosen = () => {
      getSelection().selectAllChildren(block);
      said.textContent = document.execCommand("copy") ? "Copied." : "Selected; copy it with your keyboard.";
    };
    if (!navigator.clipboard) chosen();
    else navigator.clipboard.writeText(block.textContent).then(() => (said.textContent = "Copied."), chosen);
  }

  if (copy) {
    copy.hidden = false;
    copy.addEventListener("click", copyCommands);
  }

  /* What is folded opens if a link leads into it, and for print; figures inside are
     drawn when there is room for them. */

  function unfold() {
    const aim = location.hash.length > 1 ? document.getElementById(location.hash.slice(1)) : null;
    for (let box = aim; box; box = box.parentElement) if (box.tagName === "DETAILS") box.open = true;
    if (aim) aim.scrollIntoView();
  }

  addEventListener("hashchange", unfold);

  /* The index says which part is on the screen. */
  const links = new Map([...document.querySelectorAll(".index a")].map((link) => [link.hash.slice(1), link]));
  const heads = [...links.keys()].map((name) => document.getElementById(name));

  function here() {
    const above = heads.filter((head) => head.getBoundingClientRect().top < innerHeight / 3);
    links.forEach((link) => link.removeAttribute("aria-current"));
    if (above.length) links.get(above[above.length - 1].id).setAttribute("aria-current", "true");
  }

  addEventListener("scroll", here, { passive: true });
  here();

  /* paper */

  const button = document.getElementById("theme");
  const wishes = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wishes.matches);
  const label = () => (button.textContent = dark() ? "Light paper" : "Dark paper");

  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    label();
    ask(canvases);
  });
  wishes.addEventListener("change", () => {
    label();
    ask(canvases);
  });
  label();

  function print(now) {
    if (printing === now) return;
    printing = now;
    if (now) {
      chosen = root.dataset.theme;
      root.dataset.theme = "light";
      folded = [...document.querySelectorAll("details.fold:not([open])")];
    } else if (chosen) root.dataset.theme = chosen;
    else delete root.dataset.theme;
    for (const box of folded) box.open = now;
    waiting.clear();
    canvases.forEach(draw);
    root.dataset.figures = "drawn";
  }

  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  matchMedia("print").addEventListener("change", (event) => print(event.matches));

  let late = 0, width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width || printing) return;
    width = innerWidth;
    clearTimeout(late);
    late = setTimeout(() => ask(canvases), 150);
  });

  /* tables wider than the screen: their cut edge fades, and words say that they move */

  function edge(box) {
    box.classList.toggle("more", box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
  }

  function wide(box) {
    const cut = box.scrollWidth > box.clientWidth + 2;
    let words = box.nextElementSibling;
    if (!words || words.className !== "swipe") {
      words = element("p", "The table goes on to the right: move it sideways.");
      words.className = "swipe";
      box.after(words);
    }
    words.hidden = !cut;
    edge(box);
  }

  const watch = new ResizeObserver((seen) => seen.forEach((each) => wide(each.target)));
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.closest(".numbers")) continue;
    watch.observe(box);
    box.addEventListener("scroll", () => edge(box), { passive: true });
  }

  for (const canvas of canvases) canvas.addEventListener("keydown", walk);
  for (const each of document.querySelectorAll("[data-slider]")) {
    each.value = each.defaultValue; // a browser may remember another place
    each.addEventListener("input", slide);
  }
  for (const each of document.querySelectorAll("[data-choice]")) each.addEventListener("change", choose);
  for (const each of document.querySelectorAll("[data-numbers]")) each.addEventListener("toggle", numbers);
  for (const each of document.querySelectorAll("[data-csv]")) each.addEventListener("click", saveRows);
  for (const each of document.querySelectorAll("[data-svg]")) each.addEventListener("click", saveImage);
  ask(canvases);
  if (location.hash) unfold();
})().catch((error) => {
  document.getElementById("stopped").hidden = false;
  console.error(error);
});
