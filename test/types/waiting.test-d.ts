import { type Agent, Snapshot } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import type { Effect } from "effect"
import type { Equal, Expect } from "./_support/Identity.ts"

declare const run: Agent.Run<string, never>
declare const snapshot: Snapshot.Snapshot
declare const durable: Parameters<typeof Durable.poll>[0]

// the handle of a run tells without needs, and never fails
export type _Run = Expect<Equal<typeof run.waiting, Effect.Effect<ReadonlyArray<Snapshot.Waiting>>>>

// what is read of a snapshot is what waits, and the tokens besides
const stored = Snapshot.waitingOf(snapshot)
export const waiting: ReadonlyArray<Snapshot.Waiting> = stored
export const tokens = stored.flatMap((one) => (one.type === "deferred" ? one.token : []))

export const read = (one: Snapshot.Waiting): unknown => {
  switch (one.type) {
    case "approval":
    case "ask":
      return [one.request.digest, one.expiresAt]
    case "deferred":
      // @ts-expect-error - the token is in snapshots alone
      return [one.handle, one.token]
    case "message":
      // @ts-expect-error - a message has no deadline
      return [one.message, one.expiresAt]
  }
}

export const polled = Durable.poll(durable, "1")
type Found = Effect.Success<typeof polled>
type Suspended = Extract<Extract<Found, { readonly _tag: "Some" }>["value"], { readonly _tag: "Suspended" }>
export type _Poll = Expect<Equal<Suspended["waiting"], ReadonlyArray<Snapshot.Waiting>>>
