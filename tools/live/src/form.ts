/** The form of recorded answers: which fields they have, and of which types. Values and the order of events do not count. */
import { Schema } from "effect"

const Recorded = Schema.fromJsonString(
  Schema.Struct({
    exchanges: Schema.Array(
      Schema.Struct({
        response: Schema.optionalKey(
          Schema.Struct({
            status: Schema.Int,
            headers: Schema.Record(Schema.String, Schema.String),
            json: Schema.optionalKey(Schema.Json),
            chunks: Schema.optionalKey(
              Schema.Array(Schema.Union([Schema.String, Schema.Struct({ base64: Schema.String })]))
            )
          })
        ),
        end: Schema.String
      })
    )
  })
)

type Exchange = (typeof Recorded.Type)["exchanges"][number]
type Answer = NonNullable<Exchange["response"]>

/** The types of each field, by its path; of a stream, those of all events of a kind together. */
export type Form = ReadonlyMap<string, ReadonlySet<string>>

/** A field whose types are not those of the last record. */
export interface Difference {
  /** The number of the answer in its scenario, from 1. */
  readonly answer: number
  readonly field: string
  readonly change: "appeared" | "disappeared" | "changed"
  /** Its types; empty where it is absent. */
  readonly before: ReadonlyArray<string>
  readonly after: ReadonlyArray<string>
}

/**
 * The forms of the answers of a recording; `undefined` for one that broke. A reader leaves a stream at its last event, so such an answer
 * counts. Answers after which the request was sent again do not, neither those that broke.
 */
export const formsOf = (recording: string): ReadonlyArray<Form | undefined> =>
  Schema.decodeUnknownSync(Recorded)(recording).exchanges.flatMap(({ end, response }, index, all) => {
    const isLast = index === all.length - 1
    const isWhole = end === "complete" || end === "left"
    if (response === undefined || (!isLast && (!isWhole || isResent(response.status)))) return []
    return [isWhole ? formOf(response) : undefined]
  })

const isResent = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500

const formOf = (answer: Answer): Form => {
  const form = new Map<string, Set<string>>()
  const note = (path: string, type: string) => {
    const types = form.get(path) ?? new Set()
    form.set(path, types.add(type))
  }
  note("status", String(answer.status))
  note("content-type", (answer.headers["content-type"] ?? "none").replace(/;.*$/s, ""))
  for (const name of Object.keys(answer.headers)) if (name !== "content-type") note(`header ${name}`, "string")
  for (const [kind, value] of documentsIn(answer)) walk(value, kind, note)
  return form
}

/** Each JSON of an answer, after the kind of its event. */
const documentsIn = ({ chunks, json }: Answer): ReadonlyArray<readonly [kind: string, json: unknown]> => {
  if (json !== undefined) return [["", json]]
  const bytes = (chunks ?? []).map((chunk) =>
    typeof chunk === "string" ? Buffer.from(chunk) : Buffer.from(chunk.base64, "base64")
  )
  const text = Buffer.concat(bytes).toString("utf8")
  return text.split(/\r?\n/).flatMap((line) => {
    const value = parsed(line.replace(/^data: ?/, ""))
    return value === undefined ? [] : [[kindOf(value), value] as const]
  })
}

const parsed = (text: string): unknown => {
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

const kindOf = (value: unknown): string => {
  const { event_type, type } = value as { readonly type?: unknown; readonly event_type?: unknown }
  const kind = type ?? event_type
  return typeof kind === "string" ? kind : ""
}

type Note = (path: string, type: string, value: unknown) => void

/** Lists are seen through. */
const walk = (value: unknown, path: string, note: Note): void => {
  if (Array.isArray(value)) {
    note(path, "list", value)
    for (const each of value) walk(each, `${path}[]`, note)
  } else if (typeof value === "object" && value !== null) {
    if (path !== "") note(path, "object", value)
    for (const [name, field] of Object.entries(value)) walk(field, path === "" ? name : `${path}.${name}`, note)
  } else note(path, value === null ? "null" : typeof value, value)
}

/** The texts of a recording, joined by field: over the items of lists, and over the events of streams. */
export const textsOf = (recording: string): ReadonlyArray<string> => {
  const texts = new Map<string, Array<string>>()
  const note: Note = (path, _, value) => {
    if (typeof value !== "string") return
    const pieces = texts.get(path)
    if (pieces === undefined) texts.set(path, [value])
    else pieces.push(value)
  }
  walk(JSON.parse(recording), "file", note)
  for (const { response } of Schema.decodeUnknownSync(Recorded)(recording).exchanges) {
    for (const [, json] of response === undefined ? [] : documentsIn(response)) walk(json, "answer", note)
  }
  return [...texts.values()].map((pieces) => pieces.join(""))
}

/** What differs between two recordings of a scenario, by answer and field. Fields within a field that appeared are not listed. */
export const differences = (before: string, after: string): ReadonlyArray<Difference> => {
  const [old, now] = [formsOf(before), formsOf(after)]
  return now.flatMap((form, index) => {
    const last = old[index]
    return form === undefined || last === undefined ? [] : between(last, form, index + 1)
  })
}

const between = (before: Form, after: Form, answer: number): ReadonlyArray<Difference> => {
  const fields = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  const found = fields.flatMap((field): ReadonlyArray<Difference> => {
    const [old, now] = [listed(before.get(field)), listed(after.get(field))]
    if (old.join() === now.join()) return []
    const change = old.length === 0 ? "appeared" : now.length === 0 ? "disappeared" : "changed"
    return [{ answer, field, change, before: old, after: now }]
  })
  const whole = new Set(found.filter(({ change }) => change !== "changed").map(({ field }) => field))
  return found.filter(({ field }) => !parentsOf(field).some((parent) => whole.has(parent)))
}

const listed = (types: ReadonlySet<string> | undefined): ReadonlyArray<string> => [...(types ?? [])].toSorted()

/** `a` and `a.b` of `a.b.c`; `a` of `a[]`. */
const parentsOf = (field: string): ReadonlyArray<string> =>
  [...field.matchAll(/\.|\[\]/g)].map(({ index }) => field.slice(0, index))
