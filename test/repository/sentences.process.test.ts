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
    'A tool with unsafe side effects runs again only with { acknowledge: \\"may run twice\\" }'
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
  [
    "P1309",
    "having(pay).pipe(Agent.onToolError({ pay: { NoKeys: Recovery.retry({ retries: 1 }) } }))",
    "A tool with unsafe side effects runs again only with"
  ],
  [
    "P1309",
    "Agent.onToolError(having(pay), { pay: { NoKeys: Recovery.retry({ retries: 1 }) } })",
    "A tool with unsafe side effects runs again only with"
  ],
  [
    "P1309",
    `Tool.make('t', { sideEffects: 'unsafe', parameters: ${own} () => risky, onError: { NoKeys: Recovery.retry({ retries: 1 }) } })`,
    "A tool with unsafe side effects runs again only with"
  ],
  [
    "P1309",
    `Tool.make('t', { parameters: ${own} () => risky, onError: { NoKey: Recovery.tell() } })`,
    "There is no row for 'NoKey': no call of this tool fails with that tag"
  ],
  [
    "P1309",
    "having(check).pipe(Agent.toolDefaults({ InvalidArgs: Recovery.compact(Compaction.dropOldest({ keepLast: 2 })) }))",
    "Only a table for model calls has a conversation to compact"
  ],
  ["P1309", "risky.pipe(Recovery.onError({ NoKeys: Recovery.tell() }))", "There is no model here that could be told"],
  ["P1309", "Recovery.onError(risky, { NoKeys: Recovery.escalate() })", "There is no model here that could be told"],
  [
    "P1309",
    "risky.pipe(Recovery.onError({ NoKeys: Recovery.raise }))",
    "There is no call of a tool here that could be raised"
  ],
  [
    "P1309",
    "Recovery.onError(risky, { NoKeys: Recovery.fix((text: string) => Effect.succeed(text)) })",
    "There are no arguments here that could be repaired"
  ],
  [
    "P1309",
    "risky.pipe(Recovery.onError({ NoKeys: Recovery.compact(Compaction.dropOldest({ keepLast: 2 })) }))",
    "Only a table for model calls has a conversation to compact"
  ],
  ["P1309", "risky.pipe(Recovery.onError({ NoKey: Recovery.rethrow }))", "'NoKey' does not exist in type"],
  [
    "P1309",
    "having(check).pipe(Agent.onLlmError({ RateLimitError: Recovery.tell() }))",
    "There is no model here that could be told"
  ],
  ["P1309", "having(check).pipe(Agent.onLlmError(() => Recovery.tell()))", "There is no model here that could be told"],
  [
    "P1309",
    "Agent.make('a', { onLlmError: { RateLimitError: Recovery.tell() } })",
    "There is no model here that could be told"
  ],
  [
    "P1309",
    "Agent.make('a', { tools: [check], toolDefaults: { NoKey: Recovery.tell() } })",
    "'NoKey' does not exist in type"
  ],
  [
    "P1309",
    "Router.onLlmError(Router.byModel(), { RateLimitError: Recovery.tell() })",
    "There is no model here that could be told"
  ],
  [
    "P1309",
    "Router.byModel().pipe(Router.onLlmError({ orElse: Recovery.fix((text: string) => Effect.succeed(text)) }))",
    "There are no arguments here that could be repaired"
  ],
  [
    "P1309",
    "layer.pipe(Model.onError({ RateLimitError: Recovery.raise }))",
    "There is no call of a tool here that could be raised"
  ],
  [
    "P1309",
    "Agent.seal(having(check)).pipe(Agent.onLlmError({ RateLimitError: Recovery.rethrow }))",
    "This agent makes no model calls itself"
  ],
  ...[
    ["Agent.make('a', { instructions: 'Be brief.' })", "There is no option 'instructions': its name here is prompt"],
    ["Agent.make('a', { maxTurns: 3 })", "There is no option 'maxTurns': it stands in budget: { maxTurns }"],
    ["Agent.make('a', { inputSchema: Schema.String })", "There is no option 'inputSchema': its name here is input"],
    [
      "Agent.make('a', { execute: () => '' })",
      "There is no option 'execute': an agent that is a function is Agent.deterministic"
    ],
    ["Agent.make('a', { budget: { maxSteps: 3 } })", "There is no option 'maxSteps': its name here is maxTurns"],
    [
      "having(check).pipe(Agent.withBudget({ maxSteps: 3 }))",
      "There is no option 'maxSteps': its name here is maxTurns"
    ],
    [
      "having(check).pipe(Agent.withBudget({ timeout: '1 second' }))",
      "There is no option 'timeout': its name here is maxDuration"
    ],
    [
      "Skill.make('s', { description: '', instructions: 'Be brief.' })",
      "There is no option 'instructions': its name here is prompt"
    ],
    [
      "Skill.deterministic('s', { description: '', execute: () => Effect.succeed('') })",
      "There is no option 'execute': its name here is run"
    ],
    [
      "Skill.fromFunction('s', { description: '', execute: () => '' })",
      "There is no option 'execute': its name here is run"
    ],
    ["Agent.make('a', { color: 'red' })", "There is no option 'color'"],
    [
      "Tool.make('t', { instructions: 'x', parameters: Schema.Struct({}), success: Schema.String, description: '', run: () => Effect.succeed('') })",
      "There is no option 'instructions': a tool has a description, and its agent has a prompt"
    ],
    ["Agent.make('a', { system: 'Be brief.' })", "There is no option 'system': its name here is prompt"],
    ["Agent.make('a', { maxSteps: 3 })", "There is no option 'maxSteps': its name here is budget: { maxTurns }"],
    [
      "Tool.make('t', { inputSchema: Schema.Struct({}), success: Schema.String, description: '', run: () => Effect.succeed('') })",
      "There is no option 'inputSchema': its name here is parameters"
    ],
    [
      "Tool.make('t', { parameters: Schema.Struct({}), success: Schema.String, description: '', execute: () => Effect.succeed('') })",
      "There is no option 'execute': its name here is run"
    ]
  ].map(([code = "", said = ""]) => ["P1309", code, said] as const),
  [
    "P1309",
    "Agent.andThen(having(check), having(check)).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))",
    "This agent makes no model calls itself"
  ],
  ...["guardInput", "guardOutput"].map(
    (guard) =>
      [
        "P1378",
        `Agent.andThen(having(check), having(check)).pipe(Agent.${guard}(() => Agent.guard.pass))`,
        "This agent makes no model calls itself: add tables and guardrails to its parts, before Agent.seal"
      ] as const
  ),
  [
    "P1309",
    "having(check).pipe(Agent.named('b'))",
    "An agent has its name from Agent.make: Agent.named is for compositions"
  ],
  [
    "P1309",
    "having(check).pipe(Agent.outputRetries(2))",
    "No answer of its model is refused: Agent.outputRetries is for agents with an output"
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
  ["P1306", "Agent.withBudget(clerk, { maxSteps: 3 })", "There is no option 'maxSteps': its name here is maxTurns"],
  ["P1306", "Router.byModel({ instructions: 'x' })", "There is no option 'instructions': its name here is prompt"],
  ["P1306", "Router.byRule(() => undefined, { system: 'x' })", "There is no option 'system': its name here is prompt"],
  ["P1306", "Recovery.fix(clerk, { maxRetries: 3 })", "There is no option 'maxRetries': its name here is retries"],
  [
    "P1306",
    "Agent.asTool(clerk, { description: 'x', instructions: 'y' })",
    "There is no option 'instructions': the agent has a prompt, and the tool a description"
  ],
  [
    "P1306",
    "Agent.asTool(clerk, { description: 'x', inputSchema: own, toInput: String })",
    "There is no option 'inputSchema': its name here is parameters"
  ],
  [
    "P1306",
    "Durable.workflow(clerk, { name: 'x', payload: own, input: Schema.String, output: Schema.String })",
    "There is no option 'payload': its name here is input"
  ],
  ["P1306", "having(check).pipe(number)", "An answer of this table is no output of the agent"],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(new Mine()) })`,
    "'RateLimitError' is the tag of an error of the library: give the failure of this tool another tag"
  ],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(ToolError.ToolDeniedError.make({ tool: 't', callId: 'c', reason: '' })) })`,
    "A tool cannot fail with 'ToolDeniedError': the library alone does, before and after a tool runs"
  ],
  [
    "P1307",
    `Tool.make('t', { parameters: ${own} () => Effect.fail(loose) })`,
    "The tag of a failure of this tool is only a string: give each failure a tag of its own"
  ]
]

const head = [
  'import { Agent, Compaction, Model, Recovery, Router, Skill, Tool, ToolError } from "@kintsugi/core"',
  'import { Durable } from "@kintsugi/durable"',
  'import { Data, Effect, Schema } from "effect"',
  'import { check, count, having, modelLayer as layer, pay, risky } from "../../test/types/_support/subjects.ts"',
  'class Mine extends Data.TaggedError("RateLimitError") {}',
  "const clerk = Agent.make('clerk', {})",
  "declare const own: Schema.Codec<string>",
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
  const missed = mistakes.flatMap(([, code, sentence], index) => {
    const message = said.get(head.length + index + 1) ?? "nothing"
    return message.replaceAll('\\"', '"').includes(sentence.replaceAll('\\"', '"')) ? [] : [`${code}: ${message}`]
  })
  assert.deepStrictEqual(missed, [])
  assert.strictEqual(said.size, mistakes.length)
})
