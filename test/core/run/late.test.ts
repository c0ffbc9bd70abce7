/** What the last turn of a run says of deferred calls that have failed. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import type { LateCheckpoint } from "../../../packages/core/src/event/Checkpoint.ts"
import { telling } from "../../../packages/core/src/run/late.ts"
import type { Looping } from "../../../packages/core/src/run/running.ts"

/** A run with this tool, of which nothing else is read. */
const runningWith = (name: string, kind: string) =>
  ({ toolset: { entries: new Map([[name, { tool: { kind } }]]) } }) as unknown as Looping

const checkpoint = { tool: "look" } as LateCheckpoint

it.effect("each failure is told to the model, a foreign one as data, and no row sees it", () =>
  Effect.gen(function* () {
    const answerTo = (settlement: Exit.Exit<unknown, unknown> | undefined, name = "look", kind = "local") =>
      telling(runningWith(name, kind))(checkpoint, settlement)
    const saying = (text: string) => ({
      settlement: { kind: "told", text },
      record: { tool: "look", isError: true }
    })
    for (const exit of [Exit.fail(new Error("It is lost")), Exit.die(new Error("It is lost"))]) {
      for (const [name, kind] of [
        ["look", "local"],
        ["another", "web-service"]
      ])
        assert.deepStrictEqual<unknown>(yield* answerTo(exit, name, kind), saying("ERROR: It is lost"))
      const foreign = yield* answerTo(exit, "look", "web-service")
      assert.deepStrictEqual<unknown>(foreign, saying("ERROR: <data>It is lost</data>"))
    }
    assert.deepStrictEqual<unknown>(yield* answerTo(undefined), saying("ERROR: it does not say why"))
  })
)
