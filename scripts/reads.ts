/**
 * Writes `docs/guide/what-the-model-reads.md`: every text of this library for a model, out of runs, and the schemas on each wire.
 *
 *   npm run reads
 */
import { Compaction, LlmError, Message } from "@kintsugi/core"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./files.ts"
import * as Schemas from "./reads/schemas.ts"
import { ofAside } from "./reads/aside.ts"
import { ofDeferred, ofPictures, ofPrepared, ofWaiting, ofWithheld } from "./reads/later.ts"
import { ofTools } from "./reads/builtIn.ts"
import { ofAnswers, ofCalls, ofFixers, ofForeign, ofRouting, type ReadText } from "./reads/texts.ts"
import { ofAgents, ofAttached, ofEnds, summarised } from "./reads/nested.ts"
import { ofBlanks } from "./reads/withheld.ts"
import { ofWires } from "./reads/worded.ts"

export const path = "docs/guide/what-the-model-reads.md"

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", "<br>")

const table = (head: ReadonlyArray<string>, lines: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<string> => [
  `| ${head.join(" | ")} |`,
  `| ${head.map(() => "---").join(" | ")} |`,
  ...lines.map((line) => `| ${line.map(cell).join(" | ")} |`)
]

/** A text as code: nothing in it is Markdown. */
const code = (text: string): string => {
  const ticks = text.includes("`") ? "``" : "`"
  return text
    .split("\n")
    .map((line) => (line === "" ? "" : `${ticks}${line}${ticks}`))
    .join("\n")
}

const texts = (head: string, lines: ReadonlyArray<ReadText>): ReadonlyArray<string> =>
  table(
    [head, "what the model reads"],
    lines.map(({ text, when }) => [when, code(text)])
  )

/** Calls that have no result of their own. */
const cutShort: ReadonlyArray<ReadText> = [
  { when: "A run that went on after it was interrupted", text: Message.interrupted.text },
  { when: "The same, of an unsafe tool that had begun", text: Message.unknown.text },
  { when: "A call that was not begun before the run ended", text: Message.notRun.text },
  { when: "A call without an approval when the run ended", text: Message.unapproved.text },
  { when: "A call in a reply that was cut off", text: Message.truncated.text }
]

/** The message that replaces messages which were summed up. */
const summaryOf: Effect.Effect<string> = Effect.gen(function* () {
  const { compact } = Compaction.summarise(() => Effect.succeed("The user has booked a room in Oslo."), { keepLast: 1 })
  const transcript = ["one", "two", "three"].map((text) => Message.user(text))
  const error = LlmError.ContextTooLongError.make({ model: "m" })
  const [first] = yield* Effect.orDie(compact({ transcript, error }))
  return first?.role === "user" ? Message.textOf(first) : ""
})

/** The page. */
export const render: Effect.Effect<string> = Effect.gen(function* () {
  const summary = yield* summaryOf
  const [calls, foreign, answers, fixers, lines] = yield* Effect.all([
    ofCalls,
    ofForeign,
    ofAnswers,
    ofFixers,
    Schemas.lines
  ])
  const [routing, worded, agents, ends, aside] = yield* Effect.all([ofRouting, ofWires, ofAgents, ofEnds, ofAside])
  const [deferred, waiting, prepared, withheld, pictures] = yield* Effect.all([
    ofDeferred,
    ofWaiting,
    ofPrepared,
    ofWithheld,
    ofPictures
  ])
  const blanks = yield* ofBlanks
  return [
    "# What the model reads",
    "",
    "Written by `npm run reads`; do not edit. Each text comes out of a run, so this is what models read, to the letter.",
    "",
    "A text about a failure asks for one thing. It never has credentials, the lines of a stack, or help for operators. Text of your own",
    "functions, a renderer of `tell` or the reason of an escalation, reaches the model as you wrote it.",
    "",
    "## Of its calls",
    "",
    ...texts("when", [...calls, prepared]),
    "",
    "A failed call is flagged as an error where the wire has a flag: Anthropic, and Gemini with `error` in the place of `output`. OpenAI,",
    "Ollama and the formats like them have none: there `ERROR: ` stands before the text, unless it begins so already.",
    "",
    "## Of failures that are not yours",
    "",
    "Out of a tool that declares no side effects. Of one that may run twice, `safe to retry` stands in the place of the last clause.",
    "",
    ...texts("what failed", foreign),
    "",
    "## Of calls that were cut short",
    "",
    ...texts("when", [...cutShort, ...ends]),
    "",
    "These stand in the transcript: a model reads them where the conversation goes on.",
    "",
    "## Of calls that wait",
    "",
    ...texts("when", [deferred, ...waiting]),
    "",
    "## Of results that are put aside",
    "",
    ...texts("what", aside),
    "",
    "## Of agents that are its tools",
    "",
    ...texts("what", agents),
    "",
    "## Of what is no text",
    "",
    ...texts("what", [...pictures, ...ofAttached()]),
    "",
    "## Of its answers",
    "",
    ...texts("when", [...answers, withheld, ...blanks]),
    "",
    "A reply without text and without a call is asked for once more, with the same request.",
    "",
    "## As what chooses a skill",
    "",
    "With the input of the run as the message of the user:",
    "",
    "```text",
    routing,
    "```",
    "",
    "## As a fixer",
    "",
    ...texts("who reads", fixers),
    "",
    "## Of the tools that are built in",
    "",
    ...texts("tool", ofTools()),
    "",
    "## Of a conversation that was shortened",
    "",
    "A result that is cut ends with `...`, as one that is longer than `maxResultChars`. The agent of `Compaction.summarise` reads the oldest",
    "messages so:",
    "",
    "```text",
    summarised(),
    "```",
    "",
    "Its summary takes their place, as a message of the user:",
    "",
    "```text",
    summary,
    "```",
    "",
    "## Of what a wire cannot say",
    "",
    ...texts("what, and on which wires", worded),
    "",
    "## Of schemas",
    "",
    "What the model is shown of each kind of parameter, and what each wire makes of it. Arguments are read by just what was shown. `no` names",
    "keywords that the wire does not take, `new` those that take their place, `other` those that say something else there. What a wire cannot",
    "say is told in the description.",
    "",
    ...table(
      ["parameter", "what is shown", ...Schemas.names],
      lines.map(({ kind, shown, wires }) => [kind, code(shown), ...wires])
    ),
    ""
  ].join("\n")
})

if (import.meta.main) writeFileSync(join(root, path), await Effect.runPromise(render))
