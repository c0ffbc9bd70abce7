/** What a program with many tools costs the compiler. Counted in instantiations of types, which are the same on every machine. */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"
import { root } from "../../scripts/files.ts"
import { binary } from "../../scripts/tools.ts"

const count = 200

/** Before tables could be one of several, and rows schedules and handlers: the state of 2026-11-22. */
const before = 606_117

const imports = `import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { Context, Data, Effect, Schema } from "effect"
export const parts = [Agent.make, Recovery.retry, Skill.make, Tool.make, Context.Service, Data.TaggedError, Effect.fail, Schema.String]
`

const tool = (i: number) => `
class Busy${i} extends Data.TaggedError("Busy${i}")<{ readonly message: string }> {}
export const tool${i} = Tool.make("tool${i}", {
  description: "d",
  parameters: Schema.Struct({ id: Schema.String, count: Schema.Number, tags: Schema.Array(Schema.String) }),
  success: Schema.Struct({ id: Schema.String, total: Schema.Number }),
  timeout: "5 seconds",
  run: ({ id, count }) =>
    Effect.flatMap(Db, ({ rows }) =>
      count > rows ? Effect.fail(new Busy${i}({ message: id })) : Effect.succeed({ id, total: count })
    )
}).pipe(
  Tool.onError({
    Busy${i}: Recovery.ladder(Recovery.retry({ retries: 2 }), Recovery.tell((error) => error.message)),
    InvalidArgs: Recovery.tell()
  })
)
`

const agent = (name: string, tools: ReadonlyArray<number>) => `
export const ${name} = Agent.make("${name}", {
  skills: [Skill.make("s", { description: "d", tools: [${tools.map((i) => `tool${i}`).join(", ")}] })]
}).pipe(
  Agent.toolDefaults({ ToolTimeoutError: Recovery.retry({ retries: 1 }), orElse: Recovery.tell() }),
  Agent.onLlmError({ RateLimitError: Recovery.retry({ retries: 2 }) })
)
export const ${name}Runs = ${name}("go")
`

const all = Array.from({ length: count }, (_, i) => i)

const tens = all.filter((i) => i % 10 === 0)

const many = [
  `class Db extends Context.Service<Db, { readonly rows: number }>()("Db") {}`,
  ...all.map(tool),
  ...tens.map((first) => agent(`agent${first}`, all.slice(first, first + 10))),
  agent("everything", all)
]

/** The instantiations of types that a program takes. */
const instantiations = (program: string): number => {
  mkdirSync(join(root, ".cache"), { recursive: true })
  const folder = mkdtempSync(join(root, ".cache/cost-"))
  try {
    writeFileSync(join(folder, "program.ts"), program)
    const compilerOptions = { noEmit: true, incremental: false }
    const project = { extends: join(root, "tsconfig.json"), compilerOptions, files: ["program.ts"], include: [] }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(project))
    const options = ["-p", folder, "--singleThreaded", "--extendedDiagnostics"]
    const { status, stdout } = spawnSync(process.execPath, [binary("typescript", "tsc"), ...options], {
      cwd: root,
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, stdout)
    return Number(/Instantiations: *(\d+)/.exec(stdout)?.[1])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it(`${count} tools take at most 1.3 times what they took before`, { timeout: 60_000 }, () => {
  const ratio = (instantiations(imports + many.join("\n")) - instantiations(imports)) / before
  assert.isAtLeast(ratio, 0.5, "the program is not the one that was measured")
  assert.isAtMost(ratio, 1.3)
})
