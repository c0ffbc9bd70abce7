/** Agents in a backend that is still on Effect 3: side by side, bridged by promises. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Deferred, Effect, Layer } from "effect"
import { Cause as Cause3, Effect as Effect3, Exit as Exit3, Fiber as Fiber3 } from "effect-3"
import { readFileSync } from "node:fs"
import { makeAgents, type Outcome } from "./effect3/agents.ts"
import { fromRun } from "./effect3/bridge.ts"

const { answers, fails, make, text } = ScriptedModel

const agentsWith = (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  makeAgents(Layer.unwrap(Effect.map(make(...steps), ({ layer }) => layer)))

describe("agents below Effect 3", () => {
  it("answer, and their failures are handled by tag and typed", async () => {
    const agents = agentsWith(text("Forty-two."), fails(LlmError.ModelOverloadedError.make({ model: "m" })))
    const ask = fromRun((signal) => agents.guide("What?", signal))
    const handled: Effect3.Effect<
      string,
      Exclude<Effect3.Effect.Error<typeof ask>, { _tag: "ModelOverloadedError" }>
    > = ask.pipe(Effect3.catchTag("ModelOverloadedError", (error) => Effect3.succeed(`later: ${error.code}`)))
    assert.strictEqual(await Effect3.runPromise(handled), "Forty-two.")
    assert.strictEqual(await Effect3.runPromise(handled), "later: KINTSUGI-MODEL-OVERLOADED")
    await agents.dispose()
  })

  it("are interrupted with the fiber of Effect 3, which waits for them", async () => {
    const begun = Deferred.makeUnsafe<void>()
    const lines: Array<string> = []
    const agents = agentsWith(
      answers(() =>
        Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() =>
            Effect.andThen(
              Effect.yieldNow,
              Effect.sync(() => lines.push("cleaned up"))
            )
          )
        )
      )
    )
    const exit = await Effect3.runPromise(
      Effect3.gen(function* () {
        const fiber = yield* Effect3.fork(fromRun((signal) => agents.guide("What?", signal)))
        yield* Effect3.promise(() => Effect.runPromise(Deferred.await(begun)))
        const exit = yield* Fiber3.interrupt(fiber)
        lines.push("over")
        return exit
      })
    )
    assert.isTrue(Exit3.isFailure(exit) && Cause3.isInterruptedOnly(exit.cause))
    assert.deepStrictEqual(lines, ["cleaned up", "over"])
    await agents.dispose()
  })

  it("die there of what they die of here", async () => {
    const agents = agentsWith(answers(() => Effect.die(new Error("a bug"))))
    const exit = await Effect3.runPromiseExit(fromRun((signal) => agents.guide("What?", signal)))
    assert.isTrue(Exit3.isFailure(exit) && Cause3.isDieType(exit.cause))
    const rejecting = fromRun((): Promise<Outcome<string, never>> => Promise.reject(new Error("no run at all")))
    assert.isTrue(Exit3.isFailure(await Effect3.runPromiseExit(rejecting)))
    await agents.dispose()
  })

  it("are bridged as the guide shows", () => {
    const page = readFileSync(new URL("../../docs/guide/effect-3.md", import.meta.url), "utf8")
    for (const file of ["agents.ts", "bridge.ts"]) {
      const source = readFileSync(new URL(`./effect3/${file}`, import.meta.url), "utf8")
      assert.include(page, source.replace('"effect-3"', '"effect"').trimEnd())
    }
  })
})
