/** view: the server and the page of `kintsugi serve`. */
import { recordedIn, summaryOf, tagsSeen } from "../../../packages/view/src/serve/summary.ts"
import { dom, each, grows, none, type Table } from "./entry.ts"
import { documents, texts } from "./data.ts"

/** Runs of this program, modules of the user, and bodies of at most 1 MiB. */
const own = none(
  "reads what a person of this machine has loaded or chosen; bodies have a limit, and a run has a budget"
)

const recorded = grows({ ...texts, ...documents }, (text: string) => {
  const events = recordedIn(text.split("\n"))
  return [summaryOf(events, false), tagsSeen(events)]
})

export const viewServe: Table = {
  "view/src/cli/fresh.ts": each(own, "loadFresh", "foldersLoaded"),
  "view/src/cli/serving.ts": each(own, "serving"),
  "view/src/serve/Finding.ts": each(own, "Stuck", "find", "withoutServices", "notLoaded", "missingIn"),
  "view/src/serve/Playground.ts": each(own, "Playground"),
  "view/src/serve/Server.ts": each(own, "serve"),
  "view/src/serve/asked.ts": each(own, "Refused", "worded", "refuse", "inputOf", "decisionOf"),
  "view/src/serve/browser/agentPane.ts": each(dom, "agentPane"),
  "view/src/serve/browser/api.ts": each(
    dom,
    "reportOf",
    "comparisonOf",
    "state",
    "start",
    "repeat",
    "from",
    "stop",
    "say",
    "decide",
    "replay",
    "clear",
    "reload",
    "follow",
    "eventsOf"
  ),
  "view/src/serve/browser/approval.ts": each(dom, "approval"),
  "view/src/serve/browser/breakPane.ts": each(dom, "breakPane"),
  "view/src/serve/browser/dom.ts": each(dom, "labelled", "tick", "asText"),
  "view/src/serve/browser/inputForm.ts": each(dom, "inputForm"),
  "view/src/serve/browser/liveRows.ts": each(dom, "LiveRows"),
  "view/src/serve/browser/runList.ts": each(dom, "nameOf", "runList"),
  "view/src/serve/browser/palette.ts": each(dom, "Palette"),
  "view/src/serve/browser/runPane.ts": each(dom, "RunPane"),
  "view/src/serve/describing.ts": each(own, "describe", "failingOf"),
  "view/src/serve/faults.ts": each(own, "faultsFor", "Faults", "failureOf", "jsonSchemaOf"),
  "view/src/serve/generating.ts": each(own, "randomOf", "valueOf", "fitting", "tagsIn"),
  "view/src/serve/guard.ts": each(own, "newToken", "refusalOf"),
  "view/src/serve/http.ts": each(own, "listen"),
  "view/src/serve/inside.ts": each(own, "isAgent", "functionsOf", "definitionOf", "toolsOf"),
  "view/src/serve/loaded.ts": each(own, "contextOf"),
  "view/src/serve/log.ts": each(own, "RunLog"),
  "view/src/serve/models.ts": each(own, "resending", "ownModel"),
  "view/src/serve/replaying.ts": each(own, "replay"),
  "view/src/serve/running.ts": each(own, "faultsOf", "surrounding", "madeUp"),
  "view/src/serve/standIn.ts": each(own, "replyTo", "make"),
  "view/src/serve/store.ts": each(own, "Store"),
  "view/src/serve/summary.ts": each(recorded, "recordedIn", "summaryOf", "tagsSeen")
}
