/** A deferred tool, and what was called of it. */
import { Agent, type Recovery, Skill, Tool } from "@kintsugi/core"
import { Clock, type Duration, Effect, Schema } from "effect"

export class Declined extends Schema.TaggedError<Declined>()("Declined", { why: Schema.String }) {}

export interface Begun {
  readonly at: number
  readonly n: number | undefined
  readonly token: string
  readonly key: string
  readonly attempt: number
}

type Started = (begun: Begun) => Effect.Effect<{ readonly job: number }, Declined>

/** The n-th start gives the handle `{ job: n }`. */
export const deferring = <
  const S extends Recovery.SideEffects = "undeclared",
  const W extends "suspend" | "continue" = "suspend"
>({
  atEnd,
  cancel = () => Effect.void,
  deadline = "1 hour",
  name = "order",
  sideEffects,
  start,
  wait
}: {
  readonly name?: string
  readonly sideEffects?: S
  readonly deadline?: Duration.Input
  readonly cancel?: (job: number) => Effect.Effect<void, string>
  readonly start?: Started
  readonly wait?: W
  readonly atEnd?: "wait" | "detach"
} = {}) => {
  const begun: Array<Begun> = []
  const cancelled: Array<number> = []
  const tool = Tool.deferred(name, {
    description: "Orders.",
    parameters: Schema.Struct({ n: Schema.optionalKey(Schema.Finite) }),
    success: Schema.Struct({ at: Schema.Finite }),
    failure: Declined,
    ...(sideEffects === undefined ? {} : { sideEffects }),
    start: ({ n }, { attempt, idempotencyKey: key, token }) =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        const one = { at, n, token, key, attempt }
        const job = begun.push(one)
        return start?.(one) ?? Effect.succeed({ job })
      }),
    wait: (wait ?? "suspend") as W,
    // only tests of tools whose run goes on give it
    ...((atEnd === undefined ? {} : { atEnd }) as object),
    deadline,
    cancel: ({ job }) => Effect.suspend(() => (cancelled.push(job), cancel(job)))
  })
  const tokenOf = (index = 0): string => begun[index]?.token ?? "none"
  return { tool, begun, cancelled, tokenOf }
}

/** An agent with these tools, that has a day. */
export const agentWith = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  Agent.make("worker", {
    budget: { maxDuration: "1 day" },
    skills: [Skill.make("work", { description: "Works.", tools })]
  })
