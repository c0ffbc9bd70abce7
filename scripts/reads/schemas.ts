/** How each wire says each kind of schema: as it is, adapted, or refused. */
import { Message, Tool } from "@kintsugi/core"
import { Effect, Schema } from "effect"
import { schemaKinds } from "../../test/_support/schemaKinds.ts"
import { sentBy, wires } from "./sending.ts"

/** The wires of the table. */
export const names: ReadonlyArray<string> = Object.keys(wires)

/** A line of the table: a kind of schema, what a model is shown of it, and which wires change that. */
interface Line {
  readonly kind: string
  readonly shown: string
  readonly changes: string
}

type Json = Schema.Json

const isObject = (json: unknown): json is Schema.JsonObject =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The schema of the parameters, wherever the body has it: it is the object with the property `v`. */
const parametersIn = (body: unknown): Schema.JsonObject | undefined => {
  const queue = [body]
  for (const one of queue) {
    if (isObject(one) && isObject(one["properties"]) && "v" in one["properties"]) return one
    if (isObject(one)) queue.push(...Object.values(one))
    else if (Array.isArray(one)) queue.push(...one)
  }
  return undefined
}

/** All keywords of a schema with what they say, each as often as it is there. */
const keywordsIn = (schema: Json | undefined): ReadonlyArray<string> => {
  if (Array.isArray(schema)) return schema.flatMap(keywordsIn)
  if (!isObject(schema)) return []
  return Object.entries(schema).flatMap(([key, value]) => {
    if (key === "properties" || key === "$defs" || key === "patternProperties") {
      return Object.values(isObject(value) ? value : {}).flatMap(keywordsIn)
    }
    if (isObject(value) || (Array.isArray(value) && value.some(isObject))) return [key, ...keywordsIn(value)]
    return [`${key}: ${JSON.stringify(value)}`]
  })
}

const lacking = (all: ReadonlyArray<string>, some: ReadonlyArray<string>): ReadonlyArray<string> => {
  const left = [...some]
  const rest = all.filter((one) => {
    const at = left.indexOf(one)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
  return [...new Set(rest.map((one) => one.split(":")[0] ?? one))]
}

/** What a wire changes in a schema; `""` for nothing. */
const changeOf = (shown: Schema.JsonObject, sent: Schema.JsonObject | undefined): string => {
  if (sent === undefined) return "refused"
  const [before, after] = [keywordsIn(shown), keywordsIn(sent)]
  const [without, added] = [lacking(before, after), lacking(after, before)]
  const changed = without.filter((key) => added.includes(key))
  const parts = [
    ...(changed.length === 0 ? [] : [`other ${changed.join(", ")}`]),
    ...(without.length === changed.length ? [] : [`no ${without.filter((key) => !changed.includes(key)).join(", ")}`]),
    ...(added.length === changed.length ? [] : [`new ${added.filter((key) => !changed.includes(key)).join(", ")}`])
  ]
  return parts.join("; ")
}

/** The changes with the wires that make them, equal changes together. */
const changesOf = (made: ReadonlyArray<readonly [wire: string, change: string]>): string => {
  const wiresBy = Map.groupBy(made, ([, change]) => change)
  wiresBy.delete("")
  const texts = [...wiresBy].map(([change, all]) => `${all.map(([wire]) => wire).join(" and ")}: ${change}`)
  return texts.join("<br>") || "none"
}

/** One line for each kind of schema. */
export const lines: Effect.Effect<ReadonlyArray<Line>> = Effect.forEach(
  Object.entries(schemaKinds),
  ([kind, [schema]]) =>
    Effect.gen(function* () {
      const tool = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({ v: schema }),
        success: Schema.String,
        run: () => Effect.succeed("ok")
      })
      const spec = tool.definition.spec()
      const properties = spec.parameters["properties"]
      const made = yield* Effect.forEach(Object.entries(wires), ([name, wire]) =>
        Effect.map(
          sentBy(wire, { messages: [Message.user("hi")], tools: [spec], toolChoice: "auto" }),
          (body) => [name, changeOf(spec.parameters, parametersIn(body))] as const
        )
      )
      return {
        kind,
        shown: JSON.stringify(isObject(properties) ? properties["v"] : undefined),
        changes: changesOf(made)
      }
    })
)
