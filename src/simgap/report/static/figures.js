"use strict";
/* Figures: data of the page to plotly. Names are strangers' words: they are escaped for
   plotly's own markup, and everything else is set as text. */
const Figures = (() => {
  const SYMBOLS = ["circle", "square", "diamond", "triangle-up", "x", "star", "triangle-down", "cross"];
  const DASHES = ["solid", "dot", "dashdot"];
  const BOUND_DASHES = ["dash", "dashdot", "longdash", "dot"];
  const SURE_COLOURS = { exact: "--green", certified: "--blue", "certified for this grid": "--blue", estimated: "--orange" };
  const SURE_PATTERNS = { exact: "", certified: "", "certified for this grid": "", estimated: "/", unlabelled: "x" };
  const FEW = 15; // points up to which intervals are bars; above, a band
  const NARROW = 560;
  const WRITTEN = 600; // cells of a map up to which their numbers are written
  const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (at) => css("--c" + (at % 8));
  const escaped = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const real = (value) => (typeof value === "number" ? value : value === "inf" ? Infinity : value === "-inf" ? -Infinity : NaN);
  const shown = (value, digits) => {
    const number = real(value);
    if (!Number.isFinite(number)) return number > 0 ? "infinite" : number < 0 ? "-infinite" : "-";
    if (Number.isInteger(number) && Math.abs(number) < 1e15) return String(number);
    return String(Number(number.toPrecision(digits || 5)));
  };
  const faded = (hex, share) => {
    const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return "rgba(" + parts.join(",") + "," + share + ")";
  };
  const interval = (low, high, value) => ((low === value && high === value) || shown(low) === shown(high) ? "" : "between " + shown(low) + " and " + shown(high));
  const wrapped = (text, room) => {
    const most = Math.max(10, Math.floor(room / 8)), lines = [""];
    for (const word of String(text).split(" ")) {
      const last = lines[lines.length - 1];
      if (last && last.length + word.length + 1 > most) lines.push(word);
      else lines[lines.length - 1] = last ? last + " " + word : word;
    }
    return lines.map((line) => escaped(cut(line, most))).join("<br>");
  };
  const twoLines = (text, most) => {
    const lines = wrapped(text, 8 * most).split("<br>");
    return lines.length > 2 ? lines[0] + "<br>" + lines[1] + "…" : lines.join("<br>");
  };
  const hover = (lines) => lines.filter(Boolean).map(escaped).join("<br>");

  const after = (word, name) => (word ? word + " " + name : name);

  function axis(title, room, logarithmic, extra) {
    return Object.assign({
      title: { text: wrapped(title, room), standoff: 8 },
      type: logarithmic ? "log" : "linear",
      automargin: true,
      gridcolor: css("--track"),
      linecolor: css("--line"),
      zerolinecolor: css("--line"),
      exponentformat: "power",
      minexponent: 4,
      tickformat: logarithmic ? "~g" : "",
    }, extra || {});
  }

  function layout(width, height, more) {
    return Object.assign({
      width: width,
      height: height,
      margin: { l: 56, r: 14, t: 12, b: 48 },
      font: { family: FONT, size: 13, color: css("--ink") },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      showlegend: false,
      hovermode: "closest",
      hoverdistance: 30,
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "zoom",
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--soft"), font: { color: css("--ink"), family: FONT, size: 13 }, align: "left", namelength: -1 },
    }, more);
  }

  /* Where the labels of a logarithmic axis stand: at 1 to 9, at 1, 2 and 5, or at every
     so many decades, as they find room. `span` is in decades, `label` in pixels. */
  function steps(span, room, label) {
    if (Math.log10(10 / 9) * room >= label * span) return "D1";
    if (Math.log10(2) * room >= label * span) return "D2";
    return Math.max(1, Math.ceil((label * span) / room));
  }

  /* The same after the reader has zoomed. */
  function stepsNow(canvas) {
    const full = canvas._fullLayout, change = {};
    for (const name of Object.keys(full).filter((each) => /^[xy]axis[0-9]*$/.test(each) && full[each].type === "log")) {
      const [room, label] = name[0] === "x" ? [full._size.w, 54] : [full._size.h, 17], share = full[name].domain[1] - full[name].domain[0];
      const step = steps(Math.abs(full[name].range[1] - full[name].range[0]), room * share, label);
      if (step !== full[name].dtick) change[name + ".dtick"] = step;
    }
    return change;
  }

  /* Each of the three returns {traces, layout, series, legend}: series are the points a
     keyboard walks through, as {trace, texts, at}. */

  /* Curves that begin hidden, by their group. */
  function hidden(figure) {
    return new Set((figure.curves || []).map((curve, at) => (curve.hidden ? "curve" + at : "")).filter(Boolean));
  }

  function curves(figure, width, _, away) {
    const traces = [], series = [], legend = [];
    const fits = (x, y) => Number.isFinite(x) && Number.isFinite(y) && (!figure.log_x || x > 0) && (!figure.log_y || y > 0);
    const heights = figure.curves.flatMap((curve) => curve.points.map((p) => real(p[1]))).filter((y) => Number.isFinite(y) && y > 0);
    const least = heights.length ? Math.min(...heights) / 3 : 0; // where a band ends that reaches 0 on a logarithmic axis
    let measured = 0, bounds = 0;
    figure.curves.forEach((curve, at) => {
      const place = curve.bound ? bounds++ : measured++;
      const dash = curve.bound ? BOUND_DASHES[place % 4] : DASHES[Math.floor(place / 8) % 3];
      const symbol = SYMBOLS[(place + Math.floor(place / 8)) % 8];
      const ink = colour(at);
      const points = curve.points.map((p) => p.map(real)).filter((p) => fits(p[0], p[1]));
      const low = points.map((p) => (p.length > 2 ? p[2] : p[1]));
      const high = points.map((p) => (p.length > 2 ? p[3] : p[1]));
      const wide = points.some((p, k) => low[k] < high[k]);
      const bottom = low.map((value) => (figure.log_y ? Math.max(value, least) : value)).map((value) => (Number.isFinite(value) ? value : null));
      const top = high.map((value) => (Number.isFinite(value) ? value : null));
      const x = points.map((p) => p[0]), y = points.map((p) => p[1]);
      const group = "curve" + at;
      const shape = figure.stairs ? "hv" : "linear";
      const banded = figure.band ? points.length > 1 : points.length > FEW;
      if (wide && banded) {
        const edge = { mode: "lines", hoverinfo: "skip", legendgroup: group, line: { width: 0, shape: shape, color: ink }, x: x };
        traces.push(Object.assign({ y: top }, edge));
        traces.push(Object.assign({ y: bottom, fill: "tonexty", fillcolor: faded(ink, 0.16) }, edge));
      }
      const lines = points.map((p, k) => [curve.name + (curve.bound ? " (bound)" : ""), figure.x + ": " + shown(p[0]), figure.y + ": " + shown(p[1]), interval(low[k], high[k], p[1]), curve.sure]);
      const trace = {
        x: x, y: y, legendgroup: group,
        mode: curve.bound || figure.stairs ? "lines" : points.length === 1 ? "markers" : "lines+markers",
        line: { color: ink, width: curve.bound ? 1.8 : 2.2, dash: dash, shape: shape },
        marker: { color: ink, size: 7, symbol: symbol, maxdisplayed: points.length > 30 ? 14 : 0 },
        customdata: lines.map(hover),
        hovertemplate: "%{customdata}<extra></extra>",
      };
      if (curve.bound && points.length === 1) trace.mode = "markers";
      if (wide && !banded) {
        trace.error_y = { type: "data", symmetric: false, array: y.map((v, k) => (top[k] === null ? 0 : top[k] - v)), arrayminus: y.map((v, k) => (bottom[k] === null ? 0 : v - bottom[k])), color: ink, thickness: 1.4, width: 4 };
      }
      series.push({ trace: traces.length, texts: lines.map((each) => each.filter(Boolean).join("; ")) });
      traces.push(trace);
      legend.push({ name: curve.name, colour: ink, dash: dash, symbol: curve.bound || figure.stairs ? "" : symbol, group: group });
    });
    const shapes = [], annotations = [];
    const marks = figure.marks.map((mark) => [real(mark[0]), mark[1]]).filter((mark) => fits(mark[0], 1)).sort((a, b) => a[0] - b[0]);
    const xs = figure.curves.flatMap((curve) => curve.points.map((p) => real(p[0]))).filter((x) => fits(x, 1)).concat(marks.map((mark) => mark[0]));
    const place = (x) => (figure.log_x ? Math.log10(x) : x);
    const first = Math.min(...xs.map(place)), last = Math.max(...xs.map(place));
    let above = 0; // lines of labels over the figure
    marks.forEach((mark) => {
      const right = place(mark[0]) > (first + last) / 2; // its label then stands to the left
      const words = wrapped((right ? "" : "↓ ") + mark[1] + (right ? " ↓" : ""), (width - 70) * 0.62);
      shapes.push({ type: "line", xref: "x", yref: "paper", x0: mark[0], x1: mark[0], y0: 0, y1: 1, line: { color: css("--soft"), width: 1.6, dash: "dot" } });
      annotations.push({ x: place(mark[0]), xref: "x", yref: "paper", y: 1, yanchor: "bottom", yshift: 2 + 17 * above, xanchor: right ? "right" : "left", align: right ? "right" : "left", text: words, showarrow: false, font: { size: 12, color: css("--soft") } });
      above += words.split("<br>").length;
    });
    const height = Math.round(Math.min(420, Math.max(300, width * 0.55))) + 17 * above;
    const flat = !figure.log_y && traces.every((trace) => trace.y.every((y) => y === 0) && !trace.error_y); // else plotly goes below 0
    const more = {
      xaxis: axis(figure.x, width - 90, figure.log_x, figure.log_x ? { dtick: steps((last - first) * 1.1, width - 90, 54) } : {}),
      yaxis: axis(figure.y, height - 90, figure.log_y, figure.log_y ? { dtick: steps(decadesOf(traces.filter((trace) => !away.has(trace.legendgroup))), height - 80 - 17 * above, 17) } : flat ? { range: [-0.04, 1] } : {}),
      shapes: shapes, annotations: annotations, margin: { l: 56, r: 14, t: 12 + 17 * above, b: 44 },
    };
    return { traces: traces, layout: layout(width, height, more), series: series, legend: legend };
  }

  function bars(figure, width) {
    const across = figure.bars.length <= 30;
    const narrow = width < NARROW;
    const known = figure.bars.map((bar) => bar.slice(2, 5).map(real));
    const lines = figure.bars.map((bar, at) => [bar[0], figure.x + ": " + bar[5], interval(known[at][1], known[at][2], known[at][0]), bar[1], figure.ticks.length && figure.ticks[at] !== null ? figure.tick_name + ": " + shown(figure.ticks[at]) : "", figure.ranges[at] ? figure.range_name + ": " + shown(figure.ranges[at][0]) + " to " + shown(figure.ranges[at][1]) : ""]);
    const colours = figure.bars.map((bar) => css(SURE_COLOURS[bar[1]] || "--soft"));
    const place = figure.bars.map((bar, at) => at);
    const values = known.map((each) => each[0]);
    const above = known.map((each) => (Number.isFinite(each[2]) ? each[2] - each[0] : 0));
    const below = known.map((each) => (Number.isFinite(each[1]) ? each[0] - each[1] : 0));
    const wide = above.some((v, at) => v > 1e-9 * Math.abs(values[at]) || below[at] > 1e-9 * Math.abs(values[at]));
    const spread = wide ? { type: "data", symmetric: false, array: above, arrayminus: below, color: css(across ? "--ink" : "--soft"), thickness: across ? 1.4 : Math.max(0.4, Math.min(1.4, 60 / place.length)), width: across ? 4 : 0 } : undefined;
    const beside = figure.ticks.map(real);
    const far = figure.ranges.map((each) => (each ? real(each[1]) : 0));
    const reach = (at) => Math.max(0, known[at][0] + above[at], ...[beside[at], far[at]].filter(Number.isFinite));
    const end = Math.max(0, ...place.map(reach));
    const start = Math.min(0, ...known.map((each, at) => each[0] - below[at]));
    const labels = { tickvals: place, ticktext: figure.bars.map((bar) => twoLines(bar[0], narrow ? 20 : 30)), showgrid: false, zeroline: false };
    const trace = {
      type: "bar",
      orientation: across ? "h" : "v",
      marker: { color: colours, pattern: { shape: figure.bars.map((bar) => (SURE_PATTERNS[bar[1]] === undefined ? "x" : SURE_PATTERNS[bar[1]])), fgcolor: css("--card"), solidity: 0.25, size: 7 } },
      customdata: lines.map(hover),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    const label = across ? Math.min(0.5, (7.4 * Math.max(...figure.bars.map((bar) => bar[5].length)) + 12) / Math.max(100, width - (narrow ? 150 : 240))) : 0.06;
    const room = { range: [start, end > start ? end + ((end - start) * label) / (1 - label) : 1] };
    let more;
    if (across) {
      Object.assign(trace, { x: values, y: place, error_x: spread, width: 0.62 });
      more = { xaxis: axis(figure.x, width - 190, false, room), yaxis: Object.assign(axis("", 0, false), labels, { autorange: "reversed" }) };
      more.annotations = figure.bars.map((bar, at) => ({ x: reach(at), y: at, text: escaped(bar[5]), xanchor: "left", xshift: 5, showarrow: false, font: { size: 12 } }));
    } else {
      const most = Math.max(1, Math.floor(width / 22));
      const every = Math.ceil(place.length / most);
      labels.tickvals = place.filter((at) => at % every === 0);
      labels.ticktext = labels.tickvals.map((at) => escaped(cut(figure.bars[at][0], 16)));
      Object.assign(trace, { x: place, y: values, error_y: spread });
      more = { xaxis: Object.assign(axis("", 0, false), labels, { tickangle: -90 }), yaxis: axis(figure.x, 290, false, room), bargap: 0.1 };
    }
    const height = across ? 70 + 30 * figure.bars.length : 380;
    const words = [...new Set(figure.bars.map((bar) => bar[1]))];
    const legend = words.length > 1 || figure.ticks.length || figure.ranges.some(Boolean) ? words.map((word) => ({ name: word, colour: css(SURE_COLOURS[word] || "--soft"), box: true })) : [];
    const traces = [];
    const ranges = figure.ranges.map((each) => (each ? each.map(real) : null)).map((each) => (each && each.every(Number.isFinite) ? each : null));
    if (ranges.some(Boolean)) {
      const from = ranges.map((each) => (each ? each[0] : null)), long = ranges.map((each) => (each ? each[1] - each[0] : null));
      const behind = { type: "bar", orientation: trace.orientation, base: from, width: 0.9, hoverinfo: "skip", marker: { color: faded(css("--soft"), 0.28), line: { width: 0 } } };
      traces.push(Object.assign(behind, across ? { x: long, y: place } : { x: place, y: long }));
      legend.push({ name: figure.range_name, colour: faded(css("--soft"), 0.28), box: true });
      more.barmode = "overlay";
    }
    const main = traces.push(trace) - 1;
    if (beside.length) {
      const symbol = across ? "line-ns" : "line-ew";
      traces.push({ mode: "markers", x: across ? beside : place, y: across ? place : beside, hoverinfo: "skip", marker: { symbol: symbol, size: 16, line: { width: 3, color: css("--ink") } } });
      legend.push({ name: figure.tick_name, colour: css("--ink"), tick: true });
    }
    return { traces: traces, layout: layout(width, height, more), series: [{ trace: main, texts: lines.map((each) => each.filter(Boolean).join("; ")) }], legend: legend };
  }

  /* Bars side by side, a group for every name; a dashed line to compare with. */
  function groups(figure, width) {
    const many = figure.groups.length, steep = width / many < 70, beside = figure.series.length;
    const values = figure.series.map((each) => each.bars.map((bar) => bar.slice(1, 4).map(real)));
    const tops = values.flat().map((each) => (Number.isFinite(each[2]) ? each[2] : each[0])).filter(Number.isFinite);
    const bottoms = values.flat().map((each) => (Number.isFinite(each[1]) ? each[1] : each[0])).filter(Number.isFinite);
    const end = Math.max(1e-9, figure.level || 0, ...tops), start = Math.min(0, ...bottoms);
    const room = (width - 70) / (many * (beside + 0.6));
    const brief = (value) => (value && Math.abs(value) < end / 500 ? "≈ 0" : short(value));
    const lines = figure.series.map((each) => each.bars.map((bar, at) => [each.name, figure.groups[at], figure.y + ": " + bar[4] + figure.unit, interval(...[values[figure.series.indexOf(each)][at]].map((v) => [v[1], v[2], v[0]])[0]), bar[0]]));
    const traces = figure.series.map((each, k) => {
      const above = values[k].map((v) => (Number.isFinite(v[2]) ? v[2] - v[0] : 0)), below = values[k].map((v) => (Number.isFinite(v[1]) ? v[0] - v[1] : 0));
      const wide = values[k].some((v) => v[2] - v[1] > 1e-3 * Math.abs(v[0]));
      return {
        type: "bar", legendgroup: "curve" + k, x: figure.groups.map((name, at) => at), y: values[k].map((v) => (Number.isFinite(v[0]) ? v[0] : null)),
        marker: { color: colour([0, 1, 5][k % 3]), pattern: { shape: ["", "/", "."][k % 3], fillmode: "overlay", fgcolor: css("--card"), fgopacity: 1, solidity: 0.2, size: 7 } },
        error_y: wide ? { type: "data", symmetric: false, array: above, arrayminus: below, color: css("--ink"), thickness: 1.2, width: 3 } : undefined,
        text: room >= 22 ? each.bars.map((bar, at) => (bar[4].includes(" to ") ? (room >= 70 ? escaped(bar[4]) : "") : brief(values[k][at][0]))) : undefined,
        textposition: "outside", textfont: { size: room >= 30 ? 11 : 10 }, textangle: 0, cliponaxis: false, constraintext: "none",
        customdata: lines[k].map(hover), hovertemplate: "%{customdata}<extra></extra>",
      };
    });
    const shapes = [], annotations = [];
    if (figure.level !== null) {
      shapes.push({ type: "line", xref: "paper", yref: "y", x0: 0, x1: 1, y0: figure.level, y1: figure.level, line: { color: css("--ink"), width: 1.4, dash: "dash" } });
      annotations.push({ xref: "paper", x: 1, xanchor: "right", y: figure.level, yanchor: "bottom", text: escaped(figure.level_name + ": " + shown(figure.level, 3) + figure.unit), showarrow: false, bgcolor: css("--card"), borderpad: 2, yshift: 2, font: { size: 12, color: css("--ink") } });
    }
    const more = {
      barmode: "group", bargap: 0.28, bargroupgap: 0.06, shapes: shapes, annotations: annotations,
      xaxis: axis(figure.x, width - 70, false, { automargin: false, tickvals: figure.groups.map((name, at) => at), ticktext: figure.groups.map((name) => (steep ? escaped(cut(name, 12)) : twoLines(name, Math.max(6, Math.floor((width - 70) / many / 7.5))))), showgrid: false, zeroline: false, tickangle: steep ? -90 : 0 }),
      yaxis: axis(figure.y, 260, false, { automargin: false, range: [start * 1.12, end * 1.12], zeroline: start < 0, ticksuffix: figure.unit }),
      margin: { l: 68, r: 8, t: 8, b: (figure.x ? 26 : 4) + (steep ? 92 : 34) },
    };
    const legend = figure.series.map((each, k) => ({ name: each.name, colour: colour([0, 1, 5][k % 3]), box: true, group: "curve" + k }));
    const series = lines.map((each, k) => ({ trace: k, texts: each.map((one) => one.filter(Boolean).join("; ")) }));
    return { traces: traces, layout: layout(width, steep ? 340 : 300, more), series: series, legend: legend };
  }

  function heat(figure, width, place) {
    const table = figure.tables ? figure.tables[place] : figure.cells;
    const many = figure.columns.length, tall = figure.rows.length;
    const three = (cell) => (Array.isArray(cell) ? cell.map(real) : [real(cell), real(cell), real(cell)]);
    const scale = (value) => {
      if (!Number.isFinite(value)) return value > 0 ? 1 : null;
      const low = figure.log ? Math.log10(figure.low) : figure.low;
      const high = figure.log ? Math.log10(figure.high) : figure.high;
      const place = figure.log ? (value > 0 ? Math.log10(value) : low) : value;
      return high > low ? Math.min(1, Math.max(0, (place - low) / (high - low))) : 0;
    };
    const sure = (words, cell) => (words.length === 1 ? words[0] : words.includes("estimated") ? "" : cell[1] < cell[2] ? "certified" : "exact");
    const nothing = (cell) => Math.abs(cell[2]) < 1e-9 * Math.abs(figure.high); // but for rounding
    const cells = table.map((row) => row.map((cell) => (cell === null ? null : three(cell))));
    const lines = cells.map((row, i) => row.map((cell, j) => (cell === null ? [] : [after(figure.row_word, figure.rows[i]), after(figure.column_word, figure.columns[j]), figure.tables ? figure.slider + ": " + figure.places[place] : "", figure.value + ": " + (nothing(cell) ? "0" : shown(cell[0])), nothing(cell) ? "" : interval(cell[1], cell[2], cell[0]), sure(figure.sures[i], cell)])));
    const mapped = figure.dots.length > 0; // a map over two numbers, with what was measured
    const row = mapped ? Math.min(34, Math.ceil(250 / tall)) : tall > 60 ? 8 : tall > 30 ? 12 : tall > 12 ? 24 : 34;
    const room = width < NARROW ? 14 : 26;
    const names = figure.rows.map((name) => (row < 30 ? escaped(cut(name, room)) : twoLines(name, room)));
    const longest = Math.max(3, ...figure.rows.map((name) => Math.min(name.length, room)));
    const shownRows = names.map((name, at) => at).filter((at) => at % Math.ceil((mapped ? 28 : 15) / row) === 0);
    const upright = wrapped(figure.row_axis, row * tall + 20);
    const left = 22 + 7.2 * longest + 17 * upright.split("<br>").length;
    const cell = (width - left - 20) / many;
    const open = (each) => each[2] - each[1] > 0.02 * Math.abs(each[2]); // a bracket worth both of its ends
    const inside = (each, i) => (open(each) && figure.sures[i].indexOf("estimated") < 0 ? outwards(each[1], Math.floor) + " to<br>" + outwards(each[2], Math.ceil) : short(each[0]));
    const written = mapped || many * tall > WRITTEN ? [] : cells.map((row, i) => row.map((each) => (each === null ? "" : nothing(each) ? "0" : inside(each, i))));
    const widest = Math.max(3, ...written.flat().flatMap((text) => text.split("<br>").map((line) => line.length)));
    const size = row < (written.flat().some((text) => text.includes("<br>")) ? 30 : 16) ? undefined : [12, 10].find((points) => 0.58 * points * widest + 5 <= cell);
    const most = Math.max(1, Math.floor((width - left) / (cell >= 60 ? 60 : 18)));
    const longestColumn = Math.max(...figure.columns.map((name) => Math.min(name.length, 18)));
    const every = mapped ? Math.ceil((7.2 * longestColumn + 12) / cell) : Math.ceil(many / most);
    const ticks = figure.columns.map((name, at) => at).filter((at) => at % every === 0);
    const ticktext = ticks.map((at) => cut(figure.columns[at], 18));
    const flat = mapped || cell >= 60 && Math.max(...ticktext.map((name) => name.length)) * 7 < cell * every;
    const deep = flat ? 28 : 16 + 7.2 * Math.max(...ticktext.map((name) => name.length));
    const steps = figure.log ? decades(figure.low, figure.high) : [0, 0.25, 0.5, 0.75, 1].map((share) => figure.low + share * (figure.high - figure.low));
    const trace = {
      type: "heatmap",
      z: cells.map((row) => row.map((each) => (each === null ? null : scale(each[0])))),
      zmin: 0, zmax: 1,
      colorscale: [0, 1, 2, 3, 4, 5, 6].map((level) => [level / 6, css("--heat" + level)]),
      xgap: mapped ? 0 : cell > 20 ? 2 : cell > 8 ? 1 : 0, ygap: mapped ? 0 : row > 20 ? 2 : row > 8 ? 1 : 0,
      hoverongaps: false,
      customdata: lines.map((row) => row.map(hover)),
      hovertemplate: "%{customdata}<extra></extra>",
      colorbar: { orientation: "h", y: 1, yanchor: "bottom", x: 0, xanchor: "left", len: 1, xpad: 0, thickness: 10, outlinewidth: 0, tickvals: steps.map(scale), ticktext: steps.map((value) => shown(value, 3)), tickfont: { size: 11 }, ticks: "", title: { text: "" } },
    };
    if (written.length && size) {
      trace.text = written;
      trace.texttemplate = "%{text}";
      trace.textfont = { size: size };
    }
    const more = {
      xaxis: axis(figure.column_axis, width - left - 10, false, { tickvals: ticks, ticktext: ticktext.map(escaped), tickangle: flat ? 0 : -90, showgrid: false, zeroline: false, automargin: false, range: [-0.5, many - 0.5] }),
      yaxis: axis(figure.row_axis, row * tall + 20, false, { tickvals: shownRows, ticktext: shownRows.map((at) => names[at]), showgrid: false, zeroline: false, automargin: false, range: [tall - 0.5, -0.5] }),
      margin: { l: left, r: 14, t: 44, b: deep + 34 },
    };
    const texts = lines.map((each) => each.map((one) => one.filter(Boolean).join("; ")));
    const series = texts.map((each, i) => ({ row: i, texts: each }));
    const here = figure.dots.filter((dot) => dot[2] === null || dot[2] === place);
    const dots = here.filter((dot) => dot[3] !== null), holes = here.filter((dot) => dot[3] === null);
    const measured = {
      mode: "markers", x: dots.map((dot) => dot[0]), y: dots.map((dot) => dot[1]),
      marker: { size: 11, color: dots.map((dot) => scale(real(dot[3]))), cmin: 0, cmax: 1, colorscale: trace.colorscale, line: { width: 1.8, color: dots.map((dot) => css(scale(real(dot[3])) > 0.45 ? "--card" : "--ink")) } },
      customdata: dots.map((dot) => hover([dot[6], "measured " + figure.value + ": " + shown(dot[3]), interval(dot[4], dot[5], dot[3])])),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    const missing = {
      mode: "markers", x: holes.map((dot) => dot[0]), y: holes.map((dot) => dot[1]),
      marker: { size: 10, symbol: "x-thin", line: { width: 2.4, color: css("--ink") } },
      customdata: holes.map((dot) => hover([dot[6], "not compared: not measured for both"])),
      hovertemplate: "%{customdata}<extra></extra>",
    };
    return { traces: !mapped ? [trace] : holes.length ? [trace, measured, missing] : [trace, measured], layout: layout(width, Math.round(78 + deep + row * tall), more), series: series, legend: [] };
  }

  /* How many decades the curves span upwards, with the room plotly leaves. */
  function decadesOf(traces) {
    const all = traces.flatMap((trace) => trace.y.flatMap((y, k) => (trace.error_y ? [y - trace.error_y.arrayminus[k], y + trace.error_y.array[k]] : [y])));
    const logs = all.filter((y) => y !== null && y > 0).map(Math.log10);
    return logs.length ? 1.12 * (Math.max(...logs) - Math.min(...logs)) : 1;
  }

  function decades(low, high) {
    const found = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); Math.pow(10, power) <= high * (1 + 1e-9); power++) found.push(Math.pow(10, power));
    return found;
  }

  function short(value) {
    if (!Number.isFinite(value)) return shown(value);
    if (Math.abs(value) < 1e-9) return "0";
    return Math.abs(value) < 1e-4 ? value.toExponential(2) : String(Number(value.toPrecision(3)));
  }

  /* An end of a bracket in three digits, never further in than it is. */
  function outwards(value, towards) {
    if (!Number.isFinite(value) || value === 0) return short(value);
    const unit = Math.pow(10, Math.floor(Math.log10(Math.abs(value))) - 2);
    return short(towards(value / unit + (towards === Math.floor ? 1e-9 : -1e-9)) * unit);
  }

  function cut(text, width) {
    return text.length <= width ? text : text.slice(0, width - 1) + "…";
  }

  /* Rows of a figure or table as they stand in a file: a head, then numbers in full. */
  function rows(figure) {
    if (figure.kind === "sweep") return Sweep.rows(figure);
    if (figure.kind === "table") return [figure.columns, ...figure.rows];
    if (figure.kind === "curves") {
      const body = figure.curves.flatMap((curve) => curve.points.map((p) => [curve.name, curve.bound ? "bound" : "measured", curve.sure, p[0], p[1], p.length > 2 ? p[2] : p[1], p.length > 2 ? p[3] : p[1]]));
      return [["curve", "kind", "certainty", figure.x, figure.y, "lower", "upper"], ...body];
    }
    if (figure.kind === "bars") {
      const beside = figure.ticks.length ? [figure.tick_name] : [];
      const behind = figure.ranges.length ? [figure.range_name + ", from", "to"] : [];
      return [["name", "certainty", figure.x, "lower", "upper", ...beside, ...behind], ...figure.bars.map((bar, at) => [...bar.slice(0, 5), ...figure.ticks.slice(at, at + 1), ...(figure.ranges.length ? figure.ranges[at] || [null, null] : [])])];
    }
    if (figure.kind === "groups") {
      return [["policy", "model", "certainty", figure.y, "lower", "upper"], ...figure.series.flatMap((each) => each.bars.map((bar, at) => [each.name, figure.groups[at], ...bar.slice(0, 4)]))];
    }
    const body = (table, lead) => table.flatMap((row, i) => row.map((cell, j) => [...lead, figure.rows[i], figure.columns[j], ...(Array.isArray(cell) ? cell : [cell, cell, cell])]));
    const head = [figure.row_axis, figure.column_axis, figure.value, "lower", "upper"];
    if (!figure.tables) return [head, ...body(figure.cells, [])];
    return [[figure.slider, ...head], ...figure.tables.flatMap((table, at) => body(table, [Number(figure.places[at])]))];
  }

  const parts = { css, colour, real, shown, interval, twoLines, wrapped, cut, escaped, hover, axis, layout, steps, faded, SYMBOLS, DASHES, FEW, NARROW };
  return { parts: parts, make: { curves: curves, bars: bars, groups: groups, heat: heat }, rows: rows, shown: shown, stepsNow: stepsNow, hidden: hidden };
})();
