/** Ids of calls in log lines: a model or a provider has written them. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Logger, Schema } from "effect"
import { overADay } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

const hostile = `c1\n12:00 INFO approved \u001b]52;c;aGk=\u0007\u009b2J\u202e ${key}`

it.run("an id breaks no log line, steers no terminal and shows no key [P1394]", (run) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String([message].flat()[0])))
    const base = { description: "Works.", parameters: Schema.Struct({}), success: Schema.String }
    const broken = Effect.addFinalizer(() => Effect.die("stuck"))
    const stuck = Tool.make("stuck", { ...base, run: () => Effect.as(broken, "done") })
    const order = Tool.deferred("order", {
      ...base,
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 minute",
      cancel: () => Effect.fail("no")
    }).pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() }))
    const model = yield* ScriptedModel.make(
      ScriptedModel.calls(ScriptedModel.call("stuck", {}, hostile)),
      ScriptedModel.calls(ScriptedModel.call("order", {}, hostile)),
      ScriptedModel.text("Done.")
    )
    const agent = Agent.make("desk", { tools: [stuck, order] })
    yield* overADay(run(agent, "go").pipe(Effect.provide([model.layer, Logger.layer([logger])])))
    assert.strictEqual(lines.length, 2)
    for (const line of lines) {
      assert.include(line, "call 'c1 12:00 INFO approved")
      assert.notMatch(line, /[\p{Cc}\u202e]|16C7e42F/u)
    }
  })
)
