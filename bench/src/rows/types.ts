/**
 * What tables cost the compiler: an agent of fifty tools with five tagged errors each, with tables at all three levels
 * (`Tool.onError`, `Agent.onToolError`, `Agent.toolDefaults`), beside the same agent without any.
 *
 * Runs `tsc` as a command on generated sources against the declarations that are published, in turns, and takes the seconds that it
 * reports for checking.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build, isBuilt } from "../../../scripts/build.ts"
import { root } from "../../../scripts/files.ts"
import { binary } from "../../../scripts/tools.ts"
import { report } from "../figures.ts"
import { median } from "../harness.ts"

const tools = 50
const errors = ["A", "B", "C", "D", "E"]
const laps = 5

const numbers = Array.from({ length: tools }, (_, index) => index)

const failures = numbers.flatMap((n) =>
  errors.map((error) => `class E${n}${error} extends Data.TaggedError("E${n}${error}")<{ readonly n: number }> {}`)
)

/** Tools that may fail with five errors each, and the two of them that a tool may guard itself. */
const toolsOf = (table: (n: number) => string) =>
  numbers.map(
    (n) => `
declare const work${n}: Effect.Effect<{ readonly a: string }, ${errors.map((error) => `E${n}${error}`).join(" | ")}>
const tool${n} = Tool.make("tool${n}", {
  description: "Works.",
  parameters: Schema.Struct({ n: Schema.Finite, text: Schema.String }),
  success: Schema.Struct({ a: Schema.String }),
  run: () => work${n}
})${table(n)}`
  )

const agentOf = (tables: string) => `
const agent = Agent.make("worker", {
  skills: [Skill.make("work", { description: "Works.", tools: [${numbers.map((n) => `tool${n}`).join(", ")}] })]
})${tables}

const run = agent("go")
/** Asks for every failure that is left. */
export const left = (error: Effect.Error<typeof run>): string => error._tag
`

const imports = `import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { Data, Effect, Schema } from "effect"
void Recovery
`

const source = (...parts: ReadonlyArray<string | ReadonlyArray<string>>): string =>
  [imports, ...parts.flat()].join("\n")

const ofTool = (n: number) => `.pipe(
  Tool.onError({
    E${n}A: Recovery.retry({ retries: 2 }),
    E${n}B: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.respondWith({ a: "none" }))
  })
)`

const ofAgent = `.pipe(
  Agent.onToolError({
    ${numbers.map((n) => `tool${n}: { E${n}C: Recovery.tell((error) => String(error.n)), E${n}B: Recovery.rethrow }`).join(",\n    ")}
  }),
  Agent.toolDefaults({
    ${numbers.map((n) => `E${n}D: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.escalate())`).join(",\n    ")},
    InvalidArgs: Recovery.tell()
  })
)`

const subjects: Record<string, string> = {
  "without tables": source(
    failures,
    toolsOf(() => ""),
    agentOf("")
  ),
  "with tables": source(failures, toolsOf(ofTool), agentOf(ofAgent))
}

/** A project that has installed the package, as far as the compiler can tell. */
const project = (): string => {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "kintsugi-types-"))
  const core = join(folder, "node_modules/@kintsugi/core")
  mkdirSync(core, { recursive: true })
  const { name, publishConfig, type } = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8"))
  writeFileSync(join(core, "package.json"), JSON.stringify({ name, type, exports: publishConfig.exports }))
  symlinkSync(join(root, "packages/core/dist"), join(core, "dist"), "junction")
  symlinkSync(realpathSync(join(root, "node_modules/effect")), join(folder, "node_modules/effect"), "junction")
  const compilerOptions = {
    target: "es2024",
    module: "nodenext",
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: []
  }
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }))
  return folder
}

/** Seconds that the compiler needs to check a project. */
const checkTime = (folder: string): number => {
  const parameters = [binary("typescript", "tsc"), "-p", folder, "--extendedDiagnostics", "--pretty", "false"]
  const { status, stdout } = spawnSync(process.execPath, parameters, { encoding: "utf8" })
  const seconds = Number(/Check time:\s*([\d.]+)s/.exec(stdout)?.[1] ?? Number.NaN)
  if (status !== 0 || Number.isNaN(seconds)) throw new Error(`the compiler did not check the source\n${stdout}`)
  return seconds
}

if (!isBuilt() && !build()) throw new Error("the packages do not build")
const folder = project()
try {
  const seconds = new Map<string, Array<number>>(Object.keys(subjects).map((name) => [name, []]))
  for (let lap = 0; lap < laps; lap++) {
    for (const [name, text] of Object.entries(subjects)) {
      writeFileSync(join(folder, "main.ts"), text)
      seconds.get(name)?.push(checkTime(folder))
    }
  }
  const [without, within] = [seconds.get("without tables") ?? [], seconds.get("with tables") ?? []]
  const over = within.map((one, lap) => one - (without[lap] ?? Number.NaN))
  report(`type-checking ${tools} tools`, [
    { name: "without tables", value: median(without), unit: "s" },
    { name: "with tables", value: median(within), unit: "s", most: 3 },
    { name: "tables alone", value: median(over), unit: "s", most: 0.7 }
  ])
} finally {
  rmSync(folder, { recursive: true, force: true })
}
