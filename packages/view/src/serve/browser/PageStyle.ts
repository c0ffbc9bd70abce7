/** The CSS of the page of `kintsugi serve`. */
import { dark, light, type Palette } from "../../drawing/Colors.ts"

const names = ["paper", "raised", "ink", "quiet", "line", "failed", "gold", "model", "tool"] as const

const variables = (palette: Palette): string => names.map((name) => `--${name}:${palette[name]};`).join("")

export const style: string = `
:root{color-scheme:light dark;${variables(light)}}
@media (prefers-color-scheme:dark){:root{${variables(dark)}}}
*{box-sizing:border-box}
[hidden]{display:none!important}
body{margin:0;background:var(--paper);color:var(--ink);font:14px/1.5 ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
main{display:grid;grid-template-columns:minmax(220px,320px) minmax(0,1fr) minmax(200px,260px);gap:24px;padding:16px clamp(10px,2vw,28px)}
header{grid-column:1/-1;display:flex;justify-content:space-between;align-items:center}
h1{font-size:14px;margin:0}
a{color:inherit}
h2{font-size:17px;margin:0 0 4px}h3{font-size:12px;color:var(--quiet);margin:14px 0 4px}h4{font-size:13px;margin:0}
p{margin:4px 0}
.faint{color:var(--quiet);font-size:12px;overflow-wrap:anywhere}
pre{margin:4px 0;padding:6px 8px;background:var(--raised);border-radius:6px;font:12px/1.5 ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre-wrap;overflow-wrap:anywhere;max-height:40vh;overflow:auto}
button,input,select,textarea{font:inherit;font-size:13px;color:var(--ink);background:var(--raised);border:1px solid var(--quiet);border-radius:6px;padding:3px 10px}
button{cursor:pointer}
button.main{background:var(--ink);color:var(--paper);font-weight:600}
textarea{width:100%;font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}
:focus-visible{outline:2px solid var(--model);outline-offset:2px}
.tool{border-top:1px solid var(--line);padding:8px 0}
.chips{list-style:none;display:flex;flex-wrap:wrap;gap:4px;margin:4px 0;padding:0}
.chip{border:1px solid var(--line);border-radius:10px;padding:0 8px;font-size:12px;background:var(--raised);overflow-wrap:anywhere}
.chip.is-missing{border-color:var(--failed)}
.is-missing{color:var(--failed);font-weight:600}
summary{cursor:pointer;font-size:12px}
.field{display:block;margin:6px 0}.field span{display:block;font-size:12px;color:var(--quiet)}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(180px,1fr));gap:0 12px}
.field input,.field select{width:100%}
.tick{display:flex;gap:6px;align-items:baseline;margin:4px 0}
.acts{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:8px 0}
.complaint{color:var(--failed);font-weight:600}
.complaint:empty,.replayed:empty{display:none}
.problem{border-left:4px solid var(--failed);padding:8px 14px;background:var(--raised)}
.head{overflow-wrap:anywhere}.head.is-failed,.head.is-cut-off{color:var(--failed)}.head.is-completed{color:var(--tool)}.head.is-waiting{color:var(--model)}
.approval{border:2px solid var(--model);border-radius:8px;padding:8px 14px;margin:8px 0}
.rows{list-style:none;margin:8px 0;padding:0}
.row{border-left:3px solid var(--line);padding:4px 10px;margin:2px 0}
.row.is-model{border-color:var(--model)}.row.is-tool{border-color:var(--tool)}.row.is-failed{border-color:var(--failed)}
.row .title{font-weight:600;overflow-wrap:anywhere}.row .time{float:right;color:var(--quiet);font-variant-numeric:tabular-nums}
.row .said:empty{display:none}
.note{font-size:12px}.note.is-gold{border-left:4px solid var(--gold);padding-left:8px;font-weight:600}.note.is-failed{color:var(--failed)}
.report{width:100%;height:75vh;border:1px solid var(--line);border-radius:8px;background:var(--paper)}
.runs ul{list-style:none;margin:0;padding:0}.run{padding:3px 0;border-top:1px solid var(--line)}
.run .open{border:0;background:none;padding:0;text-align:left;overflow-wrap:anywhere}
.run .faint{display:block}.run.is-failed .open{color:var(--failed)}.run.is-selected .open{font-weight:700;text-decoration:underline}
.palette{width:min(560px,94vw);margin:12vh auto 0;padding:10px;background:var(--paper);color:var(--ink);border:1px solid var(--quiet);border-radius:8px}
.palette::backdrop{background:#0006}
.palette input{width:100%}.palette ul{list-style:none;margin:8px 0 0;padding:0}
.palette li{padding:4px 8px;border-radius:6px;cursor:pointer;overflow-wrap:anywhere}.palette li[aria-selected=true]{background:var(--ink);color:var(--paper)}
@media (max-width:1000px){main{grid-template-columns:minmax(0,1fr)}header{order:-2}.middle{order:-1}}
`
