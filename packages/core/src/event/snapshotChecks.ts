/** What a document has to be besides its shape, for a run to go on from it: nothing in it may take a bound away. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type * as Approval from "../data/Approval.ts"
import * as Budget from "../budget/Budget.ts"
import * as FailureHistory from "../budget/FailureHistory.ts"
import * as Ledger from "../budget/Ledger.ts"
import * as Message from "../data/Message.ts"
import { type Shared, shared } from "../budget/Meter.ts"
import { digestOfRequest } from "../data/Digest.ts"
import { Position } from "../recovery/Position.ts"

/** A whole number of at least 0. */
export const Count = Schema.Finite.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))

/** A number of at least 0. */
export const Amount = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))

/** A number above 0, or none at all. What a budget takes for a limit is looked at besides. */
export const Limit = Schema.Number.check(Schema.isGreaterThan(0))

/** A position that allows no more than it says. */
export const Place = Schema.Struct({
  ...Position.fields,
  attempts: Count,
  rounds: Count,
  slots: Schema.Array(
    Schema.Struct({ ...Position.fields.slots.value.fields, rungs: Schema.Array(Count), count: Count })
  )
})

/** Failures that were counted. */
export const Failures = Schema.Struct({
  ...FailureHistory.Failures.fields,
  failingBatches: Count,
  streaks: Schema.Array(
    Schema.Struct({
      tool: Schema.String,
      failures: Count,
      repeats: Count,
      signature: Schema.optionalKey(Schema.String)
    })
  )
})

/** An entry that takes nothing off the bill. */
export const Entry = Schema.Struct({
  ...Ledger.Entry.fields,
  usage: Schema.Struct({
    inputTokens: Amount,
    outputTokens: Amount,
    cachedInputTokens: Amount,
    cacheWriteTokens: Amount,
    reasoningTokens: Amount
  }),
  cost: Schema.optionalKey(Amount)
})

interface Open {
  readonly reply: Message.Reply
  readonly settlements: ReadonlyArray<Message.Settlement | null>
  readonly settled: ReadonlyArray<unknown>
  readonly requests: ReadonlyArray<Approval.Request>
  readonly nested?: ReadonlyArray<{ readonly key: string; readonly snapshot: Waiting }>
}

interface Waiting {
  readonly runId: string
  readonly turn: number
  readonly limits: Readonly<Record<Shared, number>>
  readonly open?: Open
}

interface OpenCall {
  readonly runId: string
  readonly call: Message.ToolCall
}

/** The calls that are open, here and in sub-agents, by the keys of their requests. */
const openCalls = ({ open, runId, turn }: Waiting): ReadonlyMap<string, OpenCall> => {
  if (open === undefined) return new Map()
  const below = (open.nested ?? []).flatMap(({ snapshot }) => Array.from(openCalls(snapshot)))
  const own = Message.callsOf(open.reply).map((call, index) => [`${runId}/${turn}/${index}`, { runId, call }] as const)
  return new Map([...below, ...own.filter((_, index) => open.settlements[index] === null)])
}

/** Whether a request says of its call what was shown when its digest was made. Older ones, without a schema, are asked again. */
const isIntact = (request: Approval.Request, found: OpenCall | undefined): Effect.Effect<boolean> => {
  if (found === undefined) return Effect.succeed(false)
  const { call, runId } = found
  if (request.runId !== runId || request.callId !== call.id || request.tool !== call.name) return Effect.succeed(false)
  if (request.schema === undefined) return Effect.succeed(true)
  return Effect.map(digestOfRequest(request, call.arguments), (digest) => digest === request.digest)
}

type Path = ReadonlyArray<PropertyKey>

/** Fails where a document does not fit together: its limits are such as budgets have, each call has its place, and each request is what was shown about an open call. */
export const whole = (waiting: Waiting, path: Path = []): Effect.Effect<void, Schema.SchemaError> => {
  const { limits, open } = waiting
  const odd = shared.find((name) => !Budget.isLimit(name, limits[name]))
  if (odd !== undefined) return misfit([...path, "limits", odd], "Expected a limit that a budget takes")
  if (open === undefined) return Effect.void
  const { nested = [], reply, requests, settled, settlements } = open
  const calls = Message.callsOf(reply)
  const at = (...below: Path) => [...path, "open", ...below]
  if (calls.length === 0) return misfit(at("reply"), "Expected a reply with calls")
  if (settlements.length !== calls.length) return misfit(at("settlements"), `Expected ${calls.length} of them`)
  if (settled.length !== calls.length) return misfit(at("settled"), `Expected ${calls.length} of them`)
  const those = openCalls(waiting)
  return Effect.gen(function* () {
    for (const [index, request] of requests.entries()) {
      const what = "Expected a request as it was shown, about a call that is open as it was made"
      if (!(yield* isIntact(request, those.get(request.key)))) return yield* misfit(at("requests", index), what)
    }
    for (const [index, { key, snapshot }] of nested.entries()) {
      if (those.get(key)?.runId !== waiting.runId)
        return yield* misfit(at("nested", index), "Expected a call that is open")
      yield* whole(snapshot, at("nested", index, "snapshot"))
    }
  })
}

const misfit = (path: Path, message: string): Effect.Effect<never, Schema.SchemaError> =>
  Effect.fail(new Schema.SchemaError(new SchemaIssue.Pointer(path, new SchemaIssue.InvalidValue({ message }))))

export const tooDeep = misfit([], "Expected a document that is not nested so deeply")

export const withoutId = misfit(["id"], "Expected an id")
