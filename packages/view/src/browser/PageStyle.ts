/** The CSS of the page. */
import { dark, light, type Palette } from "../drawing/Colors.ts"
import { themed } from "../drawing/Style.ts"
import { narrow } from "./narrowStyle.ts"

const names = ["paper", "raised", "ink", "quiet", "line", "failed", "gold", "model", "tool", "onFill"] as const

/** Colours of the page that no drawing has: gold for texts, and the background of what was lost. */
const more = {
  light: "--gold-text:#775800;--lost:#fbe9e1;",
  dark: "--gold-text:#eebd3d;--lost:#33201a;"
}

const variables = (palette: Palette): string => names.map((name) => `--${name}:${palette[name]};`).join("")

const sheet = `
:root{color-scheme:light;${variables(light)}${more.light}}
@media screen{[data-theme="dark"]{color-scheme:dark;${variables(dark)}${more.dark}}}
*{box-sizing:border-box}
[hidden]:not([hidden="until-found"]){display:none!important}
[hidden="until-found"]{flex:0 0 0!important;height:0;padding:0!important;overflow:hidden!important}
body{margin:0;height:100dvh;display:flex;flex-direction:column;background:var(--paper);color:var(--ink);
font:13px/1.45 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{flex:1;min-height:0;display:flex;flex-direction:column}
h1{font-size:15px;font-weight:650;margin:0;overflow-wrap:anywhere}
h2{font-size:15px;font-weight:650;margin:0;overflow-wrap:anywhere}
h3{font-size:12px;font-weight:600;color:var(--quiet);margin:12px 0 2px;overflow-wrap:anywhere}
p{margin:3px 0}
code,pre,.clock{font:12px/1.5 ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace}
kbd{font:11px/1.3 ui-monospace,'DejaVu Sans Mono',monospace;border:1px solid var(--line);border-bottom-width:2px;border-radius:4px;padding:0 4px;color:inherit}
button{font:inherit;font-size:12px;color:var(--ink);background:var(--raised);border:1px solid var(--line);border-radius:6px;padding:3px 10px;cursor:pointer;white-space:nowrap}
button:hover{border-color:var(--quiet)}
button[aria-pressed="true"],button.primary{background:var(--ink);color:var(--paper);border-color:var(--ink)}
:focus-visible{outline:2px solid var(--model);outline-offset:1px;border-radius:4px}
[data-copied]{position:relative}
[data-copied]::after{content:attr(data-copied);position:absolute;inset:0;display:grid;place-items:center;background:var(--ink);color:var(--paper);border-radius:inherit}
.quiet{color:var(--quiet)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap;margin:0}
.stream{padding:4px 20px;margin:0;color:var(--quiet)}
.line{display:flex;align-items:center;gap:12px;padding:9px 20px;border-bottom:1px solid var(--line)}
.status{font-weight:700;font-size:12px;border-radius:4px;padding:2px 9px;white-space:nowrap;text-transform:uppercase;letter-spacing:.02em;border:1px solid var(--quiet)}
.status.is-failed,.status.is-interrupted{background:var(--failed);color:var(--onFill);border-color:var(--failed)}
.status.is-completed{background:var(--tool);color:var(--onFill);border-color:var(--tool)}
.line .input{flex:1;min-width:0;color:var(--quiet);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.clock{color:var(--quiet);white-space:nowrap}
.run{display:flex;gap:6px;align-items:center}
.why{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,420px);gap:24px;margin:12px 20px;border:1px solid var(--failed);border-left-width:5px;border-radius:8px;padding:11px 16px;background:var(--lost)}
.why .what:only-child{grid-column:1/-1}
.why h2{font-size:17px}
.place{color:var(--quiet)}
.place strong{color:var(--ink);font-weight:600}
.place{overflow-wrap:anywhere}
.acts{display:flex;gap:6px;margin-top:8px;flex-wrap:wrap}
.why .quiet,.why .place{color:var(--ink)}
.why button:not(.primary),.answer button{background:var(--paper)}
.hint{background:var(--paper);border:1px solid var(--line);border-radius:6px;padding:8px 12px;align-self:start}
.hint h3{margin:0;color:var(--ink)}
.hint pre{margin:3px 0;white-space:pre-wrap;overflow-wrap:anywhere}
.answer{margin:10px 20px;border:1px solid var(--line);border-left:5px solid var(--tool);border-radius:8px;padding:8px 16px}
.answer .said{max-height:9em;overflow:auto}
.sums{display:grid;grid-template-columns:auto minmax(0,1fr);gap:0 26px;padding:0 20px 10px;align-items:end}
.sums dl{display:flex;gap:26px;margin:0}
.sums dt,.sums dd span,.where .quiet{font-size:12px;color:var(--quiet)}
.sums dd{margin:0;white-space:nowrap}
.sums strong{font-size:15px;font-weight:650}
.where p{display:flex;flex-wrap:wrap;gap:2px 16px;margin:0}.where i{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:5px}
.split{display:flex;gap:1px;height:12px;margin-top:4px;border-radius:3px;overflow:hidden}
.split span{flex:1 1 0;min-width:3px}
.where .model{background:var(--model)}.where .tool{background:var(--tool)}.where .recovery{background:var(--gold)}
.problems{grid-column:1/-1;border-left:3px solid var(--failed);padding:3px 12px;margin:8px 0 0;background:var(--raised);max-height:140px;overflow:auto}
.problems summary{cursor:pointer;font-weight:600}
.problems ul{margin:4px 0;padding-left:18px;overflow-wrap:anywhere}
.toolbar{display:flex;flex-wrap:wrap;gap:6px 14px;align-items:center;padding:7px 20px;border-top:1px solid var(--line);border-bottom:1px solid var(--line);background:var(--raised)}
.toolbar button{background:var(--paper)}
.toolbar button[aria-pressed="true"]{background:var(--ink)}
.toolbar em{font-style:normal;opacity:.85;margin-left:2px}
.search{position:relative;flex:0 0 236px}
.search input{width:100%;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--quiet);border-radius:6px;padding:3px 10px}
.search input:not(:placeholder-shown){padding-right:90px}
.search input::placeholder{color:var(--quiet);opacity:1}
.found{position:absolute;right:28px;top:4px;font-size:12px;color:var(--quiet)}
.chips,.steps,.views{display:flex;flex-wrap:wrap;gap:5px;align-items:center}
.chips button{border-radius:999px}
.steps{margin-left:auto}
.nth{font-size:12px;color:var(--quiet);white-space:nowrap;margin-right:3px}
.body{flex:1;min-height:320px;display:grid;grid-template-columns:minmax(0,1fr) minmax(320px,400px)}
.left{min-width:0;min-height:0;display:flex;flex-direction:column;border-right:1px solid var(--line)}
.pane{flex:1;min-height:0;display:flex;flex-direction:column}
.view{flex:1;min-height:0;position:relative}
.minimap,.outline .row{display:grid;grid-template-columns:minmax(200px,39%) 78px minmax(0,1fr);padding-right:14px}
.minimap{padding-right:calc(14px + var(--bar,0px));border-bottom:1px solid var(--line)}
.minimap .span{grid-column:1/3;display:flex;gap:6px;align-items:center;padding:0 12px 0 24px;font-size:11px;color:var(--quiet)}
.minimap .span span{flex:1}
.map{position:relative;height:34px;cursor:crosshair;touch-action:none}
.map canvas{width:100%;height:34px;display:block}
.frame{position:absolute;top:0;bottom:0;border:2px solid var(--ink);border-radius:3px;pointer-events:none;min-width:4px}
.outline,.events{height:100%;overflow:auto;position:relative}
.outline{scrollbar-gutter:stable}
.room{position:relative}
.rows{position:relative}
.rows .row{position:absolute;left:0;right:0;contain:layout paint style}
.inspector,.conversation,.outline,.events,.toolbar{contain:layout style}
.row{height:26px;align-items:center;border-bottom:1px solid color-mix(in srgb,var(--line) 55%,transparent)}
.head{position:sticky;top:0;z-index:2;background:var(--paper);font-size:11px;color:var(--quiet)}
.head .row{height:23px;border-bottom-color:var(--line)}
.head .name{padding-left:24px}
.name{display:flex;align-items:center;gap:7px;min-width:0;white-space:nowrap;overflow:hidden}
.name .fold{flex:none;width:14px;margin-right:-5px;color:var(--quiet);cursor:pointer;text-align:center}
.name .title{font-weight:600;flex:none;max-width:75%;overflow:hidden;text-overflow:ellipsis}
.is-part .title{font-weight:400}
.name .note:not(.badge){color:var(--quiet);font-size:12px;overflow:hidden;text-overflow:ellipsis;min-width:0}
.lasts{text-align:right;padding-right:12px;font-size:12px;color:var(--quiet);font-variant-numeric:tabular-nums;white-space:nowrap}
.bars{position:relative;height:100%;min-width:0}
.bars svg{display:block;width:100%;height:100%}
.strip{overflow:hidden}
.axis text{font-size:11px}
.rows .row{cursor:pointer}
.rows .row:hover{background:color-mix(in srgb,var(--raised) 75%,transparent)}
.outline .is-lost.is-turn,.outline .is-lost.is-call,.outline .is-lost.is-model,.events .is-lost{background:var(--lost)}
.rows .row[aria-selected="true"]{background:var(--raised);box-shadow:inset 0 0 0 2px var(--ink)}
.rows .row:focus-visible{outline:2px solid var(--model);outline-offset:-4px}
.is-dim{opacity:.38}
.badge{flex:none;font-size:11px;font-weight:600;border-radius:4px;padding:0 6px;border:1px solid var(--quiet)}
.badge.lost{background:var(--failed);color:var(--onFill);border-color:var(--failed);max-width:60%;overflow:hidden;text-overflow:ellipsis}
.badge.healed{color:var(--gold-text);border-color:var(--gold)}
.badge.tell{border-style:double;border-width:3px;border-color:var(--gold)}
.badge.note{font-weight:400}
.lines{position:absolute;top:0;bottom:0;right:14px;overflow:hidden;pointer-events:none}
.lines i{position:absolute;top:0;bottom:0}
.lines .tick{border-left:1px dotted var(--line)}
.lines .gap{background:repeating-linear-gradient(45deg,var(--line) 0 1px,transparent 1px 6px)}
.events .row{display:grid;grid-template-columns:60px 108px 150px 160px minmax(0,1fr);gap:10px;padding:0 14px;font-size:12px}
.events .row>*{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.events [role=gridcell]:nth-child(-n+2){font-variant-numeric:tabular-nums;color:var(--quiet)}
.conversation{overflow:auto;padding:4px 20px 20px}
.comparison{overflow:auto;padding:10px 20px 20px}
.choice{display:flex;flex-wrap:wrap;gap:6px 18px}
.choice label{display:flex;gap:8px;align-items:center;min-width:0;flex:1 1 320px}
.choice select{min-width:0;flex:1;font:inherit;font-size:12px;color:inherit;background:var(--paper);border:1px solid var(--quiet);border-radius:6px;padding:3px 6px}
.comparison .lead{font-weight:600;margin:10px 0;overflow-wrap:anywhere}
.comparison table{border-collapse:collapse;width:100%;margin:4px 0 14px;font-variant-numeric:tabular-nums}
.comparison caption{text-align:left;font-size:12px;color:var(--quiet)}
.comparison thead th{font-size:11px;font-weight:400;color:var(--quiet)}
.comparison :is(th,td){text-align:left;vertical-align:top;padding:3px 12px 3px 0;border-bottom:1px solid var(--line)}
.comparison :is(td,tbody th):not(.sign){overflow-wrap:anywhere}
.comparison tbody th{font-weight:400}
.comparison .heading{padding:0;border:0;background:none;text-align:left;font:inherit;white-space:normal;overflow-wrap:anywhere;color:inherit}
.comparison .heading:hover{text-decoration:underline}
.comparison .sign{width:20px;font-weight:700;padding-left:6px}
.comparison tr:is(.first,.second,.changed){background:var(--raised)}
.comparison tr.is-selected{box-shadow:inset 0 0 0 2px var(--ink)}
.comparison pre{white-space:pre-wrap;overflow-wrap:anywhere}
.comparison span.first{color:var(--failed)}.comparison span.second{color:var(--tool)}.comparison span.same{color:var(--quiet)}
.chunk{list-style:none;margin:0;padding:0;content-visibility:auto}
.entry{padding:7px 8px 7px 12px;border-left:3px solid transparent;border-bottom:1px solid var(--line);max-width:110ch}
.entry .heading{display:block;width:100%;padding:0;border:0;background:none;text-align:left;font-weight:600;font-size:13px;white-space:normal;overflow-wrap:anywhere;color:var(--ink)}
.entry .agent{font-size:11px;color:var(--quiet)}
.entry.recovery .heading,.entry.run .heading,.entry.system .heading{font-weight:500;color:var(--quiet)}
.entry.mended{border-left-color:var(--gold)}
.entry.tell{border-left:3px double var(--gold)}
.entry.lost{border-left-color:var(--failed)}
.entry.is-selected{background:var(--raised)}
.entry.is-selected .heading{color:var(--ink);text-decoration:underline;text-underline-offset:3px}
.depth-1{margin-left:14px}.depth-2{margin-left:28px}.depth-3{margin-left:42px}.depth-4{margin-left:56px}
.said{margin:2px 0;white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:plaintext}
.said.is-cut{max-height:15em;overflow:hidden;border-bottom:1px dashed var(--quiet)}
.unfold{margin:2px 0}
.inspector{min-height:0;display:flex;flex-direction:column;padding:12px 0 0;background:var(--paper)}
.inspector>*{margin-left:16px;margin-right:16px}
.inspector .title{display:flex;gap:8px;align-items:center}
.inspector .close{display:none;margin-left:auto}
.tabs{display:flex;flex-wrap:wrap;gap:2px 14px;border-bottom:1px solid var(--line);margin-top:8px}
.tabs button{border:0;background:none;padding:4px 0;border-radius:0;color:var(--quiet)}
.tabs [aria-selected="true"]{color:var(--ink);font-weight:600;box-shadow:inset 0 -2px var(--ink)}
.panel{flex:1;min-height:0;overflow:auto;margin:0!important;padding:2px 16px 16px}
.panel h3{display:flex;justify-content:space-between;gap:8px;align-items:baseline}
.panel .said,.answer .said{background:var(--raised);border-radius:6px;padding:7px 10px}
.panel .copy{border:0;background:none;padding:0 3px;text-decoration:underline;text-underline-offset:2px}
.facts{display:grid;grid-template-columns:92px minmax(0,1fr);gap:2px 10px;margin:8px 0;font-size:12px}
.facts dt{color:var(--quiet)}
.facts dd{margin:0;overflow-wrap:anywhere}
dialog{max-width:min(640px,92vw);color:var(--ink);background:var(--paper);border:1px solid var(--quiet);border-radius:10px;padding:18px 22px}
dialog::backdrop{background:#0008}
dialog textarea{display:block;width:100%;margin:8px 0;font:12px/1.5 ui-monospace,monospace;color:inherit;background:var(--raised);border:1px solid var(--quiet)}
.keys{display:grid;grid-template-columns:60px minmax(0,1fr);gap:3px 10px;margin:10px 0}
.keys dd{margin:0}
.legend{list-style:none;margin:10px 0 14px;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(220px,1fr));gap:3px 14px;font-size:12px}
.legend li{display:flex;align-items:center;gap:6px}
.printed{display:none}
.still{padding:0 20px}
.still svg{max-width:100%;height:auto}
${narrow}
`

/** The whole CSS of the page. */
export const style: string = `${themed}${sheet}`
