/**
 * Writes the index of all events into `docs/guide/events.md`. When an event is emitted is the first sentence of its comment in
 * `Happening.ts`, and its fields are those of its codec.
 *
 *   npm run events
 */
import type { Schema } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { schemas } from "../packages/core/src/event/Codec.ts"
import { root } from "./files.ts"

export const path = "docs/guide/events.md"

type Type = keyof typeof schemas

/** The groups of the index. A group has the types that match, and that no earlier group has. */
const groups: ReadonlyArray<readonly [heading: string, types: RegExp]> = [
  ["Recovery and limits", /^(?:verdict|guardrail|budget-|message-|events-lost)/],
  ["The run", /^(?:run|skill|turn)-/],
  ["Model calls", /^(?:model|text|reasoning|attempt|request|output)-|compacted$/],
  ["Tool calls", /./]
]

/** Where the guide has more about an event. */
const pages: Partial<Record<Type, string>> = {
  "attempt-discarded": "streaming.md#when-a-stream-breaks",
  "attempt-continued": "streaming.md#when-a-stream-breaks",
  "request-adapted": "provider-notes.md#what-a-model-takes",
  compacted: "model-recovery.md#conversations-that-are-too-long",
  "tool-compensated": "tool-recovery.md#compensation-undo-finished-calls",
  "tool-waiting": "deferred.md",
  "tool-result": "deferred.md",
  "arguments-coerced": "coercion.md",
  "fix-start": "fixers.md",
  "approval-requested": "approvals.md",
  "result-put-aside": "input-and-output.md#long-results",
  guardrail: "agents.md#guardrails",
  "message-queued": "resume.md#send-a-message-to-a-running-agent",
  "run-suspended": "resume.md"
}

/** When each event is emitted, by its type, out of the text of `Happening.ts`. */
export const sentencesOf = (source: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const [, comment = "", type = ""] of source.matchAll(
    /\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}\| \(?\{\s*readonly type: "([\w-]+)"/g
  )) {
    const text = comment
      .replaceAll(/\n? *\* ?/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim()
    const [sentence = ""] = /^.*?[.](?= |$)/.exec(text) ?? []
    if (!found.has(type)) found.set(type, sentence.replace(/\.$/, ""))
  }
  return found
}

const common: ReadonlySet<string> = new Set(["runId", "agent", "turn", "at", "parent", "cursor", "type"])

/** The fields of an event besides those that all events have. A field in italics may be absent. */
const fieldsOf = (type: Type): string => {
  const schema = schemas[type]
  const whole = "fields" in schema ? schema : schema.members[0]
  return Object.entries<Schema.Top>(whole.fields)
    .filter(([name]) => !common.has(name))
    .map(([name, field]) => (field.ast.context?.isOptional === true ? `*${name}*` : `\`${name}\``))
    .join(", ")
}

const table = (heading: string, types: ReadonlyArray<Type>, sentences: ReadonlyMap<string, string>): string => {
  const rows = types.map((type) => {
    const sentence = sentences.get(type)
    if (sentence === undefined || sentence === "") throw new Error(`Happening.ts has no sentence about '${type}'`)
    const page = pages[type]
    return `| \`${type}\` | ${sentence}${page === undefined ? "" : ` ([more](${page}))`} | ${fieldsOf(type)} |`
  })
  return [`### ${heading}`, "", "| event | when | fields |", "| --- | --- | --- |", ...rows].join("\n")
}

/** The page with its index written anew. */
export const render = (page: string, source: string): string => {
  const sentences = sentencesOf(source)
  // cast: the keys of the object
  const types = Object.keys(schemas) as ReadonlyArray<Type>
  const groupOf = (type: Type) => groups.find(([, pattern]) => pattern.test(type))?.[0]
  const order = ["The run", "Model calls", "Tool calls", "Recovery and limits"]
  const tables = order.map((heading) =>
    table(
      heading,
      types.filter((type) => groupOf(type) === heading),
      sentences
    )
  )
  return page.replace(
    /(<!-- index of events -->\n)[^]*?(<!-- end of index -->)/,
    (_all, opening: string, close: string) => `${opening}\n${tables.join("\n\n")}\n\n${close}`
  )
}

if (import.meta.main) {
  const file = join(root, path)
  const source = readFileSync(join(root, "packages/core/src/event/Happening.ts"), "utf8")
  writeFileSync(file, render(readFileSync(file, "utf8"), source))
}
