(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");
document.documentElement.classList.add("on");
const NS = "http://www.w3.org/2000/svg";
const COLOURS = 9;

// Data only ever become text nodes, never mark-up.
const make = (name, parent, text, cls) => {
  const e = document.createElement(name);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  if (parent) parent.append(e);
  return e;
};
const draw = (name, parent, attributes) => {
  const e = document.createElementNS(NS, name);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  parent.append(e);
  return e;
};
const minus = s => s.replace(/-/g, "−");
const raised = s => [...s].map(c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]).join("");
const scientific = (x, digits) => {
  const [m, e] = x.toExponential(digits).split("e");
  return minus(String(+m)) + "×10" + raised(String(+e));
};
const number = (x, digits = 4) => {
  if (x === null || x === undefined) return "–";
  if (x === 0) return "0";
  const a = Math.abs(x);
  if (a < 1e-4 || a >= 1e7) return scientific(x, digits - 1);
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(a)));
  return minus(x.toLocaleString("en-US", { maximumFractionDigits: Math.min(decimals, 12) }));
};
const percent = x => x === null ? "–" : number(100 * x, 100 * x > 99.9 && x < 1 ? 5 : 3) + "\u00a0%";

// Examples.
const cells = (parent, names, values) => {
  const table = make("table", parent, undefined, "cells");
  values.slice(0, 14).forEach((value, k) => {
    const row = make("tr", table);
    if (value.length > 22) {
      const cell = make("td", row, undefined, "long");
      cell.colSpan = 2;
      make("b", cell, names[k] || "");
      cell.append(" " + value);
    } else {
      make("th", row, names[k] || "");
      make("td", row, value);
    }
  });
  if (values.length > 14) {
    const cell = make("td", make("tr", table), "and " + (values.length - 14) + " more", "quiet");
    cell.colSpan = 2;
  }
};
const image = (parent, k) => {
  const { across, images } = data.pool, each = across * across;
  const sheet = Math.floor(k / each), place = k % each;
  const rows = Math.ceil(Math.min(each, images - sheet * each) / across);
  const share = (n, of) => of < 2 ? 0 : 100 * n / (of - 1);
  const e = make("span", parent, undefined, "pic p" + sheet);
  e.style.backgroundSize = across * 100 + "% " + rows * 100 + "%";
  e.style.backgroundPosition = share(place % across, across) + "% " + share(Math.floor(place / across), rows) + "%";
};
const graph = (parent, at, edges, labels, nodes) => {
  const svg = draw("svg", parent, { class: "graph", viewBox: "0 0 112 112" });
  const xy = k => (at[2 * k] + 6) + " " + (at[2 * k + 1] + 6);
  let d = "";
  for (let k = 0; k < edges.length; k += 2) d += "M" + xy(edges[k]) + "L" + xy(edges[k + 1]);
  draw("path", svg, { class: "s-muted", d });
  const n = at.length / 2, groups = {};
  for (let k = 0; k < n; k++) {
    const label = labels.length ? labels[k] : 0;
    const cls = label < COLOURS ? "c" + label : "others";
    groups[cls] = (groups[cls] || "") + "M" + xy(k) + "h0";
  }
  for (const cls in groups) draw("path", svg, { class: "node s-" + cls, "stroke-width": n > 60 ? 4 : 7, d: groups[cls] });
  if (labels.length) {
    const legend = make("span", parent, undefined, "labels");
    [...new Set(labels)].sort((a, b) => a - b).slice(0, 6).forEach(label => {
      const entry = make("span", legend);
      make("i", entry, undefined, "b-" + (label < COLOURS ? "c" + label : "others"));
      entry.append(data.pool.labels[label] || "…");
    });
  }
  if (n < nodes) make("span", parent, n + " of " + nodes + " nodes shown", "quiet");
};
const example = (parent, k) => {
  const e = data.pool.examples[k];
  if (!e) return;
  if (e[0] === 0) cells(parent, data.pool.columns[e[2]], e[3]);
  else if (e[0] === 1) image(parent, e[2]);
  else graph(parent, e[2], e[3], e[4], e[5]);
};

// The tooltip.
let follow = () => {};
const hide = () => { tip.hidden = true; document.querySelectorAll(".ring").forEach(r => r.remove()); };
const fill = (plot, id) => {
  const model = data.models[plot.model], target = model.targets[plot.target];
  const lines = [];
  let title, k;
  if (id < 0) {
    const [label, assigned, nearest, truth, distance] = model.inducing[-1 - id] || ["", 0, -1, null, null];
    title = "Inducing point " + -id;
    lines.push(["Pseudo-label", label], ["Assigned inputs", number(assigned)]);
    if (truth !== null) lines.push(["Nearest example", truth], ["Distance", number(distance)]);
    k = nearest;
  } else {
    k = model.points[id];
    title = (data.pool.examples[k] || [])[1] || "";
    if (target.classes) {
      const truth = target.truth[id], predicted = target.predicted[id];
      lines.push(["True class", target.classes[truth]], ["Predicted", target.classes[predicted]],
        ["with probability", percent(target.p[id])]);
      if (truth !== predicted) lines.push(["Probability of the true class", percent(target.pTruth[id])]);
      lines.push(["Entropy", number(target.entropy[id], 3) + " nats"]);
      if (target.mean) lines.push(["Latent mean", number(target.mean[id])], ["Latent std", number(target.std[id])]);
    } else {
      // Null stands for a number that is not finite.
      const known = target.truth[id] !== null && target.mean[id] !== null;
      const error = known ? target.truth[id] - target.mean[id] : null;
      lines.push(["Observed", number(target.truth[id])], ["Predicted", number(target.mean[id])],
        ["Standard deviation", number(target.std[id])], ["Latent std", number(target.latent[id])],
        ["Error", number(error)], ["z-score", number(error !== null && target.std[id] > 0 ? error / target.std[id] : null, 2)]);
    }
  }
  tip.replaceChildren();
  const head = make("h4", tip);
  const close = make("button", head, "×");
  close.setAttribute("aria-label", "Close");
  close.addEventListener("click", hide);
  head.append(title);
  example(tip, k);
  const list = make("dl", tip);
  for (const [name, value] of lines) { make("dt", list, name); make("dd", list, value); }
};
const place = (x, y) => {
  tip.hidden = false;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  const left = x + 18 + w > innerWidth - 8 ? x - 18 - w : x + 18;
  tip.style.left = Math.max(8, left) + "px";
  tip.style.top = Math.max(8, Math.min(y - h / 3, innerHeight - h - 8)) + "px";
};

// Ticks of a part of an axis.
const ticks = (low, high, wanted) => {
  const rough = (high - low) / wanted;
  const power = Math.pow(10, Math.floor(Math.log10(rough)));
  const step = [1, 2, 5, 10].map(t => t * power).find(s => s >= rough * (1 - 1e-9)) || rough;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && out.length < 30; k++) {
    const x = k * step;
    out.push([x, k === 0 ? "0" : Math.abs(x) >= 1e6 || decimals > 5
      ? scientific(x, Math.min(6, Math.max(0, Math.floor(Math.log10(Math.abs(x))) - Math.floor(Math.log10(step)))))
      : minus(x.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }))]);
  }
  return out;
};

for (const id in data.plots) {
  const plot = data.plots[id];
  const box = document.getElementById(id).querySelector(".plot"), svg = box.querySelector("svg");
  const [left, top, width, height] = svg.dataset.area.split(" ").map(Number);
  const range = { x: svg.dataset.x.split(" ").map(Number), y: svg.dataset.y.split(" ").map(Number) };
  const paths = [...svg.querySelectorAll("[data-marks]")], lines = [...svg.querySelectorAll("[data-line]")];
  const marks = [];
  const read = p => [...p.getAttribute("d").matchAll(/M(\S+?) ([-\d.]+)([^M]*)/g)].map(m => [+m[1], +m[2], m[3]]);
  const groups = paths.map(p => read(p).map(m => {
    const mark = { x: m[0], y: m[1], rest: m[2], id: plot.order[marks.length] };
    marks.push(mark);
    return mark;
  }));
  const straight = lines.map(p => p.getAttribute("d").match(/[-\d.]+/g).map(Number));
  const groupsOf = { x: svg.querySelector(".x-ticks"), y: svg.querySelector(".y-ticks") };
  const first = { x: [...groupsOf.x.children], y: [...groupsOf.y.children] };
  // Position p of the full view is at zoom·(p − offset) in the current one.
  let zoom = 1, fromX = left, fromY = top, current = -1;
  const toX = x => left + zoom * (x - fromX), toY = y => top + zoom * (y - fromY);
  const inside = m => toX(m.x) >= left - 3 && toX(m.x) <= left + width + 3 && toY(m.y) >= top - 3 && toY(m.y) <= top + height + 3;
  const round = v => Math.round(v * 100) / 100;

  const label = axis => {
    const g = groupsOf[axis];
    if (zoom === 1 || first[axis].length < 2) { g.replaceChildren(...first[axis]); return; }
    const [low, high] = range[axis], per = (high - low) / (axis === "x" ? width : height);
    const a = axis === "x" ? low + (fromX - left) * per : high - (fromY - top + height / zoom) * per;
    const b = a + (high - low) / zoom;
    const out = [];
    for (const [value, caption] of ticks(a, b, 5)) {
      const line = first[axis][0].cloneNode(), text = first[axis][1].cloneNode();
      const at = round(axis === "x" ? left + width * (value - a) / (b - a) : top + height * (1 - (value - a) / (b - a)));
      line.setAttribute("d", axis === "x" ? `M${at} ${top}v${height}` : `M${left} ${at}h${width}`);
      text.setAttribute(axis, axis === "x" ? at : at + 4);
      text.textContent = caption;
      out.push(line, text);
    }
    g.replaceChildren(...out);
  };
  const redraw = () => {
    paths.forEach((p, g) => p.setAttribute("d",
      groups[g].filter(inside).map(m => `M${round(toX(m.x))} ${round(toY(m.y))}${m.rest}`).join("")));
    lines.forEach((p, k) => {
      const [a, b, c, d] = straight[k];
      p.setAttribute("d", `M${round(toX(a))} ${round(toY(b))}L${round(toX(c))} ${round(toY(d))}`);
    });
    label("x");
    label("y");
    box.classList.toggle("zoomed", zoom > 1);
    hide();
  };
  const move = (x, y) => {
    fromX = Math.min(Math.max(x, left), left + width - width / zoom);
    fromY = Math.min(Math.max(y, top), top + height - height / zoom);
    redraw();
  };
  const zoomAt = (factor, x, y) => {
    const before = zoom, keepX = fromX + (x - left) / before, keepY = fromY + (y - top) / before;
    zoom = Math.min(40, Math.max(1, zoom * factor));
    if (zoom < 1.01) zoom = 1;
    move(keepX - (x - left) / zoom, keepY - (y - top) / zoom);
  };
  const middle = factor => zoomAt(factor, left + width / 2, top + height / 2);
  const point = e => {
    const m = svg.getScreenCTM();
    return [(e.clientX - m.e) / m.a, (e.clientY - m.f) / m.d, m.a];
  };
  const nearest = (x, y, reach) => {
    let best = -1, least = reach * reach;
    // Later marks lie on top and win ties.
    marks.forEach((m, k) => {
      const d = (toX(m.x) - x) ** 2 + (toY(m.y) - y) ** 2;
      if (d <= least && inside(m)) { least = d; best = k; }
    });
    return best;
  };
  const show = k => {
    hide();
    current = k;
    if (k < 0) return;
    const m = marks[k], x = toX(m.x), y = toY(m.y), ctm = svg.getScreenCTM();
    draw("circle", svg, { class: "ring", cx: round(x), cy: round(y), r: 8 });
    fill(plot, m.id);
    place(ctm.e + x * ctm.a, ctm.f + y * ctm.d);
    follow = () => { const to = svg.getScreenCTM(); place(to.e + x * to.a, to.f + y * to.d); };
  };

  box.classList.add("live");
  const bar = make("div", box, undefined, "zoom");
  for (const [text, name, action] of [["+", "Zoom in", () => middle(1.6)], ["−", "Zoom out", () => middle(1 / 1.6)],
    ["⟲", "Show all", () => { zoom = 1; move(left, top); }]]) {
    const button = make("button", bar, text);
    button.type = "button";
    button.setAttribute("aria-label", name + ": " + svg.getAttribute("aria-label"));
    button.title = name;
    button.addEventListener("click", action);
  }
  let drag = null;
  svg.addEventListener("pointerdown", e => {
    const [x, y] = point(e);
    drag = zoom > 1 ? { x, y, fromX, fromY, moved: false } : null;
    if (drag) svg.setPointerCapture(e.pointerId);
  });
  svg.addEventListener("pointermove", e => {
    const [x, y, scale] = point(e);
    if (drag) {
      if (Math.hypot(x - drag.x, y - drag.y) > 3) drag.moved = true;
      if (drag.moved) move(drag.fromX - (x - drag.x) / zoom, drag.fromY - (y - drag.y) / zoom);
      return;
    }
    if (e.pointerType !== "mouse") return;
    const k = nearest(x, y, 16 / scale);
    if (k !== current || tip.hidden) show(k);
  });
  svg.addEventListener("pointerup", e => {
    const moved = drag && drag.moved;
    drag = null;
    if (moved || e.pointerType === "mouse") return;
    const [x, y, scale] = point(e);
    show(nearest(x, y, 28 / scale));
  });
  svg.addEventListener("pointercancel", () => { drag = null; });
  svg.addEventListener("pointerleave", e => { if (e.pointerType === "mouse" && !drag) hide(); });
  // The wheel zooms only with Ctrl (which a pinch also sets) or in a focused figure, so that the page still scrolls.
  svg.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== box) return;
    e.preventDefault();
    const [x, y] = point(e);
    zoomAt(Math.exp(-Math.max(-100, Math.min(100, e.deltaY)) / 300), x, y);
  }, { passive: false });
  const byX = marks.map((_, k) => k).sort((a, b) => marks[a].x - marks[b].x || a - b);
  const byY = marks.map((_, k) => k).sort((a, b) => marks[b].y - marks[a].y || a - b);
  const step = (order, by) => {
    const seen = order.filter(k => inside(marks[k]));
    if (!seen.length) return;
    const at = seen.indexOf(current);
    show(at < 0 ? seen[by > 0 ? 0 : seen.length - 1] : seen[Math.min(seen.length - 1, Math.max(0, at + by))]);
  };
  box.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target !== box) { if (e.key === "Escape") hide(); return; }
    const act = { ArrowRight: () => step(byX, 1), ArrowLeft: () => step(byX, -1), ArrowUp: () => step(byY, 1),
      ArrowDown: () => step(byY, -1), Escape: hide, "+": () => middle(1.6), "=": () => middle(1.6), "-": () => middle(1 / 1.6),
      "0": () => { zoom = 1; move(left, top); } }[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  box.addEventListener("blur", hide);
}

// Numbers of a table as other programs read them: 1,234 → 1234, −1×10⁻⁹ → -1e-9, 93 % → 0.93.
const plain = text => {
  const t = text.replace(/\s+/g, " ").trim();
  if (t === "–") return "";
  const m = /^(−?)([\d,]*\d(?:\.\d+)?)(?:×10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?( %)?$/.exec(t);
  if (!m) return /^[=+@-]/.test(t) ? "'" + t : t;
  const power = m[3] ? [...m[3]].map(c => c === "⁻" ? "-" : "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)).join("") : "0";
  const x = Number(m[2].replace(/,/g, "") + "e" + power) * (m[1] ? -1 : 1);
  return String(m[4] ? Number((x / 100).toPrecision(12)) : x);
};
const save = (parts, type, name) => {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob(parts, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};
document.querySelectorAll("table.metrics").forEach((table, k) => {
  const name = table.dataset.name || "table-" + (k + 1);
  const button = make("button", undefined, "CSV", "csv");
  button.type = "button";
  button.setAttribute("aria-label", "Save the table " + name + " as CSV");
  button.addEventListener("click", () => {
    const cell = e => { const t = plain(e.textContent); return /[",\n]/.test(t) ? '"' + t.replace(/"/g, '""') + '"' : t; };
    const lines = [...table.rows].map(row => [...row.cells].map(cell).join(","));
    // The mark tells spreadsheets that this is UTF-8.
    save(["\ufeff" + lines.join("\r\n") + "\r\n"], "text/csv", name + ".csv");
  });
  table.parentElement.after(button);
});

// A figure as a file: its attributes hold the colours of the light page.
for (const link of document.querySelectorAll("a.svg")) {
  link.addEventListener("click", e => {
    e.preventDefault();
    const figure = link.closest("figure"), copy = figure.querySelector("svg").cloneNode(true);
    copy.querySelectorAll(".ring, .at").forEach(r => r.remove());
    save([new XMLSerializer().serializeToString(copy)], "image/svg+xml", figure.id + ".svg");
  });
}

// The threshold: what becomes of the rows, and where it is on both curves.
for (const box of document.querySelectorAll(".threshold")) {
  const section = document.getElementById(box.dataset.of), slider = box.querySelector("input");
  const choice = box.querySelector("select"), said = box.querySelector("output");
  const which = /^m(\d+)-/.exec(box.dataset.of), model = data.models[which ? which[1] - 1 : 0];
  const curves = model.targets.map(t => t.thresholds).find(t => t && t.length);
  const marks = [...section.querySelectorAll("figure svg[data-area]")].map(svg => [svg, draw("circle", svg, { class: "at", r: 6, visibility: "hidden" })]);
  const update = () => {
    const { positives, negatives, points } = curves[choice ? choice.value : 0];
    const [threshold, right, wrong] = points[slider.value];
    const precision = right / (right + wrong), recall = right / positives, mistaken = wrong / negatives;
    said.replaceChildren();
    const list = make("dl", said);
    for (const [name, value] of [["Threshold", percent(threshold)], ["Precision", percent(precision)], ["Recall", percent(recall)],
      ["True positives", number(right)], ["False positives", number(wrong)], ["False negatives", number(positives - right)],
      ["True negatives", number(negatives - wrong)]]) {
      const entry = make("div", list);
      make("dt", entry, name);
      make("dd", entry, value);
    }
    slider.setAttribute("aria-valuetext", "threshold " + percent(threshold) + ", precision " + percent(precision) + ", recall " + percent(recall));
    marks.forEach(([svg, mark], k) => {
      const [left, top, width, height] = svg.dataset.area.split(" ").map(Number);
      const [x, y] = k ? [mistaken, recall] : [recall, precision];
      mark.setAttribute("cx", left + width * x);
      mark.setAttribute("cy", top + height * (1 - y));
      mark.setAttribute("visibility", "visible");
    });
  };
  // To the right is a higher threshold; the first is the one that the most probable of two classes has.
  const start = () => {
    const { points } = curves[choice ? choice.value : 0];
    const half = points.findIndex(point => point[0] >= 0.5);
    slider.max = points.length - 1;
    slider.value = half < 0 ? points.length - 1 : half;
    update();
  };
  curves.forEach(curve => curve.points.reverse());
  slider.addEventListener("input", update);
  if (choice) choice.addEventListener("change", start);
  start();
}

// The table of contents follows the reader; what is folded opens for a link and for printing.
const reveal = () => {
  const target = location.hash && document.getElementById(location.hash.slice(1));
  if (!target) return;
  for (let e = target.closest("details"); e; e = e.parentElement.closest("details")) e.open = true;
  target.scrollIntoView();
};
addEventListener("hashchange", reveal);
const links = new Map([...document.querySelectorAll("nav a")].map(a => [a.hash.slice(1), a]));
if ("IntersectionObserver" in window) {
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
      const link = links.get(entry.target.id);
      if (!entry.isIntersecting || !link) continue;
      links.forEach(other => other.removeAttribute("aria-current"));
      link.setAttribute("aria-current", "true");
      const list = link.closest("ol");
      if (list.scrollWidth > list.clientWidth) list.scrollLeft = link.offsetLeft - list.offsetLeft - 40;
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  document.querySelectorAll("main section").forEach(s => seen.observe(s));
}
addEventListener("beforeprint", () => document.querySelectorAll("section > details, .experts").forEach(d => { d.open = true; }));
document.addEventListener("keydown", e => { if (e.key === "Escape") hide(); });
addEventListener("scroll", () => {
  if (tip.hidden || innerWidth <= 640) return;
  if (document.activeElement.classList.contains("live")) follow(); else hide();
}, { passive: true });
})();
