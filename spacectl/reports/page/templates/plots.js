// Figures as interactive plots: linked zoom over a common axis, degrees or SI, limits as bands.
const plots = {drawn: [], isSI: false, isLinked: true, busy: false};

function styleOf(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

// Plotly interprets a few tags in texts; names are plain text.
function plain(text) { return String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;"); }

function unitOf(units) {
  return plots.isSI ? {label: units.si, factor: 1} : {label: units.deg, factor: units.factor};
}

function axisTitle(label, unit) { return label ? (unit ? `${label} [${unit}]` : label) : unit; }

// Break a long name into two lines, so that it fits beside its panel.
function folded(text, length) {
  const words = text.split(" ");
  if (text.length <= length || words.length < 2) return plain(text);
  let first = "";
  while (words.length > 1 && first.length + words[0].length <= 0.5 * text.length + 2) first += (first ? " " : "") + words.shift();
  return first ? `${plain(first)}<br>${plain(words.join(" "))}` : plain(text);
}

function sharesX(a, b) {
  return a.x_label === b.x_label && a.x_unit === b.x_unit && a.log_x === b.log_x && !a.equal_axes && !b.equal_axes;
}

function scaled(values, factor) { return factor === 1 ? values : values.map(value => value * factor); }

// The range of y: the curves, and the limits near them; the legend lists other limits.
function rangeOf(panel, factor) {
  let low = Infinity, high = -Infinity;
  for (const line of panel.lines) for (const value of line.data.y) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!isFinite(low) || panel.log_y) return {range: null, edges: []};
  const size = Math.max(Math.abs(low), Math.abs(high)), isConstant = high - low < 1e-7 * size; // do not show its rounding
  if (isConstant) { low -= 0.1 * size; high += 0.1 * size; }
  const reach = 1.5 * Math.max(high - low, 0.1 * Math.max(Math.abs(low), Math.abs(high))), edges = [];
  const room = 0.06 * Math.max(high - low, 1e-12 * Math.max(1, Math.abs(high)));
  let bottom = low - room, top = high + room;
  for (const band of panel.bands) {
    if (band.high !== null && band.high - high <= reach) { edges.push([band.high, 1]); top = Math.max(top, band.high + 2 * room); }
    if (band.low !== null && low - band.low <= reach) { edges.push([band.low, -1]); bottom = Math.min(bottom, band.low - 2 * room); }
  }
  const isHeld = edges.length || isConstant || panel.regions.length; // an area never widens the view
  return {range: isHeld ? [factor * bottom, factor * top] : null, edges};
}

function describe(figure, width) {
  const isNarrow = width < 700, ink = styleOf("--ink"), soft = styleOf("--line"), bad = styleOf("--bad");
  const heights = figure.panels.map(panel => panel.equal_axes ? 400 : (isNarrow ? 170 : 185));
  const gaps = figure.panels.slice(1).map((panel, i) => sharesX(figure.panels[i], panel) ? 34 : 78);
  const total = [...heights, ...gaps].reduce((a, b) => a + b, 0);
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: {color: ink, size: 12, family: styleOf("--face")},
    margin: {l: 64, r: isNarrow ? 12 : 190, t: 26, b: 48}, hovermode: "x", dragmode: "zoom", shapes: [], annotations: [],
    showlegend: true, hoverlabel: {namelength: -1}, height: total + 74,
  };
  if (isNarrow) layout.legend = {orientation: "h", y: -56 / total, yanchor: "top", x: 0, font: {size: 11}};
  const traces = [], shown = new Set();
  // On a narrow page all panels share one legend below, with each style once.
  const isShown = (name, look) => {
    if (!name || (isNarrow && shown.has(name + look))) return false;
    return Boolean(shown.add(name + look));
  };
  let top = 1;
  figure.panels.forEach((panel, i) => {
    const n = i ? String(i + 1) : "", bottom = Math.max(0, top - heights[i] / total);
    const x = unitOf(panel.x_units), y = unitOf(panel.y_units), {range, edges} = rangeOf(panel, y.factor);
    const next = figure.panels[i + 1], isLast = !next || !sharesX(panel, next);
    const grid = {gridcolor: soft, zerolinecolor: soft, linecolor: soft, ticks: "outside", tickcolor: soft, automargin: true};
    layout["yaxis" + n] = {...grid, domain: [bottom, top], anchor: "x" + n, title: {text: folded(axisTitle(panel.y_label, y.label), isNarrow ? 20 : 26), standoff: 6},
      type: panel.log_y ? "log" : "linear", exponentformat: "power"};
    if (range) Object.assign(layout["yaxis" + n], {range, autorange: false});
    layout["xaxis" + n] = {...grid, anchor: "y" + n, type: panel.log_x ? "log" : "linear", showticklabels: isLast, exponentformat: "power",
      title: isLast ? {text: plain(axisTitle(panel.x_label, x.label)), standoff: 6} : undefined};
    if (i && sharesX(figure.panels[0], panel)) layout["xaxis" + n].matches = "x";
    if (panel.equal_axes) Object.assign(layout["yaxis" + n], {scaleanchor: "x" + n, scaleratio: 1});
    if (panel.title) layout.annotations.push({text: isNarrow ? folded(panel.title, 44) : plain(panel.title), xref: "paper", yref: "paper", x: 0, y: top, xanchor: "left",
      yanchor: "bottom", showarrow: false, align: "left", font: {size: isNarrow ? 11 : 12, color: ink}});
    const legend = isNarrow ? "legend" : "legend" + n;
    if (!isNarrow) layout[legend] = {x: 1.01, y: top, xanchor: "left", yanchor: "top", tracegroupgap: 0, bgcolor: "rgba(0,0,0,0)"};
    for (const line of panel.lines) traces.push({
      x: scaled(line.data.x, x.factor), y: scaled(line.data.y, y.factor), name: plain(line.label), type: "scatter",
      mode: line.style === "markers" ? "markers" : "lines", line: {color: line.colour, dash: line.dash, width: 1.6},
      marker: {color: line.colour, size: 5}, xaxis: "x" + n, yaxis: "y" + n, legend, showlegend: isShown(line.label, line.colour + line.style),
    });
    for (const [edge, sign] of edges) {
      const at = y.factor * edge, far = sign > 0 ? Math.max(range[1], at) : Math.min(range[0], at);
      const place = {xref: `x${n} domain`, yref: "y" + n, x0: 0, x1: 1, layer: "below"};
      layout.shapes.push({type: "rect", ...place, y0: at, y1: far + (far - at) * 50, fillcolor: bad, opacity: 0.12, line: {width: 0}});
      layout.shapes.push({type: "line", ...place, y0: at, y1: at, line: {color: bad, width: 1}, opacity: 0.7});
    }
    for (const {label, data} of panel.regions) {
      const at = k => `${x.factor * data.x[k]},${y.factor * data.high[k]}`, down = k => `${x.factor * data.x[k]},${y.factor * data.low[k]}`;
      const places = data.x.map((_, k) => k), edge = [...places.map(at), ...places.reverse().map(down)];
      layout.shapes.push({type: "path", xref: "x" + n, yref: "y" + n, layer: "below", path: `M${edge.join("L")}Z`, fillcolor: bad, opacity: 0.14, line: {width: 0}});
      traces.push({x: [null], y: [null], name: plain(label), type: "scatter", mode: "markers", legend, hoverinfo: "skip",
        marker: {color: bad, opacity: 0.35, symbol: "square", size: 11}, xaxis: "x" + n, yaxis: "y" + n});
    }
    for (const band of panel.bands) traces.push({
      x: [null], y: [null], name: plain(band.text[plots.isSI ? 0 : 1]), type: "scatter", mode: "markers", legend, hoverinfo: "skip",
      marker: {color: bad, opacity: 0.35, symbol: "square", size: 11}, xaxis: "x" + n, yaxis: "y" + n, showlegend: isShown(band.text[0], "band"),
    });
    top = bottom - (gaps[i] || 0) / total;
  });
  if (isNarrow) {
    const rows = Math.ceil(shown.size / Math.max(1, Math.floor(width / 190)));
    layout.margin.b += 14 + 19 * rows;
    layout.height += 14 + 19 * rows;
  }
  return {traces, layout};
}

const plotOptions = {displaylogo: false, responsive: false, modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"]};

async function drawPlot(item) {
  const width = item.element.clientWidth || 700, {traces, layout} = describe(item.figure, width);
  item.width = width;
  await Plotly.react(item.element, traces, {...layout, width}, plotOptions);
}

// A zoom of one figure applies to all others over the same quantity, in SI so that the switch of units does not matter.
function linkZoom(item) {
  item.element.on("plotly_relayout", change => {
    if (plots.busy || !plots.isLinked) return;
    const isWhole = Object.keys(change).some(key => /^xaxis\d*\.autorange$/.test(key));
    const full = item.element._fullLayout || item.element.layout;
    const isMoved = Object.keys(change).some(key => /^xaxis\d*\.range/.test(key));
    if (!isWhole && !isMoved) return;
    const range = full.xaxis.range.slice();
    plots.busy = true;
    const others = plots.drawn.filter(other => other !== item && other.key !== null && other.key === item.key);
    Promise.all(others.map(other => Plotly.relayout(other.element,
      isWhole ? {"xaxis.autorange": true} : {"xaxis.range": range}))).finally(() => { plots.busy = false; });
  });
}

async function drawPlots(figures) {
  for (const element of document.querySelectorAll(".plot")) {
    const figure = figures[Number(element.dataset.figure)], first = figure.panels[0];
    if (!first) continue;
    for (const panel of figure.panels) for (const line of panel.lines)
      line.data = {x: Array.from(floatsOf(line.x)), y: Array.from(floatsOf(line.y))};
    for (const panel of figure.panels) for (const region of panel.regions)
      region.data = {x: Array.from(floatsOf(region.x)), low: Array.from(floatsOf(region.low)), high: Array.from(floatsOf(region.high))};
    const key = first.equal_axes ? null : [first.x_label, first.x_unit, first.log_x].join("|");
    const item = {element, figure, key, width: 0};
    element.hidden = false;
    await drawPlot(item);
    linkZoom(item);
    plots.drawn.push(item);
    element.closest("figure").classList.add("live");
    await new Promise(resolve => setTimeout(resolve));
  }
}

function redrawPlots() { return Promise.all(plots.drawn.map(drawPlot)); }

function watchWidth() {
  let timer = 0;
  window.addEventListener("resize", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      for (const item of plots.drawn) if (Math.abs(item.element.clientWidth - item.width) > 4) drawPlot(item);
    }, 200);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawPlots);
}
