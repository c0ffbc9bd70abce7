import { spawnSync } from "node:child_process"
import { expect, it } from "vitest"
import { root } from "../../../scripts/files.ts"

const program = `
import { Agent } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer } from "effect"
const { make, text } = ScriptedModel
const model = Layer.unwrap(Effect.map(make(text("one"), text("two")), ({ layer }) => layer))
const agent = Agent.make("clerk", { model })
console.log(await Effect.runPromise(agent("go")), await Effect.runPromise(agent("go")))
`

it("a model that waits for the end of its idle time keeps no process alive [P1504]", { timeout: 70_000 }, () => {
  const { signal, stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
    cwd: root,
    encoding: "utf8",
    timeout: 60_000
  })
  expect({ signal, stderr, stdout }).toEqual({ signal: null, stderr: "", stdout: "one two\n" })
})
