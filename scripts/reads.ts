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
    "`npm run reads` writes this page. Each text comes out of a run, so it is what models read, to the letter.",
    "",
    "A text about a failure asks for one thing. It has no credentials, no stack and no help for operators. Text of your own functions, such",
    "as a renderer of `tell` or the reason of an escalation, reaches the model unchanged.",
    "",
    "## Results of tool calls",
    "",
    ...texts("when", [...calls, prepared]),
    "",
    "Anthropic and Gemini flag a failed call as an error. OpenAI, Ollama and similar formats have no flag: `ERROR: ` precedes the text,",
    "unless the text begins with it.",
    "",
    "## Failures from elsewhere",
    "",
    "The tool declares no side effects. For a tool that may run twice, the last clause is `safe to retry`.",
    "",
    ...texts("what failed", foreign),
    "",
    "## Calls that a run cut short",
    "",
    "The model reads these where the conversation goes on.",
    "",
    ...texts("when", [...cutShort, ...ends]),
    "",
    "## Calls that wait",
    "",
    ...texts("when", [deferred, ...waiting]),
    "",
    "## Results that are put aside",
    "",
    ...texts("what", aside),
    "",
    "## Agents as tools",
    "",
    ...texts("what", agents),
    "",
    "## Pictures and files",
    "",
    ...texts("what", [...pictures, ...ofAttached()]),
    "",
    "## After an answer",
    "",
    ...texts("when", [...answers, withheld, ...blanks]),
    "",
    "After a reply without text and without a call, the run sends the same request once more.",
    "",
    "## Choosing a skill",
    "",
    "The input of the run follows as the user message.",
    "",
    "```text",
    routing,
    "```",
    "",
    "## Fixers",
    "",
    ...texts("who reads", fixers),
    "",
    "## Built-in tools",
    "",
    ...texts("tool", ofTools()),
    "",
    "## Shortened conversations",
    "",
    "A cut result ends with `...`. The agent of `Compaction.summarise` reads the oldest messages in this form:",
    "",
    "```text",
    summarised(),
    "```",
    "",
    "Its summary replaces them, as a user message:",
    "",
    "```text",
    summary,
    "```",
    "",
    "## Words in place of a field",
    "",
    "Some wires lack a field, so the request says the same in words.",
    "",
    ...texts("what, and on which wires", worded),
    "",
    "## Schemas",
    "",
    "The model reads a JSON Schema of each parameter, and the library reads the arguments by the same schema. The last column says which of",
    `these wires change it: ${Schemas.names.join("; ")}. \`no\` names keywords that the wire does not take, \`new\` those in their place, and`,
    "`other` those with another value. The description says what a wire cannot.",
    "",
    ...table(
      ["parameter", "what is shown", "which wires change it"],
      lines.map(({ changes, kind, shown }) => [kind, code(shown), changes])
    ),
    ""
  ].join("\n")
})

if (import.meta.main) writeFileSync(join(root, path), await Effect.runPromise(render))
