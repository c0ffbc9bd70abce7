/** Properties of calls, histories and documents with any content. */
import * as assert from "node:assert/strict"
import { AgentEvent, Coercion, Message, Snapshot } from "@kintsugi/core"
import * as DoorError from "@kintsugi/core/DoorError"
import * as Issue from "@kintsugi/core/Issue"
import * as RetryAfter from "@kintsugi/core/RetryAfter"
import { Effect, Exit, Result, Schema } from "effect"
import { checkSending, checkWait } from "./codecs.ts"
import { checkOrigins } from "./origins.ts"

type Json = Schema.Json

const { Array: List, Finite, Struct, optionalKey, String: Text, Union } = Schema

/** Schemas of tools, each with something that steps of the ladder look at. */
const schemas: ReadonlyArray<Schema.Codec<unknown, unknown>> = [
  Struct({
    to: Text,
    seats: optionalKey(Finite),
    meals: optionalKey(List(Text)),
    guest: optionalKey(Struct({ name: Text, age: optionalKey(Finite) }))
  }),
  Struct({
    items: List(Struct({ id: Schema.Int, tags: Schema.Record(Text, Schema.NullOr(Text)) })),
    flag: Schema.Boolean
  }),
  Union([
    Struct({ kind: Schema.Literal("number"), of: Finite }),
    Struct({ kind: Schema.Literal("text"), of: Text, more: optionalKey(Schema.Json) })
  ]),
  Struct({ at: Schema.DurationFromMillis, n: Schema.FiniteFromString, deep: optionalKey(List(List(Finite))) }),
  Schema.Record(Text, Schema.Unknown)
]

const strict = { errors: "all", onExcessProperty: "error" } as const

const decoders = schemas.map((schema) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema), strict)
  return (value: unknown) => Result.mapError(decode(value), ({ issue }) => issue)
})

/** Whether a value is nested more deeply than JSON can be written down from anywhere. */
const isDeep = (value: unknown, levels = 1000): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((item) => isDeep(item, levels - 1)))

/** Total; what is JSON passes as it is, and what is mended stays as it is from then on. */
export const checkCoercion = (text: string): void => {
  const plain = Result.try(() => JSON.parse(text) as Json)
  for (const shape of ["object", "list"] as const) {
    const read = Coercion.parse(text, Coercion.steps, shape)
    if (Result.isFailure(read)) {
      assert.ok(Result.isFailure(plain), "JSON was not read")
      assert.equal(typeof read.failure, "string")
      continue
    }
    const { changes, value } = read.success
    // the gate before the ladder refuses it
    if (isDeep(value)) continue
    if (Result.isSuccess(plain)) {
      assert.deepEqual(value, plain.success)
      assert.deepEqual(changes, [])
    } else {
      assert.ok(shape === "list" ? Array.isArray(value) : typeof value === "object" && value !== null)
      assert.notEqual(changes.length, 0)
    }
    assert.deepEqual(JSON.parse(read.success.text ?? ""), value)
    if (shape === "object") for (const decode of decoders) checkDecoding(read.success, decode)
  }
}

const checkDecoding = (read: Parameters<typeof Coercion.decode>[0], decode: (typeof decoders)[number]): void => {
  let tries = 0
  const result = Coercion.decode(read, (value) => (tries++, decode(value)))
  assert.ok(tries <= 40, `decoded ${tries} times`)
  const plain = decode(read.value)
  if (Result.isFailure(result)) {
    assert.ok(Result.isFailure(plain), "what decodes was refused")
    assert.equal(String(result.failure), String(plain.failure))
    for (const { expected, path } of Issue.fromSchema(result.failure, read.value)) {
      assert.ok(Array.isArray(path) && typeof expected === "string")
    }
    return
  }
  const { changes, decoded, value } = result.success
  if (Result.isSuccess(plain)) assert.equal(value, read.value)
  else assert.ok(changes.length > read.changes.length, "mended without a change")
  const repeated = Coercion.decode({ value, changes: [] }, decode)
  assert.ok(Result.isSuccess(repeated), "the result does not decode")
  assert.equal(repeated.success.value, value)
  assert.deepEqual(repeated.success.changes, [])
  assert.deepEqual(repeated.success.decoded, decoded)
}

// --- histories

/** What stands for values that JSON cannot hold. */
const strange: Readonly<Record<string, () => unknown>> = {
  $undefined: () => undefined,
  $function: () => () => "text",
  $symbol: () => Symbol("s"),
  $bigint: () => 10n,
  $nan: () => Number.NaN,
  $date: () => new Date(Number.NaN),
  $bytes: () => new Uint8Array(2),
  $map: () => new Map([["role", "user"]]),
  $sparse: () => Array.from({ length: 3 }).fill("text", 2).toSpliced(0, 0),
  $getter: () => ({
    get role(): string {
      throw new Error("no")
    },
    type: "text"
  }),
  $proxy: () =>
    new Proxy(
      {},
      {
        get: () => {
          throw new Error("no")
        }
      }
    ),
  $deep: () => Array.from({ length: 20_000 }).reduce<unknown>((inner) => [inner], 1),
  $circle: () => {
    const circle: Record<string, unknown> = { type: "text", role: "assistant" }
    circle["content"] = circle
    return circle
  }
}

export const strangers: ReadonlyArray<string> = Object.keys(strange)

const revived = (_: string, value: unknown): unknown =>
  typeof value === "string" && Object.hasOwn(strange, value) ? strange[value]?.() : value

const encodeTranscript = Schema.encodeSync(Schema.toCodecJson(Message.Transcript))
const isTranscript = Schema.is(Message.Transcript)
const isAssistant = Schema.is(Message.Assistant)
const isPair = (part: unknown): boolean => {
  const message: unknown = { role: "assistant", content: [part] }
  return isAssistant(message) && message.content[0]?.type === "settled-call"
}

/** Calls that stand with their settlements, from the first to the last. */
const pairsIn = (messages: ReadonlyArray<unknown>): ReadonlyArray<Message.SettledCall> =>
  messages.flatMap((message) => {
    const { content, role } = fields(message)
    return role === "assistant" && Array.isArray(content) ? content.filter((part) => quietly(() => isPair(part))) : []
  })

const quietly = (look: () => boolean): boolean => {
  try {
    return look()
  } catch {
    return false
  }
}

const fields = (value: unknown): Readonly<Record<string, unknown>> => {
  try {
    return typeof value === "object" && value !== null
      ? { role: Reflect.get(value, "role"), content: Reflect.get(value, "content") }
      : {}
  } catch {
    return {}
  }
}

/** Total and idempotent; no pair of a call and its settlement is lost, and none stands in another place. */
export const checkRepair = (history: Json): void => {
  const foreign: unknown = isDeep(history) ? history : JSON.parse(JSON.stringify(history), revived)
  const repaired = Message.repair(foreign)
  assert.ok(isTranscript(repaired), "no transcript")
  assert.deepEqual(Message.repair(repaired), repaired)
  if (!isDeep(history)) checkSending(repaired)
  const written = JSON.stringify(encodeTranscript(repaired))
  assert.equal(JSON.stringify(encodeTranscript(Message.repair(JSON.parse(written)))), written)
  checkOrigins(repaired)
  if (!Array.isArray(foreign)) return
  const pairs = pairsIn(repaired)
  let next = 0
  for (const pair of pairsIn(foreign)) {
    if (isDeep(pair)) continue
    while (next < pairs.length && !isSame(pairs[next], pair)) next++
    assert.ok(next < pairs.length, `a pair was lost: ${JSON.stringify(pair)}`)
    next++
  }
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

// --- documents

const decodeEvent = Schema.decodeUnknownExit(AgentEvent.AgentEvent)
const encodeEvent = Schema.encodeSync(AgentEvent.AgentEvent)

/** Only typed failures; what is read is written, and read again as the same. */
export const checkEvent = (document: Json): void => {
  const exit = decodeEvent(document)
  if (Exit.isFailure(exit)) return checkFailure(exit)
  if (isDeep(document)) return
  const written = JSON.stringify(encodeEvent(exit.value))
  const repeated = decodeEvent(JSON.parse(written))
  assert.ok(Exit.isSuccess(repeated), "what was written is not read")
  assert.equal(JSON.stringify(encodeEvent(repeated.value)), written)
}

const checkFailure = (exit: Exit.Failure<unknown, unknown>): void => {
  const reasons = exit.cause.reasons
  assert.ok(
    reasons.length === 1 && reasons[0]?._tag === "Fail" && isExpected(reasons[0].error),
    `not one failure with the place: ${String(exit.cause)}`
  )
  assert.equal(typeof reasons[0].error.message, "string")
}

/** A document is no document, or its signature is not what it should be. */
const isExpected = (error: unknown): error is Schema.SchemaError | DoorError.DoorError =>
  Schema.isSchemaError(error) || Schema.is(DoorError.DoorError)(error)

const fromJson = (document: unknown): Exit.Exit<Snapshot.Snapshot, Schema.SchemaError | DoorError.DoorError> =>
  Effect.runSyncExit(Snapshot.fromJson(document))

export const checkSnapshot = (document: Json): void => {
  const exit = fromJson(document)
  if (Exit.isFailure(exit)) return checkFailure(exit)
  const written = JSON.stringify(Snapshot.toJson(exit.value))
  const repeated = fromJson(JSON.parse(written))
  assert.ok(Exit.isSuccess(repeated), "what was written is not read")
  assert.equal(JSON.stringify(Snapshot.toJson(repeated.value)), written)
  for (const request of Snapshot.requestsOf(exit.value)) assert.ok(Number.isFinite(request.expiresAt))
}

export const checkRetryAfter = (header: string, now: number): void => {
  const wait = RetryAfter.parse(header, now)
  if (wait !== undefined) checkWait(wait)
  const date = RetryAfter.httpDate(header)
  assert.ok(date === undefined || Number.isFinite(date), `an instant of ${date}`)
}
