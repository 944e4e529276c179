// How the page of a profile looks: light and dark as the reader's system is.

/** @internal */
export const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #60646c; --line: #d9dce1; --back: #fcfcfd; --panel: #f1f3f5; --mark: #0b68cb; }
@media (prefers-color-scheme: dark) { :root { --text: #edeef0; --soft: #a1a6ae; --line: #363a3f; --back: #111113; --panel: #1d1f22; --mark: #70b8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px 24px 48px; max-width: 1600px; background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif; }
header { display: flex; align-items: baseline; gap: 12px; }
h1 { font-size: 20px; margin: 8px 0; }
h2 { font-size: 15px; margin: 20px 0 6px; }
p { margin: 6px 0; }
.note { color: var(--soft); font-size: 12px; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; }
.tile { background: var(--panel); border-radius: 8px; padding: 8px 14px; min-width: 110px; }
.tile b { display: block; font-size: 18px; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 12px; }
canvas { display: block; width: 100%; border: 1px solid var(--line); border-radius: 6px; touch-action: none; }
canvas:focus-visible { outline: 2px solid var(--mark); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: 3px 8px; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 300px; font-family: ui-monospace, monospace; font-size: 12px; }
th button { all: unset; cursor: pointer; font: 600 12px system-ui, sans-serif; }
th button:focus-visible { outline: 2px solid var(--mark); }
th[aria-sort=descending] button::after { content: ' \\2193'; }
th[aria-sort=ascending] button::after { content: ' \\2191'; }
tbody tr { cursor: pointer; }
tbody tr:hover, tbody tr[aria-selected=true] { background: var(--panel); }
.bar { display: inline-block; width: 60px; height: 8px; margin-left: 6px; background: var(--line); border-radius: 4px; overflow: hidden; vertical-align: middle; }
.bar i { display: block; height: 100%; background: var(--mark); }
.swatch { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: 6px; vertical-align: middle; }
input { font: inherit; padding: 3px 8px; border: 1px solid var(--line); border-radius: 6px; background: var(--back); color: var(--text); }
#tip { position: fixed; pointer-events: none; max-width: 480px; padding: 6px 10px; background: var(--text); color: var(--back); border-radius: 6px; font-size: 12px; white-space: pre-line; z-index: 1; }
#tip[hidden] { display: none; }
#legend span { margin-right: 14px; }
`
