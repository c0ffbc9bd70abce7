/** The requests and answers of the endpoints. */
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { AgentEvent, Approval, Message, Snapshot, Usage } from "@kintsugi/core"

/** The id of a run: chosen by the client, or drawn by the server. It is one among the runs of its subject. */
export const RunId = Schema.String.check(Schema.isPattern(/^[\w.:-]{1,100}$/))

/** The run is over: its answer. */
export const answered = <Output extends Schema.Top>(output: Output) =>
  Schema.Struct({ _tag: Schema.tag("Answered"), run: RunId, output, usage: Schema.optionalKey(Usage.Usage) })

const ofWaiting = { _tag: Schema.tag("Waiting"), run: RunId, waiting: Schema.Array(Snapshot.Waiting) }

/** The run waits: for a decision about each `request`, by its `digest`, or for the result of a deferred call. */
export const Waiting = Schema.Struct(ofWaiting)

/** The run has neither ended, nor does it wait. */
export const AtWork = Schema.Struct({ _tag: Schema.tag("AtWork"), run: RunId })

export const accepted = HttpApiSchema.status("Accepted")

/** Where a run has ended or waits. */
export type Ending<Output> =
  | { readonly _tag: "Answered"; readonly run: string; readonly output: Output; readonly usage?: Usage.Usage }
  | typeof Waiting.Type

/** The fields of a request that starts a run. */
export const startFields = <Input extends Schema.Top>(input: Input) => ({
  input,
  /** Without an id the server draws one. The same request with the same id reads the run that it has started before. */
  run: Schema.optionalKey(RunId)
})

/** A run waits for as many decisions as its last reply has calls; each costs a look into the storage. */
const mostDecisions = 100

export const decideFields = {
  decisions: Schema.NonEmptyArray(Approval.Decided).check(Schema.isMaxLength(mostDecisions))
}

/** Words that are more than blank. */
export const Text = Schema.NonEmptyString.check(Schema.isPattern(/\S/))

export const sayFields = {
  message: Schema.Union([Text, Message.UserContent]),
  /** The id of the message: a message with the same id is read once. */
  id: Schema.optionalKey(RunId),
  /** Withdraws what the run waits for: those calls are not run, and the run goes on. */
  supersede: Schema.optionalKey(Schema.Boolean)
}

/** The event of a run that waits, without its snapshot: that has tokens and withheld texts, and stays on the server. */
const Suspended = Schema.Struct({
  type: Schema.tag("run-suspended"),
  runId: Schema.String,
  agent: Schema.String,
  turn: Schema.Finite,
  at: Schema.Finite,
  parent: Schema.optionalKey(Schema.Struct({ runId: Schema.String, callId: Schema.optionalKey(Schema.String) })),
  usage: Usage.Usage,
  cursor: Schema.optionalKey(Schema.String),
  waiting: Schema.Array(Snapshot.Waiting)
})

/** An event of a run for its clients: an `AgentEvent`, except that `run-suspended` has what the run waits for instead of its snapshot. */
export type ProxyEvent = Exclude<AgentEvent.AgentEvent, { readonly type: "run-suspended" }> | typeof Suspended.Type

/** Its schema. */
export const ProxyEvent: Schema.Codec<ProxyEvent, Schema.Json> = Schema.Union([
  Schema.toCodecJson(Suspended),
  AgentEvent.AgentEvent
]) as never // cast: the first member takes each `run-suspended`

/** What a run waits for, without the tokens of deferred calls: who has one can settle the call. */
export const shown = (waiting: ReadonlyArray<Snapshot.Waiting>): ReadonlyArray<Snapshot.Waiting> =>
  waiting.map((one) => {
    if (one.type !== "deferred") return one
    const { agent, callId, expiresAt, handle, runId, tool, type } = one
    return { type, runId, agent, callId, tool, expiresAt, handle }
  })

export const forClients = (event: AgentEvent.AgentEvent): ProxyEvent => {
  if (event.type !== "run-suspended") return event
  const { agent, at, cursor, parent, runId, snapshot, turn, type, usage } = event
  const optional = { ...(cursor === undefined ? {} : { cursor }), ...(parent === undefined ? {} : { parent }) }
  return { type, runId, agent, turn, at, usage, waiting: shown(Snapshot.waitingOf(snapshot)), ...optional }
}

/** An event as a server-sent event: its cursor is the `id`, so that `EventSource` sends it when it comes back. */
export const Sent = Schema.Struct({
  id: Schema.optional(Schema.String),
  event: Schema.String,
  data: Schema.fromJsonString(ProxyEvent)
})

/** A defect of the server, for clients of procedures: without its message, its cause and its stack. */
export const Defect = Schema.Unknown.pipe(
  Schema.encodeTo(Schema.String, {
    decode: SchemaGetter.transform((text) => new Error(text)),
    encode: SchemaGetter.transform(() => "The server has failed")
  })
)
