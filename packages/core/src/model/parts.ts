/** The types of composed models, and the conversion between whole replies and their parts. */
import type * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Arguments from "../data/Arguments.ts"
import { quietly } from "../data/Foreign.ts"
import type * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import * as Usage from "../data/Usage.ts"
import { isLlmError, type LlmError } from "../errors/LlmError.ts"
import type { Extra } from "../recovery/Attempts.ts"
import type { Compactions } from "../recovery/Layer.ts"
import { Growing } from "./growing.ts"
import type { Part, Request, Service } from "./service.ts"

/** The way in which a composed model calls its members: for whole replies (`A` is a reply), or for streams. */
export interface Asker<A, R> {
  readonly ask: (model: Service, request: Request) => Effect.Effect<A, LlmError, R>
  /** Makes the result from a reply that a recovery table gave in place of a model. */
  readonly given: (reply: Message.Reply) => A
  /** Whether a reader has seen a part of the present attempt. No other attempt is then possible. */
  readonly isShown: () => boolean
  /** The number of times that tables have shortened this request. */
  readonly compactions: Compactions
  /** The number of attempts that functions around models have added, beyond those of the tables. */
  readonly extra: Extra
  /** Surrounds all attempts of one request with a `Surrounding`, once. */
  readonly within: (
    model: Service,
    call: Effect.Effect<A, LlmError, R>,
    surrounding: Surrounding,
    request: Request
  ) => Effect.Effect<A, LlmError, R>
}

/**
 * Code around each call of a model. In a run, `generate` surrounds the call of a composed model, whole or streamed, because the run asks it
 * for one reply.
 *
 * @hidden
 */
export interface Surrounding {
  readonly generate: (
    reply: Effect.Effect<Message.Reply, LlmError>,
    request: Request,
    model: Service
  ) => Effect.Effect<Message.Reply, LlmError>
  readonly stream: (
    parts: Stream.Stream<Part, LlmError>,
    request: Request,
    model: Service
  ) => Stream.Stream<Part, LlmError>
}

/** A function around the attempts of a model. Each run of the effect makes one attempt: a whole reply, or the beginning of a stream. */
export type Attempting = <A, R>(
  attempt: Effect.Effect<A, LlmError, R>,
  request: Request,
  model: Service
) => Effect.Effect<A, LlmError, R>

/** The function of a model that calls others. `ask` makes an attempt of one of them: a whole reply, or the beginning of a stream. */
export type Choosing = <A, R>(
  ask: (model: Service) => Effect.Effect<A, LlmError, R>,
  request: Request
) => Effect.Effect<A, LlmError, R>

/** The tokens and the cost of a reply, or of a part of it. */
export type Counted = Pick<Message.Reply, "usage" | "cost" | "isEstimated" | "resent">

/** The algorithm of a composed model: which members it calls, in which order, and what it does about failures. */
export type Strategy = <A, R>(request: Request, asker: Asker<A, R>) => Effect.Effect<A, LlmError, R>

const Composed: unique symbol = Symbol.for("~@kintsugi/core/Model/Composed")

export interface Composition {
  readonly members: ReadonlyArray<Service>
  readonly strategy: Strategy
}

// not enumerable: a copy of the service with another `generate` is not composed any more
export const marked = (service: Service, composition: Composition): Service =>
  Object.defineProperty(service, Composed, { value: composition })

export const compositionOf = (model: Service): Composition | undefined =>
  // only `marked` sets this property
  Predicate.hasProperty(model, Composed) ? (model[Composed] as Composition) : undefined

/** Adds the partial text to a failure. An empty text leaves the failure unchanged. */
export const withPartial = (error: LlmError, partial: string): LlmError =>
  partial === "" || !isLlmError(error) ? error : copyWith(error, { partial })

/** Sets or removes the partial text of a failure. */
export const onlyPartial = (error: LlmError, partial: string): LlmError => {
  if (partial !== "" || !isLlmError(error) || error.partial === undefined) return withPartial(error, partial)
  const { partial: _partial, ...rest } = error
  return copyOf(error, rest)
}

/** Adds the failures of earlier models to a failure. Without any, the failure stays the same object. */
export const withEarlier = (error: LlmError, earlier: ReadonlyArray<LlmError>): LlmError =>
  earlier.length === 0 || !isLlmError(error)
    ? error
    : copyWith(error, { earlier: [...earlier, ...(error.earlier ?? [])] })

/** Adds a usage to the failure of a model. The run books this usage for the attempt. */
export const withUsage = (error: LlmError, usage: Usage.Usage): LlmError =>
  isLlmError(error) ? copyWith(error, { usage }) : error

const copyWith = (error: LlmError, more: object): LlmError => copyOf(error, { ...error, ...more })

const copyOf = (error: LlmError, fields: object): LlmError => {
  // each class of the union has a constructor that takes the fields of its errors
  const made = error.constructor as new (fields: object) => LlmError
  const cause = "cause" in error ? { cause: error.cause } : {}
  // an error with invalid fields, which its schema refuses, is not copied
  const copy = quietly(() => new made({ ...cause, message: error.message, ...fields }), error)
  if (copy === error) return error
  // the stack shows where the error was made, not where it was copied
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true })
  return copy
}

/** Returns the stream of a user's function. Any other value becomes a stream that dies with an error about that function. */
export const streamed = (
  given: Stream.Stream<Part, LlmError>,
  whose: string,
  name?: string
): Stream.Stream<Part, LlmError> =>
  Stream.isStream(given) ? given : Stream.die(Returned.wrong(given, "a Stream", whose, name))

/** Collects the parts of a streamed reply. */
export class Collector {
  readonly #content: Array<Message.Reply["content"][number]> = []
  #end: Extract<Part, { readonly type: "finish" }> | undefined
  #counted: Extract<Part, { readonly type: "usage" | "finish" }> | undefined
  /** The last text or thought, which the next part may continue. */
  #last: { readonly type: "text" | "reasoning"; readonly growing: Growing } | undefined
  /** The texts before it. */
  #said = ""
  #isShown = false

  push(part: Part): void {
    this.#isShown ||= isShown(part)
    if (part.type === "text-delta") {
      if (part.text !== "") this.#grow("text", part.text)
    } else if (part.type === "reasoning-delta") {
      this.#grow("reasoning", part.text)
      if (part.opaque !== undefined) this.#close(part.opaque)
    } else if (part.type === "tool-call" || part.type === "provider-item") {
      this.#close()
      this.#content.push(readable(part))
    } else if (part.type === "usage" || part.type === "finish") {
      this.#counted = part
      if (part.type === "finish") this.#end = part
    }
  }

  /** The parts so far. */
  get content(): Message.Reply["content"] {
    if (this.#last === undefined) return this.#content
    const { growing, type } = this.#last
    return [...this.#content, { type, text: growing.text }]
  }

  /** The text so far, without thoughts. */
  get partial(): string {
    return this.#last?.type === "text" ? this.#said + this.#last.growing.text : this.#said
  }

  /** Whether a reader has got a text, a thought or a whole call. After that, no other attempt may be made. Usage does not count. */
  get isShown(): boolean {
    return this.#isShown
  }

  /** Adds the text so far and the provider's usage to a failure. */
  broken(error: LlmError): LlmError {
    const failure = withPartial(error, this.partial)
    const usage = this.#counted?.isEstimated === true ? undefined : this.#counted?.usage
    if (usage === undefined || !isLlmError(failure) || failure.usage !== undefined || !Usage.isSound(usage))
      return failure
    return withUsage(failure, usage)
  }

  /** The usage and the content so far; `undefined` until the provider has reported a usage. */
  get spent(): (Counted & { readonly content: Message.Reply["content"] }) | undefined {
    if (this.#counted === undefined) return undefined
    const { cost, isEstimated, resent, usage } = this.#counted
    const content = () => this.content
    return {
      usage,
      // computed when it is read: a run reads `spent` after every chunk
      get content() {
        return content()
      },
      ...(cost === undefined ? {} : { cost }),
      ...(isEstimated === undefined ? {} : { isEstimated }),
      ...(resent === undefined ? {} : { resent })
    }
  }

  /** The whole reply; `undefined` before the `finish` part. */
  reply(): Message.Reply | undefined {
    if (this.#end === undefined) return undefined
    this.#close()
    const { type: _type, ...end } = this.#end
    return { content: this.#content, ...end }
  }

  #grow(type: "text" | "reasoning", text: string): void {
    if (this.#last?.type !== type) this.#close()
    this.#last ??= { type, growing: new Growing() }
    this.#last.growing.add(text)
  }

  #close(opaque?: Message.Opaque): void {
    if (this.#last === undefined) return
    const { growing, type } = this.#last
    const { text } = growing
    this.#last = undefined
    if (type === "text") this.#said += text
    this.#content.push(type === "text" ? { type, text } : { type, text, ...(opaque === undefined ? {} : { opaque }) })
  }
}

/**
 * Normalises a whole reply: joins neighbouring texts and drops empty ones. So a whole reply leaves the same transcript as a streamed one.
 *
 * @internal
 */
export const collected = (reply: Message.Reply): Message.Reply => {
  const { content } = reply
  if (content.every((part, index) => standsAlone(part, content[index - 1]))) return reply
  const collector = new Collector()
  for (const part of partsOf(reply)) collector.push(part)
  return collector.reply() ?? reply
}

type Content = Message.Reply["content"][number]

const isShown = (part: Part): boolean =>
  part.type === "tool-call" || ((part.type === "text-delta" || part.type === "reasoning-delta") && part.text !== "")

/** Replaces the arguments of a tool call that JSON cannot represent. */
const readable = <P extends Content>(part: P): P => {
  if (part.type !== "tool-call") return part
  const args = Arguments.readable(part.arguments)
  return args === part.arguments ? part : { ...part, arguments: args }
}

const standsAlone = (part: Content, before: Content | undefined): boolean => {
  if (part.type === "tool-call") return readable(part) === part
  if (part.type === "text") return part.text !== "" && before?.type !== "text"
  return part.type !== "reasoning" || before?.type !== "reasoning" || before.opaque !== undefined
}

/** Splits a whole reply into parts, as if it were streamed. */
export const partsOf = ({ content, ...end }: Message.Reply): ReadonlyArray<Part> => [
  ...content.map(toPart),
  { type: "finish", ...end }
]

const toPart = (part: Content): Part => {
  if (part.type === "text") return { type: "text-delta", text: part.text }
  return part.type === "reasoning" ? { ...part, type: "reasoning-delta" } : part
}
