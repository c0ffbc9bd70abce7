/** What may be said to a run, and how that fails. */
import type { Agent, Message, Snapshot } from "@kintsugi/core"
import { Agent as Agents } from "@kintsugi/core"
import type * as DoorError from "@kintsugi/core/DoorError"
import { Durable } from "@kintsugi/durable"
import { type Effect, Schema } from "effect"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { describe, it } from "vitest"
import { sameType } from "./_support/Identity.ts"

declare const run: Agent.Run<string, never>
declare const snapshot: Snapshot.Snapshot

describe("run.say", () => {
  it("returns the id of the message, and fails in two ways [P1580]", () => {
    type Saying = Effect.Effect<string, DoorError.RunOverError | DoorError.InboxFullError>
    sameType<Saying>()(run.say("hello"))
    sameType<Saying>()(run.say([{ type: "text", text: "hello" }], { interrupt: "tools", supersede: true, to: "run-1" }))
    // @ts-expect-error a message is a text, or parts of one
    run.say({ role: "user", content: [] })
    // @ts-expect-error a message interrupts the model, or tools too
    run.say("hello", { interrupt: "model" })
    // @ts-expect-error a message is no decision
    run.say("hello", { decision: { type: "approve" } })
  })

  it("what was not read is in each outcome [P1582]", () => {
    type Unread = ReadonlyArray<Message.SaidMessage> | undefined
    sameType<Unread>()({} as Agent.Outcome<string>["unread"])
  })
})

describe("a run that goes on", () => {
  it("takes messages beside decisions and input [P1585]", () => {
    const resuming = Agents.resume(Agents.make("worker", {}))
    resuming.start({ from: snapshot, input: "more", decisions: [], say: "and this" })
    resuming.start({ from: snapshot, say: [{ message: "and this", supersede: true }] })
    resuming.start({ from: snapshot, say: { message: "and this", supersede: true } })
    // @ts-expect-error a run that goes on reads no message before its first safe point: nothing is interrupted
    resuming.start({ from: snapshot, say: [{ message: "and this", interrupt: true }] })
  })
})

describe("Durable.say", () => {
  it("names the run and the message, and fails as what asks about a run [P1586]", () => {
    const durable = Durable.workflow(Agents.make("worker", {}), {
      name: "worker",
      input: Schema.String,
      output: Schema.String,
      inbox: true
    })
    type Saying = Effect.Effect<
      void,
      Durable.UnknownRunError | DoorError.RunLostError | DoorError.RunOverError | DoorError.InboxFullError,
      WorkflowEngine
    >
    sameType<Saying>()(Durable.say(durable, { executionId: "e", id: "m", message: "hello" }))
    // @ts-expect-error without an id a message that is said twice would be read twice
    Durable.say(durable, { executionId: "e", message: "hello" })
  })
})
