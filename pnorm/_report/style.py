"""The style of the page. Colours are those of Okabe and Ito, darker on white and lighter on black."""

_LIGHT = """
  color-scheme: light;
  --page: #ffffff; --ink: #1b1f24; --soft: #555d66; --rule: #d5dae0; --panel: #f4f6f8; --link: #0a5a97;
  --c0: #0068ab; --c1: #b06a33; --c2: #4f8a78; --c3: #a06b90; --c4: #857a3c; --chance: #6d757e;
  --down: #c04f00; --band: rgba(0, 104, 171, .16); --shares: #8b95a0; --warn: #8a4b00; --warn-panel: #fff6e9;
"""
_DARK = """
  color-scheme: dark;
  --page: #14171b; --ink: #e8eaed; --soft: #aab2bb; --rule: #353c44; --panel: #1d2228; --link: #7dbdf0;
  --c0: #62b5f1; --c1: #c08c58; --c2: #5fa48e; --c3: #bc8aaa; --c4: #a89e5c; --chance: #98a1aa;
  --down: #f2a047; --band: rgba(98, 181, 241, .22); --shares: #66717d; --warn: #f4bd6d; --warn-panel: #2a2218;
"""

STYLE = (
    ":root {"
    + _LIGHT
    + "}\n@media screen and (prefers-color-scheme: dark) { :root {"
    + _DARK
    + """} }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI",
  Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1.1rem 3rem; }
h1 { font-size: 1.1rem; font-weight: 600; color: var(--soft); margin: 0 0 .8rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .6rem; padding-top: 1.6rem; border-top: 1px solid var(--rule); }
h3 { font-size: 1rem; margin: 0 0 .3rem; overflow-wrap: anywhere; }
section { margin-top: 2.2rem; }
p { margin: .6rem 0; }
a { color: var(--link); }
.headline { font-size: 1.65rem; line-height: 1.3; font-weight: 600; margin: 0 0 .8rem; text-wrap: balance; }
.headline .interval { font-size: 1.05rem; font-weight: 400; }
.lead { color: var(--soft); margin: .3rem 0; overflow-wrap: anywhere; }
.interval { color: var(--soft); font-size: .9em; white-space: nowrap; }
.soft, figcaption { color: var(--soft); font-size: .92rem; }
.verdict { font-weight: 600; margin: .6rem 0; overflow-wrap: anywhere; }
.alert { background: var(--warn-panel); border-left: 4px solid var(--warn); padding: .5rem .9rem; margin: 1rem 0;
  overflow-wrap: anywhere; }
.alert a { color: inherit; }
.alert p { margin: 0; }
ul { padding-left: 1.2rem; margin: .6rem 0; }
li { margin: .3rem 0; overflow-wrap: anywhere; }
dl { margin: .8rem 0; }
dl div { display: grid; grid-template-columns: 11rem 1fr; gap: .1rem 1rem; padding: .3rem 0;
  border-bottom: 1px solid var(--rule); }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font: .88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre { background: var(--panel); border: 1px solid var(--rule); padding: .7rem .9rem; margin: .8rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; }
pre.wide { white-space: pre; overflow-x: auto; font-size: .76rem; }
.scroll { overflow-x: auto; margin: 1rem 0; background:
  linear-gradient(to right, var(--page) 2rem, transparent) left / 4rem 100% no-repeat local,
  linear-gradient(to left, var(--page) 2rem, transparent) right / 4rem 100% no-repeat local,
  linear-gradient(to right, var(--rule), transparent) left / .7rem 100% no-repeat scroll,
  linear-gradient(to left, var(--rule), transparent) right / .7rem 100% no-repeat scroll; }
.scroll:focus-visible, a:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; font-size: .94rem; font-variant-numeric: tabular-nums; min-width: 100%; }
caption { text-align: left; color: var(--soft); padding: 0 0 .4rem; }
th, td { text-align: right; vertical-align: top; padding: .38rem .8rem .38rem 0; border-bottom: 1px solid var(--rule); }
th:last-child, td:last-child { padding-right: 0; }
th { font-weight: 400; }
thead th { color: var(--soft); font-size: .86rem; vertical-align: bottom; line-height: 1.3; }
tbody th, .mine { font-weight: 600; }
.measures tbody th { min-width: 7rem; }
.left { text-align: left; }
td:not(.left) { white-space: nowrap; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.inline td .interval { display: inline; margin-left: .3rem; }
td .interval { display: block; font-weight: 400; }
figure { margin: 1.2rem 0; break-inside: avoid; }
figcaption { margin-top: .4rem; }
svg { display: block; width: 100%; height: auto; overflow: visible; }
svg text { font-size: 12px; fill: var(--soft); font-family: inherit; }
svg .axis { stroke: var(--soft); stroke-width: 1; fill: none; }
svg .grid { stroke: var(--rule); stroke-width: 1; fill: none; }
svg .line { fill: none; stroke-width: 1.5px; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
svg .line.s0 { stroke-width: 3.2px; stroke-linecap: round; }
svg .mark { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; }
svg .marked { fill: var(--c0); font-weight: 600; }
svg .band { fill: var(--band); stroke: none; }
svg .shares { fill: var(--shares); }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); stroke-dasharray: 7 4; } .s2 { stroke: var(--c2);
  stroke-dasharray: 2 4; } .s3 { stroke: var(--c3); stroke-dasharray: 9 3 2 3; } .s4 { stroke: var(--c4);
  stroke-dasharray: 12 5; } .chance { stroke: var(--chance); stroke-dasharray: 1 4; }
svg .dot { stroke: none; fill: var(--c0); }
svg .up { fill: var(--c0); } svg .down { fill: var(--down); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; padding: 0; margin: .3rem 0;
  font-size: .9rem; }
.legend li { margin: 0; display: flex; align-items: center; gap: .5rem; }
.legend svg { width: 34px; flex: none; }
.shapes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .4rem 1.8rem; }
.shapes figure { margin: .8rem 0; }
.shapes svg, .columns svg { max-width: 26rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 1.6rem 1.8rem;
  align-items: start; margin: 1rem 0; }
.columns figure { margin: 0; min-width: 0; }
.columns .scroll { margin: 0; }
.drift table { font-size: .84rem; }
.drift th, .drift td { padding-left: 0 !important; padding-right: .7em !important; }
.drift th { white-space: normal !important; }
.bars table { font-size: .9rem; }
.bar { width: 9rem; }
.columns .bar { width: 5rem; }
.bar svg { height: 1.1em; margin-top: .15em; }
.rows tbody th, .rows td { white-space: nowrap; }
.rows td:nth-child(2) { white-space: normal; overflow-wrap: anywhere; min-width: 5.5rem; }
.reason { display: grid; grid-template-columns: minmax(14rem, 1fr) 4rem 3.6rem; gap: 0 .5rem; align-items: center;
  min-width: 22.6rem; font-size: .9rem; white-space: normal; }
.reason span { overflow-wrap: anywhere; line-height: 1.35; }
.reason svg { height: .75rem; }
.reason .by { text-align: right; color: var(--soft); white-space: nowrap; }
.yes, .no { white-space: nowrap; }
footer { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--rule); color: var(--soft);
  font-size: .9rem; }
nav { font-size: .92rem; margin: 1.6rem 0 0; }
nav p { margin: 0; color: var(--soft); }
nav ol { list-style: none; margin: .2rem 0 0; padding: 0; columns: 14rem; }
nav li { margin: 0; break-inside: avoid; }
nav a { color: var(--soft); text-decoration: none; display: inline-block; padding: .2rem 0; line-height: 1.35; }
nav a:hover { color: var(--link); text-decoration: underline; }
@media (min-width: 66rem) {
  main { padding: 2rem 0 3rem; margin-left: calc(50vw - 31rem + 16rem); }
  nav { position: fixed; top: 0; left: calc(50vw - 31rem); width: 13rem; max-height: 100vh; overflow-y: auto; margin: 0;
    padding: 2rem 0; }
  nav ol { columns: auto; border-left: 1px solid var(--rule); padding-left: .9rem; }
}
@media (max-width: 65.99rem) {  /* the reasons of a row need the whole width */
  .rows thead { display: none; }
  .rows table, .rows caption, .rows tbody { display: block; }
  .rows tr { display: flex; flex-wrap: wrap; gap: .1rem .8rem; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .rows th, .rows td { padding: 0; border: 0; }
  .rows td:nth-child(2) { min-width: 0; }
  .rows td:nth-child(n+4):not(:last-child)::before { content: attr(data-head) " "; color: var(--soft); }
  .rows td:last-child { width: 100%; }
  .reason { min-width: 0; grid-template-columns: 1fr 5rem 3.6rem; }
}
@media (max-width: 34rem) {
  .headline { font-size: 1.35rem; }
  section > figure text { font-size: 17px; }
  dl div { grid-template-columns: 1fr; }
  th, td { padding-right: .5rem; }
  .measures table { font-size: .86rem; }
  .stack thead { display: none; }
  .stack table, .stack caption, .stack tbody { display: block; }
  .stack tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--rule); }
  .stack tbody th { display: block; text-align: left; padding: 0; border: 0; overflow-wrap: anywhere; }
  .stack:not(.measures) tbody th::before { content: attr(data-head) " "; color: var(--soft); font-weight: 400; }
  .stack td { display: flex; justify-content: flex-end; gap: .3rem; padding: .05rem 0; border: 0; }
  .stack td::before { content: attr(data-head); margin-right: auto; color: var(--soft); font-weight: 400;
    overflow-wrap: anywhere; }
  .stack td.left { white-space: normal; overflow-wrap: anywhere; text-align: right; }
  .stack td:empty { display: none; }
  .stack td .interval { display: inline; margin-left: .3rem; }
  .bar, .columns .bar { width: 4rem; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
@page { margin: 16mm 15mm; }
@media print {
  :root {"""
    + _LIGHT
    + """}
  html { font-size: 9.5pt; }
  .columns .bar { width: 3.5rem; }
  nav { display: none; }
  main { max-width: none; padding: 0; margin: 0; }
  section { margin-top: 1.2rem; }
  h2, h3, caption { break-after: avoid; }
  tr, figure, li, dl div, .alert { break-inside: avoid; }
  thead { display: table-header-group; }
  .scroll { overflow: visible; background: none; }
  pre.wide { white-space: pre-wrap; font-size: 7.5pt; }
  svg { max-width: 13cm; }
  .shapes { grid-template-columns: 1fr 1fr; }
  .columns { grid-template-columns: 1fr 1fr; }
  .alert, .bar, pre { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
}
"""
)
"""All of it. Lines differ in dashes as well."""
