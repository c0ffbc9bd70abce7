/** Puts long results aside: the model reads the head of such a result and a handle, and reads the rest in pages by a tool. */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ErrorCause from "../data/ErrorCause.ts"
import { Conversation } from "../data/Approval.ts"
import { demand } from "../data/Demand.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import { asShortened } from "../data/Shortened.ts"
import { ExecutionError } from "../errors/ToolError.ts"
import * as RunContext from "../event/RunContext.ts"
import * as Interception from "../model/Interception.ts"
import * as Recovery from "../recovery/Recovery.ts"
import * as Render from "../recovery/Render.ts"
import * as Texts from "./asideTexts.ts"
import { define } from "./define.ts"
import type { PutAside, ToolDefinition } from "./ToolDefinition.ts"

type Effects = RunContext.RunContext["done"]

/** A result that was put aside and that its run keeps in memory. It has no `text` once it was removed. */
type AsideResult = NonNullable<Effects["aside"]>[number]

/** Identifies a result in a store. `owner` is the run or the conversation that may read the result. */
interface Key {
  readonly owner: string
  readonly handle: string
}

/**
 * Where long results are put aside. Each function has 5 seconds. If `put` fails or is late, the model reads the beginning of the result
 * only. If `get` fails or is late, the model reads that the result cannot be read just now.
 */
export interface ResultStore {
  readonly put: (result: Key & { readonly text: string }) => Effect.Effect<void, unknown>
  readonly get: (key: Key) => Effect.Effect<string | undefined, unknown>
}

/**
 * The store of long results that were put aside. Without one, a run keeps up to 64 MiB of its results in memory and removes the oldest
 * first. Snapshots of the run have its newest results, up to 1 MiB.
 */
export const ResultStore = Context.Reference<ResultStore | undefined>("@kintsugi/core/Tool/ResultStore", {
  defaultValue: () => undefined
})

/**
 * Sets how long a result may be before it is put aside. It makes the option `putAside` of a tool or of an agent. The model then reads the
 * head of the result and a handle, and may read the rest in pages with the tool `read_result`, which its agent offers from the first turn
 * on. A tool with `maxResultChars` has no such option.
 *
 * @example
 * ```ts
 * import { Agent, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const log = Tool.make("log", {
 *   description: "The log of a job.",
 *   parameters: Schema.Struct({ job: Schema.String }),
 *   success: Schema.String,
 *   putAside: Tool.putAside({ above: 20_000 }),
 *   run: ({ job }) => Effect.succeed(`${job}: `.repeat(100_000))
 * })
 * const clerk = Agent.make("clerk", { tools: [log] })
 * ```
 */
export const putAside = (options: { readonly above: number }): PutAside => {
  demand("Tool.putAside", "given options", options, Predicate.isObject(options))
  const { above } = options
  if (!Number.isSafeInteger(above) || above < 1) {
    throw new RangeError(`Tool.putAside: above must be a whole number of at least 1, got ${String(above)}`)
  }
  const reader = readerOf()
  return {
    above,
    shorten: (result, site) => Effect.map(shortening(above, result.text, site), (text) => headed(result, text)),
    // the model gets `read_result` from the first turn on: adding it later would change the request and make the provider's cache useless
    among: (tools, ofAgent) => {
      const all = tools.map((one) => aside(one, ofAgent))
      return all.some((one) => one.putAside !== undefined) ? [...all, reader] : all
    },
    reader
  }
}

/** In UTF-16 units: the length of a head, the length of a page by default, and the length of a page at most. */
const headLength = 2000
const pageLength = 10_000
const longestPage = 50_000

/** What a run keeps in memory: results of 32 Mi UTF-16 units (two bytes each), and the handles of this many removed results. */
const room = 32 * 1024 * 1024
const maxRemoved = 1000

/** Replaces the text of a result. Images and files of the result stay. */
const headed = (result: Message.Settlement, text: string): Message.Settlement => {
  const { parts } = result
  if (parts === undefined) return asShortened({ ...result, text })
  return asShortened({ ...result, text, parts: [Message.text(text), ...parts.filter(({ type }) => type !== "text")] })
}

/** Gives a tool the `putAside` of its agent, unless the tool has its own, cuts its results, or ends the run. */
const aside = (tool: ToolDefinition, ofAgent: PutAside | undefined): ToolDefinition =>
  ofAgent === undefined || tool.putAside !== undefined || tool.maxResultChars !== undefined || tool.isBuiltIn
    ? tool
    : { ...tool, putAside: ofAgent }

const shortening = (
  above: number,
  text: string,
  { call: { id: callId, name: tool }, key, run }: Parameters<PutAside["shorten"]>[1]
): Effect.Effect<string> => {
  const handle = handleOf(key)
  const storing = Effect.flatMap(ResultStore, (store) =>
    store === undefined ? inMemory(run, handle, text) : stored(store, run, { callId, tool, handle, text })
  )
  return Effect.matchCauseEffect(storing, {
    onSuccess: () => {
      const end = endOf(text, 0, Math.min(above, headLength))
      const event = { type: "result-put-aside", callId, tool, handle, characters: text.length } as const
      return RunContext.emitThen(
        run,
        () => ({ ...event, bytes: new TextEncoder().encode(text).length }),
        () => Effect.succeed(Texts.putAside(text.slice(0, end), handle, end, text.length))
      )
    },
    onFailure: (cause) => {
      if (isPassing(cause)) return Effect.failCause(cause)
      const error = Cause.squash(cause)
      return RunContext.emitThen(
        run,
        () => ({ type: "result-cut", callId, tool, characters: text.length, error }),
        // Mutant `text` survives: speed only. What is cut away is not shown
        () => Effect.succeed(Render.truncated(text.slice(0, 2 * above + 2), above))
      )
    }
  })
}

/** Whether the cause is an interruption or the end of the run, and not a failure of the store. */
const isPassing = (cause: Cause.Cause<unknown>): cause is Cause.Cause<never> =>
  Cause.hasInterrupts(cause) || RunContext.isLimit(Cause.squash(cause)) || RunContext.isHalt(Cause.squash(cause))

/** The handle of a result. It is the same after a resumption and in a replay, and it is short because the model writes it. */
const handleOf = (key: string): string => `${key.slice(0, 12)}${key.slice(key.lastIndexOf("-"))}`

const stored = (
  store: ResultStore,
  run: RunContext.RunContext,
  {
    callId,
    tool,
    ...result
  }: { readonly callId: string; readonly tool: string; readonly handle: string; readonly text: string }
): Effect.Effect<void, unknown> =>
  Effect.flatMap(Conversation, (conversation) =>
    Interception.step(
      () => ({ type: "put aside", tool, callId }),
      () => inTime(() => store.put({ ...result, owner: conversation ?? run.runId }), "The put of Tool.ResultStore")
    )
  )

/** Runs a function of a store, and fails if that takes longer than `patience`. */
const inTime = <A>(made: () => Effect.Effect<A, unknown>, whose: string): Effect.Effect<A, unknown> =>
  Effect.timeoutOrElse(
    Effect.suspend(() => Returned.effect(made(), whose)),
    {
      duration: patience,
      orElse: () => Effect.fail(new Error(`${whose} took longer than ${Duration.format(patience)}`))
    }
  )

/** How long a store may take. */
const patience = Duration.seconds(5)

/** Keeps a result in the memory of its run, and for later runs of the same conversation in this process. */
const inMemory = (run: RunContext.RunContext, handle: string, text: string): Effect.Effect<void, unknown> =>
  Effect.flatMap(Conversation, (conversation) =>
    Effect.suspend(() => {
      if (text.length > room) return Effect.fail(new RangeError("Tool.putAside: the result is longer than 64 MiB"))
      run.done.aside = withResult(run.done.aside ?? [], { handle, text })
      if (conversation !== undefined) {
        const before = conversations.get(conversation) ?? []
        conversations.delete(conversation)
        conversations.set(conversation, withResult(before, { handle, text }))
        const [oldest] = conversations.keys()
        if (conversations.size > maxConversations && oldest !== undefined) conversations.delete(oldest)
      }
      return Effect.void
    })
  )

const conversations = new Map<string, ReadonlyArray<AsideResult>>()
const maxConversations = 100

/** Adds a result. The newest results stay as long as there is room; of the older ones only the handles stay. */
const withResult = (results: ReadonlyArray<AsideResult>, result: AsideResult): ReadonlyArray<AsideResult> => {
  let left = room
  let removed = 0
  const all = [...results.filter(({ handle }) => handle !== result.handle), result]
  return all
    .toReversed()
    .flatMap(({ handle, text }): ReadonlyArray<AsideResult> => {
      left -= text?.length ?? 0
      if (text !== undefined && left >= 0) return [{ handle, text }]
      return ++removed > maxRemoved ? [] : [{ handle }]
    })
    .toReversed()
}

const Parameters = Schema.Struct({
  handle: Schema.String.annotate({ description: "The handle of the result, as it was given with its head" }),
  from: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({ description: "The first character; 0 by default" })
  ),
  length: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).annotate({
      description: `How many characters: ${pageLength} by default, at most ${longestPage}`
    })
  )
})

/** The tool `read_result`, which reads results that were put aside. No table applies to it: the model is told of its failures. */
const readerOf = (): ToolDefinition => ({
  ...define(name, {
    description: "Reads a part of a long result that was put aside. Use it when the head of the result is not enough.",
    parameters: Parameters,
    success: Schema.String,
    sideEffects: "none",
    run: ({ from = 0, handle, length = pageLength }, { callId }) =>
      Effect.flatMap(found(handle), ({ text, why }) => {
        const message =
          text === undefined ? why : from < text.length ? undefined : Texts.beyondResult(from, text.length)
        // Mutant `false` for `text === undefined` survives: what was not found has a message, too
        if (text === undefined || message !== undefined) {
          const fields = { tool: name, callId, kind: "local", category: "validation", args: { handle, from } } as const
          return Effect.fail(ExecutionError.make({ ...fields, message: message ?? "" }))
        }
        const begin = isSplit(text, from) ? from - 1 : from
        const end = endOf(text, begin, Math.min(length, longestPage))
        return Effect.succeed(Texts.pageOf(text.slice(begin, end), begin, end, text.length))
      })
  }),
  rows: Recovery.rowsOf(
    { ExecutionError: Recovery.tell(({ message }: ExecutionError) => message), orElse: Recovery.tell() },
    "a tool"
  ),
  isAdded: true
})

const name = "read_result"

interface Found {
  readonly text?: string | undefined
  readonly why?: string
}

/** Looks for a result by its handle: in this run, in its ancestors, and in its conversation. */
const found = (handle: string): Effect.Effect<Found> =>
  Effect.gen(function* () {
    const run = yield* RunContext.Current
    const conversation = yield* Conversation
    const store = yield* ResultStore
    if (run === undefined) return { why: Texts.noResult(handle) }
    if (store === undefined) {
      const all = [...resultsOf(run.done), ...(conversations.get(conversation ?? "") ?? [])]
      const results = all.filter((one) => one.handle === handle)
      const text = results.find((one) => one.text !== undefined)?.text
      return text === undefined
        ? { why: results.length === 0 ? Texts.noResult(handle) : Texts.removedResult(handle) }
        : { text }
    }
    for (const owner of [...(conversation === undefined ? [] : [conversation]), ...ownersOf(run)]) {
      const read = inTime(() => store.get({ owner, handle }), "The get of Tool.ResultStore")
      const text = yield* Effect.matchCauseEffect(read, {
        onSuccess: (text) => Effect.succeed(text),
        onFailure: (cause) =>
          isPassing(cause)
            ? Effect.failCause(cause)
            : Effect.as(
                Effect.logWarning("A result that was put aside could not be read", ErrorCause.logged(cause)),
                null
              )
      })
      if (text === null) return { why: Texts.unreadableResult(handle) }
      if (text !== undefined) return { text }
    }
    return { why: Texts.noResult(handle) }
  })

// Mutant `["Stryker was here"]` survives: a text has no handle
const resultsOf = ({ aside = [], parent }: Effects): ReadonlyArray<AsideResult> =>
  parent === undefined ? aside : [...aside, ...resultsOf(parent)]

const ownersOf = ({ done: { parent }, runId }: RunContext.RunContext): ReadonlyArray<string> => {
  const owners = [runId]
  for (let one = parent; one !== undefined; one = one.parent) owners.push(one.runId)
  return owners
}

/** Where a part of a text ends: never between the two UTF-16 units of one character. */
const endOf = (text: string, begin: number, length: number): number => {
  const end = Math.min(text.length, begin + length)
  // the part has at least one character, even if that character is one unit longer than `length`
  return isSplit(text, end) ? (end - 1 > begin ? end - 1 : end + 1) : end
}

/** Whether an index is between the two UTF-16 units of one character. */
const isSplit = (text: string, at: number): boolean =>
  /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at))
