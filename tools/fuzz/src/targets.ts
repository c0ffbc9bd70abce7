/** What is fuzzed: from a text to a check that throws, and the texts that it begins with. */
import { readFileSync } from "node:fs"
import { type Api, apis, at, fixtures } from "../../../test/_support/wireFixtures.ts"
import { checkHints, checkRefusal, checkStream, checkWhole, codecs, secret } from "./codecs.ts"
import type { Form } from "./drawing.ts"
import { checkCoercion, checkEvent, checkRepair, checkRetryAfter, checkSnapshot, strangers } from "./words.ts"

export interface Target {
  readonly form: Form
  readonly seeds: ReadonlyArray<string>
  /** Words beside those of the seeds. */
  readonly words: ReadonlyArray<string>
  /** Throws where something does not hold. */
  readonly check: (text: string) => void
}

const seedsIn = (name: string): ReadonlyArray<unknown> =>
  JSON.parse(readFileSync(new URL(`../../../test/fixtures/fuzz/${name}.json`, import.meta.url), "utf8"))

const jsonSeeds = (name: string): ReadonlyArray<string> => seedsIn(name).map((seed) => JSON.stringify(seed))

const common = ["__proto__", "constructor", "toString", "\ufeff", "\ud800", "\r", "[DONE]", "data:", "event: ", secret]

/** Nested so deeply that writing it down reaches the end of the stack. */
const deep = ["[]", '{"a":1}'].map((inner) => `${'{"a":['.repeat(3_000)}${inner}${"]}".repeat(3_000)}`)

/** Replies that wait for the client, break off, or were cut off by a filter, and forms that are documented and were not recorded. */
const unrecorded = ["waiting", "streams", "agents", "replies"].flatMap(
  // written in this form
  (name) => seedsIn(name) as ReadonlyArray<{ readonly api: Api; readonly body: string }>
)

const codec = (api: Api): Target => ({
  form: "text",
  seeds: [...fixtures, ...unrecorded].filter((fixture) => fixture.api === api).map(({ body }) => body),
  words: [
    ...common,
    '{"error":{"message":"no"}}',
    ": ping\n",
    "\n\n",
    "\r\n\r\n",
    "id: 1\n",
    "retry: 5\n",
    "\n \t{",
    ...deep
  ],
  check: (text) => {
    for (const one of codecs[api]) {
      checkWhole(one, text)
      checkStream(one, text)
    }
  }
})

/** An object of JSON; nothing where a text is none. */
const objectOf = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const value: unknown = JSON.parse(text)
  // what is no array, is not null and is an object has fields
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined
}

/** An answer as data: values without the type of their field are left out. */
const answerIn = (text: string) => {
  const { api, body, headers, status, text: words } = objectOf(text) ?? {}
  const given = objectOf(JSON.stringify(headers ?? null)) ?? {}
  return {
    codec: codecs[apis.find((one) => one === api) ?? "openai-chat"][0],
    status: typeof status === "number" && Number.isInteger(status) && status >= 100 && status < 600 ? status : 429,
    // as a client gives them: names in lower case, values without line ends
    headers: Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) =>
        typeof value === "string" ? [[name.toLowerCase(), value.replaceAll(/[\r\n\0]/g, " ")] as const] : []
      )
    ),
    body: typeof body === "string" ? body : JSON.stringify(body ?? null),
    words: typeof words === "string" ? words : ""
  }
}

const bodyOf = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

const refusals = fixtures.filter(({ status, streaming }) => status >= 400 || !streaming)

const waits = seedsIn("hints").map(String)

export const targets: Readonly<Record<string, Target>> = {
  ...Object.fromEntries(apis.map((api) => [api, codec(api)])),
  classify: {
    form: "json",
    seeds: [
      ...refusals.map(({ api, body, headers, status }) => JSON.stringify({ api, status, headers, body: bodyOf(body) })),
      ...jsonSeeds("refusals")
    ],
    words: [...common, ...apis, ...waits],
    check: (text) => {
      const { body, codec, headers, status } = answerIn(text)
      if (codec !== undefined) checkRefusal(codec, status, headers, body)
    }
  },
  hints: {
    form: "json",
    seeds: [
      ...refusals.map(({ headers, status }) => JSON.stringify({ status, headers, text: "" })),
      ...waits.map((text) => JSON.stringify({ status: 429, headers: { "retry-after": text, date: waits[0] }, text }))
    ],
    words: [...common, ...waits, "x-ratelimit-reset-requests", "x-ratelimit-remaining-requests", "retry-after-ms"],
    check: (text) => {
      const { headers, status, words } = answerIn(text)
      checkHints(status, headers, words)
      for (const header of [...Object.values(headers), words]) checkRetryAfter(header, at)
    }
  },
  coercion: {
    form: "text",
    seeds: seedsIn("arguments").map(String),
    words: [
      ...common,
      "```",
      "```json\n",
      "None",
      "undefined",
      "// no\n",
      "/* no */",
      "\\u00",
      "'",
      ",}",
      ",]",
      ...deep
    ],
    check: checkCoercion
  },
  repair: {
    form: "json",
    seeds: jsonSeeds("histories"),
    words: [...common, ...strangers],
    check: (text) => checkRepair(JSON.parse(text))
  },
  event: {
    form: "json",
    seeds: jsonSeeds("events"),
    words: [...common, "Infinity", "-Infinity", "NaN"],
    check: (text) => checkEvent(JSON.parse(text))
  },
  snapshot: {
    form: "json",
    seeds: jsonSeeds("snapshots"),
    words: [...common, "Infinity", "-Infinity", "NaN"],
    check: (text) => checkSnapshot(JSON.parse(text))
  }
}
