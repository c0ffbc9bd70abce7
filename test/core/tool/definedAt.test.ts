/** Where a tool is defined, for links to code. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { RecordedEvents, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { readFileSync } from "node:fs"

/** Runs a definition with the variable of the environment set to a value, or without the variable. */
const within = <A>(value: string | undefined, define: () => A): A => {
  const before = process.env["KINTSUGI_DEFINED_AT"]
  const set = (to: string | undefined) => {
    if (to === undefined) delete process.env["KINTSUGI_DEFINED_AT"]
    else process.env["KINTSUGI_DEFINED_AT"] = to
  }
  set(value)
  try {
    return define()
  } finally {
    set(before)
  }
}

const make = () =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("seen")
  }).pipe(Tool.onError({}))

/** What the start of a call says about the definition. */
const said = Effect.fnUntraced(function* (tool: ReturnType<typeof make>) {
  const { call, calls, text } = ScriptedModel
  const model = yield* ScriptedModel.make(calls(call("look", {})), text("Done."))
  const events = RecordedEvents.makeUnsafe()
  yield* Agent.make("clerk", { tools: [tool] })("Look.").pipe(Effect.provide([model.layer, events.layer]))
  const start = events.all.find(({ type }) => type === "tool-start")
  return start?.type === "tool-start" ? start.definedAt : undefined
})

describe("the start of a call", () => {
  it.effect("names the line of the definition if the environment asks for it [P1709]", () =>
    Effect.gen(function* () {
      const lines = readFileSync(import.meta.filename, "utf8").split("\n")
      const line = 1 + lines.findIndex((text) => text.includes('Tool.make("look"'))
      const found = yield* said(within("1", make))
      assert.strictEqual(found?.replace(/:\d+$/, ""), `test/core/tool/definedAt.test.ts:${line}`)
    })
  )

  it.effect("names nothing otherwise [P1709]", () =>
    Effect.gen(function* () {
      for (const value of [undefined, "", "0"]) assert.isUndefined(yield* said(within(value, make)))
    })
  )
})
