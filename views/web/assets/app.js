"use strict";
// The pages are made by the server; this loads their parts, follows the session, and adds keys. It inserts what the
// server has escaped, and text as text.
const $ = (q, el = document) => el.querySelector(q);
const $$ = (q, el = document) => [...el.querySelectorAll(q)];
const ref = document.body.dataset.ref;
const enc = ref.split("/").map(encodeURIComponent).join("/");

// Parts: pieces of the page that come after it.
const loads = new WeakMap();
async function load(el, url = el.dataset.part) {
  loads.get(el)?.abort();
  const stop = new AbortController();
  loads.set(el, stop);
  el.dataset.part = url;
  el.setAttribute("aria-busy", "true");
  let html;
  try {
    const answer = await fetch(url, { signal: stop.signal });
    html = await answer.text();
    if (answer.status === 401) html = "";
    if (!(answer.headers.get("content-type") || "").startsWith("text/html")) throw new Error(html.replace(/^ctxfs: /, ""));
  } catch (err) {
    if (stop.signal.aborted) return false;
    show(el, failure(err.message === "Failed to fetch" ? "ctxfs ui has ended. Start it again." : err.message));
    return false;
  }
  if (stop.signal.aborted) return false;
  show(el, new DOMParser().parseFromString(html, "text/html").body.childNodes);
  return true;
}
function show(el, nodes) {
  const open = document.activeElement && el.contains(document.activeElement) ? keyOf(document.activeElement) : "";
  el.replaceChildren(...nodes);
  el.removeAttribute("aria-busy");
  lay(el);
  if (open) $$("a, button, [tabindex]", el).find((x) => keyOf(x) === open)?.focus({ preventScroll: true });
  el.dispatchEvent(new CustomEvent("loaded", { bubbles: true }));
}
const keyOf = (x) => x.tagName + (x.getAttribute("href") || "") + (x.className || "") + x.textContent.slice(0, 60);
function failure(text) {
  const div = document.createElement("div"), h = document.createElement("h2"), p = document.createElement("p"), b = document.createElement("button");
  div.className = "failed"; div.setAttribute("role", "alert");
  h.textContent = "This cannot be shown"; p.textContent = text; b.textContent = "Try again"; b.dataset.again = ""; b.type = "button";
  const last = document.createElement("p");
  last.append(b);
  div.append(h, p, last);
  return [div];
}
// lay puts things where their data says, which no style attribute may.
function lay(el) {
  for (const t of $$("[data-tile]", el)) {
    const d = t.dataset;
    t.style.left = d.x / 10 + "%"; t.style.width = d.w / 10 + "%";
    t.style.top = d.y / 6.2 + "%"; t.style.height = d.h / 6.2 + "%";
  }
  tiles(el);
  for (const t of $$(".tick", el)) t.style.top = (t.dataset.y / t.dataset.of) * 100 + "%";
  for (const t of $$(".mark", el)) t.style.left = t.dataset.x / 10 + "%";
  for (const p of $$("[data-part]", el)) load(p);
}
function tiles(el = document) {
  const sized = $$("[data-tile]", el).map((t) => [t, t.clientWidth, t.clientHeight]);
  const unit = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
  for (const [t, wide, high] of sized) {
    const w = wide / unit, h = high / unit, tiny = w < 56 || h < 20, small = !tiny && h < 52;
    t.classList.toggle("tiny", tiny);
    t.classList.toggle("small", small);
    t.classList.toggle("narrow", !tiny && !small && w < 96);
  }
}
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(tiles, 100); });

// Clicks that many parts have.
document.addEventListener("click", async (e) => {
  const on = (q) => e.target.closest(q);
  let b;
  if ((b = on("[data-again]"))) load(b.closest("[data-part]"));
  else if ((b = on("[data-load]"))) load(b.closest("[data-part]"), b.dataset.load);
  else if ((b = on("[data-help]"))) $(".help").showModal();
  else if ((b = on("[data-theme-switch]"))) theme(true);
  else if ((b = on("[data-copy]"))) {
    try { await navigator.clipboard.writeText(b.dataset.copy); b.textContent = "Copied"; } catch { b.textContent = "Not allowed"; }
    setTimeout(() => { b.textContent = "Copy"; }, 1500);
  } else if ((b = on("[data-tile]"))) {
    const to = document.getElementById(b.hash.slice(1));
    e.preventDefault();
    if (to) { choose(to); to.scrollIntoView({ block: "start" }); to.focus({ preventScroll: true }); }
  } else if ((b = on("tr[data-row]")) && !on("a, button") && !getSelection().toString()) $("a", b)?.click();
});

// Themes.
function theme(next) {
  const list = ["auto", "light", "dark"], root = document.documentElement;
  let now = root.dataset.theme || "auto";
  if (next) now = list[(list.indexOf(now) + 1) % 3];
  if (now === "auto") delete root.dataset.theme; else root.dataset.theme = now;
  try { if (next) localStorage.setItem("ctxfs-theme", now); } catch { /* not kept */ }
  const b = $("[data-theme-switch]");
  b.lastChild.textContent = { auto: "Auto", light: "Light", dark: "Dark" }[now];
}
theme(false);

// Keys.
function choose(x) {
  for (const other of $$(".at")) other.classList.remove("at");
  x.classList.add("at");
}
function step(by) {
  const rows = $$("[data-list] [data-row]").filter((r) => r.offsetParent);
  if (!rows.length) return;
  const at = rows.findIndex((r) => r.classList.contains("at"));
  const to = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
  choose(to);
  (($("a", to)) || to).focus({ preventScroll: true });
  to.scrollIntoView({ block: "nearest" });
}
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || $(".help").open) return;
  if (e.target.matches("input:not([type=range])")) {
    if (e.key === "Escape") e.target.blur();
    return;
  }
  const view = ["session", "pack", "time", "notes", "tree"][e.key - 1];
  if (e.key === "?") $(".help").showModal();
  else if (e.key === "t") theme(true);
  else if (e.key === "h") location.href = "/";
  else if (e.key === "/") {
    const q = $("#q");
    if (q) { q.focus(); q.select(); } else location.href = "/#search";
  } else if (view && ref) location.href = "/" + view + "/" + enc;
  else if (e.key === "j" || e.key === "k") {
    if (window.ribbon) window.ribbon.step(e.key === "j" ? 1 : -1); else step(e.key === "j" ? 1 : -1);
  } else return;
  e.preventDefault();
});
if (location.hash === "#search") $("#q")?.focus();

// The pack: budget and format. The slider is logarithmic.
const packPart = $("[data-pack]");
if (packPart) {
  const slider = $("#budget"), said = $("[data-budget-said]"), own = $("[data-budget-own]");
  const least = 2000, most = 200000;
  const toBudget = (v) => { const n = least * Math.pow(most / least, v / 100); const d = Math.pow(10, Math.floor(Math.log10(n)) - 1) * 5; return Math.max(least, Math.min(most, Math.round(n / d) * d)); };
  const toSlider = (n) => Math.round((100 * Math.log(Math.max(least, Math.min(most, n)) / least)) / Math.log(most / least));
  const tell = (n) => { const text = n ? n.toLocaleString("en-US") + " tokens" : "unlimited"; said.textContent = text; slider.setAttribute("aria-valuetext", text); };
  let asked = 0, format = "md", timer;
  const again = () => load(packPart, `/part/pack/${enc}?format=${format}${asked ? "&budget=" + asked : ""}`);
  packPart.addEventListener("loaded", () => {
    const d = $("[data-pack-of]", packPart)?.dataset;
    if (!d) return;
    slider.disabled = d.budgets !== "true";
    if (slider.disabled) $("#budget-note").textContent = "Other budgets need the store, which this user cannot read.";
    if (document.activeElement !== slider) slider.value = toSlider(+d.budget || most);
    tell(+d.budget);
    own.hidden = !+d.asked;
  });
  slider.addEventListener("input", () => {
    asked = toBudget(+slider.value); tell(asked);
    clearTimeout(timer); timer = setTimeout(again, 150);
  });
  own.addEventListener("click", () => { asked = 0; again(); slider.focus(); });
  packPart.addEventListener("click", (e) => {
    const b = e.target.closest("[data-format-tab]");
    if (b) { format = b.dataset.formatTab; again(); }
  });
}

// Time: two handles, and marks that set them.
const travel = $("[data-travel]");
if (travel) {
  const from = $("#from"), to = $("#to"), target = $("[data-moment]");
  let timer;
  const number = (x) => $(`[data-of="${x.id}"]`, travel);
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(() => load(target, from.value === to.value ? `/part/moment/${enc}?n=${to.value}` : `/part/diff/${enc}?a=${from.value}&b=${to.value}`), 200);
  };
  for (const x of [from, to]) {
    x.addEventListener("input", () => { number(x).value = x.value; again(); });
    number(x).addEventListener("input", () => { x.value = number(x).value; again(); });
  }
  travel.addEventListener("submit", (e) => e.preventDefault());
  document.addEventListener("session", (e) => {
    if (e.detail.messages) for (const x of [from, to]) x.max = number(x).max = e.detail.messages;
  });
  document.addEventListener("click", (e) => {
    const b = e.target.closest("[data-between]");
    if (!b) return;
    [from.value, to.value] = b.dataset.between.split(" ");
    for (const x of [from, to]) number(x).value = x.value;
    choose(b); again();
    travel.scrollIntoView({ block: "nearest" });
  });
  $("[data-calls]").addEventListener("loaded", (e) => {
    const next = $("[data-refine]", e.currentTarget)?.dataset.refine;
    if (next) whenIdle(() => load(e.target, next));
  });
}
// whenIdle waits until no other part is loading: a preview would end theirs.
function whenIdle(f) {
  if ($("[data-part][aria-busy]")) setTimeout(() => whenIdle(f), 200); else f();
}

// Live: one stream for all tabs of this browser. The tab that holds the lock reads it, and passes it on.
const channel = new BroadcastChannel("ctxfs-" + location.port);
const light = $("[data-live]");
let liveTimer;
function heard(n) {
  if (n.status !== undefined) {
    light.hidden = false;
    light.classList.toggle("off", !n.status);
    light.textContent = n.status ? "live" : "not live: ctxfs ui has ended";
    return;
  }
  if (ref && n.session !== ref) return;
  document.dispatchEvent(new CustomEvent("session", { detail: n }));
  clearTimeout(liveTimer);
  liveTimer = setTimeout(() => $$("[data-live-on]").forEach(refresh), 150);
}
// refresh loads a part anew, one time after the other: what changes meanwhile is seen by the next one, which waits
// twice as long as this one took.
async function refresh(el) {
  if (+($("[data-pack-of]", el)?.dataset.asked || 0)) return; // a preview stays as it is
  if (el.refreshing || el.hasAttribute("aria-busy")) { el.stale = true; return; }
  el.refreshing = true;
  const began = performance.now();
  el.stale = false;
  await load(el);
  setTimeout(() => { el.refreshing = false; if (el.stale) refresh(el); }, 2 * (performance.now() - began));
}
document.addEventListener("loaded", (e) => {
  const el = e.target;
  if (el.stale && !el.refreshing && el.matches("[data-live-on]")) refresh(el);
});
let leads = null; // of the tab that reads the stream: whether that is open
const say = (n) => { heard(n); channel.postMessage(n); };
channel.onmessage = (e) => {
  if (!e.data.asks) heard(e.data); else if (leads !== null) channel.postMessage({ status: leads });
};
channel.postMessage({ asks: true });
navigator.locks.request("ctxfs-events", () => new Promise(() => {
  const stream = new EventSource("/events");
  stream.onopen = () => say({ status: (leads = true) });
  stream.onerror = () => say({ status: (leads = false) });
  stream.onmessage = (e) => say(JSON.parse(e.data));
}));
document.addEventListener("session", (e) => {
  for (const [q, n] of [["[data-messages]", e.detail.messages], ["[data-events]", e.detail.events]]) {
    const el = $(q);
    if (el && n) el.textContent = n.toLocaleString("en-US");
  }
});

for (const el of $$("[data-part]")) load(el);
