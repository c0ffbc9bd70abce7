/** What the compiler says about misuse: a sentence, at the place of the mistake. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { binary } from "../../scripts/tools.ts"

const own = "Schema.Struct({}), success: Schema.String, description: '', run:"

/** One mistake in a line, and what is said about it. */
const mistakes: ReadonlyArray<readonly [id: string, code: string, said: string]> = [
  [
    "P1309",
    "pay.pipe(Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) }))",
    'a tool with unsafe side effects runs again only with { acknowledge: \\"may run twice\\" }'
  ],
  [
    "P1309",
    "count.pipe(Tool.onError({ NoKeys: Recovery.tell(), Nope: Recovery.tell() }))",
    "There is no row for 'Nope': no call of this tool fails with that tag"
  ],
  [
    "P1309",
    "check.pipe(Tool.onError({ Nope: Recovery.tell() }))",
    "There is no row for 'Nope': no call of this tool fails with that tag"
  ],
  ["P1306", "check.pipe(policy)", "There is no row for 'NoKeys': no call of this tool fails with that tag"],
  [
    "P1309",
    "count.pipe(Tool.onError({ Boom: Recovery.respondWith('a text') }))",
    "The answer of this row is no result of the tool"
  ],
  [
    "P1309",
    "count.pipe(Tool.onError({ Boom: Recovery.compact(Compaction.dropOldest({ keepLast: 2 })) }))",
    "Only a table for model calls has a conversation to compact"
  ],
  ["P1306", "pay.pipe(again)", "A row of this table does not fit the tool"],
  [
    "P1306",
    "having(check).pipe(Agent.onToolError({ chekc: {} }))",
    "There is no table for 'chekc': the agent has no tool of that name"
  ],
  ["P1306", "having(check).pipe(number)", "An answer of this table is no output of the agent"],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(new Mine()) })`,
    "'RateLimitError' is the tag of an error of the library: give the failure of this tool another tag"
  ],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(ToolError.ToolDeniedError.of('t', 'c', '')) })`,
    "A tool cannot fail with 'ToolDeniedError': the library alone does, before and after a tool runs"
  ],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(loose) })`,
    "The tag of a failure of this tool is only a string: give each failure a tag of its own"
  ]
]

const head = [
  'import { Agent, Compaction, Recovery, Tool, ToolError } from "@kintsugi/core"',
  'import { Data, Effect, Schema } from "effect"',
  'import { check, count, having, pay } from "../../test/types/_support/subjects.ts"',
  'class Mine extends Data.TaggedError("RateLimitError") {}',
  "declare const loose: { readonly _tag: string }",
  "const policy = Tool.onError({ NoKeys: Recovery.tell() })",
  "const again = Tool.onError({ NoKeys: Recovery.retry({ retries: 1 }) })",
  "const number = Agent.onLlmError({ orElse: Recovery.respondWith(0) })"
]

/** What the compiler says about each line. */
const errors = (lines: ReadonlyArray<string>): ReadonlyMap<number, string> => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  const folder = mkdtempSync(join(root, ".cache/sentences-"))
  try {
    writeFileSync(join(folder, "mistakes.ts"), [...lines, "export { Schema, Mine }"].join("\n"))
    const project = { extends: "../../tsconfig.json", files: ["mistakes.ts"], include: [] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project))
    const tsc = [binary("typescript", "tsc"), "-p", folder, "--noEmit", "--pretty", "false", "--noErrorTruncation"]
    const { stdout } = spawnSync(process.execPath, tsc, { cwd: root, encoding: "utf8" })
    const said = stdout.split(/^(?=\S+mistakes\.ts\()/m)
    const numbered = said.map((text) => [Number(/mistakes\.ts\((\d+),/.exec(text)?.[1]), text] as const)
    return new Map(numbered)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it("a mistake is answered with a sentence [P1306 P1307 P1309]", { timeout: 60_000 }, () => {
  const said = errors([...head, ...mistakes.map(([, code]) => code)])
  mistakes.forEach(([, code, sentence], index) => {
    assert.include(
      (said.get(head.length + index + 1) ?? `nothing about ${code}`).replaceAll('\\"', '"'),
      sentence.replaceAll('\\"', '"')
    )
  })
  assert.strictEqual(said.size, mistakes.length)
})
