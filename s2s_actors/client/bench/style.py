"""The style sheet of the page, light and dark."""

from __future__ import annotations

from typing import Final

__all__ = ["STYLE"]

STYLE: Final = """
:root { color-scheme: light dark;
  --paper: #f6f7f9; --card: #ffffff; --ink: #1b2430; --soft: #5a6675; --rule: #dfe4ea;
  --a: #2563c9; --b: #c2570c; --good: #17753c; --bad: #b3261e; --goodbg: #e2f4e8;
  --badbg: #fbe4e2; --s1: #93a1b3; --s2: #2f9e8f; --s3: #8a63d2; --s4: #dd8a1a; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #12161c; --card: #1b2129; --ink: #e8ecf1; --soft: #9aa7b6; --rule: #303945;
  --a: #6ea3ff; --b: #ff9d57; --good: #63d08c; --bad: #ff8f87; --goodbg: #17331f;
  --badbg: #3f1d1b; --s1: #6d7b8d; --s2: #37ab9c; --s3: #a283e6; --s4: #e59a35; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.45;
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 32px 20px 48px; }
h1 { font-size: 27px; margin: 0 0 4px; letter-spacing: -.01em; }
h2 { font-size: 17px; margin: 0 0 2px; }
p { margin: 0 0 8px; } .soft, .note { color: var(--soft); } .note { font-size: 13px; }
.tiles { display: grid; gap: 14px; margin: 22px 0;
  grid-template-columns: repeat(auto-fit, minmax(236px, 1fr)); }
.values { display: flex; gap: 22px; }
.tile, section { background: var(--card); border: 1px solid var(--rule); border-radius: 12px; }
.tile { padding: 14px 16px; } .tile .what { color: var(--soft); font-size: 13px; }
.tile .value { font-size: 27px; font-weight: 650; letter-spacing: -.02em;
  font-variant-numeric: tabular-nums; white-space: nowrap; }
.tile .value small { font-size: 15px; font-weight: 500; color: var(--soft); letter-spacing: 0; }
.tile .more { color: var(--soft); font-size: 13px; white-space: nowrap; }
.pair { display: grid; gap: 14px; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); }
section { padding: 16px 18px 18px; margin: 0 0 14px; min-width: 0; overflow-x: auto; }
.pair section { margin: 0 0 14px; }
svg { width: 100%; height: auto; display: block; margin: 8px 0 4px; font-size: 12.5px; }
svg text { fill: var(--ink); } svg .tick, svg .unit { fill: var(--soft); }
.grid { stroke: var(--rule); stroke-width: 1; } .zero { stroke: var(--soft); stroke-width: 1.4; }
.step { fill: none; stroke-width: 2.4; stroke-linejoin: round; }
.step.A, .cross.A { stroke: var(--a); } .step.B, .cross.B { stroke: var(--b); }
.step.B { stroke-dasharray: 7 3; } .step.thin { stroke-width: 1.2; stroke-opacity: .7; }
.dot { stroke: var(--card); stroke-width: 1; fill-opacity: .8; }
.dot.A, .bar.A { fill: var(--a); } .dot.B, .bar.B { fill: var(--b); }
.dot.first { fill-opacity: .15; stroke-width: 2; }
.dot.first.A { stroke: var(--a); } .dot.first.B { stroke: var(--b); }
.cross { fill: none; stroke-width: 2.2; }
.s1 { fill: var(--s1); } .s2 { fill: var(--s2); } .s3 { fill: var(--s3); } .s4 { fill: var(--s4); }
svg .inside { fill: #fff; font-weight: 600; paint-order: stroke; stroke: rgb(0 0 0 / 35%);
  stroke-width: 2px; }
svg .total, svg .label, svg .name { font-weight: 650; } svg .name { font-size: 15px; }
svg .name.A { fill: var(--a); } svg .name.B { fill: var(--b); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; font-size: 13px; color: var(--soft); }
.legend i { display: inline-block; width: 12px; height: 12px; border-radius: 3px;
  margin-right: 6px; vertical-align: -1px; }
i.A { background: var(--a); } i.B { background: var(--b); } i.s1 { background: var(--s1); }
i.s2 { background: var(--s2); } i.s3 { background: var(--s3); } i.s4 { background: var(--s4); }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 5px 10px 5px 0; text-align: right; border-bottom: 1px solid var(--rule);
  white-space: nowrap; } th:first-child, td:first-child { text-align: left; white-space: normal; }
th { color: var(--soft); font-weight: 500; font-size: 13px; } td.few, td.n { color: var(--soft); }
td.n { padding-right: 18px; } th[colspan] { text-align: center; }
table.sounds th, table.sounds td { text-align: left; }
tr.head td { font-weight: 650; padding-top: 16px; border-bottom: 2px solid var(--rule); }
b.A { color: var(--a); } b.B { color: var(--b); }
.chip { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 13px; }
.chip.good { background: var(--goodbg); color: var(--good); }
.chip.bad { background: var(--badbg); color: var(--bad); }
.failure { color: var(--bad); } code { font: 12.5px/1.5 ui-monospace, "Liberation Mono", monospace;
  overflow-wrap: anywhere; } dl { display: grid; grid-template-columns: max-content 1fr;
  gap: 3px 16px; margin: 8px 0 0; } dt { color: var(--soft); } dd { margin: 0; }
@media (max-width: 520px) { .pair { grid-template-columns: 1fr; } }
"""
