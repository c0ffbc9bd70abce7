/** The CSS of the page on narrow screens and on paper. */
export const narrow = `
@media (max-width:1180px){.sums{grid-template-columns:minmax(0,1fr);gap:8px}.search{flex-basis:210px}.line .input,.name .badge.asked{display:none}.line h1{flex:1}
.body{grid-template-columns:minmax(0,1fr) minmax(290px,34%)}.why{grid-template-columns:minmax(0,1fr) minmax(0,330px)}}
@media (max-width:900px){body{height:auto;min-height:100dvh}main{display:block}.body{display:block}.left{border:0}.pane,.view,.outline,.events{display:block;height:auto}
.outline,.events{contain:none;overflow:visible;scrollbar-gutter:auto}.head{position:static}.conversation,.comparison{overflow:visible}
.line{flex-wrap:wrap;gap:6px 10px;padding:9px 12px}.why{grid-template-columns:minmax(0,1fr);gap:10px;margin:10px 12px;padding:10px 12px}.answer{margin:10px 12px}
.sums{padding:0 12px 10px}.toolbar{padding:7px 12px}.search{flex:1 1 100%}.steps{margin-left:0}.still{padding:0 12px}
.inspector{position:fixed;left:0;right:0;bottom:0;z-index:3;height:62dvh;border-top:2px solid var(--ink);border-radius:14px 14px 0 0;box-shadow:0 -6px 24px #0004}
.inspector:not(.is-shown){display:none}.inspector .close{display:block}}
@media screen and (max-width:700px){.outline .row{grid-template-columns:minmax(0,1fr) auto;padding-right:12px}.outline .row .bars{display:none}.outline .row .lasts{padding-right:0}
.minimap{grid-template-columns:minmax(0,1fr);padding:0 12px}.minimap .span{display:none}.rows .row{height:36px}.head{display:none}
.sums dl{display:grid;grid-template-columns:1fr 1fr;gap:6px 14px}.sums dd{white-space:normal}.clock{flex-basis:100%;order:9;white-space:normal}kbd{display:none}.keys kbd{display:inline}.toolbar button,.acts button,.line button{min-height:28px}
.events .row{grid-template-columns:92px minmax(0,1fr)}.events .row>:nth-child(1),.events .row>:nth-child(4),.events .row>:nth-child(5){display:none}
.comparison thead{display:none}.comparison :is(table,tbody,tr,td,tbody th){display:block}.comparison tr{padding:5px 8px;border-bottom:1px solid var(--line)}.comparison :is(td,th){border:0;padding:0}.comparison tbody td[data-name]{display:inline-block;margin-right:14px}.comparison .sign{float:left;width:20px;padding:0}.comparison td[data-name]:not(:empty)::before{content:attr(data-name) ": ";color:var(--quiet)}.comparison .turn{font-size:12px}
.facts{grid-template-columns:84px minmax(0,1fr)}}
@media print{@page{margin:14mm}body{height:auto;display:block;font-size:11px}:focus-visible{outline:0}main,.body,.left,.pane[hidden],.pane,.view.timeline{display:block!important;height:auto!important;border:0}
.toolbar,.minimap,.inspector,.theme,.help,.acts,.conversation,.comparison,.events,.copy,.unfold,.stream,dialog{display:none!important}
.line{padding:0 0 6px;flex-wrap:wrap}.line h1{flex:none}.line .input{display:block}.status,.badge.lost,.where span,.where i{print-color-adjust:exact}.why{margin:8px 0;grid-template-columns:minmax(0,1fr) minmax(0,220px);break-inside:avoid}.answer{margin:8px 0}.answer .said,.said.is-cut,.problems{max-height:none;overflow:visible}
.sums{padding:0 0 8px}.outline{height:auto!important;overflow:visible}.outline .row{height:20px;grid-template:19px/minmax(0,1fr) 70px 42%!important;padding-right:0}.row .badge{line-height:15px}.outline .row .bars,.head{display:block!important}.head{position:static}.lines{right:0}
.rows .row[aria-selected="true"]{box-shadow:none}.is-dim{opacity:1}
.printed{display:block;margin-top:14px}.printed .chunk{content-visibility:visible}.entry{break-inside:avoid-page}}
`
