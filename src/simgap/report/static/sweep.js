"use strict";
/* The figure of a sweep: the reader chooses a number, an axis across, one for colours
   and one for panels; every other axis is held at a value. Seeds are never averaged:
   each has a line or a bar of its own. Names are strangers' words, as in figures.js. */
const Sweep = (() => {
  const { css, colour, real, shown, interval, twoLines, wrapped, cut, escaped, hover, axis, layout, steps, faded, SYMBOLS, DASHES, FEW, NARROW } = Figures.parts;
  const MOST_COLOURS = 16, MOST_PANELS = 12, MOST_EACH = 60, CROWD = 8, FAR = 20; // lines and panels that can be told apart; lines of a colour that have room for intervals; times
  const EVERY = -1, NONE = -1, NUMBERS = -2; // in colours: the numbers of a cell beside each other

  /* Where a cell stands in the columns, from the place on every axis. */
  const place = (figure, at) => figure.axes.reduce((sum, each, k) => sum * each.labels.length + at[k], 0);
  const columns = (figure, choice) => (choice.colour === NUMBERS ? figure.columns : [figure.columns[choice.y]]);
  const inks = (figure, choice) => (choice.colour === NONE ? [""] : choice.colour === NUMBERS ? figure.columns.map((each) => each.name) : figure.axes[choice.colour].labels).slice(0, MOST_COLOURS);
  const count = (figure, k, most) => Math.min(k === NONE ? 1 : figure.axes[k].labels.length, most);

  /* What is chosen after the reader has set one thing: an axis has one role. */
  function chosen(figure, before, role, value) {
    const now = Object.assign({}, before, { at: [...before.at] });
    if (role.startsWith("at-")) now.at[Number(role.slice(3))] = value;
    else if (role === "scale") now.scale = value;
    else {
      const other = ["x", "colour", "panel"].find((each) => role !== "y" && each !== role && value >= 0 && before[each] === value);
      if (other === "x" && before[role] < 0) {
        const free = figure.axes.findIndex((each, k) => k !== value && k !== before.colour && k !== before.panel);
        if (free < 0) return before;
        now.x = free;
      } else if (other) now[other] = Math.max(before[role], NONE);
      now[role] = value;
    }
    return now;
  }

  /* The axes that have no role: the reader holds them at a value. */
  const held = (figure, choice) => figure.axes.map((each, k) => k).filter((k) => ![choice.x, choice.colour, choice.panel].includes(k));

  /* Numbers that would make the chosen one look flat, or would look flat beside it: they begin hidden. */
  function far(figure, choice) {
    const size = (each) => [each.value, each.lower, each.upper].flat().map(real).filter(Number.isFinite).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const mine = size(figure.columns[choice.y]);
    return choice.colour === NUMBERS ? inks(figure, choice).map((name, c) => (size(figure.columns[c]) > FAR * mine || size(figure.columns[c]) < mine / FAR ? "curve" + c : "")).filter(Boolean) : [];
  }

  /* Every line of a panel: {colour, name, at} with `at` to be completed along x. */
  function lines(figure, choice, panel) {
    const found = [], at = choice.at.map((each) => each);
    if (choice.panel !== NONE) at[choice.panel] = panel;
    const many = held(figure, choice).filter((k) => choice.at[k] === EVERY);
    const each = many.length ? many[0] : NONE; // seeds
    inks(figure, choice).forEach((name, c) => {
      if (choice.colour >= 0) at[choice.colour] = c;
      for (let s = 0; s < count(figure, each, MOST_EACH); s++) {
        if (each !== NONE) at[each] = s;
        const seed = each === NONE ? "" : figure.axes[each].name + " " + figure.axes[each].labels[s];
        found.push({ colour: c, name: name, seed: seed, many: count(figure, each, MOST_EACH), at: [...at], column: columns(figure, choice)[choice.colour === NUMBERS ? c : 0] });
      }
    });
    return found;
  }

  /* The cells of a line: number, ends, how sure, and what the reader is told. */
  function points(figure, choice, line) {
    const column = line.column, x = figure.axes[choice.x];
    return x.labels.map((label, k) => {
      const at = [...line.at];
      at[choice.x] = k;
      const cell = place(figure, at), value = real(column.value[cell]);
      const low = column.lower[cell] === null ? value : real(column.lower[cell]), high = column.upper[cell] === null ? value : real(column.upper[cell]);
      const state = figure.states[cell], sure = column.sure[cell];
      const told = [
        [choice.colour === NUMBERS ? "" : line.name, line.seed].filter(Boolean).join(", "),
        x.name + ": " + label,
        choice.panel === NONE ? "" : figure.axes[choice.panel].name + ": " + figure.axes[choice.panel].labels[at[choice.panel]],
        state === 0 ? column.name + ": " + shown(value) : state === 1 ? "failed" : "not there yet",
        state === 0 ? interval(low, high, value) : "",
        sure === null ? "" : figure.words[sure],
      ];
      return { x: x.values ? x.values[k] : k, y: value, low: low, high: high, state: state, sure: sure === null ? "" : figure.sures[sure], told: told };
    }).sort((a, b) => a.x - b.x);
  }

  const finite = (value) => (Number.isFinite(value) ? value : null);
  const spread = (found, ink, thin) => ({
    type: "data", symmetric: false, color: ink, thickness: thin ? 1 : 1.4, width: thin ? 2 : 4,
    array: found.map((p) => (Number.isFinite(p.high) ? p.high - p.y : 0)), arrayminus: found.map((p) => (Number.isFinite(p.low) ? p.y - p.low : 0)),
  });
  const wide = (found) => found.some((p) => p.high - p.low > 1e-9 * Math.abs(p.y));

  /* One curve: a line with markers, filled if certified and open if estimated. */
  function curve(found, line, logs) {
    const ink = colour(line.colour), group = "curve" + line.colour, traces = [], thin = line.many > 1, crowd = line.many > CROWD;
    const fits = (p) => Number.isFinite(p.y) && (!logs.y || p.y > 0) && (!logs.x || p.x > 0);
    const kept = found.map((p) => (fits(p) ? p : Object.assign({}, p, { y: null })));
    const there = kept.filter((p) => p.y !== null);
    const least = Math.min(...there.map((p) => p.y)) / 3; // where a band ends that reaches 0 on a logarithmic axis
    const low = kept.map((p) => (p.y === null ? null : finite(logs.y ? Math.max(p.low, least) : p.low)));
    const high = kept.map((p) => (p.y === null ? null : finite(p.high)));
    const x = kept.map((p) => p.x);
    const open = wide(there) && !crowd;
    if (open && there.length > FEW) {
      const edge = { mode: "lines", hoverinfo: "skip", legendgroup: group, line: { width: 0, color: ink }, x: x };
      traces.push(Object.assign({ y: high }, edge), Object.assign({ y: low, fill: "tonexty", fillcolor: faded(ink, thin ? 0.08 : 0.16) }, edge));
    }
    const symbol = SYMBOLS[(line.colour + Math.floor(line.colour / 8)) % 8];
    const main = {
      x: x, y: kept.map((p) => p.y), legendgroup: group, mode: there.length > 1 ? "lines+markers" : "markers", connectgaps: false,
      line: { color: ink, width: crowd ? 0.7 : thin ? 1 : 2.2, dash: DASHES[Math.floor(line.colour / 8) % 3] },
      marker: { color: kept.map((p) => (p.sure === "estimated" ? css("--card") : ink)), size: crowd ? 4 : thin ? 6 : 7, symbol: symbol, line: { width: crowd ? 0.8 : 1.5, color: ink }, maxdisplayed: x.length > 30 ? 14 : 0 },
      customdata: kept.map((p) => hover(p.told)), hovertemplate: "%{customdata}<extra></extra>",
    };
    if (open && there.length <= FEW) main.error_y = spread(kept.map((p, k) => (p.y === null ? { y: 0, low: 0, high: 0 } : { y: p.y, low: low[k], high: p.high })), ink, thin);
    traces.push(main);
    return traces;
  }

  /* The bars of a line, beside those of the others; hatched if estimated. */
  function bars(found, line, at, many) {
    const ink = colour(line.colour), room = 0.8 / many;
    const kept = found.map((p) => (Number.isFinite(p.y) ? p : Object.assign({}, p, { y: null, low: null, high: null })));
    const trace = {
      type: "bar", legendgroup: "curve" + line.colour, x: kept.map((p) => p.x - 0.4 + room * (at + 0.5)), y: kept.map((p) => p.y), width: room * (many > 1 ? 0.9 : 0.75),
      marker: { color: ink, pattern: { shape: kept.map((p) => (p.sure === "estimated" ? "/" : "")), fillmode: "overlay", fgcolor: css("--card"), fgopacity: 1, solidity: 0.25, size: 7 } },
      customdata: kept.map((p) => hover(p.told)), hovertemplate: "%{customdata}<extra></extra>",
    };
    if (wide(kept)) trace.error_y = spread(kept, css("--ink"), many > 12);
    return { trace: trace, kept: kept };
  }

  function make(figure, width, choice) {
    const x = figure.axes[choice.x], about = choice.colour === NUMBERS ? "" : figure.columns[choice.y].about, curves = x.values !== null;
    const logs = { x: curves && (choice.scale ? choice.scale.includes("x") : x.log) && x.values.every((value) => value > 0), y: curves && choice.scale.includes("y") };
    const panels = count(figure, choice.panel, MOST_PANELS);
    const across = panels === 1 || width < NARROW ? 1 : panels === 2 || panels === 4 ? 2 : 3, down = Math.ceil(panels / across);
    const label = Math.max(...x.labels.map((each) => each.length)), room = (width - 70) / across / x.labels.length;
    const steep = !curves && room < 70, deep = steep ? 16 + 7 * Math.min(label, 14) : curves ? 22 : 38;
    const high = panels === 1 ? Math.round(Math.min(400, Math.max(280, width * 0.5))) : across === 1 ? 210 : 220;
    const top = panels > 1 ? 26 : 10, between = deep + 30, bottom = deep + 30, left = margin(figure, choice, about, high), right = 12, gap = 18;
    const inner = down * high + (down - 1) * between, w = width - left - right;
    const made = { traces: [], series: [], legend: [], told: "" };
    const more = { annotations: [], bargap: 0, barmode: "overlay", margin: { l: left, r: right, t: top, b: bottom } };
    const sures = new Set(), seen = { cells: 0, failed: 0, missing: 0, away: 0 }, reach = [0, 1e-9]; // from and to where bars go
    for (let p = 0; p < panels; p++) {
      const row = Math.floor(p / across), place = p % across, tail = p === 0 ? "" : String(p + 1);
      const one = (w - gap * (across - 1)) / across, domain = [(place * (one + gap)) / w, Math.min(1, (place * (one + gap) + one) / w)];
      const ceiling = 1 - (row * (high + between)) / inner, floor = Math.max(0, ceiling - high / inner);
      const all = lines(figure, choice, p);
      all.forEach((line, at) => {
        const found = points(figure, choice, line);
        for (const each of found) {
          seen.cells += 1;
          seen.failed += each.state === 1;
          seen.missing += each.state === 2;
          seen.away += each.state === 0 && each.sure !== "" && (!Number.isFinite(each.y) || (logs.y && each.y <= 0));
          if (each.sure) sures.add(each.sure);
          for (const end of [each.y, each.low, each.high].filter(Number.isFinite)) reach.splice(0, 2, Math.min(reach[0], end), Math.max(reach[1], end));
        }
        const built = curves ? { traces: curve(found, line, logs), kept: found } : bars(found, line, at, all.length);
        for (const trace of built.traces || [built.trace]) made.traces.push(Object.assign(trace, { xaxis: "x" + tail, yaxis: "y" + tail }));
        made.series.push({ trace: made.traces.length - 1, texts: built.kept.map((each) => each.told.filter(Boolean).join("; ")) });
      });
      const last = p + across >= panels;
      const words = curves ? ticks(x, logs.x, one) : { tickvals: x.labels.map((each, k) => k), ticktext: x.labels.map((each) => (steep ? escaped(cut(each, 14)) : twoLines(each, Math.max(6, Math.floor(room / 7.5))))), tickangle: steep ? -90 : 0, showgrid: false, zeroline: false, range: [-0.5, x.labels.length - 0.5] };
      const span = logs.x ? Math.log10(Math.max(...x.values) / Math.min(...x.values)) * 1.1 : 0;
      const shared = p === 0 ? {} : { matches: "x" };
      more["xaxis" + tail] = axis(last ? x.name : "", one, logs.x, Object.assign({ automargin: false, autorange: curves, domain: domain, anchor: "y" + tail }, logs.x ? { dtick: steps(span, one - 20, 54) } : {}, words, shared));
      more["yaxis" + tail] = axis(place === 0 ? about : "", high, logs.y, Object.assign({ automargin: false, domain: [floor, ceiling], anchor: "x" + tail, showticklabels: place === 0, nticks: 7 }, logs.y ? { dtick: logSteps(figure, choice, high) } : curves ? { autorange: true } : {}, p === 0 ? {} : { matches: "y" }));
      if (panels > 1) more.annotations.push({ xref: "paper", yref: "paper", x: domain[0], y: ceiling, xanchor: "left", yanchor: "bottom", yshift: 3, showarrow: false, align: "left", font: { size: 12, color: css("--soft") }, text: escaped(cut(figure.axes[choice.panel].name + ": " + figure.axes[choice.panel].labels[p], Math.floor(one / 6.6))) });
    }
    if (!curves) more.yaxis.range = reach.map((end) => end * 1.05);
    made.layout = layout(width, inner + top + bottom, more);
    legend(made.legend, figure, choice, curves, sures);
    made.told = told(figure, choice, seen, panels);
    return made;
  }

  /* Room for the name of the number and its labels. */
  function margin(figure, choice, about, high) {
    const all = columns(figure, choice).flatMap((each) => [each.value, each.lower, each.upper]).flat().map(real).filter(Number.isFinite);
    const [low, top] = all.reduce((ends, value) => [Math.min(ends[0], value), Math.max(ends[1], value)], [0, 0]);
    const long = Math.max(3, ...[low, top / 3, top].map((value) => shown(value, 2).length));
    return 20 + 18 * wrapped(about, high).split("<br>").length + 7.5 * Math.min(long, 7);
  }

  /* Labels at the values themselves, where they have room. */
  function ticks(x, log, room) {
    const at = x.values.map((value) => (log ? Math.log10(value) : value)).sort((a, b) => a - b), long = 7 * Math.max(...x.values.map((value) => shown(value, 4).length)) + 12;
    const near = Math.min(...at.slice(1).map((value, k) => value - at[k]));
    return (near / (at[at.length - 1] - at[0])) * room * 0.88 >= long ? { tickmode: "array", tickvals: x.values, ticktext: x.values.map((value) => shown(value, 4)) } : {};
  }

  /* The step of a logarithmic axis upwards. */
  function logSteps(figure, choice, high) {
    const logs = columns(figure, choice).flatMap((each) => each.value).map(real).filter((value) => value > 0 && Number.isFinite(value)).map(Math.log10);
    return logs.length ? steps(1.12 * (logs.reduce((a, b) => Math.max(a, b)) - logs.reduce((a, b) => Math.min(a, b))) || 1, high, 17) : 1;
  }

  function legend(entries, figure, choice, curves, sures) {
    if (choice.colour !== NONE) {
      inks(figure, choice).forEach((name, c) => {
        const symbol = SYMBOLS[(c + Math.floor(c / 8)) % 8];
        entries.push(Object.assign({ name: name, colour: colour(c), group: "curve" + c }, curves ? { dash: DASHES[Math.floor(c / 8) % 3], symbol: symbol } : { box: true }));
      });
    }
    const plain = [...sures].filter((word) => word !== "estimated");
    if (!sures.has("estimated")) return;
    const soft = css("--soft");
    if (plain.length) entries.push(curves ? { name: plain.join(", "), colour: soft, symbol: "circle", alone: true } : { name: plain.join(", "), colour: soft, box: true });
    entries.push(curves ? { name: "estimated", colour: soft, symbol: "circle", alone: true, open: true } : { name: "estimated", colour: soft, box: true, open: true });
  }

  /* What is not in the figure, in words. */
  function told(figure, choice, seen, panels) {
    const words = [];
    const few = (k, most) => k >= 0 && figure.axes[k].labels.length > most && words.push("The first " + most + " of " + figure.axes[k].labels.length + " values of " + figure.axes[k].name + " are drawn.");
    few(choice.colour, MOST_COLOURS);
    few(choice.panel, MOST_PANELS);
    for (const k of held(figure, choice).filter((each) => choice.at[each] === EVERY)) {
      few(k, MOST_EACH);
      const name = figure.axes[k].name;
      if (figure.axes[k].values && figure.axes[choice.x].values && count(figure, k, MOST_EACH) > CROWD) words.push("Intervals are not drawn for so many values of " + name + ": choose one of them to see its intervals.");
    }
    if (seen.failed) words.push("Of the " + seen.cells + " cells that belong here, " + seen.failed + " failed: there are gaps.");
    if (seen.missing) words.push("Not there yet: " + seen.missing + ".");
    if (seen.away) words.push("Numbers without a place on this axis: " + seen.away + ".");
    return words.join(" ");
  }

  /* All cells of the page as rows of a file. */
  function rows(figure) {
    const head = [...figure.axes.map((each) => each.name), ...figure.columns.flatMap((each) => [each.name, each.name + ", lower", each.name + ", upper", each.name + ", certainty"]), "state"];
    const states = ["done", "failed", "not yet"], sizes = figure.axes.map((each) => each.labels.length);
    const body = figure.states.map((state, cell) => {
      let left = cell;
      const at = sizes.map(() => 0);
      for (let k = sizes.length - 1; k >= 0; k--) {
        at[k] = left % sizes[k];
        left = Math.floor(left / sizes[k]);
      }
      const axes = figure.axes.map((each, k) => (each.values ? each.values[at[k]] : each.labels[at[k]]));
      const numbers = figure.columns.flatMap((each) => [each.value[cell], each.lower[cell] === null ? each.value[cell] : each.lower[cell], each.upper[cell] === null ? each.value[cell] : each.upper[cell], each.sure[cell] === null ? null : figure.words[each.sure[cell]]]);
      return [...axes, ...numbers, states[state]];
    });
    return [head, ...body];
  }

  Figures.make.sweep = make;
  return { chosen: chosen, held: held, far: far, rows: rows };
})();
