/** The output of an agent with a schema: what the model is asked for, and how a final text is read. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Coercion from "../coercion/Coercion.ts"
import * as Issue from "../data/Issue.ts"
import { issuesOf } from "../coercion/Issues.ts"
import { once } from "../data/Once.ts"
import { decoder, jsonSchemaOf, modelSchema } from "../tool/ToolSchema.ts"
import type { OutputSpec } from "../model/Model.ts"

export interface Output {
  readonly schema: Schema.Codec<unknown, unknown>
  readonly wanted: () => Wanted
  /** The value of a final text, or all issues with it. */
  readonly read: (text: string) => Result.Result<Answer, ReadonlyArray<Issue.Issue>>
}

/** What the model is asked for: text if the schema takes text, otherwise JSON. */
export type Wanted =
  | { readonly kind: "text" }
  | { readonly kind: "json"; readonly spec: OutputSpec; readonly shape: "object" | "list" }

export interface Answer {
  readonly value: unknown
  readonly changes: Parameters<typeof Coercion.decode>[0]["changes"]
}

/** Schemas are compiled at first use. */
export const make = (agent: string, schema: Schema.Codec<unknown, unknown>): Output => {
  const decode = decoder(modelSchema(schema))
  const wanted = once(() => wantedBy(agent, jsonSchemaOf(schema)))
  const readPlain = (text: string) => Result.map(decode(text), (value): Answer => ({ value, changes: [] }))
  const readJson = (text: string, shape: "object" | "list"): Result.Result<Answer, ReadonlyArray<Issue.Issue>> => {
    const parsed = Coercion.parse(text, Coercion.steps, shape)
    if (Result.isFailure(parsed)) return Result.fail([{ path: [], expected: "Expected JSON", actual: saying(text) }])
    const decoded = Coercion.decode(parsed.success, decode, Coercion.answerSteps)
    return Result.isSuccess(decoded)
      ? Result.succeed({ value: decoded.success.decoded, changes: decoded.success.changes })
      : Result.fail(issuesOf(decoded.failure, parsed.success.value, Coercion.answerSteps))
  }
  return {
    schema,
    wanted,
    read: (text) => {
      const want = wanted()
      if (want.kind === "json") {
        // the schema also takes strings, so any text may be the value
        return Result.orElse(readJson(text, want.shape), (issues) => Result.mapError(readPlain(text), () => issues))
      }
      return Result.orElse(readPlain(text), (issue) =>
        Result.mapError(readJson(text, "object"), () => Issue.fromSchema(issue, text))
      )
    }
  }
}

const saying = (text: string): string => {
  const said = text.trim()
  return said === "" ? "an empty answer" : `text that begins with ${JSON.stringify(said.slice(0, maxShown))}`
}

const maxShown = 60

const wantedBy = (name: string, schema: OutputSpec["schema"]): Wanted => {
  const { type } = rootOf(schema)
  if (type === "string") return { kind: "text" }
  return { kind: "json", spec: { name, schema }, shape: type === "array" ? "list" : "object" }
}

/** The root of a JSON Schema whose root is a reference to its definitions. */
const rootOf = (schema: OutputSpec["schema"]): Schema.JsonObject => {
  const { $defs, $ref } = schema
  if (typeof $ref !== "string" || !isObject($defs)) return schema
  const root = $defs[decodeURIComponent($ref.slice("#/$defs/".length)).replaceAll("~1", "/").replaceAll("~0", "~")]
  return isObject(root) ? root : schema
}

const isObject = (json: Schema.Json | undefined): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)
