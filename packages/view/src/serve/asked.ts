/** What a person asks for, checked against the agent. */
import type { Approval } from "@kintsugi/core"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { type AnyAgent, definitionOf } from "./inside.ts"
import type { Answer } from "./browser/Wire.ts"

/** Why a request of the page is not carried out, with the status of the answer. */
export class Refused extends Data.TaggedError("Refused")<{
  readonly status: 400 | 404 | 409 | 413
  readonly message: string
}> {}

/** The tag and the message of an error in memory. */
export const worded = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return [Predicate.hasProperty(error, "_tag") ? String(error._tag) : error.name, error.message]
    .filter((text) => text !== "")
    .join(": ")
}

/** An effect that refuses a request. */
export const refuse = (status: Refused["status"], message: string): Effect.Effect<never, Refused> =>
  Effect.suspend(() => new Refused({ status, message }))

/** The input of an agent in its JSON form, decoded. Without a schema it is a text. */
export const inputOf = (agent: AnyAgent, json: unknown): Effect.Effect<unknown, Refused> => {
  const { input } = definitionOf(agent)
  if (input === undefined) return Effect.succeed(typeof json === "string" ? json : JSON.stringify(json))
  return Effect.mapError(
    Schema.decodeUnknownEffect(Schema.toCodecJson(input))(json),
    ({ message }) => new Refused({ status: 400, message: `the input does not fit: ${message}` })
  )
}

/** The decision that a person has made. */
export const decisionOf = (answer: Answer): Approval.Decision => {
  if (answer.type === "refuse") return { type: "refuse", reason: answer.reason }
  return answer.arguments === undefined
    ? { type: "approve" }
    : // cast: the arguments came as JSON
      { type: "approve", arguments: answer.arguments as Schema.Json }
}
