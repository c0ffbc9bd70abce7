/**
 * Tools of the Vercel AI SDK (`ai`) as tools of this library. The module knows them by their shape alone, so it does not need the `ai`
 * package. They keep their schema and checks, and everything that they throw is an `ExecutionError`, so that tables can recover from it.
 */
import type * as Bounds from "@kintsugi/core/Bounds"
import * as Message from "@kintsugi/core/Message"
import type * as RawSchema from "@kintsugi/core/RawSchema"
import type * as Recovery from "@kintsugi/core/Recovery"
import * as Tool from "@kintsugi/core/Tool"
import { ExecutionError, executionErrorOf, type Kind, resultErrorOf } from "@kintsugi/core/ToolError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"
import { copyOf } from "./copy.ts"
import * as Output from "./output.ts"
import * as Input from "./schema.ts"

/** The fields of an AI SDK tool that this module reads. */
interface ForeignTool<in In, out Out> {
  readonly description?: unknown
  /**
   * A schema of the SDK (`jsonSchema`, `zodSchema`), or a Standard Schema that can give a JSON Schema (such as zod from 4.2, or arktype).
   */
  readonly inputSchema: unknown
  // `never`: the SDK's call options, which this module passes to the tool, need no type here.
  readonly execute?: (input: In, options: never) => AsyncIterable<Out> | PromiseLike<Out> | Out
  readonly needsApproval?: unknown
  readonly toModelOutput?: unknown
}

/** A result of such a tool, as the model reads it. */
export interface AiToolResult<out A> {
  readonly value: A
  readonly text: string
  /** Set if the output of `toModelOutput` is an error for the model. */
  readonly isError?: true
  /** The parts that the model reads, if `toModelOutput` gives images or files. */
  readonly parts?: Message.UserContent
}

/** Options for facts that a tool of the SDK does not declare. */
interface Options<S extends Recovery.SideEffects, Approval extends boolean> {
  /** The effect of running the tool twice; `undeclared` by default, as the SDK has no field for it. */
  readonly sideEffects?: S
  /** Where the tool runs; `local` by default. */
  readonly kind?: Kind
  /** The longest text that the model reads, in characters; unlimited by default. */
  readonly maxResultChars?: number
  /** When a long result is put aside, as `Tool.putAside` says. It excludes `maxResultChars`. */
  readonly putAside?: ReturnType<typeof Tool.putAside>
  /**
   * Must be `true` for a tool with `needsApproval`: an agent with the tool then requires an `Approver`. Without the option, such a tool
   * throws.
   */
  readonly approval?: Approval
  /** The JSON Schema of the input, if the schema of the tool cannot give one synchronously. */
  readonly jsonSchema?: RawSchema.RawSchema
  /** The bounds of the JSON Schema; 128 levels, 20,000 nodes with references followed and 256 KiB by default. */
  readonly bounds?: Partial<Bounds.Bounds>
  /** The value that the tool gets as its `context`. */
  readonly context?: unknown
}

/** A tool from the AI SDK, under a name that every provider admits. */
type AiTool<
  Name extends string,
  In,
  Out,
  S extends Recovery.SideEffects = "undeclared",
  Approval extends boolean = false
> = Tool.Tool<
  Tool.NameFor<Name>,
  In,
  AiToolResult<Out>,
  ExecutionError,
  never,
  Approval extends true ? Tool.NeedsApproval : {},
  S
>

/**
 * One tool, under a name that every provider admits. Values that it yields before the last one are its progress. Throws a `TypeError` for a
 * tool without `execute`, for one that needs approval without the option, and if no JSON Schema is available synchronously; an
 * `InputTooLargeError` for a JSON Schema beyond a bound.
 */
export const tool = <
  const Name extends string,
  In,
  Out,
  const S extends Recovery.SideEffects = "undeclared",
  const Approval extends boolean = false
>(
  name: Name,
  foreign: ForeignTool<In, Out>,
  options: Options<S, Approval> = {}
): AiTool<Name, In, Out, S, Approval> => made(name, Tool.namesFor([name]).join(), foreign, options)

/** Passes on the options about the length of a result. If both are given, `Tool.make` refuses one. */
const lengthOf = ({ maxResultChars, putAside }: Pick<Options<never, never>, "maxResultChars" | "putAside">) =>
  ({
    ...(maxResultChars === undefined ? {} : { maxResultChars }),
    ...(putAside === undefined ? {} : { putAside })
  }) as { readonly maxResultChars?: number }

const made = <Name extends string, In, Out, S extends Recovery.SideEffects, Approval extends boolean>(
  foreignName: Name,
  name: string,
  foreign: ForeignTool<In, Out>,
  options: Options<S, Approval>
): AiTool<Name, In, Out, S, Approval> => {
  const { execute, needsApproval, toModelOutput } = foreign
  const { approval, bounds, context, jsonSchema, kind = "local", sideEffects } = options
  if (!Predicate.isFunction(execute)) throw new TypeError(`AiSdk: tool '${name}' has no execute, so it cannot run here`)
  // A value of `needsApproval` that this module does not know requires approval.
  const asks = Predicate.isNotNullish(needsApproval) && needsApproval !== false
  if (asks && approval !== true) {
    throw new TypeError(`AiSdk: tool '${name}' needs approval: say approval: true, and provide an Approver`)
  }
  const { codec, late } = Input.read(name, foreign.inputSchema, jsonSchema, bounds)
  const plain = Tool.make(name, {
    foreignName,
    description: Predicate.isString(foreign.description) ? foreign.description : "",
    parameters: codec,
    success: answerOf,
    kind,
    isError: (answer) => answer.isError === true,
    ...(sideEffects === undefined ? {} : { sideEffects }),
    ...lengthOf(options),
    run: (params, { callId, progress }): Effect.Effect<AiToolResult<unknown>, ExecutionError> => {
      const call = { tool: name, kind, callId, args: isJson(params) ? params : null }
      const thrown = (cause: unknown) => executionErrorOf(call, cause)
      const about = { toolCallId: callId, messages: [], context, experimental_context: context }
      return Effect.gen(function* () {
        const checked = yield* Effect.mapError(late(params), (wrong) =>
          ExecutionError.make({ ...call, category: "parameter", message: `the arguments do not fit: ${wrong}` })
        )
        // A copy, because tools of the SDK may write into their input.
        const input = copyOf(checked)
        const value = yield* running(execute, input, about, progress, thrown)
        if (!Predicate.isFunction(toModelOutput)) {
          const text = yield* Effect.try({
            try: () => Output.plain(value),
            catch: (cause) => resultErrorOf({ ...call, message: "its result cannot be written as JSON", cause })
          })
          return { value, text }
        }
        const { isError, parts, text } = yield* Effect.tryPromise({
          try: async () => Output.said(await toModelOutput({ toolCallId: callId, input, output: value })),
          catch: thrown
        })
        return { value, text, ...(isError ? { isError } : {}), ...(parts === undefined ? {} : { parts }) }
      })
    }
  }).pipe(Tool.parts(({ parts, text }: AiToolResult<unknown>) => parts ?? [Message.text(text)]))
  const guarded = asks
    ? plain.pipe(Tool.requireApproval({ when: (params) => approvalOf(needsApproval, params) }))
    : plain
  // The types follow from `foreign`: its schema gives the input of `execute`, and `execute` gives the output. The option `approval` says
  // whether the tool needs approval.
  return guarded as unknown as AiTool<Name, In, Out, S, Approval>
}

const isJson = Schema.is(Schema.Json)

const seen = { text: Schema.String, parts: Schema.optionalKey(Message.UserContent) }

const answerOf: Schema.Codec<AiToolResult<unknown>, string | { readonly text: string }> = Schema.Union([
  Schema.String,
  Schema.Struct(seen)
]).pipe(
  Schema.decodeTo(
    Schema.Struct({ value: Schema.Unknown, isError: Schema.optionalKey(Schema.Literal(true)), ...seen }),
    SchemaTransformation.transform({
      // A table may replace the result by a text, so a text is decoded too.
      decode: (said): AiToolResult<unknown> =>
        Predicate.isString(said) ? { value: said, text: said } : { value: said.text, ...said },
      encode: ({ parts, text }) => (parts === undefined ? text : { text, parts })
    })
  )
)

/** Asks `needsApproval` whether a call needs approval. If that function fails, the effect fails, and the call needs approval. */
const approvalOf = (needsApproval: unknown, params: unknown): Effect.Effect<boolean, unknown> =>
  Predicate.isFunction(needsApproval)
    ? Effect.tryPromise(async () => (await needsApproval(copyOf(params), { toolCallId: "", messages: [] })) !== false)
    : Effect.succeed(true)

const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  Predicate.hasProperty(value, Symbol.asyncIterator)

/** Runs the tool. If the call is interrupted, the tool's abort signal fires. If the tool is a generator, its last value is the result. */
const running = (
  // `Function`, because the types of the SDK declare the parameters
  execute: Function,
  input: unknown,
  about: object,
  progress: (data: unknown) => Effect.Effect<void>,
  thrown: (cause: unknown) => ExecutionError
): Effect.Effect<unknown, ExecutionError> =>
  Effect.suspend(() => {
    const stopping = new AbortController()
    const started = Effect.try({
      try: (): unknown => execute(input, { ...about, abortSignal: stopping.signal }),
      catch: thrown
    })
    return started.pipe(
      Effect.flatMap((given) => {
        if (isAsyncIterable(given)) {
          const iterating = Effect.try({ try: () => given[Symbol.asyncIterator](), catch: thrown })
          return Effect.flatMap(iterating, (iterator) => drained(iterator, progress, thrown))
        }
        return Input.isPromise(given) ? Effect.tryPromise({ try: () => given, catch: thrown }) : Effect.succeed(given)
      }),
      Effect.onInterrupt(() => Effect.sync(() => stopping.abort()))
    )
  })

/**
 * Reads an iterator, and gives its last value. If it is interrupted, it calls `return` of the iterator and does not wait, because the
 * iterator may be stuck.
 */
const drained = (
  iterator: AsyncIterator<unknown>,
  progress: (data: unknown) => Effect.Effect<void>,
  thrown: (cause: unknown) => ExecutionError
): Effect.Effect<unknown, ExecutionError> => {
  const from = (last: unknown): Effect.Effect<unknown, ExecutionError> =>
    Effect.flatMap(Effect.tryPromise({ try: () => iterator.next(), catch: thrown }), (step) => {
      if (!Predicate.isObject(step)) return Effect.fail(thrown(new TypeError("its iterator gave no object")))
      // Yields after each value: a generator that never waits would block all timers, even that of its own time limit.
      return step.done === true
        ? Effect.succeed(last)
        : progress(step.value).pipe(Effect.andThen(Effect.yieldNow), Effect.andThen(from(step.value)))
    })
  return Effect.onInterrupt(from(undefined), () =>
    Effect.sync(() => {
      Result.try(() => Promise.resolve(iterator.return?.()).catch(() => undefined))
    })
  )
}

/** A set of tools by name, as `generateText` of the SDK takes them. */
type ToolSet = Readonly<Record<string, ForeignTool<never, unknown>>>

/** The union of the tools of a set, each with its name. */
type ToolsOf<Set extends ToolSet> = {
  readonly [Name in keyof Set & string]: Set[Name] extends ForeignTool<infer In, infer Out>
    ? AiTool<Name, In, Out>
    : never
}[keyof Set & string]

/** All tools of a set, in order. Throws as `tool` does; use `tool` for a tool that needs options. */
export const tools = <const Set extends ToolSet>(set: Set): ReadonlyArray<ToolsOf<Set>> => {
  const names = Tool.namesFor(Object.keys(set))
  // The type of each tool follows from its entry in the set.
  return Object.entries(set).map(([name, foreign], index) =>
    made(name, names[index] ?? name, foreign, {})
  ) as unknown as ReadonlyArray<ToolsOf<Set>>
}
