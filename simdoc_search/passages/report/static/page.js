
"use strict";
document.documentElement.classList.add("live");

for (const pair of document.querySelectorAll(".pair")) {
  const all = (selector, root = pair) => [...root.querySelectorAll(selector)];
  const one = (selector) => pair.querySelector(selector);
  const panes = all(".text");
  const paragraphs = panes.map((pane) => all("p[data-o]", pane));
  const places = paragraphs.map((list) => list.map((p) => Number(p.dataset.o)));
  const stops = panes.map((pane) => all("a.n", pane));
  const frames = all(".strip .view");
  const differences = [...new Set(all(".text [data-d]").map((element) => Number(element.dataset.d)))].sort((x, y) => x - y);
  let side = 0, passage = 0, difference = 0;
  let driver = 0;  // the pane that the user scrolls, or -1

  // --- positions ---

  const top = (element, pane) => element.getBoundingClientRect().top - pane.getBoundingClientRect().top;
  const readingHeight = (pane) => pane.clientHeight / 4;

  // A part of the text is laid out when it is scrolled into view, and its size may then change.
  // Therefore repeat each move until it has no effect.
  let turn = 0;
  function settle(...moves) {
    const mine = ++turn;
    const next = (left, still) => {
      if (mine !== turn) return;
      const isDone = moves.map((move) => move()).every(Boolean);  // without short-circuit
      requestAnimationFrame(left && still < 3 ? () => next(left - 1, isDone ? still + 1 : 0) : frame);
    };
    next(16, 0);
  }

  // Scroll a pane. Return true if it did not move.
  function scrollPane(at, by) {
    const before = panes[at].scrollTop;
    panes[at].scrollTop += by;
    return Math.abs(panes[at].scrollTop - before) < 1;
  }

  const bring = (element, at, y) => () => scrollPane(at, top(element, panes[at]) - y);

  // The index of the last number that is not greater than a value.
  function lastAtMost(list, value) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= value) low = middle + 1; else high = middle;
    }
    return low - 1;
  }

  // The paragraph at a height of a pane.
  function paragraphAt(at, y) {
    const box = panes[at].getBoundingClientRect();
    for (const x of [box.left + 24, box.left + box.width / 2]) {
      for (const dy of [0, 12, 30, 60, 100]) {  // skip a page break
        const found = document.elementFromPoint(x, box.top + y + dy);
        const p = found && found.closest("p[data-o]");
        if (p && panes[at].contains(p)) return p;
      }
    }
    return null;
  }

  // Scroll the other pane so that the counterpart of a paragraph is at the same height. Return true if it did not move.
  function follow(at, y) {
    const found = paragraphAt(at, y), from = paragraphs[at].indexOf(found), other = 1 - at;
    const own = found ? paragraphs[at].findIndex((p, number) => number >= from && p.dataset.q !== undefined) : -1;
    if (own < 0) return false;
    const p = paragraphs[at][own];
    const size = (places[at][own + 1] ?? places[at][own] + 1) - places[at][own];
    const share = Math.min(Math.max((y - top(p, panes[at])) / (p.offsetHeight || 1), 0), 1);
    const wanted = Number(p.dataset.q) + share * size;
    const number = Math.max(lastAtMost(places[other], wanted), 0), counterpart = paragraphs[other][number];
    const length = (places[other][number + 1] ?? wanted + 1) - places[other][number];
    const within = Math.min((wanted - places[other][number]) / (length || 1), 1);
    return scrollPane(other, top(counterpart, panes[other]) + within * counterpart.offsetHeight - y);
  }

  // --- the selection ---

  function mark(selector, name = "now") {
    for (const element of all("." + name)) element.classList.remove(name);
    for (const element of selector ? all(selector) : []) element.classList.add(name);
  }

  function announce(text) { one(".announcement").textContent = text; }

  function choose(number, at, y) {
    const link = panes[at].querySelector(`a.n[data-n="${number}"]`);
    const counterpart = panes[1 - at].querySelector(`a.n[data-n="${number}"]`);
    if (!link || !counterpart) return;
    [passage, side, driver] = [number, at, -1];
    const height = y ?? readingHeight(panes[at]);
    settle(bring(link, at, height), bring(counterpart, 1 - at, Math.min(height, panes[1 - at].clientHeight - 40)));
    mark(`mark[data-p="${number}"], .strip a[data-n="${number}"], .lists a[data-n="${number}"]`);
    link.focus({ preventScroll: true });
    announce(link.getAttribute("aria-label"));
  }

  function step(by) {
    const plain = stops[side].filter((link) => !link.classList.contains("k0"));
    const list = plain.length ? plain : stops[side];
    if (!list.length) return announce("The texts share no passages.");
    const at = list.findIndex((link) => Number(link.dataset.n) === passage);
    const next = at < 0 ? (by > 0 ? 0 : list.length - 1) : (at + by + list.length) % list.length;
    choose(Number(list[next].dataset.n), side);
  }

  function chooseDifference(number) {
    const marks = panes.map((pane) => pane.querySelector(`[data-d="${number}"]`));
    if (!marks.some(Boolean)) return;
    [difference, driver] = [number, -1];
    const at = marks[side] ? side : 1 - side;
    settle(...marks.flatMap((element, which) => (element ? [bring(element, which, readingHeight(panes[which]))] : [])));
    mark(`.text [data-d="${number}"], .lists a[data-t="${number}"]`);
    marks[at].tabIndex = -1;
    marks[at].focus({ preventScroll: true });
    announce(`difference ${number} of ${differences.length}`);
  }

  function stepDifference(by) {
    const count = differences.length;
    if (!count) return announce("No words differ.");
    const at = differences.indexOf(difference);
    chooseDifference(differences[at < 0 ? (by > 0 ? 0 : count - 1) : (at + by + count) % count]);
  }

  // --- the strip ---

  function frame() {
    if (pair.parentElement.open === false) return;  // do not lay out closed entries of a list
    panes.forEach((pane, at) => {
      const whole = Math.max(pane.scrollHeight, 1);
      frames[at].setAttribute("y", 1000 * pane.scrollTop / whole);
      frames[at].setAttribute("height", 1000 * Math.min(pane.clientHeight / whole, 1));
    });
  }

  one(".strip").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) {
      event.preventDefault();
      return choose(Number(link.dataset.n), 0);
    }
    const box = event.currentTarget.getBoundingClientRect();
    const at = event.clientX < box.left + box.width / 2 ? 0 : 1;
    const share = (event.clientY - box.top) / box.height;
    driver = at;
    panes[at].scrollTop = share * panes[at].scrollHeight - panes[at].clientHeight / 2;
  });

  // --- mouse, touch, scrolling ---

  panes.forEach((pane, at) => {
    for (const kind of ["pointerdown", "wheel", "touchstart", "keydown"]) {
      pane.addEventListener(kind, () => { driver = at; }, { passive: true });
    }
    let waits = false;
    pane.addEventListener("scroll", () => {
      if (waits) return;
      waits = true;
      requestAnimationFrame(() => {
        waits = false;
        if (driver === at && one(".together").checked) settle(() => driver !== at || follow(at, readingHeight(pane)));
        else frame();
      });
    }, { passive: true });
    pane.addEventListener("click", (event) => {
      const link = event.target.closest("a.n");
      if (link) {
        event.preventDefault();
        return choose(Number(link.dataset.n), 1 - at, top(link, pane));
      }
      const found = event.target.closest("mark");
      if (!found || String(getSelection())) return;
      const y = event.clientY - pane.getBoundingClientRect().top;
      [passage, side, driver] = [Number(found.dataset.p), at, -1];
      mark(`mark[data-p="${passage}"], .strip a[data-n="${passage}"], .lists a[data-n="${passage}"]`);
      settle(() => follow(at, y));
    });
    pane.addEventListener("pointerover", (event) => {
      const found = event.target.closest("mark");
      mark(found && `mark[data-p="${found.dataset.p}"]`, "near");
    });
    pane.addEventListener("pointerleave", () => mark("", "near"));
    pane.addEventListener("focusin", () => { side = at; });
  });

  one(".lists").addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    if (narrow.matches) one(".menu").open = false;
    if (link.dataset.n) choose(Number(link.dataset.n), 0); else chooseDifference(Number(link.dataset.t));
  });

  for (const [name, act] of Object.entries({
    previous: () => step(-1), next: () => step(1), before: () => stepDifference(-1), after: () => stepDifference(1),
  })) one("." + name).addEventListener("click", act);

  // --- keys ---

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    const at = event.target, own = at instanceof Element ? at.closest(".pair") : null;
    if (own ? own !== pair : pair !== document.querySelector("main > .pair, [open] > .pair")) return;
    const letters = one(".letters").checked && !(at instanceof Element && at.matches("input:not([type=checkbox]), textarea"));
    const keys = {
      n: letters && (() => step(1)), p: letters && (() => step(-1)),
      d: letters && (() => stepDifference(1)), D: letters && (() => stepDifference(-1)),
      ArrowRight: () => step(1), ArrowLeft: () => step(-1),
      Enter: passage && panes.some((pane) => pane.contains(at) || at === document.body) && (() => choose(passage, 1 - side)),
      Escape: () => { mark(""); [passage, difference] = [0, 0]; for (const help of all(".help")) help.open = false; announce(""); },
    };
    const act = Object.hasOwn(keys, event.key) && keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // --- start ---

  const narrow = matchMedia("screen and (max-width: 72rem)");
  const fit = () => { one(".menu").open = !narrow.matches; frame(); };
  narrow.addEventListener("change", fit);
  addEventListener("resize", frame);
  pair.parentElement.addEventListener("toggle", frame);  // the entry of a list that contains the pair
  addEventListener("beforeprint", () => { one(".menu").open = true; });
  fit();
  const start = pair.parentElement.dataset.open ?? location.hash.slice(1);
  const named = /^(?:.*-)?([ab])(d?)(\d+)$/.exec(start);
  if (named && pair.querySelector(`[id="${start}"]`)) {
    if (named[2]) chooseDifference(Number(named[3])); else choose(Number(named[3]), named[1] === "a" ? 0 : 1);
  }
}

// --- a text with its sources ---

for (const view of document.querySelectorAll(".origin")) {
  const own = view.querySelector(".own .text");
  if (!own) continue;
  const panes = [...view.querySelectorAll(".from")];
  let chosen = "", passage = "";

  // A part of the text is laid out when it is scrolled into view, and its size may then change. Therefore repeat the move.
  function bring(pane, element, left = 8) {
    if (!element) return;
    const away = element.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 4;
    pane.scrollTop += away;
    if (left) requestAnimationFrame(() => bring(pane, element, left - 1));
  }

  // Show the text of a source, or the list of sources if the number is empty.
  function open(source) {
    chosen = source;
    view.classList.toggle("chosen", Boolean(source));
    for (const pane of panes) pane.classList.toggle("open", pane.dataset.s === source);
    for (const mark of own.querySelectorAll("mark.of")) mark.classList.remove("of");
    if (source) for (const mark of own.querySelectorAll(`mark[data-s~="${source}"]`)) mark.classList.add("of");
  }

  function choose(named, from) {
    const source = named.split("-")[0], pane = panes.find((candidate) => candidate.dataset.s === source);
    if (!pane) return;
    if (source !== chosen) open(source);
    passage = named;
    for (const mark of view.querySelectorAll("mark.now")) mark.classList.remove("now");
    for (const mark of view.querySelectorAll(`mark[data-p~="${named}"]`)) mark.classList.add("now");
    const there = pane.querySelector(`a.n[data-p="${named}"]`);
    if (from !== "own") bring(own, own.querySelector(`mark[data-p~="${named}"]`));
    if (from !== "other") bring(pane.querySelector(".text"), there);
    (from === "other" ? own.querySelector(`a.n[data-p="${named}"]`) : there)?.focus({ preventScroll: true });
  }

  function close() {
    const link = view.querySelector(`.sources a[data-s="${chosen}"]`);
    open("");
    for (const mark of view.querySelectorAll("mark.now")) mark.classList.remove("now");
    link?.focus();
  }

  function step(pane, by) {
    const named = [...pane.querySelectorAll("a.n[data-p]")].map((link) => link.dataset.p);
    const at = named.indexOf(passage);
    const next = at < 0 ? (by > 0 ? 0 : named.length - 1) : (at + by + named.length) % named.length;
    if (named.length) choose(named[next]);
  }

  view.addEventListener("click", (event) => {
    const link = event.target.closest("a, button"), mark = event.target.closest("mark[data-p]");
    const pane = event.target.closest(".from");
    if (!link && (!mark || String(getSelection()))) return;
    event.preventDefault();
    if (link?.matches(".back")) return close();
    if (link?.matches("button")) return step(pane, link.matches(".next") ? 1 : -1);
    if (link?.dataset.s) return choose(`${link.dataset.s}-1`);
    const names = (link ?? mark).dataset.p?.split(" ") ?? [];
    const named = names.find((name) => !pane && name.split("-")[0] === chosen && !link) ?? names[0];
    if (named) choose(named, pane ? "other" : link?.closest(".sources") ? "" : "own");
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, textarea, select")) return;
    const inside = event.target.closest(".origin");
    if (inside ? inside !== view : view !== document.querySelector("main > .origin, [open] > .origin")) return;
    if (event.key === "Escape" && chosen) close();
    else if (event.key === "n" || event.key === "p") step(own, event.key === "n" ? 1 : -1);
  });

  const named = /s(\d+)(?:-(\d+))?$/.exec(location.hash);
  if (named && view.querySelector(`[id="${location.hash.slice(1)}"]`)) choose(`${named[1]}-${named[2] ?? 1}`);
}
