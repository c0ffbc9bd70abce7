/** `Recovery.onError(effect, table)` leaves what the piped form leaves. */
import { Recovery } from "@kintsugi/core"
import { Effect } from "effect"
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
