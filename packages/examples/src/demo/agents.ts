/** The agent of the demo: it counts the keys of JSON objects. Each row of its tool recovers from one failure. */
import { Agent, Recovery, Tool } from "@kintsugi/core"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

/** The text is no JSON object, so it has no keys. */
export class NoKeys extends Schema.TaggedError<NoKeys>()("NoKeys", { json: Schema.String, problem: Schema.String }) {
  override get message(): string {
    return `no keys to count: ${this.problem}`
  }
}

/** The object has no object under the key. */
class NoSuchKey extends Schema.TaggedError<NoSuchKey>()("NoSuchKey", { message: Schema.String }) {}

const readObject = (json: string): Effect.Effect<object, NoKeys> =>
  Effect.try({
    try: (): unknown => JSON.parse(json),
    catch: (error) => new NoKeys({ json, problem: error instanceof Error ? error.message : "this is no JSON" })
  }).pipe(
    Effect.filterOrFail(Predicate.isObject, () => new NoKeys({ json, problem: "this is JSON, but not an object" }))
  )

const objectUnder = (object: object, key: string): Effect.Effect<object, NoSuchKey> => {
  const entries = Object.entries(object).filter((entry): entry is [string, object] => Predicate.isObject(entry[1]))
  const found = entries.find(([name]) => name === key)
  if (found !== undefined) return Effect.succeed(found[1])
  const similar = entries.find(([name]) => name.startsWith(key.slice(0, 2)))
  const hint = similar === undefined ? "" : ` Did you mean '${similar[0]}'?`
  return Effect.fail(new NoSuchKey({ message: `there is no object under '${key}'.${hint}` }))
}

const count = (object: object, depth: number): number =>
  Object.values(object).reduce(
    (sum: number, value) => sum + (depth > 1 && Predicate.isObject(value) ? count(value, depth - 1) : 0),
    Object.keys(object).length
  )

const countKeys = Tool.make("calculateNumberOfKeys", {
  description: "Count the keys of a JSON object.",
  parameters: Schema.Struct({
    json: Schema.String.annotate({ description: "The JSON object, as text" }),
    under: Schema.optionalKey(Schema.String.annotate({ description: "Count in the object under this key" })),
    depth: Schema.optionalKey(
      Schema.Int.annotate({ description: "How many levels of objects to count; one if absent" })
    )
  }),
  success: Schema.Number,
  failure: Schema.Union([NoKeys, NoSuchKey]),
  run: ({ depth = 1, json, under }) =>
    readObject(json).pipe(
      Effect.flatMap((object) => (under === undefined ? Effect.succeed(object) : objectUnder(object, under))),
      Effect.map((object) => count(object, depth))
    )
})

/** Outlasts what the transport could not heal. */
const steady = {
  ModelOverloadedError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis" }),
  RateLimitError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis", maxHint: "5 seconds" }),
  ServerError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis" }),
  NetworkError: Recovery.retry({ maxAttempts: 2, initialBackoff: "300 millis" }),
  UnknownLlmError: Recovery.retry({ maxAttempts: 2, initialBackoff: "300 millis" })
}

/** A fixer that a model drives: its answer becomes the new arguments of the call. */
const fixer = Agent.make("json-fixer", {
  prompt:
    "You receive a tool call that failed. Answer with its arguments, the broken JSON in them corrected. " +
    "If there is nothing to correct, as in binary garbage, call throwException.",
  budget: { maxTurns: 3 },
  tools: [Tool.throwException]
}).pipe(Agent.onLlmError(steady, { onPartial: "restart" }))

const counted = countKeys.pipe(
  Tool.onError({
    NoKeys: Recovery.fix(fixer, { retries: 2 }),
    NoSuchKey: Recovery.tell(({ message }) => `${message} Correct the call.`),
    InvalidArgs: Recovery.tell()
  })
)

export const analyst = Agent.make("json-analyst", {
  prompt:
    "Use the calculateNumberOfKeys tool to count the keys of JSON objects. " +
    "If it returns an ERROR, read it, correct your call and call again. Reply with ONLY the number.",
  budget: { maxTurns: 10 },
  tools: [counted]
}).pipe(Agent.onLlmError(steady, { onPartial: "restart" }))
