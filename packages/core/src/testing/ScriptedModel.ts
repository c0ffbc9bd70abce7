/**
 * A model that replies by a script: each request takes the next step. A request beyond the script is a defect. Steps left over fail the
 * test when its scope closes.
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { LlmError } from "../errors/LlmError.ts"
import * as Message from "../data/Message.ts"
import * as Model from "../model/Model.ts"
import * as Usage from "../data/Usage.ts"

/** One step of a script: the answer to one request. */
export interface ScriptedStep {
  /** The parts that a streamed run gets before those of `answer`. A run that is not streamed ignores them. */
  readonly parts: ReadonlyArray<Model.Part>
  /** Makes the whole reply. A streamed run gets its parts after `parts`; if `answer` fails, the stream fails. */
  readonly answer: (request: Model.Request) => Effect.Effect<Message.Reply, LlmError>
  /** Whether the stream ends after `parts`, without the end marker of a reply. */
  readonly isCutOff: boolean
}

/**
 * What a model does in one turn, as plain data. Times are in milliseconds.
 *
 * - `failures`: how its first attempts fail, in order; the next attempt replies
 * - `partial`: the text that a streamed attempt sends before it fails
 * - `takes`: how long each attempt takes
 * - `text`, `calls`, `finish`: its reply
 */
export interface ModelTurn<Call = Pick<Message.ToolCall, "name" | "arguments">, Failure = LlmError> {
  readonly failures: ReadonlyArray<Failure>
  readonly partial: string
  readonly takes: number
  readonly text: string
  readonly calls: ReadonlyArray<Call>
  readonly finish: Message.FinishReason
}

/** A model that plays a script and remembers its requests. */
export interface ScriptedModel {
  readonly layer: Layer.Layer<Model.Model>
  /** A copy of every request so far. */
  readonly requests: ReadonlyArray<Model.Request & { readonly isStreamed: boolean }>
}

const step = (answer: ScriptedStep["answer"], parts: ScriptedStep["parts"] = []): ScriptedStep => ({
  parts,
  answer,
  isCutOff: false
})

/** The usage of a reply that states none. */
const usage: Usage.Usage = Usage.make({ inputTokens: 10, outputTokens: 5 })

/**
 * Makes a reply; fields that `value` leaves out get defaults. These are no content, 10 input and 5 output tokens, and the finish reason
 * `tool-calls` if the content has calls, else `stop`.
 */
export const reply = (value: Partial<Message.Reply>): Message.Reply => {
  const content = value.content ?? []
  const finish = content.some((part) => part.type === "tool-call") ? "tool-calls" : "stop"
  return { content, finish, usage, ...value }
}

/** Answers with a text. */
export const text = (value: string): ScriptedStep =>
  step(() => Effect.succeed(reply({ content: [Message.text(value)] })))

/** A tool call for `calls`. Its arguments are JSON text or an object, as models send both. */
export const call = (name: string, args: Message.ToolCall["arguments"], id = `call-${name}`): Message.ToolCall => ({
  type: "tool-call",
  id,
  name,
  arguments: args
})

/** Answers with tool calls. */
export const calls = (...content: ReadonlyArray<Message.ToolCall>): ScriptedStep =>
  step(() => Effect.succeed(reply({ content })))

/** Answers with a whole reply; `reply` makes one. */
export const replies = (value: Message.Reply): ScriptedStep => step(() => Effect.succeed(value))

/** Fails; a streamed run gets `parts` first. */
export const fails = (error: LlmError, ...parts: ReadonlyArray<Model.Part>): ScriptedStep =>
  step(() => Effect.fail(error), parts)

/** Answers with an effect of the request. The effect may also fail, wait or never end. */
export const answers = (answer: ScriptedStep["answer"]): ScriptedStep => step(answer)

/** A stream that ends after `parts` without an end marker. In a run that is not streamed this step dies. */
export const cutOff = (...parts: ReadonlyArray<Model.Part>): ScriptedStep => ({
  parts,
  isCutOff: true,
  answer: () => Effect.die(new Error("ScriptedModel: cutOff is for streamed runs"))
})

/**
 * The parts of a reply as a stream sends them: each text in two pieces, each call whole.
 *
 * @internal
 */
export const toParts = ({ content, ...end }: Message.Reply): ReadonlyArray<Model.Part> => [
  ...content.flatMap((part): ReadonlyArray<Model.Part> => {
    if (part.type === "tool-call" || part.type === "provider-item") return [part]
    const middle = Math.ceil(part.text.length / 2)
    const pieces = [part.text.slice(0, middle), part.text.slice(middle)].filter((piece) => piece !== "")
    return part.type === "text"
      ? pieces.map((piece) => ({ type: "text-delta", text: piece }))
      : [{ type: "reasoning-delta", text: part.text, ...(part.opaque === undefined ? {} : { opaque: part.opaque }) }]
  }),
  { type: "finish", ...end }
]

/**
 * The message of the defect for a request beyond the script. It shows the last message of the request, most often a tool result, because
 * that is usually why the request was sent.
 */
const unexpected = ({ messages }: Model.Request, number: number, steps: number): string => {
  const last = JSON.stringify(messages.at(-1)) ?? "none"
  const shown = last.length > 300 ? `${last.slice(0, 300)}…` : last
  return `request ${number} is not in the script of ${steps} steps; its last message is ${shown}`
}

/**
 * Makes a model that gives these replies, one per request. It remembers the requests. A request beyond the script is a defect that shows
 * the last message. When the scope closes after a success, a reply that no request took is a defect too.
 *
 * @example
 * ```ts
 * import { Agent } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect } from "effect"
 *
 * const clerk = Agent.make("clerk", { prompt: "Be polite." })
 * const program = Effect.gen(function* () {
 *   const model = yield* ScriptedModel.make(ScriptedModel.text("Good morning."))
 *   return yield* Effect.provide(clerk("Hi"), model.layer)
 * })
 * Effect.runPromise(Effect.scoped(program)) // => "Good morning."
 * ```
 */
export const make = (...steps: ReadonlyArray<ScriptedStep>): Effect.Effect<ScriptedModel, never, Scope.Scope> =>
  makeNamed("scripted", ...steps)

/**
 * Does the same as `make`, with a name for the model: events, the ledger and replies have it. Use it where a program has several models,
 * such as a fallback.
 */
export const makeNamed = (
  name: string,
  ...steps: ReadonlyArray<ScriptedStep>
): Effect.Effect<ScriptedModel, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests: Array<Model.Request & { readonly isStreamed: boolean }> = []
    yield* Effect.addFinalizer((exit) =>
      Exit.isSuccess(exit) && requests.length < steps.length
        ? Effect.die(new Error(`ScriptedModel: only ${requests.length} of ${steps.length} steps were asked for`))
        : Effect.void
    )
    const next = (request: Model.Request, isStreamed: boolean): Effect.Effect<ScriptedStep> =>
      Effect.suspend(() => {
        const found = steps[requests.length]
        requests.push({ ...request, messages: [...request.messages], isStreamed })
        return found === undefined
          ? Effect.die(new Error(`ScriptedModel: ${unexpected(request, requests.length, steps.length)}`))
          : Effect.succeed(found)
      })
    const service: Model.Service = {
      name,
      provider: "scripted",
      generate: (request) => Effect.flatMap(next(request, false), (found) => found.answer(request)),
      stream: (request) => Stream.unwrap(Effect.map(next(request, true), (found) => streamOf(found, request)))
    }
    return { layer: Layer.succeed(Model.Model, service), requests }
  })

/**
 * A model that plays these turns, and answers each later request with `last`, by default the text `"done"`. It is for turns that
 * `Arbitraries.modelTurns` draws: turns that no request takes are no mistake. The calls get the ids `call-1`, `call-2` and so on.
 */
export const playing = (turns: ReadonlyArray<ModelTurn>, last: ScriptedStep = text("done")): Layer.Layer<Model.Model> =>
  Layer.unwrap(
    Effect.sync(() => {
      const steps = stepsOf(turns).values()
      return answering(() => steps.next().value ?? last)
    })
  )

const stepsOf = (turns: ReadonlyArray<ModelTurn>): ReadonlyArray<ScriptedStep> => {
  let number = 0
  return turns.flatMap(({ calls, failures, finish, partial, takes, text: words }) => {
    const content = [
      ...(words === "" ? [] : [Message.text(words)]),
      ...calls.map((one) => call(one.name, one.arguments, `call-${++number}`))
    ]
    const parts: ReadonlyArray<Model.Part> = partial === "" ? [] : [{ type: "text-delta", text: partial }]
    const delayed = (answer: Effect.Effect<Message.Reply, LlmError>) => () => Effect.delay(answer, takes)
    return [
      ...failures.map((failure) => step(delayed(Effect.fail(failure)), parts)),
      step(delayed(Effect.succeed(reply({ content, finish }))))
    ]
  })
}

/** A model that answers each request by a function. Use it if the number of requests is not known beforehand. */
export const answering = (answer: (request: Model.Request) => ScriptedStep): Layer.Layer<Model.Model> => {
  const stepOf = (request: Model.Request) => Effect.sync(() => answer(request))
  return Layer.succeed(Model.Model, {
    name: "scripted",
    provider: "scripted",
    generate: (request) => Effect.flatMap(stepOf(request), (found) => found.answer(request)),
    stream: (request) => Stream.unwrap(Effect.map(stepOf(request), (found) => streamOf(found, request)))
  })
}

const forgotten = Effect.die(new Error("A test calls a model, and none was given to it: provide a ScriptedModel"))

/**
 * Forbids calls of real models: such a call dies. It forbids a call of an agent without a model, and a call of a model over a wire, with
 * any host and wherever the layer of the model is. Scripted models answer as usual. Provide it to a whole test suite.
 */
export const noRealModels: Layer.Layer<Model.Model> = Layer.merge(
  Layer.succeed(Model.RealCalls, "forbidden"),
  Layer.succeed(Model.Model, {
    name: "none",
    provider: "none",
    generate: () => forgotten,
    stream: () => Stream.unwrap(forgotten)
  })
)

/**
 * The stream of a step.
 *
 * @internal
 */
export const streamOf = (found: ScriptedStep, request: Model.Request): Stream.Stream<Model.Part, LlmError> => {
  const before = Stream.fromIterable(found.parts)
  if (found.isCutOff) return before
  return Stream.concat(
    before,
    Stream.unwrap(Effect.map(found.answer(request), (whole) => Stream.fromIterable(toParts(whole))))
  )
}
