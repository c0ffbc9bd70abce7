/** Which settlement counts for a call that waits in this process. */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { close, enter, settle } from "../../../packages/core/src/tool/waiting.ts"

const decode = Effect.succeed<Exit.Exit<unknown, unknown>>

const notCounted = (reason: string) => ({ _tag: "NotCounted", reason })

it.effect("a call that was closed takes no settlement, and says why it was closed first [P1521]", () =>
  Effect.gen(function* () {
    const token = "one"
    assert.deepStrictEqual<unknown>(yield* settle(token, Exit.void), notCounted("unknown-token"))
    const entry = enter(token, decode)
    close(token, entry, "suspended")
    close(token, entry, "late")
    assert.deepStrictEqual<unknown>(yield* settle(token, Exit.void), notCounted("suspended"))
    // it goes on in the same process
    const resumed = enter(token, decode)
    assert.deepStrictEqual<unknown>(yield* settle(token, Exit.succeed(7)), { _tag: "Counted" })
    assert.deepStrictEqual(resumed.settlement, Exit.succeed(7))
    close(token, resumed, "run-over")
    assert.deepStrictEqual<unknown>(yield* settle(token, Exit.void), notCounted("already-settled"))
  })
)

it.effect("of two entries for one token, the end of the first leaves the second to its settlement [P1521]", () =>
  Effect.gen(function* () {
    const token = "two"
    const first = enter(token, decode)
    const second = enter(token, decode)
    close(token, first, "run-over")
    assert.deepStrictEqual<unknown>(yield* settle(token, Exit.succeed(7)), { _tag: "Counted" })
    assert.deepStrictEqual([first.settlement, second.settlement], [undefined, Exit.succeed(7)])
  })
)
