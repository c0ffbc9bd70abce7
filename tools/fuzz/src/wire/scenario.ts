/** One hostile answer over a real connection of the loopback interface, and what has to come of it. */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, Effect, Exit, Layer, Redacted, Stream } from "effect"
import type { Api } from "../../../../test/_support/wireFixtures.ts"
import * as RawServer from "./rawServer.ts"

export type Mode = "whole" | "streamed"

/** How the server answers: as the loopback server of `/testing` does, or byte by byte on a socket. */
export type Serve =
  | { readonly type: "handler"; readonly handler: Parameters<typeof LoopbackServer.make>[0] }
  | { readonly type: "raw"; readonly answer: RawServer.Raw }

/** Whether a reply is what it has to be. */
export type Holds = (reply: Message.Reply) => boolean

/** What has to come of it. */
export interface Expected {
  /** The classes of the failure, one of which it is; absent if it is a reply. */
  readonly tags?: ReadonlyArray<LlmError.LlmError["_tag"]>
  /** Holds of the reply. */
  readonly reply?: Holds
  /** Holds of the failure. */
  readonly error?: (error: LlmError.LlmError) => boolean
  /** How often the request is sent. */
  readonly sends?: number
}

export interface Scenario {
  readonly group: string
  readonly name: string
  readonly api: Api
  readonly modes: ReadonlyArray<Mode>
  readonly serve: Serve
  readonly expected: Expected
  readonly transport?: Transport.Options
  /** What the user says; "hi" by default. */
  readonly says?: Message.User["content"]
  /** How often it is played; sockets must not be left open. Once by default. */
  readonly times?: number
  /** Stops to read after the first part, and expects that the server sees the connection end. */
  readonly stops?: "early" | "interrupted"
}

/** How a run of a scenario ended. */
export interface Verdict {
  readonly type: "right" | "hang" | "defect" | "wrong"
  readonly says: string
  readonly millis: number
}

/** A scenario that has not ended after this time hangs. */
export const longest = 30_000

const options = (baseUrl: string, transport: Transport.Options) => ({
  model: "m",
  apiKey: Redacted.make("k"),
  baseUrl,
  transport
})

const layers: Readonly<
  Record<Api, (url: string, transport: Transport.Options) => Layer.Layer<Model.Model, never, Transport.HttpClient>>
> = {
  anthropic: (url, transport) => Anthropic.layer(options(url, transport)),
  "openai-chat": (url, transport) => OpenAi.layer(options(`${url}/v1`, transport)),
  "openai-responses": (url, transport) => OpenAi.layerResponses(options(`${url}/v1`, transport)),
  gemini: (url, transport) => Gemini.layer(options(url, transport)),
  ollama: (url, transport) => Ollama.layer(options(url, transport))
}

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

const brisk: Transport.Options = { retry: { initialBackoff: "1 millis", maxHint: "5 millis" } }

/** The reply; one that names a job is asked for until it is there. */
const replyOf = (
  mode: Mode,
  asked: Model.Request = request
): Effect.Effect<Message.Reply | undefined, LlmError.LlmError, Model.Model> =>
  Effect.flatMap(firstOf(mode, asked), (reply) => {
    const isJob = reply?.content.some((part) => part.type === "provider-item" && part.kind === "background_job")
    return reply === undefined || isJob !== true
      ? Effect.succeed(reply)
      : replyOf(mode, { ...asked, messages: [...request.messages, Message.settle(reply, [])] })
  })

const firstOf = (mode: Mode, asked: Model.Request) =>
  Effect.flatMap(Model.Model, (model): Effect.Effect<Message.Reply | undefined, LlmError.LlmError> => {
    if (mode === "whole") return model.generate(asked)
    const collector = new Model.Collector()
    return Effect.map(
      Stream.runForEach(model.stream(asked), (part) => Effect.sync(() => collector.push(part))),
      () => collector.reply()
    )
  })

/** Plays a scenario to its end; defects that no effect sees are noted by `strays`. */
export const play = (scenario: Scenario, mode: Mode, strays: Array<string>, limit = longest): Effect.Effect<Verdict> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { api, expected, says, serve, stops, times = 1, transport } = scenario
      const said = says === undefined ? request : { ...request, messages: [Message.user(says)] }
      const server =
        serve.type === "raw" ? yield* RawServer.make(serve.answer) : yield* LoopbackServer.make(serve.handler)
      const model = Layer.provide(layers[api](server.url, { ...brisk, ...transport }), Transport.layerFetch)
      const start = performance.now()
      const asked = Effect.provide(stops === undefined ? replyOf(mode, said) : stopping(stops), model)
      for (let time = 1; time < times; time++) yield* Effect.exit(asked)
      const exit = yield* Effect.exit(Effect.timeout(asked, limit))
      if (stops !== undefined && "nextAbort" in server)
        yield* Effect.timeout(Effect.exit(server.nextAbort), "2 seconds")
      const sends = (yield* server.requests).length
      const ended = judged(exit, sends, stops === undefined ? expected : { ...expected, reply: anything })
      const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
      const leaks = times > 1 && sockets > mostSockets
      const found = leaks ? ({ type: "wrong", says: `${sockets} sockets are left` } as const) : ended
      const stray = strays.splice(0)
      const verdict = stray.length > 0 ? ({ type: "defect", says: stray.join("; ") } as const) : found
      return { ...verdict, millis: performance.now() - start }
    })
  ).pipe(
    Effect.catchCause((cause) => Effect.succeed({ type: "defect", says: Cause.pretty(cause), millis: 0 } as const))
  )

/** Both ends of the connections that are kept for the next request. */
const mostSockets = 20

/** Reads one part, and stops; or is interrupted after it. */
const stopping = (how: "early" | "interrupted") =>
  Effect.flatMap(Model.Model, (model) => {
    const first = Stream.runDrain(Stream.take(model.stream(request), 1))
    if (how === "early") return Effect.as(first, undefined)
    const reading = Stream.runForEachWhile(model.stream(request), () => Effect.never)
    return Effect.as(Effect.timeoutOption(reading, "50 millis"), undefined)
  })

const judged = (
  exit: Exit.Exit<Message.Reply | undefined, LlmError.LlmError | Cause.TimeoutError>,
  sends: number,
  { error: holds, reply: fits, sends: times, tags }: Expected
): Omit<Verdict, "millis"> => {
  const wrong = (says: string) => ({ type: "wrong", says }) as const
  if (Exit.isFailure(exit)) {
    const [reason] = exit.cause.reasons
    if (reason?._tag !== "Fail") return { type: "defect", says: Cause.pretty(exit.cause) }
    const { error } = reason
    if (Cause.isTimeoutError(error)) return { type: "hang", says: "it has no end" }
    if (tags === undefined) return wrong(`${error._tag}: ${error.message}`)
    if (!tags.includes(error._tag)) return wrong(`${error._tag} is none of ${tags.join(", ")}: ${error.message}`)
    if (holds?.(error) === false) return wrong(`another failure: ${JSON.stringify(error).slice(0, 300)}`)
  } else if (tags !== undefined) return wrong(`a reply instead of ${tags.join(" or ")}`)
  else if (fits !== undefined && (exit.value === undefined ? fits !== anything : !fits(exit.value))) {
    return wrong(`another reply: ${JSON.stringify(exit.value ?? null).slice(0, 300)}`)
  }
  return times === undefined || times === sends
    ? { type: "right", says: "" }
    : wrong(`sent ${sends} times, not ${times}`)
}

const anything = () => true
