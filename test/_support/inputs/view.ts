/** view: recordings, pictures, pages and the command line. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeChildProcessSpawner from "@effect/platform-node-shared/NodeChildProcessSpawner"
import * as NodeFileSystem from "@effect/platform-node-shared/NodeFileSystem"
import * as NodePath from "@effect/platform-node-shared/NodePath"
import * as NodeTerminal from "@effect/platform-node-shared/NodeTerminal"
import { Effect, Layer, Sink, Stdio, Stream } from "effect"
import { run } from "../../../packages/view/src/cli/program.ts"
import * as Comparison from "../../../packages/view/src/comparison/Comparison.ts"
import * as ComparisonPage from "../../../packages/view/src/comparison/page/ComparisonPage.ts"
import * as ComparisonText from "../../../packages/view/src/comparison/ComparisonText.ts"
import { inComment, literal, quoted } from "../../../packages/view/src/replay/literals.ts"
import * as Script from "../../../packages/view/src/replay/Script.ts"
import * as TestFile from "../../../packages/view/src/replay/TestFile.ts"
import * as Figure from "../../../packages/view/src/drawing/Figure.ts"
import * as Svg from "../../../packages/view/src/drawing/Svg.ts"
import * as Page from "../../../packages/view/src/page/Page.ts"
import * as ErrorWords from "../../../packages/view/src/recording/ErrorWords.ts"
import * as Fields from "../../../packages/view/src/recording/Fields.ts"
import { editorUrl } from "../../../packages/view/src/recording/Links.ts"
import * as Recording from "../../../packages/view/src/recording/Recording.ts"
import { isDeeper } from "../../../packages/view/src/recording/depth.ts"
import * as Incidents from "../../../packages/view/src/recording/Incidents.ts"
import * as Outcome from "../../../packages/view/src/recording/Outcome.ts"
import * as Totals from "../../../packages/view/src/recording/Totals.ts"
import * as Details from "../../../packages/view/src/scene/Details.ts"
import * as Scene from "../../../packages/view/src/scene/Scene.ts"
import * as Transcript from "../../../packages/view/src/scene/transcript.ts"
import * as EvalPage from "../../../packages/view/src/eval/EvalPage.ts"
import * as EvalSvg from "../../../packages/view/src/eval/EvalSvg.ts"
import * as Stats from "../../../packages/view/src/stats/Stats.ts"
import * as StatsPage from "../../../packages/view/src/stats/StatsPage.ts"
import * as StatsSvg from "../../../packages/view/src/stats/StatsSvg.ts"
import * as StatsText from "../../../packages/view/src/stats/StatsText.ts"
import * as Escape from "../../../packages/view/src/text/Escape.ts"
import * as Short from "../../../packages/view/src/text/Words.ts"
import { reportOf } from "../../view/eval/_support/report.ts"
import { documents, texts, values } from "./data.ts"
import {
  each,
  fixed,
  grows,
  type Inputs,
  looksOnce,
  mapped,
  merged,
  none,
  reached,
  schema,
  type Table
} from "./entry.ts"
import { runs } from "./runs.ts"

export const recordings = mapped(runs, Recording.fromEvents)

export const lines: Inputs<string> = {
  ...texts,
  ...documents,
  ...mapped(runs, (events) => events.map((event) => JSON.stringify(event)).join("\n"))
}

const comparisons = mapped(recordings, (recording) => Comparison.make(recording, { events: recording.events.slice(1) }))

const labels = { first: "a", second: "b" }

/** Runs that can be played again: many turns, each with a call that fails, is retried and told. */
const playable: Inputs<Recording.Recording> = {
  ...recordings,
  "many turns of a script": (size) => {
    const begin = { runId: "r", agent: "a", turn: 0, at: 0, type: "run-start", input: "go", transcript: [] }
    const turns = Array.from({ length: Math.ceil(size / 900) }, (_, n) => {
      const own = { ...begin, turn: n + 1, at: n * 10 }
      const call = { callId: `c${n}`, tool: `t ${n % 50}` }
      const error = { name: `Failed${n % 20}`, message: "no" }
      const content = [{ type: "tool-call", id: call.callId, name: call.tool, arguments: { n } }]
      const verdict = { layer: "tool", tag: error.name, gaveUp: false, rung: 0, attempt: 1, delay: 0 }
      const use = { settlement: { kind: "told", text: "no" }, attempts: 2 }
      return [
        { ...own, type: "turn-start" },
        { ...own, type: "model-start", model: "m", provider: "p", attempt: 1 },
        { ...own, type: "model-end", attempt: 1, reply: { content, finish: "tool-calls" } },
        { ...own, ...call, type: "tool-start", arguments: { n } },
        { ...own, ...call, type: "tool-failed", attempt: 1, error },
        { ...own, ...call, ...verdict, type: "verdict", verdict: n % 2 === 0 ? "retry" : "tell" },
        { ...own, ...call, type: "tool-end", use }
      ]
    })
    return Recording.fromEvents([
      begin,
      ...turns.flat(),
      { ...begin, at: 1e9, type: "run-failed", isDefect: false, error: { name: "Failed1", message: "no" } }
    ])
  }
}

const writtenOf = (recording: Recording.Recording) => {
  const script = Script.of(recording)
  return Script.isScript(script) ? TestFile.write(script) : script
}

export const scenes = mapped(recordings, (recording) => ({ recording, scene: Scene.make(recording) }))

/** A comparison with such names. */
const compared = mapped(texts, (text) => reportOf([text, "other"], [text], text))

const sums = mapped(recordings, Stats.of)

const services = NodeChildProcessSpawner.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeTerminal.layer)),
  Layer.provideMerge(
    Layer.succeed(
      Stdio.Stdio,
      Stdio.make({
        args: Effect.succeed([]),
        stdin: Stream.empty,
        stdout: () => Sink.drain,
        stderr: () => Sink.drain
      })
    )
  )
)

/** The command line on a file with these lines; it writes into the same folder, or to standard output. */
const command =
  (name: "report" | "stats", ending?: string) =>
  async (text: string): Promise<number> => {
    const folder = mkdtempSync(join(tmpdir(), "kintsugi-"))
    try {
      const file = join(folder, "events.jsonl")
      writeFileSync(file, text)
      const target = ending === undefined ? [] : ["-o", join(folder, `out.${ending}`)]
      return await Effect.runPromise(Effect.provide(run([name, file, ...target], "1"), services))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

const policies = none("reads policies of the developer, which bound what they say of themselves")

export const viewRecording: Table = {
  "view/src/text/Escape.ts": {
    visible: grows(texts, Escape.visible),
    markup: grows(texts, Escape.markup),
    scriptJson: grows(values, Escape.scriptJson)
  },
  "view/src/text/Words.ts": {
    clip: grows(texts, (text) => Short.clip(text, text.length)),
    decided: grows(texts, (text) => Short.decided(text, true)),
    ...each(fixed, "duration", "moment", "count", "money")
  },
  "view/src/recording/ErrorWords.ts": {
    ...each(reached, "tagOf"),
    messageOf: grows(values, (error) => [ErrorWords.messageOf(error), ErrorWords.messageOf({ message: error })]),
    errorLine: grows(texts, (message) => ErrorWords.errorLine({ _tag: message, message }))
  },
  "view/src/recording/Fields.ts": {
    ...each(looksOnce, "fieldOf", "at", "textAt", "flagAt", "numberAt", "amountAt", "itemsAt"),
    asText: grows(values, Fields.asText)
  },
  "view/src/recording/Problem.ts": each(none("counts the few kinds of problems"), "countOf"),
  "view/src/recording/Recorded.ts": each(looksOnce, "isTerminal"),
  "view/src/recording/Recording.ts": {
    ...each(reached, "start", "fromLines", "fromEvents"),
    parse: grows(lines, Recording.parse)
  },
  "view/src/recording/depth.ts": { isDeeper: grows(values, (value) => isDeeper(value, 1000)) },
  "view/src/recording/Totals.ts": {
    make: grows(recordings, ({ events }) => Totals.make(events)),
    ...each(fixed, "amount")
  },
  "view/src/recording/Advice.ts": {
    ...each(looksOnce, "helpOf", "errorPage", "verdictPage"),
    ...each(reached, "codeOf", "rowFor")
  },
  "view/src/recording/Incidents.ts": { find: grows(recordings, ({ events }) => Incidents.find(events)) },
  "view/src/recording/Links.ts": {
    editorUrl: grows(texts, (text) => editorUrl({ editor: "x://{file}:{line}", folder: "/a" }, `${text}:1:2`)),
    ...each(none("addresses that the developer gives"), "traceUrl", "docsUrl", "isWeb", "editorOf")
  },
  "view/src/recording/Outcome.ts": {
    outcomesOf: grows(recordings, (recording) => Outcome.outcomesOf(recording).map(Outcome.sentenceOf)),
    ...each(reached, "outcomeOf", "titleOf", "sentenceOf"),
    ...each(looksOnce, "eventsOf"),
    ...each(fixed, "failureWords", "spentWords")
  },
  "view/src/recording/cause.ts": {
    ...each(reached, "stepsTo", "causesOf", "pathOf", "callLine", "startOf"),
    ...each(looksOnce, "isRepeated")
  },
  "view/src/recording/runs.ts": { ...each(reached, "runsOf"), ...each(looksOnce, "isOutermost") },
  "view/src/recording/why.ts": each(reached, "explain"),
  "view/src/cli/examples.ts": each(none("writes pages, which Page.ts makes"), "writeReports"),
  "view/src/cli/report.ts": each(reached, "sourceOf", "recorded"),
  "view/src/cli/failure.ts": { ...each(schema, "Failed", "Misused"), ...each(fixed, "reasonOf") },
  "view/src/cli/finding.ts": each(reached, "find"),
  "view/src/cli/loading.ts": each(policies, "parse", "load", "valueAt", "coreOf"),
  "view/src/cli/policy.ts": each(policies, "policyOf"),
  "view/src/cli/process.ts": each(none("starts the command line, which program.ts runs"), "start"),
  "view/src/cli/program.ts": {
    run: merged({
      "report as a page": grows(lines, command("report", "html")),
      "report as a drawing": grows(lines, command("report", "svg")),
      "stats as a page": grows(lines, command("stats", "html")),
      "stats as a text": grows(lines, command("stats"))
    })
  },
  "view/src/cli/reading.ts": { ...each(reached, "eachLine", "nameOf", "eachLineOrFail"), ...each(fixed, "pathsOf") },
  "view/src/cli/bounds.ts": each(fixed, "tooMuch"),
  "view/src/cli/splitting.ts": each(reached, "Splitter"),
  "view/src/cli/terminal.ts": each(reached, "print", "remark"),
  "view/src/cli/writing.ts": { ...each(reached, "shown", "isDash", "targetOf", "write"), ...each(fixed, "formatFlag") }
}

export const viewPictures: Table = {
  "view/src/scene/Details.ts": {
    ...each(fixed, "outcomeOf"),
    make: grows(scenes, ({ recording, scene }) =>
      scene.items.slice(0, 50).map((item) => Details.make(scene, recording.events, item))
    )
  },
  "view/src/scene/Scene.ts": { make: grows(recordings, Scene.make) },
  "view/src/scene/callWeaver.ts": each(reached, "CallWeaver", "reasonsOf"),
  "view/src/scene/gaps.ts": each(reached, "find"),
  "view/src/scene/packing.ts": each(reached, "pack"),
  "view/src/scene/runWeaver.ts": each(reached, "RunWeaver"),
  "view/src/scene/Shapes.ts": each(fixed, "startOf", "endOf"),
  "view/src/scene/strand.ts": each(reached, "Strand"),
  "view/src/scene/transcript.ts": { make: grows(recordings, ({ events }) => Transcript.make(events)) },
  "view/src/scene/weaver.ts": each(reached, "Weaver"),
  "view/src/scene/words.ts": {
    ...each(reached, "toneOf", "verdictLine", "verdictWords"),
    ...each(fixed, "settlementWord"),
    ...each(looksOnce, "spentLine")
  },
  "view/src/eval/EvalPage.ts": { make: grows(compared, (report) => EvalPage.make(report)) },
  "view/src/eval/EvalSvg.ts": { draw: grows(compared, (report) => EvalSvg.draw(report)) },
  "view/src/eval/words.ts": each(
    reached,
    "percent",
    "shareText",
    "sentence",
    "policyRows",
    "scenarioColumns",
    "scenarioRows"
  ),
  "view/src/drawing/Bars.ts": each(reached, "sizeOf", "drawn", "hundredths", "headline", "sheet", "spotsOf"),
  "view/src/drawing/Axis.ts": each(reached, "make", "ticks"),
  "view/src/drawing/Figure.ts": {
    ...each(reached, "inner"),
    ...each(fixed, "isFaded", "broken", "shapeOf"),
    fitting: grows(texts, (text) => Figure.fitting(text, 1e9))
  },
  "view/src/drawing/Svg.ts": {
    draw: grows(scenes, ({ scene }) => Svg.draw(scene)),
    ...each(reached, "titleOf", "describe")
  },
  "view/src/page/Page.ts": {
    make: grows(recordings, (recording) => Page.make(recording)),
    ...each(none("a page of addresses that the developer gives"), "live")
  },
  "view/src/page/StillPage.ts": {
    ...each(reached, "page", "table", "paragraph", "heading", "headCell", "drawings"),
    ...each(looksOnce, "lead")
  },
  "view/src/policy/PolicyPage.ts": each(policies, "make"),
  "view/src/policy/PolicySvg.ts": each(policies, "draw"),
  "view/src/policy/PolicyText.ts": each(policies, "format"),
  "view/src/policy/PolicyView.ts": each(policies, "make", "ofRun", "ofBounds", "together"),
  "view/src/policy/words.ts": each(policies, "duration", "boundsLine", "runLine", "remarksOf", "metOf", "rangeOf"),
  "view/src/comparison/Comparison.ts": {
    make: grows(recordings, (recording) => Comparison.make(recording, { events: recording.events.slice(1) }))
  },
  "view/src/comparison/page/ComparisonPage.ts": { make: grows(comparisons, (one) => ComparisonPage.make(one, labels)) },
  "view/src/comparison/ComparisonText.ts": { format: grows(comparisons, (one) => ComparisonText.format(one, labels)) },
  "view/src/comparison/aligning.ts": each(reached, "align"),
  "view/src/comparison/settings.ts": each(reached, "settingsOf", "compareLines"),
  "view/src/comparison/steps.ts": each(reached, "stepsOf"),
  "view/src/comparison/ComparisonWords.ts": {
    ...each(reached, "sums", "divergenceOf", "cellOf", "stepOf", "turnsOf", "changed"),
    ...each(fixed, "exactness")
  },
  "view/src/log/EventLog.ts": each(none("writes events of the library's own codec"), "EventFileError", "toFile"),
  "view/src/replay/Script.ts": { of: grows(playable, writtenOf), ...each(fixed, "isScript") },
  "view/src/replay/TestFile.ts": each(reached, "write", "forPage"),
  "view/src/replay/agentCode.ts": each(reached, "agentCode"),
  "view/src/replay/agents.ts": each(reached, "AgentReader"),
  "view/src/replay/calls.ts": each(reached, "Call"),
  "view/src/replay/code.ts": each(reached, "Code"),
  "view/src/replay/failures.ts": { ...each(reached, "failureOf"), ...each(fixed, "isSame") },
  "view/src/replay/literals.ts": {
    inComment: grows(texts, inComment),
    quoted: grows(texts, quoted),
    literal: grows(values, literal),
    ...each(reached, "key", "list", "Names")
  },
  "view/src/replay/recovery.ts": { ...each(reached, "tableCode"), ...each(fixed, "budgetCode") },
  "view/src/replay/refusing.ts": each(fixed, "Refused"),
  "view/src/replay/rows.ts": each(reached, "Treated", "Rows"),
  "view/src/replay/runs.ts": each(reached, "read"),
  "view/src/replay/texts.ts": each(reached, "inputOf", "outputOf"),
  "view/src/stats/Stats.ts": {
    of: grows(recordings, Stats.of),
    add: grows(sums, (stats) => Stats.add(stats, stats)),
    sum: grows(sums, (stats) => Stats.sum([stats, stats, stats]))
  },
  "view/src/stats/StatsPage.ts": { make: grows(sums, (stats) => StatsPage.make(stats)) },
  "view/src/stats/StatsSvg.ts": { draw: grows(sums, (stats) => StatsSvg.draw(stats)) },
  "view/src/stats/StatsText.ts": { format: grows(sums, (stats) => StatsText.format(stats)) },
  "view/src/stats/Lists.ts": {
    ...each(fixed, "totalOf", "headline"),
    ...each(reached, "endings", "locationOf", "listsOf"),
    ...each(none("puts two lists of counts side by side"), "comparison")
  },
  "view/src/stats/ended.ts": each(reached, "endedOf", "endedKey", "addEnded"),
  "view/src/stats/healing.ts": each(
    reached,
    "healingOf",
    "unhandledOf",
    "percentile",
    "healingKey",
    "addHealing",
    "unhandledKey",
    "addUnhandled"
  ),
  "view/src/stats/overTime.ts": {
    ...each(reached, "minuteOf", "minuteKey", "addMinutes", "overTime"),
    ...each(fixed, "instant", "textOf", "barsOf")
  },
  "view/src/stats/words.ts": {
    ...each(fixed, "isPriced", "shareOf", "percent", "figure", "isUnknown"),
    ...each(
      reached,
      "verdictName",
      "sentences",
      "byFrequency",
      "errorRows",
      "byFailures",
      "toolRows",
      "neverHealed",
      "neverLine"
    )
  }
}
