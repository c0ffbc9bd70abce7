/** A program that writes events and is killed. */
import { assert, it } from "@effect/vitest"
import { Recording } from "@kintsugi/view"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll } from "vitest"
import { root } from "../../../scripts/files.ts"

const folder = mkdtempSync(join(root, ".cache", "killed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const program = `
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { EventLog } from "@kintsugi/view"
import { Effect } from "effect"

const clerk = Agent.make("clerk", {}).pipe(Agent.provide(ScriptedModel.answering(() => ScriptedModel.text("x".repeat(10_000)))))
const run = Effect.tap(clerk("Hi"), () => Effect.promise(() => new Promise((done) => process.stdout.write("run\\n", done))))
await Effect.runPromise(Effect.provide(Effect.forever(run), EventLog.toFile(process.argv[2])))
`

it(
  "a killed program loses no event that a run has passed, and at most one line is cut [P1272]",
  { timeout: 60_000 },
  async () => {
    const [source, file] = [join(folder, "program.ts"), join(folder, "events.jsonl")]
    writeFileSync(source, program)
    const child = spawn(process.execPath, [source, file], { stdio: ["ignore", "pipe", "inherit"] })
    let said = ""
    for await (const piece of child.stdout) {
      said += String(piece)
      if (said.split("\n").length > 20) break
    }
    child.kill("SIGKILL")
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
    const { events, problems } = Recording.parse(readFileSync(file, "utf8"))
    const completed = events.filter(({ type }) => type === "run-completed").length
    assert.isAtLeast(completed, said.split("\n").length - 1)
    assert.isAtMost(problems.filter(({ kind }) => kind === "cut").length, 1)
    // the run at the end may have no end; nothing else is missing
    assert.isTrue(problems.every(({ kind }) => kind === "cut" || kind === "end"))
  }
)
