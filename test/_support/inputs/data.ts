/** Adversarial values that are no texts: histories, replies, schemas, and what does not fit. */
import { Result, Schema, type SchemaIssue } from "effect"
import type * as Message from "../../../packages/core/src/data/Message.ts"
import type { Inputs } from "./entry.ts"
import { deepValues, documents, repeated, texts, values } from "./texts.ts"

export { deepValues, documents, texts, values }

export const many = <A>(size: number, each: number, make: (n: number) => A): ReadonlyArray<A> =>
  Array.from({ length: Math.max(1, Math.floor(size / each)) }, (_, n) => make(n))

const call = (id: string, args: Schema.Json = {}) => ({ type: "tool-call", id, name: "look", arguments: args }) as const

/** Histories of foreign origin. */
export const histories: Inputs<ReadonlyArray<Schema.Json>> = {
  "many messages": (size) => many(size, 40, (n) => ({ role: n % 2 === 0 ? "user" : "assistant", content: `a${n}` })),
  "many parts": (size) => [{ role: "user", content: many(size, 30, (n) => ({ type: "text", text: `a${n}` })) }],
  "many calls without results": (size) => [{ role: "assistant", content: many(size, 60, (n) => call(`c${n}`)) }],
  "many results without calls": (size) => many(size, 50, (n) => ({ role: "tool", callId: `c${n}`, text: "a" })),
  "many calls and their results": (size) => [
    { role: "assistant", content: many(size, 120, (n) => call(`c${n}`)) },
    ...many(size, 120, (n) => ({ role: "tool", callId: `c${n}`, text: "a" }))
  ],
  "many calls of one id": (size) => [
    { role: "assistant", content: many(size, 120, () => call("c")) },
    ...many(size, 120, () => ({ role: "tool", callId: "c", text: "a" }))
  ],
  "results far behind their calls": (size) => [
    ...many(size, 160, (n) => ({ role: "assistant", content: [call(`c${n}`)] })),
    ...many(size, 160, (n) => ({ role: "tool", callId: `c${n}`, text: "a" }))
  ],
  "results of one id behind many calls": (size) => [
    ...many(size, 160, () => ({ role: "assistant", content: [call("c")] })),
    ...many(size, 160, () => ({ role: "tool", callId: "c", text: "a" }))
  ],
  "long texts": (size) => [{ role: "user", content: repeated("eyJ-", size) }]
}

export const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 }

export const replyOf = (content: Message.Reply["content"]): Message.Reply => ({ content, finish: "stop", usage })

/** Replies of models. */
export const replies: Inputs<Message.Reply> = {
  "a long text": (size) => replyOf([{ type: "text", text: repeated("eyJ-", size) }]),
  "a long thought": (size) => replyOf([{ type: "reasoning", text: repeated("a. ", size) }]),
  "many texts": (size) => replyOf(many(size, 30, (n) => ({ type: "text", text: `a${n}` }))),
  "many calls": (size) => replyOf(many(size, 60, (n) => call(`c${n}`))),
  "many calls of one id": (size) => replyOf(many(size, 60, () => call("c"))),
  "ids that would be made up": (size) => {
    const half = Math.floor(size / 120)
    return replyOf([...many(half, 1, (n) => call(`c_${half + n}`)), ...many(half, 1, () => call("c"))])
  },
  "long arguments": (size) => replyOf([call("c", repeated('{"a":', size))]),
  "long arguments of quotes": (size) => replyOf([call("c", repeated('\\"', size))]),
  "many arguments": (size) => replyOf([call("c", Object.fromEntries(many(size, 10, (n) => [`k${n}`, n])))]),
  "a long id": (size) => replyOf([call(repeated("a-", size))])
}

/** A run that waits for decisions about so many calls. */
const waiting = (size: number, callOf: (n: number) => string): Schema.JsonObject => {
  const ids = many(size, 100, callOf)
  const none = { tool: "", calls: 0 }
  return {
    version: 4,
    id: "s1",
    runId: "r1",
    agent: "clerk",
    transcript: [],
    turn: 1,
    spent: { turns: 1, toolCalls: 0, millis: 0 },
    limits: { maxTurns: 8, maxToolCalls: 8, maxTokens: 8, maxCost: 8, maxDuration: 8 },
    warned: [],
    ledger: [],
    failures: { failingBatches: 0, isToolsOff: false, withheld: [], streaks: [] },
    callsWithToolsOff: 0,
    outputsRejected: 0,
    sameTool: none,
    unfinished: {
      reply: { content: ids.map((id) => call(id)), finish: "tool-calls", usage },
      admitted: ids.length,
      admittedInARow: ids.length,
      toolsWereOff: false,
      calls: ids.map((callId, index) => {
        const about = { runId: "r1", agent: "clerk", tool: "look", callId, key: `r1/1/${index}`, schema: "s" }
        const request = { ...about, arguments: {}, reason: "asked", digest: `d${index}`, requestedAt: 0, expiresAt: 1 }
        return { type: "decision", request }
      })
    }
  }
}

/** Documents of runs that wait. */
export const documentsOfRuns: Inputs<Schema.Json> = {
  "many calls that wait": (size) => waiting(size, (n) => `c${n}`),
  "many calls of one id that wait": (size) => waiting(size, () => "c")
}

const object = (properties: Schema.JsonObject): Schema.JsonObject => ({ type: "object", properties, required: [] })

/** JSON Schemas, none of which grows when its references are followed. */
export const schemas: Inputs<Schema.JsonObject> = {
  "many properties": (size) => object(Object.fromEntries(many(size, 30, (n) => [`k${n}`, { type: "string" }]))),
  "many choices": (size) => object({ a: { anyOf: many(size, 40, (n) => ({ const: `k${n}` })) } }),
  "many values": (size) => object({ a: { type: "string", enum: many(size, 10, (n) => `k${n}`) } }),
  "many required": (size) => ({ type: "object", properties: {}, required: many(size, 10, (n) => `k${n}`) }),
  "many definitions": (size) => ({
    ...object({ a: { $ref: "#/$defs/k0" } }),
    $defs: Object.fromEntries(many(size, 40, (n) => [`k${n}`, { type: "string" }]))
  }),
  "many references to one": (size) => ({
    ...object(Object.fromEntries(many(size, 40, (n) => [`k${n}`, { $ref: "#/$defs/a" }]))),
    $defs: { a: { type: "string" } }
  }),
  "a long description": (size) => ({ ...object({}), description: repeated("eyJ-", size) }),
  "a long name": (size) => object({ [repeated("a", size)]: { type: "string" } }),
  "a long pattern": (size) => object({ a: { type: "string", pattern: repeated("(a+)", size) } })
}

/** All that an option admits, but for nodes: a schema of the largest input has fewer. */
export const wide = { depth: 512, nodes: 120_000, bytes: Number.MAX_SAFE_INTEGER }

const named = (size: number, each: number, make: (n: number) => Schema.JsonObject): Schema.JsonObject => ({
  ...object({ a: { $ref: "#/$defs/k0" } }),
  $defs: Object.fromEntries(many(size, each, (n) => [`k${n}`, make(n)]))
})

const ref = (n: number) => ({ $ref: `#/$defs/k${n}` })

/** JSON Schemas that grow without end when their references are followed. */
export const bombs: Inputs<Schema.JsonObject> = {
  "each twice the next": (size) => named(size, 80, (n) => object({ a: ref(n + 1), b: ref(n + 1) })),
  "each of all choices": (size) => named(size, 80, (n) => ({ anyOf: [ref(n + 1), ref(n + 2), { type: "string" }] })),
  "each beside the next": (size) => named(size, 60, (n) => ({ allOf: [ref(n + 1), ref(n + 1)] })),
  "a long chain": (size) => named(size, 30, (n) => ref(n + 1)),
  "a circle": (size) => named(size, 40, (n) => object({ a: ref(Math.floor(n / 2)), b: ref(n + 1) }))
}

/** An input, and what is wrong with it. */
export interface Misfit {
  readonly input: Schema.Json
  readonly issue: SchemaIssue.Issue
}

const misfit = (codec: Schema.Codec<unknown, unknown>, input: Schema.Json): Misfit => {
  const decoded = Schema.decodeUnknownResult(codec, { errors: "all" })(input)
  if (Result.isSuccess(decoded)) throw new Error("it fits")
  return { input, issue: decoded.failure.issue }
}

const numbers = Schema.Array(Schema.Finite)
const record = Schema.Record(Schema.String, Schema.Finite)
const choice = Schema.Union([Schema.Finite, Schema.Boolean, Schema.Struct({ a: Schema.Finite })])

export const misfits: Inputs<Misfit> = {
  "many wrong items": (size) =>
    misfit(
      numbers,
      many(size, 6, () => "abc")
    ),
  "many wrong fields": (size) => misfit(record, Object.fromEntries(many(size, 12, (n) => [`k${n}`, "a"]))),
  "a long wrong text": (size) => misfit(Schema.Finite, repeated('"', size)),
  "a long wrong key": (size) => misfit(record, { [repeated("a.", size)]: "a" }),
  "many wrong lists": (size) =>
    misfit(
      Schema.Array(numbers),
      many(size, 12, () => ["a", null])
    ),
  "many wrong choices": (size) =>
    misfit(
      Schema.Array(choice),
      many(size, 8, () => "a")
    )
}

const piecesOfThought = (size: number, idOf: (n: number) => object): ReadonlyArray<Schema.JsonObject> =>
  many(size, 50, (n) => ({ type: "reasoning.text", text: "a", ...idOf(n) }))

/** The parts of a thought in pieces. */
export const detailPieces: Inputs<ReadonlyArray<Schema.JsonObject>> = {
  "many indices": (size) => piecesOfThought(size, (index) => ({ index })),
  "many ids of one index": (size) => piecesOfThought(size, (n) => ({ index: 0, id: `r${n}` })),
  "many types of one index": (size) => piecesOfThought(size, (n) => ({ index: 0, type: `t${n}` })),
  "one part": (size) => piecesOfThought(size, () => ({ index: 0 })),
  "one part without an index": (size) => piecesOfThought(size, () => ({}))
}
