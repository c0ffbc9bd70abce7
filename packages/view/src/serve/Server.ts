/** The server of `kintsugi serve`: the page, and what the page asks for. Every answer needs the token of the address. */
import * as Bounds from "@kintsugi/core/Bounds"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Comparison from "../comparison/Comparison.ts"
import * as ComparisonPage from "../comparison/page/ComparisonPage.ts"
import * as Page from "../page/Page.ts"
import * as Recording from "../recording/Recording.ts"
import * as TestFile from "../replay/TestFile.ts"
import { newToken, refusalOf } from "./guard.ts"
import { listen, type Request, type Response } from "./http.ts"
import type { Numbered } from "./log.ts"
import type { Answer, Choice } from "./browser/Wire.ts"
import { Refused, refuse } from "./asked.ts"
import type { Playground } from "./Playground.ts"
import { serveHashes } from "./page/script.ts"
import { shell } from "./shell.ts"

interface Options {
  /** The port; 0 takes a free one. */
  readonly port: number
  /** The token of the address; by default a random one. */
  readonly token?: string
}

/** The address of a server, and its parts. */
export interface Serving {
  readonly url: string
  readonly port: number
  readonly token: string
}

/** Serves a playground on the loopback interface until the scope closes. */
export const serve = (
  playground: Playground,
  { port: wanted, token = newToken() }: Options
): Effect.Effect<Serving, Error, Scope.Scope> =>
  Effect.map(listen(wanted, answering(playground, token)), ({ port }) => ({
    port,
    token,
    url: `http://127.0.0.1:${port}/?token=${token}`
  }))

const answering =
  (playground: Playground, token: string) =>
  (request: Request): Effect.Effect<Response> => {
    const refusal = refusalOf(request, token)
    if (refusal !== undefined) return Effect.succeed(plain(refusal.status, refusal.message))
    return routed(playground, request).pipe(
      Effect.catchTag("Refused", ({ message, status }) => Effect.succeed(plain(status, message)))
    )
  }

const plain = (status: number, message: string): Response => ({ status, headers: {}, body: `${message}\n` })

const json = (value: unknown): Response => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value)
})

/** Pages load nothing from elsewhere, and no other site shows them in a frame. */
const html = (body: string, policy: string): Response => ({
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8", "content-security-policy": policy },
  body
})

const pagePolicy = [
  "default-src 'none'",
  `script-src '${serveHashes.script}'`,
  `style-src '${serveHashes.style}'`,
  "connect-src 'self'",
  "frame-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const routed = (playground: Playground, request: Request): Effect.Effect<Response, Refused> => {
  const { method } = request
  const [area = "", name, part, ...more] = request.path.split("/").slice(1).map(decoded)
  if (more.length > 0) return missing
  if (method === "GET") {
    if (area === "" && name === undefined) return Effect.succeed(html(shell, pagePolicy))
    if (area === "runs" && name !== undefined && part === undefined) return report(playground, name)
    if (area === "compare" && name !== undefined && part !== undefined) return comparison(playground, name, part)
    if (area === "state" && name === undefined) return Effect.sync(() => json(playground.state()))
    if (area === "changes" && name === undefined) return Effect.succeed(streamed(playground.changes(cursorOf(request))))
    if (area === "events" && name !== undefined && part === undefined) {
      const events = playground.events(name, cursorOf(request))
      return events === undefined ? missing : Effect.succeed(streamed(events))
    }
    return missing
  }
  if (method !== "POST") return Effect.succeed(plain(405, "Use GET or POST."))
  return Effect.flatMap(bodyOf(request), (body) => posted(playground, area, name, part, body))
}

const posted = (
  playground: Playground,
  area: string,
  id: string | undefined,
  part: string | undefined,
  body: unknown
): Effect.Effect<Response, Refused> => {
  if (area === "reload" && id === undefined) return done(playground.reload)
  if (area === "clear" && id === undefined) return done(playground.clear)
  if (area === "replay" && id === undefined) return Effect.map(playground.replay, json)
  if (area !== "runs") return missing
  const begun = (starting: Effect.Effect<string, Refused>) => Effect.map(starting, (id) => json({ id }))
  if (id === undefined) return isChoice(body) ? begun(playground.start(body)) : unfit
  switch (part) {
    case "repeat":
      return begun(playground.repeat(id))
    case "from":
      return isFrom(body) ? begun(playground.from(id, body)) : unfit
    case "stop":
      return done(playground.stop(id))
    case "say":
      return Predicate.hasProperty(body, "text") && Predicate.isString(body.text)
        ? done(playground.say(id, body.text))
        : unfit
    case "decide":
      return isDecision(body) ? done(playground.decide(id, body.digest, body.answer)) : unfit
    default:
      return missing
  }
}

const done = <E>(self: Effect.Effect<void, E>): Effect.Effect<Response, E> => Effect.as(self, json({}))

const missing = refuse(404, "There is nothing under this address.")

const unfit = refuse(400, "The body of the request does not fit.")

const decoded = (part: string): string =>
  Result.getOrElse(
    Result.try(() => decodeURIComponent(part)),
    () => ""
  )

/** The report of a run, for a frame of this page and for a tab of its own. */
const report = (playground: Playground, id: string): Effect.Effect<Response, Refused> =>
  Effect.suspend(() => {
    const lines = playground.lines(id)
    if (lines === undefined) return missing
    // the page has its own policy for scripts; the header says who may frame it
    const recording = Recording.fromLines(lines)
    return Effect.succeed(html(Page.make(recording, TestFile.forPage(recording)), "frame-ancestors 'self'"))
  })

/** The comparison of two runs, for a tab of its own. */
const comparison = (playground: Playground, ...ids: [string, string]): Effect.Effect<Response, Refused> =>
  Effect.suspend(() => {
    const [first, second] = ids.map((id) => playground.lines(id))
    if (first === undefined || second === undefined) return missing
    const compared = Comparison.make(Recording.fromLines(first), Recording.fromLines(second))
    return Effect.succeed(
      html(ComparisonPage.make(compared, { first: ids[0], second: ids[1] }), "frame-ancestors 'none'")
    )
  })

const cursorOf = ({ headers, query }: Request): number => {
  const after = Number(headers["last-event-id"] ?? query.get("after") ?? 0)
  return Number.isSafeInteger(after) ? after : 0
}

/** Server-sent events: the number of each is its id, from which a reader goes on. */
const streamed = (events: Stream.Stream<Numbered>): Response => ({
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: Stream.map(events, ({ line, number }) => `id: ${number}\ndata: ${line}\n\n`)
})

/** How many levels the body of a request has at most. */
const deepest = 500

const bodyOf = ({ body, headers }: Request): Effect.Effect<unknown, Refused> =>
  Effect.gen(function* () {
    const type = headers["content-type"] ?? ""
    const text = yield* body
    if (text === undefined) return yield* refuse(413, "The body of the request is too long.")
    if (text === "") return {}
    if (!/^application\/json\b/.test(type)) return yield* unfit
    const read = yield* Effect.mapError(
      Effect.try(() => JSON.parse(text) as unknown),
      () => new Refused({ status: 400, message: "The body of the request is no JSON." })
    )
    return Bounds.isDeeper(read, deepest) ? yield* refuse(400, "The body of the request is nested too deeply.") : read
  })

const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every(Predicate.isString)

const isAbsentOrText = (value: unknown): boolean => value === undefined || Predicate.isString(value)

const isChoice = (value: unknown): value is Choice =>
  Predicate.hasProperty(value, "input") &&
  Predicate.hasProperty(value, "model") &&
  (value.model === "stand-in" || value.model === "own") &&
  Predicate.hasProperty(value, "tools") &&
  (value.tools === "run" || value.tools === "made up") &&
  Predicate.hasProperty(value, "faults") &&
  isTexts(value.faults) &&
  Predicate.hasProperty(value, "seed") &&
  Number.isSafeInteger(value.seed) &&
  isAbsentOrText(Predicate.hasProperty(value, "prompt") ? value.prompt : undefined)

const isFrom = (
  value: unknown
): value is { readonly turn: number; readonly prompt?: string; readonly input?: unknown } =>
  Predicate.hasProperty(value, "turn") &&
  Number.isSafeInteger(value.turn) &&
  isAbsentOrText(Predicate.hasProperty(value, "prompt") ? value.prompt : undefined)

const isDecision = (value: unknown): value is { readonly digest: string; readonly answer: Answer } =>
  Predicate.hasProperty(value, "digest") &&
  Predicate.isString(value.digest) &&
  Predicate.hasProperty(value, "answer") &&
  Predicate.hasProperty(value.answer, "type") &&
  (value.answer.type === "approve" ||
    (value.answer.type === "refuse" &&
      Predicate.hasProperty(value.answer, "reason") &&
      Predicate.isString(value.answer.reason)))
