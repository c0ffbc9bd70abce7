/** What waits, as a handle, a snapshot and `Durable.poll` give it. */
import { type Agent, Snapshot } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import type { Effect } from "effect"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

declare const run: Agent.Run<string, never>
declare const snapshot: Snapshot.Snapshot
declare const durable: Parameters<typeof Durable.poll>[0]
declare const one: Snapshot.Waiting

describe("what waits", () => {
  it("is told by a handle without needs and without failures", () => {
    sameType<Effect.Effect<ReadonlyArray<Snapshot.Waiting>>>()(run.waiting)
  })

  it("has the tokens of deferred calls in snapshots alone", () => {
    const stored = Snapshot.waitingOf(snapshot)
    const waiting: ReadonlyArray<Snapshot.Waiting> = stored
    const tokens: ReadonlyArray<string> = stored.flatMap((found) => (found.type === "deferred" ? found.token : []))
    // @ts-expect-error - the token is in snapshots alone
    const secret = one.type === "deferred" ? one.token : ""
    return [waiting, tokens, secret]
  })

  it("has a deadline, except a message", () => {
    if (one.type !== "message") return sameType<number>()(one.expiresAt)
    // @ts-expect-error - a message has no deadline
    return one.expiresAt
  })

  it("is in the suspended state of a durable run", () => {
    const polled = Durable.poll(durable, "1")
    type Found = Extract<Effect.Success<typeof polled>, { readonly _tag: "Some" }>["value"]
    type Suspended = Extract<Found, { readonly _tag: "Suspended" }>
    sameType<ReadonlyArray<Snapshot.Waiting>>()(undefined as unknown as Suspended["waiting"])
  })
})
