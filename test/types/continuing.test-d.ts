/** What goes on from a text: a table, a run that is resumed, and a model that declares it. */
import { Agent, type AgentEvent, type Model, Recovery } from "@kintsugi/core"
import { Effect, Stream } from "effect"
import { describe, it } from "vitest"
import { type Equal, type Expect, sameType } from "./_support/Identity.ts"

const clerk = Agent.make("clerk", {})
const rows = { orElse: Recovery.retry({ retries: 1 }) }

describe("what goes on from a text", () => {
  it("is said beside a table, and leaves the type as it is [P1560]", () => {
    const plain = clerk.pipe(Agent.onLlmError(rows))
    const goingOn = clerk.pipe(Agent.onLlmError(rows, { onPartial: "continue", continueBy: "message" }))
    type _1 = Expect<Equal<typeof plain, typeof goingOn>>
    // @ts-expect-error there is no such way to go on
    Agent.onLlmError(rows, { onPartial: "resume" })
    // @ts-expect-error nothing else than a message asks for the rest
    Agent.onLlmError(rows, { onPartial: "continue", continueBy: "prompt" })
  })

  it("is said of a run that is resumed [P1563]", () => {
    for (const incomplete of ["keep", "continue", "drop"] as const) Agent.resume(clerk)({ from: [], incomplete })
    // @ts-expect-error an incomplete message is kept, continued or dropped
    Agent.resume(clerk)({ from: [], incomplete: "restart" })
  })

  it("is declared by a model, which need not do so [P1560]", () => {
    type _1 = Expect<Equal<Model.Service["continuation"], "rest" | "whole" | undefined>>
    const service = { name: "m", provider: "p", generate: () => Effect.never, stream: () => Stream.never }
    const models: ReadonlyArray<Model.Service> = [service, { ...service, continuation: "rest" }]
    void models
    // @ts-expect-error a reply is the rest of the message, or the whole of it
    const other: Model.Service = { ...service, continuation: "half" }
    void other
  })

  it("is an event with the text so far [P1561]", () => {
    type Continued = AgentEvent.OfType<"attempt-continued">
    sameType<string>()("" as Continued["kept"])
    type _1 = Expect<
      Equal<Continued["dropped"], ReadonlyArray<{ readonly callId: string; readonly tool: string }> | undefined>
    >
  })
})
