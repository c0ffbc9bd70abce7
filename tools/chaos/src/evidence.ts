/** What the database knows of all runs, after the chaos. */
import { AgentEvent, type Message } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, Effect, Option, Schema, Stream } from "effect"
import * as SqlClient from "effect/sql/SqlClient"
import type { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { durable } from "./desk.ts"

/** A run, as its rows have it. */
export interface Seen {
  /** The id that its client has given to it. */
  readonly run: string
  readonly customer: string
  readonly state: "answered" | "failed" | "stopped" | "waits" | "unfinished"
  /** The code of the failure, if it has failed. */
  readonly code?: string
  /** How many calls of its replies have no settlement, once it is over. */
  readonly unsettled: number
  /** The usage of each attempt in its ledger; without those that are estimates. */
  readonly booked: ReadonlyArray<number>
  /** The events that end it. */
  readonly ends: number
}

/** How long the events of a run may take to be read. Those of one that waits never end. */
const patience = "10 seconds"

const decodePayload = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Struct({ id: Schema.String })))
/** The subject and the run, as `DurableRuns` makes the id of a workflow of them. */
const decodeId = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String])))

interface Row {
  readonly execution: string
  readonly payload: string
}

const rows = SqlClient.SqlClient.use(
  (sql) =>
    sql<Row>`SELECT entity_id AS execution, payload FROM cluster_messages WHERE entity_type = 'Workflow/desk' AND tag = 'run'`
)

/** How many runs neither have ended nor wait for a person. */
export const unfinished = Effect.gen(function* () {
  const states = yield* Effect.forEach(yield* rows, ({ execution }) => stateOf(execution), { concurrency: 8 })
  return states.filter(({ state }) => state === "unfinished").length
})

/** Lets the engine read at once what it has marked as read while the database refused: see docs/guide/durable-reference.md. */
export const unmark = SqlClient.SqlClient.use(
  (sql) => sql`UPDATE cluster_messages SET last_read = NULL WHERE NOT processed`
)

interface State extends Pick<Seen, "state" | "code"> {}

const stateOf = (execution: string) =>
  Effect.gen(function* (): Effect.fn.Return<
    State,
    Exclude<Effect.Error<ReturnType<typeof Durable.poll>>, { _tag: "UnknownRunError" }>,
    WorkflowEngine
  > {
    // a run that has not begun yet is no orphan for good: it counts as unfinished
    const polled = yield* Effect.catchTag(Durable.poll(durable, execution), "UnknownRunError", () => Effect.succeedNone)
    if (Option.isNone(polled)) return { state: "unfinished" } satisfies State
    const { value } = polled
    if (value._tag === "Complete") {
      if (value.exit._tag === "Success") return { state: "answered" } satisfies State
      const { cause } = value.exit
      if (Cause.hasInterruptsOnly(cause)) return { state: "stopped" } satisfies State
      return { state: "failed", code: codeOf(cause) } satisfies State
    }
    const asks = value._tag === "Suspended" && value.waiting.some(({ type }) => type === "approval")
    return { state: asks ? "waits" : "unfinished" } satisfies State
  })

const codeOf = (cause: { readonly reasons: ReadonlyArray<object> }): string =>
  /KINTSUGI-[A-Z-]+/.exec(JSON.stringify(cause.reasons))?.[0] ?? JSON.stringify(cause.reasons).slice(0, 100)

/** The stored events of a run, as far as they go. */
const eventsOf = (execution: string, isOver: boolean) =>
  Effect.gen(function* () {
    const events: Array<AgentEvent.AgentEvent> = []
    const reading = Stream.runForEach(Durable.events(durable, execution), (event) =>
      Effect.sync(() => void events.push(event))
    )
    // events of a run that is over and do not end have no end: the judge says so
    yield* Effect.ignore(Effect.timeout(reading, isOver ? "30 seconds" : patience))
    return events
  })

/** The calls of the replies that are booked: one that an end of a process cut off is retracted, and asked for anew. */
const callsOf = (events: ReadonlyArray<AgentEvent.AgentEvent>, booked: ReadonlyArray<number>): number => {
  let count = 0
  for (const event of events) {
    if (event.type !== "model-end" || event.entry.outcome !== "used") continue
    if (!booked.includes(event.entry.usage.outputTokens)) continue
    count += event.reply.content.filter(({ type }) => type === "tool-call").length
  }
  return count
}

const settlementsIn = (transcript: Message.Transcript): number =>
  transcript.reduce((sum, message) => {
    if (message.role !== "assistant") return sum
    return sum + message.content.filter(({ type }) => type === "settled-call").length
  }, 0)

/** The attempts of a run: those of its last event, or else those of the events that there are. */
const entriesOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) => {
  const last = events.findLast(AgentEvent.isTerminal)
  if (last !== undefined && "ledger" in last) return last.ledger
  return events.flatMap((event) => ("entry" in event ? [event.entry] : []))
}

const seenOf = ({ execution, payload }: Row) =>
  Effect.gen(function* () {
    const [customer, run] = yield* decodeId((yield* decodePayload(payload)).id)
    const { code, state } = yield* stateOf(execution)
    const isOver = state !== "waits" && state !== "unfinished"
    const events = yield* eventsOf(execution, isOver)
    const last = events.findLast(AgentEvent.isTerminal)
    const transcript = last !== undefined && "transcript" in last ? last.transcript : AgentEvent.transcriptOf(events)
    const booked = entriesOf(events)
      .filter(({ isEstimated }) => isEstimated !== true)
      .map(({ usage }) => usage.outputTokens)
    const one: Seen = {
      run,
      customer,
      state,
      ...(code === undefined ? {} : { code }),
      unsettled: isOver ? callsOf(events, booked) - settlementsIn(transcript) : 0,
      booked,
      ends: events.filter(AgentEvent.isTerminal).length
    }
    return one
  })

/** All runs, as they are now. */
export const seen = Effect.flatMap(rows, (all) => Effect.forEach(all, seenOf, { concurrency: 8 }))
