/** The JSON key counter: an agent that counts keys, and two fixers for the calls that fail. */
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

const parseKeys = (json: string): Effect.Effect<number, NoKeys> =>
  Effect.try({
    try: (): unknown => JSON.parse(json),
    catch: (error) => new NoKeys({ json, problem: error instanceof Error ? error.message : "this is no JSON" })
  }).pipe(
    Effect.filterOrFail(Predicate.isObject, () => new NoKeys({ json, problem: "this is JSON, but not an object" })),
    Effect.map((object) => Object.keys(object).length)
  )

const countKeys = Tool.make("calculateNumberOfKeys", {
  description: "Count the top-level keys of a JSON object.",
  parameters: Schema.Struct({ json: Schema.String.annotate({ description: "The JSON object, as text" }) }),
  success: Schema.Number,
  failure: NoKeys,
  run: ({ json }) => parseKeys(json)
})

/** Outlasts what the transport could not heal. */
const steady = {
  ModelOverloadedError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis" }),
  RateLimitError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis", maxHint: "5 seconds" }),
  ServerError: Recovery.retry({ maxAttempts: 3, initialBackoff: "300 millis" }),
  NetworkError: Recovery.retry({ maxAttempts: 2, initialBackoff: "300 millis" }),
  UnknownLlmError: Recovery.retry({ maxAttempts: 2, initialBackoff: "300 millis" })
}

/** A fixer that a model drives. It answers with `escalate`, which the analyst reads, or ends everything. */
const fixer = Agent.make("json-fixer", {
  prompt:
    "You receive a tool call that failed. Call escalate with a reason that contains the corrected JSON. " +
    "If there is nothing to correct, as in binary garbage, call throwException.",
  budget: { maxTurns: 3 },
  tools: [Tool.escalate, Tool.throwException]
}).pipe(Agent.onLlmError(steady, { onPartial: "restart" }))

/** A fixer that is a plain function: it costs no model call. */
const cleanup = Agent.deterministic("json-cleanup", (raw: string) =>
  Effect.succeed(raw.replaceAll(",}", "}").replaceAll(",]", "]"))
)

const counted = countKeys.pipe(
  Tool.onError({
    InvalidArgs: Recovery.fix(cleanup),
    NoKeys: Recovery.fix(fixer, { retries: 2 })
  })
)

export const analyst = Agent.make("json-analyst", {
  prompt:
    "Use the calculateNumberOfKeys tool to count the keys of JSON objects. " +
    "If it returns an ERROR, read it: it contains corrected JSON. Retry with that. Reply with ONLY the number.",
  budget: { maxTurns: 10 },
  tools: [counted]
}).pipe(Agent.onLlmError(steady, { onPartial: "restart" }))
