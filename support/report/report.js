// Draws the report. All texts of the program become text nodes or canvas text, never markup.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const FOREVER = 0xFFFFFFFF;
  const NONE = 0xFFFFFFFF;
  const CATEGORIES = ["Render targets", "Textures", "Vertex and index buffers", "Other buffers",
    "Staging buffers", "Acceleration structures", "Allocations without object", "Swapchain (estimate)", "Other"];
  const KINDS = ["buffer", "image", "allocation", "swapchain", "object"];
  // Its images have memory that no program allocates: it counts for neither what is held nor bound.
  const SWAPCHAIN = 7;
  const VERTEX_INDEX = 0xC0, TRANSFER = 0x3, ATTACHMENT = 0x30;
  const CHECK = 2048;

  const meta = JSON.parse($("maar-meta").textContent);
  const col = {};
  let style;

  // ---- data ----

  async function unpack() {
    const text = atob($("maar-data").textContent);
    $("maar-data").remove();
    const packed = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) packed[i] = text.charCodeAt(i);
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const bytes = await new Response(stream).arrayBuffer();
    const types = {u8: Uint8Array, u32: Uint32Array, f64: Float64Array};
    for (const c of meta.columns) col[c.name] = new types[c.type](bytes, c.offset, c.count);
    undelta(col.m_begin);
    undelta(col.r_begin);
    undelta(col.f_time);
  }

  function undelta(column) {
    for (let i = 1; i < column.length; ++i) column[i] += column[i - 1];
  }

  const decoder = new TextDecoder();
  function textAt(offset) {
    if (offset === 0) return "";
    let end = offset;
    while (end < col.texts.length && col.texts[end] !== 0) ++end;
    return decoder.decode(col.texts.subarray(offset, end));
  }

  function callerOf(address) {
    if (address === 0) return "";
    for (const m of meta.modules)
      if (address >= m.begin && address < m.end) return m.name + "+0x" + (address - m.begin).toString(16);
    return "";
  }

  function bytes(n) {
    const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = 0;
    let v = Math.abs(n);
    while (v >= 1024 && unit < 5) { v /= 1024; ++unit; }
    return (n < 0 ? "−" : "") + (unit === 0 ? v.toFixed(0) : v < 10 ? v.toFixed(2) : v < 100 ? v.toFixed(1) : v.toFixed(0)) + " " + units[unit];
  }

  function seconds(tick) {
    const s = tick * meta.tick_ns * 1e-9;
    return s < 0.001 ? (s * 1e6).toFixed(1) + " µs" : s < 1 ? (s * 1e3).toFixed(2) + " ms" : s.toFixed(3) + " s";
  }

  // What a resource is, as "image 64×64 R8G8B8A8_UNORM".
  function whatOf(r) {
    const kind = KINDS[col.r_kind[r]];
    if (col.r_image[r] === NONE) return kind + " of " + bytes(col.r_asked[r]);
    const i = col.r_image[r];
    const z = Math.max(col.i_depth[i], col.i_layers[i]);
    const samples = col.i_samples[i] > 1 ? ` ${col.i_samples[i]} samples` : "";
    return `${kind} ${col.i_width[i]}×${col.i_height[i]}${z > 1 ? "×" + z : ""} ${meta.formats[col.i_format[i]] || "format " + col.i_format[i]}${samples}`;
  }

  function labelOf(r) {
    if (col.r_name[r] !== 0) return `${textAt(col.r_name[r])}, ${whatOf(r)}`;
    const by = callerOf(col.r_caller[r]);
    return by ? `${whatOf(r)}, ${by}` : whatOf(r);
  }

  function categoryOf(r) {
    const kind = col.r_kind[r], usage = col.r_usage[r];
    if (kind === 1) return (usage & ATTACHMENT) !== 0 ? 0 : 1;
    if (kind === 2) return 6;
    if (kind === 3) return 7;
    if (kind === 4) return 8;
    if (col.r_structures[r]) return 5;
    if ((usage & VERTEX_INDEX) !== 0) return 2;
    return (usage & ~TRANSFER) === 0 ? 4 : 3;
  }

  // A heap of a device, with what happens in it in the order of time.
  const views = [];
  let category;

  function buildViews() {
    const count = col.r_begin.length;
    category = new Uint8Array(count);
    for (let r = 0; r < count; ++r) category[r] = categoryOf(r);
    meta.devices.forEach((device, d) => device.heaps.forEach((heap, h) => {
      const view = {device: d, heap: h, facts: heap, memories: [], resources: []};
      views.push(view);
    }));
    const viewOf = (device, heap) => views.find((v) => v.device === device && v.heap === heap);
    const byType = meta.devices.map((device, d) => device.types.map((t) => viewOf(d, t.heap)));
    const memoryView = new Array(col.m_begin.length);
    for (let m = 0; m < col.m_begin.length; ++m) {
      memoryView[m] = byType[col.m_device[m]][col.m_type[m]];
      memoryView[m].memories.push(m);
    }
    for (let r = 0; r < count; ++r) {
      let view = null;
      if (col.r_memory[r] !== NONE) view = memoryView[col.r_memory[r]];
      else if (col.r_kind[r] === 3) view = views.find((v) => v.device === col.r_device[r] && (v.facts.flags & 1)) || viewOf(col.r_device[r], 0);
      if (view) view.resources.push(r);
    }
    for (const view of views) buildEvents(view);
  }

  // The bytes of resources in device memory, of sums that begin at an index.
  function boundOf(sums, at) {
    let bound = 0;
    for (let c = 0; c < 9; ++c) if (c !== SWAPCHAIN) bound += sums[at + c];
    return bound;
  }

  // The bands of the chart from below: the kinds of resources, what is held and bound to nothing, and above the held line
  // the swapchain. Each is [its colour, the byte at which it begins, the one at which it ends].
  function bandsOf(sums, at, held) {
    const bands = [];
    let top = 0;
    for (let c = 0; c < 9; ++c)
      if (c !== SWAPCHAIN) bands.push(["c" + c, top, top += sums[at + c]]);
    bands.push(["free", top, top = Math.max(top, held)]);
    bands.push(["c" + SWAPCHAIN, top, top + sums[at + SWAPCHAIN]]);
    return bands;
  }

  // Changes, sorted by time: category 15 is held memory. Cumulative sums stand every CHECK changes.
  function buildEvents(view) {
    const most = 2 * (view.memories.length + view.resources.length);
    const times = new Uint32Array(most), cats = new Uint8Array(most), deltas = new Float64Array(most);
    let n = 0;
    const put = (t, c, d) => { times[n] = t; cats[n] = c; deltas[n] = d; ++n; };
    for (const m of view.memories) {
      put(col.m_begin[m], 15, col.m_size[m]);
      if (col.m_life[m] !== FOREVER) put(col.m_begin[m] + col.m_life[m], 15, -col.m_size[m]);
    }
    for (const r of view.resources) {
      const bind = col.r_kind[r] === 3 ? 0 : col.r_bind[r];
      if (bind === FOREVER) continue;
      put(col.r_begin[r] + bind, category[r], col.r_size[r]);
      if (col.r_life[r] !== FOREVER) put(col.r_begin[r] + col.r_life[r], category[r], -col.r_size[r]);
    }
    const shift = 2 ** Math.ceil(Math.log2(n + 1));
    const scale = shift * 4294967296 > 9e15 ? 9e15 / (shift * 4294967296) : 1;
    const keys = new Float64Array(n);
    for (let i = 0; i < n; ++i) keys[i] = Math.floor(times[i] * scale) * shift + i;
    keys.sort();
    view.times = new Uint32Array(n);
    view.cats = new Uint8Array(n);
    view.deltas = new Float64Array(n);
    view.sums = new Float64Array((Math.floor(n / CHECK) + 1) * 16);
    const sum = new Float64Array(16);
    view.most = 0;
    for (let k = 0; k < n; ++k) {
      if (k % CHECK === 0) view.sums.set(sum, k / CHECK * 16);
      const i = keys[k] % shift;
      view.times[k] = times[i];
      view.cats[k] = cats[i];
      view.deltas[k] = deltas[i];
      sum[cats[i]] += deltas[i];
      if (sum[15] > view.most) view.most = sum[15];
      const bound = boundOf(sum, 0);
      if (bound > view.most) view.most = bound;
    }
    if (n % CHECK === 0) view.sums.set(sum, n / CHECK * 16);
  }

  // The number of changes up to and with a time.
  function changesUpTo(view, tick) {
    let low = 0, high = view.times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (view.times[middle] <= tick) low = middle + 1; else high = middle;
    }
    return low;
  }

  function sumsAt(view, tick) {
    const n = changesUpTo(view, tick);
    const from = Math.floor(n / CHECK);
    const sum = view.sums.slice(from * 16, from * 16 + 16);
    for (let k = from * CHECK; k < n; ++k) sum[view.cats[k]] += view.deltas[k];
    return sum;
  }

  // ---- state ----

  const length = Math.max(1, Math.floor(meta.length_ns / meta.tick_ns));
  const state = {view: 0, t: 0, from: 0, to: length, a: null, b: null, tab: "map", filter: "", sort: "size"};

  function readFragment() {
    const p = new URLSearchParams(location.hash.slice(1));
    const num = (key, low, high) => {
      const v = Number(p.get(key));
      return p.has(key) && Number.isFinite(v) ? Math.min(high, Math.max(low, v)) : null;
    };
    const heap = num("heap", 0, views.length - 1);
    if (heap !== null) state.view = Math.floor(heap);
    const from = num("from", 0, length), to = num("to", 0, length);
    if (from !== null && to !== null && to > from) { state.from = from; state.to = to; }
    const t = num("t", 0, length);
    if (t !== null) state.t = t;
    state.a = num("a", 0, length);
    state.b = num("b", 0, length);
    if (["map", "list", "diff", "findings", "peers"].includes(p.get("tab"))) state.tab = p.get("tab");
    state.filter = p.get("q") || "";
    if (["light", "dark"].includes(p.get("theme"))) setTheme(p.get("theme"));
  }

  let fragmentTimer = 0;
  function writeFragment() {
    clearTimeout(fragmentTimer);
    fragmentTimer = setTimeout(() => {
      const p = new URLSearchParams();
      p.set("heap", state.view);
      p.set("t", Math.round(state.t));
      if (state.from > 0 || state.to < length) { p.set("from", Math.round(state.from)); p.set("to", Math.round(state.to)); }
      if (state.a !== null) p.set("a", Math.round(state.a));
      if (state.b !== null) p.set("b", Math.round(state.b));
      p.set("tab", state.tab);
      if (state.filter) p.set("q", state.filter);
      if (chosenTheme) p.set("theme", chosenTheme);
      history.replaceState(null, "", "#" + p);
    }, 150);
  }

  // ---- theme ----

  let chosenTheme = "";
  const systemDark = matchMedia("(prefers-color-scheme: dark)");
  function applyTheme() {
    document.documentElement.dataset.theme = chosenTheme || (systemDark.matches ? "dark" : "light");
    const computed = getComputedStyle(document.documentElement);
    style = (name) => computed.getPropertyValue("--" + name).trim();
  }
  function setTheme(theme) {
    chosenTheme = theme;
    applyTheme();
  }

  // ---- the chart ----

  function fit(canvas) {
    const box = canvas.getBoundingClientRect();
    const ratio = devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    return {context, width: box.width, height: box.height};
  }

  const LEFT = 74, BOTTOM = 20, TOP = 8;

  function niceStep(most, parts, base) {
    const rough = most / parts;
    const power = base ** Math.floor(Math.log(rough) / Math.log(base));
    for (const m of base === 2 ? [1, 2] : [1, 2, 5, 10]) if (power * m >= rough) return power * m;
    return power * base;
  }

  // The sums of each pixel column: those at its end, and the most that was held in it.
  function sample(view, from, to, width) {
    const columns = Math.max(1, Math.floor(width));
    const values = new Float64Array(columns * 16);
    const peaks = new Float64Array(columns);
    let k = changesUpTo(view, from);
    const sum = sumsAt(view, from);
    for (let x = 0; x < columns; ++x) {
      const end = from + (to - from) * (x + 1) / columns;
      let peak = sum[15];
      while (k < view.times.length && view.times[k] <= end) {
        sum[view.cats[k]] += view.deltas[k];
        if (view.cats[k] === 15 && sum[15] > peak) peak = sum[15];
        ++k;
      }
      values.set(sum, x * 16);
      peaks[x] = peak;
    }
    return {columns, values, peaks};
  }

  function drawAreas() {
    const view = views[state.view];
    const {context: g, width, height} = fit($("areas"));
    g.clearRect(0, 0, width, height);
    const w = width - LEFT, h = height - BOTTOM - TOP;
    const data = sample(view, state.from, state.to, w);
    const bands = [];
    let most = 1;
    for (let x = 0; x < data.columns; ++x) {
      bands.push(bandsOf(data.values, x * 16, data.peaks[x]));
      most = Math.max(most, bands[x][bands[x].length - 1][2]);
    }
    most *= 1.06;
    const y = (v) => TOP + h - v / most * h;
    g.font = "12px system-ui, sans-serif";
    g.textBaseline = "middle";
    g.textAlign = "right";
    const step = niceStep(most, 5, 2);
    for (let v = 0; v <= most; v += step) {
      g.fillStyle = style("grid");
      g.fillRect(LEFT, Math.round(y(v)), w, 1);
      g.fillStyle = style("soft");
      g.fillText(bytes(v), LEFT - 8, y(v));
    }
    for (let i = 0; i < bands[0].length; ++i) {
      g.fillStyle = style(bands[0][i][0]);
      g.beginPath();
      for (let x = 0; x < data.columns; ++x) g.lineTo(LEFT + x, y(bands[x][i][1]));
      for (let x = data.columns - 1; x >= 0; --x) g.lineTo(LEFT + x, y(bands[x][i][2]));
      g.fill();
    }
    g.strokeStyle = style("ink");
    g.lineWidth = 1.5;
    g.beginPath();
    for (let x = 0; x < data.columns; ++x) g.lineTo(LEFT + x + 0.5, y(data.peaks[x]));
    g.stroke();
    drawBudget(g, view, y, w, most);
    drawTimes(g, w, height);
  }

  function drawBudget(g, view, y, w, most) {
    const line = (value, colour, dash) => {
      if (value <= 0 || value > most) return;
      g.setLineDash(dash);
      g.strokeStyle = colour;
      g.lineWidth = 1.5;
      g.beginPath();
      g.moveTo(LEFT, y(value));
      g.lineTo(LEFT + w, y(value));
      g.stroke();
      g.setLineDash([]);
    };
    line(view.facts.size, style("soft"), [2, 3]);
    g.setLineDash([6, 4]);
    g.strokeStyle = style("bad");
    g.lineWidth = 1.5;
    g.beginPath();
    for (let i = 0; i < col.b_time.length; ++i) {
      if (col.b_device[i] !== view.device) continue;
      const value = col.b_budget[i * 16 + view.heap];
      const x = LEFT + (col.b_time[i] - state.from) / (state.to - state.from) * w;
      if (value > 0 && value <= most && x >= LEFT && x <= LEFT + w) g.lineTo(x, y(value));
    }
    g.stroke();
    g.setLineDash([]);
  }

  function drawTimes(g, w, height) {
    const span = (state.to - state.from) * meta.tick_ns * 1e-9;
    const step = niceStep(span, 8, 10);
    const begin = state.from * meta.tick_ns * 1e-9;
    const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step))));
    g.fillStyle = style("soft");
    g.textAlign = "center";
    for (let s = Math.ceil(begin / step) * step; s <= begin + span; s += step) {
      const x = LEFT + (s - begin) / span * w;
      g.fillRect(x, height - BOTTOM, 1, 4);
      if (x > LEFT + 20 && x < LEFT + w - 20) g.fillText(s.toFixed(digits) + " s", x, height - 8);
    }
    const first = lowerBound(col.f_time, state.from), last = lowerBound(col.f_time, state.to);
    if (last - first < w / 4) {
      g.fillStyle = style("accent");
      for (let i = first; i < last; ++i)
        g.fillRect(LEFT + (col.f_time[i] - state.from) / (state.to - state.from) * w, height - BOTTOM, 1, 7);
    }
  }

  function lowerBound(column, value) {
    let low = 0, high = column.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (column[middle] < value) low = middle + 1; else high = middle;
    }
    return low;
  }

  function drawOverview() {
    const view = views[state.view];
    const {context: g, width, height} = fit($("overview"));
    g.clearRect(0, 0, width, height);
    g.fillStyle = style("grid");
    g.fillRect(0, 0, width, height);
    const data = sample(view, 0, length, width - LEFT);
    let most = 1;
    for (const v of data.peaks) most = Math.max(most, v);
    g.fillStyle = style("c6");
    for (let x = 0; x < data.columns; ++x) {
      const v = data.peaks[x] / most * (height - 4);
      g.fillRect(LEFT + x, height - v, 1, v);
    }
    const x0 = LEFT + state.from / length * (width - LEFT), x1 = LEFT + state.to / length * (width - LEFT);
    g.fillStyle = style("accent");
    g.globalAlpha = 0.22;
    g.fillRect(x0, 0, Math.max(2, x1 - x0), height);
    g.globalAlpha = 1;
    g.fillRect(x0, 0, 2, height);
    g.fillRect(x1 - 2, 0, 2, height);
  }

  function xOf(tick, width) {
    return LEFT + (tick - state.from) / (state.to - state.from) * (width - LEFT);
  }

  function drawOverlay() {
    const {context: g, width, height} = fit($("overlay"));
    g.clearRect(0, 0, width, height);
    const line = (tick, colour, word, row) => {
      if (tick === null || tick < state.from || tick > state.to) return;
      const x = Math.round(xOf(tick, width));
      g.fillStyle = colour;
      g.fillRect(x, TOP, 1.5, height - BOTTOM - TOP);
      g.font = "600 12px system-ui, sans-serif";
      g.textAlign = x > width - 60 ? "right" : "left";
      g.textBaseline = "top";
      g.fillText(word, x + (g.textAlign === "left" ? 5 : -5), TOP + 15 * row);
    };
    line(state.a, style("mark-a"), "A", 1);
    line(state.b, style("mark-b"), "B", 2);
    line(state.t, style("ink"), seconds(state.t), 0);
  }

  // ---- numbers and panels ----

  function element(name, className, text) {
    const e = document.createElement(name);
    if (className) e.className = className;
    if (text !== undefined) e.textContent = text;
    return e;
  }

  function isAlive(begin, life, tick) {
    return begin <= tick && (life === FOREVER || begin + life > tick);
  }

  const alive = (r, tick) => isAlive(col.r_begin[r], col.r_life[r], tick);
  const aliveMemory = (m, tick) => isAlive(col.m_begin[m], col.m_life[m], tick);

  let numberNodes = null;
  function showNumbers() {
    const view = views[state.view];
    const sum = sumsAt(view, state.t);
    const bound = boundOf(sum, 0);
    let budget = 0, usage = 0;
    for (let i = 0; i < col.b_time.length && col.b_time[i] <= state.t; ++i)
      if (col.b_device[i] === view.device) { budget = col.b_budget[i * 16 + view.heap]; usage = col.b_usage[i * 16 + view.heap]; }
    const entries = [["held as device memory", bytes(sum[15])], ["bound to resources", bytes(bound)],
      ["held, bound to nothing", bytes(Math.max(0, sum[15] - bound))], ["peak of this heap", bytes(view.facts.peak)],
      ["size of this heap", bytes(view.facts.size)]];
    if (budget > 0) entries.push(["budget, of the system", bytes(budget)], ["used, says the driver", bytes(usage)]);
    const box = $("numbers");
    if (!numberNodes || numberNodes.length !== entries.length) {
      box.replaceChildren();
      numberNodes = entries.map(() => {
        const cell = element("div", "number");
        const parts = [element("b"), element("span")];
        cell.append(...parts);
        box.append(cell);
        return parts;
      });
    }
    entries.forEach(([word, value], i) => { numberNodes[i][0].textContent = value; numberNodes[i][1].textContent = word; });
  }

  function matches(r) {
    if (!state.filter) return true;
    const words = state.filter.toLowerCase().split(/\s+/);
    const text = (labelOf(r) + " " + CATEGORIES[category[r]] + " " + KINDS[col.r_kind[r]]).toLowerCase();
    return words.every((word) => text.includes(word));
  }

  // The indices of the largest, at most `most` of them.
  function largest(list, size, most) {
    if (list.length > most * 4) {
      const sizes = Float64Array.from(list, size).sort();
      const least = sizes[sizes.length - most];
      list = list.filter((i) => size(i) >= least);
    }
    return list.sort((x, y) => size(y) - size(x) || x - y).slice(0, most);
  }

  const MOST_ROWS = 200, MOST_BLOCKS = 120;

  function resourceTable(list, note) {
    const box = element("div");
    const table = element("table");
    const head = element("tr");
    for (const [word, className, key] of [["Name", "", "name"], ["Kind", "", "kind"], ["Bytes", "n", "size"], ["Type", "n", "type"], ["Since", "n", "since"]]) {
      const cell = element("th", className, word + (state.sort === key ? " ↓" : ""));
      cell.addEventListener("click", () => { state.sort = key; showPanel(); });
      head.append(cell);
    }
    table.append(head);
    const shown = largest(list, (r) => col.r_size[r], MOST_ROWS);
    const orders = {
      name: (x, y) => labelOf(x).localeCompare(labelOf(y)), kind: (x, y) => category[x] - category[y],
      size: (x, y) => col.r_size[y] - col.r_size[x], since: (x, y) => col.r_begin[x] - col.r_begin[y],
      type: (x, y) => typeOf(x) - typeOf(y),
    };
    shown.sort(orders[state.sort]);
    for (const r of shown) {
      const row = element("tr");
      const name = element("td");
      const dot = element("span", "dot");
      dot.style.background = `var(--c${category[r]})`;
      name.append(dot, labelOf(r));
      row.append(name, element("td", "", CATEGORIES[category[r]]), element("td", "n", bytes(col.r_size[r])),
        element("td", "n", typeOf(r) < 0 ? "–" : String(typeOf(r))), element("td", "n", seconds(col.r_begin[r])));
      table.append(row);
    }
    let total = 0, swapchain = 0;
    for (const r of list) {
      total += col.r_size[r];
      if (category[r] === SWAPCHAIN) swapchain += col.r_size[r];
    }
    const apart = swapchain > 0 ? `, of which ${bytes(swapchain)} swapchain (estimate), which is not held as device memory` : "";
    const more = list.length > shown.length ? `; the ${shown.length} largest are shown` : "";
    box.append(element("p", "note", `${note}: ${list.length} resources, ${bytes(total)}${apart}${more}`), table);
    return box;
  }

  function typeOf(r) {
    return col.r_memory[r] !== NONE ? col.m_type[col.r_memory[r]] : -1;
  }

  function aliveAt(tick) {
    const list = [];
    for (const r of views[state.view].resources) if (alive(r, tick)) list.push(r);
    return state.filter ? list.filter(matches) : list;
  }

  function showList(panel) {
    panel.replaceChildren(resourceTable(aliveAt(state.t), "Alive at " + seconds(state.t)));
  }

  function memoryLabel(m) {
    const name = col.m_name[m] !== 0 ? textAt(col.m_name[m]) : "memory of type " + col.m_type[m];
    return `${name}, ${bytes(col.m_size[m])}${col.m_mapped[m] ? ", mapped" : ""}, since ${seconds(col.m_begin[m])}`;
  }

  let blocks = [];
  function showMap(panel) {
    const view = views[state.view];
    const held = view.memories.filter((m) => aliveMemory(m, state.t));
    const shown = largest(held, (m) => col.m_size[m], MOST_BLOCKS);
    const inside = new Map(shown.map((m) => [m, []]));
    for (const r of view.resources) {
      const list = inside.get(col.r_memory[r]);
      if (list && alive(r, state.t) && col.r_bind[r] !== FOREVER && col.r_begin[r] + col.r_bind[r] <= state.t) list.push(r);
    }
    const key = shown.join();
    if (panel.dataset.key !== key || panel.dataset.tab !== "map") {
      panel.replaceChildren(element("p", "note"));
      blocks = shown.map((m) => {
        const box = element("div", "block");
        const canvas = document.createElement("canvas");
        const text = element("p");
        box.append(text, canvas);
        panel.append(box);
        const block = {m, canvas, text, list: []};
        canvas.addEventListener("mousemove", (event) => tipOfBlock(event, block));
        canvas.addEventListener("mouseleave", hideTip);
        return block;
      });
      panel.dataset.key = key;
      panel.dataset.tab = "map";
    }
    panel.firstChild.textContent = held.length === 0 ? "No memory is held here at this moment."
      : `${held.length} memories at ${seconds(state.t)}${held.length > shown.length ? `; the ${shown.length} largest are shown` : ""}. The width is the size; what is empty belongs to no resource, or is a block of pages: those of arrays, caches and other sparse resources are not drawn.`;
    const widest = shown.length ? col.m_size[shown[0]] : 1;
    const bottom = innerHeight + 300;
    for (const block of blocks) {
      block.list = inside.get(block.m).sort((x, y) => col.r_offset[x] - col.r_offset[y]);
      const box = block.canvas.getBoundingClientRect();
      if (box.top > bottom || box.bottom < -300) continue;
      block.text.textContent = memoryLabel(block.m);
      drawBlock(block, widest);
    }
  }

  function drawBlock(block, widest) {
    const {context: g, width, height} = fit(block.canvas);
    const size = col.m_size[block.m];
    const w = Math.max(3, width * Math.sqrt(size / widest));
    block.scale = w / size;
    g.clearRect(0, 0, width, height);
    g.fillStyle = style("free");
    g.fillRect(0, 0, w, height);
    for (const r of block.list) {
      const x = col.r_offset[r] * block.scale, span = Math.max(0.6, col.r_size[r] * block.scale);
      g.globalAlpha = state.filter && !matches(r) ? 0.2 : 1;
      g.fillStyle = style("c" + category[r]);
      g.fillRect(x, 0, span > 3 ? span - 0.7 : span, height);
    }
    g.globalAlpha = 1;
  }

  function tipOfBlock(event, block) {
    const box = block.canvas.getBoundingClientRect();
    const offset = (event.clientX - box.left) / block.scale;
    const found = block.list.filter((r) => col.r_offset[r] <= offset && offset < col.r_offset[r] + Math.max(col.r_size[r], 1.5 / block.scale));
    if (offset > col.m_size[block.m]) return hideTip();
    showTip(event, found.length ? found.slice(0, 6).map((r) => `${labelOf(r)}\n${bytes(col.r_size[r])} at ${bytes(col.r_offset[r])}`).join("\n")
      : "bound to nothing\n" + memoryLabel(block.m));
  }

  function showTip(event, text) {
    const tip = $("tip");
    tip.textContent = text;
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(innerWidth - box.width - 8, event.clientX + 14)) + "px";
    tip.style.top = Math.max(4, Math.min(innerHeight - box.height - 8, event.clientY + 16)) + "px";
  }

  function hideTip() {
    $("tip").hidden = true;
  }

  function showDiff(panel) {
    if (state.a === null || state.b === null) {
      panel.replaceChildren(element("p", "note", "Move the cursor and press A, move it and press B: what only A has, what only B has, and what both have."));
      return;
    }
    const view = views[state.view];
    const onlyA = [], onlyB = [];
    let both = 0, bothBytes = 0;
    for (const r of view.resources) {
      const a = alive(r, state.a), b = alive(r, state.b);
      if (!(a || b) || (state.filter && !matches(r))) continue;
      if (a && b) { ++both; bothBytes += col.r_size[r]; }
      else if (a) onlyA.push(r);
      else onlyB.push(r);
    }
    const held = sumsAt(view, state.b)[15] - sumsAt(view, state.a)[15];
    const pair = element("div", "pair");
    pair.append(resourceTable(onlyA, "Only at A, " + seconds(state.a)), resourceTable(onlyB, "Only at B, " + seconds(state.b)));
    panel.replaceChildren(element("p", "note", `From A to B the held memory changes by ${bytes(held)}. Both have ${both} resources of ${bytes(bothBytes)}.`), pair);
  }

  function savingOf(f) {
    if (f.mostBytes > 0) return f.verdict === "proved" ? bytes(f.mostBytes) : `${bytes(f.leastBytes)} to ${bytes(f.mostBytes)}`;
    return f.calls > 0 ? `${f.calls} calls, ${(f.driverTime_ns * 1e-6).toFixed(2)} ms` : "time, no bytes";
  }

  function showFindings(panel) {
    panel.replaceChildren();
    if (meta.findings.length === 0) {
      panel.append(element("p", "note", col.m_begin.length === 0 ? "The program allocated no device memory, so there is nothing to find."
        : "Nothing found: no bytes proved to be wasted, and nothing suspected."));
      return;
    }
    for (const f of meta.findings) {
      const box = element("article", "finding " + f.verdict);
      const heading = element("h2");
      heading.append(element("span", "badge", f.verdict), element("span", "", f.title), element("span", "saving", savingOf(f)));
      const list = element("ul");
      for (const o of f.objects.slice(0, 10)) list.append(element("li", "", o.wastedBytes === undefined ? `${o.name}, ${bytes(o.bytes)}` : `${o.name}, ${bytes(o.wastedBytes)} of ${bytes(o.bytes)}`));
      if (f.objectCount > 10) list.append(element("li", "", `and ${f.objectCount - 10} more`));
      box.append(heading, element("p", "", f.arithmetic + "."), list, element("p", "", "Remedy: " + f.remedy));
      panel.append(box);
    }
  }

  function showPeers(panel) {
    panel.replaceChildren();
    if (meta.peers.length === 0) {
      panel.append(element("p", "note", "The report was written without a replay of the capture through Maar."));
      return;
    }
    const table = element("table");
    const head = element("tr");
    for (const [word, className] of [["Who", ""], ["Heap", "n"], ["Device memory at the peak", "n"], ["Calls of vkAllocateMemory", "n"]]) head.append(element("th", className, word));
    table.append(head);
    for (const p of meta.peers) {
      const row = element("tr");
      row.append(element("td", "", p.name), element("td", "n", String(p.heap)), element("td", "n", bytes(p.peak)), element("td", "n", String(p.calls)));
      table.append(row);
    }
    panel.append(element("p", "note", "The same resources, allocated and freed in the same order on a simulated device with this device's heaps and memory types."), table);
  }

  const panels = {map: showMap, list: showList, diff: showDiff, findings: showFindings, peers: showPeers};
  function showPanel() {
    const panel = $("panel");
    if (state.tab !== "map") { panel.dataset.key = ""; panel.dataset.tab = state.tab; }
    panels[state.tab](panel);
    for (const tab of document.querySelectorAll("[data-tab][role=tab]")) tab.setAttribute("aria-selected", String(tab.dataset.tab === state.tab));
  }

  // ---- together ----

  function showLegend() {
    const view = views[state.view];
    const list = $("legend");
    list.replaceChildren();
    const add = (className, colour, word) => {
      const item = element("li");
      const mark = element("i", className);
      if (colour) mark.style.background = colour;
      item.append(mark, word);
      list.append(item);
    };
    CATEGORIES.forEach((word, c) => { if (view.present[c] && c !== SWAPCHAIN) add("", `var(--c${c})`, word); });
    add("", "var(--free)", "held, bound to nothing");
    add("line", "", "held as device memory");
    if (view.present[SWAPCHAIN]) add("", `var(--c${SWAPCHAIN})`, CATEGORIES[SWAPCHAIN] + ", above what is held");
    if (col.f_time.length) add("tick", "", "a presented frame");
    if (col.b_time.length) add("dash", "", "budget");
    add("size", "", "size of the heap");
  }

  function drawAll() {
    drawAreas();
    drawOverview();
    moved();
  }

  // After the cursor moved: everything that depends on it, in one frame.
  function moved() {
    drawOverlay();
    showNumbers();
    if (state.tab !== "findings" && state.tab !== "peers") showPanel();
    writeFragment();
  }

  let pending = false;
  function later(what) {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; what(); });
  }

  function setCursor(tick) {
    state.t = Math.min(length, Math.max(0, tick));
    if (state.t < state.from || state.t > state.to) {
      const half = (state.to - state.from) / 2;
      setRange(state.t - half, state.t + half);
    } else later(moved);
  }

  function setRange(from, to) {
    const span = Math.min(length, Math.max(20, to - from));
    state.from = Math.min(length - span, Math.max(0, from));
    state.to = state.from + span;
    later(drawAll);
  }

  function zoom(factor, around) {
    const span = (state.to - state.from) * factor;
    const share = (around - state.from) / (state.to - state.from);
    setRange(around - span * share, around - span * share + span);
  }

  function setView(index) {
    state.view = index;
    showLegend();
    for (const [i, tab] of [...$("heaps").children].entries()) tab.setAttribute("aria-selected", String(i === index));
    drawAll();
    showPanel();
  }

  function tickAt(event, canvas) {
    const box = canvas.getBoundingClientRect();
    return state.from + (event.clientX - box.left - LEFT) / (box.width - LEFT) * (state.to - state.from);
  }

  function listen() {
    const overlay = $("overlay");
    let drag = null;
    overlay.addEventListener("pointerdown", (event) => {
      overlay.setPointerCapture(event.pointerId);
      drag = {x: event.clientX, from: state.from, to: state.to, range: event.shiftKey ? tickAt(event, overlay) : null};
      if (!event.shiftKey) setCursor(tickAt(event, overlay));
      $("chart").focus({preventScroll: true});
    });
    overlay.addEventListener("pointermove", (event) => {
      if (drag && drag.range === null) setCursor(tickAt(event, overlay));
    });
    overlay.addEventListener("pointerup", (event) => {
      if (drag && drag.range !== null) {
        const end = tickAt(event, overlay);
        if (Math.abs(event.clientX - drag.x) > 4) setRange(Math.min(drag.range, end), Math.max(drag.range, end));
      }
      drag = null;
    });
    overlay.addEventListener("wheel", (event) => {
      event.preventDefault();
      if (event.shiftKey) {
        const step = (state.to - state.from) * Math.sign(event.deltaY || event.deltaX) * 0.1;
        setRange(state.from + step, state.to + step);
      } else zoom(event.deltaY > 0 ? 1.25 : 0.8, tickAt(event, overlay));
    }, {passive: false});
    const overview = $("overview");
    let moving = false;
    const pan = (event) => {
      const box = overview.getBoundingClientRect();
      const tick = (event.clientX - box.left - LEFT) / (box.width - LEFT) * length;
      const half = (state.to - state.from) / 2;
      setRange(tick - half, tick + half);
    };
    overview.addEventListener("pointerdown", (event) => { moving = true; overview.setPointerCapture(event.pointerId); pan(event); });
    overview.addEventListener("pointermove", (event) => { if (moving) pan(event); });
    overview.addEventListener("pointerup", () => { moving = false; });
    for (const tab of document.querySelectorAll("[data-tab][role=tab]"))
      tab.addEventListener("click", () => { state.tab = tab.dataset.tab; showPanel(); writeFragment(); });
    $("filter").addEventListener("input", () => { state.filter = $("filter").value; showPanel(); writeFragment(); });
    $("theme").addEventListener("click", switchTheme);
    $("help-button").addEventListener("click", () => $("help").showModal());
    systemDark.addEventListener("change", () => { applyTheme(); drawAll(); });
    addEventListener("resize", () => later(drawAll));
    addEventListener("scroll", () => { if (state.tab === "map") later(() => showPanel()); }, {passive: true});
    addEventListener("keydown", onKey);
  }

  function switchTheme() {
    setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
    $("panel").dataset.key = "";
    drawAll();
    showPanel();
  }

  function stepChange(direction) {
    const view = views[state.view];
    const n = changesUpTo(view, state.t);
    if (direction > 0) return n < view.times.length ? view.times[n] : length;
    let k = n - 1;
    while (k >= 0 && view.times[k] >= state.t) --k;
    return k >= 0 ? view.times[k] : 0;
  }

  function stepFrame(direction) {
    const at = lowerBound(col.f_time, state.t + (direction > 0 ? 1 : 0));
    const next = direction > 0 ? at : at - 1;
    return next >= 0 && next < col.f_time.length ? col.f_time[next] : state.t;
  }

  const KEYS = [
    ["← →", "move the cursor; with Shift ten times as far", null],
    [", .", "the change before, the change after", null],
    ["[ ]", "the frame before, the frame after", null],
    ["+ − 0", "closer, farther, all of the time", null],
    ["A B", "mark the moments that are compared", null],
    ["D", "what differs between A and B", null],
    ["P", "the moment when this heap peaks", null],
    ["1 … 9", "another heap", null],
    ["F or /", "filter", null],
    ["T", "light or dark", null],
    ["?", "this list", null],
  ];

  function onKey(event) {
    if (event.target === $("filter")) {
      if (event.key === "Escape") $("filter").blur();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
    const step = (state.to - state.from) / 200 * (event.shiftKey ? 10 : 1);
    const actions = {
      ArrowLeft: () => setCursor(state.t - step), ArrowRight: () => setCursor(state.t + step),
      ",": () => setCursor(stepChange(-1)), ".": () => setCursor(stepChange(1)),
      "[": () => setCursor(stepFrame(-1)), "]": () => setCursor(stepFrame(1)),
      "+": () => zoom(0.5, state.t), "=": () => zoom(0.5, state.t), "-": () => zoom(2, state.t), "0": () => setRange(0, length),
      a: () => { state.a = state.t; later(moved); }, b: () => { state.b = state.t; later(moved); },
      d: () => { state.tab = "diff"; showPanel(); writeFragment(); },
      p: () => setCursor(peakOf(views[state.view])),
      f: () => $("filter").focus(), "/": () => $("filter").focus(),
      t: switchTheme, "?": () => $("help").showModal(),
      Home: () => setCursor(state.from), End: () => setCursor(state.to),
    };
    const action = actions[event.key] || actions[event.key.toLowerCase()];
    if (/^[1-9]$/.test(event.key) && Number(event.key) <= views.length) setView(Number(event.key) - 1);
    else if (action) action();
    else return;
    event.preventDefault();
  }

  function peakOf(view) {
    let held = 0, bound = 0, mostHeld = 0, mostBound = -1, at = 0;
    for (let k = 0; k < view.times.length; ++k) {
      if (view.cats[k] === 15) held += view.deltas[k]; else if (view.cats[k] !== SWAPCHAIN) bound += view.deltas[k];
      if (held > mostHeld || (held === mostHeld && bound > mostBound)) {
        mostHeld = held;
        mostBound = bound;
        at = view.times[k];
      }
    }
    return at;
  }

  function showHeader() {
    document.title = meta.title + ": device memory";
    $("title").textContent = meta.title;
    const states = ["still written, or killed", "complete", "cut off: the disk was full", "cut off: the file reached its limit"];
    const frames = meta.devices.reduce((n, d) => n + d.frames, 0);
    $("subtitle").textContent = [meta.devices.map((d) => d.name).join("; ") || "no device", (meta.length_ns * 1e-9).toFixed(1) + " s",
      frames ? frames + " frames" : "", meta.events + " events", "capture " + (states[meta.state] || "of an unknown state")].filter(Boolean).join(" · ");
    views.forEach((view, i) => {
      const tab = element("button");
      tab.type = "button";
      tab.setAttribute("role", "tab");
      const device = meta.devices.length > 1 ? `${meta.devices[view.device].name}, ` : "";
      tab.append(`${device}heap ${view.heap}${view.facts.flags & 1 ? ", device" : ", host"} · ${bytes(view.facts.peak)}`);
      const bar = element("span", "bar"), fill = element("i");
      fill.style.width = Math.min(100, view.facts.peak / view.facts.size * 100) + "%";
      bar.append(fill);
      tab.append(bar);
      tab.title = `peak ${bytes(view.facts.peak)} of ${bytes(view.facts.size)}`;
      tab.addEventListener("click", () => setView(i));
      $("heaps").append(tab);
    });
    const findings = document.querySelector("[data-tab=findings]");
    findings.textContent = `Findings (${meta.findings.length})`;
    for (const [key, what] of KEYS) $("keys").append(element("dt", "", key), element("dd", "", what));
  }

  async function start() {
    const begin = performance.now();
    applyTheme();
    await unpack();
    buildViews();
    if (views.length === 0) {
      showHeader();
      $("panel").append(element("p", "note", "The program created no device."));
      return {state, views, ready_ms: performance.now() - begin};
    }
    for (const view of views) {
      view.present = new Array(16).fill(false);
      for (let k = 0; k < view.times.length; ++k) view.present[view.cats[k]] = true;
    }
    let first = 0;
    views.forEach((view, i) => { if (view.facts.peak > views[first].facts.peak) first = i; });
    state.view = first;
    state.from = Math.floor(meta.from_ns / meta.tick_ns);
    state.to = Math.max(state.from + 20, Math.min(length, Math.ceil(meta.to_ns / meta.tick_ns)));
    state.t = peakOf(views[first]);
    readFragment();
    $("filter").value = state.filter;
    showHeader();
    listen();
    setView(state.view);
    return {state, views, col, meta, setCursor, setRange, setView, labelOf, sumsAt, bandsOf, ready_ms: performance.now() - begin};
  }

  window.maarReport = start();
})();
