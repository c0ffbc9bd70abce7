/**
 * Records real exchanges with models, and replays them from a file. So tests call a real server once, and never afterwards. A recording
 * replaces the HTTP client, so everything above it is real: the provider, its codec, its retries.
 *
 * Secrets do not reach the file. No request header is stored, and of an answer only the headers that a client reads.
 * A secret header (`Redacted`, or one named like a key) is redacted everywhere in bodies: whole, in pieces or
 * encoded. So are texts that look like a credential, and texts in body fields that are named like a key. Query
 * parameters that are keys are left out.
 */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Cause from "effect/Cause"
import * as Config from "effect/Config"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import * as Body from "./body.ts"
import * as Format from "./format.ts"
import * as Matching from "./matching.ts"
import { Secrets } from "./secrets.ts"
import * as Tape from "./tape.ts"
import * as Split from "../split.ts"

/** A recording that cannot be read or written. */
export class RecordingError extends Data.TaggedError("RecordingError")<{
  readonly file: string
  /** The path of the invalid field, such as `exchanges[2].response.status`; empty if the whole file is invalid. */
  readonly field: string
  readonly message: string
}> {}

/**
 * A request that the recording does not have. Models fail with an `InvalidRequestError` with this cause, and do not
 * resend.
 */
export class UnmatchedRequestError extends Data.TaggedError("UnmatchedRequestError")<{
  readonly file: string
  readonly method: string
  readonly path: string
  /** The number of the recorded exchange that is most similar to the request, from 1; absent if the recording is empty. */
  readonly nearest?: number
  /**
   * The first field in which the most similar exchange differs from the request, such as `path` or `body.model`. Absent if an equal
   * exchange exists and was already used.
   */
  readonly field?: string
  readonly message: string
}> {}

interface RecordOptions {
  /**
   * Additional secrets to redact that are in no header of a request, such as the key of another service that the server may mention. They
   * are redacted however short they are.
   */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
}

/**
 * Records the exchanges of requests that it sends. It sends them through the client in the context, and records them in the order in which
 * they began. It replaces an existing file. The file is first written when the first exchange ends; its folder is created.
 */
export const record = (
  file: string,
  options: RecordOptions = {}
): Layer.Layer<HttpClient.HttpClient, RecordingError, HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      yield* attempt(file, "it cannot be written", () => mkdirSync(dirname(file), { recursive: true }))
      const tape = new Tape.Tape()
      tape.secrets.noteValues((options.secrets ?? []).map((secret) => Redacted.value(secret)))
      const save = Effect.orDie(attempt(file, "it cannot be written", () => write(file, tape.exchanges())))
      yield* Effect.addFinalizer(() => (tape.close() ? save : Effect.void))
      return HttpClient.makeWith(
        (preparing: Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError>) =>
          Effect.flatMap(preparing, (request) =>
            taped(tape, save, request, client.postprocess(Effect.succeed(request)))
          ),
        client.preprocess
      )
    })
  )

interface ReplayOptions {
  /** Where to cut the bodies of answers into pieces; by default where they were cut when they were recorded. */
  readonly split?: Split.Split
}

/**
 * Answers from the file and sends nothing. A request matches by its method, path and body, in any order of
 * fields; equal requests get the recorded answers in order. A failed connection fails again. After the point where a
 * reader was interrupted, nothing more arrives.
 */
export const replay = (file: string, options: ReplayOptions = {}): Layer.Layer<HttpClient.HttpClient, RecordingError> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      // Mutant `""` survives: the JSON of the bytes is read as UTF-8 too
      const text = yield* attempt(file, "it cannot be read", () => readFileSync(file, "utf8"))
      const parsed = Format.parse(text)
      if (Result.isFailure(parsed)) {
        const { field, message } = parsed.failure
        return yield* new RecordingError({ file, field, message: `The recording '${file}' is broken: ${message}` })
      }
      const used = new Set<number>()
      const secrets = new Secrets()
      return HttpClient.make((request) =>
        Effect.flatMap(asked(secrets, request), (asked) =>
          Effect.suspend(() => {
            const wanted = Tape.requestOf(secrets, asked)
            const match = Matching.find(parsed.success, used, wanted)
            if (match.kind !== "found") return unmatched(file, request, wanted, match)
            used.add(match.index)
            return played(match.exchange, request, options)
          })
        )
      )
    })
  )

/** Replays the file if it exists, else records it. With `CI` set, it never records. */
export const auto = (
  file: string,
  options?: ReplayOptions & RecordOptions
): Layer.Layer<HttpClient.HttpClient, RecordingError, HttpClient.HttpClient> =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (existsSync(file)) return replay(file, options)
      const ci = yield* Effect.orElseSucceed(Config.option(Config.String("CI")), Option.none<string>)
      if (!["", "0", "false"].includes(Option.getOrElse(ci, () => ""))) {
        const message = `There is no recording '${file}', and none is made where CI is set; run the test elsewhere once`
        return yield* new RecordingError({ file, field: "", message })
      }
      return record(file, options)
    })
  )

const attempt = <A>(file: string, what: string, act: () => A): Effect.Effect<A, RecordingError> =>
  Effect.try({
    try: act,
    catch: (cause) => {
      const message = `The recording '${file}': ${what}: ${ErrorCause.messageOf(cause)}`
      return new RecordingError({ file, field: "", message })
    }
  })

/** Replaces the file atomically: a concurrent reader sees the previous file. */
const write = (file: string, exchanges: ReadonlyArray<Format.Exchange>): void => {
  writeFileSync(`${file}.part`, Format.print(exchanges))
  renameSync(`${file}.part`, file)
}

/** Converts a request to the form in which it is recorded, and notes its secrets, so that they are redacted everywhere. */
const asked = (
  secrets: Secrets,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<Tape.Asked, HttpClientError.HttpClientError> =>
  Effect.flatMap(Headers.CurrentRedactedNames, (names) => {
    const { body, method } = request
    const url = Option.getOrUndefined(HttpClientRequest.toUrl(request))
    const sent = body._tag === "Empty" ? new Uint8Array() : body._tag === "Uint8Array" ? body.body : undefined
    if (url === undefined || sent === undefined) return refused(request, "a recording cannot store its body or its URL")
    secrets.note(Tape.textsOf(request.headers), (name) => Headers.isRedactedName(name, names))
    secrets.noteParameters(url)
    return Effect.succeed({ method, url, body: new TextDecoder().decode(sent) })
  })

const refused = (request: HttpClientRequest.HttpClientRequest, description: string, cause?: unknown) =>
  Effect.fail(
    new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, description, cause }) })
  )

const unmatched = (
  file: string,
  request: HttpClientRequest.HttpClientRequest,
  { method, path }: Format.Request,
  match: Exclude<Matching.Match, { readonly kind: "found" }>
) => {
  const message = `${method} ${path} is not in the recording '${file}': ${reasonOf(match)}`
  const nearest = match.kind === "nothing" ? {} : { nearest: match.index + 1 }
  const field = match.kind === "different" ? { field: match.first.field } : {}
  return refused(request, message, new UnmatchedRequestError({ file, method, path, message, ...nearest, ...field }))
}

const reasonOf = (match: Exclude<Matching.Match, { readonly kind: "found" }>): string => {
  switch (match.kind) {
    case "nothing":
      return "it is empty"
    case "used up":
      return match.times === 1
        ? "it was recorded once, and that answer was already used"
        : `it was recorded ${match.times} times, and all answers were already used`
    case "different": {
      const { asked, field, recorded } = match.first
      return `the nearest is number ${match.index + 1}, in which ${field} is ${recorded}, and not ${asked}`
    }
  }
}

type Client = Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** Sends one request, and records its answer or its failure. */
const taped = (
  tape: Tape.Tape,
  save: Effect.Effect<void>,
  request: HttpClientRequest.HttpClientRequest,
  sending: Client
): Client =>
  Effect.flatMap(asked(tape.secrets, request), (asked) =>
    Effect.suspend(() => {
      const slot = tape.begin(asked)
      const end = (end: Format.Exchange["end"], failure?: unknown) =>
        Effect.suspend(() => {
          slot.end = end
          slot.failure = failure
          return save
        })
      const heard = (response: HttpClientResponse.HttpClientResponse) => {
        const headers = Tape.textsOf(response.headers)
        tape.secrets.note(headers, () => false)
        slot.response = { status: response.status, headers }
        return tapedResponse(response, slot, end)
      }
      return Effect.matchCauseEffect(sending, {
        onSuccess: (response) => Effect.succeed(heard(response)),
        onFailure: (cause) => {
          const error = Cause.findErrorOption(cause)
          if (Cause.hasInterrupts(cause) || Option.isNone(error)) {
            return Effect.andThen(end("interrupted"), Effect.failCause(cause))
          }
          const { reason } = error.value
          // the client of the user treats this status as a failure; its answer is recorded and returned all the same
          if (reason._tag === "StatusCodeError") return Effect.succeed(heard(reason.response))
          return Effect.andThen(end("failed", beneath(error.value)), Effect.failCause(cause))
        }
      }).pipe(Effect.onInterrupt(() => (slot.response === undefined ? end("interrupted") : Effect.void)))
    })
  )

/** The failure of the connection itself, without the error of the HTTP client around it. */
const beneath = ({ reason }: HttpClientError.HttpClientError): unknown => reason.cause ?? reason.description ?? reason

/** Wraps a response so that each piece of its body is recorded when it is read, and so is the way in which the reading ends. */
const tapedResponse = (
  response: HttpClientResponse.HttpClientResponse,
  slot: Tape.Slot,
  end: (end: Format.Exchange["end"], failure?: unknown) => Effect.Effect<void>
): HttpClientResponse.HttpClientResponse => {
  const stream = Stream.suspend(() => {
    let isWhole = false
    const bytes = Stream.catchIf(
      response.stream,
      ({ reason }) => reason._tag === "EmptyBodyError",
      () => Stream.empty
    )
    const watched = Stream.tap(bytes, (piece) => Effect.sync(() => void slot.pieces.push(piece.slice())))
    const marked = Stream.fromEffectDrain(
      Effect.sync(() => {
        isWhole = true
      })
    )
    return Stream.onExit(Stream.concat(watched, marked), (exit) => {
      if (isWhole) return end("complete")
      if (Exit.isSuccess(exit)) return end("left")
      const error = Cause.findErrorOption(exit.cause)
      return Option.isNone(error) || Cause.hasInterrupts(exit.cause)
        ? end("interrupted")
        : end("failed", beneath(error.value))
    })
  })
  const whole = Effect.map(Stream.runCollect(stream), (pieces) =>
    HttpClientResponse.fromWeb(response.request, responseOf(response.status, response.headers, Body.joined(pieces)))
  )
  const once = Effect.runSync(Effect.cached(whole))
  return Object.create(response, {
    stream: { get: () => stream },
    ...Object.fromEntries(
      (["arrayBuffer", "text", "json", "formData", "urlParamsBody"] as const).map((name) => [
        name,
        {
          get: () => Effect.flatMap(once, (read): Effect.Effect<unknown, HttpClientError.HttpClientError> => read[name])
        }
      ])
    )
  })
}

/** The HTTP statuses that cannot have a body; the constructor of `Response` would throw. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304])

const responseOf = (status: number, headers: Readonly<Record<string, string>>, body: BodyInit): Response =>
  new Response(bodiless.has(status) ? null : body, { status, headers })

/** Replays a recorded exchange. */
const played = (
  { end, failure = [], response }: Format.Exchange,
  request: HttpClientRequest.HttpClientRequest,
  { split }: ReplayOptions
): Client => {
  if (response === undefined) {
    if (end !== "failed") return Effect.never
    const reason = new HttpClientError.TransportError({ request, cause: Tape.failureOf(failure) })
    return Effect.fail(new HttpClientError.HttpClientError({ reason }))
  }
  const stored = Body.restore(response)
  const pieces = [...(split === undefined ? stored : Split.pieces(Body.joined(stored), split))]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift()
      if (piece !== undefined) return controller.enqueue(piece)
      if (end === "failed") return controller.error(Tape.failureOf(failure))
      // in the recording the reader was interrupted here, so nothing more arrives
      if (end === "interrupted") return new Promise<void>(() => {})
      return controller.close()
    }
  })
  return Effect.sync(() => HttpClientResponse.fromWeb(request, responseOf(response.status, response.headers, body)))
}
