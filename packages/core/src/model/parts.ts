/** Composed models, and the conversion between replies and their parts. */
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

/** Asks single models for a reply, or for the parts of one. */
export interface Asker<A, R> {
  readonly ask: (model: Service, request: Request) => Effect.Effect<A, LlmError, R>
  /** A reply that no model gave. */
  readonly given: (reply: Message.Reply) => A
  /** Whether a reader has seen a part of the present attempt: no other attempt may be made then. */
  readonly isShown: () => boolean
  /** How often any table has shortened this request. */
  readonly compactions: Compactions
  /** The attempts of functions around models, beyond those of the tables. */
  readonly extra: Extra
  /** Puts a `Surrounding` around all attempts of one request. */
  readonly within: (
    model: Service,
    call: Effect.Effect<A, LlmError, R>,
    surrounding: Surrounding,
    request: Request
  ) => Effect.Effect<A, LlmError, R>
}

/**
 * Code around a call of a model. A run calls a composed model for one reply, streamed or not: `generate` is around
 * that call.
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

/**
 * A function around the attempts of a model: the effect is one attempt, of a reply or of the beginning of a stream, and each time it is
 * run it is another one.
 */
export type Attempting = <A, R>(
  attempt: Effect.Effect<A, LlmError, R>,
  request: Request,
  model: Service
) => Effect.Effect<A, LlmError, R>

/** The tokens and the cost of a reply, or of a part of it. */
export type Counted = Pick<Message.Reply, "usage" | "cost" | "isEstimated" | "resent">

/** Which models are called, in which order, and what is done about their failures. */
export type Strategy = <A, R>(request: Request, asker: Asker<A, R>) => Effect.Effect<A, LlmError, R>

const Composed: unique symbol = Symbol.for("~@kintsugi/core/Model/Composed")

export interface Composition {
  readonly members: ReadonlyArray<Service>
  readonly strategy: Strategy
}

// not enumerable: a changed copy of a service is another model, and no composition
export const marked = (service: Service, composition: Composition): Service =>
  Object.defineProperty(service, Composed, { value: composition })

export const compositionOf = (model: Service): Composition | undefined =>
  // only `marked` sets this property
  Predicate.hasProperty(model, Composed) ? (model[Composed] as Composition) : undefined

/** The same failure with that text; without any, it stays the same object. */
export const withPartial = (error: LlmError, partial: string): LlmError =>
  partial === "" || !isLlmError(error) ? error : copyWith(error, { partial })

/** The same failure with that text and no other. */
export const onlyPartial = (error: LlmError, partial: string): LlmError => {
  if (partial !== "" || !isLlmError(error) || error.partial === undefined) return withPartial(error, partial)
  const { partial: _partial, ...rest } = error
  return copyOf(error, rest)
}

/** The same failure, after those of other models; without any, it stays the same object. */
export const withEarlier = (error: LlmError, earlier: ReadonlyArray<LlmError>): LlmError =>
  earlier.length === 0 || !isLlmError(error)
    ? error
    : copyWith(error, { earlier: [...earlier, ...(error.earlier ?? [])] })

/** Adds a usage to the failure of a model. The run books this usage for the attempt. */
export const withUsage = (error: LlmError, usage: Usage.Usage): LlmError =>
  isLlmError(error) ? copyWith(error, { usage }) : error

const copyWith = (error: LlmError, more: object): LlmError => copyOf(error, { ...error, ...more })

const copyOf = (error: LlmError, fields: object): LlmError => {
  // the constructor of an error of the union is that of its class, and takes what the error has
  const made = error.constructor as new (fields: object) => LlmError
  const cause = "cause" in error ? { cause: error.cause } : {}
  // one that its own schema refuses, because nothing has checked it, stays as it is
  const copy = quietly(() => new made({ ...cause, message: error.message, ...fields }), error)
  if (copy === error) return error
  // where it was made says more than where it was copied
  Object.defineProperty(copy, "stack", { value: error.stack, configurable: true, writable: true })
  return copy
}

/** The stream itself; any other value is a defect of the function, see `Returned`. */
export const streamed = (
  given: Stream.Stream<Part, LlmError>,
  whose: string,
  name?: string
): Stream.Stream<Part, LlmError> =>
  Stream.isStream(given) ? given : Stream.die(Returned.wrong(given, "a Stream", whose, name))

/** Puts a streamed reply together, part by part. */
export class Collector {
  readonly #content: Array<Message.Reply["content"][number]> = []
  #end: Extract<Part, { readonly type: "finish" }> | undefined
  #counted: Extract<Part, { readonly type: "usage" | "finish" }> | undefined
  /** The text or thought that may go on. */
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

  /** The texts so far: what a reader has seen. */
  get partial(): string {
    return this.#last?.type === "text" ? this.#said + this.#last.growing.text : this.#said
  }

  /** Whether a reader has got anything that must not come twice: a text, a thought or a whole call. Usage is none of these. */
  get isShown(): boolean {
    return this.#isShown
  }

  /** The same failure, with the text so far and the usage that the provider has counted. */
  broken(error: LlmError): LlmError {
    const failure = withPartial(error, this.partial)
    const usage = this.#counted?.isEstimated === true ? undefined : this.#counted?.usage
    if (usage === undefined || !isLlmError(failure) || failure.usage !== undefined || !Usage.isSound(usage))
      return failure
    return withUsage(failure, usage)
  }

  /** The usage that the provider has reported so far. */
  get spent(): (Counted & { readonly content: Message.Reply["content"] }) | undefined {
    if (this.#counted === undefined) return undefined
    const { cost, isEstimated, resent, usage } = this.#counted
    const content = () => this.content
    return {
      usage,
      // put together when it is read: a run takes this after every chunk
      get content() {
        return content()
      },
      ...(cost === undefined ? {} : { cost }),
      ...(isEstimated === undefined ? {} : { isEstimated }),
      ...(resent === undefined ? {} : { resent })
    }
  }

  /** The whole reply, or `undefined` while the end has not come. */
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
 * A whole reply as its parts would have been put together: neighbouring texts are one, empty ones are left out. So a
 * reply leaves the same transcript whether it was streamed or not.
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

/** A call whose arguments can be written down. */
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

/** The parts of a whole reply, as if it were streamed. */
export const partsOf = ({ content, ...end }: Message.Reply): ReadonlyArray<Part> => [
  ...content.map(toPart),
  { type: "finish", ...end }
]

const toPart = (part: Content): Part => {
  if (part.type === "text") return { type: "text-delta", text: part.text }
  return part.type === "reasoning" ? { ...part, type: "reasoning-delta" } : part
}
