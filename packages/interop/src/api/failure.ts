/** The errors for answers of an HTTP API. They name the API, the operation and the status. */
import type * as Bounds from "@kintsugi/core/Bounds"
import { InputTooLargeError } from "@kintsugi/core/DoorError"
import * as Redaction from "@kintsugi/core/Redaction"
import * as RetryAfter from "@kintsugi/core/RetryAfter"
import * as Duration from "effect/Duration"
import { ApiError } from "./ApiError.ts"

/** The API and its operation, by their own names. */
export interface Where {
  readonly api: string
  readonly operation: string
}

type Fields = Omit<ConstructorParameters<typeof ApiError>[0], "api" | "operation" | "message">

const make = ({ api, operation }: Where, said: string, fields: Fields): ApiError =>
  new ApiError({ message: `${called({ api, operation })}: ${said}`, api, operation, ...fields })

/** How texts name an operation. */
const called = ({ api, operation }: Where): string =>
  `operation '${Redaction.foreign(operation, 200)}' of the API '${Redaction.foreign(api, 200)}'`

const final = { isRetryable: false, recovery: "none" } as const

/** The characters that an error keeps of the words of an API. */
const mostWords = 2000

/** The statuses that ask to wait. */
const busy: ReadonlySet<number> = new Set([408, 425, 429, 503])

/** An answer that is no success. */
export interface Answer {
  readonly status: number
  /** The body as text, possibly cut. */
  readonly text: string
  readonly retryAfter: string | undefined
}

/** Makes the error for a status that is no success. `now` is in milliseconds since the epoch. */
export const fromStatus = (where: Where, { retryAfter, status, text }: Answer, now: number): ApiError => {
  const words = Redaction.foreign(text.trim(), mostWords)
  const said = `status ${status}${words === "" ? "" : `: ${words}`}`
  if (busy.has(status)) {
    const wait = RetryAfter.parse(retryAfter, now)
    return make(where, said, {
      reason: "busy",
      status,
      category: "server",
      isRetryable: true,
      ...(wait === undefined ? {} : { suggestedDelay: Duration.max(wait, Duration.millis(1)) })
    })
  }
  if (status === 401 || status === 403)
    return make(where, said, { reason: "authentication", status, category: "client", ...final })
  if (status >= 500) return make(where, said, { reason: "server", status, category: "server" })
  if (status >= 400) return make(where, said, { reason: "arguments", status, category: "parameter" })
  if (status >= 300) return make(where, said, { reason: "redirect", status, category: "client", ...final })
  return make(where, `status ${status} is none that the API declares`, {
    reason: "result",
    status,
    category: "validation",
    ...final
  })
}

/** Makes the error for an argument that cannot be sent. */
export const unsendable = (where: Where, why: string): ApiError =>
  make(where, why, { reason: "arguments", category: "parameter" })

/** Makes the error for an answer that does not fit. */
export const misfit = (where: Where, issues: string): ApiError =>
  make(where, `its answer does not fit: ${Redaction.foreign(issues, mostWords)}`, {
    reason: "result",
    category: "validation",
    ...final
  })

/** Makes the error for an answer that did not come in time. */
export const late = (where: Where, timeout: Duration.Duration): ApiError =>
  make(where, `no whole answer within ${Duration.format(timeout)}`, { reason: "timeout", category: "network" })

/** Makes the error for an answer beyond a bound. */
export const tooLarge = (where: Where, bound: keyof Bounds.Bounds, limit: number): InputTooLargeError =>
  InputTooLargeError.make({ what: `The answer of ${called(where)}`, bound, limit })
