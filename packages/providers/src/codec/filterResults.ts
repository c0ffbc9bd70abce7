/**
 * Reads what Azure's content filters found. The error of a refused prompt has it under `innererror.content_filter_result`, a choice of a
 * reply under `content_filter_results`, and a response of the Responses API in the list `content_filters` (learn.microsoft.com: "Content
 * filtering annotations", "Use blocklists", looked up on 2026-11-26; the list of responses is known from public reports alone).
 */
import type { ContentFilteredError } from "@kintsugi/core/LlmError"
import * as Redaction from "@kintsugi/core/Redaction"
import type * as Schema from "effect/Schema"
import * as Json from "../transport/Json.ts"

export type Filters = NonNullable<ContentFilteredError["filters"]>

type Filter = Filters[number]

/** The filter results in an error. Most of them are about the prompt. */
export const ofError = (error: Schema.Json): Filters => {
  const inner = Json.field(error, "innererror")
  const results = ["content_filter_result", "content_filter_results"].flatMap((key) => [
    ...ofResults(Json.field(inner, key), "prompt"),
    ...ofResults(Json.field(error, key), "prompt")
  ])
  return once([...results, ...ofResponse(error)])
}

/** The filter results about the prompt and about a choice, in a whole body or in a chunk of a stream. */
export const ofReply = (body: Schema.Json, choice: Schema.Json | undefined): Filters =>
  once([
    ...Json.items(Json.field(body, "prompt_filter_results")).flatMap((one) =>
      ofResults(Json.field(one, "content_filter_results"), "prompt")
    ),
    ...ofResults(Json.field(choice, "content_filter_results"), "reply")
  ])

/** The filter results in a response of the Responses API. */
export const ofResponse = (response: Schema.Json): Filters =>
  once(
    Json.items(Json.field(response, "content_filters")).flatMap((one) =>
      ofResults(
        Json.field(one, "content_filter_results"),
        Json.field(one, "source_type") === "prompt" ? "prompt" : "reply"
      )
    )
  )

/** The most results that are kept. No filter has so many categories. */
const most = 100

/**
 * Collects filter results. Of each category it keeps the last result, or the last one that filtered, because each piece of a stream has a
 * result.
 */
export class FilterResults {
  readonly #all = new Map<string, Filter>()

  add(found: Filters): void {
    for (const one of found) {
      const key = JSON.stringify([one.of, one.category, one.id])
      const before = this.#all.get(key)
      if (before === undefined && this.#all.size === most) continue
      if (before?.isFiltered !== true || one.isFiltered) this.#all.set(key, one)
    }
  }

  get all(): Filters {
    return [...this.#all.values()]
  }
}

const once = (found: Filters): Filters => {
  const results = new FilterResults()
  results.add(found)
  return results.all
}

const ofResults = (results: Schema.Json | undefined, of: Filter["of"]): Filters =>
  Object.entries(Json.fields(results)).flatMap(([category, result]) => {
    // The result of a blocklist is a list, or an object with a list.
    const several = Array.isArray(result) ? Json.items(result) : Json.items(Json.field(result, "details"))
    const found = [result, ...several].flatMap((one) => ofResult(category, one, of))
    // the result for all lists together is dropped if the single lists are named
    return found.length > 1 ? found.filter(({ id }) => id !== undefined) : found
  })

/** A text of the server, made safe to show: secrets are redacted, and at most 100 characters are kept. */
const named = (text: string): string => Redaction.foreign(text, 100)

const ofResult = (category: string, result: Schema.Json, of: Filter["of"]): Filters => {
  const isFiltered = Json.field(result, "filtered")
  if (typeof isFiltered !== "boolean") return []
  const isDetected = Json.field(result, "detected")
  const severity = Json.text(Json.field(result, "severity"))
  const id = Json.text(Json.field(result, "id"))
  return [
    {
      of,
      category: named(category),
      isFiltered,
      ...(typeof isDetected === "boolean" ? { isDetected } : {}),
      ...(severity === undefined ? {} : { severity: named(severity) }),
      ...(id === undefined ? {} : { id: named(id) })
    }
  ]
}
