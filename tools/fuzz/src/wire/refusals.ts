/** Refusals: each status, each form of a wait, the words of providers, and pages that no provider sends. */
import type * as LlmError from "@kintsugi/core/LlmError"
import { Duration } from "effect"
import { type Answer, both, each, fixed } from "./answers.ts"
import type { Scenario } from "./scenario.ts"

type Tag = LlmError.LlmError["_tag"]

const sentOnce = [400, 401, 402, 403, 404, 405, 410, 413, 415, 422, 451, 499]

const resent = [408, 409, 425, 429, 500, 501, 502, 503, 504, 505, 511, 520, 521, 522, 523, 524, 525, 527, 529, 530, 599]

const tags: Readonly<Record<number, Tag>> = {
  401: "AuthenticationError",
  402: "QuotaExhaustedError",
  403: "AuthenticationError",
  404: "ModelNotFoundError",
  408: "RequestTimeoutError",
  410: "ModelNotFoundError",
  413: "ContextTooLongError",
  425: "UnknownLlmError",
  429: "RateLimitError",
  503: "ModelOverloadedError",
  529: "ModelOverloadedError"
}

const tagOf = (status: number): Tag => tags[status] ?? (status < 500 ? "InvalidRequestError" : "ServerError")

const json = { "content-type": "application/json" }

const forms = [
  "0",
  "1",
  "1.5",
  " 2 ",
  "007",
  "1e3",
  "-1",
  "+1",
  "0x10",
  "NaN",
  "Infinity",
  "",
  "soon",
  "1s",
  "1,1",
  "1, 2",
  "99999999999",
  "99999999999999999999",
  "Thu, 26 Nov 2026 12:00:05 GMT",
  "Thursday, 26-Nov-26 12:00:05 GMT",
  "Thu Nov 26 12:00:05 2026",
  "2026-11-26T12:00:05Z",
  "Thu, 01 Jan 1970 00:00:00 GMT",
  "Thu, 99 Nov 2026 12:00:05 GMT",
  "Fri, 31 Dec 9999 23:59:59 GMT"
]

const others: ReadonlyArray<Readonly<Record<string, string>>> = [
  { "retry-after-ms": "1500" },
  { "retry-after-ms": "-1", "retry-after": "2" },
  { "x-ratelimit-reset-requests": "6m0s", "x-ratelimit-remaining-requests": "0" },
  { "anthropic-ratelimit-tokens-reset": "2026-11-26T12:00:05Z", "anthropic-ratelimit-tokens-remaining": "0" },
  { "x-ratelimit-reset": "1795000000000", "x-ratelimit-remaining": "0" },
  { ratelimit: '"default";r=0;t=50' },
  { "ratelimit-reset": "50", "ratelimit-remaining": "0" },
  { "x-should-retry": "false" }
]

const isSound = ({ retryAfter }: LlmError.LlmError): boolean => {
  const millis = retryAfter === undefined ? 0 : Duration.toMillis(retryAfter)
  return Number.isFinite(millis) && millis >= 0
}

const isLong = ({ retryAfter }: LlmError.LlmError): boolean =>
  retryAfter !== undefined && Duration.toDays(retryAfter) > 365

const words: ReadonlyArray<readonly [name: string, status: number, body: unknown, tag: Tag, quoted?: string]> = [
  [
    "Mistral's validator",
    422,
    {
      object: "error",
      message: { detail: [{ loc: ["body", "max_completion_tokens"], msg: "Extra inputs are not permitted" }] }
    },
    "InvalidRequestError",
    "max_completion_tokens: Extra inputs"
  ],
  [
    "FastAPI's validator",
    422,
    { detail: [{ loc: ["body", "n"], msg: "field required" }] },
    "InvalidRequestError",
    "n: field"
  ],
  [
    "a spend limit as a bad request",
    400,
    { error: { message: "You have reached your specified API usage limits." } },
    "QuotaExhaustedError"
  ],
  [
    "a spend limit as a rate limit",
    429,
    { error: { message: "It exceeded its monthly spending cap" } },
    "QuotaExhaustedError"
  ],
  [
    "a spend limit as a conflict",
    409,
    { error: { message: "It reached its monthly spending limit" } },
    "QuotaExhaustedError"
  ],
  ["an input that is too long", 400, { message: "Input is too long for requested model." }, "ContextTooLongError"],
  ["the page of a firewall", 403, "<!DOCTYPE html><title>Attention Required!</title>", "NetworkError", "Attention"],
  ["slow down", 429, { error: "slow down" }, "RateLimitError"],
  ["a reset of the words", 429, { error: { message: "The engine is overloaded, slow down" } }, "ModelOverloadedError"],
  ["a credit balance", 400, { error: { message: "Your credit balance is too low" } }, "QuotaExhaustedError"],
  ["a missing tool support", 400, { error: { message: "m does not support tools" } }, "CapabilityMismatchError"],
  ["a filter", 400, { error: { message: "flagged for possible violence" } }, "ContentFilteredError"]
]

/** Sent again only by statuses that pass; and not where the class says that it would fail again. */
const sendsOf = (status: number, tag: Tag): number =>
  ["RateLimitError", "ModelOverloadedError", "ServerError"].includes(tag) && resent.includes(status) ? 3 : 1

const pages = ["<html><title>502 Bad Gateway</title></html>", "", "null", "[]", "{", "\u0000", '"no"', "\uFEFF{}"]

const refusal = (status: number, body: unknown, headers: Readonly<Record<string, string>> = json): Answer => ({
  status,
  headers,
  body: typeof body === "string" ? body : JSON.stringify(body)
})

export const refusals: ReadonlyArray<Scenario> = [
  ...[...sentOnce, ...resent].flatMap((status) =>
    each("statuses", `${status}`, () => ({
      modes: both,
      serve: fixed(refusal(status, {})),
      expected: { tags: [tagOf(status)], sends: sentOnce.includes(status) ? 1 : 3 }
    }))
  ),
  ...resent.flatMap((status) =>
    each(
      "statuses",
      `${status} that forbids a resend`,
      () => ({
        modes: both,
        serve: fixed(refusal(status, {}, { ...json, "x-should-retry": "false" })),
        expected: { tags: [tagOf(status)], sends: 1 }
      }),
      ["openai-chat"]
    )
  ),
  ...[...forms.map((form) => ({ "retry-after": form })), ...others].flatMap((headers) =>
    each("waits", JSON.stringify(headers), () => ({
      modes: ["whole"],
      serve: fixed(refusal(429, {}, { ...json, date: "Thu, 26 Nov 2026 12:00:00 GMT", ...headers })),
      expected: {
        tags: ["RateLimitError"],
        // a number of any length is a wait
        error: (error) => isSound(error) && (headers["retry-after"]?.startsWith("99999") !== true || isLong(error)),
        sends: 1
      },
      transport: { retry: false }
    }))
  ),
  ...words.flatMap(([name, status, body, tag, quoted]) =>
    each("words", name, () => ({
      modes: both,
      serve: fixed(refusal(status, body)),
      expected: {
        tags: [tag],
        sends: sendsOf(status, tag),
        ...(quoted === undefined ? {} : { error: ({ message }) => message.includes(quoted) })
      }
    }))
  ),
  ...pages.flatMap((page) => [
    ...each("pages", `${JSON.stringify(page)} with 502`, () => ({
      modes: both,
      serve: fixed(refusal(502, page)),
      expected: { tags: ["ServerError"], sends: 3 }
    })),
    ...each("pages", `${JSON.stringify(page)} as a success`, () => ({
      modes: both,
      serve: fixed(refusal(200, page)),
      expected: { tags: ["UnknownLlmError", "NetworkError", "EmptyReplyError"] }
    }))
  ])
]
