// As a literal and with a digest that a test compares, so that no part of a report is code that was
// put together from data.
/// The script of a report: it redraws the treemap when a part is selected, moves the age limit, filters and sorts the
/// entries, and switches the theme.
///
/// It only writes text with `textContent`, makes no requests, and has at most 8,000 bytes. Without it, the report is
/// complete but static.
enum ReportScript {
  /// The SHA-256 digest of ``source`` in Base64, by which the policy of the page allows the script.
  static let digest: HTML = "vFXrmsA7oCgM1B3EdaH76BIrLBwrevLWRZ/UpUni/Y0="

  /// The script.
  static let source: HTML = #"""
    (() => {
    "use strict";
    const $ = s => document.querySelector(s), D = JSON.parse($("#data").textContent);
    const root = document.documentElement, units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    const iec = b => {
      if (b < 1024) return b + " B";
      let u = -1;
      do { b /= 1024; u++; } while (b >= 1023.5 && u < 5);
      return (b < 99.95 ? b.toFixed(1) : b.toFixed(0)) + " " + units[u];
    };
    const pct = f => (f > 0 && f < .0005 ? "<0.1" : f >= .0995 || !f ? Math.round(100 * f) : (100 * f).toFixed(1)) + "%";
    const svg = (name, attributes, text) => {
      const e = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const k in attributes) e.setAttribute(k, attributes[k]);
      if (text != null) e.textContent = text;
      return e;
    };
    const button = (text, action) => {
      const b = document.createElement("button");
      b.type = "button"; b.textContent = text; b.onclick = action;
      return b;
    };

    // The theme.
    const theme = $("#theme"), dark = () => root.dataset.theme
      ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme:dark)").matches;
    const label = () => { theme.textContent = dark() ? "Light" : "Dark"; theme.setAttribute("aria-pressed", dark()); };
    theme.hidden = false; label();
    theme.onclick = () => { root.dataset.theme = dark() ? "light" : "dark"; label(); };

    // Commands are copied without a hand on the keyboard.
    for (const c of document.querySelectorAll("code:not(.in)")) {
      const b = button("Copy", async () => {
        const text = [...c.childNodes].filter(n => n !== b).map(n => n.textContent).join("");
        try { await navigator.clipboard.writeText(text); b.textContent = "Copied"; } catch { getSelection().selectAllChildren(c); }
        setTimeout(() => b.textContent = "Copy", 1500);
      });
      c.classList.add("copy"); c.append(b);
    }
    // The treemap, drawn for the width at hand so that text is never stretched. Few entries have none.
    const treemap = () => {
    const tm = $("#tm"), crumb = $("#crumb"), tip = $("#tip"), H = 430;
    const tip0 = "Areas are proportional to bytes. Select a block to look inside.";
    let path = [];
    const layout = (nodes, x, y, w, h) => {
      nodes = nodes.filter(n => n.v > 0).sort((a, b) => b.v - a.v);
      const k = w * h / (nodes.reduce((s, n) => s + n.v, 0) || 1), out = [];
      let row = [], sum = 0;
      const worst = (r, s, l) => Math.max(l * l * r[0].v * k / (s * k) ** 2, (s * k) ** 2 / (l * l * r.at(-1).v * k));
      const cut = () => {
        const a = sum * k, up = w >= h, t = up ? a / h : a / w;
        let o = up ? y : x;
        for (const n of row) {
          const l = n.v * k / t;
          out.push(up ? [n, x, o, t, l] : [n, o, y, l, t]);
          o += l;
        }
        if (up) { x += t; w -= t; } else { y += t; h -= t; }
        row = []; sum = 0;
      };
      for (const n of nodes) {
        const l = Math.min(w, h);
        if (row.length && worst([...row, n], sum + n.v, l) > worst(row, sum, l)) cut();
        row.push(n); sum += n.v;
      }
      if (row.length) cut();
      return out;
    };
    const fit = (text, px, c = 6.9) => {
      const s = [...text];
      let m = 0;
      for (const k of s) {
        px -= c * (/[^ -~]/.test(k) ? 1.8 : /[mwMW@%]/.test(k) ? 1.5 : /[A-Z0-9_]/.test(k) ? 1.2 : 1);
        if (px < 0) break;
        m++;
      }
      return m === s.length ? text : m > 3 ? s.slice(0, m - 1).join("") + "…" : "";
    };
    const go = to => { path = to; draw(); crumb.querySelector("button")?.focus(); };
    const cell = (n, x, y, w, h, names) => {
      const known = n.s != null, stale = known ? `, ${pct(n.s / n.v)} stale` : "";
      const g = svg("g", {class: "cell s" + (known ? Math.min(4, Math.floor(5 * n.s / n.v)) : 5), tabindex: 0});
      const says = `${names.join(" › ")}: ${iec(n.v)} (${pct(n.v / D.total)} of the bodies) in ` +
        `${n.n.toLocaleString("en")} ${n.n === 1 ? "entry" : "entries"}${stale}`;
      g.setAttribute("aria-label", says);
      g.append(svg("rect", {x: x + .75, y: y + .75, width: Math.max(0, w - 1.5), height: Math.max(0, h - 1.5), rx: 3}));
      if (w > 44 && h > 20) g.append(svg("text", {x: x + 7, y: y + 16}, fit(n.k, w - 12)));
      if (w > 64 && h > 38) g.append(svg("text", {class: "sm", x: x + 7, y: y + 31}, iec(n.v)));
      g.onmouseenter = g.onfocus = () => tip.textContent = says;
      if (n.c) {
        g.setAttribute("role", "button");
        g.onclick = () => go(names);
        g.onkeydown = e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); go(names); } };
      } else g.setAttribute("role", "img");
      return g;
    };
    const draw = () => {
      const W = tm.clientWidth, n = path.reduce((n, k) => n.c.find(c => c.k === k), {c: D.tree, v: D.total});
      tm.setAttribute("viewBox", `0 0 ${W} ${H}`);
      tm.removeAttribute("role");
      tm.replaceChildren();
      for (const [c, x, y, w, h] of layout(n.c, 0, 0, W, H)) {
        if (path.length || !c.c) { tm.append(cell(c, x, y, w, h, [...path, c.k])); continue; }
        const g = svg("g"), head = h > 56 && w > 60 ? 20 : 0, wide = w > 150;
        g.append(svg("rect", {class: "hb", x, y, width: w, height: h}));
        if (head) g.append(svg("text", {class: "hl", x: x + 7, y: y + 15}, fit(c.k, w - (wide ? 84 : 14), 7.7)));
        if (head && wide) g.append(svg("text", {class: "hs", "text-anchor": "end", x: x + w - 7, y: y + 15}, iec(c.v)));
        for (const [f, a, b, v, u] of layout(c.c, x + 2, y + 2 + head, Math.max(0, w - 4), Math.max(0, h - 4 - head)))
          g.append(cell(f, a, b, v, u, [c.k, f.k]));
        tm.append(g);
      }
      crumb.replaceChildren();
      ["All hosts", ...path].forEach((k, i, all) => {
        if (i) crumb.append(" › ");
        crumb.append(i < all.length - 1 ? button(k, () => go(path.slice(0, i))) : k);
      });
      tip.textContent = path.length ? `${path.join(" › ")}: ${iec(n.v)} (${pct(n.v / D.total)} of the bodies)` : tip0;
    };
    draw();
    let timer;
    addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(draw, 80); });
    addEventListener("keydown", e => { if (e.key === "Escape" && path.length) go(path.slice(0, -1)); });

    // The limit of age.
    const range = $("#wi-r");
    range.hidden = false;
    range.oninput = () => {
      const [x, y, age, size, share, entries, fresh, option] = D.limits[range.value], out = $("#wi-o");
      $("#wi-l").setAttribute("d", $("#wi-l").getAttribute("d").replace(/^M\S+/, "M" + x));
      $("#wi-c").setAttribute("cx", x); $("#wi-c").setAttribute("cy", y);
      const b = t => { const e = document.createElement("b"); e.textContent = t; return e; };
      out.replaceChildren("Older than ", b(age), ": frees ", b(size), ` (${share}) in ${entries}, ${fresh} of them still fresh.`);
      if ($("#wi-k")) $("#wi-k").textContent = "--older-than " + option;
    };
    };
    if ($("#tm")) treemap();
    if (!$("#ent")) return;

    // The table.
    const body = $("#ent tbody"), rows = [...body.rows], q = $("#q"), count = $("#cnt"), all = count.textContent.split(" of ")[1];
    const texts = rows.map(r => r.textContent.toLowerCase());
    q.hidden = false;
    q.oninput = () => {
      const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
      rows.forEach((r, i) => r.hidden = !words.every(w => texts[i].includes(w)));
      count.textContent = `${rows.filter(r => !r.hidden).length} of ${all}`;
    };
    const heads = [...$("#ent thead tr").cells];
    heads.forEach((h, i) => h.replaceChildren(button(h.textContent, () => {
      const up = h.ariaSort === "descending", key = r => { const c = r.cells[i]; return "v" in c.dataset ? +c.dataset.v : c.textContent; };
      heads.forEach(x => x.removeAttribute("aria-sort"));
      h.setAttribute("aria-sort", up ? "ascending" : "descending");
      const order = rows.map(r => [key(r), r]).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0) * (up ? 1 : -1));
      body.append(...order.map(([, r]) => r));
    })));
    body.onclick = e => e.target.closest("tr")?.classList.toggle("open");
    })();
    """#
}
