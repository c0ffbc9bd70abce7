/** The CSS of the page. */
import { dark, light, type Palette } from "../drawing/Colors.ts"
import { themed } from "../drawing/Style.ts"

const names = ["paper", "raised", "ink", "quiet", "line", "failed", "gold", "model"] as const

const variables = (palette: Palette): string => names.map((name) => `--${name}:${palette[name]};`).join("")

const sheet = `
:root{color-scheme:light;${variables(light)}}
@media screen{[data-theme="dark"]{color-scheme:dark;${variables(dark)}}}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;padding:20px clamp(12px,2.5vw,36px) 40px;background:var(--paper);color:var(--ink);
font:14px/1.5 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
h1{display:inline-block;font-size:20px;font-weight:650;margin:0 12px 0 0;overflow-wrap:anywhere}
h2{font-size:14px;font-weight:650;margin:0 0 8px;overflow-wrap:anywhere}
h3{font-size:12px;font-weight:600;color:var(--quiet);margin:12px 0 2px}
button{font:inherit;font-size:12px;color:var(--ink);background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:2px 10px;cursor:pointer}
button:hover{border-color:var(--quiet)}
:focus-visible{outline:2px solid var(--model);outline-offset:2px;border-radius:4px}
.theme{float:right}
.faint,.status{color:var(--quiet)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip:not(:focus-visible){position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);padding:0;border:0}
.sums{clear:both;display:flex;flex-wrap:wrap;gap:0;margin:16px 0 10px;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.sum{flex:1 1 110px;padding:8px 14px 9px 0}
.sum dt{font-size:11px;color:var(--quiet)}
.sum dd{margin:0}
.sum strong{display:block;font-size:17px;font-weight:600;white-space:nowrap}
.sum span{font-size:11px;color:var(--quiet);white-space:nowrap}
.sum.is-gold{border-left:3px solid var(--gold);padding-left:11px}
.shares{display:flex;align-items:center;gap:12px;font-size:12px;color:var(--quiet);margin-bottom:16px}
.shares .bar{flex:1;height:5px;border-radius:3px;background:var(--line);overflow:hidden;display:flex}
.shares .gold{background:var(--gold)}
.problems{border-left:3px solid var(--failed);padding:4px 12px;margin:0 0 16px;background:var(--raised)}
.problems summary{cursor:pointer;font-weight:600}
.problems ul{margin:4px 0;padding-left:18px;overflow-wrap:anywhere}
.columns{display:grid;grid-template-columns:minmax(0,1fr) minmax(300px,400px);gap:24px;align-items:start}
.column{min-width:0}
.timeline{position:relative}
.timeline .bar{display:flex;gap:6px;justify-content:flex-end;margin-bottom:6px}
.keys{flex:1;font-size:11px;color:var(--quiet);align-self:center}
.timeline .bar button{min-width:30px}
.figure{position:relative;max-height:58vh;overflow-y:auto;overflow-x:hidden;border:1px solid var(--line);border-radius:8px;cursor:grab;touch-action:pan-y}
.figure.over{cursor:pointer}
.room{position:relative;min-height:60px}
.room svg{display:block;width:100%}
.room canvas{position:sticky;top:0;display:block}
.ring{position:absolute;border:2px solid var(--ink);border-radius:5px;pointer-events:none}
.tip{position:fixed;z-index:2;max-width:380px;padding:7px 11px;background:var(--ink);color:var(--paper);border-radius:6px;font-size:12px;pointer-events:none}
.tip strong,.tip span{display:block;overflow-wrap:anywhere}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:8px 0 20px;padding:0;font-size:11px;color:var(--quiet)}
.legend li{display:flex;align-items:center;gap:5px}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(170px,1fr));gap:6px 16px;margin:0}
.facts dt{font-size:11px;color:var(--quiet)}
.facts dd{margin:0;overflow-wrap:anywhere}
.said{margin:2px 0;font:12px/1.5 ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
.details .said,.written .said{background:var(--raised);border-radius:6px;padding:7px 10px}
.fold{margin:2px 0}
.written{margin-top:14px}
.written summary{cursor:pointer;font-size:12px;color:var(--quiet)}
.transcript{position:sticky;top:12px}
.transcript .scroller{position:relative;max-height:calc(100vh - 60px);overflow-y:auto;border-top:1px solid var(--line)}
.entries{list-style:none;margin:0;padding:0}
.entry{padding:7px 8px 7px 12px;border-left:3px solid transparent;border-bottom:1px solid var(--line)}
.entry .heading{display:block;width:100%;padding:0;border:0;background:none;text-align:left;font-weight:600;overflow-wrap:anywhere}
.entry .agent{font-size:11px;color:var(--quiet)}
.entry.recovery .heading,.entry.run .heading,.entry.system .heading{font-weight:500;color:var(--quiet)}
.entry.recovery .said{color:var(--quiet)}
.entry.mended{border-left-color:var(--gold)}
.entry.tell{border-left:3px double var(--gold)}
.entry.lost{border-left-color:var(--failed)}
.entry.is-selected{background:var(--raised)}
.entry.is-selected .heading{color:var(--ink);text-decoration:underline;text-underline-offset:3px}
.depth-1{margin-left:14px}.depth-2{margin-left:28px}.depth-3{margin-left:42px}.depth-4{margin-left:56px}
.more{display:block;width:100%;margin:6px 0}
.table{margin-top:28px}
.table .scroller{max-height:320px;overflow:auto;border:1px solid var(--line);border-radius:8px}
table{border-collapse:collapse;width:100%;min-width:800px;font-size:12px;table-layout:fixed}
th{position:sticky;top:0;background:var(--raised);text-align:left;font-weight:600}
th,td{height:26px;padding:0 10px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
th:nth-child(1){width:176px}th:nth-child(2){width:88px}th:nth-child(3){width:18%}th:nth-child(4){width:84px}th:nth-child(6){width:22%}
.number{text-align:right;font-variant-numeric:tabular-nums}
tbody tr{cursor:pointer}
tbody tr.is-selected{background:var(--raised);font-weight:600}
.spacer{pointer-events:none}
@media (max-width:900px){.columns{grid-template-columns:minmax(0,1fr)}.transcript{position:static}}
@media print{body{padding:0;font-size:11px}:focus-visible{outline:0}.theme,.keys,.bar button,.fold,.more,.skip,.table,.tip,.ring,.details.is-empty{display:none}
.columns{display:block}.room{height:auto!important}.figure,.transcript .scroller{max-height:none;overflow:visible;border:0}.transcript{position:static;margin-top:16px}.entry{break-inside:avoid-page}}
`

/** The whole CSS of the page. */
export const style: string = `${themed}${sheet}`
