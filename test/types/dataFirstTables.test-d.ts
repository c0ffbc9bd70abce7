/** `Recovery.onError(effect, table)` leaves what the piped form leaves. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import { Effect, Layer, Schema } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"
import { ask, type Boom, cleanup, type Db, type NoKeys, type Oops, risky } from "./_support/subjects.ts"

const retry = Recovery.retry({ retries: 3 })

describe("a table on a plain effect, as an argument", () => {
  it("leaves what it leaves in a pipe [A509]", () => {
    const first = Recovery.onError(risky, { NoKeys: retry, Boom: Recovery.respondWith("none") })
    const piped = risky.pipe(Recovery.onError({ NoKeys: retry, Boom: Recovery.respondWith("none") }))
    type _ = Expect<Equal<typeof first, typeof piped>>
    sameType<Effect.Effect<number | "none", NoKeys>>()(first)
    const answered = Recovery.onError(risky, { orElse: Recovery.respondWith("none") })
    sameType<Effect.Effect<number | "none">>()(answered)
    const handler = Recovery.respondWith(() => ask)
    const handled = Recovery.onError(risky, { NoKeys: Recovery.ladder(retry, handler) })
    sameType<Effect.Effect<number, Boom | Oops, Db>>()(handled)
    const bare = Recovery.onError(risky, {})
    sameType<Effect.Effect<number, NoKeys | Boom>>()(bare)
  })

  it("its rows see their own failures, and there are no others [A506]", () => {
    Recovery.onError(risky, {
      NoKeys: Recovery.respondWith((error) => {
        sameType<NoKeys>()(error)
        return Effect.succeed(error.json)
      })
    })
    // @ts-expect-error it has no such failure
    Recovery.onError(risky, { NoKey: retry })
    // @ts-expect-error there is no model to tell
    Recovery.onError(risky, { NoKeys: Recovery.tell() })
    // @ts-expect-error there are no arguments to repair
    Recovery.onError(risky, { NoKeys: Recovery.fix(cleanup) })
  })
})

const options = { description: "Counts.", parameters: Schema.Struct({}), success: Schema.Number, run: () => risky }
const tool = Tool.make("count", options)

describe("a tool, as an argument of its combinators", () => {
  it("is what it is in a pipe [P1320]", () => {
    const table = Tool.onError(tool, {
      NoKeys: retry,
      Boom: (error) => {
        sameType<Boom>()(error)
        return Effect.succeed(0)
      }
    })
    const piped = tool.pipe(Tool.onError({ NoKeys: retry, Boom: () => Effect.succeed(0) }))
    type _1 = Expect<Equal<Effect.Error<ReturnType<typeof called>>, Effect.Error<ReturnType<typeof calledPiped>>>>
    const [called, calledPiped] = [Agent.make("a", { tools: [table] }), Agent.make("a", { tools: [piped] })] as const
    const [asked, askedPiped] = [Tool.requireApproval(tool), tool.pipe(Tool.requireApproval())] as const
    type _2 = Expect<Equal<typeof asked, typeof askedPiped>>
    const undo = () => Effect.void
    const [undone, undonePiped] = [Tool.compensate(tool, undo), tool.pipe(Tool.compensate(undo))] as const
    type _3 = Expect<Equal<typeof undone, typeof undonePiped>>
    const [given, givenPiped] = [Tool.provide(tool, Layer.empty), tool.pipe(Tool.provide(Layer.empty))] as const
    type _4 = Expect<Equal<typeof given, typeof givenPiped>>
    // @ts-expect-error it has no such failure
    Tool.onError(tool, { NoKey: retry })
    // @ts-expect-error it gives a number
    Tool.onError(tool, { NoKeys: Recovery.respondWith("none") })
  })
})
