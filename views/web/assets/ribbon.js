"use strict";
// The ribbon of a session: a bar for each record. Only what is to be seen is drawn and asked for.
(() => {
  const box = $("[data-ribbon]");
  if (!box) return;
  const NS = "http://www.w3.org/2000/svg", PIECE = 250, TOP = 4, FULL = 6000;
  const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16, PITCH = Math.round(8 * unit), HIGH = Math.round(140 * unit);
  const track = $(".track", box), tip = $("[data-tip]"), panel = $("[data-record]");
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("aria-hidden", "true");
  track.append(svg);
  let log = "messages", all = +box.dataset.all, at = 0, drawn = 0;
  const counts = { messages: all, events: +box.dataset.eventsAll };
  const bars = { messages: new Map(), events: new Map() }, asked = { messages: new Set(), events: new Set() };
  let runs = [[], []];

  const place = (n) => {
    const list = runs[log === "events" ? 1 : 0];
    let lo = 0, hi = list.length;
    while (lo < hi) { const mid = (lo + hi) >> 1; if (list[mid].to < n) lo = mid + 1; else hi = mid; }
    return lo < list.length && list[lo].from <= n ? list[lo] : null;
  };
  const height = (tokens) => Math.max(3, Math.round(HIGH * Math.sqrt(Math.min(tokens, FULL) / FULL)));
  const words = (b) => {
    const p = place(b.n);
    return `${log === "events" ? "event" : "message"} ${b.n.toLocaleString("en-US")}, ${b.role}, about ${b.tokens.toLocaleString("en-US")} tokens${p ? ", " + p.said : ""}: ${b.first}`;
  };
  async function fetchPiece(k) {
    const set = asked[log], map = bars[log], name = log;
    if (set.has(k)) return;
    set.add(k);
    try {
      const answer = await fetch(`/data/ribbon/${enc}?log=${name}&from=${k * PIECE + 1}&n=${PIECE}`);
      const data = await answer.json();
      for (const b of data.bars) map.set(b.n, b);
      if (data.bars.length < PIECE) set.delete(k); // more may come
      if (name === log) { draw(); if (at > k * PIECE && at <= (k + 1) * PIECE) say(); }
    } catch { set.delete(k); }
  }
  function rect(cls, x, y, w, h) {
    const r = document.createElementNS(NS, "rect");
    r.setAttribute("class", cls); r.setAttribute("x", x); r.setAttribute("y", y); r.setAttribute("width", w); r.setAttribute("height", h);
    return r;
  }
  function draw() {
    drawn = 0;
    const width = box.clientWidth, left = Math.min(box.scrollLeft, Math.max(0, track.offsetWidth - width));
    const first = Math.max(1, Math.floor(left / PITCH)), last = Math.min(all, Math.ceil((left + width) / PITCH) + 1);
    svg.style.width = width + "px"; svg.style.left = left + "px";
    const list = [];
    for (let n = first; n <= last; n++) {
      const b = bars[log].get(n), x = (n - 1) * PITCH - left + 1;
      if (!b) { list.push(rect("ghost role-unknown", x + 1, HIGH + TOP - 3, PITCH - 4, 3)); continue; }
      const h = height(b.tokens), p = place(n), zone = p ? p.zone : "", role = " role-" + b.role;
      // Outlined in its height; filled as far as it stands in the prompt.
      const share = { full: 1, shortened: 0.6, kept: 0.6, folded: 0.25 }[zone] ?? 0;
      list.push(rect("ghost" + role, x + 0.5, HIGH + TOP - h + 0.5, PITCH - 3, h));
      if (share) list.push(rect("bar" + role, x + 0.5, HIGH + TOP - h * share + 0.5, PITCH - 3, h * share));
    }
    if (at >= first && at <= last) list.push(rect("chosen", (at - 1) * PITCH - left, 1, PITCH - 1, HIGH + TOP + 2));
    svg.replaceChildren(...list);
    svg.dataset.drawn = last - first + 1;
    for (let k = Math.floor((first - 1) / PIECE); k * PIECE < last; k++) fetchPiece(k);
    const seen = $("[data-overview]");
    if (seen && log === "messages") {
      const w = $(".window", seen) || seen.appendChild(Object.assign(document.createElement("span"), { className: "window" }));
      w.style.left = (100 * (first - 1)) / all + "%"; w.style.width = (100 * Math.min(all, last - first + 1)) / all + "%";
    }
  }
  const soon = () => { if (!drawn) drawn = requestAnimationFrame(draw); };
  function size() {
    box.closest("section").hidden = !(counts.messages + counts.events);
    track.style.width = all * PITCH + "px";
    box.setAttribute("aria-valuemax", all);
    soon();
  }
  function reveal(n, middle) {
    const x = (n - 1) * PITCH, w = box.clientWidth;
    if (middle || x < box.scrollLeft + 16 || x > box.scrollLeft + w - 32) box.scrollLeft = x - w / 2;
  }
  function say() {
    const b = bars[log].get(at), text = b ? words(b) : `${log === "events" ? "event" : "message"} ${at.toLocaleString("en-US")}`;
    box.setAttribute("aria-valuenow", at);
    box.setAttribute("aria-valuetext", text);
    tip.textContent = text;
  }
  function go(n, open) {
    if (!all) return;
    at = Math.max(1, Math.min(all, n));
    reveal(at);
    draw();
    say();
    if (open) show(at);
  }
  function show(n) {
    const name = log + ":" + n;
    panel.dataset.part = "";
    load(panel, `/part/record/${enc}?r=${name}`);
    history.replaceState(null, "", `?r=${name}`);
  }
  panel.addEventListener("click", (e) => {
    const b = e.target.closest("[data-go]");
    if (b) go(+b.dataset.go, true);
  });
  const under = (e) => Math.floor((e.clientX - box.getBoundingClientRect().left + box.scrollLeft) / PITCH) + 1;
  box.addEventListener("scroll", soon, { passive: true });
  box.addEventListener("pointermove", (e) => { const b = bars[log].get(under(e)); if (b) tip.textContent = words(b); });
  box.addEventListener("click", (e) => { const n = under(e); if (n <= all) go(n, true); });
  box.addEventListener("keydown", (e) => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: 50, PageUp: -50 }[e.key];
    if (by) go((at || all) + by);
    else if (e.key === "Home") go(1);
    else if (e.key === "End") go(all);
    else if (e.key === "Enter" || e.key === " ") go(at || all, true);
    else return;
    e.preventDefault();
  });
  window.ribbon = { step: (by) => { box.focus({ preventScroll: true }); go(at ? at + by : all, panel.childNodes.length > 0); } };
  addEventListener("resize", soon);
  for (const b of $$("[data-log]")) b.addEventListener("click", () => {
    for (const other of $$("[data-log]")) other.setAttribute("aria-pressed", other === b);
    log = b.dataset.log; all = counts[log]; at = 0;
    box.scrollLeft = 0; size(); box.scrollLeft = all * PITCH; soon();
  });
  document.addEventListener("click", (e) => {
    const o = e.target.closest("[data-overview]");
    if (!o || log !== "messages") return;
    const r = o.getBoundingClientRect();
    box.scrollLeft = ((e.clientX - r.left) / r.width) * all * PITCH - box.clientWidth / 2;
  });
  async function places() {
    try {
      const answer = await fetch(`/data/places/${enc}`);
      if (answer.ok) { runs = (await answer.json()).runs; box.dataset.placed = "true"; soon(); }
    } catch { /* the overview says why */ }
  }
  $("[data-live-on]")?.addEventListener("loaded", places); // made from the same prompt, which stands then
  document.addEventListener("session", (e) => {
    if (!e.detail.messages && !e.detail.events) return;
    const end = box.scrollLeft + box.clientWidth >= track.offsetWidth - 2 * PITCH;
    counts.messages = e.detail.messages; counts.events = e.detail.events;
    if (counts[log] === all) return;
    all = counts[log];
    size();
    if (end) box.scrollLeft = all * PITCH;
  });
  const first = box.dataset.first.split(":");
  if (first[0] === "events") $('[data-log="events"]').click();
  size();
  if (first[1]) go(+first[1], true); else box.scrollLeft = all * PITCH;
})();
