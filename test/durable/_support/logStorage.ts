/** The rows of a log, and the processes that write them. */
import { type AgentEvent, Usage } from "@kintsugi/core"
import { Clock, Effect, Logger, Option, Schema, Scope } from "effect"
import * as Workflow from "effect/workflow/Workflow"
import { type WorkflowEngine, WorkflowInstance } from "effect/workflow/WorkflowEngine"
import { Written } from "../../../packages/durable/src/words.ts"
import { calm } from "../../_support/dialogue.ts"

interface Stored {
  readonly writer: string
  readonly epoch: number
  readonly first: number
  readonly events: ReadonlyArray<{ readonly type: string; readonly text?: string }>
  readonly kind?: string
  readonly unreplayed?: ReadonlyArray<number>
  readonly continuing?: ReadonlyArray<string>
}

/** The rows of a run, and how its storage fails: `before` it writes, or `after` it. */
export const storage = () => {
  const rows = new Map<string, unknown>()
  const state: { fails: "before" | "after" | undefined; writes: number } = { fails: undefined, writes: 0 }
  // an engine with only what the log uses
  const engine = {
    deferredResult: ({ name }: { readonly name: string }) => Effect.sync(() => Option.fromNullishOr(rows.get(name))),
    deferredDone: (_: unknown, { deferredName, exit }: { readonly deferredName: string; readonly exit: unknown }) =>
      Effect.suspend(() => {
        state.writes += 1
        const { fails } = state
        if (fails !== "before" && !rows.has(deferredName)) rows.set(deferredName, exit)
        return fails === undefined ? Effect.void : Effect.die(new Error("storage"))
      })
  } as unknown as WorkflowEngine["Service"]
  const batches = () =>
    [...rows.values()].map((exit) => {
      // the log stores successes, which hold the batch
      const { value } = exit as { readonly value: Stored }
      return JSON.parse(JSON.stringify(value)) as Stored
    })
  return { batches, engine, state }
}

const workflow = Workflow.make("story", {
  payload: Schema.Struct({ id: Schema.String }),
  idempotencyKey: ({ id }) => id
})

export const processOf = ({ engine }: ReturnType<typeof storage>, incarnation = "me") =>
  Effect.map(Clock.Clock, (clock) => ({
    engine,
    direct: engine,
    executionId: "run",
    instance: WorkflowInstance.initial(workflow, "run"),
    clock,
    scope: Scope.makeUnsafe(),
    incarnation,
    words: new Written(),
    stopping: { isSo: false }
  }))

export const event = (type: string, parts: object = {}): AgentEvent.AgentEvent =>
  // the fields of the type are in the parts
  ({ type, runId: "r", agent: "a", turn: 1, at: 0, ...parts }) as unknown as AgentEvent.AgentEvent
export const turn = event("turn-start")
export const start = event("model-start", { model: "m", provider: "p", attempt: 1 })
export const text = (text: string) => event("text-delta", { text })
export const end = event("run-interrupted", { usage: Usage.empty, cost: 0, ledger: [], transcript: [] })

export const quiet = Effect.forEach([1, 2, 3, 4, 5, 6], () => calm, { discard: true })
export const shown = (batches: ReadonlyArray<Stored>) =>
  batches.map(({ events }) => events.map(({ text, type }) => (text === undefined ? type : `${type} ${text}`)))
export const silent = Effect.provide(Logger.layer([]))
